"""What HGA-FL's supplement prints otherwise than it proves; formulas are typed here again, from the text."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction as Q

import numpy as np
import pytest
import sympy as sp
from proofs import proves
from test_hga import Server

from hflbounds.audit.checks import DIMENSIONS
from hflbounds.core.expression import DimensionError, Expr
from hflbounds.errata.xie2024 import ERRATA, two_centers

KNOWN = {erratum.id: erratum for erratum in ERRATA}


def theorem_1(
    L: float, R: int, M: int, K: int, alpha: float, eta_g: float, S: float, s2: float, g2: float, start: float = 0.0
) -> float:
    """(69), with ``start`` for A/T and S for ``4 Gamma^2 + zeta^2``."""
    C, B = math.sqrt(2 + 2 * L**2), 5 * K + (24 * M + 6 * K) * R
    return (
        2 * alpha / (C * eta_g * R) * start
        + 5 * R * L**2 * (4 - 3 * L) * B * C**2 / (alpha**2 * K) * s2
        + 60 * R**3 * L**5 * eta_g**2 * S * B * C**4 / (alpha**4 * K) * s2
        + 15 * R**2 * L**4 * eta_g * B * C**3 / (alpha**3 * K) * s2
        + 12 * R**2 * L**2 * eta_g**2 * S * (4 * M + K) * C**2 / (alpha**2 * K) * g2
        + 3 * R * L * eta_g * (4 * M + K) * C / (alpha * K) * g2
    )


def smallest_alpha(L: float, R: int) -> float:
    return 10 * math.sqrt(6 * (2 + 2 * L**2)) * L * R


def largest_eta_g(S: float) -> float:
    return 5 * math.sqrt(6) * (math.sqrt(16 * S + 1) - 1) / (4 * S)


@proves("xie2024.G1")
def test_g1_a_mean_of_squares_is_bounded_by_less_than_zero() -> None:
    assert smallest_alpha(2, 1) <= 155
    assert theorem_1(2, 1, 1, 1, 155, 1e-3, 0, 1, 0, start=1e-12) == pytest.approx(-0.583, abs=5e-4)
    assert theorem_1(1.3, 1, 1, 1, 155, 1e-3, 0, 1, 0, start=1e-12) > 0  # below 4/3 it is not


@proves("xie2024.G2")
def test_g2_two_rounds_with_a_coin_for_noise() -> None:
    """F = L w^2/2 from 0: after the first round w = -eta times +1 or -1, and the gradients are 0 and L w."""
    for smooth in (Q(1, 1000), Q(1, 200)):
        rate = 1 / (16 * smooth)  # the largest that (38) allows for R = 2
        exact = sum((smooth * -rate * coin) ** 2 for coin in (1, -1)) / Q(2)
        assert exact > 15 * 2**3 * smooth**3 * rate**2
        assert exact < 15 * 2**3 * smooth**2 * rate**2
    r, l, w, d = sp.symbols("R L drift d")  # the derivation: R times R gradients, in three parts each
    assert sp.expand(r * r * 3 * (l**2 * 5 * r * d + w) - 15 * r**3 * l**2 * d - 3 * r**2 * w) == 0


@proves("xie2024.G3")
def test_g3_a_negative_factor_turns_the_inequality() -> None:
    rates = Q(1, 1000)
    c = rates**2 - rates  # times L = R = 1
    for a, b in itertools.product(range(-4, 5), repeat=2):
        lhs, rhs = c / 2 * (2 * a - b) ** 2, 4 * c / 2 * a**2 + c / 2 * b**2
        assert (lhs <= rhs) == (a * b <= 0)  # it holds only where the two gradients do not agree
    assert (c / 2 * 0, 4 * c / 2 + c / 2 * 4) == (0, Q(-999, 250_000))


@proves("xie2024.G4")
def test_g4_what_is_measured_does_not_vanish_with_the_server_rate() -> None:
    measured, printed = [], []
    for eta_g, steps in ((0.4, 2_000), (0.04, 20_000)):
        two = Server((2.99, 1.0), 1, 1, eta_g, 0.01, 0.0, np.array([[1.0], [-1.0]]), np.ones(1), np.zeros((1, 1)))
        measured.append(two.run(steps))
        S = 4 * two.buffer_delay**2 + two.cache_delay**2
        assert eta_g <= largest_eta_g(S)
        assert smallest_alpha(1, 1) <= 200  # eta_hat = 2/200, the centers' rate
        printed.append(theorem_1(1, 1, 2, 1, 200, eta_g, S, 0, 1))
    assert all(found > 3 * bound for found, bound in zip(measured, printed, strict=True))
    assert measured[1] == pytest.approx(measured[0], rel=0.05)
    assert printed[1] < printed[0] / 8


@proves("xie2024.G5")
@pytest.mark.parametrize(("alpha", "ratio"), [(200, None), (2_000, 2.85), (20_000, 28.6)])
def test_g5_the_stationary_error_of_sgd(alpha: int, ratio: float | None) -> None:
    step = Q(2, alpha)  # eta_hat at L = 1, and the server's rate is 1
    still = step / (2 - step)
    assert (1 - step) ** 2 * still + step**2 == still  # one step keeps the second moment
    printed = theorem_1(1, 1, 1, 1, alpha, 1, 0, 1, 0)
    if ratio is None:
        assert float(still) < printed
    else:
        assert float(still) / printed == pytest.approx(ratio, rel=2e-3)


@proves("xie2024.G6")
def test_g6_where_the_three_rules_settle() -> None:
    rng = random.Random(3)
    for many in (2, 3, 5):
        shares = [Q(rng.randint(1, 9)) for _ in range(many)]
        shares = [share / sum(shares) for share in shares]
        centers = [Q(rng.randint(-9, 9)) for _ in range(many)]
        mean, weighted = sum(centers) / many, sum(p * c for p, c in zip(shares, centers, strict=True))
        b = mean - weighted  # sum_j pi_j grad F_j - grad F, at any w
        # sum of directions over a long time = 0, at one w for all: 2 sum pi (w - c) - mean (w - c), and so on
        hga = 2 * weighted - mean
        assert 2 * (hga - weighted) - (hga - mean) == 0
        assert (hga - mean, weighted - mean, mean - mean) == (-2 * b, -b, 0)
    late = {rule: float(np.mean([*two_centers(rule, 100_000, 0.1, 0.01)][-4:])) for rule in ("hga", "fedbuff", "ca2fl")}
    assert late["hga"] == pytest.approx(1, rel=5e-3)
    assert late["fedbuff"] == pytest.approx(0.5, rel=5e-3)
    assert abs(late["ca2fl"]) < 5e-3


@proves("xie2024.G7")
def test_g7_the_printed_signs_step_uphill() -> None:
    """w^2/2 from w = 1, one center with R rounds of rate 1/100, server rate 1/10, the cache filled alike."""
    for rounds in (1, 3):
        change = (1 - Q(1, 100)) ** rounds - 1
        for delta, uphill in ((change, True), (-change, False)):
            after = 1 - Q(1, 10) * delta + Q(1, 10) * (delta - delta)
            assert (after > 1) is uphill


@proves("xie2024.G8")
def test_g8_equal_gradients_everywhere_are_one_gradient() -> None:
    rounds, gradient = 4, Q(7)
    erratum = KNOWN["xie2024.G8"]
    assert isinstance(erratum.printed, Expr) and isinstance(erratum.proved, Expr)
    for buffer in (1, 2, 5):
        point = {"K_buf": float(buffer), "R_sub": float(rounds)}
        delta, cached = rounds * gradient * buffer, rounds * gradient
        assert delta / buffer - (cached - delta / buffer) == rounds * gradient  # Delta/K - v, with C.1's v
        directions = [
            side.value(point) * float(delta) - float(cached) / rounds for side in (erratum.proved, erratum.printed)
        ]
        assert directions == pytest.approx([7, 7 * buffer])


@proves("xie2024.G9")
def test_g9_two_variances_and_one_letter() -> None:
    R, M, K, s2, g2 = sp.symbols("R M K s2 g2", positive=True)
    of_62 = sp.expand(K * (4 * (s2 + 6 * R * M / K * g2) + s2 + 6 * R * g2))
    assert sp.expand(of_62 - (5 * K * s2 + (24 * M + 6 * K) * R * g2)) == 0
    printed = (5 * K + (24 * M + 6 * K) * R) * s2
    assert sp.expand((of_62 - printed).subs(g2, s2)) == 0
    assert of_62.subs({s2: 0, g2: 1}) != 0
    assert (printed / of_62).subs({g2: 0, s2: 1, M: 8, R: 8, K: 3}) == 113


@proves("xie2024.G10")
def test_g10_a_smaller_step_is_slower_than_the_theorem_allows() -> None:
    """w^2/2 without noise from w = 1: squared gradients (1 - a)^(2t), against the first term, the only one left."""
    alpha, steps = 200, 20_000
    upper = 2 / alpha
    for share, holds in ((1.0, True), (0.1, False)):
        a = 0.5 * upper * share
        mean = sum((1 - a) ** (2 * t) for t in range(steps)) / steps
        assert (mean <= theorem_1(1, 1, 1, 1, alpha, 0.5, 0, 0, 0, start=0.5 / steps)) is holds
        assert mean <= 2 * 0.5 / (0.5 * upper * share * steps)  # with eta_s itself


@proves("xie2024.G11")
def test_g11_nothing_is_left_at_equality() -> None:
    """In exact numbers: u = 1/600, and y + 4 S y^2 = 1."""

    def coefficient(u: Q, y: Q, S: Q) -> Q:  # (63) over eta_g eta_hat R
        return -Q(1, 2) + 300 * u + Q(15, 2) * (4 * S * y**2 + y - 1) * (1 + 30 * u)

    for y in (Q(1, 3), Q(1, 10)):
        S = (1 - y) / (4 * y**2)
        assert coefficient(Q(1, 600), y, S) == 0
        assert -Q(1, 2) < coefficient(Q(1, 700), y, S) < 0  # and inside, less than (69) divides by
    assert coefficient(Q(1, 600), Q(1, 100), Q(10)) < -Q(1, 2)  # far inside there is enough


@proves("xie2024.G12")
def test_g12_the_corollarys_alpha_meets_the_theorem_only_for_small_l() -> None:
    for R, K, inverse in itertools.product((1, 5, 8), (1, 3, 10), (1, 20, 60, 300)):
        L = Q(1, inverse)
        chosen, needed = (2 + 2 * L**2) * Q(R, K), 600 * (2 + 2 * L**2) * L**2 * R**2  # squared
        assert (chosen >= needed) == (600 * K * R * L**2 <= 1)
    assert math.sqrt(4 * 8 / 3) == pytest.approx(3.27, abs=5e-3)
    assert smallest_alpha(1, 8) == pytest.approx(391.9, abs=5e-2)


@proves("xie2024.G13")
def test_g13_a_term_that_does_not_depend_on_t() -> None:
    L, R, M, K, S = 1, 8, 8, 3, 164
    B = 5 * K + (24 * M + 6 * K) * R
    alpha = math.sqrt((2 + 2 * L**2) * R / K)

    def order(T: float) -> float:  # (71), s2 = g2 = A = 1
        late = 60 * R * L**5 * S * K * B / T + 12 * R * L**2 * S * (4 * M + K) / T
        return (
            1 / math.sqrt(T * K * R)
            + late
            + 15 * L**4 * math.sqrt(K * R) * B / math.sqrt(T)
            + (3 * math.sqrt(R) * L * (4 * M + K) / math.sqrt(T * K))
        )

    for T in (1e14, 1e18):
        corollary = theorem_1(L, R, M, K, alpha, 1 / math.sqrt(T), S, 1, 1, start=1 / T)
        start = 1 / math.sqrt(T * K * R)
        assert corollary == pytest.approx(order(T) + start + 5 * L**2 * (4 - 3 * L) * B, rel=1e-9)
        assert corollary > 8475 > 1e5 * order(T)


@proves("xie2024.G14")
def test_g14_means_of_moves_and_of_gradients() -> None:
    """Clients of curvature 1 and 2 and so L = 2."""
    seen = set()
    for moves in itertools.product((-1, 0, 1), repeat=2):
        state = Q(1 * moves[0] + 2 * moves[1], 2) ** 2
        seen.add(state <= 4 * Q(sum(moves), 2) ** 2)
        assert state <= 4 * Q(sum(move**2 for move in moves), 2)  # Jensen's way
    assert seen == {True, False}


def feddyn(curvatures: list[Q], centers: list[Q], model: Q, alpha: Q, steps: int) -> list[tuple[Q, Q]]:
    """Exact FedDyn on quadratics: model and gradient before each step, and after the last."""

    def gradient(w: Q) -> Q:
        return sum((c * (w - at) for c, at in zip(curvatures, centers, strict=True)), Q(0)) / len(centers)

    states, found = [Q(0)] * len(centers), [(model, gradient(model))]
    for _ in range(steps):
        triples = list(zip(curvatures, centers, states, strict=True))
        clients = [(c * at + g + alpha * model) / (c + alpha) for c, at, g in triples]  # Acar et al. (2021)
        states = [g - alpha * (w - model) for g, w in zip(states, clients, strict=True)]
        model = sum(clients) / len(clients) - sum(states) / len(states) / alpha
        found.append((model, gradient(model)))
    return found


def over_proposition_1(run: list[tuple[Q, Q]], L: Q, alpha: Q) -> list[Q]:
    """Squared surrogate rate over its bound, at each step; with the larger of the gradients before and after."""
    return [(v - w) ** 2 / max(a**2, b**2) / ((2 + 2 * L**2) / alpha**2) for (w, a), (v, b) in itertools.pairwise(run)]


@proves("xie2024.G21")
def test_g21_feddyn_itself_breaks_proposition_1() -> None:
    L, alpha = Q(1, 10), Q(2)
    assert alpha >= max(20 * L, 1)
    first, *later = over_proposition_1(feddyn([L], [Q(0)], Q(1), alpha, 6), L, alpha)
    assert float(first) == pytest.approx(0.9070 / 0.505, rel=1e-3)
    assert max(later) < 1
    # Two clients from where their mean gradient is zero: the model leaves, and the states follow.
    two = over_proposition_1(feddyn([L, Q(1, 50)], [Q(-2), Q(4)], Q(-1), alpha, 4), L, alpha)
    assert two[1] > 100
    assert two[2] > 1 > two[3]


@proves("xie2024.G15")
def test_g15_the_unit_of_the_loss() -> None:
    erratum = KNOWN["xie2024.G15"]
    assert isinstance(erratum.printed, Expr) and isinstance(erratum.proved, Expr)
    assert erratum.proved.dimension(DIMENSIONS) == (-2, 4)
    with pytest.raises(DimensionError):
        erratum.printed.dimension(DIMENSIONS)
    curvatures, centers = [Q(1), Q(1, 3)], [Q(2), Q(-1)]
    models = [
        [w for w, _ in feddyn([s * c for c in curvatures], centers, Q(5), s * 40, 5)] for s in (Q(1), Q(1, 10), Q(7))
    ]
    assert models[0] == models[1] == models[2]
    values = [theorem_1(s, 2, 4, 2, s * 400, 0.1, 20, s**2, s**2, start=s / 1000) / s**2 for s in (0.1, 1.0)]
    assert values[0] > 1.1 * values[1]


@proves("xie2024.G16")
def test_g16_squares_of_sums_need_weights() -> None:
    for a, b, c, d in itertools.product((-2, -1, 1, 3), repeat=4):
        assert (2 * a - b) ** 2 <= 6 * a**2 + 3 * b**2
        assert (2 * a - b + 2 * c - d) ** 2 <= 6 * (2 * a**2 + b**2 + 2 * c**2 + d**2)
    assert (2 * 1 - -1) ** 2 == 9 > 4 * 1**2 + (-1) ** 2
    assert (2 + 1 + 2 + 1) ** 2 == 36 > 2 * (4 + 1 + 4 + 1)


@proves("xie2024.G17")
@pytest.mark.parametrize("delay", [1, 5, 20])
def test_g17_delayed_sums_exceed_the_sum(delay: int) -> None:
    ratios = []
    for decay in (Q(9, 10), Q(1, 2), Q(1, 1000)):
        squares = [decay**step for step in range(100)]
        ratios.append(sum(squares[max(step - delay, 0)] for step in range(100)) / sum(squares))
    assert 1 < ratios[0] < ratios[1] < ratios[2] <= delay + 1
    assert ratios[2] > Q(99, 100) * (delay + 1)  # and no smaller factor would do


@proves("xie2024.G18")
def test_g18_what_the_conditions_allow_at_the_recommended_settings() -> None:
    for rounds, inside, outside in ((8, 0.0072, 0.0073), (5, 0.0115, 0.0116)):
        assert smallest_alpha(inside, rounds) <= 2 < smallest_alpha(outside, rounds)
    for eta_g, inside, outside in ((0.1, 54, 55), (0.5, 10, 11)):  # Gamma = zeta
        assert largest_eta_g(5 * inside**2) >= eta_g > largest_eta_g(5 * outside**2)


@proves("xie2024.G19")
def test_g19_a_norm_is_not_compared_with_a_square() -> None:
    erratum = KNOWN["xie2024.G19"]
    assert isinstance(erratum.printed, Expr) and isinstance(erratum.proved, Expr)
    norm = (1, -1)
    assert erratum.proved.dimension(DIMENSIONS) == norm
    assert erratum.printed.dimension(DIMENSIONS) != norm


@proves("xie2024.G20")
def test_g20_the_spread_of_a_buffer() -> None:
    rng = random.Random(9)
    for many in range(1, 8):
        for buffer in range(1, many + 1):
            sharp = Q(4 * (many - buffer), buffer)
            assert sharp < Q(buffer + 4 * many, buffer)
            for _ in range(20):
                gaps = [Q(rng.randint(-9, 9)) for _ in range(many)]
                gaps = [gap - sum(gaps) / many for gap in gaps]
                mean_square = sum(gap**2 for gap in gaps) / many
                assert 4 * (sum(gaps[:buffer]) / buffer) ** 2 <= sharp * mean_square
            if buffer < many:
                gaps = [Q(1)] * buffer + [Q(-buffer, many - buffer)] * (many - buffer)
                assert sharp * sum(gap**2 for gap in gaps) / many == 4 * 1


@proves("xie2024.G22")
def test_g22_the_root_of_the_fourth_term() -> None:
    """(70) has (15 R^2 L^4/sqrt T) K sqrt K sigma_s^2 B/(K R sqrt R), where noise stands in squares only."""
    for L, R, M, K, T, s in ((1.0, 8, 8, 3, 1000, 1.0), (0.3, 5, 7, 2, 100, 2.5)):
        B = 5 * K + (24 * M + 6 * K) * R
        fourth = 15 * R**2 * L**4 / math.sqrt(T) * K * math.sqrt(K) * s**2 * B / (K * R * math.sqrt(R))
        short, copy = 15 * L**4 * math.sqrt(K * R) * B * s**2, 15 * L**4 * math.sqrt(K * R * B * s**2)
        assert short / math.sqrt(T) == pytest.approx(fourth, rel=1e-12)
        assert short / copy == pytest.approx(math.sqrt(B) * s, rel=1e-12)
    erratum = KNOWN["xie2024.G22"]
    assert erratum.artefact
    assert isinstance(erratum.printed, Expr) and isinstance(erratum.proved, Expr)
    ratio = erratum.proved.value(erratum.witness) / erratum.printed.value(erratum.witness)
    assert ratio == pytest.approx(math.sqrt(5 * 3 + (24 * 8 + 6 * 3) * 8), rel=1e-12)
    assert 41 < ratio < 42
