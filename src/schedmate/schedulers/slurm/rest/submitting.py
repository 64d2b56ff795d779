"""A plain command as slurmrestd takes it.

Scripts and sbatch's own flags are sbatch's business: slurmrestd ignores the `#SBATCH` lines.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schedmate.schedulers.slurm.submitting import batch_script, minutes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schedmate.model import Request, Submission

_NOT_HANDED_ON = frozenset({"SLURM_JWT", "SLURM_CONF"})


def takes(submission: Submission) -> bool:
    """Whether slurmrestd would make the same job of it as sbatch."""
    environment = {**os.environ, **(submission.env or {})}
    return (
        submission.script is None
        and not submission.passthrough
        and not submission.request.exclude_nodes
        and all(_is_text(name) and _is_text(value) for name, value in environment.items())
    )


def job_of(submission: Submission, *, structured: bool) -> dict[str, Any]:
    """The body of `job/submit`, in the shape up to v0.0.38 or in the structured one since."""
    environment = {
        name: value
        for name, value in {**os.environ, **(submission.env or {})}.items()
        if name not in _NOT_HANDED_ON
    }
    environment |= {"SLURM_SUBMIT_DIR": submission.workdir, "SLURM_UMASK": _umask()}
    listed = [f"{name}={value}" for name, value in environment.items()]
    job = {
        "name": submission.name,
        "current_working_directory": submission.workdir,
        "environment": listed if structured else environment,
        "requeue": True,
        **({"nice": submission.nice} if submission.nice else {}),
        **({} if submission.stdout is None else {"standard_output": submission.stdout}),
        **({} if submission.stderr is None else {"standard_error": submission.stderr}),
        **dict(_resources(submission.request, structured=structured)),
    }
    return {"script": batch_script(submission), "job": job}


def _resources(request: Request, *, structured: bool) -> Iterator[tuple[str, Any]]:
    if request.nodes > 1:
        yield "nodes", str(request.nodes) if structured else [request.nodes, request.nodes]
    each, rest = divmod(request.gpus, request.nodes)
    if request.gpus and rest:
        count = str(request.gpus)
        yield ("tres_per_job", f"gres/gpu:{count}") if structured else ("gpus", count)
    elif request.gpus:
        yield ("tres_per_node", f"gres/gpu:{each}") if structured else ("gres", f"gpu:{each}")
    if request.cpus is not None:
        yield "cpus_per_task", request.cpus
    if request.memory_mb is not None:
        yield "memory_per_node", request.memory_mb
    if request.time_limit_s is not None:
        yield "time_limit", minutes(request.time_limit_s)
    if request.partition is not None:
        yield "partition", request.partition


def _is_text(text: str) -> bool:
    """No bytes that were no UTF-8 where Python read them."""
    return text.isprintable() or not any("\ud800" <= letter <= "\udfff" for letter in text)


def _umask() -> str:
    """Without setting another one in between, as os.umask does."""
    found = re.search(r"^Umask:\s*(\d+)", Path("/proc/self/status").read_text(), re.MULTILINE)
    return found[1] if found else "0022"
