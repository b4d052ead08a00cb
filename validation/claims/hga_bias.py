"""Where servers settle under unequal speeds: FedBuff at a gradient of -b, HGA-FL at -2b, CA2FL at zero."""

from __future__ import annotations

from validation.claims import Claim, Judgement, Plan, Size, overall, row
from validation.claims.hga_setting import horizons, noted, ratios, theorem
from validation.statistics import Prediction

RULES = ("hga-fl", "fedbuff", "ca2fl")
PAIRS: tuple[tuple[str, str, Prediction], ...] = (
    ("hga-fl", "fedbuff", "larger"),
    ("ca2fl", "fedbuff", "smaller"),
)


def _plan(size: Size) -> Plan:
    steps = horizons(size)[1]
    cells = {(ratio, name): theorem(name, ratio, steps)[0] for ratio in ratios(size)[1:] for name in RULES}
    traces = yield tuple(cells.values())
    late = {key: traces[cell].values["gradient"][:, -1].tolist() for key, cell in cells.items()}
    rows = tuple(
        row(f"speeds 1:{ratio:g}", f"{above} / {below}", late[ratio, above], late[ratio, below], told)
        for ratio in ratios(size)[1:]
        for above, below, told in PAIRS
    )
    return Judgement(overall(rows), rows, noted(rows))


CLAIMS = (
    Claim(
        id="hga-bias",
        source="docs/theory/hga-repaired.md, section 1; xie2024.G6",
        statement="Under unequal speeds HGA-FL ends further from the optimum than FedBuff, and CA2FL nearer to it.",
        prediction="the fixed points: four times FedBuff's squared gradient, and none, as the steps get small",
        quantity="squared gradient after the last global step, all rules at the steps where xie2024.thm1 is smallest",
        plan=_plan,
    ),
)
