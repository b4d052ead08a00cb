"""What devices, links and the grid take: numbers of a scenario and presets, each with its range and its source."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal

from planner.errors import ScenarioError
from planner.io.text import suggest
from planner.scenario.units import format_energy, format_mass

J_PER_KWH: Final = 3.6e6
BYTES_PER_GB: Final = 1e9
Amount = Literal["energy", "carbon", "money"]
MORE: Final[Mapping[Amount, tuple[str, str, Callable[[float], str]]]] = {
    "energy": ("energy_joules", "budget_joules", format_energy),
    "carbon": ("carbon_kg_co2e", "budget_kg_co2e", format_mass),
    "money": ("money", "budget_money", "{:,.4g}".format),
}
"""What answers say beside time and traffic: the field of a row, that of a budget, and how it is written."""


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A number and its range."""

    value: float  # value, low, high: in SI units; all the same where no range is known
    low: float
    high: float

    def times(self, factor: float | Coefficient) -> Coefficient:
        """Scale it by a factor of 0 or more, or by another number and its range."""
        by = factor if isinstance(factor, Coefficient) else Coefficient(factor, factor, factor)
        return Coefficient(self.value * by.value, self.low * by.low, self.high * by.high)


Rates = Mapping[str, Coefficient]
"""What is known, by symbol of the scenario.

``training_power``, ``idle_power`` and ``radio_power`` of a client at its local steps, that waits, and that sends or
receives, router included [W]; ``carbon`` of the grid [kg CO2e / J]; the prices of a client for an hour, waiting
included, ``device_hour``, and of a kilowatt-hour, ``kwh``; and of every link its ``.energy`` for a byte [J] and its
``.price`` of a gigabyte.
"""


def through_servers(rates: Rates) -> Rates:
    """Let what clients send cross the links of all tiers."""
    found = dict(rates)
    for part in ("energy", "price"):
        if known := [one for name, one in rates.items() if name.endswith(f".{part}")]:
            found[f"client_link.{part}"] = total(known)
    return found


def total(parts: Iterable[Coefficient]) -> Coefficient:
    """The sum of some."""
    every = list(parts)
    return Coefficient(*(math.fsum(getattr(one, name) for one in every) for name in ("value", "low", "high")))


@dataclass(frozen=True, slots=True)
class Preset:
    """Numbers of a device, by what they are, or of a network or grid, as ``value``; with their source."""

    numbers: Mapping[str, Coefficient]
    source: str


def _preset(row: dict[str, Any]) -> Preset:
    source = row.pop("source")
    rows = {"value": row} if "value" in row else row
    return Preset({name: _number(one) for name, one in rows.items()}, source)


def _number(row: Mapping[str, float]) -> Coefficient:
    value = float(row["value"])
    return Coefficient(value, float(row.get("low", value)), float(row.get("high", value)))


_TABLE: Final = tomllib.loads(Path(__file__).with_name("footprint_presets.toml").read_text(encoding="utf-8"))
PRESETS: Final[Mapping[str, Mapping[str, Preset]]] = MappingProxyType(
    {kind: MappingProxyType({name: _preset(row) for name, row in rows.items()}) for kind, rows in _TABLE.items()}
)
"""By kind (``device``, ``network``, ``grid``) and name."""


def preset(kind: str, name: object, field: str) -> str:
    """Look up the name of a preset."""
    known = PRESETS[kind]
    if not isinstance(name, str) or name not in known:
        hint = suggest(name, known) or f"Known are {', '.join(known)}."
        raise ScenarioError(f"{field}: {name!a:.40} is not a {kind} preset. {hint}")
    return name


def of_number(number: float) -> Coefficient:
    """Take a number of a scenario, with its limits if it has any; a lognormal ends at its 5 % and 95 % quantiles."""
    spread = getattr(number, "spread", None)
    factor = math.exp(spread.reach) if spread is not None else 1.0
    return Coefficient(float(number), float(number) / factor, float(number) * factor)
