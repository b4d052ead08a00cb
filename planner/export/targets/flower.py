"""Flower: the server asks one node at a time; no server for a group, no message from client to client."""

from planner.export.targets import Target, through_one_server

TARGET = Target(
    id="flower",
    title="Flower",
    most=1_000,
    says=(
        "Flower has no group servers and no messages between clients: every model goes to the one server and back. "
        "Priced so that the server's own line carries all clients at once, each at the rate of its link.",
    ),
    network=through_one_server,
    inside="hfl_app/",
)
