"""Every decision of a live run is in the event log, and comes out again in a replay."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from click.testing import CliRunner

from schedmate import config
from schedmate.cli import replay as replay_verb
from schedmate.cli import root
from schedmate.config import FairnessSettings, Settings
from schedmate.core import JobAdvised, JobSeen, Started
from schedmate.model import BadInput, JobState, NotFound
from schedmate.service.records.event_log import kept
from schedmate.service.usecases.interventions import record_correction
from schedmate.service.usecases.replay import Recording, export, recorded_by, recorded_in, replay
from schedmate.service.wiring import deciding_settings, limits_of
from schedmate.testing.builders import a_diagnosis, a_job, an_advice
from service.place import ERROR, KILLED_ONCE, Place


@pytest.fixture
def lived(place):
    """A store after real jobs: one that was retried, one user's mistake, one that waited."""
    mistaken, retried = place.submit(ERROR), place.submit(KILLED_ONCE)  # nothing follows the latter
    place.looks_until(lambda: place.ended(retried, 1) and place.ended(mistaken), "the end")
    place.one_look()
    place.retried, place.mistaken = retried, mistaken
    return place


def recording_of(place):
    with place.store() as store:
        return recorded_in(store)


def test_a_replay_by_the_same_settings_decides_the_same(lived):
    recording = recording_of(lived)
    kinds = {(action.job_id, action.kind) for action in recording.decided}
    assert {(lived.retried, "requeue"), (lived.mistaken, "leave")} <= kinds

    found = replay(recording, lived.settings)

    assert found.differences == ()
    assert found.decisions >= 2


def test_other_settings_show_what_they_would_change(lived):
    found = replay(recording_of(lived), lived.settings, changes=["retries=0"])

    changed = {(each.job_id, each.kind): each for each in found.differences}
    assert changed[lived.retried, "requeue"].now is None
    assert changed[lived.retried, "leave"].now.reason.code == "retries_used"
    assert not any(job == lived.mistaken for job, _ in changed)


def test_an_export_replays_by_the_settings_it_was_recorded_with(lived, tmp_path, monkeypatch):
    export(recording_of(lived), tmp_path / "events.jsonl")
    elsewhere = config.changed(lived.settings, ["retries=0", "policy=fifo", "hang.minutes=1"])
    monkeypatch.setattr(config, "load", lambda: elsewhere)
    arguments = ["replay", str(tmp_path / "events.jsonl")]

    same = CliRunner().invoke(root, arguments)
    mine = CliRunner().invoke(root, [*arguments, "--settings", "mine"])

    assert "none differs\nsettings: as recorded\n" in same.output
    assert "all 0 retries are used up" in mine.output
    assert "settings: yours; policy=fifo instead of ssf, retries=0 instead of 2, " in mine.output


def test_a_log_of_several_settings_is_replayed_by_each_in_its_time(lived):
    lived.other_settings = {"retries": 0}
    refused = lived.submit(KILLED_ONCE)
    lived.looks_until(lambda: lived.ended(refused), "the end")
    lived.one_look()
    recording = recording_of(lived)
    assert {one.kind for one in recording.decided if one.job_id == refused} >= {"leave"}

    assert replay(recording, Settings()).differences == ()


def test_a_log_of_an_older_version_is_replayed_by_ones_own_settings(lived, monkeypatch):
    recording = recording_of(lived)
    old = tuple(
        replace(row, body=json.dumps({"at": row.at})) if row.kind == "Started" else row
        for row in recording.events
    )
    monkeypatch.setattr(replay_verb, "_recording", lambda *_: replace(recording, events=old))
    monkeypatch.setattr(config, "load", lambda: lived.settings)

    found = CliRunner().invoke(root, ["replay"])

    assert "none differs\nsettings: yours; the log has recorded none\n" in found.output


def test_a_setting_that_this_version_does_not_have_is_named(lived):
    recording = recording_of(lived)
    newer = tuple(
        replace(row, body=json.dumps({"at": row.at, "settings": {"retries": "2", "mood": "7"}}))
        if row.kind == "Started"
        else row
        for row in recording.events
    )

    found = replay(replace(recording, events=newer), Settings())

    assert (found.unknown, found.differences) == (("mood",), ())


def test_what_is_recorded_makes_the_same_engine():
    other = config.changed(
        Settings(),
        [
            "policy=fifo",
            "nice_at_submission=50",
            "retries=7",
            "retries_in_all=8",
            "longest_wait_s=9",
            "settle_s=5",
            "hang.minutes=inf",
            'hang.partitions={"gpu": 5}',
            "hang.requeue=true",
            "hold.certain=false",
            "hold.after_failures=3",
            "fairness.late_hours=3",
            "fairness.hours=7",
            "fairness.times=1.5",
            'scope.canary_partitions=["debug"]',
            'scope.exclude_users=["ada"]',
            'scope.exclude_partitions=["long"]',
            'scope.exclude_accounts=["lab"]',
            'scope.exclude_qos=["high"]',
            "drain.allowed=true",
            "drain.probability=0.99",
            "drain.most_out=0.2",
            "time_limits.lower=true",
            "time_limits.soft=true",
            "time_limits.extend_hours=4",
            "time_limits.carry_on=2",
            'doomed.stop=["nan"]',
            "doomed.minutes=5",
            "doomed.idle_hours=2",
            'preemption.partitions=["gpu"]',
            'preemption.qos=["low"]',
            "preemption.at_most=1",
            "preemption.after_minutes=5",
            "preemption.ends_soon_minutes=5",
            "preemption.lost_gpu_hours=3",
            "preemption.give_back_minutes=5",
            "preemption.widest=0.5",
            "preemption.worth=2",
            'sharing.partitions=["gpu"]',
            'sharing.qos=["low"]',
            "sharing.memory=0.4",
            "sharing.utilization=0.4",
            "sharing.least_pace=0.8",
            "sharing.begin_anew_minutes=5",
            "sharing.shards_at_submission=4",
            "sharing.gpu_memory_gb=40",
        ],
    )
    recorded = deciding_settings(other)
    assert not set(recorded.items()) & set(deciding_settings(Settings()).items())

    again = config.changed(Settings(), [f"{name}={value}" for name, value in recorded.items()])

    assert limits_of(again, act_since=0) == limits_of(other, act_since=0)
    assert deciding_settings(again) == recorded


@pytest.mark.processes
def test_a_submission_without_a_daemon_records_its_settings(tmp_path):
    place = Place(tmp_path, "assist")
    place.submit("true")

    assert recording_of(place).settings() == deciding_settings(place.settings)
    assert replay(recording_of(place), Settings(policy="fifo")).differences == ()


def test_what_was_recorded_can_be_taken_elsewhere(lived, tmp_path):
    file = tmp_path / "events.jsonl"
    recording = recording_of(lived)
    export(recording, file)

    assert file.stat().st_mode & 0o077 == 0
    assert recorded_by(file) == recording
    with pytest.raises(FileExistsError):
        export(recording, file)


def test_the_verb_says_what_differs(lived, monkeypatch):
    monkeypatch.setattr(config, "load", lambda: lived.settings)

    same = CliRunner().invoke(root, ["replay", "--json"])
    other = CliRunner().invoke(root, ["replay", "--set", "retries=0"])

    assert json.loads(same.output)["differences"] == []
    assert "retries_used" not in other.output
    assert "all 0 retries are used up" in other.output


def test_a_corrected_diagnosis_is_an_event_of_the_daemon(lived):
    with lived.store() as store:
        record_correction(store, lived.job(lived.mistaken), a_diagnosis("segfault"))
    lived.one_look()

    assert ("requeue", 0, "done") in lived.actions(lived.mistaken)
    assert replay(recording_of(lived), lived.settings).differences == ()
    with lived.store() as store:
        assert list(store.unhandled_events()) == []


def test_an_empty_log_says_how_it_is_filled(place):
    with place.store() as store, pytest.raises(NotFound, match="schedmate serve"):
        recorded_in(store)


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", "[1, 2]", "\0\1", '{"schema": "x"}\n', "no json", '{"a":' * 20_000]
)
def test_what_is_no_event_log_is_refused_in_one_sentence(tmp_path, text):
    file = tmp_path / "events.jsonl"
    file.write_text(text)

    with pytest.raises(BadInput, match="event log"):
        recorded_by(file)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("policy", "write NAME=VALUE"),
        ("polcy=ssf", "is policy meant"),
        ("slurm.pol_s=3", "is slurm.poll_s meant"),
        ("retries=-1", "setting retries"),
        ("llm=x", "llm"),
    ],
)
def test_a_setting_that_is_none_is_refused(place, change, words):
    with pytest.raises(BadInput, match=words):
        config.changed(place.settings, [change])


@pytest.mark.parametrize("change", ["nice_range=100", "mode=act", "llm.enabled=false"])
def test_a_setting_that_decides_nothing_is_refused(lived, change):
    with lived.store() as store:
        recording = recorded_in(store)
    with pytest.raises(BadInput, match=r"changes nothing in a replay; .*policy"):
        replay(recording, lived.settings, changes=[change])


def test_a_bound_on_being_overtaken_that_only_the_replay_has_is_reached_in_time():
    """The daemon looked at the waiting job for hours, and the log has left that out."""
    settings = deciding_settings(Settings(fairness=FairnessSettings(late_hours=0.0, hours=100.0)))
    job = a_job(submit_time=0.0, most_nice=1000)
    events = (
        Started(0.0, settings),
        JobSeen(1.0, job),
        JobAdvised(2.0, "1", an_advice(60.0)),
        JobSeen(9 * 3600.0, replace(job, state=JobState.RUNNING, start_time=9 * 3600.0)),
    )
    recording = Recording(events=tuple(kept(one) for one in events), decided=(), act_since=0.0)

    found = replay(recording, Settings(), changes=["fairness.hours=6"])

    [changed] = found.differences
    assert (changed.kind, changed.now.reason.code) == ("set_nice", "overtaken_enough")
    again = replay(recording, Settings(), changes=["fairness.hours=10"])
    assert again.differences == ()
