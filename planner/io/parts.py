"""Parts of an answer: frozen values with named fields, which are JSON documents and know what their fields say.

They stand on nothing but the standard library, because whoever asks waits for their import. What others wrote is
fitted into them, and their JSON Schema is made, by pydantic, which reads the same fields: `planner.io.json_documents`.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any, ClassVar, Self, dataclass_transform


class Rule:
    """What a document's text must keep to, such as ``max_length``; for `Annotated`."""

    def __init__(self, **rules: int | str) -> None:
        self.rules = rules

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        """Add the rules to what pydantic makes of the type."""
        return {**handler(source), **self.rules}


def field(
    description: str = "",
    *,
    default: Any = dataclasses.MISSING,
    default_factory: Any = dataclasses.MISSING,
    key: str = "",
) -> Any:
    """Declare a field: what its schema says of it, its value where none is given, and its key in a document."""
    told = {name: text for name, text in (("description", description), ("alias", key)) if text}
    return dataclasses.field(default=default, default_factory=default_factory, metadata=told)


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(field,))
class Part:
    """A part of an answer; frozen, and without numbers that are not finite.

    The fields are those of a dataclass. They are put in place here and not by code that is written for each class,
    as that takes longer than most answers take to use.

    Raises:
        TypeError: For a field that is missing, or that there is not.
        ValueError: For a number that is not finite.
    """

    __pydantic_config__: ClassVar[Mapping[str, Any]] = {
        "frozen": True,
        "extra": "forbid",
        "allow_inf_nan": False,
        "validate_by_name": True,
        "serialize_by_alias": True,
    }
    _keys: ClassVar[Mapping[str, str]] = {}  # of a document, by the name of the field
    _defaults: ClassVar[Mapping[str, Any]] = {}

    def __init_subclass__(cls) -> None:
        dataclasses.dataclass(init=False, repr=False, eq=False, kw_only=True)(cls)
        fields = dataclasses.fields(cls)  # type: ignore[arg-type]  # it is one now
        cls._keys = {f.name: f.metadata.get("alias", f.name) for f in fields}
        made = ((f.name, f.default_factory() if callable(f.default_factory) else f.default) for f in fields)
        cls._defaults = {name: default for name, default in made if default is not dataclasses.MISSING}

    def __init__(self, **values: Any) -> None:
        found = {**self._defaults, **values}
        if found.keys() != self._keys.keys():
            wrong = ", ".join(sorted(found.keys() ^ self._keys.keys()))
            raise TypeError(f"{type(self).__name__}: missing, or no field of it: {wrong}")
        for name, value in found.items():
            if isinstance(value, float) and not math.isfinite(value):
                raise ValueError(f"{type(self).__name__}: {name} is {value}")
        self.__dict__.update((name, found[name]) for name in self._keys)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen: use replaced({name}=...)")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen")

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.__dict__ == self.__dict__

    def __hash__(self) -> int:
        return hash(tuple(self.__dict__.values()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.__dict__.items())})"

    @classmethod
    def made_of(cls, source: Any, **own: Any) -> Self:
        """Make one of what something else has under the same names, and of ``own`` values of the other fields."""
        same = {name: getattr(source, name) for name in cls._keys if name not in own and hasattr(source, name)}
        return cls(**same, **own)

    def replaced(self, **values: Any) -> Self:
        """Return the same with other values of some fields."""
        return type(self)(**{**self.__dict__, **values})

    @classmethod
    def schema_id(cls) -> str:
        """Return the id of the schema of these documents."""
        return next(str(cls._defaults[name]) for name, key in cls._keys.items() if key == "schema")

    def to_json(self) -> dict[str, Any]:
        """Return it as a dictionary, which `json.dumps` writes."""
        return {key: _plain(self.__dict__[name]) for name, key in self._keys.items()}


def _plain(value: Any) -> Any:
    if value is None or type(value) in (float, int, str, bool):  # first, as nearly all are
        return value
    if hasattr(value, "to_json"):  # a part, or a number with an interval
        return value.to_json()
    if isinstance(value, tuple | list):
        return [_plain(inner) for inner in value]
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    return value


def finite(number: float | None) -> float | None:
    """Return a number, or None where it is not finite, or none."""
    return None if number is None or not math.isfinite(number) else float(number)
