"""What README and the docs say is what the commands do."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from test_cli import run

from hflbounds import catalogue
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


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        pytest.param(*shown, marks=pytest.mark.slow) if "geant" in shown[0] and "groups" in shown[0] else shown
        for text in SHOWN
        for shown in consoles(text)
    ],
    ids=lambda x: x[:60] if isinstance(x, str) else "",
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
