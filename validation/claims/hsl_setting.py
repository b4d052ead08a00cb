"""The setting of the claims about hubs and spokes: protocols, their edges, and what the bounds say of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from typing import Any, ClassVar

from hflbounds import get
from validation.claims import Row, Size, Traces, row
from validation.experiment import Cell, Part, part
from validation.statistics import by_ratio
from validation.tuning import Protocol, Score, tuned

ROUNDS: dict[Size, int] = {"quick": 50, "full": 200}
SCORING: dict[Size, int] = {"quick": 12, "full": 48}


class Protocolled(ABC):
    """A way to mix: nodes that train, and edges over which a model goes in a round."""

    name: ClassVar[str]
    made: ClassVar[str]  # its algorithm
    laws: ClassVar[tuple[str, str, str]]  # of the catalogue: mixing factor, exact law, bound

    def __str__(self) -> str:
        return f"{self.name} {astuple(self)}, {self.edges} edges"  # type: ignore[call-overload]

    @property
    @abstractmethod
    def nodes(self) -> int:
        """Those that train."""

    @property
    @abstractmethod
    def edges(self) -> int:
        """Models sent in a round."""

    @property
    def budgets(self) -> dict[str, int]:
        """By the names of the catalogue."""
        return {"n_s": self.nodes, **asdict(self)}  # type: ignore[call-overload]

    def algorithm(self, judged: str) -> Part:
        """To run."""
        return part(self.made, judged=judged, **asdict(self))  # type: ignore[call-overload]

    def beta(self) -> float:
        """The mixing factor by which *sharma2025* compares."""
        return float(get(self.laws[0])(**self.budgets))

    def exact(self) -> Mapping[str, Any]:
        """Consensus ratio and mean deviation of a round."""
        return get(self.laws[1]).split(**self.budgets)

    def bound(self, scenario: Mapping[str, float], form: str = "") -> float:
        """Mean squared gradient at the nodes, at the tuned step."""
        return float(get(f"{self.laws[2]}{form}")(**self.budgets, **scenario))


@dataclass(frozen=True, slots=True)
class Hubs(Protocolled):
    """Hubs and Spokes Learning with these budgets."""

    name, made = "HSL", "hsl"
    laws = "sharma2025.beta", "hflbounds.hsl-exact", "sharma2025.thm4-4"
    n_s: int
    n_h: int
    b_hs: int
    b_hh: int
    b_sh: int

    @property
    def nodes(self) -> int:
        """The spokes."""
        return self.n_s

    @property
    def edges(self) -> int:
        """From and to hubs, and between them."""
        return self.n_h * (self.b_hs + self.b_hh) + self.n_s * self.b_sh


@dataclass(frozen=True, slots=True)
class Epidemic(Protocolled):
    """EL-Local with n nodes that each send to s others."""

    name, made = "EL-Local", "el-local"
    laws = "devos2023.beta-local", "hflbounds.push-exact", "devos2023.el-local"
    n: int
    s: int

    @property
    def nodes(self) -> int:
        """All of them."""
        return self.n

    @property
    def edges(self) -> int:
        """From everybody."""
        return self.n * self.s

    @property
    def budgets(self) -> dict[str, int]:
        """By the names of the catalogue."""
        return {"n_s": self.n, "s": self.s}


def problem_of(nodes: int, delta: float) -> Part:
    """As many clients as nodes; the constants of `scenario`."""
    return part("controlled", G=nodes, M=1, L=1.0, A=5.0, sigma=1.0, delta=delta, seed=1)


def protocol(size: Size) -> Protocol:
    """How rates are chosen."""
    return Protocol(
        quantity="gradient",
        averaged=True,
        rounds=ROUNDS[size],
        start=0.5,
        tuning=tuple(range(1000, 1006)),
        scoring=tuple(range(SCORING[size])),
        reach=2,
    )


def scores(
    delta: float, what: Sequence[Hubs | Epidemic], size: Size, judged: str
) -> Generator[Sequence[Cell], Traces, dict[Hubs | Epidemic, Score]]:
    """Tune and score each on one problem; a stage of a plan."""
    algorithms = {str(one): one.algorithm(judged) for one in what}
    found = yield from tuned(problem_of(what[0].nodes, delta), algorithms, protocol(size))
    return {one: found[str(one)] for one in what}


def scenario(delta: float, size: Size) -> dict[str, float]:
    """The problem's constants, in the words of the catalogue."""
    return {"T": ROUNDS[size], "L": 1.0, "A": 5.0, "sigma": 1.0, "H": delta}


def compared(
    setting: str, above: Hubs | Epidemic, below: Hubs | Epidemic, found: Mapping[Any, Score], told: float
) -> Row:
    """One comparison, with the ratio that predicts it."""
    return row(setting, f"{above} / {below}", found[above].values, found[below].values, by_ratio(told))
