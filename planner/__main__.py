"""``python -m planner`` is ``hfl-plan``."""

from planner.cli.app import main

main()
