"""The verdict: which topology is best by one objective, by how much and how surely, and which unknown decides.

Where no link was given, each objective has its own case. Where nobody said whether clients share their link, and the
best topology by time depends on that, each of both has its own case.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from hflbounds.evaluate.compare import SAME, ties
from hflbounds.topology import tier_symbols
from planner.decide.clocked import BUFFER, FASTER, Clocked
from planner.decide.explain import by_samples, unknown
from planner.decide.recommendation import SHARING
from planner.decide.single_tier import SINGLE, Baseline, called
from planner.decide.uncertainty.distributions import at_ends
from planner.decide.uncertainty.draws import Agreement, agreement
from planner.io.answers import Faster, Quantity, Verdict
from planner.io.wording import LISTED, a_group, counted, names, names_or, percent, several, times, title
from planner.predict.evidence import predictor_record
from planner.predict.question import Question, ceil_rounds
from planner.scenario.fields import CLOCKED, FOOTPRINT, Objective
from planner.scenario.footprint import through_servers
from planner.scenario.network import Network
from planner.scenario.resolve import Scenario
from planner.scenario.units import format_rate

LEVEL = 0.8  # of the intervals of ratios
FEW = 3.0  # rounds to a target, of which whole ones decide
TOLD = 0.6  # a probability below it tells no winner
DOUBT = "too few such first choices on record were right"  # where it is below, though an interval would tell one
MOST_IN_TOSS_UP = 0.9  # at most, where the first of a toss-up is said to lead: intervals leave a tenth on either side
ON_PROXY = "Raced on a proxy, not on your data."
MOST_EXTRAPOLATED = {"accuracy": 3.0, "loss": 10.0}
ABOUT = 1.25  # times the best: a server that does not wait and takes up to that is named beside it
OBJECTIVES: tuple[Objective, ...] = ("time", "rounds", "traffic")
# what is said of a toss-up, by its objective
TIE_BREAK: dict[Objective, Objective] = {"time": "traffic", "energy": "time", "carbon": "time", "money": "time"}
LESS = {
    "time": "faster than",
    "rounds": "fewer rounds than",
    "traffic": "less traffic than",
    "energy": "less energy than",
    "carbon": "less carbon than",
    "money": "cheaper than",
}


@dataclass(frozen=True)
class Standing:
    """How topologies stand by one objective."""

    question: Question  # question, scenario: what was asked, and what is known how far
    scenario: Scenario
    objective: Objective  # what decides
    # of the objective, of every topology that reaches the target, best first; rounds need not be whole
    totals: Mapping[str, float]
    run: Mapping[str, float]  # the same in whole rounds, as rows have it
    prices: Mapping[str, float]  # of a round
    judged: Agreement  # what the record of the predictor says of them

    @cached_property
    def ties(self) -> dict[str, int]:
        """Number groups of topologies that cannot be told apart: 1 for those of `best`, others by the resolution."""
        rest = [t for t in self.totals if t not in self.best]
        numbers = ties([self.totals[t] for t in rest], self.scenario.resolution)
        return dict.fromkeys(self.best, 1) | {t: 1 + number for t, number in zip(rest, numbers, strict=True)}

    @cached_property
    def confidence(self) -> float | None:
        """Probability that the first is within 2 % of the best; None where no record says, or goes as far.

        None too where devices draw energy that nobody said, and the objective leaves it out.
        """
        found = self.judged.probability
        of = predictor_record
        beyond = (of.beyond, of.beyond_sizes, of.differ_more, of.too_far)
        left_out = "training" in unknown(self.question, self.objective)
        if found is None or left_out or any(one(self.question) for one in beyond):
            return None
        return min(found, predictor_record.CERTAIN)

    @cached_property
    def best(self) -> tuple[str, ...]:
        """Those of which one is the best, as far as can be told; best first."""
        return self.undecided(self.totals)

    def undecided(self, among: Collection[str]) -> tuple[str, ...]:
        """Of some topologies the first, and those that cannot be told from it; none where none reaches the target.

        Told apart is what differs by more than the resolution, in whole rounds too, with an interval of the ratio
        above it; and nothing is told where the first is the best with a probability below `TOLD`. Where no
        record has errors, both have to exceed `predictor_record.unproven_factor` in place of an interval.
        """
        first, *rest = [t for t in self.totals if t in among] or [""]
        level = self.totals.get(first, 0.0) * (1 + max(self.scenario.resolution, SAME))
        found = [
            t for t in rest if self.totals[t] <= level or self.run[t] <= self.run[first] or not self._told(t, first)
        ]
        if rest and not found and self.doubted:
            found = rest[:1]
        if found and self.near:  # all up to the last of them: whole rounds are no reason to leave out a smaller ratio
            found = rest[: rest.index(found[-1]) + 1]
        return (first, *found) if first else ()

    @property
    def near(self) -> bool:
        """Whether the first takes so few rounds that one more or less decides."""
        return bool(self.totals) and 0 < self.least <= FEW * self.prices[next(iter(self.totals))]

    @property
    def doubted(self) -> bool:
        """Whether the first is the best with so small a probability that it is not named, whatever intervals say."""
        return self.judged.probability is not None and self.judged.probability < TOLD

    @cached_property
    def ends(self) -> tuple[Question, ...]:
        """The question at the quick and at the slow ends of ranges of links and compute; empty where none was given."""
        return at_ends(self.question, self.scenario)

    @property
    def least(self) -> float:
        """What the first takes, as run; 0 where none reaches the target."""
        return self.run[next(iter(self.totals))] if self.totals else 0.0

    def settling(self) -> list[str]:
        """Inputs of which a part of the range tells the first from all others of a toss-up, as the whole does not."""
        found, settled = self.judged.found, list[str]()
        if found is None or not self.best[1:]:
            return settled
        for i, column in enumerate(found.columns):
            parts = (replace(self, judged=self.judged._replace(found=part)) for part in found.parts(i))
            if any(len(part.undecided(self.best)) == 1 for part in parts):
                settled.append(column.name)
        return settled

    def _told(self, topology: str, first: str) -> bool:
        ends = self._interval(topology, first)
        if ends is not None:
            return ends[0] > 1 + self.scenario.resolution
        factor = predictor_record.unproven_factor(self.question)
        return all(of[topology] > of[first] * factor for of in (self.totals, self.run))

    def _interval(self, topology: str, first: str) -> tuple[float, float] | None:
        """The interval of a ratio, which holds it as predicted and in whole rounds; None where none is known.

        Where either takes `FEW` rounds at most, its ends are in whole ones, as one more or less decides: those of the
        one that is not the reference, whose rounds the target says. Another target leaves it a round more or less, too.
        """
        ends = self.judged.interval(topology, first, LEVEL)
        if ends is None or not self.totals[first]:
            return ends
        rounding = self.run[topology] / self.run[first] / (self.totals[topology] / self.totals[first])
        if not min(self.run[t] / (self.prices[t] or math.inf) for t in (topology, first)) <= FEW:
            return ends[0] * min(rounding, 1.0), ends[1] * max(rounding, 1.0)
        found, known = [self.run[topology] / self.run[first]], [end for end in ends if 0 < end < math.inf]
        if topology != (reference := self.question.reference):
            found += [self._whole(topology, self.totals[first] * end) / self.run[first] for end in known]
        if first != reference:
            found += [self.run[topology] / self._whole(first, self.totals[topology] / end) for end in known]
        more = 1.0
        if self.question.target is not None and reference in (topology, first):
            more += self.prices[reference] / self.run[reference]
        return min(found) / more, max(found) * more if len(known) == len(ends) else math.inf

    def _whole(self, topology: str, total: float) -> float:
        return ceil_rounds(total / self.prices[topology]) * self.prices[topology]

    def ratio(self, topology: str) -> Quantity | None:
        """What a topology takes over what the first takes, as run, with its interval; None where either has none.

        The interval has no upper end where a tenth of the draws do not reach the target.
        """
        first, low, high = next(iter(self.totals)), None, None
        if topology not in self.totals or not self.totals[first]:
            return None
        number = self.run[topology] / self.run[first]
        ends = self._interval(topology, first)
        if ends and topology != first and math.isfinite(ends[0]) and not ends[1] <= ends[0] * (1 + SAME):
            low, high = ends[0], ends[1] if math.isfinite(ends[1]) else None
        measured = all(self.question.predictor.raced(self.question, one) for one in (topology, first))
        return Quantity(number, "measured" if measured else "predicted", low, high, None if low is None else LEVEL)


def standing(
    question: Question,
    scenario: Scenario,
    objective: Objective,
    rounds: Mapping[str, float] | None = None,
    prices: Mapping[str, float] | None = None,
) -> Standing:
    """Rank topologies by an objective.

    Rounds are those to the target, ``inf`` where it is not reached; they and the prices of a round are by default those
    of the question.
    """
    if rounds is None:
        rounds = {t: float(n) for t, n in question.rounds().items()}
    prices = prices or {t: question.price(t, objective) for t, n in rounds.items() if math.isfinite(n)}
    ordered = in_order(question, rounds, prices)
    run = {t: ceil_rounds(rounds[t]) * price for t, price in prices.items()}
    judged = agreement(question, scenario, objective, ordered)
    return Standing(question, scenario, objective, ordered, run, prices, judged)


def in_order(question: Question, rounds: Mapping[str, float], prices: Mapping[str, float]) -> dict[str, float]:
    """Totals of the topologies that have a price of a round, best first.

    By whole rounds, then by fractions of them, then by what is left of the quantity.
    """
    totals = {t: rounds[t] * price for t, price in prices.items()}
    run = {t: ceil_rounds(rounds[t]) * price for t, price in prices.items()}
    left = _left(question, totals, rounds)

    def key(item: tuple[str, float]) -> tuple[float, ...]:  # what differs in the last digits alone is one algorithm's
        return (*(float(f"{one:.12g}") for one in (run[item[0]], item[1])), left[item[0]])

    return dict(sorted(totals.items(), key=key))


def _left(question: Question, totals: Mapping[str, float], rounds: Mapping[str, float]) -> dict[str, float]:
    """What is left of the quantity once topologies of equal totals have run, to order these; 0 for all others."""
    values = list(totals.values())
    equal = [t for t, total in totals.items() if values.count(total) > 1]
    found = {t: float(question.predictor.reached(question, t, max(rounds[t], 1.0), question.values)) for t in equal}
    return {t: float(f"{found.get(t, 0.0):.9g}") for t in totals}


def standings(here: Standing, rounds: Mapping[str, float]) -> dict[str, dict[str, Standing]]:
    """Rank by every objective that may be meant and for every value of an unknown that may decide.

    By objective and by value of link sharing: ``{"time": {"per-client": ..., "per-server": ...}}``; the value is empty
    where sharing is known, or does not matter.
    """
    scenario, question = here.scenario, here.question
    asked = OBJECTIVES if scenario.objective_open else (here.objective,)
    found: dict[str, dict[str, Standing]] = {
        one: {"": here if one == here.objective else standing(question, scenario, one, rounds)} for one in asked
    }
    if "time" in asked and sharing_is_open(question, scenario):
        other = scenario.with_link(sharing="per-server")
        shared = standing(question.varied(network=other.network), other, "time", rounds)
        found["time"] = {"per-client": found["time"][""], "per-server": shared}
    return found


def is_close(question: Question, ratio: float, resolution: float, *, one: bool) -> bool:
    """Whether a total so many times the least ties with it within the resolution, or within the predictor's error.

    Plans of ``one`` algorithm have one prediction of rounds, so that the error leaves their order as it is.
    """
    return ratio <= 1 + resolution or (not one and ratio <= predictor_record.pair_factor(question, LEVEL))


def sharing_is_open(question: Question, scenario: Scenario) -> bool:
    """Whether nobody said if clients share their link, and it may matter."""
    several = question.values[question.symbols[-1].drawn] > 1
    return several and scenario.known[SHARING].origin == "default" and question.cost != "formula"


def verdict(
    found: Mapping[str, Mapping[str, Standing]], beside: Sequence[Baseline | Clocked], *, met: bool = False
) -> Verdict:
    """Decide, in words and data."""
    here = next(iter(next(iter(found.values())).values()))
    if met:
        start = f"a {here.question.quantity.words} of {float(here.question.first()):.4g}"
        text = f"The target is met before the first round, by {start}: there is nothing to compare. Give a harder one."
        said = Verdict(status="toss-up", best=here.best, text=text)
    else:
        said = _decided(found, beside)
        said = said.replaced(text=" ".join(filter(None, (said.text, _too_near(here)))))
    parts = (out_of_reach(here.question), said.text, ON_PROXY * here.question.predictor.on_proxy)
    return said.replaced(text=" ".join(filter(None, parts)))


def out_of_reach(question: Question) -> str:
    """Say so of a target that may never be met, as the pilot levelled off or it is far beyond; empty for others.

    Beyond how many times the pilot's rounds is a convention, which no record was fitted to: an accuracy has an end.
    """
    far, why = question.predictor.extrapolated(question), question.predictor.stalled(question)
    if not why and (question.target is None or far <= MOST_EXTRAPOLATED.get(question.metric, math.inf)):
        return ""
    why = why or f"{question.metric} can level off before it, and it takes {times(far)} the pilot's rounds"
    return f"The target may be out of reach: {why}."


def last_target(question: Question, rounds: int) -> tuple[str, str]:
    """What the reference has after the last round of a pilot, as a target that can be typed."""
    left = float(question.predictor.reached(question, question.reference, rounds, {}))
    if question.metric == "accuracy":
        return "--target-accuracy", f"{math.floor(1000 * (1 - left)) / 10:g}%"
    return "--target-loss", f"{1.005 * left:.3g}"


def _too_near(here: Standing) -> str:
    """Say that whole rounds leave a toss-up, and which target tells more; empty elsewhere."""
    if not here.near or len(algorithms(here.question, here.best)) == 1:
        return ""
    pilot, way = here.scenario.pilot, "Take a harder one, with more --rounds."
    if pilot is not None and here.question.predictor.extrapolated(here.question) < 1:
        given = here.scenario.known["target"].origin == "given"  # beside which rounds are a limit
        harder = " ".join(last_target(here.question, pilot.rounds)) if given else f"--rounds {pilot.rounds}"
        way = f"Take a harder one in its place, such as {harder}, the pilot's last."
    elif pilot is not None:
        way = "Give `hfl-plan pilot` more --rounds, for a harder one."
    few = counted(round(here.least / here.prices[here.best[0]]), "round")
    return f"The target, {few} of {title(here.best[0])}, is too near to tell topologies apart. {way}"


def _decided(found: Mapping[str, Mapping[str, Standing]], beside: Sequence[Baseline | Clocked]) -> Verdict:
    """The verdict by the standings of every objective."""
    cases = tuple(_by_sharing(one, by, beside) for one, by in found.items())
    text = _sentence(cases[0], next(iter(found)), found)
    here = next(iter(next(iter(found.values())).values()))
    first = here.question.reference
    unserved = here.scenario.network.tiers < here.scenario.depth and here.question.availability is None
    if unserved and _is_one_algorithm(here.question, first, "star"):
        chained = "star-ring" in here.question.topologies and _is_one_algorithm(here.question, "star-ring", "ring")
        text += f" Without group servers {title(first)} is FedAvg{', and Star-Ring is Sequential' * chained}."
    whole = cases[0].replaced(value="", text=text)
    if len(cases) == 1 or all((case.status, case.best) == ("best", whole.best) for case in cases):
        return whole
    also = "; by time also on link sharing" if cases[0].status == "depends" else ""
    text = f"Depends on the objective{also}."
    if all(one.status == "toss-up" for case in cases for one in (case.cases or (case,))):
        text = f"Each objective has a toss-up of its own{'; by time, link sharing decides which' if also else ''}."
    return Verdict(status="depends", on="objective", cases=cases, text=text)


def _by_sharing(objective: str, by: Mapping[str, Standing], beside: Sequence[Baseline | Clocked]) -> Verdict:
    """The verdict by one objective, as a case."""
    cases = tuple(single(one, beside).replaced(value=value) for value, one in by.items())
    if len({(case.status, frozenset(case.best)) for case in cases}) == 1:
        return cases[0].replaced(value=objective)
    return Verdict(value=objective, status="depends", on=SHARING, cases=cases, text="depends on link sharing")


def single(here: Standing, beside: Sequence[Baseline | Clocked]) -> Verdict:
    """The verdict of one standing, in the words of a case."""
    rest = [t for t in here.totals if t not in here.best]
    runner_up = rest[0] if rest else ""
    found = Verdict(
        status="toss-up" if len(algorithms(here.question, here.best)) > 1 else "best",
        best=here.best,
        runner_up=runner_up,
        ratio=here.ratio(runner_up) if runner_up else None,
        confidence=here.confidence,
        tie_break=_tie_break(here),
        baseline=faster(here.question, here.scenario, here.objective, beside, here.least, here.best),
    )
    return found.replaced(text=_in_a_case(found, here))


def _tie_break(here: Standing) -> tuple[str, ...]:
    """One or two of a toss-up, of which one has the least by `TIE_BREAK`, as far as can be told; else none."""
    each = algorithms(here.question, here.best)
    chosen = here.scenario.objective_open or here.scenario.grouping in ("random", "chosen")  # by traffic, with groups
    if here.objective not in TIE_BREAK or chosen or len(each) == 1:
        return ()
    found = standing(here.question, here.scenario, TIE_BREAK[here.objective]).undecided(each)
    return found if len(found) < min(len(each), 3) else ()


def faster(
    question: Question,
    scenario: Scenario,
    objective: Objective,
    beside: Sequence[Baseline | Clocked],
    least: float,
    best: Sequence[str],
) -> Faster | None:
    """The baseline that takes the least of an objective, where that is below the best topologies' by more than ties.

    Else the server that does not wait and takes about as much as they do: whether to wait is a question of its own.
    Else what ties with them without servers in between.
    One tier is advised wherever it is predicted to take less, as it needs fewer servers: also within the predictor's
    error, which covers nothing where both are one algorithm of as many rounds. Where a link between servers is slower
    than that of clients, it has to take less over that one, too.
    """
    amounts = [(one.amount(objective, question.network), one) for one in beside]
    ahead = [(amount, one) for amount, one in amounts if least and _is_less(amount / least, scenario)]
    unwaiting = [(amount, one) for amount, one in amounts if isinstance(one, Clocked) and not one.waits]
    among = ahead or [(amount, one) for amount, one in unwaiting if amount <= ABOUT * least]
    if question.network.tiers == question.depth:
        among = among or [(amount, one) for amount, one in amounts if amount <= least * (1 + scenario.resolution)]
    if not least or not among:
        return None
    amount, who = min(among, key=lambda pair: pair[0])
    if not isinstance(who, Baseline):
        return Faster(id=who.id, title=who.title, ratio=Quantity(amount / least))
    found = over_links(question, objective, who, least)
    worst = max(float(found.ratio), found.through or 0.0)
    advised = _is_less(worst, scenario)
    one = _is_one_algorithm(question, best[0], SINGLE[who.id][0])
    one = one and math.isclose(question.rounds()[best[0]], who.rounds, rel_tol=scenario.resolution)
    off = 1.0 if one else question.predictor.pair_factor(question, who.id, best[0])
    close = worst * off >= 1 or is_close(question, 1 / worst if worst else math.inf, scenario.resolution, one=one)
    return found.replaced(advised=advised, within_error=close, same_rounds=one)


def _is_less(ratio: float, scenario: Scenario) -> bool:
    """Whether that is less by more than ties, by the digits that are printed of it."""
    return round(1 - ratio, 2) > scenario.resolution


def over_links(question: Question, objective: Objective, who: Baseline, least: float) -> Faster:
    """What a single tier takes over what the best does: over clients' own links, and over slower ones of servers.

    And over those that cost more, as what clients send then crosses all of them.
    """
    ratio = Quantity(who.amount(objective, question.network) / least)
    through, at_once = None, who.id == "fedavg"
    rates = through_servers(question.rates) if objective in FOOTPRINT and question.rates is not None else None
    slower = _through_servers(question, at_once=at_once, dearer=rates != question.rates and rates is not None)
    if objective in CLOCKED and slower is not None:
        through = Quantity(who.amount(objective, slower, rates) / least)
        if not at_once and through < ABOUT * ratio:  # by latency, of which there is some everywhere
            through = None
    return Faster(id=who.id, title=who.title, ratio=ratio, through=through)


def _through_servers(question: Question, *, at_once: bool, dearer: bool) -> Network | None:
    """The network by which clients use the links of servers, if one is slower or dearer; shared if ``at_once``.

    What is sent by one after the other is slower by latency too.
    """
    network = question.network
    if network.timer is not None or network.links[-1] is None:
        return None
    *above, own = (link for link in network.links if link is not None)
    late = not at_once and any(link.latency > own.latency for link in above)
    drawn = [question.values[tier.drawn] if at_once else 1.0 for tier in question.symbols]
    slower = late or dearer or network.slower_through_servers(drawn)
    return network.through_servers(drawn) if slower else None


# ---------------------------------------------------------------- in words


def _in_a_case(found: Verdict, here: Standing) -> str:
    said = _choice(found, here, float)
    if found.status == "best" and len(found.best) > 1:
        first, lead, rest = said.partition(",")
        said = f"{first}, the same algorithm as {names_or(found.best[1:])}{lead}{rest}"
    if len(found.tie_break) == 1:
        said += f"; least {TIE_BREAK[here.objective]}: {names_or(found.tie_break)}"
    if here.scenario.objective_open:  # the case names the objective
        said = said.replace(f" {here.objective} than ", " than ")
    if found.status == "best" and found.confidence is not None:
        said += f"; {_sure(found.confidence)}"
    return said


def _sure(confidence: float) -> str:
    return f"confidence {percent(confidence)}"


def algorithms(question: Question, topologies: Sequence[str]) -> tuple[str, ...]:
    """Of topologies that are one algorithm in this fleet, the first alone."""
    found: dict[str, None] = {}
    for one in topologies:
        if not set(question.equivalent_topologies(one)) & found.keys():
            found[one] = None
    return tuple(found)


def _choice(found: Verdict, here: Standing, ratio: Callable[[Quantity], float]) -> str:
    """``Star-Ring, 2.9x [1.4, 6] faster than Star-Star``, or a toss-up."""
    if found.status == "toss-up":
        first, *others = algorithms(here.question, found.best)
        few = len(others) < LISTED
        return f"toss-up, {names_or([first, *others]) if few else f'{title(first)} or {len(others)} others'}"
    if found.ratio is None:
        return title(found.best[0])
    return f"{title(found.best[0])}, {times(ratio(found.ratio))} {LESS[here.objective]} {title(found.runner_up)}"


def on_sharing(question: Question, scenario: Scenario) -> str:
    """Say that an answer depends on whether clients share their link."""
    up = scenario.known["client_link.up"]
    rate = up.reading.partition(",")[0] if up.spread else format_rate(question.network.client_link.up)
    rate = f"the {rate}" if up.origin == "given" else "one link"
    each = "" if question.members else f"{question.values[question.symbols[-1].drawn]:,.0f} "
    clients = f"{each}{several(scenario.names[-1])}"
    return f"Depends on one unknown: do the {clients} of {a_group(scenario.names)} share {rate}?"


def _sentence(found: Verdict, objective: str, standings: Mapping[str, Mapping[str, Standing]]) -> str:
    """The verdict as whole sentences."""
    here = next(iter(standings[objective].values()))
    scenario, question = here.scenario, here.question
    if found.status == "depends":
        return on_sharing(question, scenario)
    by = objective if len(standings) == 1 else "time, rounds and traffic"
    if len(here.totals) == 1:
        reaches = "reaches" if question.predictor.measured else "is predicted to reach"
        reaches = "is proved to reach" if question.predictor.guarantees else reaches
        parts = [f"{title(found.best[0])} is the only topology that {reaches} the target."]
        if len(question.topologies) == 1:
            what = "with a bound here" if question.predictor.guarantees else "asked about"
            own = question.target is None and not question.predictor.measured and "ring" in question.reference
            way = ": with --target it compares with others" * (question.metric != "accuracy")
            parts = [f"{title(found.best[0])} is the only topology {what}{f', to a target of its own{way}' * own}."]
        elif question.members is not None and all(
            question.sized(t).misplaced() for t in question.topologies if t not in here.totals
        ):
            ways = "a looser --target or --weights equal" if by_samples(scenario) else "a looser --target"
            parts.append(f"Rings stall above this target, as they count children alike; {ways} changes that.")
    elif found.status == "toss-up":
        parts = [_choice(found, here, float).replace("toss-up,", f"Toss-up for {by}:") + "."]
        # a tenth of the draws or more are beyond an end of an interval, which may be of whole rounds alone
        if TOLD <= (found.confidence or 0.0) <= MOST_IN_TOSS_UP and len(algorithms(question, found.best)) > 1:
            parts.append(f"{title(found.best[0])} leads.")
        elif here.doubted and len(here.best) > 1 and here._told(here.best[1], here.best[0]):
            parts.append(f"{title(found.best[0])} leads, but {DOUBT}.")
        if found.tie_break:
            parts.append(f"Least {TIE_BREAK[here.objective]} of these: {names_or(found.tie_break)}.")
    else:
        first, lead, rest = _choice(found, here, lambda ratio: ratio).partition(",")
        parts = [f"Use {first} for {by}{':' if lead else ''}{rest}."]
    if why := same_by_structure(here):
        parts.append(why)
    if len(standings[objective]) > 1 and len(here.totals) > 1:
        parts.append(_where_shared(found, standings[objective]))
    if found.baseline is not None:
        beside = without_servers(found.baseline, scenario, here.objective)
        trees = f"Of trees, {re.sub('^(Use|Toss-up)', lambda word: word[0].lower(), parts[0])}"
        parts = [beside, trees, *parts[1:]] if is_not_to_wait(found) else [*parts, beside]
    if found.status == "best" and found.confidence is not None and found.runner_up:
        parts.append(f"{_sure(found.confidence).capitalize()}.")
    return " ".join(parts)


def _where_shared(found: Verdict, by: Mapping[str, Standing]) -> str:
    """Say that shared links have the same best topologies, which is first there, and how much longer it takes."""
    slower = shared_takes({"time": by})
    takes = f", at {times(slower)} the time" if slower is not None else ""
    if found.status != "toss-up":
        return f"The best is the same over shared links{takes}."
    shared = by["per-server"].best[0]
    first = f", {title(shared)} first" if shared != found.best[0] else ""
    return f"Over shared links it is a toss-up too{first}{takes}."


def shared_takes(found: Mapping[str, Mapping[str, Standing]]) -> float | None:
    """How many times as long the best takes where clients share their link; None where that is known, or the same."""
    by = found.get("time", {})
    if len(by) < 2 or not by["per-client"].least or not by["per-server"].least:
        return None
    ratio = by["per-server"].least / by["per-client"].least
    return ratio if ratio > 1 + by["per-client"].scenario.resolution else None


def is_not_to_wait(found: Verdict) -> bool:
    """Whether a server that does not wait takes less than all trees, by more than is left open."""
    return found.baseline is not None and found.baseline.id not in SINGLE and found.baseline.ratio < FASTER


def one_tier(
    question: Question,
    scenario: Scenario,
    objective: Objective,
    least: float,
    best: Sequence[str],
    among: Sequence[Baseline],
) -> str:
    """Say where one tier takes less of an objective than the best topologies do; empty where that is not so."""
    found = faster(question, scenario, objective, among, least, best)
    return "" if found is None else without_servers(found, scenario, objective)


def _is_one_algorithm(question: Question, topology: str, pattern: str) -> bool:
    """Whether one tier of a pattern is a topology without its servers, as all are asked; who comes may be some."""
    tiers = question.sized(topology).tiers
    one = all(tier.passes == 1 and (tier.pattern.id == pattern or tier.taking_part == 1) for tier in tiers)
    return one and not question.partial


def without_servers(baseline: Faster, scenario: Scenario, objective: Objective) -> str:
    """Say what a baseline takes, and whether to use it: ``FedAvg takes 0.75x the time: use it unless ...``.

    Where links of servers decide, there is no second advice beside that of the topology.
    """
    name, _, buffer = baseline.title.partition(BUFFER)
    name = called(name) + f" with buffer {buffer}" * bool(buffer)
    differ = any(scenario.known[tier.deviation].value for tier in tier_symbols(scenario.depth)[:-1])
    if baseline.title == SINGLE["sfl"][1] and (differ or scenario.pilot is not None):  # as of one group of everybody
        name += " in an order that mixes groups"
    if baseline.id not in SINGLE:
        if baseline.ratio < FASTER:
            return f"Do not wait: {name} takes {times(baseline.ratio)} the best tree's {objective}."
        return f"{name}, whose server does not wait, takes {times(baseline.ratio)} the best's {objective}."
    servers = "group servers" if scenario.depth == 2 else "servers in between"
    as_much = round(abs(baseline.ratio - 1), 2) <= scenario.resolution
    much = "as many" if objective == "rounds" else "as much"
    takes = f"takes {much if as_much else f'{times(baseline.ratio)} the'} {objective}"
    if baseline.through is not None:
        if not baseline.advised:
            over = f"if clients' links reach the top, {times(baseline.through)} over servers' links"
            return f"Without {servers} {name} {takes} {over}."
        takes += f" over own links, {times(baseline.through)} over those of {servers}"
    if as_much:
        return f"{name} {takes}: {servers} save none."
    if baseline.advised:
        why, do = (", within the predictor's error", "try") if baseline.within_error else ("", "use")
        if baseline.through is not None and baseline.through > baseline.ratio:  # which is what it covers
            why = why and " (within the predictor's error)"
        why = " in as many rounds" if baseline.same_rounds and baseline.through is None else why
        unless = f" unless you need {servers}" if scenario.network.tiers > 1 else ""  # else there are none
        return f"{name} {takes}{why}: {do} it{unless}."
    return f"{name} without {servers} {takes}."


ONE_CHILD = (  # by tier, of one and of two
    ["with one client there is neither star nor ring"],
    [
        "with one group the top tier is neither star nor ring",
        "with one client in a group the low tier is neither star nor ring",
    ],
)


def same_by_structure(here: Standing) -> str:
    """Why topologies tie whatever the numbers are; empty where they do not."""
    question, tied = here.question, here.best
    if len(tied) < 2:
        return ""
    each, depth = algorithms(question, tied), question.depth
    others = [f"with one child the pattern of tier {i + 1} does not matter" for i in range(depth)]
    known = ONE_CHILD[depth - 1] if depth <= len(ONE_CHILD) else others
    alone = [question.values[tier.drawn] == 1 and len(each) < len(tied) for tier in question.symbols]
    reasons = [why for why, one in zip(known, alone, strict=True) if one]
    if not any(question.values[n] for n in ("sigma", *(tier.deviation for tier in question.symbols))):
        reasons.append("without noise and heterogeneity all need the same rounds")
    if not reasons:
        return ""
    rest = [t for t in tied if t not in each]
    said = f"{names(rest)} {'is' if len(rest) == 1 else 'are'} the same algorithm" if rest else "They are alike"
    return f"{said}{'s' * (len(each) > 1 and len(rest) > 1)}: {'; '.join(reasons)}."
