"""A dry run shows every decision and changes neither the scheduler nor the store."""

from __future__ import annotations

import json
import time
from contextlib import closing
from dataclasses import replace

import pytest
from click.testing import CliRunner

from schedmate.cli import root
from schedmate.model import Action, JobState
from schedmate.schedulers.base import Rights
from schedmate.service.daemon.serving import look_once
from schedmate.service.dry_run import DryRun
from schedmate.store.sqlite import SqliteStore
from schedmate.testing.builders import a_job
from schedmate.testing.scheduler import FakeScheduler
from service.place import KILLED_ONCE, Place


@pytest.fixture(params=["observe", "assist", "act"])
def place(tmp_path, request):
    place = Place(tmp_path, request.param)
    yield place
    place.leave()


def test_it_decides_and_changes_nothing(place):
    with place.store() as store:
        store.created_at()
    apart = place.root / "apart"  # a job that follows from its directory would settle it
    apart.mkdir()
    failing = place.scheduler.submit(replace(place.submission(KILLED_ONCE), workdir=str(apart)))
    deadline = time.monotonic() + 60
    while not place.job(failing).state.ended and time.monotonic() < deadline:
        time.sleep(0.1)
    blockers = [place.scheduler.submit(place.submission("sleep 600")) for _ in range(2)]
    while place.job(blockers[-1]).state is not JobState.RUNNING and time.monotonic() < deadline:
        time.sleep(0.1)
    waiting = place.scheduler.submit(place.submission("sleep 600"))
    decided = []

    look_once(place.settings, lambda action, obstacle: decided.append((action, obstacle)))

    kinds = {(one.job_id, one.kind): obstacle for one, obstacle in decided}
    in_this_mode = f" in mode {place.mode}"
    assert kinds[waiting, "set_nice"] == (in_this_mode if place.mode == "observe" else None)
    assert kinds[failing, "requeue"] == (None if place.mode == "act" else in_this_mode)
    assert (place.job(failing).restarts, place.job(waiting).nice) == (0, 0)
    with place.store() as store:
        assert store.actions() == []
        assert store.events() == []
        assert store.run(failing) is None

    place.one_look()

    assert place.job(failing).restarts == (1 if place.mode == "act" else 0), "it was not used up"


@pytest.fixture
def verbs(tmp_path, monkeypatch):
    """A place whose settings the verbs read too."""
    place = Place(tmp_path, "act")
    monkeypatch.setenv("SCHEDMATE_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("SCHEDMATE_MODE", "act")
    monkeypatch.setenv("SCHEDMATE_LOCAL__SLOTS", "2")
    monkeypatch.setenv("SCHEDMATE_LLM__ENABLED", "false")
    yield place
    place.leave()


@pytest.mark.processes
def test_the_verbs_state_what_they_would_do(verbs):
    job = verbs.submit("sleep 600")
    verbs.looks_until(lambda: verbs.job(job).state is JobState.RUNNING, "the start")
    run = CliRunner().invoke

    requeue, cancel = (run(root, [name, job, "--dry-run"]).output for name in ("requeue", "cancel"))
    release = run(root, ["release", job, "--dry-run"])

    assert requeue == f"job {job} (RUNNING, run 1) would be stopped and queued again\n"
    assert cancel == f"job {job} (RUNNING) would be cancelled\n"
    assert str(release.exception) == f"job {job} is not held"
    assert (verbs.job(job).state, verbs.job(job).restarts) == (JobState.RUNNING, 0)


@pytest.mark.processes
def test_serve_prints_one_line_a_decision(verbs):
    with verbs.store() as store:
        store.created_at()
    job = verbs.scheduler.submit(verbs.submission(KILLED_ONCE))
    deadline = time.monotonic() + 60
    while not verbs.job(job).state.ended and time.monotonic() < deadline:
        time.sleep(0.1)

    shown = CliRunner().invoke(root, ["serve", "--once", "--dry-run"])
    data = CliRunner().invoke(root, ["serve", "--once", "--dry-run", "--json"])

    assert f"job {job}: requeue (killed: " in shown.output
    assert shown.output.rstrip().endswith("would be done")
    [line] = data.stdout.splitlines()
    decision = json.loads(line)
    assert (decision["schema"], decision["would"]) == ("schedmate.decision/1", True)
    assert (decision["kind"], decision["job_id"]) == ("requeue", job)


def test_what_is_only_recorded_in_mode_act_has_the_true_reason(tmp_path):
    """Beside what the mode allows: what asks nothing, what was recorded before, missing rights."""

    class OfMany(FakeScheduler):
        def rights(self):
            return Rights(everyone=False, role="ordinary user")

    scheduler, shown = OfMany(), []
    scheduler.put(a_job(id="1", user="somebody else"))
    kinds = ("leave", "requeue", "hold")
    actions = [Action(kind=kind, job_id="1", attempt=0, why="") for kind in kinds]
    with closing(SqliteStore(tmp_path / "store")) as store:
        store.intend(actions[2], at=1.0, state="observed")
        dry = DryRun(scheduler, store, "act", lambda _, obstacle: shown.append(obstacle))
        for action in actions:
            dry.carry_out(action, 2.0)

    assert shown == [
        ": there is nothing to do",
        ": this account may not do it",
        ", as it was before: it is not done later",
    ]
