"""The setting of the claims about overlapping coverage: three servers, 57 clients, and what the bounds say of it.

All clients take the same number of local steps in all, with rates ``beta/(t + alpha)`` as in the theorem and beta tuned
for each coverage; what is compared is the loss at the end. The tuned rates lie outside what the theorem asks for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from itertools import pairwise
from typing import cast

import torch

from hflbounds import get
from validation.algorithms.hhfl import covered
from validation.claims import Judgement, Plan, Row, Size, Traces, overall, row
from validation.experiment import Cell, Part, make_problem, part
from validation.problems.controlled import Controlled
from validation.statistics import Prediction, paired_ratio
from validation.tuning import Protocol, Score, tuned

APART = "ring:3,19,0"  # HFL: every client under one server
PAPERS = "triangle:14,4,1"  # the paper's layout: 42 clients under one server, 12 under two, 3 under all
BOUND = "hflbounds.hhfl-two-level"
STEPS: dict[Size, int] = {"quick": 500, "full": 2000}
SCORING: dict[Size, int] = {"quick": 16, "full": 48}
Predict = Callable[[float], Prediction]  # from the ratio of two bounds


def problem(**options: float) -> Part:
    """Convex losses of 57 clients; options of `validation.problems.controlled`, noise 1 if not given."""
    return part("controlled", G=3, M=19, A=5.0, seed=1, nonconvex=False, **{"sigma": 1.0, **options})


def scores(
    what: Part, coverages: Sequence[str], size: Size, *, E: int = 5, Ge: int = 5
) -> Generator[Sequence[Cell], Traces, dict[str, Score]]:
    """Tune and score each coverage; a stage of a plan."""
    algorithms = {c: part("hhfl", coverage=c, E=E, Ge=Ge, alpha=STEPS[size] / 10) for c in coverages}
    protocol = Protocol(
        quantity="gap",
        averaged=False,
        rounds=STEPS[size] // (E * Ge),
        start=4.0,
        tuning=tuple(range(1000, 1006)),
        scoring=tuple(range(SCORING[size])),
    )
    return (yield from tuned(what, algorithms, protocol))


def bound(what: Part, coverage: str, size: Size, *, E: int = 5, Ge: int = 5) -> float:
    """The bound by the coverage's second eigenvalue, with the constants of the problem at its minimum."""
    made, known = cast(Controlled, make_problem(what)), covered(coverage)
    a, v, x = made.a.flatten(0, 1), made.v.flatten(0, 1), made.minimum
    zeta, delta = known.levels((made.h * x + a * torch.tanh(x) + v).numpy())
    ends = torch.cat([made.h.expand(len(a), -1), made.h + a])
    mu, L = float(ends.min()), float(ends.max())
    return float(
        get(BOUND)(
            E=E,
            Ge=Ge,
            t=STEPS[size],
            lambda2=known.lambda2,
            p2=known.p2,
            zeta=math.sqrt(zeta),
            delta=math.sqrt(delta),
            sigma=made.sigma,
            mu=mu,
            L=L,
            Gamma=max(0.0, made.lowest - _own_minima(made)),
            Delta0=float((made.x0 - x).square().sum()),
            beta_lr=2 / mu,
            alpha=8 * L / mu,
        )
    )


def against(what: dict[str, Part], above: str, below: str, size: Size, predict: Predict) -> Plan:
    """One coverage against another, on problems by the name of their setting."""
    rows, rates = [], []
    for setting, made in what.items():
        found = yield from scores(made, (above, below), size)
        told = predict(bound(made, above, size) / bound(made, below, size))
        rows.append(row(setting, f"{above} / {below}", found[above].values, found[below].values, told))
        rates.append(f"{found[above].rate:.3g} and {found[below].rate:.3g}")
    return Judgement(overall(rows), tuple(rows), f"{_told(rows)} Effective rates: {'; '.join(rates)}.")


def growth(what: Part, options: Sequence[dict[str, int]], size: Size, predict: Predict) -> Plan:
    """How the ratio of HHFL to HFL changes from one pair of E and Ge to the next."""
    seen, told = [], []
    for option in options:
        found = yield from scores(what, (PAPERS, APART), size, **option)
        seen.append((found[PAPERS].values, found[APART].values))
        told.append(bound(what, PAPERS, size, **option) / bound(what, APART, size, **option))
    names = [", ".join(f"{name} = {value}" for name, value in option.items()) for option in options]
    rows = []
    for (first, second), (one, other), (small, large) in zip(
        pairwise(seen), pairwise(told), pairwise(names), strict=True
    ):
        pair = f"HHFL / HFL over the same at {small}", second[0] * first[1], second[1] * first[0]
        rows.append(row(large, *pair, predict(other / one)))
    gains = (paired_ratio(hybrid, apart) for hybrid, apart in seen)
    shown = "; ".join(f"{gain} at {name}" for name, gain in zip(names, gains, strict=True))
    return Judgement(overall(rows), tuple(rows), f"{_told(rows)} HHFL / HFL: {shown}.")


def _own_minima(made: Controlled) -> float:
    """Mean of the clients' own smallest losses; all are convex, so that slopes rise."""
    a, v = made.a.flatten(0, 1), made.v.flatten(0, 1)
    high = (a.abs() + v.abs()) / made.h + 1
    low = -high
    for _ in range(80):
        middle = (low + high) / 2
        rising = made.h * middle + a * torch.tanh(middle) + v >= 0
        low, high = torch.where(rising, low, middle), torch.where(rising, middle, high)
    x = high
    log_cosh = torch.logaddexp(x, -x) - math.log(2)
    return float((made.h * x**2 / 2 + a * log_cosh + v * x).sum(1).mean())


def _told(rows: Sequence[Row]) -> str:
    failed = "; ".join(row.setting for row in rows if row.verdict == "fails")
    held = sum(row.verdict == "holds" for row in rows)
    return f"Holds in {held} of {len(rows)} comparisons" + (f"; fails at {failed}." if failed else ".")
