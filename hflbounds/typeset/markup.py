"""Reads the LaTeX that this package writes, and writes it as MathML, as plain text, and for matplotlib.

What it cannot read is not mathematics of ours: `mathematics` is then None, and a format shows the text as text.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from functools import lru_cache

GREEK = {
    **{"alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "varepsilon": "ε", "zeta": "ζ", "eta": "η", "theta": "θ"},
    **{"kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ", "pi": "π", "rho": "ρ", "sigma": "σ", "tau": "τ"},
    **{
        "phi": "φ",
        "varphi": "φ",
        "chi": "χ",
        "psi": "ψ",
        "omega": "ω",
        "Gamma": "Γ",
        "Delta": "Δ",
        "Theta": "Θ",
        "Lambda": "Λ",
    },
    **{"Xi": "Ξ", "Pi": "Π", "Sigma": "Σ", "Phi": "Φ", "Psi": "Ψ", "Omega": "Ω"},
}
LETTERS = {
    **GREEK,
    "ell": "ℓ",
    "lozenge": "◊",
    "partial": "∂",
    "emptyset": "∅",
    "nabla": "∇",
    "infty": "∞",
    "star": "⋆",
    "bot": "⊥",
    "perp": "⊥",
    "top": "⊤",
}
RELATIONS = {
    **{"le": "≤", "ge": "≥", "leq": "≤", "geq": "≥", "lesssim": "≲", "gtrsim": "≳", "approx": "≈", "ne": "≠"},
    **{"in": "∈", "to": "→", "ll": "≪", "gg": "≫", "sim": "∼", "subseteq": "⊆", "subset": "⊂", "propto": "∝"},
}
SIGNS = {"cdot": "·", "times": "×", "pm": "±", "cup": "∪", "cap": "∩", "setminus": "∖", "mid": "∣"}
DOTS = {"dots": "…", "ldots": "…", "cdots": "⋯"}
BIG = {"sum": "∑", "prod": "∏", "int": "∫"}
WORDS = ("sin", "max", "min", "sup", "inf", "log", "exp", "ln")
ACCENTS = {"tilde": "~", "hat": "^", "bar": "¯", "widehat": "^", "widetilde": "~", "overline": "¯"}
MARKS = {"~": "\u0303", "^": "\u0302", "¯": "\u0304"}  # the same, to put on the letter before
FONTS = ("mathbb", "mathcal", "mathrm", "mathbf", "mathsf", "operatorname")
SPACES = ("quad", "qquad", ",", ";", ":", " ", "!")
IGNORED = ("textstyle", "displaystyle", "limits")
BRACKETS = {"{": "{", "}": "}", "|": "‖", "(": "(", ")": ")", "[": "[", "]": "]", "lfloor": "⌊", "rfloor": "⌋"}
BRACKETS |= {"lceil": "⌈", "rceil": "⌉", "langle": "⟨", "rangle": "⟩", ".": ""}
DOUBLE = {"E": "𝔼", "R": "ℝ", "N": "ℕ", "P": "ℙ", "1": "𝟙"}
SCRIPT = {"E": "ℰ", "O": "𝒪", "N": "𝒩", "S": "𝒮", "L": "ℒ", "D": "𝒟", "X": "𝒳"}

TOKEN = re.compile(r"\\text\{[^{}\\$]*\}|\\[A-Za-z]+|\\.|\d+(?:\.\d+)?|\S", re.DOTALL)
DEEP = 60


@dataclass(frozen=True, slots=True)
class Node:
    """A part of a formula.

    Attributes:
        kind: row, letter, number, sign, relation, bracket, big, word, text, space, frac, root, script, fence,
            accent, font or cases.
        text: the letter, the number, the sign, the words; brackets for ``fence``, a mark for ``accent``.
        parts: what it is made of; None where a script has no subscript or no superscript.
        tex: a sign's or letter's own LaTeX.
    """

    kind: str
    text: str = ""
    parts: tuple[Node | None, ...] = ()
    tex: str = ""


class UnreadError(ValueError):
    """Some LaTeX that this package does not write."""


@lru_cache(maxsize=4096)
def mathematics(tex: str) -> Node | None:
    """The formula, or None where there is anything in it that this package does not write."""
    reader = _Reader(tex)
    try:
        node = reader.row(())
    except UnreadError:
        return None
    return None if reader.left else node


class _Reader:
    def __init__(self, tex: str) -> None:
        self.left = TOKEN.findall(tex)[::-1]
        self.depth = 0

    def take(self) -> str:
        if not self.left:
            raise UnreadError("it ends too early")
        piece: str = self.left.pop()
        return piece

    def expect(self, piece: str) -> None:
        if self.take() != piece:
            raise UnreadError(f"there is no {piece}")

    def row(self, until: tuple[str, ...]) -> Node:
        self.depth += 1
        if self.depth > DEEP:
            raise UnreadError("it is nested too deeply")
        parts: list[Node | None] = []
        while self.left and self.left[-1] not in until:
            part = self.scripted()
            if part is not None:
                parts.append(part)
        self.depth -= 1
        return parts[0] if len(parts) == 1 and parts[0] else Node("row", parts=tuple(parts))

    def scripted(self) -> Node | None:
        base = self.atom(self.take())
        below = above = None
        while self.left and self.left[-1] in ("_", "^"):
            if self.take() == "_":
                if below:
                    raise UnreadError("two subscripts")
                below = self.argument()
            else:
                if above:
                    raise UnreadError("two superscripts")
                above = self.argument()
        if below is None and above is None:
            return base
        return Node("script", parts=(base or Node("row"), below, above))

    def argument(self) -> Node:
        piece = self.take()
        if piece == "{":
            inner = self.row(("}",))
            self.expect("}")
            return inner
        if piece[0].isdigit() and len(piece) > 1:  # as TeX: one digit at a time
            self.left.append(piece[1:])
            piece = piece[0]
        return self.atom(piece) or Node("row")

    def atom(self, piece: str) -> Node | None:
        if piece == "{":
            inner = self.row(("}",))
            self.expect("}")
            return inner
        if piece[0].isdigit():
            return Node("number", piece, tex=piece)
        if not piece.startswith("\\"):
            if piece.isascii() and piece.isalpha():
                return Node("letter", piece, tex=piece)
            if piece in "=<>":
                return Node("relation", piece, tex=piece)
            if piece in "+-/,.:;!*'|":
                return Node("sign", {"-": "−", "'": "′", "*": "∗"}.get(piece, piece), tex=piece)
            if piece in "()[]":
                return Node("bracket", piece, tex=piece)
            raise UnreadError(f"{piece} is not read")
        return self.command(piece[1:])

    def command(self, name: str) -> Node | None:
        tex = f"\\{name}"
        if name.startswith("text{"):
            return Node("text", name[5:-1])
        for kind, known in (("letter", LETTERS), ("relation", RELATIONS), ("sign", SIGNS | DOTS), ("big", BIG)):
            if name in known:
                return Node(kind, known[name], tex=tex)
        if name in IGNORED:
            return None
        if name.startswith("hfl"):  # a macro for a letter, see _statement.macro
            return Node("letter", name, tex=tex)
        if name in WORDS:
            return Node("word", name, tex=tex)
        if name in SPACES:
            return Node("space", " " if name in ("quad", "qquad") else "", tex=tex)
        if name in BRACKETS:
            return Node("bracket", BRACKETS[name], tex=tex)
        if name in ("bigl", "bigr", "Bigl", "Bigr"):
            return self.atom(self.take())
        if name in ("frac", "tfrac", "dfrac"):
            return Node("frac", parts=(self.argument(), self.argument()))
        if name == "sqrt":
            degree = ""
            if self.left and self.left[-1] == "[":
                self.take()
                degree = self.take()
                self.expect("]")
            return Node("root", degree, (self.argument(),))
        if name == "left":
            open_ = self.take().lstrip("\\")
            inner = self.row((r"\right",))
            self.expect(r"\right")
            close = self.take().lstrip("\\")
            if open_ not in BRACKETS or close not in BRACKETS:
                raise UnreadError("no such bracket")
            return Node("fence", f"{open_} {close}", (inner,))
        if name in ACCENTS:
            return Node("accent", ACCENTS[name], (self.argument(),), tex)
        if name in FONTS:
            return Node("font", name, (self.argument(),))
        if name == "begin":
            return self.cases()
        raise UnreadError(f"\\{name} is not read")

    def cases(self) -> Node:
        for piece in "{cases}":
            self.expect(piece)
        rows: list[Node | None] = []
        while True:
            rows.append(self.row(("&",)))
            self.expect("&")
            rows.append(self.row((r"\\", r"\end")))
            if self.take() == r"\end":
                break
        for piece in "{cases}":
            self.expect(piece)
        return Node("cases", parts=tuple(rows))


# ---------------------------------------------------------------- MathML


def mathml(tex: str, display: bool = False) -> str:
    """A ``math`` element, or the LaTeX itself in a ``code`` element where it is not read."""
    node = mathematics(tex)
    if node is None:
        return f"<code>{html.escape(tex)}</code>"
    mode = ' display="block"' if display else ""
    return f'<math xmlns="http://www.w3.org/1998/Math/MathML"{mode}>{_mathml(node)}</math>'


def _mathml(node: Node | None) -> str:
    if node is None:
        return "<mrow></mrow>"
    inner = "".join(_mathml(part) for part in node.parts) if node.kind not in ("script", "cases") else ""
    text = html.escape(node.text)
    if node.kind == "row":
        return f"<mrow>{inner}</mrow>"
    if node.kind in ("letter", "word"):
        return f"<mi>{text}</mi>"
    if node.kind == "number":
        return f"<mn>{text}</mn>"
    if node.kind == "text":
        return f"<mtext>{text.replace(' ', chr(160))}</mtext>"
    if node.kind == "space":
        return '<mspace width="1em"/>' if text else '<mspace width="0.2em"/>'
    if node.kind == "frac":
        return f"<mfrac>{inner}</mfrac>"
    if node.kind == "root":
        return f"<mroot>{inner}<mn>{text}</mn></mroot>" if text else f"<msqrt>{inner}</msqrt>"
    if node.kind == "accent":
        return f'<mover accent="true">{inner}<mo>{text}</mo></mover>'
    if node.kind == "font":
        return f'<mi mathvariant="normal">{html.escape(plain(node))}</mi>'
    if node.kind == "fence":
        open_, close = (html.escape(BRACKETS[side]) for side in node.text.split(" "))
        return f"<mrow><mo>{open_}</mo>{inner}<mo>{close}</mo></mrow>"
    if node.kind == "cases":
        cells = [f'<mtd style="text-align: left">{_mathml(part)}</mtd>' for part in node.parts]
        rows = "".join(f"<mtr>{then}{when}</mtr>" for then, when in zip(cells[::2], cells[1::2], strict=True))
        return f'<mrow><mo>{{</mo><mtable columnalign="left left">{rows}</mtable></mrow>'
    if node.kind == "script":
        base, below, above = node.parts
        name = ("munder", "mover", "munderover") if base and base.kind == "big" else ("msub", "msup", "msubsup")
        element = name[2] if below and above else name[0] if below else name[1]
        return f"<{element}>{''.join(_mathml(part) for part in node.parts if part is not None)}</{element}>"
    stretchy = ' stretchy="false"' if node.kind == "bracket" else ""
    return f"<mo{stretchy}>{text}</mo>"


# ---------------------------------------------------------------- plain text

RAISED = str.maketrans("0123456789+−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻")
LOWERED = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
OPERANDS = ("letter", "number", "frac", "root", "script", "fence", "accent", "font", "cases", "big", "word", "bracket")


def unicode(tex: str) -> str:
    """The formula on one line of text, or the LaTeX itself where it is not read."""
    node = mathematics(tex)
    return tex if node is None else " ".join(plain(node).split())


def plain(node: Node | None) -> str:
    """A node on one line of text."""
    if node is None:
        return ""
    if node.kind == "row":
        return _row(node)
    if node.kind == "frac":
        top, bottom = (part or Node("row") for part in node.parts)
        over = f"({plain(top)})" if _is_added(top) else plain(top)
        simple = bottom.kind in ("letter", "number", "script", "accent", "font", "fence", "root")
        return f"{over}/{plain(bottom) if simple else f'({plain(bottom)})'}"
    if node.kind == "root":
        sign = {"": "√", "3": "∛"}.get(node.text, "√")
        inner = node.parts[0]
        simple = inner is not None and inner.kind in ("letter", "number")
        return f"{sign}{plain(inner)}" if simple else f"{sign}({plain(inner)})"
    if node.kind == "accent":
        inner_text = plain(node.parts[0])
        return f"{inner_text[:1]}{MARKS[node.text]}{inner_text[1:]}"
    if node.kind == "font":
        inner_text = plain(node.parts[0]).replace(" ", "")
        return {"mathbb": DOUBLE, "mathcal": SCRIPT}.get(node.text, {}).get(inner_text, inner_text)
    if node.kind == "fence":
        open_, close = (BRACKETS[side] for side in node.text.split(" "))
        return f"{open_}{plain(node.parts[0])}{close}"
    if node.kind == "cases":
        then, when, otherwise = (plain(part) for part in node.parts[:3])
        return f"[{then} {when}, else {otherwise}]"
    if node.kind == "script":
        base, below, above = node.parts
        text = f"({plain(base)})" if base is not None and base.kind == "frac" else plain(base)
        if below is not None:
            low = _tight(below)
            text += low.translate(LOWERED) if low.isdigit() else f"_{low}" if _is_word(low) else f"_({low})"
        if above is not None:
            high = _tight(above)
            if re.fullmatch(r"[\d+−]+", high):
                return text + high.translate(RAISED)
            bracketed = _is_word(high) or re.fullmatch(r"\([^()]*\)", high)
            text += f"^{high}" if bracketed else f"^({high})"
        return text
    if node.kind == "relation":
        return f" {node.text} "
    return node.text


def _row(node: Node) -> str:
    text = ""
    before: Node | None = None
    for i, part in enumerate(node.parts):
        if part is None:
            continue
        after = node.parts[i + 1] if i + 1 < len(node.parts) else None
        shown = plain(part)
        # A fraction among other factors is read as one thing only in brackets.
        beside = [x for x in (before, after) if x is not None and x.kind in OPERANDS]
        if part.kind == "frac" and beside:
            shown = f"({shown})" if not (before is None or before.kind == "sign") or after is not None else shown
        if part.kind == "sign" and part.text in "+−·×" and text:
            shown = f" {shown} "
        elif part.kind == "sign" and part.text in ",;":
            shown = f"{shown} "
        elif before is not None and _apart(before, part):
            shown = f" {shown}"
        text += shown
        before = part
    return text


def _base(node: Node) -> Node:
    return node.parts[0] or node if node.kind == "script" else node


def _apart(before: Node, part: Node) -> bool:
    """Whether a space stands between two neighbours."""
    before, part = _base(before), _base(part)
    if before.kind in ("bracket", "space", "sign") or part.kind in ("space", "sign", "relation"):
        # After a bracket that closes, what comes next is another factor.
        return before.kind == "bracket" and before.text in ")]}" and part.kind in OPERANDS and part.kind != "bracket"
    if part.kind == "bracket" or before.text == "∇":
        return False
    if part.kind == "fence" and (before.kind == "word" or before.text == "operatorname"):
        return False
    return before.kind in OPERANDS and part.kind in OPERANDS


def _is_added(node: Node) -> bool:
    return node.kind == "row" and any(p is not None and p.kind == "sign" and p.text in "+−" for p in node.parts[1:])


def _is_word(text: str) -> bool:
    return text.isalnum() or len(text) == 1


def _tight(node: Node) -> str:
    """Plain text of a script: without spaces, and letters side by side."""
    if node.kind == "row" and any(part is not None and part.kind == "cases" for part in node.parts):
        return plain(node)
    return plain(node).replace(" ", "")


# ---------------------------------------------------------------- matplotlib's mathtext


def mathtext(tex: str) -> str:
    """The same formula in matplotlib's subset, without its dollars; the LaTeX itself where it is not read."""
    node = mathematics(tex)
    return tex if node is None else _mathtext(node)


def _mathtext(node: Node | None) -> str:
    if node is None:
        return ""
    parts = [_mathtext(part) for part in node.parts]
    if node.kind == "row":
        return " ".join(parts)
    if node.kind == "frac":
        return rf"\frac{{{parts[0]}}}{{{parts[1]}}}"
    if node.kind == "root":
        return rf"\sqrt[{node.text}]{{{parts[0]}}}" if node.text else rf"\sqrt{{{parts[0]}}}"
    if node.kind == "accent":
        return f"{node.tex}{{{parts[0]}}}"
    if node.kind == "font":
        return rf"\{'mathrm' if node.text == 'operatorname' else node.text}{{{parts[0].replace(' ', '')}}}"
    if node.kind == "fence":
        open_, close = (_fence(side) for side in node.text.split(" "))
        return rf"\left{open_} {parts[0]} \right{close}"
    if node.kind == "cases":
        return rf"\left[ {parts[0]}\ {parts[1]};\ \mathrm{{else}}\ {parts[2]} \right]"
    if node.kind == "script":
        base, below, above = parts
        tail = (f"_{{{below}}}" if node.parts[1] else "") + (f"^{{{above}}}" if node.parts[2] else "")
        bare = re.fullmatch(r"[A-Za-z\d)\]]|\\[A-Za-z]+|\\.", base)
        return f"{base}{tail}" if bare else f"{{{base}}}{tail}"
    if node.kind == "text":
        words = "\\ ".join(node.text.split())
        return rf"\ \mathrm{{{words}}}\ "
    if node.kind == "space":
        return r"\quad" if node.text else r"\,"
    return {r"\le": r"\leq", r"\ge": r"\geq", r"\ne": r"\neq"}.get(node.tex, node.tex)


def _fence(side: str) -> str:
    return side if side in "()[]." else f"\\{side}"


# ---------------------------------------------------------------- how wide


@lru_cache(maxsize=4096)
def width(tex: str) -> float:
    """About how wide the formula is, in letters; for finding places to break a line."""
    node = mathematics(tex)
    return len(tex) / 2 if node is None else _width(node)


def _width(node: Node | None) -> float:
    if node is None:
        return 0.0
    parts = [_width(part) for part in node.parts]
    if node.kind == "frac":
        return max(parts) + 0.5
    if node.kind == "script":
        return parts[0] + 0.7 * max(parts[1:])
    if node.kind == "cases":
        return 1.5 + max(parts[::2]) + 1.5 + max(parts[1::2])
    if node.kind in ("relation", "sign") and node.text not in ",.'/":
        return 2.0
    extra = {"root": 1.5, "fence": 1.5, "big": 1.5, "space": 1.5, "text": 0.7 * len(node.text), "word": 3.0}
    own = {"letter": 1.0, "number": 0.8 * len(node.text), "bracket": 0.7, "sign": 0.5, **extra}.get(node.kind, 0.0)
    return own + sum(parts)
