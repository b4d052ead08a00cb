"""Find bounds by words: every word must occur in what is known of a bound."""

from __future__ import annotations

import difflib
import re
from functools import cache
from html import escape
from itertools import combinations
from typing import Any, get_args

from hflbounds.core.bound import Bound, Kind
from hflbounds.core.quantities import ABOUT
from hflbounds.registry import catalogue
from hflbounds.typeset import markup, meanings, wording

SHOWN = 20  # bounds that a repr lists
WIDE = 110  # letters of a line there
LITTLE = frozenset(("", "a", "and", "for", "in", "of", "the", "with"))  # "A" is a quantity
SHORT = 2  # letters; so short a word must be a word of its own, as "1" is in "Theorem 1" and not in "0.1"


class Bounds(tuple[Bound, ...]):
    """Bounds in the order of the catalogue: a tuple that shows itself as a table.

    >>> search("zeta partial 'theorem 2' star-ring hidden")
    1 bound
    id                       status  constants  bounded                title
    zhou2026.thm2.star-ring  proved  hidden     mean-squared-gradient  star-ring, partial participation
    """

    __slots__ = ()

    def __repr__(self) -> str:
        """Return a line for each bound, as far as a screen reaches."""
        rows = [tuple(str(value) for value in record.values()) for record in self[:SHOWN].records()]
        head = ("id", "status", "constants", "bounded", "title")
        widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)] if rows else []
        lines = [f"{len(self)} bound{'s' * (len(self) != 1)}"]
        for row in [head, *rows] if rows else []:
            cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
            lines.append(shorten("  ".join(cells).rstrip()))
        more = len(self) - len(rows)
        return "\n".join([*lines, f"... and {more} more"] if more else lines)

    def _repr_html_(self) -> str:
        """Return what a notebook shows: a table of all bounds."""
        head = "".join(f'<th scope="col">{name}</th>' for name in ("id", "status", "constants", "bounded", "title"))
        rows = ("".join(f"<td>{escape(str(value))}</td>" for value in record.values()) for record in self.records())
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        caption = f"<caption>{len(self)} bounds</caption>"
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def __getitem__(self, at: Any) -> Any:
        """Return a bound by its place, by its id, or some of them by a slice."""
        if isinstance(at, str):
            return {bound.id: bound for bound in self}[at]
        found = super().__getitem__(at)
        return Bounds(found) if isinstance(at, slice) else found

    def records(self) -> list[dict[str, str]]:
        """Return a mapping for each bound, such as a data frame is made of."""
        return [
            {
                "id": bound.id,
                "status": bound.status,
                "constants": bound.constants,
                "bounded": bound.bounds.id,
                "title": wording.sentence(bound.title, wording.line, markup.unicode),
            }
            for bound in self
        ]


def search(
    words: str = "", *, paper: str | None = None, status: str | None = None, metric: str | None = None
) -> Bounds:
    """Find bounds: theorems, rates, lemmas, then quantities, each in the order of the catalogue.

    Args:
        words: each, but little ones such as "of", must occur, in any case, in the id, the title, the source, the
            status, what is bounded, the names of its hypotheses, or a quantity's name, letter or meaning; theorems and
            rates are convergence guarantees too, and nonconvex where no hypothesis asks for convexity.
        paper: key of the paper; any if None.
        status: as of `Bound.status`.
        metric: id of what is bounded.

    Returns:
        all bounds of the catalogue where nothing is asked.

    >>> [bound.id for bound in search("ZETA partial 'theorem 2' star-ring hidden")]
    ['zhou2026.thm2.star-ring']
    """
    wanted = tokens(words)
    found = [
        bound
        for bound in catalogue().values()
        if paper in (None, bound.source.paper.key)
        and status in (None, bound.status)
        and metric in (None, bound.bounds.id)
        and all(occurs(word, bound) for word in wanted)
    ]
    return Bounds(sorted(found, key=lambda bound: get_args(Kind).index(bound.kind)) if wanted else found)


def shorten(line: str) -> str:
    """Cut a line that is too wide."""
    return line if len(line) <= WIDE else f"{line[: WIDE - 3]}..."


def tokens(words: str) -> list[str]:
    """The words of a search, folded in case, without `LITTLE` ones; quotes and commas divide as blanks do."""
    return [word.casefold() for word in re.split(r"[\s\"',;]+", words) if word not in LITTLE]


def occurs(word: str, bound: Bound) -> bool:
    """Whether a word, folded in case, is about a bound: part of its text, or if short one of its words."""
    text, known = _known(bound)
    return word in known if len(word) <= SHORT else word in text


def nearest(words: str) -> str:
    """What to search for in place of words with which nothing is found, as a sentence."""
    bounds, wanted = tuple(catalogue().values()), tokens(words)
    for word in wanted:
        if not any(occurs(word, bound) for bound in bounds):
            every = sorted({known for bound in bounds for known in _known(bound)[1] if len(known) > SHORT})
            near = difflib.get_close_matches(word, every, n=2, cutoff=0.6)
            hint = f"did you mean {' or '.join(near)}?" if near else "it stands in no bound; leave it out."
            return f"{word!a:.60}: {hint}"
    for size in range(len(wanted) - 1, 0, -1):
        for kept in combinations(wanted, size):
            if found := sum(all(occurs(word, bound) for word in kept) for bound in bounds):
                return f"Each word occurs, but not all of them together; {' '.join(kept)!a:.80} finds {found}."
    return "Give a word."


def is_without_convexity(bound: Bound) -> bool:
    """Whether it is a guarantee for losses that need not be convex."""
    return bound.kind in ("theorem", "rate") and not any(assumed.convex for assumed in bound.assumes)


def alike(bound: Bound) -> tuple[Bound, ...]:
    """Guarantees of the same quantity for the same topology, with the same part of it in a round, in the same order."""

    def case(one: Bound) -> tuple[Any, ...]:
        part = (assumed.id.partition(", any")[0] for assumed in one.assumes if "participation" in assumed.id)
        return one.kind in ("theorem", "rate"), one.bounds.id, one.topology, {one.split(", uniform")[0] for one in part}

    here = case(bound)
    own = here[0] and bound.topology is not None
    return tuple(one for one in catalogue().values() if own and one is not bound and case(one) == here)


@cache
def _known(bound: Bound) -> tuple[str, frozenset[str]]:
    """The text that is searched, without formulas, and its words; folded in case."""
    paper = bound.source.paper
    parts = [
        *(bound.id, bound.title, bound.kind, bound.status, f"{bound.constants} constants"),
        "convergence guarantee bound" * (bound.kind in ("theorem", "rate")),  # what they are called too
        "nonconvex non-convex" * is_without_convexity(bound),
        *(str(bound.source), paper.key, paper.title),
        *(
            bound.bounds.id,
            bound.bounds.id.replace("-", " "),
            bound.bounds.meaning.partition(";")[0],
        ),  # not what it is not
        *(assumed.id for assumed in bound.assumes),
        *(f"{name} {markup.unicode(ABOUT[name].latex)} {meanings.meaning(bound, name)}" for name in bound.needs),
    ]
    text = "\n".join(wording.sentence(part, wording.line, lambda _: "") for part in parts).casefold()
    text = re.sub(r"\S+\.md\b", "", text)  # names of files
    return text, frozenset(re.findall(r"[^\W_]+", text)) | {name.casefold() for name in bound.needs}


__all__ = ["Bounds", "alike", "is_without_convexity", "nearest", "occurs", "search", "tokens"]
