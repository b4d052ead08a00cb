"""``hfl-plan bounds`` as a user meets it: what it answers, what it refuses, what it writes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from documents import own
from test_cli import loaded_by_all, run

from hflbounds import catalogue, get
from hflbounds.audit import checks as audit
from hflbounds.core.bound import Bound
from hflbounds.core.quantities import ABOUT
from hflbounds.errors import MissingExtraError
from hflbounds.export import Style, formats, render
from hflbounds.extras import install
from planner import bounds
from planner.report.answers import bound_options, bounds_check
from planner.report.render import formats as document_formats

RING = "zhou2026.thm1.star-ring"
FLEET = {"G": 10, "M": 10, "P": 1, "K": 2, "R": 5000, "L": 1, "A": 2.3, "sigma": 1, "zeta": 0.5, "delta": 0.5}
SET = [word for name, value in FLEET.items() for word in ("--set", f"{name}={value}")]


@pytest.fixture
def plan(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    return lambda *words: run("bounds", *words, capsys=capsys, monkeypatch=monkeypatch)


# --------------------------------------------------------------------------------------------- list


def test_list_names_every_bound(plan) -> None:
    code, out, err = plan("list")
    assert (code, err) == (0, "")
    assert len(out.splitlines()) <= 25
    lines = plan("list", "--explain", "rows")[1].splitlines()[3:]
    rows = [line for line in lines if re.match(r"  [a-z]", line)]  # long quantities go on below
    assert [row.split()[0] for row in rows] == list(catalogue())
    assert all(get(row.split()[0]).status == row.split()[1] for row in rows)


@pytest.mark.parametrize(
    ("words", "fits"),
    [
        (["--paper", "zhou2026"], lambda b: b.id.startswith("zhou2026.")),
        (["--status", "own"], lambda b: b.status == "own"),
        (["--metric", "mean-squared-gradient"], lambda b: b.bounds.id == "mean-squared-gradient"),
        (["--status", "lower"], lambda b: b.status == "lower"),
        (["--paper", "hflbounds", "--status", "own"], lambda b: b.id.startswith("hflbounds.") and not b.is_lower),
    ],
)
def test_list_filters(plan, words: list[str], fits) -> None:
    code, out, err = plan("list", *words, "--json")
    assert (code, err) == (0, "")
    document = json.loads(out)
    assert document["schema"] == "hfl-plan/bounds-list/2"
    assert [entry["id"] for entry in document["rows"]] == [b.id for b in catalogue().values() if fits(b)]


def test_a_list_of_all_bounds_says_where_to_begin(plan) -> None:
    """It had the first fifteen of the catalogue, and none of them is what a fleet is ranked by."""
    first = " ".join(plan("list")[1].partition("  id")[0].split())
    words = re.search(r"Begin with (--search [a-z.]+) for numbers", first)[1].split()
    found = [row["id"] for row in json.loads(plan("list", *words, "--json")[1])["rows"]]
    assert "hflbounds.exact.star-star" in found and len(found) == 12  # four topologies; fixed, random, partial
    assert "Begin" not in plan("list", *words)[1]


@pytest.mark.parametrize("words", ["ring-star", "star-star", "hflbounds.sharp", "lower"])
def test_a_list_fits_a_page_and_says_what_its_words_mean(plan, words: str) -> None:
    """Long ids put a row on two lines, 38 bounds of Ring-Star had none to begin with, *own* was not explained."""
    page = plan("list", "--search", words)[1]
    assert len(page.splitlines()) <= 25 and max(map(len, page.splitlines())) <= 80
    rows = [line.split() for line in page.splitlines() if re.match(r"  [a-z][a-z0-9]*\.", line)]
    status = " ".join(page.partition("\nStatus")[2].partition("\nNext")[0].split())
    assert rows and all(f"{row[1]}: " in status for row in rows)
    assert ("hidden: " in status) == any(row[2] == "hidden" for row in rows)
    if words == "ring-star":
        begin = (
            "Begin with hflbounds.exact.ring-star for numbers (exact sums) and hflbounds.sharp.ring-star for a paper"
        )
        assert begin in " ".join(page.split())


def test_what_a_bound_does_not_need_is_said_apart(plan) -> None:
    """`Needs not convexity, smooth losses` read as if neither was needed."""
    page = " ".join(plan("show", "hflbounds.sharp.ring-star")[1].split())
    assert "Needs smooth losses, noise" in page and "fixed order; no convexity" in page
    assert "explicit constants: hflbounds.exact" in page


@pytest.mark.parametrize(
    ("words", "fits"),
    [
        ("zeta PARTIAL", lambda b: "zeta" in b.needs and any("partial" in a.id for a in b.assumes)),
        ("'theorem 2' star-ring", lambda b: "Theorem 2" in b.source.place and b.topology == "star-ring"),
        ("K_buf", lambda b: "K_buf" in b.needs),
        ("hubs", lambda b: b.source.paper.key == "sharma2025" or "hubs" in str(b.assumes).casefold()),
    ],
)
def test_list_searches_for_bounds_that_have_every_word(plan, words: str, fits) -> None:
    code, out, err = plan("list", "--search", words, "--json")
    assert (code, err) == (0, "")
    found = {entry["id"] for entry in json.loads(out)["rows"]}
    wanted = {b.id for b in catalogue().values() if fits(b)}
    assert wanted
    assert wanted <= found < set(catalogue())
    if words.startswith("K"):  # no other text has it
        assert found == wanted
    _, narrower, _ = plan("list", "--search", f"{words} order", "--json")
    assert not narrower or {entry["id"] for entry in json.loads(narrower)["rows"]} <= found


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("zetta partial", "did you mean zeta"),
        ("zzqx", "stands in no bound"),
        ("K_buf n_h", "Each word occurs, but not all of them together"),
    ],
)
def test_a_search_that_finds_nothing_says_what_to_search_for(plan, words: str, said: str) -> None:
    code, out, err = plan("list", "--search", words)
    assert (code, out) == (1, "")
    assert said in err
    assert len(err.strip().splitlines()) <= 2


def test_python_lists_and_searches_as_the_command_does(plan) -> None:
    import hflbounds

    assert hflbounds.list() == hflbounds.search() == tuple(catalogue().values())
    _, out, _ = plan("list", "--search", "zeta partial", "--paper", "zhou2026", "--json")
    assert [e["id"] for e in json.loads(out)["rows"]] == [
        b.id for b in hflbounds.search("zeta partial", paper="zhou2026")
    ]


@pytest.mark.parametrize(
    "words", [["list", "--paper", "liu2026"], ["show", RING, *SET], ["show", RING], ["check", RING]]
)
def test_every_format_answers(plan, words: list[str]) -> None:
    found = {form: plan(*words, "--format", form) for form in document_formats()}
    assert {(code, err) for code, _, err in found.values()} == {(0, "")}
    assert found["table"] == plan(*words)
    asked = [json.loads(one)["command"] for one in (found["json"][1], plan(*words, "--json")[1])]
    assert [one[-2:] for one in asked] == [["--format", "json"], [words[-1], "--json"]]
    assert len({out for _, out, _ in found.values()}) == len(found)
    rows = json.loads(found["json"][1])
    count = len(get(RING).terms if words[0] == "show" else rows["rows"])
    assert len(found["csv"][1].splitlines()) == 1 + count
    latex = [line for line in found["latex"][1].splitlines() if not line.startswith("%")]
    assert not re.search("[^\x00-\x7f]", "\n".join(latex))  # formulas are LaTeX, which any engine reads


# --------------------------------------------------------------------------------------------- show


@pytest.mark.parametrize("bound", catalogue().values(), ids=lambda b: b.id)
def test_show_shows_every_bound(bound: Bound) -> None:
    answer = bounds.show(bound.id)
    page, out = str(answer), answer.explain()
    assert page.startswith(f"{bound.id}\n")
    assert max(map(len, page.splitlines())) <= 80
    assert len(page.splitlines()) <= 27
    assert bound.source.paper.authors in " ".join(page.split())
    assert ("constants explicit" in " ".join(page.split())) == (bound.constants == "explicit")
    for name in bound.needs:
        assert re.search(rf"^  {re.escape(name)} ", out, flags=re.MULTILINE), name
    for term in bound.terms:
        assert term.replace("_", " ") in page
    assert not re.search(r"[\\$]", page)  # readable: no LaTeX is left


def test_what_python_shows_is_the_page_of_the_command(plan) -> None:
    answer = bounds.show(RING)
    assert plan("show", RING) == (0, str(answer), "")
    assert plan("show", RING, "--explain") == (0, answer.explain(), "")


def test_show_gives_the_value_at_a_step(plan) -> None:
    _, out, _ = plan("show", RING, *SET, "--set", "eta_eff=0.04")
    assert "fixed order, full participation: 0.01258, up to a factor that is not" in out
    assert re.search(r"A/\(η̃ R\) +start +0\.0115$", out, flags=re.MULTILINE)


def test_show_takes_the_best_step_where_none_is_given(plan) -> None:
    _, out, _ = plan("show", RING, *SET, "--json")
    document = own(out)
    best = get(RING).tuned(**FLEET)
    assert document["schema"] == "hfl-plan/bounds-show/2"
    assert document["value"] == pytest.approx(best.value, rel=1e-12)
    assert document["tuned"] == {"eta_eff": best.eta_eff, "eta": best.eta, "cap_binds": False}
    assert sum(document["term_values"].values()) == pytest.approx(best.value, rel=1e-12)
    assert document["why"] is None


def test_show_gives_the_logarithm_beyond_float64(plan) -> None:
    bound = next(b for b in catalogue().values() if b.overflows and "Ge" in b.needs)
    points = audit.draw(bound, 1)
    values = {n: float(v[0]) for n, v in points.items()} | {"Ge": 700, "E": 2, "H": 1}
    words = [word for name, value in values.items() for word in ("--set", f"{name}={value!r}")]
    code, out, err = plan("show", bound.id, *words, "--json")
    assert (code, err) == (0, "")
    document = own(out)
    assert document["value"] is None
    assert document["log10"] == pytest.approx(bound.log10(**values))
    assert "beyond float64" in document["why"]
    _, text, _ = plan("show", bound.id, *words)
    assert ": beyond float64, 10^" in " ".join(text.split())


def test_show_of_an_infinite_value_says_that_it_is_beyond(plan) -> None:
    words = [*SET, "--set", "eta_eff=1e-320"]
    code, out, err = plan("show", RING, *words)
    assert (code, err) == (0, "")
    assert ": beyond float64, 10^316.66" in " ".join(out.split())  # 2.3/(5000 1e-320)
    assert "inf" not in out.partition("Bounded")[0]
    _, out, _ = plan("show", RING, *words, "--json")
    document = own(out)
    assert (document["value"], document["term_values"]) == (None, None)
    assert document["log10"] == pytest.approx(316.6627, abs=1e-3)
    assert "beyond float64" in document["why"]


def test_show_speaks_the_papers_letters(plan) -> None:
    bound = next(b for b in catalogue().values() if b.source.paper.notation.keys() & {*b.needs})
    _, common, _ = plan("show", bound.id)
    _, own, _ = plan("show", bound.id, "--notation", "paper")
    assert common != own


# --------------------------------------------------------------------------------------------- compare

OTHER = "zhou2026.thm1.ring-star"
SMALL = [w for n, v in {"G": 3, "M": 25, "P": 1, "K": 5, "delta": 0.5}.items() for w in ("--set", f"{n}={v}")]
ALL = [*SMALL, *(w for n, v in {"R": 1000, "L": 1, "A": 2.3, "sigma": 1}.items() for w in ("--set", f"{n}={v}"))]


def test_compare_gives_the_condition_of_the_mock_up(plan) -> None:
    code, out, err = plan("compare", RING, OTHER, "--over", "zeta", *SMALL)
    assert (code, err) == (0, "")
    verdict = f"{RING} is smaller exactly where zeta < 0.13784 σ, whatever R, L, A and the step."
    assert " ".join(out.split()).startswith(verdict)
    assert "factor that the sources do not state" in " ".join(out.split())


def test_compare_says_which_numbers_are_missing_for_an_order_along_a_quantity(plan) -> None:
    words = ["compare", "hflbounds.exact.ring-ring", "hflbounds.sharp.ring-ring"]
    code, out, err = plan(*words, "--x", "zeta", *SMALL)
    assert (code, err) == (0, "")
    assert "The order along zeta by numbers also needs R, L, A and sigma." in " ".join(out.split())
    assert own(plan(*words, "--over", "zeta", *SMALL, "--json")[1])["lacking"] == ["R", "L", "A", "sigma"]
    assert "also needs" not in plan(*words, *SMALL)[1]


def test_cells_of_a_table_without_a_number_have_their_reason(plan) -> None:
    along = ["compare", RING, OTHER, "--over", "eta_eff", "--range", "0.01:10"]
    said = "Without a number: the conditions of the bound do not hold there"
    assert said in plan(*along, *ALL, "--set", "zeta=1")[1]
    assert said not in plan("compare", RING, OTHER, "--over", "zeta", *ALL)[1]


def test_a_condition_that_fails_is_written_once(plan) -> None:
    values = [*ALL, "--set", "zeta=1", "--set", "eta_eff=5"]
    code, _, err = plan("show", "hflbounds.exact.ring-ring", *values)
    assert code == 1
    assert err.count("sine(") == 1
    assert "but eta_eff = 5 and the right-hand side = 0.8" in err


def test_compare_gives_crossings_and_values_where_all_numbers_are_given(plan) -> None:
    code, out, err = plan("compare", RING, OTHER, "--over", "zeta", *ALL, "--json")
    assert (code, err) == (0, "")
    document = own(out)
    assert document["schema"] == "hfl-plan/bounds-compare/2"
    assert document["crossings"] == pytest.approx([(19 / 1000) ** 0.5], rel=1e-12)
    assert [part["smaller"] for part in document["stretches"]] == ["first", "second"]
    values = {word.split("=")[0]: float(word.split("=")[1]) for word in ALL if "=" in word}
    for row in document["rows"]:
        for id_, name in ((RING, "first"), (OTHER, "second")):
            assert row[name] == pytest.approx(get(id_).tuned(**values, zeta=row["id"]).value, rel=1e-12)
    _, at_step, _ = plan("compare", RING, OTHER, "--over", "zeta", *ALL, "--set", "eta_eff=0.05", "--json")
    assert own(at_step)["tuned"] is False


@pytest.mark.parametrize(
    "words", [["compare", RING, OTHER], ["compare", RING, OTHER, "--over", "zeta", *ALL]], ids=["condition", "numbers"]
)
def test_compare_answers_in_every_format(plan, words: list[str]) -> None:
    found = {form: plan(*words, "--format", form) for form in document_formats()}
    assert {(code, err) for code, _, err in found.values()} == {(0, "")}
    assert len({out for _, out, _ in found.values()}) == len(found)
    assert r"\sigma^{2}" in found["latex"][1] or r"\zeta < 0.13784" in found["latex"][1]
    rows = json.loads(found["json"][1])["rows"]
    assert len(found["csv"][1].splitlines()) == 1 + max(1, len(rows))


def test_plot_writes_a_picture_and_its_numbers(plan, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    words = ["plot", "zhou2026.thm1", "--x", "zeta", *ALL, "--json"]
    (file := tmp_path / "a.svg").write_text("old")
    code, out, err = plan(*words, "-o", str(file), "--force")  # other endings are in `test_pictures`
    assert (code, err) == (0, "")
    assert file.read_bytes().startswith(b"<?xml")
    document = own(out)
    assert document["bounds"] == [f"zhou2026.thm1.{t}" for t in ("star-star", "star-ring", "ring-star", "ring-ring")]
    crossed = {(c["first"], c["second"]): c["zeta"] for c in document["crossings"]}
    assert crossed[RING, OTHER] == pytest.approx((19 / 1000) ** 0.5, rel=1e-12)
    lines = (tmp_path / "a.csv").read_text().splitlines()
    assert lines[0] == "zeta,bound,value,crosses"
    code, _, err = plan(*words, "-o", str(tmp_path / "a.svg"))
    assert code == 2
    assert "--force" in err


def test_plot_without_matplotlib_says_what_to_install(plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    code, out, err = plan("plot", RING, "--x", "zeta", *ALL, "-o", str(tmp_path / "a.svg"))
    assert (code, out) == (1, "")
    assert install("plots") in err
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=re.escape(install("plots"))):
        get(RING).plot(x="zeta")
    assert not [*tmp_path.iterdir()]


# --------------------------------------------------------------------------------------------- export


@pytest.mark.parametrize("name", formats())
def test_export_prints_each_format(plan, name: str) -> None:
    code, out, err = plan("export", RING, "--format", name)
    assert (code, err) == (0, "")
    assert out == render(name, get(RING))


def test_json_is_short_for_its_format_in_exports_too(plan) -> None:
    assert plan("export", RING, "--json")[1] == render("json", get(RING))


def test_all_are_exported(plan) -> None:
    code, out, err = plan("export", "--all", "--format", "bibtex")
    assert (code, err) == (0, "")
    assert out == render("bibtex", catalogue().values())


def test_export_heeds_its_options(plan) -> None:
    words = ["--aligned", "--macros", "--standalone", "--notation", "paper", "--letter", "sigma=s", "--label", "eq:a"]
    _, out, _ = plan("export", RING, *words, "--set", "L=1")
    style = Style(
        aligned=True,
        macros=True,
        standalone=True,
        notation="paper",
        letters={"sigma": "s"},
        label="eq:a",
        values={"L": 1},
    )
    assert out == render("latex", get(RING), style)


def test_export_of_a_family_is_its_four(plan) -> None:
    _, out, _ = plan("export", "zhou2026.thm1", RING, "--format", "json")
    ids = [entry["id"] for entry in json.loads(out)["bounds"]]
    assert ids == [f"zhou2026.thm1.{t}" for t in ("star-star", "star-ring", "ring-star", "ring-ring")]


def test_export_writes_a_file_whole_or_not_at_all(plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.tex"
    assert plan("export", RING, "--output", str(file)) == (0, "", f"hfl-plan: wrote {file}\n")
    text = file.read_text(encoding="utf-8")
    assert text == render("latex", get(RING))
    code, out, err = plan("export", RING, "--output", str(file), "--format", "json")
    assert (code, out) == (2, "")
    assert "exists. Add --force" in err.replace("\n  help: ", ". ")
    assert file.read_text(encoding="utf-8") == text

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        code, out, err = plan("export", RING, "--output", str(file), "--force")
        assert (code, out) == (1, "")
        assert "No space left on device" in err
    assert file.read_text(encoding="utf-8") == text
    file.chmod(0o640)
    assert plan("export", RING, "--output", str(file), "--force", "--format", "json") == (
        0,
        "",
        f"hfl-plan: wrote {file}\n",
    )
    assert json.loads(file.read_text(encoding="utf-8"))["bounds"][0]["id"] == RING
    assert file.stat().st_mode & 0o777 == 0o640
    assert [path.name for path in tmp_path.iterdir()] == ["a.tex"]  # no part of anything is left


def test_export_to_what_is_no_file_is_refused(plan, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    (tmp_path / "file").write_text("x")
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "file")
    for where, said in (
        (tmp_path, "is a folder"),
        (tmp_path / "no" / "a.tex", "does not exist"),
        (tmp_path / "file" / "a.tex", "does not exist"),
        (Path("/dev/null"), "is not a regular file"),
        (pipe, "is not a regular file"),
        (link, "exists"),
    ):
        code, out, err = plan("export", RING, "--output", str(where), *(["--force"] if where != link else []))
        assert (code, out) == (2, ""), where
        assert said in err
    assert plan("export", RING, "--output", str(link), "--force") == (0, "", f"hfl-plan: wrote {link}\n")
    assert link.is_symlink()
    assert (tmp_path / "file").read_text() == render("latex", get(RING))
    code, _, err = plan("export", RING, "--output", str(tmp_path / ("x" * 400)))
    assert code == 1
    assert "cannot be written" in err


@pytest.mark.parametrize(
    ("suffix", "form"),
    [(".json", "json"), (".py", "python"), (".bib", "bibtex"), (".MD", "markdown"), (".html", "html"), ("", "latex")],
)
def test_the_suffix_of_an_export_decides_its_format(plan, tmp_path: Path, suffix: str, form: str) -> None:
    file = tmp_path / f"bounds{suffix}"
    assert plan("export", "zhou2026.thm1", "-o", str(file))[0] == 0
    assert file.read_text(encoding="utf-8") == plan("export", "zhou2026.thm1", "--format", form)[1]


def test_a_suffix_of_no_format_is_refused_with_those_there_are(plan, tmp_path: Path) -> None:
    other = str(tmp_path / "a.docx")
    code, _, err = plan("export", RING, "-o", other)
    assert (code, err[:11]) == (2, "error[E035]")
    assert all(suffix in err for suffix in (".tex", ".md", ".html", ".json", ".py", ".bib", ".txt"))
    assert plan("export", RING, "-o", other, "--format", "json")[0] == 0
    code, _, err = plan("export", "--tiers", "any", "-o", str(tmp_path / "a.json"))
    assert (code, ".json" in err.partition("end in")[2], ".md" in err) == (2, False, True)
    assert plan("export", "--tiers", "any", "-o", str(tmp_path / "a.txt"))[0] == 0
    assert (tmp_path / "a.txt").read_text() == plan("export", "--tiers", "any", "--format", "text")[1]


def test_export_says_what_it_wrote_unless_quiet(plan, tmp_path: Path) -> None:
    file = tmp_path / "b.tex"
    assert plan("export", RING, "-o", str(file)) == (0, "", f"hfl-plan: wrote {file}\n")
    assert plan("export", RING, "-o", str(file), "--force", "--quiet") == (0, "", "")


FREE = ("hflbounds.exact.star-ring", "--set=G=7", "--set=P=1", "--set=K=4", "--set=R=100", "--set=A=1", "--set=M=12")
CONSTANTS = tuple(f"--set={n}={x}" for n, x in {"L": 1, "sigma": 1, "zeta": 0.5, "delta": 2}.items())


def test_letters_that_are_chosen_stand_beside_the_step(plan) -> None:
    """The value is that of the bound at the step and the letter that the page names, and near letters give more."""
    out = " ".join(plan("show", *FREE, *CONSTANTS)[1].split())
    total = float(re.search(r"exact sums: ([\d.]+\d)", out)[1])
    step, lam = (float(re.search(rf"\b{name} = ([\d.]+)", out)[1]) for name in ("eta_eff", "lam"))
    point = {"G": 7, "M": 12, "P": 1, "K": 4, "R": 100, "A": 1, "L": 1, "sigma": 1, "zeta": 0.5, "delta": 2}
    bound = get(FREE[0])
    assert bound(**point, eta_eff=step, lam=lam) == pytest.approx(total, rel=1e-5)
    for other in (0.95 * lam, 1.05 * lam):
        assert bound(**point, eta_eff=step, lam=other) > total
    comment = plan("export", *FREE, *CONSTANTS, "--bare")[1].splitlines()[2]
    assert comment == f"% The right-hand side is {total:.6g}, least at eta_eff = {step:.6g}, lam = {lam:.6g}."
    for form in ("latex", "markdown"):  # in the document, where it was a comment that no page has
        shown = re.sub("[$]", "", plan("export", *FREE, *CONSTANTS, "--format", form)[1])
        [line] = [line for line in shown.splitlines() if "the right-hand side is" in line]
        assert not line.startswith("%")
        value = f"the right-hand side is {total:.6g}, least at \\tilde\\eta = {step:.6g}, \\lambda = {lam:.6g}"
        assert line.rstrip(".:").endswith(value)
    assert f">{total:.6g}<" in plan("export", *FREE, *CONSTANTS, "--format", "html")[1]
    given = plan("show", *FREE, *CONSTANTS, "--set", "eta_eff=0.1")[1]
    lam = float(re.search(r"\blam = ([\d.]+)", given)[1])
    assert all(
        bound(**point, eta_eff=0.1, lam=x) > bound(**point, eta_eff=0.1, lam=lam) for x in (0.9 * lam, 1.1 * lam)
    )
    assert "lam = " not in plan("show", *FREE, *CONSTANTS, "--set", "eta_eff=0.1", "--set", "lam=0.5")[1]


def test_conditions_that_numbers_decide_are_settled(plan) -> None:
    """In seven groups of one client there is no ring, which the first case of its formula says."""
    letters, settled = plan("export", FREE[0], "--bare")[1], plan("export", *FREE, "--bare")[1]
    assert letters.count("cases") == 6 and "cases" not in settled
    assert r"\left(1 - 1\right)" not in settled
    alone = plan("export", *FREE[:-1], "--set=M=1", "--bare")[1]
    assert r"\omega_2 = 0" in alone and r"\omega_1 = \varphi" in alone
    assert r"\lambda \le 1" in settled and r"\le 1" not in plan("export", *FREE, "--set", "lam=0.5", "--bare")[1]


def test_export_to_a_dash_is_to_standard_output(plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert plan("export", RING, "-o", "-") == (0, render("latex", get(RING)), "")
    assert not [*tmp_path.iterdir()]


def test_export_to_a_link_says_where_it_leads(plan, tmp_path: Path) -> None:
    away, new, loop = (tmp_path / name for name in ("away", "new", "loop"))
    away.symlink_to(tmp_path / "no" / "a.tex")
    new.symlink_to(tmp_path / "b.tex")
    loop.symlink_to(loop)
    code, _, err = plan("export", RING, "--output", str(away))
    assert code == 2
    there = f"a link to '{tmp_path}/no/a.tex', is in a folder that does not exist"
    assert err.endswith(f"{there}\n  help: Make it first.\n")
    assert plan("export", RING, "--output", str(new)) == (0, "", f"hfl-plan: wrote {new}\n")
    assert (tmp_path / "b.tex").read_text() == render("latex", get(RING))
    code, _, err = plan("export", RING, "--output", str(loop))
    assert code == 2
    assert "is a link to itself" in err


@pytest.mark.parametrize("tex", [r"\hat\sigma", r"\sigma_1", "s"])
def test_export_takes_a_letter_of_ones_own(plan, tex: str) -> None:
    code, out, err = plan("export", RING, "--letter", f"sigma={tex}", "--bare")
    assert (code, err) == (0, "")
    assert f"{tex}^{{2}}" in out
    assert out == render("latex", get(RING), Style(letters={"sigma": tex}, bare=True))


# --------------------------------------------------------------------------------------------- check


def test_check_says_what_the_audit_says(plan) -> None:
    code, out, err = plan("check", RING, "--json")
    assert (code, err) == (0, "")
    document = own(out)
    found = list(audit.audit([get(RING)]))
    assert document["schema"] == "hfl-plan/bounds-check/2"
    assert document["failed"] == 0
    assert [(v["subject"], v["check"], v["facts"]) for v in document["rows"]] == [
        (v.subject, v.check, v.facts) for v in found
    ]
    code, out, _ = plan("check", RING)
    assert code == 0
    assert f"{len(found)} checks of 1 bound, all passed." in out


def test_check_of_a_bound_that_fails_is_exit_1(plan, monkeypatch: pytest.MonkeyPatch) -> None:
    verdict = audit.Verdict(RING, "units", 0, "adds quantities of unlike dimensions")
    monkeypatch.setattr(bounds_check, "audit", lambda bounds: iter([verdict]))
    code, out, _ = plan("check", RING)
    assert code == 1
    assert "fails" in out
    assert "unlike dimensions" in out
    code, out, _ = plan("check", RING, "--json")
    assert code == 1
    assert own(out)["failed"] == 1


# --------------------------------------------------------------------------------------------- refusals

EXPORT = ["export", RING]


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (["show"], "name a bound, or a tree with --tiers"),
        (["show", "zhou2026.thm1.star_ring"], "Did you mean zhou2026.thm1.star-ring"),
        (
            ["show", "zhou2026.thm1"],
            "is a family of bounds. Name one of zhou2026.thm1.star-star, zhou2026.thm1.star-ring",
        ),
        (["show", "ZHOU2026.THM1.RING-STAR"], "Did you mean zhou2026.thm1.ring-star?"),
        (["show", "Zhou2026.Thm1"], "Did you mean zhou2026.thm1?"),
        (["show", "?"], "no bound is called '?'. See `hfl-plan bounds list`"),
        (["export", "nothing-like-it"], "See `hfl-plan bounds list`"),
        (["show", RING, "--set", "G"], "is not name=value"),
        (["show", RING, "--set", "=3"], "is not name=value"),
        (["show", RING, "--set", "G="], "is not name=value"),
        (["show", RING, "--set", "grups=3"], "no quantity is called"),
        (["show", RING, "--set", "sigam=3"], "Did you mean sigma or "),
        (["show", RING, "--set", "Q=3"], "called 'Q'. `hfl-plan bounds show ID --explain letters` lists those of a"),
        (
            ["show", "hflbounds.exact.ring-star", "--set", "S1=3"],
            "--set: hflbounds.exact.ring-star does not have S1 (groups sampled in a global round). Leave it out, or "
            "take hflbounds.exact-partial.ring-star",
        ),
        (["show", "xie2024.rate", "--set", "K=3"], "Did you mean K_buf (sub-centers whose updates fill the buffer"),
        (["show", RING, "--set", "eta=0.1"], "Did you mean eta_eff (effective learning rate: raw rate times"),
        (["show", RING, "--set", "σ_s=1"], "no quantity is called 'σ_s'. Did you mean sigma_s?"),
        (["show", RING, "--set", "coverage=[[1,0]]"], "does not have coverage (0/1 array"),
        (["compare", RING, OTHER, "--set", "Gamma=3"], "--set: these bounds do not have Gamma"),
        (["plot", RING, "--over", "zeta", "--set", "S1=3", "-o", "a.svg"], "does not have S1"),
        (["export", RING, "--set", "S1=3"], "does not have S1"),
        (["export", "hflbounds.sharp-partial.ring-star", "--set", "G=12"], "does not have G (groups)"),  # S1 is open
        (["show", RING, "--set", "G=3", "--set", "G=4"], "set twice"),
        (["show", RING, "--set", "G=3"], "also needs M, P, K, R, L, A, sigma, zeta, delta"),
        (["show", RING, "--set", "G=2.5"], "G (groups) must be a whole number, at least 1, not 2.5"),
        (["show", "zhou2026.lemma1", "--set", "G=2"], "also needs M, P, K, L, sigma, eta_eff, grad, E_r"),
        (["show", RING, *SET[:-2], "--set", "delta=nan"], "not a finite number"),
        (["show", RING, *SET[:-2], "--set", "delta=1e400"], "not a finite number"),
        (["show", RING, *SET[:-2], "--set", "delta=1_0"], "not a finite number"),
        (["show", RING, *SET[:-2], "--set", "delta=__import__('os')"], "not a finite number"),
        (["show", RING, *SET[:-2], "--set", "delta=" + "9" * 5000], "not a finite number"),
        (["show", RING, *SET[:-2], "--set", "delta=-1"], "delta"),
        (["show", RING, *SET[2:], "--set", "G=2.5"], "a whole number, at least 1"),
        (["show", RING, *SET[2:], "--set", "G=0"], "a whole number, at least 1"),
        (["show", RING, *SET[2:], "--set", "G=true"], "not a finite number"),
        (["show", RING, "--set", "coverage=[[1,0]"], "array in JSON"),
        (["show", RING, "--set", "coverage=" + "[" * 5000], "array in JSON"),
        (["show", RING, "--set", "coverage=[[1,NaN]]"], "array in JSON"),
        (["show", RING, "--notation", "papr"], "Did you mean paper?"),
        (["list", "--paper", "zhou2027"], "Did you mean zhou2026?"),
        (["list", "--status", "prooved"], "Did you mean proved?"),
        (["list", "--metric", "accuracy"], "does not occur"),
        (["export"], "name one or more ids, or --all"),
        (["export", RING, "--all"], "and not two of these"),
        (["export", "zhou2026.thm9.star-ring"], "Did you mean"),
        ([*EXPORT, "--format", "latx"], "Did you mean latex?"),
        ([*EXPORT, "--format", "json", "--label", "eq:a"], "json does not take it; latex would"),
        ([*EXPORT, "--format", "bibtex", "--set", "G=3"], "--set: bibtex does not take it"),
        ([*EXPORT, "--format", "python", "--standalone"], "--standalone: python does not take it"),
        ([*EXPORT, "--label", "}\\input{x}"], "--label"),
        ([*EXPORT, "--letter", "sigma"], "is not name=value"),
        ([*EXPORT, "--letter", "sigmaa=s"], "no quantity is called"),
        ([*EXPORT, "--letter", "sigma=G"], "G would be sigma, and G too"),
        ([*EXPORT, "--letter", "sigma=x^2"], "'x^2' for sigma is a formula, not a letter. Accepted are s, "),
        ([*EXPORT, "--letter", r"sigma=\input{x}"], "for sigma is not LaTeX that is read here. Accepted are s, "),
        ([*EXPORT, "--letter", "sigma=s", "--letter", "sigma=u"], "sigma is given twice"),
        ([*EXPORT, "--letter", "mu=m"], "mu stands in none of these bounds"),
        ([*EXPORT, "--bare", "--standalone"], "Leave out one of them"),
        ([*EXPORT, "--bare", "--format", "html"], "--bare: html does not take it; latex would"),
        ([*EXPORT, "--output", ""], "--output: the name is empty"),
        (["export", "--all", "--label", "eq:a"], "one label cannot name"),
        (["check", RING, "--paper", "zhou2026"], "and not both"),
        (["check", "--paper", "zhou"], "--paper"),
        (["check", "zhou2026.thm1.star"], "Did you mean"),
        (["compare", RING, "hflbounds.sharp.star-ring"], "Compare hflbounds.sharp.star-ring with zhou2026.thm1-proof"),
        (["compare", RING, "liu2026.thm1"], "bounds the mean-squared-gradient, liu2026.thm1 the loss-gap"),
        (["compare", RING, "zhou2026.thm1"], "is a family of bounds"),
        (["show", "hflbounds.exact.star-ring-star"], "is the bound of a tree. Write --tiers star/ring/star"),
        (["show", "--tiers", "star/ring", "--drawn", "2/3"], "Letters for a part of the children: --draws common"),
        (["compare", RING, OTHER, "--over", "mu"], "--over: " + RING),
        (["compare", RING, OTHER, "--range", "1:2"], "Name that too"),
        (["compare", RING, OTHER, "--over", "zeta", "--range", "1-2", *ALL], "is not a range. Write 0.1:10"),
        (["compare", RING, OTHER, "--over", "zeta", "--range", "2:1", *ALL], "must begin below its end"),
        (["compare", RING, OTHER, "--over", "zeta", "--range", "1:2"], "a range of zeta also needs"),
        (["compare", RING, OTHER, "--over", "delta", *SMALL], "moved and given"),
        (
            ["plot", "zhou2026.thm1", "--over", "R", "--set", "R=9", "-o", "a.svg"],
            "--set: these 4 bounds: R is moved and given. Leave out one of the two",
        ),
        (["plot", RING, "--over", "mu", "-o", "a.svg"], "`hfl-plan bounds plot --help` shows what is expected"),
        ([*EXPORT, "--letter", r"sigma=\hat{"], "for sigma has { without }. Accepted are s, "),
        ([*EXPORT, "--letter", "sigma=}"], "for sigma has } without {. Accepted are s, "),
        (["compare", RING, OTHER, "--cap", "mine"], "--cap"),
        (["compare", RING, OTHER, "--tuned", "--set", "eta_eff=0.1"], "leave out eta_eff"),
        (["plot", RING, "--x", "zeta", "-o", "a.gif"], "does not end in .svg, .pdf, .png"),
        (["plot", RING, "--x", "zeta", "-o", "a.svg"], "the picture also needs G (groups)"),
        (["plot", RING, "hflbounds.hga-repaired", "--x", "M", "-o", "a.svg"], "there is no common order"),
        (["plot", RING, "--x", "mu", "-o", "a.svg"], f"--over: {RING}: 'mu' stands in none"),
        (["shw"], "show"),
        (["show", RING, "--jsn"], "--json"),
    ],
    ids=lambda value: " ".join(value)[:60] if isinstance(value, list) else "",
)
def test_misuse_is_refused_in_two_lines_with_exit_2(plan, words: list[str], wanted: str) -> None:
    code, out, err = plan(*words)
    assert (code, out) == (2, "")
    assert wanted in err.replace("\n  help: ", ". ")
    assert re.match(r"error\[E\d{3}\]: ", err)
    assert len(err.strip().splitlines()) <= 2
    assert "Traceback" not in err
    assert len(err) < 1500


@pytest.mark.parametrize("other", ["liu2026.thm1", "hflbounds.exact.ring-star"])
def test_what_a_refused_comparison_suggests_can_be_compared(plan, other: str) -> None:
    err = plan("compare", "zhou2026.thm1.star-ring", other)[2]
    assert "error[E042]" in err
    ((one, suggested),) = re.findall(r"Compare (\S+) with (.*)\.$", err.strip())
    for id_ in suggested.split(" or "):
        assert plan("compare", one, id_)[0] == 0


@pytest.mark.parametrize("command", [["show"], ["export"]])
def test_where_the_bound_does_not_apply_is_exit_1_with_both_numbers(plan, command: list[str]) -> None:
    code, out, err = plan(*command, RING, *SET, "--set", "eta_eff=0.5")
    assert (code, out) == (1, "")
    assert "eta_eff = 0.5" in err
    assert "0.129" in err
    assert len(err.strip().splitlines()) <= 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("liu2026.z L=3 sigma=1 E=9 Ge=9 mu=0.5 Gamma=1 H=1 alpha=9 beta_lr=0.5 Delta0=1 p2=0.5", "side = 0.25"),
        ("sharma2025.beta n_s=128 n_h=10 b_hs=10 b_hh=10 b_sh=10", "but b_hh = 10 and the right-hand side = 9"),
    ],
)
def test_a_bound_of_exponentials_says_both_sides_of_what_fails_too(plan, words: str, said: str) -> None:
    id_, *numbers = words.split()
    code, _, err = plan("show", id_, *(word for number in numbers for word in ("--set", number)))
    assert (code, err[:16]) == (1, "no answer[N005]:")
    assert said in err


def test_nothing_that_fits_is_exit_1(plan) -> None:
    code, out, err = plan("list", "--paper", "hflbounds", "--status", "printed")
    assert (code, out) == (1, "")
    assert "Leave out one of" in err


def test_help_is_quick_and_imports_no_bounds(plan) -> None:
    helps = (["bounds", "--help"], ["bounds", "export", "--help"], ["bounds"])
    assert not loaded_by_all(*helps) & {"numpy", "hflbounds", "sympy"}
    shown = plan("--help")[1]
    assert all(command in shown for command in ("list", "show", "export", "check"))


def test_any_terminal_can_show_a_bound_with_few_imports() -> None:
    every = (
        "import sys\nfrom planner.cli import app as cli\n"
        f"for more in ('--json', '--explain'):\n    sys.argv = ['hfl-plan', 'bounds', 'show', {RING!r}, more]\n"
        "    try:\n        cli.main()\n    except SystemExit as stop:\n        assert not stop.code\n"
        "print(end='\\0')\nprint(*sys.modules)"
    )
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "LANG": "C", "COLUMNS": "20"}
    done = subprocess.run([sys.executable, "-c", every], capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    shown, _, imported = done.stdout.partition("\0")
    assert shown.count(RING) > 2  # and JSON is in test_cli's, of titles
    assert not {*imported.split()} & {"rich", "torch", "matplotlib", "scipy"}


def test_help_names_every_format(plan) -> None:
    _, out, _ = plan("export", "--help")
    text = " ".join(out.split())
    assert all(name in text for name in formats())


@pytest.mark.parametrize(
    "words",
    [
        ["plot", RING, "--over", "zeta", "--output", "picture.svg"],
        ["plot", "zhou2026.thm1", "--over", "R", "--set", "K=5", "--output", "picture.svg"],
        ["show", RING, "--set", "G=4"],
        ["compare", RING, OTHER, "--over", "zeta", "--range", "1:2"],
        ["compare", "xie2024.rate", "xie2024.rate-printed", "--over", "M", "--range", "5:6"],
        ["show", "liu2026.z", "--set", "L=3"],
        ["show", "sharma2025.beta", "--set", "n_s=128"],
        ["show", "sharma2025.beta-hh", "--set", "n_h=2"],
        ["show", "xie2024.rate", "--set", "M=6"],
    ],
)
def test_quantities_that_are_missing_come_as_a_line_to_paste(plan, tmp_path, monkeypatch, words: list[str]) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("planner.plot.content", lambda *_: b"")  # to draw takes most of the time
    code, _, err = plan(*words)
    assert (code, err[:11]) == (2, "error[E003]")
    line = err.partition("help: Add numbers of your own in place of these examples: ")[2]
    assert line and "E003" not in line
    assert plan(*words, *line.split())[0] == 0


@pytest.mark.parametrize("bound", catalogue().values(), ids=lambda bound: bound.id)
def test_examples_of_what_is_missing_are_within_the_conditions_of_the_bound(bound: Bound) -> None:
    own = {*map(str, bound.free), *(["eta_eff"] if bound.chain is not None else [])}  # which a bound chooses itself
    first, *_ = [name for name in bound.needs if name not in own]
    typical = round(ABOUT[first].typical[0]) if ABOUT[first].domain in ("count", "whole") else ABOUT[first].typical[0]
    for given in ({}, {first: max(typical, 1) if ABOUT[first].domain == "count" else typical}):
        line = bound_options.to_paste([n for n in bound.needs if n not in own | {*given}], (bound,), given)
        values = given | {name: float(x) for name, x in re.findall(r"--set (\w+)=(\S+)", line)}
        if "eta_eff" in own & {*bound.needs}:
            assert bound.tuned(**values).value > 0
        else:
            assert bound.violations(**values) == []


def test_the_next_command_names_all_that_a_value_needs_where_they_are_few(plan) -> None:
    out = " ".join(plan("show", "lee2020.star-ring-order")[1].split())
    [name] = catalogue()["lee2020.star-ring-order"].needs
    assert f"Next hfl-plan bounds show ... --set {name}=NUMBER hfl-plan" in out
    out = " ".join(plan("show", RING)[1].split())
    assert "a value needs 11 of them: --explain letters" in out and "--set NAME=N ..." in out
    assert "--set G=NUMBER" not in out  # it alone was refused


def test_where_two_bounds_are_equal_is_latex_in_latex(plan) -> None:
    """It was a comment, and the letters of a caption stopped pdfLaTeX."""
    stars, rings = "zhou2026.thm1.star-star", "zhou2026.thm1.ring-star"
    body = "\n".join(
        row for row in plan("compare", rings, stars, "-f", "latex")[1].splitlines() if not row.startswith("%")
    )
    assert body.isascii() and r"\caption{Bounds: zhou2026.thm1.ring-star is at most" in body
    assert (
        r"$G = 1 \text{ or } G K M \zeta^{2} + G M \sigma^{2} + G P \sigma^{2} + K M \zeta^{2} + M \sigma^{2} = 0$"
        in body
    )
