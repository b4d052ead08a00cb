"""The parts of a bound that formats print, as LaTeX, in the letters and with the numbers asked for."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any

from hflbounds.core.bound import Bound, Erratum, Notation
from hflbounds.core.evaluation import bind
from hflbounds.core.expression import Choice, Expr, Maximum, Raised, Relation, Special, Sum
from hflbounds.core.functions import SCALAR
from hflbounds.core.quantities import ABOUT
from hflbounds.errors import ConditionError, DomainError, FormatError
from hflbounds.registry import get
from hflbounds.typeset import formulas, markup, meanings, sentences

LINE = 46.0  # of an article on A4, in letters as `markup.width` counts them
STATUS = {
    "proved": "derived again here",
    "printed": "as printed, not derived again here",
    "reconstructed": "reconstructed, because the source's formula is missing",
    "refuted": "refuted: a counterexample is known",
    "own": "this project's own",
    "lower": "a lower bound",
}
CONSTANTS = {"explicit": "constants explicit", "hidden": "up to a universal factor that the source does not state"}


def said_status(bound: Bound) -> str:
    """The status of a bound in words; of a lower one with what it stands on."""
    return STATUS[bound.status] + (f", {STATUS[bound.basis]}" if bound.basis else "")


KINDS = {
    "theorem": "theorem",
    "rate": "rate at a step already chosen",
    "lemma": "inequality inside a proof",
    "quantity": "quantity",
}
LETTERS_OF_ENTRIES = {  # what these entries of the catalogue stand for elsewhere
    "beta-hs": r"\beta_{hs}",
    "beta-hh": r"\beta_{hh}",
    "beta-sh": r"\beta_{sh}",
    "beta": r"\beta",
    "kappa": r"\kappa",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Style:
    """How bounds are printed; a format ignores what does not concern it.

    Attributes:
        notation: ``common`` letters, or the ``paper``'s own.
        letters: LaTeX of single letters, with an accent, a font or an index perhaps, by the names of quantities;
            a plain word becomes upright.
        values: numbers to put in place of letters, by the names of quantities; all of them, or some.
        aligned: one term a line, each with its name.
        standalone: a whole document rather than a part of one.
        macros: a command for each letter, declared with ``providecommand``.
        label: of the equation; for one bound alone.
        bare: the equation alone, with definitions and conditions inside it.
    """

    notation: Notation = "common"
    letters: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)
    aligned: bool = False
    standalone: bool = False
    macros: bool = False
    label: str | None = None
    bare: bool = False


@dataclass(frozen=True, slots=True)
class Value:
    """The right-hand side at the numbers given.

    Attributes:
        total: the value; None where it is beyond float64.
        log10: its decimal logarithm.
        terms: the value of each term; empty where the total is beyond float64.
    """

    total: float | None
    log10: float | None
    terms: Mapping[str, float]


class Statement:
    """A bound in a style.

    Raises:
        FormatError: if two quantities of the bound would share a letter, one is no letter, or a name is not of the
            vocabulary.
        TypeError, DomainError: for values that are not numbers of their quantities.
        ConditionError: if all values are given and the bound does not apply there.
    """

    def __init__(self, bound: Bound, style: Style) -> None:
        self.bound, self.style = bound, style
        paper = bound.source.paper.notation if style.notation == "paper" else {}
        self.own = {name: ABOUT[name].latex for name in bound.needs}
        self.plain = self.own | {name: tex for name, tex in paper.items() if name in self.own}
        if unknown := sorted({*style.letters} - {*ABOUT}):
            raise FormatError(f"no quantity is called {unknown[0]!r}; known are {', '.join(ABOUT)}")
        asked = {name: letter(tex, name) for name, tex in style.letters.items()}
        self.plain |= {name: tex for name, tex in asked.items() if name in self.own}
        if style.letters:
            self._refuse_one_letter_for_two()
        self.numbers = self._numbers()
        # A command that stands for a sum would be read with only a part of what is beside it.
        commands = {n: rf"\left({macro(n)}\right)" if r"\sum" in tex else macro(n) for n, tex in self.plain.items()}
        shown = commands if style.macros else self.plain
        self.letters = shown | {name: number(value) for name, value in self.numbers.items()}

    @property
    def inline(self) -> str:
        """The inequality with its conditions, for an ``equation`` environment."""
        apart = ", ".join(f"{name} = {tex}" for name, tex in self.definitions)
        conditions = ", ".join(self.conditions)
        tail = rf" \quad\text{{with }} {apart}" * bool(apart) + rf" \quad\text{{if }} {conditions}" * bool(conditions)
        return f"{self.left} {self.sign} {self.lines(math.inf)[0]}{tail}"

    def _refuse_one_letter_for_two(self) -> None:
        taken: dict[str, str] = dict.fromkeys(self.bound.where, "an abbreviation")
        for name, tex in self.plain.items():
            if tex in taken and (name in self.style.letters or taken[tex] in self.style.letters):
                raise FormatError(f"{self.bound.id}: {tex} would be {name}, and {taken[tex]} too")
            taken[tex] = name

    def _numbers(self) -> dict[str, float]:
        if not self.style.values:
            return {}
        known = self.bound.complete(self.style.values)
        names = [name for name in self.bound.needs if known.get(name) is not None]
        found = bind(self.bound.id, names, known)
        if arrays := [name for name, value in found.items() if not isinstance(value, float)]:
            raise FormatError(f"{self.bound.id}: {arrays[0]} must be one number to be printed, not an array")
        return {name: float(value) for name, value in found.items()}

    def tex(self, formula: Expr | Relation, names: Mapping[Expr, str] | None = None) -> str:
        """LaTeX of a formula in the letters of this style."""
        return formulas.latex(formula, self.names if names is None else names, self.letters, self.numbers)

    def relettered(self, tex: str) -> str:
        """LaTeX that is written in the common letters, in those of this style; numbers stay letters."""
        shown = {name: macro(name) for name in self.own} if self.style.macros else self.plain
        moved = {self.own[name]: shown[name] for name in self.own if shown[name] != self.own[name]}
        if not moved:
            return tex
        # Commands, and letters in a font, are stepped over; a letter with an index is another letter.
        known = "|".join(re.escape(old) + r"(?![A-Za-z_])" * old.startswith("\\") + r"(?!_)" for old in _longest(moved))
        after = " " if self.style.macros else ""
        return re.sub(
            rf"({known})|\\math[a-z]+\{{[^}}]*\}}|\\[A-Za-z]+",
            lambda found: moved[found[1]] + after if found[1] else found[0],
            tex,
        )

    def prose(self, text: str) -> str:
        """A sentence in the letters of this style, with its formulas between dollars."""
        return re.sub(r"\$([^$]*)\$", lambda found: f"${self._told(found.group(1))}$", sentences.typeset(text))

    def _told(self, tex: str) -> str:
        """A formula of a sentence; what would say that a letter is itself says the letter."""
        shown = self.relettered(tex)
        if shown == tex or shown.count("=") != 1:
            return shown
        plain = {macro(name): letter for name, letter in self.plain.items()}
        sides = [re.sub(r"\\hfl[A-Za-z]+", lambda m: plain.get(m[0], m[0]), side) for side in shown.split("=")]
        return shown.split("=")[0].strip() if sides[0].replace(" ", "") == sides[1].replace(" ", "") else shown

    @cached_property
    def names(self) -> dict[Expr, str]:
        """What stands for parts that are typeset apart: those of the bound, and of what is too long for a line."""
        named: dict[Expr, str] = self._known_parts() | {part: name for name, part in self.bound.where.items()}
        ours = {*named}
        shown = [*self.bound.terms.values(), *self.bound.where.values()]
        for part in shown:  # which grows
            most = LINE - (18 if self.style.aligned else 8)
            for summand in part.args if isinstance(part, Sum) else (part,):
                if len(named) > 30:
                    break
                others = {p: name for p, name in named.items() if p is not summand and p is not part}
                while markup.width(self._raw(summand, others)) > most:
                    inside = [p for p in _reached(summand, others) if isinstance(p, Sum | Choice | Maximum | Raised)]
                    wide = [(w, p) for p in inside if 6 < (w := markup.width(self._raw(p, others))) <= LINE]
                    if not wide:
                        break
                    found = max(wide, key=lambda pair: pair[0])[1]
                    named[found] = others[found] = f"Q_{{{len(named) - len(ours) + 1}}}"
                    shown.append(found)
        new = sorted((part for part in named if part not in ours), key=_size)
        return named | {part: f"Q_{{{i}}}" for i, part in enumerate(new, 1)}

    def _known_parts(self) -> dict[Expr, str]:
        """Parts that are the whole of another entry of the catalogue, by the letter of that."""
        taken = {*self.plain.values(), *self.bound.where}
        whole = {*self.bound.terms.values(), self.bound.expression}
        inside: set[Expr] = set()
        ahead = [*whole, *self.bound.where.values()]
        while ahead:  # each part once, however often it stands
            if (part := ahead.pop()) not in inside:
                inside.add(part)
                ahead += part.args
        inside -= whole
        return {
            part: tex
            for part, tex in _lettered().items()
            if part in inside and part not in self.bound.where.values() and tex not in taken
        }

    def _raw(self, formula: Expr, named: Mapping[Expr, str]) -> str:
        letters = self.plain | {name: number(value) for name, value in self.numbers.items()}
        return formulas.latex(formula, named, letters, self.numbers)

    @cached_property
    def apart(self) -> list[Expr]:
        """The parts that are typeset apart, each after those it uses."""
        return sorted(self.names, key=_size)

    @property
    def definitions(self) -> list[tuple[str, str]]:
        """Names and LaTeX of the parts that are typeset apart."""
        return [(name, lines[0]) for name, lines in self.definition_lines(math.inf)]

    @property
    def left(self) -> str:
        """What is bounded."""
        return self.relettered(self.bound.bounds.latex)

    @property
    def sign(self) -> str:
        """Between the two sides: by the direction of the bound, and by whether its constants are hidden."""
        if self.bound.equality:
            return "="
        if self.bound.is_lower:
            return r"\ge" if self.bound.constants == "explicit" else r"\gtrsim"
        return r"\le" if self.bound.constants == "explicit" else r"\lesssim"

    @cached_property
    def terms(self) -> dict[str, str]:
        """LaTeX of each term."""
        return {name: self.tex(term) for name, term in self.bound.terms.items()}

    @property
    def conditions(self) -> list[str]:
        """LaTeX of each condition, but those that hold for the numbers given."""
        named = {part: name for name, part in self.bound.where.items()}
        left = [c for c in self.bound.requires if not formulas.settled(c, self.numbers)]
        return [self.tex(condition, named) for condition in left]

    @property
    def assumptions(self) -> list[str]:
        """Each hypothesis, with formulas between dollars."""
        return [self.prose(assumption.statement) for assumption in self.bound.assumes]

    @property
    def symbols(self) -> list[tuple[str, str, str]]:
        """Name, LaTeX and meaning of every quantity; formulas in a meaning stand between dollars."""
        shown = {name: macro(name) for name in self.own} if self.style.macros else self.plain
        papers = self.style.notation == "paper"
        said = {name: self.prose(meanings.meaning(self.bound, name, papers)) for name in self.bound.needs}
        return [(name, shown[name], said[name]) for name in self.bound.needs]

    @property
    def bounded(self) -> str:
        """What is bounded, in words, with formulas between dollars."""
        return self.prose(self.bound.bounds.meaning)

    @property
    def functions(self) -> list[tuple[str, str]]:
        """LaTeX of each named function that occurs, and what it is."""
        sides = [side for c in self.bound.requires for side in (c.lhs, c.rhs)]
        parts = (part for formula in (*self.bound.terms.values(), *sides) for part in formula.walk())
        found = {part.name: SCALAR[part.name] for part in parts if isinstance(part, Special) and part.name != "sine"}
        return [
            (
                rf"\operatorname{{{name.replace('_', '')}}}({', '.join(inspect.signature(function).parameters)})",
                " ".join((inspect.getdoc(function) or "").partition("\n\n")[0].split()).replace("``", "").rstrip("."),
            )
            for name, function in sorted(found.items())
        ]

    @cached_property
    def value(self) -> Value | None:
        """The value, where every number is given."""
        if self.numbers.keys() != {*self.bound.needs} or not self.numbers:
            return None
        try:
            terms = {name: float(term) for name, term in self.bound.split(**self.numbers).items()}
        except ConditionError:
            if not self.bound.overflows:
                raise
            return Value(None, _finite(self.bound.log10(**self.numbers)), {})
        total = float(sum(terms.values()))
        if not math.isfinite(total):
            return Value(None, _finite(self.bound.log10(**self.numbers)), {})
        return Value(total, math.log10(total) if total > 0 else None, terms)

    @property
    def chosen(self) -> list[str]:
        """The names of what has a number that makes the statement least, where nobody gives one."""
        return [name for name in self.numbers if name == "eta_eff" or name in map(str, self.bound.free)]

    @cached_property
    def valued(self) -> Statement | None:
        """This statement where it has a value; at the step that makes it least, where that alone has no number."""
        if self.value is not None:
            return self
        free = {str(symbol) for symbol in self.bound.free}
        missing = {*self.bound.needs} - {*self.numbers} - free
        if missing != {"eta_eff"} or self.bound.chain is None:
            return None
        try:
            step = float(self.bound.tuned(**self.numbers).eta_eff)
            found = Statement(self.bound, replace(self.style, values={**self.numbers, "eta_eff": step}))
            return None if found.value is None else found
        except (ArithmeticError, ConditionError, DomainError, TypeError):  # no step is least, or none is allowed
            return None

    @property
    def least_at(self) -> dict[str, str]:
        """LaTeX of what has no number in the style, with that which makes the value least, by names."""
        there = self.valued
        if there is None:
            return {}
        named = {name: f"{tex} = {number(there.numbers[name])}" for name, tex, _ in self.symbols}
        return {name: named[name] for name in there.chosen if name not in self.style.values}

    def errata(self, grave: bool = False) -> list[tuple[Erratum, str, str]]:
        """Each erratum about this bound or its family, with what is printed and what is supported, as prose.

        Args:
            grave: leave out claims in prose, cautions, and what is correct and improvable.
        """
        bound = self.bound
        about = [e for e in bound.errata if e in bound.noted or {*e.concerns} & {bound.id, bound.family}]
        about = [e for e in about if not grave or e.gravity in ("refuted", "step", "algebra")]
        return [(e, self.side(e.printed), self.side(e.proved)) for e in about]

    def side(self, side: Expr | Relation | str) -> str:
        """One side of an erratum as prose."""
        if isinstance(side, str):
            return self.prose(side)
        letters = {name: macro(name) for name in self.own} if self.style.macros else self.plain
        return f"${formulas.latex(side, {p: n for n, p in self.bound.where.items()}, letters)}$"

    def lines(self, most: float = LINE) -> list[str]:
        """The right-hand side, its terms packed into lines."""
        return packed(self.terms.values(), (self._raw(t, self.names) for t in self.bound.terms.values()), most)

    def definition_lines(self, most: float = LINE) -> list[tuple[str, list[str]]]:
        """The parts that are typeset apart: a name, and lines of its summands."""
        out = []
        for part in self.apart:
            known = {other: name for other, name in self.names.items() if other is not part}
            summands = part.args if isinstance(part, Sum) else (part,)
            texts = (self.tex(summand, known) for summand in summands)
            out.append((self.names[part], packed(texts, (self._raw(p, known) for p in summands), most)))
        return out


@cache
def _lettered() -> dict[Expr, str]:
    return {get(f"sharma2025.{label}").expression: tex for label, tex in LETTERS_OF_ENTRIES.items()}


def _reached(formula: Expr, named: Mapping[Expr, str]) -> Iterator[Expr]:
    """The parts of a formula that are not inside a part with a name."""
    for part in formula.args:
        if part not in named:
            yield part
            yield from _reached(part, named)


def _size(formula: Expr) -> int:
    return sum(1 for _ in formula.walk())


def _longest(texts: Iterable[str]) -> list[str]:
    return sorted(texts, key=len, reverse=True)


def label_of(statement: Statement) -> str:
    r"""What stands in ``label`` braces: letters, digits and ``: . _ -`` alone."""
    asked = statement.style.label
    return re.sub(r"[^A-Za-z0-9:._-]", "", f"eq:{statement.bound.id}" if asked is None else asked) or "eq"


def packed(terms: Iterable[str], plain: Iterable[str], most: float) -> list[str]:
    """Summands but 0 packed into lines of at most a width; a line after the first begins with its sign.

    Args:
        terms: LaTeX.
        plain: the same without macros, to be measured.
        most: the width, in letters.
    """
    lines: list[list[str]] = [[]]
    used = 0.0
    every = list(zip(terms, plain, strict=True))
    for term, measured in [pair for pair in every if pair[0] != "0"] or every[:1]:
        wide = markup.width(measured) + 2
        if lines[-1] and used + wide > most:
            lines.append([])
            used = 0.0
        lines[-1].append(term)
        used += wide
    first, *others = lines
    return [formulas.in_a_sum(first), *(formulas.in_a_sum(["", *line]).strip() for line in others)]


def number(value: float) -> str:
    r"""LaTeX of a number, to six digits.

    >>> number(0.04), number(12500000.0), number(1.5e-7)
    ('0.04', '12500000', '1.5 \\times 10^{-7}')
    """
    if value == int(value) and abs(value) < 1e9:
        return str(int(value))
    text = f"{value:.6g}"
    digits, _, exponent = text.partition("e")
    return rf"{digits} \times 10^{{{int(exponent)}}}" if exponent else digits


def power_of_ten(exponent: float) -> str:
    """LaTeX of a number beyond float64, from its logarithm."""
    whole = math.floor(exponent)
    return rf"{10 ** (exponent - whole):.4g} \times 10^{{{whole}}}"


def letter(tex: str, name: str) -> str:
    r"""A letter that someone asks for, checked; a plain word becomes upright.

    Raises:
        FormatError: for anything that could be read as a formula, or as something other than a letter.

    >>> letter(r"\hat\sigma", "sigma"), letter("noise", "sigma")
    ('\\hat\\sigma', '\\mathrm{noise}')
    """
    if re.fullmatch(r"[A-Za-z][A-Za-z0-9]{1,39}", tex):
        return rf"\mathrm{{{tex}}}"
    node = markup.mathematics(tex) if len(tex) <= 60 else None
    if node is not None and _is_letter(node):
        return tex
    open_ = tex.count("{") - tex.count("}")
    wrong = f"has {'{ without }' if open_ > 0 else '} without {'}" if open_ else "is not LaTeX that is read here"
    wrong = "is longer than 60 characters" if len(tex) > 60 else wrong
    wrong = "is a formula, not a letter" if node is not None else wrong
    raise FormatError(rf"{tex!a:.60} for {name} {wrong}. Accepted are s, \sigma, \sigma_1, \hat\sigma, \mathcal{{S}}")


def _is_letter(node: markup.Node) -> bool:
    if node.kind == "letter":
        return True
    if node.kind in ("accent", "font"):
        return all(p is not None and (p.kind in ("letter", "row") and _only_letters(p)) for p in node.parts)
    if node.kind == "script":
        base, below, above = node.parts
        return base is not None and above is None and _is_letter(base) and below is not None and _only_letters(below)
    return False


def _only_letters(node: markup.Node) -> bool:
    kinds = ("letter", "number", "word")
    return node.kind in kinds or (
        node.kind in ("row", "font")
        and bool(node.parts)
        and all(p is not None and _only_letters(p) for p in node.parts)
    )


DIGITS = {
    **{"0": "zero", "1": "one", "2": "two", "3": "three", "4": "four"},
    **{"5": "five", "6": "six", "7": "seven", "8": "eight", "9": "nine"},
}


def macro(name: str) -> str:
    r"""The LaTeX command of a quantity.

    >>> macro("S1")
    '\\hflSone'
    """
    return rf"\hfl{''.join(DIGITS.get(c, c) for c in name if c.isalnum())}"


def words(name: str) -> str:
    """The name of a term in words."""
    return name.replace("_", " ")


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
