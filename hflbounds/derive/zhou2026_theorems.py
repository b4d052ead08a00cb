"""From the lemmas of the unified analysis to its theorems, rates, table and limits, and where the topologies cross."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import partial

import numpy as np

from hflbounds.audit.checks import DIMENSIONS
from hflbounds.catalog import own_drift, zhou2026, zhou2026_lemmas
from hflbounds.catalog.zhou2026 import (
    COROLLARY_1,
    COROLLARY_2,
    SHUFFLE,
    SHUFFLE_RATE,
    TABLE_5,
    THEOREM_1,
    THEOREM_2,
    TOPOLOGIES,
    Terms,
)
from hflbounds.core.bound import Erratum
from hflbounds.core.expression import DimensionError, Expr, Relation, add, as_expr, cbrt, power, sqrt
from hflbounds.core.quantities import S1, S2, A, G, K, L, M, P, R, delta, eta, eta_eff, sigma, zeta
from hflbounds.derive import Finding, Line, Outcome
from hflbounds.derive.finite_sums import is_at_most
from hflbounds.derive.proofs import exact, identical
from hflbounds.derive.zhou2026 import holds
from hflbounds.evaluate.tuning import lemma_image
from hflbounds.topology import Topology

Check = Callable[[], Finding]
Numbers = Mapping[str, Fraction | int]
DEFAULT: Numbers = {"L": 1, "A": 2, "R": 5000, "G": 10, "M": 10, "P": 1, "K": 2, "sigma": 1, "zeta": 1, "delta": 1}


def up_to(constant: Fraction | int | str, evidence: str) -> Finding:
    """A line that holds with a constant in front."""
    return Finding(verdict="holds up to a constant", evidence=evidence, constant=str(constant))


def same_terms(ours: Mapping[str, Expr], theirs: Mapping[str, Expr], evidence: str) -> Finding:
    """Whether two tables agree, term by term."""
    wrong = [name for name in theirs if name not in ours or not identical(ours[name], theirs[name])]
    if not wrong and ours.keys() == theirs.keys():
        return holds(True, evidence)
    return Finding(verdict="fails", evidence=evidence, witness={"terms that differ": ", ".join(wrong) or "names"})


def line_at(
    name: str, place: str, claim: str, check: Check, expected: Outcome = "holds", erratum: str | None = None
) -> Line:
    """A line of this paper, its id without the paper."""
    return Line(id=f"zhou2026.{name}", place=place, claim=claim, check=check, expected=expected, erratum=erratum)


# ---------------------------------------------------------------- a: tuning
def _tuning_lemma() -> Finding:
    """With e the least of 1/d, sqrt(a/b), cbrt(a/q): exact at numbers whose roots are rational."""
    for x, y, z in itertools.product((Fraction(1, 9), Fraction(1, 2), Fraction(1), Fraction(3)), repeat=3):
        # the three candidate steps are x, y, z; then a = 1, b = 1/y^2, q = 1/z^3, d = 1/x
        e = min(x, y, z)
        value, images = 1 / e + e / y**2 + e**2 / z**3, (1 / x, 1 / y, 1 / z)
        parts = (1 / e <= sum(images), e / y**2 <= images[1], e**2 / z**3 <= images[2])
        if not all(parts) or value > images[0] + 2 * images[1] + 2 * images[2]:
            return holds(False, "grid", {"x": float(x), "y": float(y), "z": float(z)})
    return holds(True, "64 triples of candidate steps, exact; the three inequalities each")


def _tuning_is_tight() -> Finding:
    """The optimum over d a + sqrt(ab) + cbrt(a^2 q), against 1/(1 + 1/2 + 2^(2/3)/3) and 2."""
    rng = np.random.default_rng(0)
    a, b, q, d = np.exp(rng.uniform(-8, 8, (4, 400)))
    steps = np.exp(np.linspace(-40, 0, 4000))[:, None] / d
    best = (a / steps + b * steps + q * steps**2).min(axis=0)
    ratio = best / (d * a + np.sqrt(a * b) + np.cbrt(a**2 * q))
    low = 1 / (1 + 1 / 2 + 2 ** (2 / 3) / 3)
    if (ratio < low).any() or (ratio > 2.01).any():
        return holds(False, "grid", {"ratio": float(ratio.min())})
    return up_to(2, f"400 draws: the ratio is from {ratio.min():.2f} to {ratio.max():.2f}")


def _stationary() -> Finding:
    """F11 and F12: the tuned step solves 2 q e^3 + b e^2 = a, and a cap binds where its left side is still below a."""
    rng = np.random.default_rng(1)
    sizes = {name: np.round(np.exp(rng.uniform(0, 3, 200))) for name in "GMPK"}
    scales = dict(zip(("sigma", "zeta", "delta", "A", "L"), np.exp(rng.uniform(-1, 1, (5, 200))), strict=True))
    known = {**sizes, **scales, "R": np.round(np.exp(rng.uniform(3, 12, 200)))}
    for bound in zhou2026.fixed_order[::3]:
        a = known["A"] / known["R"]
        at_one = bound.compiled[1](*(1.0 if name == "eta_eff" else known[name] for name in bound.needs))
        b, q = at_one[1], sum(at_one[2:])
        free = bound.tuned(cap="none", **known)
        residual = np.abs(2 * q * free.eta_eff**3 + b * free.eta_eff**2 - a) / a
        capped = bound.tuned(cap="common", **known)
        cap = 1 / (4 * known["L"])
        binds = 2 * q * cap**3 + b * cap**2 < a
        if residual.max() > 1e-9 or (capped.cap_binds != binds).any():
            return holds(False, bound.id, {"residual": float(residual.max())})
    return holds(True, "800 draws: relative residual below 1e-9, and the cap binds exactly where the cubic says")


def _rate(theorem: Terms, rate: Terms) -> Finding:
    found = same_terms(lemma_image(theorem), rate, "term by term, the image under the tuning lemma")
    return up_to("the largest of 2 and kappa", found.evidence) if found.verdict == "holds" else found


def _rates() -> list[Line]:
    found = []
    for t in TOPOLOGIES:
        for label, theorem, rate in (
            ("thm1", THEOREM_1[t], COROLLARY_1[t]),
            ("shuffle", THEOREM_1[t] | SHUFFLE[t], COROLLARY_1[t] | SHUFFLE_RATE[t]),
            ("thm2", THEOREM_2[t], COROLLARY_2[t]),
        ):
            place = {"thm1": "Theorem 1 to Corollary 1", "shuffle": "Appendix E", "thm2": "Theorem 2 to Corollary 2"}
            claim = "the rate is the bound at the tuned step"
            check = partial(_rate, theorem, rate)
            found.append(line_at(f"a1.{label}.{t}", place[label], claim, check, "holds up to a constant"))
    return found


def _root(numerator: Expr, *factors: Expr) -> Expr:
    denominator = R**2
    for factor in factors:
        denominator = factor * denominator
    return cbrt(L**2 * A**2 * numerator**2) / cbrt(denominator)


TABLE: dict[str, tuple[Expr, ...]] = {  # Table 5, what stands after the first two terms of each row
    "star-star.F": (_root(sigma, P**2, K), _root(sigma, P, M, K), _root(zeta, P**2), _root(delta)),
    "star-star.S": (_root(sigma, P**2, K), _root(sigma, P, M, K), _root(zeta, P**2), _root(delta)),
    "star-ring.F": (_root(sigma, P, K), _root(zeta, P**2, M), _root(delta)),
    "star-ring.S": (_root(sigma, P, M, K), _root(zeta, P**2, M), _root(delta)),
    "ring-star.F": (_root(sigma, G**2, P**2, K), _root(sigma, G, P, M, K), _root(zeta, G**2, P**2), _root(delta)),
    "ring-star.S": (_root(sigma, G**2, P**2, K), _root(sigma, G, P, M, K), _root(zeta, G**2, P**2), _root(delta, G)),
    "ring-ring.F": (_root(sigma, G, P, M, K), _root(zeta, G**2, P**2), _root(delta)),
    "ring-ring.S": (_root(sigma, G, P, M, K), _root(zeta, G**2, P**2, M), _root(delta, G)),
}


def _row(row: str) -> Finding:
    topology, order = row.split(".")
    rate = COROLLARY_1[topology] | (SHUFFLE_RATE[topology] if order == "S" else {})
    names = list(rate)[2:]
    evidence = "against the tuned theorem of the same order, term by term"
    found = same_terms({n: rate[n] for n in names}, dict(zip(names, TABLE[row], strict=True)), evidence)
    return up_to("the largest of 2 and kappa", evidence) if found.verdict == "holds" else found


def _literal_cap(topology: str, number: int) -> Finding:
    """A start term at the literal cap: A/(cap R) = sqrt(number L) A/R, over L A/R, at two values of L."""
    squared = number * L * (A / R) ** 2 / (L * A / R) ** 2
    if identical(squared, as_expr(number)):
        return holds(True, "the ratio does not depend on L")
    small, large = (math.sqrt(float(number * length)) / length for length in (Fraction(1, 100), 100))
    return Finding(verdict="fails", evidence=topology, witness={"over LA/R at L = 0.01": small, "at L = 100": large})


def _redundant() -> Finding:
    """(2 a^3 + b^3)/3 - a^2 b = (a-b)^2 (2a+b)/3, with a^3 the first-order term and b^3 = LA/R."""
    left = (2 * G**3 + M**3) / 3 - G**2 * M
    right = (G - M) ** 2 * (2 * G + M) / 3
    a, b = sqrt(L * A * sigma**2) / sqrt(G * P * M * K * R), L * A / R
    term = COROLLARY_1["ring-ring"]["noise_drift"]
    image = power(a, Fraction(2, 3)) * power(b, Fraction(1, 3))
    return holds(identical(left, right) and identical(term, image), "weighted means, by an identity")


# ---------------------------------------------------------------- c: lemmas to explicit bounds
def _polarised() -> Finding:
    """-<f, S> = -N f^2/2 - S^2/(2N) + (N/2) (S/N - f)^2, here with numbers for vectors."""
    f, S, N = zeta, delta, G
    return holds(identical(f * S, N * f**2 / 2 + S**2 / (2 * N) - N * (S / N - f) ** 2 / 2), "identity")


def _polarised_as_printed() -> Finding:
    """D.1's middle line has c_0 N f c_0 (a - N f) where c_0 N f (a - N f)/N is meant: Star-Star, N = 4, c_0 = 1/2."""
    f, a, n, c0 = Fraction(1), Fraction(6), 4, Fraction(1, 2)
    true = -c0 * f * a
    printed = -c0 * n * f**2 + c0 * n * f * c0 * (a - n * f)
    if printed == true:
        return holds(True, "one-dimensional instance")
    numbers = {"printed": float(printed), "true": float(true)}
    return Finding(verdict="fails", evidence="one-dimensional instance", witness=numbers)


def _explicit(topology: str, shuffled: bool) -> Finding:
    drift = zhou2026_lemmas.printed_drift(topology, "drift-shuffle" if shuffled else "drift")
    theorem = THEOREM_1[topology] | (SHUFFLE[topology] if shuffled else {})
    stated = zhou2026.explicit(theorem, zhou2026.MULTIPLIERS[topology], topology)
    return same_terms(zhou2026.from_lemma_1(topology, drift), stated, "identity, term by term")


def _explicit_partial(topology: str, as_printed: bool) -> Finding:
    derived = zhou2026.from_lemma_2(topology, zhou2026.DRIFT_PARTIAL[topology])
    if as_printed:
        c2 = zhou2026.partial_constants(topology)[1]
        derived |= {
            "client_sampling": c2 * 5 * L * eta_eff * zeta**2 / (2 * S1),
            "group_sampling": c2 * 5 * L * eta_eff * delta**2 / (2 * S2),
        }
    return same_terms(derived, zhou2026.explicit_partial(topology), "identity, term by term")


def _missing_power() -> Finding:
    """D.5: 40 c1 eta^3 L^2 times sigma^2, from (eta/2) L^2 80 G^2 P^2 M^2 K^2; printed with G for G^2."""
    derived = eta * L**2 * zhou2026.DRIFT["ring-ring"].terms["noise_drift"] * eta**2 / 2
    printed = 40 * eta**3 * L**2 * G * P**2 * M**2 * K**2 * sigma**2
    if identical(derived, printed):
        return holds(True, "identity")
    numbers = {**DEFAULT, "eta": Fraction(1, 1000)}
    ratio = exact(derived / printed, numbers)
    return Finding(
        verdict="fails", evidence="the line after it has it right", witness={"derived/printed": float(ratio)}
    )


def _inverse_at_cap(topology: str, sampled: bool) -> tuple[Fraction, Fraction]:
    """1/c_2 and c_1 of the printed proof at the printed cap, L = 1; u and v at the cap are rational where needed."""
    if sampled:
        b = zhou2026.PARTIAL_RECURSION[topology]
        v = 1 / Fraction({"star-star": 10, "star-ring": 15, "ring-star": 15, "ring-ring": 20}[topology])
        c1 = 1 / (1 - b * v**2)
        return Fraction(1, 2) - 5 * v / 2 - b * c1 * v**2, c1
    u = 1 / Fraction({"star-star": 30, "star-ring": 60, "ring-star": 60, "ring-ring": 100}[topology])
    c1 = 1 / (1 - zhou2026.RECURSION[topology] * u)
    return Fraction(1, 2) - zhou2026.GRADIENT[topology] * c1 * u, c1


def _constant_at_cap(topology: str, sampled: bool) -> Finding:
    inverse, c1 = _inverse_at_cap(topology, sampled)
    if inverse <= 0:
        witness: dict[str, float | str] = {"1/c_2": float(inverse), "c_1": float(c1)}
        return Finding(verdict="fails", evidence="exact: the cap is the pole of c_2", witness=witness)
    largest = max(zhou2026.PARTIAL_MULTIPLIERS[topology]) * c1 / inverse
    return up_to(largest, f"c_1 = {c1}, c_2 = {1 / inverse}, exact")


def _constant_of_f3() -> Finding:
    v = Fraction(1, 45)
    c1 = 1 / (1 - 45 * v**2)
    inverse = Fraction(1, 2) - 5 * v / 2 - 45 * c1 * v**2
    return up_to(45 * c1 / inverse, f"c_1 = {c1}, c_2 = {1 / inverse}, exact")


def _own_at_cap(topology: str, sampled: bool) -> Finding:
    """The largest constant of the project's own theorem at the printed cap."""
    if sampled:
        v = 1 / Fraction({"star-star": 10, "star-ring": 15, "ring-star": 15, "ring-ring": 20}[topology])
        c1 = 1 / (1 - Fraction(5, 2) * v**2)
        c2 = 1 / (Fraction(1, 2) - Fraction(5, 2) * v - Fraction(5, 3) * c1 * v**2)
        largest = Fraction(5, 2) * c1 * c2
        limit = {"star-star": 12, "star-ring": 8, "ring-star": 8, "ring-ring": 7}[topology]
    else:
        u = 1 / Fraction({"star-star": 30, "star-ring": 60, "ring-star": 60, "ring-ring": 100}[topology])
        c1 = 1 / (1 - Fraction(5, 2) * u)
        c2 = 1 / (Fraction(1, 2) - Fraction(5, 6) * c1 * u)
        largest, limit = max(c2, Fraction(5, 4) * c1 * c2), 3
    if largest > limit:
        return Finding(verdict="fails", evidence="exact", witness={"constant": float(largest)})
    return up_to(limit, f"exact: {largest}")


# ---------------------------------------------------------------- f: dimensions
def _dimensions() -> Finding:
    bounds = (*zhou2026.fixed_order, *zhou2026.random_order, *zhou2026.partial_participation)
    for bound in bounds:
        for name, term in bound.terms.items():
            if term.dimension(DIMENSIONS) != (Fraction(2), Fraction(-2)):
                return Finding(verdict="fails", evidence="dimensions", witness={"bound": bound.id, "term": name})
    return holds(True, f"{len(bounds)} statements, every term (loss/length)^2")


def _cap_dimension(cap: Relation) -> Finding:
    sides = cap.lhs.dimension(DIMENSIONS), cap.rhs.dimension(DIMENSIONS)
    if sides[0] == sides[1]:
        return holds(True, "both sides are length^2/loss")
    return Finding(verdict="fails", evidence="dimensions", witness={"step": str(sides[0]), "cap": str(sides[1])})


def _pure_number(expression: Expr) -> Finding:
    try:
        found = expression.dimension(DIMENSIONS)
    except DimensionError as error:
        return Finding(verdict="fails", evidence="dimensions", witness={"formula": str(error)})
    if found == (Fraction(0), Fraction(0)):
        return holds(True, "a pure number")
    return Finding(verdict="fails", evidence="dimensions", witness={"(loss, length)": str(tuple(map(str, found)))})


def _without_step() -> Finding:
    """F.1, second line of the bound on (L/2)|dx|^2: (5/2) L |c_0 sum ...|^2 has the unit of L times a gradient."""
    unit = (L * sigma**2).dimension(DIMENSIONS)
    if unit == (Fraction(1), Fraction(0)):
        return holds(True, "a loss")
    return Finding(verdict="fails", evidence="dimensions", witness={"(loss, length)": str(tuple(map(str, unit)))})


# ---------------------------------------------------------------- g: limits
def quadratic(terms: Mapping[str, Expr], first: int = 2) -> Expr:
    """The coefficient of ``L^2 eta_eff^2``: the terms after the first ones, at L = eta_eff = 1."""
    one = {L: as_expr(1), eta_eff: as_expr(1)}
    return add(*(term.subs(one) for term in list(terms.values())[first:]))


def unit_constants(shuffled: bool) -> dict[str, Expr]:
    """The quadratic coefficients of Theorem 1, or of Appendix E, as printed: every constant 1."""
    return {t: quadratic(THEOREM_1[t] | (SHUFFLE[t] if shuffled else {})) for t in TOPOLOGIES}


def proof_constants(shuffled: bool) -> dict[str, Expr]:
    """The same with the multipliers of the proofs, at a vanishing step."""
    found = {}
    for t in TOPOLOGIES:
        theorem = list((THEOREM_1[t] | (SHUFFLE[t] if shuffled else {})).values())[2:]
        terms = {str(i): n * term for i, (n, term) in enumerate(zip(zhou2026.MULTIPLIERS[t], theorem, strict=True))}
        found[t] = quadratic(terms, 0)
    return found


ONE_GROUP = {G: as_expr(1), delta: as_expr(0)}
ONE_CLIENT = {M: as_expr(1), zeta: as_expr(0)}


def _one_group(shuffled: bool) -> Finding:
    q = {t: e.subs(ONE_GROUP) for t, e in unit_constants(shuffled).items()}
    good = identical(q["star-star"], q["ring-star"]) and identical(q["star-ring"], q["ring-ring"])
    return holds(good, "identity")


def _one_group_explicit(shuffled: bool) -> Finding:
    q = {t: e.subs(ONE_GROUP) for t, e in proof_constants(shuffled).items()}
    one = {sigma: as_expr(1), zeta: as_expr(1)}
    pairs = [(q[f"star-{low}"].subs(one), q[f"ring-{low}"].subs(one)) for low in ("star", "ring")]
    good = all(is_at_most(star, ring) and is_at_most(ring, 3 * star) for star, ring in pairs)
    return up_to(3, "certificate: between once and three times") if good else holds(False, "certificate")


def _one_client(shuffled: bool) -> Finding:
    q = {t: e.subs(ONE_CLIENT) for t, e in unit_constants(shuffled).items()}
    gaps = (q["star-star"] - q["star-ring"], q["ring-star"] - q["ring-ring"])
    good = identical(gaps[0], sigma**2 / (P**2 * K)) and identical(gaps[1], sigma**2 / (G**2 * P**2 * K))
    one = {sigma: as_expr(1), delta: as_expr(0)}
    good &= all(is_at_most(q[f"{top}-star"].subs(one), 2 * q[f"{top}-ring"].subs(one)) for top in ("star", "ring"))
    return up_to(2, "the difference by an identity, the factor by a certificate") if good else holds(False, "identity")


def _fedavg() -> Finding:
    flat = sigma**2 / K + zeta**2 + delta**2
    extra = unit_constants(False)["star-star"].subs({P: as_expr(1)}) - flat
    exact_sums = own_drift.mean_squares("star-star", "fixed")["noise_drift"].subs({P: as_expr(1)})
    good = identical(extra, sigma**2 / (M * K)) and identical(exact_sums, as_expr(0))
    return (
        up_to(2, "the extra term by an identity; the exact sums do not have it") if good else holds(False, "identity")
    )


def _minibatch() -> Finding:
    at = {P: as_expr(1), K: as_expr(1)}
    _, ours = own_drift.exact_drift("star-star", "fixed")
    none = identical(add(*ours.values()).subs(at) + sigma, sigma)
    printed = unit_constants(False)["star-star"].subs(at)
    left = identical(printed, sigma**2 * (1 + 1 / M) + zeta**2 + delta**2)
    return holds(none and left, "identities")


def _one_ring(shuffled: bool) -> Finding:
    """One ring of n clients, four times: as one group's clients or as groups of one client."""
    q, n = unit_constants(shuffled), K / K * S1
    one, none = as_expr(1), as_expr(0)
    as_clients = {G: one, M: n, P: one, delta: none}
    as_groups = {G: n, M: one, P: one, zeta: none, delta: zeta}
    wanted = q["star-ring"].subs(as_clients)
    others = (q["ring-ring"].subs(as_clients), q["ring-ring"].subs(as_groups))
    extra = q["ring-star"].subs(as_groups) - wanted
    good = all(identical(wanted, other) for other in others) and identical(extra, sigma**2 / (n**2 * K))
    return up_to(2, "identities; Ring-Star has one noise term more") if good else holds(False, "identities")


def _full_sampling(topology: str) -> Finding:
    full = {S1: G, S2: M}
    theorem = {name: term.subs(full) for name, term in THEOREM_2[topology].items()}
    appendix = THEOREM_1[topology] | SHUFFLE[topology]
    left_over = add(*theorem.values()) - add(*appendix.values())
    numbers = {**DEFAULT, "eta_eff": Fraction(1, 100)}
    gap = exact(left_over, numbers)
    if gap == 0:
        return holds(True, "at one point")
    witness: dict[str, float | str] = {"left over": float(gap), "of": float(exact(add(*appendix.values()), numbers))}
    return Finding(verdict="fails", evidence="both at S1 = G, S2 = M, exact", witness=witness)


def _one_client_steps(topology: str) -> Finding:
    """One client: P rounds of K steps are one round of P K steps."""
    q = unit_constants(False)[topology].subs(ONE_CLIENT)
    gap = q - q.subs({K: P * K, P: as_expr(1)})
    top, low = Topology.parse(topology).patterns
    if low.ordered:
        return holds(identical(gap + sigma, sigma), "identity")
    wanted = sigma**2 * (1 - P) / (P**2 * K) / (G**2 if top.ordered else 1)
    if not identical(gap + sigma, wanted + sigma):
        return holds(False, "identity")
    return up_to(2, "the printed bound grows by sigma^2 (P-1)/(P^2 K), over G^2 in a ring of groups")


def _misprinted(erratum: Erratum) -> Finding:
    """A constant as printed against the line before it."""
    assert isinstance(erratum.printed, Expr) and isinstance(erratum.proved, Expr)  # noqa: S101
    if identical(erratum.printed, erratum.proved):
        return holds(True, "identity")
    witness: dict[str, float | str] = {}
    numbers = {name: Fraction(value).limit_denominator(10**6) for name, value in erratum.witness.items()}
    for what, side in (("printed", erratum.printed), ("proved", erratum.proved)):
        witness[what] = float(exact(side, numbers))
    return Finding(verdict="fails", evidence="at the witness of the erratum", witness=witness)


def _of_rates() -> Iterator[Line]:
    yield line_at("a0", "Corollary 1", "a tuned step gives at most the sum of the images, twice", _tuning_lemma)
    yield line_at("a0.both-ways", "Corollary 1", "and not much less", _tuning_is_tight, "holds up to a constant")
    yield line_at("a0.cubic", "Theorem 1, at the best step", "the best step is the root of a cubic", _stationary)
    yield from _rates()
    for row in TABLE:
        wrong = row == "star-ring.F"
        claim = f"row {row} is the rate of its theorem"
        expected: Outcome = "fails" if wrong else "holds up to a constant"
        yield line_at(f"a2.{row}", "Table 5", claim, partial(_row, row), expected, TABLE_5.id if wrong else None)
    for t, n in {"star-star": 30, "star-ring": 60, "ring-star": 60}.items():
        claim = "at the cap, read as the root of a number times L, the first term is of the order L A/R"
        check = partial(_literal_cap, t, n)
        yield line_at(f"a3.{t}", "Theorem 1, Corollary 1", claim, check, "fails", f"zhou2026.A1.{t}")
    redundant = "the second-order noise over GPMK is at most 2/3 of the first-order term and 1/3 of L A/R"
    yield line_at("a4", "Theorem 1, eqs. (6), (7)", redundant, _redundant)


def _of_proofs() -> Iterator[Line]:
    yield line_at("c1", "D.1", "the inner product, by polarisation", _polarised)
    middle = "the middle line of the inner product, with c_0 inside it"
    yield line_at("c1.printed", "D.1", middle, _polarised_as_printed, "fails", "zhou2026.B4")
    for t in TOPOLOGIES:
        for shuffled in (False, True):
            name = f"c2.{'shuffle' if shuffled else 'full'}.{t}"
            claim = "Lemma 1 with the drift bound gives the last display before eta_eff is set"
            yield line_at(name, "D.2-D.5, E.1-E.4", claim, partial(_explicit, t, shuffled))
        claim = "Lemma 2 with the drift bound gives (8)-(13) with the constants of the proof"
        yield line_at(f"c3.{t}", "F.2-F.5", f"{claim}, corrected", partial(_explicit_partial, t, False))
        check = partial(_explicit_partial, t, True)
        yield line_at(f"c3.printed.{t}", "F.2-F.5", f"{claim}, as printed", check, "fails", "zhou2026.A4")
    yield line_at("c4", "D.5, E.4", "the noise part of the recursion follows", _missing_power, "fails", "zhou2026.B2")


def _of_caps() -> Iterator[Line]:
    for t in TOPOLOGIES:
        claim = "the constants of the printed proof are finite at the printed cap"
        check = partial(_constant_at_cap, t, False)
        yield line_at(f"c5.full.{t}", "Theorem 1", claim, check, "fails", f"zhou2026.A2.{t}")
        check = partial(_constant_at_cap, t, True)
        if t == "star-star":
            yield line_at(f"c5.partial.{t}", "Theorem 2", claim, check, "fails", "zhou2026.B27")
        else:
            yield line_at(f"c5.partial.{t}", "Theorem 2", claim, check, "holds up to a constant")
        for label, sampled in (("full", False), ("partial", True)):
            claim = "the project's own theorem has finite constants at the printed cap"
            check = partial(_own_at_cap, t, sampled)
            yield line_at(f"c5.own.{label}.{t}", "Theorems 1 and 2", claim, check, "holds up to a constant")
    claim = "the constants of the printed proof are finite at the appendix's cap 1/(45 L)"
    yield line_at("c5.partial.F.3", "F.3", claim, _constant_of_f3, "holds up to a constant")


def _of_units() -> Iterator[Line]:
    yield line_at("f1", "all statements", "every term has the unit of a squared gradient", _dimensions)
    for t, printed in literal_caps().items():
        wrong = printed.rhs.dimension(DIMENSIONS) != printed.lhs.dimension(DIMENSIONS)
        claim = "the printed cap has the unit of a step"
        erratum = f"zhou2026.A1.{t}" if t != "ring-ring" else None
        expected: Outcome = "fails" if erratum else "holds"
        assert wrong == (expected == "fails")  # noqa: S101 - the table of expectations itself
        yield line_at(f"f2.{t}", "Theorem 1", claim, partial(_cap_dimension, printed), expected, erratum)
        check = partial(_cap_dimension, zhou2026.PARTIAL_CAP[t])
        yield line_at(f"f2.partial.{t}", "Theorem 2", claim, check)
    unit = "c_1 is a pure number"
    printed_c1 = zhou2026.F5_CONSTANTS.printed
    assert isinstance(printed_c1, Expr)  # noqa: S101
    yield line_at("f4.c1", "F.5", unit, partial(_pure_number, printed_c1), "fails", "zhou2026.B7")
    recursive = 45 * eta**2 * S1**2 * P**2 * K**2
    unit = "what multiplies the drift on its own right-hand side is a pure number"
    yield line_at("f4.recursion", "F.4", unit, partial(_pure_number, recursive), "fails", "zhou2026.B17")
    second = "the second line of the bound on (L/2)|dx|^2 is a loss"
    yield line_at("f4.step", "F.1", second, _without_step, "fails", "zhou2026.B5")


def _of_special_cases() -> Iterator[Line]:
    for label, shuffled in (("full", False), ("shuffle", True)):
        some: Outcome = "holds up to a constant"
        same = "with one group a star and a ring of groups are one algorithm: unit constants"
        yield line_at(f"g1.group.{label}", "Theorem 1, Appendix E", same, partial(_one_group, shuffled))
        same = same.replace("unit constants", "the proofs' multipliers")
        check = partial(_one_group_explicit, shuffled)
        yield line_at(f"g1.group.explicit.{label}", "Appendices D and E", same, check, some)
        same = "with one client in each group a star and a ring of clients are one algorithm"
        yield line_at(f"g1.client.{label}", "Theorem 1", same, partial(_one_client, shuffled), some)
        same = "one ring of clients, written four ways"
        yield line_at(f"g4.{label}", "Theorem 1, Appendix E", same, partial(_one_ring, shuffled), some)
    flat = "with P = 1 Star-Star is FedAvg over all clients"
    yield line_at("g2", "Theorem 1, eq. (4)", flat, _fedavg, "holds up to a constant")
    flat = "with P = K = 1 Star-Star does not drift; the exact sums vanish and the printed q is what is said"
    yield line_at("g3", "D.2", flat, _minibatch)
    for t in TOPOLOGIES:
        claim = "with all groups and clients drawn, Theorem 2 is the random-order bound"
        check = partial(_full_sampling, t)
        yield line_at(f"g5.{t}", "Theorem 2, Appendix E", claim, check, "fails", "zhou2026.A6")
        claim = "with one client in each group, P rounds of K steps are one round of P K steps"
        repeats: Outcome = "holds" if Topology.parse(t).patterns[1].ordered else "holds up to a constant"
        yield line_at(f"g6.{t}", "Theorem 1", claim, partial(_one_client_steps, t), repeats)
    for slip in (zhou2026.E3_CONSTANT, zhou2026.F2_CONSTANT, zhou2026.F5_CONSTANTS):
        claim = "the constant is the one that the line before it needs"
        yield line_at(f"c2.constant.{slip.place[:3]}", slip.place, claim, partial(_misprinted, slip), "fails", slip.id)


def literal_caps() -> dict[str, Relation]:
    """The caps of Theorem 1 letter for letter."""
    return {
        "star-star": eta_eff <= 1 / sqrt(30 * L),
        "star-ring": eta_eff <= 1 / sqrt(60 * L),
        "ring-star": eta_eff <= 1 / sqrt(60 * L),
        "ring-ring": eta_eff <= 1 / (10 * L),
    }


LINES = (*_of_rates(), *_of_proofs(), *_of_caps(), *_of_units(), *_of_special_cases())
