"""Reads the code of jobs for their advice: so much in one poll, and no script twice.

Each script costs the scheduler a request. The tasks of an array share one reading. Jobs that were
submitted from the same file share its text where the file is shown to be unchanged since before the
first of them was submitted; its change time can not be set by hand. Copies of one job that were
submitted together share their advice.
"""

from __future__ import annotations

import logging
import os
import time
from collections import OrderedDict
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from schedmate.advisor import Advisor, Target
from schedmate.advisor.interpret.python.parsed import forget_idle_trees
from schedmate.core import is_opted_out
from schedmate.model import SchedulerUnreachable, StoreUnavailable, array_of
from schedmate.schedulers.base import TakesPredictions
from schedmate.store import KeptAdvice

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from schedmate.model import Advice, Job, JobId, Spread
    from schedmate.schedulers.base import Scheduler
    from schedmate.store import Store

MOST_SCRIPTS = 200
"""Requests for scripts in one poll; the rest is read in later ones."""
_AT_ONCE_S, _LATER_S = 3.0, 0.25
"""Of the processor, for new code in one poll; where that is not enough, in each of the next ones.
What starts next is read first."""
_MOST_S = 5.0
"""Of one poll may go by for new code, for example where it is on a slow disk."""
_WRITTEN_TOGETHER = 200
_CLOCKS_S = 2.0
"""Submissions are known in whole seconds, and a file server's clock is another one."""
_TOGETHER_S = 600.0
"""Copies submitted within such a span have the same past runs behind them."""
_MOST_CACHED = 1000
_log = logging.getLogger("schedmate.daemon")

_Version = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class _CachedScript:
    version: _Version
    text: str | None


class JobReader:
    def __init__(
        self,
        scheduler: Scheduler,
        store: Store,
        advisor: Advisor,
        most_scripts: int = MOST_SCRIPTS,
    ) -> None:
        self._scheduler = scheduler
        self._store = store
        self._advisor = advisor
        self._most_scripts = most_scripts
        self._scripts: OrderedDict[tuple[str, str], _CachedScript] = OrderedDict()
        self._copies: dict[Target, KeptAdvice] = {}
        self._unwritten: dict[JobId, KeptAdvice] = {}
        """Each by itself would wait for the disk."""
        self._asked = 0
        self._left_s, self._cpu_left_s = _MOST_S, _AT_ONCE_S

    def begin_poll(self) -> None:
        self._cpu_left_s = _LATER_S if self.is_spent else _AT_ONCE_S
        self._asked, self._left_s = 0, _MOST_S
        self._copies.clear()  # the next poll may find other files
        forget_idle_trees()

    @property
    def is_spent(self) -> bool:
        """Whether what is still unread has to wait for the next poll."""
        return self._asked >= self._most_scripts or self._left_s <= 0 or self._cpu_left_s <= 0

    @contextmanager
    def spending(self) -> Iterator[None]:
        """What follows from a reading counts as well: with many copies of a job it takes longer."""
        begun, used = time.monotonic(), time.thread_time()
        try:
            yield
        finally:
            self._left_s -= time.monotonic() - begun
            self._cpu_left_s -= time.thread_time() - used

    def kept(self, job: Job) -> KeptAdvice | None:
        """What was read before: of the job, or of the array that it is a task of."""
        kept, array = self._kept(job.id), array_of(job.id)
        if kept is None and array is not None:
            kept = self._kept(array)
            if kept is not None:
                self._keep(job.id, kept)
        return kept

    def _kept(self, job_id: JobId) -> KeptAdvice | None:
        return self._unwritten.get(job_id) or self._store.advice(job_id)

    def _keep(self, job_id: JobId, kept: KeptAdvice) -> None:
        self._unwritten[job_id] = kept
        if len(self._unwritten) >= _WRITTEN_TOGETHER:
            self.write_down()

    def write_down(self) -> None:
        """All that was read and is not in the store yet."""
        unwritten, self._unwritten = self._unwritten, {}
        if unwritten:
            with self._store.together():
                for job_id, kept in unwritten.items():
                    self._store.keep_advice(job_id, kept)
            if isinstance(self._scheduler, TakesPredictions):
                self._scheduler.set_predictions(_predicted(unwritten))

    def target(self, job: Job) -> Target:
        return Target.from_job(job, self.script(job))

    def read(self, job: Job) -> Advice | None:
        """None where it cannot be read: it is scheduled without a prediction."""
        try:
            kept = self._unread(job) if is_opted_out(job) else self._of_copies(self.target(job))
        except (SchedulerUnreachable, StoreUnavailable):
            raise  # says nothing about this job: it is read in a later look
        except Exception:  # noqa: BLE001 - whatever a script makes the advisor stumble over
            _log.warning("no advice on job %s", job.id, exc_info=True, extra={"job": job.id})
            return None
        self._keep(job.id, kept)
        array = array_of(job.id)
        if array is not None:
            self._keep(array, kept)
        return kept.advice

    def _unread(self, job: Job) -> KeptAdvice:
        return KeptAdvice(self._advisor.advise_unread(Target.from_job(job, None)).advice, None)

    def _of_copies(self, target: Target) -> KeptAdvice:
        copy = replace(target, submitted_at=(target.submitted_at or 0.0) // _TOGETHER_S)
        kept = self._copies.get(copy)
        if kept is None:
            advised = self._advisor.advise(target)
            kept = self._copies[copy] = KeptAdvice(advised.advice, advised.fingerprint)
        return kept

    def script(self, job: Job) -> str | None:
        """The text of its script, as `Scheduler.script` has it."""
        key, version = (job.user, job.script or ""), _version(job)
        cached = self._scripts.get(key)
        if cached is not None and version is not None and cached.version == version:
            return cached.text
        self._asked += 1
        text = self._scheduler.script(job.id)
        if version is not None:
            self._scripts[key] = _CachedScript(version, text)
            if len(self._scripts) > _MOST_CACHED:
                self._scripts.popitem(last=False)
        return text


_OWN_CODE = ("identical", "same_code")


def _predicted(advices: Mapping[JobId, KeptAdvice]) -> dict[JobId, Spread]:
    """Those durations by which a queue may let a job past another: of runs of the same code."""
    every = {job_id: kept.advice.prediction for job_id, kept in advices.items()}
    return {
        job_id: one.duration_s
        for job_id, one in every.items()
        if one.duration_s and not one.duration_s.too_wide and one.basis in _OWN_CODE
    }


def _version(job: Job) -> _Version | None:
    """Of the file that the job was submitted from; None where it is gone or may have changed."""
    if job.script is None or not job.script.startswith("/"):
        return None
    try:
        opened = Target.from_job(job, None).reader.open(job.script)
    except OSError:
        return None
    try:
        found = os.fstat(opened)
    finally:
        os.close(opened)
    if found.st_ctime_ns / 1e9 > job.submit_time - _CLOCKS_S:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_ctime_ns
