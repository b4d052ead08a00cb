"""How far the answer moves with each input: bars, the longest on top."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from planner.decide.confidence import FACTOR
from planner.decide.rank import recommend
from planner.errors import NoAnswerError
from planner.io.wording import names
from planner.plot import COLUMN, FAINT, PALETTE, Rows, figure, plain, posed, positive, round_ticks, style, swatch
from planner.predict.question import Question
from planner.scenario.resolve import Scenario
from planner.scenario.units import format_amount

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Moved = tuple[Question, dict[str, float]]  # a question, and values that it is asked with
COLUMNS = ("name", "low", "high")
MOST = 16  # bars
WIDEST = 1e3  # lead beyond which a bar ends in an arrow


@dataclass(frozen=True)
class Bar:
    """What an input does."""

    name: str
    low: float  # the result where the input is at the low end of its range
    high: float  # and at the high end
    low_is: str = ""  # the low end in words
    high_is: str = ""  # the high end in words

    @property
    def length(self) -> float:
        """On a logarithmic axis."""
        return abs(math.log(_within(self.high) / _within(self.low)))


def of_scenario(scenario: Scenario) -> tuple[Figure, Rows, str]:
    """The lead of the recommended topologies, with every input at either end of the range it is known in.

    Where no range was given or measured, the ends are a factor `FACTOR` away. By the clock, links and compute move too.
    Where all topologies are recommended, the lead is that of the first.

    Raises:
        NoAnswerError: if nothing reaches the target, or the start meets it.
    """
    scenario, question = posed(scenario)
    answer = recommend(replace(scenario, draws=0))
    first = answer.recommended if len(answer.recommended) < len(answer.ranking) else answer.recommended[:1]

    def lead(changed: Question, **values: float) -> float:
        totals = {t: float(n) * changed.price(t, scenario.objective) for t, n in changed.rounds(**values).items()}
        best, other = min(totals[t] for t in first), min(n for t, n in totals.items() if t not in first)
        return other / best if best and math.isfinite(min(best, other)) else 1.0  # nobody is there, or all are

    if not all(question.rounds()[t] for t in first):
        raise NoAnswerError("the target is met before the first round, so nobody leads. Give a smaller --target.")
    now = lead(question)
    bars = []
    for name, value, moved in _inputs(question, scenario.objective == "time"):
        known = scenario.known[name]
        by = FACTOR if known.spread is None else math.exp(known.spread.reach)
        ends = (value / by, value * by)
        low, high = (lead(changed, **values) for changed, values in map(moved, ends))
        bars.append(Bar(name, low, high, *(format_amount(end, known.unit) for end in ends)))
    what = {"rounds": "rounds", "time": "time", "bytes": "traffic"}[scenario.objective]
    drawn, rows = draw(bars, now, f"{what} of the best other topology\nover that of {names(first)}")
    flipped = [b.name for b in bars if min(b.low, b.high) < 1]
    says = (
        f"Lead of {names(first)} in {what}, now {now:.3g}, with one input at a time at either end of its range (a "
        f"factor {FACTOR:g} where none is known). "
        f"{'It is lost by changing ' + ', '.join(flipped) if flipped else 'No such change loses it'}."
    )
    return drawn, rows, says


def of_rows(rows: Sequence[Mapping[str, str]], number: Mapping[str, Sequence[float]]) -> tuple[Figure, Rows, str]:
    """The picture of a table with the columns `COLUMNS`.

    Raises:
        ScenarioError: for numbers that a logarithmic axis cannot show.
    """
    positive(number)
    bars = [Bar(row["name"], low, high) for row, low, high in zip(rows, number["low"], number["high"], strict=True)]
    return *draw(bars, 1.0, "result"), f"What {len(bars)} inputs do to the result, the largest effect first."


@style()
def draw(bars: Sequence[Bar], now: float, axis: str) -> tuple[Figure, Rows]:
    """Draw positive bars on a logarithmic axis called ``axis``, with the result now and a line where nothing leads."""
    ordered = sorted(bars, key=lambda b: -b.length)[:MOST]
    drawn, axes = figure(COLUMN, 1.2 + 0.22 * len(ordered))
    for place, bar in enumerate(ordered):
        ends = ((bar.low, PALETTE[0]), (bar.high, PALETTE[1]))
        for end, (color, _, _, hatch) in sorted(ends, key=lambda e: -abs(math.log(_within(e[0]) / now))):
            to = _within(end)
            axes.barh(place, to - now, left=now, height=0.65, facecolor=color, edgecolor="white", hatch=hatch)
    axes.set_yticks(range(len(ordered)), [plain(b.name, 24) for b in ordered])
    axes.set_ylim(len(ordered) - 0.4, -0.6)
    axes.set(xscale="log", xlabel=axis)
    shown = [1.0, now, *(_within(x) for bar in ordered for x in (bar.low, bar.high))]
    axes.set_xlim(min(shown) / 1.15, max(shown) * 1.15)
    round_ticks(axes.xaxis, "{:g}".format)
    axes.axvline(now, color=FAINT, linewidth=0.8)
    axes.axvline(1.0, color="black", linewidth=1.0, linestyle="--")
    marks = {1.0: "flips", now: "now"} if abs(math.log(now)) > 0.1 * math.log(max(shown) / min(shown)) else {now: "now"}
    above: Any = {"xycoords": ("data", "axes fraction"), "xytext": (0, 2), "textcoords": "offset points"}
    for at, word in marks.items():
        axes.annotate(word, (at, 1), **above, ha="center", size=7)
    axes.grid(axis="y", visible=False)
    keys = [swatch(look[0], look[3], f"input {end}") for look, end in zip(PALETTE, ("lower", "higher"), strict=False)]
    drawn.legend(handles=keys, loc="outside lower center", ncols=2)
    return drawn, [asdict(bar) for bar in ordered]


def _within(result: float) -> float:
    """A result that the axis can show."""
    return min(max(result, 1 / WIDEST), WIDEST)


def _inputs(question: Question, timed: bool) -> Iterator[tuple[str, float, Callable[[float], Moved]]]:
    """Every input that may be moved alone: its name, its value, and the question with another value."""

    def constant(name: str, value: float) -> Moved:
        return question, {name: value}

    def varied(**parts: Any) -> Moved:
        return question.varied(**parts), {}

    def linked(tier: str, part: str, value: float) -> Moved:
        return varied(network=question.network.with_link(tier, **{part: value}))

    for name in ("sigma", *(tier.deviation for tier in reversed(question.symbols)), "A"):
        if question.values[name] > 0:
            yield name, question.values[name], partial(constant, name)
    if question.target is not None:
        yield "target", question.target, lambda value: varied(target=value, share=None)
    if not timed:
        return
    yield "model_size", question.model_bytes, lambda value: varied(model_bytes=value)
    if now := question.compute.step_time:
        yield "step_time", now, lambda value: varied(compute=replace(question.compute, step_time=value))
    for tier, link in question.network.named.items():
        for part in ("up", "down", "latency"):
            if now := getattr(link, part):
                yield f"{tier}.{part}", now, partial(linked, tier, part)
