"""Who holds which samples: labelled data dealt to clients in groups, with exact sizes and in bounded time.

Every scheme first settles a table of label counts, one row a client, and then deals samples to it. A table is found by
fitting shares to its margins and rounding them, or by dealing labels in turn: nothing is drawn again until it fits, so
nothing can go on for ever, and what cannot be dealt is refused before anything is.
"""

from __future__ import annotations

import csv
import inspect
import io
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from validation.engine import ValidationError, generator

Counts = NDArray[np.int64]
PARTITION, LABELS, SAMPLES = 10, 11, 12  # what a generator is for
SWEEPS = 500  # of a fit of shares to margins
FAINT = -600.0  # logarithm of the smallest share over the largest


@dataclass(frozen=True, eq=False)
class Partition:
    """Samples by client.

    Attributes:
        samples: numbers of the samples of each client; no sample is held twice.
        groups: group of each client; clients are numbered group by group.
    """

    samples: tuple[Counts, ...]
    groups: tuple[int, ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """Samples of each client."""
        return tuple(len(held) for held in self.samples)

    def counts(self, labels: ArrayLike) -> Counts:
        """How often each client holds each label, of shape (clients, labels)."""
        of = np.asarray(labels)
        kinds = int(of.max()) + 1
        return np.stack([np.bincount(of[held], minlength=kinds) for held in self.samples])

    def table(self, labels: ArrayLike, names: Sequence[str] | None = None) -> str:
        """The label counts as CSV: client, group, and a column for each label; both are numbered from 1."""
        counts = self.counts(labels)
        text = io.StringIO()
        rows = csv.writer(text, lineterminator="\n")
        rows.writerow(["client", "group", *(names or range(counts.shape[1]))])
        rows.writerows(
            [c + 1, g + 1, *row] for c, (g, row) in enumerate(zip(self.groups, counts.tolist(), strict=True))
        )
        return text.getvalue()


def dirichlet(
    labels: ArrayLike,
    G: int,
    M: int,
    *,
    seed: int = 0,
    inter: float = math.inf,
    intra: float = math.inf,
    regions: int = 1,
    between: float = math.inf,
) -> Partition:
    """Groups of one size drawn with one concentration, and clients of one size within them with another.

    Shares of labels are Dirichlet with the same concentration for each label, and fitted to what there is; infinite
    concentration is a uniform deal. Samples that do not divide by the number of clients are left out at random.

    Args:
        labels: of every sample, from 0.
        G: groups.
        M: clients in each group.
        seed: of the partition.
        inter: concentration between groups.
        intra: concentration between the clients of a group.
        regions: of equally many groups, where there are three tiers; neighbours are of one region.
        between: concentration between regions; then ``inter`` is that between the groups of one.

    Raises:
        ValidationError: if there are fewer samples than clients, groups do not divide by regions, or a concentration
            is not above 0.
    """
    of = _labels(labels, G, M)
    if regions < 1 or G % regions:
        raise ValidationError(f"regions = {regions}: {G} groups do not divide by it.")
    dice = _dice(seed, PARTITION)
    parts = [_even(of, G * M, dice)]
    for number, alpha, name in ((regions, between, "between"), (G // regions, inter, "inter"), (M, intra, "intra")):
        parts = [one for part in parts for one in _split(part, of, number, alpha, name, dice)]
    return Partition(tuple(parts), _by_group(G, M))


def iid(labels: ArrayLike, G: int, M: int, *, seed: int = 0) -> Partition:
    """Scheme 1 of zhou2026, Appendix B.1: uniform within groups and between them."""
    return dirichlet(labels, G, M, seed=seed)


def intra(labels: ArrayLike, G: int, M: int, *, seed: int = 0, alpha: float = 0.1) -> Partition:
    """Scheme 2 of zhou2026, Appendix B.1: groups alike, the clients of each Dirichlet."""
    return dirichlet(labels, G, M, seed=seed, intra=alpha)


def inter(labels: ArrayLike, G: int, M: int, *, seed: int = 0, alpha: float = 0.1) -> Partition:
    """Scheme 3 of zhou2026, Appendix B.1: groups Dirichlet, the clients of each alike."""
    return dirichlet(labels, G, M, seed=seed, inter=alpha)


def both(labels: ArrayLike, G: int, M: int, *, seed: int = 0, alpha: float = 0.1) -> Partition:
    """Scheme 4 of zhou2026, Appendix B.1: all clients Dirichlet at once, groups of neighbours."""
    whole = dirichlet(labels, 1, G * M, seed=seed, intra=alpha)
    return Partition(whole.samples, _by_group(G, M))


def pathological(
    labels: ArrayLike,
    G: int,
    M: int,
    *,
    seed: int = 0,
    kinds: int = 2,
    missing: int = 0,
    size: int | None = None,
) -> Partition:
    """Every client holds a few labels, equally many samples of each; every group lacks some labels (liu2026, V-A).

    Within a group labels are dealt so that the numbers of clients that hold them differ by one at most: where
    ``kinds * M`` divides by the labels and nothing is missing, groups are exactly alike.

    Args:
        labels: of every sample, from 0.
        G: groups, the servers of HHFL: a client counts for the one it has in the hierarchy without overlap.
        M: clients in each group.
        seed: of the partition.
        kinds: labels of each client.
        missing: labels that no client of a group holds; which ones, turns from group to group.
        size: samples of each client, a multiple of ``kinds``; by default as many as there can be.

    Raises:
        ValidationError: if there are not so many labels, or not so many samples.
    """
    of = _labels(labels, G, M)
    stock = np.bincount(of)
    total = len(stock)
    if not 0 <= missing < total:
        raise ValidationError(f"missing = {missing} of {total} labels leaves a group none: give at most {total - 1}.")
    if not 1 <= kinds <= total - missing:
        raise ValidationError(f"kinds = {kinds} labels for each client, and a group has {total - missing}.")
    dice = _dice(seed, LABELS)
    turn = dice.permutation(total)
    held = np.zeros((G * M, total), np.int64)
    overall = np.zeros(total, np.int64)
    for g in range(G):
        allowed = np.setdiff1d(turn, turn[(g * missing + np.arange(missing)) % total])
        dealt = np.zeros(total, np.int64)
        for m in range(M):
            order = np.lexsort((dice.random(len(allowed)), overall[allowed], dealt[allowed]))
            chosen = allowed[order[:kinds]]
            held[g * M + m, chosen] = 1
            dealt[chosen] += 1
            overall[chosen] += 1
    least = int((stock[overall > 0] // overall[overall > 0]).min())
    each = least if size is None else size // kinds
    if each < 1 or each > least or (size is not None and size % kinds):
        raise ValidationError(
            f"{G * M} clients with {kinds} labels each cannot hold {size or kinds} samples each: "
            f"give a multiple of {kinds}, at most {least * kinds}{', more data' if not least else ''}."
        )
    return _deal(held * each, of, _by_group(G, M), _dice(seed, SAMPLES))


def lda(labels: ArrayLike, G: int, M: int, *, seed: int = 0, alpha: float = 0.2, least: int = 1) -> Partition:
    """Label Dirichlet allocation (xie2024, supplement, G): each label is split between all clients by Dirichlet shares.

    Every sample is held; sizes differ. A client with fewer samples than ``least`` gets some from the largest.

    Raises:
        ValidationError: if there are fewer samples than clients need, or ``alpha`` is not above 0.
    """
    of = _labels(labels, G, M, least)
    _concentration("alpha", alpha)
    dice = _dice(seed, PARTITION)
    stock = np.bincount(of)
    shares = np.stack([_shares(dice, alpha, G * M) for _ in stock], axis=1)
    counts = np.stack([_rounded(shares[:, l] * stock[l], int(stock[l])) for l in range(len(stock))], axis=1)
    for poor in np.flatnonzero(counts.sum(1) < least):
        while (size := counts[poor].sum()) < least:
            rich = int(counts.sum(1).argmax())
            label = int(counts[rich].argmax())
            moved = min(counts[rich, label], least - size, max(1, (counts[rich].sum() - least) // 2))
            counts[rich, label] -= moved
            counts[poor, label] += moved
    return _deal(counts, of, _by_group(G, M), _dice(seed, SAMPLES))


def long_tailed(
    labels: ArrayLike, G: int, M: int, *, seed: int = 0, share: float = 0.9, size: int | None = None
) -> Partition:
    """One label has most of each client's samples, the others share the rest evenly (xie2024, supplement, G).

    The labels on top are dealt in turn, in a random order.

    Args:
        labels: of every sample, from 0.
        G: groups.
        M: clients in each group.
        seed: of the partition.
        share: of the label on top.
        size: samples of each client; by default as many as there can be.

    Raises:
        ValidationError: if there are not so many samples, or the share is not between 0 and 1.
    """
    of = _labels(labels, G, M, 1 if size is None else size)
    if not 0 < share <= 1:
        raise ValidationError(f"share = {share} of the label on top must be above 0 and at most 1.")
    stock = np.bincount(of)
    if len(stock) < 2:
        raise ValidationError("a long tail needs two labels, and there is one.")
    dice = _dice(seed, LABELS)
    turn = dice.permutation(len(stock))
    top = dice.permutation(turn[np.arange(G * M) % len(stock)])
    most = len(of) // (G * M)
    for tried in range(most, 0, -1) if size is None else (size,):
        counts = _tails(top, stock, tried, round(share * tried))
        if counts is not None:
            return _deal(counts, of, _by_group(G, M), _dice(seed, SAMPLES))
    raise ValidationError(
        f"{G * M} clients with {size or 1} samples, a share {share:g} of one label, need more samples of some label "
        "than there are: give a smaller size, a smaller share, fewer clients or more data."
    )


SCHEMES: Mapping[str, Callable[..., Partition]] = {
    "iid": iid,
    "intra": intra,
    "inter": inter,
    "both": both,
    "dirichlet": dirichlet,
    "pathological": pathological,
    "lda": lda,
    "long-tailed": long_tailed,
}


def partition(scheme: str, labels: ArrayLike, G: int, M: int, **options: Any) -> Partition:
    """A partition by the name of its scheme.

    Raises:
        ValidationError: if there is no such scheme, it has no such option, or it cannot be made.
    """
    if scheme not in SCHEMES:
        raise ValidationError(f"no partition is called {scheme!r}: {', '.join(SCHEMES)}.")
    known = [name for name in inspect.signature(SCHEMES[scheme]).parameters if name not in ("labels", "G", "M")]
    for name in options:
        if name not in known:
            raise ValidationError(f"the partition {scheme!r} has no option {name!r}: it has {', '.join(known)}.")
    return SCHEMES[scheme](labels, G, M, **options)


def _labels(labels: ArrayLike, G: int, M: int, each: int = 1) -> Counts:
    of = np.asarray(labels)
    if of.ndim != 1 or not np.issubdtype(of.dtype, np.integer) or (len(of) and of.min() < 0):
        raise ValidationError("labels must be a list of whole numbers from 0, one for each sample.")
    if min(G, M, each) < 1:
        raise ValidationError(f"{G} groups of {M} clients with {each} samples each: give at least 1 of everything.")
    if len(of) < G * M * each:
        raise ValidationError(
            f"{len(of)} samples are too few for {G} x {M} clients with {each} each: give more samples or fewer clients."
        )
    return of.astype(np.int64)


def _dice(seed: int, purpose: int) -> np.random.Generator:
    return np.random.default_rng(generator(seed, purpose).initial_seed())


def _by_group(G: int, M: int) -> tuple[int, ...]:
    return tuple(g for g in range(G) for _ in range(M))


def _even(of: Counts, clients: int, dice: np.random.Generator) -> Counts:
    """As many samples as divide by the number of clients, in random order."""
    return np.asarray(dice.permutation(len(of))[: len(of) // clients * clients])


def _concentration(name: str, alpha: float) -> None:
    if not alpha > 0:
        raise ValidationError(f"{name} = {alpha} is not a concentration: give a number above 0, or inf.")


def _shares(dice: np.random.Generator, alpha: float, parts: int) -> NDArray[np.float64]:
    """Dirichlet shares, even ones for an infinite concentration.

    A gamma variate is one of shape ``alpha + 1`` times a power of a uniform one: in logarithms a share is never lost,
    and tells what a client takes when others have taken what it wanted.
    """
    if math.isinf(alpha):
        return np.full(parts, 1 / parts)
    size = np.log(dice.gamma(alpha + 1, size=parts)) + np.log1p(-dice.random(parts)) / alpha
    drawn = np.exp(np.maximum(size - size.max(), FAINT))
    return np.asarray(drawn / drawn.sum())


def _split(held: Counts, of: Counts, parts: int, alpha: float, name: str, dice: np.random.Generator) -> list[Counts]:
    """Samples in random order, dealt to parts of one size."""
    _concentration(name, alpha)
    size = len(held) // parts
    if math.isinf(alpha):
        return [held[i * size : (i + 1) * size] for i in range(parts)]
    kinds = int(of.max()) + 1
    stock = np.bincount(of[held], minlength=kinds)
    shares = np.stack([_shares(dice, alpha, kinds) for _ in range(parts)])
    counts = _fitted(shares, np.full(parts, size), stock)
    dealt: list[list[Counts]] = [[] for _ in range(parts)]
    for label in range(kinds):
        ends = np.cumsum(counts[:, label])
        for part, some in enumerate(np.split(held[of[held] == label], ends[:-1])):
            dealt[part].append(some)
    return [np.asarray(dice.permutation(np.concatenate(some))) for some in dealt]


def _fitted(shares: NDArray[np.float64], rows: Counts, columns: Counts) -> Counts:
    """Whole numbers near the shares with these sums: proportional fitting, then rounding."""
    table = shares * (columns > 0)
    for _ in range(SWEEPS):
        sums = table.sum(0)
        table = table * np.divide(columns, sums, out=np.zeros_like(sums), where=sums > 0)
        table = table * (rows / table.sum(1))[:, None]
        if np.abs(table.sum(0) - columns).max() < 1e-6:
            break
    whole = np.floor(table).astype(np.int64)
    whole = np.diff(np.minimum(np.cumsum(whole, axis=0), columns), axis=0, prepend=0)  # where the fit has not ended
    left, owed = columns - whole.sum(0), rows - whole.sum(1)
    for cell in np.argsort((whole - table).ravel(), kind="stable"):
        i, l = divmod(int(cell), len(columns))
        if left[l] and owed[i]:
            whole[i, l] += 1
            left[l] -= 1
            owed[i] -= 1
    for i in np.flatnonzero(owed).tolist():
        for l in np.flatnonzero(left).tolist():
            more = int(min(left[l], owed[i]))
            whole[i, l] += more
            left[l] -= more
            owed[i] -= more
    return whole


def _rounded(parts: NDArray[np.float64], total: int) -> Counts:
    """Whole numbers with this sum, by largest remainders."""
    whole = np.floor(parts).astype(np.int64)
    owed = total - int(whole.sum())
    whole[np.argsort(whole - parts, kind="stable")[:owed]] += 1
    return whole


def _tails(top: Counts, stock: Counts, size: int, head: int) -> Counts | None:
    """Counts with ``head`` samples of each client's label on top and the rest even; None if the stock is too small."""
    kinds = len(stock)
    base, extra = divmod(size - head, kinds - 1)
    counts = np.full((len(top), kinds), base, np.int64)
    counts[np.arange(len(top)), top] = head
    left = stock - counts.sum(0)
    for client, label in enumerate(top):
        others = np.array([l for l in np.argsort(-left, kind="stable") if l != label][:extra], np.int64)
        counts[client, others] += 1
        left[others] -= 1
    return counts if left.min() >= 0 else None


def _deal(counts: Counts, of: Counts, groups: tuple[int, ...], dice: np.random.Generator) -> Partition:
    """Random samples for a table of counts."""
    dealt: list[list[Counts]] = [[] for _ in groups]
    for label in range(counts.shape[1]):
        having = dice.permutation(np.flatnonzero(of == label))
        ends = np.cumsum(counts[:, label])
        for client, some in enumerate(np.split(having, ends)[:-1]):
            dealt[client].append(some)
    return Partition(tuple(np.asarray(dice.permutation(np.concatenate(some))) for some in dealt), groups)
