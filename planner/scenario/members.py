"""What a list says of a fleet, as costs and predictions take it: children of every node, speeds, links, attendance."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from hflbounds.topology import Children, branches
from planner.data.fleet import Listed
from planner.errors import ScenarioError
from planner.io.csv_rows import Floats, Indices
from planner.scenario.network import PRESETS, Link

Weights = Literal["samples", "equal"]


@dataclass(frozen=True, eq=False)
class Members:
    """A fleet whose nodes differ; equal contents compare equal."""

    children: tuple[Children, ...]  # of every node above each tier, top first, with what each counts
    everyone: tuple[bool, ...]  # whether all children of a tier take part, top first
    pace: Floats | None = None  # mean time of every client's local step over that of all; None where they are alike
    links: tuple[Link, ...] = ()  # of clients that have another than the scenario's
    link_of: Indices | None = None  # the link of every client, -1 for the scenario's; None where all have that
    availability: Floats | None = None  # of every client; None where it is the scenario's

    @property
    def alike(self) -> bool:
        """Whether no node and no client differs from another."""
        told = (self.pace, self.link_of, self.availability)
        return all(one is None for one in told) and all(tier.alike for tier in self.children)

    @cached_property
    def digest(self) -> bytes:
        """Of the contents."""
        arrays = [one for one in (self.pace, self.link_of, self.availability) if one is not None]
        told = hashlib.blake2b(repr((self.everyone, self.links, [one.dtype for one in arrays])).encode())
        for part in (*(tier.digest for tier in self.children), *(one.tobytes() for one in arrays)):
            told.update(part)
        return told.digest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Members) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    @property
    def _weight(self) -> Floats:
        """Share of every client."""
        weight = np.ones(1)
        for tier in self.children:
            weight = weight[tier.parents] * tier.shares
        return weight

    def part(self, at: int) -> Members:
        """What is below one child of the root, and the root with that child alone."""
        sizes, first, last = [np.ones(1, dtype=np.int64)], at, at + 1
        for tier in self.children[1:]:
            sizes.append(tier.sizes[first:last])
            ends = np.concatenate(([0], np.cumsum(tier.sizes)))
            first, last = int(ends[first]), int(ends[last])
        own = {name: getattr(self, name) for name in ("pace", "link_of", "availability")}
        told: dict[str, Any] = {name: one if one is None else one[first:last] for name, one in own.items()}
        return replace(self, children=branches(sizes, self._weight[first:last]), **told)

    def as_one_group(self, depth: int) -> Members:
        """The same clients below one node, and that below as many more as the depth has."""
        weight = self._weight
        sizes = [np.ones(1, dtype=np.int64)] * (depth - 1) + [np.array([len(weight)])]
        return replace(self, children=branches(sizes, weight), everyone=(True,) * (depth - 1) + (all(self.everyone),))


def members(
    listed: Listed,
    weights: Weights,
    step_time: float,
    availability: float,
    everyone: Sequence[bool],
    field: str,
    *,
    own_links: bool = False,
) -> Members:
    """Take from a list what differs between nodes.

    ``step_time`` [s] and ``availability`` are of clients whose own is not listed,
    ``field`` is what the list is called in messages, ``own_links`` are no client's and another's, whatever their kind.

    Raises:
        ScenarioError: If clients on links of different kinds share a rate, or samples are asked for and not listed.
    """
    if weights == "samples" and listed.samples is None:
        raise ScenarioError(
            f"--weights: {listed.source} has no samples to count by. Add the column samples, or write --weights equal."
        )
    own = steps(listed, step_time)
    names = tuple(dict.fromkeys(name for name in listed.link or () if name))
    links = tuple(PRESETS[name].link for name in names)
    if own_links:
        links = tuple(replace(link, sharing="per-client") for link in links)
    shared = [name for name, link in zip(names, links, strict=True) if link.sharing == "per-server"]
    if shared:
        raise ScenarioError(
            f"{field}: the link {shared[0]} is shared per server, which is not one client's. Write --link-sharing "
            f"per-client if each of these clients has that rate for itself; else leave their links out, and write "
            f"--client-link {shared[0]} for all."
        )
    place = {name: i for i, name in enumerate(names)} | {"": -1}
    there = listed.availability
    return Members(
        children=branches(listed.sizes, listed.samples if weights == "samples" else None),
        everyone=tuple(everyone),
        pace=None if own.min() == own.max() else own / own.mean(),
        links=links,
        link_of=None if listed.link is None else np.array([place[name] for name in listed.link], dtype=np.int64),
        availability=None if there is None else np.where(np.isnan(there), availability, there),
    )


def steps(listed: Listed, step_time: float) -> Floats:
    """Mean time of every client's local step [s]."""
    if listed.step_time is None:
        return np.full(listed.nodes[-1], step_time)
    return np.where(np.isnan(listed.step_time), step_time, listed.step_time)
