"""Rounds over draws of compute times, which are the same for every topology and every change of a parameter."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from typing import Any, Final

import numpy as np

from planner.cost.patterns import FloatArray, Schedule, schedules
from planner.cost.spec import CostError, Level, RoundSpec, in_step, levels
from planner.cost.wires import AtOnce, Call, Done, Server
from planner.scenario.network import Straggler

_TARGET_SAMPLES: Final = 100_000  # compute times drawn in all, when that gives enough draws
_FEWEST_DRAWS: Final = 8  # a standard error from fewer is no error bar
_LARGEST_DRAW: Final = 20_000_000  # compute times in one draw: 160 MB
_CACHED_SAMPLES: Final = 1_000_000  # numbers that are kept between calls: 8 MB each
_USUAL: Final = 64  # numbers that a condensed digest of one pass has at the most, usually
_EVENT_SAMPLES: Final = 4_000  # compute times drawn in all where the schedule is played event by event
_LARGEST_EVENT_DRAW: Final = 100_000


@lru_cache(maxsize=256)  # one answer asks for the same round several times, and a played one takes a second
def durations(spec: RoundSpec) -> FloatArray:
    """Duration of the round [s] for every draw; shape (draws,).

    Raises:
        CostError: If one draw is too large.
    """
    tiers, straggler = _pooled(levels(spec)), spec.compute.straggler
    shape = _shape(tiers)
    size = math.prod(shape)
    drifts = any(level.drifts for level in tiers)
    if drifts and size > _LARGEST_EVENT_DRAW:
        raise CostError(
            "network: where groups without servers share a per-server link, and with stragglers, the compute times of "
            f"a round are at most {_LARGEST_EVENT_DRAW}, not {size}. Use method='diluted', an upper bound, or no "
            "stragglers."
        )
    if size > _LARGEST_DRAW:
        raise CostError(
            f"compute.straggler: {size} compute times of a round are too many to draw, at most "
            f"{_LARGEST_DRAW:g}. Use the straggler kind none, or time fewer groups or group rounds."
        )
    if not any(level.together for level in tiers):
        return in_step(tiers, 0.0) + spec.work * _unit(*_key(spec, tiers, shape))
    if tiers[-1].drifts:
        draws = max(_FEWEST_DRAWS, _EVENT_SAMPLES // size)
        times = spec.work * next(_blocks(size, straggler, spec.seed))[:draws].reshape(-1, *shape)
        return _above(*_played(tiers, times))
    bottom, above = tiers[-1], tiers[:-1]
    found = []
    for digest in _digests(shape, bottom.schedule, bottom.together, straggler, spec.seed):
        passes = bottom.lasts(digest, spec.work)
        if drifts:
            passes = passes[: max(_FEWEST_DRAWS, _EVENT_SAMPLES // size)]
        found.append(_above(above, passes.sum(axis=len(tiers))))
    return np.concatenate(found)


def mean_duration(spec: RoundSpec) -> tuple[float, float, int]:
    """Mean duration of the round [s], its standard error [s], and the number of draws."""
    tiers = _pooled(levels(spec))
    shape = _shape(tiers)
    if not any(level.together for level in tiers) and math.prod(shape) <= _LARGEST_DRAW:
        mean, error, draws = _moments(*_key(spec, tiers, shape))
        return in_step(tiers, 0.0) + spec.work * mean, spec.work * error, draws
    return moments(durations(spec))


def moments(times: FloatArray) -> tuple[float, float, int]:
    """Mean of draws, its standard error, and their number; of one, which is exact, without both."""
    if times.size == 1:
        return float(times[0]), 0.0, 0
    return float(times.mean()), float(times.std(ddof=1)) / math.sqrt(times.size), times.size


def _shape(tiers: tuple[Level, ...]) -> tuple[int, ...]:
    """Of the compute times of a round: passes of every tier, then children."""
    return (*(level.passes for level in tiers), *(level.n for level in tiers))


def _key(spec: RoundSpec, tiers: tuple[Level, ...], shape: tuple[int, ...]) -> tuple[Any, ...]:
    """What the unit durations of a round depend on."""
    patterns = tuple(level.schedule for level in tiers)
    return shape, patterns, spec.method == "schedule", spec.compute.straggler, spec.seed


@lru_cache(maxsize=32)
def _unit(
    shape: tuple[int, ...], patterns: tuple[Schedule, ...], schedule: bool, straggler: Straggler, seed: int
) -> FloatArray:
    """Part of the duration of a round that is in proportion to the mean work, where no transfers meet; (draws,).

    There a digest takes what all children spend alike out of their durations, so all that is not work is what it is
    where the work takes no time. Without a ``schedule`` all nodes of a tier wait for the slowest of any pass.
    """
    *above, bottom = patterns
    if not _kept(shape, 1):
        return _large_units(shape, len(patterns), schedule, straggler, seed)[patterns]
    return _climbed(_digested(shape, bottom, False, straggler, seed), above, schedule)


def _climbed(times: FloatArray, above: Sequence[Schedule], schedule: bool) -> FloatArray:
    """Unit durations of the round from the digests of the passes of the lowest tier; shape (draws,)."""
    for tier in range(len(above), -1, -1):
        if tier < len(above):
            times = above[tier].digest(times, False)
        if schedule:
            times = times.sum(axis=tier + 1)
    unit: FloatArray = times.reshape(len(times), -1).sum(axis=1)
    unit.flags.writeable = False
    return unit


@lru_cache(maxsize=16)
def _large_units(
    shape: tuple[int, ...], depth: int, schedule: bool, straggler: Straggler, seed: int
) -> dict[tuple[Schedule, ...], FloatArray]:
    """Unit durations by the patterns of all tiers: drawing takes longest, and the draws are the same for each."""
    found: dict[tuple[Schedule, ...], list[FloatArray]] = {}
    for drawn in _blocks(math.prod(shape), straggler, seed):
        for bottom in schedules().values():
            digest = bottom.digest(drawn.reshape(-1, *shape), False)
            for above in itertools.product(schedules().values(), repeat=depth - 1):
                found.setdefault((*above, bottom), []).append(_climbed(digest, above, schedule))
    return {patterns: np.concatenate(parts) for patterns, parts in found.items()}


@lru_cache(maxsize=4096)
def _moments(*key: Any) -> tuple[float, float, int]:
    """Of the unit durations."""
    return moments(_unit(*key))


def _pooled(tiers: tuple[Level, ...]) -> tuple[Level, ...]:
    """Join tiers that are one larger tier: one batch of downloads, and one of uploads."""
    found = [tiers[0]]
    for low in tiers[1:]:
        top = found[-1]
        if top.free and low.passes == 1 and low.schedule.pools and low.schedule is top.schedule:
            found[-1] = low._replace(n=top.n * low.n, active=top.active * low.active, passes=top.passes)
        else:
            found.append(low)
    return tuple(found)


def _above(tiers: tuple[Level, ...], times: FloatArray) -> FloatArray:
    """Duration of the round [s] from that of the calls of the lowest of these tiers' children.

    ``times`` [s] have one axis for the draws, then one for the passes of each tier, top first, then one for its
    children.
    """
    while tiers:
        *above, level = tiers
        if level.drifts:
            tiers, times = _played(tiers, times)
        else:
            passes = level.lasts(level.schedule.digest(times, level.together))
            tiers, times = tuple(above), passes.sum(axis=len(tiers))
    return times


def _played(tiers: tuple[Level, ...], times: FloatArray) -> tuple[tuple[Level, ...], FloatArray]:
    """Play the lowest tier with those above it on the same machine; return the tiers left, and the durations."""
    depth, first = len(tiers), len(tiers) - 1
    while first and tiers[first - 1].free:
        first -= 1
    outer = [0, *range(1, first + 1), *range(depth + 1, depth + first + 1)]
    moved = np.moveaxis(times, outer, range(len(outer)))
    inner = moved.shape[len(outer) :]
    ends = [play(tiers[first:], one) for one in moved.reshape(-1, *inner)]
    return tiers[:first], np.array(ends).reshape(moved.shape[: len(outer)])


def play(tiers: Sequence[Level], times: FloatArray) -> float:
    """Duration of a call of a node [s] below which only the lowest tier has links, all of one machine.

    Rings that share a link are chaotic: rounding may move a single duration by a part in a thousand, which leaves the
    average alone. Elsewhere a duration is good to a dozen digits. ``times`` are as in `_above`, without the draws.
    """
    server, ends = Server(tiers[-1].wire), list[float]()
    _call(tiers, times, server)(0.0, ends.append)
    server.run()
    return ends[0]


def _call(tiers: Sequence[Level], times: FloatArray, server: Server) -> Call:
    level, *below = tiers
    channel = AtOnce() if below else server

    def children(here: Any) -> list[Call]:
        if not below:
            return [_leaf(time) for time in here.tolist()]
        return [_call(below, here.take(i, axis=len(below)), server) for i in range(level.n)]

    def call(at: float, done: Done, pass_: int = 0) -> None:
        if pass_ == level.passes:
            done(at)
        else:
            level.schedule.play(channel, children(times[pass_]), at, partial(call, done=done, pass_=pass_ + 1))

    return call


def _leaf(time: float) -> Call:
    return lambda at, done: done(at + time)


# ---------------------------------------------------------------------------------------------------------
# The draws


def factors(rng: np.random.Generator, shape: tuple[int, ...], straggler: Straggler) -> FloatArray:
    """Unit draws, scaled: the same unit draws at every coefficient of variation."""
    if straggler.kind == "exponential":
        drawn = rng.standard_exponential(shape)
        drawn *= straggler.cv
        drawn += 1.0 - straggler.cv
        return drawn
    variance = math.log1p(straggler.cv**2)  # of the log, for a factor of mean 1
    drawn = rng.standard_normal(shape)
    drawn *= math.sqrt(variance)
    drawn -= 0.5 * variance
    np.exp(drawn, out=drawn)
    return drawn


def _blocks(size: int, straggler: Straggler, seed: int) -> Iterator[FloatArray]:
    """The draws, shape (draws, size): all in one block where they are few, else one at a time."""
    rng = np.random.default_rng(seed)
    few = _FEWEST_DRAWS * size <= _CACHED_SAMPLES
    draws = max(_FEWEST_DRAWS, round(_TARGET_SAMPLES / size))
    for _ in range(1 if few else _FEWEST_DRAWS):
        yield factors(rng, (draws if few else 1, size), straggler)


def _digests(
    shape: tuple[int, ...], schedule: Schedule, together: bool, straggler: Straggler, seed: int
) -> Iterator[FloatArray]:
    """What passes of the lowest tier need of the draws, kept between calls where it is small."""
    size = math.prod(shape)
    if _kept(shape, 2 * min(shape[-1], _USUAL) if together else 1):
        yield _digested(shape, schedule, together, straggler, seed)
        return
    for drawn in _blocks(size, straggler, seed):
        yield schedule.digest(drawn.reshape(-1, *shape), together)


def _kept(shape: tuple[int, ...], numbers: int) -> bool:
    """Whether digests of so many numbers for each pass are kept between calls."""
    return max(_TARGET_SAMPLES, _FEWEST_DRAWS * math.prod(shape)) * numbers // shape[-1] <= _CACHED_SAMPLES


@lru_cache(maxsize=32)
def _digested(
    shape: tuple[int, ...], schedule: Schedule, together: bool, straggler: Straggler, seed: int
) -> FloatArray:
    parts = []
    for drawn in _blocks(math.prod(shape), straggler, seed):
        rows = drawn.reshape(-1, shape[-1])
        for few in np.array_split(rows, min(len(rows), 1 + drawn.size // _CACHED_SAMPLES)):  # to spare memory
            digest = schedule.digest(few, together)
            parts.append(schedule.condense(digest) if together else digest)
    if together:
        widest = max(part.shape[-1] for part in parts)
        parts = [np.pad(part, [(0, 0), (0, 0), (0, widest - part.shape[-1])], mode="edge") for part in parts]
    found = np.concatenate(parts)
    found = found.reshape(-1, *shape[:-1], *found.shape[1:])
    found.flags.writeable = False
    return found
