"""Losses that differ by a tilt: what a tree of stars and rings reaches, by loss or by gradient, at any step.

The clients' losses have one Hessian, with a spectrum in (0, L], and their gradients differ by constants. Then a global
round is an affine map of each coordinate, which the patterns compose over the tiers, and the worst case over all such
losses needs no cap on the step but that the map contracts. Nothing here tells a star from a ring. Statement and proof:
docs/theory/tilted-quadratics.md.

>>> from hflbounds.topology import Tier, Topology
>>> tree = Topology((Tier("ring", size=4), Tier("star", size=5)))
>>> told = dict(K=2, R=100, L=1, Delta0=1, sigma=0.1, deltas=(0.01, 0.1))
>>> round(tilt_bound(tree, **told, eta=0.05), 6)
0.002332
>>> best = tilt_tuned(tree, **told)
>>> round(best.value, 6), round(best.eta, 2)
(0.000584, 0.35)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from hflbounds.errors import ConditionError, DomainError
from hflbounds.topology import LinearMap, Topology
from hflbounds.uneven import uneven_round

Measure = Literal["loss", "mean-loss", "gradient"]
Placement = Literal["worst", "shuffled"]
Array = npt.NDArray[np.float64]

MEASURES: tuple[Measure, ...] = ("loss", "mean-loss", "gradient")
PLACEMENTS: tuple[Placement, ...] = ("worst", "shuffled")
_CURVATURES = 160  # of a logarithmic grid, on which each worst curvature is bracketed
_ZOOMS, _POINTS = 6, 9  # then each of so many grids of the bracket makes it 4 times smaller
_FEW = 2000  # numbers, up to which the rows of a zoom are worked out together
_BLOCK = 2048  # points whose grids are held at one time
_STEPS = 320  # of a logarithmic grid, on which the best step is bracketed
_FLAT = 1e-3  # rounds times 1 - alpha, below which sums over rounds are taken from their power series


@dataclass(frozen=True, slots=True)
class TierShare:
    """What one unit of a tier's squared heterogeneity adds to the mean square of a round's offset, over ``eta^2``.

    Attributes:
        kept: To the square of its mean over rounds, at most.
        anew: To its variance from round to round, at most.
        both: To its mean square, at most.
    """

    kept: Array
    anew: Array
    both: Array


@dataclass(frozen=True, slots=True)
class AffineRound:
    """A global round in one coordinate, ``x -> alpha x + offset + noise``; all arrays of the shape of the steps.

    Attributes:
        map: ``alpha``, and the logarithm of its size.
        noise: Mean square of the noise for ``sigma = 1``, over ``eta^2``.
        tiers: Of the offset, top tier first.
        whole: Whether what a tier adds anew and what it keeps make up its mean square.
        miscounted: Of what each tier keeps, the part that comes of counting nodes otherwise than the loss does;
            of trees whose nodes differ alone.
    """

    map: LinearMap
    noise: Array
    tiers: tuple[TierShare, ...]
    whole: bool = False
    miscounted: tuple[Array, ...] = ()


def affine_round(topology: Topology, K: int, step: Any, placement: Placement = "worst") -> AffineRound:
    """Compose the local steps of a round of a tree, coordinate by coordinate.

    Args:
        topology: With sizes. A tier in random order, or of which not all are drawn, is drawn once for each of its nodes
            in every round; every other tier has one order in the whole run.
        K: Local steps of a client.
        step: Raw learning rate times the curvature of the coordinate, above 0 and below 2; any shape.
        placement: Of the children in that one order: ``worst``, any; ``shuffled``, uniformly random, drawn before the
            run, in the mean.

    Raises:
        TopologyError: If a size was not given.
        DomainError: If ``K`` or ``placement`` is out of its domain.

    Source: docs/theory/tilted-quadratics.md, sections 2 and 3.
    """
    if isinstance(K, bool) or not isinstance(K, int) or K < 1:
        raise DomainError(f"K = {K!r} is not a whole number, 1 or more.")
    if placement not in PLACEMENTS:
        raise DomainError(f"placement = {placement!r} is not one of {', '.join(PLACEMENTS)}.")
    given = np.asarray(step, dtype=float)
    if topology.uneven:
        return _uneven(topology, K, given, placement)
    with np.errstate(all="ignore"):
        steps = LinearMap.of_step(given).repeated(K)
        call, inside, noise = steps.map, steps.total, steps.squares
        tiers: list[tuple[bool, TierShare]] = []  # from the clients up; whether a tier's offset has the mean 0
        for tier in reversed(topology.tiers):
            part = tier.taking_part
            whole = tier.size or part
            pass_, (spread, largest) = tier.pattern.compose(call, part), tier.pattern.uneven(call, part)
            squares, all_ = pass_.squares, pass_.total**2
            drawn = tier.sampled or (tier.pattern.ordered and tier.order == "random")
            # n sum w^2 - (sum w)^2, without the loss of digits where the weights hardly differ
            uneven = whole * spread + all_ * (whole / part - 1)
            varies = uneven / (whole - 1) if whole > 1 else np.zeros_like(uneven)
            for i, (centred, one) in enumerate(tiers):
                if placement == "shuffled":
                    kept, both = one.kept * (all_ / whole if drawn else squares), one.both * squares
                    tiers[i] = centred, TierShare(kept, both - kept, both)
                elif centred:
                    tiers[i] = centred, _scaled(one, *(3 * (squares if drawn else whole * largest,)))
                elif drawn:
                    anew = one.anew * squares + one.kept * varies
                    both = one.both * (squares + np.abs(all_ - squares))
                    tiers[i] = centred, TierShare(one.kept * all_, anew, both)
                else:
                    tiers[i] = centred, _scaled(one, whole * squares, whole * largest, whole * squares)
            share = inside**2 * (varies if placement == "shuffled" or drawn else uneven)
            none = np.zeros_like(share)
            tiers.append((drawn, TierShare(none if drawn else share, share if drawn else none, share)))
            call, inside, noise = pass_.map, inside * pass_.total, noise * squares
            if tier.passes > 1:
                passes = call.repeated(tier.passes)
                again = passes.total**2
                tiers = [(centred, _scaled(one, again, again, again)) for centred, one in tiers]
                call, inside, noise = passes.map, inside * passes.total, noise * passes.squares
    shape = given.shape  # that of a number is lost where a pattern's weights are an array of one
    found = (TierShare(*(one.reshape(shape) for one in (t.kept, t.anew, t.both))) for _, t in reversed(tiers))
    return AffineRound(call, noise.reshape(shape), tuple(found), placement == "shuffled")


def mixed(parts: Sequence[tuple[float, AffineRound]]) -> AffineRound:
    """Take the mean of rounds of which one is drawn anew each time, as where it varies who takes part.

    What a coordinate's factor varies by is left out: it is none where stars alone differ.

    Args:
        parts: Shares, which sum to 1, with rounds of trees of one depth at the same steps.
    """
    shares, rounds = [share for share, _ in parts], [one for _, one in parts]
    if len(rounds) == 1:
        return rounds[0]

    def mean(arrays: Iterable[Array]) -> Array:
        return np.asarray(sum(share * array for share, array in zip(shares, arrays, strict=True)))

    with np.errstate(divide="ignore"):  # a step of 1 leaves nothing
        factor = LinearMap.of_step(mean(one.map.one_less for one in rounds))
    return AffineRound(
        factor,
        mean(one.noise for one in rounds),
        tuple(
            TierShare(mean(t.kept for t in same), mean(t.anew for t in same), mean(t.both for t in same))
            for same in zip(*(one.tiers for one in rounds), strict=True)
        ),
        all(one.whole for one in rounds),
        tuple(map(mean, zip(*(one.miscounted for one in rounds), strict=True))),
    )


def _uneven(topology: Topology, K: int, step: Array, placement: Placement) -> AffineRound:
    if placement != "shuffled":
        raise DomainError("placement: where nodes differ, orders are shuffled. Write shuffled, or take equal nodes.")
    with np.errstate(all="ignore"):
        one = uneven_round(topology, K, step)
    shares = (TierShare(kept, both - kept, both) for kept, both in zip(one.kept[::-1], one.both[::-1], strict=True))
    return AffineRound(one.map, one.noise, tuple(shares), whole=True, miscounted=one.miscounted[::-1])


def _scaled(one: TierShare, kept: Any, anew: Any, both: Any) -> TierShare:
    return TierShare(one.kept * kept, one.anew * anew, one.both * both)


def coefficients(
    topology: Topology,
    *,
    K: int,
    R: Any,
    step: Any,
    measure: Measure = "loss",
    placement: Placement = "worst",
) -> Array:
    """What start, noise and each tier's heterogeneity add to the mean square of a coordinate's distance to its optimum.

    Multiply them with the squared distance of the start, ``(eta sigma)^2`` and ``(eta delta)^2`` of that coordinate;
    times half the curvature that is the loss above its least value, times the squared curvature the squared gradient.

    Args:
        topology: With sizes.
        K: Local steps of a client.
        R: Global rounds, whole numbers; broadcast with ``step``.
        step: Raw learning rate times the curvature of the coordinate, above 0 and below 2.
        measure: ``loss`` looks at the model after ``R`` rounds, ``mean-loss`` and ``gradient`` at the mean over the
            models that the rounds begin with.
        placement: See `affine_round`.

    Returns:
        Shape ``(2 + depth, ...)``: start, noise, then the tiers, top first.

    Raises:
        TopologyError, DomainError: As of `affine_round`.

    Source: docs/theory/tilted-quadratics.md, section 3.
    """
    return accumulated(affine_round(topology, K, step, placement), R, measure)


def accumulated(one: AffineRound, R: Any, measure: Measure = "loss", *, tiers_alone: bool = False) -> Array:
    """The `coefficients` of a round that was composed before.

    Args:
        one: Of the tree, at the steps.
        R: As of `coefficients`; real numbers are taken where the map keeps the side, as between two whole ones.
        measure: As of `coefficients`.
        tiers_alone: Leave out start and noise.

    Raises:
        DomainError: If ``measure`` is none of `MEASURES`.

    Source: docs/theory/tilted-quadratics.md, section 3.
    """
    if measure not in MEASURES:
        raise DomainError(f"measure = {measure!r} is not one of {', '.join(MEASURES)}.")
    start, still, moving = _over_rounds(one.map, np.asarray(R, dtype=float), last=measure == "loss")
    if one.whole:  # then the second of two bounds is never the less
        tiers = [still * t.kept + moving * t.anew for t in one.tiers]
    else:
        more = np.maximum(still - moving, 0.0)
        tiers = [np.minimum(still * t.kept + moving * t.anew, more * t.kept + moving * t.both) for t in one.tiers]
    found = tiers if tiers_alone else [start, moving * one.noise, *tiers]
    out = np.empty((len(found), *np.broadcast_shapes(*(each.shape for each in found))))
    for k, each in enumerate(found):
        out[k] = each
    return out


def _over_rounds(map_: LinearMap, R: Array, last: bool) -> tuple[Array, Array, Array]:
    """What R rounds make of a unit start, of an offset that stays and of one drawn anew: mean squares.

    Those of the last model, or the means over the models that the rounds begin with.
    """
    alpha, log_size = map_.factor, map_.log_size
    with np.errstate(all="ignore"):
        left, left2 = map_.one_less, map_.one_less_square
        all_ = R * log_size
        end, gone = np.exp(all_), -np.expm1(all_)
        turned = R % 2 == 1
        once = (np.where((alpha < 0) & turned, 1 + end, gone) if turned.any() else gone) / left
        twice = gone * (1 + end) / left2
        if last:
            return end**2, once**2, twice
        y = np.where(alpha > 0, -log_size, np.inf)
        two, three, four, five = (_power_sum(R, k) for k in (2, 3, 4, 5))
        still = np.where(
            R * y < _FLAT,
            y**2 * (two - y * (three - y * (7 / 12 * four - y * five / 4))),
            R - 2 * once + twice,
        )
        y = -2 * log_size
        moving = np.where(
            R * y < _FLAT,
            y * (R * (R - 1) / 2 - y * (two / 2 - y * (three / 6 - y * four / 24))),
            R - twice,
        )
        return twice / R, np.maximum(still, 0.0) / left**2 / R, np.maximum(moving, 0.0) / left2 / R


def _power_sum(R: Array, k: int) -> Array:
    """Sum of ``r^k`` over ``r = 0 .. R - 1``."""
    n = R - 1
    if k == 2:
        return n * R * (2 * n + 1) / 6
    if k == 3:
        return (n * R) ** 2 / 4
    if k == 4:
        return n * R * (2 * n + 1) * (3 * n * n + 3 * n - 1) / 30
    return (n * R) ** 2 * (2 * n * n + 2 * n - 1) / 12


# ---------------------------------------------------------------- the worst case over spectra
@dataclass(frozen=True, slots=True)
class _Problem:
    """A question in units of L: everything but the constants and the step; arrays of one shape."""

    topology: Topology
    K: int
    R: Array
    measure: Measure
    placement: Placement
    near: Array  # least curvature over the largest
    by_distance: bool  # whether the start is given by its distance to the optimum, or by its loss

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """Whose contributions may add up: start (0) and tiers (2, ...) with every deeper tier of one fixed order."""
        if self.placement == "shuffled":
            return ()
        tiers = self.topology.tiers
        fixed = [
            i + 2
            for i, tier in enumerate(tiers)
            if not (tier.sampled or tier.order == "random") and tier.pattern.ordered and tier.taking_part > 1
        ]
        return tuple((above, below) for below in fixed for above in (0, *range(2, below)))

    def parts(self, step: Array, v: Array, R: Array) -> Array:
        """Start, noise and tiers of coordinates of curvature ``step/v``, as multiples of what is given."""
        found = coefficients(
            self.topology, K=self.K, R=R, step=step, measure=self.measure, placement=self.placement
        ) * np.ones_like(step)
        h = step / v
        if self.measure == "gradient":
            found[0] *= h * h if self.by_distance else 2 * h
            found[1:] *= step * step
        else:
            found[0] *= h / 2 if self.by_distance else 1.0
            found[1:] *= step * v / 2
        return found

    @property
    def powers(self) -> Array:
        """Of the step, times L, that each row has beside a function of the step times the curvature."""
        of_start = (-2.0 if self.by_distance else -1.0) if self.measure == "gradient" else -1.0 * self.by_distance
        parts = [of_start] + [0.0 if self.measure == "gradient" else 1.0] * (1 + self.topology.depth)
        return np.array([*parts, *((parts[i] + parts[j]) / 2 for i, j in self.pairs)])

    def rows(self, parts: Array) -> Array:
        """The parts, and the geometric mean of each pair that may add up."""
        crossed = [np.sqrt(parts[i] * parts[j]) for i, j in self.pairs]
        return np.concatenate([parts, np.stack(crossed)]) if crossed else parts

    def lowest(self, v: Array, R: Array, near: Array) -> Array:
        """From which step on curvatures are looked at; below it every part grows."""
        free = np.minimum(v, 1 / (self.topology.local_steps(self.K) * R)) / 100
        return np.where(near > 0, np.minimum(near * v, v), free)


def _worst(problem: _Problem, v: Array) -> Array:
    """The largest of each row over the curvatures, for steps ``v``, shape (rows, ...)."""
    if v.size > _BLOCK:
        flat = (v.ravel(), problem.R.ravel(), problem.near.ravel())
        blocks = zip(*(np.array_split(one, -(-v.size // _BLOCK)) for one in flat), strict=True)
        parts = [_worst(replace(problem, R=R, near=near), part) for part, R, near in blocks]
        return np.concatenate(parts, -1).reshape(-1, *v.shape)
    R, near = problem.R[..., None], problem.near[..., None]
    high = v[..., None]
    low = problem.lowest(high, R, near)
    share = np.linspace(0, 1, _CURVATURES)
    grid = np.sort(np.concatenate([low * (high / low) ** share, high - (high - low) * 1e-6 ** share[::4]], -1), -1)
    rows = problem.rows(problem.parts(grid, high, R))
    best, found = rows.argmax(-1), np.asarray(rows.max(-1))
    every = np.broadcast_to(grid, (len(rows), *grid.shape))
    left, right = (
        np.take_along_axis(every, np.clip(best + way, 0, grid.shape[-1] - 1)[..., None], -1) for way in (-1, 1)
    )
    inner = np.linspace(0, 1, _POINTS)
    for _ in range(_ZOOMS):
        points = left * (right / left) ** inner
        here = _each(problem, points, high, R)
        at = here.argmax(-1)[..., None]
        found = np.maximum(found, here.max(-1))
        left, right = (np.take_along_axis(points, np.clip(at + way, 0, _POINTS - 1), -1) for way in (-1, 1))
    return found


def _each(problem: _Problem, points: Array, v: Array, R: Array) -> Array:
    """Each row at its own points: all at once where they are few, and calls cost more than numbers."""
    if points.size <= _FEW:
        rows = problem.rows(problem.parts(points, v, R))
        return np.asarray(rows[np.arange(len(rows)), np.arange(len(rows))])
    return np.stack([problem.rows(problem.parts(one, v, R))[k] for k, one in enumerate(points)])


class TiltTuned(NamedTuple):
    """The bound at its best step.

    Attributes:
        value: Of the bound.
        eta: Raw learning rate of a local step.
    """

    value: Any
    eta: Any


def tilt_bound(  # reason: the numbers of the theorem, by the letters that users give them
    topology: Topology,
    *,
    K: int,
    R: Any,
    L: Any,
    sigma: Any,
    deltas: Sequence[Any] | Array,
    eta: Any = None,
    A: Any = None,
    Delta0: Any = None,
    mu: Any = 0.0,
    measure: Measure = "loss",
    placement: Placement = "worst",
) -> Any:
    """Bound the loss or the squared gradient over all losses that differ by a tilt, at a step or at the best one.

    Args:
        topology: With sizes; see `affine_round` for what is drawn when.
        K: Local steps of a client.
        R: Global rounds, whole numbers.
        L: Largest curvature.
        sigma: Standard deviation of a stochastic gradient.
        deltas: Heterogeneity between the children of a node, one for each tier, top first.
        eta: Raw learning rate of a local step, below ``2/L``; None for the one that makes the bound least.
        A: Loss of the start above the least loss. Give this or ``Delta0``.
        Delta0: Squared distance of the start to the optimum.
        mu: Least curvature; 0 for any above 0. By loss, ``A`` alone says nothing where curvatures may be 0.
        measure: ``loss`` of the last model, above the least; ``mean-loss`` of the models that the rounds begin with; or
            their mean squared ``gradient``.
        placement: See `affine_round`.

    Returns:
        A float, or an array where arguments are; they broadcast.

    Raises:
        DomainError: If a number is out of its domain, or there are more or fewer deltas than tiers.
        ConditionError: If the step is ``2/L`` or more.

    Source: docs/theory/tilted-quadratics.md, (2).
    """
    problem, told, units = _asked(topology, K, R, L, sigma, deltas, A, Delta0, mu, measure, placement, eta)
    if eta is None:
        steps = _best(problem, units)
    else:
        steps = told["eta"] * told["L"]
        if not np.all(good := (steps > 0) & (steps < 2)):
            raise ConditionError(
                f"eta: L eta = {float(steps[~good].flat[0]):.4g} is not above 0 and below 2, where local steps "
                "contract. Take a smaller step."
            )
    return _plain(_total(problem, _worst(problem, steps), units))


def tilt_tuned(topology: Topology, **told: Any) -> TiltTuned:
    """Find the raw learning rate that makes the bound least.

    The bound is compared at steps about 8 % apart, then at the vertex of a parabola through the best three.

    Args:
        topology: As of `tilt_bound`.
        **told: As of `tilt_bound`, all but ``eta``.

    Raises:
        DomainError: As of `tilt_bound`.

    Source: docs/theory/tilted-quadratics.md, (2).
    """
    asked = {"A": None, "Delta0": None, "mu": 0.0, "measure": "loss", "placement": "worst"} | told
    problem, numbers, units = _asked(topology, **asked)
    steps = _best(problem, units)
    return TiltTuned(_plain(_total(problem, _worst(problem, steps), units)), _plain(steps / numbers["L"]))


def _asked(  # reason: what tilt_bound takes, checked
    topology: Topology,
    K: int,
    R: Any,
    L: Any,
    sigma: Any,
    deltas: Sequence[Any] | Array,
    A: Any,
    Delta0: Any,
    mu: Any,
    measure: Measure,
    placement: Placement,
    eta: Any = None,
) -> tuple[_Problem, dict[str, Array], Array]:
    """The question, its numbers as arrays of one shape, and the units of start, noise and tiers."""
    affine_round(topology, K, 1.0, placement)  # refuses what it cannot be
    if len(deltas) != topology.depth:
        raise DomainError(f"deltas: {len(deltas)} numbers for {topology.depth} tiers. Give one for each, top first.")
    if (A is None) == (Delta0 is None):
        raise DomainError("A, Delta0: the start is given by its loss A or by its squared distance Delta0; give one.")
    if measure not in MEASURES:
        raise DomainError(f"measure = {measure!r} is not one of {', '.join(MEASURES)}.")
    start = {"Delta0": Delta0} if A is None else {"A": A}
    given = {"R": R, "L": L, "mu": mu, **start, "sigma": sigma} | ({} if eta is None else {"eta": eta})
    given |= {f"deltas[{i}]": one for i, one in enumerate(deltas)}
    told = dict(zip(given, np.broadcast_arrays(*(np.asarray(x, dtype=float) for x in given.values())), strict=True))
    for name, value in told.items():
        least = {"R": 1.0, "L": 1e-300}.get(name, 0.0)
        if name != "eta" and not np.all((value >= least) & np.isfinite(value)):
            raise DomainError(f"{name}: {np.asarray(value).ravel()[:3]} has a number that is not {least:g} or more.")
    if not np.all(told["R"] == np.floor(told["R"])):
        raise DomainError("R: rounds are whole numbers.")
    if not np.all(told["mu"] <= told["L"]):
        raise DomainError("mu: the least curvature is more than the largest, L.")
    if A is not None and measure != "gradient" and not np.all(told["mu"] > 0):
        raise DomainError(
            "A: where curvatures may be as small as they like, no number of rounds lowers the loss of every start of "
            "loss A. Give the squared distance Delta0 in its place, a least curvature mu, or ask for the gradient."
        )
    problem = _Problem(topology, K, told["R"], measure, placement, told["mu"] / told["L"], A is None)
    first, rest = (told["L"], 1.0) if measure == "gradient" else (1.0, told["L"])
    begin = told["A"] if A is not None else told["Delta0"] * told["L"]
    squares = [told["sigma"] ** 2, *(told[f"deltas[{i}]"] ** 2 for i in range(topology.depth))]
    return problem, told, np.stack([first * begin, *(one / rest for one in squares)])


def _plain(found: Array) -> Any:
    return found.item() if found.ndim == 0 else found


def _total(problem: _Problem, rows: Array, units: Array) -> Array:
    """The bound from the largest of each row: parts by their units, and twice the geometric mean of each pair."""
    many = len(units)
    total = (rows[:many] * units).sum(0)
    for row, (i, j) in zip(rows[many:], problem.pairs, strict=True):
        total = total + 2 * row * np.sqrt(units[i] * units[j])
    return np.asarray(total)


def _best(problem: _Problem, units: Array) -> Array:
    """The steps, times L, that make the bound least, by a table for each number of rounds and least curvature."""
    shape = units.shape[1:]
    flat = units.reshape(len(units), -1)
    keys, where = np.unique(
        np.stack([np.broadcast_to(one, shape).ravel() for one in (problem.R, problem.near)]),
        axis=1,
        return_inverse=True,
    )
    found = np.empty(flat.shape[1])
    for k, (R, near) in enumerate(keys.T):
        mine = np.flatnonzero(where.ravel() == k)
        steps, table = _table(problem, R, near)
        for block in np.array_split(mine, -(-len(mine) // 4096)):
            found[block] = _lowest(steps, _total(problem, table[:, None, :], flat[:, block, None]))
    return found.reshape(shape)


def _table(problem: _Problem, R: float, near: float) -> tuple[Array, Array]:
    """Steps, times L, and the largest of each row over the curvatures at each of them."""
    smallest = 1e-4 / (problem.topology.local_steps(problem.K) * R)
    steps = np.sort(np.concatenate([np.geomspace(smallest, 1.99, _STEPS), 2 - np.geomspace(1e-9, 1, 60)]))
    if near <= 0:
        # Each part is a power of the step times what depends on the product of step and curvature alone.
        rows = problem.rows(problem.parts(steps, np.ones(1), np.asarray(R)))
        return steps, np.maximum.accumulate(rows, axis=-1) * steps ** problem.powers[:, None]
    v = steps[:, None]
    share = np.linspace(0, 1, _CURVATURES)
    grid = near**share * v
    return steps, problem.rows(problem.parts(grid, v, np.asarray(R))).max(-1)


def _lowest(steps: Array, values: Array) -> Array:
    """The step of the least value of each row of values, between the steps by a parabola of logarithms."""
    at = np.clip(values.argmin(-1), 1, values.shape[-1] - 2)
    x = np.log(steps)
    with np.errstate(all="ignore"):
        y = np.log(np.take_along_axis(values, np.stack([at - 1, at, at + 1], -1), -1))
        (x0, x1, x2), (y0, y1, y2) = (x[at + i] for i in (-1, 0, 1)), np.moveaxis(y, -1, 0)
        up, down = (y2 - y1) / (x2 - x1), (y1 - y0) / (x1 - x0)
        vertex = (x0 + x1) / 2 - down * (x2 - x0) / 2 / (up - down)
    good = np.isfinite(vertex) & (vertex > x0) & (vertex < x2)
    return np.asarray(np.exp(np.where(good, vertex, x[values.argmin(-1)])))


# ---------------------------------------------------------------- the mean over a spectrum: a prediction, no bound
def log_uniform(decades: float = 4.0, curvatures: int = 32) -> Array:
    """Curvatures over the largest, uniform in their logarithm.

    Args:
        decades: From the largest down.
        curvatures: How many.
    """
    return np.asarray(10.0 ** np.linspace(-decades, 0, curvatures))


def shares_of_gap(h: Array, decay: float) -> Array:
    """Split ``A`` over curvatures by a power of them, so that it falls as steps to the power of minus that.

    Args:
        h: Curvatures over L, uniform in their logarithm.
        decay: The power; 0 for equal shares.
    """
    shares = h**decay
    return np.asarray(shares / shares.sum())


def decay_of(left: float, steps: int, step: float = 0.5) -> float:
    """Find the power as which the loss falls, from what plain descent leaves of ``A`` on a broad spectrum.

    Args:
        left: Share of ``A`` that is left, over 0.
        steps: Of descent without noise.
        step: Learning rate times L.

    Returns:
        At least 0, what equal shares of ``A`` would leave, and at most 4.
    """
    h, powers = log_uniform(), np.linspace(0, 4, 401)
    remains = np.log([shares_of_gap(h, power) @ (1 - step * h) ** (2 * steps) for power in powers])
    return float(np.interp(-np.log(left), -remains, powers))


def mean_over(h: Array, found: Array, step: Any, measure: Measure = "loss", *, of_gap: Array | None = None) -> Array:
    """Average over curvatures, each with an equal share of every constant.

    What runs on losses of a broad spectrum show, where a bound says what cannot be exceeded on any.

    Args:
        h: Curvatures over L.
        found: `coefficients` at ``step[..., None] * h``, with fixed orders shuffled once.
        step: Raw learning rate times L.
        measure: As of `coefficients`.
        of_gap: The share of ``A`` that each curvature has, summing to 1; equal shares if None.

    Returns:
        What ``A``, ``sigma^2/L`` and each ``delta^2/L`` are multiplied with for the loss (``A L``, ``sigma^2`` and
        ``delta^2`` for the gradient): shape ``(2 + depth, ...)``, tiers top first.

    Source: docs/theory/tilted-quadratics.md, section 6.
    """
    of_start, of_others = (2 * h, h * h) if measure == "gradient" else (np.ones_like(h), h / 2)
    of_start = of_start * (np.full_like(h, 1 / h.size) if of_gap is None else of_gap)
    others = found[1:] @ (of_others / h.size) * np.asarray(step, dtype=float) ** 2
    return np.concatenate([found[:1] @ of_start, others])
