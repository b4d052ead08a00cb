"""The shared vocabulary: every number a bound may mention, declared once.

A bound imports its symbols from here, so two bounds that say ``sigma`` mean the same sigma. The name of a
symbol is the keyword argument under which its value is given, everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from hflbounds.expression import Symbol

Domain = Literal["count", "positive", "nonnegative"]
IN_WORDS: dict[str, str] = {
    "count": "a whole number, at least 1",
    "positive": "a finite number above 0",
    "nonnegative": "a finite number, at least 0",
}


@dataclass(frozen=True, slots=True)
class Quantity:
    """What a symbol stands for.

    Attributes:
        meaning: in words.
        dim: exponents of (loss, length), where length measures the parameters; ``L`` is loss / length^2.
        typical: range from which tests and examples draw, log-uniformly.
        domain: which numbers it may be.
        latex: how it is typeset.
        at_most: name of the quantity it may not exceed, checked where both are given.
    """

    meaning: str
    dim: tuple[int, int]
    typical: tuple[float, float]
    domain: Domain
    latex: str
    at_most: str | None = None


ABOUT: dict[str, Quantity] = {}


def _declare(
    name: str,
    meaning: str,
    *,
    typical: tuple[float, float],
    domain: Domain = "count",
    dim: tuple[int, int] = (0, 0),
    latex: str = "",
    at_most: str | None = None,
) -> Symbol:
    known = {"count": {"integer": True, "positive": True}, "positive": {"positive": True}}
    assumptions = known.get(domain, {"nonnegative": True})
    ABOUT[name] = Quantity(meaning, dim, typical, domain, latex or name, at_most)
    return Symbol(name, tuple(sorted(assumptions.items())))


G = _declare("G", "groups", typical=(2, 100))
M = _declare("M", "clients in each group", typical=(2, 100))
P = _declare("P", "group rounds in a global round", typical=(1, 20))
K = _declare("K", "local steps of a client in a group round", typical=(1, 50))
R = _declare("R", "global rounds", typical=(10, 1e5))
S1 = _declare("S1", "groups sampled in a global round", typical=(2, 50), latex="S_1", at_most="G")
S2 = _declare("S2", "clients sampled in each of those groups", typical=(2, 50), latex="S_2", at_most="M")

L = _declare("L", "smoothness of every client's loss", dim=(1, -2), typical=(1e-1, 1e2), domain="positive")
A = _declare("A", "initial gap F(x0) - F* of the loss", dim=(1, 0), typical=(1e-1, 1e1), domain="positive")
sigma = _declare(
    "sigma",
    "standard deviation of a client's stochastic gradient",
    dim=(1, -1),
    typical=(1e-1, 1e1),
    domain="nonnegative",
    latex=r"\sigma",
)
zeta = _declare(
    "zeta",
    "INTRA-group heterogeneity: root mean square gap of client gradients to their group's gradient",
    dim=(1, -1),
    typical=(1e-1, 1e1),
    domain="nonnegative",
    latex=r"\zeta",
)
delta = _declare(
    "delta",
    "INTER-group heterogeneity: root mean square gap of group gradients to the global gradient",
    dim=(1, -1),
    typical=(1e-1, 1e1),
    domain="nonnegative",
    latex=r"\delta",
)
eta_eff = _declare(
    "eta_eff",
    "effective learning rate: raw rate times the local steps a global round chains together",
    dim=(-1, 2),
    typical=(1e-5, 1e0),
    domain="positive",
    latex=r"\tilde\eta",
)
eta = _declare(
    "eta",
    "raw learning rate of a local step",
    dim=(-1, 2),
    typical=(1e-6, 1e0),
    domain="positive",
    latex=r"\eta",
)
