"""A cell is what its description says, and is found again by it."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")

from validation.engine import ValidationError, simulate  # noqa: E402
from validation.experiment import Cell, cell_of, make_algorithm, make_problem, part  # noqa: E402

CELL = Cell(
    part("controlled", G=3, M=2, zeta=0.5, delta=0.25, seed=4),
    part("two-tier", topology="ring-star", G=3, M=2, P=2, K=3),
    (0.1, 0.2),
    (7, 7),
    3,
    (1, 3),
    every_round=True,
)


def test_a_description_makes_the_same_cell_again() -> None:
    told = json.loads(json.dumps(CELL.described()))
    assert cell_of(told) == CELL
    assert cell_of(told).hash == CELL.hash


def test_the_hash_is_of_the_content() -> None:
    others = [
        replace(CELL, rates=(0.1, 0.3)),
        replace(CELL, seeds=(7, 8)),
        replace(CELL, rounds=4),
        replace(CELL, at=(3,)),
        replace(CELL, every_round=False),
        replace(CELL, problem=part("controlled", G=3, M=2, zeta=0.5, delta=0.25, seed=5)),
        replace(CELL, algorithm=part("two-tier", topology="ring-ring", G=3, M=2, P=2, K=3)),
    ]
    assert len({CELL.hash, *(other.hash for other in others)}) == 8
    assert part("x", b=1, a=2) == part("x", a=2, b=1)


def test_rates_are_effective_ones() -> None:
    trace = CELL.run()
    algorithm = make_algorithm(CELL.algorithm)
    assert algorithm.local_steps_per_round() == 3 * 2 * 3
    wanted = simulate(make_problem(CELL.problem), algorithm, [0.1 / 18, 0.2 / 18], [7, 7], 3, at=[1, 3])
    assert torch.equal(trace.values["gap"], wanted.values["gap"])


def test_unknown_names_and_versions_are_refused() -> None:
    with pytest.raises(ValidationError, match="no problem is called 'controled'; known are controlled"):
        make_problem(part("controled"))
    with pytest.raises(ValidationError, match="no algorithm is called 'star'"):
        make_algorithm(part("star"))
    with pytest.raises(ValidationError, match="version 0"):
        cell_of({**CELL.described(), "version": 0})
