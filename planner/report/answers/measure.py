"""What ``hfl-plan measure`` answers: text from a file and options."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np

from planner.data import label_shift
from planner.data.dirichlet import Concentration, concentrations
from planner.data.label_counts import LabelCounts, read_counts, read_gram
from planner.data.label_shift import Floats, Interval, Measured
from planner.data.profile import from_counts
from planner.errors import ScenarioError
from planner.io.atomic import write
from planner.report.answers.counts_text import caveats, columns, counted, document_text, finite, one_of, positive, short

SCHEMA = "hfl-plan/measure/1"
SHOWN = 5  # clients and groups that are named
CONCENTRATION_CELLS = 2 * 10**6  # counts that concentrations are fitted to


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
    one_of("--weighting", weighting, label_shift.WEIGHTINGS)
    one_of("--counts-are", counts_are, label_shift.COUNTS)
    if groups_are is not None:
        one_of("--groups-are", groups_are, ("given", "chosen"))
    if gram_path is not None and scale is not None:
        raise ScenarioError("--scale: --gram says the lengths of class gradients already. Give one of the two.")
    length = None if scale is None else positive("--scale", scale)
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
    return document_text(document) if as_json else _measure_page(document, output)


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
    top_clients = np.argsort(-found.plain.parts[-1], kind="stable")[:SHOWN]
    top_groups = np.argsort(-found.plain.parts[0], kind="stable")[:SHOWN]
    pooled = np.zeros((len(sizes), len(table.labels)))
    np.add.at(pooled, table.group_of, table.counts)
    pooled /= pooled.sum(axis=1, keepdims=True)

    def mostly(row: Floats) -> dict[str, Any]:
        return {"label": table.labels[int(row.argmax())], "label_share": float(row.max())}

    return {
        "schema": SCHEMA,
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
                "share_of_zeta2": float(found.plain.parts[-1][i] / (found.plain.squares[-1] - found.plain.noises[-1])),
                **mostly(shares[i]),
            }
            for i in top_clients
            if net_zeta > 0 and found.plain.parts[-1][i] > 0
        ],
        "dominant_groups": [
            {
                "group": table.groups[g],
                "clients": int(sizes[g]),
                "share_of_delta2": float(found.plain.parts[0][g] / (found.plain.squares[0] - found.plain.noises[0])),
                **mostly(pooled[g]),
            }
            for g in top_groups
            if net_delta > 0 and not found.chosen and found.plain.parts[0][g] > 0
        ],
        "warnings": warnings,
    }


def _plain(found: Interval | Concentration) -> dict[str, Any]:
    return {name: finite(getattr(found, name)) for name in ("value", "low", "high")}


def _measure_page(document: Mapping[str, Any], output: Path | None) -> str:
    d = document
    out = [
        f"{counted(d['clients'], 'client')} in {counted(d['groups'], 'group')}, {d['labels']} labels, "
        f"{d['samples']:,} samples" + ("" if d["counts_are"] == "sample" else ", taken to be all there are")
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
    out += [f"Squared deviations, in {unit}", *columns(rows)]
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
            out += columns(
                [
                    (
                        f"  {short(row[noun])}",
                        f"{row[f'share_of_{share}']:.1%}",
                        f"{short(row['label'])} is {row['label_share']:.0%} of it",
                    )
                    for row in d[key]
                ]
            )
    if output is not None:
        out.append(f"Profile: {output} (aggregates only)")
    out += caveats(d["warnings"])
    return "\n".join(out) + "\n"


def _span(part: Mapping[str, Any]) -> str:
    if part["low"] is None and part["high"] is None:
        return "no interval"
    low = "0" if part["low"] is None else f"{part['low']:.3g}"
    high = "no upper end" if part["high"] is None else f"{part['high']:.3g}"
    return f"95 % {low} to {high}"
