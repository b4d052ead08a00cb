"""Intervals of ratios hold the number that stands before them."""

from __future__ import annotations

import pytest

import planner

FLEETS = [
    {"config": "examples/phones.toml"},
    {"config": "examples/hospitals.toml"},
    {"G": 12, "M": 25, "uplink": "20Mbit/s", "model_size": "45MB"},
    {"G": 4, "M": 40, "heterogeneity": "inter", "objective": "traffic"},
]


@pytest.mark.parametrize("fleet", FLEETS, ids=str)
def test_an_interval_holds_its_number(fleet: dict[str, object]) -> None:
    answer = planner.recommend(**fleet)  # type: ignore[arg-type]
    stated = [row.ratio for row in answer.rows if row.ratio is not None and row.ratio.low is not None]
    assert stated
    for ratio in stated:
        assert ratio.low is not None
        assert ratio.high is not None
        assert ratio.low <= float(ratio) <= ratio.high
