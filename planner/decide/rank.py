"""The pure core: a scenario in, a `Recommendation` out; nothing is read, printed or run."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from hflbounds.topology import all_topologies
from planner.cost.round import RoundCost
from planner.decide import participation
from planner.decide.advice import about_compression, assumptions, steps
from planner.decide.clocked import Clocked, clocked, differ_in_speed
from planner.decide.clocked import about as about_regions
from planner.decide.corrected import corrected
from planner.decide.explain import about_footprint, about_metric, about_shares, known_values, target_of
from planner.decide.nearest import nearest_flips
from planner.decide.recommendation import SHARING, InCase, Other, Recommendation, RoundsFrom, Row, Uncertainty, Working
from planner.decide.single_tier import OTHERS, Baseline, beside
from planner.decide.uncertainty.assess import assess
from planner.decide.verdict import Standing, over_links, shared_takes, sharing_is_open, standing, standings, verdict
from planner.errors import NoAnswerError
from planner.io.answers import Caution, NumberOrigin, Quantity, Sensitivity
from planner.io.parts import finite
from planner.io.version import version
from planner.io.wording import counted, join, names, percent, title
from planner.predict.evidence import orderings as evidence
from planner.predict.evidence import predictor_record
from planner.predict.participation import attendance, lacks
from planner.predict.predictors import SQUARED_GRADIENT
from planner.predict.question import MAX_ROUNDS, Question, ask, ceil_rounds, left_out, with_default_order
from planner.scenario.fields import LARGEST_ROUNDS
from planner.scenario.footprint import Coefficient
from planner.scenario.resolve import Scenario

OFTEN = 0.1  # share of draws without an answer that is worth a word
APART = 1.25  # ratio of predicted rounds that are about the same; whole rounds may part them by it without a word


def recommend(  # reason: one field of the answer after the other
    scenario: Scenario, *, details: bool = True, cases: bool | None = None
) -> Recommendation:
    """Rank the topologies for a scenario.

    Every topology gets the rounds to one target that the predictor expects, those that its bound guarantees, and what
    they cost; the objective decides the order, and what is closer than the resolution, or than the predictor can tell,
    ties. Where counts are free, the answer is for the best.

    Without ``details`` nothing is worked out that explains the order or says how sure it is (draws and other proofs,
    flips, bounds beside another predictor); ranking, ties and one tier beside them are the same. ``cases`` says whether
    to look at all values of an unknown that decides, and at baselines that take longer; None for as ``details``.

    Raises:
        ScenarioError: if the bound family asked for does not fit the scenario.
        NoAnswerError: if no topology reaches the target.
    """
    if scenario.divisions:
        from planner.decide import counts

        return counts.best(scenario, partial(recommend, details=details, cases=cases))
    scenario = with_default_order(scenario)
    question = ask(scenario)
    participation.check(question)
    met = question.target is not None and question.target >= question.first()
    rounds = {t: float(n) for t, n in question.rounds().items()}
    _check_reached(question, scenario, rounds)
    here = standing(question, scenario, scenario.objective, rounds)
    asked = details and not met
    every = asked if cases is None else cases and not met
    found = standings(here, rounds) if every else {str(here.objective): {"": here}}
    one_tier = () if met or cases is False else beside(question)
    unwaiting = clocked(question) if every else ()
    said = verdict(found, (*one_tier, *unwaiting), met=met)

    depends = any(one.on == SHARING for one in (said, *said.cases))
    moves = not depends and shared_takes(found) is not None
    unasked = "time" not in found and sharing_is_open(question, scenario)  # its times stand in the table
    how_sure = assess(question, scenario, here.best, here.settling()) if details else None
    if how_sure and here.judged.model:
        how_sure = how_sure.replaced(model=here.judged.model.replaced(probability=here.confidence))
    flips, looked = nearest_flips(here) if asked else ((), "")
    changes = tuple(_sensitivity(flips, how_sure))
    by_preset = scenario.known[SHARING].origin == "derived"
    turns = by_preset and any(one.parameter == SHARING for one in changes)
    records = [] if met else evidence.records(question, scenario, here.judged.model)
    doubt = [] if scenario.partial or not question.predictor.guarantees else _doubt(question, scenario, here.best)
    told = _p_best(how_sure) if how_sure else {}
    bounded = (details and question.quantity is SQUARED_GRADIENT) or question.predictor.guarantees
    by_sharing = {value: one for value, one in found.get("time", {}).items() if value}
    rows = [
        *(
            _row(here, topology, place, rounds[topology], told.get(topology), by_sharing, bounded=bounded)
            for place, topology in enumerate([*here.totals, *(t for t in rounds if t not in here.totals)], 1)
        ),
        *(_baseline(one, here, by_sharing) for one in one_tier if one.question is not None),
        *(_clocked(one, here, by_sharing) for one in unwaiting),
    ]
    return Recommendation(
        version=version(),
        command=("hfl-plan", "recommend"),
        title=scenario.title,
        scenario=known_values(scenario, question),
        objective=scenario.objective,
        metric=question.metric,
        target=target_of(question, scenario.known["target"], met),
        verdict=said,
        rows=tuple(rows),
        assumptions=assumptions(scenario, question, how_sure, "hours" * (moves or unasked or turns)),
        warnings=tuple(_warnings(here, rows, met, [*doubt, *_about_whole_rounds(rows, rounds)], asked)),
        sensitivity=changes,
        evidence=tuple(records),
        next=() if met else tuple(steps(scenario, question, said, changes, how_sure, sharing=moves)),
        recommend=Working(
            predictor=question.predictor.id,
            quantity=question.quantity.words,
            bounds=question.family,
            constants=question.constants,
            cap=question.cap,
            resolution=scenario.resolution,
            cost=scenario.cost,
            seed=scenario.seed,
            flips_searched=looked,
            notes=(*question.predictor.notes(question), *participation.in_words(question)),
            uncertainty=how_sure,
            others=tuple(_others(question, one_tier, {row.id for row in rows})) if asked else (),
            rates_on_record=evidence.of_rates(question, scenario),
            scale=None if met else evidence.of_scale(question, scenario),
            corrected=corrected(question) if asked and not question.predictor.measured else None,
        ),
    )


def _warnings(  # reason: one source of warnings each
    here: Standing, rows: Sequence[Row], met: bool, doubt: list[str], asked: bool
) -> Iterator[Caution]:
    question, scenario, recommended = here.question, here.scenario, here.best
    texts = [
        *about_footprint(question, scenario.objective),
        *question.predictor.cautions(question),
        *evidence.not_covered(question),
        *about_shares(question, scenario),
        *scenario.warnings,
        *about_compression(question, scenario, rows[0].id, scenario.objective),
        *(_cut_off(question, scenario, recommended) or _may_miss(here)),
        *_about_status(question),
        *_about_target(question, met),
        *doubt,
    ]
    texts += [*_about_cost(question, scenario), *left_out(scenario)]
    texts += about_regions(question)
    trees = [row for row in rows if not row.baseline and row.why]
    for why in dict.fromkeys(row.why for row in trees):
        which = [row.id for row in trees if row.why == why]
        said = names(which) if len(which) < len(all_topologies(3)) else f"{len(which)} topologies"
        texts.append(f"{said}: {why}.")
    texts += participation.about(question, scenario, recommended)
    texts += about_metric(question, scenario, recommended) if asked else []
    texts += [*evidence.beyond_record(question), *evidence.of_unequal_groups(question)]
    return (Caution(text=text) for text in texts)


def _sensitivity(flips: Sequence[Sensitivity], how_sure: Uncertainty | None) -> Iterator[Sensitivity]:
    """The nearest break-even points, and what else was drawn, with their indices."""
    drawn = {d.name: d for d in how_sure.inputs.drawn} if how_sure else {}
    index = {name: d.explains.value for name, d in drawn.items() if d.explains is not None}
    for flip in flips:
        yield flip.replaced(sobol_total=index.get(flip.parameter))
    for name, share in sorted(index.items(), key=lambda item: -item[1]):
        if name not in {flip.parameter for flip in flips}:
            one = drawn[name]
            yield Sensitivity(parameter=name, now=one.middle, unit=one.unit, sobol_total=share, method="draws")


def _others(question: Question, beside: Sequence[Baseline], shown: Collection[str]) -> Iterator[Other]:
    """Methods that have no row of their own among those ``shown``."""
    for one in beside:
        if one.question is None and one.id not in shown:
            yield Other(id=one.id, title=one.title, why=one.why, argv=one.argv)
    untimed = question.predictor.untimed(question)
    for id_, name, rounds in untimed:
        whence: RoundsFrom = "measured" if question.predictor.raced(question, id_) else "predicted"
        why = "raced in the pilot to the same target; a round of it is not timed here"
        yield Other(id=id_, title=name, rounds=ceil_rounds(rounds), rounds_from=whence, why=why)
    shown = {*shown, *(id_ for id_, _, _ in untimed)}
    for id_, name, why, argv in OTHERS:
        words: tuple[str, ...] = argv
        if id_ == "hga-fl" and differ_in_speed(question):
            why = "has another target, as its bound has a floor from heterogeneity; it takes the speeds of the list"
            words = (*argv, "...")
        if id_ not in shown:
            yield Other(id=id_, title=name, why=why, argv=words)


def _check_reached(question: Question, scenario: Scenario, rounds: Mapping[str, float]) -> None:
    if any(math.isfinite(n) for n in rounds.values()):
        return
    goal = float(question.goal())
    if question.allowed < MAX_ROUNDS:
        bounded = question.predictor.guarantees
        best = {
            t: float(question.predictor.reached(question, t, question.allowed, question.values))
            for t in question.topologies
        }
        first = min(best, key=lambda t: best[t])
        needed = _unlimited(question, scenario)
        more = "Give"
        if needed:
            quickest, fewest = next(iter(needed)), min(needed, key=lambda t: needed[t])
            more = f"Allow --rounds {needed[quickest]}, which {title(quickest)} needs"
            if fewest != quickest:
                more += f" for the least {scenario.objective}, --rounds {needed[fewest]} for {title(fewest)}"
            more += ", or give"
        digits = 4 if f"{goal:.4g}" != f"{best[first]:.4g}" else 7
        there = " if all come" if question.partly_available else ""
        scale = None if bounded or question.predictor.measured else evidence.of_scale(question, scenario)
        measured = f" {scale.in_words()}." if scale else ""
        raise NoAnswerError(
            f"the target {goal:.{digits}g} is not reached within {question.allowed:,.0f} rounds: the "
            f"{'best bound' if bounded else 'least expected'} there is "
            f"{best[first]:.{digits}g}{there}, by {title(first)}. {more} a looser target.{measured}",
            code="N003",
        )
    raise NoAnswerError(
        f"the target {goal:.4g} is not reached within {MAX_ROUNDS:.0e} rounds by any topology. Give a looser target.",
        code="N003",
    )


def _unlimited(question: Question, scenario: Scenario) -> dict[str, int]:
    """Rounds that topologies need where any number is allowed that can be given, best by the objective first."""
    free = replace(question, horizon=None)
    needed = {t: math.ceil(n) for t, n in free.rounds().items() if n <= LARGEST_ROUNDS}
    return {t: needed[t] for t in sorted(needed, key=lambda t: needed[t] * free.price(t, scenario.objective))}


def _cut_off(question: Question, scenario: Scenario, recommended: Sequence[str]) -> list[str]:
    """Say of a topology that takes least with more rounds than are allowed how many it needs."""
    if question.allowed == MAX_ROUNDS or not (needed := _unlimited(question, scenario)):
        return []
    best = next(iter(needed))
    if needed[best] <= question.allowed or best in recommended:
        return []
    more = f"--rounds well above the predicted {needed[best]:,}"
    return [f"{title(best)} takes the least {scenario.objective} once it has more rounds: {more}."]


def _may_miss(here: Standing) -> list[str]:
    """Say in which share of the draws the first needs more rounds than are allowed, where that is a tenth or more."""
    first = next(iter(here.totals))
    missed, rounds = here.judged.missed(first), counted(int(here.question.allowed), "round")
    if here.question.allowed == MAX_ROUNDS or missed < OFTEN:
        return []
    return [f"{title(first)} needs more than {rounds} in {percent(missed)} of the draws: --rounds allows more."]


def _p_best(found: Uncertainty) -> dict[str, float]:
    """Shares of draws in which each is best, with the predictor's errors where these are on record; at most 99 %."""
    if found.model is not None and found.model.p_best:
        return {t: min(share, predictor_record.CERTAIN) for t, share in found.model.p_best.items()}
    return {t: share.value for t, share in found.inputs.p_best.items()}


def _late(question: Question, topology: str) -> str:
    """Why the target is not reached: rounds are predicted that are not allowed, or none are."""
    capped = question.allowed < MAX_ROUNDS
    free = float(replace(question, horizon=None, availability=None).rounds()[topology]) if capped else math.inf
    if not question.allowed < free <= LARGEST_ROUNDS:
        return f"the target is not reached within {question.allowed:,.0f} rounds"
    needs = "its bound needs" if question.predictor.guarantees else "it is expected to need"
    return f"{needs} {math.ceil(free):,} rounds to the target, and {question.allowed:,.0f} are allowed"


def _row(
    here: Standing,
    topology: str,
    place: int,
    rounds: float,
    p_best: float | None,
    by_sharing: Mapping[str, Standing],
    *,
    bounded: bool,
) -> Row:
    question = here.question
    reached = math.isfinite(rounds)
    rounds = ceil_rounds(rounds) if reached else rounds
    tuned = None
    if bounded:
        tuned = question.best_bound(topology, question.horizon or (max(1.0, rounds) if reached else 1.0))
    terms = {name: float(value) for name, value in tuned.split.items()} if tuned else {}
    proved = finite(tuned.eta_eff if tuned else None)
    rated = reached and (proved is not None or tuned is None)
    start = question.predictor.rate(question, topology, max(1.0, rounds)) if rated else None
    cost = question.of_a_round(topology)
    why = ""
    if not reached:
        why = participation.refusal(question, topology) or _late(question, topology)
    elif tuned is None and bounded:
        why = "no bound of the catalogue covers this topology, so no guarantee is shown"
    elif tuned and tuned.eta_eff is None:
        why = "this bound is a rate at a step already chosen, and names no learning rate"
    elif tuned and proved is None:
        why = "without noise, heterogeneity and cap any learning rate is too small; choose one"
    whence = _whence(question, topology)
    return Row(
        id=topology,
        title=title(topology),
        rank=place,
        tie=here.ties.get(topology, len(question.topologies)),
        **_amounts(rounds, cost, whence, _at_ends(topology, here)),
        ratio=here.ratio(topology),
        cases=tuple(_in_case(topology, value, one, rounds) for value, one in by_sharing.items()),
        round_bytes_by_tier=cost.bytes_by_tier,
        rounds_from="bound" if question.predictor.guarantees else "measured" if whence == "measured" else "predicted",
        rounds_guaranteed=_guaranteed(question, topology) if bounded else None,
        rate_predicted=start,
        rate_predicted_raw=None if start is None else start / question.chain(topology),
        rate_bound=proved,
        rate_bound_raw=float(tuned.eta) if tuned and tuned.eta is not None and proved is not None else None,
        bound_id=tuned.bound.id if tuned else None,
        bound_value=float(tuned.value) if tuned else None,
        terms=terms,
        dominant_term=max(terms, key=lambda n: terms[n]) if any(terms.values()) else None,
        cap_binds=bool(tuned and tuned.cap_binds),
        beyond_own_cap=tuned is not None
        and proved is not None
        and not tuned.bound.applies(
            **{**question.of_bounds(topology), "R": question.horizon or max(1.0, rounds), "eta_eff": tuned.eta_eff}
        ),
        p_best=p_best,
        why=why,
        **participation.of_row(question, here.scenario, topology, rounds),
    )


def _whence(question: Question, topology: str) -> NumberOrigin:
    """Where rounds come from: what absences add is predicted, also to given ones, and what no run went as far as."""
    if question.availability is not None and lacks(question, attendance(question, topology)):
        return "predicted"
    if question.target is None and topology == question.reference:
        return "given"
    return "measured" if question.predictor.raced(question, topology) else "predicted"


def _at_ends(topology: str, here: Standing) -> list[float]:
    """Seconds of a round at the quick and at the slow ends of ranges that were given; empty where none was."""
    return [end.of_a_round(topology).seconds for end in here.ends]


def _amounts(rounds: float, cost: RoundCost, whence: NumberOrigin, ends: Sequence[float] = ()) -> dict[str, Any]:
    """Rounds, time and traffic in all and of a round, by the names of a row's fields.

    ``ends`` are the seconds of a round at the quick and at the slow ends of ranges.
    """

    def quantity(number: float, origin: NumberOrigin = "predicted", ends: Sequence[float] = ()) -> Quantity | None:
        low, high = ends if ends and all(map(math.isfinite, ends)) else (None, None)
        return Quantity(number, origin, low, high) if math.isfinite(rounds) and math.isfinite(number) else None

    return {
        "rounds": quantity(rounds, whence),
        "time_seconds": quantity(rounds * cost.seconds, ends=[rounds * end for end in ends]),
        "traffic_bytes": quantity(rounds * cost.bytes),
        "round_seconds": finite(cost.seconds),
        "round_bytes": cost.bytes,
        **_footprint(rounds, cost),
    }


def _footprint(rounds: float, cost: RoundCost) -> dict[str, Any]:
    """Energy, carbon and money in all, each with the range that its sources give; nothing where nobody asked."""
    found = cost.footprint
    if found is None:
        return {}

    def times(one: Coefficient | None) -> Quantity | None:
        if one is None or not math.isfinite(rounds * one.high):
            return None
        all_ = one.times(rounds)
        known = all_.low < all_.high
        return Quantity(all_.value, "predicted", all_.low if known else None, all_.high if known else None)

    return {
        "energy_joules": times(found.energy),
        "carbon_kg_co2e": times(found.carbon),
        "money": times(found.money),
        "left_out": found.unknown,
    }


def _in_case(topology: str, value: str, here: Standing, rounds: float) -> InCase:
    question = here.question
    amounts = _amounts(rounds, question.of_a_round(topology), "predicted", _at_ends(topology, here))
    known = amounts | participation.of_row(question, here.scenario, topology, rounds)
    order = [*here.totals, *(t for t in question.topologies if t not in here.totals)]
    return InCase(
        value=value,
        ratio=here.ratio(topology),
        rank=order.index(topology) + 1,
        tie=here.ties.get(topology, len(question.topologies)),
        **_of_a_case(known),
    )


def _of_a_case(known: Mapping[str, Any]) -> dict[str, Any]:
    """What a case says of the fields of a row; its time is a plain number, with its ends beside it."""
    found = {name: value for name, value in known.items() if name in InCase.__annotations__}
    seconds = found["time_seconds"]
    if seconds is None:
        return found
    return found | {"time_seconds": float(seconds), "time_seconds_low": seconds.low, "time_seconds_high": seconds.high}


def _baseline(one: Baseline, here: Standing, by_sharing: Mapping[str, Standing]) -> Row:
    question = here.question
    assert one.question is not None  # noqa: S101 - only baselines with a question have a row
    rounds = ceil_rounds(one.rounds) if math.isfinite(one.rounds) else one.rounds

    def amounts(case: Standing, whence: NumberOrigin = "predicted") -> dict[str, Any]:
        cost, *ends = [one.round_cost(there) for there in (case.question, *case.ends)]
        return _amounts(rounds, cost, whence, [end.seconds for end in ends])

    def over(objective: Any, case: Standing) -> dict[str, Any]:
        ratio = _over_best(one.amount(objective, case.question.network), case)
        less = ratio is not None and ratio <= 1 + case.scenario.resolution
        through = over_links(case.question, objective, one, case.least).through if less else None
        return {"ratio": ratio, "through": through}

    cases = [
        InCase(value=value, **over("time", case), **_of_a_case(amounts(case))) for value, case in by_sharing.items()
    ]
    met = "the target is met before the first round" if rounds == 0 else ""
    return Row(
        id=one.id,
        title=one.title,
        baseline=True,
        **amounts(here, "measured" if one.rounds_from == "measured" else "predicted"),
        **over(here.objective, here),
        cases=tuple(cases),
        round_bytes_by_tier=one.round_cost(question).bytes_by_tier[-1:],
        rounds_from=one.rounds_from,
        **participation.of_row(one.question, here.scenario, one.topology, rounds),
        why=met if math.isfinite(rounds) else "the target is not reached",
    )


def _clocked(one: Clocked, here: Standing, by_sharing: Mapping[str, Standing]) -> Row:
    network = here.question.network
    taken = {value: one.amount("time", case.question.network) for value, case in by_sharing.items()}
    cases = [
        InCase(value=value, time_seconds=finite(seconds), ratio=_over_best(seconds, by_sharing[value]))
        for value, seconds in taken.items()
    ]
    time, traffic = (one.amount(name, network) for name in ("time", "traffic"))
    return Row(
        id=one.id,
        title=one.title,
        baseline=True,
        rounds=None,
        time_seconds=Quantity(time) if math.isfinite(time) else None,
        traffic_bytes=Quantity(traffic) if math.isfinite(traffic) else None,
        ratio=_over_best(one.amount(here.objective, network), here),
        cases=tuple(cases),
        rounds_from="measured" if one.question.predictor.raced(one.question, one.id) else "predicted",
        why="its server does not wait, so that it has no rounds"
        if math.isfinite(time)
        else "the target is not reached",
    )


def _over_best(amount: float, here: Standing) -> Quantity | None:
    return Quantity(amount / here.least) if here.least and math.isfinite(amount) else None


def _guaranteed(question: Question, topology: str) -> float | None:
    """Rounds until the bound is at the target; None where it never is."""
    values, goal = question.of_bounds(topology), float(question.goal())
    bounds = question.equivalent_bounds(topology)
    found = min((float(b.rounds_to(goal, cap=question.cap, **values)) for b in bounds), default=math.inf)
    return found if found <= MAX_ROUNDS else None


def _about_whole_rounds(rows: Sequence[Row], rounds: Mapping[str, float]) -> list[str]:
    """Say that topologies tie by predicted rounds which, run as whole ones, are far apart."""
    first = [row.id for row in rows if row.tie == 1 and not row.baseline and 0 < rounds[row.id] < math.inf]
    tied = [t for t in first if rounds[t] < APART * min(rounds[other] for other in first)]
    rounded = {t: ceil_rounds(rounds[t]) / rounds[t] for t in tied}
    if not tied or max(rounded.values()) < APART * min(rounded.values()):
        return []
    predicted, whole = join([f"{rounds[t]:.2g}" for t in tied]), join([f"{ceil_rounds(rounds[t])}" for t in tied])
    return [f"{names(tied)} tie at {predicted} predicted rounds; run as whole ones, which rows show, they are {whole}."]


def _about_status(question: Question) -> list[str]:
    refuted = [bound for bound in question.bounds.values() if bound.status == "refuted"]
    if not refuted:
        return []
    entries = ", ".join(dict.fromkeys(e.id for bound in refuted for e in bound.errata if e.gravity == "refuted"))
    return [
        f"{names([b.topology or b.id for b in refuted])}: the printed bound is refuted by a counterexample "
        f"({entries}), and was used because its full id was given."
    ]


def _doubt(question: Question, scenario: Scenario, recommended: Sequence[str]) -> list[str]:
    """Where measured runs contradict a recommended ring: in a quarter or more of the nearest measured pairs."""
    measured = evidence.near(question.values) if question.depth == 2 else []
    pairs = [r for r in measured if r.ring in recommended and r.star not in recommended]
    lost = [r for r in pairs if r.verdict == "ring worse"]
    if 4 * len(lost) < max(1, len(pairs)):
        return []
    worst = max(r.ratio for r in lost)
    order = "" if scenario.order == "fixed" else " (measured for fixed order)"
    return [
        f"Measured runs contradict this order per round{order}. In the regime nearest to yours, delta/sigma = "
        f"{lost[0].delta:g} and zeta/sigma = {lost[0].zeta:g}, one more ring did worse in {len(lost)} of {len(pairs)} "
        f"pairs, by up to {worst:.2g}x. "
        "Regroup for smaller delta, or try both."
    ]


def _about_cost(question: Question, scenario: Scenario) -> list[str]:
    said = []
    links = question.network.named.values()
    if question.cost == "formula" and any(link.sharing == "per-server" for link in links):
        said.append(
            "--cost formula takes every rate as undivided, so it ignores that a rate is shared per-server. "
            "Use schedule, or diluted."
        )
    costs = [question.of_a_round(t) for t in question.topologies]
    spread = max((c.standard_error / c.seconds for c in costs if c.seconds > 0), default=0.0)
    if spread > scenario.resolution / 2:
        said.append(
            f"Stragglers are drawn at random: the time of a round is known to about {percent(spread, 1)} (one sigma)."
        )
    return said


def _about_target(question: Question, met: bool) -> list[str]:
    if met or question.hidden or question.target is not None:
        return []
    goal, start = float(question.goal()), question.first()
    if goal < start:
        return []
    return [
        f"After {question.horizon:,.0f} rounds the bound on {title(question.reference)} ({goal:.3g}) is still above "
        f"{question.quantity.first_in_words} = {start:.3g}, which holds before the first: it says nothing yet. "
        "Give more --rounds."
    ]
