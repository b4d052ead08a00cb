"""Python that stands alone: one function a bound, on ``math`` alone, that checks its numbers and its conditions."""

from __future__ import annotations

import inspect
import keyword
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from hflbounds.core import functions
from hflbounds.core.bound import Bound
from hflbounds.core.expression import Choice, Expr, Maximum, Special
from hflbounds.core.quantities import ABOUT, IN_WORDS
from hflbounds.typeset import wording
from hflbounds.typeset.meanings import meaning
from hflbounds.typeset.statement import CONSTANTS, Statement, Style, said_status

SUFFIX = ".py"
TAKES = ()
CHECK = '''
def _checked(what, **numbers):
    """Refuse numbers that their quantities cannot be."""
    for name, value in numbers.items():
        domain = DOMAINS[name]
        good = isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= LARGEST
        if good and domain in ("count", "whole"):
            good = value == math.floor(value) and value >= (domain == "count")
        elif good and domain == "share":
            good = 0 <= value <= 1
        elif good:
            good = value > 0 if domain == "positive" else value >= 0
        if not good:
            shown = "a number beyond 1e308" if isinstance(value, int) and abs(value) > LARGEST else repr(value)
            raise ValueError(f"{what}: {name} must be {IN_WORDS[domain]}, not {shown}")


def _in_range(what, terms):
    """Refuse a value that floats cannot hold."""
    if not math.isfinite(sum(terms.values())):
        raise ValueError(BEYOND.format(what))
    return terms
'''
BEYOND = "{}: the value at these numbers is beyond the range of floats"


def render(statements: Sequence[Statement], style: Style) -> str:
    """A module: for each bound a function of the value, and one of the terms."""
    bounds = [statement.bound for statement in statements]
    used = sorted({s.name for b in bounds for s in (*b.symbols, *(x for e in b.defaults.values() for x in e.symbols))})
    special = sorted({p.name for b in bounds for e in _formulas(b) for p in e.walk() if isinstance(p, Special)})
    domains = {name: ABOUT[name].domain for name in used}
    sources = dict.fromkeys(source for name in special for source in _sources(functions.SCALAR[name]))
    words = {domain: IN_WORDS[domain] for domain in sorted({*domains.values()})}
    head = [
        '"""Right-hand sides of convergence bounds, for Python 3.11 or newer; needs nothing else."""',
        "",
        "import math",
        *["from functools import lru_cache"] * any(source.startswith("@lru_cache") for source in sources),
        "from math import cbrt, sqrt",
        "",
        f"DOMAINS = {domains!r}",
        f"IN_WORDS = {words!r}",
        "LARGEST = 1.7976931348623157e308",
        f"BEYOND = {BEYOND!r}",
        "",
        CHECK,
        *(f"\n{source}" for source in sources),
    ]
    return "\n".join(head) + "".join(f"\n\n{_function(bound)}" for bound in bounds)


def _sources(function: Callable[..., Any]) -> Iterator[str]:
    """Of a function, after those of what it calls in its own module."""
    for name in inspect.unwrap(function).__code__.co_names:
        if name.startswith("_"):
            yield from _sources(getattr(functions, name))
    yield inspect.getsource(function)


def function_name(bound: Bound) -> str:
    """The name of a bound's function.

    >>> from hflbounds import get
    >>> function_name(get("zhou2026.thm1.star-ring"))
    'zhou2026_thm1_star_ring'
    """
    name = re.sub(r"[^A-Za-z0-9]+", "_", bound.id).strip("_") or "bound"
    return f"bound_{name}" if name[0].isdigit() or keyword.iskeyword(name) else name


def _formulas(bound: Bound) -> list[Expr]:
    sides = [side for c in bound.requires for side in (c.lhs, c.rhs)]
    return [*bound.terms.values(), *bound.where.values(), *sides, *bound.defaults.values()]


def _function(bound: Bound) -> str:
    name = function_name(bound)
    asked = [n for n in bound.needs if n not in bound.defaults]
    optional = [n for n in bound.needs if n in bound.defaults]
    helpers = [
        s.name for n in optional for s in sorted(bound.defaults[n].symbols, key=str) if s.name not in bound.needs
    ]
    parameters = ", ".join([*asked, *(f"{n}=None" for n in [*optional, *dict.fromkeys(helpers)])])
    signature = f"*, {parameters}" if parameters else ""
    given = ", ".join(f"{n}={n}" for n in [*asked, *optional, *dict.fromkeys(helpers)])
    taken = {*bound.needs, *helpers}
    body: list[str] = []
    inner: list[str] = []
    for n in optional:
        needed = sorted(s.name for s in bound.defaults[n].symbols)
        body.append(f"    if {n} is None:")
        if needed:
            missing = " or ".join(f"{other} is None" for other in needed)
            told = " and ".join(needed)
            body += [f"        if {missing}:", f'            raise TypeError("{name} needs {n}, or {told}")']
            body.append(f"        _checked({name!r}, {', '.join(f'{other}={other}' for other in needed)})")
        body.append(f"        {n} = {_python(bound.defaults[n], {})}")
    if bound.needs:
        body.append(f"    _checked({name!r}, {', '.join(f'{n}={n}' for n in bound.needs)})")
    for n in bound.needs:
        limit = ABOUT[n].at_most
        if limit in bound.needs:
            body += [
                f"    if not {n} <= {limit}:",
                f'        raise ValueError(f"{name}: {n} = {{{n}}} exceeds {limit} = {{{limit}}}")',
            ]
    if bound.needs:
        body.append(f"    {', '.join(bound.needs)} = {', '.join(f'float({n})' for n in bound.needs)}")
    for condition in bound.requires:
        lhs, rhs = _python(condition.lhs, {}), _python(condition.rhs, {})
        said = f"{condition}"
        inner += [
            f"    lhs, rhs = {lhs}, {rhs}",
            f"    if not lhs {condition.op} rhs:",
            f'        raise ValueError(f"{name} requires {said}, but these are {{lhs}} and {{rhs}}")',
        ]
    known: dict[Expr, str] = {}
    for part_name, part in bound.where.items():
        local = re.sub(r"\W+", "_", part_name).strip("_") or "part"
        while local in taken or keyword.iskeyword(local):
            local = f"{local}_"
        taken.add(local)
        inner.append(f"    {local} = {_python(part, known)}")
        known[part] = local
    inner += ["    terms = {", *(f"        {n!r}: {_python(e, known)}," for n, e in bound.terms.items()), "    }"]
    body += ["    try:", *(f"    {line}" for line in inner)]
    body += ["    except (OverflowError, ZeroDivisionError):"]
    body += [f"        raise ValueError(BEYOND.format({name!r})) from None"]
    body.append(f"    return _in_range({name!r}, terms)")
    return "\n".join(
        [
            f"def {name}_terms({signature}):",
            f'    """The terms of `{name}`, by name; arguments and errors as there."""',
            *body,
            "",
            "",
            f"def {name}({signature}):",
            _docstring(bound, [*asked, *optional]),
            f"    return float(sum({name}_terms({given}).values()))",
            "",
        ]
    )


def _docstring(bound: Bound, names: Sequence[str]) -> str:
    args = "\n".join(f"        {n}: {_doc(meaning(bound, n))}; {IN_WORDS[ABOUT[n].domain]}." for n in names)
    return f'''    """{_doc(bound.title)}.

    An upper bound on the {_doc(bound.bounds.meaning)}
    ({_doc(CONSTANTS[bound.constants])}). {_doc(str(bound.source))}.
    Status: {_doc(said_status(bound))}.

    Args:
{args}

    Raises:
        ValueError: for a number its quantity cannot be, where a condition does not hold, and where the value
            is beyond the range of floats.
    """'''


def _python(formula: Expr, known: dict[Expr, str]) -> str:
    """Text of a formula; what is not chosen is not computed."""
    names = dict(known)
    for part in reversed(list(formula.walk())):  # the innermost first
        if part in names:
            continue
        if isinstance(part, Maximum):
            names[part] = f"max({', '.join(arg.text(names) for arg in part.args)})"
        elif isinstance(part, Choice):
            lhs, rhs, then, otherwise = (arg.text(names) for arg in part.args)
            names[part] = f"({then} if {lhs} {part.op} {rhs} else {otherwise})"
    return formula.text(names)


def _doc(text: str) -> str:
    r"""Words that cannot end a docstring."""
    return wording.line(text).replace("\\", "/").replace('"', "'").rstrip(".")
