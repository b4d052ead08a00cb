r"""Coverage of clients by edge servers, and the mixing rate of the edge rounds of hybrid hierarchical FL.

With overlapping coverage a client averages the models of all its servers, and a server those of all its clients.
One edge round is then ``w -> W w`` with ``W = A diag(load)^-1 A^T diag(p)``, where row i of A holds the weights
client i gives its servers, p the clients' shares in the loss, and ``load = A^T p``. W has row sums 1, keeps the
p-weighted mean, and is self-adjoint and positive semidefinite in ``<x, y>_p = sum_i p_i x_i y_i``; its eigenvalues
say what an edge round leaves of a disagreement between the clients. Proofs: docs/theory/hhfl-overlap.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hflbounds.errors import DomainError

Array = NDArray[np.float64]

ROUNDING = 1e-9  # how far a row of weights may be from 1, and a given number from the one that follows
NO_MODE = 1e-13  # singular values below this are zeros that were rounded


@dataclass(frozen=True, eq=False)
class Coverage:
    """The clients' servers; make it with `Coverage.of`, which checks its arguments.

    Attributes:
        weights: row-stochastic array of shape (clients, servers), the weight each client gives each server.
        shares: array of shape (clients,), their shares in the loss; sums to 1.

    >>> both = Coverage.of([[1, 0], [1, 1], [0, 1]])
    >>> round(both.lambda2, 12), both.resources
    (0.666666666667, 1.3333333333333333)
    """

    weights: Array
    shares: Array

    @classmethod
    def of(cls, coverage: ArrayLike, weights: ArrayLike | None = None) -> Coverage:
        """Check and normalise.

        Args:
            coverage: array of shape (clients, servers): 0/1, and each client weighs its servers equally; or the
                weights themselves, with rows that sum to 1.
            weights: shares p_i of the clients in the loss, up to a common factor; equal if not given.

        Raises:
            DomainError: naming the row or column.
        """
        links = _numbers("coverage", coverage)
        if links.ndim != 2:
            raise DomainError(f"coverage has the shape {links.shape}; give an array of shape (clients, servers)")
        if not links.size:
            raise DomainError(f"coverage has the shape {links.shape}; give at least one client and one server")
        counts = (links > 0).sum(axis=1)
        if not counts.all():
            row = int(np.argmin(counts))
            raise DomainError(
                f"coverage, row {row} (from 0): the client is attached to no server; attach it, or leave the row out"
            )
        if np.isin(links, (0.0, 1.0)).all():
            links = links / counts[:, None]
        elif (off := np.abs(links.sum(axis=1) - 1)).max() > ROUNDING:
            row = int(np.argmax(off))
            raise DomainError(
                f"coverage, row {row} (from 0): its weights sum to {links[row].sum():.6g}, not to 1; "
                "give 0/1 for equal weights, or divide each row by its sum"
            )
        else:
            links = links / links.sum(axis=1)[:, None]
        shares = _shares(weights, len(links))
        for column, load in enumerate(shares @ links):
            if not load > 0:
                found = "no client" if not links[:, column].any() else "only clients of weight 0"
                raise DomainError(
                    f"coverage, column {column} (from 0): the server has {found}; "
                    "attach a client with a share in the loss, or leave the column out"
                )
        links.flags.writeable = shares.flags.writeable = False
        return cls(links, shares)

    @cached_property
    def loads(self) -> Array:
        """Weight of each server in the cloud: the clients' shares, split over their servers."""
        return np.asarray(self.shares @ self.weights)

    @cached_property
    def operator(self) -> Array:
        """W itself, of shape (clients, clients): an edge round makes ``W @ w`` of the clients' models."""
        return np.asarray(self.weights @ ((self.weights * self.shares[:, None]) / self.loads).T)

    @cached_property
    def spectrum(self) -> Array:
        """Eigenvalues of W, largest first, one per client; 1 once for every part that no link connects."""
        return self._squared(np.asarray(np.linalg.svd(self._root, compute_uv=False), dtype=np.float64))

    @property
    def lambda2(self) -> float:
        """Second largest eigenvalue: what an edge round leaves of the disagreement it removes worst."""
        return float(self.spectrum[1]) if len(self.spectrum) > 1 else 0.0

    @property
    def p2(self) -> float:
        """Sum of the squared shares."""
        return float(self.shares @ self.shares)

    @cached_property
    def parts(self) -> int:
        """Connected parts of the graph of clients (with a share in the loss) and servers."""
        linked = (self.weights[self.shares > 0] > 0).astype(np.float64)
        neighbours = linked.T @ linked > 0
        left = set(range(len(neighbours)))
        found = 0
        while left:
            found += 1
            border = {left.pop()}
            while border:
                border = left & {int(n) for n in np.flatnonzero(neighbours[list(border)].any(axis=0))}
                left -= border
        return found

    @property
    def resources(self) -> float:
        """Links per client: how many times the client-server transmissions of one server each, if all are unicast.

        Overlap breaks even where it saves more rounds than this.
        """
        return float((self.weights > 0).sum() / len(self.weights))

    def energies(self, gradients: ArrayLike) -> Array:
        """How much of the clients' gradients lies along each eigenvector of W, in the order of `spectrum`.

        Args:
            gradients: array of shape (clients,) or (clients, dimension).

        Returns:
            squared norms of the coefficients ``<q_k, g>_p``; the first belongs to a mean, and they add up to
            ``sum_i p_i |g_i|^2``.

        Raises:
            DomainError: if there is not one gradient for each client.
        """
        return self._along(self._gradients(gradients))

    def levels(self, gradients: ArrayLike) -> tuple[float, float]:
        """``(zeta^2, delta^2)``: what one edge round erases of the gradients' disagreement, and what it passes on.

        With one server for each client these are the squared gaps within servers and between them.

        Raises:
            DomainError: as of `energies`.
        """
        given = self._gradients(gradients)
        energies = self._along(given - self.shares @ given)
        passed_on = self.spectrum > 0
        return float(energies[~passed_on].sum()), float(energies[passed_on].sum())

    def _gradients(self, given: ArrayLike) -> Array:
        found = _finite("gradients", given)
        if found.ndim not in (1, 2) or len(found) != len(self.shares):
            raise DomainError(f"gradients have the shape {found.shape}; give one row for each of {len(self.shares)}")
        return found.reshape(len(found), -1)

    def _along(self, gradients: Array) -> Array:
        modes = np.linalg.svd(self._root, full_matrices=True)[0]
        return np.asarray(((modes.T @ (gradients * np.sqrt(self.shares)[:, None])) ** 2).sum(axis=1))

    @property
    def _root(self) -> Array:
        """``diag(p)^(1/2) A diag(load)^(-1/2)``, whose squared singular values are the eigenvalues of W."""
        return np.asarray(np.sqrt(self.shares)[:, None] * self.weights / np.sqrt(self.loads))

    def _squared(self, singular: Array) -> Array:
        found = np.zeros(len(self.shares))
        found[: len(singular)] = np.where(singular < NO_MODE, 0.0, np.minimum(singular, 1.0) ** 2)
        found[: self.parts] = 1.0  # exactly: one for each part
        return found


def ring(servers: int, clients: int, overlapping: int) -> Array:
    """Servers in a ring, each the home of some clients, the first few of which the next server covers too.

    Args:
        servers: how many.
        clients: of each server, counted once.
        overlapping: how many of these are also attached to the next server.

    Returns:
        0/1 array of shape (servers * clients, servers).

    Raises:
        DomainError: if more overlap than there are.
    """
    if not 0 <= overlapping <= clients or servers < 1 or clients < 1:
        raise DomainError(f"{overlapping} of {clients} clients of {servers} servers cannot overlap")
    found = np.zeros((servers, clients, servers))
    for server in range(servers):
        found[server, :, server] = 1
        found[server, :overlapping, (server + 1) % servers] = 1
    return found.reshape(-1, servers)


def triangle(alone: int, pairs: int, triples: int) -> Array:
    """Three servers at the corners of a triangle, each the home of as many clients: liu2026, Section V-A and Fig. 3.

    A client's home is the server that it has in the hierarchy without overlap. Clients that two servers reach are
    shared out evenly between them: with 14, 4 and 1 there are 57 clients and each server reaches 25.

    Args:
        alone: clients of each home that reach no other server.
        pairs: clients of each home that reach one other, the next server and the one before in turn.
        triples: clients of each home that reach all three.

    Returns:
        0/1 array of shape (clients, 3), clients numbered home by home.

    Raises:
        DomainError: if there are no clients.
    """
    if alone + pairs + triples < 1:
        raise DomainError("three servers and no clients; give at least one of each")
    found = np.zeros((3, alone + pairs + triples, 3))
    for home in range(3):
        found[home, :, home] = 1
        found[home, alone : alone + pairs : 2, (home + 1) % 3] = 1
        found[home, alone + 1 : alone + pairs : 2, (home + 2) % 3] = 1
        found[home, alone + pairs :] = 1
    return found.reshape(-1, 3)


def from_arrays(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """What the arrays ``coverage``, ``weights`` and ``sigmas`` say of ``lambda2``, ``p2`` and ``sigma``.

    For `Bound.prepare`. With unequal ``sigmas``, ``p2 * sigma**2`` is the sum of ``p_i**2 * sigma_i**2``.

    Raises:
        DomainError: for arrays that are no coverage, and for numbers that contradict them.
    """
    return _agreed(
        values, lambda shares, sigmas: float(np.sqrt((shares * sigmas) @ (shares * sigmas) / (shares @ shares)))
    )


def from_arrays_at_most(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """The same where noise enters in other ways too, with the largest of the ``sigmas`` for ``sigma``.

    Raises:
        DomainError: as of `from_arrays`.
    """
    return _agreed(values, lambda shares, sigmas: float(sigmas.max()))


def _agreed(values: Mapping[str, Any], one_sigma: Callable[[Array, Array], float]) -> Mapping[str, Any]:
    found: dict[str, float] = {}
    shares = None
    if values.get("coverage") is not None:
        known = Coverage.of(values["coverage"], values.get("weights"))
        shares, found = known.shares, {"lambda2": known.lambda2, "p2": known.p2}
    elif values.get("weights") is not None:
        shares = _shares(values["weights"])
        found = {"p2": float(shares @ shares)}
    if values.get("sigmas") is not None:
        sigmas = _numbers("sigmas", values["sigmas"], "is no standard deviation; give numbers of at least 0")
        shares = _shares(None, max(sigmas.size, 1)) if shares is None else shares
        if sigmas.shape != shares.shape:
            raise DomainError(
                f"sigmas have the shape {sigmas.shape}; give one number for each of {len(shares)} clients"
            )
        found |= {"p2": float(shares @ shares), "sigma": one_sigma(shares, sigmas)}
    for name, value in found.items():
        given = values.get(name)
        if given is not None and not np.allclose(np.asarray(given, dtype=np.float64), value, rtol=ROUNDING, atol=0):
            raise DomainError(f"{name} = {given} is given, and {value:.6g} follows from the arrays; give one of them")
    return found


def _shares(weights: ArrayLike | None, clients: int | None = None) -> Array:
    if weights is None:
        return np.full(clients or 1, 1 / (clients or 1))
    found = _numbers("weights", weights)
    if found.ndim != 1 or (clients is not None and len(found) != clients):
        rows = "one number for each client" if clients is None else f"{clients} numbers, one for each row of coverage"
        raise DomainError(f"weights have the shape {found.shape}; give {rows}")
    total = found.sum()
    if not (0 < total < np.inf):
        raise DomainError(f"weights sum to {total:g}; give the clients' shares in the loss, which sum to 1")
    return np.asarray(found / total)


def _numbers(name: str, given: ArrayLike, wrong: str = "is no weight; give numbers of at least 0") -> Array:
    numbers = _finite(name, given)
    if (numbers < 0).any():
        raise _misplaced(name, numbers, numbers < 0, wrong)
    return numbers


def _finite(name: str, given: ArrayLike) -> Array:
    try:
        found = np.asarray(given)
    except ValueError:
        raise DomainError(f"{name} has rows of different lengths; give an array") from None
    if found.dtype.kind not in "iufb":
        raise DomainError(f"{name} must hold numbers, not {given!r:.80}")
    numbers = found.astype(np.float64)
    if not (good := np.isfinite(numbers)).all():
        raise _misplaced(name, numbers, ~good, "is no finite number")
    return numbers


def _misplaced(name: str, numbers: Array, wrong: NDArray[np.bool_], fact: str) -> DomainError:
    at = tuple(int(i) for i in np.argwhere(wrong)[0])
    where = ", ".join(f"{axis} {i}" for axis, i in zip(("row", "column"), at, strict=False)) or "the only entry"
    return DomainError(f"{name}, {where} (from 0): {numbers[at]:g} {fact}")
