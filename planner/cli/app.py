"""``hfl-plan``: parse, call one function, print. Data goes to stdout, prose about problems to stderr."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planner.cli import async_ as async_command
from planner.cli import bounds as bounds_commands
from planner.cli import counts as counts_commands
from planner.cli import estimate as estimate_command
from planner.cli import flip as flip_command
from planner.cli import hubs as hubs_command
from planner.cli import overlap as overlap_command
from planner.cli import picture as picture_command
from planner.cli import rerun as rerun_command
from planner.cli import tune as tune_command
from planner.cli import validate as validate_commands
from planner.cli.scenario_options import At, scenario_of, spoken, with_scenario

if TYPE_CHECKING:
    from planner.decide.recommendation import Recommendation
    from planner.scenario.resolve import Scenario

NO_ANSWER, MISUSE, INTERRUPTED = 1, 2, 130

# What typer raises for a wrong command line, whichever copy of click it stands on.
CommandError: Any = next(c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException")

app = typer.Typer(
    name="hfl-plan",
    help="Which topology for hierarchical federated learning, before anyone trains.",
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


app.command()(counts_commands.measure)
app.command()(estimate_command.estimate)
app.command("overlap")(overlap_command.overlap)
app.command("hubs")(hubs_command.hubs)
app.add_typer(bounds_commands.app)
app.add_typer(validate_commands.app)


@app.callback(invoke_without_command=True)
def root(
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
) -> None:
    """Which topology for hierarchical federated learning, before anyone trains."""
    if version:
        from planner import version as number

        typer.echo(f"hfl-plan {number()}")
        raise typer.Exit


# Everything is read as text: planner.scenario.resolve knows the rules and says them, for options and files alike.
Given = str | None


@app.command()
def recommend(
    config: Annotated[
        Path | None, typer.Option("--config", "-c", help="A scenario in TOML; options override it.")
    ] = None,
    fleet: Annotated[
        Given, typer.Option("--clients", help="Clients in all; the groups are searched for."), At("fleet.clients")
    ] = None,
    groups: Annotated[
        Given, typer.Option("--groups", "--G", "-G", help="Groups; 2:12 beside --clients."), At("fleet.groups")
    ] = None,
    clients: Annotated[
        Given,
        typer.Option("--clients-per-group", "--M", "-M", help="Clients in each group."),
        At("fleet.clients_per_group"),
    ] = None,
    group_rounds: Annotated[
        Given,
        typer.Option("--group-rounds", "--P", "-P", help="Group rounds in a global round; 1:8 to search."),
        At("fleet.group_rounds"),
    ] = None,
    local_steps: Annotated[
        Given,
        typer.Option("--local-steps", "--K", "-K", help="Local steps in a group round; 1:20 to search."),
        At("fleet.local_steps"),
    ] = None,
    groups_drawn: Annotated[
        Given,
        typer.Option("--groups-per-round", "--S1", help="Groups drawn each round; or 1:4."),
        At("fleet.groups_per_round"),
    ] = None,
    clients_drawn: Annotated[
        Given,
        typer.Option("--clients-per-round", "--S2", help="Clients drawn in each of those groups; or 1:9."),
        At("fleet.clients_per_round"),
    ] = None,
    order: Annotated[
        Given, typer.Option("--order", help="Of rings: fixed, or random (drawn each round)."), At("fleet.order")
    ] = None,
    heterogeneity: Annotated[
        Given,
        typer.Option(
            "--heterogeneity",
            "-H",
            help="iid, intra, inter, both; zeta=0.5,delta=2; dirichlet:intra=0.1,inter=0.3; counts.csv; profile.json.",
        ),
        At("problem.heterogeneity"),
    ] = None,
    sigma: Annotated[
        Given, typer.Option("--sigma", help="Standard deviation of a stochastic gradient."), At("problem.sigma")
    ] = None,
    smoothness: Annotated[
        Given, typer.Option("--smoothness", "--L", help="Smoothness of the losses."), At("problem.smoothness")
    ] = None,
    gap: Annotated[Given, typer.Option("--initial-gap", "--A", help="F(x0) - F*."), At("problem.initial_gap")] = None,
    rounds: Annotated[
        Given,
        typer.Option("--rounds", "--R", "-R", help="Global rounds: the horizon, or with a target the most."),
        At("problem.rounds"),
    ] = None,
    target: Annotated[
        Given,
        typer.Option("--target", help="Squared gradient norm to reach, or a share of it at the start: 1%."),
        At("problem.target"),
    ] = None,
    model_size: Annotated[
        Given, typer.Option("--model-size", help="What one transfer carries: 45MB."), At("model.size")
    ] = None,
    client_link: Annotated[
        Given,
        typer.Option("--client-link", help="Preset for clients: 5g, wifi, broadband ..."),
        At("network.client_link.preset"),
    ] = None,
    server_link: Annotated[
        Given,
        typer.Option("--server-link", help="Preset for group servers: wan, lan ..."),
        At("network.server_link.preset"),
    ] = None,
    uplink: Annotated[
        Given, typer.Option("--uplink", help="Rate from a client: 20Mbit/s."), At("network.client_link.up")
    ] = None,
    downlink: Annotated[
        Given, typer.Option("--downlink", help="Rate to a client: 100Mbit/s."), At("network.client_link.down")
    ] = None,
    latency: Annotated[
        Given, typer.Option("--latency", help="Of a client's link, one way: 20ms."), At("network.client_link.latency")
    ] = None,
    sharing: Annotated[
        Given,
        typer.Option("--link-sharing", help="Whose the rate is: per-client, or per-server (shared)."),
        At("network.client_link.sharing"),
    ] = None,
    hop: Annotated[
        Given,
        typer.Option("--hop", help="In a ring of clients: direct, or relayed by the server."),
        At("network.client_link.hop"),
    ] = None,
    tiers: Annotated[
        Given, typer.Option("--tiers", help="2 with group servers, 1 without."), At("network.tiers")
    ] = None,
    step_time: Annotated[
        Given, typer.Option("--step-time", help="Mean time of a local step: 0.2s."), At("compute.step_time")
    ] = None,
    straggler: Annotated[
        Given,
        typer.Option("--straggler", help="Spread of compute times: none, lognormal:0.3, exponential:0.5."),
        At("compute.straggler"),
    ] = None,
    availability: Annotated[
        Given,
        typer.Option("--availability", help="Probability that a client that is asked completes its turn: 99%."),
        At("availability.client"),
    ] = None,
    on_failure: Annotated[
        Given,
        typer.Option("--on-failure", help="Where a device of a ring does not come: fail, skip or timeout."),
        At("availability.policy"),
    ] = None,
    objective: Annotated[
        Given, typer.Option("--objective", "-o", help="rounds, time or bytes."), At("plan.objective")
    ] = None,
    metric: Annotated[
        Given,
        typer.Option("--metric", help="What is to get better: gradient (squared), loss, or accuracy."),
        At("plan.metric"),
    ] = None,
    predictor: Annotated[
        Given,
        typer.Option(
            "--predictor", help="Whose rounds: typical (of runs), bound (guaranteed), or surrogate (simulated)."
        ),
        At("plan.predictor"),
    ] = None,
    bounds: Annotated[
        Given, typer.Option("--bounds", help="Bound family: hflbounds.sharp, zhou2026.thm1 ..."), At("plan.bounds")
    ] = None,
    cap: Annotated[
        Given, typer.Option("--cap", help="On the effective rate: own, none, common, or a number."), At("plan.cap")
    ] = None,
    cost: Annotated[
        Given, typer.Option("--cost", help="How a round is timed: schedule, formula or diluted."), At("plan.cost")
    ] = None,
    resolution: Annotated[
        Given, typer.Option("--resolution", help="Relative difference that still ties: 0.02."), At("plan.resolution")
    ] = None,
    seed: Annotated[Given, typer.Option("--seed", help="Of every random draw."), At("plan.seed")] = None,
    coverage: Annotated[
        str | None, typer.Option("--coverage", help="Who hears whom (file or layout): HHFL is shown beside.")
    ] = None,
    edges: Annotated[
        str | None, typer.Option("--edges", help="Of a round in all, without a trusted cloud: HSL is shown beside.")
    ] = None,
    region_times: Annotated[
        str | None, typer.Option("--region-times", help="Of each group, 10s,12s,80s: HGA-FL is shown beside.")
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="Any key of a scenario: --set network.server_link.up=1Gbit/s."),
    ] = None,
    output: Annotated[Given, typer.Option("--format", "-f", help="table, json, csv, md, html or latex.")] = None,
    json: Annotated[bool, typer.Option("--json", "-j", help="The same as --format json.")] = False,
    save: Annotated[
        Path | None, typer.Option("--save", help="RUN.json: the scenario, the software and the answer, for `rerun`.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite what --save names.")] = False,
    zeta: Annotated[Given, typer.Option("--zeta", hidden=True)] = None,
    delta: Annotated[Given, typer.Option("--delta", hidden=True)] = None,
) -> None:
    """Rank Star-Star, Star-Ring, Ring-Star and Ring-Ring: rounds, time and traffic to a target, and how sure."""
    if json and output not in (None, "json"):
        raise typer.BadParameter(f"--format: {output} contradicts --json. Give one of the two.")
    given = locals()
    told = {"coverage": coverage, "edges": edges, "region_times": region_times}
    if save is not None and any(told.values()):
        raise typer.BadParameter("--save: a run that is kept is of the scenario alone. Leave the other families out.")
    scenario = scenario_of(given)
    form = "json" if json else _format(output)
    from planner.decide.rank import recommend as answer
    from planner.report.render import render

    with _watched(scenario):
        found = answer(scenario) if save is None else _saved(save, force, given, lambda: answer(scenario))
    if any(told.values()):
        from planner.report.answers.beside import beside

        found = beside(found, scenario, given["config"], spoken(given), **told)
    _print(render(form, found, width=_width(), color=_color()))


app.command("group")(
    with_scenario(counts_commands.group, on_demand=True, without=("fleet", "groups", "clients", "heterogeneity"))
)
app.command("flip")(with_scenario(flip_command.flip))
app.command("tune")(with_scenario(tune_command.tune))
app.command("picture")(with_scenario(picture_command.picture, on_demand=True))
app.command("async")(with_scenario(async_command.async_))


app.command("rerun")(rerun_command.rerun)
app.command("diff")(rerun_command.diff)


@app.command()
def schema() -> None:
    """Print the JSON Schema of what `recommend --json` prints."""
    import json

    from planner.decide.recommendation import Recommendation

    _print(json.dumps(Recommendation.model_json_schema(), indent=2) + "\n")


@app.command()
def audit(
    paper: Annotated[str | None, typer.Option("--paper", help="Only this paper's: zhou2026, liu2026 ...")] = None,
    only: Annotated[
        str, typer.Option("--only", help="Rows to show: all, holds, constant, fails, unknown, notes, wrong.")
    ] = "all",
    json: Annotated[bool, typer.Option("--json", "-j", help="One JSON document.")] = False,
) -> None:
    """Check every bound, every line of the derivations and every erratum, and print what was found."""
    from planner.cli import audit as command

    text, wrong = command.run(paper, only, json)
    _print(text)
    if wrong:
        raise typer.Exit(NO_ANSWER)


def _format(output: str | None) -> str:
    from planner.report.render import formats

    if output is not None and output not in formats():
        raise typer.BadParameter(f"--format: {output!a:.40} is not one of {', '.join(formats())}.")
    return output or "table"


@contextmanager
def _watched(scenario: Scenario) -> Iterator[None]:
    """Progress in a terminal, where the answer is simulated."""
    if scenario.predictor != "surrogate" or sys.stderr is None or not sys.stderr.isatty():
        yield
        return
    from planner.predict.predictors.surrogate import watched

    with watched(lambda done: sys.stderr.write(f"\rsimulating: {done:.0%}")):
        yield
    sys.stderr.write("\r\033[K")


def _saved(file: Path, force: bool, given: Mapping[str, Any], answer: Callable[[], Recommendation]) -> Recommendation:
    """An answer, and its manifest in a file."""
    from planner.io import atomic as writing
    from planner.runs import manifest

    writing.place(file, force, "--save")
    found = answer()
    writing.write(file, manifest.make(given["config"], spoken(given), found).text(), force, "--save")
    return found


def _print(text: str) -> None:
    if sys.stdout is None:
        raise OSError(9, "standard output is closed")
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")  # a title may have letters that the terminal has not
    sys.stdout.write(text)
    sys.stdout.flush()


def _color() -> bool:
    return (
        sys.stdout is not None
        and sys.stdout.isatty()
        and "NO_COLOR" not in os.environ
        and os.environ.get("TERM") != "dumb"
    )


def _width() -> int:
    import shutil

    return shutil.get_terminal_size((100, 24)).columns


def main() -> None:
    """Run the command line; every refusal is one or two lines on stderr."""
    try:
        code = app(standalone_mode=False) or 0
    except typer.Exit as stop:
        code = stop.exit_code
    except (typer.Abort, KeyboardInterrupt):
        code = INTERRUPTED
    except CommandError as error:
        code = _refuse(error.format_message(), MISUSE)
    except BrokenPipeError:
        # The reader has gone; say nothing, and keep Python from complaining at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except Exception as error:
        from hflbounds.errors import HflBoundsError
        from planner.errors import NoAnswerError, PlannerError

        if os.environ.get("HFL_PLAN_DEBUG", "0") not in ("", "0"):
            import traceback

            traceback.print_exc()
        if isinstance(error, NoAnswerError):
            code = _refuse(str(error), NO_ANSWER)
        elif isinstance(error, PlannerError | HflBoundsError):
            code = _refuse(str(error), MISUSE)
        elif isinstance(error, OSError):
            code = _refuse(f"the answer could not be written: {error.strerror}.", NO_ANSWER)
        else:
            kind = type(error).__name__
            code = _refuse(
                f"internal error, {kind}: {error}. HFL_PLAN_DEBUG=1 shows where; please report it.", NO_ANSWER
            )
    sys.exit(code)


def _refuse(message: str, code: int) -> int:
    message = message.removeprefix("Invalid value: ")
    sys.stderr.write(f"hfl-plan: {message}\n")
    return code
