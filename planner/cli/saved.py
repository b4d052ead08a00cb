"""Answers that were saved, in place of what was said for them: their command is read, and never run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from planner.cli.options import WRITTEN, Said
from planner.errors import ScenarioError

if TYPE_CHECKING:
    from planner.decide.recommendation import Recommendation
    from planner.scenario.resolve import Scenario


def saved(path: Path | None, said: Said) -> tuple[Said, Recommendation] | None:
    """Read an answer of ``recommend``, and what was said for it; None for what is no answer.

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


def asked_of(path: Path | None, said: Said) -> tuple[Scenario, dict[str, Any], Recommendation | None]:
    """Read a scenario from a file, a kept run or a saved answer: it, its tables as told, and the answer if any.

    Raises:
        ScenarioError: If two of them contradict each other, or it is none.
    """
    from planner.runs import manifest
    from planner.scenario.resolve import load

    answer = None
    if (found := saved(path, said)) is not None:
        said, answer = found
        path = None
    if path is not None and said.config is not None:
        raise ScenarioError("--config: the scenario is named twice. Leave out --config, or the argument.", code="E002")
    if path is not None and path.suffix.lower() == ".json":
        if said.options:
            raise ScenarioError(f"{path}: a run has its scenario, and takes no options. Give a scenario file.")
        run = manifest.open_manifest(path)
        return manifest.scenario_of(run, path), run.scenario, None
    config = path or said.config
    return load(config, said.options), manifest.told(config, said.options), answer


def _said(path: Path, command: tuple[str, ...]) -> Said:
    """What the command of an answer says of its scenario."""
    from planner.cli.app import CommandError, Commands

    if command[:2] != ("hfl-plan", "recommend") or len(command) < 3:
        raise ScenarioError(
            f"{path}: the answer was asked for with a data frame, a list or nothing, and so names no scenario. Give a "
            "scenario file; or write the frame to a .csv file, and ask anew with its name."
        )
    recommend = Commands()["recommend"]
    try:
        context = recommend.make_context("recommend", list(command[2:]))
    except (typer.Exit, typer.Abort, CommandError):
        raise ScenarioError(
            f"{path}: this version does not take the command {' '.join(command)!a:.80}. Give the scenario."
        ) from None
    found: Said = recommend.callback.said(context.params, context.meta[WRITTEN])
    return found
