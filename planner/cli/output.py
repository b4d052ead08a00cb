"""Write what commands answer: answers to stdout or to a file, prose about problems to stderr."""

from __future__ import annotations

import itertools
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from planner.io.answers import Answer, NextStep
    from planner.report.document import Document
    from planner.report.sheet.gallery import Wanted
    from planner.scenario.values import Scenario

NO_ANSWER, MISUSE, INTERRUPTED = 1, 2, 130  # exit codes beside 0
OBJECTIVES = ("time", "rounds", "traffic", "bytes", "airtime")
WIDTH = 80  # columns where there is no terminal


@dataclass(frozen=True)
class Result:
    """What a command answers; ``files`` are by suffix what ``--output`` writes in its place, or what draws it there."""

    answer: Answer
    files: Mapping[str, str | bytes | Callable[[Path], None]] = field(default_factory=dict)
    code: int = 0  # exit code
    scenario: Scenario | None = None  # what the answer is about, which a report draws
    pictures: Iterable[Wanted] = ()  # others of a report: id, place and what draws each


@dataclass(frozen=True, slots=True)
class Asked:
    """How the answer is asked for."""

    form: str | None = None  # ``--format``, or json by ``--json``; None for a table
    output: str | None = None  # ``--output``: a file, ``-`` for stdout, None for stdout alone
    force: bool = False  # whether to overwrite that file
    quiet: bool = False  # whether the verdict alone is wanted
    explain: str | None = None  # a section, ``all``, or None
    report: str | None = None  # ``--report``: a file of HTML

    @property
    def reports(self) -> tuple[tuple[str, Path], ...]:
        """Options and files of reports: of ``--report``, and of ``--output`` where it ends in .html."""
        named = (("--report", self.report), ("--output", self.output if self.output != "-" else None))
        return tuple((option, Path(file)) for option, file in named if file and Path(file).suffix.lower() == ".html")

    @property
    def file(self) -> Path | None:
        """Where ``--output`` goes; None for stdout."""
        return None if self.output in (None, "-") else Path(str(self.output))

    def checked(self, files: Mapping[str, str]) -> Asked:
        """Refuse what cannot be written, before long work; ``files`` are what it writes beside answers, by suffix."""
        from planner.errors import ScenarioError
        from planner.io import atomic, text
        from planner.report.render import formats, suffixes

        if self.form is not None and self.form not in formats():
            if meant := suffixes().get(f".{self.form}"):
                raise ScenarioError(f"--format: {self.form} is the end of a file. Write {meant}.", code="E020")
            text.one_of(self.form, formats(), "--format")
        if self.output == "":
            raise ScenarioError(
                "--output: the name is empty. Write --output answer.json, or - for stdout.", code="E035"
            )
        if self.file is not None:
            known = [*files, *(suffix for suffix in suffixes() if suffix not in files)]
            if self.file.suffix.lower() not in known:
                aim = " For the objective write --objective." if self.output in OBJECTIVES else ""
                raise ScenarioError(
                    f"--output: {self.output!a:.80} does not end in one of {', '.join(known)}. "
                    f"Name a file such as answer{known[0]}.{aim}",
                    code="E035",
                )
            atomic.place(self.file, self.force, "--output")
        if self.report is not None:
            if Path(self.report).suffix.lower() != ".html":
                raise ScenarioError(
                    f"--report: {self.report!a:.80} does not end in .html. Name a file such as report.html.",
                    code="E035",
                )
            atomic.place(self.report, self.force, "--report")
        return self


def emit(result: Result, asked: Asked, scenario: str) -> None:
    """Write an answer to stdout, and to the files that were asked for.

    Raises:
        OSError: If stdout is closed, or cannot be written.
        NoAnswerError: If the file cannot be written.
    """
    from planner.report.render import render

    typed = ("hfl-plan", *sys.argv[1:])
    document = laid_out(result.answer, asked, typed)
    files = filed(result, document, asked, scenario, typed)
    write(render(asked.form or "table", document, width=width(), color=color()))
    for file in () if asked.quiet else files:
        told(f"wrote {file}")


def filed(
    result: Result, document: Document, asked: Asked, scenario: str, command: tuple[str, ...]
) -> tuple[Path, ...]:
    """Write an answer to the files that were asked for, and return these; ``command`` asks for it in a report.

    Raises:
        NoAnswerError: If a file cannot be written.
    """
    from planner.io import atomic
    from planner.report.render import render, suffixes

    reports = dict(asked.reports)
    if reports:
        from planner.io.progress import progress
        from planner.report.sheet import report

        progress("drawing the report ...")
        laid = laid_out(result.answer, Asked(), command)
        page = report(laid, scenario=result.scenario, pictures=result.pictures, toml=scenario, command=command)
        progress("")
        for option, file in reports.items():
            atomic.write(file, page, asked.force, option)
        if find_spec("matplotlib") is None:
            from hflbounds.extras import install

            told(f"the report has no pictures. To have them: {install('plots')}, and the same command again.")
    if asked.file is not None and "--output" not in reports:
        suffix = asked.file.suffix.lower()
        content = result.files.get(suffix)
        if content is None:
            content = render(suffixes()[suffix], document)
        if callable(content):
            content(asked.file)
        else:
            atomic.write(asked.file, content, asked.force)
    return tuple(dict.fromkeys([*reports.values(), *([asked.file] if asked.file is not None else [])]))


def laid_out(answer: Answer, asked: Asked, command: tuple[str, ...]) -> Document:
    """Lay out what was asked for: the page, the verdict alone, all details, or a section of them."""
    from planner.report import document

    following = answer.next if asked.file is None else tuple(_after(answer.next, asked.file))
    return document(answer.replaced(command=command, next=following), asked.explain or "", quiet=asked.quiet)


def _after(steps: Iterable[NextStep], file: Path) -> Iterator[NextStep]:
    """What is left to do once a file is written: nothing that writes one of its kind, and what reads that reads it."""
    written = set()
    for step in steps:
        name = dict(itertools.pairwise(step.argv)).get("--output", "")
        if Path(name).suffix == file.suffix:
            written.add(name)
        else:
            yield step.replaced(argv=tuple(str(file) if word in written else word for word in step.argv))


def write(text: str) -> None:
    """Write a text to stdout.

    Raises:
        OSError: If stdout is closed, or cannot be written.
    """
    if sys.stdout is None:
        raise OSError(9, "standard output is closed")
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")  # a title may have letters that the terminal has not
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError:
        let_go()
        raise


def let_go() -> None:
    """Send what is left for stdout nowhere, as Python tries it again at exit and complains."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def told(text: str) -> None:
    """Write a line for people to stderr."""
    if sys.stderr is not None:
        sys.stderr.write(f"hfl-plan: {text}\n")
        sys.stderr.flush()


def watched(text: str) -> None:
    """Write what a long command has done to stderr, where someone watches it."""
    if sys.stderr is not None and sys.stderr.isatty():
        told(text)


def color() -> bool:
    """Whether stdout is a terminal that shows colours."""
    return (
        sys.stdout is not None
        and sys.stdout.isatty()
        and "NO_COLOR" not in os.environ
        and os.environ.get("TERM") != "dumb"
    )


def width() -> int:
    """Columns of the terminal."""
    return shutil.get_terminal_size((WIDTH, 24)).columns


Answered = Callable[..., Result | str | None]
"""A command: a text is written as it is; None was written already."""
