"""What running jobs do, from sstat, where the site gathers it (`JobAcctGatherType`)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from schedmate.model import Activity
from schedmate.schedulers.slurm import parsing, values
from schedmate.schedulers.slurm.own_node import with_waiting

if TYPE_CHECKING:
    from schedmate.model import Job, JobId, NodeState
    from schedmate.schedulers.slurm.parsing import Record

Ask = Callable[..., str]
FIELDS = ("JobID", "TRESUsageInTot", "TRESUsageInAve", "TRESUsageOutTot")
_CPU_TIME = re.compile(r"(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+)(?:\.\d+)?")
_TASK_FIELDS = ("JobArrayID", "JobID")
_SEPARATOR = "|"
_BATCH, _EXTERN = "batch", "extern"
_MOST_JOBS = 500


def measured(
    ask: Ask, jobs: Sequence[Job], nodes: Callable[[], Iterable[NodeState]] = tuple
) -> dict[JobId, Activity]:
    """One question for all of them; jobs that sstat does not report, and that do not run on this
    machine, are left out."""
    numbers = _numbers(ask, jobs[:_MOST_JOBS]) if jobs else {}
    if not numbers:
        return {}
    return with_waiting(ask, _by_sstat(ask, numbers), numbers, nodes())


def _by_sstat(ask: Ask, numbers: Mapping[str, Job]) -> dict[JobId, Activity]:
    if not _gathers(ask):
        return {}
    # sstat has no choice of a separator, and nothing a user writes is among these fields
    text = ask("sstat", "-a", "-p", "--noconvert", "-j", ",".join(numbers), "-o", ",".join(FIELDS))
    return activities(parsing.table(text, FIELDS, _SEPARATOR), numbers)


def _numbers(ask: Ask, jobs: Sequence[Job]) -> dict[str, Job]:
    """By the number that sstat knows a job by: tasks of an array have one of their own."""
    # sstat knows the steps of one part of a heterogeneous job at a time: better none than some
    by_id = {job.id: job for job in jobs if not job.components}
    numbers = {job_id: job for job_id, job in by_id.items() if job_id.isdecimal()}
    tasks = [job_id for job_id in by_id if "_" in job_id]
    if tasks:
        separator = parsing.new_separator()
        form = ",".join(f"{name}:0{separator}" for name in _TASK_FIELDS)
        text = ask("squeue", "-a", "-r", "-j", ",".join(tasks), "-O", form)
        for row in parsing.table(text, _TASK_FIELDS, separator):
            if row["JobArrayID"] in by_id:
                numbers[row["JobID"]] = by_id[row["JobArrayID"]]
    return numbers


def activities(records: Iterable[Record], numbers: Mapping[str, Job]) -> dict[JobId, Activity]:
    steps: dict[str, dict[str, Record]] = defaultdict(dict)
    for record in records:
        number, _, step = record["JobID"].partition(".")
        steps[number][step] = record
    return {
        job.id: _activity(job, steps[number]) for number, job in numbers.items() if number in steps
    }


def _activity(job: Job, steps: dict[str, Record]) -> Activity:
    return Activity(
        cpu_s=_cpu_s(job, steps),
        gpu=_gpu(steps.values()),
        read=_disk(steps, "TRESUsageInTot"),
        written=_disk(steps, "TRESUsageOutTot"),
    )


def _disk(steps: Mapping[str, Record], field: str) -> int | None:
    """Bytes, of pipes too; None where a step was not measured."""
    own = [record[field] for step, record in steps.items() if step != _EXTERN]
    found = [values.tres(one).get("fs/disk", "") for one in own]
    return sum(map(int, found)) if found and all(one.isdecimal() for one in found) else None


def _cpu_s(job: Job, steps: dict[str, Record]) -> float | None:
    """None where a step was not measured, or where ranks may run outside of all steps.

    A launcher that goes to the other nodes by ssh leaves only the batch step, on one node.
    """
    own = [record for step, record in steps.items() if step != _EXTERN]
    alone = set(steps) <= {_BATCH, _EXTERN}
    times = [cpu_seconds(values.tres(one["TRESUsageInTot"]).get("cpu", "")) for one in own]
    known = [one for one in times if one is not None]
    if not known or len(known) < len(times) or (alone and len(job.nodes) > 1):
        return None
    return sum(known)


def _gpu(steps: Iterable[Record]) -> float | None:
    used = [values.tres(one["TRESUsageInAve"]).get("gres/gpuutil", "") for one in steps]
    measured = [int(one) / 100 for one in used if one.isdecimal()]
    return min(1.0, max(measured)) if measured else None


def cpu_seconds(text: str) -> float | None:
    """`[days-][hours:]minutes:seconds`"""
    found = _CPU_TIME.fullmatch(text)
    if found is None:
        return None
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return float(((days * 24 + hours) * 60 + minutes) * 60 + seconds)


def _gathers(ask: Ask) -> bool:
    config = ask("scontrol", "show", "config")
    found = re.search(r"^JobAcctGatherType\s*=\s*(\S*)", config, re.MULTILINE)
    return found is not None and not found[1].endswith("none") and found[1] != "(null)"
