"""Convergence bounds of hierarchical federated learning: as printed, as proved, and evaluated.

>>> from hflbounds import get
>>> get("hflbounds.sharp.ring-star").status
'own'
"""

from hflbounds.core.bound import Bound, Erratum, Paper, Source, Step
from hflbounds.core.registry import catalogue, families, family, get
from hflbounds.errors import (
    ComparisonError,
    ConditionError,
    DeclarationError,
    DomainError,
    HflBoundsError,
    UnknownBoundError,
)
from hflbounds.evaluate.tuning import Tuned

__all__ = [
    "Bound",
    "ComparisonError",
    "ConditionError",
    "DeclarationError",
    "DomainError",
    "Erratum",
    "HflBoundsError",
    "Paper",
    "Source",
    "Step",
    "Tuned",
    "UnknownBoundError",
    "catalogue",
    "families",
    "family",
    "get",
]
