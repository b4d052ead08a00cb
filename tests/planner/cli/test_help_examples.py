"""Every example in the help of a command runs; what trains, serves, needs a run or takes long is read alone.

Those that stand in the docs, too, are run there.
"""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from test_cli import ROOT
from test_docs import consoles
from test_uniform import leaves

from planner.cli.app import Commands

TRAIN_OR_SERVE = ("estimate", "pilot", "serve", "validate run", "validate resume", "validate report", "validate export")
NEED_A_RUN = ("compare scenario.toml measured.json",)
LONG = ("flip -G 10 -M 10 --map", "recommend -G 10 -M 10 --report")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def examples() -> Iterator[str]:
    """Every line of the help that is a command."""
    for name in Commands():
        declared = Commands().declared(name)
        below = (
            [one.callback for one in declared.registered_commands] if isinstance(declared, typer.Typer) else [declared]
        )
        for command in below:
            shown = (inspect.getdoc(getattr(command, "command", command)) or "").partition("Examples:")[2]
            yield from (line.strip() for line in shown.splitlines() if line.strip().startswith("hfl-plan "))


FOUND = [one.removeprefix("hfl-plan ") for one in examples()]
SHOWN = {command.removeprefix("hfl-plan ") for page in PAGES for command, _ in consoles(page.read_text())}
READ = [one for one in FOUND if one.startswith((*TRAIN_OR_SERVE, *NEED_A_RUN, *LONG))]


def test_every_command_has_an_example() -> None:
    assert len(FOUND) == len(set(FOUND))
    assert [name for name in leaves() if not any(f"{one} ".startswith(f"{name} ") for one in FOUND)] == []


@pytest.mark.parametrize("example", READ)
def test_an_example_that_takes_long_is_read(example: str) -> None:
    name, *words = shlex.split(example)
    command = Commands()[name]
    while words and words[0] in getattr(command, "commands", {}):
        command = command.commands[words.pop(0)]
    command.make_context(name, words)


# It is looked at whether it answers.
@pytest.mark.usefixtures("unflipped", "settings_alone", "untossed", "unturned", "few_draws")
@pytest.mark.parametrize("example", [one for one in FOUND if one not in {*READ, *SHOWN}])
def test_an_example_runs(example: str, plan: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    for name in ("own.toml", "shared.toml"):
        if name in example:
            assert plan("init", "-G", "3", "-M", "4", "--yes", "--output", name)[0] == 0
    if "run.json" in example:
        assert plan("recommend", "-G", "3", "-M", "4", "--set", "plan.draws=0", "--save", "run.json")[0] == 0
    code, _, err = plan(*shlex.split(example))
    assert (code, "error[" in err) == (0, False), err
