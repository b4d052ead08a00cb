"""The files of an exported project, and the answer that says what was written."""

from __future__ import annotations

import re
from pathlib import Path
from string import Template

from planner.errors import ScenarioError
from planner.export.plan import Plan, one_line
from planner.export.price import Price, prices
from planner.export.targets import Target, targets
from planner.io.atomic import write_folder
from planner.io.parts import Part, field
from planner.io.text import suggest
from planner.io.version import version
from planner.io.wording import names_or, title
from planner.scenario.units import format_duration, format_size

FILES = Path(__file__).with_name("files")


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
    notes: tuple[str, ...] = field("what the target does not do as planned")


def target_of(word: str) -> Target:
    """Look a target up.

    Raises:
        ScenarioError: If there is none of that name.
    """
    known = targets()
    if word not in known:
        raise ScenarioError(f"--to: {word!a:.40} is not one of {', '.join(known)}. {suggest(word, known)}".rstrip())
    return known[word]


def export(plan: Plan, target: Target, folder: Path) -> Exported:
    """Write the project of a plan into a new folder.

    Raises:
        ScenarioError: If the target cannot run the plan, or there is something in the folder.
        NoAnswerError: If it cannot be written.
    """
    _check(plan, target)
    planned, priced = prices(plan, target)
    answer = Exported(
        target=target.id,
        topology=plan.topology.id,
        folder=str(folder),
        files=("README.md", *target.files),
        plan=plan.id,
        clients=len(plan.clients),
        rounds=plan.rounds,
        rate=plan.rate,
        rate_from=plan.rate_from,
        planned=planned,
        priced=priced,
        notes=_notes(plan, target, planned, priced),
    )
    write_folder(folder, project(plan, target, answer))
    return answer


def project(plan: Plan, target: Target, answer: Exported) -> dict[str, str]:
    """Make the files of a project."""
    words = {
        "title": one_line(plan.title) or "A plan",
        "topology": plan.topology.title,
        "meaning": plan.topology.meaning(*plan.names),
        "notes": "\n".join(f"- {note}" for note in answer.notes),
        "version": version(),
        "clients": str(len(plan.clients)),
        "rounds": str(plan.rounds),
    }
    found = {"README.md": Template(_template(f"{target.id}/README.md")).substitute(words)}
    for name, source in target.files.items():
        text = plan.toml(target.id) if source == "plan.toml" else _template(source)
        found[name] = Template(text).substitute(words) if source.endswith("pyproject.toml") else text
    return found


def _template(name: str) -> str:
    return (FILES / name).read_text(encoding="utf-8")


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
    said = list(target.says)
    if len(tied := plan.answer.recommended) > 1:
        runs = f"This runs {title(plan.topology.id)}."
        said.insert(0, f"The verdict is a toss-up by {plan.answer.objective}: {names_or(tied)}. {runs}")
    if priced is not None:
        now, then = (
            f"{format_duration(p.time_seconds)} and {format_size(p.traffic_bytes)}"
            for p in (priced, planned)
            if p.time_seconds is not None and p.traffic_bytes is not None
        )
        said.append(f"To the target that takes {now}, where {then} were planned.")
        if set(priced.best) != set(planned.best):
            best = " or ".join(priced.best)
            said.append(f"The recommendation changes: on this network {best} is best by {plan.answer.objective}.")
    if plan.scenario.availability is not None:
        said.append("Clients are waited for: what to do where one does not come (availability) is not exported.")
    if not plan.scenario.network.whole:
        said.append("Models are sent whole: their compression is not exported.")
    if not plan.weights and _uneven(plan):
        said.append("Groups have different numbers of clients; the prediction is for groups of one size.")
    return tuple(said)


def _uneven(plan: Plan) -> bool:
    sizes: dict[tuple[str, ...], int] = {}
    for path in plan.clients.values():
        sizes[path] = sizes.get(path, 0) + 1
    return len(set(sizes.values())) > 1
