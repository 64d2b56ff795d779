"""What an account does with its own queue: `python act_as.py ACT QUEUE LOCKS ARGUMENTS`."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

from schedmate.config import LocalSettings
from schedmate.model import Request, Submission
from schedmate.schedulers.local import LocalScheduler

PATIENCE_S = 60.0


def submit(scheduler, script, widths):
    for number, width in enumerate(widths):
        command = ("bash", "-c", script, "job", f"0.{number % 3 + 1}")
        request, workdir = Request(gpus=width), str(Path.cwd())
        scheduler.submit(Submission(command=command, workdir=workdir, name="job", request=request))
    return len(widths)


def states(scheduler):
    return [job.state for job in scheduler.jobs()]


def stop(scheduler):
    deadline = time.monotonic() + PATIENCE_S
    for job in scheduler.jobs():
        scheduler.cancel(job.id)
    while not all(job.state.ended for job in scheduler.jobs()) and time.monotonic() < deadline:
        time.sleep(0.1)
    scheduler.stop()
    return os.getuid()


if __name__ == "__main__":
    act, queue, locks, arguments = sys.argv[1:]
    settings = LocalSettings(lock_dir=locks, kill_wait_s=0.5)
    answer = {"submit": submit, "states": states, "stop": stop}[act](
        LocalScheduler(Path(queue), settings), *json.loads(arguments)
    )
    sys.stdout.write(json.dumps(answer))
