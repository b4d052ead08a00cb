"""The house keeps its shape: no import circle, one door, no private name borrowed; layers are import-linter's.

Imports inside functions count; those that only type checkers read do not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("hflbounds", "planner", "validation")


def modules() -> dict[str, Path]:
    found = {}
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            parts = path.relative_to(ROOT).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


def statements(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """All statements of a body, inner ones too; expressions, which are most of a tree, hold none of them."""
    for node in body:
        yield node
        for name in ("body", "orelse", "handlers", "finalbody", "cases"):
            inner = getattr(node, name, [])
            if isinstance(inner, list):  # that of a lambda is an expression
                yield from statements(inner)


@cache
def all_statements(module: str) -> tuple[ast.AST, ...]:
    """Those of a module, parsed once for all tests."""
    return tuple(statements(ast.parse(MODULES[module].read_text()).body))


def read_by_type_checkers(nodes: Iterable[ast.AST]) -> set[ast.AST]:
    found: set[ast.AST] = set()
    for node in nodes:
        if isinstance(node, ast.If) and any(
            isinstance(part, ast.Name) and part.id == "TYPE_CHECKING" for part in ast.walk(node.test)
        ):
            found.update(statements(node.body))
    return found


@cache
def imports(module: str) -> tuple[tuple[str, str], ...]:
    """Modules of the project that a module imports, each with the name that is taken from it, or nothing."""
    return tuple(imported(module, all_statements(module)))


def imported(module: str, nodes: Iterable[ast.AST]) -> Iterator[tuple[str, str]]:
    skipped = read_by_type_checkers(nodes)
    for node in nodes:
        if node in skipped:
            continue
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names if alias.name in MODULES)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{module}: write imports in full"
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                if whole in MODULES:
                    yield whole, ""
                elif node.module in MODULES:
                    yield node.module or "", alias.name


def test_there_is_no_import_circle() -> None:
    graph = {module: {target for target, _ in imports(module) if target != module} for module in MODULES}
    assert len(list(TopologicalSorter(graph).static_order())) == len(MODULES)  # a circle raises, and is named


def test_no_private_name_crosses_modules() -> None:
    borrowed = [
        f"{module}: {target}.{name}"
        for module in MODULES
        for target, name in imports(module)
        if name.startswith("_") and not name.startswith("__")
    ]
    assert borrowed == []


def test_the_command_line_is_imported_by_nobody() -> None:
    users = {m for m in MODULES for target, _ in imports(m) if target.startswith("planner.cli")}
    assert {m for m in users if not m.startswith("planner.cli")} <= {"planner.__main__", "planner"}


def test_only_the_harness_of_the_planner_opens_the_door_to_validation() -> None:
    users = {m for m in MODULES for target, _ in imports(m) if m.startswith("planner") and target.startswith("valid")}
    assert {m for m in users if not m.startswith("planner.harness")} == set()


def test_only_the_command_line_knows_typer() -> None:
    users = [m for m, path in MODULES.items() if "import typer" in path.read_text() or "from typer" in path.read_text()]
    assert users
    assert [m for m in users if not m.startswith("planner.cli")] == []


def long_and_wide() -> Iterator[str]:
    for module, path in MODULES.items():
        lines = path.read_text().splitlines()
        for node in all_statements(module):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            width = (
                len(node.args.args)
                + len(node.args.kwonlyargs)
                - (bool(node.args.args) and node.args.args[0].arg in ("self", "cls"))
            )
            if (length > 80 or width > 8) and not any(
                "reason:" in line for line in lines[max(0, node.lineno - 2) : node.body[0].lineno]
            ):
                yield f"{module}.{node.name}: {length} lines, {width} parameters"


def test_long_and_wide_functions_give_their_reason() -> None:
    """Over 80 lines or 8 parameters a function says why, in a comment ``# reason: ...`` beside its head."""
    assert list(long_and_wide()) == []
