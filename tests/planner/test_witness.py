"""A refactoring keeps every number: answers of the first build, to 1e-12.

``tests/data/recommendations.json.gz`` holds what version 0.1.0 printed for the examples, twenty drawn scenarios and two
searches, with the generating vectors of its lattices made independent of the processor (the one mended number).
"""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from test_cli import run

ROOT = Path(__file__).parents[2]
RUNS = json.loads(gzip.decompress((ROOT / "tests" / "data" / "recommendations.json.gz").read_bytes()))
TEXT = {"version", "explanation", "warnings", "note", "why", "reading", "where", "flips_searched"}


def leaves(value: Any, at: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, part in value.items():
            if key not in TEXT:
                yield from leaves(part, f"{at}.{key}")
    elif isinstance(value, list):
        yield f"{at}.length", len(value)
        for number, part in enumerate(value):
            yield from leaves(part, f"{at}[{number}]")
    else:
        yield at, value


@pytest.mark.parametrize("kept", RUNS, ids=lambda kept: " ".join(kept["arguments"])[:70])
def test_every_number_is_kept(
    kept: dict[str, Any], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    code, out, err = run("recommend", *kept["arguments"], "--json", capsys=capsys, monkeypatch=monkeypatch)
    assert (code, err) == (0, "")
    now = dict(leaves(json.loads(out)))
    different = []
    for at, before in leaves(kept["answer"]):
        after = now.get(at, "missing")
        if isinstance(before, float) and isinstance(after, float | int):
            if not math.isclose(before, after, rel_tol=1e-12, abs_tol=1e-300):
                different.append((at, before, after))
        elif before != after:
            different.append((at, before, after))
    assert different == []
