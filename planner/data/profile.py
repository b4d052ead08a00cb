"""A profile of a fleet's heterogeneity that may be shared: aggregates only, as JSON.

It holds no id, no label name, no count and no number of a single client, group or label. It is not differentially
private: of very few clients an aggregate still tells something, and the warnings say so.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from planner.errors import ScenarioError
from planner.io import parts
from planner.io.json_documents import loaded, written
from planner.io.parts import Rule, field

if TYPE_CHECKING:
    from planner.data.label_counts import LabelCounts
    from planner.data.label_shift import Interval, Measured, Weighting

FEW = 5  # clients or groups of which an aggregate still tells about each
DIGITS = 5  # significant ones that are kept of every number
Positive = Annotated[float, Rule(ge=0, le=1e100)]
Count = Annotated[int, Rule(ge=1)]


class Part(parts.Part):
    """A part of a profile, whose numbers are no text."""

    __pydantic_config__: ClassVar[Mapping[str, Any]] = {**parts.Part.__pydantic_config__, "strict": True}


class Range(Part):
    """A number and its interval; null where it does not exist or has no end."""

    value: Positive | None
    low: Positive | None = None
    high: Positive | None = None


class Sizes(Part):
    """Clients of a group."""

    mean: Positive
    least: Count
    most: Count


class Constants(Part):
    """What else was estimated; left out where it was not."""

    sigma: Range | None = field("standard deviation of a stochastic gradient", default=None)
    L: Range | None = field("smoothness: the largest curvature of any client's loss that was seen", default=None)
    curvature: Range | None = field(
        "largest curvature of the mean loss, typical of the run, which predictions by loss take for L", default=None
    )
    A: Range | None = field("F(x0) - F*; 0 where no loss of a run was below that at its start", default=None)
    fading: Range | None = field(
        "the power of rate times steps as which squared deviations fall late in training, for predictions by loss",
        default=None,
    )
    decay: Range | None = field(
        "the power of the steps as which the loss falls late in plain descent, for predictions by loss", default=None
    )


class Concentrations(Part):
    """Dirichlet concentrations per label; null where there is none, or where it is unbounded."""

    intra: Range | None
    inter: Range | None


class Tier(Part):
    """One tier of nested groups."""

    deviation2: Range = field("squared deviation between the children of a node")
    children: Positive = field("of a node, in the mean")


class Profile(Part):
    """Aggregates of a fleet, enough for `hfl-plan recommend --heterogeneity FILE`."""

    schema_: Literal["hfl-plan/profile/1"] = field(default="hfl-plan/profile/1", key="schema")
    made_from: Literal["label counts", "gradients"]
    unit: Literal["label shares", "gradients"] = field(
        "of zeta2 and delta2: squared distances of label shares, or of gradients, which is absolute"
    )
    groups: Annotated[int, Rule(ge=1, le=10**6)]
    clients: Annotated[int, Rule(ge=1, le=10**9)]
    clients_per_group: Sizes
    labels: Annotated[int, Rule(ge=2)] | None = field(
        "labels that occur; needed for the unit `label shares`", default=None
    )
    weighting: Literal["groups", "clients", "samples"] = "groups"
    level: Annotated[float, Rule(gt=0, lt=1)] = field("of the intervals", default=0.95)
    zeta2: Range = field("squared INTRA-group deviation")
    delta2: Range = field("squared INTER-group deviation")
    ratio: Range = field("zeta2 / delta2; null where delta2 is 0, and where there are not two tiers")
    tiers: list[Tier] | None = field("all tiers of nested groups, top first; left out for two tiers", default=None)
    concentrations: Concentrations | None = None
    constants: Constants = Constants()
    parameters: Annotated[int, Rule(ge=1, le=10**13)] | None = field(
        "numbers of the model, which a transfer has in 32 bits; left out if unknown", default=None
    )
    warnings: Annotated[tuple[Annotated[str, Rule(max_length=500)], ...], Rule(max_length=50)] = ()

    def text(self) -> str:
        """The file."""
        unknown = {name for name in ("tiers", "parameters") if getattr(self, name) is None}
        return written({key: value for key, value in self.to_json().items() if key not in unknown}, DIGITS)


def read_profile(path: Path) -> Profile:
    """Read a profile."""
    way = "Write a profile with `hfl-plan measure COUNTS.csv --output profile.json`."
    profile = loaded(path, Profile, "profile", way)
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
    concentrations: tuple[Interval | None, ...] | None = None,
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
        warnings=tuple(cautions),
    )


def _tiers(table: LabelCounts, found: Measured, factor: float) -> list[Tier]:
    nodes = [1, *(len(parents) for parents in table.parents)]
    children = (n / above for above, n in pairwise(nodes))
    return [Tier(deviation2=_range(t, factor), children=n) for t, n in zip(found.tiers, children, strict=True)]


def _range(found: Interval, factor: float = 1.0) -> Range:
    value, low, high = (
        None if x is None or not math.isfinite(x) else float(x * factor) for x in (found.value, found.low, found.high)
    )
    return Range(value=value, low=low, high=high)
