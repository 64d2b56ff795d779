"""Where the local scheduler keeps what, and what it saves of a submission."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from schedmate.disk.private import make_directory, open_private
from schedmate.schedulers.local.attempt import RunFiles, write_private

if TYPE_CHECKING:
    from schedmate.schedulers.local.queue import QueueEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedSubmission:
    """What will really be executed, as it was when the job was submitted."""

    command: tuple[str, ...]
    env: dict[str, str]


@dataclass(frozen=True, slots=True)
class Layout:
    root: Path

    @property
    def queue(self) -> Path:
        return self.root / "queue.sqlite3"

    @property
    def lock(self) -> Path:
        return self.root / "daemon.lock"

    @property
    def log(self) -> Path:
        return self.root / "daemon.log"

    def script(self, job_id: int) -> Path:
        return self._job(job_id) / "script"

    def attempt(self, entry: QueueEntry) -> RunFiles:
        return RunFiles(self._job(entry.id) / f"attempt-{entry.restarts}")

    def clear(self, job_id: int) -> None:
        """Forget what a queue file that is no longer there knew under this id."""
        if self._job(job_id).exists():
            shutil.rmtree(self._job(job_id))

    def save_script(self, job_id: int, text: bytes) -> Path:
        """Keep a copy that can be executed: later edits do not change a queued job."""
        path = self.script(job_id)
        make_directory(path.parent)
        with os.fdopen(open_private(path, os.O_WRONLY | os.O_TRUNC), "wb") as file:
            file.write(text)
        path.chmod(0o700)
        return path

    def save_submission(self, job_id: int, saved: SavedSubmission) -> None:
        folder = self._job(job_id)
        make_directory(folder)
        write_private(folder / "submission.json", json.dumps(asdict(saved)))

    def read_submission(self, job_id: int) -> SavedSubmission | None:
        """None when it is gone or damaged."""
        try:
            saved = json.loads((self._job(job_id) / "submission.json").read_text("utf-8"))
            return SavedSubmission(command=tuple(saved["command"]), env=dict(saved["env"]))
        except (FileNotFoundError, PermissionError, ValueError, LookupError, TypeError):
            return None

    def log_path(self, pattern: str, job_id: int, name: str, workdir: str) -> str:
        """Expand `%j` and `%x` as Slurm does."""
        safe_name = name.replace("/", "_")
        expanded = pattern.replace("%j", str(job_id)).replace("%x", safe_name)
        return str(Path(os.path.normpath(Path(workdir) / expanded)))

    def _job(self, job_id: int) -> Path:
        return self.root / "jobs" / str(job_id)
