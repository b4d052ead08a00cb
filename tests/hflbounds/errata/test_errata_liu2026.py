"""What liu2026 prints otherwise than it proves: each test fails if its erratum were wrong."""

from __future__ import annotations

import math
from fractions import Fraction as Q
from itertools import islice

import numpy as np
import pytest
import sympy as sp
from proofs import proves

from hflbounds import get
from hflbounds.core.bound import Evidence
from hflbounds.coverage import Coverage, ring
from hflbounds.errata.liu2026 import ERRATA, MIDDLE_IN_BOTH, SEPARATE, closer, edge_round, mean, run, spread

BY_ID = {erratum.id.removeprefix("liu2026."): erratum for erratum in ERRATA}


def evidence(name: str) -> Evidence:
    demonstrate = BY_ID[name].demonstrate
    assert demonstrate is not None
    found = demonstrate()
    assert found.contradicts
    return found


@proves("liu2026.H1")
def test_h1_the_induction_needs_beta_mu_minus_one() -> None:
    b, x, X = sp.symbols("b x X", positive=True)  # beta mu, t + alpha, beta^2 X
    bracket = {sign: X / (b + sign) * (x / (x + 1) - b) + X for sign in (1, -1)}
    assert sp.simplify(bracket[1] - X * (2 * x + 1) / ((b + 1) * (x + 1))) == 0  # positive: the step fails
    assert sp.simplify(bracket[-1] + X / ((b - 1) * (x + 1))) == 0  # negative: it goes through


@proves("liu2026.H1")
@pytest.mark.parametrize("product", [1.1, 1.25, 1.5, 1.9])
def test_h1_a_run_exceeds_what_is_printed_and_not_what_is_proved(product: float) -> None:
    """F_i = w^2/2 from the optimum, E = G = 1: the second moment of the run is exact but for rounding."""
    values = {"E": 1, "Ge": 1, "L": 1, "mu": 1, "Gamma": 0, "H": 0, "Delta0": 0, "sigma": 1, "p2": 1}
    values |= {"beta_lr": product, "alpha": 4 * product}
    moments = [0.0]
    for t in range(50_000):
        eta = product / (t + 4 * product)
        moments.append((1 - eta) ** 2 * moments[-1] + eta**2)
    gaps, t = np.array(moments) / 2, np.arange(len(moments))
    over = gaps / get("liu2026.thm1-printed")(**values, t=t)
    assert (gaps <= get("liu2026.thm1")(**values, t=t)).all()
    assert over.max() > 1
    assert over[-1] == pytest.approx((product + 1) / (2 * product - 1), rel=1e-3)  # above 1 for every product below 2
    if product <= 1.25:
        assert (over[3:] > 1).all()


@proves("liu2026.H1")
def test_h1_the_recursion_itself_and_the_best_beta() -> None:
    """Equality in (26): the printed constant is exceeded up to (b + 1)/(b - 1), the proved one never."""
    for product, reached in ((2.0, 2.99), (1.5, 4.9), (10.0, 1.2)):
        offset = 4 * product
        delta, most = 0.0, 0.0
        for t in range(20000):
            most = max(most, delta * (t + offset) * (product + 1) / product**2)
            eta = product / (t + offset)
            delta = (1 - eta) * delta + eta**2
        assert reached < most <= (product + 1) / (product - 1)
    betas = np.linspace(1.001, 6, 5000)
    assert betas[np.argmin(betas**2 / (betas - 1))] == pytest.approx(2, abs=2e-3)
    assert np.argmin(betas**2 / (betas + 1)) == 0
    found = evidence("H1")
    assert found.found / found.printed == pytest.approx(1.74, abs=5e-3)


@proves("liu2026.H2")
def test_h2_an_edge_round_is_no_projection_where_servers_overlap() -> None:
    found = evidence("H2")
    assert (found.found, found.printed) == pytest.approx((0.040757, 0.034716), abs=5e-7)
    later = closer(10)
    assert later.found / later.printed == pytest.approx(1.138, abs=5e-4)
    # With one server each it is: no point that is constant on the groups is nearer than their means.
    p, optima = (Q(1, 10), Q(2, 5), Q(1, 5), Q(3, 10)), (Q(2), Q(0), Q(-1), Q(-3))
    known = list(islice(run(SEPARATE, p, optima, (3, 4), Q(11, 10), Q(22, 5)), 24))
    for t, v, w in known[5::3]:
        if t % 12:
            assert spread(p, w, v) <= spread(p, known[t - 4][2], v)
    # And what an edge round does contract, overlap or not, is the distance to the mean.
    p = (Q(1, 5), Q(3, 5), Q(1, 5))
    factor = Coverage.of([[1, 0], [1, 1], [0, 1]], [0.2, 0.6, 0.2]).lambda2 ** 2
    for v in ((Q(1), Q(2), Q(-1)), (Q(0), Q(1), Q(0)), (Q(1), Q(0), Q(-1))):
        assert float(spread(p, edge_round(MIDDLE_IN_BOTH, p, v))) <= factor * float(spread(p, v)) * (1 + 1e-12)
        assert mean(p, edge_round(MIDDLE_IN_BOTH, p, v)) == mean(p, v)


@proves("liu2026.H3")
def test_h3_lemma_3_with_a_smaller_constant() -> None:
    """The smaller constant is that of the bound which `test_hhfl.py` holds against runs of any coverage."""
    printed, proved = BY_ID["H3"].printed, BY_ID["H3"].proved
    for offset, wanted in ((5.0, 19377), (60.0, 1129)):
        numbers = {"E": 5.0, "Ge": 5.0, "alpha": offset}
        assert printed.value(numbers) == 3_555_328
        assert proved.value(numbers) == pytest.approx(wanted, abs=0.5)
        ours = get("hflbounds.hhfl-drift")(**numbers, H=1, eta=1, lambda2=1)
        assert ours == pytest.approx(proved.value(numbers), rel=1e-12)
    for local in range(1, 8):
        for edge in range(1, 8):
            numbers = {"E": float(local), "Ge": float(edge), "alpha": float(local)}
            assert proved.value(numbers) <= printed.value(numbers)


@proves("liu2026.H4")
def test_h4_the_schedule_has_no_exponential() -> None:
    for local in range(1, 12):
        for edge in range(1, 12):
            for offset in (Q(local), Q(local) + Q(1, 3), Q(7 * local), Q(1000)):
                for first in (0, local * edge, 9 * local * edge):  # a cloud round begins; its last step is drawn
                    ratio = (first + local * edge - 1 + offset) / (first + offset)
                    assert ratio <= 1 + (local * edge - 1) / offset <= edge + 1 - Q(1, local) <= 2**edge
    for offset, wanted in ((5.0, 116.6), (60.0, 3.3)):
        numbers = {"E": 5.0, "Ge": 10.0, "alpha": offset}
        assert BY_ID["H4"].proved.value(numbers) == pytest.approx(wanted, abs=0.05)
        assert BY_ID["H4"].printed.value(numbers) == 1_048_576


@proves("liu2026.H5")
def test_h5_the_published_bound_does_not_see_the_coverage() -> None:
    values = {"E": 5, "Ge": 5, "L": 1, "mu": 0.1, "Gamma": 0.2, "H": 2, "Delta0": 1, "sigma": 1}
    values |= {"beta_lr": 20, "alpha": 80, "t": 1000}
    apart, linked = ({"coverage": ring(3, 10, overlapping)} for overlapping in (0, 5))
    for name in ("thm1", "thm1-printed", "x", "z", "z-printed", "lemma3"):
        bound = get(f"liu2026.{name}")
        assert bound(**values, **apart, eta=1) == bound(**values, **linked, eta=1)
    assert get("hflbounds.hhfl-spectral")(**values, **apart) > get("hflbounds.hhfl-spectral")(**values, **linked)
    found = evidence("H5")  # drifts, of runs: one bridge between servers with nearly equal data
    assert found.found > 10 * found.printed > 0


@proves("liu2026.H6")
def test_h6_gamma_is_a_sum_over_clients() -> None:
    found = evidence("H6")
    assert (found.printed, found.found) == pytest.approx((0.9526, 0.1), abs=5e-5)
    # For equal losses Gamma must be 0, whatever constant is added to them.
    shares = [Q(1, 57)] * 57
    for constant in (Q(1), Q(-3)):
        assert constant - sum(p * constant for p in shares) == 0
        assert constant - sum(p * constant for p in shares[:3]) != 0


@proves("liu2026.H7")
def test_h7_two_indices_make_the_rows_sum_to_one() -> None:
    assert evidence("H7").found == pytest.approx(0.8)
    p = (Q(1, 5), Q(3, 5), Q(1, 5))
    assert edge_round(MIDDLE_IN_BOTH, p, (Q(1),) * 3) == (1, 1, 1)


@proves("liu2026.H8")
def test_h8_the_exponent_counts_all_steps() -> None:
    assert evidence("H8").found == pytest.approx(4.84)
    for local in range(1, 9):
        for steps in range(1, 5 * local):
            for offset in (Q(local), 3 * Q(local)):
                assert ((steps + offset) / offset) ** 2 <= 4 ** math.ceil(Q(steps, local))


@proves("liu2026.H9")
def test_h9_h_is_a_constant_of_the_run_and_depends_on_e() -> None:
    assert evidence("H9").found == pytest.approx(4 * evidence("H9").printed)

    def largest(local: int) -> float:
        """Largest squared gradient of two clients with curvatures 1 and 0.1, from the optimum."""
        curvature, optima = np.array([1.0, 0.1]), np.array([1.0, -1.0])
        w, seen = np.full(2, curvature @ optima / curvature.sum()), 0.0
        for t in range(40 * local):
            gradient = curvature * (w - optima)
            seen = max(seen, float((gradient**2).max()))
            w = w - 11 / (t + 44) * gradient
            w = np.full(2, w.mean()) if (t + 1) % local == 0 else w
        return seen

    assert largest(1) == pytest.approx((0.1 * 2 / 1.1) ** 2)
    assert largest(20) > 3 * largest(1)


@proves("liu2026.H10")
def test_h10_the_printed_algorithm_has_no_noise() -> None:
    found = evidence("H10")
    assert found.found == pytest.approx(1 / 16)
    at_rest = next(run(SEPARATE, (Q(1, 4),) * 4, (Q(0),) * 4, (1, 1), Q(11, 10), Q(22, 5)))
    assert at_rest[1] == (0, 0, 0, 0)  # Algorithm 1 as printed does not leave the optimum of like clients
    assert get("liu2026.lemma4")(sigma=0, p2=0.1) == 0


@proves("liu2026.H11")
def test_h11_one_over_mu_is_idle() -> None:
    rng = np.random.default_rng(0)
    bound = get("liu2026.thm1")
    rest = {"Ge": 2, "Gamma": 1, "H": 1, "Delta0": 1, "sigma": 1, "p2": 0.1, "t": 5}
    both = set()
    for _ in range(300):
        L, beta = np.exp(rng.uniform(-2, 2, 2))
        mu, local = L * rng.uniform(0.05, 1), int(rng.integers(1, 20))
        alpha = rng.uniform(0.5, 2) * max(local, 4 * L * beta)
        printed = bool(beta > 1 / mu and alpha >= local and beta / alpha <= min(1 / mu, 1 / (4 * L)))
        assert min(1 / mu, 1 / (4 * L)) == 1 / (4 * L)
        assert bound.applies(**rest, L=L, mu=mu, beta_lr=beta, alpha=alpha, E=local) == printed
        assert alpha > 4 * L / mu or not printed
        both.add(printed)
    assert both == {True, False}


@proves("liu2026.H12")
def test_h12_without_overlap_the_factor_is_one() -> None:
    assert Coverage.of(ring(3, 19, 0)).resources == 1  # so that 1 < R < 1 holds of no R
    assert Coverage.of(ring(3, 19, 6)).resources == pytest.approx(75 / 57)


@proves("liu2026.H13")
def test_h13_a_ratio_to_the_time_of_e_steps_makes_rare_transmissions_free_of_gain() -> None:
    """(28)-(30) with T steps, T a multiple of every E."""
    steps, of_one_step = 1200, Q(1, 100)
    printed, fixed = [], []
    for local in (1, 2, 5, 10):
        assert steps % local == 0
        printed.append(steps // local * 10 * local * of_one_step)  # T_CES = 10 T_SGD, T_SGD the time of E steps
        fixed.append(steps // local * 10 * 5 * of_one_step)  # T_CES as it is at E = 5
    assert len({*printed}) == 1
    assert fixed == [fixed[0] / local for local in (1, 2, 5, 10)]
