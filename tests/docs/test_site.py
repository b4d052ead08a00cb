"""Every page has a place among the four kinds, and says for whom it is and how long it takes."""

from __future__ import annotations

import inspect
import json
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

import hflbounds
import planner
from planner.cli import pages
from planner.cli.app import Commands
from planner.cli.commands import schema

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(
    path
    for path in DOCS.rglob("*.md")
    if path.parent.name not in ("catalog", "statements")
    and path.name not in ("index.md", "commands.md", "python-api.md", "schemas.md")
)
DOORS = {"tutorials/index", "how-to", "reference", "explanation", "pictures"}


def listed(page: Path) -> set[str]:
    """Pages in the tables of contents of a page, relative to docs."""
    names: set[str] = set()
    for block in re.findall(r"```\{toctree\}\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL):
        found = {line.strip() for line in block.splitlines() if line.strip() and not line.startswith(":")}
        if ":glob:" in block:
            found = {path.stem for path in page.parent.glob("*.md")} - {page.stem}
        names |= {(page.parent / name).relative_to(DOCS).as_posix() for name in found}
    return names


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(DOCS).as_posix())
def test_a_page_says_its_kind_its_reader_and_its_time(page: Path) -> None:
    title, blank, line = page.read_text(encoding="utf-8").splitlines()[:3]
    assert title.startswith("# ")
    assert not blank
    assert re.match(r"(Tutorial|How-to|Reference|Explanation|Gallery), for \S.*\.$", line), line
    assert re.search(r"minute|second|hour|To look up", line), f"{line}: how long does it take?"


def test_the_home_page_has_one_picture_one_command_and_four_doors() -> None:
    home = (DOCS / "index.md").read_text(encoding="utf-8")
    assert home.count("{image}") == 1
    assert len(re.findall(r"^hfl-plan ", home, flags=re.MULTILINE)) == 1
    assert home.count("{container} door\n") == 4
    assert listed(DOCS / "index.md") == DOORS


def test_every_page_is_reached_from_a_door() -> None:
    seen, ahead = set(), {"index"}
    while ahead:
        seen |= ahead
        pages = [DOCS / f"{name}.md" for name in ahead]
        ahead = {name for page in pages if page.exists() for name in listed(page)} - seen
    assert {path.relative_to(DOCS).with_suffix("").as_posix() for path in PAGES} <= seen


@pytest.fixture(scope="module")
def built() -> dict[str, str]:
    sys.path.insert(0, str(DOCS))
    import reference

    sys.path.remove(str(DOCS))
    return reference.built()


@pytest.mark.parametrize("package", [planner, hflbounds], ids=lambda package: package.__name__)
def test_every_public_name_is_in_the_reference_with_signature_and_docstring(
    built: dict[str, str], package: ModuleType
) -> None:
    page = built["python-api.md"]
    for name in package.__all__:
        one = getattr(package, name)
        if callable(one) and not isinstance(one, ModuleType):
            section = page.split(f"\n### {package.__name__}.{name}\n")[1].split("\n### ")[0]
            assert f"```python\n{name}" in section
            assert (one.__doc__ or "").strip().splitlines()[0].replace("``", "`") in section
            if inspect.isfunction(one):
                assert all(f"{argument}" in section for argument in inspect.signature(one).parameters)


def test_every_key_of_every_schema_is_in_the_reference(built: dict[str, str]) -> None:
    page = built["schemas.md"]
    for name in (one for one in schema.OF if one not in schema.ALIASES):
        whole = json.loads(schema.schema(name))
        section = page.split(f"\n## {name}\n")[1].split("\n## ")[0]
        objects = [whole, *whole.get("$defs", {}).values()]
        assert all(f"| `{key}` |" in section for one in objects for key in one.get("properties", {}))


def test_every_command_is_in_the_reference_with_all_options(built: dict[str, str]) -> None:
    page = built["commands.md"]
    for name, command in Commands().items():
        for word in getattr(command, "commands", {"": None}):
            assert f"\n## hfl-plan {f'{name} {word}'.strip()}\n" in page
    assert "--help all" not in page


@pytest.mark.parametrize("command", list(Commands()))
def test_help_names_a_guide_that_is_there(command: str) -> None:
    guide = DOCS / f"{pages.GUIDES.get(command, 'questions')}.md"
    assert guide.is_file()
    assert command == "help" or f"hfl-plan {command}" in guide.read_text(encoding="utf-8")
