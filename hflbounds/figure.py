"""Pictures of bounds against one quantity, and the numbers they show; matplotlib is an extra, pyplot is not touched."""

from __future__ import annotations

import importlib.util
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hflbounds.comparable import matched, missing, numbers_of, range_asked
from hflbounds.core.bound import Bound
from hflbounds.core.evaluation import bind
from hflbounds.core.quantities import ABOUT, eta_eff
from hflbounds.errors import ComparisonError, DomainError, MissingExtraError
from hflbounds.evaluate.along import Line
from hflbounds.evaluate.tuning import Cap
from hflbounds.extras import install

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's eight colours (2008), each with a marker and a line, so that none is needed alone; of all pictures.
PALETTE = (
    ("#0072B2", "o", "-"),
    ("#E69F00", "s", "--"),
    ("#009E73", "^", "-."),
    ("#D55E00", "D", ":"),
    ("#56B4E9", "v", (0, (5, 1, 1, 1, 1, 1))),
    ("#CC79A7", "P", (0, (3, 1))),
    ("#F0E442", "X", (0, (1, 3))),
    ("#767676", "*", (0, (8, 2))),
)
POINTS = 201  # of a curve
SPREAD = 10.0  # the least quotient of values that a logarithmic axis is for
MARKED = 25  # points between two markers
SIZE = (5.2, 3.4)  # inches
FAINT = "#555555"


@dataclass(frozen=True, repr=False)
class Curves:
    """Bounds against one quantity; shows itself as a picture in a notebook.

    Attributes:
        bounds: which, in the order given.
        line: what is moved and what is fixed.
        x: values of the quantity.
        y: values of each bound, by id; NaN where it says nothing.
        crossings: pairs of ids, with the value of the quantity at which their order changes, and the bounds there.
    """

    bounds: tuple[Bound, ...]
    line: Line
    x: NDArray[np.float64]
    y: Mapping[str, NDArray[np.float64]]
    crossings: tuple[tuple[str, str, float, float], ...]

    def __repr__(self) -> str:
        ids = ", ".join(self.y)
        return f"<Curves of {ids} against {self.line.over} from {self.line.low:g} to {self.line.high:g}>"

    @property
    def rows(self) -> list[dict[str, float | str | None]]:
        """The numbers: quantity, id, value; crossings with both ids."""
        over = self.line.over
        found: list[dict[str, float | str | None]] = [
            {over: float(x), "bound": id_, "value": None if np.isnan(y) else float(y), "crosses": None}
            for id_, values in self.y.items()
            for x, y in zip(self.x, values, strict=True)
        ]
        return found + [
            {over: at, "bound": one, "value": value, "crosses": other} for one, other, at, value in self.crossings
        ]

    @property
    def says(self) -> str:
        """What the picture shows, in words."""
        at = "each at its best step" if self.line.tuned else "at the given step"
        sides = {bound.is_lower for bound in self.bounds}
        kind = "Upper and lower bounds" if len(sides) > 1 else "Lower bounds" if True in sides else "Upper bounds"
        crossed = "; ".join(f"{one} and {other} cross at {x:.6g}" for one, other, x, _ in self.crossings)
        return (
            f"{kind} on the {self.bounds[0].bounds.id}, {at}, against {self.line.over} from {self.line.low:g} to "
            f"{self.line.high:g}: {', '.join(self.y)}. {crossed or 'No two of them cross'}."
        )

    @property
    def figure(self) -> Figure:
        """A matplotlib figure of its own.

        Raises:
            MissingExtraError: if matplotlib is not installed.
        """
        needs_matplotlib()
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        drawn = Figure(figsize=SIZE, layout="constrained")
        FigureCanvasAgg(drawn)
        if len(self.y) == 1:
            self.draw(drawn.subplots())
        else:
            drawn.set_size_inches(SIZE[0], SIZE[1] * 1.35)
            upper, lower = drawn.subplots(2, 1, sharex=True, height_ratios=(2, 1))
            self.draw(upper)
            self.draw_ratios(lower)
            upper.set_xlabel("")
        return drawn

    def draw_ratios(self, axes: Axes) -> None:
        """Draw into axes what each bound is over the smallest of them."""
        with np.errstate(all="ignore"):
            least = np.fmin.reduce([*self.y.values()])
            for values, (color, _, line) in zip(self.y.values(), PALETTE, strict=False):
                axes.plot(self.x, values / least, color=color, linestyle=line)
        for _, _, at, _ in self.crossings:
            axes.axvline(at, color=FAINT, linewidth=0.7)
        axes.set_ylabel("over the smallest")
        self._mark_axis(axes)

    def draw(self, axes: Axes) -> None:
        """Draw into axes: a line for each bound, a ring where two cross."""
        everything = np.concatenate([*self.y.values()])
        known = everything[np.isfinite(everything) & (everything > 0)]
        for (id_, values), (color, marker, line) in zip(self.y.items(), PALETTE, strict=False):
            every = max(1, len(self.x) // (len(self.x) // MARKED + 1))
            axes.plot(self.x, values, label=id_, color=color, marker=marker, linestyle=line, markevery=every)
        for _, _, at, value in self.crossings:
            axes.plot([at], [value], "o", color="black", fillstyle="none", markersize=9, zorder=5)
            axes.annotate(
                f"{at:.4g}", (at, value), xytext=(6, -3), textcoords="offset points", va="top", size=7, color=FAINT
            )
        if known.size and known.size == np.isfinite(everything).sum() and known.max() / known.min() >= SPREAD:
            axes.set_yscale("log")
        hidden = "\n(up to a factor)" if self.bounds[0].constants == "hidden" else ""
        axes.set_ylabel(f"bound on {self.bounds[0].bounds.id.replace('-', ' ')}{hidden}")
        step = "each at its best step" if self.line.tuned else "at one step"
        axes.set_title(f"Guarantees, {step}: not expected values", size="medium", loc="left")
        axes.legend(frameon=False, fontsize="small")
        self._mark_axis(axes)

    def _mark_axis(self, axes: Axes) -> None:
        about = ABOUT[self.line.over]
        letter = about.latex.replace(r"\textstyle", "")
        axes.set_xlabel(f"${letter}$: {about.meaning.partition(':')[0]}")
        axes.set_xscale("log" if self.line.logarithmic else "linear")
        axes.set_xlim(self.x[0], self.x[-1])
        axes.grid(visible=True, color="#DADADA", linewidth=0.5)
        axes.set_axisbelow(True)

    def _repr_png_(self) -> bytes | None:
        if importlib.util.find_spec("matplotlib") is None:
            return None
        stream = io.BytesIO()
        self.figure.savefig(stream, format="png", dpi=120)
        return stream.getvalue()


def needs_matplotlib() -> None:
    """Refuse to draw where matplotlib is not installed.

    Raises:
        MissingExtraError: with the command that installs it.
    """
    if importlib.util.find_spec("matplotlib") is None:
        raise MissingExtraError(f"a picture needs matplotlib, which is not installed: {install('plots')}")


def plot(
    bounds: Bound | Sequence[Bound],
    *,
    x: str,
    range: tuple[float, float] | None = None,
    cap: Cap = "own",
    **values: Any,
) -> Curves:
    """Draw bounds of one metric against a quantity, each at its best step unless ``eta_eff`` is given or drawn against.

    Args:
        bounds: one, or up to eight with the same metric and constants.
        x: name of the quantity.
        range: of it; by default ten times its typical one to either side.
        cap: on the step, as of `Bound.tuned`.
        **values: everything else that the bounds need, as numbers.

    Raises:
        MissingExtraError: if matplotlib is not installed.
        ComparisonError: for bounds of different metrics or constants, or too many of them.
        TypeError, DomainError: for names and numbers, as of a call.
    """
    needs_matplotlib()
    return curves((bounds,) if isinstance(bounds, Bound) else tuple(bounds), x, range=range, cap=cap, **values)


def curves(
    bounds: Sequence[Bound],
    x: str,
    *,
    range: tuple[float, float] | None = None,
    cap: Cap = "own",
    **values: Any,
) -> Curves:
    """The numbers of `plot`, which need no matplotlib."""
    each = tuple(dict.fromkeys(bounds))
    if not each or len(each) > len(PALETTE):
        raise ComparisonError(f"a picture tells 1 to {len(PALETTE)} bounds apart, not {len(each)}: leave some out")
    for other in each[1:]:
        matched(each[0], other, assume_both=True)
    numbers = numbers_of(each, x, values)
    tuned = eta_eff.name not in numbers and x != eta_eff.name
    bind("the picture", missing(each, {*numbers, x, *([eta_eff.name] if tuned else [])}), numbers)
    low, high = range_asked(x, each, numbers, range)
    return along(each, Line(x, low, high, numbers, tuned, cap))


def along(bounds: Sequence[Bound], line: Line) -> Curves:
    """Bounds along a range, and every crossing of two of them."""
    points = line.points(POINTS)
    found = {bound.id: line.of(bound, points) for bound in bounds}
    if not any(np.isfinite(values).any() for values in found.values()):
        raise DomainError(f"none of {', '.join(found)} applies for {line.over} from {line.low:g} to {line.high:g}")
    crossed = []
    for i, one in enumerate(bounds):
        for other in bounds[i + 1 :]:
            parts = line.stretches(one, other)
            for before, later in pairwise(parts):
                if {before.smaller, later.smaller} == {"first", "second"}:
                    at = later.low
                    crossed.append((one.id, other.id, at, float(line.of(one, np.array([at]))[0])))
    return Curves(tuple(bounds), line, points, found, tuple(crossed))


__all__ = ["PALETTE", "Curves", "along", "curves", "needs_matplotlib", "plot"]
