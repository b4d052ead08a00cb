"""NVFlare's Collab API: sites of a ring call each other; the messages pass through the server all the same."""

from dataclasses import replace

from planner.export.targets.nvflare import TARGET as NVFLARE

TARGET = replace(
    NVFLARE,
    id="nvflare-collab",
    title="NVFlare, Collab API",
    says=(
        "Sites of a ring call each other, and there are no group servers. NVFlare carries messages between sites "
        "through the one server, so a hop is two transfers. Priced so that the server's own line carries all sites at "
        "once, each at the rate of its link.",
    ),
)
