"""Two tiers, each a star or a ring (zhou2026, Section 2.1, Algorithms 1-4)."""

from planner.topologies import Topology

star_star = Topology(
    "star-star", "Star-Star", "star", "star", "groups in parallel, clients in parallel: hierarchical FedAvg"
)
star_ring = Topology(
    "star-ring",
    "Star-Ring",
    "star",
    "ring",
    "groups in parallel, the model passed from client to client inside",
)
ring_star = Topology(
    "ring-star",
    "Ring-Star",
    "ring",
    "star",
    "the model passed from group to group, clients in parallel inside",
)
ring_ring = Topology(
    "ring-ring", "Ring-Ring", "ring", "ring", "the model passed from group to group and from client to client"
)
