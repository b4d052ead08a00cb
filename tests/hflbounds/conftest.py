"""What the audit finds: several files look at parts of it, and all of it takes seconds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import pytest

from hflbounds import Bound, catalogue, derive
from hflbounds.audit.checks import Verdict, audit


@pytest.fixture(scope="session")
def verdicts() -> tuple[Verdict, ...]:
    """Every check of every bound, erratum and family."""
    return tuple(audit(catalogue().values()))


@pytest.fixture(scope="session")
def verdicts_of(verdicts: tuple[Verdict, ...]) -> Callable[[Iterable[Bound]], list[Verdict]]:
    """Those on some bounds, their errata and their families."""

    def part(bounds: Iterable[Bound]) -> list[Verdict]:
        subjects = {name for bound in bounds for name in (bound.id, bound.family, *(e.id for e in bound.errata))}
        return [verdict for verdict in verdicts if verdict.subject in subjects]

    return part


@pytest.fixture(scope="session")
def results() -> Mapping[str, derive.Result]:
    """What was found of every line, by its id."""
    return {result.line.id: result for result in derive.check(derive.lines())}
