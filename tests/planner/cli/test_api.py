"""The planner in Python: the same answers as the command line, as values that can be kept and compared."""

from __future__ import annotations

import doctest
import importlib.util
import json
import re
import subprocess
import sys
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from types import FunctionType

import numpy as np
import pytest
from test_cli import ROOT, run

import planner

FAST = {"settings": {"plan.draws": 0}}
QUICK = ("--set", "plan.draws=0")
FLEET = {"G": 4, "M": 3, "heterogeneity": "zeta=1,delta=0.5", "target": 0.4, **FAST}


@pytest.fixture(scope="module")
def answer() -> planner.Recommendation:
    return planner.recommend(**FLEET)


def test_importing_the_package_imports_next_to_nothing() -> None:
    code = "import sys, planner; print(sorted({'numpy', 'sympy', 'typer', 'pydantic', 'rich'} & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.usefixtures("asked_once", "unflipped")  # with changes it is in `test_functions`
def test_it_is_what_the_command_line_answers(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = (
        "--G",
        "4",
        "--M",
        "3",
        "--heterogeneity",
        "both",
        "--uplink",
        "20Mbit/s",
        "--set",
        "network.tiers=1",
        *QUICK,
    )
    _, out, _ = run("recommend", *words, "--json", capsys=capsys, monkeypatch=monkeypatch)
    mine = planner.recommend(
        G=4, M=3, heterogeneity="both", uplink="20Mbit/s", settings={"network.tiers": 1, "plan.draws": 0}
    )
    theirs = json.loads(out)
    assert theirs.pop("command")[:2] == ["hfl-plan", "recommend"]
    assert {key: value for key, value in mine.to_json().items() if key != "command"} == theirs


@pytest.mark.usefixtures("unflipped")
def test_options_tables_files_and_scenarios_say_the_same(tmp_path: Path) -> None:
    answer = planner.recommend(**FLEET)
    table = {
        "fleet": {"groups": 4, "clients_per_group": np.int64(3)},
        "problem": {"heterogeneity": "zeta=1,delta=0.5", "target": np.float64(0.4)},
        "plan": {"draws": 0},
    }
    file = tmp_path / "a.toml"
    file.write_text(
        "[fleet]\ngroups = 4\nclients_per_group = 3\n[problem]\nheterogeneity = 'zeta=1,delta=0.5'\ntarget = 0.4\n"
        "[plan]\ndraws = 0\n"
    )
    assert planner.recommend(table) == answer
    assert planner.recommend(file) == answer
    assert planner.recommend(planner.load_scenario(str(file))) == answer
    assert planner.recommend(file, groups=4, sigma=None) == answer
    assert planner.recommend(file, G=5) != answer
    assert planner.recommend({**table, "fleet": {"groups": 9, "clients_per_group": 3}}, G=4) == answer


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"config": ROOT / "examples" / "hospitals.toml"}, marks=pytest.mark.slow),
        {"config": ROOT / "examples" / "cell_site.toml"},
        pytest.param({"G": 10, "M": 10, "heterogeneity": "inter"}, marks=pytest.mark.slow),
        {"tiers": "2/3/4", "heterogeneity": "0.5/1/2", "objective": "traffic"},
        {"clients": 12, "heterogeneity": "inter"},
        {"G": 3, "M": 5, "heterogeneity": "zeta=1,delta=0", "predictor": "bound"},
        {"G": 3, "M": 5, "sigma": 0, "heterogeneity": "zeta=0,delta=0", "predictor": "bound", "cap": "none"},
    ],
    ids=lambda options: str(options.get("config", options))[-40:],
)
@pytest.mark.usefixtures("few_draws")
def test_without_details_the_ranking_and_its_ties_are_the_same(
    options: dict, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("planner.decide.rank.nearest_flips", lambda *_: ((), ""))  # they are not compared
    full = planner.recommend(**options)

    def refuse(*_: object) -> None:
        raise AssertionError("a detail was worked out")

    for name in ("assess", "nearest_flips", "clocked", "standings"):
        monkeypatch.setattr(f"planner.decide.rank.{name}", refuse)
    light = planner.recommend(**options, details=False)
    told = ("rank", "tie", "id", "rounds", "time_seconds", "traffic_bytes", "round_seconds", "ratio")
    for name in (*told, "rate_predicted", "rate_predicted_raw"):
        assert [getattr(row, name) for row in light.ranking] == [getattr(row, name) for row in full.ranking], name
    for name in ("recommended", "scenario", "evidence", "target"):
        assert getattr(light, name) == getattr(full, name), name
    for name in ("resolution", "divisions", "predictor", "bounds"):
        assert getattr(light.recommend, name) == getattr(full.recommend, name), name
    said = [one for one in full.warnings if "no guarantee is shown" not in one.text and "--metric loss" not in one.text]
    assert list(light.warnings) == said
    assert (light.recommend.uncertainty, light.sensitivity, light.recommend.others) == (None, (), ())
    others = [
        [(row.id, row.rounds, row.time_seconds, row.ratio, row.through) for row in one.rows if row.baseline]
        for one in (light, full)
    ]
    assert others[0] == others[1]  # one tier; no pilot has others here
    assert {row.rounds_guaranteed for row in light.ranking} == {None} or "predictor" in options
    light.save(tmp_path / "light.json")
    assert planner.Recommendation.load(tmp_path / "light.json") == light
    assert str(light)


def test_label_counts_may_be_a_path(tmp_path: Path) -> None:
    file = tmp_path / "counts.csv"
    file.write_text("client,group,a,b\nc1,x,9,1\nc2,x,8,2\nc3,y,1,9\nc4,y,3,7\n")
    assert planner.recommend(heterogeneity=file, **FAST).scenario["G"].value == 2


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({"uplnk": "20Mbit/s"}, "'uplnk' is not an option. Did you mean uplink"),
        ({"G": 3, "groups": 4}, "groups: G says the same"),
        ({"zeta": 2}, "'zeta' is not an option. Write heterogeneity='zeta="),
    ],
)
def test_options_that_are_none_are_type_errors(options: dict, wanted: str) -> None:
    with pytest.raises(TypeError, match=wanted):
        planner.recommend(**options)


def test_a_scenario_takes_no_options() -> None:
    scenario = planner.load_scenario(G=2, M=2)
    with pytest.raises(TypeError, match="takes no options"):
        planner.recommend(scenario, G=3)


@pytest.mark.parametrize("by_place", [(12, 25), (12,), (None, 25)], ids=str)
@pytest.mark.parametrize("function", ["recommend", "load_scenario"])
def test_sizes_by_place_are_told_their_names(function: str, by_place: tuple) -> None:
    with pytest.raises(TypeError, match=r"is no file and no table.*groups=12, clients_per_group=25"):
        getattr(planner, function)(*by_place)


def test_limits_that_cannot_be_are_refused_as_scenarios_are() -> None:
    for wrong in ("16:4Mbit/s", "0:4Mbit/s", "4:8:16Mbit/s"):
        with pytest.raises(planner.ScenarioError, match="uplink"):
            planner.recommend(G=2, M=2, uplink=wrong)


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({}, "how many groups of how many clients"),
        ({"G": True, "M": 3}, "^G: True is not a whole number"),
        ({"G": 3, "M": 3, "uplink": 20}, "^uplink: "),
        ({"G": 3, "M": 3, "settings": {"network.tierz": 1}}, r"settings\['network.tierz'\].*Did you mean tiers"),
        ({"G": np.array([1, 2]), "M": 3}, "^G: "),
    ],
)
def test_refusals_name_the_keyword(options: dict, wanted: str) -> None:
    with pytest.raises(planner.ScenarioError, match=wanted) as caught:
        planner.recommend(**options)
    assert isinstance(caught.value, planner.PlannerError)
    assert str(caught.value).count("\n") <= 1


def test_no_answer_is_its_own_error() -> None:
    with pytest.raises(planner.NoAnswerError, match="not reached"):
        planner.recommend(**{**FLEET, "target": 1e-9}, rounds=2)


@pytest.mark.usefixtures("unflipped")
def test_the_function_is_a_function() -> None:
    from planner.decide.rank import recommend

    assert isinstance(planner.recommend, FunctionType)
    assert planner.recommend(planner.load_scenario(**FLEET)) == recommend(planner.load_scenario(**FLEET))
    assert {"recommend", "load_scenario", "Recommendation"} <= set(dir(planner))
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        planner.nonsense  # noqa: B018


# ---------------------------------------------------------------- notebook


VOID = {"img"}
PICTURE = "data:image/svg+xml;base64,"  # whatever is in an img, browsers run nothing and load nothing from there


class Reader(HTMLParser):
    """Checks that elements close, and keeps what there is."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_a_notebook_shows_an_accessible_table_that_loads_and_runs_nothing(answer: planner.Recommendation) -> None:
    reader = Reader()
    reader.feed(answer._repr_html_())
    assert reader.open == []
    tags = [tag for tag, _ in reader.seen]
    assert not {"script", "link", "iframe", "style", "a"} & set(tags)
    assert not any(name in attrs for _, attrs in reader.seen for name in ("href", "onclick", "onload"))
    pictures = [attrs for _, attrs in reader.seen if "src" in attrs]
    assert all(attrs["src"].startswith(PICTURE) and attrs["alt"] for attrs in pictures)
    assert len(pictures) == tags.count("img") == bool(importlib.util.find_spec("matplotlib"))
    assert tags.count("table") == tags.count("caption")
    assert all(attrs.get("scope") in ("col", "colgroup", "row") for tag, attrs in reader.seen if tag == "th")
    text = " ".join(reader.texts)
    assert all(row.title in text for row in answer.rows)
    assert answer.verdict.text in text


@pytest.mark.usefixtures("unflipped")
def test_a_hostile_title_stays_a_title() -> None:
    title = "<script>alert(1)</script><img src=x onerror=alert(1)> \" ' &amp;"
    reader = Reader()
    reader.feed(planner.recommend({"title": title}, **FLEET)._repr_html_())
    assert "script" not in {tag for tag, _ in reader.seen}
    assert all(attrs["src"].startswith(PICTURE) for tag, attrs in reader.seen if tag == "img")
    assert reader.seen[0][1]["aria-label"] == title
    assert title in reader.texts


# ---------------------------------------------------------------- keeping


@pytest.mark.usefixtures("unflipped")
def test_what_is_saved_is_loaded_as_it_was(answer: planner.Recommendation, tmp_path: Path) -> None:
    searched = planner.recommend(clients=12, heterogeneity="both", **FAST)
    for i, one in enumerate((answer, searched)):
        file = tmp_path / f"{i}.json"
        one.save(file)
        back = planner.Recommendation.load(file)
        assert back == one
        assert back.to_json() == one.to_json()
        with pytest.raises(planner.ScenarioError, match=r"exists\. Add --force"):
            one.save(file)
        one.save(file, force=True)


def test_an_answer_is_saved_as_json_alone(answer: planner.Recommendation, tmp_path: Path) -> None:
    for name in ("answer.pdf", "answer.csv", "answer"):
        with pytest.raises(planner.ScenarioError, match=r"does not end in \.json"):
            answer.save(tmp_path / name)
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("asked_once", "unflipped")
def test_what_the_command_prints_is_loaded_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("--G", "4", "--M", "3", "--heterogeneity", "both", "--json", *QUICK)
    _, out, _ = run("recommend", *words, capsys=capsys, monkeypatch=monkeypatch)
    (tmp_path / "a.json").write_text(out)
    mine = planner.recommend(G=4, M=3, heterogeneity="both", **FAST)
    assert planner.Recommendation.load(tmp_path / "a.json").replaced(command=mine.command) == mine


def nested(depth: int) -> str:
    return '{"a":' * depth + "1" + "}" * depth


GOOD = '{"schema": "hfl-plan/recommend/2"'


@pytest.mark.parametrize(
    ("content", "wanted"),
    [
        ("", "is empty"),
        ("[1, 2]", "holds no JSON object"),
        ("{", "is not JSON .line 1, column 2"),
        ("{}", "it names no schema"),
        ('{"schema": "hfl-plan/recommend/9"}', "A newer hfl-plan may read it"),
        ('{"schema": "hfl-plan/manifest/1"}', "its schema is 'hfl-plan/manifest/1'"),
        (f"{GOOD}}}", "version: Field required"),
        (f'{GOOD}, "extra": 1}}', "version"),
        (f'{GOOD}, "a": 1, "a": 2}}', "the key 'a' is there twice"),
        (f'{GOOD}, "a": NaN}}', "NaN is not a number of JSON"),
        (f'{GOOD}, "a": 1e999}}', "1e999 is not a number of double precision"),
        (f'{GOOD}, "a": {"9" * 5000}}}', "digits"),
        (nested(40), "nested too deeply"),
        (nested(100_000), "nested too deeply"),
        ('{"a": "\\u001b[2J"}', "control characters"),
        ('{"\\u202e": 1}', "control characters"),
        ("\xff\xfe", "is not UTF-8"),
        (" " * (1 << 24) + "{}", "is over 16 MiB"),
    ],
    ids=lambda content: content[:24],
)
def test_hostile_files_are_refused_in_a_line(tmp_path: Path, content: str, wanted: str) -> None:
    file = tmp_path / "a.json"
    file.write_bytes(content.encode("latin-1"))
    with pytest.raises(planner.ScenarioError, match=wanted) as caught:
        planner.Recommendation.load(file)
    assert str(caught.value).count("\n") == 0
    assert len(str(caught.value)) < 600


def test_a_changed_field_is_named(answer: planner.Recommendation, tmp_path: Path) -> None:
    document = answer.to_json()
    document["rows"][2]["rank"] = "many"
    (tmp_path / "a.json").write_text(json.dumps(document))
    with pytest.raises(planner.ScenarioError, match=r"a\.json: rows\.2\.rank: "):
        planner.Recommendation.load(tmp_path / "a.json")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(planner.ScenarioError, match="cannot be read"):
        planner.Recommendation.load(tmp_path / "a.json")
    with pytest.raises(planner.ScenarioError, match="cannot be read"):
        planner.Recommendation.load("a\0b")


# ---------------------------------------------------------------- docs


@pytest.mark.usefixtures("unflipped")
@pytest.mark.parametrize("page", ["python.md", "pictures.md"])
def test_the_pages_examples_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if page == "pictures.md":
        pytest.importorskip("matplotlib")
    text = (ROOT / "docs" / page).read_text()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    blocks = "\n".join(re.findall(r"```pycon\n(.*?)```", text, flags=re.DOTALL))
    test = doctest.DocTestParser().get_doctest(blocks, {}, page, None, 0)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    runner.run(test)
    assert runner.tries >= 5
    assert runner.failures == 0


def test_python_values_need_no_text_and_refusals_are_for_python(answer: planner.Recommendation, tmp_path: Path) -> None:
    def searched(**said: object) -> object:
        return planner.recommend(G=4, M=3, details=False, **said).scenario["K"].value

    assert searched(local_steps=range(1, 5)) == searched(local_steps="1:4")
    limits = [planner.load_scenario(G=4, M=3, sigma=one).known["sigma"] for one in ((0.5, 2), "0.5:2")]
    assert limits[0] == limits[1]
    for word, value, wanted in (
        ("uplink", 20e6, "Write 20Mbit/s."),
        ("model_size", 45e6, "Write 45MB, or 45Mparameters"),
        ("local_steps", [1, 2, 5], "or a range such as 1:20."),
        ("groups", [2, 3], "or a range such as 1:20."),
    ):
        with pytest.raises(planner.ScenarioError, match=re.escape(wanted)):
            planner.recommend(**{"groups": 4, "M": 3, word: value})
    kept = tmp_path / "kept.json"
    answer.save(kept)
    with pytest.raises(planner.ScenarioError, match="force=True"):
        answer.save(kept)
    with pytest.raises(planner.ScenarioError, match=r"^explain: 'rounds' is no section"):
        answer.explain("rounds")


@pytest.mark.usefixtures("searched_once", "few_draws")
def test_what_measure_and_group_return_is_taken_as_the_file_that_they_write(tmp_path: Path) -> None:
    """A pilot is in `test_pilot_cli`."""
    counts = ROOT / "examples" / "hospitals.csv"
    profile, regrouped = tmp_path / "profile.json", tmp_path / "regrouped.csv"
    for file, found in (
        (profile, planner.measure(counts, output=profile)),
        (regrouped, planner.group(counts, groups=3, output=regrouped)),
    ):
        by_file, by_value = (planner.recommend(data=one, details=False) for one in (file, found))
        if found.schema.startswith("hfl-plan/measure/"):
            assert (by_value.verdict, by_value.rows) == (by_file.verdict, by_file.rows)
        else:  # which knows that the counts chose its groups, and so that these differ by more than it seems
            assert by_value.scenario["G"].value == by_file.scenario["G"].value
            assert by_value.scenario["delta"].value > by_file.scenario["delta"].value


def test_an_answer_that_stands_for_no_file_is_refused_as_such(answer: planner.Recommendation) -> None:
    with pytest.raises(
        TypeError, match=r"^pilot: this Recommendation stands for no file\. Give the name of one, or what"
    ):
        planner.recommend(pilot=answer)


@pytest.mark.usefixtures("undrawn", "unflipped", "untossed", "asked_once")
def test_a_report_from_python_has_the_call_that_makes_it_again(tmp_path: Path) -> None:
    """It had `hfl-plan recommend`, without an option or the scenario."""
    fleet = tmp_path / "fleet.toml"
    fleet.write_text("schema_version = 1\n[fleet]\ngroups = 4\nclients_per_group = 3\n")
    loaded = planner.load_scenario(fleet, settings={"plan.draws": 0}, seed=3)
    for found in (
        planner.recommend(fleet, seed=3, **FAST),
        planner.recommend(loaded),
        planner.flip(config=str(fleet), parameter=["K"], settings={"plan.draws": 0}),
        planner.bounds.show("hflbounds.exact.star-star"),
        planner.measure(ROOT / "examples" / "hospitals.csv", groups_are="given"),
        planner.recommend(data=planner.measure(str(ROOT / "examples" / "hospitals.csv")), **FAST),
    ):
        found.to_html(tmp_path / "report.html", force=True)
        text = unescape((tmp_path / "report.html").read_text())
        [call] = re.findall(r"<dt>Call</dt><dd>(.*?)</dd>", text)
        assert "<dt>Command" not in text
        again = eval(call, {"planner": planner})  # noqa: S307 - this is what a reader does with it
        assert again.to_json() == found.to_json()
    planner.flip(fleet, parameter="K", output=tmp_path / "flip.html")
    assert f"<dd>planner.flip({str(fleet)!r}, parameter='K', output=" in unescape((tmp_path / "flip.html").read_text())
