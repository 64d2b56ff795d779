"""From the text of squeue and sacct to jobs. Pure: text in, jobs out.

Every field ends with a separator that carries a random number, so that nothing a user writes
into a name, a path or an argument can end a field or forge a job.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from schedmate.model import Job, JobId, JobState, Request, SchedulerUnreachable
from schedmate.model.account import account_name
from schedmate.schedulers.slurm import values
from schedmate.schedulers.slurm.gres import asked_shards
from schedmate.schedulers.slurm.logs import LogNames, log_paths
from schedmate.schedulers.slurm.requests import queued_request
from schedmate.schedulers.slurm.site import SlurmSite
from schedmate.schedulers.slurm.values import expand, number, stated

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Record = dict[str, str]
IsFile = Callable[[str], bool]

SQUEUE_FIELDS = (
    "JobArrayID",
    "JobID",
    "ArrayJobID",
    "ArrayTaskID",
    "State",
    "Reason",
    "UserName",
    "Partition",
    "Name",
    "WorkDir",
    "Command",
    "STDOUT",
    "STDERR",
    "SubmitTime",
    "StartTime",
    "EndTime",
    "TimeLimit",
    "exit_code",
    "RestartCnt",
    "Nice",
    "NodeList",
    "NumNodes",
    "NumCPUs",
    "tres-alloc",
    "tres-per-job",
    "tres-per-node",
    "PriorityLong",
    "ReqNodes",
    "Feature",
    "Reservation",
    "Requeue",
    "BatchFlag",
    "UserID",
    "Account",
    "QOS",
    "Comment",
    "MinTime",
    "HetJobID",
    "Dependency",
    "Licenses",
    "Origin",
    "SiblingsActive",
    "EligibleTime",
    "AllocNodes",
    "AllocSID",
)
SACCT_FIELDS = (
    "JobID",
    "State",
    "Reason",
    "User",
    "Partition",
    "JobName",
    "WorkDir",
    "Submit",
    "Start",
    "End",
    "Timelimit",
    "ExitCode",
    "NodeList",
    "ReqTRES",
    "ReqCPUS",
    "NNodes",
    "AllocTRES",
    "UID",
    "Account",
    "QOS",
)
_WAITS_NEXT = frozenset({"BeginTime", "job requeued in held state", "JobHeldAdmin", "JobHeldUser"})
"""Reasons of a job that is queued again while its last run is still being ended."""
_LONGEST_SCRIPT_NAME = 8
"""In words."""
_NO_CLUSTER = ("", "NA")
_ELSEWHERE = "(another)"
_NO_JOB = "4294967294"
"""What is left of a federation's job that another cluster has started."""
_SAME_PRIORITY = 0.01
_LONGEST_SHOWN = 120
"""Characters of an answer that an error message shows."""


def new_separator() -> str:
    return f"\x1f{secrets.token_hex(8)}\x1f"


def squeue_format(separator: str) -> str:
    """Width 0 means: as long as it is."""
    return ",".join(f"{name}:0{separator}" for name in SQUEUE_FIELDS)


def table(text: str, fields: Sequence[str], separator: str) -> Iterator[Record]:
    """The rows of an answer that begins with a line of titles, the first of them `JOBID`.

    Slurm's commands print the titles also where there is no row: an answer without them is no
    answer, whatever the exit code.
    """
    rows = records(text, fields, separator)
    titles = next(rows, None)
    if titles is None or titles[fields[0]].upper() != "JOBID":
        raise _incomplete(text)
    return rows


def _incomplete(text: str) -> SchedulerUnreachable:
    shown = " ".join(text.split())[:_LONGEST_SHOWN] or "nothing"
    return SchedulerUnreachable(
        f"Slurm's answer is not complete or cannot be understood ({shown}); "
        "SCHEDMATE_DEBUG=1 shows all of it for a bug report"
    )


def records(text: str, fields: Sequence[str], separator: str) -> Iterator[Record]:
    """Split an answer in which every field, the last one too, ends with the separator."""
    *lines, rest = text.split(f"{separator}\n")
    width = len(fields)
    plain = not rest.strip() and not text.startswith("\n")
    if plain and all(line.count(separator) == width - 1 for line in lines):
        return (dict(zip(fields, line.split(separator), strict=True)) for line in lines)
    # a field may begin with a line break: count the fields instead of the lines
    *cells, rest = text.split(separator)
    if rest.strip() or len(cells) % width:
        raise _incomplete(text)
    starts = range(0, len(cells), width)
    found = ([cells[at].removeprefix("\n"), *cells[at + 1 : at + width]] for at in starts)
    return (dict(zip(fields, row, strict=True)) for row in found)


def queued_job(record: Record, is_file: IsFile, site: SlurmSite | None = None) -> Job:
    """A job, a task of an array or a part of a heterogeneous job, as the controller shows it."""
    state = state_of(record)
    nodes = expand(record["NodeList"])
    command = split_command(record["Command"], is_file)
    started = state is not JobState.PENDING and bool(nodes)
    exit_code, signal = values.ending(record["exit_code"]) if state.ended else (None, None)
    return Job(
        id=record["JobArrayID"],
        name=record["Name"],
        user=_user(record["UserName"], record["UserID"]),
        state=state,
        workdir=record["WorkDir"],
        command=command,
        script=command[0] if command else None,
        request=queued_request(record),
        submit_time=values.epoch(record["SubmitTime"]) or 0.0,
        start_time=values.epoch(record["StartTime"]) if started else None,
        end_time=values.epoch(record["EndTime"]) if state.ended else None,
        exit_code=exit_code,
        signal=signal,
        restarts=number(record["RestartCnt"]) or 0,
        nodes=nodes,
        logs=_logs(record, nodes),
        nice=number(record["Nice"]) or 0,
        most_nice=_most_nice(record, site) if state is JobState.PENDING else None,
        nice_an_hour=None if site is None else site.nice_an_hour,
        can_requeue=can_requeue(record),
        soft_limit=site is not None and site.soft_limits,
        priority=number(record["PriorityLong"]),
        eligible_time=_begins(record) if state is JobState.PENDING else None,
        freed_time=_freed(record),
        reason="" if record["Reason"] == "None" else record["Reason"],
        comment=stated(record["Comment"]),
        held=state is JobState.PENDING and is_held(record),
        dependency=stated(record["Dependency"]),
        licenses=stated(record["Licenses"]),
        # squeue's words for where it was submitted, not for where it runs
        submit_host=stated(record["AllocNodes"]),
        submit_session=number(record["AllocSID"]),
        cluster=other_cluster(record, site.cluster if site else ""),
    )


def aged_job(job: Job, record: Record, site: SlurmSite | None) -> Job:
    """The same job with the priority that it has now, itself where that is nearly the same."""
    before, now = job.priority or 0, number(record["PriorityLong"])
    if now is not None and abs(now - before) <= _SAME_PRIORITY * min(before, now):
        return job
    most_nice = _most_nice(record, site) if job.state is JobState.PENDING else None
    return replace(job, priority=now, most_nice=most_nice)


def is_job(record: Record) -> bool:
    return record["JobArrayID"] != _NO_JOB


def other_cluster(record: Record, own: str) -> str:
    """The cluster of a federation that has this job instead of this one; empty for own jobs."""
    origin, running = (stated(record[name]) for name in ("Origin", "SiblingsActive"))
    if is_revoked(record):
        return running if running not in _NO_CLUSTER else origin
    return "" if origin in _NO_CLUSTER or origin.casefold() == own.casefold() else origin


def is_revoked(record: Record) -> bool:
    """It has started on another cluster of a federation."""
    return record["State"] == "REVOKED"


def _revoked_state(record: Record) -> JobState:
    """Once it has ended there, this cluster shows one point in time and its exit code."""
    if record["StartTime"] != record["EndTime"]:
        return JobState.RUNNING
    return (
        JobState.COMPLETED if values.ending(record["exit_code"]) == (0, None) else JobState.FAILED
    )


def state_of(record: Record) -> JobState:
    if is_revoked(record):
        return _revoked_state(record)
    if is_stopping(record) and (record["Reason"] in _WAITS_NEXT or _shows_next_run(record)):
        return JobState.PENDING
    return values.state(record["State"])


def _shows_next_run(record: Record) -> bool:
    """Once a job is queued again, Slurm shows as its times when it could start and would end."""
    if record["RestartCnt"] == "0" or record["Reason"] != "None":
        return False
    limit = values.limit_s(record["TimeLimit"])
    start, end = (values.epoch(record[name]) for name in ("StartTime", "EndTime"))
    if limit is None or start is None:
        return end is None
    return end == start + limit


def split_command(text: str, is_file: IsFile) -> tuple[str, ...]:
    """Slurm joins the script and its arguments with blanks; the script is the shortest
    beginning that is a file. Empty for a command that was handed over as text.
    """
    if not text.strip() or text == "(null)":
        return ()
    words = text.split(" ")
    for count in range(1, min(len(words), _LONGEST_SCRIPT_NAME) + 1):
        script = " ".join(words[:count])
        if is_file(script):
            return (script, *words[count:])
    return tuple(words)


def is_stopping(record: Record) -> bool:
    """Processes of its last run are still being ended."""
    return record["State"] == "COMPLETING"


def is_held(record: Record) -> bool:
    return record["PriorityLong"] == "0"


def can_requeue(record: Record) -> bool:
    return record["Requeue"] == "1" and record["BatchFlag"] == "1"


def _most_nice(record: Record, site: SlurmSite | None) -> int | None:
    """None of a held job: its priority is 0."""
    return site.nice_range if site is not None and number(record["PriorityLong"]) else None


def _begins(record: Record) -> float | None:
    """Slurm shows the begin time as the start time as long as a job waits for it."""
    return values.epoch(record["StartTime"]) if record["Reason"] == "BeginTime" else None


def _freed(record: Record) -> float | None:
    """Slurm sets it as the last dependency is fulfilled; else it is the time of submission."""
    submitted, eligible = (values.epoch(record[name]) for name in ("SubmitTime", "EligibleTime"))
    late = eligible is not None and submitted is not None and eligible > submitted
    return eligible if late else None


def het_job(record: Record) -> JobId | None:
    """The id of the heterogeneous job that this is a part of."""
    whole = record["HetJobID"]
    return whole if whole.isdecimal() and whole != "0" else None


def _logs(record: Record, nodes: tuple[str, ...]) -> tuple[str, ...]:
    task, whole = record["ArrayTaskID"], het_job(record)  # one script writes for all parts
    names = LogNames(
        raw_id=whole or record["JobID"],
        array_id=whole or record["ArrayJobID"],
        task_id=task if task.isdecimal() else None,
        name=record["Name"],
        user=_user(record["UserName"], record["UserID"]),
        node=nodes[0] if nodes else "",
    )
    return log_paths(record["STDOUT"], stated(record["STDERR"]), record["WorkDir"], names)


def accounted_job(row: Record, *, restarts: int) -> Job:
    revoked = row["State"] == "REVOKED"  # it ran on another cluster, which has the rest
    succeeded = row["ExitCode"] == "0:0"
    state = values.state(("FAILED", "COMPLETED")[succeeded] if revoked else row["State"])
    nodes = () if row["NodeList"] == "None assigned" else expand(row["NodeList"])
    resources, shards = values.tres(row["ReqTRES"]), asked_shards(row["ReqTRES"])
    exit_code, signal = values.accounted_ending(row["ExitCode"])
    return Job(
        id=row["JobID"].partition("_[")[0],  # tasks of an array that never started
        name=row["JobName"],
        user=_user(row["User"], row["UID"]),
        state=state,
        workdir=row["WorkDir"],
        request=Request(
            gpus=values.gpus(resources) or int(shards > 0),
            shards=shards,
            gpu_type=values.gpu_type(values.tres(row["AllocTRES"])) or values.gpu_type(resources),
            nodes=number(row["NNodes"]) or 1,
            cpus=number(row["ReqCPUS"]),
            memory_mb=values.megabytes(resources.get("mem", "")),
            time_limit_s=values.limit_s(row["Timelimit"]),
            partition=row["Partition"] or None,
            account=stated(row["Account"]),
            qos=stated(row["QOS"]),
        ),
        submit_time=values.epoch(row["Submit"]) or 0.0,
        start_time=values.epoch(row["Start"]) if nodes else None,
        end_time=values.epoch(row["End"]),
        exit_code=exit_code,
        signal=signal,
        restarts=restarts,
        nodes=nodes,
        cluster=_ELSEWHERE if revoked else "",
    )


def stored_script(text: str) -> str | None:
    """What `sacct -B` shows of one job: a title, a rule, and the script."""
    title, _, rest = text.partition("\n")
    _, _, script = rest.partition("\n")
    known = title.startswith("Batch Script for ") and script.strip() not in ("", "NONE")
    return script.removesuffix("\n") if known else None


def _user(name: str, uid: str) -> str:
    """Slurm calls every user whom its machine does not know `nobody`, who is another user."""
    return account_name(int(uid)) if name in ("nobody", "") and uid.isdecimal() else name
