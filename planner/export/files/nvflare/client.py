"""What runs at a site: it trains when asked."""

from __future__ import annotations

import platform
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
    took = {"seconds": time.perf_counter() - start, "machines": [platform.node()]}
    params = {str(i): array for i, array in enumerate(model)}
    flare.send(flare.FLModel(params=params, metrics=took))
