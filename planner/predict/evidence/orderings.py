"""How often the order a bound predicts was the order that was measured.

An order of upper bounds is not an order of performance; these are the records there are. ``published`` is the
camera ready's Table 2, test accuracies of single runs. ``measured`` is this project's own experiment,
benchmarks/order_by_regime.py, on small problems with known constants; see docs/evidence/README.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import product

import numpy as np

from planner.data import heterogeneity
from planner.io.answers import Evidence
from planner.predict import memory
from planner.predict.evidence import predictor_record, rows_of, table
from planner.predict.predictors import RECORD
from planner.predict.predictors.piloted import Piloted
from planner.predict.question import Question
from planner.predict.statements import ModelUncertainty, RatesOnRecord, ScaleOnRecord, StepsOnRecord
from planner.scenario.resolve import Scenario

SETTING = {"G": 10.0, "M": 10.0, "P": 1.0, "K": 2.0, "S1": 10.0, "S2": 10.0, "R": 5000.0}  # of Table 2
MEASURED = {"loss": "docs/evidence/measured_losses.csv", "gradient": "planner/data/measured_orders_kept.csv"}
REAL = "real_record{}.csv"  # with `predictor_record.MANY` in it, or without
SCALE = "scale_record.csv"
BEYOND = "beyond_record.csv"  # of pilots of 4, 8 and 16 rounds
ROWS_BEYOND = 20  # of a number of times further that tell something
STEPS = "steps_record.csv"
FEWEST = 3  # problems of a row of it that tell something
NEARLY = 1.05  # beyond what runs had by so little that they tell of it
KINDS = ("IID", "Non-IID")
UNEQUAL = (
    "No run on record had groups of unequal sizes. In six races of such rounds were off by {0:g}x in the median, {1:g}"
    "x at most (docs/predictors.md). Ring-Ring was furthest off: slower, where a group had half of the clients."
)
PARTITION = dict(zip(product(KINDS, KINDS), ("iid", "intra", "inter", "both"), strict=True))


@dataclass(frozen=True, slots=True)
class Regime:
    """One measured pair of topologies on one problem at one heterogeneity."""

    ring: str  # the topology with one more ring, which has the smaller bound
    star: str  # the other
    zeta: float  # in units of sigma
    delta: float  # in units of sigma
    ratio: float  # mean squared gradient of ``ring`` over that of ``star``, each at its own best step
    verdict: str  # ``ring better``, ``ring worse``, ``tie`` or ``cannot tell``


def published(question: Question) -> Evidence:
    """In how many rows of Table 2 the measured order is exactly the one that this predictor predicts there.

    The table's partitions are read as the presets; at its setting families with rounded sums predict one order for all
    of them, so that for these it is a check of one order more than of a model.
    """
    kinds = tuple(dict.fromkeys(PARTITION.values()))
    usual, presets = heterogeneity.PROBLEM, heterogeneity.PRESETS
    split = {
        n: usual["sigma"] * np.array([presets[kind][i] for kind in kinds]) for i, n in enumerate(("zeta", "delta"))
    }
    # 5000 rounds; the four SST-2 rows were run for 1000.
    fixed = {**SETTING, **{name: usual[name] for name in ("L", "A", "sigma")}}
    rounds = fixed.pop("R")
    one = {**fixed, **{name: float(values[0]) for name, values in split.items()}}
    there = question.varied(values=one, target=None, share=None, horizon=rounds, availability=None, members=None)
    there = there.varied(divided=None, in_sigmas=(), slowdowns=())
    names, rows = tuple(question.topologies), table("table2.csv")
    key = memory.key_of(there, split)
    if (known := memory.remembered(key)) is None:
        values = np.stack([np.asarray(there.predictor.reached(there, t, rounds, fixed | split)) for t in names])
        predicted = {kind: [names[i] for i in np.argsort(values[:, k], kind="stable")] for k, kind in enumerate(kinds)}
        orders = [sorted(names, key=lambda t: -float(row[t])) for row in rows]
        each = zip(rows, orders, strict=True)
        known = {"right": sum(predicted[PARTITION[row["inter"], row["intra"]]] == one for row, one in each)}
        memory.keep(key, known)
    note = "rows whose whole order is the predicted one, by test accuracy of single runs, G = M = 10, P = 1, K = 2"
    return Evidence(dataset="zhou2026 Table 2", right=known["right"], of=len(rows), note=note)


def records(question: Question, scenario: Scenario, agreement: ModelUncertainty | None) -> list[Evidence]:
    """What was published, and what was measured nearest to this question; nothing where there is nothing to order."""
    whose = question.predictor
    if whose.measured or len(question.topologies) < 2:
        return []
    if not predictor_record.covers(question):
        return of_deeper_trees(question, scenario)
    # A predictor that runs something for each question says nothing of the table's.
    found = [] if scenario.partial or whose.shows_progress else [published(question)]
    if agreement is not None:
        like = "nearest to yours" if agreement.like else "nearest to yours, though none is close"
        found.append(
            Evidence.made_of(
                agreement,
                dataset=f"planner/data/{predictor_record.file_of(predictor_record.name_of(question))}",
                of=agreement.scenarios,
                nearest=True,
                metric=question.metric,
                note=f"at most 2 % from the best, in the measured scenarios {like}; by {question.metric}",
                far=not agreement.like,
                until=predictor_record.until(question),
                weak=_weak(question),
            )
        )
    elif not question.predictor.guarantees:
        found += by_metric(question)
    elif not scenario.partial:
        found.append(measured(question))
    return [*on_real_data(question, scenario), *found, *([] if scenario.partial else on_digits(question))]


TOLD = {
    "profile": "a profile was known",
    "fading": "a profile with how deviations fade was known",
    "labels": "label counts were known",
    "kind": "the kind of split alone was known",
    "pilot": "a pilot of 8 rounds was run",
}


def _told(question: Question, scenario: Scenario) -> str:
    """How much is known of heterogeneity: a key of `TOLD`."""
    if question.predictor.measured:
        return "pilot"
    if scenario.known[question.symbols[-1].deviation].origin in ("given", "estimated"):
        return "profile" if question.fading is None else "fading"  # given constants are like measured ones
    return "kind" if scenario.ratio_error is None else "labels"


def _on_real_data(question: Question, predictor: str, **asked: str) -> list[dict[str, str]]:
    """First choices of a predictor on real data by this metric, of runs with about as many local steps in a round."""
    file = REAL.format(predictor_record.of_many_steps(question))
    return rows_of(file, predictor=predictor, metric=question.metric, **asked)


def of_pilots(question: Question) -> str:
    """Say how often pilots were right by this metric."""
    (row,) = _on_real_data(question, "pilot", scheme="all")
    return (
        f"Pilots of 8 rounds were right in {row['right']} of {row['rows']} cases on real data by {question.metric}. No "
        "confidence exceeds how often such shares of draws were right there."
    )


def of_scale(question: Question, scenario: Scenario) -> ScaleOnRecord | None:
    """How far rounds to a loss that was given were off where who asked knew as much; None for other questions."""
    by_loss = question.metric == "loss" and question.scatter > 0 and question.depth == 2
    if question.predictor.measured and question.target is not None:
        return _beyond_a_pilot(question)
    if not by_loss or scenario.known["target"].origin != "given":
        return None
    of = partial(rows_of, SCALE, predictor=question.predictor.id)
    if not of():
        return None
    told = {"fading": "profile"}.get(known := _told(question, scenario), known)
    if told == "profile" and scenario.known["L"].origin == "default":
        told = "labels"
    told = "decay" if told == "profile" and question.decay is not None else told
    everything, *few = of(told=told)
    rounds = float(question.rounds()[question.reference])
    row = next((row for row in few if rounds <= float(row["until"])), everything)
    best = row if told == "decay" else of(told="decay")[0]
    return ScaleOnRecord(
        low=float(row["low"]),
        median=float(row["median"]),
        high=float(row["high"]),
        of=int(row["rows"]),
        best_low=float(best["low"]),
        best_high=float(best["high"]),
        beyond=predictor_record.differ_more(question),
    )


def _beyond_a_pilot(question: Question) -> ScaleOnRecord | None:
    """How far rounds as many times further than a pilot as long, or shorter, were off.

    Their logarithms are interpolated by that of how far they are, and grow with it beyond the record.
    """
    predictor = question.predictor
    if not isinstance(predictor, Piloted) or not 1 + 1e-9 < (far := predictor.extrapolated(question)) < math.inf:
        return None
    every = [row for row in rows_of(BEYOND, metric=question.metric) if int(row["rows"]) >= ROWS_BEYOND]
    lengths = sorted({int(row["raced"]) for row in every})
    raced = [n for n in lengths if n <= predictor.pilot.rounds or n == lengths[0]][-1]
    rows = [row for row in every if int(row["raced"]) == raced]
    row = [row for row in rows if float(row["times"]) <= far][-1]
    low, median, high = (_off(rows, name, far) for name in ("low", "median", "high"))
    known = None if math.isinf(high) else high
    mixed = any(question.predictor.raced(question, topology) for topology in question.topologies)
    of = int(row["rows"])
    return ScaleOnRecord(low=low, median=median, high=known, of=of, best_low=low, best_high=known, mixed=mixed)


def _off(rows: Sequence[Mapping[str, str]], name: str, far: float) -> float:
    """A quantile between those of two numbers of times further; beyond the last that is known it grows as a power."""
    known = [(math.log(float(row["times"])), float(row[name])) for row in rows]
    at, (below, number) = math.log(far), [pair for pair in known if pair[0] <= math.log(far)][-1]
    above, other = next((pair for pair in known if pair[0] > at), (math.inf, math.inf))
    if math.isfinite(other):
        share = (at - below) / (above - below)
        return float(number ** (1 - share) * other**share)
    return float(number ** (at / below)) if below else number


def of_steps(
    question: Question, scenario: Scenario, topology: str, plans: tuple[Mapping[str, int], Mapping[str, int]],
    predicted: float,
) -> StepsOnRecord | None:  # fmt: skip
    """What another K and P in place of few saved on record, where so much was predicted; None without a record.

    No run moved both: medians of their logarithms add up there, and how far they vary as if neither knew of the other.
    """
    few, more = plans
    if question.scatter == 0 or question.depth != 2 or question.metric != "loss":
        return None
    if max(math.prod(plan.values()) for plan in plans) > predictor_record.most_steps(question):
        return None
    told = "profile" if _told(question, scenario) in ("profile", "fading") else "kind"
    like = {"predictor": question.predictor.id, "told": told, "scheme": _split(question), "topology": topology}
    median, under, over, problems = math.log(predicted), 0.0, 0.0, []
    for symbol, other in (("K", "P"), ("P", "K")):
        if few[symbol] == more[symbol]:
            continue
        alone = {other: str(min(int(row[other]) for row in table(STEPS)))}  # one was moved in runs, never both
        rows = [row for row in rows_of(STEPS, **alone, **like) if int(row["problems"]) >= FEWEST]
        on_record, most = [int(row[symbol]) for row in rows], max(few[symbol], more[symbol])
        if not rows or most > NEARLY * on_record[-1]:
            return None
        by, at = math.log(more[symbol] / few[symbol]), np.log(on_record)
        ends = (np.interp(math.log(most), at, [float(row[name]) for row in rows]) for name in ("low", "median", "high"))
        low, middle, high = sorted(by * float(end) for end in ends)
        median, under, over = median + middle, math.hypot(under, middle - low), math.hypot(over, high - middle)
        problems += [int(row["problems"]) for row in rows]
    if not problems:
        return None
    return StepsOnRecord(
        few=few["K"], more=more["K"], few_group_rounds=few["P"], more_group_rounds=more["P"],
        predicted=predicted, problems=min(problems),
        low=math.exp(median - under), median=math.exp(median), high=math.exp(median + over),
    )  # fmt: skip


def of_rates(question: Question, scenario: Scenario) -> RatesOnRecord | None:
    """How near to the best its learning rates were where who asked knew as much; None where that is not on record."""
    if question.scatter == 0 and not question.predictor.measured:  # those on record are of networks
        return None
    told = _told(question, scenario)
    if told in ("profile", "fading") and scenario.known["L"].origin == "default":  # a rate is one over L
        told = "labels"
    if question.depth == 2:
        rows = _on_real_data(question, question.predictor.id, told=told, scheme="all")
        row: Mapping[str, str] | None = rows[0] if rows else None
    else:
        row = predictor_record.of_depth(question).get(told)
    return None if row is None else RatesOnRecord(near=int(row["rates_near"]), of=int(row["rates"]))


def of_deeper_trees(question: Question, scenario: Scenario) -> list[Evidence]:
    """First choices of this predictor on trees of as many tiers on real data, by who knew as much."""
    told = _told(question, scenario)
    if (row := predictor_record.of_depth(question).get(told)) is None:
        return []
    where = f"by rounds, {row['settings']} races of {row['tiers']} tiers"
    note = f"docs/real-data.md: real data, fixed order, by {question.metric}, where {TOLD[told]}"
    return [_first_choices(row, where, note).replaced(metric=question.metric, weak=_weak(question))]


def _weak(question: Question) -> str:
    """Say what of a question is beyond every measured run; else empty."""
    if predictor_record.beyond(question):
        most, own = predictor_record.most_steps(question), predictor_record.steps_in_a_round(question)
        return f"no measured run had {own:,} local steps in a round, {most:g} at most"
    of = predictor_record
    return of.beyond_sizes(question) or of.differ_more(question) or of.too_far(question)


def on_real_data(question: Question, scenario: Scenario) -> list[Evidence]:
    """First choices of this predictor on images and letters, of splits like this and by who knew as much."""
    told, split = _told(question, scenario), _split(question)
    note = f"docs/real-data.md: settings kept back, split like {split}, by {question.metric}, where {TOLD[told]}"
    return [
        _first_choices(row, f"rows of {row['settings']} settings on real data", note).replaced(metric=question.metric)
        for row in _on_real_data(question, question.predictor.id, told=told, scheme=split)
    ]


def _split(question: Question) -> str:
    """The preset that the deviations are nearest to, by ratios to the noise."""
    kind = int(predictor_record.kind(question.values))
    return PARTITION[KINDS[kind >= 2], KINDS[kind % 2]]


def not_covered(question: Question) -> list[str]:
    """Say that no record has errors of such predictions, where none has, and which lead is named a winner then."""
    covered, factor = predictor_record.covers(question), predictor_record.unproven_factor(question)
    if question.predictor.measured or predictor_record.of(question) is not None or (covered and factor == 1):
        return []
    if predictor_record.of_depth(question):
        lead = f"A lead of less than {factor:.2g}x is a toss-up. " * (len(question.topologies) > 1)
        return [
            f"{lead}In races of {question.depth} tiers nine of ten ratios of two topologies were predicted within "
            f"{'that factor' if lead else f'a factor {factor:.2g}'}."
        ]
    tiers = f"{question.depth} tier{'s' if question.depth > 1 else ''}"
    lacks = f"No run on record had such trees ({tiers})"
    if factor == 1:
        return [f"{lacks}: how often predictions for them are right is unknown."]
    if covered:
        lacks = f"No record has errors of the predictor {question.predictor.id} by {question.metric}"
    return [
        f"{lacks}: a lead of less than {factor:.2g}x is a toss-up. Nine of ten ratios of two topologies of two tiers "
        "were predicted within that factor of the measured one."
    ]


def beyond_record(question: Question, checked: str = "") -> list[str]:
    """Say that no measured run had as many local steps of a client in a round, where none had.

    ``checked`` says what the best within the record takes, where other counts were tried.
    """
    if not predictor_record.beyond(question):
        return []
    here = f"here are {predictor_record.steps_in_a_round(question):,}"
    return [
        f"{none_had_more(question)}; {f'{checked}. {here.capitalize()}' if checked else here}. "
        "What is predicted was never checked there: run it before you use it."
    ]


def of_unequal_groups(question: Question) -> list[str]:
    """Say what races of unequal groups showed, where groups are."""
    return [UNEQUAL.format(*predictor_record.OFF_IN_RACES)] if predictor_record.unequal(question) else []


def none_had_more(question: Question) -> str:
    """Say up to how many local steps of a client in a round measured runs went."""
    return f"No measured run had over {predictor_record.most_steps(question):g} local steps in a round"


def by_metric(question: Question) -> list[Evidence]:
    """First choices of a predictor on controlled problems, by the question's metric and to targets given as its own."""
    goal = "rounds" if question.target is None else "target"
    rows = rows_of(RECORD, predictor=question.predictor.id, metric=question.metric, goal=goal, family="all")
    told = "what Star-Star has after some rounds" if goal == "rounds" else "a number"
    note = f"controlled problems by {question.metric}, constants known, the target {told}"
    return [_first_choices(row, MEASURED[question.metric], note) for row in rows]


def on_digits(question: Question) -> list[Evidence]:
    """First choices of this predictor on digits, in what is to get small, by who knew the kind of split alone."""
    quantity = {"gradient": "mean_gradient", "loss": "loss", "accuracy": "error"}[question.metric]
    models = {"digits-logistic": "logistic regression", "digits-mlp": "a perceptron"}
    note = f"on digits, {question.metric}; only the kind of split known"
    return [
        _first_choices(row, "planner/data/measured_digits.csv", f"{models[row['model']]} {note}")
        for row in rows_of("digits_record.csv", predictor=question.predictor.id, quantity=quantity)
    ]


def _first_choices(row: Mapping[str, str], dataset: str, note: str) -> Evidence:
    """What a row of a record says of a predictor's first choices."""
    right, of, *regret = (float(row[name]) for name in ("right", "rows", "regret_median", "regret_p90"))
    return Evidence(
        dataset=dataset, right=int(right), of=int(of), note=note, regret_median=regret[0], regret_p90=regret[1]
    )


def measured(question: Question) -> Evidence:
    """In how many pairs, measured at the heterogeneity nearest to this one, this family's order was the measured one.

    The family is asked for its own order at the measured setting; the note says how many of the other pairs were
    measured ties, contrary, or undecided (an interval that leaves the verdict open).
    """
    nearest = near(question.values)
    zeta, delta = nearest[0].zeta, nearest[0].delta
    setting = {**SETTING, "R": 30.0, "L": 1.0, "A": 1.0, "sigma": 1.0, "zeta": zeta, "delta": delta}
    value = {t: float(b.tuned(cap=question.cap, **setting).value) for t, b in question.bounds.items()}
    counts = dict.fromkeys(("agrees", "tie", "contrary", "undecided"), 0)
    for pair in nearest:
        predicted = "ring better" if value[pair.ring] < value[pair.star] else "ring worse"
        decided = "agrees" if pair.verdict == predicted else "contrary"
        counts[{"cannot tell": "undecided", "tie": "tie"}.get(pair.verdict, decided)] += 1
    others = ", ".join(f"{n} {what}" for what, n in counts.items() if what != "agrees")
    return Evidence(
        dataset="planner/data/order_by_regime.csv",
        right=counts["agrees"],
        of=len(nearest),
        note=f"pairs of topologies at zeta/sigma = {zeta:g}, delta/sigma = {delta:g}, the measured regime nearest to "
        f"yours. The others: {others}. Mean squared gradient, G = M = 10, P = 1, K = 2, 30 rounds, fixed order",
    )


def near(values: Mapping[str, float]) -> list[Regime]:
    """The measured pairs nearest in zeta/sigma and delta/sigma, on a scale that is linear below 0.1.

    Beyond the measured range the nearest is at its edge.
    """
    noise = values["sigma"] or 1e-9  # without noise any heterogeneity is beyond the largest measured ratio
    ratios, regimes = (values["zeta"] / noise, values["delta"] / noise), _regimes()
    measured = np.arcsinh(np.array([(r.zeta, r.delta) for r in regimes]) / 0.1)
    here = np.minimum(np.arcsinh(np.array(ratios) / 0.1), measured.max(axis=0))
    distances = np.hypot(*(measured - here).T)
    return [r for r, distance in zip(regimes, distances, strict=True) if distance <= distances.min() + 1e-9]


@cache
def _regimes() -> tuple[Regime, ...]:
    found = []
    for row in table("order_by_regime.csv"):
        ring, star = row["ratio_of"].split(" / ")
        zeta, delta, ratio = (float(row[name]) for name in ("zeta_over_sigma", "delta_over_sigma", "ratio"))
        found.append(Regime(ring, star, zeta, delta, ratio, row["verdict"]))
    return tuple(found)
