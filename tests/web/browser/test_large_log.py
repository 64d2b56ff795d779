"""The log viewer in a browser, on a log of 200 MB that grows."""

from __future__ import annotations

import re
from contextlib import closing

import pytest

from schedmate.config import Settings
from schedmate.model import Evidence, JobState
from schedmate.service.wiring import open_store
from schedmate.testing.builders import a_diagnosis, a_job
from schedmate.web.server import serving
from web.conftest import free_port

pytestmark = [pytest.mark.processes, pytest.mark.browser]
expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect

LINES = 80_000
BLOCKS = 50
CAUSE = BLOCKS // 2 * LINES + 1
LATER = CAUSE + 20 * LINES + 1
"""The numbers of the two lines that name an error."""


@pytest.fixture
def site(served, tmp_path):
    """Job 1 failed in the middle of its log; job 2 still writes to a copy of its name."""
    log = tmp_path / "train.log"
    block = "".join(f"step {number:07d} loss 0.5 {'.' * 29}\n" for number in range(LINES))
    bar = " 10%|#   |\r 50%|##  |\r100%|####|\n"
    with log.open("w") as out:
        for number in range(BLOCKS):
            if number == BLOCKS // 2:
                out.write("RuntimeError: CUDA out of memory\n")
            if number == BLOCKS // 2 + 20:
                out.write("ValueError: another one\n")
            out.write(block)
        out.write(bar)
    assert log.stat().st_size > 200_000_000
    found = a_diagnosis("gpu_oom", evidence=(Evidence(str(log), CAUSE, "RuntimeError"),))
    served.store.keep_diagnosis("1", 0, found)
    job = {"workdir": str(tmp_path), "logs": (str(log),)}
    served.show(
        a_job(id="1", state=JobState.FAILED, **job), a_job(id="2", state=JobState.RUNNING, **job)
    )
    served.url, served.log = f"http://127.0.0.1:{served.port}", log
    return served


def test_a_large_log_opens_at_its_cause_and_is_walked_by_errors(site, open_page):
    page = open_page("/jobs/1/log")
    cause = page.locator(".row.cause")
    expect(cause).to_contain_text("CUDA out of memory")
    expect(cause).to_be_in_viewport()
    assert page.locator(".row").count() < 2000
    assert page.evaluate("performance.getEntriesByType('navigation')[0].responseEnd") < 20_000
    page.keyboard.press("n")
    expect(page.locator(".row.here")).to_contain_text("CUDA")
    page.keyboard.press("n")
    expect(page.locator(".row:target")).to_contain_text("another one")


def test_a_large_log_is_searched_on_the_server_and_its_lines_have_addresses(site, open_page):
    page = open_page("/jobs/1/log")
    page.get_by_label("Search the log").fill("another one")
    page.keyboard.press("Enter")
    main = page.get_by_role("main")
    expect(main.get_by_role("status")).to_contain_text(re.compile("line with|No line has"))
    while page.get_by_role("link", name="Search on").count():
        page.get_by_role("link", name="Search on").click()
    found = page.get_by_role("region", name="Lines found").get_by_role("link")
    found.click()
    expect(page.locator(".row.wanted, .row:target").first).to_contain_text("another one")
    assert page.evaluate("location.hash.length > 1")


def test_the_end_of_a_large_log_follows_until_one_scrolls_up(site, open_page):
    page = open_page("/jobs/2/log?show=end", viewport={"width": 900, "height": 500})
    expect(page.get_by_text("100%|####|")).to_be_in_viewport()
    expect(page.get_by_text("50%|##  |")).to_have_count(0)
    with site.log.open("a") as out:
        out.write("a line that came later\n")
    expect(page.get_by_text("a line that came later")).to_be_in_viewport()
    page.mouse.move(400, 300)
    page.mouse.wheel(0, -900)
    expect(page.get_by_role("button", name="Stopped; follow again")).to_be_visible()
    place = page.evaluate("scrollY")
    with site.log.open("a") as out:
        out.write("one more\n")
    expect(page.get_by_text("one more")).to_be_attached()
    assert page.evaluate("scrollY") == place
    page.goto("/jobs/1/log?show=end")
    expect(page.get_by_text("one more")).to_be_in_viewport()
    expect(page.locator("[data-follow]")).to_have_count(0)


def here(page):
    return page.locator(".row.here")


def test_the_keys_go_through_all_errors_of_a_log_in_both_directions(site, open_page):
    """Some are on the page, most are not loaded yet."""
    wanted = (3, 2_000, 2_010, 9_000, 20_000)
    text = [f"step {number}" for number in range(1, 20_101)]
    for number in wanted:
        text[number - 1] = f"ValueError: number {number}."
    site.log.write_text("\n".join(text) + "\n")
    page = open_page("/jobs/1/log?show=start")
    for number in wanted:
        page.keyboard.press("n")
        expect(here(page)).to_contain_text(f"number {number}.")
        page.wait_for_load_state()
    page.keyboard.press("n")
    expect(page.get_by_text("No later line names an error")).to_be_visible()
    page.wait_for_load_state()
    for number in reversed(wanted):
        page.keyboard.press("p")
        expect(here(page)).to_contain_text(f"number {number}.")
        page.wait_for_load_state()
    page.keyboard.press("p")
    expect(page.get_by_text("No earlier line names an error")).to_be_visible()
    page.wait_for_load_state()
    page.keyboard.press("n")
    expect(here(page)).to_contain_text(f"number {wanted[0]}.")


def test_a_log_page_without_its_server_shows_that_it_is_not_live(chromium, tmp_path):
    log = tmp_path / "train.log"
    log.write_text("step 1\n")
    settings, port = Settings(state_dir=tmp_path / "state"), free_port()
    context = chromium.new_context(base_url=f"http://127.0.0.1:{port}")
    pages = [context.new_page(), context.new_page()]
    with closing(open_store(settings)) as store:
        with serving(settings, host="127.0.0.1", port=port) as site:
            store.keep_listed(
                [
                    a_job(id="1", state=JobState.FAILED, logs=(str(log),)),
                    a_job(id="2", state=JobState.RUNNING, logs=(str(log),)),
                ]
            )
            site.refresh()
            for page, path in zip(pages, ("/jobs/1/log", "/jobs/2/log?show=end"), strict=True):
                page.goto(path)
                expect(page.get_by_text("step 1")).to_be_visible()
                expect(page.locator("[data-away]")).to_be_empty()
        for page in pages:
            expect(page.locator("[data-away]")).to_have_text("not live: connecting again")
        with serving(settings, host="127.0.0.1", port=port):
            for page in pages:
                expect(page.locator("[data-away]")).to_be_empty()
    context.close()
