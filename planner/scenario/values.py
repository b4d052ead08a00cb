"""What is known of a scenario: every number with its origin, and the frozen scenario that answers stand on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from planner.io.intervals import Spread
from planner.io.wording import join
from planner.scenario.fields import CostMethod, Metric, Objective, Order
from planner.scenario.footprint import Rates
from planner.scenario.network import Compute, Network

if TYPE_CHECKING:
    from planner.data.fleet import Listed
    from planner.data.pilot import Pilot
    from planner.scenario.availability import Availability
    from planner.scenario.members import Members

Origin = Literal["given", "default", "estimated", "derived"]


def unnamed(depth: int) -> tuple[str, ...]:
    """Return what the children of every tier are called, top first, where nobody named them."""
    return ("group", "client") if depth == 2 else (*(f"tier {i}" for i in range(1, depth)), "client")


@dataclass(frozen=True, slots=True)
class Known:
    """A number or a word, and where it comes from."""

    value: float | int | str | None  # in SI units where it has a unit
    origin: Origin  # who says so
    unit: str = ""  # of ``value``; "" for pure numbers and words
    note: str = ""  # what a default stands on, or how a derived number was made
    reading: str = ""  # the user's quantity in canonical spelling, where it had a unit or limits
    # how far the number is known, where that was given or measured; ``value`` is then the middle
    spread: Spread | None = None
    exact: bool = False  # whether an estimate has no error

    @property
    def sure(self) -> bool:
        """Whether nothing else can be meant."""
        return self.spread is None and (self.origin == "given" or self.exact)

    @classmethod
    def given(cls, value: Any, unit: str = "") -> Known:
        """Keep what the user wrote, with its reading and its limits."""
        plain = float(value) if isinstance(value, float) else value
        return cls(plain, "given", unit, "", getattr(value, "reading", ""), getattr(value, "spread", None))

    @classmethod
    def of(cls, value: Any, default: Any, note: str = "", *, origin: Origin = "default", unit: str = "") -> Known:
        """Keep what the user wrote, or the default where that is None."""
        return cls(default, origin, unit, note) if value is None else cls.given(value, unit)


@dataclass(frozen=True, slots=True)
class Regrouped:
    """A division of clients into groups, and the deviations it makes."""

    groups: int  # groups, clients: how many groups of how many, in the mean
    clients: int
    largest: int  # clients of the largest group, which the clock and the traffic count
    deviations: Mapping[str, Known]  # zeta and delta
    kind: Literal["random", "chosen"]  # whether at random, or chosen by label counts


@dataclass(frozen=True)
class Scenario:
    """Everything an answer stands on."""

    title: str  # the user's
    # by symbol, in the order in which they are shown; those of the tiers are `tier_symbols` of the depth
    known: Mapping[str, Known]
    network: Network  # network, compute: what the clock needs
    compute: Compute
    partial: bool  # whether only some take part in a round
    order: Order  # of rings
    metric: Metric | None = None  # what is to get small; None for the usual one that the predictor knows
    # id of what predicts the rounds; None for the one with the best record for the metric
    predictor: str | None = None
    bounds: str | None = None  # id of the bound family, None for the one that fits
    cap: str | float | None = None  # on the effective learning rate, None for the family's default
    objective: Objective = "time"  # what is minimised
    cost: CostMethod = "schedule"  # how a round is timed
    resolution: float = 0.02  # relative difference below which topologies tie
    seed: int = 0  # of every random draw
    # whether neither the objective nor any part of the network was given, so that any may be meant
    objective_open: bool = False
    # the target as a share of the squared gradient at the start, where it was given as one
    target_share: float | None = None
    warnings: tuple[str, ...] = ()  # about the input
    # where a file says the ratio of the two deviations, the standard error of its logarithm
    ratio_error: float | None = None
    draws: int = 4096
    # whether the deviations are of drawn labels, so that other numbers of groups and clients have others
    label_shift: bool = False
    # how clients came to their groups, where counts were searched for
    grouping: Literal["random", "chosen", "given"] | None = None
    # where counts are yet to be searched for, this scenario for every division into groups
    divisions: tuple[Scenario, ...] = ()
    # where they are, the ends of the range of each; all others are those of `known`
    choices: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    # of these, by letter, what the file had where an option gave the range
    replaced: Mapping[str, int] = field(default_factory=dict)
    availability: Availability | None = None  # who comes when asked; None where nobody said
    names: tuple[str, ...] = ("group", "client")  # of the children of every tier, top first
    topologies: tuple[str, ...] | None = None  # ids of those that are asked about; None for all of this depth
    pilot: Pilot | None = None  # what was measured in this fleet
    rates: Rates | None = None  # what devices, links and the grid take; None where nobody asked
    members: Members | None = None  # the fleet node by node, where it was listed and not all are alike
    listed: Listed | None = None  # the fleet client by client, where it was listed
    counts: str = ""  # name of the file of label counts that the deviations are of; "" for none
    # by key, the names of what was given though the pilot ran with its own
    beside_pilot: Mapping[str, str] = field(default_factory=dict)
    call: str = field(default="", compare=False, repr=False)  # of Python, that loaded it; empty where none did
    # of `hfl-plan recommend`, the options that say what Python said; empty where none can
    asked: tuple[str, ...] = field(default=(), compare=False, repr=False)

    @property
    def groups_are_free(self) -> bool:
        """Whether the number of groups is searched for."""
        return bool(self.divisions) and self.divisions[0].grouping != "given"

    @property
    def searched(self) -> str:
        """Which counts are searched for, as the subject of a sentence with its verb; empty where none is."""
        groups = ["the number of groups"] * self.groups_are_free
        every = groups + [f"{symbol} ({low} to {high})" for symbol, (low, high) in self.choices.items()]
        return f"{join(every)} {'is' if len(every) == 1 else 'are'}" if every else ""

    @property
    def settled_by(self) -> str:
        """What to give where counts are searched for and one of each is needed, as a sentence."""
        fleet = f" --clients {self.known['clients'].value}" if self.groups_are_free else ""
        groups = f"one number of groups, as in `--groups 2{fleet}`," * self.groups_are_free
        others = f"one number of {join(list(self.choices))}" if self.choices else ""
        given = " and ".join(filter(None, (groups, others))).removesuffix(",")
        return f"Give {given}, such as `hfl-plan recommend{fleet} ...` finds."

    @property
    def depth(self) -> int:
        """Number of tiers."""
        return len(self.names)

    @property
    def tier_names(self) -> tuple[str, ...]:
        """Names of the tiers, where the letters of trees that have not two stand for them; else none."""
        return self.names if self.depth != 2 and self.names != unnamed(self.depth) else ()

    def number(self, name: str) -> float:
        """Return the value of a quantity that is a number."""
        value = self.known[name].value
        assert isinstance(value, int | float), name  # noqa: S101 - by construction
        return value

    def assumed(self, names: Iterable[str]) -> str:
        """``name = value`` for those of the names that nobody gave; "" where all were."""
        told = [f"{n} = {self.known[n].value:.4g}" for n in names if self.known[n].origin == "default"]
        return ", ".join(told)

    def with_link(self, **change: Any) -> Scenario:
        """Return the same with another client link."""
        link = replace(self.network.client_link, **change)
        return replace(self, network=replace(self.network, links=(*self.network.links[:-1], link)))
