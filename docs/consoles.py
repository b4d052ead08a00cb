"""Write what commands print now into the console blocks of README and the docs, line by line.

    python docs/consoles.py             # says what is stale
    python docs/consoles.py --write     # and writes it anew

Lines between two ``...`` stand for the run of printed lines that is most like them; a line that ends in an ellipsis
stays cut, at the same words where they are still there. Read what it changed: the text around a block is not looked at.
"""

from __future__ import annotations

import argparse
import difflib
import math
import os
import re
import shlex
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SKIPPED = "..."
CUT = "…"
SLACK = 6  # lines that a piece may gain or lose
GAP = 0.4  # what a line without a partner costs


def printed(command: str, place: Path) -> list[str]:
    """What a command writes in a folder."""
    program = [sys.executable, "-c", "from planner.cli.app import main; main()", *shlex.split(command)[1:]]
    run = subprocess.run(  # noqa: S603 - our own pages
        program, cwd=place, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    return (run.stdout + run.stderr).splitlines()


def shown_now(shown: list[str], real: list[str]) -> list[str]:
    """The lines of a block as they are now.

    Lines between two ``...`` are one piece, which stands for as many printed lines as fit it best, a few more or less.
    All pieces are placed together, in their order; the first piece starts at the first line.
    """
    pieces: list[list[str]] = [[]]
    for line in shown:
        if line == SKIPPED:
            pieces.append([])
        else:
            pieces[-1].append(line)
    best: dict[tuple[int, int], tuple[float, int, int]] = {}
    for i in reversed(range(len(pieces))):
        for at in range(len(real) + 1):
            choices = [(0.0, at, at)]
            if pieces[i]:
                starts = [0] if i == 0 else range(at, len(real))
                choices = [
                    (score + best.get((i + 1, end), (0.0,))[0], start, end)
                    for start in starts
                    for end, score in fits(pieces[i], real, start)
                ]
            elif i + 1 < len(pieces):
                choices = [(best[i + 1, at][0], at, at)]
            best[i, at] = max(choices, key=lambda choice: choice[0], default=(-math.inf, at, at))
    found: list[str] = []
    at = 0
    for i, piece in enumerate(pieces):
        _, start, at = best[i, at]
        now = real[start:at]
        if piece and piece[-1].endswith(CUT) and now:
            now[-1] = shortened(piece[-1][:-1].rstrip(), now[-1])
        if len(piece) == len(now):
            pairs = zip(piece, now, strict=True)
            now = [shortened(p[:-1].rstrip(), n) if p.endswith(CUT) and not n.endswith(CUT) else n for p, n in pairs]
        found += [SKIPPED] * (i > 0) + now
    return found


def fits(piece: list[str], real: list[str], start: int) -> list[tuple[int, float]]:
    """Ends of runs of printed lines from a start, each with how well the run stands for a piece."""
    most = min(len(real), start + len(piece) + SLACK)
    row = [-GAP * k for k in range(most - start + 1)]  # of nothing shown against k printed lines
    for line in piece:
        ahead = [row[0] - GAP]
        for k, printed_line in enumerate(real[start:most]):
            alike = likeness(line, printed_line)
            ahead.append(max(row[k] + alike, row[k + 1] - GAP, ahead[k] - GAP))
        row = ahead
    least = max(1, len(piece) - SLACK)
    return [(start + k, row[k]) for k in range(least, len(row))]


@cache
def likeness(one: str, other: str) -> float:
    """How alike two lines are, from 0 to 1: mostly but for their numbers; of a cut line, as far as it goes."""
    if one == other:
        return 1.0
    if one.endswith(CUT):
        one, other = one[:-1].rstrip(), other[: len(one) - 1].rstrip()
    plain = [re.sub(r"[0-9.,]+", "0", text) for text in (one, other)]
    return 0.99 * difflib.SequenceMatcher(None, *plain, autojunk=False).ratio()


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
    every = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs/tutorials").glob("*.md"))]
    for page in options.pages or every:
        before = page.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "examples").symlink_to(ROOT / "examples")
            for name, content in re.findall(r"<!-- file: (\S+) -->\n```text\n(.*?)```", before, flags=re.DOTALL):
                Path(folder, name).write_text(content, encoding="utf-8")
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
