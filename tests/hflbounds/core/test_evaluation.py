"""Numbers in, numbers out: what is refused and how it is said, and every shape an array can have.

Expected values come from the second encoding in exact fractions, or are typed by hand.
"""

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import second_encoding as second
from numpy.testing import assert_allclose

from hflbounds import Bound, ConditionError, DomainError, HflBoundsError, catalogue, get
from hflbounds.core.evaluation import BLOCK
from hflbounds.core.quantities import ABOUT

BOUNDS = tuple(b for b in catalogue().values() if b.id in second.BOUND_IDS)
EXPLICIT = tuple(b for b in BOUNDS if b.constants == "explicit")
THM1, THM2, SHARP = get("zhou2026.thm1.ring-star"), get("zhou2026.thm2.star-ring"), get("hflbounds.sharp.ring-ring")
COR1 = get("zhou2026.cor1.star-star")
COUNTS = ("G", "M", "P", "K", "R", "S1", "S2")
POSITIVE = ("L", "A", "eta_eff")
NONNEGATIVE = ("sigma", "zeta", "delta")
POINT = {"G": 8, "M": 20, "P": 3, "K": 5, "R": 700, "L": 3.5, "A": 0.625, "sigma": 1.5, "zeta": 0.75, "delta": 0.5}
POINT |= {"S1": 3, "S2": 7, "eta_eff": 0.0078125}


def expected(bound: Bound, **values: Any) -> float:
    """The second encoding in exact fractions, or mpmath where there are roots, rounded once."""
    return float(second.value(bound.id, **{name: Fraction(number) for name, number in values.items()}))


def named(bounds: tuple[Bound, ...], every: int = 1) -> Any:
    """All of them; of four topologies of a family one or two in every run, where some are left to slower ones."""
    marked = ((bound, pytest.mark.slow if i % every else ()) for i, bound in enumerate(bounds))
    return pytest.mark.parametrize("bound", [pytest.param(bound, marks=mark, id=bound.id) for bound, mark in marked])


def changed(**values: Any) -> dict[str, Any]:
    return POINT | values


def without(*names: str) -> dict[str, Any]:
    return {name: number for name, number in POINT.items() if name not in names}


# ------------------------------------------------------------------------------------------ keywords


@pytest.mark.parametrize(
    ("misspelt", "meant"),
    [
        ("sgima", "sigma"),
        ("Sigma", "sigma"),
        ("eta_ef", "eta_eff"),
        ("detla", "delta"),
        ("S_1", "S1"),
        ("zetta", "zeta"),
    ],
)
def test_unknown_names_get_a_suggestion(misspelt: str, meant: str) -> None:
    for use in (THM1, THM1.split, THM1.applies, THM1.tuned, THM1.violations, THM1.chain_length, THM1.raw_step):
        with pytest.raises(TypeError, match=rf"zhou2026\.thm1\.ring-star.*'{misspelt}'; did you mean {meant}\?"):
            use(**POINT, **{misspelt: 1.0})
    with pytest.raises(TypeError, match=f"did you mean {meant}"):
        THM1.rounds_to(0.1, **without("R"), **{misspelt: 1.0})


def test_names_far_from_every_quantity_get_the_list() -> None:
    with pytest.raises(TypeError, match="it takes G, M, P, K, R, L, A, sigma, zeta, delta, eta_eff"):
        THM1(**POINT, temperature_of_the_room=1.0)


def test_missing_names_come_with_their_meanings() -> None:
    with pytest.raises(TypeError) as caught:
        THM1(**without("zeta", "K"))
    message = str(caught.value)
    assert message.startswith("zhou2026.thm1.ring-star also needs ")
    for name in ("zeta", "K"):
        assert f"{name} ({ABOUT[name].meaning})" in message
    assert "sigma" not in message
    with pytest.raises(TypeError, match=r"also needs R \("):
        THM1.tuned(**without("R"))
    with pytest.raises(TypeError, match=r"also needs L \("):
        THM1.rounds_to(0.1, **without("R", "L"))
    with pytest.raises(TypeError, match=r"also needs eta_eff \("):
        THM1.raw_step(**without("eta_eff"))
    with pytest.raises(TypeError, match="also needs"):
        THM1()


@named(BOUNDS)
def test_quantities_of_others_are_ignored(bound: Bound) -> None:
    """One scenario serves every bound: numbers that this one does not use may be anything."""
    others = {name: "not even a number" for name in (*POINT, "eta") if name not in bound.needs}
    # S1 and S2 are held against G and M where these are given
    others = {name: value for name, value in others.items() if not (bound.family.startswith("zhou2026.thm2"))}
    others = {name: value for name, value in others.items() if not (bound.family.startswith("zhou2026.cor2"))}
    assert bound(**POINT | others) == bound(**{name: POINT[name] for name in bound.needs})


# ------------------------------------------------------------------------------------------- domains

NEVER = [True, False, np.True_, "1", b"1", None, 1j, Fraction(1, 2), math.nan, math.inf, -math.inf, -1, -0.5]
NEVER += [np.float64("nan"), 10**400, -(10**400), Ellipsis, {}, [None], [True], ["1"], [1, "1"], [math.nan]]
BAD = [(name, value) for name in (*COUNTS, *POSITIVE, *NONNEGATIVE) for value in NEVER]
BAD += [(name, value) for name in (*COUNTS, *POSITIVE) for value in (0, 0.0, -0.0, [0.0], np.zeros((2, 2)))]
BAD += [(name, value) for name in COUNTS for value in (2.5, 0.999999, 1e-320, [1, 1.5], np.array([[3.0], [np.pi]]))]


@pytest.mark.parametrize(("name", "value"), BAD, ids=lambda x: repr(x)[:30])
def test_what_a_quantity_cannot_be_is_refused_by_name(name: str, value: Any) -> None:
    bound = THM2 if name in ("S1", "S2") else THM1
    for use in (bound, bound.split, bound.applies):
        with pytest.raises(DomainError) as caught:
            use(**changed(**{name: value}))
        assert isinstance(caught.value, HflBoundsError)
        assert isinstance(caught.value, ValueError)
        message = str(caught.value)
        assert message.startswith(f"{bound.id}: {name} ({ABOUT[name].meaning}) must be ")
        assert len(message) < 300
    assert bound.violations(**changed(**{name: value})) == [message]
    if name != "eta_eff":
        with pytest.raises(DomainError, match=rf"{name} \("):
            bound.tuned(**changed(**{name: value}))
    if name not in ("eta_eff", "R"):
        with pytest.raises(DomainError, match=rf"{name} \("):
            bound.rounds_to(0.1, **without("R") | {name: value})


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("G", 0, "a whole number, at least 1, not 0"),
        ("K", 2.5, "a whole number, at least 1, not 2.5"),
        ("L", 0.0, "a finite number above 0, not 0.0"),
        ("A", math.inf, "a finite number above 0, not inf"),
        ("sigma", -1e-9, "a finite number, at least 0, not -1e-09"),
        ("zeta", math.nan, "a finite number, at least 0, not nan"),
        ("delta", "0.5", "a finite number, at least 0, not '0.5'"),
        ("P", True, "a whole number, at least 1, not True"),
        ("R", 10**400, "a whole number, at least 1, not a number beyond 1e308"),
        ("M", [4, 9, 2.5, 7], "a whole number, at least 1, not 2.5"),
        ("zeta", [[0.0, 1.0], [-3.0, math.nan]], "a finite number, at least 0, not -3.0"),
        ("sigma", [1.0, math.inf], "a finite number, at least 0, not inf"),
    ],
    ids=str,
)
def test_the_words_of_a_refusal(name: str, value: Any, words: str) -> None:
    with pytest.raises(DomainError) as caught:
        THM1(**changed(**{name: value}))
    assert str(caught.value) == f"zhou2026.thm1.ring-star: {name} ({ABOUT[name].meaning}) must be {words}"


@pytest.mark.parametrize("size", [2, BLOCK, BLOCK + 1, 3 * BLOCK + 7])
@pytest.mark.parametrize("place", ["first", "last"])
def test_one_bad_number_among_many_is_found(size: int, place: str) -> None:
    at = 0 if place == "first" else size - 1
    for name, wrong in (("zeta", -2.0), ("zeta", math.nan), ("K", 7.25), ("L", 0.0), ("A", math.inf)):
        values = np.full(size, 4.0)
        values[at] = wrong
        with pytest.raises(DomainError, match=rf"{name} \(.*, not {wrong!r}$"):
            THM1(**changed(**{name: values}))


def test_zero_deviations_are_numbers() -> None:
    for zero in (0, 0.0, -0.0, np.float32(0)):
        values = changed(sigma=zero, zeta=zero, delta=zero)
        assert THM1(**values) == 0.625 / (0.0078125 * 700)  # A/(eta_eff R) alone
    assert THM1(**changed(sigma=5e-324)) > 0


@pytest.mark.parametrize(
    "rounds", [2**53 + 2, 10**18, 10**19, 2**64, 10**20, 10**30, 10**300], ids=lambda n: f"{n:.3g}"
)
def test_whole_numbers_of_any_size_are_numbers(rounds: int) -> None:
    """A Python int is as good as the float next to it."""
    given, wanted = THM1(**changed(R=rounds)), expected(THM1, **changed(R=rounds))
    assert given == pytest.approx(wanted, rel=1e-14)
    several = THM1(**changed(R=[rounds, rounds]))
    assert several.tolist() == pytest.approx([wanted] * 2, rel=1e-14)


# ------------------------------------------------------------------------------ one quantity in another


def test_no_more_can_be_sampled_than_there_are() -> None:
    with pytest.raises(DomainError, match=r"S1 \(groups sampled.*may not exceed G, but S1 = 9 and G = 8"):
        THM2(**changed(S1=9))
    with pytest.raises(DomainError, match=r"S2 \(clients sampled.*may not exceed M, but S2 = 21 and M = 20"):
        THM2.tuned(**changed(S2=21))
    with pytest.raises(DomainError, match="S1 = 9 and G = 8"):
        THM2.rounds_to(0.1, **without("R") | {"S1": 9})
    with pytest.raises(DomainError, match="S1 = 9 and G = 8"):
        THM2.applies(**changed(S1=9))
    assert "S1 = 9 and G = 8" in THM2.violations(**changed(S1=9))[0]
    assert THM2(**changed(S1=8, S2=20)) == pytest.approx(expected(THM2, **changed(S1=8, S2=20)), rel=1e-14)
    # Without G there is nothing to hold S1 against.
    assert THM2(**without("G", "M") | {"S1": 9}) == pytest.approx(expected(THM2, **changed(S1=9)), rel=1e-14)
    assert THM1(**changed(S1=9)) == THM1(**POINT)  # full participation samples nothing


def test_a_wrong_limit_is_refused_too() -> None:
    with pytest.raises(DomainError, match=r"G \(groups\) must be a whole number"):
        THM2(**changed(G=2.5))


def test_the_pair_that_is_too_many_is_named() -> None:
    """The numbers of the message belong to one scenario, the first that is wrong."""
    with pytest.raises(DomainError, match="S1 = 7 and G = 6"):
        THM2(**changed(S1=[9, 7, 2, 3], G=[20, 6, 30, 3]))
    with pytest.raises(DomainError, match="S1 = 5 and G = 4"):
        THM2(**changed(S1=np.array([[2], [5]]), G=np.array([40, 4, 6])))


# ----------------------------------------------------------------------------------------- conditions


def test_a_broken_condition_is_named_with_both_numbers() -> None:
    with pytest.raises(ConditionError) as caught:
        THM1(**changed(eta_eff=0.5))
    # 1/(sqrt(60) 3.5) = 0.0368856
    assert str(caught.value) == (
        "zhou2026.thm1.ring-star does not apply: it requires eta_eff <= 1/(sqrt(60)*L), "
        "but eta_eff = 0.5 and the right-hand side = 0.0368856"
    )
    assert isinstance(caught.value, ValueError)
    with pytest.raises(ConditionError, match=r"eta_eff = 0\.5 and"):
        THM1.split(**changed(eta_eff=0.5))
    assert THM1.applies(**changed(eta_eff=0.5)) is False
    assert THM1.applies(**POINT) is True
    (told,) = THM1.violations(**changed(eta_eff=0.5))
    assert told.startswith("it requires eta_eff <= 1/(sqrt(60)*L), but eta_eff = 0.5")
    assert THM1.violations(**POINT) == []


def test_every_broken_condition_is_named() -> None:
    proof = get("zhou2026.thm2-proof.star-ring")
    told = proof.violations(**changed(L=1.0, eta_eff=0.2))
    assert len(told) == 2
    # 1/sqrt(45) = 0.149071; 90 0.2^2 = 3.6 and (1 - 5 0.2)(1 - 45 0.2^2) = 0
    assert "eta_eff = 0.2 and the right-hand side = 0.149071" in told[0]
    assert "= 3.6 and" in told[1]
    assert len(proof.violations(**changed(L=1.0, eta_eff=0.1))) == 1
    assert proof.violations(**changed(L=1.0, eta_eff=0.05)) == []


@pytest.mark.parametrize("size", [1, 5, BLOCK + 3])
def test_a_broken_condition_in_an_array_is_named_by_its_numbers(size: int) -> None:
    steps = np.full(size, 0.0078125)
    steps[-1] = 0.25
    smooth = np.linspace(1.0, 3.5, size)[::-1].copy()
    smooth[-1] = 2.0
    # 1/(sqrt(60) 2) = 0.0645497
    with pytest.raises(ConditionError, match=r"but eta_eff = 0\.25 and the right-hand side = 0\.0645497"):
        THM1(**changed(eta_eff=steps, L=smooth))
    assert THM1.applies(**changed(eta_eff=steps, L=smooth)).tolist() == [True] * (size - 1) + [False]


def test_applies_has_the_shape_of_the_values() -> None:
    found = THM1.applies(**changed(eta_eff=np.array([[0.01], [0.1]]), zeta=np.array([1.0, 2.0, 3.0])))
    assert found.tolist() == [[True] * 3, [False] * 3]
    assert COR1.applies(**POINT) is True
    assert COR1.applies(**changed(R=[1, 2])).tolist() == [True, True]


@named(EXPLICIT)
def test_next_to_the_pole_a_bound_is_large_and_never_negative(bound: Bound) -> None:
    """An upper bound on a square cannot be negative: within rounding of the pole it is huge, infinite or silent."""
    rng = np.random.default_rng(7)
    for smooth in [0.11321874183132402, 1.642563389109215, 6.638056326674079, *np.exp(rng.uniform(-6, 6, 5)).tolist()]:
        step = float(second.cap(bound.id, L=smooth)) * (1 + 1e-15)
        seen = 0
        for _ in range(20):
            step = math.nextafter(step, 0)
            try:
                value = bound(**changed(L=smooth, eta_eff=step))
            except ConditionError:
                continue
            seen += 1
            assert value > 1e9, (smooth, step)
        assert seen


# --------------------------------------------------------------------------------------------- arrays


def grid() -> dict[str, np.ndarray]:
    """Scenarios for the shapes below: 12 of them, every quantity different from one to the next."""
    rng = np.random.default_rng(11)
    drawn: dict[str, np.ndarray] = {name: rng.integers(2, 60, 12).astype(float) for name in ("P", "K", "R", "S1", "S2")}
    drawn |= {"G": drawn["S1"] + rng.integers(0, 9, 12), "M": drawn["S2"] + rng.integers(0, 9, 12)}
    drawn |= {name: rng.integers(1, 4000, 12) / 1024 for name in ("L", "A", "sigma", "zeta", "delta")}
    drawn["eta_eff"] = np.floor(2**30 * 0.04 / drawn["L"]) / 2**30
    return drawn


@named(BOUNDS)
def test_arrays_against_the_second_encoding(bound: Bound) -> None:
    values = grid()
    wanted = [expected(bound, **{name: float(array[i]) for name, array in values.items()}) for i in range(12)]
    assert_allclose(bound(**values), wanted, rtol=1e-13)
    assert_allclose(sum(bound.split(**values).values()), wanted, rtol=1e-13)
    for shape in ((3, 4), (2, 3, 2), (1, 12), (12, 1, 1)):
        found = bound(**{name: array.reshape(shape) for name, array in values.items()})
        assert found.shape == shape
        assert_allclose(found.ravel(), wanted, rtol=1e-13)


@named(BOUNDS)
def test_strides_orders_and_kinds_do_not_matter(bound: Bound) -> None:
    values = grid()
    wanted = bound(**values)
    spread = {name: np.repeat(array, 3)[::3] for name, array in values.items()}
    assert not spread["L"].flags.c_contiguous
    backwards = {name: array[::-1].copy()[::-1] for name, array in values.items()}
    assert backwards["L"].strides[0] < 0
    swapped = {name: array.astype(">f8") for name, array in values.items()}
    unaligned = {
        name: np.frombuffer(b"x" + array.tobytes(), dtype=np.uint8)[1:].view(np.float64)
        for name, array in values.items()
    }
    assert not unaligned["L"].flags.aligned
    listed = {name: array.tolist() for name, array in values.items()}
    for moved in (spread, backwards, swapped, unaligned, listed):
        assert_allclose(bound(**moved), wanted, rtol=1e-15)
    transposed = {name: array.reshape(3, 4).T for name, array in values.items()}
    assert_allclose(bound(**transposed), wanted.reshape(3, 4).T, rtol=1e-15)
    fortran = {name: np.asfortranarray(array.reshape(3, 4)) for name, array in values.items()}
    assert_allclose(bound(**fortran), wanted.reshape(3, 4), rtol=1e-15)
    for kind in (np.int64, np.int8, np.uint16, np.float32):
        counts = {name: values[name].astype(kind) for name in COUNTS}
        assert_allclose(bound(**values | counts), wanted, rtol=1e-15)


@pytest.mark.parametrize(
    "kind", [int, np.int64, np.uint8, np.float32, np.float16, np.array, list], ids=lambda k: k.__name__
)
def test_scalars_of_every_kind(kind: Any) -> None:
    """Zero-dimensional arrays are numbers; a list of one is an array of one."""
    found = THM1(**changed(G=kind([8]) if kind is list else kind(8), R=np.array(700)))
    wanted = expected(THM1, **POINT)
    if kind is list:
        assert found.shape == (1,)
        assert found[0] == pytest.approx(wanted, rel=1e-14)
    else:
        assert type(found) is float
        assert found == pytest.approx(wanted, rel=1e-14)


@named(BOUNDS)
def test_empty_arrays(bound: Bound) -> None:
    for shape in ((0,), (3, 0), (0, 1, 2)):
        values = changed(zeta=np.zeros(shape))
        assert bound(**values).shape == shape
        assert all(np.shape(term) == shape for term in bound.split(**values).values())
        assert bound.applies(**values).shape == shape
        best = bound.tuned(**values)
        assert best.value.shape == shape
        assert bound.rounds_to(0.1, **{n: v for n, v in values.items() if n != "R"}).shape == shape
    assert bound(**changed(sigma=[])).shape == (0,)


def test_broadcasting() -> None:
    zeta = np.array([0.25, 0.5, 0.75]).reshape(3, 1, 1)
    rounds = np.array([10, 700]).reshape(2, 1)
    steps = np.array([0.001, 0.002, 0.004, 0.0078125])
    found = THM1(**changed(zeta=zeta, R=rounds, eta_eff=steps))
    assert found.shape == (3, 2, 4)
    for i, j, k in np.ndindex(found.shape):
        one = changed(zeta=float(zeta[i, 0, 0]), R=int(rounds[j, 0]), eta_eff=float(steps[k]))
        assert found[i, j, k] == pytest.approx(expected(THM1, **one), rel=1e-14)
    stretched = THM1(**changed(zeta=np.broadcast_to(zeta, found.shape), R=rounds, eta_eff=steps))
    assert np.array_equal(stretched, found)
    split = THM1.split(**changed(zeta=zeta, R=rounds, eta_eff=steps))
    assert all(term.shape == (3, 2, 4) for term in split.values())


def test_shapes_that_do_not_fit_are_refused() -> None:
    for use in (THM1, THM1.split, THM1.applies, THM1.tuned):
        with pytest.raises(ValueError, match="broadcast"):
            use(**changed(zeta=np.ones(3), sigma=np.ones(4)))


@pytest.mark.parametrize("size", [BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 7])
def test_blocks_leave_no_seams(size: int) -> None:
    """Longer than a block: the same as one element at a time, against the formula typed here."""
    rng = np.random.default_rng(size)
    zeta, rounds = rng.uniform(0, 3, size), rng.integers(1, 1000, size)
    found = THM1(**changed(zeta=zeta, R=rounds))
    u, groups, client, steps = (3.5 * 0.0078125) ** 2, 8, 20, 5
    rest = 3.5 * 0.0078125 * 2.25 / (groups * 3 * client * steps)
    rest += u * (2.25 / (64 * 9 * steps) + 2.25 / (groups * 3 * client * steps) + 0.25)
    assert_allclose(found, 0.625 / (0.0078125 * rounds) + rest + u * zeta**2 / (64 * 9), rtol=1e-13)
    total = sum(THM1.split(**changed(zeta=zeta, R=rounds)).values())
    assert_allclose(total, found, rtol=1e-15)


def test_what_is_given_is_not_changed() -> None:
    values = grid()
    kept = {name: array.copy() for name, array in values.items()}
    for array in values.values():
        array.flags.writeable = False
    for bound in BOUNDS:
        bound(**values)
        bound.split(**values)
        bound.tuned(cap="none", **values)
        bound.rounds_to(0.1, **{n: v for n, v in values.items() if n != "R"})
    assert all(np.array_equal(values[name], kept[name]) for name in values)


def test_what_is_returned_is_the_callers_own() -> None:
    """Changing a result changes no argument and no later result."""
    values = grid()
    first = THM1(**values)
    kept = first.copy()
    first[:] = -1
    assert np.array_equal(THM1(**values), kept)
    best = THM1.tuned(cap=1e-9, **values)
    best.eta_eff[:] = -1
    assert (THM1.tuned(cap=1e-9, **values).eta_eff == 1e-9).all()


# ------------------------------------------------------------------------------- the ends of float64

HUGE = [1e-300, 1e-200, 1e-160, 1e-100, 1e100, 1e160, 1e200, 1e300]


def at_the_ends(*names: str, numbers: list[float] = HUGE) -> Iterator[dict[str, Any]]:
    """One quantity at a time near the ends of float64; the step stays inside every cap."""
    for name in names:
        for number in numbers:
            if name not in COUNTS or number > 1:
                values = changed(**{name: number})
                yield values | {"eta_eff": min(0.0078125, 0.02 / values["L"])}


def outcome(function: Callable[..., Any], **values: Any) -> Any:
    """A value, or the words of a refusal by this package; no other exception passes."""
    try:
        return float(np.ravel(function(**values))[0])
    except HflBoundsError as refusal:
        return str(refusal)


@named(BOUNDS, every=3)
def test_huge_and_tiny_numbers_never_give_nan(bound: Bound) -> None:
    """The second encoding's value, or an infinity or a refusal where float64 overflows on the way."""
    right = 0
    for values in at_the_ends("L", "A", "R", "sigma", "zeta", "delta", "G", "P", "K", "S1"):
        values |= {"G": max(values["G"], values["S1"])}
        wanted = second.value(bound.id, **{name: Fraction(number) for name, number in values.items()})
        in_arrays = {name: np.array([number]) for name, number in values.items()}
        for found in (outcome(bound, **values), outcome(bound, **in_arrays)):
            if isinstance(found, str):
                assert "float64" in found
            else:
                assert found == math.inf or abs(Fraction(found) / Fraction(str(wanted)) - 1) < 1e-12, values
                right += found != math.inf
    assert right > 50  # of some 130


@named(BOUNDS)
def test_huge_numbers_beside_an_array_are_as_huge_numbers_alone(bound: Bound) -> None:
    """Python's floats raise where numpy's give inf; a caller should not see which of them did the sum."""
    for values in at_the_ends("L", "A", "R", "sigma", "zeta", "delta"):
        alone = outcome(bound, **values)
        beside = outcome(bound, **values | {"K": np.array([5.0])})
        assert beside == (alone if isinstance(alone, str) else pytest.approx(alone, rel=1e-13)), values


@named(tuple(b for b in BOUNDS if b.chain is not None), every=3)
def test_tuning_with_huge_and_tiny_numbers_never_gives_nan(bound: Bound) -> None:
    for values in at_the_ends("L", "A", "R", "sigma", "delta", numbers=[1e-300, 1e-160, 1e160, 1e300]):
        try:
            best = bound.tuned(cap="none", **values)
            parts = [best.eta_eff, best.eta, best.value, *best.split.values()]
        except HflBoundsError as refusal:
            assert "float64" in str(refusal)
            continue
        assert all(part >= 0 for part in parts), values  # which no NaN is
