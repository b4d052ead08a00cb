"""``hfl-plan pilot``: the options. The answer is in `planner.report.answers.pilot`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from planner.cli.options import Seed, declare
from planner.cli.output import Asked, Result


@declare(files={".json": "the pilot, for `recommend --pilot`; FILE.runs beside it resumes"})
def pilot(  # reason: one parameter for every option
    hook: Annotated[
        Path | None,
        Argument(
            metavar="HOOK.py",
            help="Python file with model() and clients(), perhaps test() and loss(outputs, targets); it is RUN with "
            "your rights: name only files that you trust",
        ),
    ] = None,
    data: Annotated[Path | None, Option(help="label counts in place of a hook, as `measure` reads them")] = None,
    proxy: Annotated[str | None, Option(help="data set that the counts are laid on: digits, or fashion-mnist")] = None,
    rounds: Annotated[int, Option("--rounds", "-R", help="global rounds to compare")] = 8,
    metric: Annotated[str, Option(help="metric: loss (training), or accuracy on what test() returns")] = "loss",
    within: Annotated[str | None, Option(help="time budget, such as 2min")] = None,
    local_steps: Annotated[
        int, Option("--local-steps", "--K", "-K", help="local steps between two averagings", min=1)
    ] = 2,
    group_rounds: Annotated[
        str | None, Option("--group-rounds", "--P", "-P", help="group rounds in a global round; 2/3 for deeper trees")
    ] = None,
    drawn: Annotated[str | None, Option(help="children that take part each round, top tier first: 5/10 [all]")] = None,
    order: Annotated[str, Option(help="order of rings: fixed or random")] = "fixed",
    weights: Annotated[str, Option(help="clients count by: samples, or equal")] = "equal",
    topology: Annotated[str | None, Option(help="topologies to race: star-ring,ring-ring [all]")] = None,
    systems: Annotated[
        str, Option(help="systems beside trees: one-tier, hhfl (--coverage), hsl, gossip (--edges), hga (--slowdowns)")
    ] = "trees",
    coverage: Annotated[str | None, Option(help="coverage for hhfl: a CSV file or a layout in words")] = None,
    edges: Annotated[str | None, Option(help="models sent in a round, in total, for hsl and gossip")] = None,
    slowdowns: Annotated[
        str | None, Option(help="for hga: how many times as long the task of each region takes: 1,1.2,8")
    ] = None,
    speed_ratio: Annotated[
        str | None, Option(help="the same as the last region over the first, each slower than the one before: 8")
    ] = None,
    buffer: Annotated[
        str | None,
        Option(
            help="updates in a step of an asynchronous server: 1,2,5 or 1:8 [half of the regions, and for FedBuff "
            "a quarter and three quarters too]"
        ),
    ] = None,
    rates: Annotated[str | None, Option(help="number of rates of the first grid, or raw rates: 0.1,0.3 [7]")] = None,
    seeds: Annotated[int, Option(help="seeds of the noise, for the comparison")] = 4,
    batch: Annotated[int, Option(help="samples of a mini-batch", min=1)] = 32,
    measured: Annotated[int, Option(help="most samples measured on, and as many of the test", min=1)] = 5000,
    workers: Annotated[int, Option(help="processes", min=1)] = 1,
    engine: Annotated[str, Option(help="engine: local, or ray for a cluster")] = "local",
    device: Annotated[str, Option(help="device: cpu, or cuda for a GPU")] = "cpu",
    seed: Seed = 0,
    asked: Asked = Asked(),  # noqa: B008 - frozen
) -> Result:
    """Race the topologies briefly on your own model and data.

    HOOK.py is that of `estimate`; with test(), which returns (X, y), accuracy is measured too. Groups that are
    tuples, ("north", "ward 3"), make trees of more tiers. With label counts alone give --data and --proxy instead.
    Needs torch (extra validation).

    Examples:
        hfl-plan pilot examples/digits_hook.py --rounds 8 --output pilot.json
        hfl-plan pilot --data examples/hospitals.csv --proxy digits
    """
    from planner.families import raced
    from planner.harness.pilot import Wanted
    from planner.report.answers.pilot import counts, given, piloted
    from planner.report.answers.pilot import rates as read_rates
    from planner.report.sheet.gallery import race
    from planner.scenario.units import parse_duration

    speeds = {"slowdowns": slowdowns, "speed_ratio": speed_ratio, "buffer": buffer}
    systems_asked = raced.read(systems, edges, coverage=coverage, **speeds)
    topologies = tuple(word.strip().lower() for word in (topology or "").split(",") if word.strip())
    budget = None if within is None else float(parse_duration(within, field="--within", positive=True))
    wanted = Wanted(
        rounds=rounds, rates=read_rates(rates), seeds=seeds, metric=metric, within=budget,  # type: ignore[arg-type]
        local_steps=local_steps, passes=counts(group_rounds, "--group-rounds"), drawn=counts(drawn, "--drawn") or None,
        order=order, weights=weights, batch=batch, measured=measured, topologies=topologies, seed=seed,  # type: ignore[arg-type]
        beside=systems_asked.racers,
    )  # fmt: skip
    on = given(hook, data, proxy)
    file = asked.file if asked.file is not None and asked.file.suffix == ".json" else None
    how = {"workers": workers, "engine": engine, "device": device}
    document, text = piloted(on, wanted, file, systems_asked.left_out(), force=asked.force, **how)
    return Result(document, {".json": text}, pictures=[("race", "answer", lambda: race(text))])
