"""Reports in a real Chromium: sorting, dark, a phone, no JavaScript, paper, accessibility, and no request at all.

Run with ``pytest -m browser tests/planner/report``; the head of ``tests/planner/serve/test_serve_browser.py`` says what
it needs.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.browser
playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")

ROOT = Path(__file__).parents[3]
CHROMIUM = os.environ.get("HFL_PLAN_CHROMIUM", "/usr/bin/chromium")
DARK = {"color_scheme": "dark"}
PHONE = {"viewport": {"width": 360, "height": 740}}


@pytest.fixture(scope="module")
def chromium():
    with playwright.sync_playwright() as player:
        browser = player.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module", params=["recommend -G 10 -M 10", "group examples/hospitals.csv"])
def address(request, tmp_path_factory):
    file = tmp_path_factory.mktemp("report") / "report.html"
    words = [*request.param.split(), "--report", str(file)]
    subprocess.run([sys.executable, "-m", "planner", *words], check=True, capture_output=True, cwd=ROOT)
    return file.as_uri()


@pytest.fixture
def opened(chromium, address):
    """A function that opens the report; a request, or what the policy refuses, fails the test."""
    contexts, wrong = [], []

    def open_report(part="", **settings):
        context = chromium.new_context(**{"viewport": {"width": 1280, "height": 900}, **settings})
        contexts.append(context)
        page = context.new_page()
        page.on("request", lambda one: wrong.append(one.url) if one.url.partition("#")[0] != address else None)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda message: wrong.append(message.text))
        page.goto(address + part)
        return page

    yield open_report
    for context in contexts:
        context.close()
    assert wrong == []


def column(page, place):
    """Numbers of a column of the first table, top first."""
    return page.eval_on_selector_all(
        "section:first-of-type table tbody tr",
        "(rows, place) => rows.map((row) => row.cells[place].dataset.n ?? row.cells[place].textContent)",
        place,
    )


def test_a_column_is_sorted_up_and_down_and_back(opened):
    page = opened()
    heads = page.locator("section:first-of-type table").first.locator("thead tr:last-child th")
    names = heads.all_inner_texts()
    place = next(i for i, name in enumerate(names) if name.startswith(("time", "before")))
    before = column(page, place)
    button = heads.nth(place).locator("button")
    button.click()
    assert heads.nth(place).get_attribute("aria-sort") == "ascending"
    up = column(page, place)
    if all(re.fullmatch(r"[0-9.e+-]+", one) for one in before):
        assert list(map(float, up)) == sorted(map(float, before))
    button.press("Enter")
    assert heads.nth(place).get_attribute("aria-sort") == "descending"
    assert sorted(column(page, place)) == sorted(before)
    button.press("Enter")
    assert column(page, place) == before


def test_360_pixels_wide(opened):
    page = opened(**PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert page.locator(".verdict").is_visible()


def test_dark(opened):
    page = opened(**DARK)
    ground, ink = page.evaluate(
        "[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.querySelector('figure svg')).fill]"
        ".map((color) => Math.max(...color.match(/[0-9]+/g).slice(0, 3).map(Number)))"
    )
    assert ground < 60
    assert ink > 180


def test_without_javascript_all_of_it_is_there(opened):
    page = opened(java_script_enabled=False)
    assert page.locator(".verdict").is_visible()
    assert page.locator("table").first.is_visible()
    first = page.locator("details").first
    first.locator("summary").click()
    assert first.locator("p, table, dl").first.is_visible()


@pytest.mark.parametrize("paper", ["A4", "Letter"])
@pytest.mark.parametrize("script", [True, False])
def test_on_paper_details_are_open_and_nothing_is_cut(opened, paper, script, tmp_path):
    page = opened(java_script_enabled=script)
    pdf = page.pdf(format=paper, prefer_css_page_size=False)
    assert pdf.startswith(b"%PDF")
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) <= 14
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 688, "height": 1000})  # A4 less margins, in pixels of CSS
    shown = page.evaluate(
        "[...document.querySelectorAll('details')].filter((one) => one.lastElementChild.getBoundingClientRect().height)"
        ".length"
    )
    assert shown == page.locator("details").count()
    cut = page.evaluate(
        "[...document.querySelectorAll('table, figure, pre')].filter((one) => one.getBoundingClientRect().right > 689)"
        ".map((one) => `${one.getBoundingClientRect().right} ${one.textContent.slice(0, 80)}`)"
    )
    assert cut == []


@pytest.mark.parametrize("settings", [{}, DARK, PHONE])
def test_axe_finds_nothing_serious(opened, settings):
    source = os.environ.get("HFL_PLAN_AXE")
    if not source:
        pytest.skip("needs HFL_PLAN_AXE, the axe.min.js of `npm pack axe-core`")
    page = opened(**settings)
    page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
    page.evaluate(Path(source).read_text(encoding="utf-8"))
    found = page.evaluate(
        "axe.run().then((r) => r.violations.map((v) => [v.impact, v.id, v.nodes.map((n) => n.html.slice(0, 200))]))"
    )
    assert [one for one in found if one[0] in ("serious", "critical", "moderate")] == []


def test_a_link_to_a_section_opens_it(opened):
    page = opened("#warnings") if opened().locator("#warnings").count() else opened("#provenance")
    named = page.evaluate("location.hash")
    assert page.locator(named).get_attribute("open") is not None


def test_the_scenario_is_copied_or_selected(opened):
    page = opened()
    if page.locator("button.copy").count():
        page.locator("button.copy").click()
        page.locator("button.copy", has_text=re.compile("Copied|Selected")).wait_for()


LINKS = "recommend -G 3 -M 4 -P 2 --heterogeneity inter --model-size 5MB --objective time"
KEYS = {"step_time": "compute.step_time"}  # of what is no link
UNITS = {"up": "bit/s", "down": "bit/s", "latency": "s", "model_size": "B", "step_time": "s"}


def rows_of(words, tmp_path):
    """Time of every row, as the command says it, by case."""
    file = tmp_path / "answer.json"
    command = [sys.executable, "-m", "planner", *words, "--json", "--output", str(file), "--force"]
    subprocess.run(command, check=True, capture_output=True, cwd=ROOT)
    rows = json.loads(file.read_text())["rows"]
    number = lambda one: one["value"] if isinstance(one, dict) else one  # noqa: E731
    return {
        case: {
            row["title"]: number(next(c["time_seconds"] for c in row["cases"] if c["value"] == value)) for row in rows
        }
        for case, value in (("own links", "per-client"), ("shared links", "per-server"))
    }


@pytest.mark.parametrize("hop", ["relayed", "direct"])
def test_sliders_compute_the_times_of_the_command(chromium, tmp_path, hop):
    """Each slider moved alone, and all of them: times are those that the planner says of the moved scenario."""
    words = [*LINKS.split(), "--set", f"network.client_link.hop={hop}"]
    file = tmp_path / "report.html"
    subprocess.run(
        [sys.executable, "-m", "planner", *words, "--report", str(file)], check=True, capture_output=True, cwd=ROOT
    )
    page = chromium.new_page()
    page.goto(file.as_uri())
    read = (
        "() => Object.fromEntries([...document.querySelectorAll('#sliders table')].map((table) => ["
        "table.dataset.case, Object.fromEntries([...table.tBodies[0].rows].map((row) => "
        "[row.cells[0].textContent, Number(row.cells[2].dataset.n)]))]))"
    )
    start = rows_of(words, tmp_path)
    assert page.evaluate(read) == {case: pytest.approx(times, rel=1e-9) for case, times in start.items()}
    asked, places = list(words), {"client_link.up": -70, "client_link.latency": 55, "server_link.down": -64,
                                  "model_size": 31, "step_time": 80}  # fmt: skip
    for name, place in places.items():
        value = page.evaluate(
            "([name, place]) => { const one = document.querySelector(`#sliders [data-name='${name}']`);"
            " one.value = place; one.dispatchEvent(new Event('input', { bubbles: true }));"
            " return Number(one.dataset.value) * 1000 ** (place / 120); }",
            [name, place],
        )
        said = f"{value!r}{UNITS[name.rpartition('.')[2]]}"
        if name == "model_size":
            asked[asked.index("5MB")] = said
        else:
            asked += ["--set", f"{KEYS.get(name, f'network.{name}')}={said}"]
        then = rows_of(asked, tmp_path)
        assert page.evaluate(read) == {case: pytest.approx(times, rel=1e-6) for case, times in then.items()}
    page.locator("#sliders button").click()
    assert page.evaluate(read) == {case: pytest.approx(times, rel=1e-9) for case, times in start.items()}


def test_without_javascript_and_on_paper_there_are_no_sliders(opened):
    page = opened(java_script_enabled=False)
    assert not page.locator("#sliders").count() or not page.locator("#sliders").is_visible()
    page = opened()
    page.emulate_media(media="print")
    assert not page.locator("#sliders").count() or not page.locator("#sliders").is_visible()
