"""What changed between two answers: the scenario, how it was asked, the ranking, the recommendation and its flips."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from planner.decide.explain import flip_sentence
from planner.decide.recommendation import Flip, Recommendation
from planner.io.wording import title
from planner.scenario.units import format_amount, format_duration, format_size

SETTINGS = ("title", "objective", "metric", "predictor", "bounds", "constants", "cap", "resolution", "cost", "seed")
ROW = ("rank", "tie", "rounds", "seconds", "bytes", "p_best")


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that differs; None where it is not there."""

    name: str  # ``zeta``, ``star-ring.seconds``, ``flip of M upwards``
    before: Any
    after: Any
    said: str  # in words


@dataclass(frozen=True, slots=True)
class Difference:
    """What changed from one answer to another; false where nothing did."""

    scenario: tuple[Change, ...]  # numbers and words of the scenario, and their origins
    asked: tuple[Change, ...]  # how the answer was made
    ranking: tuple[Change, ...]  # rounds, seconds and bytes of every topology, its place and its tie
    recommended: tuple[Change, ...]  # the first tie group
    flips: tuple[Change, ...]  # the nearest changes of the answer
    rest: bool  # whether anything else differs: sentences, evidence, draws

    def __bool__(self) -> bool:
        return self.rest or any((self.scenario, self.asked, self.ranking, self.recommended, self.flips))

    def __str__(self) -> str:
        """One change a line."""
        lines = [] if self.recommended else ["The recommendation is the same."]
        for heading, changes in (
            ("", self.recommended),
            ("Scenario", self.scenario),
            ("Asked", self.asked),
            ("Ranking", self.ranking),
            ("What would change it", self.flips),
        ):
            lines += [f"\n{heading}"] if heading and changes else []
            lines += [f"{'  ' if heading else ''}{change.said}" for change in changes]
        if not self:
            return "The answers are the same."
        if self.rest and not any((self.scenario, self.asked, self.ranking, self.flips)):
            lines.append("Numbers are the same; sentences, evidence or draws differ.")
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """The changes, by part."""
        return {"changed": bool(self), **asdict(self)}


def difference(before: Recommendation, after: Recommendation) -> Difference:
    """What changed from one answer to another."""
    recommended: tuple[Change, ...] = ()
    if set(before.recommended) != set(after.recommended):
        words = [" and ".join(map(title, answer.recommended)) for answer in (before, after)]
        said = f"Recommended was {words[0]}, and is {words[1]}."
        recommended = (Change("recommended", list(before.recommended), list(after.recommended), said),)
    return Difference(
        scenario=tuple(_scenario(before, after)),
        asked=tuple(
            Change(name, was, now, f"{name}: {was or 'none'} -> {now or 'none'}")
            for name in (*SETTINGS, "version")
            if (was := getattr(before, name)) != (now := getattr(after, name))
        ),
        ranking=tuple(_ranking(before, after)),
        recommended=recommended,
        flips=tuple(_flips(before, after)),
        rest=before != after,
    )


def _scenario(before: Recommendation, after: Recommendation) -> Iterator[Change]:
    for name in dict.fromkeys((*before.scenario, *after.scenario)):
        was, now = before.scenario.get(name), after.scenario.get(name)
        if was is None or now is None:
            there = was or now
            assert there is not None  # noqa: S101 - the name is of one of the two
            said = f"{name}: {'no longer said' if now is None else 'newly said'}, {_known(there)}"
        elif (was.value, was.origin) == (now.value, now.origin):
            continue
        elif was.value == now.value:
            said = f"{name}: {_known(was)}, {was.origin} -> {now.origin}"
        else:
            origin = "" if was.origin == now.origin else f" ({was.origin} -> {now.origin})"
            said = f"{name}: {_known(was)} -> {_known(now)}{origin}"
        yield Change(name, None if was is None else was.value, None if now is None else now.value, said)


def _known(known: Any) -> str:
    return known.reading or format_amount(known.value, known.unit)


def _ranking(before: Recommendation, after: Recommendation) -> Iterator[Change]:
    rows = [{row.topology: row for row in answer.ranking} for answer in (before, after)]
    for topology in dict.fromkeys((*rows[0], *rows[1])):
        was, now = rows[0].get(topology), rows[1].get(topology)
        for name in ROW:
            old, new = (None if row is None else getattr(row, name) for row in (was, now))
            if old != new:
                said = f"{title(topology)}: {name} {_amount(name, old)} -> {_amount(name, new)}"
                if old and new and name in ("rounds", "seconds", "bytes"):
                    said += f" (x {new / old:.3g})"
                yield Change(f"{topology}.{name}", old, new, said)


def _amount(name: str, value: Any) -> str:
    forms = {"rounds": "{:,}".format, "seconds": format_duration, "bytes": format_size, "p_best": "{:.0%}".format}
    return "none" if value is None else forms.get(name, str)(value)


def _flips(before: Recommendation, after: Recommendation) -> Iterator[Change]:
    flips = [{_which(flip): flip for flip in answer.flips} for answer in (before, after)]
    for which in dict.fromkeys((*flips[0], *flips[1])):
        was, now = flips[0].get(which), flips[1].get(which)
        if was is None or now is None:
            flip = was or now
            assert flip is not None  # noqa: S101 - it is of one of the two
            said = f"{'gone' if now is None else 'new'}: {flip_sentence(flip)}"
        elif (was.at, was.to) == (now.at, now.to):
            continue
        else:
            said = f"moved: {flip_sentence(was)} -> {flip_sentence(now)}"
        old, new = (None if flip is None else {"at": flip.at, "to": flip.to} for flip in (was, now))
        yield Change(f"flip of {which}", old, new, said)


def _which(flip: Flip) -> str:
    """The input and the direction."""
    up = not isinstance(flip.at, str) and not isinstance(flip.from_, str) and flip.at > flip.from_
    return f"{flip.parameter} {'upwards' if up else 'downwards'}"
