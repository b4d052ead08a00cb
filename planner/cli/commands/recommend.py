"""``hfl-plan recommend``: options of its own. The answer is `planner.decide.rank`'s."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from planner.cli.options import Format, Said
from planner.cli.output import chosen_format, show

if TYPE_CHECKING:
    from planner.scenario.resolve import Scenario


def recommend(
    said: Said,
    coverage: Annotated[
        str | None, typer.Option("--coverage", help="Who hears whom (file or layout): HHFL is shown beside.")
    ] = None,
    edges: Annotated[
        str | None, typer.Option("--edges", help="Of a round in all, without a trusted cloud: HSL is shown beside.")
    ] = None,
    region_times: Annotated[
        str | None, typer.Option("--region-times", help="Of each group, 10s,12s,80s: HGA-FL is shown beside.")
    ] = None,
    form: Format = None,
    json: Annotated[bool, typer.Option("--json", "-j", help="The same as --format json.")] = False,
    save: Annotated[
        Path | None, typer.Option("--save", help="RUN.json: the scenario, the software and the answer, for `rerun`.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite what --save names.")] = False,
) -> None:
    """Rank Star-Star, Star-Ring, Ring-Star and Ring-Ring: rounds, time and traffic to a target, and how sure."""
    form = chosen_format(form, json)
    told = {"coverage": coverage, "edges": edges, "region_times": region_times}
    if save is not None and any(told.values()):
        raise typer.BadParameter("--save: a run that is kept is of the scenario alone. Leave the other families out.")
    scenario = said.scenario()
    from planner.decide.rank import recommend as answer
    from planner.report.answers.recommend import document

    if save is not None:
        from planner.io import atomic
        from planner.runs import manifest

        atomic.place(save, force, "--save")
    with _progress(scenario):
        found = answer(scenario)
    if save is not None:
        atomic.write(save, manifest.make(said.config, said.options, found).text(), force, "--save")
    if any(told.values()):
        from planner.families.comparison import compared

        found = compared(found, scenario, said.config, said.options, told)
    show(document(found), form)


@contextmanager
def _progress(scenario: Scenario) -> Iterator[None]:
    """Show progress in a terminal where the answer is simulated."""
    from planner.predict.predictors import predictor, watched

    if not predictor(scenario.predictor).shows_progress or sys.stderr is None or not sys.stderr.isatty():
        yield
        return
    with watched(lambda done: sys.stderr.write(f"\rsimulating: {done:.0%}")):
        yield
    sys.stderr.write("\r\033[K")
