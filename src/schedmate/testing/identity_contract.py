"""How every store tells jobs of one number apart; part of the store's contract."""

# ruff: noqa: S101, PLR2004 - these are tests: asserts are how they speak, numbers what they expect
from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from schedmate.model import Action, JobState, PastRun
from schedmate.model.access import Notice
from schedmate.store import KeptAdvice, KeptEvent, PersonsAct
from schedmate.testing.builders import a_diagnosis, a_job, a_progress, an_advice

if TYPE_CHECKING:
    from schedmate.model import Job
    from schedmate.store import Store

OLD = a_job(id="7", user="ada", state=JobState.FAILED, submit_time=1000.0)
NEW = a_job(id="7", user="bob", state=JobState.PENDING, submit_time=5000.0)
OLDS_NAME = "7@1000"


def tell_all(store: Store, job: Job) -> None:
    """Everything that a store can know of a job."""
    store.keep_listed([job])
    store.keep_advice(job.id, KeptAdvice(an_advice(60), None))
    store.keep_progress(job.id, 0, a_progress(), at=2.0)
    store.keep_diagnosis(job.id, 0, a_diagnosis())
    store.keep_run(PastRun(job=job))
    store.keep_tracking(job.id, 0, "state")
    action = Action(kind="requeue", job_id=job.id, attempt=0, why="once more")
    assert store.intend(action, at=3.0)
    store.settle(action, "done", at=3.0)
    store.put_notice(
        Notice(user=job.user, job_id=job.id, attempt=0, kind="failed", at=4.0, text="died"), due=4.0
    )
    store.record_act(PersonsAct(at=5.0, user=job.user, action="correction", about=f"job {job.id}"))
    about = KeptEvent(at=6.0, kind="JobReverted", job_id=job.id, body="{}")
    store.keep_events([about], most=100)
    store.keep_events([about], most=100, handled=False)


def knows_nothing(store: Store, job_id: str) -> bool:
    return (
        store.advice(job_id) is None
        and store.progress(job_id, 0) is None
        and store.tracking(job_id, 0) is None
        and store.run(job_id) is None
        and not store.diagnoses(job_id)
        and not store.actions(job_id=job_id)
        and not store.acts(about=f"job {job_id}")
    )


class IdentityContract:
    def test_a_number_that_is_used_again_stands_for_the_new_job(self, store: Store) -> None:
        tell_all(store, OLD)
        assert store.keep_listed([NEW]) == [NEW]

        assert store.listed("7") == NEW
        assert knows_nothing(store, "7")
        assert not store.unhandled_events()
        again = Action(kind="requeue", job_id="7", attempt=0, why="once more")
        assert store.intend(again, at=9.0)

    def test_the_older_job_is_found_by_its_submission_and_loses_nothing(self, store: Store) -> None:
        tell_all(store, OLD)
        before = store.job_facts(["7"])["7"]
        store.keep_listed([NEW])

        after = store.job_facts([OLDS_NAME])[OLDS_NAME]
        assert replace(after, actions=()) == replace(before, actions=())
        [record] = after.actions
        assert (record.action.job_id, record.state) == (OLDS_NAME, "done")
        assert record.action.key.startswith(OLDS_NAME)
        run = store.run(OLDS_NAME)
        assert run is not None
        assert (run.job.id, run.job.user) == (OLDS_NAME, "ada")
        assert store.run("7@1970-01-01T00:16:40+00:00") == run
        assert store.tracking(OLDS_NAME, 0) == "state"
        [notice] = store.claim_notices(now=9.0, until=99.0, limit=9)
        assert (notice.user, notice.job_id) == ("ada", OLDS_NAME)
        assert store.acts(about=f"job {OLDS_NAME}")
        assert [one.job_id for one in store.events()] == [OLDS_NAME]
        assert [one.job_id for one in store.run_summaries(since=0.0)] == [OLDS_NAME]

    def test_runs_of_both_stand_beside_each_other(self, store: Store) -> None:
        store.keep_run(PastRun(job=OLD))
        ended = replace(NEW, state=JobState.COMPLETED, start_time=5010.0, end_time=5020.0)
        store.keep_run(PastRun(job=ended))
        assert {(run.job.id, run.job.user) for run in store.recent_runs()} == {
            ("7", "bob"),
            (OLDS_NAME, "ada"),
        }
        assert store.called("7@5000") == "7"
        assert store.called(OLDS_NAME) == OLDS_NAME

    def test_an_older_job_that_comes_later_gets_its_own_name(self, store: Store) -> None:
        """As by an import of a scheduler's past."""
        store.keep_listed([NEW])
        store.keep_diagnosis("7", 0, a_diagnosis())
        assert [job.id for job in store.meet([OLD])] == [OLDS_NAME]
        store.keep_runs([PastRun(job=OLD), PastRun(job=replace(OLD, restarts=1))])
        assert store.run("7") is None
        assert len(store.diagnoses("7")) == 1
        run = store.run(OLDS_NAME, 0)
        assert run is not None
        assert run.job.user == "ada"

    def test_a_job_that_was_queued_again_stays_the_same(self, store: Store) -> None:
        """Its scheduler counts from then on, and accounting may not say more."""
        first = replace(OLD, state=JobState.RUNNING)
        tell_all(store, first)
        again = replace(OLD, state=JobState.PENDING, restarts=1, submit_time=2000.0)
        [met] = store.keep_listed([again])
        assert met == replace(again, first_submit=1000.0)
        assert store.diagnoses("7")
        thrice = replace(again, restarts=2, submit_time=3000.0)
        assert store.meet([thrice])[0].first_submit == 1000.0
        # what accounting remembers of the last run, without those before
        [past] = store.meet([replace(thrice, restarts=0, state=JobState.FAILED)])
        assert past.id == "7"
        # an earlier run that is told of late
        store.keep_run(PastRun(job=replace(again, state=JobState.NODE_FAIL)))
        assert store.diagnoses("7")
        assert store.actions(job_id="7")

    def test_another_users_job_is_another_job_however_often_it_ran(self, store: Store) -> None:
        tell_all(store, OLD)
        store.meet([replace(NEW, restarts=1)])
        assert knows_nothing(store, "7")

    def test_the_tasks_of_an_array_go_with_it(self, store: Store) -> None:
        array = a_job(id="12", tasks=3, submit_time=1000.0)
        task = a_job(id="12_1", state=JobState.FAILED, submit_time=1000.0)
        tell_all(store, array)
        tell_all(store, task)
        # a task that was queued again, and one that appears late, are of the same array
        store.meet([replace(task, restarts=1, submit_time=1500.0)])
        store.meet([replace(task, id="12_2", restarts=1, submit_time=1600.0)])
        assert store.advice("12") is not None
        store.keep_listed([replace(task, id="12_0", submit_time=9000.0)])
        assert knows_nothing(store, "12")
        assert knows_nothing(store, "12_1")
        assert store.advice("12@1000") is not None
        assert store.run("12_1@1000") is not None

    def test_another_schedulers_jobs_have_numbers_of_their_own(self, store: Store) -> None:
        tell_all(store, OLD)
        store.keep_listed([a_job(id="70", submit_time=9000.0)])
        assert store.diagnoses("7")

    def test_it_is_pinned_to_a_cluster(self, store: Store) -> None:
        assert store.cluster() is None
        store.pin("hpc1")
        store.pin("hpc2")
        assert store.cluster() == "hpc2"
