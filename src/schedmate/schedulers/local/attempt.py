"""The folder of one run: what to run, which process claimed it, how it ended."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from schedmate.disk.private import append_private, make_directory
from schedmate.schedulers.local import shepherd
from schedmate.schedulers.local.processes import Identity, signal_run


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSpec:
    command: tuple[str, ...]
    workdir: str
    env: dict[str, str]
    stdout: str
    stderr: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnd:
    code: int
    signal: int
    reason: str
    end: float


@dataclass(frozen=True, slots=True)
class RunFiles:
    """`folder` is the same for every process, so a restarted daemon finds what it began."""

    folder: Path

    @property
    def mark(self) -> str:
        """The environment entry by which every process of this run is known."""
        return f"SCHEDMATE_ATTEMPT={self.folder}"

    def start(self, spec: RunSpec) -> subprocess.Popen[bytes]:
        """Start a shepherd. Starting two is harmless: only the one that claims runs."""
        make_directory(self.folder)
        name, _, value = self.mark.partition("=")
        content = {**asdict(spec), "env": {**spec.env, name: value}}
        write_private(self.folder / "spec.json", json.dumps(content))
        with append_private(self.folder / "shepherd.log") as log:
            return subprocess.Popen(
                [sys.executable, "-I", "-S", shepherd.__file__, str(self.folder)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def claimed_by(self) -> Identity | None:
        try:
            claim = json.loads((self.folder / "claim").read_text("utf-8"))
        except FileNotFoundError:
            return None
        return Identity(pid=claim["pid"], born=claim["born"], boot=claim["boot"])

    def end(self) -> RunEnd | None:
        try:
            return RunEnd(**json.loads((self.folder / "exit.json").read_text("utf-8")))
        except FileNotFoundError:
            return None

    def signal(self, number: int) -> int:
        """Signal every process of the run; return how many there were."""
        claim = self.claimed_by()
        shepherd_pid = claim.pid if claim is not None and claim.alive else -1
        return signal_run(self.mark, shepherd_pid, number)


def write_private(path: Path, text: str) -> None:
    """The environment of a job may hold secrets: no other user reads it."""
    draft = path.with_suffix(f".{os.getpid()}")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(text)
    draft.replace(path)
