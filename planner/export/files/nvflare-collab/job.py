"""Run the job on this machine, in NVFlare's simulator: python job.py [ROUNDS]."""

from __future__ import annotations

import argparse
from pathlib import Path

from nvflare.collab import CollabRecipe
from nvflare.recipe.sim_env import SimEnv

from app import Client, Server
from hierarchy import read_plan

HERE = Path(__file__).resolve().parent
PLAN = read_plan(HERE / "plan.toml")
START = 120  # seconds until all sites must be there


def recipe(rounds: int = PLAN.rounds) -> CollabRecipe:
    """Make the job: an object for the server, and one for every site."""
    made = CollabRecipe(
        job_name="hfl",
        server=Server(str(HERE / "plan.toml"), str(HERE), rounds),
        client=Client(),
        min_clients=len(PLAN.clients),
        max_call_threads_for_server=len(PLAN.clients),
        sync_task_timeout=START,
    )
    for name in ("hierarchy.py", "task.py"):
        made.add_server_file(name)
        made.add_client_file(name)
    return made


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "rounds", nargs="?", type=int, default=PLAN.rounds, metavar="ROUNDS"
    )
    env = SimEnv(
        clients=list(PLAN.clients),
        num_threads=len(PLAN.clients),  # with fewer, sites wait for each other
        workspace_root=str(HERE / "workspace"),
    )
    recipe(parser.parse_args().rounds).execute(env)
