"""Rounds, seconds and bytes where devices do not always come: the same question, with what each round is then worth.

Rounds stay completed global rounds, and each costs what completing one takes, broken ones included. What it adds to
the rounds that only S of the n who were asked take part is an approximation: who comes is no draw of anybody's, and
both predictors know of draws of a fixed number. S is the expected number, between whole numbers linearly.

* A model of runs draws S of n: its rounds are multiplied by its own ratio of S to n, both with rings in random order.
* A bound on draws is loose where nearly all are drawn, so it is not taken as it stands. For the noise of fewer
  gradients the rounds are multiplied by ``N(S)/N(n)``, where N are those that `hflbounds.sharp-partial` needs without
  heterogeneity. The mean of those who come strays from that of all by ``(n - S)/(n - 1)`` of what it would if they were
  drawn from very many: the rounds that this bound needs with both deviations scaled by the root of that factor, less
  N(S), are added. Where only some of the fleet are asked in the first place, it is the ratio of S to n.

Nothing is added where everyone comes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from hflbounds import Bound, family
from planner.cost.chances import needed
from planner.cost.reliability import LEAST, Attendance, attend, everyone
from planner.cost.round import RoundCost
from planner.errors import NoAnswerError
from planner.io.wording import names, title
from planner.predict import question as prediction
from planner.predict.question import Question
from planner.predict.statements import Presence
from planner.scenario.availability import Availability
from planner.scenario.fields import Objective
from planner.scenario.resolve import Scenario
from planner.scenario.units import format_duration

PARTIAL = "hflbounds.sharp-partial"
LIKELY = 0.9  # survival of a ring pass whose price in availability is named where nobody gave one
NOTEWORTHY = 0.99  # availability per turn above which that price is worth a line
NEARLY = 1 - 1e-4  # of those asked, who are as good as all
COUNTS = ("S1", "S2", "P", "K")


@dataclass(frozen=True)
class Attended(Question):
    """A question about devices that do not always come.

    Attributes:
        availability: who comes.
        whole: the project's own bounds for who is asked, by topology.
        drawn: whether these are only some of the fleet.
        seen: rounds by all that they depend on; questions that differ by a link or a clock have it in common.
    """

    availability: Availability
    whole: Mapping[str, Bound]
    drawn: bool
    seen: dict[Any, dict[str, Any]] = field(default_factory=dict, repr=False, compare=False)

    @property
    def partly_available(self) -> bool:
        """Whether some devices do not always come."""
        return True

    @property
    def absences(self) -> dict[str, float]:
        """Share of the time that devices stay away, by who."""
        comes = {"client": self.availability.client, "server": self.availability.server}
        return {who: 1 - share for who, share in list(comes.items())[: self.network.tiers]}

    def with_absence(self, who: str, share: float) -> Attended:
        """The same with devices that stay away so often."""
        parts: dict[str, Any] = {who: 1 - share}
        return replace(self, availability=replace(self.availability, **parts))

    @cached_property
    def partial(self) -> dict[str, Bound]:
        """What fewer participants cost, by topology."""
        return {bound.topology: bound for bound in family(PARTIAL) if bound.topology}

    def attendance(self, topology: str, **changes: Any) -> Attendance:
        """What becomes of a round of this topology, also for changed counts."""
        return attend(self.round_spec(topology, **changes), self.availability)

    def lacks(self, there: Attendance) -> bool:
        """Whether fewer take part than were asked."""
        return there.groups < self.values["S1"] * NEARLY or there.clients < self.values["S2"] * NEARLY

    def rounds(self, **changes: Any) -> dict[str, Any]:
        """Completed global rounds to the target; ``inf`` also where too few of those begun survive."""
        moved: tuple[Any, ...] = (*self.values.values(), self.target, self.horizon)
        if changes or any(np.ndim(value) for value in moved):
            return self._rounds(**changes)
        there = ((a.survival >= LEAST, a.groups, a.clients) for a in map(self.attendance, self.topologies))
        key = (
            tuple((name, float(value)) for name, value in self.values.items()),
            tuple(None if n is None else float(n) for n in (self.target, self.share, self.horizon)),
            (self.cap, self.order, self.predictor.id, self.metric, self.seed),
            tuple(self.topologies),
            self.family,
            tuple(there),
        )
        if key not in self.seen:
            self.seen[key] = self._rounds()
        return dict(self.seen[key])

    def _rounds(self, **changes: Any) -> dict[str, Any]:
        found = super().rounds(**changes)
        values = {**self.values, **changes}
        counts = np.broadcast_arrays(*(np.asarray(values[name], dtype=np.float64) for name in COUNTS))
        goal = self.goal(**changes)
        for topology, bare in found.items():
            there = [
                self.attendance(topology, **dict(zip(COUNTS, each, strict=True)))
                for each in zip(*(c.flat for c in counts), strict=True)
            ]
            shape = counts[0].shape
            groups, clients, survival = (
                np.array([getattr(a, name) for a in there]).reshape(shape) for name in ("groups", "clients", "survival")
            )
            feasible = survival >= LEAST
            lacking = feasible & ((groups < values["S1"]) | (clients < values["S2"]))
            needed = np.asarray(bare, dtype=np.float64)
            if lacking.any():
                come = np.where(lacking, groups, values["S1"]), np.where(lacking, clients, values["S2"])
                needed = np.where(lacking, np.ceil(bare * self._dearer(topology, *come, goal, values) - 1e-9), bare)
            found[topology] = np.where(feasible & (needed <= self.allowed), needed, np.inf)[()]
        return found

    def _dearer(self, topology: str, groups: Any, clients: Any, goal: Any, values: dict[str, Any]) -> Any:
        """Factor on the rounds where so many take part of those who were asked; see the module."""
        S1, S2, zeta, delta = (values[name] for name in ("S1", "S2", "zeta", "delta"))
        corners = [
            (one, two, part1 * part2)
            for one, part1 in _whole_numbers(groups, S1)
            for two, part2 in _whole_numbers(clients, S2)
        ]
        ratio = not self.predictor.guarantees or self.drawn
        if ratio:
            asked = [(one, two, zeta, delta) for one, two, _ in corners] + [(S1, S2, zeta, delta)]
        else:
            straying = zeta * _finite(clients, S2), delta * _finite(groups, S1)
            asked = [(one, two, *straying) for one, two, _ in corners] + [(S1, S2, 0.0, 0.0)]
            asked += [(one, two, 0.0, 0.0) for one, two, _ in corners]
        shape = np.broadcast_shapes(np.shape(goal), *(np.shape(value) for value in values.values()))
        stacked = {  # in one call, which costs little more than the first of them
            name: np.stack([np.broadcast_to(one, shape) for one in column])
            for name, column in zip(("S1", "S2", "zeta", "delta"), zip(*asked, strict=True), strict=True)
        }
        if self.predictor.guarantees:
            found = self.partial[topology].rounds_to(goal, cap="own", **{**values, **stacked})
        else:
            found = self.predictor.rounds_to(replace(self, order="random"), topology, goal, {**values, **stacked})
        needed = np.asarray(found)
        shares = [share for _, _, share in corners]
        with np.errstate(invalid="ignore"):
            there = sum(share * n for share, n in zip(shares, needed, strict=False))
            everyone = needed[len(corners)]
            if not ratio:
                quiet = sum(share * n for share, n in zip(shares, needed[len(corners) + 1 :], strict=True))
                alike, everyone = everyone, np.asarray(self.whole[topology].rounds_to(goal, cap="own", **values))
                there = everyone * quiet / alike + (there - quiet)
            known = np.isfinite(there) & np.isfinite(everyone) & (everyone > 0)
            return np.maximum(np.where(known, there, 1.0) / np.where(known, everyone, 1.0), 1.0)

    def of_a_round(self, topology: str, **changes: Any) -> RoundCost:
        """Seconds and bytes of a completed global round, or of one begun where hardly any is completed."""
        cost = super().of_a_round(topology, **changes)
        there = self.attendance(topology, **changes)
        if not there.feasible:
            return cost
        traffic = tuple(size * more for size, more in zip(cost.bytes_by_tier, there.traffic, strict=True))
        return replace(
            cost,
            seconds=cost.seconds * there.slower,
            standard_error=cost.standard_error * there.slower,
            bytes=sum(traffic),
            bytes_by_tier=traffic,
        )

    def price(self, topology: str, objective: Objective, **changes: Any) -> float:
        """What one completed global round adds to the objective; by rounds, those begun for it."""
        if objective != "rounds":
            return super().price(topology, objective, **changes)
        there = self.attendance(topology, **changes)
        return 1 / there.survival if there.feasible else 1.0


def _whole_numbers(expected: Any, most: Any) -> Iterator[tuple[Any, Any]]:
    """The whole numbers on either side, and the share of each."""
    low = np.clip(np.floor(expected + 1e-9), 1, most)
    part = np.clip(expected - low, 0.0, 1.0)
    yield low, 1 - part
    if np.any(part > 0):
        yield np.minimum(low + 1, most), part


def _finite(some: Any, of: Any) -> Any:
    """Root of the finite-population factor ``(n - S)/(n - 1)``: how far a mean of S of n strays, against S of many."""
    return np.sqrt(np.clip((of - some) / np.maximum(of - 1.0, 1.0), 0.0, 1.0))


def ask(scenario: Scenario) -> Question:
    """The question a scenario poses, as of `planner.predict.question.ask`; attended where devices may stay away.

    Raises:
        ScenarioError: if the bound family asked for does not exist, or is about other participation.
    """
    question = prediction.ask(scenario)
    availability = scenario.availability
    if availability is None or availability.steady(question.compute):
        return question
    kind = "partial" if scenario.partial else scenario.order
    return Attended(
        **{f.name: getattr(question, f.name) for f in fields(question)},
        availability=availability,
        whole={b.topology: b for b in family(prediction.BY_DEFAULT[kind]) if b.topology},
        drawn=scenario.partial,
    )


def of_row(question: Question, scenario: Scenario, topology: str, rounds: float) -> dict[str, Any]:
    """What a row of the answer says about survival; empty where nobody said who comes.

    Args:
        question: as asked.
        scenario: says whether anybody said.
        topology: of the row.
        rounds: completed ones to the target.
    """
    if scenario.availability is None:
        return {}
    if isinstance(question, Attended):
        there = question.attendance(topology)
    else:
        there = everyone(groups=question.values["S1"], clients=question.values["S2"])
    begun = rounds / there.survival if there.feasible else math.inf
    presence = Presence(
        rounds_begun=begun if math.isfinite(begun) else None,
        groups=there.groups if there.feasible else None,
        clients=there.clients if there.feasible else None,
        client=there.client,
        cut_off=there.cut_off,
        timeout=there.timeout,
    )
    return {"survival": there.survival, "feasible": there.feasible, "availability": presence}


def refusal(question: Question, topology: str) -> str:
    """Why a topology cannot survive, with the number; "" where it can."""
    if not isinstance(question, Attended):
        return ""
    there = question.attendance(topology)
    if there.feasible:
        return ""
    if there.client == 0 and there.timeout is not None:
        timeout = format_duration(there.timeout)
        return (
            f"nobody finishes within the timeout of {timeout}: a turn takes {format_duration(there.shortest)} or more"
        )
    availability, tree = question.availability, question.sized(topology)
    S1 = tree.tiers[0].taking_part
    if tree.models == 1 and availability.policy == "fail":
        chain = f"{tree.work(1):,} turns in a row, of which each comes with probability {there.client:.6g}"
        chain += f", and {S1:,} group servers with {availability.server:.6g}" if availability.server < 1 else ""
    else:
        least = 1 if availability.policy != "fail" else needed(availability.quorum, S1)
        least = S1 if tree.tiers[0].pattern.ordered and availability.policy == "fail" else least
        chain = f"{least:,} of {S1:,} groups, of which each comes with probability {there.group:.3g}"
    begun = f"{1 / there.survival:.3g}" if there.survival > 1e-300 else "more than 1e300"
    survival = f"{there.survival:.3g}" if there.survival > 1e-300 else "less than 1e-300"
    skip = "" if availability.policy != "fail" else "; --on-failure skip goes on without those who stay away"
    return (
        f"a global round survives with probability {survival} (it needs {chain}), so {begun} are begun for one that is "
        f"completed, over the {1 / LEAST:.0f} allowed{skip}"
    )


def check(question: Question) -> None:
    """Refuse what no topology survives.

    Raises:
        NoAnswerError: with the number of the topology that survives best.
    """
    if not isinstance(question, Attended):
        return
    survival = {t: question.attendance(t).survival for t in question.topologies}
    if max(survival.values()) >= LEAST:
        return
    best = max(survival, key=lambda t: survival[t])
    raise NoAnswerError(f"no topology survives. {title(best)}, which survives best: {refusal(question, best)}.")


def in_words(question: Question) -> list[str]:
    """What becomes of a round of every topology, for the explanation."""
    if not isinstance(question, Attended):
        return []
    there = {t: question.attendance(t) for t in question.topologies}
    said = [
        "A global round that is begun is completed with probability "
        + ", ".join(f"{a.survival:.3g} ({title(t)})" for t, a in there.items())
        + f", under the policy {question.availability.policy}; rounds are completed ones, and their seconds and bytes "
        "count the broken ones too."
    ]
    lacking = {t: a for t, a in there.items() if a.feasible and question.lacks(a)}
    if lacking:
        said.append(
            "Of those asked take part in a completed round, in expectation: "
            + ", ".join(f"{a.groups:.3g} groups of {a.clients:.3g} clients ({title(t)})" for t, a in lacking.items())
            + "."
        )
    return said


def about(question: Question, scenario: Scenario, recommended: Sequence[str]) -> list[str]:
    """What to doubt about survival, or what it would take where nobody said who comes."""
    if scenario.availability is None:
        return _price_of_a_ring(question, recommended)
    if not isinstance(question, Attended):
        return []
    able = {t: a for t in question.topologies if (a := question.attendance(t)).feasible}
    said = []
    if any(question.lacks(a) for a in able.values()):
        said.append(
            "What fewer participants add to the rounds is an approximation, by draws of a fixed number: it holds if "
            "who comes has nothing to do with their data. Learning rates are those for everyone."
        )
    for timeout, cut in dict.fromkeys((a.timeout, a.cut_off) for a in able.values() if a.cut_off > 1 - NEARLY):
        whom = [t for t, a in able.items() if (a.timeout, a.cut_off) == (timeout, cut)]
        said.append(
            f"{names(whom)}: a timeout of {format_duration(timeout or 0.0)} cuts off {cut:.2g} of the turns. "
            "Where slow devices have other data, the model is biased towards the fast ones."
        )
    if question.availability.policy != "timeout" and question.availability.detect is None:
        said.append(
            "Nobody said when a device that stays away is given up: two usual turns of a client are assumed "
            "(availability.detect)."
        )
    return said


def _price_of_a_ring(question: Question, recommended: Sequence[str]) -> list[str]:
    """The availability that the longest chain of turns in the recommended topologies needs."""
    trees = {t: tree for t in recommended if (tree := question.sized(t)).tiers[-1].pattern.ordered}
    chains = {t: tree.local_steps(1) for t, tree in trees.items()}
    longest = max(chains, key=lambda t: chains[t], default=None)
    if longest is None:
        return []
    needed = LIKELY ** (1 / chains[longest])
    if needed <= NOTEWORTHY:
        return []
    what = "a global round" if trees[longest].models == 1 else "a group's part of a round"
    return [
        f"{names([longest])}: {what} is a chain of {chains[longest]:,} turns, and survives with {LIKELY:.0%} only if "
        f"each comes with {_percent(needed)} or more. Say how often clients come: --availability 99%."
    ]


def _percent(share: float) -> str:
    """With two digits of what is missing to 100 %, rounded up."""
    missing = 100 * (1 - share)
    digits = max(0, 1 - math.floor(math.log10(missing)))
    return f"{math.ceil((100 - missing) * 10**digits) / 10**digits:.{digits}f}%"
