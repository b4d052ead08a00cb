"""Take the picture of a report: ``python docs/pictures/report.py``, with playwright and a Chromium."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

CHROMIUM = os.environ.get("HFL_PLAN_CHROMIUM", "/usr/bin/chromium")
HERE = Path(__file__).parent
ROOT = HERE.parents[1]

with tempfile.TemporaryDirectory() as folder, sync_playwright() as player:
    file = Path(folder) / "phones.html"
    words = ["recommend", "--config", "examples/phones.toml", "--report", str(file)]
    subprocess.run([sys.executable, "-m", "planner", *words], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)  # noqa: S603 - the project's own command
    browser = player.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
    page = browser.new_page(viewport={"width": 1040, "height": 1180})
    page.goto(file.as_uri())
    page.screenshot(path=HERE / "report.png")
    browser.close()
