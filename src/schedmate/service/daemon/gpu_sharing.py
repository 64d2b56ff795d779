"""What the decision engine hears of jobs that may share GPUs: what their code was measured to need,
who runs on the GPU of whom, and how fast.

Only where the scheduler lends GPUs in parts, and only of code of which it has measured runs.
"""

from __future__ import annotations

from collections import defaultdict
from contextlib import suppress
from typing import TYPE_CHECKING

from schedmate.advisor.knowledge.accelerators import accelerator
from schedmate.core import GpuUseKnown, MeasuredUse, PaceSeen, ShareSeen
from schedmate.model import JobState, SchedMateError
from schedmate.schedulers.base import SharesGpus
from schedmate.service.daemon.known_codes import KnownCodes
from schedmate.service.daemon.shared_pace import SharedPace

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from schedmate.core import DecisionEngine, Event
    from schedmate.model import Job, JobId, Progress
    from schedmate.schedulers.base import LentGpus, Scheduler
    from schedmate.store import Store

MEASURED_S = 600.0
"""A run so long shows what its code needs of a GPU."""
_Run = tuple["JobId", int]


class GpuSharing:
    """`memory_gb` is what a shared GPU has, where its name does not tell."""

    def __init__(
        self,
        engine: DecisionEngine,
        store: Store,
        scheduler: Scheduler,
        memory_gb: float | None = None,
    ) -> None:
        self._engine = engine
        self._store = store
        self._scheduler = scheduler if isinstance(scheduler, SharesGpus) else None
        self.codes = KnownCodes(engine, store)
        self._memory_gb = memory_gb
        self._uses: dict[str, MeasuredUse | None] = {}
        """By code, until another run of it has ended."""
        self._sent: dict[JobId, MeasuredUse] = {}
        self._gpus: dict[_Run, frozenset[str]] = {}
        self._beside: dict[JobId, JobId] = {}
        self._pace = SharedPace(store, self.codes)

    def ended(self, job: Job) -> None:
        """A run is in the history now."""
        found = self.codes.of(job.id, at_once=True)
        if found is not None and found.code is not None:
            self._uses.pop(found.code, None)

    def forget(self, job_id: JobId) -> None:
        self._sent.pop(job_id, None)
        self._beside.pop(job_id, None)
        self._pace.forget(job_id)

    def news(self, polled: Iterable[tuple[JobId, Progress]], now: float) -> Iterator[Event]:
        lent = self._lent()
        if lent is None:
            return
        runs: list[Job] = []
        for job_id, known in list(self._engine.known.items()):
            job = known.job
            if job.request.gpus != 1 or job.state.ended:
                continue
            if job.request.shards and job.state is JobState.RUNNING:
                runs.append(job)
            use = self._use(job_id, lent)
            if use is not None and use != self._sent.get(job_id):
                self._sent[job_id] = use
                yield GpuUseKnown(now, job_id, use, lent.shards)
        yield from self._pairs(runs, now)
        yield from self._paces({job.id: job for job in runs}, polled, lent, now)

    def _lent(self) -> LentGpus | None:
        if self._scheduler is not None:
            with suppress(SchedMateError):  # nothing follows from it in this poll
                return self._scheduler.lent_gpus()
        return None

    def _use(self, job_id: JobId, lent: LentGpus) -> MeasuredUse | None:
        found = self.codes.of(job_id)
        code = None if found is None else found.code
        if code is None:
            return None
        if code not in self._uses:
            self._uses[code] = self._measured(code, lent)
        return self._uses[code]

    def _measured(self, code: str, lent: LentGpus) -> MeasuredUse | None:
        """The most of all runs; None where nothing was measured or the GPU is not known."""
        memory_mb = self._memory_mb(lent)
        found = [] if memory_mb is None else self._store.gpu_uses(code, least_s=MEASURED_S)
        if memory_mb is None or not found:
            return None
        return MeasuredUse(
            memory=max(one.memory_mb or 0.0 for one in found) / memory_mb,
            utilization=max(one.utilization or 0.0 for one in found),
            runs=len(found),
        )

    def _memory_mb(self, lent: LentGpus) -> float | None:
        """Of the smallest that are lent."""
        if self._memory_gb:
            return 1024 * self._memory_gb
        kinds = [accelerator(name) for name in lent.types]
        known = [kind.memory_gb for kind in kinds if kind is not None and kind.memory_gb]
        return 1024 * min(known) if known and len(known) == len(kinds) else None

    def _pairs(self, runs: list[Job], now: float) -> Iterator[ShareSeen]:
        """Asked once for each run: a scheduler moves none of them."""
        new = [job for job in runs if (job.id, job.restarts) not in self._gpus]
        if new and self._scheduler is not None:
            with suppress(SchedMateError):
                found = self._scheduler.shared_gpus(new)
                known = [one for one in new if one.id in found]
                self._gpus |= {(one.id, one.restarts): found[one.id] for one in known}
        there = {(job.id, job.restarts) for job in runs}
        self._gpus = {run: gpus for run, gpus in self._gpus.items() if run in there}
        on: defaultdict[str, list[JobId]] = defaultdict(list)
        for (job_id, _), gpus in self._gpus.items():
            for gpu in gpus:
                on[gpu].append(job_id)
        pairs = {one: other for jobs in on.values() for one, other in _paired(jobs)}
        for job in runs:
            if pairs.get(job.id, "") != self._beside.get(job.id, ""):
                self._beside[job.id] = pairs.get(job.id, "")
                yield ShareSeen(now, job.id, self._beside[job.id])

    def _paces(
        self,
        runs: dict[JobId, Job],
        polled: Iterable[tuple[JobId, Progress]],
        lent: LentGpus,
        now: float,
    ) -> Iterator[PaceSeen]:
        for job_id, progress in polled:
            job = runs.get(job_id)
            beside = self._beside.get(job_id, "")
            pace = None if job is None else self._pace.look(job, progress, beside, lent.shards, now)
            if job is not None and pace is not None:
                yield PaceSeen(now, job_id, job.restarts, pace)


def _paired(jobs: list[JobId]) -> Iterator[tuple[JobId, JobId]]:
    """Each with the first other one."""
    for one in jobs:
        for other in [each for each in jobs if each != one][:1]:
            yield one, other
