"""The tool that refreshes shown output keeps pieces of a page where they belong."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

REAL = [
    "Use A for time: 4x.",
    "",
    "  topology  time",
    "  A  1 h",
    "  B  4 h",
    "Changes  one",
    "         two",
    "Next  go",
]


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    sys.path.insert(0, str(Path(__file__).parents[2] / "docs"))
    import consoles

    sys.path.pop(0)
    return consoles


@pytest.mark.parametrize(
    ("shown", "now"),
    [
        (["Use A for time: 3x.", "...", "Next  go"], ["Use A for time: 4x.", "...", "Next  go"]),
        (["...", "  A  2 h", "  B  5 h", "..."], ["...", "  A  1 h", "  B  4 h", "..."]),
        (["...", "  B  5 h", "..."], ["...", "  B  4 h", "..."]),  # not A, which looks the same but for a letter
        (["...", "Changes  one", "Next  go"], ["...", *REAL[5:]]),  # a paragraph that has grown by a line
        (["Use A …", "..."], ["Use A …", "..."]),
        (["Use A for time: 3x. …", "..."], ["Use A for time: 4x. …", "..."]),
        (REAL, REAL),
    ],
)
def test_pieces_are_placed_by_all_their_lines(tool: ModuleType, shown: list[str], now: list[str]) -> None:
    assert tool.shown_now(shown, REAL) == now


def test_a_page_that_is_right_stays_as_it_is(tool: ModuleType) -> None:
    """Blocks that tests hold to the program, against an output that repeats itself."""
    real = [line for i in range(12) for line in (f"row {i}", "  rounds  ten", "  time  1 h")]
    shown = ["row 0", "...", "row 7", "  rounds  ten", "...", "row 11", "..."]
    assert tool.shown_now(shown, real) == shown
