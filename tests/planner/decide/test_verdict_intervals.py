"""Intervals of ratios hold the number that stands before them."""

from __future__ import annotations

import pytest

import planner
from planner.io.wording import title

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


def test_a_toss_up_that_shared_links_keep_says_which_is_first_there() -> None:
    answer = planner.recommend(
        groups=12, clients_per_group=25, heterogeneity="dirichlet:intra=0.1,inter=1", uplink="20Mbit/s",
        model_size="45MB", step_time="0.2s", local_steps="1:10", group_rounds="1:4",
    )  # fmt: skip
    assert answer.verdict.status == "toss-up"
    shared = {row.id: case.time_seconds for row in answer.ranking for case in row.cases if case.value == "per-server"}
    first = min(shared, key=lambda id_: shared[id_])
    assert first != answer.verdict.best[0]
    assert f"It is one too where clients share their link, with {title(first)} first." in answer.verdict.text
