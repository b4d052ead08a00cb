"""A claim is judged by other metrics than its own: the same plan, with rates chosen and runs compared by them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("scipy.stats")

from planner.harness.claims import _finding  # noqa: E402
from planner.report import document as laid_out  # noqa: E402
from planner.report.answers.validate import document  # noqa: E402
from planner.report.document import Table  # noqa: E402
from validation import regimes  # noqa: E402
from validation.claims import Judgement, claims, drive  # noqa: E402
from validation.engine import Trace  # noqa: E402
from validation.experiment import Cell  # noqa: E402
from validation.metrics import LEAST, METRICS, RECORDED, Metric, UnmeasuredError, translated  # noqa: E402
from validation.regimes import Regime  # noqa: E402
from validation.sweep import judge, run  # noqa: E402

TINY = {"tuning": (1000, 1001), "scoring": (0, 1, 2, 3), "rounds": 4}


def trace(values: dict[str, list[float]], averages: dict[str, list[float]] | None = None) -> Trace:
    tables = ({name: torch.tensor(x)[:, None] for name, x in table.items()} for table in (values, averages or {}))
    return Trace((7,), *tables)


@pytest.mark.parametrize(
    ("metric", "values", "averages", "wanted"),
    [
        ("gradient", {"gradient": [1.0], "gap": [5.0]}, {"gradient": [2.0], "gap": [6.0]}, 2.0),  # over the rounds
        ("gradient", {"gradient": [1.0], "gap": [5.0]}, {}, 1.0),  # of the last one, where there is no other
        ("loss", {"gradient": [1.0], "gap": [5.0]}, {"gradient": [2.0], "gap": [6.0]}, 5.0),  # always of the last
        ("loss", {"loss": [3.0], "error": [0.5]}, {}, 3.0),
        ("accuracy", {"loss": [3.0], "error": [0.5]}, {}, 0.5),
        ("accuracy", {"loss": [3.0], "error": [0.0]}, {}, LEAST),
        ("accuracy", {"loss": [3.0], "error": [math.inf]}, {}, math.inf),
    ],
)
def test_what_a_metric_is_of_a_trace(metric: Metric, values: Any, averages: Any, wanted: float) -> None:
    found = translated(trace(values, averages), metric)
    for table in (found.values, found.averages):
        for name in ("gradient", "gap", "loss", "error"):  # whatever a plan asks for
            assert table[name].tolist() == [[pytest.approx(wanted)]]
    assert found.rounds == (7,)


def test_what_was_not_measured_is_refused() -> None:
    with pytest.raises(UnmeasuredError, match="do not measure the accuracy"):
        translated(trace({"gradient": [1.0], "gap": [1.0]}), "accuracy")


def made_of(names: Sequence[str]) -> Any:
    """Traces with no other quantities than these; a best rate inside every grid."""

    def execute(cells: Sequence[Cell]) -> dict[Cell, Trace]:
        out = {}
        for cell in cells:
            values = [math.exp(math.log(rate) ** 2 / 10 + 1e-3 * (seed % 7)) for rate, seed in runs(cell)]
            kept = {name: torch.tensor(values, dtype=torch.float64)[:, None] for name in names}
            out[cell] = Trace((cell.rounds,), kept, kept)
        return out

    return execute


def runs(cell: Cell) -> list[tuple[float, int]]:
    return list(zip(cell.rates, cell.seeds, strict=True))


@pytest.mark.parametrize("name", [name for name, claim in claims().items() if claim.metric != "distance"])
def test_a_claim_names_the_metric_that_its_plan_reads(name: str) -> None:
    claim = claims()[name]
    assert drive([claim], "quick", made_of(RECORDED[claim.metric]))[name].rows
    assert claim.others == (() if claim.alone else tuple(m for m in METRICS if m != claim.metric))


def test_a_claim_of_no_metric_is_judged_alone() -> None:
    of_distances = [claim for claim in claims().values() if claim.metric == "distance"]
    assert {claim.id for claim in of_distances} == {"hsl-consensus-exact", "hsl-consensus-beta", "hsl-mean-move"}
    assert all(claim.alone and not claim.others for claim in of_distances)
    assert set(METRICS) < set(get_args(Metric))


def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Claim ring-top, in one regime, with a few short runs."""
    protocol = regimes.protocol
    monkeypatch.setattr(regimes, "protocol", lambda rounds, size: replace(protocol(rounds, size), **TINY))
    monkeypatch.setattr("validation.claims.ring_top.grid", lambda size: (Regime(delta=3.0),))


@pytest.mark.parametrize(
    ("metric", "table", "quantity"), [("gradient", "averages", "gradient"), ("loss", "values", "gap")]
)
def test_rates_are_chosen_and_runs_compared_by_the_metric(
    monkeypatch: pytest.MonkeyPatch, metric: Metric, table: str, quantity: str
) -> None:
    small(monkeypatch)
    kept: dict[Cell, Trace] = {}

    def execute(cells: Sequence[Cell]) -> dict[Cell, Trace]:
        kept.update({cell: cell.run() for cell in cells})
        return {cell: kept[cell] for cell in cells}

    found = drive([claims()["ring-top"]], "quick", execute, metric)["ring-top"]
    score: dict[str, Any] = {}
    tried: dict[str, dict[float, list[float]]] = {}
    for cell, seen in kept.items():
        topology = str(dict(cell.algorithm.options)["topology"])
        numbers = getattr(seen, table)[quantity][:, -1].tolist()
        if set(cell.seeds) == set(TINY["scoring"]):
            score[topology] = (cell.rates[0], np.log(numbers))
            continue
        for (rate, _), number in zip(runs(cell), numbers, strict=True):
            tried.setdefault(topology, {}).setdefault(rate, []).append(math.log(number))
    for topology, (rate, _) in score.items():
        assert rate == min(tried[topology], key=lambda one, among=tried[topology]: np.mean(among[one]))
    assert [row.compared for row in found.rows] == ["ring-star / star-star", "ring-ring / star-ring"]
    for row in found.rows:
        above, below = (score[name][1] for name in row.compared.split(" / "))
        assert math.log(row.ratio.estimate) == pytest.approx(float(np.mean(above - below)), abs=1e-12)


def worlds(gradient: float, gap: float) -> Any:
    """Ring tops have so much of either for every unit that star tops have."""

    def execute(cells: Sequence[Cell]) -> dict[Cell, Trace]:
        out = {}
        for cell in cells:
            ring = str(dict(cell.algorithm.options)["topology"]).startswith("ring")
            own = int(cell.hash[:6], 16)
            shape = [math.exp(math.log(rate) ** 2 / 10 + 1e-4 * ((own + 7 * seed) % 11)) for rate, seed in runs(cell)]
            kept = {
                name: torch.tensor(shape, dtype=torch.float64)[:, None] * (factor if ring else 1.0)
                for name, factor in (("gradient", gradient), ("gap", gap))
            }
            out[cell] = Trace((cell.rounds,), kept, kept)
        return out

    return execute


def test_verdicts_by_two_metrics_are_told_apart_and_counted() -> None:
    claim, world = claims()["ring-top"], worlds(0.5, 2.0)
    judged: dict[Metric, Judgement] = {
        metric: drive([claim], "quick", world, metric)["ring-top"] for metric in (claim.metric, *claim.others)
    }
    assert drive([claim], "quick", world)["ring-top"] == judged["gradient"]
    assert {metric: one.verdict for metric, one in judged.items()} == {
        "gradient": "holds",
        "loss": "fails",
        "accuracy": "cannot tell",
    }
    assert judged["accuracy"].rows == ()
    finding = _finding(claim, judged)
    assert finding.verdict == "holds"
    assert [(by.metric, by.verdict, by.opposite) for by in finding.others] == [
        ("loss", "fails", len(judged["loss"].rows)),
        ("accuracy", None, 0),
    ]
    assert finding.others[1].note == "Not measured: its runs do not measure the accuracy."


def test_a_refusal_by_one_metric_is_said_and_leaves_the_others() -> None:
    def execute(cells: Sequence[Cell]) -> dict[Cell, Trace]:
        out = worlds(1.0, 1.0)(cells)
        for cell, seen in out.items():
            falling = torch.tensor(cell.rates, dtype=torch.float64)[:, None] ** -1.0
            out[cell] = Trace(seen.rounds, {**seen.values, "gap": falling}, seen.averages)
        return out

    claim = claims()["ring-top"]
    assert drive([claim], "quick", execute)["ring-top"].verdict == "holds"
    by_loss = drive([claim], "quick", execute, "loss")["ring-top"]
    assert (by_loss.verdict, by_loss.rows) == ("cannot tell", ())
    assert by_loss.note.startswith("Not judged: ")
    assert "stays at the end of the grid" in by_loss.note


def test_a_store_says_by_which_metrics_it_is_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from planner.harness import claims as harness
    from validation import sweep
    from validation.store import Store

    small(monkeypatch)
    store, claim = tmp_path / "runs.db", claims()["ring-top"]
    with Store(store) as there:
        there.ask(["ring-top"], "quick")
    with monkeypatch.context() as before:
        before.setattr(sweep, "METRICS", ())  # as a version that knew the gradient alone
        assert list(run([claim], "quick", store)["ring-top"]) == ["gradient"]
    old = harness.report(store)
    assert (old.findings[0].metric, old.findings[0].verdict is None) == ("gradient", False)
    assert old.findings[0].others[0].note == "not finished"
    assert "1 of 1 claims are finished (quick), 0 of them by every metric. `hfl-plan validate resume`" in old.told
    new = harness.resume(store)
    assert new.findings[0].rows == old.findings[0].rows
    told = laid_out(document(harness.report(store)))
    assert judge([claim], "quick", store)["ring-top"].keys() == {"gradient", "loss", "accuracy"}
    (data,) = told.answer.to_json()["rows"]
    assert data["by"]["gradient"]["rows"] == data["rows"]
    assert data["by"]["accuracy"]["verdict"] is None
    assert len(data["by"]["loss"]["rows"]) == len(data["rows"]) == 2
    assert {line["metric"] for line in told.answer.records()} == {"gradient", "loss"}
    (section,) = (one for one in told.sections if one.id == "ring-top")
    (compared,) = (block for block in section.blocks if isinstance(block, Table))
    assert [column.name for column in compared.columns][-2:] == ["by gradient", "by loss"]
