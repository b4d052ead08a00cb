"""What runs at the server: the loop over the tiers. Every model passes through here."""

from __future__ import annotations

import time
from pathlib import Path

from flwr.app import ArrayRecord, ConfigRecord, Context, Message, RecordDict
from flwr.serverapp import Grid, ServerApp

from hfl_app import task
from hfl_app.hierarchy import Done, Job, Model, read_plan, run, side_by_side

PLAN = read_plan(Path(__file__).with_name("plan.toml"))
POLL, LONGEST = 0.01, 3600.0  # seconds between two looks, and in all

app = ServerApp()


def ask(grid: Grid, node: int, kind: str, content: RecordDict) -> RecordDict:
    """Send a message, and wait for the answer."""
    message = Message(content=content, dst_node_id=node, message_type=kind)
    sent, end = list(grid.push_messages([message])), time.monotonic() + LONGEST
    while not (replies := list(grid.pull_messages(sent))):
        if time.monotonic() > end:
            raise RuntimeError(f"no answer from node {node}")
        time.sleep(POLL)
    if replies[0].has_error():
        raise RuntimeError(f"node {node}: {replies[0].error}")
    return replies[0].content


def nodes(grid: Grid) -> dict[int, int]:
    """Find the node of every client of the plan, once all are there."""
    clients: dict[int, int] = {}  # by node
    end = time.monotonic() + LONGEST
    while missing := set(range(len(PLAN.clients))) - set(clients.values()):
        if time.monotonic() > end:
            raise RuntimeError(f"no node came with partition {min(missing)}")
        time.sleep(10 * POLL)
        for node in set(grid.get_node_ids()) - clients.keys():
            said = ask(grid, node, "query", RecordDict())
            clients[node] = int(said["client"]["number"])
    return {client: node for node, client in clients.items()}


@app.main()
def main(grid: Grid, context: Context) -> None:
    """Run the rounds of the plan, or as many as the run's configuration says."""
    place = nodes(grid)

    def train(model: Model, job: Job) -> Done:
        asked = ConfigRecord(PLAN.asked(job))
        content = RecordDict({"model": ArrayRecord(model), "job": asked})
        answer = ask(grid, place[job.client], "train", content)
        returned = answer["model"].to_numpy_ndarrays()
        moved = sum(array.nbytes for array in (*model, *returned))
        return Done(returned, bytes=moved, **answer["took"])

    run(PLAN, task, train, Path.cwd(), int(context.run_config["rounds"]), side_by_side)
