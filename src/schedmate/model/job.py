"""A job as its scheduler sees it."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from math import isfinite

_SAME_S = 1e-3
JobId = str
"""`12`: the newest job of that number. `12@1763434074`: the one that was submitted then, once the
number has been used again."""


def earlier_job(job_id: JobId, submitted_at: float) -> JobId:
    """What a job is called whose number is another job's now."""
    return f"{job_id}@{int(submitted_at) if submitted_at.is_integer() else submitted_at}"


def read_job_id(text: str) -> tuple[JobId, float | None]:
    """The number, and the submission that was named with it: `12@1763434074`, or as sacct
    shows it, `12@2026-11-18T02:47:54`."""
    number, at, stated = text.partition("@")
    if not at:
        return text, None
    try:
        moment = datetime.fromisoformat(stated).timestamp() if "-" in stated else float(stated)
    except ValueError:
        return text, None
    return (number, moment) if isfinite(moment) else (text, None)


def array_of(job_id: JobId) -> JobId | None:
    """`12` of `12_3`, which is a task of array 12; None for what is no task of an array."""
    number, at, moment = job_id.partition("@")
    array, found, _ = number.partition("_")
    return f"{array}{at}{moment}" if found else None


def whole_of(job_id: JobId) -> JobId:
    """The array of a task, the heterogeneous job of a part, else the job itself."""
    number, at, moment = job_id.partition("@")
    return array_of(job_id) or f"{number.partition('+')[0]}{at}{moment}"


@dataclass(frozen=True, slots=True)
class Awaited:
    """One job that another one waits for: `afterok`, `12`, and `failed` where that cannot be."""

    kind: str
    job_id: JobId
    state: str = ""


_ONE = r"\d+(?:_(?:\d+|\*))?(?:\+\d+)?(?:\(\w+\))?"
_AWAITED = re.compile(rf"\b(after\w*)((?::{_ONE})+)")
_OUTCOME = re.compile(r"\(\w+\)")
_PARTS = re.compile(r":(\d+(?:_\d+)?)(?:_\*)?(?:\+\d+)?(?:\((\w+)\))?")


def awaited_in(dependency: str) -> list[Awaited]:
    """What a job with this dependency waits for, in Slurm's words; a whole array by its id."""
    return [
        Awaited(kind, job_id, state)
        for kind, those in _AWAITED.findall(dependency)
        for job_id, state in _PARTS.findall(those)
    ]


def dependency_anew(dependency: str) -> str:
    """As it was asked for, without what became of each part."""
    return _OUTCOME.sub("", dependency)


def split_command_line(line: str) -> tuple[str, ...]:
    """A command line in words; where its quotes were lost, by its blanks."""
    try:
        return tuple(shlex.split(line))
    except ValueError:
        return tuple(line.split())


class JobState(StrEnum):
    """Slurm's words, which every adapter translates into."""

    PENDING = "PENDING"
    RUNNING = "RUNNING"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"
    TIMEOUT = "TIMEOUT"
    NODE_FAIL = "NODE_FAIL"
    OUT_OF_MEMORY = "OUT_OF_MEMORY"
    PREEMPTED = "PREEMPTED"

    @property
    def ended(self) -> bool:
        return self not in _UNFINISHED

    @property
    def failed(self) -> bool:
        """Ended otherwise than well or by somebody's wish."""
        return self not in _NOT_FAILED

    @property
    def broke_off(self) -> bool:
        """Ended by an error, its own or a node's: it takes at least as long as it ran, and nothing
        more is known of how long. Limits and people end runs as well, but as they would again."""
        return self in _BROKEN_OFF


_UNFINISHED = (JobState.PENDING, JobState.RUNNING)
_NOT_FAILED = (*_UNFINISHED, JobState.COMPLETED, JobState.CANCELLED)
"""Looked up once: pages ask this of each run of three months."""
_BROKEN_OFF = (
    JobState.FAILED,
    JobState.OUT_OF_MEMORY,
    JobState.NODE_FAIL,
    JobState.PREEMPTED,
)
FAILING = "FAILING"
"""Stands, where states are asked for, for all that `failed`."""


def is_among(state: JobState, wanted: str) -> bool:
    """`wanted` are states in any case with commas between; without any, all are."""
    if not wanted:
        return True
    words = {word.strip() for word in wanted.upper().split(",")} - {""}
    return not words or state in words or (state.failed and FAILING in words)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a job asks its scheduler for."""

    gpus: int = 0
    no_gpus: bool = False
    """It says itself that it uses none."""
    shards: int = 0
    """It runs on so many parts of one GPU, where its scheduler lends GPUs in parts; 0: on whole
    ones."""
    gpu_type: str | None = None
    """As the scheduler calls it: `a100`, `NVIDIA H100-SXM5-80GB`."""
    nodes: int = 1
    cpus: int | None = None
    memory_mb: int | None = None
    time_limit_s: float | None = None
    partition: str | None = None
    exclude_nodes: tuple[str, ...] = ()
    """A scheduler may read it only for jobs that are asked for by id."""
    required_nodes: tuple[str, ...] = ()
    """Nodes that it asks for by name: it runs on all of them or not at all."""
    features: str = ""
    """What its nodes must have, in the scheduler's own syntax."""
    reservation: str = ""
    account: str = ""
    qos: str = ""
    time_min_s: float | None = None
    """How long it needs at least, as its user or SchedMate has stated it."""


@dataclass(frozen=True, slots=True)
class ArrayTask:
    """One task of an array; without a command of its own it runs its array's."""

    index: int
    command: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """A job on its way to a scheduler: a command line, and what it asks for.

    A script is handed over as the command `(path, *args)` with `script` set to the path.
    """

    command: tuple[str, ...]
    workdir: str
    name: str
    script: str | None = None
    script_text: str | None = None
    """Of a script that is no file: it came on standard input."""
    request: Request = field(default_factory=Request)
    stdout: str | None = None
    stderr: str | None = None
    nice: int = 0
    env: dict[str, str] | None = None
    passthrough: tuple[str, ...] = ()
    """Flags for the scheduler's own submit command, handed on as they are."""
    tasks: tuple[ArrayTask, ...] = ()
    """Of an array; none: it is one job."""
    most_tasks: int | None = None
    """How many tasks of the array may run at once."""
    dependency: str = ""
    """What it waits for, in Slurm's words: `afterok:12:13,singleton`."""
    begin: float | None = None
    """It does not start before."""
    held: bool = False
    options: dict[str, str] = field(default_factory=dict)
    """What else was asked for, by the long names of sbatch's flags: `{"signal": "USR1@60"}`."""
    notes: tuple[str, ...] = ()
    """What its user should know of what was asked for, in sentences."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A snapshot: what the job is and where it stands. Times are seconds since the epoch."""

    id: JobId
    name: str
    user: str
    state: JobState
    workdir: str
    command: tuple[str, ...] = ()
    script: str | None = None
    request: Request = field(default_factory=Request)
    submit_time: float
    """Of its latest run: a scheduler may begin to count anew when a job is queued again."""
    first_submit: float | None = None
    """When it first was submitted, where that is another time and known."""
    start_time: float | None = None
    end_time: float | None = None
    exit_code: int | None = None
    signal: int | None = None
    restarts: int = 0
    nodes: tuple[str, ...] = ()
    logs: tuple[str, ...] = ()
    """Of its latest attempt, which may not have written to them yet."""
    earlier_logs: tuple[str, ...] = ()
    """Of earlier attempts, the newest first, where each attempt has files of its own."""
    nice: int = 0
    most_nice: int | None = None
    """By how many nice numbers it may be moved, which ageing outweighs; None where it has no place
    to be given: it does not wait, or is held."""
    nice_an_hour: float | None = None
    """How many nice numbers an hour of waiting outweighs; None where waiting counts for nothing."""
    can_requeue: bool = False
    """It may be queued again while it runs: a batch job whose owner has not forbidden it."""
    soft_limit: bool = False
    """Its scheduler can plan with `time_min_s` while the time limit alone ends the run."""
    priority: int | None = field(default=None, compare=False)
    """The scheduler's own, larger ones first; None where it goes by nice number and submission.
    It grows by the minute, so a job is the same job with another one."""
    eligible_time: float | None = None
    """When a job that waits for a point in time may start."""
    freed_time: float | None = None
    """When that was over for which it waited by its user's wish: another job, a point in time."""
    reason: str = ""
    comment: str = ""
    held: bool = False
    """It waits and does not start until it is released."""
    tasks: int = 1
    """An array's tasks that wait are one job under the array's id until they differ."""
    components: tuple[JobId, ...] = ()
    """The ids of the parts of a heterogeneous job, which is one job under its first part's id."""
    dependency: str = ""
    """What it waits for in the scheduler's own syntax: `afterok:12(unfulfilled)`."""
    licenses: str = ""
    submit_host: str = ""
    """The machine on which it was submitted, where its scheduler knows that."""
    submit_session: int | None = None
    """The session of processes there in which it was: a terminal, or a run that submits jobs."""
    cluster: str = ""
    """Another cluster of a federation that it belongs to or runs on: shown, never acted upon."""

    @property
    def submitted_at(self) -> float | None:
        """When it first was submitted: with its number, what makes it this job and no other."""
        if self.first_submit is None and self.restarts:
            return None
        return self.submit_time if self.first_submit is None else self.first_submit

    def is_same_job(self, other: Job) -> bool:
        """Whether both are of one job, of the same number; what nobody knows is taken for so."""
        mine, its = self.submitted_at, other.submitted_at
        return mine is None or its is None or abs(mine - its) < _SAME_S

    @property
    def started(self) -> bool:
        """A scheduler may fail a job without a run, such as a submission that it refuses."""
        return self.start_time is not None

    @property
    def run_time_s(self) -> float | None:
        """How long the last run took, once it has ended."""
        if self.start_time is None or self.end_time is None:
            return None
        return max(0.0, self.end_time - self.start_time)
