"""From settings to working parts: the only place that knows every implementation."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from schedmate.config import Settings
    from schedmate.model import Asker
    from schedmate.schedulers.base import Scheduler
    from schedmate.store import Store


def open_store(settings: Settings) -> Store:
    from schedmate.store.sqlite import SqliteStore

    return SqliteStore(settings.state_dir / "schedmate.sqlite3", scheduler=settings.scheduler)


def open_scheduler(settings: Settings) -> Scheduler:
    if settings.scheduler == "slurm":
        from schedmate.schedulers.slurm import SlurmScheduler

        return SlurmScheduler(timeout_s=settings.slurm.timeout_s)
    from schedmate.schedulers.local import LocalScheduler

    return LocalScheduler(settings.state_dir / "local", settings.local)


def open_asker(settings: Settings, store: Store, *, allowed: bool = True) -> Asker | None:
    """The model to ask, or None where there is none or it may not be asked."""
    if not (allowed and settings.llm.enabled):
        return None
    from schedmate.llm import open_asker

    return open_asker(settings.llm, cache_dir=settings.cache_dir, ledger=store)
