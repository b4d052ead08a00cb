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
import re
from collections.abc import Callable
from difflib import get_close_matches
from typing import Final, NamedTuple, Self

from planner.errors import PlannerError

TURNS: Final = re.compile(r"(\d{1,4}(?:\.\d{1,4})?) ?turns?")
MOST_TURNS: Final = 1_000
MAX_LENGTH: Final = 64  # characters of the longest text that is read


class QuantityError(PlannerError, ValueError):
    """A quantity that cannot be read; the message names the field, the value, the rule and the way out."""

    kind = "E023"


class Quantity(float):
    """A float that remembers how it was read, so that the reading can be echoed."""

    __slots__ = ("reading",)
    reading: str  # the number and the unit in canonical spelling, as in ``20 Mbit/s`` for ``20Mbps``

    def __new__(cls, value: float, reading: str = "") -> Self:
        """Keep a number in the base unit with its reading."""
        self = super().__new__(cls, value)
        self.reading = reading
        return self


class Turns(float):
    """A duration as a multiple of the usual turn of a client."""

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
    unitless: str  # what to write in place of the number n alone


# The ranges are far wider than any network and keep every later product finite in double precision.
DIMENSIONS: Final = {
    "rate": _Dimension(
        "a rate", "bit/s", "20Mbit/s", 1e-6, 1e21, "a link of rate 0 never delivers the model",
        "{n}Mbit/s (bits) or {n}MB/s (bytes, 8 times as much)",
    ),
    "size": _Dimension(
        "a size", "B", "45MB", 1.0, 1e24, "a model of 0 bytes has no parameters",
        "{n}MB, or {n}Mparameters of 4 bytes",
    ),
    "power": _Dimension("a power", "W", "5W", 1e-6, 1e9, "", "{n}W, or another of {units}"),
    "intensity": _Dimension("an energy per data", "kWh/GB", "0.05kWh/GB", 1e-9, 1e6, "", "{n}kWh/GB"),
    "carbon": _Dimension("a carbon intensity", "g/kWh", "400g/kWh", 1e-6, 1e6, "", "{n}g/kWh, or {n}kg/kWh"),
    "energy": _Dimension("an energy", "J", "5kWh", 1e-9, 1e21, "", "{n}kWh, or another of {units}"),
    "mass": _Dimension("a mass of CO2e", "kg", "5kgCO2e", 1e-9, 1e15, "", "{n}kgCO2e, or another of {units}"),
    "duration": _Dimension("a duration", "s", "0.2s", 1e-12, 1e12, "", "{n}s or {n}ms, or another of {units}"),
}  # fmt: skip

# prefix -> power of ten; the factor 8 turns bytes into bits
SINGLE: Final = 1e5  # a number alone from which on it counts bits or bytes
_DECIMAL: Final = {"": 0, "k": 3, "M": 6, "G": 9, "T": 12}
_BINARY: Final = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30}
_BITS: Final = ("bit/s", "b/s", "bps")


def _table() -> dict[str, _Unit]:
    """Every accepted spelling, once."""
    units: dict[str, _Unit] = {}
    for prefix, exponent in _DECIMAL.items():
        units |= {f"{prefix}{spelling}": _Unit("rate", f"{prefix}bit/s", exponent, 1) for spelling in _BITS}
    for prefix, exponent, factor in (
        *((p, e, 1) for p, e in _DECIMAL.items()),
        *((p, 0, f) for p, f in _BINARY.items()),
    ):
        units[f"{prefix}B/s"] = _Unit("rate", f"{prefix}B/s", exponent, 8 * factor)
        units[f"{prefix}B"] = _Unit("size", f"{prefix}B", exponent, factor)
    units |= {f"{prefix}B": _Unit("size", f"{prefix}B", exponent, 1) for prefix, exponent in (("P", 15), ("E", 18))}
    for prefix, exponent in {**_DECIMAL, "B": 9, "million": 6}.items():  # of parameters in single precision
        unit = _Unit("size", f"{prefix} parameters".strip(), exponent, 4)
        units |= {unit.canonical: unit, f"{prefix}parameters": unit}
    clock = {"us": (-6, 1), "ms": (-3, 1), "s": (0, 1), "min": (0, 60), "h": (0, 3600), "d": (0, 86400)}
    footprint = {
        "power": {"mW": (-3, 1), "W": (0, 1), "kW": (3, 1)},
        "intensity": {"kWh/GB": (0, 1), "Wh/GB": (-3, 1)},
        "carbon": {"g/kWh": (0, 1), "kg/kWh": (3, 1)},
        "energy": {"J": (0, 1), "kJ": (3, 1), "MJ": (6, 1), "Wh": (0, 3600), "kWh": (3, 3600), "MWh": (6, 3600)},
        "mass": {"gCO2e": (-3, 1), "kgCO2e": (0, 1), "tCO2e": (3, 1)},
    }
    for dimension, scales in {"duration": clock, **footprint}.items():
        units |= {name: _Unit(dimension, name, *scale) for name, scale in scales.items()}
    return units


_UNITS: Final = _table()

# Amounts in bits: unambiguous, but models are counted in bytes and rates need "/s".
_BIT_AMOUNTS: Final = {f"{prefix}{word}": prefix for prefix in _DECIMAL for word in ("bit", "bits", "b")}

# Words people write for units of the table. "m" could be min or ms (or metres), so it is never guessed.
_WORDS: Final[dict[str, tuple[str, ...]]] = {
    **{"m": ("min", "ms"), "M": ("min", "ms", "MB", "Mparameters"), "million": ("Mparameters",)},
    **{"k": ("kB", "kparameters"), "G": ("GB", "Gparameters")},
} | {
    word: (unit,)
    for unit, words in {
        "s": "sec secs second seconds",
        "ms": "msec",
        "us": "usec \u00b5s \u03bcs",  # with the micro sign, and with the Greek mu
        "min": "mins minute minutes",
        "h": "hr hrs hour hours",
        "d": "day days",
        "B": "byte bytes",
        "kB": "kilobytes",
        "MB": "megabytes",
        "GB": "gigabytes",
    }.items()
    for word in words.split()
}
_NUMBER: Final = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def parse_rate(text: object, *, field: str = "rate") -> Quantity:
    """Read a data rate [bit/s], such as ``20Mbit/s`` or ``2.5 MB/s``.

    Accepted units: ``bit/s kbit/s Mbit/s Gbit/s Tbit/s``, the same with ``bps`` or ``b/s`` for ``bit/s``,
    and ``B/s kB/s MB/s GB/s TB/s KiB/s MiB/s GiB/s`` for bytes.

    ``field`` is the option or key it was written for, which opens the message of a refusal.

    Raises:
        QuantityError: If the text is not one positive finite number and one rate unit of the table.

    >>> rate = parse_rate("20Mb/s", field="--uplink")
    >>> float(rate), rate.reading
    (20000000.0, '20 Mbit/s')
    """
    return parse(text, "rate", field=field)


def parse_size(text: object, *, field: str = "size") -> Quantity:
    """Read an amount of data [bytes], such as ``44.8MB``: as `parse_rate`, in ``B kB MB GB TB KiB MiB GiB PB EB``.

    ``11.2M parameters`` are of four bytes.

    >>> float(parse_size("44.8MB"))
    44800000.0
    """
    return parse(text, "size", field=field)


def parse_duration(text: object, field: str = "duration", *, positive: bool = False) -> Quantity:
    """Read a duration [s], such as ``0.2s``: as `parse_rate`, in ``us ms s min h d``.

    Zero is refused where it must be ``positive``: a latency of ``0s`` is a fair idealisation, a deadline is not.

    >>> float(parse_duration("200 ms"))
    0.2
    """
    return parse(text, "duration", field=field, positive=positive)


def parse_patience(text: object, field: str = "patience") -> Quantity | Turns:
    """Read a duration [s] as `parse_duration`, or a multiple of the usual turn of a client, such as ``6 turns``."""
    found = TURNS.fullmatch(str(text).strip())
    if found is None:
        return parse_duration(text, field=field, positive=True)
    number = float(found[1])
    if not 1 <= number <= MOST_TURNS:
        raise QuantityError(f"{field}: {number:g} turns are not from 1 to {MOST_TURNS:,}. Write 2 turns, or 10min.")
    return Turns(number)


def format_energy(energy: float) -> str:
    """An energy [J] for people.

    >>> format_energy(1.8e6), format_energy(90)
    ('0.50 kWh', '90 J')
    """
    _check(energy, "energy")
    return f"{_digits(energy / 3.6e6)} kWh" if energy >= 3.6e4 else f"{_digits(energy)} J"


def format_mass(mass: float) -> str:
    """A mass of CO2e [kg] for people.

    >>> format_mass(0.25), format_mass(12)
    ('250 gCO2e', '12 kgCO2e')
    """
    _check(mass, "mass")
    return f"{_digits(mass)} kgCO2e" if mass >= 1 or not mass else f"{_digits(1000 * mass)} gCO2e"


def parse(text: object, wanted: str, *, field: str, positive: bool = False) -> Quantity:
    """Read a quantity of one of `DIMENSIONS`, in its base unit.

    Raises:
        QuantityError: If the text is not one number and one unit of the table.
    """
    dimension = DIMENSIONS[wanted]
    instead = f"Write {dimension.noun} such as {dimension.example}."

    def refusal(why: str) -> QuantityError:
        return QuantityError(f"{field}: {why}")

    if isinstance(text, int | float) and not isinstance(text, bool):
        text = repr(text)  # a bare number from a TOML file deserves the same answer as one in quotes
    if not isinstance(text, str):
        kind = type(text).__name__
        raise refusal(
            f"expected {dimension.noun} written as text such as {dimension.example}, not a value of type {kind}."
        )
    if len(text) > MAX_LENGTH:
        start = text[:20] + "..."
        raise refusal(f"{start!a} has {len(text)} characters; a quantity has at most {MAX_LENGTH}. {instead}")
    shown, body = ascii(text), text.strip()
    if not body:
        raise refusal(f"the value is empty. {instead}")
    if any(character.isdigit() and not character.isascii() for character in body):
        raise refusal(f"{shown} has digits other than 0-9. {instead}")

    scanned = _NUMBER.match(body)
    if scanned is None:
        word = body.lstrip("+-").lower()
        fact = "does not start with a number" if body not in _UNITS else "is a unit without a number"
        raise refusal(f"{shown} {'is not a finite number' if word.startswith(('nan', 'inf')) else fact}. {instead}")
    number, unit = scanned[0], body[scanned.end() :].strip()
    unsigned = number.lstrip("+-")
    if unit[:1] in (".", ",", "_", "'"):
        raise refusal(
            f"{shown} is no single number because of the {unit[0]!r} after {number}. Use one '.' for decimals and no "
            "thousands separators."
        )
    if not unit:
        if (positive or dimension.zero) and float(unsigned) == 0:
            raise refusal(f"{shown} is zero. Write {dimension.noun} above 0, such as {dimension.example}.")
        advice = dimension.unitless.format(n=unsigned, units=_choices(wanted))
        if wanted in ("rate", "size") and (amount := float(unsigned)) >= SINGLE:  # of bits or bytes, not of millions
            advice = f"{amount / 1e6:.12g}M{dimension.base}"
            if wanted == "size":
                advice += f", or {amount / 1e6:.12g}Mparameters, which are {4 * amount / 1e6:.12g}MB"
        raise refusal(f"{shown} has no unit, and {dimension.noun} needs one. Write {advice}.")
    found = _UNITS.get(unit)
    if found is None or found.dimension != wanted:
        raise refusal(_wrong_unit(unsigned, unit, shown, wanted))
    # The unit's power of ten joins the exponent of the text, so that 44.8MB is the double nearest to
    # 44 800 000 and not the product of two rounded numbers.
    mantissa, _, power = unsigned.lower().partition("e")
    value = float(f"{mantissa}e{int(power or '0') + found.exponent}") * found.factor
    zero = not mantissa.strip("0.")  # of the text: an underflow is not a zero that someone wrote
    if zero and (dimension.zero or positive):
        reason = dimension.zero or "zero makes no sense here"
        raise refusal(f"{shown} is zero, and {reason}. Write {dimension.noun} above 0.")
    if number.startswith("-"):
        raise refusal(f"{shown} is negative; {dimension.noun} has no sign. Write {unsigned}{unit}.")
    if zero:
        return Quantity(0.0, f"0 {found.canonical}")
    if not dimension.smallest <= value <= dimension.largest:
        raise refusal(
            f"{shown} is outside the range that is read, {dimension.smallest:g} to {dimension.largest:g} "
            f"{dimension.base}. Check the exponent and the unit."
        )
    return Quantity(value, f"{repr(float(unsigned)).removesuffix('.0')} {found.canonical}")


def _choices(wanted: str) -> str:
    """The canonical units of a dimension, for a message."""
    of_it = dict.fromkeys(unit.canonical for unit in _UNITS.values() if unit.dimension == wanted)
    return " ".join(unit for unit in of_it if " " not in unit)


def _wrong_unit(number: str, unit: str, shown: str, wanted: str) -> str:
    """Why a unit is refused, and which one was probably meant."""
    dimension = DIMENSIONS[wanted]
    table = [name for name, entry in _UNITS.items() if entry.dimension == wanted]
    head = unit.partition(" ")[0]
    if head in table:
        rest = unit[len(head) :].strip()
        return f"{shown} has {rest!a} left over after {number}{head}. Give one number and one unit."
    if unit in _UNITS:
        other, nearest = _UNITS[unit], f"one such as {dimension.example}"
        if wanted == "rate" and f"{unit}/s" in _UNITS:
            nearest = f"{number}{unit}/s"
        elif wanted == "size" and other.dimension == "rate":
            nearest = f"{number}{re.split('bit|B', other.canonical)[0]}B"
        return f"{shown} is {DIMENSIONS[other.dimension].noun}, and {dimension.noun} is wanted: write {nearest}."
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
    meant = [name for name in _WORDS.get(unit, ()) if _UNITS[name].dimension == wanted]
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


def format_rate(rate: float) -> str:
    """A rate [bit/s] for people, to three significant digits.

    >>> format_rate(20e6), format_rate(1.234e9)
    ('20 Mbit/s', '1.23 Gbit/s')
    """
    return _scaled(rate, "rate", ("bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"))


def format_size(size: float) -> str:
    """A size [bytes] for people, to three significant digits.

    >>> format_size(1.2e9), format_size(512), format_size(6.5e15)
    ('1.2 GB', '512 B', '6.5 PB')
    """
    return _scaled(size, "size", ("B", "kB", "MB", "GB", "TB", "PB", "EB"))


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


def format_break_even(at: float | str, unit: str = "") -> str:
    """A break-even point for people: three digits of a number, a count or a word whole.

    >>> format_break_even(1853211.0, "bit/s"), format_break_even(1957), format_break_even("per-server")
    ('1.85 Mbit/s', '1,957', 'per-server')
    """
    return format_amount(at if isinstance(at, int | str) else float(f"{at:.3g}"), unit)


def format_duration(duration: float) -> str:
    """A duration [s] for people: three significant digits below two minutes, two units above.

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


FORMATS: dict[str, Callable[[float], str]] = {
    "bit/s": format_rate,
    "bytes": format_size,
    "s": format_duration,
    "J": format_energy,
    "kg": format_mass,
    "%": lambda share: f"{100 * share:.3g} %",
    "x": "{:.3g}x".format,
}


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
