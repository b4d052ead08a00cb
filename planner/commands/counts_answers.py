"""What ``hfl-plan measure`` and ``hfl-plan group`` answer: text from files and options."""

from __future__ import annotations

import csv
import difflib
import io
import json
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

from planner import grouping, label_shift
from planner.dirichlet import Concentration, concentrations
from planner.errors import NoAnswerError, ScenarioError
from planner.label_shift import Floats, Indices, Interval, Measured
from planner.labels import LabelCounts, read_costs, read_counts, read_gram, read_pairs
from planner.profile import from_counts
from planner.writing import write

MEASURE_SCHEMA = "hfl-plan/measure/1"
GROUPING_SCHEMA = "hfl-plan/grouping/1"
SHOWN = 5  # clients and groups that are named; moves that are listed in text
CONCENTRATION_CELLS = 2 * 10**6  # counts that concentrations are fitted to


# ---------------------------------------------------------------- measure


def measured(
    path: Path,
    gram_path: Path | None,
    scale: str | None,
    weighting: str,
    counts_are: str,
    groups_are: str | None,
    skip_empty: bool,
    output: Path | None,
    force: bool,
    seed: int,
    *,
    as_json: bool,
) -> str:
    """The deviations of the groups of a file, with intervals, and who makes them.

    Raises:
        ScenarioError: for options and files that cannot be meant.
        NoAnswerError: if the profile cannot be written.
    """
    _one_of("--weighting", weighting, label_shift.WEIGHTINGS)
    _one_of("--counts-are", counts_are, label_shift.COUNTS)
    if groups_are is not None:
        _one_of("--groups-are", groups_are, ("given", "chosen"))
    if gram_path is not None and scale is not None:
        raise ScenarioError("--scale: --gram says the lengths of class gradients already. Give one of the two.")
    length = None if scale is None else _positive("--scale", scale)
    if output is not None and not force and output.exists():
        raise ScenarioError(f"--output: {str(output)!a:.120} exists. Add --force to overwrite it.")
    table = read_counts(path, skip_empty=skip_empty)
    if len(table.clients) < 2:
        raise ScenarioError(f"{path}: there is one client, and nothing to tell it from. Add the others.")
    gram = None if gram_path is None else read_gram(gram_path, table.labels)
    found = label_shift.measure(
        table,
        gram=gram,
        weighting=cast(label_shift.Weighting, weighting),
        counts=cast(label_shift.Counts, counts_are),
        chosen=None if groups_are is None else groups_are == "chosen",
        seed=seed,
    )
    fit, fitted = _concentrations(table, seed)
    warnings = [*table.warnings, *_cautions(table, found, weighting, counts_are, fitted)]
    profile = from_counts(table, found, fit, cast(label_shift.Weighting, weighting), gram is not None, length)
    if output is not None:
        write(output, profile.text(), force)
    document = _measure_document(path, table, found, fit, weighting, counts_are, gram is not None, length, warnings)
    return _json(document) if as_json else _measure_page(document, output)


def _concentrations(table: LabelCounts, seed: int) -> tuple[tuple[Concentration | None, ...], int]:
    """Concentrations, of a random part of the groups where there are very many counts; and of how many clients."""
    chosen = np.arange(len(table.groups))
    if table.counts.size > CONCENTRATION_CELLS:
        rng = np.random.default_rng(seed)
        share = max(CONCENTRATION_CELLS / table.counts.size, 2 / len(chosen))
        chosen = rng.permutation(chosen)[: math.ceil(share * len(chosen))]
    number = np.full(len(table.groups), -1, dtype=np.int64)
    number[chosen] = np.arange(len(chosen))
    inside = number[table.group_of] >= 0
    return concentrations(table.counts[inside], number[table.group_of][inside]), int(inside.sum())


def _cautions(table: LabelCounts, found: Measured, weighting: str, counts_are: str, fitted: int) -> list[str]:
    out = []
    sizes = table.sizes
    if sizes.min() != sizes.max():
        meaning = {
            "groups": "every group counts the same here, as in the theorems, so clients of small groups count more",
            "clients": "every client counts the same here, unlike in the theorems",
            "samples": "every sample counts the same here, unlike in the theorems",
        }[weighting]
        out.append(
            f"Groups have {sizes.min()} to {sizes.max()} clients, and the theorems assume one size: {meaning}. "
            f"Compare --weighting {'clients' if weighting == 'groups' else 'groups'}."
        )
    if counts_are == "sample":
        ones = int((table.counts.sum(axis=1) == 1).sum())
        if ones:
            out.append(
                f"{ones} clients have one sample, which tells nothing of its own noise: zeta^2 is too large by an "
                "unknown part."
            )
        for name, net, plain in (
            ("zeta", found.zeta2.value, found.plain.zeta2),
            ("delta", found.delta2.value, found.plain.delta2),
        ):
            if net == 0 and plain > 1e-12:
                out.append(f"The counts show no {name} beyond what counting alone makes of equal ones: it is put to 0.")
    if found.chosen:
        out.append(
            "The groups are taken to be chosen by these very counts, noise included: delta^2 is what to expect of the "
            "clients themselves. --groups-are given takes them as they are."
        )
    if len(table.groups) == 1:
        out.append("There is one group, so delta is 0.")
    if sizes.max() == 1:
        out.append("Every group has one client, so zeta is 0.")
    if fitted < len(table.clients):
        out.append(f"Concentrations stand on {fitted} clients, drawn by group.")
    return out


def _measure_document(
    path: Path,
    table: LabelCounts,
    found: Measured,
    fit: tuple[Concentration | None, ...],
    weighting: str,
    counts_are: str,
    absolute: bool,
    length: float | None,
    warnings: list[str],
) -> dict[str, Any]:
    sizes, shares = table.sizes, table.shares()
    known = absolute or length is not None
    factor = 1.0 if length is None else length**2
    net_zeta, net_delta = found.zeta2.value or 0.0, found.delta2.value or 0.0
    top_clients = np.argsort(-found.plain.of_clients, kind="stable")[:SHOWN]
    top_groups = np.argsort(-found.plain.of_groups, kind="stable")[:SHOWN]
    pooled = np.zeros((len(sizes), len(table.labels)))
    np.add.at(pooled, table.group_of, table.counts)
    pooled /= pooled.sum(axis=1, keepdims=True)

    def mostly(row: Floats) -> dict[str, Any]:
        return {"label": table.labels[int(row.argmax())], "label_share": float(row.max())}

    return {
        "schema": MEASURE_SCHEMA,
        "file": str(path),
        "groups": len(sizes),
        "clients": len(table.clients),
        "clients_per_group": {"mean": float(sizes.mean()), "least": int(sizes.min()), "most": int(sizes.max())},
        "labels": int((table.counts > 0).any(axis=0).sum()),
        "samples": int(table.counts.sum()),
        "weighting": weighting,
        "counts_are": counts_are,
        "level": label_shift.LEVEL,
        "draws": found.draws,
        "groups_chosen_by_counts": found.chosen,
        "unit": "gradients" if absolute else "label shares",
        "zeta2": {**_plain(found.zeta2), "without_correction": found.plain.zeta2},
        "delta2": {**_plain(found.delta2), "without_correction": found.plain.delta2},
        "ratio": {
            **_plain(found.ratio),
            "if_lengths_differ": None
            if found.lengths is None
            else {"by_up_to": label_shift.LENGTHS, "low": found.lengths[0], "high": found.lengths[1]},
        },
        "scale": {
            "known": known,
            "zeta": math.sqrt(net_zeta * factor) if known else None,
            "delta": math.sqrt(net_delta * factor) if known else None,
            "why": None if known else "label counts do not tell how long class gradients are: give --gram or --scale",
        },
        "concentrations": {
            name: None if c is None else {**_plain(c), "unbounded": c.value == math.inf}
            for name, c in zip(("intra", "inter"), fit, strict=True)
        },
        "dominant_clients": [
            {
                "client": table.clients[i],
                "group": table.groups[table.group_of[i]],
                "share_of_zeta2": float(found.plain.of_clients[i] / (found.plain.zeta2 - found.plain.zeta2_noise)),
                **mostly(shares[i]),
            }
            for i in top_clients
            if net_zeta > 0 and found.plain.of_clients[i] > 0
        ],
        "dominant_groups": [
            {
                "group": table.groups[g],
                "clients": int(sizes[g]),
                "share_of_delta2": float(found.plain.of_groups[g] / (found.plain.delta2 - found.plain.delta2_noise)),
                **mostly(pooled[g]),
            }
            for g in top_groups
            if net_delta > 0 and not found.chosen and found.plain.of_groups[g] > 0
        ],
        "warnings": warnings,
    }


def _plain(found: Interval | Concentration) -> dict[str, Any]:
    return {name: _finite(getattr(found, name)) for name in ("value", "low", "high")}


def _measure_page(document: Mapping[str, Any], output: Path | None) -> str:
    d = document
    out = [
        f"{d['clients']:,} clients in {d['groups']:,} groups, {d['labels']} labels, {d['samples']:,} samples"
        + ("" if d["counts_are"] == "sample" else ", taken to be all there are")
    ]
    ratio = d["ratio"]
    unit = "gradients" if d["unit"] == "gradients" else "label shares"
    if ratio["value"] is None:
        out.append("zeta^2 / delta^2: there is none, for delta is 0")
    else:
        out.append(f"zeta^2 / delta^2 = {ratio['value']:.4g} ({_span(ratio)})")
        if ratio["if_lengths_differ"]:
            span = ratio["if_lengths_differ"]
            out.append(
                f"  {span['low']:.3g} to {span['high']:.3g} where class gradients differ in length by up to "
                f"{span['by_up_to']:g}; here they are taken to be equally long"
            )
    rows = []
    for name, key, meaning in (("zeta^2", "zeta2", "intra-group"), ("delta^2", "delta2", "inter-group")):
        part = d[key]
        rows.append(
            (
                f"  {name}",
                meaning,
                f"{part['value']:.4g}",
                _span(part),
                f"without correction {part['without_correction']:.4g}",
            )
        )
    out += [f"Squared deviations, in {unit}", *_columns(rows)]
    scale = d["scale"]
    if scale["known"]:
        out.append(f"Absolute: zeta = {scale['zeta']:.4g}, delta = {scale['delta']:.4g}")
    else:
        out.append(
            "Absolute scale: unknown from label counts; --gram or --scale gives it, and the ratio does not need it"
        )
    out.append("Dirichlet concentration per label (small is uneven)")
    for name, words in (("intra", "within groups"), ("inter", "between groups")):
        part = d["concentrations"][name]
        if part is None:
            said = "none: nothing to compare"
        elif part["unbounded"]:
            said = "unbounded: no difference beyond counting"
        elif part["low"] is None:
            said = "0: every one has a single label"
        else:
            said = f"{part['value']:.3g} ({_span(part)})"
        out.append(f"  {words:14}  {said}")
    for key, noun, share in (("dominant_groups", "group", "delta2"), ("dominant_clients", "client", "zeta2")):
        if d[key]:
            out.append(f"Largest parts of {share[:-1]}^2")
            out += _columns(
                [
                    (
                        f"  {_name(row[noun])}",
                        f"{row[f'share_of_{share}']:.1%}",
                        f"{_name(row['label'])} is {row['label_share']:.0%} of it",
                    )
                    for row in d[key]
                ]
            )
    if output is not None:
        out.append(f"Profile: {output} (aggregates only)")
    out += _warnings(d["warnings"])
    return "\n".join(out) + "\n"


def _span(part: Mapping[str, Any]) -> str:
    if part["low"] is None and part["high"] is None:
        return "no interval"
    low = "0" if part["low"] is None else f"{part['low']:.3g}"
    high = "no upper end" if part["high"] is None else f"{part['high']:.3g}"
    return f"95 % {low} to {high}"


# ---------------------------------------------------------------- group


def grouped(
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
    """A grouping with the least inter-group deviation, and the way there from the present one.

    Raises:
        ScenarioError: for options and files that cannot be meant.
        NoAnswerError: where no grouping keeps the rules, or the file cannot be written.
    """
    _one_of("--weighting", weighting, ("clients", "samples"))
    least, most, free = sizes
    if free and (least, most) != (None, None):
        raise ScenarioError("--free: groups of any size have no --min-size or --max-size. Leave one out.")
    if least is not None and most is not None and least > most:
        raise ScenarioError(f"--min-size: {least} exceeds --max-size {most}. Exchange them.")
    if cost_weight is not None and cost_path is None:
        raise ScenarioError("--cost-weight: there is no --cost to weigh. Give --cost FILE.")
    price = 0.0 if cost_weight is None else _positive("--cost-weight", cost_weight)
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
    steps = _steps(made, unit, table, names, start, before["delta2"] if before else 0.0)
    document = {
        "schema": GROUPING_SCHEMA,
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
        "front": _front(problem, unit, points, mass, variances, count, costs, seed, restarts),
        "warnings": [*table.warnings, *_group_cautions(before, total, start, present, broken, low, high, problem)],
    }
    if output is not None:
        write(output, _regrouped(table, [names[g] for g in chosen]), force)
    return _json(document) if as_json else _group_page(document, output)


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


def _regrouped(table: LabelCounts, group_of: Sequence[str]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["client", "group", *table.labels])
    for client, group, row in zip(table.clients, group_of, table.counts.astype(np.int64).tolist(), strict=True):
        writer.writerow([client, group, *row])
    return out.getvalue()


def _group_page(document: Mapping[str, Any], output: Path | None) -> str:
    d = document
    sizes = d["sizes"]
    size = f"{sizes['least']}" if sizes["least"] == sizes["most"] else f"{sizes['least']} to {sizes['most']}"
    out = [f"{d['clients']:,} clients into {d['groups']:,} groups of {size}"]
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
    out += _columns(rows)
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
                f"{', '.join(_name(c) for c in move['clients'][:3])}{' ...' if len(move['clients']) > 3 else ''} "
                f"from {_name(move['from'])} to {_name(move['to'])}"
                for move in step["moves"]
            )
            out.append(f"  {shown}: {step['gained_share']:.0%}")
    if d["front"]:
        out.append("Choices of which none is better in both")
        out += _columns(
            [("  delta^2", "mean cost"), *((f"  {p['delta2']:.4g}", f"{p['cost']:.4g}") for p in d["front"])]
        )
    if output is not None:
        out.append(f"New groups: {output}; `hfl-plan recommend --heterogeneity {output}` takes them")
    else:
        out.append("--output FILE.csv writes the new groups; --json lists all moves")
    out += _warnings(d["warnings"])
    return "\n".join(out) + "\n"


# ---------------------------------------------------------------- what they share


def _one_of(option: str, given: str, known: Sequence[str]) -> None:
    if given not in known:
        near = difflib.get_close_matches(given, known, n=1)
        hint = f"Did you mean {near[0]}?" if near else f"Write one of {', '.join(known)}."
        raise ScenarioError(f"{option}: {given!a:.60} is not one of {', '.join(known)}. {hint}")


def _positive(option: str, text: str) -> float:
    good = re.fullmatch(r"[0-9.]{1,40}([eE][+-]?[0-9]{1,3})?", text.strip())
    try:
        value = float(text) if good else math.nan
    except ValueError:
        value = math.nan
    if not 1e-50 <= value <= 1e50:
        raise ScenarioError(f"{option}: {text!a:.40} is not a number from 1e-50 to 1e50. Write {option} 0.5.")
    return value


def _finite(number: Any) -> Any:
    return float(number) if number is not None and math.isfinite(number) else None


def _name(name: str) -> str:
    return name if len(name) <= 40 else name[:37] + "..."


def _columns(rows: Sequence[Sequence[str]]) -> list[str]:
    wide = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(text.ljust(w) for text, w in zip(row, wide, strict=True)).rstrip() for row in rows]


def _warnings(warnings: Sequence[str]) -> list[str]:
    return ["Warnings", *(f"  {text}" for text in warnings)] if warnings else []


def _json(document: dict[str, Any]) -> str:
    return json.dumps(document, indent=1, allow_nan=False) + "\n"
