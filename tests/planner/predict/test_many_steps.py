"""What many local steps in a round do to predictions by loss."""

from __future__ import annotations

import csv
import importlib
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import planner
from planner.data.heterogeneity import PRESETS
from planner.decide.single_tier import baselines
from planner.predict import many_steps
from planner.predict.evidence import predictor_record, table
from planner.predict.question import Question, ask

ROOT = Path(__file__).parents[3]
TOPOLOGIES = ("star-star", "star-ring", "ring-star", "ring-ring")
CORNERS = {"iid": ("0", "0"), "intra": ("0", "1"), "inter": ("1", "0"), "both": ("1", "1")}  # groups, clients differ


def question(**given: Any) -> Question:
    return ask(planner.load_scenario(**{"G": 5, "M": 6, "heterogeneity": "both", "target": 0.3, **given}))


def few(told: Question) -> Question:
    """The same with the predictor as it is for few steps."""
    none = {(fades, topology): np.zeros((2, 2)) for fades in (False, True) for topology in TOPOLOGIES}
    return other(told, powers=none)


def model(told: Question) -> Question:
    """The same with all that the model gains over stars."""
    return other(told, gained={})


def other(told: Question, **own: Any) -> Question:
    """The same of a predictor with something else in place of its own."""
    return told.varied(predictor=type("Other", (type(told.predictor),), own)())


@pytest.mark.parametrize("kind", CORNERS)
@pytest.mark.parametrize(("P", "K"), [(1, 20), (2, 12), (3, 16)])
def test_rounds_are_those_predicted_times_a_power_of_the_steps(kind: str, P: int, K: int) -> None:
    """By the file: of stars alone, and beside theirs of each other topology, at the presets; then gains are taken."""
    rows = {(r["topology"], r["groups_differ"], r["clients_differ"]): r for r in table("many_steps.csv")
            if r["fading"] == "0"}  # fmt: skip
    told = question(heterogeneity=kind, group_rounds=P, local_steps=K)
    alike = [math.sqrt(low * high) for low, high in zip(PRESETS["iid"], PRESETS["both"], strict=True)]

    def differ(ratio: float, edge: float) -> float:
        """From 0 at a third of what tells alike from different to 1 at three times it, in the logarithm."""
        return min(1.0, max(0.0, 0.5 + math.log(ratio / edge) / math.log(9)))

    zeta, delta = PRESETS[kind]
    u, v, total = differ(zeta, alike[0]), differ(delta, alike[1]), differ(math.hypot(zeta, delta), alike[0])
    with_, without, found = model(told).rounds(), few(model(told)).rounds(), told.rounds()
    stars = with_["star-star"]
    for topology in TOPOLOGIES:
        at = {one: float(rows[topology, *place]["power"]) for one, place in CORNERS.items()}
        power = (1 - total) * float(rows["star-star", "0", "0"]["power"])
        power += total * float(rows["star-star", "1", "1"]["power"])
        if topology != "star-star":
            power += (1 - v) * ((1 - u) * at["iid"] + u * at["intra"]) + v * ((1 - u) * at["inter"] + u * at["both"])
        off = math.log(with_[topology] / without[topology]) / math.log(P * K / 12)
        assert off == pytest.approx(power, abs=1e-9)
        own, gained = with_[topology], 0.76 if topology != "star-star" else 1.0
        taken = stars ** (1 - gained) * own**gained
        if own <= stars:
            taken = 1 + (stars - 1) ** (1 - gained) * (own - 1) ** gained
        assert found[topology] == pytest.approx(taken, rel=1e-9)


def test_up_to_twelve_steps_and_from_fifty_on_nothing_changes() -> None:
    for P, K in ((1, 12), (3, 4), (12, 1)):
        told = question(group_rounds=P, local_steps=K)
        assert told.rounds() == few(told).rounds()
    at = question(local_steps=50)
    most, more = (math.log(one[0]["ring-ring"] / one[1]["ring-ring"]) for one in (
        (at.rounds(), few(at).rounds()), (at.rounds(K=200), few(at).rounds(K=200)),
    ))  # fmt: skip
    assert most == pytest.approx(more, rel=1e-9) and abs(most) > 0.01


@pytest.mark.parametrize("given", [{"scatter": 0}, {"metric": "gradient"}, {"tiers": "2x3x5"}])
def test_other_questions_are_left_as_they_are(given: dict[str, Any]) -> None:
    """Controlled problems, squared gradients and three tiers, of which no run has so many steps."""
    if "tiers" in given:
        scenario = planner.load_scenario(config=str(ROOT / "examples" / "regions.toml"), local_steps=20)
    elif "scatter" in given:
        scenario = planner.load_scenario(G=5, M=6, heterogeneity="both", local_steps=20,
                                         settings={"problem.curvature_scatter": 0})  # fmt: skip
    else:
        scenario = planner.load_scenario(G=5, M=6, heterogeneity="both", local_steps=20, **given)
    told = ask(scenario)
    assert told.rounds() == few(told).rounds()


def test_one_algorithm_has_one_number_of_rounds_however_it_is_called() -> None:
    """Stars alone with one group round are federated averaging; of one group or one client the pattern is no matter."""
    for heterogeneity in ("zeta=2.5,delta=0.4", "zeta=0.3,delta=2", "zeta=0.1,delta=0.05"):
        given = {"heterogeneity": heterogeneity, "local_steps": 30, "rounds": 100}
        stars = ask(planner.load_scenario(G=5, M=6, **given))
        (fedavg,) = (one for one in baselines(stars) if one.id == "fedavg")
        assert fedavg.rounds == pytest.approx(float(stars.rounds()["star-star"]), rel=1e-6)
    one = question(G=1, M=12, local_steps=30, heterogeneity="zeta=2.5,delta=0").rounds()
    assert one["star-ring"] == one["ring-ring"] and one["star-star"] == one["ring-star"] != one["star-ring"]
    alone = ask(planner.load_scenario(G=12, M=1, local_steps=30, heterogeneity="zeta=0,delta=2.5", target=0.3)).rounds()
    assert alone["ring-star"] == alone["ring-ring"] and alone["star-star"] == alone["star-ring"] != alone["ring-star"]


def test_arrays_of_counts_and_constants_are_as_one_by_one() -> None:
    told = question(local_steps=20)
    steps, zetas = np.array([4, 20, 40]), np.array([0.0, 1.5, 8.0])
    together = told.rounds(K=steps, zeta=zetas)
    for i, (K, zeta) in enumerate(zip(steps.tolist(), zetas.tolist(), strict=True)):
        apart = told.rounds(K=K, zeta=zeta)
        assert {t: float(n[i]) for t, n in together.items()} == pytest.approx(apart, rel=1e-9)
    assert not told.predictor.monotone_in(told, {"zeta"}) and not told.predictor.monotone_in(told, {"sigma"})
    assert question(local_steps=12).predictor.monotone_in(question(local_steps=12), {"sigma"})


def test_the_target_of_stars_is_where_they_are_after_the_rounds_asked_for() -> None:
    for K in (2, 20, 50):
        told = ask(planner.load_scenario(G=5, M=6, heterogeneity="both", local_steps=K, rounds=70))
        assert float(told.rounds()["star-star"]) == pytest.approx(70, rel=1e-6)


@pytest.mark.slow
def test_powers_are_those_of_the_runs_and_judge_no_family_they_are_from(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    module = importlib.import_module("many_steps")
    every = module.powers()
    for row in table("many_steps.csv"):
        place = (int(row["groups_differ"]), int(row["clients_differ"]))
        assert float(row["power"]) == pytest.approx(every[row["fading"] == "1", row["topology"]][place], abs=6e-4)
    with (ROOT / "docs" / "evidence" / "measured_steps.csv").open(encoding="utf-8", newline="") as file:
        family = next(f"{row['data']}-{row['seed']}" for row in csv.DictReader(file))
    without = module.powers(family)
    assert any(np.any(without[key] != each) for key, each in every.items())
    whose = [name for name, *_ in (*module.gains(False), *module.slopes(False))]
    assert family in whose and len(set(whose)) == 34


def test_errors_beyond_twelve_steps_are_of_runs_with_as_many() -> None:
    near, far = question(local_steps=12), question(local_steps=20)
    assert (predictor_record.name_of(near), predictor_record.name_of(far)) == ("loss_images", "loss_images_many")
    rows = table("record_loss_images_many.csv")
    assert min(int(row["P"]) * int(row["K"]) for row in rows) > many_steps.FROM == predictor_record.MANY_STEPS
    assert max(int(row["P"]) * int(row["K"]) for row in rows) == many_steps.UNTIL == predictor_record.most_steps(far)
    assert len(rows) == 86 and len({row["scenario"] for row in rows}) == 34
    evidence = planner.recommend(G=5, M=6, heterogeneity="both", local_steps=20, objective="rounds").evidence
    (told,) = (r for r in table("real_record_many.csv") if list(r.values())[1:4] == ["loss", "kind", "both"])
    assert any((one.right, one.of) == (int(told["right"]), int(told["rows"])) for one in evidence)


def test_what_corrects_rounds_is_said_where_it_does() -> None:
    said = "Predicted rounds are corrected for over 12 local steps of a client in a round, by runs of so many"
    for K, told in ((20, True), (12, False)):
        answer = planner.recommend(G=5, M=6, heterogeneity="both", local_steps=K, objective="rounds")
        assert any(note.startswith(said) for note in answer.recommend.notes) is told
