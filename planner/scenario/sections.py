"""Defaults, derived numbers and origins for what was written of one fleet, section by section."""

from __future__ import annotations

from typing import Any

from hflbounds.topology import TierSymbols, tier_symbols
from planner.data import heterogeneity
from planner.errors import ScenarioError
from planner.io.intervals import Spread
from planner.scenario import availability
from planner.scenario.fields import Order, Span
from planner.scenario.network import PRESETS, Compute, Link, Network, NetworkError, Straggler, link_names
from planner.scenario.units import format_duration, format_rate
from planner.scenario.values import Known, Origin, Regrouped, Scenario
from planner.scenario.written import Written

Table = dict[str, Known]


def resolve_fleet(written: Written, regrouped: Regrouped | None = None) -> Scenario:
    """Resolve what was written of a fleet whose counts are known.

    Args:
        written: Without ranges.
        regrouped: Groups and deviations that take the place of those written.

    Raises:
        ScenarioError: If fields contradict each other, or one that has no default is missing.
    """
    known: Table = {}
    warnings: list[str] = []
    form = written.get("problem.heterogeneity")
    measured = form.measured if form else None
    tiers = (form.tiers or (measured.tiers if measured else None)) if form else None
    if form is not None and tiers and len(tiers) != written.depth:
        raise ScenarioError(
            f"{written.name('problem.heterogeneity')}: {form.text} is of {len(tiers)} tiers, and this fleet has "
            f"{written.depth}. Make them agree."
        )
    partial = _counts(written, measured, regrouped, known, warnings)
    _problem(written, measured, known)
    if regrouped is not None:
        for symbol, value in (("zeta", regrouped.zeta), ("delta", regrouped.delta)):
            known[symbol] = Known(value, regrouped.origin, note=regrouped.note, spread=regrouped.spread)
    elif written.depth == 2:
        _deviations(form, known, warnings)
    else:
        _deviations_of_tiers(form, tier_symbols(written.depth), known, warnings, written.name("problem.heterogeneity"))
    share = _target(written, known)
    given_order: Order | None = written.get("fleet.order")
    order: Order = given_order or ("random" if partial else "fixed")
    origin: Origin = "given" if given_order else "derived" if partial else "default"
    known["order"] = Known(order, origin, note="rings run in the order drawn" if partial else "of rings")
    network = _network(written, known, warnings)
    compute = _compute(written, known)
    who_comes = availability.resolve(written, known)
    network_given = written.says("network", "model", "compute")
    bounds, cap, resolution, draws = (written.get(f"plan.{key}") for key in ("bounds", "cap", "resolution", "draws"))
    return Scenario(
        title=written.get("title") or "",
        known=known,
        network=network,
        compute=compute,
        partial=partial,
        order=order,
        metric=written.get("plan.metric") or "gradient",
        # Who asks for a family of bounds, or for its cap, asks what it says.
        predictor=written.get("plan.predictor") or ("bound" if bounds or cap is not None else "typical"),
        bounds=bounds,
        cap=cap,
        objective=written.get("plan.objective") or ("time" if network_given else "rounds"),
        cost=written.get("plan.cost") or "schedule",
        resolution=0.02 if resolution is None else resolution,
        seed=written.get("plan.seed") or 0,
        network_given=network_given,
        target_share=share,
        warnings=tuple(warnings),
        draws=4096 if draws is None else draws,
        ratio_error=0.0 if regrouped else None if measured is None else measured.ratio_error,
        grouping=regrouped.kind if regrouped else None,
        availability=who_comes,
        names=written.names,
        topologies=written.topologies,
    )


def _counts(
    written: Written,
    measured: heterogeneity.FromFile | None,
    regrouped: Regrouped | None,
    known: Table,
    warnings: list[str],
) -> bool:
    """Resolve how many there are on every tier, who takes part, and rounds and steps; whether only some take part."""
    symbols = tier_symbols(written.depth)
    if regrouped is not None:
        sizes = [Known(regrouped.groups, "derived", note="searched"), Known(regrouped.clients, "derived", note="N / G")]
    else:
        sizes = _sizes(written, measured, warnings)
    known |= {tier.size: size for tier, size in zip(symbols, sizes, strict=True)}
    for tier, passes in zip(symbols, written.of_tiers("passes"), strict=True):
        if tier.passes:
            known[tier.passes] = Known.of(passes, 1, "as in zhou2026, Appendix B.1")
    known["K"] = Known.of(written.get("fleet.local_steps"), 2, "as in zhou2026, Appendix B.1")
    there = [size.value for size in sizes]
    if regrouped is not None:
        there[-1] = regrouped.largest
    for i, (tier, drawn, whole) in enumerate(zip(symbols, written.of_tiers("drawn"), there, strict=True)):
        if drawn is not None and drawn > whole:
            raise ScenarioError(
                f"{written.name(written.key_of(i, 'drawn'))}: {tier.drawn} = {drawn} exceeds the {whole} there are. "
                f"Give at most {whole}, or leave it out for everyone."
            )
        known[tier.drawn] = Known.of(drawn, whole, "everyone takes part", origin="derived")
    partial = any(known[tier.drawn].value != whole for tier, whole in zip(symbols, there, strict=True))
    if partial and written.get("fleet.order") == "fixed":
        raise ScenarioError(
            f"{written.name('fleet.order')}: where only some take part in a round, rings run in the order they are "
            "drawn in. Leave the order out, or write random."
        )
    return partial


def _sizes(written: Written, measured: heterogeneity.FromFile | None, warnings: list[str]) -> list[Known]:
    """Resolve how many children the nodes of every tier have: as given, else as the file of label counts says."""
    given = written.of_tiers("count")
    assert not any(isinstance(count, Span) for count in given)  # noqa: S101 - ranges are dealt with before
    if measured is None:
        if None in given:
            raise ScenarioError(
                "how many groups of how many clients? Give --groups and --clients-per-group, "
                "--clients to search for them, a scenario file with --config, or label counts with "
                "--heterogeneity counts.csv."
            )
        return [Known(count, "given") for count in given]
    warnings.extend(measured.warnings)
    least, mean, most = measured.clients
    counted = [max(round(size), 1) for size in measured.children] or [measured.groups, max(round(mean), 1)]
    found = [
        Known.of(count, of_file, "counted in the file of heterogeneity", origin="derived")
        for count, of_file in zip(given, counted, strict=True)
    ]
    if [one.value for one in found] != counted:
        there = f"{counted[0]} groups of {counted[1]} clients" if len(counted) == 2 else "/".join(map(str, counted))
        warnings.append(
            f"The file of heterogeneity has {there}, and other numbers are given: regrouping changes the deviations, "
            "and those of the file are used."
        )
    elif least != most and len(counted) == 2:
        warnings.append(
            f"Groups have {least} to {most} clients. The theorems assume one size: M = {counted[1]}, the mean, is "
            "used; by the clock the largest group sets the pace of a star at the top."
        )
    return found


def _problem(written: Written, measured: heterogeneity.FromFile | None, known: Table) -> None:
    """Resolve the constants of the losses: given, else measured, else assumed."""
    rows = (
        ("sigma", "sigma", 1.0, "the unit of the deviations: only ratios to it rank"),
        ("L", "smoothness", 1.0, "does not change a ranking at a relative target"),
        ("A", "initial_gap", 2.3, "loss of an untrained 10-class model, ln 10"),
    )
    for symbol, key, default, note in rows:
        known[symbol] = Known.of(written.get(f"problem.{key}"), default, note)
    for symbol, number in (measured.constants if measured else {}).items():
        if known[symbol].origin == "default":
            note = f"from {written.get('problem.heterogeneity').text}"
            known[symbol] = _measured(measured, symbol, number, "estimated", note)


def _measured(measured: heterogeneity.FromFile | None, symbol: str, value: float, origin: Origin, note: str) -> Known:
    """Keep a number with the error that a file states of it, if any."""
    error = measured.errors.get(symbol) if measured else None
    spread = Spread("lognormal", error) if error else None
    return Known(value, origin, note=note, spread=spread, exact=measured is not None and symbol in measured.exact)


def _target(written: Written, known: Table) -> float | None:
    """Resolve the horizon and the target; return the share of the squared gradient at the start, if given as one."""
    target, rounds = written.get("problem.target"), written.get("problem.rounds")
    if target is None or rounds is not None:
        known["R"] = Known.of(rounds, 1000, "horizon at which the bounds are compared")
    else:
        known["R"] = Known(None, "derived", note="each topology's own rounds to the target")
    if target is None:
        known["target"] = Known(None, "derived", note="what Star-Star reaches in R rounds, as the predictor has it")
        return None
    if not isinstance(target, str):
        known["target"] = Known.given(target)
        return None
    share = float(target[:-1]) / 100
    value = share * 2 * float(known["L"].value or 0) * float(known["A"].value or 0)
    reading, spread = getattr(target, "reading", ""), getattr(target, "spread", None)
    note = f"{target} of 2 L A, the first bound on it"
    known["target"] = Known(value, "given", note=note, reading=reading, spread=spread)
    return share


def _deviations(said: heterogeneity.Heterogeneity | None, known: Table, warnings: list[str]) -> None:
    """Resolve both deviations, and what a fleet of one group or of one client per group makes of them."""
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
        origin = "derived"
        note = f"{form.text}: label shift over {heterogeneity.CLASSES} labels, one-label client = 1 sigma"
    on_scale = form.measured if form.measured and form.measured.absolute else None
    for symbol, value in (("zeta", zeta), ("delta", delta)):
        known[symbol] = _measured(on_scale, symbol, value, origin, note)
    if form.form == "numbers":
        for symbol, said_of_it in (("zeta", form.zeta), ("delta", form.delta)):
            known[symbol] = Known.of(said_of_it, 0.0, "left out, so 0")
    if groups == 1 and delta:
        known["delta"] = Known(0.0, "derived", note="one group has nothing to differ from")
    if clients == 1 and zeta:
        known["zeta"] = Known(0.0, "derived", note="one client has nothing to differ from")


def _deviations_of_tiers(
    said: heterogeneity.Heterogeneity | None,
    symbols: tuple[TierSymbols, ...],
    known: Table,
    warnings: list[str],
    name: str,
) -> None:
    """Resolve one deviation for every tier of a tree that has not two.

    Raises:
        ScenarioError: If only the deviations of two tiers were given.
    """
    unit = float(known["sigma"].value or 1.0)
    if said is None:
        warnings.append(
            "Heterogeneity was not given, and it decides the answer: a deviation of one sigma is assumed on every "
            f"tier. Say --heterogeneity iid, intra, inter or both, or give {'/'.join('1' for _ in symbols)}."
        )
    elif said.tiers is None and said.form != "preset" and not (said.measured and said.measured.tiers):
        raise ScenarioError(
            f"{name}: {said.text!a:.60} is about two tiers, and this fleet has {len(symbols)}. "
            f"Give one number for each, top first: {'/'.join('1' for _ in symbols)}."
        )
    of_file = said.deviations_of_tiers(unit) if said else ()
    on_scale = said is not None and said.measured is not None and said.measured.absolute
    if of_file and not on_scale:
        warnings.append(
            f"Label counts do not say how large the deviations are: a client with a single label is taken to stand "
            f"sigma = {unit:g} from an even mixture."
        )
    for i, tier in enumerate(symbols):
        if of_file and said is not None:
            scale = "" if on_scale else "; the scale is assumed, one-label client = 1 sigma"
            origin: Origin = "estimated" if on_scale else "default"
            known[tier.deviation] = Known(of_file[i], origin, note=f"{said.text}{scale}")
        elif said is None:
            known[tier.deviation] = Known(unit, "default", note="one sigma; nobody said, and it decides the answer")
        elif said.tiers is not None:
            known[tier.deviation] = Known.given(said.tiers[i])
        else:
            lowest, top = heterogeneity.PRESETS[said.text]
            both = said.text == "both"
            part = lowest if i == len(symbols) - 1 else top if i == 0 or both else 0.0
            note = f"preset {said.text}: one sigma where it is not 0"
            known[tier.deviation] = Known(part * unit, "derived", note=note)
        if known[tier.size].value == 1 and known[tier.deviation].value:
            known[tier.deviation] = Known(0.0, "derived", note="one child has nothing to differ from")


def _of_file(form: heterogeneity.Heterogeneity, sigma: float, warnings: list[str]) -> tuple[Origin, str]:
    """Say where deviations from a file stand: on its scale, or on an assumed one that keeps their ratio."""
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


def _network(written: Written, known: Table, warnings: list[str]) -> Network:
    """Resolve the link of every tier, lowest first, and say which numbers nobody gave."""
    depth, assumed = written.depth, []
    if depth == 2:
        known["tiers"] = Known.of(written.get("network.tiers"), 2, "group servers between clients and the top server")
    else:
        known["tiers"] = Known(depth, "given")
    links: dict[str, Link] = {}
    for name, child in reversed(list(zip(link_names(depth), written.names, strict=True))):
        links[name] = link = _link(written, name, known)
        if known["tiers"].value == 1 and name != "client_link":
            continue
        if written.get(f"network.{name}.preset") is None and written.get(f"network.{name}.up") is None:
            whose = name.replace("_", " ") if depth == 2 else f"{child} link"
            assumed.append(
                f"{whose} {known[name].value} ({format_rate(link.up)} up, {format_rate(link.down)} down, "
                f"{format_duration(link.latency)}, {link.sharing}, {link.hop} hops)"
            )
    known["model_size"] = Known.of(
        written.get("model.size"), 44.7e6, "ResNet-18 in 32-bit floats, 11.2 million parameters", unit="bytes"
    )
    if written.get("model.size") is None:
        assumed.append("a 44.7 MB model")
    if written.get("compute.step_time") is None:
        assumed.append(f"{format_duration(0.1)} a local step")
    if assumed:
        warnings.append(f"Time and traffic stand on numbers nobody gave: {'; '.join(assumed)}.")
    if depth == 2:
        tiers: Any = known["tiers"].value
        return Network.two_tier(tiers, links["client_link"], links["server_link"])
    return Network(tuple(links[name] for name in link_names(depth)))


def _link(written: Written, name: str, known: Table) -> Link:
    """Resolve one link: its preset, and what differs from it."""
    path = f"network.{name}"
    chosen = written.get(f"{path}.preset")
    preset = PRESETS[chosen or ("broadband" if name == "client_link" else "wan")]
    known[name] = Known(preset.name, "given" if chosen else "default", note=preset.source)
    origin: Origin = "derived" if chosen else "default"
    parts: dict[str, Any] = {}
    for part, unit in (("up", "bit/s"), ("down", "bit/s"), ("latency", "s"), ("sharing", ""), ("hop", "")):
        found = Known.of(
            written.get(f"{path}.{part}"), getattr(preset.link, part), f"preset {preset.name}", origin=origin, unit=unit
        )
        known[f"{name}.{part}"] = found
        parts[part] = found.value
    try:
        return Link(**parts)
    except NetworkError as error:
        raise ScenarioError(f"{written.name(path)}: {error}") from None


def _compute(written: Written, known: Table) -> Compute:
    """Resolve how long a local step takes, and how unevenly."""
    known["step_time"] = Known.of(written.get("compute.step_time"), 0.1, "a guess; measure one local step", unit="s")
    given: Straggler | None = written.get("compute.straggler")
    straggler = given or Straggler()
    shown = "none" if straggler.kind == "none" else f"{straggler.kind}:{straggler.cv:g}"
    known["straggler"] = Known(shown, "given" if given else "default")
    try:
        return Compute(float(known["step_time"].value or 0.0), straggler)
    except NetworkError as error:
        raise ScenarioError(f"{written.name('compute.step_time')}: {error}") from None
