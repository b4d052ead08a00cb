"""Overlap on handwritten digits: clients of two labels each, servers that lack some labels or none."""

from __future__ import annotations

from validation.claims import Claim, Judgement, Plan, Row, Size, overall
from validation.claims.hhfl_setting import APART, PAPERS
from validation.experiment import part
from validation.statistics import Prediction, judge, paired_ratio
from validation.tuning import Protocol, tuned

EVERYWHERE = "ring:3,19,19"


def _plan(size: Size) -> Plan:
    rows, rates = [], []
    for network in ("digits-logistic",) if size == "quick" else ("digits-logistic", "digits-mlp"):
        for missing in (0, 4) if size == "quick" else (0, 2, 4, 8):
            problem = part(network, G=3, M=19, partitioned="pathological", kinds=2, missing=missing)
            algorithms = {c: part("hhfl", coverage=c, E=5, Ge=5) for c in (APART, PAPERS, EVERYWHERE)}
            protocol = Protocol(
                quantity="loss",
                averaged=False,
                rounds=8 if size == "quick" else 20,
                start=40.0,
                tuning=tuple(range(1000, 1004)),
                scoring=tuple(range(8 if size == "quick" else 32)),
                reach=1,
            )
            found = yield from tuned(problem, algorithms, protocol)
            rates.append(", ".join(f"{score.rate:.3g}" for score in found.values()))
            told: Prediction = "smaller" if missing else "tie"
            for coverage in (PAPERS, EVERYWHERE):
                ratio = paired_ratio(found[coverage].values.tolist(), found[APART].values.tolist())
                setting = f"{network}, every server lacks {missing} of 10 labels"
                rows.append(Row(setting, f"{coverage} / {APART}", ratio, told, judge(ratio, told)))
    note = f"Holds in {sum(row.verdict == 'holds' for row in rows)} of {len(rows)} comparisons."
    return Judgement(overall(rows), tuple(rows), f"{note} Effective rates: {'; '.join(rates)}.")


CLAIMS = (
    Claim(
        id="hhfl-digits",
        source="liu2026, Sections V-B1 and V-B2",
        statement="HHFL trains faster than HFL where servers lack labels, and just as fast where none do.",
        prediction="smaller, and a tie; what the bounds ask for is not known of this problem",
        quantity="training loss after the same number of local steps, at the best constant rate of each",
        plan=_plan,
    ),
)
