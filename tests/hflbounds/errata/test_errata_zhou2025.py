"""What the early version prints wrong, proved again: by units, by exact runs of the algorithms, by other sums.

No test here rests on the witness or the demonstration that an erratum itself carries.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction as Q
from statistics import fmean

import pytest
from proofs import proves

from hflbounds import get
from hflbounds.catalog.zhou2025 import drift_of_noise
from hflbounds.core.expression import Expr
from hflbounds.core.quantities import ABOUT, grad, sigma
from hflbounds.registry import errata
from validation.reference import TOPOLOGIES, Settings, global_round

DIMENSIONS = {name: about.dim for name, about in ABOUT.items()}
ERRATA = {e.id: e for e in errata()}
PER_SQUARED_GRADIENT = (2, -2)


def of(erratum_id: str, side: str, **numbers: float) -> float:
    """A side of an erratum at numbers of the test's own."""
    formula = getattr(ERRATA[erratum_id], side)
    assert isinstance(formula, Expr)
    return formula.value(numbers)


def weights(settings: Settings, eta: Q) -> list[Q]:
    """With which weight every gradient of a round enters the next global model; gradients do not depend on x."""
    found = []
    counts = (settings.G, settings.P, settings.M, settings.K)
    for chosen in itertools.product(*map(range, counts)):
        found.append(-global_round(Q(0), settings, eta, lambda *at, chosen=chosen: Q(at[:4] == chosen)))
    return found


@proves("zhou2025.D1")
@pytest.mark.parametrize("topology", ["star-star", "star-ring"])
def test_d1_averaging_over_groups_divides_the_noise_by_their_number(topology: str) -> None:
    """The variance that a round puts on the global model is exact: squared weights of N independent gradients.

    It is eta_eff^2/N, so the first order of the noise has 1/(GPMK), and what (5) and (6) print is G times that.
    """
    settings, eta = Settings(topology, G=3, M=2, P=2, K=2), Q(1, 100)
    eta_eff = sum(weights(settings, eta))  # all gradients 1
    squares = sum(w**2 for w in weights(settings, eta))
    assert squares == eta_eff**2 / 24
    numbers = {"L": 1.0, "eta_eff": float(eta_eff) / 1e6, "G": 3.0, "P": 2.0, "M": 2.0, "K": 2.0, "sigma": 1.0}
    first_order = numbers["eta_eff"] * float(squares / eta_eff**2)
    assert of("zhou2025.D1", "proved", **numbers) == pytest.approx(first_order, rel=1e-5)
    assert of("zhou2025.D1", "printed", **numbers) == pytest.approx(3 * first_order, rel=1e-12)
    assert get(f"zhou2025.thm1.{topology}").split(A=1, R=1, zeta=0, delta=0, **numbers)["noise"] == pytest.approx(
        3 * first_order, rel=1e-12
    )


@proves("zhou2025.D1")
@pytest.mark.parametrize("topology", ["star-star", "star-ring"])
def test_d1_the_merged_terms_are_the_larger_ones_below_the_cap(topology: str) -> None:
    """The erratum says loose, not wrong: below L eta_eff = 1/12 what is printed is at least what is supported."""
    for groups, v in itertools.product((2, 5, 40), (1e-4, 0.02, 1 / 12)):
        numbers = {"L": 2.0, "eta_eff": v / 2, "G": float(groups), "P": 3.0, "M": 4.0, "K": 2.0, "sigma": 1.3}
        assert of("zhou2025.D1", "proved", **numbers) < of("zhou2025.D1", "printed", **numbers)


@proves("zhou2025.D1")
def test_d1_can_turn_the_order_of_the_hybrids_round() -> None:
    """Minima of a/e + b e + q e^2 by trying steps, L = sigma = 1, a = A/R, without heterogeneity."""
    G, M, K, a = 3, 50, 2, 2.3 / 5000

    def smallest(b: float, q: float) -> float:
        return min(a / e + b * e + q * e * e for e in (10 ** (-4 + i / 1000) for i in range(4000)))

    supported = smallest(1 / (G * M * K), 1 / (M * K)), smallest(1 / (G * M * K), 1 / (G**2 * K) + 1 / (G * M * K))
    printed = smallest(1 / (M * K), 0), smallest(1 / (G * M * K), 1 / (G * K) ** 2)
    assert supported[0] < supported[1]
    assert printed[0] > printed[1]
    numbers = {"G": G, "M": M, "P": 1, "K": K, "R": 5000, "L": 1, "A": 2.3, "sigma": 1, "zeta": 0, "delta": 0}
    tuned = [get(f"zhou2025.thm1.{t}").tuned(cap="none", **numbers).value for t in ("star-ring", "ring-star")]
    assert tuned == pytest.approx(printed, rel=1e-5)


def squared_bias(steps: int) -> float:
    """The squared gradient, over (L eta_eff sigma/K)^2, at which a star of every possible client stands still.

    2^K clients with the gradient L (3 x + |x|)/4, one for each sequence of K noise signs: the mean over these
    clients is exactly the mean over the noise. One round of the printed algorithm, again and again.
    """
    signs = list(itertools.product((-1.0, 1.0), repeat=steps))
    settings = Settings("star-star", G=1, M=len(signs), P=1, K=steps)
    smooth, eta = 1.0, 0.05 / steps  # L eta_eff = 0.05

    def gradient(g: int, p: int, m: int, k: int, x: float) -> float:
        return smooth * (3 * x + abs(x)) / 4 + signs[m][k]

    low, high = -1.0, 0.0
    while high - low > 1e-9 * eta:
        middle = (low + high) / 2
        low, high = (middle, high) if global_round(middle, settings, eta, gradient) > middle else (low, middle)
    still = (3 * low + abs(low)) / 4
    return (still / (smooth * eta)) ** 2


@proves("zhou2025.D2")
def test_d2_a_clients_own_noise_leaves_a_bias_with_one_k() -> None:
    """Over sigma^2/K^2, as (5), (7) and C.2 print it, the bias grows with K; over sigma^2/K it does not."""
    bias = {steps: squared_bias(steps) for steps in (2, 4, 8)}
    assert bias[4] > 2 * bias[2] > 0
    assert bias[8] > 2 * bias[4]
    assert bias[8] / 8 < 0.0125
    # the closed form of the erratum is this for normal noise and small steps, which sums of signs come close to
    assert [drift_of_noise(steps).found * steps**2 for steps in (4, 8)] == pytest.approx([bias[4], bias[8]], rel=0.15)
    assert drift_of_noise(8).found * 64 == pytest.approx(bias[8], rel=0.07)


@proves("zhou2025.D2")
def test_d2_one_k_is_what_counting_gives() -> None:
    """The local steps before a local step, summed over a round of a star, in units of T^2 samples."""
    G, P, M, K = 2, 3, 2, 5
    mean_square = Q(sum(k for _ in range(G * P * M) for k in range(K)), G * P * M * K)  # sigma = eta = 1
    over = mean_square / (P * K) ** 2
    assert over <= Q(1, 2) / (P**2 * K)
    assert over > 2 * Q(1, 2) / (P**2 * K**2)  # so K^2 is not its size, whatever the number in front
    printed, proved = (
        of("zhou2025.D2", side, L=1.0, eta_eff=1.0, P=P, K=K, sigma=1.0) for side in ("printed", "proved")
    )
    assert proved / printed == pytest.approx(1.1 * K, rel=1e-12)


@proves("zhou2025.D3")
def test_d3_the_theorem_tuned_without_a_lemma_decays_with_two_thirds() -> None:
    """(7) with only a client's own noise, minimised by trying steps: eight times the rounds divide it by four."""

    def smallest(rounds: float) -> float:
        steps = (10 ** (-6 + i / 2000) for i in range(9800))
        return min(2.3 / (step * rounds) + step**2 / 4.0 for step in steps)  # L = sigma = G = P = 1, K = 2

    ratio = smallest(1e6) / smallest(8e6)
    assert ratio == pytest.approx(4, rel=1e-4)
    numbers = {"L": 1.0, "A": 2.3, "G": 1.0, "P": 1.0, "K": 2.0, "sigma": 1.0}
    decay = {
        side: of("zhou2025.D3", side, R=1e6, **numbers) / of("zhou2025.D3", side, R=8e6, **numbers)
        for side in ("printed", "proved")
    }
    assert decay["proved"] == pytest.approx(ratio, rel=1e-4)
    assert decay["printed"] == pytest.approx(math.sqrt(8), rel=1e-9)


@proves("zhou2025.D4")
def test_d4_the_recursion_needs_more_than_16_and_21() -> None:
    """E <= B (d + u E) with u = 1/144, iterated from E = 0 in fractions until nothing is added."""
    for before, printed, exceeded in ((10, 11, False), (15, 16, True), (20, 21, True)):
        total, added = Q(0), Q(before)
        for _ in range(40):
            total, added = total + added, added * Q(before, 144)
        assert (total > printed) is exceeded
    numbers = {"L": 1.0, "delta": 1.0, "eta_eff": 1 / 12}
    assert 144 * of("zhou2025.D4", "printed", **numbers) == pytest.approx(16, rel=1e-12)
    assert 144 * of("zhou2025.D4", "proved", **numbers) == pytest.approx(15 * 144 / 129, rel=1e-12)


@proves("zhou2025.D5")
@pytest.mark.parametrize(
    ("topology", "drift"), [("star-star", 11), ("star-ring", 16), ("ring-star", 16), ("ring-ring", 21)]
)
def test_d5_five_twelfths_give_the_same_first_term_to_every_topology(topology: str, drift: int) -> None:
    numbers = {"G": 3, "P": 2, "M": 5, "K": 7, "L": 1, "A": 1, "R": 1, "sigma": 0, "zeta": 0, "delta": 1}
    split = get(f"zhou2025.thm1-proof.{topology}").split(eta_eff=0.01, **numbers)
    share = Q(5, 12)
    assert (split["start"] == pytest.approx(100 * float(1 / share))) is (topology == "star-star")
    supported = float(Q(drift, 2) / share) * 1e-4
    assert split["inter_drift"] < 0.96 * supported
    if topology == "ring-ring":
        numbers = {"L": 1.0, "A": 1.0, "R": 1.0, "eta_eff": 0.01}
        assert of("zhou2025.D5", "proved", delta=0.0, **numbers) == pytest.approx(100 * float(1 / share))
        assert of("zhou2025.D5", "printed", delta=0.0, **numbers) == pytest.approx(split["start"])
        last = of("zhou2025.D5", "proved", delta=1.0, **numbers) - of("zhou2025.D5", "proved", delta=0.0, **numbers)
        assert last == pytest.approx(supported)


@proves("zhou2025.D6")
def test_d6_a_group_that_drifts_takes_all_its_clients_along() -> None:
    """Losses +x and -x in two groups, by an exact run of Star-Star: more drift than Lemma 2 allows."""
    settings, eta = Settings("star-star", G=2, M=40, P=30, K=1), Q(1, 1000)
    seen: list[Q] = []
    global_round(
        Q(0),
        settings,
        eta,
        lambda g, p, m, k, x: Q(1 if g else -1),
        visit=lambda g, p, m, k, x: seen.append(x**2),
    )
    assert len(seen) == 2 * 40 * 30
    numbers = {"eta": float(eta), "G": 2.0, "M": 40.0, "P": 30.0, "K": 1.0, "delta": 1.0}
    assert float(sum(seen)) > of("zhou2025.D6", "printed", **numbers)
    assert float(sum(seen)) <= of("zhou2025.D6", "proved", **numbers)


@proves("zhou2025.D7")
@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_d7_the_weight_before_the_sum_is_squared(topology: str) -> None:
    settings, eta = Settings(topology, G=2, M=3, P=2, K=2), Q(1, 100)
    weight = {"star-star": Q(1, 6), "star-ring": Q(1, 2), "ring-star": Q(1, 3), "ring-ring": Q(1)}[topology]
    moved = global_round(Q(0), settings, eta, lambda g, p, m, k, x: Q(1))  # 24 gradients, all 1
    assert moved**2 == weight**2 * eta**2 * 24**2
    if topology == "star-star":
        numbers = {"L": 1.0, "eta": 0.01, "G": 2.0, "M": 3.0, "P": 2.0, "K": 2.0, "grad": 1.0}
        assert of("zhou2025.D7", "proved", **numbers) == pytest.approx(float(moved**2), rel=1e-12)
        assert of("zhou2025.D7", "printed", **numbers) == pytest.approx(6 * float(moved**2), rel=1e-12)


@proves("zhou2025.D8")
def test_d8_a_norm_is_not_compared_with_its_square() -> None:
    assert grad.dimension(DIMENSIONS) == sigma.dimension(DIMENSIONS)  # the norm of a difference of gradients
    assert grad.dimension(DIMENSIONS) != (sigma**2).dimension(DIMENSIONS)
    # In other units of the loss a norm that is below sigma^2 is above it.
    norm, deviation = 0.5, 1.0
    assert norm <= deviation**2
    assert not norm / 4 <= (deviation / 4) ** 2


@proves("zhou2025.D9", "zhou2025.D10")
@pytest.mark.parametrize(("erratum", "bound"), [("D9", "wang2022.hsgd-early"), ("D10", "jiang2024.hfl")])
def test_d9_d10_a_term_that_is_no_squared_gradient(erratum: str, bound: str) -> None:
    """In the table exactly one term of the row has other units, and it is the one that the erratum names."""
    printed, proved = ERRATA[f"zhou2025.{erratum}"].printed, ERRATA[f"zhou2025.{erratum}"].proved
    assert isinstance(printed, Expr)
    assert isinstance(proved, Expr)
    odd = [t for t in get(bound).terms.values() if t.dimension(DIMENSIONS) != PER_SQUARED_GRADIENT]
    assert odd == [printed]
    assert proved.dimension(DIMENSIONS) == PER_SQUARED_GRADIENT
    # and by numbers: a loss in other units, at the same point
    numbers = {"G": 5.0, "P": 2.0, "M": 3.0, "K": 7.0, "R": 100.0, "L": 2.0, "A": 1.5, "sigma": 0.8}
    tripled = numbers | {name: 3 * numbers[name] for name in ("L", "A", "sigma")}
    assert proved.value(tripled) == pytest.approx(9 * proved.value(numbers), rel=1e-12)
    assert printed.value(tripled) != pytest.approx(9 * printed.value(numbers), rel=1e-2)


@proves("zhou2025.D11")
def test_d11_like_clients_in_groups_that_differ_do_not_converge_freely() -> None:
    """Ring-Star over F = (x - 1)^2/2 and (x + 1)^2/2, two like clients each: zeta = sigma = 0 and delta = 1.

    The model stands still where the squared gradient is near (eta_eff)^2/16, however many rounds are run: a
    heterogeneity that only the inter-group term knows.
    """
    settings = Settings("ring-star", G=2, M=2, P=1, K=1)
    ratios = []
    for eta in (Q(1, 100), Q(1, 1000)):

        def pull(g: int, p: int, m: int, k: int, x: Q) -> Q:
            return x - (1 if g else -1)

        b = global_round(Q(0), settings, eta, pull)
        a = global_round(Q(1), settings, eta, pull) - b
        still = b / (1 - a)  # F' = x
        ratios.append(float(still**2 / (2 * eta) ** 2))
    assert ratios == pytest.approx([1 / 16, 1 / 16], rel=0.02)
    numbers = {"L": 1.0, "A": 1.0, "R": 1e4, "zeta": 0.0, "delta": 1.0}
    assert of("zhou2025.D11", "printed", **numbers) == 0
    assert of("zhou2025.D11", "proved", **numbers) > 0


@proves("zhou2025.D12")
def test_d12_group_rounds_tell_the_two_heterogeneities_apart() -> None:
    """Star-Star, K = 1: the drift of groups that differ grows with P, that of clients that differ within does not.

    So the coefficient without P is that of the inter-group heterogeneity, which the early version calls zeta.
    """

    def drift(groups_differ: bool, rounds: int) -> Q:
        settings = Settings("star-star", G=2, M=2, P=rounds, K=1)
        seen: list[Q] = []
        global_round(
            Q(0),
            settings,
            Q(1, 100),
            lambda g, p, m, k, x: Q(1 if (g if groups_differ else m) else -1),
            visit=lambda g, p, m, k, x: seen.append(x**2),
        )
        return sum(seen) / len(seen)

    assert drift(groups_differ=True, rounds=8) > 30 * drift(groups_differ=True, rounds=2) > 0
    assert drift(groups_differ=False, rounds=8) == 0
    bound = get("zhou2025.thm1.star-star")
    split = bound.split(G=2, M=2, P=8, K=1, L=1, A=1, R=1, sigma=0, zeta=1, delta=1, eta_eff=0.01)
    assert split["inter_drift"] == pytest.approx(64 * split["intra_drift"])
    assert bound.source.paper.notation["delta"] == r"\zeta"
    assert ERRATA["zhou2025.D12"] in bound.errata


@proves("zhou2025.D13")
def test_d13_the_mean_of_iterates_lies_off_the_curve_that_they_follow() -> None:
    """Ring-Ring of one client, which is gradient descent, half way round a circular valley in the complex plane.

    F = (|z| - 1)^2/2 minus a slight pull along the angle. Wherever it matters, for |z| >= 1/2, it is 2-smooth, and
    it can be continued as smoothly to the rest. The theorem's proof bounds the mean squared gradient over the
    rounds; the gradient at the mean of the iterates is far larger.
    """
    smooth, pull = 2.0, 0.01
    settings, eta = Settings("ring-ring", G=1, M=1, P=1, K=1), 1 / (12 * smooth)

    def gradient(z: complex) -> complex:
        return (abs(z) - 1) * z / abs(z) - pull * 1j * z / abs(z) ** 2

    z, iterates = 1 + 0j, []
    while z.imag >= 0:
        iterates.append(z)
        z = global_round(z, settings, eta, lambda g, p, m, k, x: gradient(x))
    assert all(abs(abs(z) - 1) < 0.01 for z in iterates)
    bound = 24 / 5 * pull * 3.2 / (eta * len(iterates))  # the loss falls by less than 3.2 pull on the way
    assert fmean(abs(gradient(z)) ** 2 for z in iterates) <= bound
    mean = sum(iterates) / len(iterates)
    assert 0.5 < abs(mean) < 0.75
    assert abs(gradient(mean)) ** 2 > 100 * bound


@proves("zhou2026.table1")
def test_table_1_of_the_camera_ready_leaves_out_the_powers_of_a() -> None:
    """Its rows are no squared gradients; Corollary 1 of the same paper, which prints all, tells the power of A."""
    erratum = ERRATA["zhou2026.table1"]
    assert isinstance(erratum.printed, Expr)
    assert isinstance(erratum.proved, Expr)
    assert erratum.proved.dimension(DIMENSIONS) == PER_SQUARED_GRADIENT
    for name in erratum.concerns:
        assert all(t.dimension(DIMENSIONS) != PER_SQUARED_GRADIENT for t in get(name).terms.values())
    n = {"G": 1, "P": 1, "M": 100, "K": 2, "R": 5000, "L": 1, "sigma": 1, "zeta": 0.5, "delta": 0.5}
    noise = [get("zhou2026.cor1.star-star").split(A=a, **n)["noise"] for a in (1, 4)]
    assert erratum.printed.value({k: float(x) for k, x in n.items()}) == pytest.approx(noise[0], rel=1e-12)
    assert erratum.proved.value({"A": 4.0, **{k: float(x) for k, x in n.items()}}) == pytest.approx(noise[1], rel=1e-12)
