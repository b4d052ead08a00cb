"""Write what `hfl-plan validate list` shows, so that it needs no torch: ``python benchmarks/claims_listed.py``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FILE = Path(__file__).parents[1] / "planner" / "data" / "claims_listed.json"
WORDS = ("id", "source", "statement", "prediction", "quantity", "metric", "alone")


def listed() -> list[dict[str, Any]]:
    """Return what every claim says, and the metrics that judge it too."""
    from validation.claims import claims

    return [
        {**{word: getattr(claim, word) for word in WORDS}, "others": list(claim.others)} for claim in claims().values()
    ]


if __name__ == "__main__":
    FILE.write_text(json.dumps(listed(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
