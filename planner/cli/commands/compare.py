"""``hfl-plan compare``: options. The answers are in `planner.report.answers`, compare and measured."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument

from planner.cli.options import Said
from planner.cli.output import Result

if TYPE_CHECKING:
    from planner.decide.contrast import Side


def compare(
    said: Said,
    first: Annotated[Path, Argument(metavar="A", help="scenario .toml, answer or kept run .json")],
    second: Annotated[
        Path, Argument(metavar="B", help="another one; or measured.json, which the exported project of A wrote")
    ],
) -> Result:
    """Find which difference of two scenarios decides.

    Takes two scenarios or answers, or a plan with its run. Differences are changed one at a time from A to B. Options
    are said of both. With measured.json: what was predicted, what was measured, and how to correct the scenario.

    Examples:
        hfl-plan compare own.toml shared.toml
        hfl-plan compare scenario.toml measured.json
    """
    from planner.cli.saved import asked_of
    from planner.io import json_documents

    if str(second).lower().endswith(".json") and json_documents.read(second).get("schema") == "hfl-plan/measured/1":
        from planner.decide.rank import recommend
        from planner.export.measured import compare as against
        from planner.predict.question import with_default_order
        from planner.report.answers.measured import document
        from planner.runs.check import unchanged

        scenario, _, answer = asked_of(first, said)
        if answer is not None:
            unchanged(answer, recommend(with_default_order(scenario), details=False))
        return Result(document(against(scenario, second)))
    from planner.decide.contrast import contrast
    from planner.errors import ScenarioError
    from planner.io import frames
    from planner.io.progress import progress
    from planner.report.answers.compare import answered

    if said.config is not None:
        raise ScenarioError("--config: two scenarios are named already. Leave it out.")
    alike = first.name == second.name
    names = [str(one) if alike else frames.named(one) for one in (first, second)]
    sides = [_side(name, path, said) for name, path in zip(names, (first, second), strict=True)]
    return Result(answered(contrast(sides[0], sides[1], progress), str(second)))


def _side(name: str, path: Path, said: Said) -> Side:
    """Read a scenario, an answer, or a run that was kept."""
    from planner.cli.saved import saved
    from planner.decide.contrast import Side
    from planner.families.scenario import load
    from planner.io import json_documents
    from planner.runs import manifest
    from planner.scenario.fields import leaves

    if (found := saved(path, said)) is not None:
        said = found[0]
        table = manifest.told(said.config, said.options)
    elif path.suffix.lower() == ".json":
        json_documents.of_schema(path, json_documents.read(path), [manifest.SCHEMA, "hfl-plan/recommend/2"])
        table = manifest.open_manifest(path).scenario
    else:
        table = manifest.told(path, said.options)
    return Side.of(name, dict(leaves(table)), load)
