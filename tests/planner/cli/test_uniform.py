"""One rule each: options, codes, help and completion are the same in every command."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import typer

import planner
from planner.cli.app import Commands
from planner.io import codes
from planner.plot.draw import kinds
from planner.scenario.start import QUESTIONS, written

ROOT = Path(__file__).parents[3]
SHARED = ("--format", "--json", "--output", "--force", "--quiet", "--explain")
OWN_FILES = {"init", "bounds export", "bounds plot", "picture", "estimate"}  # write a file of their own kind
GIVEN = {"N001", "N002", "N004", "N009", "E028", "E033", "E037", "E043", "N005"}  # given by no short command


def leaves() -> dict[str, Any]:
    """Every command that does something, by its words."""
    found = {}
    for name, command in Commands().items():
        if hasattr(command, "commands"):
            found |= {f"{name} {word}": inner for word, inner in command.commands.items()}
        else:
            found[name] = command
    return found


def parameters(command: Any) -> list[Any]:
    return command.get_params(typer.Context(command))


@pytest.mark.parametrize("name", sorted(leaves()))
def test_every_command_has_the_shared_options_once(name: str) -> None:
    options = [option for p in parameters(leaves()[name]) if p.param_type_name == "option" for option in p.opts]
    assert len(options) == len(set(options))
    assert set(SHARED) <= set(options)
    assert "-o" not in options or "--output" in options


def test_one_spelling_means_one_thing() -> None:
    meanings: dict[str, set[str]] = {}
    for name, command in leaves().items():
        for p in parameters(command):
            for option in p.opts if p.param_type_name == "option" else ():
                if option in SHARED[1:] and name not in OWN_FILES:
                    meanings.setdefault(option, set()).add(p.help)
    assert {option: len(texts) for option, texts in meanings.items() if option != "--output"} == dict.fromkeys(
        ("--json", "--force", "--quiet", "--explain"), 1
    )
    letters = {
        (o, p.opts[-1 if p.opts[0] == o else 0]) for c in leaves().values() for p in parameters(c) for o in p.opts
    }
    assert {long for letter, long in letters if letter == "-o"} == {"--output"}


@pytest.mark.parametrize("name", sorted(leaves()))
def test_help_has_one_line_examples_and_fits_80_columns(plan, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    code, out, err = plan(*name.split(), "--help")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    about = next(line for line in lines[1:] if line)
    assert about[0].isupper()
    assert "Examples  hfl-plan " in out
    assert max(map(len, lines)) <= 80
    assert plan("help", *name.split())[1] == out
    for p in parameters(leaves()[name]):
        if p.param_type_name == "option" and not p.hidden and p.name != "help":
            assert p.help, p.opts
            assert not p.help.startswith(("Of ", "Who ", "Whose ", "What has ")), p.opts


def test_a_short_page_names_the_whole_one(plan) -> None:
    short, whole = plan("recommend", "--help")[1], plan("recommend", "--help", "all")[1]
    assert "--help all" in short
    assert "--curvature-scatter" in whole
    assert "--curvature-scatter" not in short
    assert all(option in short for option in ("--data", "--clients ", "--tiers "))  # README begins with these
    assert "keys below" not in whole  # a page of options has none
    assert "--help all" not in whole


def test_every_kind_of_picture_is_described(plan) -> None:
    out = plan("picture", "--help")[1]
    assert [kind for kind in kinds() if f"{kind}: " not in " ".join(out.split())] == []


def test_commands_come_in_the_order_of_a_users_path(plan) -> None:
    code, out, err = plan()
    assert (code, err) == (0, "")
    assert out == plan("--help")[1]
    assert len(out.splitlines()) <= 25
    listed = re.findall(r"^(?:[A-Z][a-z]+ +| {10})([a-z]+)  +[A-Z]", out, re.MULTILINE)
    listed += re.findall("[a-z]+", out.partition("Also ")[2].partition("\n")[0])
    assert listed[:8] == ["init", "recommend", "measure", "estimate", "pilot", "group", "tune", "flip"]
    assert sorted(listed) == sorted(Commands())  # each once
    assert max(map(len, out.splitlines())) <= 80


# ---------------------------------------------------------------- codes


def used() -> set[str]:
    """Codes that the source gives."""
    texts = (path.read_text(encoding="utf-8") for path in (ROOT / "planner").rglob("*.py"))
    return {code for text in texts for code in re.findall(r"""["']([EN]\d{3})["']""", text)}


def test_every_code_is_given_and_explained() -> None:
    assert used() - {"E000", "E999"} == set(codes.read())


@pytest.mark.parametrize("code", sorted(codes.read()))
def test_the_example_of_a_code_gives_it(plan, code: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    row = codes.read()[code]
    if "example" not in row:
        assert code in GIVEN
        return
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    words = shlex.split(row["example"])[1:]
    exit_code, out, err = plan(*words)
    assert out == ""
    assert re.match(rf"(error|no answer)\[{code}\]: \S", err), err
    assert "\n  help: " in err
    assert exit_code == (1 if code.startswith("N") else 2)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ("bounds show zhou2026.thm1.star-ring --set G=3", "E003", "these examples: --set M=10 --set P=10 --set K=10 "),
        ("bounds worst-case hflbounds.exact.star-star --set G=2", "E003", "also needs M, K, R, A, eta_eff"),
        ("bounds plot zhou2026.thm1.star-ring --over zeta --set G=3 -o x.svg", "E003", "also needs M"),
        ("estimate no-such.py", "E030", "cannot be read"),
        ("explain e26", "E016", "Did you mean E026?"),
        ("recommend --data x.toml -G 3 -M 3", "E020", "--data: 'x.toml' is a scenario"),
        ("diff a.json b.json", "E010", "hfl-plan compare A B"),
        ("schema recomend", "E020", "Did you mean recommend?"),
        ("recommend -G 3 -M 3 --target 1e-300", "E021", "help: Write a loss above the least, from 1e-100 to 1e+100"),
        ("recommend -G 3 -M 3 --server-link 1Gbit/s", "E027", "A rate is given as --server-uplink 1Gbit/s."),
        ("recommend -G 0 -M 3", "E022", "help: Give 1 or more."),
        ("flip -G 7 -M 5 -p heterogeneity", "E020", "Did you mean zeta or delta or zeta^2/delta^2?"),
        ("flip -G 7 -M 5 -p availability", "E020", "help: Give --availability to follow it."),
        ("flip -G 7 -M 5 -p target", "E020", "help: Give --target to follow it."),
        ("flip -G 7 -M 5 --map bandwidth,M", "E020", "mean client_link.up or client_link.down or server_link.up or"),
        ("flip -G 7 -M 5 -p uplnk", "E020", "Did you mean uplink?"),
        ("recommend -G 7", "E026", "--clients-per-group (-M) is missing\n  help: Give both, such as -G 7 -M 10."),
        ("recommend -M 7", "E026", "--groups (-G) is missing\n  help: Give both, such as -G 10 -M 7."),
        (
            "recommend --data examples/hospitals.csv -G 5",
            "E002",
            "has 4 groups of 8 clients, not 5 groups of 8 clients",
        ),
        ("recommend -G 3 -M 3 --client-link 6g", "E027", "help: Did you mean 5g or 4g?"),
        ("recommend -G 3 -M 3 --client-link dsl", "E027", "help: Write one of these."),
        ("recommend -G 3 -M 3 --client-link 20Mbit/s", "E027", "--uplink 20Mbit/s"),
        (
            "recommend -G 3 -M 3 --availability 1.2",
            "E021",
            "help: A probability is at most 1, or 100 %. Write it",
        ),
        (
            "recommend -G 3 -M 3 --availability 120%",
            "E021",
            "help: A probability is at most 1, or 100 %. Write it",
        ),
        ("recommend -G 3 -M 3 --availability 97", "E021", "help: Write 97% or 0.97."),
        (
            "recommend --tiers 3/4/6 --availability 97%",
            "E028",
            "at most two tiers, and this fleet has 3\n  help: Leave it out, as --availability 100% does. Or ask "
            "about the servers that wait for devices: --groups 12 --clients-per-group 6 in place ",
        ),
        ("recommend -G 3 -M 3 --objective zz", "E020", "help: Give one of them."),
        ("recommend --clients 241 -M 30 -H inter", "E002", "help: Give --clients 240 or 270, or give --clients alone"),
        ("recommend --clients 241 -G 8 -M 30 -H inter", "E002", "help: Leave --clients out, or give"),
        ("recommend -G 8 -M 30 -H inter -K 1-10", "E024", "help: Write 1:10 for a range."),
        ("recommend -G 4..8 -M 30 -H inter", "E024", "help: Write 4:8 for a range."),
    ],
)
def test_refusals_name_the_kind_and_the_way_out(plan, words: str, code: str, said: str) -> None:
    _, out, err = plan(*shlex.split(words))
    assert out == ""
    assert err.startswith(f"error[{code}]: ")
    assert said in err


def test_explain_lists_and_explains(plan) -> None:
    assert all(code in plan("explain")[1] for code in codes.read())
    code, out, err = plan("explain", "e012")
    assert (code, err) == (0, "")
    assert codes.read()["E012"]["meaning"] in out


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("recommend -G 3 -M 4 --heterogenity inter", "Did you mean --heterogeneity?"),
        ("recomend -G 3", "Did you mean recommend?"),
        ("bounds shw x", "Did you mean show?"),
        ("bounds show zhou2026.thm1.star_ring", "Did you mean zhou2026.thm1.star-ring"),
        ("recommend -G 3 -M 4 --objective tme", "Did you mean time?"),
        ("recommend -G 3 -M 4 --set fleet.grops=3", "Did you mean groups?"),
        ("schema recomend", "Did you mean recommend?"),
        ("picture tornados -o a.svg -G 3 -M 4", "Did you mean tornado?"),
        ("validate run raw-rate", "perhaps raw-rates"),
        ("recommend -G 3 -M 4 -o time", "For the objective write --objective."),
        ("recommend counts.csv", "--heterogeneity counts.csv"),
        ("recommend --profile profile.json", "--heterogeneity profile.json"),
        ("measure counts.csv --profile profile.json", "recommend` and others"),
        ("bounds list star-ring", "--search star-ring"),
        ("bounds search star-ring", "bounds list --search 'WORDS'"),
    ],
)
def test_what_is_misspelt_gets_a_suggestion(plan, words: str, wanted: str) -> None:
    code, out, err = plan(*words.split())
    assert (code, out) == (2, "")
    assert wanted in err


def test_a_csv_with_wrong_columns_shows_the_header(plan, tmp_path: Path) -> None:
    file = tmp_path / "counts.csv"
    file.write_text("hospital,region,a,b\nh1,r1,3,4\n")
    assert "client,group,<label>,... or client,group,label,count" in plan("measure", str(file))[2]


LINES = {
    "hfl-plan recommend --objective ": {"time", "rounds"},
    "hfl-plan recommend --client-link ": {"wifi", "5g", "wan"},
    "hfl-plan bounds show zhou2026.thm1.": {"zhou2026.thm1.star-ring"},
    "hfl-plan picture to": {"tornado"},
    "hfl-plan recommend --format m": {"markdown"},
    "hfl-plan init --example ": {"phones", "hospitals", "cell-site", "regions"},
    "hfl-plan explain N00": {"N001", "N003"},
}
ASK = """
import contextlib, os
from planner.cli.app import app
for line in %r:
    print(end="\\0")
    os.environ |= {"_HFL_PLAN_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))}
    with contextlib.suppress(SystemExit):
        app(prog_name="hfl-plan")
"""


@pytest.fixture(scope="module")
def completed() -> dict[str, str]:
    """What a shell is told, by the line so far."""
    done = subprocess.run([sys.executable, "-c", ASK % [*LINES]], capture_output=True, text=True, check=True)
    return dict(zip(LINES, done.stdout.split("\0")[1:], strict=True))


@pytest.mark.parametrize("line", LINES)
def test_values_are_completed(line: str, completed: dict[str, str]) -> None:
    assert LINES[line] <= {*completed[line].split()}


# ---------------------------------------------------------------- init


def answers(*lines: str) -> str:
    return "".join(f"{line}\n" for line in lines)


@pytest.mark.usefixtures("unflipped", "few_draws")
def test_init_asks_six_questions_and_writes_what_recommend_reads(plan, tmp_path: Path, monkeypatch) -> None:
    import io

    monkeypatch.chdir(tmp_path)
    told = answers("groups", "12 x 25", "11.2 M parameters", "5Mbit/s", "y", "traffic")
    monkeypatch.setattr(sys, "stdin", io.StringIO(told))
    code, out, err = plan("init")
    assert code == 0
    assert "Wrote scenario.toml." in out
    assert err.count("?") == 6
    table = tomllib.loads((tmp_path / "scenario.toml").read_text())
    assert table["fleet"]["groups"] == 12
    assert table["fleet"]["clients_per_group"] == 25
    assert table["model"]["size"] == "11.2 M parameters"
    assert planner.load_scenario(table).known["model_size"].value == 44.8e6  # of 4 bytes
    assert table["network"]["client_link"] == {"up": "5Mbit/s", "sharing": "per-server"}
    assert table["problem"]["heterogeneity"] == "inter"
    assert table["plan"]["objective"] == "traffic"
    lines = (tmp_path / "scenario.toml").read_text().splitlines()
    assert lines[0] == "#:schema scenario.schema.json"
    assert all("#" in line for line in lines if "=" in line and "schema_version" not in line)
    assert plan("recommend", "--config", "scenario.toml", "--json")[0] == 0
    code, _, err = plan("init", "--yes")
    assert code == 2
    assert "error[E034]" in err


def test_init_leaves_open_what_nobody_answered_and_shows_what_is_then_assumed() -> None:
    """The lines behind a comment sign say what the planner takes without them, so it goes on calling them assumed."""
    text = written({key: value for one in QUESTIONS for key, value in one.unanswered().items()})
    open_ = re.sub(r"(?m)^# (?=[a-z_]+ = )(?!sharing)", "", text)
    assert len(open_) < len(text) - 12
    assumed, told = (planner.recommend(tomllib.loads(one), details=False) for one in (text, open_))
    assert [(row.id, row.time_seconds) for row in assumed.rows] == [(row.id, row.time_seconds) for row in told.rows]
    assert {"model_size", "step_time"} <= {one.key for one in assumed.assumptions}
    assert not {"model_size", "step_time"} & {one.key for one in told.assumptions}


def test_init_takes_options_for_answers_and_refuses_what_no_scenario_has(plan, tmp_path: Path, monkeypatch) -> None:
    import io

    monkeypatch.chdir(tmp_path)
    assert plan("init", "-G", "3", "-M", "4", "--yes", "-o", "a.toml")[0] == 0
    text = (tmp_path / "a.toml").read_text()
    assert "groups = 3 " in text
    assert '# sharing = "per-client"' in text  # open, so it is left to the answer
    for told, refused, way in (
        (["", "3,4,6,7,10"], "E022]: question 2, Groups x clients per group: groups x clients: '3,4,6", "--tiers 5/"),
        (["", "3x4", "120"], "E023]: question 3, Model size or number of parameters: ", "120Mparameters of 4"),
        (["", "3x4", "", "", "maybe"], "E020]: question 5, Is the uplink shared within a group", "Give one of"),
        (["foo"], "E020]: question 1, Which data", "Give one of"),
        (["", "3x4", "", "", "", "accuracy"], "E020]: question 6, What matters most", "Accuracy: --metric"),
    ):
        monkeypatch.setattr(sys, "stdin", io.StringIO(answers(*told)))
        err = plan("init", "-o", "b.toml")[2]
        assert f"\nerror[{refused}" in err and way in err
    monkeypatch.setattr(sys, "stdin", io.StringIO(answers("inter", "3x4", "", "", "per-client", "")))
    out = plan("init", "-o", "-")[1]
    assert tomllib.loads(out)["network"]["client_link"]["sharing"] == "per-client"
    assert tomllib.loads(out)["problem"]["heterogeneity"] == "inter"
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    assert "--yes" in plan("init", "-o", "b.toml")[2]
    assert not (tmp_path / "b.toml").exists()


def test_what_init_asks_again_is_said_in_a_whole_sentence(plan, monkeypatch: pytest.MonkeyPatch) -> None:
    import io

    stdin = io.StringIO(answers("", "50", "3x4", "", "", "", ""))
    monkeypatch.setattr(stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(sys, "stdin", stdin)
    code, _, err = plan("init", "-o", "-")
    assert code == 0
    assert "\ngroups x clients: '50' is not two whole numbers. Write 12 x 25. " in f"\n{err}".replace("] ", "\n")


def test_init_writes_all_that_options_say(plan) -> None:
    words = "-G 3 -M 4 --set compute.step_time=30s --availability 95% --set title=123 --sigma 0.5 --fading 0"
    code, out, _ = plan("init", *words.split(), "--yes", "-o", "-")
    assert code == 0
    table = tomllib.loads(out)
    assert (table["title"], table["compute"], table["availability"]) == ("123", {"step_time": "30s"}, {"client": "95%"})
    asked = {"sigma": 0.5, "fading": 0.0, "step_time": 30.0, "availability.client": 0.95, "G": 3, "M": 4}
    read = planner.load_scenario(table).known
    assert {key: read[key].value for key in asked} == asked
    assert all(read[key].origin == "given" for key in asked)


@pytest.mark.usefixtures("unflipped", "few_draws")
@pytest.mark.parametrize(
    "words",
    [
        "--tiers 2/3/4 --set fleet.tiers.2.passes=4 --objective money --set footprint.device_hour=0.05",
        "--tiers ring:2/star:3/ring:4 --uplink 10Mbit/s --set fleet.tiers.1.link.up=5Mbit/s",
        "--tiers 2/3/4 --set fleet.tiers.1.link.price=0.1 --objective money",
        "-G 3 -M 4",  # what is to be least stays open too
    ],
)
def test_a_file_of_init_is_answered_as_the_options_are(plan, tmp_path: Path, monkeypatch, words: str) -> None:
    monkeypatch.chdir(tmp_path)
    assert plan("init", *words.split(), "--yes", "-o", "a.toml")[0] == 0
    file, options = (plan("recommend", *given, "--json") for given in (["--config", "a.toml"], words.split()))
    assert file[0] == options[0] == 0
    read, said = json.loads(file[1]), json.loads(options[1])
    assert (read["rows"], read["verdict"], read["objective"]) == (said["rows"], said["verdict"], said["objective"])


@pytest.mark.parametrize(("words", "answer"), [("", "10"), ("", "1/1/1"), ("--tiers 2/3/4", "1/1")])
def test_an_answer_that_contradicts_others_is_asked_again(plan, monkeypatch, words: str, answer: str) -> None:
    import io

    stdin = io.StringIO(answers(answer, "both", *[""] * 5))
    monkeypatch.setattr(stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(sys, "stdin", stdin)
    code, out, err = plan("init", *words.split(), "-o", "-")
    assert (code, err.count("1 Which data differ")) == (0, 2)
    assert not re.search(r"\b1 (tiers|sizes)\b", err)
    assert tomllib.loads(out)["problem"]["heterogeneity"] == "both"


@pytest.mark.parametrize(
    ("words", "refused", "way"),
    [
        ("-G 3 -M 4 --set bogus.key=3", "E025]: bogus: 'bogus' is not a key", "Known here are schema_version"),
        ("-G 3 -M 4 --objective money", "E001]: --objective: what is given does not say how much money", "device_hour"),
        ("-G 3", "E026]: --groups: 3, and --clients-per-group (-M) is missing", "-G 3 -M 10"),
        ("--tiers 2/3/4 --availability 95%", "E028]: availability: it is counted for at most two tiers", "Leave it"),
        ("--example phones -G 3", "E002]: --example: the file is written as it is, without -", "recommend --config"),
        ("-c examples/phones.toml", "E012]: there is no option -c", "`hfl-plan recommend`"),
        ("-g 3", "E012]: there is no option -g", "Did you mean -G?"),
    ],
)
def test_init_refuses_what_it_cannot_write_and_what_its_next_command_would(plan, words: str, refused: str, way: str):
    code, out, err = plan("init", *words.split(), "--yes", "-o", "-")
    assert (code, out) == (2, "")
    assert err.startswith(f"error[{refused}") and way in err


def test_init_leaves_the_fleet_to_label_counts(plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of groups of one and of three clients, which no two whole numbers say; by an option and by an answer."""
    import io

    monkeypatch.chdir(tmp_path)
    (tmp_path / "counts.csv").write_text("client,group,a,b\nc1,g1,9,1\nc2,g2,1,7\nc3,g2,3,3\nc4,g2,5,8\n")
    monkeypatch.setattr(sys, "stdin", io.StringIO(answers("counts.csv", "", "", "", "")))
    asked, said = plan("init", "-o", "-"), plan("init", "--data", "counts.csv", "--yes", "-o", "-")
    assert (asked[:2], "Groups x clients" in asked[2]) == (said[:2], False)
    read = planner.load_scenario(tomllib.loads(said[1]))
    assert [list(sizes) for sizes in read.listed.sizes] == [[2], [1, 3]]


@pytest.mark.usefixtures("unflipped", "few_draws")
@pytest.mark.parametrize("name", ["phones", "hospitals", "cell-site", "regions"])
def test_examples_start_a_scenario(plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    assert plan("init", "--example", name)[0] == 0
    (made,) = tmp_path.glob("*.toml")
    assert "examples/" not in made.read_text()
    assert plan("recommend", "--config", made.name, "--json")[0] == 0


def test_the_reference_pages_are_what_the_program_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    import reference

    for name, text in reference.kept().items():
        assert (ROOT / "docs" / name).read_text(encoding="utf-8") == text, "python docs/reference.py --write"
    page = reference.commands()
    assert [line.removeprefix("## hfl-plan ") for line in page.splitlines() if line.startswith("## ")] == list(leaves())


@pytest.mark.parametrize("name", ["bounds", "validate"])
def test_a_group_named_alone_shows_its_help(plan, name: str) -> None:
    alone = plan(name)
    assert alone == plan(name, "--help")
    assert alone[0] == 0
    assert max(len(line) for line in alone[1].splitlines()) <= 80


@pytest.mark.parametrize("words", [("examples/phones.toml",), ("--data", "examples/phones.toml")])
def test_a_scenario_in_the_wrong_place_is_sent_to_config(plan, words: tuple[str, ...]) -> None:
    code, out, err = plan("recommend", *words)
    assert (code, out) == (2, "")
    assert "--config examples/phones.toml" in err
    assert "deviation" not in err


@pytest.mark.usefixtures("unflipped", "few_draws")
def test_a_saved_answers_options_are_named_as_they_were_written(plan, tmp_path: Path) -> None:
    """Not as the command line of now has them, which names the file alone."""
    counts, answer = tmp_path / "counts.csv", tmp_path / "answer.json"
    counts.write_text("client,group,x,y\na,n,90,10\nb,n,10,90\nc,s,80,20\nd,s,10,90\n")
    assert plan("recommend", "--data", str(counts), "--output", str(answer), "--objective", "time")[0] == 0
    counts.unlink()
    code, _, err = plan("export", str(answer), "--output", str(tmp_path / "job"))
    assert code == 2
    assert f"--data: {counts}" in err


def test_an_example_under_another_name_is_tried_by_that_name(plan, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert plan("init", "--example", "hospitals", "--output", "my hosp.toml")[0] == 0
    assert "# Try:  hfl-plan recommend --config 'my hosp.toml'\n" in (tmp_path / "my hosp.toml").read_text()
    assert "hospitals.toml" not in (tmp_path / "my hosp.toml").read_text()


@pytest.mark.usefixtures("unflipped")
@pytest.mark.parametrize("words", [("--yes",), ("--example", "hospitals")], ids=["questions", "example"])
def test_sizes_that_init_wrote_are_named_by_their_lines_where_counts_have_others(
    plan, tmp_path: Path, monkeypatch, words: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "counts.csv").write_text("client,group,a,b\nc1,g1,9,1\nc2,g1,1,7\nc3,g2,3,3\nc4,g2,5,8\n")
    assert plan("init", *words, "-o", "mine.toml")[0] == 0
    asked = ("recommend", "--config", "mine.toml", "--data", "counts.csv", "--set", "plan.draws=0")
    code, _, err = plan(*asked)
    assert (code, err[:11]) == (2, "error[E002]")
    [found] = re.findall(r"help: Delete lines (\d+) and (\d+) of mine\.toml, or begin them with #, or give those", err)
    lines = (tmp_path / "mine.toml").read_text().splitlines(keepends=True)
    for number in map(int, found):
        lines[number - 1] = f"# {lines[number - 1]}"
    (tmp_path / "mine.toml").write_text("".join(lines))
    assert plan(*asked)[0] == 0
