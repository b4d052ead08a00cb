"""No text of a picture is cut off or covers another, each says its scenario, and new ones show the right numbers."""

import itertools
import json
import math
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib")
from matplotlib.text import Text
from test_cli import run

from planner import load_scenario, recommend
from planner.data.label_counts import read_counts
from planner.data.pilot import read_pilot
from planner.decide.phase_diagram import phase
from planner.errors import NoAnswerError
from planner.io.wording import two
from planner.plot import draw as pictures
from planner.plot import phase as phase_picture
from planner.plot import race, style
from planner.plot.lettering import heading, in_short
from planner.predict.evidence.predictor_record import unproven_factor
from planner.predict.question import ask

pytestmark = pytest.mark.usefixtures("few_draws")

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "examples"
PILOT = str(EXAMPLES / "digits_pilot.json")
SCENARIOS = {
    "phones": {"config": EXAMPLES / "phones.toml"},
    "cell": {"config": EXAMPLES / "cell_site.toml"},
    "small": {"G": 3, "M": 2, "uplink": "1Mbit/s"},
    "shared": {"G": 10, "M": 10, "link_sharing": "per-server", "objective": "time"},
    "rounds": {"G": 10, "M": 10, "objective": "rounds"},
    "pilot": {"G": 4, "M": 4, "pilot": PILOT, "uplink": "1Mbit/s"},
}
TREES = {"three": {"tiers": "4/5/20", "objective": "time"}, "four": {"tiers": "2/3/4/5", "objective": "time"}}


@contextmanager
def recorded():
    """The texts that are really drawn: ticks outside an axis are there, and never drawn."""
    seen, usual = [], Text.draw

    def draw(self, renderer, *args, **settings):
        if self.get_visible() and self.get_text().strip():
            seen.append((self, Text.get_window_extent(self, renderer)))  # of the letters, without a line to a point
        usual(self, renderer, *args, **settings)

    Text.draw = draw
    try:
        yield seen
    finally:
        Text.draw = usual


def check_texts(figure):
    with style(), recorded() as seen:
        figure.canvas.draw()
    whole = figure.bbox
    for text, box in seen:
        inside = box.x0 >= -1 and box.y0 >= -1 and box.x1 <= whole.x1 + 1 and box.y1 <= whole.y1 + 1
        assert inside, f"{text.get_text()!r} is cut off: {box} in {whole}"
    # A message keeps room below it for the scenario, by empty lines: its box is that of its own lines.
    for (one, a), (other, b) in itertools.combinations(seen, 2):
        if "\n\n" in f"{one.get_text()}\n{other.get_text()}\n" and figure._suptitle in (one, other):
            continue
        across, up = min(a.x1, b.x1) - max(a.x0, b.x0), min(a.y1, b.y1) - max(a.y0, b.y0)
        assert across <= 1 or up <= 1, f"{one.get_text()!r} covers {other.get_text()!r}"
    return [text.get_text() for text, _ in seen]


def shown(kind, options):
    options = dict(options)
    scenario = load_scenario(options.pop("config", None), **options)
    return scenario, pictures.kinds()[kind].of_scenario(scenario)


@cache
def of(kind, name):
    """A picture of one of these scenarios, and its texts, drawn once and checked once."""
    scenario, (figure, rows, _) = shown(kind, (SCENARIOS | TREES)[name])
    return scenario, figure, rows, check_texts(figure)


@pytest.mark.parametrize(
    ("kind", "name"),
    [  # every kind with one of them; with the phones all but the diagram, and hours, are drawn below too
        pytest.param(kind, name, marks=() if (i + j) % 6 == 1 and kind != "hours" else pytest.mark.slow)
        for i, kind in enumerate(["bound", "diagram", "forest", "front", "hours", "links", "tiers", "tornado"])
        for j, name in enumerate(SCENARIOS)
        if (kind, name) != ("front", "pilot")  # which is refused
    ],
)
def test_no_text_is_cut_or_covers_another(kind, name):
    of(kind, name)


@pytest.mark.parametrize(("kind", "name"), [("hours", "phones"), ("hours", "shared"), ("race", "pilot")])
def test_every_line_has_its_name_next_to_it(kind, name):
    *_, words = of(kind, name)
    for title in ("Star-Star", "Star-Ring", "Ring-Star", "Ring-Ring"):
        assert words.count(title) == 1, words


@pytest.mark.parametrize(
    ("kind", "name"),
    [  # every kind with one of the trees, hours, which have most of the words, with the smaller one
        pytest.param(kind, name, marks=pytest.mark.slow if (i + j) % 2 else ())
        for i, kind in enumerate(["forest", "tiers", "hours", "links", "tornado"])
        for j, name in enumerate(TREES)
    ],
)
def test_nor_in_deeper_trees(kind, name):
    of(kind, name)


def test_nor_in_races_groupings_calibrations_and_maps():
    check_texts(shown("race", SCENARIOS["pilot"])[1][0])
    check_texts(shown("calibration", SCENARIOS["phones"])[1][0])
    counts = read_counts(EXAMPLES / "hospitals.csv")
    check_texts(pictures.kinds()["grouping"].of_tables([("before", counts), ("after", counts)])[0])
    found = phase(load_scenario(G=10, M=10, objective="time"), "server_uplink,model_size", (), 5)
    check_texts(phase_picture.draw(found)[0])


@pytest.mark.parametrize("kind", ["bound", "forest", "front", "hours", "links", "tiers", "tornado"])
def test_a_picture_says_its_scenario_and_one_message(kind):
    _, figure, _, texts = of(kind, "phones")
    words = " ".join(texts).replace("\n", " ").replace("\N{NO-BREAK SPACE}", " ")
    assert "300 phones, 12 edge servers" in words and "25 clients" in words and "44.8 MB" in words
    message = figure._suptitle.get_text().strip()
    assert message and message[0].isupper() and len(message) < 110


def test_a_long_title_of_a_user_stays_inside():
    from planner.plot import figure

    with style():
        drawn, _ = figure()
        heading(drawn, "Star-Star is best " * 5, in_short(load_scenario(G=2, M=2, settings={"title": "$x_1$ & " * 20})))
    check_texts(drawn)


def test_tiers_show_the_time_of_one_model_over_every_hop():
    options = {"G": 3, "M": 2, "uplink": "20Mbit/s", "downlink": "40Mbit/s", "latency": "50ms", "model_size": "5MB"}
    _, (_, rows, _) = shown("tiers", options)
    clients = rows[-1]
    assert clients["whole"] == 6 and clients["below"] == 2
    assert clients["seconds_up"] == pytest.approx(0.05 + 5e6 * 8 / 20e6)  # 2.05 s
    assert clients["seconds_down"] == pytest.approx(0.05 + 5e6 * 8 / 40e6)  # 1.05 s


def links(**options):
    scenario = load_scenario(objective="time", **options)
    figure, rows, _ = pictures.kinds()["links"].of_scenario(scenario)
    return check_texts(figure), {row["what"]: row for row in rows}


def test_links_save_what_the_schedule_of_a_round_says():
    """Star-Star, a transfer at a time: two exchanges with clients, one between servers, and the steps."""
    rates = {"uplink": "20Mbit/s", "downlink": "40Mbit/s", "latency": "50ms", "model_size": "5MB", "step_time": "0.3s"}
    servers = {"network.server_link.up": "80Mbit/s", "network.server_link.down": "160Mbit/s"}
    _, rows = links(settings=servers, G=3, M=2, K=4, P=2, tiers="star/star", **rates)
    bits, late = 8 * 5e6, load_scenario(G=1, M=1, settings=servers).network.links[0].latency
    parts = {
        "client uplink": 2 * bits / 20e6, "client downlink": 2 * bits / 40e6, "client latency": 2 * 2 * 0.05,
        "server uplink": bits / 80e6, "server downlink": bits / 160e6, "server latency": 2 * late,
        "local steps of all clients": 2 * 4 * 0.3,
    }  # fmt: skip
    whole = sum(parts.values())
    assert rows.keys() == {name for name, seconds in parts.items() if seconds}
    for name, row in rows.items():
        assert (row["saves"], row["most"], row["waits"]) == pytest.approx(
            (parts[name] / 2 / whole, parts[name] / whole, parts[name] / whole), rel=1e-3
        )


def test_links_name_the_listed_client_that_a_star_waits_for(tmp_path):
    fleet = tmp_path / "fleet.csv"
    fleet.write_text("client,group,step_time,link\na,x,0.1s,lan\nb,x,9s,lan\nc,y,0.1s,4g\nd,y,0.1s,lan\n")
    words, rows = links(fleet=str(fleet), K=5, tiers="star/star", model_size="1MB")
    assert next(iter(rows)) == "local steps of all clients"  # b's are among them
    assert rows["local steps of b"]["saves"] > 0.4
    assert not {"local steps of a", "local steps of c", "uplink of c"} & rows.keys()  # nobody waits for these
    assert any(word.startswith("local steps of b\n") for word in words), words
    fleet.write_text(fleet.read_text().replace("9s", "0.1s"))
    words, rows = links(fleet=str(fleet), K=5, tiers="star/star", model_size="100MB")
    assert next(iter(rows)) == "uplink of c"
    assert any("waits most for the uplink of c" in word.replace("\n", " ") for word in words)


@pytest.mark.usefixtures("unflipped")
def test_links_on_a_network_are_those_of_the_answer(monkeypatch):
    monkeypatch.setattr("planner.network.tours._kicked", lambda costs, order, *_: order)  # both have the same rings
    how = {"network": "geant", "sites": str(EXAMPLES / "consortium.csv"), "config": EXAMPLES / "consortium.toml"}
    scenario, (figure, rows, _) = shown(
        "links", {**how, "uplink": "100Mbit/s", "downlink": "1Gbit/s", "settings": {"plan.draws": 0}}
    )
    check_texts(figure)
    answer = recommend(scenario)
    here = answer.recommend.network
    assert [(row["what"], row["saves"]) for row in rows] == [(one.what, one.saves) for one in here.waits]
    assert "parts alike" in figure._suptitle.get_text().replace("\n", " ")


@pytest.mark.usefixtures("unflipped")
def test_links_are_a_section_of_the_answer(capsys, monkeypatch):
    words = ["recommend", "-G", "3", "-M", "2", "--uplink", "1Mbit/s", "--model-size", "5MB", "--objective", "time"]
    code, out, err = run(*words, "--explain", "links", capsys=capsys, monkeypatch=monkeypatch)
    assert (code, err) == (0, "")
    _, (_, rows, _) = shown("links", SCENARIOS["small"] | {"model_size": "5MB", "objective": "time"})
    listed = [line for line in out.splitlines() if "bit/s" in line or " ms " in line or "0.10 s" in line]
    for row, line in zip(rows, listed, strict=True):
        assert line.split("  ")[0] == row["what"]
        assert f"{100 * row['saves']:.0f} %" in line


def test_links_of_nothing_are_refused():
    with pytest.raises(NoAnswerError, match=r"target .* is not reached within 1 rounds"):
        shown("links", {"G": 3, "M": 2, "target": 1e-9, "rounds": 1})


def test_hours_meet_the_target_where_recommend_says():
    scenario, _, rows, _ = of("hours", "phones")
    for ranked in recommend(scenario, details=False).ranking:
        mine = [row for row in rows if row["topology"] == ranked.id]
        value = np.interp(
            np.log(ranked.time_seconds), np.log([r["seconds"] for r in mine]), np.log([r["value"] for r in mine])
        )
        assert math.exp(value) == pytest.approx(mine[0]["target"], rel=0.1)  # between points of a logarithmic grid
        assert all(row["early"] <= row["late"] for row in mine)


def test_bands_of_hours_lie_around_their_lines_as_intervals_of_the_forest_do():
    """A band lay wholly to the right of its own line, and said of a decided answer that it was a toss-up."""
    given = {"G": 3, "M": 12, "heterogeneity": "inter", "rounds": 300, "model_size": "40MB", "step_time": "80ms"}
    given |= {"client_link": "wifi", "server_link": "lan", "objective": "time"}
    _, (_, rows, _) = shown("hours", given)
    assert all(row["early"] <= row["seconds"] <= row["late"] for row in rows)
    late = {row["topology"]: row["late"] / row["seconds"] for row in rows}
    _, (_, ratios, _) = shown("forest", given)
    (star,) = (row for row in ratios if row["topology"] == "star-star")
    assert star["low"] > 1 and late["star-ring"] < star["value"]  # decided in both, where Star-Star has no error


def test_intervals_of_three_tiers_hold_what_makes_a_toss_up_there():
    """They were of the inputs alone, "6.9x [7, 7]", where a lead of less than 2.5x is a toss-up."""
    scenario, (_, ratios, said) = shown("forest", {"config": EXAMPLES / "regions.toml"})
    factor = unproven_factor(ask(scenario))
    assert factor > 2 and f"within the {two(factor)}x in which nine of ten ratios" in said
    for ratio in ratios[1:]:
        assert ratio["low"] <= ratio["value"] / factor and ratio["high"] >= ratio["value"] * factor


def test_a_forest_has_the_ratios_of_recommend_and_the_best_is_1():
    scenario, _, rows, _ = of("forest", "phones")
    ranking = recommend(scenario, details=False).ranking
    assert [row["topology"] for row in rows] == [ranked.id for ranked in ranking]
    for row, ranked in zip(rows, ranking, strict=True):
        assert row["value"] == pytest.approx(ranked.time_seconds / ranking[0].time_seconds, rel=1e-9)
        assert row["low"] <= row["high"]
    assert (rows[0]["value"], rows[0]["low"], rows[0]["high"]) == (1, 1, 1)


def test_a_race_has_the_mean_and_span_of_the_pilots_seeds():
    _, _, rows, _ = of("race", "pilot")
    said = json.loads(Path(PILOT).read_text(encoding="utf-8"))
    for runner in said["topologies"]:
        mine = [row for row in rows if row["topology"] == runner["id"]]
        for row, *seeds in zip(mine, *runner["loss"], strict=True):
            assert row["mean"] == pytest.approx(sum(seeds) / len(seeds))
            assert (row["low"], row["high"]) == (min(seeds), max(seeds))


def test_a_topology_that_diverges_leaves_the_picture_of_a_race(tmp_path):
    """One curve that tripled every round made a flat line of all others."""
    said = json.loads(Path(PILOT).read_text(encoding="utf-8"))
    lost = said["topologies"][0]
    lost["loss"] = [[x * 3 ** max(i - 3, 0) for i, x in enumerate(run)] for run in lost["loss"]]
    file = tmp_path / "pilot.json"
    file.write_text(json.dumps(said), encoding="utf-8")
    _, (drawn, rows, _) = shown("race", {**SCENARIOS["pilot"], "pilot": str(file)})
    check_texts(drawn)
    start = max(run[0] for run in lost["loss"])
    assert max(row["high"] for row in rows) > 50 * start > 25 * drawn.axes[0].get_ylim()[1]
    assert drawn.axes[0].get_ylim()[0] < min(row["low"] for row in rows)


def test_a_race_without_a_pilot_says_how_to_get_one():
    with pytest.raises(ValueError, match="hfl-plan pilot"):
        shown("race", {"G": 2, "M": 2})


def test_the_check_itself_sees_what_covers_and_what_is_cut():
    from planner.plot import figure

    for places in (((0.5, 0.5), (0.52, 0.5)), ((0.98, 0.5), (0.1, 0.1))):
        with style():
            drawn, axes = figure()
            axes.set_axis_off()
            for x, y in places:
                drawn.text(x, y, "a text")
        with pytest.raises(AssertionError, match=r"covers|cut off"):
            check_texts(drawn)


def test_a_race_of_a_loss_below_0_has_its_picture(tmp_path):
    """A loss of the user's own, such as a negative likelihood, may start below 0 and fall from there."""
    said = json.loads(Path(PILOT).read_text(encoding="utf-8"))
    said["start"] -= 10
    for one in said["topologies"]:
        one["loss"] = [[x - 10 for x in run] for run in one["loss"]]
    file = tmp_path / "pilot.json"
    file.write_text(json.dumps(said), encoding="utf-8")
    drawn, rows, _ = race.draw(read_pilot(file))
    low, high = drawn.axes[0].get_ylim()
    assert low < min(row["low"] for row in rows) and max(row["high"] for row in rows) < high < 0
