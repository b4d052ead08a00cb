"""Run the plan on this machine, one client after the other: python run.py [ROUNDS]."""

from __future__ import annotations

import sys
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
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else None
    run(PLAN, task.initial_model(), train, task.evaluate, HERE, rounds)
