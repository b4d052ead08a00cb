"""What runs at the server and at a site: the loop, and a ring that passes models on."""

from __future__ import annotations

import platform
import time
from pathlib import Path
from typing import Any

from nvflare.collab import collab

import task
from hierarchy import Done, Job, Model, read_plan, run, side_by_side

LONGEST = 3600.0  # seconds to wait for one job


class Server:
    """Any tree: sites are the clients of plan.toml, by name."""

    def __init__(self, plan: str, folder: str, rounds: int) -> None:
        """Keep where the plan is, where to write, and how many rounds to run."""
        self.plan, self.folder, self.rounds = plan, folder, rounds
        self.returned: dict[str, Model] = {}

    @collab.publish
    def give(self, model: Model) -> None:
        """Keep the model that the last site of a ring returns."""
        self.returned[collab.caller] = model

    @collab.main
    def main(self) -> None:
        """Run the rounds."""
        plan, folder = read_plan(Path(self.plan)), Path(self.folder)
        plan.tiers[-1]["chain"] = True
        sites = {site.name: site for site in collab.clients}

        def train(model: Model, *jobs: Job) -> Done:
            asked = [plan.asked(job) for job in jobs]
            first, last = asked[0]["client"], asked[-1]["client"]
            site = sites[first](timeout=LONGEST * len(asked))
            seconds, *machines = site.take(model, asked)
            returned = self.returned.pop(last)
            hop = sum(array.nbytes for array in (*model, *returned))  # up, and down
            return Done(returned, float(seconds), len(asked) * hop, machines)

        run(plan, task, train, folder, self.rounds, side_by_side)


class Client:
    """One site."""

    @collab.publish
    def take(self, model: Model, jobs: list[dict[str, Any]]) -> list[Any]:
        """Do the first job, and pass on; return the time of steps [s], and machines."""
        start = time.perf_counter()
        model = task.train(model, **jobs[0])
        took, rest = [time.perf_counter() - start, platform.node()], jobs[1:]
        if not rest:
            collab.server(timeout=LONGEST).give(model)
            return took
        (site,) = collab.get_clients([rest[0]["client"]])
        seconds, *machines = site(timeout=LONGEST * len(rest)).take(model, rest)
        return [took[0] + seconds, took[1], *machines]
