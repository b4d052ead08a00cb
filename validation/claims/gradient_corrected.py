"""Gradient correction against averaging, at equal rounds and local steps, each at its best rate."""

from __future__ import annotations

from functools import partial

from hflbounds import get
from validation.claims import Claim, Judgement, Plan, Size, overall
from validation.experiment import part
from validation.regimes import (
    QUANTITY,
    SHAPE,
    Measured,
    Regime,
    bound,
    compared,
    foretold,
    measure,
    note,
    row,
    two_tier,
)
from validation.statistics import Prediction

LONG = {**SHAPE, "P": 2, "K": 5}  # long local work, so that there is drift to correct
CLIENTS = SHAPE["G"] * SHAPE["M"]
STEPS = LONG["P"] * LONG["K"]
ALGORITHMS = {
    "Star-Star": two_tier("star-star", P=LONG["P"], K=LONG["K"]),
    "MTGC": part("mtgc", **LONG, begin="gradients"),
    "FedAvg": part("fedavg", clients=CLIENTS, K=STEPS),
    "SCAFFOLD": part("scaffold", clients=CLIENTS, K=STEPS),
}
PAIRS = (("MTGC", "Star-Star"), ("SCAFFOLD", "FedAvg"))
ALIKE = Regime()


def _regimes(size: Size) -> list[Regime]:
    found = [ALIKE, Regime(zeta=10.0, delta=10.0)]
    if size == "full":
        found += [Regime(zeta=z, delta=d) for z, d in ((1.0, 0.0), (0.0, 1.0), (3.0, 0.0), (0.0, 3.0), (3.0, 3.0))]
        found += [Regime(zeta=z, delta=d, rounds=100) for z, d in ((0.0, 0.0), (3.0, 0.0), (0.0, 3.0), (10.0, 10.0))]
    return found


def _against_averaging(size: Size, alike: bool) -> Plan:
    regimes = [regime for regime in _regimes(size) if alike != bool(regime.zeta or regime.delta)]

    def predicted(regime: Regime, _corrected: str, averaging: str) -> Prediction:
        return "tie" if alike else _gain(regime, averaging)

    return compared(regimes, PAIRS, predicted, size, ALGORITHMS)


def _gain(regime: Regime, averaging: str) -> Prediction:
    """What the rates say of correction over averaging; one tier is one group of everybody."""
    scenario = {**LONG, **regime.constants}
    if averaging == "Star-Star":
        return foretold(float(get("fang2024.mtgc")(**scenario)), bound("zhou2026.cor1", "star-star", regime, **LONG))
    single = {"G": 1, "M": CLIENTS, "P": 1, "K": STEPS, "delta": 0.0, "zeta": (regime.zeta**2 + regime.delta**2) ** 0.5}
    above = float(get("karimireddy2020.scaffold")(**scenario | single, S2=CLIENTS))
    return foretold(above, bound("zhou2026.cor1", "star-star", regime, **single))


def _without_heterogeneity(size: Size) -> Plan:
    regimes, corrected = _regimes(size), {name: ALGORITHMS[name] for name, _ in PAIRS}
    found = yield from measure(regimes, corrected, size)

    def alike(regime: Regime, name: str) -> Measured:
        return found[Regime(rounds=regime.rounds), name]

    rows = tuple(
        row(regime, f"{name}: heterogeneous / alike", found[regime, name], alike(regime, name), "not larger")
        for regime in regimes
        if regime.zeta or regime.delta
        for name in corrected
    )
    return Judgement(overall(rows), rows, note(rows, found.values(), size))


_claim = partial(Claim, source="Karimireddy et al., 2020; Fang et al., 2024", quantity=QUANTITY)

CLAIMS = (
    _claim(
        id="corrected-gains",
        statement="Where clients differ and local steps are many, gradient correction does better than averaging.",
        prediction="fang2024.mtgc and karimireddy2020.scaffold against zhou2026.cor1.star-star, two tiers and one",
        plan=partial(_against_averaging, alike=False),
    ),
    _claim(
        id="corrected-alike",
        statement="Where clients are alike, gradient correction changes nothing.",
        prediction="a tie: fang2024.mtgc and zhou2026.cor1.star-star have the same leading noise",
        plan=partial(_against_averaging, alike=True),
    ),
    _claim(
        id="corrected-heterogeneity",
        statement="With gradient correction clients that differ do no worse than clients that are alike.",
        prediction="fang2024.mtgc and karimireddy2020.scaffold, which no deviation enters",
        plan=_without_heterogeneity,
    ),
)
