"""The controls of the page: one row for each number that has a slider. The page is built from these rows."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

from hflbounds.topology import tier_symbols
from planner.scenario.fields import FIELDS, TIER_FIELDS
from planner.scenario.network import link_names

Kind = Literal["count", "number", "rate", "size", "duration", "share"]


@dataclass(frozen=True, slots=True)
class Control:
    """A slider with a text field."""

    key: str  # of the scenario; of a tier, the key in its table
    label: str  # what the page calls it
    kind: Kind  # how its number is written
    low: float  # and high: ends of the slider, in SI units; the text field takes what the scenario takes
    high: float
    zero: bool = False  # whether the lower end of the slider stands for 0
    symbol: str = ""  # name of the number in answers; of a tier, the attribute of its symbols or the part of its link


OF_TIER: Final = (  # of one tier: its children, their link, and how much their data differ
    Control("count", "number", "count", 1, 1000, symbol="size"),
    Control("link.up", "up", "rate", 1e5, 1e10, symbol="up"),
    Control("link.down", "down", "rate", 1e5, 1e10, symbol="down"),
    Control("link.latency", "latency", "duration", 1e-4, 2, zero=True, symbol="latency"),
    Control("passes", "passes in a round", "count", 1, 50, symbol="passes"),
    Control("deviation", "difference of their data", "number", 0.01, 10, zero=True, symbol="deviation"),
)

OF_FLEET: Final = (  # of the whole fleet
    Control("model.size", "model size", "size", 1e4, 1e10, symbol="model_size"),
    Control("fleet.local_steps", "local steps", "count", 1, 1000, symbol="K"),
    Control("compute.step_time", "time of a step", "duration", 1e-4, 60, zero=True, symbol="step_time"),
    Control("problem.rounds", "rounds of the reference", "count", 1, 10_000, symbol="R"),
    Control("availability.client", "clients complete a turn", "share", 0.5, 1, symbol="availability.client"),
)


def described() -> dict[str, Any]:
    """Describe all controls for the page, as data, each with the help of its field."""
    found = {}
    for name, controls, fields in (("tier", OF_TIER, TIER_FIELDS), ("fleet", OF_FLEET, FIELDS)):
        helps = {field.key: field.sentence for field in fields}
        found[name] = [{**asdict(control), "help": helps[control.key]} for control in controls]
    return found


def symbols(depth: int) -> dict[str, str]:
    """Map the path of every control of a fleet of so many tiers to the name of its number in answers."""
    found = {control.key: control.symbol for control in OF_FLEET}
    for i, (tier, link) in enumerate(zip(tier_symbols(depth), link_names(depth), strict=True)):
        for control in OF_TIER:
            symbol = f"{link}.{control.symbol}" if control.key.startswith("link.") else getattr(tier, control.symbol)
            if symbol:
                found[f"fleet.tiers[{i + 1}].{control.key}"] = symbol
    return found
