"""What is known of code that goes on from its checkpoints: by what it says and by runs seen here.

Runs that have ended are in the history. Of those that go on, the log tells again after a restart
of the daemon what it told before.
"""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from schedmate.core import ResumeKnown, ResumeProof
from schedmate.model import JobState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from schedmate.core import DecisionEngine
    from schedmate.model import Job, JobId, Progress, Resume
    from schedmate.store import KeptAdvice, Store

_Runs = dict[tuple["JobId", int], "Resume"]


class ResumeProofs:
    def __init__(self, engine: DecisionEngine, store: Store, wanted: Callable[[Job], bool]) -> None:
        self._engine = engine
        self._store = store
        self._wanted = wanted
        self._ended: dict[str, _Runs] = {}
        self._running: dict[str, _Runs] = {}
        """By code, as their logs show it so far."""
        self._sent: dict[JobId, ResumeProof] = {}

    def note(self, polled: Iterable[tuple[JobId, Progress]]) -> None:
        for job_id, progress in polled:
            known = self._engine.known.get(job_id)
            code = None if known is None or progress.resume is None else self._code(job_id)
            if known is not None and progress.resume is not None and code is not None:
                run = job_id, known.job.restarts
                self._running.setdefault(code, {})[run] = progress.resume

    def ended(self, job: Job) -> None:
        """A run is in the history now."""
        self._ended.pop(self._code(job.id) or "", None)

    def forget(self, job_id: JobId) -> None:
        self._sent.pop(job_id, None)

    def news(self, now: float) -> Iterator[ResumeKnown]:
        """For all runs that may make way and of which more is known than before."""
        for job_id, known in list(self._engine.known.items()):
            if known.job.state is not JobState.RUNNING or not self._wanted(known.job):
                continue
            kept = self._store.advice(job_id)
            proof = None if kept is None else self.proof(kept)
            if proof is not None and proof != self._sent.get(job_id):
                self._sent[job_id] = proof
                yield ResumeKnown(now, job_id, proof)

    def proof(self, kept: KeptAdvice) -> ResumeProof:
        code = None if kept.fingerprint is None else kept.fingerprint.code
        runs = {} if code is None else self._runs(code)
        went_on = [one for one in runs.values() if one.outcome == "resumed"]
        times = [one.after_s for one in went_on if one.after_s is not None]
        return ResumeProof(
            resumes=kept.advice.workload.proved_resumes,
            seen=len(went_on),
            started_over=len(runs) - len(went_on),
            restart_s=median(times) if times else None,
        )

    def _runs(self, code: str) -> _Runs:
        if code not in self._ended:
            self._ended[code] = dict(self._store.resumes(code))
        return self._ended[code] | self._running.get(code, {})

    def _code(self, job_id: JobId) -> str | None:
        kept = self._store.advice(job_id)
        return None if kept is None or kept.fingerprint is None else kept.fingerprint.code
