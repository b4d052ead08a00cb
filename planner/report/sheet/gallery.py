"""Which pictures the report of an answer has: each a place and what draws it, drawn when a report is written."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from hflbounds.topology import all_topologies
from planner.decide.recommendation import SHARING
from planner.io import frames
from planner.io.wording import CASES

if TYPE_CHECKING:
    from planner.io.answers import Answer
    from planner.plot import Draw, Picture
    from planner.scenario.values import Scenario

FLIP = "hfl-plan/flip/"
RANKED = ("hfl-plan/recommend/", FLIP)  # schemas of answers that are an order of topologies
POINTS = 6  # topologies in the picture of time against traffic

Wanted: TypeAlias = "tuple[str, str, Draw]"
"""Id, place in the report, and what draws it."""


def of_answer(answer: Answer, scenario: Scenario | None) -> Iterator[Wanted]:
    """List the pictures of an answer: of its rows, and of the scenario that it is about, where there is one."""
    yield from _of_rows(answer)
    if scenario is None:
        return
    from planner.plot import forest, hours, tiers, tornado

    yield "tiers", "answer", partial(tiers.of_scenario, scenario)
    if not answer.schema.startswith(RANKED):
        return
    for suffix, words, one in _cases(answer, scenario):
        yield f"forest{suffix}", "answer", partial(_said, words, forest.of_scenario, one)
        if one.objective == "time":
            yield f"hours{suffix}", "answer", partial(_said, words, hours.of_scenario, one)
        yield f"tornado{suffix}", "changes", partial(_said, words, tornado.of_scenario, one)


def _of_rows(answer: Answer) -> Iterator[Wanted]:
    """The picture of rows that have both a time and traffic; those of `flip` are changes, and no ways to run."""
    if answer.schema.startswith(FLIP):
        return
    found = [
        row.__dict__ for row in answer.rows if getattr(row, "time_seconds", 0) and getattr(row, "traffic_bytes", 0)
    ]
    if len(found) > 1:
        case = CASES["per-client"] if _is_open(answer) else ""
        yield "front", "answer", partial(_front, found, "; ".join(filter(None, (answer.title, case))))


def of_counts(before: Path, after: str | None = None) -> Sequence[Wanted]:
    """List the picture of label counts, and of the same in new groups, given as the text of a file.

    What stands for the file of the counts now does so when the picture is drawn, too.
    """
    held = frames.content(before)

    def draw() -> Picture:
        from planner.plot import grouping

        with frames.held() as holder:
            path = before if held is None else Path(holder.written(held.decode(), "before"))
            return grouping.of_counts(path, after)

    return [("grouping", "answer", draw)]


def race(pilot: str) -> Picture:
    """Draw what a pilot measured, from the text of its file."""
    from planner.data.pilot import Pilot
    from planner.io.json_documents import fitted
    from planner.plot import race as picture

    return picture.draw(fitted(Pilot, json.loads(pilot)))


def _front(rows: Sequence[Mapping[str, Any]], about: str) -> Picture:
    from planner.plot import front, plain

    known = {id_ for depth in (1, 2, 3) for id_ in all_topologies(depth)}
    others = [row for row in rows if row.get("baseline")]
    ranked = [row for row in rows if not row.get("baseline")]
    first = list(dict.fromkeys(row.get("topology") or row["id"] for row in ranked))[:POINTS]
    shown = [row for row in ranked if (row.get("topology") or row["id"]) in first] + others
    points = [
        front.Point(
            next((row[key] for key in ("topology", "id") if row.get(key) in known), row.get("title") or row["id"]),
            f"P = {row['group_rounds']}, K = {row['local_steps']}" if row.get("local_steps") else "",
            float(row.get("rounds") or 0),
            float(row["time_seconds"]),
            float(row["traffic_bytes"]),
        )
        for row in shown
    ]
    drawn, numbers = front.draw(points, plain(about, 60))
    return drawn, numbers, f"Time against traffic of {len(points)} ways to the target, both logarithmic."


def _said(words: str, draw: Any, scenario: Scenario) -> Picture:
    figure, rows, says = draw(scenario)
    return figure, rows, f"With {words}. {says}" if words else says


def _cases(answer: Answer, scenario: Scenario) -> Iterator[tuple[str, str, Scenario]]:
    """The scenario, or one for each way in which clients may share their links, where the verdict depends on it."""
    if not _is_open(answer):
        yield "", "", scenario
        return
    for value, words in CASES.items():
        yield f"-{value}", words, scenario.with_link(sharing=value)


def _is_open(answer: Answer) -> bool:
    """Whether the verdict depends on how clients share their links."""
    return any(one.on == SHARING for one in (answer.verdict, *answer.verdict.cases))
