"""Two scenarios side by side: what differs, and which difference turns one verdict into the other.

Differences are changed one at a time in the first scenario. Where none alone turns its verdict into that of the second,
all are changed in both, and put back one by one as long as both verdicts stay turned into each other: what is left does
it together, whichever scenario is the first. It is told where it is small.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, product
from typing import Any

from hflbounds.topology import tier_symbols
from planner.decide.counts import taken
from planner.decide.rank import recommend
from planner.decide.recommendation import Recommendation
from planner.decide.verdict import LEVEL
from planner.errors import PlannerError, ScenarioError
from planner.io.answers import Verdict
from planner.predict.evidence import predictor_record
from planner.predict.question import ask, with_default_order
from planner.scenario.fields import leaves, put
from planner.scenario.resolve import TARGETS, Load, Scenario, load

MOST = 40  # differences that are followed
TOGETHER = 5  # differences at most of which it is said that they decide together
SWAPS = 24  # changes at most to find what else does in the place of what decides together
Told = Mapping[str, Any]
Turn = tuple[Any, ...]
Decide = Callable[[Collection[str]], bool]  # whether differences, by key, turn each verdict into the other
AIMS = ("problem.target", "problem.target_loss", "problem.target_accuracy", "problem.rounds")
"""Keys that say what is to be reached."""
TIERS, PRESET = "fleet.tiers", "preset"
OF_TWO_TIERS = (
    *("fleet.groups", "fleet.clients", "fleet.group_rounds", "problem.heterogeneity"),
    *("network.tiers", "network.client_link", "network.server_link"),
)
"""What keys begin with that tiers one by one say of themselves."""


@dataclass(frozen=True)
class Side:
    """A scenario that is compared."""

    name: str  # for people
    told: Told  # what was said, by key
    scenario: Scenario  # the same, read
    load: Load = load

    @classmethod
    def of(cls, name: str, told: Told, load: Load = load) -> Side:
        """Read what was said."""
        return cls(name, told, read(name, told, load), load)

    def says(self, key: str, along: Sequence[str]) -> Any:
        """What it says of a key, with others that change along: of tiers none, but the sizes of two."""
        if key == TIERS:
            sizes = (self.scenario.known[tier.size].value for tier in tier_symbols(self.scenario.depth))
            return self.told.get(TIERS) or " x ".join(f"{size:g}" for size in sizes)
        value = self.told.get(key)
        others = [f"{one.partition('.')[2]} {self.told[one]}".replace("_", " ") for one in along if one in self.told]
        return ", ".join([*[str(value)] * (value is not None), *others]) if others else value

    @cached_property
    def answer(self) -> Recommendation:
        """Its verdict and rows.

        Raises:
            NoAnswerError: If no topology reaches the target.
        """
        return recommend(self.scenario, details=False, cases=True)


def read(name: str, told: Told, load: Load = load) -> Scenario:
    """Read a scenario from what was said by key; errors name the scenario."""
    tiers: dict[str, dict[str, Any]] = {}
    for key in (key for key in told if key.startswith(f"{TIERS}.")):
        tier, _, part = key.removeprefix(f"{TIERS}.").partition(".")
        put(tiers.setdefault(tier, {}), part, told[key], key)
    whole = {key: value for key, value in told.items() if not key.startswith(f"{TIERS}.")}
    whole |= {TIERS: [*tiers.values()]} if tiers else {}
    return load(None, {key: (f"{name}: {key}", value) for key, value in whole.items()})


def _by_tier(side: Side) -> Side:
    """The same with what its named tiers say key by key: ``fleet.tiers.region.link.up``."""
    tiers = {f"{TIERS}.{tier['name']}": tier for tier in side.told.get(TIERS, ())}
    return replace(side, told={**dict(leaves(tiers)), **{key: v for key, v in side.told.items() if key != TIERS}})


@dataclass(frozen=True, slots=True)
class Alone:
    """One difference, and the verdict of the first scenario with it."""

    key: str  # of the scenario
    before: Any  # before, after: what the two say; None for nothing
    after: Any
    verdict: Verdict | None  # of the first scenario with the value of the second; None where that has no answer
    why: str  # why it has none
    turns: bool  # whether the verdict is then another than that of the first
    decides: bool  # whether it is then that of the second


@dataclass(frozen=True)
class Contrast:
    """Two scenarios, compared."""

    first: Side
    second: Side
    alone: tuple[Alone, ...]  # by difference, what it does alone
    # keys that turn the verdicts into each other together, where none does alone; empty where that takes many
    jointly: tuple[str, ...]
    instead: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # of these by key, others that do in its place

    @property
    def same(self) -> bool:
        """Whether both verdicts are the same."""
        return turn(self.first.answer.verdict) == turn(self.second.answer.verdict)

    @property
    def of_aims(self) -> bool:
        """Whether what is to be reached is all that differs."""
        return {one.key for one in self.alone} <= {*AIMS}

    @cached_property
    def to_one_target(self) -> Recommendation | None:
        """The second to the target of the first, where each has a number of its own and more differs than this."""
        told, (own, other) = self.second.told, (side.answer.target for side in (self.first, self.second))
        if own is None or other is None or None in (own.value, other.value) or own.metric != other.metric:
            return None
        if own.value == other.value or self.of_aims:
            return None
        aimed = {**{key: value for key, value in told.items() if key not in AIMS}, AIMS[0]: own.value}
        try:
            return Side.of(self.second.name, aimed, self.second.load).answer
        except PlannerError:  # a loss is no target of accuracy
            return None

    @cached_property
    def error(self) -> float:
        """The factor within which four of five predicted ratios of rounds were, near the side where it is larger.

        It is 1 for what is measured or guaranteed.
        """
        sides = ((side.scenario, side.answer.scenario) for side in (self.first, self.second))
        questions = [ask(taken(with_default_order(scenario), shown)) for scenario, shown in sides]
        return max(predictor_record.pair_factor(question, LEVEL) for question in questions)

    @property
    def decisive(self) -> tuple[str, ...]:
        """Keys each of which alone turns the first verdict into the second."""
        return () if self.same else tuple(one.key for one in self.alone if one.decides)


def turn(verdict: Verdict) -> Turn:
    """What of a verdict is the choice: ratios and confidence are not."""
    return verdict.status, frozenset(verdict.best), verdict.on, tuple((c.value, *turn(c)) for c in verdict.cases)


def contrast(first: Side, second: Side, progress: Callable[[str], None] = lambda text: None) -> Contrast:
    """Find what differs between two scenarios, and what of it decides.

    Raises:
        ScenarioError: If too much differs.
        NoAnswerError: If either has no answer.
    """
    names, other = ([str(one.get("name", ".")) for one in s.told.get(TIERS, ())] for s in (first, second))
    if names == other and "." not in "".join(names):
        first, second = _by_tier(first), _by_tier(second)
    keys, along = differences(first, second), beside(first, second)
    if len(keys) > MOST:
        raise ScenarioError(f"compare: {len(keys)} keys differ, and at most {MOST} are followed. Compare closer ones.")
    here, there = turn(first.answer.verdict), turn(second.answer.verdict)
    alone = []
    for key in keys:
        progress(f"changing {key}")
        verdict, why = _with(first, second, {key})
        found = None if verdict is None else turn(verdict)
        turns, decides = found is not None and found != here, found == there != here
        before, after = (side.says(key, along.get(key, ())) for side in (first, second))
        alone.append(Alone(key, before, after, verdict, why, turns, decides))

    def decide(changed: Collection[str]) -> bool:
        pairs = ((first, second, there), (second, first, here))
        return all((v := _with(one, other, changed)[0]) is not None and turn(v) == aim for one, other, aim in pairs)

    jointly: tuple[str, ...] = ()
    instead: dict[str, tuple[str, ...]] = {}
    if here != there and not any(one.decides for one in alone):
        jointly = _together(keys, decide, progress)
        instead = _in_place(jointly, [key for key in keys if key not in jointly], decide)
    progress("")
    return Contrast(first, second, tuple(alone), jointly, instead)


def differences(first: Side, second: Side) -> list[str]:
    """List the keys that say different things, in the order in which they were said, those `beside` others left out."""
    keys = dict.fromkeys((*first.told, *second.told))
    left_out = {"title", "schema_version", *chain(*beside(first, second).values())}
    return [key for key in keys if first.told.get(key) != second.told.get(key) and key not in left_out]


def beside(first: Side, second: Side) -> dict[str, list[str]]:
    """By key of a difference, the others that are no difference apart: they change with it.

    Where one side alone has its tiers one by one, these are the other's keys of two tiers. Where targets are told in
    other keys, or by rounds alone, they are those, with rounds.
    """
    found: dict[str, list[str]] = {}
    if (TIERS in first.told) != (TIERS in second.told):
        tiers, other = sorted((first.told, second.told), key=lambda told: TIERS not in told)
        found[TIERS] = [key for key in other if key.startswith(OF_TWO_TIERS) and key not in tiers]
    if (first.told.keys() ^ second.told.keys()) & TARGETS:
        target, *others = (key for key in AIMS if key in first.told or key in second.told)
        found[target] = others
    return found


def _with(first: Side, second: Side, keys: Collection[str]) -> tuple[Verdict | None, str]:
    """The verdict of the first scenario with some keys as the second has them; None, and why, where it has none."""
    keys = {*keys, *chain(*(others for key, others in beside(first, second).items() if key in keys))}
    # a preset that one side has alone stands against what the other alone says of that link, not against the default
    alone = first.told.keys() ^ second.told.keys()
    links = tuple(key.removesuffix(PRESET) for key in keys & alone if key.endswith(PRESET))
    keys |= {key for key in alone if key.startswith(links)}
    told = {key: value for key, value in first.told.items() if key not in keys}
    told |= {key: second.told[key] for key in keys if key in second.told}
    try:
        return recommend(read(first.name, told, first.load), details=False, cases=True).verdict, ""
    except PlannerError as error:
        return None, error.parts[0].removeprefix(f"{first.name}: ")


def _together(keys: Collection[str], decide: Decide, progress: Callable[[str], None]) -> tuple[str, ...]:
    """A small set of differences that decide, no one of which can be spared; empty where none was found."""
    kept, needed = list(keys), 0
    for key in sorted(keys, reverse=True):  # whichever scenario is the first
        progress(f"sparing {key}")
        fewer = [one for one in kept if one != key]
        if decide(fewer):
            kept = fewer
        elif (needed := needed + 1) > TOGETHER:
            return ()
    return tuple(kept)


def _in_place(jointly: Sequence[str], spared: Sequence[str], decide: Decide) -> dict[str, tuple[str, ...]]:
    """By key of those that decide together, the spared ones that do in its place; nothing where these are many."""
    found: dict[str, list[str]] = {}
    for key, other in product(jointly, spared) if len(jointly) * len(spared) <= SWAPS else ():
        if decide([other, *(one for one in jointly if one != key)]):
            found.setdefault(key, []).append(other)
    return {key: tuple(others) for key, others in found.items()}
