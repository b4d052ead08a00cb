"""What can be checked of plain English: private terms, lengths of sentences, reading ease."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

PRIVATE = {
    r"\bcom(?:es?|ing) first\b|\bcame first\b": "best topology",
    r"\bfirst to not tie\b|\bahead of the first\b": "runner-up",
    r"\bfollowing it costs\b": "expected regret",
    r"\bheld back\b|\bholds? \S+ back\b": "dominant term",
    r"\bvaries mostly with\b|\bof the margin\b": "sensitivity",
    r"\bwhat would (?:change|flip) it\b": "break-even points",
    r"\bwho (?:comes|stays)\b|\bwho (?:is|are|was|were) (?:first|best|there|ahead)\b": "topology, participation",
    r"\b(?:no|some|any)body\b|\bwhoever\b": "name the subject: no value was given, a coordinator, a client",
    r"\bwhat (?:it|this|that|they) stands? on\b": "assumptions, evidence",
    r"\bknown within limits\b": "interval",
    r"\bby the clock\b": "by time",
    r"\b(?:least|most) unlike\b": "nearest",
    r"\bcomes? and goes?\b|\bhere and there\b": "sampled: a change between two samples may be missed",
    r"\breckon(?:s|ed)? with\b": "simulated",
    r"\bof which none is\b": "Pareto front",
    r"\bother words in the scenario\b": "categorical settings",
    r"\bof equal reach\b": "at the same effective rate",
    r"\bwas said of\b|\bwithout a word\b": "not given",
    r"\bwhose the\b": "link sharing",
    r"\bhave to be worth\b|\bhas to be worth\b": "objective",
    r"\bis a matter of\b": "depends on",
}
"""Patterns of wording that no answer, help text or page may have, and the standard term."""


ANY = re.compile("|".join(PRIVATE), re.IGNORECASE)


def private(text: str) -> list[str]:
    """Return what a text says in private terms, each with the standard term."""
    flat = " ".join(text.split())
    if not ANY.search(flat):
        return []
    return [
        f"{found.group()!r}, say: {better}"
        for pattern, better in PRIVATE.items()
        for found in re.finditer(pattern, flat, flags=re.IGNORECASE)
    ]


def prose(markdown: str) -> str:
    """Return the running text of a page: without code, tables, directives and marks."""
    text = re.sub(r"<!--.*?-->", " ", markdown, flags=re.DOTALL)
    text = re.sub(r"(?ms)^(```|\$\$).*?^\1\s*$", "", text)
    text = re.sub(r"(?m)^(\||#|:::|!\[|\* \* \*|---).*$", "", text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"`[^`]*`", "code", text)
    text = re.sub(r"\$[^$]*\$", "x", text)
    text = re.sub(r"(?m)^\s*(?:[-*]|\d+\.) +(.*)", r"\n\1", text)
    return text.replace("*", "")


def sentences(text: str) -> list[str]:
    """Part a text at full stops, colons before a line's end, and empty lines."""
    parts = re.split(r"(?<=[.!?])[)\"*]*\s+(?=[A-Z\"(`*\[]|code\b)|\n\s*\n|:\s*\n", text)
    return [" ".join(part.split()) for part in parts if re.search(r"[A-Za-z]{2}", part)]


def words(text: str) -> list[str]:
    """Return the words of a text; numbers with units count."""
    return re.findall(r"[A-Za-z0-9][\w'’.,/%^=-]*", text)


def syllables(word: str) -> int:
    """Count groups of vowels, without a silent e."""
    plain = re.sub(r"[^a-z]", "", word.lower())
    count = len(re.findall(r"[aeiouy]+", plain))
    apart = r"[iu][aou](?!us\b)|ien|ea\b|eo(?!u)|[aeiou]ing\b"  # vowels in a row that are spoken apart
    together = r"[tcsgx]i(?:[ao]|en)|qu[aeo]"
    count += len(re.findall(apart, plain)) - len(re.findall(together, plain))
    if re.search(r"[^aeiouyl]e$|[aeiouy]le$|[^aeiouytd]ed$|[^aeiouyscxzg]es$|[^aeiouy]ely$|[^aeiou]eful$", plain):
        count -= 1
    return max(1, count)


def reading_ease(text: str) -> float:
    """Return Flesch's reading ease: 206.835 less 1.015 words a sentence less 84.6 syllables a word."""
    found = [word for word in words(text) if re.search(r"[A-Za-z]", word)]
    per_sentence = len(found) / max(1, len(sentences(text)))
    return 206.835 - 1.015 * per_sentence - 84.6 * sum(map(syllables, found)) / max(1, len(found))


def said(path: Path) -> Iterator[tuple[int, str]]:
    """Texts of a module that a user may read: all with a space but docstrings; a value stands as one word."""
    nodes = [*ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
    silent: set[int] = set()
    for node in nodes:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            silent.add(id(node.value))
        if isinstance(node, ast.JoinedStr):
            silent |= {id(part) for part in ast.walk(node)} - {id(node)}
    for node in nodes:
        if id(node) in silent:
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield node.lineno, node.value
        elif isinstance(node, ast.JoinedStr):
            parts = (p.value if isinstance(p, ast.Constant) else "X" for p in node.values)
            yield node.lineno, "".join(str(part) for part in parts)
