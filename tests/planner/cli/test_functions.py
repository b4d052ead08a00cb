"""Every command is a Python function of the same name and keywords; frames stand for files, answers become frames."""

from __future__ import annotations

import csv
import importlib
import importlib.util
import inspect
import io
import json
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from test_cli import ROOT, run
from test_uniform import leaves, parameters

import planner
from planner.io import frames
from planner.io.answers import MAKING, Answer

NOT_IN_PYTHON = {"--format", "--json", "--quiet", "--explain", "--help", "--zeta", "--delta"}  # methods, or refused
OF_PYTHON = {  # what a shell cannot give
    "recommend": {"details"},
    "estimate": {"clients", "loss"},
    "pilot": {"clients", "loss", "test", "topologies"},
}
RENAMED = {name: {"hook": "model"} for name in ("estimate", "pilot")}
FLEET = {"G": 4, "M": 3, "heterogeneity": "zeta=1,delta=0.5", "settings": {"plan.draws": 0}}
COUNTS = "client,group,a,b\nc1,x,9,1\nc2,x,8,2\nc3,y,1,9\nc4,y,3,7\n"


def function(name: str) -> Any:
    found: Any = planner
    for word in name.split():
        found = getattr(found, "async_" if word == "async" else word.replace("-", "_"))
    return found


@pytest.mark.parametrize("name", sorted(set(leaves()) - {"help"}))
def test_each_command_is_a_function_with_the_same_keywords(name: str) -> None:
    found = function(name)
    signature = inspect.signature(found)
    keywords = {one for one, p in signature.parameters.items() if p.kind is not p.VAR_KEYWORD}
    wanted, others = set(), set()
    for p in parameters(leaves()[name]):
        longs = [option for option in p.opts if option.startswith("--")]
        if p.param_type_name == "argument":
            wanted.add(RENAMED.get(name, {}).get(p.name, p.name))
        elif (longs and longs[0] not in NOT_IN_PYTHON) or (
            longs and name == "bounds export" and longs[0] == "--format"
        ):
            first, *more = ["settings" if one == "--set" else one[2:].replace("-", "_") for one in longs]
            wanted.add(first)
            others.update(more)
    assert keywords - OF_PYTHON.get(name, set()) - others == wanted
    assert others <= keywords or name == "pilot"
    assert all(p.annotation is not p.empty for p in signature.parameters.values())
    about, _, rest = inspect.getdoc(found).partition("\n")
    if isinstance(found, type(planner.bounds.show)):
        assert about.endswith(".")
        assert "Args:" in rest
        assert "Returns:" in rest or name == "pilot"
        assert all(f"    {one}" in rest for one in wanted)
        assert "--" not in rest.partition("Examples:")[0].replace(" -- ", "")


def test_tab_completion_shows_functions_and_nothing_else() -> None:
    public = [name for name in dir(planner) if not name.startswith("_")]
    assert {name.split()[0] for name in leaves()} - {"help", "async"} <= set(public)
    assert all(callable(getattr(planner, name)) or name in ("bounds", "validate") for name in public)
    assert dir(planner.bounds) == sorted({n.split()[1].replace("-", "_") for n in leaves() if n.startswith("bounds ")})


def test_packages_of_the_name_of_a_command_are_functions_whatever_was_imported_first(tmp_path: Path) -> None:
    code = (
        "import planner.export.plan, planner.network.read, planner\n"
        "print(repr(planner.network('place', 'gaia')))\n"
        "print(planner.export.plan.__name__)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=tmp_path)
    assert "planner.export.plan" in done.stdout


def test_what_type_checkers_read_is_in_step() -> None:
    spec = importlib.util.spec_from_file_location("signatures", ROOT / "docs" / "signatures.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.FILE.read_text() == module.text(), "run python docs/signatures.py"


CALLS: dict[str, tuple[tuple[Any, ...], dict[str, Any], tuple[str, ...]]] = {
    "recommend": ((), FLEET, ("-G4", "-M3", "-H", "zeta=1,delta=0.5", "--set", "plan.draws=0")),
    "measure": (("examples/hospitals.csv",), {}, ("examples/hospitals.csv",)),
    "hubs": ((), {"nodes": 8, "edges": 32}, ("--nodes", "8", "--edges", "32")),
    "async": ((), {"G": 2, "M": 3, "region_times": ["10s", "40s"]}, ("-G2", "-M3", "--region-times", "10s,40s")),
    "overlap": (("ring:3,4,1",), {}, ("ring:3,4,1",)),
    "tune": (
        (), {"G": 4, "M": 3, "local_steps": [1, 2], "group_rounds": range(1, 3)}, ("-G4", "-M3", "-K1,2", "-P1,2"),
    ),
    "flip": (
        (), {**FLEET, "parameter": "uplink"},
        ("-G4", "-M3", "-H", "zeta=1,delta=0.5", "-p", "uplink", "--set", "plan.draws=0"),
    ),
    "bounds list": ((), {"search": "ring noise"}, ("--search", "ring noise")),
    "bounds show": (
        ("hflbounds.exact.star-star",), {"notation": "paper"}, ("hflbounds.exact.star-star", "--notation", "paper"),
    ),
    "bounds compare": (
        ("hflbounds.exact.star-ring", "hflbounds.exact.ring-star"), {},
        ("hflbounds.exact.star-ring", "hflbounds.exact.ring-star"),
    ),
    "explain": (("E012",), {}, ("E012",)),
    "network": (("place", "gaia"), {}, ("place", "gaia")),
    "validate list": ((), {}, ()),
}  # fmt: skip


@pytest.mark.usefixtures(
    "asked_once", "unturned", "unflipped", "untossed", "few_draws"
)  # of another question another answer comes
@pytest.mark.parametrize("name", sorted(CALLS))
def test_a_function_answers_what_the_command_does_and_shows_itself(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr("planner.report.pictures.Plot.html", lambda _: "")  # pictures are in `test_api` and notebooks
    placed, given, words = CALLS[name]
    answer = function(name)(*placed, **given)
    _, out, _ = run(*name.split(), *words, "--json", capsys=capsys, monkeypatch=monkeypatch)
    mine, theirs = dict(answer.to_json()), json.loads(out)
    if "command" in theirs:
        mine["command"] = theirs["command"]
    assert json.loads(json.dumps(mine)) == theirs
    assert len(repr(answer).splitlines()) == 1
    if isinstance(answer, Answer):
        assert not MAKING & set(dir(answer)) and {"rows", "verdict", "to_frame", "explain", "plot"} <= set(dir(answer))
    assert str(answer).strip()
    assert answer.explain()
    assert answer._repr_html_().startswith("<")
    assert "<table" in answer.to_html() or "<p" in answer.to_html()
    answer.save(tmp_path / "a.json")
    assert json.loads((tmp_path / "a.json").read_text()).keys() == theirs.keys()
    with pytest.raises(planner.ScenarioError, match="exists"):
        answer.save(tmp_path / "a.json")


@pytest.mark.usefixtures("unflipped", "few_draws", "undrawn")
def test_output_is_the_file_of_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    profile, page = tmp_path / "profile.json", tmp_path / "page.html"
    planner.measure("examples/hospitals.csv", output=profile)
    assert planner.recommend(heterogeneity=profile, settings={"plan.draws": 0}).scenario["G"].value == 4
    planner.measure("examples/hospitals.csv", output=page)
    assert "<table" in page.read_text()
    with pytest.raises(planner.ScenarioError, match="exists"):
        planner.measure("examples/hospitals.csv", output=page)
    planner.recommend(**FLEET, output=page, force=True)
    assert "Star-Star" in page.read_text()


def test_a_command_with_files_of_its_own_overwrites_where_it_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    planner.init(example="phones")
    with pytest.raises(planner.ScenarioError, match="exists"):
        planner.init(example="phones")
    planner.init(example="phones", force=True)
    assert planner.load_scenario("phones.toml").known["G"].value == 12


@pytest.mark.parametrize(
    ("call", "error", "wanted"),
    [
        (lambda: planner.measure(), TypeError, "counts is missing"),
        (lambda: planner.measure("a.csv", "b.csv"), TypeError, "at most 1"),
        (lambda: planner.measure("a.csv", sede=1), TypeError, "seed"),
        (lambda: planner.measure("a.csv", counts="b.csv"), TypeError, "given twice"),
        (lambda: planner.measure("nowhere.csv"), planner.ScenarioError, "cannot be read"),
        (lambda: planner.measure("a.csv", seed=-1), planner.ScenarioError, "seed: -1 is out of range"),
        (lambda: planner.measure("a.csv", seed=1.5), TypeError, "not a whole number"),
        (lambda: planner.measure("a.csv", seed=True), TypeError, "not a whole number"),
        (lambda: planner.flip(G=2, M=2, cells=9), planner.ScenarioError, "are of a map"),
        (lambda: planner.measure(planner.bounds.list()), TypeError, "counts: this .* stands for no file"),
        (lambda: planner.flip(G=2, M=2, json=True), TypeError, r"The answer has to_json\(\)"),
        (lambda: planner.bounds.show(set={"G": 2}), TypeError, "Write settings={"),
        (lambda: planner.recommend(G=2, M=2, explain="all"), TypeError, r"The answer has explain\(\)"),
        (lambda: planner.recommend(G=2, M=2, details="no"), TypeError, "details: 'no' is not True or False"),
        (lambda: planner.group("a.csv", free="no"), TypeError, "free: 'no' is not True or False"),
        (lambda: planner.recommend(data=Column()), TypeError, "data: a Column is one column"),
        (lambda: planner.tune(G=2, M=2, local_steps=object()), TypeError, "no text and no number"),
        (lambda: planner.tune(planner.load_scenario(G=2, M=2), G=3), TypeError, "takes no options"),
    ],
)
def test_what_is_refused(call: Any, error: type[Exception], wanted: str) -> None:
    with pytest.raises(error, match=wanted):
        call()


# ---------------------------------------------------------------- frames


class Column:
    """What this project asks of a series."""

    def to_frame(self) -> None:
        """Be one column of a table."""


class Polars:
    """What this project asks of a frame of polars."""

    def __init__(self, text: str) -> None:
        self.lines = list(csv.reader(io.StringIO(text)))
        self.columns, self.shape = self.lines[0], (len(self.lines) - 1, len(self.lines[0]))

    def write_csv(self) -> str:
        stream = io.StringIO()
        csv.writer(stream).writerows(self.lines)
        return stream.getvalue()


@pytest.mark.usefixtures("unflipped", "few_draws")
def test_answers_of_python_are_compared_as_they_are_saved_or_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What was advised in place of answers, to save them and give the names, was refused too."""
    monkeypatch.chdir(tmp_path)
    slow = {"schema_version": 1, "fleet": {"groups": 4, "clients_per_group": 3}}
    tables = {**FLEET, "uplink": "20Mbit/s"}, {"config": slow, "heterogeneity": "zeta=1,delta=0.5", "uplink": "1Mbit/s"}
    first, second = (planner.recommend(**one, details=False) for one in tables)
    first.save("a.json")
    second.save("b.json")
    fleet = planner.load_scenario(**tables[1])
    _, out, _ = run("compare", "a.json", "b.json", "--json", capsys=capsys, monkeypatch=monkeypatch)
    assert [row["id"] for row in json.loads(out)["rows"]] == ["plan.draws", "network.client_link.up"]
    for one, other in ((planner.Recommendation.load("a.json"), fleet), ("a.json", second)):
        assert [row.to_json() for row in planner.compare(one, other).rows] == json.loads(out)["rows"]
    assert str(planner.compare(first, "b.json")).startswith("first and b.json\n")
    quick = {"settings": {"plan.draws": 0}, "details": False}
    of_frame = planner.recommend(data=Polars(COUNTS), **quick)
    with pytest.raises(planner.ScenarioError, match=r"write the frame to a \.csv file, and ask anew with its name"):
        planner.compare(first, of_frame)
    Path("c.csv").write_text(COUNTS)
    assert planner.compare(first, planner.recommend(data="c.csv", **quick)).rows


@pytest.mark.usefixtures("unflipped")
def test_a_frame_stands_for_a_file(tmp_path: Path) -> None:
    file = tmp_path / "counts.csv"
    file.write_text(COUNTS)
    frame = Polars(COUNTS)
    quick = {"settings": {"plan.draws": 0}}
    asks = (planner.measure, lambda c: planner.group(c, **quick), lambda c: planner.recommend(data=c, **quick))
    for ask in asks:
        assert ask(frame).rows == ask(file).rows
    told = {"settings": {"plan.draws": 256}, "sigma": 1, "link_sharing": "per-client", "objective": "rounds"}
    asked = planner.recommend(data=Polars((ROOT / "examples" / "hospitals.csv").read_text()), **told).next
    assert ("hfl-plan", "measure", "COUNTS.csv", "--gram", "GRAM.csv") in [one.argv for one in asked]
    assert planner.load_scenario(heterogeneity=frame).known["M"].value == 2
    fleet = Polars("client,group,samples\na,x,1\nb,x,2\nc,y,3\nd,y,5\n")
    assert planner.recommend(fleet=fleet, settings={"plan.draws": 0}).scenario["G"].value == 2


@pytest.mark.usefixtures("unflipped", "few_draws")
@pytest.mark.parametrize("weights", [{}, {"weights": "samples"}])
def test_what_comes_next_takes_the_frame(weights: dict[str, str]) -> None:
    """It named frame-counts.csv, a file of nobody."""
    frame = Polars(COUNTS)
    step = planner.measure(frame, weighting=weights.get("weights", "groups")).next[0].argv
    assert f"Next     {step[0]}" in str(planner.measure(frame, weighting=weights.get("weights", "groups")))
    found = eval(step[0], {"planner": planner, "COUNTS": frame})  # noqa: S307 - of the program itself
    assert found.rows == planner.recommend(data=frame, **weights).rows


def test_a_frame_that_is_wrong_is_refused_at_its_line() -> None:
    with pytest.raises(planner.ScenarioError, match=r"^frame-counts\.csv:3:3: '-8' in column 'a' is negative"):
        planner.measure(Polars(COUNTS.replace("x,8", "x,-8")))
    assert frames.content(Path("frame-counts.csv")) is None  # no longer


def test_a_refusal_of_a_frame_says_the_call_in_place_of_a_command_on_no_file() -> None:
    with pytest.raises(planner.ScenarioError, match=r"`planner\.group\(data, groups=N\)` forms others"):
        planner.recommend(data=Polars(COUNTS), G=3, M=2)


def test_without_a_library_a_frame_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in frames.LIBRARIES:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(planner.NoAnswerError, match="pip install pandas"):
        frames.made([{"a": 1}])
    with pytest.raises(planner.NoAnswerError, match="polars is not installed"):
        frames.made([{"a": 1}], "polars")


@pytest.mark.frames
@pytest.mark.parametrize("name", frames.LIBRARIES)
def test_frames_of_both_libraries_go_in_and_out(name: Any) -> None:
    library = importlib.import_module(name)
    table = library.read_csv(ROOT / "examples" / "hospitals.csv")
    assert planner.measure(table).rows == planner.measure(ROOT / "examples" / "hospitals.csv").rows
    answer = planner.recommend(data=table, link_sharing="per-client", settings={"plan.draws": 0})
    for rows in (answer.rows, answer.assumptions, answer.sensitivity, answer.evidence, answer.warnings, answer.next):
        found = rows.to_frame(name)
        assert type(found).__module__.startswith(name)
        assert found.shape[0] == len(rows)
    assert list(answer.to_frame(name)["id"]) == [row.id for row in answer.rows]
    assert list(answer.to_frame(name)["time_seconds"]) == [float(row.time_seconds) for row in answer.rows]
    assert list(planner.validate.list().to_frame(name).columns)
    grouped = planner.group(table, settings={"plan.draws": 0})
    assert grouped.to_frame(name).shape[0] == len(grouped.rows)


def test_a_model_and_data_of_the_program_are_estimated_as_a_hook_is(tmp_path: Path) -> None:
    """Only a file was taken, and the tool's most frequent question had no form in a notebook."""
    pytest.importorskip("torch")
    (file := tmp_path / "hook.py").write_text("""
import numpy as np, torch
def model():
    torch.manual_seed(3)
    return torch.nn.Linear(4, 2)
def clients():
    draw = np.random.default_rng(0)
    return [(f"g{i % 2}", draw.normal(size=(12, 4)) + i, draw.integers(0, 2, size=12)) for i in range(4)]
""")
    scope, how = runpy.run_path(str(file)), {"steps": 4, "points": 2, "follow": 0, "batches": 4, "curvature_clients": 1}
    own, hooked = planner.estimate(scope["model"](), scope["clients"](), **how), planner.estimate(file, **how)
    assert own.rows == hooked.rows and len(own.rows) >= 4
    assert str(own).splitlines()[-1].split(maxsplit=1) == ["Next", "planner.recommend(heterogeneity=ESTIMATED)"]
    assert planner.load_scenario(heterogeneity=own, G=2, M=2).number("zeta") > 0
    with pytest.raises(planner.NoAnswerError, match="type int, not an nn"):
        planner.estimate(1, scope["clients"]())


@pytest.mark.frames
@pytest.mark.parametrize("name", frames.LIBRARIES)
def test_frames_of_samples_are_measured_as_arrays_are(name: str, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    hook = """
import numpy as np, torch, {name} as frames
def model():
    return torch.nn.Linear(4, 2)
def clients():
    draw = np.random.default_rng(0)
    samples = [(f"g{{i % 2}}", draw.normal(size=(12, 4)), draw.integers(0, 2, size=12)) for i in range(4)]
    return [(group, {X}, {y}) for group, X, y in samples]
"""
    found = []
    for i, (X, y) in enumerate((("X", "y"), ("frames.DataFrame(X)", "frames.Series(y)"))):
        (file := tmp_path / f"hook{i}.py").write_text(hook.format(name=name, X=X, y=y))
        found.append(planner.estimate(file, steps=4, points=2).rows)
    assert found[0] == found[1]


@pytest.mark.frames
def test_an_index_with_a_name_or_of_more_than_numbers_is_a_column() -> None:
    pd = importlib.import_module("pandas")
    counts = pd.read_csv(io.StringIO(COUNTS))
    assert planner.measure(counts.set_index("client")).rows == planner.measure(counts).rows
    assert planner.measure(counts.set_index(["group", "client"])).rows == planner.measure(counts).rows
    for same in (counts.sort_values("a"), counts.set_axis(list("wxyz")), counts.astype({"a": float, "b": float})):
        assert planner.measure(same).rows == planner.measure(counts).rows
    assert planner.measure(counts.rename_axis("row")).rows == planner.measure(counts).rows
    with pytest.raises(planner.ScenarioError, match="client 'c1' is on line 2 already"):
        planner.measure(pd.concat([counts, counts]))
