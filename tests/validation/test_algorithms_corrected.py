"""Gradient-corrected algorithms: the literal transcription, limits, exact fixed points, and what drift does without."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction as Q
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from reference_corrected import Mtgc  # noqa: E402
from reference_corrected import Scaffold as Literal  # noqa: E402
from test_algorithms_async import Bumps, Steps, last  # noqa: E402

from validation.algorithms.gradient_corrected import FIRST, Corrected, Scaffold, mtgc, mtgc_tree  # noqa: E402
from validation.algorithms.single_tier import fedavg  # noqa: E402
from validation.algorithms.tree import CLIENTS  # noqa: E402
from validation.algorithms.two_tier import two_tier  # noqa: E402
from validation.engine import ValidationError, generator, simulate  # noqa: E402
from validation.experiment import make_algorithm, part  # noqa: E402
from validation.problems.controlled import controlled  # noqa: E402

CLOSE = {"rtol": 1e-10, "atol": 1e-11}
RATES, SEEDS, ROUNDS = [0.3, 0.05, 0.3], [4, 9, 9], 4


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """Tensors are small here: threads would only wait for each other."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def each_tensor(
    problem: Bumps, run: Callable[[int, Any, Callable[[tuple[int, ...], int, int, int, Any], Any]], Any]
) -> Any:
    """A literal run with the draws of the engine, one tensor at a time: all is coordinate by coordinate."""
    found = []
    for k in range(2):

        def gradient(time: tuple[int, ...], steps: int, c: int, step: int, x: Any, k: int = k) -> Any:
            noise = problem.draws([seed_now[0]], time, steps)[k][0, c, step]
            return problem.a[k][c] * torch.tanh(x - problem.b[k][c]) + noise

        found.append(run(k, problem.start()[k][0], gradient).flatten())
    return torch.cat(found)


seed_now = [0]


@pytest.mark.parametrize("option", ["I", "II"])
@pytest.mark.parametrize(
    "shape", [{"clients": 4, "K": 3}, {"clients": 5, "K": 2, "S": 2, "eta_g": 0.7}, {"clients": 1}]
)
def test_scaffold_takes_the_steps_of_its_listing(option: str, shape: dict[str, Any]) -> None:
    algorithm = Scaffold(option=option, **shape)  # type: ignore[arg-type]
    problem = Bumps(algorithm.clients)
    found = last(problem, algorithm, RATES, SEEDS, ROUNDS)
    for run, (rate, seed) in enumerate(zip(RATES, SEEDS, strict=True)):
        seed_now[0] = seed

        def literal(k: int, x: Any, slope: Any, rate: float = rate, seed: int = seed) -> Any:
            server = Literal(x, algorithm.clients, K=algorithm.K, eta=rate, eta_g=algorithm.eta_g, option=option)
            for r in range(ROUNDS):
                drawn = torch.randperm(algorithm.clients, generator=generator(seed, CLIENTS, r)).tolist()

                def gradient(i: int, step: int | None, y: Any, r: int = r) -> Any:
                    if step is None:
                        return slope((r, 0, FIRST), 1, i, 0, y)
                    return slope((r, 0), algorithm.K, i, step, y)

                server.round(drawn[: algorithm.S] if algorithm.S else range(algorithm.clients), gradient)
            return server.x

        assert torch.allclose(found[run], each_tensor(problem, literal), **CLOSE)


@pytest.mark.parametrize("begin", ["zero", "gradients", "kept"])
@pytest.mark.parametrize("shape", [(2, 3, 2, 3), (3, 1, 2, 2), (1, 4, 3, 1), (3, 2, 1, 2)])
def test_mtgc_takes_the_steps_of_its_listing(begin: str, shape: tuple[int, int, int, int]) -> None:
    G, M, P, K = shape
    problem, algorithm = Bumps(G * M), mtgc(G=G, M=M, P=P, K=K, begin=begin)  # type: ignore[arg-type]
    found = last(problem, algorithm, RATES, SEEDS, ROUNDS)
    for run, (rate, seed) in enumerate(zip(RATES, SEEDS, strict=True)):
        seed_now[0] = seed

        def literal(k: int, x: Any, slope: Any, rate: float = rate) -> Any:
            server = Mtgc(x, G, M, P=P, K=K, eta=rate, begin=begin)
            for r in range(ROUNDS):

                def gradient(g: int, p: int | None, m: int, step: int | None, y: Any, r: int = r) -> Any:
                    c = g * M + m
                    if p is None:
                        return slope((r, 0, 0, FIRST), 1, c, 0, y)
                    if step is None:
                        return slope((r, 0, 1, FIRST), 1, c, 0, y)
                    return slope((r, p), K, c, step, y)

                server.round(gradient)
            return server.x

        assert torch.allclose(found[run], each_tensor(problem, literal), **CLOSE)


def test_one_tier_is_scaffold_with_everybody() -> None:
    """The correction is c - c_i of option II."""
    problem = Bumps(4)
    one = last(problem, mtgc_tree(sizes="4", K=3, begin="kept"), RATES, SEEDS, ROUNDS)
    assert torch.allclose(one, last(problem, Scaffold(clients=4, K=3), RATES, SEEDS, ROUNDS), **CLOSE)


@pytest.mark.parametrize(("sizes", "passes"), [("2/3/1", "1/2/1"), ("2/1/3", "1/1/2"), ("1/2/3", "1/1/2")])
def test_tiers_of_one_change_nothing(sizes: str, passes: str) -> None:
    """Each of them averages one child, so its correction stays zero."""
    problem = Bumps(6)
    two = last(problem, mtgc(G=2, M=3, P=2, K=2, begin="kept"), RATES, SEEDS, ROUNDS)
    three = last(problem, mtgc_tree(sizes=sizes, passes=passes, K=2, begin="kept"), RATES, SEEDS, ROUNDS)
    assert torch.allclose(two, three, **CLOSE)


def test_the_first_round_from_zero_is_without_correction() -> None:
    problem = Bumps(6)
    without = last(problem, two_tier(topology="star-star", G=2, M=3, K=4), RATES, SEEDS, 1)
    assert torch.allclose(last(problem, mtgc(G=2, M=3, K=4), RATES, SEEDS, 1), without, **CLOSE)
    without = last(problem, fedavg(clients=6, K=4), RATES, SEEDS, 1)
    assert torch.allclose(last(problem, Scaffold(clients=6, K=4), RATES, SEEDS, 1), without, **CLOSE)


def test_cyclic_participation_takes_the_steps_of_its_listing() -> None:
    """Group after group: draw clients, let each take its local steps from the server's model, average."""
    problem, algorithm = Bumps(12), make_algorithm(part("cyclic", G=3, M=4, K=2, S2=2))
    assert algorithm.local_steps_per_round() == 6
    found = last(problem, algorithm, RATES, SEEDS, ROUNDS)
    for run, (rate, seed) in enumerate(zip(RATES, SEEDS, strict=True)):
        seed_now[0] = seed

        def literal(k: int, x: Any, slope: Any, rate: float = rate, seed: int = seed) -> Any:
            for r in range(ROUNDS):
                made = generator(seed, CLIENTS, r)
                drawn = [torch.randperm(4, generator=made)[:2].tolist() for _ in range(3)]
                for group in range(3):
                    ends = []
                    for m in drawn[group]:
                        y = x
                        for step in range(2):
                            y = y - rate * slope((r, 0), 2, 4 * group + m, step, y)
                        ends.append(y)
                    x = (ends[0] + ends[1]) / 2
            return x

        assert torch.allclose(found[run], each_tensor(problem, literal), **CLOSE)


# --- fixed points, exactly ----------------------------------------------------------------------------------------

CURVED = (Q(1), Q(2), Q(1, 2), Q(3))  # clients h (x - b)^2 / 2: the drift of the average does not vanish
TILTED = (Q(1), Q(1), Q(1), Q(1))
CENTRES = (Q(0), Q(1), Q(-2), Q(5))


def slope(curvatures: Sequence[Q], c: int, x: Q) -> Q:
    return curvatures[c] * (x - CENTRES[c])


def minimiser(curvatures: Sequence[Q]) -> Q:
    return sum((h * b for h, b in zip(curvatures, CENTRES, strict=True)), start=Q(0)) / sum(curvatures)


@pytest.mark.parametrize("curvatures", [CURVED, TILTED])
@pytest.mark.parametrize("K", [1, 2, 5])
def test_the_minimiser_is_a_fixed_point_of_the_corrected_methods(curvatures: tuple[Q, ...], K: int) -> None:
    """With the variates that belong to it: c_i, or -z_i - y_j, is the gradient of client i there."""
    best = minimiser(curvatures)
    one = Literal(best, 4, K=K, eta=Q(1, 7))
    one.own = [slope(curvatures, c, best) for c in range(4)]
    assert one.round(range(4), lambda i, k, x: slope(curvatures, i, x)) == best
    assert one.own == [slope(curvatures, c, best) for c in range(4)]
    assert one.c == 0
    for begin in ("gradients", "kept"):
        two = Mtgc(best, 2, 2, P=3, K=K, eta=Q(1, 7), begin=begin)
        two.begun = True
        groups = [(slope(curvatures, 2 * g, best) + slope(curvatures, 2 * g + 1, best)) / 2 for g in range(2)]
        two.y = [-g for g in groups]
        two.z = [[groups[g] - slope(curvatures, 2 * g + m, best) for m in range(2)] for g in range(2)]
        before = [list(z) for z in two.z]
        assert two.round(lambda g, p, m, k, x: slope(curvatures, 2 * g + m, x)) == best
        assert two.z == before
        assert two.y == [-g for g in groups]


def affine_fixed_point(step: Callable[[Q], Q]) -> Q:
    """Of x -> a x + b."""
    b = step(Q(0))
    return b / (1 - (step(Q(1)) - b))


def test_without_a_correction_it_is_not() -> None:
    """Local steps from 1 to 5 move the fixed point of averaging away from the minimiser; tilts alone do not."""

    def averaged(curvatures: tuple[Q, ...], K: int) -> Q:
        def step(x: Q) -> Q:
            server = Literal(x, 4, K=K, eta=Q(1, 7))  # the first round: all variates are zero
            return Q(server.round(range(4), lambda i, k, y: slope(curvatures, i, y)))

        return affine_fixed_point(step)

    assert averaged(CURVED, 1) == minimiser(CURVED)
    gaps = [averaged(CURVED, K) - minimiser(CURVED) for K in (1, 2, 5)]
    assert gaps[0] == 0
    assert abs(gaps[1]) < abs(gaps[2])
    assert averaged(TILTED, 5) == minimiser(TILTED)


def test_corrections_that_begin_at_zero_in_every_round_leave_a_drift() -> None:
    """The first group round of every global round is then without z: the gap between clients of a group drifts."""
    best = minimiser(CURVED)

    def settled(begin: str) -> float:
        two = Mtgc(float(best), 2, 2, P=2, K=4, eta=0.1, begin=begin)
        for _ in range(600):
            two.round(lambda g, p, m, k, x: float(CURVED[2 * g + m]) * (x - float(CENTRES[2 * g + m])))
        return abs(float(two.x - best))

    assert settled("gradients") < 1e-12
    assert settled("kept") < 1e-12
    assert settled("zero") > 1e-2


# --- on problems with exact constants -----------------------------------------------------------------------------


def test_corrected_methods_end_at_a_stationary_point_and_averaging_does_not() -> None:
    """Noise-free, clients of unlike curvature and tilt, many rounds at one effective step."""
    problem = controlled(G=3, M=3, sigma=0.0, zeta=1.0, delta=1.0, nonconvex=False, seed=3)

    def end(algorithm: Any, rounds: int = 100) -> float:
        raw = 0.8 / algorithm.local_steps_per_round()
        return float(simulate(problem, algorithm, [raw], [0], rounds).values["gradient"][0, 0])

    shape = {"G": 3, "M": 3, "P": 2, "K": 4}
    assert end(fedavg(clients=9, K=4)) > 1e-6
    assert end(two_tier(topology="star-star", **shape)) > 1e-6  # type: ignore[arg-type]
    assert end(Scaffold(clients=9, K=4)) < 1e-18
    assert end(Scaffold(clients=9, K=4, option="I")) < 1e-18
    assert end(Scaffold(clients=9, K=4, S=3, eta_g=0.5), 175) < 1e-18
    assert end(mtgc(begin="gradients", **shape)) < 1e-18
    assert end(mtgc(begin="kept", **shape)) < 1e-18
    assert end(mtgc_tree(sizes="3/1/3", passes="1/2/2", K=2, begin="gradients")) < 1e-18


# --- bad input ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: Scaffold(clients=3, S=4), "S = 4 is not between 1 and 3"),
        (lambda: Scaffold(clients=3, option="III"), "option = 'III' is none of I, II"),  # type: ignore[arg-type]
        (lambda: Scaffold(clients=3, eta_g=0), "eta_g = 0 must be above 0"),
        (lambda: Scaffold(clients=0), "clients = 0 is not a count"),
        (lambda: mtgc(G=2, M=0), "M = 0 is not a count"),
        (lambda: mtgc(G=2, M=2, begin="random"), "begin = 'random' is none of zero, gradients, kept"),  # type: ignore[arg-type]
        (lambda: Corrected(topology=two_tier(topology="star-ring", G=2, M=2).topology), "use star tiers"),
        (lambda: Corrected(topology=two_tier(topology="star-star", G=2, M=2, S2=1).topology), "everybody takes part"),
        (lambda: mtgc_tree(sizes="2/x"), "whole numbers"),
        (lambda: mtgc_tree(sizes="2/3", passes="1"), "1 numbers for 2 tiers"),
        (lambda: simulate(Steps(4), Scaffold(clients=4), [0.1], [0], 1), "gives local steps only"),
        (lambda: simulate(Bumps(4), mtgc(G=2, M=3), [0.1], [0], 1), "4 clients, and the algorithm 6"),
    ],
)
def test_what_cannot_be_run_is_refused(make: Callable[[], object], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        make()
