"""What an operator should know before the daemon runs with these settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedmate.config import unknown_variables
from schedmate.disk.private import open_to_all
from schedmate.model import SchedMateError
from schedmate.service.account import account_at
from schedmate.service.wiring import open_scheduler

if TYPE_CHECKING:
    from schedmate.config import Settings
    from schedmate.schedulers.base import Scheduler


def start_warnings(settings: Settings) -> list[str]:
    """None about the scheduler where it is down, which the daemon itself reports."""
    try:
        scheduler = open_scheduler(settings)
        of_scheduler = [*_of_account(settings, scheduler), *unknown_partitions(settings, scheduler)]
    except SchedMateError:
        of_scheduler = []
    return [*of_scheduler, *readable_secrets(settings), *unknown_variables()]


def readable_secrets(settings: Settings) -> list[str]:
    """Files with secrets that every account of this machine can read."""
    files = {
        "token_file": settings.token_file,
        "slurm.rest_token_file": settings.slurm.rest_token_file,
        "llm.api_key_file": settings.llm.api_key_file,
        "mail.password_file": settings.mail.password_file,
        "web.key": settings.web.key,
    }
    found = (open_to_all(path, name) for name, path in files.items() if path is not None)
    return [warning for warning in found if warning]


def _of_account(settings: Settings, scheduler: Scheduler) -> list[str]:
    """What the account and the mode mean together."""
    if settings.mode == "observe":
        return []
    account = account_at(scheduler)
    warnings = account.warnings(settings.mode)
    if settings.mode == "act" and settings.drain.allowed and not account.drains:
        warnings.append(f"drain.allowed: {account.user} may not change nodes, so none is drained")
    return warnings


def unknown_partitions(settings: Settings, scheduler: Scheduler) -> list[str]:
    """Partitions in the settings that the scheduler does not have: misspelt, or gone."""
    named = {
        "scope.canary_partitions": settings.scope.canary_partitions,
        "scope.exclude_partitions": settings.scope.exclude_partitions,
        "hang.partitions": tuple(settings.hang.partitions),
        "preemption.partitions": settings.preemption.partitions,
    }
    if not any(named.values()):
        return []
    known = {name for node in scheduler.nodes() for name in node.partitions}
    if not known:
        return []  # a queue without partitions
    return [
        f"{setting}: {scheduler.name} has no node in partition {name}; it has {_listed(known)}"
        for setting, names in named.items()
        for name in names
        if name not in known
    ]


def _listed(names: set[str], most: int = 10) -> str:
    shown = sorted(names)
    return ", ".join(shown[:most]) + (f" and {len(shown) - most} more" if len(shown) > most else "")
