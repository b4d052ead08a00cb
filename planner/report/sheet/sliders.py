"""Sliders in a report: links, model size and work, for which the file itself computes every time again, exactly.

Rounds stay those of the answer. The time of a round is a sum of transfers and work (`planner.cost.linear`); where it is
none, as with stragglers or where devices stay away, a report has no sliders.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from planner.cost.linear import WORK, terms
from planner.decide.recommendation import Recommendation, Row
from planner.decide.single_tier import Baseline, baselines
from planner.io.answers import Answer
from planner.io.wording import CASES, duration
from planner.predict.question import Question, ask, with_default_order
from planner.scenario.units import format_amount
from planner.scenario.values import Scenario

Data = dict[str, Any]
SIZE = "model_size"
UNITS = {"up": "bit/s", "down": "bit/s", "latency": "s", SIZE: "bytes", WORK: "s"}
REACH = 1000  # a slider goes from the scenario's value to as many times less and more
STEPS = 120  # of a slider, on either side


def html(answer: Answer, scenario: Scenario | None) -> Iterator[str]:
    """Write the sliders of a recommendation, hidden until the script of the report shows them; nothing elsewhere."""
    if not isinstance(answer, Recommendation) or scenario is None or scenario.divisions:
        return
    question = ask(with_default_order(scenario))
    found = {} if question.availability is not None else dict(_cases(answer, question))
    if not found:
        return
    controls = list(_controls(question, answer))
    data = json.dumps({"cases": found, "reach": REACH, "steps": STEPS}, allow_nan=False)
    yield f'<section id="sliders" data-model="{escape(data)}" hidden><h2>Other links, model or work</h2>'
    yield '<p class="note">Rounds stay those of the answer above; times are computed again here, without a network.</p>'
    yield '<div class="sliders">'
    for name, label, value, unit in controls:
        text = escape(format_amount(value, unit))
        yield (
            f'<label>{escape(label)} <output>{text}</output><input type="range" min="{-STEPS}" max="{STEPS}" value="0" '
            f'data-name="{name}" data-value="{value!r}" data-unit="{unit}"></label>'
        )
    yield '</div><button type="button" class="back">Back to the scenario</button>'
    for words, rows in found.items():
        caption = f"Time to the target, {words}" if words else "Time to the target"
        yield f'<div class="scroll" role="region" tabindex="0" aria-label="{caption}">'
        yield f'<table class="fixed" data-case="{escape(words)}"><caption>{caption}</caption><thead><tr>'
        yield '<th scope="col">topology</th><th scope="col" class="n">in the scenario</th>'
        yield '<th scope="col" class="n">with the sliders</th><th scope="col" class="n">vs best</th>'
        yield "</tr></thead><tbody>"
        for row in rows:
            yield f'<tr><th scope="row">{escape(row["title"])}</th><td class="n">{escape(row["text"])}</td>'
            yield '<td class="n"></td><td class="n"></td></tr>'
        yield "</tbody></table></div>"
    yield "</section>"


def _controls(question: Question, answer: Recommendation) -> Iterator[tuple[str, str, float, str]]:
    """Yield name, label, value and unit of every number that has a slider: those that are not 0."""
    links = question.network.named.items()
    moved = [(f"{name}.{part}", getattr(link, part)) for name, link in links for part in ("up", "down", "latency")]
    for name, value in (*moved, (SIZE, question.model_bytes), (WORK, question.compute.step_time)):
        if value > 0:
            yield name, answer.words(name), float(value), UNITS[name.rpartition(".")[2]]


def _cases(answer: Recommendation, question: Question) -> Iterator[tuple[str, list[Data]]]:
    """Yield what every case is called, and its rows; no case without the sum of every row."""
    open_ = bool(answer.ranking[0].cases) if answer.ranking else False
    beside = {one.id: one for one in baselines(question)}
    for value, words in CASES.items() if open_ else (("", ""),):
        there = question.varied(network=question.network.with_link("client_link", sharing=value)) if value else question
        sums = [row for row in answer.rows if not row.baseline or row.id in beside]  # others have a clock of their own
        timed = [row for row in sums if row.time_seconds is not None]
        rows = [_row(row, there, beside, value) for row in timed]
        if not rows or any(row is None for row in rows):
            return
        yield words, [row for row in rows if row is not None]


def _row(row: Row, question: Question, beside: Mapping[str, Baseline], case: str) -> Data | None:
    """Return title, rounds and sum of a row; None where its time is none."""
    posed, topology = beside[row.id].on(question.network) if row.baseline else (question, row.id)
    found = terms(posed.round_spec(topology))
    amount = next((one.time_seconds for one in row.cases if one.value == case), row.time_seconds)
    if found is None or amount is None or row.rounds is None or not math.isfinite(float(amount)):
        return None
    said = {"title": row.title, "baseline": row.baseline, "rounds": float(row.rounds)}
    return said | {"terms": found, "text": f"~{duration(float(amount))}"}
