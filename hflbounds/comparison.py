"""Two bounds against each other: when which is the smaller one, exactly where algebra settles it, and by numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from hflbounds import figure
from hflbounds.comparable import listed, matched, missing, numbers_of, range_asked
from hflbounds.core.bound import Bound
from hflbounds.core.quantities import ABOUT, eta_eff
from hflbounds.errors import ComparisonError, DomainError
from hflbounds.evaluate.along import Line, Stretch, evaluated
from hflbounds.evaluate.condition import Condition, Threshold, condition, threshold
from hflbounds.evaluate.tuning import Cap
from hflbounds.registry import get
from hflbounds.typeset import markup, wording

if TYPE_CHECKING:
    import sympy as sp

LONGEST = 200  # letters of a condition in a sentence; a longer one is named by what it depends on
FEW = 4  # quantities that a sentence names
SHOWN = 7  # values of a quantity in a table


@dataclass(frozen=True, repr=False)
class Comparison:
    """When the first of two bounds is the smaller one.

    Attributes:
        first: a bound.
        second: another, of the same metric, constants and meaning of quantities.
        condition: the exact one at a common step, with the numbers that were given.
        threshold: the value of ``over`` at which it turns, where there is one formula for it.
        over: name of the quantity that is moved; None where none is.
        values: the others, as far as they were given.
        tuned: whether ``stretches`` and ``values_there`` are with each bound at its own best step.
        cap: on these steps.
        stretches: which one is smaller along the range; empty where numbers are missing for that.
        line: the range of ``over``.
        values_there: both bounds where every number is given and none is moved.
        notes: what the comparison stands on.
        lacking: quantities without which there are no numbers.
    """

    first: Bound
    second: Bound
    condition: Condition
    threshold: Threshold | None = None
    over: str | None = None
    values: Mapping[str, float] = field(default_factory=dict)
    tuned: bool = True
    cap: Cap = "own"
    stretches: tuple[Stretch, ...] = ()
    line: Line | None = None
    values_there: tuple[float, float] | None = None
    notes: tuple[str, ...] = ()
    lacking: tuple[str, ...] = ()

    @property
    def smaller(self) -> str | None:
        """Id of the bound that is never the larger one; None if it depends.

        With all numbers by these, each at its best step if tuned; else at every common step.
        """
        orders = {stretch.smaller for stretch in self.stretches} - {"silent", "equal"}
        if self.values_there is not None and self.values_there[0] != self.values_there[1]:
            orders = {"first" if self.values_there[0] < self.values_there[1] else "second"}
        known = orders.pop() if len(orders) == 1 else self.condition.smaller if not orders else None
        return {"first": self.first.id, "second": self.second.id}.get(known or "")

    @property
    def crossings(self) -> tuple[float, ...]:
        """Values of ``over`` at which the order changes; of a count, the first whole number with the new order."""
        pairs = zip(self.stretches, self.stretches[1:], strict=False)
        return tuple(float(later.low) for before, later in pairs if "silent" not in (before.smaller, later.smaller))

    def __repr__(self) -> str:
        return f"<Comparison: {self.sentences()[0].rstrip('.')}>"

    def _repr_latex_(self) -> str:
        return rf"$\displaystyle {self.latex()}$"

    def latex(self) -> str:
        """The verdict at a common step as LaTeX: one inequality, and where it holds."""
        left, right = (rf"\text{{{wording.latex(bound.id)}}}" for bound in (self.first, self.second))
        if self.condition.smaller == "depends":
            return rf"{left} < {right} \iff {self.inequality()}"
        signs = {"first": r"\le", "second": r"\ge", "equal": "=", "open": r"\;?\;"}
        zero = rf", \text{{ equal only where }} {self.equality()}" if self.equality() else ""
        return f"{left} {signs[self.condition.smaller]} {right}{zero}"

    def equality(self) -> str:
        """LaTeX of where alone two bounds are equal of which one is never the larger; "" where they nowhere are."""
        if self.condition.smaller not in ("first", "second"):
            return ""
        sides = map(_zero, self.condition.equal_where)
        return r" \text{ or } ".join(f"{tex(side)} = {tex(value)}" for side, value in sides)

    def inequality(self) -> str:
        """LaTeX of the condition for the first bound to be the smaller one; "" where there is none."""
        if self.condition.smaller != "depends":
            return ""
        return r" \text{ and } ".join([self._sides(), *(rf"{tex(one)} \ne 0" for one in self.condition.equal_where)])

    def _sides(self) -> str:
        if self.threshold is not None and self.over is not None:
            found = self.threshold
            letter, sign = ABOUT[self.over].latex, "<" if found.below else ">"
            if found.value.is_negative:
                return rf"{letter} {sign} 0"
            if len(found.value.free_symbols) <= 1 and found.value.is_nonnegative:
                return f"{letter} {sign} {tex(rounded(found.root))}"
            power = f"{letter}^{{{found.power}}}" if found.power > 1 else letter
            if found.under == 1:
                return f"{power} {sign} {tex(found.value)}"
            return f"{power} {tex(found.under)} {sign} {tex(found.value * found.under)}"
        return f"{tex(self.condition.left)} < {tex(self.condition.right)}"

    def sentences(self) -> list[str]:
        """What was found, a sentence each, the first one about all of it; formulas as on a terminal."""
        one, other, found = self.first.id, self.second.id, self.condition
        apart = self._steps_differ
        common = "at every step that both allow" if apart else "at every common step"
        at = common if self._step_matters else "whatever the quantities are"
        zero = markup.unicode(self.equality())
        zero = f"; equal only where {zero}" if zero and len(zero) < LONGEST else ""
        said = []
        if found.smaller in ("first", "second"):
            small, large = (one, other) if found.smaller == "first" else (other, one)
            said.append(f"{small} is at most {large} {at}{zero}.")
        elif found.smaller == "equal":
            said.append(f"{one} and {other} are equal {at}.")
        elif found.smaller == "depends":
            shown = markup.unicode(self.inequality())
            if len(shown) > LONGEST:
                shown = f"a polynomial condition on {listed(self._names(found.symbols))} holds"
            if self.threshold is not None and self.over is not None and len(self.threshold.value.free_symbols) <= 1:
                letter = re.escape(markup.unicode(ABOUT[self.over].latex))
                shown = re.sub(rf"(?<!\w){letter}(?!\w)", self.over, shown)
            free = ["the step" if name == eta_eff.name else name for name in self._whatever]
            free = [f"{name} that both allow" if apart and name == "the step" else name for name in free]
            said.append(f"{one} is smaller exactly where {shown}{f', whatever {listed(free)}' if free else ''}.")
        elif not self.stretches and self.values_there is None:
            said.append(f"Algebra does not settle whether {one} or {other} is smaller: give numbers.")
        if self.over is not None and self.lacking:
            said.append(f"The order along {self.over} by numbers also needs {listed(self.lacking)}.")
        numbers = self._by_numbers()
        if not apart:
            return [*said, *numbers]
        if said and not numbers and self.over is None:
            named = listed(self.lacking) if len(self.lacking) <= FEW else "other numbers"
            said[0] = f"{said[0][:-1]}; each at its best step, the order depends on {named} too."
        elif said and numbers:
            said[0] = f"{said[0][:-1]}; best steps need not be such."
        return [*numbers, *said]

    def _by_numbers(self) -> list[str]:
        said = []
        where = "Each at its best step, " if self.tuned and self._step_matters else "With these numbers, "
        if self.values_there is not None:
            a, b = self.values_there
            small, low, high = (self.first, a, b) if a < b else (self.second, b, a)
            verdict = f"{small.id} is smaller: {low:.6g} against {high:.6g}, 1 to {high / low:.4g}"
            said.append(f"{where}{verdict if a != b else f'they are equal: {a:.6g}'}.")
        if self.line is not None and self.stretches:
            names = {"first": f"{self.first.id} is smaller", "second": f"{self.second.id} is smaller"}
            names |= {"equal": "they are equal", "silent": "one of them says nothing"}
            parts = [
                f"{names[part.smaller]} for {self.over} from {part.low:.6g} to {self._end(part):.6g}"
                for part in self.stretches
            ]
            said.append(f"{where}{'; '.join(parts)}.")
        return said

    def _end(self, part: Stretch) -> float:
        last = self.line is None or not self.line.whole or part is self.stretches[-1]
        return part.high if last else part.high - 1

    @property
    def _step_matters(self) -> bool:
        return any(eta_eff in bound.symbols for bound in (self.first, self.second))

    @property
    def _steps_differ(self) -> bool:
        """Whether the order at best steps may be another one than at those that both bounds allow."""
        if not self.tuned or self.cap != "own" or _rule(self.first) == _rule(self.second):
            return False
        small, large = (_limit(bound) for bound in (self.first, self.second))
        if self.condition.smaller == "second":
            small, large = large, small
        elif self.condition.smaller != "first":
            return True
        return small is None or large is None or small < large  # a smaller one that allows all steps stays so

    @property
    def _whatever(self) -> list[str]:
        used = {s.name for t in (*self.first.terms.values(), *self.second.terms.values()) for s in t.symbols}
        said = self.condition.symbols.union(*({s.name for s in f.free_symbols} for f in self.condition.equal_where))
        return self._names(used - said - {*self.values} - {self.over or ""})

    @staticmethod
    def _names(names: Any) -> list[str]:
        return [name for name in ABOUT if name in names]

    def rows(self, count: int = SHOWN) -> list[dict[str, float | str | None]]:
        """Both bounds at some values of ``over``, crossings among them; empty where numbers are missing."""
        if self.line is None:
            return []
        points = np.unique([*self.line.points(count), *self.crossings])
        values = [self.line.of(bound, points) for bound in (self.first, self.second)]
        return [
            {
                self.line.over: float(x),
                self.first.id: None if np.isnan(a) else float(a),
                self.second.id: None if np.isnan(b) else float(b),
                "first over second": float(a / b) if np.isfinite(a / b) else None,
            }
            for x, a, b in zip(points, *values, strict=True)
        ]

    def plot(self) -> figure.Curves:
        """Both bounds along the range, with the crossings.

        Raises:
            ComparisonError: where no quantity is moved, or numbers are missing.
            MissingExtraError: if matplotlib is not installed.
        """
        if self.line is None:
            raise ComparisonError("there is nothing to draw along: name a quantity with over=, and give all others")
        figure.needs_matplotlib()
        return figure.along((self.first, self.second), self.line)

    def as_data(self) -> dict[str, Any]:
        """The comparison for programs: names, numbers and formulas as Python text."""
        found, turn = self.condition, self.threshold
        return {
            "first": self.first.id,
            "second": self.second.id,
            "metric": self.first.bounds.id,
            "constants": self.first.constants,
            "at_a_common_step": {
                "smaller": found.smaller,
                "left": None if found.left is None else str(found.left),
                "right": None if found.right is None else str(found.right),
                "equal_where_zero": [str(factor) for factor in found.equal_where],
                "found_by": found.road or None,
                "latex": self.latex(),
            },
            "over": self.over,
            "threshold": None if turn is None else turn.as_data(),
            "values": dict(self.values),
            "lacking": list(self.lacking),
            "tuned": self.tuned,
            "cap": self.cap,
            "range": None if self.line is None else [self.line.low, self.line.high],
            "stretches": [{"low": s.low, "high": self._end(s), "smaller": s.smaller} for s in self.stretches],
            "crossings": list(self.crossings),
            "value": None
            if self.values_there is None
            else dict(zip(("first", "second"), self.values_there, strict=True)),
            "text": self.sentences(),
            "notes": list(self.notes),
        }


def compare(
    a: Bound | str,
    b: Bound | str,
    *,
    over: str | None = None,
    range: tuple[float, float] | None = None,
    tuned: bool | None = None,
    cap: Cap = "own",
    assume_both: bool = False,
    **values: Any,
) -> Comparison:
    """Find when one bound is smaller than another.

    Args:
        a: the first bound, or its id.
        b: the second.
        over: a quantity to move; the order along it is found by numbers where all others are given.
        range: of that quantity; by default ten times its typical one to either side.
        tuned: whether each bound is at its own best step; by default it is unless ``eta_eff`` is given or moved.
        cap: on that step, as of `Bound.tuned`.
        assume_both: compare for problems that satisfy the hypotheses of both, and with one number for quantities that
            the two mean differently.
        **values: numbers of quantities, all or some.

    Raises:
        ComparisonError: for other metrics, constants, hypotheses or meanings of quantities, with the way out.
        UnknownBoundError: for an id that there is not.
        TypeError, DomainError, ConditionError: for names and numbers, as of a call.

    >>> found = compare("zhou2026.thm1.star-ring", "zhou2026.thm1.ring-star", over="zeta", G=3, M=25, P=1, K=5)
    >>> print(found.sentences()[0])
    zhou2026.thm1.star-ring is smaller exactly where zeta < 0.13784 σ, whatever R, L, A, delta and the step.
    """
    first, second = (get(bound) if isinstance(bound, str) else bound for bound in (a, b))
    matched(first, second, assume_both)
    numbers = numbers_of((first, second), over, values)
    steps = any(eta_eff in bound.symbols for bound in (first, second))
    at_best = eta_eff.name not in numbers and over != eta_eff.name
    if tuned and not at_best:
        raise DomainError("a tuned bound finds its step: leave out eta_eff, or tuned")
    if tuned is False and at_best and steps:
        raise DomainError("without tuning a step is needed: give eta_eff, or move it")
    found = condition(first, second, numbers)
    turn = None if over is None else threshold(found, over, first, second)
    known = {*numbers, *([over] if over is not None else []), *([eta_eff.name] if at_best else [])}
    lacking = missing((first, second), known)
    notes = _carried(first, second, matched(first, second, assume_both))
    made = Comparison(first, second, found, turn, over, numbers, tuned=at_best, cap=cap, notes=notes)
    if lacking:
        if range is not None and over is not None:
            raise TypeError(f"a range of {over} also needs {', '.join(lacking)}")
        return replace(made, lacking=tuple(lacking))
    if over is None:
        one, other = (evaluated(bound, numbers, at_best, cap) for bound in (first, second))
        return replace(made, values_there=(one, other))
    low, high = range_asked(over, (first, second), numbers, range)
    line = Line(over, low, high, numbers, at_best, cap)
    return replace(made, line=line, stretches=line.stretches(first, second))


def _carried(a: Bound, b: Bound, notes: tuple[str, ...]) -> tuple[str, ...]:
    """The notes, and one where steps that the two allow differ, so that tuned orders may."""
    rules = [_rule(bound) for bound in (a, b)]
    if rules[0] == rules[1]:
        return notes
    each = (f"{x.id} requires {' and '.join(sorted(rule)) or 'nothing'}" for x, rule in zip((a, b), rules, strict=True))
    said = f"Step sizes: {'; '.join(each)}."
    return (*notes, said if len(said) < LONGEST + 100 else "Step sizes: the two have different conditions on the step.")


def _rule(bound: Bound) -> set[str]:
    """What a bound requires of its step."""
    return {str(condition) for condition in bound.requires if eta_eff in condition.symbols}


def _limit(bound: Bound) -> float | None:
    """Largest step that a bound allows, in units of 1/L; None where that depends on more."""
    found = math.inf
    for one in bound.requires:
        if eta_eff not in one.symbols:
            continue
        if one.lhs != eta_eff or one.op not in ("<", "<=") or {s.name for s in one.rhs.symbols} - {"L"}:
            return None
        found = min(found, float(one.rhs.value({"L": 1.0})))
    return found


def _zero(factor: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """Both sides of an equation by which a factor vanishes: a letter and its value, where that is all of it."""
    letter = next(iter(factor.free_symbols))
    alone = factor.diff(letter) == 1 and len(factor.free_symbols) == 1
    return (letter, -factor.subs(letter, 0)) if alone else (factor, 0 * letter)


def tex(expression: Any) -> str:
    """LaTeX of a sympy expression in the common letters."""
    import sympy as sp

    return str(sp.latex(expression, symbol_names={s: ABOUT[s.name].latex for s in expression.free_symbols}))


def rounded(expression: sp.Expr) -> Any:
    """With decimal numbers of six digits, where a root or a fraction would be hard to read."""
    import sympy as sp

    free = expression.free_symbols
    numbers, letters = sp.factor_terms(expression).as_independent(*free, as_Add=False) if free else (expression, 1)
    return expression if numbers.is_Integer else sp.Float(f"{float(numbers):.6g}") * letters
