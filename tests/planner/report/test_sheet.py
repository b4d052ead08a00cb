"""Reports: one file that asks nothing of a network, says all that a terminal says, and takes no text for markup."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import re
import sys
import tomllib
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from test_cli import ROOT
from test_document import HOSTILE, WHOLE, laid
from test_uniform import leaves, parameters

import planner
from hflbounds.extras import install
from planner import plot
from planner.cli import app as cli
from planner.io.wording import two
from planner.predict.question import ask
from planner.report.document import Amount, Column, Facts, Section, Sentences, Table
from planner.report.render import render
from planner.report.sheet import Beside, drawing, sheet, sliders
from planner.scenario.resolve import load
from planner.scenario.units import format_duration

pytestmark = pytest.mark.usefixtures("few_draws")

matplotlib = pytest.importorskip("matplotlib")

VOID = {"meta", "br", "hr", "img", "input", "link"}
PHONES = str(ROOT / "examples" / "phones.toml")
ASKED = ("recommend", "--config", PHONES, "--sigma", "0.5:2", "--seed", "3", "--set", "plan.draws=256")
COUNTS = str(ROOT / "examples" / "hospitals.csv")


class Reader(HTMLParser):
    """Elements, attributes and texts of a page, each element closed in its turn."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.texts: list[tuple[str, str]] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len({name for name, _ in attrs}) == len(attrs), attrs
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append((self.open[-1] if self.open else "", data))

    def seen(self) -> str:
        return " ".join(" ".join(text for tag, text in self.texts if tag not in ("style", "script")).split())

    def of(self, tag: str) -> list[dict[str, str]]:
        return [attributes for name, attributes in self.elements if name == tag]


def downloads(reader: Reader) -> dict[str, str]:
    """Files that the page holds, by name."""
    found = {}
    for link in reader.of("a"):
        if "download" in link:
            head, _, data = link["href"].partition(";base64,")
            assert head == "data:text/csv;charset=utf-8"
            found[link["download"]] = base64.b64decode(data).decode()
    return found


@pytest.fixture(scope="module")
def phones(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a scenario file and two options."""
    file = tmp_path_factory.mktemp("report") / "phones.html"
    with pytest.MonkeyPatch.context() as patch, pytest.raises(SystemExit) as stop:
        patch.setattr(sys, "argv", ["hfl-plan", *ASKED, "--report", str(file)])
        patch.setattr("planner.decide.rank.nearest_flips", lambda *_: ((), ""))
        cli.main()
    assert not stop.value.code
    return file


@pytest.fixture
def unrendered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures say what they show, and have no lines and names: to draw these takes most of a report's time."""
    for kind in ("front", "hours"):
        monkeypatch.setattr(f"planner.plot.{kind}.name_points", lambda *_: None)
    monkeypatch.setattr(plot, "content", lambda figure, kind: b'<svg viewBox="0 0 9 9"></svg>')


# ---------------------------------------------------------------- what a file may do


def assert_alone(text: str) -> Reader:
    """Nothing in the page loads, runs or links to anything but what its policy names by hash."""
    reader = Reader(text)
    policy = next(one["content"] for one in reader.of("meta") if one.get("http-equiv") == "Content-Security-Policy")
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules.pop("default-src") == rules.pop("base-uri") == rules.pop("form-action") == "'none'"
    for kind, tag in (("style-src", "style"), ("script-src", "script")):
        (inner,) = (data for name, data in reader.texts if name == tag)
        digest = base64.b64encode(hashlib.sha256(inner.encode()).digest()).decode()
        assert rules.pop(kind) == f"'sha256-{digest}'"
    assert rules == {}
    for tag, attributes in reader.elements:
        assert tag not in ("link", "iframe", "object", "embed", "img", "image", "form", "base", "foreignobject"), tag
        for name, value in attributes.items():
            assert name != "style", (tag, value)
            assert not name.startswith("on"), (tag, name)
            assert name not in ("src", "srcset", "action", "ping"), (tag, name)
            if name in ("href", "xlink:href"):
                assert value.startswith("#") or (value.startswith("data:text/csv") and "download" in attributes), value
            if not name.startswith("xmlns") and name not in ("aria-label",):
                assert "://" not in value, (tag, name, value)
    return reader


def test_a_report_is_one_file_that_asks_nothing_of_a_network(phones: Path) -> None:
    reader = assert_alone(phones.read_text(encoding="utf-8"))
    assert phones.stat().st_size < 1_500_000
    assert reader.of("html") == [{"lang": "en"}]
    assert "@import" not in "".join(text for tag, text in reader.texts if tag == "style")
    script = "".join(text for tag, text in reader.texts if tag == "script")
    assert not re.search(r"fetch|XMLHttp|WebSocket|sendBeacon|import\(|eval|innerHTML|new Function", script)


def test_ids_are_one_of_a_kind_and_every_reference_has_one(phones: Path) -> None:
    text = phones.read_text(encoding="utf-8")
    ids = [attributes["id"] for _, attributes in Reader(text).elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    named = set(re.findall(r'href="#([^"]+)"', text)) | set(re.findall(r"url\(#([^)]+)\)", text))
    assert named
    assert named <= set(ids)


def test_no_text_is_taken_for_markup_and_none_is_lost() -> None:
    hostile = replace(
        WHOLE,
        blocks=(*WHOLE.blocks, Facts(((HOSTILE, "--explain rows"),))),
        sections=(Section("rows", HOSTILE, (Sentences(HOSTILE, "bold"),)),),
    )
    beside = Beside((), HOSTILE, f'title = "{HOSTILE}"', ("hfl-plan", HOSTILE), 3)
    reader = assert_alone(sheet(hostile, beside))
    assert "b" not in {tag for tag, _ in reader.elements}
    seen = reader.seen()
    assert seen.count(HOSTILE) >= 8
    for said in ("Star-Star is first.", "12,000", "1 h 30 min", "2.5 GB", "By group", "2 more are in", "Second."):
        assert said in seen
    assert {"href": "#rows"} in reader.of("a")


def test_what_a_terminal_is_asked_for_is_a_link_to_who_has_none() -> None:
    """A reader of a report cannot type `--explain table`."""
    blocks = (
        Sentences("First."),
        Sentences("4 more topologies: --explain table"),
        Facts((("Limits", "1: --explain no"),)),
    )
    sections = (Section("table", "All numbers", (Sentences("Second."),)),)
    text = sheet(replace(laid(*blocks), sections=sections))
    assert '4 more topologies: see <a href="#table">All numbers</a>' in text
    assert "1: --explain no" in text  # no section of the report


# ---------------------------------------------------------------- what it says


@pytest.mark.usefixtures("unflipped")
def test_it_says_what_the_terminal_says_and_every_section(phones: Path, plan) -> None:
    reader = Reader(phones.read_text(encoding="utf-8"))
    seen = reader.seen()
    out = plan(*ASKED)[1]
    lines = out.splitlines()
    verdict = " ".join(lines[1 : lines.index("")])
    assert verdict in seen
    for line in (line for line in lines if re.match(r"  (Star|Ring|FedAvg|Sequential)", line)):
        assert " ".join(line.split()) in seen, line
    sections = re.findall(r"^\S.*$", plan("recommend", "--config", PHONES, "--explain", "provenance")[1], re.MULTILINE)
    assert sections[0] in seen
    closed = [one["id"] for one in reader.of("details")]
    assert {"table", "uncertainty", "break-even", "record", "provenance"} <= set(closed)
    for heading in ("What this assumes", "What changes it", "Evidence", "Next steps", "To make it again"):
        assert heading in seen
    assert "loss of an untrained 10-class model" in seen  # where an assumption comes from
    assert "hfl-plan recommend --config" in seen
    assert "hfl-plan/recommend/2" in seen


@pytest.mark.usefixtures("unflipped")
def test_its_rows_are_the_csv_and_its_scenario_asks_the_same(phones: Path, plan, tmp_path: Path) -> None:
    reader = Reader(phones.read_text(encoding="utf-8"))
    held = downloads(reader)
    assert held["rows.csv"] == plan(*ASKED, "--format", "csv")[1]
    assert len(list(csv.DictReader(io.StringIO(held["forest.csv"])))) == 4
    text = next(text for tag, text in reader.texts if tag == "pre" and "schema_version" in text)
    assert tomllib.loads(text)["plan"]["seed"] == 3
    file = tmp_path / "again.toml"
    file.write_text(text, encoding="utf-8")
    told = {"problem.sigma": ("--sigma", "0.5:2"), "plan.seed": ("--seed", "3"), "plan.draws": ("--set", "256")}
    assert load(file) == load(Path(PHONES), told)


@pytest.mark.usefixtures("unflipped")
def test_sliders_are_called_by_the_names_of_tiers() -> None:
    file = ROOT / "examples" / "regions.toml"
    answer = planner.recommend(file, details=False, settings={"plan.draws": 0})
    labels = [label for _, label, *_ in sliders._controls(ask(load(file)), answer)]
    assert {"region uplink", "edge server uplink", "phone uplink"} < {*labels}


@pytest.mark.usefixtures("unflipped", "undrawn")
def test_sliders_hold_what_gives_every_time_again(plan, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    words = ["-G", "3", "-M", "4", "--model-size", "5MB", "--objective", "time", "--link-sharing", "per-client"]
    code, out, _ = plan("recommend", *words, "--report", str(file), "--json")
    assert code == 0
    page = assert_alone(file.read_text(encoding="utf-8"))
    model = json.loads(next(known["data-model"] for tag, known in page.elements if known.get("id") == "sliders"))
    values = {
        known["data-name"]: float(known["data-value"]) for tag, known in page.elements if known.get("type") == "range"
    }
    times = {}
    for row in model["cases"][""]:
        seconds = 0.0
        for name, count in row["terms"].items():
            link, _, part = name.rpartition(".")
            rate = {"up": "up", "down": "down"}.get(part)
            slower = min(values[f"{link}.up"], values[f"{link}.down"]) if part == "slower" else 0.0
            seconds += count * (8 * 5e6 / (slower or values[name]) if rate or slower else values[name])
        times[row["title"]] = row["rounds"] * seconds
    said = {row["title"]: row["time_seconds"]["value"] for row in json.loads(out)["rows"]}
    assert times == pytest.approx(said, rel=1e-9)


def test_a_report_has_no_sliders_where_times_are_drawn(phones: Path) -> None:
    assert 'id="sliders"' not in phones.read_text(encoding="utf-8")


def test_bars_and_order_are_those_of_the_numbers() -> None:
    rows = (("a", Amount("~2 h", 7200), 30.0), ("b", Amount("~1 h", 3600.0), None), ("c", None, 60.0))
    table = Table((Column("topology"), Column("time", "number"), Column("rounds", "count")), rows)
    text = sheet(laid(Sentences("x"), table))
    reader = Reader(text)
    cells = [one.get("data-n") for one in reader.of("td")]
    assert cells == ["7200.0", "30.0", "3600.0", None, None, "60.0"]
    assert [float(one["width"]) for one in reader.of("rect")] == [100, 50]  # bars of time, and none of rounds


def test_a_date_is_that_of_the_build_where_one_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    document = laid(Sentences("x"))
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    assert "2 January 1970" in sheet(document)
    assert sheet(document) == sheet(document)


# ---------------------------------------------------------------- pictures


def test_pictures_say_what_they_are_and_follow_the_page(phones: Path) -> None:
    text = phones.read_text(encoding="utf-8")
    named = [one["aria-label"] for one in Reader(text).of("svg") if one.get("role") == "img"]
    assert len(named) == 5
    assert all(len(says) > 40 for says in named)
    assert any(says.startswith("Lead of Star-Star in time") for says in named)
    style = text[text.index("<style>") : text.index("</style>")]
    for color in set(re.findall(r'(?:fill|stroke)="(#[0-9a-f]{6})"', text)):
        red, green, blue = (int(color[i : i + 2], 16) for i in (1, 3, 5))
        if max(red, green, blue) - min(red, green, blue) < 12 and color != "#bbbbbb":  # greys are repainted in the dark
            assert f'="{color}"]' in style, color


def test_a_drawing_keeps_every_path_and_every_style() -> None:
    from planner.plot import content, diagram

    file = content(diagram.draw(3, 3)[0], "svg", "words").decode()
    made = drawing.inline(file, "one", 'a "picture" <b>')
    assert made.count("<path") == file.count("<path")
    assert made.count("<use") == file.count("<use")
    declared = sum(len([d for d in style.split(";") if ":" in d]) for style in re.findall(r' style="([^"]*)"', file))
    kinds = "fill|stroke|opacity|fill-opacity|stroke-[a-z]+"
    before = len(re.findall(rf' (?:{kinds})="', file))
    assert len(re.findall(rf' (?:{kinds})="', made)) == before + declared
    assert " style=" not in made
    assert Reader(made).of("svg")[0]["aria-label"] == 'a "picture" <b>'


@pytest.mark.usefixtures("unflipped", "unrendered")
def test_a_verdict_that_depends_has_a_picture_of_each_case(plan, tmp_path: Path) -> None:
    asked = ("-G", "4", "-M", "4", "--uplink", "20Mbit/s", "--set", "plan.draws=0")
    code, _, err = plan("recommend", *asked, "-o", str(tmp_path / "r.html"), "-q")
    assert (code, err) == (0, "")
    reader = assert_alone((tmp_path / "r.html").read_text(encoding="utf-8"))
    named = [one["aria-label"] for one in reader.of("svg") if "aria-label" in one]
    for words in ("With own links. Time over that of", "With shared links. Time over that of"):
        assert any(says.startswith(words) for says in named)
    assert "own links?" in reader.seen()


@pytest.mark.usefixtures("unflipped", "unrendered")
def test_where_one_topology_alone_reaches_the_target_there_is_a_report_without_a_lead(plan, tmp_path: Path) -> None:
    file = tmp_path / "r.html"
    words = (
        "--config",
        str(ROOT / "examples" / "unequal_hospitals.toml"),
        "--target",
        "0.1%",
        "--set",
        "plan.draws=0",
        "--report",
        str(file),
        "-q",
    )
    code, out, err = plan("recommend", *words)
    assert (code, err) == (0, "")
    assert "Star-Star is the only topology that is predicted to reach the target." in out.replace("\n", " ")
    named = [one["aria-label"] for one in Reader(file.read_text(encoding="utf-8")).of("svg") if "aria-label" in one]
    assert named
    assert not any(says.startswith("Lead of") or "inf" in says.split() for says in named)


def test_one_bound_alone_is_an_answer_where_none_covers_rings_of_unequal_groups(plan) -> None:
    words = ("--config", str(ROOT / "examples" / "unequal_hospitals.toml"), "--predictor", "bound")
    code, out, err = plan("recommend", *words)
    assert (code, err) == (0, "")
    assert "Star-Star is the only topology with a bound here." in " ".join(out.split())
    assert "right in" not in out  # of one topology there is no order


def test_groups_before_and_after_are_drawn(plan, tmp_path: Path) -> None:
    file = tmp_path / "r.html"
    assert plan("measure", COUNTS, "--report", str(file), "-q")[0] == 0
    reader = assert_alone(file.read_text(encoding="utf-8"))
    assert any(one.get("aria-label", "").startswith("Label shares of every group") for one in reader.of("svg"))
    assert "north" in downloads(reader)["grouping.csv"]


@pytest.mark.usefixtures("unflipped")
def test_without_matplotlib_who_makes_the_report_is_told_how_to_get_pictures(
    plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    file = tmp_path / "r.html"
    code, _, err = plan("recommend", "-G", "4", "-M", "4", "-H", "inter", "--report", str(file))
    assert code == 0
    assert f"the report has no pictures. To have them: {install('plots')}" in err
    reader = assert_alone(file.read_text(encoding="utf-8"))
    assert "pip install" not in reader.seen()  # of no use to who gets it
    assert reader.of("figure") == []
    assert reader.of("table")


SEARCHED = {
    "steps": ("-G", "4", "-M", "5", "--local-steps", "1:3"),
    "group rounds": ("-G", "12", "-M", "25", "--group-rounds", "1:4"),
    "groups": ("--clients", "60"),
}


@pytest.mark.usefixtures("unflipped", "unrendered")
@pytest.mark.parametrize(
    "words",
    [
        pytest.param(words, id=name, marks=() if name == "steps" else pytest.mark.slow)
        for name, words in SEARCHED.items()
    ],
)
def test_pictures_and_sliders_are_at_the_counts_that_the_verdict_took(plan, tmp_path: Path, words) -> None:
    file, shared = tmp_path / "r.html", ("--uplink", "20Mbit/s", "--link-sharing", "per-client")
    code, out, _ = plan("recommend", *words, *shared, "--set", "plan.draws=256", "--report", str(file), "--json")
    assert code == 0
    answer = json.loads(out)
    times = {row["title"]: row["time_seconds"]["value"] for row in answer["rows"] if not row["baseline"]}
    page = Reader(file.read_text(encoding="utf-8"))
    labels = [one["aria-label"] for one in page.of("svg") if "aria-label" in one]
    hours, forest, lead = (
        next(says for says in labels if says.startswith(start)) for start in ("Predicted", "Time over", "Lead of")
    )
    first = min(times, key=times.get)
    for topology, seconds in times.items():
        assert f"{topology} after {format_duration(seconds)}" in hours
        assert f"{topology} {two(seconds / times[first])}x" in forest
    leaders, now = lead.removeprefix("Lead of ").split(" in time, now ")
    others = [seconds for topology, seconds in times.items() if topology not in leaders.split(" and ")]
    assert float(now.split(",")[0]) == pytest.approx(min(others) / times[first], rel=0.005)
    data = json.loads(next(one["data-model"] for one in page.of("section") if "data-model" in one))
    rounds = {row["title"]: row["rounds"] for row in data["cases"][""] if not row["baseline"]}
    assert rounds == {row["title"]: row["rounds"]["value"] for row in answer["rows"] if not row["baseline"]}
    assert f"; K = {answer['scenario']['K']['value']}" in page.seen()  # of the header, beside the sizes


@pytest.mark.usefixtures("unflipped", "undrawn")
def test_a_report_grades_the_evidence_as_the_terminal_does(plan, tmp_path: Path) -> None:
    file = tmp_path / "r.html"
    words = ("-G", "4", "-M", "5", "--local-steps", "60", "--set", "plan.draws=256")
    code, out, _ = plan("recommend", *words, "--report", str(file))
    assert code == 0
    assert "weak: no measured run had 60 local steps in a round, 50 at most" in " ".join(out.split())
    seen = Reader(file.read_text(encoding="utf-8")).seen()
    place = seen.index("Weak: no measured run had 60 local steps in a round, 50 at most.")
    assert place < seen.index("How often first choices like this were right")
    assert "rows whose whole order is the predicted one" in seen


@pytest.mark.usefixtures("unflipped", "undrawn")
def test_the_subtitle_of_listed_groups_has_the_smallest_and_the_largest(plan, tmp_path: Path) -> None:
    file = tmp_path / "r.html"
    words = ("--config", str(ROOT / "examples" / "unequal_hospitals.toml"), "--report", str(file), "-q")
    assert plan("recommend", *words)[0] == 0
    assert "3 groups of 4 to 20 clients;" in Reader(file.read_text(encoding="utf-8")).seen()


def test_a_table_that_is_cut_says_that_it_scrolls(phones: Path) -> None:
    page = phones.read_text(encoding="utf-8")
    assert "scrollWidth > scroll.clientWidth" in page
    assert "More columns: scroll sideways." in page
    assert "background-attachment: local, local, scroll, scroll" in page


# ---------------------------------------------------------------- the option


@pytest.mark.parametrize(
    ("words", "kind"),
    [(("measure", "examples/hospitals.csv"), "Heterogeneity"), (("hubs", "--nodes", "8", "--edges", "20"), "")],
)
def test_every_table_is_called_what_it_shows(
    words: tuple[str, ...], kind: str, plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tables without a caption were all called Table, to those who cannot see where they stand."""
    monkeypatch.chdir(ROOT)
    assert plan(*words, "--report", str(tmp_path / "report.html"))[0] == 0
    reader = Reader((tmp_path / "report.html").read_text(encoding="utf-8"))
    called = [one["aria-label"] for one in reader.of("div") if one.get("role") == "region"]
    assert called and len(set(called)) == len(called) and "Table" not in called
    assert not kind or called[0] == kind


def test_every_command_that_answers_makes_a_report() -> None:
    without = set()
    for name, command in leaves().items():
        options = {option for p in parameters(command) for option in p.opts}
        without |= {name} - ({name} if "--report" in options else set())
    assert without == {"bounds export", "help", "schema", "serve"}


def test_answers_without_a_frame_make_a_report_too(plan, tmp_path: Path) -> None:
    commands = (["bounds", "list"], ["explain", "E035"], ["validate", "list"], ["network", "place", "geant"])
    for i, words in enumerate(commands):
        file = tmp_path / f"{i}.html"
        assert plan(*words, "--report", str(file), "-q")[0] == 0
        reader = assert_alone(file.read_text(encoding="utf-8"))
        assert "rows.csv" in downloads(reader) or "--format csv" in reader.seen()


def test_a_report_stands_beside_another_file_and_overwrites_nothing(plan, tmp_path: Path) -> None:
    first, second = tmp_path / "a.html", tmp_path / "a.json"
    words = ("explain", "E035", "--report", str(first), "--output", str(second))
    assert plan(*words)[0] == 0
    assert first.exists()
    assert second.exists()
    code, _, err = plan(*words)
    assert code == 2
    assert "--force" in err
    code, _, err = plan("explain", "E035", "--report", str(tmp_path / "a.pdf"))
    assert code == 2
    assert ".html" in err


def test_a_format_other_than_html_writes_the_same_as_before(phones: Path) -> None:
    fragment = render("html", laid(Sentences("x"), title="t"))
    assert fragment.startswith("<section")
    assert "<script" not in fragment
