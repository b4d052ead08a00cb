"""What ``hfl-plan serve`` says when it starts."""

import subprocess
import sys

import pytest

pytest.importorskip("starlette", reason="needs the extra web")
pytest.importorskip("uvicorn", reason="needs the extra web")


def test_how_to_stop_is_said_where_nobody_watches_too() -> None:
    command = [sys.executable, "-m", "planner", "serve", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline().startswith("http://127.0.0.1:")
            assert process.stderr.readline().endswith("Stop it with Ctrl-C.\n")
        finally:
            process.terminate()
