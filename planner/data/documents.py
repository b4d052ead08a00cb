"""JSON files of measurements that others may read and write: closed, finite, with as many digits as are known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from planner.errors import ScenarioError
from planner.io.text_files import capped

Model = TypeVar("Model", bound="Part")


class Part(BaseModel):
    """A part of a document: frozen, closed, finite."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, validate_by_name=True, serialize_by_alias=True
    )


def written(document: Any, digits: int) -> str:
    """The text of a document, with so many significant digits of every number."""
    return json.dumps(_rounded(document, digits), indent=1, allow_nan=False) + "\n"


def _rounded(value: Any, digits: int) -> Any:
    if isinstance(value, float):
        return float(f"{value:.{digits}g}")
    if isinstance(value, dict):
        return {key: _rounded(inner, digits) for key, inner in value.items()}
    return [_rounded(inner, digits) for inner in value] if isinstance(value, list) else value


def read(path: Path, model: type[Model], largest: int, noun: str, way: str) -> Model:
    """Read a document.

    ``noun`` is what such a document is called, and ``way`` a sentence that leads out of a file that is none.

    Raises:
        ScenarioError: Naming the file, the field, the fact and the way out.
    """
    raw, known = capped(path, largest, f", which no {noun} is. Check the path."), model.model_fields["schema_"].default
    try:
        document = json.loads(raw.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        where = f" (line {error.lineno}, column {error.colno})" if isinstance(error, json.JSONDecodeError) else ""
        raise ScenarioError(f"{path}: is not JSON{where}. {way}", code="E031") from None
    schema = document.get("schema") if isinstance(document, dict) else None
    if schema != known:
        raise ScenarioError(f"{path}: its schema is {schema!r:.60}, and {known} is read. {way}", code="E036")
    try:
        return model.model_validate_json(json.dumps(document))
    except ValueError as error:
        at, said = "the document", str(error)
        if isinstance(error, ValidationError):
            first = error.errors(include_url=False)[0]
            at, said = ".".join(str(part) for part in first["loc"]) or at, first["msg"]
        raise ScenarioError(f"{path}: {at}: {said}. {way}") from None
