"""How sure the answer is: what it was told is drawn, and other proofs are asked.

`distributions` says what is not known and how far, `lattice` where it is drawn, `draws` what every topology then takes,
`indices` which input the lead varies with, and `proofs` what other constants say. Every average has a standard error
from as many independent blocks as the lattice has shifts.

None of it says that the bound predicts well. That is another kind of uncertainty, and so is the choice of constants in
a proof, for which `constant_sets` asks every proved family of bounds that is about this scenario.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from planner.decide.parameters import of_clock
from planner.decide.recommendation import Drawn, Estimate, InputUncertainty, Uncertainty
from planner.decide.uncertainty.distributions import timed
from planner.decide.uncertainty.draws import DRAWS_TIMED, Totals, draws, p_best, regret
from planner.decide.uncertainty.indices import LARGEST_MARGIN, alone, explained
from planner.decide.uncertainty.proofs import constant_sets
from planner.io.wording import input_words, join, join_with_limit, percent, title
from planner.predict.evidence import orderings
from planner.predict.question import Question
from planner.scenario.fields import CLOCKED
from planner.scenario.resolve import Scenario

LITTLE = 0.05  # an index below it does not matter
WORTH = 0.1  # and from here on one is named as what to measure
SURE = 0.99


def assess(
    question: Question, scenario: Scenario, recommended: Sequence[str], settling: Collection[str] = ()
) -> Uncertainty | None:
    """How sure the answer is; None where the scenario asks for no draws.

    ``recommended`` is the first tie group, best first; to know one of ``settling`` better may leave the first alone.
    """
    if not scenario.draws:
        return None
    objective = scenario.objective
    errors = question.predictor.errors(question)
    found = draws(question, scenario, objective, errors)
    first = found.same_as(recommended[0])
    every = len(first) == len(found.topologies) or not found.columns
    totals = None if every else Totals(question, found.columns, objective)
    indices = None if totals is None else explained(totals, first)
    moved = [None] * len(found.columns) if totals is None else alone(totals, first)
    drawn = tuple(
        Drawn.made_of(
            c,
            distribution=c.spread.kind,
            low=c.middle * math.exp(-c.spread.reach),
            high=c.middle * math.exp(c.spread.reach),
            explains=None if indices is None else indices[i],
            alone=moved[i],
        )
        for i, c in enumerate(found.columns)
    )
    shares = p_best(found)
    number = found.totals.shape[1]
    inputs = InputUncertainty(
        draws=number if found.columns else 0,
        drawn=drawn,
        p_best=shares,
        regret=regret(found, recommended[0]),
        unanswered=float(np.mean(~np.isfinite(found.totals.min(axis=0)))),
        said=(
            *_with_errors(recommended[0], shares, drawn=bool(drawn), known=errors is not None),
            *([] if errors is None else [orderings.of_pilots(question)]),
            *(
                []
                if errors is not None and not drawn
                else _next(drawn, shares[recommended[0]], scenario.tier_names, settling, every=every)
            ),
            *_left_out(question, scenario, number),
        ),
    )
    return Uncertainty(inputs=inputs, constants=constant_sets(scenario, recommended[0], question.target))


def _with_errors(first: str, shares: Mapping[str, Estimate], *, drawn: bool, known: bool) -> list[str]:
    """Say that a predictor's own errors are in the draws."""
    if not known:
        return []
    if drawn:
        return ["The errors of a pilot are those of its seeds, and of rounds beyond its last."]
    share = min(shares[first].value, SURE)
    return [
        f"With the errors of the measured rounds drawn, by their seeds and beyond the last of them, {title(first)} "
        f"is best in {'over ' if shares[first].value > SURE else ''}{percent(share)}."
    ]


def _next(
    drawn: Sequence[Drawn], share: Estimate, tiers: Sequence[str], settling: Collection[str], *, every: bool
) -> list[str]:
    """What to measure next, in a sentence, with the names of tiers."""
    if not drawn:
        return ["Every number that the order depends on was given exactly, so nothing was drawn."]
    if every:
        return ["All topologies take the same for all sampled inputs."]
    known = [(input_words(d.name, tiers), d.explains) for d in drawn if d.explains is not None]
    if not known:
        moved = [(d.alone.swing, input_words(d.name, tiers), d.alone) for d in drawn if d.alone is not None]
        swing, name, ends = max(moved, key=lambda m: m[0])
        if swing > 1e-9:
            return [f"Moved alone, {name} changes the lead over the next best most."]
        if ends.margin_low >= LARGEST_MARGIN:
            return [f"The next best takes more than {math.exp(LARGEST_MARGIN):.0f}x as much for all sampled inputs."]
        return ["No sampled input changes the lead over the next best."]
    ordered = sorted(known, key=lambda item: -item[1].value)
    most = [ordered[0]]
    for item in ordered[1:3]:
        if sum(i.value for _, i in most) < 0.8 and item[1].value >= WORTH:
            most.append(item)
    little = [name for name, index in known if index.high <= LITTLE]
    between = [item for item in ordered if item not in most and item[0] not in little]
    parts = [join([f"{name} ({percent(index.value)})" for name, index in some]) for some in (most, between) if some]
    said = f"Sensitivity of the lead over the next best: {', then '.join(parts)}"
    said += ", where shares overlap" * (sum(index.value for _, index in most + between) > 1)
    if share.value < SURE:
        said += f". Measure {join([name for name, _ in most])} first"
    if little:
        said += f". Under {percent(LITTLE)}: {join_with_limit(little)}"
    if share.value >= SURE:
        words = {input_words(name, tiers) for name in settling}
        settle = [name for name, index in ordered if index.value >= WORTH and name in words]
        narrows = f"Measuring {join(settle)} may settle the toss-up" if settle else ""
        said += f". {narrows or 'Measuring narrows the interval; the verdict stays'}"
    return [f"{said}."]


def _left_out(question: Question, scenario: Scenario, number: int) -> list[str]:
    """What was not drawn, and why."""
    said = []
    if 1 < number < scenario.draws:
        why = "times a round anew" if number <= DRAWS_TIMED else "simulates availability"
        said.append(f"{number:,} draws instead of {scenario.draws:,}: each {why}.")
    if scenario.objective in CLOCKED and timed(question):
        guessed = [n for n, value, _ in of_clock(question) if value > 0 and scenario.known[n].origin == "default"]
        if guessed:
            words = [input_words(name, scenario.tier_names) for name in guessed]
            said.append(f"Compute times are random, so {join_with_limit(words)} stayed as assumed.")
    return said
