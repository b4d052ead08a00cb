"""Pictures: what they show, that their bytes are always the same, and what is refused."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from test_cli import ROOT
from test_docs import assert_shown, consoles

import planner
from hflbounds.extras import install
from hflbounds.topology import all_topologies
from planner.data.label_counts import read_counts
from planner.errors import NoAnswerError, ScenarioError
from planner.predict.question import ask
from planner.scenario.resolve import load

matplotlib = pytest.importorskip("matplotlib")

from planner import plot as pictures  # noqa: E402
from planner.plot import bound, calibration, diagram, front, grouping, tiers, tornado  # noqa: E402
from planner.plot.draw import kinds  # noqa: E402

FLEET = {
    "fleet.groups": ("G", 4),
    "fleet.clients_per_group": ("M", 3),
    "problem.heterogeneity": ("H", "both"),
    "problem.sigma": ("sigma", 1),
    "plan.objective": ("objective", "rounds"),
    "problem.smoothness": ("L", 1),
    "plan.predictor": ("predictor", "bound"),
}
WORDS = ("--G", "4", "--M", "3", "--heterogeneity", "both", "--predictor", "bound", "--rounds", "50")


pytestmark = pytest.mark.usefixtures("few_draws")


def a_picture():
    with pictures.style():
        drawn, axes = pictures.figure()
        axes.plot([1, 2, 3], [3, 1, 2])
    return drawn


def table(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.mark.parametrize(
    ("low", "high"),
    [
        (0.0011, 1.2), (0.0009, 1.2), (0.19, 1.1), (0.95, 1.55), (0.967, 1.034), (0.012, 5.0), (1 / 1100, 1100.0),
        (40.0, 90.0), (3.0, 3.01),
    ],
)  # fmt: skip
def test_ticks_are_round_and_a_handful_and_one_is_among_them(low: float, high: float) -> None:
    with pictures.style():
        _, axes = pictures.figure(pictures.PAGE)
        axes.set(xscale="log", xlim=(low, high))
        pictures.round_ticks(axes.xaxis, "{:g}".format)
    ticks = axes.get_xticks().tolist()
    assert 3 <= len(ticks) <= 6
    assert all(low <= tick <= high for tick in ticks)
    assert [float(text.get_text()) for text in axes.get_xticklabels()] == pytest.approx(ticks)
    assert np.round(ticks, 3).tolist() == pytest.approx(ticks)
    assert 1.0 in np.round(ticks, 12) or not low <= 1 <= high


# ---------------------------------------------------------------- bytes and files


@pytest.mark.parametrize("kind", ["svg", "pdf", "png"])
def test_the_same_picture_is_the_same_bytes_whatever_the_users_own_settings_are(kind: str) -> None:
    first = pictures.content(a_picture(), kind, "words")
    with matplotlib.rc_context({"font.size": 31, "svg.hashsalt": None, "lines.linewidth": 9}):
        assert pictures.content(a_picture(), kind, "words") == first
    assert b"/home/" not in first
    assert {"svg": b"<?xml", "pdf": b"%PDF", "png": b"\x89PNG"}[kind] == first[: 5 if kind == "svg" else 4]


def test_another_process_draws_the_same_bytes_and_touches_nothing_of_pyplot_or_its_settings() -> None:
    """Whatever the hash seed is."""
    code = (
        "import hashlib, matplotlib, sys; matplotlib.rcParams['font.size'] = 23\n"
        "from planner import plot as pictures; from planner.plot import diagram\n"
        "print(hashlib.sha256(pictures.content(diagram.draw(2, 2)[0], 'svg')).hexdigest())\n"
        "print(matplotlib.rcParams['font.size'], 'matplotlib.pyplot' in sys.modules)"
    )
    other = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    environment = {**os.environ, "PYTHONHASHSEED": other}
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, env=environment)
    here = hashlib.sha256(pictures.content(diagram.draw(2, 2)[0], "svg")).hexdigest()
    assert done.stdout.split() == [here, "23.0", "False"]


def test_no_font_is_needed_to_show_a_picture_and_its_words_are_in_it() -> None:
    svg = pictures.content(diagram.draw(2, 2)[0], "svg", "who talks to <whom> & why").decode()
    assert "<text" not in svg
    assert "who talks to &lt;whom&gt; &amp; why" in svg
    assert "<script" not in svg and "http-equiv" not in svg


def test_a_picture_and_its_numbers_are_written_and_nothing_is_overwritten_unasked(tmp_path: Path) -> None:
    rows = [{"name": "=SUM(A1)", "value": 1.5}, {"name": "b", "value": float("inf")}, {"name": "-c", "value": -2}]
    picture, data = pictures.save(a_picture(), tmp_path / "a.svg", rows)
    assert data.read_text() == "name,value\n'=SUM(A1),1.5\nb,\n'-c,-2\n"
    before = picture.read_bytes()
    with pytest.raises(ScenarioError, match=r"a\.svg.*exists. Add --force"):
        pictures.save(a_picture(), picture, rows)
    picture.unlink()
    with pytest.raises(ScenarioError, match=r"a\.csv.*exists. Add --force"):
        pictures.save(a_picture(), picture, [])
    assert not picture.exists()
    pictures.save(a_picture(), picture, rows, force=True)
    assert picture.read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.csv", "a.svg"]


@pytest.mark.parametrize("name", ["a", "a.jpg", "a.svg.gz", "a.csv"])
def test_other_suffixes_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ScenarioError, match=r"does not end in \.svg, \.pdf, \.png"):
        pictures.save(a_picture(), tmp_path / name, [])


def test_without_matplotlib_two_lines_say_how_to_get_it(monkeypatch: pytest.MonkeyPatch, plan, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    code, out, err = plan("picture", "bound", *WORDS, "--output", str(tmp_path / "a.svg"))
    assert (code, out) == (1, "")
    assert err.count("\n") == 2
    assert install("plots") in err
    assert list(tmp_path.iterdir()) == []


# ---------------------------------------------------------------- looks


def luminance(color: str) -> float:
    """Relative luminance by WCAG 2.1."""
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_every_topology_has_its_own_color_marker_line_and_hatch() -> None:
    names = ["star-star", "star-ring", "ring-star", "ring-ring", "fedavg", "hhfl", "hsl", "hga"]
    found = pictures.looks(names)
    for part in ("color", "marker", "line", "hatch"):
        assert len({getattr(look, part) for look in found.values()}) == len(names), part
    assert found["star-ring"] == pictures.looks(["star-ring", "a"])["star-ring"]
    assert found["ring-ring"].title == "Ring-Ring"
    # All can be seen on white; yellow, the palest, only as an area with its hatch.
    assert all(1.05 / (luminance(look.color) + 0.05) > 1.2 for look in found.values())
    with pytest.raises(ScenarioError, match="at most 8"):
        pictures.looks([f"{i}" for i in range(9)])


def test_a_users_text_is_text() -> None:
    assert pictures.plain("cost in $ and $") == r"cost in \$ and \$"
    assert pictures.plain("a\nb\x1b[31m") == "a b [31m"
    assert len(pictures.plain("x" * 500)) == 40
    with pictures.style():
        drawn, axes = pictures.figure()
        axes.set_title(pictures.plain(r"$\frac{$ 北京"))
    assert pictures.content(drawn, "svg").startswith(b"<?xml")  # neither a formula nor a missing letter stops it


# ---------------------------------------------------------------- each picture


DRAWN: dict[str, tuple[Path, str]] = {}


@pytest.fixture
def drawn(
    plan, tmp_path_factory: pytest.TempPathFactory, kind: str, monkeypatch: pytest.MonkeyPatch
) -> tuple[Path, str]:
    """A picture of each kind and what is printed of it, once in the file: tests leave the picture as it is."""
    if kind not in DRAWN:
        whole = calibration.table
        monkeypatch.setattr(calibration, "table", lambda name: list(whole(name))[:24])  # a fifth of what is measured
        file = tmp_path_factory.mktemp("drawn") / f"{kind}.svg"
        code, out, err = plan("picture", kind, *WORDS, "--output", str(file), "--json")
        assert (code, err) == (0, "")
        DRAWN[kind] = file, out
    return DRAWN[kind]


def test_terms_add_up_to_the_bound_and_the_bound_meets_the_target_at_its_rounds(tmp_path: Path) -> None:
    from hflbounds import get

    _, rows, says = bound.of_scenario(load(None, {**FLEET, "problem.rounds": ("R", 50)}))
    assert {row["topology"] for row in rows} == {"star-star", "star-ring", "ring-star", "ring-ring"}
    named = [name for name in rows[0] if name not in ("topology", "rounds", "bound", "target")]
    for row in rows:
        assert row["bound"] == pytest.approx(sum(row[name] or 0 for name in named), rel=1e-12)
    fleet = {"G": 4, "M": 3, "P": 1, "K": 2, "L": 1, "A": 2.3, "sigma": 1, "zeta": 3, "delta": 0.95}
    for row in rows[:: len(rows) // 7]:
        tuned = get(f"hflbounds.exact.{row['topology']}").tuned(**fleet, R=row["rounds"])
        assert row["bound"] == pytest.approx(float(tuned.value), rel=1e-12)
    star = [row for row in rows if row["topology"] == "star-star"]
    crossing = next(row["rounds"] for row in star if row["bound"] <= row["target"])
    assert "Star-Star after 50 rounds" in says
    assert max(row["rounds"] for row in star if row["bound"] > row["target"]) < 50 <= crossing


def test_guarantees_that_meet_the_target_in_one_round_are_both_the_best() -> None:
    scenario = load(ROOT / "examples" / "hospitals.toml", {})
    drawn, _, says = bound.of_scenario(scenario)
    assert "Ring-Star after 103 rounds, Ring-Ring after 103 rounds" in says
    said = " ".join(drawn.get_suptitle().split())
    assert said == "Ring-Star and Ring-Ring have the best guarantee at the target"


def dominated(points: list[tuple[float, float]]) -> list[bool]:
    return [any(b != a and b[0] <= a[0] and b[1] <= a[1] for b in points) for a in points]


def test_the_front_is_what_nothing_beats() -> None:
    rng = np.random.default_rng(3)
    pairs = [tuple(map(float, pair)) for pair in rng.integers(1, 12, (60, 2))]
    _, rows = front.draw([front.Point("star-star", f"{i}", 1.0, a, b) for i, (a, b) in enumerate(pairs)])
    assert [not row["on_front"] for row in rows] == dominated(pairs)


def test_the_front_of_a_scenario_has_every_topology_with_its_rounds_seconds_and_bytes() -> None:
    from planner import recommend

    scenario = load(None, {**FLEET, "network.client_link.up": ("uplink", "20Mbit/s")})
    _, rows, says = front.of_scenario(scenario)
    answer = recommend(scenario, details=False)
    for ranked in answer.ranking:
        row = next(r for r in rows if r["topology"] == ranked.id and r["setting"] == "P = 1, K = 2")
        assert (row["rounds"], row["seconds"], row["bytes"]) == (
            ranked.rounds,
            ranked.time_seconds,
            ranked.traffic_bytes,
        )
    assert says.count("rounds") == sum(row["on_front"] for row in rows)


def test_bars_are_sorted_by_their_length_on_the_axis() -> None:
    bars = [tornado.Bar("a", 0.9, 1.2), tornado.Bar("b", 4.0, 0.5), tornado.Bar("c", 1.0, 1.0)]
    _, rows = tornado.draw(bars, 1.1, "lead")
    assert [row["name"] for row in rows] == ["b", "a", "c"]


def test_the_tornado_of_a_scenario_is_what_recommend_says_with_one_number_changed() -> None:
    from planner.decide.rank import recommend

    loose = {**FLEET, "problem.target": ("target", 0.4)}
    first = recommend(load(None, loose), details=False).recommended
    _, rows, _ = tornado.of_scenario(load(None, loose))
    for name in ("zeta", "A"):
        row = next(row for row in rows if row["name"] == name)
        for end, factor in (("low", 1 / 3), ("high", 3.0)):
            moved = rounds_by_hand({name: BASE[name] * factor})
            best = min(moved[t] for t in first)
            assert row[end] == pytest.approx(min(n for t, n in moved.items() if t not in first) / best, rel=1e-12)


def test_the_tree_of_unequal_groups_has_as_many_clients_as_there_are(tmp_path: Path) -> None:
    path = tmp_path / "fleet.csv"
    path.write_text("client,group\n" + "".join(f"c{g}{i},g{g}\n" for g, n in enumerate((5, 3, 7, 4)) for i in range(n)))
    drawn, rows, said = tiers.of_scenario(planner.load_scenario(fleet=str(path)))
    assert "; 19 clients, " in said and [row["whole"] for row in rows] == [4, 19]
    assert "3 to 7 clients each" in {text.get_text() for text in drawn.axes[0].texts}


def test_the_tornado_names_inputs_by_their_tiers_and_says_how_far_they_moved() -> None:
    drawn, rows, _ = tornado.of_scenario(planner.load_scenario("examples/regions.toml"))
    shown = [label.get_text() for label in drawn.axes[0].get_yticklabels()]
    assert {"deviation of regions", "phone uplink", "region uplink"} <= set(shown)
    assert {"delta1", "delta2", "client_link.up"} <= {str(row["name"]) for row in rows}  # its numbers have the keys
    below = drawn.axes[0].get_xlabel().replace("\n", " ")
    assert "region latency, " in below and "deviation of edge servers" in below and "link1" not in below
    assert "each input moved by a factor 3" in " ".join(text.get_text().replace("\n", " ") for text in drawn.texts)


def test_where_all_tie_the_lead_is_that_of_the_first_and_where_all_are_there_nobody_leads() -> None:
    tied = {**FLEET, "problem.heterogeneity": ("H", "iid"), "problem.sigma": ("sigma", 0.01)}
    _, rows, says = tornado.of_scenario(load(None, {**tied, "problem.target": ("target", 0.4)}))
    assert says.split(" in rounds")[0] in {f"Lead of {t.title()}" for t in rounds_by_hand({})}
    assert all(float(row["low"]) > 0 for row in rows)
    with pytest.raises(NoAnswerError, match="met before the first round"):
        tornado.of_scenario(load(None, {**tied, "problem.target": ("target", 100.0)}))


BASE = {"G": 4, "M": 3, "P": 1, "K": 2, "L": 1, "A": 2.3, "sigma": 1, "zeta": 3.0, "delta": 0.95}


def rounds_by_hand(changes: dict[str, float]) -> dict[str, float]:
    """Straight from the catalogue."""
    from hflbounds import get

    topologies = ("star-star", "star-ring", "ring-star", "ring-ring")
    return {t: float(get(f"hflbounds.exact.{t}").rounds_to(0.4, **{**BASE, **changes})) for t in topologies}


@pytest.mark.parametrize(("G", "M"), [(1, 1), (1, 5), (2, 2), (3, 3), (12, 25)])
def test_who_talks_to_whom(G: int, M: int) -> None:
    _, rows = diagram.draw(G, M)
    g, m = min(G, 3), min(M, 3)
    count = {t: sum(row["topology"] == t for row in rows) for t in ("star-star", "star-ring", "ring-star", "ring-ring")}
    ring = 0 if g == 1 else g  # one group has no one to pass on to
    assert count == {
        "star-star": g + g * m,
        "star-ring": g + g * (m + 1),
        "ring-star": ring + g * m,
        "ring-ring": ring + g * (m + 1),
    }
    # In a ring everyone is handed the model as often as they hand it on.
    for row in rows:
        if row["way"] == "on":
            same = [r for r in rows if r["topology"] == row["topology"] and r["tier"] == row["tier"]]
            assert sum(r["source"] == row["source"] for r in same) == sum(r["target"] == row["source"] for r in same)


@pytest.mark.parametrize("sizes", [(1,), (2,), (9,), (2, 2, 2), (1, 2, 1), (4, 5, 20)])
def test_who_talks_to_whom_in_trees_of_other_depths(sizes: tuple[int, ...]) -> None:
    names = ("region", "edge server", "phone")[-len(sizes) :]
    _, rows = diagram.draw(*sizes, names=names)
    shown = [min(size, diagram.MOST[len(sizes)]) for size in sizes]
    for topology in all_topologies(len(sizes)):
        mine = [row for row in rows if row["topology"] == topology]
        links, nodes = 0, 1
        for i, (pattern, size) in enumerate(zip(topology.split("-"), shown, strict=True)):
            # A star has a link to each child, a ring one more, back; at the top it closes without the server.
            links += nodes * (size if pattern == "star" else size + 1 if i else size if size > 1 else 0)
            nodes *= size
        assert len(mine) == links, topology
        named = {row[end] for row in mine for end in ("source", "target")} - {"server"}
        if topology.split("-")[-1] == "star" or len(sizes) > 1:
            assert sum(name.startswith("phone") for name in named) == nodes


def test_three_tiers_are_drawn_and_more_are_refused_in_a_line(plan, tmp_path: Path) -> None:
    example = ("--config", str(ROOT / "examples" / "regions.toml"))
    scenario = planner.load_scenario(example[1])
    _, rows, said = diagram.of_scenario(scenario)
    assert said.startswith(
        "4 regions of 5 edge servers of 20 phones; drawn: 2 of 4 regions, 2 of 5 edge servers and 2 of 20 phones. "
        "Star-Star-Star: regions in"
    )
    assert len({row["topology"] for row in rows}) == 8
    _, rows, said = tornado.of_scenario(scenario)
    assert said.startswith("Lead of Star-Star-Star, Ring-Star-Star and Star-Ring-Star in time, ")
    assert {row["name"] for row in rows} >= {"delta1", "delta2", "delta3", "link1.up"}
    for words, wanted in (
        (["diagram", "--tiers", "2/2/2/2"], "a diagram shows at most 3 tiers, and this fleet has 4."),
        (["bound", *example], "bounds of the catalogue are of two tiers, and this tree has 3. Draw front"),
    ):
        code, out, err = plan("picture", *words, "--output", str(tmp_path / "none.svg"))
        assert (code, out) == (2, "")
        assert wanted in err.replace("\n  help: ", ". ")
        assert len(err.splitlines()) <= 2


COUNTS = "client,group,a,b\nc1,x,10,0\nc2,x,10,0\nc3,y,0,10\nc4,y,0,10\n"
REGROUPED = "client,group,b,a\nc1,x,0,10\nc3,x,10,0\nc2,y,0,10\nc4,y,10,0\n"


def test_regrouping_moves_the_deviation_from_between_groups_to_within(tmp_path: Path) -> None:
    (tmp_path / "before.csv").write_text(COUNTS)
    (tmp_path / "after.csv").write_text(REGROUPED)
    tables = [(name, read_counts(tmp_path / f"{name}.csv")) for name in ("before", "after")]
    _, rows, says = grouping.of_tables(tables)
    # By hand: shares (1, 0) and (0, 1) are each sqrt(1/2) from their mean, squared 1/2.
    assert [(row["group"], row["share of a"], row["zeta2"], row["delta2"]) for row in rows] == [
        ("x", 1.0, 0.0, 0.5),
        ("y", 0.0, 0.0, 0.5),
        ("x", 0.5, 0.5, 0.0),
        ("y", 0.5, 0.5, 0.0),
    ]
    assert "before: zeta^2 = 0, delta^2 = 0.5" in says
    (tmp_path / "unequal.csv").write_text(COUNTS + "c5,y,4,6\nc6,y,2,8\n")
    _, (row, *_), _ = grouping.of_counts(tmp_path / "unequal.csv")
    measured = planner.measure(tmp_path / "unequal.csv")
    assert [row["delta2"], row["zeta2"]] == [pytest.approx(float(tier.squared)) for tier in measured.rows]
    (tmp_path / "other.csv").write_text(COUNTS.replace("c4", "c5"))
    with pytest.raises(ScenarioError, match="not counts of the same clients"):
        grouping.of_tables([tables[0], ("after", read_counts(tmp_path / "other.csv"))])


def test_many_groups_and_labels_still_fit(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    shares = rng.dirichlet(np.ones(30), 90)
    groups, labels = [f"g{i}" for i in range(90)], [f"label {i}" for i in range(30)]
    _, rows = grouping.draw({"now": (groups, shares)}, labels, {"now": (0.3, 0.1)})
    assert len(rows) == 90
    assert sum(value for name, value in rows[7].items() if name.startswith("share of")) == pytest.approx(1)


def test_calibration_says_which_predictions_are_within_their_interval() -> None:
    points = [calibration.Point("a", "s", 1.0, 1.1, 0.9, 1.3), calibration.Point("b", "s", 0.5, 1.1, 0.9, 1.3)]
    _, rows = calibration.draw(points, "predicted", "measured", logarithmic=True)
    assert [row["agrees"] for row in rows] == [True, False]


def test_calibration_without_intervals_says_which_are_within_a_factor() -> None:
    points = [calibration.Point("a", "s", 1.0, x, x, x) for x in (0.79, 0.81, 1.24, 1.26)]
    assert [point.agrees for point in points] == [False, True, True, False]


def test_calibration_draws_no_line_for_an_interval_there_is_not() -> None:
    points = [calibration.Point("a", "s", x / 100, 1.0, 1.0, 1.0) for x in range(1, 200)]
    drawn, rows = calibration.draw(points, "predicted", "measured", logarithmic=True)
    assert len(rows) == 199 and len(drawn.axes[0].lines) == 3  # where both are equal, and marks, filled and not


def test_calibration_by_loss_is_the_record_of_rounds() -> None:
    """Measured ratios are those of the file; predicted ones are those of the predictor, asked again."""
    fleet = {key: value for key, value in FLEET.items() if key not in ("plan.metric", "plan.predictor")}
    _, rows, says = calibration.of_scenario(load(None, fleet))
    kept = table(ROOT / "planner" / "data" / "record_loss.csv")
    assert len(rows) == 3 * len(kept) and "1080 comparisons" in says
    first = {row["of"]: row for row in rows[:3]}
    assert first["Ring-Ring / Star-Star"]["measured"] == pytest.approx(1.3179 / 6)
    told = {"G": 3, "M": 3, "local_steps": 1, "sigma": 0.26368, "heterogeneity": "zeta=0.25713,delta=0"}
    known = {"problem.smoothness": 1, "problem.initial_gap": 0.52527, "problem.curvature_scatter": 0}
    predicted = ask(planner.load_scenario(**told, rounds=6, settings=known)).rounds()
    for name, of in (("star-ring", "Star-Ring"), ("ring-star", "Ring-Star"), ("ring-ring", "Ring-Ring")):
        of = f"{of} / Star-Star"
        assert first[of]["predicted"] == pytest.approx(float(predicted[name]) / 6, rel=1e-4)


@pytest.mark.parametrize("kind", ["calibration"])
def test_calibration_of_a_scenario_is_the_measured_table_beside_the_predictor(drawn: tuple[Path, str]) -> None:
    from hflbounds import get

    assert "predictor bound" in json.loads(drawn[1])["picture"]["says"]
    rows = table(drawn[0].with_suffix(".csv"))
    row = next(
        r for r in rows if r["of"] == "Ring-Star / Star-Star" and "zeta/sigma = 0, delta/sigma = 0.1" in r["setting"]
    )
    setting = {"G": 10, "M": 10, "P": 1, "K": 2, "L": 1, "A": 1, "sigma": 1, "zeta": 0, "delta": 0.1, "R": 30}
    ring, star = (float(get(f"hflbounds.exact.{t}").tuned(**setting).value) for t in ("ring-star", "star-star"))
    assert float(row["predicted"]) == pytest.approx(ring / star, rel=1e-12)
    assert float(row["low"]) <= float(row["measured"]) <= float(row["high"])


# ---------------------------------------------------------------- the command


@pytest.mark.parametrize("kind", ["bound", "calibration", "front", "tornado"])
def test_each_kind_draws_a_scenario(drawn: tuple[Path, str]) -> None:
    file, out = drawn
    document = json.loads(out)["picture"]
    assert json.loads(out)["schema"] == "hfl-plan/picture/2"
    assert document["says"] and document["picture"] == str(file)
    assert file.stat().st_size > 5000
    assert len(table(file.with_suffix(".csv"))) > 3


@pytest.mark.parametrize("kind", ["front", "tornado", "calibration"])
def test_numbers_that_were_written_are_drawn_again(plan, tmp_path: Path, kind: str, drawn: tuple[Path, str]) -> None:
    first, second = drawn[0], tmp_path / "second.svg"
    data = first.with_suffix(".csv")
    code, _, err = plan("picture", kind, "--data", str(data), "--output", str(second))
    assert (code, err) == (0, "")
    assert table(second.with_suffix(".csv")) != []
    code, _, err = plan("picture", kind, "--data", str(data), "--output", str(first), "--force")
    assert code == 2
    assert "what --data reads" in err


def test_grouping_takes_label_counts(plan, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(COUNTS)
    (tmp_path / "b.csv").write_text(REGROUPED)
    data = ["--data", str(tmp_path / "a.csv"), "--data", str(tmp_path / "b.csv")]
    code, out, err = plan("picture", "grouping", *data, "--output", str(tmp_path / "g.pdf"))
    assert (code, err) == (0, "")
    assert "delta^2 = 0.5" in out
    code, _, err = plan("picture", "grouping", "--output", str(tmp_path / "h.pdf"))
    assert code == 2
    assert "--data before.csv --data after.csv" in err


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (["tornadoo"], "Did you mean tornado?"),
        (
            ["xyz"],
            "Known are bound, calibration, diagram, forest, front, grouping, hours, links, race, tiers, tornado.",
        ),
        (["bound", *WORDS, "--data", "x.csv"], "drawn from a scenario"),
        (["tornado", "--data", "nowhere.csv"], "cannot be read"),
        (["bound"], "how many groups"),
        (["bound", "--clients", "12"], "one division"),
    ],
)
def test_what_is_refused_is_refused_in_a_line(plan, tmp_path: Path, words: list[str], wanted: str) -> None:
    code, out, err = plan("picture", *words, "--output", str(tmp_path / "a.svg"))
    assert (code, out) == (2, "")
    assert wanted in err.replace("\n  help: ", ". ")
    assert err.count("\n") == 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("name,low\na,1\n", ":1: there is no column 'high'"),
        ("name,low,high\n", "there is a header, and no line below it"),
        ("name,low,high\na,1,x\n", ":2:3: 'x' in column 'high' is not a number"),
        ("name,low,high\na,1,nan\n", ":2:3: 'nan' in column 'high' is not a number"),
        ("name,low,high\na,1\n", ":2:3: there are 2 fields, and 3 columns"),
        ("name,low,high\na,1,2,3\n", ":2:4: there are 4 fields, and 3 columns"),
        ("name,low,high\na,-1,2\n", "low: -1, in line 1 below the header, is not positive"),
        ('name,low,high\n"a,1,2\n', "is not CSV"),
        ("name,low,high\na,1," + "9" * 99 + "\n", "is not a number of a picture"),
        ("name,low,high\n\xff", "is not UTF-8"),
    ],
)
def test_bad_tables_are_refused_where_they_are_bad(plan, tmp_path: Path, text: str, wanted: str) -> None:
    file = tmp_path / "t.csv"
    file.write_bytes(text.encode("latin-1"))
    code, _, err = plan("picture", "tornado", "--data", str(file), "--output", str(tmp_path / "a.svg"))
    assert code == 2
    assert wanted in err.replace("\n  help: ", ". ")
    assert err.count("\n") == 2


def test_a_missing_answer_leaves_no_picture(tmp_path: Path) -> None:
    with pytest.raises(NoAnswerError):
        front.of_scenario(load(None, {**FLEET, "problem.target": ("target", 100.0)}))


@pytest.mark.usefixtures(
    "searched_once", "all_draws"
)  # one search finds groups as good here; in `questions.md` there are all
def test_the_pages_commands_print_what_it_shows(plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    for command, shown in consoles((ROOT / "docs" / "pictures.md").read_text()):
        code, out, err = plan(*shlex.split(command)[1:])
        assert code == 0 and all(line.startswith("hfl-plan: wrote") for line in err.splitlines())
        assert_shown(shown, out + err)


@pytest.mark.parametrize("kind", ["bound", "diagram"])
def test_the_pages_pictures_show_what_is_drawn_now(plan, tmp_path: Path, kind: str) -> None:
    file = tmp_path / f"{kind}.svg"
    assert plan("picture", kind, "--config", str(ROOT / "examples" / "phones.toml"), "--output", str(file))[0] == 0
    now, kept = table(file.with_suffix(".csv")), table(ROOT / "docs" / "pictures" / f"{kind}.csv")
    assert [row.keys() for row in now] == [row.keys() for row in kept]
    for new, old in zip(now, kept, strict=True):
        for name, text in new.items():
            assert text == old[name] or float(text) == pytest.approx(float(old[name]), rel=1e-9), name


def test_every_kind_of_picture_is_in_the_page() -> None:
    page = (ROOT / "docs" / "pictures.md").read_text()
    assert re.findall(r"^\| `(\w+)` \| (?!`)", page, flags=re.MULTILINE) == list(kinds())
    for kind, module in kinds().items():
        if hasattr(module, "COLUMNS"):
            assert f"| `{kind}` | {', '.join(f'`{name}`' for name in module.COLUMNS)} |" in page


# ---------------------------------------------------------------- in Python


@pytest.mark.usefixtures("unflipped")
def test_answers_draw_themselves_on_axes() -> None:
    from matplotlib.axes import Axes

    import planner

    answer = planner.recommend(G=4, M=3, heterogeneity="both", link_sharing="per-client", settings={"plan.draws": 0})
    first = answer.plot()
    assert isinstance(first, Axes)
    assert first.get_yticklabels()[0].get_text() == answer.ranking[0].title
    panels = answer.plot.diagram()
    assert all(isinstance(axes, Axes) for axes in panels)
    assert len(panels) == 4
    for shown in (answer.plot("tiers"), panels):
        assert shown._repr_html_().startswith('<img alt="')
    with pytest.raises(planner.ScenarioError, match="Did you mean"):
        answer.plot("tornadoo" if "tornado" in dir(answer.plot) else "sensitivty")
    with pytest.raises(AttributeError, match="no picture"):
        answer.plot.nonsense  # noqa: B018
    assert {"forest", "sensitivity", "hours", "front", "tiers"} <= set(dir(answer.plot))


@pytest.mark.usefixtures("untossed")
def test_other_answers_draw_what_their_reports_have() -> None:
    """Changes of `flip` are no ways to run: its report had them in a picture of time against traffic."""
    fleet = {"G": 4, "M": 3, "heterogeneity": "both", "link_sharing": "per-client", "objective": "time"}
    turned = planner.flip(**fleet, uplink="1Mbit/s", parameter=["P"], settings={"plan.draws": 256})
    assert turned.rows and "front" not in dir(turned.plot) and turned.plot.tornado().get_yticklabels()
    assert turned.plot().get_xlabel() == turned.plot.tornado().get_xlabel()
    tuned = planner.tune(**fleet, local_steps=[1, 2], group_rounds=[1, 2])
    assert {text.get_text().split("\n")[0] for text in tuned.plot().texts} >= {"Star-Star"}
    assert "img" in tuned._repr_html_()


def test_an_answer_without_a_picture_says_so(tmp_path: Path) -> None:
    import planner

    planner.recommend(G=2, M=2, settings={"plan.draws": 0}).save(tmp_path / "a.json")
    with pytest.raises(planner.ScenarioError, match="was loaded"):
        planner.Recommendation.load(tmp_path / "a.json").plot()
    with pytest.raises(planner.ScenarioError, match="such an answer has no picture"):
        planner.validate.list().plot()
    assert "<img" not in planner.Recommendation.load(tmp_path / "a.json")._repr_html_()
