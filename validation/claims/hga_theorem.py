"""Theorem 1 of xie2024, and the statement with a proof, against runs: measured values over the bounds."""

from __future__ import annotations

from functools import partial

from validation.claims import Claim, Judgement, Plan, Row, Size, overall, row
from validation.claims.hga_setting import REPAIRED, SEEDS, THEOREM, horizons, noted, ratios, theorem, value

INSIDE = {"avg": "gradient steps", "dyn": "FedDyn"}


def _plan(name: str, size: Size) -> Plan:
    settings = {
        (below, ratio, steps): theorem("hga-fl", ratio, steps, below)
        for below in (("avg", "dyn") if name == THEOREM else ("avg",))
        for ratio in ratios(size)
        for steps in horizons(size)
    }
    traces = yield tuple(cell for cell, _, _ in settings.values())
    rows: list[Row] = []
    for (below, ratio, steps), (cell, known, chosen) in settings.items():
        bound = value(name, known, chosen)
        seen = traces[cell].averages["gradient"][:, -1].tolist()
        setting = f"{INSIDE[below]}, speeds 1:{ratio:g}, T = {steps}"
        rows.append(row(setting, f"measured / {name}", seen, [bound] * len(SEEDS), "not larger"))
    return Judgement(overall(rows), tuple(rows), noted(rows))


QUANTITY = "mean squared gradient over T global steps, at the steps where xie2024.thm1 is smallest"
ALONE = "the theorem bounds the gradient"
CLAIMS = (
    Claim(
        id="hga-theorem",
        source="xie2024, Theorem 1, (69) with (67) and (68)",
        statement="Measured values stay below the theorem as it is printed.",
        prediction=f"{THEOREM}, with the delays that the runs have; gradient steps at eta_hat inside, or FedDyn",
        quantity=QUANTITY,
        plan=partial(_plan, THEOREM),
        alone=ALONE,
    ),
    Claim(
        id="hga-repaired",
        source="docs/theory/hga-repaired.md",
        statement="Measured values stay below the bound that has a proof.",
        prediction=f"{REPAIRED}, with the delays that the runs have",
        quantity=QUANTITY,
        plan=partial(_plan, REPAIRED),
        alone=ALONE,
    ),
)
