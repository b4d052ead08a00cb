"""Races of networks on groups of unequal sizes, and what is predicted for them from a profile of each.

    python benchmarks/unequal_groups.py --folder races --out docs/evidence/unequal_groups.csv

scikit-learn's digits are dealt to 24 clients in groups of unequal sizes; topologies race for 30 rounds of 8 local steps
(`hfl-plan pilot`), and rounds to what Star-Star has then are predicted with the profile that `hfl-plan estimate` makes.
Clients count alike. Some twenty minutes of one core; a stopped race goes on when the command is given again. Last
measured: docs/evidence/controlled.md.
"""

from __future__ import annotations

import argparse
import csv
import json
from pathlib import Path
from typing import Any, NamedTuple

import planner

ROUNDS, LOCAL_STEPS = 30, 8
HOOK = """
import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn

SIZES = {sizes}
OF = [g for g, n in enumerate(SIZES) for _ in range(n)]
N = sum(SIZES)


def model():
    torch.manual_seed(0)
    return {net}


def clients():
    pixels, labels = load_digits(return_X_y=True)
    pixels = (pixels / 16).astype(np.float32)
    dice = np.random.default_rng({seed})
    owner = np.empty(len(labels), dtype=int)
    groups = dice.dirichlet(np.full(10, {between}), size=len(SIZES)) if {between} else np.full((len(SIZES), 10), 0.1)
    for label in range(10):
        shares = np.array([groups[OF[c], label] * max(dice.gamma({within}), 1e-12) for c in range(N)])
        owner[labels == label] = dice.choice(N, size=(labels == label).sum(), p=shares / shares.sum())
    held = [owner == c for c in range(N)]
    return [(f"group {{OF[c]}}", pixels[m], labels[m]) for c, m in enumerate(held) if m.any()]
"""
NETS = {
    "regression": "nn.Linear(64, 10)",
    "perceptron": "nn.Sequential(nn.Linear(64, 32), nn.Tanh(), nn.Linear(32, 10))",
}


class Setting(NamedTuple):
    """A race: who holds what."""

    net: str
    sizes: tuple[int, ...]
    between: float  # concentration of labels of groups, 0 for groups that differ by chance
    within: float  # that of clients
    seed: int


SETTINGS = {
    "A": Setting("perceptron", (12, 6, 4, 2), 0, 0.2, 0),
    "B": Setting("regression", (12, 6, 4, 2), 0, 0.2, 0),
    "C": Setting("perceptron", (12, 6, 4, 2), 0.3, 1.0, 1),
    "D": Setting("regression", (12, 6, 4, 2), 0.3, 1.0, 1),
    "E": Setting("regression", (16, 5, 3), 0.5, 0.3, 2),
    "F": Setting("perceptron", (16, 5, 3), 0.5, 0.3, 2),
}


def race(name: str, one: Setting, folder: Path) -> list[dict[str, object]]:
    """Run a setting, and predict it; a row for each topology."""
    hook, pilot, profile, fleet = (folder / f"{name}{end}" for end in (".py", ".json", ".profile.json", ".csv"))
    text = HOOK.format(**one._asdict() | {"net": NETS[one.net]})
    if not hook.exists() or hook.read_text() != text:
        hook.write_text(text)
    told = {"rounds": ROUNDS, "local_steps": LOCAL_STEPS, "seeds": 2, "rates": 4}
    planner.pilot(hook, **told, output=pilot, force=True)
    planner.estimate(hook, rate=0.5, output=profile, force=True)
    held: dict[str, Any] = {}
    exec(compile(text, hook, "exec"), held)  # noqa: S102 - the text above, for who holds how many samples
    listed = [f"{i},{group},{len(y)}" for i, (group, _, y) in enumerate(held["clients"]())]
    fleet.write_text("\n".join(["client,group,samples", *listed]) + "\n")
    scenario = {"fleet": fleet, "heterogeneity": profile, "objective": "rounds"}
    found = planner.recommend(**scenario, local_steps=LOCAL_STEPS, rounds=ROUNDS, details=False)
    predicted = {row.id: row.rounds for row in found.rows}
    measured = json.loads(pilot.read_text())["targets"][-1]["rounds"]
    setting = {"setting": name} | one._asdict()
    return [setting | {"topology": t, "measured": r, "predicted": predicted.get(t)} for t, r in measured.items()]


def main() -> None:
    """Race what is asked for, and write what came."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=Path("races"))
    parser.add_argument("--settings", default=",".join(SETTINGS))
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    given.folder.mkdir(exist_ok=True)
    rows = [row for name in given.settings.split(",") for row in race(name, SETTINGS[name], given.folder)]
    for row in rows:
        print(row["setting"], row["topology"], row["measured"], row["predicted"])
    if given.out:
        with given.out.open("w", newline="", encoding="utf-8") as file:
            table = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            table.writeheader()
            table.writerows(rows)


if __name__ == "__main__":
    main()
