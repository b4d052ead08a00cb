"""The files of an exported project, and the answer that says what was written."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from string import Template
from typing import Any

from hflbounds.typeset.wording import line
from planner.decide.rank import recommend
from planner.decide.recommendation import Recommendation
from planner.errors import ScenarioError
from planner.export.plan import Plan
from planner.export.targets import README, TEMPLATES, Target, targets
from planner.io import frames
from planner.io.atomic import write_folder
from planner.io.parts import Part, field
from planner.io.text import one_of
from planner.io.toml_text import toml
from planner.io.version import version
from planner.io.wording import CASES, names_or, title
from planner.scenario.fields import leaves, put
from planner.scenario.units import format_duration, format_size

COMPARE = "`hfl-plan compare scenario.toml measured.json` shows predicted against measured."


class Price(Part):
    """Time and traffic of the exported topology, and what would be best, on one network."""

    best: tuple[str, ...] = field("topologies that tie for the first place there")
    rank: int = field("of the exported topology there")
    time_seconds: float | None
    traffic_bytes: float | None
    round_seconds: float | None
    round_bytes: float | None


class Exported(Part):
    """A project that was written."""

    target: str
    topology: str
    folder: str
    files: tuple[str, ...]
    plan: str = field("id of the plan, which measured.json repeats")
    clients: int
    rounds: int
    rate: float = field("raw learning rate of a local step")
    rate_from: str
    planned: Price
    priced: Price | None = field("on the network as the target uses it; null where it sends nothing")
    over_own_links: bool = field(
        "whether the target has clients reach the top over their own links, where those above these carry less"
    )
    notes: tuple[str, ...] = field("what the target does not do as planned")


def target_of(word: str) -> Target:
    """Look a target up."""
    return targets()[one_of(word, tuple(targets()), "--to")]


def export(
    plan: Plan, target: Target, folder: Path, told: Mapping[str, Any] | None = None, *, left: bool = False
) -> Exported:
    """Write the project of a plan into a new folder, if not ``left``, with its scenario if its tables are ``told``.

    Raises:
        ScenarioError: If the target cannot run the plan, or there is something in the folder.
        NoAnswerError: If it cannot be written.
    """
    _check(plan, target)
    planned, priced = _price(plan.answer, plan.row.id), None
    if target.network is not None:
        priced = _price(recommend(target.run(plan.scenario), details=False), plan.row.id)
    beside = scenario_files(told, folder) if told else {}
    answer = Exported.made_of(
        plan,
        target=target.id,
        topology=plan.topology.id,
        folder=str(folder),
        files=(README, *target.files, *beside),
        plan=plan.id,
        clients=len(plan.clients),
        planned=planned,
        priced=priced,
        over_own_links=_over_own_links(plan, priced),
        notes=_notes(plan, target, planned, priced),
    )
    if not left:
        write_folder(folder, {**project(plan, target, answer), **beside})
    return answer


def _price(answer: Recommendation, topology: str) -> Price:
    row = answer.row(topology)
    numbers = ("time_seconds", "traffic_bytes", "round_seconds", "round_bytes")
    known = {name: None if (number := getattr(row, name)) is None else float(number) for name in numbers}
    return Price(best=answer.recommended, rank=row.rank, **known)


def scenario_files(told: Mapping[str, Any], folder: Path) -> dict[str, str]:
    """Make scenario.toml, in which files have their names as seen from the project; nothing where TOML cannot hold it.

    Data frames become files of the project.
    """
    table: dict[str, Any] = {"schema_version": 1}
    found: dict[str, str] = {}
    for key, value in leaves(told):
        name = Path(value.strip()) if isinstance(value, str) else Path()
        if (held := frames.content(name)) is not None:
            found[str(name)] = held.decode()
        elif name.is_file() and not name.is_absolute():
            value = Path(os.path.relpath(name, folder)).as_posix()
        put(table, key, value, key)
    try:
        return {"scenario.toml": toml(table), **found}
    except TypeError:
        return {}


def project(plan: Plan, target: Target, answer: Exported) -> dict[str, str]:
    """Make the files of a project."""
    words = {
        "title": line(plan.scenario.title) or "A plan",
        "topology": plan.topology.title,
        "meaning": plan.topology.meaning(*plan.scenario.names),
        "notes": "\n".join(f"- {note}" for note in answer.notes),
        "version": version(),
        "clients": str(len(plan.clients)),
        "rounds": str(plan.rounds),
        "compare": COMPARE if "scenario.toml" in answer.files else "",
    }
    found = {}
    for name, template in {README: TEMPLATES / target.id / README, **target.files}.items():
        text = plan.toml(target.id) if template is None else template.read_text(encoding="utf-8")
        found[name] = Template(text).substitute(words) if name in (README, "pyproject.toml") else text
    return found


def _check(plan: Plan, target: Target) -> None:
    if len(plan.clients) > target.most:
        raise ScenarioError(
            f"--to {target.id}: {len(plan.clients):,} clients are over the {target.most:,} that it runs on one machine "
            "here. Export a smaller fleet of the same shape.",
            code="E004",
        )
    wrong = [name for name in plan.clients if target.name_rule and not re.fullmatch(target.name_rule, name)]
    if wrong:
        raise ScenarioError(
            f"--to {target.id}: {wrong[0]!a:.60} is not a name that it gives a site. Use letters, digits, _ and -, a "
            "letter first; server is taken."
        )


def _notes(plan: Plan, target: Target, planned: Price, priced: Price | None) -> tuple[str, ...]:
    """Say what the target does not do as planned."""
    said = []
    if priced is not None and set(priced.best) != set(planned.best):  # first, as the page shows one of these
        best = names_or(priced.best)
        among = plan.row.id in priced.best and {*priced.best} < {*planned.best}
        how = "That narrows the toss-up" if among else "The recommendation changes"
        way = "" if plan.row.id in priced.best else f": --topology {priced.best[0]} exports it"
        said.append(f"{how}: on this network {best} is best by {plan.answer.objective}{way}.")
    if plan.scenario.availability is not None:
        said.append("Clients are waited for: what to do where one does not come (availability) is not exported.")
    if not plan.scenario.network.whole:
        said.append("Models are sent whole: their compression is not exported.")
    if (until := plan.answer.scenario.get("R")) is not None and "the pilot" in until.source:
        said.append(f"Its target is that of the pilot, {until.value} rounds: give --rounds for your training.")
    said += [*_undecided(plan), *target.says]
    if priced is not None:
        now, then = (
            f"{format_duration(p.time_seconds)} and {format_size(p.traffic_bytes)}"
            for p in (priced, planned)
            if p.time_seconds is not None and p.traffic_bytes is not None
        )
        said.append(f"To the target that takes {now}, where {then} were planned.")
        if _over_own_links(plan, priced):
            said.append(
                "Clients' own links are taken to reach the top there. Those of servers carry less: it may be longer."
            )
    if not plan.weights and len(set(Counter(plan.clients.values()).values())) > 1:
        said.append("Groups have different numbers of clients; the prediction is for groups of one size.")
    return tuple(said)


def _over_own_links(plan: Plan, priced: Price | None) -> bool:
    """Whether what is priced reaches the top over links of clients, where those above carry less than all of these."""
    network, drawn = plan.scenario.network, [tier.taking_part for tier in plan.topology.tiers]
    known = priced is not None and network.timer is None and network.links[-1] is not None
    return known and network.slower_through_servers(drawn)


def _undecided(plan: Plan) -> Iterator[str]:
    """Say what the verdict leaves open, and which of it this runs."""
    whole, by, runs = plan.answer.verdict, plan.answer.objective, title(plan.topology.id)
    case = next((one for one in whole.cases if whole.on == "objective" and one.value == by), whole)
    if case.status == "depends":
        found = " and ".join(f"with {CASES[one.value]} {names_or(one.best)}" for one in case.cases)
        asked = "Give --link-sharing to decide"
        yield f"The verdict by {by} depends on link sharing: {found}. This runs {runs}, priced with own links. {asked}."
    elif case.status == "toss-up" and len(case.best) > 1:
        yield f"The verdict is a toss-up by {by}: {names_or(case.best)}. This runs {runs}."
    if whole.on == "objective":
        yield f"The verdict depends on the objective, and this is for {by}: --objective gives another."
