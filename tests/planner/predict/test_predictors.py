"""The typical predictor against the literal algorithm, and what every predictor and its record must keep to.

The oracle of the model is `validation.reference.global_round`, run on vectors: a component for the start, one for the
tilt of every group and every client, and one for every draw of noise. All that the model says follows from them.
"""

from __future__ import annotations

import csv
import itertools
import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from literal_draws import Orders, drawn_alike

from hflbounds import get
from hflbounds.topology import two_tier
from planner import recommend
from planner.decide import sensitivity as flip_answer
from planner.errors import ScenarioError
from planner.predict.envelopes import ROUNDS
from planner.predict.evidence import predictor_record as record
from planner.predict.predictors import Predictor, predictors, typical
from planner.predict.predictors.typical import CURVATURES, RATES, START, Fleet
from planner.predict.question import Question, ask
from validation.reference import Settings, global_round

Array = npt.NDArray[np.float64]
TOPOLOGIES = ("star-star", "star-ring", "ring-star", "ring-ring")
DATA = Path(record.__file__).parents[2] / "data"


def asked(**given: object) -> Question:
    """A question by keys of the scenario file, with dots as double underscores."""
    return ask(load_scenario(**given))


def load_scenario(**given: object) -> Any:
    from planner.scenario.resolve import load

    return load(options={key.replace("__", "."): (key, value) for key, value in given.items()})


def fleet_of(topology: str, counts: Sequence[int], order: Any = "fixed", fade: float = 0.0) -> Fleet:
    """A fleet of two tiers, by G, M, P, K, S1, S2."""
    G, M, P, K, S1, S2 = counts
    return Fleet(two_tier(topology, G=G, M=M, P=P, S1=S1, S2=S2, order=order), K, fade)


# --- the literal algorithm ----------------------------------------------------------------------------------------


def iterates(plan: Settings, h: Array, eta: Array, rounds: int, drawn: Sequence[Orders] = ()) -> Array:
    """Coefficients of the iterates 0 to rounds - 1: shape (rounds, 1 + G + G M + noises, cases)."""
    G, M = plan.G, plan.M
    steps = (plan.S1 or G) * (plan.S2 or M) * plan.P * plan.K
    basis = np.eye(1 + G + G * M + (rounds - 1) * steps)[:, :, None]
    fresh = itertools.count(1 + G + G * M)

    def gradient(g: int, p: int, m: int, k: int, x: Array) -> Array:
        return h * x + basis[1 + g] + basis[1 + G + g * M + m] + basis[next(fresh)]

    found = [basis[0] * np.ones_like(h)]
    for r in range(rounds - 1):
        groups, clients = drawn[r] if drawn else (range(G), [range(M)] * G)
        order = partial(_order_of, clients)
        found.append(global_round(found[-1], plan, eta, gradient, group_order=groups, client_order=order))
    return np.array(found)


def _order_of(clients: Sequence[Sequence[int]], g: int, p: int) -> Sequence[int]:
    return clients[g]  # through all group rounds of a round


def population(count: int) -> Array:
    """Tilts with mean 0 and mean square 1."""
    if count == 1:
        return np.zeros(1)
    tilts = np.array([1.0, -1.0, 0.0] if count == 3 else [1.0, -1.0])
    return tilts / math.sqrt((tilts**2).mean())


def parts(found: Array, G: int, M: int, shuffled: bool) -> Array:
    """Mean squares that the start, noise, zeta and delta make: shape (rounds, 4, cases).

    Tilts are averaged over who has which of a population, where asked for; noise has variance 1.
    """
    groups, clients = found[:, 1 : 1 + G], found[:, 1 + G : 1 + G + G * M].reshape(len(found), G, M, -1)
    perms = itertools.permutations if shuffled else lambda tilts: [tilts]
    apart = [np.einsum("rgc,g->rc", groups, np.array(t)) ** 2 for t in perms(population(G))]
    each = list(perms(population(M)))
    inside = [
        np.einsum("rgmc,gm->rc", clients, np.array(tilts)) ** 2
        for tilts in (itertools.product(each, repeat=G) if shuffled else [each * G])
    ]
    noise = (found[:, 1 + G + G * M :] ** 2).sum(1)
    return np.stack([found[:, 0] ** 2, noise, np.mean(inside, 0), np.mean(apart, 0)], 1)


def chained(plan: Settings) -> int:
    top, low = plan.topology.split("-")
    S1, S2 = plan.S1 or plan.G, plan.S2 or plan.M
    return plan.P * plan.K * (S1 if top == "ring" else 1) * (S2 if low == "ring" else 1)


def contracted(squares: Array) -> Array:
    """Mean squared gradients over the iterates, of A L, sigma^2, zeta^2, delta^2: shape (4, rates)."""
    sizes = np.stack([START, *[np.full(len(CURVATURES), 1 / len(CURVATURES))] * 3])  # of x0^2; a share of each variance
    by_coordinate = squares.reshape(len(squares), 4, -1, len(CURVATURES)) * sizes[:, None]
    return np.asarray((CURVATURES**2 * by_coordinate).sum(-1).mean(0))


def cases(plan: Settings, picked: Array) -> tuple[Array, Array]:
    """Curvatures and raw rates, every pair once."""
    h, eta = np.meshgrid(CURVATURES, picked / chained(plan))
    return h.ravel(), eta.ravel()


def places(fleet: Fleet, rates: Sequence[float]) -> list[int]:
    """Where in `RATES` those nearest to some rates are, as far as they do not diverge."""
    most = len(fleet.rates) - 1
    return sorted({min(most, int(np.abs(np.log(RATES / rate)).argmin())) for rate in rates})


@pytest.mark.parametrize("topology", TOPOLOGIES)
@pytest.mark.parametrize(
    ("G", "M", "P", "K"),
    [(2, 2, 1, 1), (3, 3, 1, 1), (3, 2, 1, 2), (2, 3, 2, 1), (3, 3, 2, 2), (1, 3, 1, 2), (3, 1, 2, 1)],
)
def test_fixed_order_is_what_the_literal_algorithm_does(topology: Any, G: int, M: int, P: int, K: int) -> None:
    """Exactly where a > 0; where the iterates alternate, but for twice |a|^R of what tilts move a run in a round."""
    plan = Settings(topology, G, M, P, K)
    fleet = fleet_of(topology, (G, M, P, K, G, M), "fixed")
    at = places(fleet, (0.05, 0.4, 0.9, 1.3 * chained(plan), 1.8 * chained(plan)))
    h, eta = cases(plan, RATES[at])
    for R in (1, 2, 7):
        whole = iterates(plan, h, eta, max(R, 2))
        squares = parts(whole, G, M, True)
        wanted = contracted(squares[:R])
        a = whole[1, 0]
        once = np.where(a < 0, 2 * np.abs(a) ** R / (1 - a) ** 3, 0.0)  # what the model leaves out, of one round's b^2
        out = np.zeros_like(squares[:1])
        out[0, 2:] = squares[1, 2:] * once / R
        slack = contracted(out)
        found = fleet.coefficients(float(R))[:, at]
        assert (np.abs(found - wanted) <= 1e-10 * wanted + slack * (1 + 1e-9) + 1e-14).all()
        assert (slack[:, RATES[at] < 1] == 0).all()  # there it is exact
        odd = (G, M, P, K) == (3, 3, 1, 1) and topology != "star-star"  # an odd chain of overshooting steps, and tilts
        assert (slack.max() > 0) == odd


@pytest.mark.parametrize(
    ("topology", "plan"),
    [  # every plan in two topologies
        pytest.param(topology, plan, marks=pytest.mark.slow if (i // 2 + i + j) % 2 else ())
        for j, plan in enumerate([(3, 2, 2, 1, 2, 1), (2, 3, 1, 2, 1, 2), (2, 2, 2, 2, 2, 2), (3, 2, 1, 1, 3, 2)])
        for i, topology in enumerate(TOPOLOGIES)
    ],
    ids=str,
)
def test_drawn_orders_and_clients_are_what_the_literal_algorithm_does(topology: Any, plan: tuple[int, ...]) -> None:
    """All pairs of draws of two rounds, one after the other; tilts of one population stay with who has them."""
    G, M, P, K, S1, S2 = plan
    literal = Settings(topology, G, M, P, K, S1, S2)
    fleet = fleet_of(topology, plan, "random")
    at = places(fleet, (0.05, 0.8, 1.5 * chained(literal)))
    h, eta = cases(literal, RATES[at])
    pairs = itertools.product(drawn_alike(topology, plan), repeat=2)
    squares = [parts(iterates(literal, h, eta, 3, pair), G, M, False) for pair in pairs]
    wanted = contracted(np.mean(squares, 0))
    np.testing.assert_allclose(fleet.coefficients(3.0)[:, at], wanted, rtol=1e-10, atol=1e-14)


# --- what rounds to a target keep to -------------------------------------------------------------------------------

SHAPES = (
    (10, 10, 1, 5, 10, 10),
    (3, 40, 2, 3, 3, 40),
    (12, 25, 1, 2, 4, 10),
    (2, 2, 4, 1, 2, 1),
    (30, 4, 1, 10, 30, 4),
)
fleets = st.builds(
    fleet_of,
    st.sampled_from(TOPOLOGIES),
    st.sampled_from(SHAPES),
    st.sampled_from(("fixed", "random")),
    st.sampled_from((0.0, 0.5, 1.0)),
)
deviation = st.just(0.0) | st.floats(-2, 3).map(lambda x: 10.0**x)
constants = st.fixed_dictionaries(
    {"L": st.floats(0.1, 10), "A": st.floats(0.1, 10), "sigma": deviation, "zeta": deviation, "delta": deviation}
)
few = settings(derandomize=True, max_examples=60, deadline=None)


@few
@given(fleets, constants, st.floats(0, 6).map(lambda x: 10.0**x))
def test_rounds_to_what_is_reached_are_the_rounds(fleet: Fleet, values: dict[str, float], rounds: float) -> None:
    assert fleet.rounds_to(fleet.reached(rounds, values), values) == pytest.approx(rounds, rel=1e-6)


@few
@given(
    fleets, constants, st.sampled_from(("sigma", "zeta", "delta")), st.floats(1, 50), st.floats(-4, -1), st.floats(1, 9)
)
def test_rounds_grow_with_deviations_and_fall_with_the_target(
    fleet: Fleet, values: dict[str, float], name: str, factor: float, log_target: float, looser: float
) -> None:
    target = 10**log_target * 2 * values["L"] * values["A"]
    rounds = fleet.rounds_to(target, values)
    assert fleet.rounds_to(target, {**values, name: values[name] * factor + 0.01}) >= rounds * (1 - 1e-12)
    assert fleet.rounds_to(target * looser, values) <= rounds * (1 + 1e-12)
    assert rounds >= 1


@few
@given(fleets, constants, st.floats(-2, 2), st.floats(-2, 2), st.floats(-4, 0))
def test_rounds_do_not_depend_on_the_units_of_losses_and_models(
    fleet: Fleet, values: dict[str, float], loss: float, model: float, log_target: float
) -> None:
    """A loss is in one unit and a model in another: L is a loss per square, deviations are losses per length."""
    s, u = 10**loss, 10**model
    target = 10**log_target * values["L"] * values["A"]
    other = {n: values[n] * s / u for n in ("sigma", "zeta", "delta")}
    other |= {"L": values["L"] * s / u**2, "A": values["A"] * s}
    found = fleet.rounds_to(target * (s / u) ** 2, other)
    assert found == pytest.approx(float(fleet.rounds_to(target, values)), rel=1e-9)
    assert fleet.best_rate(30.0, other) == pytest.approx(fleet.best_rate(30.0, values) * u**2 / s)


def test_a_tier_of_one_is_neither_star_nor_ring() -> None:
    for order in ("fixed", "random"):
        for counts, pairs in (
            ((1, 8, 2, 3, 1, 8), (("star-star", "ring-star"), ("star-ring", "ring-ring"))),
            ((8, 1, 2, 3, 8, 1), (("star-star", "star-ring"), ("ring-star", "ring-ring"))),
            ((6, 5, 2, 3, 1, 5), (("star-star", "ring-star"), ("star-ring", "ring-ring"))),
            ((6, 5, 2, 3, 6, 1), (("star-star", "star-ring"), ("ring-star", "ring-ring"))),
        ):
            for one, other in pairs:
                np.testing.assert_allclose(
                    fleet_of(one, counts, order).coefficients(50.0),
                    fleet_of(other, counts, order).coefficients(50.0),
                    rtol=1e-12,
                )


@pytest.mark.parametrize("topology", TOPOLOGIES)
@pytest.mark.parametrize("order", ["fixed", "random"])
@pytest.mark.parametrize("many", ["G", "M", "P", "K", "GMPK"])
def test_the_largest_fleets_have_finite_rounds(topology: str, order: str, many: str) -> None:
    counts = tuple(10**6 if letter in many else 3 for letter in ("G", "M", "P", "K", "G", "M"))
    values = {"L": 1.0, "A": 1.0, "sigma": 2.0, "zeta": 1.0, "delta": 0.5}
    fleet = fleet_of(topology, counts, order, 0.5)
    heights = fleet.reached(np.array([1.0, 10.0, 1e3, 1e6, 1e12]), values)
    assert np.isfinite(heights).all()
    assert (np.diff(heights) < 0).all()
    assert np.isfinite(fleet.rounds_to(heights, values)).all()
    assert np.isfinite(fleet.coefficients(1e3)).all()


def test_without_noise_and_heterogeneity_a_round_of_gradient_descent_is_all_there_is() -> None:
    """One client, one step a round: x falls by 1 - h eta a round, the best rate of the grid by brute force."""
    fleet = fleet_of("star-star", (1, 1, 1, 1, 1, 1), "fixed")
    values = {"L": 1.0, "A": 1.0, "sigma": 0.0, "zeta": 0.0, "delta": 0.0}
    start = CURVATURES**-1.5
    start *= 2 / (CURVATURES * start).sum()  # the gap to the minimum is 1
    left = 1 - RATES[RATES < 2][:, None] * CURVATURES
    for number in (0, 5, 9):
        R = ROUNDS[number]
        mean = (CURVATURES**2 * start * (1 - np.abs(left) ** (2 * R)) / (1 - left**2)).sum(1) / R  # a geometric sum
        assert fleet.reached(R, values) == pytest.approx(mean.min(), rel=1e-9)
    for topology in TOPOLOGIES:
        rounds = fleet_of(topology, (10, 10, 1, 5, 10, 10), "random", 0.5).rounds_to(1e-6, values)
        assert 1 < rounds < 1e6


def test_targets_that_are_met_at_the_start_or_never() -> None:
    fleet = fleet_of("ring-star", (4, 4, 1, 2, 4, 4), "fixed", 0.5)
    values = {"L": 2.0, "A": 3.0, "sigma": 1.0, "zeta": 1.0, "delta": 1.0}
    np.testing.assert_array_equal(fleet.rounds_to(np.array([100.0, 0.0, 1e-16]), values), [1, np.inf, np.inf])


@pytest.mark.parametrize("number", [1, 20, 200, 3000])
def test_rounds_are_those_that_every_rate_of_every_row_says(number: int) -> None:
    fleet = fleet_of("ring-star", (6, 5, 2, 3, 4, 5), "random", 0.5)
    rng = np.random.default_rng(number)
    values = {name: 10 ** rng.uniform(-2, 1, number) for name in ("L", "A", "sigma", "zeta", "delta")}
    values["zeta"][::3] = 0.0
    targets = 10 ** rng.uniform(-7, 1, number)
    units = np.stack([values["L"] * values["A"], *(values[name] ** 2 for name in ("sigma", "zeta", "delta"))])
    heights = np.zeros((len(ROUNDS), number))
    for i in range(len(ROUNDS)):
        for here in (units, units * np.array([[1], [1], [0.01], [0.01]])):  # heterogeneity stays, or fades
            every = sum(one[:, None] * of for one, of in zip(here, fleet.row(i), strict=True))
            heights[i] += np.log(every.min(1)) / 2
    expected = np.full(number, np.inf)
    for i, goal in enumerate(np.log(targets)):
        met = np.flatnonzero(heights[:, i] <= goal)
        if len(met):
            last = max(met[0], 1)
            log = np.interp(-goal, -heights[last - 1 : last + 1, i], np.log(ROUNDS[last - 1 : last + 1]))
            expected[i] = np.exp(log)
    assert len(np.unique(expected)) > number / 2
    np.testing.assert_allclose(fleet.rounds_to(targets, values), expected, rtol=1e-9)


@pytest.mark.parametrize("predictor", ["typical", "bound"])
def test_arrays_of_constants_and_counts_are_the_scalars_one_by_one(predictor: str) -> None:
    question = asked(fleet__groups=4, fleet__clients_per_group=6, problem__rounds=50, plan__predictor=predictor)
    sigma, zeta = np.array([[0.5], [2.0]]), np.array([0.0, 0.3, 1.0])
    many = question.rounds(sigma=sigma, zeta=zeta)
    for topology, found in many.items():
        assert found.shape == (2, 3)
        for i, j in np.ndindex(2, 3):
            one = question.rounds(sigma=float(sigma[i, 0]), zeta=float(zeta[j]))[topology]
            assert found[i, j] == pytest.approx(float(one), rel=1e-9)
    G = np.array([2.0, 4.0, 8.0])
    counted = question.rounds(G=G, S1=G, delta=np.array([0.1, 0.2, 0.3]))
    for topology, found in counted.items():
        for i in range(3):
            one = question.rounds(G=G[i], S1=G[i], delta=(0.1, 0.2, 0.3)[i])[topology]
            assert found[i] == pytest.approx(float(one), rel=1e-9)


@pytest.mark.parametrize("predictor", ["typical", "bound", "surrogate"])
def test_a_share_is_of_what_the_predictor_starts_from(predictor: str) -> None:
    """2 L A for a bound; else the squared gradient of the iterate 0, by hand from the curvatures."""
    question = asked(fleet__groups=3, fleet__clients_per_group=4, problem__initial_gap=3, problem__smoothness=2,
                     problem__target="10%", plan__predictor=predictor)  # fmt: skip
    away = CURVATURES**-1.5
    gap = (CURVATURES * away).sum() / 2
    wanted = 12.0 if predictor == "bound" else 6.0 * (CURVATURES**2 * away).sum() / gap
    assert predictors()[predictor].start(question.values) == pytest.approx(wanted, rel=1e-12)
    assert question.goal() == pytest.approx(0.1 * wanted, rel=1e-12)
    assert question.goal(A=6.0) == pytest.approx(0.2 * wanted, rel=1e-12)
    if predictor == "typical":
        assert predictors()[predictor].reached(question, "ring-star", 1.0, question.values) == pytest.approx(wanted)


# --- what every predictor keeps to ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "metric"), [(n, m) for n, each in predictors().items() for m in each.metrics])
def test_every_predictor_keeps_to_what_it_says_of_itself(name: str, metric: str) -> None:
    each = predictors()[name]
    assert isinstance(each, Predictor)
    assert each.id == name
    assert each.says
    assert "gradient" in each.metrics
    assert each.quantities.keys() <= set(each.metrics)
    question = asked(fleet__groups=3, fleet__clients_per_group=2, problem__rounds=20, plan__predictor=name,
                     plan__metric=metric)  # fmt: skip
    values, goal = question.values, float(question.goal())
    assert 0 < goal < each.start(values, metric) <= question.first()
    moved = {**values, "sigma": np.array([0.5, 1.0, 2.0]), "delta": np.array([[0.5], [1.0]])}
    targets = goal * np.array([1.0, 1.5, 2.0])
    for topology in question.topologies:
        assert np.shape(each.rounds_to(question, topology, goal, values)) == ()
        assert np.shape(each.reached(question, topology, 20.0, values)) == ()
        rounds = each.rounds_to(question, topology, goal, moved)
        assert rounds.shape == each.reached(question, topology, 20.0, moved).shape == (2, 3)
        if each.monotone:
            assert (np.diff(rounds, axis=0) >= -1e-9 * rounds[1:]).all()
            assert (np.diff(rounds, axis=1) >= -1e-9 * rounds[:, 1:]).all()
            assert (np.diff(each.rounds_to(question, topology, targets, values)) <= 1e-9).all()
        rate = each.rate(question, topology, 20.0)
        assert rate is None or 0 < rate < math.inf


class _Constant(Predictor):
    """Rounds of a topology, whatever is asked of it."""

    id = "constant"
    says = "that somebody wrote down"
    rounds = {"star-star": 40.0, "star-ring": 30.0, "ring-star": 20.0, "ring-ring": 10.0}  # noqa: RUF012

    def reached(self, question: Any, topology: str, rounds: Any, values: Any) -> Any:
        return 1.0 / self.rounds[topology]

    def rounds_to(self, question: Any, topology: str, target: Any, values: Any) -> Any:
        return self.rounds[topology]


@pytest.fixture
def constant(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Another package's predictor, found by its entry point."""
    from planner.predict import predictors as home

    class _Entry:
        def load(self) -> Predictor:
            return _Constant()

    monkeypatch.setattr(home, "entry_points", lambda group: [_Entry()] if group == home.GROUP else [])
    predictors.cache_clear()
    yield
    predictors.cache_clear()


def test_a_predictor_of_another_package_is_accepted_everywhere(constant: None, plan: Any, moved_alone: Any) -> None:
    moved_alone("K", "sigma")
    given = ["--G", "4", "--M", "5", "--predictor", "constant"]
    code, out, err = plan("recommend", *given, "--objective", "rounds", "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert [row["id"] for row in found["rows"] if not row["baseline"]] == [
        "ring-ring",
        "ring-star",
        "star-ring",
        "star-star",
    ]
    assert [row["rounds"]["value"] for row in found["rows"] if not row["baseline"]] == [10, 20, 30, 40]
    assert found["recommend"]["uncertainty"]["model"] is None
    for words in (["flip", *given], ["tune", *given, "--local-steps", "1:4"]):
        code, out, err = plan(*words)
        assert (code, err) == (0, ""), words
        assert out
    assert "constant" in predictors()


def test_a_predictor_of_another_package_may_predict_losses_and_know_trees_of_two_tiers_alone(
    constant: None, plan: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_Constant, "metrics", ("loss",))
    given = ["--predictor", "constant", "--link-sharing", "per-client"]
    _, out, _ = plan("recommend", "-G4", "-M5", *given, "--json")
    assert json.loads(out)["target"]["metric"] == "loss gap"
    _, out, _ = plan("tune", "-G4", "-M5", *given, "-K1,2")
    assert "none: the predictor constant names no learning rate" in " ".join(out.split())
    code, _, err = plan("recommend", "--tiers", "2/3/4", *given)
    assert code == 1 and "no answer[N001]: --predictor: constant failed for star-star-star (KeyError" in err


def test_two_predictors_of_one_id_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from planner.predict import predictors as home

    monkeypatch.setattr(home, "_declared", lambda: iter([typical.PREDICTOR, typical.PREDICTOR]))
    predictors.cache_clear()
    try:
        with pytest.raises(ScenarioError, match="predictor typical: two are called so"):
            predictors()
    finally:
        monkeypatch.undo()
        predictors.cache_clear()


# --- the record ---------------------------------------------------------------------------------------------------


def table(name: str) -> list[dict[str, str]]:
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def question_of(row: Mapping[str, str], predictor: str) -> Question:
    """What a row of the measured scenarios asks: its constants, its counts, and its target."""
    told: dict[str, object] = {
        "fleet__groups": row["G"], "fleet__clients_per_group": row["M"], "fleet__group_rounds": row["P"],
        "fleet__local_steps": row["K"], "problem__initial_gap": row["A"], "problem__sigma": row["sigma"],
        "problem__smoothness": 1, "problem__heterogeneity": f"zeta={row['zeta']},delta={row['delta']}",
        "problem__target": row["target"], "plan__predictor": predictor, "plan__metric": "gradient",
    }  # fmt: skip
    if row["S1"] == row["G"] and row["S2"] == row["M"]:
        return asked(**told, fleet__order=row["order"])
    return asked(**told, fleet__groups_per_round=row["S1"], fleet__clients_per_round=row["S2"])


def first_of(question: Question) -> str:
    """Of the fewest rounds; of several such that which has less left by then, to nine digits."""
    found = question.rounds()
    level = [t for t in found if found[t] == min(found.values())]
    left = {t: float(question.predictor.reached(question, t, max(found[t], 1), question.values)) for t in level}
    return next(t for t in level if left[t] <= min(left.values()) * (1 + 1e-9))


def kind(row: Mapping[str, str]) -> str:
    return "partial" if (row["S1"], row["S2"]) != (row["G"], row["M"]) else row["order"]


@pytest.mark.parametrize("wanted", ["fixed", "random", "partial"])
def test_the_record_is_what_predictions_make_of_the_measurements(wanted: str) -> None:
    """Regret, tau and errors of a row of each kind, from the measured rounds and the predicted ones."""
    measured = {(r["scenario"], r["family"], r["reference"]): r for r in table("measured_orders.csv")}
    rows = [r for r in table("record_gradient.csv") if kind(r) == wanted and "1" not in (r["S1"], r["S2"])]
    for row in rows[3 :: len(rows) // 3]:
        source = measured[row["scenario"], row["family"], row["reference"]]
        rounds = np.array([min(float(source[t]), float(source["rounds"])) for t in TOPOLOGIES])
        for predictor in ("typical", "spectrum", "bound"):
            question = question_of(source, predictor)
            found = question.rounds()
            predicted = np.array([float(found[t]) for t in TOPOLOGIES])
            regret = rounds[TOPOLOGIES.index(first_of(question))] / rounds.min() - 1
            assert float(row[f"regret_{predictor}"]) == pytest.approx(regret, abs=6e-5)
            if predictor != "bound":
                off = np.log(rounds / predicted)
                recorded = [float(row[f"error_{predictor}_{t}"]) for t in TOPOLOGIES]
                np.testing.assert_allclose(recorded, off - off[0], atol=6e-5)
            signs = [
                (np.sign(predicted[i] - predicted[j]), np.sign(rounds[i] - rounds[j]))
                for i, j in itertools.combinations(range(4), 2)
            ]
            untied = math.sqrt(sum(a != 0 for a, _ in signs) * sum(b != 0 for _, b in signs))
            tau = sum(a * b for a, b in signs) / untied if untied else math.nan
            assert float(row[f"tau_{predictor}"]) == pytest.approx(tau, abs=6e-4, nan_ok=True)


def test_every_measured_scenario_is_on_record_once() -> None:
    keys = ("scenario", "family", "reference")
    recorded, measured = (
        Counter(tuple(r[k] for k in keys) for r in table(name))
        for name in ("record_gradient.csv", "measured_orders.csv")
    )
    assert set(recorded) == set(measured)
    assert set(recorded.values()) == {1}
    assert {r["scenario"] for r in table("measured_orders.csv")}.isdisjoint(
        r["scenario"] for r in table("measured_orders_kept.csv")
    )
    assert len(record.record("gradient").places) == len(recorded)


@pytest.mark.parametrize(
    ("predictor", "model", "quantity"),
    [
        ("spectrum", "digits-logistic", "loss"),
        ("bound", "digits-mlp", "error"),
        pytest.param("spectrum", "digits-mlp", "error", marks=pytest.mark.slow),
    ],
)
def test_the_record_on_digits_is_what_presets_make_of_the_measurements(
    predictor: str, model: str, quantity: str
) -> None:
    regrets = []
    for row in table("measured_digits.csv"):
        if (row["model"], row["quantity"]) != (model, quantity):
            continue
        told: dict[str, object] = {"problem__heterogeneity": row["scheme"], "problem__rounds": row["reference"]}
        told |= {"fleet__groups": row["G"], "fleet__clients_per_group": row["M"], "fleet__group_rounds": row["P"]}
        if predictor == "spectrum":
            told["plan__metric"] = {"loss": "loss", "error": "accuracy"}[quantity]
        question = asked(**told, fleet__local_steps=row["K"], plan__predictor=predictor)
        rounds = {t: min(float(row[t]), float(row["rounds"])) for t in TOPOLOGIES}
        regrets.append(rounds[first_of(question)] / min(rounds.values()) - 1)
    (row,) = (
        r
        for r in table("digits_record.csv")
        if (r["predictor"], r["model"], r["quantity"]) == (predictor, model, quantity)
    )
    assert int(row["rows"]) == len(regrets) == 24
    assert int(row["right"]) == sum(r <= 0.02 for r in regrets)
    assert float(row["regret_median"]) == pytest.approx(np.median(regrets), abs=6e-4)
    assert float(row["regret_mean"]) == pytest.approx(np.mean(regrets), abs=6e-4)


def test_a_place_is_logarithms_in_units_of_the_problem() -> None:
    values = {"L": 2.0, "A": 8.0, "sigma": 4.0, "zeta": 0.0, "delta": 8.0}
    values |= {"G": 10.0, "M": 20.0, "P": 2.0, "K": 5.0, "S1": 5.0, "S2": 20.0}
    wanted = [0, math.log(0.01), math.log(2), math.log(0.25), *np.log([10, 20, 10, 0.5, 1]), 1]
    np.testing.assert_allclose(record.place(values, 4.0, True), wanted, rtol=1e-12)
    np.testing.assert_allclose(record.place(values, 4.0, False), [*wanted[:-1], 0], rtol=1e-12)
    scaled = {**values, "L": 6.0, "A": 24.0, "sigma": 12.0, "delta": 24.0}
    np.testing.assert_allclose(record.place(scaled, 36.0, True), wanted, rtol=1e-12)


def test_the_nearest_of_a_line_of_scenarios() -> None:
    """Rows at 0, 1, ..., 249 along a diagonal; from 120.4 on it are 71 to 170, in the median 25 steps away."""
    along = np.array([3.0, 4.0]) / 5
    made = record.Record(np.arange(250.0)[:, None] * along, np.zeros(250, dtype=int), 12, {}, {}, {})
    rows, distance = made.nearest(120.4 * along, 0)
    assert rows[:4].tolist() == [120, 121, 119, 122]
    assert sorted(rows) == list(range(71, 171))
    assert distance == pytest.approx(np.median(np.abs(np.arange(71, 171) - 120.4)))
    thirds = replace(made, kinds=np.arange(250) % 3)
    assert thirds.nearest(120.4 * along, 1)[0][:3].tolist() == [121, 118, 124]
    assert sorted(thirds.nearest(120.4 * along, 1)[0]) == list(range(1, 250, 3))  # all there are
    assert thirds.nearest(120.4 * along, 1, np.arange(250) < 120)[0][:2].tolist() == [118, 115]


@pytest.mark.parametrize(("zeta", "delta", "kind"), [(0.9, 0.3, 0), (1.1, 0.3, 1), (0.9, 0.32, 2), (1.1, 0.32, 3)])
def test_kinds_part_halfway_between_alike_and_different(zeta: float, delta: float, kind: int) -> None:
    """By the presets, in units of sigma: zeta 0.33 and 3.0, delta 0.10 and 0.95."""
    assert record.kind({"sigma": 2.0, "zeta": 2 * zeta, "delta": 2 * delta}) == kind


# --- what recommend makes of it ------------------------------------------------------------------------------------

GIVEN: dict[str, object] = {
    "fleet__groups": 6, "fleet__clients_per_group": 5, "fleet__group_rounds": 2, "fleet__local_steps": 3,
    "problem__smoothness": 1, "problem__initial_gap": 1.5, "problem__sigma": 1.2, "problem__rounds": 40,
    "problem__heterogeneity": "zeta=0.4,delta=0.9", "plan__objective": "rounds",
}  # fmt: skip
TYPICAL: dict[str, object] = {"plan__predictor": "typical", "plan__metric": "gradient"}


UNFLIPPED = pytest.mark.usefixtures("unflipped")


def recommended(**given: object) -> Any:
    return recommend(load_scenario(**{**GIVEN, **given}))


def test_the_predictor_is_the_one_with_the_best_record_unless_a_bound_is_asked_about() -> None:
    def chosen(**more: object) -> tuple[str, str]:
        found = asked(**GIVEN, **more)
        return found.predictor.id, found.metric

    assert chosen() == ("spectrum", "loss")
    assert chosen(plan__metric="accuracy") == ("spectrum", "accuracy")
    assert chosen(plan__metric="gradient") == ("spectrum", "gradient")
    assert chosen(plan__cap=0.5) == ("bound", "gradient")
    assert chosen(plan__bounds="hflbounds.sharp") == ("bound", "gradient")
    assert chosen(plan__bounds="hflbounds.sharp", plan__predictor="typical") == ("typical", "gradient")
    with pytest.raises(ScenarioError, match=r"'sharp' is not one of bound, .*typical"):
        asked(**GIVEN, plan__predictor="sharp")


@pytest.mark.parametrize("words", [["--predictor", "bound"], ["--cap", "0.5"], ["--predictor", "surrogate"]])
def test_a_metric_the_predictor_does_not_know_is_refused(words: list[str], plan: Any) -> None:
    code, out, err = plan("recommend", "--G", "4", "--M", "4", "--metric", "accuracy", *words)
    assert (code, out) == (2, "")
    assert "knows gradient alone" in err
    assert len(err.strip().splitlines()) <= 2


@pytest.mark.usefixtures("few_draws")
def test_answers_of_every_predictor_and_metric_are_of_the_schema(
    plan: Any, request: pytest.FixtureRequest, moved_alone: Any, set_alone: Any
) -> None:
    from of_schema import validate

    moved_alone("sigma", "step_time")
    set_alone("client_link.sharing")

    schema = json.loads(plan("schema", "recommend")[1])
    for words in (
        ["--metric", "accuracy"],
        ["--predictor", "bound"],
        ["--predictor", "surrogate"],
        [],
        ["--predictor", "typical"],
    ):
        code, out, err = plan("recommend", "--G", "3", "--M", "2", *words, "--json")
        assert (code, err) == (0, "")
        found = json.loads(out, parse_constant=pytest.fail)
        validate(found, schema)
        assert (found["recommend"]["predictor"], found["metric"]) == (
            words[1] if "--predictor" in words else "spectrum",
            words[1] if "--metric" in words else "gradient" if words else "loss",
        )
        assert found["sensitivity"]
        request.getfixturevalue("unflipped")  # from here on, as changes are alike in all
        without_record = words[-1:] in (["bound"], ["surrogate"])
        assert (found["recommend"]["uncertainty"]["model"] is None) == without_record


@UNFLIPPED
def test_rows_have_the_bounds_guarantee_and_a_rate_of_a_local_step() -> None:
    answer = recommended(**TYPICAL)
    values = {"G": 6, "M": 5, "P": 2, "K": 3, "S1": 6, "S2": 5, "L": 1, "A": 1.5, "sigma": 1.2, "zeta": 0.4}
    target = answer.scenario["target"].value
    chain = {"star-star": 6, "star-ring": 30, "ring-star": 36, "ring-ring": 180}
    for row in answer.ranking:
        sure = get(f"hflbounds.exact.{row.id}").rounds_to(target, cap="own", **values, delta=0.9)
        assert row.rounds_guaranteed == float(sure)
        assert row.rate_predicted_raw * chain[row.id] == pytest.approx(row.rate_predicted, rel=1e-12)
        assert 0.01 < row.rate_predicted < 100
    assert "no guarantee" in answer.explain("target")


@UNFLIPPED
def test_a_start_rate_is_given_where_one_round_is_enough() -> None:
    """The mean over one round has the start alone, which no rate moves: the rate is then the one for two."""
    rows = {row.id: row for row in recommended(**TYPICAL, problem__rounds=1).ranking}
    assert {row.rounds for row in rows.values()} == {1}
    two = {row.id: row for row in recommended(**TYPICAL, problem__rounds=2).ranking}
    assert rows["star-star"].rate_predicted_raw == two["star-star"].rate_predicted_raw
    assert all(row.rate_predicted > 0.05 for row in rows.values())


@UNFLIPPED
@pytest.mark.parametrize("predictor", ["typical", "bound"])
def test_single_tiers_are_the_answers_of_the_single_tier_scenario(predictor: str) -> None:
    """Thirty clients in one group without group servers, six steps a round, and all heterogeneity inside."""
    two = recommended(plan__predictor=predictor, plan__objective="time")
    single = recommended(
        fleet__groups=1, fleet__clients_per_group=30, fleet__group_rounds=1, fleet__local_steps=6,
        problem__heterogeneity=f"zeta={math.hypot(0.4, 0.9)!r},delta=0", problem__rounds=None,
        problem__target=two.scenario["target"].value, network__tiers=1, plan__predictor=predictor,
    )  # fmt: skip
    rows = {row.id: row for row in single.ranking}
    families = {row.id: row for row in two.rows}
    for key, topology in (("fedavg", "star-star"), ("sfl", "star-ring")):
        assert families[key].rounds == rows[topology].rounds
        assert families[key].time_seconds == pytest.approx(rows[topology].time_seconds, rel=1e-9)
        assert families[key].traffic_bytes == pytest.approx(rows[topology].traffic_bytes, rel=1e-9)
    assert [one.id for one in two.recommend.others] == ["hhfl", "hsl", "hga-fl"]
    assert {row.rounds_from for row in two.rows} == {"bound" if predictor == "bound" else "predicted"}
    assert {one.rounds_from for one in two.recommend.others} == {"not run"}
    said = " ".join(two.explain().split())
    for word in ("FedAvg, 1 tier", "hfl-plan overlap", "hfl-plan hubs", "hfl-plan async"):
        assert word in said


@UNFLIPPED
def test_confidence_is_the_share_of_nearby_errors_that_leave_the_choice_right() -> None:
    """Nothing is drawn of inputs that were all given: each of the hundred nearest rows' errors is as likely."""
    answer = recommended(**TYPICAL)
    assert not answer.recommend.uncertainty.inputs.drawn
    rows = table("record_gradient.csv")
    here = {"G": 6, "M": 5, "P": 2, "K": 3, "S1": 6, "S2": 5, "L": 1, "A": 1.5, "sigma": 1.2, "zeta": 0.4, "delta": 0.9}
    unit = 1.5

    def distance(row: Mapping[str, str]) -> float:
        there = {n: float(row[n]) for n in here}
        unit_there = there["A"]
        squared = [
            math.log(max(here[n] / unit**0.5, 0.01) / max(there[n] / unit_there**0.5, 0.01))
            for n in ("sigma", "zeta", "delta")
        ]
        squared.append(math.log(answer.scenario["target"].value / unit / (float(row["target"]) / unit_there)))
        squared += [math.log(here[n] / there[n]) for n in "GM"]
        squared.append(math.log(6 / (there["P"] * there["K"])))
        squared += [math.log(there["S1"] / there["G"]), math.log(there["S2"] / there["M"]), kind(row) != "fixed"]
        return sum(x * x for x in squared)

    alike = [r for r in rows if float(r["zeta"]) < float(r["sigma"]) and float(r["delta"]) > 0.31 * float(r["sigma"])]
    nearest = sorted(alike, key=distance)[:100]
    exact = asked(**GIVEN, **TYPICAL).rounds()
    off = np.array([[float(r[f"error_typical_{t}"]) for t in TOPOLOGIES] for r in nearest])
    off -= off[:, [TOPOLOGIES.index(min(exact, key=lambda t: float(exact[t])))]]
    off -= np.median(off, axis=0)
    totals = np.array([float(exact[t]) for t in TOPOLOGIES]) * np.exp(off)
    share = dict(zip(TOPOLOGIES, (totals <= totals.min(1, keepdims=True) * 1.02).mean(0), strict=True))
    model = answer.recommend.uncertainty.model
    assert model.right == sum(float(r["regret_typical"]) <= 0.02 for r in nearest)
    assert model.regret_p90 == pytest.approx(np.quantile([float(r["regret_typical"]) for r in nearest], 0.9))
    for topology, p in share.items():
        assert model.p_best[topology] == pytest.approx(p, abs=4 * math.sqrt(0.25 / 1024))
    assert answer.verdict.confidence == model.probability <= 0.99
    (near,) = (e for e in answer.evidence if e.dataset.endswith("record_gradient.csv"))
    assert (near.right, near.of, near.regret_p90) == (model.right, 100, model.regret_p90)
    assert f"by rounds right in {model.right} of 100 near cases" in str(answer)


@UNFLIPPED
@pytest.mark.parametrize(
    ("given", "rows"),
    [
        ({}, {"loss"}),
        ({"plan__metric": "gradient"}, {"mean_gradient"}),
        ({"plan__predictor": "typical"}, {"mean_gradient"}),
        ({"plan__metric": "accuracy"}, {"error"}),
        ({"plan__predictor": "bound"}, {"mean_gradient"}),
    ],
)
def test_evidence_on_digits_is_about_the_metric_and_the_predictor(given: dict[str, object], rows: set[str]) -> None:
    answer = recommended(**given)
    wanted = Counter(
        (int(r["right"]), int(r["rows"]), float(r["regret_p90"]))
        for r in table("digits_record.csv")
        if r["predictor"] == answer.recommend.predictor and r["quantity"] in rows
    )
    found = Counter((e.right, e.of, e.regret_p90) for e in answer.evidence if e.dataset.endswith("measured_digits.csv"))
    assert found == wanted
    assert found


@UNFLIPPED
def test_the_answer_says_what_loss_would_change() -> None:
    told: dict[str, object] = {
        "fleet__groups": 12, "fleet__clients_per_group": 4, "problem__heterogeneity": "inter", "problem__sigma": 0.3,
        "plan__objective": "rounds",
    }  # fmt: skip
    by_gradient = recommend(load_scenario(**told, plan__metric="gradient"))
    by_loss = recommend(load_scenario(**told))
    rounds = {row.id: row.rounds for row in by_loss.ranking}
    assert by_gradient.recommended[0] not in by_loss.recommended  # the case that there is something to say
    (said,) = (one.text for one in by_gradient.warnings if "--metric loss" in one.text)
    first = by_loss.ranking[0].id
    assert f"{first.title()} is the best topology" in said
    less = 1 - rounds[first] / rounds[by_gradient.recommended[0]]
    (percent,) = re.findall(r"(\d+) % below", said)
    assert abs(int(percent) / 100 - less) < 0.03  # rounds of the answer are whole
    assert not any("--metric" in one.text for one in by_loss.warnings)


@UNFLIPPED
def test_a_target_not_reached_in_time_says_what_the_predictor_expects_there() -> None:
    from planner.errors import NoAnswerError

    question = asked(**GIVEN, **TYPICAL, problem__target=1e-4)
    least = min(float(typical.PREDICTOR.reached(question, t, 40, question.values)) for t in TOPOLOGIES)
    first = min(float(n) for n in replace(question, horizon=None).rounds().values())
    with pytest.raises(NoAnswerError, match="not reached within 40 rounds: the least expected there is") as refusal:
        recommended(**TYPICAL, problem__target=1e-4)
    assert f" {least:.4g}, by " in str(refusal.value)
    assert f"--rounds {math.ceil(first)}" in str(refusal.value)
    allowed = recommended(**TYPICAL, problem__target=1e-4, problem__rounds=math.ceil(first))
    assert allowed.ranking[0].rounds == math.ceil(first)


def test_who_is_away_is_asked_about_each_metric_anew() -> None:
    """Attended questions keep what they computed; what they keep is of one metric."""
    given = {**GIVEN, "problem__heterogeneity": "zeta=1,delta=3"}
    given |= {"availability__client": "90%", "availability__policy": "skip"}
    question = ask(load_scenario(**given, plan__metric="gradient"))
    gradient = question.rounds()
    moved = question.varied(metric="loss").rounds()
    fresh = ask(load_scenario(**given, plan__metric="loss")).rounds()
    assert moved == fresh
    assert moved != gradient


@UNFLIPPED
def test_without_draws_the_same_comes_first() -> None:
    given = {"fleet__groups": 10, "fleet__clients_per_group": 10, "problem__heterogeneity": "zeta=1,delta=1"}
    given |= {**TYPICAL, "problem__rounds": 1000, "problem__sigma": 1, "problem__smoothness": 1}
    given |= {"plan__objective": "rounds"}
    with_draws, without = (recommend(load_scenario(**given, **more)) for more in ({}, {"plan__draws": 0}))
    assert with_draws.recommended == without.recommended
    assert len(with_draws.recommended) > 1


@UNFLIPPED
def test_flip_starts_from_what_recommend_puts_first() -> None:
    told = load_scenario(fleet__groups=10, fleet__clients_per_group=10, problem__heterogeneity="both")
    answer = recommend(told)
    assert set(flip_answer.flip(told, only=("zeta",)).flip.first) == set(answer.recommended)
