"""Counts that are to be chosen: how many groups, and how many rounds, steps and clients drawn, under one target.

The divisions of clients into groups are those of `planner.scenario.divisions`. The target must not move with a choice:
where none is given, it is what Star-Star reaches in the coarsest division with the K and P that the scenario
has, else with the defaults, as `tune` takes them; with the fewest drawn, where these are searched.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hflbounds.evaluate.compare import ties
from hflbounds.topology import Topology, tier_symbols
from planner.cost.round import CostError
from planner.decide.recommendation import SHARING, Division, Recommendation
from planner.decide.single_tier import baselines
from planner.decide.tuning import on_record, without_pilot
from planner.decide.verdict import is_close, sharing_is_open, single, standing, without_servers
from planner.errors import NoAnswerError
from planner.io.answers import Caution, Faster, KnownValue, Sensitivity, Verdict
from planner.io.wording import join, join_with_limit, target_option, times, title
from planner.predict.evidence import orderings as evidence
from planner.predict.evidence import predictor_record
from planner.predict.question import ask, ceil_rounds, with_default_order
from planner.scenario.divisions import groups_of
from planner.scenario.fields import CHOICES, CLOCKED, FIELDS, Objective
from planner.scenario.resolve import Known, Scenario
from planner.scenario.units import format_duration, format_size
from planner.scenario.values import Origin

STEPS = ("K", "P")
PLANS = 8_000  # plans that are looked at at once, over all divisions
PLANS_DEAR = 400  # the same where each costs more than a bound's formula, or random compute times are simulated
PASSES = 8  # of ever finer grids, where there are more plans
LEADERS = 3  # divisions in which those are made
SAVED = 0.02  # by what no run had as many local steps for: less is not pointed at
NEARER = 0.8  # of a runner-up's ratio: what a rival saves by counts of its own, from which on it is said
SIZES, DRAWN = (tuple(getattr(tier, name) for tier in tier_symbols(2)) for name in ("size", "drawn"))
Integers = NDArray[np.int64]
Spans = Mapping[str, tuple[int, int]]


# ---------------------------------------------------------------- every plan of a division


@dataclass(frozen=True, slots=True)
class _Plan:
    """Counts, and what a topology takes with them."""

    total: float  # of the objective, in whole rounds, as rows have it
    rounds: float  # to the target; they need not be whole
    topology: str
    counts: Mapping[str, int]  # those searched, by letter
    division: int  # the place of its division


class _Search:
    """The best plans: of every topology in every division, and of every value of a count."""

    def __init__(self, divisions: Sequence[Scenario], choices: Spans) -> None:
        """Look at every plan; where they are too many, at a grid of them that gets finer around the best."""
        self.scenarios, self.choices = divisions, choices
        self.questions = [ask(s) for s in divisions]
        self.most = [on_record(question) for question in self.questions]
        self.own: dict[tuple[int, str], _Plan] = {}
        self.along: dict[tuple[str, int], _Plan] = {}
        self.totals: dict[tuple[int, str, tuple[int, ...]], float] = {}  # of every plan, by what it is of
        self.checked: dict[int, _Plan] = {}  # with no more local steps in a round than measured runs had, by division
        self.why = ["" for _ in divisions]
        self.looked: set[tuple[int, ...]] = set()
        self.about = self._look_at_all()
        self._rank()

    def _rank(self) -> None:
        """Order the divisions by their best plans, and find those between which predictions cannot decide."""
        self.leaders = [self._best(i) for i in range(len(self.scenarios))]
        self.order = sorted((plan for plan in self.leaders if plan is not None), key=lambda plan: plan.total)
        self.undecided = [plan for plan in self.order if plan is self.order[0] or self._undecided(plan)]
        level = sorted({self.groups(plan) for plan in self.undecided})
        # one group, and groups of one, are one tier, which has its own rows
        self.level = [number for number in level if 1 < number < _sizes(self.scenarios[0])[1]] or level
        self.above_one = self.level[:1] > level[:1]

    def _best(self, division: int) -> _Plan | None:
        """Of a division; None where nothing reaches the target."""
        found = (plan for (place, _), plan in self.own.items() if place == division)
        return min(found, key=lambda plan: plan.total, default=None)

    def _look_at_all(self) -> list[str]:
        """Look at plans, and say so where these were not all."""
        first = self.scenarios[0]
        drawn = first.compute.straggler.kind != "none" and first.objective in CLOCKED
        dear = drawn or first.availability is not None or not self.questions[0].predictor.cheap
        most = PLANS_DEAR if dear else PLANS
        every = [_within(scenario, self.choices) for scenario in self.scenarios]
        grids = [_thinned(spans, max(most // len(every), 1)) for spans in every]
        for i, grid in enumerate(grids):
            self._look(i, grid)
        if all(map(_is_whole, grids, every)):
            return []
        led = [(plan.total, i) for i in range(len(every)) if (plan := self._best(i)) is not None]
        few, fine = max(most // LEADERS // PASSES, 1), set[int]()
        for _, i in sorted(led)[:LEADERS]:
            self._look_around(i, grids[i], few)
            fine.add(i)
        while led and (chosen := self._chosen_division()) not in fine:  # what is taken is to be at its own best
            self._look_around(chosen, grids[chosen], few)
            fine.add(chosen)
        whole = sum(math.prod(high - low + 1 for low, high in spans.values()) for spans in every)
        return [
            f"Of {whole:,} choices of {', '.join(self.choices)}, {len(self.looked):,} were tried. The grid is finer "
            "around the best, and a better one may lie between. A smaller range is searched in full."
        ]

    def _chosen_division(self) -> int:
        self._rank()
        return self.taken.division

    def _look_around(self, division: int, coarse: Mapping[str, Integers], plans: int) -> None:
        """Look between points of a grid, around the best plan of a division and that of no more steps than runs had."""
        for of_all in (True, False):
            grid = dict(coarse)
            for _ in range(PASSES):
                plan = self._best(division) if of_all else self.checked.get(division)
                if plan is None:
                    break
                around = {symbol: _neighbours(grid[symbol], plan.counts[symbol]) for symbol in grid}
                grid = _thinned(around, plans)
                self._look(division, grid)
                if _is_whole(grid, around):
                    break

    def _look(self, division: int, values: Mapping[str, Integers]) -> None:
        """Price every combination of these values of counts."""
        question, scenario = self.questions[division], self.scenarios[division]
        mesh = dict(zip(values, (a.ravel() for a in np.meshgrid(*values.values(), indexing="ij")), strict=True))
        if scenario.partial and mesh.keys() & set(DRAWN):  # everyone together is another theorem's
            drawn = {s: mesh.get(s, question.values[s]) for s in DRAWN}
            fewer = (drawn[DRAWN[0]] < question.values[SIZES[0]]) | (drawn[DRAWN[1]] < _sizes(scenario)[1])
            mesh = {symbol: numbers[fewer] for symbol, numbers in mesh.items()}
        each = list(zip(*(numbers.tolist() for numbers in mesh.values()), strict=True)) if mesh else [()]
        new = [i for i, counts in enumerate(each) if (division, *counts) not in self.looked]
        if not new:
            return
        each = [each[i] for i in new]
        self.looked |= {(division, *counts) for counts in each}
        for topology, found in question.rounds(**{symbol: n[new] for symbol, n in mesh.items()}).items():
            rounds = np.broadcast_to(np.asarray(found, dtype=float), len(each))
            for i in np.flatnonzero(np.isfinite(rounds)):
                self._keep(division, topology, float(rounds[i]), dict(zip(mesh, each[i], strict=True)))

    def _keep(self, division: int, topology: str, rounds: float, counts: dict[str, int]) -> None:
        """Price a plan, and keep it where it takes the least so far; of equal ones the first, with the least counts."""
        question = self.questions[division]
        try:
            total = ceil_rounds(rounds) * question.price(topology, self.scenarios[division].objective, **counts)
        except CostError as error:
            self.why[division] = str(error).rstrip(".")
            return
        if not math.isfinite(total):
            return
        plan = _Plan(float(total), rounds, topology, counts, division)
        self.totals[division, topology, tuple(counts.values())] = plan.total
        if (division, topology) not in self.own or plan.total < self.own[division, topology].total:
            self.own[division, topology] = plan
        for value in counts.items():
            if value not in self.along or plan.total < self.along[value].total:
                self.along[value] = plan
        steps = math.prod(counts.get(symbol, question.values[symbol]) for symbol in STEPS)
        known = self.checked.get(division)
        if steps <= self.most[division] and (known is None or plan.total < known.total):
            self.checked[division] = plan

    def groups(self, plan: _Plan) -> int:
        """Number of groups in the division of a plan."""
        return int(self.scenarios[plan.division].number("G"))

    def _undecided(self, other: _Plan) -> bool:
        """Whether a division is as good as the best within the resolution, or within the predictor's error."""
        first = self.order[0]
        ratio, scenario = other.total / first.total if first.total else 1.0, self.scenarios[first.division]
        patterns = {p for plan in (first, other) for p in Topology.parse(plan.topology).patterns}
        one = not any(p.ordered for p in patterns) and first.rounds == other.rounds
        return is_close(self.questions[first.division], ratio, scenario.resolution, one=one)

    @property
    def taken(self) -> _Plan:
        """The plan with the fewest groups of those between which predictions cannot decide: a server less for each.

        Of plans of these groups that are within the predictor's median error of the least one with no more local steps
        in a round than measured runs had, as in `steps_and_rates`. Of what ties with it by the same topology, the plan
        with the fewest drawn.
        """
        found = next(plan for plan in self.order if self.groups(plan) == self.level[0])
        known, near = self.checked.get(found.division), 1 + self.scenarios[found.division].resolution
        if known is not None and known is not found:
            off = predictor_record.pair_factor(self.questions[found.division], 0.5)
            found = known if known.total <= found.total * max(off, near) else found
        alike = (one for one in self.along.values() if one.total <= found.total * near)
        tied = (one for one in alike if (one.division, one.topology) == (found.division, found.topology))
        return min((found, *tied), key=lambda plan: math.prod(plan.counts.get(symbol, 1) for symbol in DRAWN))

    def tied(self, symbol: str, beside: _Plan | None = None) -> list[str]:
        """The values of a count that tie for the best, or with those of a plan and its others, each run in words.

        Of those looked at; none where one is alone.
        """
        plans = sorted((n, one.total) for (letter, n), one in self.along.items() if letter == symbol)
        if beside is not None:
            at, own = list(beside.counts).index(symbol), tuple(beside.counts.values())
            alike = ((n, total) for (*of, n), total in self.totals.items() if of == [beside.division, beside.topology])
            plans = sorted((n[at], total) for n, total in alike if n == (*own[:at], n[at], *own[at + 1 :]))
        near, level = 1 + self.scenarios[0].resolution, min((total for _, total in plans), default=0.0)
        if beside is not None and beside.total > level * near:  # what takes less is not taken, and does not tie with it
            level = beside.total
        close = itertools.groupby(plans, lambda one: level <= one[1] * near <= level * near * near)
        runs = [[n for n, _ in run] for ties, run in close if ties]
        ends = [" to ".join(dict.fromkeys(f"{n:,}" for n in (run[0], run[-1]))) for run in runs]
        return ends if sum(map(len, runs)) > 1 else []

    @property
    def settled(self) -> Scenario:
        """The scenario with the counts that are taken."""
        scenario = self.scenarios[self.taken.division]
        counts = {
            symbol: Known(self.taken.counts[symbol], "derived", note=f"searched from {low} to {high}")
            for symbol, (low, high) in self.choices.items()
        }
        return replace(scenario, known={**scenario.known, **counts})

    @property
    def next(self) -> tuple[str, float] | None:
        """The topology that is next where each has its own best counts, and its ratio; None where one ties with it."""
        first = self.taken
        own = {topology: plan for (division, topology), plan in self.own.items() if division == first.division}
        same = self.questions[first.division].equivalent_topologies(first.topology)
        others = {
            topology: plan.total / first.total for topology, plan in own.items() if first.total and topology not in same
        }
        topology = min(others, key=others.__getitem__, default="")
        return (topology, others[topology]) if others and others[topology] > 1 else None

    def counts(self, plan: _Plan) -> list[str]:
        """The counts that a plan has of those that are searched, in words."""
        scenario, found = self.scenarios[plan.division], []
        if scenario.grouping != "given":
            found.append(groups_of(int(scenario.number("clients")), self.groups(plan)))
        return [*found, *(f"{symbol} = {plan.counts[symbol]:,}" for symbol in self.choices)]


def _is_whole(grid: Mapping[str, Integers], spans: Spans) -> bool:
    """Whether a grid has all values of ranges."""
    return all(len(grid[symbol]) > high - low for symbol, (low, high) in spans.items())


def _within(scenario: Scenario, choices: Spans) -> Spans:
    """The ranges, as far as there are groups and clients to draw."""
    there = dict(zip(DRAWN, (int(scenario.number(SIZES[0])), _sizes(scenario)[0]), strict=True))
    return {symbol: (low, min(high, there.get(symbol, high))) for symbol, (low, high) in choices.items()}


def _sizes(scenario: Scenario) -> tuple[int, int]:
    """Clients of the smallest and of the largest group."""
    if "clients" not in scenario.known:
        return (int(scenario.number("M")),) * 2
    clients, groups = int(scenario.number("clients")), int(scenario.number("G"))
    return clients // groups, -(-clients // groups)


def _thinned(spans: Spans, plans: int) -> dict[str, Integers]:
    """Values of each count that combine in about so many ways: all of a short range, some of a long one."""
    found: dict[str, Integers] = {}
    left = float(plans)
    for done, symbol in enumerate(sorted(spans, key=lambda s: spans[s][1] - spans[s][0])):
        low, high = spans[symbol]
        most = max(int(left ** (1 / (len(spans) - done)) + 1e-9), 3)
        values = np.arange(low, high + 1, dtype=np.int64)
        if len(values) > most:
            values = np.unique(np.rint(np.geomspace(low, high, most)).astype(np.int64))
        found[symbol] = values
        left = max(left / len(values), 1.0)
    return {symbol: found[symbol] for symbol in spans}


def _neighbours(values: Integers, value: int) -> tuple[int, int]:
    """The values next to one of them."""
    place = int(np.searchsorted(values, value))
    return int(values[max(place - 1, 0)]), int(values[min(place + 1, len(values) - 1)])


# ---------------------------------------------------------------- from plans to an answer


def best(scenario: Scenario, recommend: Callable[[Scenario], Recommendation]) -> Recommendation:
    """The answer for the best plan, with all divisions that were searched.

    Raises:
        ScenarioError: for a range of counts beside a pilot, which measured one of them.
        NoAnswerError: where no plan reaches the target.
    """
    choices = scenario.choices
    if choices:
        without_pilot(scenario, f"a range of {' and '.join(choices)}")
    common = with_one_target([with_default_order(s) for s in scenario.divisions], _own(scenario), choices)
    found = _Search(common, choices)
    if not found.order:
        return recommend(common[0])  # which says why
    shared = _where_shared(found)  # now, while the rounds of these plans are remembered
    first, order = found.taken, found.order
    numbers = ties([plan.total for plan in order], scenario.resolution)
    level = [plan for plan, number in zip(order, numbers, strict=True) if number == 1]
    tie = {plan.division: number for plan, number in zip(order, numbers, strict=True)}
    tie |= {plan.division: 1 for plan in found.undecided}
    rows = [_row(found, i, plan, tie.get(i, max(numbers) + 1)) for i, plan in enumerate(found.leaders)]
    along = {symbol: _along(found, symbol, scenario.resolution) for symbol in choices}
    chosen = common[first.division]
    answer = recommend(found.settled)
    warnings = [_with_checked(one, found) for one in answer.warnings]
    searched = {*choices, *(SIZES if chosen.grouping != "given" else ())}
    if SIZES[0] in searched:
        searched |= set(DRAWN)
        if chosen.known["zeta"].origin != "given":  # it moves with sigma, and is a number where these groups are tried
            searched.add("sigma")
    looked = answer.recommend.flips_searched
    for letter in searched:
        looked = looked.replace(f"{letter}, ", "")
    if looked:
        kept = join(found.counts(first))
        looked += f". {kept[:1].upper()}{kept[1:]} stay: searched again at another value they may lead elsewhere"
    sentence = _sentence(found, level)
    lost = (f"G = {r.groups}: {r.why}." for r in rows if r.why)
    said = dict.fromkeys((*lost, *_beyond_record(found), *_cautions(found, rows), *_one_each(found, shared)))
    ends, others = ([Caution(text=text) for text in ts] for ts in (_at_the_end(found, along), (*found.about, *said)))
    one = answer.verdict
    told = one.replaced(text=_with_counts(one, found))
    if len(found.level) > 1 and one.status == "best" and one.confidence is not None and one.runner_up:
        told = told.replaced(text=f"{told.text.removesuffix('.')} with these groups.")
    if shared is not None:
        told = _by_sharing(found, shared)
        following = (one for one in answer.next if "pilot" not in one.argv)  # of the counts of own links
        answer = answer.replaced(rows=tuple(row.replaced(cases=()) for row in answer.rows), next=tuple(following))
    return answer.replaced(
        verdict=told,
        sensitivity=tuple(_unsearched(answer.sensitivity, searched)),
        warnings=(*ends, *warnings, *others),
        recommend=answer.recommend.replaced(
            in_place_of=_replaced(scenario, found),
            flips_searched=looked,
            divisions=tuple(rows),
            choices=along,
            notes=(sentence, *answer.recommend.notes),
        ),
    )


def _unsearched(every: Sequence[Sensitivity], searched: Collection[str]) -> Iterator[Sensitivity]:
    """Leave break-even points of what was searched out, and keep how much else varies the lead."""
    for one in every:
        if one.parameter not in searched:
            yield one
        elif one.sobol_total is not None:
            yield one.replaced(break_even=None, best_beyond=(), toss_up=None, method="draws")


def _beyond_record(found: _Search) -> Iterator[str]:
    """Say what a plan takes that was not taken, as no measured run had as many local steps in a round."""
    taken, best = found.taken, found.leaders[found.taken.division]
    if best is None or best is found.checked.get(taken.division) or best.total >= taken.total * (1 - SAVED):
        return
    takes = f"{times(best.total / taken.total)} the {found.scenarios[0].objective}"
    yield f"{_steps(best)} would take {takes}, within the predictor's error: no measured run had as many local steps."


def _steps(plan: _Plan) -> str:
    """K and P of a plan, of those that are searched, in words."""
    return ", ".join(f"{symbol} = {plan.counts[symbol]}" for symbol in STEPS if symbol in plan.counts)


def _with_checked(one: Caution, found: _Search) -> Caution:
    """Let the warning that no measured run had as many steps say what the best takes of which some had."""
    first, within = found.taken, found.checked.get(found.taken.division)
    question = found.questions[first.division]
    at = question.varied(values={**question.values, **first.counts})
    if within is None or one.text not in evidence.beyond_record(at):
        return one
    takes = f"{_steps(within)} takes {times(within.total / first.total)} the {found.scenarios[0].objective}"
    return one.replaced(text=evidence.beyond_record(at, takes)[0])


def taken(scenario: Scenario, shown: Mapping[str, KnownValue]) -> Scenario:
    """Return the scenario that an answer is about: with the counts that were chosen, under the target of all.

    ``shown`` are the values as the answer has them. Where no counts are searched the scenario is returned as it is.
    """
    sizes = [shown[name].value for name in SIZES if name in shown]
    alike = (one for one in scenario.divisions if [one.known[name].value for name in SIZES] == sizes)
    if (found := next(alike, None)) is None:
        return scenario
    changed = [*scenario.choices]
    if shown["target"].origin == "derived" and shown["R"].value is None:  # one target for all that was seen
        changed += ["target", "R"]
    values = {name: Known(shown[name].value, shown[name].origin, note=shown[name].source) for name in changed}
    return replace(found, known={**found.known, **values})


def _replaced(scenario: Scenario, found: _Search) -> str:
    """Which counts of the file ranges took the place of, and whether these take less; empty where there are none."""
    if not scenario.replaced:
        return ""
    first = found.taken
    question, own = found.questions[first.division], {**first.counts, **scenario.replaced}
    symbols = [symbol for symbol in scenario.replaced if own[symbol] != first.counts[symbol]]
    order = sorted(scenario.replaced, key=[*STEPS, *scenario.replaced].index)
    said = f"{', '.join(f'{symbol} = {own[symbol]:,}' for symbol in order)} of the file"
    totals = [
        ceil_rounds(float(n)) * question.price(t, scenario.objective, **own)
        for t, n in question.rounds(**own).items()
        if math.isfinite(float(n))
    ]
    least = min(totals, default=math.inf)
    if symbols and least < first.total * (1 - scenario.resolution):
        return f"{said}: {times(least / first.total)} the {scenario.objective}"
    return f"{said}, by the ranges searched"


def _where_shared(found: _Search) -> _Search | None:
    """The plans where clients share their link, if that is open and other counts are best there; else None."""
    place = found.order[0].division
    scenario = found.scenarios[place]
    if not sharing_is_open(found.questions[place], scenario) or scenario.objective not in CLOCKED:
        return None
    shared = _Search([one.with_link(sharing="per-server") for one in found.scenarios], found.choices)
    if not shared.order or shared.counts(shared.taken) == found.counts(found.taken):
        return None
    return shared


def _by_sharing(own: _Search, shared: _Search) -> Verdict:
    """The verdict where own and shared links have other counts: each with the best topology at its own."""
    cases = []
    for value, found in (("per-client", own), ("per-server", shared)):
        scenario = found.settled
        question = ask(scenario)
        beside = [one for one in baselines(question) if one.question is not None]
        case = single(standing(question, scenario, scenario.objective), beside)
        said = f"{_chosen(found, short=True)}: {case.text}"
        if (nearer := _next(case, found)) is not None:
            said += f"; {title(nearer[0])} {times(nearer[1])} at its own counts"
        if (alone := _without_groups(case, scenario)) is not None:
            said = f"one tier, {alone.title.partition(',')[0]}; else {said}"
        cases.append(case.replaced(value=value, text=said))
    text = "Depends on one unknown: do the clients of a group share one link?"
    return Verdict(status="depends", on=SHARING, cases=tuple(cases), text=text)


def _without_groups(found: Verdict, scenario: Scenario) -> Faster | None:
    """One tier, where it is advised and any groups can be formed, of which it needs none; else None."""
    one = found.baseline
    return one if one is not None and one.advised and scenario.grouping != "given" else None


def _with_counts(told: Verdict, found: _Search) -> str:
    """The verdict as a sentence with its counts; first without groups, where that is advised."""
    scenario, counts = found.scenarios[found.taken.division], _chosen(found)
    if (alone := _without_groups(told, scenario)) is None:
        one = "That is one tier. " if scenario.grouping != "given" and scenario.number("G") == 1 else ""
        nearer = _next(told, found)
        own = nearer and f"At its own counts {title(nearer[0])} takes {times(nearer[1])} the {scenario.objective}."
        return " ".join(filter(None, (f"Take {counts}. {one}{told.text}", own)))
    advice = without_servers(alone, scenario, scenario.objective)
    return f"{advice} Else take {counts}. {' '.join(told.text.replace(advice, '').split())}"


def _next(told: Verdict, found: _Search) -> tuple[str, float] | None:
    """The topology that is next with counts of its own, where it is clearly nearer than the runner-up of a verdict."""
    nearer = found.next
    far = told.ratio is not None and told.status == "best" and nearer is not None and nearer[1] < NEARER * told.ratio
    return nearer if far else None


def _one_each(*every: _Search | None) -> Iterator[str]:
    """Warn of groups of one client, where these were searched for."""
    taken = [(found.scenarios[found.taken.division], found.groups(found.taken)) for found in every if found is not None]
    scenario, _ = taken[0]
    if scenario.grouping != "given" and 1 < max(groups for _, groups in taken) == scenario.number("clients"):
        fewer = "--groups 1:30 beside --clients limits their number."
        yield f"Groups of one client need a group server for each client. {fewer}"


def _chosen(found: _Search, *, short: bool = False) -> str:
    """The counts that are taken, and the numbers of groups between which predictions cannot decide."""
    taken, level = found.taken, found.level
    first = next(plan for plan in found.order if found.groups(plan) in level)
    counts = found.counts(taken)
    if not short:  # the ties of steps and of numbers drawn
        ties: list[list[str]] = [[] for _ in counts[len(found.choices) :]]
        ties += [found.tied(symbol, taken) for symbol in found.choices]
        counts = [
            f"{one} ({join_with_limit(tied)} tie)" if tied else one for one, tied in zip(counts, ties, strict=True)
        ]
    if len(level) == 1:
        return ", ".join(counts)
    span = f"{level[0]:,} or {level[-1]:,}" if len(level) == 2 else f"{level[0]:,} to {level[-1]:,}"
    said, scenario = f"{span} tie", found.scenarios[taken.division]
    if first.total * (1 + scenario.resolution) < taken.total and not short:
        less = f"{found.groups(first):,} take {times(first.total / taken.total)} the {scenario.objective}"
        said = f"the fewest servers of {span}, which tie within the predictor's error: {less}"
    return ", ".join((f"{counts[0]} ({said})", *counts[1:]))


def _own(scenario: Scenario) -> dict[str, int]:
    """K and P of the scenario itself, of those searched; the defaults where it has none."""
    usual = {field.symbol: int(field.default) for field in FIELDS if field.symbol in STEPS}
    return {symbol: scenario.replaced.get(symbol, usual[symbol]) for symbol in STEPS if symbol in scenario.choices}


def with_one_target(
    found: Sequence[Scenario], own: Mapping[str, int] = MappingProxyType({}), drawn: Collection[str] = ()
) -> list[Scenario]:
    """The scenarios under one target: the user's, or what Star-Star reaches in the first of them.

    Where the scenarios have the least of a range, ``own`` are the K and P that define the target, and ``drawn`` those
    of S1 and S2 that have a range, of which the least does.

    Raises:
        NoAnswerError: where its bound says nothing there.
    """
    steps = {symbol: Known(n, "derived", note="defines the target") for symbol, n in own.items()}
    question = ask(replace(found[0], known={**found[0].known, **steps}))
    if question.target is not None:
        return list(found)
    goal, first = float(question.goal()), float(question.first())
    groups, horizon = found[0].known["G"].value, found[0].known["R"]
    if goal >= first:
        raise NoAnswerError(
            f"after {horizon.value:,} rounds the bound on Star-Star ({goal:.3g}) is still above "
            f"{question.quantity.first_in_words} = {first:.3g}, "
            "which holds before the first: it says nothing yet. Give more --rounds, or a --target.",
            code="N003",
        )
    whose = "one group" if groups == 1 else f"{groups} groups"
    shown = {**own, **{symbol: int(found[0].number(symbol)) for symbol in DRAWN if symbol in drawn}}
    at = f" at {', '.join(f'{symbol} = {n:,}' for symbol, n in shown.items())}" if shown else ""
    by_default: Origin = "default" if horizon.origin == "default" else "derived"  # of those that define the target
    change = {
        "target": Known(goal, "derived", note=f"what Star-Star in {whose} reaches in {horizon.value} rounds{at}"),
        "R": Known(None, by_default, note="each topology's own rounds to the target"),
    }
    return [replace(s, known={**s.known, **change}) for s in found]


def _row(found: _Search, division: int, plan: _Plan | None, tie: int) -> Division:
    question, scenario = found.questions[division], found.scenarios[division]
    numbers: dict[str, Any] = {"rounds": None, "time_seconds": None, "traffic_bytes": None}
    why = found.why[division]
    if plan is not None:
        why = ""
        numbers["rounds"] = rounds = ceil_rounds(plan.rounds)
        try:
            cost = question.of_a_round(plan.topology, **plan.counts)
            numbers |= {"time_seconds": rounds * cost.seconds, "traffic_bytes": rounds * cost.bytes}
        except CostError as error:
            why = str(error).rstrip(".")
    elif not why:
        why = f"no topology reaches the target within {question.allowed:,.0f} rounds"
    assert scenario.grouping is not None  # noqa: S101 - by construction
    counts = {**question.values, **(plan.counts if plan else {})}
    chosen: dict[str, Any] = {key: int(counts[symbol]) for symbol, key in CHOICES.items()}
    chosen |= {key: None if n is None or not math.isfinite(n) else n for key, n in numbers.items()}
    return Division(
        groups=int(counts["G"]),
        clients_per_group=int(counts["M"]),
        **chosen,
        zeta=question.values["zeta"],
        delta=question.values["delta"],
        grouping=scenario.grouping,
        best=plan.topology if plan else None,
        tie=tie,
        why=why,
    )


def _along(found: _Search, symbol: str, resolution: float) -> tuple[Division, ...]:
    """The best plan with every value of a count that was looked at, the smallest value first."""
    plans = [plan for (letter, _), plan in sorted(found.along.items(), key=lambda item: item[0]) if letter == symbol]
    order = sorted(plans, key=lambda plan: plan.total)
    tie = dict(zip(map(id, order), ties([plan.total for plan in order], resolution), strict=True))
    return tuple(_row(found, plan.division, plan, tie[id(plan)]) for plan in plans)


def _cautions(found: _Search, rows: Sequence[Division]) -> Iterator[str]:
    first, choices = found.taken, found.choices
    chosen = found.scenarios[first.division]
    best = ((row, Topology.parse(row.best)) for row in rows if row.best is not None)
    stars = [row for row, topology in best if not any(pattern.ordered for pattern in topology.patterns)]
    if len({row.rounds for row in stars}) > 1 and not chosen.partial and all(row.group_rounds == 1 for row in stars):
        yield (
            f"With P = 1 {title(str(stars[0].best))} is one algorithm, however clients are grouped. Differences of "
            "its rounds between divisions come from the predictor; those of time and traffic from the division."
        )
    shared = chosen.known[SHARING].value == "per-server" and chosen.objective in CLOCKED
    if shared and chosen.grouping != "given" and len({row.groups for row in rows}) > 1:
        yield "Each group brings a link that its clients share, so that more groups are more links, at no cost here."
    free = {"rounds": ("P", "K", *DRAWN), "traffic": ("K",)}.get(chosen.objective, ())
    unpaid = [symbol for symbol in choices if symbol in free]
    if unpaid and first.total > 0:
        yield (
            f"By {'rounds' if chosen.objective == 'rounds' else 'traffic'}, {' and '.join(unpaid)} "
            f"cost{'s' * (len(unpaid) == 1)} nothing, so as much is taken as helps. --objective time charges for it."
        )
    yield from _without_everyone(chosen, choices)


def _at_the_end(found: _Search, along: Mapping[str, Sequence[Division]]) -> Iterator[str]:
    """Say of what is advised that a wider range may have better."""
    first, choices = found.taken, found.choices
    chosen = found.scenarios[first.division]
    for symbol, (_, high) in choices.items():
        upper = [row for row in along[symbol] if 2 * getattr(row, CHOICES[symbol]) >= high]
        everyone = symbol in DRAWN and high >= float(chosen.number(SIZES[DRAWN.index(symbol)]))
        if first.counts[symbol] == high and not everyone and any(row.tie > 1 for row in upper):
            yield f"{symbol} = {high} is the most that was allowed, and more may take less: give a wider range."


def _without_everyone(chosen: Scenario, choices: Spans) -> Iterator[str]:
    """Say that a range holds everyone, who were left out, and how to ask for them to the same target."""
    most = dict(zip(DRAWN, (int(chosen.number("G")), _sizes(chosen)[1]), strict=True))
    drawn = {symbol: choices[symbol][1] if symbol in choices else chosen.number(symbol) for symbol in DRAWN}
    searched = [symbol for symbol in DRAWN if symbol in choices]
    if chosen.partial and searched and all(drawn[symbol] >= most[symbol] for symbol in DRAWN):
        everyone = " and ".join(f"{symbol} = {most[symbol]}" for symbol in searched)
        options = join([f"--{CHOICES[symbol].replace('_', '-')}" for symbol in searched])
        yield (
            f"Everyone ({everyone}) was left out: rounds in which all take part are predicted in another way. Ask "
            f"without {options} and with {target_option(float(chosen.known['target'].value or 0))}."
        )


def _sentence(found: _Search, level: Sequence[_Plan]) -> str:
    first, choices = found.order[0], found.choices
    scenario = found.scenarios[first.division]
    known, free = scenario.known, scenario.grouping != "given"
    groups, searched = int(scenario.number("G")), len(found.scenarios)
    ranges = " and ".join(f"{symbol} from {low:,} to {high:,}" for symbol, (low, high) in choices.items())
    counts = " and ".join(f"{symbol} = {n:,}" for symbol, n in first.counts.items())
    if first.total == 0:
        what = f"{searched} divisions of {known['clients'].value:,} clients" if free else "these plans"
        told = f"Any of {what} will do"
    elif not free:
        told = f"With {ranges}, the best is {counts}"
    else:
        clients = int(scenario.number("clients"))
        said = groups_of(clients, groups)
        if groups == 1:
            said = "one group of all"
        elif groups == clients:
            said = "a group for every client"
        said += f", {counts}" if counts else ""
        kind = "chosen by label counts" if scenario.grouping == "chosen" else "put together at random"
        if searched == 1:
            told = f"The only division of {clients:,} client{'s' * (clients > 1)} that fits is {said}"
        else:
            over = f", with {ranges}" if ranges else ""
            told = f"Of {searched} divisions of {clients:,} clients, {kind}{over}, the best is {said}"
    if first.total > 0:
        told += _as_good(found, level)
    if found.taken is not first:
        counts = ", ".join(found.counts(found.taken))
        fewest = "the fewest groups above one, which is one tier," if found.above_one else "the fewest groups"
        fewest = fewest if found.groups(found.taken) != groups else "the fewest drawn"
        told += f"; taken is {counts}, {fewest} that predictions cannot tell from it"
    stay = ", ".join(
        f"{s} = {known[s].value}" for s in CHOICES if s not in choices and (s in "PK" or known[s].origin == "given")
    )
    target = known["target"]
    common = f" The common target is {target.note}." * (target.origin == "derived")
    own = ""
    if (searched > 1 or choices) and first.total > 0:
        own = f" Each topology at its own best: {_own_best(found, free)}."
    kept = f" {stay} {'stay as they are' if ',' in stay else 'stays as it is'}." if stay else ""
    return f"{told}.{_thriftier(found, level)}{own}{kept}{common}"


def _as_good(found: _Search, level: Sequence[_Plan]) -> str:
    """What else is as good within the resolution; else how far behind the next division is."""
    near = []
    others = sorted(level[1:], key=found.groups)
    if others:
        shown = ", ".join(f"{found.groups(p)} ({title(p.topology)})" for p in others[:6])
        near.append(f"G = {shown}" + (f" and {len(others) - 6} more" if len(others) > 6 else ""))
    near += [f"{symbol} = {join_with_limit(ends)}" for symbol in found.choices if (ends := found.tied(symbol))]
    said = f"; as good within the resolution: {', '.join(near)}" if near else ""
    if not others and len(found.order) > 1:
        best, second = found.order[:2]
        next_ = f"G = {found.groups(second)} with {title(second.topology)}"
        said += f"; the next, {next_}, takes {second.total / best.total:.3g} times as much"
    return said


def _thriftier(found: _Search, level: Sequence[_Plan]) -> str:
    """Which of the divisions that tie takes less of what does not decide: traffic, or time where traffic decides."""
    if len(level) < 2 or level[0].total == 0:
        return ""
    scenario = found.scenarios[0]
    other: Objective = "traffic" if scenario.objective in ("time", "rounds") else "time"
    amount = {
        plan.division: ceil_rounds(plan.rounds)
        * found.questions[plan.division].price(plan.topology, other, **plan.counts)
        for plan in level
    }
    least = min(level, key=lambda plan: amount[plan.division])
    if amount[least.division] >= (1 - scenario.resolution) * amount[level[0].division]:
        return ""
    write = format_duration if other == "time" else format_size
    shown, here = (write(amount[plan.division]) for plan in (least, level[0]))
    return f" Of these, G = {found.groups(least):,} takes the least {other}: {shown} against {here}."


def _own_best(found: _Search, free: bool) -> str:
    """The counts at which each topology takes least; the fewest groups of those that are equal."""
    said = []
    for topology in found.questions[0].topologies:
        plans = [plan for (_, id_), plan in sorted(found.own.items(), key=lambda item: item[0]) if id_ == topology]
        if plans:
            plan = min(plans, key=lambda plan: plan.total)
            groups = {"G": found.groups(plan)} if free else {}
            counts = " ".join(f"{symbol} = {n}" for symbol, n in {**groups, **plan.counts}.items())
            times = f"{plan.total / found.order[0].total:.3g}"
            said.append(f"{title(topology)} {counts}" + (f" ({times} times as much)" if times != "1" else ""))
    return ", ".join(said)
