"""A plan that can be run: one topology of a scenario with its counts, its learning rate, and what was predicted."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path

import numpy as np

from hflbounds.topology import Topology
from hflbounds.typeset.wording import line
from planner.data.fleet import Listed
from planner.data.label_counts import read_members
from planner.decide.rank import recommend
from planner.decide.recommendation import Recommendation, Row
from planner.errors import NoAnswerError, ScenarioError
from planner.io import toml_text
from planner.io.json_documents import canonical
from planner.io.text import topology_id
from planner.io.version import version
from planner.predict.question import ask, with_default_order
from planner.scenario.resolve import Scenario

PATTERNS = ("star", "ring")
"""That the exported loop knows."""
ELSEWHERE = ("hhfl", "hsl", "hga", "hga-fl", "gossip")


@dataclass(frozen=True)
class Plan:
    """A plan."""

    topology: Topology  # with the numbers of its tiers
    clients: dict[str, tuple[str, ...]]  # names, each with the names of the groups it is in, top first
    K: int  # local steps
    rate: float  # raw learning rate of a local step
    rate_from: str  # where the rate comes from
    answer: Recommendation  # what the planner says
    row: Row  # what it says of this topology
    scenario: Scenario  # what it stands on

    @property
    def id(self) -> str:
        """What measured.json repeats: see `plan_id`."""
        return plan_id(self.topology, self.K)

    @property
    def rounds(self) -> int:
        """Global rounds to the target."""
        assert self.row.rounds is not None  # noqa: S101 - `plan` refuses such rows
        return max(int(self.row.rounds), 1)

    @cached_property
    def weights(self) -> dict[str, float]:
        """What every node counts in a mean, by its path; empty where all children of a node count alike."""
        found: dict[str, float] = {}
        for depth, weights in enumerate(self.topology.weights if self.topology.uneven else (), 1):
            paths = dict.fromkeys("/".join((*path, client)[:depth]) for client, path in self.clients.items())
            found |= zip(paths, weights.tolist(), strict=True)
        return found

    @property
    def tiers(self) -> list[dict[str, str | int]]:
        """What the loop needs of every tier, top first."""
        return [
            {
                "name": name,
                "pattern": tier.pattern.id,
                "size": tier.size or tier.taking_part,
                "drawn": tier.taking_part,
                "passes": tier.passes,
                "order": tier.order if tier.pattern.ordered else "fixed",
            }
            for name, tier in zip(self.scenario.names, self.topology.tiers, strict=True)
        ]

    def toml(self, target: str) -> str:
        """Write plan.toml for a target."""
        row, answer = self.row, self.answer
        lines = [
            f"# {line(self.scenario.title or 'A plan')}: {self.topology.title}. Written by hfl-plan {version()}.",
            f'id = "{self.id}"',
            f'target = "{target}"  # what runs it',
            f"rounds = {self.rounds}  # completed, to the target, {answer.recommend.predictor}",
            f"local_steps = {self.K}",
            f"rate = {self.rate!r}  # of a local step: {self.rate_from}",
            f"seed = {self.scenario.seed}",
        ]
        lines += ["", toml_text.toml({"tiers": self.tiers}).rstrip("\n"), "", "[predicted]  # for the planned network"]
        lines += [f'topology = "{self.topology.id}"', f"rounds = {self.rounds}"]
        for name in ("round_seconds", "round_bytes", "time_seconds", "traffic_bytes"):
            value = getattr(row, name)
            lines += [] if value is None else [f"{name} = {float(value)!r}"]
        goal = answer.scenario["target"].value
        aim = repr(float(goal)) if isinstance(goal, int | float) else toml_text.text(str(goal))
        aimed = f"target = {aim}{'  # test error: 1 - accuracy' * (answer.metric == 'accuracy')}"
        if answer.target is not None and answer.target.stands_for(answer.metric):
            aimed = f"# target: {answer.target.defined_by}"
        lines += [f"metric = {toml_text.text(answer.metric)}", aimed]
        lines += ["", "[clients]  # the groups of each, top first, joined by /"]
        lines += [f"{toml_text.text(name)} = {toml_text.text('/'.join(path))}" for name, path in self.clients.items()]
        if self.weights:
            by = self.scenario.known["weights"].value
            lines += ["", f"[weights]  # in a mean, by path: {by} below it, over the local steps that it chains"]
            lines += [f"{toml_text.text(path)} = {weight!r}" for path, weight in self.weights.items()]
        return "\n".join(lines) + "\n"


def plan_id(topology: Topology, K: int) -> str:
    """Return a hash of what is run: the tiers with their numbers, the local steps, and what differs between nodes."""
    tiers = [[t.pattern.id, t.size, t.taking_part, t.passes, t.order] for t in topology.tiers]
    nodes = [[t.children.digest.hex()] for t in topology.tiers if t.children is not None]
    return hashlib.sha256(canonical([tiers, K, *nodes]).encode()).hexdigest()[:16]


def plan(
    scenario: Scenario, topology: str | None = None, rate: float | None = None, groups: Path | None = None
) -> Plan:
    """Make the plan of a scenario that is to be run, with the best topology and its own rate where none is named.

    Groups are a CSV with the columns group and client, for names; without, those of a list, or numbers.

    Raises:
        ScenarioError: If the topology cannot be run, or counts are ranges, or the file is of another fleet.
        NoAnswerError: If the topology does not reach the target.
    """
    if scenario.divisions or scenario.choices:
        raise ScenarioError(f"export: {scenario.searched} searched, and a run has one of each. {scenario.settled_by}")
    scenario = with_default_order(scenario)
    question, answer = ask(scenario), recommend(scenario, details=False, cases=True)
    row = _row(answer, topology)
    if row.rounds is None:
        raise NoAnswerError(f"export: {row.id} does not reach the target: {row.why}. Export another --topology.")
    sized, listed = question.sized(row.id), scenario.listed
    if listed is not None and groups is not None:
        raise ScenarioError(f"--groups-file: {listed.source} has the names of this fleet. Leave the file out.")
    if unknown := [p.id for p in sized.patterns if p.id not in PATTERNS]:
        raise ScenarioError(
            f"--topology: the pattern {unknown[0]} cannot be exported; {', '.join(PATTERNS)} can.", code="E005"
        )
    found, said = (rate, "given") if rate is not None else (row.rate_predicted_raw, _rate_from(scenario, answer, sized))
    if found is None:
        raise ScenarioError("--rate: is missing, as nothing predicts a learning rate here. Give it: --rate 0.1")
    if listed is not None:
        clients = _listed(listed)
    else:
        clients = _named(sized, groups) if groups else _numbered(sized, scenario.names)
    return Plan(sized, clients, int(question.values["K"]), found, said, answer, row, scenario)


def _row(answer: Recommendation, topology: str | None) -> Row:
    known: dict[str, Row] = {row.id: row for row in answer.rows if not row.baseline}
    first = next(iter(known))
    if topology is None:
        return known[first]
    if (wanted := topology.strip().lower()) in ELSEWHERE:
        raise ScenarioError(f"--topology: {wanted} is no tree, and no target can run it. Export {first}.", code="E044")
    return known[topology_id(topology, known, "--topology")]


def _rate_from(scenario: Scenario, answer: Recommendation, topology: Topology) -> str:
    rings = any(pattern.id == "ring" for pattern in topology.patterns)  # those on record are of trees with one
    known, rates = scenario.known["L"], answer.recommend.rates_on_record if rings else None
    if scenario.pilot is not None:
        return "the best of the pilot" + (f"; {rates.in_words('measured')}" if rates else "")
    said = "assumed" if known.origin == "default" else known.origin
    of = f"; {rates.in_words()}" if rates else ""
    return f"predicted for smoothness {known.value:g} ({said}){of}; search around it"


def _listed(listed: Listed) -> dict[str, tuple[str, ...]]:
    """Take names from the list of a fleet."""
    groups = np.repeat(np.arange(len(listed.groups)), listed.sizes[-1])
    return {client: tuple(listed.groups[g].split("/")) for client, g in zip(listed.clients, groups, strict=True)}


def _numbered(topology: Topology, names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Name clients and groups by their numbers, from 1."""
    sizes = [tier.size or tier.taking_part for tier in topology.tiers]
    words = ["".join(c for c in name.lower() if c.isascii() and c.isalnum()) or "tier" for name in names]
    found = {}
    for place in product(*(range(1, size + 1) for size in sizes)):
        parts = [f"{word}{'-'.join(map(str, place[: i + 1]))}" for i, word in enumerate(words)]
        found[parts[-1]] = tuple(parts[:-1])
    return found


def _named(topology: Topology, file: Path) -> dict[str, tuple[str, ...]]:
    """Take names from a file."""
    found = read_members(file)
    for client, path in found.items():
        if len(path) != topology.depth - 1:
            raise ScenarioError(
                f"{file}: {client!a:.60} is below {len(path)} groups, and the plan has {topology.depth - 1}."
            )
        if any("/" in part for part in path):
            raise ScenarioError(f"{file}: a group of {client!a:.60} has / in its name, which parts groups. Rename it.")
    below: dict[tuple[str, ...], set[str]] = {}
    for client, path in found.items():
        for i, part in enumerate((*path, client)):
            below.setdefault(path[:i], set()).add(part)
    for i, tier in enumerate(topology.tiers):
        sizes = [len(children) for path, children in below.items() if len(path) == i]
        if round(sum(sizes) / len(sizes)) != (tier.size or tier.taking_part):
            raise ScenarioError(
                f"{file}: tier {i + 1} has {sum(sizes) / len(sizes):g} children in the mean, and the scenario "
                f"{tier.size}. Give the file of this fleet."
            )
        if min(sizes) < tier.taking_part < (tier.size or 0):
            raise ScenarioError(f"{file}: {tier.taking_part} children are drawn, and the smallest has {min(sizes)}.")
    return found
