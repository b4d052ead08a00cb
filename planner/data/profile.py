"""A profile of a fleet's heterogeneity that may be shared: aggregates only, as JSON.

It holds no id, no label name, no count and no number of a single client, group or label. It is not differentially
private: of very few clients an aggregate still tells something, and the warnings say so.
"""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from planner.data import documents
from planner.errors import ScenarioError

if TYPE_CHECKING:
    from planner.data.dirichlet import Concentration
    from planner.data.label_counts import LabelCounts
    from planner.data.label_shift import Interval, Measured, Weighting

LARGEST_FILE = 1 << 20  # bytes
FEW = 5  # clients or groups of which an aggregate still tells about each
DIGITS = 5  # significant ones that are kept of every number
Positive = Annotated[float, Field(ge=0, le=1e100)]


class Part(documents.Part, strict=True):
    """A part of a profile, whose numbers are no text."""


class Range(Part):
    """A number and its interval; null where it does not exist or has no end."""

    value: Positive | None
    low: Positive | None = None
    high: Positive | None = None


class Sizes(Part):
    """Clients of a group."""

    mean: Positive
    least: int = Field(ge=1)
    most: int = Field(ge=1)


class Constants(Part):
    """What else was estimated; left out where it was not."""

    sigma: Range | None = Field(None, description="standard deviation of a stochastic gradient")
    L: Range | None = Field(None, description="smoothness: the largest curvature of any client's loss that was seen")
    curvature: Range | None = Field(
        None, description="largest curvature of the mean loss, typical of the run, which predictions by loss take for L"
    )
    A: Range | None = Field(None, description="F(x0) - F*")


class Concentrations(Part):
    """Dirichlet concentrations per label; null where there is none, or where it is unbounded."""

    intra: Range | None
    inter: Range | None


class Tier(Part):
    """One tier of nested groups."""

    deviation2: Range = Field(description="squared deviation between the children of a node")
    children: Positive = Field(description="of a node, in the mean")


class Profile(Part):
    """Aggregates of a fleet, enough for `hfl-plan recommend --heterogeneity FILE`."""

    schema_: Literal["hfl-plan/profile/1"] = Field("hfl-plan/profile/1", alias="schema")
    made_from: Literal["label counts", "gradients"]
    unit: Literal["label shares", "gradients"] = Field(
        description="of zeta2 and delta2: squared distances of label shares, or of gradients, which is absolute"
    )
    groups: int = Field(ge=1, le=10**6)
    clients: int = Field(ge=1, le=10**9)
    clients_per_group: Sizes
    labels: int | None = Field(None, ge=2, description="labels that occur; needed for the unit `label shares`")
    weighting: Literal["groups", "clients", "samples"] = "groups"
    level: float = Field(0.95, gt=0, lt=1, description="of the intervals")
    zeta2: Range = Field(description="squared INTRA-group deviation")
    delta2: Range = Field(description="squared INTER-group deviation")
    ratio: Range = Field(description="zeta2 / delta2; null where delta2 is 0, and where there are not two tiers")
    tiers: list[Tier] | None = Field(None, description="all tiers of nested groups, top first; left out for two tiers")
    concentrations: Concentrations | None = None
    constants: Constants = Constants()
    parameters: int | None = Field(
        None, ge=1, le=10**13, description="numbers of the model, which a transfer has in 32 bits; left out if unknown"
    )
    warnings: list[Annotated[str, Field(max_length=500)]] = Field(default=[], max_length=50)

    def text(self) -> str:
        """The file."""
        unknown = {name for name in ("tiers", "parameters") if getattr(self, name) is None}
        document = self.model_dump(mode="json", exclude=unknown)
        return documents.written(document, DIGITS)


def read_profile(path: Path) -> Profile:
    """Read a profile.

    Raises:
        ScenarioError: naming the file, the field, the fact and the way out.
    """
    way = "Write it with `hfl-plan measure --output`."
    profile = documents.read(path, Profile, LARGEST_FILE, "profile", way)
    if profile.unit == "label shares" and profile.labels is None:
        raise ScenarioError(
            f"{path}: labels: is missing, and label shares need it. Add how many labels occur.", code="E003"
        )
    if profile.zeta2.value is None or profile.delta2.value is None:
        raise ScenarioError(f"{path}: zeta2 and delta2 need a value. {way}")
    return profile


def from_counts(
    table: LabelCounts,
    found: Measured,
    concentrations: tuple[Concentration | None, ...] | None = None,
    weighting: Weighting = "groups",
    absolute: bool = False,
    length: float | None = None,
) -> Profile:
    """The aggregates of a measurement.

    The scale is ``absolute`` by a Gram matrix, or by one ``length`` of all class gradients.
    """
    sizes = table.sizes
    factor = 1.0 if length is None else length**2
    cautions = []
    if sizes.min() < FEW or len(sizes) < FEW:
        cautions.append(
            f"A group has {int(sizes.min())} clients, and there are {len(sizes)} groups: aggregates of so few tell "
            "about each of them. Share this only with those who may know."
        )
    fitted = None
    if concentrations is not None:
        intra, inter = (None if one is None else _range(one) for one in concentrations)
        fitted = Concentrations(intra=intra, inter=inter)
    return Profile(
        made_from="label counts",
        unit="gradients" if absolute or length is not None else "label shares",
        groups=len(table.groups),
        clients=len(table.clients),
        clients_per_group=Sizes(mean=float(sizes.mean()), least=int(sizes.min()), most=int(sizes.max())),
        labels=int((table.counts > 0).any(axis=0).sum()),
        weighting=weighting,
        zeta2=_range(found.zeta2, factor),
        delta2=_range(found.delta2, factor),
        ratio=_range(found.ratio),
        tiers=None if len(found.tiers) == 2 else _tiers(table, found, factor),
        concentrations=fitted,
        warnings=cautions,
    )


def _tiers(table: LabelCounts, found: Measured, factor: float) -> list[Tier]:
    nodes = [1, *(len(parents) for parents in table.parents)]
    children = (n / above for above, n in pairwise(nodes))
    return [Tier(deviation2=_range(t, factor), children=n) for t, n in zip(found.tiers, children, strict=True)]


def _range(found: Interval | Concentration, factor: float = 1.0) -> Range:
    value, low, high = (
        None if x is None or not math.isfinite(x) else float(x * factor) for x in (found.value, found.low, found.high)
    )
    return Range(value=value, low=low, high=high)
