"""Rounds are remembered by everything that they depend on, and by nothing of the clock."""

from dataclasses import fields, replace

import numpy as np
import pytest

import planner
from planner.predict import memory
from planner.predict.question import ask, with_default_order

SAID = {"G": 5, "M": 4, "uplink": "20Mbit/s", "model_size": "3MB"}


def posed(**options):
    return ask(with_default_order(planner.load_scenario(**{**SAID, **options})))


def afresh(question, **changes):
    with memory._lock:
        memory._known.clear()
    return question.rounds(**changes)


CLOCKS = [
    {"uplink": "1Mbit/s"},
    {"link_sharing": "per-server"},
    {"server_link": "lan"},
    {"model_size": "900MB"},
    {"step_time": "9s"},
    {"straggler": "lognormal:0.5"},
    {"cost": "diluted"},
    {"tiers": 1},
]


@pytest.mark.parametrize("clock", CLOCKS, ids=lambda clock: next(iter(clock)))
@pytest.mark.parametrize("metric", ["loss", "gradient"])
def test_no_clock_changes_rounds(clock, metric):
    one, other = posed(metric=metric), posed(metric=metric, **clock)
    assert afresh(one) == afresh(other)
    assert memory.key_of(one, {}) == memory.key_of(other, {}) is not None


OTHERS = [
    {"G": 6},
    {"K": 3},
    {"P": 2},
    {"S1": 2},
    {"heterogeneity": "intra"},
    {"sigma": 2},
    {"smoothness": 3},
    {"initial_gap": 1},
    {"rounds": 300},
    {"target": 0.5},
    {"metric": "gradient"},
    {"predictor": "typical", "metric": "gradient"},
    {"order": "random"},
    {"curvature_scatter": 0.5},
]


@pytest.mark.parametrize("other", OTHERS, ids=str)
def test_whatever_else_differs_is_another_key(other):
    assert memory.key_of(posed(), {}) != memory.key_of(posed(**other), {})


def test_every_field_but_the_clocks_is_in_the_key():
    question = posed()
    for field in fields(question):
        if field.name not in memory.CLOCK:
            changed = replace(question, **{field.name: ("something else",)})
            assert memory.key_of(changed, {}) != memory.key_of(question, {}), field.name


def test_changed_values_are_in_the_key_and_what_is_remembered_is_what_was_found():
    question, at = posed(), np.array([0.5, 1.0, 2.0])
    first = afresh(question, zeta=at)
    again = question.rounds(zeta=at.copy())
    other = question.rounds(zeta=at[::-1].copy())
    for topology in first:
        np.testing.assert_array_equal(first[topology], again[topology])
        np.testing.assert_array_equal(first[topology], other[topology][::-1])


def test_memory_is_bounded():
    for i in range(2 * memory.KEPT):
        memory.keep(("key", i), {"star-star": 1.0})
    assert len(memory._known) == memory.KEPT
    memory.keep(("large",), {"star-star": np.zeros(memory.LARGEST + 1)})
    assert memory.remembered(("large",)) is None and memory.remembered(None) is None


@pytest.mark.parametrize(
    "other", [{"curvature_scatter": 3}, {"sigma": 2}, {"order": "random"}, {"target": "20%"}], ids=str
)
def test_where_devices_stay_away_rounds_depend_on_as_much(other):
    one, changed = posed(availability="90%"), posed(availability="90%", **other)
    expected = afresh(changed)
    assert afresh(one) != expected
    assert changed.varied().rounds() == expected  # with what was remembered of the first


@pytest.mark.parametrize("other", [{"sigma": 2}, {"heterogeneity": "intra"}, {"target": 0.5}], ids=str)
def test_what_moves_no_clock_leaves_the_price_of_a_round(other):
    assert memory.key_of_clock(posed(), "time") == memory.key_of_clock(posed(**other), "time") is not None


@pytest.mark.parametrize("other", [*CLOCKS, {"G": 6}, {"K": 3}, {"P": 2}, {"S1": 2}, {"device": "phone"}], ids=str)
def test_whatever_moves_the_clock_is_another_price(other):
    assert memory.key_of_clock(posed(), "time") != memory.key_of_clock(posed(**other), "time")


def test_a_price_is_of_its_objective_and_of_who_comes():
    assert memory.key_of_clock(posed(), "time") != memory.key_of_clock(posed(), "energy")
    assert memory.key_of_clock(posed(availability=0.9), "time") == memory.key_of_clock(posed(availability=0.9), "time")
    assert memory.key_of_clock(posed(availability=0.9), "time") != memory.key_of_clock(posed(availability=0.8), "time")
    assert memory.key_of_clock(posed(availability=0.9), "time") != memory.key_of_clock(posed(), "time") is not None


@pytest.mark.usefixtures("nearest_alone")
def test_an_answer_after_another_is_the_answer_afresh(moved_alone, set_alone):
    moved_alone("sigma", "model_size")
    set_alone("client_link.sharing")

    def answer(sigma):
        return planner.recommend(**SAID, sigma=sigma, heterogeneity="inter").to_json()

    def forget():
        with memory._lock:
            memory._known.clear()

    forget()
    afresh = answer(0.5)
    forget()
    answer(0.7)
    assert answer(0.5) == afresh
