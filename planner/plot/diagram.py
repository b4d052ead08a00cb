"""The four topologies, drawn: who talks to whom, for a few groups of a few clients."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from hflbounds.topology import Topology, all_topologies
from planner.plot import COLUMN, FAINT, Rows, figure, looks, panel_letter, posed, style
from planner.scenario.resolve import Scenario

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GROUPS = 1.1  # the height that groups are drawn at
MOST = 3  # groups, and clients of each, that are drawn where there are more
Place = tuple[float, float]


@dataclass(frozen=True)
class Edge:
    """A link of a topology."""

    topology: str
    tier: str  # ``top`` or ``low``
    source: str  # ``server``, ``group 1``, ``client 1.2``
    target: str  # as `source`
    way: str  # ``both`` where a model goes down and comes back, ``on`` where it is passed on


def of_scenario(scenario: Scenario) -> tuple[Figure, Rows, str]:
    """The topologies with as many groups and clients of a scenario as a picture holds."""
    scenario, _ = posed(scenario)
    G, M = (int(scenario.number(name)) for name in ("G", "M"))
    drawn, rows = draw(G, M, scenario.network.tiers)
    meanings = "; ".join(f"{t.title}: {t.meaning('group', 'client')}" for t in all_topologies(2).values())
    return drawn, rows, f"{_counts(G, M)}. {meanings}."


@style()
def draw(G: int, M: int, tiers: int = 2) -> tuple[Figure, Rows]:
    """Draw a panel for each topology of G groups of M clients; with 1 tier these talk to the server."""
    from matplotlib.lines import Line2D

    kinds = list(all_topologies(2).values())
    drawn, panels = figure(COLUMN, 0.9 + 1.55 * -(-len(kinds) // 2), across=2, down=-(-len(kinds) // 2))
    rows: list[dict[str, Any]] = []
    for axes, letter, kind in zip(panels.flat, "abcdefgh", kinds, strict=False):
        look = looks([kind.id])[kind.id]
        places = _places(min(G, MOST), min(M, MOST), kind.patterns[0].ordered)
        edges = list(_edges(kind, min(G, MOST), min(M, MOST)))
        for edge in edges:
            _arrow(axes, places[edge.source], places[edge.target], edge, look.color)
        for name, (x, y) in places.items():
            marker, size = ("s", 9) if name == "server" else ("s", 6) if name.startswith("group") else ("o", 5)
            hollow = name.startswith("group") and tiers == 1
            face = "white" if hollow else "black" if marker == "s" else look.color
            axes.plot([x], [y], marker=marker, markersize=size, color="black", markerfacecolor=face, zorder=3)
        if G > MOST:
            axes.text(1.28, 0.93, "...", ha="center", va="center", size=9, color=FAINT)
        axes.set(xlim=(-1.35, 1.4), ylim=(0.0, 2.2))
        axes.axis("off")
        axes.set_title(kind.title)
        panel_letter(axes, letter)
        rows += [asdict(edge) for edge in edges]
    server = "server" if tiers == 2 else "server; hollow: a group without its own"
    keys = [
        Line2D([], [], linestyle="", marker="s", color="black", label=f"{server}"),
        Line2D([], [], linestyle="", marker="o", color="black", markerfacecolor="white", label="client"),
    ]
    drawn.legend(handles=keys, loc="outside lower center", ncols=2, title=_counts(G, M), title_fontsize=7)
    return drawn, rows


def _counts(G: int, M: int) -> str:
    words = f"{G:,} group{'s' if G > 1 else ''} of {M:,} client{'s' if M > 1 else ''}"
    return words if max(G, M) <= MOST else f"{words}; drawn: {min(G, MOST)} of {min(M, MOST)}"


def _places(G: int, M: int, ring: bool) -> dict[str, Place]:
    """Where everything is: the server on top, groups below it, each with its clients in a fan."""
    found = {} if ring else {"server": (0.0, 2.0)}
    for g in range(1, G + 1):
        x = 0.0 if G == 1 else -1.0 + 2.0 * (g - 1) / (G - 1)
        found[f"group {g}"] = (x, GROUPS)
        for m in range(1, M + 1):
            angle = math.pi * (1.5 if M == 1 else 1.25 + 0.5 * (m - 1) / (M - 1))
            found[f"client {g}.{m}"] = (x + 0.42 * math.cos(angle) * 0.95, GROUPS + 0.85 * math.sin(angle))
    return found


def _edges(kind: Topology, G: int, M: int) -> Iterator[Edge]:
    groups = [f"group {g}" for g in range(1, G + 1)]
    if not kind.patterns[0].ordered:
        yield from (Edge(kind.id, "top", "server", group, "both") for group in groups)
    else:
        passed = zip(groups, [*groups[1:], groups[0]], strict=True)
        yield from (Edge(kind.id, "top", a, b, "on") for a, b in passed if a != b)
    for g, group in enumerate(groups, 1):
        clients = [f"client {g}.{m}" for m in range(1, M + 1)]
        if not kind.patterns[-1].ordered:
            yield from (Edge(kind.id, "low", group, client, "both") for client in clients)
        else:
            stops = [group, *clients, group]
            yield from (Edge(kind.id, "low", a, b, "on") for a, b in pairwise(stops))


def _arrow(axes: Any, source: Place, target: Place, edge: Edge, color: str) -> None:
    straight = edge.way == "both" or (edge.tier == "top" and source < target)
    bend = 0.0 if straight else -0.15 if edge.tier == "low" else 0.5  # the last group's way back goes over the others
    arrow = {
        "arrowstyle": "<|-|>" if edge.way == "both" else "-|>",
        "color": color,
        "linewidth": 1.4 if edge.tier == "top" else 0.9,
        **{"mutation_scale": 6, "shrinkA": 4, "shrinkB": 4, "connectionstyle": f"arc3,rad={bend}"},
    }
    axes.annotate("", xy=target, xytext=source, arrowprops=arrow, zorder=2)
