"""Single tiers are rows of the table after the topologies; the verdict says if one takes less."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from typing import Any

import pytest

import planner
from planner.decide.recommendation import Recommendation
from planner.io.wording import times
from planner.report import document
from planner.report.render import render

SLOW, QUICK = (
    {"plan.draws": 0, "network.server_link.up": rate, "network.server_link.down": rate}
    for rate in ("1Mbit/s", "100Gbit/s")
)
FAST: dict[str, Any] = {"settings": {"plan.draws": 0}}


def carrying(clients: int) -> dict[str, Any]:
    """Links of servers that carry what so many clients of 20 and 100 Mbit/s send and take at once."""
    rates = {"up": 20 * clients, "down": 100 * clients}
    return {"plan.draws": 0, **{f"network.server_link.{part}": f"{rate}Mbit/s" for part, rate in rates.items()}}


pytestmark = pytest.mark.usefixtures("unflipped", "few_draws")
PILOT = str(Path(__file__).parents[3] / "examples" / "digits_pilot.json")
FIELDS = {"rounds": "rounds", "time": "time_seconds", "traffic": "traffic_bytes"}


def answered(**given: Any) -> Recommendation:
    return planner.recommend(**{"groups": 10, "clients_per_group": 10, "heterogeneity": "inter", **FAST, **given})


@pytest.mark.parametrize("objective", FIELDS)
def test_topologies_come_sorted_and_baselines_after_them(objective: str) -> None:
    answer = answered(objective=objective)
    amounts = [getattr(row, FIELDS[objective]) for row in answer.ranking]
    assert amounts == sorted(amounts)
    assert [row.rank for row in answer.rows] == [1, 2, 3, 4, None, None]
    assert [row.id for row in answer.rows if row.baseline] == ["fedavg", "sfl"]
    for row in answer.rows:
        assert row.ratio == pytest.approx(getattr(row, FIELDS[objective]) / amounts[0], rel=0.1)  # of whole rounds
    shown = document(answer).table
    assert [row[0] for row in shown.rows] == [row.title for row in answer.rows]
    assert {answer.rows[i].id for i in shown.best} == set(answer.verdict.best)


def test_time_of_a_baseline_is_its_rounds_times_its_round() -> None:
    for row in answered().rows:
        assert row.time_seconds == pytest.approx(row.rounds * row.round_seconds, rel=1e-12)


@pytest.mark.usefixtures("settings_alone", "untossed")
@pytest.mark.parametrize("rate", [1, pytest.param(5, marks=pytest.mark.slow)])
def test_slow_links_of_servers_are_no_advice_for_one_tier_which_may_not_go_around_them(rate: int) -> None:
    """Both ratios, that of own links and that of servers' links shared by ten clients each, by fleets of one tier."""
    slow = {f"network.server_link.{part}": f"{rate}Mbit/s" for part in ("up", "down")}
    answer = answered(objective="time", link_sharing="per-client", settings={"plan.draws": 0, **slow})
    best = answer.rows[0].time_seconds
    assert answer.row("fedavg").time_seconds / best < 0.9
    latency = (answer.scenario[f"{link}_link.latency"].value for link in ("client", "server"))
    shared = {f"network.client_link.{part}": f"{rate / 10}Mbit/s" for part in ("up", "down")}
    shared["network.client_link.latency"] = f"{sum(latency) * 1e3:.9g} ms"
    there = planner.recommend(
        tiers="star:100", heterogeneity="1", link_sharing="per-client", settings={"plan.draws": 0, **shared}
    )
    through = answer.row("fedavg").rounds * there.row("star").round_seconds / best
    assert answer.verdict.baseline.id == "fedavg"
    assert answer.verdict.baseline.ratio == pytest.approx(answer.row("fedavg").time_seconds / best, rel=1e-6)
    assert answer.verdict.baseline.through == pytest.approx(through, rel=1e-6)
    assert not answer.verdict.baseline.advised
    assert answer.verdict.baseline.ratio < 1 < through
    said = (
        f"Without group servers FedAvg takes {times(answer.verdict.baseline.ratio)} the time if clients' links "
        f"reach the top, {times(through)} over servers' links."
    )
    assert said in answer.verdict.text
    [row] = [row for row in document(answer).table.texts() if row[0] == "FedAvg, 1 tier"]
    assert row[2] == f"{times(answer.verdict.baseline.ratio)}-{times(through)}"  # it had the first alone
    assert "unless you need" not in answer.verdict.text
    same = {"G": 10, "M": 10, "heterogeneity": "inter", "link_sharing": "per-client", "settings": slow}
    ahead = planner.recommend(**same, objective="time").verdict.text
    ahead = ahead[ahead.index("FedAvg takes") :].partition(". ")[0]
    assert ahead in planner.flip(**same, objective="time").verdict.text
    tuned = planner.tune(**same, local_steps="2", group_rounds="1")  # both were silent
    assert ahead in tuned.verdict.text


def test_one_star_in_groups_that_go_once_is_one_tier_with_hops_more() -> None:
    """Rounds are equal, so that no error of the predictor stands between the times."""
    given: dict[str, Any] = {"link_sharing": "per-client", "objective": "time", "settings": carrying(8)}
    once = planner.recommend(data="examples/hospitals.csv", **given)
    twice = planner.recommend("examples/phones.toml", settings=carrying(25))
    assert (once.scenario["P"].value, twice.scenario["P"].value) == (1, 2)
    for answer, same in ((once, True), (twice, False)):
        assert answer.verdict.best == ("star-star",)
        assert 0.5 < answer.verdict.baseline.ratio < 0.9
        assert (answer.row("fedavg").rounds == answer.row("star-star").rounds) == same
        assert answer.verdict.baseline.advised
        assert answer.verdict.baseline.within_error != same
        assert ("the time in as many rounds: use it unless you need group servers" in answer.verdict.text) == same
        assert ("the time, within the predictor's error: try it unless" in answer.verdict.text) != same


def test_without_servers_groups_keep_their_link_in_every_row_as_fedavg_beside_servers_does() -> None:
    """By hand: the ten of a group send 44.7 MB each over 20 Mbit/s, and take them over 100, in all groups at once."""
    given = {"G": 10, "M": 10, "uplink": "20Mbit/s", "downlink": "100Mbit/s", "heterogeneity": "intra", **FAST}
    for sharing, many in (("per-server", 10), ("per-client", 1)):
        found, beside = (planner.recommend(**given, link_sharing=sharing, **more) for more in ({"tiers": "1"}, {}))
        assert found.row("fedavg").time_seconds == pytest.approx(found.row("star-star").time_seconds, rel=1e-12)
        assert found.row("fedavg").time_seconds == pytest.approx(beside.row("fedavg").time_seconds, rel=1e-9)
        by_hand = many * 44.7e6 * 8 * (1 / 20e6 + 1 / 100e6) + 2 * 0.1 + 2 * 0.01  # two local steps, and latency twice
        for id_ in ("star-star", "fedavg"):
            assert found.row(id_).round_seconds == pytest.approx(by_hand, rel=1e-6), (sharing, id_)


def test_one_algorithm_of_which_two_numbers_of_rounds_are_predicted_has_the_error_between_them() -> None:
    """Ring-Ring is one ring that visits group by group, and is predicted to take more rounds in unequal groups."""
    answer = planner.recommend(
        heterogeneity="zeta=2.68,delta=1.39",
        objective="rounds",
        settings={"plan.draws": 0, "fleet.groups": [{"clients": 4}, {"clients": 20}]},
    )
    assert answer.verdict.best[0] == "ring-ring"
    ratio = answer.row("sfl").rounds / answer.row("ring-ring").rounds
    assert 0.7 < ratio < 0.9
    mixed = "Sequential in an order that mixes groups"
    said = f"{mixed} takes {times(ratio)} the rounds, within the predictor's error: try it unless"
    assert said in answer.verdict.text


@pytest.mark.parametrize(
    ("given", "tied", "close"),
    [
        ({}, False, False),
        ({"availability": "99.9%", "on_failure": "skip"}, True, False),
        ({"group_rounds": 2}, False, True),
    ],
    ids=["one algorithm", "some stay away", "two group rounds"],
)
def test_one_tier_is_advised_alike_whether_topologies_tie_and_whoever_comes(
    given: dict[str, Any], tied: bool, close: bool
) -> None:
    """FedAvg takes less in all three: what ties, and whether it is one algorithm with the best, changes no advice."""
    fleet = {"groups": 6, "clients_per_group": 30, "heterogeneity": "dirichlet:intra=0.1,inter=8"}
    links = carrying(30) | {"network.server_link.latency": "0.5s"}
    answer = answered(**fleet, objective="time", link_sharing="per-client", settings=links, **given)
    one = answer.verdict.baseline
    assert one.ratio < 0.98
    assert (answer.verdict.status == "toss-up") == tied
    assert one.advised
    assert one.within_error == close
    assert ("the time in as many rounds: use it unless you need group servers." in answer.verdict.text) != close
    assert ("within the predictor's error: try it unless you need group servers." in answer.verdict.text) == close


def test_a_target_out_of_all_proportion_has_no_confidence() -> None:
    """8,600 years were stated at 95 %, on fair evidence of targets up to 46 rounds."""
    answer = planner.recommend(groups=8, clients_per_group=30, heterogeneity="intra", objective="time", target=1e-9)
    assert all(case.confidence is None for case in (answer.verdict, *answer.verdict.cases))
    assert "weak: no measured target took over 46 rounds" in " ".join(str(answer).split())


def test_advice_for_one_tier_says_where_the_predictors_error_covers_its_ratio() -> None:
    answer = planner.recommend(config="examples/phones.toml", settings=carrying(25))
    ratio = answer.row("fedavg").time_seconds / answer.rows[0].time_seconds
    assert answer.verdict.status == "best"
    assert 0.5 < ratio < 0.9
    said = f"FedAvg takes {times(ratio)} the time, within the predictor's error: try it unless you need group servers."
    assert said in answer.verdict.text  # and of no links of servers, which are faster than those of clients
    alone = planner.recommend(config="examples/phones.toml", tiers=1)
    assert "within the predictor's error: try it. Confidence" in alone.verdict.text  # there are no servers to need


def test_one_group_is_one_tier_and_is_not_taken_where_groups_take_as_much() -> None:
    """Both take equally many rounds, so that no error of the predictor stands between them."""
    given: dict[str, Any] = {"link_sharing": "per-client", "objective": "time", "settings": carrying(6)}
    answer = planner.recommend(clients=12, heterogeneity="inter", **given)
    assert answer.scenario["G"].value == 2
    assert answer.row("fedavg").rounds == answer.rows[0].rounds
    ratio = times(answer.row("fedavg").time_seconds / answer.rows[0].time_seconds)
    advice = f"FedAvg takes {ratio} the time in as many rounds: use it unless you need group servers."
    assert answer.verdict.text.startswith(f"{advice} Else take 2 groups of 6 (2 to 6 tie). Toss-up for time: Star-Star")
    assert answer.verdict.text.count("FedAvg") == 1
    tied = re.findall(r"^ *= +(\d+)", answer.explain("counts"), re.M)
    assert (tied[0], tied[-1]) == ("1", "12")  # beside a toss-up of 2 to 6
    assert "are one tier, which the verdict leaves aside." in " ".join(answer.explain("counts").split())


def test_groups_that_are_free_are_not_taken_where_none_are_needed_also_beside_shared_links() -> None:
    given: dict[str, Any] = {"clients": 12, "heterogeneity": "zeta=0.5,delta=4", "objective": "time"}
    answer = planner.recommend(**given, settings=carrying(6))
    own, shared = answer.verdict.cases
    assert own.baseline.advised and own.text.startswith("one tier, FedAvg; else 2 groups of 6 (2 to 6 tie)")
    assert shared.baseline is None and shared.text.startswith("6 groups of 2: ")
    assert f"FedAvg, 1 tier {'try' if own.baseline.within_error else 'use'} it: " in " ".join(str(answer).split())


def test_every_case_that_one_tier_wins_says_whether_to_use_it() -> None:
    """As the verdict does where the case is given: by the same rule, tied or not."""
    said = 0
    for clients, data in ((25, "dirichlet:intra=0.2,inter=2"), (10, "inter"), (6, "both")):
        fleet = {"groups": 12, "clients_per_group": clients, "heterogeneity": data, "settings": carrying(clients)}
        answer = planner.recommend(**fleet, objective="time")
        assert answer.verdict.status == "depends"
        page = " ".join(str(answer).split())
        for case in answer.verdict.cases:
            alone = planner.recommend(**fleet, objective="time", link_sharing=case.value).verdict
            assert (case.baseline is None) == (alone.baseline is None)
            if case.baseline is not None:
                assert case.baseline.advised
                do = "try" if case.baseline.within_error else "use"
                assert f": {do} it unless you need group servers" in alone.text
                assert f"FedAvg, 1 tier {do} it: " in page
                assert case.baseline.within_error == alone.baseline.within_error
                said += 1
    assert said


ALONE: dict[str, Any] = {
    "groups": 4,
    "clients_per_group": 6,
    "heterogeneity": "inter",
    "link_sharing": "per-client",
    "settings": carrying(6),
}


@pytest.mark.usefixtures("settings_alone", "untossed", "few_steps")
def test_tune_and_flip_say_of_one_tier_what_recommend_says() -> None:
    """At the steps that tune recommends, by the rows of `recommend` with these to the same target."""
    here = planner.recommend(**ALONE, objective="time")
    advice = here.verdict.text[here.verdict.text.index("FedAvg takes") :].partition(". ")[0]
    do = "try" if here.verdict.baseline.within_error else "use"
    assert f": {do} it unless you need group servers" in advice
    assert advice in planner.flip(**ALONE, objective="time").verdict.text
    tuned = planner.tune(**ALONE)
    chosen = next(row for row in tuned.rows if row.recommended)
    there = planner.recommend(**ALONE, objective="time", local_steps=chosen.local_steps, target=tuned.target.value)
    ratio = there.row("fedavg").time_seconds / there.row(chosen.topology).time_seconds
    assert there.row(chosen.topology).time_seconds == pytest.approx(chosen.time_seconds)
    assert f"FedAvg takes {times(ratio)} the time" in tuned.verdict.text


@pytest.mark.usefixtures("settings_alone", "untossed")
def test_one_tier_is_left_out_where_link_sharing_decides_or_one_topology_is_asked_about() -> None:
    both = {**ALONE, "link_sharing": None}
    assert planner.flip(**both, objective="time").verdict.status == "depends"
    assert "FedAvg" not in planner.flip(**both, objective="time").verdict.text
    assert "FedAvg" not in planner.tune(**ALONE, topology="star-star").verdict.text


def test_tune_says_of_which_links_one_tier_is_ahead_where_sharing_turns_the_choice() -> None:
    """It was silent there."""
    asked: dict[str, Any] = {"G": 10, "M": 10, "heterogeneity": "inter", "local_steps": "5", "group_rounds": "1"}
    both, own = (planner.tune(**asked, link_sharing=sharing).verdict for sharing in (None, "per-client"))
    said = own.text[own.text.index("FedAvg takes") :].partition(". ")[0]
    (text,) = (case.text for case in both.cases if case.value == "per-client")
    assert said in text


@pytest.mark.parametrize(("tiers", "servers"), [("4/40", "group servers"), ("3/4/5", "servers in between")])
def test_a_toss_up_has_advice_where_one_tier_takes_less_than_all_that_tie(tiers: str, servers: str) -> None:
    answer = answered(
        groups=None,
        clients_per_group=None,
        tiers=tiers,
        heterogeneity=None,
        objective="time",
        link_sharing="per-client",
    )
    tied = [row for row in answer.rows if row.id in answer.verdict.best]
    assert len(tied) > 1
    assert all(answer.row("fedavg").time_seconds < row.time_seconds for row in tied)
    ratio = times(answer.row("fedavg").time_seconds / min(row.time_seconds for row in tied))
    over = times(answer.verdict.baseline.through)
    said = f"Without {servers} FedAvg takes {ratio} the time if clients' links reach the top, {over} over "
    assert said in answer.verdict.text


@pytest.mark.parametrize(("changes", "same"), [({}, True), ({"P": 2}, False), ({"tiers": 2}, False)])
def test_a_star_of_stars_without_group_servers_is_said_to_be_one_tier(changes: dict[str, int], same: bool) -> None:
    """Two rows were one algorithm, and nothing said so."""
    answer = planner.recommend(**{"G": 3, "M": 4, "tiers": 1, "link_sharing": "per-client", "P": 1, **changes})
    assert ("Without group servers Star-Star is FedAvg." in answer.verdict.text) == same
    assert "save none" not in answer.verdict.text
    if same:
        assert answer.row("star-star").time_seconds == pytest.approx(answer.row("fedavg").time_seconds, rel=1e-9)


def test_clients_without_group_servers_are_one_group_unless_groups_are_given() -> None:
    """It searched for groups, and said to take 3 groups of 3."""
    given: dict[str, Any] = {"tiers": 1, "client_link": "lan", "link_sharing": "per-client", **FAST}
    answer = planner.recommend(clients=9, heterogeneity="zeta=3,delta=4", **given)
    same = planner.recommend(G=1, M=9, heterogeneity="zeta=5,delta=0", **given)  # as deviations add in squares
    for row, other in zip(answer.rows, same.rows, strict=True):
        assert (row.id, row.rounds) == (other.id, other.rounds)
    assert answer.verdict.text == same.verdict.text and not answer.recommend.divisions
    assert "Without group servers Star-Star is FedAvg, and Star-Ring is Sequential." in answer.verdict.text
    assert answer.row("star-ring").time_seconds == pytest.approx(answer.row("sfl").time_seconds, rel=1e-9)
    ranged = planner.recommend(clients=9, K="1:4", **given)
    assert ranged.verdict.text.startswith("Take K = ")
    grouped = planner.recommend(clients=9, groups="3:4", **given)
    assert grouped.verdict.text.startswith("Take 3 groups of 3")


def test_nothing_is_said_where_topologies_win() -> None:
    """Clients that take long to reach the server alone, and group servers that are next to it."""
    answer = answered(objective="time", link_sharing="per-client", heterogeneity="both", settings=QUICK)
    fastest = min(row.time_seconds for row in answer.ranking)
    alone = min(row.time_seconds for row in answer.rows if row.baseline)
    assert (answer.verdict.baseline is not None) == ("group servers" in answer.verdict.text)
    assert (answer.verdict.baseline is not None) == (alone <= fastest * 1.02)


def test_one_tier_that_takes_as_much_is_said_to() -> None:
    """Group servers with links 500 times as fast as those of clients add a thousandth to every round."""
    slow, fast = dict.fromkeys(("uplink", "downlink"), "2Mbit/s"), dict.fromkeys(("up", "down"), "1Gbit/s")
    settings = {f"network.server_link.{part}": rate for part, rate in (fast | {"latency": "2ms"}).items()}
    answer = answered(
        objective="time", link_sharing="per-client", heterogeneity="both", model_size="20MB", clients_per_group=50,
        settings={**FAST["settings"], **settings}, **slow,
    )  # fmt: skip
    assert answer.row("star-star").time_seconds == pytest.approx(answer.row("fedavg").time_seconds, rel=0.01)
    assert "FedAvg takes as much time: group servers save none." in answer.verdict.text
    assert answer.verdict.baseline is not None and not answer.verdict.baseline.advised


@pytest.mark.parametrize(("step_time", "printed"), [("0.2s", "0.97x"), ("0.4s", "0.98x"), ("0.7s", "0.98x")])
def test_whether_one_tier_takes_as_much_is_judged_by_the_digits_that_are_shown(step_time: str, printed: str) -> None:
    """Of one 0.98x it read "use it unless you need group servers", and of another "group servers save none"."""
    links = dict.fromkeys(("up", "down"), "500Mbit/s") | {"latency": "8ms"}
    settings = FAST["settings"] | {f"network.server_link.{part}": text for part, text in links.items()}
    answer = answered(
        groups=8, clients_per_group=20, uplink="12Mbit/s", downlink="60Mbit/s", model_size="18MB", local_steps=30,
        rounds=50, settings=settings, step_time=step_time, link_sharing="per-client", objective="time",
    )  # fmt: skip
    ratio = answer.row("fedavg").time_seconds / answer.row("star-star").time_seconds
    assert times(ratio) == printed
    assert (0.978 < ratio < 1 / 1.02, 1 / 1.02 < ratio < 0.985) == (step_time == "0.4s", step_time == "0.7s")
    assert ("FedAvg takes as much time if clients' links" in answer.verdict.text) == (printed == "0.98x")
    assert f"FedAvg takes {printed} the time" in answer.verdict.text or printed == "0.98x"


def test_rounds_of_a_target_are_assumed_where_nobody_gave_them() -> None:
    assert "reaches after 200? rounds\n" in str(answered())
    assert "reaches after 200 rounds\n" in str(answered(rounds=200))
    assert "reaches in 200? rounds\n" in str(answered(groups="2:4", clients_per_group=None, clients=12))


def test_one_tier_is_no_baseline_of_itself() -> None:
    answer = planner.recommend(tiers="star:6", heterogeneity="1", **FAST)
    assert [row.id for row in answer.rows if row.baseline] == ["sfl"]


def test_a_spreadsheet_has_the_baselines_with_plain_numbers() -> None:
    answer = answered()
    rows = [
        line for line in csv.DictReader(io.StringIO(render("csv", document(answer)))) if line["case"] == "per-client"
    ]
    assert [row["id"] for row in rows] == [row.id for row in answer.rows]
    for line, row in zip(rows, answer.rows, strict=True):
        assert float(line["rounds"]) == row.rounds
        assert float(line["time_seconds"]) == row.time_seconds


def test_sequential_training_is_said_to_mix_groups_where_these_differ() -> None:
    said = " in an order that mixes groups takes "
    assert said in " ".join(answered(objective="rounds").verdict.text.split())
    assert said not in answered(objective="rounds", heterogeneity="zeta=1,delta=0").verdict.text


@pytest.mark.parametrize(("sizes", "turns"), [((2, 2, 10), 14), ((6, 9), 15), ((20, 20), 40)])
def test_the_chain_of_a_list_has_as_many_turns_as_clients(sizes: tuple[int, ...], turns: int) -> None:
    """Ring-Ring with one pass of everything visits each client once."""
    groups = [{"clients": size} for size in sizes]
    answer = planner.recommend(
        heterogeneity="iid", objective="rounds", settings={"plan.draws": 0, "fleet.groups": groups}
    )
    assert answer.verdict.best[0] == "ring-ring"
    [chain] = [one.text for one in answer.warnings if "is a chain of" in one.text]
    assert f"is a chain of {turns} turns" in chain


def test_rounds_that_absent_clients_add_are_marked_as_predicted() -> None:
    """518 of 500 rounds stood without a mark, as if it had been given."""
    fleet = {"groups": 12, "clients_per_group": 25, "rounds": 8, "link_sharing": "per-client", "on_failure": "skip"}
    for availability, marked in (("100%", False), ("90%", True)):
        answer = answered(**fleet, availability=availability)
        table = document(answer).table
        (column,) = (i for i, column in enumerate(table.columns) if column.name == "rounds")
        (cell,) = (str(row[column]) for row in table.rows if row[0] == "Star-Star")
        assert cell.startswith("~") is marked
        assert (answer.row("star-star").rounds > 8) is marked
    measured = {"pilot": PILOT, "rounds": 8, "on_failure": "skip"}
    for availability, origins in (("100%", {"given", "measured"}), ("80%", {"predicted"})):
        rows = planner.recommend(**measured, availability=availability).ranking
        assert {row.rounds.origin for row in rows} == origins


@pytest.mark.usefixtures("unflipped", "few_draws")
def test_one_tier_has_one_line_of_a_page_by_cases() -> None:
    """It had two of one name, with advice and without."""
    page = str(planner.recommend(G=3, M=19, K=5, P=5))
    [line] = re.findall(r"^  FedAvg, 1 tier +(.*x \(time, .*\n? *.*)$", page.partition("Target")[0], re.MULTILINE)
    assert re.search(r"servers\);\s+(try|use) it: ", line) and page.partition("Target")[0].count("FedAvg, 1 tier") == 1
