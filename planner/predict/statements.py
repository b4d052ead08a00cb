"""What a prediction says of itself, as parts of an answer: its record, and what becomes of rounds that fail."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from planner.io.json_documents import Part


class Presence(Part):
    """What becomes of the global rounds of one topology where devices do not always come."""

    rounds_begun: float | None = Field(description="expected rounds begun until the completed ones meet the target")
    groups: float | None = Field(description="expected groups in a completed round")
    clients: float | None = Field(description="expected clients in each group round of those")
    client: float = Field(description="probability that a client that is asked completes its turn in time")
    cut_off: float = Field(description="part of the turns that would be completed, and are too late")
    timeout: float | None = Field(description="longest turn that is waited for, in seconds")


class Evidence(Part):
    """How often this predictor's order was the measured one."""

    kind: Literal["published", "measured"]
    where: str
    agrees: int
    of: int
    note: str = ""
    regret_median: float | None = Field(None, description="of following the first choice, in rounds")
    regret_p90: float | None = None


class ModelUncertainty(Part):
    """Third kind: whether rounds are what the predictor says, by its record in the measured scenarios most like this.

    Scenarios of controlled problems, by the mean squared gradient; docs/predictors.md has the whole record.
    """

    predictor: str
    scenarios: int = Field(description="measured, nearest to this one")
    right: int = Field(description="in which its first choice needed at most 2 % more rounds than the best")
    regret_median: float = Field(description="relative excess of the rounds of its first choice over the fewest")
    regret_p90: float
    like: bool = Field(description="whether they are like this one at all")
    p_best: dict[str, float] = Field(
        description="share of draws, of inputs and of errors like those measured, in which it is within 2 % of the best"
    )
