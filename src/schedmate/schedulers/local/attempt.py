"""The folder of one run: what to run, which process claimed it, how it ended."""

from __future__ import annotations

import json
import marshal
import os
import shutil
import subprocess
import sys
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from schedmate.disk.private import append_private
from schedmate.schedulers.local.processes import Identity, Which, signal_run

_RUNNER = (
    f"import sys; sys.path.append({str(Path(__file__).parent)!r}); "
    "from runner import main; main(sys.argv[1])"
)
"""Imported, it is compiled once and not by every job; behind the standard library's modules."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOwner:
    """Another account that a run belongs to: with whose rights it runs and is ended."""

    uid: int
    gid: int
    groups: tuple[int, ...]
    umask: int
    limits: dict[str, tuple[int, int]]
    """Soft and hard ones by their names in `resource`; those of the daemon bound them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuCheck:
    """How the runner learns right before the start whether its GPUs are still free."""

    command: tuple[str, ...]
    uuids: tuple[str, ...]
    least_mb: int
    """A program that holds less has no work there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSpec:
    command: tuple[str, ...]
    workdir: str
    env: dict[str, str]
    stdout: str
    stderr: str
    owner: RunOwner | None = None
    cores: tuple[int, ...] = ()
    """The only ones that it may run on; none: all."""
    memory_mb: int | None = None
    append: bool = False
    """Whether it goes on with logs that are there, instead of beginning them anew."""
    locks: tuple[str, ...] = ()
    """Files that it holds locked from before it runs until it has ended."""
    gpu_check: GpuCheck | None = None
    wake: str = ""
    """The pipe that tells the daemon of the end."""
    revive: tuple[str, ...] = ()
    """What starts another daemon where this one is dead by then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnd:
    code: int
    signal: int
    reason: str
    end: float
    out_of_memory: bool = False
    """It took more than it asked for."""
    refused: bool = False
    """It has not run: others have its GPUs."""


@dataclass(frozen=True, slots=True)
class RunFiles:
    """`folder` is the same for every process, so a restarted daemon finds what it began."""

    folder: Path

    @property
    def mark(self) -> str:
        """The environment entry by which every process of this run is known."""
        return f"SCHEDMATE_ATTEMPT={self.folder}"

    def start(self, spec: RunSpec) -> subprocess.Popen[bytes]:
        """Start a runner. Starting two is harmless: only the one that claims runs.

        What lies above the folder of the job is not made: where it is gone, so are its claims.
        """
        for folder in (self.folder.parent, self.folder):
            with suppress(FileExistsError):
                folder.mkdir(mode=0o700)
        name, _, value = self.mark.partition("=")
        content = {**asdict(spec), "env": {**spec.env, name: value}}
        _write_private(self.folder / "spec", marshal.dumps(content))
        with append_private(self.folder / "runner.log") as log:
            return subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _RUNNER, str(self.folder)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def discard(self) -> None:
        """Forget a run that has not run: the next one has a folder of its own."""
        away = self.folder.with_name(f"{self.folder.name}.refused")
        shutil.rmtree(away, ignore_errors=True)
        with suppress(FileNotFoundError):
            self.folder.rename(away)
        shutil.rmtree(away, ignore_errors=True)

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
        runner_pid = claim.pid if claim is not None and claim.alive else -1
        return signal_run(self.mark, runner_pid, number, self._owner())

    def warn(self, number: int, *, first_only: bool, is_script: bool) -> None:
        """Once a run: a signal before its limit, to the process it began with or to the others.

        A shell would die of it, so that a script's own gets it only where it was asked for; a
        command has nobody else to get it.
        """
        try:
            os.close(os.open(self.folder / "warned", os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except FileExistsError:
            return
        which: Which = "first" if first_only else "others" if is_script else "all"
        claim = self.claimed_by()
        if claim is not None and claim.alive:
            signal_run(self.mark, claim.pid, number, self._owner(), which=which)

    @property
    def is_warned(self) -> bool:
        return (self.folder / "warned").exists()

    def cores(self) -> tuple[int, ...]:
        """The only ones that it may run on; none: all."""
        return tuple(self._spec().get("cores", ()))

    def _owner(self) -> int | None:
        """Of a run of another account."""
        owner = self._spec().get("owner")
        return None if owner is None else int(owner["uid"])

    def _spec(self) -> dict[str, Any]:
        try:
            return dict(marshal.loads((self.folder / "spec").read_bytes()))  # noqa: S302 - our own
        except (FileNotFoundError, ValueError, EOFError, TypeError):
            return {}


def write_private(path: Path, text: str) -> None:
    _write_private(path, text.encode("utf-8"))


def _write_private(path: Path, data: bytes) -> None:
    """The environment of a job may hold secrets: no other user reads it."""
    draft = path.with_suffix(f".{os.getpid()}")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(data)
    draft.replace(path)
