"""The loss of the last model on losses of a broad spectrum, in closed form, and their mean squared gradient.

Clients share a Hessian whose curvatures are uniform in their logarithm up to L, and their gradients differ by
constants; every curvature has an equal share of ``sigma^2`` and the square of each deviation. The spectrum is that of
networks: from ``1e-4 L``, with equal shares of ``A``. By loss, where noise does not depend on the model, it is that of
the controlled problems on which such constants are known: from ``L/178``, flat curvatures having more of ``A``. A
global round is then an affine map of each coordinate, for any tree and at any step below ``2/L`` (`hflbounds.tilted`),
and what is left after R rounds is linear in the constants. By ``loss`` that is what users pay for: the loss of the
global model after R rounds, above its minimum. By ``gradient`` it is the mean squared gradient over the models that
rounds begin with, as in the theorems.

By loss the gradients of mini-batches scatter with the distance to the minimum too, as those of networks do, by so many
times the curvature as the question says; 0 is noise that does not depend on the model, as in theorems. The scatter of
models that were averaged is that of their number. What it does to heterogeneity is left out.

On such losses groups of clients that differ are told from groups that differ. Groups of n clients that are put together
at random differ too, by ``zeta^2 / (n - 1)`` in the mean square; that much of ``delta^2`` counts as the clients' own
(one-way analysis of variance). A ring through such groups lost less on images than a tilt of each group explains. A
round may count nodes otherwise than the loss does, as a ring counts groups of 60 and of 5 clients alike. Then what made
groups differ is no matter, and of what no rate removes `FADED` is left, as a mean square: networks come near to fitting
all clients at once.

The width of the broad spectrum and what is the clients' own were chosen by networks on images, the narrow spectrum by
runs of `benchmarks/measured_losses.py`, `measured_pilots.py` and `measured_kinds.py`. Fixed orders are shuffled once.

How much of the loss lies in large curvatures may be measured, as the power of the steps as which plain descent makes it
fall. It says how many rounds a loss takes, which equal shares get wrong by far, and moves that scale alone: a loss
stands for that which stars alone have, with equal shares, after the rounds that they take to it with those measured.

What a topology gains over stars is, by loss and accuracy of networks, a power of what the model has, of the rounds
beyond the first: `GAINED`, chosen by runs. A target is one level of loss for all, so that orders by rounds stay.

Heterogeneity stays, unless the question says how it fades: by loss, squares of deviations fall as a power of training
time, rate times steps, beyond `LATE` over L. Along runs of networks and softmax regression on images and tables the
square of a deviation was about the curvature times the loss, so that it vanishes where a network fits all data.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, reduce
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.lib.stride_tricks import as_strided

from hflbounds.tilted import (
    AffineRound,
    Measure,
    TierShare,
    accumulated,
    affine_round,
    log_uniform,
    mean_over,
    mixed,
    shares_of_gap,
)
from hflbounds.topology import Tier, TierSymbols, Topology, all_topologies
from hflbounds.uneven import Kin, families
from planner.predict import envelopes, many_steps
from planner.predict.envelopes import FADED, ROUNDS, Array, EnvelopePredictor

if TYPE_CHECKING:
    from planner.predict.question import Question

Among = tuple[tuple[float, Topology], ...]

RATES = 320  # of a table, at most
LARGEST = 1.98  # of rates, raw, times L: at 2 local steps no longer contract
SMALLEST = 3e-7  # of them, effective, times L
LATE = 30.0  # training time, rate times steps times L, from which deviations fade; chosen on images and tables
GAINED = {"loss": 0.76, "accuracy": 0.69}  # the power of predicted gains over stars that runs have; chosen as `LATE`
TURNS = 40  # at most, of a search for the rounds that have such a gain
LOST = 300.0  # logarithm of a mean square's growth beyond which a run is lost at any rate
MUCH = 0.1  # of the square of a deviation, which a note says to be by chance
NEAR = 1e-10  # of a logarithm of rounds
SLOPES = 0.3, 3.0  # of its secants
NEAR_ZERO = 1e-200  # in its place for 0
TOP = 1e100  # of a coefficient: that of a run that is lost
KEPT = 512  # fleets: some rows of 10 kB each, of all those that one answer looks at


@dataclass(frozen=True)
class Curvatures:
    """A spectrum, and rates so far apart that their products with its curvatures coincide, all but a few."""

    decades: float
    between: int  # rates for each curvature
    power: float = 0.0  # of curvatures, as which their shares of A grow

    @cached_property
    def h(self) -> Array:
        """Curvatures over L, upwards."""
        return log_uniform(self.decades)

    @cached_property
    def of_gap(self) -> Array:
        """The share of A that each has."""
        return shares_of_gap(self.h, self.power)

    @lru_cache(maxsize=KEPT)  # noqa: B019  there are two
    def products(self, effective: float) -> Array:
        """Raw rates from `SMALLEST`, over so many steps, to `LARGEST`, times curvatures: every product once."""
        apart = math.log(self.h[1] / self.h[0]) / self.between
        rates = min(RATES, 1 + math.ceil(math.log(LARGEST / SMALLEST * effective) / apart))
        lower = rates - 1 + self.between * (self.h.size - 1)
        return LARGEST * np.exp(-apart * np.arange(lower, -1.0, -1.0))

    def steps(self, effective: float) -> Array:
        """These rates, times L."""
        return self.products(effective)[self.between * (self.h.size - 1) :]

    def of_each(self, values: Array) -> Array:
        """Values at all products by rate and curvature, the last two axes."""
        wide, (*outer, last) = self.between * (self.h.size - 1), values.strides
        shape = (*values.shape[:-1], values.shape[-1] - wide, self.h.size)
        return as_strided(values, shape, (*outer, last, self.between * last), writeable=False)


BROAD = Curvatures(4.0, between=3)  # of networks, and of the squared gradient
NARROW = Curvatures(2.25, between=2, power=-0.75)  # by loss, where noise does not depend on the model
STARTS = {"loss": 1.0, "gradient": float(2 * BROAD.h.mean())}  # before any round, over A and over L A


@dataclass(frozen=True)
class Fleet(envelopes.Fleet):
    """The loss times L, or the squared gradient, so that both have the same units."""

    measure: Measure = "loss"
    scatter: float = 0.0  # of the curvature of a mini-batch, over the curvature; by loss alone
    fading: float = 0.0  # the power of training time as which squares of deviations fall; by loss alone
    decay: float = 0.0  # the power of curvatures as which shares of A grow; by loss, where curvatures scatter
    among: Among = ()  # where those who take part vary from round to round: trees with their shares, the largest last

    @property
    def trees(self) -> Among:
        """Whose rounds they are, with their shares."""
        return self.among or ((1.0, self.topology),)

    @property
    def shape(self) -> tuple[int, float]:
        """How many rates a table has, and the coefficient of ``L A`` at a rate of 0."""
        return RATES, STARTS[self.measure]

    @property
    def curvatures(self) -> Curvatures:
        """Whose spectrum it is: that of controlled problems, where nothing scatters, or that of networks."""
        return NARROW if self.measure == "loss" and not self.scatter else BROAD

    @cached_property
    def rates(self) -> Array:
        """Effective rates times L, with raw ones up to `LARGEST`."""
        return self.steps * self.topology.effective_steps(self.K)

    @cached_property
    def steps(self) -> Array:
        """Raw rates times L; of the tree with the fewest, where they vary."""
        return self.curvatures.steps(_fewest(self.trees, self.K))

    @property
    def miscounts(self) -> bool:
        """Whether what is miscounted of unequal nodes is apart: also of what chance makes groups differ by."""
        return self.scatter > 0 and self.topology.uneven

    @property
    def constants(self) -> tuple[str, ...]:
        """Those of a problem; then what of every deviation but the clients' is by chance, top tier first."""
        usual = super().constants
        return (*usual, *map(_chance, usual[:3:-1])) if self.miscounts else usual

    def coefficients(self, rounds: float) -> Array:
        """Of the loss of the last model times L, or of the mean squared gradient; see the base class."""
        of, alone = self.curvatures, self.scatter > 0
        one = _round(self.trees, self.K, of, self.miscounts)
        found = accumulated(one, rounds, self.measure, tiers_alone=alone)
        if alone:
            log_factor, base, noise = _growth(self.trees, self.K, self.scatter)
            with np.errstate(over="ignore"):
                moved = np.minimum((np.exp(rounds * log_factor), np.expm1(rounds * base) * noise), TOP)
            found = np.concatenate([moved, found])
        of_gap = shares_of_gap(of.h, self.decay) if of is BROAD else of.of_gap
        found = mean_over(of.h, of.of_each(found), self.steps, self.measure, of_gap=of_gap)
        depth = self.topology.depth
        if self.fading:
            found[2:] *= (1 + rounds * self.rates / LATE) ** -self.fading
        return np.concatenate([found[:2], found[1 + depth : 1 : -1], found[2 + depth :]])  # the lowest tier first


@lru_cache(maxsize=KEPT)
def _round(trees: Among, K: int, curvatures: Curvatures, apart: bool = False) -> AffineRound:
    """A global round at each product of rate and curvature; what is miscounted of each tier as one of its own."""
    effective = _fewest(trees, K)
    one = mixed([(share, _of_tree(tree, K, curvatures, effective)) for share, tree in trees])
    if not apart:
        return one
    gone = [(1 - FADED) * kept for kept in one.miscounted]
    tiers = [TierShare(t.kept - less, t.anew, t.both - less) for t, less in zip(one.tiers, gone, strict=True)]
    left = [FADED * kept for kept in one.miscounted[:-1]]
    return replace(one, tiers=(*tiers, *(TierShare(kept, np.zeros_like(kept), kept) for kept in left)))


@lru_cache(maxsize=KEPT)
def _of_tree(tree: Topology, K: int, curvatures: Curvatures, effective: float) -> AffineRound:
    return affine_round(tree, K, curvatures.products(effective), "shuffled")


def _fewest(trees: Among, K: int) -> float:
    """Local steps one after the other in a round, of the tree with the fewest."""
    return min(tree.effective_steps(K) for _, tree in trees)


@lru_cache(maxsize=KEPT)
def _growth(trees: Among, K: int, scatter: float) -> tuple[Array, Array, Array]:
    """The `_squares` as sums of their powers take them: the logarithm, that with an end, and noise over its power."""
    effective = _fewest(trees, K)
    each = [(share, *_squares(tree, K, scatter, effective)) for share, tree in trees]
    log_factor = reduce(_log_of_sum, [log + math.log(share) for share, log, _ in each])
    noise = np.asarray(sum(share * one for share, _, one in each))
    base = _base(log_factor)
    return log_factor, base, noise / np.expm1(base)


@lru_cache(maxsize=KEPT)
def _squares(tree: Topology, K: int, scatter: float, effective: float) -> tuple[Array, Array]:
    """What a round does to the mean square of a coordinate: the logarithm of its factor, and what unit noise adds.

    A local step multiplies a coordinate by ``1 - v`` in the mean, with a scatter of ``scatter v`` drawn anew. One after
    the other, mean squares multiply; the mean of n side by side keeps the square of the mean and an nth of the rest.
    """
    v = BROAD.products(effective)
    mean, square = np.log1p(v * (v - 2)), np.log1p(v * ((1 + scatter**2) * v - 2))
    mean, square, noise = K * mean, K * square, _sum_of_powers(square, K)
    if tree.uneven:
        kinds = [(mean, square, noise)]
        for tier, every, _ in families(tree):
            kinds = [_uneven_squares(tier, kin, kinds) for kin in every]
        return kinds[0][1:]
    for tier in reversed(tree.tiers):
        side, chain = (of(tier.taking_part) for of in (tier.pattern.side_by_side, tier.pattern.chain))
        if side > 1:
            square = _log_of_sum(mean + math.log1p(-1 / side), square - math.log(side))
        times = chain * tier.passes
        with np.errstate(over="ignore"):
            noise = np.minimum(noise / side * _sum_of_powers(square, times), TOP)
        mean, square = times * mean, times * square
    return square, noise


def _uneven_squares(tier: Tier, kin: Kin, kinds: list[tuple[Array, Array, Array]]) -> tuple[Array, Array, Array]:
    """Squared mean and mean square of a coordinate's factor, as logarithms, and unit noise, where children differ."""
    n = round(float(kin.number.sum()))
    part = n if tier.drawn is None else min(tier.drawn, n)
    mean, square, noise = (np.stack(parts) for parts in zip(*(kinds[k] for k in kin.kinds), strict=True))
    if tier.pattern.by_share:
        shares, squares = kin.shares * kin.weights, kin.squares * kin.weights**2 * (n / part)
        shares, squares = shares[:, None], squares[:, None]
        noise = (squares * noise).sum(0)
        top, more = mean.max(0), np.expm1(np.minimum(square - mean, LOST))
        with np.errstate(divide="ignore"):
            scattered = top + np.log((squares * np.exp(mean - top) * more).sum(0))
            mean = top + 2 * np.log((shares * np.exp((mean - top) / 2)).sum(0))
        square = _log_of_sum(mean, scattered)
    else:
        shares = (kin.number / kin.number.sum())[:, None]
        mean, square, noise = ((shares * one).sum(0) for one in (mean, square, noise))
    times = tier.pattern.chain(part) * tier.passes
    with np.errstate(over="ignore"):
        noise = np.minimum(noise * _sum_of_powers(square, times), TOP)
    return times * mean, times * square, noise


def _log_of_sum(one: Array, other: Array) -> Array:
    """Logarithm of the sum of two numbers, not both 0, given their own; a third of the time of `numpy.logaddexp`."""
    top = np.maximum(one, other)
    return np.asarray(top + np.log1p(np.exp(np.minimum(one, other) - top)))


def _sum_of_powers(log_base: Array, count: float) -> Array:
    """Sum of the powers 0 to ``count - 1``."""
    base = _base(log_base)
    with np.errstate(over="ignore"):
        return np.asarray(np.expm1(count * base) / np.expm1(base))


def _base(log_base: Array) -> Array:
    """What powers are taken of: not 0, of which a sum of powers is a quotient of zeros, and not beyond `LOST`."""
    return np.where(log_base == 0, NEAR_ZERO, np.minimum(log_base, LOST))


class _Spectrum(EnvelopePredictor):
    id = "spectrum"
    mixes = True
    says = "that losses of a broad spectrum with these constants take"
    metrics = ("loss", "accuracy", "gradient")
    powers: ClassVar[many_steps.Powers | None] = None  # of many local steps; None for those that come with the package
    gained: ClassVar[Mapping[str, float]] = GAINED
    _last: tuple[tuple[Question, Any, Any], Any] | None = None  # what was asked of stars last, and rounds

    def start(self, values: Mapping[str, Any], metric: str = "gradient") -> Any:
        measure = _measure(metric)
        return STARTS[measure] * values["A"] * (1.0 if measure == "loss" else values["L"])

    def reached(self, question: Question, topology: str, rounds: Any, values: Mapping[str, Any]) -> Any:
        unit, plain = _unit(question, values), _plain(question)
        left = super().reached(plain, topology, self._like(plain, topology, rounds, values), values)
        if plain is question:
            return left / unit
        stars, of_stars, as_measured = _of_stars(question)
        like = super().rounds_to(of_stars, stars, left, values)
        return super().reached(as_measured, stars, like, values) / unit

    def rounds_to(self, question: Question, topology: str, target: Any, values: Mapping[str, Any]) -> Any:
        goal = self.on_record(question, target, values) * _unit(question, values)
        plain = _plain(question)
        found = super().rounds_to(plain, topology, goal, values) / self._worth(question, topology, values)
        power = self._gained(question, topology)
        asked = (question, target, values)  # of one topology after the other, stars first
        if power == 1:
            self._last = asked, np.minimum(found, ROUNDS[-1])
            return found
        last = self._last  # read once, as another thread may ask something else meanwhile
        if last is None or any(one is not other for one, other in zip(asked, last[0], strict=True)):
            stars, of_stars, _ = _of_stars(plain)
            alone = super().rounds_to(of_stars, stars, goal, values) / self._worth(of_stars, stars, values)
            self._last = last = asked, np.minimum(alone, ROUNDS[-1])
        return gaining(found, last[1], power)

    def rate(self, question: Question, topology: str, rounds: float) -> float | None:
        plain = _plain(question)
        return super().rate(plain, topology, float(self._like(plain, topology, rounds, question.values)))

    def _worth(self, question: Question, topology: str, values: Mapping[str, Any]) -> Any:
        """How many predicted rounds one round is worth, which is 1 unless there are many local steps in it."""
        return many_steps.worth(question, topology, values, self.powers) if _scatter(question) else 1.0

    def _gained(self, question: Question, topology: str) -> float:
        """The power of the gain over stars that is predicted for a topology which runs have; 1 of stars."""
        stars = next(iter(all_topologies(question.depth)))
        return self.gained.get(question.metric, 1.0) if topology != stars and _scatter(question) else 1.0

    def _like(self, question: Question, topology: str, rounds: Any, values: Mapping[str, Any]) -> Any:
        """The rounds in the table after which as much is left as runs have after so many.

        They are found by secants, the first as if rounds grew in proportion.
        """
        worth, power = self._worth(question, topology, values), self._gained(question, topology)
        like = rounds * worth
        if power == 1:
            return like
        stars, of_stars, _ = _of_stars(question)
        points, wanted, shape = self._points(topology, question, rounds, values)
        points_of_stars, _, _ = self._points(stars, of_stars, rounds, values)
        near = self._fleet(of_stars, stars, of_stars.values).ended
        each = (worth, self._worth(of_stars, stars, values), like)
        worth, of_one, like = (np.broadcast_to(one, shape).ravel() for one in each)
        wanted, far, slope = np.log(wanted), np.log(like), 1.0
        moved = before = np.zeros(len(far))
        for turn in range(TURNS):
            of_stars_alone = points_of_stars.rounds_to(points.reached(np.exp(far)), *near)
            near = list(points_of_stars.near(of_stars_alone))
            so_many = np.minimum(of_stars_alone / of_one, ROUNDS[-1])
            off = np.log(gaining(np.exp(far) / worth, so_many, power)) - wanted
            if np.all((np.abs(off) < NEAR) | (far <= 0) & (off >= 0)):
                break
            if turn:
                with np.errstate(divide="ignore", invalid="ignore"):
                    slope = np.clip(np.nan_to_num((off - before) / moved, nan=1.0), *SLOPES)
            ahead = np.maximum(far - off / slope, 0.0)
            moved, before, far = ahead - far, off, ahead
        return np.exp(far).reshape(shape)[()]

    def on_record(self, question: Question, target: Any, values: Mapping[str, Any]) -> Any:
        if _plain(question) is question:
            return target
        (stars, of_stars, as_measured), unit = _of_stars(question), _unit(question, values)
        like = super().rounds_to(as_measured, stars, target * unit, values)
        return super().reached(of_stars, stars, like, values) / unit

    def monotone_in(self, question: Question, changed: Collection[str]) -> bool:
        """Not where clients that differ more make groups differ less: in all deviations but the top one.

        Nor where many local steps make rounds worth less the more data differ for the noise.
        """
        if not _scatter(question):
            return True
        turning = {tier.deviation for tier in question.symbols[1:]}
        if many_steps.many(question, question.values):
            turning |= {"sigma", *(tier.deviation for tier in question.symbols)}
        return not turning & set(changed)

    def notes(self, question: Question) -> tuple[str, ...]:
        if not _scatter(question):
            return ()
        many = (
            f"Predicted rounds are corrected for over {many_steps.FROM:g} local steps of a client in a round, by runs "
            "of so many (docs/real-data.md, Many local steps).",
        )
        return (*_in_words(question), *many * bool(many_steps.many(question, question.values)))

    def _constants(self, question: Question, values: Mapping[str, Any]) -> Mapping[str, Any]:
        return {**values, **_beyond_chance(question.symbols, values)} if _scatter(question) else values

    def _fleet(self, question: Question, topology: str, values: Mapping[str, Any]) -> Fleet:
        measure = _measure(question.metric)
        scatter = _scatter(question)
        fading = question.fading or 0.0 if measure == "loss" else 0.0
        decay = question.decay or 0.0 if scatter else 0.0
        how = {"scatter": scatter, "fading": fading, "decay": decay}
        among = tuple((s, question.sized(topology, {**values, **part})) for s, part in _taking_part(question, values))
        trees = among if len(among) > 1 else ()
        return _made(among[-1][1], int(values["K"]), measure=measure, among=trees, **how)


def gaining(rounds: Any, of_stars: Any, power: float) -> Any:
    """Rounds of a topology as runs have them, by those predicted: none is gained of the first round."""
    less = 1 + np.maximum(of_stars - 1, 0.0) ** (1 - power) * np.maximum(rounds - 1, 0.0) ** power
    return np.where(rounds <= of_stars, less, of_stars ** (1 - power) * rounds**power)


def _taking_part(question: Question, values: Mapping[str, Any]) -> Iterator[tuple[float, dict[str, float]]]:
    """The whole numbers of those who take part that are next to the values', with their shares; the largest last."""
    drawn = {tier.drawn: float(values[tier.drawn]) for tier in question.symbols}
    sides = [((math.ceil(n) - n, math.floor(n)), (1 - math.ceil(n) + n, math.ceil(n))) for n in drawn.values()]
    for corner in itertools.product(*sides):
        if share := math.prod(part for part, _ in corner):
            yield share, dict(zip(drawn, (float(number) for _, number in corner), strict=True))


def _plain(question: Question) -> Question:
    """The question as if the loss had equal shares in all curvatures, itself where nothing else is known or counts."""
    counts = question.decay and _scatter(question)
    return replace(question, decay=None) if counts else question


def _of_stars(question: Question) -> tuple[str, Question, Question]:
    """Stars alone, by id, where all curvatures have equal shares of the loss, and where they have those measured."""
    stars, tree = next(iter(all_topologies(question.depth).items()))
    asked = replace(question, topologies={stars: tree})
    return stars, _plain(asked), asked


def _scatter(question: Question) -> float:
    """Of a mini-batch's curvature, which counts by loss alone."""
    return question.scatter if _measure(question.metric) == "loss" else 0.0


def _beyond_chance(tiers: Sequence[TierSymbols], values: Mapping[str, Any]) -> dict[str, Any]:
    """Deviations in which what chance makes groups differ is moved to their members, and how much: top tier first."""
    moved: dict[str, Any] = {}
    squares = [np.square(np.asarray(values[tier.deviation], dtype=float)) for tier in tiers]
    for i, below in enumerate(tiers[1:]):
        others = np.maximum(np.asarray(values[below.size], dtype=float) - 1, 1)
        chance = np.minimum(squares[i], squares[i + 1] / others)
        squares[i], squares[i + 1] = squares[i] - chance, squares[i + 1] + chance
        moved[_chance(tiers[i].deviation)] = np.sqrt(chance)
    return moved | {tier.deviation: np.sqrt(one) for tier, one in zip(tiers, squares, strict=True)}


def _in_words(question: Question) -> Iterator[str]:
    """Say how much of the deviation of groups is no more than chance makes of their members', where it is much."""
    moved = _beyond_chance(question.symbols, question.values)
    for tier, below in itertools.pairwise(question.symbols):
        own, chance = float(question.values[tier.deviation]), float(moved[_chance(tier.deviation)])
        number, of_each = question.values[below.size], question.values[below.deviation]
        if chance**2 > MUCH * own**2:
            yield (
                f"Of {tier.deviation} = {own:.3g}, {chance:.3g} is by chance, as of any {number:.0f} put together at "
                f"random with {below.deviation} = {of_each:.3g}. It counts as {below.deviation}: more of that may "
                "mean fewer rounds."
            )


def _chance(deviation: str) -> str:
    """What of a deviation is by chance."""
    return f"{deviation} by chance"


def _measure(metric: str) -> Measure:
    """What is worked out for a metric: accuracy goes by loss."""
    return "gradient" if metric == "gradient" else "loss"


def _unit(question: Question, values: Mapping[str, Any]) -> Any:
    """What a loss is multiplied with to have the unit of a squared gradient."""
    return values["L"] if _measure(question.metric) == "loss" else 1.0


_made = lru_cache(maxsize=KEPT)(Fleet)
PREDICTOR = _Spectrum()
