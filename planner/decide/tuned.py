"""What ``hfl-plan tune`` answers, as data: choices of topology, K and P, and learning rates to start at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from planner.io.answers import Quantity, Told
from planner.io.parts import Part, field
from planner.predict.statements import RatesOnRecord, ScaleOnRecord, StepsOnRecord
from planner.scenario.footprint import MORE

MOST_SAID = 0.99  # of a share that is predicted
SPENT: Mapping[str, str] = {
    "time": "time_seconds",
    "traffic": "traffic_bytes",
    **{aim: name for aim, (name, _, _) in MORE.items()},
}
"""Names of the fields of a row, by what they are amounts of."""


class Plan(Part):
    """One choice of topology, local steps and group rounds, to the common target."""

    id: str
    topology: str
    title: str
    local_steps: int = field("of a client in a group round: K")
    group_rounds: int = field("in a global round: P")
    rounds: Quantity = field("completed")
    rounds_begun: Quantity | None = field("expected until so many are completed; null where all come", default=None)
    time_seconds: Quantity
    traffic_bytes: Quantity
    round_seconds: float = field("of one global round")
    round_bytes: float
    energy_joules: Quantity | None = field("of devices and networks, as far as it is known", default=None)
    carbon_kg_co2e: Quantity | None = field("of that energy", default=None)
    money: Quantity | None = field("in the currency of the prices", default=None)
    given: bool = field("whether these are K and P of the scenario, with its best topology", default=False)
    recommended: bool = False
    toss_up: bool = field(
        "whether it cannot be told from the recommended one, others at their own best K and P, or as given",
        default=False,
    )
    ratio: Quantity | None = field(
        "in a toss-up that the recommended one leads, how many times what that takes of the objective; else null",
        default=None,
    )
    beside: bool = field("whether the verdict names it for what it saves of time or traffic", default=False)
    tie: int | None = field("on the front, those of one number cannot be told apart; null off it", default=None)
    within_budget: bool = True
    steps_in_a_round: int = field("local steps of a client in a global round: K times the passes of all tiers")
    rate_predicted: float | None = field("effective learning rate of the prediction", default=None)
    rate_predicted_raw: float | None = field("the same, of a local step", default=None)
    rate_bound: float | None = field("effective learning rate at which the bound is smallest", default=None)
    rate_bound_raw: float | None = field("the same, of a local step", default=None)
    bound_id: str = ""
    why: str = field("why a rate is null", default="")


class Start(Part):
    """Where to start a search for the learning rate of one topology."""

    chain: float = field("local steps that a round chains together: effective over raw rate")
    ratio: float = field("of its raw rate to that of the shortest chain, at one effective rate")
    rates: tuple[float, ...] = field("raw, to search")
    rate_predicted: float | None = None
    rate_predicted_raw: float | None = None
    rate_bound_raw: float | None = None


class Rates(Part):
    """Learning rates to search at the recommended K and P."""

    local_steps: int
    group_rounds: int
    effective: tuple[float, ...] = field("common to all topologies")
    topologies: dict[str, Start]
    on_record: RatesOnRecord | None = field("how near to the best such rates were; null without a record", default=None)


class Searched(Part):
    """How the choices were made."""

    predictor: str
    bounds: str
    cap: str | float
    resolution: float
    topologies: tuple[str, ...] = field("tried")
    local_steps: tuple[int, ...] = field("tried")
    group_rounds: tuple[int, ...] = field("tried")
    reached: int = field("choices that reach the target")
    budget_seconds: float | None = field("null for any", default=None)
    budget_bytes: float | None = field("null for any", default=None)
    budget_joules: float | None = field("null for any", default=None)
    budget_kg_co2e: float | None = field("null for any", default=None)
    budget_money: float | None = field("null for any", default=None)
    alike: tuple[str, ...] = field("other choices that take at most as much in both, up to the resolution")
    error: float | None = field(
        "of a predicted ratio of rounds: the median of near cases, else what a gain has to exceed"
    )
    near: bool = field("whether measured cases are near, which the error is of", default=True)
    passes: str = field("what the scenario calls group_rounds: P, or P3 of three tiers", default="P")
    most_steps_on_record: float | None = field(
        "local steps of a client in a global round that a measured run had at most; null for a guarantee", default=None
    )
    rates: Rates | None = field("null where no bound or predictor names one")
    steps_on_record: StepsOnRecord | None = field(
        "what more local steps saved; null where the topology changes too, and without a record", default=None
    )
    scale: ScaleOnRecord | None = field(
        "how far rounds to such a target were off; null where no record says, as for a target that rounds define",
        default=None,
    )


class Tuned(Told):
    """Choices of topology, local steps and group rounds.

    Attributes:
        rows: The present choice, a toss-up of topologies, and the choices of which none is better in both time and
            traffic, the fastest first.
        tune: How they were found.
    """

    schema: Literal["hfl-plan/tune/2"] = "hfl-plan/tune/2"
    rows: tuple[Plan, ...]
    tune: Searched
