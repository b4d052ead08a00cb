"""One line per topology, in SI units, for a spreadsheet or a script."""

from __future__ import annotations

import csv
import io

from planner.recommendation import Recommendation

COLUMNS = (
    "rank",
    "tie",
    "topology",
    "bound_id",
    "objective",
    "value",
    "eta_eff",
    "eta",
    "rounds",
    "seconds",
    "bytes",
    "seconds_per_round",
    "bytes_per_round",
    "dominant",
    "cap_binds",
    "p_best",
)


def render(answer: Recommendation, *, width: int, color: bool) -> str:
    """Comma-separated lines with a header; every cell is a number or a word of this project's own."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in answer.ranking:
        data = {**row.model_dump(), "objective": answer.objective}
        writer.writerow("" if data[name] is None else data[name] for name in COLUMNS)
    return stream.getvalue()
