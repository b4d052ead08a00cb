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


def recipe(rounds: int | None = None) -> Recipe:
    """Make the job: one controller, and a script for every site."""
    plan = read_plan(HERE / "plan.toml")
    job = FedJob(name="hfl", min_clients=len(plan.clients))
    rounds = plan.rounds if rounds is None else rounds
    job.to(Hierarchy(str(HERE / "plan.toml"), str(HERE), rounds), "server")
    job.to("hierarchy.py", "server")
    job.to("task.py", "server")
    for site in plan.clients:
        job.to(ScriptRunner(script="client.py", framework="numpy"), site)
        job.to("task.py", site)
    return Recipe(job)


if __name__ == "__main__":
    sites = list(read_plan(HERE / "plan.toml").clients)
    env = SimEnv(
        clients=sites,
        num_threads=len(sites),  # with fewer, sites wait for each other
        workspace_root=str(HERE / "workspace"),
    )
    recipe(int(sys.argv[1]) if len(sys.argv) > 1 else None).execute(env)
