"""From losses and data to the constants of a bound, along a short run of Star-Star gradient descent.

The constants that assumptions speak of are suprema over all parameters, which nothing can measure. What is measured
here holds at the points that training visits; docs/estimating.md says what each number is, and what it is not.

The objective is that of the theorems: the mean over groups of the mean over their clients, and so on up where groups
are in groups. All intervals of one quantity hold together, at all points, with the stated probability (each point gets
its share of the error).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from hflbounds.tilted import decay_of
from hflbounds.topology import tier_symbols
from validation.client_losses import Joint, Labelled, Losses, Square, Tree, to_root, tree_of
from validation.engine import ValidationError, generator
from validation.statistics import LEVEL, Interval, student_quantile

STEPS, BATCHES, POWER, CHOSEN, FOLLOWED = 50, 51, 52, 53, 54  # what a generator is for
EVALUATIONS = 400  # mini-batch gradients of a point, over all clients, unless told
PRODUCTS = 200  # most Hessian-vector products of a client at a point
CLOSE_MEAN = 0.25  # the same of the mean loss, whose products go over all data
CLOSE = 0.05  # a power iteration ends where its interval is this narrow, relatively
FOLLOWING = 400  # steps after which deviations are measured again, and after a quarter of them
MEMORY = 1 << 32  # bytes of gradients held at a time
Gradients = Literal["full", "batches"]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Point:
    """What was measured at one point of the run. E is the unit of the loss and X that of the parameters.

    Attributes:
        step: local steps of each client before it.
        loss: the objective, on all data; E.
        L: the largest absolute curvature of the losses of some clients; E / X^2. Its estimate is never above the
            truth of those clients but for rounding; its upper end fails with the stated probability.
        curvature: the same of the objective, E / X^2. Clients that differ have larger ones of their own, which a mean
            over them does not feel.
        sigma2: mean over clients of the variance of a mini-batch gradient; E^2 / X^2.
        tiers: of every tier, top first, the mean squared distance of the gradients of children to their node's, which
            is that of the objective for the first; the last are of clients in their groups; E^2 / X^2.
        gradient2: squared norm of the gradient of the objective; E^2 / X^2.
        gram: inner products of the gradients of each label's mean loss, labels by labels; None without labels,
            and where those gradients do not fit in memory.
        label_tiers: what ``tiers`` would be if clients differed in their label shares alone; None without labels.
    """

    step: int
    loss: float
    L: Interval
    curvature: Interval
    sigma2: Interval
    tiers: tuple[Interval, ...]
    gradient2: Interval
    gram: tuple[tuple[float, ...], ...] | None
    label_tiers: tuple[float, ...] | None

    @property
    def zeta2(self) -> Interval:
        """INTRA-group deviation, of clients in their groups; E^2 / X^2."""
        return self.tiers[-1]

    @property
    def delta2(self) -> Interval:
        """INTER-group deviation, of the groups of the top tier; E^2 / X^2."""
        return self.tiers[0]

    @property
    def apart2(self) -> float:
        """Mean squared distance of client gradients to the gradient of the objective; E^2 / X^2."""
        return sum(tier.estimate for tier in self.tiers)

    def of(self, name: str) -> Interval:
        """The interval of ``L``, ``curvature``, E / X^2, or of ``sigma``, ``gradient``, a deviation, E / X.

        Deviations have the letters of their tiers: ``zeta`` and ``delta`` of two, ``delta1``, ``delta2`` ... of more.
        """
        if name in ("L", "curvature"):
            curve: Interval = getattr(self, name)
            return curve
        squares = {tier.deviation: seen for tier, seen in zip(tier_symbols(len(self.tiers)), self.tiers, strict=True)}
        squared = (squares | {"sigma": self.sigma2, "gradient": self.gradient2})[name]
        low, value, high = (math.sqrt(max(end, 0.0)) for end in (squared.low, squared.estimate, squared.high))
        return Interval(value, low, high, squared.count)


@dataclass(frozen=True)
class Followed:
    """How a longer run of plain descent went on, see `descend`.

    Attributes:
        fading: the power of the steps as which the square of all deviations fell; None where nothing is told: no steps
            or curvature, a run that diverges, clients that do not differ. 0 where deviations grow.
        decay: the power of the steps as which the loss fell, as of `hflbounds.tilted.decay_of`; None where there was no
            run, the loss did not fall, or the least that it can be is not known.
    """

    fading: float | None = None
    decay: float | None = None


@dataclass(frozen=True)
class Estimated:
    """The constants along a run.

    Attributes:
        points: in the order of the run; the first is the start.
        A: the loss at the start minus the lowest loss seen, a lower estimate of F(x0) - F*; E. Its upper end is the
            loss at the start where losses are known not to be negative, and infinite elsewhere.
        tree: who is below whom, as of `validation.client_losses.tree_of`.
        labels: names of the labels, in the order of the Gram matrices.
        curved: the clients whose curvature was measured.
        batches: mini-batches of each client at each point.
        gradients: whether client gradients are ``full`` ones, which leaves zeta and delta no uncertainty but that of
            the points, or means over ``batches``, whose noise is taken out.
        rate: raw learning rate of the run; X^2 / E.
        steps: local steps of each client in the run.
        local_steps: between two averagings.
        seed: of everything random.
        level: probability of the intervals.
        followed: what plain descent of a longer run showed, see `follow`.
    """

    points: tuple[Point, ...]
    A: Interval
    tree: Tree
    labels: tuple[str, ...]
    curved: tuple[int, ...]
    batches: int
    gradients: Gradients
    rate: float
    steps: int
    local_steps: int
    seed: int
    level: float
    followed: Followed = Followed()

    def largest(self, name: str) -> Interval:
        """The largest value along the run: what a bound needs at least; the interval is that of the maximum."""
        return _largest([point.of(name) for point in self.points])

    def typical(self, name: str) -> Interval:
        """The geometric mean along the run, 0 where one is; the interval is that of the mean."""
        seen = [point.of(name) for point in self.points]
        value, low, high = (_geometric_mean([getattr(x, part) for x in seen]) for part in ("estimate", "low", "high"))
        return Interval(value, low, high, sum(one.count for one in seen))

    def smallest(self, name: str) -> Interval:
        """The smallest value along the run."""
        seen = [point.of(name) for point in self.points]
        ends = (min(s.estimate for s in seen), min(s.low for s in seen), min(s.high for s in seen))
        return Interval(*ends, seen[0].count)


def estimate(  # reason: one keyword for each option of the command
    losses: Losses,
    *,
    rate: float | None = None,
    steps: int = 100,
    local_steps: int = 5,
    points: int = 4,
    batches: int | None = None,
    gradients: Gradients = "full",
    curved: int = 4,
    close: float = CLOSE,
    follow: int = 0,
    nonnegative: bool = False,
    level: float = LEVEL,
    seed: int = 0,
    progress: Callable[[str], object] | None = None,
) -> Estimated:
    """Measure the constants of a bound along a run of Star-Star with every client in every round.

    Args:
        losses: of clients in groups.
        rate: raw learning rate; by default a quarter of 1 / L, with L as it is at the start.
        steps: local steps of each client, rounded up to whole rounds; 0 measures at the start alone.
        local_steps: between two averagings.
        points: at which constants are measured: the start, the end, and between them, denser early on.
        batches: mini-batches of each client at each point; by default so many that all clients have 400.
        gradients: ``full`` for gradients on all data, ``batches`` for means over mini-batches.
        curved: clients whose curvature is measured, drawn at random if there are more.
        close: relative width of the interval of a curvature at which it is settled.
        follow: steps of the longer run that says how deviations and the loss fall; 0 for none.
        nonnegative: whether losses are known not to be negative.
        level: probability of the intervals.
        seed: of everything random.
        progress: told what is being done, and nothing at the end.

    Raises:
        ValidationError: if a number is out of range, a loss is not finite, or shapes do not fit.
    """
    tree = tree_of(losses)
    counts: dict[str, int | None] = {"steps": steps, "local_steps": local_steps, "points": points, "curved": curved}
    counts |= {"batches": batches, "follow": follow}
    _check(rate, gradients, level, **counts)
    tell = progress or (lambda _: None)
    clients = len(losses.groups)
    least = 3 if gradients == "batches" else 2
    each = max(least, math.ceil(EVALUATIONS / clients)) if batches is None else batches
    picked = torch.randperm(clients, generator=generator(seed, CHOSEN))[:curved]
    chosen = tuple(sorted(picked.tolist()))
    moments = _moments(steps, local_steps, points)
    error = (1 - level) / len(moments)
    x = losses.start().detach()
    if x.ndim != 1 or not x.is_floating_point():
        raise ValidationError(f"the parameters have shape {tuple(x.shape)} and dtype {x.dtype}: a vector is needed.")
    _fits(tree, each if gradients == "batches" else 1, x)
    weights = _weights(tree)
    at_point = _Measurement(losses, tree, weights, each, gradients, chosen, close, error, seed)
    seen: list[Point] = []

    def measure(step: int) -> None:
        tell(f"measuring after {step} steps")
        seen.append(at_point.measured(x, step))

    measure(0)
    pace = _default_rate(seen[0]) if rate is None else rate
    for step in range(local_steps, moments[-1] + 1, local_steps):
        x = _round(losses, weights, x, pace, range(step - local_steps, step), seed)
        if not bool(torch.isfinite(x).all()):
            raise ValidationError(f"the parameters are not finite after {step} steps at rate {pace:g}. Lower the rate.")
        if step in moments:
            measure(step)
    bent = _geometric_mean([point.curvature.estimate for point in seen])
    late = descend(
        losses, bent, steps=follow, gradients=gradients, batches=each, nonnegative=nonnegative, seed=seed, progress=tell
    )
    tell("")
    first, lowest = seen[0].loss, min(point.loss for point in seen)
    gap = Interval(first - lowest, first - lowest, first if nonnegative else math.inf, len(seen))
    labels = tuple(losses.labels) if isinstance(losses, Labelled) else ()
    return Estimated(
        tuple(seen), gap, tree, labels, chosen, each, gradients, pace, moments[-1], local_steps, seed, level, late
    )


def descend(
    losses: Losses,
    curvature: float,
    *,
    steps: int = FOLLOWING,
    gradients: Gradients = "full",
    batches: int = 3,
    nonnegative: bool = False,
    seed: int = 0,
    progress: Callable[[str], object] | None = None,
) -> Followed:
    """Measure as which powers of the steps deviations and the loss fall, late in descent of the objective.

    Gradient descent from the start, on a mini-batch of every client in each step, at half of 1 / ``curvature``.
    The squares of all tiers together are taken after a quarter of the steps and after all.

    Args:
        losses: of clients.
        curvature: typical of the objective; E / X^2.
        steps: of the run; 0 for none.
        gradients: as of `estimate`.
        batches: mini-batches of each client for ``batches``.
        nonnegative: whether losses are known not to be negative, as needs to be known of ``decay``.
        seed: of mini-batches.
        progress: told what is being done.
    """
    if not (steps and curvature):
        return Followed()
    tree = tree_of(losses)
    x, weights, early = losses.start().detach(), _weights(tree), max(1, steps // 4)
    at_point = _Measurement(losses, tree, weights, batches, gradients, (), CLOSE, 1 - LEVEL, seed)
    seen, squares = [_mean_loss(losses, weights, x)], []
    for step in range(1, steps + 1):
        if progress and step % 20 == 1:
            progress(f"following the mean loss, step {step} of {steps}")
        leaf = _leaf(x)
        x = x - _slope(_objective(losses, tree, leaf, partial(generator, seed, FOLLOWED, step)), leaf) / (2 * curvature)
        if step in (early, steps) and bool(torch.isfinite(x).all()):
            squares.append(at_point.deviations(x, step))
            seen.append(_mean_loss(losses, weights, x))
    if len(squares) < 2 or not all(map(math.isfinite, seen)):
        return Followed()
    fades = all(0 < square < math.inf for square in squares)
    fading = max(0.0, math.log(squares[0] / squares[1]) / math.log(steps / early)) if fades else None
    left = seen[-1] / seen[0] if nonnegative and seen[0] else 0.0
    return Followed(fading, decay_of(left, steps) if 0 < left < 1 else None)


def curvature(
    losses: Losses,
    client: int,
    x: Tensor,
    *,
    dice: torch.Generator,
    error: float = 1 - LEVEL,
    close: float = CLOSE,
    most: int = PRODUCTS,
) -> Interval:
    """The largest absolute eigenvalue of the Hessian of a client's loss, by power iteration; E / X^2.

    The iteration starts from a uniform direction b. With unit vectors v the lower end and estimate |Hv| is never above
    the eigenvalue. The upper end rests on the start alone: b has a part of size t along the eigenvector, so that
    ``|H^j b| >= t |lambda|^j``, and in n dimensions ``t <= s`` has a probability of at most ``s sqrt(2 n / pi)``.

    Args:
        losses: of clients.
        client: whose.
        x: where, shape (dim,).
        dice: for the start.
        error: probability that the upper end is too low.
        close: it ends where the upper end is not further above the estimate than this, relatively.
        most: products with the Hessian.
    """
    times = partial(_product, losses, client, x)
    return _largest_eigenvalue(times, x, f"client {client}", dice=dice, error=error, close=close, most=most)


def _largest_eigenvalue(  # reason: the numbers of the public function
    times: Callable[[Tensor], Tensor],
    x: Tensor,
    whose: str,
    *,
    dice: torch.Generator,
    error: float,
    close: float,
    most: int,
) -> Interval:
    """See `curvature`; ``times`` multiplies a vector with the matrix."""
    vector = torch.randn(len(x), generator=dice, dtype=torch.float64).to(x)
    vector = vector / vector.norm()
    slack = math.log(math.sqrt(2 * len(x) / math.pi) / error)
    grown, best, high = 0.0, 0.0, math.inf
    for count in range(1, most + 1):
        vector = times(vector)
        size = float(vector.double().norm())
        if not math.isfinite(size):
            raise ValidationError(f"{whose}: the curvature is not finite. Lower the rate, or check the loss.")
        if size == 0:
            return Interval(best, best, best if best else 0.0, count)
        vector = vector / size
        grown += math.log(size)
        best = max(best, size)
        high = min(high, math.exp((grown + slack) / count))
        if high <= (1 + close) * best:
            break
    return Interval(best, best, max(high, best), count)


# ---------------------------------------------------------------- one point


@dataclass(frozen=True, slots=True)
class _Measurement:
    """How a point is measured: arguments as of `estimate`, for each client and each point."""

    losses: Losses
    tree: Tree
    weights: Floats
    each: int
    gradients: Gradients
    chosen: tuple[int, ...]
    close: float
    error: float
    seed: int

    def measured(self, x: Tensor, step: int) -> Point:
        loss = float(sum(w * _value(self.losses, c, x, step) for c, w in enumerate(self.weights)))
        found = self._by_full(x, step) if self.gradients == "full" else self._by_batches(x, step)
        if not all(math.isfinite(seen.estimate) for seen in (found[0], *found[1], found[2])):
            raise ValidationError(f"a gradient after {step} steps is not finite. Lower the rate, or check the loss.")
        curves = []
        for client in self.chosen:
            dice = generator(self.seed, POWER, step, client)
            error = self.error / len(self.chosen)
            curves.append(curvature(self.losses, client, x, dice=dice, error=error, close=self.close))
        whole = _largest_eigenvalue(
            partial(_mean_product, self.losses, self.weights, x), x, "the mean loss",
            dice=generator(self.seed, POWER, step), error=self.error, close=max(self.close, CLOSE_MEAN), most=PRODUCTS,
        )  # fmt: skip
        return Point(step, loss, _largest(curves), whole, *found, *self._by_label(x))

    def deviations(self, x: Tensor, step: int) -> float:
        """The squares of all tiers together, not a number where gradients are not."""
        _, tiers, _ = self._by_full(x, step) if self.gradients == "full" else self._by_batches(x, step)
        return sum(tier.estimate for tier in tiers)

    def _drawn(self, client: int, x: Tensor, step: int, batch: int) -> Tensor:
        """The gradient on a mini-batch."""
        return _noisy(self.losses, client, x, generator(self.seed, BATCHES, step, client, batch))

    def _by_full(self, x: Tensor, step: int) -> tuple[Interval, tuple[Interval, ...], Interval]:
        """sigma2, those of the tiers and gradient2 with full gradients: only sigma2 is uncertain."""
        clients = len(self.weights)
        drawn = np.empty((clients, self.each))

        def slopes(members: Sequence[int]) -> Tensor:
            found = torch.stack([_full(self.losses, client, x) for client in members])
            for client, slope in zip(members, found, strict=True):
                for j in range(self.each):
                    drawn[client, j] = float((self._drawn(client, x, step, j) - slope).double().square().sum())
            return found

        squares, centre = _split(self.tree, slopes, lambda apart: float(apart.square().sum(1).mean()))
        gradient2 = _exact(float(centre.square().sum()), clients)
        return _of_mean(drawn, self.weights, self.error), tuple(_exact(one, clients) for one in squares), gradient2

    def _by_batches(self, x: Tensor, step: int) -> tuple[Interval, tuple[Interval, ...], Interval]:
        """The same from mini-batches alone: inner products of different batches, which have no noise on average."""

        def slopes(members: Sequence[int]) -> Tensor:  # (members, batches, dim)
            drawn = [torch.stack([self._drawn(c, x, step, j) for j in range(self.each)]) for c in members]
            return torch.stack(drawn).double()

        def products(apart: Tensor) -> Floats:
            return sum(((part @ part.T).cpu().numpy() for part in apart), np.zeros(2 * (self.each,))) / len(apart)

        tiers, centre = _split(self.tree, slopes, products)
        whole = (centre @ centre.T).cpu().numpy()
        # |g|^2 splits into orthogonal parts, so that their sum is the mean inner product of client gradients
        total = sum(tiers, np.zeros_like(whole)) + whole
        sigma2 = _jackknife(lambda keep: _diagonal(total, keep) - _apart(total, keep), self.each, self.error)
        *squares, gradient2 = (_jackknife(partial(_apart, m), self.each, self.error) for m in (*tiers, whole))
        return sigma2, tuple(squares), gradient2

    def _by_label(self, x: Tensor) -> tuple[tuple[tuple[float, ...], ...] | None, tuple[float, ...] | None]:
        """Inner products of class gradients, and the deviations that label shares alone would give with them."""
        losses = self.losses
        if not isinstance(losses, Labelled) or not len(losses.labels) or 12 * len(losses.labels) * len(x) > MEMORY:
            return None, None
        slopes = []
        for label in range(len(losses.labels)):
            leaf = _leaf(x)
            slopes.append(_slope(losses.label_pieces(label, leaf), leaf))
        matrix = torch.stack(slopes).double().cpu()
        gram, counts = matrix @ matrix.T, losses.label_counts().double()
        shares = counts / counts.sum(1, keepdim=True)

        def square(apart: Tensor) -> float:
            return float(((apart @ gram) * apart).sum(1).mean())

        squares, _ = _split(self.tree, partial(_rows, shares), square)
        return tuple(map(tuple, gram.tolist())), tuple(max(one, 0.0) for one in squares)


def _split(
    tree: Tree, slopes: Callable[[Sequence[int]], Tensor], square: Callable[[Tensor], Square]
) -> tuple[list[Square], Tensor]:
    """The square of every tier, top first, and the mean of the root, where all children of a node count alike.

    Args:
        tree: of clients.
        slopes: what some clients have, clients first.
        square: of the distances of children from their mean, the mean over them.
    """
    rows, found = slopes, list[Square]()
    for i, tier in reversed(list(enumerate(tree))):
        means, squares = list[Tensor](), list[Square]()
        for children in tier:
            some = rows(children)
            means.append(some.double().mean(0))
            squares.append(square(some - means[-1]))
        found.insert(0, to_root(squares, tree[:i]))
        rows = partial(_rows, torch.stack(means))
    return found, means[0]


def _rows(of: Tensor, some: Sequence[int]) -> Tensor:
    return of[list(some)]


# ---------------------------------------------------------------- derivatives


def _leaf(x: Tensor) -> Tensor:
    return x.detach().clone().requires_grad_()


def _slope(pieces: Iterable[Tensor], leaf: Tensor) -> Tensor:
    """The gradient of a sum, piece by piece."""
    total = torch.zeros_like(leaf, requires_grad=False)
    for piece in pieces:
        (slope,) = torch.autograd.grad(piece, leaf)
        total += slope
    return total


def _full(losses: Losses, client: int, x: Tensor) -> Tensor:
    leaf = _leaf(x)
    return _slope(losses.pieces(client, leaf), leaf)


def _noisy(losses: Losses, client: int, x: Tensor, dice: torch.Generator) -> Tensor:
    leaf = _leaf(x)
    return _slope([losses.batch(client, leaf, dice)], leaf)


def _product(losses: Losses, client: int, x: Tensor, vector: Tensor) -> Tensor:
    """The Hessian of a client's loss times a vector."""
    leaf = _leaf(x)
    total = torch.zeros_like(x)
    for piece in losses.pieces(client, leaf):
        try:
            (slope,) = torch.autograd.grad(piece, leaf, create_graph=True)
            bent = torch.autograd.grad(slope @ vector, leaf, allow_unused=True)[0] if slope.requires_grad else None
        except RuntimeError as error:
            raise ValidationError(
                f"client {client}: torch cannot differentiate the loss twice ({str(error).splitlines()[0]:.160}). "
                "Use layers that have second derivatives."
            ) from None
        if bent is not None:
            total += bent
    return total


def _mean_product(losses: Losses, weights: Floats, x: Tensor, vector: Tensor) -> Tensor:
    """The Hessian of the objective times a vector."""
    total = torch.zeros_like(x)
    for client, weight in enumerate(weights):
        total += float(weight) * _product(losses, client, x, vector)
    return total


def _objective(losses: Losses, tree: Tree, x: Tensor, dice: Callable[[int], torch.Generator]) -> Iterator[Tensor]:
    """Numbers whose sum is the objective on a mini-batch of every client, drawn with its ``dice``."""
    for members, one in zip(tree[-1], _inverse_weights(tree[:-1]), strict=True):
        if isinstance(losses, Joint):
            yield from (part / one for part in losses.batches(members, x, [dice(c) for c in members]))
        else:
            yield from (losses.batch(c, x, dice(c)) / len(members) / one for c in members)


def _mean_loss(losses: Losses, weights: Floats, x: Tensor) -> float:
    """The objective on all data, finite or not."""
    with torch.no_grad():
        return float(sum(w * float(sum(map(float, losses.pieces(c, x)))) for c, w in enumerate(weights)))


def _value(losses: Losses, client: int, x: Tensor, step: int) -> float:
    with torch.no_grad():
        value = float(sum(float(piece) for piece in losses.pieces(client, x)))
    if not math.isfinite(value):
        way = "Lower the rate" if step else "Check the data, the model and the loss"
        raise ValidationError(f"client {client}: the loss is {value} after {step} steps, not a finite number. {way}.")
    return value


def _round(losses: Losses, weights: Floats, x: Tensor, rate: float, steps: range, seed: int) -> Tensor:
    """Local steps of every client from the same point, then the mean over groups of the mean over their clients."""
    mean = torch.zeros_like(x, dtype=torch.float64)
    for client, weight in enumerate(weights):
        own = x
        for step in steps:
            own = own - rate * _noisy(losses, client, own, generator(seed, STEPS, step, client))
        mean += float(weight) * own
    return mean.to(x)


# ---------------------------------------------------------------- intervals


def _exact(value: float, count: int) -> Interval:
    return Interval(value, value, value, count)


def _geometric_mean(numbers: Sequence[float]) -> float:
    return math.exp(sum(map(math.log, numbers)) / len(numbers)) if min(numbers) > 0 else 0.0


def _largest(seen: Sequence[Interval]) -> Interval:
    """The largest of several numbers whose intervals hold together."""
    return Interval(
        max(s.estimate for s in seen), max(s.low for s in seen), max(s.high for s in seen), sum(s.count for s in seen)
    )


def _of_mean(drawn: Floats, weights: Floats, error: float) -> Interval:
    """The weighted mean over rows of their expectations, with Welch's interval; not below 0."""
    rows, each = drawn.shape
    parts = weights**2 * drawn.var(axis=1, ddof=1) / each
    mean, variance = float(weights @ drawn.mean(axis=1)), float(parts.sum())
    if variance == 0:
        return _exact(mean, rows * each)
    freedom = variance**2 / float((parts**2).sum() / (each - 1))
    half = student_quantile(1 - error, max(1, int(freedom))) * math.sqrt(variance)
    return Interval(mean, max(0.0, mean - half), mean + half, rows * each)


def _apart(products: Floats, keep: NDArray[np.intp]) -> float:
    """Mean inner product of different batches."""
    part = products[np.ix_(keep, keep)]
    return float((part.sum() - np.trace(part)) / (len(keep) * (len(keep) - 1)))


def _diagonal(products: Floats, keep: NDArray[np.intp]) -> float:
    return float(products[keep, keep].mean())


def _jackknife(statistic: Callable[[NDArray[np.intp]], float], each: int, error: float) -> Interval:
    """A statistic of batches with the jackknife's interval; not below 0."""
    every = np.arange(each)
    whole = statistic(every)
    pseudo = np.array([each * whole - (each - 1) * statistic(np.delete(every, j)) for j in every])
    half = student_quantile(1 - error, each - 1) * float(pseudo.std(ddof=1)) / math.sqrt(each)
    return Interval(max(whole, 0.0), max(whole - half, 0.0), max(whole + half, 0.0), each)


# ---------------------------------------------------------------- arrangements


def _default_rate(start: Point) -> float:
    if not start.L.estimate:
        raise ValidationError("the losses have no curvature at the start, so no rate follows from it. Give a rate.")
    return 1 / (4 * start.L.estimate)


def _inverse_weights(tree: Tree) -> list[int]:
    """One over the weight in the objective of every node of the last tier: how many share it on every tier."""
    found = [1]
    for tier in tree:
        below = dict[int, int]()
        for above, children in zip(found, tier, strict=True):
            below |= dict.fromkeys(children, above * len(children))
        found = [below[child] for child in range(len(below))]
    return found


def _weights(tree: Tree) -> Floats:
    """Of every client in the objective."""
    result: Floats = 1 / np.array(_inverse_weights(tree), dtype=np.float64)
    return result


def _moments(steps: int, local_steps: int, points: int) -> list[int]:
    """Steps at which to measure: squares apart, at averagings."""
    if points == 1 or steps == 0:
        return [0]
    rounds = math.ceil(steps / local_steps)
    wanted = {round(rounds * (i / (points - 1)) ** 2) for i in range(points)}
    return sorted(local_steps * moment for moment in wanted)


def _fits(tree: Tree, each: int, x: Tensor) -> None:
    most = max(map(len, tree[-1]))
    need = (most + len(tree[-1])) * each * len(x) * 8 * 2
    if need > MEMORY:
        raise ValidationError(
            f"gradients of {most} clients with {len(x)} parameters each need about {need / 2**30:.0f} GiB. "
            "Give a smaller model, or fewer clients or batches."
        )


def _check(rate: float | None, gradients: str, level: float, **counts: int | None) -> None:
    if rate is not None and not (math.isfinite(rate) and rate > 0):
        raise ValidationError(f"rate = {rate} must be a finite number above 0.")
    if gradients not in ("full", "batches"):
        raise ValidationError(f"gradients = {gradients!r} must be full or batches.")
    least = {"follow": 0, "steps": 0, "batches": 3 if gradients == "batches" else 2}
    for name, value in counts.items():
        if value is not None and value < least.get(name, 1):
            raise ValidationError(f"{name} = {value} must be at least {least.get(name, 1)}.")
    if not 0 < level < 1:
        raise ValidationError(f"level = {level} must be between 0 and 1.")
