"""A submission in sbatch's words, and sbatch itself with a user's own words."""

from __future__ import annotations

import math
import os
import re
import shlex
import signal
import subprocess
import threading
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schedmate.model import SchedulerUnreachable
from schedmate.schedulers.base import CommandResult

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from schedmate.model import JobId, Request, Submission

_SUBMITTED = re.compile(rb"(?:Submitted batch job )?(\d+)(?:;.*| on cluster .*)?\n?")
_HANDED_ON = (signal.SIGTERM, signal.SIGHUP)
_WRAPPER_BYTES = 4096
_KILLED = 128


def sbatch_arguments(submission: Submission) -> list[str]:
    """The user's own flags come first; the fields of the submission come last and win."""
    script = [] if submission.script is None else ["--", *submission.command]
    return ["--parsable", *submission.passthrough, *_flags(submission), *script]


def batch_script(submission: Submission) -> str | None:
    """A command as a script that becomes the command; None where there is a script."""
    if submission.script is not None:
        return None
    return f"#!/bin/bash\nexec {shlex.join(submission.command)}\n"


def minutes(seconds: float) -> int:
    """Slurm's limits are whole minutes; no job gets less than it asked for."""
    return max(1, math.ceil(seconds / 60))


def _flags(submission: Submission) -> Iterator[str]:
    yield f"--job-name={submission.name}"
    yield f"--chdir={submission.workdir}"
    if submission.stdout is not None:
        yield f"--output={submission.stdout}"
    if submission.stderr is not None:
        yield f"--error={submission.stderr}"
    if submission.nice and not _chosen("--nice", submission):
        yield f"--nice={submission.nice}"
    if submission.env is not None and not _chosen("--export", submission):
        yield "--export=ALL"
    if not _chosen("--no-requeue", submission):
        yield "--requeue"
    yield from _resources(submission.request)


def _resources(request: Request) -> Iterator[str]:
    if request.nodes > 1:
        yield f"--nodes={request.nodes}"
    if request.gpus:
        yield _gpu_flag(request)
    if request.cpus is not None:
        yield f"--cpus-per-task={request.cpus}"
    if request.memory_mb is not None:
        yield f"--mem={request.memory_mb}M"
    if request.time_limit_s is not None:
        yield f"--time={minutes(request.time_limit_s)}"
    if request.partition is not None:
        yield f"--partition={request.partition}"
    if request.exclude_nodes:
        yield f"--exclude={','.join(request.exclude_nodes)}"


def _gpu_flag(request: Request) -> str:
    """GPUs per node, which every site understands, wherever they can be shared out evenly."""
    each, rest = divmod(request.gpus, request.nodes)
    return f"--gpus={request.gpus}" if rest else f"--gres=gpu:{each}"


def _chosen(flag: str, submission: Submission) -> bool:
    return any(word.split("=")[0] == flag for word in submission.passthrough)


def run_sbatch(
    words: Sequence[str],
    *,
    stdin: bytes | None,
    on_output: Callable[[bytes], None],
    on_job: Callable[[JobId], None],
) -> CommandResult:
    """See `HasSubmitCommand`. sbatch writes whole lines, also where its output is no terminal."""
    program, job_id = sbatch_program(), None
    process = subprocess.Popen(
        ["sbatch", *words],
        executable=program,
        stdin=None if stdin is None else subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with _signals_handed_on(process):
        feeding = threading.Thread(target=_feed, args=(process, stdin), daemon=True)
        feeding.start()
        for line in process.stdout or ():
            found = _SUBMITTED.fullmatch(line)
            if found is not None and job_id is None:
                job_id = found[1].decode()
                on_job(job_id)
            on_output(line)
        code = process.wait()
    return CommandResult(_KILLED - code if code < 0 else code, job_id)


def sbatch_program() -> str:
    """sbatch on the PATH, but no script of that name which calls SchedMate: it would not end."""
    for directory in os.get_exec_path():
        path = Path(directory) / "sbatch"
        if path.is_file() and os.access(path, os.X_OK) and not _calls_us(path):
            return str(path)
    raise SchedulerUnreachable(
        "sbatch is not on the PATH; install Slurm's client commands or set scheduler = 'local'"
    )


def _calls_us(program: Path) -> bool:
    try:
        with program.open("rb") as file:
            text = file.read(_WRAPPER_BYTES)
    except OSError:
        return False
    return text.startswith(b"#!") and b"schedmate" in text


def _feed(process: subprocess.Popen[bytes], text: bytes | None) -> None:
    if process.stdin is None:
        return
    with suppress(OSError):  # it has ended without reading all of it
        process.stdin.write(text or b"")
    with suppress(OSError):
        process.stdin.close()


@contextmanager
def _signals_handed_on(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """An interrupt at the terminal reaches sbatch by itself; we end when it does."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def hand_on(number: int, _: Any) -> None:
        process.send_signal(number)

    before = {number: signal.signal(number, hand_on) for number in _HANDED_ON}
    before[signal.SIGINT] = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
