"""Rounds, seconds and bytes of every topology for one question, and for many neighbouring ones at once."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hflbounds import Bound, Tuned, families, family
from hflbounds.errors import UnknownBoundError
from hflbounds.topology import all_topologies, two_tier
from planner.cost.round import RoundCost, RoundSpec, round_cost
from planner.errors import ScenarioError
from planner.predict.predictors import Predictor, predictors
from planner.scenario.fields import CostMethod, Metric, Objective, Order
from planner.scenario.network import Compute, Network
from planner.scenario.resolve import Known, Scenario

QUANTITIES = ("G", "M", "P", "K", "S1", "S2", "L", "A", "sigma", "zeta", "delta")
BY_DEFAULT = {
    "fixed": "hflbounds.sharp",
    "random": "hflbounds.sharp-shuffle",
    "partial": "hflbounds.sharp-partial",
}
PARTICIPATION = {
    "full participation, fixed order": "fixed",
    "full participation, random order": "random",
    "partial participation": "partial",
}
TIER_COUNTS = ("S1", "S2")  # how many take part in each tier, top first: a tier of one is neither star nor ring
LONGEST = 1e15  # rounds; more than that is never reached
REFERENCE = "star-star"  # whose bound after R rounds is the target where none was given


@dataclass(frozen=True)
class Question:
    """The numbers of a scenario, ready to be varied.

    Attributes:
        values: by the names of the vocabulary, without ``R``.
        target: squared gradient norm to be reached; None for what `REFERENCE` reaches in ``horizon`` rounds.
        share: the target as a share of the squared gradient at the start, as the predictor has it, which it then
            follows; None where it was given as a number.
        horizon: rounds; None for each topology's own rounds to the target.
        bounds: by topology.
        cap: on the effective learning rate.
        network, compute, model_bytes, cost, seed: what the clock and the traffic need.
        order: of rings, ``fixed`` or ``random``.
        predictor: whose rounds are meant.
        metric: what is to get small, where the predictor knows more than one.
    """

    values: Mapping[str, float]
    target: float | None
    share: float | None
    horizon: float | None
    bounds: Mapping[str, Bound]
    cap: Any
    network: Network
    compute: Compute
    model_bytes: float
    cost: CostMethod
    seed: int
    order: Order
    predictor: Predictor
    metric: Metric

    @property
    def monotone(self) -> bool:
        """Whether rounds never fall as sigma, zeta or delta grow, nor grow with the target."""
        return self.predictor.monotone

    def goal(self, **changes: Any) -> Any:
        """The target, also for changed values."""
        values = {**self.values, **changes}
        if self.share is not None:
            return self.share * self.predictor.start(values)
        if self.target is not None:
            return self.target
        reference = REFERENCE if REFERENCE in self.bounds else next(iter(self.bounds))
        twins = any(np.any(np.asarray(values[count]) == 1) for count in TIER_COUNTS)
        asked = self.bounds if twins else (reference,)
        reached = {t: self.predictor.reached(self, t, self.horizon, values) for t in asked}
        goal = _same_algorithms(reached, values)[reference]
        # Without noise, heterogeneity and cap a bound is 0 after any number of rounds; then any target will do.
        return np.where(np.asarray(goal) > 0, goal, 1e-12 * first_bound(values))[()]

    def rounds(self, **changes: Any) -> dict[str, Any]:
        """Global rounds of every topology until it meets the target, as the predictor has it; they need not be whole.

        0 where the start meets it, ``inf`` where it takes more rounds than are allowed.
        """
        values = {**self.values, **changes}
        goal = self.goal(**changes)
        found: dict[str, Any] = {}
        for topology in self.bounds:
            count = self.predictor.rounds_to(self, topology, goal, values)
            if self.target is not None:
                count = np.where(goal >= first_bound(values), 0.0, count)
            found[topology] = np.where(np.asarray(count) <= self.allowed, count, np.inf)[()]
        return _same_algorithms(found, values)

    @property
    def allowed(self) -> float:
        """The most rounds that may be run: the horizon, where a target was given beside it."""
        return self.horizon if self.target is not None and self.horizon is not None else LONGEST

    def best_of_twins(self, topology: str, rounds: float) -> Tuned:
        """The smallest tuned bound among those that hold for this topology's algorithm."""
        values = {**self.values, "R": whole(rounds)}
        tuned = [self.bounds[t].tuned(cap=self.cap, **values) for t in self.twins(topology)]
        return min(tuned, key=lambda t: float(t.value))

    def twins(self, topology: str) -> list[str]:
        """This topology, first, and those that are the same algorithm as it in this fleet."""
        parts = topology.split("-")
        single = [self.values[count] == 1 for count in TIER_COUNTS]
        return [topology] + [
            other
            for other in self.bounds
            if other != topology and all(s or a == b for s, a, b in zip(single, parts, other.split("-"), strict=True))
        ]

    def chain(self, topology: str) -> float:
        """How many local steps a global round chains: the effective learning rate over the raw one."""
        counts = [self.values["P"] * self.values["K"]]
        counts += [self.values[n] for n, side in zip(TIER_COUNTS, topology.split("-"), strict=True) if side == "ring"]
        return math.prod(counts)

    def round_spec(self, topology: str, **changes: Any) -> RoundSpec:
        """Return one global round of those who take part, also for changed counts."""
        S1, S2, P, K = (int({**self.values, **changes}[name]) for name in ("S1", "S2", "P", "K"))
        tree = two_tier(topology, G=S1, M=S2, P=P)
        return RoundSpec(tree, K, self.network, self.compute, self.model_bytes, self.cost, self.seed)

    def of_a_round(self, topology: str, **changes: Any) -> RoundCost:
        """Seconds and bytes of one global round, also for changed counts."""
        return round_cost(self.round_spec(topology, **changes))

    def price(self, topology: str, objective: Objective, **changes: Any) -> float:
        """What one global round adds to the objective."""
        if objective == "rounds":
            return 1.0
        cost = self.of_a_round(topology, **changes)
        return cost.seconds if objective == "time" else cost.bytes

    def varied(self, **parts: Any) -> Question:
        """The same with another network, compute time or model."""
        return replace(self, **parts)


def ask(scenario: Scenario) -> Question:
    """The question a scenario poses.

    Raises:
        ScenarioError: if the bound family asked for does not exist, or is about other participation.
    """
    bounds = {b.topology: b for b in family(_family(scenario)) if b.topology in all_topologies(2)}
    stepless = next(iter(bounds.values())).chain is None
    if stepless and scenario.cap is not None:
        raise ScenarioError("--cap: these bounds are rates at a step already chosen, so no cap applies. Leave it out.")
    if scenario.cap is not None:
        cap: Any = scenario.cap
    else:
        # The printed caps differ between topologies, and alone reverse the order; see docs/theory.
        cap = "common" if not stepless and next(iter(bounds.values())).constants == "hidden" else "own"
    target, horizon = scenario.known["target"].value, scenario.known["R"].value
    values = {name: scenario.number(name) for name in QUANTITIES}
    predictor = _predictor(scenario)
    if scenario.metric != "gradient" and target is not None and scenario.known["target"].origin == "given":
        raise ScenarioError(
            f"--target: it is a squared gradient, and says nothing of {scenario.metric}. Give --rounds of Star-Star, "
            "to compare by what it reaches in them, or leave --metric out."
        )
    if scenario.target_share is not None:
        target = scenario.target_share * predictor.start(values)
    return Question(
        values=values,
        target=None if target is None else float(target),
        share=scenario.target_share,
        horizon=None if horizon is None else float(horizon),
        bounds={t: bounds[t] for t in all_topologies(2) if t in bounds},
        cap=cap,
        network=scenario.network,
        compute=scenario.compute,
        model_bytes=scenario.number("model_size"),
        cost=scenario.cost,
        seed=scenario.seed,
        order=scenario.order,
        predictor=predictor,
        metric=scenario.metric,
    )


def _predictor(scenario: Scenario) -> Predictor:
    known = predictors()
    if scenario.predictor not in known:
        raise ScenarioError(f"--predictor: {scenario.predictor!a:.40} is not one of {', '.join(known)}.")
    found = known[scenario.predictor]
    if scenario.metric not in found.metrics:
        raise ScenarioError(
            f"--metric {scenario.metric}: the predictor {found.id} knows {' and '.join(found.metrics)} alone. "
            "Leave --predictor, --bounds and --cap out, or the metric."
        )
    return found


def _same_algorithms(numbers: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Give topologies that are one algorithm the smaller of their numbers, since both bounds hold for it.

    With one group in a round the top tier is neither star nor ring; with one client, the low tier.
    """
    found = dict(numbers)
    for tier, count in enumerate(TIER_COUNTS):
        single = np.asarray(values[count]) == 1
        if not np.any(single):
            continue
        for topology in numbers:
            parts = topology.split("-")
            parts[tier] = "ring" if parts[tier] == "star" else "star"
            twin = "-".join(parts)
            if twin in found:
                least = np.minimum(found[topology], found[twin])
                found[topology] = np.where(single, least, found[topology])[()]
                found[twin] = np.where(single, least, found[twin])[()]
    return found


def whole(rounds: float) -> int:
    """Rounds to run: those that are predicted, which need not be whole, rounded up."""
    return math.ceil(rounds * (1 - 1e-9))


def first_bound(values: Mapping[str, Any]) -> Any:
    """``2 L A``, which bounds the squared gradient norm at the start of any L-smooth problem."""
    return 2 * values["L"] * values["A"]


def settled(scenario: Scenario) -> Scenario:
    """The scenario with the order of rings that the bounds asked for are about, where nobody gave one.

    Raises:
        ScenarioError: if there is no such family of bounds.
    """
    if scenario.bounds is None or scenario.partial or scenario.known["order"].origin != "default":
        return scenario
    if _about(_asked_for(scenario.bounds)) != "random":
        return scenario
    order = Known("random", "derived", note="what the bounds asked for are about")
    return replace(scenario, order="random", known={**scenario.known, "order": order})


def _family(scenario: Scenario) -> str:
    """The id of the bound family, checked against who takes part."""
    kind = "partial" if scenario.partial else scenario.order
    if scenario.bounds is None:
        return BY_DEFAULT[kind]
    first = _asked_for(scenario.bounds)
    if _about(first) != kind:
        words = {
            "partial": "partial participation (--S1, --S2)",
            "fixed": "everyone in fixed order",
            "random": "everyone in random order (--order random)",
        }
        raise ScenarioError(
            f"--bounds: {first.family} is about {words[_about(first)]}, and this scenario has {words[kind]}. "
            f"Use {BY_DEFAULT[kind]}, or change the scenario."
        )
    refuted = [bound.id for bound in family(first.family) if bound.status == "refuted"]
    if refuted and scenario.bounds != first.family:
        raise ScenarioError(f"--bounds: {refuted[0]} is refuted. To use it all the same, give {first.family} in full.")
    return first.family


def _about(bound: Bound) -> str:
    return next(PARTICIPATION[a.id] for a in bound.assumes if a.id in PARTICIPATION)


def _asked_for(name: str) -> Bound:
    """A bound of the family that a user's words mean: its id, or the end of it."""
    with suppress(UnknownBoundError):  # an id in full needs one file of the catalogue, and not all of them
        if "." in name and _compares(family(name)):
            return family(name)[0]
    known = {family_id: bounds[0] for family_id, bounds in families().items() if _compares(bounds)}
    matching = [family_id for family_id in known if family_id == name or family_id.endswith("." + name)]
    if len(matching) > 1:  # a bare label means the camera ready, not the early version of the same analysis
        matching = [family_id for family_id in matching if not family_id.startswith("zhou2025.")]
    if len(matching) != 1:
        raise ScenarioError(
            f"--bounds: {name!a} is not a family of bounds with all topologies. Known are {', '.join(known)}."
        )
    return known[matching[0]]


def _compares(bounds: Sequence[Bound]) -> bool:
    """Whether a family orders topologies."""
    several = len({bound.topology for bound in bounds} & all_topologies(2).keys()) > 1
    return several and bounds[0].kind in ("theorem", "rate")
