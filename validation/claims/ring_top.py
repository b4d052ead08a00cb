"""A ring at the top needs no more rounds than a star, whatever the heterogeneity between groups."""

from __future__ import annotations

from hflbounds import get
from validation.claims import Claim, Judgement, Plan, Row, Size, overall
from validation.experiment import part
from validation.statistics import Prediction, judge, paired_ratio
from validation.tuning import Protocol, tuned

PAIRS = (("ring-star", "star-star"), ("ring-ring", "star-ring"))
SHAPE = {"G": 10, "M": 10, "P": 1, "K": 2}
BOUND = "hflbounds.sharp"


def _plan(size: Size) -> Plan:
    deltas, scoring = ((0.0, 0.1, 1.0, 3.0), 16) if size == "quick" else ((0.0, 0.1, 0.3, 1.0, 3.0), 48)
    zetas = (0.0,) if size == "quick" else (0.0, 1.0)
    rows: list[Row] = []
    rates: list[str] = []
    for zeta in zetas:
        for delta in deltas:
            setting = f"delta/sigma = {delta:g}, zeta/sigma = {zeta:g}"
            problem = part("controlled", G=10, M=10, sigma=1.0, zeta=zeta, delta=delta, A=5.0, seed=1)
            algorithms = {t: part("two-tier", topology=t, **SHAPE) for pair in PAIRS for t in pair}
            protocol = Protocol(
                quantity="gradient",
                averaged=True,
                rounds=30,
                start=1.0,
                tuning=tuple(range(1000, 1008)),
                scoring=tuple(range(scoring)),
            )
            scores = yield from tuned(problem, algorithms, protocol)
            for ring, star in PAIRS:
                ratio = paired_ratio(scores[ring].values.tolist(), scores[star].values.tolist())
                told = predicted(ring, star, zeta=zeta, delta=delta)
                rows.append(Row(setting, f"{ring} / {star}", ratio, told, judge(ratio, told)))
            rates.append(", ".join(f"{name} {score.rate:.3g}" for name, score in scores.items()))
    held = [row.setting for row in rows if row.verdict == "holds"]
    failed = [row.setting for row in rows if row.verdict == "fails"]
    note = f"Holds in {len(held)} and fails in {len(failed)} of {len(rows)} comparisons"
    note += f"; fails at {'; '.join(dict.fromkeys(failed))}." if failed else "."
    return Judgement(overall(rows), tuple(rows), note)


def predicted(ring: str, star: str, **heterogeneity: float) -> Prediction:
    """What the bounds say of the ratio, both tuned under one cap."""
    scenario = {**SHAPE, "R": 30, "L": 1.0, "A": 5.0, "sigma": 1.0, **heterogeneity}
    above, below = (get(f"{BOUND}.{t}").tuned(**scenario, cap="common").value for t in (ring, star))
    return "not larger" if above <= below * (1 + 1e-9) else "larger"


CLAIMS = (
    Claim(
        id="ring-top",
        source="zhou2026, Section 2.4 and Corollary 1; hflbounds.sharp",
        statement="Per global round, a ring of groups does no worse than a star of groups.",
        prediction=f"{BOUND}, each topology at its best step under one cap",
        quantity="mean squared gradient over 30 rounds, the left-hand side of the theorem",
        plan=_plan,
    ),
)
