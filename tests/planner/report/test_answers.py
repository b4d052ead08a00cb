"""Every answer that is a document is one in every format of the folder."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from test_cli import run

import planner
from planner.io.answers import Sensitivity
from planner.report.answers.recommend import _table as table_of
from planner.report.page import change
from planner.report.render import formats

pytestmark = pytest.mark.usefixtures("few_draws")

UNDRAWN: dict[str, Any] = {"settings": {"plan.draws": 0}}
QUESTIONS = {
    "flip": ["flip", "-G4", "-M5", "-H", "iid", "--objective=rounds", "-p", "sigma"],
    "map": ["flip", "-G", "4", "-M", "3", "-H", "both", "--predictor", "bound", "--map", "G,M", "--cells", "4"],
    "tune": ["tune", "-G", "4", "-M", "3", "-H", "both", "--predictor", "bound", "--K", "1,4", "--P", "1,2"],
}


@pytest.mark.usefixtures("asked_once", "untossed")
@pytest.mark.parametrize("question", QUESTIONS)
def test_every_format_answers(
    question: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def plan(*words: str) -> str:
        code, out, err = run(*QUESTIONS[question], *words, capsys=capsys, monkeypatch=monkeypatch)
        assert (code, err) == (0, "")
        return out

    found = {form: plan("--format", form) for form in formats()}
    assert found["table"] == plan()
    document, short = (json.loads(text) for text in (found["json"], plan("--json")))
    assert {**document, "command": ()} == {**short, "command": ()}
    assert len(set(found.values())) == len(found)
    rows = list(csv.DictReader(io.StringIO(found["csv"])))
    axes = document.get("flip_map", {"x": {"values": ()}, "y": {"values": ()}})
    wanted = {
        "flip": len(document.get("rows", [])),
        "map": len(axes["x"]["values"]) * len(axes["y"]["values"]),
        "tune": len(document.get("rows", [])),
    }
    assert len(rows) == wanted[question] > 0
    assert found["html"].count("<section") == found["html"].count("</section>") == 1
    assert found["markdown"].startswith("# ")
    code, _, err = run(*QUESTIONS[question], "--json", "--format", "markdown", capsys=capsys, monkeypatch=monkeypatch)
    assert code == 2
    assert "contradicts --json" in err


def evidence_line(**asked: object) -> str:
    lines = [line for line in str(planner.recommend(**asked)).splitlines() if line.startswith("Evidence")]
    return " ".join(lines)


@pytest.mark.usefixtures("unflipped")
def test_evidence_says_where_no_measured_case_is_close() -> None:
    far = {"config": "examples/phones.toml", "rounds": 1000}
    answer = planner.recommend(**far)
    assert "though none is close" in answer.explain("uncertainty").replace("\n", " ")
    said = " ".join(str(answer).partition("Evidence")[2].split())
    assert re.match(r"fair: by rounds \(up to 46\) right in \d+ of \d+ cases, none close ", said)
    close = planner.recommend(G=10, M=10)
    assert "though none is close" not in close.explain("uncertainty").replace("\n", " ")
    near = evidence_line(G=10, M=10, heterogeneity="intra", rounds=40)
    assert near.startswith("Evidence  good: by rounds right in ") and near.endswith(" near cases")


@pytest.mark.usefixtures("unflipped")
def test_evidence_is_weak_for_fleets_far_larger_than_any_that_was_measured() -> None:
    assert "weak: no measured run had 1,000,000 clients in a group, 30 at most" in evidence_line(G=2, M=1_000_000)
    assert planner.recommend(G=2, M=1_000_000, link_sharing="per-client", uplink="1Gbit/s").verdict.confidence is None
    assert "weak" not in evidence_line(G=2, M=900)  # 30 times as many


@pytest.mark.usefixtures("unflipped")
def test_a_target_that_is_met_at_once_has_no_evidence_and_no_race() -> None:
    assert evidence_line(G=4, M=4, target="200%") == ""
    assert planner.recommend(G=4, M=4, target="200%").next == ()  # a race of nothing was offered
    assert evidence_line(G=4, M=4, target="50%") != ""


@pytest.mark.usefixtures("settings_alone")
def test_a_change_inside_a_toss_up_settles_it() -> None:
    given = {"groups": 4, "clients_per_group": 10, "heterogeneity": "inter", "uplink": "200Mbit/s", "local_steps": 1}
    answer = planner.recommend(**given, objective="time", link_sharing="per-client")
    then = planner.recommend(**given, objective="time", link_sharing="per-server", details=False).recommended
    assert len(answer.verdict.best) > len(then) == 1
    assert then[0] in answer.verdict.best
    said = f"link sharing per-server -> {answer.row(then[0]).title} alone"
    assert said in " ".join(str(answer).split())
    assert said in " ".join(answer.explain("break-even").split())


@pytest.mark.usefixtures("unflipped")
def test_rings_that_stall_by_their_weights_are_said_to_with_two_ways_out() -> None:
    fleet = {"config": "examples/unequal_hospitals.toml"}
    answer = planner.recommend(**fleet, target="0.1%", **UNDRAWN)
    assert "Rings stall above this target, as they count children alike" in answer.verdict.text
    assert ("...", "--weights", "equal") in [step.argv for step in answer.next]
    for looser in ({"weights": "equal", "target": "0.1%"}, {"target": "1%"}):
        other = planner.recommend(**fleet, **looser, **UNDRAWN, details=False)
        assert sum(row.rounds is not None for row in other.ranking) > 1
        assert "Rings stall" not in other.verdict.text


@pytest.mark.usefixtures("unflipped")
def test_a_tree_says_how_many_clients_it_has() -> None:
    """Sizes are children of each node, and 4/25/80 was read as 25 groups in all."""
    assert "\nClients   8,000: 4 x 25 x 80\n" in str(planner.recommend(tiers="4/25/80", objective="traffic"))
    assert "Clients " not in str(planner.recommend(tiers="25/80"))


@pytest.mark.usefixtures("unflipped")
@pytest.mark.parametrize(("step_time", "told"), [("0.1s", True), ("1s", False), ("10s", False)])
def test_a_toss_up_that_leaves_out_who_takes_less_says_why(step_time: str, told: bool) -> None:
    answer = planner.recommend(
        **{"G": 5, "M": 6, "local_steps": 2, "heterogeneity": "zeta=0.2,delta=0.9", "step_time": step_time},
        **{"uplink": "10Mbit/s", "model_size": "12MB"},
    )
    found = False
    for case in answer.verdict.cases:
        takes = {row.id: float(one.ratio) for row in answer.ranking for one in row.cases if one.value == case.value}
        found |= any(takes[a] > takes[b] for a in case.best for b in takes if b not in case.best)
    assert found or not told
    note = "A toss-up is by intervals, not by ratios alone: --explain table"
    for between in (None, ","):  # without intervals, and with them, which then say so themselves
        notes = [one.text for one in table_of(answer, 6, [(between, True)], full=False, ties=True)[1:]]
        assert (note in notes) == (found and between is None)


def test_counts_come_next_where_a_profile_says_less(tmp_path: Path) -> None:
    """A profile has one size for all groups, and without inner products no more than the counts."""
    counts = tmp_path / "counts.csv"
    counts.write_text("client,group,a,b\nc1,g1,5,1\nc2,g1,2,3\nc3,g2,9,1\n")
    kept = planner.measure(counts, output=tmp_path / "profile.json")
    assert kept.next[0].argv == ("hfl-plan", "recommend", "--data", str(counts))
    gram = tmp_path / "gram.csv"
    gram.write_text("label,a,b\na,1,0\nb,0,1\n")
    scaled = planner.measure(counts, gram=gram, output=tmp_path / "scaled.json")
    assert scaled.next[0].argv == ("hfl-plan", "recommend", "--data", str(tmp_path / "scaled.json"))


@pytest.mark.usefixtures("unflipped")
def test_what_is_asked_for_is_what_is_missing() -> None:
    """An answer whose uplink was given asked for --uplink, as the downlink was what nobody gave."""
    links = {"network.server_link.up": "1Gbit/s", "network.server_link.down": "1Gbit/s"}
    given = {
        "uplink": "100Mbit/s",
        "link_sharing": "per-client",
        "model_size": "10MB",
        "step_time": "50ms",
        "sigma": 1.9,
        "A": 2.3,
    }
    answer = planner.recommend(G=5, M=6, heterogeneity="intra", objective="time", settings=links, **given)
    asked = [one.argv for one in answer.next if one.asks]
    assert ("--downlink", "RATE") in asked and ("--uplink", "RATE") not in asked
    known = planner.recommend(
        G=5, M=6, heterogeneity="intra", objective="time", settings=links, downlink="100Mbit/s", **given
    )
    assert ("--downlink", "RATE") not in [one.argv for one in known.next if one.asks]


@pytest.mark.usefixtures("unflipped")
def test_parts_of_bounds_that_have_not_the_same_are_one_table(plan) -> None:
    """Bounds of rings have terms that those of stars have not, which ended every report in an internal error."""
    answer = planner.recommend(G=10, M=10, predictor="bound", **UNDRAWN)
    said = plan(
        "recommend",
        "-G",
        "10",
        "-M",
        "10",
        "--predictor",
        "bound",
        "--set",
        "plan.draws=0",
        "--explain",
        "terms",
        "--format",
        "markdown",
    )[1]
    rows = {row[0]: row[1:] for row in re.findall(r"^\| (\S+) \| (.*) \|$", said, flags=re.MULTILINE)}
    for row in answer.ranking:
        cells = rows[row.title][0].split(" | ")
        assert sum(cell != "-" for cell in cells) == len(row.terms)


@pytest.mark.usefixtures("nearest_alone")
def test_a_target_that_would_be_refused_is_not_given_beside_a_count(moved_alone: Any, set_alone: Any) -> None:
    """Of accuracy no number can be asked for; of loss the one that is given is taken."""
    moved_alone("K")
    set_alone()
    asked = {"groups": 6, "clients_per_group": 9, "heterogeneity": "intra", "link_sharing": "per-server"}
    by_loss, by_accuracy = (
        re.search(r"K = \d+ -> Star-Star leads( \(with --target ([\d.]+)\))?", " ".join(str(found).split()))
        for found in (planner.recommend(**asked, **UNDRAWN, metric=metric) for metric in ("loss", "accuracy"))
    )
    assert by_loss is not None and planner.recommend(**asked, target=by_loss[2], details=False).rows
    assert by_accuracy is not None and by_accuracy[1] is None
    with pytest.raises(planner.ScenarioError, match="the predicted training loss stands for accuracy"):
        planner.recommend(**asked, metric="accuracy", target=by_loss[2])


@pytest.mark.usefixtures("unflipped")
def test_a_toss_up_whose_intervals_tell_all_apart_says_why_none_is_named() -> None:
    """Right in 16 of 32 such cases: a probability below that at which one is named, though intervals begin above 1."""
    fleet = {"G": 8, "M": 40, "heterogeneity": "both", "uplink": "12Mbit/s", "model_size": "28MB", "target": 0.397}
    answer = planner.recommend(
        **fleet, link_sharing="per-client", local_steps=12, group_rounds=6, objective="traffic", details=True
    )
    first, *others = (row for row in answer.rows if not row.baseline)
    assert answer.verdict.status == "toss-up" and all(float(row.ratio.low) > 1.02 for row in others)
    assert f"{first.title} leads, but too few such first choices on record were right." in answer.verdict.text


QUICK = ("--set", "plan.draws=0")


@pytest.mark.usefixtures("unflipped")
@pytest.mark.parametrize(
    ("parameter", "now", "other"),
    [
        ("tiers", "2", "1"),
        ("tiers", "1", "2"),
        *(("cost", "schedule", other) for other in ("formula", "diluted")),
        ("order", "fixed", "random"),
        ("availability.detect", "2 turns", "1 turn"),
        ("availability.detect", "2 turns", "6 turns"),
        *((f"{link}_link.hop", "direct", "relayed") for link in ("client", "server")),
        ("server_link.sharing", "per-client", "per-server"),
    ],
)
def test_a_setting_that_is_a_change_is_said_as_it_is_typed(parameter: str, now: str, other: str, plan: Any) -> None:
    one = Sensitivity(
        parameter=parameter, now=now, break_even=other, best_beyond=("star-star", "star-ring"), method="setting"
    )
    said = change(one, {})
    words = shlex.split(said.partition(" -> ")[0].partition(" (")[0])
    assert words[0].startswith("--") and said.endswith("-> Star-Star or Star-Ring")
    code, out, err = plan("recommend", "-G", "3", "-M", "4", "--availability", "95%", *words, *QUICK, "--json")
    assert code == 0, err
    answer = json.loads(out)
    if parameter == "cost":
        assert answer["recommend"]["cost"] == other
        return
    kept = answer["scenario"][parameter]
    assert kept["origin"] == "given" and other.partition(" ")[0] in f"{kept['value']} {kept['source']}".split()


@pytest.mark.usefixtures("few_draws")
def test_sharing_of_the_lines_of_group_servers_is_among_changes_where_nobody_gave_it() -> None:
    """One line for all regions leaves two of four that tie, and was named by `flip` alone."""
    fast, line = dict.fromkeys(("uplink", "downlink"), "10Gbit/s"), dict.fromkeys(("up", "down"), "100Mbit/s")
    settings = {f"network.server_link.{part}": rate for part, rate in line.items()}
    asked = {"G": 5, "M": 6, "heterogeneity": "both", "model_size": "400MB", "client_link": "datacenter", **fast}
    answer = planner.recommend(**asked, settings=settings)
    shared = planner.recommend(
        **asked, settings=settings | {"network.server_link.sharing": "per-server"}, details=False
    )
    [found] = [one for one in answer.sensitivity if one.parameter == "server_link.sharing"]
    assert set(found.best_beyond) == set(shared.verdict.best) < set(answer.verdict.best)
    assert "--set network.server_link.sharing=per-server" in " ".join(str(answer).split())
