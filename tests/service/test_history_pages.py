"""Years of accounting in pages: all of it once, whatever stops the import."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

import pytest

from schedmate.model import JobState, SchedulerUnreachable
from schedmate.schedulers.base import AccountedRun
from schedmate.service.usecases import history_pages
from schedmate.service.usecases.history_pages import Pages
from schedmate.service.wiring import open_store
from schedmate.testing.builders import a_job, a_past_run

DAY = 86_400.0
START = 1_700_000_000.0


class Accounting:
    """Our own seam: what a scheduler that keeps history answers."""

    def __init__(self, runs=(), name="here"):
        self.runs = list(runs)
        self.name = name
        self.asked = []
        self.empty_answers = 0
        self.too_long_s = float("inf")

    def cluster(self):
        return self.name

    def ended_between(self, start, end, user=None):
        self.asked.append((start, end))
        if end - start > self.too_long_s:
            raise SchedulerUnreachable("sacct gave no answer in 30 s")
        found = [run for run in self.runs if int(start) <= run.job.end_time < int(end)]
        if found and self.empty_answers:
            self.empty_answers -= 1
            return []
        return found

    def stored_scripts(self, ids):
        return {}

    def held_for_s(self):
        return 300.0


def run(number, end, *, submit=None, state=JobState.COMPLETED):
    job = a_job(
        id=str(number),
        state=state,
        submit_time=submit or end - 100,
        start_time=end - 50,
        end_time=end,
    )
    return AccountedRun(job)


@pytest.fixture
def store(place, monkeypatch):
    monkeypatch.setattr(history_pages, "_PAUSE_S", 0.0)
    with closing(open_store(place.settings)) as opened:
        yield opened


def pages_of(place, accounting, store):
    return Pages(place.settings.state_dir / "imported.json", accounting, store)


def take(place, accounting, store, since=START, until=START + 400 * DAY, *, most=None, **options):
    """Ids with their attempts, as they come; a killed import takes `most` pages only."""
    found = []
    for count, page in enumerate(pages_of(place, accounting, store).read(since, until, **options)):
        if count == most:
            break
        jobs = [one.job for one in page.runs]
        store.keep_runs([replace(a_past_run(), job=job) for job in jobs])
        found += [(job.id, job.restarts) for job in jobs]
    return found


def test_all_of_it_comes_once_in_windows_that_adapt(place, store, monkeypatch):
    monkeypatch.setattr(history_pages, "ROWS", 50)
    ends = [START + 200 * DAY + 600 * number for number in range(4000)]
    accounting = Accounting(run(number, end) for number, end in enumerate(ends))

    found = take(place, accounting, store)

    assert sorted(found, key=lambda one: int(one[0])) == [(str(n), 0) for n in range(4000)]
    sizes = [end - start for start, end in accounting.asked]
    assert max(sizes) == history_pages._LONGEST_S
    busy = [
        s for s, (start, end) in zip(sizes, accounting.asked, strict=True) if start > ends[2000]
    ]
    assert min(busy) <= 50 * 600 * 2


@pytest.mark.parametrize("most", [1, 5, 9, 12, 20])
def test_a_killed_import_goes_on_where_it_was(place, store, monkeypatch, most):
    monkeypatch.setattr(history_pages, "ROWS", 20)
    accounting = Accounting(run(n, START + n * DAY / 2) for n in range(600))

    first = take(place, accounting, store, most=most)
    already = len(accounting.asked)
    second = take(place, accounting, store)

    assert {*first, *second} == {(str(n), 0) for n in range(600)}
    unfinished = max(0, len(first) + len(second) - 600)
    assert unfinished <= 120  # the page that was under way, and the day before it
    assert accounting.asked[already][0] >= accounting.asked[max(0, most - 2)][0] - DAY
    assert take(place, accounting, store) == []


def test_what_is_older_or_newer_is_added(place, store):
    accounting = Accounting(run(n, START + n * DAY) for n in range(10, 390, 10))
    middle = take(place, accounting, store, START + 100 * DAY, START + 200 * DAY)
    rest = take(place, accounting, store)

    assert len(middle) == 10
    assert len({*middle, *rest}) == len(accounting.runs)
    assert len(take(place, accounting, store, again=True)) == len(accounting.runs)


def test_nothing_is_believed_only_twice(place, store):
    accounting = Accounting(run(n, START + n * DAY) for n in range(300))
    pages = pages_of(place, accounting, store).read(START, START + 400 * DAY)
    found = []
    for page in pages:
        found += page.runs
        accounting.empty_answers = 1  # the next question is answered with nothing
    assert len(found) == 300


def test_a_window_that_takes_too_long_is_made_smaller(place, store):
    accounting = Accounting(run(n, START + n * DAY) for n in range(300))
    accounting.too_long_s = 5 * DAY
    assert len(take(place, accounting, store)) == 300

    accounting.too_long_s = 0.0
    with pytest.raises(SchedulerUnreachable):
        take(place, accounting, store, again=True)


def test_runs_of_a_requeued_job_are_counted_across_pages(place, store):
    queued_again = JobState.PENDING
    rows = [
        run(7, START + DAY, submit=START, state=queued_again),
        run(7, START + 60 * DAY, submit=START + DAY, state=JobState.NODE_FAIL),
        run(7, START + 61 * DAY, submit=START + 60 * DAY),
        run(8, START + DAY, submit=START, state=queued_again),
        run(8, START + 20 * DAY, submit=START + DAY),
    ]
    found = take(place, Accounting(rows), store)
    assert [one for one in found if one[0] == "8"] == [("8", 1)]
    assert len({one for one in found if one[0] == "7"}) == 2
    assert take(place, Accounting(rows), store, again=True) == found


def test_a_number_that_is_used_again_is_no_further_attempt(place, store):
    rows = [
        run(7, START + DAY, submit=START, state=JobState.FAILED),
        run(7, START + 2 * DAY, submit=START + DAY + 200.0),  # within MinJobAge: queued again
        run(7, START + 3 * DAY, submit=START + 2 * DAY + 900.0),
    ]
    found = take(place, Accounting(rows), store)
    assert found == [("7", 0), ("7", 1), ("7", 0)]
    assert take(place, Accounting(rows), store, again=True) == found
    assert store.run("7").job.end_time == START + 3 * DAY
    assert store.run(f"7@{START:.0f}").job.end_time == START + 2 * DAY


def test_another_cluster_and_a_new_store_are_read_from_the_beginning(place, store):
    rows = [run(1, START + DAY)]
    assert take(place, Accounting(rows), store) == [("1", 0)]
    assert take(place, Accounting(rows), store) == []
    assert take(place, Accounting(rows, "elsewhere"), store) == [("1", 0)]
    file = place.settings.state_dir / "imported.json"
    for text in (
        "",
        "[]",
        '{"here": 3}',
        file.read_text().replace('"created_at": 1', '"created_at": 2'),
    ):
        file.write_text(text)
        assert take(place, Accounting(rows), store) == [("1", 0)]
