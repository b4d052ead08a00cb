"""NVFlare: one controller asks one site at a time; no server for a group, no message from site to site."""

from planner.export.targets import Target, through_one_server

TARGET = Target(
    id="nvflare",
    title="NVFlare",
    most=200,
    says=(
        "The controller asks every site itself, with no group servers and no messages between sites: every model goes "
        "to the one server and back. Priced so that the server's own line carries all sites at once, each at the "
        "rate of its link.",
    ),
    network=through_one_server,
    name_rule="(?!server$)[A-Za-z][A-Za-z0-9_-]{0,62}",  # NVFlare's own server is called server
)
