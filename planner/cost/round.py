"""Seconds and bytes of one global round of a tree of any depth.

A server's call is as many passes over its children as its tier has, each of which the pattern of the tier schedules
(`planner.cost.patterns`), and one exchange with the server above. Three ways to time a round:

* ``formula``: the sum over the tiers of what its passes take, every transfer at the full rate, and of the work; for two
  tiers ``T_inter + P * T_intra`` (zhou2026, camera-ready version, Appendix A.2, eq. (24), Table 3);
* ``diluted``: the same with the rate of a star tier divided by the number of endpoints that talk to its
  server (same place, "Bandwidth Constraints and Practical Latency");
* ``schedule``: the discrete synchronous schedule of the same round, with sharing where the network says
  ``per-server``. Where nothing is shared and the top is a star, (24) is only an upper bound of it: it adds
  the slowest group of the top tier to the slowest group of every group round, and these need not be the same
  group. Where a rate is shared, (24) does not see it.

The paper has neither latency nor a relayed hop; all three methods here add one latency per hop, and take a
ring's hop to be what the link says.

Without stragglers all nodes of a tier move in step, the schedule has a closed form, and the answer is exact and
takes no memory at any size. (In step is the slowest way for relayed rings to share one server: all
upload, then all download. Out of step the two directions overlap, so that there stragglers may shorten the
round.) With stragglers it is an average over draws of compute times (`planner.cost.stragglers`), with its standard
error. Fleets by list are timed node by node (`planner.cost.uneven`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from planner.cost import stragglers, uneven
from planner.cost.patterns import schedules
from planner.cost.spec import CostError, RoundSpec, in_step, levels
from planner.scenario.network import NOTHING

if TYPE_CHECKING:
    from planner.cost.footprint import Footprint

__all__ = ["CostError", "RoundCost", "RoundSpec", "round_cost"]


@dataclass(frozen=True, slots=True)
class RoundCost:
    """What one global round costs."""

    seconds: float  # duration of the round [s]; with stragglers its mean over the draws
    bytes: float  # traffic [bytes], every traversal of a link counted
    bytes_by_tier: tuple[float, ...]  # the parts of ``bytes`` on the links of every tier, top first [bytes]
    standard_error: float  # standard error of ``seconds`` [s]; 0 where it is exact
    draws: int  # number of draws behind ``seconds``; 0 where it is exact
    footprint: Footprint | None = None  # energy, carbon and money; None where nobody asked

    def amount(self, objective: str) -> float:
        """What one round adds to an objective; infinite where nothing is known of it."""
        if objective in ("rounds", "time", "traffic"):
            return {"rounds": 1.0, "time": self.seconds, "traffic": self.bytes}[objective]
        found = getattr(self.footprint, objective, None)
        return math.inf if found is None else float(found.value)


def round_cost(spec: RoundSpec) -> RoundCost:
    """Time and traffic of one global round.

    Raises:
        CostError: If stragglers are asked for at a size that cannot be drawn, or the round is too long for a number.
    """
    if spec.network.timer is not None:
        seconds = spec.network.timer(spec.topology, spec.K, spec.compute, spec.model_bytes)
        error, draws = 0.0, 0
    elif spec.topology.uneven:
        seconds, error, draws = stragglers.moments(uneven.durations(spec))
    elif spec.compute.random:
        seconds, error, draws = stragglers.mean_duration(spec)
    else:
        seconds, error, draws = in_step(levels(spec), spec.work), 0.0, 0
    seconds, error = spec.stretch * seconds, spec.stretch * error
    if not math.isfinite(seconds):
        raise CostError(
            "network: the round would last longer than any number of seconds that can be written. "
            "Check the rates, the step time and the counts."
        )
    traffic = _traffic(spec)
    return RoundCost(seconds, sum(traffic), traffic, error, draws)


def _traffic(spec: RoundSpec) -> tuple[float, ...]:
    """Bytes on the links of every tier, top first."""
    if spec.topology.uneven:
        return uneven.traffic(spec)
    nodes, found = 1, []
    for tier, link in zip(spec.topology.tiers, spec.network.links, strict=True):
        nodes *= tier.passes
        n = tier.taking_part
        models = 0 if link in (None, NOTHING) else schedules()[tier.pattern.id].models(n, n, 1, link)
        found.append(float(nodes * models) * spec.model_bytes)
        nodes *= tier.taking_part
    return tuple(found)
