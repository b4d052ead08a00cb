r"""How one round of communication mixes the nodes' models: sampled, and in exact expectation where there is one.

A round turns the rows of X, the models, into those of ``W X`` with a row-stochastic W that is drawn afresh. With the
consensus distance ``CD = mean_i |x_i - mean|^2`` two numbers decide what follows:

* the consensus ratio ``E CD' / CD``, about the mean after the round;
* the mean deviation ``E |mean' - mean|^2 / CD``: how far the round moves the mean itself.

Their sum is the factor about the mean before the round, which papers call beta. For laws of W that do not change when
nodes are renamed both are the same for every X: ``(|PWP|^2)/(n - 1)`` and ``|1^T W P|^2/(n (n - 1))`` in expectation,
with P the projection off the vector of ones and the squared Frobenius norm. For one fixed W they depend on X, and the
largest are given. Proofs: docs/theory/hsl-mixing.md.

>>> import numpy as np
>>> hsl = HubSpoke(n_s=100, n_h=10, b_hs=15, b_hh=5, b_sh=2)
>>> f"{hsl.consensus_ratio().value:.6f} {hsl.mean_deviation().value:.6f} {hsl.edges:.0f}"
'0.001996 0.005784 400'
>>> gap = hsl.spectral_gap(np.random.default_rng(0), draws=20)
>>> gap.draws, gap.low < gap.value < gap.high
(20, True)
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hflbounds.catalog import own_hsl
from hflbounds.errors import DomainError

Array = NDArray[np.float64]
NORMAL_99 = 2.5758293035489004  # 99.5 % quantile of the normal law: intervals of 99 %
ALONE = (
    "not to be ranked by alone: the round also moves the average, and mean_deviation enters the leading term of the "
    "bound (sharma2025.S1)"
)
ONE_DRAW = (
    "not to be ranked by: a draw in which two nodes hear from nobody has the gap 0 although consensus distance shrinks "
    "in expectation, and eigenvalues of a matrix that is not normal do not bound it (sharma2025.S6)"
)


@dataclass(frozen=True, slots=True)
class Measured:
    """A number, and how it is known.

    Attributes:
        value: the number.
        low: lower end of its 99 % interval; the value itself where it is exact.
        high: upper end.
        draws: matrices drawn for it; 0 where it is exact.
        warning: what it must not be used for, or nothing.
    """

    value: float
    low: float
    high: float
    draws: int = 0
    warning: str = ""

    @property
    def exact(self) -> bool:
        """Whether it is a closed form and not an estimate."""
        return self.draws == 0


class Mixing(ABC):
    """A law of row-stochastic matrices."""

    @property
    @abstractmethod
    def nodes(self) -> int:
        """How many models are mixed."""

    @property
    @abstractmethod
    def edges(self) -> float:
        """Models sent over a link in a round, in expectation."""

    @abstractmethod
    def sample(self, rng: np.random.Generator) -> Array:
        """One matrix, of shape (nodes, nodes), with rows that sum to 1."""

    def consensus_ratio(self, rng: np.random.Generator | None = None, draws: int = 400) -> Measured:
        """Expected consensus distance after a round over that before: exact where there is a closed form.

        Args:
            rng: for an estimate, where there is none.
            draws: matrices to draw for it.

        Raises:
            DomainError: where there is no closed form and no generator, or fewer than two draws.
        """
        moments = self._moments()
        if moments is None:
            return self.estimate(rng, draws)[0]
        return _exactly(moments[0], ALONE if moments[1] > 0 else "")

    def mean_deviation(self, rng: np.random.Generator | None = None, draws: int = 400) -> Measured:
        """Expected squared move of the average in a round, over the consensus distance before it.

        Args:
            rng: for an estimate, where there is no closed form.
            draws: matrices to draw for it.

        Raises:
            DomainError: as of `consensus_ratio`.
        """
        moments = self._moments()
        return self.estimate(rng, draws)[1] if moments is None else _exactly(moments[1])

    def spectral_gap(self, rng: np.random.Generator | None = None, draws: int = 400) -> Measured:
        """Mean over draws of 1 less the second largest modulus of an eigenvalue; exact for a fixed matrix.

        Args:
            rng: for an estimate.
            draws: matrices to draw for it.

        Raises:
            DomainError: as of `consensus_ratio`.
        """
        known = self._gap()
        if known is not None:
            return _exactly(known)
        generator = self._generator(rng, draws)
        return _interval([gap(self.sample(generator)) for _ in range(draws)], ONE_DRAW)

    def estimate(self, rng: np.random.Generator | None, draws: int = 400) -> tuple[Measured, Measured]:
        """Consensus ratio and mean deviation by drawing matrices, whether or not there is a closed form.

        Each draw is averaged over all directions of the models exactly, so only the draw of W is random.

        Raises:
            DomainError: without a generator, or for fewer than two draws.
        """
        generator = self._generator(rng, draws)
        ratios, moves = zip(*(spread(self.sample(generator)) for _ in range(draws)), strict=True)
        return _interval(ratios, ALONE), _interval(moves)

    def _moments(self) -> tuple[float, float] | None:
        """Consensus ratio and mean deviation in closed form, where there is one."""
        return None

    def _gap(self) -> float | None:
        """The spectral gap, where it is the same for every draw."""
        return None

    def _generator(self, rng: np.random.Generator | None, draws: int) -> np.random.Generator:
        if rng is None:
            raise DomainError(
                f"{type(self).__name__}: this has no closed form; pass a seeded numpy Generator to estimate it"
            )
        _check_count(self, "draws", draws, least=2, way="an interval needs at least two draws")
        return rng


@dataclass(frozen=True)
class HubSpoke(Mixing):
    """Hubs and Spokes Learning: hubs average spokes, gossip, and spokes average hubs.

    Attributes:
        n_s: spokes.
        n_h: hubs.
        b_hs: spokes each hub averages, drawn without replacement.
        b_hh: other hubs each hub sends to.
        b_sh: hubs each spoke averages, drawn without replacement.
    """

    n_s: int
    n_h: int
    b_hs: int
    b_hh: int
    b_sh: int

    def __post_init__(self) -> None:
        _check_count(self, "n_s", self.n_s)
        _check_count(self, "n_h", self.n_h, way="without hubs this is Epidemic Learning: use Push or Pull")
        _check_count(self, "b_hs", self.b_hs, most=self.n_s, way="a hub averages some of the n_s spokes")
        _check_count(self, "b_hh", self.b_hh, 0, self.n_h - 1, "a hub sends to some of the n_h - 1 other hubs")
        _check_count(self, "b_sh", self.b_sh, most=self.n_h, way="a spoke averages some of the n_h hubs")

    @property
    def nodes(self) -> int:
        """Spokes."""
        return self.n_s

    @property
    def edges(self) -> float:
        """``n_h b_hs + n_h b_hh + n_s b_sh``."""
        return float(self.n_h * self.b_hs + self.n_h * self.b_hh + self.n_s * self.b_sh)

    def stages(self, rng: np.random.Generator) -> tuple[Array, Array, Array]:
        """The three matrices of one round: spokes to hubs, among hubs, hubs to spokes."""
        collect = _averages(rng, self.n_h, self.n_s, self.b_hs)
        return collect, _pushed(rng, self.n_h, self.b_hh), _averages(rng, self.n_s, self.n_h, self.b_sh)

    def sample(self, rng: np.random.Generator) -> Array:
        """One round of all three stages."""
        collect, gossip, pull = self.stages(rng)
        return np.asarray(pull @ gossip @ collect)

    def _moments(self) -> tuple[float, float]:
        found = own_hsl.hsl_exact.split(n_s=self.n_s, n_h=self.n_h, b_hs=self.b_hs, b_hh=self.b_hh, b_sh=self.b_sh)
        return found["consensus_distance"], found["mean_deviation"]


@dataclass(frozen=True)
class _Gossip(Mixing):
    """Nodes that each talk to ``s`` others."""

    n: int
    s: int

    def __post_init__(self) -> None:
        _check_count(self, "n", self.n)
        _check_count(self, "s", self.s, 0, self.n - 1, "a node talks to some of the n - 1 others")

    @property
    def nodes(self) -> int:
        """Nodes."""
        return self.n

    @property
    def edges(self) -> float:
        """``n s``."""
        return float(self.n * self.s)


@dataclass(frozen=True)
class Push(_Gossip):
    """EL-Local: each of ``n`` nodes sends to ``s`` others, and averages its own model with what it receives."""

    def sample(self, rng: np.random.Generator) -> Array:
        """In-degrees vary."""
        return _pushed(rng, self.n, self.s)

    def _moments(self) -> tuple[float, float]:
        if self.n == 1 or self.s == 0:
            return float(self.n > 1), 0.0
        found = own_hsl.push_exact.split(n_s=self.n, s=self.s)
        return found["consensus_distance"], found["mean_deviation"]


@dataclass(frozen=True)
class Oracle(_Gossip):
    """EL-Oracle: everybody sends to ``s`` others and receives from ``s`` others; the average stays where it is.

    The graph is a circle's, each node joined to those at ``s`` random distances, with the nodes renamed at random. Any
    law of such graphs that renaming does not change has the same expectations.
    """

    def sample(self, rng: np.random.Generator) -> Array:
        """In- and out-degrees are all ``s``: W is doubly stochastic."""
        offsets = np.append(0, rng.permutation(np.arange(1, self.n))[: self.s])
        names = rng.permutation(self.n)
        found = np.zeros((self.n, self.n))
        for offset in offsets:
            found[names, np.roll(names, offset)] = 1 / (self.s + 1)
        return found

    def _moments(self) -> tuple[float, float]:
        return _alpha(self.n, self.s), 0.0


@dataclass(frozen=True)
class Pull(_Gossip):
    """Each of ``n`` nodes averages its own model with those of ``s`` others it asks: in-degrees are fixed."""

    def sample(self, rng: np.random.Generator) -> Array:
        """Out-degrees vary."""
        return np.asarray(_chosen(rng, self.n, self.s).T + np.eye(self.n)) / (self.s + 1)

    def _moments(self) -> tuple[float, float]:
        if self.s >= self.n - 1 or self.s == 0:  # everybody hears everybody, or nobody
            return float(self.s == 0 and self.n > 1), 0.0
        asked = self.s / (self.n - 1)
        shared = (2 * asked + (self.n - 2) * asked**2) / (self.s + 1) ** 2  # mean of sum_k w_ik w_jk
        ratio = 1 / (self.s + 1) - shared
        return ratio, _alpha(self.n, self.s) - ratio


@dataclass(frozen=True)
class ErdosRenyi(Mixing):
    """Every link is there with one probability, independently; each node averages its own model with those it hears.

    Attributes:
        n: nodes.
        probability: of each link.
        symmetric: whether links go both ways; if not, the two directions are drawn apart.
    """

    n: int
    probability: float
    symmetric: bool = False

    def __post_init__(self) -> None:
        _check_count(self, "n", self.n)
        number = isinstance(self.probability, int | float) and not isinstance(self.probability, bool)
        if not number or not 0 <= self.probability <= 1:
            raise DomainError(f"ErdosRenyi: probability is {self.probability!r}; give a number from 0 to 1")

    @property
    def nodes(self) -> int:
        """Nodes."""
        return self.n

    @property
    def edges(self) -> float:
        """Directed links, in expectation."""
        return self.n * (self.n - 1) * self.probability

    def sample(self, rng: np.random.Generator) -> Array:
        """Rows of equal weights."""
        heard = rng.random((self.n, self.n)) < self.probability
        if self.symmetric:
            heard = np.triu(heard, 1)
            heard |= heard.T
        np.fill_diagonal(heard, True)
        return np.asarray(heard / heard.sum(axis=1, keepdims=True))

    def _moments(self) -> tuple[float, float] | None:
        if self.n == 1:
            return 0.0, 0.0
        if self.probability in (0, 1):
            return float(self.probability == 0), 0.0
        if self.symmetric:  # a link weighs in two rows at once
            return None
        # Rows are independent: the overlap of two of them is that of their means.
        squares = -math.expm1(self.n * math.log1p(-self.probability)) / (self.n * self.probability)
        other = (1 - squares) / (self.n - 1)
        shared = 2 * squares * other + (self.n - 2) * other**2
        move = (squares + (self.n - 1) * shared - 1) / (self.n - 1)
        return squares - shared, max(0.0, move)


@dataclass(frozen=True)
class FedAvg(Mixing):
    """A server averages all ``n`` clients, or ``sampled`` of them drawn without replacement, and tells everybody."""

    n: int
    sampled: int | None = None

    def __post_init__(self) -> None:
        _check_count(self, "n", self.n)
        if self.sampled is not None:
            _check_count(self, "sampled", self.sampled, most=self.n, way="the server averages some of the n clients")

    @property
    def nodes(self) -> int:
        """Clients."""
        return self.n

    @property
    def edges(self) -> float:
        """One upload from each client drawn, one download to each."""
        return float(self.n + (self.sampled or self.n))

    def sample(self, rng: np.random.Generator) -> Array:
        """Rows are all alike."""
        return np.repeat(_averages(rng, 1, self.n, self.sampled or self.n), self.n, axis=0)

    def _moments(self) -> tuple[float, float]:
        drawn = self.sampled or self.n
        return 0.0, (self.n - drawn) / (drawn * (self.n - 1)) if self.n > 1 else 0.0

    def _gap(self) -> float:
        return 1.0


@dataclass(frozen=True, eq=False)
class Fixed(Mixing):
    """One row-stochastic matrix, used in every round; its numbers are the largest over all models.

    Attributes:
        weights: array of shape (nodes, nodes).
    """

    weights: Array

    def __post_init__(self) -> None:
        given = np.asarray(self.weights, dtype=np.float64)
        if given.ndim != 2 or given.shape[0] != given.shape[1] or not given.size:
            raise DomainError(f"Fixed: weights have the shape {given.shape}; give a square array")
        if not (np.isfinite(given).all() and (given >= 0).all()):
            raise DomainError("Fixed: a weight is negative or not finite; give shares of an average")
        if (off := np.abs(given.sum(axis=1) - 1)).max() > 1e-9:
            row = int(np.argmax(off))
            told = f"Fixed: row {row} (from 0) of the weights sums to {given[row].sum():.6g}"
            raise DomainError(f"{told}, not to 1; divide each row by its sum")
        object.__setattr__(self, "weights", given)

    @property
    def nodes(self) -> int:
        """Rows."""
        return len(self.weights)

    @property
    def edges(self) -> float:
        """Weights off the diagonal that are not 0."""
        return float(np.count_nonzero(self.weights - np.diag(np.diag(self.weights))))

    def sample(self, rng: np.random.Generator) -> Array:
        """The matrix; the generator is not used."""
        return self.weights

    def _moments(self) -> tuple[float, float]:
        off = self.weights - self.weights.mean(axis=0)
        ratio = np.linalg.norm(off - off.mean(axis=1, keepdims=True), 2) ** 2
        move = ((self.weights.sum(axis=0) - 1) ** 2).sum() / self.nodes
        return float(ratio), 0.0 if move < 1e-24 else float(move)

    def _gap(self) -> float:
        return gap(self.weights)


@dataclass(frozen=True)
class Torus(Mixing):
    """A fixed grid whose ends meet: each node averages itself and its four neighbours, a fifth each."""

    rows: int
    columns: int

    def __post_init__(self) -> None:
        for name in ("rows", "columns"):
            _check_count(self, name, getattr(self, name), least=3, way="in fewer, two neighbours would be one node")

    @property
    def nodes(self) -> int:
        """``rows columns``."""
        return self.rows * self.columns

    @property
    def edges(self) -> float:
        """Four for each node."""
        return 4.0 * self.nodes

    @property
    def lambda2(self) -> float:
        """Largest modulus of an eigenvalue but the first."""
        waves = [np.cos(2 * np.pi * np.arange(k) / k) for k in (self.rows, self.columns)]
        found = np.abs((1 + 2 * waves[0][:, None] + 2 * waves[1]) / 5).ravel()
        return float(found[1:].max())

    def sample(self, rng: np.random.Generator) -> Array:
        """The matrix; the generator is not used."""
        places = np.arange(self.nodes).reshape(self.rows, self.columns)
        found = np.eye(self.nodes)
        for shift, axis in ((1, 0), (-1, 0), (1, 1), (-1, 1)):
            found[places.ravel(), np.roll(places, shift, axis).ravel()] = 1
        return found / 5

    def _moments(self) -> tuple[float, float]:
        return self.lambda2**2, 0.0

    def _gap(self) -> float:
        return 1 - self.lambda2


def edge_round(coverage: ArrayLike, weights: ArrayLike | None = None) -> Fixed:
    """An edge round of hybrid hierarchical FL; see `hflbounds.coverage` for its spectrum.

    Its numbers here are about the plain average of the clients; with unequal shares the round keeps the weighted one.

    Args:
        coverage: 0/1 array of shape (clients, servers), or weights.
        weights: the clients' shares in the loss; equal if not given.

    Raises:
        DomainError: as of `hflbounds.coverage.Coverage.of`.
    """
    from hflbounds.coverage import Coverage

    return Fixed(Coverage.of(coverage, weights).operator)


def spread(matrix: Array) -> tuple[float, float]:
    """Consensus ratio and mean deviation of one matrix, averaged over all directions of the models."""
    n = len(matrix)
    if n == 1:
        return 0.0, 0.0
    off = matrix - matrix.mean(axis=0)
    squares = ((off - off.mean(axis=1, keepdims=True)) ** 2).sum()
    columns = ((matrix.sum(axis=0) - 1) ** 2).sum()
    return float(squares / (n - 1)), float(columns / (n * (n - 1)))


def gap(matrix: Array) -> float:
    """1 less the second largest modulus of an eigenvalue; 1 for a single node."""
    sizes = np.sort(np.abs(np.linalg.eigvals(matrix)))
    return float(1 - sizes[-2]) if len(sizes) > 1 else 1.0


def _alpha(n: int, s: int) -> float:
    """The factor of s + 1 equal weights, about the mean before."""
    return (n - 1 - s) / ((s + 1) * (n - 1)) if n > 1 else 0.0


def _chosen(rng: np.random.Generator, n: int, b: int) -> Array:
    """Column k has ones at b of the other nodes, drawn without replacement."""
    keys = rng.random((n, n))
    np.fill_diagonal(keys, np.inf)
    return (keys <= np.partition(keys, b - 1, axis=0)[b - 1]).astype(float) if b else np.zeros((n, n))


def _pushed(rng: np.random.Generator, n: int, b: int) -> Array:
    heard = _chosen(rng, n, b) + np.eye(n)
    return np.asarray(heard / heard.sum(axis=1, keepdims=True))


def _averages(rng: np.random.Generator, rows: int, n: int, b: int) -> Array:
    keys = rng.random((rows, n))
    return np.asarray((keys <= np.partition(keys, b - 1, axis=1)[:, b - 1 : b]) / b)


def _exactly(value: float, warning: str = "") -> Measured:
    return Measured(float(value), float(value), float(value), 0, warning)


def _interval(values: Any, warning: str = "") -> Measured:
    found = np.asarray(values, dtype=np.float64)
    mean = float(found.mean())
    half = NORMAL_99 * float(found.std(ddof=1)) / math.sqrt(len(found))
    low = max(mean - half, min(mean, 0.0))  # none of the three is below 0
    return Measured(mean, low, mean + half, len(found), warning)


def _check_count(
    owner: object, name: str, value: object, least: int = 1, most: int | None = None, way: str = "give a whole number"
) -> None:
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if whole and least <= int(value) and (most is None or int(value) <= most):  # type: ignore[call-overload]
        return
    limits = f"at least {least}" if most is None else f"from {least} to {most}"
    raise DomainError(f"{type(owner).__name__}: {name} must be a whole number {limits}, not {value!r}; {way}")
