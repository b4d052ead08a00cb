"""Which client goes into which group, so that groups are alike: the least inter-group deviation.

With the weights ``w_i`` of clients and their distance ``x_i`` from the whole, the squared inter-group deviation is
``sum_g |s_g|^2 / w_g / w`` over groups, with ``s_g`` the weighted sum of ``x_i`` in the group: what a client adds
depends on ``s_g`` alone, so moves and swaps are priced by inner products. What regrouping takes from it goes to the
intra-group deviation: the sum of the two stays.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np

from planner.data.grouping_rules import Problem
from planner.errors import NoAnswerError
from planner.io.csv_rows import Floats, Indices

SPLIT = 16  # units of two groups whose every division is compared
STEPS = 8  # of a pair of groups in a sweep, at most
KICKED = 2  # swaps at random from which the search goes on
NEAR = 400  # units up to which searches start near the best
PATIENCE = 8  # kicks in a row without a gain, for each restart, after which it ends
WIDE = 384  # units of a group that are compared with those of another at a time
STEEPEST = 10**5  # units times groups up to which a steepest descent is made unasked
PAIRS = 5 * 10**7  # pairs of units of different groups up to which it is
BLOCK = 2**20  # swaps that are compared at once
SEARCH = 10**5  # placements an exhaustive search tries before it gives up
SLIGHT = 1e-4  # gain of a sweep, relative to random groups, at which large problems stop
SWEEPS = 200  # at most
STILL = 1e-12  # gain below which nothing moves, relative to what there is and to what a unit adds: less is rounding
FRONT = 12  # weights of the cost that are tried


class TakesLongError(NoAnswerError):
    """Refuse to search on where nothing is found in time."""


@dataclass
class Patience:
    """How long somebody waits for a search."""

    until: float = math.inf  # by the monotonic clock
    ended: bool = False  # whether a search was stopped


_patience: ContextVar[Patience] = ContextVar("patience", default=Patience())  # noqa: B039 - this one never ends


@contextmanager
def stopped_after(seconds: float) -> Iterator[Patience]:
    """Stop searches inside a ``with`` block after so long: they take the best that they have found by then.

    Where they have found nothing, they raise `TakesLongError`.
    """
    found = Patience(time.monotonic() + seconds)
    token = _patience.set(found)
    try:
        yield found
    finally:
        _patience.reset(token)


@dataclass
class State:
    """A grouping with what moves need, kept up to date."""

    problem: Problem  # whose grouping it is
    group_of: Indices  # of every unit
    sums: Floats = field(init=False)  # sums, mass, size: of every group
    mass: Floats = field(init=False)
    size: Indices = field(init=False)
    members: list[list[int]] = field(init=False)

    def __post_init__(self) -> None:
        problem, groups = self.problem, self.problem.groups
        self.group_of = self.group_of.copy()
        self.sums = np.zeros((groups, problem.points.shape[1]))
        np.add.at(self.sums, self.group_of, problem.points)
        self.mass = np.bincount(self.group_of, weights=problem.mass, minlength=groups).astype(np.float64)
        self.size = np.bincount(self.group_of, weights=problem.size, minlength=groups).astype(np.int64)
        self.members = [[] for _ in range(groups)]
        for i, g in enumerate(self.group_of.tolist()):
            self.members[g].append(i)

    def deviation(self) -> float:
        """The squared inter-group deviation."""
        filled = self.mass > 0
        return float(((self.sums[filled] ** 2).sum(axis=1) / self.mass[filled]).sum() / self.problem.whole)

    def cost(self) -> float:
        """The mean cost of a client."""
        costs = self.problem.costs
        if costs is None:
            return 0.0
        return float(costs[np.arange(len(self.group_of)), self.group_of].sum() / self.problem.size.sum())

    def value(self) -> float:
        """What is minimised."""
        return self.deviation() + self.problem.price * self.cost()

    def shift(self, unit: int, group: int) -> None:
        """Put a unit into a group."""
        problem, old = self.problem, int(self.group_of[unit])
        for g, sign in ((old, -1), (group, 1)):
            self.sums[g] += sign * problem.points[unit]
            self.mass[g] += sign * problem.mass[unit]
            self.size[g] += sign * problem.size[unit]
        self.members[old].remove(unit)
        self.members[group].append(unit)
        self.group_of[unit] = group


@dataclass(frozen=True, slots=True)
class Step:
    """A move of one unit, or a swap of two: the unit and where it goes; what it gains."""

    gain: float
    moves: tuple[tuple[int, int], ...]


def best_step(state: State, a: int, b: int, rng: np.random.Generator | None = None) -> Step | None:
    """The step between two groups that gains most, if any gains.

    Of groups with more than `WIDE` units a random part is looked at, where there is a generator.

    Raises:
        TakesLongError: inside `stopped_after`, when the time is over.
    """
    patience = _patience.get()
    if time.monotonic() > patience.until:
        patience.ended = True
        raise TakesLongError("the search for groups is stopped before it found any. Ask for fewer groups.")
    problem = state.problem
    left, right = (np.array(state.members[g], dtype=np.int64) for g in (a, b))
    if rng is not None:
        left, right = (part if len(part) <= WIDE else rng.choice(part, WIDE, replace=False) for part in (left, right))
    if not len(left):
        a, b, left, right = b, a, right, left
    if not len(left):
        return None
    scale = problem.whole
    sum_a, sum_b, mass_a, mass_b = state.sums[a], state.sums[b], state.mass[a], state.mass[b]
    now = sum_a @ sum_a / mass_a + (sum_b @ sum_b / mass_b if mass_b > 0 else 0.0)
    xl, xr = problem.points[left], problem.points[right]
    ml, mr = problem.mass[left], problem.mass[right]
    nl, nr = problem.size[left], problem.size[right]
    al, ar = xl @ sum_a, xr @ sum_a
    bl, br = xl @ sum_b, xr @ sum_b
    ql, qr = np.einsum("ij,ij->i", xl, xl), np.einsum("ij,ij->i", xr, xr)
    cl, cr = _cost_change(problem, left, a, b), _cost_change(problem, right, b, a)
    best: tuple[float, tuple[tuple[int, int], ...]] = (-STILL * (now / scale + problem.spread), ())
    if (problem.least < problem.most).any():
        for units, x_own, x_other, squares, masses, sizes, cost, own, other in (
            (left, al, bl, ql, ml, nl, cl, a, b),
            (right, br, ar, qr, mr, nr, cr, b, a),
        ):
            allowed = state.size[own] - sizes >= problem.least[own]
            allowed &= state.size[other] + sizes <= problem.most[other]
            allowed &= _free(state, units, other) == 0
            if not allowed.any():
                continue
            left_mass = state.mass[own] - masses
            own_sum, other_sum = state.sums[own] @ state.sums[own], state.sums[other] @ state.sums[other]
            with np.errstate(divide="ignore", invalid="ignore"):
                kept = np.where(left_mass > 1e-12 * masses, (own_sum - 2 * x_own + squares) / left_mass, 0.0)
            change = kept + (other_sum + 2 * x_other + squares) / (state.mass[other] + masses) - now
            change = np.where(allowed, change / scale + cost, np.inf)
            i = int(change.argmin())
            if change[i] < best[0]:
                best = (float(change[i]), ((int(units[i]), other),))
    rows = max(BLOCK // max(len(right), 1), 1)
    for start in range(0, len(left) if len(right) else 0, rows):
        part = slice(start, start + rows)
        step = ql[part, None] + qr[None, :] - 2 * (xl[part] @ xr.T)  # |x_j - x_i|^2
        new_a = sum_a @ sum_a + 2 * (ar[None, :] - al[part, None]) + step
        new_b = sum_b @ sum_b - 2 * (br[None, :] - bl[part, None]) + step
        shifted = mr[None, :] - ml[part, None]
        change = (new_a / (mass_a + shifted) + new_b / (mass_b - shifted) - now) / scale
        if problem.costs is not None:
            change += cl[part, None] + cr[None, :]
        if nl.max() > 1 or nr.max() > 1:
            moved = nr[None, :] - nl[part, None]
            fits = (state.size[a] + moved <= problem.most[a]) & (state.size[b] - moved <= problem.most[b])
            fits &= (state.size[a] + moved >= problem.least[a]) & (state.size[b] - moved >= problem.least[b])
            change = np.where(fits, change, np.inf)
        if problem.apart:
            _forbid(state, left[part], right, a, b, change)
        i, j = divmod(int(change.argmin()), len(right))
        if change[i, j] < best[0]:
            best = (float(change[i, j]), ((int(left[start + i]), b), (int(right[j]), a)))
    return Step(-best[0], best[1]) if best[1] else None


def _cost_change(problem: Problem, units: Indices, old: int, new: int) -> Floats:
    if problem.costs is None:
        return np.zeros(len(units))
    return np.asarray((problem.costs[units, new] - problem.costs[units, old]) * (problem.price / problem.size.sum()))


def _free(state: State, units: Indices, group: int) -> Indices:
    """How many units of a group each of these may not join."""
    apart = state.problem.apart
    if not apart:
        return np.zeros(len(units), dtype=np.int64)
    return np.array([sum(state.group_of[o] == group for o in apart.get(int(u), ())) for u in units], dtype=np.int64)


def _forbid(state: State, left: Indices, right: Indices, a: int, b: int, change: Floats) -> None:
    """Price out swaps that bring together what must stay apart; the two swapped leave each other's way."""
    apart = state.problem.apart
    for units, others, group, by_unit in ((left, right, b, change), (right, left, a, change.T)):
        for i in np.flatnonzero(_free(state, units, group)):
            foes = {o for o in apart[int(units[i])] if state.group_of[o] == group}
            blocked = np.array([bool(foes - {int(o)}) for o in others])
            by_unit[i, blocked] = np.inf


def apply(state: State, step: Step) -> None:
    """Make a step."""
    for unit, group in step.moves:
        state.shift(unit, group)


@lru_cache(maxsize=32)
def _divisions(
    sizes: tuple[int, ...], least: tuple[int, int], most: tuple[int, int], named: bool
) -> tuple[Floats, Floats, Indices, Indices]:
    """Divisions of units of these sizes into two groups of allowed sizes.

    Unless groups are ``named``, the first has the first unit: other divisions are the same with the groups exchanged.
    Groups that may have other sizes are named.

    Returns:
        Subsets of the first half of the units, rows of 0 and 1, and of the rest; the numbers of the two that together
        are the first group, for each division.
    """
    half = len(sizes) // 2
    first, rest = (
        (np.arange(1 << n)[:, None] >> np.arange(n) & 1).astype(np.float64) for n in (half, len(sizes) - half)
    )
    if not named:
        first = first[first[:, 0] == 1]
    inside = (first @ np.array(sizes[:half]))[:, None] + rest @ np.array(sizes[half:])
    allowed = (inside >= max(least[0], sum(sizes) - most[1])) & (inside <= min(most[0], sum(sizes) - least[1]))
    i, j = np.nonzero(allowed)
    return first, rest, i, j


def divide_again(state: State, a: int, b: int) -> bool:
    """Give the units of two groups, at most `SPLIT`, their best division; whether that is better than the present."""
    problem = state.problem
    bounds = [(int(part[a]), int(part[b])) for part in (problem.least, problem.most)]
    named = problem.costs is not None or any(one != other for one, other in bounds)
    units = np.array(sorted(state.members[a] + state.members[b]), dtype=np.int64)
    if len(units) < 2:
        return False
    if not named and state.group_of[units[0]] != a:
        a, b = b, a
    first, rest, i, j = _divisions(tuple(problem.size[units].tolist()), bounds[0], bounds[1], named)
    half = first.shape[1]
    place = {unit: k for k, unit in enumerate(units.tolist())}
    for unit, foe in ((u, f) for u in place for f in problem.apart.get(u, ()) if f in place and u < f):
        one, other = (first[i, k] if k < half else rest[j, k - half] for k in (place[unit], place[foe]))
        i, j = i[one != other], j[one != other]

    def added(each: Floats) -> Floats:
        """A number of every unit, summed over the first group of each division."""
        return (first @ each[:half])[i] + (rest @ each[half:])[j]

    points, mass = problem.points[units], problem.mass[units]
    inner, whole = points @ points.T, points.sum(axis=0)
    squares = [
        ((rows @ part) * rows).sum(axis=1) for rows, part in ((first, inner[:half, :half]), (rest, inner[half:, half:]))
    ]
    left = squares[0][i] + squares[1][j] + 2 * (first @ inner[:half, half:] @ rest.T)[i, j]  # |s|^2 of the first group
    right = left - 2 * added(points @ whole) + whole @ whole
    weight = added(mass)
    other = mass.sum() - weight
    slight = 1e-12 * mass.min()
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.where(weight > slight, left / weight, 0.0) + np.where(other > slight, right / other, 0.0)
    value /= problem.whole
    now = sum(float(state.sums[g] @ state.sums[g] / state.mass[g]) for g in (a, b) if state.members[g]) / problem.whole
    if named:
        change = _cost_change(problem, units, b, a)
        value += added(change)
        now += float(change[state.group_of[units] == a].sum())
    best = int(value.argmin())
    if value[best] >= now - STILL * problem.spread:
        return False
    chosen = np.concatenate([first[i[best]], rest[j[best]]]) == 1
    for unit, goes in zip(units.tolist(), np.where(chosen, a, b).tolist(), strict=True):
        if state.group_of[unit] != goes:
            state.shift(unit, goes)
    return True


def improve(state: State, rng: np.random.Generator, among: Sequence[int] | None = None) -> None:
    """Local search: in every sweep groups are paired at random, and a pair steps until it cannot.

    Ends when every pair stands still, or, in large problems, when a sweep gains next to nothing.

    The state is changed in place. Groups that are not ``among`` those given stand still already.
    """
    groups = state.problem.groups
    pairs = groups * (groups - 1) // 2
    if pairs <= 4096 and len(state.group_of) <= WIDE * groups:
        settled = np.full((groups, groups), among is not None)
        if among is not None:
            settled[among, :] = settled[:, among] = False
        every = np.stack(np.triu_indices(groups, 1), axis=1)
        for _ in range(SWEEPS):
            busy = False
            for a, b in every[rng.permutation(pairs)].tolist():
                if settled[a, b]:
                    continue
                if _settle(state, a, b, rng):
                    settled[[a, b], :] = False
                    settled[:, [a, b]] = False
                    busy = True
                else:
                    settled[a, b] = True
            if not busy:
                return
        return
    enough = SLIGHT * state.problem.spread * groups  # random groups deviate by about this without the factor
    value = state.value()
    for _ in range(SWEEPS):
        order = rng.permutation(groups)
        for a, b in zip(order[::2].tolist(), order[1::2].tolist(), strict=False):
            _settle(state, a, b, rng)
        before, value = value, state.value()
        if before - value <= enough:
            return


def _settle(state: State, a: int, b: int, rng: np.random.Generator) -> bool:
    moved = False
    for _ in range(STEPS):
        step = best_step(state, a, b, rng)
        if step is None:
            return (len(state.members[a]) + len(state.members[b]) <= SPLIT and divide_again(state, a, b)) or moved
        apply(state, step)
        moved = True
    return moved


def kicked(state: State, rng: np.random.Generator) -> State:
    """A local optimum near another: a few swaps at random, and the search from there."""
    problem, touched = state.problem, set()
    state = State(problem, state.group_of)
    for _ in range(KICKED):
        a, b = (int(g) for g in rng.choice(problem.groups, 2, replace=False))
        if not (state.members[a] and state.members[b]):
            continue
        i, j = (state.members[g][rng.integers(len(state.members[g]))] for g in (a, b))
        grown = int(problem.size[j] - problem.size[i])
        sizes = np.array([state.size[a] + grown, state.size[b] - grown])
        foes = [state.group_of[foe] == g for unit, own, g in ((i, j, b), (j, i, a))
                for foe in problem.apart.get(unit, set()) - {own}]  # fmt: skip
        fits = (sizes >= problem.least[[a, b]]).all() and (sizes <= problem.most[[a, b]]).all()
        if fits and not any(foes):
            state.shift(i, b)
            state.shift(j, a)
            touched |= {a, b}
    improve(state, rng, among=sorted(touched))
    return state


def is_quickly_descended(problem: Problem) -> bool:
    """Whether a steepest descent is made of it unasked."""
    units, groups = len(problem.size), problem.groups
    return units * groups <= STEEPEST and units**2 * (groups - 1) <= 2 * groups * PAIRS


def descent(state: State, most: int | None = None) -> list[Step]:
    """Steepest descent from a grouping: always the step that gains most, and the steps it made."""
    groups = state.problem.groups
    made: list[Step] = []
    limit = math.inf if most is None else most
    best = {(a, b): best_step(state, a, b) for a in range(groups) for b in range(a + 1, groups)}
    while len(made) < limit:
        found = [step for step in best.values() if step is not None]
        if not found:
            break
        step = max(found, key=lambda s: s.gain)
        touched = {int(state.group_of[unit]) for unit, _ in step.moves} | {group for _, group in step.moves}
        apply(state, step)
        made.append(step)
        for pair in best:
            if touched & set(pair):
                best[pair] = best_step(state, *pair)
    return made


def construct(problem: Problem, rng: np.random.Generator, *, shuffled: bool, blind: bool = False) -> State | None:
    """Greedy: large units and units with many others to avoid first, where each adds least; None without room.

    ``shuffled`` varies the order of units of one kind; ``blind`` puts each anywhere it fits, not where it adds least.
    """
    norms = np.sqrt((problem.points**2).sum(axis=1))
    if shuffled:
        norms = norms * rng.uniform(0.5, 1.5, len(norms))
    foes = np.array([len(problem.apart.get(i, ())) for i in range(len(norms))])
    order = np.lexsort((-norms, -problem.size, -foes))
    groups = problem.groups
    sums, mass = np.zeros((groups, problem.points.shape[1])), np.zeros(groups)
    size, group_of = np.zeros(groups, dtype=np.int64), np.full(len(norms), -1, dtype=np.int64)
    typical = problem.whole / groups
    costs = None if problem.costs is None else problem.costs * (problem.price / problem.size.sum())
    short = int(problem.least.sum())  # clients still owed to groups below the least size
    left = int(problem.size.sum())
    for i in order:
        x, n = problem.points[i], int(problem.size[i])
        room = size + n <= problem.most
        if left - n < short:  # only groups below the least size may take it
            room &= size < problem.least
        for foe in problem.apart.get(int(i), ()):
            if group_of[foe] >= 0:
                room[group_of[foe]] = False
        if not room.any():
            return None
        added = (2 * (sums @ x) + x @ x) / typical / problem.whole
        if (problem.least < problem.most).any() and mass.any():
            after = sums + x
            own = np.where(mass > 0, (sums**2).sum(axis=1) / np.where(mass > 0, mass, 1), 0.0)
            exact = (after**2).sum(axis=1) / (mass + problem.mass[i]) - own
            added = np.where(size < problem.least, added, exact / problem.whole)
        if costs is not None:
            added = added + costs[i]
        if blind:
            added = rng.uniform(size=groups)
        g = int(np.where(room, added, np.inf).argmin())
        before = max(int(problem.least[g] - size[g]), 0)
        sums[g] += x
        mass[g] += problem.mass[i]
        size[g] += n
        short -= before - max(int(problem.least[g] - size[g]), 0)
        left -= n
        group_of[i] = g
    return State(problem, group_of) if short <= 0 else None


def search_exhaustively(problem: Problem) -> State | None:
    """A grouping that keeps the rules, by backtracking over units with the most others to avoid first.

    Raises:
        NoAnswerError: where the search proves that there is none.
    """
    foes = np.array([len(problem.apart.get(i, ())) for i in range(len(problem.size))])
    order = np.lexsort((-foes, -problem.size)).tolist()
    group_of = np.full(len(order), -1, dtype=np.int64)
    size, kinds = [0] * problem.groups, problem.kinds.tolist()
    least, most = problem.least.tolist(), problem.most.tolist()
    tried = 0

    def place(k: int, left: int) -> bool | None:
        nonlocal tried
        if k == len(order):
            return all(n >= few for n, few in zip(size, least, strict=True))
        if sum(max(few - n, 0) for n, few in zip(size, least, strict=True)) > left:
            return False
        unit = order[k]
        n = int(problem.size[unit])
        seen: set[int] = set()  # kinds of empty groups
        for g in range(problem.groups):
            if size[g] + n > most[g] or any(group_of[f] == g for f in problem.apart.get(unit, ())):
                continue
            if size[g] == 0 and kinds[g] in seen:
                continue  # empty groups of one kind are alike
            if size[g] == 0:
                seen.add(kinds[g])
            tried += 1
            if tried > SEARCH:
                return None
            group_of[unit] = g
            size[g] += n
            found = place(k + 1, left - n)
            if found is not False:
                return found
            group_of[unit] = -1
            size[g] -= n
        return False

    found = place(0, int(problem.size.sum())) if len(order) <= 400 else None
    if found is False:
        raise NoAnswerError(
            f"no grouping of {int(problem.size.sum())} clients into {problem.groups} groups of {problem.span} "
            f"keeps all pairs of --pairs. Allow more groups or other sizes, or drop a pair.",
            code="N006",
        )
    return State(problem, group_of) if found else None


def solve(problem: Problem, seed: int = 0, restarts: int | None = None, start: Indices | None = None) -> State:
    """The best of several local searches, and of searches from near it until many in a row gain nothing.

    By default there are more restarts for small problems; ``start`` is a grouping to search from as well.

    Raises:
        NoAnswerError: where no grouping keeps the rules, or none is found.
    """
    best: State | None = None
    try:
        for found in _better_and_better(problem, seed, restarts, start):
            best = found
    except TakesLongError:
        if best is None:
            raise
    assert best is not None  # noqa: S101 - none is refused
    return best


def _better_and_better(problem: Problem, seed: int, restarts: int | None, start: Indices | None) -> Iterator[State]:
    """The best grouping so far, after every search."""
    units = len(problem.size)
    if restarts is None:
        restarts = 20 if units <= 40 else 8 if units <= 120 else 3 if units <= 2000 else 1
    rng = np.random.default_rng(seed)
    best: State | None = None
    starts: list[Callable[[], State | None]] = [
        lambda k=k: construct(problem, rng, shuffled=k > 0, blind=k % 2 > 0)  # type: ignore[misc]
        for k in range(restarts)
    ]
    if start is not None:
        starts.append(lambda: State(problem, start))
    for make in starts:
        state = make()
        if state is None:
            continue
        improve(state, rng)
        if best is None or state.value() < best.value():
            best = state
        yield best
    others = (construct(problem, rng, shuffled=True) for _ in range(50))
    best = best or next(filter(None, others), None) or search_exhaustively(problem)
    if best is None:
        raise NoAnswerError(
            f"no grouping into {problem.groups} groups of {problem.span} clients was found that "
            "keeps all pairs of --pairs. Allow more groups or other sizes, or drop a pair.",
            code="N006",
        )
    improve(best, rng)
    yield best
    still = 0
    while problem.groups > 1 and units <= NEAR and still < PATIENCE * restarts:
        other = kicked(best, rng)
        gain = best.value() - other.value()
        still = 0 if gain > STILL * (best.value() + problem.spread) else still + 1
        best = other if gain >= 0 else best
        yield best


def front(problem: Problem, seed: int = 0, restarts: int | None = None) -> list[State]:
    """Groupings of which none is worse in both deviation and cost, from the least deviation to the least cost."""
    assert problem.costs is not None  # noqa: S101 - by construction
    alone = solve(replace(problem, price=0.0), seed, restarts)
    spread_of_costs = float(np.ptp(problem.costs, axis=1).mean()) or 1.0
    largest = float((problem.points**2).sum() / problem.whole**2) or 1.0
    found = [alone]
    for price in largest / spread_of_costs * np.logspace(-4, 4, FRONT):
        found.append(solve(replace(problem, price=float(price)), seed, restarts or 4, start=found[-1].group_of))
    found.sort(key=lambda state: (state.deviation(), state.cost()))
    kept: list[State] = []
    for state in found:
        if not kept or state.cost() < kept[-1].cost() - 1e-12 * (1 + abs(kept[-1].cost())):
            kept.append(state)
    return kept
