"""Problems of several kinds: losses by plain loops, gradients by automatic differentiation, constants by formulas."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from validation.algorithms.two_tier import two_tier  # noqa: E402
from validation.engine import ValidationError, generator, simulate  # noqa: E402
from validation.experiment import make_problem, part  # noqa: E402
from validation.problems.factorisation import factorisation  # noqa: E402
from validation.problems.flat_start import flat_start  # noqa: E402
from validation.problems.least_squares import least_squares  # noqa: E402
from validation.problems.multiplicative import multiplicative  # noqa: E402
from validation.problems.power_law import power_law  # noqa: E402
from validation.problems.student import student  # noqa: E402
from validation.problems.vectors import Vectors  # noqa: E402

UNLIKE = {"G": 3, "M": 2, "intra": 0.7, "inter": 0.4, "seed": 5}


def half_squares(problem: Any, client: int, x: Any) -> Any:
    some = zip(problem.inputs[client], problem.targets[client], strict=True)
    return sum((sum(a * b for a, b in zip(row, x, strict=True)) - y) ** 2 for row, y in some) / 2 / 24


def half_entries(problem: Any, client: int, x: Any) -> Any:
    found = 0.0
    for i in range(7):
        for j in range(6):
            said = sum(x[2 * i + k] * x[14 + 2 * j + k] for k in range(2))
            found = found + (said - problem.matrices[client, i, j]) ** 2
    return found / 2 / 42


def robust(problem: Any, client: int, x: Any) -> Any:
    found = 0.0
    for way, weight, centre in zip(problem.directions, problem.weights, problem.centres[client], strict=True):
        found = found + weight * torch.log(1 + ((way * x).sum() - centre) ** 2) / 2
    return found


def taught(problem: Any, client: int, x: Any) -> Any:
    found = 0.0
    for row, y in zip(problem.inputs[client], problem.targets[client], strict=True):
        said = sum(x[24 + k] * torch.tanh((x[6 * k : 6 * k + 6] * row).sum()) for k in range(4))
        found = found + (said - y) ** 2
    return found / 2 / 12 + 0.005 * (x**2).sum()


def quadratic(problem: Any, client: int, x: Any) -> Any:
    return sum(h * z**2 / 2 + v * z for h, v, z in zip(problem.h, problem.v[client], x, strict=True))


def log_cosh(problem: Any, client: int, x: Any) -> Any:
    return (problem.h[client] * torch.log(torch.cosh(x - problem.p[client]))).sum()


KINDS: dict[str, tuple[Callable[..., Vectors], Callable[[Any, int, Any], Any]]] = {
    "least-squares": (least_squares, half_squares),
    "factorisation": (factorisation, half_entries),
    "flat-start": (flat_start, robust),
    "student": (student, taught),
    "power-law": (power_law, quadratic),
    "multiplicative": (multiplicative, log_cosh),
}


@cache
def unlike(kind: str) -> Vectors:
    """The problem of several tests, which look for its least loss once."""
    return KINDS[kind][0](**UNLIKE)


def every_draw(problem: Any, kind: str) -> Any:
    """Draws, one for each local step, whose gradients have the full gradient as their mean."""
    samples = {"least-squares": 24, "student": 12, "factorisation": 42}.get(kind, 1)
    if kind == "factorisation":
        return torch.eye(42, dtype=torch.float64).view(1, 1, 42, 7, 6).expand(1, 6, -1, -1, -1) * problem.batch
    if samples > 1:
        return torch.arange(samples)[:, None].expand(1, 6, -1, problem.batch)
    return torch.full((1, 6, 1, len(problem.x0)), 1.0 if kind == "multiplicative" else 0.0, dtype=torch.float64)


@pytest.mark.parametrize("kind", KINDS)
def test_losses_are_the_literal_ones_and_gradients_their_derivatives(kind: str) -> None:
    literal, problem = KINDS[kind][1], unlike(kind)
    points = problem.x0 + torch.randn(2, len(problem.x0), generator=generator(1), dtype=torch.float64)
    drawn = every_draw(problem, kind)
    for client in range(problem.clients):
        for x in points:
            at = x.clone().requires_grad_()
            loss = literal(problem, client, at)
            (slope,) = torch.autograd.grad(loss, at)
            assert float(problem.losses(x)[client]) == pytest.approx(float(loss.detach()), rel=1e-12)
            steps = [
                problem.gradients((x[None],), torch.tensor([client]), torch.tensor([0]), drawn, step)[0][0]
                for step in range(drawn.shape[2])
            ]
            assert torch.allclose(torch.stack(steps).mean(0), slope, rtol=1e-10, atol=1e-12)
    assert torch.allclose(problem.losses(points), torch.stack([problem.losses(x) for x in points]))
    seen = problem.measure((points,))
    at = points.clone().requires_grad_()
    mean = sum(literal(problem, client, x) for client in range(6) for x in at) / 6
    (slopes,) = torch.autograd.grad(mean, at)
    assert torch.allclose(seen["gradient"], slopes.square().sum(1), rtol=1e-9)
    assert float((seen["gap"] + problem.lowest).sum()) == pytest.approx(float(mean.detach()), rel=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_stochastic_gradients_are_unbiased_and_their_spread_is_sigma(kind: str) -> None:
    problem = unlike(kind)
    x = problem.x0 + 0.1
    drawn, everyone = problem.draws([7], (3,), 1000), torch.arange(6)
    models, first = (x.expand(6, -1),), torch.zeros(6, dtype=torch.long)
    found = torch.stack([problem.gradients(models, everyone, first, drawn, step)[0] for step in range(1000)])
    at = x.expand(6, -1).clone().requires_grad_()
    (own,) = torch.autograd.grad(problem.losses(at).diagonal().sum(), at)
    spread = found.std(0) / math.sqrt(1000)
    assert bool(((found.mean(0) - own).abs() <= 4.5 * spread + 1e-12).all())
    sigma2 = (found - own).square().sum(-1)
    within = float(sigma2.std() / math.sqrt(400) + sigma2.std() / math.sqrt(6000))
    assert abs(problem.constants_at(x)["sigma"] ** 2 - float(sigma2.mean())) < 5 * within


@pytest.mark.parametrize("kind", KINDS)
def test_draws_are_of_seed_and_time_alone(kind: str) -> None:
    problem = unlike(kind)
    both = problem.draws([3, 8], (0, 1), 4)
    assert torch.equal(problem.draws([8], (0, 1), 4)[0], both[1])
    assert not torch.equal(problem.draws([8], (1, 1), 4)[0], both[1])
    assert not torch.equal(both[0], both[1])


@pytest.mark.parametrize("kind", KINDS)
def test_the_least_loss_is_a_minimum_and_below_what_is_near(kind: str) -> None:
    problem = unlike(kind)
    best = min(problem.minima, key=lambda x: float(problem.slopes(x[None])[0]))
    seen = problem.measure((best[None],))
    start = problem.measure((problem.x0[None],))
    assert float(seen["gradient"]) < 1e-9 * float(start["gradient"])
    made = generator(2)
    around = best + torch.randn(500, len(best), generator=made, dtype=torch.float64) * torch.logspace(
        -4, 0.5, 500, dtype=torch.float64
    ).unsqueeze(1)
    assert float(problem.measure((around,))["gap"].min()) >= -1e-12
    assert float(start["gap"]) > 0


SHAPE = {"G": 3, "M": 3}


def many(kind: str) -> dict[str, int]:
    """Samples enough that those that clients drew make little difference."""
    return {"samples": 60} if kind in ("least-squares", "student") else {}


@cache
def of_like_clients(kind: str) -> dict[str, float]:
    """Constants at the best point; kept, as each is compared with twice."""
    alike = KINDS[kind][0](**SHAPE, **many(kind), seed=1)
    return alike.constants_at(alike.minima[0])


@pytest.mark.parametrize(
    ("kind", "name"),
    [  # every kind by one of the two
        pytest.param(kind, name, marks=pytest.mark.slow if (i + j) % 2 else ())
        for i, kind in enumerate(KINDS)
        for j, name in enumerate(("intra", "inter"))
    ],
)
def test_what_is_asked_for_differs_and_nothing_else(kind: str, name: str) -> None:
    """Intra moves zeta most, inter delta; like clients have like losses, but for the samples that they drew."""
    problem = KINDS[kind][0](**SHAPE, **{name: 0.8}, **many(kind), seed=1)
    best = problem.minima[0]
    told, none = problem.constants_at(best), of_like_clients(kind)
    mine, other = ("zeta", "delta") if name == "intra" else ("delta", "zeta")
    assert told[mine] > 2 * none[mine] + 1e-3
    assert told[mine] > told[other]
    if kind not in ("least-squares", "student"):
        assert max(none["zeta"], none["delta"]) < 1e-9


def test_constants_of_least_squares_are_those_of_the_covariances() -> None:
    problem = least_squares(G=2, M=2, intra=0.5, inter=0.5)
    told = problem.constants_at(problem.x0)
    ends = [float(torch.linalg.eigvalsh(a.T @ a / 24)[-1]) for a in problem.inputs]
    assert told["L"] == pytest.approx(max(ends), rel=1e-10)
    whole = sum(a.T @ a / 24 for a in problem.inputs) / 4
    assert told["mean_L"] == pytest.approx(float(torch.linalg.eigvalsh(whole)[-1]), rel=1e-10)
    own = torch.stack([-a.T @ y / 24 for a, y in zip(problem.inputs, problem.targets, strict=True)])
    groups = torch.stack([(own[0] + own[1]) / 2, (own[2] + own[3]) / 2])
    zeta2 = sum((own[c] - groups[c // 2]).square().sum() for c in range(4)) / 4
    assert told["zeta"] == pytest.approx(float(zeta2.sqrt()), rel=1e-10)
    assert told["delta"] == pytest.approx(float((groups[0] - groups[1]).norm()) / 2, rel=1e-10)
    aside = sum(a.T @ y / 24 for a, y in zip(problem.inputs, problem.targets, strict=True)) / 4
    assert torch.allclose(problem.minima[0], torch.linalg.solve(whole, aside), rtol=1e-6)


@pytest.mark.parametrize("along", [-1.0, 0.0, 1.0])
def test_a_power_law_has_the_constants_that_were_asked_for(along: float) -> None:
    problem = power_law(G=4, M=3, intra=0.6, inter=1.7, sigma=0.8, along=along, noisy=0.5, begun=0.3, seed=2)
    told = problem.constants_at(problem.x0)
    assert (told["zeta"], told["delta"]) == pytest.approx((0.6, 1.7), rel=1e-10)
    assert (told["L"], told["mean_L"]) == pytest.approx((1.0, 1.0), rel=1e-10)
    assert float(problem.noise.square().sum()) == pytest.approx(0.8**2, rel=1e-12)
    assert problem.lowest == pytest.approx(0, abs=1e-12)
    assert float(problem.measure((problem.x0[None],))["gap"]) == pytest.approx(1.0, rel=1e-9)


def test_tilts_lie_along_the_curvature_or_against_it() -> None:
    def steep(along: float) -> float:
        problem = power_law(G=60, M=4, dim=40, intra=1.0, inter=1.0, along=along)
        return float(problem.v[:, :10].square().sum() / problem.v.square().sum())

    assert steep(1.0) > 0.7
    assert steep(0.0) == pytest.approx(0.25, abs=0.04)
    assert steep(-1.0) < 0.06


def test_noise_in_proportion_shrinks_with_the_gradient() -> None:
    problem = multiplicative(G=2, M=2, share=2.0)
    far, near = problem.constants_at(problem.x0), problem.constants_at(problem.minima[0] + 1e-3)
    assert far["sigma"] == pytest.approx(2.0 * float(problem.slopes(problem.x0[None])[1].norm()), rel=0.15)
    assert near["sigma"] < 0.01 * far["sigma"]


def test_a_round_of_rings_is_the_literal_one() -> None:
    problem = make_problem(part("student", **UNLIKE))
    found = simulate(problem, two_tier(topology="ring-star", G=3, M=2, K=2), [0.3], [4], 2, at=[2])
    x = problem.start()[0][0].clone()
    for r in range(2):
        for g in range(3):
            ends = []
            for m in range(2):
                drawn = problem.draws([4], (r, 0), 2)
                at = x.clone()
                for k in range(2):
                    rows = drawn[0, 2 * g + m, k]
                    moved = at.clone().requires_grad_()
                    inputs, targets = problem.inputs[2 * g + m, rows], problem.targets[2 * g + m, rows]
                    said = torch.tanh(inputs @ moved[:24].view(4, 6).T) @ moved[24:]
                    loss = ((said - targets) ** 2).mean() / 2 + 0.005 * moved.square().sum()
                    (slope,) = torch.autograd.grad(loss, moved)
                    at = at - 0.3 * slope
                ends.append(at)
            x = (ends[0] + ends[1]) / 2
    assert float(found.values["gap"][0, 0]) == pytest.approx(float(problem.measure((x[None],))["gap"]), rel=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_what_cannot_be_made_is_refused(kind: str) -> None:
    maker = KINDS[kind][0]
    with pytest.raises(ValidationError, match=r"intra = [\d.]+ with M = 1: a single one differs"):
        maker(G=2, M=1, intra=1.0)
    with pytest.raises(ValidationError, match="inter = nan must be a finite number"):
        maker(G=2, M=1, inter=math.nan)
    with pytest.raises(ValidationError, match="G = 0 must be a whole number"):
        maker(G=0, M=1)
