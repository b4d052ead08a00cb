"""HGA-FL: reference points, runs of the asynchronous algorithm, limits, and the lines of its proof."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction as Q
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from hflbounds import Bound, ConditionError, catalogue, get
from hflbounds.audit.checks import Verdict
from hflbounds.catalog import own_hga, xie2024
from hflbounds.derive import Result
from hflbounds.derive.xie2024 import LINES
from hflbounds.registry import errata

OURS = [b for b in catalogue().values() if b.id.startswith("xie2024.") or b.id == "hflbounds.hga-repaired"]
repaired, thm1 = get("hflbounds.hga-repaired"), get("xie2024.thm1")

# Computed by another hand, twice, from the printed formulas. L, R, M, K, alpha, eta_g, Gamma, zeta, sigma_s^2,
# sigma_g^2, A, T; then C, eta_hat, B, (67), (68), (63), second term of (69), (69), (70), (71), repaired.
POINTS = """
1,1,1,1,49,1,0,0,1,0,1,1000 | 2.000000000e+00 4.081632653e-02 35 4.898979486e+01 2.449489743e+01 -3.083114231e-01 \
2.915451895e-01 3.762446005e-01 1.916652033e+02 1.663358049e+01 inf
2,1,1,1,155,0.001,0,0,1,0,1,1e12 | 3.162277660e+00 2.040179136e-02 35 1.549193338e+02 2.449489743e+01 \
-1.606602053e-04 -5.827263267e-01 -5.826548967e-01 -1.399991598e+03 8.401000000e-03 inf
1,8,8,3,800,0.1,5,8,1,1,1,10000 | 2.000000000e+00 2.500000000e-03 1695 3.919183588e+02 9.378773951e-01 \
-1.586980768e-02 1.412500000e-01 4.050494200e-01 4.980650826e+04 4.133150622e+04 inf
0.5,4,8,3,500,0.05,3,5,1,1,1,10000 | 1.581138830e+00 3.162277660e-03 855 7.745966692e+01 1.518733796e+00 \
-5.056129211e-03 3.562500000e-02 3.637820187e-01 2.820164681e+03 1.482867940e+02 1.642662360e+01
0.0072,8,8,3,2,0.1,20,20,1,1,1,200 | 1.414250218e+00 7.071251092e-01 1695 1.995374248e+00 2.723346267e-01 \
-3.845963402e+00 2.330635707e+00 7.137705042e+00 3.606368988e+00 1.844049061e+00 inf
1,5,8,4,1000,0.5,2,4,0.5,2,3,50000 | 2.000000000e+00 2.000000000e-03 1100 2.449489743e+02 2.071493605e+00 \
-3.965407750e-02 1.375000000e-02 4.808882500e-01 3.341250800e+03 5.912478000e+02 2.426374260e+01
1,2,4,4,400,0.2,0,1,2,0.5,1,20000 | 2.000000000e+00 5.000000000e-03 260 9.797958971e+01 9.562518994e+00 \
-1.595466928e-02 3.250000000e-02 9.781656000e-02 2.768647000e+03 1.686445000e+02 1.685046729e-01
3,2,10,10,700,0.05,4,9,1,1,10,1e6 | 4.472135955e+00 6.388765650e-03 650 6.572670690e+02 9.961981425e-01 \
-5.020358195e-03 -1.193877551e+00 -1.093166530e+00 -1.152330589e+05 3.101693885e+04 inf
0.3,10,20,2,1000,0.3,8,16,1,4,2,100000 | 1.476482306e+00 1.476482306e-03 4930 1.084988479e+02 5.353187130e-01 \
-3.526467721e-02 7.496311500e-02 2.517135910e+00 6.979652870e+03 1.023014556e+02 3.907472849e+02
1,20,5,2,1000,0.01,10,20,1,1,1,100000 | 2.000000000e+00 2.000000000e-03 2650 9.797958971e+02 4.292022884e-01 \
-3.149132672e-03 5.300000000e-01 6.115460800e-01 6.496790100e+04 5.171790050e+04 inf
"""
NAMES = ["L", "R_sub", "M", "K_buf", "alpha_dyn", "eta_g", "Gamma_max", "zeta_max", "sigma_s", "sigma_g", "A", "T"]


def _points() -> list[tuple[dict[str, float], list[float]]]:
    found = []
    for line in POINTS.strip().splitlines():
        left, right = line.split("|")
        values = dict(zip(NAMES, map(float, left.split(",")), strict=True))
        values["sigma_s"], values["sigma_g"] = math.sqrt(values["sigma_s"]), math.sqrt(values["sigma_g"])
        found.append((values, [float(number) for number in right.split()]))
    return found


@pytest.mark.parametrize(("values", "expected"), _points(), ids=lambda part: "")
def test_reference_points(values: dict[str, float], expected: list[float]) -> None:
    found = [
        xie2024.C.value(values),
        math.sqrt(get("xie2024.prop1")(**values)),
        xie2024.B.value(values),
        thm1.requires[0].rhs.value(values),
        thm1.requires[1].rhs.value(values),
        get("xie2024.eq63")(**values),
        thm1.split(**values)["drift"],
        thm1(**values),
        get("xie2024.cor1")(**values),
        get("xie2024.rate")(**values),
    ]
    assert found == pytest.approx(expected[:-1], rel=1e-9)
    if math.isinf(expected[-1]):
        with pytest.raises(ConditionError, match=r"it requires .* but .* = \d"):
            repaired(**values)
    else:
        assert repaired(**values) == pytest.approx(expected[-1], rel=1e-9)


def test_the_audit_passes(verdicts_of: Callable[[Iterable[Bound]], list[Verdict]]) -> None:
    verdicts = verdicts_of(OURS)
    assert len(OURS) == 16
    assert not [v for v in verdicts if v.failure]
    assert {v.subject for v in verdicts if v.check == "steps"} >= {
        *(b.id for b in OURS if b.id not in ("xie2024.eq40", "xie2024.eq41"))
    }


def test_every_line_is_as_recorded(results: Mapping[str, Result]) -> None:
    known = {erratum.id for erratum in errata()}
    mine = [results[line.id] for line in LINES]
    assert not [r.line.id for r in mine if not r.as_recorded]
    assert {r.line.erratum for r in mine if r.line.erratum} <= known
    assert sum(r.finding.verdict == "holds" for r in mine) == 19


# ---------------------------------------------------------------- the algorithm itself
@dataclass
class Server:
    """Asynchronous centers on quadratics with one Hessian, many runs at once; one order of arrival for all.

    The direction is ``(2/K) sum of the buffer - mean of the cache``; a center that arrived waits for its buffer
    to fill, then begins again from the new model. The cache is filled at the first model.
    """

    speeds: tuple[float, ...]
    buffer: int
    rounds: int
    server_rate: float
    rate: float
    noise: float  # standard deviation of a stochastic gradient's length
    centers: NDArray[np.float64]  # (M, dimension): minimisers
    hessian: NDArray[np.float64]  # (dimension,): its diagonal
    first: NDArray[np.float64]  # (runs, dimension)
    buffer_delay: int = 0
    cache_delay: int = 0
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(5))

    def update(self, j: int, model: NDArray[np.float64]) -> NDArray[np.float64]:
        now = model.copy()
        for _ in range(self.rounds):
            gradient = self.hessian * (now - self.centers[j])
            if self.noise:
                gradient = gradient + self.rng.normal(0, self.noise / math.sqrt(now.shape[1]), now.shape)
            now -= self.rate * gradient
        return model - now

    def gradient(self, model: NDArray[np.float64]) -> NDArray[np.float64]:
        return self.hessian * (model - self.centers.mean(0))

    def run(self, steps: int) -> float:
        """Mean squared gradient over the models before each global step, and over the runs."""
        many = len(self.speeds)
        model, total = self.first.copy(), 0.0
        cache = [self.update(j, model) for j in range(many)]
        cached_at, began_at, began = [0] * many, [0] * many, [model] * many
        clock = [(1 / speed, j) for j, speed in enumerate(self.speeds)]
        heapq.heapify(clock)
        for step in range(steps):
            total += float((self.gradient(model) ** 2).sum(1).mean())
            arrived: list[int] = []
            while len(arrived) < self.buffer:
                now, j = heapq.heappop(clock)
                arrived.append(j)
            summed = np.zeros_like(model)
            for j in arrived:
                cache[j] = self.update(j, began[j])
                cached_at[j] = began_at[j]
                summed = summed + cache[j]
                self.buffer_delay = max(self.buffer_delay, step - began_at[j])
            self.cache_delay = max(self.cache_delay, step - min(cached_at))
            model = model - self.server_rate * (2 / self.buffer * summed - sum(cache) / many)
            for j in arrived:
                began[j], began_at[j] = model, step + 1
                heapq.heappush(clock, (now + 1 / self.speeds[j], j))
        return total / steps

    def scenario(self, steps: int) -> dict[str, float]:
        """What the bounds need, known exactly; delays as they were seen."""
        gaps = self.hessian * (self.centers - self.centers.mean(0))
        start = self.hessian * (self.first - self.centers.mean(0)) ** 2 / 2
        return {
            "L": float(self.hessian.max()),
            "R_sub": self.rounds,
            "M": len(self.speeds),
            "K_buf": self.buffer,
            "eta_g": self.server_rate,
            "eta_sub": self.rate,
            "Gamma_max": self.buffer_delay,
            "zeta_max": self.cache_delay,
            "sigma_s": self.noise,
            "sigma_g": math.sqrt(float((gaps**2).sum(1).mean())),
            "A": float(start.sum(1).mean()) + 1e-12,
            "T": steps,
        }


def server(seed: int, **changes: Any) -> Server:
    rng = np.random.default_rng(seed)
    many = int(rng.integers(2, 7))
    smooth = float(rng.choice([0.3, 1.0, 4.0]))
    rounds = int(rng.integers(1, 5))
    settings: dict[str, Any] = {
        "speeds": tuple(float(v) for v in rng.choice([1.0, 1.3, 2.0], many)),
        "buffer": int(rng.integers((many + 1) // 2, many + 1)),
        "rounds": rounds,
        "server_rate": float(rng.uniform(0.5, 2.0)),
        "rate": 0.006 / (rounds * smooth),
        "noise": float(rng.choice([0.0, 0.5, 3.0])),
        "centers": rng.normal(0, rng.choice([0.0, 0.3, 1.0]), (many, 3)),
        "hessian": smooth * np.array([1.0, 0.4, 0.1]),
        "first": np.repeat(rng.normal(0, 1, (1, 3)), 40, axis=0),
        "rng": rng,
    }
    return Server(**{**settings, **changes})


def test_runs_stay_below_the_bound_and_come_near_it() -> None:
    over = []
    for seed in range(12):
        system, steps = server(seed), 400
        measured = system.run(steps)
        values = system.scenario(steps)
        assert repaired.applies(**values), repaired.violations(**values)
        over.append(measured / repaired(**values))
    assert max(over) < 1
    assert max(over) > 0.15  # of the size of what is measured, somewhere


def test_unequal_arrivals_break_the_theorem_and_not_the_repaired_bound() -> None:
    two = Server((2.99, 1.0), 1, 1, 0.1, 0.01, 0.0, np.array([[1.0], [-1.0]]), np.ones(1), np.zeros((1, 1)))
    measured = two.run(20_000)
    values = {**two.scenario(20_000), "alpha_dyn": 200.0}
    assert (values["Gamma_max"], values["zeta_max"]) == (3, 6)
    assert two.rate == pytest.approx(xie2024.eta_hat.value(values))
    assert measured > 0.9
    assert measured > 25 * thm1(**values)
    assert measured < repaired(**values)
    assert repaired.split(**values)["floor"] > 8


def test_plain_sgd_breaks_the_theorem_and_not_the_repaired_bound() -> None:
    step = 1e-4
    still = step / (2 - step)
    first = np.random.default_rng(1).normal(0, math.sqrt(still), (4000, 1))
    one = Server((1.0,), 1, 1, 1.0, step, 1.0, np.zeros((1, 1)), np.ones(1), first)
    measured = one.run(200)
    values = {**one.scenario(200), "alpha_dyn": 20_000.0}
    assert measured == pytest.approx(still, rel=0.1)
    assert one.rate == pytest.approx(xie2024.eta_hat.value(values))
    long = {**values, "T": 1e12}  # the second moment stays where it is, so this is the mean over any time
    assert measured > 20 * thm1(**long)
    assert measured < repaired(**long)


def test_unequal_arrivals_break_the_corollary_where_its_step_sizes_are_allowed() -> None:
    smooth, steps = 1 / 25, 20_000  # 600 K R L^2 = 0.96, eta_hat = sqrt(K/R) = 1
    rate = 1 / math.sqrt(steps)
    two = Server((2.99, 1.0), 1, 1, rate, 1.0, 0.0, np.array([[1.0], [-1.0]]), np.full(1, smooth), np.zeros((1, 1)))
    measured = two.run(steps)
    values = {**two.scenario(steps), "alpha_dyn": math.sqrt(2 + 2 * smooth**2)}
    assert thm1.applies(**values)
    assert two.rate == pytest.approx(xie2024.eta_hat.value(values))
    assert measured > 50 * max(get("xie2024.cor1")(**values), get("xie2024.rate")(**values), thm1(**values))
    assert measured < 8 * values["sigma_g"] ** 2


# ---------------------------------------------------------------- limits and pieces of the proof
SCENARIO: dict[str, float] = {
    **{"L": 1, "R_sub": 2, "M": 6, "K_buf": 3, "eta_g": 0.5, "eta_sub": 0.001, "Gamma_max": 3, "zeta_max": 5},
    **{"sigma_s": 1, "sigma_g": 1, "A": 1, "T": 1000},
}


def test_a_full_buffer_has_no_floor_and_no_delay_no_delayed_noise() -> None:
    assert repaired.split(**SCENARIO)["floor"] > 8
    assert repaired.split(**{**SCENARIO, "K_buf": 6})["floor"] == 0
    now = repaired.split(**{**SCENARIO, "Gamma_max": 0, "zeta_max": 0})
    assert (now["cached_noise"], now["delayed_noise"]) == (0, 0)
    assert now["noise"] > 0
    still = repaired.split(**{**SCENARIO, "sigma_s": 0, "sigma_g": 0})
    assert sum(still.values()) == still["start"]


def test_without_delays_the_largest_server_rate_is_finite() -> None:
    point = {"Gamma_max": 0.0, "zeta_max": 0.0}
    assert thm1.requires[1].rhs.value(point) == pytest.approx(10 * math.sqrt(6))
    for delay in (1, 7, 10_000):
        s = Q(5 * delay**2)
        printed = 5 * math.sqrt(6) * (math.sqrt(16 * s + 1) - 1) / (4 * float(s))
        point = {"Gamma_max": float(delay), "zeta_max": float(delay)}
        assert thm1.requires[1].rhs.value(point) == pytest.approx(printed, rel=1e-9)


def test_the_step_follows_from_feddyns_coefficient_where_it_is_not_given() -> None:
    values = {n: v for n, v in SCENARIO.items() if n != "eta_sub"}
    assert repaired(**values, alpha_dyn=2000) == repaired(**SCENARIO)  # sqrt(4)/2000
    with pytest.raises(TypeError, match="eta_sub"):
        repaired(**values)


def test_the_condition_of_the_drift_is_implied() -> None:
    """360 (2M/K + zeta + 1) u < 1 asks more than u <= 1/64, because K <= M."""
    names, condition = ("R_sub", "L", "eta_sub", "M", "K_buf", "zeta_max"), repaired.requires[1]
    loosest = dict(zip(names, (1.0, 1.0, 1 / math.sqrt(1080), 1.0, 1.0, 0.0), strict=True))
    assert condition.lhs.value(loosest) == pytest.approx(1)
    assert loosest["eta_sub"] < 1 / 8
    assert own_hga.lost is condition.lhs


@pytest.mark.parametrize("rounds", [1, 2, 5, 12])
def test_drift_of_exact_runs(rounds: int) -> None:
    """A center's squared drift on L w^2/2, in fractions: mean and variance of an affine recursion."""
    smooth, rate, noise2, base = Q(3), Q(1, 8 * rounds * 3), Q(2), Q(1)
    mean, variance = base, Q(0)
    values = {"L": 3, "R_sub": rounds, "M": 1, "K_buf": 1, "sigma_g": 0, "sigma_s": math.sqrt(2)}
    bound = get("xie2024.eq38")(**values, eta_sub=float(rate), grad=float(smooth * base))
    for _ in range(rounds):
        assert float((mean - base) ** 2 + variance) <= bound
        mean -= rate * smooth * mean
        variance = (1 - rate * smooth) ** 2 * variance + rate**2 * noise2


def test_corrected_sums_of_gradients_hold_where_the_printed_ones_fail() -> None:
    values = {"L": 1e-3, "R_sub": 2, "M": 1, "K_buf": 1, "eta_sub": 1, "sigma_s": 1, "sigma_g": 0, "grad": 0}
    exact = 1e-6  # of the sum of two gradients of L w^2/2 along one noisy step from 0
    for name in ("xie2024.eq40", "xie2024.eq41"):
        assert get(name)(**values) < exact < get(f"{name}-corrected")(**values)
