"""What a prediction says of itself, as parts of an answer: its record, and what becomes of rounds that fail."""

from __future__ import annotations

import math

from planner.io.parts import Part, field
from planner.io.wording import percent, times

OFF = 1.25  # times the rounds predicted that half of measured runs took: from there on it is said
WIDE = 5  # from a tenth to nine tenths: numbers of rounds that say little


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

    By the metric of the question; docs/predictors.md has the record.
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


class ScaleOnRecord(Part):
    """How many rounds networks on real data took to a loss, over those predicted where as much was known.

    Beyond a pilot's last round, to its metric: those of the reference over those that its curve, continued, tells.
    """

    low: float = field("a tenth of the cases took less")
    median: float
    high: float | None = field("a tenth of the cases took more; null where that is over 3 times, as far as all ran")
    of: int = field("cases: a setting, a topology and a target; beyond a pilot a setting and its noise")
    best_low: float = field("the same with a profile that says how the loss falls; of a pilot its own")
    best_high: float | None
    mixed: bool = field("whether other rounds were measured, by the pilot", default=False)
    beyond: str = field("what here is beyond all of these, so that rounds may be farther off", default="")

    @property
    def wide(self) -> bool:
        """Whether 80 % span more than `WIDE` times, or go as far."""
        return self.high is None or self.high > WIDE * min(self.low, 1.0)

    def in_words(self, so: str = "") -> str:
        """Say it of rounds that are predicted, and what follows of a time."""
        these = f"{times(self.low)} to {'over 3x' if self.high is None else times(self.high)}"
        shown = "marked ~" if self.mixed else "shown"
        half = f" (median {times(self.median)})" if abs(math.log(self.median)) > math.log(OFF) else ""
        said = f"80 % of measured runs took {these} the rounds {shown}{half}{so}"
        if self.beyond:
            return f"{said}, and none differed so much"
        narrower = (self.best_high or math.inf) / self.best_low < (self.high or math.inf) / self.low
        return f"{said}; a profile narrows that" if narrower else said


class StepsOnRecord(Part):
    """What other numbers of local steps and group rounds saved on real data, of the same topology and kind of split."""

    few: int = field("local steps that are compared: at present")
    more: int = field("in their place")
    few_group_rounds: int = field("group rounds that are compared: at present", default=1)
    more_group_rounds: int = field("in their place", default=1)
    predicted: float = field("rounds at present over those in their place")
    low: float = field("the same as measured: a tenth of the cases saved less")
    median: float
    high: float = field("a tenth of the cases saved more")
    problems: int = field(
        "that were run with 2 local steps, with 12 and 48, and with 4 and 12 group rounds; other numbers save in "
        "proportion of logarithms"
    )

    @property
    def change(self) -> str:
        """What is compared, in words; empty where both change, which no run did."""
        steps, rounds = self.more - self.few, self.more_group_rounds - self.few_group_rounds
        if steps and rounds:
            return ""
        return f"{'more' if steps + rounds > 0 else 'fewer'} {'local steps' if steps else 'group rounds'}"

    def in_words(self) -> str:
        """Say it of what is predicted."""
        fewer = f"{times(self.high)} fewer rounds"
        took = f"{times(self.low)} to {fewer}"
        if self.low < 1:
            most = f"{times(1 / self.low)} as many rounds"
            took = f"from {most} to {fewer}" if self.high > 1 else f"up to {most}"
        predicted = f"{times(self.predicted)} fewer" if self.predicted >= 1 else f"{times(1 / self.predicted)} as many"
        cases = f"{self.problems} problem{'s' * (self.problems != 1)}"
        runs = f"with {self.change} runs took" if self.change else "runs that changed K or P alone suggest"
        return f"{runs} {took}, {predicted} predicted ({cases})"


class RatesOnRecord(Part):
    """How near to the best learning rates were, on real data, of topologies with a ring by who knew as much."""

    near: int = field("within a factor 2 of the best")
    of: int

    def in_words(self, whence: str = "predicted") -> str:
        """Say it of rates that are predicted or measured."""
        return f"on record {percent(self.near / self.of)} of {whence} rates of rings were within 2x of the best"
