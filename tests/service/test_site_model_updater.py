"""The daemon learns from its history beside the loop, and predicts by it."""

import logging
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from weakref import ref

import pytest

from schedmate.advisor import Advisor, Target
from schedmate.advisor.predict.cohort_model import CohortModel
from schedmate.advisor.predict.site_model import learnt_site_model
from schedmate.config import Settings
from schedmate.model import (
    Advice,
    Fingerprint,
    Job,
    JobState,
    Prediction,
    Request,
    Spread,
    Workload,
)
from schedmate.service.daemon.background import BackgroundQueue
from schedmate.service.daemon.site_model_updater import SiteModelUpdater
from schedmate.service.daemon.training import train_beside
from schedmate.service.usecases.history_import import learn_from
from schedmate.service.wiring import open_store
from schedmate.store.base import KeptAdvice
from schedmate.store.sqlite import SqliteStore
from schedmate.testing.history import past_run

NOW = 1_700_000_000.0


@pytest.fixture
def path(tmp_path):
    return tmp_path / "store"


@pytest.fixture
def store(path):
    with closing(SqliteStore(path)) as store:
        yield store


@pytest.fixture
def background():
    background = BackgroundQueue()
    yield background
    background.close()


def remember(store, count, *, seconds=600.0, user="ann", first=0, fingerprint=None):
    store.keep_runs(
        [
            past_run(
                f"{user}{first + number}",
                seconds * (1 + number % 3 / 10),
                user=user,
                name=f"job{first + number}",
                ended_at=NOW - 1000.0 * (count - number),
                fingerprint=fingerprint,
            )
            for number in range(count)
        ]
    )


def wait_for(told, seconds=60.0):
    until = time.monotonic() + seconds
    while not told() and time.monotonic() < until:
        time.sleep(0.05)
    return told()


def job(job_id="j1", state=JobState.PENDING, **changes):
    return Job(
        id=job_id, name="x", user="ann", state=state, workdir="/", submit_time=NOW, **changes
    )


def test_nothing_is_learnt_from_next_to_nothing(store):
    remember(store, 5)
    learn_from(store, at=NOW)
    assert learnt_site_model(store).cohorts is None


def test_what_nothing_resembles_is_predicted_by_the_site(store, tmp_path):
    remember(store, 60)
    remember(store, 60, seconds=9000.0, user="bob")
    learn_from(store, at=NOW)
    target = Target(
        workdir=tmp_path, command=("other",), user="ann", name="quite-new", request=Request(gpus=3)
    )
    prediction = Advisor(store, store).advise(target).advice.prediction
    assert prediction.basis == "history"
    assert "ann's last" in prediction.explanation
    assert 300 < prediction.duration_s.p50 < 1500


def test_predictions_of_a_tier_are_bent_by_the_past(store):
    remember(store, 120, fingerprint=Fingerprint(code="c", arguments="a"))
    learn_from(store, at=NOW)
    calibration = learnt_site_model(store).learnt.calibration
    assert len(calibration.kinds["identical"].places) > 10


def test_it_is_learnt_at_the_start_and_then_seldom(store, path, background):
    remember(store, 30)
    updater = SiteModelUpdater(store, background, lambda: SqliteStore(path))
    updater.consider(NOW)
    assert wait_for(lambda: learnt_site_model(store).cohorts is not None)
    first = store.learnt("cohorts/2")
    remember(store, 30, first=100, seconds=50.0)
    for number in range(30):
        updater.ended(job(f"e{number}", JobState.COMPLETED, start_time=NOW, end_time=NOW + 9))
    updater.consider(NOW + 60)
    time.sleep(0.3)
    assert store.learnt("cohorts/2") == first
    updater.consider(NOW + 3600)
    assert wait_for(lambda: store.learnt("cohorts/2") != first)


def test_a_store_that_cannot_be_opened_stops_nothing(store, background):
    def broken():
        raise OSError("gone")

    updater = SiteModelUpdater(store, background, broken)
    updater.consider(NOW)
    updater.submitted(job())
    updater.ended(job(state=JobState.COMPLETED, start_time=NOW, end_time=NOW + 5))


def test_jobs_on_their_way_are_told_to_what_is_learnt_later(store, path, background):
    updater = SiteModelUpdater(store, background, lambda: SqliteStore(path))
    updater.submitted(job("waiting"))
    updater.started(job("running", JobState.RUNNING, start_time=NOW + 5))
    remember(store, 40)
    learn_from(store, at=NOW)
    updater.submitted(job("another"))
    site = learnt_site_model(store).cohorts
    assert {"waiting", "running", "another"} == set(site._in_flight)
    assert Path(path).exists()


def test_of_many_jobs_that_wait_a_part_is_told_in_each_poll(store, path, background, monkeypatch):
    monkeypatch.setattr("schedmate.service.daemon.site_model_updater._FED_FOR_S", 0.0)
    updater = SiteModelUpdater(store, background)
    for number in range(5):
        updater.submitted(job(f"w{number}"))
    updater.started(job("r1", JobState.RUNNING, start_time=NOW + 5))
    updater.started(job("r2", JobState.RUNNING, start_time=NOW + 5))
    remember(store, 41)
    learn_from(store, at=NOW)
    updater.submitted(job("another"))
    told = learnt_site_model(store).cohorts._in_flight
    assert set(told) == {"r1", "r2", "w0", "another"}, "what runs counts at once"
    updater.started(job("w4", JobState.RUNNING, start_time=NOW + 6))
    updater.forget("w3")
    updater.consider(NOW)
    assert set(told) == {"r1", "r2", "w0", "another", "w4", "w1"}
    for _ in range(3):
        updater.consider(NOW)
    assert set(told) == {"r1", "r2", "w0", "another", "w4", "w1", "w2"}


def test_of_two_models_only_one_is_in_memory(store, background, monkeypatch):
    remember(store, 40, user="first")
    learn_from(store, at=NOW)
    updater = SiteModelUpdater(store, background)
    updater.submitted(job("one"))
    before = ref(learnt_site_model(store).cohorts)
    remember(store, 40, user="second")
    learn_from(store, at=NOW + 1)
    load, still_there = CohortModel.load, []

    def loaded(data):
        still_there.append(before() is not None)
        return load(data)

    monkeypatch.setattr(CohortModel, "load", loaded)
    updater.submitted(job("two"))

    assert still_there == [False]
    assert set(learnt_site_model(store).cohorts._in_flight) == {"one", "two"}


def test_jobs_whose_end_is_not_known_are_no_longer_on_their_way(store, background):
    remember(store, 40, user="vanishing")
    learn_from(store, at=NOW)
    updater = SiteModelUpdater(store, background)
    for name in ("cancelled while it waited", "vanished while it ran", "runs"):
        updater.submitted(job(name))
    updater.started(job("vanished while it ran", JobState.RUNNING, start_time=NOW + 5))
    updater.ended(job("cancelled while it waited", JobState.CANCELLED, end_time=NOW + 9))
    updater.forget("vanished while it ran")
    updater.forget("never heard of")

    site = learnt_site_model(store).cohorts

    assert set(site._in_flight) == set(updater._unfinished) == {"runs"}


def advised(store, waiting):
    said = Prediction(basis="history", duration_s=Spread(1, 2, 3), explanation="by nothing")
    store.keep_advice(waiting.id, KeptAdvice(Advice(workload=Workload(), prediction=said), None))


def test_a_job_that_waited_is_predicted_again_by_what_ended_meanwhile(store, background):
    remember(store, 60)
    learn_from(store, at=NOW)
    updater = SiteModelUpdater(store, background)
    waiting = job(request=Request(gpus=3))
    advised(store, waiting)
    updater.submitted(waiting)
    started = replace(waiting, state=JobState.RUNNING, start_time=NOW + 9000)
    again = updater.predict_again(started)
    assert 300 < again.advice.prediction.duration_s.p50 < 1500
    assert store.advice("j1") == again


def test_what_cannot_be_predicted_again_stands_as_it_was(store, background, caplog, monkeypatch):
    updater = SiteModelUpdater(store, background)
    waiting = job()
    advised(store, waiting)
    monkeypatch.setattr("schedmate.service.daemon.site_model_updater.predict", lambda *_: 1 / 0)
    assert updater.predict_again(replace(waiting, start_time=NOW + 9000)) is None
    assert "is not predicted again" in caplog.text
    assert store.advice("j1").advice.prediction.duration_s.p50 == 2


@pytest.mark.processes
def test_a_long_history_is_learnt_in_a_process_of_its_own(tmp_path):
    settings = Settings(state_dir=tmp_path)
    with closing(open_store(settings)) as store:
        remember(store, 30)
        assert train_beside(settings, NOW)
        assert learnt_site_model(store).cohorts is not None


@pytest.mark.processes
def test_what_cannot_be_learnt_beside_the_daemon_is_learnt_in_it(tmp_path, caplog):
    caplog.set_level(logging.INFO)
    settings = Settings(state_dir=tmp_path)
    settings.database.mkdir()
    assert not train_beside(settings, NOW)
    assert "is trained in the daemon itself" in caplog.text


@pytest.mark.slow
@pytest.mark.parametrize(("runs", "beside"), [(30, False), (1000, True)])
def test_only_a_long_history_is_worth_a_process(store, path, background, runs, beside):
    remember(store, runs)
    asked = []
    updater = SiteModelUpdater(store, background, lambda: SqliteStore(path), asked.append)
    updater.consider(NOW)
    assert wait_for(lambda: learnt_site_model(store).cohorts is not None)
    assert asked == [NOW] * beside
