"""Data frames of pandas and polars, through one narrow place: out of records, and in as the text of a CSV file.

Neither library is needed, and neither is imported unless the program has it. A frame that is read stands for a file
while a function runs: `held` gives it a name, and whatever reads a file of that name reads the frame's own CSV text.
So every check and every refusal of a file is that of a frame, and a line of the refusal is the row below the header.
"""

from __future__ import annotations

import importlib
import importlib.util
import io
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

from planner.errors import NoAnswerError

Library = Literal["pandas", "polars"]
LIBRARIES: tuple[Library, ...] = ("pandas", "polars")
MARK = "frame-"  # begins the names of frames


class Text(NamedTuple):
    """What stands for a file."""

    content: bytes
    chosen: bool = False  # whether it has groups that their label counts chose


_HELD: ContextVar[Mapping[str, Text] | None] = ContextVar("frames", default=None)


@runtime_checkable
class Frame(Protocol):
    """A table with named columns: of pandas or of polars."""

    @property
    def columns(self) -> Any:
        """Names of the columns."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Numbers of rows and of columns."""


def made(records: Sequence[Mapping[str, Any]], library: Library | None = None) -> Any:
    """Return a data frame of a library, ``pandas`` or ``polars``, with a line for each record.

    By default it is the one that the program has imported, else the one that is installed, pandas first.

    Raises:
        NoAnswerError: If it is not installed.
    """
    loaded = [name for name in LIBRARIES if name in sys.modules]
    for name in (library,) if library else dict.fromkeys((*loaded, *LIBRARIES)):
        try:
            found: Any = importlib.import_module(name)
        except ImportError:
            continue
        rows = [dict(record) for record in records]
        return found.DataFrame(rows, infer_schema_length=None) if name == "polars" else found.DataFrame(rows)
    raise NoAnswerError(
        f"to_frame: {library or 'neither pandas nor polars'} is {'' if not library else 'not '}installed. "
        f"Run pip install {library or 'pandas'}.",
        code="N004",
    )


def parquet(records: Sequence[Mapping[str, Any]]) -> bytes:
    """Return the bytes of a Parquet file with a line for each record.

    Raises:
        NoAnswerError: If nothing is installed that writes one.
    """
    stream = io.BytesIO()
    if importlib.util.find_spec("polars") is not None:
        made(records, "polars").write_parquet(stream)
    elif all(importlib.util.find_spec(name) is not None for name in ("pandas", "pyarrow")):
        made(records, "pandas").to_parquet(stream, index=False)
    else:
        raise NoAnswerError(
            "--output: nothing that writes Parquet is installed. Run pip install polars, or name a .csv.", code="N004"
        )
    return stream.getvalue()


def is_frame(value: Any) -> bool:
    """Whether a value is a data frame."""
    return isinstance(value, Frame) and (hasattr(value, "to_csv") or hasattr(value, "write_csv"))


def text(frame: Any) -> str:
    """Write a frame as CSV; an index that names clients or groups, which no column does, comes first."""
    if hasattr(frame, "write_csv"):
        return str(frame.write_csv())
    index, columns = frame.index, {*frame.columns}
    named = any(name is not None and name not in columns for name in index.names)
    whole = {"client", "group"} <= columns if named else "client" in columns or index.inferred_type == "integer"
    return str(frame.to_csv(index=not whole, lineterminator="\n"))


class Holder:
    """Gives frames names that can be read while a function runs."""

    def __init__(self, held: dict[str, Text]) -> None:
        self._held = held

    def name(self, frame: Any, keyword: str) -> str:
        """Keep a frame, and return the name of the file that it stands for."""
        return self.written(text(frame), keyword)

    def written(self, content: str, keyword: str, suffix: str = ".csv", *, chosen: bool = False) -> str:
        """Keep the text of a file, and return the name that it has."""
        word = re.sub(r"\W", "_", keyword)
        found, count = f"{MARK}{word}{suffix}", 1
        while found in self._held:
            count += 1
            found = f"{MARK}{word}-{count}{suffix}"
        self._held[found] = Text(content.encode(), chosen)
        return found


@contextmanager
def held() -> Iterator[Holder]:
    """Let frames stand for files until the context ends; those of an outer context stay."""
    known = dict(_HELD.get() or {})
    token = _HELD.set(known)
    try:
        yield Holder(known)
    finally:
        _HELD.reset(token)


def asks(command: str, file: str, **options: str) -> str:
    """Write a command on a file, or the call that does the same where the file is a frame.

    >>> asks("group", "counts.csv", groups="N")
    '`hfl-plan group counts.csv --groups N`'
    """
    if content(Path(file)) is None:
        words = (f" {'-o' if key == 'output' else f'--{key}'} {value}" for key, value in options.items())
        return f"`hfl-plan {command} {file}{''.join(words)}`"
    said = (f", {key.replace('-', '_')}={value if value.isupper() else repr(value)}" for key, value in options.items())
    return f"`planner.{command}({named(Path(file))}{''.join(said)})`"


def named(path: Path) -> str:
    """Return how a file is called: by its name, or by the keyword of what stands for it."""
    return path.name if content(path) is None else path.stem.removeprefix(MARK)


def chosen(path: Path) -> bool:
    """Whether a file stands for groups that their label counts chose."""
    there = (_HELD.get() or {}).get(str(path))
    return there is not None and there.chosen


def content(path: Path) -> bytes | None:
    """Return what stands for a file; None where it is a file."""
    there = (_HELD.get() or {}).get(str(path))
    return None if there is None else there.content
