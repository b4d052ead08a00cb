"""When one bound is smaller than another: against typed crossovers, a second encoding in fractions, and dense scans."""

import math
import random
from collections.abc import Mapping
from fractions import Fraction
from itertools import combinations, permutations
from typing import Any

import numpy as np
import pytest
import second_encoding as second
import sympy as sp
from test_compare import CROSSOVERS, RR, RS, SHARED, SR, TOPOLOGIES, draw, members

import hflbounds
from hflbounds import Bound, ComparisonError, DomainError, compare, get
from hflbounds.core import quantities
from hflbounds.core.quantities import ABOUT
from hflbounds.evaluate.along import Line
from hflbounds.evaluate.condition import Condition, _Signs, condition, threshold
from hflbounds.typeset import markup

PROOFS = ("zhou2026.thm1-proof", "zhou2026.shuffle-proof", "zhou2026.thm2-proof")
MOCK = {"G": 3, "M": 25, "P": 1, "K": 5}
REST = {"R": 1000, "L": 1, "A": 2.3, "sigma": 1, "delta": 0.5}


KEPT: dict[tuple[object, ...], Condition] = {}


def kept(a: Bound, b: Bound, values: Mapping[str, float] | None = None) -> Condition:
    """Of bounds of the catalogue, worked out once in the file: several tests look at the same pairs."""
    key = (a.id, b.id, *sorted((values or {}).items()))
    if key not in KEPT or get(a.id) is not a or get(b.id) is not b:
        KEPT[key] = condition(a, b, values)
    return KEPT[key]


@pytest.fixture(autouse=True)
def worked_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """`compare` asks for what is kept, too."""
    monkeypatch.setattr("hflbounds.comparison.condition", kept)


def settled(one: str, other: str) -> Condition:
    """Whatever the quantities are."""
    return kept(get(one), get(other))


def at(expression: sp.Expr, point: dict[str, Fraction]) -> sp.Expr:
    numbers = {s: sp.Rational(*point[s.name].as_integer_ratio()) for s in expression.free_symbols}
    return expression.subs(numbers)


# ------------------------------------------------------------------------------- the condition


@pytest.mark.parametrize("label", CROSSOVERS)
def test_star_ring_is_smaller_where_the_typed_crossover_is_negative(label: str) -> None:
    """F15-F20: positive where Ring-Star is the smaller one, up to a positive number."""
    found = settled(f"{label}.{SR}", f"{label}.{RS}")
    assert found.smaller == "depends"
    ratio = sp.cancel((found.left - found.right) / CROSSOVERS[label])
    assert ratio.is_Rational
    assert ratio > 0
    for side in (found.left, found.right):  # each a sum of what is positive
        assert at(side, {s.name: Fraction(2) for s in side.free_symbols}) > 0


FAMILIES = [(f"{label}.{a}", f"{label}.{b}") for label in SHARED for a, b in combinations(TOPOLOGIES, 2)]
OF_PROOFS = [  # their constants make long sums: one pair of each family, and the others with -m slow
    pytest.param(f"{label}.{a}", f"{label}.{b}", marks=() if (a, b) == (SR, RS) else pytest.mark.slow)
    for label in PROOFS
    for a, b in combinations(TOPOLOGIES, 2)
]
SHORT = {  # comparisons that take about a second at most
    *(("hflbounds.sharp", "zhou2026.thm1-proof", t) for t in (SR, RR)),
    ("zhou2026.thm1", "zhou2026.shuffle", RS),
}
ACROSS = [
    pytest.param(f"{one}.{t}", f"{other}.{t}", marks=() if (one, other, t) in SHORT else pytest.mark.slow)
    for one, other in [
        ("hflbounds.sharp", "zhou2026.thm1-proof"),
        ("zhou2026.thm1", "zhou2026.shuffle"),
        ("zhou2026.thm1", "zhou2026.thm2"),
        ("hflbounds.sharp-shuffle", "zhou2026.shuffle-proof"),
        ("zhou2026.thm1-proof", "zhou2026.thm2-proof"),  # the cap is a root of a number
    ]
    for t in (SR, RS, RR)
]


@pytest.mark.parametrize(("one", "other"), FAMILIES + OF_PROOFS + ACROSS, ids=str)
def test_the_condition_is_that_of_the_second_encoding(one: str, other: str) -> None:
    """At admissible common steps, in exact fractions."""
    found = settled(one, other)
    seen = set()
    for i, point in enumerate(draw(f"{one} {other}", 8)):
        step = Fraction(1, 40 + 17 * i) / point["L"]
        difference = second.value(one, **point, eta_eff=step) - second.value(other, **point, eta_eff=step)
        order = "equal" if difference == 0 else "first" if difference < 0 else "second"
        seen.add(order)
        if found.smaller == "depends":
            left, right = (at(side, {**point, "eta_eff": step}) for side in (found.left, found.right))
            zero = any(at(factor, {**point, "eta_eff": step}) == 0 for factor in found.equal_where)
            assert order == ("equal" if left == right or zero else "first" if left < right else "second"), point
        elif found.smaller != "open":
            assert order in (found.smaller, "equal"), point
            if order == "equal" and found.road == "difference":
                assert any(at(factor, {**point, "eta_eff": step}) == 0 for factor in found.equal_where), point
    if found.smaller != "depends":
        assert len(seen - {"equal"}) <= 1 or found.smaller == "open"


def test_what_algebra_settles() -> None:
    """Counted, so that a change that settles less is seen."""
    for label in SHARED:
        verdicts = {pair: settled(*(f"{label}.{t}" for t in pair)).smaller for pair in combinations(TOPOLOGIES, 2)}
        assert verdicts.pop((SR, RS)) == "depends"
        assert set(verdicts.values()) == {"second"}
    assert [settled(*(f"zhou2026.cor1.{t}" for t in pair)).smaller for pair in combinations(TOPOLOGIES, 2)] == [
        *("second", "second", "second"),
        *("open", "second", "second"),
    ]


@pytest.mark.parametrize("of", ["z", "thm1"])
def test_maxima_are_compared_argument_by_argument_under_the_conditions_of_both(of: str) -> None:
    """beta mu > 1 is a condition of both: what is divided by beta mu - 1 is the larger one, typed in fractions."""
    pair = f"liu2026.{of}", f"liu2026.{of}-printed"
    assert (settled(*pair).smaller, settled(*pair[::-1]).smaller) == ("second", "first")
    assert compare(*pair).sentences() == [f"{pair[1]} is at most {pair[0]} whatever the quantities are."]
    assert settled("liu2026.z", "liu2026.z") == Condition("equal")
    rng, seen = random.Random(1), set()
    for _ in range(40):
        E, Ge = rng.randint(1, 3), rng.randint(1, 3)
        L, mu, beta, gamma, H, start = (Fraction(rng.randint(1, 9), rng.randint(1, 9)) for _ in range(6))
        L, beta = L + mu, beta + 1 / mu
        alpha, p2 = max(E, 4 * L * beta) + rng.randint(1, 3), Fraction(1, rng.randint(1, 9))
        drift = 2 ** (2 * Ge + 1) * H**2 * (Ge * E + Ge - 2) * (Ge * E - 1 + E**2 * (Ge - 1))
        x = p2 + 6 * L * gamma + drift
        proved, printed = (max(beta**2 * x / (beta * mu + sign), start * alpha) for sign in (-1, 1))
        assert printed <= proved
        seen.add(printed == proved)
        numbers = {"E": E, "Ge": Ge, "L": L, "mu": mu, "beta_lr": beta, "Gamma": gamma, "H": H, "alpha": alpha}
        point = {name: float(x) for name, x in {**numbers, "p2": p2, "Delta0": start}.items()}
        ours = [get(f"liu2026.{one}")(**point, sigma=1) for one in ("z", "z-printed")]
        assert ours == pytest.approx([float(proved), float(printed)])
    assert seen == {True, False}


def test_the_second_of_two_is_the_first_of_them_turned_round() -> None:
    turned = {"first": "second", "second": "first", "equal": "equal", "depends": "depends", "open": "open"}
    for one, other in permutations(TOPOLOGIES[1:], 2):
        there, back = (settled(*(f"hflbounds.sharp.{t}" for t in pair)) for pair in ((one, other), (other, one)))
        assert back.smaller == turned[there.smaller]
        if there.smaller == "depends":
            assert sp.expand(there.left - there.right + back.left - back.right) == 0


EXCEPTIONS = [
    ("xie2024.rate", "xie2024.rate-printed"),
    ("xie2024.eq41", "xie2024.eq41-corrected"),
    ("safran2020.cyclic", "safran2020.reshuffled"),
    ("hflbounds.lower.ring-star", "hflbounds.lower.ring-ring"),
    ("hflbounds.identical.star-ring", "hflbounds.identical.ring-star"),
    ("hflbounds.lower-random.star-star", "hflbounds.lower-random.star-ring"),
]


@pytest.mark.parametrize(("one", "other"), EXCEPTIONS)
def test_smaller_exactly_where_leaves_out_where_a_factor_of_the_difference_is_zero(one: str, other: str) -> None:
    """In exact numbers, zeros and least counts among them: the difference is negative exactly where it is said."""
    found = compare(one, other, assume_both=True)
    assert found.condition.equal_where
    said = found.sentences()[0]
    assert "equal only" not in said
    assert said.count("≠ 0") == len(found.condition.equal_where)
    rng, seen = random.Random(3), set()
    choices = {"count": (1, 2, 7), "whole": (0, 1, 5), "nonnegative": (0, 1, Fraction(1, 90), 9)}
    names = {name for bound in (found.first, found.second) for name in bound.needs}
    difference = found.first.rhs - found.second.rhs
    for _ in range(50):
        point = {n: Fraction(rng.choice(choices.get(ABOUT[n].domain, (1, Fraction(1, 50))))) for n in sorted(names)}
        if any(bound.violations(**{n: float(x) for n, x in point.items()}) for bound in (found.first, found.second)):
            continue
        left, right = (at(side, point) for side in (found.condition.left, found.condition.right))
        factors = [at(factor, point) for factor in found.condition.equal_where]
        seen.add(holds := bool(left < right and 0 not in factors))
        assert bool(sp.N(at(difference, point), 30, chop=True) < 0) == holds, point
    assert seen == {True, False}


def test_where_bounds_are_equal_between_two_orders_by_hand() -> None:
    """The fourth terms are as B s^2 to its root: equal at s = 0 and at s^2 = 1/B; B = 5 K + (24 M + 6 K) R = 825."""
    numbers = {"M": 6, "L": 1, "A": 2, "T": 1000, "K_buf": 3, "R_sub": 5, "Gamma_max": 4, "zeta_max": 7, "sigma_g": 1}
    found = compare("xie2024.rate", "xie2024.rate-printed", over="sigma_s", range=(0.001, 1), **numbers)
    difference = found.first.rhs - found.second.rhs
    for square, order in ((0, 0), (Fraction(1, 826), -1), (Fraction(1, 825), 0), (Fraction(1, 824), 1)):
        put = {
            s: sp.sqrt(sp.Rational(square)) if s.name == "sigma_s" else numbers[s.name]
            for s in found.first.rhs.free_symbols
        }
        assert sp.sign(sp.simplify(difference.subs(put))) == order
    assert found.sentences()[0] == "xie2024.rate is smaller exactly where sigma_s < 0.0348155 and sigma_s ≠ 0."
    assert found.crossings == pytest.approx([825**-0.5], rel=1e-9)
    assert r"\sigma_s < 0.0348155 \text{ and } \sigma_s \ne 0" in found.latex()


def test_a_threshold_by_hand() -> None:
    """P G (G-1) sigma^2 + (G^2-1) K M zeta^2 < M sigma^2 at G, M, P, K = 3, 25, 1, 5 is zeta^2 < 19/1000 sigma^2."""
    a, b = members("zhou2026.thm1", (SR, RS))
    turn = threshold(condition(a, b, MOCK), "zeta", a, b)
    assert turn is not None
    assert (turn.below, turn.power) == (True, 2)
    assert turn.value == sp.Rational(19, 1000) * sp.Symbol("sigma", nonnegative=True) ** 2
    assert threshold(condition(b, a, MOCK), "zeta", b, a).below is False  # type: ignore[union-attr]
    # Of M, with zeta = 0: M > P G (G - 1).
    turn = threshold(condition(a, b, {"zeta": 0, "G": 5, "P": 3}), "M", a, b)
    assert (turn.below, turn.power, turn.value) == (False, 1, 60)  # type: ignore[union-attr]


def test_a_threshold_that_divides_by_what_can_be_zero_is_said_multiplied_out() -> None:
    """At G = 1 the condition is 0 < M sigma^2, which (G - 1) below the line would not say."""
    found = compare("zhou2026.thm1.star-ring", "zhou2026.thm1.ring-star", over="zeta")
    assert found.threshold is not None
    said = "exactly where ζ² K M (G − 1) (G + 1) < σ² (−G² P + G P + M)"
    assert said in found.sentences()[0]
    assert found.as_data()["threshold"]["no_value_where_zero"] == "K*M*(G - 1)*(G + 1)"
    # Of one letter that can make it negative, no root is taken: 25 < 6 P at P = 5.
    found = compare("zhou2026.thm1.star-ring", "zhou2026.thm1.ring-star", over="zeta", G=3, M=25, K=2, sigma=1)
    assert "exactly where ζ² < 1/16 − 3 P/200" in found.sentences()[0]


def test_signs_are_seen_where_a_factor_is_zero_at_a_point() -> None:
    """G >= S1 and M >= S2, K >= 1, P >= 1: products of differences that are 0 at some points and never negative."""
    signs = _Signs(get("hflbounds.drift.star-star"), get("hflbounds.drift-partial.star-ring"), {})
    G, M, K, P, S1, S2, z = (getattr(quantities, n).to_sympy() for n in ("G", "M", "K", "P", "S1", "S2", "zeta"))
    for product in ((G - S1) * (M - S2), (K - 1) * (2 * K - 1) * z**2, (K * P - 1) * (2 * K * P - 1) * z**2):
        assert signs.of(sp.expand(product * z**2)) == 1
        assert signs.of(sp.expand(-product * (sp.sqrt(5) - 2))) == -1


# ------------------------------------------------------------------------------- along a quantity


def test_crossings_are_found_to_the_last_digits() -> None:
    exact = math.sqrt(19 / 1000)
    for values in (REST, {**REST, "eta_eff": 0.05}):
        found = compare("zhou2026.thm1.star-ring", "zhou2026.thm1.ring-star", over="zeta", **MOCK, **values)
        assert found.crossings == pytest.approx([exact], rel=1e-12)
        assert [part.smaller for part in found.stretches] == ["first", "second"]


def test_crossings_of_counts_are_the_first_whole_number_with_the_new_order() -> None:
    """zeta = 0: Star-Ring is smaller for M > P G (G - 1) = 60; equal at 60."""
    values = {"G": 5, "P": 3, "K": 4, "zeta": 0, **REST}
    a, b = members("zhou2026.thm1", (SR, RS))
    found = compare(a, b, over="M", range=(1, 200), **values)
    assert found.crossings in ((60.0,), (61.0,))
    at_59, at_61 = ({**values, "M": m} for m in (59, 61))
    assert compare(a, b, **at_59).smaller is None or compare(a, b, **at_59).condition.smaller == "second"
    assert compare(a, b, **at_61).condition.smaller == "first"


@pytest.mark.parametrize("span", [None, (100, 300)])
def test_a_crossing_of_a_count_is_the_same_whole_number_on_every_range(span: tuple[float, float] | None) -> None:
    """0.110899 against 0.111066 at R = 168, 0.110455 against 0.110439 at 169: a scan of all rounds, by numbers."""
    fleet = {"G": 10, "M": 10, "P": 1, "K": 2, "L": 1, "A": 2.3, "sigma": 1, "delta": 0.5, "zeta": 0.5}
    pair = "zhou2026.thm1.star-star", "zhou2026.thm1.ring-star"
    rounds = np.arange(100, 301)
    one, other = (get(id_).tuned(**fleet, R=rounds).value for id_ in pair)
    (changes,) = np.nonzero(np.diff(np.sign(one - other)))
    assert rounds[changes + 1].tolist() == [169]
    found = compare(*pair, over="R", range=span, **fleet)
    assert found.crossings == (169,)
    assert [c[2] for c in found.plot().crossings] == [169]


@pytest.mark.parametrize(
    ("one", "other", "over"), [("cor1", "cor1", "zeta"), ("shuffle-rate", "shuffle-rate", "delta")]
)
def test_rates_are_compared_by_numbers(one: str, other: str, over: str) -> None:
    """A difference of roots has no closed form: signs on a scan of its own, and a change of sign at each crossing."""
    a, b = get(f"zhou2026.{one}.star-ring"), get(f"zhou2026.{other}.ring-star")
    values = {**MOCK, **REST, "zeta": 0.2}
    del values[over]
    found = compare(a, b, over=over, range=(1e-3, 1e3), **values)
    assert found.condition.smaller == "open"
    scan = np.geomspace(1e-3, 1e3, 1777)
    difference = a(**values, **{over: scan}) - b(**values, **{over: scan})
    for part in found.stretches:
        inside = (scan > part.low * 1.0001) & (scan < part.high / 1.0001)
        assert {part.smaller} == {"first" if d < 0 else "second" for d in difference[inside]}
    for x in found.crossings:
        below, above = (a(**values, **{over: x * f}) - b(**values, **{over: x * f}) for f in (1 - 1e-10, 1 + 1e-10))
        assert below * above < 0


def test_what_a_bound_takes_by_default_is_its_own() -> None:
    """The weight of the theorem with exact sums is each bound's best one at its step, and not that of the other."""
    a, b = get("hflbounds.exact.star-star"), get("hflbounds.exact.ring-ring")
    values = {**MOCK, **REST, "zeta": 0.3}
    assert compare(a, b, **values).values_there == (a.tuned(**values).value, b.tuned(**values).value)
    at_step = {**values, "eta_eff": 0.02}
    assert compare(a, b, **at_step).values_there == (a(**at_step), b(**at_step))
    found = compare(a, b, over="K", range=(1, 50), **{n: v for n, v in values.items() if n != "K"})
    assert found.condition.smaller == "open"
    for part in found.stretches:
        one, other = (x.tuned(**{**values, "K": part.low}).value for x in (a, b))
        assert part.smaller == (
            "equal" if one == pytest.approx(other, rel=1e-12) else "first" if one < other else "second"
        )


def test_where_a_bound_says_nothing_is_a_stretch_of_its_own() -> None:
    a, b = members("zhou2026.thm1", (SR, RS))
    found = compare(a, b, over="eta_eff", range=(0.001, 10), **MOCK, zeta=0.5, **REST)
    assert [part.smaller for part in found.stretches] == ["second", "silent"]
    assert found.stretches[1].low == pytest.approx(1 / math.sqrt(60), rel=1e-12)
    assert found.crossings == ()
    assert found.smaller == b.id


def test_a_line_of_a_count_is_whole_numbers_once() -> None:
    line = Line("M", 1, 50, {}, True)
    assert line.points().tolist() == list(range(1, 51))
    assert Line("zeta", 0.5, 2, {}, True).points(4).tolist() == [0.5, 1.0, 1.5, 2.0]


# ------------------------------------------------------------------------------- the result


def test_the_result_says_itself_in_a_line_and_in_a_notebook() -> None:
    found = compare("zhou2026.thm1.star-ring", "zhou2026.thm1.ring-star", over="zeta", **MOCK)
    assert repr(found) == (
        "<Comparison: zhou2026.thm1.star-ring is smaller exactly where zeta < 0.13784 σ, "
        "whatever R, L, A, delta and the step>"
    )
    tex = found._repr_latex_()
    assert tex.startswith("$")
    assert markup.mathematics(tex.strip("$").replace(r"\displaystyle ", "").partition(r"\iff ")[2]) is not None
    with pytest.raises(AttributeError):
        found.over = "delta"  # type: ignore[misc]
    assert get("zhou2026.thm1.star-ring")._repr_latex_().startswith("$")


def test_every_condition_can_be_read_on_a_terminal() -> None:
    for one, other in FAMILIES[::5]:
        found = compare(one, other)
        assert not any("\\" in said or "$" in said for said in found.sentences()), (one, other)
        assert len(repr(found)) < 420
        assert "\n" not in repr(found)


def test_tuned_values_are_those_of_the_bounds() -> None:
    found = compare("hflbounds.sharp.star-ring", "hflbounds.sharp.ring-star", zeta=0.5, **MOCK, **REST)
    wanted = tuple(get(f"hflbounds.sharp.{t}").tuned(zeta=0.5, **MOCK, **REST).value for t in (SR, RS))
    assert found.values_there == wanted
    assert found.smaller == "hflbounds.sharp.ring-star"
    assert "1 to 1.217" in found.sentences()[-1]


def test_steps_that_two_bounds_allow_are_said_where_they_differ() -> None:
    found = compare("hflbounds.sharp.star-star", "zhou2026.thm1-proof.star-star")
    assert found.smaller == "hflbounds.sharp.star-star"
    assert any(note.startswith("Step sizes: ") for note in found.notes)
    assert not any("Step" in note for note in compare("hflbounds.sharp.star-star", "hflbounds.sharp.ring-ring").notes)


# ------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("one", "other", "asked", "said"),
    [
        ("liu2026.thm1", "zhou2026.thm1.star-star", {}, "bounds the loss-gap.*Compare liu2026.thm1 with"),
        (
            *("zhou2026.thm1.star-ring", "hflbounds.sharp.star-ring", {}),
            "hidden constants.*Compare hflbounds.sharp.star-ring with zhou2026.thm1-proof.star-ring",
        ),
        ("zhou2026.cor1.star-star", "koloskova2020.fedavg", {}, "M is 'clients in each group'.*'clients in all'"),
        ("zhou2026.cor1.star-star", "liu2022.qsgd", {}, "liu2022.qsgd alone assumes like clients.*--assume-both"),
    ],
)
def test_what_is_about_different_things_is_refused_with_a_way_out(
    one: str, other: str, asked: dict[str, Any], said: str
) -> None:
    with pytest.raises(ComparisonError, match=said):
        compare(one, other, **asked)


def test_a_way_out_is_of_the_same_participation_and_nearest_first() -> None:
    with pytest.raises(ComparisonError) as refused:
        compare("zhou2026.thm2.ring-star", "hflbounds.exact-partial.ring-star")
    others = str(refused.value).partition(" with ")[2].rstrip(".").split(" or ")
    assert others[:2] == ["zhou2026.thm2-proof.ring-star", "hflbounds.sharp-partial.ring-star"]
    assert all("S1" in get(one).needs for one in others)
    first = compare("zhou2026.thm2.ring-star", "zhou2026.thm1.ring-star").notes[0]
    assert first == (  # the rounds are of both
        "Protocols differ, so the one with the smaller bound need not be the better one. zhou2026.thm2.ring-star "
        "is about partial participation; zhou2026.thm1.ring-star about full participation, fixed order."
    )


def test_a_free_weight_is_no_other_protocol() -> None:
    notes = compare("hflbounds.sharp.star-ring", "hflbounds.exact.star-ring").notes
    assert not any("Protocols differ" in note for note in notes)


def test_both_hypotheses_can_be_assumed() -> None:
    found = compare("zhou2026.cor1.star-star", "liu2022.qsgd", assume_both=True)
    assert any("liu2022.qsgd alone assumes: like clients" in note for note in found.notes)
    found = compare("zhou2026.cor1.star-star", "koloskova2020.fedavg", assume_both=True)
    assert any("one number is taken for both" in note for note in found.notes)


@pytest.mark.parametrize(
    ("asked", "error", "said"),
    [
        ({"over": "mu"}, TypeError, "stands in none"),
        ({"over": "zetta"}, TypeError, "stands in none; known are G, M"),
        ({"over": "zeta", "zeta": 1.0}, TypeError, "moved and given"),
        ({"zeta": [1.0, 2.0]}, TypeError, "one number, not an array"),
        ({"G": 2.5}, DomainError, "whole number"),
        ({"tuned": True, "eta_eff": 0.01}, DomainError, "leave out eta_eff"),
        ({"tuned": False}, DomainError, "give eta_eff"),
        ({"over": "zeta", "range": (1, 2)}, TypeError, "a range of zeta also needs"),
        ({"over": "zeta", "range": (2, 1), **MOCK, **REST}, DomainError, "must begin below its end"),
        ({"over": "zeta", "range": (-1, 1), **MOCK, **REST}, DomainError, "at least 0"),
    ],
)
def test_misuse_is_refused(asked: dict[str, Any], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        compare("zhou2026.thm1.star-ring", "zhou2026.thm1.ring-star", **asked)


# ------------------------------------------------------------------------------- pictures


def test_a_picture_has_the_bounds_and_their_crossings() -> None:
    pytest.importorskip("matplotlib")
    family = hflbounds.family("hflbounds.sharp")
    values = {**MOCK, **REST, "delta": 0.1, "zeta": 0.05}
    del values["K"]
    drawn = hflbounds.plot(family, x="K", range=(1, 200), **values)
    assert [*drawn.y] == [bound.id for bound in family]
    assert drawn.says.startswith("Upper bounds on the mean-squared-gradient, each at its best step, against K from 1")
    mixed = hflbounds.plot([family[0], get("hflbounds.lower.star-star")], x="K", range=(1, 200), **values)
    assert mixed.says.startswith("Upper and lower bounds on")
    for bound in family:
        assert drawn.y[bound.id] == pytest.approx(bound.tuned(**values, K=drawn.x).value, rel=1e-15)
    ((one, other, x, _),) = drawn.crossings
    assert (one, other) == ("hflbounds.sharp.star-ring", "hflbounds.sharp.ring-star")
    gaps = [get(one).tuned(**values, K=k).value - get(other).tuned(**values, K=k).value for k in (x - 1, x)]
    assert gaps[0] < 0 < gaps[1]
    figure = drawn.figure
    upper, lower = figure.axes
    assert [text.get_text() for text in upper.get_legend().get_texts()] == [*drawn.y]
    assert "mean squared gradient" in upper.get_ylabel()
    assert upper.get_xscale() == "log"
    assert lower.get_xlabel().startswith("$K$")
    assert drawn._repr_png_().startswith(b"\x89PNG")  # type: ignore[union-attr]
    assert len(drawn.rows) == 4 * len(drawn.x) + 1


def test_a_bound_draws_itself_at_a_step_and_ends_where_it_says_nothing() -> None:
    pytest.importorskip("matplotlib")
    bound = get("zhou2026.thm1.star-star")
    drawn = bound.plot(x="eta_eff", range=(0.001, 10), zeta=0.5, **MOCK, **REST)
    known = np.isfinite(drawn.y[bound.id])
    (cap,) = (float(condition.rhs.value({"L": 1.0})) for condition in bound.requires)
    assert (known == (drawn.x <= cap)).all()
    assert 0 < known.sum() < known.size
    assert len(drawn.figure.axes) == 1
    assert "up to a factor" in drawn.figure.axes[0].get_ylabel()
    found = compare("zhou2026.thm1.star-ring", "zhou2026.thm1.ring-star", over="zeta", **MOCK, **REST)
    assert [c[2] for c in found.plot().crossings] == [*found.crossings]


def test_pictures_are_refused_where_there_is_nothing_to_draw() -> None:
    pytest.importorskip("matplotlib")
    with pytest.raises(ComparisonError, match="nothing to draw along"):
        compare("zhou2026.thm1.star-ring", "zhou2026.thm1.ring-star").plot()
    with pytest.raises(ComparisonError, match="leave some out"):
        hflbounds.plot([], x="R")
    with pytest.raises(TypeError, match="the picture also needs"):
        get("zhou2026.thm1.star-star").plot(x="R")
    with pytest.raises(DomainError, match="none of"):
        get("zhou2026.thm1.star-star").plot(x="eta_eff", range=(5, 10), zeta=0.5, **MOCK, **REST)


@pytest.mark.parametrize("R", [100, 10_000])
def test_at_steps_that_only_one_allows_the_order_is_that_of_the_best_steps(R: int) -> None:
    """Without R one order was stated for every common step, and with R the other beside it."""
    pair = "zhou2026.thm1.star-star", "zhou2026.thm1.star-ring"
    numbers = {"G": 3, "M": 25, "P": 2, "K": 5, "L": 1, "A": 2.3, "sigma": 1, "zeta": 0.5, "delta": 0.5}
    cap = float(min(c.rhs.value({**numbers}) for c in get(pair[1]).requires))
    steps = np.geomspace(1e-6, cap, 50)
    a, b = (get(one)(eta_eff=steps, R=R, **numbers) for one in pair)
    assert (b <= a).all()  # at every step that both allow
    best = min(pair, key=lambda one: float(get(one).tuned(R=R, **numbers).value))
    assert best == pair[R > 1000]
    open_, known = compare(*pair, **numbers), compare(*pair, R=R, **numbers)
    assert open_.sentences() == [
        f"{pair[1]} is at most {pair[0]} at every step that both allow; each at its best step, the order depends on R "
        "too."
    ]
    first, second_ = known.sentences()
    assert first.startswith(f"Each at its best step, {best} is smaller: ")
    assert second_ == f"{pair[1]} is at most {pair[0]} at every step that both allow; best steps need not be such."
    assert known.smaller == best
    common = compare(*pair, R=R, cap="common", **numbers)
    assert common.sentences()[0] == f"{pair[1]} is at most {pair[0]} at every common step."
    assert common.smaller == pair[1]


def test_a_smaller_bound_that_allows_all_steps_stays_so_at_best_steps() -> None:
    pair = "hflbounds.sharp.star-star", "zhou2026.thm1-proof.star-star"
    found = compare(*pair)
    assert found.sentences() == [f"{pair[0]} is at most {pair[1]} at every common step."]
    rng = np.random.default_rng(0)
    for _ in range(20):
        numbers = {name: 10.0 ** rng.uniform(-2, 2) for name in ("L", "A", "sigma", "zeta", "delta")}
        counts = {name: int(rng.integers(1, 30)) for name in ("G", "M", "P", "K")}
        R = int(10 ** rng.uniform(0, 5))
        small, large = (float(get(one).tuned(**numbers, **counts, R=R).value) for one in pair)
        assert small <= large * (1 + 1e-12)
