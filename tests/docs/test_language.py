"""Answers, help, messages and pages speak standard terms in short sentences, and the glossary has their words."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from language import private, prose, reading_ease, said, sentences, syllables, words
from test_docs import consoles

ROOT = Path(__file__).parents[2]
LONGEST = 25  # words of a sentence in help and answers; 20 is the aim
EASE = 50  # of README and tutorials
MODULES = sorted(p for p in (ROOT / "planner").rglob("*.py") if "files" not in p.parts)
MADE = {"commands.md", "python-api.md", "schemas.md"}  # by docs/reference.py, from texts that are checked themselves
PAGES = [
    ROOT / "README.md",
    *sorted(path for path in (ROOT / "docs").rglob("*.md") if path.parent.name != "catalog" and path.name not in MADE),
]
GLOSSARY = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
COMMON = frozenset(
    word
    for line in (
        "AI API CHANGELOG CI CLI CODE COMMAND CONTRIBUTING CPU CSP CSV CUDA DNS FILE FL GB GEANT GML GPU HOOK HTML",
        "HTTP HTTPS ID IEEE IID JAX JS JSON KB LAN LICENSE LR MB MIT ML MLP NAME NAT NDJSON NUMBER OK OS PB PDF",
        "PNG PR PYPI PYTHONPATH RAM README SCENARIO SHA SI SQL SQLITE SVG TB TCP TOML URL US USB USD UTC UTF WAN",
        "WORDS WWW XML YAML",
    )
    for word in line.split()
)
"""Capitals that every reader knows, and placeholders of arguments."""


def terms() -> set[str]:
    """Return the words that the glossary defines, in lower case."""
    (block,) = re.findall(r"```\{glossary\}\n(.*?)```", GLOSSARY, flags=re.DOTALL)
    lines = [line for line in block.splitlines() if line and not line.startswith(" ")]
    return {word.strip().lower() for line in lines for word in line.split(",")}


@cache
def texts() -> tuple[tuple[str, str], ...]:
    """Return every text that the program may write, with its place."""
    return tuple(_texts())


def _texts() -> Iterator[tuple[str, str]]:
    for module in MODULES:
        for line, text in said(module):
            yield f"{module.relative_to(ROOT)}:{line}", text
    for code, row in tomllib.loads((ROOT / "planner" / "io" / "codes.toml").read_text(encoding="utf-8")).items():
        yield code, ". ".join(value for key, value in row.items() if key != "example")


def test_no_private_term_in_what_the_program_writes() -> None:
    assert [f"{place}: {found}" for place, text in texts() for found in private(text)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_private_term_on_a_page(page: Path) -> None:
    assert private(page.read_text(encoding="utf-8")) == []


def test_sentences_of_help_messages_and_answers_are_short() -> None:
    long = [(place, one) for place, text in texts() for one in sentences(text) if len(words(one)) > LONGEST]
    assert long == []


@pytest.mark.parametrize(
    "name", ["README.md", *(f"docs/tutorials/{p.name}" for p in (ROOT / "docs/tutorials").iterdir())]
)
def test_readme_and_tutorials_are_easy_to_read(name: str) -> None:
    assert reading_ease(prose((ROOT / name).read_text(encoding="utf-8"))) >= EASE


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if page.parent.name not in ("theory", "evidence")],
    ids=lambda path: path.relative_to(ROOT).as_posix(),
)
def test_every_abbreviation_is_in_the_glossary_or_spelled_out(page: Path) -> None:
    """Two capitals and more in running text; letters of theorems are in the notation."""
    text = re.sub(r"\([^)]*\)", "", prose(page.read_text(encoding="utf-8")))
    known = terms() | {part for term in terms() for part in term.split("-")} | {word.lower() for word in COMMON}
    found = set(re.findall(r"\b[A-Z][A-Z0-9]+(?:-[A-Z]+)?\b(?![-_*/.=])", text))
    assert {word for word in found if word.lower() not in known and not re.fullmatch(r"[A-Z]\d+", word)} == set()


def test_the_labels_and_columns_of_shown_answers_are_in_the_glossary() -> None:
    labels: set[str] = set()
    for page in PAGES:
        for command, shown in consoles(page.read_text(encoding="utf-8")):
            if command.split()[:2] == ["hfl-plan", "recommend"]:
                labels |= {m.group(1) for line in shown if (m := re.match(r"([A-Z][a-z]+)  +\S", line))}
    defined = GLOSSARY.lower()
    assert labels >= {"Assumed", "Changes", "Evidence", "Ask", "Next"}
    assert {label for label in labels if label.lower() not in defined and label not in ("Star", "Ring")} == set()


def test_the_glossary_is_sorted_and_every_entry_is_defined() -> None:
    (block,) = re.findall(r"```\{glossary\}\n(.*?)```", GLOSSARY, flags=re.DOTALL)
    entries = re.findall(r"^(\S.*)\n((?:  .*\n)+)", block, flags=re.MULTILINE)
    names = [name for name, _ in entries]
    assert len(entries) >= 60
    assert names == sorted(names, key=lambda name: re.sub(r"[^a-z0-9]", "", name.lower()))
    assert all(definition.rstrip().endswith(".") for _, definition in entries)


@pytest.mark.parametrize(
    ("text", "ease"),
    [  # by hand: 206.835 - 1.015 words / sentences - 84.6 syllables / words
        ("The cat sat on the mat.", 206.835 - 1.015 * 6 - 84.6),
        ("This sentence, taken as a reading passage unto itself, is being used to prove a point.", 68.98),  # known: 69
        ("The Australian platypus is seemingly a hybrid of a mammal and reptilian creature.", 24.44),  # 26 syllables
        ("It runs. It stops.", 206.835 - 1.015 * 2 - 84.6),
    ],
)
def test_reading_ease_of_known_texts(text: str, ease: float) -> None:
    assert reading_ease(text) == pytest.approx(ease, abs=0.01)


@pytest.mark.parametrize(
    ("count", "listed"),
    [
        (1, "star time rate gap used whole through"),
        (2, "table reading server client training network being"),
        (3, "gradient area interval probable average"),
        (4, "topology federated Australian"),
    ],
)
def test_syllables_of_words(count: int, listed: str) -> None:
    assert {word: syllables(word) for word in listed.split()} == dict.fromkeys(listed.split(), count)


def test_the_check_finds_what_it_is_for() -> None:
    assert private("Ring-Ring comes first, and nobody\nsaid why.") == [
        "'comes first', say: best topology",
        "'nobody', say: name the subject: no value was given, a coordinator, a client",
    ]
    assert private("The best topology is Ring-Ring.") == []
    assert sentences("One is here. Two, e.g. the 2nd, is there: yes.") == [
        "One is here.",
        "Two, e.g. the 2nd, is there: yes.",
    ]
    assert "secret" not in prose("A `secret` $secret$ word.\n\n```sh\nsecret\n```\n\n| secret |\n")
