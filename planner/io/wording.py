"""Lists and names in sentences."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from decimal import ROUND_CEILING, Context
from typing import Any, TypeVar

from hflbounds.topology import Topology, plural
from planner.io.parts import Part

LINK_PARTS = {"up": "uplink", "down": "downlink", "latency": "latency", "rate": "rates"}
LINK_RATES = ("price", "energy")  # of what it carries
NAMES = {
    **{f"{who}_link.{part}": f"{who} {word}" for who in ("client", "server") for part, word in LINK_PARTS.items()},
    **{f"{who}_link.{part}": f"{part} of the {who} link" for who in ("client", "server") for part in LINK_RATES},
    "client_link.sharing": "link sharing",
    "server_link.sharing": "sharing of server links",
    "model_size": "model size",
    "step_time": "step time",
    "availability.detect": "wait for an absent device",
    "availability.timeout": "longest turn waited for",
    "absence.client": "absence of clients",
    "absence.server": "absence of group servers",
    "client_link.hop": "hop between clients",
    "server_link.hop": "hop between servers",
    "order": "order of rings",
    "access": "access of places",
    "cost": "time model",
    "scatter": "curvature scatter",
    "fading": "fading of deviations",
    "decay": "decay of the loss",
    "H": "deviation H of nodes",
    "per_hub": "most models of a hub",
}

UNNAMED = re.compile(r"tier \d+")  # nodes of a tier that nobody named
VALUES = "now", "break_even", "before", "clear", "toss_up", "beaten", "last", "low", "high"
Moved = TypeVar("Moved", bound=Part)
LARGE = 1e6  # from here on a number has an exponent, so that tables of huge fleets keep to a page


def input_words(parameter: str, tiers: Sequence[str] = ()) -> str:
    """Write a key of the scenario for people; of trees whose tiers have names, top first, with these names.

    >>> input_words("server_link.up"), input_words("step_time")
    ('server uplink', 'step time')
    >>> input_words("n2", ("region", "edge server", "phone")), input_words("link1.up", ("region", "site", "phone"))
    ('edge servers of a region', 'region uplink')
    >>> input_words("link1.up"), input_words("link1.sharing")
    ('tier 1 uplink', 'sharing of tier 1 links')
    >>> input_words("server_link.price"), input_words("link1.price")
    ('price of the server link', 'price of the tier 1 link')
    """
    named = re.fullmatch(r"link(\d)\.(up|down|latency|rate|sharing|hop|price|energy)", parameter)
    if named and not tiers:
        words = NAMES[f"server_link.{named[2]}"].replace("servers", f"nodes of tier {named[1]}")
        return words.replace("server", f"tier {named[1]}")
    return _of_tier(parameter, tiers) or NAMES.get(parameter, parameter.replace("_", " "))


def _of_tier(parameter: str, tiers: Sequence[str]) -> str:
    """The words of a number of a tier, by its name; empty where it has none, or is of no tier."""
    if ratio := re.fullmatch(r"delta(\d)\^2/delta(\d)\^2", parameter) if tiers else None:
        low, high = (tiers[int(digit) - 1] for digit in ratio.groups())
        return f"squared deviation of {several(low)} over {several(high)}"
    links = dict(zip(reversed(tiers), ("client_link", "server_link"), strict=False))
    for i, name in enumerate(tiers, 1):
        whose = f" of {a(tiers[i - 2])}" if i > 1 else ""
        link = links.get(name, f"link{i}")
        found = {
            f"n{i}": f"{several(name)}{whose}",
            f"S{i}": f"{several(name)}{whose} in a round",
            f"P{i}": f"passes{whose}",
            f"delta{i}": f"deviation of {several(name)}",
            **{f"{link}.{part}": f"{name} {word}" for part, word in LINK_PARTS.items()},
            **{f"{link}.{part}": f"{part} of the {name} link" for part in LINK_RATES},
        }.get(parameter)
        if found:
            return found
    return ""


def places(one: Part) -> dict[str, float]:
    """Return what a change, or a line, has of values of its input."""
    return {name: at for name in VALUES if isinstance(at := one.__dict__.get(name), float)}


def in_terms_of(metric: str, one: Moved) -> Moved:
    """Turn a target that was followed as a test error into the accuracy that is typed; others stay.

    A factor of test errors says nothing of accuracies.
    """
    told = one.__dict__
    if (told["parameter"], metric) != ("target", "accuracy"):
        return one
    turned: dict[str, Any] = {name: 1 - at for name, at in places(one).items()}
    if "stretches" in told:  # they go upwards
        turned |= {"low": turned["high"], "high": turned["low"], "note": f"as a test error; {told['note']}"}
        of_each = ((each, places(each)) for each in reversed(told["stretches"]))
        turned["stretches"] = tuple(s.replaced(low=1 - at["high"], high=1 - at["low"]) for s, at in of_each)
    return one.replaced(parameter="target_accuracy", unit="%", **turned, **dict.fromkeys(told.keys() & {"distance"}))


def join(words: Sequence[str], last: str = "and") -> str:
    """``A``, ``A and B``, ``A, B and C``."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {last} {words[-1]}"


def capital(text: str) -> str:
    """With a capital first letter."""
    return text[:1].upper() + text[1:]


def title(topology: str) -> str:
    """The name of a topology, by its id."""
    return Topology.parse(topology).title


def names(topologies: Iterable[str]) -> str:
    """The names of topologies, by their ids, joined."""
    return join([title(topology) for topology in topologies])


CASES = {"per-client": "own links", "per-server": "shared links"}  # values of link sharing in words


def names_or(topologies: Sequence[str]) -> str:
    """``Star-Ring``, ``Star-Star, Star-Ring or Ring-Ring``."""
    return join(list(map(title, topologies)), "or")


LISTED = 4  # topologies that a sentence names


def one_of(topologies: Sequence[str], most: int = LISTED) -> str:
    """The names of topologies of which any will do, or their number where there are many."""
    return f"any of {len(topologies)} topologies" if len(topologies) > most else names_or(topologies)


def times(ratio: float | None) -> str:
    """A ratio with two digits and its interval, if it has one: ``2.9x [1.4, 6]``, ``2.9x [1.4, no end]``."""
    if ratio is None:
        return "-"
    low, high = getattr(ratio, "low", None), getattr(ratio, "high", None)
    if low is None:
        return f"{two(ratio)}x"
    ends = _end(low), "no end" if high is None else _end(high)
    if ends[0] == ends[1]:  # narrower than one digit
        ends = two(low), two(high or low)
    return f"{two(ratio)}x [{', '.join(ends)}]"


def two(number: float) -> str:
    """A number with two digits: ``2.9``, ``14``, ``1,800``, and from a million on ``1.4e6``; near 1 in hundredths."""
    rounded = round(number, 2) if 0.95 <= number < 1.1 else float(f"{number:.2g}")
    if 0.95 <= rounded < 1.1 and rounded != 1:
        return f"{rounded:.2f}"
    if rounded >= LARGE:
        digits, _, power = f"{rounded:.1e}".partition("e+")
        return f"{digits.removesuffix('.0')}e{int(power)}"
    return f"{rounded:,.0f}" if rounded >= 10 or rounded == int(rounded) else f"{rounded:.2g}"


def duration(seconds: float) -> str:
    """Write a duration with two digits in one unit: ``8.1 h``.

    >>> duration(29160), duration(0.02), duration(3 * 86400), duration(35.9 * 3600)
    ('8.1 h', '20 ms', '3 d', '1.5 d')
    """
    for size, unit in ((3.15576e7, "y"), (86400, "d"), (3600, "h"), (60, "min"), (1, "s")):
        if seconds >= {"y": 2 * size, "d": 35.5 * 3600}.get(unit, size):  # what rounds to 36 h is 1.5 d
            return f"{two(seconds / size)} {unit}"
    return f"{two(seconds * 1e3)} ms" if seconds else "0 s"


def target_option(goal: float) -> str:
    """Write a target that is to be typed, with five digits rounded up, so that no more rounds are needed.

    >>> target_option(0.2426407), target_option(0.25)
    ('--target 0.24265', '--target 0.25')
    """
    digits = Context(prec=5, rounding=ROUND_CEILING).create_decimal_from_float(goal * (1 - 1e-9))
    return f"--target {float(digits):.5g}"


def _end(number: float) -> str:
    """An end of an interval: one digit below 1, else two; close to 1 with three, and with four where ties end."""
    return f"{number:.1g}" if number < 0.95 else f"{number:.4g}" if 1.015 <= number < 1.025 else two(number)


def join_with_limit(words: Sequence[str], most: int = 4) -> str:
    """The first of them, joined, and how many more there are."""
    left = len(words) - most
    return join(words) if left <= 1 else f"{', '.join(words[:most])} and {left} more"


def several(noun: str) -> str:
    """Write a noun, such as the name of a tier's nodes, for more than one; one that is so already stays.

    >>> several("edge server"), several("city"), several("phones"), several("tier 2")
    ('edge servers', 'cities', 'phones', 'nodes of tier 2')
    """
    return f"nodes of {noun}" if UNNAMED.fullmatch(noun) else plural(noun)


def a_group(names: Sequence[str]) -> str:
    """Name what clients are in, by the names of the tiers; a group where nobody named it.

    >>> a_group(("tier 1", "tier 2", "client")), a_group(("region", "edge server", "phone")), a_group(("client",))
    ('a group', 'an edge server', 'a fleet')
    """
    parent = ("fleet", *names)[-2]
    return a("group" if UNNAMED.fullmatch(parent) else parent)


def a(noun: str) -> str:
    """Put the indefinite article before a noun.

    >>> a("edge server"), a("phone"), a("tier 2")
    ('an edge server', 'a phone', 'a node of tier 2')
    """
    noun = f"node of {noun}" if UNNAMED.fullmatch(noun) else noun
    return f"{'an' if noun[:1].lower() in set('aeio') else 'a'} {noun}"


def counted(number: int, noun: str) -> str:
    """``1 group``, ``2 groups``, ``2 cities``."""
    return f"{number:,} {noun if number == 1 else several(noun)}"


def shape(tiers: Iterable[Sequence[int]]) -> str:
    """Children of the nodes of every tier, top first, such as ``3 x 4 to 20``."""
    return " x ".join(f"{min(tier)} to {max(tier)}" if min(tier) < max(tier) else f"{tier[0]}" for tier in tiers)


def percent(share: float, digits: int = 0) -> str:
    """A share of 0 to 1 as answers write it.

    >>> percent(0.845), percent(0.0123, 1)
    ('84 %', '1.2 %')
    """
    return f"{100 * share:.{digits}f} %"


def share(part: float) -> str:
    """A share above 0 in whole percent.

    >>> share(0.284), share(0.004)
    ('28 %', 'under 1 %')
    """
    return percent(part) if part >= 0.005 else "under 1 %"


def shortened(name: str, most: int = 40) -> str:
    """A name that is cut where it is long."""
    return name if len(name) <= most else name[: most - 3] + "..."
