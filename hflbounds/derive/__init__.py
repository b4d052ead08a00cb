"""Machine-checked derivations: each line of a proof is a checked object with a verdict.

From the algorithms' chain weights through finite sums, drift, recursion and explicit constants to the printed
theorem, and from theorem to corollary. A file of this folder declares a tuple ``LINES``; there is no list to
edit. A line that fails is not an error of this package: it is what is true of a printed line, and names the
erratum that says so. The audit fails where a verdict is not the recorded one.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Literal

from hflbounds.errors import DeclarationError

Outcome = Literal["holds", "holds up to a constant", "fails", "cannot tell"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """What a check of one line found.

    Attributes:
        verdict: ``holds``; ``holds up to a constant``; ``fails``, with a witness; or ``cannot tell``.
        evidence: how it is known: an identity, a certificate, an enumeration, a grid.
        constant: for ``holds up to a constant``, the constant, as text.
        witness: for ``fails``, an instance with its numbers.
    """

    verdict: Outcome
    evidence: str
    constant: str = ""
    witness: Mapping[str, float | str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.verdict == "fails" and not self.witness:
            raise DeclarationError(f"a line that fails needs a witness: {self.evidence}")
        if self.verdict == "holds up to a constant" and not self.constant:
            raise DeclarationError(f"a line that holds up to a constant must name it: {self.evidence}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """One line of a derivation.

    Attributes:
        id: permanent, ``<paper key>.<section>.<what>``.
        place: where it is printed, or which of this project's proofs it belongs to.
        claim: the line, in words or LaTeX between dollars.
        check: looks at it, without randomness that is not seeded.
        expected: the recorded verdict.
        erratum: id of the erratum that explains a line that fails.
    """

    id: str
    place: str
    claim: str
    check: Callable[[], Finding]
    expected: Outcome = "holds"
    erratum: str | None = None

    @property
    def paper(self) -> str:
        """Key of the paper."""
        return self.id.partition(".")[0]


@dataclass(frozen=True, slots=True)
class Result:
    """A line and what was found."""

    line: Line
    finding: Finding

    @property
    def as_recorded(self) -> bool:
        """Whether the verdict is the recorded one."""
        return self.finding.verdict == self.line.expected


@cache
def lines() -> tuple[Line, ...]:
    """Every line, in the order of the files.

    Raises:
        DeclarationError: if two share an id, or a failing one names no erratum.
    """
    found: dict[str, Line] = {}
    for info in pkgutil.iter_modules(__path__):
        for line in getattr(importlib.import_module(f"{__name__}.{info.name}"), "LINES", ()):
            if found.setdefault(line.id, line) is not line:
                raise DeclarationError(f"two lines are called {line.id}")
            if (line.expected == "fails") != (line.erratum is not None):
                raise DeclarationError(f"{line.id}: a line names an erratum if and only if it fails")
    return tuple(found.values())


def check(chosen: Iterable[Line]) -> Iterator[Result]:
    """Check lines one by one."""
    for line in chosen:
        yield Result(line, line.check())
