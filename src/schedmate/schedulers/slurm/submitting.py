"""A submission in sbatch's words."""

from __future__ import annotations

import math
import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schedmate.model import Request, Submission


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
