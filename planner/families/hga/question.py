"""Wait for slow regions, or step with a buffer? A scenario and the regions' speeds in, every buffer out."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from hflbounds.topology import tier_symbols
from planner.decide import tuning
from planner.decide.clocked import Clocked, clocked, tasks
from planner.errors import NoAnswerError, ScenarioError
from planner.families.hga.model import MAX_STEPS, THEOREM, Pace, Reach, durations, pace, reach
from planner.io.text import number
from planner.io.wording import join, title
from planner.predict.question import Question, ask, ceil_rounds, with_default_order
from planner.scenario.resolve import Scenario
from planner.scenario.units import format_duration, parse_duration

MAX_REGIONS = 200
ALL_BUFFERS = 12  # up to as many regions every buffer is tried
STAR = "star-star"  # regions and their clients
FACTORS = (1e-6, 1e6)  # how many times as slow a region may be


@dataclass(frozen=True, slots=True)
class Settings:
    """Options of the question, texts as written."""

    region_times: str | None = None  # time of a task of each region
    slowdowns: str | None = None  # times against the scenario's time of a task
    speed_ratio: str | None = None  # time of the last region over that of the first
    jitter: float = 0.0  # standard deviation of the logarithm of a task's time
    buffers: str | None = None  # sizes to try; None for all, or some of many
    sub_rounds: str | None = None  # rounds inside a region to try with the buffer found
    max_staleness: int | None = None  # global steps that an update may be late; None for any
    alpha: float | None = None  # FedDyn's coefficient


@dataclass(frozen=True, slots=True)
class Buffer:
    """A size of the buffer: the clock, what the theorem says at its delays, mean time [s] and traffic of a step."""

    pace: Pace
    reach: Reach
    seconds_per_step: float
    bytes_per_step: float

    @property
    def size(self) -> int:
        """Updates of a step, K_buf."""
        return self.pace.buffer

    @property
    def steps(self) -> int | None:
        """Global steps to the target; None where the theorem has none."""
        return self.reach.steps

    @property
    def seconds(self) -> float | None:
        """Time to the target [s]."""
        return None if self.steps is None else self.steps * self.seconds_per_step

    @property
    def bytes(self) -> float | None:
        """Traffic to the target."""
        return None if self.steps is None else self.steps * self.bytes_per_step


@dataclass(frozen=True, eq=False)
class Answer:
    """Every buffer by the clock, and the steps that a proved bound needs to the target."""

    scenario: Scenario  # scenario, settings: what was asked
    settings: Settings
    question: Question  # the scenario's numbers, with one target
    defined_by: str  # words for what defines the target; "" where it is given
    times: tuple[float, ...]  # time of a task of each region [s]
    times_from: str  # where they are from: an option, ``list`` or ``pilot``
    buffers: tuple[Buffer, ...]  # sizes that were tried
    proved: Buffer | None  # buffer of the least time by the theorem; None where none reaches the target
    timed: Buffer | None  # fastest buffer by the clock within the staleness; None where that is not limited
    inside: Mapping[int, Buffer] | None  # other rounds inside a region with the buffer proved, by their number
    raced: tuple[Clocked, ...]  # what a pilot measured of servers by the clock, where the staleness allows them
    within: frozenset[int]  # buffers that may be raced: any, or those tried of fewer than all within the staleness

    @property
    def regions(self) -> int:
        """Number of regions."""
        return len(self.times)

    @property
    def to_race(self) -> list[int]:
        """Some buffers that may be raced."""
        return [size for size in some_buffers(self.regions) if size in self.within]


def solve(scenario: Scenario, settings: Settings) -> Answer:
    """Run the clock for every buffer, and ask the theorem.

    Groups of the scenario are the regions, its group rounds the rounds inside a region.

    Raises:
        NoAnswerError: If no buffer keeps the staleness, or the start meets the target.
    """
    asked = _regional(scenario)
    question = tuning.with_one_target(asked)
    M = int(question.values["G"])
    own = tuple(seconds for seconds, _ in tasks(question))
    times_from, times = _times(scenario, own, settings)
    some = range(1, M + 1) if M <= ALL_BUFFERS else {*(n for n in tuning.LADDER if n < M), *some_buffers(M), M}
    sizes = tuning.whole_numbers("--buffers", settings.buffers, some)
    if sizes[-1] > M:
        raise ScenarioError(f"--buffers: {sizes[-1]} exceeds the {M} regions. Give at most {M}.", code="E004")
    if settings.alpha is not None and not 0 < settings.alpha < math.inf:
        raise ScenarioError(f"--alpha: {settings.alpha!r} is not a number above 0. Write --alpha 2.", code="E021")
    if settings.sub_rounds is not None and settings.region_times is not None:
        raise ScenarioError(
            "--sub-rounds: how long other tasks take does not follow from --region-times. Give --slowdowns instead."
        )
    duration = durations(times, settings.jitter, scenario.seed)
    buffers = tuple(_buffer(question, pace(duration, M, size), tasks(question)) for size in sizes)
    allowed = _allowed(buffers, settings.max_staleness)
    reached = [b for b in allowed if b.seconds is not None]
    proved = min(reached, key=lambda b: (b.seconds or 0.0, -b.size), default=None)
    defined_by, timed, inside = "", None, None
    if asked.target is None:
        tighter = all(b.reach.bound == THEOREM for b in buffers)  # for the buffer of all too
        by = "all buffers by HGA-FL's, tighter" if tighter else "smaller buffers by HGA-FL's, looser"
        defined_by = (
            f"what synchronous {title(asked.reference)}'s bound guarantees after {asked.horizon:,.0f} rounds; {by}"
        )
    if settings.max_staleness is not None:
        timed = max(allowed, key=lambda b: (b.pace.updates_per_second, b.size))
    if proved is not None and settings.region_times is None:
        inside = _inside(question, proved, settings, times, scenario.seed)
    within = frozenset(range(1, M + 1) if settings.max_staleness is None else (b.size for b in allowed if b.size < M))
    raced = () if scenario.pilot is None else clocked(ask(with_default_order(scenario)))
    raced = tuple(one for one in raced if one.waits or (one.buffer or 1) in within)
    return Answer(
        scenario, settings, question, defined_by, times, times_from, buffers, proved, timed, inside, raced, within
    )


def _regional(scenario: Scenario) -> Question:
    """The question, where groups can be regions that work on their own."""
    if scenario.divisions and scenario.grouping != "given":
        raise ScenarioError("--clients: async needs the regions. Give --groups and --clients-per-group.")
    if scenario.divisions:
        raise ScenarioError(f"async: {scenario.searched} searched by recommend and tune alone. Give one number each.")
    if scenario.depth != 2:
        first, *below = [scenario.number(tier.size) for tier in tier_symbols(scenario.depth)]
        regions = f"-G {first:.0f} -M {math.prod(below):.0f}" if below else "--groups and --clients-per-group"
        raise ScenarioError(
            f"async takes two tiers, regions and their clients, and this fleet has {scenario.depth}. Give a scenario "
            f"of two, or {regions}, as the top tier alone does not wait, in place of this file or these sizes. With a "
            "file its links, model and times are lost: give them too."
        )
    if scenario.partial:
        raise ScenarioError(_partial(scenario))
    if scenario.network.tiers != 2:
        raise ScenarioError("--tiers: without a server in each region there is nothing asynchronous. Leave it out.")
    if scenario.topologies and STAR not in scenario.topologies:
        raise ScenarioError("--tiers: regions and their clients are stars here. Leave it out.")
    if scenario.network.timer is not None:
        raise ScenarioError(
            "--network: async times tasks by the links of the scenario, and not by places. Leave it out, and give "
            "--region-times."
        )
    if scenario.metric not in (None, "gradient") and scenario.known["target"].origin == "given":
        raise ScenarioError(
            f"--target: with --metric {scenario.metric} it is none of a squared gradient, which this bound is on. "
            "Leave --target out, or give --metric gradient."
        )
    # A typical number of rounds and a worst-case number of steps have no target in common: both are of bounds here.
    question = ask(replace(scenario, predictor="bound", metric="gradient", availability=None))
    if not 2 <= question.values["G"] <= MAX_REGIONS:
        raise ScenarioError(
            f"--groups: {question.values['G']:g} is not a number of regions from 2 to {MAX_REGIONS}. Each group is a "
            "region: give --groups 2 or more.",
            code="E022",
        )
    return question


def _partial(scenario: Scenario) -> str:
    """Say who does not take part, and what says so."""
    facts, ways = [], []
    for size, drawn, noun, key in (
        ("G", "S1", "groups", "groups_per_round"),
        ("M", "S2", "clients", "clients_per_round"),
    ):
        there, some = scenario.known[size].value, scenario.known[drawn]
        if some.value != there:
            facts.append(f"{some.value} of {there} {noun} take part in a round")
            ways.append("the pilot" if some.origin == "derived" else f"--{key.replace('_', '-')} ({key} of a file)")
    return f"{join(facts)}, and here every region and client works. Leave {join(list(dict.fromkeys(ways)))} out."


def _times(scenario: Scenario, own: tuple[float, ...], settings: Settings) -> tuple[str, tuple[float, ...]]:
    """Where the times of a task of each region are from, and these [s]; ``own`` are those of the scenario."""
    named = {"--region-times": settings.region_times, "--slowdowns": settings.slowdowns}
    named["--speed-ratio"] = settings.speed_ratio
    given = {option: text for option, text in named.items() if text is not None}
    if len(given) > 1:
        raise ScenarioError(f"{' and '.join(given)} say the same. Give one of them.")
    listed = max(own) > min(own) * (1 + 1e-9)
    raced = () if scenario.pilot is None else tuple(scenario.pilot.fleet.slowdowns or ())
    option, text = next(iter(given.items()), ("", ""))
    if option == "--region-times":
        parts = _of_each(option, text, len(own))
        return option, tuple(float(parse_duration(part, field=option, positive=True)) for part in parts)
    if min(own) <= 0:
        raise ScenarioError("--step-time: a task of no time has no clock. Give a time above 0, or --region-times.")
    if option == "--speed-ratio" and listed:
        raise ScenarioError(
            f"--speed-ratio: the list says how slow regions are: a task takes {format_duration(min(own))} to "
            f"{format_duration(max(own))}. Leave it out, or give --slowdowns, factors on these times."
        )
    if option:
        return option, tuple(t * factor for t, factor in zip(own, factors(option, text, len(own)), strict=True))
    if raced and max(raced) > min(raced):
        return "pilot", tuple(t * factor for t, factor in zip(own, raced, strict=True))
    if listed:
        return "list", own
    fact = "nothing says how slow the regions are."
    if scenario.listed is not None:
        fact = f"the list has regions alike in speed: a task takes {format_duration(own[0])} in every region."
    raise ScenarioError(f"{fact} Give one of --region-times 10s,12s,80s, --slowdowns 1,1.2,8 and --speed-ratio 8.")


def some_buffers(regions: int) -> list[int]:
    """A quarter, a half and three quarters of the regions, fewer than all."""
    return sorted({-(-regions * quarters // 4) for quarters in (1, 2, 3)} - {regions})


def factors(option: str, text: str, regions: int) -> list[float]:
    """Read how many times as long each region takes, from ``--slowdowns`` or ``--speed-ratio``.

    Raises:
        ScenarioError: If these are no such numbers, or not as many as there are regions.
    """
    if option == "--speed-ratio":
        ratio = number(text, option, least=1.0, most=FACTORS[1])
        return [ratio ** (j / (regions - 1)) for j in range(regions)]
    return [number(part, option, least=FACTORS[0], most=FACTORS[1]) for part in _of_each(option, text, regions)]


def _of_each(option: str, text: str, regions: int) -> list[str]:
    parts = [part.strip() for part in text.split(",")]
    if len(parts) != regions:
        raise ScenarioError(f"{option}: {len(parts)} numbers for {regions} regions (--groups). Give one each.")
    return parts


def constants(question: Question, rounds: float | None = None) -> dict[str, float]:
    """What the theorem needs but the buffer: its letters for the scenario's quantities."""
    v = question.values
    fewest = question.of_bounds(STAR)["M"]  # what the clients of any region are worth at least
    inside = {"R_sub": v["P"] if rounds is None else rounds, "sigma_s": v["sigma"] / math.sqrt(fewest)}
    return {"L": v["L"], "A": v["A"], "M": v["G"], **inside, "sigma_g": v["delta"]}


def late(clock: Pace) -> dict[str, float]:
    """What the theorem needs of the buffer."""
    return {"K_buf": clock.buffer, "Gamma_max": clock.delay_most, "zeta_max": clock.oldest_most}


def _buffer(
    question: Question, clock: Pace, each: Sequence[tuple[float, float]], rounds: float | None = None
) -> Buffer:
    """A buffer by its clock; ``each`` is time and traffic of a task of every region.

    A buffer of all is the synchronous server, for which the bound of Star-Star holds too: the smaller number is taken.
    """
    assert question.target is not None  # noqa: S101 - see tuning.with_one_target
    found = reach(question.target, {**constants(question, rounds), **late(clock)})
    if clock.buffer == len(each):
        values = question.values if rounds is None else {**question.values, "P": rounds}
        steps = float(question.predictor.rounds_to(question, STAR, question.target, values))
        if steps <= (found.steps or MAX_STEPS):
            found = Reach(ceil_rounds(steps), found.floor, bound=question.bounds[STAR].id)
    if clock.silent:
        found = Reach(None, found.floor, "a region delivered nothing, so that its staleness is unknown")
    traffic = sum(share * amount for share, (_, amount) in zip(clock.shares, each, strict=True))
    return Buffer(clock, found, clock.seconds_per_step, clock.buffer * traffic)


def _allowed(buffers: tuple[Buffer, ...], max_staleness: int | None) -> list[Buffer]:
    """The buffers within a staleness."""
    if max_staleness is None:
        return list(buffers)
    found = [b for b in buffers if b.pace.delay_most <= max_staleness and not b.pace.silent]
    if not found:
        nearest = min(buffers, key=lambda b: (bool(b.pace.silent), b.pace.delay_most)).pace
        M = len(nearest.shares)
        raise NoAnswerError(
            f"--max-staleness: no buffer tried keeps updates within {max_staleness} global steps: the nearest, "
            f"{nearest.buffer} of {M}, is {nearest.latest} late. Allow more, or try larger buffers; "
            f"one of all {M} is never late."
        )
    return found


def _inside(
    question: Question, proved: Buffer, settings: Settings, times: Sequence[float], seed: int
) -> dict[int, Buffer]:
    """Other rounds inside a region with one buffer, where tasks are longer in all that they do."""
    now, base = int(question.values["P"]), tasks(question)
    found = {}
    for rounds in tuning.whole_numbers("--sub-rounds", settings.sub_rounds, {1, 2, 4, 8, 16, now}):
        each = tasks(question, rounds)
        stretched = [seconds / before for (seconds, _), (before, _) in zip(each, base, strict=True)]
        clock = proved.pace
        if max(stretched) <= min(stretched) * (1 + 1e-9):  # then delays stay as they are
            clock = replace(clock, seconds_per_step=clock.seconds_per_step * stretched[0])
        else:
            longer = [time * factor for time, factor in zip(times, stretched, strict=True)]
            clock = pace(durations(longer, settings.jitter, seed), len(times), proved.size)
        found[rounds] = _buffer(question, clock, each, rounds)
    return found
