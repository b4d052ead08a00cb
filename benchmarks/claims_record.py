"""The verdicts of both sizes in one table: planner/data/claims.csv, and the same in docs/validation.md.

    hfl-plan validate report --store quick.db --json > quick.json
    hfl-plan validate report --store full.db --json > full.json
    python benchmarks/claims_record.py quick.json full.json

A claim that the full size lacks keeps its quick verdict alone.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
from pathlib import Path
from typing import Any

KINDS = {"holds": "holds", "fails": "fails", "open": "cannot tell"}


def read(file: Path) -> dict[str, dict[str, Any]]:
    """The claims of a report, by id."""
    return {claim["id"]: claim for claim in json.loads(file.read_text(encoding="utf-8"))["claims"]}


def judged(claim: dict[str, Any] | None, size: str) -> dict[str, object]:
    """The verdict and the counts, as columns; empty where the claim was not run."""
    if claim is None or claim.get("verdict") is None:
        return {size: "", **{f"{size}_{name}": "" for name in KINDS}}
    verdicts = [row["verdict"] for row in claim["rows"]]
    return {size: claim["verdict"], **{f"{size}_{name}": verdicts.count(kind) for name, kind in KINDS.items()}}


def shown(row: dict[str, object], size: str) -> str:
    """A cell of the table."""
    return f"{row[size]}: " + " / ".join(str(row[f"{size}_{name}"]) for name in KINDS) if row[size] else "not run"


def main() -> None:
    """Write the file, and the table of the page."""
    here = Path(__file__).resolve().parents[1]
    parser = argparse.ArgumentParser(description="The verdicts of both sizes in one table.")
    parser.add_argument("quick", type=Path)
    parser.add_argument("full", type=Path)
    options = parser.parse_args()
    quick, full = read(options.quick), read(options.full)
    rows = [
        {"claim": name, "statement": claim["statement"], **judged(claim, "quick"), **judged(full.get(name), "full")}
        for name, claim in quick.items()
    ]
    with (here / "planner" / "data" / "claims.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    page = here / "docs" / "validation.md"
    lines = [f"| `{r['claim']}` | {r['statement']} | {shown(r, 'quick')} | {shown(r, 'full')} |" for r in rows]
    table = "| claim | statement | quick | full |\n|---|---|---|---|\n" + "\n".join(lines) + "\n"
    text = page.read_text(encoding="utf-8")
    page.write_text(re.sub(r"\| claim \| statement \|.*\n(\|.*\n)+", lambda _: table, text), encoding="utf-8")


if __name__ == "__main__":
    main()
