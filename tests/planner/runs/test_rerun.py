"""Manifests: what ran can be run again, and what changed since is named."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
import shutil
from pathlib import Path

import jsonschema
import pytest
from documents import own
from test_cli import ROOT, run
from test_docs import assert_shown, consoles

from planner.io.json_documents import schema_of
from planner.runs import manifest

pytestmark = pytest.mark.usefixtures("settings_alone")  # of what would change an answer, the words

COUNTS = "client,group,a,b\nc1,x,9,1\nc2,x,8,2\nc3,y,1,9\nc4,y,3,7\n"
TOML = """
title = "Two wards"
[problem]
heterogeneity = "counts.csv"
rounds = 100
[network.client_link]
up = "20Mbit/s"
[plan]
draws = 0
"""


@pytest.fixture
def plan(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "counts.csv").write_text(COUNTS)
    (tmp_path / "wards.toml").write_text(TOML)
    return lambda *words: run(*words, capsys=capsys, monkeypatch=monkeypatch)


MADE: dict[str, str] = {}
QUICK = ("--set", "plan.draws=0")


@pytest.fixture
def saved(plan):
    """What was printed when run.json was made; it is made once, and written again for every test."""
    if not MADE:
        code, out, err = plan("recommend", "--config", "wards.toml", "--K", "4", "--save", "run.json")
        assert (code, err) == (0, "")
        MADE.update(out=out, manifest=Path("run.json").read_text())
    Path("run.json").write_text(MADE["manifest"])
    return MADE["out"]


def load(file: str = "run.json") -> dict:
    return json.loads(Path(file).read_text())


def rewrite(document: dict, file: str = "run.json") -> None:
    """As somebody would who knows how hashes are made."""
    parts = {key: value for key, value in document.items() if key != "sha256"}
    parts["answer_sha256"] = digest(parts["answer"])
    Path(file).write_text(json.dumps({**parts, "sha256": digest(parts)}))


def digest(document: object) -> str:
    return hashlib.sha256(json.dumps(document, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def test_a_manifest_has_all_that_is_promised(plan, saved: str) -> None:
    document = load()
    jsonschema.validate(document, schema_of(manifest.Manifest))
    assert document["schema"] == "hfl-plan/manifest/1"
    assert document["scenario"] == {
        "title": "Two wards",
        "fleet": {"local_steps": "4"},
        "problem": {"heterogeneity": "counts.csv", "rounds": 100},
        "network": {"client_link": {"up": "20Mbit/s"}},
        "plan": {"draws": 0},
    }
    files = {"config": ("wards.toml", TOML), "problem.heterogeneity": ("counts.csv", COUNTS)}
    assert {file["key"]: (file["path"], file["sha256"]) for file in document["inputs"]} == {
        key: (name, hashlib.sha256(text.encode()).hexdigest()) for key, (name, text) in files.items()
    }
    assert document["software"].keys() == {"hfl-plan", "python", "numpy", "platform"}
    assert document["seed"] == 0
    assert document["answer_sha256"] == digest(document["answer"])
    assert document["sha256"] == digest({key: value for key, value in document.items() if key != "sha256"})
    assert not re.search(r'"/(home|root|tmp)', Path("run.json").read_text())
    _, out, _ = plan("recommend", "--config", "wards.toml", "--K", "4", "--json")
    assert {**json.loads(out), "command": ["hfl-plan", "recommend"]} == document["answer"]


def test_the_answer_comes_again_and_is_the_same(plan, saved: str) -> None:
    assert plan("rerun", "run.json") == (0, saved, "")
    code, out, err = plan("rerun", "run.json", "--json")
    called = {"command": ["hfl-plan", "rerun", "run.json", "--json"]}  # how it was called is no part of the answer
    assert (code, json.loads(out), err) == (0, {**load()["answer"], **called}, "")
    code, out, err = plan("rerun", "run.json", "--check")
    assert (code, err) == (0, "")
    assert out.startswith("The answer is the same, bit for bit")
    assert len(out.splitlines()) == 1


@pytest.mark.usefixtures("unflipped")
@pytest.mark.parametrize("options", [("--target", "0.3"), ("--fleet", "fleet.csv", "--heterogeneity", "inter")])
def test_what_options_replace_in_other_keys_of_the_file_is_not_kept(plan, options: tuple[str, ...]) -> None:
    """Rounds that defined the target, and counts of a fleet that is listed."""
    Path("fleet.csv").write_text("client,group\na,x\nb,x\nc,y\nd,y\n")
    Path("small.toml").write_text("[fleet]\ngroups = 3\nclients_per_group = 4\n[problem]\nrounds = 50\n")
    code, out, err = plan("recommend", "--config", "small.toml", *options, *QUICK, "--save", "kept.json")
    assert (code, err) == (0, "")
    assert plan("rerun", "kept.json") == (0, out, "")


def test_the_scenario_file_is_not_needed_again_and_a_change_is_named(plan, saved: str) -> None:
    Path("wards.toml").write_text(TOML.replace("100", "200"))
    code, out, _ = plan("rerun", "run.json", "--check")
    assert code == 0
    assert "Warning  wards.toml (config) has changed since." in out
    Path("wards.toml").unlink()
    code, out, err = plan("rerun", "run.json")
    assert (code, out) == (0, saved)
    assert "wards.toml (config) is missing since" in err


def test_another_input_gives_another_answer_and_both_are_named(plan, saved: str) -> None:
    Path("counts.csv").write_text(COUNTS.replace("c4,y,3,7", "c4,y,0,10"))
    code, out, err = plan("rerun", "run.json", "--check")
    assert (code, err) == (1, "")
    assert "counts.csv (problem.heterogeneity) has changed since." in out
    assert re.search(r"The answer is another: \d+ differences", out)
    assert "\n  scenario." in out
    assert "more rows: --explain rows" in out
    code, out, _ = plan("rerun", "run.json", "--check", "--json")
    assert code == 1
    document = own(out)
    assert (document["schema"], document["same"]) == ("hfl-plan/rerun/2", False)
    assert document["inputs"] == {"counts.csv": "changed"}
    assert document["software"] == {}
    then = {d["at"]: d["then"] for d in document["rows"]}
    assert then["scenario.delta.value"] == load()["answer"]["scenario"]["delta"]["value"]


def test_an_input_with_other_bytes_and_the_same_counts_gives_the_same_answer(plan, saved: str) -> None:
    Path("counts.csv").write_text(COUNTS + "\n")
    code, out, _ = plan("rerun", "run.json", "--check")
    assert code == 0
    assert "counts.csv (problem.heterogeneity) has changed since." in out


def test_from_another_folder_the_way_to_that_of_the_run_is_named(plan, saved: str, monkeypatch) -> None:
    here = Path.cwd()
    (here / "other").mkdir(exist_ok=True)
    monkeypatch.chdir(here / "other")
    for words in (["rerun", f"{here}/run.json"], ["recommend", "--config", f"{here}/wards.toml"]):
        code, _, err = plan(*words)
        assert code == 2 and f"relative to the current folder: go to the file's with `cd {here}`." in err


def test_a_missing_input_is_named(plan, saved: str) -> None:
    Path("counts.csv").unlink()
    code, out, err = plan("rerun", "run.json", "--check")
    assert (code, out) == (2, "")
    assert "counts.csv" in err
    assert "cannot be read" in err


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda d: d["scenario"]["fleet"].update(local_steps=5), "the manifest was edited"),
        (lambda d: d.update(seed=1), "the manifest was edited"),
        (lambda d: d["answer"]["rows"][0].update(rank=7), "the answer was edited"),
        (lambda d: d["inputs"][0].update(sha256="0" * 64), "the manifest was edited"),
    ],
)
def test_an_edited_manifest_is_refused(plan, saved: str, change, named: str) -> None:
    document = load()
    change(document)
    Path("run.json").write_text(json.dumps(document))
    for words in (["--check"], []):
        code, out, err = plan("rerun", "run.json", *words)
        assert (code, out) == (1, "")
        assert f"run.json: {named}" in err
        assert err.count("\n") == 2


def test_only_the_layout_may_change(plan, saved: str) -> None:
    Path("run.json").write_text(json.dumps(dict(reversed(load().items())), indent=7))
    assert plan("rerun", "run.json", "--check")[0] == 0


def test_an_answer_that_was_forged_with_its_hashes_is_found_by_running(plan, saved: str) -> None:
    document = load()
    document["answer"]["rows"][0]["rounds"]["value"] += 1
    document["software"]["numpy"] = "0.1"
    rewrite(document)
    code, out, _ = plan("rerun", "run.json", "--check")
    assert code == 1
    assert "The answer is another: 1 difference.\n" in out
    assert "\n  rows[0].rounds.value  " in out
    assert "numpy was 0.1, and is " in out


def nudged(document: object, by: float) -> object:
    """Every number that is no whole one, changed by a relative amount, up and down in turn."""
    if isinstance(document, dict):
        return {key: nudged(value, -by) for key, value in document.items()}
    if isinstance(document, list):
        return [nudged(value, -by) for value in document]
    return document * (1 + by) if isinstance(document, float) else document


def test_numbers_that_round_otherwise_are_the_same_to_a_tolerance(plan, saved: str) -> None:
    document = load()
    answer = document["answer"]
    rewrite({**document, "answer": nudged(answer, 3e-11)})
    code, out, err = plan("rerun", "run.json", "--check")
    assert (code, err) == (0, "")
    said = r"The answer is the same to a relative 1e-09: \d+ numbers rounded otherwise, by at most 3e-11."
    assert re.fullmatch(said, " ".join(out.split()))
    code, out, _ = plan("rerun", "run.json", "--check", "--json")
    told = own(out)
    assert code == 0
    assert (told["same"], told["bit_for_bit"], told["tolerance"], told["rows"]) == (True, False, 1e-9, [])
    assert told["rounding"]["largest_relative_difference"] == pytest.approx(3e-11, rel=1e-4)
    for tolerance in ("0", "1e-12"):
        code, out, _ = plan("rerun", "run.json", "--check", "--tolerance", tolerance)
        assert code == 1
        assert out.startswith(f"The answer is another: {told['rounding']['numbers']} differences.")
    rewrite({**document, "answer": nudged(answer, 1e-8)})
    assert plan("rerun", "run.json", "--check")[0] == 1
    assert plan("rerun", "run.json", "--check", "--tolerance", "2e-8")[0] == 0


def test_a_whole_number_and_a_word_are_compared_as_they_are(plan, saved: str) -> None:
    document = load()
    document["answer"]["rows"][0]["rounds"]["value"] += 1
    document["answer"]["rows"][1]["id"] = "none"
    rewrite(document)
    code, out, _ = plan("rerun", "run.json", "--check", "--json")
    assert code == 1
    assert [d["at"] for d in json.loads(out)["rows"]] == ["rows[0].rounds.value", "rows[1].id"]


def test_versions_are_a_note_and_no_difference(plan, saved: str) -> None:
    document = load()
    document["answer"]["version"] = document["software"]["hfl-plan"] = "0.0.9"
    document["software"]["python"] = "3.9.1"
    rewrite(document)
    code, out, err = plan("rerun", "run.json", "--check")
    assert (code, err) == (0, "")
    first, *notes = out.splitlines()
    assert first == "The answer is the same to a relative 1e-09."
    assert notes[0].startswith("Warning  hfl-plan was 0.0.9, and is ")
    assert "python was 3.9.1, and is " in plan("rerun", "run.json", "--check", "--explain", "warnings")[1]


def test_a_scenario_that_this_version_does_not_know_is_refused(plan, saved: str) -> None:
    document = load()
    document["scenario"]["fleet"]["colour"] = "red"
    rewrite(document)
    code, _, err = plan("rerun", "run.json")
    assert code == 2
    assert "run.json: fleet.colour" in err
    assert err.count("\n") == 2


@pytest.mark.parametrize(
    ("content", "wanted"),
    [
        ("{}", "it names no schema, and hfl-plan/manifest/1 is read"),
        ('{"schema": "hfl-plan/manifest/2"}', "A newer hfl-plan may read it."),
        ('{"schema": "hfl-plan/manifest/1"}', "software: Field required"),
        ("[" * 100_000, "nested too deeply"),
        ("not json", "is not JSON"),
    ],
)
def test_what_is_no_manifest_is_refused_in_a_line(plan, content: str, wanted: str) -> None:
    Path("x.json").write_text(content)
    for words in (["rerun", "x.json"], ["rerun", "x.json", "--check"], ["compare", "x.json", "x.json"]):
        code, out, err = plan(*words)
        assert (code, out) == (2, "")
        assert wanted.removesuffix(", and hfl-plan/manifest/1 is read") in err
        assert err.count("\n") == 2


def test_nothing_is_overwritten_unasked_and_nothing_is_left_half(plan, saved: str) -> None:
    before = Path("run.json").read_bytes()
    code, out, err = plan("recommend", "--G", "2", "--M", "2", *QUICK, "--save", "run.json")
    assert (code, out) == (2, "")
    assert "--save: 'run.json' exists. Add --force" in err.replace("\n  help: ", ". ")
    assert Path("run.json").read_bytes() == before
    assert plan("recommend", "--G", "2", "--M", "2", *QUICK, "--save", "nowhere/run.json")[0] == 2
    code, _, err = plan("recommend", "--G", "2", "--M", "2", "--rounds", "1", "--target", "1e-9", "--save", "b.json")
    assert code == 1
    assert sorted(p.name for p in Path().iterdir()) == ["counts.csv", "run.json", "wards.toml"]
    assert plan("recommend", "--G", "2", "--M", "2", *QUICK, "--save", "run.json", "--force")[0] == 0
    assert Path("run.json").read_bytes() != before


def test_the_command_line_alone_is_enough(plan) -> None:
    words = (
        "--clients",
        "12",
        "--heterogeneity",
        "zeta=1,delta=0.1",
        *QUICK,
        "--set",
        "network.tiers=1",
        "--seed",
        "7",
    )
    code, out, err = plan("recommend", *words, "--save", "run.json")
    assert (code, err) == (0, "")
    assert load()["inputs"] == []
    assert load()["seed"] == 7
    assert plan("rerun", "run.json") == (0, out, "")
    assert plan("rerun", "run.json", "--check")[0] == 0


def test_kept_runs_and_answers_are_compared_by_what_decides(plan, saved: str) -> None:
    _, out, _ = plan("recommend", "--config", "wards.toml", "--K", "8", "--json")
    Path("later.json").write_text(out)
    code, out, err = plan("compare", "run.json", "later.json", "--json")
    assert (code, err) == (0, "")
    assert [(row["id"], row["before"], row["after"]) for row in json.loads(out)["rows"]] == [
        ("fleet.local_steps", "4", "8")
    ]
    assert plan("compare", "run.json", "run.json")[0] == 0


def test_options_that_contradict(plan, saved: str) -> None:
    assert plan("rerun", "run.json", "--check", "--format", "markdown")[1].startswith("# Check of a run")
    assert "contradicts --json" in plan("rerun", "run.json", "--json", "--format", "markdown")[2]
    assert plan("rerun", "run.json", "--format", "markdown")[1].startswith("# Two wards")


@pytest.mark.usefixtures("unflipped")
def test_the_pages_commands_print_what_it_shows(plan) -> None:
    shutil.copytree(ROOT / "examples", "examples")
    blocks = consoles((ROOT / "docs" / "python.md").read_text())
    assert len(blocks) == 4
    for command, shown in blocks:
        code, out, err = plan(*shlex.split(command)[1:])
        assert (code, err) == (0, "")
        assert_shown(shown, out)
