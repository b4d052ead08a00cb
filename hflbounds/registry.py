"""The registry of bounds: every file of ``catalog`` is scanned, so there is no list to edit."""

from __future__ import annotations

import copyreg
import difflib
import importlib
import pkgutil
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

from hflbounds import catalog
from hflbounds import errata as folder
from hflbounds.core.bound import Bound, Erratum
from hflbounds.errors import DeclarationError, UnknownBoundError

FIRST = ("zhou2026", "zhou2025", "liu2026", "sharma2025", "xie2024", "own")
"""Files that come first in the catalogue, by the first part of their names: the five papers, then this project's."""


@cache
def catalogue() -> Mapping[str, Bound]:
    """Every bound, by id: of the five papers, of this project, and of others."""
    found: dict[str, Bound] = {}
    for name in sorted((info.name for info in pkgutil.iter_modules(catalog.__path__)), key=_place):
        for bound in _in_file(name):
            if found.setdefault(bound.id, bound) is not bound:
                raise DeclarationError(f"two bounds are called {bound.id}")
    return MappingProxyType(found)


def _place(name: str) -> int:
    key = name.partition("_")[0]
    return FIRST.index(key) if key in FIRST else len(FIRST)


@cache
def _in_file(name: str) -> tuple[Bound, ...]:
    try:
        module = importlib.import_module(f"{catalog.__name__}.{name}")
    except (TypeError, ValueError) as error:
        raise DeclarationError(f"{catalog.__name__}.{name} cannot be read: {error}") from error
    found: list[Bound] = []
    for value in vars(module).values():
        parts = value if isinstance(value, tuple) else (value,)
        found.extend(part for part in parts if isinstance(part, Bound))
    return tuple(found)


def _by_id(bound: Bound) -> tuple[Any, ...]:
    """Send a bound to another process by its id, so that it stays the one object that bears it."""
    if catalogue().get(bound.id) is not bound:
        raise TypeError(f"{bound.id} is not the catalogue's own, so it cannot be sent by its id")
    return get, (bound.id,)


copyreg.pickle(Bound, _by_id)


def get(bound_id: str) -> Bound:
    """The bound with this id.

    Raises:
        UnknownBoundError: naming the nearest ids.
    """
    try:
        return catalogue()[bound_id]
    except KeyError:
        near = [name for name in catalogue() if name.startswith(f"{bound_id}.")]
        near = near or difflib.get_close_matches(str(bound_id), catalogue())
        hint = f"did you mean {' or '.join(near)}?" if near else "`hflbounds.catalogue()` lists them all"
        raise UnknownBoundError(f"no bound is called {bound_id!r}; {hint}") from None


@cache
def family(family_id: str) -> tuple[Bound, ...]:
    """The bounds that differ only in their topology, by the id without it; reads one file only.

    Raises:
        UnknownBoundError: if there is none.
    """
    key = family_id.partition(".")[0]
    names = [info.name for info in pkgutil.iter_modules(catalog.__path__)]
    # A file bears its paper's key, perhaps with a part; where none does, the project's own come first.
    mine = [name for name in names if name == key or name.startswith(f"{key}_")]
    for name in mine or sorted(names, key=lambda name: (not name.startswith("own"), name)):
        found = tuple(bound for bound in _in_file(name) if bound.family == family_id)
        if found:
            return found
    raise UnknownBoundError(f"no family of bounds is called {family_id!r}; known are {', '.join(families())}")


@cache
def families() -> Mapping[str, tuple[Bound, ...]]:
    """Every family: the bounds that differ only in their topology, by the id without it; or one bound alone."""
    found: dict[str, list[Bound]] = {}
    for bound in catalogue().values():
        found.setdefault(bound.family, []).append(bound)
    return MappingProxyType({key: tuple(bounds) for key, bounds in found.items()})


@cache
def errata() -> tuple[Erratum, ...]:
    """Everything that a source prints otherwise than it proves: by bound, then those of `hflbounds.errata`.

    Raises:
        DeclarationError: if two of them share an id.
    """
    found: dict[str, Erratum] = {}
    attached = [erratum for bound in catalogue().values() for erratum in bound.noted]
    for info in pkgutil.iter_modules(folder.__path__):
        attached.extend(importlib.import_module(f"{folder.__name__}.{info.name}").ERRATA)
    for erratum in attached:
        if found.setdefault(erratum.id, erratum) != erratum:
            raise DeclarationError(f"two errata are called {erratum.id}")
    return tuple(found.values())
