"""Processor time and memory of the commands, as ratios to imports that nobody can avoid.

    python benchmarks/bench_cli.py [--turns 5] [--only recommend,help] [--large] [--json]

Every contestant is a fresh process with one thread for linear algebra. They take turns in one run, and of each the turn
with the least processor time counts, so that other load moves all of them alike. ``x numpy`` is the ratio to ``import
numpy`` of the same run; ``--help`` is also compared to ``import typer``. Programs ask a process that has answered once;
the least of several counts, each with another sigma, or another uplink. ``--large`` adds a table of 100,000 x 100
counts.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
FLEET = ["--G", "10", "--M", "10", "--heterogeneity", "inter"]
LIMITS = ["zeta=0.2:1,delta=2±0.5", "--sigma", "0.5:2", "--uplink", "10:40Mbit/s", "--step-time", "0.1:0.3s"]
UNSURE = ["recommend", "--G", "10", "--M", "10", "--heterogeneity", *LIMITS]
COMMANDS: Mapping[str, Sequence[str]] = {
    "help": ["--help"],
    "recommend": ["recommend", *FLEET],
    "recommend phones": ["recommend", "--config", "examples/phones.toml"],
    "recommend limits": UNSURE,
    "recommend limits, no draws": [*UNSURE, "--set", "plan.draws=0"],
    "recommend counts": ["recommend", "--clients", "120", "-K", "1:20", "-P", "1:8", "--heterogeneity", "inter"],
    "recommend surrogate": ["recommend", *FLEET, "--predictor", "surrogate"],
    "flip": ["flip", *FLEET],
    "flip map of 101": ["flip", *FLEET, "--map", "G,M", "--cells", "101"],
    "tune": ["tune", *FLEET],
    "tune, 100,000 groups": [
        "tune",
        "--G",
        "100000",
        "--M",
        "10",
        "--heterogeneity",
        "inter",
        "--straggler",
        "lognormal:0.5",
    ],
    "audit": ["audit"],
}
TABLES = {"measure 1,000 x 10": (1_000, 10), "measure 10,000 x 10": (10_000, 10)}
LARGE = {"measure 100,000 x 100": (100_000, 100)}
ANSWER = """
import sys, time, planner
config, details, moved, come = sys.argv[1], sys.argv[2] == "details", sys.argv[3], float(sys.argv[4])
least = float("inf")
for turn in range(8):
    settings = {"availability.client": come} if come < 1 else {}
    settings |= {moved: {"problem.sigma": 1 + turn / 50, "network.client_link.up": f"{20 + turn}Mbit/s"}[moved]}
    begin = time.process_time()
    planner.recommend(config, settings, details=details)
    least = min(least, time.process_time() - begin) if turn else least
print(least)
"""


@dataclass
class Best:
    """The turn with the least processor time.

    Attributes:
        seconds: Of the processor, user and system, in all threads.
        megabytes: Most memory held.
        printed: On stdout.
    """

    seconds: float = float("inf")
    megabytes: float = 0.0
    printed: str = ""


def turn(arguments: Sequence[str]) -> Best:
    """Run one fresh process.

    Raises:
        RuntimeError: With the end of its error output, if it fails; a failure is fast and must not count.
    """
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        one = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
        keeps = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        process = subprocess.Popen(arguments, cwd=ROOT, env={**keeps, **one}, stdout=out, stderr=err)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        if process.returncode:
            said = err.read().decode(errors="replace").strip()[-400:]
            raise RuntimeError(f"{' '.join(arguments)[:200]} exits {process.returncode}: {said}")
        kilobytes = used.ru_maxrss / (1024 if sys.platform == "darwin" else 1)
        return Best(used.ru_utime + used.ru_stime, kilobytes / 1024, out.read().decode())


def contestants(folder: Path, *, large: bool) -> dict[str, list[str]]:
    """What is run, by name; tables of counts are written into a folder."""
    python = sys.executable
    jobs = {name: [python, "-c", f"import {name.partition(' ')[2]}"] for name in ("import numpy", "import typer")}
    jobs |= {name: [python, "-m", "planner", *words] for name, words in COMMANDS.items()}
    for name, (clients, labels) in {**TABLES, **(LARGE if large else {})}.items():
        path = folder / f"{clients}x{labels}.csv"
        counts = np.random.default_rng(0).integers(0, 20, (clients, labels)).tolist()
        lines = (f"c{i},g{i % 50},{','.join(map(str, row))}\n" for i, row in enumerate(counts))
        header = f"client,group,{','.join(f'l{j}' for j in range(labels))}\n"
        path.write_text(header + "".join(lines), encoding="utf-8")
        jobs[name] = [python, "-m", "planner", "measure", str(path)]
    for config in ("hospitals", "phones", "cell_site"):
        for details in ("details", "ranking alone"):
            told = [f"examples/{config}.toml", details, "problem.sigma", "1"]
            jobs[f"in Python, {config}, {details}"] = [python, "-c", ANSWER, *told]
    for moved, what in {"problem.sigma": "sigma", "network.client_link.up": "uplink"}.items():
        told = ["examples/phones.toml", "details", moved, "0.9"]
        jobs[f"in Python, phones, 90 % come, another {what}"] = [python, "-c", ANSWER, *told]
    return jobs


def main() -> int:
    """Measure, and print a table or one JSON document."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=5, help="fresh processes of each; the least counts")
    parser.add_argument("--only", default="", help="words that names of contestants hold, with commas between")
    parser.add_argument("--large", action="store_true", help="measure a table of 100,000 x 100 counts too")
    parser.add_argument("--json", action="store_true", help="print one JSON document and nothing else")
    options = parser.parse_args()
    if options.turns < 1:
        parser.error("--turns must be at least 1")
    words = [word.strip() for word in options.only.split(",") if word.strip()]
    with tempfile.TemporaryDirectory() as folder:
        jobs = contestants(Path(folder), large=options.large)
        jobs = {n: job for n, job in jobs.items() if not words or n.startswith("import") or any(w in n for w in words)}
        best = {name: Best() for name in jobs}
        begin = time.monotonic()
        for name in ("import numpy", "import typer"):
            turn(jobs[name])  # the first reads the disk
        for _ in range(options.turns):
            for name, job in jobs.items():
                done = turn(job)
                if name.startswith("in Python"):
                    done.seconds = float(done.printed)
                if done.seconds < best[name].seconds:
                    best[name] = done
    numpy, typer = (best[f"import {module}"].seconds for module in ("numpy", "typer"))
    rows: list[dict[str, Any]] = [
        {"what": name, "cpu_seconds": one.seconds, "megabytes": one.megabytes, "times_numpy": one.seconds / numpy}
        for name, one in best.items()
    ]
    if options.json:
        about = {"python": platform.python_version(), "turns": options.turns, "wall_seconds": time.monotonic() - begin}
        print(json.dumps({"schema": "hfl-plan/bench-cli/2", "about": about, "rows": rows}, indent=1))
        return 0
    print(f"{'processor time, least of ' + str(options.turns):<40} {'s':>8} {'x numpy':>8} {'MB':>6}")
    for row in rows:
        print(f"{row['what']:<40} {row['cpu_seconds']:8.3f} {row['times_numpy']:8.2f} {row['megabytes']:6.0f}")
    if "help" in best:
        print(f"help: {best['help'].seconds / typer:.2f} times import typer")
    if {"recommend limits", "recommend limits, no draws"} <= best.keys():
        ratio = best["recommend limits"].seconds / best["recommend limits, no draws"].seconds
        print(f"recommend with limits: {ratio:.2f} times the same without draws")
    return 0


if __name__ == "__main__":
    sys.exit(main())
