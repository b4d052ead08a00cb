"""Two scenarios side by side: the difference that decides turns the verdict when it alone is changed."""

from __future__ import annotations

import json
import math
import random
import re
import tomllib
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import replace
from functools import reduce
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from test_cli import ROOT, run

import planner
from planner.decide import contrast as contrasts
from planner.decide.contrast import Contrast, Side, contrast
from planner.io.answers import Verdict
from planner.io.wording import times, two
from planner.predict.evidence.predictor_record import pair_factor
from planner.predict.question import ask
from planner.report.answers.compare import Compared, answered, choice, document

# What would change an answer, and at which rate, is looked at in no test here.
pytestmark = pytest.mark.usefixtures("unflipped", "unrated", "few_draws")

OWN = """
[fleet]
groups = 12
clients_per_group = 25
[problem]
heterogeneity = "inter"
[model]
size = "45MB"
[network.client_link]
up = "20Mbit/s"
sharing = "per-client"
[plan]
objective = "time"
draws = 0
"""
SHARED = OWN.replace("per-client", "per-server").replace("groups = 12", "groups = 6").replace("45MB", "40MB")


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    found = tmp_path / "own.toml", tmp_path / "shared.toml"
    for file, text in zip(found, (OWN, SHARED), strict=True):
        file.write_text(text)
    return found


def test_the_difference_that_decides_turns_the_verdict_alone(files: tuple[Path, Path]) -> None:
    found = planner.compare(*files)
    tables = [tomllib.loads(text) for text in (OWN, SHARED)]
    best = [planner.recommend(table).verdict.best for table in tables]
    assert [side["verdict"]["best"] for side in found.compare["sides"]] == [list(one) for one in best]
    assert best[0] != best[1]
    assert {row.id for row in found.rows} == {"fleet.groups", "model.size", "network.client_link.sharing"}
    for row in found.rows:
        section, key = row.id.rsplit(".", 1)
        alone = planner.recommend(tables[0], settings={row.id: row.after}).verdict
        assert (row.status, row.best) == (alone.status, alone.best), (section, key)
        assert row.turns == (alone.best != best[0])
        assert row.decides == (alone.best == best[1])
    assert found.verdict.best == ("network.client_link.sharing",)
    assert found.verdict.text.startswith("Link sharing decides: Star-Star becomes ")
    times = {row["id"]: row["time_seconds"]["value"] for row in found.compare["sides"][1]["rows"]}
    direct = planner.recommend(tables[1])
    assert times == {row.id: float(row.time_seconds) for row in direct.rows}
    assert len(str(found).splitlines()) <= 25
    assert max(map(len, str(found).splitlines())) <= 80
    assert len(found.to_json()["rows"]) == 3


def test_what_becomes_a_toss_up_has_no_ratio(tmp_path: Path) -> None:
    text = (ROOT / "examples" / "phones.toml").read_text().replace("clients_per_group = 25", "clients_per_group = 4", 1)
    own, slow = tmp_path / "own.toml", tmp_path / "slow.toml"
    own.write_text(text)
    slow.write_text(text.replace('step_time = "0.2s"', 'step_time = "5s"', 1))
    found = planner.compare(own, slow)
    assert found.verdict.text.endswith("Star-Star becomes a toss-up of Star-Star or Star-Ring.")


def test_what_becomes_an_open_verdict_is_named_as_one() -> None:
    """A verb has no verb for its object: no "becomes depends on"."""
    open_ = planner.recommend(groups=4, clients_per_group=5, uplink="20Mbit/s", settings={"plan.draws": 0}).verdict
    assert (open_.status, open_.on) == ("depends", "client_link.sharing")
    assert choice(open_) == "a verdict that depends on link sharing"


def test_open_verdicts_are_compared_case_by_case(tmp_path: Path) -> None:
    """The headline names what changes, and no case is passed off as the whole."""
    tables = [
        {"fleet": {"groups": 6, "clients_per_group": 9}, "problem": {"heterogeneity": h}} for h in ("intra", "inter")
    ]
    cases = []
    for table in tables:
        found = planner.recommend(table, settings={"plan.draws": 0}).verdict.cases
        one = {case.value: case for case in found}
        own, shared = one["time"].cases or (one["time"], one["time"])
        cases.append({"time (own links)": own, "time (shared links)": shared, **one})
    changed = [name for name in cases[0] if name != "time" and set(cases[0][name].best) != set(cases[1][name].best)]
    assert len(changed) > 1
    paths = [tmp_path / "a.toml", tmp_path / "b.toml"]
    for path, heterogeneity in zip(paths, ("intra", "inter"), strict=True):
        path.write_text(f"[fleet]\ngroups = 6\nclients_per_group = 9\n[problem]\nheterogeneity = '{heterogeneity}'\n")
    said = planner.compare(*paths)
    assert (
        said.verdict.text == f"Heterogeneity decides: the best changes for {', '.join(changed[:-1])} and {changed[-1]}."
    )
    page = str(said)
    assert "time, own links" in page
    for name in ("Time (own links)", "Time (shared links)", "Rounds, traffic"):  # the last two are one toss-up
        assert f"\n{name} " in page
    assert all({*one["rounds"].best} == {*one["traffic"].best} for one in cases)
    assert planner.compare(paths[0], paths[0]).verdict.text == "Both say the same in every case."


def test_what_becomes_of_one_tier_is_said_beside_a_verdict_that_stays(tmp_path: Path) -> None:
    """Whether group servers are worth their price turned, and "the verdict stays the same" was all."""
    paths = []
    for rate in ("50Mbit/s", "55Mbit/s", "1Gbit/s"):
        paths.append(tmp_path / f"{rate[:2]}.toml")
        link = f"[network.server_link]\nup = '{rate}'\ndown = '{rate}'\n"
        own = "[network.client_link]\nup = '8Mbit/s'\ndown = '8Mbit/s'\nsharing = 'per-client'\n"
        fleet = "[fleet]\ngroups = 8\nclients_per_group = 15\n[problem]\nheterogeneity = 'both'\n"
        paths[-1].write_text(f"{fleet}{own}{link}")
    assert "\nOne tier" not in str(planner.compare(paths[0], paths[1]))
    turned = planner.compare(paths[0], paths[2])
    assert turned.verdict.text == "The verdict stays the same: Star-Star."
    slow, quick = (planner.recommend(path).verdict.baseline for path in (paths[0], paths[2]))
    assert slow is not None and slow.through is not None and slow.through > 1
    said = f"FedAvg {times(slow.ratio)} ({times(slow.through)} via servers) -> "
    assert f"\nOne tier  {said}{'none takes less' if quick is None else f'FedAvg {times(quick.ratio)}'}\n" in str(
        turned
    )


def test_one_tier_of_a_verdict_with_cases_is_that_of_its_cases(tmp_path: Path) -> None:
    """It said "none takes less" of a page that had FedAvg at 0.75x over own links."""
    fleet = "[fleet]\ngroups = 8\nclients_per_group = 15\n[problem]\nheterogeneity = 'both'\n[network.client_link]\n"
    paths = [tmp_path / "open.toml", tmp_path / "told.toml"]
    for path, sharing in zip(paths, ("", "sharing = 'per-client'\n"), strict=True):
        path.write_text(f"{fleet}up = '8Mbit/s'\ndown = '8Mbit/s'\n{sharing}")
    page = str(planner.compare(*paths))
    case = planner.recommend(paths[0]).verdict.cases[0]
    assert case.baseline is not None and "none takes less" not in page


def test_times_of_own_links_are_named_for_the_side_that_leaves_sharing_open(tmp_path: Path) -> None:
    text = """[fleet]
groups = 12
clients_per_group = 25
[problem]
heterogeneity = "dirichlet:intra=0.2,inter=2"
[plan]
objective = "time"
"""
    links = {"open": "", "shared": '[network.client_link]\nsharing = "per-server"\n'}
    for name, said in links.items():
        (tmp_path / f"{name}.toml").write_text(text + said)
    paths = [tmp_path / f"{name}.toml" for name in links]
    assert planner.recommend(paths[0], settings={"plan.draws": 0}).verdict.on == "client_link.sharing"
    lines = str(planner.compare(*paths)).splitlines()
    (head,) = [line for line in lines if line.split()[:1] == ["time"]]
    assert head.split("  ")[-1].strip() == "ratio"
    assert head.count("own links") == 1
    assert head.index("open.toml, own links") < head.index("shared.toml")


def test_answers_and_kept_runs_are_compared_like_their_scenarios(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    run("recommend", "-c", "own.toml", "-o", "a.json", capsys=capsys, monkeypatch=monkeypatch)
    run("recommend", "-c", "shared.toml", "--save", "b.json", capsys=capsys, monkeypatch=monkeypatch)
    code, out, err = run("compare", "a.json", "b.json", "--json", capsys=capsys, monkeypatch=monkeypatch)
    assert (code, err) == (0, "")
    found = json.loads(out)
    _, out, _ = run("compare", "own.toml", "shared.toml", "--json", capsys=capsys, monkeypatch=monkeypatch)
    wanted = json.loads(out)
    assert found["schema"] == "hfl-plan/compare/2"
    for name in ("verdict", "rows", "evidence"):
        assert found[name] == wanted[name]
    assert [side["rows"] for side in found["compare"]["sides"]] == [s["rows"] for s in wanted["compare"]["sides"]]


def test_options_are_said_of_both_and_a_verdict_that_stays_is_said(files: tuple[Path, Path]) -> None:
    found = planner.compare(*files, objective="rounds", groups=12)
    assert found.objective == "rounds"
    assert {row.id for row in found.rows} == {"model.size", "network.client_link.sharing"}  # neither moves rounds
    assert found.compare["same"]
    assert (found.verdict.status, found.verdict.best) == ("measured", ())
    assert found.verdict.text.startswith("The verdict stays the same: ")
    assert not any(row.turns for row in found.rows)


@pytest.mark.parametrize("form", ["csv", "markdown", "html", "latex", "table"])
def test_every_format(
    form: str, files: tuple[Path, Path], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code, out, err = run("compare", *map(str, files), "--format", form, capsys=capsys, monkeypatch=monkeypatch)
    assert (code, err) == (0, "")
    assert "fleet.groups" in out if form == "csv" else "groups" in out


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (("own.toml", "nowhere.toml"), "nowhere.toml: cannot be read"),
        (("own.toml", "shared.toml", "-c", "own.toml"), "two scenarios are named already"),
        (("own.toml", str(ROOT / "examples" / "hospitals.csv")), "TOML"),
    ],
)
def test_what_is_refused(
    words: tuple[str, ...],
    wanted: str,
    files: tuple[Path, Path],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(files[0].parent)
    code, out, err = run("compare", *words, capsys=capsys, monkeypatch=monkeypatch)
    assert (code, out) == (2, "")
    assert wanted in err


# ---------------------------------------------------------------- which differences decide, by truth tables

RULES: dict[str, tuple[Callable[[Mapping[str, Any]], bool], tuple[str, ...], tuple[str, ...]]] = {
    "one": (lambda t: t["a"] == 1, ("a",), ()),
    "either": (lambda t: t["a"] == 1 or t["b"] == 1, ("a", "b"), ()),
    "both": (lambda t: t["a"] == 1 and t["c"] == 1, (), ("a", "c")),
    "all": (lambda t: all(t[k] == 1 for k in "abc"), (), ("a", "b", "c")),
    "none": (lambda t: False, (), ()),
    "cancelling": (lambda t: (t["a"] == 1) != (t["b"] == 1), (), ()),
    "a pair in two ways": (lambda t: t["a"] == 1 and (t["b"] == 1 or t["c"] == 1), (), ("a", "b")),
    "of three two": (lambda t: sum(t[k] for k in "abc") >= 2, (), ("a", "b")),
}


def _ruled(turned: Callable[[Mapping[str, Any]], bool], keys: str, monkeypatch: pytest.MonkeyPatch) -> list[Side]:
    """Two sides of which all keys differ, with verdicts by a truth table."""

    def recommended(told: Mapping[str, Any], **_: Any) -> Any:
        best = "ring-ring" if turned(told) else "star-star"
        return SimpleNamespace(verdict=Verdict(status="best", best=(best,)))

    monkeypatch.setattr(contrasts, "recommend", recommended)
    monkeypatch.setattr(contrasts, "read", lambda name, told, *_: dict(told))
    return [Side.of(str(n), dict.fromkeys(keys, n) | {"same": 5, "title": n}) for n in (0, 1)]


@pytest.mark.parametrize("rule", RULES)
def test_what_decides_is_what_the_truth_table_says(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    turned, alone, jointly = RULES[rule]
    zero, one = _ruled(turned, "abc", monkeypatch)
    found = contrast(zero, one)
    assert [row.key for row in found.alone] == ["a", "b", "c"]
    assert (found.decisive, found.jointly) == (alone, jointly)
    assert found.same == (turned(zero.told) == turned(one.told))
    if rule == "cancelling":
        assert [row.key for row in found.alone if row.turns] == ["a", "b"]


def test_what_decides_together_is_the_same_in_both_orders(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of random rules by weights; each set turns either verdict into the other, and no part of it does."""
    draw, keys, small, large = random.Random(7), "abcdefgh", 0, 0
    for _ in range(200):
        weights = {key: draw.choice((0, 1, 1, 2)) for key in keys}
        least = draw.uniform(0.1, 0.9) * sum(weights.values())

        def turned(told: Mapping[str, Any], weights: Mapping[str, int] = weights, least: float = least) -> bool:
            return sum(weights[key] * told[key] for key in keys) > least

        sides = _ruled(turned, keys, monkeypatch)
        forth, back = (contrast(*pair) for pair in (sides, sides[::-1]))
        if forth.same or forth.decisive or back.decisive:
            continue
        assert {*forth.jointly} == {*back.jointly}
        at = {key: int(key in forth.jointly) for key in keys}
        if not forth.jointly:
            large += 1
            continue
        small += 1
        assert len(forth.jointly) <= 5 and turned(at) and not turned({key: 1 - n for key, n in at.items()})
        assert not any(
            turned(at | {key: 0}) and not turned({k: 1 - n for k, n in at.items()} | {key: 1}) for key in forth.jointly
        )
    assert small > 20 and large > 5


@pytest.mark.parametrize(("count", "told"), [(5, True), (6, False)])
def test_a_set_of_many_differences_explains_nothing(count: int, told: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight were said to decide, of which five were shown."""
    keys = "abcdefgh"[:count]
    found = contrast(*_ruled(lambda t: all(t[key] for key in keys), "abcdefgh", monkeypatch))
    assert found.jointly == (tuple(keys) if told else ())


PAIRS = (("phones", "hospitals", "time"), ("phones", "hospitals", "traffic"), ("hospitals", "regions", "time"))


@pytest.mark.parametrize(
    ("one", "other", "objective"),
    [
        pytest.param(*ends, objective, marks=() if "regions" in ends else pytest.mark.slow)
        for one, other, objective in PAIRS
        for ends in ((one, other), (other, one))
    ],
)
def test_what_a_difference_does_alone_is_what_recommend_says_with_it(
    one: str, other: str, objective: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A target of 2 % beside the rounds of the other as a cap made Star-Ring, and `recommend --target 2%` Star-Star."""
    monkeypatch.setattr(contrasts, "TOGETHER", 0)  # what decides together is not looked for
    files = [ROOT / "examples" / f"{name}.toml" for name in (one, other)]
    first, second = (tomllib.loads(file.read_text()) for file in files)
    found = planner.compare(*files, objective=objective)
    said = _said(files[1].read_text())
    rows = [row for row in found.rows if row.id != "fleet.tiers" and not row.id.endswith(".preset")]  # have their own
    assert len(rows) >= 5 and "problem.target" in {row.id for row in rows}
    assert "problem.rounds" not in {row.id for row in rows}
    for row in rows:
        if row.id in said:
            direct = planner.recommend(
                files[0], settings={row.id: said[row.id]}, objective=objective, details=False
            ).verdict
        else:
            section, _, key = row.id.rpartition(".")
            table = deepcopy(first)
            del reduce(lambda at, name: at[name], section.split("."), table)[key]
            if row.id == "problem.target":  # rounds define it
                assert row.after == f"rounds {second['problem']['rounds']}"
                table["problem"]["rounds"] = second["problem"]["rounds"]
            direct = planner.recommend(table, objective=objective, details=False).verdict
        assert (row.status, row.best) == (direct.status, direct.best), row.id


def test_targets_with_their_rounds_are_one_difference() -> None:
    sharing = {"network.client_link.sharing": "per-client"}
    text = {"fleet.groups": 8, "fleet.clients_per_group": 25, "plan.objective": "time", **sharing}
    rounds, capped = ({**text, **more} for more in ({"problem.rounds": 300}, {"problem.target": "8%"}))
    for cap, shown in ((None, "8%"), (300, "8%, rounds 300"), (900, "8%, rounds 900")):
        other = capped | ({} if cap is None else {"problem.rounds": cap})
        (row,) = contrast(Side.of("a", rounds), Side.of("b", other)).alone
        assert (row.key, row.before, row.after) == ("problem.target", "rounds 300", shown)
        options = {"target": "8%"} | ({} if cap is None else {"rounds": cap})
        sizes = {"groups": 8, "clients_per_group": 25, "objective": "time"}
        direct = planner.recommend(settings=sharing, **sizes, **options, details=False).verdict
        assert row.verdict is not None and {*row.verdict.best} == {*direct.best} != set()
    caps = [Side.of(str(n), capped | {"problem.rounds": n}) for n in (300, 900)]  # of one target
    assert [row.key for row in contrast(*caps).alone] == ["problem.rounds"]


def marked(found: Compared) -> set[str]:
    """Those that decide together, as every list of differences has them."""
    together = {*found.compare["jointly"]}
    assert together == {row.id for row in found.rows if row.together}
    listed = [text for text in found.details["differences"] if "(decides together with others)" in text]
    assert {text.partition(":")[0] for text in listed} == together
    said = found.verdict.text.partition(" decide together: ")[0]
    assert len(re.split(", | and ", said)) == len(together)
    return together


@pytest.mark.slow
def test_what_decides_together_is_marked_wherever_differences_are_listed() -> None:
    """Five of eight were on the page, none was marked in a list, and the other order named others."""
    names = ("cell_site", "consortium")
    sides = [Side.of(name, _said((ROOT / "examples" / f"{name}.toml").read_text())) for name in names]
    forth, back = (answered(contrast(*pair)) for pair in (sides, sides[::-1]))
    assert marked(forth) == marked(back) and 1 < len(marked(forth)) <= 5
    assert len(forth.rows) > 10 and len(back.rows) > 10


@pytest.mark.parametrize(
    "names", [None, *(pytest.param(names, marks=pytest.mark.slow) for names in (PAIRS[0][:2], PAIRS[0][1::-1]))]
)
def test_where_many_differences_decide_the_page_says_so_and_has_the_verdicts(
    names: tuple[str, str] | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if names is None:
        files = factories(tmp_path)
        monkeypatch.setattr(contrasts, "TOGETHER", 0)  # so that the two that decide here are many
    else:
        files = tuple(ROOT / "examples" / f"{name}.toml" for name in names)
    found = planner.compare(*files)
    assert found.compare["jointly"] == [] and not any(row.together for row in found.rows)
    assert ": no small set of differences was found to explain it." in found.verdict.text
    page = str(found)
    assert "decide" not in page and re.search(r"Star-Star .*x$", page, flags=re.MULTILINE)
    assert all(re.search(rf"^{file.name} .*(Use|Toss-up)", page, flags=re.MULTILINE) for file in files)


def test_what_decides_only_jointly_is_said(files: tuple[Path, Path]) -> None:
    sides = [Side.of(file.name, _said(file.read_text())) for file in files]
    keys = ("fleet.groups", "model.size")
    joint = Contrast(*sides, contrast(*sides).alone[:0], keys)
    assert not joint.same
    assert joint.decisive == ()
    full = Contrast(sides[0], sides[1], tuple(one for one in contrast(*sides).alone if not one.decides), keys)
    answer = answered(full)
    assert answer.verdict.status == "depends"
    assert answer.verdict.text.startswith("Groups and model size decide together: ")
    assert "<- together" in " ".join(cell or "" for row in document(answer).table.texts() for cell in row)
    some = tuple(replace(full.alone[0], key=f"fleet.n{i}") for i in range(7))
    hidden = answered(replace(full, alone=some, jointly=tuple(one.key for one in some[:6])))
    page = str(hidden)
    left = len(some) - page.count("<- together")
    assert f"More  {left} differences, {left - 1} that decide" in re.sub("More +", "More  ", page)


FACTORY = """
[fleet]
groups = 3
clients_per_group = 20
[problem]
heterogeneity = "inter"
rounds = 300
[model]
size = "2MB"
[network.client_link]
preset = "wifi"
[network.server_link]
preset = "lan"
[compute]
step_time = "80ms"
"""


def factories(folder: Path) -> tuple[Path, Path]:
    """Two, between which heterogeneity and link sharing decide together."""
    files = folder / "a.toml", folder / "b.toml"
    files[0].write_text(FACTORY)
    second = FACTORY.replace('"inter"', '"zeta=2,delta=1.2"')
    files[1].write_text(second.replace('preset = "wifi"', 'preset = "wifi"\nsharing = "per-client"'))
    return files


def test_what_one_difference_does_alone_is_said_where_all_together_make_the_verdict(tmp_path: Path) -> None:
    """It read "only together do they decide", while link sharing alone changed the best topology."""
    files = factories(tmp_path)
    found = planner.compare(*files)
    assert marked(found) == {"problem.heterogeneity", "network.client_link.sharing"}
    assert found.verdict.text.startswith("Heterogeneity and link sharing decide together: Star-Ring becomes a toss-up ")
    assert found.verdict.text.endswith("Link sharing alone makes it Star-Star.")
    own = planner.recommend(files[0], link_sharing="per-client")
    assert own.verdict.best == ("star-star",)
    said = str(found)
    assert "per-server, not given  per-client" in said and "  alone -> Star-Star\n" in said
    assert {row.id: row.taken for row in found.rows} == {
        "problem.heterogeneity": None,
        "network.client_link.sharing": "per-server",
    }


def test_what_does_in_the_place_of_what_decides_together_is_named(tmp_path: Path) -> None:
    """Both rates of a link went up, and either, with more local steps, makes the toss-up."""
    regions = tmp_path / "regions.toml", tmp_path / "faster.toml"
    text = """
[fleet]
groups = 5
clients_per_group = 12
local_steps = 10
[problem]
heterogeneity = "zeta=0.2,delta=2"
sigma = 1.2
target = "3%"
[model]
size = "250MB"
[network.client_link]
preset = "datacenter"
[network.server_link]
up = "8Mbit/s"
down = "30Mbit/s"
latency = "120ms"
[compute]
step_time = "0.4s"
"""
    faster = text.replace('"8Mbit/s"', '"100Mbit/s"').replace('"30Mbit/s"', '"100Mbit/s"')
    regions[0].write_text(text)
    regions[1].write_text(faster.replace("local_steps = 10", "local_steps = 35"))
    found = planner.compare(*regions)
    up, down = "network.server_link.up", "network.server_link.down"
    assert found.compare["jointly"] == ["fleet.local_steps", down] and found.compare["instead"] == {down: [up]}
    for other in (up, down):
        rate = {other: "100Mbit/s"}
        told = planner.recommend(regions[0], local_steps=35, settings=rate, details=False)
        assert {*told.recommended} == {*planner.recommend(regions[1], details=False).recommended}
    assert found.verdict.text.startswith("Local steps and server downlink (or server uplink) decide together: ")
    assert re.search(r"server uplink .* <- as well as server downlink", str(found))


@pytest.mark.usefixtures("all_draws")
def test_a_difference_that_alone_makes_a_toss_up_of_others_is_named(tmp_path: Path) -> None:
    shops = tmp_path / "shops.toml", tmp_path / "own.toml"
    text = """
[fleet]
groups = 8
clients_per_group = 6
group_rounds = 3
local_steps = 4
[problem]
heterogeneity = "dirichlet:intra=1,inter=20"
rounds = 300
[model]
size = "12MB"
[network.client_link]
up = "15Mbit/s"
down = "50Mbit/s"
latency = "30ms"
sharing = "per-server"
[network.server_link]
up = "200Mbit/s"
down = "200Mbit/s"
"""
    shops[0].write_text(text)
    shops[1].write_text(text.replace("per-server", "per-client").replace("local_steps = 4", "local_steps = 6"))
    said = planner.compare(*shops).verdict.text
    alone = planner.recommend(shops[0], link_sharing="per-client").verdict.best
    assert "star-ring" not in alone and len(alone) == 2
    assert said.startswith("Local steps and link sharing decide together: Star-Ring becomes a toss-up of ")
    assert said.endswith("Link sharing alone makes it a toss-up of Star-Star or Ring-Star.")


def test_where_targets_differ_ratios_are_of_the_second_to_the_target_of_the_first(tmp_path: Path) -> None:
    """More local steps took as long, to a lower loss: to one loss they take a third of the time."""
    paths = [tmp_path / f"{K}.toml" for K in (2, 12)]
    for path, K in zip(paths, (2, 12), strict=True):
        path.write_text(
            f'[fleet]\ngroups = 8\nclients_per_group = 25\nlocal_steps = {K}\n[plan]\nobjective = "time"\ndraws = 0\n'
        )
    found = planner.compare(*paths)
    own = found.compare["sides"][0]["target"]["value"]
    first, again = planner.recommend(config=paths[0]), planner.recommend(config=paths[1], target=own)
    stars = [one.row("star-star") for one in (first, again)]
    aimed = {row["id"]: row for row in found.compare["second_to_first_target"]}
    assert aimed["star-star"]["rounds"]["value"] == stars[1].rounds < stars[0].rounds / 2
    ratio = stars[1].time_seconds / stars[0].time_seconds
    cells = re.search(r"Star-Star .*", str(found))[0].split()  # type: ignore[index]
    assert cells[-1] == f"{two(ratio)}x"
    turned = planner.compare(*reversed(paths))
    assert turned.compare["sides"][1]["target"]["value"] == own
    for answer, one, other in ((found, found, turned), (turned, turned, found)):
        aims = [side.compare["sides"][0]["target"]["value"] for side in (one, other)]
        which, second = (side["name"] for side in one.compare["sides"])
        said = f"same target: {second} to {aims[0]:.3g}, of {which}; in the other order {aims[1]:.3g}, where ratios may"
        assert said in " ".join(str(answer).split())
    assert planner.compare(paths[0], paths[0]).compare["second_to_first_target"] is None
    for path in paths:  # a loss is no target of accuracy
        path.write_text(path.read_text() + 'metric = "accuracy"\n')
    apart = planner.compare(*paths)
    assert apart.compare["second_to_first_target"] is None and "ratio" not in str(apart)


def test_ratios_within_the_predictors_error_are_said(tmp_path: Path) -> None:
    """0.91x passed for certain, where two topologies of one plan would have been a toss-up."""
    text = "[fleet]\ngroups = 8\nclients_per_group = 25\nlocal_steps = {}\n[plan]\nobjective = 'time'\n"
    paths = [tmp_path / f"{steps}.toml" for steps in (5, 8)]
    for path in paths:
        path.write_text(text.format(path.stem))
    found = planner.compare(*paths)
    scenarios = [Side.of("", _said(path.read_text())).scenario for path in paths]
    error = max(pair_factor(ask(one), 0.8) for one in scenarios)
    assert found.compare["predictor_error"] == error > 1
    ratios = found.compare["ratios"]
    assert all(one["within_error"] == (1 / error <= one["value"] <= error) for one in ratios.values())
    assert any(one["within_error"] for one in ratios.values())
    assert re.search(rf"\nRatios +(all )?within the predictor's error, {two(error)}x \(--explain ratios\)", str(found))
    assert f"were off by less than a factor {two(error)}, " in found.details["ratios"][0]
    slower = tmp_path / "slower.toml"  # the rounds are the same, and with them all that is predicted
    slower.write_text(paths[0].read_text() + '[network.client_link]\nup = "1Mbit/s"\n')
    exact = planner.compare(paths[0], slower)
    assert {one["within_error"] for one in exact.compare["ratios"].values()} == {None}
    assert "predictor's error" not in str(exact)
    assert "ratios" not in exact.details
    waits = [tmp_path / f"{policy}.toml" for policy in ("fail", "timeout")]
    for path in waits:
        path.write_text(paths[0].read_text() + f"[availability]\nclient = 0.9\npolicy = '{path.stem}'\n")
    exact = planner.compare(*waits)
    rounds = [{r["id"]: r["rounds"] for r in side["rows"]} for side in exact.compare["sides"]]
    same = {id_: math.isclose(*(of[id_]["value"] for of in rounds), rel_tol=0.02) for id_ in exact.compare["ratios"]}
    assert same["star-star"] and not same["star-ring"]  # those that a group starts again
    assert {id_: one["within_error"] is None for id_, one in exact.compare["ratios"].items()} == same


def test_tiers_of_a_file_are_told_by_their_names(tmp_path: Path) -> None:
    paths = tmp_path / "three.toml", tmp_path / "two.toml"
    tiers = "".join(f'[[fleet.tiers]]\nname = "{name}"\ncount = 3\n' for name in ("country", "site", "car"))
    paths[0].write_text(tiers)
    paths[1].write_text("[fleet]\ngroups = 3\nclients_per_group = 9\n")
    found = planner.compare(*paths)
    assert next(row for row in found.rows if row.id == "fleet.tiers").before == "country 3, site 3, car 3"
    assert "{" not in str(found)
    linked = tiers.replace("count = 3\n", "count = 3\nlink = { up = '9Mbit/s' }\n")
    paths[0].write_text(linked)
    paths[1].write_text("[fleet]\ngroups = 3\nclients_per_group = 9\n[network.client_link]\npreset = '4g'\n")
    found = planner.compare(*paths)
    said = " ".join(found.details["differences"])
    assert "fleet.groups, fleet.clients_per_group and network.client_link.preset: one difference." in said


def test_of_tiers_with_the_same_names_what_differs_is_told(tmp_path: Path) -> None:
    """It read "region 5, site 3, m..." of both, as all that tiers say was one difference."""
    paths = tmp_path / "a.toml", tmp_path / "b.toml"
    for path, rate, count in zip(paths, ("9Mbit/s", "1Gbit/s"), (3, 4), strict=True):
        own = 'link = { sharing = "per-client" }'
        tiers = (("country", 3, f'link = {{ up = "{rate}" }}'), ("site", count, ""), ("car", 3, own))
        path.write_text("".join(f'[[fleet.tiers]]\nname = "{name}"\ncount = {n}\n{more}\n' for name, n, more in tiers))
    found = planner.compare(*paths)
    differ = {row.id: (row.before, row.after) for row in found.rows}
    assert differ == {"fleet.tiers.country.link.up": ("9Mbit/s", "1Gbit/s"), "fleet.tiers.site.count": (3, 4)}
    assert re.search(r"country link up +9Mbit/s +1Gbit/s", str(found))
    one = planner.recommend(paths[0], settings={"fleet.tiers.country.link.up": "1Gbit/s"}, details=False).verdict
    assert next(row for row in found.rows if "link" in row.id).best == one.best


def test_tiers_beside_groups_are_one_difference() -> None:
    """The two tiers of one side were "tiers 2" beside "not given", in five rows, and the three of the other in none."""
    files = [ROOT / "examples" / name for name in ("phones.toml", "regions.toml")]
    found = planner.compare(*files)
    assert [(row.id, row.before, row.taken) for row in found.rows] == [
        ("fleet.tiers", "12 x 25", None),
        ("problem.sigma", None, "1.9"),  # of networks on images: docs/scenario.md
    ]
    assert found.verdict.best == ("fleet.tiers",)
    assert found.rows[0].best == planner.recommend(config=files[1]).verdict.best
    page = str(found)
    assert "Tiers decide: Star-Star becomes" in page and "  sigma    1.9, not given  1" in page
    turned = planner.compare(*reversed(files))
    assert turned.rows[0].after == "12 x 25"


def test_targets_that_were_told_are_compared_as_they_are(tmp_path: Path) -> None:
    paths = [tmp_path / f"{rounds}.toml" for rounds in (100, 200)]
    for path in paths:
        path.write_text(f"[fleet]\ngroups = 8\nclients_per_group = 25\n[problem]\nrounds = {path.stem}\n")
    found = planner.compare(*paths)
    assert found.compare["second_to_first_target"] is None and "same target" not in str(found)
    assert re.search(r"Star-Star .* 2x$", str(found), flags=re.MULTILINE)


def test_targets_of_accuracy_are_told_in_words(tmp_path: Path) -> None:
    """It read "loss gap 0.591 and 0.591", the losses that stand for an accuracy."""
    paths = [tmp_path / f"{count}.toml" for count in (4, 5)]
    for path in paths:
        path.write_text(f"[fleet]\ngroups = {path.stem}\nclients_per_group = 4\n[plan]\nmetric = 'accuracy'\n")
    page = " ".join(str(planner.compare(*paths)).split())
    assert " Targets each its own: the test accuracy that Star-Star reaches after 200 rounds " in page
    assert "loss gap" not in page


def test_rounds_that_differ_beside_more_are_no_target_to_compare_by(tmp_path: Path) -> None:
    """Fewer and cheaper rounds to a worse loss were 0.63x; to one loss they take more."""
    paths = [tmp_path / f"{steps}.toml" for steps in (4, 3)]
    text = "[fleet]\ngroups = 6\nclients_per_group = 8\nlocal_steps = {}\n[problem]\nrounds = {}\n"
    for path, rounds in zip(paths, (150, 100), strict=True):
        path.write_text(text.format(path.stem, rounds))
    found = planner.compare(*paths)
    first = planner.recommend(config=paths[0], details=False)
    again = planner.recommend(config=paths[1], target=first.target.value, details=False)
    ratio = again.row("star-star").time_seconds / first.row("star-star").time_seconds
    assert ratio > 1 and found.compare["ratios"]["star-star"]["value"] == pytest.approx(ratio)
    assert "same target" in str(found)


def _said(text: str) -> dict[str, Any]:
    return dict(_flat(tomllib.loads(text)))


def _flat(table: Mapping[str, Any], at: str = "") -> list[tuple[str, Any]]:
    return [
        pair
        for key, value in table.items()
        for pair in (_flat(value, f"{at}{key}.") if isinstance(value, Mapping) else [(f"{at}{key}", value)])
    ]


def test_a_page_with_long_verdicts_lists_fewer_differences(
    tmp_path: Path, plan: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four sentences on top and marks of two lines left no room for five differences."""
    monkeypatch.chdir(tmp_path)
    told = "-G 23 -M 22 --heterogeneity zeta=0.3,delta=2 --uplink 32.1Mbit/s --link-sharing per-server"
    told += " --model-size 0.14MB --objective time"
    assert plan("init", "--yes", *told.split(), "--output", "first.toml")[0] == 0
    assert plan("init", "--yes", "-G", "7", "-M", "9", "--output", "second.toml")[0] == 0
    _, page, _ = plan("compare", "first.toml", "second.toml", "--set", "plan.draws=0")
    assert len(page.splitlines()) <= 25 and "--explain differences" in page


def linked(folder: Path, first: str, sharing: str) -> Any:
    """Compare a fleet whose client link is told by a preset with one whose link is told by numbers."""
    fleet = "[fleet]\ngroups = 12\nclients_per_group = 25\n[plan]\nobjective = 'time'\n[network.client_link]\n"
    own = f"up = '20Mbit/s'\ndown = '100Mbit/s'\nlatency = '20ms'\nsharing = '{sharing}'\nhop = 'relayed'\n"
    for name, link in (("a", first), ("b", own)):
        (folder / f"{name}.toml").write_text(f"{fleet}{link}")
    return planner.compare(*(str(folder / f"{name}.toml") for name in "ab"))


def test_a_preset_stands_against_the_other_sides_numbers_and_not_against_the_default(tmp_path: Path) -> None:
    """Without its preset a link was that of the default, with a sharing nobody gave: "alone -> best by case"."""
    found = linked(tmp_path, "preset = '4g'\n", "per-client")
    assert [side["verdict"]["best"] for side in found.compare["sides"]] == [["star-star"]] * 2
    row = found.row("network.client_link.preset")
    assert not row.turns and tuple(row.best) == ("star-star",)
    page = " ".join(str(found).split())
    assert "would change it" not in page and "broadband" not in page


def test_a_preset_leaves_apart_what_both_sides_say_of_its_link(tmp_path: Path) -> None:
    """Link sharing differs beside it, and turns the verdict: the preset alone does not."""
    found = linked(tmp_path, "preset = '4g'\nsharing = 'per-client'\n", "per-server")
    assert not found.row("network.client_link.preset").turns
    assert found.row("network.client_link.sharing").turns
