"""What a person should look at first in a long queue."""

from __future__ import annotations

from schedmate.model import JobState, Remark
from schedmate.model.progress import EarlyWarning
from schedmate.service.views.attention import attention_rank, is_noticed
from schedmate.service.views.board import all_known_of
from schedmate.service.visibility import Viewer
from schedmate.store import KeptAdvice
from schedmate.testing.builders import a_job, a_progress, an_advice

ADA, ROOT = Viewer(user="ada", operator=False), Viewer(user="root", operator=True)
FAILED, RUNNING, PENDING = JobState.FAILED, JobState.RUNNING, JobState.PENDING


def ranked(viewer, *jobs, noticed=()):
    order = sorted(jobs, key=lambda job: attention_rank(job, viewer, noticed))
    return [job.id for job in order]


def test_own_trouble_then_own_jobs_then_the_queue():
    jobs = (
        a_job(id="1", user="ben", state=RUNNING),
        a_job(id="2", user="ben", state=FAILED),
        a_job(id="3", user="ada", state=RUNNING),
        a_job(id="4", user="ada", state=FAILED),
        a_job(id="5", user="ada", held=True),
        a_job(id="6", user="ada", state=RUNNING),
    )
    assert ranked(ADA, *jobs, noticed={"1", "6"}) == ["4", "5", "6", "3", "1", "2"]


def test_an_operator_attends_to_all():
    jobs = (
        a_job(id="1", user="ben", state=RUNNING),
        a_job(id="2", user="ben", state=FAILED),
        a_job(id="3", user="root", state=RUNNING),
        a_job(id="4", user="root", state=FAILED),
    )
    assert ranked(ROOT, *jobs) == ["4", "2", "3", "1"]


def test_the_store_notices_what_a_view_does(store):
    """Without reading the records of jobs that are not shown."""
    jobs = [a_job(id=str(number), state=RUNNING) for number in range(4)]
    jobs += [a_job(id=str(number), state=PENDING) for number in (4, 5, 6)]
    warning = EarlyWarning(reason="hang", text="silent")
    store.keep_progress("1", 0, a_progress(), at=1.0)
    store.keep_progress("2", 0, a_progress(warnings=(warning,)), at=1.0)
    store.keep_progress("3", 0, a_progress(phase="stalled"), at=1.0)
    for job_id, level in (("4", "hint"), ("5", "error")):
        remark = Remark(level=level, text='a text with "level":"error" in it')
        advice = an_advice(60.0, advice=(remark,))
        store.keep_advice(job_id, KeptAdvice(advice, None))
    views = all_known_of(jobs, store)
    noticed = {job_id for job_id, view in views.items() if is_noticed(view)}
    assert noticed == store.noticed([job.id for job in jobs]) == {"2", "3", "5"}
    assert store.noticed(["1", "3"]) == {"3"}
