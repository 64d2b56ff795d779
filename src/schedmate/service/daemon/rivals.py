"""Jobs that would do the work of a failed run beside its retry, by their scripts and their code."""

from __future__ import annotations

import logging
from collections import OrderedDict
from dataclasses import dataclass, field
from posixpath import isabs, join, normpath
from typing import TYPE_CHECKING, Final

from schedmate.advisor.understand.recalled import code_of
from schedmate.core import (
    Work,
    code_submits_jobs,
    is_opted_out,
    is_rival,
    may_be_child,
    may_have_waited,
    names_job,
    submits_jobs,
    waits_for,
    waits_for_end,
    was_submitted_since,
)
from schedmate.model import SchedMateError, SchedulerUnreachable, StoreUnavailable
from schedmate.schedulers.base import KeepsHistory
from schedmate.service.daemon.submit_lines import submit_lines

if TYPE_CHECKING:
    from collections.abc import Iterable

    from schedmate.core import DecisionEngine
    from schedmate.model import Job, JobId
    from schedmate.schedulers.base import Scheduler
    from schedmate.service.daemon.job_reading import JobReader
    from schedmate.service.records.nodes import NodeKnowledge
    from schedmate.store import Store

_MOST: Final = 50
"""Of the newest jobs of its owner are compared: each may cost the scheduler a request."""
_MOST_KNOWN, _MOST_SCRIPTS = 10_000, 500
_log = logging.getLogger("schedmate.daemon")


@dataclass(frozen=True, slots=True)
class Rivals:
    engine: DecisionEngine
    store: Store
    scheduler: Scheduler
    reader: JobReader
    nodes: NodeKnowledge
    _submits: dict[tuple[JobId, float], bool] = field(default_factory=dict)
    """Of jobs that were read before: a script stays as it was submitted."""
    _scripts: OrderedDict[tuple[JobId, float], str | None] = field(default_factory=OrderedDict)
    """Those that were compared last; each costs the scheduler a request, and many fail together."""

    def held_for_s(self) -> float | None:
        """How long a run that has ended can be queued again, where that is known."""
        scheduler = self.scheduler
        return scheduler.held_for_s() if isinstance(scheduler, KeepsHistory) else None

    def submits_jobs(self, job: Job) -> bool:
        """Whether its script or its code does so by itself."""
        key = job.id, job.submit_time
        if key not in self._submits:
            if len(self._submits) >= _MOST_KNOWN:
                self._submits.clear()
            self._submits[key] = submits_jobs(self._script(job)) or any(
                map(code_submits_jobs, self._code(job))
            )
        return self._submits[key]

    def successors(self, job: Job) -> tuple[JobId, ...]:
        """Jobs that were let go as it ended; one of which it is not known for what it waited is
        taken for one that waited for this."""
        freed = [
            known.job
            for known in self.engine.known.values()
            if not known.awaited and may_have_waited(known.job, job)
        ]
        lines = submit_lines(self.scheduler, [one.id for one in freed]) if freed else {}
        return tuple(
            one.id
            for one in freed
            if one.id not in lines
            or waits_for_end(f"{lines[one.id]}\n{self._script(one) or ''}", one, job)
        )

    def children(self, job: Job, now: float) -> tuple[JobId, ...]:
        """Jobs that were submitted where it ran, unless another run of its owner that was there at
        the time shows that it submits them."""
        hosts = self._hosts(job, now)
        jobs = [known.job for known in self.engine.known.values() if known.job.user == job.user]
        found = [one for one in jobs if may_be_child(one, job, hosts, now)]
        if not found:
            return ()
        others = [(one, self._hosts(one, now)) for one in jobs if one.started and one.id != job.id]
        neighbours = [
            (one, hosts)
            for one, hosts in others
            if any(may_be_child(child, one, hosts, now) for child in found)
        ]
        parents = [pair for pair in neighbours[:_MOST] if self.submits_jobs(pair[0])]
        return tuple(
            child.id
            for child in found
            if not any(
                may_be_child(child, one, hosts, now) and self._submits_this(one, child)
                for one, hosts in parents
            )
        )

    def _submits_this(self, parent: Job, child: Job) -> bool:
        texts = (self._script(parent) or "", *self._code(parent))
        return any(names_job(text, child, parent) for text in texts)

    def _hosts(self, job: Job, now: float) -> set[str]:
        states = self.nodes.states_of(job, now)
        return {*job.nodes, *(host for one in states for host in one.hosts)}

    def rivals(self, job: Job, now: float) -> tuple[JobId, ...]:
        """Jobs that its owner submitted since it began and that do the same."""
        ended = now if job.end_time is None else job.end_time
        others = [
            known.job
            for known in self.engine.known.values()
            if known.job.id != job.id
            and was_submitted_since(known.job, job, ended)
            and not waits_for(known.job, job)
        ]
        newest = sorted(others, key=lambda one: -one.submit_time)[:_MOST]
        own = self._work(job) if newest else Work()
        return tuple(one.id for one in newest if is_rival(one, self._work(one), job, own))

    def _work(self, job: Job) -> Work:
        kept = self.store.advice(job.id)
        stated = None if kept is None else kept.advice.workload.checkpoint_dir
        place = "" if stated is None else normpath(join(job.workdir, stated.value))
        return Work(
            script=self._script(job),
            fingerprint=None if kept is None else kept.fingerprint,
            checkpoints=place if isabs(place) else None,
        )

    def _script(self, job: Job) -> str | None:
        if is_opted_out(job):
            return None
        key = job.id, job.submit_time
        if key not in self._scripts:
            self._scripts[key] = self._read_script(job)
            if len(self._scripts) > _MOST_SCRIPTS:
                self._scripts.popitem(last=False)
        return self._scripts[key]

    def _read_script(self, job: Job) -> str | None:
        try:
            return self.reader.script(job)
        except SchedulerUnreachable:
            raise
        except SchedMateError:  # it is gone, and cannot be queued again either
            return None

    def _code(self, job: Job) -> Iterable[str]:
        """The texts that its program is read from."""
        if is_opted_out(job):
            return []
        try:
            target = self.reader.target(job)
            files = target.files
            found = (files.read(path) for path in code_of(target, self.store).files)
            return [source.text for source in found if source is not None]
        except (SchedulerUnreachable, StoreUnavailable):
            raise
        except SchedMateError:  # gone, or not ours to read
            return []
        except Exception:  # noqa: BLE001 - whatever a script makes the advisor stumble over
            _log.warning("the code of job %s cannot be read", job.id, exc_info=True)
            return []
