"""The claims about overlap, and about hubs and spokes: predictions from the catalogue, and judgements from the runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
optimize = pytest.importorskip("scipy.optimize")

from hflbounds import get  # noqa: E402
from validation.algorithms.hhfl import rows as coverage_of  # noqa: E402
from validation.claims import (  # noqa: E402
    Judgement,
    claims,
    drive,
    hsl_baselines,
    hsl_degenerate,
    hsl_epidemic,
    hsl_mixing,
)
from validation.claims.hhfl_setting import APART, PAPERS, bound, problem  # noqa: E402
from validation.claims.hsl_setting import Epidemic, Hubs, problem_of, scenario  # noqa: E402
from validation.engine import Trace, simulate  # noqa: E402
from validation.experiment import Cell, make_algorithm, make_problem  # noqa: E402
from validation.statistics import by_ratio  # noqa: E402

QUICK = {
    "hhfl-edge-heterogeneity": "holds",
    "hhfl-alike-servers": "fails",
    "hhfl-alike-servers-bound": "fails",
    "hhfl-overlap": "holds",
    "hhfl-local-steps": "holds",
    "hhfl-local-steps-bound": "fails",
    "hhfl-edge-rounds": "holds",
    "hsl-consensus-exact": "holds",
    "hsl-consensus-beta": "holds",
    "hsl-mean-move": "holds",
    "hsl-nodes": "holds",
    "hsl-mean": "holds",
    "hsl-ranked-by-beta": "fails",
    "hsl-ranked-by-bound": "holds",
    "hsl-baselines": "holds",
    "hhfl-digits": "holds",
    "hsl-digits-nodes": "holds",
    "hsl-digits-mean": "fails",
}


def pretend(value: Callable[[dict[str, Any], float, int], float]) -> Callable[[Sequence[Cell]], dict[Cell, Trace]]:
    """Runs that were not run: what they measured is a function of the algorithm's options, the rate and the seed."""

    def execute(cells: Sequence[Cell]) -> dict[Cell, Trace]:
        found = {}
        for cell in cells:
            options = dict(cell.algorithm.options) | {"missing": dict(cell.problem.options).get("missing")}
            column = [[value(options, r, s)] for r, s in zip(cell.rates, cell.seeds, strict=True)]
            values = torch.tensor(column, dtype=torch.float64)
            named = dict.fromkeys(("gap", "gradient", "loss"), values)
            found[cell] = Trace(cell.at, named, named)
        return found

    return execute


def judged(name: str, value: Callable[[dict[str, Any], float, int], float]) -> Judgement:
    return drive([claims()[name]], "quick", pretend(value))[name]


def bowl(best: float) -> Callable[[float, int], float]:
    """Smallest at the best rate, and different for every seed."""
    return lambda rate, seed: (1 + math.log(rate / best) ** 2) * math.exp(0.01 * (seed % 5))


# ------------------------------------------------------------------------------------------------------- predictions
def test_every_claim_names_statements_of_the_catalogue() -> None:
    assert set(QUICK) <= set(claims())
    for name in QUICK:
        words = f"{claims()[name].prediction} {claims()[name].source}".replace(",", " ").replace(":", " ").split()
        ids = [word for word in words if word.split(".")[0] in ("hflbounds", "sharma2025", "devos2023") and "." in word]
        for known in ids:
            if not known.endswith(".S1"):  # an erratum
                assert get(known.rstrip(".")).id == known.rstrip(".")


@pytest.mark.parametrize("delta", [0.3, 1.0])
def test_the_bound_of_hfl_with_constants_found_another_way(delta: float) -> None:
    """Every constant by loops or by a general optimiser, for one server for each client and for the paper's layout."""
    what = problem(delta=delta)
    made: Any = make_problem(what)
    h, a, v = (part.numpy() for part in (made.h, made.a.flatten(0, 1), made.v.flatten(0, 1)))

    def slopes(x: Any) -> Any:
        return h * x + a * np.tanh(x) + v

    root = optimize.root(lambda x: slopes(x).mean(0), np.zeros(10), tol=1e-13).x
    gradients = slopes(root)

    def lowest(c: int) -> float:
        def loss(x: Any) -> float:
            return float((h * x**2 / 2 + a[c] * np.log(np.cosh(x)) + v[c] * x).sum())

        return float(optimize.minimize(loss, root, jac=lambda x: h * x + a[c] * np.tanh(x) + v[c], tol=1e-12).fun)

    mu, L = float(min(h.min(), (h + a).min())), float(max(h.max(), (h + a).max()))
    common = {
        "E": 5,
        "Ge": 5,
        "t": 500,
        "p2": 1 / 57,
        "sigma": 1.0,
        "mu": mu,
        "L": L,
        "Gamma": max(0.0, made.lowest - sum(lowest(c) for c in range(57)) / 57),
        "Delta0": float(((made.x0.numpy() - root) ** 2).sum()),
        "beta_lr": 2 / mu,
        "alpha": 8 * L / mu,
    }
    groups = gradients.reshape(3, 19, -1).mean(1)
    zeta = math.sqrt(((gradients.reshape(3, 19, -1) - groups[:, None]) ** 2).sum(2).mean())
    spread = math.sqrt(((groups - groups.mean(0)) ** 2).sum(1).mean())
    told = get("hflbounds.hhfl-two-level")(**common, lambda2=1.0, zeta=zeta, delta=spread)
    assert bound(what, APART, "quick") == pytest.approx(told, rel=1e-6)
    # the layout: what one edge round passes on of the gradients, and what it erases
    links = coverage_of(PAPERS)
    A = links / links.sum(1, keepdims=True)
    W = A @ np.diag(1 / (A.sum(0) / 57)) @ A.T / 57
    rates, modes = np.linalg.eigh((W + W.T) / 2)
    parts = ((modes.T @ (gradients - gradients.mean(0))) ** 2).sum(1) / 57
    passed = rates > 1e-9
    told = get("hflbounds.hhfl-two-level")(
        **common, lambda2=45 / 57, zeta=math.sqrt(parts[~passed].sum()), delta=math.sqrt(parts[passed].sum())
    )
    assert bound(what, PAPERS, "quick") == pytest.approx(told, rel=1e-6)


def test_what_is_compared_at_equal_edges_has_equal_edges() -> None:
    for hubs, epidemic in hsl_epidemic.FULL:
        assert hubs.edges == make_algorithm(hubs.algorithm("mean")).law().edges == epidemic.edges  # type: ignore[attr-defined]
        assert epidemic.edges == make_algorithm(epidemic.algorithm("mean")).law().edges  # type: ignore[attr-defined]
        assert hubs.nodes == epidemic.nodes
    for name in ("torus", "Erdos-Renyi", "EL-Oracle"):
        law = make_algorithm(hsl_baselines.OTHERS[name]).law()  # type: ignore[attr-defined]
        assert law.edges == pytest.approx(hsl_baselines.HUBS.edges)
    assert hsl_degenerate.COPY.edges == 41
    assert hsl_degenerate.COPY.beta() == 0


def test_numbers_that_predict() -> None:
    """Two budgets by hand: four spokes, one hub that copies one of them; three nodes that each send to one other."""
    copy = Hubs(4, 1, 1, 0, 1).exact()
    assert float(copy["consensus_distance"]) == 0
    assert float(copy["mean_deviation"]) == pytest.approx(1)  # the mean becomes a random model
    # Each of two others is heard with probability 1/2: the mean of 1/(heard + 1) is 1/4 + 1/2 1/2 + 1/4 1/3 = 7/12.
    assert Epidemic(3, 1).beta() == pytest.approx((7 / 12 - 1 / 3) / (2 / 3))
    assert scenario(3.0, "quick") == {"T": 50, "L": 1.0, "A": 5.0, "sigma": 1.0, "H": 3.0}
    made: Any = make_problem(problem_of(6, 3.0))
    told = made.constants
    assert [told[name] for name in ("L", "A", "sigma", "delta", "zeta")] == pytest.approx([1, 5, 1, 3, 0])


def test_only_what_differs_by_more_than_the_margin_is_an_order() -> None:
    assert [by_ratio(x) for x in (0.5, 0.979, 0.981, 1.019, 1.021, 3.0)] == [
        "smaller",
        "smaller",
        "tie",
        "tie",
        "larger",
        "larger",
    ]
    assert by_ratio(math.nan) == "tie"


# -------------------------------------------------------------------------------------------- plans on pretended runs
def test_a_plan_compares_best_rates_and_can_refute() -> None:
    gains = {PAPERS: 0.5, APART: 1.0}

    def value(options: dict[str, Any], rate: float, seed: int) -> float:
        return gains[options["coverage"]] * bowl(4.0 if options["coverage"] == APART else 16.0)(rate, seed)

    found = judged("hhfl-edge-heterogeneity", value)
    assert found.verdict == "holds"
    assert [row.ratio.estimate for row in found.rows] == pytest.approx([0.5] * 3)
    assert "16 and 4" in found.note
    gains[PAPERS] = 1.5
    assert judged("hhfl-edge-heterogeneity", value).verdict == "fails"
    gains[PAPERS] = 1.0
    assert judged("hhfl-alike-servers", value).verdict == "holds"
    assert judged("hhfl-alike-servers-bound", value).verdict == "fails"


@pytest.mark.parametrize(("name", "option"), [("hhfl-local-steps", "E"), ("hhfl-edge-rounds", "Ge")])
def test_growth_is_a_ratio_of_ratios(name: str, option: str) -> None:
    def value(options: dict[str, Any], rate: float, seed: int) -> float:
        gain = {2: 0.9, 5: 0.6, 10: 0.3}[options[option]] if options["coverage"] == PAPERS else 1.0
        return gain * options[option] * bowl(4.0)(rate, seed)

    found = judged(name, value)
    assert [row.ratio.estimate for row in found.rows] == pytest.approx([6 / 9, 3 / 6])
    assert [row.predicted for row in found.rows] == ["smaller", "smaller"]
    assert found.verdict == "holds"
    assert judged(name, lambda options, rate, seed: bowl(4.0)(rate, seed)).verdict == "fails"


def test_overlap_goes_step_by_step() -> None:
    def value(options: dict[str, Any], rate: float, seed: int) -> float:
        return 0.9 ** float(options["coverage"].split(",")[2]) * bowl(4.0)(rate, seed)

    found = judged("hhfl-overlap", value)
    assert [row.ratio.estimate for row in found.rows] == pytest.approx([0.9**2, 0.9**3, 0.9**5, 0.9**9])
    assert found.verdict == "holds"


def test_nodes_and_mean_are_judged_apart() -> None:
    def value(options: dict[str, Any], rate: float, seed: int) -> float:
        hubs = 0.7 if options["judged"] == "nodes" else 1.2
        return (hubs if "n_h" in options else 1.0) * bowl(0.5)(rate, seed)

    for name, ratio in (("hsl-nodes", 0.7), ("hsl-mean", 1.2)):
        found = judged(name, value)
        assert found.verdict == "holds"
        assert [row.ratio.estimate for row in found.rows] == pytest.approx([ratio] * 4)
    assert judged("hsl-ranked-by-beta", value).verdict == "fails"


def test_ranking_by_beta_and_by_the_bound_are_opposite_claims() -> None:
    def value(options: dict[str, Any], rate: float, seed: int) -> float:
        return (1.5 if options.get("n_h") == 1 else 1.0) * bowl(0.5)(rate, seed)

    predicted = {
        name: [row.predicted for row in judged(name, value).rows]
        for name in ("hsl-ranked-by-beta", "hsl-ranked-by-bound")
    }
    assert predicted["hsl-ranked-by-beta"] == ["smaller", "smaller", "smaller"] * 2
    assert predicted["hsl-ranked-by-bound"] == ["larger", "larger", "smaller"] * 2


def test_claims_on_digits_compare_as_the_others_do() -> None:
    def value(options: dict[str, Any], rate: float, seed: int) -> float:
        overlap = {"ring:3,19,0": 1.0, "triangle:14,4,1": 0.8, "ring:3,19,19": 0.7}
        gain = overlap[options["coverage"]] if options["missing"] else 1.0
        return gain * bowl(40.0)(rate, seed)

    found = judged("hhfl-digits", value)
    assert [row.ratio.estimate for row in found.rows] == pytest.approx([1, 1, 0.8, 0.7])
    assert [row.predicted for row in found.rows] == ["tie", "tie", "smaller", "smaller"]
    assert found.verdict == "holds"

    def hubs_win(options: dict[str, Any], rate: float, seed: int) -> float:
        return (0.7 if "n_h" in options else 1.0) * bowl(4.0)(rate, seed)

    assert judged("hsl-digits-nodes", hubs_win).verdict == "holds"
    assert judged("hsl-digits-mean", hubs_win).verdict == "fails"


# --------------------------------------------------------------------------------------------------------------- runs
@pytest.mark.parametrize("what", [Hubs(12, 4, 3, 1, 2), Epidemic(12, 2)], ids=str)
def test_mixing_in_runs_has_the_exact_factors(what: Hubs | Epidemic) -> None:
    """16 runs of 60 rounds; four standard errors, 1 in 16,000 for each of four numbers."""
    trace = simulate(
        make_problem(problem_of(12, 1.0)),
        make_algorithm(what.algorithm("mean")),
        [0.1] * 16,
        range(16),
        60,
        at=range(1, 61),
    )
    before = trace.values["consensus_before"]
    for quantity, term in (("consensus_after", "consensus_distance"), ("mean_move", "mean_deviation")):
        ratios = (trace.values[quantity] / before).mean(1)
        error = float(ratios.std()) / 4
        assert float(ratios.mean()) == pytest.approx(float(what.exact()[term]), abs=4 * error)
        assert error < 0.05 * float(ratios.mean())


@pytest.mark.slow
def test_quick_claims_say_what_is_documented() -> None:
    """All of them in one go, so that cells are shared: about 40 s of one core."""
    torch.set_num_threads(1)
    found = drive([claims()[name] for name in QUICK], "quick", lambda cells: {cell: cell.run() for cell in cells})
    assert {name: judgement.verdict for name, judgement in found.items()} == QUICK
    assert len(hsl_mixing.QUICK) == len(found["hsl-mean-move"].rows)
