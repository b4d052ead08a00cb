"""What is read, what is refused and in which words, and where every number says it comes from."""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import planner
from hflbounds.topology import tier_symbols
from planner.data.heterogeneity import parse
from planner.decide.rank import recommend
from planner.errors import ScenarioError
from planner.scenario.fields import FIELDS
from planner.scenario.resolve import from_keywords, load
from planner.scenario.schema import json_schema

ROOT = Path(__file__).parents[3]
BASE = {"fleet.groups": ("--groups", "12"), "fleet.clients_per_group": ("--clients-per-group", "25")}


def refused(**options: object) -> str:
    """The message for options given by their path with dots as double underscores."""
    spoken = {path.replace("__", "."): (f"--{path.rpartition('__')[2]}", value) for path, value in options.items()}
    with pytest.raises(ScenarioError) as caught:
        load(options={**BASE, **spoken})
    message = str(caught.value)
    assert len(message.splitlines()) <= 2
    return message


@pytest.mark.parametrize("value", ["0", "-1", "1e3", "true", "2.5", "1" + "0" * 30, True, 2.5, "", " ", "１２", "0x10"])
def test_counts_are_whole_numbers_in_range(value: object) -> None:
    message = refused(fleet__groups=value)
    assert message.startswith("--groups: ")
    assert "whole number from 1 to 1000000" in message


def test_a_count_in_another_notation_is_refused_with_the_number_to_write() -> None:
    assert refused(fleet__groups="1e3").endswith("Write 1000.")


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "1e400", "-0.0", "1e-320", "-1", "abc", "1_000", [], {}, True])
def test_numbers_are_finite_and_not_negative(value: object) -> None:
    assert refused(problem__sigma=value).startswith("--sigma: ")


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("20", "20Mbit/s"),
        ("20mbit/s", "20Mbit/s"),
        ("20 parsec", "parsec"),
        ("20MB", "20MB/s"),
        ("nan Mbit/s", "nan"),
    ],
)
def test_rates_need_their_unit(text: str, hint: str) -> None:
    message = refused(network__client_link__up=text)
    assert message.startswith("--up: ")
    assert hint in message


def test_a_rate_in_another_spelling_is_echoed_in_the_usual_one() -> None:
    known = load(options={**BASE, "network.client_link.up": ("--uplink", "20Mb/s")}).known["client_link.up"]
    assert (known.value, known.unit, known.origin, known.reading) == (20e6, "bit/s", "given", "20 Mbit/s")


def test_contradictions_name_both_values() -> None:
    assert "13 exceeds the 12" in refused(fleet__groups_per_round="13")
    assert "26 exceeds the 25" in refused(fleet__clients_per_round="26")


def test_what_is_missing_is_asked_for() -> None:
    with pytest.raises(ScenarioError, match="--groups and --clients-per-group"):
        load(options={})
    with pytest.raises(ScenarioError, match=r"^--groups: 3, and --clients-per-group \(-M\) is missing"):
        load(options={"fleet.groups": ("--groups", "3")})


def test_unknown_keys_are_refused_with_the_nearest() -> None:
    assert "Did you mean clients_per_group?" in refused(fleet__clients_per_groups=3)
    assert "Did you mean objective?" in refused(plan__objectiv="time")
    assert "inter (groups differ)" in refused(problem__heterogeneity="non-iid")  # and not: Did you mean iid?


@pytest.mark.parametrize(
    ("name", "content", "wanted"),
    [
        ("typo.toml", "[fleet]\ngroups = 3\nclients_per_groups = 4\n", "typo.toml:3: fleet.clients_per_groups"),
        ("twice.toml", "[fleet]\ngroups = 3\ngroups = 4\n", "twice.toml:3: is not TOML"),
        ("boolean.toml", "[fleet]\ngroups = true\nclients_per_group = 4\n", "boolean.toml:2: fleet.groups: True"),
        ("float.toml", "[fleet]\ngroups = 3.0\nclients_per_group = 4\n", "Write 3."),
        ("nan.toml", "[fleet]\ngroups=3\nclients_per_group=4\n[problem]\nsigma = nan\n", "nan.toml:5: problem.sigma"),
        ("table.toml", "fleet = 3\n", "is not a table"),
        ("future.toml", "schema_version = 2\n", "future.toml:1: schema_version"),
        ("deep.toml", "a = " + "[" * 100_000, "deep.toml"),
        ("link.toml", "[fleet]\ngroups=3\nclients_per_group=4\n[network.client_link]\npreset='6g'\n", "5g"),
        ("title.toml", 'title = "a\\u0000b"\n[fleet]\ngroups=3\nclients_per_group=4\n', "title"),
    ],
)
def test_files_are_refused_with_the_place(tmp_path: Path, name: str, content: str, wanted: str) -> None:
    file = tmp_path / name
    file.write_text(content, encoding="utf-8")
    with pytest.raises(ScenarioError) as caught:
        load(file)
    assert wanted in str(caught.value)
    assert len(str(caught.value).splitlines()) <= 2
    assert len(str(caught.value)) < 500


def test_files_that_are_no_text_or_no_file(tmp_path: Path) -> None:
    latin = tmp_path / "latin.toml"
    latin.write_bytes(b'title = "\xe9"\n')
    large = tmp_path / "large.toml"
    large.write_bytes(b"#" * (2 << 20))
    for file, wanted in ((latin, "UTF-8"), (large, "1 MiB"), (tmp_path, "cannot be read"), (tmp_path / "no", "cannot")):
        with pytest.raises(ScenarioError, match=wanted):
            load(file)


def test_options_override_the_file_and_the_message_names_the_option(tmp_path: Path) -> None:
    file = tmp_path / "a.toml"
    file.write_text("[fleet]\ngroups = 3\nclients_per_group = 4\n")
    scenario = load(file, {"fleet.groups": ("--groups", "5")})
    assert scenario.number("G") == 5
    assert scenario.number("M") == 4
    with pytest.raises(ScenarioError, match=r"^--groups: 'x'"):
        load(file, {"fleet.groups": ("--groups", "x")})


def test_every_number_says_where_it_comes_from() -> None:
    scenario = load(options={**BASE, "problem.heterogeneity": ("-H", "zeta=0.5,delta=2")})
    origin = {name: known.origin for name, known in scenario.known.items()}
    assert origin["G"] == origin["zeta"] == origin["delta"] == "given"
    assert origin["K"] == origin["sigma"] == origin["client_link.up"] == "default"
    assert origin["S1"] == "derived"
    assert all(known.note for known in scenario.known.values() if known.origin == "default" and known.value != "none")


def assumed(**given: str) -> dict[str, tuple[object, str]]:
    """Value and unit of everything that the answer names as assumed."""
    options = {path.replace("__", "."): (f"--{path}", value) for path, value in given.items()}
    answer = recommend(load(options={**BASE, "plan.draws": ("--set", 0), **options}))
    return {one.key: (one.value, one.unit) for one in answer.assumptions}


@pytest.mark.parametrize("tiers", ["3/4", "2/3/4"])
def test_an_even_split_has_no_differences_without_noise(tiers: str) -> None:
    """They are what finite samples make of it, multiples of sigma; the other parts of presets stay above 0."""

    def deviations(kind: str) -> list[float]:
        found = from_keywords(None, {}, {"tiers": tiers, "sigma": 0, "heterogeneity": kind})
        return [found.number(name) for name in found.known if re.fullmatch(r"zeta|delta\d?", name)]

    assert set(deviations("iid")) == {0.0}
    assert sorted(map(bool, deviations("inter"))) == [False] * tiers.count("/") + [True]


@pytest.mark.usefixtures("unflipped")
def test_presets_without_a_word_of_the_user_are_named_as_assumed() -> None:
    named = assumed()
    assert named["zeta"] == (pytest.approx(3 * 1.9), "")  # the preset both, in units of sigma = 1.9
    assert named["delta"] == (pytest.approx(0.95 * 1.9), "")
    assert {"client_link", "server_link", "model_size", "step_time"} <= named.keys()
    parts = {"up": "1Mbit/s", "down": "1Mbit/s", "latency": "1ms", "sharing": "per-client", "hop": "direct"}
    whole = {f"network__client_link__{part}": value for part, value in parts.items()}
    assert "client_link" not in assumed(**whole) and "server_link" in assumed(**whole)  # nothing is left of its preset
    assert "client_link" in assumed(**whole, plan__objective="energy")  # but energy
    spoken = assumed(problem__heterogeneity="both")
    assert named.keys() - spoken.keys() == {"zeta", "delta"}


def test_every_link_that_nobody_gave_is_told_with_its_numbers() -> None:
    """One part of the network given does not hide what the rest stands on."""
    named = assumed(model__size="45MB")
    assert (named["client_link"], named["server_link"]) == (("broadband", ""), ("wan", ""))
    assert (named["client_link.up"], named["client_link.down"]) == ((20e6, "bit/s"), (100e6, "bit/s"))
    assert named["server_link.up"] == (100e6, "bit/s")
    assert named["step_time"] == (0.1, "s")
    assert "model_size" not in named
    given = {f"network__{tier}_link__preset": "lan" for tier in ("client", "server")}
    left = assumed(model__size="45MB", compute__step_time="1s", **given)
    told = {key for key in left if key.startswith(("client_link", "server_link", "model_size", "step_time"))}
    assert told == {"client_link.sharing"}  # which the preset alone says, and which decides


def test_fixed_order_contradicts_partial_participation() -> None:
    spoken = {"fleet.groups_per_round": ("--S1", "3"), "fleet.order": ("--order", "fixed")}
    with pytest.raises(ScenarioError, match="in the order they are drawn"):
        load(options={**BASE, **spoken})


def test_a_number_of_thousands_of_digits_is_no_toml(tmp_path: Path) -> None:
    file = tmp_path / "a.toml"
    file.write_text(f"[fleet]\ngroups = {'9' * 5000}\n")
    with pytest.raises(ScenarioError, match="is not TOML"):
        load(file)


def test_what_is_said_twice_is_refused() -> None:
    with pytest.raises(ScenarioError, match="Give one of the two"):
        load(options={**BASE, "fleet": ("--set fleet", "3")})


def test_one_group_or_one_client_has_nothing_to_differ_from() -> None:
    alone = load(options={**BASE, "fleet.groups": ("--groups", "1"), "problem.heterogeneity": ("-H", "both")})
    assert alone.number("delta") == 0
    assert alone.known["delta"].origin == "derived"
    single = load(options={**BASE, "fleet.clients_per_group": ("-M", "1"), "problem.heterogeneity": ("-H", "both")})
    assert single.number("zeta") == 0


@pytest.mark.parametrize("text", ["intr", "zeta", "zeta=", "zeta=nan", "zeta=-1", "zeta=1,zeta=2", "sigma=1", "eta=1"])
def test_heterogeneity_that_cannot_be_read(text: str) -> None:
    assert refused(problem__heterogeneity=text).startswith("--heterogeneity: ")


@pytest.mark.parametrize("text", ["dirichlet:", "dirichlet:intra=0", "dirichlet:a=1", "counts.csv", "x" * 1000, 3])
def test_heterogeneity_in_other_wrong_forms(text: object) -> None:
    assert refused(problem__heterogeneity=text)


def test_heterogeneity_left_out_is_a_default() -> None:
    assert load(options=BASE).known["zeta"].origin == "default"


def test_dirichlet_deviations_are_those_of_drawn_label_shares() -> None:
    """The closed form against a simulation: shares drawn, squared deviations counted."""
    groups, clients, classes = 6, 4, 10
    form = parse("dirichlet:intra=0.1,inter=0.3")
    rng = np.random.default_rng(0)
    zeta2, delta2 = [], []
    for _ in range(1000):
        of_groups = rng.dirichlet(np.full(classes, 0.3), groups)
        shares = np.stack([rng.dirichlet(np.maximum(classes * 0.1 * p, 1e-12), clients) for p in of_groups])
        means = shares.mean(axis=1)
        zeta2.append(((shares - means[:, None]) ** 2).sum(axis=2).mean())
        delta2.append(((means - means.mean(axis=0)) ** 2).sum(axis=1).mean())
    scale = 4**2 / (1 - 1 / classes)  # a one-label client stands four sigma from an even mixture
    zeta, delta = form.deviations(1.0, groups, clients)
    for got, drawn in ((zeta**2, zeta2), (delta**2, delta2)):
        error = 4 * scale * np.std(drawn) / math.sqrt(len(drawn))
        assert abs(got - scale * np.mean(drawn)) < error


def test_dirichlet_limits() -> None:
    """Even shares leave nothing; one-label clients in even groups stand four sigma apart."""
    assert parse("dirichlet:intra=1e6,inter=1e6").deviations(1.0, 10, 10) == pytest.approx((0, 0), abs=4e-2)
    zeta, delta = parse("dirichlet:intra=1e-6,inter=1e6").deviations(1.0, 10**6, 10**6)
    assert zeta == pytest.approx(4, rel=1e-4)
    assert delta == pytest.approx(0, abs=8e-3)


def test_the_schema_of_scenarios_describes_every_key_and_takes_every_example() -> None:
    schema = json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    right = jsonschema.Draft202012Validator(schema).is_valid
    assert json.loads((ROOT / "examples" / "scenario.schema.json").read_text()) == schema

    def described(table: dict, at: str = "") -> Iterator[str]:
        for key, one in table["properties"].items():
            if "properties" in one:
                yield from described(one, f"{at}{key}.")
            else:
                assert len(one["description"]) > 10
                yield at + key

    assert list(described(schema)) == [field.key for field in FIELDS]
    for example in (ROOT / "examples").glob("*.toml"):
        assert example.read_text().startswith("#:schema scenario.schema.json\n")
        table = tomllib.loads(example.read_text())
        assert right(table) and not right({**table, "flet": {}})


@pytest.mark.parametrize(
    ("short", "tiers"),
    [
        ({"G": 12, "M": 25}, {"tiers": "12/25"}),
        (
            {"G": 12, "M": 25, "S1": 3, "S2": 4, "P": 2},
            [{"count": 12, "drawn": 3}, {"count": 25, "drawn": 4, "passes": 2}],
        ),
        (
            {"G": 12, "M": 25, "heterogeneity": "zeta=0.5,delta=2", "order": "random"},
            [{"count": 12, "deviation": 2, "order": "random"}, {"count": 25, "deviation": 0.5, "order": "random"}],
        ),
        (
            {"G": 3, "M": 4, "heterogeneity": "zeta=0.5,delta=1:2", "uplink": "20Mbit/s", "server_link": "lan"},
            [
                {"count": 3, "deviation": "1:2", "link": {"preset": "lan"}},
                {"count": 4, "deviation": 0.5, "link": {"up": "20Mbit/s"}},
            ],
        ),
        ({"G": 3, "M": 4, "P": "1:8"}, [{"count": 3}, {"count": 4, "passes": "1:8"}]),
    ],
)
def test_two_tiers_written_as_tiers_are_the_short_form(short: dict, tiers: object) -> None:
    other = {"tiers": tiers["tiers"]} if isinstance(tiers, dict) else {}
    table = {} if other else {"fleet": {"tiers": tiers}}
    assert from_keywords(table, {}, other) == from_keywords({}, {}, short)


TREE = {
    "fleet": {
        "tiers": [{"name": "region", "count": 4}, {"count": 5, "passes": 2}, {"name": "phone", "count": 20, "drawn": 8}]
    }
}


def test_a_tree_of_three_tiers() -> None:
    scenario = from_keywords(TREE, {}, {"heterogeneity": "0.5/1/2", "uplink": "20Mbit/s", "K": 3})
    assert scenario.depth == 3
    assert scenario.names == ("region", "tier 2", "phone")
    values = {name: known.value for name, known in scenario.known.items()}
    numbers = {
        "n1": 4,
        "n2": 5,
        "n3": 20,
        "P2": 2,
        "P3": 1,
        "K": 3,
        "S1": 4,
        "S2": 5,
        "S3": 8,
        "delta1": 0.5,
        "delta2": 1,
        "delta3": 2,
    }
    assert {name: values[name] for name in numbers} == numbers
    assert {s for tier in tier_symbols(3) for s in (tier.size, tier.drawn, tier.passes, tier.deviation)} - {None} <= {
        *numbers
    }
    assert scenario.partial and scenario.order == "random"
    assert len(scenario.network.links) == 3
    assert scenario.network.client_link.up == 20e6
    assert values["link1"] == values["server_link"] == "wan"
    assert scenario.topologies is None
    origins = {name: scenario.known[name].origin for name in ("n1", "S1", "S3", "P2", "P3", "delta1")}
    assert origins == {"n1": "given", "S1": "derived", "S3": "given", "P2": "given", "P3": "default", "delta1": "given"}


@pytest.mark.parametrize(
    ("said", "deviations"),
    [
        ("iid", (0.3, 0.3, 0.99)), ("intra", (0.33, 0.3, 7.5)), ("inter", (8.1, 0.3, 0.99)), ("both", (2.85, 2.85, 9)),
        ("1/0/2", (1, 0, 2)),
    ],
)  # fmt: skip
def test_heterogeneity_of_a_tree(said: str, deviations: tuple[float, ...]) -> None:
    scenario = from_keywords(TREE, {}, {"heterogeneity": said, "sigma": 3})
    assert tuple(scenario.number(f"delta{i}") for i in (1, 2, 3)) == pytest.approx(deviations)


@pytest.mark.parametrize("form", ["table", "file"])
def test_sizes_of_tiers_take_the_place_of_the_counts_of_a_file(form: str, tmp_path: Path) -> None:
    """They were ignored, and the file's 4 groups of 30 answered for."""
    (tmp_path / "plan.toml").write_text("[fleet]\ngroups = 4\nclients_per_group = 30\nlocal_steps = 7\n")
    config = tmp_path / "plan.toml" if form == "file" else {"fleet": {"groups": 4, "clients_per_group": 30}}
    two, three = (from_keywords(config, {}, {"tiers": tiers}) for tiers in ("ring:2/star:5", "2/3/4"))
    assert [two.number(n) for n in "GM"] == [2, 5]
    assert [three.number(n) for n in ("n1", "n2", "n3")] == [2, 3, 4]


def test_one_child_has_nothing_to_differ_from() -> None:
    scenario = from_keywords({}, {}, {"tiers": "4/1/20", "heterogeneity": "both"})
    assert [scenario.number(f"delta{i}") > 0 for i in (1, 2, 3)] == [True, False, True]
    assert scenario.known["delta2"].origin == "derived"


def test_patterns_name_the_topology_that_is_asked_about() -> None:
    assert from_keywords(TREE, {}, {"tiers": "ring/star/ring"}).topologies == ("ring-star-ring",)
    both = from_keywords({}, {}, {"tiers": "ring:4/star:5/ring:20"})
    assert both.topologies == ("ring-star-ring",)
    assert [both.number(f"n{i}") for i in (1, 2, 3)] == [4, 5, 20]
    assert from_keywords({}, {}, {"tiers": "ring/star", "G": 3, "M": 4}).topologies == ("ring-star",)
    assert from_keywords({}, {}, {"tiers": "star:7"}).depth == 1


@pytest.mark.parametrize(
    ("table", "options", "wanted"),
    [
        ({}, {"tiers": "ring/star/ring"}, "ring:10/star:10/ring:10"),
        ({}, {"tiers": "ring:4/star"}, "Write 4/5/20"),
        ({}, {"tiers": "rung/star"}, "Did you mean ring"),
        ({}, {"tiers": "3"}, "tiers: '3' is not 1 or 2, nor a tree"),
        ({}, {"tiers": "240"}, "one tier of 240 clients is star:240"),
        ({}, {"tiers": "4/0/2"}, "whole number from 1 to 1000000"),
        ({}, {"tiers": "2/" * 8 + "2"}, "9 tiers are not 1 to 8"),
        (TREE, {"tiers": "4/5"}, "2 sizes for 3 tiers. Give 3, such as 10/10/10, or no "),
        (TREE, {"tiers": 1}, "about two tiers, and this fleet has 3. Leave it out: FedAvg"),
        (TREE, {"groups": 3}, "about two tiers, and this fleet has 3"),
        (TREE, {"P": 3}, "about two tiers, and this fleet has 3"),
        (TREE, {"clients": 30}, "about two tiers, and this fleet has 3"),
        (TREE, {"heterogeneity": "0.5/1"}, "is of 2 tiers, and this fleet has 3"),
        (TREE, {"heterogeneity": "zeta=1,delta=2"}, "Give one number for each, top first: 1/1/1"),
        (TREE, {"heterogeneity": "dirichlet:inter=1"}, "Give one number for each"),
        (TREE, {"K": "1:8"}, "searched in two tiers only.*`hfl-plan tune` searches K"),
        (TREE, {"order": "fixed"}, "drawn in"),
        ({"fleet": {"tiers": [{"count": 3, "passes": 2}, {"count": 2}]}}, {}, r"tiers\[1\].passes: the top server"),
        (
            {"fleet": {"tiers": [{"count": 3}, {"count": 2}, {"count": "1:8"}]}},
            {},
            r"tiers\[3\].count: ranges are searched in two tiers only",
        ),
        ({"fleet": {"tiers": [{"count": 3}, {"cuont": 2}]}}, {}, r"tiers\[2\].cuont.*Did you mean count"),
        ({"fleet": {"tiers": [{"count": 3}, {"name": "x"}]}}, {}, r"tiers\[2\].count: is missing"),
        ({"fleet": {"tiers": [{"count": 3, "drawn": 4}, {"count": 2}]}}, {}, r"tiers\[1\].drawn: S1 = 4 exceeds the 3"),
        ({"fleet": {"tiers": [{"count": 3, "deviation": 1}, {"count": 2}]}}, {}, r"tiers\[2\].deviation: is missing"),
        ({"fleet": {"tiers": 3}}, {}, r"\[\[fleet.tiers\]\]"),
        ({"fleet": {"tiers": [{"name": "site", "count": 3}] * 2}}, {}, "fleet.tiers: two tiers are named site"),
        ({}, {"tiers": "4/5", "G": 10, "M": 10}, "^tiers: sizes are also given by G and M. Leave one of them out"),
        ({}, {"tiers": "ring:4/star:5", "clients": 20}, "also given by clients"),
        ({"fleet": {"groups": 4}, "network": {"tiers": "4/5"}}, {}, "sizes are also given by fleet.groups"),
        ({"fleet": {"tiers": []}}, {}, "0 tiers are not 1 to 8"),
    ],
)
def test_trees_that_cannot_be_meant(table: dict, options: dict, wanted: str) -> None:
    with pytest.raises(ScenarioError, match=wanted) as caught:
        from_keywords(table, {}, options)
    assert len(str(caught.value).splitlines()) <= 2


@given(st.lists(st.tuples(st.integers(1, 50), st.integers(1, 50), st.integers(1, 9)), min_size=1, max_size=6))
def test_trees_of_any_depth_keep_their_numbers(tiers: list[tuple[int, int, int]]) -> None:
    rows = [
        {"count": size, "drawn": min(drawn, size), **({"passes": passes} if i else {})}
        for i, (size, drawn, passes) in enumerate(tiers)
    ]
    scenario = from_keywords({"fleet": {"tiers": rows}}, {}, {"heterogeneity": "/".join("1" for _ in rows)})
    assert scenario.depth == len(rows) == len(scenario.network.links)
    for row, symbols in zip(rows, tier_symbols(len(rows)), strict=True):
        assert scenario.number(symbols.size) == row["count"]
        assert scenario.number(symbols.drawn) == row["drawn"]
        assert symbols.passes is None or scenario.number(symbols.passes) == row["passes"]
        assert scenario.number(symbols.deviation) == (row["count"] > 1)
    assert scenario.partial == any(row["drawn"] < row["count"] for row in rows)


NESTED = "region,city,client,a,b\n" + "".join(
    f"r{r},r{r}c{c},c{r}{c}{i},{5 + 3 * r + c},{9 - 2 * i}\n" for r in range(3) for c in range(2) for i in range(4)
)


def test_nested_groups_of_a_file_are_tiers(tmp_path: Path) -> None:
    file = tmp_path / "nested.csv"
    file.write_text(NESTED)
    scenario = from_keywords({}, {}, {"heterogeneity": str(file)})
    assert scenario.depth == 3
    assert [scenario.number(f"n{i}") for i in (1, 2, 3)] == [3, 2, 4]
    assert scenario.known["n1"].origin == "derived"
    named = from_keywords({}, {}, {"heterogeneity": str(file), "tiers": "ring/star/ring"})
    assert named.topologies == ("ring-star-ring",)
    assert [named.number(f"delta{i}") for i in (1, 2, 3)] == [scenario.number(f"delta{i}") for i in (1, 2, 3)]
    with pytest.raises(ScenarioError, match="is of 3 tiers, and this fleet has 4"):
        from_keywords({}, {}, {"heterogeneity": str(file), "tiers": "2/2/2/2"})
    with pytest.raises(ScenarioError, match=r"two tiers, and .*nested\.csv has 3"):
        from_keywords({}, {}, {"heterogeneity": str(file), "groups": 3})


def test_clients_in_all_beside_a_division_are_said_to_search_nothing() -> None:
    file = ROOT / "examples" / "hospitals.toml"
    beside = load(file, {"fleet.clients": ("--clients", "32")})
    (said,) = set(beside.warnings) - set(load(file, {}).warnings)
    assert said == "--clients 32: 4 groups of 8 are in the file, so no other division is searched."
    assert not beside.divisions


TARGETED = {"problem.target": ("--target", "0.148")}


@pytest.mark.parametrize(
    ("said_before", "options", "rounds"),
    [
        ({"rounds": 300}, TARGETED, None),  # both define the target, and the option is the later word
        ({"rounds": 300, "target": 0.5}, TARGETED, 300),  # a limit, of whatever target
        ({"rounds": 300}, {**TARGETED, "problem.rounds": ("--rounds", "40")}, 40),
        ({"target": 0.148}, {"problem.rounds": ("--rounds", "40")}, 40),
        ({"rounds": 300}, {}, 300),
    ],
)
def test_a_target_replaces_the_rounds_that_defined_one(
    tmp_path: Path, said_before: dict[str, float], options: dict[str, tuple[str, str]], rounds: int | None
) -> None:
    table = {"fleet": {"groups": 3, "clients_per_group": 4}, "problem": said_before}
    written = "\n".join(f"{key} = {value}" for key, value in said_before.items())
    file = tmp_path / "scenario.toml"
    file.write_text(f"[fleet]\ngroups = 3\nclients_per_group = 4\n[problem]\n{written}\n", encoding="utf-8")
    by_file = load(file, options)
    by_table = from_keywords(table, {key: value for key, (_, value) in options.items()}, {})
    for found in (by_file, by_table):
        assert found.known["R"].value == rounds
        if "problem.target" in options:
            assert found.known["target"].value == 0.148


def test_a_range_of_availability_is_refused_with_what_answers_it() -> None:
    """It was told to be written as 99%."""
    with pytest.raises(planner.ScenarioError, match=r"It takes one number, and no range\. Ask with either end"):
        planner.recommend(groups=3, clients_per_group=4, availability="90:99%")
    for end in ("90%", "99%"):
        assert planner.recommend(groups=3, clients_per_group=4, availability=end, details=False).rows


def test_a_folder_is_no_deviations_of_tiers(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match=r"is a folder\. Name a file"):
        load(None, {"problem.heterogeneity": ("--data", f"{tmp_path}/")})


def test_a_title_says_that_options_replaced_the_sizes_of_its_file(tmp_path: Path) -> None:
    """A page with 125 phones was called "300 phones"."""
    file = tmp_path / "a.toml"
    file.write_text('title = "12 phones"\n[fleet]\ngroups = 3\nclients_per_group = 4\n')
    titles = [load(file, said).title for said in ({}, {"fleet.groups": ("--groups", 5)}, {"plan.seed": ("--seed", 1)})]
    assert titles == ["12 phones", "12 phones (sizes by options)", "12 phones"]


@pytest.mark.parametrize(
    ("words", "way"),
    [
        ("recommend --config examples/regions.toml --group-rounds 1:3", "`hfl-plan tune` tries ranges of those"),
        ("recommend --config examples/regions.toml --tiers ring/ring", "Give 3 patterns, such as ring/ring/ring."),
    ],
)
def test_what_three_tiers_refuse_names_what_they_take(plan, words: str, way: str) -> None:
    code, _, err = plan(*words.split())
    assert code == 2 and way in " ".join(err.split())


@pytest.mark.parametrize("key", ["target_loss", "target_accuracy"])
def test_a_target_of_an_option_takes_the_place_of_the_files(key: str, tmp_path: Path) -> None:
    """Both were counted, and nothing but an editor helped; two options are two targets still."""
    file = tmp_path / "a.toml"
    file.write_text("[fleet]\ngroups = 3\nclients_per_group = 4\n[problem]\ntarget = '2%'\nrounds = 90\n")
    own = {f"problem.{key}": (f"--{key}", "0.5")}
    with pytest.raises(ScenarioError, match="nothing"):  # as no pilot says what it is: it is read, and alone
        load(file, own)
    with pytest.raises(ScenarioError, match="is a target too"):
        load(file, own | {"problem.target": ("--target", "2%")})
    found = load(file, {"problem.target": ("--target", "0.25")})
    assert (found.known["target"].value, found.known["R"].value) == (0.25, 90)  # a limit stays
