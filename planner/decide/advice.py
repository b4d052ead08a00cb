"""What an answer assumes, what to find out first, and which command to run next."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from hflbounds.topology import tier_symbols
from planner.decide import participation, settings
from planner.decide.explain import by_samples, unknown
from planner.decide.recommendation import SHARING, Uncertainty
from planner.decide.settings import DETECT, ON_FAILURE, POLICY, TIMEOUT, could_be_controlled, in_turns, is_open
from planner.decide.verdict import is_not_to_wait, last_target, out_of_reach, sharing_is_open
from planner.io import frames
from planner.io.answers import Assumption, NextStep, Sensitivity, Verdict
from planner.io.wording import a_group, input_words, percent, title
from planner.predict.evidence import orderings
from planner.predict.question import Question, ceil_rounds
from planner.scenario.fields import Objective
from planner.scenario.footprint import PRESETS
from planner.scenario.resolve import Scenario

UNASKED = {"R", "tiers", "scatter", "fading", "decay", "target", "L"}  # of the target, or without effect on a ranking
IN_A_PILOT = {"sigma", "L", "A", "scatter", "fading", "decay"}  # with deviations: change nothing of what was measured
OF_LOSS = ("L A", "L", "A")
ESTIMATE, MEASURE = ("hfl-plan", "estimate", "HOOK.py"), ("hfl-plan", "measure", "COUNTS.csv")
QUESTIONS = (  # by what is unknown: the question, and what to give
    (("client_link.up",), "How fast is the link of a client?", ("--uplink", "RATE")),
    (("client_link.down",), "How fast is the downlink of a client?", ("--downlink", "RATE")),
    (("server_link.latency",), "How long is the latency to group servers?", ("--server-latency", "TIME")),
    (("server_link.",), "How fast are the links of the group servers?", ("--server-uplink", "RATE")),
    (("model_size",), "How large is the model?", ("--model-size", "SIZE")),
    (("step_time",), "How long does a local step take?", ("--step-time", "TIME")),
    (("deviations",), "How much do the data of clients and groups differ?", ("--data", "COUNTS.csv")),
    (("zeta and delta",), "How large is delta of your model?", (*MEASURE, "--gram", "GRAM.csv")),
    (("sigma",), "How noisy are gradients of your model?", ESTIMATE),
    (OF_LOSS, "How large are L and A of your model?", ESTIMATE),
)
LEFT: Mapping[tuple[str, ...], str] = {("L",): "How large is L of your model?", ("A",): "How large is A of your model?"}
FIRST: Mapping[str, str] = {  # what is said of these in any case, before what varies less than all
    "weights": "which mean of the clients' losses is to get small",
    POLICY: "what a round does where a device stays away",
    DETECT: "how long a round waits for a device that stays away",
    TIMEOUT: "the fewest seconds per client that comes; who takes longer is cut off",
    "access": "how fast the links of places to their network are",
}
LINK_SHARING = ("--link-sharing", "per-client|per-server")
DEVICE = ("--device", "|".join(PRESETS["device"]))
RACED = 2  # local steps of a pilot that is asked for none
LITTLE = 0.1  # a total Sobol index below it is not worth a question


def assumptions(
    scenario: Scenario, question: Question, how_sure: Uncertainty | None, of_sharing: str = ""
) -> tuple[Assumption, ...]:
    """List what nobody gave, what decides most first, with its share of the variance of the lead.

    How links are shared comes first where ``of_sharing`` says what of the answer stands on it.
    """
    index = {d.name: d.explains.value for d in how_sure.inputs.drawn if d.explains} if how_sure else {}
    found, in_a_pilot = [], IN_A_PILOT | {tier.deviation for tier in question.symbols}
    for name, known in scenario.known.items():
        in_doubt = name == "scatter" and could_be_controlled(question, scenario)
        unused = (name in UNASKED and not in_doubt) or (question.predictor.measured and name in in_a_pilot)
        unused |= name in (POLICY, DETECT) and not question.partly_available
        unused |= name.startswith("server_link") and question.network.tiers < question.depth
        value = known.value
        if name == DETECT and question.availability is not None:
            value = in_turns(question.availability.patience)
        if name == TIMEOUT and question.availability is not None:
            value = participation.timeouts(question)
        if known.origin != "default" or unused or value is None:
            continue
        share = index.get(name, index.get("L A") if name == "A" else None)
        told = FIRST.get(name, "")
        if not value and name in {tier.deviation for tier in question.symbols if question.values[tier.size] > 1}:
            told = "left out beside the other, so that these do not differ"
        if in_doubt:
            told = "that of networks; 0 where noise does not depend on the model, as in theorems"
        effect = told or ("" if share is None else f"{percent(share)} of the lead's variance")
        key = ON_FAILURE if name == POLICY else name
        found.append((-(share or float(bool(told))), Assumption(key=key, value=value, unit=known.unit, effect=effect)))
    every = tuple(one for _, one in sorted(found, key=lambda pair: pair[0]))
    if not of_sharing:
        return every
    sharing = Assumption(key=SHARING, value=scenario.known[SHARING].value, effect=of_sharing)
    return (sharing, *(one for one in every if one.key != SHARING))


def steps(
    scenario: Scenario,
    question: Question,
    verdict: Verdict,
    changes: Iterable[Sensitivity],
    how_sure: Uncertainty | None,
    *,
    sharing: bool = False,
) -> Iterator[NextStep]:
    """What to find out first, and then which commands to run; ``changes`` are what would change the verdict.

    ``sharing`` says whether hours stand on how links are shared, which nobody said.
    """
    if (
        sharing
        or any(one.on == SHARING for one in (verdict, *verdict.cases))
        or any(one.parameter == SHARING and is_open(SHARING, scenario) for one in changes)
    ):
        yield ask_sharing(scenario)
    if "training" in unknown(question, scenario.objective):
        yield NextStep(argv=DEVICE, why="What do devices draw?", asks=True)
    if why := settings.asks_policy(question, scenario, question.topologies, changes):
        yield ask_policy(scenario, why)
    if any(one.parameter == DETECT and not set(verdict.best) <= set(one.best_beyond) for one in changes):
        yield NextStep(argv=("--set", f"{DETECT}=TIME"), why="When is a device that stays away given up?", asks=True)
    inside = (one for one in changes if one.best_beyond and set(one.best_beyond) <= set(verdict.best))
    narrowed = [one.parameter for one in inside if one.method != "setting"]
    yield from _asked(scenario, how_sure, narrowed)
    if (
        question.members is not None
        and by_samples(scenario)
        and verdict.status == "best"
        and not verdict.runner_up
        and any(question.sized(t).misplaced() for t in question.topologies if t not in verdict.best)
    ):
        yield NextStep(
            argv=("...", "--weights", "equal"), why="rings count clients alike, and then the answer does too"
        )
    free = scenario.grouping not in (None, "given")  # then tune refuses, as it does with a pilot
    if (free or verdict.status in ("toss-up", "depends")) and not question.predictor.measured:
        yield NextStep(argv=race(question), why="measures rounds on your own model and data")
    elif scenario.pilot is None and not scenario.divisions and not free:
        yield NextStep(argv=("hfl-plan", "tune", "..."), why="local steps, group rounds and learning rates")
    scale = orderings.of_scale(question, scenario) if question.predictor.measured else None
    beyond = verdict.status == "toss-up" and question.predictor.extrapolated(question) > 1.05
    if scenario.pilot is not None and question.predictor.stalled(question):
        lower = last_target(question, scenario.pilot.rounds)
        yield NextStep(argv=("...", *lower), why="in its place a target that the pilot reached")
    elif (scale is not None and scale.wide) or beyond or out_of_reach(question):
        uncapped = question if question.target is None else question.varied(horizon=None)  # a cap may be before it
        rounds = ceil_rounds(float(uncapped.rounds()[question.reference]))
        yield NextStep(argv=(*race(question), "--rounds", str(rounds)), why="a pilot as long as the rounds shown")
    elif is_not_to_wait(verdict):
        yield NextStep(argv=("hfl-plan", "async", "..."), why="servers that do not wait, and their buffers")
    elif question.predictor.measured and verdict.status == "best":
        yield NextStep(
            argv=("hfl-plan", "export", "...", "--to", "python", "-o", "project"), why="a project that runs it"
        )
    yield NextStep(argv=("...", "--explain"), why="all details")


def about_compression(question: Question, scenario: Scenario, topology: str, objective: Objective) -> Iterator[str]:
    """Say by what factor compression may raise the rounds of a topology before it stops paying."""
    network = question.network
    if network.whole or objective == "rounds":
        return
    whole = question.varied(network=network.sent_whole()).price(topology, objective)
    packed = question.price(topology, objective)
    if 0 < packed < whole:  # nothing may cost anything
        rounds = f"the rounds of {title(topology)} {whole / packed:.2g} times as many"
        own = ", with own links," if objective != "traffic" and sharing_is_open(question, scenario) else ""
        yield f"By {objective}{own} compression pays until it makes {rounds}."


def race(question: Question, local_steps: int | None = None, passes: int | None = None) -> tuple[str, ...]:
    """The command that races the topologies of a question, by default with its own local steps and passes.

    In short options, with which two commands fit a line.
    """
    K = local_steps or int(question.values["K"])
    own = [int(question.values[tier.passes]) for tier in question.symbols if tier.passes]
    each = [*own[:-1], passes or own[-1]] if own else []
    steps = ("-K", str(K)) if local_steps or K != RACED else ()
    several = ("-P", "/".join(map(str, each))) if any(number > 1 for number in each) else ()
    tiers = question.sized(question.reference).tiers
    drawn = "/".join(str(tier.taking_part) for tier in tiers)
    some = ("--drawn", drawn) if any(tier.sampled for tier in tiers) else ()
    order = ("--order", "random") if question.order == "random" and not some else ()
    by = ("--metric", "accuracy") if question.metric == "accuracy" else ()
    return ("hfl-plan", "pilot", "HOOK.py", *steps, *several, *some, *order, *by)


def ask_policy(scenario: Scenario, why: str) -> NextStep:
    """Ask what a round does without a device; a timeout is another wait than one that was given."""
    words = f"fail|skip{'|timeout' * settings.is_assumed(DETECT, scenario)}"
    return NextStep(argv=("--on-failure", words), why=why, asks=True)


def ask_sharing(scenario: Scenario) -> NextStep:
    """Ask whether clients share their link."""
    return NextStep(argv=LINK_SHARING, why=f"Does {a_group(scenario.names)} share one link?", asks=True)


def turns(
    parameter: str, now: str, other: str, best: Collection[str], beyond: tuple[str, ...]
) -> tuple[Sensitivity, ...]:
    """Say that another word for a setting has another best topology or toss-up; nothing where it has the same."""
    if set(best) == set(beyond):
        return ()
    return (Sensitivity(parameter=parameter, now=now, break_even=other, best_beyond=beyond, method="setting"),)


def _asked(scenario: Scenario, how_sure: Uncertainty | None, narrowed: Sequence[str]) -> Iterator[NextStep]:
    """The number that decides most, as a question; before all others those whose range, ``narrowed``, settles it.

    That is one which nobody gave, or of which a range was given.
    """
    drawn = how_sure.inputs.drawn if how_sure else ()
    ranged = {d.name: d.alone for d in drawn if d.kind == "given"}
    known = [(d.explains.value, d.name) for d in drawn if d.explains and d.kind != "measured"]
    swings = [] if known else [(d.alone.swing, d.name) for d in drawn if d.alone and d.kind != "measured"]
    known += [(1.0, name) for swing, name in swings if 1e-9 < swing == max(swings)[0]]  # draws were too few for shares
    known += [(1.0, name) for name in narrowed]
    deviations = {tier.deviation for tier in tier_symbols(scenario.depth)}
    said = set[str]()
    for share, drawn_name in sorted(known, reverse=True):
        name = "deviations" if drawn_name in deviations else drawn_name
        if name == "deviations" and scenario.ratio_error is not None:  # label counts were given
            continue
        if name == "deviations" and drawn_name in ranged and share >= LITTLE:  # counts would give a ratio alone
            alone = ranged[drawn_name]
            stays = "" if alone is None or alone.changes else " No value in its range puts another topology first."
            why = f"How large is {input_words(drawn_name, scenario.tier_names)} of your model?{stays}"
            yield NextStep(argv=ESTIMATE, why=why, asks=True)
            continue
        for names, why, argv in QUESTIONS:
            of_it = any(name == one or (one.endswith(".") and name.startswith(one)) for one in names)
            if not of_it:
                continue
            if share >= LITTLE and why not in said:
                said.add(why)
                if names == OF_LOSS:  # their product is drawn
                    why = LEFT.get(tuple(name for name in ("L", "A") if scenario.known[name].origin != "given"), why)
                file = "COUNTS.csv" if scenario.counts.startswith(frames.MARK) else scenario.counts or "COUNTS.csv"
                yield NextStep(argv=tuple(file if one == "COUNTS.csv" else one for one in argv), why=why, asks=True)
            break  # the first question that fits is the one
