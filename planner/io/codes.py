"""Codes of messages: what each means and what to do. The table is ``codes.toml`` beside this file."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources

from planner.errors import ScenarioError

NEAR = 10  # codes that are farther from what was written were not meant
WORDS = "Words of answers are explained in docs/glossary.md; "


@cache
def read() -> Mapping[str, Mapping[str, str]]:
    """Return title, meaning, example and help of every code."""
    return tomllib.loads(resources.files(__package__).joinpath("codes.toml").read_text(encoding="utf-8"))


def explained(code: str) -> list[tuple[str, str]]:
    """Return what a code means, as pairs of a heading and a text."""
    known, name = read(), code.strip().upper()
    if name not in known:
        told = int(name[1:5]) if name[1:5].isdecimal() else None
        like = [one for one in known if told is not None and one[0] == name[0] and abs(int(one[1:]) - told) < NEAR]
        near = sorted(like, key=lambda one: abs(int(one[1:]) - (told or 0)))[:2]
        near = [one for one in near if int(one[1:]) == told] or near
        way = f"Did you mean {' or '.join(near)}? " if near else WORDS if told is None else ""
        raise ScenarioError(
            f"{code!a:.40} is no code of a message. {way}`hfl-plan explain` lists all codes.", code="E016"
        )
    kind = "no answer, exit code 1" if name.startswith("N") else "error, exit code 2"
    row = known[name]
    pairs = [(f"{name}", f"{row['title']} ({kind})."), ("Meaning", row["meaning"])]
    pairs += [("Example", row["example"])] if "example" in row else []
    return [*pairs, ("Help", row["help"])]
