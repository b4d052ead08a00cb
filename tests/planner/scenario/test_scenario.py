"""What is read, what is refused and in which words, and where every number says it comes from."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from planner.data.heterogeneity import parse
from planner.errors import ScenarioError
from planner.scenario.resolve import load

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
        load(options={"fleet.groups": ("--groups", "3")})


def test_unknown_keys_are_refused_with_the_nearest() -> None:
    assert "Did you mean clients_per_group?" in refused(fleet__clients_per_groups=3)
    assert "Did you mean objective?" in refused(plan__objectiv="time")


@pytest.mark.parametrize(
    ("name", "content", "wanted"),
    [
        ("typo.toml", "[fleet]\ngroups = 3\nclients_per_groups = 4\n", "typo.toml:3: fleet.clients_per_groups"),
        ("twice.toml", "[fleet]\ngroups = 3\ngroups = 4\n", "is not TOML"),
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


def test_presets_without_a_word_of_the_user_warn() -> None:
    assert any("Heterogeneity was not given" in w for w in load(options=BASE).warnings)
    assert any("numbers nobody gave" in w for w in load(options=BASE).warnings)


def test_every_link_that_nobody_gave_is_told_with_its_numbers() -> None:
    """One part of the network given does not hide what the rest stands on."""
    (told,) = (w for w in load(options={**BASE, "model.size": ("--model-size", "45MB")}).warnings if "nobody" in w)
    assert "client link broadband (20 Mbit/s up, 100 Mbit/s down" in told
    assert "server link wan (100 Mbit/s up" in told
    assert "a local step" in told
    assert "model" not in told
    given = {f"network.{tier}_link.preset": (f"--{tier}-link", "lan") for tier in ("client", "server")}
    given |= {"model.size": ("--model-size", "45MB"), "compute.step_time": ("--step-time", "1s")}
    assert not any("nobody gave" in w for w in load(options={**BASE, **given}).warnings)


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
    for _ in range(4000):
        of_groups = rng.dirichlet(np.full(classes, 0.3), groups)
        shares = np.stack([rng.dirichlet(np.maximum(classes * 0.1 * p, 1e-12), clients) for p in of_groups])
        means = shares.mean(axis=1)
        zeta2.append(((shares - means[:, None]) ** 2).sum(axis=2).mean())
        delta2.append(((means - means.mean(axis=0)) ** 2).sum(axis=1).mean())
    scale = 1 / (1 - 1 / classes)  # a one-label client stands one sigma from an even mixture
    zeta, delta = form.deviations(1.0, groups, clients)
    for got, drawn in ((zeta**2, zeta2), (delta**2, delta2)):
        error = 4 * scale * np.std(drawn) / math.sqrt(len(drawn))
        assert abs(got - scale * np.mean(drawn)) < error


def test_dirichlet_limits() -> None:
    """Even shares leave nothing; one-label clients in even groups stand one sigma apart."""
    assert parse("dirichlet:intra=1e6,inter=1e6").deviations(1.0, 10, 10) == pytest.approx((0, 0), abs=1e-2)
    zeta, delta = parse("dirichlet:intra=1e-6,inter=1e6").deviations(1.0, 10**6, 10**6)
    assert zeta == pytest.approx(1, rel=1e-4)
    assert delta == pytest.approx(0, abs=2e-3)
