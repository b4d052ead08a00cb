"""Take the picture of the page: ``python docs/pictures/serve.py``, with playwright and a Chromium."""

import os
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

CHROMIUM = os.environ.get("HFL_PLAN_CHROMIUM", "/usr/bin/chromium")
HERE = Path(__file__).parent

with subprocess.Popen(
    [sys.executable, "-m", "planner", "serve", "--port", "0"], stdout=subprocess.PIPE, text=True
) as server:
    try:
        with sync_playwright() as player:
            browser = player.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": 1180, "height": 860})
            page.goto(server.stdout.readline().strip())
            page.locator("#changes li").first.wait_for()  # the marks on the sliders are there
            page.screenshot(path=HERE / "serve.png")
            browser.close()
    finally:
        server.terminate()
