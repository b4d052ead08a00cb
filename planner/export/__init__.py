"""Projects that run a plan: a common core, and one file of `planner.export.targets` for every system that runs it."""

from planner.io.packages import called

called(__name__)
