"""The table of all checks: derivation lines, errata with their numbers, bounds and families.

A row says what was found, and whether that is what the catalogue records. A printed line that fails is as
recorded when an erratum says so; what must never happen is a row that is not as recorded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from hflbounds import derive
from hflbounds.audit import checks as audit
from hflbounds.core.bound import Bound, Erratum
from hflbounds.core.expression import Expr, Relation
from hflbounds.errors import UnknownBoundError
from hflbounds.registry import catalogue, errata
from hflbounds.typeset.formulas import latex

Kind = Literal["line", "erratum", "bound", "family"]
Outcome = Literal["holds", "holds up to a constant", "fails", "cannot tell", "note"]


@dataclass(frozen=True, slots=True)
class Row:
    """One thing that was checked.

    Attributes:
        kind: a derivation ``line``, an ``erratum``, a ``bound``, or a ``family`` of four topologies.
        id: of the line, the erratum, the bound or the family.
        place: where it is printed.
        claim: what is claimed there.
        verdict: what was found of that claim; ``note`` for a caution that claims nothing.
        detail: how it is known, with the constant or the witness.
        as_recorded: whether the catalogue says the same.
        erratum: id of the erratum behind a claim that fails, or that marks a bound which holds where it was checked.
    """

    kind: Kind
    id: str
    place: str
    claim: str
    verdict: Outcome
    detail: str
    as_recorded: bool
    erratum: str | None = None

    @property
    def paper(self) -> str:
        """Key of the paper."""
        return self.id.partition(".")[0]


def papers() -> tuple[str, ...]:
    """Keys of everything that is cited, in the order of the catalogue; this project's own among them."""
    ids = [*catalogue(), *(erratum.id for erratum in errata()), *(line.id for line in derive.lines())]
    return tuple(dict.fromkeys(name.partition(".")[0] for name in ids))


def size(paper: str | None = None) -> int:
    """How many rows `rows` will give, for showing progress; families not counted.

    Raises:
        UnknownBoundError: if nothing of this paper is in the catalogue.
    """
    return sum(len(part) for part in _chosen(paper))


def rows(paper: str | None = None) -> Iterator[Row]:
    """Check everything, or everything of one paper, row by row.

    Raises:
        UnknownBoundError: if nothing of this paper is in the catalogue.
    """
    lines, noted, bounds = _chosen(paper)
    for result in derive.check(lines):
        yield _of_line(result)
    for erratum in noted:
        yield _of_erratum(erratum)
    yield from _of_bounds(bounds)


def tally(found: Iterable[Row]) -> Mapping[str, Mapping[str, int]]:
    """How many rows of each verdict, by paper."""
    counts: dict[str, Counter[str]] = {}
    for row in found:
        counts.setdefault(row.paper, Counter())[row.verdict] += 1
    return counts


def _chosen(paper: str | None) -> tuple[Sequence[derive.Line], Sequence[Erratum], Sequence[Bound]]:
    if paper is not None and paper not in papers():
        raise UnknownBoundError(f"no paper is called {paper!r}; known are {', '.join(papers())}")

    def wanted(name: str) -> bool:
        return paper is None or name.partition(".")[0] == paper

    return (
        [line for line in derive.lines() if wanted(line.id)],
        [erratum for erratum in errata() if wanted(erratum.id)],
        [bound for bound in catalogue().values() if wanted(bound.id)],
    )


def _of_line(result: derive.Result) -> Row:
    line, finding = result.line, result.finding
    detail = finding.evidence
    if finding.constant:
        detail = f"constant {finding.constant}; {detail}"
    if finding.witness:
        values = ", ".join(f"{name} = {_number(value)}" for name, value in finding.witness.items())
        detail = f"{detail.rstrip('.')}. Witness: {values}."
    return Row("line", line.id, line.place, line.claim, finding.verdict, detail, result.as_recorded, line.erratum)


def _of_erratum(erratum: Erratum) -> Row:
    try:
        audit.check_erratum(erratum)
    except audit.AuditError as failure:
        return Row("erratum", erratum.id, erratum.place, _said(erratum.printed), "cannot tell", str(failure), False)
    detail = f"{erratum.because}. Supported: {_said(erratum.proved)}"
    shown = numbers(erratum)
    if shown is not None:
        detail = f"{detail}. {shown}"
    note = erratum.gravity in ("note", "loose")
    return Row(
        "erratum",
        erratum.id,
        erratum.place,
        _said(erratum.printed),
        "note" if note else "fails",
        detail,
        True,
        erratum.id,
    )


def _said(side: Expr | Relation | str) -> str:
    """A side of an erratum: words, or LaTeX between dollars."""
    return side if isinstance(side, str) else f"${latex(side)}$"


def numbers(erratum: Erratum) -> str | None:
    """Both sides' numbers at the witness of an erratum, in one line; None where it has none."""
    if erratum.demonstrate is not None:
        seen = erratum.demonstrate()
        if erratum.gravity == "claim":
            sign = {"<=": "at most", "==": "equal to"}[seen.relation]
            return f"{seen.instance}: claimed is {_number(seen.found)} {sign} {_number(seen.printed)}"
        return f"{seen.instance}: printed {_number(seen.printed)}, found {_number(seen.found)}"
    if not erratum.witness or isinstance(erratum.printed, str) or isinstance(erratum.proved, str):
        return None
    sides = [audit.at_witness(side, erratum.witness) for side in (erratum.printed, erratum.proved)]
    if isinstance(erratum.printed, Relation):
        printed, proved = ("holds" if side else "does not hold" for side in sides)
    else:
        printed, proved = (_number(float(side)) for side in sides)
    at = ", ".join(f"{name} = {_number(value)}" for name, value in erratum.witness.items())
    return f"At {at}: printed {printed}, supported {proved}"


def _of_bounds(bounds: Sequence[Bound]) -> Iterator[Row]:
    known = {bound.id: bound for bound in bounds}
    verdicts: dict[str, list[audit.Verdict]] = {}  # those against lower bounds come apart from the others
    for verdict in audit.audit(bounds, with_errata=False):
        verdicts.setdefault(verdict.subject, []).append(verdict)
    for subject, found in verdicts.items():
        bound = known.get(subject)
        failures = [f"{verdict.check}: {verdict.failure}" for verdict in found if verdict.failure]
        facts = sum(verdict.facts for verdict in found)
        detail = "; ".join(failures) or f"{facts} facts: {', '.join(verdict.check for verdict in found)}"
        if bound is None:
            place, claim = "identities between the four topologies", "what holds of the algorithms holds of the bounds"
        else:
            place, claim = bound.source.place, f"{bound.title} ({bound.status})"
            if bound.breaks and not failures:
                printed = "" if bound.status == "own" else "as printed "
                detail += f"; {printed}it cannot pass " + ", ".join(f"{c} ({why})" for c, why in bound.breaks.items())
        yield Row(
            "family" if bound is None else "bound",
            subject,
            place,
            claim,
            "fails" if failures else "holds",
            detail,
            not failures,
            None if bound is None else _marked(bound),
        )


def _marked(bound: Bound) -> str | None:
    """The erratum that says that a bound is wrong as printed, or that it cannot pass a check; None where none does."""
    refuted = [one.id for one in bound.errata if one.gravity == "refuted"] if bound.status == "refuted" else []
    return next(iter([*refuted, *(bound.breaks.values() if bound.status != "own" else ())]), None)


def _number(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.6g}"
