"""Projects that run a plan: a common core, and one file of `planner.export.targets` for every system that runs it."""
