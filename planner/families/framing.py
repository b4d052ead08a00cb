"""What questions about other families have in common: fleets that are given, label counts as gradients."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planner.data import heterogeneity
from planner.data.label_counts import LabelCounts
from planner.errors import ScenarioError
from planner.io.wording import counted
from planner.scenario.fields import read
from planner.scenario.resolve import Scenario, Spoken, load

FLEET = ("fleet.clients", "fleet.groups", "fleet.clients_per_group")


class Frame:
    """Options by key, which may be added to, and a file, before the family's own fleet stands in for theirs."""

    def __init__(self, config: Path | None, said: Spoken) -> None:
        self.config, self.said = config, dict(said)
        self.table: Mapping[str, Any] = read(config)[0] if config is not None else {}

    def section(self, name: str) -> Mapping[str, Any]:
        """A section of the file; empty where it has none."""
        found = self.table.get(name)
        return found if isinstance(found, dict) else {}

    def heterogeneity(self) -> tuple[str, Any, Path | None]:
        """Where heterogeneity is said, what (None where it is not), and the file of label counts where it is one."""
        key = "problem.heterogeneity"
        option, said = self.said.get(key, (key, self.section("problem").get("heterogeneity")))
        named = isinstance(said, str) and said.strip().lower().endswith(".csv")
        return option, said, Path(said.strip()) if named else None

    def scenario(self, source: str, groups: int, each: int, reason: str, *, sited: bool = False) -> Scenario:
        """Read the scenario with a fleet that the source says; the reason is why options may not say another.

        A network that the file places clients on is left to the caller where it is ``sited``.

        Raises:
            ScenarioError: If the options say a fleet, or what is no scenario.
        """
        for key in FLEET:
            if key in self.said:
                raise ScenarioError(f"{self.said[key][0]}: {reason}. Leave it out.")
        if len(tiers := self.section("fleet").get("tiers", ())) not in (0, 2):
            raise ScenarioError(
                f"fleet.tiers: {reason}, and the file has {counted(len(tiers), 'tier')}. Leave the tiers out of the "
                "file and write their links as network.client_link and network.server_link.",
                code="E005",
            )
        fleet = {key: (source, value) for key, value in zip(FLEET, (groups * each, groups, each), strict=True)}
        found = load(self.config, self.said | fleet, sited=sited)
        if not all(link.whole for link in found.network.named.values()):
            raise ScenarioError("--payload: what compression saves is known of trees alone. Leave it out.", code="E005")
        return found


def label_gradients(table: LabelCounts, sigma: float, noun: str, warnings: list[str]) -> NDArray[np.float64]:
    """Gradients by label shares: orthogonal for different labels, and so far apart as measured on images.

    The warnings get a sentence about that scale; the noun is what clients are called there.
    """
    warnings.append(f"Label counts do not say how large the gaps are: {heterogeneity.assumed_scale(sigma, noun)}.")
    labels = int((table.counts > 0).any(axis=0).sum())
    return table.shares() * heterogeneity.one_label(sigma, labels)
