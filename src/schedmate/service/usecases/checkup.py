"""Checks every part the way the daemon would use it, with a fix for what fails."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, Literal

from schedmate.advisor.knowledge.accelerators import Accelerator, accelerator
from schedmate.config import SITE_FILE, unknown_variables, user_file
from schedmate.disk.lock import lock_holder
from schedmate.files import files_of
from schedmate.files.choosing import service_answers, use_service
from schedmate.model import Mode, SchedMateError
from schedmate.model.account import account_name
from schedmate.schedulers.base import (
    KnowsRights,
    MayOverwriteLogs,
    ReportsTrouble,
    TriesRights,
)
from schedmate.service.account import account_at
from schedmate.service.start_warnings import unknown_partitions
from schedmate.service.wiring import (
    open_asker,
    open_scheduler,
    open_store,
    queue_in_use,
    uses_shared_queue,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from schedmate.config import Settings
    from schedmate.schedulers.base import Scheduler


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """`note` is fine as it is, but worth knowing."""

    part: str
    state: Literal["ok", "note", "bad"]
    text: str
    fix: str = ""


def run_checks(settings: Settings) -> list[CheckResult]:
    checks: tuple[Callable[[Settings], CheckResult], ...] = (
        _python,
        _settings,
        _store,
        _scheduler,
        _scope,
        _account,
        _rights,
        _files,
        _logs,
        _modes,
        _daemon,
        _gpus,
        _model,
    )
    return [_safely(check, settings) for check in checks]


def _safely(check: Callable[[Settings], CheckResult], settings: Settings) -> CheckResult:
    part = check.__name__.removeprefix("_")
    try:
        return check(settings)
    except SchedMateError as error:
        return CheckResult(part=part, state="bad", text=str(error), fix=_FIXES.get(part, ""))
    except OSError as error:
        text = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        return CheckResult(part=part, state="bad", text=text, fix=_FIXES.get(part, ""))


_NEEDED: dict[Mode, frozenset[str]] = {
    "observe": frozenset({"queue"}),
    "assist": frozenset({"nice", "time limit"}),
    "act": frozenset({"requeue", "hold"}),
}
"""The rights that each mode needs beside those of the one before."""
_FIXES = {
    "scheduler": "is its client installed and its controller up? "
    "SCHEDMATE_SCHEDULER=local needs neither",
    "store": "set SCHEDMATE_STATE_DIR to a directory on a local disk that you may write to",
    "model": "schedmate model install, or set SCHEDMATE_LLM__BASE_URL",
}


def _python(_: Settings) -> CheckResult:
    version = ".".join(map(str, sys.version_info[:3]))
    return CheckResult(part="python", state="ok", text=version)


def _settings(settings: Settings) -> CheckResult:
    read = [str(path) for path in (user_file(), SITE_FILE) if path.exists()]
    where = ", ".join(read) or "defaults and environment only"
    unknown = unknown_variables()
    return CheckResult(
        part="settings",
        state="note" if unknown else "ok",
        text=f"mode {settings.mode}; {where}",
        fix="; ".join(unknown),
    )


def _store(settings: Settings) -> CheckResult:
    store = open_store(settings)
    spent = store.spending()
    runs = len(store.recent_runs(limit=10_000))
    store.close()
    text = f"{settings.state_dir}: {runs} past runs, {spent.questions} questions to a model"
    return CheckResult(part="store", state="ok", text=text)


def _scheduler(settings: Settings) -> CheckResult:
    scheduler = open_scheduler(settings)
    active = sum(not job.state.ended for job in scheduler.jobs())
    text = f"{queue_in_use(settings)}: {active} jobs wait or run"
    trouble = scheduler.trouble() if isinstance(scheduler, ReportsTrouble) else ""
    return CheckResult(part="scheduler", state="note" if trouble else "ok", text=text, fix=trouble)


def _scope(settings: Settings) -> CheckResult:
    """Whether the partitions that the settings name are there."""
    unknown = unknown_partitions(settings, open_scheduler(settings))
    scope = settings.scope
    named = {*scope.canary_partitions, *scope.exclude_partitions, *settings.hang.partitions}
    text = f"partitions in the settings: {', '.join(sorted(named)) or 'none'}"
    return CheckResult(
        part="scope", state="note" if unknown else "ok", text=text, fix="; ".join(unknown)
    )


def _account(settings: Settings) -> CheckResult:
    account = account_at(open_scheduler(settings))
    warnings = account.warnings(settings.mode)
    return CheckResult(
        part="account",
        state="note" if warnings else "ok",
        text=account.described(),
        fix="; ".join(warnings),
    )


def _rights(settings: Settings) -> CheckResult:
    """Each is tried, by reading or by a change that changes nothing."""
    scheduler = open_scheduler(settings)
    if not isinstance(scheduler, TriesRights):
        return CheckResult(part="rights", state="ok", text=_rights_here(scheduler))
    trials = scheduler.try_rights()
    text = ", ".join(f"{one.name} {'yes' if one.allowed else 'no'}" for one in trials)
    notes = [f"{one.name}: {one.note}" for one in trials if one.note]
    complete = all(one.allowed for one in trials if one.name != "drain" or settings.drain.allowed)
    return CheckResult(
        part="rights", state="ok" if complete else "note", text=text, fix="; ".join(notes)
    )


def _rights_here(scheduler: Scheduler) -> str:
    if not isinstance(scheduler, KnowsRights):
        return "the queue is this account's own"
    everyone = scheduler.rights().everyone
    jobs = "all jobs as an operator" if everyone else "own jobs, and sees names of others'"
    return f"changes {jobs}; each job runs as its owner"


def _files(settings: Settings) -> CheckResult:
    """Whether logs and code of other users' jobs can be read as their owners."""
    use_service(settings.files_socket)
    if os.geteuid() == 0:
        return CheckResult(part="files", state="ok", text="each job's, as its owner")
    if not service_answers():
        return CheckResult(
            part="files",
            state="note",
            text="own files, and of other users' what both may read",
            fix="schedmate service install sets up the service that reads as the owner",
        )
    running = [job for job in open_scheduler(settings).jobs() if job.logs and not job.state.ended]
    tried = next((job for job in running if job.user != account_name()), None)
    if tried is not None:
        try:
            files_of(tried.user).stat(tried.workdir)
        except OSError as error:
            return CheckResult(
                part="files",
                state="bad",
                text=f"the directory of job {tried.id} as user {tried.user}: {error.strerror}",
                fix="systemctl status schedmate-files",
            )
    return CheckResult(part="files", state="ok", text=f"each job's, by {settings.files_socket}")


def _logs(settings: Settings) -> CheckResult:
    """Whether the log of a run outlives that the job is queued again."""
    scheduler = open_scheduler(settings)
    if not isinstance(scheduler, MayOverwriteLogs) or scheduler.appends_logs():
        return CheckResult(part="logs", state="ok", text="kept when a job is queued again")
    made_way = settings.preemption.partitions or settings.preemption.qos
    losers = "; jobs that make way lose theirs" if made_way else ""
    return CheckResult(
        part="logs",
        state="note",
        text=f"overwritten when a job is queued again{losers}; schedmate job ID shows the last "
        "lines",
        fix="JobFileAppend=1 in slurm.conf, or #SBATCH --open-mode=append in a script, keeps them",
    )


def _modes(settings: Settings) -> CheckResult:
    """Which modes this account allows, and what the next one needs."""
    scheduler = open_scheduler(settings)
    if not account_at(scheduler).orders:
        of_slurm = f"sacctmgr modify user {account_name()} set adminlevel=operator"
        of_queue = f"{account_name()} in operators of {SITE_FILE}"
        return CheckResult(
            part="modes",
            state="ok" if settings.mode == "observe" else "note",
            text="observe; act for own jobs only",
            fix=f"for assist and act: {of_queue if uses_shared_queue(settings) else of_slurm}",
        )
    trials = scheduler.try_rights() if isinstance(scheduler, TriesRights) else []
    refused = {one.name: one.note for one in trials if not one.allowed}
    allowed = list(takewhile(lambda mode: not _NEEDED[mode] & refused.keys(), _NEEDED))
    missing = [
        name for mode in _NEEDED if mode not in allowed for name in _NEEDED[mode] & refused.keys()
    ]
    return CheckResult(
        part="modes",
        state="ok" if settings.mode in allowed else "note",
        text=", ".join(allowed) or "none",
        fix="; ".join(f"{name}: {refused[name]}" for name in sorted(missing)),
    )


def _daemon(settings: Settings) -> CheckResult:
    pid = lock_holder(settings.daemon_lock)
    if pid is None:
        return CheckResult(
            part="daemon", state="note", text="no daemon is running", fix="schedmate serve"
        )
    return CheckResult(part="daemon", state="ok", text=f"process {pid} serves {settings.scheduler}")


def _gpus(settings: Settings) -> CheckResult:
    """Whether predictions know what the GPUs of past runs can do."""
    store = open_store(settings)
    types = {run.job.request.gpu_type or "" for run in store.recent_runs(limit=1000)}
    store.close()
    known = {name: accelerator(name) for name in sorted({*types, *settings.gpus} - {""})}
    text = ", ".join(f"{name}: {_described(each)}" for name, each in known.items())
    if None not in known.values():
        return CheckResult(part="gpus", state="ok", text=text or "no past run names its GPU")
    fix = "state in [gpus] of the settings what the unknown ones are"
    return CheckResult(part="gpus", state="note", text=text, fix=fix)


def _described(known: Accelerator | None) -> str:
    if known is None:
        return "unknown"
    return f"{known.name}, {known.half_tflops or known.single_tflops or 0:g} TFLOP/s"


def _model(settings: Settings) -> CheckResult:
    if not settings.llm.enabled:
        return CheckResult(part="model", state="note", text="switched off by the settings")
    store = open_store(settings)
    try:
        asker = open_asker(settings, store)
    finally:
        store.close()
    if asker is None:
        return CheckResult(
            part="model",
            state="note",
            text="none; every verb works without one",
            fix="schedmate model install",
        )
    where = settings.llm.base_url or "the embedded model"
    return CheckResult(part="model", state="ok", text=f"{where}; try it: schedmate model status")
