"""Pictures of answers in Python: ``answer.plot()``, ``answer.plot.sensitivity()``, and that of a notebook."""

from __future__ import annotations

import base64
import importlib
from collections.abc import Callable, Mapping
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any

from planner.errors import PlannerError, ScenarioError
from planner.io.text import suggest

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from planner.plot import Draw, Picture

OF_RECOMMEND: Mapping[str, str] = {
    **{"forest": "forest", "sensitivity": "tornado", "front": "front", "hours": "hours", "tiers": "tiers"},
    **{"diagram": "diagram", "bound": "bound", "calibration": "calibration"},
}
"""Pictures of a recommendation, the first shown where none is named, and the modules that draw them."""


def image(drawn: Figure, says: str) -> str:
    """Return a picture as an element of HTML that loads nothing."""
    from planner import plot

    picture = base64.b64encode(plot.content(drawn, "svg", says)).decode()
    return f'<img alt="{escape(says)}" style="max-width:40em" src="data:image/svg+xml;base64,{picture}">\n'


class Several(list[Any]):
    """The axes of a picture with panels; in a notebook, the picture."""

    def __init__(self, drawn: Figure, says: str) -> None:
        super().__init__(drawn.axes)
        self._drawn, self._says = drawn, says

    def _repr_html_(self) -> str:
        return image(self._drawn, self._says)


class Plot:
    """Draws the pictures of an answer; called, it draws the first.

    >>> Plot({})
    <no pictures>
    """

    def __init__(self, pictures: Mapping[str, Draw]) -> None:
        self._pictures = dict(pictures)

    def __call__(self, kind: str = "") -> Any:
        """Draw a picture, else the first, and return its matplotlib axes, a list where there are several.

        Raises:
            NoAnswerError: Where matplotlib is not installed, or nothing can be drawn.
        """
        drawn, _, says = self.figure(kind)
        if len(drawn.axes) > 1:
            return Several(drawn, says)
        (axes,) = drawn.axes
        vars(axes)["_repr_html_"] = partial(image, drawn, says)  # no pyplot is told of the figure, and shows it
        return axes

    def figure(self, kind: str = "") -> Picture:
        """Return a picture as a figure, its numbers, and its words.

        Raises:
            NoAnswerError: Where matplotlib is not installed, or nothing can be drawn.
        """
        if not self._pictures:
            raise ScenarioError("plot: there is no picture of this answer. See `hfl-plan picture --help`.")
        name = kind or next(iter(self._pictures))
        if name not in self._pictures:
            known = f"Known are {', '.join(self._pictures)}."
            raise ScenarioError(f"plot: {name!a:.40} is no picture. {suggest(name, self._pictures) or known}")
        return self._pictures[name]()

    def html(self) -> str:
        """Return the first picture for a notebook; nothing where it cannot be drawn."""
        try:
            drawn, _, says = self.figure()
            return image(drawn, says)
        except PlannerError:
            return ""

    def __getattr__(self, name: str) -> Callable[[], Any]:
        if name.startswith("_") or name not in self._pictures:
            raise AttributeError(f"no picture {name!r}; there are {', '.join(self._pictures)}")
        return lambda: self(name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._pictures})

    def __repr__(self) -> str:
        return f"<pictures: {', '.join(self._pictures)}>" if self._pictures else "<no pictures>"


def of_recommendation(scenario: Callable[[], Any]) -> Plot:
    """Return the pictures of a recommendation for a scenario."""
    return Plot({name: partial(_of_scenario, module, scenario) for name, module in OF_RECOMMEND.items()})


def _of_scenario(module: str, scenario: Callable[[], Any]) -> Any:
    return importlib.import_module(f"planner.plot.{module}").of_scenario(scenario())
