"""What changed between two answers: the scenario, how it was asked, the ranking, the recommendation and its flips."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from planner.decide.recommendation import Recommendation
from planner.io.answers import Sensitivity
from planner.io.wording import names, percent, title
from planner.scenario.units import format_amount, format_duration, format_size

SETTINGS = ("title", "objective", "metric")
WORKING = ("predictor", "bounds", "constants", "cap", "resolution", "cost", "seed")
ROW = ("rank", "tie", "rounds", "time_seconds", "traffic_bytes", "p_best")


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
            ("Break-even points", self.flips),
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
    made = before.recommend, after.recommend
    return Difference(
        scenario=tuple(_scenario(before, after)),
        asked=tuple(
            Change(name, was, now, f"{name}: {was or 'none'} -> {now or 'none'}")
            for answers, fields in (((before, after), (*SETTINGS, "version")), (made, WORKING))
            for name in fields
            if (was := getattr(answers[0], name)) != (now := getattr(answers[1], name))
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
    rows = [{row.id: row for row in answer.rows} for answer in (before, after)]
    for topology in dict.fromkeys((*rows[0], *rows[1])):
        was, now = rows[0].get(topology), rows[1].get(topology)
        for name in ROW:
            old, new = (None if row is None else getattr(row, name) for row in (was, now))
            if old != new:
                known = was or now
                said = f"{known.title if known else topology}: {name} {_amount(name, old)} -> {_amount(name, new)}"
                if old and new and name in ("rounds", "time_seconds", "traffic_bytes"):
                    said += f" (x {new / old:.3g})"
                yield Change(f"{topology}.{name}", old, new, said)


def _amount(name: str, value: Any) -> str:
    forms: dict[str, Any] = {"rounds": "{:,.0f}".format, "time_seconds": format_duration}
    forms |= {"traffic_bytes": format_size, "p_best": percent}
    return "none" if value is None else forms.get(name, str)(value)


def _flips(before: Recommendation, after: Recommendation) -> Iterator[Change]:
    even = [[one for one in answer.sensitivity if one.break_even is not None] for answer in (before, after)]
    flips = [{_which(flip): flip for flip in some} for some in even]
    for which in dict.fromkeys((*flips[0], *flips[1])):
        was, now = flips[0].get(which), flips[1].get(which)
        if was is None or now is None:
            flip = was or now
            assert flip is not None  # noqa: S101 - it is of one of the two
            said = f"{'gone' if now is None else 'new'}: {_flip(flip)}"
        elif (was.break_even, was.best_beyond) == (now.break_even, now.best_beyond):
            continue
        else:
            said = f"moved: {_flip(was)} -> {_flip(now)}"
        old, new = (None if f is None else {"at": f.break_even, "to": list(f.best_beyond)} for f in (was, now))
        yield Change(f"flip of {which}", old, new, said)


def _flip(flip: Sensitivity) -> str:
    """One break-even point in words."""
    now, even = (format_amount(value, flip.unit) for value in (flip.now, flip.break_even))
    return f"{flip.parameter} from {now} to {even}: best is {names(flip.best_beyond)}"


def _which(flip: Sensitivity) -> str:
    """The input and the direction."""
    even, now = flip.break_even, flip.now
    up = isinstance(even, int | float) and isinstance(now, int | float) and even > now
    return f"{flip.parameter} {'upwards' if up else 'downwards'}"
