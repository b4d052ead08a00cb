"""The round as a set of processes, played by a simulator that knows nothing of schedules; and what is drawn for it.

Slow, and written from the definitions: every transfer has bits left; at every event the rate of every transfer is the
smallest of its resources' capacity over the number of its users.
"""

import itertools
from contextlib import contextmanager
from heapq import heappop, heappush
from unittest import mock

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

import planner.cost.round as cost
from hflbounds.topology import Topology, all_topologies, two_tier
from planner.cost import stragglers as drawing
from planner.cost.round import RoundSpec
from planner.cost.uneven import durations as durations_by_node
from planner.scenario.network import Compute, Link, Network, Straggler

derandomized = settings(derandomize=True, deadline=None)
METHODS = ("schedule", "formula", "diluted")
TOPOLOGIES = tuple(all_topologies(2))
LAN = Network((Link(8.0, 8.0), Link(8.0, 8.0)))


def spec(topology, *, G, M, P, **rest):
    return RoundSpec(two_tier(topology, G=G, M=M, P=P), **rest)


def round_cost(topology, **arguments):
    return cost.round_cost(spec(topology, **arguments))


def draws(one):
    """Durations of a round [s], one per draw of the compute times; the only one where nothing is drawn."""
    if one.topology.uneven:
        return one.stretch * durations_by_node(one)
    return one.stretch * drawing.durations(one) if one.compute.random else np.array([cost.round_cost(one).seconds])


def round_draws(topology, **arguments):
    return draws(spec(topology, **arguments))


def assert_close(left, right):
    """Draw by draw, over the shorter: a schedule that is played event by event has fewer draws."""
    shorter = min(left.size, right.size)
    assert shorter >= 8
    np.testing.assert_allclose(left[:shorter], right[:shorter], rtol=1e-11)


def forget():
    """Draw anew: what was drawn is kept."""
    for kept in (drawing.durations, drawing._unit, drawing._digested):
        kept.cache_clear()


@contextmanager
def few_draws():
    """Rounds have as few draws as they may, the first of the same stream: an oracle follows no more of them.

    An answer plays a round event by event some hundred times, which takes most of the time of such tests.
    """
    forget()
    with mock.patch.multiple(drawing, _TARGET_SAMPLES=0, _EVENT_SAMPLES=0):
        yield
    forget()


class Simulator:
    """Processes are generators that yield what they wait for.

    ``("wait", seconds)``; ``("send", bits, rates)`` with ``rates`` a list of (resource or None, capacity),
    None for a rate that nobody shares; ``("join", processes)``.
    """

    def __init__(self):
        self.now = 0.0
        self.timers = []
        self.order = itertools.count()
        self.sends = []  # [bits left, rates, process]
        self.waiting = {}  # parent -> number of children under way
        self.parent = {}

    def run(self, process):
        self.resume(process)
        while self.timers or self.sends:
            users = {}
            for _, rates, _ in self.sends:
                for resource, _ in rates:
                    if resource is not None:
                        users[resource] = users.get(resource, 0) + 1
            speeds = [min(cap / users.get(res, 1) for res, cap in rates) for _, rates, _ in self.sends]
            ends = [self.now + bits / v for (bits, _, _), v in zip(self.sends, speeds, strict=True)]
            then = min(ends + ([self.timers[0][0]] if self.timers else []))
            for send, speed in zip(self.sends, speeds, strict=True):
                send[0] -= (then - self.now) * speed
            self.now = then
            done = [s for s, end in zip(self.sends, ends, strict=True) if end <= then]
            self.sends = [s for s in self.sends if all(s is not d for d in done)]
            for _, _, process in done:
                self.resume(process)
            while self.timers and self.timers[0][0] <= self.now:
                self.resume(heappop(self.timers)[2])
        return self.now

    def resume(self, process):
        request = next(process, None)
        if request is None:  # it has ended
            parent = self.parent.get(process)
            if parent is not None:
                self.waiting[parent] -= 1
                if self.waiting[parent] == 0:
                    self.resume(parent)
        elif request[0] == "wait":
            heappush(self.timers, (self.now + request[1], next(self.order), process))
        elif request[0] == "send":
            self.sends.append([request[1], request[2], process])
        else:
            self.waiting[process] = len(request[1])
            for child in request[1]:
                self.parent[child] = process
            for child in request[1]:
                self.resume(child)


def simulate(topology, times, network, bits):
    """End of one round [s] of a tree of any depth.

    ``times`` [s] of K local steps has one axis for the passes of every tier, top first, then one for its children.
    """
    tiers = Topology.of(topology).tiers
    times = np.array(times, dtype=object)
    times = times.reshape((1,) * (2 * len(tiers) - times.ndim) + times.shape)  # one pass at the top may be left out
    tiers_and_links = list(zip(tiers, network.links, strict=True))

    def traverse(link, server, *directions):
        """One traversal: up, down, or both at once for a direct hop."""
        if link is None:
            return
        shared = link.sharing == "per-server"
        number = type(bits)  # float, or one with more digits
        rates = [((server, d) if shared else None, number(link.up if d == "up" else link.down)) for d in directions]
        yield ("send", bits, rates)
        yield ("wait", link.latency)

    def hop(link, server):
        if link is not None and link.hop == "direct":
            yield from traverse(link, server, "up", "down")
        else:
            yield from traverse(link, server, "up")
            yield from traverse(link, server, "down")

    def exchange(link, server, below):
        yield from traverse(link, server, "down")
        yield from below
        yield from traverse(link, server, "up")

    def node(passes, path, server):
        """A call of a node below the root, or of a client."""
        depth = len(path)
        if depth == len(tiers):
            yield ("wait", times[(*passes, *path)])
            return
        tier, link = tiers_and_links[depth]
        size, repeats = times.shape[len(tiers) + depth], times.shape[depth]
        for p in range(repeats):
            # a child that is joined by no link sits where its parent sits
            below = [node((*passes, p), (*path, c), server if link is None else (*path, c)) for c in range(size)]
            if tier.pattern.id == "star":
                yield ("join", [exchange(link, server, child) for child in below])
                continue
            yield from traverse(link, server, "down")
            for c, child in enumerate(below):
                if c:
                    yield from hop(link, server)
                yield from child
            yield from traverse(link, server, "up")

    return Simulator().run(node((), (), ()))


def factors(straggler, seed, draws, *shape):
    """The first draws of the documented stream, shape (draws, passes of every tier, sizes of every tier)."""
    rng = np.random.default_rng(seed)
    if straggler.kind == "exponential":
        return 1 - straggler.cv + straggler.cv * rng.standard_exponential((draws, *shape))
    variance = np.log(1 + straggler.cv**2)
    return np.exp(np.sqrt(variance) * rng.standard_normal((draws, *shape)) - variance / 2)


rates = st.sampled_from([1.0, 2.0, 3.0, 7.0])
latencies = st.sampled_from([0.0, 0.25, 1.0])
links = st.builds(
    Link,
    up=rates,
    down=rates,
    latency=latencies,
    sharing=st.sampled_from(["per-client", "per-server"]),
    hop=st.sampled_from(["relayed", "direct"]),
)
networks = st.builds(Network.two_tier, tiers=st.sampled_from([1, 2]), client_link=links, server_link=links)
stragglers = st.one_of(
    st.builds(Straggler, st.just("exponential"), st.sampled_from([0.1, 0.5, 1.0])),
    st.builds(Straggler, st.just("lognormal"), st.sampled_from([0.1, 0.5, 2.0])),
)
small = st.integers(1, 4)


@st.composite
def cases(draw, straggler=stragglers, network=networks, largest=4):
    """Keyword arguments of a small round."""
    count = st.integers(1, largest)
    return {
        "G": draw(count),
        "M": draw(count),
        "P": draw(st.integers(1, 3)),
        "K": draw(st.integers(1, 5)),
        "network": draw(network),
        "compute": Compute(draw(st.sampled_from([0.1, 1.0, 4.0])), draw(straggler)),
        "model_bytes": draw(st.sampled_from([0.125, 0.5, 2.0])),
    }


def compute_times(case, seed, draws):
    compute = case["compute"]
    drawn = factors(compute.straggler, seed, draws, case["P"], case["G"], case["M"])
    return compute.step_time * case["K"] * drawn


def phones(sharing="per-client", hop="relayed"):
    return {
        "G": 12,
        "M": 25,
        "P": 2,
        "K": 5,
        "network": Network.two_tier(
            2, Link(20e6, 100e6, 0.0, sharing, hop), Link(1e9, 1e9, 0.0, "per-server", "direct")
        ),
        "compute": Compute(0.2),
        "model_bytes": 44.8e6,
    }
