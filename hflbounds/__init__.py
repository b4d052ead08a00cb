"""Convergence bounds of hierarchical federated learning: as printed, as proved, and evaluated.

>>> from hflbounds import get
>>> get("hflbounds.sharp.ring-star").status
'own'
"""

from hflbounds.bound import Bound, Erratum, Paper, Source, Step
from hflbounds.errors import (
    ComparisonError,
    ConditionError,
    DeclarationError,
    DomainError,
    HflBoundsError,
    UnknownBoundError,
)
from hflbounds.registry import catalogue, families, family, get
from hflbounds.tuning import Tuned

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
