"""A pilot on groups within groups, and what `recommend` makes of it."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("scipy")

from test_pilot_cli import HOOK, QUICK, call, hook, run

from hflbounds.topology import all_topologies
from planner.data.pilot import Pilot, read_pilot
from planner.io.json_documents import fitted

NESTED = HOOK.replace('(f"g{c // 3}", *', '((f"n{c // 4}", f"g{c // 2}"), *').replace("range(9)", "range(8)")


@pytest.fixture(scope="module")
def raced(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("pilot")
    done = run(hook(folder, NESTED), *QUICK, "-P", "1/2", "--output", "pilot.json")
    assert done.returncode == 0, done.stderr
    return folder / "pilot.json", done.stdout


def test_all_eight_race_and_the_next_command_runs_as_it_stands(raced: tuple[Path, str]) -> None:
    pilot = read_pilot(raced[0])
    assert [one.id for one in pilot.topologies] == list(all_topologies(3))
    assert (pilot.fleet.sizes, pilot.fleet.passes) == ([2, 2, 2], [1, 1, 2])
    assert all(one.final is not None and len(one.loss) == 2 for one in pilot.topologies)
    step = " ".join(raced[1].partition("\nNext")[2].split())
    assert "--tiers 2/2/2" in step
    words = shlex.split(step.replace("--pilot pilot.json", f"--pilot {raced[0]}"))
    done = call(*words[2:], command=words[1])
    assert done.returncode == 0, done.stderr
    assert "Rounds are relative to Star-Star-Star's" in " ".join(done.stdout.split())


def test_one_region_races_as_two_tiers_do(tmp_path: Path) -> None:
    """Mini-batches are drawn by seed, time and client alone; a ring and a star of one are one algorithm."""
    two, three = (fitted(Pilot, json.loads(run(hook(tmp_path, text), *QUICK, "--json").stdout)["pilot"]) for text in (
        HOOK, HOOK.replace('f"g{c // 3}"', '("n", f"g{c // 3}")')))  # fmt: skip
    assert [(one.id, one.alike) for one in three.topologies] == [
        (f"star-{t.id}", [f"ring-{t.id}"]) for t in two.topologies
    ]
    for one, other in zip(two.topologies, three.topologies, strict=True):
        assert one.rate == other.rate
        assert [pytest.approx(curve, rel=1e-6) for curve in one.loss] == other.loss


def answer(pilot: Path, *words: str) -> dict[str, Any]:
    done = call("--pilot", str(pilot), *words, "--json", command="recommend")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_deviations_are_no_assumption_of_what_was_measured(raced: tuple[Path, str]) -> None:
    found = answer(raced[0])
    assert {one["id"] for one in found["rows"]} >= set(all_topologies(3))
    assert not [one["key"] for one in found["assumptions"] if one["key"].startswith("delta")]
    assert not [one["text"] for one in found["warnings"] if "on record" in one["text"]]
    assert found["scenario"]["P3"]["value"] == 2


@pytest.mark.parametrize(
    ("words", "fact", "way"),
    [
        (("--tiers", "2/2/3"), "it has n3 = 2, and this fleet has 3", "Leave the tiers out to take the pilot's fleet"),
        (("--tiers", "2/2/2", "-K", "3"), "it has K = 2, and this fleet has 3", "Give --K 2"),
        (("-G", "2", "-M", "4"), "is about two tiers, and the pilot has 3", "Leave it out"),
        (("--tiers", "ring:2/star:4"), "it is of 3 tiers, and this fleet has 2", "Give the pilot of this fleet"),
    ],
)
def test_other_fleets_are_refused_with_a_way_that_exists(
    raced: tuple[Path, str], words: tuple[str, ...], fact: str, way: str
) -> None:
    done = call("--pilot", str(raced[0]), *words, command="recommend")
    assert (done.returncode, done.stdout) == (2, "") and fact in done.stderr and way in done.stderr
