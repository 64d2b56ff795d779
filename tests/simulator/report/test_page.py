"""The report as a browser and a reader find it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from schedmate.design.frame import SIZE
from schedmate.model import BadInput
from schedmate.simulator.estimators.controls import CONTROLS
from schedmate.simulator.report import digest, report_html, sensitivities, write_report
from schedmate.simulator.report.page import SEMI_SYNTHETIC
from simulator.report.runs import compared_of, digest_of, runs_of, some_columns
from simulator.report.test_numbers import a_comparison

SCRIPTS = 2
"""Its colours, and its plots."""
VOID = {"meta", "br", "hr", "img", "link", "input"}
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)>'\"&\x00\u202e\udc80"


class Page(HTMLParser):
    """Every tag with its attributes, its words, and whether each tag is closed in turn."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self._open: list[str] = []
        self.feed(html)
        assert self._open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(self.words)


def plots(html: str) -> dict[str, ET.Element]:
    """Each plot by what it shows."""
    found = [ET.fromstring(one) for one in re.findall(r'<div class="plot .*?</div>', html)]
    return {plot.get("aria-label"): plot for plot in found}


def share_of(place: str) -> float:
    """`12.5%` of a width or a height."""
    return float(place.removesuffix("%")) / 100


def axis(plot: ET.Element, which: str, *, log: bool):
    """From parts of a width or a height back to values, by two ticks of the axis."""
    ticks = [text for text in plot.iter("text") if text.get("class").startswith(f"tick {which}")]
    known = [(share_of(t.get(which)), float(t.get("data-value"))) for t in ticks]
    (a, low), (b, high) = known[0], known[-1]

    def value(place: float) -> float:
        if log:
            return low * (high / low) ** ((place - a) / (b - a))
        return low + (high - low) * (place - a) / (b - a)

    return value


def drawn(plot: ET.Element, policy: str) -> list[tuple[float, float]]:
    """The corners of a policy's line, as parts of the width and the height."""
    [line] = [path for path in plot.iter("path") if path.get("data-name") == policy]
    x = y = 0.0
    corners = []
    for letter, numbers in re.findall(r"([MLHV])([\d. -]+)", line.get("d")):
        values = [float(number) / SIZE for number in numbers.split()]
        if letter in "ML":
            x, y = values
        elif letter == "H":
            x = values[0]
        else:
            y = values[0]
        corners.append((x, y))
    return corners


@pytest.fixture(scope="module")
def columns():
    return some_columns(400)


@pytest.fixture(scope="module")
def html(columns) -> str:
    rows = [a_comparison(3 - error, error=error) for error in (0.0, 1.0, 2.0)]
    told = [("fifo", "fifo"), ("sjf", "fifo+schedmate")]
    swept = []
    for row in rows:
        policies = {new: row.policies[old] for old, new in told}
        swept.append(type(row)(**{**_fields(row), "policies": policies}))
    found = digest_of(columns, trace="demo.csv")
    code = {"fifo+advisor": "none", "fifo+schedmate": "synthetic"}
    return report_html(
        [replace(found, compared=replace(found.compared, code=code))],
        command="schedmate simulate demo.csv --report out.html",
        sensitivity=sensitivities("demo.csv", [replace(each, code=code) for each in swept]),
    )


def _fields(row) -> dict[str, object]:
    return {name: getattr(row, name) for name in row.__slots__}


def test_the_page_is_whole_and_fetches_nothing(html):
    page = Page(html)

    assert not [
        attrs
        for _, attrs in page.tags
        if {"src", "href", "style", "onload", "onclick"} & attrs.keys()
    ]
    assert not [tag for tag, _ in page.tags if tag in ("img", "link", "iframe", "object")]
    assert "default-src 'none'" in html
    assert [tag for tag, _ in page.tags].count("script") == SCRIPTS


def test_completion_times_are_drawn_where_they_are(html, columns):
    plot = plots(html)["Completion times"]
    time, part = axis(plot, "x", log=True), axis(plot, "y", log=False)
    for run in runs_of(columns):
        jct = np.sort(run.outcome.end - columns.submit)
        for x, y in drawn(plot, run.policy)[1::9]:
            low, high = np.searchsorted(jct, [time(x) * 0.99, time(x) * 1.01])
            assert low / 400 - 0.01 <= part(y) <= high / 400 + 0.01


def test_waits_are_drawn_where_they_are(html, columns):
    plot = plots(html)["Average wait by size of the job"]
    wait = axis(plot, "y", log=True)
    for run in runs_of(columns):
        places = drawn(plot, run.policy)
        means = [
            (run.outcome.start - columns.submit)[columns.gpus == gpus].mean()
            for gpus in (1, 2, 4, 8)
        ]
        assert [wait(y) for _, y in places] == pytest.approx(means, rel=0.02)


def test_utilisation_and_queue_are_drawn_where_they_are(html, columns):
    figures = plots(html)
    values = json.loads(figures["Jobs that wait over time"].get("data-plot"))
    held = axis(figures["GPUs held over time"], "y", log=False)
    line = values["lines"][0]

    assert line[0] == "fifo"
    assert len(line[1]) == len(line[2]) == 240
    assert all(-0.01 <= held(y) <= 1.01 for _, y in drawn(figures["GPUs held over time"], "fifo"))
    queue = axis(figures["Jobs that wait over time"], "y", log=False)
    highest = max(queue(y) for _, y in drawn(figures["Jobs that wait over time"], "fifo"))
    assert highest == pytest.approx(max(line[2]), rel=0.02)


def test_the_headline_has_the_figures_and_their_ratio(html, columns):
    fifo, _, mate = runs_of(columns)
    before = (fifo.outcome.end - columns.submit).mean()
    after = (mate.outcome.end - columns.submit).mean()
    words = Page(html).text

    assert f"{before / after:.2f}x" in words
    assert f"{before / 3600:.3g} h" in words
    assert f"load is {columns.load(16):.2f}" in words


def test_parts_gains_and_sensitivity_are_there(html):
    figures = plots(html)

    assert "fifo and the parts beside it" in figures
    dots = list(figures["fifo+schedmate instead of fifo"].iter("circle"))
    labels = [t.text for t in figures["fifo+schedmate instead of fifo"].iter("text")]
    assert len(dots) == 1 + 4 + 4 + 2 + 3
    kinds = {label.rpartition(" (")[0] for label in labels}
    assert {"all jobs", "1 GPU", "6 h to 1 d", "group vision", "user ada"} <= kinds
    assert "all jobs (400)" in labels
    swept = figures["demo.csv: what error changes"]
    better = axis(swept, "y", log=True)
    assert [better(y) for _, y in drawn(swept, "fifo+schedmate")] == pytest.approx(
        [3, 2, 1], rel=0.02
    )


def test_controls_are_shown_with_what_each_of_them_is(columns):
    of = digest_of(columns)
    summary = next(iter(of.compared.policies.values()))
    found = {name: replace(summary, avg_jct_s=100.0 + n) for n, name in enumerate(CONTROLS)}
    name = list(of.compared.policies)[-1]

    compared = replace(of.compared, controls={name: found})
    page = Page(report_html([replace(of, compared=compared)], command="x"))

    words = " ".join(page.words)
    assert f"{name} by other predictors" in words
    assert all(control in page.words and CONTROLS[control] in words for control in CONTROLS)


def test_what_was_assumed_and_how_to_repeat_it_is_said(html):
    words = Page(html).text

    assert "one pool" in words
    assert "schedmate simulate demo.csv --report out.html" in words
    assert SEMI_SYNTHETIC.split("'")[0] in words


def test_each_row_says_whose_code_it_goes_by(html):
    assert "<td>fifo+schedmate (synthetic code)</td>" in html
    assert "<td>fifo+advisor (no code)</td>" in html
    assert "<td>fifo</td>" in html
    assert '<th scope="col">fifo+schedmate (synthetic code)</th>' in html


def test_a_synthetic_workload_only_is_called_semi_synthetic(columns):
    assert "Semi-synthetic" not in report_html([digest_of(columns)], command="c")


def test_of_a_sweep_it_is_said_which_setting_is_shown(columns):
    runs = runs_of(columns)
    compared = replace(compared_of(columns, runs), setting={"load": 0.7, "seed": 3.0})

    html = report_html([digest(compared, columns, runs)], command="c")

    assert "The first setting of a sweep (load 0.7, seed 3)." in html


def test_hostile_names_are_words_and_nothing_else():
    columns = some_columns(60, users=("ada", HOSTILE))
    runs = runs_of(columns)
    compared = compared_of(columns, runs, trace=HOSTILE)

    html = report_html([digest(compared, columns, runs)], command=HOSTILE)

    page = Page(html)
    assert [tag for tag, _ in page.tags].count("script") == SCRIPTS
    assert "img" not in {tag for tag, _ in page.tags}
    assert "\x00" not in html
    assert "\u202e" not in html
    html.encode()
    assert plots(html)


@pytest.mark.parametrize("jobs", [1, 2])
def test_hardly_any_jobs_make_a_page_too(jobs):
    columns = some_columns(jobs)

    assert plots(report_html([digest_of(columns)], command="c"))


def test_jobs_that_take_no_time_and_come_at_once_make_a_page_too():
    columns = some_columns(3)
    for column in (columns.submit, columns.duration):
        column[:] = 0

    assert "All jobs come at once" in report_html([digest_of(columns)], command="c")


def test_many_jobs_make_no_large_file():
    columns = some_columns(20_000)
    runs = runs_of(columns, gpus=10_000)
    compared = compared_of(columns, runs, gpus=10_000)

    assert len(report_html([digest(compared, columns, runs)], command="c")) < 200_000


def test_a_report_that_cannot_be_written_says_so(columns, tmp_path):
    with pytest.raises(BadInput, match="cannot write the report"):
        write_report(tmp_path / "no" / "out.html", [digest_of(columns)], command="c")


@pytest.fixture
def browser() -> str:
    found = shutil.which("chromium") or shutil.which("google-chrome")
    if found is None:
        pytest.skip("needs Chromium")
    return found


@pytest.mark.processes
def test_a_browser_draws_it_without_a_complaint(html, browser, tmp_path):
    path = tmp_path / "report.html"
    path.write_text(html, encoding="utf-8")

    seen = browse(browser, path, tmp_path)

    assert "CONSOLE" not in seen.stderr
    assert seen.stdout.count('class="uplot') == html.count("data-plot=") == 3
    assert "<canvas" in seen.stdout


@pytest.mark.processes
def test_the_mouse_shows_the_values(html, browser, tmp_path):
    path = tmp_path / "report.html"
    moved = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", html)
    path.write_text(moved.replace("</body>", f"<script>{MOUSE}</script></body>"), encoding="utf-8")

    seen = browse(browser, path, tmp_path)

    assert "CONSOLE" not in seen.stderr
    legend = re.findall(r'u-label">([^<]*)</div></th><td class="u-value">([^<]*)<', seen.stdout)
    values = dict(legend[1:4])
    assert values == {"fifo": "100 %", "fifo+advisor": "100 %", "fifo+schedmate": "100 %"}


def test_a_dot_has_its_value_without_a_script(html, columns):
    waits = (runs_of(columns)[0].outcome.start - columns.submit)[columns.gpus == 4].mean()
    titles = [one.text for one in plots(html)["Average wait by size of the job"].iter("title")]

    assert f"3 to 4 GPUs, fifo: {waits / 3600:.3g} h" in titles
    swept = [one.text for one in plots(html)["demo.csv: what error changes"].iter("title")]
    assert "error 1, fifo+schedmate: 2.00x" in swept


MOUSE = """
const over = document.querySelector(".u-over"), box = over.getBoundingClientRect();
const at = {clientX: box.right - 2, clientY: box.top + 9, bubbles: true};
over.dispatchEvent(new MouseEvent("mouseenter", at));
over.dispatchEvent(new MouseEvent("mousemove", at));
"""


def browse(browser: str, path: Path, profile: Path) -> subprocess.CompletedProcess[str]:
    """The page after its scripts have run, and what the browser's console wrote."""
    return subprocess.run(
        [
            browser,
            *("--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr"),
            *("--virtual-time-budget=3000", "--window-size=1200,900"),
            *(f"--user-data-dir={profile / 'profile'}", "--dump-dom", path.as_uri()),
        ],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
