"""Reads the code of jobs for their advice, so many scripts a look, and no script twice.

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
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from schedmate.advisor import Advisor, Target
from schedmate.advisor.interpret.python.parsed import forget_idle_trees
from schedmate.model import SchedulerUnreachable, StoreUnavailable, array_of
from schedmate.store import KeptAdvice

if TYPE_CHECKING:
    from schedmate.model import Advice, Job
    from schedmate.schedulers.base import Scheduler
    from schedmate.store import Store

MOST_SCRIPTS = 200
"""Requests for scripts in one look; the rest is read in later looks."""
_MOST_S = 5.0
"""Of one look may go by for reading code."""
_LEAST_S = 1.0
"""Is left for it, however long all else in the look took."""
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
        self, scheduler: Scheduler, store: Store, advisor: Advisor, most_scripts: int = MOST_SCRIPTS
    ) -> None:
        self._scheduler = scheduler
        self._store = store
        self._advisor = advisor
        self._most_scripts = most_scripts
        self._scripts: OrderedDict[tuple[str, str], _CachedScript] = OrderedDict()
        self._copies: dict[Target, KeptAdvice] = {}
        self._asked = 0
        self._until = float("inf")

    def begin_look(self) -> None:
        self._asked, self._until = 0, time.monotonic() + _MOST_S
        self._copies.clear()  # the next look may find other files
        forget_idle_trees()

    def begin_queue(self) -> None:
        """From here on what waits is read: some of it in every look."""
        self._until = max(self._until, time.monotonic() + _LEAST_S)

    @property
    def is_spent(self) -> bool:
        """Whether what is still unread has to wait for the next look."""
        return self._asked >= self._most_scripts or time.monotonic() > self._until

    def kept(self, job: Job) -> KeptAdvice | None:
        """What was read before: of the job, or of the array that it is a task of."""
        kept, array = self._store.advice(job.id), array_of(job.id)
        if kept is None and array is not None:
            kept = self._store.advice(array)
            if kept is not None:
                self._store.keep_advice(job.id, kept)
        return kept

    def target(self, job: Job) -> Target:
        return Target.from_job(job, self.script(job))

    def read(self, job: Job) -> Advice | None:
        """None where it cannot be read: it is scheduled without a prediction."""
        try:
            kept = self._of_copies(self.target(job))
        except (SchedulerUnreachable, StoreUnavailable):
            raise  # says nothing about this job: it is read in a later look
        except Exception:  # noqa: BLE001 - whatever a script makes the advisor stumble over
            _log.warning("no advice on job %s", job.id, exc_info=True, extra={"job": job.id})
            return None
        array = array_of(job.id)
        self._store.keep_advice(job.id, kept)
        if array is not None:
            self._store.keep_advice(array, kept)
        return kept.advice

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
