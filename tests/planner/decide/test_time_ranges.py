"""Times between the ends of ranges of links and compute: what single numbers at the ends take."""

from __future__ import annotations

from typing import Any

import pytest
from test_cli import ROOT, run

import planner

pytestmark = pytest.mark.usefixtures("few_draws")

FLEET: dict[str, Any] = {"groups": 10, "clients_per_group": 20, "heterogeneity": "inter", "model_size": "10MB"}
FAST = {"settings": {"plan.draws": 0}}
CASES = ["per-client", "per-server"]


def ends(**said: Any) -> dict[tuple[str, str], float]:
    """Seconds of every row by its id, and in each case of link sharing."""
    answer = planner.recommend(**FLEET, **said, **FAST)
    found = {(row.id, ""): float(row.time_seconds) for row in answer.rows}
    return found | {(row.id, case.value): float(case.time_seconds) for row in answer.rows for case in row.cases}


@pytest.mark.usefixtures("unflipped")
def test_ends_of_times_are_what_single_numbers_there_take() -> None:
    """Of trees and of baselines, on own and on shared links; a slow link and a long step are the slow end."""
    ranged = planner.recommend(**FLEET, uplink="5:20Mbit/s", step_time="0.1:1s", **FAST)
    quick, slow = ends(uplink="20Mbit/s", step_time="0.1s"), ends(uplink="5Mbit/s", step_time="1s")
    assert [case.value for case in ranged.rows[0].cases] == CASES and len(ranged.rows) == 6
    for row in ranged.rows:
        assert (row.time_seconds.low, row.time_seconds.high, row.time_seconds.level) == (
            pytest.approx(quick[row.id, ""], rel=1e-9),
            pytest.approx(slow[row.id, ""], rel=1e-9),
            None,
        )
        for case in row.cases:
            assert case.time_seconds_low == pytest.approx(quick[row.id, case.value], rel=1e-9)
            assert case.time_seconds_high == pytest.approx(slow[row.id, case.value], rel=1e-9)


@pytest.mark.usefixtures("settings_alone")
def test_ends_of_a_middle_tier_and_of_random_compute_times(request: pytest.FixtureRequest) -> None:
    def hours(up: str) -> Any:
        site = {"name": "site", "count": 4, "link": {"preset": "wan", "up": up}}
        tiers = [{"name": "region", "count": 3}, site, {"name": "phone", "count": 3}]
        random = {"compute.straggler": "lognormal:0.5", "plan.draws": 0}
        return planner.recommend({"fleet": {"tiers": tiers}}, step_time="1s", model_size="10MB", settings=random)

    ranged = hours("2:50Mbit/s")
    request.getfixturevalue("unflipped")  # times alone are looked at of the ends
    quick, slow = hours("50Mbit/s"), hours("2Mbit/s")
    for row in ranged.rows:
        low, high = quick.row(row.id).time_seconds, slow.row(row.id).time_seconds
        assert (row.time_seconds.low, row.time_seconds.high) == (pytest.approx(low), pytest.approx(high))
    page = str(ranged)
    assert " ".join(page.split()).count("over site uplink: ") == 1 and len(page.splitlines()) <= 25
    assert "Assumed   passes of a region" in page  # it was cut to ", 8 more", as its first is longer than all may be


@pytest.mark.usefixtures("asked_once", "nearest_alone")
def test_a_page_and_a_table_say_them_and_nothing_is_said_without_a_range(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    fleet = ["--G", "10", "--M", "20", "--heterogeneity", "inter", "--model-size", "10MB", "--step-time", "0.1:1s"]
    code, out, _ = run("recommend", *fleet, "--uplink", "5:20Mbit/s", capsys=capsys, monkeypatch=monkeypatch)
    assert code == 0 and out.count("\n") <= 25  # with no words left for intervals
    said = "over client uplink and step time: Star-Star 22 min to 1.1 h (own links) and Star-Ring 1.2 h to 4.4 h"
    assert said in " ".join(out.split())
    code, out, _ = run(
        "recommend", *fleet, "--uplink", "5:20Mbit/s", "--format", "csv", capsys=capsys, monkeypatch=monkeypatch
    )
    head, first = (line.split(",") for line in out.splitlines()[:2])
    known = dict(zip(head, first, strict=True))
    assert float(known["time_seconds_low"]) < float(known["time_seconds"]) < float(known["time_seconds_high"])
    exact = planner.recommend(**FLEET, uplink="10Mbit/s", sigma=(1, 4), **FAST)
    assert exact.rows[0].time_seconds.low is None and exact.rows[0].cases[0].time_seconds_low is None
    assert "Ranges" not in str(exact)


def test_a_range_that_settles_a_toss_up_is_named_and_asked_for(moved_alone: Any, set_alone: Any) -> None:
    """It stood as a toss-up without a reason, and the data were asked for."""
    moved_alone("step_time")
    set_alone()
    fleet = FLEET | {"heterogeneity": "both", "uplink": "20Mbit/s", "server_link": "wan", "link_sharing": "per-server"}
    ranged = planner.recommend(**fleet, step_time="0.01:100s")
    assert (ranged.verdict.status, ranged.verdict.best) == ("toss-up", ("star-ring", "star-star"))
    [turn] = [one for one in ranged.sensitivity if one.parameter == "step_time" and one.break_even]
    assert turn.best_beyond == ("star-star",)
    assert "step time above 10.1 s -> Star-Star leads" in str(ranged)
    assert next(one for one in ranged.next if one.asks).argv == ("--step-time", "TIME")
    below, above = (
        planner.recommend(**fleet, step_time=f"{turn.break_even * factor}s", **FAST).ranking[0].id
        for factor in (0.97, 1.001)  # where the lead is more than the 2 % of a tie
    )
    assert (below, above) == ("star-ring", "star-star")
    near = planner.recommend(**fleet, step_time="0.01:10s")  # the order does not turn within it
    assert not any(one.parameter == "step_time" and set(one.best_beyond) <= {"star-ring"} for one in near.sensitivity)
    assert ranged.to_json()["next"][0]["argv"] == ["--step-time", "TIME"]


def test_no_range_turns_an_order_at_its_middle(moved_alone: Any, set_alone: Any) -> None:
    """Rounds that are rounded up led another than those that are not: the turn stood at the present value, twice."""
    moved_alone("step_time")
    set_alone()
    rates = (("continent", 3, "50Mbit/s", "150ms"), ("site", 4, "1Gbit/s", "20ms"), ("machine", 16, "10Gbit/s", "1ms"))
    tiers = [{"name": n, "count": c, "link": {"up": r, "down": r, "latency": wait}} for n, c, r, wait in rates]
    told: dict[str, Any] = {"fleet": {"local_steps": 20, "tiers": tiers}, "plan": {"objective": "time", "draws": 0}}
    told["problem"] = {"heterogeneity": "iid", "rounds": 300}
    ranged = planner.recommend(told, step_time="0.1:1s", model_size="500MB", link_sharing="per-client")
    turns = [
        (one.parameter, one.break_even) for one in ranged.sensitivity if one.break_even and one.method != "setting"
    ]
    assert len(turns) == len(set(turns)) > 0
    assert all(one.break_even != one.now for one in ranged.sensitivity)


@pytest.mark.usefixtures("settings_alone")
def test_a_setting_that_settles_a_toss_up_is_no_range_to_narrow() -> None:
    answer = planner.recommend(
        data=ROOT / "examples/consortium_labels.csv", uplink="100Mbit/s", link_sharing="per-server", local_steps=10
    )
    assert any(
        one.method == "setting" and set(one.best_beyond) < set(answer.verdict.best) for one in answer.sensitivity
    )
    assert "--server-uplink" not in {word for one in answer.next for word in one.argv}


@pytest.mark.usefixtures("unflipped")
def test_a_range_that_decides_most_is_asked_for() -> None:
    """Beside ranges of the data, an uplink that is known to a factor of 12 has 39 % of the variance of the lead."""
    found = planner.recommend(
        G=8, M=6, uplink="5:60Mbit/s", sigma="0.5:3", heterogeneity="zeta=0.2:1,delta=0.5:3", link_sharing="per-client",
        model_size="100MB",
    )  # fmt: skip
    shares = {one.parameter: one.sobol_total or 0.0 for one in found.sensitivity}
    assert max(shares, key=lambda name: shares[name]) == "client_link.up"
    assert next(one for one in found.next if one.asks).argv == ("--uplink", "RATE")
