"""How sure: against closed forms, dense grids, known indices, and the commands' own answers by another road."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from test_cli import run

from hflbounds import families
from hflbounds.topology import all_topologies
from planner.decide.rank import recommend
from planner.decide.recommendation import Estimate, Index
from planner.decide.uncertainty import distributions, lattice, proofs
from planner.decide.uncertainty import draws as drawing
from planner.decide.uncertainty import indices as sobol
from planner.decide.uncertainty import parts as footprint_parts
from planner.decide.uncertainty.assess import assess
from planner.decide.uncertainty.lattice import blocks
from planner.decide.verdict import Standing
from planner.errors import ScenarioError
from planner.io.intervals import Spread, Uncertain, read
from planner.predict.evidence import predictor_record
from planner.predict.question import PARTICIPATION, Question, ask
from planner.scenario.footprint import Coefficient
from planner.scenario.resolve import Scenario, load
from planner.scenario.units import parse_rate

SHORT = {
    "G": "fleet.groups",
    "M": "fleet.clients_per_group",
    "P": "fleet.group_rounds",
    "K": "fleet.local_steps",
    "S1": "fleet.groups_per_round",
    "S2": "fleet.clients_per_round",
    "H": "problem.heterogeneity",
    "sigma": "problem.sigma",
    "L": "problem.smoothness",
    "A": "problem.initial_gap",
    "R": "problem.rounds",
    "target": "problem.target",
}


def scenario(**said: Any) -> Scenario:
    """By letters, or keys with ``__`` for the dot; ten groups of ten, and everything exact, where nothing is said."""
    given = {"G": "10", "M": "10", "sigma": "1", "L": "1", "A": "2.3", "H": "zeta=0.5,delta=0.5"} | said
    given = {"plan__metric": "gradient", "plan__predictor": None if "bounds" in str(said) else "typical"} | given
    given |= {} if {"R", "target", "problem__rounds", "problem__target"} & set(given) else {"problem__rounds": "1000"}
    if not any(name.startswith(("network", "compute", "model", "plan__objective")) for name in given):
        given["plan__objective"] = "rounds"
    keys = {SHORT.get(name, name.replace("__", ".")): value for name, value in given.items() if value is not None}
    return load(None, {key: (key, value) for key, value in keys.items()})


@dataclass(frozen=True)
class Fixed(Question):
    """A question whose rounds are a function of its values."""

    law: Callable[[Mapping[str, Any]], dict[str, Any]] = lambda values: {}

    def rounds(self, **changes: Any) -> dict[str, Any]:
        return self.law({**self.values, **changes})


def fixed(told: Scenario, law: Callable[[Mapping[str, Any]], dict[str, Any]]) -> Fixed:
    question = ask(told)
    return Fixed(**{f.name: getattr(question, f.name) for f in fields(question)}, law=law)


def ahead_by(factor: float, values: Mapping[str, Any]) -> dict[str, Any]:
    """Star-Star leads by a factor, whatever sigma is."""
    return {"star-star": 100 * values["sigma"], "star-ring": 100 * factor * values["sigma"], **FAR}


FAR = {"ring-star": 1e9, "ring-ring": 1e9}
NORMAL = NormalDist()


# ---------------------------------------------------------------- what may be written


def test_a_range_is_read_as_its_geometric_middle() -> None:
    number = read("0.2:1.8", lambda text: float(str(text)), field="x")
    assert isinstance(number, Uncertain)
    assert number == pytest.approx(0.6) and number.spread == Spread("log-uniform", pytest.approx(math.log(3)))
    assert math.exp(-number.spread.reach) * number == pytest.approx(0.2)
    assert number.reading == "0.2 to 1.8, log-uniform"


@pytest.mark.parametrize("text", ["2±0.5", "2+-0.5", "2 +/- 0.5"])
def test_one_standard_deviation_up_is_the_value_and_its_error(text: str) -> None:
    number = read(text, lambda part: float(str(part)), field="x")
    assert isinstance(number, Uncertain) and number == 2
    column = distributions.Column("x", "given", number.spread, {"zeta": 1.0}, 2.0)
    up = column.logs(np.array([NORMAL.cdf(1.0), 0.5]))
    assert 2 * np.exp(up) == pytest.approx([2.5, 2.0])


def test_the_unit_may_stand_once() -> None:
    number = read("10:40Mbit/s", lambda text: parse_rate(text, field="x"), field="x")
    assert number == pytest.approx(20e6) and getattr(number, "reading", "").startswith("10 Mbit/s to 40 Mbit/s")
    assert read("10 Mbit/s:0.04Gbit/s", lambda text: parse_rate(text, field="x"), field="x") == pytest.approx(20e6)


def test_equal_ends_are_one_number() -> None:
    assert not isinstance(read("3:3", lambda text: float(str(text)), field="x"), Uncertain)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"sigma": "2:1"}, "from the larger to the smaller. Write 1:2"),
        ({"sigma": "0:1"}, "includes 0, which has no logarithm"),
        ({"sigma": "0±1"}, "includes 0"),
        ({"sigma": "-1:1"}, "'-1' is not 0, or a number"),
        ({"sigma": "nan:1"}, "'nan' is not 0, or a number"),
        ({"sigma": "1:inf"}, "'inf' is not 0, or a number"),
        ({"sigma": "1:2:3"}, "neither low:high nor value+-sd"),
        ({"sigma": "1:"}, "neither low:high nor value+-sd"),
        ({"sigma": "1±-1"}, "'-1' is not 0, or a number"),
        ({"H": "zeta=2:1,delta=1"}, "zeta: '2:1' goes from the larger"),
        ({"H": "zeta=0:1,delta=1"}, "zeta: '0:1' includes 0"),
        ({"H": "zeta=a:1"}, "must be a number 0, or between"),
        ({"H": "dirichlet:intra=0.1:0.5"}, "must be a number between 1e-6 and 1e6"),
        ({"target": "5%:1%"}, "from the larger to the smaller"),
        ({"target": "0:1"}, "is not a target"),
        ({"network__client_link__up": "10:40"}, "has no unit"),
        ({"network__client_link__latency": "0s:5ms"}, "includes 0"),
        ({"compute__step_time": "0.2s±1Mbit/s"}, "is a rate"),
        ({"model__size": "100MB:10MB"}, "from the larger"),
        ({"plan__draws": "1000"}, "not 0, or a power of two from 256 to 16384"),
        ({"plan__draws": "-1"}, "not a whole number"),
    ],
)
def test_limits_that_cannot_be_are_refused_in_words(said: dict[str, str], words: str) -> None:
    with pytest.raises(ScenarioError) as refusal:
        scenario(**said)
    assert words in str(refusal.value) and "\x00" not in str(refusal.value) and len(str(refusal.value)) < 300


def test_what_was_written_is_kept_with_its_reading() -> None:
    told = scenario(
        H="zeta=0.2:0.8,delta=2±0.5", target="1%:4%", network__client_link__up="10:40Mbit/s", model__size="10MB±1MB"
    )
    known = told.known
    assert (known["zeta"].value, known["zeta"].origin) == (pytest.approx(0.4), "given")
    assert known["zeta"].reading == "0.2 to 0.8, log-uniform" and known["delta"].reading == "2 +- 0.5, lognormal"
    assert known["target"].value == pytest.approx(0.02 * 2 * 2.3) and known["target"].spread is not None
    assert told.network.client_link.up == pytest.approx(20e6) and known["model_size"].value == 10e6
    assert [c.name for c in distributions.columns(ask(told), told, told.objective)] == [
        *("zeta", "delta", "target", "model_size", "step_time", "client_link.up", "client_link.down"),
        *("client_link.latency", "server_link.up", "server_link.down", "server_link.latency"),
    ]


# ---------------------------------------------------------------- what is drawn


def test_only_what_moves_the_order_is_drawn() -> None:
    told = scenario(sigma=None, L="2", A=None, network__client_link__up="20Mbit/s", plan__objective="traffic")
    assert [(c.name, c.kind) for c in distributions.columns(ask(told), told, "bytes")] == [
        ("sigma", "assumed"),
        ("L A", "assumed"),
    ]
    exact = scenario()
    assert distributions.columns(ask(exact), exact, "rounds") == ()


def test_numbers_of_a_chosen_preset_are_taken_as_given() -> None:
    told = scenario(network__client_link__preset="5g", network__tiers="1", compute__step_time="1s", model__size="1MB")
    assert distributions.columns(ask(told), told, "time") == ()


def test_powers_of_a_preset_are_measured_and_those_with_limits_are_given() -> None:
    told = scenario(
        footprint__device="phone",
        footprint__training_power="2:8W",
        compute__step_time="1s",
        network__client_link__preset="5g",
        network__tiers="1",
        model__size="1MB",
        plan__objective="energy",
    )
    found = {c.name: c.kind for c in distributions.columns(ask(told), told, "energy")}
    assert found.pop("training_power") == "given"
    assert found and set(found.values()) == {"measured"}


def test_a_gap_with_limits_stays_apart_from_a_smoothness_that_nobody_gave() -> None:
    told = scenario(A="1:4", L=None)
    found = {c.name: (c.kind, c.spread.width) for c in distributions.columns(ask(told), told, "rounds")}
    assert found == {"A": ("given", pytest.approx(math.log(2))), "L": ("assumed", pytest.approx(math.log(3)))}


def test_a_file_that_says_the_ratio_gives_both_deviations_one_factor(tmp_path: Path) -> None:
    told = scenario(H=str(profile(tmp_path, unit="label shares", ratio=(4.0, 2.0, 8.0))), G=None, M=None)
    both, ratio = distributions.columns(ask(told), told, "rounds")
    assert both.moves == {"zeta": 1.0, "delta": 1.0} and both.spread.width == pytest.approx(math.log(3))
    # an interval of 95 % on zeta^2 / delta^2 is one of half the width on the logarithm of zeta / delta
    assert ratio.spread.width == pytest.approx(math.log(8 / 2) / 2 / (2 * 1.96), rel=1e-3)
    assert ratio.middle == pytest.approx(2.0) and ratio.kind == "measured"
    assert ratio.moves == {"zeta": 0.5, "delta": -0.5}  # all of it in the ratio, nothing in the product


def test_errors_of_a_profile_are_used(tmp_path: Path) -> None:
    told = scenario(H=str(profile(tmp_path, unit="gradients", ratio=(4.0, 2.0, 8.0))), G=None, M=None, sigma=None)
    found = {c.name: c for c in distributions.columns(ask(told), told, "rounds")}
    # delta has an interval without length: it is exact, and nothing else can be meant
    assert {name: c.kind for name, c in found.items()} == {"zeta": "measured", "sigma": "measured"}
    assert found["zeta"].spread.width == pytest.approx(math.log(4.84 / 1) / 2 / (2 * 1.959964))
    assert found["sigma"].spread.width == pytest.approx(math.log(3 / 1.5) / 1.959964)  # its interval begins at 0


def test_exact_deviations_of_a_profile_are_known(tmp_path: Path) -> None:
    """They were taken to be known within a factor 3, as if nobody had given them."""
    file = profile(tmp_path, unit="gradients", ratio=(4.0, 4.0, 4.0))
    document = json.loads(file.read_text())
    document["zeta2"] = {"value": 2.0, "low": 2.0, "high": 2.0}
    file.write_text(json.dumps(document))
    told = scenario(H=str(file), G=None, M=None, sigma="1")
    assert told.known["zeta"].sure and told.known["delta"].sure
    assert {c.name for c in distributions.columns(ask(told), told, "rounds")} <= {"L A"}
    for side in ("low", "high"):  # without an interval it is an estimate of unknown error, as before
        document["zeta2"][side] = document["delta2"][side] = document["ratio"][side] = None
    file.write_text(json.dumps(document))
    told = scenario(H=str(file), G=None, M=None, sigma="1")
    assert {"zeta and delta"} <= {c.name for c in distributions.columns(ask(told), told, "rounds")}


def profile(folder: Path, unit: str, ratio: tuple[float, float, float]) -> Path:
    """Ten groups of ten, with intervals."""

    def interval(value: float, low: float, high: float) -> dict[str, float]:
        return {"value": value, "low": low, "high": high}

    document = {
        "schema": "hfl-plan/profile/1",
        "made_from": "gradients" if unit == "gradients" else "label counts",
        "unit": unit,
        "groups": 10,
        "clients": 100,
        "clients_per_group": {"mean": 10, "least": 10, "most": 10},
        "labels": 10,
        "zeta2": interval(2.0, 1.0, 4.84),
        "delta2": interval(0.5, 0.5, 0.5),
        "ratio": interval(*ratio),
        "constants": {"sigma": interval(1.5, 0.0, 3.0)} if unit == "gradients" else {},
    }
    path = folder / "profile.json"
    path.write_text(json.dumps(document))
    return path


def test_where_groups_are_searched_limits_move_the_whole_heterogeneity() -> None:
    told = scenario(G=None, M=None, fleet__clients="100", H="zeta=0.3:1.2,delta=0.8", target="1%")
    at = told.divisions[1]
    (both, *others) = distributions.columns(ask(at), at, "rounds")
    assert (both.name, both.kind, others) == ("zeta and delta", "given", [])
    assert both.spread.width == pytest.approx(math.log(math.hypot(1.2, 0.8) / math.hypot(0.3, 0.8)) / 2)


# ---------------------------------------------------------------- the points


def test_the_generating_vector_is_the_best_component_by_component() -> None:
    """In exact fractions, over all odd numbers."""
    points = 16
    chosen: list[int] = []
    for z in lattice.generating_vector(points, 4):

        def error(candidate: int) -> Fraction:
            total = Fraction(0)
            for k in range(points):
                product = Fraction(1)
                for j, component in enumerate([*chosen, candidate], 1):
                    x = Fraction(k * component % points, points)
                    product *= 1 + (x * x - x + Fraction(1, 6)) / j
                total += product
            return total

        assert error(z) == min(error(c) for c in range(1, points, 2))
        chosen.append(z)


def test_every_block_is_even_in_every_coordinate_and_exact_to_high_order() -> None:
    points = lattice.cube(np.random.default_rng(3), 6, 4096)
    assert points.shape == (6, 4096) and points.min() >= 0 and points.max() <= 1
    blocks = points.reshape(6, lattice.SHIFTS, 256)
    counts = [np.histogram(b, bins=64, range=(0, 1))[0] for row in blocks for b in row]
    assert min(map(min, counts)) >= 2 and max(map(max, counts)) <= 6  # 4 in each, up to the shift and the fold
    product = np.prod(1 + (points - 0.5), axis=0)  # of mean 1 and variance (13/12)^6 - 1
    plain = math.sqrt(((13 / 12) ** 6 - 1) / 4096)
    assert abs(product.mean() - 1) < plain / 30


def test_draws_follow_the_seed() -> None:
    told, other = scenario(sigma="0.5:2"), scenario(sigma="0.5:2", plan__seed="1")
    first, again, apart = (drawing.draws(ask(s), s, "rounds", number=256).logs for s in (told, told, other))
    assert np.array_equal(first, again) and not np.array_equal(first, apart)


# ---------------------------------------------------------------- shares and regret


def test_share_and_regret_of_one_uncertain_number_in_closed_form() -> None:
    """Star-Star takes 1000 zeta rounds, Star-Ring 600, and log zeta is even on log 0.2 ... log 1."""
    told = scenario(H="zeta=0.2:1,delta=0.5")
    question = fixed(told, lambda v: {"star-star": 1000 * v["zeta"], "star-ring": 600.0, **FAR})
    found = drawing.draws(question, told, "rounds")
    assert found.totals.shape == (4, 4096)
    share = math.log(0.6 / 0.2) / math.log(5)
    shares = drawing.p_best(found)
    assert shares["star-star"].value == pytest.approx(share, abs=5 * shares["star-star"].error)
    assert 1 / 4096 <= shares["star-star"].error < math.sqrt(share * (1 - share) / 4096) / 3  # better than at random
    assert shares["star-star"].value + shares["star-ring"].value == pytest.approx(1)
    regret = drawing.regret(found, "star-star")
    mean = ((1 - 0.6) / 0.6 - math.log(1 / 0.6)) / math.log(5)
    assert regret.mean is not None and regret.p90 is not None and regret.lost == 0
    assert regret.mean.value == pytest.approx(mean, abs=5 * regret.mean.error) and regret.mean.error < 1e-3
    assert regret.p90.value == pytest.approx(0.2 * 5**0.9 / 0.6 - 1, rel=0.01)


def test_share_of_two_lognormals_in_closed_form() -> None:
    told = scenario(H="zeta=1±0.2,delta=1±0.5")
    question = fixed(told, lambda v: {"star-star": 1200 * v["zeta"], "star-ring": 1000 * v["delta"], **FAR})
    shares = drawing.p_best(drawing.draws(question, told, "rounds"))
    share = NORMAL.cdf(math.log(1 / 1.2) / math.hypot(math.log(1.2), math.log(1.5)))
    assert shares["star-star"].value == pytest.approx(share, abs=5 * shares["star-star"].error)
    assert shares["star-star"].error < 0.005


def test_share_agrees_with_a_dense_grid() -> None:
    """The theorem under its own caps, where the order does change, on midpoints of 150 x 150 cells."""
    told = scenario(G="5", M="20", H="zeta=0.02:0.6,delta=0.02:2", R="400", plan__bounds="thm1", plan__cap="own")
    question = ask(told)
    cells = (np.arange(150) + 0.5) / 150
    zeta, delta = (x.ravel() for x in np.meshgrid(0.02 * 30**cells, 0.02 * 100**cells))
    totals = np.stack(list(question.rounds(zeta=zeta, delta=delta).values()))
    best = totals <= totals.min(axis=0) * (1 + 1e-9)
    shares = drawing.p_best(drawing.draws(question, told, "rounds"))
    expected = dict(zip(question.bounds, best.mean(axis=1), strict=True))
    assert 0.1 < max(expected.values()) < 0.98
    for topology, share in shares.items():
        assert share.value == pytest.approx(expected[topology], abs=4 * share.error + 0.004)


def test_as_few_draws_as_blocks_are_one_in_each() -> None:
    shapes = [blocks(np.zeros(n)).shape for n in (lattice.SHIFTS - 1, lattice.SHIFTS, 64)]
    assert shapes == [
        (1, lattice.SHIFTS - 1),
        (lattice.SHIFTS, 1),
        (lattice.SHIFTS, 64 // lattice.SHIFTS),
    ]


def test_few_draws_and_many_agree_within_their_errors() -> None:
    told = scenario(sigma="0.3:3", H="zeta=0.1:3,delta=0.5±0.2", G="6", plan__bounds="thm1", plan__cap="own", R="400")
    few, many = (drawing.p_best(drawing.draws(ask(told), told, "rounds", number=number)) for number in (256, 4096))
    for topology, share in many.items():
        assert abs(few[topology].value - share.value) <= 4 * math.hypot(few[topology].error, share.error)
    assert sum(s.error for s in many.values()) < sum(s.error for s in few.values()) / 2


def test_errors_are_as_large_as_they_are_said_to_be() -> None:
    """Over 80 seeds the distance to the exact share, in standard errors, has a deviation of about 1."""
    told = scenario(H="zeta=0.2:1,delta=0.5:1.5")
    question = fixed(told, lambda v: {"star-star": 1000 * v["zeta"], "star-ring": 700 * v["delta"], **FAR})
    cells = (np.arange(2000) + 0.5) / 2000
    share = np.mean(np.clip(1 - np.log(0.2 * 5**cells / 0.35) / math.log(3), 0, 1))  # P(700 delta > 1000 zeta)
    found = [
        drawing.p_best(drawing.draws(replace(question, seed=seed), told, "rounds"))["star-star"] for seed in range(80)
    ]
    distances = np.array([(e.value - share) / e.error for e in found])
    assert 0.75 < distances.std() < 1.35 and abs(distances.mean()) < 0.5


def test_a_share_is_never_said_to_be_surer_than_one_draw() -> None:
    told = scenario(sigma="0.5:2")
    question = fixed(told, lambda v: {"star-star": 100 * v["sigma"], "star-ring": 1e6, **FAR})
    assert drawing.p_best(drawing.draws(question, told, "rounds"))["star-star"] == (Estimate(value=1.0, error=1 / 4096))


def test_topologies_that_take_nothing_tie() -> None:
    """Where the least total is zero no relative tolerance helps: those that take as little are first as well."""
    told = scenario()
    totals = np.array([[0.0], [0.0], [1.0], [2.0]])
    found = drawing.Draws((), np.zeros((0, 1)), totals, tuple(ask(told).topologies))
    assert [share.value for share in drawing.p_best(found).values()] == [1, 1, 0, 0]
    regret = drawing.regret(found, "star-star")
    assert regret.mean is not None and (regret.mean.value, regret.lost) == (0.0, 0.0)


def test_what_rounding_parts_is_no_regret() -> None:
    told = scenario()
    totals = np.array([[1 + 1e-12], [1.0], [1.5], [2.0]]) * np.ones(16)
    found = drawing.Draws((), np.zeros((0, 16)), totals, tuple(ask(told).topologies))
    lost = [drawing.regret(found, t).mean for t in found.topologies]
    assert [(one.value, one.error) for one in lost if one is not None] == [(0, 0), (0, 0), (0.5, 0), (1, 0)]


def test_a_draw_without_an_answer_has_no_regret() -> None:
    told = scenario()
    totals = np.array([[1.5], [1.0], [2.0], [2.0]]) * np.where(np.arange(16) % 2, np.inf, 1.0)
    found = drawing.regret(drawing.Draws((), np.zeros((0, 16)), totals, tuple(ask(told).topologies)), "star-star")
    assert found.mean is not None and found.mean.value == pytest.approx(0.5 / 2)
    assert found.lost == 0.0


def test_numbers_of_energy_are_scaled_one_by_one() -> None:
    told = [Coefficient(x, x / 2, 2 * x) for x in (2.0, 3.0, 5.0, 7.0, 11.0, 13.0, 17.0)]
    rates = dict(zip((*footprint_parts.NAMES, "server_link.energy"), told, strict=True))
    for name, one in rates.items():
        found = footprint_parts.scaled(rates, {name: 3.0})
        assert found == rates | {name: Coefficient(3 * one.value, 3 * one.low, 3 * one.high)}


def test_the_error_of_a_quantile_is_from_those_of_the_blocks() -> None:
    """Block b has the regret b % in every draw: the deviation of 0, ..., n - 1 is (n (n + 1) / 12)^(1/2)."""
    number = lattice.SHIFTS
    own = np.repeat(1 + np.arange(number) / 100, 16)
    found = drawing.Draws((), np.zeros((0, own.size)), np.stack([own, np.ones_like(own)]), ("star-star", "ring-ring"))
    p90 = drawing.regret(found, "star-star").p90
    assert p90 is not None and p90.value == pytest.approx(math.floor(0.9 * number) / 100)
    assert p90.error == pytest.approx(math.sqrt(number * (number + 1) / 12) / 100 / math.sqrt(number))


def test_a_target_that_is_sometimes_out_of_reach_is_counted_and_not_averaged() -> None:
    """Star-Star never gets there where sigma > 1.5, nobody where sigma > 1.8."""
    told = scenario(sigma="0.5:2")

    def law(v: Mapping[str, Any]) -> dict[str, Any]:
        sigma = np.asarray(v["sigma"])
        other = np.where(sigma > 1.8, np.inf, 200.0)
        return {"star-star": np.where(sigma > 1.5, np.inf, 100.0), "star-ring": other, **dict.fromkeys(FAR, np.inf)}

    found = drawing.draws(fixed(told, law), told, "rounds")
    regret = drawing.regret(found, "star-star")
    lost, unanswered = (math.log(x) / math.log(4) for x in (1.8 / 1.5, 2 / 1.8))
    assert regret.mean is None and regret.lost == pytest.approx(lost, abs=0.003)
    assert regret.p90 is None  # more than one draw in ten
    shares = drawing.p_best(found)
    assert sum(s.value for s in shares.values()) == pytest.approx(1 - unanswered, abs=0.003)


def test_the_order_of_rounds_to_a_number_does_not_depend_on_the_gap_and_the_smoothness() -> None:
    """At a fixed target epsilon rounds are A L / epsilon times a function of sigma, zeta and delta over its root."""
    for said in ({"A": "0.3:30"}, {"A": "7", "L": "0.1:1"}):
        told = scenario(target="0.0001", plan__bounds="sharp", plan__cap="none", **said)
        found = drawing.draws(ask(told), told, "rounds", number=256)
        ratios = found.totals / found.totals[0]
        assert np.ptp(found.totals[0]) > found.totals[0].min()
        assert np.ptp(ratios, axis=1) == pytest.approx(0, abs=1e-4)  # rounds are whole
        (only,) = sobol.alone(drawing.Totals(ask(told), found.columns, "rounds"), ["ring-ring"])
        assert only.swing < 1e-4 and not only.changes


# ---------------------------------------------------------------- what to measure


def indices(function: Callable[[Any], Any], dimensions: int) -> list[Index]:
    points = lattice.cube(np.random.default_rng(0), 2 * dimensions, 4096)
    first, second = points[:dimensions], points[dimensions:]
    changed = []
    for i in range(dimensions):
        at = first.copy()
        at[i] = second[i]
        changed.append(function(at))
    found = sobol.total_indices(function(first), np.stack(changed))
    assert found is not None
    return found


def test_total_indices_of_the_ishigami_function() -> None:
    """sin x + 7 sin^2 y + 0.1 z^4 sin x on (-pi, pi): its variances are known."""
    x = 0.5 * (1 + 0.1 * math.pi**4 / 5) ** 2
    y, xz = 49 / 8, 0.1**2 * math.pi**8 * 8 / 225
    expected = [(x + xz) / (x + y + xz), y / (x + y + xz), xz / (x + y + xz)]
    assert expected == pytest.approx([0.5576, 0.4424, 0.2437], abs=1e-4)

    def ishigami(cube: Any) -> Any:
        a, b, c = math.pi * (2 * cube - 1)
        return np.sin(a) + 7 * np.sin(b) ** 2 + 0.1 * c**4 * np.sin(a)

    for index, share in zip(indices(ishigami, 3), expected, strict=True):
        assert index.value == pytest.approx(share, abs=0.03) and index.high - index.low < 0.12
        assert index.low - 0.01 <= share <= index.high + 0.01


def test_total_indices_of_the_g_function() -> None:
    """Product of (|4x - 2| + a) / (1 + a), of partial variances 1 / (3 (1 + a)^2)."""
    a = np.array([0.0, 1.0, 4.5, 9.0])
    parts = 1 / (3 * (1 + a) ** 2)
    total = np.prod(1 + parts) - 1
    expected = [p * np.prod(1 + np.delete(parts, i)) / total for i, p in enumerate(parts)]
    found = indices(lambda cube: np.prod((np.abs(4 * cube - 2) + a[:, None]) / (1 + a[:, None]), axis=0), 4)
    assert [index.value for index in found] == pytest.approx(expected, abs=0.03)


def test_a_constant_has_no_indices() -> None:
    assert sobol.total_indices(np.ones(256), np.ones((2, 256))) is None


def test_no_share_is_above_the_whole() -> None:
    """Of x and -x the half mean square of the difference is twice the variance."""
    base = np.tile([1.0, -1.0], sobol.BASE // 2)
    found = sobol.total_indices(base, np.stack([-base]))
    assert found is not None and (found[0].value, found[0].low, found[0].high) == (1, 1, 1)


def test_indices_of_what_varies_in_one_block_alone_have_no_interval() -> None:
    base = np.zeros(sobol.BASE)
    base[0] = 0.3
    found = sobol.total_indices(base, np.stack([np.zeros_like(base), base]))
    assert found is not None
    assert [(index.low, index.high) for index in found] == [(0, 1), (0, 1)]
    assert found[1].value == 0


def test_what_explains_a_margin_in_closed_form() -> None:
    """log margin = 2 log zeta - log delta + const: shares 4 : 1 of equal widths, and nothing for sigma."""
    told = scenario(sigma="0.9:1.1", H="zeta=0.5:2,delta=0.5:2")
    question = fixed(told, lambda v: {"star-star": 500 * v["delta"], "star-ring": 900 * v["zeta"] ** 2, **FAR})
    drawn = distributions.columns(question, told, "rounds")
    found = sobol.explained(drawing.Totals(question, drawn, "rounds"), ["star-star"])
    assert found is not None and [c.name for c in drawn] == ["zeta", "delta", "sigma"]
    # a margin beyond a factor 10 counts as 10, which cuts both ends a little
    assert [index.value for index in found] == pytest.approx([0.8, 0.2, 0.0], abs=0.02)
    alone = sobol.alone(drawing.Totals(question, drawn, "rounds"), ["star-star"])
    assert alone[0].margin_low == pytest.approx(math.log(1.8 * 0.25))
    assert alone[0].margin_high == pytest.approx(math.log(1.8 * 4)) and alone[0].swing == pytest.approx(math.log(16))
    assert (alone[0].first_low, alone[0].first_high, alone[0].changes) == ("star-ring", "star-star", True)
    assert (alone[1].first_high, alone[1].changes) == ("star-ring", True)  # by 1.1x
    assert alone[2].swing == 0 and not alone[2].changes


def test_a_link_explains_a_margin_of_time_as_its_sum_says() -> None:
    """By time what a link takes changes the margin: all of it where nothing else is drawn."""
    told = scenario(sigma="1", H="zeta=1,delta=1", L="1", A="1", network__client_link__up="10:40Mbit/s")
    question = fixed(told, lambda v: {"star-star": 500.0, "star-ring": 200.0, **FAR})
    drawn = [c for c in distributions.columns(question, told, "time") if c.name == "client_link.up"]
    assert [c.of_clock for c in drawn] == [True]
    noise = scenario(sigma="0.5:2")
    assert [c.of_clock for c in distributions.columns(ask(noise), noise, "rounds")] == [False]
    found = sobol.explained(drawing.Totals(question, drawn, "time"), ["star-star"])
    assert found is not None
    assert [index.value for index in found] == pytest.approx([1.0], abs=0.05)


def test_the_sentence_names_what_to_measure() -> None:
    told = scenario(sigma="0.9:1.1", H="zeta=0.5:2,delta=0.9:1.1")
    question = fixed(told, lambda v: {"star-star": 500.0, "star-ring": 600 * v["zeta"], **FAR})
    found = assess(question, told, ["star-star"])
    assert found is not None
    assert found.inputs.said == (
        "Sensitivity of the lead over the next best: zeta (100 %). Measure zeta first. Under 5 %: delta and sigma.",
    )


@pytest.mark.parametrize(
    ("error", "said"),
    [(0.9, "Measuring zeta may settle the toss-up."), (1.8, "Measuring narrows the interval; the verdict stays.")],
)
def test_what_may_settle_a_toss_up_is_said_to(error: float, said: str) -> None:
    """Three times the rounds, times zeta and an error: 10 % of draws are below 1; of the upper fourth of zeta are not.

    It read that the verdict stays, whatever a narrower interval would tell apart.
    """
    told = scenario(sigma="0.9:1.1", H="zeta=0.5:2,delta=0.9:1.1")
    question = fixed(told, lambda v: {"star-star": 100.0, "star-ring": 300 * v["zeta"], **FAR})
    found = drawing.draws(question, told, "rounds")
    errors = np.random.default_rng(1).normal(0, error, found.totals.shape[1])
    rows = np.array([[t == "star-ring"] for t in found.topologies])
    judged = drawing.Agreement(None, None, replace(found, totals=found.totals * np.exp(rows * errors)))
    totals = {"star-star": 100.0, "star-ring": 300.0}
    here = Standing(question, told, "rounds", totals, totals, dict.fromkeys(totals, 1.0), judged)
    assert here.best == ("star-star", "star-ring")
    least = math.log(3) + math.log(2) / NormalDist().inv_cdf(0.9) * 0.9  # zeta in its upper fourth, at 10 % of it
    assert (least - NormalDist().inv_cdf(0.9) * error > math.log(1.02)) == ("may settle" in said)
    answer = assess(question, told, here.best, here.settling())
    assert answer is not None and answer.inputs.said[-1].endswith(said)


@pytest.mark.parametrize(
    ("weight", "named"), [(1.0, "zeta (50 %) and delta (50 %)"), (0.42, "zeta (85 %)"), (0.25, "zeta (94 %)")]
)
def test_as_many_inputs_are_named_as_make_most_of_the_lead(weight: float, named: str) -> None:
    """Margin log zeta + weight log delta: shares 1 : weight^2. A tenth is named, up to four fifths in all."""
    told = scenario(sigma="0.9:1.1", H="zeta=0.5:2,delta=0.5:2")
    question = fixed(told, lambda v: {"star-star": 100.0, "star-ring": 150 * v["zeta"] * v["delta"] ** weight, **FAR})
    found = assess(question, told, ["star-star"])
    assert found is not None
    assert found.inputs.said[0].split(". Measure")[0].split(", then ")[0].endswith(f"lead over the next best: {named}")
    assert f". Measure {' and '.join(named.split()[::4])} first" in found.inputs.said[0]


def test_three_inputs_are_named_at_the_most() -> None:
    """Four of equal widths and weights have a quarter each: three make less than four fifths, and are enough."""
    equal = "0.7:1.4"
    told = scenario(sigma=equal, A=equal, H=f"zeta={equal},delta={equal}")

    def law(v: Mapping[str, Any]) -> dict[str, Any]:
        return {"star-star": 100.0, "star-ring": 110 * v["zeta"] * v["delta"] * v["sigma"] * v["A"], **FAR}

    found = assess(fixed(told, law), told, ["star-star"])
    assert found is not None
    named = found.inputs.said[0].split("next best: ")[1].split(". Measure")[0].split(", then ")[0]
    shares = [int(part.split("%")[0]) for part in named.split("(")[1:]]
    assert len(shares) == 3 and all(22 <= share <= 28 for share in shares)


def test_a_draw_that_is_slow_is_moved_alone_to_its_ends_and_middle_only() -> None:
    told = scenario(
        G="2", M="2", compute__straggler="exponential:0.3", compute__step_time="0.05s:0.2s", plan__objective="time"
    )
    question = ask(told)
    drawn = distributions.columns(question, told, "time")
    assert drawing.Totals(question, drawn, "time").slow
    asked = []

    class Counted(drawing.Totals):
        def __call__(self, logs: Any) -> Any:
            asked.append(logs.shape)
            return super().__call__(logs)

    sobol.alone(Counted(question, drawn, "time"), ["star-star"])
    assert asked == [(len(drawn), 3 * len(drawn))]


def test_what_is_zero_is_never_drawn_and_never_said_to_be_guessed() -> None:
    """Zero times a random factor stays zero, also where nobody gave the zero."""

    def unsaid(told: Scenario, name: str) -> Scenario:
        return replace(told, known={**told.known, name: replace(told.known[name], origin="default")})

    told = scenario(sigma="0", H="zeta=0,delta=0.5:1", network__client_link__latency="0s", plan__objective="time")
    told = unsaid(told, "client_link.latency")
    names = [column.name for column in distributions.columns(ask(told), told, "time")]
    assert not {"zeta", "sigma", "client_link.latency"} & set(names) and "server_link.latency" in names
    few = {"G": "2", "M": "2", "sigma": "0.5:1", "plan__draws": "256", "plan__objective": "time"}
    random = unsaid(scenario(**few, compute__straggler="exponential:0.3", compute__step_time="0s"), "step_time")
    found = assess(ask(random), random, ["star-star"])
    assert found is not None
    guessed = next(said for said in found.inputs.said if "stayed as assumed" in said)
    assert "model size" in guessed and "step time" not in guessed


@pytest.mark.parametrize("lean", [1.0, 3.0])
def test_errors_of_the_record_multiply_rounds_about_what_is_predicted(
    lean: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Star-Star takes a quarter of its rounds, all, or four times as many; a lean of all is no matter."""
    told = scenario(plan__draws="0", plan__predictor="typical")
    question = ask(told)
    ids = list(question.topologies)

    def errors(_: Question, rng: np.random.Generator, number: int) -> Any:
        off = math.log(lean) + math.log(4.0) * rng.integers(-1, 2, number)
        return np.array([off if t == "star-star" else np.zeros(number) for t in ids])

    monkeypatch.setattr(predictor_record, "errors", errors)
    for draws in ("0", "256"):
        asked = scenario(plan__draws=draws, plan__predictor="typical", sigma="0.999:1.001")
        totals = {t: (100.0 if t == "star-star" else 200.0) for t in ids}
        law = fixed(asked, lambda v, totals=totals: dict(totals))
        found = drawing.agreement(law, asked, asked.objective, totals)
        assert found.model is not None
        assert found.model.p_best["star-star"] == pytest.approx(2 / 3, abs=0.1)  # 25 or 100 against 200; not 400
        assert found.model.p_best["ring-ring"] == 1 - found.model.p_best["star-star"]
        assert found.interval("ring-ring", "star-star", 0.8) == pytest.approx((0.5, 8.0), rel=1e-3)


def test_where_all_take_the_same_it_is_said() -> None:
    told = scenario(sigma="0.5:2")
    question = fixed(told, lambda v: dict.fromkeys(ask(told).topologies, 100 * v["sigma"]))
    found = assess(question, told, list(question.topologies))
    assert found is not None and found.inputs.said[0] == "All topologies take the same for all sampled inputs."


def test_draws_of_small_totals_are_centred_too() -> None:
    """Around a predicted ratio of 3, of seconds below one."""
    told = scenario(sigma="0.5:2")
    found = drawing.draws(ask(told), told, "rounds", number=256)
    names = [*found.topologies]
    moved = drawing.centred(found, dict(zip(names, (0.2, 0.6, 0.6, 0.6), strict=True)))
    ratios = np.sort(moved.totals[1] / moved.totals[0])
    assert np.median(ratios) == pytest.approx(3, rel=0.05)


def test_a_lead_that_nothing_touches_is_said_to_be_one() -> None:
    told = scenario(sigma="0.5:2")
    for ahead, words in ((50.0, "takes more than 10x as much"), (3.0, "No sampled input changes the lead")):
        question = fixed(told, partial(ahead_by, ahead))
        found = assess(question, told, ["star-star"])
        assert found is not None and words in found.inputs.said[0]


def test_topologies_that_always_take_the_same_have_no_margin_between_them() -> None:
    """One client in a group: the low tier is neither star nor ring."""
    told = scenario(M="1", H="zeta=0,delta=0.2:2", plan__bounds="sharp")
    found = drawing.draws(ask(told), told, "rounds", number=256)
    assert set(found.same_as("ring-ring")) == {"ring-ring", "ring-star"}
    answer = assess(ask(told), told, ["ring-ring", "ring-star"])
    assert answer is not None and answer.inputs.drawn[0].explains is not None


# ---------------------------------------------------------------- the clock


@pytest.mark.parametrize("method", ["schedule", "formula", "diluted"])
@pytest.mark.parametrize("hop", ["direct", "relayed"])
@pytest.mark.parametrize("sharing", ["per-client", "per-server"])
@pytest.mark.parametrize("tiers", ["1", "2"])
def test_the_law_of_the_clock_is_what_a_round_costs(method: str, tiers: str, sharing: str, hop: str) -> None:
    told = scenario(
        G="4",
        M="3",
        P="2",
        plan__cost=method,
        network__tiers=tiers,
        network__client_link__sharing=sharing,
        network__client_link__hop=hop,
        network__server_link__hop="direct",
        network__client_link__up="10:40Mbit/s",
        network__client_link__down="5:100Mbit/s",
        network__client_link__latency="1ms:1s",
        compute__step_time="0.1s±0.1s",
        model__size="1:100MB",
    )
    question = ask(told)
    drawn = distributions.columns(question, told, "time")
    totals = drawing.Totals(question, drawn, "time")
    assert totals.law is not None and not totals.slow
    logs = np.stack([c.logs(u) for c, u in zip(drawn, np.random.default_rng(0).random((len(drawn), 5)), strict=True)])
    told_by_law = totals.prices(logs)
    totals.law = None
    assert told_by_law == pytest.approx(totals.prices(logs), rel=1e-9)


@pytest.mark.parametrize("policy", ["fail", "skip"])
@pytest.mark.parametrize("sizes", [(5, 2, 3), (4, 4, 4)], ids=str)
def test_the_law_of_the_clock_knows_who_comes(sizes: tuple[int, ...], policy: str, tmp_path: Path) -> None:
    """Of groups of several sizes a round lasts a sum times a quotient of two others, of groups of the mean size."""
    lines = [f"[[fleet.groups]]\nclients = {size}" for size in sizes]
    lines += ["[availability]", "client = 0.93", "server = 0.99", f'policy = "{policy}"', "[problem]",
              'heterogeneity = "both"', "[network.client_link]", 'up = "10:40Mbit/s"', 'down = "5:100Mbit/s"',
              'latency = "1ms:1s"', "[compute]", 'step_time = "0.1s±0.1s"', "[model]", 'size = "1:100MB"',
              "[plan]", 'objective = "time"']  # fmt: skip
    file = tmp_path / "uneven.toml"
    file.write_text("\n".join(lines), encoding="utf-8")
    told = load(file)
    question = ask(told)
    drawn = distributions.columns(question, told, "time")
    totals = drawing.Totals(question, drawn, "time")
    assert (question.members is None) == (sizes == (4, 4, 4)) and totals.law is not None
    logs = np.stack([c.logs(u) for c, u in zip(drawn, np.random.default_rng(0).random((len(drawn), 5)), strict=True)])
    told_by_law = totals.prices(logs)
    totals.law = None
    assert told_by_law == pytest.approx(totals.prices(logs), rel=1e-9)


def test_traffic_and_rounds_do_not_hang_on_the_clock() -> None:
    told = scenario(sigma="0.5:2", network__client_link__up="10:40Mbit/s")
    for objective in ("rounds", "traffic"):
        drawn = distributions.columns(ask(told), told, objective)  # type: ignore[arg-type]
        assert [c.name for c in drawn] == ["sigma"]


def test_with_random_compute_times_fewer_draws_are_made_and_it_is_said() -> None:
    told = scenario(
        G="3", M="2", H="zeta=0.5,delta=0.2:1", compute__straggler="lognormal:0.3", compute__step_time="0.1:0.4s"
    )
    found = assess(ask(told), told, ["star-star"])
    assert found is not None and found.inputs.draws == drawing.DRAWS_TIMED
    said = " ".join(found.inputs.said)
    assert (
        "128 draws instead of 4,096: each times a round anew" in said
        and "model size" in said
        and "stayed as assumed" in said
    )
    assert [d.name for d in found.inputs.drawn] == ["delta", "step_time"]
    assert all(d.explains is None and d.alone is not None for d in found.inputs.drawn)


def test_where_devices_may_stay_away_rounds_are_of_those_who_come() -> None:
    """The middle draw is the question's own number, and no draw is better than if everybody came."""
    told = scenario(G="3", M="4", sigma="0.5:2", availability__client="90%")
    question, everyone = ask(told), replace(ask(told), availability=None)
    found = drawing.draws(question, told, "rounds")
    assert found.totals.shape == (4, drawing.DRAWS_ATTENDED)
    middle = drawing.Totals(question, found.columns, "rounds")(np.zeros((1, 1)))[:, 0]
    for topology, total in zip(found.topologies, middle, strict=True):
        begun = float(question.rounds()[topology]) * question.price(topology, "rounds")
        assert total == pytest.approx(begun) and total >= everyone.rounds()[topology]
    said = assess(question, told, ["star-star"])
    assert said is not None and "1,024 draws instead of 4,096" in said.inputs.said[-1]


# ---------------------------------------------------------------- the model's part


def test_a_model_multiplies_rounds() -> None:
    """Equal topologies, and an error of the model on one of them: each is first half the time."""
    told = scenario()
    question = fixed(told, lambda v: {"star-star": 100.0, "star-ring": 100.0, **FAR})

    def model(rng: np.random.Generator, number: int) -> Any:
        noise = np.zeros((4, number))
        noise[list(question.bounds).index("star-ring")] = 0.2 * rng.standard_normal(number)
        return noise

    found = drawing.draws(question, told, "rounds", model)
    share = drawing.p_best(found)["star-star"]
    assert found.totals.shape == (4, drawing.ERRORS) and share.value == pytest.approx(0.5, abs=5 * share.error)
    many = drawing.draws(question, replace(told, draws=2 * drawing.ERRORS), "rounds", model)
    assert many.totals.shape == (4, drawing.ERRORS)  # no more draws of inputs than of errors
    excess = drawing.regret(found, "star-ring").mean
    # E (e^x - 1) over x > 0, x normal of deviation 0.2
    expected = math.exp(0.02) * NORMAL.cdf(0.2) - 0.5
    assert excess is not None and excess.value == pytest.approx(expected, abs=5 * excess.error)


# ---------------------------------------------------------------- constants of the analysis


@pytest.mark.parametrize("setting", sorted(set(PARTICIPATION.values())))
def test_admissible_are_all_families_that_are_proved_about_a_setting(setting: str) -> None:
    """By going through the whole catalogue: all smooth losses, and one form of each proof."""
    words = {word for word, about in PARTICIPATION.items() if about == setting}
    found = {
        name
        for name, bounds in families().items()
        if {b.topology for b in bounds} == set(all_topologies(2))
        and all(b.kind in ("theorem", "rate") and b.status in ("proved", "own") for b in bounds)
        and all(words & {a.id for a in b.assumes} and "smooth" in {a.id for a in b.assumes} for b in bounds)
        and not {"tilt", "identical"} & {*name.split(".")[1].split("-")}
        and not name.endswith("-finite")
    }
    assert set(proofs.ADMISSIBLE[setting]) == found


@pytest.mark.usefixtures("unflipped")
@pytest.mark.parametrize(
    "said", [{}, pytest.param({"fleet__order": "random"}, marks=pytest.mark.slow), {"S1": "3", "S2": "5"}]
)
def test_each_set_of_constants_answers_as_if_it_were_asked_for(said: dict[str, str]) -> None:
    told = scenario(**said)
    found = proofs.constant_sets(told, "ring-ring", None)
    assert len(found.sets) == 5
    for each in found.sets:
        answer = recommend(scenario(**said, plan__bounds=each.bounds, plan__draws="0"))
        assert each.order == tuple(row.id for row in answer.ranking if row.rounds is not None)
        assert each.first == answer.recommended and each.cap == answer.recommend.cap
    assert found.first_in == sum("ring-ring" in s.first for s in found.sets) and found.of == len(found.sets)


# ---------------------------------------------------------------- in an answer


@pytest.mark.usefixtures("unflipped")
def test_an_answer_keeps_three_kinds_apart() -> None:
    data = recommend(scenario(sigma=None, H="both", plan__draws="512")).to_json()
    found = data["recommend"]["uncertainty"]
    assert found.keys() == {"inputs", "constants", "model"}
    assert found["inputs"]["draws"] == 512
    assert [d["name"] for d in found["inputs"]["drawn"]] == ["zeta", "delta", "sigma"]
    for row in data["rows"][:4]:
        assert row["p_best"] == min(found["model"]["p_best"][row["id"]], 0.99)
    bounds = recommend(scenario(sigma=None, H="both", plan__draws="512", plan__bounds="hflbounds.exact")).to_json()
    shares = bounds["recommend"]["uncertainty"]["inputs"]["p_best"]
    for row in bounds["rows"][:4]:
        assert row["p_best"] == shares[row["id"]]["value"]
    assert found["inputs"]["regret"]["of"] == found["constants"]["topology"] == data["rows"][0]["id"]


def test_without_draws_nothing_is_said() -> None:
    answer = recommend(scenario(sigma=None, plan__draws="0"))
    assert answer.recommend.uncertainty is None
    assert {row.p_best for row in answer.ranking} == {None}


def test_everything_exact_needs_no_draws() -> None:
    found = recommend(scenario()).recommend.uncertainty
    assert found is not None and found.inputs.draws == 0 and found.inputs.drawn == ()
    assert {share.error for share in found.inputs.p_best.values()} == {0.0}
    assert found.inputs.said[0] == "Every number that the order depends on was given exactly, so nothing was drawn."


@pytest.mark.parametrize("low, high", [("0.01", "0.04"), ("1%", "4%")])
def test_a_target_with_limits_is_drawn_between_them(low: str, high: str) -> None:
    told = scenario(target=f"{low}:{high}")
    question = ask(told)
    found = distributions.columns(question, told, "rounds")
    assert [column.name for column in found] == ["target"]
    totals = drawing.Totals(question, found, "rounds")(np.array([[-1.0, 1.0]]) * found[0].spread.reach)
    for ends, at in zip(totals.T, (low, high), strict=True):
        assert list(ends) == pytest.approx([*ask(scenario(target=at)).rounds().values()], rel=1e-9)


@pytest.mark.usefixtures("asked_once", "unflipped")
def test_the_table_says_it_in_a_few_lines(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = ["recommend", "--G", "5", "--M", "8", "--heterogeneity", "zeta=0.1:2,delta=0.5±0.2"]
    arguments += ["--set", "plan.draws=256", "--bounds", "sharp"]
    code, out, err = run(*arguments, capsys=capsys, monkeypatch=monkeypatch)
    assert (code, err) == (0, "")
    code, out, err = run(*arguments, "--explain", "uncertainty", capsys=capsys, monkeypatch=monkeypatch)
    assert (code, err) == (0, "")
    said = " ".join(out.split())
    assert "Drawn: zeta 0.1 to 2; delta 0.287 to 0.87 (90 %); sigma, L A" in said
    arguments += ["--explain", "sensitivity", "-f", "markdown"]
    code, out, err = run(*arguments, capsys=capsys, monkeypatch=monkeypatch)
    assert code == 0 and out.count("| zeta | given | 0.1 | 0.447 | 2 |") == 1
