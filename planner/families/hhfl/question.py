"""Is it worth the airtime to attach clients to several edge servers? A coverage and a scenario in, a verdict out."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Literal, cast, get_args

import numpy as np

from planner.data.coverage import Floats, Layout, read_layout
from planner.data.heterogeneity import ONE_LABEL
from planner.data.label_counts import read_counts
from planner.errors import NoAnswerError, ScenarioError
from planner.families.framing import Frame, label_gradients
from planner.families.hhfl.calibration import EVERY, LAYOUT, LEAST_DELTA, NORMAL, GainCalibration, Run, record
from planner.families.hhfl.model import (
    PRICE,
    Airtime,
    Gaps,
    Mask,
    Objective,
    Option,
    Task,
    Upload,
    cloud_rounds,
    gains,
    priced,
    reached_apart,
)
from planner.families.hhfl.thinning import Dropped, Thinned, thin
from planner.io.text import number, one_of
from planner.io.wording import counted, percent
from planner.predict.evidence.claims import evidence
from planner.predict.evidence.predictor_record import pair_factor
from planner.predict.question import Question as Trees
from planner.predict.question import ask
from planner.scenario.fields import read_heterogeneity
from planner.scenario.resolve import Known, Scenario, Spoken

DRAWS = 256
FACTOR = 3.0  # what is assumed may be this many times more, or less
CONFIDENT_SHARE = 0.8  # of draws in which a verdict holds
MAX_EXTRAPOLATION = 4.0  # factor in E and Ge, both together, from which runs say nothing
HFL = "star-star"  # whose P is Ge
STEPS = ("fleet.local_steps", "fleet.group_rounds")
BY_DEFAULT = "by default"
ASSUMED = 5  # of either, as in liu2026
DRAWN = ("sigma", "zeta", "delta", "mu", "A")
Verdict = Literal["worth it", "race first", "not worth it", "cannot tell", "nothing to weigh"]
MOST_ASKED, LOOKED = 40, 60_000  # other inputs asked for a change: at most, and removals of links that they may try
BESIDE = (1, 2, 4, 8)  # how far from a change it is looked whether the answer stays
FINER = 64  # parts of a step of delta/sigma between which it is looked where overlap leads: of 0.1 %
MOST_TRIED = 6  # coverages with links dropped that a change of an input is looked at with
CLAIMS = "hhfl-"  # that ids of claims about overlap begin with


@dataclass(frozen=True, eq=False)
class Question:
    """A coverage, what is trained on it, and where every number comes from."""

    layout: Layout  # links of HHFL
    gaps: Gaps  # gaps, task, cost: parts of the model
    task: Task
    cost: Airtime
    target: float | None  # loss above its minimum; None for what HFL's bound reaches in ``rounds`` cloud rounds
    rounds: float  # cloud rounds of HFL, where there is no target
    objective: Objective  # cost that has to be worth it
    scenario: Scenario  # all numbers, with origins
    warnings: tuple[str, ...]  # sentences about the input
    trees: Trees | None  # the same of trees; None where the predictor that a file names knows no loss

    @property
    def unevenness(self) -> float:
        """The gap between servers over sigma; without noise, more than was ever run."""
        gap, sigma = self.gaps.delta, self.task.sigma
        return gap / sigma if sigma else (math.inf if gap else 0.0)

    def calibrated(self, coverage: str = LAYOUT) -> GainCalibration:
        """Find the runs of a coverage to hold the bound to."""
        task = self.task
        return GainCalibration.near(task.E, task.Ge, self.gaps.zeta / task.sigma if task.sigma else 0.0, coverage)

    @property
    def gain(self) -> float:
        """Gain of the bound."""
        return float(self.gains(np.ones((1, len(DRAWN))))[0])

    def gains(self, factors: Floats) -> Floats:
        """Gains of the bound where sigma, both gaps, mu and A are multiplied by factors."""
        return np.asarray(gains([self.layout], self.gaps, self.task, self.target, self.rounds, factors)[0])

    @property
    def break_even(self) -> dict[Objective, float]:
        """Cost of a round of HHFL in rounds of HFL, by every objective."""
        return self.cost.break_even(self.layout, self.task.E, self.task.Ge)

    @cached_property
    def error(self) -> float | None:
        """Factor within which `predicted` leaves open what takes less, as `tune` has it; None where the bound tells."""
        return None if self.trees is None or self.predicted(self.task.E, 1) is None else pair_factor(self.trees, 0.5)

    def predicted(self, E: int, Ge: int) -> float | None:
        """Divide HFL's cloud rounds at other counts by those now, as predicted of trees; None where they are not."""
        if self.trees is None:
            return None
        counts = (E, Ge), (self.task.E, self.task.Ge)
        there, now = (float(self.trees.rounds(K=one, P=other)[HFL]) for one, other in counts)
        return there / now if there and 0 < now < math.inf else None


def pose(
    coverage: str,
    config: Path | None,
    said: Spoken,
    *,
    convexity: str | None = None,
    target: str | None = None,
    upload: str = "each",
    objective: str = "airtime",
) -> Question:
    """Read a question.

    Texts are as written: ``convexity``, a tenth of the smoothness if not given; ``target``, a loss above its minimum or
    a share of it at the start. The objective is the cost that has to be worth it.
    """
    one_of(upload, get_args(Upload), "--upload")
    one_of(objective, get_args(Objective), "--objective")
    layout = read_layout(coverage).sorted
    frame = Frame(config, said)
    if target is not None and "problem.rounds" in said:
        raise ScenarioError(
            "--target: --rounds says the target already, as what HFL reaches. Give one of the two.", code="E002"
        )
    scenario, counts = _scenario(frame, layout, coverage)
    if scenario.divisions:  # of which it would take the first numbers
        raise ScenarioError(
            "--local-steps, --edge-rounds: ranges are searched by recommend and tune alone. Give one number each."
        )
    numbers = {name: value for name, value in scenario.known.items() if name not in ("G", "M", "S1", "S2", "order")}
    warnings = [*layout.warnings, *scenario.warnings]
    if counts is None:
        homes = len(np.unique(layout.home))
        zeta, delta = scenario.number("zeta"), scenario.number("delta")
        gaps = Gaps(zeta if homes < len(layout.clients) else 0.0, delta if homes > 1 else 0.0)
    else:
        gaps = Gaps.of_points(_points(layout, counts, scenario.number("sigma"), warnings), layout.home)
        note = f"{counts}: label shares, one-label client = {ONE_LABEL:g} sigma"
        numbers["zeta"], numbers["delta"] = (Known(x, "derived", note=note) for x in (gaps.zeta, gaps.delta))
    task = _task(scenario, gaps, convexity)
    goal = None
    if target is not None:
        share = re.fullmatch(r"\s*([^%]*)%\s*", target)
        goal = _number("--target", share[1]) / 100 * task.A if share else _number("--target", target)
    numbers |= {
        "N": Known(len(layout.servers), "given", note="servers with clients"),
        "mu": Known(task.mu, "default", note="L/10") if convexity is None else Known(task.mu, "given"),
        "Gamma": Known(task.Gamma, "derived", note="(zeta^2 + delta^2)/(2 mu), the most it can be"),
        "Delta0": Known(task.Delta0, "derived", note="2 A/mu, the most it can be"),
        "target": Known(goal, "derived" if goal is None else "given", note="loss above its minimum"),
    }
    if goal is not None:
        numbers["R"] = Known(None, "derived", note="each coverage's own rounds to the target")
    for name, symbol, key in zip(("E", "Ge"), ("K", "P"), STEPS, strict=True):
        made = numbers.pop(symbol)
        default = frame.said.get(key, ("", None))[0] == BY_DEFAULT
        numbers[name] = replace(made, origin="default", note="as in liu2026, Section V") if default else made
    if scenario.compute.straggler.kind != "none":
        warnings.append("Stragglers are not looked at here: the time is that of clients at their mean.")
    return Question(
        layout=layout,
        gaps=gaps,
        task=task,
        cost=Airtime(scenario.network, scenario.compute, scenario.number("model_size"), cast(Upload, upload)),
        target=goal,
        rounds=float(scenario.known["R"].value or 0),
        objective=cast(Objective, objective),
        scenario=replace(scenario, known=numbers),
        warnings=tuple(warnings),
        trees=_trees(scenario, gaps, goal),
    )


def _trees(scenario: Scenario, gaps: Gaps, goal: float | None) -> Trees | None:
    """Ask about trees by loss; None where a file names a predictor that knows none, or that simulates."""
    with suppress(ScenarioError):
        asked = ask(replace(scenario, topologies=(), metric="loss", objective="time", pilot=None, availability=None))
        if not asked.predictor.shows_progress:
            values = {**asked.values, "zeta": gaps.zeta, "delta": gaps.delta}
            rounds = asked.horizon if goal is None else None
            return replace(asked, values=values, target=goal, share=None, horizon=rounds)
    return None


def _scenario(frame: Frame, layout: Layout, coverage: str) -> tuple[Scenario, Path | None]:
    """The scenario of a coverage, and the file of label counts, where heterogeneity is one."""
    clients, servers = layout.links.shape
    _agree(frame, coverage, clients, servers)
    option, text, counts = frame.heterogeneity()
    if counts is not None:
        frame.said["problem.heterogeneity"] = (option, "iid")
    elif text is not None:
        _refuse_tiers(option, text)
    edge = STEPS[1]
    if edge in frame.said:
        frame.said[edge] = ("--edge-rounds", frame.said[edge][1])
    fleet = frame.section("fleet")
    missing = [key for key in STEPS if key not in frame.said and key.removeprefix("fleet.") not in fleet]
    frame.said |= dict.fromkeys(missing, (BY_DEFAULT, ASSUMED))
    reason = f"the coverage has {servers} servers and {clients} clients already"
    return frame.scenario("COVERAGE", servers, max(clients // servers, 1), reason), counts


def _refuse_tiers(option: str, text: Any) -> None:
    """Refuse deviations of other tiers than servers and clients; of more, those of these two are pasted."""
    said = read_heterogeneity(text, option)
    depth = said.depth or 2
    if depth == 2:
        return
    of_tiers = said.tiers or (said.measured.tiers if said.measured and said.measured.absolute else ())
    zeta, delta = (
        (f"{of_tiers[-1]:.3g}", f"{math.hypot(*of_tiers[:-1]):.3g}") if depth > 1 and of_tiers else ("NUMBER",) * 2
    )
    raise ScenarioError(
        f"{option}: {said.text!a:.60} has deviations of {counted(depth, 'tier')}, and a coverage is of two, servers "
        f"and their clients. Give theirs: --heterogeneity zeta={zeta},delta={delta}.",
        code="E005",
    )


def _task(scenario: Scenario, gaps: Gaps, convexity: str | None) -> Task:
    sigma, smoothness, gap = (scenario.number(name) for name in ("sigma", "L", "A"))
    mu = smoothness / 10 if convexity is None else _number("--strong-convexity", convexity)
    if mu > smoothness:
        raise ScenarioError(
            f"--strong-convexity: {mu:g} exceeds the smoothness L = {smoothness:g}, and no loss curves more than it is "
            "smooth. Give less, or a larger --smoothness.",
            code="E004",
        )
    E, Ge = (int(scenario.number(name)) for name in ("K", "P"))
    gamma = (gaps.zeta**2 + gaps.delta**2) / (2 * mu)
    return Task(E=E, Ge=Ge, sigma=sigma, mu=mu, L=smoothness, A=gap, Gamma=gamma)


def _agree(frame: Frame, coverage: str, clients: int, servers: int) -> None:
    """A scenario file and the coverage must be about the same fleet."""
    fleet = frame.section("fleet")
    groups = fleet.get("groups")
    each = clients / servers if groups in (None, servers) else None
    for key, found, noun in (
        ("groups", servers, "servers"),
        ("clients", clients, "clients"),
        ("clients_per_group", each, "clients to a server"),
    ):
        told = fleet.get(key)
        if isinstance(told, int) and found is not None and told != found:
            raise ScenarioError(
                f"{frame.config}: fleet.{key} = {told} contradicts {coverage!a:.60}, which has {found:g} {noun}. "
                "Remove it from the file, or give another coverage.",
                code="E002",
            )


def _points(layout: Layout, counts: Path, sigma: float, warnings: list[str]) -> Floats:
    table = read_counts(counts, grouped=False)
    index = {client: i for i, client in enumerate(table.clients)}
    for client in layout.clients:
        if client not in index:
            raise ScenarioError(
                f"{counts}: client {client!a:.60} of {layout.source} has no label counts. Add its line, or use its id."
            )
    if len(table.clients) > len(layout.clients):
        warnings.append(f"{len(table.clients) - len(layout.clients)} clients of {counts} are not in the coverage.")
    warnings.extend(table.warnings)
    points = label_gradients(table, sigma, "client", warnings)
    return np.asarray(points[[index[client] for client in layout.clients]])


def _number(option: str, text: str) -> float:
    return number(text, option, least=1e-50, most=1e50)


def in_words(verdict: Verdict) -> str:
    """Return a verdict as it stands in a sentence."""
    return {"race first": "predicted to be worth it", "cannot tell": "a toss-up"}.get(verdict, verdict)


@dataclass(frozen=True)
class Gain:
    """Rounds of HFL over those of HHFL: by the bound, and as runs let expect, with the ends of its interval."""

    bound: float
    expected: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Best:
    """The best use of overlap by one objective: with all links, or without some."""

    objective: Objective
    thinned: Thinned  # links dropped one by one
    # layout that is weighed against HFL: all links, or fewer where they take less than these and than HFL, ties apart
    weighed: Option
    kept: Option  # the same, or HFL where that takes no more
    dropped: int  # number of links that what is weighed does without
    gain: Gain  # of what is weighed
    break_even: Mapping[Objective, float]  # cost of its round in rounds of HFL, by every objective
    # share of draws in which the gain is above what is needed; None where everything was given
    probability: float | None
    verdict: Verdict
    reasons: tuple[str, ...]  # sentences of the verdict

    @property
    def leads(self) -> bool:
        """Whether HFL needs more rounds than a round of what is weighed costs, also in whole rounds."""
        return self.gain.expected > self.break_even[self.objective] and self.kept is self.weighed

    @property
    def said(self) -> str:
        """The verdict as it stands in a sentence."""
        return f"{in_words(self.verdict)}{self.without}"

    @property
    def without(self) -> str:
        """The links that it does without, in words after a verdict."""
        return f" with {counted(self.dropped, 'link')} dropped" if self.dropped else ""


@dataclass(frozen=True)
class Flip:
    """Where the answer is another than now; each end was asked, and its neighbour outside."""

    at: int  # the nearest such number
    last: int | None  # the last before the answer is that of now again; None where it stays, as far as was looked
    takes: float | None = None  # what HFL takes there over the best now; None where the target is not reached
    verdict: Verdict | Literal[""] = ""  # at that number; empty where it was not looked at


@dataclass(frozen=True)
class Gap:
    """The gap between servers over sigma where overlap begins to lead."""

    at: float
    below: Verdict | Literal[""]  # the verdict just below it; empty where it was not looked at


@dataclass(frozen=True, eq=False)
class Answer:
    """Both ways to attach the clients, and the best in between."""

    question: Question
    target: float  # loss above its minimum that all are asked for
    apart: Option  # apart, hybrid: HFL and HHFL, as runs let expect
    hybrid: Option
    every: Option | None  # HFL with a cloud round after every edge round; None where that is HFL already
    best: Best  # by the objective
    also: Best  # by time, or by airtime where time decides
    gain_below: float  # gain of the best to a tenth of the loss gap at the start
    runs: tuple[Run, ...]  # that gains are held to
    flip: Gap | None  # from which overlap leads
    # local steps (E) and edge rounds (Ge) at which the gain is on the break-even's other side
    flips: Mapping[str, Flip]


def solve(question: Question) -> Answer:
    """Say whether the overlap is worth it, and which links are not.

    Raises:
        NoAnswerError: If the target is met at the start, or takes too long.
    """
    task, common = question.task, _common(question)
    other: Objective = "time" if question.objective != "time" else "airtime"
    best, also = (_best(replace(question, objective=one), common) for one in (question.objective, other))
    weighed, open_ = replace(question, layout=best.weighed.layout), best.verdict != "nothing to weigh"
    return Answer(
        question=question,
        target=common.goal,
        apart=common.apart,
        hybrid=common.hybrid,
        every=_every(question, common.goal, common.apart) if open_ else None,
        best=best,
        also=also,
        gain_below=replace(weighed, target=task.A / 10).gain ** common.power,
        runs=question.calibrated().neighbours(question.unevenness),
        flip=_flip(question, best) if open_ else None,
        flips=_flips(question, best, common) if open_ else {},
    )


@dataclass(frozen=True, eq=False)
class _Common:
    """What is weighed by every objective: HFL and HHFL, as runs let expect, to one target."""

    question: Question
    goal: float  # loss above its minimum
    power: float  # that the bound's gain is taken to
    apart: Option
    hybrid: Option

    @cached_property
    def ways(self) -> tuple[Thinned, ...]:
        """Links dropped one by one, also those first that set the pace."""
        one = self.question
        parts = one.layout, one.gaps, one.task, self.goal, one.cost, self.power
        return tuple(thin(*parts, by_pace=by_pace) for by_pace in (False, True))


def _common(question: Question) -> _Common:
    """Price both ways to attach the clients."""
    gaps, task, cost, layout, goal = question.gaps, question.task, question.cost, question.layout, _goal(question)
    power = float(question.calibrated().power(question.unevenness))
    apart, hybrid = (priced(one, gaps, task, goal, cost) for one in (layout.apart, layout))
    return _Common(question, goal, power, apart, hybrid.expected(apart, power))


def _best(question: Question, common: _Common) -> Best:
    """Find which links to do without by the objective, and weigh what is left against HFL."""
    gaps, task, cost, objective = question.gaps, question.task, question.cost, question.objective
    goal, power, apart, hybrid, ways = common.goal, common.power, common.apart, common.hybrid, common.ways
    calibration, uneven = question.calibrated(), question.unevenness

    def total(one: Option | Dropped) -> float:
        return float(getattr(one, PRICE[objective]))

    def least(way: Thinned) -> tuple[float, int]:
        left: tuple[Option | Dropped, ...] = (hybrid, *way.path)
        return min((total(one), k) for k, one in enumerate(left))

    found = min(ways[::-1] if objective == "time" else ways, key=least)
    lowest, dropped = least(found)
    if lowest * (1 + question.scenario.resolution) >= min(total(hybrid), total(apart)):
        dropped = 0
    weighed = priced(found.after(dropped), gaps, task, goal, cost).expected(apart, power) if dropped else hybrid
    if total(weighed) >= total(hybrid):  # a whole round more than where links were dropped one by one
        weighed, dropped = hybrid, 0
    of = replace(question, layout=weighed.layout)
    bound, needed = of.gain, of.break_even[objective]
    low, high = sorted(bound ** float(calibration.power(uneven, end)) for end in ("low", "high"))
    gain, probability = Gain(bound, bound**power, low, high), _probability(of, needed)
    verdict, reasons = _verdict(of, gain, needed, probability, weighed.parts)
    kept = weighed if total(weighed) < total(apart) else apart
    if kept is apart and verdict in ("worth it", "race first", "cannot tell") and low > needed:
        at_most = cloud_rounds(apart.local_steps / high, apart.round_steps) * needed  # in rounds of HFL
        verdict = "not worth it" if at_most >= apart.rounds else "cannot tell"
        reasons.append("That gain is lost in whole rounds: HFL takes too few to this target. Give a farther one.")
    return Best(objective, found, weighed, kept, dropped, gain, of.break_even, probability, verdict, tuple(reasons))


def _every(question: Question, goal: float, apart: Option) -> Option | None:
    """HFL with one edge round between cloud rounds; None where that is asked, or runs leave open if it takes less."""
    if question.task.Ge == 1:
        return None
    least, most = (_alone(question, goal, apart, (question.task.E, 1), end) for end in ("gain", "low"))
    price = PRICE[question.objective]
    open_ = question.error is None and most is not None and getattr(most, price) >= getattr(apart, price)
    return None if open_ else least


def _alone(
    question: Question, goal: float, apart: Option, counts: tuple[int, int], end: Literal["gain", "low"] = "gain"
) -> Option | None:
    """HFL with other E and Ge to the same target, as predicted of trees, else by the bound; between Ge as in runs."""
    (E, Ge), now, cost, layout = counts, question.task, question.cost, apart.layout
    if (ratio := question.predicted(E, Ge)) is not None:
        here = replace(
            apart,
            local_steps=apart.local_steps / apart.round_steps * ratio * E * Ge,
            round_steps=E * Ge,
            seconds_per_round=cost.seconds(layout, E, Ge),
            round_bytes=cost.bytes(layout, Ge),
            round_airtime=cost.of_a_round(layout, Ge),
        )
        return here if math.isfinite(ratio) else None
    try:
        found = priced(layout, question.gaps, replace(now, E=E, Ge=Ge), goal, cost)
    except NoAnswerError:
        return None
    if Ge == now.Ge:
        return found
    most = replace(question, task=replace(now, Ge=max(Ge, now.Ge)))
    return found.expected(apart, float(most.calibrated(EVERY).power(question.unevenness, end)))


def _goal(question: Question) -> float:
    task, goal = question.task, question.target
    if goal is None:
        goal = reached_apart(question.layout, question.gaps, task, question.rounds)
    elif goal >= task.A * (1 - 1e-12):
        raise NoAnswerError(
            f"--target: {goal:.4g} is met before the first round, where the loss gap is A = {task.A:.4g}. Give a "
            "smaller one.",
            code="N007",
        )
    if goal < task.first_bound * (1 - 1e-12):
        return goal
    raise NoAnswerError(
        f"--rounds: after {question.rounds:,.0f} cloud rounds HFL's bound is no lower than at the start, where it is "
        f"L A/mu = {task.first_bound:.4g}. That is no target to compare at: give more rounds."
    )


def _probability(question: Question, needed: float) -> float | None:
    """Share of draws in which runs let expect a gain above what is needed; None where all was given."""
    free = np.array([question.scenario.known[name].origin != "given" for name in DRAWN])
    if not free.any():
        return None
    rng = np.random.default_rng(question.scenario.seed)
    factors = np.where(free, FACTOR ** rng.uniform(-1, 1, (DRAWS, len(DRAWN))), 1.0)
    gap = factors[:, 1 if question.gaps.points is not None else 2]
    uneven, runs = question.unevenness * gap / factors[:, 0], question.calibrated()
    scatter = (runs.power(uneven, "high") - runs.power(uneven, "low")) / (2 * NORMAL)
    drawn = question.gains(factors) ** (runs.power(uneven) + scatter * rng.standard_normal(DRAWS))
    drawn = drawn[np.isfinite(drawn)]
    return float((drawn > needed).mean()) if len(drawn) else None


def _verdict(
    question: Question, gain: Gain, needed: float, probability: float | None, parts: int
) -> tuple[Verdict, list[str]]:
    layout, task, calibration = question.layout, question.task, question.calibrated()
    tie = 1 + question.scenario.resolution
    if len(layout.servers) == 1:
        return "nothing to weigh", ["There is one server: nothing overlaps, and an edge round is a cloud round."]
    if layout.links.sum() == len(layout.clients):
        return "nothing to weigh", ["Every client has one server: this is HFL already."]
    more = f"{percent(abs(needed - 1))} {'more' if needed >= 1 else 'less'} {question.objective} a round"
    expect = (
        f"in runs like this a bound of {gain.bound:.2f} means {gain.expected:.2f} [{gain.low:.2f}, {gain.high:.2f}]"
    )
    ratio = f"HFL needs about {gain.expected:.2f} times the rounds of HHFL"
    if task.Ge == 1:
        reasons = [
            "With one edge round between cloud rounds every edge round is a cloud round: overlap changes nothing, and "
            f"costs {more}."
        ]
    elif question.gaps.delta == 0:
        reasons = [
            f"The servers' data are alike (delta = 0): {ratio}, and HHFL costs {more}.",
            f"The bound's own gain is noise averaged over more servers: {expect}.",
        ]
    else:
        reasons = [f"{ratio}, which costs {more}: {expect}."]
    if parts > 1:
        reasons.append(
            f"The coverage falls into {parts} parts that no client connects (the second eigenvalue is 1). Their "
            "difference waits for the cloud, with overlap or without. A client that joins two parts is worth more "
            "than any other link."
        )
    if gain.low > needed * tie and (probability is None or probability >= CONFIDENT_SHARE):
        if calibration.extrapolation <= MAX_EXTRAPOLATION:
            weak = any(one.level == "weak" for one in evidence(CLAIMS))
            return "race first" if weak else "worth it", reasons
        near = calibration.runs[0]
        reasons.append(
            f"The nearest runs, E = {near.E} and Ge = {near.Ge}, are too far from E = {task.E} and Ge = "
            f"{task.Ge} to hold the bound to them."
        )
    elif gain.high < needed / tie and (probability is None or probability <= 1 - CONFIDENT_SHARE):
        return "not worth it", reasons
    elif gain.low <= needed * tie and gain.high >= needed / tie:
        reasons.append(f"The interval holds the break-even of {needed:.2f}, up to {percent(tie - 1)}.")
    else:
        reasons.append("Assumed values decide. Give --heterogeneity zeta=...,delta=... and --sigma, or measure them.")
    return "cannot tell", reasons


def _worth(question: Question, best: Best, factors: Floats, power: Floats | float) -> Mask:
    """Whether HHFL takes less than HFL where inputs are multiplied by factors.

    Looked at are all links, what is weighed, and some with fewer links dropped and with more, as in `_best`.
    """
    task, found = question.task, best.thinned
    some = np.unique(np.linspace(0, len(found.path), MOST_TRIED).astype(int))[1:-1].tolist()
    layouts = [question.layout, best.weighed.layout, *map(found.after, some)]
    needed = np.array([question.cost.break_even(one, task.E, task.Ge)[question.objective] for one in layouts])
    needed[1:] *= 1 + question.scenario.resolution
    above = gains(layouts, question.gaps, task, question.target, question.rounds, factors) ** power > needed[:, None]
    return np.asarray(above.any(axis=0))


class _Asked:
    """Whether overlap leads at other numbers of one input, each asked once as `solve` does, while there is room."""

    def __init__(self, pose: Callable[[int], Question | None], known: Mapping[int, bool], room: int) -> None:
        self.pose, self.known, self.room = pose, dict(known), room

    def __call__(self, number: int) -> bool | None:
        """The answer; None where runs say nothing, no target can be reached, or no room is left."""
        if number not in self.known and (one := self.pose(number)) is not None:
            with suppress(NoAnswerError):
                common = _common(one)
                hybrid, apart = common.hybrid, common.apart
                fewer = hybrid.local_steps * one.break_even[one.objective] < apart.local_steps
                if fewer and getattr(hybrid, PRICE[one.objective]) < getattr(apart, PRICE[one.objective]):
                    self.known[number] = True
                elif self.room:
                    self.room -= 1
                    self.known[number] = _best(one, common).leads
        return self.known.get(number)

    def verdict(self, number: int) -> Verdict | Literal[""]:
        """The verdict at another number; empty where runs say nothing, or no room is left."""
        if self.room and (one := self.pose(number)) is not None:
            with suppress(NoAnswerError):
                return _best(one, _common(one)).verdict
        return ""

    def turn(self, at: int, near: int) -> Flip | None:
        """Find where the answer is another than at a number, beginning near another; None where that is not found."""
        now, way, begun = self(at), 1 if near > at else -1, self(near)
        value, jump = near, way if begun is now else -way
        while begun is not None and (found := self(value)) is begun:
            before, value, jump = value, value + jump, 2 * jump
            value = at if (value - at) * way <= 0 else value
        if begun is None or found is None:
            return None
        other = self._edge(before, value) if found is now else self._edge(value, before)
        if other is None:
            return None
        for step in BESIDE:
            inside = other - way * (1 + step)
            other = inside if (inside - at) * way > 0 and self(inside) is (not now) else other
        while self(other - way) is (not now):
            other -= way
        if self(other - way) is not now:
            return None
        again = next((value for step in BESIDE if self(value := other + way * step) is now), None)
        return Flip(other, None if again is None else self._edge(other, again))

    def _edge(self, a: int, b: int) -> int | None:
        """The last number from one on, towards another with another answer, that has the answer of the first."""
        while abs(b - a) > 1:
            middle = (a + b) // 2
            if (found := self(middle)) is None:
                return None
            a, b = (middle, b) if found is self(a) else (a, middle)
        return a


def _room(best: Best) -> int:
    """How often links to drop are searched again, by what a search takes."""
    way = best.thinned
    return min(MOST_ASKED, LOOKED // (way.tried + len(way.path) * len(way.layout.clients) // 4 + 1))


def _flips(question: Question, best: Best, common: _Common) -> dict[str, Flip]:
    """Local steps and edge rounds, each alone, at which it is the other way round, as far as runs say anything."""
    found, factors = {}, np.ones((1, len(DRAWN)))

    def posed(name: str, value: int) -> Question | None:
        if value < 1:
            return None
        one = replace(question, task=replace(question.task, **{name: value}))
        return one if one.calibrated().extrapolation <= MAX_EXTRAPOLATION else None

    for name in ("E", "Ge"):
        at, most = getattr(question.task, name), max(getattr(run, name) for run in record())
        if posed(name, at) is None:
            continue
        asked, near = _Asked(partial(posed, name), {at: best.leads}, _room(best)), {}
        for value in sorted(range(1, int(MAX_EXTRAPOLATION * most) + 1), key=lambda x: abs(math.log(x / at))):
            one = posed(name, value) if (value > at) not in near else None
            if one is not None and value != at:
                power = float(one.calibrated().power(one.unevenness))
                if bool(_worth(one, best, factors, power)[0]) is not best.leads:
                    near[value > at] = value
        turns = (asked.turn(at, value) for value in near.values())
        if flip := next(filter(None, turns), None):
            task, price = replace(question.task, **{name: flip.at}), PRICE[best.objective]
            there = _alone(question, common.goal, common.apart, (task.E, task.Ge))
            takes = None if there is None else float(getattr(there, price) / getattr(best.kept, price))
            found[name] = replace(flip, takes=takes, verdict=asked.verdict(flip.at))
    return found


def _flip(question: Question, best: Best) -> Gap | None:
    """The gap between servers over sigma from which overlap leads, all else as it is; None without one."""
    task, layout, gaps = question.task, question.layout, question.gaps
    if not task.sigma or gaps.points is not None or len(np.unique(layout.home)) == 1 or task.Ge == 1:
        return None
    at = np.geomspace(LEAST_DELTA, 100, 161)
    numbers = question.scenario.known  # zeta and delta, as whoever tries a gap gives both
    given = {name: replace(numbers[name], origin=cast(Any, "given")) for name in ("zeta", "delta")}
    scenario = replace(question.scenario, known={**numbers, **given})

    def at_gap(over_sigma: float) -> Question:
        there = Gaps(gaps.zeta, over_sigma * task.sigma)
        gamma = (there.zeta**2 + there.delta**2) / (2 * task.mu)
        return replace(question, gaps=there, task=replace(task, Gamma=gamma), scenario=scenario)

    def posed(grid: Floats, i: int) -> Question | None:
        return at_gap(float(grid[i])) if 0 <= i < len(grid) else None

    factors = np.ones((len(at), len(DRAWN)))
    factors[:, 2] = at
    above = _worth(at_gap(1.0), best, factors, question.calibrated().power(at))
    if not above.any() or above[0]:
        return None
    coarse = _Asked(partial(posed, at), {0: False}, _room(best))
    flip = coarse.turn(0, int(np.argmax(above)))
    if flip is None:
        return None
    grid = np.geomspace(at[flip.at - 1], at[flip.at], FINER + 1)
    finer = _Asked(partial(posed, grid), {0: False, FINER: True}, coarse.room)
    edge = finer._edge(FINER, 0)
    return Gap(float(at[flip.at]), "") if edge is None else Gap(float(grid[edge]), finer.verdict(edge - 1))
