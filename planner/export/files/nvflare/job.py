"""Run the job on this machine, in NVFlare's simulator: python job.py [ROUNDS]."""

from __future__ import annotations

import sys
from pathlib import Path

from nvflare.job_config.api import FedJob
from nvflare.job_config.script_runner import ScriptRunner
from nvflare.recipe.sim_env import SimEnv
from nvflare.recipe.spec import Recipe

from controller import Hierarchy
from hierarchy import read_plan

HERE = Path(__file__).resolve().parent
PLAN = read_plan(HERE / "plan.toml")


def recipe(rounds: int = PLAN.rounds) -> Recipe:
    """Make the job: one controller, and a script for every site."""
    job = FedJob(name="hfl", min_clients=len(PLAN.clients))
    job.to(Hierarchy(str(HERE / "plan.toml"), str(HERE), rounds), "server")
    job.to("hierarchy.py", "server")
    job.to("task.py", "server")
    for site in PLAN.clients:
        job.to(ScriptRunner(script="client.py", framework="numpy"), site)
        job.to("task.py", site)
    return Recipe(job)


if __name__ == "__main__":
    env = SimEnv(
        clients=list(PLAN.clients),
        num_threads=len(PLAN.clients),  # with fewer, sites wait for each other
        workspace_root=str(HERE / "workspace"),
    )
    recipe(int(sys.argv[1]) if len(sys.argv) > 1 else PLAN.rounds).execute(env)
