"""Answers that depend on one unknown: every short form of them holds both cases."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from typing import Any

import pytest

import planner
from planner.errors import ScenarioError
from planner.io.wording import title
from planner.report import document
from planner.report.render import render
from planner.scenario.units import format_duration

pytestmark = pytest.mark.usefixtures("few_draws")

ASKED: dict[str, Any] = {"G": 12, "M": 25, "uplink": "20Mbit/s", "settings": {"plan.draws": 0}}


def lines(answer: Any) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(render("csv", document(answer)))))


@pytest.mark.usefixtures("unflipped")
def test_csv_has_the_rows_of_each_case_as_when_it_is_given() -> None:
    both = planner.recommend(**ASKED)
    assert both.verdict.status == "depends"
    found = lines(both)
    assert next(iter(found[0])) == "case"
    assert [line["case"] for line in found] == ["per-client"] * 6 + ["per-server"] * 6
    for case in ("per-client", "per-server"):
        alone = lines(planner.recommend(**ASKED, link_sharing=case))
        assert "case" not in alone[0]
        assert [*alone[0]] == [name for name in alone[0] if name == "cases" or name in found[0]]
        here = [line for line in found if line["case"] == case]
        ignored = {"cases", "participation"}  # nothing but nested parts
        assert [{n: line[n] for n in line if n not in ignored} for line in alone] == [
            {n: line[n] for n in line if n not in {"case", *ignored}} for line in here
        ]


@pytest.mark.usefixtures("unflipped")
def test_all_numbers_have_the_times_of_both_cases() -> None:
    """Those of shared links are those of the answer that is told so."""
    said = str(planner.recommend(**ASKED).explain("table"))
    shared = planner.recommend(**ASKED, link_sharing="per-server")
    assert "time, shared links" in said
    for row in shared.ranking:
        assert re.search(rf"^{row.title} .*{re.escape(format_duration(row.time_seconds))}", said, flags=re.MULTILINE)


@pytest.mark.usefixtures("unflipped")
def test_quiet_says_the_cases_and_the_question_names_the_modes() -> None:
    both = planner.recommend(**ASKED)
    text = render("table", document(both, quiet=True))
    assert text.splitlines()[0].startswith("Depends on one unknown")
    assert [line.split("  ")[1] for line in text.splitlines()[1:3]] == ["own links", "shared links"]
    with pytest.raises(ScenarioError, match=r"'everything' is no section.*, assumptions, .*evidence"):  # passed over
        document(both, "everything", quiet=True)
    page = render("table", document(both)).splitlines()
    (asked,) = [line for line in page if line.startswith("Ask")]
    assert asked.endswith("   --link-sharing per-client|per-server")
    assert len(asked) <= 80


@pytest.mark.parametrize(("word", "mode"), [("shared", "per-server"), ("own", "per-client")])
def test_words_for_sharing_lead_to_its_modes(word: str, mode: str) -> None:
    with pytest.raises(ScenarioError, match=rf"Did you mean {mode}\?"):
        planner.recommend(**ASKED, link_sharing=word)


@pytest.mark.usefixtures("unflipped")
def test_measure_and_recommend_write_one_interval_of_the_ratio() -> None:
    said = " ".join(planner.recommend(data="examples/hospitals.csv").explain("warnings").split())
    low, high = said.partition("(95 % ")[2].partition(")")[0].split(" to ")
    value = said.partition("zeta^2/delta^2 = ")[2].partition(" ")[0]
    assert re.search(rf"{value} +\[{low}, {high}\]", str(planner.measure("examples/hospitals.csv")))
    assert {len(one.replace(".", "").lstrip("0")) for one in (value, low, high)} == {2}


@pytest.mark.usefixtures("unflipped")
@pytest.mark.parametrize(
    "given",
    [
        {"groups": 10, "clients_per_group": 10, "heterogeneity": "inter"},
        {"data": "examples/hospitals.csv"},
        pytest.param({"groups": 8, "clients_per_group": 8, "heterogeneity": "iid"}, marks=pytest.mark.slow),
    ],
)
def test_ratios_of_both_cases_have_the_intervals_that_each_has_alone(given: dict[str, Any]) -> None:
    page = planner.recommend(**given)
    lines = str(page).splitlines()
    assert max(map(len, lines)) <= 80 and len(str(page).split()) <= 220
    for case in ("per-client", "per-server"):
        alone = planner.recommend(**given, link_sharing=case, objective="time")
        cells = [row[2] for row in document(alone).table.rows]
        assert sum("[" in cell for cell in cells) >= 3
        for row, cell in zip(document(alone).table.rows, cells, strict=True):
            (line,) = [one for one in lines if one.startswith(f"{row[0]}  ")]
            assert cell.partition("-")[0].replace(", ", ",") in line.replace(", ", ",")  # single tiers over own links


@pytest.mark.usefixtures("unflipped")
def test_both_cases_have_their_intervals_where_devices_stay_away() -> None:
    """Their rounds are those begun, which is said in two lines."""
    given: dict[str, Any] = {"groups": 10, "clients_per_group": 10, "heterogeneity": "inter", "availability": "95%"}
    page = str(planner.recommend(**given)).splitlines()
    assert max(map(len, page)) <= 80 and len(" ".join(page).split()) <= 220
    head = next(i for i, line in enumerate(page) if line.startswith("topology"))
    at = page[head].index("begun")
    assert page[head - 1][at - 1 : at + 6].split() == ["rounds"]
    for case in ("per-client", "per-server"):
        alone = document(planner.recommend(**given, link_sharing=case, objective="time")).table.rows
        cells = {row[0]: row[2] for row in alone if row[2] and "[" in row[2]}
        assert len(cells) == 2
        for name, cell in cells.items():
            (line,) = [one for one in page if one.startswith(f"{name}  ")]
            assert cell.replace(", ", ",") in line.replace(", ", ",")


@pytest.mark.usefixtures("nearest_alone")
@pytest.mark.parametrize(
    ("groups", "clients", "data"), [(2, 2, "inter"), pytest.param(2, 40, "both", marks=pytest.mark.slow)]
)
def test_a_page_with_every_line_keeps_to_its_lines(groups: int, clients: int, data: str, moved_alone: Any) -> None:
    """Toss-ups by every objective of which each is another one, a warning of two lines, and all else."""
    moved_alone("sigma", "step_time")
    given: dict[str, Any] = {"groups": groups, "clients_per_group": clients, "heterogeneity": data}
    answer = planner.recommend(**given, availability="97%")
    lines = str(answer).splitlines()
    assert lines[0] == "Each objective has a toss-up of its own; by time, link sharing decides which."
    assert len(lines) <= 25 and sum(line.startswith("Warning") for line in lines) == 1


@pytest.mark.usefixtures("unflipped")
def test_the_ends_of_a_narrow_interval_are_two_numbers() -> None:
    """Where no space follows the comma between them, thousands have none."""
    answer = planner.recommend(groups=100, clients_per_group=60, heterogeneity="inter")
    high = [one.ratio.high for row in answer.ranking for one in row.cases if one.ratio is not None and one.ratio.high]
    shown = re.findall(r"x \[([^]]*)\]", str(answer))
    assert len(shown) == len(high) and max(high) > 1000
    ends = [list(map(float, one.split(","))) for one in shown]
    assert all(len(one) == 2 and one[0] < one[1] for one in ends)
    assert sorted(one[1] for one in ends) == pytest.approx(sorted(high), rel=0.06)  # of two digits


@pytest.mark.usefixtures("unflipped")
def test_objectives_with_one_verdict_share_a_line() -> None:
    page = planner.recommend(groups=10, clients_per_group=10, heterogeneity="inter")
    by = {case.value: case.text for case in page.verdict.cases}
    assert by["rounds"] == by["traffic"] != by["time"]
    assert f"rounds, traffic     {by['rounds']}\n" in str(page)
    assert str(page).count(by["rounds"]) == 1


@pytest.mark.usefixtures("unflipped")
def test_the_question_is_of_the_input_that_decides_most() -> None:
    """Where noise was given, what is open is the curvature and the start of the loss: the largest index has both."""
    answer = planner.recommend(config="examples/hospitals.toml")
    indices = {one.parameter: one.sobol_total for one in answer.sensitivity if one.sobol_total is not None}
    assert max(indices, key=lambda name: indices[name]) == "L A"
    assert answer.scenario["sigma"].origin == "given"
    (asked, *_) = (step for step in answer.next if step.asks)
    assert asked.why == "How large are L and A of your model?"


@pytest.mark.usefixtures("unflipped")
def test_no_question_is_asked_twice() -> None:
    """Both directions of a link are answered by one option."""
    answer = planner.recommend(groups=10, clients_per_group=10, heterogeneity="inter")
    large = {one.parameter for one in answer.sensitivity if (one.sobol_total or 0) >= 0.1}
    assert large >= {"server_link.up", "server_link.down"}
    asked = [step.why for step in answer.next if step.asks]
    assert len(set(asked)) == len(asked) > 1


@pytest.mark.usefixtures("unflipped")
@pytest.mark.parametrize(
    ("given", "keys"),
    [
        (ASKED, {"per-client": {"link_sharing": "per-client"}, "per-server": {"link_sharing": "per-server"}}),
        (
            {"G": 10, "M": 10, "heterogeneity": "inter", **{"settings": {"plan.draws": 0}}},
            {
                "time, per-client": {"objective": "time", "link_sharing": "per-client"},
                "time, per-server": {"objective": "time", "link_sharing": "per-server"},
                "rounds": {"objective": "rounds"},
                "traffic": {"objective": "traffic"},
            },
        ),
        ({**ASKED, "link_sharing": "per-server"}, {"": {"link_sharing": "per-server"}}),
    ],
)
def test_the_best_of_every_case_is_that_of_the_case_alone(given: dict[str, Any], keys: dict[str, Any]) -> None:
    answer = planner.recommend(**given)
    assert answer.recommended_by_case == {
        key: planner.recommend(**{**given, **more}).verdict.best for key, more in keys.items()
    }
    assert answer.recommended == next(iter(answer.recommended_by_case.values()))


CROWDED: dict[str, dict[str, Any]] = {
    "5/8/3": {"heterogeneity": "both", "uplink": "10:40Mbit/s", "rounds": 500},
    "8/20/4": {"heterogeneity": "both", "rounds": 20},
    "20/5/20": {"heterogeneity": "both", "uplink": "20Mbit/s", "rounds": 20, "local_steps": 5},
    "3/5/20/20": {"heterogeneity": "inter", "local_steps": 1},
    "4/8/4": {"heterogeneity": "inter", "local_steps": 10},
    "8/3/4": {"heterogeneity": "intra", "rounds": 500},
    "2/20/5": {"heterogeneity": "both", "model_size": "2MB"},
}


@pytest.mark.usefixtures("nearest_alone")
@pytest.mark.parametrize(
    "tiers", [pytest.param(tiers, marks=() if tiers == "2/20/5" else pytest.mark.slow) for tiers in CROWDED]
)
def test_what_the_verdict_names_has_a_row_also_on_a_full_page(tiers: str, moved_alone: Any) -> None:
    """Toss-ups of several objectives name up to four topologies each, and a full page had three rows."""
    moved_alone("sigma", "step_time")
    answer = planner.recommend(tiers=tiers, **CROWDED[tiers])
    page = str(answer)
    verdict, target, rest = page.partition("Target:")
    tree = r"(?:Star|Ring)(?:-(?:Star|Ring))+"
    rows = re.findall(rf"^ *({tree})  ", rest, flags=re.MULTILINE)
    assert target and {*re.findall(tree, verdict)} <= {*rows}
    first = {case.best[0] for outer in answer.verdict.cases for case in (outer.cases or (outer,))}
    assert {answer.row(id_).title for id_ in first} <= {*rows}
    assert len(page.splitlines()) <= 25 and len(page.split()) <= 220
    left = len(answer.ranking) - len(rows)
    assert (f"{left} more topolog{'y' if left == 1 else 'ies'}: --explain table" in rest) == (left > 0)


@pytest.mark.usefixtures("nearest_alone")
def test_a_page_of_a_search_shortens_what_it_assumes_before_it_exceeds_its_words(moved_alone: Any) -> None:
    """It had 246 words, with all other facts left out."""
    moved_alone("sigma", "step_time")
    link = {"uplink": "25Mbit/s", "link_sharing": "per-client"}
    page = str(planner.recommend(clients=24, heterogeneity="both", local_steps="1:2", group_rounds="1:2", **link))
    assert len(page.splitlines()) <= 25 and len(page.split()) <= 220
    assert re.search(r"^Assumed .* \d more: --explain$", page, flags=re.MULTILINE)


def test_a_short_page_says_how_many_changes_it_leaves_out(moved_alone: Any) -> None:
    """Where that took a line, one change stood as if there were no others."""
    moved_alone("client_link", "server_link", "step_time")
    answer = planner.recommend(groups=12, clients_per_group=25, heterogeneity="zeta=1.47,delta=3.29")
    said = " ".join(str(answer).partition("Changes ")[2].partition("Warning")[0].split())
    assert {"client_link.rate", "server_link.latency"} <= {one.parameter for one in answer.sensitivity}
    assert said.startswith("own") and re.search(r" toss-up; [2-9] more", said)


@pytest.mark.usefixtures("all_draws")
def test_a_full_page_names_both_of_two_that_tie_in_a_case(tmp_path: Path, moved_alone: Any) -> None:
    """It had 224 words, and named neither: "own links, shared links: toss-up, any of 2 topologies"."""
    moved_alone("sigma", "step_time")
    held = """494 9 487 580, 56 60 233 2, 50 95 156 39, 9 33 41 207; 1988 970 272 2, 591 1443 1349 177,
        1106 1889 749 1123, 3381 804 500 85, 2464 428 1418 1694, 608 285 73 8, 110 267 81 9, 134 86 30 18,
        139 141 121 43; 212 2043 875 79, 54 87 149 0, 9 771 454 110, 103 361 435 0, 0 399 228 14"""
    groups = [group.split(",") for group in held.split(";")]
    rows = [f"{g}-{i},{g}," + ",".join(n.split()) for g, group in enumerate(groups) for i, n in enumerate(group)]
    counts, profile = tmp_path / "counts.csv", tmp_path / "profile.json"
    counts.write_text("\n".join(["client,group,a,b,c,d", *rows, ""]))
    planner.measure(counts, output=profile)
    answer = planner.recommend(data=profile)
    page = render("table", document(answer))
    assert len(page.split()) <= 220
    cases = [one for case in answer.verdict.cases for one in case.cases]
    assert len(cases) == 2 and all(len(case.best) == 2 for case in cases)
    for case in cases:
        assert f"toss-up, {' or '.join(title(id_) for id_ in case.best)}" in page


@pytest.mark.usefixtures("unflipped")
@pytest.mark.parametrize("asked", [{}, {"link_sharing": "per-server", "objective": "traffic"}])
def test_rows_of_a_toss_up_that_the_verdict_does_not_name_are_marked(asked: dict[str, str]) -> None:
    answer = planner.recommend(tiers="3/4/10" if asked else "4/5/10", **asked)
    ids = {row.title: row.id for row in answer.ranking}
    tied = [one.best for one in (answer.verdict.cases[0].cases if not asked else [answer.verdict])]
    assert max(map(len, tied)) > 2 and "= toss-up" in str(answer)
    rows = [found for line in str(answer).splitlines() if (found := re.match(r" *((?:Star|Ring)\S+)  (.*)", line))]
    assert len(rows) >= 4
    for row in rows:
        marks = [cell.endswith("=") for cell in re.findall(r"\d+x\S*", row[2])]
        assert marks == [ids[row[1]] in best for best in tied]
    assert "= toss-up" not in str(planner.recommend(G=10, M=10, **asked))  # at most four, which are named


@pytest.mark.usefixtures("unflipped", "few_draws")
def test_a_case_with_one_best_topology_has_no_mark_of_a_toss_up() -> None:
    answer = planner.recommend(tiers="4/5/10")
    own = answer.open_cases[0]
    first = answer.verdict.cases[0].cases[0].best[0]
    alone = [
        row.replaced(cases=[one.replaced(tie=1 + (row.id != first)) if one.value == own else one for one in row.cases])
        for row in answer.rows
    ]
    page = render("table", document(answer.replaced(rows=alone)))
    [line] = [line for line in page.splitlines() if line.startswith(f"{title(first)} ")]
    assert re.findall(r"\d+x\S*", line)[0] == "1x" and "= toss-up" in page


@pytest.mark.parametrize(
    ("config", "said"),
    [("hospitals", True), ("cell_site", False), pytest.param("phones", False, marks=pytest.mark.slow)],
)
@pytest.mark.usefixtures("unflipped", "all_draws")
def test_a_toss_up_by_time_names_which_of_it_move_least(config: str, said: bool) -> None:
    """A toss-up told nobody what to do: of topologies that may take as long, some move a sixth of the data."""
    answer = planner.recommend(f"examples/{config}.toml")
    least = answer.verdict.tie_break
    assert bool(least) == said
    assert (f"Least traffic of these: {' or '.join(map(title, least))}." in answer.verdict.text) == said
    moved = {row.id: float(row.traffic_bytes) for row in answer.ranking if row.id in answer.verdict.best}
    assert set(least) <= set(answer.verdict.best)
    assert not said or max(moved[one] for one in least) < min(moved[one] for one in moved if one not in least)


@pytest.mark.usefixtures("unflipped", "all_draws")
def test_a_toss_up_by_energy_names_which_of_it_take_the_least_time() -> None:
    links = {"uplink": "8Mbit/s", "downlink": "8Mbit/s", "latency": "30ms", "link_sharing": "per-client"}
    servers = {"server_uplink": "50Mbit/s", "server_downlink": "50Mbit/s", "hop": "relayed"}
    fleet = {"G": 8, "M": 15, "K": 8, "rounds": 300, "model_size": "28MB", "step_time": "0.25s"}
    answer = planner.recommend(**fleet, **links, **servers, device="raspberry-pi-4", grid="germany", objective="energy")
    took = {row.id: float(row.time_seconds) for row in answer.ranking if row.id in answer.verdict.best}
    assert len(took) > 1 and answer.verdict.tie_break == (min(took, key=lambda t: took[t]),)
    assert f"Least time of these: {title(answer.verdict.tie_break[0])}." in answer.verdict.text
