"""What a topology typically needs: the exact mean squared gradient on quadratics that match a scenario.

Clients share a diagonal Hessian and differ in tilt: the children of a node of every tier by that tier's deviation, at
random but for their means. A local step with rate ``eta`` maps a coordinate of curvature ``h`` to
``(1 - eta h) x - eta t`` plus noise. K steps, a star (a mean of maps), a ring (a chain of maps), the passes of a node
and a global round are maps of the same kind,

    x -> a x + b + noise,

and what the tilts make of ``b`` needs only how each child is weighted in a pass: by ``1/n`` in a star of n, by
``alpha^(n - i)`` in a ring. Draws without replacement from m tilts of mean 0 and mean square 1 have

    E (sum_i w_i t_i)^2 = (m sum w_i^2 - (sum w_i)^2) / (m - 1).

A tilt of a child enters all that is called below it, so what is below multiplies it by the sum of its weights. Who
takes part, and in which order, is drawn once a round, so that passes add up too. Above it, the tilts of the children of
different nodes are independent: each tier multiplies the mean square by the sum of its squared weights. From one round
to the next ``b`` is the same where the tier has a fixed order, and drawn anew where it is drawn. Where a tier above a
fixed one is drawn, two places hold the same node with probability ``1/n``: what is kept is multiplied by
``(sum w_i)^2 / n``.

Then ``E x_r^2`` and its mean over rounds are geometric sums, so that there is nothing to run. The mean squared gradient
at a rate is linear in ``A L``, ``sigma^2`` and the square of every deviation: so many coefficients for each number of
rounds and each rate make a table for a fleet, and every question about its constants is a look at the lower envelope of
the table.

It is a model and no bound: it says what happens on one kind of problem, not what cannot be exceeded on any. Two
things are chosen by what runs showed. The start is far out where the problem is flat, as it is in training; an order
found there does little harm where the problem is well conditioned, and not the other way round. And heterogeneity may
stay, as the theorems assume, or fade as the model learns, as on digits, where delta^2 falls several hundredfold: the
prediction is half way between the two, in logarithms. It speaks of the squared gradient alone, and of no loss.

The rounds it predicts grow with sigma and the deviations and fall with the target, as those of a bound do. How well its
order agrees with runs on problems of other kinds is on record, for two tiers; see docs/predictors.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from hflbounds.tilted import affine_round
from hflbounds.topology import Composition, LinearMap
from hflbounds.topology.patterns import Pattern
from planner.predict import envelopes
from planner.predict.envelopes import Array, EnvelopePredictor

if TYPE_CHECKING:
    from planner.predict.question import Question

CURVATURES = np.geomspace(0.003, 1.0, 8)  # of the coordinates, over L
# Squared distances of the start, for A = 1: large where it is flat, as in training, where the squared gradient at the
# start is a small part of its bound 2 L A. Here it is 5 %; on digits it is 2 %.
START = CURVATURES**-1.5 * 2 / (CURVATURES**-0.5).sum()
KEPT = 512  # fleets, and maps that they share: some 50 kB each
RATES = 100 * 1.17 ** -np.arange(125.0)[::-1]  # effective, times L: 3.5e-7 to 100
FADE = 0.5  # how far heterogeneity is between staying and fading
HARDLY = 1e-5  # of the way to where a coordinate is drawn: below that a run has hardly moved


@dataclass(frozen=True)
class Fleet(envelopes.Fleet):
    """The mean squared gradient over the iterates 0 to R - 1."""

    shape = len(RATES), float((CURVATURES**2 * START).sum())

    @property
    def rates(self) -> Array:
        """Effective rates times L at which runs do not diverge."""
        return RATES[: len(self.maps[0].a)]

    @cached_property
    def maps(self) -> tuple[Decay, Array, Array]:
        """What `coefficients` needs, for the rates below the first at which runs diverge.

        How the model is mapped; and of sigma^2 and the square of every deviation, what one unit adds in a round: of the
        deviations the part that is the same in every round, and of all of them the part drawn anew.
        """
        call, (noise, *tilts) = _round(self)
        decay = _decay(call)
        kept, anew = (
            np.stack([part[: len(decay.log_a)] for part in parts]) for parts in (tilts[::2], [noise, *tilts[1::2]])
        )
        return decay, kept, anew

    def coefficients(self, rounds: float) -> Array:
        """Of the mean squared gradient; see the base class."""
        decay, kept, anew = self.maps
        twice, still, moving = _sums(decay, rounds)
        parts = np.empty((1 + len(anew), *twice.shape))
        with np.errstate(all="ignore"):
            np.multiply(twice, START, out=parts[0])
            np.multiply(anew, moving, out=parts[1:])
            parts[2:] += kept * still
        return np.asarray(np.maximum(_sum(CURVATURES**2 / rounds * parts), 0.0))


@dataclass(frozen=True, eq=False)
class Decay:
    """How a global round maps the model, at the rates below the first at which runs diverge; fleets share it."""

    a: Array  # what a coordinate is multiplied by, shape (rates, coordinates)
    log_a: Array  # the logarithm of its size
    left: Array  # ``1 - a``
    left2: Array  # ``1 - a^2``


@lru_cache(maxsize=KEPT)
def _decay(call: LinearMap) -> Decay:
    diverged = np.flatnonzero((~(call.log_size < 0)).any(1))
    a, log_a = (part[: diverged[0] if len(diverged) else None] for part in (call.factor, call.log_size))
    with np.errstate(all="ignore"):
        left = np.where(a > 0, -np.expm1(log_a), 1 - a)  # 1 - a, also where a rounds to 1
        return Decay(a, log_a, left, -np.expm1(2 * log_a))


@lru_cache(maxsize=KEPT)
def _sums(decay: Decay, R: float) -> tuple[Array, Array, Array]:
    """Over R rounds, what the mean square of a coordinate has of its start, of what stays, and of what is drawn anew.

    Each is summed over the iterates 0 to R - 1.
    """
    a, log_a, left, left2 = decay.a, decay.log_a, decay.left, decay.left2
    with np.errstate(all="ignore"):
        twice = -np.expm1(2 * R * log_a) / left2
        # With a < 0 the iterates alternate, and of the first only its square's part is left after R rounds.
        once = np.where(a > 0, -np.expm1(R * log_a), 1.0) / left
        still = np.where(R * left < HARDLY, R * (R - 1) * (2 * R - 1) / 6, (R - 2 * once + twice) / left**2)
        return twice, still, (R - twice) / left2


def _sum(parts: Array) -> Array:
    """Over the coordinates, in pairs: in the order of numpy's own sum of 8, without its loop over rows."""
    while parts.shape[-1] > 1:
        parts = parts[..., ::2] + parts[..., 1::2]
    return parts[..., 0]


@lru_cache(maxsize=KEPT)
def _steps(local_steps: float, K: int) -> Composition:
    """K local steps at `RATES` for a round that chains so many; shape (rates, coordinates)."""
    with np.errstate(all="ignore"):
        return LinearMap.of_step(RATES[:, None] / local_steps * CURVATURES).repeated(K)


@lru_cache(maxsize=KEPT)
def _composed(pattern: Pattern, call: LinearMap, children: int, passes: int) -> tuple[Composition, Composition]:
    """One pass of a node, and all its passes; fleets that differ elsewhere share it."""
    with np.errstate(all="ignore"):
        one = pattern.compose(call, children)
        return one, one.map.repeated(passes)


def _round(fleet: Fleet) -> tuple[LinearMap, list[Array]]:
    """Of a global round, at `RATES`, coordinate by coordinate.

    The map of the model; what one unit of sigma^2 adds to the mean square of the noise; and for every tier, from the
    lowest up, what one unit of its squared deviation adds to the mean square of ``b``: the part that is the same in
    every round, and the part drawn anew; each of shape (rates, coordinates).
    """
    chain = fleet.topology.effective_steps(fleet.K)
    size = (RATES[:, None] / chain) ** 2 / len(CURVATURES)
    if fleet.topology.uneven:
        found = affine_round(fleet.topology, fleet.K, RATES[:, None] / chain * CURVATURES, "shuffled")
        parts = (found.noise, *(part for tier in found.tiers[::-1] for part in (tier.kept, tier.anew)))
        return found.map, [size * part for part in parts]
    with np.errstate(all="ignore"):
        steps = _steps(chain, fleet.K)
        call, chained, sums, noise = steps.map, steps.total, np.ones(1), size * steps.squares
        tiers: list[tuple[Array, ...]] = []  # all, and what is kept, of what a tilt adds; and the tilt's square
        for tier in reversed(fleet.topology.tiers):
            one, passes = _composed(tier.pattern, call, tier.taking_part, tier.passes)
            children = tier.size or tier.taking_part
            again, drawn = passes.total**2, tier.sampled or (tier.pattern.ordered and tier.order == "random")
            kept_of = one.total**2 / children if drawn else one.squares
            tiers = [(all_ * one.squares * again, kept * kept_of * again, of) for all_, kept, of in tiers]
            chained = chained * passes.total
            added = size * chained**2 * sums
            tiers.append((added, np.zeros_like(added) if drawn else added, _drawn(one.total, one.squares, children)))
            call, sums = passes.map, sums * one.total**2
            noise = noise * one.squares * passes.squares
        tilts = [part for all_, kept, of in tiers for part in (kept * of, (all_ - kept) * of)]
    return call, [noise, *tilts]


def _drawn(total: Array, squares: Array, whole: int) -> Array:
    """``E (sum w t)^2`` for tilts of mean 0 and mean square 1 drawn without replacement from ``whole``."""
    return np.maximum(whole * squares - total**2, 0.0) / (whole - 1) if whole > 1 else np.zeros_like(squares)


class _Typical(EnvelopePredictor):
    id = "typical"
    says = "that a typical problem with these constants takes"

    def start(self, values: Mapping[str, Any], metric: str = "gradient") -> Any:
        return Fleet.shape[1] * values["L"] * values["A"]

    def _fleet(self, question: Question, topology: str, values: Mapping[str, Any]) -> Fleet:
        return _made(question.sized(topology, values), int(values["K"]), FADE)


_made = lru_cache(maxsize=KEPT)(Fleet)
PREDICTOR = _Typical()
