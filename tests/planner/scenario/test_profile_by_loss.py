"""A profile gives predictions by loss constants of the mean loss, and those by gradient what theorems need."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import planner
from planner.errors import ScenarioError
from planner.scenario.resolve import load
from planner.scenario.values import Scenario

pytestmark = pytest.mark.usefixtures("unflipped")

PROFILE: dict[str, Any] = {
    "schema": "hfl-plan/profile/1", "made_from": "gradients", "unit": "gradients", "groups": 10, "clients": 100,
    "clients_per_group": {"mean": 10.0, "least": 10, "most": 10}, "labels": 10, "zeta2": {"value": 0.25},
    "delta2": {"value": 9.0}, "ratio": {"value": 0.0278},
    "constants": {
        "sigma": {"value": 1.5}, "L": {"value": 20.0}, "curvature": {"value": 7.0, "low": 7.0, "high": 7.5},
        "A": {"value": 1.2, "low": 1.2, "high": 2.3},
    },
}  # fmt: skip


def resolved(folder: Path, profile: dict[str, Any], **options: str) -> Scenario:
    """The scenario of a profile; options by key, with two underscores for a dot."""
    path = folder / "profile.json"
    path.write_text(json.dumps(profile), encoding="utf-8")
    told = {"problem.heterogeneity": str(path)} | {key.replace("__", "."): value for key, value in options.items()}
    return load(options={key: (key, value) for key, value in told.items()})


def numbers(scenario: Scenario) -> tuple[float, ...]:
    """L, A, sigma and the scatter."""
    return tuple(scenario.number(name) for name in ("L", "A", "sigma", "scatter"))


@pytest.mark.parametrize("options", [{}, {"plan__metric": "accuracy"}, {"plan__predictor": "spectrum"}])
def test_by_loss_curvature_is_that_of_the_mean_loss_and_mini_batches_scatter(tmp_path: Path, options: Any) -> None:
    assert numbers(resolved(tmp_path, PROFILE, **options)) == (7.0, 2.3, 1.5, 1.25)


@pytest.mark.parametrize(
    "options", [{"plan__metric": "gradient"}, {"plan__predictor": "typical"}, {"plan__bounds": "hflbounds.exact"}]
)
def test_by_gradient_it_is_the_largest_of_a_client_as_theorems_need(tmp_path: Path, options: Any) -> None:
    assert numbers(resolved(tmp_path, PROFILE, **options))[:3] == (20.0, 1.2, 1.5)


@pytest.mark.parametrize("power", ["fading", "decay"])
def test_how_deviations_and_losses_fall_is_measured_or_given_and_unknown_in_older_profiles_and_by_gradient(
    tmp_path: Path, power: str
) -> None:
    falls = PROFILE | {"constants": PROFILE["constants"] | {power: {"value": 0.7}}}
    measured = resolved(tmp_path, falls).known[power]
    assert (measured.value, measured.origin) == (0.7, "estimated")
    given = resolved(tmp_path, falls, **{f"problem__{power}": "0.2"}).known[power]
    assert (given.value, given.origin) == (0.2, "given")
    for scenario in (resolved(tmp_path, PROFILE), resolved(tmp_path, falls, plan__metric="gradient")):
        assert (scenario.known[power].value, scenario.known[power].origin) == (None, "default")


def test_what_is_given_and_profiles_without_that_curvature_are_as_they_say(tmp_path: Path) -> None:
    given = resolved(tmp_path, PROFILE, problem__smoothness="3", problem__curvature_scatter="0")
    assert numbers(given) == (3.0, 2.3, 1.5, 0.0)
    older = PROFILE | {"constants": {name: of for name, of in PROFILE["constants"].items() if name != "curvature"}}
    assert numbers(resolved(tmp_path, older)) == (20.0, 1.2, 1.5, 1.25)


def test_a_target_as_a_loss_is_one_above_the_least_of_losses_that_are_not_negative(tmp_path: Path) -> None:
    found = resolved(tmp_path, PROFILE, problem__target_loss="0.5")
    assert (found.known["target"].value, found.known["target"].origin) == (0.5, "given")
    no_floor = PROFILE["constants"] | {"A": {"value": 1.2}}
    with pytest.raises(ScenarioError, match="whose losses are not negative"):
        resolved(tmp_path, PROFILE | {"constants": no_floor}, problem__target_loss="0.5")


def test_what_a_profile_measured_is_not_asked_for_again_and_says_whose_it_is(tmp_path: Path) -> None:
    """L and A without an error of their own were drawn as assumptions, and the page asked for `estimate` after it."""
    path = tmp_path / "profile.json"
    near = {"groups": 4, "clients": 16, "clients_per_group": {"mean": 4.0, "least": 4, "most": 4}}
    constants = {
        "sigma": {"value": 0.5, "low": 0.48, "high": 0.52}, "L": {"value": 4.1}, "curvature": {"value": 1.5},
        "A": {"value": 1.5, "low": 1.5, "high": 2.3},
    }  # fmt: skip
    own = {"zeta2": {"value": 1.2}, "delta2": {"value": 0.3}, "ratio": {"value": 4.0}, "constants": constants}
    path.write_text(json.dumps(PROFILE | near | own))
    told: dict[str, Any] = {"heterogeneity": str(path), "client_link": "lan", "objective": "rounds"}
    answer = planner.recommend(**told)
    assert answer.recommend.uncertainty is not None
    drawn = {one.name: one for one in answer.recommend.uncertainty.inputs.drawn}
    assert drawn["L A"].kind == "measured"
    assert drawn["L A"].explains is not None and drawn["L A"].explains.value > 0.1  # it would be asked for
    assert not [one for one in answer.next if "estimate" in one.argv]
    assert "L of the mean loss = 1.5" in str(answer.explain())
    assert "largest L of a client = 4.1" in str(planner.recommend(**told, metric="gradient").explain())
    del told["heterogeneity"]
    assumed = planner.recommend(**told, G=4, M=4, heterogeneity="zeta=1.1,delta=0.55", sigma=0.5)
    assert "estimate" in next(one.argv for one in assumed.next if one.asks)
