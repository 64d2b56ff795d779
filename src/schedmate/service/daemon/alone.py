"""One daemon at a time: a second one would finish what the first is in the midst of."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from schedmate.disk.lock import hold, lock_holder, sign
from schedmate.model import SchedMateError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schedmate.config import Settings


@contextmanager
def alone(settings: Settings, *, dry: bool) -> Iterator[None]:
    """A dry run finishes nothing, and may run beside it."""
    if dry:
        yield
        return
    lock = hold(settings.daemon_lock)
    if lock is None:
        refuse_second(settings)
        raise SchedMateError(f"a daemon is serving {settings.state_dir} already")
    with lock:
        sign(lock)
        yield


def refuse_second(settings: Settings) -> None:
    """A SchedMateError where another daemon serves this store."""
    pid = lock_holder(settings.daemon_lock)
    if pid is not None:
        raise SchedMateError(
            f"a daemon is serving {settings.state_dir} already (process {pid}): stop it first, or "
            "set another SCHEDMATE_STATE_DIR"
        )
