"""The page's scenario: no file of this machine, TOML that reads back, and a command line that asks the same."""

import csv
import json
import shlex
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_cli import run

import planner
from planner.decide.rank import recommend
from planner.errors import NoAnswerError, ScenarioError
from planner.io.toml_text import toml
from planner.scenario.resolve import load as load_file
from planner.serve import answer, controls, counts, scenario

pytestmark = pytest.mark.usefixtures("few_draws")

TWO = {
    "fleet": {
        "tiers": [
            {"name": "ward", "count": 12, "link": {"up": "1Gbit/s"}, "deviation": 0.5},
            {
                "name": "client",
                "count": 25,
                "passes": 2,
                "link": {"up": "20Mbit/s", "sharing": "per-server"},
                "deviation": 1,
            },
        ],
        "local_steps": 4,
    },
    "model": {"size": "45MB"},
    "plan": {"objective": "time"},
}
THREE = {"fleet": {"tiers": [{"count": 4}, {"count": 5}, {"count": 6}]}, "plan": {"objective": "time"}}

LEAVES = st.one_of(
    st.booleans(),
    st.integers(-(2**60), 2**60),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
)
KEYS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
TABLES = st.recursive(
    st.dictionaries(KEYS, LEAVES, max_size=4),
    lambda inner: st.dictionaries(KEYS, st.one_of(LEAVES, inner, st.lists(inner, min_size=1, max_size=3)), max_size=4),
    max_leaves=12,
)


@given(TABLES)
def test_toml_text_reads_back_as_the_same_tables(table):
    assert tomllib.loads(toml(table)) == table


@pytest.mark.parametrize("tables", [TWO, THREE])
def test_the_saved_file_is_the_same_scenario(tables, tmp_path):
    file = tmp_path / "scenario.toml"
    file.write_text(answer.answer(tables)["toml"], encoding="utf-8")
    read, sent = load_file(file), scenario.load(tables)
    assert read.network == sent.network
    assert {name: known.value for name, known in read.known.items()} == {
        name: known.value for name, known in sent.known.items()
    }
    assert scenario.from_toml(file.read_text(encoding="utf-8"))["fleet"] == tables["fleet"]


@pytest.mark.parametrize("name", ["phones", "cell_site", "regions"])
def test_the_examples_open_as_the_same_scenario(name):
    file = Path(__file__).parents[3] / "examples" / f"{name}.toml"
    opened, read = scenario.load(scenario.from_file(file)), load_file(file)
    assert opened.network == read.network and opened.compute == read.compute
    values = {key: known.value for key, known in read.known.items()}
    assert {key: known.value for key, known in opened.known.items()} == values


def test_what_the_page_cannot_show_is_refused_with_a_way_out():
    for said in ({"tiers": 1}, {"tiers": "ring/star"}):
        with pytest.raises(ScenarioError, match="hfl-plan recommend --config"):
            scenario.from_toml(toml({"fleet": {"groups": 2, "clients_per_group": 3}, "network": said}))


def keywords(command):
    """The options of a command line as those of `planner.recommend`, read by another road than the command line."""
    words, settings, options = shlex.split(command), {}, {}
    assert words[:2] == ["hfl-plan", "recommend"]
    for name, value in zip(words[2::2], words[3::2], strict=True):
        if name == "--set":
            key, _, said = value.partition("=")
            settings[key] = said
        else:
            options[name.lstrip("-").replace("-", "_")] = value
    return settings, options


@pytest.mark.usefixtures("unflipped")
@pytest.mark.parametrize("tables", [TWO, THREE])
def test_the_command_asks_the_same(tables):
    found = answer.answer(tables)
    settings, options = keywords(found["command"])
    plan = planner.recommend(None, settings, **options)
    case = next((i for i, one in enumerate(found["cases"]) if one["value"] == "per-client"), 0)
    shown = {row["id"]: (row["rounds"], row["seconds"][case], row["bytes"]) for row in found["rows"]}
    assert shown == {row.id: (row.rounds, row.time_seconds, row.traffic_bytes) for row in plan.rows}
    assert found["verdict"] == plan.verdict.text


def test_unknown_sharing_is_shown_both_ways_and_given_sharing_one():
    tables = {"fleet": {"tiers": [{"count": 10}, {"count": 10}]}, "plan": {"objective": "time"}}
    both = answer.answer(tables)["cases"]
    assert [case["value"] for case in both] == ["per-client", "per-server"]
    assert len(answer.answer(TWO)["cases"]) == 1
    for case in both:
        expected = recommend(scenario.load(tables).with_link(sharing=case["value"]), details=False)
        assert case["best"] == list(expected.recommended)


@pytest.mark.parametrize("path", ["fleet.tiers[1].link.up", "fleet.tiers[1].link.down"])
def test_the_best_topology_changes_at_the_mark_and_not_before(path):
    tables = {
        "fleet": {"tiers": [{"count": 10}, {"count": 10, "link": {"sharing": "per-client"}}]},
        "plan": {"objective": "time"},
    }
    now = answer.answer(tables)["cases"][0]["best"]
    found = answer.flips(tables, path)
    changes = [(side, found[side]) for side in ("below", "above") if found[side]]
    assert changes
    tier, key = int(path[12]) - 1, path.rpartition(".")[2]
    for side, change in changes:
        for factor, beyond in ((0.98, side == "below"), (1.02, side == "above")):
            link = tables["fleet"]["tiers"][tier].get("link", {}) | {key: f"{change['at'] * factor!r}bit/s"}
            moved = {**tables, "fleet": {"tiers": [dict(t) for t in tables["fleet"]["tiers"]]}}
            moved["fleet"]["tiers"][tier]["link"] = link
            best = answer.answer(moved)["cases"][0]["best"]
            assert (set(change["to"]) <= set(best)) if beyond else (set(now) & set(best))


@pytest.mark.parametrize(
    "said",
    [
        {"problem": {"heterogeneity": "/etc/passwd.csv"}},
        {"problem": {"heterogeneity": " ../x.JSON "}},
        {"problem.heterogeneity": "/etc/passwd.csv"},
        {"problem": {"pilot": "/etc/passwd"}},
        {"problem.pilot": "x.json"},
        {"fleet": {"list": "/etc/passwd"}},
        {"fleet.list": "/etc/passwd"},
    ],
)
def test_no_file_of_this_machine_is_read(said, monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("a file was opened")

    monkeypatch.setattr("pathlib.Path.open", refuse)
    monkeypatch.setattr("pathlib.Path.read_bytes", refuse)
    with pytest.raises(ScenarioError, match=r"page reads no|reads no pilot"):
        scenario.load({**THREE, **said})


def test_label_counts_say_tiers_and_deviations():
    # Two groups of two clients, each group of one label: nothing differs inside, and a group stands as far from the
    # mean as a client with one label from an even mixture, which is taken to be 4 sigma.
    rows = ["client,group,a,b", "c1,g1,100000,0", "c2,g1,100000,0", "c3,g2,0,100000", "c4,g2,0,100000"]
    found = counts.measured("\n".join(rows).encode())
    assert [tier["count"] for tier in found["tiers"]] == [2, 2]
    sigma = planner.load_scenario(G=2, M=2).number("sigma")
    assert found["tiers"][0]["deviation"] == pytest.approx(4 * sigma, rel=1e-3)
    assert found["tiers"][1]["deviation"] == pytest.approx(0, abs=1e-3)


EXAMPLES = Path(__file__).parents[3] / "examples"
MODES = ("per-client", "per-server")

# Two wards of one label each. Of groups with a client of each ward both are as the whole, and every client stands from
# its group as far as it stood from the whole: 4 sigma, as it has one label.
WARDS = "client,group,a,b\nc1,east,100000,0\nc2,east,100000,0\nc3,west,0,100000\nc4,west,0,100000\n"
LINKS = {
    "fleet": {
        "tiers": [
            {"name": "ward", "count": 12, "link": {"up": "1Gbit/s"}, "deviation": 0.5},
            {"count": 25, "passes": 2, "link": {"up": "20Mbit/s", "sharing": "per-server"}, "deviation": 1},
        ],
        "local_steps": 4,
    },
    "plan": {"objective": "rounds"},
}
AS_SETTINGS = {
    "network.server_link.up": "1Gbit/s",
    "network.client_link.up": "20Mbit/s",
    "network.client_link.sharing": "per-server",
    "fleet.group_rounds": 2,
    "fleet.local_steps": 4,
    "plan.objective": "rounds",
}


def grouped(text):
    """The clients of every group of a file."""
    found = {}
    for row in csv.DictReader(text.splitlines()):
        found.setdefault(row["group"], set()).add(row["client"])
    return found


def test_clients_are_put_into_groups_that_are_alike():
    found = counts.regrouped(WARDS.encode(), "wards.csv", 2, LINKS)
    assert all(len(one & {"c1", "c2"}) == 1 == len(one & {"c3", "c4"}) for one in grouped(found["csv"]).values())
    assert [tier["count"] for tier in found["tiers"]] == [2, 2]
    sigma = planner.load_scenario(G=2, M=2).number("sigma")
    assert found["tiers"][0]["deviation"] == pytest.approx(0, abs=0.05)  # the noise of 100 000 samples
    assert found["tiers"][1]["deviation"] == pytest.approx(4 * sigma, rel=1e-3)
    assert dict(found["facts"])["Groups"] == "4 clients in 2 groups of 2"
    assert found["verdict"].startswith(("Worth regrouping for rounds", "Toss-up for rounds"))
    alike = counts.regrouped(found["csv"].encode(), "wards.csv", 2, LINKS)
    assert alike["verdict"].startswith("Not worth regrouping for rounds")


def test_the_command_says_and_writes_what_the_page_does(tmp_path, monkeypatch, capsys):
    name = "-my wards; of 'two'.csv"
    found = counts.regrouped(WARDS.encode(), name, 2, LINKS)
    (tmp_path / name).write_text(WARDS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    words = shlex.split(found["command"])
    settings = [word for key, value in AS_SETTINGS.items() for word in ("--set", f"{key}={value}")]
    code, _, _ = run(*words[1:], *settings, capsys=capsys, monkeypatch=monkeypatch)
    assert code == 0
    assert (tmp_path / "regrouped.csv").read_text(encoding="utf-8") == found["csv"]
    words = ["group", f"./{name}", "--groups", "2", *settings, "--format", "json"]
    code, printed, _ = run(*words, capsys=capsys, monkeypatch=monkeypatch)
    assert code == 0 and json.loads(printed)["verdict"]["text"] == found["verdict"]


@pytest.mark.slow
@pytest.mark.usefixtures("unflipped")
def test_the_time_is_of_own_links_where_sharing_is_not_known():
    hospitals = EXAMPLES / "hospitals.csv"
    tables = {"fleet": {"tiers": [{"count": 4}, {"count": 8}]}, "plan": {"objective": "time"}}
    said = dict(counts.regrouped(hospitals.read_bytes(), "hospitals.csv", 4, tables)["facts"])["Links"]
    best = {way: planner.group(hospitals, groups=4, link_sharing=way).rows[0].after for way in MODES}
    assert best["per-client"] != best["per-server"] and said.startswith("own links")
    assert f"with shared links {best['per-server'][0].title()} is best after" in said
    tables["fleet"]["tiers"][1]["link"] = {"sharing": "per-server"}
    assert "Links" not in dict(counts.regrouped(hospitals.read_bytes(), "hospitals.csv", 4, tables)["facts"])


def test_counts_without_groups_and_nested_ones_can_be_grouped():
    plain = "client,a,b\nc1,9,1\nc2,9,1\nc3,1,9\nc4,1,9\n"
    found = counts.measured(plain.encode())
    assert (found["tiers"], found["clients"], found["groups"]) == ([], 4, 0)
    made = counts.regrouped(plain.encode(), "wards.csv", 2, LINKS)
    assert sorted(map(len, grouped(made["csv"]).values())) == [2, 2]
    assert dict(made["facts"])["At random"].partition(": ")[0].endswith("as the file does not have these")
    nested = "region,edge,client,a,b\nr1,e1,c1,9,1\nr1,e2,c2,9,1\nr2,e3,c3,1,9\nr2,e4,c4,1,9\n"
    found = counts.measured(nested.encode())
    assert (len(found["tiers"]), found["clients"], found["groups"]) == (3, 4, 4)
    made = counts.regrouped(nested.encode(), "wards.csv", 2, LINKS)
    assert sorted(map(sorted, grouped(made["csv"]).values())) in (
        [["c1", "c3"], ["c2", "c4"]],
        [["c1", "c4"], ["c2", "c3"]],
    )
    with pytest.raises(ScenarioError, match=r"has 3 tiers\. Remove one"):
        counts.regrouped(nested.encode(), "wards.csv", 2, {"fleet": {"tiers": [{"count": 2}] * 3}})


@pytest.mark.usefixtures("searched_once")
def test_a_mark_in_the_table_of_groups_is_explained_there():
    hospitals = Path(__file__).parents[3] / "examples" / "hospitals.csv"
    links = {"fleet": {"tiers": [{"count": 4}, {"count": 8}]}}
    for predictor, gain in (("spectrum", " or a difference within the predictor's error"), ("bound", "")):
        made = counts.regrouped(hospitals.read_bytes(), "h.csv", 4, {**links, "plan": {"predictor": predictor}})
        cells = [cell for row in made["rows"] for cell in row]
        assert any(cell.endswith(("-Ring*", "-Star*")) for cell in cells)
        assert any(cell.endswith(" %*") for cell in cells) == bool(gain)
        assert made["facts"][0] == ["*", "one of a toss-up" + gain]


@pytest.mark.usefixtures("unflipped")
def test_a_case_advises_one_tier_in_the_words_of_its_verdict_alone():
    fleet = {"tiers": [{"count": 10}, {"count": 10}]}
    both = answer.answer({"fleet": fleet, "plan": {"objective": "time"}})
    alone = planner.recommend(groups=10, clients_per_group=10, objective="time", link_sharing="per-client")
    advice = alone.verdict.text[alone.verdict.text.index("FedAvg") :].partition(". ")[0].rstrip(".")
    assert advice in both["lines"][0] and "FedAvg" not in both["lines"][1]


def test_a_verdict_without_cases_says_the_baseline_once():
    tables = {"fleet": {"tiers": [{"count": 10}, {"count": 10, "link": {"sharing": "per-client"}}]}}
    found = answer.answer({**tables, "plan": {"objective": "time"}})
    assert found["verdict"].count("FedAvg") == 1 and "takes 0.75x" in found["verdict"] and found["lines"] == []


def test_a_search_that_takes_long_names_the_command(monkeypatch):
    monkeypatch.setattr(counts, "SECONDS", -1)
    with pytest.raises(NoAnswerError, match=r"Run `hfl-plan group wards\.csv --groups 2 -o regrouped\.csv`"):
        counts.regrouped(WARDS.encode(), "wards.csv", 2, LINKS)


def test_a_wrong_column_is_named_without_a_path_of_this_machine():
    with pytest.raises(ScenarioError, match=r"^counts\.csv:1") as refused:
        counts.measured(b"who,group,a\nc1,g1,5\n")
    assert "/" not in str(refused.value).split(":")[0]


def test_every_control_is_a_key_and_a_number_of_the_answer():
    assert all(one["help"] for kind in controls.described().values() for one in kind)
    for depth in (1, 2, 3, 4):
        tables = {"fleet": {"tiers": [{"count": 2} for _ in range(depth)]}, "plan": {"objective": "time"}}
        known = scenario.load(tables).known
        missing = {path for path, symbol in controls.symbols(depth).items() if symbol not in known}
        assert missing <= {"availability.client"}


def test_a_fleet_by_list_is_refused_when_it_is_opened():
    file = Path(__file__).parents[3] / "examples" / "unequal_hospitals.toml"
    with pytest.raises(ScenarioError, match="hfl-plan recommend --config FILE"):
        scenario.from_file(file)


def test_ratios_of_a_case_are_those_of_the_scenario_that_says_it():
    def ratios(sharing, case):
        link = {"link": {"sharing": sharing}} if sharing else {}
        tables = {"fleet": {"tiers": [{"count": 10}, {"count": 10, **link}]}, "plan": {"objective": "time"}}
        return {row["id"]: row["text"]["ratio"][case] for row in answer.answer(tables)["rows"]}

    for case, sharing in enumerate(("per-client", "per-server")):
        assert ratios(None, case) == ratios(sharing, 0)
        assert any("[" in text for text in ratios(None, case).values())
