"""The pure core: a scenario in, a `Recommendation` out; nothing is read, printed or run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import metadata

from hflbounds.compare import ties
from hflbounds.tuning import Tuned
from planner import confidence, evidence, explain
from planner.errors import NoAnswerError
from planner.flips import flips
from planner.prediction import Question, ask, first_bound
from planner.recommendation import KnownValue, Recommendation, Row
from planner.scenario import Scenario

LONGEST = 1e15  # rounds; more than that is never reached


def recommend(scenario: Scenario) -> Recommendation:
    """Rank the topologies for a scenario.

    Every topology gets the rounds after which its tuned bound meets one common target, and the seconds and
    bytes that these rounds cost; the objective decides the order, and differences below the resolution are
    ties.

    Raises:
        ScenarioError: if the bound family asked for does not fit the scenario.
        NoAnswerError: if no topology reaches the target.
    """
    question = ask(scenario)
    objective = scenario.objective
    met = question.target is not None and question.target >= first_bound(question.values)
    rounds = {t: float(n) for t, n in question.rounds().items()}
    allowed = question.horizon if question.target is not None and question.horizon is not None else math.inf
    _check_reached(question, rounds, allowed)

    totals = {t: rounds[t] * question.price(t, objective) for t in question.bounds if rounds[t] <= LONGEST}
    ordered = dict(sorted(totals.items(), key=lambda item: item[1]))
    tie_numbers = dict(zip(ordered, ties(ordered.values(), scenario.resolution), strict=True))
    late = [t for t in question.bounds if t not in totals]
    p_best = confidence.shares(question, scenario, objective)
    rows = [
        _row(
            question,
            topology,
            place,
            tie_numbers.get(topology, len(question.bounds)),
            rounds[topology],
            allowed,
            p_best,
        )
        for place, topology in enumerate([*ordered, *late], 1)
    ]
    recommended = tuple(t for t, tie in tie_numbers.items() if tie == 1)

    records = [evidence.published(question)] if not scenario.partial else []
    measured = evidence.measured(question)
    if measured is not None:
        records.append(measured)
    doubt = _doubt(question, scenario, recommended)
    warnings = [*scenario.warnings, *_about_target(question, met), *doubt]
    sharing = explain.about_sharing(question, scenario, recommended) if objective == "time" else None
    if sharing:
        warnings.append(sharing)
    for why in dict.fromkeys(r.why for r in rows if r.why):
        warnings.append(f"{explain.names([r.topology for r in rows if r.why == why])}: {why}.")
    return Recommendation(
        version=version(),
        title=scenario.title,
        scenario=_shown(scenario, question),
        objective=objective,
        bounds=next(iter(question.bounds.values())).family,
        constants=next(iter(question.bounds.values())).constants,
        cap=question.cap,
        cost=scenario.cost,
        seed=scenario.seed,
        ranking=tuple(rows),
        recommended=recommended,
        confidence=confidence.judge(ordered, list(recommended), p_best, bool(doubt)),
        explanation=tuple(explain.explain(question, scenario, objective, rows, recommended, met)),
        flips=() if met else flips(question, objective, recommended),
        evidence=tuple(records),
        warnings=tuple(warnings),
    )


@cache
def version() -> str:
    """Of this package, as installed."""
    try:
        return metadata.version("hfl-plan")
    except metadata.PackageNotFoundError:
        return "0+unknown"


def _check_reached(question: Question, rounds: Mapping[str, float], allowed: float) -> None:
    nearest = min(rounds, key=lambda t: rounds[t])
    if rounds[nearest] <= min(allowed, LONGEST):
        return
    goal = float(question.goal())
    if math.isfinite(allowed):
        best = {t: _tuned(question, t, allowed).value for t in question.bounds}
        first = min(best, key=lambda t: float(best[t]))
        raise NoAnswerError(
            f"the target {goal:.4g} is not reached within {allowed:,.0f} rounds: the best bound there is "
            f"{best[first]:.4g}, by {explain.title(first)}. Allow {rounds[nearest]:,.0f} rounds, or a looser target."
        )
    raise NoAnswerError(
        f"the target {goal:.4g} is not reached within {LONGEST:.0e} rounds by any topology. Give a looser target."
    )


def _tuned(question: Question, topology: str, rounds: float) -> Tuned:
    return question.bounds[topology].tuned(cap=question.cap, **{**question.values, "R": rounds})


def _row(
    question: Question,
    topology: str,
    place: int,
    tie: int,
    rounds: float,
    allowed: float,
    p_best: Mapping[str, float],
) -> Row:
    reached = rounds <= LONGEST
    horizon = question.horizon or (max(1.0, rounds) if reached else 1.0)
    tuned = _tuned(question, topology, horizon)
    terms = {name: float(value) for name, value in tuned.split.items()}
    finite = tuned.eta_eff is not None and math.isfinite(tuned.eta_eff)
    cost = question.of_a_round(topology)
    seconds, traffic = rounds * cost.seconds, rounds * cost.bytes
    why = ""
    if not reached:
        why = f"the target is not reached within {LONGEST:.0e} rounds"
    elif rounds > allowed:
        why = f"needs {rounds:,.0f} rounds, more than the {allowed:,.0f} allowed"
    elif tuned.eta_eff is None:
        why = "this bound is a rate at a step already chosen, and names no learning rate"
    elif not finite:
        why = "without noise, heterogeneity and cap any learning rate is too small; choose one"
    return Row(
        topology=topology,
        rank=place,
        tie=tie,
        bound_id=question.bounds[topology].id,
        value=float(tuned.value),
        eta_eff=float(tuned.eta_eff) if finite else None,
        eta=float(tuned.eta) if finite else None,
        rounds=int(rounds) if reached else None,
        seconds=seconds if reached and math.isfinite(seconds) else None,
        bytes=traffic if reached and math.isfinite(traffic) else None,
        terms=terms,
        p_best=p_best[topology],
        seconds_per_round=cost.seconds,
        bytes_per_round=cost.bytes,
        dominant=max(terms, key=lambda n: terms[n]) if any(terms.values()) else None,
        cap_binds=bool(tuned.cap_binds),
        why=why,
    )


def _doubt(question: Question, scenario: Scenario, recommended: Sequence[str]) -> list[str]:
    """Where measured runs contradict the bound's preference for rings at the top."""
    if not all(t.startswith("ring") for t in recommended) or question.values["delta"] == 0:
        return []
    pairs = [r for r in evidence.near(question.values) if r.ring.startswith("ring") and r.star.startswith("star")]
    lost = [r for r in pairs if r.verdict == "ring worse"]
    if 4 * len(lost) < max(1, len(pairs)):
        return []
    worst = max(r.ratio for r in lost)
    order = "" if scenario.order == "fixed" else " (measured for fixed order)"
    return [
        f"Inter-group heterogeneity makes this order unreliable{order}: at delta/sigma = {lost[0].delta:g} and "
        f"zeta/sigma = {lost[0].zeta:g}, the measured regime nearest to yours, a ring at the top did worse than a "
        f"star in {len(lost)} of {len(pairs)} measured pairs, by up to {worst:.2g} times. "
        "Regroup for smaller delta, or try both."
    ]


def _about_target(question: Question, met: bool) -> list[str]:
    if met or question.target is not None:
        return []
    goal = float(question.goal())
    if goal < first_bound(question.values):
        return []
    return [
        f"After {question.horizon:,.0f} rounds the bound on Star-Star ({goal:.3g}) is still above 2 L A = "
        f"{first_bound(question.values):.3g}, which holds before the first: it says nothing yet. Give more --rounds."
    ]


def _shown(scenario: Scenario, question: Question) -> dict[str, KnownValue]:
    shown = {
        name: KnownValue(value=k.value, origin=k.origin, unit=k.unit, note=k.note, reading=k.reading)
        for name, k in scenario.known.items()
    }
    if question.target is None:
        known = scenario.known["target"]
        shown["target"] = KnownValue(value=float(question.goal()), origin="derived", note=known.note)
    shown["order"] = KnownValue(value=scenario.order, origin="given" if scenario.order != "fixed" else "default")
    return shown
