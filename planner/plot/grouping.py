"""Label shares of groups before and after a regrouping, and what it does to the two deviations."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from planner.data import label_shift
from planner.data.label_counts import LabelCounts, read_counts
from planner.errors import ScenarioError
from planner.io import frames
from planner.io.csv_rows import Floats
from planner.plot import COLUMN, GRID, PALETTE, Drawing, Picture, figure, of_shares, panel_letter, plain, style, swatch
from planner.plot.lettering import heading

LABELS, GROUPS = 7, 24  # drawn one by one; other labels together, other groups left out
NAMED = 6  # groups whose names are drawn
OTHERS = "#BBBBBB"
AFTER = "after"  # groups that were chosen by these counts


def of_tables(tables: Sequence[tuple[str, LabelCounts]]) -> Picture:
    """The picture of some groupings of the same clients: what each is called, and its counts with groups.

    Raises:
        ScenarioError: where the tables are not of the same clients and labels.
    """
    first = tables[0][1]
    for _, other in tables[1:]:
        if set(other.clients) != set(first.clients) or set(other.labels) != set(first.labels):
            raise ScenarioError(
                f"{other.source} and {first.source} are not counts of the same clients and labels. "
                "Give a file before and after regrouping."
            )
    deviations = {}
    for name, table in tables:
        weighting, chosen = label_shift.usual(table), True if name == AFTER else None
        found = label_shift.measure(table, weighting=weighting, chosen=chosen, draws=label_shift.DRAWS[0])
        deviations[name] = (found.tiers[-1].value or 0.0, found.tiers[0].value or 0.0)
    drawn, rows = draw({name: _shares(table, first) for name, table in tables}, first.labels, deviations)
    said = "; ".join(f"{name}: zeta^2 = {z:.3g}, delta^2 = {d:.3g}" for name, (z, d) in deviations.items())
    return drawn, rows, f"Label shares of every group. {said}, in units of label shares, as `measure` has them."


def of_counts(before: Path, after: str | None = None) -> Picture:
    """The picture of a file of label counts; with the text of one in new groups, of these, beside present ones if any.

    Raises:
        ScenarioError: for files that are none, and where they are not of the same clients and labels.
    """
    old = read_counts(before, grouped=after is None, skip_empty=True)
    if after is None:
        return of_tables([("groups", old)])
    with frames.held() as holder:
        new = read_counts(Path(holder.written(after, "after")), skip_empty=True)
    return of_tables([("before", old), (AFTER, new)] if old.groups else [(AFTER, new)])


@style()
def draw(
    shares: dict[str, tuple[Sequence[str], Floats]], labels: Sequence[str], deviations: dict[str, tuple[float, float]]
) -> Drawing:
    """Draw a panel of stacked bars for each grouping, and one for its zeta^2 and delta^2.

    ``shares`` are the names of groups, and an array of groups by labels.
    """
    whole = np.sum([values.mean(axis=0) for _, values in shares.values()], axis=0)
    top = np.sort(np.argsort(-whole, kind="stable")[:LABELS])
    names = [plain(labels[i], 14) for i in top]
    drawn, _ = figure(COLUMN, 1.8 + 1.25 * len(shares) + 0.9, across=0)
    grid = drawn.add_gridspec(len(shares) + 1, 1, height_ratios=[*[1.25] * len(shares), 0.22 * (2 * len(shares) + 1)])
    rows: list[dict[str, Any]] = []
    for place, (letter, (grouping, (groups, values))) in enumerate(zip("abcdefgh", shares.items(), strict=False)):
        axes = drawn.add_subplot(grid[place])
        shown = values[:GROUPS]
        base = np.zeros(len(shown))
        for i, (color, _, _, hatch) in zip(top, PALETTE, strict=False):
            look: Any = {"color": color, "hatch": hatch, "edgecolor": "white", "linewidth": 0.3}
            axes.bar(range(len(shown)), shown[:, i], bottom=base, width=0.9, **look)
            base = base + shown[:, i]
        axes.bar(range(len(shown)), 1 - base, bottom=base, width=0.9, color=OTHERS, edgecolor="white", linewidth=0.3)
        axes.set(xlim=(-0.6, len(shown) - 0.4), xticks=[])
        of_shares(axes, "y")
        if len(values) <= NAMED:
            axes.set_xticks(range(len(shown)), [plain(group, 12) for group in groups])
        left = f" (of {len(values)})" if len(values) > len(shown) else ""
        axes.set_title(f"{plain(grouping)}: {len(shown)} groups{left}")
        panel_letter(axes, letter)
        zeta2, delta2 = deviations[grouping]
        for group, line in zip(groups, values.tolist(), strict=True):
            of_labels = {f"share of {label}": share for label, share in zip(labels, line, strict=True)}
            rows.append({"grouping": grouping, "group": group, **of_labels, "zeta2": zeta2, "delta2": delta2})
    last = drawn.add_subplot(grid[len(shares)])
    _deviations(last, deviations)
    panel_letter(last, "abcdefgh"[len(shares)])
    keys = [swatch(color, hatch, name) for name, (color, _, _, hatch) in zip(names, PALETTE, strict=False)]
    if len(labels) > len(top):
        keys.append(swatch(OTHERS, "", "other labels"))
    wide = max(map(len, names)) > 9
    drawn.legend(handles=keys, loc="outside lower center", ncols=3 if wide else 4, title="labels", title_fontsize=7)
    heading(drawn, _message(list(deviations.values())), "shares of labels; means over the clients of each group")
    return drawn, rows


def _message(deviations: Sequence[tuple[float, float]]) -> str:
    """Say what became of the deviation between groups, or which of the two is larger."""
    (zeta2, delta2), last = deviations[0], deviations[-1][1]
    if len(deviations) == 1:
        more = "groups differ more than their clients" if delta2 > zeta2 else "clients differ more than their groups"
        return f"{more.capitalize()}: delta^2 {delta2:.2g}, zeta^2 {zeta2:.2g}"
    if last == delta2:
        return f"Groups differ as much as before: delta^2 {delta2:.2g}"
    return f"Groups differ {'less' if last < delta2 else 'more'}: delta^2 goes from {delta2:.2g} to {last:.2g}"


def _deviations(axes: Any, deviations: dict[str, tuple[float, float]]) -> None:
    """A bar for each deviation of each grouping, with its number."""
    lines = [
        (f"{sign} {plain(name, 18)}", pair[i])
        for i, sign in enumerate((r"$\zeta^2$", r"$\delta^2$"))
        for name, pair in deviations.items()
    ]
    longest = max((value for _, value in lines), default=1.0) or 1.0
    for place, (_, value) in enumerate(lines):
        color, _, _, hatch = PALETTE[0 if place < len(deviations) else 3]
        axes.barh(place, value, height=0.7, color=color, edgecolor="white", hatch=hatch)
        axes.text(value + 0.01 * longest, place, f"{value:.3g}", va="center", size=7)
    axes.set_yticks(range(len(lines)), [name for name, _ in lines])
    axes.set(ylim=(len(lines) - 0.4, -0.6), xlim=(0, 1.2 * longest))
    axes.grid(axis="x", color=GRID)
    axes.grid(axis="y", visible=False)
    axes.set_title("deviations, in label shares")


def _shares(table: LabelCounts, first: LabelCounts) -> tuple[Sequence[str], Floats]:
    """Names of groups, and the mean label shares of their clients; groups and labels in the order of the first."""
    shares = table.shares()[:, [table.labels.index(label) for label in first.labels]]
    sums = np.zeros((len(table.groups), shares.shape[1]))
    np.add.at(sums, table.group_of, shares)
    place = {name: i for i, name in enumerate(first.groups)}
    order = sorted(range(len(table.groups)), key=lambda g: place.get(table.groups[g], len(place)))
    return [table.groups[g] for g in order], (sums / table.sizes[:, None])[order]
