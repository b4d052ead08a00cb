"""``hfl-plan init``: a first scenario file, by questions or from an example."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from planner.cli import completion
from planner.cli.options import Said, declare
from planner.cli.output import Asked, Result
from planner.errors import PlannerError, ScenarioError

if TYPE_CHECKING:
    from planner.scenario.start import Question


@declare(without=("config",))
def init(
    said: Said,
    example: Annotated[
        str | None,
        Option(
            metavar="NAME",
            help="example to start from: phones, hospitals, cell-site or regions",
            autocompletion=completion.of_words(("phones", "hospitals", "cell-site", "regions")),
        ),
    ] = None,
    output: Annotated[
        str | None, Option("--output", "-o", metavar="FILE", help="scenario .toml; - is stdout [scenario.toml]")
    ] = None,
    yes: Annotated[bool, Option("--yes", "-y", help="leave open what no option answers")] = False,
    asked: Asked = Asked(),  # noqa: B008 - frozen
) -> Result | str:
    """Write a first scenario from questions or an example.

    There are six questions at most. Options answer questions in advance; all are written.

    Examples:
        hfl-plan init --example hospitals
        hfl-plan init -G 12 -M 25 --uplink 20Mbit/s --yes
    """
    from planner.io import atomic
    from planner.io.listings import listing
    from planner.predict.question import ask
    from planner.report.page import brief
    from planner.scenario.start import EXAMPLES, QUESTIONS, written
    from planner.scenario.start import example as files_of

    if output not in (None, "-") and Path(str(output)).suffix != ".toml":
        raise ScenarioError(f"--output: {output!a:.80} does not end in .toml. Name scenario.toml.", code="E035")
    if example is not None:
        files = files_of(example)
        if option := next((option for option, _ in said.options.values()), None):
            way = f"Give {option} to `hfl-plan recommend --config {EXAMPLES[example]}`, where it overrides the file."
            raise ScenarioError(f"--example: the file is written as it is, without {option}. {way}", code="E002")
        name = output or EXAMPLES[example]
        tried = f"--config {shlex.quote(name)}" if name != "-" and name.isprintable() else "--config FILE.toml"
        files = {
            name if file == EXAMPLES[example] else file: text.replace(f"--config {EXAMPLES[example]}", tried)
            for file, text in files.items()
        }
    else:
        name = output or "scenario.toml"
        if name != "-":
            atomic.place(name, asked.force)
        told: dict[str, object] = {}
        for number, question in enumerate(QUESTIONS, 1):
            told |= answered(question, number, said, told, yes)
        found = ask(said.scenario(told))
        found.of_a_round(found.reference)  # refuses, as all before, what *Next* would
        files = {name: written({key: value for key, (_, value) in said.options.items()} | told)}
    if output == "-":
        return files["-"]
    for file in files:
        atomic.place(file, asked.force)
    for file, text in files.items():
        atomic.write(file, text, asked.force)
    following = [f"hfl-plan recommend --config {shlex.quote(name)}"]
    answer = listing("init", f"Wrote {' and '.join(files)}.", {"files": list(files)}, next=following)
    return Result(brief(answer, kind="First scenario"))


def sized(said: Said, told: Mapping[str, object]) -> bool:
    """Whether options and answers so far say how many clients there are, as label counts do."""
    try:
        said.scenario(told)
    except ScenarioError as error:
        if error.code != "E026":
            raise
        return False
    return True


def answered(question: Question, number: int, said: Said, told: Mapping[str, object], yes: bool) -> dict[str, object]:
    """Ask, until the answer can be read; nothing where options or other answers say it.

    Raises:
        ScenarioError: If it cannot, and nobody is there to ask again; or if input ends.
    """
    usual = question.unanswered()
    of_options = sized(said, told)  # which are refused before anything is asked
    if any(key in said.options for key in usual) or ("fleet.groups" in usual and of_options):
        return {}
    if yes:
        return usual
    while True:
        sys.stderr.write(f"{number} {question.text} [{question.usual}] ")
        sys.stderr.flush()
        line = sys.stdin.readline()
        if not line:
            raise ScenarioError("init: the input ended before the last question. Add --yes, or --example hospitals.")
        try:
            answer = dict(question.read(line.strip())) if line.strip() else usual
            sized(said, {**told, **answer})  # refuses what contradicts other answers
            return answer
        except PlannerError as error:
            if not sys.stdin.isatty():
                sys.stderr.write("\n")
                raise ScenarioError(f"question {number}, {re.split('[:?]', question.text)[0]}: {error}") from None
            sys.stderr.write(f"{error}\n")
