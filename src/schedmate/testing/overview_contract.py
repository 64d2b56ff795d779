"""What every store must tell the pages about many runs at once; part of `StoreContract`."""

# ruff: noqa: S101 - these are tests: asserts are how they speak
from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from schedmate.model import Action, DecisionReason, JobState, LlmCall, Request
from schedmate.model.wire import dumps
from schedmate.store import DoneAction, KeptAdvice, KeptEvent, PersonsAct
from schedmate.testing.builders import (
    a_diagnosis,
    a_job,
    a_past_run,
    a_progress,
    a_spread,
    an_advice,
)
from schedmate.testing.resumes_contract import ResumesContract

if TYPE_CHECKING:
    from schedmate.store import Store


class OverviewContract(ResumesContract):
    def test_runs_in_short(self, store: Store) -> None:
        job = a_job(
            id="1",
            state=JobState.FAILED,
            request=Request(gpus=4, partition="gpu"),
            start_time=1010.0,
            end_time=1070.0,
        )
        store.keep_run(a_past_run(job=job))
        store.keep_run(a_past_run(job=a_job(id="2", state=JobState.COMPLETED, end_time=2000.0)))
        store.keep_advice("1", KeptAdvice(an_advice(60.0), None))
        store.keep_diagnosis("1", 0, a_diagnosis("gpu_oom", confidence=0.9))
        first, second = store.run_summaries(since=1000.0)
        assert (first.job_id, first.user, first.state) == ("1", job.user, JobState.FAILED)
        assert (first.gpus, first.partition, first.run_time_s) == (4, "gpu", 60.0)
        assert (first.basis, first.predicted_s) == ("same_code", a_spread(60.0))
        assert (first.reason, first.confidence, first.source) == ("gpu_oom", 0.9, "rule")
        assert (second.job_id, second.predicted_s, second.reason) == ("2", None, "")
        assert [run.job_id for run in store.run_summaries(since=1500.0)] == ["2"]
        assert [run.job_id for run in store.run_summaries(since=0.0, limit=1)] == ["2"]

    def test_what_was_carried_out(self, store: Store) -> None:
        for number, value in enumerate((None, 35.0, 2.5)):
            action = Action(
                kind="set_nice", job_id=str(number), attempt=number, why="", value=value
            )
            store.intend(action, at=1.0)
            if number:
                store.settle(action, "done", at=10.0 * number)
        undone = replace(action, value=0.0, reason=DecisionReason(code="reverted"))
        store.intend(undone, at=30.0)
        store.settle(undone, "done", at=30.0)
        assert store.done_actions(since=0.0) == [
            DoneAction("1", 1, "set_nice", 35.0),
            DoneAction("2", 2, "set_nice", 2.5),
        ]
        assert [one.job_id for one in store.done_actions(since=15.0)] == ["2"]
        assert [one.job_id for one in store.done_actions(since=0.0, limit=1)] == ["2"]

    def test_what_was_seen_of_running_jobs(self, store: Store) -> None:
        store.keep_events(
            [
                _seen(10.0, a_progress(current=5.0, eta_s=None)),
                _seen(20.0, a_progress(current=50.0, eta_s=a_spread(8.0))),
                _seen(30.0, a_progress(current=None, eta_s=None)),
            ],
            most=100,
        )
        (eta,) = store.etas_seen(since=0.0)
        assert (eta.job_id, eta.at, eta.left_s) == ("1", 20.0, a_spread(8.0))
        assert not store.etas_seen(since=25.0)
        counts = store.counts_seen("1")
        assert [(one.at, one.unit, one.done) for one in counts] == [
            (10.0, "step", 5.0),
            (20.0, "step", 50.0),
        ]
        assert not store.counts_seen("2")

    def test_questions_to_a_model_one_by_one(self, store: Store) -> None:
        calls = [
            LlmCall(at=float(at), purpose="diagnose", model="m", outcome="ok", prompt_tokens=at)
            for at in (1, 2, 3)
        ]
        for call in calls:
            store.record_call(call)
        assert list(store.model_calls(since=2.0)) == calls[1:]
        assert list(store.model_calls(since=0.0, limit=1)) == calls[2:]

    def test_what_people_did_stays(self, store: Store) -> None:
        acts = [
            PersonsAct(at=float(at), user="ada", action="revert", about=f"job {at}", detail="it's")
            for at in (1, 2)
        ]
        for act in acts:
            store.record_act(act)
        assert list(store.acts()) == acts[::-1]
        assert list(store.acts(about="job 1")) == acts[:1]
        assert not store.acts(about="job 3")
        assert list(store.acts(user="ada", action="revert", limit=1, offset=1)) == acts[:1]
        assert not store.acts(user="bob")

    def test_of_some_acts_only_the_newest_stay(self, store: Store) -> None:
        for at in range(5):
            act = PersonsAct(at=float(at), user="", action="failed sign-in", about=f"address {at}")
            store.record_act(act, newest=2)
        store.record_act(PersonsAct(at=9.0, user="ada", action="revert", about="job 1"))
        assert [one.at for one in store.acts()] == [9.0, 4.0, 3.0]


def _seen(at: float, progress: object) -> KeptEvent:
    body = dumps({"at": at, "job_id": "1", "progress": progress})
    return KeptEvent(at=at, kind="ProgressSeen", job_id="1", body=body)
