"""Running a script of a framework and looking at its log while it is being written."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

from schedmate.model import Progress, Workload
from schedmate.tracker import JobTracker
from warm_python import WarmPython

SCRIPTS = Path(__file__).parent / "scripts"
IMPORTED = ("transformers.trainer", "lightning.pytorch", "keras", "stable_baselines3", "accelerate")
ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "PYTHONUNBUFFERED": "1",
    "HF_HUB_OFFLINE": "1",
    "KERAS_BACKEND": "torch",
}
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
    python: WarmPython, command: tuple[str, ...], log: Path, workload: Workload | None
) -> Followed:
    started_at = time.time()
    tracker = JobTracker([log], started_at=started_at, workload=workload)
    looks: list[Look] = []
    with log.open("wb") as out, Path(os.devnull).open("rb") as nothing:
        words = [str(SCRIPTS / command[0]), *command[1:]]
        files = nothing.fileno(), out.fileno(), out.fileno()
        run = python.start(words, cwd=log.parent, env=os.environ | ENVIRONMENT, files=files)
    while not run.has_ended():
        looks.append(_look(tracker))
    looks += [_look(tracker) for _ in range(SETTLE_LOOKS)]
    return Followed(
        looks=tuple(looks),
        ended_at=log.stat().st_mtime,
        exit_code=run.wait(),
        output=log.read_text("utf-8", "replace"),
    )


def _look(tracker: JobTracker) -> Look:
    time.sleep(LOOK_EVERY_S)
    now = time.time()
    return Look(now, tracker.poll(now))
