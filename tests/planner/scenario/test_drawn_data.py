"""Data of which only a law is known: Dirichlet shares within a few labels, and samples by a power law."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import planner
from planner.data.heterogeneity import parse
from planner.errors import ScenarioError

DRAWS = 3000
Floats = Any


def few(rng: np.random.Generator, concentration: float, labels: int, classes: int) -> Floats:
    """Shares of one holder over labels drawn at random, as partitioners of federated data sets draw them."""
    chosen = rng.permuted(np.tile(np.arange(labels), (DRAWS, 1)), axis=1)[:, :classes]
    even = math.isinf(concentration)
    drawn = np.full((DRAWS, classes), 1 / classes) if even else rng.dirichlet(np.full(classes, concentration), DRAWS)
    shares = np.zeros((DRAWS, labels))
    np.put_along_axis(shares, chosen, drawn, axis=1)
    return shares


def around(rng: np.random.Generator, concentration: float, centre: Floats) -> Floats:
    """Dirichlet shares around each centre, as normalised gamma variates; a label that the centre lacks has none."""
    if math.isinf(concentration):
        return centre
    drawn = rng.standard_gamma(centre.shape[1] * concentration * centre)
    return np.asarray(drawn / drawn.sum(1, keepdims=True))


def deviations(shares: list[Floats], weights: list[Floats]) -> tuple[Floats, Floats]:
    """Squared, of clients from their group and of groups from the whole, by what clients count; of every draw."""
    total = sum(w.sum() for w in weights)
    means = [np.einsum("c,cnl->nl", w, p) / w.sum() for w, p in zip(weights, shares, strict=True)]
    whole = sum(w.sum() * m for w, m in zip(weights, means, strict=True)) / total
    zeta2 = sum(w @ ((p - m) ** 2).sum(2) for w, p, m in zip(weights, shares, means, strict=True)) / total
    delta2 = sum(w.sum() * ((m - whole) ** 2).sum(1) for w, m in zip(weights, means, strict=True)) / total
    return zeta2, delta2


FORMS = {
    "dirichlet:intra=0.5,classes=2": (10, None, 0.5, 2),
    "dirichlet:classes=3": (10, None, math.inf, 3),
    "dirichlet:intra=0.1,classes=4,labels=6": (6, None, 0.1, 4),
    "dirichlet:inter=0.5,group_classes=5,intra=0.3": (10, (0.5, 5), 0.3, None),
    "dirichlet:group_classes=2,labels=5": (5, (math.inf, 2), math.inf, None),
    "dirichlet:intra=0.3,inter=1,labels=4": (4, (1.0, 4), 0.3, None),
}
FLEETS: list[list[list[float]]] = [[[1.0] * 4] * 5, [[5.0, 1.0], [2.0, 2.0, 7.0], [3.0]]]


@pytest.mark.parametrize("weights", FLEETS, ids=["equal", "unequal"])
@pytest.mark.parametrize("text", FORMS)
def test_deviations_are_those_of_drawn_partitions(text: str, weights: list[list[float]]) -> None:
    """The closed form against partitions drawn as the form says; the error is that of the mean over draws."""
    labels, of_group, intra, classes = FORMS[text]
    rng, mass = np.random.default_rng(1), [np.array(group) for group in weights]
    shares = []
    for group in mass:  # all draws of a client at once
        flat = np.full((DRAWS, labels), 1 / labels)
        centre = flat if of_group is None else few(rng, of_group[0], labels, of_group[1])
        if classes is not None:
            shares.append(np.stack([few(rng, intra, labels, classes) for _ in group]))
        else:
            shares.append(np.stack([around(rng, intra, centre) for _ in group]))
    form = parse(text)
    total = sum(map(sum, weights))
    counted = [(sum(g) / total, sum((w / sum(g)) ** 2 for w in g)) for g in weights]
    scale = 4**2 / (1 - 1 / labels)  # a client with one label stands four sigma from an even mixture
    found = form.deviations(1.0, len(weights), 1, counted)
    for got, each in zip(found, deviations(shares, mass), strict=True):
        error = 4 * scale * each.std() / math.sqrt(DRAWS) + 1e-9
        assert abs(got**2 - scale * each.mean()) < error
    if len({len(group) for group in weights}) == 1:
        assert form.deviations(1.0, len(weights), len(weights[0])) == pytest.approx(found, rel=1e-12)


def test_a_listed_fleet_has_the_deviations_of_its_own_sizes_and_weights() -> None:
    groups = [{"clients": 2, "samples": 30}, {"clients": 5, "samples": 2}, {"clients": 1, "samples": 9}]
    text = "dirichlet:intra=0.5,classes=2"
    for weights, mass in (("equal", [2, 5, 1]), ("samples", [60, 10, 9])):
        scenario = planner.load_scenario({"fleet": {"groups": groups}}, heterogeneity=text, weights=weights, sigma=1)
        counted = [(m / sum(mass), 1 / g["clients"]) for m, g in zip(mass, groups, strict=True)]
        expected = parse(text).deviations(1.0, 3, 3, counted)
        assert (scenario.number("zeta"), scenario.number("delta")) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("dirichlet:classes=2,inter=1", "groups are alike"),
        ("dirichlet:classes=2,group_classes=3", "groups are alike"),
        ("dirichlet:classes=11", "classes = 11 .* from 1 to 10"),
        ("dirichlet:classes=2.5", "classes = 2.5 .* whole number"),
        ("dirichlet:classes=5,labels=4", "classes = 5 .* from 1 to 4"),
        ("dirichlet:labels=1", "labels = 1 .* from 2"),
        ("dirichlet:clases=2", "Did you mean classes"),
    ],
)
def test_what_no_partition_has_is_refused(text: str, match: str) -> None:
    with pytest.raises(ScenarioError, match=match):
        planner.load_scenario(G=3, M=4, heterogeneity=text)


def test_a_power_law_gives_ranks_to_clients_and_they_count_by_it() -> None:
    scenario = planner.load_scenario(G=4, M=25, samples="power:1.5")
    assert scenario.members is not None and scenario.listed is not None
    assert [tier.sizes.tolist() for tier in scenario.members.children] == [[4], [25] * 4]
    samples = np.asarray(scenario.listed.samples)
    assert np.sort(samples)[::-1] == pytest.approx([i**-1.5 for i in range(1, 101)])
    of_groups = samples.reshape(4, 25)
    assert scenario.members.children[0].shares == pytest.approx(of_groups.sum(1) / samples.sum())
    assert scenario.members.children[1].shares == pytest.approx((of_groups / of_groups.sum(1, keepdims=True)).ravel())
    assert not np.array_equal(samples, np.sort(samples)[::-1])  # dealt at random
    assert planner.load_scenario(G=4, M=25, samples="power:1.5", seed=1).members != scenario.members
    assert scenario.known["samples"].value == "power:1.5"
    assert (scenario.number("G"), scenario.number("M")) == (4, 25)


def test_equal_samples_are_the_fleet_without_a_law() -> None:
    how: dict[str, Any] = {"G": 3, "M": 4, "objective": "time", "uplink": "20Mbit/s"}
    assert planner.load_scenario(samples="power:0", **how).members is None
    one, other = (planner.recommend(**how, details=False, **law) for law in ({}, {"samples": "power:0"}))
    assert [(row.id, row.rounds) for row in one.ranking] == [(row.id, row.rounds) for row in other.ranking]


def test_a_law_deals_to_trees_of_any_depth() -> None:
    tiers = [{"count": 2}, {"count": 3}, {"count": 4}]
    scenario = planner.load_scenario({"fleet": {"tiers": tiers, "samples": "power:1"}})
    assert scenario.members is not None
    assert [tier.sizes.tolist() for tier in scenario.members.children] == [[2], [3, 3], [4] * 6]


@pytest.mark.parametrize(
    ("how", "match"),
    [
        ({"G": 3, "M": 4, "samples": "zipf:1"}, r"samples: 'zipf:1' is not power: .* Write power:1\.2"),
        ({"G": 3, "M": 4, "samples": "power:11"}, "exponent from 0 to 10"),
        ({"G": 3, "M": 4, "samples": "power:-1"}, "exponent from 0 to 10"),
        ({"clients": 12, "samples": "power:1"}, "given number of clients. Give --groups"),
        ({"tiers": "3/4", "samples": "power:1"}, "given number of clients"),
        ({"G": 1000, "M": 1000, "samples": "power:1"}, "1,000,000 clients in all are more than 250,000"),
        ({"fleet": "examples/consortium.csv", "samples": "power:1"}, "has the samples of its clients. Leave one"),
        ({"data": "examples/hospitals.csv", "samples": "power:1"}, "has the samples of its clients. Leave one"),
    ],
)
def test_a_law_beside_samples_or_without_counts_is_refused(how: dict[str, Any], match: str) -> None:
    with pytest.raises(ScenarioError, match=match):
        planner.load_scenario(**how)
