"""The errata of the unified analyses, camera ready, proved by another road than their own data.

Mostly exact runs of the four algorithms (`validation.reference`, fractions), also dimensions, enumerated draws,
literal sums of the printed displays, and formulas typed here once more.
"""

from __future__ import annotations

import csv
import itertools
import math
from collections.abc import Callable, Iterator
from fractions import Fraction as Q
from pathlib import Path

import pytest
import sympy as sp
from proofs import proves

from hflbounds import get
from hflbounds.audit.checks import check_erratum
from hflbounds.catalog.own import TOPOLOGIES
from hflbounds.core.bound import Erratum, Evidence
from hflbounds.core.expression import DimensionError, Expr, Relation, add
from hflbounds.core.quantities import ABOUT
from hflbounds.derive.proofs import exact
from hflbounds.errata.zhou2026 import ERRATA as OWN
from hflbounds.registry import errata
from validation.reference import Settings, global_round

ERRATA: dict[str, Erratum] = {e.id.removeprefix("zhou2026."): e for e in errata() if e.id.startswith("zhou2026.")}
DIMENSIONS = {name: about.dim for name, about in ABOUT.items()}
Cell = tuple[int, int, int, int]
DEFAULT = {"G": 10, "M": 10, "P": 1, "K": 2, "R": 5000, "L": 1, "A": 2.3, "sigma": 1, "zeta": 0.5, "delta": 0.5}


def shown(name: str) -> Evidence:
    """The erratum's own numbers, which the tests below find again."""
    demonstrate = ERRATA[name].demonstrate
    assert demonstrate is not None
    evidence = demonstrate()
    assert evidence.contradicts
    return evidence


def formula(name: str, side: str = "printed") -> Expr:
    found = getattr(ERRATA[name], side)
    assert isinstance(found, Expr)
    return found


def iterates(
    settings: Settings,
    gradient: Callable[[int, int, int, int, Q], Q],
    eta: Q = Q(1),
    x: Q = Q(0),
    group_order: list[int] | None = None,
    client_order: Callable[[int, int], list[int]] | None = None,
) -> tuple[dict[Cell, Q], Q]:
    """Every local iterate of a round by (place of the group, p, place of the client, k), and the new model."""
    places: list[Cell] = []
    chosen, drawn = settings.S1 or settings.G, settings.S2 or settings.M
    for g, p, m, k in itertools.product(range(chosen), range(settings.P), range(drawn), range(settings.K)):
        places.append((g + 1, p, m + 1, k))
    seen: list[Q] = []
    after = global_round(
        x,
        settings,
        eta,
        gradient,
        group_order=group_order,
        client_order=client_order,
        visit=lambda g, p, m, k, y: seen.append(y),
    )
    return dict(zip(places, seen, strict=True)), after


def chain(topology: str, **counts: int) -> tuple[dict[Cell, Q], Q]:
    """How many local steps were made before each iterate, and in the whole round: a constant gradient of -1."""
    return iterates(Settings(topology, **counts), lambda g, p, m, k, x: Q(-1))


def orders(n: int) -> Iterator[list[int]]:
    yield from map(list, itertools.permutations(range(n)))


@pytest.mark.parametrize("erratum", OWN, ids=lambda e: e.id)
def test_both_sides_differ_where_the_erratum_says_so(erratum: Erratum) -> None:
    assert check_erratum(erratum)


# ---------------------------------------------------------------- A
@proves("zhou2026.A2")
@pytest.mark.parametrize(
    ("topology", "recursion", "gradient", "cap"),
    [
        ("star-star", 10, Q(10), 30),
        ("star-ring", 15, Q(45, 2), 60),
        ("ring-star", 15, Q(45, 2), 60),
        ("ring-ring", 20, Q(40), 100),
    ],
)
def test_a2_the_caps_are_the_poles_of_c2(topology: str, recursion: int, gradient: Q, cap: int) -> None:
    """D.2-D.5: c1 = 1/(1 - B u) and c2 = 1/(1/2 - a c1 u), u = (L eta_eff)^2, in fractions at the squared cap."""
    u = Q(1, cap)
    assert Q(1, 2) - gradient * u / (1 - recursion * u) == 0
    below = u * Q(99, 100) ** 2
    assert 1 / (Q(1, 2) - gradient * below / (1 - recursion * below)) > 67
    erratum = ERRATA[f"A2.{topology}"]
    assert isinstance(erratum.printed, Relation)
    assert isinstance(erratum.proved, Relation)
    assert sp.simplify(erratum.printed.rhs.to_sympy() ** -2) == cap * sp.Symbol("L", positive=True) ** 2
    assert (erratum.proved.rhs, erratum.proved.op, erratum.printed.op) == (erratum.printed.rhs, "<", "<=")
    sharp = 1 / (Q(1, 2) - Q(5, 6) * u / (1 - Q(5, 2) * u))  # this project's theorem, so the statement stands
    assert sharp <= Q(66, 31)


@proves("zhou2026.A5")
@pytest.mark.parametrize("topology", ["star-ring", "ring-star", "ring-ring"])
def test_a5_the_steps_of_a_round_with_some_of_the_groups_and_clients(topology: str) -> None:
    """A constant gradient moves the model by eta_eff; S1 = S2 = 2 of G = 4 and M = 3."""
    counts = {"G": 4, "M": 3, "P": 2, "K": 3, "S1": 2, "S2": 2}
    _, steps = chain(topology, **counts)
    assert exact(formula(f"A5.{topology}", "proved"), {**counts, "eta": 1}) == steps
    assert exact(formula(f"A5.{topology}"), {**counts, "eta": 1}) > steps


@proves("zhou2026.A6")
def test_a6_the_variance_of_a_drawn_round_in_all_draws() -> None:
    """G = M = 3, one step each, so a round moves by the mean gradient of who was drawn; every draw is run.

    Clients v_{g,m} with group means apart. Common draw: below the supported form, and at S1 = G, S2 = M zero.
    Independent draws: the intra-group part is zeta^2 (M - S2)/((M - 1) S1 S2) exactly.
    """
    G = M = 3
    values = [[Q(4), Q(1), Q(-2)], [Q(1), Q(1), Q(-5)], [Q(3), Q(-2), Q(-1)]]
    means = [sum(row) / M for row in values]
    assert sum(means) == 0
    delta2 = sum(m**2 for m in means) / G
    zeta2 = sum((v - m) ** 2 for row, m in zip(values, means, strict=True) for v in row) / (G * M)
    for S1, S2 in ((1, 2), (2, 1), (2, 3), (3, 3)):
        settings = Settings("star-star", G=G, M=M, P=1, K=1, S1=S1, S2=S2)

        def variance(common: bool, settings: Settings = settings) -> Q:
            draws = list(orders(M))
            drawn = ([one] * G for one in draws) if common else itertools.product(draws, repeat=G)
            squares = [
                global_round(
                    Q(0), settings, Q(1), lambda g, p, m, k, x: values[g][m], group_order=groups,
                    client_order=lambda g, p, clients=clients: clients[g],
                )
                ** 2
                for clients in drawn
                for groups in orders(G)
            ]  # fmt: skip
            return sum(squares, Q(0)) / len(squares)

        # The formulas have zeta and delta, the squares of which are the fractions above.
        point = {"L": 1, "eta_eff": 1, "G": G, "M": M, "S1": S1, "S2": S2}
        printed, proved = (
            exact(formula("A6", side), {**point, "zeta": 1, "delta": 0}) * zeta2
            + exact(formula("A6", side), {**point, "zeta": 0, "delta": 1}) * delta2
            for side in ("printed", "proved")
        )
        assert variance(common=True) <= proved <= printed
        assert variance(common=False) == Q(M - S2, M - 1) * zeta2 / (S1 * S2) + Q(G - S1, G - 1) * delta2 / S1
        if (S1, S2) == (G, M):
            assert proved == 0 < printed
    full = {**DEFAULT, "S1": 10, "S2": 10}
    assert get("zhou2026.thm2.ring-ring").tuned(**full, cap="none").value == pytest.approx(0.01048, abs=5e-6)
    assert get("zhou2026.shuffle.ring-ring").tuned(**full, cap="none").value == pytest.approx(0.00443, abs=5e-6)


@proves("zhou2026.A7")
def test_a7_without_smoothness_no_constant_helps_and_correlated_noise_is_not_averaged() -> None:
    ring = Settings("ring-ring", G=1, M=1, P=1, K=1)
    x, squares = Q(1), []
    for _ in range(20):  # F = 15 x^2 has no noise and no heterogeneity; the step is the cap for L = 1
        squares.append((30 * x) ** 2)
        x = global_round(x, ring, Q(1, 10), lambda g, p, m, k, y: 30 * y)
    mean, start = sum(squares) / 20, Q(15) / (Q(1, 10) * 20)
    assert mean > 10**9 * start
    evidence = shown("A7")
    assert (evidence.found, evidence.printed) == (pytest.approx(float(mean)), pytest.approx(float(start)))
    # The noise of the mean of four clients: alone 1/4, in common 1.
    star = Settings("star-star", G=2, M=2, P=1, K=1)
    together = global_round(Q(0), star, Q(1), lambda g, p, m, k, y: Q(-1))
    alone = [global_round(Q(0), star, Q(1), lambda g, p, m, k, y, i=i: Q(-((g, m) == i))) for i in product2(2)]
    assert (together**2, sum(a**2 for a in alone)) == (1, Q(1, 4))
    # Lemma 2 without Assumption 3: two groups +-1, one drawn, and zeta = delta = 0 on the right.
    drawn = Settings("star-star", G=2, M=1, P=1, K=1, S1=1, S2=1)
    moves = [global_round(Q(0), drawn, Q(1, 5), lambda g, p, m, k, y: y + 1 - 2 * g, group_order=o) for o in orders(2)]
    assert sum(move**2 for move in moves) > 0  # F = x^2/2 rises from its minimum, and that lemma says it does not


def product2(n: int) -> Iterator[tuple[int, int]]:
    yield from itertools.product(range(n), repeat=2)


@proves("zhou2026.A8")
def test_a8_with_one_client_in_each_group_the_noise_falls_with_the_groups() -> None:
    """The squared weights of all noises in a round of Star-Star with M = P = 1, over the squared effective step."""
    G, K = 5, 2
    settings = Settings("star-star", G=G, M=1, P=1, K=K)
    weights = [
        global_round(Q(0), settings, Q(1), lambda g, p, m, k, x, i=i: Q((g, k) == i))
        for i in itertools.product(range(G), range(K))
    ]
    share = sum(w**2 for w in weights) / K**2
    at = {"L": 1, "sigma": 1, "G": G, "M": 1, "K": K, "R": 1}
    assert formula("A8", "proved").value(at) ** 2 == pytest.approx(float(share))
    assert formula("A8").value(at) ** 2 == pytest.approx(float(G * share))
    noise = get("zhou2026.cor1.star-star").split(**{**DEFAULT, "M": 1, "A": 1})["noise"]
    assert noise == pytest.approx(float(formula("A8", "proved").value({**DEFAULT, "M": 1})))


# ---------------------------------------------------------------- B
@proves("zhou2026.B1")
def test_b1_the_printed_constant_is_below_what_a_run_shows() -> None:
    """Ring-Star on x^2/2, exact: mean squared gradient between c2 A/(eta_eff R) printed and supported."""
    settings, eta, rounds = Settings("ring-star", G=2, M=2, P=1, K=1), Q(1, 20), 200
    factor = global_round(Q(1), settings, eta, lambda g, p, m, k, x: x)
    mean = sum(factor ** (2 * r) for r in range(rounds)) / rounds
    step = 2 * eta
    start = Q(1, 2) / (step * rounds)
    at = {"L": 1, "eta_eff": step}
    assert exact(formula("B1"), at) * start < mean < exact(formula("B1", "proved"), at) * start
    # and at a small step any such constant is near 2: Lemma 1 without drift
    small = {"L": 1, "eta_eff": Q(1, 10**6)}
    assert abs(exact(formula("B1", "proved"), small) - 2) < Q(1, 10**6)
    assert exact(formula("B1"), small) < Q(41, 100)


@proves("zhou2026.B2")
def test_b2_the_noise_term_of_lemma_1_with_the_drift_of_d5() -> None:
    """(1/2) eta L^2 c0 E_r with c0 = 1 and E_r = 80 c1 eta^2 (GPMK)^2 sigma^2, by hand."""
    G, P, M, K, L, eta = 3, 2, 5, 4, Q(7), Q(1, 10**4)
    c1 = 1 / (1 - 20 * (L * eta * G * P * M * K) ** 2)
    by_hand = eta * L**2 * 80 * c1 * eta**2 * (G * P * M * K) ** 2 / 2
    at = {"G": G, "P": P, "M": M, "K": K, "L": L, "eta": eta, "sigma": 1}
    assert exact(formula("B2", "proved"), at) == by_hand == G * exact(formula("B2"), at)
    # The average after it, 40 c1 c2 eta^2 L^2 GPMK sigma^2, times the step eta GPMK / c2.
    assert by_hand == 40 * c1 * eta**2 * L**2 * G * P * M * K * eta * G * P * M * K


@proves("zhou2026.B3")
def test_b3_the_display_above_sums_to_more_than_the_printed_term() -> None:
    G, P, M, K = 1, 3, 2, 3
    total = squares = 0
    for p, m, k in itertools.product(range(P), range(1, M + 1), range(K)):
        inner = sum(1 for _ in itertools.product(range(p), range(M), range(K)))
        total += G * 15 * p * M * K * inner
        squares += G * 15 * (k * k + m * K * (m - 1) * K)
    at = {"G": G, "P": P, "M": M, "K": K, "eta": 1, "grad": 1}
    assert exact(formula("B3"), at) < total <= exact(formula("B3", "proved"), at)
    others = 15 * G * P * K**3 * (M + M**3)  # the printed line as a whole: still too small
    assert exact(formula("B3"), at) + others < total + squares <= exact(formula("B3", "proved"), at) + others


@proves("zhou2026.B4")
@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_b4_the_inner_product_with_the_update_in_a_run(topology: str) -> None:
    """F_{g,m} = a x^2/2 with four curvatures: the printed equality fails, the supported one is exact."""
    counts, eta, x = {"G": 2, "M": 2, "P": 2, "K": 2}, Q(1, 10), Q(1)
    curvature = [[Q(1), Q(2)], [Q(3), Q(6)]]
    seen, after = iterates(Settings(topology, **counts), lambda g, p, m, k, y: curvature[g][m] * y, eta, x)
    n, gradient = 16, Q(3) * x
    c0 = {"star-star": Q(1, 4), "star-ring": Q(1, 2), "ring-star": Q(1, 2), "ring-ring": Q(1)}[topology]
    differences = sum(curvature[g - 1][m - 1] * (y - x) for (g, _, m, _), y in seen.items())
    inner = gradient * (after - x)
    assert inner == -eta * c0 * n * gradient**2 - eta * c0 * n * gradient * differences / n
    assert inner != -eta * c0 * n * gradient**2 + eta * c0 * n * gradient * c0 * differences
    drift = sum((6 * (y - x)) ** 2 for y in seen.values())  # L = 6
    assert eta * c0 * n * (differences / n) ** 2 <= eta * c0 * drift
    one, moved = iterates(Settings("ring-ring", 1, 1, 1, 2), lambda g, p, m, k, y: y, Q(1, 4), Q(1))
    assert shown("B4").found == moved - 1
    assert shown("B4").printed == Q(-1, 2) + Q(1, 2) * (one[1, 0, 1, 1] - 1)


@proves("zhou2026.B5")
def test_b5_the_third_line_is_zero_and_the_fourth_has_both_gaps() -> None:
    wanted = formula("B5", "proved").dimension(DIMENSIONS)
    assert wanted == DIMENSIONS["A"]  # a squared update times L is a loss
    assert formula("B5").dimension(DIMENSIONS) != wanted
    # One client of one group of two (+1, -1): delta = 0, so a bound of the fourth line by delta^2 would be 0.
    settings = Settings("star-star", G=1, M=2, P=1, K=1, S2=1)
    moves = [
        global_round(Q(0), settings, Q(1), lambda g, p, m, k, x: Q(1 - 2 * m), client_order=lambda g, p, o=o: o)
        for o in orders(2)
    ]
    assert sum(move**2 for move in moves) / 2 == 1


@proves("zhou2026.B6")
def test_b6_the_bracket_that_lemma_2_and_the_drift_of_f2_give() -> None:
    """-eta c0 N (1/2 - (5/2) eta L c0 N) + eta L^2 c0 20 c1 eta^2 S1 P^3 S2 K^3, over -eta P K; c0 = 1/(S1 S2)."""
    S1, P, S2, K, L, eta = 3, 2, 4, 5, Q(2), Q(1, 500)
    n, c0 = S1 * P * S2 * K, Q(1, S1 * S2)
    c1 = 1 / (1 - 20 * (eta * L * P * K) ** 2)
    lemma = -eta * c0 * n * (Q(1, 2) - Q(5, 2) * eta * L * c0 * n)
    drift = eta * L**2 * c0 * 20 * c1 * eta**2 * S1 * P**3 * S2 * K**3
    bracket = -(lemma + drift) / (eta * P * K)
    at = {"L": L, "eta_eff": eta * P * K}
    assert exact(formula("B6", "proved"), at) == 1 / bracket
    assert exact(formula("B6"), at) < 1 / bracket


@proves("zhou2026.B8")
def test_b8_where_a_client_of_a_star_ring_stands() -> None:
    places, _ = chain("star-ring", G=1, M=3, P=2, K=2, S1=1, S2=3)
    for (_, p, s2, k), steps in places.items():
        assert steps == k + (s2 - 1) * 2 + p * 3 * 2
        if p:
            assert steps != k + 2 * p * 2  # the printed display: two means over clients
    assert shown("B8").found == places[1, 1, 2, 1]
    assert shown("B8").printed == 1 + Q(2 * 3 * 2, 3)


@proves("zhou2026.B9")
def test_b9_how_many_steps_earlier_clients_and_groups_have_made() -> None:
    P, S2, K = 2, 3, 2
    ring, _ = chain("ring-ring", G=2, M=3, P=P, K=K, S1=2, S2=S2)
    star, _ = chain("ring-star", G=2, M=3, P=P, K=3, S1=2, S2=S2)
    for (s1, p, s2, k), steps in ring.items():
        assert steps == k + (s2 - 1) * K + p * S2 * K + (s1 - 1) * P * S2 * K
        assert k + s2 * K + p * S2 * K + s1 * P * S2 * K - steps == K + P * S2 * K  # F.5 as printed
    for (s1, p, _, k), steps in star.items():
        assert steps == k + p * 3 + (s1 - 1) * P * 3
        assert k + p * 3 + s1 * P * k != steps or (s1, k) == (1, 0)  # F.4 as printed
    assert shown("B9").found == ring[1, 0, 1, 0] == 0
    assert shown("B9").printed == K + P * S2 * K


@proves("zhou2026.B10")
def test_b10_the_inter_group_terms_of_f4() -> None:
    """Summed literally they exceed the line below them; and for P = 1 they do not bound what a run shows."""
    K = 2
    literal = sum(15 * K**2 * s2**2 for s2 in (1, 2, 3) for _ in range(K))  # S1 = P = 1, so p = 0
    assert literal > 45 * 3 * K**3
    assert (shown("B10").found, shown("B10").printed) == (literal, 45 * 3 * K**3)
    # Four groups +-x in every order: the mean square that place s1 inherits is below the supported (s1 - 1) K^2.
    groups = [Q(1), Q(1), Q(-1), Q(-1)]
    for s1 in range(1, 5):
        squares = []
        for order in orders(4):
            settings = Settings("ring-star", G=4, M=1, P=1, K=K)
            places, _ = iterates(settings, lambda g, p, m, k, x: groups[g], group_order=order)
            squares.append(places[s1, 0, 1, 0] ** 2)
        assert Q(sum(squares), 24) == Q((s1 - 1) * (5 - s1), 3) * K**2 <= (s1 - 1) * K**2
    # With ||grad F||: equal groups with gradient 1, p = 0. The printed parts with p vanish.
    places, _ = iterates(Settings("ring-star", G=10, M=1, P=1, K=K), lambda g, p, m, k, x: Q(1))
    assert places[10, 0, 1, 0] ** 2 > 15 * K**2
    assert places[10, 0, 1, 0] ** 2 <= 15 * (10 - 1) ** 2 * K**2


@proves("zhou2026.B11")
def test_b11_steps_in_one_direction_add_up() -> None:
    places, _ = chain("ring-ring", G=22, M=22, P=1, K=1)
    own, earlier = places[1, 0, 22, 0] ** 2, places[22, 0, 1, 0] ** 2
    assert own > 20 * (22 - 1) >= shown("B11").printed
    assert own <= 20 * (22 - 1) ** 2
    assert own == shown("B11").found
    assert earlier == (21 * 22) ** 2 > 20 * 21 * 22**2  # the same for earlier groups
    # A group's gap delta is shared by its clients: F = +x, -x, any order, the same square.
    for first in (1, -1):
        places, _ = iterates(Settings("ring-ring", 2, 22, 1, 1), lambda g, p, m, k, x, f=first: Q(f if g == 0 else -f))
        assert places[1, 0, 22, 0] ** 2 == own


def literal_gradient_terms(settings: Settings, front: Callable[[int, int], int]) -> int:
    """E.4's (and D.5's) display for ||grad F||: k^2 + mK(m-1)K + pMK pMK + front * (g-1)PMK, times 20, summed."""
    G, M, P, K = settings.G, settings.M, settings.P, settings.K
    return sum(
        20 * (k * k + m * K * (m - 1) * K + (p * M * K) ** 2 + front(g, p) * (g - 1) * P * M * K)
        for g, p, m, k in itertools.product(range(1, G + 1), range(P), range(1, M + 1), range(K))
    )


@proves("zhou2026.B12")
def test_b12_the_drift_of_two_groups_against_the_display_of_e4() -> None:
    settings = Settings("ring-ring", G=2, M=1, P=1, K=1)
    places, _ = iterates(settings, lambda g, p, m, k, x: Q(1))
    drift = sum(y**2 for y in places.values())
    assert literal_gradient_terms(settings, lambda g, p: p) < drift <= literal_gradient_terms(settings, lambda g, p: g)
    assert (shown("B12").printed, shown("B12").found) == (0, drift)
    # For one client per group the printed K (m - 1) K of the own group's gap is empty where m K (m - 1) K is not:
    places, _ = iterates(Settings("ring-ring", 2, 22, 1, 1), lambda g, p, m, k, x: Q(1 - 2 * g))
    assert places[1, 0, 22, 0] ** 2 > 20 * (22 - 1)
    assert places[1, 0, 22, 0] ** 2 <= 20 * 22 * (22 - 1)


@proves("zhou2026.B13")
def test_b13_a_sum_over_no_group_round_bounds_nothing() -> None:
    K = 2
    places, _ = chain("star-ring", G=1, M=2, P=1, K=K)
    left = 5 * places[1, 0, 2, 0] ** 2
    assert 15 * 2 * K * sum(1 for _ in itertools.product(range(0), range(1), range(K))) < left <= 15 * 2 * K * K
    assert (shown("B13").printed, shown("B13").found) == (0, left)
    settings = Settings("ring-ring", G=2, M=1, P=1, K=1)  # gpMK in D.5, again nothing for P = 1
    drift = sum(y**2 for y in chain("ring-ring", G=2, M=1, P=1, K=1)[0].values())
    assert literal_gradient_terms(settings, lambda g, p: g * p) < drift


@proves("zhou2026.B14")
@pytest.mark.parametrize("topology", ["star-ring", "ring-star", "ring-ring"])
def test_b14_whole_cycles_of_a_group_add_up_to_nothing(topology: str) -> None:
    """Constant gradients with zero mean in every group: what earlier rounds and groups leave is nothing at all.

    So the drift is below 10 (5 for a star) times what is kept, and the dropped part was not needed.
    """
    values = [[Q(3), Q(-1), Q(-2)], [Q(5), Q(-7), Q(2)]]
    G, M, P, K = 2, 3, 3, 2
    places, after = iterates(Settings(topology, G, M, P, K), lambda g, p, m, k, x: values[g][m])
    assert after == 0
    kept = dropped = Q(0)
    for (g, p, m, k), y in places.items():
        low_ring = topology.endswith("ring")
        assert y == -k * values[g - 1][m - 1] - low_ring * K * sum(values[g - 1][: m - 1])
        own = k * k * values[g - 1][m - 1] ** 2
        others = low_ring * m * K * K * sum(v**2 for v in values[g - 1][: m - 1])
        assert 5 * y**2 <= (10 if low_ring else 5) * (own + others)
        kept += own + others
        dropped += p * K * P * K * sum(v**2 for v in values[g - 1])
    assert dropped > 0 < kept
    evidence = shown("B14")
    assert evidence.printed == 15 * 2 * (2 * 1)  # P = 2; m = 2 has 2 K times one unit gap
    assert evidence.found == evidence.printed + 15 * 2 * (1 * 2 * 2)  # p = 1, both clients


@proves("zhou2026.B15")
def test_b15_random_order_leaves_the_noise_in_the_drift_as_it_is() -> None:
    """One unit noise at a time through Star-Ring and Ring-Ring; the summed squares are those of every order."""
    for topology, G, M in (("star-ring", 1, 3), ("ring-ring", 2, 2)):
        settings = Settings(topology, G, M, 1, 1)

        def noise(groups: list[int], clients: list[int], settings: Settings = settings) -> Q:
            total = Q(0)
            for unit in itertools.product(range(settings.G), range(settings.M)):
                places, _ = iterates(
                    settings,
                    lambda g, p, m, k, x, unit=unit: Q((g, m) == unit),
                    group_order=groups,
                    client_order=lambda g, p: clients,
                )
                total += sum(y**2 for y in places.values())
            return total

        assert len({noise(a, b) for a in orders(G) for b in orders(M)}) == 1
    for t in TOPOLOGIES:
        fixed, shuffled = get(f"zhou2026.thm1.{t}"), get(f"zhou2026.shuffle.{t}")
        changed = {name for name in fixed.terms if fixed.terms[name] is not shuffled.terms[name]}
        assert changed <= {"intra_drift", "inter_drift"}
        assert bool(changed) is (t != "star-star")
    assert shown("B15").found == pytest.approx((2.3**2 / (10 * 2 * 5000**2)) ** (1 / 3))
    assert shown("B15").printed == pytest.approx((2.3**2 / (10 * 10 * 2 * 5000**2)) ** (1 / 3))


@proves("zhou2026.B16")
def test_b16_bits_over_rounds_are_not_seconds() -> None:
    bits, seconds = sp.symbols("bit s", positive=True)
    size, band, groups = 8 * 10**8 * bits, 10**9 * bits / seconds, 10
    link = band / groups
    assert sp.simplify(size / link + size / link - 16 * seconds) == 0
    assert (2 * size * groups / 5000).free_symbols == {bits}
    assert shown("B16").found == 16
    assert shown("B16").printed == 2 * 8e8 * 10 / 5000


@proves("zhou2026.B17")
def test_b17_a_part_of_the_drift_is_a_squared_length() -> None:
    assert formula("B17", "proved").dimension(DIMENSIONS) == DIMENSIONS["E_r"]
    assert formula("B17").dimension(DIMENSIONS) != DIMENSIONS["E_r"]
    with pytest.raises(DimensionError):
        add(formula("B17"), formula("B17", "proved")).dimension(DIMENSIONS)


@proves("zhou2026.B18")
def test_b18_the_first_client_of_a_group_drifts_with_the_gap_of_its_group() -> None:
    squares = []
    for order in orders(2):
        settings = Settings("star-ring", 2, 2, 1, 4, S1=1)
        places, _ = iterates(settings, lambda g, p, m, k, x: Q(1 - 2 * g), group_order=order)
        squares.append(places[1, 0, 1, 3] ** 2)
    assert sum(squares) / 2 == 9 == shown("B18").found  # k^2 delta^2 at k = 3, with zeta = 0
    assert shown("B18").printed == 0


@proves("zhou2026.B19")
def test_b19_the_line_that_f3_leaves_out_gives_the_average_after_it() -> None:
    """Lemma 2 (corrected) with F.3's drift, by hand in fractions, over eta P S2 K / c2: the printed average."""
    S1, P, S2, K, L, eta = 3, 2, 4, 5, Q(2), Q(1, 4000)
    n, c0 = S1 * P * S2 * K, Q(1, S1)
    c1 = 1 / (1 - 45 * (eta * L * P * S2 * K) ** 2)
    share = eta * L**2 * c0 * c1 * eta**2
    lemma = -eta * c0 * n * (Q(1, 2) - Q(5, 2) * eta * L * c0 * n) + share * 45 * S1 * (P * S2 * K) ** 3
    c2 = 1 / (Q(1, 2) - Q(5, 2) * eta * L * P * S2 * K - 45 * c1 * (eta * L * P * S2 * K) ** 2)
    assert lemma == -eta * P * S2 * K / c2
    first = Q(5, 2) * eta**2 * L * c0**2
    over = c2 / (eta * P * S2 * K)
    assert over * first * n == Q(5, 2) * c2 * eta * L / S1
    assert over * first * S1**2 * P**2 * S2 * K**2 == Q(5, 2) * c2 * eta * L * P * K
    assert over * first * S1 * P**2 * S2**2 * K**2 == Q(5, 2) * c2 * eta * L * P * S2 * K / S1
    assert over * share * 45 * S1 * P**2 * S2**2 * K**2 == 45 * c1 * c2 * eta**2 * L**2 * P * S2 * K
    assert over * share * 45 * S1 * P**3 * S2**2 * K**3 == 45 * c1 * c2 * eta**2 * L**2 * P**2 * S2 * K**2
    assert over * share * 45 * S1 * P**3 * S2**3 * K**3 == 45 * c1 * c2 * (eta * L * P * S2 * K) ** 2
    # and the supported line, as the erratum writes it, has this bracket
    text = ERRATA["B19"].proved
    assert isinstance(text, str)
    assert r"\tfrac12-\tfrac52\eta LPS_2K-45c_1\eta^2L^2P^2S_2^2K^2" in text


@proves("zhou2026.B20")
def test_b20_an_earlier_group_round_has_all_clients_in_it() -> None:
    settings = Settings("star-ring", 2, 6, 2, 1, S1=1)
    for order in orders(2):
        places, _ = iterates(settings, lambda g, p, m, k, x: Q(1 - 2 * g), group_order=order)
        found = places[1, 1, 1, 0] ** 2
        assert found == shown("B20").found == 36
        assert shown("B20").printed == 15 * (1 + 1) < found <= 15 * (1 + 6**2)


@proves("zhou2026.B21")
@pytest.mark.parametrize("topology", ["star-star", "star-ring"])
def test_b21_what_was_done_earlier_was_done_to_the_end(topology: str) -> None:
    """F = -x^2/2: at k = 0 the printed drift sums are empty, and the rest of the line is below the run."""
    eta, K, x = Q(1, 2), 8, Q(1)
    places, _ = iterates(Settings(topology, 1, 1, 2, K), lambda g, p, m, k, y: -y, eta, x)
    moved = (places[1, 1, 1, 0] - x) ** 2
    printed = 10 * eta**2 * K**2 * x**2  # F.2 at p = 1, k = 0: the gradient term alone
    assert printed < moved
    # With the sum to K - 1: 10 eta^2 p K sum ||x_k - x||^2 more.
    drift = sum((places[1, 0, 1, k] - x) ** 2 for k in range(K))
    assert moved <= printed + 10 * eta**2 * K * drift
    if topology == "star-star":
        assert (shown("B21").printed, shown("B21").found) == (printed, moved)


@proves("zhou2026.B22")
def test_b22_the_average_of_one_clients_gap_is_that_gap() -> None:
    """Two clients +-1, both drawn: what a run has gathered after one round is zero, not one client's gap."""
    for order in orders(2):
        places, _ = iterates(
            Settings("star-star", 1, 2, 2, 1), lambda g, p, m, k, x: Q(1 - 2 * m), client_order=lambda g, p, o=order: o
        )
        assert places[1, 1, 1, 0] == 0
    literal = [sum(Q(v, 2) for _ in range(2)) ** 2 for v in (1, -1)]
    assert sum(literal) / 2 == shown("B22").found == 1
    assert shown("B22").printed == 0.5  # p^2 K^2 zeta^2 / S2 in the line after it


@proves("zhou2026.B23")
def test_b23_noise_alone_moves_what_terms_without_noise_do_not() -> None:
    """One client, F = x, unit noise in one of three steps at a time: the first group is 20 k, the second 0."""
    settings = Settings("ring-ring", 1, 1, 1, 4)
    spread = sum(iterates(settings, lambda g, p, m, k, x, i=i: Q(k == i))[0][1, 0, 1, 3] ** 2 for i in range(3))
    gaps = [1 - 1 for _ in range(3)]  # the gradient of F = x is 1 wherever it is taken
    assert shown("B23").found == 20 * spread > 20 * sum(gaps) ** 2 == shown("B23").printed


@proves("zhou2026.B24")
def test_b24_a_displacement_is_a_length() -> None:
    eta = Q(1, 100)
    places, _ = iterates(Settings("star-star", 1, 1, 1, 2), lambda g, p, m, k, x: Q(1), eta)
    assert places[1, 0, 1, 1] == -eta
    assert (shown("B24").printed, shown("B24").found) == (1, pytest.approx(-0.01))
    length = tuple(a + b for a, b in zip(DIMENSIONS["eta"], DIMENSIONS["grad"], strict=True))
    assert length == (0, 1) != DIMENSIONS["grad"]


@proves("zhou2026.B25")
@pytest.mark.parametrize("topology", ["ring-star", "ring-ring"])
def test_b25_a_group_inherits_the_drift_of_the_one_before(topology: str) -> None:
    """F_1 = x^2/2 and F_2 = 0: the printed bound looks at the second group, whose gradients do not change."""
    eta, x, K = Q(1, 4), Q(1), 2
    places, _ = iterates(Settings(topology, 2, 1, 1, K), lambda g, p, m, k, y: y if g == 0 else Q(0), eta, x)
    unmoved = -eta * K * x  # had the first group's gradients not changed on its way
    inherited = (places[2, 0, 1, 0] - x - unmoved) ** 2
    own = sum((0 * (places[2, 0, 1, k] - x)) ** 2 for k in range(K))
    earlier = sum((places[1, 0, 1, k] - x) ** 2 for k in range(K))
    assert own == 0 < inherited <= 3 * eta**2 * K * earlier
    assert (shown("B25").printed, shown("B25").found) == (0, 5 * inherited)


@proves("zhou2026.B26", "zhou2026.B27")
def test_b26_b27_the_constant_of_f2_to_f5_at_the_printed_caps() -> None:
    def c2_inverse(b: int, v: Q) -> Q:
        return Q(1, 2) - Q(5, 2) * v - b * v**2 / (1 - b * v**2)

    assert c2_inverse(20, Q(1, 10)) == 0  # Star-Star: the pole
    assert 1 / c2_inverse(45, Q(1, 15)) == 12  # Star-Ring and Ring-Star
    assert 1 / c2_inverse(80, Q(1, 20)) == 8  # Ring-Ring
    assert 1 / c2_inverse(45, Q(1, 45)) == Q(396, 167)  # Star-Ring at F.3's own cap
    for name, caps in (("B26", (15, 45)), ("B27", (10, 10))):
        sides = (ERRATA[name].printed, ERRATA[name].proved)
        for side, cap in zip(sides, caps, strict=True):
            assert isinstance(side, Relation)
            assert exact(side.rhs, {"L": 1}) == Q(1, cap)
        assert [getattr(side, "op", "") for side in sides] == ["<=", "<" if name == "B27" else "<="]
    assert get("zhou2026.thm2.star-ring").applies(**DEFAULT, S1=5, S2=5, eta_eff=1 / 30)
    for inside in (Q(99, 1000), Q(999, 10000)):
        assert c2_inverse(20, inside) > 0


@proves("zhou2026.B28")
def test_b28_equal_groups_add_up_for_a_common_draw_and_do_not_for_independent_ones() -> None:
    """Groups of two clients +-1, one drawn: squared prefix over groups, in every draw."""
    common = []
    for order in orders(2):
        places, _ = iterates(
            Settings("ring-ring", 22, 2, 1, 1, S2=1),
            lambda g, p, m, k, x: Q(1 - 2 * m),
            client_order=lambda g, p, o=order: o,
        )
        common.append(places[22, 0, 1, 0] ** 2)
    assert sum(common) / 2 == 21**2 == shown("B28").found
    assert shown("B28").printed == 20 * 21 < 21**2
    groups = 6
    squares = []
    for draw in itertools.product(orders(2), repeat=groups):
        places, _ = iterates(
            Settings("ring-ring", groups, 2, 1, 1, S2=1),
            lambda g, p, m, k, x: Q(1 - 2 * m),
            client_order=lambda g, p, d=draw: d[g],
        )
        squares.append(places[groups, 0, 1, 0] ** 2)
    assert Q(sum(squares), len(squares)) == groups - 1


# ---------------------------------------------------------------- C
def drift_terms(topology: str, G: int, M: int, zeta2: float, delta2: float, sigma2: float = 1.0) -> float:
    """Theorem 1, eqs. (4)-(7), at P = 1 and K = 2: the coefficient of (L eta_eff)^2, typed here once more."""
    return {
        "star-star": sigma2 / 2 + sigma2 / (2 * M) + zeta2 + delta2,
        "star-ring": sigma2 / (2 * M) + zeta2 + delta2,
        "ring-star": sigma2 / (2 * G**2) + sigma2 / (2 * G * M) + zeta2 / G**2 + delta2,
        "ring-ring": sigma2 / (2 * G * M) + zeta2 / G**2 + delta2,
    }[topology]


def best_step(a: float, b: float, q: float) -> float:
    """Where 2 q e^3 + b e^2 = a, by bisection."""
    low, high = 0.0, 10.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if 2 * q * middle**3 + b * middle**2 < a else (low, middle)
    return low


def at_best(topology: str, G: int, M: int, zeta2: float, delta2: float, R: float = 5000, A: float = 2.3) -> float:
    a, b, q = A / R, 1 / (G * M * 2), drift_terms(topology, G, M, zeta2, delta2)
    e = best_step(a, b, q)
    return a / e + b * e + q * e**2


@proves("zhou2026.C1")
def test_c1_the_tuned_gap_shrinks_as_groups_move_apart() -> None:
    gaps = []
    for d in (0, 0.25, 0.5, 1, 2, 4):
        gaps.append(at_best("star-star", 10, 10, 0.25, d**2) - at_best("ring-star", 10, 10, 0.25, d**2))
        steps = [best_step(2.3 / 5000, 1 / 200, drift_terms(t, 10, 10, 0.25, d**2)) for t in ("star-star", "ring-star")]
        assert steps[0] ** 2 - steps[1] ** 2 < 0  # the derivative of the gap in delta^2, by the envelope theorem
    assert all(later < earlier for earlier, later in itertools.pairwise(gaps))
    assert (shown("C1").found, shown("C1").printed) == (pytest.approx(gaps[0]), pytest.approx(gaps[-1]))
    # Random order: both gaps grow. Partial participation: one of them.
    grows = {
        (family, low): tops["star", 4] - tops["ring", 4] > tops["star", 0] - tops["ring", 0]
        for family, low in itertools.product(("thm1", "shuffle", "thm2"), ("star", "ring"))
        for tops in [
            {
                (top, d): get(f"zhou2026.{family}.{top}-{low}")
                .tuned(**{**DEFAULT, "delta": d, "S1": 5, "S2": 5}, cap="none")
                .value
                for top in ("star", "ring")
                for d in (0, 4)
            }
        ]
    }
    assert {key for key, yes in grows.items() if yes} == {("shuffle", "star"), ("shuffle", "ring"), ("thm2", "ring")}


@proves("zhou2026.C2")
def test_c2_the_intra_group_terms_of_both_rings_are_the_same() -> None:
    for family in ("thm2", "cor2"):
        star, ring = (get(f"zhou2026.{family}.{t}").terms for t in ("star-ring", "ring-ring"))
        for name in ("client_sampling", "sampled_intra_drift"):
            assert star[name] is ring[name]
            assert "S1" not in {symbol.name for symbol in ring[name].symbols}
    # and a run says that with a common draw none is due: equal groups, one of two clients, every draw
    for s1 in (1, 3):
        settings = Settings("ring-ring", 3, 2, 1, 1, S1=s1, S2=1)
        moves = [
            global_round(Q(0), settings, Q(1, s1), lambda g, p, m, k, x: Q(1 - 2 * m), client_order=lambda g, p, o=o: o)
            for o in orders(2)
        ]
        assert sum(move**2 for move in moves) / 2 == 1  # zeta^2/S2 at eta_eff = 1, whatever S1
    first = math.sqrt(2.3 * 0.25 / (5 * 5000))
    assert shown("C2").found == pytest.approx(first)
    assert shown("C2").printed == pytest.approx(first / math.sqrt(5))


@proves("zhou2026.C3")
def test_c3_where_the_noise_term_overtakes_the_inter_group_term() -> None:
    L, A, delta, sigma, n = 1.0, 2.3, 0.5, 1.0, 200
    crossing = L * A * delta**4 * n**3 / sigma**6
    assert crossing == pytest.approx(1.15e6)
    for rounds, larger in ((crossing / 2, "inter"), (crossing * 2, "noise")):
        terms = {"noise": (L * sigma**2 * A / (n * rounds)) ** 0.5, "inter": (L * A * delta / rounds) ** (2 / 3)}
        assert max(terms, key=lambda name: terms[name]) == larger
    assert shown("C3").found == pytest.approx((2.3 / (200 * 1e8)) ** 0.5)
    assert shown("C3").printed == pytest.approx((2.3 * 0.5 / 1e8) ** (2 / 3))


@proves("zhou2026.C4")
def test_c4_ring_star_and_star_star_differ_at_the_top() -> None:
    """With one group they are one algorithm; with one client in each they are two."""
    curvature = [[Q(1), Q(2), Q(3)], [Q(2), Q(4), Q(5)], [Q(7), Q(1), Q(2)]]

    def run(topology: str, G: int, M: int) -> Q:
        settings = Settings(topology, G, M, 2, 2)
        return global_round(Q(1), settings, Q(1, 50), lambda g, p, m, k, x: curvature[g][m] * x)

    assert run("star-star", 1, 3) == run("ring-star", 1, 3)
    assert run("star-star", 3, 1) != run("ring-star", 3, 1)
    assert run("star-star", 3, 1) == run("star-ring", 3, 1)
    for family in ("thm1", "thm2", "shuffle"):
        for t in TOPOLOGIES:
            steps = get(f"zhou2026.{family}.{t}").chain
            assert steps is not None
            assert "R" not in {symbol.name for symbol in steps.symbols}
    assert shown("C4").found == pytest.approx(at_best("ring-star", 10, 1, 0, 0.25))
    assert shown("C4").printed == pytest.approx(at_best("star-star", 10, 1, 0, 0.25))


def split(G: int) -> dict[str, float]:
    """A hundred clients of mean square gap 1 in G random groups: the expected gaps."""
    return {"G": G, "M": 100 // G, "zeta": math.sqrt((100 - G) / 99), "delta": math.sqrt((G - 1) / 99)}


@proves("zhou2026.C5")
def test_c5_ring_star_is_best_at_an_interior_number_of_groups() -> None:
    # The expected gaps of a random grouping, over all orders of six clients.
    values = [Q(v) for v in (5, -1, -4, 3, 2, -5)]
    H2 = sum(v**2 for v in values) / 6
    for groups in (1, 2, 3, 6):
        size, inter, count = 6 // groups, Q(0), 0
        for order in itertools.permutations(values):
            means = [sum(order[i : i + size]) / size for i in range(0, 6, size)]
            inter += sum(m**2 for m in means) / groups
            count += 1
        assert inter / count == H2 * Q(groups - 1, 5)
    # (N - G)/G^2 + G - 1 is smallest where G^3 + G = 2N.
    g, n = sp.symbols("G N", positive=True)
    slope = sp.diff((n - g) / g**2 + g - 1, g)
    assert sp.simplify(slope * g**3 - (g**3 + g - 2 * n)) == 0
    sizes = [1, 2, 4, 5, 10, 20, 25, 50, 100]
    found = {G: at_best("ring-star", G, 100 // G, (100 - G) / 99, (G - 1) / 99) for G in sizes}
    assert min(found, key=lambda G: found[G]) == 5
    assert found[100] > 1.9 * found[5]
    quiet = {
        G: get("zhou2026.thm1.ring-star").tuned(**{**DEFAULT, "sigma": 0.1, **split(G)}, cap="none").value
        for G in (5, 100)
    }
    assert quiet[100] > 2.3 * quiet[5]
    assert (shown("C5").printed, shown("C5").found) == (pytest.approx(found[5]), pytest.approx(found[100]))
    shuffled = [get("zhou2026.shuffle.ring-star").tuned(**{**DEFAULT, **split(G)}, cap="none").value for G in sizes]
    assert all(later < earlier for earlier, later in itertools.pairwise(shuffled))  # the claim, for random order


@proves("zhou2026.C6")
def test_c6_like_with_like_is_the_worst_grouping() -> None:
    clients, gaps = (1, 1, -1, -1), set()
    bounds: dict[float, float] = {}
    for order in itertools.permutations(clients):
        pairs = [order[:2], order[2:]]
        means = [sum(pair) / 2 for pair in pairs]
        delta2 = sum(m**2 for m in means) / 2
        zeta2 = sum((v - m) ** 2 for pair, m in zip(pairs, means, strict=True) for v in pair) / 4
        gaps.add((zeta2, delta2))
        bounds[delta2] = at_best("ring-star", 2, 2, zeta2, delta2)
    assert gaps == {(1, 0), (0, 1)}
    assert bounds[1] > bounds[0]
    assert (shown("C6").printed, shown("C6").found) == (pytest.approx(bounds[0]), pytest.approx(bounds[1]))


@proves("zhou2026.C7")
def test_c7_what_table_2_says_of_the_two_claims() -> None:
    with (Path(__file__).parents[3] / "planner" / "data" / "table2.csv").open() as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    assert len(rows) == 20
    worst = [all(float(row["star-star"]) < float(row[t]) for t in TOPOLOGIES[1:]) for row in rows]
    assert sum(worst) == 19
    (odd,) = (row for row, is_worst in zip(rows, worst, strict=True) if not is_worst)
    assert (odd["dataset"], odd["inter"], odd["intra"]) == ("CINIC-10", "Non-IID", "IID")
    assert (shown("C7").found, shown("C7").printed) == (float(odd["star-star"]), float(odd["star-ring"]))
    cells = {
        (row["dataset"], row["model"], t, row["inter"], row["intra"]): float(row[t]) for row in rows for t in TOPOLOGIES
    }
    columns = {key[:3] for key in cells}
    worse = {c for c in columns if cells[*c, "IID", "Non-IID"] > cells[*c, "Non-IID", "IID"]}
    assert (len(columns), len(worse)) == (20, 14)
    assert sorted((d, m, t) for d, m, t in columns - worse) == [
        ("CIFAR-10", "ResNet-18", "star-star"),
        ("CIFAR-10", "VGG-9", "star-ring"),
        ("CIFAR-10", "VGG-9", "star-star"),
        ("Fashion-MNIST", "ResNet-10", "star-star"),
        ("SST-2", "MLP", "ring-ring"),
        ("SST-2", "MLP", "star-ring"),
    ]


@proves("zhou2026.C8")
def test_c8_the_effective_rates_of_the_tuned_raw_rates() -> None:
    """A constant gradient moves the model by the effective rate: Appendix B.1's rates at G = M = 10, P = 1, K = 2."""
    raw = {"star-star": Q(1), "star-ring": Q(1, 5), "ring-star": Q(1, 5), "ring-ring": Q(1, 20)}
    moved = {}
    for t in TOPOLOGIES:
        moved[t] = iterates(Settings(t, 10, 10, 1, 2), lambda g, p, m, k, x: Q(-1), raw[t])[1]
    assert list(moved.values()) == [2, 4, 4, 10]
    assert (shown("C8").printed, shown("C8").found) == (2, 10)
    one = {t: iterates(Settings(t, 10, 10, 1, 2), lambda g, p, m, k, x: Q(-1))[1] for t in TOPOLOGIES}
    assert [one["star-star"] / one[t] for t in TOPOLOGIES] == [1, Q(1, 10), Q(1, 10), Q(1, 100)]
    squared_caps = {"star-star": 30, "star-ring": 60, "ring-star": 60, "ring-ring": 100}
    for smoothness, fits in ((Q(1, 100), True), (Q(101, 10000), False)):
        assert all(squared_caps[t] * (smoothness * moved[t]) ** 2 <= 1 for t in TOPOLOGIES) is fits


@proves("zhou2026.C9")
def test_c9_the_proved_constants_do_not_rank_ring_ring_first() -> None:
    """D.2-D.5 typed once more, smallest over a grid of steps."""
    s2, z2, d2 = 1.0, 0.25, 0.25
    terms = {
        "star-star": (10, 10.0, 5 * (s2 / 2 + s2 / 20) + 5 * z2 + 10 * d2),
        "star-ring": (15, 22.5, 22.5 * s2 / 20 + 15 * z2 + 22.5 * d2),
        "ring-star": (15, 22.5, 7.5 * s2 / 200 + 15 * s2 / 200 + 7.5 * z2 / 100 + 22.5 * d2),
        "ring-ring": (20, 40.0, 40 * s2 / 200 + 20 * z2 / 100 + 40 * d2),
    }
    best = {}
    for t, (b, a, q) in terms.items():
        values = []
        for i in range(1, 4000):
            v = i / 4000 * math.sqrt(1 / (2 * a + b))
            c1 = 1 / (1 - b * v**2)
            values.append((2.3 / (5000 * v) + v / 200 + c1 * q * v**2) / (0.5 - a * c1 * v**2))
        best[t] = min(values)
    assert best["ring-ring"] == max(best.values())
    assert shown("C9").found == pytest.approx(best["ring-ring"], rel=1e-5)
    assert shown("C9").printed == pytest.approx(best["star-star"], rel=1e-5)
    tried = itertools.product((0.01, 1, 100), (0.5, 5), (0.1, 1, 3), (0.3, 3), (0.3, 3))
    for L, A, sigma, zeta, delta in tried:
        point = {**DEFAULT, "L": L, "A": A, "sigma": sigma, "zeta": zeta * sigma, "delta": delta * sigma}
        tuned = {t: get(f"zhou2026.thm1-proof.{t}").tuned(**point).value for t in TOPOLOGIES}
        assert min(tuned, key=lambda t: tuned[t]) != "ring-ring"
    sharp = {t: get(f"hflbounds.sharp.{t}").tuned(**DEFAULT).value for t in TOPOLOGIES}
    assert min(sharp, key=lambda t: sharp[t]) == "ring-ring"


@proves("zhou2026.C10")
def test_c10_the_theorem_and_the_rate_order_star_ring_and_ring_star_differently() -> None:
    theorem = [at_best(t, 10, 40, 0, 0, R=1e6) for t in ("star-ring", "ring-star")]

    def cube(x: float) -> float:
        return x ** (1 / 3)

    common = 2.3 / 1e6 + math.sqrt(2.3 / (800 * 1e6))
    rate = [
        common + cube(2.3**2 / (80 * 1e12)),
        common + cube(2.3**2 / (200 * 1e12)) + cube(2.3**2 / (800 * 1e12)),
    ]
    assert theorem[1] < theorem[0]
    assert rate[1] > rate[0]
    assert shown("C10").printed == pytest.approx(theorem[1] / theorem[0])
    assert shown("C10").found == pytest.approx(rate[1] / rate[0])


@proves("zhou2026.C11")
def test_c11_the_time_of_a_round_on_a_clock() -> None:
    """Every event of a synchronous round with a star at the top: download, P group rounds, upload, the slowest."""

    def clock(down: list[int], up: list[int], group: list[int], P: int) -> int:
        done = []
        for g in range(len(down)):
            now = down[g]
            for _ in range(P):
                now += group[g]
            done.append(now + up[g])
        return max(done)

    assert clock([2, 0], [1, 1], [1, 3], 2) == shown("C11").found == 7
    assert shown("C11").printed == 3 + 2 * 3
    for a in itertools.product((1, 2, 5), repeat=3):
        for b in itertools.product((1, 3), repeat=3):
            formula24 = max(a) + 2 * max(b)
            run = clock(list(a), [0, 0, 0], list(b), 2)
            assert run <= formula24
            if any((x, y) == (max(a), max(b)) for x, y in zip(a, b, strict=True)):
                assert run == formula24


@proves("zhou2026.C12")
def test_c12_the_second_order_noise_term_is_between_the_two_others() -> None:
    """With x the first-order noise term and y the gap the term is (x^2 y)^(1/3), at most (2 x + y)/3."""
    x, y = sp.symbols("x y", positive=True)
    assert sp.expand((2 * x + y) ** 3 - 27 * x**2 * y - (x - y) ** 2 * (8 * x + y)) == 0
    terms = get("zhou2026.cor1.ring-ring").terms
    start, noise, term = (terms[name].to_sympy() for name in ("start", "noise", "noise_drift"))
    assert sp.simplify(sp.powdenest(noise**2 * start / term**3, force=True)) == 1
    assert terms["noise_drift"] is get("zhou2026.cor1.ring-star").terms["noise_drift"]
    for rounds in (10.0, 1e3, 1e6):
        at = {**DEFAULT, "R": rounds}
        assert formula("C12").value(at) <= formula("C12", "proved").value(at) * (1 + 1e-12)
        parts = get("zhou2026.cor1.ring-ring").split(**at)
        assert formula("C12").value(at) == pytest.approx(sum(parts[n] for n in ("start", "noise", "noise_drift")))
        assert formula("C12", "proved").value(at) == pytest.approx((4 * parts["start"] + 5 * parts["noise"]) / 3)
