"""From sbatch's command line to what a scheduler is given. It reads no code: people wait for it."""

from __future__ import annotations

import os
import re
import socket
import sys
import time
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from schedmate.disk.database import storable
from schedmate.model.batch_options import (
    BatchOptions,
    read_script_options,
    read_words,
    slurm_seconds,
)
from schedmate.model.errors import BadInput, NotFound
from schedmate.model.job import ArrayTask, Request, Submission
from schedmate.model.workload import Evidence
from schedmate.service.usecases import sbatch
from schedmate.service.usecases.named_script import read_named

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedmate.config import Settings
    from schedmate.service.usecases.sweep import Sweep

_NO_LIMIT = ("UNLIMITED", "INFINITE")
_GPUS = re.compile(r"(?:[A-Za-z][\w.-]{0,60}:)?\d{1,5}", re.ASCII)
_STARTER = re.compile(
    r"(?:i?python|pypy)[\d.]*|(?:ba|z|da|k)?sh|torchrun|accelerate|deepspeed|mpirun|mpiexec|env|nice"
    r"|time|nohup|numactl|uv|poetry|pipenv|conda|Rscript|julia"
)
"""What starts a program of another name."""
_PIPED = "sbatch"
"""What Slurm calls a script that has no name."""
_PROGRAM = (".py", ".sh", ".R", ".jl")
_SOMEWHERE = Evidence(file="", line=0, text="")


def submission_of(settings: Settings, words: Sequence[str]) -> Submission:
    """Read the command line as sbatch would; the local scheduler gets what it can use of it."""
    here = _current_directory()
    if settings.scheduler != "slurm":
        _refuse_what_is_no_text([*words, str(here)])
    notify, words = sbatch.take_own(words, "--notify")
    sweep, words = _take_sweep(words)
    line = sbatch.split(words)
    if sweep is not None and sweep.commands:
        if line.job:
            raise BadInput(f"--commands names all that is to run: submit without {line.job[0]}")
        line = replace(line, job=sweep.commands[0], is_command=True)
    is_wrapped = line.value("wrap") is not None and not line.job
    if is_wrapped:
        line = sbatch.unwrap(line)
    stated = _options(line.as_words())
    workdir = here / (stated.text("chdir") or "")
    piped = None if line.job else _script_from_stdin()
    if piped is None:
        line, script, text = _named(line, workdir)
    else:
        line, script, text = replace(line, job=(_PIPED,)), workdir / _PIPED, piped
    asked = _script_options(text) | stated
    usual = "wrap" if is_wrapped else _usual_name(line.job)
    submission = Submission(
        command=_command(line, script),
        workdir=str(workdir),
        name=" ".join((asked.text("job-name") or usual).split()),
        script=None if script is None else str(script),
        script_text=piped,
        request=request_of(asked),
        env=dict(os.environ),
    )
    if settings.scheduler == "slurm":
        return replace(submission, passthrough=line.flags)
    if line.unknown:
        raise BadInput(f"there is no flag {line.unknown[0]}: SchedMate takes those of sbatch")
    _refuse_what_is_no_amount(stated)
    queued = _for_local(submission, asked, settings, notify[-1] if notify else None)
    return queued if sweep is None else _swept(queued, sweep, named=asked.text("job-name"))


def _current_directory() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError:
        raise BadInput("the directory that you are in is gone: cd to one that is there") from None


def _script_from_stdin() -> str:
    """`submit <<EOF`, as with sbatch; BadInput where nothing comes that way."""
    from schedmate.model.batch_script import LARGEST, check_batch_script

    is_piped = sys.stdin is not None and not sys.stdin.closed and not sys.stdin.isatty()
    data = b""
    with suppress(OSError):
        data = sys.stdin.buffer.read(LARGEST + 1) if is_piped else b""
    if not data:
        raise BadInput("name a script, or a command behind `--`")
    check_batch_script("the script", data, otherwise="a command goes behind `--`")
    return data.decode("utf-8", "surrogateescape")


def _usual_name(command: Sequence[str]) -> str:
    """After what it runs: `train.py` of `python3 -u train.py`."""
    first = Path(command[0]).name
    for before, word in pairwise(command) if _STARTER.fullmatch(first) else ():
        if before == "-c":
            break
        if before == "-m" or (word.endswith(_PROGRAM) and not word.startswith("-")):
            return Path(word).name
    return first


def _take_sweep(words: Sequence[str]) -> tuple[Sweep | None, Sequence[str]]:
    if not any(word.startswith(("--sweep", "--commands")) for word in words):
        return None, words
    from schedmate.service.usecases.sweep import take_sweep

    return take_sweep(words)


def _swept(submission: Submission, sweep: Sweep, named: str | None) -> Submission:
    """The array of its runs."""
    from schedmate.service.usecases.sweep import commands_of

    if submission.tasks:
        raise BadInput("a sweep is an array by itself: submit without --array")
    runs = sweep.commands or commands_of(sweep, submission.command)
    return replace(
        submission,
        name=named or sweep.name or submission.name,
        command=runs[0],
        tasks=tuple(ArrayTask(number, command) for number, command in enumerate(runs)),
        most_tasks=sweep.most,
    )


def _for_local(
    submission: Submission, asked: BatchOptions, settings: Settings, notify: str | None
) -> Submission:
    from schedmate.service.usecases.local_flags import read_local_flags

    flags = read_local_flags(asked, settings, submission.env or {}, notify)
    request = replace(
        submission.request,
        cpus=flags.cpus,
        memory_mb=flags.memory_mb,
        required_nodes=_nodes_here(asked.text("nodelist"), "--nodelist"),
        exclude_nodes=_nodes_here(asked.text("exclude"), "--exclude"),
    )
    tasks, most = _array(asked.text("array"))
    return replace(
        submission,
        request=request,
        env=flags.env,
        options=flags.options,
        notes=flags.notes,
        stdout=asked.text("output"),
        stderr=asked.text("error"),
        nice=_nice(asked.text("nice")),
        held="hold" in asked.options,
        begin=_begin(asked.text("begin")),
        dependency=asked.text("dependency") or "",
        tasks=tasks,
        most_tasks=most,
    )


def _array(stated: str | None) -> tuple[tuple[ArrayTask, ...], int | None]:
    if stated is None:
        return (), None
    from schedmate.model.arrays import read_array

    indices, most = read_array(stated)
    return tuple(map(ArrayTask, indices)), most


def _begin(stated: str | None) -> float | None:
    if stated is None:
        return None
    from schedmate.model.begin_time import read_begin

    return read_begin(stated, time.time())


def _nodes_here(stated: str | None, flag: str) -> tuple[str, ...]:
    """GPUs of this machine (`host:gpu3`); the machine itself goes without saying."""
    host = socket.gethostname()
    named = [word.strip() for word in (stated or "").split(",") if word.strip()]
    own = (host, host.partition(".")[0], "localhost")
    for word in named:
        if word.partition(":")[0] not in own:
            raise BadInput(f"{flag} names {word}, and the local queue has one node: {host}")
        if word in own and flag == "--exclude":
            raise BadInput(f"--exclude names {word}, the only node of the local queue")
    return tuple(f"{host}:{word.partition(':')[2]}" for word in named if ":" in word)


def _refuse_what_is_no_text(words: Sequence[str]) -> None:
    """The local scheduler keeps the words of a job as text, and would run other ones."""
    strange = [word for word in words if storable(word) != word]
    if strange:
        raise BadInput(f"{strange[0]} is not in UTF-8: rename it, or submit by a script")


def _options(words: Sequence[str]) -> BatchOptions:
    return BatchOptions({name: (value, _SOMEWHERE) for name, value in read_words(list(words))})


def _script_options(text: str) -> BatchOptions:
    found = read_script_options(text.splitlines())
    return BatchOptions({name: (value, _SOMEWHERE) for _, _, name, value in found})


def _named(line: sbatch.CommandLine, workdir: Path) -> tuple[sbatch.CommandLine, Path | None, str]:
    """With the batch script and its text; a Python file is run where it stands, so that its
    imports work, and an interpreter is a command."""
    if line.is_command:
        return line, None, ""
    path = workdir / line.job[0]
    if not path.exists():
        raise NotFound(f"there is no script {path}; a command goes behind `--`")
    if not path.is_file():
        raise BadInput(f"{path} is not a file")
    kind, data = read_named(path, line.job[0])
    if kind == "interpreter":
        return replace(line, is_command=True), None, ""
    if path.suffix == ".py":
        return line, None, ""
    return line, path, data.decode("utf-8", "replace")


def _command(line: sbatch.CommandLine, script: Path | None) -> tuple[str, ...]:
    if script is not None:
        return (str(script), *line.job[1:])
    return line.job if line.is_command else ("python3", *line.job)


def _refuse_what_is_no_amount(asked: BatchOptions) -> None:
    """As sbatch does: a mistyped limit must not become none."""
    limit = asked.text("time")
    if limit is not None and limit.upper() not in _NO_LIMIT and slurm_seconds(limit) is None:
        raise BadInput(f"--time wants minutes, HH:MM:SS or D-HH:MM:SS, not {limit!r}")
    nodes = asked.text("nodes")
    if nodes is not None and not asked.nodes:
        raise BadInput(f"--nodes wants a number above 0, not {nodes!r}")
    for name in ("gpus", "gpus-per-node", "gpus-per-task"):
        text = asked.text(name)
        if text is not None and not _GPUS.fullmatch(text):
            raise BadInput(f"--{name} wants a number, or TYPE:NUMBER, not {text!r}")


def request_of(asked: BatchOptions) -> Request:
    gpus = asked.gpus
    return Request(
        gpus=0 if gpus is None else gpus[0],
        no_gpus=gpus is not None and gpus[0] == 0,
        nodes=asked.nodes or 1,
        time_limit_s=asked.time_limit_s,
        partition=asked.text("partition"),
        gpu_type=asked.gpu_type,
    )


def _nice(text: str | None) -> int:
    try:
        return int(text or 0)
    except ValueError:
        raise BadInput(f"--nice wants a whole number, not {text!r}") from None
