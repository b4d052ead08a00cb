"""The table of docs/evidence/real-three-tiers.md, and what answers say of them, against the curves in docs/evidence."""

from __future__ import annotations

import csv
import itertools
import math
import sys
from pathlib import Path

import numpy as np
import pytest

from planner.predict.evidence import table
from planner.predict.question import ask
from planner.scenario.resolve import load

pytest.importorskip("torch")

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

import real_record  # noqa: E402
import three_tiers  # noqa: E402

PAGE = (ROOT / "docs" / "evidence" / "real-three-tiers.md").read_text(encoding="utf-8")
Setting = tuple[str, ...]


@pytest.fixture(scope="module")
def by_hand() -> dict[tuple[Setting, str, int], dict[str, float]]:
    """By setting, quantity and target, rounds of every topology, from the lines of the file alone."""
    with (ROOT / "docs" / "evidence" / "three_tiers.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    curves: dict[tuple[Setting, str], dict[str, list[list[float]]]] = {}
    at = [int(name) for name in lines[0] if name.isdigit() and lines[0][name]]
    for row in lines:
        key = tuple(row[name] for name in ("data", "hidden", "scheme", "sizes", "passes", "K", "seed"))
        some = curves.setdefault((key, row["quantity"]), {}).setdefault(row["topology"], [])
        some.append([float(row[str(r)]) for r in at])
    found = {}
    for (key, quantity), of in curves.items():
        best = {t: np.minimum.accumulate(np.mean(some, 0)) for t, some in of.items()}
        for after in (6, 18, 46):
            target, rounds = best["star-star-star"][at.index(after)], {}
            for t, curve in best.items():
                i = next((i for i in range(1, len(at)) if curve[i] <= target), None)
                part = 0.0 if i is None else (curve[i - 1] - target) / (curve[i - 1] - curve[i]) if i > 1 else 1.0
                rounds[t] = at[-1] if i is None else at[i - 1] + part * (at[i] - at[i - 1])
            found[key, quantity, after] = rounds
    return found


@pytest.mark.parametrize(
    "name",
    [  # predictions of the slower one are held to the record of them in every run, below
        pytest.param(name, marks=pytest.mark.slow if "`spectrum`" in name else ()) for name in three_tiers.CONTESTANTS
    ],
)
def test_rows_of_the_table_are_what_the_curves_say(name: str) -> None:
    say, seeds = three_tiers.CONTESTANTS[name]
    rows = list(real_record.judged(real_record.settings(three_tiers.CURVES), say, seeds))
    for quantity, metric in real_record.METRIC.items():
        told = real_record.summary([row for row in rows if row["quantity"] == quantity])
        assert f"| {name} | {metric} {told}" in PAGE


def test_settings_that_ran_are_those_that_were_defined(by_hand: dict[tuple[Setting, str, int], object]) -> None:
    defined = {tuple(str(one) for one in setting.told.values()) for setting in three_tiers.settings()}
    assert {key for key, *_ in by_hand} == defined and len(defined) == 15


def test_a_habit_counted_without_the_script(by_hand: dict[tuple[Setting, str, int], dict[str, float]]) -> None:
    rounds = [of for (_, quantity, _), of in by_hand.items() if quantity == "loss"]
    right = sum(of["ring-ring-ring"] <= 1.02 * min(of.values()) for of in rounds)
    assert f"| always ring-ring-ring | loss | {len(rounds)} | {right / len(rounds):.0%} " in PAGE


@pytest.mark.parametrize("told", [pytest.param("profile", marks=pytest.mark.slow), "fading"])
def test_what_answers_say_is_what_was_predicted_and_run(
    told: str, by_hand: dict[tuple[Setting, str, int], dict[str, float]]
) -> None:
    """First choices and ratios of questions with the written profiles, against rounds by hand."""
    with (ROOT / "docs" / "evidence" / "three_tiers_profiles.csv").open(encoding="utf-8", newline="") as file:
        profiles = {tuple(r[n] for n in ("data", "hidden", "scheme", "sizes", "seed")): r for r in csv.DictReader(file)}
    (row,) = (r for r in table("three_tiers_record.csv") if (r["record"], r["told"]) == ("loss_images", told))
    right, off = 0, []
    for (key, quantity, after), measured in by_hand.items():
        if quantity != "loss":
            continue
        known, sizes, passes = profiles[(*key[:4], key[6])], key[3].split("/"), key[4].split("/")
        tiers = [{"count": int(n), "passes": int(p)} for n, p in zip(sizes, passes, strict=True)]
        settings = {
            "fleet.tiers": [{"count": tiers[0]["count"]}, *tiers[1:]], "fleet.local_steps": key[5],
            "problem.rounds": str(after), "problem.smoothness": known["curvature"], "problem.sigma": known["sigma"],
            "problem.initial_gap": known["loss"],
            "problem.heterogeneity": "/".join(known[tier] for tier in ("top", "middle", "bottom")),
        }  # fmt: skip
        settings |= {"problem.fading": known["fading"]} if told == "fading" else {}
        asked = ask(load(options={name: (name, value) for name, value in settings.items()}))
        predicted = asked.rounds()
        left = {t: asked.predictor.reached(asked, t, 1.0, asked.values) for t in predicted}
        first = min(predicted, key=lambda t: (predicted[t], left[t]))  # of several that take one round
        right += measured[first] <= 1.02 * min(measured.values())
        logs = [math.log(measured[t] / predicted[t]) for t in measured]
        off += [abs(a - b) for a, b in itertools.combinations(logs, 2)]
    assert (right, len(by_hand) // 2) == (int(row["right"]), int(row["rows"]))
    assert math.exp(np.quantile(off, 0.9)) == pytest.approx(float(row["factor"]), rel=0.02)
