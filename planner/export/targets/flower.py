"""Flower: the server asks one node at a time; no server for a group, no message from client to client."""

from planner.export.targets import Target, through_one_server

TARGET = Target(
    id="flower",
    title="Flower",
    most=1_000,
    files={
        "pyproject.toml": "flower/pyproject.toml",
        "run.py": "flower/run.py",
        "hfl_app/__init__.py": "flower/__init__.py",
        "hfl_app/server_app.py": "flower/server_app.py",
        "hfl_app/client_app.py": "flower/client_app.py",
        "hfl_app/hierarchy.py": "core/hierarchy.py",
        "hfl_app/task.py": "core/task.py",
        "hfl_app/plan.toml": "plan.toml",
    },
    says=(
        "Flower has no group servers and no messages between clients: every model goes to the one server and back. "
        "Priced so that the server's own line carries all clients at once, each at the rate of its link.",
    ),
    network=through_one_server,
)
