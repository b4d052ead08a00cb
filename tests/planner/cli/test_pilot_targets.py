"""What a pilot is asked beyond what it can say: targets at the start and very far away, other steps, other orders."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import planner
from planner import ScenarioError
from planner.data.pilot import read_pilot
from planner.decide.explain import target_of
from planner.predict.question import Question, ask

PILOT = str(Path(__file__).parents[3] / "examples" / "digits_pilot.json")
FLEET = ("--G", "4", "--M", "4", "--pilot", PILOT)


@pytest.mark.parametrize("target", ["3", "100%"])
def test_a_target_that_the_start_meets_is_answered_without_an_internal_error(plan: Any, target: str) -> None:
    code, out, err = plan("recommend", *FLEET, "--target", target)
    assert code == 0 and "internal error" not in err
    start = read_pilot(Path(PILOT)).start
    assert out.startswith("The target is met before the first round, by ")
    assert f"by a training loss of {start:.4g}: there is nothing to compare. Give a harder one." in " ".join(
        out.split()
    )


def test_a_target_far_beyond_the_pilot_is_refused_with_the_way_out(plan: Any) -> None:
    code, _, err = plan("recommend", *FLEET, "--rounds", "100000")
    assert code != 0
    reached = read_pilot(Path(PILOT)).targets[-1].value
    assert f"Star-Star came to loss {reached:.3g} in its 8 rounds" in " ".join(err.split())
    assert f"nearer to {reached:.3g}" in " ".join(err.split()) and "or in its place --rounds 800 or fewer" in " ".join(
        err.split()
    )


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ((), "The target and model size are the pilot's: give --rounds and --model-size for your training."),
        (("--rounds", "100"), "The model size is the pilot's: give --model-size for your training."),
        (("--model-size", "10MB"), "The target is the pilot's: give --rounds for your training."),
        (("--target", "50%", "--model-size", "10MB"), ""),
    ],
    ids=str,
)
def test_what_is_the_pilots_and_may_be_another_is_said(plan: Any, given: tuple[str, ...], said: str) -> None:
    code, out, _ = plan("recommend", *FLEET, *given)
    found = " ".join(out.partition("Measured")[2].partition("Assumed")[0].split())
    assert code == 0
    assert found.startswith("Rounds are relative")
    assert found.partition(" seeds.")[2].strip() == said
    assert len(out.splitlines()) <= 25


def test_what_compares_many_steps_refuses_a_pilot_and_flip_takes_it(plan: Any, tmp_path: Path) -> None:
    """A range from the pilot's own number on was answered, the others by what was measured of that one."""
    tried = (["tune"], ["picture", "front", "-o", str(tmp_path / "front.svg")], ["recommend", "-P", "1:4"])
    for command in tried:
        code, _, err = plan(*command, *FLEET)
        assert code != 0 and "it measured one K and P" in err and not list(tmp_path.iterdir())
    code, out, err = plan("flip", *FLEET, "-p", "R")
    assert (code, err) == (0, "") and out


BUDGETS = (("--within", "10s"), ("--traffic", "50MB"), ("--within", "1h"), ("--within", "1ms"))


@pytest.mark.parametrize("budget", BUDGETS)
def test_a_budget_beside_a_pilot_has_the_rounds_to_ask_recommend_for(plan: Any, budget: tuple[str, str]) -> None:
    """`tune` sent to `recommend --pilot`, and `recommend` with a budget to `tune`."""
    code, _, err = plan("tune", *FLEET, *budget)
    said = re.search(r"(--rounds (\d+)` and then )?`hfl-plan recommend ... --rounds (\d+) --objective (\w+)`", err)
    if budget[1] == "1ms":
        assert code == 2 and said is None and "Allow more: a round of Star-Star takes" in err
        return
    assert code == 2 and said is not None
    _, longer, n, aim = said.groups()
    if longer is not None:  # 100 times its rounds are told
        assert 100 * (int(longer) - 1) < int(n) <= 100 * int(longer) and int(n) > 800
        return
    _, out, _ = plan("recommend", *FLEET, "--rounds", n, "--json", "--objective", aim)
    row = next(row for row in json.loads(out)["rows"] if row["id"] == "star-star")
    each = {"time": row["round_seconds"] / 10, "traffic": row["round_bytes"] / 50e6}[aim]
    assert int(n) * each <= 1 < (int(n) + 1) * each


def asked(**options: Any) -> Question:
    return ask(planner.load_scenario(**options))


def test_a_pilot_says_what_the_fleet_is_and_how_large_its_model() -> None:
    alone, told = asked(pilot=PILOT), asked(pilot=PILOT, G=4, M=4, P=1, K=2, model_size="9640B")
    assert alone.values == told.values
    assert alone.model_bytes == told.model_bytes == 4 * 2410  # parameters of the perceptron 64-32-10 in 32-bit floats
    assert alone.rounds() == told.rounds()
    known = planner.load_scenario(pilot=PILOT, M=4).known
    assert [known[name].origin for name in ("G", "M", "K", "model_size")] == ["derived", "given", "derived", "derived"]


def test_a_pilot_of_deeper_trees_is_of_such_a_fleet(tmp_path: Path) -> None:
    document = json.loads(Path(PILOT).read_text(encoding="utf-8"))
    document["fleet"] |= {"sizes": [2, 2, 4], "drawn": [2, 2, 4], "passes": [1, 3, 1]}
    path = tmp_path / "deep.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    known = planner.load_scenario(pilot=str(path)).known
    assert [known[name].value for name in ("n1", "n2", "n3", "P2", "P3")] == [2, 2, 4, 3, 1]


def test_a_target_may_be_the_loss_that_the_pilot_measured() -> None:
    question = asked(pilot=PILOT, target_loss=1.2)
    curve = read_pilot(Path(PILOT)).runner("star-star").envelope
    rounds = question.rounds()["star-star"]
    assert curve[int(rounds)] > 1.2 >= curve[int(rounds) + 1]
    assert question.rounds() == asked(pilot=PILOT, target=1.2).rounds()


def test_a_target_may_be_the_accuracy_that_a_pilot_by_accuracy_measured(tmp_path: Path) -> None:
    document = json.loads(Path(PILOT).read_text(encoding="utf-8"))
    document |= {"metric": "accuracy", "start": 0.1}
    for runner in document["topologies"]:
        runner["envelope"] = [0.1, 0.3, 0.5, 0.7, 0.8, 0.85, 0.9, 0.91, 0.92]
    path = tmp_path / "accuracy.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    question = asked(pilot=str(path), target_accuracy="85%")
    assert question.rounds()["star-star"] == pytest.approx(5)
    assert question.rounds() == asked(pilot=str(path), target_accuracy=0.85, metric="accuracy").rounds()
    for given, said in (
        ({"target_accuracy": "85%"}, "a test accuracy of 85%"),
        ({"target": 0.15}, "a test error of 0.15"),
    ):
        scenario = planner.load_scenario(pilot=str(path), metric="accuracy", **given)
        assert target_of(ask(scenario), scenario.known["target"]).defined_by == said
    with pytest.raises(ScenarioError, match="the metric is accuracy"):
        asked(pilot=str(path), target_loss=1.2)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"target_loss": 1.0}, "how far above the least a loss of 1 is"),
        ({"target_accuracy": "85%"}, "which training loss the accuracy is 85%"),
        ({"target_accuracy": "85%"}, "where the hook has test()"),
        ({"target_accuracy": "85%", "pilot": PILOT}, "Give --metric accuracy to `hfl-plan pilot`, or leave"),
        ({"target_loss": 1.0, "target": "1%"}, "Give one of the two"),
        ({"target_loss": 1.0, "metric": "gradient"}, "the metric is gradient"),
        ({"target_loss": 1.0, "metric": "accuracy", "pilot": PILOT}, "Give --metric loss, or leave "),
        ({"target": 0.15, "metric": "accuracy"}, "without a pilot the predicted training loss stands for accuracy"),
    ],
)
def test_a_target_that_nothing_gives_a_scale_for_is_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ScenarioError, match=re.escape(said)):
        asked(**{"G": 4, "M": 4, **options})


def test_a_target_hardly_beyond_a_pilot_is_not_said_to_be_extrapolated() -> None:
    """It was, 1-fold, "adding an error of about 0 %"."""
    last = json.loads(Path(PILOT).read_text())["targets"][-1]["value"]
    near, far = (planner.recommend(pilot=PILOT, target_loss=loss, details=False) for loss in (0.999 * last, 0.8 * last))
    said = [any("extrapolated" in one.text for one in answer.warnings) for answer in (near, far)]
    assert said == [False, True]
    assert near.recommend.scale is not None and far.recommend.scale is not None  # beside rounds that are marked ~
    assert near.recommend.scale.low < 0.95 < 1.05 < near.recommend.scale.high  # as of pilots that did get there
