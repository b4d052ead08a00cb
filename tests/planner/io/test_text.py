"""Words, numbers, counts and ranges that users write."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.errors import ScenarioError
from planner.io.text import count, number, one_of, span, suggest, topology_id


def test_the_nearest_word_is_suggested() -> None:
    assert suggest("tme", ["rounds", "time"]) == "Did you mean time?"
    assert suggest("TIME", ["rounds", "time"]) == "Did you mean time?"
    assert suggest("x", ["rounds", "time"]) == ""
    assert suggest("x" * 10**6, ["rounds"]) == ""


def test_one_of_several_words() -> None:
    assert one_of("time", ("rounds", "time"), "--objective") == "time"
    with pytest.raises(ScenarioError, match=r"^--objective: 'tme' is not one of rounds, time. Did you mean time\?$"):
        one_of("tme", ("rounds", "time"), "--objective")
    with pytest.raises(ScenarioError, match=r"is not one of rounds, time. Give one of them.$"):
        one_of(3, ("rounds", "time"), "--objective")


def test_topologies_are_named_by_id_by_title_and_with_strokes() -> None:
    known = {"star-ring": 1, "ring-star": 2}
    assert {topology_id(word, known, "--among") for word in ("star-ring", "Star-Ring", " star/ring")} == {"star-ring"}
    with pytest.raises(ScenarioError, match=r"^--among: 'star-rng' is not one of .* Did you mean star-ring\?$"):
        topology_id("Star-Rng", known, "--among")


@given(st.floats(min_value=1e-100, max_value=1e100))
def test_numbers_are_read_as_python_reads_them(value: float) -> None:
    assert number(repr(value), "x") == value == number(value, "x")


@pytest.mark.parametrize(
    "value", ["nan", "inf", "1_0", "１", "", "1e5000", "0", "-1", "--1", "1e", ".", True, None, []]
)
def test_what_is_no_positive_number_is_refused(value: object) -> None:
    with pytest.raises(ScenarioError, match=r"^x: .* is not a number from 1e-100 to 1e\+100"):
        number(value, "x")


def test_zero_is_a_number_where_it_is_allowed_and_minus_zero_is_not() -> None:
    assert number("0", "x", zero=True) == 0
    with pytest.raises(ScenarioError, match="0, or a number"):
        number(-0.0, "x", zero=True)


@given(st.integers(-10, 2 * 10**6))
def test_counts_are_whole_numbers_within_limits(value: int) -> None:
    if 1 <= value <= 10**6:
        assert count(str(value), "x") == value == count(value, "x")
    else:
        with pytest.raises(ScenarioError, match="a whole number from 1 to 1000000"):
            count(value, "x")


def test_a_count_in_another_notation_is_written_anew() -> None:
    for value in ("1e3", "1000.0", 1000.0):
        with pytest.raises(ScenarioError, match=r"Write 1000\."):
            count(value, "x")
    with pytest.raises(ScenarioError) as caught:
        count(math.nan, "x")
    assert "Write" not in str(caught.value)


def test_ranges() -> None:
    assert span("1:8", "x") == (1, 8)
    assert span(" 3 ", "x") == span(3, "x") == (3, 3)
    with pytest.raises(ScenarioError, match="Write 1:8"):
        span("8:1", "x")
    with pytest.raises(ScenarioError, match="is not a range"):
        span("1:", "x")
    with pytest.raises(ScenarioError, match="from 1 to 5"):
        span("1:6", "x", most=5)
