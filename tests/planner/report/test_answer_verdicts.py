"""Verdict, table and text of `recommend` agree, within 25 lines, 80 columns and 220 words, over drawn scenarios."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from typing import Any

import pytest

import planner
from planner.io.answers import Verdict
from planner.io.wording import title
from planner.report import document

NAMES = {"star-star": "Star-Star", "star-ring": "Star-Ring", "ring-star": "Ring-Star", "ring-ring": "Ring-Ring"}
FIELDS = {"time": "time_seconds", "rounds": "rounds", "traffic": "traffic_bytes"}
DRAWN = 100  # scenarios
QUICK = 8  # of these; the others are slow checks


def scenarios() -> Iterator[dict[str, Any]]:
    """Fleets with and without links, presets, objectives, metrics and targets."""
    rng = random.Random(16)
    for _ in range(DRAWN):
        said: dict[str, Any] = {"groups": rng.randint(2, 30), "clients_per_group": rng.randint(2, 40)}
        said["local_steps"], said["group_rounds"] = rng.choice([1, 2, 5, 20]), rng.choice([1, 1, 2, 4])
        said["settings"] = {"plan.draws": 256}
        for key, values in (
            ("heterogeneity", [None, "iid", "intra", "inter", "both", "zeta=0.2,delta=1.5"]),
            ("uplink", [None, "1Mbit/s", "20Mbit/s", "1Gbit/s"]),
            ("link_sharing", [None, None, "per-client", "per-server"]),
            ("objective", [None, None, "rounds", "time", "traffic"]),
            ("metric", [None, None, "gradient", "accuracy"]),
            ("availability", [None, None, None, "99%"]),
        ):
            if (value := rng.choice(values)) is not None:
                said[key] = value
        yield said


def cases(verdict: Verdict, objective: str) -> Iterator[tuple[str, str, Verdict]]:
    """Every verdict that names a best: objective, value of link sharing, and the verdict."""
    if verdict.status != "depends":
        yield objective, "", verdict
    for case in verdict.cases:
        by = case.value if verdict.on == "objective" else objective
        inner = case.cases or (case,)
        for one in inner:
            yield by, one.value if one.value.startswith("per-") else "", one


@pytest.fixture(
    scope="module",
    params=[said if i < QUICK else pytest.param(said, marks=pytest.mark.slow) for i, said in enumerate(scenarios())],
    ids=lambda said: " ".join(map(str, said.values()))[:60],
)
def answer(request: pytest.FixtureRequest) -> Iterator[planner.Recommendation]:
    """An answer, without the search for what would change it, which takes most of its time."""
    with pytest.MonkeyPatch.context() as patch:  # `unflipped` lasts for a function, and began after this
        patch.setattr("planner.decide.rank.nearest_flips", lambda *_: ((), ""))
        yield planner.recommend(**request.param)


def test_the_best_takes_least_of_what_decides(answer: planner.Recommendation) -> None:
    """Of the rows' own numbers, in the case that the verdict is about; runner-up and ratio are of the same rows."""
    for objective, value, verdict in cases(answer.verdict, answer.objective):
        amounts = {}
        for row in answer.ranking:
            known = {case.value: case.time_seconds for case in row.cases}
            amount = known[value] if value and objective == "time" else getattr(row, FIELDS[objective])
            if amount is not None:
                amounts[row.id] = float(amount)
        least = min(amounts.values())
        slack = 1 + 1.5 / min(row.rounds for row in answer.ranking if row.rounds)  # rows have whole rounds
        if answer.scenario.get("availability.client") and objective == "rounds":
            continue  # what decides then are the rounds begun
        assert amounts[verdict.best[0]] <= least * slack
        assert (verdict.status == "toss-up") == (len(verdict.best) > 1)
        assert verdict.confidence is None or 0 <= verdict.confidence <= 0.99
        if verdict.runner_up:
            assert verdict.runner_up not in verdict.best
            ratio = amounts[verdict.runner_up] / amounts[verdict.best[0]]
            assert verdict.ratio == pytest.approx(ratio, rel=1e-9)  # as run, in whole rounds


def test_one_rule_decides_from_probability_and_intervals(answer: planner.Recommendation) -> None:
    """As the table has them: a set is the first and all whose interval reaches down to 1; else one is named."""
    said = answer.to_json()
    for objective, value, verdict in cases(answer.verdict, answer.objective):
        if objective != answer.objective or not verdict.best:
            continue
        known = {row.id: {case.value: case.ratio for case in row.cases}.get(value, row.ratio) for row in answer.ranking}
        ratios = {id_: ratio for id_, ratio in known.items() if ratio is not None}
        for ratio in ratios.values():
            assert ratio.low is None or ratio.low * (1 - 1e-12) <= ratio <= ratio.high * (1 + 1e-12)
        beyond = {id_ for id_, ratio in ratios.items() if ratio > 1.02 and ratio.high is None}  # no end, or none known
        reach = {id_ for id_, ratio in ratios.items() if (ratio if ratio.low is None else ratio.low) <= 1.02}
        assert ratios[verdict.best[0]] == 1
        if reach - beyond == {verdict.best[0]} and verdict.confidence is not None and verdict.confidence < 0.6:
            assert set(verdict.best) - beyond <= {verdict.best[0], answer.ranking[1].id} or value
        else:
            assert set(verdict.best) - beyond == reach - beyond
        assert verdict.text.lower().startswith("toss-up") == (len(verdict.best) > 1)
        if verdict.status == "best" and verdict.confidence is not None:
            assert verdict.confidence >= 0.6
            assert f"{100 * verdict.confidence:.0f} %" in f"{verdict.text} {answer.verdict.text}"
        assert ("pilot" in {word for step in said["next"] for word in step["argv"]}) >= (verdict.status == "toss-up")


def test_the_words_name_what_the_data_name(answer: planner.Recommendation) -> None:
    """Each case's sentence names its best first, and no topology but those and the runner-up."""
    for _, _, verdict in cases(answer.verdict, answer.objective):
        named = re.findall(r"(?:Star|Ring)-(?:Star|Ring)", verdict.text)
        if len(verdict.best) <= 3:
            assert named[: len(verdict.best)] == [title(one) for one in verdict.best]
        assert set(named) <= {title(one) for one in (*verdict.best, verdict.runner_up) if one}
    if answer.verdict.status == "depends":
        assert not re.search(r"(?:Star|Ring)-", answer.verdict.text)


def test_the_table_is_the_rows(answer: planner.Recommendation) -> None:
    shown = document(answer).table
    assert [row[0] for row in shown.rows] == [row.title for row in answer.rows]
    marked = {answer.rows[i].id for i in shown.best}
    assert marked == set(answer.verdict.best)


def test_a_page_is_short(answer: planner.Recommendation) -> None:
    lines = str(answer).splitlines()
    assert len(lines) <= 25
    assert max(map(len, lines)) <= 80
    assert len(str(answer).split()) <= 220
    assert "100 %" not in str(answer) and "100%" not in str(answer)
