"""MATCHA: matchings of links, each active in a round with a probability of its own, under a budget for all.

Wang, Sahu, Yang, Joshi, Kar, MATCHA: Speeding Up Decentralized SGD via Matching Decomposition Sampling, 2019.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from planner.network.underlay import Floats

STEPS = 300  # of the ascent to the best probabilities


@dataclass(frozen=True, eq=False)
class Matcha:
    """Matchings and how often each is active."""

    matchings: NDArray[np.bool_]  # of shape (matchings, nodes, nodes), symmetric
    chances: Floats  # probability of each
    connectivity: float  # second least eigenvalue of the mean Laplacian
    bound: float  # no probabilities within the budget have a larger one
    # largest expected share of the distance to the mean model that a round leaves, at the best weight of a link
    consensus_ratio: float


def matcha(links: NDArray[np.bool_], budget: float) -> Matcha:
    """Divide links into matchings, and choose the probabilities of most algebraic connectivity.

    Links are symmetric and connected; the budget is the mean share of the matchings that are active.
    """
    matchings = matching_decomposition(links)
    laplacians = np.array([np.diag(m.sum(axis=1)) - m.astype(np.float64) for m in matchings])
    chances, value, bound = _chances(laplacians, budget * len(matchings))
    return Matcha(matchings, chances, value, bound, _ratio(laplacians, chances))


def matching_decomposition(links: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Colour links so that none of a colour meet, in at most one colour above the largest degree (Misra, Gries)."""
    n = len(links)
    colors = int(links.sum(axis=0).max()) + 1
    at = np.full((n, colors), -1, dtype=np.intp)  # the neighbour by each colour
    for u, v in np.argwhere(np.triu(links)).tolist():
        fan = _fan(at, u, v)
        c, d = (int(np.flatnonzero(at[end] < 0)[0]) for end in (u, fan[-1]))
        _swap(at, u, c, d)
        k = next(k for k, w in enumerate(fan) if at[w, d] < 0)  # that prefix is a fan still, as only c and d have moved
        for w, ahead in pairwise(fan[: k + 1]):
            color = int(np.flatnonzero(at[u] == ahead)[0])
            at[u, color], at[ahead, color] = -1, -1
            at[u, color], at[w, color] = w, u
        at[u, d], at[fan[k], d] = fan[k], u
    found = np.zeros((colors, n, n), dtype=bool)
    for color in range(colors):
        node = np.flatnonzero(at[:, color] >= 0)
        found[color, node, at[node, color]] = True
    return found[found.any(axis=(1, 2))]


def _fan(at: NDArray[np.intp], u: int, v: int) -> list[int]:
    """Neighbours of u from v on, the colour of each link to the next being free at the one before."""
    fan, left = [v], {int(w): c for c, w in enumerate(at[u]) if w >= 0}
    while True:
        after = next((w for w, color in left.items() if at[fan[-1], color] < 0), None)
        if after is None:
            return fan
        fan.append(after)
        del left[after]


def _swap(at: NDArray[np.intp], u: int, c: int, d: int) -> None:
    """Exchange two colours along the path from u whose first link has the colour d."""
    path, color = [u], d
    while (after := int(at[path[-1], color])) >= 0:
        path.append(after)
        color = c if color == d else d
    for node in path:
        at[node, c], at[node, d] = at[node, d], at[node, c]


def _chances(laplacians: Floats, total: float) -> tuple[Floats, float, float]:
    """Probabilities of most algebraic connectivity, their value, and a bound on all values.

    The least eigenvalue on the space of differences is concave in them. Its smooth form, the soft minimum of the
    eigenvalues, has as gradient the means of the Laplacians under a density matrix; each such matrix also bounds the
    best value, by the most that its means allow within the budget.
    """
    m, n = len(laplacians), laplacians.shape[1]
    basis = np.linalg.svd(np.ones((1, n)))[2][1:].T  # of the space of differences
    inner = np.einsum("ai,kab,bj->kij", basis, laplacians, basis, optimize=True)
    at = np.full(m, min(1.0, total / m))
    best, value, bound = at, -np.inf, np.inf
    for step in range(STEPS):
        eigenvalues, vectors = np.linalg.eigh(np.tensordot(at, inner, 1))
        soft = max(0.3 * 0.98**step, 1e-4) * max(eigenvalues[0], 1e-6) + 1e-12
        share = np.exp(-(eigenvalues - eigenvalues[0]) / soft)
        density = (vectors * (share / share.sum())) @ vectors.T
        slope = np.einsum("kij,ij->k", inner, density)
        if eigenvalues[0] > value:
            best, value = at, float(eigenvalues[0])
        most = np.sort(slope)[::-1]
        whole = int(total)
        bound = min(bound, float(most[:whole].sum() + (total - whole) * (most[whole] if whole < m else 0.0)))
        stride = 4 / (m * np.sqrt(step + 1.0) * max(float(np.abs(slope).max()), 1e-12))
        at = _capped(at + stride * slope, total)
    return best, value, bound


def _capped(point: Floats, total: float) -> Floats:
    """The nearest point with entries from 0 to 1 and the sum of the budget."""
    low, high = float(point.min()) - 1, float(point.max())
    for _ in range(60):
        middle = (low + high) / 2
        if np.clip(point - middle, 0, 1).sum() > total:
            low = middle
        else:
            high = middle
    return np.clip(point - (low + high) / 2, 0, 1)


def _ratio(laplacians: Floats, chances: Floats) -> float:
    """Largest expected share of the squared distance that a round leaves, at the best weight of a link.

    With ``W = I - a sum of the active L_k``, ``E W^2 = I - 2 a Lbar + a^2 (Lbar^2 + 2 sum p (1 - p) L_k)``, since the
    Laplacian of a matching has ``L^2 = 2 L``. The largest eigenvalue is convex in a.
    """
    n = laplacians.shape[1]
    mean = np.tensordot(chances, laplacians, 1)
    square = mean @ mean + 2 * np.tensordot(chances * (1 - chances), laplacians, 1)

    def left(a: float) -> float:
        return float(np.linalg.eigvalsh(np.eye(n) - 2 * a * mean + a * a * square - 1.0 / n)[-1])

    low, high = 0.0, 1.0
    for _ in range(60):
        one, two = low + (high - low) * 0.382, low + (high - low) * 0.618
        low, high = (low, two) if left(one) < left(two) else (one, high)
    return left((low + high) / 2)
