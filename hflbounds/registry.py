"""Finding bounds. A bound is in the registry because its module is in ``catalog``; there is no list to edit."""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

from hflbounds import catalog
from hflbounds.bound import Bound
from hflbounds.errors import DeclarationError, UnknownBoundError


@cache
def catalogue() -> Mapping[str, Bound]:
    """Every bound, by id, in the order of the catalogue's files."""
    found: dict[str, Bound] = {}
    for info in pkgutil.iter_modules(catalog.__path__):
        module = importlib.import_module(f"{catalog.__name__}.{info.name}")
        for bound in _declared(vars(module).values()):
            if found.setdefault(bound.id, bound) is not bound:
                raise DeclarationError(f"two bounds are called {bound.id}")
    return MappingProxyType(found)


def _declared(values: Any) -> Iterator[Bound]:
    for value in values:
        if isinstance(value, Bound):
            yield value
        elif isinstance(value, tuple):
            yield from (part for part in value if isinstance(part, Bound))


def get(bound_id: str) -> Bound:
    """The bound with this id.

    Raises:
        UnknownBoundError: naming the nearest ids.
    """
    try:
        return catalogue()[bound_id]
    except KeyError:
        near = difflib.get_close_matches(bound_id, catalogue())
        hint = f"did you mean {' or '.join(near)}?" if near else "`hflbounds.catalogue()` lists them all"
        raise UnknownBoundError(f"no bound is called {bound_id!r}; {hint}") from None


@cache
def families() -> Mapping[str, tuple[Bound, ...]]:
    """The bounds that differ only in their topology, by the id without it."""
    found: dict[str, list[Bound]] = {}
    for bound in catalogue().values():
        found.setdefault(bound.family, []).append(bound)
    return MappingProxyType({key: tuple(bounds) for key, bounds in found.items()})
