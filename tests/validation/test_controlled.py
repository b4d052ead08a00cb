"""Problems with exact constants, and the theorems on them: a measured value above a proved bound fails the suite."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from hflbounds import get  # noqa: E402
from validation.algorithms.two_tier import two_tier  # noqa: E402
from validation.engine import ValidationError, generator, simulate  # noqa: E402
from validation.problems.controlled import Controlled, controlled  # noqa: E402
from validation.reference import TOPOLOGIES  # noqa: E402

SETTINGS = [
    {"G": 4, "M": 3, "L": 2.0, "A": 1.7, "sigma": 0.5, "zeta": 0.8, "delta": 0.3},
    {"G": 10, "M": 10, "L": 1.0, "A": 1.0, "sigma": 1.0, "zeta": 0.0, "delta": 2.0},
    {"G": 1, "M": 5, "L": 0.01, "A": 30.0, "sigma": 0.0, "zeta": 20.0, "delta": 0.0, "nonconvex": False},
    {"G": 5, "M": 1, "L": 10.0, "A": 0.1, "sigma": 2.0, "zeta": 0.0, "delta": 0.01, "curvature": 1.0},
    {"G": 3, "M": 2, "L": 1.0, "A": 5.0, "sigma": 0.1, "zeta": 1.0, "delta": 1.0, "curvature": 0.0},
]


def gradients(problem: Controlled, x: Any) -> Any:
    """Of every client at points (points, dim), by automatic differentiation of a literal loss: (points, G, M, dim)."""
    x = x.clone().requires_grad_()
    out = []
    for g, m in product(range(problem.G), range(problem.M)):
        loss = (problem.h * x**2 / 2 + problem.a[g, m] * torch.log(torch.cosh(x)) + problem.v[g, m] * x).sum()
        out.append(torch.autograd.grad(loss, x)[0])
    return torch.stack(out, 1).view(len(x), problem.G, problem.M, -1)


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("settings", SETTINGS)
def test_the_constants_are_what_was_asked_for(settings: dict[str, Any], seed: int) -> None:
    problem = controlled(**settings, seed=seed)
    for name, value in problem.constants.items():
        assert value == pytest.approx(settings[name], rel=1e-9, abs=1e-12), name


@pytest.mark.parametrize("settings", SETTINGS)
def test_no_point_exceeds_a_constant_and_some_come_close(settings: dict[str, Any]) -> None:
    """Gradients by automatic differentiation at many points, near and far; curvature by differences of gradients."""
    problem = controlled(**settings, seed=3)
    made = generator(11)
    points = torch.randn(400, len(problem.h), generator=made, dtype=torch.float64)
    points = torch.cat([points, 8 * points, problem.x0[None]])
    at = gradients(problem, points)
    groups = at.mean(2, keepdim=True)
    within = (at - groups).square().sum(-1).mean((1, 2)).max().sqrt()
    between = (groups - at.mean((1, 2), keepdim=True)).square().sum(-1).mean((1, 2)).max().sqrt()
    for found, name in ((within, "zeta"), (between, "delta")):
        assert float(found) <= settings[name] * (1 + 1e-9) + 1e-12
        assert float(found) >= 0.7 * settings[name]
    lengths = []
    for tiny in (1e-4, 1e-3):
        moved = points + tiny * torch.randn(points.shape, generator=made, dtype=torch.float64)
        change = (gradients(problem, moved) - at).norm(dim=-1) / (moved - points).norm(dim=-1)[:, None, None]
        lengths.append(float(change.max()))
    assert max(lengths) <= settings["L"] * (1 + 1e-6)
    assert max(lengths) >= 0.3 * settings["L"]


@pytest.mark.parametrize("settings", SETTINGS)
def test_the_minimum_is_lower_than_everything_seen(settings: dict[str, Any]) -> None:
    problem = controlled(**settings, seed=4)
    made = generator(12)
    points = problem.minimum + torch.randn(2000, len(problem.h), generator=made, dtype=torch.float64) * torch.logspace(
        -3, 2, 2000, dtype=torch.float64
    ).unsqueeze(1)
    assert float(problem.loss(points).min()) >= problem.lowest
    measured = problem.measure((problem.minimum[None],))
    assert float(measured["gradient"]) < 1e-20 * max(1.0, settings["L"])
    assert float(measured["gap"]) == pytest.approx(0, abs=1e-12)
    assert float(problem.measure((problem.x0[None],))["gap"]) == pytest.approx(settings["A"], rel=1e-9)


def test_noise_has_the_variance_it_should_and_is_shared_by_topologies() -> None:
    problem = controlled(G=4, M=5, sigma=1.5, dim=7)
    drawn = problem.draws([3, 8], (0, 1), 400)
    assert drawn.shape == (2, 20, 400, 7)
    size = drawn.square().sum(-1)
    spread = float(size.std() / math.sqrt(size.numel()))
    assert abs(float(size.mean()) - 1.5**2) < 4 * spread
    assert torch.equal(problem.draws([8], (0, 1), 400)[0], drawn[1])
    assert not torch.equal(problem.draws([8], (1, 1), 400)[0], drawn[1])


@pytest.mark.parametrize(
    ("what", "told"),
    [
        ({"zeta": 1.0, "M": 1}, "zeta = 1.0 with M = 1: a single one differs from nothing"),
        ({"delta": 1.0, "G": 1}, "delta = 1.0 with G = 1"),
        ({"L": 0.0}, "L = 0.0 must be a finite number above 0"),
        ({"sigma": -1.0}, "sigma = -1.0"),
        ({"A": math.nan}, "A = nan"),
        ({"curvature": 2.0}, "curvature = 2.0 must be from 0 to 1"),
        ({"dim": 0}, "dim = 0 must be at least 1"),
    ],
)
def test_what_cannot_be_made_is_refused(what: dict[str, Any], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        controlled(**({"G": 3, "M": 3} | what))


# ------------------------------------------------------------------------------------ theorems against runs

SHARES = (0.05, 0.2, 0.5, 0.8, 0.97)  # of the largest step that the theorem allows
ROUNDS, SEEDS = 6, 6
FAMILIES = {
    "fixed": ("hflbounds.sharp", "zhou2026.thm1-proof"),
    "random": ("hflbounds.sharp-shuffle", "zhou2026.shuffle-proof"),
}


def cells(order: str, problems: int, first: int) -> tuple[int, float]:
    """How many cells were run, and the largest measured value over its bound, three standard errors given away."""
    count, worst = 0, 0.0
    for seed in range(first, first + problems):
        made = generator(seed, 21)

        def pick(*choices: float, made: Any = made) -> float:
            return choices[int(torch.randint(len(choices), (1,), generator=made))]

        G, M = int(pick(1, 2, 5)), int(pick(1, 2, 4))
        P, K = int(pick(1, 2, 3)), int(pick(1, 2, 4))
        constants = {"L": pick(0.3, 1, 4), "A": pick(0.01, 1, 10), "sigma": pick(0, 0.3, 2)}
        constants |= {"zeta": pick(0, 0.5, 3) if M > 1 else 0.0, "delta": pick(0, 0.5, 3) if G > 1 else 0.0}
        problem = controlled(G=G, M=M, seed=seed, dim=4, **constants)
        known = {"G": G, "M": M, "P": P, "K": K, "R": ROUNDS, **constants}
        for topology in TOPOLOGIES:
            algorithm = two_tier(topology=topology, G=G, M=M, P=P, K=K, order=order)
            for family in FAMILIES[order]:
                bound = get(f"{family}.{topology}")
                cap = bound.requires[0].rhs.value(constants)
                steps = [share * cap for share in SHARES]
                rates = [step / algorithm.local_steps_per_round() for step in steps for _ in range(SEEDS)]
                trace = simulate(problem, algorithm, rates, list(range(SEEDS)) * len(SHARES), ROUNDS, every_round=True)
                seen = trace.averages["gradient"][:, -1].view(len(SHARES), SEEDS)
                for step, runs in zip(steps, seen, strict=True):
                    value = bound(**known, eta_eff=step)
                    low = float(runs.mean() - 3 * runs.std() / math.sqrt(SEEDS))
                    worst = max(worst, low / value)
                    count += 1
    return count, worst


@pytest.mark.parametrize("order", list(FAMILIES))
def test_no_run_exceeds_a_bound_with_explicit_constants(order: str) -> None:
    count, worst = cells(order, problems=3, first=0)
    assert count == 120
    assert 0.05 < worst <= 1  # it holds, and is not empty


@pytest.mark.slow
@pytest.mark.parametrize("order", list(FAMILIES))
def test_no_run_of_thousands_exceeds_a_bound_with_explicit_constants(order: str) -> None:
    count, worst = cells(order, problems=150, first=1000)
    print(f"\n{count} cells, largest measured/bound {worst:.3f}")
    assert count >= 6000
    assert worst <= 1
