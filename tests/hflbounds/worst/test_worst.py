"""Exact worst cases: another author's figures, literal runs, draws by hand, proofs that must not accept a change."""

from __future__ import annotations

from fractions import Fraction
from importlib.util import find_spec
from itertools import permutations, product

import numpy as np
import pytest

from hflbounds.errors import DomainError
from hflbounds.exact import exact_bound
from hflbounds.topology import Tier, Topology, all_topologies, two_tier
from hflbounds.worst import CertificateError, worst_case
from hflbounds.worst.certificate import proved, rounded
from hflbounds.worst.program import Program, program
from hflbounds.worst.rounds import written_out

needs_solver = pytest.mark.skipif(find_spec("clarabel") is None, reason="the conic solver is an extra")


def table(tree: Topology, K: int, R: int, step: str = "3/10", A: str = "1", deltas: str = "1;1/2") -> Program:
    gaps = [Fraction(one) for one in deltas.split(";")]
    return program(written_out(tree, K, R), tree, Fraction(step) / tree.local_steps(K), Fraction(A), gaps)


# ---------------------------------------------------------------- rounds, by hand
def test_a_ring_of_two_and_a_star_of_two() -> None:
    half = Fraction(1, 2)
    ring = written_out(Topology((Tier("ring", 2),)), K=1, R=1)
    # client 0 at the start, client 1 at the start (read for the deviations), client 1 after client 0
    assert ring.gradients[:3] == [(0, 0), (1, 0), (1, 1)]
    assert ring.points[:3] == [{}, {0: 1}, {0: 1, 2: 1}]
    star = written_out(Topology((Tier("star", 2),)), K=1, R=1)
    assert star.points == [{}, {0: half, 1: half}]


@pytest.mark.parametrize(("draws", "outcomes"), [("common", 6 * 6), ("fresh", 6 * 6**3)])
def test_random_orders_are_all_followed(draws: str, outcomes: int) -> None:
    tree = two_tier("ring-ring", G=3, M=3, order="random")
    found = written_out(tree, 1, 1, draws)  # type: ignore[arg-type]
    assert len(found.starts[1]) == outcomes
    assert {chance for _, chance in found.starts[1]} == {Fraction(1, outcomes)}


def test_samples_are_all_followed() -> None:
    star = written_out(Topology((Tier("star", 4, drawn=2),)), K=1, R=1)
    assert len(star.starts[1]) == 6
    ring = written_out(Topology((Tier("ring", 4, drawn=2, passes=2),)), K=1, R=1, draws="fresh")
    assert sum(chance for _, chance in ring.starts[1]) == 1
    assert len(ring.starts[1]) == 12 * 12


def test_exchanges_are_those_of_the_tree() -> None:
    """Children of a star may be exchanged, those of a ring in fixed order may not, in random order they may again.

    Star-Star: the groups, and the clients of both; Ring-Star: the clients of either.
    """
    assert [len(table(two_tier(name, G=2, M=2), 1, 1).exchanges) for name in all_topologies(2)] == [2, 1, 2, 0]
    shuffled = two_tier("ring-ring", G=2, M=2, order="random")
    made = program(written_out(shuffled, 1, 1), shuffled, Fraction(1, 10), Fraction(1), [Fraction(1)] * 2)
    assert len(made.exchanges) == 2


# ---------------------------------------------------------------- values
@needs_solver
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("star-star", 0.924),
        ("star-ring", 0.976),
        ("ring-star", 1.009),
        pytest.param("ring-ring", 1.027, marks=pytest.mark.slow),  # twice as long as the others together
    ],
)
def test_figures_of_another_author(name: str, value: float) -> None:
    """From PEPit with its own formulation, three decimals: G = M = 2, K = 1, R = 4, delta = 1, L eta_eff = 0.3."""
    found = worst_case(two_tier(name, G=2, M=2), K=1, R=4, L=1, A=1, deltas=(1, 0), eta_eff=0.3)
    assert found.value == pytest.approx(value, abs=5e-4)


@needs_solver
@pytest.mark.parametrize("L", [1, 4])
def test_one_round_allows_a_quadratic_that_starts_at_its_gap(L: int) -> None:
    """With one round the gradient at the start is read alone: ``|f'|^2 <= 2 L A``, attained by ``L x^2 / 2``."""
    found = worst_case(two_tier("star-star", G=2, M=2), K=1, R=1, L=L, A=0.5, deltas=(1, 1), eta_eff=0.5 / L)
    assert found.value == pytest.approx(2 * L * 0.5, rel=1e-5)
    assert found.value >= 2 * L * 0.5


@needs_solver
def test_units_cancel() -> None:
    """In units of loss and length that make L = 3: gradients scale as the root of ``L A``."""
    tree = two_tier("ring-star", G=2, M=2)
    one = worst_case(tree, K=1, R=2, L=1, A=1, deltas=(1, 0.5), eta_eff=0.3)
    other = worst_case(tree, K=1, R=2, L=3, A=Fraction(1, 3), deltas=(1, 0.5), eta_eff=0.1)
    assert one.value == pytest.approx(other.value, rel=1e-6)


def literal(
    tree: Topology, K: int, R: int, step: float, H: np.ndarray, b: np.ndarray, x: np.ndarray
) -> list[np.ndarray]:
    """The two tiers' listing on quadratics, in fixed order: starts of the rounds."""
    G, M = (tier.size or 1 for tier in tree.tiers)
    kinds = [tier.pattern.id for tier in tree.tiers]

    def client(i: int, x: np.ndarray) -> np.ndarray:
        for _ in range(K):
            x = x - step * (H[i] @ x + b[i])
        return x

    def group(g: int, x: np.ndarray) -> np.ndarray:
        for _ in range(tree.tiers[1].passes):
            if kinds[1] == "star":
                x = sum(client(g * M + m, x) for m in range(M)) / M
            else:
                for m in range(M):
                    x = client(g * M + m, x)
        return x

    starts = [x]
    for _ in range(R):
        if kinds[0] == "star":
            x = sum(group(g, x) for g in range(G)) / G
        else:
            for g in range(G):
                x = group(g, x)
        starts.append(x)
    return starts


@needs_solver
@pytest.mark.parametrize(
    "name",
    [  # in every run those that have a star and a ring
        pytest.param(name, marks=() if {*name.split("-")} == {"star", "ring"} else pytest.mark.slow)
        for name in all_topologies(2)
    ],
)
def test_no_run_is_worse(name: str) -> None:
    """Quadratics in two dimensions with the constants that they have: never above what is proved."""
    rng = np.random.default_rng(7)
    tree, K, R, v = two_tier(name, G=2, M=2, P=2), 1, 2, 0.5
    largest = 0.0
    for _ in range(3):
        H = rng.normal(size=(4, 2, 2))
        H = H + H.transpose(0, 2, 1)
        H /= np.abs(np.linalg.eigvalsh(H)).max()
        H -= np.minimum(0, np.linalg.eigvalsh(H.mean(0))[0] - 0.05) * np.eye(2)  # their mean is bounded below
        H /= max(1.0, np.abs(np.linalg.eigvalsh(H)).max())
        b, x = rng.normal(size=(4, 2)), rng.normal(size=2) * 3
        mean, tilt = H.mean(0), b.mean(0)
        starts = literal(tree, K, R, v / tree.local_steps(K), H, b, x)
        least = -0.5 * tilt @ np.linalg.solve(mean, tilt)
        A = 0.5 * x @ mean @ x + tilt @ x - least
        gaps = []
        for x in starts[:R]:
            g = H @ x + b
            groups = g.reshape(2, 2, 2).mean(1)
            gaps.append(
                (
                    (np.linalg.norm(groups - g.mean(0), axis=1) ** 2).mean(),
                    (np.linalg.norm(g.reshape(2, 2, 2) - groups[:, None], axis=2) ** 2).mean(),
                )
            )
        deltas = np.sqrt(np.max(gaps, axis=0))
        measured = np.mean([np.linalg.norm(mean @ x + tilt) ** 2 for x in starts[:R]])
        found = worst_case(tree, K=K, R=R, L=1, A=float(A), deltas=[float(one) for one in deltas], eta_eff=v)
        largest = max(largest, measured / found.value)
    assert 0.05 < largest <= 1 + 1e-9


SLOW = ("ring-ring", "random")  # half a minute


@needs_solver
@pytest.mark.parametrize(
    ("name", "order"),
    [
        pytest.param(*both, marks=pytest.mark.slow if both == SLOW else ())
        for both in product(all_topologies(2), ("fixed", "random"))
    ],
)
def test_no_worst_case_is_above_the_theorem(name: str, order: str) -> None:
    tree = two_tier(name, G=2, M=2, order=order)  # type: ignore[arg-type]
    found = worst_case(tree, K=1, R=2, L=1, A=0.01, deltas=(1, 1), eta_eff=0.3)
    assert found.value <= exact_bound(tree, K=1, R=2, L=1, A=0.01, sigma=0, deltas=(1, 1), eta_eff=0.3)


# ---------------------------------------------------------------- proofs
@needs_solver
def test_what_the_proof_loses() -> None:
    found = worst_case(two_tier("ring-ring", G=2, M=2), K=2, R=2, L=1, A=1, deltas=(1, 0.5), eta_eff=0.3)
    assert found.value == pytest.approx(found.solved, rel=1e-5)


@needs_solver
def test_a_proof_does_not_survive_a_change() -> None:
    tree = two_tier("star-ring", G=2, M=2)
    made = table(tree, 1, 2)
    multipliers = worst_case(tree, K=1, R=2, L=1, A=1, deltas=(1, Fraction(1, 2)), eta_eff=0.3).multipliers
    value = proved(made, multipliers)
    largest = max(range(len(multipliers)), key=lambda k: multipliers[k])
    for changed in (
        [-multipliers[0], *multipliers[1:]],
        [one * (2 if k == largest else 1) for k, one in enumerate(multipliers)],
        [one * Fraction(99, 100) for one in multipliers],
        multipliers[1:],
    ):
        with pytest.raises(CertificateError):
            proved(made, changed)
    # a larger goal is not proved by the same multipliers
    greater = Program(made.size, made.linear, made.scale, tuple((i, 2 * w) for i, w in made.goal), made.forms, ())
    with pytest.raises(CertificateError):
        proved(greater, multipliers)
    assert value > 1


def test_rounding_balances_the_losses() -> None:
    made = table(two_tier("ring-star", G=2, M=2), 1, 1)
    found = rounded(made, np.random.default_rng(3).random(len(made.forms)))
    left = [Fraction(0)] * made.size
    for form, one in zip(made.forms, found, strict=True):
        for loss, share in form.losses:
            left[loss] += one * share
    assert min(found) >= 0
    assert not any(left)


# ---------------------------------------------------------------- bad input
@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"K": 0}, "K = 0"),
        ({"R": 1.5}, "R = 1.5"),
        ({"A": 0}, "A = 0"),
        ({"eta_eff": "a"}, "eta_eff = 'a'"),
        ({"deltas": (1,)}, "give 2 numbers"),
        ({"deltas": (1, -1)}, "give 2 numbers"),
        ({"R": 9, "K": 9}, "Take fewer rounds"),
    ],
)
def test_refusals(changed: dict[str, object], words: str) -> None:
    given = {"K": 1, "R": 1, "L": 1, "A": 1, "deltas": (1, 1), "eta_eff": 0.3} | changed
    with pytest.raises(DomainError, match=words):
        worst_case(two_tier("ring-ring", G=3, M=3), **given)  # type: ignore[arg-type]


def test_orders_of_a_random_ring_have_equal_chances() -> None:
    found = written_out(Topology((Tier("ring", 3, order="random"),)), K=1, R=1)
    ends = {frozenset(found.points[point]) for point, _ in found.starts[1]}
    assert len(ends) == len(list(permutations(range(3))))
