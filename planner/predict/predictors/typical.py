"""What a topology typically needs: the exact mean squared gradient on quadratics that match a scenario.

Clients share a diagonal Hessian and differ in tilt: groups by ``delta``, the clients of a group by ``zeta``, at random
but for their means. A local step with rate ``eta`` maps a coordinate of curvature ``h`` to ``(1 - eta h) x - eta t``
plus noise. K steps, a star (a mean of maps), a ring (a chain of maps) and a global round are maps of the same kind,

    x -> a x + b + noise,

and what the tilts make of ``b`` needs only how each client is weighted in the round: by ``1/n`` in a star of n, by
``alpha^(n - i)`` in a ring. Draws without replacement from m tilts of mean 0 and mean square 1 have

    E (sum_i w_i t_i)^2 = (m sum w_i^2 - (sum w_i)^2) / (m - 1).

Where the order is fixed ``b`` is the same in every round; where orders or clients are drawn it is drawn anew. Either
way ``E x_r^2`` and its mean over rounds are geometric sums, so that there is nothing to run. The mean squared gradient
at a rate is linear in ``A L``, ``sigma^2``, ``zeta^2`` and ``delta^2``: four coefficients for each number of rounds and
each rate make a table for a fleet, and every question about its constants is a look at the lower envelope of the table.

It is a model and no bound: it says what happens on one kind of problem, not what cannot be exceeded on any. Two
things are chosen by what runs showed. The start is far out where the problem is flat, as it is in training; an order
found there does little harm where the problem is well conditioned, and not the other way round. And heterogeneity may
stay, as the theorems assume, or fade as the model learns, as on digits, where delta^2 falls several hundredfold: the
prediction is between the two, in logarithms, nearer to the second where loss or accuracy is what counts.

The rounds it predicts grow with sigma, zeta and delta and fall with the target, as those of a bound do. How well its
order agrees with runs on problems of other kinds is on record; see docs/predictors.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hflbounds.topology import Topology
from planner.predict.predictors.base import Predictor

if TYPE_CHECKING:
    from planner.predict.question import Question

Array = npt.NDArray[np.float64]
COUNTS = ("G", "M", "P", "K", "S1", "S2")
CURVATURES = np.geomspace(0.003, 1.0, 8)  # of the coordinates, over L
# Squared distances of the start, for A = 1: large where it is flat, as in training, where the squared gradient at the
# start is a small part of its bound 2 L A. Here it is 5 %; on digits it is 2 %.
START = CURVATURES**-1.5 * 2 / (CURVATURES**-0.5).sum()
ROUNDS = 1.5 ** np.arange(87)  # 1 to 1.4e15; between them logarithms are interpolated
RATES = 100 * 1.17 ** -np.arange(125.0)[::-1]  # effective, times L: 3.5e-7 to 100
FADED = np.array([1.0, 1.0, 0.01, 0.01])  # what is left of the four units where heterogeneity fades
FADES = {"gradient": 0.5, "loss": 1.0, "accuracy": 1.0}  # how far between staying and fading, by what counts
HARDLY = 1e-5  # of the way to where a coordinate is drawn: below that a run has hardly moved
CONSTANTS = ("L", "A", "sigma", "zeta", "delta")


@dataclass(frozen=True, slots=True)
class Fleet:
    """What decides how a round maps the model, apart from the learning rate.

    Attributes:
        topology: top tier first.
        counts: G, M, P, K, S1, S2.
        order: of rings, ``fixed`` or ``random``; who is drawn runs in the order drawn.
        fade: how far, in logarithms, from heterogeneity that stays to heterogeneity that fades.
    """

    topology: str
    counts: tuple[int, ...]
    order: str
    fade: float = 0.0


@lru_cache(maxsize=1 << 15)
def row(fleet: Fleet, number: int) -> Array:
    """The mean squared gradient over the iterates 0 to R - 1, R the so manieth of `ROUNDS`, as coefficients.

    Returns:
        of A L, sigma^2, zeta^2 and delta^2, at a rate of 0 and those of `RATES` at which runs do not diverge: shape
        (4, rates).
    """
    still = np.array([[CURVATURES**2 @ START], [0.0], [0.0], [0.0]])
    return np.hstack([still, coefficients(fleet, float(ROUNDS[number]))])


def coefficients(fleet: Fleet, rounds: float) -> Array:
    """The coefficients of `row` for any number of rounds, at all rates of `RATES` at which runs do not diverge."""
    R = rounds
    a, log_a, apart, inside, noise = _maps(fleet)
    with np.errstate(all="ignore"):
        left = np.where(a > 0, -np.expm1(log_a), 1 - a)  # 1 - a, also where a rounds to 1
        left2 = -np.expm1(2 * log_a)
        twice = -np.expm1(2 * R * log_a) / left2
        moving = (R - twice) / left2
        if fleet.order == "fixed" and fleet.counts[4:] == fleet.counts[:2]:
            # With a < 0 the iterates alternate, and of the first only its square's part is left after R rounds.
            once = np.where(a > 0, -np.expm1(R * log_a), 1.0) / left
            moved = np.where(R * left < HARDLY, R * (R - 1) * (2 * R - 1) / 6, (R - 2 * once + twice) / left**2)
        else:
            moved = moving
        parts = np.stack((START * twice, noise * moving, inside * moved, apart * moved))
    return np.asarray(np.maximum((CURVATURES**2 / R * parts).sum(-1), 0.0))


def _rates(fleet: Fleet) -> Array:
    """Effective rates times L at which runs do not diverge."""
    return RATES[: len(_maps(fleet)[0])]


@lru_cache(maxsize=1 << 12)
def _maps(fleet: Fleet) -> tuple[Array, ...]:
    """As `_round`, of the rates at which runs do not diverge: all those below the first at which they do."""
    whole = _round(fleet, RATES[:, None])
    diverged = np.flatnonzero((~(whole[1] < 0)).any(1))
    return tuple(part[: diverged[0] if len(diverged) else None] for part in whole)


def _round(fleet: Fleet, rates: Array) -> tuple[Array, Array, Array, Array, Array]:
    """Of a global round, for rates of shape (rates, 1), coordinate by coordinate.

    Returns:
        ``a``; the log of its size; and what one unit of delta^2, of zeta^2 and of sigma^2 adds to the mean square of
        ``b`` and of the noise; each of shape (rates, coordinates).
    """
    top, low = (one.ordered for one in Topology.of(fleet.topology).patterns)
    G, M, P, K, S1, S2 = fleet.counts
    eta = rates / (P * K * (S1 if top else 1) * (S2 if low else 1))
    size = eta * eta / len(CURVATURES)
    with np.errstate(all="ignore"):
        step = eta * CURVATURES
        log_size = np.where(step < 1, np.log1p(-np.minimum(step, 1)), np.log(np.abs(1 - step)))
        a, log_size, local, noise = _powers(1 - step, log_size, K)
        low_sum, low_squares, top_sum, top_squares = np.ones(1), np.full(1, 1 / S2), np.ones(1), np.full(1, 1 / S1)
        if low:
            a, log_size, low_sum, low_squares = _powers(a, log_size, S2)
        a, log_size, again, again_squares = _powers(a, log_size, P)
        if top:
            a, log_size, top_sum, top_squares = _powers(a, log_size, S1)
        moved = size * (local * again) ** 2
        apart = moved * low_sum**2 * _drawn(top_sum, top_squares, G)
        inside = moved * top_squares * _drawn(low_sum, low_squares, M)
        noise = size * noise * low_squares * again_squares * top_squares
    return a, log_size, apart, inside, noise


def _powers(base: Array, log_size: Array, times: int) -> tuple[Array, Array, Array, Array]:
    """``base^times``, the log of its size, the sum of the lower powers, and the sum of their squares."""
    size = np.exp(times * log_size)
    odd = (base < 0) & (times % 2 == 1)
    one_less_power = np.where(odd, 1 + size, -np.expm1(times * log_size))
    one_less_base = np.where(base < 0, 1 - base, -np.expm1(log_size))
    total = one_less_power / one_less_base
    squares = np.expm1(2 * times * log_size) / np.expm1(2 * log_size)
    return np.where(odd, -size, size), times * log_size, total, squares


def _drawn(total: Array, squares: Array, whole: int) -> Array:
    """``E (sum w t)^2`` for tilts of mean 0 and mean square 1 drawn without replacement from ``whole``."""
    return np.maximum(whole * squares - total**2, 0.0) / (whole - 1) if whole > 1 else np.zeros_like(squares)


def _units(constants: Mapping[str, Any], *others: Any) -> tuple[Array, ...]:
    """What the coefficients multiply, shape (n, 4); other arguments, shape (n,); and the shape they all have."""
    told = [np.asarray(constants[name], dtype=float) for name in CONSTANTS]
    *told, last = np.broadcast_arrays(*told, *(np.asarray(other, dtype=float) for other in others))
    L, A, sigma, zeta, delta = told
    return np.stack((L * A, sigma**2, zeta**2, delta**2), -1).reshape(-1, 4), last.reshape(-1), np.array(last.shape)


def _heights(fleet: Fleet, units: Array, rows: npt.NDArray[np.intp]) -> Array:
    """The log of the mean squared gradient at the best rate, for each its row."""
    out = np.empty(len(units))
    for number in np.unique(rows):
        mine = rows == number
        found = row(fleet, int(number))
        stays, fades = (np.log((part @ found).min(-1)) for part in (units[mine], units[mine] * FADED))
        out[mine] = stays + fleet.fade * (fades - stays)
    return out


def reached(fleet: Fleet, rounds: Any, constants: Mapping[str, Any]) -> Array:
    """The mean squared gradient at the best effective rate.

    Args:
        fleet: who takes part, and how.
        rounds: at least 1.
        constants: L, A, sigma, zeta, delta; with the rounds they broadcast.
    """
    units, wanted, shape = _units(constants, rounds)
    place = np.clip(np.log(np.maximum(wanted, 1.0)) / np.log(ROUNDS[1]), 0, len(ROUNDS) - 1)
    left = np.minimum(place.astype(np.intp), len(ROUNDS) - 2)
    above, under = _heights(fleet, units, left), _heights(fleet, units, left + 1)
    return np.asarray(np.exp(above + (place - left) * (under - above)).reshape(shape))


def best_rate(fleet: Fleet, rounds: float, constants: Mapping[str, float]) -> float:
    """The effective rate at which the mean squared gradient is smallest, to a grid of 17 %.

    Of one round that mean has the start alone, which no rate moves; then it is the rate for two.
    """
    units, _, _ = _units(constants, rounds)
    return float(_rates(fleet)[int((units @ coefficients(fleet, max(rounds, 2.0))).argmin())] / constants["L"])


def rounds_to(fleet: Fleet, target: Any, constants: Mapping[str, Any]) -> Array:
    """Rounds, not rounded, until the mean squared gradient at the best rate meets a target; ``inf`` beyond `ROUNDS`.

    Args:
        fleet: who takes part, and how.
        target: squared gradient norms.
        constants: L, A, sigma, zeta, delta; with the target they broadcast.
    """
    units, goals, shape = _units(constants, target)
    with np.errstate(divide="ignore"):
        goals = np.log(goals)
    # The envelope falls with the rounds: bisect for the first row that is below, then interpolate its logarithm.
    low, high = np.full(len(goals), -1), np.full(len(goals), len(ROUNDS))
    while np.any(open_ := high - low > 1):
        middle = np.clip((low + high) // 2, 0, len(ROUNDS) - 1)
        below = _heights(fleet, units, middle) <= goals
        high, low = np.where(open_ & below, middle, high), np.where(open_ & ~below, middle, low)
    right = np.clip(high, 1, len(ROUNDS) - 1)
    above, under = _heights(fleet, units, right - 1), _heights(fleet, units, right)
    with np.errstate(invalid="ignore"):
        share = np.clip((above - goals) / np.where(above > under, above - under, 1.0), 0.0, 1.0)
    found = ROUNDS[right - 1] * ROUNDS[1] ** share
    return np.where(high == len(ROUNDS), np.inf, np.where(high == 0, 1.0, found)).reshape(shape)


class _Typical(Predictor):
    id = "typical"
    says = "that a typical problem with these constants takes"
    metrics = tuple(FADES)
    monotone = True
    has_record = True

    def start(self, values: Mapping[str, Any]) -> Any:
        return float((CURVATURES**2 * START).sum()) * values["L"] * values["A"]

    def reached(self, question: Question, topology: str, rounds: Any, values: Mapping[str, Any]) -> Any:
        return _of_each_fleet(reached, topology, question, rounds, values)

    def rounds_to(self, question: Question, topology: str, target: Any, values: Mapping[str, Any]) -> Any:
        return _of_each_fleet(rounds_to, topology, question, target, values)

    def rate(self, question: Question, topology: str, rounds: float) -> float | None:
        return best_rate(fleet(question, topology, question.values), rounds, question.values)


def fleet(question: Question, topology: str, values: Mapping[str, Any]) -> Fleet:
    """Who takes part where the values of a question have these counts."""
    return Fleet(topology, tuple(int(values[name]) for name in COUNTS), question.order, FADES[question.metric])


def _of_each_fleet(
    ask: Callable[[Fleet, Any, Mapping[str, Any]], Array],
    topology: str,
    question: Question,
    wanted: Any,
    values: Mapping[str, Any],
) -> Any:
    """Ask for every set of counts once, with all the constants that go with it."""
    if all(np.ndim(values[name]) == 0 for name in COUNTS):
        return ask(fleet(question, topology, values), wanted, values)[()]
    names = (*COUNTS, *CONSTANTS)
    told = np.broadcast_arrays(*(np.asarray(values[name], dtype=float) for name in names), np.asarray(wanted, float))
    flat = np.stack([part.ravel() for part in told])
    counted, which = np.unique(flat[: len(COUNTS)], axis=1, return_inverse=True)
    out = np.empty(flat.shape[1])
    for number, counts in enumerate(counted.T):
        mine = which.ravel() == number
        constants = dict(zip(CONSTANTS, flat[len(COUNTS) : -1, mine], strict=True))
        here = fleet(question, topology, dict(zip(COUNTS, counts, strict=True)))
        out[mine] = ask(here, flat[-1, mine], constants)
    return out.reshape(told[0].shape)


PREDICTOR = _Typical()
