"""The machine-checked derivations: every line as recorded, slips caught, and the drift against the algorithms."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction as Q
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest

from hflbounds import get
from hflbounds.audit.checks import Verdict, audit
from hflbounds.catalog import own_drift, zhou2026, zhou2026_lemmas
from hflbounds.core.bound import Bound
from hflbounds.core.expression import Expr
from hflbounds.core.quantities import S2, G, K, M, P, sigma
from hflbounds.derive import Line, Result, finite_sums, lines, sampled, zhou2026_theorems
from hflbounds.derive import zhou2026 as derived
from hflbounds.derive.proofs import exact
from hflbounds.registry import errata, families
from validation.reference import Settings, global_round

TOPOLOGIES = ("star-star", "star-ring", "ring-star", "ring-ring")
BY_ID = {line.id: line for line in lines()}
ERRATA = {erratum.id for erratum in errata()}


# ---------------------------------------------------------------- the lines
@pytest.mark.parametrize("line", lines(), ids=[line.id for line in lines()])
def test_every_line_is_found_as_recorded(line: Line, results: Mapping[str, Result]) -> None:
    finding = results[line.id].finding
    assert finding.verdict == line.expected, finding
    assert finding.evidence
    assert line.claim
    assert line.place
    assert line.erratum is None or line.erratum in ERRATA


def test_the_unified_analysis_is_covered_from_sums_to_crossovers() -> None:
    sections = {line.id.split(".")[1] for line in lines() if line.paper == "zhou2026"}
    assert sections >= {"a0", "a1", "a2", "a3", "a4", "b1", "b2", "b3", "b4", "b5", "b6"}
    assert sections >= {"c1", "c2", "c3", "c4", "c5", "f1", "f2", "f4", "g1", "g2", "g3", "g4", "g5", "g6"}
    assert sections >= {"h1", "h2", "h3"}


# ---------------------------------------------------------------- planted slips
SLIPS = {
    "mean_square": lambda n: n * (2 * n - 1) / 6,
    "mean_index": lambda n: n / 2,
    "mean_times_prefix": lambda n: (n**2 + 1) / 3,
    "heaviest_place": lambda n: (n**2 + n) / 2,
}


@pytest.mark.parametrize("name", SLIPS)
def test_a_slip_in_a_closed_form_is_caught_by_the_loops(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finite_sums, name, SLIPS[name])
    assert BY_ID["zhou2026.b3.ring-ring"].check().verdict == "fails"


@pytest.mark.parametrize(
    ("term", "kept"), [("noise_drift", Q(1, 9)), ("intra_drift", Q(1, 5)), ("inter_drift", Q(1, 9))]
)
def test_a_table_that_is_too_small_is_caught(term: str, kept: Q, monkeypatch: pytest.MonkeyPatch) -> None:
    table = zhou2026.DRIFT["ring-ring"]
    small = zhou2026.Drift(table.recursion, table.terms | {term: kept * table.terms[term]}, table.gradient)
    monkeypatch.setitem(zhou2026.DRIFT, "ring-ring", small)
    piece = {"noise_drift": "noise", "intra_drift": "intra", "inter_drift": "inter"}[term]
    line = BY_ID[f"zhou2026.b1.merged.drift.ring-ring.{piece}"]
    assert line.check().verdict == "cannot tell"


def test_a_slip_in_the_sampled_sums_is_caught_by_the_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    right = own_drift.mean_squares

    def without_sampling(topology: str, order: str) -> Mapping[str, Expr]:
        found = dict(right(topology, order))
        return found | {"sampled_intra_drift": found["sampled_intra_drift"] / S2}

    monkeypatch.setattr(own_drift, "mean_squares", without_sampling)
    assert BY_ID["hflbounds.sampled.common.ring-ring"].check().verdict == "fails"


def test_a_certificate_is_not_given_to_what_is_false() -> None:
    assert finite_sums.is_at_most(K * M, K * M * P)
    assert not finite_sums.is_at_most(K * M * P, K * M)
    assert not finite_sums.is_at_most(2 * K, K**2)
    assert finite_sums.is_at_most(1 / G, G / G)
    with pytest.raises(TypeError, match="one over a sum"):
        finite_sums.monomials(1 / (G + 1))
    with pytest.raises(TypeError, match="not a polynomial"):
        finite_sums.monomials(sigma)


def test_a_finding_that_holds_up_to_a_constant_names_one(results: Mapping[str, Result]) -> None:
    theorems = [line for line in zhou2026_theorems.LINES if line.expected == "holds up to a constant"]
    found = [results[line.id].finding for line in theorems]
    assert len(found) > 20
    assert all(finding.constant for finding in found)


# ---------------------------------------------------------------- bounds
MINE = [
    "zhou2026.lemma1",
    "zhou2026.lemma2",
    "zhou2026.lemma2-independent",
    "zhou2026.lemma2-printed",
    *(f"{paper}.{label}" for paper in ("zhou2026", "hflbounds") for label in zhou2026_lemmas.PLACES),
    "hflbounds.sharp-partial",
    "zhou2026.thm2",
    "zhou2026.cor2",
    "zhou2026.thm2-proof",
]


@pytest.mark.parametrize("family", MINE)
def test_the_audit_passes(family: str, verdicts_of: Callable[[Iterable[Bound]], list[Verdict]]) -> None:
    found = verdicts_of(families()[family])
    assert {verdict.subject for verdict in found} >= {bound.id for bound in families()[family]}
    assert [verdict for verdict in found if verdict.failure] == []


def test_a_wrong_drift_does_not_pass_the_audit() -> None:
    bound = get("hflbounds.drift.ring-star")
    wrong = {**bound.terms, "inter_drift": 2 * bound.terms["inter_drift"]}
    found = Bound(
        **{
            **{name: getattr(bound, name) for name in ("id", "title", "source", "bounds", "requires", "assumes")},
            **{name: getattr(bound, name) for name in ("status", "constants", "steps", "kind", "grows_with")},
            "terms": wrong,
        }
    )
    assert [v.check for v in audit([found], with_errata=False) if v.failure] == ["steps"]


def test_nothing_drifts_where_every_local_step_is_averaged_at_once() -> None:
    scenario = {"G": 7, "M": 5, "P": 1, "K": 1, "L": 2, "sigma": 1, "zeta": 1, "delta": 1, "grad": 3, "eta": 0.1}
    assert get("hflbounds.drift.star-star")(**scenario) == 0
    assert get("hflbounds.drift-partial.star-star")(**scenario, S1=3, S2=2) == 0
    assert get("zhou2026.drift.star-star")(**scenario) > 0


# ---------------------------------------------------------------- the weights, by running the algorithms
def reference_weights(s: Settings) -> dict[tuple[int, ...], np.ndarray]:
    zero = np.full((s.G, s.P, s.M, s.K), Q(0))
    rows: dict[tuple[int, ...], np.ndarray] = {}

    def unit(g: int, p: int, m: int, k: int, x: np.ndarray) -> np.ndarray:
        vector = zero.copy()
        vector[g, p, m, k] = Q(1)
        return vector

    global_round(zero, s, Q(-1), unit, visit=lambda g, p, m, k, x: rows.__setitem__((g, p, m, k), x))
    return rows


@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_chain_weights_are_those_of_the_algorithms(topology: Any) -> None:
    for sizes in product((1, 2, 3), (1, 2, 3), (1, 2), (1, 2)):
        s = Settings(topology, *sizes)
        found = finite_sums.chain_weights(topology, dict(zip("GMPK", sizes, strict=True)))
        for name, row in reference_weights(s).items():
            assert {i: row[i] for i in np.ndindex(row.shape) if row[i]} == found[name]


@pytest.mark.parametrize("topology", TOPOLOGIES)
@pytest.mark.parametrize("order", ["fixed", "random"])
def test_the_exact_drift_is_what_loops_give(topology: Any, order: str) -> None:
    """Worst cases by literal loops over the weights of the algorithms, and by prefix sums where a ring has one."""
    bound = get(f"hflbounds.{'drift' if order == 'fixed' else 'drift-shuffle'}.{topology}")
    for n_g, n_m, n_p, n_k in ((2, 3, 2, 2), (3, 2, 1, 3), (2, 2, 3, 1)):
        weights = reference_weights(Settings(topology, n_g, n_m, n_p, n_k))
        position = {name: row.sum() for name, row in weights.items()}
        length = max(position.values()) + 1
        eta = Q(1, 100)
        scale = 5 * eta**2 / (1 - Q(5, 2) * eta**2 * length * (length - 1))
        noise = sum((row**2).sum() for row in weights.values())
        gradient = sum(j**2 for j in position.values())
        over = 1 if order == "fixed" else n_m - 1
        intra = sum(k**2 for *_, k in weights)
        if topology.endswith("ring"):
            intra = n_g * n_p * n_k**3 * Q(sum(j * (n_m - j) for j in range(n_m)), over)
        inter = gradient
        if topology.startswith("ring"):
            over = 1 if order == "fixed" else n_g - 1
            inter = Q(len(weights), n_g) * Q(length, n_g) ** 2 * Q(sum(j * (n_g - j) for j in range(n_g)), over)
        scenario = {"G": n_g, "M": n_m, "P": n_p, "K": n_k, "L": 1, "eta": 0.01}
        ones = {"sigma": 1, "zeta": 1, "delta": 1, "grad": 1}
        split = bound.split(**scenario, **ones)
        by_letter = {
            "noise": sum(value for name, value in split.items() if "noise" in name),
            "intra": split["intra_drift"],
            "inter": split["inter_drift"],
            "gradient": split["gradient"],
        }
        loops = {"noise": noise, "intra": intra, "inter": inter, "gradient": gradient}
        for piece, value in by_letter.items():
            assert value == pytest.approx(float(scale * loops[piece]), rel=1e-12), piece


# ---------------------------------------------------------------- sampled rounds, every draw, exact
def sampled_rounds(law: str, s: Settings) -> Iterator[dict[str, Any]]:
    """Every draw of groups and clients, as arguments of a round."""
    orders = list(permutations(range(s.M)))
    for groups in permutations(range(s.G)):
        if law == "common":
            for order in orders:
                yield {"group_order": groups, "client_order": lambda g, p, order=order: order}
        else:
            for chosen in product(orders, repeat=s.G):
                yield {"group_order": groups, "client_order": lambda g, p, chosen=chosen: chosen[g]}


def play(s: Settings, law: str, tilts: np.ndarray, x: Q, eta: Q) -> tuple[Q, Q]:
    """Expected change of F and drift of one round on x^2/2 + tilt x, exactly, over every draw."""
    rise, drift, count = Q(0), Q(0), 0
    for draw in sampled_rounds(law, s):
        seen: list[Q] = []
        after = global_round(
            x,
            s,
            eta,
            lambda g, p, m, k, y: y + tilts[g][m],
            visit=lambda g, p, m, k, y, seen=seen: seen.append((y - x) ** 2),
            **draw,
        )
        rise += (after**2 - x**2) / 2
        drift += sum(seen)
        count += 1
    return rise / count, drift / count


def instance(n_g: int, n_m: int, spread: int, apart: int, alike: bool) -> tuple[np.ndarray, Q, Q]:
    """Tilts of sum zero, with zeta^2 and delta^2."""
    rng = np.random.default_rng(n_g + n_m)
    inside = np.array([[Q(int(v)) for v in row] for row in rng.integers(-5, 6, (n_g, n_m))])
    if alike:
        inside[:] = np.array([Q(m) for m in range(n_m)])
    inside = spread * (inside - inside.sum(axis=1, keepdims=True) / n_m)
    between = np.array([Q(g * g) for g in range(n_g)])
    between = apart * (between - between.sum() / n_g)
    return inside + between[:, None], (inside**2).sum() / (n_g * n_m), (between**2).sum() / n_g


ROUNDS = [  # G, M, P, K, S1, S2
    (2, 3, 1, 2, 1, 2),
    (3, 3, 1, 1, 2, 2),
    (2, 3, 2, 1, 2, 2),
]


@pytest.mark.parametrize(
    ("topology", "law"),
    [  # every topology by one law, and with -m slow by the other
        pytest.param(topology, law, marks=() if (i + j) % 2 else pytest.mark.slow)
        for i, topology in enumerate(TOPOLOGIES)
        for j, law in enumerate(("common", "independent"))
    ],
)
def test_lemma_2_and_the_sampled_drift_hold_exactly(topology: Any, law: str) -> None:
    lemma = get("zhou2026.lemma2" if law == "common" else "zhou2026.lemma2-independent").expression
    closest = Q(0)
    for sizes, alike, x in product(ROUNDS, (False, True), (Q(0), Q(3))):
        if law == "independent" and sizes[0] > 2:
            continue
        s = Settings(topology, *sizes)
        tilts, zeta2, delta2 = instance(s.G, s.M, 1, 1, alike)
        numbers = {"G": s.G, "M": s.M, "P": s.P, "K": s.K, "S1": s.S1, "S2": s.S2, "L": 1}
        chain = exact(own_drift.PARTIAL_CHAIN[topology], numbers)
        eta_eff = Q(1, 10)
        rise, drift = play(s, law, tilts, x, eta_eff / chain)
        known = numbers | {"eta_eff": eta_eff, "eta": eta_eff / chain}
        squares = {"sigma": Q(0), "zeta": zeta2, "delta": delta2, "grad": x**2, "E_r": drift}
        bound = in_squares(lemma, known, squares)
        assert rise <= bound
        ours = in_squares(get(f"hflbounds.drift-partial.{topology}").expression, known, squares)
        # The printed bound is infinite near this step, so it is held against the drift at a smaller one.
        assert drift <= ours
        closest = max(closest, drift / ours) if ours else closest
        smaller = known | {"eta": eta_eff / chain / 8}
        _, less = play(s, law, tilts, x, smaller["eta"])
        assert less <= in_squares(get(f"zhou2026.drift-partial.{topology}").expression, smaller, squares)
    assert closest > Q(1, 10)


def in_squares(expression: Expr, known: Mapping[str, Any], squares: Mapping[str, Q]) -> Q:
    """The value where only the squares of some letters are rational: every formula here is linear in them."""
    letters = ("sigma", "zeta", "delta", "grad")
    none = {**known, "E_r": squares["E_r"], **dict.fromkeys(letters, 0)}
    base = exact(expression, none)
    return base + sum((squares[n] * (exact(expression, none | {n: 1}) - base) for n in letters), Q(0))


def test_lemma_2_as_printed_is_violated_and_as_corrected_holds() -> None:
    """Two groups, all clients of a group alike, one group drawn: only the draw of groups moves anything."""
    s = Settings("star-ring", G=2, M=10, P=1, K=1, S1=1, S2=10)
    tilts = np.array([[Q(1)] * 10, [Q(-1)] * 10])
    eta = Q(1, 50)
    rise = drift = Q(0)
    for order in ((0, 1), (1, 0)):
        seen: list[Q] = []
        after = global_round(
            Q(0),
            s,
            eta,
            lambda g, p, m, k, y: y + tilts[g][m],
            group_order=order,
            visit=lambda g, p, m, k, y, seen=seen: seen.append(y**2),
        )
        rise += after**2 / 4
        drift += sum(seen) / 2
    known = {"G": 2, "M": 10, "P": 1, "K": 1, "S1": 1, "S2": 10, "L": 1, "eta_eff": 10 * eta}
    squares = {"sigma": Q(0), "zeta": Q(0), "delta": Q(1), "grad": Q(0), "E_r": drift}
    values = {n: in_squares(get(f"zhou2026.{n}").expression, known, squares) for n in ("lemma2", "lemma2-printed")}
    assert values["lemma2-printed"] < rise <= values["lemma2"]
    assert rise <= in_squares(get("zhou2026.lemma2-independent").expression, known, squares)


def test_lemma_2_as_printed_is_violated_by_clients_alike_in_all_groups() -> None:
    """A common draw of one client: the other exponent, zeta^2 over S1 where the draw varies by zeta^2 over S2."""
    s = Settings("ring-star", G=10, M=2, P=1, K=1, S1=10, S2=1)
    eta = Q(1, 50)
    rise = drift = Q(0)
    for order in ((0, 1), (1, 0)):
        seen: list[Q] = []
        after = global_round(
            Q(0),
            s,
            eta,
            lambda g, p, m, k, y: y + (1 if m == 0 else -1),
            client_order=lambda g, p, order=order: order,
            visit=lambda g, p, m, k, y, seen=seen: seen.append(y**2),
        )
        rise += after**2 / 4
        drift += sum(seen) / 2
    known = {"G": 10, "M": 2, "P": 1, "K": 1, "S1": 10, "S2": 1, "L": 1, "eta_eff": 10 * eta}
    squares = {"sigma": Q(0), "zeta": Q(1), "delta": Q(0), "grad": Q(0), "E_r": drift}
    assert rise > in_squares(get("zhou2026.lemma2-printed").expression, known, squares)
    assert rise > in_squares(get("zhou2026.lemma2-independent").expression, known, squares)  # the draw is not
    assert rise <= in_squares(get("zhou2026.lemma2").expression, known, squares)


def test_the_draws_are_all_there() -> None:
    case = (3, 3, 2, 2, 1, 2)
    assert len(list(sampled.draws("common", case))) == 6 * 6
    assert len(list(sampled.draws("independent", case))) == 6 * 36
    assert derived.holds(truth=True, evidence="because").verdict == "holds"


@pytest.mark.parametrize(
    ("topology", "law"),
    [  # every topology by one law
        pytest.param(topology, law, marks=pytest.mark.slow if (i + j) % 2 else ())
        for i, topology in enumerate(TOPOLOGIES)
        for j, law in enumerate(("common", "independent"))
    ],
)
def test_the_sampled_theorem_holds_over_many_rounds(topology: Any, law: str) -> None:
    """On x^2/2 + tilt x a round is x -> a x + b with b by the draw, so E x and E x^2 follow exactly from every draw."""
    bound = get(f"hflbounds.sharp-partial.{topology}")
    largest = 0.0
    for sizes, alike, v, x0 in product(ROUNDS, (False, True), (Q(1, 20), Q(1, 8)), (Q(0), Q(1), Q(20))):
        if law == "independent" and sizes[0] > 2:
            continue
        s = Settings(topology, *sizes)
        tilts, zeta2, delta2 = instance(s.G, s.M, 1, 1, alike)
        numbers = {"G": s.G, "M": s.M, "P": s.P, "K": s.K, "S1": s.S1, "S2": s.S2, "L": 1}
        eta = v / exact(own_drift.PARTIAL_CHAIN[topology], numbers)
        shifts, slope = [], Q(0)
        for draw in sampled_rounds(law, s):
            ends = [
                global_round(x, s, eta, lambda g, p, m, k, y, tilts=tilts: y + tilts[g][m], **draw)
                for x in (Q(0), Q(1))
            ]
            shifts.append(ends[0])
            slope = ends[1] - ends[0]
        shift, square = (float(sum(b**n for b in shifts) / len(shifts)) for n in (1, 2))
        mean, second, total = float(x0), float(x0) ** 2, 0.0
        scales = {"sigma": 0.0, "zeta": float(zeta2) ** 0.5, "delta": float(delta2) ** 0.5}
        for rounds in range(1, 41):
            total += second
            a = float(slope)
            mean, second = a * mean + shift, a**2 * second + 2 * a * shift * mean + square
            value = bound(**numbers, **scales, eta_eff=float(v), A=max(float(x0) ** 2 / 2, 1e-12), R=rounds)
            largest = max(largest, total / rounds / value)
    assert 0.05 < largest < 1
