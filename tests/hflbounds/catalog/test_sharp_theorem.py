"""Machine checks of docs/theory/sharp-bound.md, step by step and then end to end.

The weights with which gradients enter iterates come from running the algorithms of validation.reference on
exact fractions; what they are compared with is typed here from the theorem and its proof, and nothing is
imported from hflbounds. The step-by-step checks are in integers and fractions, so equality means equality
and no comparison needs a tolerance.
"""

import math
from fractions import Fraction
from functools import cache
from itertools import islice, permutations, product

import numpy as np
import pytest
import sympy as sp

from validation.reference import Settings, global_round

STAR_STAR, STAR_RING, RING_STAR, RING_RING = TOPOLOGIES = ("star-star", "star-ring", "ring-star", "ring-ring")
GRID = [Settings(t, *sizes) for t in TOPOLOGIES for sizes in product((1, 2, 3), repeat=4)]  # 324 hierarchies


def grid(topology):
    return [s for s in GRID if s.topology == topology]


def ring_top(s):
    return s.topology.startswith("ring")


def ring_low(s):
    return s.topology.endswith("ring")


def samples(s):
    """N: stochastic gradients in one global round."""
    return s.G * s.P * s.M * s.K


def chain_length(s):
    """T = eta_eff/eta: gradients on the chain from one global model to the next."""
    return s.P * s.K * (s.M if ring_low(s) else 1) * (s.G if ring_top(s) else 1)


# The statement, typed in sympy (exact) and, further down, in floats. Section 1 of the document.

LETTERS = G, M, P, K = sp.symbols("G M P K", positive=True)
SIGMA, ZETA, DELTA = sp.symbols("sigma zeta delta", nonnegative=True)


def rational(numerator, denominator=1):
    return sp.Rational(numerator, denominator)


@cache
def quadratic_coefficient(topology, random_order=False):
    """q_t of the theorem."""
    noise, star = rational(5, 4) * SIGMA**2, rational(5, 6)
    ring_zeta = rational(5, 8) / M if random_order else rational(5, 12)
    ring_delta = rational(5, 8) / G if random_order else rational(5, 12)
    q = {
        STAR_STAR: noise * (1 / (P**2 * K) + 1 / (P * M * K)) + star * (ZETA**2 / P**2 + DELTA**2),
        STAR_RING: noise / (P * M * K) + ring_zeta * ZETA**2 / P**2 + star * DELTA**2,
        RING_STAR: noise * (1 / (G**2 * P**2 * K) + 1 / (G * P * M * K))
        + star * ZETA**2 / (G**2 * P**2)
        + ring_delta * DELTA**2,
        RING_RING: noise / (G * P * M * K) + ring_zeta * ZETA**2 / (G**2 * P**2) + ring_delta * DELTA**2,
    }
    return sp.expand(q[topology])


def multiplier(s, letter, random_order=False):
    """The exact number by which q_t multiplies sigma^2, zeta^2 or delta^2."""
    coefficient = quadratic_coefficient(s.topology, random_order).coeff(letter, 2)
    value = coefficient.subs(dict(zip(LETTERS, (s.G, s.M, s.P, s.K), strict=True)))
    return Fraction(int(value.p), int(value.q))


def allowed_by_theorem(s, letter, random_order=False):
    """The largest sum over iterates that the term of q_t allows: 5 eta^2 sum/N <= 2 (T eta)^2 q."""
    return Fraction(2 * samples(s) * chain_length(s) ** 2, 5) * multiplier(s, letter, random_order)


# Section 2: chains and their weights ---------------------------------------------------------------------


def chain_weights(s, group_order=None, client_order=None):
    """Names of the iterates in the order of visits; M x their weights; the weights of the next global model.

    Run from x = 0 with eta = -1 and unit vectors for gradients, the algorithm leaves the weights in its
    iterates. They are multiples of 1/M, so M times them are integers: one row per iterate, then g, p, m, k.
    """
    zero = np.full((s.G, s.P, s.M, s.K), Fraction(0))
    names, rows = [], []

    def unit(g, p, m, k, x):
        vector = zero.copy()
        vector[g, p, m, k] = Fraction(1)
        return vector

    def visit(g, p, m, k, x):
        names.append((g, p, m, k))
        rows.append(s.M * x)

    orders = {"group_order": group_order, "client_order": client_order}
    last = global_round(zero, s, Fraction(-1), unit, visit=visit, **orders)
    scaled = np.stack(rows)
    assert all(weight.denominator == 1 for weight in scaled.flat)
    return names, scaled.astype(np.int64), last


@cache
def fixed_order_weights(s):
    return chain_weights(s)


@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_total_weight_is_uniform_on_every_chain(topology):
    """J takes each of 0..T-1 equally often in every group of a star top, each block of it in a ring top."""
    for s in grid(topology):
        names, scaled, last = fixed_order_weights(s)
        T, n = chain_length(s), samples(s)
        J = scaled.reshape(n, n).sum(axis=1)  # times M
        for g in range(s.G):
            own = sorted(int(j) for name, j in zip(names, J, strict=True) if name[0] == g)
            block = range(g * T // s.G, (g + 1) * T // s.G) if ring_top(s) else range(T)
            assert own == [s.M * j for j in block for _ in range(n // s.G // len(block))], (s, g)
        # Every gradient enters the next global model with the same weight c_0 = T/N.
        assert set(last.flat) == {Fraction(T, n)}, s


@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_column_sums(topology):
    """sum_s J_s w_{s,i} is the sum of the chain positions after J_i: at most T(T-1)/2, at the first sample."""
    largest = Fraction(0)
    for s in grid(topology):
        names, scaled, _ = fixed_order_weights(s)
        T, n = chain_length(s), samples(s)
        J = scaled.reshape(n, n).sum(axis=1)
        columns = np.einsum("s,sgpmk->gpmk", J, scaled)  # times M^2
        for name, own in zip(names, J, strict=True):
            j = Fraction(int(own), s.M)
            column = Fraction(int(columns[name]), s.M**2)
            assert column == (T * (T - 1) - j * (j + 1)) / 2 <= Fraction(T * (T - 1), 2), (s, name)
            largest = max(largest, column / T**2)
    T = max(map(chain_length, grid(topology)))
    assert largest == Fraction(T - 1, 2 * T) < Fraction(1, 2)  # the 5/2 in c_1 is 5 times this 1/2


# Section 3: prefixes of zero-sum vectors -----------------------------------------------------------------


def squares(v):
    """The sum of squares, in Python's unbounded integers."""
    return sum(int(entry) ** 2 for entry in np.ravel(v))


def zero_sum(rng, n, dimension):
    """n random integer vectors whose sum is exactly zero."""
    v = rng.integers(-9, 10, size=(n, dimension))
    return n * v - v.sum(axis=0)


def two_valued(n, first):
    """n numbers of sum zero, the first ones equal and the others equal."""
    return np.array([[n - first]] * first + [[-first]] * (n - first))


@pytest.mark.parametrize("n", range(2, 8))
def test_prefixes_of_zero_sum_vectors(n):
    """||prefix_j||^2 <= j(n-j) x mean square; a two-valued v attains it, so the factor cannot be smaller."""
    rng = np.random.default_rng(n)
    for j in range(1, n):
        for v in [zero_sum(rng, n, 3) for _ in range(50)]:
            assert n * squares(v[:j].sum(axis=0)) <= j * (n - j) * squares(v)
        v = two_valued(n, first=j)
        assert n * squares(v[:j].sum(axis=0)) == j * (n - j) * squares(v)


@pytest.mark.parametrize("n", range(2, 7))
def test_prefixes_of_zero_sum_vectors_in_random_order(n):
    """E||prefix_j||^2 = j(n-j)/(n-1) x mean square, over all n! orders."""
    v = zero_sum(np.random.default_rng(n), n, 2)
    orders = list(permutations(range(n)))
    for j in range(1, n):
        mean = Fraction(sum(squares(v[list(order[:j])].sum(axis=0)) for order in orders), len(orders))
        assert mean == Fraction(j * (n - j), n - 1) * Fraction(squares(v), n)


# Section 4: the five sums ----------------------------------------------------------------------------------


def noise_sum(s):
    """sum over iterates of sum_i w_i^2: the closed form of the document."""
    N, T = samples(s), chain_length(s)
    if ring_low(s):
        return Fraction(N * (T - 1), 2)
    return N * (Fraction(s.K - 1, 2) + Fraction(T - s.K, 2 * s.M))


@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_noise_sums(topology):
    closest = Fraction(0)
    for s in grid(topology):
        _, scaled, _ = fixed_order_weights(s)
        total = Fraction(squares(scaled), s.M**2)
        assert total == noise_sum(s), s
        assert total < allowed_by_theorem(s, SIGMA), s
        closest = max(closest, total / allowed_by_theorem(s, SIGMA))
    # By hand: 1 - 1/T below a ring; else (M(K-1) + T-K)/(MK + T), largest at G = P = K = 3 and M = 1.
    by_hand = {STAR_STAR: (8, 12), STAR_RING: (26, 27), RING_STAR: (26, 30), RING_RING: (80, 81)}
    assert closest == Fraction(*by_hand[topology])


def prefix_total(n, random_order):
    """The sum over j of the prefix lemma's bound, of its expectation in random order."""
    if n == 1:
        return Fraction(0)
    return Fraction(n * (n + 1), 6) if random_order else Fraction(n * (n**2 - 1), 6)


def intra_sum(s, random_order):
    """What section 4 allows for zeta^2 = 1 before lower powers are dropped."""
    if ring_low(s):
        return s.G * s.P * s.K**3 * prefix_total(s.M, random_order)
    return Fraction(s.G * s.P * s.M * s.K * (s.K - 1) * (2 * s.K - 1), 6)


def inter_sum(s, random_order):
    """What section 4 allows for delta^2 = 1 before lower powers are dropped."""
    N, T = samples(s), chain_length(s)
    if ring_top(s):
        return Fraction(N, s.G) * Fraction(T, s.G) ** 2 * prefix_total(s.G, random_order)
    return Fraction(N * (T - 1) * (2 * T - 1), 6)


def heterogeneous_data(s, seed):
    """Zero-sum client and group deviations: random, with groups of unlike spread, then two-valued."""
    rng = np.random.default_rng(seed)
    unlike = 1 + np.arange(s.G)[:, None, None] % 3
    yield unlike * np.stack([zero_sum(rng, s.M, 2) for _ in range(s.G)]), zero_sum(rng, s.G, 2)
    yield np.stack([two_valued(s.M, (s.M + 1) // 2)] * s.G), two_valued(s.G, (s.G + 1) // 2)


def heterogeneity_sums(s, scaled, v, u):
    """M^2 x the sums over iterates of ||sum_i w_i v_{g,m}||^2 and of ||sum_i w_i u_g||^2."""
    by_client = scaled.sum(axis=(2, 4))  # iterate, g, m
    return (
        squares(np.einsum("sgm,gmd->sd", by_client, v)),
        squares(np.einsum("sgm,gd->sd", by_client, u)),
    )


def check_heterogeneity_sums(s, sums, v, u, random_order):
    """Sum <= finite sum of the proof <= term of the theorem, in fractions; returns both sums/finite sums."""
    ratios = []
    for total, deviations, letter, finite in (
        (sums[0], v, ZETA, intra_sum(s, random_order)),
        (sums[1], u, DELTA, inter_sum(s, random_order)),
    ):
        mean_square = Fraction(squares(deviations), deviations.size // deviations.shape[-1])
        total = Fraction(total) / s.M**2
        assert total <= finite * mean_square, (s, letter)
        if mean_square == 0:  # a single client, a single group: nothing deviates
            continue
        assert finite <= allowed_by_theorem(s, letter, random_order), (s, letter)
        ratios.append(total / (finite * mean_square) if finite else Fraction(1))
    return ratios


@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_heterogeneity_sums_in_fixed_order(topology):
    largest = {}
    for seed, s in enumerate(grid(topology)):
        for v, u in heterogeneous_data(s, seed):
            sums = heterogeneity_sums(s, fixed_order_weights(s)[1], v, u)
            ratios = check_heterogeneity_sums(s, sums, v, u, random_order=False)
            if len(ratios) == 2:
                largest[s] = max(ratios)
            # Below a star nothing is estimated, so the sums are equalities.
            if not ring_low(s):
                assert sums[0] * s.G * s.M == s.M**2 * intra_sum(s, False) * squares(v), s
            if not ring_top(s):
                assert sums[1] * s.G == s.M**2 * inter_sum(s, False) * squares(u), s
    # Two clients on opposite sides attain the ring's bound with K = 1, two groups likewise with T = G.
    assert max(largest.values()) == 1


PER_PASS, PER_ROUND, COMMON = "an order per pass", "an order per group and global round", "one for all groups"
WHICH_ORDER = {PER_PASS: lambda g, p: (g, p), PER_ROUND: lambda g, p: g, COMMON: lambda g, p: 0}
RANDOM_ORDER_CASES = [
    (topology, sizes, scheme)
    for topology in TOPOLOGIES[1:]
    for scheme, cases in (
        (PER_PASS, ((2, 3, 1, 2), (3, 2, 1, 2), (2, 2, 2, 2))),
        (PER_ROUND, ((3, 3, 1, 1), (2, 3, 2, 1))),
        (COMMON, ((3, 3, 2, 1), (4, 3, 1, 2), (4, 1, 2, 1))),
    )
    for sizes in cases
]  # sizes are G, M, P, K


@pytest.mark.parametrize(
    ("topology", "sizes", "scheme"),
    [  # every size and scheme in one topology or two
        pytest.param(*case, marks=pytest.mark.slow if (i + TOPOLOGIES.index(case[0])) % 2 else ())
        for i, case in enumerate(RANDOM_ORDER_CASES)
    ],
)
def test_heterogeneity_sums_in_random_order(topology, sizes, scheme):
    """Means over all permutations, whether passes and groups share them or not."""
    s = Settings(topology, *sizes)
    which = WHICH_ORDER[scheme]
    drawn = sorted({which(g, p) for g in range(s.G) for p in range(s.P)})
    # Order inside a star has no effect, so one order there stands for all.
    group_orders = list(permutations(range(s.G))) if ring_top(s) else [tuple(range(s.G))]
    client_orders = list(permutations(range(s.M))) if ring_low(s) else [tuple(range(s.M))]
    outcomes = list(product(group_orders, product(client_orders, repeat=len(drawn))))
    weights = []
    for group_order, chosen in outcomes:
        table = dict(zip(drawn, chosen, strict=True))
        _, scaled, _ = chain_weights(s, group_order, lambda g, p, table=table: table[which(g, p)])
        weights.append(scaled)
    for v, u in heterogeneous_data(s, seed=0):
        totals = [heterogeneity_sums(s, scaled, v, u) for scaled in weights]
        means = [Fraction(sum(column), len(outcomes)) for column in zip(*totals, strict=True)]
        check_heterogeneity_sums(s, means, v, u, random_order=True)
        # Where no iterate lies strictly between two prefixes, interpolation loses nothing.
        if ring_low(s) and s.K == 1:
            assert means[0] * s.G * s.M == s.M**2 * intra_sum(s, True) * squares(v)
        if ring_top(s) and chain_length(s) == s.G:
            assert means[1] * s.G == s.M**2 * inter_sum(s, True) * squares(u)


# Sections 5 and 6: constants and consequences --------------------------------------------------------------

U = sp.symbols("u", positive=True)
C1 = 1 / (1 - rational(5, 2) * U)
C2 = 1 / (rational(1, 2) - rational(5, 6) * C1 * U)


def test_admissible_range_and_convexity():
    assert sp.solve(sp.denom(sp.together(C2)), U) == [rational(6, 25)]
    assert rational(6, 25) < rational(1, 2) ** 2  # so L eta_eff <= 1/2, all that Lemma 1 asks, comes free
    # Powers of u with nonnegative coefficients only: in log(eta) the bound is a sum of exponentials. The
    # expected coefficients are those of the geometric series, by hand.
    for factor, expected in (
        (C2, [2] + [rational(10, 3) * rational(25, 6) ** (j - 1) for j in range(1, 8)]),
        (C1 * C2, [2 * rational(25, 6) ** j for j in range(8)]),
    ):
        series = sp.series(factor, U, 0, 8).removeO()
        assert [series.coeff(U, j) for j in range(8)] == expected


def test_theorem_1_of_the_paper_has_a_universal_constant_at_its_caps():
    """At u = 1/30, 1/60, 1/60, 1/100 no multiplier of a term of (4)-(7) exceeds 90/31 < 3."""
    caps = [rational(1, n) for n in (30, 60, 60, 100)]
    largest = [max(C2.subs(U, u), rational(5, 4) * (C1 * C2).subs(U, u)) for u in caps]
    at_caps = [C2.subs(U, u) for u in caps]
    assert at_caps == [rational(*c) for c in ((66, 31), (138, 67), (138, 67), (234, 115))]
    assert largest == [rational(*c) for c in ((90, 31), (180, 67), (180, 67), (60, 23))]


@pytest.mark.parametrize("random_order", [False, True])
@pytest.mark.parametrize(
    ("worse", "better"),
    [(STAR_STAR, STAR_RING), (STAR_STAR, RING_STAR), (STAR_RING, RING_RING), (RING_STAR, RING_RING)],
)
def test_order_of_the_four_bounds(worse, better, random_order):
    """The difference, with G = 1 + G' and so on, is a polynomial all of whose coefficients are positive."""
    difference = quadratic_coefficient(worse, random_order) - quadratic_coefficient(better, random_order)
    shifted = {letter: 1 + sp.Symbol(f"{letter}_minus_1") for letter in LETTERS}
    polynomial = sp.Poly(sp.expand(24 * G**2 * P**2 * M * K * difference).subs(shifted).expand())
    # With G = 1 there is no delta and with M = 1 no zeta; the random-order multiplier 5/8 is for two or more.
    assert polynomial.total_degree() > 0
    assert min(polynomial.coeffs()) > 0


def test_ring_star_against_star_ring():
    """The polynomials (9) and (10), typed from the document, are the differences q_SR - q_RS."""
    fixed = (3 * G * P * (G - 1) - 3 * M) * SIGMA**2 + (G**2 - 2) * M * K * ZETA**2 + G**2 * P**2 * M * K * DELTA**2
    random = (
        (6 * G * P * (G - 1) - 6 * M) * SIGMA**2
        + (3 * G**2 - 4 * M) * K * ZETA**2
        + (4 * G - 3) * G * P**2 * M * K * DELTA**2
    )
    for condition, scale, order in ((fixed, rational(5, 12), False), (random, rational(5, 24), True)):
        difference = quadratic_coefficient(STAR_RING, order) - quadratic_coefficient(RING_STAR, order)
        assert sp.simplify(difference - scale * condition / (G**2 * P**2 * M * K)) == 0
        # Either can be better: noise alone, few large groups and many small ones.
        noise_only = condition.subs({SIGMA: 1, ZETA: 0, DELTA: 0, P: 1, K: 2})
        assert noise_only.subs({G: 2, M: 50}) < 0 < noise_only.subs({G: 50, M: 2})


# The inequality itself --------------------------------------------------------------------------------------


class TiltedLogCosh:
    """Non-convex clients whose constants are known exactly.

    F_{g,m}(x) = sum_j log cosh x_j - (1/2) cos 2x_j + s_j log cosh x_j + t_j x_j, in loss units of 1. Bends s
    and tilts t average to zero, over the clients of a group around the group's and over groups around zero,
    so F is the common part: minimum -d/2 at 0, other stationary points besides, F* exact.

    L: F_{g,m}'' = (1 + s) sech^2 x + 2 cos 2x lies above -2 and is largest, 3 + s, at 0. zeta, delta:
    deviations of gradients are t + s tanh x, and tanh x fills the cube (-1, 1)^d, so the supremum over x of
    their mean square is the sum over coordinates of mean t^2 + 2 |mean t s| + mean s^2.
    """

    d = 2

    def __init__(self, G, M, sigma, zeta, delta, seed):
        rng = np.random.default_rng(seed)
        sides = np.array([1.0, -1.0])  # tilt and bend agree in one coordinate and oppose in the other
        tilt_client, tilt_group = self._sorted(rng, zeta, G, M), self._sorted(rng, delta, G)
        bend_client = sides * self._sorted(rng, 0.2 * min(1, zeta), G, M)
        bend_group = sides * self._sorted(rng, 0.2 * min(1, delta), G)
        self.tilt = tilt_group[:, None] + tilt_client
        self.bend = bend_group[:, None] + bend_client
        assert self.bend.min() > -1
        self.sigma, self.L = sigma, 3 + self.bend.max()
        self.zeta = math.sqrt(self._supremum(tilt_client, bend_client, axis=1).mean())  # over g of zeta_g^2
        self.delta = math.sqrt(self._supremum(tilt_group, bend_group, axis=0))

    def _sorted(self, rng, size, *shape):
        """Zero-sum along the ring, of root mean square `size`; sorted, so fixed orders meet long prefixes."""
        v = np.sort(rng.normal(size=(*shape, self.d)), axis=-2)
        v -= v.mean(axis=-2, keepdims=True)
        return v * size / math.sqrt((v**2).sum(axis=-1).mean()) if v.any() else v

    @staticmethod
    def _supremum(t, s, axis):
        return ((t**2).mean(axis) + 2 * abs((t * s).mean(axis)) + (s**2).mean(axis)).sum(axis=-1)

    def loss(self, x):
        return (np.log(np.cosh(x)) - np.cos(2 * x) / 2).sum(axis=-1)

    def full_gradient(self, x):
        return np.tanh(x) + np.sin(2 * x)

    def client_gradient(self, g, m, x):
        return self.full_gradient(x) + self.bend[g, m] * np.tanh(x) + self.tilt[g, m]


SIZES = ((2, 2, 1, 2), (4, 2, 1, 1), (2, 3, 2, 3), (3, 3, 1, 2))  # G, M, P, K
REGIMES = ((1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1), (0.3, 0.5, 2), (0, 0, 0))  # sigma, zeta, delta
STEPS = (0.1, 0.3, 0.45)  # L eta_eff, of 0.4899 admissible
STARTS = (0.0, 0.7, 4.0)  # the minimum, where only the error terms are left; near; far


def simulations(topology):
    for sizes, (seed, regime) in product(SIZES, enumerate(REGIMES)):
        s = Settings(topology, *sizes)
        yield from product([s], [TiltedLogCosh(s.G, s.M, *regime, seed)], STARTS, STEPS)


def start_point(start):
    return start * np.array([1.0, -0.6])


def sharp_constants(u):
    c1 = 1 / (1 - 2.5 * u)
    return c1, 1 / (0.5 - 5 / 6 * c1 * u)


def sharp_q(s, sigma, zeta, delta, random_order, by_count=False):
    """q_t once more, in floats and by hand from the statement; 5/12 (n+1)/n where 5/8 is not rounded up to."""
    G, M, P, K = s.G, s.M, s.P, s.K
    ring_zeta, ring_delta = (5 / 8 / M, 5 / 8 / G) if random_order else (5 / 12, 5 / 12)
    if by_count:
        ring_zeta, ring_delta = 5 / 12 * (M + 1) / M**2, 5 / 12 * (G + 1) / G**2
    if s.topology == STAR_STAR:
        return 5 / 4 * sigma**2 * (1 / (P**2 * K) + 1 / (P * M * K)) + 5 / 6 * (zeta**2 / P**2 + delta**2)
    if s.topology == STAR_RING:
        return 5 / 4 * sigma**2 / (P * M * K) + ring_zeta * zeta**2 / P**2 + 5 / 6 * delta**2
    if s.topology == RING_STAR:
        noise = 5 / 4 * sigma**2 * (1 / (G**2 * P**2 * K) + 1 / (G * P * M * K))
        return noise + 5 / 6 * zeta**2 / (G**2 * P**2) + ring_delta * delta**2
    return 5 / 4 * sigma**2 / (G * P * M * K) + ring_zeta * zeta**2 / (G**2 * P**2) + ring_delta * delta**2


@pytest.mark.parametrize("random_order", [False, True])
@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_the_two_typings_of_the_theorem_agree(topology, random_order):
    values = {G: 7, M: 5, P: 3, K: 2, SIGMA: rational(3, 2), ZETA: rational(2, 3), DELTA: rational(5, 4)}
    exact = quadratic_coefficient(topology, random_order).subs(values)
    typed = sharp_q(Settings(topology, 7, 5, 3, 2), 3 / 2, 2 / 3, 5 / 4, random_order)
    assert typed == pytest.approx(float(exact), rel=1e-14)
    assert sharp_constants(0.2) == pytest.approx([float(c.subs(U, rational(1, 5))) for c in (C1, C2)], rel=1e-14)


def test_constants_of_the_simulated_problems():
    """On a grid that reaches far out nothing exceeds the constants, and something comes within 1 %."""
    x = np.concatenate([np.linspace(-12, 12, 2401)[:, None] * [1, sign] for sign in (1, -1)])
    step, n = 1e-5, 3
    for seed, regime in enumerate(REGIMES):
        problem = TiltedLogCosh(n, n, *regime, seed)
        clients = [(g, m) for g in range(n) for m in range(n)]
        client = np.stack([problem.client_gradient(g, m, x) for g, m in clients]).reshape(n, n, *x.shape)
        group, mean = client.mean(axis=1), client.mean(axis=(0, 1))
        np.testing.assert_allclose(mean, problem.full_gradient(x), rtol=0, atol=1e-12)
        along = np.array([step, 0.0])
        slope = (problem.loss(x + along) - problem.loss(x - along)) / (2 * step)
        np.testing.assert_allclose(slope, mean[:, 0], rtol=0, atol=1e-8)
        rounding = 1e-12
        intra = ((client - group[:, None]) ** 2).sum(axis=-1).mean(axis=1).max(axis=1).mean()
        assert 0.99 * problem.zeta**2 <= intra <= problem.zeta**2 + rounding
        inter = ((group - mean) ** 2).sum(axis=-1).mean(axis=0).max()
        assert 0.99 * problem.delta**2 <= inter <= problem.delta**2 + rounding
        above, below = ([problem.client_gradient(*c, y) for c in clients] for y in (x + step, x - step))
        assert 0.99 * problem.L <= np.abs(np.subtract(above, below)).max() / (2 * step) <= problem.L + 1e-9


@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_lemma_1_and_the_drift_bound_hold_in_every_round(topology):
    """Noise off, order fixed: both are then inequalities between numbers, round by round."""
    closest = 0.0
    for s, problem, start, step in simulations(topology):
        if problem.sigma:
            continue
        eta_eff, N = step / problem.L, samples(s)
        c1, _ = sharp_constants(step**2)
        q = sharp_q(s, 0, problem.zeta, problem.delta, random_order=False)
        x = start_point(start or 0.1)
        for _ in range(5):
            drifts = []
            new = global_round(
                x,
                s,
                eta_eff / chain_length(s),
                lambda g, p, m, k, y, problem=problem: problem.client_gradient(g, m, y),
                visit=lambda g, p, m, k, y, x=x, drifts=drifts: drifts.append(float(((y - x) ** 2).sum())),
            )
            squared = float((problem.full_gradient(x) ** 2).sum())
            E, change = sum(drifts), float(problem.loss(new) - problem.loss(x))
            assert change < -eta_eff / 2 * squared + problem.L**2 * eta_eff / (2 * N) * E
            bound = 2 * c1 * eta_eff**2 * (q + 5 / 6 * squared) * N
            assert E / bound < 1
            closest, x = max(closest, E / bound), new
    print(f"{topology}: largest drift/bound {closest:.4f}")
    # Measured 0.150 (Star-Star) to 0.188 (Ring-Ring): splitting into five costs a factor 5 where one piece is
    # alone, so a drift bound a sixth as large would fail.
    assert closest > 0.14


def squared_gradients(s, problem, start, step, rounds, stream, random_order):
    """||grad F||^2 at x^(0)..x^(R-1), averaged over noise: floats of shape (rounds,)."""
    eta = step / problem.L / chain_length(s)
    noise, order = np.random.default_rng([1, stream]), np.random.default_rng([2, stream])
    x = np.tile(start_point(start), (32 if problem.sigma else 1, 1))

    def gradient(g, p, m, k, x):
        normal = noise.normal(size=x.shape) if problem.sigma else 0.0
        return problem.client_gradient(g, m, x) + problem.sigma / math.sqrt(problem.d) * normal

    squared = []
    for _ in range(rounds):
        squared.append((problem.full_gradient(x) ** 2).sum(axis=-1).mean())
        orders = {}
        if random_order:
            clients = [order.permutation(s.M).tolist() for _ in range(s.G)]
            orders["group_order"] = order.permutation(s.G).tolist()
            orders["client_order"] = lambda g, p, clients=clients: clients[g]
        x = global_round(x, s, eta, gradient, **orders)
    return np.array(squared)


@pytest.mark.parametrize(
    ("topology", "random_order", "every"),
    [
        (TOPOLOGIES[-1], False, 4),
        *(pytest.param(*one, marks=pytest.mark.slow) for one in product(TOPOLOGIES, [False], [1])),
        *(pytest.param(*one, marks=pytest.mark.slow) for one in product(TOPOLOGIES[1:], [True], [1])),
    ],
)
def test_the_inequality_holds(topology, random_order, every):
    """Simulated mean squared gradient over bound in 216 cells, or every fourth, at every horizon R = 1..20."""
    R = np.arange(1, 21)
    streams = range(4 if random_order else 1)
    largest = dict.fromkeys(STARTS, 0.0)
    for s, problem, start, step in islice(simulations(topology), 0, None, every):
        runs = [squared_gradients(s, problem, start, step, R[-1], i, random_order) for i in streams]
        measured = np.cumsum(np.mean(runs, axis=0)) / R
        A = float(problem.loss(start_point(start))) + problem.d / 2
        L, eta_eff = problem.L, step / problem.L
        c1, c2 = sharp_constants(step**2)
        q = sharp_q(s, problem.sigma, problem.zeta, problem.delta, random_order)
        bound = c2 * (A / (eta_eff * R) + L * eta_eff * problem.sigma**2 / samples(s) + c1 * step**2 * q)
        if random_order:
            fewer = sharp_q(s, problem.sigma, problem.zeta, problem.delta, random_order, by_count=True)
            assert fewer <= q * (1 + 1e-12) or min(s.G, s.M) < 2
            assert (measured <= bound - c2 * c1 * step**2 * (q - fewer) + 1e-15).all()
        if bound.any():
            largest[start] = max(largest[start], float((measured / bound).max()))
        else:  # at the minimum, without noise or heterogeneity, nothing may move
            assert not measured.any()
    print(f"{topology}, random order {random_order}: largest measured/bound by start {largest}")
    assert max(largest.values()) < 1
    # Measured 0.522 (Star-Star) to 0.525 (Ring-Ring), near the minimum and without noise: half the bound is
    # what gradient descent alone needs. From the minimum itself, on error terms alone, 0.11 to 0.18.
    assert max(largest.values()) > 0.5
