"""What is known of code that goes on from its checkpoints: by what it says and by runs seen here.

Runs that have ended are in the history. Of those that go on, the log tells again after a restart
of the daemon what it told before. A log may say anything: what it proves, it proves of its own
user's jobs alone.
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
    from schedmate.service.daemon.known_codes import JobCode, KnownCodes
    from schedmate.store import Store

_Runs = dict[tuple["JobId", int], "Resume"]
_Code = tuple[str, str]
"""And whose runs of it."""


class ResumeProofs:
    def __init__(
        self,
        engine: DecisionEngine,
        store: Store,
        wanted: Callable[[Job], bool],
        codes: KnownCodes,
    ) -> None:
        self._engine = engine
        self._store = store
        self._wanted = wanted
        self._codes = codes
        self._proofs: dict[tuple[_Code | None, bool | None], ResumeProof] = {}
        """By code and what it says itself, until more is seen of it."""
        self._ended: dict[_Code, _Runs] = {}
        self._running: dict[_Code, _Runs] = {}
        """As their logs show it so far."""
        self._sent: dict[JobId, ResumeProof] = {}

    def note(self, polled: Iterable[tuple[JobId, Progress]]) -> None:
        for job_id, progress in polled:
            known = self._engine.known.get(job_id)
            code = None if known is None or progress.resume is None else self._code(known.job)
            if known is None or progress.resume is None or code is None:
                continue
            runs, run = self._running.setdefault(code, {}), (job_id, known.job.restarts)
            if runs.get(run) != progress.resume:
                runs[run] = progress.resume
                self._doubt(code)

    def ended(self, job: Job) -> None:
        """A run is in the history now."""
        if (code := self._code(job)) is not None:
            self._ended.pop(code, None)
            self._doubt(code)

    def forget(self, job_id: JobId) -> None:
        self._sent.pop(job_id, None)

    def news(self, now: float) -> Iterator[ResumeKnown]:
        """For all runs that may make way and of which more is known than before."""
        for job_id, known in list(self._engine.known.items()):
            if known.job.state is not JobState.RUNNING or not self._wanted(known.job):
                continue
            found = self._codes.of(job_id)
            proof = None if found is None else self.proof(found, known.job.user)
            if proof is not None and proof != self._sent.get(job_id):
                self._sent[job_id] = proof
                yield ResumeKnown(now, job_id, proof)

    def proof(self, job: JobCode, user: str) -> ResumeProof:
        code = None if job.code is None else (job.code, user)
        key = code, job.resumes
        if key not in self._proofs:
            self._proofs[key] = self._made(code, job)
        return self._proofs[key]

    def _made(self, code: _Code | None, job: JobCode) -> ResumeProof:
        runs = {} if code is None else self._runs(code)
        went_on = [one for one in runs.values() if one.outcome == "resumed"]
        times = [one.after_s for one in went_on if one.after_s is not None]
        return ResumeProof(
            resumes=job.resumes,
            seen=len(went_on),
            started_over=len(runs) - len(went_on),
            restart_s=median(times) if times else None,
        )

    def _doubt(self, code: _Code) -> None:
        for key in [key for key in self._proofs if key[0] == code]:
            del self._proofs[key]

    def _runs(self, code: _Code) -> _Runs:
        if code not in self._ended:
            self._ended[code] = dict(self._store.resumes(*code))
        return self._ended[code] | self._running.get(code, {})

    def _code(self, job: Job) -> _Code | None:
        found = self._codes.of(job.id, at_once=True)
        return None if found is None or found.code is None else (found.code, job.user)
