"""``python -m planner`` is ``hfl-plan``."""

from planner.cli import main

main()
