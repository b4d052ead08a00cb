"""Every documented command's page fits: at most 25 lines, 80 columns, 220 words, with the verdict first."""

from __future__ import annotations

import json
import re
import shlex
import sys
from pathlib import Path

import pytest
from of_schema import validate

from planner.cli import app as cli

pytestmark = pytest.mark.usefixtures("few_draws", "few_points")

ROOT = Path(__file__).parents[3]
LINES, COLUMNS, WORDS = 25, 80, 220
NUMBERS = "--set G=3 --set M=25 --set P=1 --set K=5 --set delta=0.5 --set R=1000 --set L=1 --set A=2.3 --set sigma=1"
DOCUMENTED = (
    "recommend -G 10 -M 10 --heterogeneity inter",
    "recommend -G 12 -M 25 --uplink 20Mbit/s --model-size 45MB",
    "recommend --config examples/hospitals.toml",
    "recommend --data examples/hospitals.csv",
    "measure examples/hospitals.csv",
    "group examples/hospitals.csv",
    "group examples/hospitals.csv --config examples/hospitals.toml --objective traffic",
    "overlap examples/coverage57.csv",
    "overlap ring:3,4,1 -H inter --Ge 1",
    "hubs --nodes 32 --edges 128",
    "async --config examples/phones.toml --speed-ratio 8",
    "async -G 3 -M 4 --speed-ratio 8",
    "flip -G 10 -M 10 -H inter --objective time --link-sharing per-client -p server_uplink -p step-time -p sigma",
    "tune --config examples/hospitals.toml --set fleet.local_steps=20 --local-steps 12,20 --group-rounds 1,2",
    "tune -G 12 -M 25",
    "tune -G 5 -M 18 -H intra --group-rounds 4 --model-size 7.84MB --step-time 1.42s --rounds 373",
    "tune -G 7 -M 36 -H both --group-rounds 1 --step-time 0.00709s --rounds 496 --objective traffic --metric accuracy",
    "audit --paper devos2023",
    "bounds list",
    "bounds list --paper zhou2026",
    "validate list",
    "bounds show zhou2026.thm1.star-ring",
    "bounds show hflbounds.exact.star-ring",
    "bounds show --tiers any",
    "bounds show liu2026.thm1",
    f"bounds compare zhou2026.thm1.star-ring zhou2026.thm1.ring-star --over zeta {NUMBERS}",
    "network place geant",
    "recommend -G 100000 -M 100000",
    "recommend -G 100000 -M 100000 --heterogeneity iid --uplink 1kbit/s",
    "compare examples/phones.toml examples/phones.toml",
    "compare examples/phones.toml examples/regions.toml",
    "compare examples/phones.toml examples/hospitals.toml",
    "network overlays gaia --model-size 45MB -H both",
)


# Commands that take long where others print the same kind of page.
LIKE_OTHERS = (
    r"s\.toml examples/(hospitals|regions)|overlays|tune -G (12|5)|-M 100000$"
    r"|(overlap|async --config) ex|--data|-G 12|group \S+\.csv$"
)


@pytest.fixture
def plan(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(ROOT)

    def call(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["hfl-plan", *words])
        with pytest.raises(SystemExit) as stop:
            cli.main()
        return int(stop.value.code or 0), *capsys.readouterr()

    return call


def overlong(page: str) -> list[str]:
    """Which limits a page exceeds."""
    lines, words = page.splitlines(), len(page.split())
    found = [f"{len(lines)} lines"] * (len(lines) > LINES)
    found += [f"{words} words"] * (words > WORDS)
    return found + [f"{len(line)} columns: {line}" for line in lines if len(line) > COLUMNS]


@pytest.mark.usefixtures("searched_once", "asked_once")
@pytest.mark.parametrize(
    "command",
    [pytest.param(one, marks=pytest.mark.slow if re.search(LIKE_OTHERS, one) else ()) for one in DOCUMENTED],
)
def test_a_page_fits_and_says_the_same_as_every_other_form(plan, command: str) -> None:
    """The table, the verdict alone, all details, and for most commands JSON with the keys that all share."""
    code, page, err = plan(*shlex.split(command))
    assert (code, err) == (0, "")
    assert overlong(page) == []
    verdict = " ".join(plan(*shlex.split(command), "--quiet")[1].split())
    assert verdict
    assert verdict in " ".join(page.split())
    whole = plan(*shlex.split(command), "--explain")[1]
    assert len(whole) > len(page)
    assert [line for line in whole.splitlines() if len(line) > COLUMNS] == []
    name = command.split()[0]
    if name not in ("measure", "group", "overlap", "hubs", "async", "flip", "tune"):
        return
    document = json.loads(plan(*shlex.split(command), "--json")[1])
    assert document["schema"] == f"hfl-plan/{name}/2"
    shared = {"schema", "version", "command", "scenario", "objective", "metric", "target", "verdict", "rows"}
    assert shared | {"assumptions", "warnings", "sensitivity", "evidence", "next", name} <= set(document)
    assert document["version"]
    validate(document, json.loads(plan("schema", name)[1]))
    assert document["command"][:2] == ["hfl-plan", name]
    assert document["verdict"]["text"] in verdict  # cases follow it


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(  # had 30 lines
            "flip -G 17 -M 15 --heterogeneity iid --step-time 4.68s --sigma 0.244 --objective time",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "recommend --heterogeneity inter -K 13 --sigma 6.75 --rounds 529 --metric gradient --tiers 5/5/4",  # 27
            marks=pytest.mark.slow,
        ),
        pytest.param(  # 26
            "recommend -G 8 -M 25 --heterogeneity inter -K 1 --rounds 1447 --availability 99%", marks=pytest.mark.slow
        ),
        pytest.param(  # other links dropped for time: four rows
            "overlap ring:4,6,2,2 --heterogeneity inter", marks=pytest.mark.slow
        ),
        pytest.param(  # 223 words
            "tune -G 4 -M 17 -H intra --uplink 363Mbit/s --model-size 75.5MB --sigma 0.905 --rounds 5",
            marks=pytest.mark.slow,
        ),
        "tune -G 26 -M 6 -H zeta=0.3,delta=2 --group-rounds 4 --step-time 0.00448s --sigma 0.106 --rounds 8",  # 239
        "bounds show zhou2025.thm1-proof.ring-ring",  # twelve terms: 26 lines
        "bounds show zhou2025.lemma2.ring-ring",  # 228 words
        "bounds show zhou2026.recursion-partial.ring-star",
    ],
)
def test_a_page_with_many_cases_and_facts_fits_too(plan, command: str) -> None:
    code, page, err = plan(*shlex.split(command))
    assert (code, err, overlong(page)) == (0, "", [])


@pytest.mark.usefixtures("settings_alone")
def test_a_preset_that_decides_how_links_are_shared_is_said_to_be_assumed(plan) -> None:
    """Ten phones of a 5G cell had the opposite answer where they share it, and the page did not say what it took."""
    words = ("recommend", "-G", "4", "-M", "10", "-H", "inter", "--model-size", "12MB", "--client-link", "5g")
    assert "\nAssumed   link sharing per-client?, " in plan(*words)[1]
    assert "link sharing per-client?" not in plan(*words, "--link-sharing", "per-client")[1]


def test_a_page_of_six_buffers_is_no_longer_than_others(plan) -> None:
    """It had 26 lines, and then 231 words in 25."""
    words = "async -G 5 -M 18 -H iid --link-sharing per-client --uplink 37.3Mbit/s --rounds 602 --speed-ratio 28.2"
    code, page, err = plan(*shlex.split(words), "--step-time", "0.342s")
    assert (code, err, overlong(page)) == (0, "", [])
    words = "async -G 26 -M 18 -H intra --link-sharing per-server -P 4 --step-time 0.116s --sigma 0.126 --rounds 1512"
    assert overlong(plan(*shlex.split(words), "--objective", "time", "--speed-ratio", "19")[1]) == []


@pytest.mark.usefixtures("unflipped")
@pytest.mark.parametrize(
    ("command", "line"),
    [
        ("compare examples/phones.toml examples/phones.toml", "hfl-plan recommend --config examples/phones.toml"),
        ("measure examples/hospitals.csv", "hfl-plan measure ... --gram GRAM.csv"),
        ("recommend -G 10 -M 10", "hfl-plan pilot HOOK.py hfl-plan recommend ... --explain"),
    ],
)
def test_next_names_the_command_that_an_option_is_of(plan, command: str, line: str) -> None:
    assert line in " ".join(plan(*shlex.split(command))[1].partition("Next ")[2].split())


@pytest.mark.parametrize(
    ("name", "command"),
    {
        "bounds-list": "bounds list --paper zhou2026",
        "bounds-show": "bounds show zhou2026.thm1.star-ring",
        "bounds-show-any": "bounds show --tiers any",
        "bounds-compare": "bounds compare zhou2026.thm1.star-ring zhou2026.thm1.ring-star",
        "bounds-check": "bounds check zhou2026.thm1.star-ring",
        "bounds-worst-case": "bounds worst-case hflbounds.exact.star-star",
        "audit": "audit --paper devos2023",
        "explain": "explain E003",
        "flip-map": "flip -G 4 -M 3 --map G,M --cells 3",
        "network": "network place gaia",
        "validate-list": "validate list",
        "compare": "compare examples/phones.toml examples/phones.toml",
    }.items(),
)
def test_documents_that_list_are_what_their_schema_says(plan, name: str, command: str) -> None:
    document = json.loads(plan(*shlex.split(command), "--json")[1])
    assert document["schema"] == f"hfl-plan/{name}/2"
    assert document["command"] == ["hfl-plan", *shlex.split(command), "--json"]
    assert document["version"] and document["verdict"]["text"]
    validate(document, json.loads(plan("schema", name)[1]))


def test_schemas_are_listed(plan) -> None:
    listed = plan("schema")[1]
    assert overlong(listed) == []
    for name in re.findall(r"[a-z][a-z-]+[a-z](?=[,\n])", listed.partition("Next")[0]):
        assert json.loads(plan("schema", name)[1])["properties"]
