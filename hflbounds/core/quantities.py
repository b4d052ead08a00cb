"""The shared vocabulary: every number a bound may mention, declared once.

A bound imports its symbols from here, so two bounds that say ``sigma`` mean the same sigma. The name of a
symbol is the keyword argument under which its value is given, everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from hflbounds.core.expression import Symbol
from hflbounds.topology.tree import MOST_TIERS

Domain = Literal["count", "whole", "positive", "nonnegative", "share"]
IN_WORDS: dict[str, str] = {
    "count": "a whole number, at least 1",
    "whole": "a whole number, at least 0",
    "share": "a number from 0 to 1",
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
SYMBOLS: dict[str, Symbol] = {}
ARRAYS: dict[str, str] = {  # arguments that a bound turns into some of the numbers above
    "coverage": "0/1 array of shape (clients, servers): which edge servers a client is attached to; or weights",
    "weights": "array of shape (clients,): the share p_i of each client in the loss; equal if not given",
    "sigmas": "array of shape (clients,): standard deviation of each client's stochastic gradient, in place of sigma",
}


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
    known = {
        "count": {"integer": True, "positive": True},
        "whole": {"integer": True, "nonnegative": True},
        "positive": {"positive": True},
    }
    assumptions = known.get(domain, {"nonnegative": True})
    ABOUT[name] = Quantity(meaning, dim, typical, domain, latex or name, at_most)
    SYMBOLS[name] = Symbol(name, tuple(sorted(assumptions.items())))
    return SYMBOLS[name]


G = _declare("G", "groups", typical=(2, 100))
M = _declare("M", "clients in each group (HGA-FL: sub-centers)", typical=(2, 100))
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
    "intra-group heterogeneity: root mean square gap of client gradients to their group's gradient",
    dim=(1, -1),
    typical=(1e-1, 1e1),
    domain="nonnegative",
    latex=r"\zeta",
)
delta = _declare(
    "delta",
    "inter-group heterogeneity: root mean square gap of group gradients to the global gradient",
    dim=(1, -1),
    typical=(1e-1, 1e1),
    domain="nonnegative",
    latex=r"\delta",
)
delta_H = _declare(
    "delta_H",
    "second-order heterogeneity: how fast the gap between a client's gradient and the global gradient changes",
    dim=(1, -2),
    typical=(1e-3, 1e0),
    domain="positive",
    latex=r"\delta_H",
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
    "eta", "raw learning rate of a local step", dim=(-1, 2), typical=(1e-6, 1e0), domain="positive", latex=r"\eta"
)
grad = _declare(
    "grad",
    "norm of the gradient of the global loss at the start of a round",
    dim=(1, -1),
    typical=(1e-2, 1e1),
    domain="nonnegative",
    latex=r"\|\nabla F(x^{(r)})\|",
)
E_r = _declare(
    "E_r",
    "drift of a round: sum over its local iterates of the squared distance to the iterate the round began with",
    dim=(0, 2),
    typical=(1e-4, 1e2),
    domain="nonnegative",
    latex=r"\mathcal{E}_r",
)

lam = _declare(
    "lam",
    "free weight of the theorem, at most 1: each gives a true bound; not given, the one at which it is least",
    typical=(5e-2, 1e0),
    domain="positive",
    latex=r"\lambda",
)
# The tiers of a tree of any depth but two, top first, by the letters of `hflbounds.topology.tier_symbols`. A tree of
# two tiers has G, M, P, S1, S2, delta and zeta; S1 and S2 are in both.
for _tier in range(1, MOST_TIERS + 1):
    _declare(f"n{_tier}", f"children of each node of tier {_tier}", typical=(2, 20), latex=f"n_{_tier}")
    if _tier > 1:
        _declare(f"P{_tier}", f"passes of each node of tier {_tier}", typical=(1, 10), latex=f"P_{_tier}")
    if _tier > 2:
        _declare(
            f"S{_tier}",
            f"children of each node of tier {_tier} that take part in a pass",
            typical=(2, 10),
            latex=f"S_{_tier}",
            at_most=f"n{_tier}",
        )
    _declare(
        f"delta{_tier}",
        f"heterogeneity of tier {_tier}: root mean square gap of its gradients to those of the tier above",
        dim=(1, -1),
        typical=(1e-1, 1e1),
        domain="nonnegative",
        latex=rf"\delta_{_tier}",
    )

aim = Symbol("aim", (("positive", True),))  # what a bound is to fall to: of formulas for rounds, no quantity

# ---------------------------------------------------------------- HHFL (liu2026)
E = _declare("E", "local steps between two edge aggregations", typical=(1, 20))
Ge = _declare("Ge", "edge rounds in a cloud round (the paper's G)", typical=(1, 10), latex="G_e")
N = _declare("N", "edge servers", typical=(2, 20))
mu = _declare(
    "mu",
    "strong convexity of every client's loss",
    dim=(1, -2),
    typical=(1e-2, 1e0),
    domain="positive",
    latex=r"\mu",
    at_most="L",
)
Gamma = _declare(
    "Gamma",
    "heterogeneity at the optimum: F* minus the weighted mean of the clients' own minima",
    dim=(1, 0),
    typical=(1e-2, 1e1),
    domain="nonnegative",
    latex=r"\Gamma",
)
H = _declare(
    "H",
    "root of the paper's H^2. HHFL: bound on a stochastic gradient's norm; "
    "HSL: root mean square gap of client gradients to the global gradient",
    dim=(1, -1),
    typical=(1e-1, 1e1),
    domain="nonnegative",
)
alpha = _declare(
    "alpha",
    "offset of the schedule eta_t = beta_lr/(t + alpha)",
    typical=(1e1, 1e4),
    domain="positive",
    latex=r"\alpha",
)
beta_lr = _declare(
    "beta_lr",
    "numerator of the schedule eta_t = beta_lr/(t + alpha) (the paper's beta)",
    dim=(-1, 2),
    typical=(1e0, 1e2),
    domain="positive",
    latex=r"\beta",
)
t = _declare("t", "local steps taken so far by each client", typical=(10, 1e6), domain="whole")
Delta0 = _declare(
    "Delta0",
    "squared distance of the first iterate to the optimum",
    dim=(0, 2),
    typical=(1e-1, 1e2),
    domain="nonnegative",
    latex=r"\Delta_0",
)
lambda2 = _declare(
    "lambda2",
    "second largest eigenvalue of the edge-round operator of a coverage, or of a gossip matrix",
    typical=(1e-1, 1e0),
    domain="share",
    latex=r"\lambda_2",
)
p2 = _declare(
    "p2",
    "sum of the squared shares of the clients in the loss; 1/clients where they are equal",
    typical=(1e-3, 1e-1),
    domain="share",
    latex=r"\textstyle\sum_i p_i^2",
)

Delta_t = _declare(
    "Delta_t",
    "mean squared distance of the clients' weighted mean model to the optimum, before a local step",
    dim=(0, 2),
    typical=(1e-2, 1e2),
    domain="nonnegative",
    latex=r"\Delta_t",
)
V_t = _declare(
    "V_t",
    "variance of the clients' weighted mean stochastic gradient at a local step",
    dim=(2, -2),
    typical=(1e-3, 1e1),
    domain="nonnegative",
    latex="V_t",
)
cycles = _declare("cycles", "CPU cycles to compute one bit", typical=(1e1, 1e3), domain="positive", latex="c")
hertz = _declare("hertz", "CPU frequency, in cycles per second", typical=(1e8, 1e10), domain="positive", latex="f")
bits = _declare("bits", "bits to compute in one local step", typical=(1e5, 1e8), domain="positive", latex="b_0")
T_CES = _declare(
    "T_CES",
    "seconds of one exchange of models between edge servers and clients, both ways",
    typical=(1e-3, 1e1),
    domain="nonnegative",
    latex=r"T_{\mathrm{CES}}",
)
T_ECS = _declare(
    "T_ECS",
    "seconds of one exchange of models between the cloud and the edge servers, both ways",
    typical=(1e-3, 1e1),
    domain="nonnegative",
    latex=r"T_{\mathrm{ECS}}",
)

# ---------------------------------------------------------------- HSL and Epidemic Learning (sharma2025, devos2023)
n_s = _declare("n_s", "spokes: the clients; nodes, where there are no hubs", typical=(10, 200))
n_h = _declare("n_h", "hubs", typical=(2, 20))
b_hs = _declare("b_hs", "spokes each hub averages in a round", typical=(2, 10), latex="b_{hs}", at_most="n_s")
b_hh = _declare("b_hh", "hubs each hub sends its model to", typical=(1, 10), domain="whole", latex="b_{hh}")
b_sh = _declare("b_sh", "hubs each spoke averages in a round", typical=(1, 10), latex="b_{sh}", at_most="n_h")
s = _declare("s", "nodes each node sends its model to (EL-Local), or receives one from (EL-Oracle)", typical=(1, 8))
T = _declare("T", "rounds (HSL, Epidemic Learning), global steps (HGA-FL) or local steps (HHFL)", typical=(1e2, 1e6))
beta_mix = _declare(
    "beta_mix",
    "mixing factor: expected consensus distance after a round of mixing, over that before",
    typical=(1e-2, 6e-1),
    domain="share",
    latex=r"\beta",
)
kappa = _declare(
    "kappa",
    "mean deviation: expected squared move of the average in a round of mixing, over the consensus distance before",
    typical=(1e-3, 1e-1),
    domain="nonnegative",
    latex=r"\kappa",
)
CD = _declare(
    "CD",
    "consensus distance: mean squared distance of the nodes' models to their average",
    dim=(0, 2),
    typical=(1e-3, 1e1),
    domain="nonnegative",
    latex=r"\mathrm{CD}",
)

# ---------------------------------------------------------------- HGA-FL (xie2024)
K_buf = _declare(
    "K_buf", "sub-centers whose updates fill the buffer (the paper's K)", typical=(1, 10), latex="K_b", at_most="M"
)
R_sub = _declare("R_sub", "rounds inside a sub-center (the paper's R)", typical=(1, 20), latex="R_s")
alpha_dyn = _declare(
    "alpha_dyn",
    "FedDyn's coefficient inside a sub-center (the paper's alpha)",
    dim=(1, -2),
    typical=(1e2, 1e4),
    domain="positive",
    latex=r"\alpha",
)
eta_g = _declare(
    "eta_g", "global learning rate, of the server", typical=(1e-3, 1e0), domain="positive", latex=r"\eta_g"
)
eta_sub = _declare(
    "eta_sub",
    "learning rate of a sub-center (the paper's eta_s; its hat is an upper bound on it)",
    dim=(-1, 2),
    typical=(1e-5, 1e-2),
    domain="positive",
    latex=r"\eta_s",
)
Gamma_max = _declare(
    "Gamma_max",
    "largest delay of an update in the buffer, in global steps",
    typical=(1, 20),
    domain="whole",
    latex=r"\Gamma_{\max}",
)
zeta_max = _declare(
    "zeta_max",
    "largest delay of a cached update, in global steps",
    typical=(1, 20),
    domain="whole",
    latex=r"\zeta_{\max}",
)
tau_max = _declare(
    "tau_max", "largest delay of a model, in global steps", typical=(1, 20), domain="whole", latex=r"\tau_{\max}"
)
moved = _declare(
    "moved",
    "sum of the mean squared moves of the server's model over the global steps since a delayed model",
    dim=(0, 2),
    typical=(1e-3, 1e1),
    domain="nonnegative",
    latex=r"\sum_q\mathbb{E}\|w^{q+1}-w^q\|^2",
)
sigma_s = _declare(
    "sigma_s",
    "standard deviation of a sub-center's stochastic gradient",
    dim=(1, -1),
    typical=(1e-1, 1e1),
    domain="nonnegative",
    latex=r"\sigma_s",
)
sigma_g = _declare(
    "sigma_g",
    "heterogeneity: root mean square gap of the sub-centers' gradients to the global gradient",
    dim=(1, -1),
    typical=(1e-1, 1e1),
    domain="nonnegative",
    latex=r"\sigma_g",
)
