"""Rounds that were worked out before: links, sizes and compute times move a clock, and no count of rounds."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Mapping
from dataclasses import fields
from threading import Lock
from typing import Any, Final

import numpy as np

CLOCK: Final = frozenset({"network", "compute", "model_bytes", "cost", "rates"})
"""Fields of a question that say how long a round takes, and nothing of how many there are."""

KEPT: Final = 64  # questions
LARGEST: Final = 1 << 16  # numbers of one that is kept

_known: OrderedDict[Hashable, Mapping[str, Any]] = OrderedDict()
_lock = Lock()


def key_of(question: Any, changes: Mapping[str, Any]) -> Hashable | None:
    """Return what rounds depend on: every field but the clock's, and changed values; None where that has no hash."""
    parts = (getattr(question, field.name) for field in fields(question) if field.name not in CLOCK)
    key = (*map(_frozen, parts), _frozen(changes))
    try:
        hash(key)
    except TypeError:
        return None
    return key


def remembered(key: Hashable | None) -> dict[str, Any] | None:
    """Return the rounds of a key by topology; None where they are not known."""
    with _lock:
        found = _known.get(key)
        if found is None:
            return None
        _known.move_to_end(key)
        return dict(found)


def keep(key: Hashable | None, rounds: Mapping[str, Any]) -> None:
    """Keep the rounds of a key, in place of those asked for longest ago."""
    if key is None or sum(np.size(one) for one in rounds.values()) > LARGEST:
        return
    with _lock:
        _known[key] = dict(rounds)
        while len(_known) > KEPT:
            _known.popitem(last=False)


def _frozen(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.shape, value.dtype.str, value.tobytes()
    if isinstance(value, Mapping):
        return tuple((name, _frozen(one)) for name, one in value.items())
    return value
