"""Run the app on this machine, in Flower's simulation: python run.py [ROUNDS]."""

from __future__ import annotations

import sys

from flwr.app import Context
from flwr.serverapp import Grid, ServerApp
from flwr.simulation import run_simulation

from hfl_app.client_app import app as client
from hfl_app.server_app import PLAN, main


def simulate(rounds: int) -> None:
    """Run the server and as many clients as the plan has."""
    server = ServerApp()

    @server.main()
    def configured(grid: Grid, context: Context) -> None:
        context.run_config = {"rounds": rounds}  # a simulation has no pyproject.toml
        main(grid, context)

    one = {"client_resources": {"num_cpus": 1, "num_gpus": 0.0}}
    run_simulation(server, client, len(PLAN.clients), backend_config=one)


if __name__ == "__main__":
    simulate(int(sys.argv[1]) if len(sys.argv) > 1 else PLAN.rounds)
