"""The early version of the unified analyses, and the rates that both versions attribute to other papers.

Expected numbers come from `data/unified_points.csv` (computed by another person from the formulas), from plain
float formulas typed here from the paper, or from limits in which two algorithms are the same. Nothing expected
here is computed by hflbounds.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_points import SCENARIOS, TOPOLOGIES

from hflbounds import Bound, ConditionError, catalogue, families, get
from hflbounds.audit.checks import Verdict
from hflbounds.core.quantities import ABOUT
from hflbounds.derive import Result, zhou2025

DATA = Path(__file__).parents[2] / "data" / "unified_points.csv"
with DATA.open(encoding="utf-8", newline="") as _file:
    ROWS = [row for row in csv.DictReader(_file) if row["regime"] == "early"]

FAMILIES = ("zhou2025.thm1", "zhou2025.cor1", "zhou2025.thm1-proof")
LEMMAS = ("zhou2025.lemma1", "zhou2025.lemma2", "zhou2025.recursion", "zhou2025.smallest-gradient")
RELATED = (
    "koloskova2020.fedavg",
    "li2023.sfl",
    "wang2022.hsgd",
    "wang2022.hsgd-early",
    "liu2022.qsgd",
    "jiang2024.hfl",
)
ORDERS = ("lee2020.star-ring-order", "yan2025.ring-star-order", "stich2018.sgd-order")
BOUNDS = (*(bound for name in (*FAMILIES, *LEMMAS) for bound in families()[name]), *map(get, (*RELATED, *ORDERS)))
DEFAULT = {name: float(number) for name, number in SCENARIOS["1"].items()}
for_every_topology = pytest.mark.parametrize("topology", TOPOLOGIES.values())


def scenario(row: dict[str, str]) -> dict[str, float]:
    return {name: float(number) for name, number in SCENARIOS[row["point"]].items()}


def close(found: float, printed: str) -> bool:
    """Ten significant digits are printed."""
    return math.isclose(found, float(printed), rel_tol=1e-9, abs_tol=0)


# ---------------------------------------------------------------- the audit and the lines


def test_the_audit_passes(verdicts_of: Callable[[Iterable[Bound]], list[Verdict]]) -> None:
    verdicts = verdicts_of(BOUNDS)
    assert not [v for v in verdicts if v.failure]
    assert all(v.facts for v in verdicts)
    assert {"one_group", "one_client", "order", "scaling", "many_rounds"} <= {v.check for v in verdicts}


def test_every_line_is_as_recorded(results: Mapping[str, Result]) -> None:
    mine = [results[line.id] for line in zhou2025.LINES]
    assert not [r for r in mine if not r.as_recorded]
    assert not [r for r in mine if r.finding.verdict == "cannot tell"]
    known = {e.id for bound in BOUNDS for e in bound.errata}
    assert {r.line.erratum for r in mine} - {None} <= known


# ---------------------------------------------------------------- reference values


def test_the_reference_values_are_complete() -> None:
    assert {(row["point"], row["topology"]) for row in ROWS} == {(p, t) for p in SCENARIOS for t in TOPOLOGIES}


@pytest.mark.parametrize("row", ROWS, ids=lambda r: f"{r['point']}-{r['topology']}")
def test_values(row: dict[str, str]) -> None:
    numbers, topology = scenario(row), TOPOLOGIES[row["topology"]]
    eta_fix = 1 / (25 * numbers["L"])
    unit, rate, proof = (get(f"{name}.{topology}") for name in FAMILIES)
    assert close(unit(eta_eff=eta_fix, **numbers), row["unit@eta_fix"])
    assert close(rate(**numbers), row["printed rate (cor.)"])
    assert close(proof(eta_eff=eta_fix, **numbers), row["explicit@eta_fix"])
    free, capped = unit.tuned(cap="none", **numbers), unit.tuned(**numbers)
    assert close(free.eta_eff, row["eta*_unit"])
    assert close(free.value, row["unit@eta* (no cap)"])
    assert capped.cap_binds is (row["cap binds"] == "yes")
    assert close(capped.value, row["unit tuned with cap"])
    assert capped.eta_eff == pytest.approx(min(free.eta_eff, 1 / (12 * numbers["L"])), rel=1e-12)


def by_hand(topology: str, **n: float) -> tuple[float, float, float]:
    """Theorem 1, Corollary 1 and C.2 in floats, from ring tiers instead of from the four displays."""
    top, low = topology.split("-")
    g = n["G"] if top == "ring" else 1
    v, n_all = n["L"] * n["eta_eff"], n["G"] * n["P"] * n["M"] * n["K"]
    own = n["sigma"] ** 2 / (g * n["P"] * n["K"]) ** 2 if low == "star" else 0.0
    noise = n["sigma"] ** 2 / (g * n["P"] * n["M"] * n["K"])
    intra = n["zeta"] ** 2 / (g * n["P"]) ** 2
    start = n["A"] / (n["eta_eff"] * n["R"])
    first = own * (v if top == "star" else v**2)
    unit = start + v * noise + first + v**2 * (intra + n["delta"] ** 2)
    a = n["L"] * n["A"] / n["R"]
    rate = a + math.sqrt(a * noise) + math.sqrt(a * own) + (a**2 * intra) ** (1 / 3) + (a * n["delta"]) ** (2 / 3)
    # C.2: one term for every stretch of the chain: own steps, the pass of a ring, group rounds, groups before.
    m = n["M"] if low == "ring" else 1
    c = 12 * (1 if topology == "star-star" else 2 if topology == "ring-ring" else 1.5)
    gp = g * n["P"]
    local = n["sigma"] ** 2 / (gp**2 * m**2 * n["K"]) if low == "ring" else own
    passes = [n["sigma"] ** 2 / (gp**2 * n["M"] * n["K"])] if low == "ring" else []
    rounds = [n["sigma"] ** 2 / (g * g * n["P"] * n["M"] * n["K"])]
    groups = [n["sigma"] ** 2 / (g * n["P"] * n["M"] * n["K"])] if top == "ring" else []
    intra_all = [n["zeta"] ** 2 / (gp * m) ** 2] + ([n["zeta"] ** 2 / gp**2] if low == "ring" else [])
    stretches = {1 / (gp * m) ** 2, 1 / gp**2, 1 / g**2, 1.0}
    lengths = [1 / (gp * m) ** 2, *([1 / gp**2] if low == "ring" else []), *([1 / g**2] if top == "ring" else []), 1.0]
    assert set(lengths) <= stretches
    drift = local + sum(passes + rounds + groups + intra_all) + n["delta"] ** 2 * sum(lengths)
    proof = c / 5 * (start + v * n["sigma"] ** 2 / n_all) + c * v**2 * drift
    return unit, rate, proof


@for_every_topology
def test_values_at_other_points(topology: str) -> None:
    """The reference values have L = 1 and G = M nearly everywhere; here every letter differs."""
    rng = np.random.default_rng(7)
    for _ in range(40):
        numbers: dict[str, float] = {
            name: float(np.exp(rng.uniform(*np.log(ABOUT[name].typical))))
            for name in ("L", "A", "sigma", "zeta", "delta")
        }
        counts = rng.choice(np.arange(2, 60), 5, replace=False)
        numbers |= dict(zip(("G", "P", "M", "K", "R"), map(float, counts), strict=True))
        numbers["eta_eff"] = float(rng.uniform(0.05, 1)) / (12 * numbers["L"])
        found = [get(f"{name}.{topology}")(**numbers) for name in FAMILIES]
        assert found == pytest.approx(by_hand(topology, **numbers), rel=1e-12)


# ---------------------------------------------------------------- conditions and limits


@for_every_topology
def test_the_cap_and_the_raw_step(topology: str) -> None:
    counts = {"star-star": 50, "star-ring": 400, "ring-star": 500, "ring-ring": 4000}[topology]
    numbers = DEFAULT | {"P": 5, "K": 10, "M": 8, "L": 2}
    for name in ("zhou2025.thm1", "zhou2025.thm1-proof"):
        bound = get(f"{name}.{topology}")
        assert bound.raw_step(eta_eff=0.04, **numbers) == pytest.approx(0.04 / counts, rel=1e-12)
        assert bound.applies(eta_eff=1 / 24 * (1 - 1e-12), **numbers)
        with pytest.raises(ConditionError):
            bound(eta_eff=1 / 24 * (1 + 1e-9), **numbers)


@for_every_topology
def test_letters_are_the_common_ones(topology: str) -> None:
    """Inter-group heterogeneity has the coefficient (L eta_eff)^2 whatever the counts; intra-group has not."""
    bound = get(f"zhou2025.thm1.{topology}")
    numbers = DEFAULT | {"P": 5, "eta_eff": 0.04}
    quiet = bound(**numbers | {"zeta": 0, "delta": 0})
    assert bound(**numbers | {"zeta": 0, "delta": 2}) - quiet == pytest.approx(4 * 0.04**2, rel=1e-9)
    assert bound(**numbers | {"zeta": 2, "delta": 0}) - quiet < 4 * 0.04**2 / 24
    assert bound.source.paper.notation == {"zeta": r"\hat\zeta", "delta": r"\zeta"}


def value(name: str, **numbers: Any) -> float:
    return float(get(name)(**{**DEFAULT, "eta_eff": 0.04, **numbers}))


@pytest.mark.parametrize("name", ["zhou2025.thm1", "zhou2025.cor1"])
def test_limits(name: str) -> None:
    # without noise the low tier makes no difference
    for top in ("star", "ring"):
        assert value(f"{name}.{top}-star", sigma=0) == value(f"{name}.{top}-ring", sigma=0)
    # without noise and heterogeneity only the first term is left, for all
    left = {value(f"{name}.{t}", sigma=0, zeta=0, delta=0) for t in TOPOLOGIES.values()}
    assert left == {2.3 / (0.04 * 5000) if name.endswith("thm1") else 2.3 / 5000}
    # one group: a ring of one group is a star of one group, and the ring tier sees it
    alone = {t: value(f"{name}.{t}", G=1, delta=0) for t in TOPOLOGIES.values()}
    assert alone["star-ring"] == pytest.approx(alone["ring-ring"], rel=1e-12)
    # a ring never has the larger bound
    for worse, better in (("star-star", "star-ring"), ("star-star", "ring-star"), ("ring-star", "ring-ring")):
        assert value(f"{name}.{better}", G=7, M=30, K=4) <= value(f"{name}.{worse}", G=7, M=30, K=4)


def test_one_group_is_where_theorem_and_corollary_part() -> None:
    """With one group Star-Star and Ring-Star are one algorithm: (9) and (11) agree there, (5) and (7) do not."""
    alone = {"G": 1, "delta": 0}
    rates = [value(f"zhou2025.cor1.{t}", **alone) for t in ("star-star", "ring-star")]
    assert rates[0] == pytest.approx(rates[1], rel=1e-12)
    star, ring = (value(f"zhou2025.thm1.{t}", **alone) for t in ("star-star", "ring-star"))
    assert star - ring == pytest.approx((0.04 - 0.04**2) / 2**2, rel=1e-9)  # sigma = L = 1, PK = 2


@for_every_topology
def test_statuses(topology: str) -> None:
    """What has a counterexample is refuted; what the project's own theorem implies is proved."""
    refuted = topology in ("star-star", "ring-star")
    assert get(f"zhou2025.thm1.{topology}").status == ("refuted" if refuted else "proved")
    of_proof = {"star-ring": "reconstructed", "ring-ring": "proved"}.get(topology, "refuted")
    assert get(f"zhou2025.thm1-proof.{topology}").status == of_proof


# ---------------------------------------------------------------- other papers' rates


def test_rates_of_others_are_what_table_1_prints() -> None:
    n = {
        "G": 7.0,
        "P": 3.0,
        "M": 11.0,
        "K": 5.0,
        "R": 900.0,
        "L": 2.0,
        "A": 1.7,
        "sigma": 0.9,
        "zeta": 0.4,
        "delta": 0.6,
    }
    G, P, M, K, R, L, A, sigma, zeta, delta = n.values()
    a = L * A / R
    printed = {
        "koloskova2020.fedavg": L**0.5 * sigma / math.sqrt(M * K * R)
        + (L * sigma) ** (2 / 3) / (K * R**2) ** (1 / 3)
        + (L * delta / R) ** (2 / 3),
        "li2023.sfl": L**0.5 * sigma / math.sqrt(M * K * R)
        + (L * sigma) ** (2 / 3) / (M * K * R**2) ** (1 / 3)
        + (L * delta / R) ** (2 / 3),
        "wang2022.hsgd": L**0.5 * sigma / math.sqrt(G * P * M * K * R)
        + (L * sigma) ** (2 / 3) * ((P**2 * K * R**2) ** (-1 / 3) + (P * M * K * R**2) ** (-1 / 3))
        + (L * zeta / (P * R)) ** (2 / 3)
        + (L * delta / R) ** (2 / 3),
        "wang2022.hsgd-early": a
        + math.sqrt(a * sigma**2 / (K * P * M * G))
        + math.sqrt(a * sigma * math.sqrt(M / (K * P)))
        + (a * delta) ** (2 / 3)
        + (a * zeta / P) ** (2 / 3),
        "liu2022.qsgd": (L * A + sigma**2 / (G * M)) / math.sqrt(P * K * R) + sigma**2 / R * (1 / M + 1 / P),
        "jiang2024.hfl": L * (A + sigma**2) / math.sqrt(G * P * M * K * R)
        + (zeta**2 + delta**2) / (K**2 * R)
        + delta**2 / R,
    }
    assert tuple(printed) == RELATED
    for name, expected in printed.items():
        bound = get(name)
        assert bound(**n) == pytest.approx(expected, rel=1e-12)
        assert (bound.status, bound.constants, bound.kind, bound.topology) == ("printed", "hidden", "rate", None)
        assert {e.id for e in bound.noted} == set(bound.breaks.values())


def test_the_row_of_wang_is_corollary_1_of_the_camera_ready_without_its_gap() -> None:
    numbers = DEFAULT | {"P": 5, "L": 2, "A": 1, "G": 7, "M": 11}
    ours = get("zhou2026.cor1.star-star")(**numbers) - 2 * 1 / 5000
    assert get("wang2022.hsgd")(**numbers) == pytest.approx(ours, rel=1e-9)


def test_one_tier_is_star_star_with_one_client_in_each_group() -> None:
    """The camera ready's footnote: with P = M = 1 and zeta = 0, M of FedAvg being G of Star-Star."""
    one_tier = get("koloskova2020.fedavg").split(M=60, K=5, R=900, L=2, sigma=0.9, delta=0.6)
    two = get("wang2022.hsgd").split(G=60, P=1, M=1, K=5, R=900, L=2, sigma=0.9, zeta=0, delta=0.6)
    assert list(one_tier.values()) == pytest.approx([two["noise"], two["noise_drift"], two["inter_drift"]], rel=1e-12)


def test_every_id_is_in_the_catalogue() -> None:
    assert {*RELATED, *(f"{name}.{t}" for name in FAMILIES for t in TOPOLOGIES.values())} <= set(catalogue())


# ---------------------------------------------------------------- Lemmas 1 and 2


def test_lemma_2_as_printed_is_violated_by_a_group_that_drifts_alone() -> None:
    """Groups with losses +x and -x, 100 like clients, 20 group rounds of one step: client after p rounds is at p."""
    exact = 2 * 100 * sum(p**2 for p in range(20))
    values = {"G": 2, "M": 100, "P": 20, "K": 1, "L": 1e-6, "eta": 1.0, "sigma": 0, "zeta": 0, "delta": 1, "grad": 0}
    assert get("zhou2025.lemma2.star-star")(**values) < exact < get("zhou2026.drift.star-star")(**values)
    assert get("zhou2025.lemma2.star-star").status == "refuted"
    assert get("zhou2025.lemma2.star-ring")(**values) > exact


@for_every_topology
def test_the_recursion_is_lemma_1_at_the_drift_of_lemma_2(topology: str) -> None:
    values = DEFAULT | {"grad": 0.7, "eta_eff": 1 / (30 * DEFAULT["L"])}
    steps = {"star-star": 1, "star-ring": values["M"], "ring-star": values["G"], "ring-ring": values["G"] * values["M"]}
    values["eta"] = values["eta_eff"] / (values["P"] * values["K"] * steps[topology])
    drift = get(f"zhou2025.lemma2.{topology}")(**values)
    found = get(f"zhou2025.recursion.{topology}")(**values)
    assert found == pytest.approx(get("zhou2025.lemma1")(**values, E_r=drift), rel=1e-12)


@for_every_topology
def test_the_smallest_gradient_leaves_between_5_12_and_1_2(topology: str) -> None:
    """Its first term is A/(share eta_eff R); C.2 puts the share at 5/12 or more up to the cap."""
    bound = get(f"zhou2025.smallest-gradient.{topology}")
    for part in (1e-6, 0.5, 1.0):
        values = DEFAULT | {"eta_eff": part / (12 * DEFAULT["L"])}
        share = values["A"] / (bound.split(**values)["start"] * values["eta_eff"] * values["R"])
        assert 5 / 12 <= share <= 1 / 2


def test_lemma_1_is_that_of_the_camera_ready() -> None:
    values = DEFAULT | {"grad": 0.7, "eta_eff": 0.3 / DEFAULT["L"], "E_r": 2.0}
    assert get("zhou2025.lemma1")(**values) == get("zhou2026.lemma1")(**values)
    with pytest.raises(ConditionError, match="eta_eff"):
        get("zhou2025.lemma1")(**values | {"eta_eff": 0.51 / DEFAULT["L"]})
