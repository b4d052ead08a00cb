"""Bytes of a round: every traversal of a link counted."""

import pytest
from cost_oracle import TOPOLOGIES, phones, round_cost

from planner.scenario.network import Compute, Link, Network


def test_flagship_bytes():
    """Product note F6: 54.8 GB, and 29.0 GB with direct hops in the groups."""
    # 2 * 12 + 2 * 12 * 2 * 25 = 1224 models; 2 * 12 + 2 * 12 * 26 = 648 models of 44.8 MB
    star = round_cost("star-star", **phones())
    assert star.bytes == 1224 * 44.8e6
    assert round(star.bytes / 1e9, 1) == 54.8
    direct = round_cost("star-ring", **phones(hop="direct"))
    assert direct.bytes == 648 * 44.8e6
    assert round(direct.bytes / 1e9, 1) == 29.0
    assert round_cost("star-ring", **phones()).bytes == star.bytes  # relayed hops save nothing


@pytest.mark.parametrize(
    ("topology", "client_hop", "server_hop", "tiers", "client", "server"),
    [
        # G = 3, M = 4, P = 2: client links P * G * (2 M | M + 1), server links 2 G | G + 1
        ("star-star", "direct", "direct", 2, 48, 6),
        ("star-star", "relayed", "relayed", 2, 48, 6),
        ("star-ring", "direct", "direct", 2, 30, 6),
        ("star-ring", "relayed", "direct", 2, 48, 6),
        ("ring-star", "direct", "direct", 2, 48, 4),
        ("ring-star", "direct", "relayed", 2, 48, 6),
        ("ring-ring", "direct", "direct", 2, 30, 4),
        ("ring-ring", "relayed", "relayed", 2, 48, 6),
        ("star-star", "direct", "direct", 1, 48, 0),
        ("star-ring", "direct", "direct", 1, 30, 0),
        ("ring-star", "relayed", "relayed", 1, 48, 0),
        ("ring-ring", "relayed", "relayed", 1, 48, 0),
    ],
)
def test_bytes(topology, client_hop, server_hop, tiers, client, server):
    network = Network.two_tier(tiers, Link(1.0, 1.0, hop=client_hop), Link(1.0, 1.0, hop=server_hop))
    result = round_cost(topology, G=3, M=4, P=2, K=1, network=network, compute=Compute(1.0), model_bytes=10.0)
    assert result.bytes_by_tier == (server * 10.0, client * 10.0)
    assert result.bytes == (client + server) * 10.0


def test_one_tier_needs_no_server_link_and_pays_nothing_for_one():
    client = Link(2.0, 4.0, 0.5)
    arguments = {"G": 3, "M": 2, "P": 2, "K": 1, "compute": Compute(1.0), "model_bytes": 1.0}
    for topology in TOPOLOGIES:
        without = round_cost(topology, network=Network.two_tier(1, client), **arguments)
        ignored = round_cost(topology, network=Network.two_tier(1, client, Link(1e-3, 1e-3, 9.0)), **arguments)
        assert without == ignored
    # star: 8/4 + 0.5 + 1 + 8/2 + 0.5 = 8 s per group round; relayed ring of two: 3 + 5 + 1 + 4.5 + 2.5
    assert round_cost("star-star", network=Network.two_tier(1, client), **arguments).seconds == 2 * 8.0
    assert round_cost("ring-star", network=Network.two_tier(1, client), **arguments).seconds == 6 * 8.0
    assert round_cost("star-ring", network=Network.two_tier(1, client), **arguments).seconds == 2 * 16.0
