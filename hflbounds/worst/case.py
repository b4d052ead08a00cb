"""A worst case from a topology and its numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from hflbounds.errors import DomainError
from hflbounds.exact import Draws
from hflbounds.topology import Topology
from hflbounds.worst.certificate import CertificateError, proved, rounded
from hflbounds.worst.program import Program, program
from hflbounds.worst.rounds import written_out
from hflbounds.worst.solve import Solution, SolverError, solve
from hflbounds.worst.symmetry import blocks

Number = int | float | str | Fraction
MOST_GRADIENTS: Final = 200  # a proof in whole numbers takes seconds
MOST_ENTRIES: Final = 2_800  # of the matrix's blocks: about a minute; time grows with their third power
_MARGINS: Final = (1e-8, 1e-7, 1e-6, 1e-5)  # of the slack matrix, in units of the goal's; a larger one loses more


@dataclass(frozen=True, slots=True)
class WorstCase:
    """Largest mean squared gradient over the rounds.

    Attributes:
        value: That is proved, rounded up.
        solved: What the solver says without a margin for rounding; the two differ by what the proof loses.
        multipliers: That prove it, one for each constraint of the program.
        gradients: Rows of the matrix.
        solver: Name and version.
        status: In the solver's words.
        seconds: That it took.
    """

    value: float
    solved: float
    multipliers: tuple[Fraction, ...]
    gradients: int
    solver: str
    status: str
    seconds: float


def worst_case(  # reason: the numbers of the theorem, by the letters that users give them
    topology: Topology,
    *,
    K: int,
    R: int,
    L: Number,
    A: Number,
    deltas: Sequence[Number],
    eta_eff: Number,
    draws: Draws = "common",
    most: int = MOST_GRADIENTS,
    progress: Callable[[str], None] | None = None,
) -> WorstCase:
    """Solve for the largest mean squared gradient over rounds without noise, and prove it.

    Args:
        topology: With sizes, in fixed or random order, all children or a sample.
        K: Local steps of a client.
        R: Global rounds.
        L: Smoothness of the clients' losses.
        A: Initial optimality gap.
        deltas: Heterogeneity between the children of a node, one for each tier, top first, at the start of each round.
        eta_eff: Effective learning rate: that of a local step times the steps that a round chains.
        draws: Law of random orders and samples: ``common``, one draw of a tier for a round, or ``fresh``, one for
            each pass.
        most: Gradients beyond which to refuse; with another number than the default, blocks may be of any size.
        progress: Told what is done.

    Raises:
        DomainError: If a number is out of its domain, or the program is too large.
        MissingExtraError: If the solver is not installed.
        SolverError: If it fails.
        CertificateError: If what it found could not be proved.

    Source: docs/theory/worst-case.md.
    """
    say = progress or (lambda _: None)
    numbers = {"L": rational(L, "L"), "A": rational(A, "A"), "eta_eff": rational(eta_eff, "eta_eff")}
    for name, one in numbers.items():
        if one <= 0:
            raise DomainError(f"{name} = {float(one):g} is not above 0.")
    gaps = [rational(one, f"deltas[{i}]") for i, one in enumerate(deltas)]
    if len(gaps) != topology.depth or any(one < 0 for one in gaps):
        raise DomainError(f"deltas: give {topology.depth} numbers, 0 or more, one for each tier, top first.")
    rounds = written_out(topology, K, R, draws, most)
    step = numbers["L"] * numbers["eta_eff"] / topology.local_steps(K)
    made = program(rounds, topology, step, numbers["A"] * numbers["L"], gaps)
    sizes = [basis.shape[1] for basis in blocks(made.size, made.exchanges)]
    entries = sum(one * (one + 1) // 2 for one in sizes)
    if entries > MOST_ENTRIES and most == MOST_GRADIENTS:
        raise DomainError(
            f"worst case: blocks of {', '.join(map(str, sizes))} gradients have {entries} entries, more than "
            f"{MOST_ENTRIES}. Take fewer rounds, local steps, passes or clients, or a fixed order."
        )
    say(f"a matrix of {made.size} gradients under {len(made.forms)} constraints")
    plain = solve(made)
    say(f"solved in {plain.seconds:.1f} s: {plain.value:.6g}")
    found, multipliers, bound = _certified(made, say)
    return WorstCase(
        value=rounded_up(bound),
        solved=plain.value,
        multipliers=tuple(multipliers),
        gradients=made.size,
        solver=found.solver,
        status=plain.status,
        seconds=plain.seconds + found.seconds,
    )


def rational(number: Number, name: str = "number") -> Fraction:
    """Read a number as its decimals say: 0.3 is three tenths.

    Raises:
        DomainError: If it is none.
    """
    try:
        return number if isinstance(number, Fraction) else Fraction(str(number))
    except (ValueError, ZeroDivisionError):
        raise DomainError(f"{name} = {number!r} is not a number, such as 0.3 or 3/10.") from None


def _certified(made: Program, say: Callable[[str], None]) -> tuple[Solution, list[Fraction], Fraction]:
    """Solve with a margin, the least for which rounded multipliers prove a bound."""
    unit = float(sum(share * sum(int(x) ** 2 for x in made.linear[i]) for i, share in made.goal)) / made.scale**2
    for margin in _MARGINS:
        try:
            found = solve(made, margin * unit)
            multipliers = rounded(made, found.multipliers)
            bound = proved(made, multipliers)
        except (CertificateError, SolverError) as failed:
            last = failed
            continue
        say(f"proved in whole numbers: at most {float(bound):.6g}")
        return found, multipliers, bound
    raise last


def rounded_up(bound: Fraction) -> float:
    """The least number of the machine that is not below it."""
    near = float(bound)
    return near if Fraction(near) >= bound else math.nextafter(near, math.inf)
