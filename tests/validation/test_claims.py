"""Claims come to the verdicts that the runs deserve, in synthetic worlds where the truth is known.

A world is a function of a cell's description; where it is made of bounds they are those of the second encoding,
so that a prediction which the catalogue and the second encoding see differently is a failing comparison.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import mpmath
import numpy as np
import pytest
import second_encoding as second

torch = pytest.importorskip("torch")
scipy_stats = pytest.importorskip("scipy.stats")

from hflbounds import get  # noqa: E402
from validation import regimes  # noqa: E402
from validation.claims import Claim, Judgement, Row, claims, drive, overall, together  # noqa: E402
from validation.claims.learning_rates import best_rates  # noqa: E402
from validation.engine import Trace, ValidationError  # noqa: E402
from validation.experiment import Cell, Part, make_algorithm, make_problem  # noqa: E402
from validation.regimes import PROBLEMS, Measured, Regime, foretold, pooled, row  # noqa: E402
from validation.statistics import Interval, judge_agreement, pooled_kendall, tau_b  # noqa: E402
from validation.tuning import Score  # noqa: E402

TOPOLOGIES = ("star-star", "star-ring", "ring-star", "ring-ring")
WEAK = {"ring-top", "ring-low", "random-order", "digits-ring-top"}  # "no worse than"
BY_RATE = {  # every claim on the two tiers, and the rate of the second encoding that its world is made of
    "ring-top": "cor1",
    "ring-low": "cor1",
    "top-tier-decides": "cor1",
    "gap-with-delta": "cor1",
    "inter-hurts-more": "cor1",
    "many-or-few-groups": "cor1",
    "group-rounds": "cor1",
    "random-order": "cor1 and shuffle-rate",
    "participation": "cor2",
    "digits-ring-top": "cor1",
    "order-cor1": "cor1",
}
World = Callable[[Cell], float]


@cache
def into_groups(told: Part, groups: int) -> dict[str, float]:
    """The constants of the same clients in this many groups: at x = +-50, where tanh is +-1, by numpy."""
    problem: Any = make_problem(told)
    a, v = (np.array(x.tolist()).reshape(groups, problem.clients // groups, -1) for x in (problem.a, problem.v))
    within = between = 0.0
    for j in range(a.shape[2]):
        slopes = [v[:, :, j] + sign * a[:, :, j] for sign in (-1, 1)]
        within += max(float(x.var(axis=1).mean()) for x in slopes)
        between += max(float(x.mean(axis=1).var()) for x in slopes)
    return {"zeta": math.sqrt(within), "delta": math.sqrt(between)}


def letters(cell: Cell) -> dict[str, Any]:
    """What a rate needs to know of a cell, worked out from its description."""
    known = dict(cell.algorithm.options)
    of = dict(cell.problem.options)
    numbers = {name: known[name] for name in ("G", "M", "P", "K")} | {"R": cell.rounds, "L": 1.0}
    if cell.problem.name == "digits-mlp":
        zeta, delta = {"iid": (0, 0), "intra": (1, 0), "inter": (0, 1), "both": (1, 1)}[str(of["partitioned"])]
        return numbers | {"A": 1.0, "sigma": 1.0, "zeta": zeta, "delta": delta}
    numbers |= {"A": 5.0, "sigma": of["sigma"], "zeta": of["zeta"], "delta": of["delta"]}
    if of["G"] != known["G"]:  # the clients of the problem, put into other groups
        numbers |= into_groups(cell.problem, known["G"])
    return numbers


def as_told(cell: Cell) -> float:
    """The world in which every algorithm does as its rate says."""
    known, numbers = dict(cell.algorithm.options), letters(cell)
    rate = "shuffle-rate" if known.get("order") == "random" else "cor1"
    if known.get("S1"):
        rate = "cor2"
        numbers = {k: v for k, v in numbers.items() if k not in ("G", "M")} | {"S1": known["S1"], "S2": known["S2"]}
    with mpmath.workdps(20):
        return float(second.value(f"zhou2026.{rate}.{known['topology']}", **numbers))


def upside_down(cell: Cell) -> float:
    return 1 / as_told(cell)


def all_alike(cell: Cell) -> float:
    return 1.0


def pretend(world: World, noise: float = 1e-3, best: Callable[[Cell], float] = lambda cell: 1.0) -> Any:
    """Traces of a world: a parabola around the best rate in logarithms, and noise that is paired by seed in part."""

    def execute(cells: Sequence[Cell]) -> dict[Cell, Trace]:
        out = {}
        for cell in cells:
            own = int(cell.hash[:8], 16)
            jitter = {s: np.random.default_rng([own, s]).normal() for s in set(cell.seeds)}
            middle, height = best(cell), world(cell)
            values = [
                height * math.exp(math.log(rate / middle) ** 2 / 10 + noise * (jitter[s] + s % 7))
                for rate, s in zip(cell.rates, cell.seeds, strict=True)
            ]
            table = torch.tensor(values, dtype=torch.float64)[:, None]
            names = ("gradient", "error", "loss", "gap")
            kept = dict.fromkeys(names, table)
            out[cell] = Trace((cell.rounds,), kept, kept)
        return out

    return execute


def judged(name: str, world: World, **options: Any) -> Judgement:
    return drive([claims()[name]], "quick", pretend(world, **options))[name]


@pytest.mark.parametrize("name", BY_RATE)
def test_a_claim_holds_where_runs_do_as_the_rate_says(name: str) -> None:
    found = judged(name, as_told)
    assert found.verdict == "holds"
    assert [r for r in found.rows if r.verdict == "fails"] == []
    assert all(isinstance(r.ratio.estimate, float) for r in found.rows)


@pytest.mark.parametrize("name", BY_RATE)
def test_a_claim_fails_where_runs_do_the_opposite(name: str) -> None:
    found = judged(name, upside_down)
    assert found.verdict == "fails"
    assert any(r.verdict == "fails" for r in found.rows)


@pytest.mark.parametrize("name", BY_RATE)
def test_no_difference_refutes_a_difference_and_not_a_no_worse(name: str) -> None:
    found = judged(name, all_alike, noise=1e-4)
    for r in found.rows:
        if r.measure == "ratio":
            assert r.verdict == ("holds" if r.predicted in ("tie", "not larger") else "fails")
    if name in WEAK:
        assert found.verdict == "holds"


@pytest.mark.parametrize("name", [n for n in BY_RATE if n != "order-cor1"])
def test_where_noise_hides_everything_nothing_can_be_told(name: str) -> None:
    def noise(cell: Cell) -> float:
        return 1.0

    found = judged(name, noise, noise=2.0)
    assert sum(r.verdict == "cannot tell" for r in found.rows) > 0.7 * len(found.rows)


@pytest.mark.parametrize("name", ["sharp", "thm1-common-cap", "thm1-own-caps", "cor1"])
def test_an_order_is_judged_by_its_own_bound(name: str) -> None:
    family = {"sharp": "hflbounds.sharp", "cor1": "zhou2026.cor1"}.get(name, "zhou2026.thm1")
    cap = {"thm1-own-caps": "own", "cor1": "own"}.get(name, "common")

    def world(cell: Cell) -> float:
        return float(get(f"{family}.{dict(cell.algorithm.options)['topology']}").tuned(**letters(cell), cap=cap).value)

    right = judged(f"order-{name}", world, noise=1e-9)
    assert (right.verdict, right.rows[0].ratio.estimate) == ("holds", 1.0)
    assert "0.0% on average and 0.0% at worst" in right.note
    wrong = judged(f"order-{name}", lambda cell: 1 / world(cell), noise=1e-9)
    assert (wrong.verdict, wrong.rows[0].ratio.estimate) == ("fails", -1.0)


def chain(cell: Cell) -> int:
    return make_algorithm(cell.algorithm).local_steps_per_round()


def test_raw_rates_hold_where_the_effective_rate_is_what_matters() -> None:
    found = judged("raw-rates", all_alike)
    assert found.verdict == "holds"
    # 100 local steps against 10 against 1, times K, in a ring of groups and in groups.
    expected = {"star-ring / star-star": 0.1, "ring-star / star-ring": 1.0, "ring-ring / ring-star": 0.1}
    for r in found.rows:
        assert r.ratio.estimate == pytest.approx(expected[r.compared], rel=1e-2)


def test_raw_rates_fail_where_one_raw_rate_suits_all() -> None:
    found = judged("raw-rates", all_alike, best=lambda cell: 0.05 * chain(cell))
    assert found.verdict == "fails"
    assert {r.verdict for r in found.rows if r.predicted == "smaller"} == {"fails"}


def test_a_best_rate_is_found_between_the_rates_of_a_ladder() -> None:
    rates = tuple(2.0**i for i in range(-4, 5))
    wanted = np.array([0.3, 1.0, 3.1])
    values = np.exp(np.log(np.array(rates)[:, None] / wanted) ** 2)
    assert best_rates(rates, values) == pytest.approx(wanted, rel=1e-12)
    values[-3:] = math.inf  # diverged from 4 on
    assert best_rates(rates, values)[:2] == pytest.approx(wanted[:2], rel=1e-12)
    with pytest.raises(ValidationError, match="end of the ladder"):
        best_rates(rates, np.array(rates)[:, None] * np.ones(3))


def test_divergence_of_a_ring_counts_against_it() -> None:
    def world(cell: Cell) -> float:
        return math.inf if dict(cell.algorithm.options)["topology"].startswith("ring") else 1.0

    def once_tuned(cells: Sequence[Cell]) -> dict[Cell, Trace]:
        scoring = all(seed < 1000 for cell in cells for seed in cell.seeds)
        return pretend(world if scoring else all_alike)(cells)

    found = drive([claims()["ring-top"]], "quick", once_tuned)["ring-top"]
    assert {r.verdict for r in found.rows} == {"fails"}


def test_the_words_of_a_note_count_the_rows() -> None:
    found = judged("top-tier-decides", all_alike, noise=1e-4)
    fails = sum(r.verdict == "fails" for r in found.rows)
    assert fails > 0
    assert f"{fails} fail ({fails} of them for want of a difference" in found.note
    assert "1 to 1." in found.note  # the tuned rates of this world
    assert "not the choice of problem" in found.note


def test_the_full_size_pools_problems(monkeypatch: pytest.MonkeyPatch) -> None:
    small = (Regime(zeta=1.0), Regime(delta=1.0))
    monkeypatch.setattr("validation.claims.ring_low.grid", lambda size: small)
    found = drive([claims()["ring-low"]], "full", pretend(as_told))["ring-low"]
    problems = len(PROBLEMS["full"])
    assert {r.ratio.count for r in found.rows} == {problems}
    assert f"{problems} problems per regime" in found.note


@pytest.mark.parametrize("size", ["quick", "full"])
def test_every_claim_on_the_two_tiers_starts_at_both_sizes(size: Any) -> None:
    for name in [*BY_RATE, "raw-rates", "order-sharp"]:
        cells = next(claims()[name].plan(size))
        assert cells
        assert len({cell.hash for cell in cells}) == len(set(cells))


def test_claims_share_their_cells() -> None:
    one = {cell.hash for cell in next(claims()["ring-top"].plan("quick"))}
    assert one == {cell.hash for cell in next(claims()["order-sharp"].plan("quick"))}
    assert one > {cell.hash for cell in next(claims()["top-tier-decides"].plan("quick"))}


def test_every_claim_says_where_it_stands() -> None:
    for claim in claims().values():
        assert claim.source
        assert claim.statement.endswith(".")
        assert claim.prediction
        assert claim.quantity


def test_a_real_run_comes_to_a_judgement(monkeypatch: pytest.MonkeyPatch) -> None:
    protocol = regimes.protocol
    tiny = {"tuning": (1000, 1001), "scoring": (0, 1, 2, 3), "rounds": 4}
    monkeypatch.setattr(regimes, "protocol", lambda rounds, size: replace(protocol(rounds, size), **tiny))
    monkeypatch.setattr(regimes, "grid", lambda size: (Regime(delta=3.0),))
    monkeypatch.setattr("validation.claims.ring_top.grid", lambda size: (Regime(delta=3.0),))
    found = drive([claims()["ring-top"]], "quick", lambda cells: {cell: cell.run() for cell in cells})["ring-top"]
    assert len(found.rows) == 2
    assert all(0.1 < r.ratio.low <= r.ratio.estimate <= r.ratio.high < 10 for r in found.rows)


# ------------------------------------------------------------------------------- plans side by side


def counting(name: str, stages: int, asked: list[str]) -> Iterator[Any]:
    for stage in range(stages):
        asked.append(f"{name}{stage}")
        traces = yield (name, "shared")
        assert traces == {name: name.upper(), "shared": "SHARED"}
    return name * stages


def run_plan(plan: Any) -> tuple[Any, list[tuple[str, ...]]]:
    stages = []
    try:
        cells = next(plan)
        while True:
            stages.append(cells)
            cells = plan.send({cell: cell.upper() for cell in cells})
    except StopIteration as end:
        return end.value, stages


def test_plans_side_by_side_share_stages_and_cells() -> None:
    asked: list[str] = []
    plans: Any = {"b": counting("b", 1, asked), "a": counting("a", 3, asked), "none": counting("none", 0, asked)}
    found, stages = run_plan(together(plans))
    assert found == {"b": "b", "a": "aaa", "none": ""}
    assert list(found) == ["b", "a", "none"]
    assert stages == [("b", "shared", "a"), ("a", "shared"), ("a", "shared")]
    assert asked == ["b0", "a0", "a1", "a2"]
    assert run_plan(together({})) == ({}, [])


def test_driving_together_is_driving_one_by_one() -> None:
    names = ["ring-low", "inter-hurts-more", "raw-rates"]
    both = drive([claims()[n] for n in names], "quick", pretend(as_told))
    assert list(both) == names
    for name in names:
        assert both[name] == judged(name, as_told)


# ------------------------------------------------------------------------------- predictions and verdicts


@pytest.mark.parametrize(
    ("above", "below", "weak", "told"),
    [
        (1.0, 2.0, False, "smaller"),
        (2.0, 1.0, False, "larger"),
        (1.0, 1.019, False, "tie"),
        (1.0, 2.0, True, "not larger"),
        (1.0, 1.0, True, "not larger"),
        (1.001, 1.0, True, "larger"),
    ],
)
def test_two_bounds_foretell(above: float, below: float, weak: bool, told: str) -> None:
    assert foretold(above, below, weak=weak) == told


def test_a_row_is_paired() -> None:
    rng = np.random.default_rng(0)
    shared = np.exp(5 * rng.normal(size=12))
    above = Measured(tuple(1.1 * shared * np.exp(0.01 * rng.normal(size=12))), (1.0,))
    below = Measured(tuple(shared), (1.0,))
    assert row("s", "c", above, below, "larger").verdict == "holds"
    assert row("s", "c", above, below, "smaller").verdict == "fails"
    assert row("s", "c", above, below, "tie").verdict == "fails"
    assert row("s", "c", above, below, "tie", margin=0.2).verdict == "holds"
    assert row("s", "c", above, below, "not larger").verdict == "fails"


def test_pooling_takes_seeds_of_one_problem_or_means_of_many() -> None:
    scores = [Score(2.0, np.array([1.0, 4.0]), 9), Score(3.0, np.array([9.0, 1.0]), 9)]
    assert pooled(scores[:1]) == Measured((1.0, 4.0), (2.0,))
    assert pooled(scores) == Measured((pytest.approx(2.0), pytest.approx(3.0)), (2.0, 3.0))


def test_one_row_that_fails_makes_a_claim_fail() -> None:
    def rows(*verdicts: Any) -> list[Row]:
        return [Row("s", "c", Interval(1, 1, 1, 2), "tie", v) for v in verdicts]

    assert overall(rows("holds", "cannot tell")) == "holds"
    assert overall(rows("holds", "fails")) == "fails"
    assert overall(rows("cannot tell")) == "cannot tell"


def test_tau_over_scenarios_is_scipys_mean() -> None:
    rng = np.random.default_rng(3)
    told = [rng.normal(size=4).tolist() for _ in range(9)]
    seen = [np.exp(rng.normal(size=(4, 5))) for _ in range(9)]
    found = pooled_kendall(told, seen)
    means = [np.log(x).mean(axis=1) for x in seen]
    wanted = np.mean([scipy_stats.kendalltau(a, b).statistic for a, b in zip(told, means, strict=True)])
    assert found.estimate == pytest.approx(wanted)
    assert found.low <= found.estimate <= found.high
    assert found.count == 9


@pytest.mark.parametrize("experiments", [16, pytest.param(40, marks=pytest.mark.slow)])
def test_tau_over_scenarios_covers_the_truth(experiments: int) -> None:
    """Orders that agree with probability 3/4 a pair of two items: tau is 1/2 in the mean; experiments of 30."""
    rng = np.random.default_rng(4)
    inside = 0
    for _ in range(experiments):
        signs = np.where(rng.random(30) < 0.75, 1.0, -1.0)
        seen = [np.exp(np.array([[0.0] * 3, [s] * 3])) for s in signs]
        found = pooled_kendall([[0.0, 1.0]] * 30, seen, draws=100)
        inside += found.low <= 0.5 <= found.high
    assert inside >= scipy_stats.binom.ppf(1e-3, experiments, 0.95)  # fewer once in a thousand times


def test_tau_of_a_large_tie_is_a_guess() -> None:
    assert pooled_kendall([[1.0, 1.0]], [np.array([[1.0], [2.0]])]).estimate == 0.0
    assert math.isnan(tau_b([1.0, 1.0], [1.0, 2.0]))
    with pytest.raises(ValidationError, match="not pairs"):
        pooled_kendall([], [])


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.2, 0.9, "holds"),
        (-0.1, 0.9, "cannot tell"),
        (-0.9, -0.2, "fails"),
        (-0.05, 0.05, "fails"),
        (0.01, 0.09, "fails"),
    ],
)
def test_an_order_agrees_or_does_no_better_than_guessing(low: float, high: float, verdict: str) -> None:
    assert judge_agreement(Interval((low + high) / 2, low, high, 9)) == verdict


def test_two_claims_of_one_name_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    twice = Claim("ring-top", "s", "Another.", "p", "q", lambda size: iter(()))  # type: ignore[arg-type,return-value]
    monkeypatch.setattr("validation.claims.ring_low.CLAIMS", (twice,))
    claims.cache_clear()
    try:
        with pytest.raises(ValidationError, match="two claims are called ring-top"):
            claims()
    finally:
        monkeypatch.undo()
        claims.cache_clear()
