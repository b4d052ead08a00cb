"""What runs at the server: the loop over the tiers. Every model passes through here."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
from nvflare.app_common.abstract.fl_model import FLModel
from nvflare.app_common.workflows.model_controller import ModelController

import task
from hierarchy import Done, Job, Model, read_plan, run, side_by_side

POLL, LONGEST = 0.005, 3600.0  # seconds between two looks for an answer, and in all


class Hierarchy(ModelController):  # type: ignore[misc]
    """Any tree: sites are the clients of plan.toml, by name."""

    def __init__(self, plan: str, folder: str, rounds: int) -> None:
        """Keep where the plan is, where to write, and how many rounds to run."""
        super().__init__(persistor_id="")
        self.plan, self.folder, self.rounds = plan, folder, rounds

    def run(self) -> None:
        """Run the rounds."""
        plan, folder = read_plan(Path(self.plan)), Path(self.folder)

        def train(model: Model, job: Job) -> Done:
            asked = plan.asked(job)
            answers: list[FLModel] = []
            params = {str(i): array for i, array in enumerate(model)}
            data = FLModel(params=params, current_round=job.round, meta={"job": asked})
            self.send_model(
                targets=[asked["client"]], data=data, callback=answers.append
            )
            end = time.monotonic() + LONGEST
            while not answers:
                if self.abort_signal.triggered or time.monotonic() > end:
                    raise RuntimeError(f"no answer from {asked['client']}")
                time.sleep(POLL)
            got: dict[str, Any] = answers[0].params
            returned = [np.asarray(got[str(i)]) for i in range(len(got))]
            moved = sum(array.nbytes for array in (*model, *returned))
            return Done(returned, bytes=moved, **answers[0].metrics)

        run(plan, task, train, folder, self.rounds, side_by_side)
