"""The pieces of the demo, without running it."""

from __future__ import annotations

import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from schedmate.cli.demo import stay_open
from schedmate.config import Settings
from schedmate.demo import stage
from schedmate.demo.page import page
from schedmate.demo.plan import TODAY, YESTERDAY, DemoPart
from schedmate.demo.show import DemoSample, Record, went_as_planned
from schedmate.demo.summary import summarise
from schedmate.model import REASONS, JobState, NotFound
from schedmate.service.views.job_view import JobView
from schedmate.testing.builders import a_diagnosis, a_job, an_advice

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.processes
@pytest.mark.parametrize("part", {(p.script, p.args): p for p in YESTERDAY + TODAY}.values())
def test_every_part_is_a_script_that_takes_its_arguments(part):
    script = EXAMPLES / part.script
    told = subprocess.run(
        [sys.executable, script, *part.args, "--help"], capture_output=True, text=True, check=True
    )
    assert "usage:" in told.stdout
    assert part.reasons <= set(REASONS)


def test_names_are_told_apart():
    names = [part.name for part in YESTERDAY + TODAY]
    assert len(set(names)) == len(names)


def record(name, *, start, end, predicted=None, said=(), state=JobState.COMPLETED, **parts):
    job = a_job(
        id=name, name=name, state=state, submit_time=0.0, start_time=start, end_time=end, **parts
    )
    made = Record(DemoPart(name=name, script="x.py"), name, today=True)
    advice = None if predicted is None else an_advice(predicted)
    made.view = JobView(job=job, advice=advice, diagnoses={})
    made.runs[job.restarts] = job
    made.samples = [DemoSample(at, 0, ends_at) for at, ends_at in said]
    return made


def test_the_figures_are_what_was_measured():
    records = [
        record("long", start=0.0, end=100.0, predicted=90.0, said=[(10, 80), (49, 102), (60, 99)]),
        record("short", start=100.0, end=110.0, predicted=10.0),
    ]
    summary = summarise(records, slots=1, daemon_starts=1, seconds=1.0)
    assert summary.prediction_error == pytest.approx((0.1 + 0.0) / 2)
    assert summary.eta_error_at_half_time == pytest.approx(2 / 51)
    assert summary.avg_completion_s == pytest.approx(105.0)
    assert summary.simulated_fifo_s == pytest.approx(105.0)
    assert summary.simulated_schedmate_s == pytest.approx((10 + 110) / 2)


def test_all_attempts_of_a_job_are_its_cost():
    made = record("again", start=20.0, end=30.0, predicted=10.0, restarts=1)
    made.runs[0] = replace(made.runs[1], restarts=0, start_time=0.0, end_time=15.0)
    summary = summarise([made], slots=1, daemon_starts=1, seconds=1.0)
    assert summary.simulated_fifo_s == pytest.approx(25.0)
    assert summary.predicted_jobs == 0, "a job that was retried has no one real duration"


def test_a_run_that_was_requeued_while_it_ran_is_counted_too():
    made = Record(DemoPart(name="hangs", script="x.py"), "1", today=True)
    running = a_job(id="1", state=JobState.RUNNING, start_time=5.0)
    made.note(JobView(job=running, diagnoses={}), 9.0)
    made.note(JobView(job=replace(running, state=JobState.PENDING, restarts=1), diagnoses={}), 10.0)
    assert made.runs[0].run_time_s == pytest.approx(5.0)


def test_a_job_is_settled_when_nothing_more_will_happen():
    made = Record(DemoPart(name="x", script="x.py"), "1", today=True)
    assert not made.settled
    made.note(JobView(job=a_job(state=JobState.FAILED), diagnoses={}), 1.0)
    assert not made.settled, "somebody may still try it again"
    made.note(JobView(job=a_job(state=JobState.FAILED), diagnoses={0: a_diagnosis()}), 2.0)
    assert made.settled


def test_a_lost_or_needlessly_retried_job_is_not_as_planned():
    assert went_as_planned(record("x", start=0, end=1))
    assert not went_as_planned(record("x", start=0, end=1, restarts=1))
    assert not went_as_planned(record("x", start=0, end=1, state=JobState.FAILED))
    assert not went_as_planned(Record(DemoPart(name="x", script="x.py"), "1", today=True))


def test_names_cannot_break_the_page():
    made = record("<script>alert(1)</script>", start=0.0, end=1.0, predicted=2.0)
    text = page([made], [("<b>", "&")])
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert" in text
    assert "&lt;b&gt;" in text


def test_a_core_install_is_told_what_the_demo_needs(monkeypatch):
    monkeypatch.setattr(stage, "is_there", lambda _: False)
    with pytest.raises(NotFound, match=r"need tqdm, .*: pip install '.\[demo\]'"):
        stage.set_stage(Settings())


def test_its_page_stays_open_until_ctrl_c(capsys, monkeypatch):
    looks = []
    monkeypatch.setattr("time.sleep", lambda _: None)
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)

    def look():
        looks.append(1)
        if len(looks) == 3:
            raise KeyboardInterrupt

    stay_open("http://127.0.0.1:8080/", look)
    assert len(looks) == 3
    assert "http://127.0.0.1:8080/ until Ctrl-C" in capsys.readouterr().err


@pytest.mark.processes
def test_its_page_is_waited_for_while_the_daemon_starts():
    looks = []
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]

        def look():
            looks.append(1)
            if len(looks) == 3:
                listener.listen()

        stage.wait_for_page(port, look)
        assert len(looks) == 3
    stage.wait_for_page(port, look, within_s=0.2)
