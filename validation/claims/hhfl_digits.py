"""Overlap on handwritten digits: clients of two labels each, servers that lack some labels or none."""

from __future__ import annotations

from validation.claims import Claim, Judgement, Plan, Row, Size, overall, together
from validation.claims.hhfl_setting import APART, PAPERS
from validation.experiment import Scalar, part
from validation.regimes import pooled, row
from validation.statistics import Prediction
from validation.tuning import Protocol, tuned

EVERYWHERE = "ring:3,19,19"
SPLITS = (0, 1, 2, 3)


def _plan(size: Size) -> Plan:
    quick = size == "quick"
    networks = ("digits-logistic",) if quick else ("digits-logistic", "digits-mlp")
    protocol = Protocol(
        quantity="loss",
        averaged=False,
        rounds=8 if quick else 20,
        start=40.0,
        tuning=tuple(range(1000, 1004)),
        scoring=tuple(range(8)),
        reach=1,
    )
    algorithms = {c: part("hhfl", coverage=c, E=5, Ge=5) for c in (APART, PAPERS, EVERYWHERE)}
    options: dict[str, Scalar] = {"G": 3, "M": 19, "partitioned": "pathological", "kinds": 2}
    settings = [(network, missing) for network in networks for missing in (0, 4)]
    found = yield from together(
        {
            (network, missing, split): tuned(
                part(network, **options, missing=missing, seed=split), algorithms, protocol
            )
            for network, missing in settings
            for split in SPLITS
        }
    )
    rows: list[Row] = []
    rates: list[float] = []
    for network, missing in settings:
        measured = {c: pooled([found[network, missing, split][c] for split in SPLITS]) for c in algorithms}
        rates += [rate for one in measured.values() for rate in one.rates]
        told: Prediction = "smaller" if missing else "tie"
        setting = f"{network}, every server lacks {missing} of 10 labels"
        rows += [row(setting, f"{c} / {APART}", measured[c], measured[APART], told) for c in (PAPERS, EVERYWHERE)]
    note = f"Holds in {sum(row.verdict == 'holds' for row in rows)} of {len(rows)} comparisons."
    said = f"{len(SPLITS)} splits of the data: intervals cover which clients overlap and what they hold."
    said += f" Effective rates: {min(rates):.3g} to {max(rates):.3g}."
    return Judgement(overall(rows), tuple(rows), f"{note} {said}")


CLAIMS = (
    Claim(
        id="hhfl-digits",
        source="liu2026, Sections V-B1 and V-B2",
        statement="HHFL trains faster than HFL where servers lack labels, and just as fast where none do.",
        prediction="smaller, and a tie; what the bounds ask for is not known of this problem",
        quantity="training loss after the same number of local steps, at the best constant rate of each",
        plan=_plan,
        metric="loss",
    ),
)
