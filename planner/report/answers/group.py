"""What ``hfl-plan group`` answers: text from files and options."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from planner.data import grouping, label_shift
from planner.data.label_counts import LabelCounts, read_costs, read_counts, read_gram, read_pairs
from planner.data.label_shift import Floats, Indices
from planner.decide import regrouping
from planner.errors import NoAnswerError, ScenarioError
from planner.io.atomic import write
from planner.io.wording import names, title
from planner.report.answers.counts_text import caveats, columns, counted, document_text, one_of, positive, short
from planner.scenario import divisions
from planner.scenario.units import format_duration, format_size

if TYPE_CHECKING:
    from planner.scenario.resolve import Scenario

SCHEMA = "hfl-plan/grouping/1"
SHOWN = 5  # moves that are listed in text
BY = {"rounds": "by rounds", "time": "by the clock", "bytes": "by traffic"}


def grouped(
    scenario: Callable[..., Scenario],
    path: Path,
    groups: int | None,
    sizes: tuple[int | None, int | None, bool],
    pairs_path: Path | None,
    cost_path: Path | None,
    cost_weight: str | None,
    weighting: str,
    gram_path: Path | None,
    moves: int | None,
    restarts: int | None,
    skip_empty: bool,
    output: Path | None,
    force: bool,
    seed: int,
    *,
    as_json: bool,
) -> str:
    """A grouping with the least inter-group deviation, the way there from the present one, and what it buys.

    ``scenario`` reads what else is known of the fleet, with values in place of options, by key; the others are those of
    `planner.cli.commands.group`.

    Raises:
        ScenarioError: for options and files that cannot be meant.
        NoAnswerError: where no grouping keeps the rules, or the file cannot be written.
    """
    one_of("--weighting", weighting, ("clients", "samples"))
    least, most, free = sizes
    if free and (least, most) != (None, None):
        raise ScenarioError("--free: groups of any size have no --min-size or --max-size. Leave one out.")
    if least is not None and most is not None and least > most:
        raise ScenarioError(f"--min-size: {least} exceeds --max-size {most}. Exchange them.")
    if cost_weight is not None and cost_path is None:
        raise ScenarioError("--cost-weight: there is no --cost to weigh. Give --cost FILE.")
    price = 0.0 if cost_weight is None else positive("--cost-weight", cost_weight)
    if output is not None and not force and output.exists():
        raise ScenarioError(f"--output: {str(output)!a:.120} exists. Add --force to overwrite it.")
    table = read_counts(path, grouped=False, skip_empty=skip_empty)
    clients = len(table.clients)
    servers, costs = read_costs(cost_path, table.clients) if cost_path is not None else ((), None)
    if servers and groups not in (None, len(servers)):
        raise ScenarioError(
            f"--groups: {groups} contradicts the {len(servers)} servers of {cost_path}, a group each. Leave it out."
        )
    count = len(servers) or groups or len(table.groups)
    if not count:
        raise ScenarioError(
            f"--groups: how many? {path} has no column 'group' to take the number from. Give --groups 12."
        )
    if count > clients:
        raise NoAnswerError(f"{clients} clients cannot fill {count} groups. Ask for at most {clients}.")
    names, present = _present(table, servers, count)
    if moves is not None and present is None:
        raise ScenarioError(
            f"--moves: moves start from present groups, and {path} has none of the {count} groups asked for. "
            "Leave --moves out."
        )
    low = least if least is not None else 1 if free or most is not None else clients // count
    high = most if most is not None else clients if free or least is not None else -(-clients // count)
    rules = read_pairs(pairs_path, table.clients) if pairs_path is not None else {"must": [], "cannot": []}
    gram = None if gram_path is None else read_gram(gram_path, table.labels)
    points = table.shares() if gram is None else table.shares() @ label_shift.root(gram)
    mass = table.counts.sum(axis=1) if weighting == "samples" else np.ones(clients)
    problem, unit = grouping.pose(
        points,
        mass,
        count,
        low,
        high,
        together=rules["must"],
        apart=rules["cannot"],
        costs=costs,
        price=price,
        names=table.clients,
    )
    variances = label_shift.noise(table.counts, gram)
    start, broken = _start(problem, unit, present, rules)
    made: list[grouping.Step] = []
    walked: grouping.State | None = None
    if start is not None and len(problem.size) * count > grouping.STEEPEST and moves is None:
        start, broken = None, "too large for a list; --moves 100 makes one"
    if start is not None:
        walked = grouping.State(problem, start)
        made = grouping.descent(walked, moves)
    if moves is not None and walked is None:
        raise NoAnswerError(
            f"--moves: the present groups break the rules ({broken}), so single moves cannot start from them. "
            "Leave --moves out."
        )
    if walked is not None and moves is not None:
        found = walked
    else:
        found = grouping.solve(problem, seed, restarts)
        if walked is not None and walked.value() <= found.value() * (1 + grouping.STILL):
            found = walked
    chosen = found.group_of[unit]
    if found is not walked and present is not None and costs is None:
        chosen = grouping.renamed(present, chosen, count)
    total = _summary(points, mass, variances, chosen, count, costs)
    before = None if present is None else _summary(points, mass, variances, present, count, costs)
    bought, about = _effect(scenario, path, table, gram, present, chosen, count, seed)
    steps = _steps(made, unit, table, names, start, before["delta2"] if before else 0.0)
    document = {
        "schema": SCHEMA,
        "file": str(path),
        "clients": clients,
        "groups": count,
        "sizes": {"least": low, "most": high},
        "weighting": weighting,
        "unit": "gradients" if gram is not None else "label shares",
        "before": before,
        "after": total,
        "assignment": {c: names[g] for c, g in zip(table.clients, chosen.tolist(), strict=True)},
        "moved": None if present is None else int((chosen != present).sum()),
        "moves": steps,
        "moves_from_present": None if start is None else len(steps),
        "effect": bought,
        "front": _front(problem, unit, points, mass, variances, count, costs, seed, restarts),
        "warnings": [
            *table.warnings,
            *_group_cautions(before, total, start, present, broken, low, high, problem),
            *about,
            *(_formulas(table, names) if output is not None else ()),
        ],
    }
    if output is not None:
        write(output, _regrouped(table, [names[g] for g in chosen]), force)
    return document_text(document) if as_json else _group_page(document, output)


def _effect(
    read: Callable[..., Scenario],
    path: Path,
    table: LabelCounts,
    gram: Floats | None,
    present: Indices | None,
    chosen: Indices,
    count: int,
    seed: int,
) -> tuple[dict[str, Any] | None, list[str]]:
    """What the new groups do to the recommendation, and warnings about that; none where there is no answer.

    Raises:
        ScenarioError: where the options of the scenario contradict each other.
    """
    points = table.shares() if gram is None else table.shares() @ label_shift.root(gram)
    variances = label_shift.noise(table.counts, gram)

    def of(kind: regrouping.Kind, group_of: Indices) -> regrouping.Grouped:
        sizes = np.bincount(group_of, minlength=count)
        found = label_shift.spread(points, variances, group_of, 1 / sizes[group_of], sizes / len(group_of))
        net = found.zeta2 - found.zeta2_noise, found.delta2 - found.delta2_noise
        zeta2, delta2 = found.if_chosen() if kind == "new" or net[1] < 0 else net
        if kind == "random":
            zeta2, delta2 = divisions.expected(max(sum(net), 0.0), len(group_of), count)
        labels = int((table.counts > 0).any(axis=0).sum())
        return regrouping.Grouped(kind, zeta2, delta2, gram is not None, labels, sizes.tolist())

    def posed(grouped: regrouping.Grouped) -> Scenario:
        size = max(round(len(table.clients) / count), 1)
        said = grouped.heterogeneity(str(path))
        return read(
            {
                "fleet.clients": count * size,
                "fleet.groups": count,
                "fleet.clients_per_group": size,
                "problem.heterogeneity": said,
                "plan.seed": seed,
            }
        )

    before = of("present", present) if present is not None else of("random", chosen)
    after = of("new", chosen)
    scenarios = posed(before), posed(after)
    if any(s.divisions for s in scenarios):
        return None, ["The effect on the recommendation is of one plan: give numbers in place of ranges to see it."]
    try:
        found = regrouping.effect((before.kind, scenarios[0]), (after.kind, scenarios[1]))
    except NoAnswerError as error:
        return None, [f"The effect on the recommendation is not known: {error}"]
    return found, list(scenarios[1].warnings)


def _present(table: LabelCounts, servers: Sequence[str], count: int) -> tuple[tuple[str, ...], Indices | None]:
    """Names of the groups, and the present one of every client where it is one of them."""
    if servers:
        number = {name: j for j, name in enumerate(servers)}
        if table.groups and set(table.groups) <= set(servers):
            return tuple(servers), np.array([number[table.groups[g]] for g in table.group_of], dtype=np.int64)
        return tuple(servers), None
    if len(table.groups) == count:
        return table.groups, table.group_of
    return tuple(f"g{i + 1}" for i in range(count)), None


def _start(
    problem: grouping.Problem, unit: Indices, present: Indices | None, rules: Mapping[str, list[tuple[int, int]]]
) -> tuple[Indices | None, str]:
    """The present grouping by unit, where it keeps the rules; else what it breaks."""
    if present is None:
        return None, ""
    sizes = np.bincount(present, minlength=problem.groups)
    if sizes.min() < problem.least or sizes.max() > problem.most:
        return None, f"sizes are {sizes.min()} to {sizes.max()}, and {problem.least} to {problem.most} are asked for"
    if any(present[a] != present[b] for a, b in rules["must"]):
        return None, "a must pair is apart"
    if any(present[a] == present[b] for a, b in rules["cannot"]):
        return None, "a cannot pair is together"
    by_unit = np.zeros(len(problem.size), dtype=np.int64)
    by_unit[unit] = present
    return by_unit, ""


def _summary(
    points: Floats, mass: Floats, variances: Floats, group_of: Indices, count: int, costs: Floats | None
) -> dict[str, Any]:
    whole = np.bincount(group_of, weights=mass, minlength=count)
    found = label_shift.spread(points, variances, group_of, mass / whole[group_of], whole / whole.sum())
    return {
        "zeta2": found.zeta2,
        "delta2": found.delta2,
        "delta2_expected": found.if_chosen()[1],
        "cost": None if costs is None else float(costs[np.arange(len(group_of)), group_of].mean()),
    }


def _steps(
    made: Sequence[grouping.Step],
    unit: Indices,
    table: LabelCounts,
    names: Sequence[str],
    start: Indices | None,
    before: float,
) -> list[dict[str, Any]]:
    if start is None:
        return []
    members: dict[int, list[str]] = {}
    for client, u in zip(table.clients, unit.tolist(), strict=True):
        members.setdefault(u, []).append(client)
    at = start.copy()
    out, gained = [], 0.0
    whole = sum(step.gain for step in made) or 1.0
    for step in made:
        gained += step.gain
        moves = [{"clients": members[u], "from": names[int(at[u])], "to": names[g]} for u, g in step.moves]
        for u, g in step.moves:
            at[u] = g
        out.append(
            {"moves": moves, "gain": step.gain, "gained_share": gained / whole, "left": max(before - gained, 0.0)}
        )
    return out


def _front(
    problem: grouping.Problem,
    unit: Indices,
    points: Floats,
    mass: Floats,
    variances: Floats,
    count: int,
    costs: Floats | None,
    seed: int,
    restarts: int | None,
) -> list[dict[str, Any]] | None:
    if costs is None:
        return None
    out = []
    for state in grouping.front(problem, seed, restarts):
        chosen = state.group_of[unit]
        summary = _summary(points, mass, variances, chosen, count, costs)
        out.append({"delta2": summary["delta2"], "cost": summary["cost"]})
    return out


def _group_cautions(
    before: Mapping[str, Any] | None,
    after: Mapping[str, Any],
    start: Indices | None,
    present: Indices | None,
    broken: str,
    least: int,
    most: int,
    problem: grouping.Problem,
) -> list[str]:
    out = []
    if after["delta2_expected"] > 1.1 * after["delta2"]:
        out.append(
            "The counts are a sample, and its noise was evened out too: for the clients themselves expect delta^2 "
            f"near {after['delta2_expected']:.2g}. `hfl-plan measure --groups-are chosen` takes that into account."
        )
    if present is not None and start is None:
        out.append(f"No list of moves from the present groups: {broken}.")
    if most > least:
        out.append(
            "Groups may differ in size: every client (or sample) counts the same here, while the theorems let every "
            "group count the same."
        )
    return out


def _formulas(table: LabelCounts, names: Sequence[str]) -> list[str]:
    """What a spreadsheet may make of names that are written as they are, so that they can be read again."""
    if not any(name.startswith(("=", "+", "-", "@")) for name in (*table.clients, *table.labels, *names)):
        return []
    return ["Some names start with =, +, - or @: a spreadsheet may take them for formulas. Import them as text."]


def _regrouped(table: LabelCounts, group_of: Sequence[str]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    columns = np.argsort(table.columns)
    writer.writerow(["client", "group", *(table.labels[j] for j in columns)])
    counts = table.counts[:, columns].astype(np.int64).tolist()
    for i in np.argsort(table.lines, kind="stable").tolist():
        writer.writerow([table.clients[i], group_of[i], *counts[i]])
    return out.getvalue()


def _group_page(document: Mapping[str, Any], output: Path | None) -> str:
    d = document
    sizes = d["sizes"]
    size = f"{sizes['least']}" if sizes["least"] == sizes["most"] else f"{sizes['least']} to {sizes['most']}"
    out = [f"{counted(d['clients'], 'client')} into {counted(d['groups'], 'group')} of {size}"]
    rows = [
        (
            "",
            "delta^2 (inter-group)",
            "zeta^2 (intra-group)",
            "sum",
            *(["mean cost"] if d["after"]["cost"] is not None else []),
        )
    ]
    for name in ("before", "after"):
        part = d[name]
        if part is not None:
            rows.append(
                (
                    f"  {name}",
                    f"{part['delta2']:.4g}",
                    f"{part['zeta2']:.4g}",
                    f"{part['delta2'] + part['zeta2']:.4g}",
                    *([f"{part['cost']:.4g}"] if part["cost"] is not None else []),
                )
            )
    out += columns(rows)
    if d["before"] is not None:
        factor = d["before"]["delta2"] / d["after"]["delta2"] if d["after"]["delta2"] > 1e-14 else math.inf
        said = f"{factor:.3g} times less" if factor < 1e12 else "nothing left of it"
        out.append(f"Inter-group deviation delta^2: {said}; {d['moved']} clients change groups")
    if d["moves"]:
        marks = [
            (share, next(k for k, step in enumerate(d["moves"], 1) if step["gained_share"] >= share - 1e-12))
            for share in (0.5, 0.9, 0.99)
        ]
        said = ", ".join(f"{k} give {share:.0%}" for share, k in marks)
        out.append(f"From the present groups, {len(d['moves'])} moves and swaps; {said} of what they gain. The first:")
        for step in d["moves"][:SHOWN]:
            shown = " and ".join(
                f"{', '.join(short(c) for c in move['clients'][:3])}{' ...' if len(move['clients']) > 3 else ''} "
                f"from {short(move['from'])} to {short(move['to'])}"
                for move in step["moves"]
            )
            out.append(f"  {shown}: {step['gained_share']:.0%}")
    if d["effect"]:
        out += _effect_lines(d["effect"])
    if d["front"]:
        out.append("Choices of which none is better in both")
        out += columns(
            [("  delta^2", "mean cost"), *((f"  {p['delta2']:.4g}", f"{p['cost']:.4g}") for p in d["front"])]
        )
    if output is not None:
        out.append(
            f"New groups: {output}; for `recommend`, `hfl-plan measure {output} --groups-are chosen -o FILE.json`"
        )
    else:
        out.append("--output FILE.csv writes the new groups; --json lists all moves")
    out += caveats(d["warnings"])
    return "\n".join(out) + "\n"


def _effect_lines(effect: Mapping[str, Any]) -> list[str]:
    before, after = effect["before"], effect["after"]
    old = {"present": "the present groups", "random": "groups put together at random"}[before["grouping"]]
    target = effect["target"]
    aim = f"a mean squared gradient of {target['value']:.3g}"
    if target["origin"] == "derived":
        aim += f", {target['note']} before"
    by = BY[effect["objective"]]
    out = [f"The recommendation, {by}, from {old} to the new ones; the target is {aim}"]
    rows: list[tuple[str, ...]] = [("", "rounds", "", "time", "", "traffic", ""), ("", *("before", "after") * 3)]
    then = {row["topology"]: row for row in after["ranking"]}
    for row in before["ranking"]:
        cells = [f"  {title(row['topology'])}"]
        for name, shown in (("rounds", "{:,}".format), ("seconds", format_duration), ("bytes", format_size)):
            cells += ["-" if part[name] is None else shown(part[name]) for part in (row, then[row["topology"]])]
        rows.append(tuple(cells))
    out += columns(rows)
    leads = [_leaders(part["recommended"]) for part in (before, after)]
    if set(before["recommended"]) == set(after["recommended"]):
        out.append(f"  First stays {leads[0]}")
    else:
        where = effect["changes_below_delta"]
        said = f"  First comes {leads[0]} before, and {leads[1]} after"
        if where is not None:
            said += f": where delta falls below about {where:.2g}, on the way from {before['delta']:.2g} to "
            said += f"{after['delta']:.2g}"
        out.append(said)
    return out


def _leaders(topologies: Sequence[str]) -> str:
    if not topologies:
        return "nobody"
    return names(topologies) + (" in a tie" if len(topologies) > 1 else "")
