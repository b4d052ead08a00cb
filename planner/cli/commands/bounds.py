"""``hfl-plan bounds``: the options of its commands. What they do is in `planner.report.answers`."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer import Argument, Option

from planner.cli.completion import bounds as ids
from planner.cli.options import OverwriteBoth, PictureFile
from planner.cli.output import NO_ANSWER, Asked, Result, told, watched

app = typer.Typer(
    name="bounds", help="List, show, compare, export and check convergence bounds.", rich_markup_mode=None
)

Bounds = Annotated[list[str] | None, Argument(metavar="ID", help="ids of bounds, or of families", autocompletion=ids)]
Paper = Annotated[str | None, Option("--paper", help="paper: zhou2026, liu2026 ...")]
Set = Annotated[list[str] | None, Option("--set", help="value of a quantity: --set G=10; repeat for more")]
Span = Annotated[str | None, Option("--range", metavar="LOW:HIGH", help="range of that quantity: 0.1:10")]
Cap = Annotated[str, Option("--cap", help="cap on the best step: own, common, none, or a number")]
Tree = Annotated[
    str | None, Option("--tiers", help="tree of any depth in place of an id: ring/star/ring, ring:4/star:5, or any")
]
Passes = Annotated[str | None, Option("--passes", help="passes of each tier, top first: 1/2")]
Drawn = Annotated[str | None, Option("--drawn", help="children of each tier that take part: 2/1")]
Order = Annotated[str | None, Option("--order", help="order of rings: fixed or random")]
Draws = Annotated[str | None, Option("--draws", help="draws of different passes: common (any joint law) or fresh")]
Notation = Annotated[str, Option("--notation", help="notation: common, or paper")]


@app.command("list")
def list_(
    words: Annotated[
        str, Option("--search", help="words that must all occur: --search 'zeta partial'", metavar="WORDS")
    ] = "",
    paper: Paper = None,
    status: Annotated[str | None, Option(help="status: proved, printed, reconstructed, refuted, own or lower")] = None,
    metric: Annotated[str | None, Option(help="bounded quantity: mean-squared-gradient ...")] = None,
) -> Result:
    """List bounds with status, constants and bounded quantity.

    Examples:
        hfl-plan bounds list --paper zhou2026 --search "theorem 1"
    """
    from planner.report.answers import bounds as bounds_answers

    return Result(bounds_answers.listed(words, paper, status, metric))


@app.command()
def show(  # reason: one parameter for every option
    bound: Annotated[
        str | None, Argument(metavar="[ID]", help="id of a bound, such as zhou2026.thm1.star-ring", autocompletion=ids)
    ] = None,
    settings: Set = None,
    notation: Notation = "common",
    tiers: Tree = None,
    passes: Passes = None,
    drawn: Drawn = None,
    order: Order = None,
    draws: Draws = None,
) -> Result:
    """Show one bound: statement, source, hypotheses, conditions, terms, misprints.

    With numbers its value too. With --tiers the theorem for trees of any depth.

    Examples:
        hfl-plan bounds show zhou2026.thm1.star-ring
        hfl-plan bounds show --tiers ring:4/star:5 --set K=10
    """
    from planner.report.answers import bounds as bounds_answers

    shape = {"passes": passes, "drawn": drawn, "order": order, "draws": draws}
    return Result(bounds_answers.shown(bound, settings or [], notation, tiers=tiers, shape=shape))


@app.command()
def compare(  # reason: one parameter for every option
    first: Annotated[str, Argument(metavar="ID", help="id of a bound", autocompletion=ids)],
    second: Annotated[
        str, Argument(metavar="ID", help="id of another, of the same metric and constants", autocompletion=ids)
    ],
    over: Annotated[str | None, Option("--over", "--x", help="quantity to vary: zeta, M, R, eta_eff ...")] = None,
    span: Span = None,
    settings: Set = None,
    tuned: Annotated[bool, Option("--tuned", help="compare each bound at its own best step")] = False,
    cap: Cap = "own",
    assume_both: Annotated[
        bool, Option("--assume-both", help="allow different hypotheses, for problems that satisfy both")
    ] = False,
) -> Result:
    """Find when one bound is smaller than another: exact condition and crossings.

    The condition needs no numbers. Crossings along --over need all other quantities.

    Examples:
        hfl-plan bounds compare hflbounds.exact.star-ring hflbounds.exact.ring-star
    """
    from planner.report.answers.bounds_compare import compared

    return Result(compared(first, second, over, span, settings or [], tuned=tuned, cap=cap, assume_both=assume_both))


@app.command()
def plot(  # reason: one parameter for every option
    bounds: Annotated[
        list[str], Argument(metavar="ID...", help="ids of bounds of one metric, or of families", autocompletion=ids)
    ],
    x: Annotated[str, Option("--over", "--x", help="quantity on the horizontal axis: R, zeta, K, eta_eff ...")],
    output: PictureFile,
    span: Span = None,
    settings: Set = None,
    cap: Cap = "own",
    force: OverwriteBoth = False,
) -> Result:
    """Draw bounds against a quantity, each at its best step.

    A step that is set, or drawn against, is kept. Needs matplotlib (extra plots).

    Examples:
        hfl-plan bounds plot devos2023.beta-local devos2023.beta-oracle --over s --set n_s=32 --output bounds.svg
    """
    from planner.report.answers.bounds_compare import plotted

    return Result(plotted(bounds, x, span, settings or [], output, cap=cap, force=force))


@app.command()
def export(  # reason: one parameter for every option
    bounds: Bounds = None,
    everything: Annotated[bool, Option("--all", help="the whole catalogue")] = False,
    form: Annotated[
        str | None,
        Option("--format", "-f", help="latex, markdown, html, json, python, bibtex or mathtext; else by --output"),
    ] = None,
    output: Annotated[str, Option("--output", "-o", help="file of the export; - is stdout")] = "-",
    force: Annotated[bool, Option("--force", help="overwrite the file")] = False,
    standalone: Annotated[bool, Option("--standalone", help="a whole document (latex, html)")] = False,
    aligned: Annotated[bool, Option("--aligned", help="one term per line, with its name")] = False,
    macros: Annotated[bool, Option("--macros", help="one command per letter (latex)")] = False,
    notation: Notation = "common",
    letters: Annotated[
        list[str] | None, Option("--letter", help=r"A letter of your own: --letter sigma=\hat\sigma.")
    ] = None,
    settings: Set = None,
    label: Annotated[str | None, Option(help="label of the equation (latex): eq:drift")] = None,
    bare: Annotated[bool, Option("--bare", help="the equation alone, for a paper (latex)")] = False,
    tiers: Tree = None,
    passes: Passes = None,
    drawn: Drawn = None,
    order: Order = None,
    draws: Draws = None,
    asked: Asked = Asked(),  # noqa: B008 - frozen
) -> str | None:
    """Export bounds for a paper or a program.

    Examples:
        hfl-plan bounds export zhou2026.thm1.star-ring --format latex
    """
    from planner.report.answers import bounds as bounds_answers

    style: dict[str, Any] = {"notation": notation, "standalone": standalone, "aligned": aligned, "macros": macros}
    style |= {"label": label, "bare": bare}
    shape = {"passes": passes, "drawn": drawn, "order": order, "draws": draws}
    form = form or asked.form or bounds_answers.format_of(output, tiers)
    chosen = bounds or [], everything, form, settings or [], letters or []
    text = bounds_answers.exported(*chosen, tiers=tiers, shape=shape, **style)
    if output == "-":
        return text
    from planner.io import atomic

    atomic.write(output, text, force)
    if not asked.quiet:
        told(f"wrote {output}")
    return None


@app.command("worst-case")
def worst_case(  # reason: one parameter for every option
    bound: Annotated[
        str | None,
        Argument(metavar="[ID]", help="id of a bound; without numbers, its stored cases", autocompletion=ids),
    ] = None,
    settings: Set = None,
    tiers: Annotated[str | None, Option(help="tree of any depth: ring:2/star:2")] = None,
    passes: Passes = None,
    drawn: Drawn = None,
    deltas: Annotated[str | None, Option(help="heterogeneity of each tier, top first: 1/0.5")] = None,
    order: Order = None,
    draws: Annotated[str, Option(help="draws: common, one per round, or fresh, one per pass")] = "common",
) -> Result:
    """Compute the exact worst case of a small tree, beside its bounds.

    Semidefinite programming, with a certificate in whole numbers. Needs clarabel
    (extra certificates).

    Examples:
        hfl-plan bounds worst-case hflbounds.exact.star-star
    """
    from planner.report.answers import bound_worst

    shape = {"passes": passes, "drawn": drawn, "deltas": deltas, "order": order}
    return Result(bound_worst.answered(bound, settings or [], tiers, shape=shape, draws=draws, progress=watched))


@app.command()
def check(
    bounds: Bounds = None,
    paper: Paper = None,
) -> Result:
    """Check bounds: units, signs, derivations, monotonicity, tuning, identities.

    Examples:
        hfl-plan bounds check hflbounds.exact.star-star
    """
    from planner.report.answers.bounds_check import checked

    document, failed = checked(bounds or [], paper)
    return Result(document, code=NO_ANSWER if failed else 0)
