"""Jobs that run beside a full queue, resume by themselves, and may be stopped or carried on."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench.web.site import NODES
from bench.web.stand_in_slurm import StandInSlurm
from schedmate.config import Settings
from schedmate.model import Job, JobState, PastRun, Request, Resume
from schedmate.model.account import account_name
from schedmate.service.daemon.assembling import assemble
from schedmate.service.wiring import open_store
from schedmate.site_settings import (
    DoomedSettings,
    PreemptionSettings,
    SharingSettings,
    TimeLimitSettings,
)

CODES, RUNNING = 40, 500
LEVERS: dict[str, Any] = {
    "mode": "act",
    "preemption": PreemptionSettings(partitions=("gpu",)),
    "sharing": SharingSettings(partitions=("gpu",)),
    "time_limits": TimeLimitSettings(extend_hours=4.0, carry_on=3),
    "doomed": DoomedSettings(stop=("nan", "checkpoint", "hang", "limit", "idle")),
}
_FIRST = 1_000_000
_CODE = """import argparse
import os

import torch

VARIANT = {number}
parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int)
args = parser.parse_args()
model = torch.nn.Linear(8, VARIANT + 1)
step = 0
if os.path.exists("last.pt"):
    state = torch.load("last.pt")
    model.load_state_dict(state["model"])
    step = state["step"]
while step < args.steps:
    step += 1
    loss = model(torch.randn(4, 8)).pow(2).mean()
    print(f"step {{step}}/{{args.steps}} loss {{loss.item():.4f}}", flush=True)
    if step % 10 == 0:
        torch.save({{"model": model.state_dict(), "step": step}}, "last.pt")
        print(f"saved checkpoint last.pt at step {{step}}", flush=True)
"""


def write_resuming(directory: Path) -> list[Path]:
    """Scripts of as many trainings; jobs submitted from now on are newer than these."""
    scripts = []
    for number in range(CODES):
        place = directory / f"code{number}"
        place.mkdir()
        (place / "train.py").write_text(_CODE.format(number=number))
        scripts.append(place / "job.sh")
        scripts[-1].write_text("#!/bin/bash\npython train.py --steps 100000\n")
    time.sleep(3)  # also by clocks that differ a little
    return scripts


class RunningJobs:
    def __init__(self, directory: Path, scripts: list[Path]) -> None:
        now = float(int(time.time()))
        self._step = 0
        self._jobs = [
            Job(
                id=str(_FIRST + number),
                name="train",
                user=account_name(),
                state=JobState.RUNNING,
                workdir=str(scripts[number % CODES].parent),
                command=(str(scripts[number % CODES]),),
                script=str(scripts[number % CODES]),
                request=Request(gpus=1, cpus=8, time_limit_s=172800.0, partition="gpu"),
                submit_time=now,
                start_time=now,
                nodes=(NODES[number % len(NODES)],),
                logs=(str(directory / f"log{number}"),),
            )
            for number in range(RUNNING)
        ]

    def prove(self, settings: Settings, slurm: StandInSlurm, waiting: Sequence[Job]) -> None:
        """Let a daemon before have read all jobs, and seen runs of each code resume."""
        slurm.show(self.gone_on()[:CODES])
        first, read = self._jobs[:CODES], 0
        with assemble(replace(settings, mode="observe")) as daemon:
            while read < CODES:  # a busy machine reads some of them in a later poll
                daemon.cycle(time.time())
                with closing(open_store(settings)) as store:
                    read = sum(store.advice(job.id) is not None for job in first)
        with closing(open_store(settings)) as store:
            for number, job in enumerate(first):
                kept = store.advice(job.id)
                if kept is None or kept.fingerprint is None:
                    raise RuntimeError("a job of the benchmark was not read")
                ran = replace(
                    job,
                    id=str(number + _FIRST // 2),
                    state=JobState.COMPLETED,
                    start_time=job.submit_time - 7200.0,
                    end_time=job.submit_time,
                )
                run = PastRun(
                    job=ran,
                    fingerprint=kept.fingerprint,
                    workload=kept.advice.workload,
                    resume=Resume(outcome="resumed", began=10.0, after_s=30.0),
                    gpu_memory_mb=9000.0,
                    gpu_utilization=0.2,
                )
                store.keep_run(run)
                with store.together():
                    for one in (*waiting, *self._jobs):
                        if one.script == job.script:
                            store.keep_advice(one.id, kept)

    def gone_on(self) -> list[Job]:
        """Their logs grow: ten steps, and a checkpoint."""
        begun, self._step = self._step, self._step + 10
        lines = [f"step {step}/100000 loss 1.2345\n" for step in range(begun + 1, self._step + 1)]
        text = "".join([*lines, f"saved checkpoint last.pt at step {self._step}\n"])
        for job in self._jobs:
            with Path(job.logs[0]).open("a", encoding="utf-8") as log:
                log.write(text)
        return list(self._jobs)
