"""Answers for fleets by list: equal ones as by the short form, and what unequal ones change."""

from __future__ import annotations

import ast
import csv
import io
import json
import statistics
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import planner
from hflbounds import family
from hflbounds.topology import all_topologies
from planner.decide.rank import recommend
from planner.predict.evidence import predictor_record
from planner.predict.question import ask
from planner.scenario.resolve import Scenario

pytestmark = pytest.mark.usefixtures("few_draws")

ROOT = Path(__file__).parents[3]
HOW: dict[str, Any] = {"heterogeneity": "zeta=0.4,delta=0.7", "local_steps": 3, "group_rounds": 2, "objective": "time"}


def numbers(value: Any, at: str = "") -> dict[str, Any]:
    if isinstance(value, dict):
        return {k: v for key, part in value.items() for k, v in numbers(part, f"{at}.{key}").items()}
    if isinstance(value, list):
        return {k: v for i, part in enumerate(value) for k, v in numbers(part, f"{at}[{i}]").items()}
    return {at: value} if isinstance(value, int | float) else {}


@pytest.mark.usefixtures("unflipped")
@pytest.mark.parametrize(
    "more",
    [{}, pytest.param({"metric": "gradient", "predictor": "typical"}, marks=pytest.mark.slow), {"S1": 2, "S2": 3}],
)
def test_equal_groups_by_list_answer_as_by_the_short_form(tmp_path: Path, more: dict[str, Any]) -> None:
    path = tmp_path / "fleet.csv"
    path.write_text("client,group,samples\n" + "".join(f"c{i},g{i % 4},70\n" for i in range(24)))
    short = planner.recommend(G=4, M=6, **HOW, **more)
    listed = planner.recommend(fleet=str(path), **HOW, **more)
    grouped = planner.recommend({"fleet": {"groups": [{"clients": 6, "samples": 70}] * 4}}, **HOW, **more)
    for other in (listed, grouped):
        one, two = numbers(json.loads(json.dumps(short.to_json()))), numbers(json.loads(json.dumps(other.to_json())))
        assert one.keys() == two.keys()
        assert [k for k in one if one[k] != pytest.approx(two[k], rel=1e-12)] == []


@pytest.mark.parametrize(
    "how",
    [("spectrum", "loss"), pytest.param(("spectrum", "gradient"), marks=pytest.mark.slow), ("typical", "gradient")],
)
def test_equal_nodes_taken_node_by_node_are_predicted_and_timed_as_the_short_form(how: tuple[str, str]) -> None:
    """The collapse of equal lists undone: what is worked out node by node is what the closed forms say."""
    from dataclasses import replace

    from hflbounds.topology import branches
    from planner.scenario.members import Members

    for more in ({}, {"S1": 2, "S2": 3}, {"order": "random"}):
        scenario = planner.load_scenario(G=4, M=6, predictor=how[0], metric=how[1], **HOW, **more)
        members = Members(branches([[4], [6] * 4]), (not scenario.partial,) * 2)
        one, other = recommend(scenario, details=False), recommend(replace(scenario, members=members), details=False)
        for a, b in zip(one.ranking, other.ranking, strict=True):
            assert (a.id, a.rounds) == (b.id, b.rounds)
            assert b.round_seconds == pytest.approx(a.round_seconds, rel=1e-12)
            assert b.round_bytes == pytest.approx(a.round_bytes, rel=1e-12)
        a, b = (ask(s).rounds() for s in (scenario, replace(scenario, members=members)))
        assert [b[t] for t in a] == pytest.approx([a[t] for t in a], rel=1e-8)


def of_groups(*groups: tuple[int, float], **more: Any) -> Scenario:
    rows = [{"clients": clients, "samples": samples} for clients, samples in groups]
    return planner.load_scenario({"fleet": {"groups": rows}}, **{**HOW, **more})


def test_a_round_takes_what_the_largest_ring_takes() -> None:
    question = ask(of_groups((4, 1), (7, 1), (20, 1), group_rounds=1))
    largest = ask(planner.load_scenario(G=3, M=20, **{**HOW, "group_rounds": 1}))
    assert question.of_a_round("star-ring").seconds == pytest.approx(largest.of_a_round("star-ring").seconds, rel=1e-12)
    assert question.of_a_round("ring-ring").seconds < largest.of_a_round("ring-ring").seconds
    assert question.of_a_round("star-star").bytes_by_tier[1] == pytest.approx(2 * 31 * 44.7e6)


def test_one_client_with_most_of_the_data_makes_noise_average_less() -> None:
    alike, uneven = (ask(of_groups((4, 1.0), (7, 1.0), (20, samples), target=0.05)) for samples in (1.0, 0.01))
    assert uneven.rounds()["star-star"] > alike.rounds()["star-star"]


def test_guarantees_hold_where_rings_count_alike_and_are_those_of_fewer_clients() -> None:
    told = {"metric": "gradient", "predictor": "bound", "target": 0.05}
    question = ask(of_groups((4, 50), (7, 30), (20, 10), **told))
    assert set(question.bounds) == {"star-star"}
    worth = question.of_bounds("star-star")
    data = np.repeat([50, 30, 10], [4, 7, 20])
    exact = data.sum() ** 2 / (data**2).sum()
    assert worth["G"] * worth["M"] <= exact
    bound = {b.topology: b for b in family("hflbounds.exact")}["star-star"]
    names = {name: worth[name] for name in ("G", "M", "S1", "S2", "P", "K", "L", "A", "sigma", "zeta", "delta")}
    assert question.rounds()["star-star"] == pytest.approx(float(bound.rounds_to(0.05, cap="own", **names)))
    rings = ask(of_groups((6, 10), (6, 10), (6, 70), weights="equal", step_time="0.1s", **told))
    assert set(rings.bounds) == set(all_topologies(2))


def test_an_answer_says_which_topologies_lower_another_loss() -> None:
    def said(answer: planner.Recommendation) -> str:
        (one,) = [w.text for w in answer.warnings if "counts its children alike" in w.text]
        return one

    uneven = recommend(of_groups((4, 50), (7, 30), (20, 10)), details=False)
    assert said(uneven).startswith("Ring-Star and Ring-Ring: a ring counts its children alike")
    equal = recommend(of_groups((4, 1), (7, 1), (20, 1)), details=False)
    assert said(equal).startswith("Ring-Star: a ring counts its children alike")
    # of three groups of 4, 7 and 20 clients, a third each in place of 4, 7 and 20 of 31
    assert f"{100 * ((1 / 3 - 4 / 31) + (1 / 3 - 7 / 31)):.0f} % of the weight" in said(equal)


def test_what_is_listed_is_not_moved_to_find_what_would_change_the_answer(moved_alone: Any, set_alone: Any) -> None:
    moved_alone("G", "M", "K")
    set_alone()
    answer = recommend(of_groups((4, 50), (7, 30), (20, 10)))
    assert not {"G", "M"} & {one.parameter for one in answer.sensitivity}
    assert "K" in answer.recommend.flips_searched


def test_runs_of_equal_groups_say_nothing_of_unequal_ones() -> None:
    with pytest.raises(planner.NoAnswerError, match="groups that are alike"):
        recommend(of_groups((4, 50), (7, 30), metric="gradient", predictor="surrogate"))


def test_a_list_on_the_command_line_takes_the_place_of_the_counts_of_a_file(tmp_path: Path) -> None:
    path, config = tmp_path / "fleet.csv", tmp_path / "plan.toml"
    path.write_text("client,group\na,x\nb,x\nc,y\n")
    config.write_text("[fleet]\ngroups = 3\nclients_per_group = 10\nlocal_steps = 7\n")
    found = planner.load_scenario(str(config), fleet=str(path))
    assert [found.number(name) for name in ("G", "M", "K")] == [2, 2, 7]
    assert found.members is not None
    assert found.members.children[1].sizes.tolist() == [2, 1]
    with pytest.raises(planner.ScenarioError, match="who is in which group"):
        planner.load_scenario(str(config), {"fleet.groups": 2}, fleet=str(path))


def test_label_counts_of_other_clients_than_a_list_has_are_refused_or_pointed_out(tmp_path: Path) -> None:
    """Other numbers are refused, as beside numbers of groups; a profile is of no client, and names may be keys."""
    fleet, counts = tmp_path / "fleet.csv", tmp_path / "counts.csv"
    fleet.write_text("client,group\n" + "".join(f"bank{i},g{i // 4}\n" for i in range(12)))

    def warnings(clients: int, name: str) -> list[str]:
        counts.write_text("client,group,a,b\n" + "".join(f"{name}{i},g{i // 4},{9 + i},8\n" for i in range(clients)))
        found = planner.load_scenario(fleet=str(fleet), heterogeneity=str(counts))
        return [one for one in found.warnings if "of counts.csv are used" in one.replace(str(tmp_path) + "/", "")]

    assert warnings(12, "bank") == []
    assert "No client of" in warnings(12, "ward")[0]
    with pytest.raises(planner.ScenarioError, match=r"16 clients in 4 groups, and .* 12 in 3"):
        warnings(16, "bank")
    profile = tmp_path / "profile.json"
    planner.measure(str(counts), output=str(profile))
    found = planner.load_scenario(fleet=str(fleet), heterogeneity=str(profile))
    assert any("has 16 clients in 4 groups" in one for one in found.warnings)


@pytest.mark.usefixtures("unflipped")
def test_options_that_a_list_says_of_every_client_are_said_to_change_nothing(tmp_path: Path) -> None:
    path = tmp_path / "fleet.csv"
    path.write_text("client,group,step_time,availability\n" + "".join(f"c{i},g{i // 3},0.2s,0.99\n" for i in range(9)))
    untold: dict[str, Any] = {"fleet": path, "details": False}
    plain, asked = (planner.recommend(**untold, **more) for more in ({}, {"step_time": "60s", "availability": "50%"}))
    said = [one.text for one in asked.warnings if "is not used" in one.text]
    assert [one.partition(" is")[0] for one in said] == ["step_time", "availability"]
    assert [row.time_seconds for row in asked.rows] == [row.time_seconds for row in plain.rows]
    path.write_text("client,group,step_time\n" + "".join(f"c{i},g{i // 3},{'0.2s' * (i > 0)}\n" for i in range(9)))
    of_one = planner.recommend(**untold, step_time="60s")
    assert not any("is not used" in one.text for one in of_one.warnings)


@pytest.mark.usefixtures("unflipped")
def test_places_of_a_list_are_said_to_change_nothing_without_a_network(tmp_path: Path) -> None:
    with_places = Path("examples/consortium.csv").read_text()
    rows = list(csv.reader(io.StringIO(with_places)))
    at = rows[0].index("node")
    path = tmp_path / "plain.csv"
    path.write_text("".join(",".join(cell for i, cell in enumerate(row) if i != at) + "\n" for row in rows))
    placed, plain = planner.recommend(fleet="examples/consortium.csv"), planner.recommend(fleet=path)
    said = [[one.text for one in answer.warnings if "The column node of" in one.text] for answer in (placed, plain)]
    assert "--sites" in said[0][0] and not said[1]
    assert [row.time_seconds for row in placed.rows] == [row.time_seconds for row in plain.rows]


@pytest.mark.usefixtures("unflipped")
def test_of_unequal_groups_an_answer_says_what_races_showed_and_states_no_confidence(tmp_path: Path) -> None:
    """It counted cases of equal groups as evidence; the factors are those of the races, worked out from their file."""
    with (ROOT / "docs/evidence/unequal_groups.csv").open() as stream:
        rows = [row for row in csv.DictReader(stream) if row["topology"] != "star-star"]
    off = sorted(max(ratio, 1 / ratio) for row in rows for ratio in [float(row["measured"]) / float(row["predicted"])])
    assert (statistics.median(off), off[-1]) == pytest.approx(predictor_record.OFF_IN_RACES, rel=0.01)
    worst = max(rows, key=lambda row: float(row["measured"]) / float(row["predicted"]))
    assert float(worst["measured"]) / float(worst["predicted"]) == off[-1]  # slower than predicted
    sizes = ast.literal_eval(worst["sizes"])
    assert (worst["topology"], max(sizes) / sum(sizes)) == ("ring-ring", 0.5)
    path, found = tmp_path / "fleet.csv", {}
    for sizes in ((16, 1, 1, 1), (6, 5, 5, 4)):
        clients = [f"{g}-{i},{g}" for g, size in enumerate(sizes) for i in range(size)]
        path.write_text("\n".join(["client,group", *clients, ""]))
        found[sizes[0]] = planner.recommend(fleet=str(path), client_link="5g", server_link="lan", objective="rounds")
    uneven, even = found[16], found[6]
    [nearest] = [one for one in uneven.evidence if one.nearest]
    assert nearest.weak.startswith("no measured case had unequal groups")
    assert uneven.verdict.confidence is None
    said = "Ring-Ring was furthest off: slower, where a group had half of the clients."
    assert any("In six races" in one.text and said in one.text for one in uneven.warnings)
    assert not any(one.weak for one in even.evidence)
    assert not any("In six races" in one.text for one in even.warnings)
