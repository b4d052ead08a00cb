"""Plain Python: one process, one client after the other."""

from planner.export.targets import Target

TARGET = Target(
    id="python",
    title="Python",
    most=20_000,
    says=(
        "Nothing is sent: `measured.json` has the time of the local steps and the metric, and no bytes. "
        "The predicted times are those of the planned network.",
    ),
)
