"""The answer, as data: what ``--json`` prints and every report renders."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from planner.scenario import Origin
from planner.scenario_file import CostMethod, Objective

Level = Literal["tie", "weak", "fair"]
Text = Annotated[str, StringConstraints(max_length=2000)]


class Part(BaseModel):
    """A part of the answer; frozen, and without numbers that are not finite."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, validate_by_name=True, serialize_by_alias=True
    )


class KnownValue(Part):
    """A number or a word of the scenario, and who says so."""

    value: float | int | str | None
    origin: Origin
    unit: str = ""
    note: str = ""
    reading: str = Field("", description="the user's quantity in canonical spelling")


class Row(Part):
    """One topology."""

    topology: str
    rank: int
    tie: int = Field(description="topologies of one number cannot be told apart")
    bound_id: str
    value: float | None = Field(description="the tuned bound after R rounds, or after its own rounds")
    eta_eff: float | None = Field(description="effective learning rate the bound is tuned at")
    eta: float | None = Field(description="raw learning rate of a local step: where to start a search")
    rounds: int | None = Field(description="global rounds until the bound meets the target")
    seconds: float | None
    bytes: float | None
    terms: dict[str, float] = Field(description="the parts of `value`")
    p_best: float | None = Field(description="share of draws of the unknown constants in which it is best")
    seconds_per_round: float | None
    bytes_per_round: float | None
    dominant: str | None = Field(description="the largest term")
    cap_binds: bool = Field(description="whether a cap, and not the trade-off, decides the learning rate")
    beyond_own_cap: bool = Field(description="whether `eta_eff` exceeds the step condition that the theorem prints")
    why: str = Field("", description="why a number is null")


class Confidence(Part):
    """How far apart the first two stand, and in how many draws the first is first."""

    level: Level
    p_best: float | None
    margin: float | None = Field(description="relative excess of the first topology outside the first tie")


class Flip(Part):
    """The nearest value of one input, all others fixed, at which another topology comes first."""

    parameter: str
    from_: float | int | str = Field(alias="from")
    at: float | int | str
    to: str
    unit: str = ""
    exact: bool = Field(description="from a closed form, not from a search")


class Evidence(Part):
    """How often this predictor's order was the measured one."""

    kind: Literal["published", "measured"]
    where: str
    agrees: int
    of: int
    note: str = ""


class Division(Part):
    """A division of the fleet into groups of one size, with the best topology there."""

    groups: int
    clients_per_group: int
    zeta: float = Field(description="intra-group deviation after this division")
    delta: float = Field(description="inter-group deviation after this division")
    grouping: Literal["random", "chosen"] = Field(description="at random, in expectation; or by label counts")
    topology: str | None
    rounds: int | None
    seconds: float | None
    bytes: float | None
    tie: int = Field(description="divisions of one number cannot be told apart by the objective")
    why: str = Field("", description="why a number is null")


class Recommendation(Part):
    """A ranked, explained answer. ``hfl-plan schema`` prints its JSON Schema."""

    schema_: Literal["hfl-plan/recommendation/1"] = Field("hfl-plan/recommendation/1", alias="schema")
    version: str
    title: str
    scenario: dict[str, KnownValue]
    objective: Objective
    bounds: str
    constants: Literal["explicit", "hidden"]
    cap: str | float
    resolution: float
    cost: CostMethod
    seed: int
    ranking: tuple[Row, ...]
    recommended: tuple[str, ...]
    confidence: Confidence
    explanation: tuple[Text, ...]
    flips: tuple[Flip, ...]
    flips_searched: str = Field(description="which inputs were looked at, and how far")
    evidence: tuple[Evidence, ...]
    warnings: tuple[Text, ...]
    divisions: tuple[Division, ...] = Field((), description="what was searched, where only N clients were given")

    def to_json(self) -> dict[str, Any]:
        """As the contract has it: empty notes, units and readings are left out."""
        data = self.model_dump(mode="json")
        for known in data["scenario"].values():
            for key in ("unit", "note", "reading"):
                if not known[key]:
                    del known[key]
        for row in [*data["ranking"], *data["divisions"]]:
            if not row["why"]:
                del row["why"]
        if not data["divisions"]:
            del data["divisions"]
        return data
