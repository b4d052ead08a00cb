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
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from reference_run import model_of, reference
from test_export import FLEET, FOUR, PARTLY, TREE, written

ROUNDS = 2
SCRIPT = {"flower": "run.py", "nvflare": "job.py", "nvflare-collab": "job.py"}
SIX = {**PARTLY, "groups": 3, "clients_per_group": 2, "groups_per_round": 2, "clients_per_round": 1}

LOST = (
    "Communication error with client"  # NVFlare's simulator, of a site that was slow to start: it is never asked again
)

pytestmark = pytest.mark.exports


def finished(words: list[str], folder: Path) -> str | None:
    """What a project prints; None where the simulator lost a site, and waits for it or gives up."""
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
    assert code == 0 or LOST in log.read_text(), log.read_text()[-2000:]
    return None if code else log.read_text()


def run(to: str, folder: Path) -> None:
    """Run a project for some rounds; what the simulator loses is run again."""
    python = os.environ.get(name := f"{to.partition('-')[0].upper()}_PYTHON")
    if python is None:
        pytest.skip(f"{name} is not set")
    said = next(filter(None, (finished([python, SCRIPT[to], str(ROUNDS)], folder) for _ in range(3))), None)
    assert said is not None, "the simulator lost a site at its start, three times"


@pytest.mark.parametrize("to", sorted(SCRIPT))
@pytest.mark.parametrize(
    ("topology", "scenario"),
    [
        *((topology, FLEET) for topology in FOUR),
        *product(("ring-star", "star-ring"), [SIX]),
        *product(("star-ring-star", "ring-star-ring"), [TREE]),
    ],
)
def test_a_framework_computes_the_reference(to: str, topology: str, scenario: dict, tmp_path: Path) -> None:
    folder = written(tmp_path / "run", to, topology, **scenario)
    start = time.perf_counter()
    run(to, folder)
    x = reference(folder, ROUNDS)
    apart = np.abs(model_of(folder) - x).max()
    assert np.abs(x).max() > 0.05
    assert apart < 1e-6
    measured = json.loads((folder / "measured.json").read_text())
    assert [one["bytes"] for one in measured["rounds"]] == [2 * 8 * 27 * one["calls"] for one in measured["rounds"]]
    assert not any(one["over_network"] for one in measured["rounds"])
    print(f"{to} {topology}: {apart:.1e} apart, {time.perf_counter() - start:.0f} s")


def on_loopback() -> int:
    """Bytes that this machine has sent to itself."""
    line = next(one for one in Path("/proc/net/dev").read_text().splitlines() if one.strip().startswith("lo:"))
    return int(line.split()[1])


@pytest.mark.parametrize("to", ["nvflare", "nvflare-collab"])
def test_a_hop_between_sites_is_two_transfers(to: str, tmp_path: Path) -> None:
    folder = written(tmp_path / "run", to, settings={"network.tiers": "ring:6", "plan.draws": 0})
    task = folder / "task.py"  # 8 MB more in the model, beside which the start of a job is little
    text = task.read_text().replace("np.zeros(CLASSES)]", "np.zeros(CLASSES), np.random.default_rng(0).random(10**6)]")
    text = text.replace("weights, bias = model\n", "weights, bias, more = model\n")
    task.write_text(text.replace("return [weights, bias]", "return [weights, bias, more]"))
    before = on_loopback()
    run(to, folder)
    moved = on_loopback() - before
    rounds = json.loads((folder / "measured.json").read_text())["rounds"]
    assert [one["bytes"] for one in rounds] == [2 * 6 * 8 * (10**6 + 27)] * ROUNDS  # direct hops: 7 transfers, not 12
    assert moved == pytest.approx(sum(one["bytes"] for one in rounds), rel=0.1)
    took = " and ".join(f"{one['seconds']:.2f} s" for one in rounds)
    print(f"{to}: {moved / 1e6 / ROUNDS:.0f} MB a round on the wire, rounds of {took}")
