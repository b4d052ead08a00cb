"""Whether documents are what their JSON Schema says."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import jsonschema


def validate(document: Any, schema: Any) -> None:
    """Raise what `jsonschema.validate` raises, which looks each time whether the schema is one; here once for each."""
    if error := jsonschema.exceptions.best_match(_checked(json.dumps(schema)).iter_errors(document)):
        raise error


@cache
def _checked(schema: str) -> Any:
    document = json.loads(schema)
    kind = jsonschema.validators.validator_for(document)
    kind.check_schema(document)
    return kind(document)
