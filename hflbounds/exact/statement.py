"""The theorem as a formula: its right-hand side for the sums of a tree, and its declaration as a bound."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from hflbounds.core.assumptions import WEIGHT, Assumption
from hflbounds.core.bound import Bound, Paper, Step
from hflbounds.core.expression import Expr, Symbol, add, as_expr, maximum, special, sqrt
from hflbounds.core.metrics import MEAN_SQUARED_GRADIENT
from hflbounds.core.quantities import A, L, R, aim, eta_eff, lam, sigma
from hflbounds.exact.sums import ExactSums

PAPER = Paper(
    key="hflbounds",
    title="A bound for trees of any depth, with exact sums",
    authors="The hfl-plan developers",
    year=2026,
    version="docs/theory/any-depth.md",
)


@dataclass(frozen=True, slots=True)
class Labels:
    """What the tiers of a statement are called in its terms, and the letters of their gaps, top first.

    Attributes:
        drift: Terms of the drift by the gaps of each tier.
        sampling: Terms of the variance of its draws.
        deviations: Letters of the gaps.
    """

    drift: tuple[str, ...]
    sampling: tuple[str, ...]
    deviations: tuple[Symbol, ...]


@dataclass(frozen=True, slots=True)
class Weighed:
    """The right-hand side of the theorem at a free weight.

    Attributes:
        terms: Summands.
        where: Parts with names of their own, in LaTeX.
        requires: Conditions.
        total: The same as one formula, without its split into terms.
        rise: The step times the slope of the whole, the weight held.
        best: The weight at which it is least.
        rounds: What a step needs to fall to ``aim``, least over the weight.
    """

    terms: dict[str, Expr]
    where: dict[str, Expr]
    requires: tuple[Any, ...]
    total: Expr
    rise: Expr
    best: Expr
    rounds: Expr


def weighed(sums: ExactSums, labels: Labels) -> Weighed:
    """Put the sums of a tree into the theorem.

    Args:
        sums: Formulas, or exact fractions.
        labels: Of its tiers.

    Source: docs/theory/any-depth.md, (1) and the form without a weight below it.
    """
    chi, phi, nu = (as_expr(x) for x in (sums.chi, sums.phi, sums.nu))
    omegas, starts = ([as_expr(x) for x in column] for column in (sums.omega, sums.start))
    v = L * eta_eff
    g = (v / (1 - chi * v)) ** 2
    kappa = (1 - v) / lam + v
    a = 2 - v - (1 - v) * lam - kappa * g * phi
    variance = {"noise": sigma**2 / sums.N}
    drifts = {"noise_drift": nu * sigma**2}
    root, square, correlated = as_expr(0), as_expr(0), as_expr(0)
    tiers = zip(omegas, starts, sums.correlated, labels.drift, labels.sampling, labels.deviations, strict=True)
    for omega, start, mixed, name, drawn, delta in tiers:
        variance[drawn] = start * delta**2
        part = sqrt(omega) * delta
        drifts[name] = omega * delta**2
        if mixed:
            drifts[f"{name}_joint"] = 2 * root * part
            root, correlated = root + part, correlated + part
            square = root**2
        else:
            first = square is as_expr(0)
            square = square + omega * delta**2
            root = part if first else sqrt(square)
    variance, drifts = ({n: x for n, x in some.items() if x is not as_expr(0)} for some in (variance, drifts))
    xi, drift = add(*variance.values()), add(*drifts.values())
    begin = 2 * A / (eta_eff * R)
    noisy = v * (1 + lam * v / (1 - v))
    b = kappa * g * sqrt(phi) * correlated
    c = begin + noisy * xi + kappa * g * drift
    x = (b + sqrt(b**2 + a * c)) / a
    terms = {"start": begin / a}
    terms |= {name: noisy * part / a for name, part in variance.items()}
    terms |= {name: kappa * g * part / a for name, part in drifts.items()}
    mixed = correlated is not as_expr(0)
    if mixed:
        terms["correlated_drift"] = 2 * b * x / a
    # Along the step, the weight held: of kappa g, of a, b and c, and by a X^2 - 2 b X = c of X^2.
    rise_g = g * ((1 - 1 / lam) * v + 2 * kappa * (1 + chi * v / (1 - chi * v)))
    rise_a = (lam - 1) * v - phi * rise_g
    rise_b = sqrt(phi) * correlated * rise_g
    rise_c = v * (1 + lam * v / (1 - v) * (1 + 1 / (1 - v))) * xi + rise_g * drift - begin
    if mixed:
        total, rise = x**2, x * (rise_c + 2 * rise_b * x - rise_a * x**2) / (a * x - b)
    else:
        total = c / a
        rise = (rise_c - rise_a * total) / a
    f = g * phi
    unit = begin + v * xi + g * drift
    parts = (g * drift / unit, v * xi / unit, begin / unit)
    best = special("least_weight", v, f, sqrt(g / unit) * correlated, *parts)
    height = phi * aim + 2 * sqrt(phi * aim) * correlated + drift
    room = (2 - v - v * f) * aim - 2 * v * g * sqrt(phi * aim) * correlated - v * xi - v * g * drift
    # Where a round chains one step the height is 0, and a root of it beside the step would have no slope.
    room = room - 2 * (1 - v) * sqrt(aim + v**2 * xi / (1 - v) ** 2) * (v / (1 - chi * v)) * sqrt(height)
    where: dict[str, Expr] = {"T": as_expr(sums.T), r"\varphi": phi, r"\chi": chi, r"\nu": nu}
    where |= {rf"\omega_{i}": omega for i, omega in enumerate(omegas, 1)}
    where |= {"g": g, r"\kappa": kappa, "a": a} | ({"b": b, "c": c, "X": x} if mixed else {})
    named = {name: part for name, part in where.items() if part.args}
    cap = 1 / (L * maximum(1, sqrt(phi) + chi))
    return Weighed(terms, named, (eta_eff < cap, a > 0, lam <= 1), total, rise, best, 2 * A / (eta_eff * room))


def declared(  # reason: the fields of a bound that differ between trees
    *,
    id: str,
    title: str,
    place: str,
    right: Weighed,
    chain: Expr,
    assumes: tuple[Assumption, ...],
    grows_with: tuple[Symbol, ...],
    shrinks_with: tuple[Symbol, ...],
    steps: tuple[Step, ...] = (),
    breaks: Mapping[str, str] = MappingProxyType({}),
) -> Bound:
    """Declare the theorem for one tree, of letters or of numbers; see `Bound` for what the arguments are."""
    return Bound(
        id=id,
        title=title,
        source=PAPER.at(place),
        bounds=MEAN_SQUARED_GRADIENT,
        terms=right.terms,
        requires=right.requires,
        assumes=(*assumes, WEIGHT),
        status="own",
        constants="explicit",
        where=right.where,
        chain=chain,
        common_cap=1 / (4 * L),
        grows_with=grows_with,
        shrinks_with=shrinks_with,
        steps=steps,
        defaults={lam.name: right.best},
        free=(lam,),
        rise=right.rise,
        rounds=right.rounds,
        breaks=breaks,
    )
