"""Hellinger and Jensen-Shannon skew, against scipy and the definitions; and tables as flwr-datasets makes them."""

from __future__ import annotations

import importlib
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import planner
from planner.data.label_counts import read_counts
from planner.data.skew import skews

distance = pytest.importorskip("scipy.spatial.distance")

NESTED = (
    "region,edge,client,a,b,c\nn,1,c1,9,1,0\nn,1,c2,8,0,2\nn,2,c3,1,9,4\ns,1,c4,3,7,1\ns,1,c5,0,0,6\ns,1,c6,5,5,5\n"
)
FLWR = "Partition ID,0,1,2\n0,10,0,3\n1,2,9,1\n2,0,4,8\n3,5,5,5\n"


def hellinger(p: Any, q: Any) -> float:
    """One less the Bhattacharyya coefficient, under the root: not the sum of squares of the code."""
    return math.sqrt(max(1 - sum(math.sqrt(a * b) for a, b in zip(p, q, strict=True)), 0.0))


def shannon(p: Any, q: Any) -> float:
    return float(distance.jensenshannon(p, q, base=2))


@pytest.mark.parametrize("weighting", ["groups", "clients", "samples"])
def test_skew_is_the_mean_distance_from_the_parent(weighting: Any, tmp_path: Path) -> None:
    file = tmp_path / "counts.csv"
    file.write_text(NESTED)
    counts = {line.split(",")[2]: np.array(line.split(",")[3:], float) for line in NESTED.splitlines()[1:]}
    tree = {"n": {"1": ["c1", "c2"], "2": ["c3"]}, "s": {"1": ["c4", "c5", "c6"]}}

    def mass(node: Any) -> float:
        if isinstance(node, str):
            return float(counts[node].sum()) if weighting == "samples" else 1.0
        below = sum(map(mass, node.values() if isinstance(node, dict) else node))
        return 1.0 if weighting == "groups" else below

    def shares(node: Any) -> Any:
        if isinstance(node, str):
            return counts[node] / counts[node].sum()
        children = list(node.values()) if isinstance(node, dict) else node
        whole = sum(map(mass, children))
        return sum(mass(child) / whole * shares(child) for child in children)

    def tier(node: Any, depth: int, weight: float = 1.0) -> Any:
        """Weight and label shares of every node of a tier, with those of its parent."""
        children = list(node.values()) if isinstance(node, dict) else node
        whole = sum(map(mass, children))
        for child in children:
            share = weight * mass(child) / whole
            if depth:
                yield from tier(child, depth - 1, share)
            else:
                yield share, shares(child), shares(node)

    found = skews(read_counts(file), weighting)
    assert len(found) == 3
    for depth, skew in enumerate(found):
        pairs = list(tier(tree, depth))
        assert sum(weight for weight, _, _ in pairs) == pytest.approx(1)
        for name, measure in (
            ("hellinger", hellinger),
            ("jensen_shannon", lambda p, q: distance.jensenshannon(p, q, 2)),
        ):
            each = [(weight, measure(p, q)) for weight, p, q in pairs]
            # A root of a difference that cancels keeps half of the digits.
            assert getattr(skew, name) == pytest.approx(sum(w * d for w, d in each), abs=1e-7)
            assert getattr(skew, f"{name}_most") == pytest.approx(max(d for _, d in each), abs=1e-7)


def test_equal_shares_have_none_and_disjoint_ones_have_the_most(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("client,group,a,b\nc1,x,1,3\nc2,x,2,6\nc3,y,4,12\nc4,y,5,15\n")
    for one in skews(read_counts(tmp_path / "a.csv"), "groups"):
        assert (one.hellinger, one.jensen_shannon) == pytest.approx((0, 0), abs=1e-7)
    (tmp_path / "b.csv").write_text("client,group," + ",".join(f"l{i}" for i in range(200)) + "\n" + "".join(
        f"c{i},g{i}," + ",".join("7" if j == i else "0" for j in range(200)) + "\n" for i in range(200)
    ))  # fmt: skip
    top, low = skews(read_counts(tmp_path / "b.csv"), "groups")
    assert low.hellinger == low.jensen_shannon == 0
    assert 0.95 < top.hellinger < 1
    assert 0.95 < top.jensen_shannon < 1


def test_the_answer_says_it_beside_the_deviations(tmp_path: Path) -> None:
    (tmp_path / "counts.csv").write_text(NESTED)
    found = planner.measure(tmp_path / "counts.csv")
    direct = skews(read_counts(tmp_path / "counts.csv"), "clients")  # as measured where groups are unequal
    assert [(row.hellinger, row.jensen_shannon) for row in found.rows] == [
        (one.hellinger, one.jensen_shannon) for one in direct
    ]
    assert "Skew     Hellinger " in str(found)
    assert f"at most {direct[0].hellinger_most:.4f}" in found.explain("skew")


def test_a_table_of_flwr_datasets_is_read_as_it_comes(tmp_path: Path) -> None:
    file, same = tmp_path / "flwr.csv", tmp_path / "same.csv"
    file.write_text(FLWR)
    lines = FLWR.splitlines()[1:]
    same.write_text("client,group,0,1,2\n" + "".join(f"{line.replace(',', ',all,', 1)}\n" for line in lines))
    found = planner.measure(file)
    assert found.rows == planner.measure(same).rows
    assert found.verdict.text == "Clients differ; all are in one group."
    assert found.warnings[0].text.startswith("No groups: all 4 partitions are taken for one.")
    grouped = planner.group(file, groups=2, settings={"plan.draws": 0})
    assert set(grouped.group["assignment"]) == {"0", "1", "2", "3"}
    searched = planner.recommend(data=file, clients=4, settings={"plan.draws": 0})
    assert searched.scenario["G"].value in (1, 2, 4)


@pytest.mark.frames
def test_the_frame_of_flwr_datasets_is_read_as_it_comes(tmp_path: Path) -> None:
    pd = importlib.import_module("pandas")
    # as flwr_datasets.metrics.compute_counts ends: a mapping of partition ids to counts of integer labels
    counts = {i: pd.Series(row, index=[0, 1, 2]) for i, row in enumerate([(10, 0, 3), (2, 9, 1), (0, 4, 8), (5, 5, 5)])}
    frame = pd.DataFrame.from_dict(counts, orient="index")
    frame.index.name = "Partition ID"
    (tmp_path / "flwr.csv").write_text(FLWR)
    assert planner.measure(frame).rows == planner.measure(tmp_path / "flwr.csv").rows
    frame.columns = ["cat", "dog", "cow"]  # with verbose names
    assert planner.measure(frame).rows == planner.measure(tmp_path / "flwr.csv").rows


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Partition ID\n0\n", "no column of label counts"),
        ("Partition ID,0,1\n0,1,2\n0,2,2\n", "client '0' is on line 2 already"),
        ("Partition ID,0,1\n0,1,2\n1,0.5,2\n", ":3:2: '0.5' in column '0' is no count"),
        ("id,0,1\n0,1,2\n", "there is no column 'client'"),
    ],
)
def test_tables_of_partitions_are_refused_at_the_place(text: str, wanted: str, tmp_path: Path) -> None:
    (tmp_path / "counts.csv").write_text(text)
    with pytest.raises(planner.ScenarioError, match=wanted):
        planner.measure(tmp_path / "counts.csv")
