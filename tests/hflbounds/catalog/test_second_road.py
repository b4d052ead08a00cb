"""The bounds beyond the unified analysis against `second_encoding_others.py`, and both against reference tables.

Expected numbers come from the second encoding (typed from the papers by another hand, exact fractions or mpmath) or
from tables that were computed from the formulas by another person: `data/hhfl_points.csv`, `hsl_points.csv`,
`baselines_points.csv` and `hga_points.csv` (ten significant digits), and the early version's part of
`unified_points.csv`. Nothing expected here is computed by hflbounds.
"""

import csv
import math
import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
import second_conditions
import second_encoding as first
import second_encoding_others as second
import sympy as sp
from test_points import SCENARIOS, TOPOLOGIES
from test_points import _is_printed as is_printed

from hflbounds import Bound, catalogue, get
from hflbounds.core import functions
from hflbounds.core.expression import Expr
from hflbounds.core.quantities import ABOUT
from hflbounds.mixing import HubSpoke
from hflbounds.topology import all_topologies

DIGITS = 50
POINTS = 12
DATA = Path(__file__).parents[2] / "data"
BOUNDS = tuple(bound for bound in catalogue().values() if bound.id in second.BOUND_IDS)
EXACTLY: dict[str, Callable[..., Fraction]] = {  # of formulas
    **{"overlap": second.overlap, "geometric": second.geometric},
    "ceiling": lambda x: Fraction(math.ceil(x)),
}

for_every_bound = pytest.mark.parametrize("bound", BOUNDS, ids=lambda b: b.id)


@pytest.fixture(autouse=True)
def _precision() -> Iterator[None]:
    """Sixty digits for every test here."""
    with mpmath.workdps(DIGITS + 10):
        yield


@cache
def points(bound_id: str) -> tuple[dict[str, Fraction], ...]:
    """Admissible points; the same for every test."""
    with mpmath.workdps(DIGITS + 10):
        rng = random.Random(bound_id)
        return tuple(second.point(bound_id, rng) for _ in range(POINTS))


def as_mpf(number: Any) -> Any:
    """A Fraction or an mpf, at the precision in force."""
    return mpmath.mpf(number.numerator) / number.denominator if isinstance(number, Fraction) else mpmath.mpf(number)


def expected(bound_id: str, numbers: dict[str, Any]) -> tuple[Any, Any]:
    """The second encoding's value, and the sum of its summands' sizes: where parts cancel, rounding is of that size."""
    summands = [as_mpf(x) for x in second.summands(bound_id, **numbers)]
    return mpmath.fsum(summands), mpmath.fsum(abs(x) for x in summands)


@cache
def expected_at(bound_id: str, number: int) -> tuple[Any, Any]:
    """The same at one of the `points`; kept, as many tests ask for it."""
    with mpmath.workdps(DIGITS + 10):
        return expected(bound_id, points(bound_id)[number])


def near(found: Any, wanted: Any, size: Any, digits: str) -> bool:
    """Whether two numbers agree, relative to a size."""
    return abs(as_mpf(found) - wanted) <= mpmath.mpf(digits) * size


def evaluate(formula: sp.Basic, numbers: dict[str, Fraction], number: Callable[[Fraction], Any]) -> Any:
    """The value of a sympy formula in the arithmetic of ``number``; named functions take their exact values."""
    if formula.is_Rational:
        return number(Fraction(int(formula.p), int(formula.q)))
    if isinstance(formula, sp.Symbol):
        return number(numbers[formula.name])
    if formula is sp.pi:
        return +arithmetic_of(number(Fraction(1, 2))).pi
    if isinstance(formula, sp.sin):
        angle = evaluate(formula.args[0], numbers, number)
        return arithmetic_of(angle).sin(angle)
    if isinstance(formula, sp.Piecewise):
        for branch, condition in formula.args:
            if condition == True or holds(condition, numbers):  # noqa: E712 - sympy's true
                return evaluate(branch, numbers, number)
    if isinstance(formula, sp.Pow):
        base, exponent = formula.args
        power = evaluate(exponent, numbers, Fraction)
        value = evaluate(base, numbers, number)
        if power.denominator != 1:
            enclosed = arithmetic_of(value) is mpmath.iv
            value = (
                value ** (1 / mpmath.iv.mpf(power.denominator)) if enclosed else mpmath.root(value, power.denominator)
            )
        return value**power.numerator
    name = type(formula).__name__
    if name in EXACTLY:
        return number(EXACTLY[name](*(evaluate(argument, numbers, Fraction) for argument in formula.args)))
    first_part, *others = (evaluate(part, numbers, number) for part in formula.args)
    assert isinstance(formula, sp.Add | sp.Mul | sp.Max), formula
    for other in others:
        if isinstance(formula, sp.Max):
            first_part = larger(first_part, other)
        else:
            first_part = first_part + other if isinstance(formula, sp.Add) else first_part * other
    return first_part


def arithmetic_of(value: Any) -> Any:
    """Floating point of many digits, or intervals."""
    return mpmath.mp if isinstance(value, mpmath.mpf) else mpmath.iv


def larger(one: Any, other: Any) -> Any:
    if arithmetic_of(one) is mpmath.mp:
        return max(one, other)
    return mpmath.iv.mpf([max(one.a, other.a, key=mpmath.mpf), max(one.b, other.b, key=mpmath.mpf)])


def holds(condition: sp.Basic, numbers: dict[str, Fraction]) -> bool:
    """A relation between rational formulas."""
    lhs, rhs = (evaluate(side, numbers, Fraction) for side in condition.args)
    return {"LessThan": lhs <= rhs, "StrictLessThan": lhs < rhs, "GreaterThan": lhs >= rhs}.get(
        type(condition).__name__, lhs > rhs
    )


@cache
def in_sympy(expression: Expr) -> sp.Basic:
    """The formula for sympy; kept, because a symbolic maximum takes seconds to build."""
    return expression.to_sympy()


def exactly(expression: Expr, numbers: dict[str, Fraction]) -> Any:
    """The value by way of sympy, in sixty digits."""
    return evaluate(in_sympy(expression), numbers, as_mpf)


def in_floats(numbers: dict[str, Fraction]) -> dict[str, float]:
    """The same point as floats; nothing is rounded."""
    given = {name: float(number) for name, number in numbers.items()}
    assert all(Fraction(given[name]) == number for name, number in numbers.items())
    return given


# ------------------------------------------------------------------------------- the second encoding


def test_both_encodings_have_the_same_bounds() -> None:
    assert set(catalogue()) == set(first.BOUND_IDS) | set(second.BOUND_IDS)
    assert not set(first.BOUND_IDS) & set(second.BOUND_IDS)


def test_every_named_function_has_an_exact_value_here() -> None:
    """The sine goes to sympy as such, and the least weight has a test of its own in test_exact.py."""
    assert set(functions.SCALAR) == {*EXACTLY, "least_weight", "sine"}


@for_every_bound
def test_both_encodings_use_the_same_letters(bound: Bound) -> None:
    used = {s.name for s in bound.expression.symbols}
    spoken_of = used.union(*({s.name for s in condition.symbols} for condition in bound.requires))
    assert used == set(second.letters(bound.id))
    assert set(bound.needs) == spoken_of


def admissible(bound: Bound, numbers: dict[str, Fraction]) -> dict[str, float]:
    """The point in floats; letters that only the conditions have take values that meet them."""
    spare = {"L": 2.0**-20, "beta_mix": 0.125}
    given = in_floats(numbers)
    return {name: given.get(name, spare.get(name, 1.0)) for name in bound.needs}


@for_every_bound
def test_fifty_digits_against_the_second_encoding(bound: Bound) -> None:
    for i, numbers in enumerate(points(bound.id)[:6]):
        wanted, size = expected_at(bound.id, i)
        assert near(exactly(bound.expression, numbers), wanted, size, "1e-48"), numbers


@for_every_bound
def test_float64_against_fifty_digits(bound: Bound) -> None:
    """One float for floats, one array for arrays; both against the second encoding in 60 digits."""
    floats = [admissible(bound, numbers) for numbers in points(bound.id)]
    one_by_one = [bound(**values) for values in floats]
    assert all(type(value) is float for value in one_by_one)
    together = bound(**{name: np.array([values[name] for values in floats]) for name in bound.needs})
    assert together.shape == (POINTS,)
    assert together.dtype == np.float64
    for found in (one_by_one, together.tolist()):
        for i, (value, numbers) in enumerate(zip(found, points(bound.id), strict=True)):
            wanted, size = expected_at(bound.id, i)
            assert near(value, wanted, size, "1e-12"), numbers


@for_every_bound
def test_terms_add_up_to_the_second_encoding(bound: Bound) -> None:
    for i, numbers in enumerate(points(bound.id)[:5]):
        split = bound.split(**admissible(bound, numbers))
        assert tuple(split) == tuple(bound.terms)
        wanted, size = expected_at(bound.id, i)
        assert near(mpmath.fsum(mpmath.mpf(term) for term in split.values()), wanted, size, "1e-12")


def test_the_points_see_every_letter() -> None:
    """Each letter of each bound changes its value at some point, and no two counts of a point agree."""
    for bound in BOUNDS:
        for letter in second.letters(bound.id):
            moved = False
            for numbers in points(bound.id):
                counts = [x for name, x in numbers.items() if ABOUT[name].domain == "count" and name not in ("s", "T")]
                assert len(set(counts)) == len(counts), (bound.id, numbers)
                assert numbers.get("L") != 1
                other = numbers | {letter: numbers[letter] + (1 if ABOUT[letter].domain in ("count", "whole") else 0)}
                if other == numbers:
                    other[letter] = numbers[letter] * Fraction(1023, 1024)
                if other != numbers and other.get("K_buf", 0) != other.get("M", -1):
                    moved = second.value(bound.id, **other) != second.value(bound.id, **numbers)
                if moved:
                    break
            assert moved, (bound.id, letter)


# ------------------------------------------------------------------------- what the catalogue computes by itself


def test_overlap_in_float64_is_the_exact_sum() -> None:
    for nodes in (*range(1, 13), 20):
        for degree in range(nodes):
            exact = second.overlap(nodes, degree)
            found = functions.overlap(nodes, degree)
            assert near(found, as_mpf(exact), as_mpf(exact), "1e-12"), (nodes, degree)


def test_overlap_of_three_nodes_by_hand() -> None:
    """Each of three nodes sends to one of the two others: eight cases of chance 1/8, alike in pairs."""
    cases = [
        Fraction(2, 3 * 2),  # 1 to 2, 2 to 1, 3 to 1: node 1 averages all three, node 2 averages {1, 2}
        Fraction(1, 2 * 2),  # 1 to 2, 2 to 3, 3 to 1: node 1 averages {1, 3}, node 2 averages {1, 2}
        Fraction(1, 1 * 3),  # 1 to 2, 2 to 3, 3 to 2: node 1 is alone, node 2 averages {1, 2, 3}
        Fraction(0),  # 1 to 3, 2 to 3: nothing in common
    ]
    mean = (2 * cases[0] + 2 * cases[1] + 2 * cases[2] + 2 * cases[3]) / 8
    assert second.overlap(3, 1) == mean


@pytest.mark.parametrize("nodes", [2, 3, 5, 12, 40])
def test_push_factor_is_the_closed_form(nodes: int) -> None:
    """The binomial mean of the second encoding against the form that the paper's notation suggests."""
    for degree in range(1, nodes):
        closed = Fraction(1, degree) * (1 - (1 - Fraction(degree, nodes - 1)) ** nodes) - Fraction(1, nodes - 1)
        assert second.value("devos2023.beta-local", n_s=nodes, s=degree) == closed
        assert near(get("devos2023.beta-local")(n_s=nodes, s=degree), as_mpf(closed), mpmath.mpf(1), "1e-15")


@pytest.mark.parametrize(
    ("n_s", "n_h", "b_hs", "b_hh", "b_sh"),
    [
        (1, 1, 1, 0, 1),
        (9, 1, 4, 0, 1),
        (9, 1, 9, 0, 1),
        (9, 2, 4, 1, 1),
        (9, 2, 4, 0, 2),
        (9, 4, 9, 3, 4),
        (1, 3, 1, 0, 2),
    ],
)
def test_hubs_and_spokes_at_the_edge_of_their_definitions(n_s: int, n_h: int, b_hs: int, b_hh: int, b_sh: int) -> None:
    """One spoke, one hub, hubs that do not gossip, everybody averaging everything."""
    counts = {"n_s": n_s, "n_h": n_h, "b_hs": b_hs, "b_hh": b_hh, "b_sh": b_sh}
    for name in (
        "sharma2025.beta-hs",
        "sharma2025.beta-hh",
        "sharma2025.beta-sh",
        "sharma2025.beta",
        "sharma2025.kappa",
    ):
        assert near(get(name)(**counts), as_mpf(second.value(name, **counts)), mpmath.mpf(1), "1e-14"), name
        arrays = get(name)(**{key: np.array([count, count]) for key, count in counts.items()})
        assert arrays.tolist() == pytest.approx([float(second.value(name, **counts))] * 2, abs=1e-14)
    for found, wanted in zip(
        get("hflbounds.hsl-exact").split(**counts).values(),
        second.summands("hflbounds.hsl-exact", **counts),
        strict=True,
    ):
        assert near(found, as_mpf(wanted), mpmath.mpf(1), "1e-14")


def test_defaults() -> None:
    """What stands for a number that is not given."""
    sigma, zeta, delta = 2.0, 1.5, 0.5
    found = get("liu2026.lemma4")(sigma=sigma, N=5, M=7)
    assert near(found, as_mpf(second.value("liu2026.lemma4", sigma=2, p2=Fraction(1, 35))), mpmath.mpf(1), "1e-15")

    rounds = {"n_s": 60, "n_h": 7, "b_hs": 20, "b_hh": 3, "b_sh": 2, "T": 900, "L": 3, "A": 2, "sigma": sigma}
    for name in ("sharma2025.thm4-4", "sharma2025.thm4-4-order"):
        exact = second.value(name, **rounds, H=mpmath.sqrt(mpmath.mpf("2.5")))
        assert near(get(name)(**rounds, zeta=zeta, delta=delta), exact, exact, "1e-13")

    steps = {"L": 2, "R_sub": 3, "M": 9, "K_buf": 4, "eta_g": 0.01, "Gamma_max": 2, "zeta_max": 5, "sigma_s": 1.5}
    steps |= {"sigma_g": 0.75, "A": 4, "T": 10_000}
    exact = second.value("hflbounds.hga-repaired", **steps, eta_sub=mpmath.sqrt(10) / 4000)
    assert near(get("hflbounds.hga-repaired")(**steps, alpha_dyn=4000), exact, exact, "1e-12")


# ------------------------------------------------------------------------------------- units and directions

# Exponents of (loss, length), typed from what the letters mean; what is not here is a pure number.
DIMENSIONS: dict[str, tuple[int, int]] = {
    **dict.fromkeys(("L", "mu", "delta_H", "alpha_dyn"), (1, -2)),
    **dict.fromkeys(("A", "Gamma"), (1, 0)),
    **dict.fromkeys(("sigma", "zeta", "delta", "grad", "H", "sigma_s", "sigma_g"), (1, -1)),
    **dict.fromkeys(("eta", "eta_eff", "eta_sub", "beta_lr"), (-1, 2)),
    **dict.fromkeys(("E_r", "Delta0", "Delta_t", "CD", "moved"), (0, 2)),
    "V_t": (2, -2),
}


def rescaled(numbers: dict[str, Fraction], loss: Fraction, length: Fraction) -> dict[str, Fraction]:
    """The same problem with the loss and the parameters measured in other units."""
    return {
        name: number * loss ** DIMENSIONS.get(name, (0, 0))[0] * length ** DIMENSIONS.get(name, (0, 0))[1]
        for name, number in numbers.items()
    }


@for_every_bound
def test_other_units(bound: Bound) -> None:
    """Both encodings scale as what is bounded does; what breaks units does not, in one direction at least."""
    changed = False
    for i, numbers in enumerate(points(bound.id)[:6]):
        for loss, length in ((Fraction(16), Fraction(1)), (Fraction(1), Fraction(1, 8)), (Fraction(1, 4), Fraction(4))):
            other = rescaled(numbers, loss, length)
            factor = as_mpf(loss) ** bound.bounds.dim[0] * as_mpf(length) ** bound.bounds.dim[1]
            (value, size), (again, _) = expected_at(bound.id, i), expected(bound.id, other)
            if "units" in bound.breaks:
                changed |= not near(again, factor * value, factor * size, "1e-3")
                continue
            assert near(again, factor * value, factor * size, "1e-48"), (loss, length)
            given = {name: float(number) for name, number in rescaled(spared(bound, numbers), loss, length).items()}
            assert near(bound(**given), factor * value, factor * size, "1e-12"), (loss, length)
    assert changed is ("units" in bound.breaks)


def spared(bound: Bound, numbers: dict[str, Fraction]) -> dict[str, Fraction]:
    """The point of `admissible`, exactly."""
    return {name: Fraction(value) for name, value in admissible(bound, numbers).items()}


@for_every_bound
def test_declared_directions(bound: Bound) -> None:
    """The second encoding moves the way the catalogue says its bound does, wherever the bound applies."""
    for symbols, sign in ((bound.grows_with, 1), (bound.shrinks_with, -1)):
        for symbol in symbols:
            compared = 0
            for i, numbers in enumerate(points(bound.id)[:2]):
                if symbol.name not in numbers:
                    continue
                here = numbers[symbol.name]
                counted = ABOUT[symbol.name].domain in ("count", "whole")
                for there in (here + 1, here + 3) if counted else (here * Fraction(5, 4), here * Fraction(17, 16)):
                    other = numbers | {symbol.name: Fraction(there)}
                    try:
                        applies = bound.applies(**{**admissible(bound, numbers), symbol.name: float(there)})
                    except ValueError:  # outside the quantity's domain, such as a share above one
                        continue
                    if not applies:
                        continue
                    (before, size), (after, _) = expected_at(bound.id, i), expected(bound.id, other)
                    assert sign * (after - before) >= -size * mpmath.mpf("1e-45"), (symbol.name, numbers)
                    compared += 1
            assert compared, symbol.name


# ----------------------------------------------------------------------------------------- reference tables


def rows(name: str) -> list[dict[str, str]]:
    """A reference table."""
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def agrees(found: Any, printed: str) -> bool:
    """Whether a number is the printed one, to what ten digits allow."""
    wanted = mpmath.mpf(printed)
    return abs(as_mpf(found) - wanted) <= mpmath.mpf("1e-9") * abs(wanted)


def both(bound_id: str, numbers: dict[str, Any]) -> tuple[Any, float]:
    """The value in the second encoding and in the catalogue."""
    given = {name: float(number) for name, number in numbers.items() if name in ABOUT}
    return second.value(bound_id, **numbers), get(bound_id)(**given)


def both_splits(bound_id: str, numbers: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
    """The terms in the second encoding and in the catalogue, for ids whose terms are the same."""
    given = {name: float(number) for name, number in numbers.items()}
    yield from zip(second.summands(bound_id, **numbers), get(bound_id).split(**given).values(), strict=True)


def ring_eigenvalue(servers: int, clients: int, overlapping: int) -> float:
    """The second eigenvalue of the server-to-server operator of a ring: servers share clients with the next one."""
    averages = np.zeros((servers * clients, servers))
    for server in range(servers):
        for client in range(clients):
            attached = {server, (server + 1) % servers} if client < overlapping else {server}
            averages[server * clients + client, list(attached)] = 1 / len(attached)
    loads = averages.sum(axis=0)
    return float(sorted(np.linalg.eigvals(averages.T @ averages / loads[:, None]).real)[-2])


@pytest.mark.parametrize("row", rows("hhfl_points.csv"), ids=lambda r: r["point"])
def test_hhfl_table(row: dict[str, str]) -> None:
    servers, clients, overlapping = int(row["N"]), int(row["m"]), int(row["o"])
    numbers: dict[str, Any] = {name: Fraction(row[name]) for name in ("E", "Ge", "L", "mu", "Gamma", "Delta0", "t")}
    numbers["beta_lr"] = Fraction(row["bm"]) / numbers["mu"]
    numbers["alpha"] = max(numbers["E"], 4 * numbers["L"] * numbers["beta_lr"])
    numbers["p2"] = Fraction(1, servers * clients)
    numbers |= {"sigma": mpmath.sqrt(mpmath.mpf(row["sigma2"])), "H": mpmath.sqrt(mpmath.mpf(row["H2"]))}
    given = {name: float(number) for name, number in numbers.items()}
    given["alpha"] = max(given["E"], 4 * given["L"] * given["beta_lr"])  # beta as rounded, so that alpha >= 4 L beta

    for found in both("liu2026.lemma3", {**numbers, "H": 1, "eta": 1}):
        assert agrees(found, row["lemma3_coef"])
    for column, name in {
        **{"X": "liu2026.x", "Z_printed": "liu2026.z-printed", "Z": "liu2026.z", "bound": "liu2026.thm1"}
    }.items():
        assert agrees(second.value(name, **numbers), row[column]), column
        assert agrees(get(name)(**given), row[column]), column
    printed = as_mpf(second.value("liu2026.thm1-printed", **numbers))
    factor = numbers["L"] / 2 / (numbers["t"] + numbers["alpha"])
    assert agrees(printed / as_mpf(factor), row["Z_printed"])
    assert agrees(get("liu2026.thm1-printed")(**given) / float(factor), row["Z_printed"])

    numbers["lambda2"] = ring_eigenvalue(servers, clients, overlapping)
    assert agrees(numbers["lambda2"], row["lambda2"])
    drift = {**numbers, "H": 1, "eta": 1, "alpha": Fraction(10**30)}
    for found in both("hflbounds.hhfl-drift", drift):
        assert agrees(mpmath.sqrt(as_mpf(found)), row["c"])

    coverage = np.zeros((servers * clients, servers))
    for server in range(servers):
        coverage[server * clients : (server + 1) * clients, server] = 1
        coverage[server * clients : server * clients + overlapping, (server + 1) % servers] = 1
    spectral = get("hflbounds.hhfl-spectral")
    covered = {name: number for name, number in given.items() if name not in ("p2", "lambda2")}
    assert agrees(second.value("hflbounds.hhfl-spectral", **numbers), row["bound_topo"])
    assert agrees(spectral(**covered, coverage=coverage), row["bound_topo"])
    # with the start at the optimum, Z is beta^2 X/(beta mu - 1)
    undo = 1 / (factor * numbers["beta_lr"] ** 2 / (numbers["beta_lr"] * numbers["mu"] - 1))
    assert agrees(second.value("hflbounds.hhfl-spectral", **{**numbers, "Delta0": 0}) * as_mpf(undo), row["X_topo"])
    assert agrees(spectral(**{**covered, "Delta0": 0}, coverage=coverage) * float(undo), row["X_topo"])


HSL = ("n_s", "n_h", "b_hs", "b_hh", "b_sh")
UNIT = {"L": 1, "A": 1, "sigma": 1, "H": 1, "T": 1000}


@pytest.mark.parametrize("row", rows("hsl_points.csv"), ids=lambda r: r["point"])
def test_hsl_table(row: dict[str, str]) -> None:
    counts = {name: int(row[name]) for name in HSL}
    for column, name in {
        "beta_hs": "sharma2025.beta-hs",
        "beta_hh": "sharma2025.beta-hh",
        "beta_sh": "sharma2025.beta-sh",
        "beta": "sharma2025.beta",
        "kappa": "sharma2025.kappa",
        "rate": "sharma2025.thm4-4",
        "order": "sharma2025.thm4-4-order",
    }.items():
        for found in both(name, counts | UNIT):
            assert agrees(found, row[column]), column
    columns = ("exact_consensus_distance", "exact_mean_deviation")
    for pair, column in zip(both_splits("hflbounds.hsl-exact", counts), columns, strict=True):
        for found in pair:
            assert agrees(found, row[column]), column
    n_s, n_h, b_hs, b_hh, b_sh = counts.values()
    assert agrees(n_h * b_hs + n_h * b_hh + n_s * b_sh, row["edges"])
    assert agrees(HubSpoke(**counts).edges, row["edges"])


@pytest.mark.parametrize(
    "row",
    [  # the sums over ten messages of each node are those over four, and take as long
        pytest.param(row, marks=pytest.mark.slow if row["s"] == "10" else (), id=f"{row['system']}{row['s']}")
        for row in rows("baselines_points.csv")
    ],
)
def test_baselines_table(row: dict[str, str]) -> None:
    counts = {"n_s": int(row["n"]), "s": int(row["s"] or 0)}
    if row["system"] in ("ELL", "EL-Oracle"):
        kind = "local" if row["system"] == "ELL" else "oracle"
        for column, name in {"beta": "beta", "rate": "el", "order": "el"}.items():
            name = f"devos2023.{name}-{kind}" + ("-order" if column == "order" else "")
            for found in both(name, counts | UNIT):
                assert agrees(found, row[column]), column
    if row["system"] == "ELL":
        for found in both("devos2023.beta-local", counts):
            assert agrees(found / counts["n_s"], row["kappa"])
        _, deviation = both_splits("hflbounds.push-exact", counts)
        for found in deviation:
            assert agrees(found, row["kappa_exact"])
        return
    assert row["kappa"] == row["kappa_exact"] == "0.000000000e+00"  # doubly stochastic: the average stays
    if row["system"] == "FedAvg":  # one hub that averages everybody; the step as in Theorem 4.4
        hub = {"n_s": counts["n_s"], "n_h": 1, "b_hs": counts["n_s"], "b_hh": 0, "b_sh": 1}
        for column, name in {"beta": "beta", "kappa": "kappa", "rate": "thm4-4", "order": "thm4-4-order"}.items():
            for found in both(f"sharma2025.{name}", hub | UNIT):
                assert agrees(found, row[column]), column
        for found in both("hflbounds.gossip-order", counts | UNIT | {"beta_mix": 0, "kappa": 0}):
            assert agrees(found, row["order"])
    if row["system"] == "torus":  # a node averages itself and four neighbours: lambda2 = (3 + 2 cos(2 pi/10))/5
        beta = ((3 + 2 * mpmath.cos(mpmath.pi / 5)) / 5) ** 2
        assert agrees(beta, row["beta"])
        for column, name in {"rate": "gossip", "order": "gossip-order"}.items():
            for found in both(f"hflbounds.{name}", counts | UNIT | {"beta_mix": beta, "kappa": 0}):
                assert agrees(found, row[column]), column


HGA = ("L", "R_sub", "M", "K_buf", "alpha_dyn", "eta_g", "Gamma_max", "zeta_max", "A", "T")


@pytest.mark.parametrize("row", rows("hga_points.csv"), ids=lambda r: r["point"])
def test_hga_table(row: dict[str, str]) -> None:
    numbers: dict[str, Any] = {name: Fraction(row[name]) for name in HGA}
    numbers |= {name: mpmath.sqrt(mpmath.mpf(row[f"{name}2"])) for name in ("sigma_s", "sigma_g")}
    given = {name: float(number) for name, number in numbers.items()}
    L, R, K, alpha, eta_g, sigma_s = (
        as_mpf(numbers[n]) for n in ("L", "R_sub", "K_buf", "alpha_dyn", "eta_g", "sigma_s")
    )
    for found in both("xie2024.prop1", numbers):
        assert agrees(mpmath.sqrt(as_mpf(found)), row["eta_hat"])
        assert agrees(mpmath.sqrt(as_mpf(found)) * alpha, row["C"])
    for column, name in {
        "C_nabla": "xie2024.eq63",
        "thm1": "xie2024.thm1",
        "cor1": "xie2024.cor1",
        "rate": "xie2024.rate",
    }.items():
        for found in both(name, numbers):
            assert agrees(found, row[column]), column
    summands = second.summands("xie2024.thm1", **numbers)
    split = get("xie2024.thm1").split(**given)
    C = mpmath.mpf(mpmath.sqrt(2 + 2 * L**2))
    for drift, step_drift in ((summands[1], summands[3]), (split["drift"], split["step_drift"])):
        assert agrees(drift, row["second_term"])
        assert agrees(step_drift * alpha**3 * K / (15 * R**2 * L**4 * eta_g * C**3 * sigma_s**2), row["B"])
    step, server, _ = get("xie2024.thm1").requires  # (67) and (68)
    assert agrees(step.rhs.value(given), row["alpha_min"])
    assert agrees(server.rhs.value(given), row["eta_g_max"])

    # The project's bound, with the sub-centers' step at its largest; inf where its conditions fail.
    repaired = get("hflbounds.hga-repaired")
    own_step = numbers | {"eta_sub": C / alpha}
    letters = ("L", "R_sub", "M", "K_buf", "eta_g", "Gamma_max", "zeta_max", "eta_sub")
    reach, staleness, margin = second._repaired_conditions(**{n: as_mpf(own_step[n]) for n in letters})
    holds = reach <= 1 and staleness <= mpmath.mpf("0.5") and margin > 0
    assert holds is (row["repaired"] != "inf")
    assert repaired.applies(**given) is holds
    if holds:
        assert agrees(second.value("hflbounds.hga-repaired", **own_step), row["repaired"])
        assert agrees(repaired(**given), row["repaired"])


EARLY = [row for row in rows("unified_points.csv") if row["regime"] == "early"]


@pytest.mark.parametrize("row", EARLY, ids=lambda r: f"{r['point']}-{r['topology']}")
def test_early_version_table(row: dict[str, str]) -> None:
    topology = TOPOLOGIES[row["topology"]]
    numbers: dict[str, Any] = dict(SCENARIOS[row["point"]])
    numbers["eta_eff"] = 1 / (25 * numbers["L"])
    for label, column in {
        "thm1": "unit@eta_fix",
        "thm1-proof": "explicit@eta_fix",
        "cor1": "printed rate (cor.)",
    }.items():
        exact, found = both(f"zhou2025.{label}.{topology}", numbers)
        assert is_printed(as_mpf(exact), row[column])
        assert is_printed(found, row[column])


def test_tables_are_complete() -> None:
    tables = ("hhfl_points.csv", "hsl_points.csv", "baselines_points.csv", "hga_points.csv")
    assert [len(rows(name)) for name in tables] == [10, 10, 6, 10]
    assert len(EARLY) == 40
    assert set(TOPOLOGIES.values()) == set(all_topologies(2))


# ------------------------------------------------------------------------------------------ rigorous enclosures


def test_float64_values_lie_within_rigorous_enclosures() -> None:
    """Interval arithmetic on the catalogue's formula: the float is near it, the second encoding inside it."""

    def interval(number: Fraction) -> Any:
        return mpmath.iv.mpf(number.numerator) / number.denominator

    previous, mpmath.iv.prec = mpmath.iv.prec, 300
    try:
        looked_at = 0
        for bound in BOUNDS:
            for numbers in points(bound.id)[:1]:
                enclosure = evaluate(in_sympy(bound.expression), numbers, interval)
                wanted, size = expected(bound.id, numbers)
                scale = mpmath.iv.mpf(mpmath.nstr(size, 20))
                inside = mpmath.iv.mpf(mpmath.nstr(wanted, 55))
                assert (abs(enclosure - inside) <= scale * mpmath.iv.mpf("1e-48")) is True, bound.id
                found = mpmath.iv.mpf(float(bound(**admissible(bound, numbers))))
                assert (abs(enclosure - found) <= scale * mpmath.iv.mpf("1e-12")) is True, bound.id
                looked_at += 1
        assert looked_at == len(BOUNDS)
        assert math.isfinite(float(enclosure.mid))
    finally:
        mpmath.iv.prec = previous


# ------------------------------------------------------------------------------------------------ conditions


@pytest.mark.parametrize("name", [name for name in second.BOUND_IDS if catalogue()[name].requires])
def test_a_statement_applies_where_the_second_encoding_says_so(name: str) -> None:
    bound, rng = catalogue()[name], random.Random(f"conditions {name}")
    seen = {True: 0, False: 0}
    for drawn in range(200):
        if drawn >= 60 and min(seen.values()) >= 5:  # those that apply seldom, or nearly always, take more
            break
        point = second.point(name, rng)
        rest = {n: rng.uniform(0.1, 4) for n in bound.needs if n not in point}  # what only a condition speaks of
        numbers = second_conditions.shaken({**rest, **point}, rng)
        wanted = second_conditions.applies(name, numbers)
        assert bound.applies(**{n: numbers[n] for n in bound.needs}) == wanted, numbers
        seen[wanted] += 1
    assert min(seen.values()) >= 5, seen


@pytest.mark.parametrize("name", [name for name in second.BOUND_IDS if not catalogue()[name].requires])
def test_a_statement_without_conditions_applies_everywhere(name: str) -> None:
    numbers = {n: float(x) for n, x in second.point(name, random.Random(name)).items()}
    assert second_conditions.applies(name, numbers) is True
