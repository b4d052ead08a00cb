"""Cycle times of overlays on five networks, against the table that was published of them.

    python benchmarks/published_overlays.py                     # the table, in Markdown; half a minute
    python benchmarks/published_overlays.py --write docs/evidence/cycle-times.md    # between its two marks

Published: Do and others, Reducing Training Time in Cross-Silo Federated Learning Using Multigraph Topology, ICCV 2023,
Table 3 (STAR, MATCHA, MST, delta-MBST, RING), whose model sizes, step times and rule of delays are those of Marfoq and
others, NeurIPS 2020. networkx is needed beside the planner: the ring of the source is Christofides' tour, and its
server the node of most load, neither of which the planner wants for itself.
"""

from __future__ import annotations

import argparse
import csv
from itertools import pairwise
from pathlib import Path

import networkx as nx
import numpy as np

from planner.network import overlays
from planner.network.hops import Transfers
from planner.network.presets import preset
from planner.network.read import Filling

HERE = Path(__file__).parent
MODELS = {"FEMNIST": (4_843_243, 4.6e-3), "Sentiment140": (19_269_416, 9.8e-3), "iNaturalist": (44_961_717, 25.4e-3)}
START, END = "<!-- table: python benchmarks/published_overlays.py -->", "<!-- end -->"
WITHIN = {"star": (0.0, 0.1), "tree": (0.02, 0.0), "delta-tree": (0.02, 0.0), "ring": (0.02, 0.0)}  # share, ms


class Place:
    """One model on one network."""

    def __init__(self, model: str, network: str) -> None:
        self.bits, self.work = MODELS[model]
        # As the source has it: a model is stored at every place on its way, so that no links are shared.
        self.network = preset(network, Filling(stored=True))
        self.n = len(self.network.places)
        self.nodes, self.transfers = np.arange(self.n), Transfers(self.network, self.bits)
        self.latency, self.per_bit = self.network.between(self.nodes, self.nodes)
        self.alone = self.work + self.latency + self.bits * self.per_bit
        self.graph = nx.from_numpy_array(np.where(np.eye(self.n, dtype=bool), 0, self.alone))
        for a, b, data in self.graph.edges(data=True):
            data["latency"] = self.latency[a, b]

    @property
    def server(self) -> int:
        """The node of most load by latency, as the source chooses it."""
        load = nx.load_centrality(self.graph, weight="latency")
        return max(load, key=load.get)

    def star(self, server: int) -> float:
        """A star as the planner has it, by the source's rule for its cycle [s]."""
        others = np.delete(self.nodes, server)
        return 2 * float(self.transfers.from_server(server, others).max()) + self.work

    def star_of_the_source(self, server: int) -> float:
        """The same as the source computes it [s].

        It takes the way from the server to a node over other nodes where that is shorter by work, latency and
        transfer, adds up the latencies, and counts the transfer of the last leg alone.
        """
        slowest = 0.0
        for node, path in nx.single_source_dijkstra_path(self.graph, server, weight="weight").items():
            if node != server:
                legs = list(pairwise(path))
                latency = sum(float(self.latency[leg]) for leg in legs)
                access = (self.n - 1) * self.bits / float(self.network.up[server])
                slowest = max(slowest, latency + max(access, self.bits * float(self.per_bit[legs[-1]])))
        return 2 * slowest + self.work

    def ring_of_the_source(self) -> float:
        """The mean hop of Christofides' tour [s]."""
        hops = self.work + self.transfers.hops(np.arange(self.n), np.arange(self.n))
        tour = nx.approximation.christofides(nx.from_numpy_array(np.where(np.eye(self.n, dtype=bool), 0, hops)))
        return sum(hops[a, b] for a, b in pairwise(tour)) / self.n

    def found(self) -> dict[str, float | str]:
        """All columns [ms]."""
        work = np.full(self.n, self.work)
        server = self.server
        at = [self.star(s) for s in self.nodes]
        best = int(np.argmin(at))
        args = self.transfers, self.nodes, work
        alone = overlays.pairwise(*args)
        tree = overlays.spanning_tree(alone)
        seconds = {
            "star": at[server],
            "star, their way": self.star_of_the_source(server),
            "star, best place": at[best],
            "ring, Christofides": self.ring_of_the_source(),
            "ring": overlays.ring(*args).cycle,
            "tree": float(overlays.cycle_time(overlays.delays(*args, tree))),
            "delta-tree": overlays.delta_tree(*args).cycle,
            "matcha": overlays.of_matchings(*args).cycle,
        }
        return {name: 1e3 * value for name, value in seconds.items()} | {
            "server": self.network.places[server],
            "best place": self.network.places[best] if best != server else "the same",
        }


def published() -> list[dict[str, str]]:
    """The published rows."""
    with (HERE / "published_overlays.csv").open() as file:
        return list(csv.DictReader(file))


def close(kind: str, found: float, printed: float) -> bool:
    """Whether a number is within what is asked of its column; the print has one decimal."""
    share, more = WITHIN[kind]
    return abs(found - printed) <= share * printed + more


def line(row: dict[str, str], got: dict[str, float | str]) -> str:
    """A row of the table: what was published, and what was found."""
    star = f"{got['star']:.1f}"
    if not close("star", float(got["star"]), float(row["star"])):
        star += f" ({got['star, their way']:.1f})"
    best = f"{got['star, best place']:.1f}" + ("" if got["best place"] == "the same" else f", {got['best place']}")
    cells = (
        f"{row['model']}, {row['network']}", row["star"], star, best,
        row["ring"], f"{got['ring, Christofides']:.1f}", f"{got['ring']:.1f}",
        row["tree"], f"{got['tree']:.1f}", row["delta-tree"], f"{got['delta-tree']:.1f}",
        row["matcha"], f"{got['matcha']:.1f}",
    )  # fmt: skip
    return "| " + " | ".join(cells) + " |"


def table() -> str:
    """All places, published numbers first."""
    heads = (
        "model, network", "STAR", "here", "from the best place", "RING", "Christofides", "shortest tour",
        "MST", "here", "delta-MBST", "here", "MATCHA", "here",
    )  # fmt: skip
    lines = ["| " + " | ".join(heads) + " |", "|---|" + "---:|" * (len(heads) - 1)]
    lines += [line(row, Place(row["model"], row["network"]).found()) for row in published()]
    return "\n".join(lines)


def main() -> None:
    """Print the table, or put it into a page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", type=Path, help="page that has the two marks")
    page = parser.parse_args().write
    found = table()
    if page is None:
        print(found)
        return
    before, rest = page.read_text().split(START)
    page.write_text(f"{before}{START}\n\n{found}\n\n{END}{rest.partition(END)[2]}")


if __name__ == "__main__":
    main()
