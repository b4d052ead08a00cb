"""The generated pages of the documentation are what the catalogue says, and their code prints what it shows."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from hflbounds import catalogue
from hflbounds.registry import errata

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.usefixtures("found_once")
def test_no_page_is_stale(generator: ModuleType) -> None:
    assert generator.stale(dict(generator.pages())) == [], "run python docs/generate.py"


def test_a_stale_a_missing_and_a_superfluous_page_are_found(
    generator: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(generator, "FOLDER", tmp_path)
    (tmp_path / "old.md").write_text("gone")
    (tmp_path / "changed.md").write_text("before")
    (tmp_path / "same.md").write_text("same")
    assert generator.stale({"changed.md": "after", "new.md": "", "same.md": "same"}) == [
        "changed.md",
        "new.md",
        "old.md",
    ]


def test_every_bound_and_every_erratum_has_its_place() -> None:
    folder = ROOT / "docs" / "catalog"
    of_their_own = {"index", "notation", "errata", "audit", "coverage"}
    assert {path.stem for path in folder.glob("*.md")} == {*catalogue(), *of_their_own}
    headings = re.findall(r"^### (\S+)$", (folder / "errata.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert sorted(headings) == sorted(erratum.id for erratum in errata())


@pytest.mark.parametrize("name", catalogue())
def test_the_code_of_a_page_prints_what_it_shows(name: str) -> None:
    page = (ROOT / "docs" / "catalog" / f"{name}.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    setup, mark, calls = block.partition(")\nbound")
    scope: dict[str, object] = {}
    exec(setup + ")", scope)  # noqa: S102 - our own text
    lines = (mark.removeprefix(")\n") + calls).splitlines()
    assert lines
    for line in lines:
        call, _, shown = line.partition("  # ")
        assert f"{eval(call, scope):.6g}" == shown  # noqa: S307 - our own text
