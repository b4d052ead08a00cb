r"""Finds formulas typed in plain text, such as ``beta mu - 1`` or ``L^2 eta_eff^2``, and writes them as LaTeX.

Only what is certainly mathematics is touched: names of the vocabulary, Greek letters, powers, and sums, products and
relations of these. A letter alone, a number alone, and anything that is not read to its end stay as they are.
"""

from __future__ import annotations

import re
from functools import lru_cache

from hflbounds.core.quantities import ABOUT
from hflbounds.typeset import markup

GREEK = "|".join(sorted(markup.GREEK, key=len, reverse=True))
NAMES = {name: about.latex for name, about in ABOUT.items() if "_" in name or any(c.isdigit() for c in name)}
NAMES = {name: tex for name, tex in NAMES.items() if not tex.startswith(r"\textstyle")}
NAMES |= {"c0": "c_0", "c1": "c_1", "c2": "c_2", "T0": "T_0", "x0": "x_0", "eta_hat": r"\hat\eta_s", "eta_t": r"\eta_t"}
SYMBOLS = {"<=": r" \le ", ">=": r" \ge ", "<": " < ", ">": " > ", "=": " = ", "+": " + ", "-": " - ", "*": " "}
DEEP = 10  # brackets inside brackets
NUMBERED = re.compile(
    r"(?:Theorem|Lemma|Corollary|Proposition|Assumption|Algorithm|Appendix|Table|Section|line|footnote|eqs?\.|and|to|,|-)\s*$"
)
TOKEN = re.compile(
    r"(?P<operator>sum_(?P<over>[a-z])|grad)(?= [A-Za-z])"
    rf"|(?P<name>{'|'.join(sorted(NAMES, key=len, reverse=True))})(?![\w'])"
    rf"|(?P<greek>{GREEK})(?:_(?P<index>[a-z0-9]))?(?![\w'])"
    r"|(?P<many>[GMPKRLA]{2,4})(?![\w'])"
    r"|(?P<letter>[A-Za-z])(?:_(?P<below>[a-z0-9]))?(?![\w'])"
    r"|(?P<number>\d+(?:\.\d+)?)(?![\w']|\.\d)"
    r"|(?P<glued>\d+)(?=[A-Za-z](?![A-Za-z0-9_']))"
    r"|(?P<root>sqrt)(?=\()"
)
SIGN = re.compile(r" ?(<=|>=|[<>=*/]) ?| ([+-]) ")
RANGE = re.compile(r"\b([a-z])\(([a-zA-Z0-9]+)\)\.\.\1\(([A-Za-z0-9]+(?:-1)?)\)")
WORDS = {"F(w^1) - F*": r"$F(w^1) - F^\star$", "F(x0) - F*": r"$F(x_0) - F^\star$", "F*": r"$F^\star$"}
LITERAL = re.compile("|".join(re.escape(words) + r"(?!\w)" for words in WORDS))


@lru_cache(maxsize=4096)
def typeset(text: str) -> str:
    r"""The sentence with the formulas in it between dollars.

    >>> typeset("with beta mu + 1 the bracket of (A.22) is beta^2 X")
    'with $\\beta \\mu + 1$ the bracket of (A.22) is $\\beta^{2} X$'
    >>> typeset("a step size has the dimension of 1/L, see Lemma 2 and E.1-E.3")
    'a step size has the dimension of $1/L$, see Lemma 2 and E.1-E.3'
    """
    if text.count("$") % 2:
        return text
    parts = text.split("$")
    return "".join(f"${part}$" if i % 2 else _words(part) for i, part in enumerate(parts))


def _words(text: str) -> str:
    text = LITERAL.sub(lambda found: WORDS[found[0]], text)
    text = RANGE.sub(_range, text)
    if "$" in text:
        return typeset(text)
    out, at = "", 0
    while at < len(text):
        if at == 0 or text[at - 1].isspace() or text[at - 1] == "(":
            found = _run(text, at)
            if found is not None:
                tex, end = found
                out += f"${tex}$"
                at = end
                continue
        out += text[at]
        at += 1
    return out


def _range(found: re.Match[str]) -> str:
    # Rounds are counted in brackets, as in the left-hand sides; steps are not.
    first, last = (f"({n})" if found[1] == "x" else n for n in (found[2], found[3]))
    return rf"${found[1]}^{{{first}}},$ $\dots,$ ${found[1]}^{{{last}}}$"  # a line may break inside


def _run(text: str, start: int) -> tuple[str, int] | None:
    """The longest formula from here, and where it ends; None where there is none that is certain."""
    reader = _Reader(text)
    try:
        tex, end = reader.run(start)
    except ValueError:
        return None
    if not reader.certain or not re.match(r"$|\s|[,;:]\s|[,.;:]$|\)|\.\s", text[end:]):
        return None
    if re.match(r"\d+ ", text[start:]) and NUMBERED.search(text[:start]):
        return None
    if re.match(r"[A-Z] ", text[start:]) and re.search(r"(?:Appendix|Case|Part)\s$", text[:start]):
        return None
    if text[end : end + 1] == ")" and not re.search(r"(?:^|\s)\([^()]*$", text[:start]):
        return None  # a piece of something larger
    return (tex, end) if markup.mathematics(tex) is not None else None


class _Reader:
    """Reads one formula; ``certain`` once something in it can be nothing else."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.certain = False
        self.letters = 0
        self.depth = 0

    def run(self, at: int) -> tuple[str, int]:
        """Factors with signs between them, as far as they go."""
        tex, at = self.product(at)
        while found := SIGN.match(self.text, at):
            sign = found[1] or found[2]
            try:
                more, after = self.product(found.end())
            except ValueError:
                break
            tex += ("/" if sign == "/" else SYMBOLS[sign]) + more
            at = after
            if self.letters:
                self.certain = True
        return tex, at

    def product(self, at: int) -> tuple[str, int]:
        """Factors beside each other; a number only as the first of them."""
        tex, at = self.factor(at, first=True)
        while True:
            space = self.text[at : at + 1] == " "
            glued = re.match(r"\d[A-Za-z(]|\)\(", self.text[at - 1 :])
            if not space and not glued:
                return tex, at
            try:
                more, after = self.factor(at + space, first=False)
            except ValueError:
                return tex, at
            tex, at = f"{tex} {more}", after

    def factor(self, at: int, first: bool) -> tuple[str, int]:
        """A letter, a number or something in brackets, with its power."""
        found = TOKEN.match(self.text, at)
        certain = letters = False
        if self.text[at : at + 1] == "(":
            inner, at = self.bracket(at)
            tex = f"({inner})"
        elif found is None:
            raise ValueError
        elif found["root"]:
            inner, at = self.bracket(found.end(), of_numbers=True)
            tex, certain = rf"\sqrt{{{inner}}}", True
        elif found["operator"]:
            more, at = self.factor(found.end() + 1, first=False)
            tex, certain = (rf"\sum_{found['over']} {more}" if found["over"] else rf"\nabla {more}"), True
        else:
            at = found.end()
            if found["number"] or found["glued"]:
                if not first:
                    raise ValueError
                tex = found[0]
            elif found["name"]:
                tex, certain, letters = NAMES[found[0]], True, True
            elif found["greek"]:
                tex, certain, letters = rf"\{found['greek']}", True, True
                tex += f"_{found['index']}" if found["index"] else ""
            else:
                tex, letters = found["many"] or found["letter"], True
                if found["below"]:
                    tex, certain = f"{tex}_{found['below']}", True
                # What may be a word: an article, a pronoun, an abbreviation.
                elif found[0] in ("a", "A", "I", "LA") and not re.match(
                    r"\^" if found[0] == "I" else r" ?[=<>/^]", self.text[at:]
                ):
                    raise ValueError
        power = re.match(r"\^(\d+|[A-Za-z])(?![\w])", self.text[at:])
        if power:
            tex, at, certain = f"{tex}^{{{power[1]}}}", at + power.end(), True
        self.certain |= certain
        self.letters += letters
        return tex, at

    def bracket(self, at: int, of_numbers: bool = False) -> tuple[str, int]:
        """What stands in brackets; a number alone is that of an equation."""
        before = self.letters
        self.depth += 1
        if self.depth > DEEP:
            raise ValueError
        inner, at = self.run(at + 1)
        self.depth -= 1
        if self.text[at : at + 1] != ")" or (self.letters == before and not of_numbers):
            raise ValueError
        return inner, at + 1
