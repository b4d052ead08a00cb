"""What `recommend` says of gradient correction: rounds of clients that are alike, and twice the bytes."""

from __future__ import annotations

from typing import Any

import pytest

import planner

# What would change an answer is looked at in no test here.
pytestmark = pytest.mark.usefixtures("unflipped", "few_draws")
FLEET: dict[str, Any] = {"G": 6, "M": 5, "P": 4, "K": 10, "uplink": "20Mbit/s", "model_size": "4MB"}


def answer(**changes: Any) -> Any:
    return planner.recommend(**{**FLEET, "heterogeneity": "both", **changes})


@pytest.mark.usefixtures("unflipped")
def test_rounds_are_those_of_clients_that_are_alike_and_transfers_carry_two_vectors() -> None:
    found = answer(target=0.05, bounds="sharp", heterogeneity="zeta=4,delta=4")
    corrected = found.recommend.corrected
    own = next(row for row in found.ranking if row.id == "star-star")
    alike = answer(target=0.05, bounds="sharp", heterogeneity="zeta=0,delta=0", model_size="8MB")
    row = next(row for row in alike.ranking if row.id == "star-star")
    assert corrected.id == "star-star"
    assert corrected.rounds == row.rounds < own.rounds
    assert corrected.round_seconds == pytest.approx(row.round_seconds, rel=1e-12)
    assert corrected.round_bytes == pytest.approx(2 * own.round_bytes, rel=1e-12)
    assert corrected.time_seconds == pytest.approx(corrected.rounds * row.round_seconds, rel=1e-12)
    assert corrected.traffic_bytes == pytest.approx(corrected.rounds * row.round_bytes, rel=1e-12)
    assert corrected.bound_id == "fang2024.mtgc"
    assert "not run" in corrected.rounds_from
    assert found.to_json()["recommend"]["corrected"]["vectors"] == 2
    assert "Star-Star with gradient correction (MTGC) sends one more vector" in found.explain("methods")
    assert found.recommended == answer(target=0.05, bounds="sharp", heterogeneity="zeta=4,delta=4").recommended


@pytest.mark.usefixtures("unflipped")
@pytest.mark.parametrize(
    "changes",
    [{"heterogeneity": "zeta=0,delta=0"}, {"S1": 3, "S2": 5}, {"availability": "99%", "G": 2, "K": 2}],
    ids=["alike", "sampled", "absent"],
)
def test_nothing_is_said_where_nothing_is_known(changes: dict[str, Any]) -> None:
    found = answer(**changes)
    assert found.recommend.corrected is None
    assert "gradient correction" not in found.explain("methods")


def test_it_is_said_where_it_would_save_nothing() -> None:
    found = planner.recommend(G=10, M=10, heterogeneity="inter")
    own = next(row for row in found.ranking if row.id == "star-star")
    assert found.recommend.corrected is not None
    assert found.recommend.corrected.rounds == own.rounds
    assert "would save no rounds by this prediction" in " ".join(found.explain("methods").split())


def test_trees_of_stars_have_it_at_every_depth() -> None:
    found = planner.recommend(tiers="3/3/3", K=10, heterogeneity="1/1/1")
    assert found.recommend.corrected is not None
    assert found.recommend.corrected.id == "star-star-star"
