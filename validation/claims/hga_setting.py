"""What the claims about asynchronous servers share: two settings, constants of sub-centers, and what bounds say.

In the tuned setting sub-centers run FedDyn as HGA-FL does, the rate of local steps is given, and the server's rate is
tuned for each algorithm. In the other, rounds of sub-centers are plain gradient steps, as the analysis of xie2024 has
them, nothing is tuned, and the steps are those at which Theorem 1 of xie2024 is smallest.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cache

import numpy as np

from hflbounds import get
from hflbounds.catalog import xie2024
from validation.algorithms.asynchronous import Asynchronous
from validation.claims import Row, Size
from validation.engine import ValidationError
from validation.experiment import Cell, Part, Scalar, make_algorithm, make_problem, part
from validation.problems.controlled import Controlled, spread_of
from validation.statistics import Prediction
from validation.tuning import Protocol

THEOREM, REPAIRED = "xie2024.thm1", "hflbounds.hga-repaired"
STEPS = range(24)  # halvings of the largest steps that are looked through


def gaps(problem: Controlled, M: int) -> tuple[float, ...]:
    """sigma_{g,j} of M sub-centers that share the clients in their order.

    Returns:
        for each, the largest distance of its gradient from the mean gradient, each at its own worst point.
    """
    a, v = (part.reshape(M, -1, part.shape[-1]).mean(1) for part in (problem.a, problem.v))
    a, v = a - a.mean(0), v - v.mean(0)
    return tuple(math.sqrt(spread_of(a[j, None, None], v[j, None, None])) for j in range(M))


def scenario(problem: Part, algorithm: Part, seeds: Iterable[int], steps: int) -> dict[str, float]:
    """What the bounds on HGA-FL need but step sizes: exact constants, and delays as they are on these seeds.

    ``sigma_g`` is one constant for all sub-centers, as (43) of xie2024 has it; ``sigma_g_mean``, the root of the mean
    of their squares, is enough for hflbounds.hga-repaired.

    Raises:
        ValidationError: if the problem's constants are not known, or the algorithm is not an asynchronous one.
    """
    made, how = make_problem(problem), make_algorithm(algorithm)
    if not isinstance(made, Controlled) or not isinstance(how, Asynchronous):
        raise ValidationError(f"{problem.name} with {algorithm.name}: a controlled problem and an asynchronous server.")
    constants = made.constants
    each = gaps(made, how.M)
    latest, oldest = _delays(how, tuple(seeds) if how.jitter else (0,), steps)
    return {
        "L": constants["L"],
        "A": constants["A"],
        "R_sub": how.R_sub,
        "M": how.M,
        "K_buf": how.buffer,
        "T": steps,
        "Gamma_max": latest,
        "zeta_max": oldest,
        "sigma_s": constants["sigma"] / math.sqrt(how.N),
        "sigma_g": max(each),
        "sigma_g_mean": math.sqrt(sum(gap**2 for gap in each) / how.M),
    }


@cache
def _delays(how: Asynchronous, seeds: tuple[int, ...], steps: int) -> tuple[float, float]:
    """The most steps that an update of these runs, and of one in the cache, is late."""
    seen = [how.schedule(seed, steps) for seed in seeds]
    return max(one.Gamma_max for one in seen), max(one.zeta_max for one in seen)


def value(name: str, known: Mapping[str, float], steps: Mapping[str, float]) -> float:
    """Of ``xie2024.thm1`` or ``hflbounds.hga-repaired``; infinite where its conditions do not allow these steps."""
    told, bound = {**_told(name, known), **steps}, get(name)
    return float(bound(**told)) if bound.applies(**told) else math.inf


def _told(name: str, known: Mapping[str, float]) -> dict[str, float]:
    """What is known, with the ``sigma_g`` that this bound has."""
    told = dict(known)
    mean = told.pop("sigma_g_mean")
    return told | {"sigma_g": mean} if name == REPAIRED else told


def best(name: str, known: Mapping[str, float]) -> tuple[float, dict[str, float]]:
    """The smallest value among steps that the conditions allow, and the steps.

    Raises:
        ValidationError: if no steps are allowed.
    """
    if name == THEOREM:
        alpha, eta_g, least = (relation.rhs.value(known) for relation in get(name).requires)
        tried = [{"alpha_dyn": max(alpha, least) * 2**i, "eta_g": eta_g / 2**k} for i in STEPS for k in STEPS]
    else:
        M, K, L, R = (known[n] for n in ("M", "K_buf", "L", "R_sub"))
        zeta, gamma = known["zeta_max"], known["Gamma_max"]
        rate = 1 / (R * L * math.sqrt(360 * (2 * M / K + zeta + 1)))
        moved = 1 / (L * (1 + zeta) + 5 * L * math.sqrt(2 * gamma**2 + zeta**2))
        tried = [
            {"eta_sub": rate / 2 ** (i / 2), "eta_g": moved / 2 ** (k / 2) / (R * rate / 2 ** (i / 2))}
            for i in range(1, len(STEPS))
            for k in STEPS
        ]
    told, bound = _told(name, known), get(name)
    steps = {key: np.array([one[key] for one in tried]) for key in tried[0]}
    allowed = np.flatnonzero(bound.applies(**told, **steps))
    if not allowed.size:
        raise ValidationError(f"{name} allows no steps here.")
    values = bound(**told, **{key: column[allowed] for key, column in steps.items()})
    chosen = tried[allowed[values.argmin()]]
    return value(name, known, chosen), chosen


def predicted(better: Mapping[str, float], worse: Mapping[str, float]) -> Prediction:
    """What Theorem 1 of xie2024 says of the ratio of two settings, each at its best steps."""
    return "not larger" if best(THEOREM, better)[0] <= best(THEOREM, worse)[0] * (1 + 1e-9) else "larger"


def noted(rows: Sequence[Row]) -> str:
    """In how many rows a claim holds, and where it fails."""
    failed = [f"{row.compared} at {row.setting}" for row in rows if row.verdict == "fails"]
    held = sum(row.verdict == "holds" for row in rows)
    note = f"Holds in {held} and fails in {len(failed)} of {len(rows)} comparisons"
    return f"{note}; fails for {'; '.join(failed)}." if failed else f"{note}."


# ------------------------------------------------------------------------------------------- the tuned setting

QUANTITY = (
    "mean squared gradient over 200 global steps (quick: 100), the left-hand side of the theorem; server's rate tuned"
)
SUB_CENTERS = {"M": 8, "N": 6}
PROBLEMS: Mapping[Size, tuple[int, ...]] = {"quick": (1, 2), "full": (1, 2, 3)}  # seeds of problems


def clients(seed: int) -> Part:
    """48 clients of 8 sub-centers; which of them are fast is as random as they are."""
    return part("controlled", G=8, M=6, sigma=1.0, zeta=0.5, delta=1.0, A=5.0, seed=seed)


def protocol(size: Size) -> Protocol:
    """T = 200 global steps as in Appendix G, or 100; the left-hand side of the theorems."""
    return Protocol(
        quantity="gradient",
        averaged=True,
        rounds=100 if size == "quick" else 200,
        start=0.25,
        tuning=tuple(range(1000, 1004 if size == "quick" else 1006)),
        scoring=tuple(range(8 if size == "quick" else 24)),
        reach=2,
    )


def hga(size: Size, name: str = "hga-fl", /, **options: Scalar) -> Part:
    """A server over sub-centers with FedDyn, alpha = 2 and two local steps; R = 8 rounds as in Appendix G, or 2."""
    told: dict[str, Scalar] = {"below": "dyn", "alpha": 2.0, "R_sub": 2 if size == "quick" else 8, "E": 2, "eta": 0.1}
    return part(name, **{**told, **SUB_CENTERS, **options})


# ------------------------------------------------------------------------------------- the setting of the theorem

PAIR = part("controlled", G=2, M=1, sigma=0.1, delta=1.0, A=0.05, seed=1)
SEEDS = tuple(range(4))


def ratios(size: Size) -> tuple[float, ...]:
    """How many times as fast the first sub-center is as the second; equal speeds first."""
    return (1.0, 3.0) if size == "quick" else (1.0, 3.0, 10.0)


def horizons(size: Size) -> tuple[int, int]:
    """Global steps of a short and of a long run."""
    return (1000, 4000) if size == "quick" else (4000, 16000)


def theorem(
    above: str, ratio: float, steps: int, below: str = "avg"
) -> tuple[Cell, dict[str, float], dict[str, float]]:
    """Runs of two sub-centers with a buffer of one, at the steps where Theorem 1 is smallest.

    With ``avg`` a round is a gradient step at the rate eta_hat; with ``dyn`` it is one of FedDyn, whose client
    minimises in two steps, to about the square of L/alpha.

    Returns:
        the cell; what the bounds need; the steps.
    """
    shape: dict[str, Scalar] = {"M": 2, "N": 1, "K_buf": 1, "below": "avg", "speed_ratio": ratio}
    known = scenario(PAIR, part("hga-fl", **shape), SEEDS, steps)
    _, chosen = best(THEOREM, known)
    rate = xie2024.eta_hat.value(known | chosen)
    if below == "dyn":
        shape |= {"below": below, "alpha": chosen["alpha_dyn"], "E": 2}
        rate = 1 / (chosen["alpha_dyn"] + known["L"])
    cell = Cell(
        PAIR, part(above, **shape, eta=rate), (chosen["eta_g"],) * len(SEEDS), SEEDS, steps, (steps,), every_round=True
    )
    return cell, known, chosen
