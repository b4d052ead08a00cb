"""Draw the gallery again: ``python docs/pictures/draw.py``; each picture is the command below it in the page."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parent / "pictures.md"
DRAWN = re.compile(r"!\[[^]]*\]\(pictures/([\w-]+)\.svg\)\n\n`(hfl-plan [^`]+)`")

for name, command in DRAWN.findall(PAGE.read_text(encoding="utf-8")):
    words = shlex.split(command)[1:]
    words[-1] = str(HERE / f"{name}.svg")
    print(f"{name}: {command}", flush=True)
    subprocess.run(  # noqa: S603 - the project's own page
        [sys.executable, "-m", "planner", *words, "--force"], cwd=HERE.parents[1], check=True, stdout=subprocess.DEVNULL
    )
