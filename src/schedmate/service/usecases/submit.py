"""From sbatch's command line to a queued job, advised on its way but never held up."""

from __future__ import annotations

import logging
import os
import re
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from schedmate import config
from schedmate.advisor import Advised, Advisor, Target
from schedmate.advisor.interpret.shell.directives import Asked, read_directives, read_options
from schedmate.advisor.sources.files import Files
from schedmate.core import Act, JobAdvised, JobSeen, Past, Started
from schedmate.disk.database import storable
from schedmate.disk.lock import is_held
from schedmate.files import INVOKER
from schedmate.model import BadInput, JobId, NotFound, Request, SchedMateError, Submission
from schedmate.model.account import account_name
from schedmate.service.actions import Actions
from schedmate.service.met_jobs import met_jobs
from schedmate.service.records.event_log import Recorder
from schedmate.service.usecases import sbatch
from schedmate.service.usecases.history_import import catch_up
from schedmate.service.usecases.named_script import kind_of
from schedmate.service.wiring import (
    deciding_settings,
    engine_of,
    limits_of,
    open_scheduler,
    open_store,
)
from schedmate.store import KeptAdvice

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedmate.config import Settings
    from schedmate.model import Job
    from schedmate.schedulers.base import Scheduler
    from schedmate.store import Store

_ONLY_SLURM = ("array", "begin", "dependency", "hold", "test-only", "wait")
_NO_LIMIT = ("0", "UNLIMITED", "INFINITE")
_GPUS = re.compile(r"(?:[A-Za-z][\w.-]{0,60}:)?\d{1,5}", re.ASCII)
_log = logging.getLogger("schedmate.submit")


@dataclass(frozen=True, slots=True)
class Submitted:
    job_id: JobId
    advised: Advised | None


def submission_of(settings: Settings, words: Sequence[str]) -> Submission:
    """Read the command line as sbatch would; the local scheduler gets what it can use of it."""
    if settings.scheduler != "slurm":
        _refuse_what_is_no_text([*words, str(Path.cwd())])
    line = sbatch.split(words)
    if line.value("wrap") is not None and not line.job:
        line = sbatch.unwrap(line)
    asked = read_options(line.as_words())
    if not line.job:
        raise BadInput("name a script, or a command behind `--`")
    workdir = Path(asked.text("chdir") or Path.cwd()).absolute()
    line, script = _named(line, workdir)
    if script is not None:
        source = Files(workdir, account_name(), by=INVOKER).read(script)
        asked = asked if source is None else read_directives(source) | asked
    submission = Submission(
        command=_command(line, script),
        workdir=str(workdir),
        name=" ".join((asked.text("job-name") or Path(line.job[0]).name).split()),
        script=None if script is None else str(script),
        request=request_of(asked),
        env=dict(os.environ),
    )
    if settings.scheduler == "slurm":
        return replace(submission, passthrough=line.flags)
    if line.unknown:
        raise BadInput(f"there is no flag {line.unknown[0]}: SchedMate takes those of sbatch")
    _refuse_what_only_slurm_can(asked)
    _refuse_what_is_no_amount(read_options(line.as_words()))
    return replace(
        submission,
        stdout=asked.text("output"),
        stderr=asked.text("error"),
        nice=_nice(asked.text("nice")),
    )


def _refuse_what_is_no_text(words: Sequence[str]) -> None:
    """The local scheduler keeps the words of a job as text, and would run other ones."""
    strange = [word for word in words if storable(word) != word]
    if strange:
        raise BadInput(f"{strange[0]} is not in UTF-8: rename it, or submit by a script")


def _refuse_what_only_slurm_can(asked: Asked) -> None:
    """Flags that change whether or when a job runs are not passed over in silence."""
    meant = [name for name in _ONLY_SLURM if name in asked.options]
    if meant:
        raise BadInput(f"the local scheduler cannot do --{meant[0]}; submit without it")


def submit(settings: Settings, submission: Submission) -> Submitted:
    """Advise, queue, and keep the advice under the id that the job got."""
    store = open_store(settings)
    try:
        catch_up(settings)
        advised = _advise(store, submission)
        scheduler = open_scheduler(settings)
        job_id = scheduler.submit(submission)
        jobs = meet_submitted(scheduler, store, job_id)
        if advised is not None:
            store.keep_advice(job_id, KeptAdvice(advised.advice, advised.fingerprint))
        if settings.mode != "observe":
            decide(settings, scheduler, store, jobs, advised)
        return Submitted(job_id, advised)
    finally:
        store.close()


def meet_submitted(scheduler: Scheduler, store: Store, job_id: JobId) -> Sequence[Job]:
    """The new job, from here on the one that its number stands for; none where it is several, or
    the scheduler does not answer."""
    try:
        jobs = met_jobs(scheduler, store, [job_id])
    except SchedMateError as error:
        _log.warning("job %s has no place in the queue yet: %s", job_id, error)
        return ()
    return jobs if [job.id for job in jobs] == [job_id] else ()


def decide(
    settings: Settings,
    scheduler: Scheduler,
    store: Store,
    jobs: Sequence[Job],
    advised: Advised | None,
) -> None:
    """Where no daemon runs, what the engine decides about a new job is done at once.

    A running daemon decides itself: two engines on one job would contradict each other. An array
    waits for the daemon, and so does a lower limit: nothing else would give it back.
    """
    now = time.time()
    settings = config.changed(settings, ["time_limits.lower=false"])
    if not jobs or is_held(settings.daemon_lock):
        return
    (job,) = jobs
    try:
        advice = None if advised is None else advised.advice
        engine = engine_of(settings, limits_of(settings, act_since=store.created_at()))
        recorder, actions = Recorder(store), Actions(scheduler, store, settings.mode)
        for event in (
            Started(now, deciding_settings(settings)),
            JobSeen(now, job, Past(advice=advice)),
            JobAdvised(now, job.id, advice),
        ):
            instructions = engine.handle(event)
            recorder.note(event, instructions)
            recorder.flush()
            for instruction in instructions:
                if isinstance(instruction, Act):
                    actions.see_through(instruction.action, now)
    except SchedMateError as error:
        _log.warning("job %s has no place in the queue yet: %s", job.id, error)


def _advise(store: Store, submission: Submission) -> Advised | None:
    try:
        target = Target.from_submission(submission, account_name())
        return Advisor(store, store).advise(target)
    except Exception:  # noqa: BLE001 - advice is never in the way of a submission
        _log.warning("no advice on this submission", exc_info=True)
        return None


def _named(line: sbatch.CommandLine, workdir: Path) -> tuple[sbatch.CommandLine, Path | None]:
    """With the batch script; a Python file is run where it stands, so that its imports work, and
    an interpreter is a command."""
    if line.is_command:
        return line, None
    path = workdir / line.job[0]
    if not path.exists():
        raise NotFound(f"there is no script {path}; a command goes behind `--`")
    if not path.is_file():
        raise BadInput(f"{path} is not a file")
    kind = kind_of(path, line.job[0])
    if kind == "interpreter":
        return replace(line, is_command=True), None
    return line, None if path.suffix == ".py" else path


def _command(line: sbatch.CommandLine, script: Path | None) -> tuple[str, ...]:
    if script is not None:
        return (str(script), *line.job[1:])
    return line.job if line.is_command else ("python3", *line.job)


def _refuse_what_is_no_amount(asked: Asked) -> None:
    """As sbatch does: a mistyped limit must not become none."""
    time = asked.text("time")
    if time is not None and time.upper() not in _NO_LIMIT and not asked.time_limit_s:
        raise BadInput(f"--time wants minutes, HH:MM:SS or D-HH:MM:SS, not {time!r}")
    nodes = asked.text("nodes")
    if nodes is not None and not asked.nodes:
        raise BadInput(f"--nodes wants a number above 0, not {nodes!r}")
    for name in ("gpus", "gpus-per-node", "gpus-per-task"):
        text = asked.text(name)
        if text is not None and not _GPUS.fullmatch(text):
            raise BadInput(f"--{name} wants a number, or TYPE:NUMBER, not {text!r}")


def request_of(asked: Asked) -> Request:
    gpus = asked.gpus
    return Request(
        gpus=0 if gpus is None else gpus[0],
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
