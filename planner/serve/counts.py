"""Label counts that were dropped on the page: what they say of the fleet, and a grouping that makes groups alike."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, Final

from planner.data import heterogeneity
from planner.errors import ScenarioError

LARGEST: Final = 4 << 20  # bytes
NAME: Final = "counts.csv"  # what the file is called in refusals: its own name stays in the browser


def measured(text: bytes) -> dict[str, Any]:
    """Measure label counts, and return the tiers and deviations that a scenario of them has.

    Raises:
        ScenarioError: With line and column of what is wrong.
    """
    if len(text) > LARGEST:
        raise ScenarioError(f"{NAME}: is over {LARGEST >> 20} MiB. Use `hfl-plan measure` for it.", code="E004")
    with tempfile.TemporaryDirectory(prefix="hfl-plan-") as folder:
        path = Path(folder, NAME)
        path.write_bytes(text)
        try:
            form = heterogeneity.parse(str(path))
        except ScenarioError as error:
            raise ScenarioError(str(error).replace(str(path), NAME)) from None
    found = form.measured
    assert found is not None  # noqa: S101 - a file was parsed
    scale = 1.0 if found.absolute else heterogeneity.one_label(heterogeneity.PROBLEM["sigma"], found.labels)
    deviations = [scale * one for one in found.tiers] or [scale * found.delta, scale * found.zeta]
    counts = [max(round(one), 1) for one in found.children] or [found.groups, max(round(found.clients[1]), 1)]
    value, low, high = found.ratio
    return {
        "tiers": [
            {"count": count, "deviation": float(f"{deviation:.4g}")}
            for count, deviation in zip(counts, deviations, strict=True)
        ],
        "text": _in_words(len(counts), found.labels, value, low, high),
        "warnings": [warning.replace(str(path), NAME) for warning in found.warnings],
    }


def _in_words(depth: int, labels: int, value: float | None, low: float | None, high: float | None) -> str:
    said = f"{labels} labels, {depth} tiers."
    if value is not None and depth == 2:
        ends = "" if low is None or high is None else f" [{low:.3g}, {high:.3g}]"
        larger = "inside groups" if value > 1 else "between groups"
        said += f" Squared deviation within over between groups {value:.3g}{ends}: data differ more {larger}."
    return said + " The scale is assumed: a client with one label stands 4 sigma from an even mixture, as on images."
