"""How a predictor did in measured scenarios like this one: how often its first choice was right, and what it cost.

There is a file of measured scenarios for each metric, ``planner/data/record_METRIC.csv``, written by
``benchmarks/predictor_record.py``; a predictor has a record by a metric where that file has its columns. Where the
curvature of mini-batches scatters, as that of networks does, ``record_METRIC_images.csv`` is the record, runs on real
data, written by ``benchmarks/real_record.py``; ``record_METRIC_images_fading.csv`` where it is known how deviations
fade; and with ``_many`` behind either where a client has over `MANY_STEPS` local steps in a round. Of trees of three
tiers there is how often first choices were right there, and how far off ratios were (``benchmarks/three_tiers.py
--record``). Nearest are, of the scenarios of the same kind of heterogeneity, those that are closest in noise,
heterogeneity and target, in units of the initial gap and the smoothness, and in the sizes of the fleet.
docs/predictors.md has the record, docs/evidence/confidence.md how probabilities are made of it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from statistics import median, quantiles  # numpy's import its masked arrays
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from planner.data.heterogeneity import DIFFER
from planner.predict import many_steps, memory
from planner.predict.evidence import rows_of, table
from planner.predict.question import Question
from planner.predict.statements import ModelUncertainty
from planner.scenario.fields import FOOTPRINT, Objective

CALIBRATION = "calibration.csv"
DEEPER = "three_tiers_record.csv"
IMAGES = "_images"  # of the name of a record on real data
FADING = f"{IMAGES}_fading"  # of that where it is known how deviations fade
MANY = "_many"  # of either where a client has over `MANY_STEPS` local steps in a round, and of what goes with it
MANY_STEPS = int(many_steps.FROM)
BY_LOSS = ("loss", "accuracy")  # metrics of which there is one
CERTAIN = 0.99  # no probability is stated above it
NEAREST = 100  # scenarios, or all of a kind where there are fewer
UNPROVEN = 0.9  # share of ratios on record within the factor of what was never measured
PAIRED = 2_000  # draws of errors of a pair
RIGHT = 0.02  # a first choice that needs at most so much more than the best, relatively, is right
FAR = 3.5  # distance in factors of e; the scenarios of the record are 2.9 from each other, at the 95 % quantile
FURTHER = 2  # times the rounds of any target on record, beyond which one is far
FURTHEST = 1_000  # times those, beyond which nothing is stated
UNEQUAL = 1.5  # clients of the largest group over those of the mean group, from which on groups are unequal
# factor by which rounds were off where they are: docs/evidence/unequal_groups.csv, median and most
OFF_IN_RACES = (1.26, 3.9)
LEAST = 0.01  # deviations, in units of the root of L A, below which all count the same
DRAWN_WEIGHT = 1.0  # of taking part in draws or in random order, against a factor of e in a number
SIZES = {"G": "groups", "M": "clients in a group"}  # by symbol, of the fleets on record
DEVIATIONS = {"zeta": "clients of a group", "delta": "groups"}  # by symbol, whose they are
MORE = 1.5  # times the largest deviation on record, from which on one is beyond it
Array = NDArray[np.float64]
By = Literal["rounds", "time"]


@dataclass(frozen=True, eq=False)
class Record:
    """Measured scenarios, one row each."""

    places: Array  # as of `place`, shape (rows, features)
    kinds: NDArray[np.int_]  # as of `kind`, shape (rows,)
    most_steps: float  # P K, the local steps of a client in a global round, at most
    largest: Mapping[str, float]  # G and M, and the deviations over sigma, at most
    regret: Mapping[str, Array]  # by predictor, of its first choice in rounds, relative to the best; shape (rows,)
    # by predictor and topology, log of measured over predicted rounds, relative to Star-Star's; shape (rows,)
    errors: Mapping[str, Mapping[str, Array]]
    most_rounds: float = math.inf  # of stars alone to the target, at most

    def nearest(self, at: Array, kind: int, among: NDArray[np.bool_] | None = None) -> tuple[NDArray[np.intp], float]:
        """The `NEAREST` rows of a kind, of all or of some, nearest first, and how far the median of them is."""
        alike = np.flatnonzero((self.kinds == kind) & (True if among is None else among))
        distance = np.sqrt(((self.places[alike] - at) ** 2).sum(1))
        order = np.argsort(distance, kind="stable")[:NEAREST]
        return alike[order], float(median(distance[order].tolist()))


def kind(values: Mapping[str, Any]) -> Any:
    """Which data differ: 1 for those of clients in a group, 2 for those of groups, their sum, or 0 for neither.

    A deviation differs from the geometric middle of the presets ``iid`` and ``both`` on, in units of the noise.
    """
    noise = np.maximum(values["sigma"], 1e-9)
    zeta, delta = (values[name] / noise > edge for name, edge in zip(("zeta", "delta"), DIFFER, strict=True))
    return zeta + 2 * delta


def place(values: Mapping[str, Any], target: Any, drawn: Any) -> Array:
    """Where scenarios lie: logarithms, in units of L A, with whether anything is drawn; shape (..., features)."""
    unit = values["L"] * values["A"]
    deviations = [np.maximum(values[name] / np.sqrt(unit), LEAST) for name in ("sigma", "zeta", "delta")]
    sizes = [values["G"], values["M"], values["P"] * values["K"]]
    taking_part = [values["S1"] / values["G"], values["S2"] / values["M"]]
    logs = [np.log(x) for x in (*deviations, target / unit, *sizes, *taking_part)]
    return np.stack(np.broadcast_arrays(*logs, DRAWN_WEIGHT * np.asarray(drawn, dtype=float)), axis=-1)


def _here(question: Question) -> Array:
    values = question.values
    drawn = question.order == "random" or values["S1"] < values["G"] or values["S2"] < values["M"]
    return place(values, float(question.predictor.on_record(question, question.goal(), values)), drawn)


def _nearest(question: Question, known: Record) -> tuple[NDArray[np.intp], float]:
    """As of `Record.nearest`, of the record that a question is answered with; no clock moves it."""
    key = memory.key_of(question, {"nearest": name_of(question)})
    if (found := memory.remembered(key)) is None:
        rows, distance = known.nearest(_here(question), kind(question.values))
        memory.keep(key, found := {"rows": rows, "distance": distance})
    return found["rows"], found["distance"]


def file_of(name: str) -> str:
    """The file of a record, in ``planner/data``."""
    return f"record_{name}.csv"


def name_of(question: Question) -> str:
    """The record that a question is answered with: by its metric, on real data where curvatures scatter."""
    if question.scatter == 0 or question.metric not in BY_LOSS:
        return question.metric
    return f"{question.metric}{IMAGES if question.fading is None else FADING}{of_many_steps(question)}"


def of_many_steps(question: Question) -> str:
    """`MANY` where a client has so many local steps in a round that runs of as many are on record apart; else empty."""
    apart = question.depth == len(SIZES) and question.metric in BY_LOSS
    return MANY if apart and steps_in_a_round(question) > MANY_STEPS else ""


@cache
def record(name: str) -> Record | None:
    """A record that comes with the package; None where there is none."""
    try:
        rows = table(file_of(name))
    except FileNotFoundError:
        return None

    def numbers(name: str) -> Array:
        return np.array([row[name] for row in rows], dtype=float)

    regret = {name.removeprefix("regret_"): numbers(name) for name in rows[0] if name.startswith("regret_")}
    errors: dict[str, dict[str, Array]] = {}
    for name in rows[0]:
        if name.startswith("error_"):
            whose, topology = name.removeprefix("error_").split("_")
            errors.setdefault(whose, {})[topology] = numbers(name)
    values = {n: numbers(n) for n in ("G", "M", "P", "K", "S1", "S2", "L", "A", "sigma", "zeta", "delta")}
    drawn = [row["order"] == "random" for row in rows]  # who takes part in draws runs in the order drawn
    most_steps = float((values["P"] * values["K"]).max())
    largest = {symbol: float(values[symbol].max()) for symbol in SIZES}
    largest |= {name: float((values[name] / values["sigma"]).max()) for name in DEVIATIONS}
    places, kinds, most_rounds = place(values, numbers("target"), drawn), np.asarray(kind(values)), numbers("reference")
    return Record(places, kinds, most_steps, largest, regret, errors, float(most_rounds.max()))


def covers(question: Question) -> bool:
    """Whether all topologies of a question were measured, by this metric or by the gradient."""
    known = record(question.metric) or record("gradient")
    measured = {topology for one in known.errors.values() for topology in one} if known else set()
    return all(_measured_as(question, topology) in measured for topology in question.topologies)


def until(question: Question) -> int | None:
    """How many rounds to the target the record goes to, where stars alone need over `FURTHER` times as many."""
    known = record(name_of(question))
    if known is None or float(question.rounds()[question.reference]) <= FURTHER * known.most_rounds * (1 + 1e-6):
        return None
    return int(known.most_rounds)


def too_far(question: Question) -> str:
    """Say so of a target `FURTHEST` times as many rounds away as any on record; empty for nearer ones."""
    most = until(question)
    far = most is not None and float(question.rounds()[question.reference]) > FURTHEST * most
    return f"no measured target took over {most} rounds" if far else ""


def most_steps(question: Question) -> float:
    """Local steps of a client in a global round that a measured run had at most, by this metric or by the gradient.

    Infinite for a predictor that guarantees what it says, which needs no record, and without a record.
    """
    of_networks = question.scatter > 0 and question.depth == len(SIZES)
    known = record(f"{question.metric}{IMAGES}{MANY}") if of_networks else None
    known = known or record(question.metric) or record("gradient")
    return math.inf if known is None or question.predictor.guarantees else known.most_steps


def steps_in_a_round(question: Question, **changes: int) -> int:
    """Local steps of a client that takes part throughout a global round: K times the passes of all tiers."""
    values = {**question.values, **changes}
    return int(math.prod(values[tier.passes] for tier in question.symbols if tier.passes) * values["K"])


def beyond(question: Question) -> bool:
    """Whether a client has more local steps in a global round than any measured run had."""
    return not question.predictor.measured and steps_in_a_round(question) > most_steps(question)


def unequal(question: Question) -> bool:
    """Whether a group has many more clients than the mean of groups, which those of no measured run had."""
    if question.predictor.measured or question.members is None:
        return False
    return any(bool(tier.sizes.max() >= UNEQUAL * tier.sizes.mean()) for tier in question.members.children)


def beyond_sizes(question: Question) -> str:
    """Name what alone takes a fleet `FAR` beyond every measured run, and the largest size there; else empty.

    That is a size, or groups that are `unequal`: of these races said how far rounds were off.
    """
    sizes = _sizes_on_record(question)
    if sizes and unequal(question):
        middle, most = OFF_IN_RACES
        return f"no measured case had unequal groups; in six races rounds were {middle:.2g}x off, {most:.2g}x at most"
    for symbol, (words, most) in sizes.items():
        own = question.values[symbol]
        if own > most * math.exp(FAR):
            those = f" of over {MANY_STEPS:g} local steps in a round" if of_many_steps(question) else ""
            return f"no measured run{those} had {own:,.0f} {words}, {most:,.0f} at most"
    return ""


def differ_more(question: Question) -> str:
    """Say that no measured run had clients or groups that differ as much for the noise; empty where one had."""
    known, noise, whose = record(name_of(question)), question.values["sigma"], question.predictor
    if known is None or whose.measured or whose.guarantees or not noise or question.depth != 2:
        return ""
    for name, who in DEVIATIONS.items():
        own, most = question.values[name] / noise, known.largest[name]
        if own > MORE * most:
            return f"no measured run had {who} that differ so much: {name}/sigma is {own:.2g}, {most:.2g} at most there"
    return ""


def _sizes_on_record(question: Question) -> dict[str, tuple[str, float]]:
    """The sizes of a fleet by symbol: what they are, and the largest of measured runs of as many tiers."""
    known = record(name_of(question))
    if question.depth == len(SIZES):
        return {symbol: (words, known.largest[symbol]) for symbol, words in SIZES.items()} if known else {}
    for row in of_depth(question).values():
        largest = enumerate(zip(question.symbols, row["largest"].split("/"), strict=True), 1)
        return {tier.size: (f"children in tier {i}", float(most)) for i, (tier, most) in largest}
    return {}


def _measured_as(question: Question, topology: str) -> str:
    """The topology on record that is the same algorithm here: with one child in a tier its pattern does not matter."""
    return question.sized(topology).same_algorithm().id


def of(question: Question) -> ModelUncertainty | None:
    """The record of the question's predictor near it; None where it has none, or not about this metric."""
    known = record(name_of(question))
    if known is None or question.predictor.id not in known.errors or not covers(question):
        return None
    rows, distance = _nearest(question, known)
    regret = known.regret[question.predictor.id][rows]
    return ModelUncertainty(
        predictor=question.predictor.id,
        scenarios=len(rows),
        right=int((regret <= RIGHT).sum()),
        regret_median=float(median(regret.tolist())),
        regret_p90=quantiles(regret.tolist(), n=10, method="inclusive")[-1],
        like=distance <= FAR,
        p_best={},
    )


def of_depth(question: Question) -> dict[str, Mapping[str, str]]:
    """The rows of the record on trees of so many tiers, over two, by how much was told; empty where there are none."""
    name = name_of(question).replace(FADING, IMAGES)  # of these trees, with fading no factor is larger
    found = rows_of(DEEPER, predictor=question.predictor.id, record=name, tiers=str(question.depth))
    return {row["told"]: row for row in found}


def errors(question: Question, rng: np.random.Generator, number: int) -> Array:
    """Draws of how far measured rounds were from the typical ones near a question; (topologies, number).

    One nearby scenario is drawn for all topologies, because their errors go together.
    """
    known = record(name_of(question))
    assert known is not None  # noqa: S101 - asked only where `of` has an answer
    rows, _ = _nearest(question, known)
    drawn, mine = rng.choice(rows, number), known.errors[question.predictor.id]
    return np.stack([mine[_measured_as(question, topology)][drawn] for topology in question.topologies])


def pair_factor(question: Question, share: float) -> float:
    """The factor within which a share of predicted ratios of rounds of two topologies were, in measured cases nearby.

    It is that of `unproven_factor` where no record has errors.
    """
    if of(question) is None:
        return unproven_factor(question)
    drawn = errors(question, np.random.default_rng(question.seed), PAIRED)
    pairs = [np.abs(one - other) for one, other in combinations(drawn, 2)]
    if not pairs:
        return 1.0
    every = np.sort(np.concatenate(pairs))
    return math.exp(float(np.interp(share * (len(every) - 1), np.arange(len(every)), every)))


def unproven_factor(question: Question) -> float:
    """Ratio of two topologies that a prediction without a record of errors has to exceed to tell them apart.

    Nine of ten ratios of two topologies were predicted within it, of trees of as many tiers where some are on record,
    however little was told; else of two tiers, over all scenarios of the record by this metric, or by loss where there
    is none. It is 1 for what is guaranteed or measured, which needs no record.
    """
    if question.predictor.guarantees or question.predictor.measured:
        return 1.0
    if deeper := of_depth(question):
        return max(float(row["factor"]) for row in deeper.values())
    known = record(question.metric) or record("loss")
    assert known is not None  # noqa: S101 - that by loss comes with the package
    mine = known.errors.get(question.predictor.id) or next(iter(known.errors.values()))
    return _factor(tuple(map(tuple, mine.values())))


@cache
def _factor(errors: tuple[tuple[float, ...], ...]) -> float:
    """The factor that holds `UNPROVEN` of the ratios of each two topologies."""
    pairs = [np.abs(np.subtract(one, other)) for one, other in combinations(errors, 2)]
    return math.exp(sorted(np.concatenate(pairs).tolist())[math.ceil(UNPROVEN * sum(map(len, pairs))) - 1])


def calibrated(near: ModelUncertainty, name: str, objective: Objective, share: float) -> float:
    """The probability of being right that goes with a share of draws, where a predictor's share was that by a record.

    By rounds it is at most the share of the nearest scenarios in which the choice was right.
    """
    most = near.right / near.scenarios if "rounds" in _by(objective) else CERTAIN
    return min(_turned_out(near.predictor, name, objective, share), most, CERTAIN)


def calibrated_pilot(question: Question, objective: Objective, share: float) -> float:
    """The same of a pilot's own errors: no more than the share, as a record cannot tell its seeds apart better."""
    return min(_turned_out("pilot", f"{question.metric}{of_many_steps(question)}", objective, share), share)


def _by(objective: Objective) -> tuple[By, ...]:
    """The tables: traffic goes by that of rounds, as topologies send about as much in a round; time by its own.

    Energy, carbon and money are of bytes and of hours, so that both count.
    """
    return ("rounds", "time") if objective in FOOTPRINT else ("time",) if objective == "time" else ("rounds",)


def _turned_out(predictor: str, name: str, objective: Objective, share: float) -> float:
    """How often such shares turned out right, with errors and table from other families; linear between them.

    Of two tables the least.
    """
    found = [share]
    for by in _by(objective):
        if rows := rows_of(CALIBRATION, predictor=predictor, metric=name, by=by):
            stated, right = (np.array([float(row[name]) for row in rows]) for name in ("stated", "right"))
            found.append(float(np.interp(share, stated, right)))
    return min(found[1:] or found)
