"""Who comes when asked, and what is done about those who do not: the settings, and how they are read.

`planner.cost.reliability` says what they make of a round, `planner.predict.participation` what they make of an answer.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from planner.errors import ScenarioError
from planner.scenario.fields import OnFailure
from planner.scenario.network import Compute
from planner.scenario.units import Turns
from planner.scenario.values import Known
from planner.scenario.written import Written

PATIENCE: Final = 2.0  # usual turns of a client until a device that does not come is given up, where nobody said


@dataclass(frozen=True, slots=True)
class Availability:
    """Who comes, and what is done about those who do not."""

    # probability that a client that is asked completes its turn: model in, K local steps, model out
    client: float = 1.0
    server: float = 1.0  # the same for a group server and its part of a global round
    policy: OnFailure = "fail"  # what a ring does where a device does not come: ``fail``, ``skip``, ``timeout``
    # time from asking a device to giving it up [s]; None for ``patience`` usual turns of a client
    detect: float | None = None
    # longest turn of a client that is waited for under ``timeout`` [s]; None for the one that costs the fewest seconds
    # per client that comes
    timeout: float | None = None
    # mean time between failures of a client at work [s]: a turn of x seconds then also survives with probability
    # exp(-x/mtbf), and a ring's pass with that of its whole duration; None for no such failures
    mtbf: float | None = None
    patience: float = field(default=PATIENCE, kw_only=True)
    quorum: float | None = None  # least share of its endpoints that a star needs under ``fail``; None for one endpoint

    @property
    def hurried(self) -> bool:
        """Whether who comes depends on how long a turn takes."""
        return self.mtbf is not None or self.policy == "timeout"

    def steady(self, compute: Compute) -> bool:
        """Whether everyone always comes, and nobody is waited for in vain."""
        cut = self.policy == "timeout" and (self.timeout is not None or compute.random)
        return self.client == self.server == 1 and self.mtbf is None and not cut


def resolve(written: Written, known: dict[str, Known], compute: Compute) -> Availability | None:
    """Resolve who comes, with the origin of each setting; None where nothing is said.

    What is resolved joins ``known``.
    """
    if not written.says("availability"):
        return None
    parts = ("client", "server", "policy", "detect", "timeout", "mtbf", "quorum")
    said = {part: written.get(f"availability.{part}") for part in parts}
    policy: OnFailure = said["policy"] or ("timeout" if said["timeout"] is not None else "fail")
    timed = policy == "timeout"
    refusals = {
        "timeout": (
            not timed,
            f"under the policy {policy} no device is cut off. Write --on-failure timeout, or leave the timeout out.",
        ),
        "detect": (timed, "under the policy timeout a device is given up after the timeout. Leave one of the two out."),
        "quorum": (
            policy != "fail",
            f"under the policy {policy} a round goes on with the devices that are there. Write --on-failure fail, or "
            "leave the quorum out.",
        ),
        "server": (
            known["tiers"].value == 1,
            "with one tier there are no group servers that could be missing. Leave it out, or set --tiers 2.",
        ),
    }
    for part, (wrong, why) in refusals.items():
        if said[part] is not None and wrong:
            raise ScenarioError(f"{written.name(f'availability.{part}')}: {why}")
    known["availability.policy"] = Known(
        policy, "given" if said["policy"] else "derived" if said["timeout"] else "default"
    )
    for part, note in (("client", "every client that is asked"), ("server", "every group server")):
        known[f"availability.{part}"] = Known.of(said[part], 1.0, f"{note} completes its turn")
    notes = {
        "detect": "" if timed else f"{PATIENCE:g} usual turns of a client until one is given up",
        "timeout": "the fewest seconds per client that comes" if timed else "",
        "mtbf": "",
    }
    patience = PATIENCE
    if isinstance(turns := said["detect"], Turns):
        patience, said["detect"] = float(turns), None
        known["availability.detect"] = Known(None, "given", "s", f"{turns:g} usual turns of a client")
        del notes["detect"]
    for part, note in notes.items():
        if said[part] is not None:
            known[f"availability.{part}"] = Known.given(said[part], "s")
        elif note:
            known[f"availability.{part}"] = Known(None, "default", "s", note)
    if said["quorum"] is not None:
        known["availability.quorum"] = Known.given(said["quorum"])
    others = (None if said[part] is None else float(said[part]) for part in parts[3:])
    found = Availability(float(said["client"] or 1.0), float(said["server"] or 1.0), policy, *others, patience=patience)
    if found.steady(compute) and said["client"] is None and said["server"] is None:
        idle = next(key for part in parts if written.get(key := f"availability.{part}") is not None)
        raise ScenarioError(
            f"{written.name(idle)}: has no effect where every device comes. Give --availability 90%, or leave it out."
        )
    return found
