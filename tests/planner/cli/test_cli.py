"""The command line as a user meets it: streams, exit codes, one-line refusals, formats, examples."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from of_schema import validate

from planner.cli import app as cli
from planner.decide.recommendation import Recommendation
from planner.errors import ScenarioError
from planner.io.json_documents import schema_of
from planner.io.wording import input_words
from planner.report.render import formats
from planner.scenario.resolve import load

ROOT = Path(__file__).parents[3]
EXAMPLES = sorted((ROOT / "examples").glob("*.toml"))
BASE = ["recommend", "--G", "10", "--M", "10", "--heterogeneity", "inter"]
QUICK = ["--set", "plan.draws=0"]  # where no range is looked at

pytestmark = pytest.mark.usefixtures("few_draws")


def run(*words: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of one call in this process."""
    monkeypatch.setattr(sys, "argv", ["hfl-plan", *words])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    out, err = capsys.readouterr()
    return int(stop.value.code or 0), out, err


def test_a_word_too_many_is_told_what_it_stands_for(plan: Any) -> None:
    """Dots are copied from answers, and a scenario file is an option."""
    helps = {"...": "your own options, such as --config FILE.toml", "my.toml": "--config my.toml"}
    for word, way in helps.items():
        code, out, err = plan("recommend", word, "--explain")
        assert (code, out) == (2, "") and "[E014]" in err and way in err


SCHEMAS = {"pilot": 1, "profile": 1, "manifest": 1, "recommend": 2, "flip": 2}
CSVS = {
    "counts": "client,group,a,b\nx,g,1,2\n",
    "turned": "group,client,a,b\ng,x,1,2\n",
    "fleet": "client,group,samples,node\nx,g,1,IS\n",
    "bare": "client,group\n",
    "cover": "client,server\nx,s\n",
    "rates": "client,group,step_time,uplink\nx,g,1s,20Mbit/s\n",
    "nowhere": "client,group,node\nx,g,atlantis\n",
    "links": "a,b,latency_ms\nx,y,3\n",
}
SCENARIO = "Here give the scenario: --config FILE.toml, or options."


@pytest.mark.parametrize(
    ("words", "way"),
    [
        ("tune pilot.json", "pilot.json is a pilot: --pilot pilot.json"),
        ("tune recommend.json", f"`recommend`, for `hfl-plan compare` and `hfl-plan export`. {SCENARIO}"),
        ("flip flip.json", f"flip.json is an answer of `flip`, which no command reads. {SCENARIO}"),
        ("recommend fleet.csv", "fleet.csv is a list of clients: --fleet fleet.csv"),
        ("recommend a.toml", "a.toml is a scenario: --config a.toml"),
        ("recommend --config profile.json", "profile.json is a profile: --heterogeneity profile.json"),
        (
            "recommend --data manifest.json",
            "is a kept run, for `hfl-plan rerun`, `hfl-plan compare` and `hfl-plan export`.",
        ),
        ("recommend --data fleet.csv", "fleet.csv is a list of clients: --fleet fleet.csv"),
        ("recommend --pilot counts.csv", "counts.csv is a table of label counts: --data counts.csv"),
        ("recommend --config turned.csv", "turned.csv is a table of label counts: --data turned.csv"),
        ("recommend --fleet counts.csv", "counts.csv is a table of label counts: --data counts.csv"),
        (
            "measure a.toml",
            "a scenario, for `hfl-plan recommend --config a.toml`, `hfl-plan compare` and `hfl-plan export`.",
        ),
        ("measure fleet.csv", "fleet.csv is a list of clients, for `hfl-plan recommend --fleet fleet.csv`."),
        (
            "group cover.csv",
            "reaches which server, for `hfl-plan recommend --coverage cover.csv` and `hfl-plan overlap`.",
        ),
        ("recommend --fleet rates.csv", "known are client, group, samples, step_time, link"),
        ("recommend --fleet rates.csv", "help: Did you mean link? Else remove it."),
        ("network place geant --fleet nowhere.csv", "help: Check the name."),
        ("network place geant --fleet=nowhere.csv", "help: Check the name."),
        ("overlap counts.csv", "--data counts.csv, beside COVERAGE, a table of who reaches which server"),
        (
            "recommend -G3 -M4 --tiers ring/star/ring",
            "Give the sizes too, in place of --groups and --clients-per-group: ",
        ),
        (
            "recommend -G3 -M4 -P2 -H zeta=1,delta=2 --tiers ring/star/ring",
            "ring:10/star:10/ring:10; leave out --group-rounds and --heterogeneity, of two tiers.",
        ),
        ("measure bare.csv", "help: Write the header client,group,<label>"),  # which no list of clients is either
        ("recommend -G3 -M4 -S1 2", "help: Write --S1 or --S2, with two dashes."),
        ("overlap ring:3,4,1 --local-steps 1:5", "ranges are searched by recommend and tune alone"),
        ("async --config a.toml --speed-ratio 8 -K 1:5", "searched by recommend and tune alone"),
        ("compare a.toml counts.csv", "`hfl-plan recommend --data counts.csv --output answer.json`"),
        ("pilot profile.json", "a profile, for `hfl-plan recommend --heterogeneity profile.json`."),
        ("pilot --data profile.json --proxy digits", "for `hfl-plan recommend --heterogeneity profile.json`."),
        ("rerun pilot.json", "pilot.json is a pilot, for `hfl-plan recommend --pilot pilot.json`."),
        ("network links pilot.json", "pilot.json is a pilot, for `hfl-plan recommend --pilot pilot.json`."),
        ("measure links.csv", "is a network, for `hfl-plan recommend --network links.csv` and `hfl-plan network`."),
    ],
)
def test_a_file_in_the_place_of_another_is_told_what_it_is_for(
    words: str, way: str, plan: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every JSON file was called a profile, and every CSV file label counts."""
    monkeypatch.chdir(tmp_path)
    Path("a.toml").write_text("[fleet]\ngroups = 3\nclients_per_group = 2\n")
    for name, version in SCHEMAS.items():
        Path(f"{name}.json").write_text(json.dumps({"schema": f"hfl-plan/{name}/{version}"}))
    for name, text in CSVS.items():
        Path(f"{name}.csv").write_text(text)
    code, out, err = plan(*words.split())
    assert (code, out) == (2, "") and way in err, err


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("measure counts.csv", "client,group,a,b\nx,g,1,-2\n"),
        ("recommend --data counts.csv", "client,group,a,b\nx,g,1,-2\n"),
        ("recommend --fleet counts.csv", "client,group,samples\nx,g,-1\n"),
        ("recommend --fleet counts.csv", "\nclient,group,step_tme\nx,g,0.1\n"),
    ],
)
def test_a_file_in_its_place_keeps_the_way_out_of_its_mistake(
    words: str, text: str, plan: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("counts.csv").write_text(text)
    code, _, err = plan(*words.split())
    assert code == 2 and "counts.csv:2" in err and "counts.csv is" not in err


@pytest.mark.usefixtures("asked_once", "unflipped")  # README shows what would change it
def test_the_main_job(plan) -> None:
    code, out, err = plan(*BASE)
    assert (code, err) == (0, "")
    assert "Ring-Ring" in out
    assert out.splitlines()[0] == json.loads(plan(*BASE, "--json")[1])["verdict"]["text"]


@pytest.mark.usefixtures("unflipped")
def test_the_details_say_what_holds_a_bound_back(plan) -> None:
    words = [*BASE, "--metric", "gradient"]
    code, out, err = plan(*words, "--explain", "terms")
    assert (code, err) == (0, "")
    said = [line for line in out.splitlines() if line.endswith("of its bound")]
    ranking = [row for row in json.loads(plan(*words, "--json")[1])["rows"] if not row["baseline"]]
    assert len(said) == len(ranking) == 4
    for line, row in zip(said, ranking, strict=True):
        assert line.startswith(row["title"])
        assert row["dominant_term"] == max(row["terms"], key=row["terms"].get)
        assert f": {100 * max(row['terms'].values()) / sum(row['terms'].values()):.0f} % of its bound" in line


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (["recommend"], "--groups and --clients-per-group"),
        (["recommend", "--G", "1e3", "--M", "2"], "Write 1000."),
        (["recommend", "--groups", "0", "--M", "2"], "--groups: 0 is not"),
        ([*BASE, "--zeta", "2"], "INTRA-group here"),
        ([*BASE, "--delta", "2"], "INTER-group in zhou2025"),
        ([*BASE, "--uplnk", "3"], "--uplink"),
        (["recomend"], "recommend"),
        ([*BASE, "--uplink", "20"], "--uplink"),
        ([*BASE, "--uplink", "20mbit/s"], "Did you mean 20Mbit/s"),
        ([*BASE, "--model-size", "45"], "--model-size"),
        ([*BASE, "--step-time", "3 parsec"], "--step-time"),
        ([*BASE, "--S1", "11"], "11 exceeds the 10"),
        (["recommend", "-G", "8", "-M", "10:14"], "Write one number; searched are ranges of groups beside all clients"),
        (["flip", "-G", "7", "-M", "16", "--local-steps", "1:5"], "flip: K (1 to 5) is searched"),
        (["flip", "--clients", "96", "--groups", "7:9"], "flip: the number of groups is searched"),
        (["tune", "--clients", "7"], "as in `--groups 2 --clients 7`, such as `hfl-plan recommend --clients 7"),
        (["export", "--clients", "96", "-K", "1:5", "-o", "new"], "--clients 96`, and one number of K, such as"),
        ([*BASE, "--target", "0"], "--target"),
        ([*BASE, "--sigma", "nan"], "--sigma"),
        ([*BASE, "--bounds", "thm9"], "--bounds"),
        ([*BASE, "--format", "tabel"], "--format"),
        ([*BASE, "--format", "md"], "Write markdown."),
        ([*BASE, "--objective", "tme"], "Did you mean time?"),
        (["recommend", "-G", "5", "-M", "9", "-K", "1,2,5"], "'1,2,5' is a list. Write 1:5 to try all between"),
        (
            ["recommend", "--G", "5", "--M", "9", "-H", "1/2/3"],
            "or --tiers with 3 sizes in place of --groups and --clients-per-group.",
        ),
        (["recommend", "--G", "5", "--M", "9", "--tiers", "3/4/5"], "sizes are also given by --groups and"),
        ([*BASE, "--link-sharing"], "recommend --help"),
        (["network", "lst"], "is not one of place, order"),
        ([*BASE, "--set", "fleet"], "--set"),
        ([*BASE, "--set", "fleet.grops=3"], "Did you mean groups?"),
        ([*BASE, "--set", "fleet.title=Sites"], "title is a key of the top of the file."),
        ([*BASE, "--set", "plan.local_steps=4"], "local_steps is a key of [fleet]."),
        ([*BASE, "--set", "network.server_link.uplink=4Mbit/s"], "Did you mean up?"),
        ([*BASE, "--set", "network.uplink=4Mbit/s"], "Did you mean network.client_link.up?"),
        ([*BASE, "--params", "12M"], "Write --model-size"),
        (["recommend", "--tiers", "region:3/site:4"], "Names of tiers go into [[fleet.tiers]] of a file."),
        (["overlap", "111;111", "--group-rounds", "3"], "Here it is --edge-rounds."),
        (["network", "place", "gaia", "--groups", "5"], "Groups are those of the column group of --fleet."),
        (["bounds", "show", "zhou2026.thm1.star-ring", "--set", "G=many"], "Write G=10."),
        ([*BASE, "--budget", "5h"], "beside --pilot it says which --rounds of `hfl-plan recommend` are within it."),
        ([*BASE, "--within", "5h"], "`hfl-plan pilot` has --within for its own runs."),
        (["bounds", "compare", "zhou2026.thm1.star-ring", "--bare"], "an option of `hfl-plan bounds export`."),
        (["flip", *BASE[1:], "-p", "server_link=1:9"], "Write --parameter server_link; ranges are for --map."),
        ([*BASE, "--config", "no-such.toml"], "no-such.toml"),
        (["recommend", "--heterogeneity", "x.csv"], "--heterogeneity: x.csv: cannot be read"),
        ([*BASE, "--straggler", "exponential:2"], "straggler"),
        ([*BASE, "--seed", "-1"], "--seed"),
        ([*BASE, "--cap", "0"], "--cap"),
        ([*BASE, "--cap", "own", "--bounds", "cor1"], "no cap applies"),
        ([*BASE, "--set", "fleet.groups=3"], "also given by"),
        ([*BASE, "--set", "plan.seed=3", "--set", "plan.seed=4"], "set twice"),
        ([*BASE, "--json", "--format", "csv"], "contradicts"),
        ([*BASE, "--resolution", "5"], "tie everything"),
        ([*BASE, "--S1", "3", "--order", "fixed"], "drawn"),
        ([*BASE, "--target", "0%"], "such as 1%"),
        (["network", "place", "nowhere"], "`hfl-plan network --help` shows what is expected."),
        (["pilot", "hook.py", "--seeds", "0"], "Write --seeds 3."),
        (["group", "examples/hospitals.csv", "--groups", "2:5"], "it is no whole number. Write a whole number."),
        (["group", "examples/hospitals.csv", "--groups", "0"], "--groups: it is less than 1. Give 1 or more."),
        (["flip", "--map", "G,M", "--cells", "500"], "or equal to 201. Give 201 or less."),
        (["tune", *BASE[1:], "--budget", "1e999USD"], "is no amount of money. Write 100USD."),
    ],
)
def test_misuse_is_refused_in_two_lines_with_exit_2(plan, words: list[str], wanted: str) -> None:
    code, out, err = plan(*words)
    assert (code, out) == (2, "")
    assert wanted in err.replace("\n  help: ", ". ")
    assert re.match(r"error\[E\d{3}\]: ", err)
    assert len(err.strip().splitlines()) <= 2
    assert "Traceback" not in err


@pytest.mark.usefixtures("unflipped")
def test_a_share_above_the_start_is_not_said_to_be_an_accuracy(plan) -> None:
    """An accuracy of 150 % was advised, which is refused."""
    code, out, _ = plan("recommend", "-G", "4", "-M", "5", "-H", "both", "--target", "150%")
    assert code == 0 and "above the loss at the start; give less than 100 %" in " ".join(out.split())
    assert "--target-accuracy" not in out


@pytest.mark.usefixtures("unflipped", "no_draws")
def test_a_share_that_may_be_meant_as_an_accuracy_is_pointed_out(plan) -> None:
    for target, wanted in (("85%", True), ("2%", False)):
        said = " ".join(plan("recommend", "-G", "3", "-M", "3", "--target", target)[1].split())
        assert (f"for accuracy write --target-accuracy {target}." in said) == wanted


@pytest.mark.usefixtures("unflipped", "untossed", "no_draws")
def test_no_word_is_dropped_in_silence(plan) -> None:
    code, _, err = plan("recommend", "-H", "inter", "--data", str(ROOT / "examples/hospitals.csv"))
    assert (code, err.splitlines()[0]) == (2, "error[E002]: -H: --data says the same")
    assert "--data in place of -H" in err
    assert plan("recommend", "-M", "3", "--groups=3", "-G", "4")[2].startswith(
        "error[E002]: --groups: -G says the same"
    )
    fleet = ("-G", "4", "-M", "3", "--objective", "rounds", *QUICK)
    place = "hfl-plan: -K '6' takes the place of '5'.\n"
    assert plan("recommend", *fleet, "-K", "5", "-K6")[2] == place
    assert plan("recommend", *fleet, "-K", "5", "-K", "7", "-K6", "-q")[2] == ""  # no notes
    assert plan("recommend", *fleet, "-K", "5", "-K5", "--set", "problem.sigma=1", "--set", "plan.seed=1")[::2] == (
        0,
        "",
    )
    assert plan("flip", *fleet, "-p", "G", "-p", "zeta")[::2] == (0, "")  # may be repeated
    assert plan("recommend", *fleet, "-qK5", "-qK6")[::2] == (0, "")  # behind a flag: it was an internal error
    words = ("recommend", "--pilot", str(ROOT / "examples/digits_pilot.json"))
    assert "unused" not in plan(*words, "--explain", "all")[1]
    assert "--heterogeneity: unused" in plan(*words, "-H", "iid", "--explain", "warnings")[1]
    assert "--heterogeneity: unused" in plan("flip", *words[1:], "-p", "R", "-H", "iid", "--explain", "warnings")[1]


@pytest.mark.usefixtures("unflipped", "untossed", "unturned", "no_draws", "searched_once", "asked_once")
@pytest.mark.parametrize(
    "words",
    [
        ["recommend", "-G", "3", "-M", "3"],
        ["tune", "-G", "3", "-M", "3", "-K", "1,2", "-P", "1,2"],
        ["flip", "-G", "3", "-M", "3", "-p", "uplink"],
        ["async", "-G", "4", "-M", "10", "--speed-ratio", "8"],
        ["hubs", "--nodes", "40", "--edges", "300"],
        ["overlap", str(ROOT / "examples/coverage57.csv")],
        ["group", str(ROOT / "examples/hospitals.csv")],
    ],
    ids=lambda words: words[0],
)
def test_what_the_line_assumed_sends_to_is_found_by_its_name(plan, words: list[str]) -> None:
    """Every assumption of the document is in the section of the same name."""
    assumed = json.loads(plan(*words, "--json")[1])["assumptions"]
    code, out, _ = plan(*words, "--explain", "assumptions")
    assert assumed and code == 0
    for one in assumed:
        assert one["key"] in out or input_words(one["key"]) in out
    if "Provenance" in out:
        assert out == plan(*words, "--explain", "provenance")[1]


@pytest.mark.usefixtures("unflipped", "asked_once")
def test_the_confidence_of_a_verdict_is_explained_by_its_name(plan) -> None:
    """The word stands in the verdict, and its section is called by another."""
    words = ("recommend", "-G", "10", "-M", "10", "-H", "inter", "--link-sharing", "per-client")
    stated = re.search(r"Confidence\s+(\d+) %", plan(*words)[1])[1]
    told = " ".join(plan(*words, "--explain", "confidence")[1].split())
    assert f"Star-Star is within 2 % of the best with probability {stated} %" in told


def test_no_answer_is_exit_1_with_the_reason(plan) -> None:
    code, out, err = plan(*BASE, "--target", "1e-9", "--rounds", "100")
    assert (code, out) == (1, "")
    assert "not reached within 100 rounds" in err


@pytest.mark.usefixtures("unflipped")
def test_json_is_one_document_and_nothing_else(plan) -> None:
    code, out, err = plan(*BASE, "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["schema"] == "hfl-plan/recommend/2"
    assert "NaN" not in out
    assert "Infinity" not in out


@pytest.mark.usefixtures("unflipped")
def test_the_contracts_call_names_symbols(plan) -> None:
    _, out, _ = plan("recommend", "--G", "10", "--M", "10", "--heterogeneity", "zeta=0.5,delta=2", "--json")
    scenario = json.loads(out)["scenario"]
    assert scenario["G"] == {"value": 10, "origin": "given", "unit": "", "source": "", "reading": ""}
    assert scenario["zeta"]["value"] == 0.5
    assert scenario["delta"]["value"] == 2


@pytest.mark.usefixtures("unflipped", "asked_once")
@pytest.mark.parametrize("name", formats())
def test_every_format_of_the_folder_says_the_same_order(plan, name: str) -> None:
    order = [row["id"] for row in json.loads(plan(*BASE, "--json")[1])["rows"] if not row["baseline"]]
    code, out, _ = plan(*BASE, "--format", name)
    assert code == 0
    row = r"^(?:\s*|per-client,|\| |<tr><t[dh][^>]*>|\s*\"id\": \")((?:star|ring)-(?:star|ring))"  # verdicts name some
    ranked = list(dict.fromkeys(re.findall(row, out.lower(), re.MULTILINE)))
    assert ranked == order
    assert set(ranked) == {f"{a}-{b}" for a in ("star", "ring") for b in ("star", "ring")}


@pytest.mark.usefixtures("unflipped")
def test_csv_has_si_numbers(plan) -> None:
    _, out, _ = plan(*BASE, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    ranked = [*(("False", f"{rank}") for rank in range(1, 5)), *[("True", "")] * 2]
    assert [(row["baseline"], row["rank"]) for row in rows] == ranked * 2  # once in each case of link sharing
    assert float(rows[0]["time_seconds"]) == pytest.approx(
        float(rows[0]["rounds"]) * float(rows[0]["round_seconds"]), rel=1e-9
    )


@pytest.mark.usefixtures("unflipped")
def test_every_line_of_csv_has_the_columns_of_the_header(plan) -> None:
    header, *lines = csv.reader(io.StringIO(plan(*BASE, "--format", "csv")[1]))
    assert {len(line) for line in lines} == {len(header)}
    known = json.loads(plan(*BASE, "--json")[1])["rows"]
    assert len(lines) == 2 * len(known)  # once in each case of link sharing; the first is the one that rows hold
    for line, row in zip(lines[: len(known)], known, strict=True):
        told = dict(zip(header, line, strict=True))
        for column, key in (("ratio", "value"), ("ratio_low", "low"), ("ratio_high", "high")):
            number = row["ratio"][key]
            assert told[column] == ("" if number is None else f"{number!r}")
        assert told["round_seconds"] == f"{row['round_seconds']!r}"
    assert any(row["ratio"]["low"] is None for row in known)  # the first has no interval, others have one
    assert any(row["ratio"]["low"] is not None for row in known)


@pytest.mark.usefixtures("unflipped")
def test_user_text_is_escaped_in_every_format(plan, tmp_path: Path) -> None:
    file = tmp_path / "a.toml"
    file.write_text(
        "title = '=1+1 | \\\\input{/etc/passwd} <script>x</script> 100% a_b #1 $x^2$ ~'\n"
        "[fleet]\ngroups = 3\nclients_per_group = 4\n"
    )
    _, latex, _ = plan("recommend", "--config", str(file), "--format", "latex")
    caption = next(line for line in latex.splitlines() if "caption" in line)
    assert r"\input" not in caption
    assert r"\textbackslash{}" in caption
    assert r"100\% a\_b \#1 \$x\textasciicircum{}2\$" in caption
    _, markdown, _ = plan("recommend", "--config", str(file), "--format", "markdown")
    assert "<script>" not in markdown
    assert (
        markdown.split("\n## ")[0].count("\n| ") == 7
    )  # a header, four rows, two baselines: the title's bar opened no column
    _, plain, _ = plan("recommend", "--config", str(file), "--format", "csv")
    assert "=1+1" not in plain


@pytest.mark.usefixtures("few_draws", "nearest_alone")
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda p: p.stem)
def test_examples_answer_and_follow_the_schema(plan, example: Path, request: pytest.FixtureRequest) -> None:
    if example != EXAMPLES[0]:  # what would change the answer is said in one of them; `test_witness` has that of more
        request.getfixturevalue("unflipped")
    code, out, err = plan("recommend", "--config", str(example), "--json")
    assert (code, err) == (0, "")
    _, schema, _ = plan("schema", "recommend")
    validate(json.loads(out), json.loads(schema))
    assert json.loads(schema) == schema_of(Recommendation)
    assert example.read_text().count("#") > 5  # commented


def test_there_are_three_examples() -> None:
    assert len(EXAMPLES) >= 3


def test_a_refusal_on_a_terminal_has_80_columns_and_elsewhere_a_line(plan, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["recommend", "-G", "10", "-M", "10", "--target", "1e-9", "--rounds", "10"]
    _, _, piped = plan(*words)
    assert [line.split(":")[0] for line in piped.splitlines()] == ["no answer[N003]", "  help"]
    monkeypatch.setattr(type(sys.stderr), "isatty", lambda _: True, raising=False)
    _, _, shown = plan(*words)
    assert max(map(len, piped.splitlines())) > 80 >= max(map(len, shown.splitlines()))
    assert shown.split() == piped.split()


def test_what_prints_a_text_writes_it_to_a_file_that_is_named(plan, tmp_path: Path) -> None:
    """`schema` and `help` took --output, and wrote nothing."""
    for words, suffix in ((("schema", "recommend"), "json"), (("help", "tune"), "txt")):
        file = tmp_path / f"said.{suffix}"
        code, out, err = plan(*words, "--output", str(file))
        assert (code, out) == (0, "") and f"wrote {file}" in err
        assert file.read_text() == plan(*words)[1]
        assert plan(*words, "--output", str(file))[0] == 2  # it is there


@pytest.mark.usefixtures("unflipped")
def test_the_schema_refuses_what_is_not_the_contracts(plan) -> None:
    _, out, _ = plan(*BASE, "--json")
    _, schema, _ = plan("schema", "recommend")
    for break_it in (
        lambda d: d.update(schema="hfl-plan/recommend/3"),
        lambda d: d.pop("rows"),
        lambda d: d["rows"][0].update(rounds="many"),
        lambda d: d.update(extra=1),
    ):
        data = json.loads(out)
        break_it(data)
        with pytest.raises(jsonschema.ValidationError):
            validate(data, json.loads(schema))


def process(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """One call in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "planner", *words],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )


def test_a_closed_pipe_is_no_error() -> None:
    command = f"{sys.executable} -m planner validate list --json | head -c 10"
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {command}"], capture_output=True, text=True, check=False)
    assert done.stdout == '{\n  "schem'
    assert done.stderr == ""


@pytest.mark.usefixtures("unflipped")
def test_piped_tables_are_neither_wrapped_nor_coloured(plan, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    code, out, _ = plan(*BASE, *QUICK, "--metric", "gradient")
    assert code == 0
    assert "\x1b" not in out
    table = [line for line in out.splitlines() if "-Ring  " in line or "-Star  " in line]
    assert len(table) == 4
    assert all(re.search(r" [TG]B$", line) for line in table)  # the last column


def test_titles_survive_any_terminal(tmp_path: Path) -> None:
    file = tmp_path / "a.toml"
    file.write_text("title = 'Zürich 北京'\n[fleet]\ngroups = 3\nclients_per_group = 4\n", encoding="utf-8")
    every = (
        "import sys\nfrom planner.cli import app as cli\nfrom planner.decide import rank\n"
        "rank.nearest_flips = lambda *_: ((), '')\n"
        "whole, made = rank.recommend, []\n"
        "rank.recommend = lambda *asked, **how: made[0] if made else made.append(whole(*asked, **how)) or made[0]\n"
        f"for name in {[*formats(), 'json']!r}:\n"
        "    print(end='\\0')\n"
        f"    sys.argv = ['hfl-plan', 'recommend', '--config', {str(file)!r}, '--format', name, *{QUICK!r}]\n"
        "    try:\n        cli.main()\n    except SystemExit as stop:\n        assert not stop.code, name\n"
    )
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run([sys.executable, "-c", every], capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout.rpartition("\0")[2])["title"] == "Zürich 北京"


@pytest.mark.usefixtures("unflipped")
@pytest.mark.parametrize("width", [40, 66, 80, 100, 140])
def test_a_narrow_terminal_loses_columns_and_never_digits(width: int) -> None:
    from planner.decide.rank import recommend
    from planner.report.answers.recommend import document
    from planner.report.render import render
    from planner.scenario.resolve import load

    answer = recommend(load(EXAMPLES[0]))
    text = re.sub(r"\x1b\[[0-9;]*m", "", render("table", document(answer), width=width, color=True))
    assert "…" not in text
    piped = render("table", document(answer), width=width, color=False)
    for row in answer.ranking:
        shown, whole = (
            [re.split(r"\s{2,}", line.strip()) for line in lines.splitlines() if line.startswith(f"  {row.title}  ")]
            for lines in (text, piped)
        )
        assert len(shown) == len(whole) == 1
        assert set(shown[0]) <= set(whole[0])
        given = row.rounds.origin == "given"
        assert (f"{row.rounds:,.0f}" if given else f"~{float(f'{row.rounds:.2g}'):,.0f}") in shown[0]
        assert (len(shown[0]) == len(whole[0])) is (width >= 66)


@pytest.mark.parametrize("width", [40, 60, 80])
def test_columns_of_two_cases_go_together_and_keep_their_heading(width: int) -> None:
    from planner.io.listings import listing
    from planner.report.document import Column, Document, Table
    from planner.report.render import render

    pair = (Column("time", "number"), Column("vs best"))
    rows = (("Star-Star", "~1.6 h", "1x [1, 1.4]", "~12 h", "1.3x [1, 1.4]", "~2.0 TB"),)
    table = Table(
        (Column("topology"), *pair, *pair, Column("traffic", "number")),
        rows,
        spared=("traffic", "vs best"),
        above=((1, "own?"), (3, "shared?")),
        apart=False,
    )
    above, names, row = (
        re.sub(r"\x1b\[[0-9;]*m", "", line)
        for line in render("table", Document(listing("explain", ""), (table,)), width=width, color=True).splitlines()
    )
    assert names.count("vs best") == (0 if width == 40 else 2)
    assert ("traffic" in names) is (width == 80)
    assert above.index("own?") == row.index("~1.6 h")
    assert above.index("shared?") <= row.index("~12 h") < above.index("shared?") + len("shared?")


def test_what_cannot_be_written_is_said(tmp_path: Path) -> None:
    for where in ("> /dev/full", ">&-"):
        command = f"{sys.executable} -m planner explain E012 {where}"
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
        assert done.returncode == 1
        assert "could not be written" in done.stderr


def test_help_and_version() -> None:
    assert "recommend" in process("--help").stdout
    assert "--heterogeneity" in process("recommend", "--help").stdout
    assert re.fullmatch(r"hfl-plan \S+\n", process("--version").stdout)


def test_an_unexpected_failure_names_itself_and_the_way_to_see_more(plan, monkeypatch: pytest.MonkeyPatch) -> None:
    import planner.decide.rank

    def broken(_: object) -> None:
        raise RuntimeError("on purpose")

    monkeypatch.setattr(planner.decide.rank, "recommend", broken)
    code, out, err = plan(*BASE)
    assert (code, out) == (1, "")
    assert "HFL_PLAN_DEBUG=1" in err
    assert err.startswith("no answer[N009]: internal error, RuntimeError: on purpose")
    assert len(err.strip().splitlines()) == 2


def loaded(*words: str) -> set[str]:
    """The modules a call has imported when it ends."""
    return loaded_by_all([*words])


def loaded_by_all(*calls: list[str]) -> set[str]:
    """The modules that several calls have imported, in one process."""
    code = (
        "import sys, contextlib, io\n"
        "from planner.cli import app as cli\n"
        f"for words in {calls!r}:\n"
        "    sys.argv = ['hfl-plan', *words]\n"
        "    with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):\n"
        "        cli.main()\n"
        "print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_the_main_job_imports_neither_sympy_nor_torch_and_help_no_numpy() -> None:
    answered = loaded_by_all(*([*BASE, "--format", form] for form in ("json", "table")))
    assert "numpy" in answered
    assert not answered & {"sympy", "torch", "scipy", "matplotlib", "rich", "pandas", "pydantic", "numpy.ma"}
    assert not loaded("--help") & {"numpy", "pydantic", "sympy", "torch", "hflbounds"}


def test_maps_are_called_one_thing_in_help_docs_and_the_readme() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "planner", "flip", "--help"], capture_output=True, text=True, check=True
    )
    root = Path(__file__).resolve().parents[3]
    pages = [root / "README.md", *sorted((root / "docs").rglob("*.md"))]
    texts = {str(page): page.read_text("utf-8") for page in pages} | {"help": done.stdout}
    assert not [name for name, text in texts.items() if re.search(r"--phase\b", text)]
    naming = {Path(name).name for name, text in texts.items() if re.search(r"--map\b", text)}
    assert {"help", "README.md", "flips.md"} <= naming


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["recommend", "--upload", "3Mbit/s"], "Write --uplink."),
        (["recommend", "--set", "availability.quorum=8"], "Write 8% or 0.08. It is a share, no number of clients."),
        (["recommend", "--deadline", "20s"], "Write --set availability.timeout=20s --on-failure timeout."),
        (["tune", "--timeout", "20s"], "Write --set availability.timeout=20s --on-failure timeout."),
        (["recommend", "--kwh", "0.3"], "It is a key of a scenario: --set footprint.kwh=NUMBER."),
        (["pilot", "examples/digits_hook.py", "--G", "9"], "those of what is named: the hook"),
        (
            ["hubs", "--nodes", "40", "--edges", "200", "-H", "examples/hospitals.csv"],
            "Give --nodes 32, or counts of 40.",
        ),
        (["pilot", "--data", "examples/hospitals.csv", "--proxy", "cifar"], "Known are digits, fashion-mnist."),
        (["pilot", "examples/digits_hook.py", "--rounds", "0"], "Write --rounds 8."),
        (["pilot", "examples/digits_hook.py", "--systems", "trees,foo"], "Known are trees, one-tier"),
        (["recommend", "--clients", "9", "--explain", "table", "target"], "--explain takes one section, or all."),
        (["help", "E023"], "`hfl-plan explain E023` says what it means."),
        (["measure", "examples/digits_hook.py"], "is a hook, for `hfl-plan estimate` and `hfl-plan pilot`."),
        (["pilot", "examples/hospitals.csv"], "--data examples/hospitals.csv --proxy digits"),
        (["group", "examples/consortium.csv"], "for `hfl-plan recommend --fleet examples/consortium.csv`"),
    ],
)
def test_what_was_meant_is_said_with_a_way_out(plan: Any, words: list[str], said: str) -> None:
    """Mistakes that were sent to a page of help, to another option, or to what is refused too."""
    code, out, err = plan(*words)
    assert (code, out) == (2, "")
    assert said in " ".join(err.split())


@pytest.mark.usefixtures("unflipped", "few_draws")
def test_one_of_a_list_of_tables_is_set_by_its_name_or_number(plan, tmp_path: Path) -> None:
    file = tmp_path / "three.toml"
    file.write_text("\n".join(f'[[fleet.tiers]]\nname = "{n}"\ncount = 3' for n in ("region", "site", "till")))
    code, out, _ = plan(
        "recommend", "-c", str(file), "--set", "fleet.tiers.site.passes=4", "--set", "fleet.tiers.3.passes=5",
        "--set", "fleet.tiers.site.link.up=9Mbit/s", "--json",
    )  # fmt: skip
    found = json.loads(out)["scenario"]
    assert code == 0 and (found["P2"]["value"], found["P3"]["value"]) == (4, 5)
    assert found["server_link.up"]["value"] == 9e6 and found["server_link.up"]["origin"] == "given"
    for path, said in (
        ("tiers.shop.passes", "there is no table 'shop'"),
        ("tiers.region.passes", "the top server passes through its children once"),
        ("tiers.passes", "tiers is not a table in the file"),
        ("tiers.4.passes", "Known are region, site, till"),
    ):
        code, _, err = plan("recommend", "-c", str(file), "--set", f"fleet.{path}=2")
        assert code != 0 and said in err
    file.write_text("fleet.tiers = [1, 2]")
    assert plan("recommend", "-c", str(file), "--set", "fleet.tiers.1.passes=2")[0] == 2


@pytest.mark.parametrize("tiers", ["4/5/20", "ring:4/star:5/ring:20"])
def test_a_tier_is_set_by_its_number_beside_sizes(tiers: str) -> None:
    """Passes could be said in a file alone, though the reference of scenarios says how to set them."""
    set_ = {"fleet.tiers.2.passes": "4", "fleet.tiers.3.passes": "2", "fleet.tiers.1.link.up": "40Mbit/s"}
    options = {key: (f"--set {key}", value) for key, value in set_.items()}
    sized = {"network.tiers": ("--tiers", tiers)}
    found = load(None, sized | options)
    said = [found.known[symbol].value for symbol in ("n1", "n2", "n3", "P2", "P3", "link1.up")]
    assert said == [4, 5, 20, 4, 2, 40e6]
    for key, message in (
        ("fleet.tiers.4.passes", r"there is no table '4'. Known are 1 to 3"),
        ("fleet.tiers.2.count", r"--tiers says the sizes. Give one of the two"),
        ("fleet.group_rounds", r"the passes of all tiers below the top, such as 3/1 of three"),
    ):
        with pytest.raises(ScenarioError, match=message):
            load(None, sized | {key: (f"--set {key}", "2")})
    in_short = load(None, sized | {"fleet.group_rounds": ("-P", "4/2")})
    assert [in_short.known[symbol].value for symbol in ("n2", "P2", "P3")] == [5, 4, 2]
    for beside in (sized, {"fleet.groups": ("-G", "4"), "fleet.clients_per_group": ("-M", "5")}):
        with pytest.raises(ScenarioError, match=r"-P: 3 numbers for (2 tiers|1 tier) below the top. Write one"):
            load(None, beside | {"fleet.group_rounds": ("-P", "4/2/1")})
    with pytest.raises(ScenarioError, match=r"or give their sizes with --tiers 4/5/20"):
        load(None, {"fleet.groups": ("-G", "4"), "fleet.clients_per_group": ("-M", "5")} | options)


@pytest.mark.parametrize(("size", "told"), [("7B", True), ("7Bparameters", False), ("2kB", False)])
def test_a_size_of_few_bytes_is_pointed_out(size: str, told: bool, capsys, monkeypatch) -> None:
    """Seven bytes were taken for seven billion parameters, without a word."""
    fleet = ("recommend", "-G", "3", "-M", "4", "--set", "plan.draws=0", "--model-size", size)
    code, out, _ = run(*fleet, capsys=capsys, monkeypatch=monkeypatch)
    assert code == 0 and ("7 billion parameters are 7Bparameters" in " ".join(out.split())) == told
