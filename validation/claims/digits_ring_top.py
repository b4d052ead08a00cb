"""A ring at the top on a neural network: the test error that the paper reports, on digits."""

from __future__ import annotations

import numpy as np

from hflbounds import get
from validation.claims import Claim, Judgement, Plan, Row, Size, overall, together
from validation.experiment import part
from validation.regimes import SHAPE, Measured, foretold, row, two_tier
from validation.statistics import Prediction
from validation.tuning import Protocol, Score, tuned

BOUND = "zhou2026.cor1"
PAIRS = (("ring-star", "star-star"), ("ring-ring", "star-ring"))
# Which kinds of heterogeneity a partition of zhou2026, Appendix B.1, has.
SCHEMES = {"iid": (0.0, 0.0), "intra": (1.0, 0.0), "inter": (0.0, 1.0), "both": (1.0, 1.0)}


def _plan(size: Size) -> Plan:
    quick = size == "quick"
    schemes, horizons, splits = (("iid", "both"), (10,), (1,)) if quick else (tuple(SCHEMES), (10, 20), (1, 2, 3, 4))
    algorithms = {topology: two_tier(topology) for pair in PAIRS for topology in pair}
    plans = {
        (scheme, rounds, split): tuned(
            part("digits-mlp", G=SHAPE["G"], M=SHAPE["M"], partitioned=scheme, seed=split),
            algorithms,
            protocol(rounds, size),
        )
        for scheme in schemes
        for rounds in horizons
        for split in splits
    }
    scores = yield from together(plans)
    rows: list[Row] = []
    told_means: list[str] = []
    for scheme in schemes:
        for rounds in horizons:
            found = {t: errors([scores[scheme, rounds, split][t] for split in splits]) for t in algorithms}
            for ring, star in PAIRS:
                told = predicted(scheme, rounds, ring, star)
                rows.append(row(f"{scheme}, R = {rounds}", f"{ring} / {star}", found[ring], found[star], told))
            means = ", ".join(f"{topology} {np.mean(found[topology].values):.3f}" for topology in algorithms)
            told_means.append(f"{scheme}, R = {rounds}: {means}")
    said = f"Means: {'; '.join(told_means)}. "
    said += "One split: intervals cover the batches, not the split." if quick else f"{len(splits)} splits of the data."
    return Judgement(overall(rows), tuple(rows), said)


def protocol(rounds: int, size: Size) -> Protocol:
    """How rates are chosen: by the test error after the last round, on seeds of their own."""
    tuning, scoring = (4, 8) if size == "quick" else (4, 12)
    return Protocol(
        quantity="error",
        averaged=False,
        rounds=rounds,
        start=8.0,
        tuning=tuple(range(1000, 1000 + tuning)),
        scoring=tuple(range(scoring)),
    )


def errors(scores: list[Score]) -> Measured:
    """Seeds of one split, or means of several; no error at all counts as a third of a sample."""
    values = [np.maximum(score.values, 1 / 900) for score in scores]
    rates = tuple(score.rate for score in scores)
    if len(values) == 1:
        return Measured(tuple(values[0].tolist()), rates)
    return Measured(tuple(float(np.exp(np.log(x).mean())) for x in values), rates)


def predicted(scheme: str, rounds: int, ring: str, star: str) -> Prediction:
    """What Corollary 1 says of the ratio, with every other constant 1: the sign is the same for all of them."""
    zeta, delta = SCHEMES[scheme]
    scenario = {**SHAPE, "R": rounds, "L": 1.0, "A": 1.0, "sigma": 1.0, "zeta": zeta, "delta": delta}
    above, below = (float(get(f"{BOUND}.{t}").tuned(**scenario).value) for t in (ring, star))
    return foretold(above, below, weak=True)


CLAIMS = (
    Claim(
        id="digits-ring-top",
        source="zhou2026, Section 3.2 and Table 2",
        statement="On a neural network too a ring of groups does no worse per global round than a star of groups.",
        prediction=f"{BOUND}, whose terms for ring tops are no larger whatever the constants",
        quantity="test error of a network with one hidden layer on the digits, after the last round",
        plan=_plan,
        metric="accuracy",
    ),
)
