"""Predicted against measured: corrections recover what a run was made with."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from test_cli import run
from test_export import FLEET, written

import planner
from planner.export.measured import compare
from planner.export.plan import plan
from planner.report.answers.measured import document

TRUE = {"step": 0.25, "size": 3e6, "up": 4e6, "down": 16e6, "latency": 0.02}
NUMBERS = ("seconds", "bytes", "work_seconds", "call_seconds", "metric")
LINK = {
    "network.client_link.up": "8Mbit/s",
    "network.client_link.down": "32Mbit/s",
    "network.client_link.latency": "20ms",
}


def scenario(**changes: Any) -> planner.Scenario:
    settings = {**FLEET["settings"], **LINK, "network.client_link.sharing": "per-client"}
    return planner.load_scenario(**{**FLEET, "step_time": "0.1s", "model_size": "9MB", "settings": settings, **changes})


def measured(folder: Path, topology: str, target: str = "flower", **changes: Any) -> Path:
    """A run on the true network, timed by hand: 12 calls in a round, one after the other where a ring says so."""
    work = 3 * TRUE["step"]
    way = 8 * TRUE["size"] * (1 / TRUE["up"] + 1 / TRUE["down"]) + 2 * TRUE["latency"]
    turns = {"star-star": 2, "star-ring": 4, "ring-star": 6, "ring-ring": 12}[topology]
    one = {
        "seconds": turns * (work + way),
        "bytes": 12 * 2 * TRUE["size"],
        "calls": 12,
        "work_seconds": 12 * work,
        "call_seconds": 12 * (work + way),
        "over_network": True,
        "metric": 0.5,
    }
    document = {
        "schema": "hfl-plan/measured/1",
        "plan": plan(scenario(), topology, rate=0.1).id,
        "target": target,
        "rounds": [one] * 4,
        **changes,
    }
    file = folder / "measured.json"
    file.write_text(json.dumps(document))
    return file


def test_who_leads_a_toss_up_that_stays_is_said(tmp_path: Path) -> None:
    found, best = compare(scenario(), measured(tmp_path, "star-star")), ("star-star", "star-ring")
    for now, said in ((best, "."), (best[::-1], ", now led by Star-Ring.")):
        answer = document(replace(found, best=best, best_corrected=now))
        assert answer.verdict.text == f"The recommendation stays Star-Star and Star-Ring{said}"


@pytest.mark.parametrize("topology", ["star-star", "star-ring", "ring-star", "ring-ring"])
def test_corrections_recover_the_truth(topology: str, tmp_path: Path) -> None:
    found = compare(scenario(), measured(tmp_path, topology))
    assert found.topology == topology
    now = {one.key: one.now for one in found.corrections}
    assert now == pytest.approx(
        {
            "compute.step_time": TRUE["step"],
            "model.size": TRUE["size"],
            "network.client_link.up": TRUE["up"],
            "network.client_link.down": TRUE["down"],
        },
        rel=1e-9,
    )
    for row in found.rows:
        assert row.corrected == pytest.approx(row.measured, rel=1e-9)
        assert row.predicted != pytest.approx(row.measured, rel=0.1)


def test_the_lines_to_paste_give_the_corrected_scenario(tmp_path: Path) -> None:
    found = compare(scenario(), measured(tmp_path, "star-ring"))
    pasted = dict(one.setting.split("=") for one in found.corrections)
    again = compare(
        scenario(
            step_time=None,
            model_size=None,
            settings={**FLEET["settings"], **LINK, "network.client_link.sharing": "per-client", **pasted},
        ),
        measured(tmp_path, "star-ring"),
    )
    assert all(one.now == pytest.approx(one.was, rel=1e-5) for one in again.corrections)
    assert again.best == again.best_corrected == found.best_corrected


def test_the_first_of_three_rounds_or_more_is_left_out(tmp_path: Path) -> None:
    """In it libraries and data are loaded: its mean step was 8 times too long."""
    later, names = json.loads(measured(tmp_path, "ring-star").read_text())["rounds"][1:], ("seconds", "work_seconds")
    first = later[0] | {name: 100 * later[0][name] for name in (*names, "call_seconds")}
    found = compare(scenario(), measured(tmp_path, "ring-star", rounds=[first, *later]))
    assert {one.key: one.now for one in found.corrections}["compute.step_time"] == pytest.approx(TRUE["step"])
    assert [row.measured for row in found.rows] == pytest.approx([later[0]["seconds"], later[0]["bytes"], TRUE["step"]])
    found = compare(scenario(), measured(tmp_path, "ring-star", rounds=[first, later[0]]))
    assert found.rows[-1].measured == pytest.approx(TRUE["step"] * (100 + 1) / 2)
    assert any("run three or more" in note for note in found.notes)


@pytest.mark.parametrize("known", [False, None])
def test_a_run_on_one_machine_corrects_no_link(known: bool | None, tmp_path: Path) -> None:
    file = measured(tmp_path, "ring-star")
    rounds = json.loads(file.read_text())["rounds"]
    for one in rounds:
        one.pop("over_network") if known is None else one.update(over_network=known)
    found = compare(scenario(), measured(tmp_path, "ring-star", rounds=rounds))
    assert [one.key for one in found.corrections] == ["compute.step_time", "model.size"]
    assert any("crossed your network" in note for note in found.notes)


def test_a_call_shorter_than_the_latency_corrects_it(tmp_path: Path) -> None:
    file = measured(tmp_path, "ring-ring")
    slow = {**FLEET["settings"], **LINK, "network.client_link.latency": "10min"}
    found = compare(scenario(settings=slow), file)
    now = {one.key: one.now for one in found.corrections}
    assert 0 < now["network.client_link.latency"] < 600
    assert [row.corrected for row in found.rows] == pytest.approx([row.measured for row in found.rows], rel=1e-9)


def test_one_process_says_the_step_time_alone(tmp_path: Path) -> None:
    found = compare(scenario(), measured(tmp_path, "ring-ring", target="python"))
    assert [one.key for one in found.corrections] == ["compute.step_time"]
    assert [row.name for row in found.rows] == ["time of a local step"]


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ({"plan": "0" * 16}, "measured with another plan"),
        ({"target": "ray"}, "the target 'ray' is not one of"),
        ({"rounds": []}, "no round has ended yet"),
        ({"schema": "hfl-plan/measured/2"}, "A newer hfl-plan may read it"),
        ({"rounds": [{"seconds": 1}]}, "rounds.0.bytes"),
        ({"rounds": [dict.fromkeys((*NUMBERS, "calls"), 1) | {"seconds": -1}]}, "round 1: seconds is -1"),
        ({"rounds": [dict.fromkeys((*NUMBERS, "calls"), 1) | {"bytes": 0}]}, "round 1: bytes is 0"),
    ],
)
def test_what_is_no_run_of_this_plan_is_refused(changes: dict, wanted: str, tmp_path: Path) -> None:
    with pytest.raises(planner.ScenarioError, match=wanted):
        compare(scenario(), measured(tmp_path, "ring-ring", **changes))
    if "plan" in changes:
        file = measured(tmp_path, "ring-ring")
        with pytest.raises(planner.ScenarioError, match="another plan"):
            compare(scenario(local_steps=4), file)


@pytest.mark.parametrize("source", ["options", "a frame"])
def test_the_command_of_its_readme_runs_in_a_project_that_ran(
    source: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It named SCENARIO.toml, which no project of options has."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "out").mkdir()
    rows = ["client,group,a,b", *(f"c{i},g{i % 3},{i + 1},{9 - i}" for i in range(6))]
    Path("counts.csv").write_text("\n".join(rows))
    words = ("--heterogeneity", "counts.csv", "--uplink", "8Mbit/s", "--local-steps", "3", "--set", "plan.draws=0")
    if source == "options":
        assert run("export", *words, "-o", "out/job", capsys=capsys, monkeypatch=monkeypatch)[0] == 0
    else:
        counts: Any = CsvFrame("\n".join(rows))
        planner.export(  # type: ignore[operator]
            heterogeneity=counts, uplink="8Mbit/s", local_steps=3, settings={"plan.draws": 0}, output="out/job"
        )
    folder = tmp_path / "out" / "job"
    predicted = tomllib.loads((folder / "plan.toml").read_text())
    document = {"schema": "hfl-plan/measured/1", "plan": predicted["id"], "target": "python"}
    one = {"seconds": 1.0, "bytes": 0.0, "calls": 6, "work_seconds": 1.2, "call_seconds": 1.2, "metric": 0.5}
    (folder / "measured.json").write_text(json.dumps({**document, "rounds": [one]}))
    monkeypatch.chdir(folder)
    (command,) = re.findall("`hfl-plan (compare [^`]*)`", (folder / "README.md").read_text())
    code, out, err = run(*command.split(), capsys=capsys, monkeypatch=monkeypatch)
    assert (code, err) == (0, "")
    assert f"for 1 round of {predicted['rounds']}" in " ".join(out.split())


class CsvFrame:
    """What counts as a data frame."""

    columns, shape = ("client",), (6, 4)

    def __init__(self, text: str) -> None:
        self.text = text

    def write_csv(self) -> str:
        return self.text


def test_a_project_that_ran_is_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import subprocess
    import sys

    folder = written(tmp_path / "run", topology="ring-star", **FLEET)
    file = tmp_path / "fleet.toml"
    file.write_text(
        "[fleet]\ngroups = 3\nclients_per_group = 2\ngroup_rounds = 2\nlocal_steps = 3\n[plan]\ndraws = 0\n"
    )

    def compared() -> str:
        subprocess.run([sys.executable, "run.py", "2"], cwd=folder, capture_output=True, check=True)
        code, out, err = run(
            "compare", str(file), str(folder / "measured.json"), capsys=capsys, monkeypatch=monkeypatch
        )
        assert (code, err) == (0, "")
        return out

    out = compared()
    assert "Nothing to correct: task.py is still the sample." in out and "--set" not in out
    task = folder / "task.py"
    task.write_text("".join(line for line in task.read_text().splitlines(True) if not line.startswith("SAMPLE")))
    out = compared()
    assert "Ring-Star, run by python for 2 rounds" in out
    first, last = (one["metric"] for one in json.loads((folder / "measured.json").read_text())["rounds"])
    said = " ".join(out.split())
    assert f"its metric went from {first:.4g} to {last:.4g}." in said
    assert "Target the training loss that Star-Star reaches after 200 rounds. The metric of task.py is your own" in said
    assert "--set compute.step_time=" in out
