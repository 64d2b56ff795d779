"""Past jobs into the history, and a look at every part."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

import pytest

from schedmate.advisor.knowledge.accelerators import name_gpus
from schedmate.disk.lock import hold, sign
from schedmate.model import JobState
from schedmate.schedulers.local import LocalScheduler
from schedmate.service.usecases.checkup import run_checks
from schedmate.service.usecases.history_import import import_scheduler, import_table
from schedmate.service.wiring import open_store
from schedmate.testing.builders import a_job, a_past_run
from schedulers.local_site import wait_for
from service.place import KILLED_ONCE


@pytest.mark.processes
def test_what_a_scheduler_still_knows_is_imported_once(place):
    good = place.scheduler.submit(place.submission("true"))
    bad = place.scheduler.submit(place.submission(KILLED_ONCE))
    wait_for(lambda: place.ended(good) and place.ended(bad), "the end")
    place.scheduler.submit(place.submission("sleep 60"))

    assert import_scheduler(place.settings, "local").runs == 2
    assert import_scheduler(place.settings, "local").runs == 2

    with place.store() as store:
        assert len(store.recent_runs()) == 2
        assert store.run(good).fingerprint is not None
        assert store.run(bad).job.state is JobState.FAILED


@pytest.mark.processes
def test_history_learns_from_runs_that_nobody_watched(place):
    bar = r"'\rtrain: %d%%|#| %d/50 [00:%02d<00:10, 2.00it/s]' $((i*2)) $i $((i/2))"
    job_id = place.scheduler.submit(
        place.submission(f"for i in $(seq 0 50); do printf {bar}; done; echo")
    )
    wait_for(lambda: place.ended(job_id), "the end")

    import_scheduler(place.settings, "local")

    with place.store() as store:
        profile = store.run(job_id).profile
        assert (profile.unit, profile.done, profile.total) == ("step", 50, 50)


@pytest.mark.processes
def test_an_import_leaves_what_is_known_better(place):
    job_id = place.scheduler.submit(place.submission("true"))
    wait_for(lambda: place.ended(job_id), "the end")
    known = a_past_run(job=place.job(job_id), steps_done=7.0)
    with place.store() as store:
        store.keep_run(known)

    import_scheduler(place.settings, "local")

    with place.store() as store:
        assert store.run(job_id) == known


def test_the_rows_of_a_table_do_not_take_the_ids_of_jobs(place):
    runs = [a_past_run(job=a_job(id=str(n), state=JobState.COMPLETED)) for n in (1, 2)]

    assert import_table(place.settings, iter(runs), "/some/where/trace.csv").runs == 2

    with place.store() as store:
        assert store.run("1") is None
        assert len(store.recent_runs()) == 2


def findings(place):
    return {finding.part: finding for finding in run_checks(place.settings)}


def test_a_healthy_house_has_nothing_bad_to_say(place):
    found = findings(place)

    parts = {"python", "settings", "store", "scheduler", "account", "daemon", "gpus", "model"}
    parts |= {"rights", "files", "logs", "modes", "scope"}
    assert set(found) == parts
    assert not [one for one in found.values() if one.state == "bad"]
    assert found["daemon"].fix == "schedmate serve"
    assert "mode act" in found["settings"].text


def test_a_daemon_that_follows_is_named(place):
    with hold(place.settings.state_dir / "serve.lock") as lock:
        sign(lock)
        assert findings(place)["daemon"].state == "ok"


def test_gpus_of_past_runs_that_are_unknown_are_listed(place):
    named = replace(place.settings, gpus={"fast": "H100-SXM5-80GB"})
    with closing(open_store(place.settings)) as store:
        for number, gpu_type in enumerate(("a100", "fast", "slow")):
            job = a_job(id=f"9{number}", state=JobState.COMPLETED)
            request = replace(job.request, gpu_type=gpu_type)
            store.keep_run(a_past_run(job=replace(job, request=request)))
    found = {finding.part: finding for finding in run_checks(named)}["gpus"]
    name_gpus({})

    assert found.state == "note"
    assert "a100: a100, 312 TFLOP/s, fast: h100, 989 TFLOP/s, slow: unknown" in found.text
    assert "[gpus]" in found.fix


def test_a_damaged_store_is_found_and_the_rest_still_examined(place):
    open_store(place.settings).close()
    path = place.settings.state_dir / "schedmate.sqlite3"
    path.write_bytes(b"nonsense" * 1000)

    found = findings(place)

    assert found["store"].state == "bad"
    assert "move it away" in found["store"].text
    assert found["scheduler"].state == "ok"


@pytest.mark.parametrize("trouble", [OSError(28, "No space left on device"), OSError("odd")])
def test_trouble_with_the_system_is_a_finding(place, monkeypatch, trouble):
    def fail(*_):
        raise trouble

    monkeypatch.setattr(LocalScheduler, "jobs", fail)

    found = findings(place)["scheduler"]

    assert (found.state, bool(found.text), bool(found.fix)) == ("bad", True, True)
    monkeypatch.undo()
