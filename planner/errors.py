"""What the planner refuses, in one or two lines that name the field, the fact and the way out."""

from __future__ import annotations


class PlannerError(Exception):
    """Base class."""


class ScenarioError(PlannerError, ValueError):
    """The input is not a scenario."""


class NoAnswerError(PlannerError):
    """The scenario is well posed, and has no answer."""
