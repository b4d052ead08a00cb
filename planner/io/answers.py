"""What every answer can do: be one JSON document, be kept in a file, and be shown where a report is registered."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, Self

from planner.io import json_documents
from planner.io.atomic import write
from planner.io.json_documents import Part


class Answer(Part):
    """A whole answer: data, with a ``schema_`` that names its form.

    Attributes:
        shown: Renders the answer in a format, by its name. `planner.report` registers it: data know no renderer.
    """

    shown: ClassVar[Callable[[Any, str], str] | None] = None

    def to_json(self) -> dict[str, Any]:
        """Return the answer as one JSON document."""
        return self.model_dump(mode="json")

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Write the answer as ``--json`` prints it; the file is there whole or not at all.

        Raises:
            ScenarioError: If there is something already, or no folder to put it in.
            NoAnswerError: If it cannot be written.
        """
        write(path, json.dumps(self.to_json(), indent=2, allow_nan=False) + "\n", force, "save")

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read an answer that was saved.

        Raises:
            ScenarioError: For a file that holds none; it is read as text, and nothing in it is run.
        """
        document = json_documents.read(Path(path))
        json_documents.of_schema(Path(path), document, [cls.schema_id()])
        return json_documents.checked(Path(path), cls, document)

    @classmethod
    def schema_id(cls) -> str:
        """Return the id of the schema of these answers."""
        return str(cls.model_fields["schema_"].default)

    def _repr_html_(self) -> str | None:
        """Return what a notebook shows; None leaves that to the text."""
        return None if (shown := type(self).shown) is None else shown(self, "html")

    def __str__(self) -> str:
        """Return what a terminal shows, without colours."""
        return super().__str__() if (shown := type(self).shown) is None else shown(self, "table")
