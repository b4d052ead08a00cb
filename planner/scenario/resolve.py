"""What the user knows, with the origin of every number: a file and options in, a frozen scenario out."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import ValidationError

from planner.data import heterogeneity
from planner.errors import ScenarioError
from planner.io.intervals import Spread
from planner.scenario.fields import (
    AvailabilitySection,
    ComputeSection,
    CostMethod,
    Metric,
    ModelSection,
    NetworkSection,
    Objective,
    Order,
    ScenarioFile,
    Span,
    in_words,
    keywords,
    put,
    read,
)
from planner.scenario.network import PRESETS, Compute, Link, Network, NetworkError, Straggler
from planner.scenario.units import format_duration, format_rate

if TYPE_CHECKING:
    from planner.scenario.availability import Availability

Origin = Literal["given", "default", "estimated", "derived"]


@dataclass(frozen=True, slots=True)
class Known:
    """A number, a word, and where it comes from.

    Attributes:
        value: in SI units where it has a unit.
        origin: who says so.
        unit: of ``value``; "" for pure numbers and words.
        note: what a default stands on, or how a derived number was made.
        reading: the user's quantity in canonical spelling, where it had a unit or limits.
        spread: how far the number is known, where that was given or measured; ``value`` is then the middle.
    """

    value: float | int | str | None
    origin: Origin
    unit: str = ""
    note: str = ""
    reading: str = ""
    spread: Spread | None = None


@dataclass(frozen=True, slots=True)
class Regrouped:
    """A division of clients into groups, and the deviations it makes.

    Attributes:
        groups, clients: how many groups of how many, in the mean.
        largest: clients of the largest group, which the clock and the traffic count.
        zeta, delta: deviations.
        origin, note: of both.
        kind: whether at random, or chosen by label counts.
        spread: of one factor on both deviations, where limits of them were given.
    """

    groups: int
    clients: int
    largest: int
    zeta: float
    delta: float
    origin: Origin
    note: str
    kind: Literal["random", "chosen"]
    spread: Spread | None = None


@dataclass(frozen=True)
class Scenario:
    """Everything an answer stands on.

    Attributes:
        title: the user's.
        known: by the names of the contract, in the order in which they are shown.
        network, compute: what the clock needs.
        partial: whether only some clients take part in a round.
        order: of rings.
        metric: what is to get small.
        predictor: id of what predicts the rounds.
        bounds: id of the bound family, None for the one that fits.
        cap: on the effective learning rate, None for the family's default.
        objective: what is minimised, None for time where a network was given, else rounds.
        cost: how a round is timed.
        resolution: relative difference below which topologies tie.
        seed: of every random draw.
        network_given: whether any part of the network was.
        target_share: the target as a share of the squared gradient at the start, where it was given as one.
        warnings: about the input.
        ratio_error: where a file says the ratio of the two deviations, the standard error of its logarithm.
        grouping: how clients came to their groups, where counts were searched for.
        divisions: where counts are yet to be searched for, this scenario for every division into groups.
        choices: where they are, the ends of the range of each; all others are those of `known`.
        availability: who comes when asked; None where nobody said.
    """

    title: str
    known: Mapping[str, Known]
    network: Network
    compute: Compute
    partial: bool
    order: Order
    metric: Metric
    predictor: str
    bounds: str | None
    cap: str | float | None
    objective: Objective
    cost: CostMethod
    resolution: float
    seed: int
    network_given: bool
    target_share: float | None = None
    warnings: tuple[str, ...] = field(default=())
    ratio_error: float | None = None
    draws: int = 4096
    grouping: Literal["random", "chosen", "given"] | None = None
    divisions: tuple[Scenario, ...] = ()
    choices: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    availability: Availability | None = None

    def number(self, name: str) -> float:
        """The value of a quantity that is a number."""
        value = self.known[name].value
        assert isinstance(value, int | float), name  # noqa: S101 - by construction
        return value

    def with_link(self, **change: Any) -> Scenario:
        """The same with another client link."""
        return replace(self, network=self.network.with_link("client_link", **change))


def load(file: Path | None = None, options: Mapping[str, tuple[str, Any]] | None = None) -> Scenario:
    """A scenario from a file, from options, or from both; options win.

    Args:
        file: TOML; see the examples folder.
        options: by path in the file (``fleet.groups``): the name of the option, and what was written.

    Raises:
        ScenarioError: naming the field, the value, the rule and the way out.
    """
    table, shown = read(file) if file else ({}, lambda path: path)
    spoken: dict[str, str] = {}
    for path, (option, value) in (options or {}).items():
        for other, before in spoken.items():
            if path == other or path.startswith(other + ".") or other.startswith(path + "."):
                raise ScenarioError(f"{option}: {before} says the same or part of it. Give one of the two.")
        spoken[path] = option
        put(table, path, value, option)

    def name(path: str) -> str:
        if path in spoken:
            return spoken[path]
        outer = (option for known, option in spoken.items() if path.startswith(known + "."))
        return next(outer, shown(path))

    try:
        _take_clients_alone(table, name)
        written = ScenarioFile.model_validate(table)
    except ValidationError as error:
        raise ScenarioError(in_words(error, name)) from None
    return resolve(written, name)


def from_keywords(
    config: str | Path | Mapping[str, Any] | None, settings: Mapping[str, Any], options: Mapping[str, Any]
) -> Scenario:
    """Read a scenario from a file or a table, and from values by key and by keyword, which win.

    Raises:
        TypeError: For a keyword there is not, or one that says what another says.
        ScenarioError: For what is no scenario.
    """
    known = keywords()
    spoken = {key: (f"settings[{key!r:.60}]", _of_python(value)) for key, value in settings.items()}
    for name, value in options.items():
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"Did you mean {near[0]}?" if near else "See the options of `hfl-plan recommend --help`."
            raise TypeError(f"{name!a:.60} is not an option. {hint}")
        if value is None:
            continue
        if known[name] in spoken:
            raise TypeError(f"{name}: {spoken[known[name]][0]} says the same. Give one of the two.")
        spoken[known[name]] = name, _of_python(value)
    if isinstance(config, Mapping):
        return load(None, {key: (key, value) for key, value in _leaves(config) if key not in spoken} | spoken)
    return load(None if config is None else Path(config), spoken)


def _of_python(value: Any) -> Any:
    """A value as a scenario file may have it: paths as text, numpy's numbers as Python's."""
    if isinstance(value, Path):
        return str(value)
    return value.item() if hasattr(value, "item") and not hasattr(value, "__len__") else value


def _leaves(table: Mapping[str, Any], at: str = "") -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for key, value in table.items():
        path = f"{at}.{key}" if at else str(key)
        found += _leaves(value, path) if isinstance(value, Mapping) else [(path, _of_python(value))]
    return found


def _take_clients_alone(table: dict[str, Any], name: Callable[[str], str]) -> None:
    """Where the division into groups is free, label counts need no column of groups."""
    fleet, problem = table.get("fleet"), table.get("problem")
    if not isinstance(fleet, dict) or not isinstance(problem, dict):
        return
    said = problem.get("heterogeneity")
    if "clients" not in fleet or "clients_per_group" in fleet or ":" not in str(fleet.get("groups", ":")):
        return
    if isinstance(said, str) and said.strip().lower().endswith(".csv"):
        from planner.decide import counts as structure

        try:
            problem["heterogeneity"] = structure.ungrouped(said.strip())
        except ScenarioError as error:
            raise ScenarioError(f"{name('problem.heterogeneity')}: {error}") from None


def resolve(written: ScenarioFile, name: Callable[[str], str] = lambda path: path) -> Scenario:
    """Defaults, derived numbers and origins for what was written.

    Args:
        written: a validated file.
        name: what a field is called in errors.

    Raises:
        ScenarioError: where fields contradict each other, or one that has no default is missing.
    """
    fleet = written.fleet
    if isinstance(fleet.groups, Span) and (fleet.clients is None or fleet.clients_per_group is not None):
        raise ScenarioError(
            f"{name('fleet.groups')}: a range of groups is searched where only the clients in all are known. "
            "Give --clients beside it, and no --clients-per-group; or one number."
        )
    if fleet.clients is not None and fleet.clients_per_group is None and not isinstance(fleet.groups, int):
        from planner.decide import counts as structure

        return structure.scenarios(written, name)
    if fleet.clients is not None:
        given = {"fleet.groups": fleet.groups, "fleet.clients_per_group": fleet.clients_per_group}
        assert not isinstance(fleet.groups, Span)  # noqa: S101 - dealt with above
        groups = fleet.groups or fleet.clients // (fleet.clients_per_group or 1)
        clients = fleet.clients_per_group or fleet.clients // groups
        if groups * clients != fleet.clients:
            others = " and ".join(f"{name(path)} {number}" for path, number in given.items() if number is not None)
            raise ScenarioError(
                f"{name('fleet.clients')}: {fleet.clients} clients contradict {others}: N = G M. "
                f"Leave {name('fleet.clients')} out, or give it alone to search the number of groups."
            )
        fleet = fleet.model_copy(update={"groups": groups, "clients_per_group": clients})
        written = written.model_copy(update={"fleet": fleet})
    if any(isinstance(value, Span) for _, value in fleet):
        from planner.decide import counts as structure

        return structure.scenarios(written, name)
    return resolve_groups(written, name)


def resolve_groups(
    written: ScenarioFile, name: Callable[[str], str] = lambda path: path, regrouped: Regrouped | None = None
) -> Scenario:
    """The same, for groups that are known.

    Args:
        written: a validated file.
        name: what a field is called in errors.
        regrouped: groups and deviations that take the place of those written.

    Raises:
        ScenarioError: where fields contradict each other, or one that has no default is missing.
    """
    fleet, problem, plan = written.fleet, written.problem, written.plan
    known: dict[str, Known] = {}
    warnings: list[str] = []
    measured = problem.heterogeneity.measured if problem.heterogeneity else None
    drawn_groups, drawn_clients = (_one_number(n) for n in (fleet.groups_per_round, fleet.clients_per_round))
    if regrouped is None:
        groups, clients = _fleet(_one_number(fleet.groups), fleet.clients_per_group, measured, known, warnings)
        largest = clients
    else:
        groups, clients, largest = regrouped.groups, regrouped.clients, regrouped.largest
        known["G"] = Known(groups, "derived", note="searched")
        known["M"] = Known(clients, "derived", note="N / G")
    known["P"] = _given_or(fleet.group_rounds, 1, note="as in zhou2026, Appendix B.1")
    known["K"] = _given_or(fleet.local_steps, 2, note="as in zhou2026, Appendix B.1")
    for symbol, path, whole, drawn in (
        ("S1", "groups_per_round", groups, drawn_groups),
        ("S2", "clients_per_round", largest, drawn_clients),
    ):
        if drawn is not None and drawn > whole:
            raise ScenarioError(
                f"{name(f'fleet.{path}')}: {symbol} = {drawn} exceeds the {whole} there are. "
                f"Give at most {whole}, or leave it out for everyone."
            )
        known[symbol] = _given_or(drawn, whole, "derived", note="everyone takes part")
    partial = known["S1"].value != groups or known["S2"].value != largest
    if partial and fleet.order == "fixed":
        raise ScenarioError(
            f"{name('fleet.order')}: where only some take part in a round, rings run in the order they are drawn in. "
            "Leave the order out, or write random."
        )

    known["sigma"] = _given_or(problem.sigma, 1.0, note="the unit of the deviations: only ratios to it rank")
    known["L"] = _given_or(problem.smoothness, 1.0, note="does not change a ranking at a relative target")
    known["A"] = _given_or(problem.initial_gap, 2.3, note="loss of an untrained 10-class model, ln 10")
    for symbol, number in (measured.constants if measured else {}).items():
        if known[symbol].origin == "default":
            error = measured.errors.get(symbol) if measured else None
            spread = Spread("lognormal", error) if error else None
            known[symbol] = Known(number, "estimated", note=f"from {problem.heterogeneity.text}", spread=spread)
    if regrouped is None:
        _deviations(problem.heterogeneity, known, warnings)
    else:
        known["zeta"] = Known(regrouped.zeta, regrouped.origin, note=regrouped.note, spread=regrouped.spread)
        known["delta"] = Known(regrouped.delta, regrouped.origin, note=regrouped.note, spread=regrouped.spread)
    known["R"] = _given_or(problem.rounds, 1000, note="horizon at which the bounds are compared")
    share = None
    limits: dict[str, Any] = {
        part: getattr(problem.target, part, none) for part, none in (("reading", ""), ("spread", None))
    }
    if problem.target is None:
        known["target"] = Known(None, "derived", note="what Star-Star's bound reaches in R rounds")
    elif isinstance(problem.target, str):
        share = float(problem.target[:-1]) / 100
        value = share * 2 * float(known["L"].value or 0) * float(known["A"].value or 0)
        known["target"] = Known(value, "given", note=f"{problem.target} of 2 L A, the first bound on it", **limits)
        if problem.rounds is None:
            known["R"] = Known(None, "derived", note="each topology's own rounds to the target")
    else:
        known["target"] = Known(float(problem.target), "given", **limits)
        if problem.rounds is None:
            known["R"] = Known(None, "derived", note="each topology's own rounds to the target")

    order: Order = fleet.order or ("random" if partial else "fixed")
    known["order"] = Known(
        order,
        "given" if fleet.order else "derived" if partial else "default",
        note="rings run in the order drawn" if partial else "of rings",
    )
    network, network_given = _network(written, known, warnings, name)
    compute = _compute(written.compute, known, name)
    availability = _availability(written.availability, known, name)
    chosen = plan.objective or ("time" if network_given else "rounds")
    return Scenario(
        title=written.title,
        known=known,
        network=network,
        compute=compute,
        partial=partial,
        order=order,
        metric=plan.metric or "gradient",
        # Who asks for a family of bounds, or for its cap, asks what it says.
        predictor=plan.predictor or ("bound" if plan.bounds or plan.cap is not None else "typical"),
        bounds=plan.bounds,
        cap=plan.cap,
        objective=chosen,
        cost=plan.cost or "schedule",
        resolution=0.02 if plan.resolution is None else plan.resolution,
        seed=plan.seed or 0,
        network_given=network_given,
        target_share=share,
        warnings=tuple(warnings),
        draws=4096 if plan.draws is None else plan.draws,
        ratio_error=0.0 if regrouped else None if measured is None else measured.ratio_error,
        grouping=regrouped.kind if regrouped else None,
        availability=availability,
    )


def _fleet(
    groups: int | None,
    clients: int | None,
    measured: heterogeneity.FromFile | None,
    known: dict[str, Known],
    warnings: list[str],
) -> tuple[int, int]:
    """How many groups of how many clients: as given, else as the file of label counts says."""
    if measured is None:
        if groups is None or clients is None:
            raise ScenarioError(
                "how many groups of how many clients? Give --groups and --clients-per-group, "
                "--clients to search for them, a scenario file with --config, or label counts with "
                "--heterogeneity counts.csv."
            )
        known["G"], known["M"] = Known(groups, "given"), Known(clients, "given")
        return groups, clients
    warnings.extend(measured.warnings)
    least, mean, most = measured.clients
    of_file = {"G": measured.groups, "M": max(round(mean), 1)}
    found = {"G": groups, "M": clients}
    for symbol, value in found.items():
        known[symbol] = (
            Known(of_file[symbol], "derived", note="counted in the file of heterogeneity")
            if value is None
            else Known(value, "given")
        )
    if (groups or of_file["G"], clients or of_file["M"]) != (of_file["G"], of_file["M"]):
        warnings.append(
            f"The file of heterogeneity has {of_file['G']} groups of {of_file['M']} clients, and other numbers are "
            "given: regrouping changes the deviations, and those of the file are used."
        )
    elif least != most:
        warnings.append(
            f"Groups have {least} to {most} clients. The theorems assume one size: M = {of_file['M']}, the mean, is "
            "used; by the clock the largest group sets the pace of a star at the top."
        )
    return groups or of_file["G"], clients or of_file["M"]


def _one_number(count: int | Span | None) -> int | None:
    assert not isinstance(count, Span)  # noqa: S101 - ranges are dealt with before
    return count


def _given_or(value: Any, default: Any, origin: Origin = "default", *, note: str = "") -> Known:
    return Known(default, origin, note=note) if value is None else _given(value)


def _given(value: Any, unit: str = "") -> Known:
    """What the user wrote, with its reading and its limits."""
    reading, spread = getattr(value, "reading", ""), getattr(value, "spread", None)
    return Known(_plain(value), "given", unit, reading=reading, spread=spread)


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
    elif form.measured is not None:
        origin, note = _of_file(form, sigma, warnings)
    elif form.form == "preset":
        origin, note = "derived", f"preset {form.text}: one sigma where it is not 0"
    else:
        origin, note = (
            "derived",
            f"{form.text}: label shift over {heterogeneity.CLASSES} labels, one-label client = 1 sigma",
        )
    for symbol, value in (("zeta", zeta), ("delta", delta)):
        error = form.measured.errors.get(symbol) if form.measured and form.measured.absolute else None
        spread = Spread("lognormal", error) if error else None
        known[symbol] = Known(value, origin, note=note, spread=spread)
    if form.form == "numbers":
        for symbol, said_of_it in (("zeta", form.zeta), ("delta", form.delta)):
            known[symbol] = _given_or(said_of_it, 0.0, note="left out, so 0")
    if groups == 1 and delta:
        known["delta"] = Known(0.0, "derived", note="one group has nothing to differ from")
    if clients == 1 and zeta:
        known["zeta"] = Known(0.0, "derived", note="one client has nothing to differ from")


def _of_file(form: heterogeneity.Heterogeneity, sigma: float, warnings: list[str]) -> tuple[Origin, str]:
    """Where deviations from a file stand: on its scale, or on an assumed one that keeps their ratio."""
    measured = form.measured
    assert measured is not None  # noqa: S101 - by construction
    value, low, high = measured.ratio
    said = "delta = 0" if value is None else f"zeta^2 / delta^2 = {value:.3g}"
    if value is not None and low is not None and high is not None:
        said += f" (95 % {low:.3g} to {high:.3g})"
    if measured.absolute:
        return "estimated", f"{form.text}: {said}"
    warnings.append(
        f"Label counts say {said}, and not how large the two are: a client with a single label is taken to stand "
        f"sigma = {sigma:g} from an even mixture. `hfl-plan measure --gram` or `--scale` gives the scale."
    )
    return "default", f"{form.text}: {said}; the scale is assumed, one-label client = 1 sigma"


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
                known[f"{tier}.{part}"] = _given(value, unit)
            values[part] = _plain(value)
        try:
            links[tier] = Link(**values)
        except NetworkError as error:
            raise ScenarioError(f"{name(f'network.{tier}')}: {error}") from None
    size = written.model.size
    known["model_size"] = (
        Known(44.7e6, "default", "bytes", "ResNet-18 in 32-bit floats, 11.2 million parameters")
        if size is None
        else _given(size, "bytes")
    )
    sections = {"client_link": section.client_link}
    if section.tiers != 1:
        sections["server_link"] = section.server_link
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
    return Network.two_tier(tiers, links["client_link"], links["server_link"]), given


def _compute(section: ComputeSection, known: dict[str, Known], name: Callable[[str], str]) -> Compute:
    step = section.step_time
    known["step_time"] = (
        Known(0.1, "default", "s", "a guess; measure one local step") if step is None else _given(step, "s")
    )
    straggler: Straggler = section.straggler or Straggler()
    shown = "none" if straggler.kind == "none" else f"{straggler.kind}:{straggler.cv:g}"
    known["straggler"] = Known(shown, "given" if section.straggler else "default")
    try:
        return Compute(float(known["step_time"].value or 0.0), straggler)
    except NetworkError as error:
        raise ScenarioError(f"{name('compute.step_time')}: {error}") from None


def _availability(
    section: AvailabilitySection, known: dict[str, Known], name: Callable[[str], str]
) -> Availability | None:
    from planner.scenario import availability

    return availability.resolve(section, known, name)


def _plain(value: Any) -> Any:
    return float(value) if isinstance(value, float) else value
