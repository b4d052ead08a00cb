"""What runs at a client: it says which partition it holds, and trains when asked."""

from __future__ import annotations

import platform
import time

from flwr.app import ArrayRecord, ConfigRecord, Context, Message, RecordDict
from flwr.clientapp import ClientApp

from hfl_app import task

app = ClientApp()


@app.query()
def partition(message: Message, context: Context) -> Message:
    """Say which client of plan.toml this is: its number, from 0."""
    said = ConfigRecord({"number": int(context.node_config["partition-id"])})
    return Message(content=RecordDict({"client": said}), reply_to=message)


@app.train()
def train(message: Message, context: Context) -> Message:
    """Take local steps."""
    model = message.content["model"].to_numpy_ndarrays()
    start = time.perf_counter()
    model = task.train(model, **message.content["job"])
    seconds = time.perf_counter() - start
    took = ConfigRecord({"seconds": seconds, "machines": [platform.node()]})
    content = RecordDict({"model": ArrayRecord(model), "took": took})
    return Message(content=content, reply_to=message)
