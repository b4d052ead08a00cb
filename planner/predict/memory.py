"""What was worked out before: a clock moves no count of rounds, and rounds to a target move no clock."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Mapping
from dataclasses import fields, replace
from threading import Lock
from typing import Any, Final

import numpy as np

CLOCK: Final = frozenset({"network", "compute", "model_bytes", "cost", "rates"})
"""Fields of a question that say how long a round takes, and nothing of how many there are."""

KEPT: Final = 512  # questions: more than one answer asks where devices stay away, so that the next finds them
LARGEST: Final = 1 << 14  # numbers of one that is kept

_known: OrderedDict[Hashable, Mapping[str, Any]] = OrderedDict()
_lock = Lock()


def key_of(question: Any, changes: Mapping[str, Any]) -> Hashable | None:
    """Return what rounds depend on: every field but the clock's, and changed values; None where that has no hash."""
    parts = (getattr(question, field.name) for field in fields(question) if field.name not in CLOCK)
    return _hashed((*map(_frozen, parts), _frozen(changes)))


def key_of_clock(question: Any, objective: str) -> Hashable | None:
    """Return what the price of a round depends on, who comes included; None where that has no hash."""
    comes = question.availability
    alike = question if comes is None or question.members is None else replace(question, members=None)
    specs = ((t, question.round_spec(t), alike.round_spec(t)) for t in question.topologies)
    return _hashed((objective, _frozen(question.rates), comes, *specs))


def remembered(key: Hashable | None) -> dict[str, Any] | None:
    """Return what was kept for a key, such as rounds by topology; None where nothing was."""
    with _lock:
        found = _known.get(key)
        if found is None:
            return None
        _known.move_to_end(key)
        return dict(found)


def keep(key: Hashable | None, found: Mapping[str, Any]) -> None:
    """Keep what was found for a key, in place of what was asked for longest ago."""
    if key is None or sum(np.size(one) for one in found.values()) > LARGEST:
        return
    with _lock:
        _known[key] = dict(found)
        while len(_known) > KEPT:
            _known.popitem(last=False)


def _hashed(key: Hashable) -> Hashable | None:
    try:
        hash(key)
    except TypeError:
        return None
    return key


def _frozen(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.shape, value.dtype.str, value.tobytes()
    if isinstance(value, Mapping):
        return tuple((name, _frozen(one)) for name, one in value.items())
    return value
