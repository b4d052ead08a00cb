"""Run the plan on this machine, one client after the other: python run.py [ROUNDS]."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import task
from hierarchy import Done, Job, Model, read_plan, run

HERE = Path(__file__).parent
PLAN = read_plan(HERE / "plan.toml")


def train(model: Model, job: Job) -> Done:
    """Ask one client."""
    start = time.perf_counter()
    model = task.train(model, **PLAN.asked(job))
    return Done(model, time.perf_counter() - start)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    words = "stop after so many [those of the plan]"
    parser.add_argument(
        "rounds", nargs="?", type=int, default=PLAN.rounds, metavar="ROUNDS", help=words
    )
    rounds = parser.parse_args().rounds
    if rounds < 1:
        parser.error(f"ROUNDS: {rounds} is not 1 or more")
    run(PLAN, task, train, HERE, rounds)
