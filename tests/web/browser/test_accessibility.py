"""Every page by axe (WCAG 2.2 A and AA), in both colours, and on a phone."""

from __future__ import annotations

from importlib.resources import files

import pytest

from schedmate.simulator.report import report_html
from simulator.report.runs import digest_of, some_columns

pytestmark = [pytest.mark.processes, pytest.mark.browser]
pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed")

RULES = {
    "light": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"]},
    "dark": {"type": "rule", "values": ["color-contrast"]},
}
"""All but the contrast is the same in both."""


def paths(site):
    return [
        "/",
        "/?q=nothing+of+that",
        f"/jobs/{site.failed}",
        f"/jobs/{site.again}",
        f"/jobs/{site.slow}",
        f"/jobs/{site.failed}/log",
        f"/jobs/{site.failed}/log?q=step",
        f"/jobs/{site.waiting}/log",
        f"/jobs/{site.trained}/file?name=train.py&line=5",
        "/cluster",
        "/nodes",
        "/failures",
        "/accuracy",
        "/model",
        "/rules",
        "/me",
        "/audit",
    ]


@pytest.mark.parametrize("colours", RULES)
def test_every_page_is_accessible(site, open_page, colours):
    page = open_page("/", color_scheme=colours)
    found = []
    for path in paths(site):
        page.goto(path)
        answer = axe.Axe().run(page, options={"runOnly": RULES[colours]})
        found += [
            f"{path}: {one['id']}: {node['html'][:200]}: {node['failureSummary']}"
            for one in answer.response["violations"]
            for node in one["nodes"]
        ]
    assert found == []


@pytest.mark.parametrize("width", [360, 2560])
def test_no_page_is_wider_than_its_screen(site, open_page, width):
    page = open_page("/", viewport={"width": width, "height": 800})
    wide = []
    for path in paths(site):
        page.goto(path)
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            wide.append(path)
    assert wide == []


def test_a_warning_in_the_queue_stands_like_its_neighbours(chromium, tmp_path):
    sheet = files("schedmate.design").joinpath("static/schedmate.css").read_text()
    cells = '<td class="note">one</td><td class="note warning">two</td>'
    path = tmp_path / "queue.html"
    path.write_text(
        f'<style>{sheet}</style><table class="queue"><tbody><tr>{cells}</tr></tbody></table>'
    )
    context = chromium.new_context(viewport={"width": 1200, "height": 800})
    page = context.new_page()
    page.goto(path.as_uri())
    plain, warning = page.evaluate(
        "[...document.querySelectorAll('td')].map(cell => {"
        " const seen = getComputedStyle(cell);"
        " return [seen.padding, seen.borderTopWidth, seen.backgroundColor]; })"
    )
    context.close()
    assert warning == plain


def test_a_report_in_a_window_made_narrow_never_overflows(chromium, tmp_path):
    """Curves follow the width of the window a moment later; here they never do."""
    path = tmp_path / "report.html"
    path.write_text(report_html([digest_of(some_columns(200))], command="schedmate simulate t.csv"))
    page = chromium.new_page(viewport={"width": 1200, "height": 800})
    page.add_init_script("window.ResizeObserver = class { observe() {} disconnect() {} }")
    page.goto(path.as_uri())
    page.wait_for_selector(".drawn canvas")

    page.set_viewport_size({"width": 400, "height": 800})

    assert page.evaluate("innerWidth") == 400
    assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")
    page.close()


@pytest.mark.parametrize("colours", RULES)
def test_a_report_is_accessible_too(chromium, tmp_path, colours):
    path = tmp_path / "report.html"
    path.write_text(report_html([digest_of(some_columns(200))], command="schedmate simulate t.csv"))
    context = chromium.new_context(color_scheme=colours, viewport={"width": 390, "height": 800})
    page = context.new_page()
    page.goto(path.as_uri())
    answer = axe.Axe().run(page, options={"runOnly": RULES[colours]})
    assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")
    context.close()
    assert [(one["id"], one["nodes"][0]["html"]) for one in answer.response["violations"]] == []
