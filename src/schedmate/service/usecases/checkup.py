"""Checks every part the way the daemon would use it, with a fix for what fails."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from schedmate.advisor.knowledge.accelerators import Accelerator, accelerator
from schedmate.config import SITE_FILE, user_file
from schedmate.disk.lock import lock_holder
from schedmate.model import SchedMateError
from schedmate.service.account import account_at
from schedmate.service.wiring import open_asker, open_scheduler, open_store

if TYPE_CHECKING:
    from collections.abc import Callable

    from schedmate.config import Settings


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
        _account,
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
    return CheckResult(part="settings", state="ok", text=f"mode {settings.mode}; {where}")


def _store(settings: Settings) -> CheckResult:
    store = open_store(settings)
    spent = store.spending()
    runs = len(store.recent_runs(limit=10_000))
    store.close()
    text = f"{settings.state_dir}: {runs} past runs, {spent.questions} questions to a model"
    return CheckResult(part="store", state="ok", text=text)


def _scheduler(settings: Settings) -> CheckResult:
    jobs = open_scheduler(settings).jobs()
    active = sum(not job.state.ended for job in jobs)
    text = f"{settings.scheduler}: {active} jobs wait or run"
    return CheckResult(part="scheduler", state="ok", text=text)


def _account(settings: Settings) -> CheckResult:
    account = account_at(open_scheduler(settings))
    warnings = account.warnings(settings.mode)
    return CheckResult(
        part="account",
        state="note" if warnings else "ok",
        text=account.described(),
        fix="; ".join(warnings),
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
