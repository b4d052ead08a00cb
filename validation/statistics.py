"""What runs can tell: paired differences with intervals, three verdicts, rank agreement, and the best rate of a grid.

Smaller is better throughout. A run that diverged is infinite: it is counted, ranked last and never dropped.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from validation.engine import ValidationError

Array = NDArray[np.float64]
Values = Sequence[float] | Array
Comparison = Literal["smaller", "larger", "tie", "cannot tell"]
Verdict = Literal["holds", "fails", "cannot tell"]
Prediction = Literal["smaller", "larger", "tie", "not larger", "agrees"]
MARGIN = 0.02  # ratios closer to 1 than this are ties: below what a grid of rates can resolve
CHANCE = 0.1  # rank agreements closer to 0 than this are no better than guessing
LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate and its confidence interval.

    Attributes:
        estimate: the value.
        low: lower end; may be infinite.
        high: upper end; may be infinite.
        count: how many independent values it stands on.
    """

    estimate: float
    low: float
    high: float
    count: int

    def __str__(self) -> str:
        return f"{self.estimate:.3g} [{self.low:.3g}, {self.high:.3g}]"


@dataclass(frozen=True, slots=True)
class Best:
    """The best rate of a grid.

    Attributes:
        index: of the rate.
        rate: the rate.
        inside: whether it is neither the first nor the last that did not diverge for want of others.
        value: mean of the quantity there.
    """

    index: int
    rate: float
    inside: bool
    value: float


def paired_ratio(numerator: Values, denominator: Values, level: float = LEVEL) -> Interval:
    """The geometric mean of the ratios of pairs, with Student's interval for the logarithms.

    Args:
        numerator: positive values, one per seed; infinite where a run diverged.
        denominator: of the same seeds.
        level: of the interval.

    Returns:
        the interval of the ratio. Where only numerators diverged the estimate and the upper end are infinite, and
        the lower end is 0 unless at least half of them did; the mirror image for denominators; where both
        did, anything is possible.

    Raises:
        ValidationError: if there are fewer than two pairs, or values are not positive.
    """
    a, b = np.asarray(numerator, dtype=float), np.asarray(denominator, dtype=float)
    if a.shape != b.shape or a.ndim != 1 or len(a) < 2:
        raise ValidationError(f"{a.shape} and {b.shape} values are not pairs: at least two are needed.")
    if not (np.all(a > 0) and np.all(b > 0)):
        raise ValidationError("a ratio needs positive values: shift or choose another quantity.")
    over, under = np.isinf(a), np.isinf(b)
    if over.any() and under.any():
        return Interval(math.nan, 0.0, math.inf, len(a))
    if over.any():
        return Interval(math.inf, math.inf if over.mean() >= 0.5 else 0.0, math.inf, len(a))
    if under.any():
        return Interval(0.0, 0.0, 0.0 if under.mean() >= 0.5 else math.inf, len(a))
    logs = np.log(a) - np.log(b)
    half = student_quantile(level, len(logs) - 1) * float(logs.std(ddof=1)) / math.sqrt(len(logs))
    mean = float(logs.mean())
    return Interval(math.exp(mean), math.exp(mean - half), math.exp(mean + half), len(a))


def compare(ratio: Interval, margin: float = MARGIN) -> Comparison:
    """Whether a ratio is below 1, above 1, next to it, or not known.

    A tie is an interval within the margin; an interval that reaches beyond the margin and contains 1 tells nothing.
    """
    if ratio.low >= 1 - margin and ratio.high <= 1 + margin:
        return "tie"
    if ratio.high < 1:
        return "smaller"
    return "larger" if ratio.low > 1 else "cannot tell"


def by_ratio(ratio: float) -> Prediction:
    """Which of two forecasts is smaller, from their ratio, where they differ by more than the margin; 0/0 is a tie."""
    return "smaller" if ratio < 1 - MARGIN else "larger" if ratio > 1 + MARGIN else "tie"


def judge(ratio: Interval, predicted: Prediction, margin: float = MARGIN) -> Verdict:
    """Whether runs agree with a prediction; ``not larger`` also agrees with a tie."""
    found = compare(ratio, margin)
    if found == "cannot tell":
        return "cannot tell"
    agrees = found in ("smaller", "tie") if predicted == "not larger" else found == predicted
    return "holds" if agrees else "fails"


def judge_agreement(tau: Interval) -> Verdict:
    """Whether a predicted order agrees with the runs: tau is above 0, or is not, or cannot be told."""
    if tau.low > 0 and tau.high > CHANCE:
        return "holds"
    return "fails" if tau.high <= CHANCE else "cannot tell"


def best_rate(rates: Sequence[float], values: Array) -> Best:
    """The rate with the smallest geometric mean over seeds.

    Args:
        rates: increasing.
        values: of shape (rates, seeds).

    Raises:
        ValidationError: if the shapes disagree, or every rate diverged.
    """
    if values.ndim != 2 or len(rates) != len(values) or not len(rates):
        raise ValidationError(f"{len(rates)} rates and values of shape {values.shape} do not fit.")
    with np.errstate(divide="ignore"):
        mean = np.log(values).mean(axis=1)
    if not np.isfinite(mean).any():
        raise ValidationError("every learning rate of the grid diverged: the grid must reach to smaller ones.")
    index = int(np.nanargmin(np.where(np.isnan(mean), math.inf, mean)))
    return Best(index, rates[index], 0 < index < len(rates) - 1, math.exp(mean[index]))


def pooled_kendall(
    predicted: Sequence[Sequence[float]],
    measured: Sequence[Array],
    draws: int = 2000,
) -> Interval:
    """The mean of Kendall's tau-b over scenarios, with a bootstrap interval over scenarios and seeds.

    Args:
        predicted: for every scenario, a score per item.
        measured: for every scenario, values of shape (items, seeds).
        draws: bootstrap samples.

    Returns:
        the interval; a scenario in which one side is one large tie counts as 0, no better than guessing.

    Raises:
        ValidationError: if there are no scenarios, or not as many on both sides.
    """
    if not measured or len(predicted) != len(measured):
        raise ValidationError(f"{len(predicted)} predictions and {len(measured)} measurements are not pairs.")
    with np.errstate(divide="ignore"):
        logs = [np.log(values) for values in measured]

    def tau(scores: Sequence[float], values: Array) -> float:
        found = tau_b(scores, values.mean(axis=1))
        return 0.0 if math.isnan(found) else found

    rng = np.random.default_rng(0)
    inner = 50  # samples of the seeds of a scenario; whole scenarios are drawn among them
    sampled = np.array(
        [
            [tau(scores, x[:, rng.integers(0, x.shape[1], x.shape[1])]) for _ in range(inner)]
            for scores, x in zip(predicted, logs, strict=True)
        ]
    )
    count = len(logs)
    means = sampled[rng.integers(0, count, (draws, count)), rng.integers(0, inner, (draws, count))].mean(axis=1)
    low, high = np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    middle = float(np.mean([tau(scores, x) for scores, x in zip(predicted, logs, strict=True)]))
    return Interval(middle, min(float(low), middle), max(float(high), middle), count)


def tau_b(left: Sequence[float], right: Sequence[float]) -> float:
    """Kendall's tau-b; nan where one side has only ties."""
    concordant = tied_left = tied_right = pairs = 0
    for i, j in combinations(range(len(left)), 2):
        a, b = _sign(left[i], left[j]), _sign(right[i], right[j])
        concordant += a * b
        tied_left += a == 0
        tied_right += b == 0
        pairs += 1
    scale = math.sqrt((pairs - tied_left) * (pairs - tied_right))
    return concordant / scale if scale else math.nan


def regret(measured: Sequence[float], chosen: int) -> float:
    """How much larger the chosen item's value is than the best one's, as a ratio minus 1."""
    return measured[chosen] / min(measured) - 1


def _sign(a: float, b: float) -> int:
    return int(a > b) - int(a < b)


def student_quantile(level: float, freedom: int) -> float:
    """Quantile of Student's distribution for a two-sided interval."""
    from scipy.stats import t

    return float(t.ppf((1 + level) / 2, freedom))
