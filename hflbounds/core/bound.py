"""The central object: one published inequality, as data."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from hflbounds.core.assumptions import Assumption
from hflbounds.core.evaluation import Value, bind, run
from hflbounds.core.expression import Expr, Number, Raised, Relation, Symbol, add, compile_many
from hflbounds.core.metrics import Metric
from hflbounds.core.quantities import ABOUT, R, T, eta_eff, t
from hflbounds.errors import ConditionError, DeclarationError, DomainError
from hflbounds.topology import all_topologies
from hflbounds.topology.tree import MOST_TIERS

if TYPE_CHECKING:
    import sympy as sp

    from hflbounds.evaluate.tuning import Cap, Tuned

Status = Literal["proved", "printed", "reconstructed", "refuted", "own", "lower"]
Basis = Literal["own", "proved", "printed"]
Constants = Literal["explicit", "hidden"]
Notation = Literal["common", "paper"]
Kind = Literal["theorem", "rate", "lemma", "quantity"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Paper:
    """A publication; ``version`` says which, because equation numbers move between versions.

    Attributes:
        notation: LaTeX of the common symbols in the paper's own letters, where they differ.
        where: journal, proceedings or archive, with its number.
    """

    key: str
    title: str
    authors: str
    year: int
    version: str
    notation: Mapping[str, str] = field(default_factory=dict)
    where: str = ""

    def at(self, place: str) -> Source:
        """A place in this paper, precise enough to lay a finger on it."""
        return Source(self, place)

    @property
    def page(self) -> str:
        """The file of this repository that the statement is proved in; empty for a publication."""
        return self.version if self.version.startswith("docs/") else ""

    @property
    def citation(self) -> str:
        """The key to cite it by: one for each document, where this project's own share the key of their ids."""
        return f"{self.key}-{PurePosixPath(self.page).stem}" if self.page else self.key


@dataclass(frozen=True, slots=True)
class Source:
    """Where a statement is printed."""

    paper: Paper
    place: str

    def __str__(self) -> str:
        return f"{self.paper.authors} ({self.paper.year}), {self.paper.version}, {self.place}"


@dataclass(frozen=True, slots=True)
class Step:
    """One line of a derivation, confirmed by the audit at drawn points.

    Attributes:
        because: what the line stands on.
        stated: the right-hand side at that line, or its terms by name; or what works these out when they are asked
            for, as only the audit asks.
        relation: ``equal`` to the bound (term by term where terms are given); ``at most`` ``factor`` times
            the bound; ``at least`` the bound, for a lower one; or ``same but numbers``: every term has the same
            symbols to the same powers.
        factor: for ``at most``.
    """

    because: str
    stated: Expr | Mapping[str, Expr] | Callable[[], Expr | Mapping[str, Expr]]
    relation: Literal["equal", "at most", "at least", "same but numbers"] = "equal"
    factor: int = 1

    @property
    def value(self) -> Expr | Mapping[str, Expr]:
        """The right-hand side at that line, or its terms by name."""
        return self.stated() if callable(self.stated) else self.stated


@dataclass(frozen=True, slots=True)
class End:
    """Where the range of a condition on the step ends, by what its proof needs, confirmed by the audit.

    Attributes:
        because: why the condition is there.
        room: what is not negative exactly where it holds, as the step moves.
    """

    because: str
    room: Expr


@dataclass(frozen=True, slots=True)
class Evidence:
    """What an erratum's witness shows, with both sides' numbers.

    Attributes:
        instance: the case, in words.
        printed: what the printed statement gives there.
        found: what the proof, an exact count or a run gives there.
        relation: what the printed statement says of the two: ``found <= printed``, or ``found == printed``.
    """

    instance: str
    printed: float
    found: float
    relation: Literal["<=", "=="] = "<="

    @property
    def contradicts(self) -> bool:
        """Whether the numbers contradict the printed statement, by more than rounding."""
        slack = 1e-9 * max(abs(self.printed), abs(self.found))
        if self.relation == "==":
            return not abs(self.found - self.printed) <= slack
        return not self.found <= self.printed + slack


Gravity = Literal["refuted", "step", "algebra", "loose", "claim", "note"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Erratum:
    """What a source prints, what the proof supports, and numbers that tell the two apart.

    Attributes:
        id: permanent.
        place: where it is printed.
        printed: as printed, in the common symbols; or in words (LaTeX between dollars).
        proved: what the proof supports.
        because: why the printed form cannot be meant, or what fails.
        effect: on the value, and on the order of topologies.
        gravity: ``refuted``, an instance within the stated hypotheses contradicts the statement; ``step``, a
            line of a proof does not follow, though its conclusion may hold; ``algebra``, the text contradicts
            itself; ``loose``, correct and improvable; ``claim``, prose that the bounds do not support;
            ``note``, a caution.
        witness: values at which the two formulas differ.
        demonstrate: computes the numbers of an instance; needed where the two sides are not formulas.
        concerns: ids of the bounds, or families, that it is about.
        artefact: whether it could be a recognition error of the text copy that was read.
    """

    id: str
    place: str
    printed: Expr | Relation | str
    proved: Expr | Relation | str
    because: str
    effect: str
    gravity: Gravity = "algebra"
    witness: Mapping[str, float] = field(default_factory=dict)
    demonstrate: Callable[[], Evidence] | None = None
    concerns: tuple[str, ...] = ()
    artefact: bool = False


@dataclass(frozen=True, kw_only=True)
class Above:
    """What methods of a bound call in the layers that stand on it: its registry, its tuner and its renderers."""

    errata: Callable[[], tuple[Erratum, ...]]
    tune: Callable[[Bound, Mapping[str, Any], Cap], Tuned]
    rounds_to: Callable[[Bound, Any, Mapping[str, Any], Cap], Any]
    why_unreachable: Callable[[Bound, float, Mapping[str, Any], Cap], str | None]
    latex: Callable[[Bound, Notation, Mapping[str, Any]], str]
    html: Callable[[Bound], str]
    plot: Callable[..., Any]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Bound:
    """``bounds <= sum(terms)`` for every problem that satisfies ``assumes``, where ``requires`` holds.

    With ``status == "lower"`` it is the other way round: ``bounds >= sum(terms)`` for some problem that satisfies
    ``assumes``, so that no bound for all of them can be smaller.

    With ``constants == "hidden"`` the inequality holds up to a universal factor that the source does not
    state: its values order things, and are not themselves upper bounds.

    Attributes:
        id: permanent, ``<paper key>.<label>.<topology>``; never reused, even when a bound is withdrawn.
        title: algorithm, setting and step-size rule, in one line.
        source: where it is printed.
        bounds: the left-hand side.
        terms: the right-hand side, split the way its readers talk about it.
        requires: step-size and parameter conditions.
        assumes: hypotheses on the problem and the protocol.
        status: ``proved``, ``printed``, ``reconstructed``, ``refuted``, ``own``; or ``lower``, a lower bound.
        basis: of a lower bound, what it stands on: ``own``, ``proved`` or ``printed``; None for all others.
        constants: ``explicit`` or ``hidden``.
        where: LaTeX names of the parts that are typeset apart, such as ``c_1``.
        chain: ``eta_eff / eta``, the number of local steps one global round chains together.
        common_cap: the cap on ``eta_eff`` that ``tuned(cap="common")`` uses for the whole family.
        grows_with, shrinks_with: monotonicity the audit confirms.
        steps: derivation lines the audit confirms.
        noted: what the source prints otherwise than ``terms`` and ``requires`` say; `errata` has these, and
            those of `hflbounds.errata` that concern this bound.
        kind: ``theorem``; ``rate``, at a step already chosen; ``lemma``, an inequality inside a proof; or
            ``quantity``, a number that a theorem uses and that is not itself about training.
        signed: whether the right-hand side may be negative.
        equality: whether the right-hand side is what is bounded, not only at least that.
        defaults: what a quantity is taken to be where it is not given.
        free: letters for whose every value the statement holds; `defaults` says at which the right-hand side is least.
        rise: the step times the slope of the right-hand side, where the free letters stay; None for what
            differentiating the terms gives.
        rounds: at a step, how many rounds the bound needs to fall to ``aim``, least over the free letters; None
            where that is not known in closed form. Negative where no number does.
        prepare: turns array arguments into quantities.
        ends: for each condition in turn, what its proof needs; empty where the audit is not told.
        breaks: checks of the audit that what is stated cannot pass, with the erratum or the page that says why.
    """

    id: str
    title: str
    source: Source
    bounds: Metric
    terms: Mapping[str, Expr]
    requires: tuple[Relation, ...]
    assumes: tuple[Assumption, ...]
    status: Status
    constants: Constants
    where: Mapping[str, Expr] = field(default_factory=dict, repr=False)
    chain: Expr | None = None
    common_cap: Expr | None = None
    grows_with: tuple[Symbol, ...] = ()
    shrinks_with: tuple[Symbol, ...] = ()
    steps: tuple[Step, ...] = field(default=(), repr=False)
    noted: tuple[Erratum, ...] = field(default=(), repr=False)
    kind: Kind = "theorem"
    signed: bool = False
    equality: bool = False
    defaults: Mapping[str, Expr] = field(default_factory=dict, repr=False)
    free: tuple[Symbol, ...] = ()
    rise: Expr | None = field(default=None, repr=False)
    rounds: Expr | None = field(default=None, repr=False)
    prepare: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = field(default=None, repr=False)
    ends: tuple[End, ...] = field(default=(), repr=False)
    breaks: Mapping[str, str] = field(default_factory=dict, repr=False)
    basis: Basis | None = None
    above: ClassVar[Above]  # set in `hflbounds`, so that this file imports none of them

    def __post_init__(self) -> None:
        object.__setattr__(self, "terms", MappingProxyType(dict(self.terms)))
        for i, condition in enumerate(self.requires):
            if not isinstance(condition, Relation):
                raise DeclarationError(f"{self.id}: requires[{i}] is {condition!r}, which is not a condition")
        if (self.status == "lower") != (self.basis is not None):
            raise DeclarationError(f"{self.id}: a lower bound, and no other, says its basis: own, proved or printed")
        used = self.expression.symbols.union(*(c.symbols for c in self.requires))
        introduced = {s for a in self.assumes for s in a.introduces}
        if orphans := used - introduced:
            names = ", ".join(sorted(s.name for s in orphans))
            raise DeclarationError(f"{self.id}: no assumption introduces {names}")
        if self.rise is not None and (strange := self.rise.symbols - used):
            names = ", ".join(sorted(s.name for s in strange))
            raise DeclarationError(f"{self.id}: its rise speaks of {names}, and no term or condition does")
        tuned = self.kind in ("theorem", "rate")
        if tuned and eta_eff in used and (self.chain is None or self.common_cap is None):
            raise DeclarationError(f"{self.id} speaks of eta_eff: it also needs a chain and a common cap")

    def __repr__(self) -> str:
        return f"<Bound {self.id}: {self.title}>"

    @property
    def family(self) -> str:
        """The id without its topology; the id itself where it names none."""
        return self.id.removesuffix(f".{self.topology}") if self.topology else self.id

    @property
    def topology(self) -> str | None:
        """The last part of the id, where it is a topology."""
        last = self.id.rpartition(".")[2]
        depth = last.count("-") + 1
        return last if depth <= MOST_TIERS and last in all_topologies(depth) else None

    @property
    def is_lower(self) -> bool:
        """Whether it says what cannot be promised, in place of what can."""
        return self.status == "lower"

    @property
    def horizon(self) -> Symbol | None:
        """The symbol that counts how long is trained: global rounds R, rounds or global steps T, local steps t."""
        return next((symbol for symbol in (R, T, t) if symbol in self.symbols), None)

    @property
    def losses(self) -> str:
        """The class of losses that it is about, in words, from its assumptions."""
        said = list(dict.fromkeys(one.losses for one in self.assumes if one.losses))
        if not said:
            return "any losses, or none: nothing is assumed of them"
        convex = any(word in one for one in said for word in ("convex", "quadratic"))
        return "; ".join(said) + ("" if convex else "; convex or not")

    @cached_property
    def errata(self) -> tuple[Erratum, ...]:
        """What the source prints otherwise than it proves, about this bound."""
        about = (self.id, self.family, self.id.partition(".")[0])
        known = {e.id for e in self.noted}
        return (*self.noted, *(e for e in self.above.errata() if e.id not in known and {*e.concerns} & {*about}))

    @cached_property
    def expression(self) -> Expr:
        """The right-hand side, as declared."""
        return add(*self.terms.values())

    @cached_property
    def rhs(self) -> sp.Expr:
        """The right-hand side as a sympy expression."""
        return self.expression.to_sympy()

    @cached_property
    def symbols(self) -> tuple[Symbol, ...]:
        """Every symbol in the terms and the conditions, in the order of the vocabulary."""
        used = self.expression.symbols.union(*(c.symbols for c in self.requires))
        return tuple(sorted(used, key=lambda s: list(ABOUT).index(s.name)))

    @cached_property
    def overflows(self) -> bool:
        """Whether a symbol stands in an exponent, so that the value can leave float64 at ordinary arguments."""
        return any(isinstance(part, Raised) for part in self.expression.walk())

    @property
    def needs(self) -> tuple[str, ...]:
        """The keywords of a call."""
        return tuple(s.name for s in self.symbols)

    def complete(self, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """The values given, and those that follow from them: from arrays, and from this bound's defaults."""
        if self.prepare is not None:
            values = {**self.prepare(values), **values}
        missing = {n: e for n, e in self.defaults.items() if values.get(n) is None}
        if not missing:
            return values
        found = dict(values)
        for name, formula in missing.items():
            symbols = tuple(sorted(formula.symbols, key=str))
            if all(values.get(symbol.name) is not None for symbol in symbols):
                numbers = bind(self.id, (symbol.name for symbol in symbols), values)
                value = compile_many(symbols, (formula,))[1](*numbers.values())[0]
                if not np.all(np.isnan(value)):  # there is none where a condition fails, which then says so
                    found[name] = value
        return found

    @cached_property
    def settled(self) -> Bound:
        """This bound with its free letters where they make it least; the bound itself where it has none."""
        if not self.free:
            return self
        chosen = {letter: self.defaults[letter.name] for letter in self.free}
        return replace(
            self,
            terms={name: term.subs(chosen) for name, term in self.terms.items()},
            where={},
            requires=tuple(condition for condition in self.requires if not condition.symbols & {*chosen}),
            defaults={name: formula for name, formula in self.defaults.items() if name not in map(str, self.free)},
            steps=(),
            free=(),
            rise=None if self.rise is None else self.rise.subs(chosen),
        )

    def settle(self, values: Mapping[str, Any]) -> Bound:
        """The bound that a call with these values is about: `settled`, unless its free letters are given."""
        return self if all(values.get(letter.name) is not None for letter in self.free) else self.settled

    def bind(self, values: Mapping[str, Any], names: Iterable[str] | None = None) -> dict[str, Value]:
        """The numbers this bound needs (or ``names`` of them), completed and checked."""
        return bind(self.id, self.needs if names is None else names, self.complete(values))

    def log10(self, **values: Any) -> float:
        """Decimal logarithm of the value, for values beyond float64; one scenario, no arrays.

        Raises:
            TypeError, DomainError, ConditionError: as of a call.
        """
        bound = self.settle(values)
        numbers = {name: float(number) for name, number in bound.bind(values).items()}
        for condition in bound.requires:
            if not _true_in_logarithms(condition, numbers):
                raise ConditionError(f"{self.id} does not apply: {_breach(condition, *_sides(condition, numbers))}")
        sign, size = bound.expression.log10(numbers)
        return size if sign > 0 else float("-inf" if sign == 0 else "nan")

    def __call__(self, **values: Any) -> Any:
        """The value of the right-hand side: a float, or an array when any argument is one.

        Args:
            **values: by the names of `hflbounds.core.quantities`; arrays broadcast. Quantities of the
                vocabulary that this bound does not use are ignored.

        Raises:
            TypeError: for a missing or an unknown name.
            DomainError: for a number its quantity cannot be.
            ConditionError: where the theorem is silent, naming the condition and both numbers.

        >>> from hflbounds import get
        >>> scenario = dict(G=10, M=10, P=1, K=2, R=5000, L=1, A=2.3, sigma=1, zeta=0.5, delta=0.5)
        >>> round(get("zhou2026.thm1.star-star")(**scenario, eta_eff=0.04), 12)
        0.01338
        """
        (total,) = self.settle(values)._evaluate(values, total=True)
        return total

    def split(self, **values: Any) -> dict[str, Any]:
        """The value of each term; arguments and errors as of a call."""
        return dict(zip(self.terms, self.settle(values)._evaluate(values, total=False), strict=True))

    def applies(self, **values: Any) -> Any:
        """Whether the theorem says anything at these values; elementwise for arrays.

        Raises:
            TypeError, DomainError: as of a call.
        """
        bound = self.settle(values)
        numbers = [np.asarray(number) for number in bound.bind(values).values()]
        shape = np.broadcast_shapes(*(np.shape(n) for n in numbers))
        truth = np.full(shape, True)
        with np.errstate(all="ignore"):
            for condition, sides in zip(bound.requires, _pairs(bound.sides[1](*numbers)), strict=True):
                truth &= condition.holds(*sides)
        return truth if shape else bool(truth)

    def violations(self, **values: Any) -> list[str]:
        """The conditions these values break, in words with both numbers; empty where the theorem applies."""
        bound = self.settle(values)
        try:
            numbers = [np.asarray(number) for number in bound.bind(values).values()]
        except DomainError as error:
            return [str(error)]
        with np.errstate(all="ignore"):
            return bound._broken(numbers)

    def raw_step(self, **values: Any) -> Any:
        """The raw learning rate of the effective one.

        Raises:
            TypeError: if this bound has no step size, or a number is missing.
        """
        if self.chain is None:
            raise TypeError(f"{self.id} has no step size: its step is already chosen")
        chain = self.chain_length(**values)
        return bind(self.id, ("eta_eff",), values)["eta_eff"] / chain

    def chain_length(self, **values: Any) -> Any:
        """How many local steps one global round chains together: ``eta_eff / eta``."""
        if self.chain is None:
            raise TypeError(f"{self.id} has no step size: its step is already chosen")
        symbols = tuple(sorted(self.chain.symbols, key=str))
        numbers = bind(self.id, (s.name for s in symbols), values)
        return compile_many(symbols, (self.chain,))[1](*numbers.values())[0]

    def tuned(self, *, cap: Cap = "own", **values: Any) -> Tuned:
        """The bound at the effective learning rate that makes it smallest.

        Args:
            cap: ``own``, the step-size condition of the statement; ``none``, wherever the formula is
                positive and finite; ``common``, one cap for the whole family; or a number for ``eta_eff``.
            **values: everything the bound needs but ``eta_eff``; arrays broadcast.

        Raises:
            TypeError, DomainError: as of a call; also for a cap that is neither of the above.
        """
        return self.above.tune(self, values, cap)

    def rounds_to(self, target: Any, *, cap: Cap = "own", **values: Any) -> Any:
        """The smallest number of global rounds at which the tuned bound is at most ``target``.

        Args:
            target: in the units of the metric; an array broadcasts with the rest.
            cap: as of `tuned`.
            **values: everything the bound needs but ``R`` and ``eta_eff``.

        Returns:
            a whole number as a float, or ``inf`` where a floor or a cap forbids the target;
            `why_unreachable` says which.
        """
        return self.above.rounds_to(self, target, values, cap)

    def why_unreachable(self, target: float, *, cap: Cap = "own", **values: Any) -> str | None:
        """Why no number of rounds reaches ``target``, in words; None where some number does."""
        return self.above.why_unreachable(self, target, values, cap)

    def latex(self, *, notation: Notation = "common", values: Mapping[str, Any] | None = None) -> str:
        """The inequality with its conditions, for an ``equation`` environment.

        Args:
            notation: the common letters, or the paper's own.
            values: numbers to write in place of letters, by name; all or some.

        Raises:
            TypeError, DomainError, ConditionError: as of a call, for the numbers given.
        """
        return self.above.latex(self, notation, values or {})

    def plot(self, *, x: str, range: tuple[float, float] | None = None, cap: Cap = "own", **values: Any) -> Any:
        """The bound against a quantity, as `hflbounds.plot` draws it: a picture in a notebook, and its numbers.

        Raises:
            MissingExtraError: if matplotlib is not installed.
            TypeError, DomainError: for names and numbers, as of a call.
        """
        return self.above.plot(self, x=x, range=range, cap=cap, **values)

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex()}$"

    def _repr_html_(self) -> str:
        return self.above.html(self)

    @cached_property
    def compiled(self) -> tuple[Callable[..., Any], Callable[..., Any]]:
        """The terms as functions of `symbols`: for floats, and for arrays."""
        return compile_many(self.symbols, tuple(self.terms.values()))

    @cached_property
    def sides(self) -> tuple[Callable[..., Any], Callable[..., Any]]:
        """Both sides of every condition as functions of `symbols`, flat: for floats, and for arrays."""
        return compile_many(self.symbols, tuple(side for c in self.requires for side in (c.lhs, c.rhs)))

    def _evaluate(self, values: Mapping[str, Any], total: bool) -> tuple[Any, ...]:
        numbers = list(self.bind(values).values())
        if not any(np.ndim(n) for n in numbers):
            try:
                broken = self._broken(numbers, scalar=True)
                terms = () if broken else self.compiled[0](*numbers)
            except (OverflowError, ZeroDivisionError):  # Python's floats raise where arrays give inf
                with np.errstate(all="ignore"):
                    points = [np.float64(number) for number in numbers]
                    terms = tuple(float(t) for t in self.compiled[1](*points))
                    broken = self._broken(points)
            if broken:
                raise ConditionError(f"{self.id} does not apply: " + "; ".join(broken))
            self._check_range(terms)
            return (float(sum(terms)),) if total else tuple(map(float, terms))

        def block(*numbers: Value) -> tuple[Any, ...]:
            if broken := self._broken(numbers):
                raise ConditionError(f"{self.id} does not apply: " + "; ".join(broken))
            terms = self.compiled[1](*numbers)
            self._check_range(terms)
            return (sum(terms[1:], start=terms[0]),) if total else terms

        return run(block, numbers, 1 if total else len(self.terms))

    def _check_range(self, terms: tuple[Any, ...]) -> None:
        """Refuse terms that overflowed on the way, or were rounded across the pole of a constant."""
        for name, term in zip(self.terms, terms, strict=True):
            good = self.signed or (term >= 0 if type(term) is float else np.min(term, initial=0.0) >= 0)
            if good and not (self.overflows and np.any(np.isinf(term))):
                continue
            way = "; .log10(...) gives the logarithm of the value" if self.overflows else ""
            raise ConditionError(f"{self.id}: at these values the term {name} is beyond the range of float64{way}")

    def _broken(self, numbers: Any, scalar: bool = False) -> list[str]:
        broken = []
        flat = self.sides[0 if scalar else 1](*numbers)
        for condition, (lhs, rhs) in zip(self.requires, _pairs(flat), strict=True):
            truth = condition.holds(lhs, rhs)
            if not np.all(truth):
                at = int(np.argmin(truth))
                left, right = (float(np.broadcast_to(s, np.shape(truth)).flat[at]) for s in (lhs, rhs))
                broken.append(_breach(condition, left, right))
        return broken


def _breach(condition: Relation, left: float, right: float) -> str:
    """What a condition requires, and the values of its two sides."""
    told = [_said(condition.lhs, "left", left), _said(condition.rhs, "right", right)]
    return f"it requires {condition}, but {' and '.join(filter(None, told))}"


def _said(side: Expr, which: str, value: float) -> str:
    """What one side of a condition is: by its letter, or as a side where it is a formula, which was just written."""
    if isinstance(side, Number):
        return ""
    return f"{side if isinstance(side, Symbol) else f'the {which}-hand side'} = {value:.6g}"


def _true_in_logarithms(condition: Relation, numbers: Mapping[str, float]) -> bool:
    """Whether it holds, by the values of its sides, and by their logarithms where these leave float64."""
    sides: list[Any] = _sides(condition, numbers)
    if not np.isfinite(sides).all():
        logs = (part.log10(numbers) for part in (condition.lhs, condition.rhs))
        sides = [(sign, sign * size if sign else 0.0) for sign, size in logs]
    return bool(condition.ORDERS[condition.op](*sides))


def _sides(condition: Relation, numbers: Mapping[str, float]) -> list[float]:
    """The values of both sides; infinite beyond float64."""
    try:
        return [part.value(numbers) for part in (condition.lhs, condition.rhs)]
    except OverflowError:
        return [math.inf, math.inf]


def _pairs(flat: tuple[Any, ...]) -> list[tuple[Any, Any]]:
    return list(zip(flat[::2], flat[1::2], strict=True))
