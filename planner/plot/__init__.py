"""Pictures: one file per picture, one style, and the numbers of each beside it.

A picture is drawn by a function that returns a matplotlib figure and the rows of its data::

    @style()
    def draw(...) -> Drawing:
        drawn, axes = figure(COLUMN, 2.4)
        look = looks(["star-star", "ring-ring"])["ring-ring"]
        axes.plot(x, y, label=look.title, color=look.color, marker=look.marker, linestyle=look.line)
        return drawn, [{"rounds": 100, "topology": "ring-ring", "value": 0.1}]

and written by `save`. Nothing here touches pyplot or its state, nobody's own settings count, and the same numbers are
the same bytes. matplotlib is imported when something is drawn.
"""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

import hflbounds.figure
from hflbounds.extras import install
from hflbounds.topology import all_topologies
from planner.errors import NoAnswerError, ScenarioError
from planner.io.atomic import place, write
from planner.io.csv_rows import FORMULA, csv_text
from planner.io.wording import shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from planner.predict.question import Question
    from planner.scenario.resolve import Scenario

Floats = NDArray[np.float64]
Rows: TypeAlias = Sequence[Mapping[str, object]]
Drawing: TypeAlias = "tuple[Figure, Rows]"
Picture: TypeAlias = "tuple[Figure, Rows, str]"  # a drawing, and what it shows in words
Draw: TypeAlias = "Callable[[], Picture]"

COLUMN, PAGE = 3.4, 7.0  # inches: one column of a paper, and both
SUFFIXES = (".svg", ".pdf", ".png")
DOTS_PER_INCH = 200
LETTER = 4.0  # points across of a letter of a tick's label
INK, FAINT, GRID, BAND = "#000000", "#555555", "#DADADA", "#ECECEC"
RC = {
    "svg.hashsalt": "hfl-plan",
    "svg.fonttype": "path",
    "font.size": 8.0,
    "axes.titlesize": 8.0,
    "axes.labelsize": 8.0,
    "xtick.labelsize": 7.0,
    "ytick.labelsize": 7.0,
    "legend.fontsize": 7.0,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": GRID,
    "grid.linewidth": 0.5,
    "lines.linewidth": 1.3,
    "lines.markersize": 4.5,
    "hatch.linewidth": 0.6,
}
HATCHES = ("", "///", "...", "\\\\\\", "xxx", "---", "|||", "ooo")
PALETTE = tuple((*look, hatch) for look, hatch in zip(hflbounds.figure.PALETTE, HATCHES, strict=True))
POWERS = tuple(10.0**n for n in range(-30, 31))


@dataclass(frozen=True, slots=True)
class Look:
    """How one thing looks in every picture."""

    title: str  # as people write it
    color: str  # of lines and areas
    marker: str  # this and the next two tell it from the others without the colour
    line: Any
    hatch: str


def looks(names: Sequence[str]) -> dict[str, Look]:
    """The look of each name: the topologies' own, and for others what is left, in the order given.

    Raises:
        ScenarioError: if there are more names than looks.
    """
    titles = {id_: topology.title for depth in (1, 2, 3) for id_, topology in all_topologies(depth).items()}
    own = {id_: style for depth in (1, 2, 3) for id_, style in zip(all_topologies(depth), PALETTE, strict=False)}
    free = iter([style for style in PALETTE if style not in [own[name] for name in names if name in own]])
    found = {}
    for name in dict.fromkeys(names):
        style_of = own.get(name) or next(free, None)
        if style_of is None:
            raise ScenarioError(f"a picture tells at most {len(PALETTE)} things apart. Leave some out.", code="E004")
        found[name] = Look(titles.get(name) or plain(name), *style_of)
    return found


def swatch(color: str, hatch: str, label: str) -> Any:
    """The entry of an area in a legend."""
    from matplotlib.patches import Patch

    return Patch(facecolor=color, edgecolor="white", hatch=hatch, label=label)


def of_shares(axes: Any, side: str) -> None:
    """Make an axis, ``x`` or ``y``, one of shares, without a grid."""
    axes.set(**{f"{side}lim": (0, 1), f"{side}ticks": (0, 0.5, 1), f"{side}ticklabels": ("0", "50 %", "100 %")})
    axes.grid(False)


@contextmanager
def style() -> Iterator[None]:
    """Draw with the settings of all pictures: as a context, or as a decorator of a function that draws.

    Raises:
        NoAnswerError: if matplotlib is not installed.
    """
    try:
        import matplotlib
    except ImportError:
        raise NoAnswerError(
            f"a picture needs matplotlib, which is not installed. Run {install('plots')}.", code="N004"
        ) from None
    with matplotlib.rc_context():
        matplotlib.rcdefaults()  # nobody's own settings
        matplotlib.rcParams.update(RC)
        yield


def figure(width: float = COLUMN, height: float = 2.4, across: int = 1, down: int = 1) -> tuple[Figure, Any]:
    """A figure of this size [inches] and its axes: one, an array of ``down`` times ``across``, or with 0 none yet."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    drawn = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(drawn)
    return drawn, drawn.subplots(down, across) if across else None


def plain(text: str, most: int = 40) -> str:
    """A user's text as a picture shows it: one short line, no formula."""
    shown = "".join(letter if letter.isprintable() else " " for letter in text)
    return shortened(shown, most).replace("$", r"\$")


def round_ticks(axis: Any, say: Callable[[float], str], units: Sequence[float] = POWERS) -> None:
    """A few round multiples of ``units`` on a logarithmic axis whose limits are set, in the words of ``say``.

    Where it is too narrow for these, equal steps; 1 stays where it is among them.
    """
    from matplotlib.ticker import FixedFormatter, FixedLocator, MaxNLocator, NullLocator

    low, high = axis.get_view_interval()
    for multiples in ((1,), (1, 3), (1, 2, 5), (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8)):
        kept = sorted({m * unit for unit in units for m in multiples if low <= m * unit <= high})
        if len(kept) >= 3:
            break
    if len(kept) < 3:
        kept = [tick for tick in MaxNLocator(5, steps=(1, 2, 5, 10)).tick_values(low, high) if low <= tick <= high]
    each = -(-len(kept) // 5)
    kept = kept[kept.index(1.0) % each if 1.0 in kept else 0 :: each]
    if axis.axis_name == "x":  # labels side by side need room
        whole = 0.75 * 72 * axis.axes.figure.get_figwidth() / max(math.log(high / low), 1e-9)
        apart: list[float] = []
        for tick in kept:
            letters = len(say(tick)) + len(say(apart[-1])) + 3 if apart else 0
            if not apart or math.log(tick / apart[-1]) * whole > 0.5 * LETTER * letters:
                apart.append(tick)
        kept = apart
    kept = [*{say(tick): tick for tick in kept}.values()]
    axis.set_major_locator(FixedLocator(kept))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FixedFormatter([say(x) for x in kept]))


def positive(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> None:
    """Refuse columns that a logarithmic axis cannot show."""
    for name in names:
        for line, row in enumerate(rows, 1):
            if row[name] <= 0:
                raise ScenarioError(f"{name}: {row[name]:g}, in line {line} below the header, is not positive.")


def panel_letter(axes: Axes, letter: str) -> None:
    """``(a)`` above the left end of a panel, for captions to refer to."""
    axes.set_title(f"({letter})", loc="left", weight="bold")


def posed(scenario: Scenario) -> tuple[Scenario, Question]:
    """A scenario with its order of rings, and the question that it poses.

    Raises:
        ScenarioError: where the number of groups, or another count, is still to be searched for.
    """
    from planner.predict.question import ask, with_default_order

    if scenario.divisions:
        raise ScenarioError("this picture is of one division into groups. Give --groups and --clients-per-group.")
    scenario = with_default_order(scenario)
    return scenario, ask(scenario)


def data_path(path: Path) -> Path:
    """Where the numbers of a picture are."""
    return path.with_suffix(".csv")


def checked(path: Path, force: bool) -> None:
    """See, before anything is computed, that a picture and its data can be written.

    Raises:
        ScenarioError: for a suffix that no picture has, or a file that is there.
        NoAnswerError: if matplotlib is not installed.
    """
    if path.suffix.lower() not in SUFFIXES:
        raise ScenarioError(f"--output: {str(path)!a:.120} does not end in {', '.join(SUFFIXES)}. Name it so.")
    for file in (path, data_path(path)):
        place(file, force)
    with style():
        pass


def save(drawn: Figure, path: Path, rows: Rows, *, says: str = "", force: bool = False) -> tuple[Path, Path]:
    """Write a picture, as its suffix says, and beside it its numbers as CSV; each whole or not at all.

    Raises:
        ScenarioError: for a suffix that no picture has, or a file that is there.
        NoAnswerError: if it cannot be written.
    """
    checked(path, force)
    data = data_path(path)
    picture = content(drawn, path.suffix.lower().removeprefix("."), says)
    write(data, table(rows), force)
    write(path, picture, force)
    return path, data


@style()
def content(drawn: Figure, kind: str, says: str = "") -> bytes:
    """The bytes of a picture: ``svg``, ``pdf`` or ``png``; the same for the same picture."""
    stream = io.BytesIO()
    metadata: dict[str, dict[str, str | None]] = {
        "svg": {"Date": None, "Creator": "hfl-plan", "Description": says or None},
        "pdf": {"CreationDate": None, "Creator": "hfl-plan", "Producer": None, "Subject": says or None},
        "png": {"Software": None, "Description": says},
    }
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph")  # a user's letter that the font has not
        drawn.savefig(stream, format=kind, dpi=DOTS_PER_INCH, metadata=metadata[kind])
    return stream.getvalue()


def table(rows: Rows) -> str:
    """The data of a picture as CSV; empty where there is no number, texts kept from being formulas."""
    names = list(rows[0]) if rows else []
    return csv_text([names, *([_cell(row[name]) for name in names] for row in rows)])


def _cell(value: object) -> object:
    if isinstance(value, str) and value.startswith(FORMULA):
        return "'" + value
    return "" if value is None or value in (math.inf, -math.inf) or value != value else value
