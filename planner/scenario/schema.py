"""The JSON Schema of scenario files and the rows of their reference page, made from the table of fields."""

from __future__ import annotations

from typing import Any

from planner.scenario.fields import FIELDS, GROUP_FIELDS, TIER_FIELDS, Field

ID = "hfl-plan/scenario/1"


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a scenario file, with a description of every key."""
    document = _tables(FIELDS)
    tiers = document["properties"]["fleet"]["properties"]["tiers"]
    tiers |= {"type": "array", "minItems": 1, "maxItems": 8, "items": _tables(TIER_FIELDS)}
    *_, listed = document["properties"]["fleet"]["properties"]["groups"]["anyOf"]
    listed |= {"minItems": 1, "items": {**_tables(GROUP_FIELDS), "required": ["clients"]}}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": ID, "title": "Scenario", **document}


def reference(fields: tuple[Field, ...] = FIELDS) -> list[str]:
    """Return the rows of a Markdown table: key, options, default, meaning."""
    rows = ["| key | option | default | meaning |", "|---|---|---|---|"]
    for field in fields:
        options = " ".join(f"`{option}`" for option in field.options if option.startswith("--"))
        rows.append(f"| `{field.key}` | {options} | {field.default} | {field.help} |")
    return [" ".join(row.split()) for row in rows]


def _tables(fields: tuple[Field, ...]) -> dict[str, Any]:
    root: dict[str, Any] = _table()
    for field in fields:
        *sections, key = field.key.split(".")
        table = root
        for section in sections:
            table = table["properties"].setdefault(section, _table())
        table["properties"][key] = {**field.kind.schema, "description": field.sentence}
    return root


def _table() -> dict[str, Any]:
    return {"type": "object", "additionalProperties": False, "properties": {}}
