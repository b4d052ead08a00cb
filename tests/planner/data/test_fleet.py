"""Fleets by list: what is read, in which order it is put, and what is refused with file, line and way out."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from planner import ScenarioError, load_scenario
from planner.data import fleet
from planner.data.fleet import LARGEST_FLEET, Listed, by_groups, read_fleet
from planner.scenario.fields import CLIENT_FIELDS
from planner.scenario.network import PRESETS

READERS = {one.key: one.read for one in CLIENT_FIELDS}


def written(folder: Path, text: str) -> Path:
    path = folder / "fleet.csv"
    path.write_text(text)
    return path


def read(folder: Path, text: str) -> Listed:
    return read_fleet(written(folder, text), READERS)


def test_clients_of_a_group_stand_together_in_the_order_of_the_file(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        "samples,client,group,link,step_time,availability\n"
        "10,a,south/e1,5g,0.2s,99%\n20,b,north/e2,,100ms,\n30,c,south/e1,,,0.5\n40,d,south/e3,lan,,\n50,e,north/e2,,,\n",
    )
    assert found.clients == ("a", "c", "d", "b", "e")
    assert found.groups == ("south/e1", "south/e3", "north/e2")
    assert [one.tolist() for one in found.sizes] == [[2], [2, 1], [2, 1, 2]]
    assert found.samples is not None and found.samples.tolist() == [10, 30, 40, 20, 50]
    assert found.link == ("5g", "", "lan", "", "")
    assert found.step_time is not None and found.availability is not None
    assert np.nan_to_num(found.step_time, nan=-1).tolist() == [0.2, -1, -1, 0.1, -1]
    assert np.nan_to_num(found.availability, nan=-1).tolist() == [0.99, 0.5, -1, -1, -1]
    assert (found.depth, found.nodes) == (3, (2, 3, 5))


def test_a_file_of_a_spreadsheet_may_name_its_separator_and_have_decimal_commas(tmp_path: Path) -> None:
    text = "client;group;samples;step_time;availability\na;x;10;0.2s;99.5%\nb;y;20.5;1.25 ms;0.995\n"
    assert read(tmp_path, "sep=;\n" + text.replace(".", ",")) == read(tmp_path, text)
    with pytest.raises(ScenarioError, match=r"fleet.csv:2:3: '1,500s' may be a thousand or one. Write 1500s or 1.5s"):
        read(tmp_path, "client;group;step_time\na;x;1,500s\n")


def test_groups_one_by_one_are_the_same_fleet_as_their_clients(tmp_path: Path) -> None:
    rows = [{"name": "a", "clients": 2, "samples": 5.0}, {"name": "b", "clients": 1, "samples": 7.0, "step_time": 0.3}]
    text = "client,group,samples,step_time\n1,a,5,\n2,a,5,\n3,b,7,0.3s\n"
    found = by_groups(rows, "fleet.groups")
    assert found == read(tmp_path, text)
    assert found.clients == ("client1-1", "client1-2", "client2-1")
    assert math.isnan(found.step_time[0]) if found.step_time is not None else False


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("client,group\na,x\nb,\n", r"fleet.csv:3:2: client 'b' has no group. Write its group."),
        ("client,group\na,x\na,y\n", r"fleet.csv:3:1: client 'a' is on line 2 already. Keep one line."),
        ("client,group\na,x\nb,y/z\n", r"fleet.csv:3:2: the group 'y/z' is 2 names deep, and 'x' on line 2 is 1 name"),
        ("client,group\na,x/\n", r"fleet.csv:2:2: 'x/' is not a path of names"),
        ("client,group\na,1/2/3/4/5/6/7/8\n", r"fleet.csv:2:2: .* at most 7"),
        ("client,group,samples\na,x,-3\n", r"fleet.csv:2:3: samples: '-3' is not a number from"),
        ("client,group,samples\na,x,0\n", r"fleet.csv:2:3: samples: '0' is not a number from"),
        ("client,group,samples\na,x,5\nb,x,\n", r"fleet.csv:3:3: client 'b' has no samples, and others have"),
        ("client,group,step_time\na,x,0s\n", r"fleet.csv:2:3: step_time: "),
        ("client,group,step_time\na,x,-1s\n", r"fleet.csv:2:3: step_time: "),
        ("client,group,link\na,x,5G\n", r"fleet.csv:2:3: link: '5G' is not a link preset"),
        ("client,group,availability\na,x,120%\n", r"fleet.csv:2:3: availability: '120%' is not a probability"),
        ("client,group,uplink\na,x,5\n", r"fleet.csv:1:3: column 'uplink' has no meaning in a fleet"),
        ("client,grp\na,x\n", r"fleet.csv:1: there is no column 'group'"),
        ("name,group\na,x\n", r"fleet.csv:1: there is no column 'client'"),
        ("client,group\n", r"fleet.csv:1: there is a header, and no client below it"),
        ("", r"fleet.csv: is empty. Write a header with the names of the columns"),
    ],
)
def test_what_is_wrong_is_refused_where_it_stands(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ScenarioError, match=said):
        read(tmp_path, text)


def test_rows_are_refused_at_the_first_that_is_too_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fleet, "LARGEST_FLEET", 300)
    text = "client,group\n" + "".join(f"c{i},g\n" for i in range(300))
    assert len(read(tmp_path, text).clients) == 300 < LARGEST_FLEET
    with pytest.raises(ScenarioError, match=r"fleet.csv:302: .* \[\[fleet.groups\]\]"):
        read(tmp_path, text + "c300,g\nc301,g\n")


@pytest.mark.parametrize(
    ("groups", "said"),
    [
        ([{"name": "a"}], r"fleet.groups\[1\].clients: is missing"),
        ([{"name": "a", "clients": 2}, {"name": "a", "clients": 2}], r"fleet.groups\[2\].name: .* group 1 too"),
        (
            [{"name": "a", "clients": 2}, {"name": "b/c", "clients": 2}],
            r"fleet.groups\[2\].name: 'b/c' is 2 names deep",
        ),
        ([{"clients": 2, "samples": 5}, {"clients": 2}], r"fleet.groups\[2\].samples: is missing"),
        ([{"clients": 0}], r"fleet.groups\[1\].clients: 0 is not a whole number"),
        ([{"clients": 2, "samples": -1}], r"fleet.groups\[1\].samples: -1 is not a number"),
        ([{"clients": 2, "link": "dsl"}], r"fleet.groups\[1\].link: 'dsl' is not a link preset"),
        ([{"clients": 2, "sample": 5}], r"'sample' is not a key of a scenario. Did you mean"),
        ([{"clients": 2, "size": 5}], r"'size' is not a key of a scenario. Known here are name, clients"),
        ([{"clients": 200_000}, {"clients": 200_000}], r"fleet.groups: 400,000 clients in all are more than"),
    ],
)
def test_groups_that_cannot_be_meant_are_refused(groups: Any, said: str) -> None:
    with pytest.raises(ScenarioError, match=said):
        load_scenario({"fleet": {"groups": groups}})


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"G": 3}, "--?.*says who is in which group|G: fleet says who is in which group"),
        ({"clients": 3}, "says who is in which group"),
        ({"tiers": "4/5"}, "has the sizes"),
        ({"weights": "samples"}, "has no samples to count by"),
        ({"S2": 3}, "S2 = 3 exceeds the 2 there are"),
        ({"tiers": "ring/star/ring"}, "has 3 tiers, and the fleet has 2"),
    ],
)
def test_a_list_beside_what_contradicts_it_is_refused(tmp_path: Path, options: Any, said: str) -> None:
    path = written(tmp_path, "client,group\na,x\nb,x\nc,y\n")
    with pytest.raises(ScenarioError, match=said):
        load_scenario(fleet=str(path), **options)


def test_weights_without_a_list_are_refused() -> None:
    with pytest.raises(ScenarioError, match="all count alike"):
        load_scenario(G=2, M=3, weights="samples")


def test_links_that_share_a_rate_are_not_one_clients(tmp_path: Path) -> None:
    path = written(tmp_path, "client,group,link\na,x,wifi\nb,x,\nc,y,\n")
    with pytest.raises(ScenarioError, match=r"the link wifi is shared per server.*Write --link-sharing per-client if"):
        load_scenario(fleet=str(path))
    each = load_scenario(fleet=str(path), link_sharing="per-client").members
    wifi = PRESETS["wifi"].link
    assert each is not None and each.links == (replace(wifi, sharing="per-client"),) != (wifi,)
    path = written(tmp_path, "client,group,link\na,x,5g\nb,x,\nc,y,\n")
    with pytest.raises(ScenarioError, match="has clients without a link"):
        load_scenario(fleet=str(path), client_link="wifi")
