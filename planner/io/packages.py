"""Packages that are functions, too: ``planner.export(...)`` beside ``planner.export.plan``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any, ClassVar


class Called(ModuleType):
    """A package of the name of a command: called, it is the command's function.

    Attributes:
        function: Returns the function of a name. `planner` sets it.
    """

    function: ClassVar[Callable[[str], Callable[..., Any]]]

    def __call__(self, *placed: Any, **given: Any) -> Any:
        """Answer as the command of the package's name does; its keywords are those of the command."""
        return self._called()(*placed, **given)

    @property
    def __signature__(self) -> Any:
        import inspect  # takes long

        return inspect.signature(self._called())

    def _called(self) -> Callable[..., Any]:
        return type(self).function(self.__name__.rpartition(".")[2])


def called(name: str) -> None:
    """Let a package be called."""
    sys.modules[name].__class__ = Called
