"""This project's own guarantee by loss at long steps, for losses that differ by a tilt, in closed form.

Statement and proof: docs/theory/tilted-quadratics.md, section 5. Every summand bounds the worst case over spectra of
one of the exact coefficients that `hflbounds.tilted` maximises; where steps are short, those of the tilts are far from
it, and `hflbounds.tilt_bound` is the number to use.
"""

from fractions import Fraction
from itertools import combinations

from hflbounds.catalog import own, own_drift
from hflbounds.catalog.own_drift import PARTIAL_CHAIN
from hflbounds.core.assumptions import (
    FIXED_ORDER,
    INDEPENDENT_DRAWS,
    INTER,
    INTRA,
    NOISE_BY_DIRECTION,
    ONE_DRAW,
    RANDOM_ORDER,
    ROUNDS,
    TILTED,
)
from hflbounds.core.bound import Bound, End, Paper, Step
from hflbounds.core.expression import Expr, Power, Product, add, as_expr, choice, mul, power, sqrt
from hflbounds.core.metrics import LOSS_AFTER_ROUNDS
from hflbounds.core.quantities import S1, S2, Delta0, G, K, L, M, P, R, delta, eta_eff, sigma, zeta
from hflbounds.topology import Topology

paper = Paper(
    key="hflbounds",
    title="Losses that differ by a tilt",
    authors="The hfl-plan developers",
    year=2026,
    version="docs/theory/tilted-quadratics.md",
)
Terms = dict[str, Expr]
QUARTER = Fraction(7, 76)  # a little more than exp(-1)/4


def _left_out(whole: Expr, drawn: Expr) -> Expr:
    """Variance of the mean of a draw without replacement, over that of one child."""
    return choice(whole <= 1, 0, (whole - drawn) / (drawn * (whole - 1)))


def _reordered(whole: Expr, drawn: Expr) -> Expr:
    """What a random order of those drawn adds where a ring runs through them, over its share of the chain."""
    return choice(whole <= 1, 0, whole * (drawn - 1) / (drawn**2 * (whole - 1)))


# ---------------------------------------------------------------- by the table of the statement
IN_ONE_ORDER: dict[str, Terms] = {  # squared heterogeneity over the step, before a factor 1/(2 (2 - L eta))
    "star-star": {},
    "star-ring": {"intra": (1 - 1 / M) * zeta**2 / P},
    "ring-star": {"inter": (1 - 1 / G) * delta**2},
    "ring-ring": {"inter": (1 - 1 / G) * delta**2, "intra": (1 - 1 / M) * zeta**2 / P},
}
IN_RANDOM_ORDER: dict[str, Terms] = {
    "star-star": {},
    "star-ring": {"intra": choice(M <= 1, 0, zeta**2 / (G * P * M))},
    "ring-star": {"inter": choice(G <= 1, 0, delta**2 / G)},
    "ring-ring": {"inter": choice(G <= 1, 0, delta**2 / G), "intra": choice(M <= 1, 0, zeta**2 / (G * P * M))},
}
_DRAWN = {"sampling": _left_out(G, S1) * delta**2 + _left_out(M, S2) * zeta**2 / S1}
SAMPLED: dict[str, Terms] = {
    "star-star": _DRAWN,
    "star-ring": _DRAWN | {"intra": _reordered(M, S2) * zeta**2 / (P * S1)},
    "ring-star": _DRAWN | {"inter": _reordered(G, S1) * delta**2},
    "ring-ring": _DRAWN | {"inter": _reordered(G, S1) * delta**2, "intra": _reordered(M, S2) * zeta**2 / (P * S1)},
}
TABLE = {"fixed": IN_ONE_ORDER, "random": IN_RANDOM_ORDER, "partial": SAMPLED}


# ---------------------------------------------------------------- tier by tier
def tier_by_tier(topology: str, law: str) -> Terms:
    """The same from the chains of the tiers: a ring's gaps enter by its child's chain, draws by their node's."""
    one = as_expr(1)
    counts = ((G, S1, one, delta, "inter"), (M, S2, as_expr(P), zeta, "intra"))
    patterns = Topology.parse(topology).patterns
    parts = [drawn if law == "partial" else whole for whole, drawn, *_ in counts]
    chains: list[Expr] = [K]
    for pattern, part, count in zip(reversed(patterns), reversed(parts), reversed(counts), strict=True):
        chains.insert(0, chains[0] * count[2] * (part if pattern.ordered else 1))
    found: Terms = {}
    drawn: list[Expr] = []
    taken, side, again = (as_expr(1) for _ in range(3))  # of the tiers above: ring places, places side by side, passes
    for i, (pattern, part, count) in enumerate(zip(patterns, parts, counts, strict=True)):
        whole, _, passes, gap, name = count
        share = chains[i + 1] / chains[0]
        if law == "partial":
            drawn.append(_left_out(whole, part) * gap**2 * (chains[i] / chains[0]) * again / side)
        if pattern.ordered and law == "fixed":
            found[name] = (whole - 1) * share * gap**2 * taken
        elif pattern.ordered and law == "random":
            found[name] = choice(whole <= 1, 0, share * gap**2 / side)
        elif pattern.ordered:
            found[name] = part * _reordered(whole, part) * share * gap**2 / side
        if pattern.ordered:
            taken = taken * whole
        else:
            side = side * part
        again = again * passes
    return {"sampling": add(*drawn)} | found if drawn else found


def models(topology: str, law: str) -> Expr:
    """Models that are trained side by side."""
    parts = (S1, S2) if law == "partial" else (G, M)
    patterns = Topology.parse(topology).patterns
    return mul(*(part for pattern, part in zip(patterns, parts, strict=True) if not pattern.ordered))


# ---------------------------------------------------------------- the bounds
def _root(part: Expr) -> Expr:
    """The square root, factor by factor."""
    factors = part.args if isinstance(part, Product) else (part,)
    return mul(*(power(one.base, one.exponent / 2) if isinstance(one, Power) else sqrt(one) for one in factors))


def _terms(parts: Terms, chain: Expr, samples: Expr, law: str) -> Terms:
    """``start + eta_eff/(2 (2 - v)) (sigma^2/N + parts)`` with ``1/(2 (2 - v)) <= (1 + v)/4``, and what may add up."""
    noise = sigma**2 / samples
    roots = [_root(part) for part in parts.values()] if law == "fixed" else []
    kept = add(*roots)
    pairs = [2 * one * other for one, other in combinations(roots, 2)]
    rest = [*parts.values(), *pairs]
    found = {"start": QUARTER * Delta0 / (eta_eff * R), "noise": eta_eff * noise / 4}
    found |= {name: eta_eff * part / 4 for name, part in parts.items()}
    if pairs:
        found["inter_and_intra"] = eta_eff * add(*pairs) / 4
    found["long_step"] = L * eta_eff**2 / (4 * chain) * add(noise, *rest)
    if roots:
        begin = sqrt(QUARTER * Delta0 / R)
        found["start_and_order"] = begin * kept
        found["start_and_order_long_step"] = L * eta_eff / (2 * chain) * begin * kept
    return found


def _declare(label: str, law: str, topology: str) -> Bound:
    chain = (PARTIAL_CHAIN if law == "partial" else own.CHAIN)[topology]
    samples = S1 * P * S2 * K if law == "partial" else G * P * M * K
    raw = eta_eff / own_drift.steps_in_a_row(topology, *((S1, S2) if law == "partial" else (G, M)))
    by_tiers = chain * models(topology, law)
    order = {"fixed": "fixed order", "random": "random order", "partial": "partial participation"}[law]
    laws = {"fixed": (FIXED_ORDER,), "random": (RANDOM_ORDER, ONE_DRAW), "partial": (INDEPENDENT_DRAWS, ONE_DRAW)}[law]
    terms = _terms(TABLE[law][topology], chain, samples, law)
    used = {symbol for term in terms.values() for symbol in term.symbols}
    return Bound(
        id=f"hflbounds.{label}.{topology}",
        title=f"{topology}, {order}, loss of the last model, losses that differ by a tilt",
        source=paper.at(f"Corollary, {order}, {topology}"),
        bounds=LOSS_AFTER_ROUNDS,
        terms=terms,
        requires=(eta_eff <= chain / L,),
        ends=(End("no direction turns round in a local step: its curvature is at most L", 1 - L * raw),),
        assumes=(TILTED, NOISE_BY_DIRECTION, INTRA, INTER, ROUNDS, *laws),
        status="own",
        constants="explicit",
        chain=chain,
        common_cap=P * K / L,
        grows_with=tuple(symbol for symbol in (Delta0, L, sigma, zeta, delta) if symbol in used),
        shrinks_with=(P, K, R),
        steps=(Step("the chains of the tiers, one by one", _terms(tier_by_tier(topology, law), chain, by_tiers, law)),),
    )


tilt = tuple(_declare("tilt", "fixed", topology) for topology in own.TOPOLOGIES)
tilt_random = tuple(_declare("tilt-random", "random", topology) for topology in own.TOPOLOGIES)
tilt_partial = tuple(_declare("tilt-partial", "partial", topology) for topology in own.TOPOLOGIES)
