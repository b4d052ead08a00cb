"""Files of answers: whole or not at all, and never over what is there unless told to."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
from collections.abc import Mapping
from pathlib import Path

from planner.errors import NoAnswerError, ScenarioError


def write(output: str | Path, content: str | bytes, force: bool, option: str = "--output") -> None:
    """Put text, or bytes, into a file, whole or not at all; ``option`` is where it was named.

    Raises:
        ScenarioError: if there is something already that may not be overwritten, or no folder to put it in.
        NoAnswerError: if it cannot be written.
    """
    target, told = place(output, force, option)
    whole = content.encode() if isinstance(content, str) else content
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:60]}.", suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(whole)
                file.flush()
                os.fsync(file.fileno())
            mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o666 & ~_umask()
            Path(name).chmod(mode)
            if force:
                Path(name).replace(target)
            else:
                _put_new(name, target, told)
        finally:
            with contextlib.suppress(FileNotFoundError):
                Path(name).unlink()
    except OSError as error:
        raise NoAnswerError(f"{told} cannot be written: {error.strerror}.", code="N002") from None


def place(output: str | Path, force: bool, option: str = "--output") -> tuple[Path, str]:
    """Where a file is to go, and what errors call it; for a look before long work.

    Raises:
        ScenarioError: if there is something already that may not be overwritten, or no folder to put it in.
        NoAnswerError: if one cannot look there.
    """
    name_given = str(output)
    if not name_given.strip():
        raise ScenarioError(f"{option}: the name is empty. Name a file.", code="E035")
    path = Path(output)
    told = f"{option}: {name_given!a:.120}"
    try:
        target = path.resolve() if path.is_symlink() else path
        if target is not path:
            told += f", a link to {str(target)!a:.120},"
        if os.path.lexists(target):
            if target.is_dir():
                raise ScenarioError(f"{told} is a folder. Name a file in it.", code="E035")
            if not stat.S_ISREG(target.stat().st_mode):
                raise ScenarioError(f"{told} is not a regular file. Write --output - for standard output.", code="E035")
            if not force:
                raise ScenarioError(f"{told} exists. Add --force to overwrite it, in Python force=True.", code="E034")
        if not target.parent.is_dir():
            raise ScenarioError(f"{told} is in a folder that does not exist. Make it first.", code="E035")
    except RuntimeError:
        raise ScenarioError(f"{told} is a link to itself. Name a file.", code="E035") from None
    except OSError as error:
        raise NoAnswerError(f"{told} cannot be written: {error.strerror}.", code="N002") from None
    return target, told


def _put_new(name: str, target: Path, told: str) -> None:
    """Give a file its name, unless that has come into use in the meantime."""
    try:
        os.link(name, target)
    except FileExistsError:
        raise ScenarioError(f"{told} exists. Add --force to overwrite it, in Python force=True.", code="E034") from None
    except OSError:  # a file system without links
        Path(name).replace(target)


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def write_folder(folder: str | Path, files: Mapping[str, str]) -> None:
    """Put texts, by path within it, into a folder that is new or empty: all of them or none.

    Raises:
        NoAnswerError: If it cannot be written.
    """
    target, told = Path(folder), f"--output: {str(folder)!a:.120}"
    if not str(folder).strip():
        raise ScenarioError("--output: the name is empty. Name a folder.")
    try:
        if os.path.lexists(target) and not (target.is_dir() and not target.is_symlink() and not any(target.iterdir())):
            raise ScenarioError(
                f"{told} exists, and a folder is never overwritten. Name a new folder, or remove this one first.",
                code="E034",
            )
        if not target.parent.is_dir():
            raise ScenarioError(f"{told} is in a folder that does not exist. Make it first.")
        made = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name[:60]}.", suffix=".part"))
        try:
            for name, text in files.items():
                path = made / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            made.chmod(0o777 & ~_umask())
            made.replace(target)
        finally:
            shutil.rmtree(made, ignore_errors=True)
    except OSError as error:
        raise NoAnswerError(f"{told} cannot be written: {error.strerror}.") from None
