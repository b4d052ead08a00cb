"""Checks that every bound of the catalogue must pass; each function checks one fact.

A check returns how many facts it looked at; a check that found nothing to look at has failed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from hflbounds.core.bound import Bound, Erratum
from hflbounds.core.expression import Choice, DimensionError, Expr, Relation, Symbol, compile_many
from hflbounds.core.metrics import MEAN_SQUARED_GRADIENT
from hflbounds.core.quantities import ABOUT, eta, eta_eff, eta_g, eta_sub, lam
from hflbounds.errors import HflBoundsError
from hflbounds.evaluate.gap import lower_bounds

Points = dict[str, Any]  # by name, arrays of one length
RTOL = 1e-9  # some tens of float64 operations; a wrong constant is never this close
GRID = {f"{top}-{low}" for top in ("star", "ring") for low in ("star", "ring")}  # whose identities are below
DIMENSIONS = {name: about.dim for name, about in ABOUT.items()}


class AuditError(HflBoundsError, AssertionError):
    """A bound, or a family, fails a check."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """One check of one bound, erratum or family.

    Attributes:
        subject: its id.
        check: name of the check.
        facts: how many facts were looked at; 0 where it failed.
        failure: why it failed, or None.
    """

    subject: str
    check: str
    facts: int
    failure: str | None


def audit(bounds: Iterable[Bound], with_errata: bool = True) -> Iterator[Verdict]:
    """Every check on every bound, its errata, and every family found, one verdict at a time."""
    bounds = tuple(bounds)
    families: dict[str, dict[str, Bound]] = {}
    seen: set[str] = set()
    for bound in bounds:
        families.setdefault(bound.family, {})[bound.topology or ""] = bound
        for check in checks_of(bound):
            yield _verdict(bound.id, check, bound, bound.breaks.get(_name(check)))
        for erratum in (e for e in bound.errata if with_errata and e.id not in seen):
            seen.add(erratum.id)
            yield _verdict(erratum.id, check_erratum, erratum)
    # What the four topologies owe each other; bounds of other algorithms have no such relatives.
    for name, family in ((n, f) for n, f in families.items() if f.keys() >= GRID):
        for identity in identities_of(family):
            broken = (bound.breaks.get(_name(identity)) for bound in family.values())
            yield _verdict(name, identity, family, next(filter(None, broken), None))
    for bound in bounds:
        for lower in lower_bounds(bound, bounds):
            yield _verdict(bound.id, check_above, (bound, lower))
    for name in (n for n in families if n.endswith(("thm1", "shuffle")) and _with_poles(families.get(f"{n}-proof"))):
        yield _verdict(name, check_cap_is_the_pole_of_the_proof, (families[name], families[f"{name}-proof"]))


def _verdict(subject: str, check: Callable[[Any], int], what: Any, broken: str | None = None) -> Verdict:
    name = _name(check)
    try:
        facts = check(what)
        if not facts:
            raise AuditError("there was nothing to check")
    except (AuditError, DimensionError) as failure:
        return Verdict(subject, name, 1, None) if broken else Verdict(subject, name, 0, str(failure))
    if broken:
        return Verdict(subject, name, 0, f"passes, although {broken} says that what is printed cannot")
    return Verdict(subject, name, facts, None)


def _name(check: Callable[[Any], int]) -> str:
    return check.__name__.removeprefix("check_")


def draw(bound: Bound, count: int = 120, seed: int = 0) -> Points:
    """Points at which the theorem applies, half inside the typical ranges and half at their corners.

    Raises:
        AuditError: if the conditions hold almost nowhere, so that the theorem would be vacuous.
    """
    return dict(_drawn(bound, count, seed))


@lru_cache(maxsize=1024)  # every check of a bound looks at the same points, as do those of what it is held to
def _drawn(bound: Bound, count: int, seed: int) -> Points:
    rng = np.random.default_rng(seed)
    tried = 30 * count
    points: Points = {}
    for name in bound.needs:
        low, high = np.log(ABOUT[name].typical)
        inside, corner = rng.uniform(low, high, tried), rng.choice((low, high), tried)
        values = np.exp(np.where(np.arange(tried) % 2, inside, corner))
        points[name] = values.round() if ABOUT[name].domain in ("count", "whole") else values
    points = _within_limits(points)
    found = np.flatnonzero(bound.applies(**points) & np.ones(tried, bool))[:count]
    if len(found) < count:
        raise AuditError(f"the conditions hold at {len(found)} of {tried} typical points: is the bound vacuous?")
    kept = {name: values[found] for name, values in points.items()}
    for values in kept.values():
        values.flags.writeable = False
    return kept


def _within_limits(points: Points) -> Points:
    """Points at which no quantity exceeds another that it may not."""
    limits = {name: limit for name in points if (limit := ABOUT[name].at_most) is not None and limit in points}
    return points | {name: np.minimum(points[name], points[limit]) for name, limit in limits.items()}


def check_positive(bound: Bound) -> int:
    """Every term is finite and positive for positive constants; zero at few points, where two counts meet."""
    for name, value in bound.split(**draw(bound)).items():
        _require(np.isfinite(value) & (value >= 0), f"{name} is not positive and finite")
        _require(np.mean(value > 0) > 0.5, f"{name} is zero almost everywhere")
    return len(bound.terms)


def check_units(bound: Bound) -> int:
    """Every term has the dimension of what is bounded, and a condition compares like with like."""
    wanted = _fractions(bound.bounds.dim)
    for name, term in bound.terms.items():
        found = term.dimension(DIMENSIONS)
        if found != wanted:
            raise AuditError(f"{name} has the dimension {_plain(found)} in (loss, length), not {_plain(wanted)}")
    for condition in bound.requires:
        sides = condition.lhs.dimension(DIMENSIONS), condition.rhs.dimension(DIMENSIONS)
        if sides[0] != sides[1]:
            raise AuditError(f"{condition} compares {_plain(sides[0])} with {_plain(sides[1])} in (loss, length)")
    return len(bound.terms) + len(bound.requires)


def check_monotone(bound: Bound) -> int:
    """``grows_with`` and ``shrinks_with`` hold, at points a small step apart."""
    points = draw(bound)
    here = _total(bound, points)
    for symbols, sign in ((bound.grows_with, 1), (bound.shrinks_with, -1)):
        for symbol in symbols:
            whole = ABOUT[symbol.name].domain in ("count", "whole")
            moved = {**points, symbol.name: points[symbol.name] + 1 if whole else points[symbol.name] * 1.001}
            if ABOUT[symbol.name].domain == "share":
                moved[symbol.name] = np.minimum(moved[symbol.name], 1)
            limits = [(n, m) for n in points if (m := ABOUT[n].at_most) is not None and m in points]
            fits = np.logical_and.reduce([moved[n] <= moved[limit] for n, limit in limits] or [np.array(True)])
            moved[symbol.name] = np.where(fits, moved[symbol.name], points[symbol.name])
            still = bound.applies(**moved) & fits
            there = _total(bound, moved)
            wrong = still & (sign * (there - here) < -RTOL * np.abs(here))
            _require(~wrong, f"does not {'grow' if sign > 0 else 'shrink'} with {symbol.name}")
            _require(np.any(still), f"no point is left to move {symbol.name} at")
    return len(bound.grows_with) + len(bound.shrinks_with)


def check_above(pair: tuple[Bound, Bound]) -> int:
    """No bound promises less than a lower bound of the same algorithm on the same problems, at any step or tuned."""
    upper, lower = pair
    points = draw(upper) | draw(lower)
    both = upper.applies(**points) & lower.applies(**points)
    _require(np.any(both), f"never applies where {lower.id} does")
    points = {n: v[both] for n, v in points.items()}
    above, below = (bound(**points) for bound in (upper, lower))
    _require(above >= below * (1 - RTOL), f"is below {lower.id}")
    return int(both.sum())


def check_vanishes(bound: Bound) -> int:
    """With more and more rounds the tuned bound goes to zero: no floor that its terms do not name."""
    points = draw(bound, 20)
    horizon = _horizon(bound)
    rest = {n: v for n, v in points.items() if n not in (horizon, eta_eff.name)}
    values = bound.tuned(**rest | {horizon: np.array([[1e9], [1e15], [1e21]])}).value
    for earlier, later in pairwise(values):
        _require(later < 0.01 * earlier, f"does not vanish as {horizon} grows")
    return 2


def check_range(bound: Bound) -> int:
    """Smaller steps stay allowed; and explicit constants are positive up to the limit and not beyond."""
    points = draw(bound)
    if eta_eff.name not in points:  # the step is chosen: the value must be that of a bound without conditions
        if bound.requires:
            raise AuditError("has conditions but no step size")
        return 1
    _require(bound.applies(**{**points, "eta_eff": points["eta_eff"] / 7}), "a smaller step is refused")
    far = 1e3 * bound.chain_length(**points) / points["L"]  # effective: a raw step of 1000/L
    _require(~bound.applies(**{**points, "eta_eff": far}), "no step is too large")
    if bound.constants == "hidden" or not _has_poles(bound):
        return 2
    low, high = np.zeros(len(points["L"])), 1e3 / points["L"]
    for _ in range(60):
        middle = (low + high) / 2
        good = _apply(bound.requires, {**points, "eta_eff": np.maximum(middle, 1e-300)})
        low, high = np.where(good, middle, low), np.where(good, high, middle)
    just_inside = _total(bound, {**points, "eta_eff": low * (1 - 1e-7)})
    inside = _total(bound, {**points, "eta_eff": low / 2})
    end = {**points, "eta_eff": high * (1 + 1e-7)}
    with np.errstate(all="ignore"):
        beyond = bound.compiled[1](*(end[n] for n in bound.needs))[0]
    # With a free letter the constants may be finite where a cap that is meant for the best letter ends the range.
    capped = np.full(len(low), bool(bound.free)) & _apply((c for c in bound.requires if c.lhs is not eta_eff), end)
    _require(capped | (just_inside > 1e4 * inside), "the range ends before the constants do")
    _require(capped | (beyond < 0), "the range ends after the constants do")
    _require(np.mean(capped) < 0.5, "a cap ends the range almost everywhere")
    return 4


def _apply(conditions: Iterable[Relation], points: Points) -> Any:
    """Where all of some conditions hold."""
    truth = np.ones(len(next(iter(points.values()))), bool)
    for condition in conditions:
        truth &= condition.holds(_at(condition.lhs, points), _at(condition.rhs, points))
    return truth


def check_numbers(bound: Bound) -> int:
    """Hidden constants are all 1, as printed; explicit ones tend to 2 on the first term for small steps.

    Where explicit constants do not depend on the step, they are at least what the others tend to. With a free weight
    on the drift, the first term tends to 2 over what the weight leaves of 2.
    """
    if bound.constants == "hidden":
        for name, term in bound.terms.items():
            split = term.monomial()
            if split is None or split[0] != 1:
                raise AuditError(f"{name} carries a pure number, and its constants are hidden: {term}")
        return len(bound.terms)
    points = draw(bound)
    points["eta_eff"] = 1e-9 / points["L"]
    start = bound.split(**points)["start"] * points["eta_eff"] * points["R"] / points["A"]
    start = start * (2 - points["lam"]) if lam in bound.free else start
    good = np.abs(start - 2) < 1e-6 if _has_poles(bound) else start > 2 - 1e-6
    _require(good, "the first term does not start as 2 A/(eta_eff R)")
    return 1


def check_tuning(bound: Bound) -> int:
    """No drawn step beats the tuned one, and `rounds_to` is the first round that meets its target."""
    points = draw(bound)
    rest = {n: v for n, v in points.items() if n != eta_eff.name}
    best = bound.tuned(**rest)
    _require(best.value <= _total(bound, points) * (1 + RTOL), "a drawn step beats the tuned one")
    if best.eta_eff is not None:
        for factor in (0.999, 1.001):
            near = {**rest, "eta_eff": best.eta_eff * factor}
            worse = _total(bound, near) >= best.value * (1 - RTOL)
            _require(worse | ~bound.applies(**near), "a step next to the tuned one beats it")
    target = best.value / 3
    horizon = _horizon(bound)
    timeless = {n: v for n, v in rest.items() if n != horizon}
    rounds = bound.rounds_to(target, **timeless)
    there, sooner = bound.tuned(**timeless | {horizon: np.stack([rounds, np.maximum(rounds - 1, 1)])}).value
    _require(there <= target, "rounds_to stops too early")
    _require((rounds == 1) | (sooner > target), "rounds_to stops too late")
    return 3


def check_steps(bound: Bound) -> int:
    """Every derivation line equals the bound, stays below it (above a lower one), or has its symbols and powers."""
    points = draw(bound)
    if eta_eff.name in points and bound.kind == "theorem":  # and up to the very end of the range
        caps = bound.tuned(**{n: v for n, v in points.items() if n not in ("R", "eta_eff")}, R=1).eta_eff
        points = {n: np.concatenate([v, v]) for n, v in points.items()}
        points["eta_eff"][len(caps) :] = caps
    points |= _letters_of_steps(bound, max(map(len, points.values()), default=1), points)
    ours = bound.split(**points)
    for step in bound.steps:
        copied = step.value is bound.expression or (isinstance(step.value, Mapping) and step.value == bound.terms)
        if copied:
            raise AuditError(f"{step.because}: derives the bound from itself")
        if isinstance(step.value, Expr):
            theirs = {"the total": step.value}
            mine = {"the total": sum(ours.values())}
        else:
            theirs, mine = dict(step.value), ours
            if theirs.keys() != mine.keys():
                raise AuditError(f"{step.because}: its terms are {', '.join(theirs)}, not {', '.join(mine)}")
        for name, expression in theirs.items():
            if step.relation == "same but numbers":
                _same_but_numbers(bound.terms[name], expression, f"{step.because}, {name}")
                continue
            value = _at(expression, points)
            if step.relation == "at least":
                _require(value >= mine[name] * (1 - RTOL), f"{step.because}: {name} is below the bound's")
            elif step.relation == "equal":
                close = np.abs(value - mine[name]) <= RTOL * np.abs(mine[name])
                _require(close, f"{step.because}: {name} is not equal to the bound's")
            else:
                below = (value >= 0) & (value <= step.factor * mine[name] * (1 + RTOL))
                _require(below, f"{step.because}: {name} exceeds {step.factor} times the bound")
    return len(bound.steps)


def _letters_of_steps(bound: Bound, count: int, known: Points) -> Points:
    """Numbers for what a derivation speaks of and the bound does not, such as a count that is dropped on the way."""
    found: Points = {}
    rng = np.random.default_rng(1)
    for step in bound.steps:
        for part in [step.value] if isinstance(step.value, Expr) else step.value.values():
            found |= _letters(part.symbols, count, {**known, **found}, rng)
    return found


def _letters(symbols: Iterable[Symbol], count: int, known: Points, rng: np.random.Generator | None = None) -> Points:
    """Typical numbers for letters that have none yet."""
    rng = np.random.default_rng(1) if rng is None else rng
    found: Points = {}
    for name in sorted(s.name for s in symbols if s.name not in known):
        low, high = np.log(ABOUT[name].typical)
        values = np.exp(rng.uniform(low, high, count))
        found[name] = values.round() if ABOUT[name].domain in ("count", "whole") else values
    return found


def check_ends(bound: Bound) -> int:
    """As the step moves, each condition holds exactly where what its proof needs is not negative."""
    if len(bound.ends) != len(bound.requires):
        raise AuditError(f"has {len(bound.requires)} conditions, and the proof needs {len(bound.ends)}")
    points = draw(bound, 40)
    for condition, end in zip(bound.requires, bound.ends, strict=True):
        step = next((s.name for s in (eta, eta_eff) if s in condition.symbols), None)
        if step is None:
            raise AuditError(f"{condition} does not speak of the step")
        here = points | _letters(condition.symbols | end.room.symbols, 40, points)
        low, high = here[step] * 1e-16, here[step] * 1e16
        for _ in range(120):
            middle = np.sqrt(low * high)
            good = _at(end.room, here | {step: middle}) >= 0
            low, high = np.where(good, middle, low), np.where(good, high, middle)
        for at, inside in ((low * (1 - 1e-7), True), (high * (1 + 1e-7), False)):
            sides = (_at(side, here | {step: at}) for side in (condition.lhs, condition.rhs))
            _require(condition.holds(*sides) == inside, f"{condition} does not end where it must: {end.because}")
    return len(bound.ends)


def check_least_counts(bound: Bound) -> int:
    """A quantity is finite, and not negative, also where counts are the least that they can be."""
    points = draw(bound)
    counts = [name for name in bound.needs if ABOUT[name].domain in ("count", "whole")]
    facts = 0
    for some in (each for size in range(1, len(counts) + 1) for each in combinations(counts, size)):
        least = {name: np.full_like(points[name], float(ABOUT[name].domain == "count")) for name in some}
        here = _within_limits(points | least)
        fits = bound.applies(**here) & np.ones(len(points[some[0]]), bool)
        value = _total(bound, here)[fits]
        _require(np.isfinite(value) & (value >= 0), f"is not finite and positive at the least {', '.join(some)}")
        facts += int(fits.any())
    return facts


def check_quoted(bound: Bound) -> int:
    """What an erratum quotes, as its units are wrong, is the whole of what is stated, or one term of it."""
    points = draw(bound)
    same = [
        np.allclose(_at(text, points), _at(part, points), rtol=RTOL, atol=0)
        for text, part in _quotes(bound)
        if text.symbols == part.symbols
    ]
    if not any(same):
        raise AuditError("has no term that is what its erratum of units quotes")
    return 1


def _quotes(bound: Bound) -> list[tuple[Expr, Expr]]:
    """Formulas that errata about units quote, each beside the whole of what is stated and beside each term."""
    quoted = [e.printed for e in bound.errata if e.id == bound.breaks.get("units") and isinstance(e.printed, Expr)]
    return [(text, part) for text in quoted for part in (*bound.terms.values(), bound.expression)]


def check_status(bound: Bound) -> int:
    """A bound called proved, or our own, shows a line that proves it, with its numbers."""
    if (bound.basis or bound.status) in ("proved", "own") and all(
        s.relation == "same but numbers" for s in bound.steps
    ):
        raise AuditError(f"is called {bound.status}, but no step derives its value")
    return 1


def check_erratum(erratum: Erratum) -> int:
    """What is printed and what is proved differ at the witness; numbers of an instance contradict what is printed."""
    if erratum.demonstrate is not None:
        evidence = erratum.demonstrate()
        if not evidence.contradicts:
            raise AuditError(f"{evidence.instance}: {evidence.found} does not contradict {evidence.printed}")
    if isinstance(erratum.printed, str) or isinstance(erratum.proved, str):
        if erratum.demonstrate is None and erratum.gravity != "note":
            raise AuditError("is in words, and has no instance that shows it")
        return 1
    printed, proved = (at_witness(side, erratum.witness) for side in (erratum.printed, erratum.proved))
    if isinstance(erratum.printed, Relation) != isinstance(erratum.proved, Relation):
        raise AuditError("compares a condition with a formula")
    if printed == proved or (not isinstance(printed, bool) and abs(printed - proved) <= RTOL * abs(proved)):
        raise AuditError(f"{erratum.printed} and {erratum.proved} agree at the witness")
    return 1


CHECKS: tuple[Callable[[Bound], int], ...] = (
    check_units,
    check_positive,
    check_numbers,
    check_status,
    check_range,
    check_steps,
    check_ends,
    check_least_counts,
    check_quoted,
    check_monotone,
    check_vanishes,
    check_tuning,
)
# Which checks a bound owes; whatever is not here, every bound owes.
OWED_BY: Mapping[Callable[[Bound], int], Callable[[Bound], bool]] = {
    check_positive: lambda bound: not bound.signed,
    check_numbers: lambda bound: _promises(bound) and (_of_gradient(bound) or bound.constants == "hidden"),
    check_ends: lambda bound: bool(bound.ends),
    check_least_counts: lambda bound: bound.kind == "quantity" and _has_choices(bound.expression),
    check_quoted: lambda bound: any(text.symbols == part.symbols for text, part in _quotes(bound)),
    check_range: lambda bound: _promises(bound),
    check_steps: lambda bound: bound.topology is not None or bool(bound.steps) or bound.status in ("proved", "own"),
    check_monotone: lambda bound: bound.topology is not None or bool(bound.grows_with or bound.shrinks_with),
    check_vanishes: lambda bound: _trains(bound),
    check_tuning: lambda bound: _trains(bound),
}


def _has_choices(part: Expr) -> bool:
    return isinstance(part, Choice) or any(_has_choices(one) for one in part.args)


def checks_of(bound: Bound) -> tuple[Callable[[Bound], int], ...]:
    """The checks that this bound owes."""
    return tuple(check for check in CHECKS if check not in OWED_BY or OWED_BY[check](bound))


def _trains(bound: Bound) -> bool:
    """Whether it is about training that goes on and on, with nothing left over in the end.

    At a given step that stays as it is, the noise is left over.
    """
    leftover = "floor" in bound.terms or {eta, eta_g, eta_sub} & {*bound.symbols}
    return bound.kind in ("theorem", "rate") and bound.horizon is not None and not leftover


def _promises(bound: Bound) -> bool:
    """Whether it is an upper bound of a topology: what is said of constants and caps is said of those."""
    return bound.topology is not None and bound.kind in ("theorem", "rate") and not bound.is_lower


def _of_gradient(bound: Bound) -> bool:
    """Whether it bounds the mean squared gradient of a topology: drift beside one start term."""
    return bound.topology is not None and bound.bounds is MEAN_SQUARED_GRADIENT


def _has_poles(bound: Bound) -> bool:
    """Whether explicit constants depend on the step, and so become infinite where the proof ends."""
    return any(term.factor_out(eta_eff) is None for term in bound.terms.values())


def _with_poles(family: Family | None) -> bool:
    return family is not None and all(map(_has_poles, family.values()))


def _horizon(bound: Bound) -> str:
    if bound.horizon is None:
        raise AuditError("does not say how long is trained")
    return bound.horizon.name


# What must hold between the four topologies of a family, because it holds for the algorithms. See
# docs/theory/sharp-bound.md and, for where the printed constants break it, the errata.
Family = Mapping[str, Bound]


def check_one_group(family: Family) -> int:
    """With one group (and so no inter-group gap) the top tier does not matter."""
    points = _shared(family, {"G": 1.0, "S1": 1.0, "delta": 0.0})
    for low in ("star", "ring"):
        a, b = (_total(family[f"{top}-{low}"], points) for top in ("star", "ring"))
        _require(np.abs(a - b) <= RTOL * a, f"star-{low} and ring-{low} differ at G = 1")
    return 2


def check_one_client(family: Family) -> int:
    """With one client in each group the low tier matters by one noise term at most, and at most twofold."""
    points = _shared(family, {"M": 1.0, "S2": 1.0, "zeta": 0.0})
    for top in ("star", "ring"):
        star, ring = (_total(family[f"{top}-{low}"], points) for low in ("star", "ring"))
        _require(
            (ring <= star * (1 + RTOL)) & (star <= 2 * ring), f"{top}-star and {top}-ring are not within a factor 2"
        )
    return 2


def check_order(family: Family) -> int:
    """A ring in either tier never has the larger bound at the same step."""
    points = _shared(family, {})
    pairs = [
        ("star-star", "star-ring"),
        ("star-star", "ring-star"),
        ("star-ring", "ring-ring"),
        ("ring-star", "ring-ring"),
    ]
    for worse, better in pairs:
        a, b = (_total(family[t], points) for t in (worse, better))
        _require(b <= a * (1 + RTOL), f"{better} exceeds {worse}")
    return len(pairs)


def check_scaling(family: Family) -> int:
    """Loss and parameters measured in other units change every member by the units of what is bounded."""
    points = _shared(family, {})
    for loss, length in ((3.0, 1.0), (1.0, 5.0)):
        moved = {n: v * loss ** ABOUT[n].dim[0] * length ** ABOUT[n].dim[1] for n, v in points.items()}
        for bound in family.values():
            dim = bound.bounds.dim
            wanted = _total(bound, points) * loss ** dim[0] * length ** dim[1]
            _require(
                np.abs(_total(bound, moved) - wanted) <= RTOL * np.abs(wanted), f"{bound.topology} depends on units"
            )
    return 2 * len(family)


def check_many_rounds(family: Family) -> int:
    """As R grows, the four tuned bounds agree: only the noise of all samples is left."""
    points = {n: v for n, v in _shared(family, {}).items() if n not in ("R", "eta_eff")}
    values = [bound.tuned(**points, R=1e60).value for bound in family.values()]
    for value in values[1:]:
        _require(np.abs(value / values[0] - 1) < 1e-2, "the leading term depends on the topology")
    return len(values) - 1


def identities_of(family: Family) -> tuple[Callable[[Family], int], ...]:
    """What this family owes: what holds of the algorithms holds of bounds that carry the same constants.

    The explicit constants of the printed proofs differ from one topology to the next, so those
    families owe only what does not compare their members at one step.
    """
    if any(bound.kind == "lemma" for bound in family.values()):  # raw steps: not compared at one of them
        return (check_scaling,)
    if not all(map(_of_gradient, family.values())):  # at one effective step a ring's raw step is the smaller one
        return (check_one_group, check_one_client, check_scaling)
    always = (check_scaling, check_many_rounds)
    if all(bound.is_lower for bound in family.values()):  # a star that drifts less than a ring does so here
        return (check_one_group, check_one_client, *always)
    same_constants = all(bound.constants == "hidden" or bound.status == "own" for bound in family.values())
    return (check_one_group, check_one_client, check_order, *always) if same_constants else always


def check_cap_is_the_pole_of_the_proof(pair: tuple[Family, Family]) -> int:
    """The printed cap of a theorem is where the constant of its own proof becomes infinite."""
    theorem, proof = pair
    for topology, bound in theorem.items():
        cap = next(c.rhs for c in bound.requires if c.lhs is eta_eff)
        points = draw(proof[topology], 5)
        points["eta_eff"] = _at(cap, points)
        flat = [points[n] for n in proof[topology].needs]
        with np.errstate(all="ignore"):
            at_cap = np.abs(proof[topology].compiled[1](*flat)[0])
            flat[proof[topology].needs.index("eta_eff")] = points["eta_eff"] * 0.5
            half = proof[topology].compiled[1](*flat)[0]
        _require(~(at_cap < 1e6 * half), f"{topology}: the cap is not the pole of the proof's constant")
    return len(theorem)


def _shared(family: Family, fixed: Mapping[str, float]) -> Points:
    """Points at which every member applies, with some quantities fixed."""
    if len(family) < 4:
        raise AuditError(f"has only {', '.join(family)}")
    members = tuple(family.values())
    smallest = {n: v.copy() for bound in members for n, v in draw(bound, 200).items()}
    for name, value in fixed.items():
        if name in smallest:
            smallest[name] = np.full_like(smallest[name], value)
    if "eta_eff" in smallest:
        smallest["eta_eff"] = np.minimum(smallest["eta_eff"], 0.05 / smallest["L"])
    good = np.logical_and.reduce([bound.applies(**smallest) & np.ones(200, bool) for bound in members])
    if good.sum() < 50:
        raise AuditError("no points at which all four topologies apply")
    return {n: v[good] for n, v in smallest.items()}


def _same_but_numbers(ours: Expr, theirs: Expr, what: str) -> None:
    """Compare symbols and powers; c1 and c2, which tend to numbers, are read at a vanishing step."""
    symbols = tuple(sorted(ours.symbols | theirs.symbols, key=str))
    rng = np.random.default_rng(1)
    points = {s.name: rng.uniform(1.5, 3.0, 40) for s in symbols}
    points["eta_eff"] = points.get("eta_eff", np.ones(40)) * 1e-12
    ratio = _at(theirs, points) / _at(ours, points)
    _require(np.abs(ratio / ratio[0] - 1) < 1e-6, f"{what}: other symbols or powers")


def _at(expression: Expr, points: Points) -> Any:
    symbols = tuple(sorted(expression.symbols, key=str))
    with np.errstate(all="ignore"):
        return compile_many(symbols, (expression,))[1](*(points[s.name] for s in symbols))[0]


def at_witness(side: Expr | Relation, witness: Mapping[str, float]) -> float | bool:
    """A formula's value, or a condition's truth, at the witness of an erratum."""
    values = {name: np.asarray(float(v)) for name, v in witness.items()}
    if isinstance(side, Relation):
        return bool(side.holds(_at(side.lhs, values), _at(side.rhs, values)))
    return float(_at(side, values))


def _total(bound: Bound, points: Points) -> Any:
    with np.errstate(all="ignore"):
        return sum(bound.compiled[1](*(points[n] for n in bound.needs))) * np.ones(
            len(next(iter(points.values()), [0]))
        )


def _require(truth: Any, failure: str) -> None:
    if not np.all(truth):
        raise AuditError(failure)


def _fractions(pair: tuple[int, int]) -> tuple[Fraction, Fraction]:
    return Fraction(pair[0]), Fraction(pair[1])


def _plain(pair: Sequence[Any]) -> str:
    return f"({', '.join(map(str, pair))})"
