"""The file in which a user names a model and the data of clients: read, run, and its errors told in one line.

It is run with the user's rights, as ``python HOOK.py`` would be. Nothing here needs torch before the hook does.
"""

from __future__ import annotations

import contextlib
import importlib.util
import sys
import types
from collections.abc import Callable, Iterator
from functools import partial
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from typing import Any, NamedTuple

LARGEST = 1 << 20  # bytes
NAME = "hfl_plan_hook"  # of the module that a hook becomes


class HookError(Exception):
    """A file that is no hook, or fails as it is run; the message names the place, the fact and the way out."""


class Hook(NamedTuple):
    """What a hook gives.

    Attributes:
        model: what ``model()`` returned.
        clients: what ``clients()`` returned.
        loss: of outputs and targets; None where there is none.
        test: gives samples that nobody trains on, ``(X, y)``; None where there is none.
    """

    model: object
    clients: object
    loss: Callable[..., Any] | None = None
    test: Callable[[], object] | None = None


def source(hook: Path) -> bytes:
    """The text of a hook.

    Raises:
        HookError: if it cannot be one.
    """
    if hook.suffix != ".py":
        raise HookError(f"{str(hook)!a:.120} is not a Python file. Name one that ends in .py.")
    try:
        if not hook.is_file():
            reason = "it is no file" if hook.exists() else "there is none"
            raise HookError(f"{str(hook)!a:.120} cannot be read: {reason}. Check the path.")
        with hook.open("rb") as stream:
            text = stream.read(LARGEST + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "no such name"
        raise HookError(f"{str(hook)!a:.120} cannot be read ({reason}). Check the path.") from None
    if len(text) > LARGEST:
        raise HookError(f"{hook}: is over 1 MiB, which no hook is. Let it load the data from where they are.")
    return text


def run(hook: Path, text: bytes) -> Hook:
    """What a hook gives, inside `running`.

    Args:
        hook: the file.
        text: as of `source`.

    Raises:
        HookError: if it has not what a hook has, or fails.
    """
    module = _module(hook, text)
    loss, test = getattr(module, "loss", None), getattr(module, "test", None)
    if loss is not None and not callable(loss):
        raise HookError(f"{hook}: loss is no function. Write def loss(outputs, targets): ...")
    if test is not None and not callable(test):
        raise HookError(f"{hook}: test is no function. Write def test(): return X, y")
    model, clients = _called(hook, module, "model"), _called(hook, module, "clients")
    return Hook(model, clients, loss, None if test is None else partial(_called, hook, module, "test"))


@contextlib.contextmanager
def running(hook: Path) -> Iterator[None]:
    """As `python HOOK.py` has it: its folder is searched for modules. What it prints goes to standard error."""
    folder, written = str(hook.absolute().parent), sys.dont_write_bytecode
    sys.path.insert(0, folder)
    sys.dont_write_bytecode = True
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        sys.dont_write_bytecode = written
        sys.modules.pop(NAME, None)
        with contextlib.suppress(ValueError):
            sys.path.remove(folder)


def _module(hook: Path, text: bytes) -> types.ModuleType:
    """The hook, run; no bytecode is written beside it."""
    loader = SourceFileLoader(NAME, str(hook))
    made = importlib.util.module_from_spec(ModuleSpec(NAME, loader, origin=str(hook)))
    made.__file__ = str(hook)
    sys.modules[NAME] = made
    try:
        code = loader.source_to_code(text, str(hook))
    except (SyntaxError, ValueError) as error:
        line = f" (line {error.lineno})" if isinstance(error, SyntaxError) and error.lineno else ""
        told = error.msg if isinstance(error, SyntaxError) else str(error)
        told = told.replace(". ", "; ").rstrip("?")  # one fact
        raise HookError(f"{hook}: is not Python{line}: {told:.160}. Mend it there.") from None
    with _blamed(hook, "running it"):
        exec(code, made.__dict__)  # noqa: S102  (the user names the file to be run)
    for name in ("model", "clients"):
        if not callable(getattr(made, name, None)):
            raise HookError(
                f"{hook}: has no function {name}(). A hook has model() -> nn.Module and clients() -> [(group, X, y)]."
            )
    return made


def _called(hook: Path, module: types.ModuleType, name: str) -> object:
    with _blamed(hook, f"{name}()"):
        return getattr(module, name)()


@contextlib.contextmanager
def _blamed(hook: Path, what: str) -> Iterator[None]:
    """An error of the user's code, in one line with its place."""
    try:
        yield
    except (Exception, SystemExit) as error:
        line, trace = None, error.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == str(hook):
                line = trace.tb_lineno
            trace = trace.tb_next
        where = f" at line {line}" if line else ""
        told = (str(error).strip().splitlines() or [""])[0].rstrip(".").replace(". ", "; ")  # one fact
        way = "Install what it imports beside hfl-plan." if isinstance(error, ImportError) else "Mend it there."
        raise HookError(f"{hook}: {what} failed{where}: {type(error).__name__}: {told:.160}. {way}") from None
