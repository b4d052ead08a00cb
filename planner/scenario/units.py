"""Quantities as users write them: rates, sizes and durations, read by a closed table.

No general unit parser is used on user text. A general one reads ``20 mbit/s`` as a fortieth of a byte per
second and ``20 Mb/s`` as megabarn per second, and may be made to compute for hours; here a number is
scanned once, a unit is looked up in a table, and everything else is refused with the way out.

Bits are ``bit`` (or ``b`` and ``bps`` in rates), bytes are ``B``; ``k M G T`` are powers of 1000 and
``Ki Mi Gi`` powers of 1024 (IEC 80000-13). The case of a letter therefore carries meaning and is never
guessed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from difflib import get_close_matches
from typing import Final, NamedTuple, Self

from planner.errors import PlannerError

__all__ = [
    "Duration",
    "QuantityError",
    "Rate",
    "Size",
    "format_duration",
    "format_rate",
    "format_size",
    "parse_duration",
    "parse_rate",
    "parse_size",
]

MAX_LENGTH: Final = 64
"""Longest text that is read, in characters."""


class QuantityError(PlannerError, ValueError):
    """A quantity that cannot be read; the message names the field, the value, the rule and the way out."""


class _Quantity(float):
    """A float that remembers how it was read, so that the reading can be echoed."""

    __slots__ = ("_reading",)
    _reading: str

    def __new__(cls, value: float, reading: str = "") -> Self:
        self = super().__new__(cls, value)
        self._reading = reading
        return self

    @property
    def reading(self) -> str:
        """The number and the unit in canonical spelling, as in ``20 Mbit/s`` for ``20Mbps``."""
        return self._reading


class Rate(_Quantity):
    """A data rate [bit/s]."""

    __slots__ = ()


class Size(_Quantity):
    """An amount of data [bytes]."""

    __slots__ = ()


class Duration(_Quantity):
    """A duration [s]."""

    __slots__ = ()


class _Unit(NamedTuple):
    """One unit: 1 of it is ``factor * 10**exponent`` of the base unit of its dimension."""

    dimension: str
    canonical: str
    exponent: int
    factor: int


class _Dimension(NamedTuple):
    """What may be said of one dimension: its base unit, an example, and the range that is read."""

    noun: str
    base: str
    example: str
    smallest: float
    largest: float
    zero: str  # why zero is refused; empty where zero is a value like any other


# The ranges are far wider than any network and keep every later product finite in double precision.
_DIMENSIONS: Final = {
    "rate": _Dimension("a rate", "bit/s", "20Mbit/s", 1e-6, 1e21, "a link of rate 0 never delivers the model"),
    "size": _Dimension("a size", "B", "45MB", 1.0, 1e24, "a model of 0 bytes has no parameters"),
    "duration": _Dimension("a duration", "s", "0.2s", 1e-12, 1e12, ""),
}

# prefix -> power of ten; the factor 8 turns bytes into bits
_DECIMAL: Final = {"": 0, "k": 3, "M": 6, "G": 9, "T": 12}
_BINARY: Final = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30}


def _table() -> dict[str, _Unit]:
    """Every accepted spelling, once."""
    units: dict[str, _Unit] = {}
    for prefix, exponent in _DECIMAL.items():
        for spelling in ("bit/s", "b/s", "bps"):
            units[f"{prefix}{spelling}"] = _Unit("rate", f"{prefix}bit/s", exponent, 1)
    for prefix, exponent in _DECIMAL.items():
        units[f"{prefix}B/s"] = _Unit("rate", f"{prefix}B/s", exponent, 8)
        units[f"{prefix}B"] = _Unit("size", f"{prefix}B", exponent, 1)
    for prefix, factor in _BINARY.items():
        units[f"{prefix}B/s"] = _Unit("rate", f"{prefix}B/s", 0, 8 * factor)
        units[f"{prefix}B"] = _Unit("size", f"{prefix}B", 0, factor)
    for name, exponent, factor in (
        ("us", -6, 1),
        ("ms", -3, 1),
        ("s", 0, 1),
        ("min", 0, 60),
        ("h", 0, 3600),
        ("d", 0, 86400),
    ):
        units[name] = _Unit("duration", name, exponent, factor)
    return units


_UNITS: Final = _table()

# Amounts in bits: unambiguous, but models are counted in bytes and rates need "/s".
_BIT_AMOUNTS: Final = {f"{prefix}{word}": prefix for prefix in _DECIMAL for word in ("bit", "bits", "b")}

# Words people write for units of the table. "m" could be min or ms (or metres), so it is never guessed.
_WORDS: Final = {
    "m": ("min", "ms"),
    "M": ("min", "ms"),
    "sec": ("s",),
    "secs": ("s",),
    "second": ("s",),
    "seconds": ("s",),
    "msec": ("ms",),
    "usec": ("us",),
    "\u00b5s": ("us",),  # micro sign
    "\u03bcs": ("us",),  # Greek mu
    "mins": ("min",),
    "minute": ("min",),
    "minutes": ("min",),
    "hr": ("h",),
    "hrs": ("h",),
    "hour": ("h",),
    "hours": ("h",),
    "day": ("d",),
    "days": ("d",),
    "byte": ("B",),
    "bytes": ("B",),
    "kilobytes": ("kB",),
    "megabytes": ("MB",),
    "gigabytes": ("GB",),
}


def parse_rate(text: object, *, field: str = "rate") -> Rate:
    """Read a data rate.

    Accepted units: ``bit/s kbit/s Mbit/s Gbit/s Tbit/s``, the same with ``bps`` or ``b/s`` for ``bit/s``,
    and ``B/s kB/s MB/s GB/s TB/s KiB/s MiB/s GiB/s`` for bytes.

    Args:
        text: What the user wrote, such as ``20Mbit/s`` or ``2.5 MB/s``.
        field: The option or key it was written for; it opens the message of a refusal.

    Returns:
        The rate [bit/s]; ``.reading`` is its canonical spelling.

    Raises:
        QuantityError: If the text is not one positive finite number and one rate unit of the table.

    >>> rate = parse_rate("20Mb/s", field="--uplink")
    >>> float(rate), rate.reading
    (20000000.0, '20 Mbit/s')
    """
    value, reading = _parse(text, "rate", field, positive=True)
    return Rate(value, reading)


def parse_size(text: object, *, field: str = "size") -> Size:
    """Read an amount of data.

    Accepted units: ``B kB MB GB TB KiB MiB GiB``.

    Args:
        text: What the user wrote, such as ``44.8MB``.
        field: The option or key it was written for; it opens the message of a refusal.

    Returns:
        The size [bytes]; ``.reading`` is its canonical spelling.

    Raises:
        QuantityError: If the text is not one positive finite number and one size unit of the table.

    >>> float(parse_size("44.8MB"))
    44800000.0
    """
    value, reading = _parse(text, "size", field, positive=True)
    return Size(value, reading)


def parse_duration(text: object, *, field: str = "duration", positive: bool = False) -> Duration:
    """Read a duration.

    Accepted units: ``us ms s min h d``.

    Args:
        text: What the user wrote, such as ``0.2s``.
        field: The option or key it was written for; it opens the message of a refusal.
        positive: Refuse zero. A latency of ``0s`` is a fair idealisation, a deadline of ``0s`` is not.

    Returns:
        The duration [s]; ``.reading`` is its canonical spelling.

    Raises:
        QuantityError: If the text is not one finite number >= 0 and one duration unit of the table.

    >>> float(parse_duration("200 ms"))
    0.2
    """
    value, reading = _parse(text, "duration", field, positive=positive)
    return Duration(value, reading)


def _parse(text: object, wanted: str, field: str, *, positive: bool) -> tuple[float, str]:
    """Value in the base unit of ``wanted`` and canonical reading."""
    dimension = _DIMENSIONS[wanted]
    example = dimension.example
    if not isinstance(text, str):
        if isinstance(text, int | float) and not isinstance(text, bool):
            text = repr(text)  # a bare number from a TOML file deserves the same answer as one in quotes
        else:
            raise QuantityError(
                f"{field}: expected {dimension.noun} written as text such as {example}, "
                f"not a value of type {type(text).__name__}."
            )
    if len(text) > MAX_LENGTH:
        raise QuantityError(
            f"{field}: {text[:20] + '...'!a} has {len(text)} characters; a quantity has at most "
            f"{MAX_LENGTH}. Write {dimension.noun} such as {example}."
        )
    shown = ascii(text)
    body = text.strip()
    if not body:
        raise QuantityError(f"{field}: the value is empty. Write {dimension.noun} such as {example}.")

    if any(character.isdigit() and not character.isascii() for character in body):
        raise QuantityError(f"{field}: {shown} has digits other than 0-9. Write {dimension.noun} such as {example}.")

    number, unit = _split(body)
    unsigned = number.lstrip("+-")
    if not unsigned:
        raise QuantityError(f"{field}: {_no_number(body, shown, dimension)}")
    if unit[:1] in (".", ",", "_", "'"):
        raise QuantityError(
            f"{field}: {shown} is no single number because of the {unit[0]!r} after {number}. Use one '.' "
            "for decimals and no thousands separators."
        )
    if not unit:
        raise QuantityError(f"{field}: {_no_unit(unsigned, shown, wanted, dimension)}")
    found = _UNITS.get(unit)
    if found is None or found.dimension != wanted:
        raise QuantityError(f"{field}: {_wrong_unit(unsigned, unit, shown, wanted)}")
    # The unit's power of ten joins the exponent of the text, so that 44.8MB is the double nearest to
    # 44 800 000 and not the product of two rounded numbers.
    mantissa, _, power = unsigned.lower().partition("e")
    value = float(f"{mantissa}e{int(power or '0') + found.exponent}") * found.factor
    zero = not mantissa.strip("0.")  # of the text: an underflow is not a zero that someone wrote
    if zero and (dimension.zero or positive):
        reason = dimension.zero or "zero makes no sense here"
        raise QuantityError(f"{field}: {shown} is zero, and {reason}. Write {dimension.noun} above 0.")
    if number.startswith("-"):
        raise QuantityError(f"{field}: {shown} is negative; {dimension.noun} has no sign. Write {unsigned}{unit}.")
    if zero:
        return 0.0, f"0 {found.canonical}"
    if not dimension.smallest <= value <= dimension.largest:
        raise QuantityError(
            f"{field}: {shown} is outside the range that is read, {dimension.smallest:g} to "
            f"{dimension.largest:g} {dimension.base}. Check the exponent and the unit."
        )
    return value, f"{_plain(float(unsigned))} {found.canonical}"


def _split(body: str) -> tuple[str, str]:
    """Scan one decimal number from the left, once; return it (may be only a sign) and what follows."""
    digits = "0123456789"
    end = 1 if body[0] in "+-" else 0
    sign = end
    while end < len(body) and body[end] in digits:
        end += 1
    if end < len(body) and body[end] == ".":
        point = end
        end += 1
        while end < len(body) and body[end] in digits:
            end += 1
        if end == point + 1 and point == sign:  # a lone point is no number
            return body[:sign], body[sign:]
    if end > sign and end < len(body) and body[end] in "eE":
        power = end + 1
        if power < len(body) and body[power] in "+-":
            power += 1
        start = power
        while power < len(body) and body[power] in digits:
            power += 1
        if power > start:
            end = power
    return body[:end], body[end:].strip()


def _plain(value: float) -> str:
    """Shortest text that reads back as the same float, without a trailing ``.0``."""
    return repr(value).removesuffix(".0")


def _choices(wanted: str) -> str:
    """The canonical units of a dimension, for a message."""
    names = dict.fromkeys(unit.canonical for unit in _UNITS.values() if unit.dimension == wanted)
    return " ".join(names)


def _no_number(body: str, shown: str, dimension: _Dimension) -> str:
    """Why a text that does not start with a number is refused."""
    word = body.lstrip("+-").lower()
    if word.startswith(("nan", "inf")):
        return f"{shown} is not a finite number. Write {dimension.noun} such as {dimension.example}."
    if body in _UNITS:
        return f"{shown} is a unit without a number. Write {dimension.noun} such as {dimension.example}."
    return f"{shown} does not start with a number. Write {dimension.noun} such as {dimension.example}."


def _no_unit(number: str, shown: str, wanted: str, dimension: _Dimension) -> str:
    """Why a bare number is refused."""
    if wanted == "rate":
        advice = f"Write {number}Mbit/s (bits) or {number}MB/s (bytes, 8 times as much)."
    elif wanted == "size":
        advice = f"Write {number}MB or {number}MiB, or another of {_choices(wanted)}."
    else:
        advice = f"Write {number}s or {number}ms, or another of {_choices(wanted)}."
    return f"{shown} has no unit, and {dimension.noun} needs one. {advice}"


def _wrong_unit(number: str, unit: str, shown: str, wanted: str) -> str:
    """Why a unit is refused, and which one was probably meant."""
    dimension = _DIMENSIONS[wanted]
    table = [name for name, entry in _UNITS.items() if entry.dimension == wanted]
    head = unit.partition(" ")[0]
    if head in table:
        return (
            f"{shown} has {unit[len(head) :].strip()!a} left over after {number}{head}. Give one number and one unit."
        )
    if unit in _UNITS:
        other = _DIMENSIONS[_UNITS[unit].dimension].noun
        return f"{shown} is {other}, and {dimension.noun} is wanted: {_convert(number, unit, wanted)}."
    if unit in _BIT_AMOUNTS:
        prefix = _BIT_AMOUNTS[unit]
        if wanted == "rate":
            return (
                f"{shown} is an amount of data, and {dimension.noun} is wanted: "
                f"{number}{prefix}bit/s (bits) or {number}{prefix}B/s (bytes)."
            )
        if wanted == "size":
            return (
                f"{shown} counts bits, and a size is counted in bytes: write {number}{prefix}B if bytes were "
                f"meant, and an eighth of that for {number} {prefix}bit."
            )
    if wanted == "rate" and unit.endswith("Bps") and f"{unit[:-3]}B/s" in _UNITS:
        prefix = unit[:-3]
        bits = "k" if prefix == "Ki" else prefix[:1]  # there is no Kibit/s in the table
        return (
            f"{shown} mixes B (bytes) with the spelling of bits. "
            f"Write {number}{prefix}B/s for bytes or {number}{bits}bit/s for bits."
        )

    if any(character.isdigit() for character in unit):  # 0x20, 9**9: nothing worth guessing at
        return f"{shown} is not one number and one unit. Write {dimension.noun} such as {dimension.example}."

    why = ""
    meant = list(_WORDS.get(unit, ()))
    if any(_UNITS[name].dimension != wanted for name in meant):
        meant = []
    if not meant:
        meant = [_UNITS[name].canonical for name in table if name.lower() == unit.lower()]
        if meant and unit.startswith("m") and wanted != "duration":
            why = f"; {unit} would be milli, a thousandth"
            meant.append("MB/s" if wanted == "rate" else "MB")
        elif meant and unit.startswith("K") and not unit.startswith("Ki"):
            why = "; k is 1000 and Ki is 1024, K is neither"
            if unit[1] == "B":
                suffix = unit[2:].lower()
                meant = [f"kB{suffix}", f"KiB{suffix}"]
    if not meant:
        meant = [_UNITS[name].canonical for name in get_close_matches(unit, table, n=1, cutoff=0.7)]
    guesses = " or ".join(number + name for name in dict.fromkeys(meant))
    advice = f"Did you mean {guesses}?" if guesses else f"Units: {_choices(wanted)}."
    return f"{shown}: {unit!a} is not a unit of {dimension.noun.split()[-1]}{why}. {advice}"


def _convert(number: str, unit: str, wanted: str) -> str:
    """The nearest thing of the wanted dimension, for a quantity of another one."""
    if wanted == "rate" and f"{unit}/s" in _UNITS:
        return f"write {number}{unit}/s"
    if wanted == "size" and _UNITS[unit].dimension == "rate":
        canonical = _UNITS[unit].canonical
        prefix = canonical[: canonical.index("bit" if "bit" in canonical else "B")]
        return f"write {number}{prefix}B"
    return f"write one such as {_DIMENSIONS[wanted].example}"


def format_rate(rate: float) -> str:
    """A rate [bit/s] for people, to three significant digits.

    Raises:
        QuantityError: If the rate is negative or not finite.

    >>> format_rate(20e6), format_rate(1.234e9)
    ('20 Mbit/s', '1.23 Gbit/s')
    """
    return _scaled(rate, "rate", ("bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"))


def format_size(size: float) -> str:
    """A size [bytes] for people, to three significant digits.

    Raises:
        QuantityError: If the size is negative or not finite.

    >>> format_size(1.2e9), format_size(512)
    ('1.2 GB', '512 B')
    """
    return _scaled(size, "size", ("B", "kB", "MB", "GB", "TB"))


def format_amount(value: float | str | None, unit: str = "") -> str:
    """An amount of any unit for people: a rate, a size, a duration, a count, or a number to four digits.

    >>> format_amount(2e7, "bit/s"), format_amount(1200), format_amount(0.12345), format_amount("own")
    ('20 Mbit/s', '1,200', '0.1235', 'own')
    """
    if isinstance(value, str) or value is None:
        return str(value)
    if unit in FORMATS:
        return FORMATS[unit](float(value))
    return f"{value:,.0f}" if abs(value) < 1e9 and value == round(value) else f"{value:.4g}"


def format_duration(duration: float) -> str:
    """A duration [s] for people: three significant digits below two minutes, two units above.

    Raises:
        QuantityError: If the duration is negative or not finite.

    >>> format_duration(0.2), format_duration(12000), format_duration(54)
    ('0.20 s', '3 h 20 min', '54 s')
    """
    _check(duration, "duration")
    if duration == 0:
        return "0 s"
    if duration < 0.1:
        return _scaled(duration * 1e6, "duration", ("us", "ms"))
    if duration < 119.5:
        return f"{_digits(duration)} s"
    for limit, big, small, units in (
        (3600, 60, 1, ("min", "s")),
        (172800, 3600, 60, ("h", "min")),
        (864000, 86400, 3600, ("d", "h")),
    ):
        count = round(duration / small)
        if count * small < limit:
            whole, rest = divmod(count, big // small)
            return f"{whole} {units[0]} {rest} {units[1]}" if rest else f"{whole} {units[0]}"
    return f"{_digits(duration / 86400)} d"


FORMATS: dict[str, Callable[[float], str]] = {"bit/s": format_rate, "bytes": format_size, "s": format_duration}


def _check(value: float, noun: str) -> None:
    """Refuse what no output should ever print."""
    if not (math.isfinite(value) and value >= 0):
        raise QuantityError(f"{noun}: {value!r} is not a finite number >= 0, and cannot be printed as one.")


def _scaled(value: float, noun: str, units: tuple[str, ...]) -> str:
    """Three significant digits in the largest unit that leaves at least 1."""
    _check(value, noun)
    if value == 0:
        return f"0 {units[0]}"
    index = 0
    while index < len(units) - 1 and value >= 999.5:  # 999.5 would print as 1000
        value /= 1000
        index += 1
    if units[index] == "B" and value == int(value):  # a count of bytes has no decimals
        return f"{int(value)} B"
    return f"{_digits(value)} {units[index]}"


def _digits(value: float) -> str:
    """Three significant digits; trailing zeros after the point are dropped down to two digits."""
    if not 1e-4 <= value < 1e7:
        return f"{value:.3g}"
    decimals = 2 - math.floor(math.log10(float(f"{value:.2e}")))
    if decimals <= 0:
        return str(int(float(f"{value:.2e}")))
    text = f"{value:.{decimals}f}"
    return text[:-1] if decimals >= 2 and text.endswith("0") else text.removesuffix(".0")
