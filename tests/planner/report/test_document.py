"""Any document is shown in every format: nothing is lost, and no text is taken for markup."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

import planner
from planner.errors import ScenarioError
from planner.io import codes
from planner.io.listings import listing
from planner.report.document import Block, Column, Document, Facts, Figure, Heading, Sentences, Table
from planner.report.page import legend
from planner.report.render import formats, render


def laid(*blocks: Block, title: str = "", **own: object) -> Document:
    """Lay an answer out as these blocks."""
    return Document(listing("flip-map", "An answer.", own or None, title=title), blocks)


HOSTILE = "<b>a|b</b> 100% \\input{x} $x_1$ # ~^ `c` [d](e) & *f*"
TABLE = Table(
    (Column("topology"), Column("rounds", "count"), Column("time", "duration"), Column("traffic", "size")),
    (("Star-Star", 12_000, 5400.0, 2.5e9), (HOSTILE, None, None, "a lot")),
    heading="By group",
    best=frozenset({0}),
    spared=("traffic", "rounds"),
)
FIGURE = Figure(
    "Best over G and M",
    (("10", (("SS", "blue"), ("RR", "red"), ("..", "dim"))), ("1", (("SR", ""), ("**", ""), ("RS", "green")))),
    ("1", "2", "3"),
    here=(1, 2),
)
WHOLE = laid(
    Sentences("Star-Star is first.", "bold"),
    Heading("What follows"),
    Sentences(HOSTILE),
    TABLE,
    Sentences("2 more are in --json.", "dim"),
    FIGURE,
    Heading("Warnings"),
    Sentences(HOSTILE, "warning", 2),
    Sentences("Second.", "warning", 2),
    title=HOSTILE,
)


@pytest.mark.parametrize("name", sorted(set(formats()) - {"json", "csv"}))
@pytest.mark.parametrize("color", [False, True])
def test_every_format_for_people_says_all_of_it(name: str, color: bool) -> None:
    text = re.sub(r"\x1b\[[0-9;]*m", "", render(name, WHOLE, width=300, color=color))
    for said in ("Star-Star", "12,000", "1 h 30 min", "2.5 GB", "By group", "2 more are in", "Warnings", "Second."):
        assert said in text, said
    assert "Star-Star is first." in text
    assert [line for line in text.splitlines() if line != line.rstrip()] == [] or name != "table"


def test_a_pipe_is_80_columns_wide_and_loses_nothing() -> None:
    names = [f"number {i}" for i in range(20)]
    numbers = Table((Column("a"), *(Column(name, "count") for name in names)), (("x", *range(1000, 1020)),))
    words = Table((Column("a"), Column("b"), Column("c", "count")), (("x", "word " * 60, 7), ("y", "short", 8)))
    text = render("table", laid(Sentences("word " * 100), numbers, words), width=60)
    assert max(map(len, text.splitlines())) <= 80
    assert text.count("word") == 160
    heads = [line.split("  ") for line in text.splitlines() if "number" in line]
    assert [name.strip() for head in heads for name in head[1:] if name.strip()] == names
    assert sorted(int(n.replace(",", "")) for n in text.split() if n.startswith("1,0")) == list(range(1000, 1020))
    assert all(line.startswith("x ") for line in text.splitlines() if "1,000" in line or "1,019" in line)


def test_a_terminal_is_as_wide_as_it_says() -> None:
    long = laid(TABLE, FIGURE)
    shown = re.sub(r"\x1b\[[0-9;]*m", "", render("table", long, width=60, color=True))
    lines = [line for line in shown.splitlines() if "input" not in line]
    assert max(map(len, lines)) <= 60
    assert "traffic" not in shown  # the least needed column goes whole


STRANGE = "Zürich 東京 e\u0301\tafter\x07\rbell\nsecond line"


WORDS = Table((Column("a"), Column("b", "count")), ((STRANGE.replace("\t", ""), 1), ("x", 100_000)), indent=3)


@pytest.mark.parametrize(
    ("document", "written"),
    [
        (
            laid(Sentences(""), Heading(""), Sentences(STRANGE, "", 2)),
            "\n\n  Zürich 東京 e\u0301    after bell\n  second line\n",
        ),
        (
            laid(Sentences(STRANGE, "bold"), Heading(STRANGE), title=STRANGE),
            "Zürich 東京 e\u0301   afterbell\nsecond line\nZürich 東京 e\u0301    after bell\nsecond line\n\n"
            "Zürich 東京 e\u0301   afterbell\nsecond line\n",
        ),
        (
            laid(WORDS),
            "\n   a                             b\n   Zürich 東京 e\u0301afterbell        1\n   second line\n"
            "   x                       100,000\n",
        ),
        (
            laid(Table((Column("東京"), Column("left", "count", left=True)), (("x", 5), ("ab", 10)))),
            "\n東京  left\nx     5\nab    10\n",
        ),
        (laid(Table((Column("a"),), ()), Table((Column("a"),), (("x",),), detail=True)), "\na\n"),
    ],
)
def test_strange_letters_keep_their_columns_in_a_pipe_and_on_a_terminal(document: Document, written: str) -> None:
    """The lines are those that rich wrote."""
    assert render("table", document) == written
    assert re.sub(r"\x1b\[\d+m", "", render("table", document, width=10_000, color=True)) == written


def test_a_terminal_gets_the_lines_of_a_pipe_with_styles() -> None:
    narrow = replace(TABLE, rows=TABLE.rows[:1])
    whole = replace(WHOLE, blocks=tuple(narrow if block is TABLE else block for block in WHOLE.blocks))
    text = render("table", whole, width=10_000, color=True)
    assert re.sub(r"\x1b\[\d+m", "", text) == render("table", whole)
    bold, dim, yellow = ([line for line in text.splitlines() if line.startswith(f"\x1b[{n}m")] for n in (1, 2, 33))
    assert any("Star-Star is first." in line for line in bold)
    assert any("rounds" in line for line in dim)
    assert any("Second." in line for line in yellow)
    assert text.count("\x1b[0m") == len(re.findall(r"\x1b\[[1-9]\d*m", text))


def test_numbers_are_to_the_right_and_words_to_the_left() -> None:
    lines = render("table", WHOLE).splitlines()
    head = next(line for line in lines if line.startswith("topology"))
    row = next(line for line in lines if "12,000" in line)
    assert head.index("rounds") + len("rounds") == row.index("12,000") + len("12,000")
    assert "|---|---:|---:|---:|" in render("markdown", WHOLE)
    assert r"\begin{tabular}{lrrr}" in render("latex", WHOLE)


class Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_html_closes_every_element_and_takes_no_text_for_one() -> None:
    reader = Reader()
    reader.feed(render("html", WHOLE))
    assert reader.open == []
    assert "b" not in reader.tags
    assert reader.texts.count(HOSTILE) == 4  # the title, a sentence, a cell, a warning
    assert reader.tags.count("table") == reader.tags.count("caption") == 1


def test_markdown_and_latex_escape_what_they_would_obey() -> None:
    markdown = render("markdown", WHOLE)
    assert "<b>" not in markdown
    assert all(len(re.findall(r"(?<!\\)\|", line)) == 5 for line in markdown.splitlines() if line.startswith("| "))
    latex = [line for line in render("latex", WHOLE).splitlines() if not line.startswith("%")]
    assert not re.search(r"(?<!\\)[#_$]", "\n".join(line for line in latex if "x" in line and "&" in line))
    assert r"\input" not in "\n".join(latex)


def test_a_spreadsheet_gets_si_units_and_runs_nothing() -> None:
    rows = list(csv.DictReader(io.StringIO(render("csv", WHOLE))))
    assert [row["time"] for row in rows] == ["5400.0", ""]
    assert rows[0]["rounds"] == "12000"
    answer = listing("explain", "", rows=[{"name": "=1+1", "number": -1.5, "text": "-2", "none": None}])
    formula = Document(answer, ())
    (row,) = csv.DictReader(io.StringIO(render("csv", formula)))
    assert row == {"name": "'=1+1", "number": "-1.5", "text": "-2", "none": ""}


def test_json_is_the_data_and_never_nan() -> None:
    assert json.loads(render("json", WHOLE)) == WHOLE.answer.to_json()
    with pytest.raises(ValueError, match="not JSON compliant"):
        render("json", laid(a=math.nan))


@pytest.mark.parametrize("width", [8, 9, 11, 14, 200])
def test_a_figure_keeps_the_columns_that_fit_and_the_scenario(width: int) -> None:
    lines = FIGURE.lines(width)
    drawn = ["".join(text for text, _ in line) for line in lines]
    assert all(len(line) <= max(width, 7) for line in drawn)
    assert sum(text == "[]" for line in lines for text, _ in line) == 1
    assert [line[:2] for line in drawn[:2]] == ["10", " 1"]


def test_the_least_document() -> None:
    for name in formats():
        assert isinstance(render(name, laid()), str)


@pytest.mark.parametrize("assumed", ["step time 0.10 s?", "model 44.7 MB?, K = 2?", "heterogeneity both?"])
def test_the_legend_explains_a_question_mark_behind_any_assumption(assumed: str) -> None:
    assert legend([Facts((("Assumed", assumed),))]) == "? assumed"
    assert legend([Facts((("Ask", "How fast are links?"),)), Sentences("Do they share links?")]) == ""


def test_one_round_is_no_plural() -> None:
    told = {"rounds": 4, "link_sharing": "per-client", "server_link": "wan"}
    answer = planner.recommend(pilot="examples/digits_pilot.json", **told)
    assert "Ring-Ring needs 1 round and Star-Star 4." in " ".join(answer.explain("break-even").split())


def test_a_line_does_not_begin_with_per_cent() -> None:
    """Wherever the text breaks, a number keeps its per cent, as one plain blank joins them."""
    for words in range(12, 40):
        text = f"{'x ' * words}Confidence 92 %."
        lines = Sentences(text).lines()
        assert " ".join(lines) == " ".join(text.split())
        assert not any(line.startswith("%") for line in lines)


@pytest.mark.parametrize("room", range(26, 50))
def test_an_interval_stays_on_one_line_of_a_cell(room: int) -> None:
    whole = "2.9x [1.4, 6] by time and 3.1x [1.2, 3.4] by rounds, 5x [2, 1,300]"
    (part,) = Table((Column("topology"), Column("ratio")), (("Star-Star", whole),)).fitted(room)
    text = part.texts()[0][1]
    assert "\n" in text and " ".join(text.split("\n")) == whole
    assert not re.search(r"\[[^\]]*\n", text)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("E999", "message. `hfl-plan"),
        ("E48", "Did you mean E044 or E043? "),
        ("zeta", "in docs/glossary.md; "),
        ("E12", "Did you mean E012? "),
        ("E6", "E005"),
        ("word", ""),
    ],
)
def test_a_code_that_is_none_names_the_nearest_and_how_to_list_them(code: str, said: str) -> None:
    with pytest.raises(ScenarioError, match=r"is no code of a message\. ") as refused:
        codes.explained(code)
    assert said in str(refused.value)
    assert str(refused.value).endswith("`hfl-plan explain` lists all codes.")


@pytest.mark.parametrize(
    ("labels", "shown"),
    [("1 2 3 6 10 18 32", "1 2 3 6 10  32"), ("1 1.78 3 10.5 18 32", "1 1.78    32")],
)
def test_as_many_columns_of_a_small_map_are_labelled_as_have_room(labels: str, shown: str) -> None:
    """Of seven columns two had no number though there was room for it; the last always has its own."""
    ticks = tuple(labels.split())
    [*_, [(axis, _)]] = Figure("A map", (("9", (("SS", ""),) * len(ticks)),), ticks).lines(80)
    assert axis.strip() == shown


def test_a_map_keeps_to_a_page_and_its_labels_to_the_columns() -> None:
    """33 rows of 33 cells took 40 lines, and the last label ended in column 86."""
    labels = tuple(f"{value} Mbit/s" for value in range(100, 133))
    rows = tuple((label, (("SS", ""),) * 33) for label in labels)
    whole = Figure("Best topology", rows, labels, here=(20, 19))
    document = laid(whole, Sentences("SS Star-Star."), title="A map")
    lines = render("table", document, width=200, color=False).split("\n")
    assert len(lines) == 26 and lines[-1] == "" and max(map(len, lines)) <= 80
    assert [line.split()[0] for line in (lines[1], lines[22])] == ["100", "132"]
    assert sum("[]" in line for line in lines) == 1 and next(line for line in lines if "[]" in line).startswith("120")
    assert lines[23].endswith(" 132 Mbit/s")


def test_a_narrow_map_has_the_label_of_its_right_end_too() -> None:
    narrow = Figure("Best topology", (("1 s", (("SS", ""),) * 5),), ("533 kbit/s", "3", "16", "90", "480 Mbit/s"))
    assert narrow.lines(80)[-1] == [("    533 kbit/s to 480 Mbit/s", "")]
    alike = Figure("Best topology", (("1 s", (("SS", ""),) * 2),), ("1.25 Mbit/s", "5 Mbit/s"))  # one ends as the other
    assert alike.lines(80)[-1] == [("    1.25 Mbit/s to 5 Mbit/s", "")]
