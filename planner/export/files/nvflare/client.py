"""What runs at a site: it trains when asked."""

from __future__ import annotations

import time

import numpy as np
import nvflare.client as flare

import task

flare.init()
while flare.is_running():
    got = flare.receive()
    if got is None:
        break
    model = [np.asarray(got.params[str(i)]) for i in range(len(got.params))]
    start = time.perf_counter()
    model = task.train(model, **got.meta["job"])
    params = {str(i): array for i, array in enumerate(model)}
    took = {"seconds": time.perf_counter() - start}
    flare.send(flare.FLModel(params=params, metrics=took))
