"""Which bound is smaller: the crossovers of the formula sheet, typed by hand, and what the bounds say.

Differences of drift coefficients are typed from unified.md, section 6 (F14-F20) and section 4 (F9); signs
and crossings are checked on the second encoding in exact fractions and on tuned values over dense scans.
"""

import random
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import pytest
import second_encoding as second
import sympy as sp

from hflbounds import Bound, ComparisonError, get
from hflbounds.core import quantities
from hflbounds.core.metrics import MEAN_SQUARED_GRADIENT, Metric
from hflbounds.core.quantities import ABOUT
from hflbounds.evaluate.compare import advantage, check_comparable, crossings, excess, order, ties

SS, SR, RS, RR = TOPOLOGIES = ("star-star", "star-ring", "ring-star", "ring-ring")
SHARED = ("zhou2026.thm1", "zhou2026.shuffle", "zhou2026.thm2", "hflbounds.sharp", "hflbounds.sharp-shuffle")
PAIRS = tuple(combinations(TOPOLOGIES, 2))
for_every_pair = pytest.mark.parametrize(
    ("label", "pair"),
    [(label, pair) for label in SHARED for pair in PAIRS]
    + [(label, (SR, RS)) for label in ("zhou2026.thm1-proof", "zhou2026.shuffle-proof", "zhou2026.thm2-proof")],
    ids=str,
)

# The vocabulary's letters for sympy, with squares of the deviations.
G, M, P, K, S1, S2 = (sp.Symbol(name, integer=True, positive=True) for name in ("G", "M", "P", "K", "S1", "S2"))
s, z, d = (sp.Symbol(name, nonnegative=True) ** 2 for name in ("sigma", "zeta", "delta"))
LETTERS = ("G", "M", "P", "K", "R", "S1", "S2", "L", "A", "sigma", "zeta", "delta")


def members(label: str, pair: tuple[str, str]) -> tuple[Bound, Bound]:
    return get(f"{label}.{pair[0]}"), get(f"{label}.{pair[1]}")


@cache
def excess_of(label: str, pair: tuple[str, str]) -> sp.Expr:
    """Kept, as several tests look at the same pairs."""
    return excess(*members(label, pair))


def draw(seed: str, count: int) -> list[dict[str, Fraction]]:
    """Admissible points with S1 <= G, S2 <= M; deviations and counts on either side of the crossovers."""
    rng = random.Random(seed)
    found = []
    for _ in range(count):
        group, client = rng.choice([2, 3, 5, 12]), rng.choice([2, 9, 70, 400])
        numbers = {
            **{"G": group, "M": client, "P": rng.choice([1, 2, 7]), "K": rng.choice([1, 3, 20]), "R": 300},
            **{"S1": rng.randint(1, group), "S2": rng.randint(1, client)},
            **{"L": Fraction(7, 4), "A": Fraction(3, 8), "sigma": Fraction(rng.randint(1, 40), 8)},
            **{name: Fraction(rng.choice([1, 8, 24, 160, 700]), 256) for name in ("zeta", "delta")},
        }
        found.append({name: Fraction(number) for name, number in numbers.items()})
    return found


# ------------------------------------------------------------------------------- the formula sheet

# Ring-Star before Star-Ring where this is positive.
CROSSOVERS = {
    "zhou2026.thm1": (P * G * (G - 1) - M) * s + M * K * (G**2 - 1) * z,  # F15
    "zhou2026.thm1-proof": (3 * G**2 * P - 2 * G * P - M) * s + M * K * (2 * G**2 - 1) * z,  # F16
    "hflbounds.sharp": 3 * (G * P * (G - 1) - M) * s + (G**2 - 2) * M * K * z + G**2 * P**2 * M * K * d,  # F17
    "zhou2026.shuffle": (P * G * (G - 1) - M) * s + K * (G**2 - M) * z + G * (G - 1) * P**2 * M * K * d,  # F18
    "zhou2026.shuffle-proof": (3 * G**2 * P - 2 * G * P - M) * s  # F19
    + K * (2 * G**2 - M) * z
    + 3 * G * (G - 1) * P**2 * M * K * d,
    "zhou2026.thm2": (P * S1 * (S1 - 1) - S2) * s - S2 * K * z + S1 * (S1 - 1) * P**2 * S2 * K * d,  # F20
}


@pytest.mark.parametrize("label", CROSSOVERS)
def test_star_ring_against_ring_star(label: str) -> None:
    """F15-F20, up to a positive number."""
    ratio = sp.cancel(excess_of(label, (SR, RS)) / CROSSOVERS[label])
    assert ratio.is_Rational
    assert ratio > 0
    back = sp.cancel(excess_of(label, (RS, SR)) / CROSSOVERS[label])
    assert back == -ratio


def one_minus(x: Any) -> Any:
    return 1 - 1 / x


# The other pairs, q of the first minus q of the second: all at least 0 for counts from 1 on.
DIFFERENCES = {
    "zhou2026.thm1": {  # F14
        (SS, SR): s / (P**2 * K),
        (RS, RR): s / (G**2 * P**2 * K),
        (SS, RS): one_minus(G**2) * (s / (P**2 * K) + z / P**2) + one_minus(G) * s / (P * M * K),
        (SR, RR): one_minus(G) * s / (P * M * K) + one_minus(G**2) * z / P**2,
    },
    "zhou2026.shuffle": {  # "ring top adds (1 - 1/G) delta^2"; zeta^2/M where the low tier is a ring (F7)
        (SS, SR): s / (P**2 * K) + z / P**2 * one_minus(M),
        (RS, RR): s / (G**2 * P**2 * K) + z / (G**2 * P**2) * one_minus(M),
        (SS, RS): one_minus(G**2) * (s / (P**2 * K) + z / P**2) + one_minus(G) * (s / (P * M * K) + d),
        (SR, RR): one_minus(G) * (s / (P * M * K) + d) + one_minus(G**2) * z / (P**2 * M),
    },
    "zhou2026.thm2": {
        (SS, SR): s / (P**2 * K) + z / P**2,
        (RS, RR): (s / (P**2 * K) + z / P**2) / S1**2,
        (SS, RS): one_minus(S1**2) * (s / (P**2 * K) + z / P**2) + one_minus(S1) * (s / (P * S2 * K) + d),
        (SR, RR): one_minus(S1) * (s / (P * S2 * K) + d),
    },
    "hflbounds.sharp": {  # F9, times 12/5
        (SS, SR): 3 * s / (P**2 * K) + z / P**2,
        (RS, RR): (3 * s / (P**2 * K) + z / P**2) / G**2,
        (SS, RS): one_minus(G**2) * (3 * s / (P**2 * K) + 2 * z / P**2) + one_minus(G) * 3 * s / (P * M * K) + d,
        (SR, RR): one_minus(G) * 3 * s / (P * M * K) + one_minus(G**2) * z / P**2 + d,
    },
    "hflbounds.sharp-shuffle": {  # F9 with its last sentence, times 24/5
        (SS, SR): 6 * s / (P**2 * K) + (4 - 3 / M) * z / P**2,
        (RS, RR): (6 * s / (P**2 * K) + (4 - 3 / M) * z / P**2) / G**2,
        (SS, RS): one_minus(G**2) * (6 * s / (P**2 * K) + 4 * z / P**2)
        + one_minus(G) * 6 * s / (P * M * K)
        + (4 - 3 / G) * d,
        (SR, RR): one_minus(G) * 6 * s / (P * M * K) + one_minus(G**2) * 3 * z / (P**2 * M) + (4 - 3 / G) * d,
    },
}


@pytest.mark.parametrize(
    ("label", "pair"),
    [  # every second, of each label and each pair
        pytest.param(label, pair, marks=pytest.mark.slow if (i + j) % 2 else ())
        for i, label in enumerate(DIFFERENCES)
        for j, pair in enumerate(DIFFERENCES[label])
    ],
)
def test_a_ring_never_hurts(label: str, pair: tuple[str, str]) -> None:
    """F14 and its companions: the difference is the typed one, and nonnegative for counts from 1 on."""
    found, wanted = excess_of(label, pair), DIFFERENCES[label][pair]
    above, below = sp.fraction(sp.cancel(found / wanted))
    for part in (above, below):  # a positive number times counts
        ((_, number),) = sp.Poly(part, G, M, P, K, S1, S2).terms()
        assert number.is_positive
    names = (G, M, P, K, S1, S2)
    more = sp.expand(found.subs({count: 1 + sp.Symbol(f"{count}_more") for count in names}, simultaneous=True))
    assert all(coefficient > 0 for coefficient in sp.Poly(more, *more.free_symbols).coeffs())


@for_every_pair
def test_the_excess_has_the_sign_of_the_difference(label: str, pair: tuple[str, str]) -> None:
    """At one common admissible step, in exact fractions of the second encoding."""
    a, b = members(label, pair)
    found = excess_of(label, pair)
    seen = set()
    for point in draw(f"{label} {pair}", 6):
        step = Fraction(1, 25) / point["L"]
        difference = second.value(a.id, **point, eta_eff=step) - second.value(b.id, **point, eta_eff=step)
        at = {
            symbol: sp.Rational(point[symbol.name].numerator, point[symbol.name].denominator)
            for symbol in found.free_symbols
        }
        value = found.subs(at)
        assert sp.sign(value) == (difference > 0) - (difference < 0), point
        seen.add(difference > 0)
    assert seen == ({True, False} if pair == (SR, RS) else seen)  # only this pair depends on the data


def test_a_bound_does_not_exceed_itself() -> None:
    one = get("zhou2026.thm1.star-star")
    assert excess(one, one) == 0
    assert excess(one, get("zhou2026.shuffle.star-star")) == 0  # random order changes nothing there
    assert crossings(one, one, "G") == []


def test_the_old_name_of_the_excess_warns() -> None:
    one, other = members("zhou2026.thm1", (SR, RS))
    with pytest.warns(DeprecationWarning, match="excess"):
        assert advantage(one, other) == excess(one, other)


@pytest.mark.parametrize("label", ["zhou2026.cor1", "zhou2026.shuffle-rate", "zhou2026.cor2"])
def test_rates_have_no_polynomial_to_compare_by(label: str) -> None:
    """A difference of cube roots is no polynomial: an error of this package, not of the algebra below it."""
    with pytest.raises(ComparisonError):
        excess(*members(label, (SR, RS)))


# ------------------------------------------------------------------------------------------- crossings

SCANNED = {
    **{count: np.arange(1.0, 301.0) for count in ("G", "M", "P", "K")},
    **{"S1": np.arange(1.0, 13.0), "S2": np.arange(1.0, 301.0)},
    **{name: np.geomspace(1e-2, 1e2, 301) for name in ("sigma", "zeta", "delta", "L", "A")},
    "R": np.floor(np.geomspace(10, 1e5, 301)),
}


def scenarios(label: str, parameter: str) -> list[dict[str, float]]:
    """Points with room for the parameter to move: groups and clients are not fewer than are sampled."""
    found = []
    for point in draw(f"{label} {parameter}", 12 if label == "zhou2026.thm2" else 5):
        numbers = {name: float(number) for name, number in point.items()}
        if parameter == "S1":
            numbers["G"] = 12.0
        if parameter == "S2":
            numbers["M"] = 300.0
        if parameter in ("G", "M"):
            numbers |= {"S1": 1.0, "S2": 1.0}
        found.append(numbers)
    return found


def sign_changes(difference: Any, scale: Any, grid: Any) -> list[tuple[float, float]]:
    """Neighbouring grid points between which the sign changes; points too near zero to tell are left out."""
    clear = np.abs(difference) > 1e-11 * scale
    signs, places = np.sign(difference[clear]), grid[clear]
    at = np.flatnonzero(signs[1:] != signs[:-1])
    return [(float(places[i]), float(places[i + 1])) for i in at]


@pytest.mark.parametrize(
    ("label", "parameter"),
    [  # every parameter in half of the families, and every family along half of the parameters
        pytest.param(label, parameter, marks=pytest.mark.slow if (i + j) % 2 else ())
        for i, label in enumerate(SHARED)
        for j, parameter in enumerate(SCANNED)
    ],
)
def test_crossings_are_the_sign_changes_of_the_tuned_difference(label: str, parameter: str) -> None:
    """Both ways, on a dense scan: a change of sign has a crossing in it, and a crossing changes the sign."""
    grid = SCANNED[parameter]
    for point in scenarios(label, parameter):
        tuned = {
            t: get(f"{label}.{t}").tuned(cap="common", **point | {parameter: grid}).value * np.ones(grid.shape)
            for t in TOPOLOGIES
        }
        rest = {name: number for name, number in point.items() if name != parameter}
        for pair in PAIRS:
            a, b = members(label, pair)
            roots = crossings(a, b, parameter, **rest)
            assert roots == sorted(roots)
            changes = sign_changes(tuned[pair[0]] - tuned[pair[1]], tuned[pair[0]], grid)
            for low, high in changes:
                assert sum(low <= root <= high for root in roots) % 2 == 1, (pair, point)
            # at one group the top tier does not matter: a crossing at the edge of what a count can be
            inside = [root for root in roots if grid[0] * (1 + 1e-9) < root < grid[-1]]
            for root in inside:
                assert any(low <= root <= high for low, high in changes), (pair, root, point)


@pytest.mark.parametrize(("label", "parameter"), [(label, name) for label in SHARED for name in SCANNED])
def test_crossings_are_exact(label: str, parameter: str) -> None:
    """The second encoding in fractions changes sign within 1e-9 of every crossing, also between whole numbers."""
    point = scenarios(label, parameter)[0]
    rest = {name: number for name, number in point.items() if name != parameter}
    for pair in PAIRS:
        a, b = members(label, pair)
        for root in crossings(a, b, parameter, **rest):
            signs = []
            for factor in (1 - 1e-9, 1 + 1e-9):
                numbers = {name: Fraction(n) for name, n in (rest | {parameter: root * factor}).items()}
                numbers["eta_eff"] = Fraction(1, 25) / numbers["L"]
                signs.append(second.value(a.id, **numbers) > second.value(b.id, **numbers))
            assert signs[0] is not signs[1], (pair, root)


def test_the_scans_see_crossings() -> None:
    """Otherwise the two tests above would be about nothing."""
    seen: dict[str, int] = {}
    for label in SHARED:
        for parameter, grid in SCANNED.items():
            if parameter in ("L", "A", "R"):
                continue
            for point in scenarios(label, parameter):
                rest = {name: number for name, number in point.items() if name != parameter}
                roots = crossings(*members(label, (SR, RS)), parameter, **rest)
                seen[parameter] = seen.get(parameter, 0) + sum(bool(grid[0] < root < grid[-1]) for root in roots)
    assert all(seen[parameter] >= 3 for parameter in ("G", "M", "P", "K", "S1", "S2", "sigma", "zeta", "delta")), seen


@pytest.mark.parametrize("label", SHARED)
@pytest.mark.parametrize("parameter", ["L", "A", "R", "eta_eff"])
def test_no_crossing_where_the_order_does_not_depend_on_the_parameter(label: str, parameter: str) -> None:
    """The condition of the sheet has counts and deviations only; A, R, L and the step are not in it."""
    point = {name: float(number) for name, number in draw(label, 1)[0].items()}
    for pair in PAIRS:
        rest = {name: number for name, number in point.items() if name != parameter}
        assert crossings(*members(label, pair), parameter, **rest) == []


def test_crossings_by_hand() -> None:
    """F2 of the product sheet: without intra-group gap Ring-Star is first iff M < G (G - 1) P."""
    pair = members("zhou2026.thm1", (SR, RS))
    rest = {"P": 3, "K": 2, "sigma": 1.3, "zeta": 0.0, "delta": 0.5, "R": 10, "L": 2.0, "A": 1.0}
    assert crossings(*pair, "M", G=5, **rest) == pytest.approx([60.0], rel=1e-12)
    # G^2 - G = 60/3: G = (1 + sqrt(1 + 4 * 20))/2 = 5
    assert crossings(*pair, "G", M=60, **rest) == pytest.approx([5.0], rel=1e-12)


def made_of(*terms: Any) -> Bound:
    """A bound whose drift is these terms, times L^2 eta_eff^2."""
    named = {f"part {i}": quantities.L**2 * quantities.eta_eff**2 * term for i, term in enumerate(terms)}
    return replace(get("zhou2026.thm1.star-star"), terms=named, where={})


def test_every_root_and_no_other() -> None:
    """P^3 - 10 P^2 + 31 P - 30 = (P - 2)(P - 3)(P - 5); P^2 - 2 P + 5 has the roots 1 + 2i and 1 - 2i."""
    p, gap = quantities.P, quantities.delta**2
    a, b = made_of(p**3 * gap, 31 * p * gap), made_of(10 * p**2 * gap, 30 * gap)
    assert crossings(a, b, "P", delta=0.3) == pytest.approx([2.0, 3.0, 5.0], rel=1e-12)
    assert crossings(b, a, "P", delta=0.3) == pytest.approx([2.0, 3.0, 5.0], rel=1e-12)
    assert crossings(a, b, "delta", P=4) == []
    assert crossings(made_of(p**2 * gap, 5 * gap), made_of(2 * p * gap), "P", delta=0.3) == []
    # 1/P - 1/4, and both bounds the same at delta = 0
    assert crossings(made_of(gap / p), made_of(gap / 4), "P", delta=2.0) == pytest.approx([4.0], rel=1e-12)
    assert crossings(made_of(gap / p), made_of(gap / 4), "P", delta=0.0) == []


@pytest.mark.parametrize("zeta", [1e-3, 1e-5, 1e-6, 1e-7])
def test_a_crossing_far_out_is_not_lost(zeta: float) -> None:
    """F15 with G = 2: (2 P - M) sigma^2 + 3 M K zeta^2 = 0, at sigma^2 = 3 M K zeta^2/(M - 2 P)."""
    pair = members("zhou2026.thm1", (SR, RS))
    found = crossings(*pair, "sigma", G=2, M=8, P=1, K=4, zeta=zeta, delta=1.0)
    assert found == pytest.approx([zeta * 16**0.5], rel=1e-12)  # 3 * 8 * 4/(8 - 2)
    # and at M = 2 P sigma^2/(sigma^2 - 3 K zeta^2), where zeta hardly counts
    assert crossings(*pair, "M", G=2, P=1, K=4, zeta=zeta, delta=1.0, sigma=1.0) == pytest.approx(
        [2 / (1 - 12 * zeta**2)], rel=1e-9
    )
    # F17 with G = 1: -3 M sigma^2 - M K zeta^2 + P^2 M K delta^2, at P^2 = (3 sigma^2/K + zeta^2)/delta^2
    far = crossings(*members("hflbounds.sharp", (SR, RS)), "P", G=1, M=8, K=3, sigma=1.0, zeta=0.0, delta=zeta)
    assert far == pytest.approx([1 / zeta], rel=1e-9)


def test_an_unknown_parameter_is_refused() -> None:
    """It cannot be said of a misprint that the order does not depend on it."""
    with pytest.raises((TypeError, ValueError), match="zetta"):
        crossings(*members("zhou2026.thm1", (SR, RS)), "zetta", **point_1())


def test_incomparable_bounds_are_refused_whatever_the_parameter() -> None:
    """Theorem 2 has no M, so M cannot move it; but its explicit forms have no common order at all."""
    with pytest.raises(ComparisonError, match="depends on the step"):
        crossings(*members("zhou2026.thm2-proof", (SS, RR)), "M", **point_1())


def test_crossings_say_what_is_missing() -> None:
    with pytest.raises(TypeError, match=r"zeta \(intra-group"):
        crossings(*members("zhou2026.thm1", (SR, RS)), "M", G=5, P=1, K=2, sigma=1.0)


@pytest.mark.parametrize("wrong", [{"zeta": float("nan")}, {"zeta": -1.0}, {"K": 2.5}, {"zeta": "x"}, {"Sigma": 1}])
def test_crossings_refuse_what_a_call_refuses(wrong: dict[str, Any]) -> None:
    with pytest.raises((TypeError, ValueError), match=next(iter(wrong))):
        crossings(
            *members("zhou2026.thm1", (SR, RS)), "M", **{"G": 5, "P": 1, "K": 2, "sigma": 1.0, "zeta": 0.5} | wrong
        )


# ------------------------------------------------------------------------------------------- refusals

LAST_ITERATE = Metric("last-iterate-loss", r"F(x^{(R)})-F^*", "loss of the last iterate", (1, 0))
SAME_BUT_NAME = replace(MEAN_SQUARED_GRADIENT, id="largest-squared-gradient")


@pytest.mark.parametrize("metric", [LAST_ITERATE, SAME_BUT_NAME], ids=lambda m: m.id)
def test_different_metrics_are_refused(metric: Metric) -> None:
    one, other = members("zhou2026.thm1", (SR, RS))
    moved = replace(other, bounds=metric)
    told = f"{one.id} bounds the mean-squared-gradient, {moved.id} the {metric.id}"
    for refused in (
        lambda: check_comparable([one, moved]),
        lambda: check_comparable([one, other, moved]),
        lambda: excess(one, moved),
        lambda: crossings(one, moved, "M"),
        lambda: order([one, moved], **point_1()),
    ):
        with pytest.raises(ComparisonError, match=told):
            refused()


def test_different_constants_are_refused() -> None:
    hidden, explicit = get("zhou2026.thm1.star-ring"), get("zhou2026.thm1-proof.star-ring")
    told = "has hidden constants and zhou2026.thm1-proof.star-ring explicit ones"
    for refused in (
        lambda: check_comparable([hidden, explicit]),
        lambda: excess(hidden, explicit),
        lambda: crossings(hidden, explicit, "M"),
        lambda: order([hidden, explicit], **point_1()),
    ):
        with pytest.raises(ComparisonError, match=told):
            refused()


# c1 and c2 of the camera ready: (B, a) is (10, 10), (15, 22.5) twice, (20, 40). Only the middle two agree.
@pytest.mark.parametrize("label", ["zhou2026.thm1-proof", "zhou2026.shuffle-proof", "zhou2026.thm2-proof"])
def test_constants_that_differ_in_value_are_refused(label: str) -> None:
    for pair in PAIRS:
        if pair == (SR, RS):
            continue
        with pytest.raises(ComparisonError, match="depends on the step"):
            excess(*members(label, pair))
        with pytest.raises(ComparisonError, match="depends on the step"):
            crossings(*members(label, pair), "P", **{n: q for n, q in point_1().items() if n != "P"})


def test_what_can_be_compared() -> None:
    check_comparable([])
    check_comparable([get("zhou2026.thm1.star-ring")])
    check_comparable([get("zhou2026.thm1.star-ring"), get("zhou2026.thm2.star-ring")])
    check_comparable([get("hflbounds.sharp.star-ring"), get("zhou2026.thm1-proof.ring-ring")])


# ------------------------------------------------------------------------------------- order and ties


def point_1(**changed: float) -> dict[str, float]:
    """The first reference point."""
    given = {"G": 10, "M": 10, "P": 1, "K": 2, "R": 5000, "S1": 5, "S2": 5}
    return given | {"L": 1.0, "A": 2.3, "sigma": 1.0, "zeta": 0.5, "delta": 0.5} | changed


def placed(label: str, **options: Any) -> list[tuple[str, int]]:
    found = order([get(f"{label}.{t}") for t in TOPOLOGIES], **options)
    return [(p.bound.topology, p.tie) for p in found]


def test_order_of_the_reference_point() -> None:
    """Tuned values printed in unified.md, section 10: 0.02407, 0.01736, 0.01268, 0.01248 for the sharp bound."""
    found = order([get(f"hflbounds.sharp.{t}") for t in TOPOLOGIES], cap="own", **point_1())
    values = [p.value for p in found]
    assert values == pytest.approx([0.01248339753, 0.01268302130, 0.01736386928, 0.02406989349], rel=1e-9)
    assert [(p.bound.topology, p.tie) for p in found] == [(RR, 1), (RS, 2), (SR, 3), (SS, 4)]
    # RS is 1.6 % above RR; SR 39 %, SS 93 %
    assert placed("hflbounds.sharp", resolution=0.02, **point_1()) == [(RR, 1), (RS, 1), (SR, 2), (SS, 3)]
    assert placed("hflbounds.sharp", resolution=0.4, **point_1()) == [(RR, 1), (RS, 1), (SR, 1), (SS, 2)]
    assert placed("hflbounds.sharp", resolution=0.95, **point_1()) == [(RR, 1), (RS, 1), (SR, 1), (SS, 1)]


def groups(found: list[tuple[str, int]]) -> list[set[str]]:
    return [{t for t, tie in found if tie == number} for number in range(1, max(tie for _, tie in found) + 1)]


def test_structural_ties() -> None:
    """Unified sheet, section 7: sigma = 0 makes SS = SR and RS = RR; sigma = zeta = 0 makes all four tie."""
    for cap in ("common", "none"):
        assert groups(placed("zhou2026.thm1", cap=cap, **point_1(sigma=0.0))) == [{RS, RR}, {SS, SR}]
        assert groups(placed("zhou2026.thm1", cap=cap, **point_1(sigma=0.0, zeta=0.0))) == [set(TOPOLOGIES)]
    # sharp: the top tier decides when only the inter-group gap is left
    assert groups(placed("hflbounds.sharp", **point_1(sigma=0.0, zeta=0.0))) == [{RS, RR}, {SS, SR}]
    assert groups(placed("zhou2026.thm1", **point_1(G=1, delta=0.0))) == [{SR, RR}, {SS, RS}]  # one group


def test_caps_alone_reverse_an_order() -> None:
    """Gradient descent: kappa L A/R with kappa 5.48, 7.75, 7.75, 10 each; one cap, one value."""
    still = point_1(sigma=0.0, zeta=0.0, delta=0.0)
    assert groups(placed("zhou2026.thm1", cap="own", **still)) == [{SS}, {SR, RS}, {RR}]
    assert groups(placed("zhou2026.thm1", **still)) == [set(TOPOLOGIES)]
    assert groups(placed("zhou2026.thm1", cap=0.01, **still)) == [set(TOPOLOGIES)]


@pytest.mark.parametrize(
    ("values", "resolution", "wanted"),
    [
        ([], 0.0, []),
        ([3.0], 0.0, [1]),
        ([1.0, 1.0, 1.0 + 1e-13, 1.0 + 1e-11], 0.0, [1, 1, 1, 2]),  # 1e-12 is rounding
        ([1.0, 1.05, 1.09, 1.12, 1.2, 1.24], 0.1, [1, 1, 1, 2, 2, 3]),  # against the first of the group
        ([0.0, 0.0, 1e-300], 0.5, [1, 1, 2]),
        ([1.0, float("inf"), float("inf")], 0.1, [1, 2, 2]),
    ],
)
def test_ties(values: list[float], resolution: float, wanted: list[int]) -> None:
    assert ties(values, resolution) == wanted


def test_the_letters_are_the_vocabularys() -> None:
    for symbol in (G, M, P, K, S1, S2):
        assert (
            symbol in get("zhou2026.thm1.ring-star").rhs.free_symbols | get("zhou2026.thm2.ring-star").rhs.free_symbols
        )
    assert set(LETTERS) < set(ABOUT)
