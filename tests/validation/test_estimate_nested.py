"""Deviations of every tier of nested groups, against literal means of means, and what becomes of them in answers."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("scipy")

from scipy.stats import binom  # noqa: E402

from planner.data.profile import read_profile  # noqa: E402
from validation.client_losses import Joint, Nested, Partitioned, partitioned, tree_of  # noqa: E402
from validation.engine import ValidationError, generator  # noqa: E402
from validation.estimate import STEPS, Interval, descend, estimate  # noqa: E402

EQUAL = [[(0, 1, 2), (3, 4, 5)], [(6, 7, 8), (9, 10, 11)], [(12, 13, 14), (15, 16, 17)]]
UNEQUAL = [[(0, 5), (3, 11, 7, 2)], [(6, 8, 9)], [(1,), (4, 10), (12, 13, 14)]]
DEEPER = [[[(0, 1), (2, 3, 4)], [(5, 6)]], [[(7, 8)], [(9,), (10, 11)]]]
DIM = 30
Branch = Any  # clients of a group in a tuple, all else lists


def flat(branch: Branch) -> list[int]:
    return list(branch) if isinstance(branch, tuple) else [c for child in branch for c in flat(child)]


def depth(branch: Branch) -> int:
    return 1 if isinstance(branch, tuple) else 1 + depth(branch[0])


def mean_of(branch: Branch, of: Callable[[int], Any]) -> Any:
    """The mean over the children of a node of theirs, clients last."""
    own = [of(c) for c in branch] if isinstance(branch, tuple) else [mean_of(child, of) for child in branch]
    return sum(own) / len(own)


def squares(branch: Branch, of: Callable[[int], Any]) -> list[float]:
    """Squared distances of children from their node's mean, by tier, top first, literally."""
    centre = mean_of(branch, of)
    if isinstance(branch, tuple):
        return [sum(float(((of(c) - centre) ** 2).sum()) for c in branch) / len(branch)]
    own = sum(float(((mean_of(child, of) - centre) ** 2).sum()) for child in branch) / len(branch)
    below = [squares(child, of) for child in branch]
    return [own, *(sum(tier) / len(branch) for tier in zip(*below, strict=True))]


def names(branch: Branch, path: tuple[str, ...] = ()) -> dict[int, tuple[str, ...]]:
    """The names of the groups that every client is in."""
    if isinstance(branch, tuple):
        return dict.fromkeys(branch, path)
    return {c: of for i, child in enumerate(branch) for c, of in names(child, (*path, f"node {i}")).items()}


@pytest.fixture
def unbent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Points are measured without curvatures, which take most of the time, and are in `test_estimate`."""
    monkeypatch.setattr("validation.estimate._largest_eigenvalue", lambda *_, **how: Interval(1.0, 1.0, 1.0, 1))


class Tilted:
    """Quadratics h |x|^2 / 2 + v_c x, whose gradients differ by the tilts at every point; with noise of their own."""

    def __init__(self, branch: Branch, sigma: float = 0.3, seed: int = 0) -> None:
        clients = len(flat(branch))
        self.branch, self.h, self.sigma = branch, torch.linspace(0.5, 2, DIM, dtype=torch.float64), sigma
        self.v = torch.randn(clients, DIM, generator=generator(seed), dtype=torch.float64)
        paths = names(branch)
        every = [sorted({path[: i + 1] for path in paths.values()}) for i in range(depth(branch) - 1)]
        self.groups = [every[-1].index(paths[c]) for c in range(clients)]
        self.above = [[tier.index(group[: i + 1]) for group in every[-1]] for i, tier in enumerate(every[:-1])]

    def start(self) -> Any:
        return torch.full((DIM,), 2.0, dtype=torch.float64)

    def pieces(self, client: int, x: Any) -> Iterator[Any]:
        yield (self.h * x**2 / 2 + self.v[client] * x).sum()

    def batch(self, client: int, x: Any, dice: Any) -> Any:
        noise = torch.randn(DIM, generator=dice, dtype=x.dtype) * self.sigma / math.sqrt(DIM)
        return sum(self.pieces(client, x)) + (noise * x).sum()

    def star(self, rate: float, steps: int, local_steps: int, seed: int) -> Any:
        """The last iterate of a star of stars, written out literally."""
        x = self.start()
        for begin in range(0, steps, local_steps):

            def end(client: int, begin: int = begin, x: Any = x) -> Any:
                own = x.clone()
                for step in range(begin, begin + local_steps):
                    noise = torch.randn(DIM, generator=generator(seed, STEPS, step, client), dtype=x.dtype)
                    own = own - rate * (self.h * own + self.v[client] + noise * self.sigma / math.sqrt(DIM))
                return own

            x = mean_of(self.branch, end)
        return x


@pytest.mark.parametrize("branch", [EQUAL, UNEQUAL, DEEPER])
def test_every_tier_is_what_literal_means_of_means_say(branch: Branch) -> None:
    losses = Tilted(branch)
    found = estimate(losses, rate=0.1, steps=8, local_steps=4, points=2, batches=2, curved=1, close=1.0, seed=3)
    truth = squares(branch, lambda c: losses.v[c])
    assert [point.step for point in found.points] == [0, 8]
    for point in found.points:
        assert [tier.estimate for tier in point.tiers] == pytest.approx(truth, rel=1e-12)
        assert all(tier.low == tier.estimate == tier.high for tier in point.tiers)
        for i, square in enumerate(truth, start=1):
            assert point.of(f"delta{i}").estimate == pytest.approx(math.sqrt(square), rel=1e-12)
    end = losses.star(0.1, 8, 4, 3)
    assert found.points[-1].loss == pytest.approx(
        float(mean_of(branch, lambda c: (losses.h * end**2 / 2 + losses.v[c] * end).sum())), rel=1e-12
    )
    mean = mean_of(branch, lambda c: losses.h * end + losses.v[c])
    assert found.points[-1].of("gradient").estimate == pytest.approx(float(mean.norm()), rel=1e-12)


@pytest.mark.usefixtures("unbent")
def test_the_noise_of_mini_batches_is_taken_out_of_every_tier() -> None:
    """It would add sigma^2 over the batches, 3, to the lowest tier, but for the means of few children."""
    losses, seen, inside, repetitions = Tilted(UNEQUAL, sigma=5.0), [], np.zeros(3), 24
    truth = np.array(squares(UNEQUAL, lambda c: losses.v[c]))
    options: dict[str, Any] = {"steps": 0, "batches": 3, "gradients": "batches", "curved": 1, "close": 1.0}
    for seed in range(repetitions):
        (point,) = estimate(losses, rate=0.1, seed=seed, level=0.9, **options).points
        seen.append([tier.estimate for tier in point.tiers])
        inside += [tier.low <= square <= tier.high for tier, square in zip(point.tiers, truth, strict=True)]
    error = np.std(seen, axis=0, ddof=1) / math.sqrt(repetitions)
    assert (np.abs(np.mean(seen, axis=0) - truth) < 3 * error).all()
    noise = np.array(squares(UNEQUAL, lambda c: np.eye(15)[c])) * 5.0**2 / 3  # independent, of one size at all clients
    assert (6 * error < noise).all() and np.min(seen) > 0  # noise that stayed would be seen, and nothing was cut at 0
    assert (inside >= binom.ppf(1e-3, repetitions, 0.9)).all()


@pytest.mark.parametrize("gradients", ["full", "batches"])
def test_a_tree_of_one_region_is_that_of_two_tiers_and_a_tier_of_single_children_has_none(gradients: Any) -> None:
    cheap: dict[str, Any] = {"rate": 0.1, "batches": 5, "curved": 1, "close": 1.0}
    options: dict[str, Any] = {**cheap, "steps": 8, "local_steps": 4, "follow": 8}
    losses = Tilted([[(0, 1), (2, 3, 4), (5,)]])
    above = estimate(losses, gradients=gradients, **options)
    losses.above = []
    two = estimate(losses, gradients=gradients, **options)
    assert above.followed == two.followed
    for high, low in zip(above.points, two.points, strict=True):
        assert high.tiers == (replace(high.tiers[0], estimate=0.0, low=0.0, high=0.0), *low.tiers)
        assert (high.loss, high.sigma2, high.L, high.gradient2) == (low.loss, low.sigma2, low.L, low.gradient2)
    chained, plain = Tilted([[(0, 1)], [(2, 3, 4)]]), Tilted([(0, 1), (2, 3, 4)])
    assert torch.equal(chained.v, plain.v)
    once: dict[str, Any] = {**cheap, "steps": 0, "gradients": gradients}
    (three,), (flat,) = (estimate(of, **once).points for of in (chained, plain))
    assert three.tiers[1].estimate == 0
    assert (three.tiers[0].estimate, three.tiers[2].estimate) == (flat.delta2.estimate, flat.zeta2.estimate)


@pytest.mark.usefixtures("unbent")
def test_with_equal_nodes_the_tiers_above_sum_to_the_deviation_of_servers_and_those_at_the_top_are_of_regions() -> None:
    """Measured twice, with servers as groups and with regions, as `benchmarks/three_tiers.py` once did."""
    losses = Tilted(EQUAL)
    (whole,) = estimate(losses, steps=0, rate=0.1, batches=2, curved=1).points
    servers, regions = Tilted(EQUAL), Tilted(EQUAL)
    servers.above = []
    regions.groups, regions.above = [c // 6 for c in range(18)], []
    (low,), (high,) = (estimate(of, steps=0, rate=0.1, batches=2, curved=1).points for of in (servers, regions))
    assert whole.tiers[0].estimate == pytest.approx(high.delta2.estimate, rel=1e-12)
    assert whole.tiers[1].estimate == pytest.approx(low.delta2.estimate - high.delta2.estimate, rel=1e-12)
    assert whole.tiers[2].estimate == pytest.approx(low.zeta2.estimate, rel=1e-12)
    assert whole.apart2 == pytest.approx(low.apart2, rel=1e-12)


class Scaled(Tilted):
    """Quadratics a_c |x|^2 / 2, which share their minimum."""

    def pieces(self, client: int, x: Any) -> Iterator[Any]:
        yield (client + 1) * (x**2).sum() / 2

    def batch(self, client: int, x: Any, dice: Any) -> Any:
        return sum(self.pieces(client, x))


def test_deviations_of_all_tiers_fade_together_on_the_objective_of_the_tree() -> None:
    """The mean curvature is that of the tree; x halves in every step at half of one over it, and all squares by 4."""
    mean = float(mean_of(UNEQUAL, lambda c: np.array([c + 1.0]))[0])
    found = descend(Scaled(UNEQUAL), mean, steps=8).fading
    assert found == pytest.approx(2 * (8 - 2) * math.log(2) / math.log(8 / 2), rel=1e-9)


# ---------------------------------------------------------------- modules on data


def digits(branch: Branch, least: int = 12, order: Sequence[int] | None = None, batch: int = 8) -> Partitioned:
    """A perceptron on digits, clients of unequal size in some order."""
    pytest.importorskip("sklearn")
    from sklearn.datasets import load_digits

    pixels, labels = load_digits(return_X_y=True)
    paths, rows = names(branch), np.random.default_rng(0).permutation(1797)
    ends = np.cumsum([0, *(least + 3 * c for c in range(len(paths)))])
    clients = []
    for c in order if order is not None else range(len(paths)):
        own = rows[ends[c] : ends[c + 1]]
        clients.append((paths[c], (pixels[own] / 16).astype(float), labels[own]))
    torch.manual_seed(0)
    module = torch.nn.Sequential(torch.nn.Linear(64, 4), torch.nn.Tanh(), torch.nn.Linear(4, 10)).double()
    return partitioned(module, clients, batch=batch)


@pytest.mark.usefixtures("unbent")
def test_names_in_tuples_make_the_tree_and_the_order_of_clients_changes_nothing() -> None:
    losses = digits(UNEQUAL)
    assert isinstance(losses, Nested) and isinstance(losses, Joint)
    assert [sorted(map(len, tier)) for tier in tree_of(losses)] == [[3], [1, 2, 3], [1, 2, 2, 3, 3, 4]]
    (point,) = estimate(losses, steps=0, batches=2, curved=1, close=1.0).points

    def slope(client: int) -> Any:
        losses.module.zero_grad()
        outputs = losses.module(losses.inputs[client])
        torch.nn.functional.cross_entropy(outputs, losses.targets[client]).backward()
        return torch.cat([part.grad.flatten().clone() for part in losses.module.parameters()])

    slopes = [slope(c) for c in range(15)]
    assert [t.estimate for t in point.tiers] == pytest.approx(squares(UNEQUAL, slopes.__getitem__), rel=1e-9)
    (mixed,) = estimate(digits(UNEQUAL, order=np.random.default_rng(1).permutation(15).tolist()), steps=0, batches=2,
                        curved=1, close=1.0).points  # fmt: skip
    assert [t.estimate for t in mixed.tiers] == pytest.approx([t.estimate for t in point.tiers], rel=1e-9)


def test_what_chance_makes_of_every_tier_is_what_drawn_means_have() -> None:
    losses, dice = digits(UNEQUAL), np.random.default_rng(3)
    sizes = [math.sqrt(0.7 * 8 / (len(held) - 1)) for held in losses.inputs]
    drawn = []
    for _ in range(40):  # the mean over 100 draws at a time
        points = dice.normal(size=(100, 15)) * sizes / 10
        drawn.append(squares(UNEQUAL, lambda c, points=points: points[:, c]))  # type: ignore[misc]
    error = np.std(drawn, axis=0) / math.sqrt(len(drawn))
    assert (np.abs(np.mean(drawn, axis=0) - losses.by_chance(0.7)) < 4 * error).all()
    assert (error < 0.03 * np.array(losses.by_chance(0.7))).all()


@pytest.mark.usefixtures("unbent")
def test_label_shares_explain_every_tier_of_clients_that_differ_in_labels_alone() -> None:
    pytest.importorskip("sklearn")
    from sklearn.datasets import load_digits

    pixels, labels = load_digits(return_X_y=True)
    chosen = [np.flatnonzero(labels == label)[:3] for label in range(3)]
    paths, clients = names(UNEQUAL), []
    for c in range(15):
        rows = np.concatenate(
            [np.tile(own, (c * (label + 2)) % 4 + (label == c % 3)) for label, own in enumerate(chosen)]
        )
        clients.append((paths[c], (pixels[rows] / 16).astype(float), labels[rows]))
    torch.manual_seed(0)
    losses = partitioned(torch.nn.Linear(64, 10).double(), clients)
    (point,) = estimate(losses, steps=0, batches=2, curved=1).points
    assert point.label_tiers == pytest.approx([tier.estimate for tier in point.tiers], rel=1e-9)
    assert min(point.label_tiers or ()) > 0


@pytest.mark.parametrize("gradients", ["full", "batches"])
def test_mini_batches_of_many_clients_in_one_call_weigh_as_in_the_tree(gradients: Any) -> None:
    losses = digits(UNEQUAL)

    class Single:
        """The same, one client at a time."""

        groups, above, start, pieces, batch = losses.groups, losses.above, losses.start, losses.pieces, losses.batch

    assert not isinstance(Single(), Joint)
    together, alone = (descend(one, 2.0, steps=8, gradients=gradients, seed=4).fading for one in (losses, Single()))
    assert together == pytest.approx(alone, rel=1e-6) and together is not None


@pytest.mark.parametrize(
    ("groups", "told"),
    [
        ([("a", "b"), "a"], "tuples of different lengths. Name as many tiers for every client"),
        ([("a", "b"), ("a",)], "tuples of different lengths"),
        ([(), ()], "tuples of different lengths"),
    ],
)
def test_groups_of_different_depths_are_refused(groups: list[object], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        partitioned(torch.nn.Linear(2, 2), [(group, [[1.0, 2.0]], [0]) for group in groups])


@pytest.mark.parametrize("above", [[[0, 2]], [[0, 1], [0, 0]], [[0, 1, 1]]])
def test_ancestors_that_are_no_tree_are_refused(above: list[list[int]]) -> None:
    losses = Tilted([(0, 1), (2, 3)])
    losses.above = above
    with pytest.raises(ValidationError, match="groups are in no tree"):
        tree_of(losses)


# ---------------------------------------------------------------- the command


HOOK = """
import torch
from torch import nn

def model():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 3))

def samples(many, seed):
    made = torch.Generator().manual_seed(seed)
    y = torch.randint(3, (many,), generator=made)
    return torch.randn(many, 4, generator=made) + y[:, None] * (seed % 5), y

def clients():
    return [((f"n{c // 6}", f"e{c // 2}"), *samples(20 + c, c)) for c in range(12)]
"""
SMALL = ("--steps", 4, "--local-steps", 2, "--points", 2, "--batches", 3, "--curvature-clients", 1, "--follow", 8)
UNDRAWN = ("--set", "plan.draws=0")


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


ESTIMATED: dict[Path, dict[str, Any]] = {}


@pytest.fixture
def measured(plan: Any, unbent: None, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """Once in the file: tests read the profile and leave it as it is."""
    if not ESTIMATED:
        folder = tmp_path_factory.mktemp("measured")
        (folder / "hook.py").write_text(HOOK)
        profile = folder / "profile.json"
        code, out, err = plan("estimate", folder / "hook.py", "--rate", 0.1, *SMALL, "--json", "-o", profile)
        assert (code, err) == (0, f"hfl-plan: wrote {profile}\n")
        ESTIMATED[profile] = json.loads(out)
    return next(iter(ESTIMATED.items()))


@pytest.mark.usefixtures("unflipped")
def test_a_profile_of_three_tiers_is_read_with_its_fleet_and_without_doubt(
    plan: Any, measured: tuple[Path, dict[str, Any]]
) -> None:
    profile, document = measured
    found, read = document["estimate"], read_profile(profile)
    assert read.tiers is not None and read.ratio.value is None
    assert [tier.children for tier in read.tiers] == [2, 3, 2]
    largest = [found[f"delta{i}"]["largest"]["value"] for i in (1, 2, 3)]
    assert [tier.deviation2.value for tier in read.tiers] == pytest.approx([x**2 for x in largest], rel=1e-4)
    assert (read.delta2, read.zeta2) == (read.tiers[0].deviation2, read.tiers[-1].deviation2)
    (step,) = document["next"]
    code, out, _ = plan(*step["argv"][1:], "--set", "plan.draws=256", "--json")
    answer = json.loads(out)
    scenario = answer["scenario"]
    assert code == 0 and [scenario[f"n{i}"]["value"] for i in (1, 2, 3)] == [2, 3, 2]
    assert [scenario[f"delta{i}"]["value"] for i in (1, 2, 3)] == pytest.approx(largest, rel=1e-4)
    assert {scenario[f"delta{i}"]["origin"] for i in (1, 2, 3)} == {"estimated"}
    drawn = {one["name"] for one in answer["recommend"]["uncertainty"]["inputs"]["drawn"]}
    assert "sigma" in drawn and not drawn & {"delta1", "delta2", "delta3"}  # exact at their points
    _, page, _ = plan("recommend", "--heterogeneity", profile, *UNDRAWN)
    assert all(f"delta{i} = " in " ".join(page.split()) for i in (1, 2, 3))


@pytest.mark.usefixtures("unflipped", "unbent")
def test_errors_of_mini_batches_are_drawn_for_every_tier(plan: Any, tmp_path: Path) -> None:
    (tmp_path / "hook.py").write_text(HOOK)
    profile = tmp_path / "profile.json"
    code, _, err = plan(
        "estimate", tmp_path / "hook.py", "--rate", 0.1, *SMALL, "--gradients", "batches", "-o", profile
    )
    assert code == 0, err
    answer = json.loads(plan("recommend", "--heterogeneity", profile, "--set", "plan.draws=256", "--json")[1])
    drawn = {one["name"]: one["kind"] for one in answer["recommend"]["uncertainty"]["inputs"]["drawn"]}
    assert [drawn[f"delta{i}"] for i in (1, 2, 3)] == ["measured"] * 3


def test_other_commands_read_the_profile(
    plan: Any, measured: tuple[Path, dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    profile = measured[0]
    monkeypatch.setattr("planner.decide.sensitivity._followed", lambda *_: ([], {}))  # numbers take most of the time
    for words in (("tune", "-K", "1,2"), ("flip",)):
        code, out, err = plan(*words, "--heterogeneity", profile, *UNDRAWN, "--json")
        assert code == 0, err
        assert json.loads(out)["scenario"]["delta2"]["origin"] == "estimated"
    code, out, err = plan("hubs", "--nodes", 12, "--edges", 64, "--heterogeneity", profile, "--json")
    tiers = read_profile(profile).tiers
    assert code == 0 and tiers is not None, err
    whole = math.sqrt(sum(tier.deviation2.value or 0.0 for tier in tiers))
    assert json.loads(out)["scenario"]["H"]["value"] == pytest.approx(whole, rel=1e-9)


@pytest.mark.usefixtures("unbent")
def test_text_says_which_tier_is_which(plan: Any, tmp_path: Path) -> None:
    (tmp_path / "hook.py").write_text(HOOK.replace("range(12)", "(*range(8), 11)"))
    code, out, _ = plan("estimate", tmp_path / "hook.py", "--rate", 0.1, *SMALL, "--explain")
    said = " ".join(out.split())
    assert code == 0
    for words in (
        "tier 1 delta1",
        "tier 2 delta2",
        "clients delta3",
        "9 clients: 2 x 2 to 3 x 1 to 2",
        "delta3/sigma",
    ):
        assert words in said
    assert "Unequal nodes (2 x 2 to 3 x 1 to 2); all children of a node count the same" in said
    assert "zeta" not in said
    (tmp_path / "hook.py").write_text(HOOK.replace('f"n{c // 6}"', '"n"'))
    assert "No node of tier 1 has a sibling, so delta1 is 0." in " ".join(
        plan("estimate", tmp_path / "hook.py", "--rate", 0.1, *SMALL, "--explain")[1].split()
    )


@pytest.mark.usefixtures("unflipped", "unbent")
def test_unequal_nodes_of_a_profile_are_said(plan: Any, tmp_path: Path) -> None:
    (tmp_path / "hook.py").write_text(HOOK.replace("range(12)", "(*range(8), 11)"))
    plan("estimate", tmp_path / "hook.py", "--rate", 0.1, *SMALL, "-o", tmp_path / "profile.json")
    answer = json.loads(plan("recommend", "--heterogeneity", tmp_path / "profile.json", *UNDRAWN, "--json")[1])
    assert any("have 2/2.5/1.8 children in the mean" in one["text"] for one in answer["warnings"])


@pytest.mark.usefixtures("unbent")
def test_hooks_and_scenarios_of_other_depths_are_refused(
    plan: Any, measured: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    three, two = measured[0], tmp_path / "two.json"
    (tmp_path / "flat.py").write_text(HOOK.replace('(f"n{c // 6}", f"e{c // 2}")', 'f"e{c // 2}"'))
    assert plan("estimate", tmp_path / "flat.py", "--rate", 0.1, *SMALL, "-o", two)[0] == 0
    for words, fact, way in (
        (("--heterogeneity", three, "-G", 2, "-M", 6), "profile.json has 3", "Leave it out"),
        (("--heterogeneity", three, "--tiers", "ring:2/star:6"), "is of 3 tiers, and this fleet has 2", "Give 2"),
        (
            ("--heterogeneity", two, "--tiers", "2/3/2"),
            "is of 2 tiers, and this fleet has 3",
            "a file with a column for each tier",
        ),
    ):
        code, out, err = plan("recommend", *words)
        assert (code, out) == (2, "") and fact in err and way in " ".join(err.split()), err
