"""In family and out of family: tables of docs/evidence/families.md are the record, and that the measurements."""

from __future__ import annotations

import csv
import math
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

ROOT = Path(__file__).parents[2]
EVIDENCE = ROOT / "docs" / "evidence"
TEXT = (EVIDENCE / "families.md").read_text(encoding="utf-8")
TOPOLOGIES = ("star-star", "star-ring", "ring-star", "ring-ring")


def read(name: str) -> list[dict[str, str]]:
    with (EVIDENCE / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


RECORD = {(r["where"], r["quantity"], r["by"], r["group"], r["way"]): r for r in read("kinds_record.csv")}
ROWS = read("measured_kinds.csv")


@pytest.fixture
def kinds(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import measured_kinds

    yield measured_kinds
    for name in ("measured_kinds", "kinds_record", "predictor_record", "tilt_record"):
        sys.modules.pop(name, None)


def shares(row: dict[str, str]) -> str:
    """A row of the record as the page writes it."""
    right, low, high = (round(100 * float(row[name])) for name in ("right", "right_low", "right_high"))
    median, p90, mean = (round(100 * float(row[f"regret_{name}"])) for name in ("median", "p90", "mean"))
    off = f"x{float(row['ratio_off']):.2f}" if row["ratio_off"] else "-"
    return f"{right} % [{low}, {high}] | {median} % | {p90} % | {mean} % | {off}"


def table(start: str) -> list[list[str]]:
    block = next(b for b in re.split(r"\n\n", TEXT) if b.startswith(start))
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in block.splitlines()[2:]]


@pytest.mark.parametrize("quantity", ["loss", "gradient"])
@pytest.mark.parametrize("where", ["in family", "out of family"])
def test_the_tables_are_the_record(where: str, quantity: str) -> None:
    shown = {cells[0].replace("`", ""): " | ".join(cells[1:]) for cells in table(f"| {where}, by {quantity}")}
    assert len(shown) >= 10
    for way, cells in shown.items():
        assert cells == shares(RECORD[where, quantity, "all", "all", way]), way


def test_the_kept_table_is_the_record() -> None:
    shown = {cells[0].replace("`", ""): " | ".join(cells[1:]) for cells in table("| in family, kept, by loss")}
    assert len(shown) == 8
    for way, cells in shown.items():
        assert cells == shares(RECORD["in family, kept", "loss", "all", "all", way]), way


def test_the_table_of_pilots_in_family_is_the_record() -> None:
    where = "in family, one problem"
    shown = {cells[0].replace("`", ""): " | ".join(cells[1:]) for cells in table(f"| {where}, by loss")}
    assert {"another run", "pilot of 8 rounds, 4 seeds", "spectrum, rounds given"} <= shown.keys()
    for way, cells in shown.items():
        assert cells == shares(RECORD[where, "loss", "all", "all", way]), way


def test_pilots_in_family_by_a_plain_count() -> None:
    """Regrets of the lowest loss of a pilot of four seeds, from the measurements alone."""
    pilots = {(r["scenario"], r["topology"]): r for r in read("pilots_in_family.csv") if r["seeds"] == "4"}
    regrets = []
    for row in read("measured_in_family.csv"):
        runs = {t: min(float(row[t]), 90.0) for t in TOPOLOGIES}
        losses = {t: float(pilots[row["scenario"], t]["after_8"]) for t in TOPOLOGIES}
        regrets.append(runs[min(losses, key=lambda t, of=losses: of[t])] / min(runs.values()) - 1)
        assert float(pilots[row["scenario"], "star-star"]["after_0"]) == pytest.approx(float(row["A"]), rel=2e-3)
        assert int(row["G"]) * int(row["M"]) * int(row["P"]) * int(row["K"]) <= 120
    row = RECORD["in family, one problem", "loss", "all", "all", "pilot of 8 rounds, 4 seeds, lowest loss"]
    assert int(row["rows"]) == len(regrets)
    assert float(row["right"]) == pytest.approx(np.mean([x <= 0.02 for x in regrets]), abs=6e-4)
    assert float(row["regret_mean"]) == pytest.approx(np.mean(regrets), abs=6e-4)


def test_the_tables_by_family_and_heterogeneity_are_the_record() -> None:
    cells = table("| out of family, by loss: right")
    head = TEXT.split("| out of family, by loss: right")[1].splitlines()[0]
    ways = [word.strip().replace("`", "") for word in head.split("|")[2:] if word.strip()]
    assert len(cells) == 6 + 4 + 3
    for group, rows, *shown in cells:
        by = "family" if group in {r["family"] for r in ROWS} else "reference" if group.isdigit() else "heterogeneity"
        for way, cell in zip(ways, shown, strict=True):
            row = RECORD["out of family", "loss", by, group, way]
            assert row["rows"] == rows
            assert cell == f"{float(row['right']):.0%}, {float(row['regret_p90']):.0%}", (group, way)


def test_habits_and_pilots_by_a_plain_count() -> None:
    """Regrets of always the same, of another run and of the lowest loss of a pilot, from the measurements alone."""
    pilots = {(r["scenario"], r["topology"]): r for r in read("pilots_of_kinds.csv") if r["seeds"] == "1"}
    for quantity in ("loss", "gradient"):
        mine = [r for r in ROWS if r["quantity"] == quantity]
        found: dict[str, list[float]] = {}
        for row in mine:
            runs = {t: min(float(row[t]), 90.0) for t in TOPOLOGIES}
            firsts = {f"always {t.title()}": t for t in TOPOLOGIES}
            firsts["another run"] = min(TOPOLOGIES, key=lambda t, row=row: min(float(row[f"again_{t}"]), 90.0))
            if quantity == "loss":
                for horizon in (5, 8):
                    losses = {t: float(pilots[row["scenario"], t][f"after_{horizon}"]) for t in TOPOLOGIES}
                    firsts[f"pilot of {horizon} rounds, lowest loss"] = min(losses, key=lambda t, of=losses: of[t])
            for way, first in firsts.items():
                found.setdefault(way, []).append(runs[first] / min(runs.values()) - 1)
        for way, regrets in found.items():
            row = RECORD["out of family", quantity, "all", "all", way]
            assert int(row["rows"]) == len(mine)
            assert float(row["right"]) == pytest.approx(np.mean([x <= 0.02 for x in regrets]), abs=6e-4)
            assert float(row["regret_p90"]) == pytest.approx(np.quantile(regrets, 0.9), abs=6e-4)
            assert float(row["regret_mean"]) == pytest.approx(np.mean(regrets), abs=6e-4)


def test_rows_are_whole_and_as_the_distribution_says(kinds: Any) -> None:
    seen: dict[str, set[tuple[str, str]]] = {}
    for row in ROWS:
        told, _ = kinds.scenario(int(row["scenario"].split("-")[1]))
        assert {name: str(value) for name, value in told.items()}.items() <= row.items()
        assert int(row["G"]) * int(row["M"]) * int(row["P"]) * int(row["K"]) <= kinds.LONGEST_CHAIN
        assert float(row["star-star"]) <= int(row["reference"]) + 1e-6
        assert kinds.LEAST * float(row["initial"]) <= float(row["target"]) * 1.001 < float(row["initial"]) * 1.002
        assert math.isfinite(float(row["A"])) and float(row["A"]) > 0
        key = (row["quantity"], row["reference"])
        assert key not in seen.setdefault(row["scenario"], set())
        seen[row["scenario"]].add(key)
    assert len(seen) >= 36
    assert len({row["family"] for row in ROWS}) == 6


def test_smoothing_leaves_what_decays_evenly_as_it_is(kinds: Any) -> None:
    even = 3 * 0.8 ** np.arange(91)[:, None]
    assert kinds.smoothed(even) == pytest.approx(even)
    assert kinds.reached(even[:, 0], 3 * 0.8**6) == pytest.approx(6)
    assert kinds.reached(even[:, 0], 3 * 0.9) == pytest.approx(0.5)
    assert kinds.reached(even[:, 0], 1e-20) == math.inf
    bumpy = even.copy()
    bumpy[20] *= 8
    assert kinds.smoothed(bumpy)[20] == pytest.approx(even[20] * 8 ** (1 / 7))  # three rounds either side
    assert kinds.trailing(np.array([9.0, 4, 2, 6, 1]))[[0, 1, 2, 4]].tolist() == [9, 4, 3, 3]


def test_constants_along_the_path_are_those_of_the_problem(kinds: Any) -> None:
    from validation.problems.power_law import power_law

    path = kinds.along(power_law(G=3, M=2, intra=0.5, inter=0.3, sigma=0.7))
    for told in path:
        assert (told["L"], told["zeta"], told["delta"]) == pytest.approx((1, 0.5, 0.3), rel=1e-9)
        assert told["sigma"] == pytest.approx(0.7, rel=0.1)


def test_a_pilot_gives_rounds_relative_to_star_star(kinds: Any) -> None:
    import kinds_record

    losses = {
        "star-star": [8, 4, 2, 1.5, 1.2, 1, 0.9, 0.8, 0.75],
        "ring-ring": [8, 1, 0.9, 0.5, 0.4, 0.3, 0.2, 0.2, 0.2],
        "star-ring": [8, 7, 6, 5, 4.5, 4, 3.5, 3, 2],
        "ring-star": [8, 4, 2, 1.5, 1.2, 1, 0.9, 0.8, 0.7],
    }
    rows = [{"topology": t, **{f"after_{i}": str(x) for i, x in enumerate(curve)}} for t, curve in losses.items()]
    pilot = kinds_record.Piloted.of(rows)
    assert pilot.first(5) == "ring-ring"
    rounds = pilot.rounds(5)
    assert rounds["star-star"] == rounds["ring-star"] == 5
    assert rounds["ring-ring"] == pytest.approx(1)
    assert rounds["star-ring"] == pytest.approx(25 / 1)  # what Star-Star had after one round
    assert pilot.alone({"reference": "6"}, 8).rounds["ring-ring"] == pytest.approx(2)
