"""BibTeX entries of the documents behind the bounds, each once."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hflbounds.core.bound import Paper
from hflbounds.typeset import wording
from hflbounds.typeset.statement import Statement, Style

SUFFIX = ".bib"
TAKES = ()
SOFTWARE = "Documentation of hfl-plan"  # where this project's own theorems are published
PROCEEDINGS = re.compile(
    r"proceedings|conference|advances in|neurips|icml|iclr|aaai|ijcai|infocom|workshop", re.IGNORECASE
)
VENUE = re.compile(r"(?P<name>.*?)(?: (?P<volume>\d+)(?:\((?P<number>\d+)\))?)?(?:, (?P<pages>\d+-\d+))?")
READ = re.compile(r"text copy|not read|attributed")  # how this project knows a paper is no part of its entry
# In full, where a paper's own first page or a list of references has them so.
AUTHORS = {
    "zhou2026": "Ziyi Zhou and Yipeng Li and Xinchun Lyu",
    "liu2026": "Haiyun Liu and Jiahao Xue and Jie Xu and Yao Liu and Zhuo Lu",
    "koloskova2020": "Anastasia Koloskova and Nicolas Loizou and Sadra Boreiri and Martin Jaggi and Sebastian Stich",
    "arjevani2023": "Yossi Arjevani and Yair Carmon and John C. Duchi and Dylan J. Foster and Nathan Srebro "
    "and Blake Woodworth",
    "fang2024": "Wenzhi Fang and Dong-Jun Han and Evan Chen and Shiqiang Wang and Christopher G. Brinton",
    "karimireddy2020": "Sai Praneeth Karimireddy and Satyen Kale and Mehryar Mohri and Sashank J. Reddi "
    "and Sebastian U. Stich and Ananda Theertha Suresh",
    "patel2024": "Kumar Kshitij Patel and Margalit Glasgow and Ali Zindari and Lingxiao Wang and Sebastian U. Stich "
    "and Ziheng Cheng and Nirmit Joshi and Nathan Srebro",
    "safran2020": "Itay Safran and Ohad Shamir",
    "li2023": "Yipeng Li and Xinchun Lyu",
    "wang2022": "Jiayi Wang and Shiqiang Wang and Rong-Rong Chen and Mingyue Ji",
    "liu2022": "Lumin Liu and Jun Zhang and Shenghui Song and Khaled B. Letaief",
    "jiang2024": "Xiaohan Jiang and Hongbin Zhu",
    "sharma2025": "Sharma, A. and Herath, K. and Bagchi, S. and Liu, C. and Chaterji, S.",
    "xie2024": "Xie, W. and Xiong, R. and Luo, J.",
    "devos2023": "De Vos, M. and Farhadkhani, S. and Guerraoui, R. and Kermarrec, A.-M. and Pires, R. and Sharma, R.",
}
JOURNAL = re.compile(r"journal|transactions|letters", re.IGNORECASE)


def render(statements: Sequence[Statement], style: Style) -> str:
    """One entry for each document."""
    papers = {s.bound.source.paper.citation: s.bound.source.paper for s in statements}
    return "\n".join(entry(paper) for paper in papers.values())


def entry(paper: Paper) -> str:
    """The entry of one paper."""
    kind, field = "misc", "howpublished"
    if PROCEEDINGS.search(paper.where):
        kind, field = "inproceedings", "booktitle"
    elif JOURNAL.search(paper.where):
        kind, field = "article", "journal"
    said = venue(paper)
    parts = VENUE.fullmatch(said) if kind != "misc" else None
    where = {field: said} if parts is None else {field: parts["name"]}
    if parts is not None:
        where |= {name: parts[name] or "" for name in ("volume", "number")}
        where["pages"] = (parts["pages"] or "").replace("-", "--")
    fields = {
        "author": AUTHORS.get(paper.key) or _authors(paper.authors),
        "title": f"{{{wording.bibtex(paper.title)}}}",
        **{name: wording.bibtex(said) for name, said in where.items()},
        "year": str(int(paper.year)),
        "note": wording.bibtex(version(paper)),
    }
    lines = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items() if value)
    return f"@{kind}{{{key(paper)},\n{lines}}}\n"


def venue(paper: Paper) -> str:
    """Where it was published: journal, proceedings or archive, or the page of this project that proves it."""
    return paper.where or (f"{SOFTWARE}, {paper.page}" if paper.page else "")


def version(paper: Paper) -> str:
    """Which version of the paper, in words for its readers; empty where the rest of its entry says so."""
    clauses = re.split(r"[,;:] ", paper.version)
    known = next((i for i, clause in enumerate(clauses) if READ.search(clause)), len(clauses))
    said = ", ".join(clauses[:known])
    return "" if said in (paper.where, paper.page) else said


def key(paper: Paper) -> str:
    """The key to cite it by."""
    return re.sub(r"[^A-Za-z0-9:._-]", "", paper.citation) or "paper"


def _authors(said: str) -> str:
    """Names as BibTeX wants them: with ``and`` between, and ``others`` at the end."""
    if re.match(r"(the|anonymous)\b", said, re.IGNORECASE):  # a group
        return f"{{{wording.bibtex(said)}}}"
    said = re.sub(r",?\s+et al\.?$", " and others", said.strip())
    return " and ".join(wording.bibtex(name) for name in re.split(r",\s+(?:and\s+)?|\s+and\s+", said) if name)
