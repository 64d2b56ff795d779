"""A slice of a real trace as real jobs: small programs whose numbers decide how long they run.

The rule of the slice, fixed before any of these jobs had run. Speed, loads and the longest run were
chosen after simulations that showed gains too; the longest run is what lets all of it end within
35 minutes in a simulation of plain Slurm:

- The trace is the cut of Philly with users and endings (15,000 jobs). The jobs from its middle on
  are replayed; the 1,500 before them are the site's history.
- An hour becomes 7.5 seconds; a run is at least 4 and at most 160 seconds long. A job of more than
  8 GPUs asks for a whole node of 8.
- All else is as much faster, as far as it goes: a week of PriorityMaxAge and of the half-life of
  usage, the day of the bound on being overtaken, owners' reactions, and the costs by which jobs are
  ordered. What has a smallest value has that: Slurm's main and backfill schedulers run every second
  (8 minutes of the trace, 1 and 0.5 in production), priorities are calculated every minute, limits
  are whole minutes, SchedMate looks a second after its last look. A hang is a silence of 9 seconds
  (72 minutes; 30 in production), as a rhythm must be seen before its end.
- Times of submission keep their proportions; one factor makes the jobs ask for `load` times what
  32 GPUs give while they come.
- The code of a job depends on its user and its number of GPUs alone: each pair is one project with
  its own program and its own time of a step. Its numbers (epochs, steps or samples) are those that
  make it run as long as it was meant to.
- A job that passed runs to its end. Of those that failed, seven in ten have a mistake of their own;
  three in ten meet a fault of the machine and come back. A job that was killed is cancelled by its
  owner, but a third of those of at least 60 seconds hangs from the middle of its run on, until its
  owner cancels it and submits it again. A job that ended early was meant to take longer: between
  1.1 and 3.3 times what it ran.
- Owners come back as in the trace: see `_BACK_AFTER_S`.
- Limits are habits: each project has one of a few common values, drawn among those that are long
  enough for all its jobs; one job in five asks for the next longer one. So they tell a little of
  the project and nothing of the job.
"""

from __future__ import annotations

import json
import os
import pwd
import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np

from bench.datasets import required, rows

NODES, GPUS_PER_NODE = 4, 8
GPUS = NODES * GPUS_PER_NODE
SPEED = 480.0
"""Seconds of the trace in a second here."""
SHORTEST_S, LONGEST_S, LONGEST_MEANT_S = 4.0, 160.0, 320.0
PACE_SIGMA = 0.1
"""How runs of the same numbers differ: the machine's part."""
_HANGS_FROM_S = 60.0
_COMMON_MINUTES = (1, 2, 3, 5, 10, 15, 20, 30, 45, 60)
_ABOVE_HABIT = 0.2
_BACK_SHARES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
_BACK_AFTER_S = (6.0, 6.0, 34.0, 2139.0, 48_768.0, 109_018.0, 109_018.0)
"""Quantiles of the trace: from the end of a failed run, had it started at once, to the next
submission of the same user with as many GPUs (3,806 runs)."""
_LEAST_BACK_S = 1.0
"""Owners look at their jobs once a second."""
_OLD_S = 30 * 86400.0
_BATCH = 32

Fate = Literal["completes", "mistake", "fault", "cancelled", "hangs"]
COMES_BACK: tuple[Fate, ...] = ("fault", "hangs")
WASTED: tuple[Fate, ...] = ("mistake", "fault", "hangs")


@dataclass(frozen=True, slots=True)
class ReplayedJob:
    """`run_s` is how long its first run lasts, `meant_s` what its numbers come to."""

    number: int
    user: str
    gpus: int
    at_s: float
    """After the first submission of the slice."""
    run_s: float
    meant_s: float
    fate: Fate
    pace: float
    limit_minutes: int
    back_after_s: float
    """How long its owner takes to notice an end that calls for another run."""

    @property
    def project(self) -> str:
        return f"{self.user}-{self.gpus}"

    @property
    def script(self) -> str:
        return f"run-{self.number}.sh"

    @property
    def breaks_at_s(self) -> float:
        """When the run meets its fate; a job that hangs is cancelled later."""
        return self.run_s / 2 if self.fate == "hangs" else self.run_s

    @property
    def sound_s(self) -> float:
        """A run that meets none, by the numbers in its code."""
        project = Project.of(self.project)
        epochs, steps = project.epochs_and_steps(self.meant_s)
        return epochs * steps * project.step_s * self.pace

    @property
    def first_s(self) -> float:
        """Its first run, unless somebody steps in."""
        return self.sound_s if self.fate == "completes" else min(self.run_s, self.sound_s)

    def environment(self, *, again: bool) -> str:
        """What `machine.py` reads: the fate, its time and the pace."""
        broken = self.fate in ("mistake", "fault", "hangs") and not again
        return f"{self.fate if broken else 'sound'}:{self.breaks_at_s:.2f}:{self.pace:.4f}"


def sliced(jobs: int, history: int, *, load: float) -> tuple[list[ReplayedJob], list[ReplayedJob]]:
    """The history and the jobs to replay, by the rule above."""
    table = list(rows(required("traces") / "philly_15k_status.csv.gz"))
    middle = len(table) // 2
    chosen = table[middle - history : middle + jobs]
    users = _users({row["user"]: None for row in chosen})
    rng = random.Random(1)
    at = np.cumsum([float(row["interval"]) for row in chosen])
    made = _limited(
        [
            _job(number, row, users[row["user"]], float(time), rng)
            for number, (row, time) in enumerate(zip(chosen, at, strict=True))
        ]
    )
    asked = sum(job.run_s * job.gpus for job in made[history:])
    span = at[-1] - at[history]
    factor = asked / (GPUS * load) / span
    timed = [_moved(job, float(job.at_s - at[history]) * factor) for job in made]
    return timed[:history], timed[history:]


def shaken(jobs: Sequence[ReplayedJob], seed: int) -> list[ReplayedJob]:
    """The same jobs, each submitted up to 5 seconds later."""
    rng = random.Random(seed)
    moved = [_moved(job, job.at_s + rng.uniform(0.0, 5.0)) for job in jobs]
    return sorted(moved, key=lambda job: job.at_s)


def _moved(job: ReplayedJob, at_s: float) -> ReplayedJob:
    return replace(job, at_s=at_s)


def _users(seen: dict[str, None]) -> dict[str, str]:
    """Accounts that every system has stand for the trace's users, in order of appearance."""
    accounts = [one.pw_name for one in pwd.getpwall() if 0 < one.pw_uid < 100]  # noqa: PLR2004
    return {user: accounts[place % len(accounts)] for place, user in enumerate(seen)}


def _job(
    number: int, row: dict[str, str], user: str, at_s: float, rng: random.Random
) -> tuple[ReplayedJob, bool]:
    """Still without a limit; and whether its owner asks for more than the project's usual one."""
    run_s = min(max(float(row["run_time"]) / SPEED, SHORTEST_S), LONGEST_S)
    fate = _fate(row["new_status"], run_s, rng)
    pace = rng.lognormvariate(0.0, PACE_SIGMA)
    early = rng.uniform(0.3, 0.9)
    whole_s = {"completes": run_s, "hangs": run_s / 2 / early}.get(fate, run_s / early)
    meant_s = min(whole_s / pace, LONGEST_MEANT_S)
    above = rng.random() < _ABOVE_HABIT
    back_s = _back_after_s(rng)
    gpus = min(max(1, int(float(row["gpu_num"]))), GPUS_PER_NODE)
    return ReplayedJob(number, user, gpus, at_s, run_s, meant_s, fate, pace, 0, back_s), above


def _fate(status: str, run_s: float, rng: random.Random) -> Fate:
    drawn = rng.random()
    if status == "Failed":
        return "mistake" if drawn < 0.7 else "fault"  # noqa: PLR2004 - the rule above
    if status == "Killed":
        return "hangs" if run_s >= _HANGS_FROM_S and drawn < 1 / 3 else "cancelled"
    return "completes"


def _back_after_s(rng: random.Random) -> float:
    drawn = float(np.exp(np.interp(rng.random(), _BACK_SHARES, np.log(_BACK_AFTER_S))))
    return max(drawn / SPEED, _LEAST_BACK_S)


def _limited(drawn: Sequence[tuple[ReplayedJob, bool]]) -> list[ReplayedJob]:
    """Each with a limit by the habit of its project, never so short that it ends a run."""
    longest: dict[str, float] = defaultdict(float)
    for job, _ in drawn:
        longest[job.project] = max(longest[job.project], job.meant_s * job.pace, job.run_s)
    habits = {name: _usual_limit(name, seconds) for name, seconds in longest.items()}
    last = len(_COMMON_MINUTES) - 1
    return [
        replace(job, limit_minutes=_COMMON_MINUTES[min(habits[job.project] + above, last)])
        for job, above in drawn
    ]


def _usual_limit(project: str, longest_s: float) -> int:
    """The place of one of the common values."""
    needed = (1.2 * longest_s + 20.0) / 60.0
    able = [place for place, each in enumerate(_COMMON_MINUTES) if each >= needed]
    return random.Random(f"limit of {project}").choice(able)


_EPOCHS = '''\
"""Fine-tunes the model of project {name}."""
import argparse
import time

from machine import check, pace

STEPS_PER_EPOCH = {per_epoch}
STEP_S = {step_s}


def train():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--lr", type=float, default={lr})
    args = parser.parse_args()
    for epoch in range(args.epochs):
        for step in range(STEPS_PER_EPOCH):
            check()
            time.sleep(STEP_S * pace())
            loss = 2.0 / (1 + epoch * STEPS_PER_EPOCH + step)
            print(
                f"epoch {{epoch + 1}}/{{args.epochs}} "
                f"step {{step + 1}}/{{STEPS_PER_EPOCH}} loss {{loss:.4f}}",
                flush=True,
            )
    print("training finished", flush=True)


if __name__ == "__main__":
    train()
'''
_STEPS = '''\
"""Pre-trains the model of project {name}."""
import argparse
import time

from machine import check, pace

STEP_S = {step_s}

parser = argparse.ArgumentParser()
parser.add_argument("--max-steps", type=int, default=100)
parser.add_argument("--lr", type=float, default={lr})
args = parser.parse_args()
step = 0
while step < args.max_steps:
    check()
    time.sleep(STEP_S * pace())
    step += 1
    print(f"step {{step}}/{{args.max_steps}} loss {{2.0 / step:.4f}}", flush=True)
print("training finished", flush=True)
'''
_SAMPLES = '''\
"""Trains the model of project {name} as its configuration states."""
import json
import sys
import time

from machine import check, pace

STEP_S = {step_s}

with open(sys.argv[1]) as file:
    config = json.load(file)
steps = config["samples"] // config["batch_size"]
for epoch in range(config["epochs"]):
    for step in range(steps):
        check()
        time.sleep(STEP_S * pace())
        print(f"Epoch [{{epoch + 1}}/{{config['epochs']}}] [{{step + 1}}/{{steps}}]", flush=True)
print("training finished", flush=True)
'''
_PROGRAMS = (_EPOCHS, _STEPS, _SAMPLES)
FAULT = (
    "RuntimeError: NCCL error in: ProcessGroupNCCL.cpp:2251, remote process exited or there was a "
    "network error, NCCL version 2.21.5\nncclRemoteError: A call failed possibly due to a "
    "network error or a remote process exiting prematurely.\n"
)
"""What the log of a job that met a fault ends with."""
MACHINE = '''\
"""What the machine does to a run, apart from the training code: its pace, and what breaks it."""
import os
import signal
import time

_FATE, _AT, _PACE = os.environ.get("REPLAY", "sound:0:1").split(":")
_BROKEN = _FATE == "mistake" or os.environ.get("SLURM_RESTART_COUNT", "0") == "0"
_BEGAN = time.monotonic()


def pace():
    return float(_PACE)


def check():
    if _FATE == "sound" or not _BROKEN or time.monotonic() - _BEGAN < float(_AT):
        return
    if _FATE == "hangs":
        signal.pause()
    if _FATE == "fault":
        raise RuntimeError(
            "NCCL error in: ProcessGroupNCCL.cpp:2251, remote process exited or there was a "
            "network error, NCCL version 2.21.5\\nncclRemoteError: A call failed possibly due to a "
            "network error or a remote process exiting prematurely."
        )
    raise ValueError("Expected input batch_size (64) to match target batch_size (63).")
'''


def write(jobs: Sequence[ReplayedJob], root: Path) -> None:
    """Every project's program, and every job's script with its own numbers."""
    root.mkdir(parents=True, exist_ok=True)
    root.chmod(0o755)
    for job in jobs:
        place = root / job.project
        if not place.exists():
            place.mkdir()
            place.chmod(0o777)
            (place / "machine.py").write_text(MACHINE)
            (place / "train.py").write_text(Project.of(job.project).text(job.project))
            (place / "logs").mkdir()
            (place / "logs").chmod(0o777)
        words = _arguments(job, place)
        script = place / job.script
        script.write_text(f"#!/bin/bash\n#SBATCH --gres=gpu:{job.gpus}\npython3 train.py {words}\n")
    for path in root.rglob("*.*"):
        os.utime(path, (path.stat().st_mtime - _OLD_S, path.stat().st_mtime - _OLD_S))


@dataclass(frozen=True, slots=True)
class Project:
    """What the jobs of a user on so many GPUs have in common: their program and its constants."""

    program: str
    step_s: float
    per_epoch: int
    lr: float

    @classmethod
    def of(cls, name: str) -> Project:
        rng = random.Random(name)
        return cls(
            program=rng.choice(_PROGRAMS),
            step_s=rng.choice((0.2, 0.25, 0.3, 0.4, 0.5)),
            per_epoch=rng.randint(4, 10),
            lr=rng.choice((1e-4, 3e-4, 1e-3)),
        )

    def text(self, name: str) -> str:
        values = {"step_s": self.step_s, "per_epoch": self.per_epoch, "lr": self.lr}
        return self.program.format(name=name, **values)

    def epochs_and_steps(self, meant_s: float) -> tuple[int, int]:
        """The numbers that make a run as long as it is meant to be, as nearly as they can."""
        steps = max(2, round(meant_s / self.step_s))
        if self.program == _STEPS:
            return 1, steps
        if self.program == _EPOCHS:
            return max(1, round(steps / self.per_epoch)), self.per_epoch
        epochs = max(1, round(steps / 20))
        return epochs, max(2, round(steps / epochs))


def _arguments(job: ReplayedJob, place: Path) -> str:
    project = Project.of(job.project)
    epochs, steps = project.epochs_and_steps(job.meant_s)
    if project.program == _EPOCHS:
        return f"--epochs {epochs}"
    if project.program == _STEPS:
        return f"--max-steps {steps}"
    config = place / f"config-{job.number}.json"
    config.write_text(
        json.dumps({"epochs": epochs, "samples": steps * _BATCH, "batch_size": _BATCH})
    )
    return config.name


def write_history(jobs: Sequence[ReplayedJob], root: Path, path: Path, *, before: float) -> None:
    """What a site would have: the runs before the slice, with the code that they ran."""
    states = {"completes": "COMPLETED", "mistake": "FAILED", "fault": "FAILED"}
    head = "job_id,user,submit_time,duration,gpus,status,name,time_limit,script,workdir"
    lines = [
        f"h{job.number},{job.user},{before + job.at_s:.0f},{job.first_s:.2f},{job.gpus},"
        f"{states.get(job.fate, 'CANCELLED')},{job.script},{60 * job.limit_minutes},"
        f"{job.script},{root / job.project}"
        for job in jobs
    ]
    path.write_text("\n".join([head, *lines, ""]))
