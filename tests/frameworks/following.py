"""Running a script of a framework and looking at its log while it is being written."""

from __future__ import annotations

import json
import os
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from schedmate.model import Progress, Workload
from schedmate.tracker import JobTracker

SCRIPTS = Path(__file__).parent / "scripts"
LOOK_EVERY_S = 0.2
SETTLE_LOOKS = 3


@dataclass(frozen=True, slots=True)
class Look:
    at: float
    progress: Progress


@dataclass(frozen=True, slots=True)
class Followed:
    """All looks at one run, from its start to shortly after its end."""

    looks: tuple[Look, ...]
    ended_at: float
    """When its last line was written."""
    exit_code: int
    output: str

    @property
    def last(self) -> Progress:
        return self.looks[-1].progress

    @property
    def counted(self) -> tuple[Look, ...]:
        """The looks that knew how far the run was, as long as it ran."""
        return tuple(
            look
            for look in self.looks
            if look.progress.fraction is not None and look.at < self.ended_at
        )

    @property
    def halfway(self) -> Look:
        return min(self.counted, key=lambda look: abs((look.progress.fraction or 0.0) - 0.5))

    def left_at_the_pace_until(self, look: Look) -> float:
        """What would be left at that look if the machine had stayed as busy as it was."""
        first = self.counted[0]
        there, then = (one.progress.fraction or 0.0 for one in (look, first))
        return (look.at - first.at) * (1 - there) / max(there - then, 1e-9)


class Launcher:
    """Runs scripts without importing their frameworks again."""

    def __init__(self, python: Path) -> None:
        env = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1", "HF_HUB_OFFLINE": "1"}
        launcher = Path(__file__).with_name("launcher.py")
        self._process = subprocess.Popen([python, launcher], stdin=subprocess.PIPE, env=env)

    def start(self, command: tuple[str, ...], output: Path, code: Path) -> None:
        argv = [str(SCRIPTS / command[0]), *command[1:]]
        line = json.dumps({"argv": argv, "output": str(output), "code": str(code)})
        assert self._process.stdin
        self._process.stdin.write(f"{line}\n".encode())  # shorter than a pipe holds: one piece
        self._process.stdin.flush()

    def is_alive(self) -> bool:
        return self._process.poll() is None

    def close(self) -> None:
        self._process.communicate()


def follow(
    launcher: Launcher, command: tuple[str, ...], log: Path, workload: Workload | None
) -> Followed:
    started_at = time.time()
    tracker = JobTracker([log], started_at=started_at, workload=workload)
    looks: list[Look] = []
    log.touch()
    code = log.with_suffix(".code")
    launcher.start(command, log, code)
    while not code.exists():
        assert launcher.is_alive()
        looks.append(_look(tracker))
    looks += [_look(tracker) for _ in range(SETTLE_LOOKS)]
    return Followed(
        looks=tuple(looks),
        ended_at=log.stat().st_mtime,
        exit_code=int(code.read_text("utf-8")),
        output=log.read_text("utf-8", "replace"),
    )


def _look(tracker: JobTracker) -> Look:
    time.sleep(LOOK_EVERY_S)
    now = time.time()
    return Look(now, tracker.poll(now))
