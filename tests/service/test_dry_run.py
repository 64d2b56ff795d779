"""A dry run shows every decision and changes neither the scheduler nor the store."""

from __future__ import annotations

import time

import pytest

from schedmate.model import JobState
from schedmate.service.daemon.serving import look_once
from service.place import KILLED_ONCE, Place


@pytest.fixture(params=["observe", "assist", "act"])
def place(tmp_path, request):
    place = Place(tmp_path, request.param)
    yield place
    place.leave()


def test_it_decides_and_changes_nothing(place):
    with place.store() as store:
        store.created_at()
    failing = place.scheduler.submit(place.submission(KILLED_ONCE))
    deadline = time.monotonic() + 60
    while not place.job(failing).state.ended and time.monotonic() < deadline:
        time.sleep(0.1)
    blockers = [place.scheduler.submit(place.submission("sleep 600")) for _ in range(2)]
    while place.job(blockers[-1]).state is not JobState.RUNNING and time.monotonic() < deadline:
        time.sleep(0.1)
    waiting = place.scheduler.submit(place.submission("sleep 600"))
    decided = []

    look_once(place.settings, lambda action, would: decided.append((action, would)))

    kinds = {(one.job_id, one.kind): would for one, would in decided}
    assert kinds[waiting, "set_nice"] is (place.mode != "observe")
    assert kinds[failing, "requeue"] is (place.mode == "act")
    assert (place.job(failing).restarts, place.job(waiting).nice) == (0, 0)
    with place.store() as store:
        assert store.actions() == []
        assert store.events() == []
        assert store.run(failing) is None

    place.one_look()

    assert place.job(failing).restarts == (1 if place.mode == "act" else 0), "it was not used up"
