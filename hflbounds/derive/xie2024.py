"""HGA-FL, line by line: (38)-(41) to (63), the conditions (64)-(68), Theorem 1 and Corollary 1."""

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from math import prod

import sympy as sp

from hflbounds.audit.checks import at_witness
from hflbounds.catalog import xie2024
from hflbounds.core.bound import Erratum
from hflbounds.core.expression import Expr, add
from hflbounds.core.quantities import Gamma_max, K_buf, L, M, R_sub, eta_g, zeta_max
from hflbounds.derive import Finding, Line, Outcome
from hflbounds.derive.proofs import exact, first_violation, identical, nonnegative
from hflbounds.errata.xie2024 import ERRATA

KNOWN: dict[str, Erratum] = {erratum.id: erratum for erratum in ERRATA}
eta_hat, S = xie2024.eta_hat, xie2024.S


def _proved(truth: bool, evidence: str) -> Finding:
    return Finding(verdict="holds" if truth else "cannot tell", evidence=evidence)


def _refuted(erratum: str) -> Callable[[], Finding]:
    """The line fails as the erratum's own numbers say; where they do not, nothing is known."""

    def check() -> Finding:
        known = KNOWN[erratum]
        if known.demonstrate is not None:
            shown = known.demonstrate()
            numbers: dict[str, float | str] = {"printed": shown.printed, "found": shown.found}
            fails, evidence = shown.contradicts, shown.instance
        else:
            assert not isinstance(known.printed, str) and not isinstance(known.proved, str)  # noqa: S101
            printed, proved = (float(at_witness(side, known.witness)) for side in (known.printed, known.proved))
            numbers = {"printed": printed, "proved": proved, **known.witness}
            fails, evidence = printed != proved, "the two sides at a witness"
        verdict: Outcome = "fails" if fails else "cannot tell"
        return Finding(verdict=verdict, evidence=evidence, witness=numbers if fails else {})

    return check


def _same(left: Expr, right: Expr) -> bool:
    """Equal as functions of positive numbers, roots of sums included."""
    positive = {symbol: sp.Symbol(symbol.name, positive=True) for symbol in (left - right).to_sympy().free_symbols}
    difference = (left - right).to_sympy().subs(positive)
    return bool(sp.cancel(difference) == 0 or sp.simplify(difference) == 0)  # the first takes a tenth of the time


def _one_buffer() -> Finding:
    """Lemma 1 is linear in the squared gaps, so it is enough that one gap alone satisfies it, inside or outside."""
    cases = ((k, m, inside) for m in range(1, 41) for k in range(1, m + 1) for inside in (0, 1))
    truth = all(Fraction(inside, k) <= Fraction(m, k) * Fraction(1, m) for k, m, inside in cases)
    return _proved(truth, "one gap at a time, M <= 40")


def _drift() -> Finding:
    """Each step multiplies by at most 1 + 1/(R-1) and adds q; R - 1 steps make less than 5 R q."""
    n = sp.Symbol("n", positive=True)  # n = R - 1
    # 1/(2R-1) + 6 R (L eta_s)^2 <= 1/(R-1), where (R L eta_s)^2 <= 1/64: times the denominators.
    gap = sp.cancel((1 / n - 1 / (2 * n + 1) - sp.Rational(6, 64) / (n + 1)) * n * (2 * n + 1) * (n + 1))
    sums = (n_ * ((1 + Fraction(1, n_)) ** n_ - 1) <= 5 * (n_ + 1) for n_ in range(1, 200))
    truth = nonnegative(gap, [n]) and all(sums)  # and (1 + 1/n)^n < 3 for every n
    return _proved(truth, "sign certificate for one step; the sum exactly for R <= 200, and (1 + 1/n)^n < 3 beyond")


def _corrected(printed: xie2024.Terms, derived: xie2024.Terms) -> Callable[[], Finding]:
    return lambda: _proved(
        identical(add(*printed.values()), add(*derived.values())),
        "identity: three parts of each gradient, and the drift",
    )


def _rule() -> Finding:
    """With D = sum Delta_j and v = (1/K) sum (c - Delta_j) = c - D/K."""
    d, c, k = sp.symbols("d c k", positive=True)
    return _proved(sp.expand(d / k - (c - d / k) - (2 * d / k - c)) == 0, "identity")


def _polarization() -> Finding:
    x, y = sp.symbols("x y", real=True)
    return _proved(sp.expand(-x * y - (-(x**2) - y**2 + (x - y) ** 2) / 2) == 0, "identity")


def _second_term() -> Finding:
    """w^{t+1} - w^t = -eta_g eta_s R V with the V of (50)."""
    server, rate, rounds, smooth, v = sp.symbols("eta_g eta_s R L v", positive=True)
    return _proved(
        sp.expand(smooth * (server * rate * rounds * v) ** 2 / 2 - smooth * server**2 * rate**2 * rounds**2 / 2 * v**2)
        == 0,
        "identity",
    )


def _spread() -> Finding:
    """4 |mean of K gaps|^2, largest where the gaps are equal inside and outside the buffer."""
    grid = [(k, m) for m in range(1, 13) for k in range(1, m + 1)]
    inside = all(Fraction(4 * (m - k), k) <= Fraction(k + 4 * m, k) for k, m in grid)
    # gaps 1 in the buffer and -K/(M-K) outside: their mean square is K/(M-K), their buffer's mean 1
    sharp = all(Fraction(k) + (m - k) * Fraction(k, m - k) ** 2 == m * Fraction(k, m - k) for k, m in grid if k < m)
    return _proved(inside and sharp, "the first vector is zero; extreme gaps exactly for M <= 12")


def _collected() -> Finding:
    """(61) with (55), (40) and (41): both delays share one bracket, and both sums of gradients another."""
    a = eta_g * eta_hat * R_sub * L**2
    delays = 8 * a * Gamma_max**2 + 2 * a * zeta_max**2
    move = (4 / K_buf) * (3 * K_buf * R_sub**2) + (1 / M) * (3 * M * R_sub**2)
    shown = 2 * a * (4 * Gamma_max**2 + zeta_max**2)
    truth = _same(delays, shown) and _same(move, 5 * 3 * R_sub**2)
    return _proved(truth, "identity in the brackets of (62)")


def _coefficient() -> Finding:
    printed = add(*xie2024.coefficient.values())
    a = eta_g * eta_hat
    collected = -a * R_sub / 2 + (8 + 2) * a * R_sub * L**2 * (30 * R_sub**2 * eta_hat**2)
    collected = collected + xie2024.step_weight * (90 * R_sub**4 * L**2 * eta_hat**2 + 3 * R_sub**2) * (4 + 1)
    return _proved(_same(printed, collected), "identity")


def _weight() -> Finding:
    """(64) times 2R/(eta_g eta_hat) is 4 S y^2 + y - 1."""
    y = R_sub * L * eta_g * eta_hat
    return _proved(_same(xie2024.step_weight * 2 * R_sub / (eta_g * eta_hat), 4 * S * y**2 + y - 1), "identity")


def _cap() -> Finding:
    """(65) over eta_g eta_hat R is 300 u <= 1/2 with u = (R L eta_hat)^2."""
    u = (R_sub * L * eta_hat) ** 2
    drift = xie2024.coefficient["drift"] / (eta_g * eta_hat * R_sub)
    return _proved(_same(drift, 300 * u) and Fraction(1, 2) / 300 == Fraction(1, 600), "identity")


def _alpha() -> Finding:
    """eta_hat^2 <= 1/(600 R^2 L^2) is alpha^2 >= 600 R^2 L^2 (2 + 2L^2)."""
    lowest = xie2024.conditions[0].rhs
    truth = _same(lowest**2, 600 * R_sub**2 * L**2 * (2 + 2 * L**2))
    return _proved(truth and 600 * 2 >= 20**2 and 600 >= 64, "identity; also alpha >= 20L and eta_hat <= 1/(8RL)")


def _server_rate() -> Finding:
    """At eta_hat^2 = 1/(600 R^2 L^2), y = eta_g/(10 sqrt 6) is the positive root of 4 S y^2 + y = 1."""
    z = sp.Symbol("z", positive=True)  # sqrt(16 S + 1), at least 1
    delays = (z**2 - 1) / 16
    y = 20 * sp.sqrt(6) / (z + 1) / (10 * sp.sqrt(6))
    printed = 5 * sp.sqrt(6) * (z - 1) / (4 * delays)
    truth = sp.simplify(4 * delays * y**2 + y - 1) == 0 and sp.simplify(printed - 20 * sp.sqrt(6) / (z + 1)) == 0
    points = ({"Gamma_max": g, "zeta_max": c} for g, c in ((0, 0), (1, 2), (5, 8)))
    ours = all(
        abs(xie2024.largest_eta_g.value(p) - float(20 * 6**0.5 / (1 + (16 * float(exact(S, p)) + 1) ** 0.5))) < 1e-12
        for p in points
    )
    return _proved(bool(truth) and ours, "identity in the root of 16 S + 1, finite at S = 0")


def _terms() -> Finding:
    derived = xie2024.thm1.steps[0].value
    assert not isinstance(derived, Expr)  # noqa: S101
    truth = all(_same(derived[name], term) for name, term in xie2024.theorem.items())
    return _proved(truth, "identity, term by term")


def _substituted() -> Finding:
    derived = xie2024.cor1.steps[0].value
    assert not isinstance(derived, Expr)  # noqa: S101
    truth = all(_same(derived[name], term) for name, term in xie2024.corollary.items())
    return _proved(truth, "identity, term by term")


def _kept() -> Finding:
    """The five terms that (71) keeps are those of (70), the first one halved."""
    ratios = {name: _ratio(xie2024.corollary[name], term) for name, term in xie2024.order.items()}
    constant = prod(ratios.values())
    verdict: Outcome = "holds up to a constant" if constant == 2 else "cannot tell"
    return Finding(verdict=verdict, evidence="identity, term by term", constant="2, on the first term")


def _ratio(above: Expr, below: Expr) -> Fraction:
    return next((Fraction(n) for n in (1, 2) if _same(above, n * below)), Fraction(0))


def _delayed() -> Finding:
    """``|sum of n moves|^2 <= n sum |move|^2``, and fewer moves than the largest delay."""
    moves = (Fraction(-2), Fraction(0), Fraction(1), Fraction(3, 2))

    def holds(n: int, late: int, a: Fraction, b: Fraction) -> bool:
        chain = [a, b, a + b, Fraction(1)][:n]
        return n > late or sum(chain) ** 2 <= late * sum(move**2 for move in chain)

    grids: dict[str, list[int | Fraction]] = {"n": [1, 2, 3, 4], "late": [1, 2, 3, 4], "a": [*moves], "b": [*moves]}
    truth = first_violation(holds, grids) is None
    equal = all((n * step) ** 2 == n * (n * step**2) for n in range(1, 9) for step in moves)
    return _proved(truth and equal, "up to four moves, exactly; equality where all are alike and as late as can be")


def _of_averages() -> Finding:
    """The mean of N_j independent errors has at most the largest of their variances: already the mean is."""
    values = [Fraction(n, 4) for n in range(6)]
    truth = all(sum(three) / 9 <= sum(three) / 3 <= max(three) for three in product(values, repeat=3))
    return _proved(truth, "three clients, variances on a grid; the printed middle line is N_j times the variance")


def _line(name: str, place: str, claim: str, check: Callable[[], Finding], expected: Outcome = "holds") -> Line:
    return Line(id=f"xie2024.{name}", place=place, claim=claim, check=check, expected=expected)


def _wrong(name: str, place: str, claim: str, erratum: str) -> Line:
    known = f"xie2024.{erratum}"
    return Line(id=f"xie2024.{name}", place=place, claim=claim, check=_refuted(known), expected="fails", erratum=known)


_from_buffer = xie2024.eq40_corrected.steps[0].value
_from_cache = xie2024.eq41_corrected.steps[0].value
assert not isinstance(_from_buffer, Expr) and not isinstance(_from_cache, Expr)  # noqa: S101
LINES = (
    _wrong("B.states", "(31)", r"$\mathbb E\|h-h'\|^2\le L^2\mathbb E\|\gamma-\gamma'\|^2$", "G14"),
    _wrong("B.prop1", "(36)", r"$\eta_s^2\le(2+2L^2)/\alpha^2$ at every step", "G21"),
    _wrong("B.units", "(30), (36)", "the factor 2 + 2L^2 for 2 + 2L^2/alpha^2", "G15"),
    _line("C.lemma1", "(37)", "the gaps of a buffer are at most M/K times those of all, in mean square", _one_buffer),
    _line("C.buffer-drift", "(38)", "the drift of the buffer, with one constant per sub-center", _drift),
    _line("C.cache-drift", "(39)", "the drift of the cache, with one constant per sub-center", _drift),
    _wrong("C.buffer-gradients", "(40)", "the summed gradients of the buffer, with L^3", "G2"),
    _line(
        "C.buffer-gradients-corrected",
        "(40)",
        "the same with L^2",
        _corrected(dict(xie2024.eq40_corrected.terms), dict(_from_buffer)),
    ),
    _wrong("C.cache-gradients", "(41)", "the summed gradients of the cache, with L^3", "G2"),
    _line(
        "C.cache-gradients-corrected",
        "(41)",
        "the same with L^2",
        _corrected(dict(xie2024.eq41_corrected.terms), dict(_from_cache)),
    ),
    _line("C.stale", "(42), (44), (45)", "the square of a sum of moves, by their number and their squares", _delayed),
    _line("F.variance", "(72)", "averages over clients keep the largest variance", _of_averages),
    _wrong("D.updates", "(47)", "the updates are sums of exact gradients", "G5"),
    _line("D.rule", "(48)", r"$\frac1K\Delta-v=\frac2K\sum_j\Delta_j-c$", _rule),
    _line("D.polarization", "(49)-(51)", r"$-\langle x,y\rangle=\frac12(-\|x\|^2-\|y\|^2+\|x-y\|^2)$", _polarization),
    _wrong("D.direction", "(52), and T_2 of (47)", "the weight (K+1)/(KR) of the buffer", "G8"),
    _line("D.second-term", "(54)", r"$T_2=\frac{L\eta_g^2\eta_s^2R^2}2\|V\|^2$ with the V of (50)", _second_term),
    _wrong("D.step", "(55)", r"$\|2a-b\|^2\le4\|a\|^2+\|b\|^2$", "G16"),
    _wrong("D.negative", "(56)", "an upper bound on a square under a negative factor", "G3"),
    _wrong("D.four-terms", "(57), (58)", "four terms of weights 2, 1, 2, 1 under a factor 2", "G16"),
    _line("D.spread", "(60)", r"$T_3\le\frac{K+4M}K\sigma_g^2$", _spread),
    _wrong("D.upper-rate", "(61) to (62)", "eta_hat for eta_s in the negative term", "G10"),
    _wrong("D.delayed-sums", "before (62)", "delayed sums of squared gradients are at most the sum itself", "G17"),
    _line("D.collected", "(62)", "the brackets of (62) from (61) with (55), (40) and (41)", _collected),
    _line("D.coefficient", "(63)", "what multiplies the squared gradients in (62)", _coefficient),
    _line("D.weight", "(64)", r"$y+4\mathcal Sy^2\le1$, with $y=RL\eta_g\hat\eta_s$", _weight),
    _line("D.cap", "(65), (66)", r"$\hat\eta_s^2\le1/(600R^2L^2)$", _cap),
    _line("D.alpha", "(67)", r"$\alpha\ge10\sqrt{6(2+2L^2)}LR$", _alpha),
    _line("D.server-rate", "(68)", r"$\eta_g\le5\sqrt6(\sqrt{16\mathcal S+1}-1)/(4\mathcal S)$", _server_rate),
    _wrong("D.division", "(62) to (69)", "(67) and (68) leave half of eta_g eta_hat R", "G11"),
    _wrong("D.one-letter", "(62) to (69)", "B sigma_s^2 for noise and heterogeneity of the drift", "G9"),
    _line("D.terms", "(69)", "its terms, from (62) without (60) and with one letter for two variances", _terms),
    _wrong("D.sign", "(69)", "an upper bound on a mean of squares, for any L", "G1"),
    _wrong("D.theorem", "(69)", "Theorem 1", "G4"),
    _line("D.substituted", "(70)", r"(69) at $\eta_g=1/\sqrt T$ and $\hat\eta_s=\sqrt{K/R}$", _substituted),
    _wrong("D.corollary", "Corollary 1", "its alpha meets (67)", "G12"),
    _line("D.kept", "(71)", "the five terms it keeps are those of (70)", _kept, "holds up to a constant"),
    _wrong("D.rate", "(71)", "the order of (70)", "G13"),
)
