"""Label counts of unequal groups: the fleet, its weights and its deviations come from the table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

import planner
from planner.data.heterogeneity import one_label

# What would change an answer is looked at in no test here.
pytestmark = pytest.mark.usefixtures("unflipped", "few_draws")

ROWS = [  # client, group, counts; so many samples that counting leaves no noise
    ("z", "south", 8, 1, 1),
    ("a", "north", 1, 2, 3),
    ("b", "south", 2, 2, 2),
    ("c", "south", 1, 0, 40),
    ("d", "north", 5, 5, 0),
    ("e", "west", 0, 3, 9),
]
MILLION = 1_000_000


def table(folder: Path, rows: list[Any] = ROWS, header: str = "client,group,x,y,z") -> str:
    path = folder / "counts.csv"
    lines = [",".join([*map(str, row[:-3]), *(str(n * MILLION) for n in row[-3:])]) for row in rows]
    path.write_text("\n".join([header, *lines]) + "\n")
    return str(path)


def by_hand(weight: dict[str, float]) -> tuple[float, float]:
    """Deviations ``(zeta, delta)`` of label shares, client by client."""
    shares = {c: np.array(n) / sum(n) for c, _, *n in ROWS}
    group_of = {c: g for c, g, *_ in ROWS}

    def mean(some: list[str]) -> Any:
        return sum(weight[c] * shares[c] for c in some) / sum(weight[c] for c in some)

    whole, total = mean(list(shares)), sum(weight.values())
    zeta2 = delta2 = 0.0
    for c in shares:
        own = mean([d for d in shares if group_of[d] == group_of[c]])
        zeta2 += weight[c] / total * float(((shares[c] - own) ** 2).sum())
        delta2 += weight[c] / total * float(((own - whole) ** 2).sum())
    return float(np.sqrt(zeta2)), float(np.sqrt(delta2))


WEIGHTS: dict[str, dict[str, float]] = {
    "equal": {c: 1.0 for c, *_ in ROWS},
    "samples": {c: float(sum(n)) for c, _, *n in ROWS},
}


@pytest.mark.parametrize("weights", [None, "equal", "samples"])
def test_sizes_weights_and_deviations_are_those_of_the_table(tmp_path: Path, weights: str | None) -> None:
    scenario = planner.load_scenario(data=table(tmp_path), **({"weights": weights} if weights else {}))
    members = scenario.members
    assert members is not None
    assert members.children[1].sizes.tolist() == [3, 2, 1]  # south comes first in the file
    mass = WEIGHTS[weights or "equal"]
    expected = [mass[c] / sum(mass[d] for d, h, *_ in ROWS if h == g) for g, cs in GROUPS.items() for c in cs]
    assert members.children[1].shares == pytest.approx(expected)
    scale = one_label(scenario.number("sigma"), 3)
    assert (scenario.number("zeta"), scenario.number("delta")) == pytest.approx(
        [scale * one for one in by_hand(mass)], rel=1e-4
    )
    assert scenario.known["weights"].origin == ("given" if weights else "default")


GROUPS = {"south": ["z", "b", "c"], "north": ["a", "d"], "west": ["e"]}


@pytest.mark.usefixtures("unrated")
def test_the_answer_is_that_of_the_same_list_with_these_deviations(tmp_path: Path) -> None:
    how: dict[str, Any] = {"objective": "time", "uplink": "20Mbit/s", "link_sharing": "per-client"}
    fleet = tmp_path / "fleet.csv"
    fleet.write_text("client,group,samples\n" + "".join(f"{c},{g},{sum(n)}\n" for c, g, *n in ROWS))
    for weights in ("equal", "samples"):
        counted = planner.recommend(data=table(tmp_path), weights=weights, details=False, **how)
        numbers = {name: counted.scenario[name].value for name in ("zeta", "delta")}
        said = ",".join(f"{name}={value}" for name, value in numbers.items())
        listed = planner.recommend(fleet=str(fleet), heterogeneity=said, weights=weights, details=False, **how)
        for a, b in zip(counted.ranking, listed.ranking, strict=True):
            assert (a.id, a.rounds) == (b.id, b.rounds)
            assert a.round_seconds == pytest.approx(b.round_seconds, rel=1e-12)


@pytest.mark.usefixtures("unflipped")
def test_what_was_not_asked_is_said_to_be_assumed(tmp_path: Path) -> None:
    answer = planner.recommend(data=table(tmp_path), uplink="20Mbit/s")
    assert (answer.assumptions[0].key, answer.assumptions[0].value) == ("weights", "equal")
    asked = planner.recommend(data=table(tmp_path), uplink="20Mbit/s", weights="samples")
    assert "weights" not in [one.key for one in asked.assumptions]


@pytest.mark.parametrize(("weighting", "weights"), [("clients", "equal"), ("samples", "samples")])
def test_measure_says_by_which_weights_and_recommend_takes_the_same(
    tmp_path: Path, weighting: Literal["clients", "samples"], weights: str
) -> None:
    path = table(tmp_path)
    answer = planner.measure(path, weighting=weighting)
    assert [float(row.squared) for row in answer.rows] == pytest.approx(
        [one**2 for one in reversed(by_hand(WEIGHTS[weights]))], rel=1e-3
    )
    assert f"each of the {weighting} counts the same" in " ".join(str(answer).split())
    argv = answer.next[0].argv
    assert argv[:4] == ("hfl-plan", "recommend", "--data", path)
    assert argv[4:] == (("--weights", "samples") if weights == "samples" else ())


def test_equal_groups_and_given_numbers_stay_as_they_are(tmp_path: Path) -> None:
    alike = [("a", "n", 1, 2, 3), ("b", "n", 3, 2, 1), ("c", "s", 9, 0, 1), ("d", "s", 1, 1, 1)]
    plain = planner.load_scenario(data=table(tmp_path, alike))
    assert plain.members is None
    assert (plain.number("G"), plain.number("M")) == (2, 2)
    unlike = planner.load_scenario(data=table(tmp_path, alike), weights="samples")
    assert unlike.members is not None
    assert unlike.members.children[0].shares == pytest.approx([12 / 25, 13 / 25])
    told = planner.load_scenario(data=table(tmp_path), G=3, M=2)
    assert told.members is None
    assert any("Groups have 1 to 3 clients" in one for one in told.warnings)
    with pytest.raises(planner.ScenarioError, match=r"weights: .*not listed.*--data counts\.csv, without numbers"):
        planner.load_scenario(data=table(tmp_path), G=3, M=2, weights="samples")
    with pytest.raises(planner.ScenarioError, match=r"weights: .*Give --fleet"):
        planner.load_scenario(G=3, M=2, weights="samples")


def test_nested_groups_are_listed_tier_by_tier(tmp_path: Path) -> None:
    rows = [("n", "e1", "a", 1, 2, 3), ("n", "e2", "b", 4, 1, 1), ("n", "e2", "c", 1, 1, 9), ("s", "e3", "d", 5, 5, 1)]
    path = table(tmp_path, rows, "region,edge,client,x,y,z")
    scenario = planner.load_scenario(data=path)
    assert scenario.members is not None
    assert [tier.sizes.tolist() for tier in scenario.members.children] == [[2], [2, 1], [1, 2, 1]]
    assert scenario.listed is not None
    assert scenario.listed.groups == ("n/e1", "n/e2", "s/e3")
    assert scenario.number("delta1") > 0
    slashed = [("n/w", *row[1:]) if row[0] == "n" else row for row in rows]
    with pytest.raises(planner.ScenarioError, match=r"counts\.csv: the group 'n/w/e1' has a slash .*Rename it"):
        planner.load_scenario(data=table(tmp_path, slashed, "region,edge,client,x,y,z"))


def test_a_list_beside_label_counts_weighs_both_alike(tmp_path: Path) -> None:
    fleet = tmp_path / "fleet.csv"
    fleet.write_text("client,group,samples\n" + "".join(f"{c},{g},{sum(n)}\n" for c, g, *n in ROWS))
    scenario = planner.load_scenario(fleet=str(fleet), data=table(tmp_path))
    scale = one_label(scenario.number("sigma"), 3)
    assert scenario.number("delta") == pytest.approx(scale * by_hand(WEIGHTS["samples"])[1], rel=1e-4)
    assert not any("heterogeneity has" in one for one in scenario.warnings)


def test_what_unequal_groups_do_to_rings_is_on_the_page(tmp_path: Path) -> None:
    """A list has it counted and says so first; a profile has groups of one size, where none stalls, and says that."""
    rows = [(f"c{g}{i}", f"g{g}", 9, g, 1) for g, size in enumerate((14, 6, 3, 9), 1) for i in range(size)]
    path = table(tmp_path, rows)
    listed = planner.recommend(data=path, settings={"plan.draws": 0})
    assert "Ring-Star: a ring counts its children alike, so some loss stays; rounds count that." in " ".join(
        str(listed).split()
    )
    planner.measure(path, output=str(tmp_path / "profile.json"))
    mean = planner.recommend(heterogeneity=str(tmp_path / "profile.json"), settings={"plan.draws": 0})
    said = "Groups have 3 to 14 clients, and are taken as 4 of 8: as they are, rings may stall."
    assert said in " ".join(str(mean).split())


@pytest.mark.usefixtures("settings_alone")
def test_advice_that_was_taken_is_not_given_and_the_table_has_its_name(plan, tmp_path) -> None:
    """Groups of 3 and 4: where clients count equally, a ring of groups still lowers another mean."""
    file = tmp_path / "counts.csv"
    labels = ((90, 10), (10, 70), (30, 30), (5, 80), (60, 10), (20, 20), (30, 5))
    rows = (f"c{i},{'g' if i < 3 else 'h'},{a},{b}\n" for i, (a, b) in enumerate(labels))
    file.write_text(f"client,group,a,b\n{''.join(rows)}")
    for weights, mean, advised in (("equal", "clients", False), ("samples", "samples", True)):
        words = ("recommend", "--data", str(file), "--weights", weights, "--set", "plan.draws=0", "--json")
        found = json.loads(plan(*words)[1])
        [said] = [one["text"] for one in found["warnings"] if "a ring counts its children alike" in one["text"]]
        assert f"the mean over {mean} of {file} to the end" in said
        steps = [word for step in found["next"] for word in step["argv"]]
        assert ("--weights equal" in said) == advised
        assert "--weights" not in steps or advised
