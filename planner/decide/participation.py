"""What an answer says of global rounds that devices break: survival, who takes part, and what it would take."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from hflbounds.topology import Topology
from planner.cost.chances import needed
from planner.cost.reliability import LEAST, everyone
from planner.errors import NoAnswerError
from planner.io.wording import names, percent, title
from planner.predict.participation import NEARLY, attendance, lacks
from planner.predict.question import Question
from planner.predict.statements import Presence
from planner.scenario.resolve import Scenario
from planner.scenario.units import format_duration

LIKELY = 0.9  # survival of a ring pass whose price in availability is named where nobody gave one
NOTEWORTHY = 0.99  # availability per turn above which that price is worth a line


def of_row(question: Question, scenario: Scenario, topology: str, rounds: float) -> dict[str, Any]:
    """What a row of the answer says about survival; empty where nobody said who comes."""
    if scenario.availability is None:
        return {}
    if question.availability is not None:
        there = attendance(question, topology)
    else:
        *groups, clients = (question.values[tier.drawn] for tier in question.symbols)
        there = everyone(groups=math.prod(groups), clients=clients)
    begun = rounds / there.survival if there.feasible else math.inf
    presence = Presence.made_of(
        there,
        rounds_begun=begun if math.isfinite(begun) else None,
        groups=there.groups if there.feasible else None,
        clients=there.clients if there.feasible else None,
    )
    return {"p_complete": there.survival, "feasible": there.feasible, "participation": presence}


def refusal(question: Question, topology: str) -> str:
    """Why a topology cannot survive, with the number; "" where it can."""
    if question.availability is None:
        return ""
    there = attendance(question, topology)
    if there.feasible:
        return ""
    if there.client == 0 and there.timeout is not None:
        timeout = format_duration(there.timeout)
        least = format_duration(there.shortest)
        return f"no client finishes within the timeout of {timeout}: a turn takes {least} or more"
    availability, tree = question.availability, question.sized(topology)
    S1 = tree.tiers[0].taking_part
    if tree.models == 1 and availability.policy == "fail":
        chain = f"{tree.work(1):,} turns in a row, of which each comes with probability {there.client:.6g}"
        chain += f", and {S1:,} group servers with {availability.server:.6g}" if availability.server < 1 else ""
    else:
        enough = 1 if availability.policy != "fail" else needed(availability.quorum, S1)
        enough = S1 if tree.tiers[0].pattern.ordered and availability.policy == "fail" else enough
        chain = f"{enough:,} of {S1:,} groups, of which each comes with probability {there.group:.3g}"
    begun = f"{1 / there.survival:.3g}" if there.survival > 1e-300 else "more than 1e300"
    survival = f"{there.survival:.3g}" if there.survival > 1e-300 else "less than 1e-300"
    skip = "" if availability.policy != "fail" else "; --on-failure skip goes on without those who stay away"
    return (
        f"a global round survives with probability {survival}. It needs {chain}, so {begun} are begun for one that is "
        f"completed, over the {1 / LEAST:.0f} allowed{skip}"
    )


def timeouts(question: Question) -> str:
    """The longest turn that is waited for, from the topology that waits least to the one that waits longest."""
    known = sorted({attendance(question, t).timeout or 0.0 for t in question.topologies})
    return " to ".join(dict.fromkeys(format_duration(one) for one in (known[0], known[-1])))


def check(question: Question) -> None:
    """Refuse what no topology survives.

    Raises:
        NoAnswerError: with the number of the topology that survives best.
    """
    if question.availability is None:
        return
    survival = {t: attendance(question, t).survival for t in question.topologies}
    if max(survival.values()) >= LEAST:
        return
    best = max(survival, key=lambda t: survival[t])
    raise NoAnswerError(
        f"no topology survives. {title(best)}, which survives best: {refusal(question, best)}.", code="N008"
    )


def in_words(question: Question) -> list[str]:
    """What becomes of a round of every topology, for the explanation."""
    if question.availability is None:
        return []
    there = {t: attendance(question, t) for t in question.topologies}
    said = [
        "A global round that is begun is completed with probability "
        + ", ".join(f"{a.survival:.3g} ({title(t)})" for t, a in there.items())
        + f", under the policy {question.availability.policy}; rounds are completed ones, and their seconds and bytes "
        "count the broken ones too."
    ]
    lacking = {t: a for t, a in there.items() if a.feasible and lacks(question, a)}
    if lacking:
        said.append(
            "Of those asked take part in a completed round, in expectation: "
            + ", ".join(f"{a.groups:.3g} groups of {a.clients:.3g} clients ({title(t)})" for t, a in lacking.items())
            + "."
        )
    return said


def about(question: Question, scenario: Scenario, recommended: Sequence[str]) -> list[str]:
    """What to doubt about survival, or what it would take where nobody said who comes."""
    if scenario.availability is None:
        return _price_of_a_ring(question, recommended)
    if question.availability is None:
        return []
    able = {t: a for t in question.topologies if (a := attendance(question, t)).feasible}
    said = []
    if any(lacks(question, a) for a in able.values()):
        said.append(
            "Rounds that fewer participants add are an approximation by draws of a fixed number. It holds if "
            "participation does not depend on the data. Learning rates are those for full participation."
        )
    for timeout, cut in dict.fromkeys((a.timeout, a.cut_off) for a in able.values() if a.cut_off > 1 - NEARLY):
        whom = [t for t, a in able.items() if (a.timeout, a.cut_off) == (timeout, cut)]
        said.append(
            f"{names(whom)}: a timeout of {format_duration(timeout or 0.0)} cuts off {cut:.2g} of the turns. "
            "Where slow devices have other data, the model is biased towards the fast ones."
        )
    return said


def _price_of_a_ring(question: Question, recommended: Sequence[str]) -> list[str]:
    """The availability that the longest chain of turns in the recommended topologies needs."""
    trees = {t: tree for t in recommended if (tree := question.sized(t)).tiers[-1].pattern.ordered}
    chains = {t: _turns(question, tree) for t, tree in trees.items()}
    longest = max(chains, key=lambda t: chains[t], default=None)
    if longest is None:
        return []
    needed = LIKELY ** (1 / chains[longest])
    if needed <= NOTEWORTHY:
        return []
    way = " Say how often clients come: --availability 99%." if question.depth <= 2 else ""  # of deeper trees none is
    what = "a global round" if trees[longest].models == 1 else "a group's part of a round"
    return [
        f"{names([longest])}: {what} is a chain of {chains[longest]:,} turns. It survives with {percent(LIKELY)} "
        f"only if each client comes with {_percent(needed)} or more.{way}"
    ]


def _turns(question: Question, tree: Topology) -> int:
    """Turns of clients one after the other in a round; by a list those of its own groups, else of nodes alike."""
    everyone = question.members
    if everyone is None or not all(everyone.everyone):
        return math.prod(tier.chain for tier in tree.tiers)
    turns = np.ones(int(everyone.children[-1].sizes.sum()))
    for tier, children in reversed(list(zip(tree.tiers, everyone.children, strict=True))):
        first = np.cumsum(children.sizes) - children.sizes
        turns = tier.passes * (np.add if tier.pattern.ordered else np.maximum).reduceat(turns, first)
    return int(turns[0])


def _percent(share: float) -> str:
    """With two digits of what is missing to 100 %, rounded up."""
    missing = 100 * (1 - share)
    digits = max(0, 1 - math.floor(math.log10(missing)))
    return f"{math.ceil((100 - missing) * 10**digits) / 10**digits:.{digits}f} %"
