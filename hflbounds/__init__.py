"""Convergence bounds of hierarchical federated learning: as printed, as proved, and evaluated.

>>> from hflbounds import get
>>> get("hflbounds.sharp.ring-star").status
'own'

The bound for trees of any depth, at its best step:

>>> from hflbounds import Topology, exact_bound
>>> tree = Topology.parse("ring/star/ring").sized((4, 5, 20))
>>> round(exact_bound(tree, K=2, R=100, L=1, A=2, sigma=1, deltas=(1, 0.5, 0.5)), 4)
0.1539
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from hflbounds import registry
from hflbounds.core.bound import Above, Bound, Erratum, Notation, Paper, Source, Step
from hflbounds.errors import (
    ComparisonError,
    ConditionError,
    DeclarationError,
    DomainError,
    HflBoundsError,
    MissingExtraError,
    UnknownBoundError,
)
from hflbounds.evaluate.tuning import Tuned, rounds_to, tune, why_unreachable
from hflbounds.registry import catalogue, families, family, get
from hflbounds.tilted import TiltTuned, tilt_bound, tilt_tuned
from hflbounds.topology import Tier, Topology, TopologyError

if TYPE_CHECKING:
    from hflbounds.comparison import Comparison
    from hflbounds.exact import exact_bound, exact_sums, lettered_bound, tree_bound
    from hflbounds.figure import Curves
    from hflbounds.finding import Bounds

__all__ = [
    "Bound",
    "ComparisonError",
    "ConditionError",
    "DeclarationError",
    "DomainError",
    "Erratum",
    "HflBoundsError",
    "MissingExtraError",
    "Paper",
    "Source",
    "Step",
    "Tier",
    "TiltTuned",
    "Topology",
    "TopologyError",
    "Tuned",
    "UnknownBoundError",
    "catalogue",
    "compare",
    "exact_bound",
    "exact_sums",
    "families",
    "family",
    "get",
    "lettered_bound",
    "plot",
    "search",
    "tilt_bound",
    "tilt_tuned",
    "tree_bound",
]

LATER = MappingProxyType(
    dict.fromkeys(("exact_bound", "exact_sums", "lettered_bound", "tree_bound"), "hflbounds.exact")
)
"""Names of this face whose modules are imported when they are asked for."""


def search(
    words: str = "", *, paper: str | None = None, status: str | None = None, metric: str | None = None
) -> Bounds:
    """Find bounds by words that must all occur, as of `hflbounds.finding.search`; all bounds where nothing is asked.

    >>> [bound.id for bound in search("zeta partial 'theorem 2' star-ring hidden")]
    ['zhou2026.thm2.star-ring']
    """
    from hflbounds import finding  # only where it is asked: words of all bounds are made then

    return finding.search(words, paper=paper, status=status, metric=metric)


def compare(a: Bound | str, b: Bound | str, *, over: str | None = None, **asked: Any) -> Comparison:
    """Find when one bound is smaller than another, as of `hflbounds.comparison.compare`.

    >>> compare("hflbounds.sharp.ring-ring", "hflbounds.sharp.ring-star")  # doctest: +ELLIPSIS
    <Comparison: hflbounds.sharp.ring-ring is at most hflbounds.sharp.ring-star at every common step...>
    """
    from hflbounds import comparison  # only where it is asked: it brings sympy

    return comparison.compare(a, b, over=over, **asked)


def plot(bounds: Bound | Sequence[Bound], *, x: str, **asked: Any) -> Curves:
    """Draw bounds of one metric against a quantity, as of `hflbounds.figure.plot`."""
    from hflbounds import figure  # only where something is drawn

    return figure.plot(bounds, x=x, **asked)


list = search
"""The catalogue as bounds, all or those of a paper, a status or a metric."""


def _latex(bound: Bound, notation: Notation, values: Mapping[str, Any]) -> str:
    from hflbounds.export import Statement, Style  # only where something is printed

    statement = Statement(bound, Style(notation=notation, values=values))
    _ = statement.value  # refuses where the bound does not apply
    return statement.inline


def _html(bound: Bound) -> str:
    from hflbounds.export import render

    return render("html", bound)


Bound.above = Above(
    errata=registry.errata,
    tune=tune,
    rounds_to=rounds_to,
    why_unreachable=why_unreachable,
    latex=_latex,
    html=_html,
    plot=plot,
)


def __getattr__(name: str) -> Any:
    """Import what is not needed to start."""
    if name not in LATER:
        raise AttributeError(f"module 'hflbounds' has no attribute {name!r}")
    return getattr(importlib.import_module(LATER[name]), name)


def __dir__() -> Sequence[str]:
    return sorted({*__all__, "list", *(name for name in globals() if name.startswith("__"))})
