"""Exports: every bound through every printer, read back where a format is for programs, and hostile words."""

from __future__ import annotations

import ast
import dataclasses
import html.parser
import itertools
import json
import math
import re
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from test_catalogue import read_latex

from hflbounds import catalogue, get, quantities
from hflbounds.assumptions import Assumption
from hflbounds.audit import draw
from hflbounds.bound import Bound, Erratum, Paper
from hflbounds.errors import ConditionError, DomainError, FormatError
from hflbounds.expression import Expr, Symbol, choice, maximum, power, raised, special, sqrt
from hflbounds.formats import Statement, Style, _tex, _text, formats, render, takes
from hflbounds.formats import json as json_format
from hflbounds.formats._statement import letter, macro, number
from hflbounds.formats.python import function_name
from hflbounds.quantities import ABOUT, A, G, L, M, P, p2, sigma
from hflbounds.typesetting import in_a_sum, latex

BOUNDS = tuple(catalogue().values())
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
    return tuple(getattr(quantities, name) for name in ABOUT)


# --------------------------------------------------------------------------------------------- every bound


@pytest.mark.parametrize("name", formats())
def test_every_bound_goes_through_every_format(name: str) -> None:
    for style in (Style(), Style(notation="paper", aligned=True, standalone=True), Style(macros=True)):
        text = render(name, BOUNDS, style)
        assert text.endswith("\n")
        if name != "bibtex":
            ids = function_name if name == "python" else (lambda bound: bound.id)
            assert all(ids(bound) in text for bound in BOUNDS)


def test_there_are_the_formats_that_are_promised() -> None:
    assert {*formats()} == {"latex", "markdown", "html", "json", "python", "bibtex", "mathtext"}
    assert {option for name in formats() for option in takes(name)} == {f.name for f in dataclasses.fields(Style)}
    with pytest.raises(FormatError, match="'word' is not one of bibtex"):
        render("word", RING)


def test_all_mathematics_of_the_catalogue_is_read() -> None:
    """MathML, plain text, mathtext and the breaking of lines stand on the reader."""
    for bound in BOUNDS:
        assert _tex.mathematics(bound.latex()) is not None, bound.id
        texts = [*(a.statement for a in bound.assumes), bound.source.place, bound.title]
        texts += [side for e in bound.errata for side in (e.printed, e.proved, e.because) if isinstance(side, str)]
        for text in texts:
            for part in re.findall(r"\$([^$]*)\$", text):
                assert _tex.mathematics(part) is not None, (bound.id, part)


def test_latex_balances_and_names_every_quantity() -> None:
    for bound in BOUNDS:
        for style in (Style(), Style(aligned=True), Style(standalone=True)):
            text = render("latex", bound, style)
            bare = re.sub(r"\\[{}%]", "", text)
            assert bare.count("{") == bare.count("}"), bound.id
            assert text.count(r"\begin{") == text.count(r"\end{")
            assert len(re.findall(r"\\left\b", text)) == len(re.findall(r"\\right\b", text))
            for name in bound.needs:
                assert f"${ABOUT[name].latex}$: " in text, (bound.id, name)


def test_macros_are_one_for_each_quantity_and_all_declared() -> None:
    assert len({macro(name) for name in ABOUT}) == len(ABOUT)
    text = render("latex", BOUNDS, Style(macros=True))
    declared = set(re.findall(r"\\providecommand\{(\\hfl[A-Za-z]+)\}", text))
    assert set(re.findall(r"\\hfl[A-Za-z]+", text)) == declared
    # A letter is only the macro's: between the lines of declarations and the references none is left.
    body = render("latex", RING, Style(macros=True)).split(r"\paragraph")[1]
    assert r"\sigma" not in re.sub(r"\\hfl\w+", "", body)


def test_each_paper_has_one_entry() -> None:
    entries = re.findall(r"^@(\w+)\{([\w:.-]+),$", render("bibtex", BOUNDS), flags=re.MULTILINE)
    assert [key for _, key in entries] == list(dict.fromkeys(b.source.paper.key for b in BOUNDS))
    text = render("bibtex", RING)
    assert "author = {Zhou and Li and Lyu}," in text
    assert "title = {{Unified Analyses" in text
    assert "year = {2026}," in text


# --------------------------------------------------------------------------------------------- values come back


def points_of(bound: Bound, count: int = 3) -> list[dict[str, float]]:
    drawn = draw(bound, 40)
    each = [{n: float(np.broadcast_to(v, (40,))[i]) for n, v in drawn.items()} for i in range(40)]
    good = [point for point in each if bound.applies(**point)]
    return good[:count]


def test_exported_python_says_what_the_bounds_say_in_time() -> None:
    """The whole catalogue, in an interpreter without this package, together with LaTeX, in under ten seconds."""
    began = time.perf_counter()
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
    assert time.perf_counter() - began < 10


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
    document = json.loads(render("json", BOUNDS))
    assert document["schema"] == "hfl-plan/bounds/1"
    assert len(document["bounds"]) == len(BOUNDS)
    for bound, data in zip(BOUNDS, document["bounds"], strict=True):
        assert [t["name"] for t in data["terms"]] == list(bound.terms)
        for term, tree in zip(bound.terms.values(), data["terms"], strict=True):
            assert json_format.read(tree["expression"]) is term
        for part, tree in zip(bound.where.values(), data["where"], strict=True):
            assert json_format.read(tree["expression"]) is part
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
        {"choice": [{"symbol": "L"}] * 4, "sign": "=="},
        {"choice": [{"symbol": "L"}] * 3, "sign": "<="},
        {"function": "eval", "arguments": [{"symbol": "L"}]},
        {"sum": [{"symbol": "L"}] * 30_000},
    ],
    ids=lambda tree: str(tree)[:40],
)
def test_json_refuses_everything_else(tree: Any) -> None:
    with pytest.raises(FormatError):
        json_format.read(tree)


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
    assert r"\frac{1}{\sqrt{60} \cdot 1}" in text
    assert Statement(RING, Style(values={"L": 1})).value is None


def test_numbers_are_checked_as_in_a_call() -> None:
    with pytest.raises(ConditionError, match=r"0\.5"):
        render("latex", RING, Style(values=FLEET | {"eta_eff": 0.5}))
    with pytest.raises(DomainError, match="G"):
        RING.latex(values={"G": 0})
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
    assert r"$\delta$: INTRA-group" in text
    assert r"$\zeta$: INTER-group" in text
    assert r"\le\delta^2$ for all $x$, as the average over groups" in text  # hypotheses change their letters too
    assert r"\frac1{NM}" in text
    assert r"\mathbb{E}" in text
    assert bound.latex() != bound.latex(notation="paper")
    assert bound.latex() == RING.latex()


def test_letters_of_ones_own() -> None:
    text = render("latex", RING, Style(letters={"sigma": r"\hat s_{1}", "eta_eff": "\\input{/etc/hostname}"}))
    assert r"\hat s_{1}^{2}" in text
    assert r"\mathrm{inputetchostname}" in text
    assert r"\input" not in text
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
        ("step size", r"\mathrm{stepsize}"),
        (r"x+y", r"\mathrm{xy}"),
        (r"x^2", r"\mathrm{x2}"),
        (r"\csname input\endcsname", r"\mathrm{csnameinputendcsname}"),
        ("$$", r"\sigma"),
        ("\\" * 100, r"\sigma"),
    ],
)
def test_what_is_a_letter(asked: str, tex: str) -> None:
    assert letter(asked, "sigma") == tex


def test_labels() -> None:
    assert r"\label{eq:zhou2026.thm1.star-ring}" in render("latex", RING)
    assert r"\label{eq:mine}" in render("latex", RING, Style(label="eq:mine"))
    assert r"\label{inputx}" in render("latex", RING, Style(label=r"}\input{x"))
    with pytest.raises(FormatError, match="2 equations"):
        render("latex", BOUNDS[:2], Style(label="eq:mine"))
    labels = re.findall(r"\\label\{([^}]*)\}", render("latex", BOUNDS))
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
    for escape in (_text.latex, _text.bibtex, _text.html, _text.markdown, _text.line):
        assert "\n" not in escape(text)
        assert "\r" not in escape(text)
    shown = _text.sentence(text, _text.latex, lambda tex: f"${tex}$")
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
    assert _tex.unicode(tex) == text


@pytest.mark.parametrize(
    "tex",
    [r"\input{x}", r"\frac{1}", "{", "}", r"\left( x", "x_1_2", r"\begin{document}", "a % b", "x # y", "{" * 200, "$"],
)
def test_what_is_not_ours_is_not_read(tex: str) -> None:
    assert _tex.mathematics(tex) is None
    assert _tex.unicode(tex) == tex
    ET.fromstring(_tex.mathml(tex))  # noqa: S314 - our own


def test_terms_too_long_for_a_line_are_split_and_named() -> None:
    for bound in BOUNDS:
        for style in (Style(), Style(aligned=True)):
            said = Statement(bound, style)
            assert all(_tex.width(line) < 75 for line in said.lines()), bound.id
            assert all(_tex.width(line) < 75 for _, lines in said.definition_lines() for line in lines), bound.id


def test_definitions_come_before_their_use() -> None:
    for bound in BOUNDS:
        seen: list[str] = []
        for name, tex in Statement(bound, Style()).definitions:
            later = {n for n, _ in Statement(bound, Style()).definitions} - {*seen}
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
    assert f"({said[many]}) " in render("latex", get(many)).partition("Printed otherwise")[2]
    for erratum in get(few).noted:
        assert erratum.id in render("json", get(few))


def test_import_of_the_package_does_not_import_formats() -> None:
    code = "import sys, hflbounds; print([m for m in sys.modules if m.startswith('hflbounds.formats')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
