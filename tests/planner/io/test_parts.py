"""Parts of answers: what they refuse, and that pydantic reads and describes the very fields that they have."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Annotated, Literal

import jsonschema
import pytest

from planner.io.json_documents import fitted, schema_of
from planner.io.parts import Part, Rule, field


class Inner(Part):
    """A part of a part."""

    from_: float = field("where it begins", key="from")
    words: Annotated[str, Rule(max_length=5)] = ""


class Outer(Part):
    """The whole."""

    schema_: Literal["test/1"] = field(default="test/1", key="schema")
    inner: tuple[Inner, ...]
    by_name: dict[str, Inner | None] = field(default_factory=dict)
    share: float | None = None


OUTER = Outer(inner=(Inner(from_=1.5), Inner(from_=2.0, words="five!")), by_name={"a": Inner(from_=0.0), "b": None})
DOCUMENT = {
    "schema": "test/1",
    "inner": [{"from": 1.5, "words": ""}, {"from": 2.0, "words": "five!"}],
    "by_name": {"a": {"from": 0.0, "words": ""}, "b": None},
    "share": None,
}


def test_a_part_is_its_document_and_back() -> None:
    assert OUTER.to_json() == DOCUMENT
    assert list(OUTER.to_json()) == list(DOCUMENT)  # in the order in which they are declared
    assert fitted(Outer, DOCUMENT) == OUTER
    assert isinstance(fitted(Outer, DOCUMENT).inner[0], Inner)
    jsonschema.validate(DOCUMENT, schema_of(Outer))


def test_the_schema_says_what_the_fields_say() -> None:
    inner = schema_of(Outer)["$defs"]["Inner"]
    assert inner["properties"]["from"]["description"] == "where it begins"
    assert inner["properties"]["words"]["maxLength"] == 5
    assert inner["required"] == ["from"]
    assert inner["description"] == "A part of a part."
    assert inner["additionalProperties"] is False


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"inner": [{"from": 1.0, "words": "longer"}]}, "inner.0.words"),
        ({"inner": [{"from": math.nan}]}, None),
        ({"inner": [{}]}, "inner.0.from"),
        ({"more": 1}, "more"),
        ({"schema": "test/2"}, "schema"),
    ],
)
def test_a_document_that_does_not_fit_is_refused(change: dict, place: str | None) -> None:
    with pytest.raises(ValueError) as refused:
        fitted(Outer, {**DOCUMENT, **change})
    errors = getattr(refused.value, "errors", None)
    assert (errors is None) == (place is None)  # not a number is no JSON at all
    if errors is not None:
        assert ".".join(map(str, errors()[0]["loc"])) == place


def test_a_part_takes_what_has_the_same_name_elsewhere_and_is_told_the_rest() -> None:
    source = SimpleNamespace(**OUTER.__dict__, more="no field of it")
    assert type(OUTER).made_of(source) == OUTER
    assert type(OUTER).made_of(source, share=0.5) == OUTER.replaced(share=0.5)
    del source.inner
    with pytest.raises(TypeError, match="inner"):
        type(OUTER).made_of(source)


def test_a_part_is_frozen_and_compares_by_value() -> None:
    other = OUTER.replaced(share=0.5)
    assert (other.share, other.inner) == (0.5, OUTER.inner)
    assert other != OUTER == other.replaced(share=None)
    assert hash(OUTER.inner) == hash((Inner(from_=1.5), Inner(from_=2.0, words="five!")))
    assert repr(OUTER.inner[0]) == "Inner(from_=1.5, words='')"
    with pytest.raises(AttributeError, match="frozen"):
        OUTER.share = 1.0  # type: ignore[misc]
    with pytest.raises(AttributeError, match="frozen"):
        del OUTER.share


@pytest.mark.parametrize("values", [{}, {"from_": 1.0, "other": 2}, {"from": 1.0}])
def test_fields_that_are_missing_or_unknown_are_refused(values: dict) -> None:
    with pytest.raises(TypeError, match="missing, or no field"):
        Inner(**values)


@pytest.mark.parametrize("number", [math.inf, -math.inf, math.nan])
def test_numbers_that_are_not_finite_are_refused(number: float) -> None:
    with pytest.raises(ValueError, match="from_ is"):
        Inner(from_=number)
