"""Which links to drop: one by one, each the one that costs fewest local steps for the airtime it saves."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from planner.data.coverage import Floats, Layout
from planner.families.hhfl.model import Airtime, Gaps, Mask, Modes, Moments, Schedules, Task, cloud_rounds, drift, modes

MAX_STEPS = 400  # links that are dropped one by one
MAX_TRIED = 200_000  # removals that are evaluated, in all
KEPT = 2_000  # numbers of the modes of removals that are kept, and such modes
BATCH = 18_000  # squared servers times removals that are evaluated at once


@dataclass(frozen=True)
class Dropped:
    """One link less."""

    client: int  # client, server: indices in the layout it began with
    server: int
    links: int  # number of those that are left
    local_steps: float  # local steps to the target without it and those before, as runs let expect
    airtime_seconds: float  # airtime_seconds, seconds, bytes: what all of them take to the target
    seconds: float
    bytes: float


@dataclass(frozen=True, eq=False)
class Thinned:
    """Links dropped one by one."""

    layout: Layout  # layout it began with
    path: tuple[Dropped, ...]  # dropped links in order
    tried: int  # number of removals that were evaluated
    complete: bool  # whether every step looked at every link that may go, until none may
    left: dict[int, Layout] = field(default_factory=dict)  # layouts that `after` has made

    def after(self, count: int) -> Layout:
        """The layout without the first links of the path."""
        if count not in self.left:
            gone = np.zeros(self.layout.airtime.shape, dtype=bool)
            for step in self.path[:count]:
                gone[step.client, step.server] = True
            self.left[count] = self.layout.without(gone)
        return self.left[count]


def thin(
    layout: Layout, gaps: Gaps, task: Task, target: float, cost: Airtime, power: float = 1.0, *, by_pace: bool = False
) -> Thinned:
    """Drop links one by one.

    Every client keeps its home, so that the way ends at HFL, and every step evaluates the bound of what would be left.
    Links of clients that differ in nothing are one case. ``power`` is that of `Option.expected`. ``by_pace``, those
    go first that set the pace of a round: no others save time.
    """
    servers, clients = len(layout.servers), len(layout.clients)
    links = layout.links.copy()
    extra = int(links.sum()) - clients
    steps = min(extra, MAX_STEPS)
    each = max(int(MAX_TRIED / (1 + servers**3 / 600)) // max(steps, 1), 1)
    kinds = _kinds(layout, gaps)
    path: list[Dropped] = []
    tried, complete = 0, steps == extra

    def steps_of(found: Modes) -> Floats:
        return Schedules.of(drift(found, gaps.squares, task, task.sigma), 1 / clients, task).steps(target)

    apart = steps_of(modes(layout.apart, gaps))
    now = float(apart * (steps_of(modes(layout, gaps)) / apart) ** power)
    for _ in range(steps):
        cases = _cases(links, kinds, layout)
        if by_pace:
            slow = cost.pace(np.where(links, layout.airtime, 0))[2][tuple(cases.T)]
            cases = cases[slow] if slow.any() else cases
        if len(cases) > each:
            cases = cases[np.linspace(0, len(cases) - 1, each).astype(int)]
            complete = False
        tried += len(cases)
        parts = np.array_split(cases, -(-len(cases) * servers**2 // BATCH))
        bounds = np.concatenate([steps_of(_removed(layout, links, gaps, part)) for part in parts])
        after = apart * (bounds / apart) ** power
        saved = np.array([_saved(np.where(links[i], layout.airtime[i], 0), n, cost) for i, n in cases.tolist()])
        with np.errstate(divide="ignore"):
            price = np.where(saved > 0, (after - now) / np.where(saved > 0, saved, 1), np.inf)
        best = int(np.argmin(np.round(price / max(now, 1), 15)))
        i, n = cases[best].tolist()
        links[i, n] = False
        now = float(after[best])
        left = replace(layout, airtime=np.where(links, layout.airtime, 0))
        taken = cost.of_a_round(left, task.Ge), cost.seconds(left, task.E, task.Ge), cost.bytes(left, task.Ge)
        rounds = cloud_rounds(now, task.E * task.Ge)
        path.append(Dropped(i, n, int(links.sum()), now, *(rounds * one for one in taken)))
    return Thinned(layout, tuple(path), tried, complete)


def _kinds(layout: Layout, gaps: Gaps) -> NDArray[np.int64]:
    """A number for every client, the same for those with the same home and gradient."""
    known = layout.home[:, None].astype(float)
    if gaps.points is not None:
        known = np.hstack([known, gaps.points])
    return np.unique(known, axis=0, return_inverse=True)[1].reshape(-1)


def _cases(links: Mask, kinds: NDArray[np.int64], layout: Layout) -> NDArray[np.int64]:
    """Clients and servers of links that may go, one for each kind."""
    more = np.flatnonzero(links.sum(axis=1) > 1)
    known = np.hstack([kinds[more, None].astype(float), np.where(links, layout.airtime, 0)[more]])
    first = np.sort(np.unique(known, axis=0, return_index=True)[1])
    found = [(i, n) for i in more[first] for n in np.flatnonzero(links[i]) if n != layout.home[i]]
    return np.array(found, dtype=np.int64)


def _removed(layout: Layout, links: Mask, gaps: Gaps, cases: NDArray[np.int64]) -> Modes:
    """Modes of a layout with these links without one more, for each case.

    Small ones are kept: other numbers of local steps and edge rounds, which come next, often drop the same links.
    """
    key = (links.tobytes(), cases.tobytes(), None if gaps.points is None else gaps)
    found = layout.known.get(key)
    if found is None:
        found = _without_one(links, layout.home, gaps, cases)
        if found.energy.size <= KEPT and len(layout.known) < KEPT:
            layout.known[key] = found
    return found


def _without_one(links: Mask, home: NDArray[np.int64], gaps: Gaps, cases: NDArray[np.int64]) -> Modes:
    """Modes without one link, for each case, by what it changes in the moments."""
    known = Moments.of(links, home, gaps)
    i, n = cases.T
    before = links[i] / links[i].sum(axis=1, keepdims=True)
    after = links[i].copy()
    after[np.arange(len(i)), n] = False
    changed = after / after.sum(axis=1, keepdims=True)
    loads = known.loads + (changed - before) / known.clients

    def outer(a: Floats, b: Floats) -> Floats:
        return np.asarray(a[:, :, None] * b[:, None, :]) / known.clients

    products = known.products + outer(changed, changed) - outer(before, before)
    sums = known.sums + outer(changed - before, known.columns[i])
    return replace(known, loads=loads, products=products, sums=sums).modes()


def _saved(airtime: Floats, n: int, cost: Airtime) -> float:
    """Seconds of transmission of an exchange that one of a client's links takes."""
    rest = airtime.copy()
    rest[n] = 0
    return cost.exchange(float(cost.sent(airtime) - cost.sent(rest)), float(airtime[n]))
