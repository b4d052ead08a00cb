"""What the planner refuses: the place, the value found, the value expected, and a way out.

A message is ``place: fact. Way out.`` in one or two lines. Its first sentence is the fact; what follows is the help.
Every refusal has a code that `hfl-plan explain` and the page of all codes explain; `planner/io/codes.toml` lists them.
"""

from __future__ import annotations

import re

END_OF_FACT = re.compile(r"(?<=[^.\s])[.?]\s+(?=[A-Z`-])|\n")
"""Between the fact and the way out."""


class PlannerError(Exception):
    """A refusal.

    Args:
        message: ``place: fact. Way out.``
        code: Of `hfl-plan explain`; without, that of the refusal that this one passes on, or that of its class.
    """

    kind = "E000"

    def __init__(self, message: str = "", *, code: str | None = None) -> None:
        super().__init__(message)
        self._code = code

    @property
    def code(self) -> str:
        """Return the code of the refusal."""
        if self._code is None and isinstance(self.__context__, PlannerError):
            return self.__context__.code
        return self._code or self.kind

    @property
    def parts(self) -> tuple[str, str]:
        """Return the fact, and the way out, or an empty text."""
        return parted(str(self))


class ScenarioError(PlannerError, ValueError):
    """Refuse an input that is no scenario."""

    kind = "E001"


class NoAnswerError(PlannerError):
    """Refuse a scenario that is well posed, and has no answer."""

    kind = "N001"


def parted(message: str) -> tuple[str, str]:
    """Part a message into its fact, without a full stop, and the way out.

    >>> parted("--uplink: '20' has no unit. Write 20Mbit/s.")
    ("--uplink: '20' has no unit", 'Write 20Mbit/s.')
    """
    fact, *help_ = END_OF_FACT.split(message.strip(), maxsplit=1)
    return fact.rstrip(". "), " ".join(help_[0].split()) if help_ else ""
