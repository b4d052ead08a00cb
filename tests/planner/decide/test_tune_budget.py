"""Budgets of energy, carbon and money in `hfl-plan tune`: read, kept, and weighed against every choice there is."""

from __future__ import annotations

import json
import math
import random
from types import SimpleNamespace
from typing import Any

import pytest
from test_cli import run

import planner
from planner.cost.round import RoundCost
from planner.decide.tuning import (
    Budget,
    Choice,
    budget_of,
    choices,
    front,
    recommended,
    weighed,
    with_one_target,
)
from planner.predict.question import ask

pytestmark = pytest.mark.usefixtures("few_draws")

SETTINGS = {"footprint.training_power": "5W", "footprint.idle_power": "1W", "footprint.carbon": "400g/kWh"}


def found(**settings: Any) -> list[Choice]:
    scenario = planner.load_scenario(G=4, M=5, heterogeneity="inter", settings={**settings, "plan.draws": 0})
    question = with_one_target(ask(scenario))
    return choices(question, (1, 2, 4), (1, 4, 16, 64), question.topologies)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("2h", Budget({"time": 7200})),
        ("90 min", Budget({"time": 5400})),
        ("50GB", Budget({"traffic": 5e10})),
        ("1GiB", Budget({"traffic": 2**30})),
        ("20kWh", Budget({"energy": 7.2e7})),
        ("5kgCO2e", Budget({"carbon": 5})),
        ("250 gCO2e", Budget({"carbon": 0.25})),
        ("1,200.50EUR", Budget({"money": 1200.5}, "EUR")),
    ],
)
def test_the_unit_says_of_what_a_budget_is(text: str, wanted: Budget) -> None:
    assert budget_of([text]) == wanted


@pytest.mark.parametrize(
    ("texts", "fact"),
    [
        (["5"], "no unit of a budget"),
        (["5 parsecs"], "no unit of a budget"),
        (["0USD"], "leaves nothing"),
        (["-3USD"], "leaves nothing"),
        (["1..2USD"], "no amount of money"),
        (["nanUSD"], "no unit of a budget"),
        (["2h", "3h"], "a second limit"),
        (["10Mbit/s"], "no unit of a budget"),
        (["x" * 2000], "no unit of a budget"),
    ],
)
def test_other_budgets_are_refused(texts: list[str], fact: str) -> None:
    with pytest.raises(planner.PlannerError, match=fact):
        budget_of(texts)


def test_amounts_are_rounds_times_those_of_a_round() -> None:
    scenario = planner.load_scenario(G=4, M=5, heterogeneity="inter", settings={**SETTINGS, "plan.draws": 0})
    question = ask(scenario)
    for choice in found(**SETTINGS):
        at = question.varied(values={**question.values, "P": choice.P, "K": choice.K})
        footprint = at.of_a_round(choice.topology).footprint
        assert choice.amount("energy") == pytest.approx(choice.rounds * footprint.energy.value, rel=1e-12)
        assert choice.amount("carbon") == pytest.approx(choice.amount("energy") / 3.6e6 * 0.4, rel=1e-12)
        assert choice.amount("money") == math.inf


def test_the_front_is_what_nothing_beats() -> None:
    dice = random.Random(4)
    every = [
        Choice("star-star", 1, k, 1, RoundCost(*(float(dice.randint(1, 6)) for _ in range(2)), (), 0.0, 0, energy))
        for k in range(1, 80)
        for energy in [SimpleNamespace(energy=SimpleNamespace(value=dice.randint(1, 6)))]
    ]
    for names in (("time", "traffic"), ("time", "traffic", "energy")):
        kept = front(every, names)
        for choice in every:
            own = [choice.amount(name) for name in names]
            others = ([one.amount(name) for name in names] for one in every)
            beaten = any(all(a <= b for a, b in zip(other, own, strict=True)) and other != own for other in others)
            assert (choice in kept) == (not beaten)
        assert [choice.cost.seconds for choice in kept] == sorted(choice.cost.seconds for choice in kept)


@pytest.mark.parametrize("aim", ["time", "traffic", "energy", "carbon"])
def test_the_least_within_a_budget_is_that_of_all_choices(aim: Any) -> None:
    every = found(**SETTINGS)
    middle = sorted(choice.amount("energy") for choice in every)[len(every) // 4]
    budget = Budget({"energy": middle})
    best = front(every, weighed(aim, budget))
    chosen = recommended(best, aim, budget, 0.0)
    within = [choice for choice in every if choice.amount("energy") <= middle]
    assert 0 < len(within) < len(every)
    assert chosen.amount(aim) == min(choice.amount(aim) for choice in within)
    least = min(choice.amount("energy") for choice in every)
    with pytest.raises(planner.NoAnswerError, match=r"kWh, 2x the budget"):
        recommended(best, aim, Budget({"energy": least / 2}), 0.0)


def test_energy_that_links_alone_take_is_weighed_with_the_warning_of_recommend() -> None:
    asked = planner.load_scenario(G=3, M=3, objective="energy")
    ranked = planner.recommend(asked, details=False)
    tuned = planner.tune(G=3, M=3, objective="energy", local_steps="5,10", group_rounds="1", topology=ranked.rows[0].id)
    now = next(row for row in tuned.rows if row.given)
    assert now.energy_joules == pytest.approx(float(ranked.rows[0].energy_joules))  # the same K and P
    left_out = "Energy leaves out devices that train and devices that wait"
    for answer in (ranked, tuned):
        assert any(one.text.startswith(left_out) for one in answer.warnings)


def test_tune_keeps_a_budget_of_energy(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["tune", "-G", "4", "-M", "5", "-H", "inter", "-K", "1,16", "-P", "1,4"]
    for key, value in SETTINGS.items():
        words += ["--set", f"{key}={value}"]

    def asked(*more: str) -> tuple[int, str, str]:
        return run(*words, *more, capsys=capsys, monkeypatch=monkeypatch)

    code, out, err = asked("--json")
    assert (code, err) == (0, "")
    free = next(row for row in json.loads(out)["rows"] if row["recommended"])
    limit = 0.9 * free["energy_joules"]["value"]
    code, out, err = asked("--json", "--budget", f"{limit}J")
    assert (code, err) == (0, "")
    answer = json.loads(out)
    chosen = next(row for row in answer["rows"] if row["recommended"])
    assert answer["tune"]["budget_joules"] == pytest.approx(limit)
    assert chosen["energy_joules"]["value"] <= limit
    assert chosen["time_seconds"]["value"] > free["time_seconds"]["value"]
    code, out, err = asked("--budget", f"{limit}J", "--objective", "carbon")
    assert (code, err) == (0, "")
    assert "energy" in out
    assert "gCO2e" in out
    for more, wanted in (
        (("--budget", "5USD"), "how much money a round takes"),
        (("--budget", "2h", "--within", "3h"), "--within: --budget has a limit of the same"),
        (("--objective", "rounds"), "'rounds' is not one of time, traffic, energy, carbon, money"),
    ):
        code, out, err = asked(*more)
        assert (code, out) == (2, "")
        assert wanted in err


@pytest.mark.usefixtures("asked_once")
def test_what_exceeds_the_budget_is_in_no_toss_up_and_no_comparison(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("tune", "-G", "24", "-M", "36", "-H", "intra", "--client-link", "4g", "--within", "3h")
    told = json.loads(run(*words, "--json", capsys=capsys, monkeypatch=monkeypatch)[1])
    page = " ".join(run(*words, capsys=capsys, monkeypatch=monkeypatch)[1].split())
    late = next(row for row in told["rows"] if row["topology"] == "ring-ring")
    assert late["time_seconds"]["value"] > 3 * 3600
    tossed = page.partition(" is a toss-up for traffic with ")[2].partition("Target:")[0]
    assert tossed.startswith("Star-Ring. ")
    assert "Ring-Ring" not in tossed
    given = next(row for row in told["rows"] if row["given"])
    assert given["time_seconds"]["value"] > 3 * 3600
    assert told["verdict"]["ratio"] is None
    assert "than Star-Star with K = 2, P = 1 (over the budget)." in page
    assert "K and P as assumed" in page
