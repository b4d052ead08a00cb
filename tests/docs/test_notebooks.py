"""The tutorial notebooks run from top to bottom, and what they show shows itself."""

from __future__ import annotations

import ast
import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from planner.data import grouping
from planner.scenario import sections

pytest.importorskip("matplotlib")

FOLDER = Path(__file__).parents[2] / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
SHOWN = {"fleet_engineer": 4, "researcher": 2, "hospital": 4}  # values with a view of their own


def executed(cells: list[str]) -> list[Any]:
    """The value of the last line of each cell, as a notebook shows it; all run in one module."""
    space: dict[str, Any] = {"__name__": "__main__"}
    found = []
    for source in cells:
        tree = ast.parse(source)
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, "cell", "exec"), space)  # noqa: S102 - our own file
        found.append(None if last is None else eval(compile(ast.Expression(last.value), "cell", "eval"), space))  # noqa: S307
    return found


@pytest.mark.usefixtures("unflipped")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_tables_and_pictures(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    whole = sections.Scenario  # no number that is drawn is looked at
    monkeypatch.setattr(
        sections, "Scenario", lambda **parts: whole(**parts | {"draws": min(parts.get("draws", 128), 128)})
    )
    solve = grouping.solve  # how good groups are is not looked at, either
    monkeypatch.setattr(grouping, "solve", lambda *asked, **how: solve(*asked[:2], **{**how, "restarts": 1}))
    document = json.loads(path.read_text(encoding="utf-8"))
    code = ["".join(cell["source"]) for cell in document["cells"] if cell["cell_type"] == "code"]
    if find_spec("ipywidgets") is None:  # sliders alone need it
        code = [source for source in code if "what_if" not in source]
    values = executed(code)
    views = [view for value in values if (view := getattr(value, "_repr_html_", lambda: None)())]
    assert len(views) >= SHOWN[path.stem]
    assert all(any(mark in view for mark in ("<table", "<p", "<math", "<img")) for view in views)
    if path.stem != "researcher":
        assert any("data:image/svg+xml;base64," in view for view in views)
    assert all(repr(value).strip() for value in values)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_without_outputs(path: Path) -> None:
    document = json.loads(path.read_text(encoding="utf-8"))
    assert (document["nbformat"], document["nbformat_minor"]) == (4, 5)
    ids = [cell["id"] for cell in document["cells"]]
    assert len(set(ids)) == len(ids)
    for cell in document["cells"]:
        assert cell["cell_type"] in ("markdown", "code")
        assert cell.get("outputs", []) == []
        assert cell.get("execution_count") is None
        compile("".join(cell["source"]), path.name, "exec") if cell["cell_type"] == "code" else None


def test_there_is_one_for_every_reader() -> None:
    assert {path.stem for path in NOTEBOOKS} == set(SHOWN)
