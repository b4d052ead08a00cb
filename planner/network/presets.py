"""Five published networks by name, with their source and with what is assumed of their links."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Final

from planner.errors import ScenarioError
from planner.io.text import suggest
from planner.network.read import Filling, read, read_links, with_places
from planner.network.underlay import LATENCY, Linked, Underlay

SOURCE: Final = (
    "Marfoq, Xu, Neglia, Vidal, Throughput-Optimal Topology Design for Cross-Silo Federated Learning, NeurIPS 2020; "
    "data under Apache-2.0"
)
BANDWIDTH: Final = 1e9  # of every link [bit/s], as the source takes it
ACCESS: Final = 1e10  # of every place, up and down [bit/s], as its Table 3 takes it
HERE: Final = Path(__file__).with_name("presets")


@cache
def titles() -> Mapping[str, str]:
    """What the networks are, by name."""
    table = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    return MappingProxyType({name: row["title"] for name, row in table.items()})


def preset(name: str, filling: Filling | None = None) -> Linked:
    """The network of that name: 1 Gbit/s a link, access of 10 Gbit/s, 0.0085 ms/km and 4 ms a transfer, unless told."""
    if name not in titles():
        known = ", ".join(titles())
        raise ScenarioError(
            f"network: {name!a:.60} is not a network ({known}), and no file. {suggest(name, titles())}".rstrip()
        )
    told = filling or Filling()
    bandwidth, up, down = told.bandwidth or BANDWIDTH, told.up or ACCESS, told.down or ACCESS
    usual = replace(told, bandwidth=bandwidth, model=told.model or LATENCY, up=up, down=down)
    return read_links(HERE / f"{name}.csv", usual, name=name)


def load(
    source: str, filling: Filling | None = None, *, beside: Path | None = None, access: Path | None = None
) -> Underlay:
    """Read a network from a file, or take one by its name."""
    path = Path(source)
    named = source in titles() or not (path.suffix or path.exists())
    found: Underlay = preset(source, filling) if named else read(path, filling, beside=beside)
    return found if access is None else with_places(found, access)
