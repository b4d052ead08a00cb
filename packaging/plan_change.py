"""Say in Markdown what a change of scenario files does to their plans: plan_change.py BEFORE AFTER PATTERN...

BEFORE and AFTER are folders with both versions of a repository. A TOML file that matches a pattern and has a table
``[fleet]`` is a scenario; it is answered in its own folder's version, with the files that it names there. What gives
the same answer is left out, and nothing is printed where nothing changed.
"""

from __future__ import annotations

import contextlib
import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

from planner import recommend
from planner.decide.recommendation import Recommendation
from planner.errors import PlannerError
from planner.io.wording import title
from planner.report.render import markdown
from planner.scenario.units import format_amount, format_duration, format_size

MARK = "<!-- hfl-plan -->"  # by which a comment is found again
MOST = 60_000  # letters; a comment may have 65,536
LARGEST = 1 << 20  # bytes of a scenario file
Answer = Recommendation | str | None
"""What a scenario gives: an answer, why there is none, or nothing as there is no such file."""


def scenarios(root: Path, patterns: Sequence[str]) -> set[str]:
    """Find the scenario files of a folder, by their paths in it; links are not followed out of it."""
    found = set()
    for pattern in patterns:
        for file in root.glob(pattern):
            inside = file.resolve().is_relative_to(root.resolve())
            if inside and file.suffix == ".toml" and file.is_file() and file.stat().st_size <= LARGEST:
                with contextlib.suppress(tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError):
                    if "fleet" in tomllib.loads(file.read_text(encoding="utf-8")):
                        found.add(file.relative_to(root).as_posix())
    return found


def answer(root: Path, name: str) -> Answer:
    """Answer a scenario from its own folder."""
    if not (root / name).is_file():
        return None
    try:
        with contextlib.chdir(root):
            return recommend(name)
    except PlannerError as error:
        return str(error)


def change(name: str, before: Answer, after: Answer) -> str:
    """Say what changed in a scenario; nothing where it gives the same."""
    if isinstance(before, Recommendation) and isinstance(after, Recommendation):
        changed = list(_changes(before, after))
        if not changed and before.rows == after.rows and before.verdict == after.verdict:
            return ""
        words = [" and ".join(map(title, one.recommended)) for one in (before, after)]
        said = f"Recommended was {words[0]}, and is {words[1]}."
        if words[0] == words[1]:
            said = "The recommendation is the same."
        return "\n".join([_heading(name), escape(said), "", *_table(before, after), "", *_details(changed)])
    if before == after:
        return ""
    if isinstance(after, Recommendation):
        was = "The scenario is new." if before is None else f"There was no answer: {escape(str(before))}"
        return "\n".join([_heading(name), f"{was} {escape(after.verdict.text)}", "", *_table(None, after)])
    if after is None:
        return "\n".join([_heading(name), "The scenario was removed."])
    return "\n".join([_heading(name), f"**There is no answer any more.** {escape(after)}"])


def comment(before: Path, after: Path, patterns: Sequence[str]) -> str:
    """Write the comment on a change; nothing where no plan changes."""
    names = sorted(scenarios(before, patterns) | scenarios(after, patterns))
    parts = [part for name in names if (part := change(name, answer(before, name), answer(after, name)))]
    kept: list[str] = []
    for part in parts:
        if sum(map(len, kept)) + len(part) > MOST:
            kept.append(f"{len(parts) - len(kept)} more scenarios change.")
            break
        kept.append(part)
    return "\n\n".join([f"{MARK}\n## Plans that change", *kept]) + "\n" if kept else ""


def escape(text: str) -> str:
    """Write a text of a user as one line that Markdown shows as it is."""
    return markdown.escape(" ".join(text.split()))


def _heading(name: str) -> str:
    return f"### {escape(name)}\n"


def _table(before: Recommendation | None, after: Recommendation) -> Iterator[str]:
    """Time and traffic of every topology, before and after."""
    yield "| topology | time | traffic | rounds |"
    yield "|---|---|---|---|"
    was = {} if before is None else {row.id: row for row in before.rows}
    for row in after.rows:
        cells = []
        for name, words in (("time_seconds", format_duration), ("traffic_bytes", format_size), ("rounds", _count)):
            old = getattr(was.get(row.id), name, None)
            told = [words(float(one)) if one is not None else "-" for one in (old, getattr(row, name))]
            cells.append(told[1] if before is None or told[0] == told[1] else " → ".join(told))
        best = "**" if row.id in after.recommended else ""
        yield f"| {best}{escape(title(row.id) if not row.baseline else row.title)}{best} | {' | '.join(cells)} |"


def _count(number: float) -> str:
    return f"{number:,.0f}"


def _changes(before: Recommendation, after: Recommendation) -> Iterator[str]:
    """Values of the scenario that differ."""
    for name in dict.fromkeys((*before.scenario, *after.scenario)):
        known = (before.scenario.get(name), after.scenario.get(name))
        was, now = (one and (one.reading or format_amount(one.value, one.unit)) for one in known)
        if was != now:
            yield f"{name}: {was or 'not said'} -> {now or 'not said'}"


def _details(changes: Sequence[str]) -> Iterator[str]:
    if changes:
        yield "<details><summary>Scenario</summary>\n"
        yield from (f"- {escape(one)}" for one in changes)
        yield "\n</details>"


def main(arguments: Sequence[str]) -> int:
    """Print the comment."""
    if len(arguments) < 3:
        sys.stderr.write("usage: plan_change.py BEFORE AFTER PATTERN...\n")
        return 2
    sys.stdout.write(comment(Path(arguments[0]), Path(arguments[1]), arguments[2:]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
