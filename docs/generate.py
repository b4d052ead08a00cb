"""The pages that are made from the catalogue: one per bound, the notation, the errata, and the table of the audit.

``python docs/generate.py`` writes them; ``--check`` writes nothing and exits with 1 where a page is stale.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from textwrap import wrap
from typing import Any

from hflbounds import catalogue
from hflbounds.audit import report
from hflbounds.core.bound import Bound, Erratum
from hflbounds.core.expression import Expr, Relation, mul
from hflbounds.core.quantities import ABOUT
from hflbounds.errors import ConditionError, DomainError
from hflbounds.evaluate.gap import gap, lower_bounds, unimprovable
from hflbounds.export import Style, render
from hflbounds.registry import errata
from hflbounds.typeset.formulas import latex
from hflbounds.worst import compared

HERE = Path(__file__).parent
FOLDER = HERE / "catalog"
STATEMENTS = HERE / "statements"
HEAD = "<!-- Made by docs/generate.py from the catalogue; edit that, not this. -->\n\n"
ORPHAN = "---\norphan: true\n---\n\n"  # found by the index, not by the sidebar
KIND = "Reference, for theorists and reviewers. To look up."
STATUS = {
    "proved": "proved: this project derives it again",
    "printed": "printed: transcribed, not derived again",
    "reconstructed": "reconstructed: the source's formula is missing or cut off",
    "refuted": "refuted: a counterexample is in this repository; no plan uses it unless told to",
    "own": "own: stated and proved by this project",
    "lower": "lower: a lower bound; no upper bound of this algorithm under these hypotheses can be smaller",
}
BASIS = {
    "own": "It is proved by this project",
    "proved": "This project derives it again",
    "printed": "It is transcribed, not derived again",
}
CONSTANTS = {
    "explicit": "explicit: a true inequality",
    "hidden": "hidden: an order statement, up to a universal factor that the source does not state",
}
EXAMPLE: dict[str, float] = {  # one scenario of each system, within the conditions of every bound
    **{"G": 10, "M": 10, "P": 1, "K": 2, "R": 5000, "S1": 5, "S2": 5},
    **{"L": 1, "A": 2.3, "sigma": 1, "zeta": 0.5, "delta": 0.5, "eta_eff": 0.01, "eta": 0.0001},
    **{"grad": 1, "E_r": 1, "E": 5, "Ge": 5, "N": 3, "mu": 0.1, "Gamma": 0.2, "H": 2, "alpha": 80, "beta_lr": 20},
    **{"t": 1000, "Delta0": 1, "lambda2": 0.625, "p2": 0.05, "n_s": 100, "n_h": 10, "b_hs": 10, "b_hh": 2, "b_sh": 1},
    **{"tau_max": 3, "moved": 0.5},
    **{"Delta_t": 1, "V_t": 0.05, "cycles": 20, "hertz": 1e9, "bits": 1e6, "T_CES": 0.2, "T_ECS": 1},
    **{"s": 4, "T": 50000, "beta_mix": 0.03, "kappa": 0.01, "CD": 1, "K_buf": 4, "R_sub": 5, "alpha_dyn": 1000},
    **{"eta_g": 0.5, "eta_sub": 0.002, "Gamma_max": 2, "zeta_max": 4, "sigma_s": 0.5, "sigma_g": 2, "delta_H": 0.02},
}


def pages() -> Iterator[tuple[str, str]]:
    """Every generated page: its name below ``docs/catalog`` and its text."""
    yield "index.md", index()
    yield "notation.md", notation()
    yield "errata.md", all_errata()
    yield "audit.md", audit_table()
    yield "coverage.md", coverage()
    for bound in catalogue().values():
        yield f"{bound.id}.md", page(bound)


def index() -> str:
    """Write all bounds in one table, which the site filters as words are typed; their pages stay out of the sidebar."""
    out = ["# The catalogue", "", KIND, ""]
    out += [
        f"{len(catalogue())} statements. What status and constants mean is on the page of each. `hfl-plan bounds list"
    ]
    out += ["--search WORDS` finds the same in a terminal.", "", ":::{container} filtered", ""]
    out += table(("id", "statement", "status", "constants", "where"), map(_row, catalogue().values()))
    out += ["", ":::", "", "## Papers", ""]
    for key in report.papers():
        bounds = [bound for bound in catalogue().values() if bound.id.partition(".")[0] == key]
        if bounds:
            paper = bounds[0].source.paper
            out.append(f"* {key}: {paper.authors} ({paper.year}), *{paper.title}*, {paper.version}.")
    out += ["", "## Other tables", "", "```{toctree}", ":maxdepth: 1", ""]
    out += ["notation", "errata", "audit", "coverage", "```"]
    return "\n".join(out) + "\n"


def _row(bound: Bound) -> tuple[str, ...]:
    link = f"[{bound.id}]({bound.id}.md)"
    return link, text(sentence(bound.title)), bound.status, bound.constants, text(bound.source.place)


def page(bound: Bound) -> str:
    """The page of one bound."""
    _, _, body = render("markdown", bound, Style(aligned=True)).partition("\n")
    said, _, _ = body.partition("\nPrinted otherwise\n")
    out = [f"# {bound.id}", "", f"{text(sentence(bound.title))}.", "", said.strip(), ""]
    if bound.source.paper.notation:
        shown = render("markdown", bound, Style(aligned=True, notation="paper"))
        out += ["In the paper's letters:", "", "$$" + shown.split("$$")[1] + "$$", ""]
    out += [
        f"* It bounds {'from below ' * bound.is_lower}{text(bound.bounds.meaning)}.",
        f"* It is about {text(bound.losses)}.",
        f"* Status {STATUS[bound.status]}." + (f" {BASIS[bound.basis]}." if bound.basis else ""),
        f"* Constants {CONSTANTS[bound.constants]}.",
    ]
    if bound.kind in ("lemma", "quantity"):
        role = "a lemma inside a proof" if bound.kind == "lemma" else "a number that a theorem uses"
        out.append(f"* It is {role}, not by itself a statement about training.")
    out += ["", "## How the terms move", ""]
    if any(directions(term) is None for term in bound.terms.values()) and not bound.where:
        out += ["Where a term is not a single product, these letters move it next to the numbers below.", ""]
    out += table(("term", "grows with", "shrinks with"), terms(bound))
    out += ["", "## What it stands on, and how tight it is", ""]
    out += [f"* {text(derivation(step))}" for step in bound.steps] or ["No derivation in this repository."]
    slack = tightness(bound)
    out += ["", slack] if slack else []
    out += worst_cases(bound)
    out += room(bound)
    about = bound.errata
    if about:
        out += ["", "## Errata", ""]
        out += [f"* [{e.id}](errata.md#{anchor(e.id)}), {text(e.place)}: {text(e.effect)}." for e in about]
    out += ["", "## Code", "", "```python", *code(bound), "```", "", "[All statements](index.md)"]
    return ORPHAN + HEAD + "\n".join(out) + "\n"


def terms(bound: Bound) -> Iterator[tuple[str, ...]]:
    """Name of every term, and what it grows and shrinks with: how fast, where it is a single product."""
    names = {part: name for name, part in bound.where.items()}
    for name, term in bound.terms.items():
        core = mul(*(part for part in term.args if part not in names)) if names else term
        yield name.replace("_", " "), *(directions(core) or locally(bound, name))


def directions(term: Expr) -> tuple[str, str] | None:
    """Which symbols a single product grows and shrinks with, and how fast; None for other formulas."""
    split = term.monomial()
    if split is None:
        return None
    up = [_power(symbol.name, n) for symbol, n in split[1].items() if n > 0]
    down = [_power(symbol.name, -n) for symbol, n in split[1].items() if n < 0]
    return ", ".join(up), ", ".join(down)


def locally(bound: Bound, term: str) -> tuple[str, str]:
    """Which symbols a term grows and shrinks with next to the example's numbers."""
    values = example(bound)
    here = bound.split(**values)[term]
    up, down = [], []
    for name in values:
        whole = ABOUT[name].domain in ("count", "whole")
        moved = values | {name: values[name] + 1 if whole else values[name] * 1.01}
        try:
            change = bound.split(**moved)[term] - here
        except (ConditionError, DomainError):
            continue
        if abs(change) > 1e-12 * abs(here):
            (up if change > 0 else down).append(f"${ABOUT[name].latex}$")
    return ", ".join(up), ", ".join(down)


def _power(name: str, exponent: Fraction) -> str:
    return f"${ABOUT[name].latex}$" if exponent == 1 else f"${ABOUT[name].latex}^{{{exponent}}}$"


def derivation(step: Any) -> str:
    """One derivation line in words."""
    relation = {"equal": "equal", "same but numbers": "the same symbols to the same powers"}
    how = relation.get(step.relation) or f"at most {step.factor} times this"
    return f"{step.because} ({how})"


def tightness(bound: Bound) -> str:
    """How the bound compares with this project's own theorem for the same algorithm, where there is one."""
    ours = {"zhou2026.thm1-proof": "sharp", "zhou2026.shuffle-proof": "sharp-shuffle"}.get(bound.family)
    if ours is None:
        return ""
    own = catalogue()[f"hflbounds.{ours}.{bound.topology}"]
    scenario = {name: value for name, value in EXAMPLE.items() if name != "eta_eff"}
    ratio = bound.tuned(**scenario).value / own.tuned(**scenario).value
    return f"In the scenario below, at its best step, it is {ratio:.2f} times [{own.id}]({own.id}.md) at its own."


def worst_cases(bound: Bound) -> list[str]:
    """How much of the bound is reached by the exact worst cases that are stored, step by step."""
    rows = [
        (f"{float(one.eta_eff):g}", str(one.cases), f"{one.least:.3f}", f"{one.middle:.3f}", f"{one.largest:.3f}")
        for one in compared.tightness(bound)
    ]
    if not rows:
        return []
    said = [
        "Worst case over bound in [stored cases](../evidence/worst-cases.md) of this topology and order: small trees,",
        "no noise, $L=1$. At 1 no proof from these assumptions could be tighter. Steps at which the bound does",
        "not apply are left out.",
    ]
    head = ("eta_eff", "cases", "least", "median", "largest")
    return ["", "## Exact worst cases", "", *said, "", *table(head, rows)]


def room(bound: Bound) -> list[str]:
    """How far the bound is above a lower one, or a lower one below those it is held to, in the scenario of the code."""
    same = [
        f"The term {name.replace('_', ' ')} is that of [{lower.id}]({lower.id}.md), a lower bound for any method: "
        "it cannot be improved but by a factor."
        for name, lower in unimprovable(bound, catalogue().values())
    ]
    if same:
        return ["", "## Upper over lower bound", "", *same]
    pairs = [(upper, bound) for upper in catalogue().values() if lower_bounds(upper, (bound,))]
    pairs += [(bound, lower) for lower in lower_bounds(bound, catalogue().values())]
    if not pairs:
        return []
    out = ["", "## Upper over lower bound", ""]
    out += [
        "In the scenario below: an upper bound over a lower one on the same problems, both at their own best",
        "step, and both at the step that is given. No analysis can bring an upper bound to less than 1 of this.",
        "",
    ]
    rows = []
    for upper, lower in pairs:
        values = {name: EXAMPLE[name] for name in {*upper.needs, *lower.needs} - {*upper.defaults}}
        rest = {name: value for name, value in values.items() if name != "eta_eff"}
        other = lower if upper is bound else upper
        rows.append(
            (f"[{other.id}]({other.id}.md)", f"{gap(upper, lower, **rest):.3g}", f"{gap(upper, lower, **values):.3g}")
        )
    head = (
        "lower bound" if pairs[-1][0] is bound else "upper bound",
        "upper / lower, tuned",
        f"at eta_eff = {EXAMPLE['eta_eff']:g}",
    )
    return [*out, *table(head, rows)]


def example(bound: Bound) -> dict[str, float]:
    """Numbers to call a bound with."""
    values = {name: EXAMPLE[name] for name in bound.needs if name not in map(str, bound.free)}
    if bound.id.startswith(("xie2024.", "hflbounds.hga")):
        values |= {name: n for name, n in (("M", 8), ("A", 3)) if name in values}
    return values


def code(bound: Bound) -> list[str]:
    """A call with numbers, and what it returns."""
    values = example(bound)
    stepped = "eta_eff" in values and bound.kind == "theorem"
    rest = {name: value for name, value in values.items() if name != "eta_eff" or not stepped}
    given = ", ".join(f"{name}={value:g}" for name, value in rest.items())
    lines = ["from hflbounds import get", "", f'bound = get("{bound.id}")', "scenario = dict("]
    lines += [f"    {line}" for line in wrap(given, 80)] + [")"]
    if not stepped:
        return [*lines, f"bound(**scenario)  # {bound(**values):.6g}"]
    lines.append(f"bound(**scenario, eta_eff={values['eta_eff']:g})  # {bound(**values):.6g}")
    return [*lines, f"bound.tuned(**scenario).value  # {bound.tuned(**rest).value:.6g}"]


def notation() -> str:
    """Symbols by paper: their letters collide."""
    papers = {b.source.paper.key: b.source.paper for b in catalogue().values()}
    keys = [key for key in papers if any(b.source.paper.key == key for b in catalogue().values())]
    used = {key: {s for b in catalogue().values() if b.source.paper.key == key for s in b.needs} for key in keys}
    rows = []
    for name, about in ABOUT.items():
        cells = [f"${papers[key].notation.get(name, about.latex)}$" if name in used[key] else "" for key in keys]
        if any(cells):
            rows.append((f"`{name}`", f"${about.latex}$", text(about.meaning), *cells))
    intro = [
        "# Notation",
        "",
        KIND,
        "",
        "One vocabulary for all papers: the keyword of a call, its letter here, and the letter in each paper. The same",
        "letter means different things in different papers, and the early version of the unified analysis swaps two.",
        "",
    ]
    return HEAD + "\n".join(intro + list(table(("keyword", "letter", "meaning", *keys), rows))) + "\n"


def all_errata() -> str:
    """Every erratum with both sides' numbers."""
    out = [
        "# Errata",
        "",
        KIND,
        "",
        "What the sources print otherwise than their proofs support. Only text copies were read: an entry that may be",
        "a recognition error of the copy says so. Each entry is proved by a test of the same number in `tests/`.",
    ]
    paper = ""
    for erratum in sorted(errata(), key=lambda e: _order(e.id)):
        if erratum.id.partition(".")[0] != paper:
            paper = erratum.id.partition(".")[0]
            out += ["", f"## {paper}"]
        out += ["", f"### {erratum.id}", "", *entry(erratum)]
    return HEAD + "\n".join(out) + "\n"


def entry(erratum: Erratum) -> list[str]:
    """One erratum."""
    kinds = {
        "refuted": "an instance within the stated hypotheses contradicts the statement",
        "step": "a line of a proof does not follow; its conclusion may hold",
        "algebra": "the text contradicts itself",
        "loose": "correct, and improvable",
        "claim": "prose that the bounds do not support",
        "note": "a caution",
    }
    out = [f"* Where: {text(erratum.place)}.", f"* Kind: {erratum.gravity}, {kinds[erratum.gravity]}."]
    out += [f"* Printed: {side(erratum.printed)}.", f"* Supported: {side(erratum.proved)}."]
    out += [f"* Because {text(erratum.because)}."]
    numbers = report.numbers(erratum)
    out += [f"* Numbers: {text(numbers)}."] if numbers else []
    out += [f"* Effect: {text(erratum.effect)}."]
    out += ["* It may be a recognition error of the text copy that was read."] if erratum.artefact else []
    about = [name for name in erratum.concerns if name in catalogue()]
    out += ["* Concerns " + ", ".join(f"[{name}]({name}.md)" for name in about) + "."] if about else []
    return out


def side(what: Expr | Relation | str) -> str:
    """A side of an erratum, as mathematics or in words."""
    return text(what.rstrip(".")) if isinstance(what, str) else f"${latex(what)}$"


def audit_table() -> str:
    """What `hfl-plan audit` finds."""
    rows = list(report.rows())
    verdicts = ("holds", "holds up to a constant", "fails", "cannot tell", "note")
    out = [
        "# The audit",
        "",
        KIND,
        "",
        "What `hfl-plan audit` prints. A printed line that fails names the erratum that says why.",
    ]
    tally = report.tally(rows)
    counts = ((paper, *(str(of.get(v, 0)) for v in verdicts)) for paper, of in tally.items())
    out += ["", *table(("paper", *verdicts), counts)]
    out += ["", "## Lines of derivations", ""]
    lines = (row for row in rows if row.kind == "line")
    shown = ((f"`{row.id}`", text(row.place), text(row.claim), row.verdict, text(row.detail)) for row in lines)
    out += list(table(("line", "where", "claim", "verdict", "evidence"), shown))
    out += ["", "## Bounds and families", ""]
    checked = (row for row in rows if row.kind in ("bound", "family"))
    out += list(table(("id", "verdict", "checks"), ((f"`{row.id}`", row.verdict, text(row.detail)) for row in checked)))
    return HEAD + "\n".join(out) + "\n"


def coverage() -> str:
    """Every numbered statement of the papers and where it is; the statements are in ``docs/statements``."""
    out = ["# Coverage of the papers", "", KIND, ""]
    out += [
        "Every theorem, lemma, corollary, proposition and numbered equation of the five papers, every row of a",
        "table that is a rate, and where it is: an entry of the catalogue (id), a line of the audit, an erratum, code",
        "of the planner, or nothing to evaluate. Numbers are the papers' own; a test reads them and asks that none is",
        "missing and that each place exists. Statements without a number have an empty first column.",
    ]
    for path in sorted(STATEMENTS.glob("*.csv")):
        with path.open(encoding="utf-8", newline="") as lines:
            rows = list(csv.DictReader(lines))
        kinds = Counter(kind for row in rows for kind in {place.partition(" ")[0] for place in _places(row)})
        paper = next(b.source.paper for b in catalogue().values() if b.source.paper.key == path.stem)
        count = f"{len(rows)} rows: {kinds['bound']} with an id, {kinds['line']} with a line of the audit, "
        count += f"{kinds['erratum']} with an erratum, {kinds['code']} in code, {kinds['definition'] + kinds['not']} "
        count += "with a definition or no bound."
        out += ["", f"## {path.stem}", "", f"*{paper.title}*, {paper.version}. {count}", ""]
        shown = (
            (row["number"].replace("-", " to "), text(row["statement"]), _where(row), _note(row["note"]))
            for row in rows
        )
        out += list(table(("number", "statement", "where", "note"), shown))
    return HEAD + "\n".join(out) + "\n"


def _places(row: Mapping[str, str]) -> list[str]:
    return [place.strip() for place in row["where"].split(";")]


def _where(row: Mapping[str, str]) -> str:
    return "; ".join(map(_link, _places(row)))


def _link(place: str) -> str:
    kind, _, name = place.partition(" ")
    if kind == "bound" and name in catalogue():
        return f"[{name}]({name}.md)"
    if kind == "bound":
        members = [bound.id for bound in catalogue().values() if bound.family == name]
        return f"{name}: " + ", ".join(f"[{member.rpartition('.')[2]}]({member}.md)" for member in members)
    if kind == "line":
        return f"[line](audit.md) `{name}`"
    if kind == "erratum":
        known = next((e.id for e in errata() if e.id == name or e.id.startswith(f"{name}.")), name)
        return f"erratum [{name.partition('.')[2]}](errata.md#{anchor(known)})"
    return f"`{name}`" if kind == "code" else place


def _note(words: str) -> str:
    parts = words.split("`")
    return "".join(f"`{part}`" if i % 2 else text(part) for i, part in enumerate(parts))


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    """A Markdown table."""
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"


def text(words: str) -> str:
    """Prose from the catalogue: Markdown's signs are escaped outside mathematics."""
    parts = words.split("$")
    for i in range(0, len(parts), 2):
        for sign in "\\`*_[]<":
            parts[i] = parts[i].replace(sign, f"\\{sign}")
    return "$".join(parts).replace("\n", " ")


def sentence(words: str) -> str:
    """With a capital at the start."""
    return words[:1].upper() + words[1:]


def anchor(name: str) -> str:
    """The fragment that MyST gives a heading."""
    return name.lower().replace(".", "")


def _order(name: str) -> tuple[str, str, int, str]:
    paper, _, label = name.partition(".")
    label, _, rest = label.partition(".")
    digits = "".join(c for c in label if c.isdigit())
    return paper, label.rstrip("0123456789"), int(digits or 0), rest


def stale(found: Mapping[str, str]) -> list[str]:
    """Names of pages that are missing, differ, or should not be there."""
    there = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")}
    return sorted(name for name in {*found, *there} if found.get(name) != there.get(name))


def main() -> int:
    """Write the pages, or say which are stale."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 where a page is stale")
    check = parser.parse_args().check
    found = dict(pages())
    changed = stale(found)
    if check:
        for name in changed:
            print(f"stale: docs/catalog/{name}. Run python docs/generate.py.", file=sys.stderr)
        return bool(changed)
    FOLDER.mkdir(exist_ok=True)
    for name in changed:
        if name in found:
            (FOLDER / name).write_text(found[name], encoding="utf-8")
        else:
            (FOLDER / name).unlink()
    print(f"{len(found)} pages, {len(changed)} changed", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
