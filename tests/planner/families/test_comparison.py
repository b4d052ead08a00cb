"""Other families beside a recommendation: the numbers of their own commands, never in its ranking."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from documents import own
from test_cli import run

pytestmark = pytest.mark.usefixtures("few_draws")

ROOT = Path(__file__).parents[3]
FLEET = ("--G", "3", "--M", "19", "--heterogeneity", "inter")


@pytest.fixture
def plan(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(ROOT)
    return lambda *words: run(*words, capsys=capsys, monkeypatch=monkeypatch)


def family(document: dict, name: str) -> dict:
    return next(one for one in document["recommend"]["others"] if one["id"] == name)


def amounts(row: dict) -> tuple:
    return row["rounds"], row["time_seconds"], row["traffic_bytes"]


@pytest.mark.usefixtures("unflipped", "unturned")
def test_overlap_is_what_its_command_says(plan) -> None:
    _, beside, _ = plan("recommend", *FLEET, "--coverage", "examples/coverage57.csv", "--json")
    _, alone, _ = plan(
        "overlap", "examples/coverage57.csv", "--heterogeneity", "inter", "-E", "2", "--Ge", "1", "--json"
    )
    row, told = family(json.loads(beside), "hhfl"), own(alone)
    assert amounts(row) == tuple(told["options"]["hhfl"][key] for key in ("rounds", "seconds", "bytes"))
    assert f"by the bound, {told['verdict']} for time at E = 2 and Ge = 1 (-K and -P)" in row["why"]
    unlike = ("--heterogeneity", "inter", "--objective", "time", "--json")
    there = own(plan("overlap", "examples/coverage57.csv", *unlike)[1])
    assert (there["verdict"], there["links"] - there["weighed_links"]) == ("cannot tell", 3)
    assert "(-K and -P), a toss-up with 3 links dropped with 5 of each, as `overlap` alone assumes." in row["why"]


@pytest.mark.usefixtures("unflipped")
def test_hubs_are_what_their_command_says(plan) -> None:
    _, beside, _ = plan("recommend", *FLEET, "--edges", "200", "--json")
    _, alone, _ = plan("hubs", "--nodes", "57", "--edges", "200", "--heterogeneity", "inter", "--json")
    assert amounts(family(json.loads(beside), "hsl")) == tuple(
        own(alone)["best"][key] for key in ("rounds", "seconds", "bytes")
    )


@pytest.mark.usefixtures("unflipped")
def test_regions_are_what_their_command_says(plan) -> None:
    times = ("--region-times", "10s,12s,60s")
    _, beside, _ = plan("recommend", *FLEET, *times, "--json")
    _, alone, _ = plan("async", *FLEET, *times, "--json")
    told = own(alone)
    best = next(row for row in told["buffers"] if row["K_buf"] == told["recommended_by_theorem"])
    assert amounts(family(json.loads(beside), "hga-fl")) == (best["steps"], best["seconds"], best["bytes"])


@pytest.mark.usefixtures("unturned", "unflipped")
def test_the_ranking_stays(plan) -> None:
    _, plain, _ = plan("recommend", *FLEET, "--json")
    _, beside, _ = plan("recommend", *FLEET, "--coverage", "examples/coverage57.csv", "--json")
    first, second = json.loads(plain), json.loads(beside)
    assert first["rows"] == second["rows"]
    others = [one["recommend"]["others"] for one in (first, second)]
    assert [one["id"] for one in others[0]] == [one["id"] for one in others[1]] == ["hhfl", "hsl", "hga-fl"]
    assert {one["rounds"] for one in others[0]} == {None}


@pytest.mark.usefixtures("unflipped", "few_draws")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--G", "4", "--M", "19", "--coverage", "examples/coverage57.csv"), "57 clients and 3 servers"),
        (("--G", "3", "--M", "19", "--coverage", "nowhere.csv"), "nowhere.csv"),
        (("--G", "3", "--M", "19", "--edges", "many"), "--edges"),
        (("--G", "3", "--M", "19", "--region-times", "10s,12s"), "--region-times"),
        (("--clients", "57", "--edges", "200"), "give --groups too"),
        (("--G", "3", "--M", "19", "--edges", "200", "--save", "run.json"), "--save"),
    ],
)
def test_what_contradicts_the_fleet_is_refused(plan, words: tuple[str, ...], said: str) -> None:
    code, out, err = plan("recommend", *words)
    assert (code, out) == (2, "")
    assert said in err
    assert err.count("\n") <= 2


@pytest.mark.usefixtures("unflipped")
def test_the_target_of_asynchrony_is_named(plan) -> None:
    """A share of the start is another number for a bound than for the predictor of the ranking."""
    _, out, _ = plan("recommend", *FLEET, "--target", "1%", "--region-times", "10s,12s,60s", "--json")
    document = json.loads(out)
    assert "its own target" in family(document, "hga-fl")["why"]
    assert any("--step-time" in one["text"] for one in document["warnings"])


@pytest.mark.usefixtures("unflipped")
def test_other_metrics_leave_asynchrony_its_own(plan) -> None:
    code, _, err = plan("recommend", *FLEET, "--metric", "accuracy", "--region-times", "10s,12s,60s", "--json")
    assert (code, err) == (0, "")


@pytest.mark.usefixtures("unflipped")
@pytest.mark.parametrize(("slow", "answers"), [("2s", True), ("0.1s", False)])
def test_a_list_with_speeds_of_regions_is_not_asked_for_them(plan, tmp_path: Path, slow: str, answers: bool) -> None:
    """It "needs how fast each region is" stood beside a list that says it; where its own command answers, it has it."""
    path = tmp_path / "fleet.csv"
    rows = [f"c{g}{c},g{g},{'0.1s' if g else slow}" for g in range(4) for c in range(4)]
    path.write_text("\n".join(["client,group,step_time", *rows]) + "\n")
    found = family(json.loads(plan("recommend", "--fleet", str(path), "--json")[1]), "hga-fl")
    assert (plan("async", "--fleet", str(path))[0] == 0) == answers
    assert ("needs how fast each region is" in found["why"]) != answers
    assert found["argv"] == ["hfl-plan", "async", *["..."] * answers]


@pytest.mark.usefixtures("unflipped", "unturned")
@pytest.mark.parametrize(
    ("words", "methods"),
    [
        ((), ""),
        (("--coverage", "examples/coverage57.csv"), "HHFL"),
        (("--coverage", "examples/coverage57.csv", "--edges", "200"), "HHFL, HSL"),
        (("--edges", "200", "--uplink", "10:40Mbit/s"), "HSL"),
    ],
)
def test_the_page_says_where_methods_are_that_were_asked_for(plan, words: tuple[str, ...], methods: str) -> None:
    """A page with --coverage had no word on HHFL."""
    code, out, _ = plan("recommend", *FLEET, *words)
    assert code == 0 and len(out.splitlines()) <= 25 and len(out.split()) <= 220
    said = [line for line in out.splitlines() if line.startswith("Methods")]
    assert [" ".join(line.split()) for line in said] == [
        f"Methods {methods}: not run, bounds alone (--explain methods)"
    ] * bool(methods)


@pytest.mark.usefixtures("unflipped")
@pytest.mark.parametrize("rounds", [3, 8, 20])
def test_a_bound_that_says_nothing_leaves_the_trees_their_answer(plan, rounds: int) -> None:
    """At these rounds a server's bound is above that of the start, and the whole page was refused for it."""
    fleet = ("--G", "4", "--M", "4", "--pilot", "examples/digits_pilot.json", "--rounds", str(rounds))
    code, plain, _ = plan("recommend", *fleet, "--json")
    assert code == 0
    code, out, err = plan("recommend", *fleet, "--edges", "64", "--json")
    assert (code, err) == (0, "")
    told = json.loads(out)
    assert told["rows"] == json.loads(plain)["rows"] and told["verdict"] == json.loads(plain)["verdict"]
    hubs = family(told, "hsl")
    assert (*amounts(hubs), hubs["rounds_from"]) == (None, None, None, "another quantity")
    assert hubs["why"].startswith("its bound says nothing here: --rounds: what a server's bound reaches in them, ")
    assert "Give more" not in out
    alone = plan("hubs", "--nodes", "16", "--edges", "64", "--rounds", str(rounds))
    assert alone[0] == 1 and "is met at the start" in alone[2]


@pytest.mark.usefixtures("unflipped")
def test_hubs_are_told_by_what_their_theorem_bounds(plan) -> None:
    """Beside edges the section said the nodes' mean model, of which sharma2025.thm4-4 says nothing."""
    for words in ((), ("--edges", "200")):
        found = family(json.loads(plan("recommend", *FLEET, *words, "--json")[1]), "hsl")
        assert "the mean squared gradient at the nodes' own models" in found["why"]


ON_GEANT = ("geant", "-c", "examples/consortium.toml", "--fleet", "examples/consortium.csv")


@pytest.mark.usefixtures("unturned")
@pytest.mark.parametrize(
    "words",
    [
        ("overlap", "ring:3,3,1", "-H", "inter"),
        ("hubs", "--nodes", "20", "--edges", "80"),
        ("async", "-G", "3", "-M", "4", "--speed-ratio", "4"),
        ("network", "place", *ON_GEANT, "--up", "1Gbit/s", "--down", "1Gbit/s", "--tiers", "star"),
    ],
)
def test_absences_that_are_not_counted_are_said_on_the_page(plan, words: tuple[str, ...]) -> None:
    """They were taken in silence, or said under `--explain warnings` alone."""
    said = "Availability is not counted here: every device is there in time."
    absent, full, none = (
        " ".join(plan(*words, *more)[1].split())
        for more in (("--set", "availability.client=90%"), ("--set", "availability.client=100%"), ())
    )
    assert said in absent and said not in full and said not in none
