"""Scenarios as `recommend`, `flip` and `tune` read them: also with clients at the places of a network."""

from __future__ import annotations

from pathlib import Path

from planner.errors import ScenarioError
from planner.scenario.fields import read
from planner.scenario.resolve import SITED, Scenario, Spoken
from planner.scenario.resolve import load as without_network


def load(config: Path | None, options: Spoken) -> Scenario:
    """Read a scenario; where clients are placed on a network, its rounds are timed there (`Network.timer`)."""
    table = read(config)[0].get("network") if config is not None else None
    written = {key: (f"network.{key}", table.get(key)) for key in SITED} if isinstance(table, dict) else {}
    written |= {key: options[f"network.{key}"] for key in SITED if f"network.{key}" in options}
    said = {key: value for key, (_, value) in written.items() if value is not None}
    for key, value in said.items():
        if key != "bandwidth" and (not isinstance(value, str) or not value.strip()):
            raise ScenarioError(f"{written[key][0]}: {value!a:.40} names no file. Write it in quotes.")
    if not said:
        return without_network(config, options)
    if "source" not in said:
        name = written[next(iter(said))][0]
        raise ScenarioError(f"{name}: is of places of a network. Give --network geant, or a file.")
    from planner.families.sited import timed  # needs numpy, which reading a scenario does without
    from planner.families.sited.question import Wanted

    sites, access = (Path(said[key]) if key in said else None for key in ("sites", "access"))
    left = {key: one for key, one in options.items() if key.removeprefix("network.") not in SITED}
    return timed.asked(Wanted(said["source"], None, access, sites, bandwidth=said.get("bandwidth")), config, left)
