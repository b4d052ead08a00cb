"""The tree of a fleet, top first: who stands where, over which link, and how long one model takes on every hop."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from hflbounds.topology import tier_symbols
from planner.errors import ScenarioError
from planner.io.wording import a
from planner.plot import COLUMN, FAINT, INK, Drawing, Picture, figure, plain, style
from planner.plot.lettering import heading, in_short, nodes
from planner.scenario.resolve import Scenario
from planner.scenario.units import format_duration, format_rate

SHOWN = 7  # children that are drawn of one node
SKY = "#0072B2"


@dataclass(frozen=True)
class Level:
    """One tier."""

    name: str  # of its nodes
    below: int  # how many there are below each node above, at most
    whole: int  # how many there are in all
    up: float | None  # and down: rates [bit/s]; None where nothing travels
    down: float | None
    sharing: str  # of the rate
    seconds_up: float  # and seconds_down: of one model over one hop when nobody else sends [s]
    seconds_down: float
    least: int = 0  # how many there are below some node above, where nodes differ; 0 where they do not


def of_scenario(scenario: Scenario) -> Picture:
    """The picture of a scenario.

    Raises:
        ScenarioError: Where the number of groups is still to be searched for.
    """
    if scenario.divisions:
        raise ScenarioError("this picture is of one division into groups. Give --groups and --clients-per-group.")
    size, levels, whole = scenario.number("model_size"), [], 1
    sizes = [[int(scenario.number(tier.size))] for tier in tier_symbols(scenario.depth)]
    if scenario.members is not None:
        sizes = [one.sizes.tolist() for one in scenario.members.children]
    for each, name, link in zip(sizes, scenario.names, scenario.network.links, strict=True):
        whole = sum(each) if scenario.members is not None else whole * each[0]
        below, least = max(each), min(each) if len(set(each)) > 1 else 0
        if link is None:
            levels.append(Level(plain(name, 16), below, whole, None, None, "", 0.0, 0.0, least))
            continue
        up, down = (link.latency + 8 * size / rate for rate in (link.up, link.down))
        levels.append(Level(plain(name, 16), below, whole, link.up, link.down, link.sharing, up, down, least))
    drawn, rows = draw(levels, in_short(scenario))
    said = "; ".join(
        f"{nodes(level.whole, level.name)}, a model up in {format_duration(level.seconds_up)}" for level in levels
    )
    return drawn, rows, f"A server, and below it {said}."


@style()
def draw(levels: list[Level], about: str = "") -> Drawing:
    """Draw a node of each tier with its children, and beside every hop the time of one model."""
    drawn, axes = figure(COLUMN, 0.9 + 0.85 * len(levels))
    axes.set_axis_off()
    axes.set(xlim=(-1.15, 2.3), ylim=(-len(levels) - 0.35, 0.35))
    slowest = max(range(len(levels)), key=lambda i: levels[i].seconds_up)
    axes.plot([0], [0], marker="s", color=SKY, markersize=9)
    axes.text(0.15, 0.02, "server", va="center", ha="left", size=7)
    for i, level in enumerate(levels):
        shown = min(level.below, SHOWN)
        places = [0.0] if shown == 1 else [2 * k / (shown - 1) - 1 for k in range(shown)]
        if shown % 2 == 0 and i < len(levels) - 1:  # the next tier hangs below a node in the middle
            places = [0.0 if k == shown // 2 else x for k, x in enumerate(places)]
        dots = level.below > shown
        for k, x in enumerate(places):
            if dots and k == shown - 2:
                axes.text(x, -i - 1, "...", ha="center", va="center", size=8)
                continue
            axes.plot([0, x], [-i, -i - 1], color=FAINT, linewidth=0.8 if i != slowest else 1.8, zorder=1)
            last = i == len(levels) - 1
            axes.plot([x], [-i - 1], marker="o" if last else "s", color=SKY, markersize=5 if last else 7, zorder=2)
        count = f"{level.least:,} to " * bool(level.least) + nodes(level.below, level.name) + (" each" if i else "")
        axes.text(1.2, -i - 0.93, count, ha="left", va="center", size=7, weight="bold")
        if level.up is not None:
            hop = f"up {format_duration(level.seconds_up)}, down {format_duration(level.seconds_down)}"
            shared = ", shared" if level.sharing == "per-server" else ""
            weight = "bold" if i == slowest else "normal"
            axes.text(1.2, -i - 0.42, hop, ha="left", va="center", size=6.5, color=INK, weight=weight)
            axes.text(
                1.2, -i - 0.62, f"{format_rate(level.up)} up{shared}", ha="left", va="center", size=6, color=FAINT
            )
    level = levels[slowest]
    message = f"One model takes longest from {a(level.name)} upwards: {format_duration(level.seconds_up)}"
    heading(drawn, message, about)
    return drawn, [asdict(level) for level in levels]
