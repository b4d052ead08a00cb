"""Systems that a plan can be run on: one file each, found by scanning this folder, with ``TARGET``."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TypeVar

from planner.cost.spec import RoundSpec
from planner.scenario.network import Link, Network
from planner.scenario.resolve import Scenario

Planned = TypeVar("Planned", Scenario, RoundSpec)
TEMPLATES = Path(__file__).parents[1] / "files"
README = "README.md"


@dataclass(frozen=True, slots=True)
class Target:
    """A system that runs a plan."""

    id: str  # as in ``--to``
    title: str  # for people
    most: int  # clients that it runs on one machine, by our choice
    says: tuple[str, ...]  # what differs from the plan where it is run so, for README
    inside: str = ""  # folder of the project with what every project has
    network: Callable[[Network], Network] | None = None  # as the target uses it; None where it moves no model
    name_rule: str = ""  # a regular expression that names of clients must match; "" for any name

    @property
    def files(self) -> dict[str, Path | None]:
        """Files of a project beside its README, each with its template; None for the plan."""
        own, shared = TEMPLATES / self.id, sorted((TEMPLATES / "core").glob("*.py"))
        found = {path.relative_to(own).as_posix(): path for path in sorted(own.rglob("*.*")) if path.suffix != ".pyc"}
        del found[README]
        return {**found, **{self.inside + path.name: path for path in shared}, f"{self.inside}plan.toml": None}

    def run(self, planned: Planned) -> Planned:
        """Return a scenario or a round on the network as the target uses it."""
        if self.network is None:
            return planned
        members = planned.members
        if members is not None:
            members = replace(members, links=tuple(_relayed(link) for link in members.links))
        return replace(planned, network=self.network(planned.network), members=members)


def through_one_server(network: Network) -> Network:
    """Return the network of a system without group servers: every model goes over the client's link, hops included."""
    return Network((*(None for _ in network.links[:-1]), _relayed(network.client_link)))


def _relayed(link: Link) -> Link:
    return replace(link.sent_whole(), hop="relayed")


@cache
def targets() -> Mapping[str, Target]:
    """Every target, by id."""
    modules = (importlib.import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules(__path__))
    return {module.TARGET.id: module.TARGET for module in modules}
