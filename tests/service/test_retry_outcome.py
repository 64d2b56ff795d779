"""What was done about a failure, and what comes next."""

from __future__ import annotations

import pytest

from schedmate.core.wording import in_words
from schedmate.handler.suspects import Suspicion
from schedmate.model import Action, Decision, DecisionReason, JobState
from schedmate.service.views.job_view import job_view
from schedmate.service.views.sentences import why_sentence
from schedmate.service.visibility import Viewer
from schedmate.testing.builders import a_diagnosis, a_job
from schedmate.testing.scheduler import FakeScheduler

OPERATOR = Viewer(user="root", operator=True)
SICK = a_diagnosis(
    "gpu_ecc", decision=Decision(retry="elsewhere", exclude_nodes=("n1",), why="gpu_ecc: go away")
)
RETRY = DecisionReason(code="worth_a_retry", failure="gpu_ecc", allowed=2)


def written(seconds):
    return f"{seconds:.0f}s"


def told(store, job, *records):
    scheduler = FakeScheduler()
    scheduler.put(job)
    for kind, state, parts in records:
        action = Action(kind=kind, job_id="1", why="gpu_ecc: go away", reason=RETRY, **parts)
        store.intend(action, at=1.0, state=state)
        if state == "failed":
            store.settle(action, "failed", at=1.0, note="no such node")
    view = job_view(scheduler, store, OPERATOR, "1")
    return why_sentence(view, [], 0.0, written), view


REQUEUE = {"attempt": 0, "exclude_nodes": ("n1",)}


@pytest.mark.parametrize(
    ("kind", "state", "parts", "words"),
    [
        (
            "requeue",
            "observed",
            REQUEUE,
            "it would have been queued again, not on n1, retry 1 of 2",
        ),
        ("requeue", "intended", REQUEUE, "it is being queued again, not on n1, retry 1 of 2"),
        ("requeue", "failed", REQUEUE, "it could not be queued again: no such node"),
        (
            "requeue",
            "observed",
            {"attempt": 0, "delay_s": 60.0},
            "it would have been queued again, to start in 60s, retry 1 of 2",
        ),
        ("cancel", "done", {"attempt": 0}, "it was stopped (gpu_ecc: go away)"),
    ],
)
def test_what_was_written_down_is_told(store, kind, state, parts, words):
    store.keep_diagnosis("1", 0, SICK)

    sentence, _ = told(store, a_job(state=JobState.FAILED), (kind, state, parts))

    assert sentence == f"gpu_ecc: it was gpu_ecc; {words}"


def test_a_retry_that_waits_says_what_it_comes_from(store):
    store.keep_diagnosis("1", 0, SICK)

    sentence, view = told(store, a_job(restarts=1), ("requeue", "done", REQUEUE))

    assert sentence.endswith(
        "; the attempt before: gpu_ecc: it was gpu_ecc; it was queued again, not on n1, "
        "retry 1 of 2"
    )
    assert view.retry.excluded == ("n1",)


@pytest.mark.parametrize(
    ("state", "job", "words"),
    [
        ("done", {"restarts": 1}, "it was queued again, not on n1"),
        ("observed", {"state": JobState.FAILED}, "it would have been queued again, not on n1"),
        ("failed", {"state": JobState.FAILED}, "it could not be queued again"),
    ],
)
def test_what_was_done_before_a_correction_is_history(store, state, job, words):
    store.keep_diagnosis("1", 0, a_diagnosis("import_error"))

    sentence, view = told(store, a_job(**job), ("requeue", state, REQUEUE))

    assert (
        f"import_error: it was import_error; {words}, because it was taken for gpu_ecc" in sentence
    )
    assert sentence.endswith("; as import_error a retry is not recommended (import_error: no)")
    assert view.retry.was == "gpu_ecc"


def test_a_correction_may_speak_for_another_try(store):
    store.keep_diagnosis("1", 0, a_diagnosis("segfault"))

    sentence, _ = told(store, a_job(state=JobState.FAILED), ("requeue", "observed", REQUEUE))

    assert "because it was taken for gpu_ecc; as segfault a retry is recommended (" in sentence


def test_without_a_decision_the_recommendation_is_shown_as_one(store):
    store.keep_diagnosis("1", 0, SICK)
    sentence, _ = told(store, a_job(state=JobState.FAILED))
    assert sentence.endswith("a retry is recommended, not on n1 (gpu_ecc: go away)")

    store.keep_diagnosis("1", 0, a_diagnosis("import_error"))
    sentence, _ = told(store, a_job(state=JobState.FAILED))
    assert sentence.endswith("; a retry is not recommended (import_error: no)")


def test_the_decision_to_leave_a_job_alone_is_read_not_taken_again(store):
    store.keep_diagnosis("1", 2, a_diagnosis("cuda_error"))
    used = DecisionReason(code="retries_used", failure="cuda_error", retries=2, allowed=2)
    leave = Action(kind="leave", job_id="1", attempt=2, why=in_words(used), reason=used)
    store.intend(leave, at=1.0, state="noted")

    sentence, _ = told(store, a_job(state=JobState.FAILED, restarts=2))

    assert sentence.endswith("it is not tried again (cuda_error: all 2 retries are used up)")


def test_a_job_may_have_been_queued_again_by_hand(store):
    store.keep_diagnosis("1", 0, SICK)

    assert told(store, a_job(restarts=1))[0].endswith("; it was queued again, not by SchedMate")


def test_a_suspect_node_is_mentioned(store, monkeypatch):
    doubt = Suspicion(node="n1", probability=0.83, failures=3, users=2)
    monkeypatch.setattr(
        "schedmate.service.records.nodes.suspicions", lambda runs, now: {"n1": doubt}
    )
    store.keep_diagnosis("1", 0, SICK)

    sentence, _ = told(store, a_job(state=JobState.FAILED, nodes=("n1",)))

    assert sentence.endswith("; n1 is suspect (83% sure)")
