"""Quantities: what is read, what is refused and how, and what is printed."""

import copy
import math
import pickle
import re
import subprocess
import sys

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from planner.scenario.units import (
    MAX_LENGTH,
    QuantityError,
    format_duration,
    format_rate,
    format_size,
    parse_duration,
    parse_rate,
    parse_size,
)

derandomized = settings(derandomize=True, deadline=None, max_examples=300)


# What each unit is, written out by hand: value in bit/s, bytes or seconds of "1 unit".
RATES = {
    "bit/s": 1.0,
    "kbit/s": 1_000.0,
    "Mbit/s": 1_000_000.0,
    "Gbit/s": 1_000_000_000.0,
    "Tbit/s": 1_000_000_000_000.0,
    "bps": 1.0,
    "kbps": 1_000.0,
    "Mbps": 1_000_000.0,
    "Gbps": 1_000_000_000.0,
    "kb/s": 1_000.0,
    "Mb/s": 1_000_000.0,
    "Gb/s": 1_000_000_000.0,
    "B/s": 8.0,
    "kB/s": 8_000.0,
    "MB/s": 8_000_000.0,
    "GB/s": 8_000_000_000.0,
    "KiB/s": 8_192.0,
    "MiB/s": 8_388_608.0,
    "GiB/s": 8_589_934_592.0,
}
SIZES = {
    "B": 1.0,
    "kB": 1_000.0,
    "MB": 1_000_000.0,
    "GB": 1_000_000_000.0,
    "TB": 1_000_000_000_000.0,
    "PB": 1e15,
    "EB": 1e18,
    "KiB": 1_024.0,
    "MiB": 1_048_576.0,
    "GiB": 1_073_741_824.0,
    "parameters": 4.0,
    "kparameters": 4_000.0,
    "M parameters": 4_000_000.0,
    "B parameters": 4_000_000_000.0,
}
DURATIONS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3_600.0, "d": 86_400.0}


@pytest.mark.parametrize(
    ("parse", "unit", "value"),
    [(parse_rate, unit, value) for unit, value in RATES.items()]
    + [(parse_size, unit, value) for unit, value in SIZES.items()]
    + [(parse_duration, unit, value) for unit, value in DURATIONS.items()],
)
def test_every_unit_with_and_without_a_space(parse, unit, value):
    assert parse(f"1{unit}") == value
    assert parse(f"1 {unit}") == value
    assert parse(f"  7.5 {unit} ") == pytest.approx(7.5 * value, rel=1e-15)


@pytest.mark.parametrize(
    ("text", "value", "reading"),
    [
        ("20Mbit/s", 20e6, "20 Mbit/s"),
        ("20 Mbps", 20e6, "20 Mbit/s"),
        ("20Mb/s", 20e6, "20 Mbit/s"),
        ("20MB/s", 160e6, "20 MB/s"),
        ("2.5 MB/s", 20e6, "2.5 MB/s"),
        ("+20Mbit/s", 20e6, "20 Mbit/s"),
        ("2e1 Mbit/s", 20e6, "20 Mbit/s"),
        ("20.Mbit/s", 20e6, "20 Mbit/s"),
        (".5Gbit/s", 500e6, "0.5 Gbit/s"),
        ("020Mbit/s", 20e6, "20 Mbit/s"),
        ("1E-3 Gbit/s", 1e6, "0.001 Gbit/s"),
    ],
)
def test_rates_and_their_reading(text, value, reading):
    rate = parse_rate(text)
    assert rate == value
    assert rate.reading == reading
    assert parse_rate(rate.reading) == value


def test_the_power_of_ten_of_the_unit_is_exact():
    # 0.1 + nothing: the double nearest to 100, 1100 and 44 800 000, though 1.1 * 1000 is 1100.0000000000002
    assert parse_size("1.1kB") == 1100.0
    assert parse_size("44.8MB") == 44_800_000.0
    assert parse_duration("200 ms") == 0.2
    assert parse_duration("3 ms") == 0.003
    assert parse_size("4.35MB") == 4_350_000.0


def test_the_longest_text_that_is_read():
    assert parse_rate("0" * (MAX_LENGTH - 7) + "1Mbit/s") == 1e6  # 64 characters in all
    with pytest.raises(QuantityError, match="65 characters"):
        parse_rate("0" * (MAX_LENGTH - 6) + "1Mbit/s")


def test_zero_latency_is_a_value_and_zero_rate_is_not():
    assert parse_duration("0s") == 0.0
    assert math.copysign(1.0, parse_duration("0.00ms")) == 1.0
    assert parse_duration("0 ms").reading == "0 ms"
    with pytest.raises(QuantityError, match="zero"):
        parse_duration("0s", positive=True)


def test_a_quantity_is_a_float_that_survives_copies():
    rate = parse_rate("20Mbps")
    assert isinstance(rate, float)
    for twin in (copy.deepcopy(rate), pickle.loads(pickle.dumps(rate))):  # noqa: S301
        assert twin == rate
        assert type(twin) is type(rate)
        assert twin.reading == rate.reading


REFUSED = [
    # (parser, text, what the message must contain)
    # the table of bad inputs of the product: 20Mb/s, 20 Mbps and 20MB/s are read above
    (parse_rate, "20mbit/s", ["milli", "20Mbit/s", "20MB/s"]),
    (parse_rate, "20", ["no unit", "20Mbit/s", "20MB/s"]),
    (parse_rate, "20 parsec", ["'parsec'", "Mbit/s", "GiB/s"]),
    # case that changes the meaning
    (parse_rate, "20mb/s", ["milli", "20Mbit/s", "20MB/s"]),
    (parse_rate, "20mbps", ["milli", "20Mbit/s", "20MB/s"]),
    (parse_rate, "20KB/s", ["1000", "1024", "20kB/s", "20KiB/s"]),
    (parse_rate, "20Kbps", ["1000", "20kbit/s"]),
    (parse_rate, "20MBit/s", ["20Mbit/s"]),
    (parse_rate, "20mib/s", ["20MiB/s"]),
    (parse_size, "45mb", ["milli", "45MB"]),
    (parse_size, "45KB", ["1000", "1024", "45kB", "45KiB"]),
    (parse_size, "45kib", ["45KiB"]),
    (parse_duration, "3S", ["3s"]),
    (parse_duration, "3MS", ["3ms"]),
    # bytes with the spelling of bits
    (parse_rate, "20MBps", ["20MB/s", "20Mbit/s", "bytes"]),
    (parse_rate, "20KiBps", ["20KiB/s", "20kbit/s"]),
    # wrong dimension
    (parse_rate, "20MB", ["is a size", "a rate is wanted", "20MB/s"]),
    (parse_rate, "20GiB", ["is a size", "20GiB/s"]),
    (parse_rate, "0.2s", ["is a duration", "20Mbit/s"]),
    (parse_rate, "20Mbit", ["amount of data", "20Mbit/s", "20MB/s"]),
    (parse_rate, "20Mb", ["amount of data", "20Mbit/s", "20MB/s"]),
    (parse_size, "45MB/s", ["is a rate", "a size is wanted", "45MB"]),
    (parse_size, "45Mbps", ["is a rate", "45MB"]),
    (parse_size, "45Mbit", ["bits", "45MB", "eighth"]),
    (parse_size, "45 h", ["is a duration", "45MB"]),
    (parse_duration, "45MB", ["is a size", "a duration is wanted"]),
    (parse_duration, "20Mbit/s", ["is a rate", "a duration is wanted", "such as 0.2s"]),
    (parse_rate, "20b", ["amount of data", "20bit/s", "20B/s"]),
    # spelling
    (parse_rate, "20Mbits/s", ["20Mbit/s"]),
    (parse_rate, "20Mbit/sec", ["20Mbit/s"]),
    (parse_duration, "2 hours", ["2h"]),
    (parse_duration, "2sec", ["2s"]),
    (parse_duration, "5m", ["5min", "5ms"]),
    (parse_duration, "5\u00b5s", ["5us"]),
    (parse_duration, "5\u03bcs", ["5us"]),
    (parse_duration, "1 week", ["us ms s min h d"]),
    (parse_size, "45megabytes", ["45MB"]),
    (parse_size, "45Mo", ["B kB MB GB TB KiB MiB GiB PB EB"]),
    # bare numbers, empty, no number
    (parse_size, "45", ["no unit", "45MB", "45Mparameters"]),
    (parse_size, "11200000", ["11.2MB, or 11.2Mparameters, which are 44.8MB"]),
    (parse_size, "11.2M", ["11.2MB or 11.2Mparameters"]),
    (parse_size, "11.2 million", ["11.2Mparameters"]),
    (parse_duration, "0.2", ["no unit", "0.2s", "0.2ms"]),
    (parse_rate, "", ["empty", "20Mbit/s"]),
    (parse_rate, "   ", ["empty"]),
    (parse_rate, "Mbit/s", ["without a number"]),
    (parse_rate, "fast", ["does not start with a number"]),
    (parse_rate, "-", ["does not start with a number"]),
    (parse_rate, ".Mbit/s", ["does not start with a number"]),
    (parse_rate, "\x00" + "20Mbit/s", ["does not start with a number"]),
    # not finite, not positive
    (parse_rate, "nan", ["finite"]),
    (parse_rate, "NaN Mbit/s", ["finite"]),
    (parse_rate, "inf", ["finite"]),
    (parse_rate, "-inf Mbit/s", ["finite"]),
    (parse_rate, "Infinity", ["finite"]),
    (parse_rate, "1e400Mbit/s", ["outside the range"]),
    (parse_rate, "1e400", ["no unit"]),
    (parse_rate, "1e-400Mbit/s", ["outside the range"]),
    (parse_rate, "1e-320Mbit/s", ["outside the range"]),
    (parse_rate, "1e99999999999999999999Mbit/s", ["outside the range"]),
    (parse_size, "0.5B", ["outside the range"]),
    (parse_duration, "1e13s", ["outside the range"]),
    (parse_duration, "1e-320s", ["outside the range"]),
    (parse_rate, "-20Mbit/s", ["negative", "Write 20Mbit/s"]),
    (parse_duration, "-0.0s", ["negative", "0.0s"]),
    (parse_duration, "-3 ms", ["negative"]),
    (parse_rate, "0Mbit/s", ["zero", "never delivers"]),
    (parse_rate, "-0.0Mbit/s", ["zero"]),
    (parse_rate, "0e400Mbit/s", ["zero"]),
    (parse_size, "0MB", ["zero"]),
    # more than one number and one unit
    (parse_rate, "20Mbit/s foo", ["'foo' left over"]),
    (parse_rate, "20Mbit/s 30Mbit/s", ["left over"]),
    (parse_rate, "20Mbit/s;reboot", ["Mbit/s"]),
    (parse_rate, "1,000Mbit/s", ["','", "separators"]),
    (parse_duration, "0,2s", ["','"]),
    (parse_rate, "1_000Mbit/s", ["'_'"]),
    (parse_rate, "1'000Mbit/s", ['"\'"']),
    (parse_rate, "1..5Mbit/s", ["'.'"]),
    (parse_rate, "1.5.5Mbit/s", ["'.'"]),
    (parse_rate, "0x20Mbit/s", ["is not one number and one unit"]),
    (parse_rate, "--5Mbit/s", ["does not start with a number"]),
    (parse_rate, "9**9**9 Mbit/s", ["is not one number and one unit"]),
    # digits of other scripts
    (parse_rate, "\uff12\uff10Mbit/s", ["digits other than 0-9"]),
    (parse_rate, "2\u0660Mbit/s", ["digits other than 0-9"]),
    (parse_rate, "2\u00b2Mbit/s", ["digits other than 0-9"]),
    # an exponent without digits, or without a number before it
    (parse_rate, "20eMbit/s", ["is not a unit"]),
    (parse_rate, "20e+Mbit/s", ["is not a unit"]),
    (parse_rate, "e5Mbit/s", ["does not start with a number"]),
    # length
    (parse_rate, "2" * 65, ["65 characters", str(MAX_LENGTH)]),
    (parse_rate, "2" * 1_000_000 + "Mbit/s", ["1000006 characters"]),
    # values that are no text, as a scenario file may hold
    (parse_rate, 20, ["no unit", "20Mbit/s"]),
    (parse_rate, 20.5, ["no unit", "20.5Mbit/s"]),
    (parse_rate, math.inf, ["finite"]),
    (parse_rate, math.nan, ["finite"]),
    (parse_rate, True, ["type bool"]),
    (parse_rate, None, ["type NoneType"]),
    (parse_rate, ["20Mbit/s"], ["type list"]),
]


@pytest.mark.parametrize(
    ("parse", "text", "parts"), REFUSED, ids=lambda value: getattr(value, "__name__", ascii(value)[:30])
)
def test_refusals_are_complete_in_one_or_two_lines(parse, text, parts):
    with pytest.raises(QuantityError) as caught:
        parse(text, field="--uplink")
    message = str(caught.value)
    assert message.startswith("--uplink: ")
    for part in parts:
        assert part in message, message
    assert len(message) <= 250, message
    assert message.isascii()
    assert message.isprintable()
    assert "\n" not in message


def test_a_suggestion_is_accepted_when_it_is_typed():
    for parse, text, _ in REFUSED:
        try:
            parse(text)
        except QuantityError as error:
            meant = str(error).partition("Did you mean ")[2].rstrip("?")
            for suggestion in filter(None, meant.split(" or ")):
                assert parse(suggestion) > 0


def test_quantity_error_is_a_value_error_and_names_the_default_field():
    with pytest.raises(ValueError, match=r"^duration: "):
        parse_duration("soon")


@derandomized
@given(st.text(max_size=80))
@example("1" * 64)
@example("1e" + "9" * 62)
@example("." * 64)
@example("e" * 64)
def test_any_text_is_read_or_refused_and_nothing_else(text):
    for parse in (parse_rate, parse_size, parse_duration):
        try:
            value = parse(text)
        except QuantityError as error:
            assert len(str(error)) < 700  # 64 characters may each be shown as an escape
        else:
            assert math.isfinite(value)
            assert value >= 0


def test_texts_that_could_take_long_are_refused():
    for text in ("9" * 64, "1e" * 32, "1." * 32, " " * 64, "1" + " " * 62 + "x", "M" * 64, "/s" * 32):
        with pytest.raises(QuantityError):
            parse_rate(text)


@derandomized
@given(st.floats(1e-3, 1e9), st.sampled_from(sorted(RATES)))
def test_the_reading_reads_back_as_the_same_rate(number, unit):
    rate = parse_rate(f"{number!r}{unit}")
    assert rate == pytest.approx(number * RATES[unit], rel=1e-15)
    assert parse_rate(rate.reading) == rate


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0 B"),
        (1, "1 B"),
        (999, "999 B"),
        (999.6, "1.0 kB"),  # three digits of 999.6 are 1000
        (1000, "1.0 kB"),
        (1_200_000_000, "1.2 GB"),
        (54_800_000_000, "54.8 GB"),
        (999_499_999, "999 MB"),
        (999_500_000, "1.0 GB"),
        (44_800_000, "44.8 MB"),
        (123_456, "123 kB"),
        (1.5e15, "1.5 PB"),
        (2e18, "2.0 EB"),
    ],
)
def test_sizes_for_people(value, text):
    assert format_size(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0 bit/s"),
        (20e6, "20 Mbit/s"),
        (1e9, "1.0 Gbit/s"),
        (1.234e9, "1.23 Gbit/s"),
        (8.63e6, "8.63 Mbit/s"),
        (433.3e6, "433 Mbit/s"),
        (12, "12 bit/s"),
        (1e13, "10 Tbit/s"),
    ],
)
def test_rates_for_people(value, text):
    assert format_rate(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0 s"),
        (2.5e-6, "2.5 us"),
        (0.005, "5.0 ms"),
        (0.0994, "99.4 ms"),
        (0.1, "0.10 s"),
        (0.2, "0.20 s"),
        (0.9996, "1.0 s"),
        (1.234, "1.23 s"),
        (53.6, "53.6 s"),
        (119.4, "119 s"),
        (119.6, "2 min"),
        (1134, "18 min 54 s"),
        (3600, "1 h"),
        (3599.6, "1 h"),  # rounds up to the next unit, never to 59 min 60 s
        (12000, "3 h 20 min"),
        (13507, "3 h 45 min"),
        (172_799, "2 d"),
        (300_000, "3 d 11 h"),  # 3 * 86400 = 259200; 40800 s = 11.33 h
        (864_000, "10 d"),
        (1e8, "1160 d"),
    ],
)
def test_durations_for_people(value, text):
    assert format_duration(value) == text


@pytest.mark.parametrize("value", [math.nan, math.inf, -1.0, -math.inf])
def test_nothing_that_is_no_quantity_is_printed(value):
    for show in (format_rate, format_size, format_duration):
        with pytest.raises(QuantityError):
            show(value)


@derandomized
@given(st.floats(1.0, 1e18))
def test_what_is_printed_reads_back_to_three_digits(value):
    assert parse_rate(format_rate(value)) == pytest.approx(value, rel=5.1e-3)
    assert parse_size(format_size(value)) == pytest.approx(value, rel=5.1e-3)
    assert "e" not in format_rate(value)
    assert "e" not in format_size(value)


@derandomized
@given(st.floats(1e-6, 1e9))
def test_durations_read_back(value):
    """Sum of the printed parts, by the units written out above."""
    text = format_duration(value)
    parts = re.findall(r"([0-9.]+) ([a-z]+)", text)
    assert " ".join(" ".join(part) for part in parts) == text
    total = sum(float(number) * DURATIONS[unit] for number, unit in parts)
    assert total == pytest.approx(value, rel=2.5e-2 if len(parts) == 1 and value > 119 else 9e-3)  # 30 s in 1 h


def test_the_modules_that_read_settings_do_not_load_numpy():
    code = "import sys, planner.scenario.units, planner.scenario.network; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
