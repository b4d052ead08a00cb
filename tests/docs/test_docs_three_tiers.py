"""Tables about three tiers in docs/real-data.md, against the curves in docs/evidence."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

import real_record  # noqa: E402
import three_tiers  # noqa: E402

PAGE = (ROOT / "docs" / "real-data.md").read_text(encoding="utf-8")
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


@pytest.mark.parametrize("name", list(three_tiers.CONTESTANTS))
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
