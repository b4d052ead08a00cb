"""Answers about other families in every format: the same numbers, whatever they are written as."""

from __future__ import annotations

import csv
import io

import pytest
from documents import own

from planner.report.render import formats

pytestmark = pytest.mark.usefixtures("few_draws")

COMMANDS = {
    "overlap": (("triangle:3,2,1", "-H", "inter"), lambda d: [d["options"][name] for name in ("hfl", "hhfl")]),
    "hubs": (("--nodes", "20", "--edges", "80"), lambda d: [d["best"], *d["others"]]),
    "async": (("-G", "3", "-M", "4", "--speed-ratio", "3"), lambda d: d["buffers"]),
}


@pytest.mark.usefixtures("asked_once", "unturned")
@pytest.mark.parametrize("command", COMMANDS)
def test_every_format_shows_the_same_answer(plan, command: str) -> None:
    words, rows_of = COMMANDS[command]
    printed = {}
    for name in formats():
        code, printed[name], err = plan(command, *words, "--format", name)
        assert (code, err) == (0, "")
    wanted = rows_of(own(printed["json"]))
    short = own(plan(command, *words, "--json")[1])
    assert short | {"command": []} == own(printed["json"]) | {"command": []}
    cells = list(csv.DictReader(io.StringIO(printed["csv"])))
    cells = [row for row in cells if ",P=" not in row["id"]][: len(wanted)]  # without the plan of other group rounds
    told = [(row["time_seconds"], row["traffic_bytes"]) for row in cells]
    assert [tuple(float(x) if x else None for x in pair) for pair in told] == [
        (r["seconds"], r["bytes"]) for r in wanted
    ]
    sentence = printed["table"].splitlines()[0]
    for name in ("markdown", "html", "latex"):
        assert sentence.split()[0] in printed[name]


def test_a_format_that_is_none_is_refused(plan) -> None:
    code, out, err = plan("hubs", "--nodes", "20", "--edges", "80", "--format", "pdf")
    assert (code, out) == (2, "")
    assert "--format: 'pdf' is not one of" in err
