"""A user's own module in the engine is what a literal loop of plain PyTorch makes of it."""

from __future__ import annotations

import copy
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("scipy")

from torch import nn  # noqa: E402

from validation.engine import ValidationError, generator, simulate  # noqa: E402
from validation.experiment import make_algorithm, part  # noqa: E402
from validation.problems import supplied as own  # noqa: E402

G, M, P, K, ROUNDS, BATCH, SEED = 3, 2, 2, 2, 3, 4, 11
LABELS = 3


class Forking(nn.Module):  # type: ignore[misc]
    """What vmap cannot batch: a branch on a number."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(16, LABELS)

    def forward(self, x: Any) -> Any:
        y = self.inner(x.flatten(1))
        return y if float(y.detach().sum()) < 1e9 else 2 * y


def flat(*layers: Any) -> Any:
    return nn.Sequential(nn.Flatten(), *layers)


MODULES: dict[str, tuple[Callable[[], Any], str]] = {
    "logistic": (lambda: flat(nn.Linear(16, LABELS)), "Recognised"),
    "perceptron": (
        lambda: flat(nn.Linear(16, 5), nn.ReLU(), nn.Linear(5, 4), nn.ReLU(), nn.Linear(4, LABELS)),
        "Recognised",
    ),
    "convolution": (
        lambda: nn.Sequential(
            nn.Conv2d(1, 2, 3, padding=1), nn.MaxPool2d(2), nn.ReLU(), nn.Conv2d(2, 3, 3, padding=1), nn.ReLU(),
            nn.MaxPool2d(2), nn.Flatten(), nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, LABELS),
        ),
        "Recognised",
    ),
    "tanh": (lambda: flat(nn.Linear(16, 5), nn.Tanh(), nn.Linear(5, LABELS)), "Module"),
    "strided": (
        lambda: nn.Sequential(nn.Conv2d(1, 2, 3, stride=2), nn.ReLU(), nn.Flatten(), nn.Linear(2, LABELS)),
        "Module",
    ),
    "no bias": (lambda: flat(nn.Linear(16, LABELS, bias=False)), "Module"),
    "branch": (Forking, "Module"),
}  # fmt: skip


def clients(seed: int = 5) -> list[tuple[str, Any, Any]]:
    made = generator(seed)
    rows = []
    for c in range(G * M):
        many = 5 + c
        labels = torch.randint(LABELS, (many,), generator=made)
        pixels = torch.randn(many, 1, 4, 4, generator=made, dtype=torch.float64) + labels[:, None, None, None]
        rows.append((f"group {c // M}", pixels, labels))
    return rows


def model(name: str) -> Any:
    torch.manual_seed(3)
    return MODULES[name][0]().double()


def trained(start: Any, x: Any, y: Any, rows: Any, rate: float) -> Any:
    """Local steps of one client, as a tutorial has them."""
    made = copy.deepcopy(start)
    descent = torch.optim.SGD(made.parameters(), lr=rate)
    for some in rows:
        descent.zero_grad()
        nn.functional.cross_entropy(made(x[some]), y[some]).backward()
        descent.step()
    return made


def mean(models: list[Any]) -> Any:
    made = copy.deepcopy(models[0])
    with torch.no_grad():
        for own_part, *others in zip(made.parameters(), *(one.parameters() for one in models[1:]), strict=True):
            own_part.copy_(sum(others, start=own_part.clone()) / len(models))
    return made


def literal(name: str, topology: str, rate: float, draws: Callable[[int, int], Any], rows: Any, test: Any) -> list[Any]:
    """Loss and error after each round: Algorithms 1-4 of zhou2026 with everyone in fixed order, written out."""
    begins = [sum(len(row[2]) for row in rows[:c]) for c in range(len(rows))]
    top, low = topology.split("/")
    now, out = model(name), []

    def measured(one: Any) -> tuple[float, float]:
        with torch.no_grad():
            losses = [float(nn.functional.cross_entropy(one(x), y)) for _, x, y in rows]
            return sum(losses) / len(losses), float((one(test[0]).argmax(1) != test[1]).double().mean())

    def group(start: Any, g: int, r: int) -> Any:
        for p in range(P):
            found = []
            for c in range(g * M, (g + 1) * M):
                steps = draws(r, p)[c] - begins[c]
                found.append(
                    trained(start if low == "star" else (found or [start])[-1], rows[c][1], rows[c][2], steps, rate)
                )
            start = mean(found) if low == "star" else found[-1]
        return start

    out.append(measured(now))
    for r in range(ROUNDS):
        found = []
        for g in range(G):
            found.append(group(now if top == "star" else (found or [now])[-1], g, r))
        now = mean(found) if top == "star" else found[-1]
        out.append(measured(now))
    return out


@pytest.mark.parametrize(
    ("name", "topology"),
    [  # every model in one topology
        pytest.param(name, topology, marks=pytest.mark.slow if (i + j) % 4 else ())
        for i, name in enumerate(MODULES)
        for j, topology in enumerate(("star/star", "star/ring", "ring/ring", "ring/star"))
    ],
)
def test_the_engine_trains_as_a_plain_loop_does(name: str, topology: str) -> None:
    rows = clients()
    test = (torch.cat([row[1] for row in clients(6)]), torch.cat([row[2] for row in clients(6)]))
    problem = own.problem(own.supplied(model(name), rows, None, test, batch=BATCH), 10**6)
    assert type(problem).__name__ == MODULES[name][1]
    assert getattr(problem, "batched", True) is (name != "branch")
    algorithm = make_algorithm(part("tree", topology=topology, sizes=f"{G}/{M}", passes=f"1/{P}", K=K))
    rates = [0.05, 0.2]
    trace = simulate(problem, algorithm, rates, [SEED, SEED], ROUNDS, at=range(ROUNDS + 1))
    for i, rate in enumerate(rates):
        expected = literal(name, topology, rate, lambda r, p: problem.draws([SEED], (r, p), K)[0], rows, test)
        assert trace.values["loss"][i].tolist() == pytest.approx([loss for loss, _ in expected], rel=1e-9)
        assert trace.values["error"][i].tolist() == pytest.approx([error for _, error in expected], abs=1e-12)


def test_mini_batches_are_the_clients_own_samples() -> None:
    rows = clients()
    problem = own.problem(own.supplied(model("tanh"), rows, batch=50), 10**6)
    drawn = problem.draws([1, 2], (0, 0), 30)
    ends = [sum(len(row[2]) for row in rows[: c + 1]) for c in range(len(rows))]
    for c, end in enumerate(ends):
        assert set(drawn[:, c].unique().tolist()) == set(range(end - len(rows[c][2]), end))


def test_a_part_of_the_samples_is_measured_and_every_client_counts_the_same() -> None:
    rows = clients()
    problem = own.problem(own.supplied(model("tanh"), rows, batch=2), 3 * len(rows))
    assert float(problem.worth.sum()) == pytest.approx(1)
    ends = [0, *(sum(len(row[2]) for row in rows[: c + 1]) for c in range(len(rows)))]
    held = [[int(r) for r in problem.rows if a <= r < b] for a, b in pairwise(ends)]
    assert [len(some) for some in held] == [3] * len(rows)
    chosen = [(x, y, torch.tensor(some) - begin) for (_, x, y), some, begin in zip(rows, held, ends, strict=False)]
    with torch.no_grad():
        losses = [float(nn.functional.cross_entropy(model("tanh")(x[r]), y[r])) for x, y, r in chosen]
    assert float(problem.measure(problem.start())["loss"][0]) == pytest.approx(sum(losses) / len(losses))


@pytest.mark.parametrize(
    ("paths", "sizes", "seated"),
    [
        ([("b",), ("a",), ("b",), ("a",)], ((2,), (2, 2)), (0, 2, 1, 3)),
        ([("b",), ("a",), ("b",), ("a",), ("a",)], ((2,), (2, 3)), (0, 2, 1, 3, 4)),
        (
            [("n", "x"), ("s", "x"), ("n", "y"), ("s", "z"), ("s", "z"), ("s", "w")],
            ((2,), (2, 3), (1, 1, 1, 2, 1)),
            (0, 2, 1, 3, 4, 5),
        ),
        ([("a",)] * 3, ((1,), (3,)), (0, 1, 2)),
    ],
)
def test_all_clients_are_seated_group_by_group(paths: Any, sizes: Any, seated: Any) -> None:
    assert own.arranged(paths) == (sizes, seated)


def test_what_cannot_be_trained_is_refused() -> None:
    rows = clients()
    with pytest.raises(ValidationError, match=r"client 1: the loss is nan before training"):
        own.supplied(model("tanh"), [rows[0], (rows[1][0], rows[1][1] * float("nan"), rows[1][2])])
    with torch.no_grad():
        lost = model("tanh")
        next(lost.parameters()).fill_(torch.inf)
    with pytest.raises(ValidationError, match="the model's parameters are not finite before training"):
        own.supplied(lost, rows)
    with pytest.raises(ValidationError, match="client 2 is empty"):
        own.supplied(model("tanh"), [*rows[:2], ("x", rows[0][1][:0], rows[0][2][:0])])
    with pytest.raises(ValidationError, match="differ in shape"):
        own.supplied(
            nn.Sequential(nn.AdaptiveAvgPool2d(4), model("tanh")),
            [rows[0], ("x", torch.ones(2, 1, 8, 8), rows[0][2][:2])],
        )
    with pytest.raises(ValidationError, match="tuples of different lengths"):
        own.arranged([("a",), ("a", "b")])
    with pytest.raises(ValidationError, match=r"the test is not \(X, y\)"):
        own.supplied(model("tanh"), rows, test=3)
    with pytest.raises(ValidationError, match="accuracy needs whole numbers"):
        own.supplied(
            nn.Sequential(nn.Flatten(), nn.Linear(16, 1)),
            [("x", torch.ones(3, 16), torch.ones(3, 1))],
            None,
            (torch.ones(2, 16), torch.ones(2, 1)),
        )
    with pytest.raises(ValidationError, match="not in this process"):
        own.hook(path="", digest="0", batch=1, measured=1, hook_seed=0)


@pytest.mark.parametrize("name", [name for name, (_, kind) in MODULES.items() if kind == "Module"])
def test_gradients_are_those_that_plain_pytorch_has(name: str) -> None:
    rows = clients()
    problem = own.problem(own.supplied(model(name), rows, batch=BATCH), 10**6)
    draws = problem.draws([SEED], (2,), 3)
    who, seeds = torch.tensor([4, 1]), torch.tensor([0, 0])
    models = tuple(torch.cat([part, 1.5 * part]) for part in problem.start())
    found = problem.gradients(models, who, seeds, draws, 2)
    x, y = torch.cat([row[1] for row in rows]), torch.cat([row[2] for row in rows])
    for i, scale in enumerate((1.0, 1.5)):
        plain, some = model(name), draws[0, who[i], 2]
        with torch.no_grad():
            for part in plain.parameters():
                part.mul_(scale)
        nn.functional.cross_entropy(plain(x[some]), y[some]).backward()
        for own_part, slopes in zip(plain.parameters(), found, strict=True):
            torch.testing.assert_close(slopes[i], own_part.grad)
