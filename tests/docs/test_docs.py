"""What README and the docs say is what the commands do."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from test_cli import run

from hflbounds import catalogue
from planner.cli.app import Commands
from planner.data import grouping
from planner.report.render import formats
from planner.scenario.fields import FIELDS, GROUP_FIELDS, TIER_FIELDS
from planner.scenario.network import PRESETS
from planner.scenario.schema import reference

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
TEXTS = {path.relative_to(ROOT): path.read_text() for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]}


def consoles(text: str = README) -> list[tuple[str, list[str]]]:
    """Every shown command with the lines shown below it; a block may have several."""
    found: list[tuple[str, list[str]]] = []
    for block in re.findall(r"```console\n(.*?)```", text, flags=re.DOTALL):
        for line in block.strip("\n").splitlines():
            if line.startswith("$ "):
                found.append((line.removeprefix("$ "), []))
            else:
                found[-1][1].append(line)
    return found


def assert_shown(shown: list[str], printed: str) -> None:
    """Line by line, in order; ``...`` skips lines, a line may be cut with an ellipsis."""
    real = iter(printed.splitlines())
    skipping = False
    for line in shown:
        if line == "...":
            skipping = True
            continue
        start, cut = (line[:-1].rstrip(), True) if line.endswith("…") else (line, False)
        matches = (r for r in real if (r.startswith(start) if cut else r == start))
        if skipping:
            assert next(matches, None) is not None, f"not printed: {line}"
        else:
            found = next(real)
            assert found.startswith(start) if cut else found == start
        skipping = False


def printed(
    command: str, shown: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> tuple[int, str, str]:
    """What a shown command answers; the search for what would change it only where that is shown."""
    with monkeypatch.context() as patch:
        if not any("Changes" in line for line in shown):
            patch.setattr("planner.decide.rank.nearest_flips", lambda *_: ((), ""))
            patch.setattr("planner.families.hhfl.question._flip", lambda *_: None)
            patch.setattr("planner.families.hhfl.question._flips", lambda *_: {})
        return run(*shlex.split(command)[1:], capsys=capsys, monkeypatch=patch)


SHOWN = [
    README,
    *(
        TEXTS[Path("docs", name)]
        for name in (
            *("fleets.md", "questions.md", "predictors.md", "how-sure.md", "hubs.md", "networks.md", "overlap.md"),
            *("estimating.md", "pilot.md"),
        )
    ),
]


# Dear commands, by how they begin: shown output is compared whole by -m slow. In every run it is compared as far as the
# line that begins so, without the search for changes, which takes most of the time; "" is read alone, as a command.
DEAR = {
    "hfl-plan flip --config examples/phones.toml": "",
    "hfl-plan network groups geant": "",
    "hfl-plan network place geant": "",
    "hfl-plan estimate examples/regions_hook.py": "",
    "hfl-plan pilot examples/digits_hook.py": "",
    "hfl-plan recommend --config examples/phones.toml --availability": "Assumed",
    "hfl-plan recommend --network geant": "Assumed",
    "hfl-plan recommend -G 4 -M 25 --samples": "Assumed",
    "hfl-plan recommend --data examples/consortium_labels.csv": "Assumed",
    "hfl-plan recommend --G 12 --M 25 --heterogeneity dirichlet": "Target",
    "hfl-plan overlap examples/coverage57.csv --heterogeneity intra": "Changes",
    "hfl-plan overlap examples/coverage57.csv -H inter": "Changes",
    "hfl-plan group examples/hospitals.csv": "~",  # all of it, from one grouping in place of 20
}
LABEL: Any = lambda x: x[:60] if isinstance(x, str) else ""  # noqa: E731
EVERY = [shown for text in SHOWN for shown in consoles(text)]


def end(command: str) -> str | None:
    """How the line begins before which a dear command is compared in every run; None for the others."""
    return next((word for start, word in DEAR.items() if command.startswith(start)), None)


@pytest.mark.parametrize(
    ("command", "shown"),
    [pytest.param(*one, marks=() if end(one[0]) is None else pytest.mark.slow) for one in EVERY],
    ids=LABEL,
)
def test_shown_output_is_what_the_command_prints(
    command: str,
    shown: list[str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(ROOT)
    code, out, err = printed(command, shown, capsys, monkeypatch)
    assert (code, err) == (0, "")
    assert_shown(shown, out)


@pytest.mark.parametrize(("command", "shown"), [one for one in EVERY if end(one[0])], ids=LABEL)
def test_a_dear_command_prints_what_is_shown_but_for_changes(
    command: str, shown: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    solve = grouping.solve
    monkeypatch.setattr(grouping, "solve", lambda *asked: solve(*asked[:2], restarts=1))
    at = next(i for i, line in enumerate(shown) if line.startswith(end(command) or ""))
    assert at >= 3
    code, out, err = printed(command, shown[:at], capsys, monkeypatch)
    assert (code, err) == (0, "")
    assert_shown(shown[:at], out)


@pytest.mark.parametrize("command", [command for command, _ in EVERY if end(command) == ""])
def test_a_dear_command_is_one(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    name, *words = shlex.split(command)[1:]
    read = Commands()[name]
    while words and words[0] in getattr(read, "commands", {}):
        read = read.commands[words.pop(0)]
    read.make_context(name, words)


def test_dear_commands_are_shown() -> None:
    assert [start for start in DEAR if not any(command.startswith(start) for command, _ in EVERY)] == []


def test_the_example_of_groups_within_groups_is_what_its_page_says() -> None:
    pytest.importorskip("torch")
    from planner.harness import hooks

    with hooks.opened(ROOT / "examples" / "regions_hook.py", "estimate", 0) as hook:
        leaves = Counter(group for group, *_ in hook.clients)
        parameters = sum(part.numel() for part in hook.model.parameters())
    a, b = (len({group[:tiers] for group in leaves}) for tiers in (1, 2))
    (c,) = set(leaves.values())
    told = f"Data     {leaves.total()} clients: {a} x {b // a} x {c}, {parameters} parameters"
    assert told in TEXTS[Path("docs/estimating.md")]


def test_the_reference_page_is_the_table_of_fields() -> None:
    lines = TEXTS[Path("docs/scenario.md")].splitlines()
    for fields in (FIELDS, TIER_FIELDS, GROUP_FIELDS):
        rows = reference(fields)
        at = lines.index(rows[2]) - 2
        assert lines[at : at + len(rows)] == rows  # hfl-plan: planner.scenario.schema.reference() makes them
        assert not lines[at + len(rows)].startswith("|")


def test_every_format_preset_and_bound_family_named_in_the_docs_exists() -> None:
    assert {f"`{name}`" for name in PRESETS} <= set(re.findall(r"`[a-z0-9]+`", TEXTS[Path("docs/scenario.md")]))
    assert all(name in README or name == "table" for name in formats())
    named = set(re.findall(r"\b(?:zhou2026|hflbounds)\.(?:thm|cor|sharp|shuffle)[\w-]*(?:\.[a-z]+-[a-z]+)?", README))
    ids = set(catalogue()) | {bound.family for bound in catalogue().values()}
    assert named <= ids


IGNORED = (ROOT / ".gitignore").read_text().split()


def test_links_lead_somewhere() -> None:
    for path, text in TEXTS.items():
        for target in re.findall(r"\]\(([^)#:]+)\)", text):
            made = f"{path.parent}/{target}" in IGNORED  # when the site is built
            assert made or (ROOT / path.parent / target).exists(), f"{path}: {target}"


def test_no_local_path_is_left_in_a_text() -> None:
    for path, text in TEXTS.items():
        assert not re.search(r"(^|[\s`\"'(])/(home|root|work|tmp)/", text), path


def test_readme_python_examples_run() -> None:
    import doctest

    blocks = re.findall(r"```pycon\n(.*?)```", README, flags=re.DOTALL)
    assert blocks
    for block in blocks:
        test = doctest.DocTestParser().get_doctest(block, {}, "README", None, 0)
        runner = doctest.DocTestRunner()
        runner.run(test)
        assert runner.failures == 0
        assert runner.tries >= 8


def test_the_example_of_a_new_bound_passes_the_audit_it_describes() -> None:
    from hflbounds.audit.checks import CHECKS, audit

    (code,) = re.findall(r"```python\n(.*?)```", TEXTS[Path("docs/add-a-bound.md")], flags=re.DOTALL)
    scope: dict[str, Any] = {}
    exec(code, scope)  # noqa: S102 - our own text
    verdicts = list(audit([scope["theorem_3"]]))
    assert [v for v in verdicts if v.failure] == []
    assert len(verdicts) == len(CHECKS) - 3  # no proof of its step condition, no count, no erratum to hold it to
