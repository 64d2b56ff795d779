"""One attempt of a job: its logs, and how its scheduler reports its end."""

from __future__ import annotations

import re
import signal as signals
from dataclasses import dataclass
from pathlib import Path

from schedmate.files import INVOKER, Reader, files_of
from schedmate.handler.states import VERDICTS, WORDS, plain
from schedmate.model import BadInput, Job, JobState, NodeState, Subject, Workload
from schedmate.model.diagnosis import Reporter

_SHELL_OFFSET = 128
_LAST_SIGNAL = 64
_PBS_OFFSET = 256
_RAW = 256
_CUT_TO_A_BYTE = {256 - number: number for number in (4, 6, 7, 9, 11, 15)}
"""`sys.exit(-9)`, as some launchers hand on what became of their child."""
_DECIMAL = re.compile(r"[+-]?[0-9]{1,10}")
_HEXADECIMAL = re.compile(r"0x[0-9a-f]{1,8}")
_MOST_CODE = 2**32 - 1


@dataclass(frozen=True, slots=True)
class NamedLog:
    """A log under another name than its path, or one that is no file at all."""

    name: str
    content: bytes | Path
    reported_by: Reporter = "job"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One attempt of one job. A signal may come as exit code `128+n`, `256+n` (PBS) or `-n`."""

    logs: tuple[Path | NamedLog, ...] = ()
    state: JobState | None = None
    verdict: str = ""
    """The reason that the scheduler's own word names, where no state stands for it."""
    exit_code: int | None = None
    signal: int | None = None
    nodes: tuple[str, ...] = ()
    hung: bool = False
    workload: Workload | None = None
    complete: bool = False
    """Its log shows that the work was done before it failed."""
    attempt: int = 0
    started_at: float | None = None
    ended_at: float | None = None
    node_states: tuple[NodeState, ...] = ()
    """The scheduler's report on its nodes, soon after the end."""
    suspects: tuple[str, ...] = ()
    """Nodes that other users' failures make suspect."""
    reader: Reader = INVOKER
    """Reads its logs with the rights of their owner."""
    user: str = ""
    """The job's owner; lines of other users' logs are not shown to them."""
    job_id: str = ""
    workdir: str = ""
    """Where its code is, which a model that reads may look at with the owner's rights."""
    comment: str = ""

    def __post_init__(self) -> None:
        code, signal = normal_exit(self.exit_code, self.signal)
        object.__setattr__(self, "exit_code", code)
        object.__setattr__(self, "signal", signal)

    @classmethod
    def of_job(
        cls,
        job: Job,
        *,
        workload: Workload | None = None,
        hung: bool = False,
        complete: bool = False,
        node_states: tuple[NodeState, ...] = (),
        suspects: tuple[str, ...] = (),
    ) -> Case:
        """The case of a job; its logs are read with its owner's rights."""
        # the scheduler's reason may quote the job, for instance a missing command
        words = (NamedLog("<scheduler>", job.reason.encode(), "job"),) if job.reason else ()
        return cls(
            logs=(*(Path(log) for log in job.logs), *words),
            state=job.state,
            exit_code=job.exit_code,
            signal=job.signal,
            nodes=job.nodes,
            hung=hung,
            workload=workload,
            complete=complete,
            attempt=job.restarts,
            started_at=job.start_time,
            ended_at=job.end_time,
            node_states=node_states,
            suspects=suspects,
            reader=files_of(job.user),
            user=job.user,
            job_id=job.id,
            workdir=job.workdir,
            comment=job.comment,
        )

    @property
    def subject(self) -> Subject | None:
        """None where it is no job's."""
        if not self.user:
            return None
        return Subject(
            user=self.user, job_id=self.job_id, workdir=self.workdir, comment=self.comment
        )

    def reporter(self, order: int) -> Reporter:
        """The writer of the log at this place of `logs`; a plain path is the job's own output."""
        log = self.logs[order]
        return "job" if isinstance(log, Path) else log.reported_by

    @property
    def failing(self) -> bool:
        """Whether the state, the exit code, a signal or a hang shows a failure."""
        if self.hung or self.signal:
            return True
        if self.state is not None and self.state.failed:
            return True
        return self.exit_code not in (None, 0)

    @property
    def succeeded(self) -> bool:
        """A job that still runs has an exit code of 0 too, as sacct shows it."""
        ended = self.state in (None, JobState.COMPLETED)
        return not self.failing and ended and (self.exit_code == 0 or self.state is not None)


def normal_exit(code: int | None, signal: int | None) -> tuple[int | None, int | None]:
    """Return the exit code as a shell shows it and the signal it stands for, if any."""
    code = None if code is None else _as_in_a_shell(code)
    if not signal and code is not None and _SHELL_OFFSET < code <= _SHELL_OFFSET + _LAST_SIGNAL:
        signal = code - _SHELL_OFFSET
    return code, signal or None


def _as_in_a_shell(code: int) -> int:
    """`-9`, `247`, PBS's `265` and the raw wait status `35072` are all `137`."""
    if code < 0:
        return _SHELL_OFFSET - code
    if code in _CUT_TO_A_BYTE:
        return _SHELL_OFFSET + _CUT_TO_A_BYTE[code]
    if _PBS_OFFSET < code <= _PBS_OFFSET + _LAST_SIGNAL:
        return code - _PBS_OFFSET + _SHELL_OFFSET
    if code >= _RAW and code % _RAW == 0:
        return _as_in_a_shell(code // _RAW)
    return code


def parse_exit(text: str) -> tuple[int, int | None]:
    """Read `C`, Slurm's `C:SIG`, or either in hexadecimal."""
    code, colon, signal = text.partition(":")
    try:
        return _number(code), _number(signal) if colon else None
    except ValueError as error:
        raise BadInput(
            f"{text!r} is no exit code: give a number such as 1, 137 or -9, or Slurm's CODE:SIGNAL"
        ) from error


def _number(text: str) -> int:
    """Only as a scheduler would print it: not `1_0`, no digits of other scripts."""
    word = text.strip().lower()
    if _HEXADECIMAL.fullmatch(word):
        return int(word, 16)
    if _DECIMAL.fullmatch(word) and abs(int(word)) <= _MOST_CODE:
        return int(word)
    raise ValueError(text)


def parse_state(text: str) -> JobState:
    """Read a state in the words of Slurm, LSF, PBS, Grid Engine, Kubernetes, Ray or HTCondor.

    `CANCELLED by 1000`, the cut `OUT_OF_ME+` and `TERM_RUNLIMIT: job killed …` are understood.
    """
    return parse_verdict(text)[0]


def parse_verdict(text: str) -> tuple[JobState, str]:
    """Read a state, and the reason that the word itself names where no state stands for it."""
    word = plain(text)
    cut = word.removesuffix("+")
    if word in VERDICTS:
        return JobState.FAILED, VERDICTS[word]
    if word in WORDS:
        return WORDS[word], ""
    for state in JobState:
        if cut and cut != word and state.startswith(cut):
            return state, ""
    raise BadInput(f"{text!r} is no job state: give one of {', '.join(JobState)}")


def signal_name(number: int) -> str:
    try:
        return signals.Signals(number).name
    except ValueError:
        return f"signal {number}"
