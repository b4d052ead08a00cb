"""JSON documents of commands, as tests read them."""

from __future__ import annotations

import json
from typing import Any


def own(text: str) -> dict[str, Any]:
    """A document with the keys of its command's own part beside the shared ones."""
    document = json.loads(text, parse_constant=lambda word: 1 / 0)
    name = document["schema"].split("/")[1].replace("-", "_")
    return {**document, **document.get(name, {}), "warnings": [one["text"] for one in document["warnings"]]}
