"""What the user knows, with the origin of every number: TOML and options in, a frozen scenario out."""

from __future__ import annotations

import difflib
import math
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from planner import heterogeneity
from planner.errors import ScenarioError
from planner.network import (
    PRESETS,
    Compute,
    Hop,
    Link,
    Network,
    NetworkError,
    Sharing,
    Straggler,
    link_preset,
    parse_straggler,
)
from planner.units import QuantityError, format_duration, format_rate, parse_duration, parse_rate, parse_size

Origin = Literal["given", "default", "estimated", "derived"]
Objective = Literal["rounds", "time", "bytes"]
Order = Literal["fixed", "random"]
CostMethod = Literal["schedule", "formula", "diluted"]

HERE = "\x00"  # stands for the field's name until it is known whether an option or a file spoke
LARGEST_FILE = 1 << 20  # bytes
LARGEST_COUNT = 10**6  # groups, clients of a group, group rounds, local steps
LARGEST_ROUNDS = 10**12


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


def _target(value: Any) -> str | float:
    try:
        if isinstance(value, str) and value.strip().endswith("%"):
            return f"{_number(zero=False)(value.strip()[:-1])!r}%"
        return _number(zero=False)(value)
    except ValueError:
        raise ValueError(
            f"{HERE}: {value!r:.40} is not a target. Write a squared gradient norm such as 0.01, "
            "or a share of its first bound such as 1%."
        ) from None


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


def _heterogeneity(value: Any) -> heterogeneity.Heterogeneity:
    try:
        return heterogeneity.parse(value)
    except ScenarioError as error:
        raise ValueError(f"{HERE}: {error}") from None


def _preset(value: Any) -> str:
    return link_preset(value if isinstance(value, str) else repr(value), field=HERE).name


Count = Annotated[int, BeforeValidator(_count(LARGEST_COUNT))]
Rounds = Annotated[int, BeforeValidator(_count(LARGEST_ROUNDS))]
Positive = Annotated[float, BeforeValidator(_number(zero=False))]
NotNegative = Annotated[float, BeforeValidator(_number(zero=True))]
RateText = Annotated[Any, BeforeValidator(_by(parse_rate))]
SizeText = Annotated[Any, BeforeValidator(_by(parse_size))]
DurationText = Annotated[Any, BeforeValidator(_by(parse_duration))]


class Section(BaseModel):
    """A table of a scenario file; unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)


class FleetSection(Section):
    """Who takes part: groups, clients, rounds and steps."""

    groups: Count | None = None
    clients_per_group: Count | None = None
    group_rounds: Count | None = None
    local_steps: Count | None = None
    groups_per_round: Count | None = None
    clients_per_round: Count | None = None
    order: Annotated[Order | None, BeforeValidator(_choice(get_args(Order)))] = None


class ProblemSection(Section):
    """What is learned and how far: noise, heterogeneity, smoothness, gap, rounds, target."""

    heterogeneity: Annotated[Any, BeforeValidator(_heterogeneity)] = None
    sigma: NotNegative | None = None
    smoothness: Positive | None = None
    initial_gap: Positive | None = None
    rounds: Rounds | None = None
    target: Annotated[str | float | None, BeforeValidator(_target)] = None


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


class PlanSection(Section):
    """How the answer is made."""

    objective: Annotated[Objective | None, BeforeValidator(_choice(get_args(Objective)))] = None
    bounds: Annotated[str | None, BeforeValidator(_text)] = None
    cap: Annotated[str | float | None, BeforeValidator(_cap)] = None
    cost: Annotated[CostMethod | None, BeforeValidator(_choice(get_args(CostMethod)))] = None
    resolution: Annotated[float | None, BeforeValidator(_resolution)] = None
    seed: Annotated[int | None, BeforeValidator(_count(2**31, least=0))] = None


class ScenarioFile(Section):
    """A scenario file, version 1."""

    schema_version: Annotated[Literal[1], BeforeValidator(_version)] = 1
    title: Annotated[str, BeforeValidator(_text)] = ""
    fleet: FleetSection = FleetSection()
    problem: ProblemSection = ProblemSection()
    model: ModelSection = ModelSection()
    network: NetworkSection = NetworkSection()
    compute: ComputeSection = ComputeSection()
    plan: PlanSection = PlanSection()


# ---------------------------------------------------------------- what is known
@dataclass(frozen=True, slots=True)
class Known:
    """A number, a word, and where it comes from.

    Attributes:
        value: in SI units where it has a unit.
        origin: who says so.
        unit: of ``value``; "" for pure numbers and words.
        note: what a default stands on, or how a derived number was made.
        reading: the user's quantity in canonical spelling, where it had a unit.
    """

    value: float | int | str | None
    origin: Origin
    unit: str = ""
    note: str = ""
    reading: str = ""


@dataclass(frozen=True)
class Scenario:
    """Everything an answer stands on.

    Attributes:
        title: the user's.
        known: by the names of the contract, in the order in which they are shown.
        network, compute: what the clock needs.
        partial: whether only some clients take part in a round.
        order: of rings.
        bounds: id of the bound family, None for the one that fits.
        cap: on the effective learning rate, None for the family's default.
        objective: what is minimised, None for time where a network was given, else rounds.
        cost: how a round is timed.
        resolution: relative difference below which topologies tie.
        seed: of every random draw.
        network_given: whether any part of the network was.
        target_share: the target as a share of ``2 L A``, where it was given as one.
        warnings: about the input.
    """

    title: str
    known: Mapping[str, Known]
    network: Network
    compute: Compute
    partial: bool
    order: Order
    bounds: str | None
    cap: str | float | None
    objective: Objective
    cost: CostMethod
    resolution: float
    seed: int
    network_given: bool
    target_share: float | None = None
    warnings: tuple[str, ...] = field(default=())

    def number(self, name: str) -> float:
        """The value of a quantity that is a number."""
        value = self.known[name].value
        assert isinstance(value, int | float), name  # noqa: S101 - by construction
        return value

    def with_link(self, **change: Any) -> Scenario:
        """The same with another client link."""
        link = replace(self.network.client_link, **change)
        return replace(self, network=replace(self.network, client_link=link))


def load(file: Path | None = None, options: Mapping[str, tuple[str, Any]] | None = None) -> Scenario:
    """A scenario from a file, from options, or from both; options win.

    Args:
        file: TOML; see the examples folder.
        options: by path in the file (``fleet.groups``): the name of the option, and what was written.

    Raises:
        ScenarioError: naming the field, the value, the rule and the way out.
    """
    table, shown = _read(file) if file else ({}, lambda path: path)
    spoken: dict[str, str] = {}
    for path, (option, value) in (options or {}).items():
        for other, before in spoken.items():
            if path == other or path.startswith(other + ".") or other.startswith(path + "."):
                raise ScenarioError(f"{option}: {before} says the same or part of it. Give one of the two.")
        spoken[path] = option
        _put(table, path, value, option)

    def name(path: str) -> str:
        if path in spoken:
            return spoken[path]
        outer = (option for known, option in spoken.items() if path.startswith(known + "."))
        return next(outer, shown(path))

    try:
        written = ScenarioFile.model_validate(table)
    except ValidationError as error:
        raise ScenarioError(_in_words(error, name)) from None
    return resolve(written, name)


def resolve(written: ScenarioFile, name: Callable[[str], str] = lambda path: path) -> Scenario:
    """Defaults, derived numbers and origins for what was written.

    Args:
        written: a validated file.
        name: what a field is called in errors.

    Raises:
        ScenarioError: where fields contradict each other, or one that has no default is missing.
    """
    fleet, problem, plan = written.fleet, written.problem, written.plan
    if fleet.groups is None or fleet.clients_per_group is None:
        raise ScenarioError(
            "how many groups of how many clients? Give --groups and --clients-per-group, "
            "or a scenario file with --config."
        )
    known: dict[str, Known] = {}
    warnings: list[str] = []
    groups, clients = fleet.groups, fleet.clients_per_group
    known["G"] = Known(groups, "given")
    known["M"] = Known(clients, "given")
    known["P"] = _given_or(fleet.group_rounds, 1, note="as in zhou2026, Appendix B.1")
    known["K"] = _given_or(fleet.local_steps, 2, note="as in zhou2026, Appendix B.1")
    for symbol, path, whole, drawn in (
        ("S1", "groups_per_round", groups, fleet.groups_per_round),
        ("S2", "clients_per_round", clients, fleet.clients_per_round),
    ):
        if drawn is not None and drawn > whole:
            raise ScenarioError(
                f"{name(f'fleet.{path}')}: {symbol} = {drawn} exceeds the {whole} there are. "
                f"Give at most {whole}, or leave it out for everyone."
            )
        known[symbol] = _given_or(drawn, whole, "derived", note="everyone takes part")
    partial = known["S1"].value != groups or known["S2"].value != clients
    if partial and fleet.order == "fixed":
        raise ScenarioError(
            f"{name('fleet.order')}: where only some take part in a round, rings run in the order they are drawn in. "
            "Leave the order out, or write random."
        )

    known["sigma"] = _given_or(problem.sigma, 1.0, note="the unit of the deviations: only ratios to it rank")
    known["L"] = _given_or(problem.smoothness, 1.0, note="does not change a ranking at a relative target")
    known["A"] = _given_or(problem.initial_gap, 2.3, note="loss of an untrained 10-class model, ln 10")
    _deviations(problem.heterogeneity, known, warnings)
    known["R"] = _given_or(problem.rounds, 1000, note="horizon at which the bounds are compared")
    share = None
    if problem.target is None:
        known["target"] = Known(None, "derived", note="what Star-Star's bound reaches in R rounds")
    elif isinstance(problem.target, str):
        share = float(problem.target[:-1]) / 100
        value = share * 2 * float(known["L"].value or 0) * float(known["A"].value or 0)
        known["target"] = Known(value, "given", note=f"{problem.target} of 2 L A, the first bound on it")
        if problem.rounds is None:
            known["R"] = Known(None, "derived", note="each topology's own rounds to the target")
    else:
        known["target"] = Known(problem.target, "given")
        if problem.rounds is None:
            known["R"] = Known(None, "derived", note="each topology's own rounds to the target")

    known["order"] = Known(
        fleet.order or ("random" if partial else "fixed"),
        "given" if fleet.order else "derived" if partial else "default",
        note="rings run in the order drawn" if partial else "of rings",
    )
    network, network_given = _network(written, known, warnings, name)
    compute = _compute(written.compute, known, name)
    chosen = plan.objective or ("time" if network_given else "rounds")
    return Scenario(
        title=written.title,
        known=known,
        network=network,
        compute=compute,
        partial=partial,
        order=fleet.order or ("random" if partial else "fixed"),
        bounds=plan.bounds,
        cap=plan.cap,
        objective=chosen,
        cost=plan.cost or "schedule",
        resolution=0.02 if plan.resolution is None else plan.resolution,
        seed=plan.seed or 0,
        network_given=network_given,
        target_share=share,
        warnings=tuple(warnings),
    )


def _given_or(value: Any, default: Any, origin: Origin = "default", *, note: str = "") -> Known:
    return Known(default, origin, note=note) if value is None else Known(value, "given")


def _deviations(said: Any, known: dict[str, Known], warnings: list[str]) -> None:
    """Both deviations, and what a fleet of one group or of one client per group makes of them."""
    groups, clients, sigma = (known[n].value for n in ("G", "M", "sigma"))
    assert isinstance(groups, int) and isinstance(clients, int) and isinstance(sigma, float)  # noqa: S101
    form = said or heterogeneity.Heterogeneity("preset", "both")
    zeta, delta = form.deviations(sigma, groups, clients)
    if said is None:
        origin: Origin = "default"
        note = "one sigma each; nobody said, and it decides the answer"
        warnings.append(
            "Heterogeneity was not given, and it decides the answer: zeta = delta = sigma is assumed. "
            "Say --heterogeneity iid, intra, inter or both, or give numbers."
        )
    elif form.form == "numbers":
        origin, note = "given", ""
    elif form.form == "preset":
        origin, note = "derived", f"preset {form.text}: one sigma where it is not 0"
    else:
        origin, note = (
            "derived",
            f"{form.text}: label shift over {heterogeneity.CLASSES} labels, one-label client = 1 sigma",
        )
    known["zeta"] = Known(zeta, origin, note=note)
    known["delta"] = Known(delta, origin, note=note)
    if form.form == "numbers":
        for symbol, value in (("zeta", form.zeta), ("delta", form.delta)):
            if value is None:
                known[symbol] = Known(0.0, "default", note="left out, so 0")
    if groups == 1 and delta:
        known["delta"] = Known(0.0, "derived", note="one group has nothing to differ from")
    if clients == 1 and zeta:
        known["zeta"] = Known(0.0, "derived", note="one client has nothing to differ from")


def _network(
    written: ScenarioFile, known: dict[str, Known], warnings: list[str], name: Callable[[str], str]
) -> tuple[Network, bool]:
    section = written.network
    given = section != NetworkSection() or written.model != ModelSection() or written.compute != ComputeSection()
    known["tiers"] = _given_or(section.tiers, 2, note="group servers between clients and the top server")
    links = {}
    for tier, default, tier_section in (
        ("client_link", "broadband", section.client_link),
        ("server_link", "wan", section.server_link),
    ):
        preset = PRESETS[tier_section.preset or default]
        base: Origin = "given" if tier_section.preset else "default"
        known[tier] = Known(preset.name, base, note=preset.source)
        values: dict[str, Any] = {}
        for part in ("up", "down", "latency", "sharing", "hop"):
            value = getattr(tier_section, part)
            unit = {"up": "bit/s", "down": "bit/s", "latency": "s"}.get(part, "")
            if value is None:
                value = getattr(preset.link, part)
                origin: Origin = "derived" if tier_section.preset else "default"
                note = f"preset {preset.name}"
                known[f"{tier}.{part}"] = Known(value, origin, unit, note)
            else:
                known[f"{tier}.{part}"] = Known(_plain(value), "given", unit, reading=getattr(value, "reading", ""))
            values[part] = _plain(value)
        try:
            links[tier] = Link(**values)
        except NetworkError as error:
            raise ScenarioError(f"{name(f'network.{tier}')}: {error}") from None
    size = written.model.size
    known["model_size"] = (
        Known(44.7e6, "default", "bytes", "ResNet-18 in 32-bit floats, 11.2 million parameters")
        if size is None
        else Known(float(size), "given", "bytes", reading=size.reading)
    )
    if written.network.tiers != 1 or not given:
        sections = {"client_link": section.client_link, "server_link": section.server_link}
    else:
        sections = {"client_link": section.client_link}
    assumed = [
        f"{tier.replace('_', ' ')} {known[tier].value} ({format_rate(links[tier].up)} up, "
        f"{format_rate(links[tier].down)} down, {format_duration(links[tier].latency)}, "
        f"{links[tier].sharing}, {links[tier].hop} hops)"
        for tier, told in sections.items()
        if told.preset is None and told.up is None
    ]
    if size is None:
        assumed.append("a 44.7 MB model")
    if written.compute.step_time is None:
        assumed.append(f"{format_duration(0.1)} a local step")
    if assumed:
        warnings.append(f"Time and traffic stand on numbers nobody gave: {'; '.join(assumed)}.")
    tiers: Any = known["tiers"].value
    return Network(tiers, links["client_link"], links["server_link"]), given


def _compute(section: ComputeSection, known: dict[str, Known], name: Callable[[str], str]) -> Compute:
    step = section.step_time
    known["step_time"] = (
        Known(0.1, "default", "s", "a guess; measure one local step")
        if step is None
        else Known(float(step), "given", "s", reading=step.reading)
    )
    straggler: Straggler = section.straggler or Straggler()
    shown = "none" if straggler.kind == "none" else f"{straggler.kind}:{straggler.cv:g}"
    known["straggler"] = Known(shown, "given" if section.straggler else "default")
    try:
        return Compute(float(known["step_time"].value or 0.0), straggler)
    except NetworkError as error:
        raise ScenarioError(f"{name('compute.step_time')}: {error}") from None


def _plain(value: Any) -> Any:
    return float(value) if isinstance(value, float) else value


# ---------------------------------------------------------------- reading files
def _read(file: Path) -> tuple[dict[str, Any], Callable[[str], str]]:
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


def _put(table: dict[str, Any], path: str, value: Any, option: str) -> None:
    *sections, key = path.split(".")
    for section in sections:
        table = table.setdefault(section, {})
        if not isinstance(table, dict):
            raise ScenarioError(f"{option}: {section} is not a table in the file, so {path} cannot be set.")
    table[key] = value


def _in_words(error: ValidationError, name: Callable[[str], str]) -> str:
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
    if isinstance(cause, QuantityError | NetworkError | ValueError):
        return str(cause).replace(HERE, name(path))
    if first["type"] in ("model_type", "model_attributes_type", "dict_type"):
        return f"{name(path)}: {first['input']!r:.40} is not a table. Write [{path}] and keys below it."
    return f"{name(path)}: {first['msg']}, not {first['input']!r:.40}."
