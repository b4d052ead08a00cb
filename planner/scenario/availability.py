"""Who comes when asked, and what is done about those who do not: the settings, and how they are read.

`planner.cost.reliability` says what they make of a round, `planner.predict.participation` what they make of an answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from planner.errors import ScenarioError
from planner.scenario.fields import AvailabilitySection, OnFailure
from planner.scenario.network import Compute
from planner.scenario.resolve import Known

PATIENCE: Final = 2.0
"""Usual turns of a client until a device that does not come is given up, where nobody said."""


@dataclass(frozen=True, slots=True)
class Availability:
    """Who comes, and what is done about those who do not.

    Attributes:
        client: Probability that a client that is asked completes its turn: model in, K local steps, model out.
        server: The same for a group server and its part of a global round.
        policy: What a ring does where a device does not come: ``fail``, ``skip``, ``timeout``.
        detect: Time from asking a device to giving it up [s]; None for `PATIENCE` usual turns of a client.
        timeout: Longest turn of a client that is waited for under ``timeout`` [s]; None for the one that costs the
            fewest seconds per client that comes.
        mtbf: Mean time between failures of a client at work [s]: a turn of x seconds then also survives with
            probability exp(-x/mtbf), and a ring's pass with that of its whole duration; None for no such failures.
        quorum: Least share of its endpoints that a star needs under ``fail``; None for one endpoint.
    """

    client: float = 1.0
    server: float = 1.0
    policy: OnFailure = "fail"
    detect: float | None = None
    timeout: float | None = None
    mtbf: float | None = None
    quorum: float | None = None

    def steady(self, compute: Compute) -> bool:
        """Whether everyone always comes, and nobody is waited for in vain."""
        varies = compute.straggler.kind != "none" and compute.straggler.cv > 0 and compute.step_time > 0
        cut = self.policy == "timeout" and (self.timeout is not None or varies)
        return self.client == self.server == 1 and self.mtbf is None and not cut


def resolve(section: AvailabilitySection, known: dict[str, Known], name: Callable[[str], str]) -> Availability | None:
    """The settings that a section says, with the origin of each; None where it says nothing.

    Args:
        section: as written.
        known: of the scenario; what is resolved joins it.
        name: what a field is called in errors.

    Raises:
        ScenarioError: where fields contradict each other.
    """
    if section == AvailabilitySection():
        return None
    policy: OnFailure = section.policy or ("timeout" if section.timeout is not None else "fail")
    if section.timeout is not None and policy != "timeout":
        raise ScenarioError(
            f"{name('availability.timeout')}: under the policy {policy} nobody is cut off. "
            "Write --on-failure timeout, or leave the timeout out."
        )
    if section.detect is not None and policy == "timeout":
        raise ScenarioError(
            f"{name('availability.detect')}: under the policy timeout a device is given up after the timeout. "
            "Leave one of the two out."
        )
    if section.quorum is not None and policy != "fail":
        raise ScenarioError(
            f"{name('availability.quorum')}: under the policy {policy} a round goes on with whoever comes. "
            "Write --on-failure fail, or leave the quorum out."
        )
    if section.server is not None and known["tiers"].value == 1:
        raise ScenarioError(
            f"{name('availability.server')}: with one tier there are no group servers that could be missing. "
            "Leave it out, or set --tiers 2."
        )
    origin_of_policy = Known(policy, "given" if section.policy else "derived" if section.timeout else "default")
    known["availability.policy"] = origin_of_policy
    for part, note in (("client", "every client that is asked"), ("server", "every group server")):
        share = getattr(section, part)
        known[f"availability.{part}"] = (
            Known(1.0, "default", note=f"{note} completes its turn")
            if share is None
            else Known(float(share), "given", reading=share.reading)
        )
    for part, default in (
        ("detect", None if policy == "timeout" else f"{PATIENCE:g} usual turns of a client until one is given up"),
        ("timeout", "the fewest seconds per client that comes" if policy == "timeout" else None),
        ("mtbf", None),
    ):
        duration = getattr(section, part)
        if duration is not None:
            known[f"availability.{part}"] = Known(float(duration), "given", "s", reading=duration.reading)
        elif default is not None:
            known[f"availability.{part}"] = Known(None, "default" if part == "detect" else "derived", "s", default)
    if section.quorum is not None:
        known["availability.quorum"] = Known(float(section.quorum), "given", reading=section.quorum.reading)
    return Availability(
        client=float(section.client or 1.0),
        server=float(section.server or 1.0),
        policy=policy,
        detect=None if section.detect is None else float(section.detect),
        timeout=None if section.timeout is None else float(section.timeout),
        mtbf=None if section.mtbf is None else float(section.mtbf),
        quorum=None if section.quorum is None else float(section.quorum),
    )
