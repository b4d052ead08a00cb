"""What ``hfl-plan recommend`` answers, as data: what ``--json`` prints and every report renders."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, Final, Literal

from planner.io.answers import Answer, Quantity, Rows, Text, Verdict, Waiting, Without
from planner.io.parts import Part, field
from planner.predict.statements import ModelUncertainty, Presence, RatesOnRecord, ScaleOnRecord
from planner.scenario.fields import CostMethod

SHARING: Final = "client_link.sharing"
RoundsFrom = Literal["measured", "predicted", "bound", "another quantity", "not run"]


class InCase(Part):
    """What a row takes where an unknown has one of its values."""

    value: str = field("of the unknown that `verdict.on` names")
    time_seconds: float | None
    ratio: Quantity | None = field("of its amount to that of the best row in this case", default=None)
    through: Quantity | None = field("the same of a baseline over slower links of servers", default=None)
    rank: int | None = None
    tie: int | None = field("topologies of one number cannot be told apart in this case", default=None)
    round_seconds: float | None = field("of one global round", default=None)
    energy_joules: Quantity | None = None
    carbon_kg_co2e: Quantity | None = None
    money: Quantity | None = None
    time_seconds_low: float | None = field("at the quick ends of ranges of links and compute", default=None)
    time_seconds_high: float | None = field("at their slow ends", default=None)
    p_complete: float | None = field("probability that a global round is completed", default=None)
    feasible: bool | None = None

    @property
    def time(self) -> Quantity | None:
        """The time with its ends, as a row has it."""
        if self.time_seconds is None:
            return None
        return Quantity(self.time_seconds, "predicted", self.time_seconds_low, self.time_seconds_high)


class Row(Part):
    """One topology, or a baseline without servers in between."""

    id: str
    title: str
    baseline: bool = field("whether it is no tree of these tiers; then it is not ranked", default=False)
    rank: int | None = None
    tie: int | None = field("topologies of one number cannot be told apart", default=None)
    rounds: Quantity | None = field("global rounds to the target")
    time_seconds: Quantity | None = field("low, high: at the ends of ranges of links and compute, where given")
    traffic_bytes: Quantity | None
    energy_joules: Quantity | None = field("of devices and networks, as far as it is known", default=None)
    carbon_kg_co2e: Quantity | None = field("of that energy", default=None)
    money: Quantity | None = field("in the currency of the prices", default=None)
    left_out: tuple[str, ...] = field("parts of the energy for which no number is known", default=())
    ratio: Quantity | None = field("of its amount of the objective to that of the best row", default=None)
    through: Quantity | None = field("the same of a baseline over slower links of servers", default=None)
    cases: tuple[InCase, ...] = field("by value of an unknown that decides, where there is one", default=())
    round_seconds: float | None = field("of one global round", default=None)
    round_bytes: float | None = None
    round_bytes_by_tier: tuple[float, ...] = field("top tier first", default=())
    rounds_from: RoundsFrom = "predicted"
    rounds_guaranteed: float | None = field("until the bound is at the target", default=None)
    rate_predicted: float | None = field("effective learning rate of the prediction", default=None)
    rate_predicted_raw: float | None = field("the same, of a local step", default=None)
    rate_bound: float | None = field("effective learning rate at which the bound is smallest", default=None)
    rate_bound_raw: float | None = field("the same, of a local step", default=None)
    bound_id: str | None = field("null where no bound covers this topology", default=None)
    bound_value: float | None = field("the tuned bound after the rounds of the target, or its own", default=None)
    terms: dict[str, float] = field("the parts of `bound_value`", default_factory=dict)
    dominant_term: str | None = None
    cap_binds: bool = field("whether a cap, and not the trade-off, decides the rate of the bound", default=False)
    beyond_own_cap: bool = field("whether that rate exceeds the step condition that the theorem prints", default=False)
    p_best: float | None = field(
        "share of draws, of inputs and the predictor's errors, in which it is within 2 % of the best; of inputs alone "
        "without a record",
        default=None,
    )
    p_complete: float | None = field("probability that a global round is completed", default=None)
    feasible: bool | None = field("whether rounds are completed often enough to plan with", default=None)
    participation: Presence | None = None
    why: str = field("why a number is null", default="")


class Division(Part):
    """A division of the fleet into groups, or one value of a count searched: with the best that was found there."""

    groups: int
    clients_per_group: int = field("in the mean, rounded, where groups differ by one client")
    group_rounds: int
    local_steps: int
    groups_per_round: int
    clients_per_round: int = field("of the largest group, where everyone takes part")
    zeta: float = field("intra-group deviation after this division")
    delta: float = field("inter-group deviation after this division")
    grouping: Literal["random", "chosen", "given"] = field("at random, in expectation; by label counts; or as given")
    best: str | None
    rounds: int | None
    time_seconds: float | None
    traffic_bytes: float | None
    tie: int = field("those of one number cannot be told apart by the objective")
    why: str = field("why a number is null", default="")


class Other(Part):
    """A method that is about another quantity or another network, and so is no row."""

    id: str
    title: str
    rounds: int | None = None
    rounds_from: RoundsFrom = "not run"
    time_seconds: float | None = None
    traffic_bytes: float | None = None
    round_seconds: float | None = None
    why: str = field("why it is not comparable or a number is null", default="")
    argv: tuple[str, ...] = field("of the command that answers for it", default=())


class Corrected(Part):
    """Stars with gradient correction, where a second vector can be sent with every model: at best, and not ranked."""

    id: str
    bound_id: str = field("a printed order of its rounds, without constants; no deviation enters it")
    vectors: int = field("of a model's size in every transfer")
    rounds: int = field("global rounds that clients which are alike would take: the correction at best")
    time_seconds: float
    traffic_bytes: float
    round_seconds: float
    round_bytes: float
    rounds_from: Text = field("where `rounds` comes from")


class Estimate(Part):
    """A number from draws."""

    value: float
    error: float = field("standard error, from independent blocks of draws; at least one draw's share")


class Index(Part):
    """A share of a variance, with its 95 % interval."""

    value: float
    low: float
    high: float


class Alone(Part):
    """One input moved from its low to its high, all others at their middle."""

    margin_low: float = field("log of the best other topology's objective over the first's, at low")
    margin_high: float
    swing: float = field("largest less smallest margin on the way")
    first_low: str | None
    first_high: str | None
    changes: bool = field("whether another topology is the best anywhere on the way")


class Drawn(Part):
    """Something that is not known exactly."""

    name: str
    kind: Literal["given", "measured", "assumed"] = field(
        "limits from the user, an error from a file, or a factor around an assumption"
    )
    distribution: Literal["log-uniform", "lognormal"]
    middle: float
    low: float = field("the end, or the 5 % quantile of a lognormal")
    high: float = field("the end, or the 95 % quantile of a lognormal")
    unit: str
    explains: Index | None = field("total Sobol index of the log margin; null where it does not vary")
    alone: Alone | None = field("null where all topologies take the same")


class Regret(Part):
    """What following the recommendation costs: relative excess of its objective over the best of each draw."""

    of: str
    mean: Estimate | None = field("null where it reaches no target in some draws, and another does")
    p90: Estimate | None = field("90th percentile; null where that is such a draw")
    lost: float = field("share of draws in which it does not reach the target and another does")


class InputUncertainty(Part):
    """First kind: what the answer was told, and what nobody told it."""

    draws: int
    drawn: tuple[Drawn, ...]
    p_best: dict[str, Estimate]
    regret: Regret
    unanswered: float = field("share of draws in which no topology reaches the target")
    said: tuple[Text, ...] = field("what to measure next, and what was left out")


class ConstantSet(Part):
    """The answer under one family of bounds that holds in this scenario."""

    bounds: str
    constants: Literal["explicit", "hidden", ""]
    cap: str | float
    first: tuple[str, ...] = field("the first tie group; empty where none reaches the target")
    order: tuple[str, ...] = field("best first; those that do not reach the target are left out")


class ConstantUncertainty(Part):
    """Second kind: the constants of the analysis, which other proofs of the same order choose otherwise."""

    sets: tuple[ConstantSet, ...]
    topology: str
    first_in: int = field("sets in whose first tie group `topology` is")
    of: int = field("sets under which a topology reaches the target")


class Uncertainty(Part):
    """How sure, in three kinds that are kept apart; the record's `p_best` joins the first and the third."""

    inputs: InputUncertainty
    constants: ConstantUncertainty
    model: ModelUncertainty | None = field("null for a predictor or a metric that has no record", default=None)


class OnNetwork(Part):
    """What decides a round of the best topology on a network."""

    network: str
    notes: tuple[Text, ...] = field("what was measured, and what was filled in")
    topology: str
    server: str = field("place of the top server")
    group_servers: dict[str, str] = field("place of each group's server")
    waits: tuple[Waiting, ...]
    without: tuple[Without, ...]


class Working(Part):
    """How a recommendation was made."""

    predictor: str = field("whose rounds these are")
    quantity: str = field("what the target is a number of")
    bounds: str = field("family of the guarantees; empty where none is about this quantity")
    constants: Literal["explicit", "hidden", ""]
    cap: str | float
    resolution: float = field("relative difference below which topologies tie")
    cost: CostMethod = field("how a round is timed")
    seed: int
    flips_searched: str = field("which inputs were looked at for break-even points, and how far", default="")
    rates_on_record: RatesOnRecord | None = field(
        "how near to the best predicted or measured rates were; null without a record", default=None
    )
    scale: ScaleOnRecord | None = field(
        "how far rounds to a loss that was given were off; null for other targets, and without a record", default=None
    )
    notes: tuple[Text, ...] = field("about the prediction and participation", default=())
    uncertainty: Uncertainty | None = field("null where no draws were asked for", default=None)
    others: tuple[Other, ...] = ()
    waits: tuple[Waiting, ...] = field(
        "what a round of the best topology waits for; worked out where links are asked for", default=()
    )
    corrected: Corrected | None = field("null where nothing can be corrected, or not all take part", default=None)
    divisions: tuple[Division, ...] = field("by number of groups, where counts were searched", default=())
    in_place_of: str = field("counts of the file that ranges took the place of, and what they take", default="")
    choices: dict[str, tuple[Division, ...]] = field("by value of each other count searched", default_factory=dict)
    network: OnNetwork | None = field("null where no network was given", default=None)


class Recommendation(Answer):
    """A ranked, explained choice of topology. ``hfl-plan schema recommend`` prints its JSON Schema.

    Attributes:
        rows: Topologies, best first, and then the baselines.
        recommend: How the answer was made.
    """

    schema: Literal["hfl-plan/recommend/2"] = "hfl-plan/recommend/2"
    rows: tuple[Row, ...]
    recommend: Working

    @property
    def ranking(self) -> tuple[Row, ...]:
        """The rows of topologies, best first, without the baselines."""
        return tuple(row for row in self.rows if not row.baseline)

    @property
    def open_cases(self) -> tuple[str, ...]:
        """The values of link sharing, where the verdict depends on it; else none."""
        open_ = any(one.on == SHARING for one in (self.verdict, *self.verdict.cases))
        return tuple(case.value for case in self.rows[0].cases) if open_ else ()

    def records(self) -> list[dict[str, Any]]:
        """Return what ``--format csv`` writes: each row, and where link sharing decides each row in each ``case``."""
        lines = [(value, row) for value in self.open_cases for row in _in_case(self.rows, value, self.open_cases[0])]
        if not lines:
            return super().records()
        found = Rows(row for _, row in lines).records()
        return [{"case": value, **record} for (value, _), record in zip(lines, found, strict=True)]

    @property
    def recommended(self) -> tuple[str, ...]:
        """The topologies that cannot be told from the best by the objective.

        Where the verdict depends on something, those of its first case: `recommended_by_case` has all.
        """
        return tuple(row.id for row in self.ranking if row.tie == 1)

    @property
    def recommended_by_case(self) -> dict[str, tuple[str, ...]]:
        """The topologies that cannot be told from the best, by case of the verdict.

        Keys are as in ``time, per-client``; the only one is empty where the verdict depends on nothing.
        """
        return dict(_by_case(self.verdict))


def _by_case(verdict: Verdict, above: str = "") -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the best rows of each innermost case, with the values that lead to it."""
    if not verdict.cases:
        yield above, verdict.best
    for case in verdict.cases:
        yield from _by_case(case, f"{above}, {case.value}".removeprefix(", "))


def _in_case(rows: Sequence[Row], value: str, taken: str) -> list[Row]:
    """Return the rows as they are in a case, best first; the draws of `p_best` are those of the case taken."""
    found = []
    for row in rows:
        case = next(one for one in row.cases if one.value == value)
        left = ("value", "time_seconds_low", "time_seconds_high")
        known = {name: number for name, number in case.__dict__.items() if name not in left}
        known |= {"time_seconds": case.time, "p_best": row.p_best if value == taken else None}
        found.append(row.replaced(**known))
    return sorted(found, key=lambda row: math.inf if row.rank is None else row.rank)
