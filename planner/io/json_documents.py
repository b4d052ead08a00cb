"""JSON documents that others may have written: bounded in size and depth, without doubled keys, NaN or infinity."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from planner.errors import ScenarioError
from planner.io.parts import Part
from planner.io.text import capped

if TYPE_CHECKING:
    from pydantic import TypeAdapter

LARGEST_FILE = 1 << 24  # bytes
DEEPEST = 32  # objects and lists within each other
STEERING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
Model = TypeVar("Model", bound=Part)


def loaded(path: Path, model: type[Model], noun: str = "answer", way: str = "") -> Model:
    """Read the part that a JSON file holds: a ``noun``; ``way`` leads out of a file that is none."""
    document = read(path, noun, way)
    of_schema(path, document, [model.schema_id()], way)
    return checked(path, model, document, way=way)


def read(path: Path, noun: str = "answer", way: str = "") -> dict[str, Any]:
    """Read the object that a JSON file holds, which is to be a ``noun``."""
    another = way or "Check the path."
    raw = capped(path, LARGEST_FILE, f", which no {noun} is. Check the path.")
    try:
        document = json.loads(
            raw.decode("utf-8-sig"), object_pairs_hook=_object, parse_float=_float, parse_constant=_refuse
        )
    except json.JSONDecodeError as error:
        what = f"not JSON (line {error.lineno}, column {error.colno})" if raw.strip() else "empty"
        raise ScenarioError(f"{path}: is {what}. {another}", code="E031") from None
    except UnicodeDecodeError as error:
        raise ScenarioError(f"{path}: is not UTF-8 text (byte {error.start}). {another}", code="E031") from None
    except RecursionError:
        raise ScenarioError(f"{path}: is nested too deeply.", code="E004") from None
    except ValueError as error:  # a doubled key, NaN, or a number with thousands of digits
        raise ScenarioError(f"{path}: {error!s:.160}. {way}".rstrip()) from None
    _walk(path, document, noun)
    if not isinstance(document, dict):
        raise ScenarioError(f"{path}: holds no JSON object. {another}")
    return document


def of_schema(path: Path, document: dict[str, Any], schemas: Sequence[str], way: str = "") -> str:
    """Return the schema that a document from a file says it has.

    Raises:
        ScenarioError: If it is none of the schemas that are read here.
    """
    said = document.get("schema")
    if said in schemas:
        return str(said)
    family = str(said).rpartition("/")[0]
    newer = "A newer hfl-plan may read it." if any(family == s.rpartition("/")[0] for s in schemas) else ""
    its = "it names no schema" if said is None else f"its schema is {said!r:.60}"
    fact = f"{its}, and {' or '.join(schemas)} is read."
    raise ScenarioError(" ".join(filter(None, (f"{path}: {fact}", newer, way))), code="E036")


def levels(value: Any) -> Iterator[list[Any]]:
    """List what stands on every level of nested JSON, the outermost first."""
    below = [value]
    while below:
        yield below
        nested = [one for one in below if isinstance(one, dict | list)]
        below = [inner for one in nested for inner in (one.values() if isinstance(one, dict) else one)]


def canonical(document: Any) -> str:
    """A document as text that is the same for the same content."""
    return json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False)


def written(document: Any, digits: int) -> str:
    """The text of a document, with so many significant digits of every number."""
    return json.dumps(_rounded(document, digits), indent=1, allow_nan=False) + "\n"


def _rounded(value: Any, digits: int) -> Any:
    if isinstance(value, float):
        return float(f"{value:.{digits}g}")
    if isinstance(value, dict):
        return {key: _rounded(inner, digits) for key, inner in value.items()}
    return [_rounded(inner, digits) for inner in value] if isinstance(value, list) else value


@cache
def _fitting(model: type[Part]) -> TypeAdapter[Any]:
    """What fits documents into parts, and knows their schema."""
    from pydantic import TypeAdapter

    return TypeAdapter(model)


def schema_of(model: type[Part]) -> dict[str, Any]:
    """The JSON Schema of a part's documents."""
    return _fitting(model).json_schema()  # type: ignore[arg-type]  # classes are hashed as classes


def fitted(model: type[Model], document: dict[str, Any]) -> Model:
    """Fit a document into a part.

    Raises:
        ValueError: That says what does not fit, as `pydantic.ValidationError`.
    """
    found: Model = _fitting(model).validate_json(json.dumps(document, allow_nan=False))  # type: ignore[arg-type]  # as above
    return found


def checked(path: Path, model: type[Model], document: dict[str, Any], way: str = "") -> Model:
    """Fit a document from a file into a part.

    Raises:
        ScenarioError: With the first thing that is wrong.
    """
    from pydantic import ValidationError

    try:
        return fitted(model, document)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        fact = "is no field of it" if first["type"] == "unexpected_keyword_argument" else first["msg"]
        at = ".".join(map(str, first["loc"])) or "the document"
        raise ScenarioError(f"{path}: {at:.120}: {fact:.160}. {way}".rstrip()) from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key {next(key for key in keys if keys.count(key) > 1)!a:.60} is there twice")
    return found


def _float(text: str) -> float:
    if math.isinf(number := float(text)):
        raise ValueError(f"{text:.40} is not a number of double precision")
    return number


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a number of JSON")


def _walk(path: Path, document: Any, noun: str) -> None:
    """See that nothing is too deep, and no text has letters that steer a terminal."""
    for depth, level in enumerate(levels(document)):
        if depth == DEEPEST:
            raise ScenarioError(f"{path}: is nested too deeply.", code="E004")
        texts = [one for one in level if isinstance(one, str)]
        texts += [key for one in level if isinstance(one, dict) for key in one]
        if any(map(STEERING.search, texts)):
            raise ScenarioError(f"{path}: has control characters in a text, which no {noun} has.")
