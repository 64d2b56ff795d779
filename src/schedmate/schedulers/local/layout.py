"""Where the local scheduler keeps what, and what it saves of a submission."""

from __future__ import annotations

import json
import os
import pwd
import re
import shutil
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from schedmate.disk.private import make_directory, open_private
from schedmate.model.errors import StoreUnavailable
from schedmate.schedulers.local.attempt import RunFiles, RunOwner, write_private

if TYPE_CHECKING:
    from schedmate.config import LocalSettings
    from schedmate.schedulers.local.entry import QueueEntry

_PLACE = re.compile(r"%(\d{0,2})([%A-Za-z])")


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedSubmission:
    """What will really be executed, as it was when the job was submitted.

    Tasks of an array may have a command each, which the queue keeps: of theirs the first word
    stands for `command`, the copy of a script, or `command` is empty.
    """

    command: tuple[str, ...]
    env: dict[str, str]
    uid: int
    umask: int = 0o022
    limits: dict[str, tuple[int, int]] = field(default_factory=dict)
    tasks_differ: bool = False

    def command_of(self, task: tuple[str, ...]) -> tuple[str, ...]:
        """What the task of this command executes."""
        if self.tasks_differ and self.command:
            return (*self.command, *task[1:])
        return self.command or task

    def owner(self) -> RunOwner | None:
        """None where the run is this account's own; LookupError where its account is gone."""
        if self.uid == os.getuid():
            return None
        entry = pwd.getpwuid(self.uid)
        return RunOwner(
            uid=self.uid,
            gid=entry.pw_gid,
            groups=tuple(os.getgrouplist(entry.pw_name, entry.pw_gid)),
            umask=self.umask,
            limits=self.limits,
        )


@dataclass(frozen=True, slots=True)
class Layout:
    root: Path
    spool: Path | None = None
    """Where what jobs need lies, if not below: owners of a shared queue's jobs pass through."""

    @property
    def queue(self) -> Path:
        return self.root / "queue.sqlite3"

    @property
    def lock(self) -> Path:
        return self.root / "daemon.lock"

    @property
    def log(self) -> Path:
        return self.root / "daemon.log"

    @property
    def gpu_record(self) -> Path:
        return self.root / "gpus.json"

    @property
    def gpu_drains(self) -> Path:
        return self.root / "gpu-drains.json"

    @property
    def wake(self) -> Path:
        return self.root / "daemon.wake"

    def arguments(self, settings: LocalSettings) -> list[str]:
        """What a daemon of this directory is started with."""
        return [str(self.root), json.dumps(asdict(settings))]

    def script(self, job_id: int) -> Path:
        return self._job(job_id) / "script"

    def attempt(self, entry: QueueEntry) -> RunFiles:
        return RunFiles(self._job(entry.id) / f"attempt-{entry.restarts}")

    def told(self, entry: QueueEntry, event: str) -> Path:
        """Is there once its owner was told; of an array once for all tasks."""
        return self._job(entry.spool_id) / f"told-{event.lower()}-{entry.restarts}"

    def clear(self, job_id: int) -> None:
        """Forget what a queue file that is no longer there knew under this id."""
        if self._job(job_id).exists():
            shutil.rmtree(self._job(job_id))

    def save_script(self, job_id: int, text: bytes, uid: int) -> Path:
        """Keep a copy that its owner can execute: later edits do not change a queued job."""
        path = self.script(job_id)
        self._make_folder(job_id)
        with os.fdopen(open_private(path, os.O_WRONLY | os.O_TRUNC), "wb") as file:
            file.write(text)
            os.fchmod(file.fileno(), 0o700)
            if uid != os.getuid():
                os.fchown(file.fileno(), uid, -1)
        return path

    def save_submission(self, job_id: int, saved: SavedSubmission) -> None:
        self._make_folder(job_id)
        write_private(self._job(job_id) / "submission.json", json.dumps(asdict(saved)))

    def read_submission(self, job_id: int) -> SavedSubmission | None:
        """None when it is gone or damaged."""
        try:
            saved = json.loads((self._job(job_id) / "submission.json").read_text("utf-8"))
            saved["command"] = tuple(saved["command"])
            return SavedSubmission(**{"uid": os.getuid(), **saved})
        except (FileNotFoundError, PermissionError, ValueError, LookupError, TypeError):
            return None

    def check_home(self) -> None:
        """A directory that is away is not made anew: what it holds comes back with it."""
        if not self.root.is_dir():
            raise StoreUnavailable(f"{self.root} is gone: is its disk mounted, or was it moved?")

    def _make_folder(self, job_id: int) -> None:
        self.check_home()
        folder = self._job(job_id)
        make_directory(folder)
        if self.spool is not None:
            for passed in (self.spool, folder):
                passed.chmod(0o711)

    @property
    def jobs(self) -> Path:
        """A folder of each job that anything is kept of."""
        return self.spool or self.root / "jobs"

    def _job(self, job_id: int) -> Path:
        return self.jobs / str(job_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogNames:
    """What the `%` of a log's name stand for, as in Slurm."""

    number: int
    name: str
    user: str
    node: str
    array_id: int | None = None
    task: int | None = None

    def path(self, pattern: str, workdir: str) -> str:
        """`%4a` is padded with zeros; what Slurm does not know stays as it is."""
        expanded = _PLACE.sub(self._expand, pattern)
        return os.path.normpath(Path(workdir) / expanded)

    def _expand(self, place: re.Match[str]) -> str:
        width, letter = int(place[1] or 0), place[2]
        array = self.number if self.array_id is None else self.array_id
        texts = {
            "%": "%",
            "j": str(self.number),
            "A": str(array),
            "a": "4294967294" if self.task is None else str(self.task),
            "x": self.name.replace("/", "_"),
            "u": self.user,
            "N": self.node,
            "n": "0",
            "t": "0",
            "s": "batch",
        }
        text = texts.get(letter)
        return place[0] if text is None else text.zfill(width) if text.isdecimal() else text
