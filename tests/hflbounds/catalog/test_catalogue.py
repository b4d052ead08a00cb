"""The catalogue against an independent second encoding, against reference values, and against its contract.

Expected numbers come from `second_encoding.py` (typed from the paper by another hand, exact fractions or
mpmath), from `data/unified_points.csv` (computed by another person), or are typed here from the contract.
Nothing expected here is computed by hflbounds.
"""

import math
import random
import re
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import groupby
from typing import Any

import mpmath
import numpy as np
import pytest
import second_encoding as second
import sympy as sp
from test_points import ROWS, SCENARIOS
from test_points import _is_printed as is_printed

from hflbounds import Bound, UnknownBoundError, catalogue, families, get
from hflbounds.core.expression import Expr
from hflbounds.core.quantities import ABOUT

DIGITS = 50
POINTS = 15
BOUNDS = tuple(b for b in catalogue().values() if b.id in second.BOUND_IDS)  # test_second_road.py has the others
STEPPED = tuple(bound for bound in BOUNDS if "eta_eff" in bound.needs)
TOPOLOGIES = {"SS": "star-star", "SR": "star-ring", "RS": "ring-star", "RR": "ring-ring"}
LABELS = {
    "full": {"unit": "zhou2026.thm1", "rate": "zhou2026.cor1", "proof": "zhou2026.thm1-proof"},
    "shuffle": {
        "unit": "zhou2026.shuffle",
        "rate": "zhou2026.shuffle-rate",
        "proof": "zhou2026.shuffle-proof",
    },
    "partial": {"unit": "zhou2026.thm2", "rate": "zhou2026.cor2", "proof": "zhou2026.thm2-proof"},
}
SHARP = {"full": "hflbounds.sharp", "shuffle": "hflbounds.sharp-shuffle"}

for_every_bound = pytest.mark.parametrize("bound", BOUNDS, ids=lambda b: b.id)
for_every_step = pytest.mark.parametrize("bound", STEPPED, ids=lambda b: b.id)
for_every_row = pytest.mark.parametrize("row", ROWS, ids=lambda r: f"{r['point']}-{r['regime']}-{r['topology']}")


@cache
def points(bound_id: str) -> list[dict[str, Fraction]]:
    """Admissible points: every number is a short binary fraction, so that float64 holds it exactly.

    All seven counts differ from each other and L is never 1, so that no letter can stand for another.
    """
    rng = random.Random(bound_id)
    found = []
    while len(found) < POINTS:
        # S1 <= G and S2 <= M, whatever is drawn
        s1, group, s2, client = rng.choice([(3, 8, 5, 20), (4, 25, 13, 17), (7, 9, 2, 60), (12, 90, 11, 70)])
        group_rounds, local_steps = rng.sample([1, 6, 10, 14, 15, 27, 33], 2)
        rounds = rng.randint(100, 10**6)
        numbers = {
            **{"G": group, "M": client, "S1": s1, "S2": s2},
            **{"P": group_rounds, "K": local_steps, "R": rounds},
            **{name: Fraction(rng.randint(1, 4095), 256) for name in ("A", "sigma", "zeta", "delta")},
            "L": Fraction(rng.randint(1, 4095), rng.choice([16, 256, 4096])),
        }
        point = {name: Fraction(number) for name, number in numbers.items()}
        cap = second.cap(bound_id, **point)
        if cap is not None:
            # up to 0.9 of the cap: closer to a pole of c2 the float64 error grows like 1/(1 - eta_eff/pole)
            share = rng.choice([Fraction(1, 2**8), Fraction(1, 4), Fraction(1, 2), Fraction(9, 10)])
            point["eta_eff"] = Fraction(int(cap * share * 2**40), 2**40)
        assert len({group, client, s1, s2, group_rounds, local_steps, rounds}) == 7
        if point["L"] != 1:
            found.append(point)
    return found


def exactly(expression: Expr, numbers: dict[str, Fraction]) -> Any:
    """The value by way of sympy, to fifty digits."""
    formula = expression.to_sympy()
    values = {s: sp.Rational(numbers[s.name].numerator, numbers[s.name].denominator) for s in formula.free_symbols}
    return mpmath.mpf(formula.xreplace(values).evalf(DIGITS + 5))


def as_mpf(number: Any) -> Any:
    """A Fraction or an mpf, at the precision in force."""
    return mpmath.mpf(number.numerator) / number.denominator if isinstance(number, Fraction) else number


def in_floats(bound: Bound, numbers: dict[str, Fraction]) -> dict[str, float]:
    """The same point as floats; nothing is rounded."""
    given = {name: float(numbers[name]) for name in bound.needs}
    assert all(Fraction(given[name]) == numbers[name] for name in given)
    return given


# ------------------------------------------------------------------------------- the second encoding


def test_the_catalogue_begins_with_the_five_papers_and_then_this_project() -> None:
    papers = [key for key, _ in groupby(bound_id.partition(".")[0] for bound_id in catalogue())]
    assert papers[:6] == ["zhou2026", "zhou2025", "liu2026", "sharma2025", "xie2024", "hflbounds"]
    assert not {*papers[:6]} & {*papers[6:]}


def test_both_encodings_have_the_same_bounds() -> None:
    assert {b.id for b in BOUNDS} == set(second.BOUND_IDS)


@for_every_bound
def test_fifty_digits_against_the_second_encoding(bound: Bound) -> None:
    with mpmath.workdps(DIGITS + 10):
        for numbers in points(bound.id)[:3]:  # all of them in the next test
            expected = as_mpf(second.value(bound.id, **numbers))
            found = exactly(bound.expression, numbers)
            assert abs(found / expected - 1) < mpmath.mpf(10) ** (2 - DIGITS), numbers


@for_every_bound
def test_float64_against_fifty_digits(bound: Bound) -> None:
    """One float for floats, one array for arrays; both against the second encoding in 60 digits."""
    with mpmath.workdps(DIGITS + 10):
        expected = [as_mpf(second.value(bound.id, **numbers)) for numbers in points(bound.id)]
        floats = [in_floats(bound, numbers) for numbers in points(bound.id)]
        one_by_one = [bound(**values) for values in floats]
        assert all(type(value) is float for value in one_by_one)
        together = bound(**{name: np.array([values[name] for values in floats]) for name in bound.needs})
        assert together.shape == (POINTS,)
        assert together.dtype == np.float64
        for found in (one_by_one, together.tolist()):
            for value, wanted, numbers in zip(found, expected, points(bound.id), strict=True):
                assert abs(mpmath.mpf(value) / wanted - 1) < mpmath.mpf("1e-12"), numbers


@for_every_bound
def test_terms_add_up_to_the_second_encoding(bound: Bound) -> None:
    with mpmath.workdps(DIGITS):
        for numbers in points(bound.id)[:5]:
            split = bound.split(**in_floats(bound, numbers))
            assert tuple(split) == tuple(bound.terms)
            total = mpmath.fsum(mpmath.mpf(value) for value in split.values())
            assert abs(total / as_mpf(second.value(bound.id, **numbers)) - 1) < mpmath.mpf("1e-12")


def test_the_points_tell_bounds_apart() -> None:
    """No two ids agree at these points, except where random order changes nothing: the two star-stars."""
    with mpmath.workdps(20):
        values: dict[str, list[str]] = {}
        numbers = points("zhou2026.thm2-proof.ring-ring")[0]
        for bound in BOUNDS:
            value = mpmath.nstr(exactly(bound.expression, numbers), 15)
            values.setdefault(value, []).append(bound.id)
    assert sorted(ids for ids in values.values() if len(ids) > 1) == [
        ["hflbounds.sharp.star-star", "hflbounds.sharp-shuffle.star-star"],
        ["zhou2026.cor1.star-star", "zhou2026.shuffle-rate.star-star"],
        ["zhou2026.thm1-proof.star-star", "zhou2026.shuffle-proof.star-star"],
        ["zhou2026.thm1.star-star", "zhou2026.shuffle.star-star"],
    ]


@for_every_step
def test_conditions_end_at_the_second_encodings_cap(bound: Bound) -> None:
    """Fifty digits: at the cap the first condition to fail is an equality; in floats, the two sides of it."""
    with mpmath.workdps(DIGITS + 10):
        for numbers in points(bound.id)[:5]:
            cap = as_mpf(second.cap(bound.id, **numbers))
            at_cap = {"L": numbers["L"], "eta_eff": Fraction(mpmath.nstr(cap, DIGITS + 8))}
            room = [
                (exactly(c.rhs, at_cap) - exactly(c.lhs, at_cap)) / abs(exactly(c.rhs, at_cap)) for c in bound.requires
            ]
            assert abs(min(room, key=abs)) < mpmath.mpf(10) ** (3 - DIGITS)
            assert all(r > -(mpmath.mpf(10) ** (3 - DIGITS)) for r in room)
            values = in_floats(bound, numbers)
            for factor, inside in ((1e-9, True), (0.5, True), (1 - 1e-12, True), (1 + 1e-12, False)):
                step = float(cap) * factor
                assert bound.applies(**{**values, "eta_eff": step}) is inside
    # Theorem 1, Theorem 2 and Appendix E print <=; at the pole of explicit constants there is no bound.
    strict = {c.strict for c in bound.requires}
    assert strict == {bound.constants == "explicit"}


@for_every_step
def test_raw_steps_against_the_second_encoding(bound: Bound) -> None:
    for numbers in points(bound.id)[:5]:
        step = numbers["eta_eff"]
        rest = {name: number for name, number in numbers.items() if name != "eta_eff"}
        wanted = second.raw_step(bound.id, step, **rest)
        assert isinstance(wanted, Fraction)
        floats = {name: float(number) for name, number in numbers.items()}
        assert bound.chain_length(**floats) == float(step / wanted)  # a product of counts: no rounding
        assert bound.raw_step(**floats) == pytest.approx(float(wanted), rel=1e-15)


def test_a_rate_has_no_step() -> None:
    rates = [bound for bound in BOUNDS if bound not in STEPPED]
    assert {bound.family for bound in rates} == {"zhou2026.cor1", "zhou2026.shuffle-rate", "zhou2026.cor2"}
    numbers = {name: float(number) for name, number in points("zhou2026.thm2.ring-ring")[0].items()}
    for bound in rates:
        with pytest.raises(TypeError, match="no step size"):
            bound.raw_step(**numbers)
        with pytest.raises(TypeError, match="no step size"):
            bound.chain_length(**numbers)


# --------------------------------------------------------------------------------- the reference points


def scenario(row: dict[str, str]) -> dict[str, float]:
    """The scenario of a reference value; the same table as in `test_points`."""
    return {name: float(number) for name, number in SCENARIOS[row["point"]].items()}


@for_every_row
def test_reference_points_at_a_fixed_step(row: dict[str, str]) -> None:
    values, topology = scenario(row), TOPOLOGIES[row["topology"]]
    step = 1 / (25 * values["L"])
    ids = LABELS[row["regime"]]
    assert is_printed(get(f"{ids['unit']}.{topology}")(**values, eta_eff=step), row["unit@eta_fix"])
    assert is_printed(get(f"{ids['proof']}.{topology}")(**values, eta_eff=step), row["explicit@eta_fix"])
    assert is_printed(get(f"{ids['rate']}.{topology}")(**values), row["printed rate (cor.)"])
    if row["regime"] in SHARP:
        sharp = get(f"{SHARP[row['regime']]}.{topology}")
        assert is_printed(sharp(**values, eta_eff=step), row["sharp@eta_fix"])


@for_every_row
def test_reference_points_tuned(row: dict[str, str]) -> None:
    values, topology = scenario(row), TOPOLOGIES[row["topology"]]
    ids = LABELS[row["regime"]]
    unit = get(f"{ids['unit']}.{topology}")
    free = unit.tuned(cap="none", **values)
    assert is_printed(free.eta_eff, row["eta*_unit"])
    assert is_printed(free.value, row["unit@eta* (no cap)"])
    assert free.cap_binds is False
    capped = unit.tuned(**values)
    assert capped.cap_binds is (row["cap binds"] == "yes")
    assert is_printed(capped.value, row["unit tuned with cap"])

    proof = get(f"{ids['proof']}.{topology}")
    for cap in ("own", "none"):  # an explicit formula has its own range, whatever cap is asked for
        best = proof.tuned(cap=cap, **values)
        assert is_printed(best.eta_eff, row["eta*_expl"])
        assert is_printed(best.value, row["explicit tuned"])
        assert best.cap_binds is False
    if row["regime"] in SHARP:
        best = get(f"{SHARP[row['regime']]}.{topology}").tuned(**values)
        assert is_printed(best.value, row["sharp tuned"])


# ------------------------------------------------------------------------------------------ the contract


def test_the_contracts_example() -> None:
    """Literally as the contract has it; the number is reference point 1, Star-Ring, at eta_eff = 1/25."""
    from hflbounds import catalogue, get

    b = get("zhou2026.thm1.star-ring")
    value = b(G=10, M=10, P=1, K=2, R=5000, L=1, A=2.3, sigma=1, zeta=0.5, delta=0.5, eta_eff=0.04)
    assert is_printed(value, "0.01258000000")
    assert catalogue()["zhou2026.thm1.star-ring"] is b
    given = {"G": 10, "M": 10, "P": 1, "K": 2, "L": 1, "A": 2.3, "sigma": 1, "zeta": 0.5, "delta": 0.5}
    assert isinstance(b(**given, R=np.array([5000]), eta_eff=0.04), np.ndarray)
    assert sum(b.split(**given, R=5000, eta_eff=0.04).values()) == pytest.approx(0.01258, rel=1e-14)
    t = b.tuned(**given, R=5000, cap="own")
    assert is_printed(t.eta_eff, "0.07329563597")
    assert is_printed(t.value, "0.009597169276")
    assert t.eta == pytest.approx(0.07329563597 / (1 * 10 * 2), rel=1e-9)  # P M K chained steps
    assert t.cap_binds is False
    assert list(t.split) == list(b.terms)
    # 5000 rounds give 0.009597169276, and the target is a little above it
    assert b.rounds_to(0.00959717, **given) == 5000
    assert b.latex()
    assert (b.status, b.constants) == ("proved", "hidden")
    assert str(b.source) == "Zhou, Li and Lyu (2026), camera ready, Theorem 1, eq. (5)"
    assert [str(c) for c in b.requires] == ["eta_eff <= 1/(sqrt(60)*L)"]
    assert [a.id for a in b.assumes][:2] == ["smooth", "noise"]
    assert [e.id for e in b.errata][:2] == ["zhou2026.A1.star-ring", "zhou2026.A2.star-ring"]


CONTRACT_LABELS = (
    *("zhou2026.thm1", "zhou2026.cor1", "zhou2026.thm1-proof"),
    *("zhou2026.shuffle", "zhou2026.shuffle-rate", "zhou2026.shuffle-proof"),
    *("zhou2026.thm2", "zhou2026.cor2", "zhou2026.thm2-proof"),
    *("hflbounds.sharp", "hflbounds.sharp-shuffle"),
)


@pytest.mark.parametrize("label", CONTRACT_LABELS)
def test_every_id_of_the_contract_exists(label: str) -> None:
    for topology in TOPOLOGIES.values():
        bound = get(f"{label}.{topology}")
        assert bound.id == f"{label}.{topology}"
        assert (bound.family, bound.topology) == (label, topology)
    assert [b.topology for b in families()[label]] == list(TOPOLOGIES.values())


def test_unknown_ids_name_the_nearest() -> None:
    with pytest.raises(UnknownBoundError, match=r"zhou2026\.thm1\.star-ring"):
        get("zhou2026.thm1.star_ring")
    with pytest.raises(KeyError, match="catalogue"):
        get("?")


@for_every_bound
def test_every_bound_says_what_it_is(bound: Bound) -> None:
    assert bound.title.startswith(f"{bound.topology}, ")
    assert bound.source.place
    assert bound.source.paper.key == bound.id.partition(".")[0]
    assert bound.source.paper.title
    assert bound.source.paper.authors
    assert bound.source.paper.year == 2026
    assert bound.source.place in str(bound.source)
    own = bound.id.startswith("hflbounds.")
    assert bound.status == ("own" if own else "proved")
    explicit = own or bound.family.endswith("-proof")
    assert bound.constants == ("explicit" if explicit else "hidden")
    assert {a.id for a in bound.assumes} >= {"smooth", "noise", "rounds"}
    assert bound.grows_with
    assert bound.shrinks_with
    assert not set(bound.grows_with) & set(bound.shrinks_with)
    assert {s.name for s in (*bound.grows_with, *bound.shrinks_with)} | {"eta_eff"} >= set(bound.needs)


def test_titles_and_places_name_one_bound_each() -> None:
    """Two bounds of one title could not be told apart in a report."""
    named = {(bound.title, str(bound.source), bound.constants) for bound in BOUNDS}
    assert len(named) == len(BOUNDS)


@for_every_bound
def test_sympy_sees_the_sum_of_the_terms(bound: Bound) -> None:
    assert bound.rhs == sp.Add(*(term.to_sympy() for term in bound.terms.values()))
    assert {s.name for s in bound.rhs.free_symbols} <= set(bound.needs)
    assert all(s.is_nonnegative for s in bound.rhs.free_symbols)


# --------------------------------------------------------------------------------------------- LaTeX

TOKEN = re.compile(r"\\text\{[^}]*\}|\\[A-Za-z]+ ?|\d+|\S")


def tokens(latex: str) -> list[str]:
    return [token.strip() for token in TOKEN.findall(latex)]


def read_latex(latex: str, numbers: dict[str, float]) -> float:
    """A reader for the LaTeX that the catalogue writes, by recursive descent; no code of hflbounds.

    ``numbers`` are keyed by LaTeX, such as ``\\sigma``, ``S_1`` or ``c_1``.
    """
    left = tokens(latex)

    def accept(token: str) -> bool:
        if left and left[0] == token:
            left.pop(0)
            return True
        return False

    def expect(token: str) -> None:
        assert accept(token), f"{token} expected before {''.join(left)!r}"

    def braced(read: Callable[[], float]) -> float:
        expect("{")
        value = read()
        expect("}")
        return value

    def added() -> float:
        value = -multiplied() if accept("-") else multiplied()
        while left and left[0] in "+-":
            sign = 1 if left.pop(0) == "+" else -1
            value += sign * multiplied()
        return value

    def multiplied() -> float:
        value = raised()
        while left and left[0] not in {"+", "-", "}", r"\right", r"\le", "<", r"\quad", ","}:
            value = value / raised() if accept("/") else value * raised()
        return value

    def raised() -> float:
        base = atom()
        return base ** braced(added) if accept("^") else base

    def atom() -> float:
        piece = left.pop(0)
        if piece == r"\frac":
            above = braced(added)
            return above / braced(added)
        if piece == r"\sqrt":
            degree = 2
            if accept("["):
                degree = int(left.pop(0))
                expect("]")
            return braced(added) ** (1 / degree)
        if piece == r"\sin":
            return math.sin(atom())
        if piece == r"\left":
            expect("(")
            value = added()
            expect(r"\right")
            expect(")")
            return value
        if piece == r"\tilde":
            piece += left.pop(0)
        if left and left[0] == "_":
            piece += left.pop(0) + left.pop(0)
        return float(piece) if piece.isdigit() else numbers[piece]

    value = added()
    assert not left, f"not read: {''.join(left)!r}"
    return value


@for_every_bound
def test_latex_is_read_back_as_the_second_encodings_value(bound: Bound) -> None:
    text = bound.latex()
    sign = r"\le" if bound.constants == "explicit" else r"\lesssim"
    metric, _, rest = text.partition(f" {sign} ")
    assert metric == r"\frac1R\sum_{r=0}^{R-1}\mathbb{E}\|\nabla F(x^{(r)})\|^2"
    formula, _, conditions = rest.partition(r" \quad\text{if } ")
    formula, _, apart = formula.partition(r" \quad\text{with }")
    assert (conditions != "") == ("eta_eff" in bound.needs)
    for numbers in points(bound.id)[:3]:
        known = {ABOUT[name].latex: float(numbers[name]) for name in bound.needs}
        for definition in filter(None, apart.split(", ")):
            name, _, part = definition.partition(" = ")
            known[name.strip()] = read_latex(part, known)
        expected = float(second.value(bound.id, **numbers))
        assert read_latex(formula, known) == pytest.approx(expected, rel=1e-12)
        for condition in filter(None, conditions.split(", ")):
            lhs, rhs = re.split(r" \\le | < ", condition)
            assert read_latex(lhs, known) < read_latex(rhs, known)  # the points are admissible


@for_every_bound
def test_latex_mentions_every_symbol_and_balances(bound: Bound) -> None:
    text = bound.latex()
    sign = r"\le" if bound.constants == "explicit" else r"\lesssim"
    written = tokens(text.partition(f" {sign} ")[2])
    for name in bound.needs:
        wanted = tokens(ABOUT[name].latex)
        places = range(len(written) - len(wanted) + 1)
        assert any(written[i : i + len(wanted)] == wanted for i in places), name
    depth = 0
    for character in text:
        depth += (character == "{") - (character == "}")
        assert depth >= 0
    assert depth == 0
    assert text.count(r"\left(") == text.count(r"\right)")
    assert bound._repr_latex_() == f"$\\displaystyle {text}$"


def test_every_bound_says_which_losses_it_is_about() -> None:
    said = {bound.id: bound.losses for bound in catalogue().values()}
    assert said["zhou2026.thm1.star-ring"] == "smooth losses; convex or not"
    assert said["hflbounds.tilt.ring-ring"] == "quadratic losses with one Hessian, which differ by a tilt"
    assert said["hflbounds.identical.ring-ring"] == "smooth losses; one loss for all clients; convex or not"
    assert said["hflbounds.identical.star-star"].endswith("smooth and convex losses")
    assert said["liu2026.thm1"] == "smooth and strongly convex losses"
    assert said["sharma2025.beta"].startswith("any losses, or none")
    assumed = {"smooth", "convex", "losses that differ by a tilt", "smooth sub-centers", "smooth and strongly convex"}
    for bound in catalogue().values():  # whoever assumes something of losses says so
        assert {a.id for a in bound.assumes if a.losses} or not {a.id for a in bound.assumes} & assumed
