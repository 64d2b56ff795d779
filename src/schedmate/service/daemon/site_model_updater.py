"""Keeps the site model up to date: trains it in the background, and feeds it with jobs.

Predictions use the model that was trained last. It also sees the jobs that wait or run, because it
uses how long a user's other jobs have been running.
"""

from __future__ import annotations

import logging
import time
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING
from weakref import ref

from schedmate.advisor.launch.target import Target
from schedmate.advisor.predict.jobs import EndedJob, facts_of
from schedmate.advisor.predict.prediction import predict
from schedmate.advisor.predict.site_model import learnt_site_model
from schedmate.model import JobState, StoreUnavailable
from schedmate.service.usecases.history_import import learn_from

if TYPE_CHECKING:
    from collections.abc import Callable

    from schedmate.advisor.predict.cohort_model import CohortModel
    from schedmate.model import Job, JobId
    from schedmate.service.daemon.background import BackgroundQueue
    from schedmate.store import KeptAdvice, Store

_log = logging.getLogger(__name__)
_AT_MOST_EVERY_S = 1800.0
_ENOUGH_ENDED = 20
_FED_FOR_S = 0.2
"""Of the processor, in one poll."""
_MANY_RUNS = 1000
"""Of fewer the training is over before a process for it has started."""


class SiteModelUpdater:
    """`open_store` opens the store once more, for the other thread; None: nothing is trained.

    `train_beside` trains on a long history, in a process of its own, and returns whether it did.
    """

    def __init__(
        self,
        store: Store,
        background: BackgroundQueue,
        open_store: Callable[[], Store] | None = None,
        train_beside: Callable[[float], bool] = lambda _: False,
    ) -> None:
        self._store = store
        self._background = background
        self._open = open_store
        self._train_beside = train_beside
        self._ended = _ENOUGH_ENDED
        self._again_at = 0.0
        self._unfinished: dict[JobId, Job] = {}
        self._fed: Callable[[], CohortModel | None] = lambda: None
        """Nothing is kept of a model that is not the newest."""
        self._unfed: dict[JobId, Job] = {}
        """Jobs that it has not seen yet, those that run first."""

    def consider(self, now: float) -> None:
        """Train at the start, and again when enough jobs have ended since."""
        if self._unfed and (site := self._site()) is not None:
            self._feed_some(site)
        open_store = self._open
        if open_store is None or now < self._again_at or self._ended < _ENOUGH_ENDED:
            return
        self._again_at, self._ended = now + _AT_MOST_EVERY_S, 0
        self._background.submit(
            "the site model", lambda: self._train(open_store, now), lambda *_: None
        )

    def _train(self, open_store: Callable[[], Store], now: float) -> None:
        with closing(open_store()) as store:
            if store.sizes()["runs"] < _MANY_RUNS or not self._train_beside(now):
                learn_from(store, at=now)

    def submitted(self, job: Job) -> None:
        """After it was predicted: a job is not its own past."""
        site = self._site()
        if job.id not in self._unfinished and not job.state.ended:
            self._unfinished[job.id] = job
            if site is not None:
                _feed(site, job)

    def started(self, job: Job) -> None:
        site = self._site()
        self._unfinished[job.id] = job
        if site is not None and self._unfed.pop(job.id, None) is not None:
            _feed(site, job)
        elif site is not None and job.start_time is not None:
            site.started(job.id, job.start_time)

    def ended(self, job: Job) -> None:
        self._ended += 1
        self._unfinished.pop(job.id, None)
        self._unfed.pop(job.id, None)
        site = self._site()
        if site is None:
            return
        if job.start_time is not None and job.end_time is not None:
            site.ended(EndedJob(facts_of(job), job.start_time, job.end_time, job.state))
        else:
            site.forget(job.id)

    def forget(self, job_id: JobId) -> None:
        """The scheduler lists it no more, and its end was not seen."""
        self._unfed.pop(job_id, None)
        if self._unfinished.pop(job_id, None) is not None and (site := self._site()) is not None:
            site.forget(job_id)

    def predict_again(self, job: Job) -> KeptAdvice | None:
        """The advice with a prediction by what ended while it waited, its siblings say.

        Fail open: None where there is no better one, and what was predicted before stands.
        """
        kept = self._store.advice(job.id)
        if kept is None or job.start_time is None:
            return None
        try:
            target = replace(Target.from_job(job, None), submitted_at=job.start_time)
            prediction = predict(self._store, target, kept.fingerprint, kept.advice.workload)
        except StoreUnavailable:
            raise
        except Exception:  # noqa: BLE001 - as the docstring says
            _log.warning(
                "job %s is not predicted again", job.id, exc_info=True, extra={"job": job.id}
            )
            return None
        if prediction.duration_s is None:
            return None
        again = replace(kept, advice=replace(kept.advice, prediction=prediction))
        self._store.keep_advice(job.id, again)
        return again

    def _site(self) -> CohortModel | None:
        """A newly trained model has not seen the unfinished jobs yet."""
        site = learnt_site_model(self._store).cohorts
        if site is not None and site is not self._fed():
            running_first = sorted(self._unfinished.values(), key=lambda job: not _runs(job))
            self._unfed = {job.id: job for job in running_first}
            self._fed = ref(site)
            self._feed_some(site)
        return site

    def _feed_some(self, site: CohortModel) -> None:
        """Of many jobs that wait a part in each poll; those that run count at once."""
        until = time.thread_time() + _FED_FOR_S
        while self._unfed:
            job = self._unfed.pop(next(iter(self._unfed)))
            _feed(site, job)
            if time.thread_time() > until and not _runs(job):
                break


def _runs(job: Job) -> bool:
    return job.state is JobState.RUNNING


def _feed(site: CohortModel, job: Job) -> None:
    site.submitted(facts_of(job))
    if _runs(job) and job.start_time is not None:
        site.started(job.id, job.start_time)
