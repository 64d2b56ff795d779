"""Curves of loss and speed go as far as the progress that stands beside them."""

from __future__ import annotations

import pytest

from schedmate.model import JobState
from schedmate.service.views.job_view import JobView
from schedmate.service.views.run_curves import CurveReader, speed_seen
from schedmate.store import CountSeen
from schedmate.testing.builders import a_job, a_progress

STARTED = 1000.0


def running(current, at, unit="step"):
    job = a_job(state=JobState.RUNNING, start_time=STARTED)
    progress = a_progress(unit=unit, current=current)
    return JobView(job=job, progress=progress, progress_at=STARTED + at, diagnoses={})


def seen(*marks):
    return [CountSeen(STARTED + at, "step", done) for at, done in marks]


EVENTS = ((0.0, 0.0), (600.0, 600.0), (1200.0, 1200.0))


@pytest.mark.parametrize(
    ("at", "current", "last"),
    [
        (1700.0, 1450.0, (1700.0, 0.5)),
        (1210.0, 1230.0, (1210.0, pytest.approx(630 / 610))),
        (1210.0, 1200.0, (1200.0, 1.0)),
    ],
)
def test_the_speed_ends_where_the_log_was_last_read(at, current, last):
    """A burst of lines just after an event is no speed of its own; no step is no point."""
    found = speed_seen(running(current, at), None, seen(*EVENTS))

    assert found.points[-1] == last


def test_progress_of_another_unit_is_no_point():
    found = speed_seen(running(7.0, 1700.0, unit="epoch"), None, seen(*EVENTS))

    assert found.points[-1] == (1200.0, 1.0)


def test_the_loss_ends_with_the_newest_line(tmp_path):
    """Of a long log every n-th value is kept."""
    log = tmp_path / "train.log"
    lines = 1003
    log.write_text("".join(f"step {n}/2000 loss {9 - n / 1000:.3f}\n" for n in range(1, lines + 1)))

    [loss, *_] = CurveReader().curves(a_job(), [log], None).drawn

    assert loss.points[-1] == (lines, pytest.approx(7.997))
