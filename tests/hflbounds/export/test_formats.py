"""Exports: every bound through every printer, read back where a format is for programs, and hostile words."""

from __future__ import annotations

import ast
import dataclasses
import html.parser
import itertools
import json
import math
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_catalogue import read_latex

from hflbounds import catalogue, get
from hflbounds.audit.checks import draw
from hflbounds.core.assumptions import Assumption
from hflbounds.core.bound import Bound, Erratum, Paper
from hflbounds.core.expression import Expr, Symbol, choice, maximum, power, raised, special, sqrt
from hflbounds.core.quantities import ABOUT, S1, S2, SYMBOLS, A, G, K, L, M, P, p2, sigma
from hflbounds.errors import ConditionError, DomainError, FormatError
from hflbounds.export import Statement, Style, bibtex, formats, render, takes
from hflbounds.export import json as json_format
from hflbounds.export.python import function_name
from hflbounds.typeset import markup, sentences, wording
from hflbounds.typeset.formulas import in_a_sum, latex
from hflbounds.typeset.statement import letter, macro, number

BOUNDS = tuple(catalogue().values())
FIRST = tuple({bound.family: bound for bound in reversed(BOUNDS)}.values())  # of each family
FLEET = {"G": 10, "M": 10, "P": 1, "K": 2, "R": 5000, "L": 1, "A": 2.3, "sigma": 1, "zeta": 0.5, "delta": 0.5}
FLEET["eta_eff"] = 0.04
RING = get("zhou2026.thm1.star-ring")
HOSTILE = (
    "\\input{/etc/hostname} <script>alert(1)</script> \"\"\" ''' $x$ 5% a_b & {c} #d ~ ^^5c`e` | =1+1\n"
    "\\end{document}\u2028\u202e"
)


def hostile() -> Bound:
    """A bound whose every word tries to be something else."""
    paper = Paper(key="x}\\input{y", title=HOSTILE, authors=HOSTILE, year=2026, version=HOSTILE, where=HOSTILE)
    erratum = Erratum(id="x", place=HOSTILE, printed=HOSTILE, proved=HOSTILE, because=HOSTILE, effect=HOSTILE)
    return dataclasses.replace(
        RING,
        id=HOSTILE,
        title=HOSTILE,
        source=paper.at(HOSTILE),
        bounds=dataclasses.replace(RING.bounds, meaning=HOSTILE),
        terms={HOSTILE: RING.terms["start"], "b\n\\input{z}": RING.terms["noise"]},
        assumes=(Assumption("x", HOSTILE, introduces=every_symbol()),),
        noted=(erratum,),
    )


def every_symbol() -> tuple[Symbol, ...]:
    return tuple(SYMBOLS[name] for name in ABOUT)


# --------------------------------------------------------------------------------------------- every bound


@cache
def shown(name: str, bound: str | None = None, **style: Any) -> str:
    """One bound, or the whole catalogue, in a format and a style; several tests look at the same."""
    return render(name, BOUNDS if bound is None else get(bound), Style(**style))


@pytest.mark.parametrize("name", formats())
def test_every_bound_goes_through_every_format(name: str) -> None:
    """All as they are by default, and one of each family in other styles."""
    styles: list[dict[str, Any]] = [{"macros": True}, {"notation": "paper", "aligned": True, "standalone": True}, {}]
    heeded = {tuple(str(getattr(Style(**style), option)) for option in sorted(takes(name))): style for style in styles}
    for style in heeded.values():
        bounds = FIRST if style else BOUNDS
        text = render(name, FIRST, Style(**style)) if style else shown(name)
        assert text.endswith("\n")
        if name != "bibtex":
            ids = function_name if name == "python" else (lambda bound: bound.id)
            assert all(ids(bound) in text for bound in bounds)


def test_there_are_the_formats_that_are_promised() -> None:
    assert {*formats()} == {"latex", "markdown", "html", "json", "python", "bibtex", "mathtext"}
    assert {option for name in formats() for option in takes(name)} == {f.name for f in dataclasses.fields(Style)}
    with pytest.raises(FormatError, match="'word' is not one of bibtex"):
        render("word", RING)


def test_all_mathematics_of_the_catalogue_is_read() -> None:
    """MathML, plain text, mathtext and the breaking of lines stand on the reader."""
    for bound in BOUNDS:
        assert markup.mathematics(bound.latex()) is not None, bound.id
        texts = [*(a.statement for a in bound.assumes), bound.source.place, bound.title]
        texts += [side for e in bound.errata for side in (e.printed, e.proved, e.because) if isinstance(side, str)]
        for text in texts:
            for part in re.findall(r"\$([^$]*)\$", text):
                assert markup.mathematics(part) is not None, (bound.id, part)


def test_latex_balances_and_names_every_quantity() -> None:
    for bound in BOUNDS:
        for style in ({}, {"aligned": True, "standalone": True}):
            text = shown("latex", bound.id, **style)
            bare = re.sub(r"\\[{}%]", "", text)
            assert bare.count("{") == bare.count("}"), bound.id
            assert text.count(r"\begin{") == text.count(r"\end{")
            assert len(re.findall(r"\\left\b", text)) == len(re.findall(r"\\right\b", text))
            for name in bound.needs:
                assert f"${ABOUT[name].latex}$: " in text, (bound.id, name)


def test_macros_are_one_for_each_quantity_and_all_declared() -> None:
    assert len({macro(name) for name in ABOUT}) == len(ABOUT)
    text = shown("latex", macros=True)
    declared = set(re.findall(r"\\providecommand\{(\\hfl[A-Za-z]+)\}", text))
    assert set(re.findall(r"\\hfl[A-Za-z]+", text)) == declared
    # A letter is only the macro's: between the lines of declarations and the references none is left.
    body = render("latex", RING, Style(macros=True)).split(r"\paragraph")[1]
    assert r"\sigma" not in re.sub(r"\\hfl\w+", "", body)


def test_each_document_has_one_entry_and_each_bound_cites_its_own() -> None:
    entries = re.findall(r"^@(\w+)\{([\w:.-]+),$", shown("bibtex"), flags=re.MULTILINE)
    papers = {b.source.paper.citation: b.source.paper for b in BOUNDS}
    assert [key for _, key in entries] == list(papers)
    assert all(b.source.paper == papers[b.source.paper.citation] for b in BOUNDS)
    assert len({(paper.title, paper.version) for paper in papers.values()}) == len(papers)
    pages = {"hga-repaired": "hga-repaired", "hhfl-spectral": "hhfl-overlap", "hsl-exact": "hsl-mixing"}
    for name, page in pages.items():
        bound = get(f"hflbounds.{name}")
        assert f"{{hflbounds-{page}," in render("bibtex", bound)
        assert f"howpublished = {{Documentation of hfl-plan, docs/theory/{page}.md}}" in render("bibtex", bound)
        assert rf"\cite{{hflbounds-{page}}}" in render("latex", bound)
        assert (Path(__file__).parents[3] / bound.source.paper.page).is_file()
    text = render("bibtex", RING)
    assert "author = {Ziyi Zhou and Yipeng Li and Xinchun Lyu}," in text
    assert "title = {{Unified Analyses" in text
    assert "year = {2026}," in text


# --------------------------------------------------------------------------------------------- values come back


def points_of(bound: Bound, count: int = 3) -> list[dict[str, float]]:
    drawn = draw(bound, 40)
    each = ({n: float(np.broadcast_to(v, (40,))[i]) for n, v in drawn.items()} for i in range(40))
    return [*itertools.islice((point for point in each if bound.applies(**point)), count)]


def processor() -> float:
    """Processor time of this process and those it waited for [s]; the clock on the wall depends on other load."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def test_exported_python_says_what_the_bounds_say_in_time() -> None:
    """The whole catalogue, in an interpreter without this package, together with LaTeX, in under ten seconds."""
    began = processor()
    render("latex", BOUNDS, Style(standalone=True))
    program = render("python", BOUNDS)
    cases: dict[str, list[tuple[dict[str, float], dict[str, float]]]] = {}
    for bound in BOUNDS:
        for point in points_of(bound):
            try:
                expected = bound.split(**point)
            except ConditionError:  # beyond float64
                continue
            given = {name: point[name] for name in bound.needs}
            cases.setdefault(function_name(bound), []).append((given, expected))
    assert {*cases} >= {function_name(b) for b in BOUNDS if not b.overflows}
    checker = (
        "import json, sys\n"
        "program, cases = json.load(sys.stdin)\n"
        "scope = {'__name__': 'exported'}\n"
        "exec(compile(program, 'exported', 'exec'), scope)\n"
        "found = {n: [[scope[n + '_terms'](**p), scope[n](**p)] for p, _ in of] for n, of in cases.items()}\n"
        "assert not [m for m in sys.modules if m.startswith(('hflbounds', 'numpy', 'sympy', 'planner'))]\n"
        "print(json.dumps(found))\n"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", checker],
        input=json.dumps([program, cases]),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout)
    checked = 0
    for name, of in cases.items():
        for (terms, total), (_, expected) in zip(found[name], of, strict=True):
            assert terms == pytest.approx(expected, rel=1e-12, abs=1e-300), name
            assert total == pytest.approx(sum(expected.values()), rel=1e-9), name
            checked += 1
    assert checked >= 2 * len(BOUNDS)
    assert processor() - began < 10


def exported(bound: Bound) -> dict[str, Any]:
    scope: dict[str, Any] = {}
    exec(compile(render("python", bound), "exported", "exec"), scope)  # noqa: S102 - our own text
    return scope


def test_exported_python_refuses_what_the_bound_refuses() -> None:
    function = exported(RING)["zhou2026_thm1_star_ring"]
    assert function(**FLEET) == RING(**FLEET)
    with pytest.raises(ValueError, match=r"requires eta_eff <= 1/\(sqrt\(60\)\*L\), but these are 0\.5 and 0\.129"):
        function(**FLEET | {"eta_eff": 0.5})
    for wrong in (0, 2.5, True, math.nan, math.inf, "3"):
        with pytest.raises(ValueError, match="G must be a whole number, at least 1"):
            function(**FLEET | {"G": wrong})
    with pytest.raises(ValueError, match="sigma must be a finite number, at least 0"):
        function(**FLEET | {"sigma": -1})
    with pytest.raises(TypeError, match="G"):
        function(**{name: value for name, value in FLEET.items() if name != "G"})


def test_exported_python_follows_defaults() -> None:
    some = next(b for b in BOUNDS if "p2" in b.defaults and b.constants == "explicit")
    name = function_name(some)
    point = next(iter(points_of(some, 1)))
    given = {n: point[n] for n in some.needs if n not in some.defaults}
    function = exported(some)[name]
    assert function(**given, N=4, M=5) == pytest.approx(function(**given, p2=1 / 20), rel=1e-14)
    assert function(**given, N=4, M=5) == pytest.approx(some(**given, N=4, M=5), rel=1e-12)
    with pytest.raises(TypeError, match="needs p2, or M and N"):
        function(**given)


def test_json_gives_the_same_expressions_back() -> None:
    document = json.loads(shown("json"))
    assert document["schema"] == "hfl-plan/bounds/1"
    assert len(document["bounds"]) == len(BOUNDS)
    for bound, data in zip(BOUNDS, document["bounds"], strict=True):
        for held, trees in ((bound.terms, data["terms"]), (bound.where, data["where"])):
            assert [tree["name"] for tree in trees] == list(held)
            for formula, tree in zip(held.values(), trees, strict=True):
                assert json_format.read(tree["expression"]) is formula
        assert [json_format.read_relation(tree) for tree in data["requires"]] == list(bound.requires)
        assert {n: json_format.read(tree) for n, tree in data["defaults"].items()} == dict(bound.defaults)
        assert data["value"] is None
        for text in (data["statement"]["mathml"], *(t["mathml"] for t in data["terms"])):
            ET.fromstring(text)  # noqa: S314 - our own


@pytest.mark.parametrize(
    "formula",
    [
        maximum(G, 2 * M),
        choice(G <= 1, 0, 1 / (G - 1)),
        raised(1 - 1 / G, M),
        special("overlap", G, M),
        sqrt(L) ** 3,
        power(L, Fraction(-2, 7)),
        -(L**2) / 3 - A,
        G * (M * (L + A)),
    ],
    ids=str,
)
def test_json_reads_each_kind_of_node(formula: Expr) -> None:
    assert json_format.read(json.loads(json.dumps(json_format.expression(formula)))) is formula


@pytest.mark.parametrize(
    "tree",
    [
        None,
        "L",
        "__import__('os').system('true')",
        {"symbol": "os"},
        {"symbol": "ABOUT"},
        {"symbol": ["L"]},
        {"number": "1e9"},
        {"number": 3},
        {"number": "1/0"},
        {"number": "9" * 5000},
        {"number": "1", "symbol": "L"},
        {"sum": []},
        {"sum": "LL"},
        {"product": [{"symbol": "L"}]},
        {"raised": [{"symbol": "L"}]},
        {"power": {"symbol": "L"}, "exponent": "G"},
        {"power": {"number": "0"}, "exponent": "-1"},
        {"power": {"product": [{"number": "0"}, {"symbol": "L"}]}, "exponent": "-1/2"},
        {"raised": [{"number": "0"}, {"number": "-1"}]},
        {"choice": [{"symbol": "L"}] * 4, "sign": "=="},
        {"choice": [{"symbol": "L"}] * 3, "sign": "<="},
        {"function": "eval", "arguments": [{"symbol": "L"}]},
        {"function": "geometric", "arguments": [{"number": "1/2"}] * 7},
        {"function": "overlap", "arguments": [{"symbol": "G"}]},
        {"sum": [{"symbol": "L"}] * 30_000},
    ],
    ids=lambda tree: str(tree)[:40],
)
def test_json_refuses_everything_else(tree: Any) -> None:
    with pytest.raises(FormatError):
        json_format.read(tree)


def test_json_refuses_numbers_that_would_take_long_to_multiply() -> None:
    parts = [{"number": f"{'9' * 59}{i % 10}/{'7' * 60}"} for i in range(19_000)]
    began = processor()
    with pytest.raises(FormatError, match="digits"):
        json_format.read({"product": parts})
    assert processor() - began < 1
    assert str(json_format.read({"product": parts[:30]}))  # what is read can be printed


def test_json_refuses_what_is_nested_too_deeply() -> None:
    tree: Any = {"symbol": "L"}
    for _ in range(900):
        tree = {"power": tree, "exponent": "1/2"}
    with pytest.raises(FormatError, match="deep"):
        json_format.read(tree)


# --------------------------------------------------------------------------------------------- letters and numbers


def test_new_nodes_are_typeset() -> None:
    assert latex(maximum(G, 2 * M)) == r"\max\left\{G, 2 M\right\}"
    assert latex(raised(1 - 1 / G, M)) == r"\left(1 - \frac{1}{G}\right)^{M}"
    assert latex(raised(2, 2 * G)) == r"2^{2 G}"
    assert latex(raised(4, G) * L * raised(2, M)) == r"4^{G} L \cdot 2^{M}"
    assert latex(special("overlap", G, M)) == r"\operatorname{overlap}\left(G, M\right)"
    assert latex(choice(G <= 1, 0, A)) == (r"\begin{cases} 0 & \text{if } G \le 1 \\ A & \text{otherwise} \end{cases}")
    assert latex(p2 * sigma**2) == r"\left({\textstyle\sum_i p_i^2}\right) \sigma^{2}"
    assert in_a_sum(["-a", "b", "-c"]) == "-a + b - c"


def test_numbers_settle_choices_and_leave_out_what_is_nothing() -> None:
    one = {"G": 1.0}
    assert latex(L * choice(G <= 1, A + sigma, 2 * A), numbers=one) == r"L \left(A + \sigma\right)"
    assert latex(L * choice(G <= 1, A, 2 * A), letters={"G": "7"}, numbers={"G": 7.0}) == r"L \cdot 2 A"
    assert latex(choice(G <= 1, A + sigma, A) ** 2, numbers=one) == r"\left(A + \sigma\right)^{2}"
    assert latex(A - L * (A + sigma), letters={"L": "1"}, numbers={"L": 1.0}) == r"A - \left(A + \sigma\right)"
    assert latex(choice(G <= M, 0, A), numbers=one) == latex(choice(G <= M, 0, A))
    assert latex(A * (G - 1) + sigma / G, letters={"G": "1"}, numbers=one) == r"\sigma"
    assert latex(A * (G - 1), numbers=one) == "0"


def test_what_is_typeset_apart_is_named_also_inside_a_larger_product() -> None:
    part = G * M
    assert latex(3 * G * L * M, {part: "c"}) == "3 c L"
    assert latex(6 * L * (2 * G * M), {2 * G * M: "c"}) == "6 L c"
    assert latex(L / (G * M * P), {part: "c"}) == r"\frac{L}{c P}"
    assert latex(G * L, {part: "c"}) == "G L"


def test_numbers_stand_in_place_of_letters_and_are_read_back() -> None:
    for bound in ("zhou2026.thm1.star-ring", "zhou2026.cor1.ring-ring", "zhou2026.thm1.star-star"):
        said = Statement(get(bound), Style(values={**FLEET, "eta_eff": 0.0004}))
        assert said.value is not None
        for name, tex in said.terms.items():
            plain = tex.replace(r"\cdot", "").replace(r"\times", "")
            plain = re.sub(r"(\d+)\.(\d+)", lambda m: rf"\frac{{{m[1]}{m[2]}}}{{1{'0' * len(m[2])}}}", plain)
            assert read_latex(plain, {}) == pytest.approx(said.value.terms[name], rel=1e-9)


def test_some_numbers_may_be_given() -> None:
    text = RING.latex(values={"L": 1, "R": 5000})
    assert r"\frac{A}{\tilde\eta \cdot 5000}" in text
    assert r"\frac{1}{\sqrt{60}}" in text
    assert Statement(RING, Style(values={"L": 1})).value is None


def test_numbers_are_checked_as_in_a_call() -> None:
    with pytest.raises(ConditionError, match=r"0\.5"):
        render("latex", RING, Style(values=FLEET | {"eta_eff": 0.5}))
    with pytest.raises(DomainError, match="G"):
        RING.latex(values={"G": 0})
    with pytest.raises(ConditionError, match="eta_eff <= "):  # a theorem with numbers that it does not hold for
        RING.latex(values=FLEET | {"eta_eff": 0.5})
    with pytest.raises(TypeError, match="grups"):
        RING.latex(values={"grups": 3})
    with pytest.raises(FormatError, match="not an array"):
        RING.latex(values={"G": np.array([1, 2])})


def test_a_value_beyond_float64_has_its_logarithm() -> None:
    bound = next(b for b in BOUNDS if b.overflows and "Ge" in b.needs)
    point = next(iter(points_of(bound, 1))) | {"Ge": 600, "E": 3, "H": 1}
    said = Statement(bound, Style(values=point))
    assert said.value is not None
    assert said.value.total is None
    assert said.value.log10 == pytest.approx(bound.log10(**point))
    assert said.value.log10 > 308
    assert "10^{" in render("latex", bound, Style(values=point))
    data = json.loads(render("json", bound, Style(values=point)))["bounds"][0]
    assert data["value"] is None
    assert data["log10"] > 308


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.04, "0.04"), (5000, "5000"), (1e300, r"1 \times 10^{300}"), (-2.5, "-2.5"), (1.25e-7, r"1.25 \times 10^{-7}")],
)
def test_numbers_in_latex(value: float, text: str) -> None:
    assert number(value) == text


def test_the_papers_letters() -> None:
    paper = dataclasses.replace(RING.source.paper, notation={"zeta": r"\delta", "delta": r"\zeta", "G": "N"})
    bound = dataclasses.replace(RING, source=paper.at("x"))
    text = render("latex", bound, Style(notation="paper"))
    assert r"$\delta$: intra-group" in text
    assert r"$\zeta$: inter-group" in text
    assert r"\le\delta^2$ for all $x$, as the average over groups" in text  # hypotheses change their letters too
    assert r"\frac1{NM}" in text
    assert r"\mathbb{E}" in text
    assert bound.latex() != bound.latex(notation="paper")
    assert bound.latex() == RING.latex()


def test_letters_of_ones_own() -> None:
    text = render("latex", RING, Style(letters={"sigma": r"\hat s_{1}", "eta_eff": "step"}))
    assert r"\hat s_{1}^{2}" in text
    assert r"\mathrm{step}^{2}" in text
    with pytest.raises(FormatError, match=r"hostname\}' for eta_eff is not LaTeX .* Accepted are s, "):
        render("latex", RING, Style(letters={"eta_eff": "\\input{/etc/hostname}"}))
    with pytest.raises(FormatError, match="G would be sigma, and G too"):
        render("latex", RING, Style(letters={"sigma": "G"}))
    with pytest.raises(FormatError, match="sigmaa"):
        render("latex", RING, Style(letters={"sigmaa": "s"}))


@pytest.mark.parametrize(
    ("asked", "tex"),
    [
        ("s", "s"),
        (r"\hat\sigma", r"\hat\sigma"),
        (r"\mathcal{S}_{max}", r"\mathcal{S}_{max}"),
        (r"\sigma_1", r"\sigma_1"),
        ("step", r"\mathrm{step}"),
    ],
)
def test_what_is_a_letter(asked: str, tex: str) -> None:
    assert letter(asked, "sigma") == tex


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ("step size", "is a formula"),
        ("x+y", "is a formula"),
        ("x^2", "is a formula"),
        ("3", "is a formula"),
        ("", "is a formula"),
        (r"\csname input\endcsname", "is not LaTeX"),
        ("$$", "is not LaTeX"),
        ("}", "has } without {"),
        (r"\hat{", "has { without }"),
        ("\\" * 100, "is longer than 60"),
    ],
)
def test_what_is_no_letter_is_refused_by_name(asked: str, why: str) -> None:
    with pytest.raises(FormatError, match=f"for sigma {re.escape(why)}"):
        letter(asked, "sigma")


def test_labels() -> None:
    assert r"\label{eq:zhou2026.thm1.star-ring}" in render("latex", RING)
    assert r"\label{eq:mine}" in render("latex", RING, Style(label="eq:mine"))
    assert r"\label{inputx}" in render("latex", RING, Style(label=r"}\input{x"))
    with pytest.raises(FormatError, match="2 equations"):
        render("latex", BOUNDS[:2], Style(label="eq:mine"))
    labels = re.findall(r"\\label\{([^}]*)\}", shown("latex"))
    assert len(set(labels)) == len(BOUNDS)


# --------------------------------------------------------------------------------------------- hostile words


def test_hostile_words_are_words_in_latex() -> None:
    for style in (Style(), Style(standalone=True), Style(aligned=True, values=FLEET), Style(label=HOSTILE)):
        text = render("latex", hostile(), style)
        bare = re.sub(r"(?m)^%.*$", "", text).replace(r"\begin{document}", "").replace("{inputenc}", "")
        assert r"\input" not in bare
        assert bare.count(r"\end{document}") == style.standalone
        assert "^^" not in bare
        assert not re.search(r"(?<!\\)%", bare)
        assert "\u202e" not in text
        for line in text.splitlines():
            if line.startswith("%"):
                assert "\u2028" not in line


class Tags(html.parser.HTMLParser):
    """The names of all elements and attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen |= {tag, *(f"{tag} {name}" for name, _ in attrs)}


def test_hostile_words_are_words_in_html() -> None:
    tags = Tags()
    text = render("html", hostile())
    tags.feed(text)
    mathematics = {"math", "mrow", "mi", "mn", "mo", "mfrac", "msqrt", "msub", "msup", "msubsup", "munderover", "mover"}
    known = {"section", "h2", "p", "code", "div", "span", "table", "tr", "td", "ul", "li", "munder", "mspace", "mtext"}
    assert {name for name in tags.seen if " " not in name} <= mathematics | known
    assert not {name for name in tags.seen if " on" in name or name.endswith((" src", " href"))}


def test_html_loads_nothing() -> None:
    text = render("html", BOUNDS[:5], Style(standalone=True))
    tags = Tags()
    tags.feed(text)
    assert not {name for name in tags.seen if name.endswith((" src", " href"))}
    assert "link" not in tags.seen
    assert "url(" not in text
    assert RING._repr_html_() == render("html", RING)


def test_hostile_words_are_words_in_the_other_formats() -> None:
    bad = hostile()
    markdown = render("markdown", bad)
    assert "<script>" not in markdown
    assert "<" not in re.sub(r"`[^`\n]*`", "", markdown)
    assert r"\\input\{/etc" in markdown
    python = render("python", bad)
    tree = ast.parse(python)
    assert not {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)} & {"alert", "input", "x", "hostname"}
    entry = render("bibtex", bad)
    assert re.match(r"@\w+\{xinputy,\n", entry)
    depths = list(itertools.accumulate((c == "{") - (c == "}") for c in entry.strip()))
    assert depths[-1] == 0
    assert min(depths[entry.index("{") : -1]) >= 1  # nothing closes the entry before its end
    assert all(len(line) < 2000 for line in entry.splitlines())
    comment, *formulas = render("mathtext", bad).splitlines()
    assert comment.startswith("# ")
    assert all(line.startswith("$") for line in formulas)
    assert json.loads(render("json", bad))["bounds"][0]["title"] == HOSTILE


def test_an_export_of_hostile_words_still_computes() -> None:
    bad = hostile()
    scope = exported(bad)
    given = {name: FLEET[name] for name in bad.needs}
    assert scope[function_name(bad)](**given) == pytest.approx(bad(**FLEET), rel=1e-14)


@pytest.mark.parametrize("text", [HOSTILE, "plain", "北京 ζ", "a\tb\r\nc", "", "$", "$\\input{x}$"])
def test_escapes_leave_one_line(text: str) -> None:
    for escape in (wording.latex, wording.bibtex, wording.html, wording.markdown, wording.line):
        assert "\n" not in escape(text)
        assert "\r" not in escape(text)
    shown = wording.sentence(text, wording.latex, lambda tex: f"${tex}$")
    assert r"\input" not in shown


# --------------------------------------------------------------------------------------------- the reader of LaTeX


@pytest.mark.parametrize(
    ("tex", "text"),
    [
        (r"\frac{5 L^{2} \tilde\eta^{2}}{12 P^{2}}", "5 L² η̃²/(12 P²)"),
        (r"\frac1R\sum_{r=0}^{R-1}\mathbb{E}\|\nabla F(x^{(r)})\|^2", "(1/R) ∑_(r=0)^(R−1) 𝔼‖∇F(x^(r))‖²"),
        (r"\frac{a + b}{c}", "(a + b)/c"),
        (r"a - \frac{1}{b}", "a − 1/b"),
        (r"\sqrt[3]{x y}", "∛(x y)"),
        (r"-\frac{a}{b} c", "−(a/b) c"),
        (r"\max\left\{a, b\right\}", "max{a, b}"),
        (r"b_{hs} S_1", "b_hs S₁"),
        (r"\begin{cases} 0 & \text{if } G \le 1 \\ A & \text{otherwise} \end{cases}", "[0 if G ≤ 1, else A]"),
        (r"x^{n - 1}", "x^(n−1)"),
    ],
)
def test_plain_text_of_formulas(tex: str, text: str) -> None:
    assert markup.unicode(tex) == text


@pytest.mark.parametrize(
    "tex",
    [r"\input{x}", r"\frac{1}", "{", "}", r"\left( x", "x_1_2", r"\begin{document}", "a % b", "x # y", "{" * 200, "$"],
)
def test_what_is_not_ours_is_not_read(tex: str) -> None:
    assert markup.mathematics(tex) is None
    assert markup.unicode(tex) == tex
    ET.fromstring(markup.mathml(tex))  # noqa: S314 - our own


def test_terms_too_long_for_a_line_are_split_and_named() -> None:
    for bound in BOUNDS:
        for style in (Style(), Style(aligned=True)):
            said = Statement(bound, style)
            assert all(markup.width(line) < 75 for line in said.lines()), bound.id
            assert all(markup.width(line) < 75 for _, lines in said.definition_lines() for line in lines), bound.id


def test_definitions_come_before_their_use() -> None:
    for bound in BOUNDS:
        seen: list[str] = []
        definitions = Statement(bound, Style()).definitions
        for name, tex in definitions:
            later = {n for n, _ in definitions} - {*seen}
            assert not [n for n in later if n.startswith("Q_") and n in tex], bound.id
            seen.append(name)


def test_named_functions_are_explained() -> None:
    bound = next(b for b in BOUNDS if any(getattr(p, "name", "") == "overlap" for p in b.expression.walk()))
    for name in ("latex", "html", "markdown"):
        assert "Expected overlap of the averages" in render(name, bound)
    assert "def overlap(n" in render("python", bound)


def test_errata_are_footnotes_until_there_are_many() -> None:
    said = {bound.id: len(Statement(bound, Style()).errata(grave=True)) for bound in BOUNDS}
    few = next(name for name, count in said.items() if count == 2)
    many = next(name for name, count in said.items() if count > 3)
    assert render("latex", get(few)).count(r"\footnote{") == 2
    assert r"\footnote{" not in render("latex", get(many))
    listed = render("latex", get(many)).partition("Printed otherwise")[2].partition(r"\end{enumerate}")[0]
    assert listed.count(r"\item ") == said[many]
    for erratum in get(few).noted:
        assert erratum.id in render("json", get(few))


# --------------------------------------------------------------------------------------------- as papers say it

PAPER = Style(notation="paper")


def test_no_letter_of_a_paper_has_an_index_that_nothing_binds() -> None:
    x = Statement(get("liu2026.x"), PAPER)
    assert x.terms["noise"] == r"\left(\sum_{i=1}^Kp_i^2\right) \sigma^{2}"
    meanings = {name: said for name, _, said in x.symbols}
    macros = Statement(get("liu2026.x"), Style(notation="paper", macros=True))
    assert macros.terms["noise"] == r"\left(\hflptwo\right) \hflsigma^{2}"
    assert meanings["sigma"].startswith(r"bound on the $\sigma_i$ of every client")
    # An index of a sum stays inside: what else has a lower-case index has that of time, or a name.
    for bound in BOUNDS:
        for name, tex in bound.source.paper.notation.items():
            assert not re.search(r"_\{?[ij]\b", re.sub(r"\\sum.*", "", tex)), (bound.id, name)


def test_a_hypothesis_does_not_say_that_a_letter_is_itself() -> None:
    for macros in (False, True):
        for bound in BOUNDS:
            said = Statement(bound, Style(notation="paper", macros=macros))
            back = {macro(name): tex for name, tex in said.plain.items()}
            for formula in re.findall(r"\$([^$]*)\$", " ".join(said.assumptions)):
                sides = [re.sub(r"\\hfl[A-Za-z]+", lambda m: back[m[0]], side) for side in formula.split("=")]  # noqa: B023
                assert len({side.replace(" ", "") for side in sides}) == len(sides), (bound.id, formula)
    falling = Statement(get("liu2026.lemma3"), PAPER).assumptions[1]
    assert falling.startswith(r"the learning rate $\eta_t$ does not grow, and $\eta_t\le2\eta_{t+E}$")


def test_letters_of_xie2024_are_right_in_all_its_statements() -> None:
    for bound in BOUNDS:
        if bound.source.paper.key == "xie2024":
            said = {name: (tex, words) for name, tex, words in Statement(bound, PAPER).symbols}
            assert said.get("A", ("A", ""))[0] == "A"
            if "grad" in said:
                tex, words = said["grad"]
                assert tex == r"\|\nabla F(w)\|"
                assert words.endswith("at the model that a sub-center began with")


@pytest.mark.parametrize(
    ("text", "tex"),
    [
        ("with beta mu + 1 it fails", r"with $\beta \mu + 1$ it fails"),
        ("depend on L^2 eta_eff^2; D.3", r"depend on $L^{2} \tilde\eta^{2}$; D.3"),
        ("beta^2 X (2x + 1)/((beta mu + 1)(x + 1)) > 0, and", None),
        ("iterate x(0)..x(R-1); not", r"iterate $x^{(0)},$ $\dots,$ $x^{(R-1)}$; not"),
        ("the dimension of 1/L, and", "the dimension of $1/L$, and"),
        ("mu <= L makes 1/mu idle", r"$\mu \le L$ makes $1/\mu$ idle"),
        ("sqrt(2)/(alpha N_j) stands", r"$\sqrt{2}/(\alpha N_j)$ stands"),
        ("has 4 (sigma_s^2 + 6R M/K sigma_g^2)", r"has $4 (\sigma_s^{2} + 6 R M/K \sigma_g^{2})$"),
    ],
)
def test_formulas_in_a_sentence_are_typeset(text: str, tex: str | None) -> None:
    shown = sentences.typeset(text)
    if tex is None:
        tex = r"$\beta^{2} X (2 x + 1)/((\beta \mu + 1) (x + 1)) > 0$, and"
    assert shown == tex
    assert sentences.typeset(shown) == shown


@pytest.mark.parametrize(
    "text",
    [
        "Lemma 2, A client of G groups in Table 6, Appendix D and E.1-E.3; (9) to (13) and 5/12",
        "sharma2025.beta-hs and hflbounds.sharp, see docs/theory/hsl-mixing.md, HFL or CA2FL; I/O of a star-ring",
        "an odd $ and L^2",
        "(" * 3000 + "words",
        "a formula $L^2$ of its own, and $\\eta_eff$",
        "eta_efff, alphabet, Gammax, beta's, foo_bar, L^2x, 3rd",
        "",
    ],
)
def test_words_in_a_sentence_stay_words(text: str) -> None:
    assert sentences.typeset(text) == text


def test_no_export_shows_a_name_of_the_vocabulary_as_it_is_typed() -> None:
    typed = re.compile(r"\b(?:eta_eff|beta_lr|sigma_[sg]|eta_hat|zeta_max|[bn]_[sh]{1,2}|L\^2)\b")
    for bound in BOUNDS:
        text = re.sub(r"(?s)\$\$.*?\$\$", "", shown("markdown", bound.id).replace("\\", ""))
        text = re.sub(r"\$[^$]*\$|`[^`]*`", "", text)
        assert not typed.search(text), (bound.id, typed.search(text))


def test_a_part_that_is_an_entry_of_its_own_has_the_letter_of_that() -> None:
    names = dict(Statement(get("sharma2025.thm4-4"), Style()).definitions)
    assert list(names) == [r"\beta_{hs}", r"\beta_{sh}", r"\beta_{hh}", r"\beta", r"\kappa"]
    assert names[r"\beta"] == r"\beta_{hs} \beta_{hh} \beta_{sh}"
    assert names[r"\beta_{hs}"] == Statement(get("sharma2025.beta-hs"), Style()).terms["factor"]
    mean = Statement(get("sharma2025.kappa"), Style())
    assert mean.terms["hubs_to_spokes"] == r"\frac{\beta_{hs} \beta_{hh} \beta_{sh}}{n_s}"
    unnamed = [b.id for b in BOUNDS if b.id.startswith("sharma2025") and "Q_" in render("latex", b)]
    assert unnamed == ["sharma2025.beta-hh"]  # a part of the letter's own definition
    # Where the letter means something else, as in HHFL, it is left to that.
    assert r"\beta_{hs}" not in render("latex", get("liu2026.thm1"))


def test_meanings_speak_of_one_paper() -> None:
    for bound in BOUNDS:
        for style in (Style(), PAPER):
            for name, _, said in Statement(bound, style).symbols:
                mentions = re.findall(r"HGA-FL|HHFL|HSL|Epidemic|EL-", said)
                assert not mentions, (bound.id, name, said)
                if style is PAPER or bound.source.paper.key == "hflbounds":
                    assert "the paper's" not in said, (bound.id, name)
    said = {name: words for name, _, words in Statement(get("koloskova2020.fedavg"), Style()).symbols}
    assert said["M"] == "clients in all"
    said = {name: words for name, _, words in Statement(get("xie2024.thm1"), Style()).symbols}
    assert (said["M"], said["T"]) == ("sub-centers", "global steps")


# --------------------------------------------------------------------------------------------- documents


def test_an_equation_alone() -> None:
    for bound in BOUNDS:
        for style in (Style(bare=True), Style(bare=True, aligned=True)):
            text = render("latex", bound, style)
            lines = [line for line in text.splitlines() if not line.startswith("%")]
            assert lines[0] == rf"\begin{{equation}}\label{{eq:{bound.id}}}"
            assert lines[-1] == r"\end{equation}"
            assert all(line.strip() for line in lines)
            assert text.count(r"\begin{equation}") == 1
            said = Statement(bound, style)
            for _, tex in said.definitions:
                assert tex.partition(" + ")[0] in text
            for tex in said.conditions:
                assert tex in text
            for words in ("emph", "footnote", "cite", "paragraph"):
                assert words not in text
    with pytest.raises(FormatError, match="leave out one"):
        render("latex", RING, Style(bare=True, standalone=True))


def test_a_part_says_what_it_needs_and_has_paragraphs() -> None:
    text = render("latex", RING, Style(values=FLEET))
    assert text.startswith("% Needs \\usepackage{amsmath,amssymb}.\n")
    for begin in ("At $G = 10$", r"\emph{Letters.}", r"\emph{Hypotheses.}", r"\emph{Bounded:}"):
        assert f"\n\n{begin}" in text
    whole = render("latex", RING, Style(standalone=True))
    assert "% Needs" not in whole
    assert r"\IfFileExists{lmodern.sty}{\usepackage{lmodern}}{}" in whole  # a minimal TeX has none
    everything = shown("latex")
    first, _, rest = everything.partition("\n")
    accents = re.search("[^\\x00-\\x7f]", rest) or r"\textquotedbl" in rest
    assert ("fontenc" in first) == bool(accents)


def test_a_whole_document_has_what_it_cites() -> None:
    text = shown("latex", standalone=True)
    cited, items = set(re.findall(r"\\cite\{(.*?)\}", text)), re.findall(r"\\bibitem\{(.*?)\}", text)
    assert cited == {*items}
    numbers = dict(re.findall(r"\\@namedef\{b@(.*?)\}\{(\d+)\}", text))
    assert numbers == {key: str(i) for i, key in enumerate(items, 1)}
    assert "not read" not in text.partition("thebibliography")[2]


def test_factors_above_and_below_are_left_out() -> None:
    """D10: S_1 P - 1, and no fraction of products; the value stays, as the reader of the catalogue's tests says."""
    formula = S1 * P * S2 * K / (S2 * K) - 1
    assert latex(formula) == "S_1 P - 1"
    assert latex(S2 * K / (S2 * G)) == r"\frac{S_2 K}{S_2 G}"  # a fraction that stays one stays as it is printed
    assert latex(G * M / G) == "M"
    assert latex(M**2 / M) == r"\frac{M^{2}}{M}"  # nor is a power one of the factors
    for bound in BOUNDS:
        assert r"\frac{S_1 P S_2 K}{S_2 K}" not in bound.latex()


def test_numbered_constants_come_first_and_other_names_stay() -> None:
    names = {1 / (1 - L): "c_1", 1 - L: "Z"}
    assert latex(5 * G**2 * M * (1 / (1 - L)), {1 / (1 - L): "c_1"}) == "5 c_1 G^{2} M"
    assert latex(5 * G**2 * (1 - L) * M, {1 - L: "Z"}) == "5 G^{2} Z M"
    assert latex(sqrt(M) * (1 / (1 - L)), names) == r"c_1 \sqrt{M}"


def test_powers_that_are_no_square_roots_have_exponents() -> None:
    assert latex(power(G * M**2, Fraction(1, 3))) == r"\left(G M^{2}\right)^{1/3}"
    assert latex(power(G, Fraction(2, 3))) == latex(power(G**2, Fraction(1, 3))) == "G^{2/3}"
    assert latex(power(G, Fraction(3, 2))) == "G^{3/2}"
    assert not [b.id for b in BOUNDS if r"\sqrt[" in shown("latex", b.id)]


def test_roots_come_last_in_a_product() -> None:
    assert latex(1 / (sqrt(60) * L)) == r"\frac{1}{L \sqrt{60}}"
    assert latex(1 / sqrt(60 * L)) == r"\frac{1}{\sqrt{60 L}}"
    assert latex(8 * sqrt(A) * L) == r"8 L \sqrt{A}"
    for bound in BOUNDS:
        said = Statement(bound, Style())
        for tex in (*said.terms.values(), *said.conditions):
            assert not re.search(r"\\sqrt\{[^{}]*\} [A-Za-z\\](?!cdot|le|ge|right|sqrt)", tex.replace(" <", "")), tex


def test_json_reads_a_whole_document() -> None:
    text = shown("json")
    found = json_format.read(text)
    assert list(found) == [b.id for b in BOUNDS]
    few = {**json.loads(text), "bounds": json.loads(text)["bounds"][:3]}
    for source in (few, json.dumps(few).encode()):
        assert [*json_format.read(source).items()] == [*found.items()][:3]
    for bound in BOUNDS:
        held = found[bound.id]
        assert dict(held.terms) == dict(bound.terms)
        assert dict(held.where) == dict(bound.where)
        assert dict(held.defaults) == dict(bound.defaults)
        assert held.requires == bound.requires
        assert (held.chain, held.common_cap) == (bound.chain, bound.common_cap)
        assert held.data["title"] == bound.title
    numbers = json_format.read(render("json", RING, Style(values=FLEET)))[RING.id].values
    assert numbers == {name: FLEET[name] for name in RING.needs}
    assert json_format.read(json.dumps(json_format.expression(L / 2))) is L / 2


@pytest.mark.parametrize(
    "document",
    [
        {"schema": "hfl-plan/bounds/2", "bounds": []},
        {"schema": json_format.SCHEMA},
        {"schema": json_format.SCHEMA, "bounds": [{}]},
        {"schema": json_format.SCHEMA, "bounds": ["x"]},
        {
            "schema": json_format.SCHEMA,
            "bounds": [{"id": "x", "terms": [{"name": "x", "expression": {"symbol": "os"}}]}],
        },
        "{",
        b"\xff",
        "[" * 100_000,
    ],
    ids=lambda document: str(document)[:40],
)
def test_json_refuses_other_documents(document: Any) -> None:
    with pytest.raises(FormatError):
        json_format.read(document)


@pytest.mark.parametrize(
    "change", [{"Ge": 600}, {"Ge": 10**6}, {"Ge": 10**400}, {"H": 1e300}, {"eta": 1e-320, "H": 1e308}]
)
def test_exported_python_raises_value_error_beyond_floats(change: dict[str, float]) -> None:
    function = exported(get("liu2026.lemma3"))["liu2026_lemma3"]
    point = {"E": 3, "Ge": 2, "H": 1, "eta": 0.1}
    assert function(**point) == pytest.approx(get("liu2026.lemma3")(**point), rel=1e-14)
    with pytest.raises(ValueError, match="beyond"):
        function(**point | change)


def test_exported_python_raises_value_error_where_it_would_divide_by_nothing() -> None:
    function = exported(RING)["zhou2026_thm1_star_ring"]
    with pytest.raises(ValueError, match="beyond the range of floats"):
        function(**FLEET | {"eta_eff": 1e-320})


def test_entries_are_for_readers() -> None:
    entries = dict(re.findall(r"(?ms)^@\w+\{([\w:.-]+),\n(.*?)^\}$", shown("bibtex")))
    for words in ("not read", "text copy", "attributed"):
        assert words not in " ".join(entries.values())
    assert not re.search(r"\.\.", "".join(re.findall(r"\\bibitem.*", shown("latex", standalone=True))))
    assert "A. Sharma" not in entries["sharma2025"] and "Sharma, A. and Herath, K." in entries["sharma2025"]
    assert "Xie, W. and Xiong, R. and Luo, J." in entries["xie2024"]
    for key in ("liu2026", "sharma2025"):
        assert re.search(r"howpublished = \{arXiv:\d{4}\.\d{5}\}", entries[key])
    assert "author = {Haiyun Liu and Jiahao Xue and Jie Xu and Yao Liu and Zhuo Lu}" in entries["liu2026"]
    assert "volume = {22},\n  number = {1},\n  pages = {2--18}" in entries["liu2022"]
    assert "author = {{Anonymous authors}}" in entries["zhou2025"]
    papers = {b.source.paper.citation: b.source.paper for b in BOUNDS}
    for key, names in bibtex.AUTHORS.items():
        short = re.findall(r"[A-Z]\w+", papers[key].authors)
        assert all(name in names for name in short), key
        assert (
            "others" in bibtex.entry(papers[key])
            or names.count(" and ") + 1 == len(short)
            or "et al" in papers[key].authors
        )


def test_import_of_the_package_does_not_import_formats() -> None:
    code = "import sys, hflbounds; print([m for m in sys.modules if m.startswith('hflbounds.export')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
