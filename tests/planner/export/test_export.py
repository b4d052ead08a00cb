"""Exported projects: equal to the literal reference, well formed, and refused where they cannot be run."""

from __future__ import annotations

import ast
import io
import json
import os
import subprocess
import sys
import tokenize
import tomllib
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import numpy as np
import pytest
from reference_run import loaded, model_of, reference
from test_cli import ROOT, run
from test_docs import assert_shown, consoles

import planner
from hflbounds.topology import Topology, branches
from planner.export.plan import plan
from planner.export.project import export, target_of
from planner.export.targets import targets
from planner.report.answers.export import document
from validation.reference import tree_round

FOUR = ("star-star", "star-ring", "ring-star", "ring-ring")
FLEET = {"groups": 3, "clients_per_group": 2, "group_rounds": 2, "local_steps": 3, "settings": {"plan.draws": 0}}
PARTLY = {**FLEET, "groups": 4, "clients_per_group": 5, "groups_per_round": 2, "clients_per_round": 3}
TREE = {
    "config": {
        "fleet": {
            "local_steps": 2,
            "tiers": [{"count": 2}, {"count": 3, "passes": 2, "drawn": 2}, {"count": 3, "passes": 2}],
        }
    },
    "settings": {"plan.draws": 0},
}


def written(folder: Path, to: str = "python", topology: str | None = None, **scenario: Any) -> Path:
    """A project in a folder."""
    made = plan(planner.load_scenario(**scenario), topology, rate=0.1, groups=None)
    export(made, target_of(to), folder)
    return folder


def pull(place: tuple[int, ...], moment: tuple[int, ...], k: int, x: np.ndarray) -> np.ndarray:
    """A gradient that differs between clients, moments and steps, and is not linear in x."""
    number = sum((i + 1) * 7**at for at, i in enumerate((*place, *moment, k)))
    centre = np.sin(number * np.arange(1, 5))
    return np.tanh(x - centre) + 0.1 * x


RUN = (
    *product(FOUR, (FLEET, PARTLY, {**FLEET, "order": "random", "seed": 5})),
    *(("-".join(three), TREE) for three in product(("star", "ring"), repeat=3)),
    ("star", {"settings": {"network.tiers": "star:5", "plan.draws": 0}}),
    ("ring", {"settings": {"network.tiers": "ring:5", "plan.draws": 0}}),
)


@pytest.mark.parametrize(
    ("topology", "scenario", "chain"),
    [  # every run with steps of a client one by one or in a chain
        pytest.param(topology, scenario, chain, marks=pytest.mark.slow if (i + i // 2 + j) % 2 else ())
        for i, (topology, scenario) in enumerate(RUN)
        for j, chain in enumerate((False, True))
    ],
)
def test_the_loop_is_the_literal_reference(topology: str, scenario: dict, chain: bool, tmp_path: Path) -> None:
    folder = written(tmp_path / "run", topology=topology, **scenario)
    hierarchy, table = loaded(folder / "hierarchy.py"), tomllib.loads((folder / "plan.toml").read_text())
    made, steps, rate = hierarchy.read_plan(folder / "plan.toml"), table["local_steps"], table["rate"]
    sizes = [tier["size"] for tier in table["tiers"]]
    tree = Topology.parse(table["predicted"]["topology"]).sized(
        sizes, drawn=[tier["drawn"] for tier in table["tiers"]], passes=[tier["passes"] for tier in table["tiers"]]
    )
    if chain:
        made.tiers[-1]["chain"] = True
    handed_over = set()

    def train(model: list, *jobs: Any) -> list:
        handed_over.add(len(jobs))
        x = model[0]
        for job in jobs:
            place = tuple(int(i) for i in np.unravel_index(job.client, sizes))
            for k in range(steps):
                x = x - rate * pull(place, job.passes, k, x)
        return [x]

    def order(place: tuple[int, ...], moment: tuple[int, ...]) -> list[int]:
        node = made.root
        for i in place:
            node = node.children[i]
        first = [child.place[-1] for child in hierarchy.taking_part(made, node, number)]
        return first + [i for i in range(sizes[len(place)]) if i not in first]

    x, model = np.linspace(-1, 1, 4), [np.linspace(-1, 1, 4)]
    for number in range(3):
        x = tree_round(x, tree, steps, rate, pull, order=order)
        model = hierarchy.global_round(made, model, number, train)
    assert np.abs(x - np.linspace(-1, 1, 4)).max() > 1e-2
    np.testing.assert_allclose(model[0], x, rtol=0, atol=1e-12)
    assert handed_over == {table["tiers"][-1]["drawn"] if chain and topology.endswith("ring") else 1}


def test_every_client_of_a_chain_is_a_call(tmp_path: Path) -> None:
    folder = written(tmp_path / "run", "nvflare-collab", "star-ring", **PARTLY)
    hierarchy = loaded(folder / "hierarchy.py")
    made = hierarchy.read_plan(folder / "plan.toml")
    made.tiers[-1]["chain"] = True

    def train(model: list, *jobs: Any) -> Any:
        return hierarchy.Done(model, 0.5 * len(jobs), 16 * len(jobs))

    task = SimpleNamespace(initial_model=lambda: [np.zeros(1)], evaluate=lambda model: 0.0)
    hierarchy.run(made, task, train, folder, 2)
    for one in json.loads((folder / "measured.json").read_text())["rounds"]:
        assert (one["calls"], one["work_seconds"], one["bytes"]) == (2 * 2 * 3, 6.0, 192)  # groups, passes, clients


def test_the_project_as_generated_runs_and_is_the_reference(tmp_path: Path) -> None:
    folder = written(tmp_path / "run", topology="star-ring", **FLEET)
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "run.py", "2"], cwd=folder, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("round 1: metric ")
    x = reference(folder, 2)
    np.testing.assert_allclose(model_of(folder), x, rtol=0, atol=1e-12)
    measured = json.loads((folder / "measured.json").read_text())
    assert [one["calls"] for one in measured["rounds"]] == [12, 12]
    assert measured["rounds"][1]["metric"] < measured["rounds"][0]["metric"] < np.log(3)


@pytest.mark.parametrize(
    ("asked", "said"),
    [("abc", "argument ROUNDS: invalid int value: 'abc'"), ("0", "ROUNDS: 0 is not 1 or more"), ("--help", "")],
)
def test_a_wrong_number_of_rounds_is_refused_in_a_line(asked: str, said: str, tmp_path: Path) -> None:
    folder = written(tmp_path / "run", topology="star-ring", **FLEET)
    done = subprocess.run([sys.executable, "run.py", asked], cwd=folder, capture_output=True, text=True, check=False)
    assert (done.returncode, "Traceback" in done.stderr) == (2 if said else 0, False)
    assert said in done.stderr and (said or "stop after so many" in done.stdout)


def test_a_word_for_rounds_is_refused_in_a_line_where_nvflare_runs_it(tmp_path: Path) -> None:
    folder = written(tmp_path / "run", "nvflare-collab", "star-ring", **FLEET)
    stub = "import runpy, sys; from unittest.mock import MagicMock; sys.path.insert(0, '.'); "
    stub += "sys.modules |= dict.fromkeys(['nvflare', 'nvflare.collab', 'nvflare.recipe.sim_env'], MagicMock()); "
    stub += "sys.argv = ['job.py', 'abc']; runpy.run_path('job.py', run_name='__main__')"
    done = subprocess.run([sys.executable, "-c", stub], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert done.stderr.splitlines()[-1].endswith("argument ROUNDS: invalid int value: 'abc'")


@pytest.mark.parametrize(("topology", "scenario"), [*product(FOUR, (FLEET, PARTLY)), ("ring-star-ring", TREE)])
def test_the_price_through_one_server_is_two_models_for_every_call(
    topology: str, scenario: dict, tmp_path: Path
) -> None:
    folder = written(tmp_path / "run", topology=topology, **scenario)
    hierarchy = loaded(folder / "hierarchy.py")
    calls: list[Any] = []
    hierarchy.global_round(
        hierarchy.read_plan(folder / "plan.toml"), [np.zeros(1)], 0, lambda model, job: calls.append(job) or model
    )
    made = plan(planner.load_scenario(**scenario), topology, rate=0.1)
    priced = export(made, target_of("flower"), tmp_path / "flower").priced
    assert priced is not None
    assert priced.round_bytes == 2 * 44.7e6 * len(calls)


def test_a_recommendation_that_does_not_hold_on_the_target_is_told(tmp_path: Path) -> None:
    links = {"network.client_link.hop": "direct", "network.client_link.preset": "lan", "compute.step_time": "1ms"}
    fleet = {"G": 10, "M": 20, "heterogeneity": "inter", "objective": "time"}
    made = plan(planner.load_scenario(**fleet, settings={**links, "plan.draws": 0}))
    answer = export(made, target_of("flower"), tmp_path / "flower")
    assert answer.priced is not None
    assert (answer.topology, answer.planned.best, answer.priced.best) == ("star-ring", ("star-ring",), ("star-star",))
    wanted = "The recommendation changes: on this network Star-Star is best by time: --topology star-star exports it."
    assert answer.notes[0] == wanted  # which the page shows
    assert "The recommendation changes" in (tmp_path / "flower" / "README.md").read_text()
    plain = export(made, target_of("python"), tmp_path / "python")
    assert (plain.priced, [note for note in plain.notes if "changes" in note]) == (None, [])
    assert answer.over_own_links and not plain.over_own_links  # at 1 Gbit/s, where links of servers have 100 Mbit/s
    assert any("Those of servers carry less: it may be longer" in note for note in answer.notes)
    assert "run by flower, own links" in str(document(answer))
    for megabit, slower in ((19_999, True), (20_000, False)):  # a group server's link carries its 20 clients' 1 Gbit/s
        rates = {f"network.server_link.{part}": f"{megabit} Mbit/s" for part in ("up", "down")}
        other = plan(planner.load_scenario(**fleet, settings={**links, "plan.draws": 0, **rates}))
        assert export(other, target_of("flower"), tmp_path / str(megabit)).over_own_links is slower


@pytest.mark.usefixtures("unflipped")
def test_the_plan_of_a_toss_up_says_so(tmp_path: Path) -> None:
    scenario = planner.load_scenario(config=Path(__file__).parents[3] / "examples" / "hospitals.toml")
    made, said = plan(scenario), str(planner.recommend(scenario)).splitlines()[1]
    toss_up = "Toss-up for time: "
    assert said.startswith(toss_up)
    answer = export(made, target_of("python"), tmp_path / "run")
    told = f"The verdict is a toss-up by time: {said.removeprefix(toss_up).partition('.')[0]}. This runs Star-Ring."
    assert answer.notes[0] == told
    assert told in (tmp_path / "run" / "README.md").read_text()
    ways = (("star-ring", "changes", ": --topology star-star exports it"), ("star-star", "narrows the toss-up", ""))
    for topology, best, way in ways:
        priced = export(plan(scenario, topology), target_of("flower"), tmp_path / topology)
        assert priced.priced is not None and {*priced.priced.best} < {*priced.planned.best}
        assert priced.notes[0].endswith(f" {best}: on this network Star-Star or Ring-Star is best by time{way}.")


@pytest.mark.usefixtures("unflipped", "few_draws")
def test_a_loss_in_place_of_an_accuracy_is_no_target_of_a_plan() -> None:
    """The loss gap 0.59 was written as a test error, so that 41 % read as the accuracy to stop at."""
    given = {"G": 3, "M": 4, "heterogeneity": "both", "rounds": 100, "link_sharing": "per-client"}
    by = {metric: plan(planner.load_scenario(**given, metric=metric)).toml("python") for metric in ("loss", "accuracy")}
    tables = {metric: tomllib.loads(text)["predicted"] for metric, text in by.items()}
    assert "target" in tables["loss"] and "target" not in tables["accuracy"]
    assert '"accuracy"\n# target: the test accuracy that Star-Star reaches after 100 rounds\n' in by["accuracy"]


@pytest.mark.usefixtures("unflipped")
def test_the_plan_of_an_answer_that_depends_says_on_what(tmp_path: Path) -> None:
    """What is best with own links is run and priced, and was called a toss-up of everything."""
    scenario = planner.load_scenario(G=10, M=10, heterogeneity="inter")
    time = planner.recommend(scenario).verdict.cases[0]
    own, shared = (" or ".join(case.best).replace("star", "Star").replace("ring", "Ring") for case in time.cases)
    assert own != shared
    answer = export(plan(scenario), target_of("python"), tmp_path / "run")
    assert f"depends on link sharing: with own links {own} and with shared links {shared}. This" in answer.notes[0]
    assert "--link-sharing" in answer.notes[0] and "--objective" in answer.notes[1]
    told = planner.load_scenario(G=10, M=10, heterogeneity="inter", link_sharing="per-server", objective="time")
    decided = export(plan(told), target_of("python"), tmp_path / "told")
    assert not any("depends" in note or "toss-up" in note for note in decided.notes)


def test_who_is_drawn_is_uniform_and_drawn_anew(tmp_path: Path) -> None:
    folder = written(tmp_path / "run", topology="ring-star", **PARTLY)
    hierarchy = loaded(folder / "hierarchy.py")
    made = hierarchy.read_plan(folder / "plan.toml")
    group, rounds = made.root.children[2], 4000
    seen = np.zeros((5, 3))
    for number in range(rounds):
        for place, child in enumerate(hierarchy.taking_part(made, group, number)):
            seen[child.place[-1], place] += 1
    assert np.abs(seen / rounds - 0.2).max() < 5 * np.sqrt(0.16 / rounds)
    others = [[c.place for c in hierarchy.taking_part(made, node, 0)] for node in made.root.children]
    assert len({tuple(p[-1] for p in places) for places in others}) > 1


def lines_of_code(text: str) -> int:
    """Lines that are neither blank, nor comment, nor documentation."""
    documented: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            documented.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    skipped = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return len({token.start[0] for token in tokens if token.type not in skipped} - documented)


@pytest.mark.parametrize("to", sorted(targets()))
def test_a_project_is_small_and_lints(to: str, tmp_path: Path) -> None:
    folder = written(tmp_path / "run", to, "ring-ring", **FLEET)
    assert sum(lines_of_code(file.read_text()) for file in folder.rglob("*.py")) <= 250
    rules = "E,F,W,I,N,D,UP,B,C4,SIM,RUF,PTH"
    for words in (
        ["check", "--select", rules, "--ignore", "D105,D107,D203,D213,D407,D413", "--line-length", "88"],
        ["format", "--check"],
    ):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", words[0], "--isolated", *words[1:], "."],
            cwd=folder,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout
    readme = (folder / "README.md").read_text()
    assert "$" not in readme
    assert len(readme.split("```sh\n")[1].split("```")[0].splitlines()) == 2


@pytest.mark.slow
@pytest.mark.parametrize("to", sorted(targets()))
def test_a_project_has_types(to: str, tmp_path: Path) -> None:
    folder = written(tmp_path / "run", to, "ring-ring", **FLEET)
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "mypy",
            "--strict",
            "--ignore-missing-imports",
            "--allow-untyped-decorators",
            "--cache-dir",
            str(tmp_path / "cache"),
            ".",
        ],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("came", [range(5), range(6), (0, 1, 2, 3, 4, 10)])
def test_nodes_of_flower_that_never_come_are_not_waited_for_without_end(
    came: Sequence[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Six are needed; node 10 has the partition of node 4, and each is asked once."""
    folder = written(tmp_path / "run", "flower", **FLEET)
    for name in ("flwr", "flwr.app", "flwr.serverapp"):
        monkeypatch.setitem(sys.modules, name, MagicMock())
    for name in ("hfl_app", "hfl_app.task", "hfl_app.hierarchy"):
        monkeypatch.setitem(sys.modules, name, None)  # so that what the project puts there is gone afterwards
        del sys.modules[name]
    monkeypatch.syspath_prepend(str(folder))
    app, slept, asked = loaded(folder / "hfl_app" / "server_app.py"), [], []
    clock = SimpleNamespace(monotonic=lambda: float(sum(slept)), sleep=lambda _: slept.append(60.0))

    def ask(grid: Any, node: int, kind: str, content: Any) -> Any:
        asked.append(node)
        return {"client": {"number": 5 - node % 6}}

    monkeypatch.setattr(app, "time", clock)
    monkeypatch.setattr(app, "ask", ask)
    grid = SimpleNamespace(get_node_ids=lambda: came)
    if came == range(6):
        assert app.nodes(grid) == {5 - node: node for node in came}
    else:
        with pytest.raises(RuntimeError, match="no node came with partition 0"):
            app.nodes(grid)
        assert sum(slept) > app.LONGEST
    assert sorted(asked) == list(came)


def test_names_come_from_a_file_and_stay_as_they_are(tmp_path: Path) -> None:
    names = ['a "quoted" one', "b\\c", "d.e", "Übung 😀", "[x]", "#y"]
    file = tmp_path / "groups.csv"
    rows = [("client", "group"), *((name, f"g{i % 3}") for i, name in enumerate(names))]
    file.write_text("".join(",".join('"' + cell.replace('"', '""') + '"' for cell in row) + "\n" for row in rows))
    made = plan(planner.load_scenario(**FLEET), "star-ring", rate=0.1, groups=file)
    export(made, target_of("python"), tmp_path / "run")
    hierarchy = loaded(tmp_path / "run" / "hierarchy.py")
    root = hierarchy.read_plan(tmp_path / "run" / "plan.toml").root
    found = {group.name: {child.name for child in group.children} for group in root.children}
    assert found == {f"g{i}": {names[i], names[i + 3]} for i in range(3)}


@pytest.mark.parametrize("to", ["nvflare", "nvflare-collab"])
@pytest.mark.parametrize("name", ["server", "north east", "1a", "a.b", "ü", "a" * 64])
def test_a_name_that_no_site_has_is_refused(name: str, to: str, tmp_path: Path) -> None:
    file = tmp_path / "groups.csv"
    file.write_text(f"client,group\n{name},g1\nserver2,g1\nc,g2\nd,g2\n", encoding="utf-8")
    made = plan(planner.load_scenario(**{**FLEET, "groups": 2}), rate=0.1, groups=file)
    with pytest.raises(planner.ScenarioError, match="is not a name that it gives a site"):
        export(made, target_of(to), tmp_path / "run")
    assert not (tmp_path / "run").exists()
    export(made, target_of("python"), tmp_path / "run")


@pytest.mark.parametrize(
    ("rows", "wanted"),
    [
        ("a,g1\nb,g1\n", "tier 1 has 1 children in the mean, and the scenario 3"),
        ("a,g1\na,g2\n", "groups.csv:3:2: client 'a' is in group 'g2' here"),
        ("a,g1\na,g1\n", "on line 2 already"),
        ("a,x/y\nb,g1\n", "has / in its name"),
    ],
)
def test_a_file_of_another_fleet_is_refused(rows: str, wanted: str, tmp_path: Path) -> None:
    file = tmp_path / "groups.csv"
    file.write_text("client,group\n" + rows)
    with pytest.raises(planner.ScenarioError, match=wanted):
        plan(planner.load_scenario(**FLEET), groups=file)


@pytest.mark.parametrize(
    ("change", "topology", "wanted"),
    [
        ({}, "hhfl", "hhfl is no tree"),
        ({}, "star-rink", "Did you mean star-ring"),
        ({"local_steps": "2:4"}, None, r"K \(2 to 4\) is searched.* Give one number of K"),
        ({"groups": 200, "clients_per_group": 500}, None, "100,000 clients are over the 20,000"),
    ],
)
def test_what_cannot_be_run_is_refused(change: dict, topology: str | None, wanted: str, tmp_path: Path) -> None:
    with pytest.raises(planner.ScenarioError, match=wanted):
        written(tmp_path / "run", topology=topology, **{**FLEET, **change})
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_holds_something_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "task.py").write_text("mine")
    (tmp_path / "file").write_text("mine")
    never = "exists, and a folder is never overwritten. Name a new folder"
    for name, wanted in (("run", never), ("file", "exists"), ("no/run", "does not exist")):
        with pytest.raises(planner.ScenarioError, match=wanted):
            written(tmp_path / name, **FLEET)
    assert sorted(str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*")) == ["file", "run", "run/task.py"]
    assert (tmp_path / "run" / "task.py").read_text() == "mine"
    (tmp_path / "empty").mkdir()
    assert (written(tmp_path / "empty", **FLEET) / "plan.toml").exists()


def test_the_page_has_a_dropped_availability_first_and_what_is_in_a_folder_is_explained_without_writing(
    tmp_path: Path, plan: Any
) -> None:
    words = ("export", "--G", "3", "--M", "2", "--rounds", "30", "--availability", "85%", "--set", "plan.draws=0", "-o")
    code, page, _ = plan(*words, str(tmp_path / "run"))
    assert code == 0 and "Warning  Clients are waited for" in page and "--explain warnings" in page
    kept = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    code, explained, err = plan(*words, str(tmp_path / "run"), "--explain")
    assert (code, err) == (0, "") and {path: path.read_bytes() for path in kept} == kept
    assert (
        "run exists and is left as it is: Star-Ring" in " ".join(explained.split()) and "Nothing is sent" in explained
    )


def test_a_scenario_and_a_run_of_it_give_the_same_plan(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def call(*words: object) -> tuple[int, str, str]:
        return run(*map(str, words), capsys=capsys, monkeypatch=monkeypatch)

    scenario = tmp_path / "fleet.toml"
    scenario.write_text("[fleet]\ngroups = 3\nclients_per_group = 2\n[plan]\ndraws = 0\nobjective = 'time'\n")
    assert call("recommend", "-c", scenario, "--save", tmp_path / "run.json")[0] == 0
    row = next(row for row in planner.recommend(scenario).rows if row.id == "ring-star")
    for source, folder in ((scenario, "a"), (tmp_path / "run.json", "b")):
        code, out, err = call("export", source, "--topology", "ring-star", "-o", tmp_path / folder, "--json")
        assert (code, err) == (0, "")
        found = json.loads(out)["export"]
        assert (found["rate"], found["rounds"], found["planned"]["time_seconds"]) == (
            row.rate_predicted_raw,
            row.rounds,
            row.time_seconds,
        )
    assert (tmp_path / "a" / "plan.toml").read_text() == (tmp_path / "b" / "plan.toml").read_text()
    code, out, err = call("export", scenario, "--to", "flowr", "-o", tmp_path / "c")
    assert (code, out) == (2, "")
    assert "'flowr' is not one of" in err
    assert not (tmp_path / "c").exists()


def test_the_page_shows_what_is_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    for command, shown in consoles((ROOT / "docs" / "exporting.md").read_text()):
        code, out, err = run(*command.split()[1:], capsys=capsys, monkeypatch=monkeypatch)
        assert (code, err) == (0, "")
        assert_shown(shown, out)


LISTED = [[(3, 1), (5,)], [(2,)], [(1,), (4, 6, 2)]]  # samples, by region, group and client


def listed(folder: Path, *, samples: bool) -> Path:
    """A fleet of three regions of unequal groups."""
    file = folder / "fleet.csv"
    rows = [
        f"c{r}{g}{c},r{r}/g{g}{f',{n}' * samples}"
        for r, region in enumerate(LISTED)
        for g, group in enumerate(region)
        for c, n in enumerate(group)
    ]
    file.write_text("\n".join(["client,group" + ",samples" * samples, *rows]) + "\n")
    return file


@pytest.mark.parametrize(
    ("topology", "partly", "samples"),
    [  # every topology with one of the four
        pytest.param("-".join(three), partly, samples, marks=() if 2 * j + k == (i + i // 4) % 4 else pytest.mark.slow)
        for i, three in enumerate(product(("star", "ring"), repeat=3))
        for j, partly in enumerate((True, False))
        for k, samples in enumerate((True, False))
    ],
)
def test_the_loop_of_a_listed_fleet_is_the_weighted_reference(
    topology: str, partly: bool, samples: bool, tmp_path: Path
) -> None:
    tiers = [{}, {"passes": 2}, {"passes": 3, "drawn": 2} if partly else {"passes": 3}]
    fleet = {"list": str(listed(tmp_path, samples=samples)), "local_steps": 2, "tiers": tiers}
    made = plan(planner.load_scenario(config={"fleet": fleet, "plan": {"draws": 0}}), "star-star-star", rate=0.1)
    row = replace(made.row, id=topology)  # also where rings count otherwise than the list, and no target is reached
    tree = Topology.parse(topology).sized(
        [3, 2, 3],
        drawn=[None, None, 2 if partly else None],
        passes=[1, 2, 3],
        children=branches(
            [[3], [2, 1, 2], [2, 1, 1, 1, 3]],
            [n for region in LISTED for group in region for n in group] if samples else None,
        ),
    )
    folder = tmp_path / "run"
    export(replace(made, topology=tree, row=row), target_of("python"), folder)
    hierarchy = loaded(folder / "hierarchy.py")
    read = hierarchy.read_plan(folder / "plan.toml")
    places = [(r, g, c) for r, region in enumerate(LISTED) for g, group in enumerate(region) for c in range(len(group))]

    def train(model: list, job: Any) -> list:
        x = model[0]
        for k in range(2):
            x = x - 0.1 * pull(places[job.client], job.passes, k, x)
        return [x]

    def order(place: tuple[int, ...], moment: tuple[int, ...]) -> list[int]:
        node = read.root
        for i in place:
            node = node.children[i]
        first = [child.place[-1] for child in hierarchy.taking_part(read, node, number)]
        return first + [i for i in range(len(node.children)) if i not in first]

    x, model = np.linspace(-1, 1, 4), [np.linspace(-1, 1, 4)]
    for number in range(2):
        x = tree_round(x, tree, 2, 0.1, pull, order=order)
        model = hierarchy.global_round(read, model, number, train)
    assert np.abs(x - np.linspace(-1, 1, 4)).max() > 1e-2
    np.testing.assert_allclose(model[0], x, rtol=0, atol=1e-12)


def test_a_ring_that_moves_further_counts_by_its_clients_over_its_steps(tmp_path: Path) -> None:
    file = tmp_path / "fleet.csv"
    file.write_text("client,group\n" + "".join(f"{name},{name[0]}\n" for name in ("a1", "b1", "b2", "b3")))
    made = plan(planner.load_scenario(fleet=str(file), settings={"plan.draws": 0}), "star-ring", rate=0.1)
    # Each client counts 1/4: a has 1/4 over 1 turn, b has 3/4 over 3 turns; by shares of 1/4 each the mean is even.
    assert (made.weights["a"], made.weights["b"]) == pytest.approx((1 / 2, 1 / 2), abs=1e-15)
    made = plan(planner.load_scenario(fleet=str(file), settings={"plan.draws": 0}), "star-star", rate=0.1)
    assert (made.weights["a"], made.weights["b"]) == pytest.approx((1 / 4, 3 / 4), abs=1e-15)


def test_a_listed_fleet_keeps_its_names_and_is_priced_by_its_own_links(tmp_path: Path) -> None:
    file = tmp_path / "fleet.csv"
    file.write_text("client,group,samples,link\na,x,10,lan\nb,x,20,lan\nc,y,30,wan\n")
    made = plan(planner.load_scenario(fleet=str(file), weights="samples", settings={"plan.draws": 0}), "star-star")
    answer = export(made, target_of("flower"), tmp_path / "run")
    table = tomllib.loads((tmp_path / "run" / "hfl_app" / "plan.toml").read_text())
    assert table["clients"] == {"a": "x", "b": "x", "c": "y"}
    assert table["weights"] == pytest.approx({"x": 0.5, "y": 0.5, "x/a": 1 / 3, "x/b": 2 / 3, "y/c": 1.0}, abs=1e-15)
    assert answer.priced is not None
    assert answer.priced.round_bytes == 2 * 44.7e6 * 3
    assert not any("one size" in note for note in answer.notes)
    with pytest.raises(planner.ScenarioError, match="has the names of this fleet"):
        plan(made.scenario, "star-star", groups=file)


def test_groups_of_a_list_without_names_of_clients_run_in_nvflare(tmp_path: Path) -> None:
    groups = [{"name": "north east", "clients": 2, "samples": 30}, {"name": "south", "clients": 1, "samples": 7}]
    made = plan(planner.load_scenario(config={"fleet": {"groups": groups}, "plan": {"draws": 0}}), rate=0.1)
    export(made, target_of("nvflare"), tmp_path / "run")
    table = tomllib.loads((tmp_path / "run" / "plan.toml").read_text())
    assert table["clients"] == {"client1-1": "north east", "client1-2": "north east", "client2-1": "south"}
    assert table["weights"]["north east"] == pytest.approx(60 / 67, abs=1e-15)
    assert list(table["weights"])[2:] == ["north east/client1-1", "north east/client1-2", "south/client2-1"]


@pytest.mark.usefixtures("unflipped")
def test_an_answer_is_exported_while_its_scenario_gives_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def call(*words: object) -> tuple[int, str, str]:
        return run(*map(str, words), capsys=capsys, monkeypatch=monkeypatch)

    scenario, answer = tmp_path / "fleet.toml", tmp_path / "answer.json"
    scenario.write_text("[fleet]\ngroups = 3\nclients_per_group = 2\n[plan]\ndraws = 0\n")
    asked = ("-c", scenario, "--set", "problem.sigma=2", "--objective", "traffic")
    assert call("recommend", *asked, "-o", answer)[0] == 0
    assert call("export", scenario, *asked[2:], "-o", tmp_path / "a", "--quiet")[::2] == (0, "")
    assert call("export", answer, "-o", tmp_path / "b", "--quiet")[::2] == (0, "")
    assert (tmp_path / "a" / "plan.toml").read_text() == (tmp_path / "b" / "plan.toml").read_text()
    subprocess.run([sys.executable, "run.py", "1"], cwd=tmp_path / "b", capture_output=True, check=True)
    measured = tmp_path / "b" / "measured.json"
    found = [call("compare", source, *more, measured) for source, more in ((answer, ()), (scenario, asked[2:]))]
    assert found[0] == found[1]
    assert found[0][0] == 0
    scenario.write_text(scenario.read_text().replace("groups = 3", "groups = 4"))
    for words in (("export", answer, "-o", tmp_path / "c"), ("compare", answer, measured)):
        code, out, err = call(*words)
        assert (code, out) == (2, "")
        assert "the saved answer says" in err
        assert "Ask anew" in err
    document = json.loads(answer.read_text())
    for command, wanted in (
        (["hfl-plan", "recommend"], "names no scenario\n  help: Give a scenario file"),
        (["hfl-plan", "recommend", "--fleat", "x"], "does not take the command"),
        (["hfl-plan", "recommend", "--help"], "does not take the command"),
        (
            ["hfl-plan", "recommend", "-G", "3", "--network", "geant"],
            "with all that is said of it; `hfl-plan export` takes what those choose with --topology.",
        ),
    ):
        answer.write_text(json.dumps({**document, "command": command}))
        code, out, err = call("export", answer, "-o", tmp_path / "c")
        assert (code, wanted in err) == (2, True), err
    assert not (tmp_path / "c").exists()


def test_the_record_of_rates_of_rings_is_told_of_trees_with_a_ring_alone() -> None:
    scenario = planner.load_scenario(config=Path(__file__).parents[3] / "examples" / "hospitals.toml")
    said = {name: plan(scenario, name).rate_from for name in ("star-star", "star-ring", "ring-star", "ring-ring")}
    assert [name for name, text in said.items() if "rates of rings" in text] == ["star-ring", "ring-star", "ring-ring"]
    assert said["star-star"] == "predicted for smoothness 10 (assumed); search around it"
