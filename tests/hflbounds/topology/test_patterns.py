"""Patterns and linear maps against exact fractions and a schedule of one call written out step by step."""

import math
import pickle
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hflbounds.topology import LinearMap, Pattern, Topology, pattern, patterns

EVERY = pytest.mark.parametrize("one", patterns().values(), ids=str)
FACTORS = st.fractions(-3, 3, max_denominator=50).filter(lambda f: abs(f) not in (0, 1))


def linear(factor: Fraction) -> LinearMap:
    numerator, denominator = abs(factor.numerator), factor.denominator
    gap = Fraction(numerator, denominator) - 1
    log_size = math.log1p(float(gap)) if abs(gap) < Fraction(1, 2) else math.log(numerator) - math.log(denominator)
    return LinearMap(np.array([float(factor)]), np.array([log_size]))


def weights(one: Pattern, factor: Fraction, children: int) -> Iterator[Fraction]:
    """What each call adds to a deviation enters a pass with these weights, by the definition of the pattern."""
    for place in range(1, children + 1):
        yield factor ** (children - place) if one.ordered else Fraction(1, children)


@given(FACTORS, st.integers(1, 12))
def test_repeated_maps_are_geometric_sums(factor: Fraction, times: int) -> None:
    found = linear(factor).repeated(times)
    assert found.map.factor[0] == pytest.approx(float(factor**times), rel=1e-12)
    assert found.map.log_size[0] == pytest.approx(times * math.log(abs(factor)), rel=1e-12, abs=1e-13)
    exact = [factor**i for i in range(times)]
    largest = float(max(abs(f) for f in exact))  # alternating sums cancel
    assert found.total[0] == pytest.approx(float(sum(exact)), rel=1e-10, abs=1e-12 * largest)
    assert found.squares[0] == pytest.approx(float(sum(f**2 for f in exact)), rel=1e-10)


@pytest.mark.parametrize("gap", [Fraction(1, 10**k) for k in (3, 9, 15)])
@pytest.mark.parametrize("times", [1, 7, 1000])
def test_the_logarithm_keeps_factors_near_one_exact(gap: Fraction, times: int) -> None:
    factor = 1 - gap
    found = linear(factor).repeated(times)
    assert found.total[0] == pytest.approx(float((1 - factor**times) / gap), rel=1e-12)
    assert found.squares[0] == pytest.approx(float((1 - factor ** (2 * times)) / (1 - factor**2)), rel=1e-12)
    assert -math.expm1(found.map.log_size[0]) == pytest.approx(float(1 - factor**times), rel=1e-12)


def test_arrays_are_taken_element_by_element() -> None:
    factors = [Fraction(1, 2), Fraction(-1, 2), Fraction(3)]
    maps = [linear(factor) for factor in factors]
    many = LinearMap(np.concatenate([m.factor for m in maps]), np.concatenate([m.log_size for m in maps]))
    found = many.repeated(3)
    for i, factor in enumerate(factors):
        assert found.total[i] == linear(factor).repeated(3).total[0]


@EVERY
@given(factor=FACTORS, children=st.integers(1, 9))
def test_a_pass_is_the_weighted_sum_of_its_calls(one: Pattern, factor: Fraction, children: int) -> None:
    found = one.compose(linear(factor), children)
    exact = [*weights(one, factor, children)]
    assert found.map.factor[0] == pytest.approx(float(factor**children if one.ordered else factor), rel=1e-12)
    assert found.total[0] == pytest.approx(float(sum(exact)), rel=1e-10, abs=1e-12 * float(max(map(abs, exact))))
    assert found.squares[0] == pytest.approx(float(sum(f**2 for f in exact)), rel=1e-10)


@EVERY
@pytest.mark.parametrize("children", range(1, 8))
def test_every_child_is_in_the_chain_or_beside_it(one: Pattern, children: int) -> None:
    assert one.chain(children) * one.side_by_side(children) == children
    assert one.chain(children) == (children if one.ordered else 1)


@EVERY
def test_a_pattern_of_one_child_is_that_child(one: Pattern) -> None:
    call = linear(Fraction(2, 3))
    alone = one.compose(call, 1)
    assert one.chain(1) == one.side_by_side(1) == 1
    assert (alone.map.factor, alone.total, alone.squares) == (call.factor, 1, 1)


@EVERY
def test_a_pattern_is_one_object_everywhere(one: Pattern) -> None:
    assert pickle.loads(pickle.dumps(one)) is one is pattern(one.id)  # noqa: S301 - our own bytes


def test_patterns_come_in_the_order_of_their_ranks_each_with_its_own_names() -> None:
    found = [*patterns().values()]
    assert [one.rank for one in found] == sorted({one.rank for one in found})
    for name in ("id", "title", "letter"):
        assert len({getattr(one, name) for one in found}) == len(found)
    assert all("{child" in one.meaning for one in found)
    with pytest.raises(TypeError):
        patterns()["mesh"] = found[0]  # type: ignore[index]
    with pytest.raises(KeyError):
        pattern("mesh")


def test_children_of_a_star_are_told_in_their_plural() -> None:
    said = Topology.parse("star/ring/star").meaning("country", "branch", "edge server")
    assert said == "countries in parallel, the model passed from branch to branch, edge servers in parallel"
