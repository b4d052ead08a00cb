"""Rounds of fleets by list, whose groups, speeds and links differ: every node with its own children.

A node waits for its children as its pattern says: a star for the slowest of its own, a ring for all of them. Times are
exact where nothing is random. They are averages over draws where compute times vary or only some are drawn, which are
drawn anew for every round. Two cases are bounded from above: a rate that children of several nodes share is divided by
as many as could use it at one time, and with the methods ``formula`` and ``diluted`` all nodes of a tier take what the
slowest takes.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np

from hflbounds.topology import Children, Tier, Topology
from planner.cost.patterns import Crowd, FloatArray, Ints, Schedule, schedules
from planner.cost.spec import CostError, RoundSpec
from planner.cost.stragglers import factors
from planner.cost.wires import Wire, wire
from planner.scenario.members import Members
from planner.scenario.network import NOTHING, Link

_TARGET: Final = 100_000  # numbers drawn in all, when that gives enough draws
_FEWEST: Final = 8  # draws
_MOST: Final = 512
_LARGEST: Final = 20_000_000  # numbers in one draw


class _Line(NamedTuple):
    """One tier, as its nodes are timed."""

    schedule: Schedule
    children: Children
    drawn: int | None  # children that take part in a pass
    passes: int
    wire: Wire  # to the children
    own_wires: Wire | None  # of every link by number, where children have links of their own
    link_of: Ints | None  # the number of every child's link
    sharers: Ints  # transfers at the same time on what is shared, by node
    together: bool  # whether these wait for one another, each node's on a rate of its own


@lru_cache(maxsize=256)
def durations(spec: RoundSpec) -> FloatArray:
    """Duration of the round [s] for every draw, shape (draws,); of one, which is exact, where nothing is random.

    Raises:
        CostError: If one draw is too large.
    """
    lines = _lines(spec)
    choosing = any(line.drawn is not None and line.drawn < line.children.sizes.max() for line in lines)
    if spec.compute.random or choosing:
        return _drawn(spec, lines)
    times, pace = np.zeros(0), _pace(spec)
    ends: FloatArray | float
    for line in reversed(lines):
        sharers, starts = line.sharers, line.children.starts
        if line.together:
            every = times if len(times) else np.broadcast_to(spec.work * pace, spec.topology.clients)
            times = _passes(line, every[None], np.random.default_rng(0))[0]
        else:
            if not len(times):
                crowd = _crowd(line.schedule, line.children, spec.members)
                wires = line.own_wires or Wire(*(np.array([part]) for part in line.wire))  # type: ignore[arg-type]
                mine, following = _numbered(wires, crowd.link), _numbered(wires, crowd.following)
                turns = line.schedule.turns(mine, following, crowd.last, sharers[crowd.node])
                each, ends = crowd.number * turns + spec.work * crowd.pace, 0.0
                starts = np.searchsorted(crowd.node, np.arange(len(sharers)))
            else:
                turn, ends = line.schedule.transfers(line.wire, sharers)  # type: ignore[arg-type]
                each = times + np.broadcast_to(turn, len(sharers))[line.children.parents]
            times = line.schedule.over(each, starts) + ends
        if spec.method != "schedule":
            times = np.full_like(times, times.max())
        times = line.passes * times
    return np.asarray(times)


def _drawn(spec: RoundSpec, lines: list[_Line]) -> FloatArray:
    """Durations where compute times vary, or only some are drawn."""
    clients, passes = spec.topology.clients, [line.passes for line in lines]
    size = clients * math.prod(passes) if spec.compute.random else clients
    if size > _LARGEST:
        raise CostError(
            f"compute.straggler: {size} compute times of a round are too many to draw, at most {_LARGEST:g}. Use the "
            "straggler kind none, or time fewer group rounds."
        )
    rng, few = np.random.default_rng(spec.seed), _FEWEST * size > 8 * _TARGET
    draws = min(_MOST, max(_FEWEST, round(_TARGET / size)))
    found = []
    for _ in range(draws if few else 1):
        shape = (1 if few else draws, *(passes if spec.compute.random else []), clients)
        unit = factors(rng, shape, spec.compute.straggler) if spec.compute.random else np.ones(shape)
        times = spec.work * _pace(spec) * unit
        for level in range(len(lines) - 1, -1, -1):
            line = lines[level]
            times = _passes(line, times, rng)
            if spec.method != "schedule":
                times = np.broadcast_to(times.max(axis=-1, keepdims=True), times.shape)
            times = times.sum(axis=1 + level) if spec.compute.random else line.passes * times
        found.append(times[:, 0])
    return np.concatenate(found)


@lru_cache(maxsize=256)
def traffic(spec: RoundSpec) -> tuple[float, ...]:
    """Bytes on the links of every tier, top first; in the mean over who is drawn."""
    there = [None if link in (None, NOTHING) else link for link in spec.network.links]
    hops = tuple(link and replace(link, up=1.0, down=1.0, latency=0.0) for link in there)
    return tuple(models * spec.model_bytes for models in _models(spec.topology, hops, spec.members))


@lru_cache(maxsize=256)
def _models(topology: Topology, hops: tuple[Link | None, ...], members: Members | None) -> tuple[float, ...]:
    """Models that travel on the links of every tier, which rates do not change."""
    passes, found = 1, []
    for level, (tier, link) in enumerate(zip(topology.tiers, hops, strict=True)):
        children = _children(tier)
        passes *= tier.passes
        there = _taking_part(children, tier.drawn)
        if link is None:
            found.append(0.0)
        else:
            links, link_of = _links(link, members if level == topology.depth - 1 else None)
            shares = np.ones((1, 1))
            if link_of is not None:
                shares = np.zeros((len(links), len(there)))
                weights = 1 / np.repeat(children.sizes, children.sizes)
                np.add.at(shares, (link_of, children.parents), weights)
            models = schedules()[tier.pattern.id].models
            each = np.array([[models(n, n, 1, one) for n in there.tolist()] for one in links])
            found.append(passes * float(topology.presence(level) @ (shares * each).sum(axis=0)))
    return tuple(found)


def at_work(spec: RoundSpec) -> tuple[float, float]:
    """Clients that take part in one pass of every tier, and their device-seconds of local steps in a round.

    Both in the mean over draws.
    """
    there = spec.topology.presence(spec.topology.depth)
    passes = math.prod(one.passes for one in spec.topology.tiers)
    return float(there.sum()), passes * spec.work * float(np.sum(there * _pace(spec)))


def on_air(spec: RoundSpec) -> float:
    """Device-seconds of sending and receiving on the links of clients; each link as if its node had no other."""
    tier, link, level = spec.topology.tiers[-1], spec.network.links[-1], spec.topology.depth - 1
    children = _children(tier)
    links, link_of = _links(link, spec.members)
    wires, there = [wire(one, spec.model_bytes) for one in links], _taking_part(children, tier.drawn)
    each = np.array([[schedules()[tier.pattern.id].on_air(n, one) for n in there.tolist()] for one in wires])
    mine = each[0 if link_of is None else link_of, children.parents] / children.sizes[children.parents]
    passes = math.prod(one.passes for one in spec.topology.tiers)
    return passes * float(spec.topology.presence(level)[children.parents] @ mine)


@lru_cache(maxsize=64)
def _crowd(schedule: Schedule, children: Children, members: Members | None) -> Crowd:
    """Clients of every node, joined where a pass need not tell them apart."""
    link, pace = np.zeros(len(children.shares), dtype=np.int64), np.ones(len(children.shares))
    if members is not None and members.link_of is not None:
        link = members.link_of
    if members is not None and members.pace is not None:
        pace = members.pace
    return schedule.crowd(children.parents, link, pace)


def _links(link: Link | None, members: Members | None) -> tuple[list[Link | None], Ints | None]:
    """Links of clients by number, the scenario's last, and the number of every client's; None where all have that."""
    if members is None or members.link_of is None:
        return [link], None
    return [*members.links, link], members.link_of


def _numbered(wires: Wire, number: Ints) -> Wire:
    """Wires of these numbers."""
    return Wire(*(part[number] for part in wires))  # type: ignore[index]


def _pace(spec: RoundSpec) -> FloatArray | float:
    return 1.0 if spec.members is None or spec.members.pace is None else spec.members.pace


def _passes(line: _Line, times: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Durations of one pass of every node from those of its children's calls, on the last axis."""
    out = np.empty((*times.shape[:-1], len(line.children.sizes)))
    for nodes, places in line.children.by_size():
        n, sharers = places.shape[1], line.sharers[nodes][:, None]
        part = n if line.drawn is None else min(line.drawn, n)
        who = np.broadcast_to(places, (*times.shape[:1], *[1] * (times.ndim - 2), *places.shape))
        if part < n:
            chosen = np.argsort(rng.random((len(times), *places.shape)), axis=-1)[..., :part]
            who = np.take_along_axis(who, chosen.reshape(*who.shape[:-1], part), axis=-1)
        flat = who.reshape(*who.shape[:-2], -1)
        own = np.take_along_axis(times, np.broadcast_to(flat, (*times.shape[:-1], flat.shape[-1])), axis=-1)
        own = own.reshape(*times.shape[:-1], len(nodes), part)
        if line.together:
            digest = line.schedule.digest(own, True)
            out[..., nodes] = line.schedule.meet(digest, 1.0, line.wire, part)
            continue
        if line.own_wires is not None and line.link_of is not None:
            links = line.link_of[who]
            mine, following = (_numbered(line.own_wires, at) for at in (links, np.roll(links, -1, axis=-1)))
            own = own + line.schedule.turns(mine, following, np.arange(part) == part - 1, sharers)
            out[..., nodes] = line.schedule.digest(own, False)
            continue
        turn, ends = line.schedule.transfers(line.wire, sharers)  # type: ignore[arg-type]
        out[..., nodes] = line.schedule.digest(own + turn, False) + np.ravel(ends)
    return out


def _lines(spec: RoundSpec) -> list[_Line]:
    """Every tier, top first."""
    found: list[_Line] = []
    links, tiers, members = spec.network.links, spec.topology.tiers, spec.members
    every = [_children(tier) for tier in tiers]
    for level, (tier, link, children) in enumerate(zip(tiers, links, every, strict=True)):
        own_links, link_of = _links(link, members if level == len(tiers) - 1 and link is not None else None)
        listed = link_of is not None
        shared = spec.method == "schedule" and link is not None and link.sharing == "per-server" and not listed
        sharers = np.ones(len(children.sizes), dtype=np.int64)
        alone = level == 0 or links[level - 1] is not None
        if shared or spec.method == "diluted":
            there = _taking_part(children, tier.drawn)
            active = there if tier.pattern.side_by_side(2) > 1 else np.ones_like(there)
            sharers = _at_once(active, level, spec, every)
        own_wires = None
        if listed:
            wires = [wire(one, spec.model_bytes) for one in own_links]
            own_wires = Wire(*(np.array(part) for part in zip(*wires, strict=True)))  # type: ignore[arg-type]
        found.append(
            _Line(
                schedule=schedules()[tier.pattern.id],
                children=children,
                drawn=tier.drawn,
                passes=tier.passes,
                wire=wire(link, spec.model_bytes),
                own_wires=own_wires,
                link_of=link_of,
                sharers=sharers,
                together=shared and alone and tier.pattern.side_by_side(2) > 1,
            )
        )
    return found


def _at_once(active: Ints, level: int, spec: RoundSpec, every: list[Children]) -> Ints:
    """Transfers at one time on the machine of every node, at most: of nodes side by side all that take part."""
    up = level
    while up > 0 and spec.network.links[up - 1] is None:
        up -= 1
        tier, above = spec.topology.tiers[up], np.empty(len(every[up].sizes), dtype=np.int64)
        for nodes, places in every[up].by_size():
            n = places.shape[1]
            there = tier.pattern.side_by_side(n if tier.drawn is None else min(tier.drawn, n))
            above[nodes] = np.sort(active[places], axis=-1)[:, -there:].sum(axis=-1)
        active = above
    for below in range(up, level):
        active = active[every[below].parents]
    return active


def _children(tier: Tier) -> Children:
    assert tier.children is not None, tier  # noqa: S101 - of uneven trees alone
    return tier.children


def _taking_part(children: Children, drawn: int | None) -> Ints:
    return children.sizes if drawn is None else np.minimum(children.sizes, drawn)
