"""The slips that benchmarks/mutants.py tries: which there are, where, and that tests can tell them."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="module")
def mutants() -> Any:
    path = Path(__file__).parents[1] / "benchmarks" / "mutants.py"
    spec = importlib.util.spec_from_file_location("mutants", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["mutants"] = module
    spec.loader.exec_module(module)
    return module


SOURCE = '''
def größe(a: int, b: int = 2) -> int | None:
    """Not a place for slips: 1 < 2."""
    if a < b and not a:
        return max(a, -b) + 1
    return f"{a + b}"
'''


def test_every_kind_of_slip_is_found_in_its_line(mutants: Any) -> None:
    found = {(slip.line, slip.old, slip.new) for slip in mutants.slips(SOURCE)}
    assert found == {
        (2, "2", "3"),
        (4, "a < b and not a", "(a < b) or (not a)"),
        (4, "a < b and not a", "(not (a < b and not a))"),
        (4, "a < b", "a <= b"),
        (4, "not a", "(a)"),
        (5, "max(a, -b) + 1", "None"),
        (5, "max(a, -b) + 1", "(max(a, -b)) - (1)"),
        (5, "max(a, -b)", "min(a, -b)"),
        (5, "-b", "(b)"),
        (5, "1", "2"),
        (6, 'f"{a + b}"', "None"),
    }


def test_lines_that_are_left_out_are_there(mutants: Any) -> None:
    """Three were not, and the command refused to try anything."""
    assert not mutants.gone()


def test_a_slip_is_caught_by_tests_that_see_it_and_by_no_others(mutants: Any, tmp_path: Path) -> None:
    (tmp_path / "small.py").write_text("def half(x):\n    return x / 2\n")
    (tmp_path / "test_small.py").write_text("from small import half\n\ndef test_half():\n    assert half(4) == 2\n")
    assert mutants.tried(tmp_path, ["test_small.py"], 60) == "alive"
    (tmp_path / "small.py").write_text("def half(x):\n    return x * 2\n")
    assert mutants.tried(tmp_path, ["test_small.py"], 60) == "caught"
    (tmp_path / "small.py").write_text("def half(x):\n    while True: pass\n")
    assert mutants.tried(tmp_path, ["test_small.py"], 1) == "too slow"
