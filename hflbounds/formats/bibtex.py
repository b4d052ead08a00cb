"""BibTeX entries of the papers behind the bounds, each once."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hflbounds.bound import Paper
from hflbounds.formats import _text
from hflbounds.formats._statement import Statement, Style

TAKES = ()
PROCEEDINGS = re.compile(
    r"proceedings|conference|advances in|neurips|icml|iclr|aaai|ijcai|infocom|workshop", re.IGNORECASE
)
JOURNAL = re.compile(r"journal|transactions|letters", re.IGNORECASE)


def render(statements: Sequence[Statement], style: Style) -> str:
    """One entry for each paper."""
    papers = {s.bound.source.paper.key: s.bound.source.paper for s in statements}
    return "\n".join(entry(paper) for paper in papers.values())


def entry(paper: Paper) -> str:
    """The entry of one paper."""
    kind, venue = "misc", "howpublished"
    if PROCEEDINGS.search(paper.where):
        kind, venue = "inproceedings", "booktitle"
    elif JOURNAL.search(paper.where):
        kind, venue = "article", "journal"
    fields = {
        "author": _authors(paper.authors),
        "title": f"{{{_text.bibtex(paper.title)}}}",
        venue: _text.bibtex(paper.where),
        "year": str(int(paper.year)),
        "note": _text.bibtex(paper.version),
    }
    lines = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items() if value)
    return f"@{kind}{{{key(paper)},\n{lines}}}\n"


def key(paper: Paper) -> str:
    """The key to cite it by."""
    return re.sub(r"[^A-Za-z0-9:._-]", "", paper.key) or "paper"


def _authors(said: str) -> str:
    """Names as BibTeX wants them: with ``and`` between, and ``others`` at the end."""
    if re.match(r"the\b", said, re.IGNORECASE):  # a group
        return f"{{{_text.bibtex(said)}}}"
    said = re.sub(r",?\s+et al\.?$", " and others", said.strip())
    return " and ".join(_text.bibtex(name) for name in re.split(r",\s+(?:and\s+)?|\s+and\s+", said) if name)
