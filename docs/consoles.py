"""Write what commands print now into the console blocks of README and the docs, line by line.

    python docs/consoles.py             # says what is stale
    python docs/consoles.py --write     # and writes it anew

A shown line stands for the printed line that is most like it, after those before it; one that ends in an ellipsis stays
cut, at the same words where they are still there. Read what it changed: the text around a block is not looked at.
"""

from __future__ import annotations

import argparse
import difflib
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SKIPPED = "..."
CUT = "…"


def printed(command: str, place: Path) -> list[str]:
    """What a command writes in a folder."""
    program = [sys.executable, "-c", "from planner.cli.app import main; main()", *shlex.split(command)[1:]]
    run = subprocess.run(  # noqa: S603 - our own pages
        program, cwd=place, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    return (run.stdout + run.stderr).splitlines()


def shown_now(shown: list[str], real: list[str]) -> list[str]:
    """The lines of a block as they are now: each the most similar printed one that is not before the last."""
    found, at, skipping = [], 0, False
    for line in shown:
        if line == SKIPPED:
            found.append(line)
            skipping = True
            continue
        if at >= len(real):
            continue
        body, cut = (line[:-1].rstrip(), True) if line.endswith(CUT) else (line, False)
        place = at
        if skipping:
            scores = [likeness(body, one if not cut else one[: len(body)]) for one in real[at:]]
            place = at + max(range(len(scores)), key=scores.__getitem__)
        found.append(shortened(body, real[place]) if cut else real[place])
        at, skipping = place + 1, False
    return found


def likeness(one: str, other: str) -> float:
    """How alike two lines are but for their numbers, from 0 to 1."""
    plain = [re.sub(r"[0-9.,]+", "0", text) for text in (one, other)]
    return difflib.SequenceMatcher(None, *plain, autojunk=False).ratio()


def shortened(before: str, now: str) -> str:
    """A line cut after as many words as before."""
    words = len(before.split())
    cut = re.match(rf"\s*(?:\S+\s+){{{words}}}", now + " ")
    kept = now if cut is None else cut.group().rstrip()
    return f"{before} {CUT}" if now.startswith(before) else f"{kept} {CUT}"


def refreshed(text: str, place: Path) -> str:
    """A page with its blocks as they are printed now; commands run in a folder that has the examples."""

    def block(match: re.Match[str]) -> str:
        lines: list[str] = []
        parts = re.split(r"(?m)^\$ ", match.group(1).strip("\n"))
        for part in parts[1:]:
            command, *shown = part.rstrip("\n").split("\n")
            real = printed(command, place) if command.startswith("hfl-plan ") and ">" not in command else []
            lines += [f"$ {command}", *(shown_now(shown, real) if real and shown else shown)]
        return "```console\n" + "\n".join(lines) + "\n```"

    return re.sub(r"```console\n(.*?)```", block, text, flags=re.DOTALL)


def main() -> None:
    """Go over the pages that are named, or over all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="*", type=Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    every = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    for page in options.pages or every:
        before = page.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "examples").symlink_to(ROOT / "examples")
            after = refreshed(before, Path(folder))
        if after != before:
            sys.stdout.write(
                "".join(
                    difflib.unified_diff(before.splitlines(True), after.splitlines(True), str(page), str(page), n=0)
                )
            )
            if options.write:
                page.write_text(after, encoding="utf-8")


if __name__ == "__main__":
    main()
