"""HGA-FL with a proof: the server's rule of *xie2024*, plain gradient steps inside the sub-centers.

Statement and proof: docs/theory/hga-repaired.md. Theorem 1 of *xie2024* has counterexamples; this says what its
hypotheses do imply, with a floor where the buffer does not hold every sub-center.
"""

from fractions import Fraction

from hflbounds.catalog import xie2024
from hflbounds.core.assumptions import (
    ASYNCHRONOUS,
    SUB_CENTERS,
    SUB_CENTERS_DIVERSITY,
    SUB_CENTERS_NOISE,
    SUB_CENTERS_SMOOTH,
    SUB_CENTERS_STEP,
)
from hflbounds.core.bound import Bound, Paper, Step
from hflbounds.core.expression import Expr
from hflbounds.core.metrics import MEAN_SQUARED_SERVER_GRADIENT
from hflbounds.core.quantities import (
    A,
    Gamma_max,
    K_buf,
    L,
    M,
    R_sub,
    T,
    eta_g,
    eta_sub,
    grad,
    sigma_g,
    sigma_s,
    zeta_max,
)

paper = Paper(
    key="hflbounds",
    title="A bound for asynchronous servers with a buffer and a cache",
    authors="The hfl-plan developers",
    year=2026,
    version="docs/theory/hga-repaired.md",
)

a = eta_g * eta_sub * R_sub  # what a global step moves along its direction
delays = 2 * Gamma_max**2 + zeta_max**2
noise = 2 * (4 / K_buf + 1 / M) * sigma_s**2 / R_sub  # of a direction
buffer_drift = 5 * R_sub * eta_sub**2 * (sigma_s**2 + 6 * R_sub * M * sigma_g**2 / K_buf)
cache_drift = 5 * R_sub * eta_sub**2 * (sigma_s**2 + 6 * R_sub * sigma_g**2)
lost = 360 * R_sub**2 * L**2 * eta_sub**2 * (2 * M / K_buf + zeta_max + 1)
m = 1 - lost
moved = L * a * (1 + zeta_max) + 12 * delays * L**2 * a**2

terms: dict[str, Expr] = {
    "start": 2 * A / (a * T * m),
    "floor": 8 * (M - K_buf) * sigma_g**2 / (K_buf * m),
    "drift": 12 * L**2 * (2 * buffer_drift + cache_drift) / m,
    "noise": 2 * L * a * (1 + zeta_max) * noise / m,
    "cached_noise": L * zeta_max * a * sigma_s**2 / (R_sub * m),
    "delayed_noise": 24 * delays * L**2 * a**2 * noise / m,
}


def _summed() -> dict[str, Expr]:
    """The descent of one global step, summed over T, in the pieces of section 4 of the proof.

    The drift is that of (38) and (39), whose coefficient of the squared gradient becomes ``m``; what multiplies
    the squared steps multiplies twice the noise of a direction, which is that of K and M means of R gradients.
    """
    buffer, cache = ({n: e.subs({grad: 1}) for n, e in d.items()} for d in (xie2024.buffer_drift, xie2024.cache_drift))
    per_gradient = 12 * L**2 * (2 * M / K_buf * buffer["gradient"] + (zeta_max + 1) * cache["gradient"])
    kept = (a / 2) * (1 - per_gradient) * T
    direction = 2 * (2 * 2 * sigma_s**2 / (K_buf * R_sub) + sigma_s**2 / (M * R_sub))
    smooth = L * a**2 / 2
    stale = (a / 2) * 2 * 6 * L**2 * (2 * Gamma_max * Gamma_max + zeta_max * zeta_max) * a**2
    drifted = (a / 2) * 2 * 6 * L**2
    return {
        "start": A / kept,
        "floor": (a / 2) * 2 * 4 * (M / K_buf - 1) * sigma_g**2 * T / kept,
        "drift": drifted
        * (2 * (buffer["noise"] + buffer["heterogeneity"]) + cache["noise"] + cache["heterogeneity"])
        * T
        / kept,
        "noise": (smooth + smooth * zeta_max) * 2 * direction * T / kept,
        "cached_noise": smooth * zeta_max * (sigma_s**2 / R_sub) * T / kept,
        "delayed_noise": stale * 2 * direction * T / kept,
    }


repaired = Bound(
    id="hflbounds.hga-repaired",
    title="HGA-FL's server with gradient steps inside the sub-centers, explicit constants and a floor",
    source=paper.at("Theorem"),
    bounds=MEAN_SQUARED_SERVER_GRADIENT,
    terms=terms,
    requires=(moved <= Fraction(1, 2), lost < 1),
    assumes=(SUB_CENTERS_SMOOTH, SUB_CENTERS_NOISE, SUB_CENTERS_DIVERSITY, SUB_CENTERS, SUB_CENTERS_STEP, ASYNCHRONOUS),
    status="own",
    constants="explicit",
    where={"m": m},
    grows_with=(A, L, sigma_s, sigma_g, Gamma_max, zeta_max),
    shrinks_with=(T, K_buf),
    steps=(Step("the descent of one global step, summed: section 4", _summed()),),
    defaults={"eta_sub": xie2024.eta_hat},
)
