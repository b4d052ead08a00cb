"""What ``hfl-plan group`` answers: groups that are alike, the way there from the present ones, and what they buy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np

from planner.data import heterogeneity, label_shift
from planner.data.label_counts import LabelCounts
from planner.data.label_shift import Indices
from planner.decide import regrouping
from planner.decide.advice import ask_sharing, assumptions, turns
from planner.decide.groups import Task, Wanted
from planner.decide.recommendation import SHARING
from planner.decide.verdict import sharing_is_open
from planner.errors import NoAnswerError
from planner.io.answers import Assumption, Caution, NextStep, Objective, Quantity, Target, Told, Verdict
from planner.io.csv_rows import csv_text
from planner.io.parts import Part, field
from planner.io.wording import counted, input_words, join, names_or, percent, shortened, times, title, two
from planner.predict.question import ask
from planner.report.document import Column, Document, Table
from planner.report.page import AMOUNTS, cell, told
from planner.scenario import divisions
from planner.scenario.fields import read
from planner.scenario.resolve import Scenario
from planner.scenario.units import format_amount

KEYS: Mapping[Objective, str] = {"time": "seconds", "traffic": "bytes", "rounds": "rounds"}  # of amounts
SAME = "none"  # gain
MARK = "*"  # of what is not told apart
RANDOM = "random"  # a kind of grouping


class Gain(Part):
    """The best topology before and after regrouping, by one objective."""

    id: str = field("objective")
    before: tuple[str, ...] = field("best topologies in the present groups, or in random ones")
    before_amount: Quantity | None
    after: tuple[str, ...]
    after_amount: Quantity | None
    gain: float | None = field("share of the amount that regrouping saves")
    of_sizes: float | None = field(
        "share that the new sizes alone save, with deviations as before; null where sizes stay", default=None
    )
    toss_up_before: tuple[str, ...] = field("topologies that cannot be told from the best; empty where one can")
    toss_up_after: tuple[str, ...]
    within_error: bool = field("whether the gain, or loss, is within the error of the predictor")


class Grouping(Told):
    """What ``hfl-plan group`` answers."""

    chooses_groups: ClassVar[bool] = True
    schema: Literal["hfl-plan/group/2"] = "hfl-plan/group/2"
    rows: tuple[Gain, ...]
    group: dict[str, Any] = field("deviations, assignment, moves and effect of the new groups")

    def words(self, parameter: str) -> str:
        """Write a key of the scenario for people; deviations are assumed of the new groups."""
        return f"{'new ' * (parameter in ('zeta', 'delta'))}{input_words(parameter, self.tier_names)}"


def grouped(
    scenario: Callable[..., Scenario], path: Path, wanted: Wanted, config: Path | None = None
) -> tuple[Grouping, str]:
    """Find a grouping with the least inter-group deviation, the way there from the present one, and what it buys.

    The second result is the file of the counts in the new groups; these take the place of the fleet and the
    heterogeneity of ``config``.

    Raises:
        NoAnswerError: where no grouping keeps the rules.
    """
    task = Task.of(path, wanted)
    chosen, made = task.solved(wanted)
    present, problem, table = task.present, task.problem, task.table
    before = None if present is None else task.summary(present, chosen=False)
    after = task.summary(chosen, chosen=present is None or not np.array_equal(chosen, present))
    bought, about, unknown = _effect(scenario, path, task, chosen, wanted.seed)
    steps = task.moved(made, before["delta2"] if before else 0.0)
    data = {
        "file": str(path),
        "clients": len(table.clients),
        "groups": problem.groups,
        "sizes": {"least": int(problem.least.min()), "most": int(problem.most.max())},
        "size_of": dict(zip(task.names, np.bincount(chosen, minlength=problem.groups).tolist(), strict=True)),
        "sizes_before": None if present is None else np.bincount(present, minlength=problem.groups).tolist(),
        "weighting": wanted.weighting,
        "unit": "gradients" if task.absolute else "label shares",
        "before": before,
        "after": after,
        "assignment": {c: task.names[g] for c, g in zip(table.clients, chosen.tolist(), strict=True)},
        "moved": None if present is None else int((chosen != present).sum()),
        "moves": steps,
        "most_moves": wanted.moves,
        "moves_from_present": None if task.start is None else len(steps),
        "effect": bought,
        "front": task.front(wanted),
    }
    why, about = (" ".join(about), []) if bought is None else ("", about)
    cautions = (
        *_replaced(path, config), *table.warnings, *_cautions(task, after), *about, *_formulas(table, task.names)
    )  # fmt: skip
    return _answer(data, cautions, unknown, why, config is not None), _regrouped(table, [task.names[g] for g in chosen])


def _effect(
    read: Callable[..., Scenario], path: Path, task: Task, chosen: Indices, seed: int
) -> tuple[dict[str, Any] | None, list[str], dict[str, Any]]:
    """What the new groups do to the recommendation, and warnings about that; none where there is no answer.

    The third has the answer's fields about sharing of links, where it is unknown.
    """
    count, table = task.problem.groups, task.table

    labels = int((table.counts > 0).any(axis=0).sum())

    def of(kind: regrouping.Kind, group_of: Indices, total2: float | None = None) -> regrouping.Grouped:
        """The squares of a grouping; of a new one what the sum of those before leaves beside that between groups."""
        sizes = np.bincount(group_of, minlength=count)
        found = label_shift.spread(task.points, task.variances, group_of, np.ones(len(group_of)))
        delta2, zeta2 = found.net  # as `measure` has them of the present groups
        if kind == "random":
            zeta2, delta2 = divisions.expected(max(sum(found.squares) - sum(found.noises), 0.0), len(group_of), count)
        if total2 is not None:
            _, delta2 = found.if_chosen()
            zeta2 = max(total2 - delta2, 0.0)
        known = regrouping.Grouped(kind, zeta2, delta2, task.absolute, labels, sizes.tolist())
        if kind == "random" or task.absolute:
            return known
        put = table
        if kind == "new":
            put = replace(table, groups=tuple(task.names), group_of=group_of, above=(), chosen=True)
            put = replace(put, tiers=("group", "client"))
        ends = heterogeneity.of_counts(put, "clients").ratio[1:]
        return replace(known, ends=ends)  # as `recommend` and `measure --groups-are chosen` have them

    def posed(grouped: regrouping.Grouped) -> Scenario:
        groups = [{"clients": int(one)} for one in grouped.sizes]
        fleet = {"fleet.groups": groups, "fleet.weights": "equal"}  # as the deviations are measured
        return read(fleet | {"problem.heterogeneity": grouped.heterogeneity(str(path)), "plan.seed": seed})

    before = of("present", task.present) if task.present is not None else of("random", chosen)
    after = of("new", chosen, before.zeta2 + before.delta2)
    scenarios = posed(before), posed(after)
    sized = sorted(before.sizes) != sorted(after.sizes)
    resized = posed(replace(before, kind="resized", sizes=after.sizes)) if sized else None
    if any(s.divisions for s in scenarios):
        return None, ["What that gains depends on the plan: give numbers in place of ranges to see it."], {}
    try:
        found = regrouping.effect((before.kind, scenarios[0]), (after.kind, scenarios[1]), resized)
    except NoAnswerError as error:
        return None, [f"What that gains is not known: {error}"], {}
    return found, list(scenarios[1].warnings), _unknown(scenarios, (before.kind, after.kind), found)


def _unknown(
    scenarios: tuple[Scenario, Scenario], kinds: tuple[regrouping.Kind, regrouping.Kind], found: dict[str, Any]
) -> dict[str, Any]:
    """The answer's fields about sharing of links: assumption, question, and whether it changes what is best."""
    after = scenarios[1]
    open_ = sharing_is_open(ask(after), after)
    known = assumptions(after, ask(after), None, "the row by time" if open_ else "")
    if not open_:
        return {"assumptions": known}
    shared = [one.with_link(sharing="per-server") for one in scenarios]
    other = regrouping.effect((kinds[0], shared[0]), (kinds[1], shared[1]))
    own, beyond = (row.toss_up_after or row.after[:1] for row in (_gain("time", one) for one in (found, other)))
    return {
        "assumptions": known,
        "sensitivity": turns(SHARING, "per-client", "per-server", own, beyond) if own else (),
        "next": (ask_sharing(after),),
    }


def _cautions(task: Task, after: Mapping[str, Any]) -> Iterator[str]:
    if (above := task.table.above) and np.ptp(above[-1]):
        *others, last = task.table.tiers[:-2]
        yield (
            f"Not used: {join([*others, last])}, as new groups take clients from anywhere and make two tiers. To keep "
            f"clients in their {last}, give the lines of one {last} at a time."
        )
    if after["delta2_expected"] > 1.1 * after["delta2"]:
        yield (
            "The counts are a sample, and regrouping fits their noise too. For the clients themselves expect delta^2 "
            f"near {after['delta2_expected']:.2g}. `hfl-plan measure --groups-are chosen` takes that into account."
        )
    if task.present is not None and task.start is None:
        yield f"No list of moves from the present groups: {task.broken}."
    if task.problem.most.max() > task.problem.least.min():
        yield (
            "Groups may differ in size: every client (or sample) counts the same here, while the theorems let every "
            "group count the same."
        )


def _replaced(path: Path, config: Path | None) -> list[str]:
    """Say what of a scenario file, which has been read, the counts take the place of."""
    file = read(config)[0] if config is not None else {}
    there = {"fleet": ("groups", "clients", "clients_per_group", "list"), "problem": ("heterogeneity",)}
    said = {key: value for name, keys in there.items() for key, value in (file.get(name) or {}).items() if key in keys}
    found = [key for key, value in said.items() if Path(str(value)).resolve() != path.resolve()]
    tiers = (file.get("fleet") or {}).get("tiers") or ()
    found += [f"{key} of tiers" for key in ("count", "deviation") if any(key in tier for tier in tiers)]
    return [f"{path} takes the place of {join(found)} in {config}."] if found else []


def _formulas(table: LabelCounts, names: Sequence[str]) -> Iterator[str]:
    """What a spreadsheet may make of names that are written as they are, so that they can be read again."""
    if any(name.startswith(("=", "+", "-", "@")) for name in (*table.clients, *table.labels, *names)):
        yield "Some names start with =, +, - or @: a spreadsheet may take them for formulas. Import them as text."


def _regrouped(table: LabelCounts, group_of: Sequence[str]) -> str:
    columns = np.argsort(table.columns)
    counts = table.counts[:, columns].astype(np.int64).tolist()
    lines = np.argsort(table.lines, kind="stable").tolist()
    rows = ((table.clients[i], group_of[i], *counts[i]) for i in lines)
    return csv_text([("client", "group", *(table.labels[j] for j in columns)), *rows])


def _answer(
    data: Mapping[str, Any], cautions: Sequence[str], unknown: Mapping[str, Any], open_: str, told: bool
) -> Grouping:
    """Make the answer; ``open_`` says why the gain is not known, and ``told`` whether a scenario was."""
    effect = data["effect"]
    rows = tuple(_gain(objective, effect) for objective in KEYS) if effect else ()
    target = effect and effect["target"]
    few = _enough(data)
    moves, why = ((), "") if few is None else (("--moves", str(few)), "gives 90 % of the gain, and ")
    measure = ("hfl-plan", "measure", "regrouped.csv", "--groups-are", "chosen", "-o", "regrouped.json")
    following = [
        NextStep(argv=("...", *moves, "--output", "regrouped.csv"), why=f"{why}writes the counts"),
        NextStep(argv=measure, why="keeps the deviations of groups that were chosen by counts, for `recommend`"),
    ]
    assumed = unknown.get("assumptions", ())
    verdict = _verdict(data, rows if effect and effect["objective"] in KEYS else (), open_)
    if any(one.unit for one in assumed) and not told:
        own = NextStep(argv=("...", "--config", "SCENARIO.toml"), why="your links, model and plan")
        following.insert(0 if verdict.status == "not-worth-it" else 2, own)
    return Grouping(
        objective=effect["objective"] if effect else "",
        target=target and Target(value=target["value"], metric=target["quantity"], defined_by=_defined(effect)),
        verdict=verdict,
        rows=rows,
        group=dict(data),
        warnings=tuple(Caution(text=text) for text in cautions),
        details={section: tuple(texts) for section, texts in _details(data, cautions, assumed)},
        **{**unknown, "next": (*unknown.get("next", ()), *following)},
    )


def _enough(data: Mapping[str, Any]) -> int | None:
    """How many moves give 90 % of the gain; None where all do, they were limited, or noise is all they gain."""
    if not data["moves"] or data["most_moves"] is not None:
        return None
    if data["after"]["delta2_expected"] >= data["before"]["delta2_expected"]:
        return None
    return next((i for i, step in enumerate(data["moves"][:-1], 1) if step["gained_share"] >= 0.9 - 1e-12), None)


def _defined(effect: Mapping[str, Any]) -> str:
    target = effect["target"]
    if target["origin"] == "derived":
        return f"{target['note']}, {'at random' if effect['before']['grouping'] == RANDOM else 'before'}"
    return f"a {target['quantity']} of {target['value']:.3g}"


def _gain(objective: Objective, effect: Mapping[str, Any]) -> Gain:
    """The least amount before and after, over all topologies."""
    key = KEYS[objective]
    found = []
    for part in (effect["before"], effect["after"], effect["resized"] or {"ranking": ()}):
        amounts = {row["topology"]: row[key] for row in part["ranking"] if row[key] is not None}
        least = min(amounts.values(), default=None)
        best = tuple(name for name, amount in amounts.items() if least is not None and amount <= least)
        found.append((best, None if least is None else Quantity(least)))
    (before, was), (after, now), (_, resized) = found
    gain, of_sizes = (None if was is None or one is None or not was else 1 - one / was for one in (now, resized))
    return Gain(
        id=objective,
        before=before,
        before_amount=was,
        after=after,
        after_amount=now,
        gain=gain,
        of_sizes=of_sizes,
        toss_up_before=tuple(effect["before"]["toss_up"][objective]),
        toss_up_after=tuple(effect["after"]["toss_up"][objective]),
        within_error=gain is not None
        and abs(gain) > effect["resolution"]
        and 1 / effect["error"] < 1 - gain < effect["error"]
        and not _sizes_are_sure(effect, before, gain, of_sizes),
    )


def _sizes_are_sure(effect: Mapping[str, Any], best: Sequence[str], gain: float, of_sizes: float | None) -> bool:
    """Whether new sizes give most of a gain at no more rounds, in which alone predictions err."""
    if of_sizes is None or of_sizes < max(gain / 2, effect["resolution"]):
        return False
    parts = (effect[part]["ranking"] for part in ("before", "resized"))
    was, now = (next(row["rounds"] for row in rows if row["topology"] == best[0]) for rows in parts)
    return now is not None and bool(now <= was * (1 + effect["resolution"]))


def _verdict(data: Mapping[str, Any], rows: Sequence[Gain], why: str) -> Verdict:
    if not rows:
        said = "differ as little as can be"
        if data["before"]:
            before, after = (max(data[when]["delta2_expected"], 1e-14) for when in ("before", "after"))
            less = before / after
            said = f"differ {two(less)} times less (delta^2)" if 1.02 < less < 1e12 else "differ as much as before"
            said = "are alike" if less >= 1e12 else said
        return Verdict(status="measured", text=f"The new groups {said}. {why}".rstrip())
    effect = data["effect"]
    asked = next(row for row in rows if row.id == effect["objective"])
    random = effect["before"]["grouping"] == RANDOM
    doing, when_ = ("choosing groups by counts", "at random") if random else ("regrouping", "before")
    if not asked.before and asked.after:
        text = f"Worth {doing}: {names_or(asked.after)} then reaches the target, which no topology did {when_}."
        return Verdict(status="best", best=asked.after, text=text)
    if asked.gain is None:
        return Verdict(status="unreachable", text=f"No topology reaches the target, {when_} or after.")
    less = {"time": "less time", "traffic": "less traffic", "rounds": "fewer rounds"}[asked.id]
    if asked.within_error and asked.gain > 0:
        off = f"the predictor's error, {times(effect['error'])}"
        gain = times(1 / (1 - asked.gain))
        text = f"Toss-up for {asked.id}: a gain of {gain}, with {names_or(asked.after)}, is within {off}. "
        text += "Do not regroup for it alone: race both groupings first."
        return Verdict(status="toss-up", best=tuple(dict.fromkeys((*asked.before, *asked.after))), text=text)
    if asked.gain > effect["resolution"]:
        sized = asked.of_sizes is not None and abs(asked.of_sizes) > effect["resolution"]
        alone = asked.of_sizes or 0.0
        sizes = f"; sizes alone ({_span(data['size_of'].values())} clients) give {percent(alone)}" * sized
        if sized and 1 / effect["error"] < (1 - asked.gain) / (1 - alone) < effect["error"]:
            sizes += ", and labels add nothing that is sure"
        text = f"Worth {doing} for {asked.id}: {percent(asked.gain)} {less}, with {names_or(asked.after)}{sizes}."
        return Verdict(status="best", best=asked.after, text=text)
    stays = f"{names_or(asked.after)} stays best" if set(asked.before) & set(asked.after) else "the best changes"
    tossed = {when_: asked.toss_up_before, "after": asked.toss_up_after}
    others = {when: [t for t in tied if t not in asked.after] for when, tied in tossed.items()}
    if set(others[when_]) == set(others["after"]):
        others = {f"{when_} and after": others["after"]}
    undecided = [f"{when}: a toss-up with {names_or(rest)}" for when, rest in others.items() if rest]
    if undecided and set(asked.before) & set(asked.after):
        stays = f"{names_or(asked.after)} stays first ({'; '.join(undecided)})"
    same = abs(asked.gain) <= effect["resolution"]
    cost = f"and new groups take {'the same' if same else f'{percent(-asked.gain)} more'} {asked.id}"
    cost += ", within the predictor's error" * asked.within_error
    text = f"Not worth {doing} for {asked.id}: {stays}, {cost}."
    return Verdict(status="not-worth-it", best=asked.before, text=text)


def _span(sizes: Iterable[int]) -> str:
    """Write sizes of groups: ``4 to 12``, or the one of all."""
    least, most = min(sizes := [*sizes]), max(sizes)
    return f"{least}" if least == most else f"{least} to {most}"


def document(answer: Grouping) -> Document:
    """Lay a grouping out."""

    def cells(row: Gain) -> Iterator[str]:
        before = row.before, row.toss_up_before, row.before_amount
        after = row.after, row.toss_up_after, row.after_amount
        for best, tied, amount in (before, after):
            named = names_or(best) if len(best) == 1 else f"tie of {len(best)}" if best else "none"
            yield named + MARK * bool(tied)
            yield cell(AMOUNTS[row.id][1], amount)
        gain = "-" if row.gain is None else SAME if abs(row.gain) < 0.005 else percent(row.gain)
        yield gain + MARK * row.within_error

    effect = answer.group["effect"]
    was = "at random" if effect and effect["before"]["grouping"] == RANDOM else "before"
    columns = (Column("best by"), Column(was), Column("", "number"), Column("after"), Column("", "number"),
               Column("gain", "number"))  # fmt: skip
    table = Table(columns, tuple((row.id, *cells(row)) for row in answer.rows))
    below = (*legend(answer.rows, " (--explain toss-ups)"), *facts(answer.group))
    return told(answer, table if answer.rows else (), kind="Groups", facts=below)


def legend(rows: Sequence[Gain], where: str = "") -> Iterator[tuple[str, str]]:
    """What the mark in the table means, and where each toss-up is told; nothing where no row has it."""
    means = [f"one of a toss-up{where}"] * any(row.toss_up_before or row.toss_up_after for row in rows)
    means += ["a difference within the predictor's error"] * any(row.within_error for row in rows)
    if means:
        yield MARK, " or ".join(means)


def facts(d: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Say how large the new groups are, how they differ, and how many moves lead there, each with its label."""
    sizes, was, before, after = d["size_of"].values(), d["sizes_before"], d["before"], d["after"]
    of = _span(sizes) + f" (now {_span(was or sizes)})" * (was is not None and sorted(was) != sorted(sizes))
    yield "Groups", f"{counted(d['clients'], 'client')} in {counted(d['groups'], 'group')} of {of}"
    alone = {by: round(_gain(by, d["effect"]).of_sizes or 0.0, 2) + 0.0 for by in KEYS if d["effect"]}
    if any(alone.values()):
        each = ", ".join(f"{by} {percent(share)}" for by, share in alone.items())
        yield "Sizes", f"alone gain, data as uneven as now: {each}"
    if before is None and d["effect"]:
        _, random = divisions.expected(after["delta2_expected"] + after["zeta2_expected"], d["clients"], d["groups"])
        said = f"{counted(d['groups'], 'group')}, as the file does not have these"
        yield "At random", f"{said}: between groups delta^2 {random:.2g}"
    pairs = ((f"{word}^2", f"{word}2_expected") for word in ("delta", "zeta"))
    delta, zeta = (
        f"{word} {'' if before is None else f'{before[key]:.2g} -> '}{after[key]:.2g}" for word, key in pairs
    )
    yield "Measured", f"between groups {delta}; within {zeta}, without the noise of sampling"
    if d["moves"]:
        most = _enough(d)
        share = "" if most is None else "; the first gives 90 %" if most == 1 else f"; the first {most} give 90 %"
        moves = "1 move or swap" if len(d["moves"]) == 1 else f"{len(d['moves'])} moves and swaps"
        yield "Moves", f"{moves}, {d['moved']} of {counted(d['clients'], 'client')}{share}"


def _details(
    d: Mapping[str, Any], cautions: Sequence[str], assumed: Sequence[Assumption]
) -> Iterator[tuple[str, Iterable[str]]]:
    effect = d["effect"]
    if effect:
        then = {row["topology"]: row for row in effect["after"]["ranking"]}
        columns = (Column("rounds", "count"), Column("seconds", "duration"), Column("bytes", "size"))
        yield (
            "topologies",
            (
                f"{title(row['topology'])}: "
                + ", ".join(f"{one.text(row[one.name])} -> {one.text(now[one.name])}" for one in columns)
                for row, now in ((row, then[row["topology"]]) for row in effect["before"]["ranking"])
            ),
        )
        tossed = {f"By {by}, {when}": effect[when]["toss_up"][by] for by in KEYS for when in ("before", "after")}
        yield "toss-ups", (f"{when}: {names_or(tied)}." for when, tied in tossed.items() if tied)
        where = effect["changes_below_delta"]
        if where is not None:
            yield "break-even", (f"The best topology changes where delta falls below about {where:.2g}.",)
    yield "moves", map(_said, d["moves"] or ())
    if d["front"]:
        yield "front", (f"delta^2 {p['delta2']:.4g} at mean cost {p['cost']:.4g}" for p in d["front"])
    yield "warnings", cautions
    yield "assumptions", (f"{input_words(one.key)}: {format_amount(one.value, one.unit)}." for one in assumed)


def _said(step: Mapping[str, Any]) -> str:
    moved = " and ".join(
        f"{', '.join(map(shortened, move['clients'][:3]))}{' ...' if len(move['clients']) > 3 else ''} "
        f"from {shortened(move['from'])} to {shortened(move['to'])}"
        for move in step["moves"]
    )
    return f"{moved}: {percent(step['gained_share'])}"
