"""Rounds, seconds and bytes of every topology for one question, and for many neighbouring ones at once."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache, reduce
from itertools import islice
from typing import Any, Literal

import numpy as np

from hflbounds import Bound, Tuned, families, family
from hflbounds.errors import UnknownBoundError
from hflbounds.exact import Law
from hflbounds.topology import TierSymbols, Topology, all_topologies, tier_symbols
from planner.cost.footprint import footprint
from planner.cost.round import RoundCost, RoundSpec, round_cost
from planner.errors import ScenarioError
from planner.predict import memory, participation
from planner.predict.participation import OWN_BOUNDS, own_bounds
from planner.predict.pilot import piloted
from planner.predict.predictors import SQUARED_GRADIENT, Predictor, Quantity, chosen
from planner.scenario.availability import Availability
from planner.scenario.fields import FOOTPRINT, CostMethod, Metric, Objective, Order
from planner.scenario.footprint import Rates
from planner.scenario.members import Members
from planner.scenario.network import Compute, Network
from planner.scenario.resolve import Known, Scenario

PARTICIPATION = {
    "full participation, fixed order": "fixed",
    "full participation, random order": "random",
    "partial participation": "partial",
    "partial participation, uniform draws": "partial",
}
MAX_ROUNDS = 1e15  # more than that is never reached


@dataclass(frozen=True)
class Question:
    """The numbers of a scenario, ready to be varied."""

    values: Mapping[str, float]  # by the symbols of the vocabulary (`quantities` of the depth), without ``R``
    topologies: Mapping[str, Topology]  # asked about, by id, without sizes; the first is the `reference`
    target: float | None  # a number of the `quantity`; None for what the `reference` reaches in ``horizon`` rounds
    # The target as a share of the quantity at the start, as the predictor has it; None if it is a number.
    share: float | None
    horizon: float | None  # rounds; None for each topology's own rounds to the target
    bounds: Mapping[str, Bound]  # by id of the topology, where the catalogue covers it
    cap: Any  # on the effective learning rate
    network: Network
    compute: Compute
    model_bytes: float
    cost: CostMethod
    seed: int
    order: Order  # of rings
    predictor: Predictor  # whose rounds are meant
    metric: Metric  # what is to get small, where the predictor knows more than one
    scatter: float = 0.0  # of a mini-batch's curvature, over the curvature
    fading: float | None = None  # the power of training time as which squares of deviations fall; None if unknown
    decay: float | None = None  # the power of training time as which the loss falls; None if unknown
    partial: bool = False  # whether only some of the fleet are asked
    availability: Availability | None = None  # of those asked; None where everyone takes part
    rates: Rates | None = None  # what devices, links and the grid take; None where nobody asked
    members: Members | None = None  # node by node, where the fleet was listed
    divided: tuple[float, float, int] | None = None  # G, M and clients in all, where groups may differ by one client
    in_sigmas: tuple[str, ...] = ()  # deviations that were told as multiples of sigma, with which they move
    label_shift: bool = False  # whether the deviations are of drawn labels, and follow from how many draw them
    slowdowns: tuple[float, ...] = ()  # times by which the groups of the top tier are slower; none where they are not

    @property
    def depth(self) -> int:
        """Number of tiers."""
        return next(iter(self.topologies.values())).depth

    @property
    def clients(self) -> float:
        """Clients in all."""
        if self.members is not None:
            return float(len(self.members.children[-1].shares))
        if self.divided is not None and self.divided[:2] == tuple(self.values[tier.size] for tier in self.symbols):
            return float(self.divided[2])
        return math.prod(self.values[tier.size] for tier in self.symbols)

    @cached_property
    def symbols(self) -> tuple[TierSymbols, ...]:
        """Letters of the numbers of every tier, top first."""
        return tier_symbols(self.depth)

    @property
    def reference(self) -> str:
        """Id of the topology that sets the target where none was given."""
        return next(iter(self.topologies))

    @property
    def quantity(self) -> Quantity:
        """What a target is a number of."""
        return self.predictor.quantity(self.metric)

    def first(self, values: Mapping[str, Any] | None = None) -> Any:
        """The most that the quantity can be before the first round, also for changed values."""
        return self.quantity.first(self.values if values is None else values)

    @property
    def partly_available(self) -> bool:
        """Whether some devices do not always come, so that the clock decides how many rounds are worth what."""
        return self.availability is not None

    @property
    def absences(self) -> dict[str, float]:
        """Share of the time that devices stay away, by who: ``client``, ``server``; empty where all always come."""
        comes, whose = self.availability, ("client", "server")[: self.network.tiers]
        return {} if comes is None else {who: 1 - getattr(comes, who) for who in whose}

    @cached_property
    def family(self) -> str:
        """Id of the family of bounds; empty where there is none."""
        return next((bound.family for bound in self.bounds.values()), "")

    @property
    def constants(self) -> Literal["explicit", "hidden", ""]:
        """Whether the constants of the bounds are ``explicit`` or ``hidden``; empty where there is no bound."""
        return next((bound.constants for bound in self.bounds.values()), "")

    @property
    def hidden(self) -> bool:
        """Whether the bounds hide their constants, so that only their order means something."""
        return self.constants == "hidden"

    def sized(self, topology: str, values: Mapping[str, Any] | None = None) -> Topology:
        """Give a topology the numbers of this question, or of other values."""
        numbers = self.values if values is None else values
        drawn: list[int | None] = [int(numbers[tier.drawn]) for tier in self.symbols]
        sizes = [max(int(numbers[tier.size]), some or 0) for tier, some in zip(self.symbols, drawn, strict=True)]
        if self.members is not None:
            whole = [int(numbers[tier.size]) for tier in self.symbols]
            everyone = zip(self.members.everyone, drawn, whole, strict=True)
            drawn = [None if all_ and some == of else some for all_, some, of in everyone]
        passes = tuple(int(numbers[tier.passes]) if tier.passes else 1 for tier in self.symbols)
        one = self.topologies[topology]
        if self.members is None:
            return _sized(one, tuple(sizes), tuple(drawn), passes, self.order)
        # a size may be the mean of groups of which the largest takes part
        return one.sized(sizes, drawn=drawn, passes=passes, order=self.order, children=self.members.children)

    @property
    def counts(self) -> tuple[str, ...]:
        """Counts, which are chosen: sizes of tiers, those drawn, passes and local steps."""
        return (*(n for t in self.symbols for n in (t.size, t.drawn, t.passes) if n), "K")

    def goal(self, **changes: Any) -> Any:
        """The target, also for changed values: facts of the problem move one that follows from them, counts do not."""
        facts = {name: value for name, value in changes.items() if name not in self.counts}
        for tier in self.symbols:  # one child has no deviation, which is then the count's doing
            if tier.size in changes and tier.deviation in facts:
                alone = (np.asarray(changes[tier.size]) == 1) & (self.values[tier.size] > 1)
                facts[tier.deviation] = np.where(alone, self.values[tier.deviation], facts[tier.deviation])[()]
        values = {**self.values, **facts}
        if self.share is not None:
            return self.share * self.predictor.start(values, self.metric)
        if self.target is not None:
            return self.target
        single = any(np.any(np.asarray(values[tier.drawn]) == 1) for tier in self.symbols)
        asked = self.topologies if single else (self.reference,)
        reached = {t: self.predictor.reached(self, t, self.horizon, values) for t in asked}
        goal = self._least_of_equivalent(reached, values)[self.reference]
        # Without noise, heterogeneity and cap a bound is 0 after any number of rounds; then any target will do.
        return np.where(np.asarray(goal) > 0, goal, 1e-12 * self.first(values))[()]

    def moved(self, changes: Mapping[str, Any]) -> dict[str, Any]:
        """Return all values with some changed; where labels are drawn deviations follow from the numbers of groups.

        Those changed too are for as many groups and clients as there are now: `Heterogeneity.deviations`, inverted.
        """
        values = {**self.values, **changes}
        if not self.label_shift or not changes.keys() & {"G", "M"}:
            return values
        (groups, clients), (G, M) = ((told["G"], told["M"]) for told in (self.values, values))
        if min(groups, clients) == 1 or (np.all(groups == G) and np.all(clients == M)):  # one says nothing of more
            return values
        within = values["zeta"] ** 2 / (1 - 1 / clients)
        between = np.maximum(values["delta"] ** 2 / (1 - 1 / groups) - within / clients, 0)
        zeta2, delta2 = within * (1 - 1 / M), (1 - 1 / G) * (between + within / M)
        return values | {"zeta": np.sqrt(zeta2), "delta": np.sqrt(delta2)}

    def rounds(self, **changes: Any) -> dict[str, Any]:
        """Global rounds of every topology until it meets the target, as the predictor has it; they need not be whole.

        0 where the start meets it, ``inf`` where it takes more rounds than are allowed, or too few of them survive.
        """
        return self._rounds(**changes) if changes else dict(self._own_rounds)

    @cached_property
    def _own_rounds(self) -> Mapping[str, Any]:
        """Rounds as they are, which are asked for again and again while the clock is moved."""
        return self._rounds()

    def _rounds(self, **changes: Any) -> dict[str, Any]:
        if self.availability is not None:  # then the clock decides how many rounds are worth what
            return participation.rounds(self, **changes)
        key = memory.key_of(self, changes)
        if (known := memory.remembered(key)) is not None:
            return known
        values = self.moved(changes)
        goal = self.goal(**changes)
        found: dict[str, Any] = {}
        for topology in self.topologies:
            count = self.predictor.rounds_to(self, topology, goal, values)
            if self.target is not None:
                count = np.where(goal >= self.first(values), 0.0, count)
            found[topology] = np.where(np.asarray(count) <= self.allowed, count, np.inf)[()]
        found = self._least_of_equivalent(found, values)
        memory.keep(key, found)
        return found

    @property
    def allowed(self) -> float:
        """The most rounds that may be run: the horizon, where a target was given beside it."""
        return self.horizon if self.target is not None and self.horizon is not None else MAX_ROUNDS

    def equivalent_topologies(self, topology: str) -> list[str]:
        """This topology, first, and those that are the same algorithm as it in this fleet."""
        same = self.sized(topology).same_algorithm()
        others = (t for t in self.topologies if t != topology)
        return [topology, *(t for t in others if self.sized(t).same_algorithm() == same)]

    def equivalent_bounds(self, topology: str) -> list[Bound]:
        """The bounds that hold for this topology's algorithm."""
        return [self.bounds[t] for t in self.equivalent_topologies(topology) if t in self.bounds]

    def of_bounds(self, topology: str, values: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
        """The values of this question, or others, as the theorem takes them for a topology.

        Where nodes differ, the children of a star are as many as what they count is worth, one over the sum of their
        squared shares, in whole numbers, at the node where that is least: docs/theory/any-depth.md, section 8.
        """
        told = self.values if values is None else values
        if self.members is None:
            return told
        worth = {}
        for tier, one in zip(self.symbols, self.sized(topology, told).tiers, strict=True):
            if one.pattern.by_share and one.children is not None:
                worth[tier.size] = worth[tier.drawn] = int(1 / one.children.concentration.max() + 1e-9)
        return {**told, **worth}

    def best_bound(self, topology: str, rounds: float) -> Tuned | None:
        """The smallest tuned bound among those that hold for this topology's algorithm; None where there is none."""
        values = {**self.of_bounds(topology), "R": ceil_rounds(rounds)}
        tuned = [bound.tuned(cap=self.cap, **values) for bound in self.equivalent_bounds(topology)]
        return min(tuned, key=lambda t: float(t.value), default=None)

    def _least_of_equivalent(self, numbers: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
        """Give topologies that are one algorithm the least of their numbers, since what is said of each holds for all.

        With one child in a tier its pattern does not matter.
        """
        found = dict(numbers)
        for place, tier in enumerate(self.symbols):
            single = np.asarray(values[tier.drawn]) == 1
            if not np.any(single):
                continue
            alike = defaultdict(list)
            for topology in found:
                patterns = self.topologies[topology].patterns
                alike[patterns[:place] + patterns[place + 1 :]].append(topology)
            for together in alike.values():
                least = reduce(np.minimum, [found[t] for t in together])
                found |= {t: np.where(single, least, found[t])[()] for t in together}
        return found

    def chain(self, topology: str) -> float:
        """How many local steps a global round chains: the effective learning rate over the raw one."""
        return self.sized(topology).effective_steps(int(self.values["K"]))

    def round_spec(self, topology: str, **changes: Any) -> RoundSpec:
        """Return one global round of those who take part, also for changed counts."""
        values = {**self.values, **changes}
        if self.members is None:
            values |= {tier.size: values[tier.drawn] for tier in self.symbols}
        tree, K, network = self.sized(topology, values), int(values["K"]), self.network
        alone = self.depth > 1 and network.tiers == 1 and network.timer is None and self.cost != "diluted"
        if alone and network.client_link.sharing == "per-server":  # without servers in between groups keep their links
            network = network.by_group(self.depth)
        return RoundSpec(
            tree, K, network, self.compute, self.model_bytes, self.cost, self.seed, self.members, self.slowdowns
        )

    def of_a_round(self, topology: str, **changes: Any) -> RoundCost:
        """Seconds and bytes of one completed global round, also for changed counts."""
        spec = self.round_spec(topology, **changes)
        cost = round_cost(spec)
        if self.rates is not None and self.availability is None:
            cost = replace(cost, footprint=footprint(spec, cost, self.rates))
        return cost if self.availability is None else participation.of_a_round(self, topology, cost, **changes)

    def price(self, topology: str, objective: Objective, **changes: Any) -> float:
        """What one completed global round adds to the objective; by rounds, those begun for it."""
        if objective == "rounds":
            return 1.0 if self.availability is None else participation.begun(self, topology, **changes)
        return self.of_a_round(topology, **changes).amount(objective)

    def varied(self, **parts: Any) -> Question:
        """The same with another network, compute time or model."""
        return replace(self, **parts)


def check_footprint(question: Question, objective: Objective, place: str = "--objective") -> None:
    """Refuse to minimise, or to limit by the option at ``place``, what nothing is known of."""
    if objective not in FOOTPRINT:
        return
    if question.availability is not None:
        raise ScenarioError(
            f"{place}: {objective} is not predicted where devices do not always come. Give time, or leave the "
            "availability out."
        )
    if math.isinf(question.price(question.reference, objective)):
        device = "--device phone, or --set footprint.training_power=5W"
        way = {
            "energy": device,
            "carbon": f"--grid world, or --set footprint.carbon=400g/kWh, and what devices draw: {device}",
            "money": "--set footprint.device_hour=0.5, --set network.client_link.price=0.09 (a GB; or server_link), or "
            "--set footprint.kwh=0.3"
            f" and what devices draw: {device}",
        }[objective]
        if objective == "money" and "kwh" in (question.rates or {}):
            way = f"what devices draw beside the price of a kWh: {device}"
        raise ScenarioError(f"{place}: what is given does not say how much {objective} a round takes. Give {way}.")


@lru_cache(maxsize=1024)
def _sized(
    tree: Topology, sizes: tuple[int, ...], drawn: tuple[int | None, ...], passes: tuple[int, ...], order: Order
) -> Topology:
    """One object for one tree, which is asked for again and again."""
    return tree.sized(sizes, drawn=drawn, passes=passes, order=order)


MOST = 64  # topologies that are ranked: of more, those with the first patterns on the top tiers


@cache
def quantities(depth: int) -> tuple[str, ...]:
    """Symbols of the values of a question about trees of this depth."""
    tiers = tier_symbols(depth)
    sizes, passes, drawn = ([getattr(t, n) for t in tiers if getattr(t, n)] for n in ("size", "passes", "drawn"))
    return (*sizes, *passes, "K", *drawn, "L", "A", "sigma", *(t.deviation for t in reversed(tiers)))


def ask(scenario: Scenario) -> Question:
    """The question a scenario poses.

    Raises:
        ScenarioError: if the bound family asked for does not exist, or is about other participation.
    """
    (whose, metric), every = chosen(scenario.predictor, scenario.metric), all_topologies(scenario.depth)
    topologies = {topology: every[topology] for topology in scenario.topologies or islice(every, MOST)}
    bounds = _bounds(scenario, topologies, whose.quantity(metric))
    if scenario.members is not None:
        bounds = {t: bound for t, bound in bounds.items() if _covers(topologies[t], scenario.members)}
    if scenario.bounds is not None or whose.guarantees:
        topologies = {t: tree for t, tree in topologies.items() if t in bounds}
    first = next(iter(bounds.values()), None)
    if scenario.cap is not None and first is not None and first.chain is None:
        raise ScenarioError("--cap: these bounds are rates at a step already chosen, so no cap applies. Leave it out.")
    # The printed caps differ between topologies, and alone reverse the order; see docs/theory.
    common = first is not None and first.chain is not None and first.constants == "hidden"
    comes = scenario.availability
    target, horizon = scenario.known["target"].value, scenario.known["R"].value
    values = {name: scenario.number(name) for name in quantities(scenario.depth)}
    divided = (values["G"], values["M"], int(scenario.number("clients"))) if "clients" in scenario.known else None
    deviations = (tier.deviation for tier in reversed(tier_symbols(scenario.depth)))
    if scenario.target_share is not None:
        target = scenario.target_share * whose.start(values, metric)
    question = Question(
        values=values,
        topologies=topologies,
        target=None if target is None else float(target),
        share=scenario.target_share,
        horizon=None if horizon is None else float(horizon),
        bounds={t: bounds[t] for t in topologies if t in bounds},
        cap=scenario.cap if scenario.cap is not None else "common" if common else "own",
        network=scenario.network,
        compute=scenario.compute,
        model_bytes=scenario.number("model_size"),
        cost=scenario.cost,
        seed=scenario.seed,
        order=scenario.order,
        predictor=whose,
        metric=metric,
        scatter=float(scenario.number("scatter")),
        fading=None if scenario.known["fading"].value is None else scenario.number("fading"),
        decay=None if scenario.known["decay"].value is None else scenario.number("decay"),
        partial=scenario.partial,
        availability=None if comes is None or comes.steady(scenario.compute) else comes,
        rates=scenario.rates,
        members=scenario.members,
        divided=divided,
        label_shift=scenario.label_shift,
        in_sigmas=tuple(
            n for n in deviations if values["sigma"] and scenario.known[n].origin in ("default", "derived")
        ),
    )
    check_footprint(question, scenario.objective)
    if scenario.pilot is None or whose.guarantees:
        return question
    return piloted(question, scenario.pilot, scenario.metric)


def left_out(scenario: Scenario) -> list[str]:
    """Say how many topologies of the depth are not asked about, unless the scenario names those that are."""
    there = len(all_topologies(scenario.depth))
    if scenario.topologies or there <= MOST:
        return []
    return [
        f"Of {there} topologies of {scenario.depth} tiers {MOST} are ranked, those with "
        f"{next(iter(all_topologies(1).values())).title} on the top tiers; name another with --tiers."
    ]


def _bounds(scenario: Scenario, topologies: Mapping[str, Topology], quantity: Quantity) -> Mapping[str, Bound]:
    """The bounds of a scenario, by topology; none where the target is of another quantity than theirs."""
    if quantity is not SQUARED_GRADIENT:
        if scenario.bounds is not None or scenario.cap is not None:
            raise ScenarioError(
                f"--bounds, --cap: bounds are on the squared gradient, and the target here is a {quantity.words}. "
                "Leave them out, or give --metric gradient."
            )
        return {}
    named, own = _family(scenario), OWN_BOUNDS[_kind(scenario)]
    if named == own:
        return own_bounds(_kind(scenario), topologies)
    if scenario.depth != 2:
        raise ScenarioError(
            f"--bounds: {named} is of two tiers, and this tree has {scenario.depth}. Use {own}, or leave it out.",
            code="E005",
        )
    return {b.topology: b for b in family(named) if b.topology is not None}


def _covers(topology: Topology, members: Members) -> bool:
    """Whether the theorem holds where nodes differ: everyone takes part, and a ring's nodes and children are alike."""
    tiers = zip(topology.tiers, members.children, members.everyone, strict=True)
    return all(everyone and (tier.pattern.by_share or children.alike) for tier, children, everyone in tiers)


def ceil_rounds(rounds: float) -> int:
    """Rounds to run: those that are predicted, which need not be whole, rounded up."""
    return math.ceil(rounds * (1 - 1e-9))


def with_default_order(scenario: Scenario) -> Scenario:
    """The scenario with the order of rings that the bounds asked for are about, where nobody gave one.

    Raises:
        ScenarioError: if there is no such family of bounds.
    """
    free = not scenario.partial and scenario.known["order"].origin == "default"
    if scenario.bounds is None or not free or _about(_asked_for(scenario.bounds)) != "random":
        return scenario
    order = Known("random", "derived", note="what the bounds asked for are about")
    return replace(scenario, order="random", known={**scenario.known, "order": order})


def _family(scenario: Scenario) -> str:
    """The id of the bound family, checked against who takes part."""
    kind = _kind(scenario)
    if scenario.bounds is None:
        return OWN_BOUNDS[kind]
    first = _asked_for(scenario.bounds)
    if _about(first) != kind:
        words = {
            "partial": "partial participation (--S1, --S2)",
            "fixed": "everyone in fixed order",
            "random": "everyone in random order (--order random)",
        }
        raise ScenarioError(
            f"--bounds: {first.family} is about {words[_about(first)]}, and this scenario has {words[kind]}. "
            f"Use {OWN_BOUNDS[kind]}, or change the scenario."
        )
    refuted = [bound.id for bound in family(first.family) if bound.status == "refuted"]
    if refuted and scenario.bounds != first.family:
        raise ScenarioError(f"--bounds: {refuted[0]} is refuted. To use it all the same, give {first.family} in full.")
    return first.family


def _kind(scenario: Scenario) -> Law:
    return "partial" if scenario.partial else scenario.order


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
    """Whether a family orders topologies by what it guarantees."""
    several = len({bound.topology for bound in bounds} & all_topologies(2).keys()) > 1
    return several and bounds[0].kind in ("theorem", "rate") and not bounds[0].is_lower
