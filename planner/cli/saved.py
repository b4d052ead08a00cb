"""Answers that were saved, in place of what was said for them: their command is read, and never run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from planner.cli.options import Said
from planner.errors import ScenarioError

if TYPE_CHECKING:
    from planner.decide.recommendation import Recommendation


def saved(path: Path | None, said: Said) -> tuple[Said, Recommendation] | None:
    """Read an answer of ``recommend``, and what was said when it was asked for.

    Args:
        path: A file; None where there is none.
        said: What is said now, which must be nothing.

    Returns:
        Both; None where the file is no answer, but a scenario or a kept run.

    Raises:
        ScenarioError: If the answer does not say how it was asked for.
    """
    if path is None or path.suffix.lower() != ".json":
        return None
    from planner.decide.recommendation import Recommendation
    from planner.io import json_documents as documents

    document = documents.read(path)
    if document.get("schema") != Recommendation.schema_id():
        return None
    if said.config is not None or said.options:
        raise ScenarioError(f"{path}: an answer has its scenario, and takes no options. Give a scenario file.")
    answer = documents.checked(path, Recommendation, document)
    return _said(path, answer.command), answer


def _said(path: Path, command: tuple[str, ...]) -> Said:
    """What the command of an answer says of its scenario."""
    from planner.cli.app import CommandError, Commands

    if command[:2] != ("hfl-plan", "recommend") or len(command) < 3:
        raise ScenarioError(
            f"{path}: the answer was not asked for on the command line, and names no scenario. Give that."
        )
    recommend = Commands()["recommend"]
    try:
        given = recommend.make_context("recommend", list(command[2:])).params
    except (typer.Exit, typer.Abort, CommandError):
        raise ScenarioError(
            f"{path}: this version does not take the command {' '.join(command)!a:.80}. Give the scenario."
        ) from None
    found: Said = recommend.callback.said(given)
    return found
