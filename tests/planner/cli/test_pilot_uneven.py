"""``hfl-plan pilot`` on groups of unequal sizes: what it trains, what it keeps, and what `recommend` makes of it."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("scipy")

from plain_uneven import leaves, run  # noqa: E402

import planner  # noqa: E402
from planner.data.pilot import Pilot, read_pilot  # noqa: E402
from planner.io.json_documents import fitted  # noqa: E402

SAMPLES = [[5, 1], [2, 2, 7], [3]]  # of every client, group by group
RATES, ROUNDS, K, P, DIM = (0.02, 0.05), 2, 2, 2, 4
Weights = Literal["samples", "equal"]


def data() -> tuple[list[Any], list[Any], list[str]]:
    """One sample of each client, so often as it has samples: every mini-batch is its whole loss."""
    dice = np.random.default_rng(5)
    names = [f"g{g}" for g, group in enumerate(SAMPLES) for _ in group]
    x = [dice.normal(size=DIM) for _ in names]
    return x, [float(dice.normal()) for _ in names], names


def clients() -> list[tuple[str, Any, Any]]:
    x, y, names = data()
    rows = zip(names, x, y, leaves(SAMPLES), strict=True)
    made = [(name, np.tile(a, (n, 1)), np.full((n, 1), b)) for name, a, b, n in rows]
    return [made[i] for i in (2, 0, 3, 5, 1, 4)]  # groups first come as g1, g0, g2


def model() -> Any:
    made = torch.nn.Linear(DIM, 1, bias=False).double()
    with torch.no_grad():
        made.weight[:] = torch.arange(DIM, dtype=torch.float64) / DIM
    return made


@cache
def raced(**how: Any) -> Pilot:
    options = {"rounds": ROUNDS, "rates": RATES, "seeds": 1, "local_steps": K, "group_rounds": P, "batch": 3}
    answer = planner.pilot(model(), clients(), **{**options, **how})
    return fitted(Pilot, answer.to_json()["pilot"])


def by_hand(words: str, weights: Weights, rate: float) -> list[float]:
    """Losses after 0, 1 ... rounds of the tree as nested lists, one model at a time, by what clients count."""
    x, y, _ = data()
    order = [2, 3, 4, 0, 1, 5]  # the tree's: g1 comes first
    node: Any = [SAMPLES[1], SAMPLES[0], SAMPLES[2]]
    if weights == "equal":
        node = [[1] * len(group) for group in node]
    shares = np.array(leaves(node), dtype=float)

    def local(c: int, at: Any) -> Any:
        for _ in range(K):
            at = at - rate * 2 * x[order[c]] * (x[order[c]] @ at - y[order[c]])
        return at

    def loss(at: Any) -> float:
        each = np.array([(x[c] @ at - y[c]) ** 2 for c in order])
        return float(each @ shares / shares.sum())

    at = np.arange(DIM) / DIM
    found = [loss(at)]
    for _ in range(ROUNDS):
        at = run(node, words.split("-"), (1, P), at, local)
        found.append(loss(at))
    return found


@pytest.mark.parametrize("weights", ["samples", "equal"])
def test_a_race_on_unequal_groups_is_the_weighted_tree_run_by_hand(weights: Weights) -> None:
    pilot = raced(weights=weights)
    assert pilot.problem.clients == len(leaves(SAMPLES))
    assert pilot.fleet.children == [[3], [3, 2, 1]]
    assert pilot.fleet.samples == ([2, 2, 7, 5, 1, 3] if weights == "samples" else None)
    for one in pilot.topologies:
        assert one.rate is not None
        assert one.loss[0] == pytest.approx(by_hand(one.id, weights, one.rate), rel=1e-10)
        tried = {round(tried.rate, 9): tried.value for tried in one.tried if tried.rounds == 1}
        for rate in RATES:
            if rate in tried:
                assert tried[rate] == pytest.approx(by_hand(one.id, weights, rate)[1], rel=1e-10)


def test_weights_change_what_is_trained_and_equal_samples_do_not() -> None:
    assert by_hand("star-star", "samples", 0.05) != pytest.approx(by_hand("star-star", "equal", 0.05), rel=1e-3)
    same = [(f"g{i % 2}", x[:1], y[:1]) for i, (_, x, y) in enumerate(clients())]
    answer = planner.pilot(model(), same, rounds=1, rates=RATES, seeds=1, weights="samples")
    assert answer.to_json()["pilot"]["fleet"]["children"] is None


def test_draws_of_unequal_groups_take_all_of_a_smaller_one() -> None:
    pilot = raced(drawn="2/2", rounds=1, systems="trees,one-tier", topologies=("star-star",))
    assert (pilot.fleet.drawn, pilot.fleet.sizes) == ([2, 2], [3, 3])
    (fedavg,) = [one for one in pilot.beside if one.id == "fedavg"]
    assert fedavg.options["S"] == 3  # two thirds of two, two and one client


@pytest.mark.usefixtures("unflipped")
def test_recommend_takes_the_fleet_of_an_unequal_pilot(tmp_path: Path) -> None:
    path = tmp_path / "pilot.json"
    for weights in ("samples", "equal"):
        path.write_text(raced(weights=weights).text())
        scenario = planner.load_scenario(pilot=str(path))
        assert scenario.members is not None
        assert scenario.members.children[1].sizes.tolist() == [3, 2, 1]
        shares = scenario.members.children[1].shares
        assert (scenario.known["weights"].value, scenario.known["weights"].origin) == (weights, "derived")
        assert shares[2] == pytest.approx(7 / 11 if weights == "samples" else 1 / 3)
        assert [scenario.number(name) for name in ("G", "M", "K", "P")] == [3, 2, K, P]
        answer = planner.recommend(pilot=str(path), uplink="20Mbit/s", settings={"plan.draws": 0})
        pilot = read_pilot(path)
        rounds = pilot.targets[-1].rounds
        for row in answer.ranking:
            found = rounds[row.id]
            assert found is None or row.rounds == pytest.approx(np.ceil(found - 1e-9), abs=1)


def fleet(tmp_path: Path, *sizes: int, samples: int = 1) -> str:
    path = tmp_path / "fleet.csv"
    rows = [f"c{g}-{i},g{g},{samples + g}" for g, size in enumerate(sizes) for i in range(size)]
    path.write_text("\n".join(["client,group,samples", *rows]) + "\n")
    return str(path)


@pytest.mark.usefixtures("unflipped")
def test_a_pilot_of_another_list_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "pilot.json"
    path.write_text(raced(weights="equal").text())
    how: dict[str, Any] = {"pilot": str(path), "uplink": "20Mbit/s", "settings": {"plan.draws": 0}}
    with pytest.raises(planner.ScenarioError, match="nodes of tier 2 have other sizes"):
        planner.recommend(fleet=fleet(tmp_path, 2, 3, 1), **how)
    with pytest.raises(planner.ScenarioError, match=r"count otherwise .*Give --weights equal"):
        planner.recommend(fleet=fleet(tmp_path, 3, 2, 1), **how)
    with pytest.raises(planner.ScenarioError, match=r"the pilot has nodes of unequal sizes .*Leave the counts"):
        planner.recommend(G=3, M=2, **how)
    with pytest.raises(planner.ScenarioError, match="draws 3/3 children of a node, and here 2/3 are drawn"):
        planner.recommend(fleet=fleet(tmp_path, 3, 2, 1), weights="equal", S1=2, **how)
    assert planner.recommend(fleet=fleet(tmp_path, 3, 2, 1), weights="equal", **how).ranking
    document = json.loads(path.read_text())
    document["fleet"]["children"] = [[2], [3, 2, 1]]
    path.write_text(json.dumps(document))
    with pytest.raises(planner.ScenarioError, match=r"children: 3 sizes for 2 nodes\. Write a pilot"):
        planner.recommend(**how)


@pytest.mark.usefixtures("unflipped")
@pytest.mark.parametrize("pilot", [None, "examples/digits_pilot.json"])
def test_a_list_with_a_slow_group_times_rounds_with_a_pilot_as_without(tmp_path: Path, pilot: str | None) -> None:
    """It was refused for "unequal sizes", which its groups have not. Oracle: transfers and steps of the slowest."""
    path, K = tmp_path / "fleet.csv", 2
    rows = [f"c{g}{c},g{g},{0.1 if g else 2}s" for g in range(4) for c in range(4)]
    path.write_text("\n".join(["client,group,step_time", *rows]) + "\n")
    told = {"fleet": str(path), "local_steps": K, "objective": "time", "rounds": 8, "model_size": "10MB"}
    answer = planner.recommend(pilot=pilot, uplink="20Mbit/s", **told, settings={"plan.draws": 0})
    alike = planner.recommend(
        G=4, M=4, uplink="20Mbit/s", **{k: v for k, v in told.items() if k != "fleet"}, settings={"plan.draws": 0}
    )
    own, usual = answer.row("star-star").round_seconds, alike.row("star-star").round_seconds
    assert own - usual == pytest.approx(K * (2 - 0.1))
    assert answer.row("ring-ring").round_seconds - alike.row("ring-ring").round_seconds == pytest.approx(4 * K * 1.9)


def test_two_clocks_of_regions_are_refused(tmp_path: Path) -> None:
    document = json.loads(Path("examples/digits_pilot.json").read_text())
    document["fleet"]["slowdowns"] = [1, 2, 2, 4]
    path, listed = tmp_path / "pilot.json", tmp_path / "fleet.csv"
    path.write_text(json.dumps(document))
    rows = [f"c{g}{c},g{g},{0.1 if g else 2}s" for g in range(4) for c in range(4)]
    listed.write_text("\n".join(["client,group,step_time", *rows]) + "\n")
    with pytest.raises(planner.ScenarioError, match="its regions differ in speed, and so do clients of the list"):
        planner.recommend(pilot=str(path), fleet=str(listed), uplink="20Mbit/s")


def test_systems_that_count_clients_alike_do_not_race_by_samples() -> None:
    with pytest.raises(planner.ScenarioError, match="--weights samples: gossip counts clients alike"):
        raced(weights="samples", systems="trees,gossip", edges=12)
    with pytest.raises(planner.ScenarioError, match=r"--weights samples: one-tier .* or --drawn out"):
        raced(weights="samples", systems="trees,one-tier", drawn="2/2")
    with pytest.raises(planner.ScenarioError, match="--weights: 'rows' is not one of equal, samples"):
        raced(weights="rows")
