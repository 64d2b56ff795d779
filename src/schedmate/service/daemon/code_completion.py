"""Asks a model, beside the loop, about what reading a job's code left open."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from schedmate.core import is_opted_out
from schedmate.model import NoConsent
from schedmate.store import KeptAdvice

if TYPE_CHECKING:
    from collections.abc import Callable

    from schedmate.advisor import Target
    from schedmate.advisor.advisor import Advised
    from schedmate.model import Advice, Job, JobId
    from schedmate.service.daemon.background import BackgroundQueue
    from schedmate.store import Store


class CodeCompletion:
    """`advise` is called in the other thread; None: no model is asked about code."""

    def __init__(
        self,
        store: Store,
        background: BackgroundQueue,
        advise: Callable[[Target], Advised] | None = None,
    ) -> None:
        self._store = store
        self._background = background
        self._advise = advise
        self._asked: dict[JobId, Job] = {}

    def consider(
        self, job: Job, target: Callable[[], Target], then: Callable[[Advice, float], None]
    ) -> None:
        """Once in a job's life; `then` gets the advice where an answer made it better."""
        advise = self._advise
        if advise is None or job.id in self._asked or is_opted_out(job):
            return
        self._asked[job.id] = job
        what = target()

        def completed(advised: Advised, now: float) -> None:
            is_it = self._asked.get(job.id) is job  # its number may be another job's
            advice = self._better(job, advised) if is_it else None
            if advice is not None:
                then(advice, now)

        self._background.submit(
            f"the code of job {job.id}", lambda: _answered(advise, what), completed
        )

    def forget(self, job_id: JobId) -> None:
        self._asked.pop(job_id, None)

    def _better(self, job: Job, advised: Advised) -> Advice | None:
        """Record and prediction; what a model says is wrong with a job is only shown."""
        kept = self._store.advice(job.id)
        if kept is None:
            return None
        said = tuple(remark for remark in advised.advice.advice if remark.by_model)
        advice = replace(advised.advice, advice=(*kept.advice.advice, *said))
        before = kept.advice
        if not said and (advice.workload, advice.summary) == (before.workload, before.summary):
            return None
        self._store.keep_advice(job.id, KeptAdvice(advice, advised.fingerprint))
        return advice


def _answered(advise: Callable[[Target], Advised], target: Target) -> Advised:
    advised = advise(target)
    if advised.problem is not None and not isinstance(advised.problem, NoConsent):
        raise advised.problem
    return advised
