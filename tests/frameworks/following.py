"""Running a script of a framework and looking at its log while it is being written."""

from __future__ import annotations

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


def follow(
    python: Path, command: tuple[str, ...], log: Path, workload: Workload | None
) -> Followed:
    started_at = time.time()
    tracker = JobTracker([log], started_at=started_at, workload=workload)
    looks: list[Look] = []
    with log.open("wb") as out, _start(python, command, out.fileno()) as process:
        while process.poll() is None:
            looks.append(_look(tracker))
    looks += [_look(tracker) for _ in range(SETTLE_LOOKS)]
    return Followed(
        looks=tuple(looks),
        ended_at=log.stat().st_mtime,
        exit_code=process.returncode,
        output=log.read_text("utf-8", "replace"),
    )


def _start(python: Path, command: tuple[str, ...], out: int) -> subprocess.Popen[bytes]:
    script, *arguments = command
    env = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1", "HF_HUB_OFFLINE": "1"}
    return subprocess.Popen(
        [python, SCRIPTS / script, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=out,
        stderr=subprocess.STDOUT,
        env=env,
    )


def _look(tracker: JobTracker) -> Look:
    time.sleep(LOOK_EVERY_S)
    now = time.time()
    return Look(now, tracker.poll(now))
