"""The step size that makes a bound smallest, and the rounds a target takes at that step.

Every bound here is a positive combination of powers of ``eta_eff`` (the explicit constants ``1/(1 - x)``
are power series with positive coefficients), so its logarithm is convex in ``log(eta_eff)``: there is one
minimiser, and the slope changes sign once. Where the powers are -1, 1 and 2 the minimiser has a closed form;
elsewhere the slope is bracketed. Both run over arrays of scenarios.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hflbounds.core.bound import Bound
from hflbounds.core.evaluation import Value, bind, run
from hflbounds.core.expression import Expr, Relation, Symbol, add, cbrt, compile_along, compile_many, mul, power, sqrt
from hflbounds.core.quantities import A, L, R, aim, eta_eff
from hflbounds.errors import ConditionError, DomainError

Cap = Literal["own", "none", "common"] | float
Array = NDArray[np.float64]

STEEP = 1e30  # stands for the slope where a formula has left its range: "too large a step"
SMALLEST = 1e-290  # no step size below this is looked at
LONGEST = 1e300  # rounds; "however many"
FEW = 16  # so many numbers are solved for one by one, as floats take less time than short arrays


@dataclass(frozen=True, repr=False)
class Tuned:
    """A bound at its best step.

    Attributes:
        bound: which.
        eta_eff: effective learning rate; ``inf`` where any step is too small; None for a bound without step.
        eta: raw learning rate.
        value: of the bound there.
        cap_binds: whether the cap, and not the trade-off, decides the step.
    """

    bound: Bound
    values: Mapping[str, Any]
    eta_eff: Any
    eta: Any
    value: Any
    cap_binds: Any

    def __repr__(self) -> str:
        return f"<{self.bound.id} = {self.value} at eta_eff = {self.eta_eff}>"

    @cached_property
    def split(self) -> dict[str, Any]:
        """The value of each term at that step."""
        bound = self.bound.settle(self.values)
        terms = tuple(bound.terms.values())
        if self.eta_eff is None:
            return bound.split(**self.values)
        function = compile_many(bound.symbols, terms)[1]
        rest = bound.bind(self.values, (s.name for s in _but_step(bound)))
        numbers = [self.eta_eff if n == eta_eff.name else rest[n] for n in bound.needs]

        def block(*numbers: Any) -> Any:
            # At an infinite step only vanishing terms are left: 0 * inf is 0 here.
            return tuple(np.nan_to_num(term, nan=0.0, posinf=np.inf) for term in function(*numbers))

        if np.ndim(self.value):
            return dict(zip(bound.terms, run(block, numbers, len(terms)), strict=True))
        with np.errstate(all="ignore"):
            found = block(*map(np.float64, numbers))
        return dict(zip(bound.terms, map(float, found), strict=True))


def tune(bound: Bound, values: Mapping[str, Any], cap: Cap) -> Tuned:
    """See `Bound.tuned`."""
    named, bound = bound, bound.settle(values)
    numbers = list(bound.bind(values, (s.name for s in _but_step(bound))).values())
    limit = _cap_value(bound, values, cap)
    if eta_eff not in bound.symbols:
        return Tuned(named, dict(values), None, None, bound(**values), False)
    solve = _tuner(bound)
    step, value, binds = _over(solve, [*numbers, limit], 3)
    if not np.all((np.asarray(value) >= 0) & (np.asarray(step) > 0)):
        raise ConditionError(f"{bound.id}: at these values the tuned bound is beyond the range of float64")
    chain = bound.chain_length(**values)
    return Tuned(named, dict(values), step, step / chain, value, _as_bool(binds))


def rounds_to(bound: Bound, target: Any, values: Mapping[str, Any], cap: Cap) -> Any:
    """See `Bound.rounds_to`."""
    bound = bound.settle(values)
    goal = _target(bound, target)
    horizon = _horizon(bound)
    names = (s.name for s in _but_step(bound) if s is not horizon)
    numbers = list(bound.bind(values, names).values())
    limit = _cap_value(bound, values, cap)
    if bound.rounds is not None and not bound.free:
        solve = _rounds_in_closed_form(bound)
    elif eta_eff in bound.symbols and _linear_in_rounds(bound) is not None:
        solve = _rounds_by_step(bound)
    else:
        solve = _rounds_by_bracket(bound)
    estimate = _over(lambda *n: (solve(*n),), [*numbers, limit, goal], 1)[0]
    counted = _smallest_whole(bound, np.asarray(estimate), goal, values, cap)
    return counted if np.ndim(counted) else float(counted)


def why_unreachable(bound: Bound, target: float, values: Mapping[str, Any], cap: Cap) -> str | None:
    """See `Bound.why_unreachable`."""
    if math.isfinite(rounds_to(bound, target, values, cap)):
        return None
    horizon = _horizon(bound).name
    late, latest = (float(tune(bound, {**values, horizon: n}, cap).value) for n in (LONGEST / 1e50, LONGEST))
    if latest < 0.99 * late:
        return f"{bound.id} needs more than {LONGEST:g} rounds to fall to {target:.6g}"
    return f"{bound.id} does not fall below {latest:.6g} however many rounds are run, and the target is {target:.6g}"


def lemma_image(terms: Mapping[str, Expr]) -> dict[str, Expr]:
    """The rate that the tuning lemma makes of ``a/step + sum b step + sum q step**2`` under a cap ``1/L``.

    With ``step = min(1/(kappa L), sqrt(a/b_i), cbrt(a/q_j))`` over all terms, ``a/step`` is the largest of
    ``kappa L A/R``, ``sqrt(a b_i)`` and ``cbrt(a**2 q_j)``, so at most their sum; and ``b_i step`` and
    ``q_j step**2`` are at most ``sqrt(a b_i)`` and ``cbrt(a**2 q_j)``. Hence the minimum under the cap is at most
    ``max(2, kappa)`` times the sum of the images ``L A/R``, ``sqrt(a b_i)`` and ``cbrt(a**2 q_j)``.
    """
    gap = A / R
    image: dict[str, Expr] = {}
    for name, term in terms.items():
        split = term.factor_out(eta_eff)
        assert split is not None, f"{term} is not a power of the step times something"  # noqa: S101
        exponent, factor = split
        images = {-1: L * A / R, 1: sqrt(gap * factor), 2: cbrt(gap**2 * factor)}
        image[name] = images[int(exponent)]
    return image


def cubic(bound: Bound) -> tuple[Expr, Expr, Expr] | None:
    """``(a, b, q)`` where the bound is ``a/step + b step + q step**2``, else None."""
    sums: dict[Fraction, list[Expr]] = {Fraction(n): [] for n in (-1, 1, 2)}
    for term in bound.terms.values():
        split = term.factor_out(eta_eff)
        if split is None or split[0] not in sums:
            return None
        sums[split[0]].append(split[1])
    a, b, q = (add(*parts) for parts in sums.values())
    return a, b, q


def best_step(a: Any, b: Any, q: Any) -> Any:
    """The minimiser of ``a/step + b step + q step**2`` for ``a > 0``, elementwise; ``inf`` where b = q = 0.

    ``w = 1/step`` solves the depressed cubic ``w**3 - (b/a) w - 2 q/a = 0``. Written with sums of
    positive numbers only: near the change of branch the error of the root in ``s`` is squared away, because
    ``s + v**2/s`` is flat there.
    """
    v = np.sqrt(b / (3 * a))
    r = np.cbrt(q / a)
    drift = r >= v
    s = r * np.cbrt(1 + np.sqrt(np.maximum(0.0, 1 - (v / np.where(drift & (r > 0), r, np.inf)) ** 6)))
    by_drift = s + v * v / np.where(s > 0, s, 1.0)
    angle = np.arccos(np.minimum(1.0, (r / np.where(v > 0, v, np.inf)) ** 3)) / 3
    w = np.where(drift, by_drift, 2 * v * np.cos(angle))
    return 1 / w


def _horizon(bound: Bound) -> Symbol:
    if bound.horizon is None:
        raise TypeError(f"{bound.id} does not depend on how long is trained, so no number of rounds reaches a target")
    return bound.horizon


@cache
def _but_step(bound: Bound) -> tuple[Symbol, ...]:
    return tuple(s for s in bound.symbols if s is not eta_eff)


def _step_caps(bound: Bound) -> list[Relation]:
    return [c for c in bound.requires if c.lhs is eta_eff and c.op in ("<=", "<")]


def _cap_value(bound: Bound, values: Mapping[str, Any], cap: Cap) -> Value:
    """The largest step allowed, as a number or an array; ``inf`` for none."""
    if isinstance(cap, str) and cap not in ("own", "none", "common"):
        raise DomainError(f"cap must be 'own', 'none', 'common' or a number, not {cap!r}")
    # An explicit-constant formula means nothing beyond its own range, whatever cap is asked for.
    caps = [c.rhs for c in _step_caps(bound)] if cap == "own" or bound.constants == "explicit" else []
    if cap == "common" and bound.common_cap is not None:
        caps.append(bound.common_cap)
    numbers: list[Any] = [] if isinstance(cap, str) else [bind(bound.id, ("eta_eff",), {"eta_eff": cap})["eta_eff"]]
    for expr in caps:
        symbols = tuple(sorted(expr.symbols, key=str))
        given = bind(bound.id, (s.name for s in symbols), values)
        numbers.append(compile_many(symbols, (expr,))[1](*given.values())[0])
    lowest: Value = math.inf
    for number in numbers:
        lowest = np.minimum(lowest, number)
    return lowest if np.ndim(lowest) else float(lowest)


def _target(bound: Bound, target: Any) -> Value:
    goal = np.asarray(target, dtype=np.float64) if not isinstance(target, bool | str) else np.array(np.nan)
    if not np.all(np.isfinite(goal) & (goal > 0)):
        raise DomainError(f"{bound.id}: the target must be a finite number above 0, not {target!r}")
    return goal if goal.ndim else float(goal)


def _over(function: Callable[..., Any], arguments: list[Value], outputs: int) -> tuple[Any, ...]:
    """``function`` of 1-d blocks, over floats or broadcast arrays."""
    if any(np.ndim(a) for a in arguments):
        return run(lambda *blocks: function(*np.broadcast_arrays(*blocks)), arguments, outputs)
    with np.errstate(all="ignore"):
        return tuple(float(out[0]) for out in function(*(np.array([a]) for a in arguments)))


def _as_bool(binds: Any) -> Any:
    return np.asarray(binds).astype(bool) if np.ndim(binds) else bool(binds)


@cache
def _tuner(bound: Bound) -> Callable[..., tuple[Array, Array, Array]]:
    """A function of (rest..., cap) arrays of one shape that returns step, value and whether the cap binds."""
    rest = _but_step(bound)
    coefficients = cubic(bound)
    if coefficients is not None:
        formula = compile_many(rest, coefficients)[1]

        def closed(*numbers: Array) -> tuple[Array, Array, Array]:
            *values, cap = numbers
            a, b, q = formula(*values)
            free = best_step(a, b, q)
            step = np.minimum(free, cap)
            inner = np.where(np.isinf(step), 0.0, step)
            return step, a / step + b * inner + q * inner * inner, free > cap

        return closed

    expression = bound.expression
    rise = mul(eta_eff, expression.diff(eta_eff)) if bound.rise is None else bound.rise
    turn = _turn(bound, rest, (rise, expression), lambda rise, height: (rise / height, height > 0))
    value = compile_many(bound.symbols, (expression,))[1]

    def bracketed(*numbers: Array) -> tuple[Array, Array, Array]:
        *values, cap = numbers
        step, binds = turn(values, (), cap)
        given = iter(values)
        ordered = [step if s is eta_eff else next(given) for s in bound.symbols]
        return step, value(*ordered)[0] + np.zeros_like(step), binds

    return bracketed


def _turn(
    bound: Bound, given: tuple[Symbol, ...], pieces: tuple[Expr, ...], slope_of: Callable[..., Any]
) -> Callable[[Sequence[Array], Sequence[Array], Array], tuple[Array, Any]]:
    """As `sign_change`, for a slope along the step; `STEEP` where a condition of the bound fails.

    ``slope_of`` makes the slope, and whether there is one, of the values of ``pieces`` and of further numbers. The
    function found takes the values of ``given``, the further numbers and the cap.
    """
    sides = tuple(side for c in bound.requires for side in (c.lhs, c.rhs))
    of_one, of_many = compile_along(eta_eff, given, (*pieces, *sides))
    count = len(pieces)
    conditions = tuple(enumerate(bound.requires))

    def slope_of_many(values: Sequence[Any], further: Sequence[Any]) -> Callable[[Array], Array]:
        formula = of_many(*values)

        def slope(step: Array) -> Array:
            found = formula(step)
            rise, good = slope_of(*found[:count], *further)
            good &= np.isfinite(rise)
            for i, condition in conditions:
                good &= condition.holds(found[count + 2 * i], found[count + 2 * i + 1])
            return np.where(good, rise, STEEP)

        return slope

    def slope_of_one(values: Sequence[float], further: Sequence[float]) -> Callable[[float], float]:
        formula = of_one(*values)

        def slope(step: float) -> float:
            found = formula(step)
            rise, good = slope_of(*found[:count], *further)
            for i, condition in conditions:
                good = good and condition.ORDERS[condition.op](found[count + 2 * i], found[count + 2 * i + 1])
            return rise if good and math.isfinite(rise) else STEEP

        return slope

    def turn(values: Sequence[Array], further: Sequence[Array], cap: Array) -> tuple[Array, Any]:
        if cap.size <= FEW:  # floats raise where arrays go on
            with suppress(ArithmeticError, ValueError, TypeError):
                rows = zip(*(number.tolist() for number in (*values, *further, cap)), strict=True)
                found = [
                    _sign_change_of_one(slope_of_one(row[: len(values)], row[len(values) : -1]), row[-1])
                    for row in rows
                ]
                return np.array([step for step, _ in found]), np.array([binds for _, binds in found])
        return sign_change(slope_of_many(values, further), cap)

    return turn


def sign_change(slope: Callable[[Array], Array], cap: Array) -> tuple[Array, Any]:
    """Where an increasing slope passes zero below ``cap``, and whether it has not yet done so at the cap."""
    at_cap = slope(cap)
    binds = at_cap <= 0
    high, low = cap, np.where(binds, cap, cap / 4)
    for _ in range(60):
        rising = (slope(low) >= 0) & ~binds & (low > SMALLEST)
        if not rising.any():
            break
        high = np.where(rising, low, high)
        low = np.where(rising, np.maximum(low * (low / cap) ** 1.5, SMALLEST), low)
    log_step = _find_root(lambda x: slope(np.exp(x)), np.log(low), np.log(high))
    return np.where(binds, cap, np.exp(log_step)), binds


def _find_root(function: Callable[[Array], Array], low: Array, high: Array) -> Array:
    """Root of an increasing function between ``low`` and ``high``, elementwise.

    Chandrupatla's method (Advances in Engineering Software 28, 1997): inverse quadratic interpolation
    where it is safe, bisection elsewhere. ``scipy.optimize.elementwise`` has it too, at several times the
    import cost of this whole package.
    """
    a, b, c = high, low, high
    fa, fb = function(a), function(b)
    fc = fa
    t = np.full_like(a, 0.5)
    for _ in range(200):
        x = a + t * (b - a)
        fx = function(x)
        same = np.sign(fx) == np.sign(fa)
        c, fc = np.where(same, a, b), np.where(same, fa, fb)
        b, fb = np.where(same, b, a), np.where(same, fb, fa)
        a, fa = x, fx
        nearer = np.abs(fa) < np.abs(fb)
        best = np.where(nearer, a, b)
        tolerance = 1e-14 + 2e-16 * np.abs(best)  # of a logarithm: a relative error of its exponential
        room = tolerance / np.abs(b - c)
        if np.all((room > 0.5) | (np.where(nearer, fa, fb) == 0) | (b == c)):
            return best
        xi, phi = (a - b) / (c - b), (fa - fb) / (fc - fb)
        safe = (phi**2 < xi) & ((1 - phi) ** 2 < 1 - xi)
        ratio = fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
        t = np.clip(np.where(safe & np.isfinite(ratio), ratio, 0.5), np.minimum(room, 0.5), 1 - np.minimum(room, 0.5))
    return best


def _sign_change_of_one(slope: Callable[[float], float], cap: float) -> tuple[float, bool]:
    """As `sign_change`, for floats."""
    if slope(cap) <= 0:
        return cap, True
    high, low = cap, cap / 4
    for _ in range(60):
        if not (slope(low) >= 0 and low > SMALLEST):
            break
        high, low = low, max(low * (low / cap) ** 1.5, SMALLEST)
    return math.exp(_root_of_one(lambda x: slope(math.exp(x)), math.log(low), math.log(high))), False


def _root_of_one(function: Callable[[float], float], low: float, high: float) -> float:
    """As `_find_root`, for floats."""
    a, b, c = high, low, high
    fa, fb = function(a), function(b)
    fc, t = fa, 0.5
    for _ in range(200):
        x = a + t * (b - a)
        fx = function(x)
        if (fx > 0) - (fx < 0) == (fa > 0) - (fa < 0):
            c, fc = a, fa
        else:
            b, c, fb, fc = a, b, fa, fb
        a, fa = x, fx
        best, least = (a, fa) if abs(fa) < abs(fb) else (b, fb)
        width = abs(b - c)
        tolerance = 1e-14 + 2e-16 * abs(best)
        if least == 0 or 2 * tolerance > width:
            break
        t = 0.5
        if fb not in (fa, fc) and fa != fc:
            xi, phi = (a - b) / (c - b), (fa - fb) / (fc - fb)
            if phi * phi < xi and (1 - phi) * (1 - phi) < 1 - xi:
                t = fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
        room = min(tolerance / width, 0.5)
        t = min(max(t, room), 1 - room)
    return best


@cache
def _linear_in_rounds(bound: Bound) -> tuple[Expr, Expr] | None:
    """``(start, rest)`` where the bound is ``start/R + rest`` and neither contains R, else None."""
    start: list[Expr] = []
    rest: list[Expr] = []
    for term in bound.terms.values():
        split = term.factor_out(R)
        if split is None or split[0] not in (-1, 0):
            return None
        (start if split[0] == -1 else rest).append(split[1])
    return (add(*start), add(*rest)) if start else None


@cache
def _rounds_by_step(bound: Bound) -> Callable[..., Array]:
    """The real R at which the tuned bound meets the target, as a function of (rest..., cap, target).

    A step meets the target after ``R = start/(target - rest)`` rounds; the step that makes this smallest is
    found in closed form, or as the one sign change of its slope.
    """
    linear = _linear_in_rounds(bound)
    assert linear is not None  # noqa: S101 - the caller has looked
    start, rest = linear
    given = tuple(s for s in _but_step(bound) if s is not R)
    coefficients = cubic(bound)
    if coefficients is not None:
        a, b, q = coefficients
        per_round = a.factor_out(R)
        assert per_round is not None  # noqa: S101 - it is a single term in 1/R, see `linear`
        formula = compile_many(given, (per_round[1], b, q))[1]

        def closed(*numbers: Array) -> Array:
            *values, cap, target = numbers
            a, b, q = formula(*values)
            step = np.minimum(target / (b + np.sqrt(b * b + 3 * q * target)), cap)
            step = np.where(np.isinf(step), LONGEST, step)
            return np.asarray(a / (step * (target - b * step - q * step * step)))

        return closed

    def slope_of(s: Any, s_rise: Any, rest: Any, rest_rise: Any, target: Any) -> tuple[Any, Any]:
        left = target - rest
        return s_rise / s + rest_rise / left, (left > 0) & (s > 0)

    pieces = start, mul(eta_eff, start.diff(eta_eff)), rest, mul(eta_eff, rest.diff(eta_eff))
    turn = _turn(bound, given, pieces, slope_of)  # no condition speaks of R
    both = compile_many((eta_eff, *given), (start, rest))[1]

    def bracketed(*numbers: Array) -> Array:
        *values, cap, target = numbers
        s, rest = both(turn(values, [target], cap)[0], *values)
        left = target - rest
        return np.asarray(np.where(left > 0, s / left, np.inf))

    return bracketed


@cache
def _rounds_in_closed_form(bound: Bound) -> Callable[..., Array]:
    """As `_rounds_by_step`, where the bound itself says how many rounds a step needs."""
    assert bound.rounds is not None  # noqa: S101 - the caller has looked
    given = tuple(s for s in _but_step(bound) if s is not R)
    rate = power(bound.rounds, -1)  # which is smooth where it passes zero
    pieces = rate, mul(eta_eff, rate.diff(eta_eff))
    turn = _turn(bound, (*given, aim), pieces, lambda rate, rise: (-rise / rate, rate > 0))  # nor of R a condition
    at = compile_many((eta_eff, *given, aim), (rate,))[1]

    def bracketed(*numbers: Array) -> Array:
        *values, cap, target = numbers
        (rate,) = at(turn([*values, target], (), cap)[0], *values, target)
        return np.asarray(np.where(rate > 0, 1 / rate, np.inf))

    return bracketed


@cache
def _rounds_by_bracket(bound: Bound) -> Callable[..., Array]:
    """As `_rounds_by_step`, by bracketing the tuned bound itself, which falls as R grows."""
    rest = _but_step(bound)
    horizon = _horizon(bound)
    if eta_eff in bound.symbols:
        tuner = _tuner(bound)

        def value(rounds: Array, values: list[Array], cap: Array) -> Array:
            given = iter(values)
            return tuner(*(rounds if s is horizon else next(given) for s in rest), cap)[1]

    else:
        formula = compile_many(rest, (bound.expression,))[1]

        def value(rounds: Array, values: list[Array], cap: Array) -> Array:
            given = iter(values)
            return np.asarray(formula(*(rounds if s is horizon else next(given) for s in rest))[0])

    def bracketed(*numbers: Array) -> Array:
        *values, cap, target = numbers

        def excess(log_rounds: Array) -> Array:
            return np.log(target) - np.log(value(np.exp(log_rounds), values, cap))

        low, high = np.zeros_like(target), np.full_like(target, math.log(LONGEST))
        root = np.exp(_find_root(excess, low, high))
        return np.where(excess(low) >= 0, 1.0, np.where(excess(high) < 0, np.inf, root))

    return bracketed


def _smallest_whole(bound: Bound, estimate: Array, goal: Value, values: Mapping[str, Any], cap: Cap) -> Any:
    """The whole number next to ``estimate`` at which the tuned bound, as computed, first meets the target."""
    countable = estimate < 2.0**52
    count = np.maximum(1.0, np.ceil(np.where(countable, estimate, 1.0)))
    found = np.where(countable, count, np.where(estimate < LONGEST, estimate, np.inf))
    # Only where the estimate is next to a whole number could rounding have carried it across.
    gap = np.abs(count - np.where(countable, estimate, 0.5))
    unsure = countable & (np.minimum(gap, 1 - gap) <= 1e-9 * count) & (estimate >= 0.9)
    if not unsure.any():
        return found
    chosen = {
        name: np.broadcast_to(np.asarray(value, dtype=float), estimate.shape)[unsure] if np.ndim(value) else value
        for name, value in values.items()
    }
    target = np.broadcast_to(goal, estimate.shape)[unsure]
    limit: Any = cap if isinstance(cap, str) or not np.ndim(cap) else np.broadcast_to(cap, estimate.shape)[unsure]

    def meets(rounds: Array) -> Any:
        # A number stays a number: the last bit of a root may differ between Python's and numpy's.
        then = {**chosen, _horizon(bound).name: rounds if estimate.ndim else float(rounds[0])}
        return np.asarray(tune(bound, then, limit).value) <= target

    least = count[unsure]
    fewer = np.maximum(1.0, least - 1)
    found[unsure] = np.where(meets(fewer), fewer, np.where(meets(least), least, least + 1))
    return found
