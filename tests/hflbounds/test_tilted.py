"""The bound over losses that differ by a tilt, against runs with every order enumerated."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from hflbounds import ConditionError, DomainError, get, tilt_bound, tilt_tuned
from hflbounds.tilted import Measure, Placement, accumulated, affine_round, coefficients, log_uniform, mean_over, mixed
from hflbounds.topology import Order, Tier, Topology, all_topologies, two_tier

Array = npt.NDArray[np.float64]
Node = tuple[int, ...]
Orders = dict[Node, tuple[int, ...]]


# ---------------------------------------------------------------- the algorithm, literally, in one coordinate
def one_round(
    tree: Topology, K: int, step: Fraction, orders: Orders
) -> tuple[Fraction, dict[Node, Fraction], Fraction]:
    """A round of the listings: factor of the model, weights of the clients' tilts, sum of squared weights of noise."""
    count = itertools.count()

    def call(node: Node, model: dict[object, Fraction]) -> dict[object, Fraction]:
        if len(node) == tree.depth:
            for _ in range(K):
                model = {key: (1 - step) * weight for key, weight in model.items()}
                model[node] = model.get(node, Fraction(0)) - 1
                model[("noise", next(count))] = Fraction(-1)
            return model
        tier = tree.tiers[len(node)]
        for _ in range(tier.passes):
            ends: list[dict[object, Fraction]] = []
            for child in orders[node]:
                ends.append(call((*node, child), ends[-1] if ends and tier.pattern.id == "ring" else model))
            if tier.pattern.id == "ring":
                model = ends[-1]
            else:
                keys = set().union(*ends)
                model = {key: sum((end.get(key, Fraction(0)) for end in ends), Fraction(0)) / len(ends) for key in keys}
        return model

    end = call((), {"x": Fraction(1)})
    noise = sum((w * w for key, w in end.items() if isinstance(key, tuple) and key[0] == "noise"), Fraction(0))
    tilts = {key: w for key, w in end.items() if isinstance(key, tuple) and key[0] != "noise"}
    return end["x"], tilts, noise


def inner(tree: Topology) -> Iterator[Node]:
    for depth in range(tree.depth):
        yield from itertools.product(*(range(tier.size or 1) for tier in tree.tiers[:depth]))


def drawn(tier: Tier) -> bool:
    return tier.sampled or (tier.order == "random" and tier.pattern.id == "ring")


def all_orders(tree: Topology, which: bool | None) -> list[Orders]:
    """Every joint order of the nodes of tiers that are drawn each round (True), that are not (False), or of none."""
    nodes = list(inner(tree))
    choices = []
    for node in nodes:
        tier = tree.tiers[len(node)]
        vary = which is not None and drawn(tier) == which and (which or tier.pattern.id == "ring")
        whole = tuple(range(tier.size or 1))
        choices.append(list(itertools.permutations(whole, tier.taking_part)) if vary else [whole[: tier.taking_part]])
    return [dict(zip(nodes, chosen, strict=True)) for chosen in itertools.product(*choices)]


class Moments:
    """Of a coordinate's offset as linear forms of the clients' tilts: its mean, and the mean of its square."""

    def __init__(self, tree: Topology, K: int, step: Fraction, placed: Orders | None = None) -> None:
        clients = list(itertools.product(*(range(tier.size or 1) for tier in tree.tiers)))
        rows = []
        for orders in all_orders(tree, True):
            if placed is not None:
                orders = {node: placed[node] if not drawn(tree.tiers[len(node)]) else orders[node] for node in orders}
            self.alpha, tilts, noise = one_round(tree, K, step, orders)
            rows.append([float(tilts.get(client, 0)) for client in clients])
            self.noise = float(noise)
        table = np.array(rows)
        self.mean = table.mean(0)
        self.square = table.T @ table / len(table)

    def form(self, R: int, measure: Measure) -> tuple[Array, float]:
        """The mean square after R rounds, or its mean over rounds: a form of (start, tilts), and that of the noise."""
        a, many = float(self.alpha), len(self.mean)
        first = np.zeros(many + 1)  # the mean of x, as a linear form
        first[0] = 1.0
        second, noise = np.outer(first, first), 0.0
        total, total_noise = np.zeros_like(second), 0.0
        offset = np.concatenate([[0.0], self.mean])
        squares = np.zeros_like(second)
        squares[1:, 1:] = self.square
        for _ in range(R):
            total, total_noise = total + second, total_noise + noise
            cross = a * np.outer(first, offset)
            second, noise = a * a * second + cross + cross.T + squares, a * a * noise + self.noise
            first = a * first + offset
        return (second, noise) if measure == "loss" else (total / R, total_noise / R)


@cache
def gaps_of(tree: Topology, tier: int) -> Array:
    """An orthonormal basis of a tier's gaps, as tilts of clients, with mean square 1 over the tier's nodes."""
    sizes = [one.size or 1 for one in tree.tiers]
    n = sizes[tier]
    centred = np.linalg.svd(np.eye(n) - 1 / n)[0][:, : n - 1]
    above, below = math.prod(sizes[:tier]), math.prod(sizes[tier + 1 :])
    basis = np.kron(np.kron(np.eye(above), centred), np.ones((below, 1)))
    return np.asarray(basis * math.sqrt(above * n))


def largest(form: Array) -> float:
    return float(np.linalg.eigvalsh(form)[-1]) if form.size else 0.0


TREES = [
    ("ring:3/star:2", "fixed"),
    ("star:2/ring:3", "fixed"),
    ("ring:3/ring:2", "fixed"),
    ("ring:2/ring:3", "random"),
    ("ring:3/star:2", "random"),
    ("star:3:2/ring:2", "fixed"),
    ("ring:3:2/ring:2", "fixed"),
    ("star:3:2/star:2:1", "fixed"),
    ("ring:3:2/ring:2:1", "fixed"),
    ("star:2/ring:2/ring:2", "fixed"),
    ("ring:2/star:2:1/ring:2", "fixed"),
    ("ring:2/star:2/ring:2", "random"),
    ("ring:3:3:2/star:2:2:2", "fixed"),
    ("star:3:2/ring:2:2:2", "random"),
]


def tree_of(text: str, order: str) -> Topology:
    tiers = []
    for part in text.split("/"):
        name, *numbers = part.split(":")
        size, taking_part, passes = [*map(int, numbers), 0, 0][:3]
        tiers.append(Tier(name, size, taking_part or None, passes or 1, order))  # type: ignore[arg-type]
    return Topology(tuple(tiers))


@pytest.mark.parametrize("measure", ["loss", "gradient"])
@pytest.mark.parametrize(("text", "order"), TREES)
def test_each_part_is_attained(text: str, order: str, measure: Measure) -> None:
    tree = tree_of(text, order)
    mixed = [
        drawn(tier) is False and any(drawn(above) for above in tree.tiers[:i]) and i > 1
        for i, tier in enumerate(tree.tiers)
    ]
    for K, step, R in ((1, Fraction(1, 3), 3), (2, Fraction(1, 50), 4), (1, Fraction(7, 4), 3), (2, Fraction(1), 2)):
        found = coefficients(tree, K=K, R=R, step=float(step), measure=measure)
        moments = Moments(tree, K, step)
        form, noise = moments.form(R, measure)
        assert found[0] == pytest.approx(form[0, 0], rel=1e-11, abs=1e-15)
        assert found[1] == pytest.approx(noise, rel=1e-11)
        for place in range(tree.depth):
            basis = gaps_of(tree, place)
            worst = largest(basis.T @ form[1:, 1:] @ basis)
            exact = not mixed[place] and step <= 1
            assert worst <= found[2 + place] * (1 + 1e-10) + 1e-13
            if exact:
                assert found[2 + place] == pytest.approx(worst, rel=1e-9, abs=1e-13), (K, step, place)


@pytest.mark.parametrize(("text", "order"), [(t, o) for t, o in TREES if len(t) < 16])
def test_shuffled_once_is_the_mean_over_placements(text: str, order: str) -> None:
    tree, rng = tree_of(text, order), np.random.default_rng(3)
    placements = all_orders(tree, False)
    for K, step, R in ((1, Fraction(1, 3), 3), (2, Fraction(8, 5), 2)):
        forms = [Moments(tree, K, step, placed).form(R, "loss")[0] for placed in placements]
        form = np.asarray(np.mean(forms, axis=0))
        found = coefficients(tree, K=K, R=R, step=float(step), placement="shuffled")
        tilts = np.zeros(len(form) - 1)
        total = found[0]
        for place in range(tree.depth):
            basis = gaps_of(tree, place)
            free = rng.normal(size=basis.shape[1])
            gap = np.asarray(basis @ free)
            tilts += gap
            alone = float(np.einsum("i,ij,j", gap, form[1:, 1:], gap))
            assert alone == pytest.approx(found[2 + place] * float(np.square(free).sum()), rel=1e-10, abs=1e-14)
            total += alone
        given = np.concatenate([[1.0], tilts])  # nothing adds up: start and tiers are orthogonal in the mean
        assert float(np.einsum("i,ij,j", given, form, given)) == pytest.approx(total, rel=1e-10)


# ---------------------------------------------------------------- the worst case over spectra
MEASURES: tuple[Measure, ...] = ("loss", "mean-loss", "gradient")


def of_curvature(measure: Measure, h: Array | float) -> Array | float:
    return h * h if measure == "gradient" else h / 2


@cache
def forms_at(text: str, order: str, steps: tuple[Fraction, ...], what: Any) -> list[tuple[Array, float]]:
    """Of K = 2 and R = 5 at every step; kept, as two measures ask for the same."""
    return [Moments(tree_of(text, order), 2, step).form(5, what) for step in steps]


@pytest.mark.parametrize(
    ("text", "order", "measure"),
    [  # the loss of every second tree, and of the others the means, two of which have the same moments
        pytest.param(*tree, measure, marks=() if (measure == "loss") == (i % 2 == 0) else pytest.mark.slow)
        for i, tree in enumerate((TREES[0], TREES[2], TREES[6], ("ring:2/ring:2", "random")))
        for measure in MEASURES
    ],
)
def test_no_spectrum_is_worse_and_one_direction_attains_each_part(text: str, order: str, measure: Measure) -> None:
    tree, K, R, L = tree_of(text, order), 2, 5, 3.0
    rng = np.random.default_rng(5)
    for eta in (0.02 if measure == "loss" else 0.3, 0.62):
        steps = [Fraction(math.floor(eta * L * x * 2**30), 2**30) for x in np.geomspace(1e-4, 1, 80)]
        h = [float(step) / eta for step in steps]
        forms = forms_at(text, order, tuple(steps), "loss" if measure == "loss" else "gradient")
        weights = np.array([of_curvature(measure, one) for one in h])
        none: dict[str, Any] = {"Delta0": 0, "sigma": 0, "deltas": (0, 0)}
        asked: dict[str, Any] = {"K": K, "R": R, "L": L, "measure": measure, "eta": eta}
        start = tilt_bound(tree, **asked, **none | {"Delta0": 1})
        dense = max(w * form[0, 0] for w, (form, _) in zip(weights, forms, strict=True))
        assert dense <= start * (1 + 1e-12)
        assert dense == pytest.approx(start, rel=1e-2)
        noise = tilt_bound(tree, **asked, **none | {"sigma": 1})
        dense = max(w * eta**2 * n for w, (_, n) in zip(weights, forms, strict=True))
        assert noise * (1 + 1e-12) >= dense == pytest.approx(noise, rel=1e-2)
        for place in range(2):
            unit = tuple(float(i == place) for i in range(2))
            basis = eta * gaps_of(tree, place)
            dense = max(w * largest(basis.T @ f[1:, 1:] @ basis) for w, (f, _) in zip(weights, forms, strict=True))
            bound = tilt_bound(tree, **asked, **none | {"deltas": unit})
            assert bound * (1 + 1e-12) + 1e-15 >= dense
            if eta * L <= 1:
                assert dense == pytest.approx(bound, rel=1e-2, abs=1e-15)
        for _ in range(20):  # several directions at once, each constant spread over them at random
            chosen = rng.integers(0, len(h), size=4)
            share = rng.dirichlet(np.full(4, 0.4), size=4)
            delta0, sigma, deltas = rng.lognormal(size=3)[0], rng.lognormal(), rng.lognormal(size=2)
            total = 0.0
            for k, place in enumerate(chosen):
                form, unit_noise = forms[place]
                gaps = sum(
                    (
                        eta * d * math.sqrt(part) * gaps_of(tree, i) @ _unit(rng, gaps_of(tree, i).shape[1])
                        for i, (d, part) in enumerate(zip(deltas, share[2:, k], strict=True))
                    ),
                    np.zeros(len(form) - 1),
                )
                state = np.concatenate([[math.sqrt(delta0 * share[0, k])], gaps])
                total += weights[place] * (state @ form @ state + eta**2 * sigma**2 * share[1, k] * unit_noise)
            assert total <= tilt_bound(tree, **asked, Delta0=delta0, sigma=sigma, deltas=deltas) * (1 + 1e-10)


def _unit(rng: np.random.Generator, size: int) -> Array:
    vector = rng.normal(size=size)
    return np.asarray(vector / np.linalg.norm(vector))


def exact_worst_case(tree: Topology, K: int, R: int, h: Array, eta: float, units: Array) -> tuple[float, Array]:
    """The largest loss of a last model over starts and tilts of a fixed order, spread over curvatures, by its dual.

    It is the least ``sum units/phi`` over ``phi >= 0`` with ``sum phi c(h) <= 1`` at every curvature.
    """
    from scipy.optimize import minimize  # reason: heavy

    found = coefficients(tree, K=K, R=R, step=eta * h)
    parts = np.concatenate([found[:1], eta**2 * found[2:]]) * h / 2
    scale = np.maximum(parts.max(1), 1e-300)
    used = (units > 0) & (parts.max(1) > 0)
    values, goal = (parts / scale[:, None])[used], (units * scale)[used]
    begin = np.full(int(used.sum()), 1 / used.sum())
    answer = minimize(
        lambda phi: float(np.log((goal / phi).sum())),
        begin,
        jac=lambda phi: -goal / phi**2 / (goal / phi).sum(),
        constraints={"type": "ineq", "fun": lambda phi: 1 - phi @ values, "jac": lambda phi: -values.T},
        bounds=[(1e-9, None)] * len(begin),
        method="SLSQP",
        options={"maxiter": 300, "ftol": 1e-12},
    )
    phi = answer.x / max(1.0, float((answer.x @ values).max()))
    return float((goal / phi).sum()), phi


ORDERED = ["ring:3/ring:2", "ring:4/star:2", "star:3/ring:5", "ring:2/ring:2/ring:2"]


def test_what_adds_up_costs_little() -> None:
    """The bound over the exact worst case of a fixed order, start and tilts together: never below, and how far up."""
    rng, ratios = np.random.default_rng(11), []
    for _ in range(60):
        tree = tree_of(str(rng.choice(ORDERED)), "fixed")
        K, R, eta = int(rng.integers(1, 4)), int(rng.integers(1, 40)), float(rng.choice([0.01, 0.1, 0.5, 1.0]))
        units = rng.lognormal(sigma=2.0, size=1 + tree.depth)
        h = np.geomspace(1e-5, 1, 400)
        exact, _ = exact_worst_case(tree, K, R, h, eta, units)
        bound = tilt_bound(
            tree, K=K, R=R, L=1, Delta0=units[0], sigma=0, deltas=[math.sqrt(x) for x in units[1:]], eta=eta
        )
        ratios.append(bound / exact)
    assert min(ratios) > 1 - 1e-6
    assert max(ratios) < 1.5, max(ratios)
    assert float(np.median(ratios)) < 1.1, float(np.median(ratios))


# ---------------------------------------------------------------- limits and identities
def test_alone_it_is_gradient_descent() -> None:
    one = Topology((Tier("star", 1),))
    for v, R in ((0.5, 10), (1.0, 3), (1.5, 7)):
        h = np.linspace(1e-6, 1, 400_001)
        wanted = (h / 2 * (1 - v * h) ** (2 * R)).max()
        assert tilt_bound(one, K=1, R=R, L=1, Delta0=1, sigma=0, deltas=[0], eta=v) == pytest.approx(wanted, rel=1e-9)
    # stationary stochastic gradient descent at the largest curvature: eta/(2 (2 - eta L))
    limit = tilt_bound(one, K=1, R=10**6, L=2, Delta0=0, sigma=3, deltas=[0], eta=0.3)
    assert limit == pytest.approx(9 * 0.3 / (2 * (2 - 0.6)), rel=1e-9)


def test_identical_clients_in_a_ring_are_plain_descent_of_all_steps() -> None:
    tree = Topology((Tier("ring", 4), Tier("ring", 3, passes=2)))
    told: dict[str, Any] = {"L": 2.0, "Delta0": 1.5, "sigma": 0.7, "eta": 0.11}
    chain = tree.local_steps(5)
    ring = tilt_bound(tree, K=5, R=7, deltas=[0, 0], **told)
    assert ring == pytest.approx(
        tilt_bound(Topology((Tier("ring", 1),)), K=1, R=7 * chain, deltas=[0], **told), rel=1e-9
    )


def test_full_stars_feel_no_tilt() -> None:
    tree = Topology((Tier("star", 4), Tier("star", 3, passes=2)))
    told: dict[str, Any] = {"K": 5, "R": 7, "L": 1.0, "Delta0": 1.0, "sigma": 0.0, "eta": 0.4}
    assert tilt_bound(tree, **told, deltas=[9, 9]) == tilt_bound(tree, **told, deltas=[0, 0])


def test_the_best_step_is_the_best_of_many_and_arrays_are_numbers() -> None:
    tree = Topology((Tier("ring", 4), Tier("star", 5, drawn=2)))
    cases: list[dict[str, Any]] = [
        {"R": 300, "L": 2.0, "Delta0": 1.0, "sigma": 1.0, "deltas": (0.5, 0.2)},
        {"R": 30, "L": 2.0, "A": 1.0, "mu": 1e-3, "sigma": 0.3, "deltas": (0.5, 0.2)},
        {"R": 30, "L": 2.0, "A": 1.0, "sigma": 0.3, "deltas": (0.5, 0.2), "measure": "gradient"},
    ]
    for told in cases:
        best = tilt_tuned(tree, K=2, **told)
        grid = np.geomspace(1e-5, 0.999, 1000)
        dense = tilt_bound(tree, K=2, **told, eta=grid)
        assert best.value == pytest.approx(dense.min(), rel=1e-5)
        assert best.value == pytest.approx(tilt_bound(tree, K=2, **told), rel=1e-12)
        assert best.value == pytest.approx(tilt_bound(tree, K=2, **told, eta=best.eta), rel=1e-12)
        assert dense[100] == pytest.approx(tilt_bound(tree, K=2, **told, eta=grid[100]), rel=1e-12)
        many = tilt_tuned(tree, K=2, **told | {"sigma": np.array([[0.1], [1.0]]), "R": np.array([10, 300])})
        one = tilt_tuned(tree, K=2, **told | {"sigma": 0.1, "R": 300})
        assert many.value.shape == (2, 2)
        assert (many.value[0, 1], many.eta[0, 1]) == pytest.approx(one, rel=1e-12)


def test_many_points_are_worked_out_in_blocks() -> None:
    tree = Topology((Tier("ring", 3),))
    told: dict[str, Any] = {"K": 2, "R": 9, "L": 1.0, "Delta0": 1.0, "deltas": [0.3], "eta": 0.4}
    sigma = np.linspace(0, 1, 6000).reshape(2, 3000)
    many = tilt_bound(tree, **told, sigma=sigma)
    assert many.shape == (2, 3000)
    assert many[1, 7] == pytest.approx(tilt_bound(tree, **told, sigma=sigma[1, 7]), rel=1e-12)


def test_sums_over_rounds_keep_their_digits() -> None:
    tree = Topology((Tier("ring", 3),))
    for step in (1e-9, 1e-6, 1e-4, 1e-2):
        found = coefficients(tree, K=1, R=40, step=step, measure="gradient")
        a = 1 - Fraction(step)
        weights = [a**2, a, Fraction(1)]
        alpha, noise = a**3, sum(w * w for w in weights)
        offset = 3 * noise - sum(weights) ** 2
        still = sum(sum(alpha**i for i in range(r)) ** 2 for r in range(40)) / 40
        moving = sum(sum(alpha ** (2 * i) for i in range(r)) for r in range(40)) / 40
        start = sum(alpha ** (2 * r) for r in range(40)) / 40
        assert found == pytest.approx([float(start), float(moving * noise), float(still * offset)], rel=1e-9)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("text", ["ring:4/star:5", "star:3/ring:4", "ring:2/ring:3/star:4"])
@pytest.mark.parametrize("order", ["fixed", "random"])
def test_of_shuffled_rounds_one_of_two_bounds_says_all(text: str, order: Order, measure: Measure) -> None:
    """What a tier adds anew is then what it does not keep, so that the other bound is never the less."""
    tree = Topology(tuple(replace(tier, order=order) for tier in Topology.parse(text).tiers))
    one, rounds = affine_round(tree, 3, np.geomspace(1e-6, 1.9, 60), "shuffled"), np.array([[1.0], [7.0], [1e4]])
    told = accumulated(one, rounds, measure)
    np.testing.assert_allclose(told, accumulated(replace(one, whole=False), rounds, measure), rtol=1e-12)
    np.testing.assert_array_equal(accumulated(one, rounds, measure, tiers_alone=True), told[2:])


def test_the_mean_over_a_spectrum_is_that_of_its_curvatures() -> None:
    tree = Topology((Tier("ring", 3), Tier("star", 2)))
    spectrum = log_uniform(decades=2, curvatures=3)
    there = coefficients(tree, K=2, R=20, step=0.3 * spectrum, placement="shuffled")
    found = mean_over(spectrum, there, 0.3)
    total = np.zeros(4)
    for h in (0.01, 0.1, 1.0):
        part = coefficients(tree, K=2, R=20, step=0.3 * h, placement="shuffled") * h / 2
        total += part * np.array([2 / h, 0.09, 0.09, 0.09]) / 3
    assert found == pytest.approx(total, rel=1e-12)


TREE = Topology((Tier("ring", 3), Tier("star", 2)))
GOOD: dict[str, Any] = {"K": 2, "R": 9, "L": 1.0, "Delta0": 1.0, "sigma": 1.0, "deltas": (1, 1), "eta": 0.1}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"deltas": (1,)}, "deltas: 1 numbers for 2 tiers"),
        ({"A": 1.0}, "give one"),
        ({"Delta0": None}, "give one"),
        ({"Delta0": None, "A": 1.0}, "Give the squared distance Delta0"),
        ({"K": 0}, "K = 0"),
        ({"R": 2.5}, "whole numbers"),
        ({"sigma": -1}, "sigma"),
        ({"mu": 2.0}, "mu: the least curvature"),
        ({"measure": "accuracy"}, "measure"),
        ({"placement": "best"}, "placement"),
        ({"L": 0}, "L: "),
    ],
    ids=str,
)
def test_bad_numbers_are_refused(change: dict[str, object], words: str) -> None:
    with pytest.raises(DomainError, match=words.replace(".", r"\.")):
        tilt_bound(TREE, **GOOD | change)


@pytest.mark.parametrize("eta", [0.0, 2.0, 3.0, float("nan")])
def test_steps_that_do_not_contract_are_refused(eta: float) -> None:
    with pytest.raises(ConditionError, match="where local steps contract"):
        tilt_bound(TREE, **GOOD | {"eta": eta})


def test_more_constants_are_never_better() -> None:
    rng = Random(2)
    for _ in range(20):
        tree = tree_of(*rng.choice(TREES))
        told: dict[str, Any] = {name: math.exp(rng.gauss(0, 1)) for name in ("L", "Delta0", "sigma")}
        deltas = [math.exp(rng.gauss(0, 1)) for _ in tree.tiers]
        placement: Placement = rng.choice(["worst", "shuffled"])
        asked: dict[str, Any] = {"K": 2, "R": rng.randint(1, 50), "eta": 0.4 / told["L"], "placement": placement}
        value = tilt_bound(tree, **asked, **told, deltas=deltas)
        for name in told:
            assert tilt_bound(tree, **asked, **told | {name: 1.2 * told[name]}, deltas=deltas) >= value * (1 - 1e-9)
        assert tilt_bound(tree, **asked, **told, deltas=[1.2 * d for d in deltas]) >= value * (1 - 1e-9)


# ---------------------------------------------------------------- the closed forms of the catalogue
@pytest.mark.parametrize("law", ["fixed", "random", "partial"])
@pytest.mark.parametrize("topology", list(all_topologies(2)))
def test_closed_forms_are_never_below_the_exact_worst_case(topology: str, law: str) -> None:
    bound = get(f"hflbounds.tilt{'' if law == 'fixed' else f'-{law}'}.{topology}")
    rng = np.random.default_rng(7)
    near = []
    for i in range(24):
        G, M = (int(n) for n in rng.integers(2, 12, size=2))
        S1, S2 = (int(rng.integers(1, n)) for n in (G, M))
        P, K, R = int(rng.integers(1, 4)), int(rng.integers(1, 7)), int(np.exp(rng.uniform(0, 7)))
        drawn: dict[str, Any] = {"S1": S1, "S2": S2} if law == "partial" else {}
        tree = two_tier(topology, G=G, M=M, P=P, order="random" if law == "random" else "fixed", **drawn)
        L, eta = float(rng.lognormal()), float(np.exp(rng.uniform(-5, 0)))
        Delta0, sigma, zeta, delta = (float(x) for x in rng.lognormal(sigma=2.0, size=4))
        only = [Delta0, sigma, zeta, delta][i % 4]
        if i % 8 < 4:  # one constant alone
            Delta0, sigma, zeta, delta = (only if k == i % 4 else 0.0 for k in range(4))
        exact = tilt_bound(tree, K=K, R=R, L=L, Delta0=Delta0, sigma=sigma, deltas=(delta, zeta), eta=eta / L)
        told: dict[str, Any] = {"G": G, "M": M, "P": P, "K": K, "R": R, "L": L, "S1": S1, "S2": S2, "Delta0": Delta0}
        closed = bound(**told, sigma=sigma, zeta=zeta, delta=delta, eta_eff=eta / L * tree.local_steps(K))
        assert closed >= exact * (1 - 1e-9) - 1e-300
        if exact > 0:
            near.append(closed / exact)
    assert min(near) < 1.1  # some constant alone is close


def test_closed_forms_tune_on_arrays_as_one_by_one() -> None:
    bound = get("hflbounds.tilt-random.ring-ring")
    told = {"G": 5, "M": 6, "P": 1, "K": 2, "L": 1.0, "Delta0": 3.0, "zeta": 0.4, "delta": 0.3}
    many = bound.tuned(**told, R=np.array([10, 1000]), sigma=np.array([0.3, 2.0]))
    for k, (rounds, noise) in enumerate(((10, 0.3), (1000, 2.0))):
        one = bound.tuned(**told, R=rounds, sigma=noise)
        assert (many.value[k], many.eta[k]) == pytest.approx((one.value, one.eta), rel=1e-12)
        tree = two_tier("ring-ring", G=5, M=6, order="random")
        asked: dict[str, Any] = {"K": 2, "R": rounds, "L": 1.0, "Delta0": 3.0, "sigma": noise, "deltas": (0.3, 0.4)}
        assert one.value >= tilt_bound(tree, **asked, eta=one.eta) >= tilt_bound(tree, **asked) * (1 - 1e-9)


def test_rounds_drawn_anew_are_those_of_every_sequence_in_its_share() -> None:
    """Of clients with tilts of 1 and -1 each comes alone in a sixth of the rounds: all sequences of four."""
    step, rounds = Fraction(1, 5), 4
    comes = {(1, 1): Fraction(2, 3), (1, 0): Fraction(1, 6), (0, 1): Fraction(1, 6)}
    start, tilt = Fraction(0), Fraction(0)
    for sequence in itertools.product(comes, repeat=rounds):
        share, moved = math.prod((comes[one] for one in sequence), start=Fraction(1)), Fraction(0)
        for first, second in sequence:
            moved = (1 - step) * moved - step * Fraction(first - second, first + second)
        start, tilt = start + share * (1 - step) ** (2 * rounds), tilt + share * moved**2
    trees = [Topology((Tier("star", size=2, drawn=drawn),)) for drawn in (1, 2)]
    parts = [
        (share, affine_round(tree, 1, float(step), "shuffled"))
        for share, tree in zip((1 / 3, 2 / 3), trees, strict=True)
    ]
    found = accumulated(mixed(parts), rounds)
    assert found[[0, 2]] == pytest.approx([float(start), float(tilt / step**2)], rel=1e-13)
