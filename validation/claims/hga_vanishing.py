"""Whether HGA-FL's gradient vanishes with more and smaller steps, whatever the speeds."""

from __future__ import annotations

from validation.claims import Claim, Judgement, Plan, Row, Size, overall, row
from validation.claims.hga_setting import THEOREM, horizons, noted, ratios, theorem, value
from validation.statistics import Prediction


def _plan(size: Size) -> Plan:
    short, long = horizons(size)
    settings = {(ratio, steps): theorem("hga-fl", ratio, steps) for ratio in ratios(size) for steps in (short, long)}
    traces = yield tuple(cell for cell, _, _ in settings.values())
    rows: list[Row] = []
    for ratio in ratios(size):
        seen, bounds = {}, {}
        for steps in (short, long):
            cell, known, chosen = settings[ratio, steps]
            seen[steps] = traces[cell].averages["gradient"][:, -1].tolist()
            bounds[steps] = value(THEOREM, known, chosen)
        told: Prediction = "smaller" if bounds[long] < bounds[short] else "larger"
        rows.append(row(f"speeds 1:{ratio:g}", f"T = {long} / T = {short}", seen[long], seen[short], told))
    return Judgement(overall(rows), tuple(rows), noted(rows))


CLAIMS = (
    Claim(
        id="hga-vanishing",
        source="xie2024, Theorem 1 and Corollary 1",
        statement="With more global steps, and rates that fit, the mean squared gradient falls, whatever the speeds.",
        prediction="xie2024.thm1: no floor; hflbounds.hga-repaired has 8 (M - K)/K sigma_g^2, which no step removes",
        quantity="mean squared gradient over T global steps, at the steps where xie2024.thm1 is smallest for that T",
        plan=_plan,
    ),
)
