"""How far the answer moves with each input: bars, the longest on top."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from textwrap import fill
from typing import Any

from planner.decide.parameters import of_clock, with_clock
from planner.decide.rank import recommend
from planner.decide.uncertainty.distributions import FACTOR
from planner.decide.verdict import sharing_is_open
from planner.errors import NoAnswerError
from planner.io.wording import LISTED, input_words, names, percent
from planner.plot import FAINT, PALETTE, Drawing, Picture, figure, plain, posed, positive, round_ticks, style, swatch
from planner.plot.lettering import heading, in_short
from planner.predict.question import Question, ceil_rounds
from planner.scenario.fields import CLOCKED
from planner.scenario.resolve import Scenario
from planner.scenario.units import format_amount

Moved = tuple[Question, dict[str, float]]  # a question, and values that it is asked with
COLUMNS = ("name", "low", "high")
MOST = 16  # bars
SHORTEST = 0.04  # of the longest bar; what is shorter is a name in a line
READABLE = {
    "A": "initial gap A",
    "sigma": "gradient noise sigma",
    "zeta": "inside groups, zeta",
    "delta": "between groups, delta",
}
WIDEST = 1e3  # lead beyond which a bar ends in an arrow


def _readable(name: str, tiers: Sequence[str] = ()) -> str:
    """An input as people call it."""
    return READABLE.get(name) or input_words(name, tiers)


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


def of_scenario(scenario: Scenario) -> Picture:
    """The lead of the recommended topologies, with every input at either end of the range it is known in.

    Where no range was given or measured, the ends are a factor `FACTOR` away. By the clock, links and compute move too.
    Where all topologies are recommended, the lead is that of the first.

    Raises:
        NoAnswerError: if nothing or one topology alone reaches the target, or the start meets it.
    """
    scenario, question = posed(scenario)
    answer = recommend(replace(scenario, draws=0), details=False)
    first = answer.recommended if len(answer.recommended) < len(answer.ranking) else answer.recommended[:1]

    def lead(changed: Question, **values: float) -> float:
        rounds = {t: float(n) for t, n in changed.rounds(**values).items()}
        whole = {t: ceil_rounds(n) if math.isfinite(n) else n for t, n in rounds.items()}
        totals = {t: n * changed.price(t, scenario.objective) for t, n in whole.items()}
        best, other = min(totals[t] for t in first), min(n for t, n in totals.items() if t not in first)
        return other / best if best and math.isfinite(min(best, other)) else 1.0  # nobody is there, or all are

    if not all(question.rounds()[t] for t in first):
        raise NoAnswerError(
            "the target is met before the first round, so no topology leads. Give a smaller --target.", code="N007"
        )
    now = lead(question)
    if math.isinf(now):
        raise NoAnswerError(
            f"no topology but {names(first)} reaches the target, so there is no lead to draw. Give a looser --target."
        )
    bars = []
    for name, value, moved in _inputs(question, scenario.objective in CLOCKED):
        known = scenario.known[name]
        by = FACTOR if known.spread is None else math.exp(known.spread.reach)
        ends = (value / by, value * by)
        low, high = (lead(changed, **values) for changed, values in map(moved, ends))
        write = partial(format_amount, unit=known.unit) if known.unit else "{:.3g}".format
        bars.append(Bar(name, low, high, *map(write, ends)))
    what, who = scenario.objective, names(first) if len(first) <= LISTED else f"{len(first)} topologies"
    tossed = ", first of a toss-up," if len(first) < len(answer.recommended) else ""
    leads = f"{who}{tossed} {'leads' if len(first) == 1 else 'lead, a toss-up,'}"
    own = " over links of clients' own" if what in CLOCKED and sharing_is_open(question, scenario) else ""
    words = partial(_readable, tiers=scenario.tier_names)
    lost = [b for b in bars if min(b.low, b.high) < 1]
    enders = f"{words(lost[0].name)} alone" if len(lost) == 1 else f"{len(lost)} inputs, each alone,"
    ended = f"{enders} can end that" if lost else "no input alone ends that"
    ahead = f"{now:.2g}x" if now >= 1.05 else f"by {percent(now - 1)}"
    message = f"{leads} {ahead} in {what}{own}; {ended}"
    axis = f"{what} of the best other topology over that of {who if len(first) <= LISTED else 'the best'}"
    ranges = "by its range, else " * any(scenario.known[bar.name].spread is not None for bar in bars)
    about = f"{in_short(scenario)}; each input moved {ranges}by a factor {FACTOR:g}"
    drawn, rows = draw(bars, now, axis, message, about, words)
    says = (
        f"Lead of {names(first)} in {what}, now {now:.3g}, with one input at a time at either end of its range. A "
        f"range that is not known is a factor {FACTOR:g}. "
        f"{'It is lost by changing ' + ', '.join(b.name for b in lost) if lost else 'No such change loses it'}."
    )
    return drawn, rows, says


def of_rows(rows: Sequence[Mapping[str, Any]]) -> Picture:
    """The picture of a table with the columns `COLUMNS`.

    Raises:
        ScenarioError: for numbers that a logarithmic axis cannot show.
    """
    positive(rows, COLUMNS[1:])
    bars = [Bar(**row) for row in rows]
    return *draw(bars, 1.0, "result"), f"What {len(bars)} inputs do to the result, the largest effect first."


@style()
def draw(
    bars: Sequence[Bar],
    now: float,
    axis: str,
    message: str = "",
    about: str = "",
    words: Callable[[str], str] = _readable,
) -> Drawing:
    """Draw positive bars on a logarithmic axis called ``axis``, with the result now and a line where nothing leads.

    Bars too short to see become one line of names; an end of a bar says which value of the input it is.
    """
    ordered = sorted(bars, key=lambda b: -b.length)[:MOST]
    longest = ordered[0].length if ordered else 0.0
    shown = [bar for bar in ordered if bar.length > SHORTEST * longest] or ordered[:1]
    others = [bar for bar in ordered if bar not in shown]
    below = fill(axis, 38)
    if others:
        below += "\n" + fill(f"hardly at all: {', '.join(plain(words(b.name), 30) for b in others)}", 38)
    drawn, axes = figure(height=1.55 + 0.27 * len(shown) + 0.12 * below.count("\n"))
    reach = [1.0, now, *(_within(x) for bar in shown for x in (bar.low, bar.high))]
    span = math.log(max(reach) / min(reach)) or 1.0
    small: Any = {"textcoords": "offset points", "va": "center", "size": 5.5, "color": FAINT}
    small["bbox"] = {"facecolor": "white", "edgecolor": "none", "pad": 0.6}  # over the line of 1x
    for place, bar in enumerate(shown):
        ends = ((_within(bar.low), bar.low_is, PALETTE[0]), (_within(bar.high), bar.high_is, PALETTE[1]))
        for to, _, (color, _, _, hatch) in sorted(ends, key=lambda e: -abs(math.log(e[0] / now))):
            axes.barh(place, to - now, left=now, height=0.65, facecolor=color, edgecolor="white", hatch=hatch)
        sides = [end for end in ends if abs(math.log(end[0] / now)) > SHORTEST * span]
        if len({to > now for to, *_ in sides}) == len(sides):  # else both ends are on one side
            for to, value, _ in sides:
                beside: Any = {"ha": "left", "xytext": (2, 0)} if to > now else {"ha": "right", "xytext": (-2, 0)}
                axes.annotate(value, (to, place), **beside, **small)
    axes.set_yticks(range(len(shown)), [plain(words(b.name), 30) for b in shown])
    axes.set_ylim(len(shown) - 0.4, -0.6)
    axes.set(xscale="log")
    room = math.exp(0.38 * span)  # for the values at the ends
    axes.set_xlim(min(reach) / room, max(reach) * room)
    round_ticks(axes.xaxis, "{:g}x".format)
    axes.axvline(now, color=FAINT, linewidth=0.8)
    axes.axvline(1.0, color="black", linewidth=1.0, linestyle="--")
    axes.set_xlabel(below, size=6.5)
    marks = {1.0: "level", now: "now"} if abs(math.log(now)) > 0.25 * span else {now: "now"}
    above: Any = {"xycoords": ("data", "axes fraction"), "xytext": (0, 2), "textcoords": "offset points"}
    for at, word in marks.items():
        axes.annotate(word, (at, 1), **above, ha="center", size=6.5)
    axes.grid(axis="y", visible=False)
    keys = [swatch(look[0], look[3], f"input {end}") for look, end in zip(PALETTE, ("lower", "higher"), strict=False)]
    drawn.legend(handles=keys, loc="outside lower center", ncols=2)
    heading(drawn, message or f"{words(ordered[0].name)} moves the result most" if ordered else "", about)
    return drawn, [asdict(bar) for bar in ordered]


def _within(result: float) -> float:
    """A result that the axis can show."""
    return min(max(result, 1 / WIDEST), WIDEST)


def _inputs(question: Question, timed: bool) -> Iterator[tuple[str, float, Callable[[float], Moved]]]:
    """Every input that may be moved alone: its name, its value, and the question with another value."""

    def constant(name: str, value: float) -> Moved:
        return question, {name: value}

    def clocked(name: str, value: float) -> Moved:
        return with_clock(question, {name: value}), {}

    for name in ("sigma", *(tier.deviation for tier in reversed(question.symbols)), "A"):
        if question.values[name] > 0:
            yield name, question.values[name], partial(constant, name)
    if question.target is not None:
        yield "target", question.target, lambda value: (question.varied(target=value, share=None), {})
    for name, now, _ in of_clock(question) if timed else ():
        if now:
            yield name, now, partial(clocked, name)
