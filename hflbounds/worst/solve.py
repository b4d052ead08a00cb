"""The dual program, given to a conic solver."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hflbounds.errors import HflBoundsError, MissingExtraError
from hflbounds.extras import install
from hflbounds.worst.program import Program
from hflbounds.worst.symmetry import blocks, of_forms, orbits

Array = npt.NDArray[np.float64]


class SolverError(HflBoundsError, RuntimeError):
    """The conic solver ended without a solution."""


@dataclass(frozen=True, slots=True)
class Solution:
    """What the solver returned.

    Attributes:
        value: Of the program, as the solver says.
        multipliers: One for every constraint, up to the solver's tolerance.
        solver: Name and version.
        status: In the solver's words.
        seconds: That it took.
    """

    value: float
    multipliers: Array
    solver: str
    status: str
    seconds: float


def solve(program: Program, margin: float = 0.0) -> Solution:
    """Minimise the limits' sum over multipliers that make the slack matrix positive semidefinite.

    Args:
        program: In whole numbers.
        margin: Least eigenvalue that is asked of the slack matrix: above 0, rounded multipliers still prove a bound.

    Raises:
        MissingExtraError: If the solver is not installed.
        SolverError: If it fails.
    """
    try:
        import clarabel
    except ImportError as missing:
        way = f"Run: {install('certificates')}."
        raise MissingExtraError(f"the conic solver clarabel is not installed. {way}") from missing

    from scipy import sparse

    A, b, q, cones, orbit = _conic(program, margin, clarabel)
    settings: Any = clarabel.DefaultSettings()
    settings.verbose = False
    answer = clarabel.DefaultSolver(sparse.csc_matrix((len(q), len(q))), q, A, b, cones, settings).solve()
    status = str(answer.status)
    if status not in ("Solved", "AlmostSolved"):
        raise SolverError(f"clarabel ended with {status}. Take fewer rounds, or a smaller step.")
    found = np.asarray(answer.x)
    return Solution(
        float(q @ found), found[orbit], f"clarabel {clarabel.__version__}", status, float(answer.solve_time)
    )


def _conic(program: Program, margin: float, clarabel: Any) -> tuple[Any, Any, Any, list[Any], Any]:
    """The program over multipliers that are equal on constraints that exchanges map to each other, block by block."""
    from scipy import sparse

    linear = (program.linear / program.scale).astype(float)
    forms, size = program.forms, program.size
    orbit = orbits(len(forms), [of_forms(program.linear, forms, one) for one in program.exchanges])
    count = int(orbit.max()) + 1
    q = np.bincount(orbit, [float(form.limit) for form in forms], count)
    losses = np.zeros((size, count))
    for form, k in zip(forms, orbit, strict=True):
        for loss, share in form.losses:
            losses[loss, k] += float(share)
    _, first = np.unique(orbits(size, program.exchanges), return_index=True)
    tables: list[Any] = [sparse.csc_matrix(losses[first]), -sparse.identity(count)]
    sides = [np.zeros(len(first)), np.zeros(count)]
    cones = [clarabel.ZeroConeT(len(first)), clarabel.NonnegativeConeT(count)]
    for basis in blocks(size, program.exchanges):
        inside = linear @ basis
        columns, rows = np.tril_indices(basis.shape[1])  # columns of the upper triangle, as the solver stacks them
        weight = np.where(rows == columns, 1.0, np.sqrt(2.0))
        squares = np.zeros((len(rows), count))
        for form, k in zip(forms, orbit, strict=True):
            for i, j, share in form.rows:
                matrix = float(share) * np.outer(inside[i], inside[j])
                squares[:, k] += (matrix + matrix.T)[rows, columns] / 2 * weight
        goal = sum(float(share) * np.outer(inside[i], inside[i]) for i, share in program.goal)
        tables.append(-sparse.csc_matrix(squares))
        sides.append(-(goal + margin * np.eye(basis.shape[1]))[rows, columns] * weight)
        cones.append(clarabel.PSDTriangleConeT(basis.shape[1]))
    return sparse.vstack(tables).tocsc(), np.concatenate(sides), q, cones, orbit
