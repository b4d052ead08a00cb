"""Verdicts of both sizes: planner/data/claims.csv and claims_by_metric.csv, and their tables.

The first is in docs/validation.md, the one by metric in docs/evidence/claims.md.

    hfl-plan validate report --store quick.db --json > quick.json
    hfl-plan validate report --store full.db --json > full.json
    python benchmarks/claims_record.py quick.json full.json

A claim that the full size lacks keeps its quick verdict alone. With ``--metrics-only`` the first table, of each claim's
own metric, stays as it is: where not all of the full size was run again.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from validation.metrics import METRICS

HERE = Path(__file__).resolve().parents[1]
DATA, DOCS = HERE / "planner" / "data", HERE / "docs"
KINDS = {"holds": "holds", "fails": "fails", "open": "cannot tell"}


def read(file: Path) -> dict[str, dict[str, Any]]:
    """The claims of a report, by id."""
    return {claim["id"]: claim for claim in json.loads(file.read_text(encoding="utf-8"))["rows"]}


def judged(claim: dict[str, Any] | None, size: str) -> dict[str, object]:
    """The verdict and the counts, as columns; empty where the claim was not run."""
    if claim is None or claim.get("verdict") is None:
        return {size: "", **{f"{size}_{name}": "" for name in KINDS}}
    return {size: claim["verdict"], **{f"{size}_{name}": count for name, count in counts(claim).items()}}


def counts(found: dict[str, Any]) -> dict[str, int]:
    """How many comparisons hold, fail and cannot be told."""
    verdicts = [row["verdict"] for row in found["rows"]]
    return {name: verdicts.count(kind) for name, kind in KINDS.items()}


def shown(row: dict[str, object], size: str) -> str:
    """A cell of the first table."""
    return f"{row[size]}: " + "/".join(str(row[f"{size}_{name}"]) for name in KINDS) if row[size] else "not run"


def by_metric(claims: dict[str, dict[str, Any]], size: str) -> Iterator[dict[str, object]]:
    """A line for each claim that others than its own metric can judge, and each metric that was measured."""
    for name, claim in claims.items():
        for metric in METRICS:
            found = claim["by"].get(metric)
            if claim["alone"] or found is None or found["verdict"] is None:
                continue
            own = "own" if metric == claim["metric"] else ""
            told = {"claim": name, "size": size, "metric": metric, "own": own, "verdict": found["verdict"]}
            yield {**told, **counts(found), "opposite": found["opposite"]}


def of_metrics(lines: Sequence[dict[str, object]]) -> str:
    """The second table."""
    named: dict[tuple[object, object], dict[object, dict[str, object]]] = {}
    for line in lines:
        named.setdefault((line["claim"], line["size"]), {})[line["metric"]] = line
    table = f"| claim, size | {' | '.join(f'by {metric}' for metric in METRICS)} | other way |\n|---|---|---|---|---|\n"
    for (claim, size), found in named.items():
        cells = [f"{claim}, {size}"]
        for metric in METRICS:
            if line := found.get(metric):
                cell = f"{line['verdict']}: " + "/".join(str(line[kind]) for kind in KINDS)
                cells.append(f"**{cell}**" if line["own"] else cell)
            else:
                cells.append("-")
        turned = [f"{one['opposite']} by {metric}" for metric, one in found.items() if one["opposite"]]
        table += f"| {' | '.join([*cells, ', '.join(turned) or '0'])} |\n"
    return table


def written(name: str, lines: Sequence[dict[str, object]]) -> None:
    """A file of the package."""
    with (DATA / name).open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(lines[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)


def in_the_page(name: str, head: str, table: str) -> None:
    """Put a table in the place of the one with this head."""
    page = DOCS / name
    text = page.read_text(encoding="utf-8")
    page.write_text(re.sub(rf"\| {head} \|.*\n(\|.*\n)+", lambda _: table, text), encoding="utf-8")


def main() -> None:
    """Write the files, and the tables of the page."""
    parser = argparse.ArgumentParser(description="The verdicts of both sizes in two tables.")
    parser.add_argument("quick", type=Path)
    parser.add_argument("full", type=Path)
    parser.add_argument("--metrics-only", action="store_true")
    options = parser.parse_args()
    quick, full = read(options.quick), read(options.full)
    if not options.metrics_only:
        rows = [
            {"claim": name, "statement": claim["statement"], **judged(claim, "quick"), **judged(full.get(name), "full")}
            for name, claim in quick.items()
        ]
        written("claims.csv", rows)
        lines = [f"| `{r['claim']}` | {r['statement']} | {shown(r, 'quick')} | {shown(r, 'full')} |" for r in rows]
        head = "| claim | statement | quick | full |\n|---|---|---|---|\n"
        in_the_page("validation.md", r"claim \| statement", head + "\n".join(lines) + "\n")
    metrics = [*by_metric(quick, "quick"), *by_metric(full, "full")]
    written("claims_by_metric.csv", metrics)
    in_the_page("evidence/claims.md", "claim, size", of_metrics(metrics))


if __name__ == "__main__":
    main()
