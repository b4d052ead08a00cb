"""The table of scenario fields: what may be written, by which option, how it is read, and what it means.

Everything that knows the fields is made from `FIELDS` and `TIER_FIELDS`: the keys of a file, the options of the command
line, the keywords of the Python functions, the JSON Schema and the reference page.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from operator import add
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar, get_args

from hflbounds.topology import Topology, TopologyError
from planner.data import heterogeneity
from planner.errors import PlannerError, ScenarioError
from planner.io import intervals, text
from planner.scenario import units
from planner.scenario.footprint import PRESETS as OF_FOOTPRINT
from planner.scenario.footprint import preset as footprint_preset
from planner.scenario.network import PRESETS, Hop, Sharing, link_preset, parse_straggler

if TYPE_CHECKING:
    from planner.data.fleet import Listed
    from planner.data.pilot import Pilot

Read = TypeVar("Read")
Objective = Literal["rounds", "time", "traffic", "energy", "carbon", "money"]
CLOCKED: Final = frozenset({"time", "energy", "carbon", "money"})  # objectives that the clock moves
FOOTPRINT: Final = frozenset({"energy", "carbon", "money"})
Order = Literal["fixed", "random"]
Metric = Literal["loss", "accuracy", "gradient"]
CostMethod = Literal["schedule", "formula", "diluted"]
OnFailure = Literal["fail", "skip", "timeout"]

METRIC: Final[Metric] = "loss"  # unless another is named
ROUNDS: Final = 200  # of the reference, whose progress in them is the target where none is given
LARGEST_FILE: Final = 1 << 20  # bytes
LARGEST_COUNT: Final = 10**6  # groups, clients of a group, group rounds, local steps
LARGEST_ROUNDS: Final = 10**12
LARGEST_EXPONENT: Final = 10  # of a power law
CHOICES: Final = {"P": "group_rounds", "K": "local_steps", "S1": "groups_per_round", "S2": "clients_per_round"}
"""By letter, the keys of `fleet` that may be ranges wherever they stand; groups may be one beside all clients."""
SPAN: Final = re.compile(r"[0-9]+\s*[:-]\s*[0-9]+")
RANGES: Final = "searched are ranges of groups beside all clients, as --clients 96 --groups 7:9, and of P, K, S1 and S2"
DRAWS: Final = (256, 16384)  # least and most; the number is a power of two


@dataclass(frozen=True, slots=True)
class Span:
    """A count that is to be chosen: from ``low`` to ``high``, both allowed."""

    low: int
    high: int


class Share(str):
    """A share of the squared gradient at the start, with how far it is known."""

    spread: intervals.Spread | None = None
    reading = ""


class Payload(str):
    """How models are compressed on a link, with the bytes sent over those of a model, up and down."""

    up: float = 1.0
    down: float = 1.0


@dataclass(frozen=True, slots=True)
class Tree:
    """Tiers in short, top first, such as ``ring:4/star:5``."""

    sizes: tuple[int, ...] | None  # children of each node; None where only patterns were written
    topology: Topology | None  # the patterns; None where only sizes were written

    @property
    def depth(self) -> int:
        """Number of tiers."""
        return len(self.sizes) if self.sizes is not None else 0 if self.topology is None else self.topology.depth


@dataclass(frozen=True, slots=True)
class Kind:
    """What may be written for a field."""

    read: Callable[[Any, str], Any]  # reads a value; is told what the field is called, which opens every refusal
    schema: Mapping[str, Any]  # the same as JSON Schema, as far as that can say it
    word: str = "VALUE"  # what stands for a value in a help text


def _words(*choices: str) -> Kind:
    return Kind(lambda value, field: text.one_of(value, choices, field), {"enum": list(choices)}, "NAME")


def _law(value: Any, field: str) -> units.Quantity:
    """An exponent: by rank the i-th client has ``i**-exponent`` of the samples of the first."""
    kind, colon, number = str(value).strip().partition(":")
    exponent = float(number) if text.NUMBER.fullmatch(number) else -1.0
    if kind != "power" or not colon or not 0 <= exponent <= LARGEST_EXPONENT:
        raise ScenarioError(
            f"{field}: {value!a:.60} is not power: and an exponent from 0 to {LARGEST_EXPONENT}. Write power:1.2, or "
            "list the samples with --fleet."
        )
    return units.Quantity(exponent, f"power:{exponent:g}")


def _sharing(value: Any, field: str) -> str:
    meant = {"own": "per-client", "shared": "per-server"}.get(str(value).lower(), "")
    if meant:
        known = ", ".join(get_args(Sharing))
        raise ScenarioError(f"{field}: {value!a:.60} is not one of {known}. Did you mean {meant}?", code="E020")
    return text.one_of(value, get_args(Sharing), field)


def _count(most: int, least: int = 1, *, otherwise: str = "one number", ranges: bool = False) -> Kind:
    def read(value: Any, field: str) -> int:
        if isinstance(value, list | tuple):
            raise ScenarioError(
                f"{field}: a list is not a whole number from {least} to {most}. Write {otherwise}.", code="E022"
            )
        if not ranges and isinstance(value, str) and SPAN.fullmatch(value.strip()):
            raise ScenarioError(f"{field}: {value!a:.40} is a range. Write one number; {RANGES}.", code="E022")
        return text.count(value, field, least=least, most=most)

    return Kind(read, {"type": "integer", "minimum": least, "maximum": most}, "N")


def _groups(value: Any, field: str) -> int | Span | Listed:
    """A count, a range, or ``[[fleet.groups]]``: groups one by one."""
    if not isinstance(value, list | tuple) or not value or not all(isinstance(one, Mapping) for one in value):
        return _count_or_span(value, field)
    from planner.data.fleet import by_groups

    return by_groups(_list_of_tables(value, GROUP_FIELDS, field), field)


def _fleet(value: Any, field: str) -> Listed:
    from planner.data.fleet import Listed, read_fleet

    readers = {one.key: one.read for one in CLIENT_FIELDS}
    return _of_file(value, field, Listed, lambda path: read_fleet(path, readers), "fleet.csv")


def _samples(value: Any, field: str) -> float:
    number = text.number(value, field)
    if not 1e-9 <= number <= 1e15:
        raise ScenarioError(f"{field}: {number:g} samples are not from 1e-9 to 1e15. Remove clients without samples.")
    return number


def _count_or_span(value: Any, field: str) -> int | Span:
    if not isinstance(value, str):
        return int(OR_RANGE.read(value, field))
    low, high = text.span(value, field, most=LARGEST_COUNT)
    return low if low == high else Span(low, high)


def _passes(value: Any, field: str) -> int | Span | tuple[int, ...]:
    """A count or a range, or the counts of all tiers below the top: ``3/1``."""
    if not isinstance(value, str) or "/" not in value:
        return _count_or_span(value, field)
    return tuple(text.count(one, field, most=LARGEST_COUNT) for one in value.split("/"))


def _uncertain(read: Callable[[Any, str], float], schema: Mapping[str, Any], word: str = "NUMBER") -> Kind:
    """A number, or one within limits: ``0.2:1``, ``2+-0.5``."""
    return Kind(
        lambda value, field: intervals.read(value, lambda one: read(one, field), field=field),
        {"anyOf": [schema, {"type": "string"}]} if schema.get("type") != "string" else schema,
        word,
    )


def _quantity(dimension: str, word: str) -> Kind:
    schema = {"type": "string", "examples": [units.DIMENSIONS[dimension].example]}
    return _uncertain(lambda value, field: units.parse(value, dimension, field=field), schema, word)


def _price(unit: str) -> Kind:
    """A price for a unit, which may be written behind it: ``0.05/GB``."""

    def read(value: Any, field: str) -> float:
        try:
            return float(FROM_ZERO.read(value.removesuffix(f"/{unit}") if isinstance(value, str) else value, field))
        except ScenarioError:
            said = f"{field}: {value!r:.40} is no price per {unit}. Write 0.05/{unit}, without a currency."
            raise ScenarioError(said, code="E021") from None

    return _uncertain(read, FROM_ZERO.schema)


def _period(example: str) -> Kind:
    return Kind(partial(units.parse_duration, positive=True), {"type": "string", "examples": [example]}, "TIME")


def _target(value: Any, field: str) -> str | float:
    def one(number: object) -> float:
        return text.number(number, field)

    try:
        if not isinstance(value, str) or not value.strip().endswith("%"):
            return intervals.read(value, one, field=field)
        number = intervals.read(value.replace("%", ""), one, field=field)
    except intervals.SpreadError:
        raise
    except ValueError:
        raise ScenarioError(
            f"{field}: {value!r:.40} is not a target. Write a loss above the least, from 1e-100 to 1e+100, such as "
            "0.01, or a share of it at the start, such as 1%. By gradient write a squared gradient."
        ) from None
    share = Share(f"{float(number)!r}%")
    if isinstance(number, intervals.Uncertain):
        share.spread, share.reading = number.spread, f"{value.strip()}, {number.spread.kind}"
    return share


def _probability(value: Any, field: str) -> units.Quantity:
    said = str(value).strip() if isinstance(value, int | float | str) and not isinstance(value, bool) else ""
    number, percent = said.removesuffix("%").strip(), said.endswith("%")
    share = math.nan
    if text.NUMBER.fullmatch(number) and len(number) <= text.LONGEST:
        share = float(Decimal(number) / (100 if percent else 1))
    if not 1e-9 <= share <= 1:
        hint = "Write it as 99% or 0.99."
        if share == 0:
            hint = "Then no client ever comes, and no round is completed. " + hint
        elif ":" in str(value):
            hint = "It takes one number, and no range. Ask with either end; `hfl-plan flip` says where answers change."
        elif 1 < share < 2 or share > 100 or (percent and share > 1):  # nobody means 1.2 %
            hint = "A probability is at most 1, or 100 %. " + hint
        elif not percent and 2 <= share <= 100:
            hint = f"Write {number}% or {share / 100:.10g}." + " It is a share, no number of clients." * (
                "quorum" in field
            )
        raise ScenarioError(f"{field}: {value!r:.40} is not a probability from 1e-9 to 1. {hint}", code="E021")
    return units.Quantity(share, f"{number}%" if percent else f"{share:.12g}")


PAYLOADS: Final = re.compile(r"(?P<bits>[0-9]{1,2})bit|top-(?P<top>[0-9]*\.?[0-9]+)%|(?P<ratio>[0-9]*\.?[0-9]+)")


def _payload(value: Any, field: str) -> Payload:
    """``8bit``, ``top-1%`` or a ratio; two of them are up and down."""
    said = str(value).replace(" ", "") if isinstance(value, int | float | str) and not isinstance(value, bool) else ""
    parts = said.split("/")
    ratios = [_ratio(PAYLOADS.fullmatch(part)) for part in parts]
    if len(parts) > 2 or not all(0 < ratio <= 1 for ratio in ratios):
        raise ScenarioError(
            f"{field}: {value!r:.40} is not a compression to at most the whole. Write 8bit, top-1%, a ratio such as "
            "0.25, or one up and one down: top-1%/8bit."
        )
    found = Payload(said)
    found.up, found.down = ratios[0], ratios[-1]
    return found


def _ratio(found: re.Match[str] | None) -> float:
    """Of the bytes sent to those of a model in 32-bit floats; 0 for what cannot be meant.

    Of the largest entries, each is sent with its place, another 32 bits.
    """
    if found is None:
        return 0.0
    if found["bits"]:
        return int(found["bits"]) / 32
    if found["top"]:
        return float(found["top"]) / 100 * 2
    return float(found["ratio"])


def _resolution(value: Any, field: str) -> float:
    number = text.number(value, field, zero=True)
    if number > 0.5:
        raise ScenarioError(
            f"{field}: {number:g} would tie everything. Write a relative difference up to 0.5, such as 0.02."
        )
    return number


def _version(value: Any, field: str) -> int:
    if value != 1 or isinstance(value, bool):
        raise ScenarioError(
            f"{field}: this version reads schema_version = 1, not {value!r:.40}. A newer hfl-plan may read it."
        )
    return 1


def _cap(value: Any, field: str) -> str | float:
    if value in ("own", "none", "common"):
        return str(value)
    try:
        return text.number(value, field)
    except ValueError:
        raise ScenarioError(f"{field}: {value!r:.40} is not own, none, common or a number.") from None


def _line(value: Any, field: str) -> str:
    if not isinstance(value, str) or len(value) > 200 or not value.isprintable():
        raise ScenarioError(f"{field}: a title is at most 200 printable characters on one line.")
    return value


def _draws(value: Any, field: str) -> int:
    least, most = DRAWS
    number = text.count(value, field, least=0, most=most)
    if number and (number < least or number & (number - 1)):
        raise ScenarioError(f"{field}: {number} is not 0, or a power of two from {least} to {most}. Write 4096.")
    return number


def _pilot(value: Any, field: str) -> Pilot:
    from planner.data.pilot import Pilot, read_pilot

    return _of_file(value, field, Pilot, read_pilot, "pilot.json")


def _of_file(value: Any, field: str, kind: type[Read], read: Callable[[Path], Read], example: str) -> Read:
    """What was read before, or is in the file of that name."""
    if isinstance(value, kind):
        return value
    if not isinstance(value, str):
        raise ScenarioError(f"{field}: {value!r:.40} is not the name of a file. Write {example}.")
    try:
        return read(Path(value).expanduser())
    except ScenarioError as error:
        raise ScenarioError(f"{field}: {error}") from None


def read_heterogeneity(value: Any, field: str) -> heterogeneity.Heterogeneity:
    """Read heterogeneity, unless it was read before.

    Raises:
        ScenarioError: As `planner.data.heterogeneity.parse`, with the field.
    """
    if isinstance(value, heterogeneity.Heterogeneity):
        return value
    try:
        return heterogeneity.parse(value)
    except ScenarioError as error:
        raise ScenarioError(f"{field}: {error}") from None


def _tree(value: Any, field: str) -> int | Tree:
    """1 or 2, sizes such as ``4/5/20``, patterns such as ``ring/star/ring``, or both: ``ring:4/star:5/ring:20``."""
    if not isinstance(value, str) or value.strip().isdigit() or not value.strip():
        try:
            return text.count(value, field, most=2)
        except ScenarioError:
            clients = str(value).strip() if re.fullmatch("[1-9][0-9]{0,6}", str(value).strip()) else "6"
            raise ScenarioError(
                f"{field}: {value!a:.40} is not 1 or 2, nor a tree. Write its sizes, 4/5/20, its patterns, ring/star, "
                f"or both, ring:4/star:5; one tier of {clients} clients is star:{clients}.",
                code="E044",
            ) from None
    if "/" not in value and len(parts := value.split(",")) > 1:
        raise ScenarioError(f"{field}: {value!a:.60} has commas. Write {'/'.join(map(str.strip, parts))!a:.60}.")
    patterns, sizes = [], []
    for part in value.split("/"):
        pattern, _, size = part.partition(":") if not part.strip().isdigit() else ("", "", part)
        patterns.append(pattern.strip())
        sizes.append(size.strip())
    named = "/".join(filter(None, patterns))
    try:
        topology = Topology.of(named) if named else None
    except TopologyError as error:
        way = " Names of tiers go into [[fleet.tiers]] of a file." if all(sizes) else ""
        raise ScenarioError(f"{field}: {error}{way}", code="E044") from None
    if len({bool(one) for one in patterns}) > 1 or len({bool(one) for one in sizes}) > 1:
        raise ScenarioError(
            f"{field}: {value!a:.60} gives some tiers what it leaves out for others. "
            "Write 4/5/20, ring/star/ring or ring:4/star:5/ring:20."
        )
    counts = tuple(text.count(size, field, most=LARGEST_COUNT) for size in sizes) if all(sizes) else None
    if counts is not None and topology is None and len(counts) > 8:
        raise ScenarioError(f"{field}: {len(counts)} tiers are not 1 to 8.")
    return Tree(counts, topology)


def _tiers(value: Any, field: str) -> tuple[dict[str, Any], ...]:
    """``[[fleet.tiers]]``: what every tier says, by key, top first."""
    if not isinstance(value, list | tuple) or not all(isinstance(tier, Mapping) for tier in value):
        way = "Write [[fleet.tiers]] for every tier, or give their sizes with --tiers 4/5/20."
        raise ScenarioError(f"{field}: {value!r:.40} is not a list of tables. {way}")
    if not 1 <= len(value) <= 8:
        raise ScenarioError(f"{field}: {len(value)} tiers are not 1 to 8.")
    return tuple(_list_of_tables(value, TIER_FIELDS, field))


def _list_of_tables(tables: Sequence[Mapping[str, Any]], fields: tuple[Field, ...], field: str) -> list[dict[str, Any]]:
    return [read_table(one, fields, partial(add, f"{field}[{i}].")) for i, one in enumerate(tables, 1)]


COUNT: Final = _count(LARGEST_COUNT)
OR_RANGE: Final = _count(LARGEST_COUNT, otherwise="one number, or a range such as 1:20", ranges=True)
EACH: Final = _count(
    LARGEST_COUNT,
    otherwise="groups of unequal size one by one: [[fleet.groups]] with clients = 20, or --fleet fleet.csv",
)
COUNT_OR_RANGE: Final = Kind(
    _count_or_span, {"anyOf": [COUNT.schema, {"type": "string", "pattern": "^ *[0-9]+ *(: *[0-9]+ *)?$"}]}, "N"
)
TABLES: Final = {"type": "array", "items": {"type": "object"}}
GROUPS: Final = Kind(_groups, {"anyOf": [*COUNT_OR_RANGE.schema["anyOf"], TABLES]}, "N")
POSITIVE: Final = _uncertain(text.number, {"type": "number", "exclusiveMinimum": 0})
FROM_ZERO: Final = Kind(partial(text.number, zero=True), {"type": "number", "minimum": 0}, "NUMBER")
NOT_NEGATIVE: Final = _uncertain(FROM_ZERO.read, FROM_ZERO.schema)
RATE: Final = _quantity("rate", "RATE")
SIZE: Final = _quantity("size", "SIZE")
DURATION: Final = _quantity("duration", "TIME")
PERIOD: Final = _period("10min")
PATIENCE: Final = Kind(units.parse_patience, {"type": "string", "examples": ["10min", "2 turns"]}, "TIME")
PROBABILITY: Final = Kind(
    _probability, {"anyOf": [{"type": "number", "exclusiveMinimum": 0, "maximum": 1}, {"type": "string"}]}, "SHARE"
)
SAMPLES: Final = Kind(_samples, {"type": "number", "exclusiveMinimum": 0}, "N")
OWN_STEP: Final = _period("0.2s")


def _of_preset(kind: str) -> Kind:
    return Kind(lambda value, field: footprint_preset(kind, value, field), {"enum": list(OF_FOOTPRINT[kind])}, "PRESET")


LINE: Final = Kind(_line, {"type": "string", "maxLength": 200}, "NAME")
LINK: Final = Kind(
    lambda value, field: link_preset(value if isinstance(value, str) else repr(value), field=field).name,
    {"enum": list(PRESETS)},
    "PRESET",
)
POWER: Final = _quantity("power", "POWER")
INTENSITY: Final = _quantity("intensity", "ENERGY")
PAYLOAD: Final = Kind(_payload, {"anyOf": [{"type": "number"}, {"type": "string"}]})
ORDER: Final = _words(*get_args(Order))
SHARING: Final = Kind(_sharing, {"enum": list(get_args(Sharing))}, "NAME")
HOP: Final = _words(*get_args(Hop))


@dataclass(frozen=True, slots=True)
class Field:
    """One key of a scenario."""

    key: str  # in a file, such as ``fleet.groups``
    kind: Kind  # what may be written
    help: str  # A noun phrase with unit and choices
    default: str = ""  # what stands where nothing is written, in words; "" for nothing
    spellings: str = ""  # of its option, the first first, separated by spaces; "" for none but ``--set``
    symbol: str = ""  # in the answers, if it is one of the numbers there

    @property
    def options(self) -> tuple[str, ...]:
        """Spellings of its option."""
        return tuple(self.spellings.split())

    @property
    def sentence(self) -> str:
        """The help and the default, as a text."""
        return f"{self.help[0].upper()}{self.help[1:]}." + (f" Default: {self.default}." if self.default else "")

    def read(self, value: Any, name: str) -> Any:
        """Read a value; ``name`` is what the field is called, which opens every refusal.

        Raises:
            ScenarioError: If it is none.
        """
        try:
            return self.kind.read(value, name)
        except ScenarioError:
            raise
        except PlannerError as error:
            raise ScenarioError(str(error)) from None

    @property
    def panel(self) -> str:
        """The heading under which its option is listed."""
        return PANELS.get(self.key) or PANELS[self.key.partition(".")[0]]


PANELS: Final = {
    **dict.fromkeys(("schema_version", "title", "plan"), "Answer"),
    **dict.fromkeys(("model", "network", "compute", "availability"), "Network"),
    **dict.fromkeys(("problem.rounds", "problem.target", "problem.pilot"), "Model"),
    **dict.fromkeys(("plan.metric", "plan.predictor", "plan.bounds", "plan.cap"), "Model"),
    **{"fleet": "Fleet", "problem": "Data", "footprint": "Prices"},
}


def _usual(symbol: str) -> str:
    return f"{heterogeneity.PROBLEM[symbol]:g}"


def _link(path: str, whose: str, default: str, **options: str) -> tuple[Field, ...]:
    """The fields of one link."""
    rows = (
        ("preset", LINK, f"preset for {whose}: {', '.join(PRESETS)}", default),
        ("up", RATE, f"rate from {whose} upwards, such as 20Mbit/s", "of the preset"),
        ("down", RATE, f"rate down to {whose}, such as 100Mbit/s", "of the preset"),
        ("latency", DURATION, f"latency to {whose}, one way and per hop, such as 20ms", "of the preset"),
        ("sharing", SHARING, f"sharing of the rate among {whose}: per-client or per-server", "of the preset"),
        ("energy", INTENSITY, f"energy of the network of {whose} for data", "of its preset"),
        ("price", _price("GB"), f"price of a gigabyte over the link of {whose}", ""),
        (
            "payload",
            PAYLOAD,
            f"compression of models of {whose}: 8bit, top-1%, a ratio, or UP/DOWN such as top-1%/8bit",
            "none",
        ),
        ("hop", HOP, f"hops of a ring of {whose}: direct, or relayed by the server", "of the preset"),
    )
    found = [Field(f"{path}.{part}", kind, says, stands, options.get(part, "")) for part, kind, says, stands in rows]
    if not path.startswith("network."):
        return tuple(found)
    return tuple(replace(one, symbol=one.key.removeprefix("network.").removesuffix(".preset")) for one in found)


FIELDS: Final = (
    Field("schema_version", Kind(_version, {"const": 1}), "version of this format", "1"),
    Field("title", LINE, "title of the answer, one line"),
    Field("fleet.clients", COUNT, "clients in all; alone, the groups are searched for", "G times M", "--clients"),
    Field("fleet.groups", GROUPS,
        "groups; beside --clients also a range, 4:20; in a file also one by one, as [[fleet.groups]]",
        "required, or that of the file of heterogeneity or of the pilot", "--groups --G -G", "G"),
    Field("fleet.clients_per_group", EACH, "clients of each group; the mean where they differ",
        "required, or that of the file of heterogeneity or of the pilot", "--clients-per-group --M -M", "M"),
    Field("fleet.group_rounds",
        Kind(_passes, {"anyOf": [COUNT.schema, {"type": "string", "pattern": "^[ 0-9]+(:[ 0-9]+|(/[ 0-9]+)*)$"}]}, "N"),
        "group rounds in a global round; a range is searched, 1:8; 3/1 of three tiers", "1", "--group-rounds --P -P",
        "P"),
    Field("fleet.local_steps", COUNT_OR_RANGE, "local steps of a client in a group round; a range is searched, 1:20",
        "2", "--local-steps --K -K", "K"),
    Field("fleet.groups_per_round", COUNT_OR_RANGE, "groups drawn for each round; a range is searched, 1:4", "all",
        "--groups-per-round --S1", "S1"),
    Field("fleet.clients_per_round", COUNT_OR_RANGE, "clients drawn in each of these groups; a range is searched, 1:9",
        "all", "--clients-per-round --S2", "S2"),
    Field("fleet.order", ORDER, "order of rings: fixed, or random for one drawn each round",
        "fixed; random where only some take part", "--order", "order"),
    Field("fleet.tiers", Kind(_tiers, {}),
        "tiers of a tree of any depth, top first, in place of groups and clients; keys below",
        "two: groups, and clients of a group"),
    Field("fleet.list", Kind(_fleet, {"type": "string"}, "FILE"),
        "fleet client by client, a CSV of client, group (nested: a/b) and of samples, step_time, link, availability",
        "", "--fleet"),
    Field("fleet.weights", _words("samples", "equal"),
        "what clients of a list count by in means and in the loss: samples, or equal",
        "samples where they are listed, else equal", "--weights", "weights"),
    Field("fleet.samples", Kind(_law, {"type": "string", "pattern": "^power:"}, "LAW"),
        "samples of clients where none are listed: power:1.2 for i^-1.2 of the most, by rank, dealt at random",
        "as many for each", "--samples"),
    Field("problem.heterogeneity",
        Kind(read_heterogeneity, {"anyOf": [{"type": "string"}, {"type": "object"}]}, "KIND"),
        "heterogeneity (also --data): iid, intra, inter, both; zeta=0.5,delta=2; 0.5/1/2 per tier, top first; "
        "dirichlet:intra=0.1,inter=0.3; dirichlet:intra=0.5,classes=2; label counts counts.csv; profile.json",
        "both, marked as an assumption (?)", "--heterogeneity -H --data"),
    Field("problem.sigma", NOT_NEGATIVE, "standard deviation of a stochastic gradient", _usual("sigma"), "--sigma",
        "sigma"),
    Field("problem.smoothness", POSITIVE, "smoothness of the losses", _usual("L"), "--smoothness --L", "L"),
    Field("problem.curvature_scatter", FROM_ZERO,
        "scatter of a mini-batch's curvature over the curvature; 0 for noise that does not depend on the model, at "
        "which predicted rounds jump", _usual("scatter"), "--curvature-scatter", "scatter"),
    Field("problem.fading", FROM_ZERO,
        "how squared deviations fall late in training, as rate times steps to the power of minus so much; by loss",
        "unknown, taken as 0: they stay", "--fading", "fading"),
    Field("problem.decay", FROM_ZERO,
        "how the loss falls late in plain descent, as steps to the power of minus so much; by loss",
        "unknown, taken as 0: as slowly as a logarithm", "--decay", "decay"),
    Field("problem.initial_gap", POSITIVE, "initial gap of the loss, F(x0) - F*", _usual("A"), "--initial-gap --A",
        "A"),
    Field("problem.rounds", _count(LARGEST_ROUNDS),
        "global rounds: the horizon, or beside a target the most that are allowed; --target replaces those of a file "
        "that define one", f"{ROUNDS}", "--rounds --R -R", "R"),
    Field("problem.target", Kind(_target, {"anyOf": [{"type": "number", "exclusiveMinimum": 0}, {"type": "string"}]}),
        "target: a loss above the least, or a share of that at the start, 1%; by gradient, a squared gradient",
        "what Star-Star reaches in the rounds", "--target", "target"),
    Field("problem.target_loss", POSITIVE,
        "target as a training loss, where a pilot or a profile says how low it starts and can fall", "",
        "--target-loss"),
    Field("problem.target_accuracy", PROBABILITY, "target as a test accuracy, 85%, with a pilot by accuracy", "",
        "--target-accuracy"),
    Field("problem.pilot", Kind(_pilot, {"type": "string"}, "FILE"),
        "pilot of this fleet, a file of `hfl-plan pilot`: rounds as it measured them", "", "--pilot"),
    Field("model.size", SIZE, "size of one transfer: 45MB, or 11Mparameters", "44.7 MB", "--model-size", "model_size"),
    Field("network.tiers",
        Kind(_tree, {"anyOf": [{"enum": [1, 2]}, {"type": "string", "examples": ["4/5/20", "ring/star/ring"]}]}),
        "tiers: 2 with group servers, 1 without; or sizes 4/5/20, patterns ring/star/ring or both "
        "ring:4/star:5/ring:20, top first", "2", "--tiers", "tiers"),
    Field("network.source", LINE,
        "file or name of a network, see `hfl-plan network`, on which rounds are timed; needs network.sites", "",
        "--network"),
    Field("network.sites", LINE, "CSV client,group,node,samples,step_time: places of the clients", "", "--sites"),
    Field("network.access", LINE, "CSV node,up_mbit,down_mbit: access of places; else --uplink", "", "--access"),
    Field("network.bandwidth", RATE, "bandwidth of links of a network without one: 1Gbit/s", "", "--bandwidth"),
    *_link("network.client_link", "clients", "broadband", preset="--client-link", up="--uplink", down="--downlink",
         latency="--latency", sharing="--link-sharing", hop="--hop", payload="--payload"),
    *_link("network.server_link", "group servers", "wan", preset="--server-link", up="--server-uplink",
         down="--server-downlink", latency="--server-latency"),
    Field("compute.step_time", DURATION, "mean time of a local step, such as 0.2s", "0.1 s", "--step-time",
        "step_time"),
    Field("compute.straggler", Kind(parse_straggler, {"type": "string"}),
        "spread of a client's compute times: none, lognormal:0.3, exponential:0.5", "none", "--straggler", "straggler"),
    Field("availability.client", PROBABILITY, "probability that a client that is asked completes its turn: 99% or 0.99",
        "1", "--availability", "availability.client"),
    Field("availability.server", PROBABILITY, "the same probability of a group server", "1"),
    Field("availability.policy", _words(*get_args(OnFailure)),
        "conduct of a ring where a device is missing: fail, skip or timeout", "fail; timeout where one is given",
        "--on-failure", "availability.policy"),
    Field("availability.detect", PATIENCE, "time from asking a device to giving it up, or usual turns", "2 turns"),
    Field("availability.timeout", PERIOD, "longest turn that is waited for, under timeout", "the cheapest per client"),
    Field("availability.mtbf", PERIOD, "mean time between failures of a client at work", "no such failures"),
    Field("availability.quorum", PROBABILITY, "least share of its endpoints that a star needs, under fail", "one"),
    Field("footprint.device", _of_preset("device"), f"device of a client: {', '.join(OF_FOOTPRINT['device'])}", "",
        "--device", "device"),
    Field("footprint.training_power", POWER, "power of a client at its local steps", "of the device", "",
        "training_power"),
    Field("footprint.idle_power", POWER, "power of a client that waits", "of the device", "", "idle_power"),
    Field("footprint.radio_power", POWER, "power of a client that sends or receives", "of the device", "",
        "radio_power"),
    Field("footprint.grid", _of_preset("grid"),
        f"grid that the electricity comes from: {', '.join(OF_FOOTPRINT['grid'])}", "", "--grid", "grid"),
    Field("footprint.carbon", _quantity("carbon", "CARBON"), "carbon intensity of the electricity, CO2e", "of the grid",
        "", "carbon"),
    Field("footprint.device_hour", _price("h"), "price of a client for an hour, waiting included", "", "",
        "device_hour"),
    Field("footprint.kwh", _price("kWh"), "price of a kilowatt-hour for clients", "", "", "kwh"),
    Field("plan.objective", _words(*get_args(Objective)), "objective: time, rounds, traffic, energy, carbon or money",
        "time; without a link each", "--objective"),
    Field("plan.metric", _words(*get_args(Metric)),
        "metric: loss (training, after the last round), accuracy (test, by predicted loss), or gradient (mean squared)",
        "loss; gradient where the predictor or the bounds named know nothing else", "--metric"),
    Field("plan.predictor", LINE,
        "predictor of the rounds: spectrum (loss, accuracy, gradient); by gradient also typical, bound (guaranteed) "
        "or surrogate (simulated)",
        "the one with the best record for the metric; bound where bounds or a cap are given", "--predictor"),
    Field("plan.bounds", LINE, "family of bounds: hflbounds.exact, hflbounds.sharp, zhou2026.thm1 ...",
        "the one that fits", "--bounds"),
    Field("plan.cap",
        Kind(_cap, {"anyOf": [{"enum": ["own", "none", "common"]}, {"type": "number", "exclusiveMinimum": 0}]}),
        "cap on the effective learning rate: own, none, common, or a number", "own; common for hidden constants",
        "--cap"),
    Field("plan.cost", _words(*get_args(CostMethod)), "timing of a round: schedule, formula or diluted", "schedule",
        "--cost"),
    Field("plan.resolution", Kind(_resolution, {"type": "number", "minimum": 0, "maximum": 0.5}),
        "relative difference that still ties", "0.02", "--resolution"),
    Field("plan.seed", _count(2**31, least=0), "seed of every random draw", "0", "--seed"),
    Field("plan.draws", Kind(_draws, {"type": "integer", "minimum": 0, "maximum": DRAWS[1]}),
        f"draws of what is not known exactly: 0, or a power of two from {DRAWS[0]} to {DRAWS[1]}", "4096"),
)  # fmt: skip
TIER_FIELDS: Final = (
    Field("name", LINE, "name of its children, such as region", "group, client or tier 1 ..."),
    Field("count", COUNT_OR_RANGE, "children of each node", "required, or counted in a list"),
    Field("passes", COUNT_OR_RANGE, "passes of the parent through these children before it answers its own", "1"),
    Field("drawn", COUNT_OR_RANGE, "children drawn for each pass", "all"),
    Field("order", ORDER, "order of rings: fixed, or random; the same on every tier", "that of the fleet"),
    Field("deviation", NOT_NEGATIVE, "heterogeneity between the children of a node", "that of the problem"),
    *_link("link", "its children", "broadband for clients, else wan"),
)  # fmt: skip
"""Keys of one table of ``[[fleet.tiers]]``."""
CLIENT_FIELDS: Final = (
    Field("samples", SAMPLES, "samples of each client", "all alike"),
    Field("step_time", OWN_STEP, "mean time of a local step of each client, such as 0.2s", "of the scenario"),
    Field("link", LINK, f"preset for each client: {', '.join(PRESETS)}", "of the scenario"),
    Field("availability", PROBABILITY, "probability that each client completes its turn", "of the scenario"),
)  # fmt: skip
"""Columns of a fleet client by client, and keys of a group of clients that are alike."""
GROUP_FIELDS: Final = (  # keys of one table of ``[[fleet.groups]]``
    Field("name", LINE, "name of the group; nested ones as in north/edge 3", "group 1, group 2 ..."),
    Field("clients", COUNT, "clients of the group", "required"),
    *CLIENT_FIELDS,
)


def keywords() -> dict[str, str]:
    """Map the Python keyword of every option to its key: ``groups`` and ``G`` to ``fleet.groups``."""
    return {
        option.lstrip("-").replace("-", "_"): field.key
        for field in FIELDS
        for option in field.options
        if option.startswith("--")
    }


def read_table(
    table: Mapping[str, Any], fields: tuple[Field, ...], name: Callable[[str], str], at: str = ""
) -> dict[str, Any]:
    """Read what is written, by key.

    ``name`` says what a key is called in errors, and ``at`` is the path of the table.

    Raises:
        ScenarioError: With the first value that is none, or key that is unknown.
    """
    known = {field.key: field for field in fields}
    below = list(dict.fromkeys(key.removeprefix(at).partition(".")[0] for key in known if key.startswith(at)))
    found: dict[str, Any] = {}
    for key in table:
        if key not in below:
            hint = _meant(key, below, everywhere=fields is FIELDS)  # a table of a list has keys of its own
            hint = hint or f"Known here are {', '.join(below)}."
            raise ScenarioError(f"{name(f'{at}{key}')}: {key!a:.60} is not a key of a scenario. {hint}", code="E025")
    for key in below:
        value, path = table.get(key), f"{at}{key}"
        if value is None:
            continue
        if path in known:
            found[path] = known[path].read(value, name(path))
        elif isinstance(value, Mapping):
            found |= read_table(value, fields, name, f"{path}.")
        else:
            raise ScenarioError(f"{name(path)}: {value!r:.40} is not a table. Write [{path}] and keys below it.")
    return found


def _meant(key: str, below: Sequence[str], *, everywhere: bool) -> str:
    """Say which key of a table is meant, by its option or by its letters, or where a scenario has it; else nothing."""
    tables = (field.key.rpartition(".")[0] for field in FIELDS if field.key.rpartition(".")[2] == key)
    if everywhere and (table := next(tables, None)) is not None:
        at = f"{key} is a key of {f'[{table}]' if table else 'the top of the file'}."
        return f"{text.suggest(key, below)} {at}".strip()
    option = keywords().get(key, "")
    own = option.rpartition(".")[2]
    if option and (everywhere or own in below):
        return f"Did you mean {own if own in below else option}?"
    return text.suggest(key, below)


def read(file: Path) -> tuple[dict[str, Any], Callable[[str], str]]:
    """Read the table of a TOML file, and return it with a function that says where in the file a key is.

    Raises:
        ScenarioError: If it cannot be read, or is no TOML.
    """
    raw = text.capped(file, LARGEST_FILE, ", which no scenario is. Check the path.")
    try:
        content = raw.decode("utf-8-sig")
        table = tomllib.loads(content)
    except UnicodeDecodeError as error:
        raise ScenarioError(f"{file}: is not UTF-8 text (byte {error.start}). Save it as UTF-8.", code="E031") from None
    except ValueError as error:  # of tomllib, and of Python for numbers with thousands of digits
        line = re.search(r"\(at line (\d+)", str(error))
        place = f"{file}:{line[1]}" if line else file
        raise ScenarioError(f"{place}: is not TOML: {error!s:.200}. Mend it there.", code="E031") from None
    except RecursionError:
        raise ScenarioError(f"{file}: is nested too deeply for a scenario.", code="E004") from None

    def shown(path: str) -> str:
        key = re.escape(path.rpartition(".")[2])
        lines = [i for i, line in enumerate(content.splitlines(), 1) if re.match(rf"\s*[\"']?{key}[\"']?\s*=", line)]
        return f"{file}:{lines[0]}: {path}" if len(lines) == 1 else f"{file}: {path}"

    return table, shown


def leaves(table: Mapping[str, Any], at: str = "") -> Iterator[tuple[str, Any]]:
    """Return the values of nested tables, by key with dots."""
    for key, value in table.items():
        path = f"{at}.{key}" if at else str(key)
        if isinstance(value, Mapping):
            yield from leaves(value, path)
        else:
            yield path, value


def put(table: dict[str, Any], path: str, value: Any, option: str) -> None:
    """Put an option's value at its key of the file's table; one of a list of tables is called by its name or number.

    Raises:
        ScenarioError: If the file has something else than a table on the way, or no table of that name.
    """
    *sections, key = path.split(".")
    here: Any = table
    for section in sections:
        if isinstance(here, list):
            tables = [(i, one) for i, one in enumerate(here, 1) if isinstance(one, dict)]
            named = {str(name): one for i, one in tables for name in (i, one.get("name", i))}
            if section not in named:
                known = ", ".join(name for name in named if not name.isdigit()) or f"1 to {len(here)}"
                raise ScenarioError(f"{option}: there is no table {section!a:.40}. Known are {known}.")
            here = named[section]
        else:
            here = here.setdefault(section, {})
        if not isinstance(here, dict | list) or (isinstance(here, list) and section == sections[-1]):
            raise ScenarioError(f"{option}: {section} is not a table in the file, so {path} cannot be set.")
    here[key] = value
