"""Exact worst cases of small trees by semidefinite programming, with a proof in whole numbers.

What no theorem can be below: the largest mean squared gradient that smooth, non-convex clients' losses allow in some
rounds, as a program that a conic solver solves (the extra ``certificates``). The multipliers that the solver finds are
rounded, and prove the value again in exact arithmetic. Formulation and limits: docs/theory/worst-case.md.
"""

from hflbounds.worst.case import MOST_GRADIENTS, WorstCase, worst_case
from hflbounds.worst.certificate import CertificateError
from hflbounds.worst.solve import SolverError

__all__ = ["MOST_GRADIENTS", "CertificateError", "SolverError", "WorstCase", "worst_case"]
