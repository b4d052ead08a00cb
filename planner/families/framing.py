"""What questions about other families have in common: fleets that are given, label counts as gradients."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planner.data.label_counts import LabelCounts
from planner.errors import ScenarioError
from planner.scenario.fields import read
from planner.scenario.resolve import Scenario, load

FLEET = ("fleet.clients", "fleet.groups", "fleet.clients_per_group")
Said = dict[str, tuple[str, Any]]
"""By key of a scenario: the option, and what was written."""


class Frame:
    """Options and a file, before the family's own fleet stands in for theirs.

    Attributes:
        config: The scenario file.
        said: Options by key, which may be added to.
        table: What the file has.
    """

    def __init__(self, config: Path | None, said: Mapping[str, tuple[str, Any]]) -> None:
        self.config, self.said = config, dict(said)
        self.table: Mapping[str, Any] = read(config)[0] if config is not None else {}

    def section(self, name: str) -> Mapping[str, Any]:
        """A section of the file; empty where it has none."""
        found = self.table.get(name)
        return found if isinstance(found, dict) else {}

    def heterogeneity(self) -> tuple[str, Any]:
        """Where heterogeneity is said, and what; None where it is not."""
        key = "problem.heterogeneity"
        return self.said.get(key, (key, self.section("problem").get("heterogeneity")))

    def scenario(self, source: str, groups: int, each: int, reason: str) -> Scenario:
        """Read the scenario with a fleet of its own.

        Args:
            source: What says the fleet.
            groups: Number of the groups.
            each: Clients of a group.
            reason: Why a fleet may not be said, for the message.

        Raises:
            ScenarioError: If the options say a fleet, or what is no scenario.
        """
        for key in FLEET:
            if key in self.said:
                raise ScenarioError(f"{self.said[key][0]}: {reason}. Leave it out.")
        fleet = {key: (source, value) for key, value in zip(FLEET, (groups * each, groups, each), strict=True)}
        return load(self.config, self.said | fleet)


def counts_file(said: Any) -> Path | None:
    """The file of label counts, where heterogeneity is said by one."""
    named = isinstance(said, str) and said.strip().lower().endswith(".csv")
    return Path(said.strip()) if named else None


def label_gradients(table: LabelCounts, sigma: float, noun: str, warnings: list[str]) -> NDArray[np.float64]:
    """Gradients by label shares: orthogonal for different labels, a single label one sigma from an even mixture.

    Args:
        table: Label counts.
        sigma: Standard deviation of a stochastic gradient.
        noun: What the clients are called.
        warnings: Gets a sentence about the scale.
    """
    warnings.append(
        f"Label counts do not say how large the gaps are: a {noun} with a single label is taken to stand "
        f"sigma = {sigma:g} from an even mixture."
    )
    labels = int((table.counts > 0).any(axis=0).sum())
    return table.shares() * ((sigma or 1.0) / math.sqrt(1 - 1 / labels))
