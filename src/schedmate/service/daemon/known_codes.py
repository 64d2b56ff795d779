"""Which code each job runs: read from the store once for each time that the job was read."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from schedmate.core import DecisionEngine
    from schedmate.model import Advice, JobId
    from schedmate.store import Store

_MOST_READ = 500
"""In one poll: a daemon may start with tens of thousands."""


class JobCode(NamedTuple):
    code: str | None
    """None where its files could not be read."""
    arguments: str
    resumes: bool | None


class KnownCodes:
    def __init__(self, engine: DecisionEngine, store: Store) -> None:
        self._engine = engine
        self._store = store
        self._known: dict[JobId, tuple[Advice, JobCode]] = {}
        self._left = _MOST_READ

    def begin_poll(self) -> None:
        self._left = _MOST_READ

    def forget(self, job_id: JobId) -> None:
        self._known.pop(job_id, None)

    def of(self, job_id: JobId, *, at_once: bool = False) -> JobCode | None:
        """None for a job that was not read, or whose turn comes in a later poll."""
        known = self._engine.known.get(job_id)
        advice = None if known is None else known.advice
        if advice is None:
            return None
        found = self._known.get(job_id)
        if found is not None and found[0] is advice:
            return found[1]
        if self._left <= 0 and not at_once:
            return None
        self._left -= 1
        kept = self._store.advice(job_id)
        if kept is None:
            return None
        print_, resumes = kept.fingerprint, kept.advice.workload.resumes
        code = JobCode(
            None if print_ is None else print_.code,
            "" if print_ is None else print_.arguments,
            None if resumes is None else resumes.value,
        )
        self._known[job_id] = advice, code
        return code
