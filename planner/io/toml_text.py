"""Tables as TOML text: what `tomllib` reads back as the same tables."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

BARE = re.compile(r"[A-Za-z0-9_-]+")


def toml(table: Mapping[str, Any]) -> str:
    """Write tables, lists of tables, texts, numbers and booleans as TOML.

    >>> print(toml({"fleet": {"order": "fixed", "tiers": [{"count": 4}, {"count": 5}]}}), end="")
    [fleet]
    order = "fixed"
    <BLANKLINE>
    [[fleet.tiers]]
    count = 4
    <BLANKLINE>
    [[fleet.tiers]]
    count = 5

    Raises:
        TypeError: For any other value.
    """
    return "\n".join(_lines(table, "")).lstrip("\n") + "\n"


def _lines(table: Mapping[str, Any], at: str) -> Iterator[str]:
    below: list[tuple[str, Any]] = []
    for key, value in table.items():
        name = key if BARE.fullmatch(key) else text(key)
        if isinstance(value, Mapping) or (value and isinstance(value, list) and isinstance(value[0], Mapping)):
            below.append((f"{at}{name}", value))
        else:
            yield f"{name} = {_value(value)}"
    for path, value in below:
        if isinstance(value, Mapping):
            inner = list(_lines(value, f"{path}."))
            if not inner or inner[0]:  # a table that holds tables alone needs no heading
                yield from ("", f"[{path}]")
            yield from inner
        else:
            for one in value:
                yield from ("", f"[[{path}]]", *_lines(one, f"{path}."))


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return text(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    raise TypeError(f"{type(value).__name__} has no TOML here")


def text(value: str) -> str:
    """Write a text; a JSON string of printable letters is one of TOML."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
