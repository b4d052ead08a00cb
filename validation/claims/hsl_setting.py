"""The setting of the claims about hubs and spokes: protocols, their edges, and what the bounds say of them."""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Any

from hflbounds import get
from validation.claims import Row, Size, Traces
from validation.experiment import Cell, Part, part
from validation.statistics import MARGIN, Prediction, judge, paired_ratio
from validation.tuning import Protocol, Score, tuned

BUDGETS = ("n_s", "n_h", "b_hs", "b_hh", "b_sh")
ROUNDS: dict[Size, int] = {"quick": 50, "full": 200}
SCORING: dict[Size, int] = {"quick": 12, "full": 48}


@dataclass(frozen=True, slots=True)
class Hubs:
    """Hubs and Spokes Learning with these budgets."""

    n_s: int
    n_h: int
    b_hs: int
    b_hh: int
    b_sh: int

    def __str__(self) -> str:
        return f"HSL {astuple(self)}, {self.edges} edges"

    @property
    def nodes(self) -> int:
        """Those that train."""
        return self.n_s

    @property
    def edges(self) -> int:
        """Models sent in a round."""
        return self.n_h * (self.b_hs + self.b_hh) + self.n_s * self.b_sh

    @property
    def budgets(self) -> dict[str, int]:
        """By the names of the catalogue."""
        return dict(zip(BUDGETS, astuple(self), strict=True))

    def algorithm(self, judged: str) -> Part:
        """To run."""
        return part("hsl", judged=judged, **self.budgets)

    def beta(self) -> float:
        """The mixing factor by which *sharma2025* compares."""
        return float(get("sharma2025.beta")(**self.budgets))

    def exact(self) -> Mapping[str, Any]:
        """Consensus ratio and mean deviation of a round."""
        return get("hflbounds.hsl-exact").split(**self.budgets)

    def bound(self, scenario: Mapping[str, float], form: str = "") -> float:
        """Mean squared gradient at the spokes, at the tuned step."""
        return float(get(f"sharma2025.thm4-4{form}")(**self.budgets, **scenario))


@dataclass(frozen=True, slots=True)
class Epidemic:
    """EL-Local with n nodes that each send to s others."""

    n: int
    s: int

    def __str__(self) -> str:
        return f"EL-Local {astuple(self)}, {self.edges} edges"

    @property
    def nodes(self) -> int:
        """Those that train."""
        return self.n

    @property
    def edges(self) -> int:
        """Models sent in a round."""
        return self.n * self.s

    def algorithm(self, judged: str) -> Part:
        """To run."""
        return part("el-local", judged=judged, n=self.n, s=self.s)

    def beta(self) -> float:
        """The mixing factor by which *sharma2025* compares."""
        return float(get("devos2023.beta-local")(n_s=self.n, s=self.s))

    def exact(self) -> Mapping[str, Any]:
        """Consensus ratio and mean deviation of a round."""
        return get("hflbounds.push-exact").split(n_s=self.n, s=self.s)

    def bound(self, scenario: Mapping[str, float], form: str = "") -> float:
        """Mean squared gradient at the nodes, at the tuned step."""
        return float(get(f"devos2023.el-local{form}")(n_s=self.n, s=self.s, **scenario))


def problem_of(nodes: int, delta: float) -> Part:
    """As many clients as nodes; the constants of `scenario`."""
    return part("controlled", G=nodes, M=1, L=1.0, A=5.0, sigma=1.0, delta=delta, seed=1)


def scores(
    delta: float, what: Sequence[Hubs | Epidemic], size: Size, judged: str
) -> Generator[Sequence[Cell], Traces, dict[Hubs | Epidemic, Score]]:
    """Tune and score each on one problem; a stage of a plan."""
    problem = problem_of(what[0].nodes, delta)
    protocol = Protocol(
        quantity="gradient",
        averaged=True,
        rounds=ROUNDS[size],
        start=0.5,
        tuning=tuple(range(1000, 1006)),
        scoring=tuple(range(SCORING[size])),
        reach=2,
    )
    found = yield from tuned(problem, {str(one): one.algorithm(judged) for one in what}, protocol)
    return {one: found[str(one)] for one in what}


def scenario(delta: float, size: Size) -> dict[str, float]:
    """The problem's constants, in the words of the catalogue."""
    return {"T": ROUNDS[size], "L": 1.0, "A": 5.0, "sigma": 1.0, "H": delta}


def row(setting: str, above: Hubs | Epidemic, below: Hubs | Epidemic, found: Mapping[Any, Score], told: float) -> Row:
    """One comparison, with the ratio that predicts it."""
    ratio = paired_ratio(found[above].values.tolist(), found[below].values.tolist())
    predicted = direction(told)
    return Row(setting, f"{above} / {below}", ratio, predicted, judge(ratio, predicted))


def direction(ratio: float) -> Prediction:
    """Which is smaller, where the two differ by more than the margin."""
    if math.isnan(ratio):  # 0/0
        return "tie"
    return "smaller" if ratio < 1 - MARGIN else "larger" if ratio > 1 + MARGIN else "tie"
