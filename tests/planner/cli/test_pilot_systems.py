"""Systems beside the trees of a pilot: where one is a tree by another name, its race is the tree's."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("scipy")

from test_pilot_cli import QUICK, hook, run  # noqa: E402
from test_pilot_hga import Literal  # noqa: E402

from planner.data.pilot import Pilot, read_pilot  # noqa: E402
from planner.errors import ScenarioError  # noqa: E402
from planner.families.raced import read  # noqa: E402
from planner.harness.pilot import Fleet  # noqa: E402
from planner.io.json_documents import fitted  # noqa: E402
from validation.engine import generator  # noqa: E402

OWN = ";".join(("100",) * 3 + ("010",) * 3 + ("001",) * 3)  # each server its own three of nine clients: no overlap
OVERLAP = "110;100;110;010;011;010;001;011;001"
EVERYBODY = ("--systems", "trees,one-tier,hhfl,hsl,gossip", "--coverage", OVERLAP, "--edges", "72")
NINE = Fleet(9, 9, (1, 1), 2, "fixed")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("systems")
    hook(made)
    return made


@pytest.fixture(scope="module")
def raced(folder: Path) -> tuple[Pilot, str]:
    """One group round, everybody beside the trees; 72 edges, all that nine nodes can have."""
    done = run(folder / "hook.py", *QUICK, *EVERYBODY, "-o", "all.json")
    assert (done.returncode, done.stderr) == (0, "hfl-plan: wrote all.json\n")
    return read_pilot(folder / "all.json"), done.stdout


def same(one: Any, other: Any) -> None:
    """The same curves, at the same effective rates, to single precision."""
    assert one.rate * one.chain == pytest.approx(other.rate * other.chain, rel=1e-6)  # seven digits are kept
    assert one.loss == [pytest.approx(curve, rel=2e-5) for curve in other.loss]
    assert len(one.loss) == 2
    assert len(one.loss[0]) == 5


def named(pilot: Pilot) -> dict[str, Any]:
    return {one.id: one for one in (*pilot.topologies, *pilot.beside)}


def test_one_tier_of_groups_that_average_once_is_star_star(raced: tuple[Pilot, str]) -> None:
    by = named(raced[0])
    same(by["fedavg"], by["star-star"])
    assert (by["fedavg"].chain, by["sfl"].chain) == (2, 18)


def test_sequential_learning_is_one_chain_in_an_order_that_mixes_groups(folder: Path, raced: tuple[Pilot, str]) -> None:
    """The literal chain over all clients, in one order of each seed, the same in every round: as it is predicted."""
    pilot, made = raced[0], Literal(folder)
    one = named(pilot)["sfl"]
    assert one.loss != named(pilot)["ring-ring"].loss
    orders = []
    for seed, curve in zip(pilot.seeds.compared, one.loss, strict=True):
        order = torch.randperm(9, generator=generator(seed, 2, 0)).tolist()
        x = torch.cat([part.detach().flatten() for part in made.module.parameters()])
        losses = [made.loss(x)]
        for r in range(4):
            drawn = made.draws([seed], (r, 0), 2)[0]
            for client in order:
                for step in range(2):
                    x = x - one.rate * made.slope(x, drawn[client, step])
            losses.append(made.loss(x))
        assert curve == pytest.approx(losses, rel=1e-4)
        orders.append([client // 3 for client in order])
    assert orders[0] != orders[1]
    assert all(len(list(itertools.groupby(groups))) > 3 for groups in orders)  # no group stays together


def test_all_to_all_gossip_and_one_edge_round_average_everybody(raced: tuple[Pilot, str]) -> None:
    by = named(raced[0])
    same(by["el-local"], by["star-star"])  # each of nine sends to the eight others
    same(by["erdos-renyi"], by["star-star"])  # links with probability 72/72
    same(by["hhfl"], by["star-star"])  # the cloud ends every round of one edge round
    assert by["el-local"].at_nodes
    assert not by["hhfl"].at_nodes


def test_without_overlap_hhfl_is_star_star_with_group_rounds(folder: Path) -> None:
    asked = ("--systems", "trees,one-tier,hhfl", "--coverage", OWN, "-P", "2", "--topology", "star-star", "--json")
    by = named(fitted(Pilot, json.loads(run(folder / "hook.py", *QUICK, *asked).stdout)["pilot"]))
    same(by["hhfl"], by["star-star"])
    assert by["fedavg"].chain == by["star-star"].chain == 4
    assert by["fedavg"].loss != by["star-star"].loss  # four steps without a group's average between


def test_trees_are_raced_as_without_them(folder: Path, raced: tuple[Pilot, str]) -> None:
    alone = fitted(Pilot, json.loads(run(folder / "hook.py", *QUICK, "--json").stdout)["pilot"])
    assert alone.beside == ()
    for one, other in zip(alone.topologies, raced[0].topologies, strict=True):
        same(one, other)
    assert alone.verdict.best == raced[0].verdict.best
    for one, other in zip(alone.targets, raced[0].targets, strict=True):
        assert one.rounds == {name: pytest.approx(value, rel=1e-5) for name, value in other.rounds.items()}
        assert one.beside == {}
        assert other.beside.keys() == {one.id for one in raced[0].beside}


def test_the_answer_shows_them_after_the_trees_and_says_what_was_not_run(
    folder: Path, raced: tuple[Pilot, str]
) -> None:
    pilot, said = raced
    lines = [line.strip() for line in said.splitlines()]
    trees = [i for i, line in enumerate(lines) if line.startswith(("Star-", "Ring-")) and "  " in line]
    others = [i for i, line in enumerate(lines) if line.startswith("- ")]
    assert all(" ".join(one.title.split()[:2]).rstrip(",") in said for one in pilot.beside)
    assert len(trees) == 4
    assert len(others) == len(pilot.beside) == 6
    assert max(trees[:4]) < min(others)
    assert set(pilot.verdict.best) <= {one.id for one in pilot.topologies}
    assert "means over the nodes' own models" in said
    assert "more: --explain limits --force; runs are kept)" in " ".join(said.split())
    again = run(folder / "hook.py", *QUICK, *EVERYBODY, "-o", "all.json", "--force", "--explain", "limits")
    assert "Not run: HGA-FL, FedBuff and FedAsync (hga, with --slowdowns 1,1,2,5" in " ".join(again.stdout.split())


def test_what_leads_every_tree_is_named(folder: Path) -> None:
    """Of the trees only Star-Star races, which a chain over all clients leaves behind."""
    asked = ("--rounds", "4", "--rates", "4", "--seeds", "3", "--batch", "4", "--systems", "trees,one-tier")
    done = run(folder / "hook.py", *asked, "--topology", "star-star", "--json")
    pilot = fitted(Pilot, json.loads(done.stdout)["pilot"])
    assert (pilot.verdict.best, pilot.verdict.ahead) == (["star-star"], ("sfl",))


@pytest.mark.parametrize(
    ("systems", "coverage", "edges", "said"),
    [
        ("trees,hfl", None, None, "'hfl' is no system. Known are trees, one-tier, hhfl, hsl, gossip, hga"),
        ("one-tier", None, None, "Write --systems trees,one-tier."),
        ("trees,hga", None, None, "nothing says how slow the regions are."),
        ("trees,hhfl", None, None, "needs --coverage"),
        ("trees,hsl", None, None, "needs --edges"),
        ("trees,gossip", None, "many", "'many' is no count"),
        ("trees", None, "40", "--edges: is for --systems hsl or gossip"),
        ("trees", OWN, None, "--coverage: is for --systems hhfl"),
        ("trees,hhfl", "10;01", None, "has 2 clients, and 9 race"),
        ("trees,gossip", None, "8", "are not from 9 to 72"),
        ("trees,gossip", None, "73", "are not from 9 to 72"),
    ],
)
def test_what_cannot_race_is_refused(systems: str, coverage: str | None, edges: str | None, said: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        read(systems, edges, coverage=coverage).racers(NINE)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("coverage", "said"),
    [
        (";".join(["10"] * 5 + ["01"] * 4), "has 2 servers, and the clients that race are in 3 groups"),
        (
            OVERLAP.replace("110;100;110;010", "110;100;010;110"),
            "client 3, 'c3', is in group 1, and server 1, 's1', does",
        ),
        (";".join(OWN.split(";")[::-1]), "client 1, 'c1', is in group 1"),
    ],
)
def test_groups_that_are_not_the_servers_own_clients_are_refused(coverage: str, said: str) -> None:
    """Star-Star is then no HFL of this coverage, and HHFL was told to lead it all the same."""
    three = Fleet(9, 9, (1, 1), 2, "fixed", None, ((3,), (3, 3, 3)))
    assert read("trees,hhfl", coverage=OVERLAP).racers(three)
    with pytest.raises(ScenarioError) as refused:
        read("trees,hhfl", coverage=coverage).racers(three)
    assert said in str(refused.value)


def test_what_needs_everybody_is_refused_where_clients_are_drawn() -> None:
    some = Fleet(9, 6, (1, 1), 2, "fixed")
    with pytest.raises(ScenarioError, match="everybody takes part in it"):
        read("trees,hhfl", coverage=OWN).racers(some)
    assert [racer.options["S"] for racer in read("trees,one-tier").racers(some)] == [6, 6]
