"""HGA-FL: what the supplement prints otherwise than its proofs support, with an instance of each.

Signs, rules and delays are those of C.1 and (48) with ``Delta_j`` = minus the change of the model; sub-centers take
plain gradient steps at ``eta_s = eta_hat``, which is how (47)-(69) treat them.
"""

import math
from collections.abc import Iterator
from fractions import Fraction

from hflbounds.catalog import xie2024
from hflbounds.core.bound import Erratum, Evidence
from hflbounds.core.expression import sqrt
from hflbounds.core.quantities import A, K_buf, L, M, R_sub, T, alpha_dyn, eta_g, eta_sub, sigma_g, sigma_s

CENTERS = (1.0, -1.0)  # F_j = (w - c_j)^2/2, so L = sigma_g = 1 and F = w^2/2 + 1/2


def two_centers(rule: str, steps: int, server_rate: float, rate: float) -> Iterator[float]:
    """The model before each global step, where the first center arrives three times for each time of the second.

    K = R = 1, delays as of that order of arrival: at most 3 in the buffer and 6 in the cache.

    Args:
        rule: ``hga``, that of C.1 and (48); ``fedbuff``, the mean of the buffer; ``ca2fl``, with calibration.
        steps: global steps.
        server_rate: of the server.
        rate: of the centers.
    """
    model, began = 0.0, [0.0, 0.0]
    cache = [rate * (0.0 - c) for c in CENTERS]
    for step in range(steps):
        yield model
        j = 1 if step % 4 == 3 else 0
        update = rate * (began[j] - CENTERS[j])
        calibration = sum(cache) / 2 - cache[j]
        cache[j] = update
        if rule == "hga":
            update = 2 * update - sum(cache) / 2
        elif rule == "ca2fl":
            update += calibration
        model -= server_rate * update
        began[j] = model


def _theorem(**values: float) -> float:
    return float(xie2024.thm1(**values))


def _negative() -> Evidence:
    values = {"L": 2, "R_sub": 1, "M": 1, "K_buf": 1, "alpha_dyn": 155, "eta_g": 1e-3, "Gamma_max": 0, "zeta_max": 0}
    printed = _theorem(**values, sigma_s=1, sigma_g=0, A=1, T=1e12)
    return Evidence("L = 2, R = M = K = 1, alpha = 155, eta_g = 0.001: a mean of squares", printed, 0.0)


def _two_rounds() -> Evidence:
    """F = L w^2/2 from w = 0, two rounds: the second gradient is ``L eta_s`` times the noise of the first."""
    smooth, rate = 1e-3, 1.0
    values: dict[str, float] = {
        "L": smooth,
        "R_sub": 2,
        "M": 1,
        "K_buf": 1,
        "eta_sub": rate,
        "sigma_s": 1,
        "sigma_g": 0,
        "grad": 0,
    }
    instance = "F = L w^2/2 from w = 0 with L = 0.001, R = 2, eta_s = sigma_s = 1"
    return Evidence(instance, float(xie2024.eq40(**values)), (smooth * rate) ** 2)


def _reversed() -> Evidence:
    rates = 0.1 * 0.01
    negative = rates**2 - rates  # L eta_g^2 eta_s^2 R - eta_g eta_s at L = R = 1
    buffer, cache = 1.0, 2.0
    printed = 4 * negative / 2 * buffer**2 + negative / 2 * cache**2
    found = negative / 2 * (2 * buffer - cache) ** 2
    return Evidence("M = K = R = L = 1, eta_g = 0.1, eta_s = 0.01, summed gradients 1 and 2", printed, found)


def _floor() -> Evidence:
    steps = 40_000
    values = {"L": 1, "R_sub": 1, "M": 2, "K_buf": 1, "alpha_dyn": 200, "eta_g": 0.1, "Gamma_max": 3, "zeta_max": 6}
    printed = _theorem(**values, sigma_s=0, sigma_g=1, A=1e-12, T=steps)
    found = sum(model**2 for model in two_centers("hga", steps, 0.1, 0.01)) / steps
    return Evidence("two centers (w -+ 1)^2/2, one three times as fast, from the optimum", printed, found)


def _noise() -> Evidence:
    """``w <- w - a (w + n)`` keeps the second moment ``a/(2 - a)``; the first model is its root."""
    step = Fraction(1, 10_000)
    found = step / (2 - step)
    values = {"L": 1, "R_sub": 1, "M": 1, "K_buf": 1, "alpha_dyn": 20_000, "eta_g": 1, "Gamma_max": 0, "zeta_max": 0}
    printed = _theorem(**values, sigma_s=1, sigma_g=0, A=float(found / 2), T=1e12)
    return Evidence("SGD on w^2/2: M = K = R = 1, alpha = 20000, eta_g = 1", printed, float(found))


def _bias() -> Evidence:
    late = {rule: [*two_centers(rule, 100_000, 0.1, 0.01)][-4:] for rule in ("hga", "fedbuff")}
    printed, found = ((sum(models) / 4) ** 2 for models in (late["fedbuff"], late["hga"]))
    instance = "two centers (w -+ 1)^2/2, one three times as fast: squared gradient where FedBuff and HGA-FL settle"
    return Evidence(instance, printed, found)


def _ascent() -> Evidence:
    """One step of Algorithm 3's Delta in C.1's rule on w^2/2 from w = 1, with buffer and cache alike."""
    change = -0.01 * 1.0
    after = 1.0 - 0.1 * change + 0.1 * (change - change)
    return Evidence("w^2/2 from w = 1, M = K = R = 1: the loss after a step", 0.5, after**2 / 2)


def _at_equality() -> Evidence:
    values: dict[str, float] = {"L": 1, "R_sub": 8, "M": 8, "K_buf": 3, "Gamma_max": 5, "zeta_max": 8}
    values["alpha_dyn"] = xie2024.conditions[0].rhs.value(values)
    values["eta_g"] = xie2024.conditions[1].rhs.value(values)
    needed = xie2024.eq63.split(**values)["descent"]
    return Evidence("L = 1, R = 8, delays 5 and 8, equality in (67) and (68): C", needed, float(xie2024.eq63(**values)))


def _coupled() -> Evidence:
    smooth, rounds, buffer = 1, 8, 3
    chosen = math.sqrt((2 + 2 * smooth**2) * rounds / buffer)
    needed = xie2024.conditions[0].rhs.value({"L": smooth, "R_sub": rounds})
    return Evidence("L = 1, R = 8, K = 3: the alpha that (67) asks for, and that of the corollary", chosen, needed)


def _dropped() -> Evidence:
    values: dict[str, float] = {"L": 1, "R_sub": 8, "M": 8, "K_buf": 3, "Gamma_max": 5, "zeta_max": 8}
    values |= {"sigma_s": 1, "sigma_g": 1, "A": 1, "T": 1e18}
    return Evidence("L = 1, M = R = 8, K = 3, T = 1e18", float(xie2024.rate(**values)), float(xie2024.cor1(**values)))


def _opposite_moves() -> Evidence:
    curvature, moves = (1.0, 2.0), (1.0, -1.0)
    model = sum(moves) / 2
    state = sum(c * m for c, m in zip(curvature, moves, strict=True)) / 2
    return Evidence("two clients of curvature 1 and 2 that move by 1 and -1", 4 * model**2, state**2)


def feddyn_step(smooth: Fraction, alpha: Fraction) -> tuple[Fraction, Fraction]:
    """FedDyn's first step on one client with loss ``L w^2/2``, from w = 1 and states at zero.

    Returns:
        the squared surrogate rate, and the right-hand side of Proposition 1. The gradient is taken where the
        step began, which makes the rate the smaller of the two.
    """
    client = alpha / (smooth + alpha)  # argmin of L w^2/2 + (alpha/2)(w - 1)^2
    after = client - smooth * client / alpha
    return (after - 1) ** 2 / smooth**2, (2 + 2 * smooth**2) / alpha**2


def _first_step() -> Evidence:
    found, printed = feddyn_step(Fraction(1, 10), Fraction(2))
    return Evidence("one client, L = 0.1, alpha = 2 = 20 L, first step", float(printed), float(found))


def _opposite_vectors() -> Evidence:
    buffer, cache = 1.0, -1.0
    return Evidence("||2a - b||^2 at a = 1, b = -1", 4 * buffer**2 + cache**2, (2 * buffer - cache) ** 2)


def _stale_sum() -> Evidence:
    """Squared gradients 1, 1/2, 1/4, ..., and a cache that is always 5 steps old, or as old as training."""
    squares = [0.5**t for t in range(60)]
    return Evidence("halving at every step, delay 5", sum(squares), sum(squares[max(t - 5, 0)] for t in range(60)))


def _tuning_guide() -> Evidence:
    needed = xie2024.conditions[0].rhs.value({"L": 0.01, "R_sub": 8})
    return Evidence("R = 8, L = 0.01: the alpha that (67) asks for, and the largest recommended", 2.0, needed)


STATEMENTS = ("xie2024.thm1", "xie2024.cor1", "xie2024.rate", "xie2024.rate-printed")
ERRATA = (
    Erratum(
        id="xie2024.G1",
        place="(69), Theorem 1, second term",
        printed=r"$5RL^2(4-3L)\frac{BC^2}{\alpha^2K}\sigma_s^2$, in an upper bound on a mean of squared norms",
        proved="no term of an upper bound may be negative and outweigh the rest",
        because="for L > 4/3 the term is negative, and the others vanish with eta_g and T",
        effect="the bound is below zero; a larger L looks better",
        gravity="refuted",
        demonstrate=_negative,
        concerns=("xie2024.thm1", "xie2024.cor1"),
    ),
    Erratum(
        id="xie2024.G2",
        place="(40) and (41), first term; carried into (62), (69)-(71)",
        printed=15 * K_buf * R_sub**3 * L**3 * eta_sub**2 * sigma_s**2,
        proved=15 * K_buf * R_sub**3 * L**2 * eta_sub**2 * sigma_s**2,
        because="the drift of (38) enters through L^2, as it does in the neighbouring term 90 K R^4 L^2 eta_s^2",
        effect="the factor 4 - 3L of (69), which is 1 with L^2, and one power of L too many in two terms more",
        gravity="refuted",
        witness={"K_buf": 1, "R_sub": 2, "L": 0.001, "eta_sub": 1, "sigma_s": 1},
        demonstrate=_two_rounds,
        concerns=("xie2024.eq40", "xie2024.eq41", *STATEMENTS),
    ),
    Erratum(
        id="xie2024.G3",
        place="(56)",
        printed=r"$c\,\|V\|^2\le c\,(4\|\cdot\|^2/(K^2R^2)+\|\cdot\|^2/(M^2R^2))$ for $c<0$",
        proved=r"$c\,\|V\|^2\le0$ for $c\le0$",
        because="an upper bound on a square, times a negative number, is a lower bound",
        effect="its negative terms hide what (60) adds, 2 (4M + K)/K sigma_g^2, which does not vanish",
        gravity="step",
        demonstrate=_reversed,
        concerns=STATEMENTS,
    ),
    Erratum(
        id="xie2024.G4",
        place="(69)-(71), terms in sigma_g",
        printed="every term in sigma_g^2 vanishes with eta_g, or with T",
        proved="a floor in sigma_g^2 where sub-centers arrive unequally often and K < M",
        because="the server settles where 2 sum_j pi_j grad F_j = grad F, with pi_j the shares of arrival",
        effect="training stops at the optimum of the fast sub-centers, and the bound says that it converges",
        gravity="refuted",
        demonstrate=_floor,
        concerns=STATEMENTS,
    ),
    Erratum(
        id="xie2024.G5",
        place="(47) onwards, and (69), terms in sigma_s",
        printed="sigma_s^2 enters only with two or more powers of eta_hat",
        proved="the noise of an update is of first order, L eta_g eta_hat sigma_s^2",
        because="from (47) on updates are exact gradients along noisy models; the noise of the step itself is lost",
        effect="below the stationary error of SGD, without limit as alpha grows",
        gravity="refuted",
        demonstrate=_noise,
        concerns=STATEMENTS,
    ),
    Erratum(
        id="xie2024.G6",
        place="C.1 and (48)",
        printed=r"$v^t=\frac1K\sum_j(c^t-\Delta_j)$, a calibration by the cache",
        proved=r"$c^t+\frac1K\sum_j(\Delta_j-c_j)$ calibrates; C.1 steps along $\frac2K\sum_j\Delta_j-c^t$",
        because="it doubles the buffer's bias where CA2FL's rule removes it",
        effect="four times the squared bias of FedBuff, which has no cache",
        demonstrate=_bias,
        concerns=STATEMENTS,
    ),
    Erratum(
        id="xie2024.G7",
        place="(24), (29) and Algorithm 3, line 17, with C.1, (47) and (48)",
        printed=r"$\Delta_j=w_j^{t_j}-w_j^{t_j-R}$ in $w^{t+1}=w^t-\frac{\eta_g}K\Delta^t+\eta_gv^t$",
        proved=r"$\Delta_j=w_j^{t_j-R}-w_j^{t_j}$, and $\eta_s$ times the sum of gradients in (47)",
        because="the printed signs together step uphill",
        effect="an implementation of what is printed diverges",
        demonstrate=_ascent,
        concerns=STATEMENTS,
        artefact=True,
    ),
    Erratum(
        id="xie2024.G8",
        place="(52)",
        printed=(K_buf + 1) / (K_buf * R_sub),
        proved=2 / (K_buf * R_sub),
        because="(48), (50) and (56) have 2/(KR); T_2 of (47) also lacks the 1/K of T_1",
        effect="(K + 1)/2, on that line only",
        witness={"K_buf": 3, "R_sub": 1},
        concerns=("xie2024.thm1",),
    ),
    Erratum(
        id="xie2024.G9",
        place="(69) to (71), B sigma_s^2",
        printed=xie2024.B * sigma_s**2,
        proved=5 * K_buf * sigma_s**2 + (24 * M + 6 * K_buf) * R_sub * sigma_g**2,
        because="(62) has 4 (sigma_s^2 + 6R M/K sigma_g^2) + sigma_s^2 + 6R sigma_g^2",
        effect="without noise the drift's heterogeneity disappears; without heterogeneity the noise is multiplied "
        "by B/(5K), 113 at M = R = 8 and K = 3",
        witness={"M": 8, "K_buf": 3, "R_sub": 8, "sigma_s": 0, "sigma_g": 1},
        concerns=STATEMENTS,
    ),
    Erratum(
        id="xie2024.G10",
        place="(61) to (62), first term; (69), first term",
        printed=2 * A / (eta_g * xie2024.eta_hat * R_sub * T),
        proved=2 * A / (eta_g * eta_sub * R_sub * T),
        because="eta_s <= eta_hat is an upper bound, and a negative term may not be made more negative with it",
        effect="the start decays eta_hat/eta_s times too fast; rounds to a target are too few",
        gravity="step",
        witness={"A": 1, "eta_g": 0.1, "L": 1, "alpha_dyn": 200, "eta_sub": 0.005, "R_sub": 1, "T": 1000},
        concerns=("xie2024.thm1",),
    ),
    Erratum(
        id="xie2024.G11",
        place="D.6 to D.7",
        printed="(67) and (68) suffice to divide by eta_g eta_hat R/2",
        proved=r"(69) needs $300u\le\frac{15}2(1-y-4\mathcal Sy^2)(1+30u)$, with $u=(RL\hat\eta_s)^2$ and "
        r"$y=RL\eta_g\hat\eta_s$",
        because="they make the three terms of (63) at most zero together, not at most the first one alone",
        effect="at equality in both the coefficient is zero and nothing is bounded",
        demonstrate=_at_equality,
        concerns=("xie2024.thm1", "xie2024.eq63"),
    ),
    Erratum(
        id="xie2024.G12",
        place="Corollary 1: alpha^2 = (2 + 2L^2) R/K, with (67)",
        printed="any L, R and K",
        proved=600 * K_buf * R_sub * L**2 <= 1,
        because="the corollary sets eta_hat^2 = K/R, a pure number, and (66) caps it at 1/(600 R^2 L^2)",
        effect="at L = 1, R = 8 and K = 3 the corollary's alpha is 3.3 and the theorem needs 392",
        demonstrate=_coupled,
        concerns=("xie2024.cor1", "xie2024.rate", "xie2024.rate-printed"),
    ),
    Erratum(
        id="xie2024.G13",
        place="(70) to (71)",
        printed="the second term of (70) is left out of its order",
        proved="it does not depend on T",
        because="5 L^2 (4 - 3L) B sigma_s^2 stays as it is while every term that is kept vanishes",
        effect="a rate where (70) has none",
        demonstrate=_dropped,
        concerns=("xie2024.cor1", "xie2024.rate", "xie2024.rate-printed"),
    ),
    Erratum(
        id="xie2024.G14",
        place="(31)",
        printed=r"$\mathbb E\|h-h'\|^2\le L^2\,\mathbb E\|\gamma-\gamma'\|^2$",
        proved=r"$\mathbb E\|h-h'\|^2\le L^2\frac1{N_j}\sum_i\mathbb E\|w_{j,i}-w_{j,i}'\|^2$",
        because="the means of moves and of gradients are two things; Jensen's inequality points the other way",
        effect="Proposition 1 is without a proof",
        gravity="step",
        demonstrate=_opposite_moves,
        concerns=("xie2024.prop1",),
    ),
    Erratum(
        id="xie2024.G15",
        place="(24), (36), (67) and C",
        printed=(2 + 2 * L**2) / alpha_dyn**2,
        proved=2 * (1 + L**2 / alpha_dyn**2) / alpha_dyn**2,
        because="h enters (27) over alpha, and alpha >= 1 is used to leave that out; 2 and 2L^2 differ in units",
        effect="the bound depends on the unit in which the loss is measured",
        witness={"L": 1, "alpha_dyn": 20},
        concerns=("xie2024.prop1", "xie2024.eq63", *STATEMENTS),
    ),
    Erratum(
        id="xie2024.G16",
        place="(55), (57) and (58)",
        printed=r"$\|2a-b\|^2\le4\|a\|^2+\|b\|^2$",
        proved=r"$\|2a-b\|^2\le6\|a\|^2+3\|b\|^2$",
        because="squares of sums need Young's weights; likewise four terms under a factor 2",
        effect="2 to 3 on the terms of delay",
        gravity="step",
        demonstrate=_opposite_vectors,
        concerns=("xie2024.thm1",),
    ),
    Erratum(
        id="xie2024.G17",
        place="before (62)",
        printed=r"$\sum_t\|\nabla F(w^{t-\zeta_j^t})\|^2\le\sum_t\|\nabla F(w^t)\|^2$",
        proved=r"$\le(\zeta_{\max}+1)\sum_t\|\nabla F(w^t)\|^2$; $M/K$ times it, averaged over the buffers",
        because="a cached update is used up to zeta_max + 1 times",
        effect="up to zeta_max + 1 on terms of higher order",
        gravity="step",
        demonstrate=_stale_sum,
        concerns=("xie2024.thm1",),
    ),
    Erratum(
        id="xie2024.G18",
        place="Appendix H, effect of eta_g and alpha",
        printed="alpha from 1 to 2 is consistent with the constraints for a certain L",
        proved="with R = 8 only for L up to 0.0072, and with R = 5 up to 0.0115",
        because="(67) at alpha = 2",
        effect="the conditions of the theorem are no guide to tuning",
        gravity="note",
        demonstrate=_tuning_guide,
        concerns=("xie2024.thm1",),
    ),
    Erratum(
        id="xie2024.G19",
        place="(43); (56), the side condition",
        printed=sigma_g**2,
        proved=sigma_g,
        because="a norm is bounded by sigma_g, its square by sigma_g^2; likewise sqrt(2)/(alpha N_j) stands where "
        "Proposition 1 has sqrt(2 + 2L^2)/alpha",
        effect="none on the value",
        witness={"sigma_g": 2},
        concerns=("xie2024.thm1",),
        artefact=True,
    ),
    Erratum(
        id="xie2024.G20",
        place="(60)",
        printed=(K_buf + 4 * M) * sigma_g**2 / K_buf,
        proved=4 * (M - K_buf) * sigma_g**2 / K_buf,
        because="the first of the two vectors is zero, and K gaps of M that sum to zero have a mean of at most "
        "(M - K)/K sigma_g^2 in square",
        effect="with a full buffer there is no floor at all",
        gravity="loose",
        witness={"K_buf": 3, "M": 8, "sigma_g": 1},
        concerns=("xie2024.thm1",),
    ),
    Erratum(
        id="xie2024.G21",
        place="Proposition 1, (24) and (36)",
        printed=r"$\eta_s^2\le(2+2L^2)/\alpha^2$ at any step",
        proved="not in the first steps of FedDyn, whose states begin at zero",
        because="h^0 = 0 is no mean gradient, so (26) and (31) do not hold for h^0 - h^1: the first step is "
        "2/(alpha + L) times the gradient",
        effect="eta_hat is too small by up to sqrt(2) at the first step; and no rate at all exists where the gradient "
        "is zero and the states are not mean gradients, at later steps too",
        gravity="refuted",
        demonstrate=_first_step,
        concerns=("xie2024.prop1",),
    ),
    Erratum(
        id="xie2024.G22",
        place="(71), fourth term",
        printed=15 * L**4 * sqrt(K_buf * R_sub * xie2024.B * sigma_s**2) / sqrt(T),
        proved=15 * L**4 * sqrt(K_buf * R_sub) * xie2024.B * sigma_s**2 / sqrt(T),
        because="the fourth term of (70) has B sigma_s^2 outside of every root, and all other terms in sigma_s^2 have "
        "its square; the root of the copy reaches over both",
        effect="sqrt(B) sigma_s times too small, 41 at M = R = 8 and K = 3; xie2024.rate has the shorter root",
        witness={"L": 1, "M": 8, "K_buf": 3, "R_sub": 8, "sigma_s": 1, "T": 1000},
        concerns=("xie2024.rate", "xie2024.rate-printed"),
        artefact=True,
    ),
)
