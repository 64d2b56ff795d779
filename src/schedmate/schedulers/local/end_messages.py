"""Tells those who asked for it that a job has begun or ended: a process of the owner's does.

An array is one job here: it has ended when its last task has.
"""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from subprocess import SubprocessError
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from schedmate.schedulers.local.entry import QueueEntry
    from schedmate.schedulers.local.layout import Layout
    from schedmate.schedulers.local.queue import QueueFile

_SENDER = "schedmate.cli._job_messages"
"""By its name only: it is above us, and a process of its own."""
_START = f"from {_SENDER} import main\nmain()"
_USUAL = "END"
_log = logging.getLogger("schedmate.local")
Event = Literal["BEGIN", "END"]


class EndMessages:
    def __init__(self, queue: QueueFile, layout: Layout) -> None:
        self._queue = queue
        self._layout = layout
        self._senders: list[subprocess.Popen[bytes]] = []

    def catch_up(self, ended: Iterable[QueueEntry]) -> None:
        """What a daemon that was killed has left untold; who cancels a job that waits knows."""
        for entry in ended:
            if "notify" in entry.options and entry.start_time is not None:
                self.note(entry.id, "END")

    def note(self, number: int, event: Event) -> None:
        """Once for each run, where its owner wants to know."""
        entry = self._queue.entry(number)
        if "notify" not in entry.options or not self._is_wanted(entry, event):
            return
        mark = self._layout.told(entry, event)
        if mark.exists() or not mark.parent.is_dir():
            return
        try:
            self._send(entry, event)
        except (OSError, LookupError, SubprocessError) as error:
            _log.warning("no message about job %s could be sent: %s", entry.job_id, error)
        mark.touch(mode=0o600)

    def _is_wanted(self, entry: QueueEntry, event: Event) -> bool:
        """Of an array the first begin and the last end."""
        wanted = set(entry.options.get("mail-type", _USUAL).split(","))
        if not wanted.isdisjoint((event, "ALL")):
            return event == "BEGIN" or not self._queue.is_unfinished(entry.spool_id)
        if event == "BEGIN" or "FAIL" not in wanted or self._queue.is_unfinished(entry.spool_id):
            return False
        return any(one.state.failed for one in self._queue.named(str(entry.spool_id)))

    def reap(self) -> None:
        self._senders = [one for one in self._senders if one.poll() is None]

    def _send(self, entry: QueueEntry, event: Event) -> None:
        saved = self._layout.read_submission(entry.spool_id)
        if saved is None:
            raise LookupError("what it was submitted with is not kept")
        owner = saved.owner()
        rights: dict[str, Any] = {}
        if owner is not None:
            rights = {"user": owner.uid, "group": owner.gid, "extra_groups": owner.groups}
        ours = {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}
        env = {name: text for name, text in saved.env.items() if not name.startswith("PYTHON")}
        about = {
            "JOB_MESSAGE_TO": entry.options["notify"],  # not for those who list processes
            "JOB_MESSAGE_EVENT": event,
        }
        self._senders.append(
            subprocess.Popen(
                [sys.executable, "-P", "-c", _START, str(entry.spool_id)],
                env={**env, **ours, **about},
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=None if owner is None else subprocess.DEVNULL,  # our log is ours
                start_new_session=True,
                **rights,
            )
        )
