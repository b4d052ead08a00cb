"""What may be written: the tables and keys of a scenario file, and what is refused in which words."""

from __future__ import annotations

import difflib
import math
import re
import tomllib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from planner.data import heterogeneity
from planner.errors import ScenarioError
from planner.io import intervals as spread
from planner.scenario.network import Hop, Sharing, link_preset, parse_straggler
from planner.scenario.units import parse_duration, parse_rate, parse_size

Objective = Literal["rounds", "time", "bytes"]
Order = Literal["fixed", "random"]
Metric = Literal["gradient", "loss", "accuracy"]
CostMethod = Literal["schedule", "formula", "diluted"]
OnFailure = Literal["fail", "skip", "timeout"]

HERE = "\x00"  # stands for the field's name until it is known whether an option or a file spoke
LARGEST_FILE = 1 << 20  # bytes
LARGEST_COUNT = 10**6  # groups, clients of a group, group rounds, local steps
LARGEST_ROUNDS = 10**12
CHOICES = {"P": "group_rounds", "K": "local_steps", "S1": "groups_per_round", "S2": "clients_per_round"}
"""By letter, the keys of `fleet` that may be ranges wherever they stand; groups may be one beside all clients."""
DRAWS = (256, 16384)  # least and most; the number is a power of two


@dataclass(frozen=True, slots=True)
class Span:
    """A count that is to be chosen: from ``low`` to ``high``, both allowed."""

    low: int
    high: int


# ---------------------------------------------------------------- what may be written
def _count(largest: int, least: int = 1) -> Callable[[Any], int]:
    rule = f"a whole number from {least} to {largest}"

    def read(value: Any) -> int:
        if isinstance(value, list):
            raise ValueError(f"{HERE}: a list is not {rule}. For groups of unequal size give the mean.")
        if isinstance(value, str) and re.fullmatch(r"[0-9]{1,20}", value.strip()):
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            hint = ""
            try:
                number = float(value) if isinstance(value, str | float) else math.nan
            except ValueError:
                number = math.nan
            if least <= number <= largest and number == math.floor(number):
                hint = f" Write {int(number)}."
            raise ValueError(f"{HERE}: {value!r:.40} is not {rule}.{hint}")
        if not least <= value <= largest:
            raise ValueError(f"{HERE}: {value} is not {rule}." if value < least else f"{HERE}: that is not {rule}.")
        return value

    return read


def _count_or_span(largest: int) -> Callable[[Any], int | Span]:
    count = _count(largest)

    def read(value: Any) -> int | Span:
        if not isinstance(value, str) or ":" not in value:
            return count(value)
        ends = re.fullmatch(r"\s*([0-9]{1,20})\s*:\s*([0-9]{1,20})\s*", value)
        if ends is None:
            raise ValueError(f"{HERE}: {value!r:.40} is not a range of whole numbers from 1 to {largest}. Write 1:8.")
        low, high = (count(end) for end in ends.groups())
        if low > high:
            raise ValueError(f"{HERE}: {value!r:.40} starts above its end. Write {high}:{low}.")
        return low if low == high else Span(low, high)

    return read


def _number(*, zero: bool) -> Callable[[Any], float]:
    rule = "0, or a number from 1e-100 to 1e100" if zero else "a number from 1e-100 to 1e100"

    def read(value: Any) -> float:
        number = math.nan
        if isinstance(value, int | float) and not isinstance(value, bool):
            number = float(value) if abs(value) <= 1e300 else math.inf
        elif isinstance(value, str) and re.fullmatch(r"[0-9.eE+-]{1,40}", value.strip()):
            try:
                number = float(value)
            except ValueError:
                number = math.nan
        good = 1e-100 <= number <= 1e100 or (zero and number == 0 and math.copysign(1, number) > 0)
        if not good:
            raise ValueError(f"{HERE}: {value!r:.40} is not {rule}.")
        return number

    return read


class Share(str):
    """A share of the squared gradient at the start, with how far it is known."""

    spread: spread.Spread | None = None
    reading = ""


def _target(value: Any) -> str | float:
    try:
        if not isinstance(value, str) or not value.strip().endswith("%"):
            return spread.read(value, _number(zero=False), field=HERE)
        number = spread.read(value.replace("%", ""), _number(zero=False), field=HERE)
        share = Share(f"{float(number)!r}%")
        if isinstance(number, spread.Uncertain):
            share.spread, share.reading = number.spread, f"{value.strip()}, {number.spread.kind}"
        return share
    except spread.SpreadError:
        raise
    except ValueError:
        raise ValueError(
            f"{HERE}: {value!r:.40} is not a target. Write a squared gradient norm such as 0.01, "
            "or a share of it at the start such as 1%."
        ) from None


class Probability(float):
    """A probability, as it was written."""

    reading: str = ""


def _probability(value: Any) -> Probability:
    text = str(value).strip() if isinstance(value, int | float | str) and not isinstance(value, bool) else ""
    number, percent = text.removesuffix("%").strip(), text.endswith("%")
    share = math.nan
    if re.fullmatch(r"[0-9.eE+-]{1,40}", number):
        with suppress(ArithmeticError):
            share = float(Decimal(number) / (100 if percent else 1))
    if not 1e-9 <= share <= 1:
        hint = "Write it as 99% or 0.99."
        if share == 0:
            hint = "Then nobody ever comes, and no round is completed. " + hint
        elif not percent and 1 < share <= 100:
            hint = f"Write {number}% or {share / 100:.10g}."
        raise ValueError(f"{HERE}: {value!r:.40} is not a probability from 1e-9 to 1. {hint}")
    probability = Probability(share)
    probability.reading = f"{number}%" if percent else f"{share:.12g}"
    return probability


def _resolution(value: Any) -> float:
    number = _number(zero=True)(value)
    if number > 0.5:
        raise ValueError(
            f"{HERE}: {number:g} would tie everything. Write a relative difference up to 0.5, such as 0.02."
        )
    return number


def _version(value: Any) -> int:
    if value != 1 or isinstance(value, bool):
        raise ValueError(
            f"{HERE}: this version reads schema_version = 1, not {value!r:.40}. A newer hfl-plan may read it."
        )
    return 1


def _choice(choices: tuple[str, ...]) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        if value not in choices or not isinstance(value, str):
            near = difflib.get_close_matches(str(value)[:40].lower(), choices, n=1)
            hint = f" Did you mean {near[0]}?" if near else ""
            raise ValueError(f"{HERE}: {value!r:.40} is not one of {', '.join(choices)}.{hint}")
        return value

    return read


def _cap(value: Any) -> str | float:
    if value in ("own", "none", "common"):
        return str(value)
    try:
        return _number(zero=False)(value)
    except ValueError:
        raise ValueError(f"{HERE}: {value!r:.40} is not own, none, common or a number.") from None


def _text(value: Any) -> str:
    if not isinstance(value, str) or len(value) > 200 or not value.isprintable():
        raise ValueError(f"{HERE}: a title is at most 200 printable characters on one line.")
    return value


def _by(parse: Callable[..., Any]) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        return parse(value, field=HERE)

    return read


def _uncertain_by(parse: Callable[..., Any]) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        return spread.read(value, _by(parse), field=HERE)

    return read


def _uncertain(*, zero: bool) -> Callable[[Any], float]:
    def read(value: Any) -> float:
        return spread.read(value, _number(zero=zero), field=HERE)

    return read


def _draws(value: Any) -> int:
    least, most = DRAWS
    number = _count(most, least=0)(value)
    if number and (number < least or number & (number - 1)):
        raise ValueError(f"{HERE}: {number} is not 0, or a power of two from {least} to {most}. Write 4096.")
    return number


def _positive_duration(value: Any) -> Any:
    return parse_duration(value, field=HERE, positive=True)


def _heterogeneity(value: Any) -> heterogeneity.Heterogeneity:
    if isinstance(value, heterogeneity.Heterogeneity):
        return value
    try:
        return heterogeneity.parse(value)
    except ScenarioError as error:
        raise ValueError(f"{HERE}: {error}") from None


def _preset(value: Any) -> str:
    return link_preset(value if isinstance(value, str) else repr(value), field=HERE).name


Count = Annotated[int, BeforeValidator(_count(LARGEST_COUNT))]
Choice = Annotated[int | Span, BeforeValidator(_count_or_span(LARGEST_COUNT))]
Rounds = Annotated[int, BeforeValidator(_count(LARGEST_ROUNDS))]
# Any, because a float that knows its limits would be made a plain one.
Positive = Annotated[Any, BeforeValidator(_uncertain(zero=False))]
NotNegative = Annotated[Any, BeforeValidator(_uncertain(zero=True))]
RateText = Annotated[Any, BeforeValidator(_uncertain_by(parse_rate))]
SizeText = Annotated[Any, BeforeValidator(_uncertain_by(parse_size))]
DurationText = Annotated[Any, BeforeValidator(_uncertain_by(parse_duration))]


class Section(BaseModel):
    """A table of a scenario file; unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)


class FleetSection(Section):
    """Who takes part: groups, clients, rounds and steps; a range is searched."""

    clients: Count | None = None
    groups: Choice | None = None
    clients_per_group: Count | None = None
    group_rounds: Choice | None = None
    local_steps: Choice | None = None
    groups_per_round: Choice | None = None
    clients_per_round: Choice | None = None
    order: Annotated[Order | None, BeforeValidator(_choice(get_args(Order)))] = None


class ProblemSection(Section):
    """What is learned and how far: noise, heterogeneity, smoothness, gap, rounds, target."""

    heterogeneity: Annotated[Any, BeforeValidator(_heterogeneity)] = None
    sigma: NotNegative = None
    smoothness: Positive = None
    initial_gap: Positive = None
    rounds: Rounds | None = None
    target: Annotated[Any, BeforeValidator(_target)] = None


class ModelSection(Section):
    """What is sent."""

    size: SizeText = None


class LinkSection(Section):
    """One tier's links: a preset, and what differs from it."""

    preset: Annotated[str | None, BeforeValidator(_preset)] = None
    up: RateText = None
    down: RateText = None
    latency: DurationText = None
    sharing: Annotated[Sharing | None, BeforeValidator(_choice(get_args(Sharing)))] = None
    hop: Annotated[Hop | None, BeforeValidator(_choice(get_args(Hop)))] = None


class NetworkSection(Section):
    """Tiers and their links."""

    tiers: Annotated[Literal[1, 2] | None, BeforeValidator(_count(2))] = None
    client_link: LinkSection = LinkSection()
    server_link: LinkSection = LinkSection()


class ComputeSection(Section):
    """How long a local step takes, and how unevenly."""

    step_time: DurationText = None
    straggler: Annotated[Any, BeforeValidator(_by(parse_straggler))] = None


class AvailabilitySection(Section):
    """Who comes when asked, and what is done about those who do not."""

    client: Annotated[Any, BeforeValidator(_probability)] = None
    server: Annotated[Any, BeforeValidator(_probability)] = None
    policy: Annotated[OnFailure | None, BeforeValidator(_choice(get_args(OnFailure)))] = None
    detect: Annotated[Any, BeforeValidator(_positive_duration)] = None
    timeout: Annotated[Any, BeforeValidator(_positive_duration)] = None
    mtbf: Annotated[Any, BeforeValidator(_positive_duration)] = None
    quorum: Annotated[Any, BeforeValidator(_probability)] = None


class PlanSection(Section):
    """How the answer is made."""

    objective: Annotated[Objective | None, BeforeValidator(_choice(get_args(Objective)))] = None
    metric: Annotated[Metric | None, BeforeValidator(_choice(get_args(Metric)))] = None
    predictor: Annotated[str | None, BeforeValidator(_text)] = None
    bounds: Annotated[str | None, BeforeValidator(_text)] = None
    cap: Annotated[str | float | None, BeforeValidator(_cap)] = None
    cost: Annotated[CostMethod | None, BeforeValidator(_choice(get_args(CostMethod)))] = None
    resolution: Annotated[float | None, BeforeValidator(_resolution)] = None
    seed: Annotated[int | None, BeforeValidator(_count(2**31, least=0))] = None
    draws: Annotated[int | None, BeforeValidator(_draws)] = None


class ScenarioFile(Section):
    """A scenario file, version 1."""

    schema_version: Annotated[Literal[1], BeforeValidator(_version)] = 1
    title: Annotated[str, BeforeValidator(_text)] = ""
    fleet: FleetSection = FleetSection()
    problem: ProblemSection = ProblemSection()
    model: ModelSection = ModelSection()
    network: NetworkSection = NetworkSection()
    compute: ComputeSection = ComputeSection()
    availability: AvailabilitySection = AvailabilitySection()
    plan: PlanSection = PlanSection()


# ---------------------------------------------------------------- reading files
def read(file: Path) -> tuple[dict[str, Any], Callable[[str], str]]:
    """The table of a TOML file, and a function that says where in it a key is."""
    try:
        with file.open("rb") as stream:
            raw = stream.read(LARGEST_FILE + 1)
    except OSError as error:
        raise ScenarioError(f"{file}: cannot be read ({error.strerror}). Check the path.") from None
    if len(raw) > LARGEST_FILE:
        raise ScenarioError(f"{file}: is over 1 MiB, which no scenario is. Check the path.")
    try:
        text = raw.decode("utf-8-sig")
        table = tomllib.loads(text)
    except UnicodeDecodeError as error:
        raise ScenarioError(f"{file}: is not UTF-8 text (byte {error.start}). Save it as UTF-8.") from None
    except ValueError as error:  # of tomllib, and of Python for numbers with thousands of digits
        raise ScenarioError(f"{file}: is not TOML: {error!s:.200}.") from None
    except RecursionError:
        raise ScenarioError(f"{file}: is nested too deeply for a scenario.") from None

    def shown(path: str) -> str:
        key = re.escape(path.rpartition(".")[2])
        lines = [i for i, line in enumerate(text.splitlines(), 1) if re.match(rf"\s*[\"']?{key}[\"']?\s*=", line)]
        return f"{file}:{lines[0]}: {path}" if len(lines) == 1 else f"{file}: {path}"

    return table, shown


def put(table: dict[str, Any], path: str, value: Any, option: str) -> None:
    """Put an option's value at its key of the file's table.

    Raises:
        ScenarioError: where the file has something else than a table on the way.
    """
    *sections, key = path.split(".")
    for section in sections:
        table = table.setdefault(section, {})
        if not isinstance(table, dict):
            raise ScenarioError(f"{option}: {section} is not a table in the file, so {path} cannot be set.")
    table[key] = value


def in_words(error: ValidationError, name: Callable[[str], str]) -> str:
    """The first thing that is wrong, in one or two lines."""
    first = error.errors(include_url=False)[0]
    path = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        *sections, key = path.split(".")
        model: Any = ScenarioFile
        for section in sections:
            model = model.model_fields[section].annotation
        near = difflib.get_close_matches(key, model.model_fields, n=1)
        hint = f"Did you mean {near[0]}?" if near else f"Known here are {', '.join(model.model_fields)}."
        return f"{name(path)}: {key!a:.60} is not a key of a scenario. {hint}"
    cause = first.get("ctx", {}).get("error")
    if isinstance(cause, ValueError):
        return str(cause).replace(HERE, name(path))
    if first["type"] in ("model_type", "model_attributes_type", "dict_type"):
        return f"{name(path)}: {first['input']!r:.40} is not a table. Write [{path}] and keys below it."
    return f"{name(path)}: {first['msg']}, not {first['input']!r:.40}."


# ---------------------------------------------------------------- the table
@dataclass(frozen=True, slots=True)
class Field:
    """A key of a scenario that has an option.

    Attributes:
        key: In a file, such as ``fleet.groups``.
        spellings: Of its option, the first first, separated by spaces.
        help: A noun phrase.
    """

    key: str
    spellings: str
    help: str

    @property
    def options(self) -> tuple[str, ...]:
        """Spellings of its option."""
        return tuple(self.spellings.split())


FIELDS = (
    Field("fleet.clients", "--clients", "Clients in all; the groups are searched for."),
    Field("fleet.groups", "--groups --G -G", "Groups; 2:12 beside --clients."),
    Field("fleet.clients_per_group", "--clients-per-group --M -M", "Clients in each group."),
    Field("fleet.group_rounds", "--group-rounds --P -P", "Group rounds in a global round; 1:8 to search."),
    Field("fleet.local_steps", "--local-steps --K -K", "Local steps in a group round; 1:20 to search."),
    Field("fleet.groups_per_round", "--groups-per-round --S1", "Groups drawn each round; or 1:4."),
    Field("fleet.clients_per_round", "--clients-per-round --S2", "Clients drawn in each of those groups; or 1:9."),
    Field("fleet.order", "--order", "Of rings: fixed, or random (drawn each round)."),
    Field(
        "problem.heterogeneity",
        "--heterogeneity -H",
        "iid, intra, inter, both; zeta=0.5,delta=2; dirichlet:intra=0.1,inter=0.3; counts.csv; profile.json.",
    ),
    Field("problem.sigma", "--sigma", "Standard deviation of a stochastic gradient."),
    Field("problem.smoothness", "--smoothness --L", "Smoothness of the losses."),
    Field("problem.initial_gap", "--initial-gap --A", "F(x0) - F*."),
    Field("problem.rounds", "--rounds --R -R", "Global rounds: the horizon, or with a target the most."),
    Field("problem.target", "--target", "Squared gradient norm to reach, or a share of it at the start: 1%."),
    Field("model.size", "--model-size", "What one transfer carries: 45MB."),
    Field("network.client_link.preset", "--client-link", "Preset for clients: 5g, wifi, broadband ..."),
    Field("network.server_link.preset", "--server-link", "Preset for group servers: wan, lan ..."),
    Field("network.client_link.up", "--uplink", "Rate from a client: 20Mbit/s."),
    Field("network.client_link.down", "--downlink", "Rate to a client: 100Mbit/s."),
    Field("network.client_link.latency", "--latency", "Of a client's link, one way: 20ms."),
    Field("network.client_link.sharing", "--link-sharing", "Whose the rate is: per-client, or per-server (shared)."),
    Field("network.client_link.hop", "--hop", "In a ring of clients: direct, or relayed by the server."),
    Field("network.tiers", "--tiers", "2 with group servers, 1 without."),
    Field("compute.step_time", "--step-time", "Mean time of a local step: 0.2s."),
    Field("compute.straggler", "--straggler", "Spread of compute times: none, lognormal:0.3, exponential:0.5."),
    Field("availability.client", "--availability", "Probability that a client that is asked completes its turn: 99%."),
    Field("availability.policy", "--on-failure", "Where a device of a ring does not come: fail, skip or timeout."),
    Field("plan.objective", "--objective -o", "rounds, time or bytes."),
    Field("plan.metric", "--metric", "What is to get better: gradient (squared), loss, or accuracy."),
    Field(
        "plan.predictor",
        "--predictor",
        "Whose rounds: typical (of runs), bound (guaranteed), or surrogate (simulated).",
    ),
    Field("plan.bounds", "--bounds", "Bound family: hflbounds.sharp, zhou2026.thm1 ..."),
    Field("plan.cap", "--cap", "On the effective rate: own, none, common, or a number."),
    Field("plan.cost", "--cost", "How a round is timed: schedule, formula or diluted."),
    Field("plan.resolution", "--resolution", "Relative difference that still ties: 0.02."),
    Field("plan.seed", "--seed", "Of every random draw."),
)


def keywords() -> dict[str, str]:
    """Map the Python keyword of every option to its key: ``groups`` and ``G`` to ``fleet.groups``."""
    return {
        option.lstrip("-").replace("-", "_"): field.key
        for field in FIELDS
        for option in field.options
        if option.startswith("--")
    }
