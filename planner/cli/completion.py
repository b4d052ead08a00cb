"""Values that a shell completes."""

from __future__ import annotations

from collections.abc import Callable, Iterable


def of_words(words: Iterable[object]) -> Callable[[str], list[str]] | None:
    """Complete one of several words; None where there are none."""
    known = [str(word) for word in words]
    return (lambda incomplete: [word for word in known if word.startswith(incomplete)]) if known else None


def formats(incomplete: str) -> list[str]:
    """Complete a format."""
    from planner.report.render import formats as known

    return [name for name in known() if name.startswith(incomplete)]


def bounds(incomplete: str) -> list[str]:
    """Complete the id of a bound or of a family."""
    from hflbounds import catalogue, families

    return [name for name in (*families(), *catalogue()) if name.startswith(incomplete)]


def pictures(incomplete: str) -> list[str]:
    """Complete a kind of picture."""
    from planner.plot.draw import kinds

    return [name for name in kinds() if name.startswith(incomplete)]


def claims(incomplete: str) -> list[str]:
    """Complete the id of a claim."""
    from planner.harness.claims import listed

    return [one.id for one in listed() if one.id.startswith(incomplete)]


def codes(incomplete: str) -> list[str]:
    """Complete the code of a message."""
    from planner.io.codes import read

    return [code for code in read() if code.startswith(incomplete.upper())]
