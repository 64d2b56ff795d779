"""What every store must remember of runs that followed others; part of `StoreContract`."""

# ruff: noqa: S101 - these are tests: asserts are how they speak
from __future__ import annotations

from typing import TYPE_CHECKING

from schedmate.model import Fingerprint, JobState, Resume, RunCourse
from schedmate.testing.builders import a_job, a_past_run

if TYPE_CHECKING:
    from schedmate.model import PastRun
    from schedmate.store import Store

_MARKS = Fingerprint(code="c0de", arguments="--lr 1")
_WENT_ON = Resume(outcome="resumed", began=41.0, after_s=20.0, before_s=300.0)
_BEGAN_ANEW = Resume(outcome="started_over", began=1.0)


def _ended(job_id: str, end: float, *, marks: Fingerprint = _MARKS, **parts: object) -> PastRun:
    of_job = {name: parts.pop(name) for name in ("restarts", "workdir", "user") if name in parts}
    job = a_job(id=job_id, state=JobState.COMPLETED, end_time=end, **of_job)
    return a_past_run(job=job, fingerprint=marks, **parts)


class ResumesContract:
    def test_how_restarts_of_a_code_began(self, store: Store) -> None:
        store.keep_run(_ended("1", 2000.0, restarts=1, resume=_WENT_ON))
        store.keep_run(_ended("2", 2100.0, restarts=2, resume=_BEGAN_ANEW))
        store.keep_run(_ended("3", 2200.0))
        other = Fingerprint(code="other", arguments="")
        store.keep_run(_ended("4", 2300.0, marks=other, restarts=1, resume=_BEGAN_ANEW))
        store.keep_run(_ended("5", 2400.0, restarts=1, resume=_WENT_ON, user="mallory"))
        mine = a_job().user
        assert store.resumes("c0de", mine) == {("1", 1): _WENT_ON, ("2", 2): _BEGAN_ANEW}
        assert store.resumes("c0de", "mallory") == {("5", 1): _WENT_ON}
        assert store.resumes("unknown", mine) == {}

    def test_a_run_that_went_on_took_as_long_as_all_together(self, store: Store) -> None:
        course = RunCourse(began=41.0, first_losses=(2.0, 1.9), last_losses=(0.5,))
        store.keep_run(_ended("1", 1110.0, restarts=1, resume=_WENT_ON, course=course))
        found = store.run("1")
        assert found is not None
        assert (found.course, found.duration_s) == (course, 100.0 + 300.0)

    def test_the_run_before_in_the_same_directory(self, store: Store) -> None:
        for number, end in (("1", 2000.0), ("2", 3000.0)):
            store.keep_run(_ended(number, end, workdir="/a"))
        store.keep_run(_ended("3", 4000.0, workdir="/b"))
        store.keep_run(_ended("4", 5000.0, workdir="/a", user="somebody-else"))
        found = store.run_before(a_job(id="9", workdir="/a"), _MARKS)
        assert found is not None
        assert found.job.id == "2"
        own = store.run_before(a_job(id="2", workdir="/a"), _MARKS)
        assert own is not None
        assert own.job.id == "1"
        assert store.run_before(a_job(id="9", workdir="/c"), _MARKS) is None
