"""Estimated constants against exact ones at the same points, intervals by simulation, and the command's refusals."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("scipy")

from scipy.stats import binom  # noqa: E402

from planner.data.label_counts import read_gram  # noqa: E402
from planner.data.profile import read_profile  # noqa: E402
from validation.client_losses import Joint, Labelled, partitioned  # noqa: E402
from validation.engine import ValidationError, generator  # noqa: E402
from validation.estimate import STEPS, Estimated, Followed, Interval, curvature, descend, estimate  # noqa: E402
from validation.problems.controlled import Controlled, controlled  # noqa: E402

EXAMPLE = Path(__file__).parents[2] / "examples" / "digits_hook.py"


class Exact:
    """A controlled problem as losses for automatic differentiation, and what is exact about it at a point."""

    def __init__(self, problem: Controlled, x0: Any = None) -> None:
        self.problem = problem
        self.groups = [g for g in range(problem.G) for _ in range(problem.M)]
        self.a, self.v = problem.a.flatten(0, 1), problem.v.flatten(0, 1)
        self.x0 = problem.x0 if x0 is None else x0

    def start(self) -> Any:
        return self.x0

    def pieces(self, client: int, x: Any) -> Iterator[Any]:
        """In two parts, as data that do not fit in memory would be."""
        yield (self.problem.h * x**2 / 2).sum()
        yield (self.a[client] * torch.log(torch.cosh(x)) + self.v[client] * x).sum()

    def batch(self, client: int, x: Any, dice: Any) -> Any:
        noise = torch.randn(len(x), generator=dice, dtype=x.dtype) * self.problem.sigma / math.sqrt(len(x))
        return sum(self.pieces(client, x)) + (noise * x).sum()

    def gradients(self, x: Any) -> Any:
        """By the formula of the derivative: (G, M, dim)."""
        return self.problem.h * x + self.problem.a * torch.tanh(x) + self.problem.v

    def constants(self, x: Any) -> dict[str, float]:
        """By hand, from the problem's tensors."""
        slopes = self.gradients(x)
        groups = slopes.mean(1, keepdim=True)
        within = (slopes - groups).square().sum(-1).mean()
        between = (groups - slopes.mean((0, 1))).square().sum(-1).mean()
        diagonal = self.problem.h + self.problem.a * (1 - torch.tanh(x) ** 2)
        return {
            "L": float(diagonal.abs().max()),
            "sigma": self.problem.sigma,
            "zeta": math.sqrt(within),
            "delta": math.sqrt(between),
            "loss": float(self.problem.loss(x[None])[0]),
            "gradient": float(slopes.mean((0, 1)).norm()),
        }

    def curved(self, client: int) -> Any:
        """The largest absolute curvature of a client's loss at the start."""
        return (self.problem.h + self.a[client] * (1 - torch.tanh(self.x0) ** 2)).abs().max()

    def star_star(self, rate: float, steps: int, local_steps: int, seed: int) -> list[Any]:
        """The iterates at averagings, written out literally."""
        x, out = self.x0, [self.x0]
        for begin in range(0, steps, local_steps):
            ends = []
            for client in range(len(self.groups)):
                own = x.clone()
                for step in range(begin, begin + local_steps):
                    noise = torch.randn(len(x), generator=generator(seed, STEPS, step, client), dtype=x.dtype)
                    slope = self.gradients(own).flatten(0, 1)[client]
                    own = own - rate * (slope + noise * self.problem.sigma / math.sqrt(len(x)))
                ends.append(own)
            x = torch.stack(ends).view(self.problem.G, self.problem.M, -1).mean(1).mean(0)
            out.append(x)
        return out


@pytest.mark.parametrize(
    ("gradients", "settings"),
    [
        ("full", {"sigma": 0.5, "zeta": 0.8, "delta": 0.3}),
        ("batches", {"sigma": 0.3, "zeta": 0.8, "delta": 0.8}),
        pytest.param("full", {"sigma": 2.0, "zeta": 0.0, "delta": 0.0}, marks=pytest.mark.slow),
    ],
)
def test_constants_are_within_5_percent_of_the_exact_ones_at_the_same_points(
    gradients: Any, settings: dict[str, float]
) -> None:
    losses = Exact(controlled(G=3, M=2, L=2.0, A=1.7, **settings, seed=5))
    found = estimate(
        losses, rate=0.1, steps=12, local_steps=4, points=2, batches=40, gradients=gradients, curved=6, seed=3
    )
    path = losses.star_star(0.1, 12, 4, 3)
    assert [point.step for point in found.points] == [0, 12]
    for point in found.points:
        truth = losses.constants(path[point.step // 4])
        for name in ("L", "sigma", "zeta", "delta"):
            seen = point.of(name)
            assert seen.estimate == pytest.approx(truth[name], rel=0.05, abs=1e-9), (name, point.step)
            assert seen.low <= seen.estimate <= seen.high
        assert point.L.estimate <= truth["L"] * (1 + 1e-12) and truth["L"] <= point.L.high
        assert point.loss == pytest.approx(truth["loss"], rel=1e-12)
        if gradients == "full":
            for name in ("zeta", "delta", "gradient"):
                assert point.of(name).low == point.of(name).high == pytest.approx(truth[name], rel=1e-9, abs=1e-12)
    for name in ("L", "sigma", "zeta", "delta"):
        assert found.largest(name).estimate == max(point.of(name).estimate for point in found.points)
        assert found.smallest(name).estimate == min(point.of(name).estimate for point in found.points)
    lowest = min(losses.constants(path[step // 4])["loss"] for step in (0, 12))
    assert found.A.estimate == pytest.approx(losses.constants(losses.x0)["loss"] - lowest, rel=1e-9)
    assert found.A.low == found.A.estimate and found.A.high == math.inf


def test_the_gap_is_within_5_percent_of_the_exact_one_where_the_run_reaches_the_minimum() -> None:
    problem = controlled(G=2, M=2, L=2.0, A=1.7, sigma=0.05, zeta=0.3, delta=0.3, seed=5)
    found = estimate(Exact(problem), rate=0.2, steps=150, local_steps=1, points=2, batches=2, curved=1)
    assert found.A.estimate == pytest.approx(1.7, rel=0.05)
    assert found.A.estimate <= 1.7


class Whole(Exact):
    """In one part, which is quicker."""

    def pieces(self, client: int, x: Any) -> Iterator[Any]:
        yield (self.problem.h * x**2 / 2 + self.a[client] * torch.log(torch.cosh(x)) + self.v[client] * x).sum()


@pytest.mark.parametrize(
    ("gradients", "repetitions"),
    [
        ("batches", 24),
        pytest.param("batches", 400, marks=pytest.mark.slow),
        pytest.param("full", 400, marks=pytest.mark.slow),
    ],
)
def test_intervals_cover_at_their_stated_rate(gradients: Any, repetitions: int) -> None:
    """A share of hits that a binomial of the stated rate gives once in a thousand times fails."""
    losses = Whole(controlled(G=2, M=2, L=2.0, A=1.7, sigma=1.0, zeta=0.8, delta=0.5, dim=5, seed=1))
    truth = losses.constants(losses.x0)
    level = 0.9
    hits = dict.fromkeys(("L", "sigma", "zeta", "delta", "gradient"), 0)
    for seed in range(repetitions):
        options = {"steps": 0, "batches": 12, "gradients": gradients, "curved": 1, "level": level, "seed": seed}
        found = estimate(losses, rate=0.1, close=0.3, **options)
        for name in hits:
            seen = found.points[0].of(name)
            target = float(losses.curved(found.curved[0])) if name == "L" else truth[name]
            hits[name] += seen.low * (1 - 1e-12) <= target <= seen.high * (1 + 1e-12)
    least, most = binom.ppf([1e-3, 1 - 1e-3], repetitions, level)
    for name, hit in hits.items():
        assert hit >= least, name
    assert hits["sigma"] <= most
    if gradients == "batches":
        assert max(hits["zeta"], hits["delta"], hits["gradient"]) <= most


@pytest.fixture
def unbent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Points are measured without curvatures, which take most of the time."""
    monkeypatch.setattr("validation.estimate._largest_eigenvalue", lambda *_, **how: Interval(1.0, 1.0, 1.0, 1))


@pytest.mark.usefixtures("unbent")
def test_intervals_of_deviations_that_are_zero_reach_zero() -> None:
    losses = Whole(controlled(G=2, M=2, sigma=1.0, dim=5, seed=1))
    hits = 0
    for seed in range(20):
        (point,) = estimate(
            losses, steps=0, batches=12, gradients="batches", curved=1, close=1.0, level=0.9, seed=seed
        ).points
        hits += point.zeta2.low == 0 and point.delta2.low == 0
    assert hits >= binom.ppf(1e-3, 20, 0.8)  # two intervals of 90 %


def digits(samples: int = 120) -> tuple[Any, Any]:
    pytest.importorskip("sklearn")
    from sklearn.datasets import load_digits

    pixels, labels = load_digits(return_X_y=True)
    return (pixels[:samples] / 16).astype(np.float32), labels[:samples]


def mlp(inputs: int = 64, hidden: int = 4, outputs: int = 10, seed: int = 0) -> Any:
    torch.manual_seed(seed)
    return torch.nn.Sequential(
        torch.nn.Linear(inputs, hidden), torch.nn.Tanh(), torch.nn.Linear(hidden, outputs)
    ).double()


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_power_iteration_agrees_with_a_dense_hessian(seed: int) -> None:
    pixels, labels = digits()
    losses = partitioned(mlp(8, 5, seed=seed), [("a", pixels[:, 20:28].astype(float), labels)])
    x = losses.start()
    dense = torch.autograd.functional.hessian(lambda at: sum(losses.pieces(0, at)), x)
    truth = float(torch.linalg.eigvalsh(dense).abs().max())
    seen = curvature(losses, 0, x, dice=generator(seed, 1))
    assert seen.estimate == pytest.approx(truth, rel=0.05)
    assert seen.estimate <= truth * (1 + 1e-9) and truth <= seen.high <= 1.06 * seen.estimate


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))])
def test_the_mean_loss_is_less_curved_than_the_most_curved_client_and_as_its_formula_says(seed: int) -> None:
    problem = controlled(dim=12, G=2, M=3, sigma=0.1, zeta=1.0, delta=1.0, seed=seed)
    x0 = torch.randn(12, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    found = estimate(Exact(problem, x0), steps=0, points=1, batches=2, curved=6)
    bent = problem.h + problem.a * (1 - torch.tanh(x0) ** 2)  # of every client, coordinate by coordinate
    exact = float(bent.mean((0, 1)).abs().max())
    seen = found.points[0].curvature
    assert exact * 0.8 <= seen.estimate <= exact * (1 + 1e-9)
    assert seen.low <= exact * (1 + 1e-9) and seen.high >= exact
    assert found.typical("curvature").estimate == pytest.approx(seen.estimate, rel=1e-12)
    assert float(bent.abs().max()) > exact


def test_power_iteration_finds_negative_curvature_and_none() -> None:
    class Bent:
        groups = (0,)

        def __init__(self, ends: list[float]) -> None:
            self.ends = torch.tensor(ends, dtype=torch.float64)

        def pieces(self, client: int, x: Any) -> Iterator[Any]:
            yield (self.ends * x**2 / 2).sum() + x.sum()

    x = torch.zeros(4, dtype=torch.float64)
    seen = curvature(Bent([1.0, -3.0, 2.0, 0.0]), 0, x, dice=generator(0, 1))  # type: ignore[arg-type]
    assert seen.estimate == pytest.approx(3.0, rel=0.05)
    none = curvature(Bent([0.0] * 4), 0, x, dice=generator(0, 1))  # type: ignore[arg-type]
    assert (none.estimate, none.low, none.high) == (0.0, 0.0, 0.0)


def test_the_upper_end_of_the_curvature_holds_where_eigenvalues_are_close() -> None:
    class Crowded:
        groups = (0,)
        ends = torch.linspace(0.9, 1.0, 200, dtype=torch.float64)

        def pieces(self, client: int, x: Any) -> Iterator[Any]:
            yield (self.ends * x**2 / 2).sum()

    x = torch.zeros(200, dtype=torch.float64)
    for seed in range(20):
        seen = curvature(Crowded(), 0, x, dice=generator(seed, 1), error=1e-3, most=30)  # type: ignore[arg-type]
        assert seen.estimate <= 1.0 + 1e-12 and seen.high >= 1.0
        assert seen.count == 30


def test_class_gradients_explain_clients_that_differ_in_labels_alone() -> None:
    """The same samples of each label at every client, in other numbers: label shares make all of zeta and delta."""
    pixels, labels = digits()
    chosen = [np.flatnonzero(labels == label)[:3] for label in range(3)]
    times = [(3, 1, 1), (1, 3, 1), (1, 1, 4), (2, 0, 1)]
    clients = []
    for i, counts in enumerate(times):
        rows = np.concatenate([np.tile(chosen[label], count) for label, count in enumerate(counts)])
        clients.append((i // 2, pixels[rows], labels[rows]))
    losses = partitioned(mlp(), clients)
    found = estimate(losses, rate=0.5, steps=10, points=2, batches=2, curved=1)
    assert found.labels == ("0", "1", "2") and isinstance(losses, Labelled)
    for point in found.points:
        assert point.label_tiers == pytest.approx((point.delta2.estimate, point.zeta2.estimate), rel=1e-6)
    module = mlp()
    slopes = []
    for rows in chosen:
        module.zero_grad()
        outputs = module(torch.tensor(pixels[rows], dtype=torch.float64))
        torch.nn.functional.cross_entropy(outputs, torch.tensor(labels[rows])).backward()
        slopes.append(torch.cat([part.grad.flatten() for part in module.parameters()]))
    expected = torch.stack(slopes) @ torch.stack(slopes).T
    assert np.allclose(found.points[0].gram, expected, rtol=1e-6)


class Bare:
    """Losses whose labels nobody is told of, which takes a third of the time."""

    def __init__(self, losses: Any) -> None:
        self.groups, self.start, self.pieces, self.batch = losses.groups, losses.start, losses.pieces, losses.batch


@pytest.mark.usefixtures("unbent")
def test_deviations_of_clients_with_samples_of_one_distribution_are_what_chance_makes() -> None:
    pixels, labels = digits(1797)
    ends = np.cumsum([0] + [30, 60, 90, 120] * 5)  # five groups with clients of four sizes
    ratios = []
    for seed in range(10):
        order = np.random.default_rng(seed).permutation(1797)
        rows = [order[begin:end] for begin, end in pairwise(ends)]
        losses = partitioned(mlp(), [(i // 4, pixels[own], labels[own]) for i, own in enumerate(rows)], batch=8)
        (point,) = estimate(Bare(losses), steps=0, batches=4, curved=1, close=1.0).points
        delta2, zeta2 = losses.by_chance(point.sigma2.estimate)
        ratios.append((point.zeta2.estimate / zeta2, point.delta2.estimate / delta2))
    error = np.std(ratios, axis=0, ddof=1) / math.sqrt(len(ratios))
    assert (error < 0.1).all()
    assert (np.abs(np.mean(ratios, axis=0) - 1) < 3 * error).all()


def test_a_mini_batch_has_the_client_s_loss_on_average_and_pieces_sum_to_it() -> None:
    pixels, labels = digits(30)
    losses = partitioned(mlp(), [("a", pixels, labels)], batch=7)
    x = losses.start()
    with torch.no_grad():
        outputs = losses.module(torch.tensor(pixels).double())
    whole = float(torch.nn.functional.cross_entropy(outputs, torch.tensor(labels)))
    assert float(sum(losses.pieces(0, x))) == pytest.approx(whole, rel=1e-9)
    dice = generator(0, 1)
    drawn = [float(losses.batch(0, x, dice)) for _ in range(1000)]
    assert np.mean(drawn) == pytest.approx(whole, abs=4 * np.std(drawn) / math.sqrt(1000))


def test_a_run_is_the_same_twice_and_another_with_another_seed() -> None:
    pixels, labels = digits(40)
    clients = [(g, pixels[i::4], labels[i::4]) for i, g in enumerate("aabb")]

    def run(seed: int) -> Estimated:
        return estimate(
            partitioned(mlp(), clients), steps=4, local_steps=2, points=2, batches=2, curved=1, close=0.5, seed=seed
        )

    one = run(1)
    assert one == run(1)
    assert one != run(2)
    assert one.rate == pytest.approx(1 / (4 * one.points[0].L.estimate))


PLAIN = [("a", [[1.0, 2.0], [0.0, 1.0]], [0, 1]), ("b", [[1.0, 1.0], [3.0, 1.0]], [1, 0])]


def two() -> Any:
    return torch.nn.Linear(2, 2)


BAD: list[tuple[Callable[[], Any], Any, Any, str]] = [
    (lambda: "a model", PLAIN, None, "not an nn.Module"),
    (lambda: torch.nn.ReLU(), PLAIN, None, "no parameter"),
    (two, None, None, "a list of"),
    (two, [], None, "a list of"),
    (two, [("a", [[1.0, 2.0]])], None, "client 0 has 2 items, and 3 are needed. Return (group, X, y)"),
    (two, ["abc"], None, "client 0 is of type str, not (group, X, y)"),
    (two, [("a", [[1.0, 2.0]], [0, 1])], None, "client 0: X has 1 samples and y has 2"),
    (two, [PLAIN[0], ("b", np.empty((0, 2)), np.empty(0, int))], None, "client 1 is empty"),
    (two, [("a", [["x", "y"]], [0])], None, "). Give numbers."),
    (two, [("a", 1.0, [0])], None, "client 0: X is a single number"),
    (two, [([], [[1.0, 2.0]], [0])], None, "client 0: its group"),
    (two, [("a", [[1.0, 2.0, 3.0]], [0])], None, "client 0: the loss cannot be computed"),
    (two, [PLAIN[0], ("b", [[1.0, 2.0]] * 3, [0, 7, 0])], None, "client 1: the loss cannot be computed"),
    (two, [("a", [[1.0, 2.0]] * 3, [0, -1, 1])], None, "2 outputs are 0 to 1, and here they are -1 to 1."),
    (two, PLAIN, lambda o, t: o, "client 0: the loss has shape"),
    (two, PLAIN, lambda o, t: 1.0, "client 0: the loss is of type float"),
    (two, PLAIN, lambda o, t: o.square().sum(), "mean over samples"),
    (two, PLAIN, lambda o, t: o.detach().mean(), "does not depend"),
    (two, [PLAIN[0], ("b", [[1.0, 2.0]], [0.5])], None, "one dtype"),
    (two, [("a", [[1.0, 2.0]] * 2, [0.5, 1.0])], None, "labels as whole numbers, for which the loss is cross-entropy."),
]


@pytest.mark.parametrize(("model", "clients", "loss", "told"), BAD)
def test_what_cannot_be_measured_is_refused_by_name(model: Any, clients: Any, loss: Any, told: str) -> None:
    with pytest.raises(ValidationError) as caught:
        partitioned(model(), clients, loss)
    assert told in str(caught.value) and "\n" not in str(caught.value)


def test_numbers_out_of_range_and_losses_that_are_not_finite_are_refused() -> None:
    losses = partitioned(two(), PLAIN)
    for options, told in (
        ({"rate": 0.0}, "rate"),
        ({"rate": math.nan}, "rate"),
        ({"steps": -1}, "steps"),
        ({"batches": 1}, "batches"),
        ({"gradients": "batches", "batches": 2}, "batches"),
        ({"gradients": "some"}, "gradients"),
        ({"level": 1.0}, "level"),
    ):
        with pytest.raises(ValidationError, match=told):
            estimate(losses, **{"rate": 0.1, "batches": 2, **options})
    broken = [("a", [[1.0, math.nan]], [0])]
    with pytest.raises(
        ValidationError, match=r"client 0: the loss is nan before training.*; X of sample 0 is not finite"
    ):
        partitioned(two(), broken)
    with pytest.raises(ValidationError, match="Lower the rate"):
        estimate(partitioned(two(), PLAIN, lambda o, t: o.square().mean()), rate=1e30, steps=20, batches=2)


# ---------------------------------------------------------------- the command


@pytest.fixture
def plan(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[int, str, str]]:
    from planner.cli.app import main

    def run(*words: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["hfl-plan", *map(str, words)])
        with pytest.raises(SystemExit) as stop:
            main()
        told = capsys.readouterr()
        return int(stop.value.code or 0), told.out, told.err

    return run


SMALL = ("--steps", 4, "--local-steps", 2, "--points", 2, "--batches", 2, "--curvature-clients", 1, "--follow", 8)
UNDRAWN = ("--set", "plan.draws=0")


EXAMPLES: dict[Path, dict[str, Any]] = {}


@pytest.fixture
def example(plan: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """The profile of the example, with a Gram matrix beside it, once in the file: tests leave both as they are."""
    pytest.importorskip("sklearn")
    if not EXAMPLES:
        folder, before = tmp_path_factory.mktemp("example"), sorted(EXAMPLE.parent.rglob("*"))
        profile, gram = folder / "profile.json", folder / "gram.csv"
        code, out, err = plan("estimate", EXAMPLE, "--rate", 0.5, *SMALL, "--json", "-o", profile, "--gram", gram)
        assert (code, err) == (0, f"hfl-plan: wrote {profile}\n")
        assert sorted(EXAMPLE.parent.rglob("*")) == before  # no bytecode beside the hook
        EXAMPLES[profile] = json.loads(out)
    return next(iter(EXAMPLES.items()))


@pytest.mark.usefixtures("unflipped")
def test_the_example_gives_a_profile_that_can_be_read(plan: Any, example: tuple[Path, dict[str, Any]]) -> None:
    profile, answer = example
    document = answer["estimate"]
    assert answer["schema"] == "hfl-plan/estimate/2"
    assert [point["step"] for point in document["points"]] == [0, 4]
    read = read_profile(profile)
    assert (read.groups, read.clients, read.labels, read.unit) == (4, 16, 10, "gradients")
    largest = {name: document[name]["largest"]["value"] for name in ("L", "sigma", "zeta", "delta")}
    assert read.zeta2.value == pytest.approx(largest["zeta"] ** 2, rel=1e-4)
    assert read.delta2.value == pytest.approx(largest["delta"] ** 2, rel=1e-4)
    assert read.constants.L is not None and read.constants.L.value == pytest.approx(largest["L"], rel=1e-4)
    assert read.constants.sigma is not None
    assert read.constants.sigma.value == pytest.approx(largest["sigma"], rel=1e-4)
    assert read.constants.A is not None and read.constants.A.high is not None
    assert read.constants.fading is not None
    assert read.constants.fading.value == pytest.approx(document["fading"], rel=1e-4)
    assert read.constants.decay is not None
    assert read.constants.decay.value == pytest.approx(document["decay"], rel=1e-4)
    assert "fading" in json.loads(plan("recommend", "--heterogeneity", profile, *UNDRAWN, "--json")[1])["scenario"]
    ratios = [(point["zeta"]["value"] / point["delta"]["value"]) ** 2 for point in document["points"]]
    assert read.ratio.low == pytest.approx(min(ratios), rel=1e-4)
    assert read.ratio.high == pytest.approx(max(ratios), rel=1e-4)
    assert "group 0" not in profile.read_text() and "gram" not in profile.read_text()
    matrix = read_gram(profile.with_name("gram.csv"), [str(label) for label in range(10)])
    where = max(document["points"], key=lambda point: point["zeta"]["value"] ** 2 + point["delta"]["value"] ** 2)
    assert np.allclose(matrix, where["gram"])


@pytest.mark.usefixtures("unflipped")
def test_the_next_command_runs_as_it_stands_and_sends_the_model_that_was_measured(
    plan: Any, example: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    """A transfer has 4 bytes for each parameter of the hook's model; a size that is given is kept."""
    profile, found = example
    (step,) = found["next"]
    assert step["argv"] == ["hfl-plan", "recommend", "--heterogeneity", str(profile)]
    code, out, _ = plan(*step["argv"][1:], *UNDRAWN, "--json")
    size = json.loads(out)["scenario"]["model_size"]
    assert (code, size["value"]) == (0, 4 * found["estimate"]["parameters"])
    assert size["origin"] == "derived" and str(profile) in size["source"]
    given = json.loads(plan(*step["argv"][1:], *UNDRAWN, "--model-size", "1MB", "--json")[1])["scenario"]["model_size"]
    assert (given["value"], given["origin"]) == (1e6, "given")
    hook = tmp_path / "hook.py"
    hook.write_text(HOOK)
    unwritten = json.loads(plan("estimate", hook, "--rate", 0.1, *SMALL, "--json")[1])["next"]
    assert unwritten[0]["argv"] == ["hfl-plan", "estimate", str(hook), "--output", "profile.json"]


HOOK = """
from torch import nn
def model(): return nn.Linear(2, 2)
def clients(): return [(g, [[1.0, 2.0], [0.0, g]], [0, 1]) for g in (1.0, 2.0)]
"""


def test_text_says_what_the_numbers_are_and_are_not(plan: Any, tmp_path: Path) -> None:
    hook = tmp_path / "hook.py"
    hook.write_text(HOOK + "print('a word of the hook')\n")
    code, out, err = plan("estimate", hook, "--rate", 0.1, *SMALL, "--explain")
    assert code == 0
    assert "a word of the hook" in err and "a word of the hook" not in out
    for words in ("within groups zeta", "between groups delta", "lower estimates", "Every group has one client"):
        assert words in out
    _, out, _ = plan("estimate", hook, "--rate", 0.1, *SMALL)
    assert "lower estimates" in out and "recommend --heterogeneity profile.json" in " ".join(out.split())
    code, out, _ = plan("estimate", hook, "--rate", 0.1, *SMALL, "--gradients", "batches", "--batches", 3)
    (line,) = (line for line in out.splitlines() if "between groups delta" in line)
    assert code == 0 and "exact" not in line


def test_a_hook_that_draws_without_a_seed_gives_the_same_twice(plan: Any, tmp_path: Path) -> None:
    hook = tmp_path / "hook.py"
    hook.write_text(HOOK)
    words = ("estimate", hook, "--rate", 0.1, *SMALL, "--json", "--seed")
    assert plan(*words, 1) == plan(*words, 1) != plan(*words, 2)


def test_regression_has_no_labels_and_one_hook_may_stand_on_another_file(plan: Any, tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("TARGETS = [[0.5, 1.0], [1.0, 2.0]]\n")
    hook = tmp_path / "hook.py"
    hook.write_text(HOOK.replace("[0, 1]", "TARGETS") + "from beside import TARGETS\n")
    code, out, _ = plan("estimate", hook, "--rate", 0.1, *SMALL, "--json")
    document = json.loads(out)["estimate"]
    assert (code, document["labels"], document["points"][0]["gram"]) == (0, [], None)
    assert document["A"]["high"] == pytest.approx(document["points"][0]["loss"])
    code, _, err = plan("estimate", hook, "--rate", 0.1, *SMALL, "--gram", tmp_path / "gram.csv")
    assert code == 1 and "there are no labels" in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["beside.py", "hook.py"]


@pytest.mark.usefixtures("unflipped")
def test_where_the_loss_never_falls_the_gap_is_left_out(plan: Any, tmp_path: Path) -> None:
    hook, profile = tmp_path / "hook.py", tmp_path / "profile.json"
    hook.write_text(HOOK)
    still = ("estimate", hook, "--steps", 0, "--batches", 2, "--follow", 8)
    code, out, _ = plan(*still, "--output", profile)
    assert code == 0 and " ".join(out.split()).count("Gap A unknown") == 1
    assert read_profile(profile).constants.A is None
    _, out, _ = plan(*still)
    assert "--initial-gap" not in out and "recommend --heterogeneity" in " ".join(out.split())


@pytest.mark.usefixtures("unflipped")
def test_a_profile_of_a_run_whose_loss_never_fell_is_refused_with_the_way_out(plan: Any, tmp_path: Path) -> None:
    """It was named for one topology, with 88 %, by the noise and deviations of a run that had gone astray."""
    hook, profile = tmp_path / "hook.py", tmp_path / "profile.json"
    hook.write_text(HOOK)
    code, out, _ = plan("estimate", hook, "--rate", 1000, *SMALL, "--output", profile)
    losses = [
        point["loss"]
        for point in json.loads(plan("estimate", hook, "--rate", 1000, *SMALL, "--json")[1])["estimate"]["points"]
    ]
    assert code == 0 and min(losses) == losses[0] < losses[-1]  # the run does rise
    assert f"estimate {hook} --rate 100" in " ".join(out.split()) and "recommend --heterogeneity" not in out
    gap = read_profile(profile).constants.A
    assert gap is not None and gap.value == 0
    for command in ("recommend", "tune", "flip"):
        code, out, err = plan(command, "--heterogeneity", profile)
        assert (code, out) == (2, "")
        assert "no loss of its run was below that at the start" in err and "lower --rate or more --steps" in err
    older = json.loads(profile.read_text())
    older["constants"]["A"] = None  # as profiles were written that do not say it
    profile.write_text(json.dumps(older))
    assert plan("recommend", "--heterogeneity", profile, *UNDRAWN)[0] == 0


AFTER = HOOK.count("\n")
REFUSED = [
    ("counts.csv", "client,group\n", 2, "is not a Python file"),
    ("hook.py", "def model(:\n", 2, "is not Python (line 1)"),
    ("hook.py", "\0", 2, "\n  help: Mend it there."),
    ("hook.py", HOOK.replace("def clients", "def customers"), 2, "no function clients()"),
    ("hook.py", HOOK.replace("def model", "def net"), 2, "no function model()"),
    ("hook.py", "import no_such_module_at_all\n" + HOOK, 2, "failed at line 1: ModuleNotFoundError"),
    ("hook.py", "raise SystemExit('enough')\n", 2, "failed at line 1: SystemExit: enough"),
    ("hook.py", HOOK.replace("return nn.Linear(2, 2)", "return 1 / 0"), 2, "model() failed at line 3: ZeroDivision"),
    ("hook.py", HOOK + "loss = 3\n", 2, "loss is no function"),
    ("hook.py", HOOK.replace("Linear(2, 2)", "Linear(3, 2)"), 1, "client 0: the loss cannot be computed"),
    (
        "hook.py",
        HOOK + "\ndef loss(o, t):\n    s = o.sum()\n    return s + undefined\n",
        1,
        f"at line {AFTER + 4} of hook.py",
    ),
    ("hook.py", HOOK.replace("[0, 1]", "[0]"), 1, "client 0: X has 2 samples and y has 1"),
    ("hook.py", HOOK.replace("[0.0, g]", "[0.0, float('nan')]"), 1, "X of sample 1 is not finite"),
    ("hook.py", HOOK + "def loss(o, t): return o.mean() * float('nan')\n", 1, "client 0: the loss is nan"),
    ("hook.py", HOOK + "def loss(o, t): return o\n", 1, "client 0: the loss has shape"),
    ("hook.py", HOOK.replace("return [(g", "return None and [(g"), 1, "clients are None"),
]


@pytest.mark.parametrize(("name", "text", "code", "told"), REFUSED)
def test_bad_hooks_are_refused_in_two_lines_and_nothing_is_written(
    plan: Any, tmp_path: Path, name: str, text: str, code: int, told: str
) -> None:
    hook = tmp_path / name
    hook.write_text(text)
    profile, gram = tmp_path / "profile.json", tmp_path / "gram.csv"
    seen, out, err = plan("estimate", hook, "--rate", 0.1, *SMALL, "--output", profile, "--gram", gram)
    assert (seen, out) == (code, "")
    assert told in err and len(err.strip().splitlines()) <= 2 and "Traceback" not in err
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_files_that_exist_options_that_contradict_and_files_that_do_not_exist_are_refused(
    plan: Any, tmp_path: Path
) -> None:
    hook, there = tmp_path / "hook.py", tmp_path / "there.json"
    hook.write_text(HOOK + "raise RuntimeError('it ran')\n")
    there.write_text("mine")
    for words, told in (
        (("--output", there), "--output: "),
        (("--gram", there), "--gram: "),
        (("--output", tmp_path / "new.json", "--gram", tmp_path / "new.json"), "--gram: is the file of --output"),
        (("--gradients", "some"), "--gradients: "),
        (("--gradients", "batches", "--batches", "2"), "--batches: "),
        (("--rate", "nan"), "--rate: "),
        (("--rate", "-1"), "--rate: "),
        (("--batch", "0"), "--batch"),
    ):
        code, out, err = plan("estimate", hook, *words)
        assert (code, out) == (2, "") and told in err and "it ran" not in err
    assert there.read_text() == "mine"
    for path in (tmp_path / "none.py", tmp_path / "folder.py"):
        (tmp_path / "folder.py").mkdir(exist_ok=True)
        code, _, err = plan("estimate", path)
        assert code == 2 and "cannot be read" in err
    hook.write_text(HOOK)
    code, _, _ = plan("estimate", hook, "--rate", 0.1, *SMALL, "--output", there, "--force")
    assert code == 0 and read_profile(there).clients == 2


def test_help_says_that_the_file_is_run(plan: Any) -> None:
    code, out, _ = plan("estimate", "--help")
    assert code == 0
    assert "RUN" in out and "nothing is unpickled" in " ".join(out.split())


# --- how deviations fade -------------------------------------------------------------------------------------------


class Bowls:
    """One-dimensional quadratics of some curvatures and tilts, without noise, in two groups of two."""

    groups = (0, 0, 1, 1)

    def __init__(self, curvatures: tuple[float, ...], tilts: tuple[float, ...]) -> None:
        self.curvatures, self.tilts = curvatures, tilts

    def start(self) -> Any:
        return torch.ones(1, dtype=torch.float64)

    def pieces(self, client: int, x: Any) -> Iterator[Any]:
        yield (self.curvatures[client] * x**2 / 2 + self.tilts[client] * x).sum()

    def batch(self, client: int, x: Any, dice: Any) -> Any:
        return sum(self.pieces(client, x))


def faded(losses: Any, curvature: float, **options: Any) -> float | None:
    return descend(losses, curvature, **options).fading


def test_deviations_fade_as_the_square_of_the_distance_to_a_minimum_that_all_clients_share() -> None:
    """Gradients are a_c x, and x halves in every step at half of one over the mean curvature: 2^-2 a step."""
    losses = Bowls((1.0, 2.0, 3.0, 4.0), (0.0,) * 4)
    assert faded(losses, 2.5, steps=8) == pytest.approx(2 * (8 - 2) * math.log(2) / math.log(8 / 2), rel=1e-9)
    assert faded(Bowls((1.0,) * 4, (1.0, -1.0, 3.0, -3.0)), 1.0, steps=8) == 0  # tilts stay


def test_nothing_is_said_of_deviations_without_steps_of_clients_that_do_not_differ_and_of_runs_that_diverge() -> None:
    differ = Bowls((1.0, 2.0, 3.0, 4.0), (0.0,) * 4)
    assert faded(differ, 2.5, steps=0) is None
    assert faded(Bowls((1.0,) * 4, (0.0,) * 4), 1.0, steps=8) is None
    assert faded(differ, 0.01, steps=400) is None
    assert faded(differ, 0.5, steps=8) == 0  # x grows by a half in each step


class Spread:
    """One loss for all, whose start has the same share of A in every curvature of a broad spectrum, or as its root."""

    groups = (0, 1)

    def __init__(self, power: float) -> None:
        self.h = torch.logspace(-4, 0, 32, dtype=torch.float64)
        self.first = (2 * self.h ** (power - 1)).sqrt()

    def start(self) -> Any:
        return self.first

    def pieces(self, client: int, x: Any) -> Iterator[Any]:
        yield (self.h * x**2 / 2).sum()

    def batch(self, client: int, x: Any, dice: Any) -> Any:
        return sum(self.pieces(client, x))


@pytest.mark.parametrize("power", [0.0, 0.5, 1.5])
def test_the_loss_decays_as_the_power_of_curvatures_as_which_it_lies_in_them(power: float) -> None:
    found = descend(Spread(power), 1.0, steps=400, nonnegative=True)
    assert found.decay == pytest.approx(power, abs=1e-4) and found.fading is None


def test_of_losses_that_may_be_negative_and_of_runs_that_diverge_no_decay_is_said() -> None:
    power = 0.5
    assert descend(Spread(power), 1.0, steps=400).decay is None  # the least that the loss can be is not known
    assert descend(Spread(power), 0.1, steps=400, nonnegative=True) == Followed()  # diverges


@pytest.mark.parametrize("gradients", ["full", "batches"])
def test_mini_batches_of_many_clients_in_one_call_are_those_of_each(gradients: Any) -> None:
    dice = generator(3)
    data = [
        (c % 3, torch.randn(20 + c, 4, generator=dice), torch.randint(3, (20 + c,), generator=dice)) for c in range(8)
    ]
    torch.manual_seed(0)
    losses = partitioned(torch.nn.Linear(4, 3), data, batch=500)  # so that a group takes two calls

    class Single:
        """The same, one client at a time."""

        groups, start, pieces, batch = losses.groups, losses.start, losses.pieces, losses.batch

    assert not isinstance(Single(), Joint) and isinstance(losses, Joint)
    together, alone = (faded(one, 2.0, steps=12, gradients=gradients, seed=4) for one in (losses, Single()))
    assert together == pytest.approx(alone, rel=1e-4)
    assert together is not None and together > 0
