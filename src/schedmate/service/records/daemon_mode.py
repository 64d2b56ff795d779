"""The mode of the daemon that runs: it may have come from that daemon's own environment."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from schedmate.store import Store

_NAME = "mode of the daemon"


def keep_daemon_mode(store: Store, mode: str, *, at: float) -> None:
    store.keep_learnt(_NAME, mode, at=at)


def daemon_mode(store: Store) -> str | None:
    """As the newest daemon kept it."""
    return store.learnt(_NAME)
