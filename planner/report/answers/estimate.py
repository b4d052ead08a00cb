"""What ``hfl-plan estimate`` does: run a hook file, measure, and say what was found. A door to torch."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hflbounds.topology import tier_symbols
from planner.data.profile import Constants, Profile, Range, Sizes, Tier
from planner.errors import NoAnswerError, ScenarioError
from planner.harness.hooks import Handed, measured
from planner.io.atomic import place, write
from planner.io.csv_rows import csv_text
from planner.io.listings import Listing, listing
from planner.io.parts import finite
from planner.io.progress import progress
from planner.io.text import one_of
from planner.io.wording import join, percent, shape
from planner.report.document import Column, Section, Table
from planner.report.page import brief

if TYPE_CHECKING:
    from planner.harness.hooks import Estimated, Interval, Partitioned

STAYS = 0.05  # power of the steps below which something stays


def estimated(
    hook: Path | Handed, gram: Path | None, *, force: bool, output: Path | None = None, **how: Any
) -> tuple[Listing, str]:
    """Measure the constants of the model and the data of a hook; the second result is the profile.

    ``how`` is as of `validation.estimate.estimate`, with the samples of a mini-batch in ``batch``.

    Raises:
        ScenarioError: For options that cannot be meant.
        NoAnswerError: If nothing can be measured, or the file cannot be written.
    """
    _check(**how)
    if gram is not None:
        place(gram, force, "--gram")
    losses, found = measured(hook, **how, progress=lambda what: progress(what and f"{what} ..."))
    if gram is not None and not found.labels:
        raise NoAnswerError("--gram: there are no labels: targets are not whole numbers, or they are all equal.")
    if gram is not None and found.points[0].gram is None:
        raise NoAnswerError("--gram: gradients of all labels do not fit in memory. Give a smaller model.")
    notes = tuple(_notes(losses, found))
    if gram is not None:
        write(gram, _gram(found), force, "--gram")
    profile = _profile(losses, found, notes)
    following = _next(hook, found, output if output is not None and output.suffix == ".json" else None)
    return _page(_document(hook, losses, found, profile), losses, found, notes, following), profile.text()


def _check(gradients: str, batches: int | None, rate: float | None, **others: Any) -> None:
    """Refuse options that cannot be meant."""
    one_of(gradients, ("full", "batches"), "--gradients")
    if gradients == "batches" and batches is not None and batches < 3:
        raise ScenarioError(f"--batches: {batches} is too few to take noise out. Give at least 3.")
    if rate is not None and not (math.isfinite(rate) and rate > 0):
        raise ScenarioError(f"--rate: {rate} must be a finite number above 0. Write --rate 0.1.")


def _notes(losses: Partitioned, found: Estimated) -> Iterator[str]:
    """What the numbers are not."""
    letters, count = _deviations(found), len(found.points)
    these = f"{count} points of one run" if count > 1 else "numbers at the start alone"
    yield (
        f"L, sigma, {join(letters)} are lower estimates of what theorems assume. These are {these}, and theorems speak "
        "of all parameters."
    )
    yield f"L is the largest of {len(found.curved)} of {len(losses.inputs)} clients."
    yield (
        f"sigma is of mini-batches of {losses.size} drawn with replacement, and a mean over clients; sigma^2 is "
        "inversely proportional to their size."
    )
    if found.A.estimate:
        yield "A is the loss at the start minus the lowest loss seen: F(x0) - F* is not smaller."
    else:
        refused = ", and `recommend` refuses the profile" if _rose(found) else ""
        yield f"No loss was below that at the start, so A is not known{refused}. Give more --steps, or another --rate."
    last = found.points[-1].L
    if any(point.L.high > 1.2 * point.L.estimate for point in found.points):
        yield f"The curvature is not settled: at the end it is from {last.estimate:.3g} to {last.high:.3g}."
    start = found.points[0]
    by_letter = dict(zip(_of_tiers(found), losses.by_chance(start.sigma2.estimate), strict=True))
    for name in letters:
        chance, seen = by_letter[name], start.of(name).estimate
        if chance > 0.1 * seen**2:
            yield (
                f"Of the {name} at the start, {seen:.3g}, chance alone makes about "
                f"{math.sqrt(chance):.3g}: so much have clients with samples of one distribution, of these sizes."
            )
    yield from losses.cautions()
    yield from _about_the_tree(found)
    if found.labels and found.points[0].gram is None:
        yield "Gradients of all labels do not fit in memory: what label shares explain is not known."
    if (explained := _explained(found)) and min(explained) < 0.5:
        yield (
            f"Label shares alone make {percent(min(explained))} to {percent(max(explained))} of {_sum(found)}: "
            "clients differ in more than their labels, and label counts do not show it."
        )


def _explained(found: Estimated) -> list[float]:
    """Which part of the heterogeneity label shares alone would make, at each point; none where one does not say."""
    known = [(sum(p.label_tiers), p.apart2) for p in found.points if p.label_tiers is not None and p.apart2 > 0]
    return [made / apart2 for made, apart2 in known] if len(known) == len(found.points) else []


def _about_the_tree(found: Estimated) -> Iterator[str]:
    """What a tree whose nodes have one child, or unequal numbers of them, makes of the numbers."""
    two = len(found.tree) == 2
    for i, (own, letter) in enumerate(zip(_children(found), _of_tiers(found), strict=True), start=1):
        if max(own) == 1:
            of_two = ("There is one group", "Every group has one client")
            yield f"{of_two[i - 1] if two else f'No node of tier {i} has a sibling'}, so {letter} is 0."
    sizes = _children(found)[-1]
    if two and min(sizes) != max(sizes):
        yield f"Groups have {min(sizes)} to {max(sizes)} clients; every group counts the same, as in the theorems."
    elif any(len(set(own)) > 1 for own in _children(found)):
        yield f"Unequal nodes ({shape(_children(found))}); all children of a node count the same, as in the theorems."


def _of_tiers(found: Estimated) -> list[str]:
    """The letters of the deviations, top tier first."""
    return [tier.deviation for tier in tier_symbols(len(found.tree))]


def _deviations(found: Estimated) -> list[str]:
    """The same in the order in which they are shown, which is zeta and delta for two tiers."""
    letters = _of_tiers(found)
    return letters[::-1] if len(letters) == 2 else letters


def _quantities(found: Estimated) -> list[str]:
    return ["L", "sigma", *_deviations(found)]


def _sum(found: Estimated) -> str:
    return " + ".join(f"{letter}^2" for letter in _deviations(found))


def _children(found: Estimated) -> list[list[int]]:
    """How many every node has, by tier, top first: clients of every group at the end."""
    return [[len(children) for children in tier] for tier in found.tree]


def _profile(losses: Partitioned, found: Estimated, notes: Sequence[str]) -> Profile:
    sizes = _children(found)[-1]
    tiers = [
        Tier(deviation2=_squared(found.largest(letter)), children=sum(own) / len(own))
        for letter, own in zip(_of_tiers(found), _children(found), strict=True)
    ]
    delta2, zeta2 = tiers[0].deviation2, tiers[-1].deviation2
    ratio = Range(value=None)
    if delta2.value and len(tiers) == 2:
        lows = [p.zeta2.low / p.delta2.high if p.delta2.high else 0.0 for p in found.points]
        highs = [p.zeta2.high / p.delta2.low if p.delta2.low else math.inf for p in found.points]
        ratio = Range(value=(zeta2.value or 0.0) / delta2.value, low=min(lows), high=finite(max(highs)))
    ends = {name: (found.smallest(name).estimate, found.largest(name).estimate) for name in _quantities(found)}
    changes = [f"{name} was from {least:.3g} to {most:.3g}" for name, (least, most) in ends.items()]
    run = f"In {found.steps} steps of each client at rate {found.rate:.3g}, {', '.join(changes)}; "
    run += "the largest are given" + (", and the ratio's interval is of the whole run." if len(tiers) == 2 else ".")
    return Profile(
        made_from="gradients",
        unit="gradients",
        groups=len(sizes),
        clients=sum(sizes),
        clients_per_group=Sizes(mean=sum(sizes) / len(sizes), least=min(sizes), most=max(sizes)),
        labels=len(found.labels) or None,
        weighting="groups",
        level=found.level,
        zeta2=zeta2,
        delta2=delta2,
        ratio=ratio,
        tiers=None if len(tiers) == 2 else tiers,
        constants=Constants(
            sigma=_range(found.largest("sigma")),
            L=_range(found.largest("L")),
            curvature=_range(found.typical("curvature")),
            A=_range(found.A) if found.A.estimate or _rose(found) else None,
            **{name: Range(value=power) for name, power in asdict(found.followed).items() if power is not None},
        ),
        parameters=len(losses.start()),
        warnings=(run, *notes),
    )


def _range(seen: Interval) -> Range:
    return Range(value=seen.estimate, low=max(seen.low, 0.0), high=finite(seen.high))


def _squared(seen: Interval) -> Range:
    return Range(value=seen.estimate**2, low=seen.low**2, high=seen.high**2)


def _gram(found: Estimated) -> str:
    """Inner products of class gradients where clients differ most, as `measure --gram` reads them."""
    most = max(found.points, key=lambda point: point.apart2)
    rows = ([label, *map(repr, row)] for label, row in zip(found.labels, most.gram or (), strict=True))
    return csv_text([["label", *found.labels], *rows])


def _document(hook: Path | Handed, losses: Partitioned, found: Estimated, profile: Profile) -> dict[str, Any]:
    return {
        "hook": "" if isinstance(hook, Handed) else str(hook),
        **{name: profile.to_json()[name] for name in ("groups", "clients", "clients_per_group")},
        "labels": list(found.labels),
        "parameters": profile.parameters,
        "run": {
            "topology": "star-star",
            "rate": found.rate,
            "steps": found.steps,
            "local_steps": found.local_steps,
            "batch": losses.size,
            "seed": found.seed,
        },
        "measured_with": {
            "gradients": found.gradients,
            "batches": found.batches,
            "curvature_clients": len(found.curved),
            "level": found.level,
        },
        "A": _interval(found.A),
        **asdict(found.followed),
        "curvature_of_the_mean_loss": _interval(found.typical("curvature")),
        **{
            name: {"largest": _interval(found.largest(name)), "smallest": _interval(found.smallest(name))}
            for name in _quantities(found)
        },
        "points": [
            {
                "step": point.step,
                "loss": point.loss,
                **{name: _interval(point.of(name)) for name in _quantities(found)},
                "gradient": _interval(point.of("gradient")),
                "from_label_shares": None if point.label_tiers is None else _rooted(found, point.label_tiers),
                "by_chance": _rooted(found, losses.by_chance(point.sigma2.estimate)),
                "gram": point.gram,
            }
            for point in found.points
        ],
    }


def _rooted(found: Estimated, squares: Sequence[float]) -> dict[str, float]:
    """The roots of squares of tiers, top first, by the letters of their deviations as they are shown."""
    by_letter = dict(zip(_of_tiers(found), map(math.sqrt, squares), strict=True))
    return {letter: by_letter[letter] for letter in _deviations(found)}


def _interval(seen: Interval) -> dict[str, float | None]:
    return {"value": seen.estimate, "low": seen.low, "high": finite(seen.high)}


def _rose(found: Estimated) -> bool:
    """Whether the run had no loss below that at its start."""
    return len(found.points) > 1 and not found.A.estimate


def _next(hook: Path | Handed, found: Estimated, output: Path | None) -> list[str]:
    """The commands that write the profile, where that is still to do, and that recommend by it."""
    if isinstance(hook, Handed):
        again = f"planner.estimate(MODEL, CLIENTS, rate={found.rate / 10:.3g})"
        return [shlex.quote(again if _rose(found) else "planner.recommend(heterogeneity=ESTIMATED)")]
    if _rose(found):
        return [f"hfl-plan estimate {shlex.quote(str(hook))} --rate {found.rate / 10:.3g}"]
    use = f"hfl-plan recommend --heterogeneity {shlex.quote(str(output or 'profile.json'))}"
    return [use] if output is not None else [f"hfl-plan estimate {shlex.quote(str(hook))} --output profile.json", use]


def _page(
    document: dict[str, Any], losses: Partitioned, found: Estimated, notes: Sequence[str], following: Sequence[str]
) -> Listing:
    left = (Column("interval", left=True), Column("along the run", left=True))
    named = {"sigma": "noise sigma", "L": "L of a client", **_named(found)}
    largest, mean = {key: _largest(found, key) for key in named}, found.typical("curvature")
    rows = [(name, *largest[key]) for key, name in named.items()]
    typical = (f"{mean.estimate:.3g}", f"[{mean.low:.3g}, {mean.high:.3g}]", "its typical value")
    rows.insert(2, ("L of the mean loss", *typical))
    table = Table((Column("quantity"), Column("largest", "number"), *left), tuple(rows), indent=2, apart=False)
    gap = "unknown: no loss was below that at the start" if not found.A.estimate else f"at least {found.A.estimate:.3g}"
    if found.A.estimate and finite(found.A.high) is not None:
        gap += f", at most {found.A.high:.3g}"
    run = f"{found.steps} steps, averaged every {found.local_steps}, rate {found.rate:.3g}, batches of {losses.size}"
    sizes = _children(found)[-1]
    fleet = f" in {len(sizes)} groups" if len(found.tree) == 2 else f": {shape(_children(found))}"
    facts = (
        ("Data", f"{sum(sizes)} clients{fleet}, {document['parameters']} parameters"),
        ("Run", run),
        ("Gap A", gap),
        *((("Late", late),) if (late := _late(found)) else ()),
        ("Use", "predictions by loss take L of the mean loss and the most that A can be; theorems the others"),
    )
    rows_ = [{"quantity": key, **_interval(found.largest(key)), "trend": largest[key][2]} for key in named]
    answer = listing("estimate", _verdict(found), document, rows_, warnings=notes, next=following)
    points = (
        f"after {point.step} steps: loss {point.loss:.4g}, "
        + ", ".join(f"{name} {_shown(point.of(name))}" for name in (*_quantities(found), "gradient"))
        for point in found.points
    )
    share = [f"Intervals hold with {percent(found.level)}, at all points together."]
    if labels := _explained(found):
        ends = f"{percent(min(labels))} to {percent(max(labels))}"
        share.insert(0, f"Label shares alone would make {ends} of {_sum(found)}.")
    sections = (
        Section.said("points", "Points of the run", points),
        Section.said("labels", "Labels and intervals", share),
    )
    return brief(answer, [table], facts=facts, sections=sections, kind="Estimate")


def _named(found: Estimated) -> dict[str, str]:
    """What deviations are called, by their letters."""
    letters = _of_tiers(found)
    if len(letters) == 2:
        return {"zeta": "within groups zeta", "delta": "between groups delta"}
    names = [*(f"tier {i}" for i in range(1, len(letters))), "clients"]
    return {letter: f"{name} {letter}" for letter, name in zip(letters, names, strict=True)}


def _late(found: Estimated) -> str:
    """What happens to deviations and to the loss late in training; empty where nothing is known."""
    said, late = [], found.followed
    if late.fading is not None:
        falls = f"{_sum(found)} falls as steps^-{late.fading:.2g}"
        said.append(f"{join(_deviations(found))} stay" if late.fading < STAYS else falls)
    if late.decay is not None:
        said.append(f"the loss falls as steps^-{late.decay:.2g}")
    return "; ".join(said)


def _verdict(found: Estimated) -> str:
    sigma, letters = found.largest("sigma").estimate, _deviations(found)
    sizes = {letter: found.largest(letter).estimate for letter in letters}
    if not sigma:
        whose = ("clients differ by ", "groups by ") if len(letters) == 2 else ("",) * len(letters)
        told = ", ".join(f"{who}{letter} {sizes[letter]:.2g}" for who, letter in zip(whose, letters, strict=True))
        return f"Gradients have no noise; {told}."
    ratios = ", ".join(f"{letter}/sigma {size / sigma:.2g}" for letter, size in sizes.items())
    return f"Clients differ by {math.hypot(*sizes.values()) / sigma:.2g} times the noise: {ratios}."


def _largest(found: Estimated, name: str) -> tuple[str, str, str]:
    largest, last = found.largest(name), found.points[-1].of(name)
    exact = largest.high - largest.low <= 1e-9 * largest.high
    interval = "exact" if exact else f"[{largest.low:.3g}, {largest.high:.3g}]"
    smallest = found.smallest(name).estimate
    trend = "flat" if largest.estimate <= 1.2 * smallest else f"{smallest:.3g} to {largest.estimate:.3g}"
    if trend != "flat" and last.estimate >= 0.98 * largest.estimate:
        trend += ", still rising"
    return f"{largest.estimate:.3g}", interval, trend


def _shown(seen: Interval) -> str:
    return f"{seen.estimate:.3g}" if seen.high - seen.low <= 1e-9 * seen.high else str(seen)
