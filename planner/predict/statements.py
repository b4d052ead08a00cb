"""What a prediction says of itself, as parts of an answer: its record, and what becomes of rounds that fail."""

from __future__ import annotations

from planner.io.parts import Part, field
from planner.io.wording import percent


class Presence(Part):
    """What becomes of the global rounds of one topology where devices do not always come."""

    rounds_begun: float | None = field("expected rounds begun until the completed ones meet the target")
    groups: float | None = field("expected groups in a completed round")
    clients: float | None = field("expected clients in each group round of those")
    client: float = field("probability that a client that is asked completes its turn in time")
    cut_off: float = field("part of the turns that would be completed, and are too late")
    timeout: float | None = field("longest turn that is waited for, in seconds")


class ModelUncertainty(Part):
    """Third kind: whether rounds are what the predictor says, by its record in the measured scenarios most like this.

    By the metric of the question; docs/predictors.md has the whole record.
    """

    predictor: str
    scenarios: int = field("measured, nearest to this one")
    right: int = field("in which its first choice needed at most 2 % more rounds than the best")
    regret_median: float = field("relative excess of the rounds of its first choice over the fewest")
    regret_p90: float
    like: bool = field("whether they are like this one at all")
    p_best: dict[str, float] = field(
        "share of draws, of inputs and of errors like those measured, in which it is within 2 % of the best"
    )
    probability: float | None = field(
        "that the first choice is within 2 % of the best: its share, as such shares turned out on other problems",
        default=None,
    )


class RatesOnRecord(Part):
    """How near to the best learning rates were, on real data, of topologies with a ring by who knew as much."""

    near: int = field("within a factor 2 of the best")
    of: int

    def in_words(self, whence: str = "predicted") -> str:
        """Say it of rates that are predicted or measured."""
        return f"on record {percent(self.near / self.of)} of {whence} rates of rings were within 2x of the best"
