"""The built site in a real Chromium without a network: formulas are set, statements are found, nothing is fetched.

Run with ``pytest -m browser tests/docs`` where playwright is installed and a Chromium is at ``HFL_PLAN_CHROMIUM``
(else ``/usr/bin/chromium``). ``HFL_PLAN_SITE`` names a built site; else the site is built, which takes minutes.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.browser
playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")

DOCS = Path(__file__).parents[2] / "docs"
CHROMIUM = os.environ.get("HFL_PLAN_CHROMIUM", "/usr/bin/chromium")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    built = os.environ.get("HFL_PLAN_SITE")
    if built:
        return Path(built)
    folder = tmp_path_factory.mktemp("site")
    subprocess.run([sys.executable, "-m", "sphinx", "-q", "-W", "-b", "html", DOCS, folder], check=True)
    return folder


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with playwright.sync_playwright() as player:
        browser = player.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def opened(chromium: Any, site: Path) -> Iterator[Any]:
    """A page without a network; what it asks for elsewhere, and what goes wrong on it, fails the test."""
    context = chromium.new_context(viewport={"width": 1200, "height": 900})
    context.set_offline(True)
    page, asked, wrong = context.new_page(), [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: wrong.append(str(error)))

    def go(name: str) -> Any:
        page.goto((site / name).as_uri(), wait_until="load")
        return page

    yield go
    context.close()
    assert wrong == []
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []


def test_the_home_page_has_a_picture_a_command_and_four_doors(opened: Any) -> None:
    page = opened("index.html")
    assert page.locator(".doors .door").count() == 4
    assert page.evaluate("document.querySelector('img.home').naturalWidth") > 100
    boxes = [page.locator(".doors .door").nth(i).bounding_box() for i in range(4)]
    assert all(box["width"] > 150 and box["height"] > 50 for box in boxes)
    for i in range(4):
        target = page.locator(".doors .door a").nth(i).get_attribute("href")
        assert target and not target.startswith("http")


@pytest.mark.parametrize(
    "name", ["how-it-answers.html", "theory/any-depth.html", "catalog/zhou2026.thm1.star-ring.html"]
)
def test_formulas_are_set_without_a_network(opened: Any, name: str) -> None:
    page = opened(name)
    there, done, failed = page.evaluate(
        "['.math', '.math .katex', '.katex-error'].map((s) => document.querySelectorAll(s).length)"
    )
    assert there >= 3
    assert (done, failed) == (there, 0)
    assert page.evaluate("document.fonts.ready.then(() => document.fonts.check('16px KaTeX_Main'))")
    assert page.locator(".math .katex").first.bounding_box()["width"] > 3


def test_every_formula_of_the_site_is_set(opened: Any, site: Path) -> None:
    bad = {}
    for path in sorted(site.rglob("*.html")):
        name = path.relative_to(site).as_posix()
        there, done, failed = opened(name).evaluate(
            "['.math', '.math .katex', '.katex-error'].map((s) => document.querySelectorAll(s).length)"
        )
        if done < there or failed:
            bad[name] = there, done, failed
    assert bad == {}


def test_statements_are_found_by_words(opened: Any) -> None:
    page = opened("catalog/index.html")
    rows = page.locator(".filtered tbody tr")
    whole = rows.count()
    assert whole > 200
    page.fill(".filtered input", "zhou2026.thm1 Star-Ring")
    shown = [rows.nth(i).inner_text() for i in range(whole) if rows.nth(i).is_visible()]
    assert 1 <= len(shown) < 10
    assert any("zhou2026.thm1.star-ring" in text for text in shown)
    assert page.inner_text(".filtered output") == f"{len(shown)} of {whole}"
    page.fill(".filtered input", "")
    assert page.inner_text(".filtered output") == f"{whole} of {whole}"


def test_without_javascript_the_statements_are_a_list(chromium: Any, site: Path) -> None:
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((site / "catalog" / "index.html").as_uri())
    assert page.locator(".filtered tbody tr").count() > 200
    assert page.locator(".filtered tbody tr").last.is_visible()
    context.close()
