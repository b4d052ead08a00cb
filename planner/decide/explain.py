"""Words that several answers share: terms of bounds, the target, and what another metric would say."""

from __future__ import annotations

from collections.abc import Sequence

from planner.io.answers import KnownValue, Target
from planner.io.wording import counted, input_words, join, names, percent, title
from planner.predict.predictors import best
from planner.predict.question import MAX_ROUNDS, Question, ceil_rounds
from planner.scenario.fields import FOOTPRINT, METRIC, Objective
from planner.scenario.network import link_names
from planner.scenario.resolve import Known, Scenario

TERMS = {
    "start": ("initial gap", "the gap to the optimum still to be closed"),
    "noise": ("noise", "gradient noise, averaged over every step of every client"),
    "client_sampling": ("client sampling", "the draw of clients"),
    "group_sampling": ("group sampling", "the draw of groups"),
    "local_noise_drift": ("local noise drift", "gradient noise in a client's own steps"),
    "noise_drift": ("noise drift", "gradient noise along the round"),
    "intra_drift": ("intra-group drift", "intra-group heterogeneity"),
    "sampled_intra_drift": ("intra-group drift", "intra-group heterogeneity of the clients drawn"),
    "inter_drift": ("inter-group drift", "inter-group heterogeneity"),
    "intra_drift_joint": (
        "joint ring drift",
        "heterogeneity between groups and inside them together, along rings in fixed order",
    ),
    "correlated_drift": ("fixed-ring drift", "heterogeneity along rings in fixed order"),
}  # in short, and in words
SHORT = {name: short for name, (short, _) in TERMS.items()}

WORST = "worst case, not expected time"  # of targets that counts of a bound are to


def term(name: str) -> str:
    """Name a term of a bound; of a tree of any depth the tier stands at its end."""
    what, _, tier = name.removesuffix("_joint").partition("_")
    of_tiers = {"drift": "heterogeneity on tier", "sampling": "the draw on tier"}
    return TERMS[name][1] if name in TERMS else f"{of_tiers[what]} {tier}"


def to_target(question: Question) -> str:
    """What rounds are to, after a number of them."""
    quantity = question.quantity
    if question.target is not None:
        return f"to a {quantity.words} of {float(question.goal()):.3g}"
    whose = title(question.reference) + ("'s bound" if question.predictor.guarantees else "")
    last = question.horizon or 0
    there = " if all come" if question.partly_available else ""
    needs = ceil_rounds(float(question.rounds()[question.reference]))  # fewer where a pilot's curve got no further
    when = "within" if question.predictor.measured and needs < last else "after"
    return f"to the {quantity.reached} that {whose} reaches {when} {counted(int(last), 'round')}{there}"


def at_most(question: Question) -> str:
    """Say how many rounds are allowed to a target that was given; empty for any number."""
    return f" within at most {counted(int(question.allowed), 'round')}" if question.allowed < MAX_ROUNDS else ""


def target_of(question: Question, known: Known, met: bool = False) -> Target:
    """State what all rows are to reach."""
    horizon = question.horizon if question.target is None or question.allowed < MAX_ROUNDS else None
    named = question.target is not None and (known.origin == "derived" or question.metric == "accuracy") and known.note
    defined_by = named or to_target(question)
    last = at_most(question) + f"; {WORST}" * question.predictor.guarantees
    return Target(
        value=float(question.goal()),
        metric=question.quantity.words,
        defined_by="met before the first round" if met else f"{defined_by.removeprefix('to ')}{last}",
        rounds=None if horizon is None else int(horizon),
    )


def about_shares(question: Question, scenario: Scenario) -> list[str]:
    """Which topologies lower another mean of the clients' losses than the one that the table of the fleet says."""
    if question.members is None:
        return []
    shares = {topology: question.sized(topology).misplaced() for topology in question.topologies}
    found = {topology: share for topology, share in shares.items() if share}
    if not found:
        return []
    moved = " to ".join(dict.fromkeys(percent(end(found.values())) for end in (min, max)))
    weighed = by_samples(scenario)
    mean = f"mean over {'samples' if weighed else 'clients'}"
    of = f" of {scenario.listed.source}" if scenario.listed is not None else ""
    way = "; give --weights equal if all clients are to count the same" * weighed
    return [
        f"{names(list(found))}: a ring counts its children alike, so some loss stays; rounds count that. To lower the "
        f"{mean}{of} to the end, use stars{way}. Rings here lower another mean of the losses, in which {moved} of the "
        "weight is at other clients. No bound covers it."
    ]


def about_footprint(question: Question, *objectives: Objective) -> list[str]:
    """Name what energy, carbon or money leave out, for want of a number or a price."""
    short = [one for one in objectives if unknown(question, one)]
    left = unknown(question, short[0]) if short else ()
    unpriced = _unpriced(question) if "money" in objectives else []
    if not left:
        return unpriced
    parts = {
        "training": ("devices that train", "footprint.training_power=5W"),
        "waiting": ("devices that wait", "footprint.idle_power=1W"),
        "network": ("a network", "network.client_link.energy=0.05kWh/GB"),
    }
    device = "--device phone, or " if "training" in left else ""
    what, ways = (join([parts[part][i] for part in left]) for i in (0, 1))
    said = [f"{one.capitalize()} leaves out {what}: no number is known. Give {device}--set {ways}." for one in short]
    return [*said, *unpriced]


def unknown(question: Question, objective: Objective) -> tuple[str, ...]:
    """Parts of a round of which an objective needs what they draw, and nobody said: training, waiting, network."""
    if objective not in FOOTPRINT or (objective == "money" and "kwh" not in (question.rates or {})):
        return ()
    footprint = question.of_a_round(question.reference).footprint
    return tuple(footprint.unknown) if footprint else ()


def _unpriced(question: Question) -> list[str]:
    """Name links without a price where others have one, and devices without."""
    rates, prices = question.rates or {}, [f"{link}.price" for link in link_names(question.depth)]
    left = [input_words(price).removeprefix("price of the ") for price in prices if price not in rates]
    if not 0 < len(left) < len(prices):
        return []
    at, hour = "network.client_link" if question.depth == 2 else f"fleet.tiers.{question.depth}.link", ""
    if "device_hour" not in rates:
        left, hour = [*left, "device hours"], " --set footprint.device_hour=0.05"
    return [f"Money leaves out the {join(left)}, without a price. Give those, such as --set {at}.price=0.1{hour}."]


def by_samples(scenario: Scenario) -> bool:
    """Whether clients count by their samples, so that `--weights equal` is another question."""
    weights = scenario.known.get("weights")
    return weights is not None and weights.value == "samples"


def about_metric(question: Question, scenario: Scenario, recommended: Sequence[str]) -> list[str]:
    """Name the best topology by training loss, where the gradient of the theorems was asked about."""
    if question.metric != "gradient" or question.target is not None or question.partly_available:
        return []
    other = question.varied(metric=METRIC, predictor=best(METRIC))
    totals = {t: float(n) * other.price(t, scenario.objective) for t, n in other.rounds().items()}
    then = min(totals, key=lambda t: totals[t])
    kept = min(recommended, key=lambda t: totals[t])
    least = totals[kept]
    if least <= totals[then] * (1 + scenario.resolution):
        return []
    return [
        f"By training loss, which is what training is for, {title(then)} is the best topology, "
        f"{percent(1 - totals[then] / least)} below {title(kept)} (--metric loss)."
    ]


def known_values(scenario: Scenario, question: Question | None = None) -> dict[str, KnownValue]:
    """What is known, as an answer shows it: tiers by their names, and the target as a number of a question has it."""
    found = {
        name: KnownValue(value=k.value, origin=k.origin, unit=k.unit, source=k.note, reading=k.reading)
        for name, k in scenario.known.items()
    }
    if scenario.tier_names:
        found["tiers"] = found["tiers"].replaced(reading=" / ".join(scenario.tier_names))
    if question is not None and question.share is not None:
        note = f"{question.share:.3g} of the {question.quantity.words} at the start, as {question.predictor.id} has it"
        found["target"] = KnownValue(value=question.target, origin="given", source=note)
    elif question is not None and question.target is None:
        known = scenario.known["target"]
        found["target"] = KnownValue(value=float(question.goal()), origin="derived", source=known.note)
    return found
