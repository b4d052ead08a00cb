"""One line per topology, and per number of groups or value of a count searched, in SI units, for a script."""

from __future__ import annotations

import csv
import io

from planner.decide.recommendation import Recommendation

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
    "rounds_guaranteed",
    "start_eta_eff",
    "start_eta",
    "part",
    *(
        COUNTS := {
            "groups": "G",
            "clients_per_group": "M",
            "group_rounds": "P",
            "local_steps": "K",
            "groups_per_round": "S1",
            "clients_per_round": "S2",
            "zeta": "zeta",
            "delta": "delta",
        }
    ),
)


def render(answer: Recommendation, *, width: int, color: bool) -> str:
    """Comma-separated lines with a header; every cell is a number or a word of this project's own."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COLUMNS)
    here = {column: answer.scenario[name].value for column, name in COUNTS.items()}
    lines = [{**here, **row.model_dump(), "part": "ranking"} for row in answer.ranking]
    for part, rows in {"divisions": answer.divisions, **answer.choices}.items():
        lines += [{**row.model_dump(), "part": part} for row in rows]
    for line in lines:
        line["objective"] = answer.objective
        writer.writerow("" if line.get(name) is None else line[name] for name in COLUMNS)
    return stream.getvalue()
