"""Where claims on the four topologies are tried: problems with exact constants in many regimes, rates tuned fairly.

All claims use the same seeds and grids, so that a cell that two of them need is run once.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from hflbounds import get
from validation import claims
from validation.claims import Judgement, Plan, Row, Size, Steps, overall, together
from validation.experiment import Part, part
from validation.statistics import MARGIN, Prediction, compare
from validation.tuning import Protocol, Score, tuned

L, A, SIGMA = 1.0, 5.0, 1.0
SHAPE = {"G": 10, "M": 10, "P": 1, "K": 2}  # of the experiments of zhou2026, Section 3.1
PROBLEMS = {"quick": (1,), "full": tuple(range(1, 7))}
SCORING = {"quick": 16, "full": 24}
QUANTITY = "mean squared gradient over the rounds, the left-hand side of the theorems"
Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, kw_only=True, slots=True)
class Regime:
    """What limits progress: heterogeneity against the noise, and how long it runs.

    Attributes:
        zeta: intra-group heterogeneity, in units of sigma.
        delta: inter-group heterogeneity, in units of sigma.
        rounds: global rounds.
        grouped: whether the problem has G groups of M clients; otherwise G M unlike clients without groups.
    """

    zeta: float = 0.0
    delta: float = 0.0
    rounds: int = 30
    grouped: bool = True

    def __str__(self) -> str:
        if not self.grouped:
            return f"heterogeneity/sigma = {self.delta:g}, R = {self.rounds}"
        return f"delta/sigma = {self.delta:g}, zeta/sigma = {self.zeta:g}, R = {self.rounds}"

    def problem(self, seed: int) -> Part:
        """One problem of this regime."""
        groups, members = (SHAPE["G"], SHAPE["M"]) if self.grouped else (SHAPE["G"] * SHAPE["M"], 1)
        return part("controlled", G=groups, M=members, sigma=SIGMA, zeta=self.zeta, delta=self.delta, A=A, seed=seed)

    @property
    def constants(self) -> dict[str, float]:
        """For the bounds."""
        return {"R": self.rounds, "L": L, "A": A, "sigma": SIGMA, "zeta": self.zeta, "delta": self.delta}


@dataclass(frozen=True, slots=True)
class Measured:
    """An algorithm at its best rates.

    Attributes:
        values: the quantity, one per scoring seed of the one problem, or one geometric mean per problem.
        rates: effective rates chosen, one per problem.
    """

    values: tuple[float, ...]
    rates: tuple[float, ...]


def grid(size: Size) -> tuple[Regime, ...]:
    """Regimes from noise alone to much heterogeneity of either kind."""
    if size == "quick":
        return tuple(Regime(zeta=z, delta=d) for z in (0.0, 1.0) for d in (0.0, 0.1, 1.0, 3.0))
    return tuple(
        Regime(zeta=z, delta=d, rounds=r)
        for r, levels in ((30, (0.0, 0.3, 1.0, 3.0)), (100, (0.0, 1.0)))
        for z in levels
        for d in (0.0, 0.1, 0.3, 1.0, 3.0)
    )


def two_tier(topology: str, **options: str | int | None) -> Part:
    """A topology in the usual shape; options override it."""
    return part("two-tier", **{"topology": topology, **SHAPE, **options})


def protocol(rounds: int, size: Size) -> Protocol:
    """How rates are chosen, the same for every claim."""
    return Protocol(
        quantity="gradient",
        averaged=True,
        rounds=rounds,
        start=1.0,
        tuning=tuple(range(1000, 1008)),
        scoring=tuple(range(SCORING[size])),
    )


def measure(
    regimes: Iterable[Regime], algorithms: Mapping[Key, Part], size: Size
) -> Steps[dict[tuple[Regime, Key], Measured]]:
    """Tune and score every algorithm on every problem of every regime, side by side."""
    named = {str(i): (key, told) for i, (key, told) in enumerate(algorithms.items())}
    parts = {name: told for name, (_, told) in named.items()}
    plans = {
        (regime, seed): tuned(regime.problem(seed), parts, protocol(regime.rounds, size))
        for regime in regimes
        for seed in PROBLEMS[size]
    }
    scores = yield from together(plans)
    return {
        (regime, key): pooled([scores[regime, seed][name] for seed in PROBLEMS[size]])
        for regime in dict.fromkeys(regime for regime, _ in plans)
        for name, (key, _) in named.items()
    }


def pooled(scores: Sequence[Score]) -> Measured:
    """Seeds of one problem, or means of several: what an interval is to cover."""
    rates = tuple(score.rate for score in scores)
    if len(scores) == 1:
        return Measured(tuple(scores[0].values.tolist()), rates)
    return Measured(tuple(float(np.exp(np.log(score.values).mean())) for score in scores), rates)


def bound(family: str, topology: str, regime: Regime, **options: Any) -> float:
    """What a family of bounds says of a topology there, at its best step under the family's common cap."""
    scenario = {**SHAPE, **regime.constants, **options}
    return float(get(f"{family}.{topology}").tuned(**scenario, cap="common").value)


def foretold(above: float, below: float, *, weak: bool = False, margin: float = MARGIN) -> Prediction:
    """What two bounds say of the ratio of what they bound.

    Args:
        above: bound on what stands above.
        below: on what stands below.
        weak: whether the claim is only that the one is no larger than the other.
        margin: ratios closer to 1 than this are ties.
    """
    if weak:
        return "not larger" if above <= below * (1 + 1e-9) else "larger"
    if abs(above / below - 1) <= margin:
        return "tie"
    return "smaller" if above < below else "larger"


def row(
    setting: object, compared: str, above: Measured, below: Measured, told: Prediction, margin: float = MARGIN
) -> Row:
    """One comparison and its verdict."""
    return claims.row(setting, compared, above.values, below.values, told, margin)


def compared(
    regimes: Sequence[Regime],
    pairs: Sequence[tuple[str, str]],
    predicted: Callable[[Regime, str, str], Prediction],
    size: Size,
    algorithms: Mapping[str, Part] | None = None,
) -> Plan:
    """A plan that compares pairs of algorithms, by default of two-tier topologies, in every regime."""
    algorithms = algorithms or {topology: two_tier(topology) for pair in pairs for topology in pair}
    found = yield from measure(regimes, algorithms, size)
    rows = tuple(
        row(regime, f"{above} / {below}", found[regime, above], found[regime, below], predicted(regime, above, below))
        for regime in regimes
        for above, below in pairs
    )
    return Judgement(overall(rows), rows, note(rows, found.values(), size))


def note(rows: Sequence[Row], results: Iterable[Measured], size: Size) -> str:
    """How often it holds and where it fails, at which rates, and what the intervals cover."""
    count = {verdict: sum(row.verdict == verdict for row in rows) for verdict in ("holds", "fails", "cannot tell")}
    said = f"{count['holds']} of {len(rows)} comparisons hold, {count['fails']} fail"
    said += f", {count['cannot tell']} cannot be told" if count["cannot tell"] else ""
    ties = sum(row.verdict == "fails" and compare(row.ratio, row.margin) == "tie" for row in rows)
    said += f" ({ties} of them for want of a difference, not for the opposite one)" if ties else ""
    failed = list(dict.fromkeys(row.setting for row in rows if row.verdict == "fails"))
    said += f"; fails at {'; '.join(failed[:4])}{' and elsewhere' if len(failed) > 4 else ''}. " if failed else ". "
    rates = [rate for result in results for rate in result.rates]
    said += f"Tuned effective rates times L: {min(rates) * L:.2g} to {max(rates) * L:.2g}. "
    if len(PROBLEMS[size]) == 1:
        return said + "One problem per regime: intervals cover the noise, not the choice of problem."
    return said + f"{len(PROBLEMS[size])} problems per regime: intervals cover the choice of problem."
