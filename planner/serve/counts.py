"""Label counts that were dropped on the page: what they say of the fleet, and a grouping that makes groups alike."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from planner.data import grouping, heterogeneity
from planner.data.label_counts import read_counts
from planner.decide.groups import Wanted
from planner.decide.recommendation import SHARING
from planner.errors import PlannerError, ScenarioError
from planner.io.wording import names_or
from planner.report.answers import group
from planner.report.page import in_words
from planner.serve import scenario

LARGEST: Final = 4 << 20  # bytes
NAME: Final = "counts.csv"  # what the file is called in refusals: its own name stays in the browser
REGROUPED: Final = "regrouped.csv"
MOST_CLIENTS: Final = 2000  # that are grouped on the page
SECONDS: Final = 4.0  # of a search for groups: with reading and pricing, nobody waits longer than 5
SHOWN: Final = 3  # decimal digits of deviations in words


def measured(text: bytes) -> dict[str, Any]:
    """Measure label counts, and return the tiers and deviations that a scenario of them has.

    Without groups there are no tiers; ``clients`` and ``groups`` say what can be grouped, None where nothing can.

    Raises:
        ScenarioError: With line and column of what is wrong.
    """
    with _file(text) as path:
        table = read_counts(path, grouped=False)
        shared = {
            "warnings": [warning.replace(str(path), NAME) for warning in table.warnings],
            "clients": len(table.clients) if len(table.clients) > 1 else None,  # too few to group
            "groups": len(table.groups),  # the lowest of nested ones
        }
        if not table.groups:
            said = f"{len(table.clients)} clients, {len(table.labels)} labels, no groups."
            return {"tiers": [], "text": said, **shared}
        found = heterogeneity.of_counts(table, "groups")
    scale = 1.0 if found.absolute else heterogeneity.one_label(heterogeneity.PROBLEM["sigma"], found.labels)
    deviations = [scale * one for one in found.tiers] or [scale * found.delta, scale * found.zeta]
    counts = [max(round(one), 1) for one in found.children] or [found.groups, max(round(found.clients[1]), 1)]
    value, low, high = found.ratio
    return {
        "tiers": [_tier(count, deviation) for count, deviation in zip(counts, deviations, strict=True)],
        "text": _in_words(len(counts), found.labels, value, low, high),
        **shared,
    }


def regrouped(text: bytes, name: str, groups: int, tables: Mapping[str, Any]) -> dict[str, Any]:
    """Group the clients of label counts, and say what that buys in the scenario of the page.

    The counts are the text of a CSV file of that name, and take the place of the fleet in ``tables``, of two tiers.
    Returned are what ``hfl-plan group`` says, the tiers that the scenario then has (none where pricing has no answer),
    the counts in their new groups, and the command.

    Raises:
        ScenarioError: With line and column of what is wrong.
        NoAnswerError: If a group would have no client, or no grouping is found as long as somebody waits.
    """
    command = shlex.join(["hfl-plan", "group", _safe(name), "--groups", str(groups), "-o", REGROUPED])
    read = scenario.with_groups(tables)
    with _file(text) as path:
        clients = len(read_counts(path, grouped=False).clients)
        if clients > MOST_CLIENTS:
            raise ScenarioError(
                f"groups: the page groups up to {MOST_CLIENTS:,} clients, and {NAME} has {clients:,}. Run `{command}`.",
                code="E004",
            )
        try:
            with grouping.stopped_after(SECONDS) as patience:
                found, content = group.grouped(read, path, Wanted(groups=groups))
        except grouping.TakesLongError:
            raise grouping.TakesLongError(
                f"groups: to put {clients:,} clients into {groups:,} groups takes longer than a page waits. "
                f"Run `{command}`."
            ) from None
        warnings = [one.text.replace(str(path), NAME) for one in found.warnings]
        if patience.ended:
            warnings.insert(0, f"The search was stopped after {SECONDS:g} s. To its end: `{command}`.")
    table, effect = group.document(found).table, found.group["effect"]
    facts = (*group.legend(found.rows), *group.facts(found.group), *_deviations(effect), *_links(found))
    return {
        "verdict": found.verdict.text,
        "target": in_words(found),
        "head": table.headings(),
        "rows": [list(row) for row in table.texts()],
        "facts": [list(fact) for fact in facts],
        "warnings": warnings,
        "tiers": _tiers(clients, groups, effect),
        "csv": content,
        "command": command,
    }


@contextmanager
def _file(text: bytes) -> Iterator[Path]:
    """Keep a text in a file for as long as it is read; refusals call it `NAME`."""
    if len(text) > LARGEST:
        raise ScenarioError(f"{NAME}: is over {LARGEST >> 20} MiB. Use `hfl-plan measure` for it.", code="E004")
    with tempfile.TemporaryDirectory(prefix="hfl-plan-") as folder:
        path = Path(folder, NAME)
        path.write_bytes(text)
        try:
            yield path
        except PlannerError as error:
            raise type(error)(str(error).replace(str(path), NAME), code=error.code) from None


def _tier(count: int, deviation: float) -> dict[str, Any]:
    return {"count": count, "deviation": float(f"{deviation:.4g}")}


def _tiers(clients: int, groups: int, effect: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """The tiers of the new groups, top first, with the deviations by which they were priced."""
    if effect is None:
        return []
    counts = groups, max(round(clients / groups), 1)
    return [_tier(count, effect["after"][name]) for count, name in zip(counts, ("delta", "zeta"), strict=True)]


def _deviations(effect: Mapping[str, Any] | None) -> Iterator[tuple[str, str]]:
    """What becomes of the deviations that the sliders show, without the noise of counting."""
    if effect is not None:
        words = (
            f"{where} {effect['before'][name]:.{SHOWN}g} -> {effect['after'][name]:.{SHOWN}g}"
            for where, name in (("between groups", "delta"), ("inside groups", "zeta"))
        )
        yield "Sliders", f"difference of data {', '.join(words)}"


def _links(found: group.Grouping) -> Iterator[tuple[str, str]]:
    """Say of which links the row by time is, where nobody said whether they are shared."""
    if any(one.key == SHARING for one in found.assumptions):
        others = [one.best_beyond for one in found.sensitivity if one.parameter == SHARING]
        shared = "".join(f"; with shared links {names_or(ids)} is best after" for ids in others if ids)
        yield "Links", f"own links, as sharing is not known{shared}"


def _safe(name: str) -> str:
    """The name of a file as a command may have it, which is no option."""
    plain = name if name.isprintable() and 0 < len(name) <= 255 else NAME
    return f"./{plain}" if plain.startswith("-") else plain


def _in_words(depth: int, labels: int, value: float | None, low: float | None, high: float | None) -> str:
    said = f"{labels} labels, {depth} tiers."
    if value is not None and depth == 2:
        ends = "" if low is None or high is None else f" [{low:.3g}, {high:.3g}]"
        larger = "inside groups" if value > 1 else "between groups"
        said += f" Squared deviation within over between groups {value:.3g}{ends}: data differ more {larger}."
    return said + " The scale is assumed: a client with one label stands 4 sigma from an even mixture, as on images."
