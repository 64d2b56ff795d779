"""What the processes of running jobs do: CPU time from /proc, GPUs from nvidia-smi."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Mapping

from schedmate.model import Activity, JobId
from schedmate.schedulers.kernel import stuck_in
from schedmate.schedulers.local.attempt import RunFiles
from schedmate.schedulers.local.processes import (
    ProcessTime,
    process_times,
    transferred,
    waits_in,
    written_files,
)

_BLOCKED = frozenset("DTt")


def activities(
    attempts: Mapping[JobId, RunFiles],
    gpus: Mapping[JobId, Iterable[str]],
    busy: Mapping[str, float],
) -> dict[JobId, Activity]:
    """By job; `gpus` are the ones each has, `busy` is what every GPU of the machine does."""
    found = _processes(attempts)
    return {job: _activity(found[job], [busy[g] for g in gpus[job] if g in busy]) for job in found}


def files_written(attempts: Mapping[JobId, RunFiles]) -> dict[JobId, frozenset[str]]:
    """By job, what its processes have open for writing."""
    return {
        job: frozenset(path for process in those for path in written_files(process.pid))
        for job, those in _processes(attempts).items()
    }


def _processes(attempts: Mapping[JobId, RunFiles]) -> dict[JobId, list[ProcessTime]]:
    marks = {attempt.mark: job for job, attempt in attempts.items()}
    runners = {
        claim.pid: job
        for job, attempt in attempts.items()
        if (claim := attempt.claimed_by()) is not None and claim.alive
    }
    found: dict[JobId, list[ProcessTime]] = defaultdict(list)
    for process in process_times("SCHEDMATE_ATTEMPT="):
        job = marks.get(process.mark, runners.get(process.pid, runners.get(process.parent)))
        if job is not None:
            found[job].append(process)
    return found


def _activity(processes: list[ProcessTime], busy: list[float]) -> Activity:
    ticks = sum(process.ticks for process in processes)
    moved = [transferred(process.pid) for process in processes]
    known = [one for one in moved if one is not None]
    whole = bool(known) and len(known) == len(moved)
    return Activity(
        cpu_s=ticks / os.sysconf("SC_CLK_TCK"),
        gpu=max(busy) if busy else None,
        read=sum(read for read, _ in known) if whole else None,
        written=sum(written for _, written in known) if whole else None,
        blocked=any(process.state in _BLOCKED for process in processes),
        stuck=stuck_in(name for process in processes for name in waits_in(process.pid)),
    )
