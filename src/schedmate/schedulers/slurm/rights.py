"""What this account may do in Slurm: to its own jobs only, or to all jobs."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from schedmate.model.account import account_name
from schedmate.schedulers.base import Rights

if TYPE_CHECKING:
    from collections.abc import Callable

    from schedmate.schedulers.slurm.commands import SlurmCommands

_SLURM_USER = re.compile(r"^SlurmUser\s*=\s*([^\s(]+)", re.MULTILINE)
_LEVELS = {"operator": "operator", "administrator": "administrator"}


def rights(slurm: SlurmCommands, *, accounting: Callable[[], bool]) -> Rights:
    """Root, SlurmUser and those with an admin level; the level is kept by the accounting."""
    user = account_name()
    if os.getuid() == 0:
        return Rights(everyone=True, role="root", administers=True)
    found = _SLURM_USER.search(slurm.ask("scontrol", "show", "config"))
    if found is not None and found[1] == user:
        return Rights(everyone=True, role="SlurmUser", administers=True)
    level = _level(slurm, user) if accounting() else ""
    role = _LEVELS.get(level.lower(), "")
    return Rights(
        everyone=bool(role), role=role or "ordinary user", administers=role == "administrator"
    )


def _level(slurm: SlurmCommands, user: str) -> str:
    """Empty for a user that the accounting does not know."""
    answer = slurm.ask("sacctmgr", "-nP", "show", "user", user, "format=AdminLevel")
    return answer.partition("\n")[0].strip()
