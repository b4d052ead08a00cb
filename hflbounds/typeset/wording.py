"""Text escaped for each format."""

from __future__ import annotations

import html as _html
import re
import unicodedata
from collections.abc import Callable, Iterator

from hflbounds.typeset import markup

LATEX = {
    **{"\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%"},
    **{"_": r"\_", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}"},
    **{"|": r"\textbar{}", '"': r"\textquotedbl{}", "`": r"\textasciigrave{}"},
    **{"–": "--", "—": "---", "’": "'", "‘": "`", "“": "``", "”": "''", "…": r"\dots{}"},
    **{"≤": r"\ensuremath{\le}", "≥": r"\ensuremath{\ge}", "×": r"\ensuremath{\times}", "·": r"\ensuremath{\cdot}"},
    **{"²": r"\ensuremath{^2}", "³": r"\ensuremath{^3}", "→": r"\ensuremath{\to}", "∞": r"\ensuremath{\infty}"},
    **{"−": r"\ensuremath{-}", "≠": r"\ensuremath{\ne}"},
    **{letter: rf"\ensuremath{{\{name}}}" for name, letter in markup.GREEK.items()},
}
ESCAPED = str.maketrans(dict[str, str | int | None](LATEX))


def line(text: str) -> str:
    """One line of printable characters."""
    if not text.isprintable():
        text = "".join(c if unicodedata.category(c)[0] != "C" else " " for c in text)
    return " ".join(text.split())


def latex(text: str) -> str:
    r"""Text that LaTeX shows as it is.

    >>> latex("\\input{x} 5% of a_b")
    '\\textbackslash{}input\\{x\\} 5\\% of a\\_b'
    """
    shown = line(text).translate(ESCAPED)
    return re.sub(r"[^\x00-\u017f]", lambda other: f"[U+{ord(other[0]):04X}]", shown)


def bibtex(text: str) -> str:
    """Text inside the braces of a BibTeX field, which must balance even where they are escaped."""
    return latex(text).replace(r"\{", r"\textbraceleft{}").replace(r"\}", r"\textbraceright{}")


def html(text: str) -> str:
    """Text that HTML shows as it is."""
    return _html.escape(line(text))


def markdown(text: str) -> str:
    """Text that Markdown shows as it is, and that no renderer takes for HTML or mathematics."""
    text = line(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_{}\[\]|#$~!])", r"\\\1", text)


def pieces(text: str) -> Iterator[tuple[bool, str]]:
    """The parts of a sentence, with whether each is mathematics (LaTeX between dollars, of ours)."""
    parts = text.split("$")
    if len(parts) % 2 == 0:  # a dollar of its own
        yield False, text
        return
    for i, part in enumerate(parts):
        if i % 2 and markup.mathematics(part) is None:
            yield False, f"${part}$"
        elif part:
            yield bool(i % 2), part


def sentence(text: str, words: Callable[[str], str], formula: Callable[[str], str]) -> str:
    """A sentence with each of its parts written for a format; spaces around formulas are kept."""
    out = ""
    for mathematical, part in pieces(text):
        if mathematical:
            out += formula(part)
        else:
            left, right = part[:1].isspace(), part[-1:].isspace()
            out += f"{' ' if left and out else ''}{words(part)}{' ' if right and part.strip() else ''}"
    return out.strip()


def capital(text: str) -> str:
    """With a capital first letter, where it begins with a word and not with a symbol.

    >>> capital("star-ring, fixed order"), capital("c2 is infinite"), capital("$x$ is")
    ('Star-ring, fixed order', 'c2 is infinite', '$x$ is')
    """
    return text[:1].upper() + text[1:] if re.match(r"(?:a|[a-z]{2,})(?![\w^])", text) else text
