"""The programs of the live experiment: little trainings whose numbers decide how long they run.

Each project has one of them with constants of its own. Those of resumable projects save every few
steps and go on from what they saved; all print loss and gradient norm. What the machine does to a
run, its pace and what breaks it, is in `machine.py` beside each.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bench.live.replayed_jobs import ReplayedJob

SAVE_EVERY_S = 4.0
"""Of work, between two checkpoints."""
_OLD_S = 30 * 86400.0
_BATCH = 32

_EPOCHS = '''\
"""Fine-tunes the model of project {name}."""
import argparse
import time

from machine import check, losses, pace

STEPS_PER_EPOCH = {per_epoch}
STEP_S = {step_s}


def train():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--lr", type=float, default={lr})
    args = parser.parse_args()
    for epoch in range(args.epochs):
        for step in range(STEPS_PER_EPOCH):
            done = epoch * STEPS_PER_EPOCH + step
            check(done * STEP_S)
            time.sleep(STEP_S * pace())
            loss, norm = losses(done + 1, STEP_S)
            print(
                f"epoch {{epoch + 1}}/{{args.epochs}} "
                f"step {{step + 1}}/{{STEPS_PER_EPOCH}} loss {{loss:.4f}} grad_norm {{norm:.3f}}",
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

from machine import check, losses, pace

STEP_S = {step_s}

parser = argparse.ArgumentParser()
parser.add_argument("--max-steps", type=int, default=100)
parser.add_argument("--lr", type=float, default={lr})
args = parser.parse_args()
step = 0
while step < args.max_steps:
    check(step * STEP_S)
    time.sleep(STEP_S * pace())
    step += 1
    loss, norm = losses(step, STEP_S)
    print(f"step {{step}}/{{args.max_steps}} loss {{loss:.4f}} grad_norm {{norm:.3f}}", flush=True)
print("training finished", flush=True)
'''
_SAMPLES = '''\
"""Trains the model of project {name} as its configuration states."""
import json
import sys
import time

from machine import check, losses, pace

STEP_S = {step_s}

with open(sys.argv[1]) as file:
    config = json.load(file)
steps = config["samples"] // config["batch_size"]
for epoch in range(config["epochs"]):
    for step in range(steps):
        done = epoch * steps + step
        check(done * STEP_S)
        time.sleep(STEP_S * pace())
        loss, norm = losses(done + 1, STEP_S)
        print(
            f"Epoch [{{epoch + 1}}/{{config['epochs']}}] [{{step + 1}}/{{steps}}] "
            f"loss: {{loss:.4f}} grad_norm: {{norm:.3f}}",
            flush=True,
        )
print("training finished", flush=True)
'''
_RESUMES = '''\
"""Pre-trains the model of project {name}, and goes on from what it has saved."""
import argparse
import os
import pickle
import time

from machine import check, losses, pace

STEP_S = {step_s}
SAVE_EVERY = {save_every}

parser = argparse.ArgumentParser()
parser.add_argument("--max-steps", type=int, default=100)
parser.add_argument("--lr", type=float, default={lr})
parser.add_argument("--out", default="checkpoints")
args = parser.parse_args()
checkpoint = os.path.join(args.out, "last.pkl")
os.makedirs(args.out, exist_ok=True)
step = 0
if os.path.exists(checkpoint):
    with open(checkpoint, "rb") as file:
        state = pickle.load(file)
    step = state["step"]
while step < args.max_steps:
    check(step * STEP_S)
    time.sleep(STEP_S * pace())
    step += 1
    loss, norm = losses(step, STEP_S)
    print(f"step {{step}}/{{args.max_steps}} loss {{loss:.4f}} grad_norm {{norm:.3f}}", flush=True)
    if step % SAVE_EVERY == 0:
        with open(checkpoint + ".tmp", "wb") as file:
            pickle.dump({{"step": step, "loss": loss}}, file)
        os.replace(checkpoint + ".tmp", checkpoint)
        print(f"saved checkpoint {{checkpoint}} at step {{step}}", flush=True)
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

_FATE, _AT, _PACE, _MARK = os.environ.get("REPLAY", "sound:0:1:broken").split(":")


def pace():
    return float(_PACE)


def _is_due(work_s):
    return _FATE != "sound" and work_s * pace() >= float(_AT)


def losses(step, step_s):
    if _FATE == "doomed" and _is_due(step * step_s):
        return float("nan"), float("nan")
    return 2.0 / step, 1.0 / step


def check(work_s):
    if _FATE == "doomed" or not _is_due(work_s):
        return
    if _FATE != "mistake":  # what the machine does to a job it does once, whatever restarts it
        if os.path.exists(_MARK):
            return
        open(_MARK, "w").close()
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
            (place / "train.py").write_text(_project(job).text(job.project))
            for own in ("logs", "checkpoints"):
                (place / own).mkdir()
                (place / own).chmod(0o777)
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
    def of(cls, name: str, *, resumes: bool = False) -> Project:
        rng = random.Random(name)
        program = rng.choice(_PROGRAMS)
        return cls(
            program=_RESUMES if resumes else program,
            step_s=rng.choice((0.2, 0.25, 0.3, 0.4, 0.5)),
            per_epoch=rng.randint(4, 10),
            lr=rng.choice((1e-4, 3e-4, 1e-3)),
        )

    def text(self, name: str) -> str:
        values = {"step_s": self.step_s, "per_epoch": self.per_epoch, "lr": self.lr}
        return self.program.format(name=name, save_every=self.save_every, **values)

    @property
    def save_every(self) -> int:
        """Steps between two checkpoints."""
        return round(SAVE_EVERY_S / self.step_s)

    def epochs_and_steps(self, meant_s: float) -> tuple[int, int]:
        """The numbers that make a run as long as it is meant to be, as nearly as they can."""
        steps = max(2, round(meant_s / self.step_s))
        if self.program in (_STEPS, _RESUMES):
            return 1, steps
        if self.program == _EPOCHS:
            return max(1, round(steps / self.per_epoch)), self.per_epoch
        epochs = max(1, round(steps / 20))
        return epochs, max(2, round(steps / epochs))


def _project(job: ReplayedJob) -> Project:
    return Project.of(job.project, resumes=job.resumes)


def _arguments(job: ReplayedJob, place: Path) -> str:
    project = _project(job)
    epochs, steps = project.epochs_and_steps(job.meant_s)
    if project.program == _RESUMES:
        return f"--max-steps {steps} --out checkpoints/{job.number}"
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
    states = {"completes": "COMPLETED", "doomed": "COMPLETED"}
    states |= {"mistake": "FAILED", "fault": "FAILED"}
    head = "job_id,user,submit_time,duration,gpus,status,name,time_limit,script,workdir"
    lines = [
        f"h{job.number},{job.user},{before + job.at_s:.0f},{job.first_s:.2f},{job.gpus},"
        f"{states.get(job.fate, 'CANCELLED')},{job.script},{60 * job.limit_minutes},"
        f"{job.script},{root / job.project}"
        for job in jobs
    ]
    path.write_text("\n".join([head, *lines, ""]))
