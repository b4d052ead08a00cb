"""The topologies of a tree, drawn: who talks to whom, for a few children of every node."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from hflbounds.topology import Topology, all_topologies
from planner.errors import ScenarioError
from planner.io.wording import counted, join
from planner.plot import COLUMN, FAINT, PAGE, Drawing, Picture, figure, looks, panel_letter, posed, style
from planner.plot.lettering import heading
from planner.scenario.resolve import Scenario

MOST = {1: 4, 2: 3, 3: 2}  # children of each node that are drawn where there are more, by number of tiers
TIERS = {1: ("low",), 2: ("top", "low"), 3: ("top", "middle", "low")}
ROWS = {1: (1.1,), 2: (1.1,), 3: (1.55, 0.95)}  # heights of what is drawn in rows below the root, which is at 2
WIDTHS = {1: (1.0,), 2: (1.0,), 3: (0.7, 0.37)}  # half of what the children of a node take
FAN = {2: (0.399, 0.85), 3: (0.22, 0.8)}  # half axes of the fan of clients below their server
Place = tuple[float, float]
Node = tuple[int, ...]  # the way from the root


def of_scenario(scenario: Scenario) -> Picture:
    """The topologies with as many children on every tier of a scenario as a picture holds.

    Raises:
        ScenarioError: if there are more tiers than a picture holds.
    """
    scenario, question = posed(scenario)
    sizes = [int(scenario.number(tier.size)) for tier in question.symbols]
    kinds = {id_: t for id_, t in all_topologies(len(sizes)).items() if id_ in (scenario.topologies or [id_])}
    hollow = len(sizes) > 1 and scenario.network.links[0] is None
    drawn, rows = draw(*sizes, names=scenario.names, kinds=kinds, hollow=hollow)
    meanings = "; ".join(f"{t.title}: {t.meaning(*scenario.names)}" for t in kinds.values())
    return drawn, rows, f"{_counts(sizes, scenario.names)}. {meanings}."


@style()
def draw(
    *sizes: int,
    names: Sequence[str] = ("group", "client"),
    kinds: Mapping[str, Topology] | None = None,
    hollow: bool = False,
) -> Drawing:
    """Draw a panel for each topology, of some kinds or all of this depth, by the children of each node, top tier first.

    In ``hollow`` trees groups have no server: the clients talk to the root in its place.

    Raises:
        ScenarioError: if there are more tiers than a picture holds.
    """
    from matplotlib.lines import Line2D

    depth = len(sizes)
    if depth not in MOST:
        raise ScenarioError(
            f"a diagram shows at most {max(MOST)} tiers, and this fleet has {depth}. Draw its top tiers.", code="E004"
        )
    kinds = all_topologies(depth) if kinds is None else kinds
    shown, across = [min(size, MOST[depth]) for size in sizes], 4 if len(kinds) > 4 else min(2, len(kinds))
    down = -(-len(kinds) // across)
    drawn, panels = figure(PAGE if across > 2 else COLUMN, 1.2 + 1.5 * down, across=across, down=down)
    rows: list[dict[str, Any]] = []
    for axes, letter, kind in zip(np.ravel(panels), "abcdefgh", kinds.values(), strict=False):
        look = looks([kind.id])[kind.id]
        places = {node: place for node, place in _places(shown) if node or not kind.patterns[0].ordered}
        for tier, source, target, way in _links(kind, shown):
            _arrow(axes, places[source], places[target], tier, way, look.color)
            ends = {"source": _name(source, names), "target": _name(target, names)}
            rows.append({"topology": kind.id, "tier": TIERS[depth][tier], **ends, "way": way})
        for node, (x, y) in places.items():
            leaf, empty = len(node) == depth, hollow and len(node) == 1
            marks: Any = {"marker": "o", "markersize": 5} if leaf else {"marker": "s", "markersize": 6 if node else 9}
            face = look.color if leaf else "white" if empty else "black"
            axes.plot([x], [y], color="black", markerfacecolor=face, **marks, zorder=3)
        if sizes[0] > shown[0]:
            axes.text(1.28, 0.93 if depth < 3 else ROWS[3][0], "...", ha="center", va="center", size=9, color=FAINT)
        axes.set(xlim=(-1.35, 1.4), ylim=(0.0, 2.2))
        axes.axis("off")
        axes.set_title(kind.title, loc="center" if depth < 3 else "right")
        panel_letter(axes, letter)
    server = ", ".join(["server", *(names[:-1] if depth > 2 else ())])
    server += "; hollow: a group without its own" if hollow else ""
    keys = [
        Line2D([], [], linestyle="", marker="s", color="black", label=server),
        Line2D([], [], linestyle="", marker="o", color="black", markerfacecolor="white", label=names[-1]),
    ]
    drawn.legend(handles=keys, loc="outside lower center", ncols=2)
    heading(drawn, "Who sends the model to whom in a round", _counts(sizes, names))
    return drawn, rows


def _name(node: Node, names: Sequence[str]) -> str:
    return f"{names[len(node) - 1]} {'.'.join(map(str, node))}" if node else "server"


def _counts(sizes: Sequence[int], names: Sequence[str]) -> str:
    words = " of ".join(counted(size, name) for size, name in zip(sizes, names, strict=True))
    most = MOST.get(len(sizes), 0)
    cut = [f"{most} of {counted(size, name)}" for size, name in zip(sizes, names, strict=True) if size > most]
    return f"{words}; drawn: {join(cut)}" if cut else f"{words}; all drawn"


def _places(sizes: Sequence[int], node: Node = (), x: float = 0.0) -> Iterator[tuple[Node, Place]]:
    """Where everything is: the server on top, rows of nodes below it, clients in a fan below theirs."""
    depth, tier = len(sizes), len(node)
    y = 2.0 if not node else ROWS[depth][tier - 1]
    yield node, (x, y)
    size = sizes[tier]
    for i in range(size):
        child, along = (*node, i + 1), 0.0 if size == 1 else 2.0 * i / (size - 1) - 1.0
        if tier < len(WIDTHS[depth]):
            at = x + WIDTHS[depth][tier] * along
            if tier + 1 < depth:
                yield from _places(sizes, child, at)
            else:
                yield child, (at, ROWS[depth][tier])
        else:
            wide, high = FAN[depth]
            angle = math.pi * (1.5 + 0.25 * along)
            yield child, (x + wide * math.cos(angle), y + high * math.sin(angle))


def _links(kind: Topology, sizes: Sequence[int], node: Node = ()) -> Iterator[tuple[int, Node, Node, str]]:
    """Every link: its tier, its ends and its way. A ring at the top closes; a lower one begins and ends at its node.

    The way is ``both`` where a model goes down and comes back, ``on`` where it is passed on.
    """
    tier = len(node)
    children = [(*node, i + 1) for i in range(sizes[tier])]
    if not kind.patterns[tier].ordered:
        yield from ((tier, node, child, "both") for child in children)
    else:
        stops = [*children, children[0]] if not node else [node, *children, node]
        yield from ((tier, a, b, "on") for a, b in pairwise(stops) if a != b)
    if tier + 1 < len(sizes):
        for child in children:
            yield from _links(kind, sizes, child)


def _arrow(axes: Any, source: Place, target: Place, tier: int, way: str, color: str) -> None:
    straight = way == "both" or (tier == 0 and source < target)
    bend = 0.0 if straight else -0.15 if tier else 0.5  # the last one's way back to the first goes over the others
    heads, wide = "<|-|>" if way == "both" else "-|>", 0.9 if tier else 1.4
    look = {"arrowstyle": heads, "color": color, "linewidth": wide, "connectionstyle": f"arc3,rad={bend}"}
    axes.annotate("", target, source, arrowprops={**look, "mutation_scale": 6, "shrinkA": 4, "shrinkB": 4}, zorder=2)
