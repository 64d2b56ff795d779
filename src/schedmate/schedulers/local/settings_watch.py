"""Settings that change while the daemon lives."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from schedmate import config
from schedmate.model.errors import BadInput

if TYPE_CHECKING:
    from pathlib import Path

    from schedmate.config import LocalSettings

_log = logging.getLogger("schedmate.local")


class SettingsWatch:
    def __init__(self) -> None:
        self._seen = _stamps()

    def changed(self) -> LocalSettings | None:
        """The new settings once a file of them has changed; wrong ones are not taken."""
        seen = _stamps()
        if seen == self._seen:
            return None
        self._seen = seen
        try:
            return config.load().local
        except BadInput as error:
            _log.warning("the settings stay as they were: %s", error)
            return None


def _stamps() -> tuple[tuple[int, int] | None, ...]:
    return tuple(_stamp(path) for path in (config.user_file(), config.SITE_FILE))


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_ino
