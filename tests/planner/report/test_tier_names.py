"""Trees whose tiers have names are told of by these, and others by their letters."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import planner
from planner.errors import ScenarioError
from planner.io.wording import title

pytestmark = pytest.mark.usefixtures("few_draws")

FLAT = {"up": "1Gbit/s", "down": "1Gbit/s", "latency": "5ms"}
LETTERS = re.compile(r"\b(delta|n|S|P)[123]\b|link1|\bserver (up|down)link")


def scenario(*names: str) -> dict[str, Any]:
    """Regions that differ and share a slow link, of edge servers whose phones share one: rings of all but regions."""
    slow = {"up": "50Mbit/s", "down": "50Mbit/s", "latency": "20ms", "sharing": "per-server"}
    far = {"up": "200kbit/s", "down": "200kbit/s", "latency": "40ms", "sharing": "per-server"}
    tiers = [
        {"count": count, "deviation": deviation, "link": link}
        for count, deviation, link in ((4, 1, far), (5, 0.3, FLAT), (20, 0.1, slow))
    ]
    for tier, name in zip(tiers, names, strict=False):
        tier["name"] = name
    return {
        "fleet": {"local_steps": 5, "tiers": tiers},
        "problem": {"sigma": 1, "rounds": 700},
        "plan": {"objective": "time", "draws": 0},
    }


@pytest.mark.usefixtures("untossed", "nearest_alone")
@pytest.mark.parametrize(
    ("command", "only"), [(planner.recommend, {}), (planner.flip, {"parameter": ["delta1", "delta2"]})]
)
def test_changes_have_the_names_of_tiers_and_data_their_letters(
    command: Any, only: dict[str, Any], moved_alone: Any, set_alone: Any
) -> None:
    moved_alone("delta1", "delta2")
    set_alone()
    answer = command(scenario("region", "edge server", "phone"), **only)
    shown = str(answer)
    assert "deviation of regions" in shown and "deviation of edge servers" in " ".join(shown.split())
    assert not LETTERS.search(re.sub(r"--map \S+", "", shown))
    assert {"delta1", "delta2"} <= {one.parameter for one in answer.sensitivity}
    assert len(shown.splitlines()) <= 25


@pytest.mark.usefixtures("nearest_alone")
def test_without_names_the_letters_stay_and_links_have_their_tier(moved_alone: Any) -> None:
    moved_alone("delta1", "link1.rate")
    told = scenario()
    told["fleet"]["tiers"][0]["link"] |= {"up": "2Mbit/s", "down": "2Mbit/s"}
    told["fleet"]["tiers"][2]["link"] = {"up": "5Mbit/s", "down": "5Mbit/s", "latency": "20ms"}
    answer = planner.recommend(told)
    assert "delta1" in answer.explain("break-even") and answer.tier_names == ()
    asked = next(one.why for one in answer.next if one.asks)
    assert asked == "Does a group share one link?"  # as of two tiers, in one line with its options
    turned = planner.recommend(tiers="4/5/20", settings={"plan.draws": 0})
    assert "link1.rate" in {one.parameter for one in turned.sensitivity if one.break_even}
    given = {
        "uplink": "20Mbit/s",
        "downlink": "1Gbit/s",
        "link_sharing": "per-client",
        "heterogeneity": "1/1/1",
        "sigma": 1,
        "A": 2,
        "settings": {"plan.draws": 0},
    }
    told = " ".join(str(planner.recommend(tiers="4/5/20", model_size="45MB", step_time="0.1s", K=2, **given)).split())
    assert "tier 1 link 100 Mbit/s?" in told and "link1" not in told
    assert "tier 1 rates below" in turned.explain("break-even") and "link1" not in str(turned)


@pytest.mark.usefixtures("unflipped")
def test_topologies_that_tie_are_in_the_table_before_others() -> None:
    """ "toss-up, Star-Star-Star or 2 others" had a row of one that does not tie in place of one of the others."""
    answer = planner.recommend(
        tiers="6/10/8", uplink="1Mbit/s", heterogeneity="1/1/3", objective="time", settings={"plan.draws": 0}
    )
    ties = {row.id for row in answer.ranking if 1 in {row.tie, *(one.tie for one in row.cases)}}
    first = [line.partition("  ")[0] for line in str(answer.replaced(title="Sensors")).splitlines()]
    shown = {row.id for row in answer.ranking if row.title in first}
    assert len(shown) >= 3 and shown <= ties < {row.id for row in answer.ranking}
    assert "do the 8 clients of a group share the 1.0 Mbit/s?" in answer.verdict.text


WAN = {"preset": "wan", "up": "100Mbit/s", "down": "100Mbit/s", "latency": "80ms"}
TIERS = (("region", 5, 1.0, WAN), ("site", 3, 0.5, {"preset": "datacenter"}), ("car", 8, 0.5, {"preset": "lan"}))
TIERS = [{"name": n, "count": c, "deviation": d, "link": link} for n, c, d, link in TIERS]  # type: ignore[misc]
CARS = {"title": "5 regions", "fleet": {"tiers": TIERS}, "model": {"size": "500MB"}, "compute": {"step_time": "0.5s"}}


def test_a_toss_up_of_many_names_its_first_and_changes_have_the_option_of_passes(moved_alone: Any) -> None:
    """It read "any of 5 topologies" above a table with four, and passes of a region had no key to paste."""
    moved_alone("P2")
    answer = planner.recommend(CARS)
    tied = [row.title for row in answer.ranking if row.tie == 1]
    assert len(tied) == 5 and f"Toss-up for time: {tied[0]} or 4 others" in answer.verdict.text
    page = " ".join(str(answer).split())
    assert all(f" {one} ~" in page for one in tied)
    assert " 3 more topologies: --explain table" in page
    (change,) = (one for one in answer.sensitivity if one.parameter == "P2")
    then = f"passes of a region = {change.break_even} -> Star-Star-Star leads (with --target "
    alone = " ".join(str(answer.replaced(sensitivity=(change,))).split()).partition(then)[2]
    target, more = alone.split()[:2]
    assert alone.startswith(f"{target} {more} {change.break_even}/1)") and more == "-P"
    moved = planner.recommend(CARS, group_rounds=f"{change.break_even}/1", target=float(target), details=False)
    assert moved.ranking[0].title == "Star-Star-Star"
    with pytest.raises(ScenarioError, match=r"Those of a region are fleet\.tiers\.2\.passes\."):
        planner.recommend({"fleet": {"tiers": [{**TIERS[0], "passes": 8}, *TIERS[1:]]}})  # type: ignore[dict-item]


@pytest.mark.usefixtures("unflipped", "few_draws")
def test_one_tree_alone_with_a_ring_says_that_its_target_is_its_own() -> None:
    """Ring-Star-Star took 16 h alone and 6 h among all, which have the target of Star-Star-Star."""
    alone = planner.recommend(CARS, tiers="ring/star/star", details=False)
    whole = planner.recommend(CARS, details=False)
    assert alone.target.value != whole.target.value
    assert "asked about, to a target of its own: with --target it compares with others." in alone.verdict.text
    same = planner.recommend(CARS, tiers="ring/star/star", target=whole.target.value, details=False)
    assert "of its own" not in same.verdict.text
    assert same.row("ring-star-star").rounds == pytest.approx(whole.row("ring-star-star").rounds, rel=0.01)


@pytest.mark.usefixtures("unflipped")
def test_topologies_that_a_case_names_are_in_the_table() -> None:
    """Shared links named Star-Ring-Ring, of which the table of own links had no row."""
    found = planner.recommend(tiers="4/5/20", heterogeneity="1/1/3", objective="time")
    named = {one for case in found.verdict.cases if len(case.best) <= 4 for one in case.best}
    page = str(found)
    assert named and all(re.search(rf"^{title(one)}  ", page, re.MULTILINE) for one in named)


@pytest.mark.usefixtures("unflipped", "few_steps")
def test_letters_of_tiers_are_explained_below_a_page(tmp_path: Path) -> None:
    named = tmp_path / "three.toml"
    tiers = (("region", 3, 1), ("site", 4, 2), ("client", 10, 5))
    named.write_text(
        "\n".join(f'[[fleet.tiers]]\nname = "{name}"\ncount = {n}\npasses = {passes}' for name, n, passes in tiers)
    )
    few: dict[str, Any] = {"local_steps": "2", "group_rounds": "1,4", "settings": {"plan.draws": 0}}
    assert "P3: passes of a site" in str(planner.tune(config=named, **few)).splitlines()[-1]
    assert "P3: P of tier 3 from the top" in str(planner.tune(tiers="3/4/10", **few)).splitlines()[-1]
    assert "from the top" not in str(planner.tune(G=4, M=10, **few))
