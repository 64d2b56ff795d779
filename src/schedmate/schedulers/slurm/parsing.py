"""From the text of squeue and sacct to jobs. Pure: text in, jobs out.

Every field ends with a separator that carries a random number, so that nothing a user writes
into a name, a path or an argument can end a field or forge a job.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Container
from dataclasses import replace
from typing import TYPE_CHECKING

from schedmate.model import Job, JobId, JobState, Request, SchedulerError
from schedmate.model.account import account_name
from schedmate.schedulers.slurm import values
from schedmate.schedulers.slurm.logs import LogNames, log_paths
from schedmate.schedulers.slurm.site import SlurmSite
from schedmate.schedulers.slurm.values import expand

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

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


def new_separator() -> str:
    return f"\x1f{secrets.token_hex(8)}\x1f"


def squeue_format(separator: str) -> str:
    """Width 0 means: as long as it is."""
    return ",".join(f"{name}:0{separator}" for name in SQUEUE_FIELDS)


def records(text: str, fields: Sequence[str], separator: str) -> Iterator[Record]:
    """Split an answer in which every field, the last one too, ends with the separator."""
    *cells, rest = text.split(separator)
    if rest.strip() or len(cells) % len(fields):
        raise SchedulerError(
            "Slurm's answer cannot be understood; SCHEDMATE_DEBUG=1 shows it for a bug report"
        )
    for at in range(0, len(cells), len(fields)):
        first, *others = cells[at : at + len(fields)]
        yield dict(zip(fields, [first.removeprefix("\n"), *others], strict=True))


def array_record(record: Record) -> JobId | None:
    """The array's id for one of its tasks that never ran and is no record of its own yet."""
    array = record["ArrayJobID"]
    is_task = record["JobArrayID"] != array and record["ArrayTaskID"].isdecimal()
    if not is_task or record["JobID"] != array or record["RestartCnt"] != "0":
        return None
    waits = state_of(record) is JobState.PENDING
    return array if waits or (state_of(record).ended and not record["NodeList"]) else None


def task_ranges(numbers: Iterable[int]) -> str:
    """`0-3,7` of 0, 1, 2, 3 and 7."""
    ranges: list[list[int]] = []
    for number in sorted(numbers):
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return ",".join(str(low) if low == high else f"{low}-{high}" for low, high in ranges)


def queued_jobs(
    rows: Iterable[Record], is_file: IsFile, site: SlurmSite, apart: Container[JobId] = ()
) -> tuple[list[Job], dict[JobId, str]]:
    """The jobs, and under an array's id the name of all its tasks that are one record.

    Those tasks are one job; one whose own id is in `apart` is shown by itself.
    """
    jobs: list[Job] = []
    arrays: dict[JobId, list[Record]] = {}
    for row in rows:
        array = array_record(row)
        if array is not None:
            arrays.setdefault(array, []).append(row)
        if array is None or row["JobArrayID"] in apart:
            jobs.append(queued_job(row, is_file, site))
    for array, tasks in arrays.items():
        one = queued_job(tasks[0], is_file, site)
        jobs.append(replace(one, id=array, tasks=len(tasks), logs=()))
    numbers = {
        array: task_ranges(int(row["ArrayTaskID"]) for row in tasks)
        for array, tasks in arrays.items()
    }
    return jobs, {array: f"{array}_[{ranges}]" for array, ranges in numbers.items()}


def queued_job(record: Record, is_file: IsFile, site: SlurmSite | None = None) -> Job:
    """A job as the controller shows it."""
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
        request=_queued_request(record),
        submit_time=values.epoch(record["SubmitTime"]) or 0.0,
        start_time=values.epoch(record["StartTime"]) if started else None,
        end_time=values.epoch(record["EndTime"]) if state.ended else None,
        exit_code=exit_code,
        signal=signal,
        restarts=_number(record["RestartCnt"]) or 0,
        nodes=nodes,
        logs=_logs(record, nodes),
        nice=_number(record["Nice"]) or 0,
        most_nice=_most_nice(record, site) if state is JobState.PENDING else None,
        nice_an_hour=None if site is None else site.nice_an_hour,
        soft_limit=site is not None and site.soft_limits,
        priority=_number(record["PriorityLong"]),
        eligible_time=_begins(record) if state is JobState.PENDING else None,
        reason="" if record["Reason"] == "None" else record["Reason"],
        comment=_stated(record["Comment"]),
        held=state is JobState.PENDING and is_held(record),
    )


def state_of(record: Record) -> JobState:
    if is_stopping(record) and record["Reason"] in _WAITS_NEXT:
        return JobState.PENDING
    return values.state(record["State"])


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


def _queued_request(record: Record) -> Request:
    resources = values.tres(record["tres-alloc"])
    nodes = _number(record["NumNodes"]) or 1
    gpus = (
        values.gpus(resources)
        or values.requested_gpus(record["tres-per-job"])
        or values.requested_gpus(record["tres-per-node"]) * nodes
    )
    return Request(
        gpus=gpus,
        gpu_type=(
            values.gpu_type(resources)
            or values.requested_gpu_type(record["tres-per-job"])
            or values.requested_gpu_type(record["tres-per-node"])
        ),
        nodes=nodes,
        cpus=_number(record["NumCPUs"]),
        memory_mb=values.megabytes(resources.get("mem", "")),
        time_limit_s=values.limit_s(record["TimeLimit"]),
        partition=record["Partition"] or None,
        required_nodes=expand(_stated(record["ReqNodes"])),
        features=_stated(record["Feature"]),
        reservation=_stated(record["Reservation"]),
        account=_stated(record["Account"]),
        qos=_stated(record["QOS"]),
        time_min_s=values.limit_s(record["MinTime"]) or None,
    )


def is_stopping(record: Record) -> bool:
    """Processes of its last run are still being ended."""
    return record["State"] == "COMPLETING"


def is_held(record: Record) -> bool:
    return record["PriorityLong"] == "0"


def can_requeue(record: Record) -> bool:
    return record["Requeue"] == "1" and record["BatchFlag"] == "1"


def _most_nice(record: Record, site: SlurmSite | None) -> int | None:
    priority, nice = _number(record["PriorityLong"]), _number(record["Nice"]) or 0
    return None if site is None else site.most_nice(priority, nice)


def _begins(record: Record) -> float | None:
    """Slurm shows the begin time as the start time as long as a job waits for it."""
    return values.epoch(record["StartTime"]) if record["Reason"] == "BeginTime" else None


def _stated(text: str) -> str:
    return "" if text in ("(null)", "N/A") else text


def _logs(record: Record, nodes: tuple[str, ...]) -> tuple[str, ...]:
    task = record["ArrayTaskID"]
    names = LogNames(
        raw_id=record["JobID"],
        array_id=record["ArrayJobID"],
        task_id=task if task.isdecimal() else None,
        name=record["Name"],
        user=_user(record["UserName"], record["UserID"]),
        node=nodes[0] if nodes else "",
    )
    return log_paths(record["STDOUT"], record["STDERR"], record["WorkDir"], names)


def accounted_jobs(rows: Iterable[Record]) -> list[Job]:
    """Ended jobs as accounting remembers them, each with its last run.

    It keeps a row for every run, so their number gives the restarts; it keeps neither the nice
    value nor, in Slurm 22, where the output went, and it shows an exit code of 137 as 9.
    """
    runs: dict[str, list[Record]] = {}
    for row in rows:
        runs.setdefault(row["JobID"], []).append(row)
    last = [max(rows, key=lambda row: values.epoch(row["Submit"]) or 0.0) for rows in runs.values()]
    jobs = [_accounted_job(row, restarts=len(runs[row["JobID"]]) - 1) for row in last]
    return [job for job in jobs if job.state.ended]


def _accounted_job(row: Record, *, restarts: int) -> Job:
    state = values.state(row["State"])
    nodes = () if row["NodeList"] == "None assigned" else expand(row["NodeList"])
    resources = values.tres(row["ReqTRES"])
    exit_code, signal = values.accounted_ending(row["ExitCode"])
    return Job(
        id=row["JobID"].partition("_[")[0],  # tasks of an array that never started
        name=row["JobName"],
        user=_user(row["User"], row["UID"]),
        state=state,
        workdir=row["WorkDir"],
        request=Request(
            gpus=values.gpus(resources),
            gpu_type=values.gpu_type(values.tres(row["AllocTRES"])) or values.gpu_type(resources),
            nodes=_number(row["NNodes"]) or 1,
            cpus=_number(row["ReqCPUS"]),
            memory_mb=values.megabytes(resources.get("mem", "")),
            time_limit_s=values.limit_s(row["Timelimit"]),
            partition=row["Partition"] or None,
            account=row["Account"],
            qos=row["QOS"],
        ),
        submit_time=values.epoch(row["Submit"]) or 0.0,
        start_time=values.epoch(row["Start"]) if nodes else None,
        end_time=values.epoch(row["End"]),
        exit_code=exit_code,
        signal=signal,
        restarts=restarts,
        nodes=nodes,
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


def _number(text: str) -> int | None:
    try:
        return int(text)
    except ValueError:
        return None
