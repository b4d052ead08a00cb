"""Cold starts of the command line against the imports that nobody can avoid.

    python benchmarks/bench_cli.py [--processes 10] [--json]

``hfl-plan recommend`` against ``import numpy``, ``hfl-plan --help`` against ``import typer``, and ``recommend`` with
4096 draws of everything that is not known exactly against the same without draws: the least wall time of so many fresh
processes each, the commands in turn, all with this interpreter. The command is the console
script beside the interpreter where it is installed, else ``-m planner`` from the repository.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
QUESTION = ["recommend", "--G", "10", "--M", "10", "--heterogeneity", "inter", "--json"]
WITHIN_LIMITS = ["zeta=0.2:1,delta=2±0.5", "--sigma", "0.5:2", "--uplink", "10:40Mbit/s", "--step-time", "0.1:0.3s"]
UNSURE = ["recommend", "--G", "10", "--M", "10", "--json", "--heterogeneity", *WITHIN_LIMITS]
WITHOUT_DRAWS = [*UNSURE, "--set", "plan.draws=0"]
MOST_BY_DRAWS = 3.0
PAIRS: tuple[tuple[str, list[str], str, float], ...] = (
    ("recommend", QUESTION, "numpy", 8.0),
    ("help", ["--help"], "typer", 5.0),
)


def command() -> list[str] | None:
    """How to start ``hfl-plan``, or None where there is no such command yet."""
    script = Path(sys.executable).parent / ("hfl-plan.exe" if os.name == "nt" else "hfl-plan")
    if script.exists():
        return [str(script)]
    if (ROOT / "planner" / "__main__.py").exists():
        return [sys.executable, "-m", "planner"]
    return None


def seconds(arguments: list[str]) -> float:
    """Wall time of one fresh process.

    Raises:
        RuntimeError: with the end of its error output, if it fails; a failure is fast and must not count.
    """
    begin = time.perf_counter()
    done = subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True, check=False)
    taken = time.perf_counter() - begin
    if done.returncode:
        raise RuntimeError(f"{' '.join(arguments)} exits {done.returncode}: {done.stderr.strip()[-400:]}")
    return taken


def main() -> int:
    """Measure, and print a table or one JSON document."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", type=int, default=10, help="fresh processes of each kind; the fastest counts")
    parser.add_argument("--json", action="store_true", help="print one JSON document and nothing else")
    options = parser.parse_args()
    if options.processes < 1:
        parser.error("--processes must be at least 1")
    start = command()
    if start is None:
        print("skipped: neither a console script hfl-plan nor planner/__main__.py exists", file=sys.stderr)
        return 0
    jobs = {"python": [sys.executable, "-c", "pass"]}
    for name, arguments, module, _ in PAIRS:
        jobs[name] = [*start, *arguments]
        jobs[module] = [sys.executable, "-c", f"import {module}"]
    jobs |= {"draws": [*start, *UNSURE], "no draws": [*start, *WITHOUT_DRAWS]}
    least = dict.fromkeys(jobs, float("inf"))
    try:
        for turn in range(options.processes + 1):
            for name, job in jobs.items():
                taken = seconds(job)
                if turn:  # the first of each reads the disk and may write bytecode
                    least[name] = min(least[name], taken)
    except RuntimeError as failure:
        print(f"skipped: {failure}", file=sys.stderr)
        return 1
    rows: list[dict[str, Any]] = [
        {
            "what": f"hfl-plan {' '.join(arguments)}",
            "seconds": least[name],
            "against": f"import {module}",
            "reference_seconds": least[module],
            "ratio": least[name] / least[module],
            "target": target,
        }
        for name, arguments, module, target in PAIRS
    ]
    rows.append(
        {
            "what": f"hfl-plan {' '.join(UNSURE)}",
            "seconds": least["draws"],
            "against": "the same with --set plan.draws=0",
            "reference_seconds": least["no draws"],
            "ratio": least["draws"] / least["no draws"],
            "target": MOST_BY_DRAWS,
        }
    )
    if options.json:
        about = {"python": platform.python_version(), "bare_seconds": least["python"], "start": Path(start[0]).name}
        print(json.dumps({"schema": "hfl-plan/bench-cli/1", "about": about, "rows": rows}, indent=1))
        return 0
    for row in rows:
        print(
            f"{row['what']:<70} {row['seconds'] * 1e3:7.1f} ms   {row['ratio']:.2f} times {row['against']} "
            f"({row['reference_seconds'] * 1e3:.1f} ms; target {row['target']:g})"
        )
    print(f"{'python -c pass':<70} {least['python'] * 1e3:7.1f} ms")
    return 0


if __name__ == "__main__":
    sys.exit(main())
