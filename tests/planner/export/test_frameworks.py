"""Exported projects run by Flower and NVFlare, in environments of their own, against the literal reference.

python -m venv /tmp/flower && /tmp/flower/bin/pip install "flwr[simulation]==1.41.0" "numpy>=1.26"
python -m venv /tmp/nvflare && /tmp/nvflare/bin/pip install "nvflare==2.9.0" "numpy>=1.26"
FLOWER_PYTHON=/tmp/flower/bin/python NVFLARE_PYTHON=/tmp/nvflare/bin/python pytest -m exports -rP
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest
from reference_run import model_of, reference
from test_export import FLEET, FOUR, PARTLY, TREE, written

ROUNDS = 2
SCRIPT = {"flower": "run.py", "nvflare": "job.py"}
SIX = {**PARTLY, "groups": 3, "clients_per_group": 2, "groups_per_round": 2, "clients_per_round": 1}

LOST = (
    "Communication error with client"  # NVFlare's simulator, of a site that was slow to start: it is never asked again
)

pytestmark = pytest.mark.exports


def finished(words: list[str], folder: Path) -> str | None:
    """What a project prints; None where the simulator lost a site and waits for it."""
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")}
    log = folder / "log.txt"
    with log.open("w") as stream:
        done = subprocess.Popen(
            words, cwd=folder, env=environment, stdout=stream, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            code = done.wait(timeout=150)
        except subprocess.TimeoutExpired:
            assert LOST in log.read_text(), log.read_text()[-2000:]
            return None
        finally:  # simulators outlive a script that is killed
            with contextlib.suppress(ProcessLookupError):
                os.killpg(done.pid, signal.SIGKILL)
            done.wait()
    assert code == 0, log.read_text()[-2000:]
    return log.read_text()


@pytest.mark.parametrize("to", sorted(SCRIPT))
@pytest.mark.parametrize(
    ("topology", "scenario"), [*((topology, FLEET) for topology in FOUR), ("ring-star", SIX), ("star-ring-star", TREE)]
)
def test_a_framework_computes_the_reference(to: str, topology: str, scenario: dict, tmp_path: Path) -> None:
    python = os.environ.get(f"{to.upper()}_PYTHON")
    if python is None:
        pytest.skip(f"{to.upper()}_PYTHON is not set")
    folder = written(tmp_path / "run", to, topology, **scenario)
    start = time.perf_counter()
    said = next(filter(None, (finished([python, SCRIPT[to], str(ROUNDS)], folder) for _ in range(3))), None)
    assert said is not None, "the simulator lost a site at its start, three times"
    x = reference(folder, ROUNDS)
    apart = np.abs(model_of(folder) - x).max()
    assert np.abs(x).max() > 0.05
    assert apart < 1e-6
    measured = json.loads((folder / "measured.json").read_text())
    assert [one["bytes"] for one in measured["rounds"]] == [2 * 8 * 27 * one["calls"] for one in measured["rounds"]]
    print(f"{to} {topology}: {apart:.1e} apart, {time.perf_counter() - start:.0f} s")
