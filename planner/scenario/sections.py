"""Defaults, derived numbers and origins for what was written of one fleet, section by section."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hflbounds.topology import TierSymbols, branches, tier_symbols
from planner.data import heterogeneity
from planner.data.heterogeneity import FromFile, Heterogeneity
from planner.errors import ScenarioError
from planner.io import frames
from planner.io.intervals import Spread
from planner.io.wording import counted, join, percent, two
from planner.scenario import availability
from planner.scenario.fields import FOOTPRINT, ROUNDS, Order, Span
from planner.scenario.footprint import BYTES_PER_GB, J_PER_KWH, Coefficient, Preset, Rates, of_number
from planner.scenario.footprint import PRESETS as PRESETS_OF
from planner.scenario.network import PRESETS, Compute, Link, Network, Straggler, link_names
from planner.scenario.units import Quantity, format_duration
from planner.scenario.values import Known, Origin, Regrouped, Scenario
from planner.scenario.written import Written

if TYPE_CHECKING:
    from planner.data.fleet import Listed
    from planner.data.pilot import Fleet, Pilot
    from planner.io.csv_rows import Floats
    from planner.scenario.members import Members, Weights

Table = dict[str, Known]
LARGE_SHARE = 0.5  # of the start: a target from which on an accuracy may be meant
COMPRESSED = (
    "Rounds are those of models sent whole: what compression adds to them is not predicted. On quadratics uploads of "
    "6 bits and more took as many, those of 4 bits up to 1.5 times as many (docs/scenario.md)."
)
STEP = 0.1  # of a local step [s], where nobody said


def resolve_fleet(written: Written, regrouped: Regrouped | None = None) -> Scenario:
    """Resolve what was written of a fleet whose counts are known.

    What is ``regrouped`` takes the place of the groups and deviations written.

    Raises:
        ScenarioError: If fields contradict each other, or one that has no default is missing.
    """
    known: Table = {}
    warnings: list[str] = []
    form = written.get("problem.heterogeneity")
    measured, named = (form.measured, form.text) if form else (None, "")
    _same_depth(written, form)
    partial = _counts(written, measured, regrouped, known, warnings)
    _problem(written, measured, known)
    if regrouped is not None:
        known |= regrouped.deviations
    elif written.depth == 2:
        _deviations(form, known, warnings, _shares_of_groups(written, form))
    else:
        _deviations_of_tiers(form, tier_symbols(written.depth), known, warnings, written.name("problem.heterogeneity"))
    share = _target(written, measured, known)
    warnings += _about_share(share)
    given_order: Order | None = written.get("fleet.order")
    fleet = _piloted(written)
    order: Order = given_order or ("random" if partial else fleet.order if fleet else "fixed")
    origin: Origin = "given" if given_order else "derived" if partial or fleet else "default"
    known["order"] = Known(order, origin, note="rings run in the order drawn" if partial else "of rings")
    network = _network(written, known, warnings)
    compute = _compute(written, known)
    listed = written.listed
    there = None if listed is None else _members(written, listed, network, known)
    _compression(written, network, there, warnings)
    if there is not None and there.availability is not None:
        written = written.changed({"availability.client": Quantity(there.availability.mean())})
    who_comes = availability.resolve(written, known, compute)
    if there is not None and who_comes is not None:
        warnings.append("Participation is counted for groups of the mean size, with the mean availability.")
    network_given = written.says("network", "model", "compute") or (there is not None and there.link_of is not None)
    warnings += [] if listed is None else _unused(written, listed)
    pilot, plan = _pilot(written, known, warnings), written.section("plan")
    # Who asks for a family of bounds, or for its cap, asks what it says.
    plan["predictor"] = plan.get("predictor") or ("bound" if plan.get("bounds") or "cap" in plan else None)
    return Scenario(
        **plan,
        title=written.get("title") or "",
        known=known,
        network=network,
        compute=compute,
        partial=partial,
        order=order,
        objective_open="objective" not in plan and not network_given,
        target_share=share,
        warnings=tuple(warnings),
        ratio_error=0.0 if regrouped else None if measured is None else measured.ratio_error,
        label_shift=not regrouped and listed is None and named.startswith("dirichlet:"),
        grouping=regrouped.kind if regrouped else None,
        availability=who_comes,
        names=written.names,
        topologies=written.topologies,
        pilot=pilot,
        rates=_rates(written, known),
        members=there,
        listed=listed,
        counts=named if measured is not None and measured.table is not None else "",
        beside_pilot=_beside_pilot(written),
    )


def _same_depth(written: Written, form: Heterogeneity | None) -> None:
    """Refuse deviations of another number of tiers than the fleet's."""
    depth = None if form is None else form.depth
    if form is None or depth is None or depth == written.depth:
        return
    of_nested = ", a file with a column for each tier" if form.measured and written.depth > depth else ""
    raise ScenarioError(
        f"{written.name('problem.heterogeneity')}: {form.text} is of {counted(depth, 'tier')}, and this fleet has "
        f"{written.depth}. Give {written.depth}, such as {'/'.join(['1'] * written.depth)}{of_nested}, or --tiers "
        f"with {counted(depth, 'size')} in place of --groups and --clients-per-group.",
        code="E002",
    )


def _about_share(share: float | None) -> list[str]:
    """Point out a target that may be meant as an accuracy."""
    if share is None or share < LARGE_SHARE:
        return []
    said = percent(share)
    if share > 1:
        return [f"A target of {said} is above the loss at the start; give less than 100 %."]
    meant = f"--target-accuracy {said.replace(' ', '')}"
    return [f"A target of {said} is a share of the loss at the start; for accuracy write {meant}."]


def _unused(written: Written, listed: Listed) -> Iterator[str]:
    """Say of an option that a list says of every client too, and of places without a network, that it is not used."""
    for key, column in (("compute.step_time", "step_time"), ("availability.client", "availability")):
        if written.get(key) is not None and listed.of_all(column):
            yield f"{written.name(key)} is not used: {listed.source} has its own of every client, {column}."
    if listed.placed:
        yield (
            f"The column node of {listed.source} is not used: links are those of the scenario. With --network NETWORK "
            f"--sites {listed.source} they are those between the places."
        )


def _compression(written: Written, network: Network, there: Members | None, warnings: list[str]) -> None:
    """Say of compressed models what is not predicted."""
    if there is not None and there.link_of is not None and not network.client_link.whole:
        raise ScenarioError(
            f"{written.name('network.client_link.payload')}: clients of the list have links of their own, which are "
            "not compressed. Leave out the compression, or these links."
        )
    if not network.whole:
        warnings.insert(0, COMPRESSED)


def _members(written: Written, listed: Listed, network: Network, known: Table) -> Members | None:
    """Take what differs between clients from a list; None where nothing does."""
    from planner.scenario.members import members  # needs numpy, which most scenarios do without

    weights: Weights = written.get("fleet.weights") or listed.weights
    everyone = [
        drawn is None or drawn >= most.max()
        for drawn, most in zip(written.of_tiers("drawn"), listed.sizes, strict=True)
    ]
    step, comes = (written.get(key) for key in ("compute.step_time", "availability.client"))
    usual = STEP if step is None else float(step), 1.0 if comes is None else float(comes)
    own = written.get("network.client_link.sharing") == "per-client"
    found = members(listed, weights, *usual, everyone, written.name("fleet.list"), own_links=own)
    if found.alike:
        return None
    if found.link_of is not None and (found.link_of < 0).any() and network.client_link.sharing == "per-server":
        raise ScenarioError(
            f"{written.name('network.client_link')}: {listed.source} has clients without a link, which would share "
            "one rate, and others with links of their own. List a link for every client, or for none."
        )
    unsaid = listed.samples is None and written.get("problem.pilot") is None
    whose: Origin = "given" if written.get("fleet.weights") else "default" if unsaid else "derived"
    known["weights"] = Known(weights, whose, note="what clients count by, in means and in the loss")
    if (law := written.get("fleet.samples")) is not None:
        known["samples"] = Known(law.reading, "given", note="of the client with the most, by rank; dealt at random")
    return found


PILOTS = "the pilot's"
MEASURED_IN_A_PILOT = (  # keys of what a pilot ran with, whatever is written beside it
    *("problem.heterogeneity", "problem.sigma", "problem.smoothness", "problem.curvature_scatter"),
    *("problem.fading", "problem.decay", "problem.initial_gap"),
)


def _piloted(written: Written) -> Fleet | None:
    """The fleet of the pilot, where it has as many tiers."""
    pilot: Pilot | None = written.get("problem.pilot")
    if pilot is None or len(pilot.fleet.sizes) != written.depth:
        return None
    return pilot.fleet if written.listed is not None or pilot.fleet.children is None else None


def _pilot(written: Written, known: Table, warnings: list[str]) -> Pilot | None:
    """The pilot, whose rounds are the horizon where nobody gave another."""
    pilot: Pilot | None = written.get("problem.pilot")
    if pilot is None:
        return None
    for key in ("plan.predictor", "plan.bounds", "plan.cap"):
        if written.get(key) is not None:
            raise ScenarioError(
                f"{written.name(key)}: rounds are those of the pilot ({written.name('problem.pilot')}). Leave one out.",
                code="E002",
            )
    if known["R"].origin == "default" and pilot.rounds:
        known["R"] = Known(pilot.rounds, "derived", note=PILOTS)
    if unused := _beside_pilot(written):
        warnings.append(unused_beside(unused.values()))
    return pilot


def _beside_pilot(written: Written) -> dict[str, str]:
    """By key, the names of what was given though the pilot ran with its own."""
    given = (key for key in MEASURED_IN_A_PILOT if written.get(key) is not None)
    return {} if written.get("problem.pilot") is None else {key: written.name(key) for key in given}


def unused_beside(given: Iterable[str]) -> str:
    """Say that these names have no effect beside a pilot."""
    return f"{join(list(given))}: unused, because rounds are those measured with the data and the model of the pilot."


def warnings_where_used(scenario: Scenario, used: Collection[str]) -> Iterator[str]:
    """Return the warnings of a scenario, where something asks for keys ``used`` whatever a pilot ran with."""
    given = scenario.beside_pilot
    said = unused_beside(given.values()) if given else ""
    for one in scenario.warnings:
        if not given or one != said:
            yield one
            continue
        if unused := [name for key, name in given.items() if key not in used]:
            yield unused_beside(unused)


def _counts(
    written: Written, measured: FromFile | None, regrouped: Regrouped | None, known: Table, warnings: list[str]
) -> bool:
    """Resolve how many there are on every tier, who takes part, and rounds and steps; whether only some take part."""
    symbols, fleet = tier_symbols(written.depth), _piloted(written)
    note = PILOTS if fleet else "as in zhou2026, Appendix B.1"
    origin: Origin = "derived" if fleet else "default"
    if regrouped is not None:
        sizes = [Known(regrouped.groups, "derived", note="searched"), Known(regrouped.clients, "derived", note="N / G")]
    else:
        sizes = _sizes(written, measured, warnings)
    known |= {tier.size: size for tier, size in zip(symbols, sizes, strict=True)}
    usual = fleet.passes if fleet else [1] * written.depth
    for tier, passes, own in zip(symbols, written.of_tiers("passes"), usual, strict=True):
        if tier.passes:
            known[tier.passes] = Known.of(passes, own, note, origin=origin)
    steps = fleet.local_steps if fleet else 2
    known["K"] = Known.of(written.get("fleet.local_steps"), steps, note, origin=origin)
    there: list[Any] = [size.value for size in sizes]
    if regrouped is not None:
        there[-1] = regrouped.largest
    most = there if written.listed is None else [int(one.max()) for one in written.listed.sizes]
    partial, of_pilot = False, fleet.drawn if fleet else there
    for i, (tier, drawn, whole) in enumerate(zip(symbols, written.of_tiers("drawn"), there, strict=True)):
        if drawn is not None and drawn > most[i]:
            raise ScenarioError(
                f"{written.name(written.key_of(i, 'drawn'))}: {tier.drawn} = {drawn} exceeds the {most[i]} there are. "
                f"Give at most {most[i]}, or leave it out for everyone.",
                code="E004",
            )
        everyone = drawn is None or (written.listed is not None and drawn == most[i])
        some, why = (of_pilot[i], PILOTS) if of_pilot[i] < whole else (whole, "everyone takes part")
        known[tier.drawn] = Known.of(None if everyone else drawn, some, why, origin="derived")
        partial |= known[tier.drawn].value != there[i] if written.listed is None else not everyone
    if partial and written.get("fleet.order") == "fixed":
        raise ScenarioError(
            f"{written.name('fleet.order')}: where only some take part in a round, rings run in the order they are "
            "drawn in. Leave the order out, or write random. For a ring in fixed order above those drawn: `hfl-plan "
            "bounds show --tiers ring:4/star:6 --drawn 4/2 --set K=2`."
        )
    return partial


def _same_sizes(written: Written, measured: FromFile | None, fleet: Fleet) -> None:
    """Refuse label counts of another fleet than the pilot's."""
    if measured is None or measured.table is None:
        return
    counted = _counted_in(measured)
    if counted != list(fleet.sizes):
        there, here = ("/".join(map(str, sizes)) for sizes in (counted, fleet.sizes))
        raise ScenarioError(
            f"{written.name('problem.heterogeneity')}: {written.get('problem.heterogeneity').text} has a fleet of "
            f"{there}, top tier first, and the pilot ran with {here}. Leave the counts out, of which the pilot needs "
            "none, or run `hfl-plan pilot` on this fleet.",
            code="E002",
        )


def _counted_in(measured: FromFile) -> list[int]:
    """Children of the nodes of every tier by a file, top first; the mean where they differ."""
    return [max(round(size), 1) for size in measured.children] or [measured.groups, max(round(measured.clients[1]), 1)]


def _sizes(written: Written, measured: FromFile | None, warnings: list[str]) -> list[Known]:
    """Resolve how many children the nodes of every tier have: as given, else as the file of label counts says."""
    given, fleet = written.of_tiers("count"), _piloted(written)
    assert not any(isinstance(count, Span) for count in given)  # noqa: S101 - ranges are dealt with before
    if fleet is not None and written.listed is None:
        _same_sizes(written, measured, fleet)
        return [Known.of(count, own, PILOTS, origin="derived") for count, own in zip(given, fleet.sizes, strict=True)]
    if measured is None:
        if None in given:
            if said := [i for i, count in enumerate(given) if count is not None]:
                missing = ("--groups (-G)", "--clients-per-group (-M)")[1 - said[0]]
                both = (f"-G 10 -M {given[1]}", f"-G {given[0]} -M 10")[1 - said[0]]
                raise ScenarioError(
                    f"{written.name(written.key_of(said[0], 'count'))}: {given[said[0]]}, and {missing} is missing. "
                    f"Give both, such as {both}.",
                    code="E026",
                )
            raise ScenarioError(
                "how many groups of how many clients? Give --groups and --clients-per-group, "
                "--clients to search for them, a scenario file with --config, label counts with "
                "--heterogeneity counts.csv, or --pilot pilot.json.",
                code="E026",
            )
        return [Known(count, "given") for count in given] if written.listed is None else _counted(written.listed)
    warnings.extend(measured.warnings)
    if written.listed is not None:
        warnings.extend(_other_clients(written, measured, written.listed))
        return _counted(written.listed)
    least, _, most = measured.clients
    counted = _counted_in(measured)
    found = [
        Known.of(count, of_file, "counted in the file of heterogeneity", origin="derived")
        for count, of_file in zip(given, counted, strict=True)
    ]
    if (asked := [one.value for one in found]) != counted:
        sizes, of_file = (
            f"{many[0]} groups of {each} clients" if len(many) == 2 else "/".join(map(str, many))
            for many, each in ((asked, asked[-1]), (counted, counted[-1] if least == most else f"{least} to {most}"))
        )
        source = written.get("problem.heterogeneity").text
        if measured.table is not None:
            names = [written.name(written.key_of(i, "count")) for i, count in enumerate(given) if count is not None]
            raise ScenarioError(
                f"{join(names)}: {source} has {of_file}, not {sizes}. {_left_out(names)}, or give those of {source}; "
                f"{frames.asks('group', source, groups='N')} forms others. For its deviations in another fleet: "
                f"{frames.asks('measure', source, output='profile.json')} and --data profile.json.",
                code="E002",
            )
        warnings.append(
            f"This is for {sizes}, with the deviations of {of_file}. Those are in {source}; regrouping changes them."
        )
    elif len(counted) > 2 and (least != most or counted != list(measured.children)):
        warnings.append(
            f"Nodes of the file of heterogeneity have {'/'.join(f'{mean:.3g}' for mean in measured.children)} children "
            f"in the mean, top first, and are taken as {'/'.join(map(str, counted))}. A table of label counts without "
            "other numbers, or --fleet, has every node as it is."
        )
    elif least != most:
        warnings.append(
            f"Groups have {least} to {most} clients, and are taken as {counted[0]} of {counted[1]}: as they are, rings "
            "may stall. The theorems assume one size: M, the mean, is used. By time, the largest group sets the pace "
            "of a star at the top. A table of label counts without other numbers, or --fleet, has every group as it is."
        )
    return found


def _left_out(names: Sequence[str]) -> str:
    """Say how to leave out what has these names: lines of a file, where all are in one."""
    places = [re.match(r"(.+):([0-9]+): ", name) for name in names]
    lines = [place[2] for place in places if place]
    if not lines or len(lines) < len(names):
        return "Leave these out"
    numbers = f"line{'s' * (len(lines) > 1)} {join(lines)}"
    return (
        f"Delete {numbers} of {places[0][1] if places[0] else ''}, or begin {'them' if len(lines) > 1 else 'it'} with #"
    )


def _other_clients(written: Written, measured: FromFile, listed: Listed) -> Iterator[str]:
    """Refuse label counts of other clients than a list has; of a profile, and where names alone differ, say it."""
    source = written.get("problem.heterogeneity").text
    counts, there = (measured.groups, round(measured.groups * measured.clients[1])), listed.nodes[-2:]
    if counts != there:
        facts = f"{source} has {counts[1]} clients in {counts[0]} groups, and {listed.source} {there[1]} in {there[0]}"
        if measured.table is not None:
            raise ScenarioError(
                f"{written.name('problem.heterogeneity')}: {facts}. Give label counts of the clients that are listed; "
                f"for these deviations in that fleet: {frames.asks('measure', source, output='profile.json')} and "
                "--data profile.json.",
                code="E002",
            )
        yield f"{facts}. The deviations of {source} are used."
    elif measured.table is not None and listed.named and not set(listed.clients) & set(measured.table.clients):
        yield f"No client of {source} is in {listed.source}. The deviations of {source} are used."


def _counted(listed: Listed) -> list[Known]:
    """Say how many children nodes of every tier have by a list: the mean, rounded up."""
    found = []
    for sizes in listed.sizes:
        least, most = int(sizes.min()), int(sizes.max())
        note = f"by {listed.source}" + (f": {least} to {most}, the mean rounded up" if least != most else "")
        found.append(Known(-(-int(sizes.sum()) // len(sizes)), "given", note=note))
    return found


BY_LOSS = {  # what a profile says for predictions by loss
    "L": "curvature of the mean loss",
    "A": "how far the loss can fall at most",
    "fading": "how deviations fell late in a run",
    "decay": "how the loss fell in plain descent",
}


def _problem(written: Written, measured: FromFile | None, known: Table) -> None:
    """Resolve the constants of the losses: given, else measured, else assumed."""
    images = "of networks on images (docs/real-data.md)"
    rows = (
        ("sigma", "sigma", images),
        ("L", "smoothness", images),
        ("scatter", "curvature_scatter", f"{images}; predictions by loss alone take it"),
        ("A", "initial_gap", "loss of an untrained 10-class model, ln 10"),
    )
    for symbol, key, note in rows:
        known[symbol] = Known.of(written.get(f"problem.{key}"), heterogeneity.PROBLEM[symbol], note)
    known["fading"] = Known.of(written.get("problem.fading"), None, "taken to stay")
    known["decay"] = Known.of(written.get("problem.decay"), None, "taken to fall as slowly as a logarithm")
    by_gradient = written.get("plan.metric") == "gradient" or written.get("plan.predictor") not in (None, "spectrum")
    by_gradient |= any(written.get(key) is not None for key in ("plan.bounds", "plan.cap"))
    for symbol, number in (measured.constants if measured else {}).items():
        if known[symbol].origin == "default":
            note = f"from {written.get('problem.heterogeneity').text}"
            known[symbol] = _measured(measured, symbol, number, "estimated", note)
    for symbol, number in (measured.by_loss if measured and not by_gradient else {}).items():
        if known[symbol].origin in ("default", "estimated"):
            known[symbol] = Known(number, "estimated", note=f"{BY_LOSS[symbol]}, for predictions by loss")


def _measured(measured: FromFile | None, symbol: str, value: float, origin: Origin, note: str) -> Known:
    """Keep a number with the error that a file states of it, if any."""
    error = measured.errors.get(symbol) if measured else None
    spread = Spread("lognormal", error) if error else None
    return Known(value, origin, note=note, spread=spread, exact=measured is not None and symbol in measured.exact)


def _in_its_own_terms(written: Written, measured: FromFile | None) -> Known | None:
    """A target that was given as a loss or an accuracy; None where none was."""
    keys = {"loss": "problem.target_loss", "accuracy": "problem.target_accuracy"}
    given = [metric for metric, key in keys.items() if written.get(key) is not None]
    if not given:
        return None
    metric, key = given[0], keys[given[0]]
    name, value = written.name(key), written.get(key)
    others = [other for other in ("problem.target", *keys.values()) if other != key and written.get(other) is not None]
    if others:
        raise ScenarioError(f"{name}: {written.name(others[0])} is a target too. Give one of the two.", code="E002")
    pilot: Pilot | None = written.get("problem.pilot")
    asked = written.get("plan.metric") or (pilot.metric if pilot else metric)
    if asked != metric:
        where = " to `hfl-plan pilot`" + " and here" * bool(written.get("plan.metric"))
        where *= pilot is not None and pilot.metric != metric
        raise ScenarioError(
            f"{name}: the metric is {asked}. Give --metric {metric}{where}, or leave {name} out.", code="E002"
        )
    if metric == "loss" and (pilot or (measured is not None and measured.first is not None)):
        return Known.given(value)
    if metric == "accuracy" and pilot:
        return replace(Known.given(round(1 - value, 12)), note=f"a test accuracy of {value.reading}")
    way = (
        f"`hfl-plan pilot HOOK.py --metric {metric} -o pilot.json`, with K, P and order of here, and --pilot pilot.json"
    )
    if metric == "loss":
        raise ScenarioError(
            f"{name}: nothing here says how far above the least a loss of {value:g} is. Give {way}, a profile of "
            "`hfl-plan estimate` whose losses are not negative, or --target, a loss above the least."
        )
    raise ScenarioError(
        f"{name}: nothing that is given says at which training loss the accuracy is {value.reading}. "
        f"Give {way}, where the hook has test(); or leave {name} out and give --rounds of Star-Star, to compare by "
        "what it reaches in them."
    )


def _target(written: Written, measured: FromFile | None, known: Table) -> float | None:
    """Resolve the horizon and the target; return the share of the squared gradient at the start, if given as one."""
    own = _in_its_own_terms(written, measured)
    target, rounds = own or written.get("problem.target"), written.get("problem.rounds")
    if target is None or rounds is not None:
        known["R"] = Known.of(rounds, ROUNDS, "of Star-Star, whose progress in them is the target")
    else:
        known["R"] = Known(None, "derived", note="each topology's own rounds to the target")
    if target is None:
        known["target"] = Known(None, "derived", note="what Star-Star reaches in R rounds, as the predictor has it")
        return None
    pilot: Pilot | None = written.get("problem.pilot")
    if pilot is None and written.get("plan.metric") == "accuracy":
        raise ScenarioError(
            f"{written.name('problem.target')}: without a pilot the predicted training loss stands for accuracy, and "
            "no test error can be a target. Leave it out and give --rounds of Star-Star, to compare by what it reaches "
            "in them; or --target-accuracy with a pilot, or --metric loss.",
            code="E002",
        )
    if own is not None or not isinstance(target, str):
        known["target"] = own or Known.given(target)
        return None
    if pilot and pilot.metric == "accuracy":
        said = f"{float(target[:-1]):g}%"
        raise ScenarioError(
            f"{written.name('problem.target')}: {said} is a share of the loss at the start, and the pilot is by "
            "accuracy. Give --target-accuracy, which takes its place.",
            code="E002",
        )
    share = float(target[:-1]) / 100
    value = share * 2 * float(known["L"].value or 0) * float(known["A"].value or 0)
    reading, spread = getattr(target, "reading", ""), getattr(target, "spread", None)
    note = f"{target} of 2 L A, the first bound on it"
    known["target"] = Known(value, "given", note=note, reading=reading, spread=spread)
    return share


ASSUMED = f"one-label client = {heterogeneity.ONE_LABEL:g} sigma"


def _shares_of_groups(written: Written, form: Heterogeneity | None) -> list[tuple[float, float]] | None:
    """Say of every group of a list its share, and the sum of the squared shares of its clients, for drawn data."""
    listed = written.listed
    if listed is None or form is None or form.form != "dirichlet":
        return None
    by_samples = (written.get("fleet.weights") or listed.weights) == "samples"
    tiers = branches(listed.sizes, listed.samples if by_samples else None)
    return list(zip(tiers[0].shares.tolist(), tiers[1].concentration.tolist(), strict=True))


def _deviations(
    said: Heterogeneity | None, known: Table, warnings: list[str], counted: list[tuple[float, float]] | None
) -> None:
    """Resolve both deviations, and what a fleet of one group or of one client per group makes of them."""
    groups, clients, sigma = (known[n].value for n in ("G", "M", "sigma"))
    assert isinstance(groups, int) and isinstance(clients, int) and isinstance(sigma, float)  # noqa: S101
    form = said or Heterogeneity("preset", "both")
    zeta, delta = form.deviations(sigma, groups, clients, counted)
    if form.measured is not None:
        origin, note = _of_file(form, sigma, warnings)
    elif form.form == "preset":
        origin, note = "derived" if said else "default", f"preset {form.text}: {_multiples(form.text, 2)}"
    else:
        origin, note = "derived", f"{form.text}: label shift over {form.labels} labels, {ASSUMED}"
    on_scale = form.measured if form.measured and form.measured.absolute else None
    for symbol, value, own in (("zeta", zeta, form.zeta), ("delta", delta, form.delta)):
        if form.form == "numbers":
            known[symbol] = Known.of(own, 0.0, "left out, so 0")
        else:
            known[symbol] = _measured(on_scale, symbol, value, origin, note)
    if groups == 1 and delta:
        known["delta"] = Known(0.0, "derived", note="one group has nothing to differ from")
    if clients == 1 and zeta:
        known["zeta"] = Known(0.0, "derived", note="one client has nothing to differ from")


def _deviations_of_tiers(
    said: Heterogeneity | None, symbols: tuple[TierSymbols, ...], known: Table, warnings: list[str], name: str
) -> None:
    """Resolve one deviation for every tier of a tree that has not two."""
    sigma = float(known["sigma"].value or 0.0)
    of_file = said.deviations_of_tiers(sigma) if said else ()
    if said is not None and said.tiers is None and said.form != "preset" and not of_file:
        raise ScenarioError(
            f"{name}: {said.text!a:.60} is about two tiers, and this fleet has {len(symbols)}. "
            f"Give one number for each, top first: {'/'.join('1' for _ in symbols)}.",
            code="E005",
        )
    on_scale = said.measured if said and said.measured and said.measured.absolute else None
    preset = said.text if said is not None and said.form == "preset" else "both"
    if of_file and not on_scale:
        warnings.append(f"Label counts do not say how large the deviations are: {heterogeneity.assumed_scale(sigma)}.")
    for i, tier in enumerate(symbols):
        if of_file and said is not None:
            scale = "" if on_scale else f"; the scale is assumed, {ASSUMED}"
            origin: Origin = "estimated" if on_scale else "default"
            known[tier.deviation] = _measured(on_scale, tier.deviation, of_file[i], origin, f"{said.text}{scale}")
        elif said is not None and said.tiers is not None:
            known[tier.deviation] = Known.given(said.tiers[i])
        else:
            note = f"preset {preset}: {_multiples(preset, len(symbols))}"
            value = heterogeneity.of_preset(heterogeneity.preset(preset, len(symbols))[i], sigma)
            known[tier.deviation] = Known(value, "derived" if said else "default", note=note)
        if known[tier.size].value == 1 and known[tier.deviation].value:
            known[tier.deviation] = Known(0.0, "derived", note="one child has nothing to differ from")


def _multiples(preset: str, depth: int) -> str:
    """Say what a preset is, as multiples of sigma."""
    return f"{'/'.join(f'{number:g}' for number in heterogeneity.preset(preset, depth))} sigma, top first"


def _of_file(form: Heterogeneity, sigma: float, warnings: list[str]) -> tuple[Origin, str]:
    """Say where deviations from a file stand: on its scale, or on an assumed one that keeps their ratio."""
    measured = form.measured
    assert measured is not None  # noqa: S101 - by construction
    value, low, high = measured.ratio
    said = "delta = 0" if value is None else f"zeta^2/delta^2 = {two(value)}"
    if value is not None and low is not None and high is not None:
        said += f" (95 % {two(low)} to {two(high)})"
    if measured.absolute:
        return "estimated", f"{form.text}: {said}"
    only = f"Label counts give only {said}."
    if value is None and measured.table is not None and measured.groups > 1 and not measured.table.chosen:
        way = frames.asks("measure", form.text, **{"groups-are": "chosen", "output": "regrouped.json"})
        only = (
            f"{said}, unless the counts chose the groups. If they did, {way} and --data regrouped.json take their "
            "noise into account."
        )
    warnings.append(
        f"{only} The scale is assumed: {heterogeneity.assumed_scale(sigma)}. "
        "`hfl-plan measure --gram` or `--scale` gives the scale."
    )
    return "default", f"{form.text}: {said}; the scale is assumed, {ASSUMED}"


def _network(written: Written, known: Table, warnings: list[str]) -> Network:
    """Resolve the link of every tier, lowest first."""
    depth = written.depth
    if depth == 2:
        known["tiers"] = Known.of(written.get("network.tiers"), 2, "group servers between clients and the top server")
    else:
        known["tiers"] = Known(depth, "given")
    links = {name: _link(written, name, known) for name in reversed(link_names(depth))}
    if written.listed is not None and written.listed.of_all("link"):
        note = f"not asked: {written.listed.source} has every link"
        for name in [one for one in known if one.startswith("client_link")]:
            known[name] = replace(known[name], origin="given", note=note)
    known["model_size"] = _model_size(written, warnings)
    if depth == 2:
        tiers: Any = known["tiers"].value
        if tiers == 1 and any(key.startswith("network.server_link.") for key in written.values):
            warnings.append("Without group servers clients send to the top over their own links: others are unused.")
        return Network.two_tier(tiers, links["client_link"], links["server_link"])
    return Network(tuple(links[name] for name in link_names(depth)))


FEW_BYTES = 1e3  # below it a size is pointed out, unless a pilot or a profile has the model


def _model_size(written: Written, warnings: list[str]) -> Known:
    """The bytes of one transfer: given, else of the model of a pilot or a profile, else assumed."""
    pilot, form = written.get("problem.pilot"), written.get("problem.heterogeneity")
    own, whose = None, ""
    if pilot is not None and not pilot.problem.proxy:
        own, whose = pilot.problem.parameters, "the pilot"
    elif form is not None and form.measured is not None:
        own, whose = form.measured.parameters, form.text
    size = written.get("model.size")
    if own is None and size is not None and size < FEW_BYTES:
        warnings.append(f"The model has {size:g} bytes; {size:g} billion parameters are {size:g}Bparameters.")
    if own is not None:
        return Known.of(size, 4.0 * own, f"32-bit floats of the model of {whose}", origin="derived", unit="bytes")
    return Known.of(size, 44.7e6, "ResNet-18 in 32-bit floats, 11.2 million parameters", unit="bytes")


LINK = {"up": "bit/s", "down": "bit/s", "latency": "s", "sharing": "", "hop": ""}  # its parts, with their units


def _link(written: Written, name: str, known: Table) -> Link:
    """Resolve one link: its preset, and what differs from it."""
    path = f"network.{name}"
    chosen = written.get(f"{path}.preset")
    preset = PRESETS[chosen or ("broadband" if name == "client_link" else "wan")]
    known[name] = Known(preset.name, "given" if chosen else "default", note=preset.source)
    told = all(written.get(f"{path}.{part}") is not None for part in LINK)
    if told and not chosen and not _footprint(written):  # of which the preset has energy
        known[name] = Known(preset.name, "derived", note="not asked: every part is given")
    origin: Origin = "derived" if chosen else "default"
    parts: dict[str, Any] = {}
    for part, unit in LINK.items():
        found = Known.of(
            written.get(f"{path}.{part}"), getattr(preset.link, part), f"preset {preset.name}", origin=origin, unit=unit
        )
        known[f"{name}.{part}"] = found
        parts[part] = found.value
    if (payload := written.get(f"{path}.payload")) is not None:
        known[f"{name}.payload"] = Known(str(payload), "given")
        parts |= {"payload_up": payload.up, "payload_down": payload.down}
    return Link(**parts)


def mean_step(own: Floats, source: str) -> Known:
    """Give the mean time of a local step of all clients [s], where a list says that of some."""
    note = f"by {source}: {format_duration(own.min())} to {format_duration(own.max())}, the mean of all clients"
    return Known(float(own.mean()), "given", "s", note if own.min() < own.max() else f"by {source}")


def _footprint(written: Written) -> bool:
    """Whether what devices, links and the grid take is asked for."""
    return written.get("plan.objective") in FOOTPRINT or written.says("footprint")


def _rates(written: Written, known: Table, *, asked: bool = False) -> Rates | None:
    """Resolve what devices, links and the grid take, where it is asked for or anything of it was written."""
    names = link_names(written.depth)
    of_links = [f"network.{name}.{part}" for name in names for part in ("energy", "price")]
    if not (asked or _footprint(written)) and all(written.get(key) is None for key in of_links):
        return None

    found: dict[str, Coefficient] = {}

    def one(key: str, unit: str, scale: float, preset: Preset | None = None, part: str = "value") -> None:
        given, symbol = written.get(key), key.partition(".")[2]
        number = of_number(given) if given is not None else preset.numbers.get(part) if preset else None
        if number is not None:
            note = preset.source if preset and given is None else ""
            known[symbol] = Known.of(given, number.value, note, origin="derived", unit=unit)
            found[symbol] = number.times(scale)

    chosen = {kind: written.get(f"footprint.{kind}") for kind in ("device", "grid")}
    presets = {kind: PRESETS_OF[kind][name] if name else None for kind, name in chosen.items()}
    known |= {kind: Known(name, "given") for kind, name in chosen.items() if name}
    for name in names:
        network = PRESETS_OF["network"].get(str(known[name].value))
        one(f"network.{name}.energy", "kWh/GB", J_PER_KWH / BYTES_PER_GB, network)
    one("footprint.carbon", "g/kWh", 1e-3 / J_PER_KWH, presets["grid"])
    for power in ("training_power", "idle_power", "radio_power"):
        one(f"footprint.{power}", "W", 1.0, presets["device"], power)
    for price in ("footprint.device_hour", "footprint.kwh", *(f"network.{name}.price" for name in names)):
        one(price, "", 1.0)
    return found


def with_rates(scenario: Scenario) -> Scenario:
    """Return the same with what its links take by their presets, where nobody asked for it before."""
    if scenario.rates is not None:
        return scenario
    known = dict(scenario.known)
    rates = _rates(Written({}, str, scenario.names), known, asked=True)
    return replace(scenario, known=known, rates=rates)


def _compute(written: Written, known: Table) -> Compute:
    """Resolve how long a local step takes, and how unevenly."""
    known["step_time"] = Known.of(written.get("compute.step_time"), STEP, "a guess; measure one local step", unit="s")
    if written.listed is not None and written.listed.step_time is not None:
        from planner.scenario.members import steps

        own = steps(written.listed, float(known["step_time"].value or 0.0))
        known["step_time"] = mean_step(own, written.listed.source)
    given: Straggler | None = written.get("compute.straggler")
    straggler = given or Straggler()
    known["straggler"] = Known(str(straggler), "given" if given else "default")
    return Compute(float(known["step_time"].value or 0.0), straggler)
