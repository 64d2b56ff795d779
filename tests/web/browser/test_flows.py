"""What people do with the page, in a real browser."""

from __future__ import annotations

import base64
import re

import pytest

from web.browser.conftest import HOSTILE

pytestmark = [pytest.mark.processes, pytest.mark.browser]
expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect


def job(page, job_id):
    return page.locator(f'a[href="/jobs/{job_id}"]').first


def test_a_job_is_found_and_its_search_can_be_shared(site, page, open_page):
    page.keyboard.press("/")
    page.keyboard.type("patient")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"\?q=patient$"))
    expect(job(page, site.waiting)).to_be_visible()
    expect(job(page, site.failed)).to_have_count(0)
    shared = open_page(page.url)
    expect(job(shared, site.waiting)).to_be_visible()
    page.get_by_role("link", name="q patient").click()
    expect(job(page, site.failed)).to_be_visible()


def test_the_queue_is_live(site, page):
    page.evaluate("window.notReloaded = true")
    new = site.submit("just submitted", "train.py", "--epochs", "1", gpus=2)
    expect(job(page, new)).to_be_visible()
    expect(page.locator("tr", has=job(page, site.slow)).get_by_role("progressbar")).to_be_visible()
    assert page.evaluate("window.notReloaded")


def test_why_it_failed_and_the_line_that_shows_it(site, page):
    page.get_by_role("link", name="failed").first.click()
    job(page, site.failed).click()
    card = page.get_by_label("Diagnosis of attempt 1")
    expect(card.get_by_role("heading")).to_contain_text("gpu_oom")
    card.get_by_role("link", name=re.compile(r":\d+$")).first.click()
    expect(page).to_have_url(re.compile(r"/log\?file=0&line=\d+#L\d+$"))
    line = page.locator(page.url[page.url.index("#") :])
    expect(line).to_be_in_viewport()
    expect(line).to_contain_text("CUDA out of memory")
    expect(line).to_have_class(re.compile("cause"))


def test_a_value_of_the_record_leads_to_its_line(site, open_page):
    page = open_page(f"/jobs/{site.trained}")
    record = page.get_by_label("Workload record")
    row = record.get_by_role("row", name=re.compile("^epochs"))
    row.get_by_role("group").locator("summary").click()
    row.get_by_role("link", name=re.compile(r"train\.py:\d+")).first.click()
    line = page.locator(page.url[page.url.index("#") :])
    expect(line).to_be_in_viewport()
    expect(line).to_contain_text("epochs")


def test_the_log_is_searched_folded_and_walked_by_errors(site, open_page):
    page = open_page(f"/jobs/{site.failed}/log")
    expect(page.get_by_text(re.compile(r"\d+ earlier lines"))).to_be_visible()
    expect(page.get_by_text("100%|####|")).to_be_visible()
    expect(page.get_by_text("50%|##  |")).to_have_count(0)
    page.keyboard.press("n")
    expect(page.locator(".row.here")).to_be_in_viewport()
    page.get_by_label("Search the log").fill("step 123/")
    page.keyboard.press("Enter")
    expect(page.get_by_role("main").get_by_role("status")).to_contain_text("1 line with step 123/")
    page.get_by_role("region", name="Lines found").get_by_role("link").click()
    expect(page.locator(".row.wanted")).to_contain_text("step 123/1000")


def test_a_tail_follows_until_one_scrolls_up(site, open_page):
    page = open_page(f"/jobs/{site.slow}/log?show=end", viewport={"width": 900, "height": 400})
    last = page.locator("#lines .row").last
    begin = last.get_attribute("id")
    expect(last).not_to_have_attribute("id", begin)
    expect(last).to_be_in_viewport()
    page.mouse.move(400, 300)
    page.mouse.wheel(0, -600)
    button = page.get_by_role("button", name="Stopped; follow again")
    expect(button).to_be_visible()
    place = page.evaluate("scrollY")
    count = page.locator("#lines .row").count()
    expect(page.locator("#lines .row").nth(count + 2)).to_be_attached()
    assert page.evaluate("scrollY") == place
    button.click()
    expect(page.locator("#lines .row").last).to_be_in_viewport()


def test_prediction_reality_and_curves(site, open_page):
    page = open_page(f"/jobs/{site.again}")
    against = page.get_by_label("Prediction and reality")
    expect(against.get_by_role("img", name=re.compile("^predicted .* it took"))).to_be_visible()
    expect(against.get_by_role("link", name=site.trained, exact=True)).to_be_visible()
    expect(page.get_by_role("img", name=re.compile("^loss: from 2 to"))).to_be_visible()
    expect(page.get_by_role("img", name=re.compile("^epochs a second"))).to_be_visible()


def test_a_curve_shows_its_values_and_a_part_of_it_on_demand(site, open_page):
    page = open_page(f"/jobs/{site.again}")
    curve = page.get_by_role("img", name=re.compile("^loss: from 2 to"))
    field = curve.locator(".u-over")
    field.scroll_into_view_if_needed()
    box = field.bounding_box()
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 3, middle)
    shown = curve.locator(".u-legend .u-series").last
    expect(shown).to_contain_text("loss")
    expect(shown.locator("td")).to_have_text("2")
    page.mouse.move(box["x"] + box["width"] / 2, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 3, middle, steps=3)
    page.mouse.up()
    page.mouse.move(box["x"] + 3, middle)
    expect(shown.locator("td")).not_to_have_text("2")
    page.mouse.dblclick(box["x"] + 3, middle)
    page.mouse.move(box["x"] + 4, middle)
    expect(shown.locator("td")).to_have_text("2")


def test_rows_and_help_by_keyboard(site, page):
    page.keyboard.press("j")
    first = page.get_by_role("rowheader").first.get_by_role("link")
    expect(first).to_be_focused()
    page.keyboard.press("j")
    second = page.get_by_role("rowheader").nth(1).get_by_role("link")
    expect(second).to_be_focused()
    page.keyboard.press("k")
    page.keyboard.press("?")
    help_ = page.get_by_role("dialog", name="Keys")
    expect(help_).to_contain_text("next and previous error of a log")
    page.keyboard.press("Escape")
    expect(help_).to_be_hidden()
    page.keyboard.press("k")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/jobs/"))


def test_a_page_without_its_stream_shows_that_it_is_not_live(site, chromium):
    context = chromium.new_context(base_url=site.url)
    page = context.new_page()
    page.route("**/api/v1/events", lambda route: route.abort())
    page.goto("/")
    expect(page.get_by_text("not live: connecting again")).to_be_visible()
    page.unroute("**/api/v1/events")
    expect(page.get_by_text("not live: connecting again")).to_be_hidden()
    context.close()


def test_a_token_signs_in_and_another_is_refused(site, chromium):
    secret = site.token("nobody")
    context = signed_in(chromium, site, "nobody", secret)
    page = context.new_page()
    page.goto("/")
    expect(page.get_by_role("banner")).to_contain_text("nobody")
    page.goto(f"/jobs/{site.failed}")
    expect(page.get_by_role("main")).not_to_contain_text("CUDA out of memory")
    context.close()
    context = signed_in(chromium, site, "nobody", "smt_wrong")
    assert context.new_page().goto("/").status == 401
    context.close()


def signed_in(chromium, site, user, secret):
    """A context that sends what a browser sends after its question for name and password."""
    words = base64.b64encode(f"{user}:{secret}".encode()).decode()
    headers = {"Authorization": f"Basic {words}"}
    return chromium.new_context(base_url=site.url, extra_http_headers=headers)


def test_the_site_by_keyboard(site, page):
    for key, title in (
        ("c", "Cluster"),
        ("n", "Nodes"),
        ("f", "Failures"),
        ("a", "How good it has been here"),
        ("m", "Language model"),
        ("r", "What failures have taught"),
    ):
        page.keyboard.press("g")
        page.keyboard.press(key)
        expect(page.get_by_role("heading", level=1)).to_have_text(title)
        page.wait_for_load_state()  # keys count from then on
    page.goto("/cluster")
    waiting = page.get_by_label("Who waits for what")
    expect(waiting).to_contain_text("waits behind")
    page.get_by_role("link", name="By partition").click()
    expect(page).to_have_url(re.compile("by=partition"))


def test_people_correct_decide_and_undo(site, open_page):
    page = open_page(f"/jobs/{site.failed}")
    page.get_by_text("Correct this diagnosis").click()
    page.get_by_label("It really was").select_option("host_oom")
    page.get_by_label("Note").fill("seen by a person")
    page.get_by_role("button", name="Correct").click()
    heading = page.get_by_label("Diagnosis of attempt 1").get_by_role("heading")
    expect(heading).to_contain_text("host_oom")
    page.goto("/rules")
    page.get_by_role("article").filter(has_text="r1").get_by_role("button", name="Accept").click()
    page.get_by_role("article").filter(has_text="r2").get_by_role("button", name="Refuse").click()
    expect(page.get_by_text("No proposal waits")).to_be_visible()
    page.goto(f"/jobs/{site.waiting}")
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Undo what was done").click()
    expect(page.get_by_label("Decisions")).to_contain_text("revert: set_nice: undone")
    page.goto("/rules")
    done = page.get_by_label("What people did")
    for words in ("accept a rule", "refuse a rule", "correct a diagnosis", "revert"):
        expect(done).to_contain_text(words)


def test_dark_or_light_and_the_readers_own_time(site, open_page):
    page = open_page("/", timezone_id="Asia/Tokyo", locale="en-GB", color_scheme="light")
    when = page.locator("time").first
    utc = when.get_attribute("datetime")
    there = page.evaluate(
        "at => new Date(at).toLocaleTimeString('en-GB', {timeZone: 'Asia/Tokyo', hour: '2-digit',"
        " minute: '2-digit'})",
        utc,
    )
    expect(when).to_contain_text(there)
    before = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.get_by_role("button", name="Switch between dark and light").click()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != before
    page.reload()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != before


def test_dates_of_another_year_have_it(site, open_page):
    page = open_page("/", locale="en-GB", timezone_id="UTC")
    shown = page.evaluate(
        """() => {
          const places = ["2019-03-04T05:06:07Z", new Date().toISOString()].map((at) => {
            const time = document.createElement("time");
            time.dateTime = at;
            document.getElementById("main").append(time);
            return time;
          });
          localTimes(document);
          return places.map((time) => time.textContent);
        }"""
    )
    assert "2019" in shown[0]
    assert not re.search(r"\b20\d\d\b", shown[1])


def test_hostile_names_and_lines_are_text(site, page):
    """A log line and a job's name with a script in them."""
    expect(page.get_by_text(HOSTILE).first).to_be_visible()
    for path in (f"/jobs/{site.failed}", f"/jobs/{site.failed}/log", "/?q=onerror"):
        page.goto(path)
        expect(page.get_by_text("onerror").first).to_be_visible()
        assert page.locator("img[src=x]").count() == 0
        assert page.title() != "owned"


def test_it_is_readable_without_a_script(site, open_page):
    page = open_page("/", java_script_enabled=False)
    job(page, site.failed).click()
    expect(page.get_by_label("Diagnosis of attempt 1")).to_contain_text("CUDA out of memory")
    page.get_by_role("link", name="Open its log").click()
    expect(page.locator(".row.cause").first).to_be_visible()
    page.get_by_role("link", name=re.compile("^Next error")).click()
    expect(page.locator(".row:target")).to_be_visible()


def test_an_error_has_a_way_on(site, chromium):
    context = chromium.new_context(base_url=site.url)
    page = context.new_page()
    page.goto("/jobs/4711")
    expect(page.get_by_role("heading", level=1)).to_have_text("There is no such page")
    page.get_by_role("link", name="Show the queue").click()
    expect(job(page, site.failed)).to_be_visible()
    context.close()
