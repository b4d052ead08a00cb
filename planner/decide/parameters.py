"""What of a question can be moved: every number, what moving it does, and how far it is looked at."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planner.errors import ScenarioError
from planner.io.text import suggest
from planner.io.wording import input_words
from planner.predict.question import Question
from planner.scenario.fields import CLOCKED, FIELDS, LARGEST_COUNT, LARGEST_ROUNDS, Objective

Array = NDArray[np.float64]

CLOCK = ("model_size", "step_time")  # what the clock depends on, beside the links
LINK = ("up", "down", "latency")
SCALES = {"up": 1e7, "down": 1e7, "latency": 0.01, "step_time": 0.1}  # what is near, where one of these is 0
NICKNAMES = {
    "uplink": "client_link.up",
    "downlink": "client_link.down",
    "latency": "client_link.latency",
    "server_uplink": "server_link.up",
    "server_downlink": "server_link.down",
    "server_latency": "server_link.latency",
    "zeta/delta": "zeta^2/delta^2",
}
OPTIONS = {option.lstrip("-"): field.symbol for field in FIELDS for option in field.options if field.symbol}
OPTIONS["target-accuracy"] = "target"
MEANT = {
    r"heterogeneity|data|skew": r"(zeta|delta\d?)(/sigma)?|.*\^2/.*",
    r"bandwidth|rates?|speed": r".*\.(up|down|rate)",
    r".*(link|network).*": r".*link.*\.(up|down|latency)",
    r"availability.*": r"absence\..*",
}
"""Words for several inputs, and what their names are like."""
GIVEN_BY = {r"target.*": "--target", r"r|rounds": "--rounds", r"(availability|absence).*": "--availability"}
"""Inputs that a scenario need not have, and the options that give them."""


def input_named(word: str, known: Collection[str], option: str) -> str:
    """Return the name of an input that goes by other names too, such as ``uplink`` for ``client_link.up``.

    The words of answers are among them, ``client uplink``, also with an underscore or in one word.

    Raises:
        ScenarioError: If none of those known is called so; with those that may be meant.
    """
    word = word.strip().removeprefix("network.")
    if "=" in word:
        name = input_named(head := word.partition("=")[0], known, option)
        raise ScenarioError(
            f"{option}: {word!a:.40} has a value, and {name} alone is followed from what it is now. "
            f"Write {option} {head}; ranges are for --map.",
            code="E020",
        )
    others = {other: name for other, name in {**OPTIONS, **NICKNAMES}.items() if name in known}
    words = [(input_words(name), name) for name in known]
    words += [(text.replace(" rates", " link"), name) for text, name in words]  # `server_link` moves both
    said = {_one_word(text): name for text, name in [*words, *others.items()]}
    if (name := others.get(word, word)) in known or (name := said.get(_one_word(word), "")) in known:
        return name
    meant = next((like for said, like in MEANT.items() if re.fullmatch(said, word.lower())), "")
    near = [name for name in known if re.fullmatch(meant, name)]
    given_by = next((option for said, option in GIVEN_BY.items() if re.fullmatch(said, word.lower())), "")
    help_ = f"Did you mean {' or '.join(near)}?" if near else suggest(word, [*known, *others])
    help_ = f"Give {given_by} to follow it." if given_by and not near else help_
    raise ScenarioError(
        f"{option}: {word!a:.40} is not one of {', '.join(known)}. {help_ or 'Give one of them.'}", code="E020"
    )


def _one_word(text: str) -> str:
    return re.sub(r"[\s_-]", "", text.lower())


FRACTION = 1e-6  # of a round that is not run, where whole rounds are equal
LARGEST_DRAWN = 2_000  # clients times group rounds; beyond it random compute times are not drawn again to look around
FEW_TIMES = 6  # values at most at which a round is timed for each
STRAIGHT = 1e-10  # relative distance from a line of what is on it
FEW_ROUNDS = 8  # of a pilot, up to which one more or less may turn what is told:
CLOSE, APART = 1.02, 1.1  # factors between targets that are looked at, of so few rounds and of more


@dataclass(frozen=True)
class Perturbed:
    """A question with inputs moved; arrays of values broadcast."""

    question: Question  # with what is not in ``values`` moved
    changes: Mapping[str, Any] = field(default_factory=dict)  # to the values of the question

    @property
    def told(self) -> dict[str, Any]:
        """All values, with those changed that were moved themselves."""
        return {**self.question.values, **self.changes}

    @property
    def values(self) -> dict[str, Any]:
        """All values, moved, with what follows from others."""
        return self.question.moved(self.changes)

    @property
    def counts(self) -> tuple[str, ...]:
        """Counts that the time of a round depends on."""
        return (*counts_drawn(self.question), *(tier.passes for tier in self.question.symbols if tier.passes), "K")

    def rounds(self) -> dict[str, Any]:
        """Rounds of every topology."""
        changes = dict(self.changes)
        if self.question.partly_available:  # which wants all that it combines in one shape
            moved = {name: n for name, n in self.told.items() if name not in ("L", "A")}
            changes |= dict(zip(moved, np.broadcast_arrays(*moved.values()), strict=True))
        return self.question.rounds(**changes)


@dataclass(frozen=True)
class Input:
    """A number that can be moved."""

    name: str  # as in the scenario
    value: float  # now
    apply: Callable[[Perturbed, Any], Perturbed]  # moves it; to one value at a time where it is ``timed``
    unit: str = ""  # of the value
    whole: bool = False  # whether it counts things
    timed: bool = False  # whether it moves the clock and who comes, and no count of rounds where everyone does
    scale: float = 1.0  # what is near, where the value is 0
    # the time of a round mostly is affine in this power of the value, between ``bends``; 0: in none
    power: int = 1
    bends: tuple[float, ...] = ()  # where it is not smooth
    least: float = 0.0  # least, most: the ends of what there is
    most: float = math.inf
    # whether it moves what the bounds need in more than one way, so that it is enclosed quantity by quantity: both
    # deviations at once, or a deviation with the target that follows from it
    coupled: bool = False
    # where what is told may go back and forth, as a pilot's whole rounds do: values of which it is looked at every one
    looks: tuple[float, ...] = ()

    def number(self, value: float) -> float | int:
        """A value as answers show it: whole where it counts things."""
        return round(value) if self.whole or self.name == "R" else value

    def moved(self, question: Question, at: float) -> Question:
        """Return the question with this input at another value; a target that follows from others stays for counts.

        As a number it may take more rounds than those that defined it, which are no limit.
        """
        there = self.apply(Perturbed(question), round(at) if self.whole else at)
        values = {name: float(value) for name, value in there.values.items()}
        moved = replace(there.question, values=values)
        held = self.whole and question.target is None
        return replace(moved, target=float(question.goal()), horizon=None) if held else moved

    def totals(self, question: Question, objective: Objective, topologies: Sequence[str], at: Array) -> Array:
        """The objective of each topology at each of some values: shape (topologies, values).

        In whole rounds, as `recommend` ranks; of equal ones fractions decide.
        """
        start = Perturbed(question)
        if self.timed:
            moved = [self.apply(start, float(x)).question for x in at]
            prices = np.array([self.along(at, [partial(q.price, t, objective) for q in moved]) for t in topologies])
            come = {q.availability for q in moved}
            every = moved if any(one and (one.hurried or len(come) > 1) for one in come) else [question]
            needed = [q.rounds() for q in every]
            return np.asarray(as_run(np.array([[float(rounds[t]) for rounds in needed] for t in topologies])) * prices)
        there = self.apply(start, at)
        found = there.rounds()
        counted = as_run(np.stack([np.broadcast_to(found[t], at.shape) for t in topologies]))
        if not self.whole:
            return np.asarray(counted * np.array([[question.price(t, objective)] for t in topologies]))
        return np.asarray(counted * np.stack([self._prices(there, objective, t, at) for t in topologies]))

    def along(self, at: Array, prices: Sequence[Callable[[], float]]) -> Array:
        """What a round costs at each of some values, read off a line where three of them between bends are on one.

        Of a largest of lines, as of a part of one over another, three points are on a line only where all between are;
        to the tolerance of `STRAIGHT` there, and a hundred times that at the ends of a scan over six decades.
        """
        found = np.empty(len(at))
        stretch = np.searchsorted(np.sort(self.bends), at)
        for part in (np.flatnonzero(stretch == i).tolist() for i in range(len(self.bends) + 1)):
            if self.power and len(part) > FEW_TIMES:
                few = [part[0], part[len(part) // 3], part[-1]]
                found[few] = [prices[i]() for i in few]
                fitted = straight_line(at[few] ** self.power, found[None, few])
                if fitted is not None:
                    found[part] = fitted[0] + fitted[1] * at[part] ** self.power
                    continue
            found[part] = [prices[i]() for i in part]
        return found

    def _prices(self, moved: Perturbed, objective: Objective, topology: str, at: Array) -> Array:
        """What a round costs for every one of many counts; read off a line where everyone comes and nothing is drawn.

        There seconds and bytes of a round are affine in every single count.
        """
        question = moved.question
        counts = {name: np.broadcast_to(moved.values[name], at.shape) for name in moved.counts}
        each = [{name: float(n[i]) for name, n in counts.items()} for i in range(len(at))]
        prices = [partial(question.price, topology, objective, **one) for one in each]
        exact = is_drawn(question) or question.partly_available or question.members is not None
        return replace(self, power=0 if exact else 1).along(at, prices)


def straight_line(x: Array, totals: Array) -> tuple[Array, Array] | None:
    """Base and slope of the lines through totals at three points; None where one is not straight."""
    slope = (totals[:, 2] - totals[:, 0]) / (x[2] - x[0])
    least = int(np.argmin(x))
    base = totals[:, least] - slope * x[least]
    straight = np.abs(base + slope * x[1] - totals[:, 1]) <= STRAIGHT * totals[:, 1]
    return (base, slope) if straight.all() else None


def as_run(rounds: Array) -> Array:
    """Rounds as they are run, whole, and so little more that fractions decide between equal ones."""
    return np.asarray(np.ceil(rounds * (1 - 1e-9)) + FRACTION * rounds)


def counts_drawn(question: Question) -> dict[str, str]:
    """How many take part in every tier, of how many: ``S1`` of ``G``."""
    return {tier.drawn: tier.size for tier in question.symbols}


def deviations(question: Question) -> dict[str, str]:
    """The deviation of every tier, the lowest first, and the count with which it is 0 where that is 1."""
    return {tier.deviation: tier.size for tier in reversed(question.symbols)}


def ratios(question: Question) -> dict[str, tuple[str, str]]:
    """Two deviations one above the other, by the name of the ratio of their squares."""
    names = list(deviations(question))
    return {f"{low}^2/{high}^2": (low, high) for low, high in itertools.pairwise(names)}


def is_drawn(question: Question) -> bool:
    """Whether compute times are random, so that a round is timed by draws."""
    return question.compute.random


def is_quick(question: Question) -> bool:
    """Whether a count costs microseconds: a formula, and nothing drawn or attended."""
    return question.predictor.cheap and not question.partly_available


def size_drawn(question: Question) -> float:
    """Compute times in one draw of a round."""
    passes = (tier.passes for tier in question.symbols if tier.passes)
    return math.prod(question.values[name] for name in (*counts_drawn(question), *passes))


def is_too_large(question: Question) -> bool:
    """Whether compute times are random, and too many to be drawn again to look around."""
    return is_drawn(question) and size_drawn(question) > LARGEST_DRAWN


def inputs(question: Question, objective: Objective) -> dict[str, Input]:
    """Every input that can move the order of the topologies, by name.

    By rounds and by traffic no link and no compute time can: they change no count of rounds, and the bytes of a
    round are models times the size of one.
    """
    values, found, furthest = question.values, [], question.predictor.furthest
    floating = question.target is None  # then the target follows from the values
    for name, count in deviations(question).items():
        if values[count] > 1:
            scale = values["sigma"] or 1.0
            found.append(Input(name, values[name], partial(_deviate, name), scale=scale, coupled=floating))
    noise = Input("sigma", values["sigma"], _noisier, coupled=floating or bool(question.in_sigmas))
    found.insert(0, noise)
    for name, (low, high) in ratios(question).items():
        if values[low] > 0 and values[high] > 0:
            found.append(Input(name, (values[low] / values[high]) ** 2, partial(_split, low, high), coupled=True))
    if question.target is not None:
        retarget = partial(_asked, lambda asked, at: asked.varied(target=at, share=None))
        reached = partial(question.predictor.reached, question, question.reference, values=values)
        least, most = (float(reached(rounds)) for rounds in (furthest, 0)) if furthest < math.inf else (0.0, math.inf)
        looks = _targets(question, least, most)
        found.append(Input("target", float(question.target), retarget, least=least, most=most, looks=looks))
    if question.horizon is not None:
        prolong = partial(_asked, lambda asked, at: asked.varied(horizon=np.round(at)))
        most = min(LARGEST_ROUNDS, furthest) if floating else LARGEST_ROUNDS
        found.append(Input("R", float(question.horizon), prolong, least=1.0, most=most))
    listed = question.members is not None or question.network.timer is not None  # then sizes are what they are
    sizes = [] if listed else [tier.size for tier in question.symbols]
    counts = sizes + [tier.passes for tier in question.symbols if tier.passes] + ["K"]
    found += [
        Input(name, values[name], partial(_recount, name), whole=True, least=1.0, most=LARGEST_COUNT) for name in counts
    ]
    some = question.members is None and any(values[drawn] != values[of] for drawn, of in counts_drawn(question).items())
    for drawn, of in counts_drawn(question).items():
        if some:
            found.append(Input(drawn, values[drawn], partial(_change, drawn), whole=True, least=1.0, most=values[of]))
    if objective in CLOCKED or question.partly_available:
        found += _timed(question)
    for who, share in question.absences.items():
        miss = partial(_asked, partial(_missed, who))
        found.append(Input(f"absence.{who}", share, miss, scale=1e-3, timed=True, power=0, most=0.999))
    every = {each.name: each for each in found}
    for link in question.network.named:
        if (up := every.get(f"{link}.up")) is not None:  # both rates at once, in proportion
            apply, name = partial(_asked, partial(_rerated, link)), f"{link}.rate"
            every[name] = replace(up, name=name, apply=apply, bends=())
    return every


def _targets(question: Question, least: float, most: float) -> tuple[float, ...]:
    """Targets of a pilot, close to one another where some topology has few whole rounds to them; none without one."""
    predictor = question.predictor
    if not predictor.measured:
        return ()
    few = min(float(predictor.reached(question, t, float(FEW_ROUNDS), question.values)) for t in question.topologies)
    few, found = min(max(few, least), most), list[float]()
    for low, high, apart in ((least, few, APART), (few, most, CLOSE)):
        found += np.geomspace(low, high, math.ceil(math.log(high / low) / math.log(apart)) + 1)[1:].tolist()
    return tuple(found)


def moved_by(name: str) -> tuple[str, ...]:
    """The numbers of the scenario that an input moves."""
    link, _, part = name.rpartition(".")
    return (f"{link}.up", f"{link}.down") if part == "rate" else (name,)


def fixed(question: Question, found: Mapping[str, Input]) -> dict[str, str]:
    """Of inputs those that a pilot fixes, and why: it can be asked about other rounds, and about no other fleet."""
    data = {"sigma", *deviations(question), *ratios(question), *in_sigmas(question)}
    why = {name: "the pilot is of this fleet" for name, each in found.items() if each.whole}
    why |= {name: "the pilot ran with these data" for name in found if name in data}
    return why if question.predictor.measured else {}


def in_sigmas(question: Question) -> dict[str, Input]:
    """Deviations in units of sigma: axes of a map."""
    sigma = question.values["sigma"]
    if not sigma:
        return {}
    return {
        f"{name}/sigma": Input(f"{name}/sigma", question.values[name] / sigma, partial(_in_sigmas, name))
        for name, count in deviations(question).items()
        if question.values[count] > 1
    }


def as_typed(each: Input, metric: str) -> Input:
    """A target that is followed as a test error as the accuracy that is typed; others as they are."""
    if (each.name, metric) != ("target", "accuracy"):
        return each
    typed = replace(each, name="target_accuracy", unit="%", apply=lambda moved, at: each.apply(moved, 1 - at))
    return replace(typed, value=1 - each.value, least=1 - each.most, most=1 - each.least, looks=())


def of_clock(question: Question) -> list[tuple[str, float, str]]:
    """What the seconds of a round depend on: names in the scenario, values, units."""
    found = [("model_size", question.model_bytes, "bytes"), ("step_time", question.compute.step_time, "s")]
    for tier, link in question.network.named.items():
        found += [(f"{tier}.{part}", getattr(link, part), "s" if part == "latency" else "bit/s") for part in LINK]
    return found


def with_clock(question: Question, changes: Mapping[str, float]) -> Question:
    """The same with other numbers of the clock."""
    network, compute, size = question.network, question.compute, question.model_bytes
    for name, value in changes.items():
        tier, _, part = name.rpartition(".")
        if tier:
            network = network.with_link(tier, **{part: value})
        elif name == "step_time":
            compute = replace(compute, step_time=value)
        else:
            size = value
    return question.varied(network=network, compute=compute, model_bytes=size)


def _timed(question: Question) -> list[Input]:
    there, found = question.members, []
    listed = there is not None and there.link_of is not None and bool((there.link_of >= 0).all())
    for name, value, unit in of_clock(question):
        tier, _, part = name.rpartition(".")
        if listed and tier == "client_link":
            continue
        power, bends = 1, tuple[float, ...]()
        if unit == "bit/s":
            link, power = question.network.named[tier], -1
            if link.hop == "direct":  # whose slower end sets the pace
                bends = (link.down if part == "up" else link.up,)
        apply, scale = partial(_asked, partial(_reclocked, name)), SCALES.get(part, 1.0)
        found.append(Input(name, value, apply, unit, timed=True, scale=scale, power=power, bends=bends))
    return found


def _change(name: str, moved: Perturbed, at: Any) -> Perturbed:
    return Perturbed(moved.question, {**moved.changes, name: at})


def _deviate(name: str, moved: Perturbed, at: Any) -> Perturbed:
    alone = np.asarray(moved.values[deviations(moved.question)[name]]) == 1
    return _change(name, moved, np.where(alone, 0.0, at)[()])


def _noisier(moved: Perturbed, at: Any) -> Perturbed:
    """Move sigma, and with it what was told as multiples of it, as the option does, unless that has been moved."""
    own = moved.question.values
    scaled = {name: own[name] * (at / own["sigma"]) for name in moved.question.in_sigmas}
    return Perturbed(moved.question, {**scaled, **moved.changes, "sigma": at})


def _in_sigmas(name: str, moved: Perturbed, at: Any) -> Perturbed:
    return _deviate(name, moved, at * moved.values["sigma"])


def _split(low: str, high: str, moved: Perturbed, at: Any) -> Perturbed:
    """Shift heterogeneity between two tiers; the sum of squares stays."""
    whole = np.hypot(moved.told[low], moved.told[high])
    return _deviate(high, _deviate(low, moved, whole * np.sqrt(at / (1 + at))), whole / np.sqrt(1 + at))


def _recount(name: str, moved: Perturbed, at: Any) -> Perturbed:
    """Where everyone takes part everyone still does, and one alone differs from none."""
    question = moved.question
    changes = {**moved.changes, name: at}
    for drawn, of in counts_drawn(question).items():
        if of == name:
            everyone = question.values[drawn] == question.values[of]
            changes[drawn] = at if everyone else np.minimum(moved.values[drawn], at)
    for deviation, of in deviations(question).items():
        if of == name and not question.label_shift:
            changes[deviation] = np.where(np.asarray(at) == 1, 0.0, moved.values[deviation])[()]
    return Perturbed(question, changes)


def _asked(vary: Callable[[Question, Any], Question], moved: Perturbed, at: Any) -> Perturbed:
    """Move what is no value of the question."""
    return Perturbed(vary(moved.question, at), moved.changes)


def _missed(who: str, question: Question, at: float) -> Question:
    assert question.availability is not None  # noqa: S101 - only those in `Question.absences` are moved
    parts: dict[str, Any] = {who: 1 - at}
    return question.varied(availability=replace(question.availability, **parts))


def _rerated(tier: str, question: Question, at: float) -> Question:
    link = question.network.named[tier]
    return with_clock(question, {f"{tier}.up": at, f"{tier}.down": link.down * at / link.up})


def _reclocked(name: str, question: Question, at: float) -> Question:
    return with_clock(question, {name: at})
