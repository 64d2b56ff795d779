"""What each poll of a full queue costs the daemon: 20,000 jobs that wait.

    python -m bench.speed.full_queue
    python -m bench.speed.full_queue --jobs 2000 --polls 3 --profile first.pstats
    python -m bench.speed.full_queue --jobs 10000 --levers --polls 8

The daemon of `schedmate serve --port` in mode `assist` with an empty store, its pages included.
Programs of the benchmark stand in for Slurm's, keep the nice numbers that they are given and list
the jobs, submitted with a few hundred scripts. Before each later poll the priority of all
has grown, and some start, end and arrive. `cpu` is the processor time from the beginning of a poll
until the pages show it, `children` that of the programs it starts, `ordered` how many jobs have a
nice number afterwards and `unread` how many are still to be read.

With `--levers` 500 more jobs of 40 codes run, whose logs grow by ten steps and a checkpoint before
each poll; the mode is `act`, and all jobs may make way, share a GPU, go on beyond their limit or be
stopped. Before the first poll all jobs were read, and runs of all codes were seen to resume and
measured to leave a GPU mostly idle.
"""

from __future__ import annotations

import cProfile
import os
import tempfile
import time
from collections.abc import Generator
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from unittest.mock import patch

from bench.command import command_line, machine
from bench.speed.queue_costs import processor_s, resident_mb, write_scripts
from bench.speed.running_jobs import LEVERS, RunningJobs, write_resuming
from bench.web.site import NODES
from bench.web.stand_in_slurm import StandInSlurm
from schedmate.config import Settings
from schedmate.model import Job, JobState, Mode, Request
from schedmate.model.account import account_name
from schedmate.service.daemon.assembling import assemble
from schedmate.service.daemon.process import uncollected
from schedmate.web.server import serving

_TITLES = ("poll", "seconds", "cpu", "children", "MB", "ordered", "unread")


@dataclass(frozen=True, slots=True)
class PollCost:
    seconds: float
    cpu_s: float
    children_s: float
    megabytes: int
    ordered: int
    unread: int


def main() -> None:
    parser = command_line(__doc__, __spec__)
    parser.add_argument("--jobs", type=int, default=20_000)
    parser.add_argument("--scripts", type=int, default=400)
    parser.add_argument("--polls", type=int, default=4)
    parser.add_argument("--changes", type=int, default=20, help="jobs that start before each poll")
    parser.add_argument("--levers", action="store_true", help="switch on all that can be decided")
    parser.add_argument("--mode", choices=("observe", "assist"), default="assist")
    parser.add_argument("--apart", type=float, default=30.0, help="seconds between two polls")
    parser.add_argument("--profile", type=Path, help="write cProfile's figures of all polls here")
    options = parser.parse_args()
    profile = cProfile.Profile(time.thread_time) if options.profile else None
    print(machine())
    print(" ".join(f"{title:>8}" for title in _TITLES))
    with tempfile.TemporaryDirectory() as made:
        costs = polls_of_full_queue(
            Path(made),
            count=options.jobs,
            scripts=options.scripts,
            changes=options.changes,
            profile=profile,
            mode=options.mode,
            levers=options.levers,
        )
        for number, cost in zip(range(1, options.polls + 1), costs, strict=False):
            times = (f"{one:.2f}" for one in (cost.seconds, cost.cpu_s, cost.children_s))
            row = (number, *times, cost.megabytes, cost.ordered, cost.unread)
            print(" ".join(f"{cell:>8}" for cell in row), flush=True)
            time.sleep(options.apart if number < options.polls else 0)
        costs.close()
    if profile is not None:
        profile.dump_stats(options.profile)


def polls_of_full_queue(
    directory: Path,
    *,
    count: int = 20_000,
    scripts: int = 400,
    changes: int = 20,
    profile: AbstractContextManager[object] | None = None,
    mode: Mode = "assist",
    levers: bool = False,
) -> Generator[PollCost, None, None]:
    """One poll after the other, for as long as they are asked for."""
    directory.chmod(0o755)
    written = write_resuming(directory) if levers else write_scripts(directory, scripts)
    jobs = [_waiting(1 + number, written[number % len(written)]) for number in range(count)]
    slurm = StandInSlurm(directory / "bin", nodes=NODES, script=written[0].read_text())
    settings = Settings(scheduler="slurm", mode=mode, state_dir=directory / "state")
    runs = RunningJobs(directory, written) if levers else None
    if runs is not None:
        settings = replace(settings, **LEVERS)
    programs = {"PATH": f"{slurm.directory}:{os.environ['PATH']}", "SLURM_CONF": "/none"}
    with patch.dict(os.environ, programs), ExitStack() as stack:
        if runs is not None:
            runs.prove(settings, slurm, jobs)
        with uncollected():
            site = stack.enter_context(serving(settings, host="127.0.0.1", port=0))
            daemon = stack.enter_context(assemble(settings))
        while True:
            slurm.show(jobs if runs is None else [*jobs, *runs.gone_on()])
            begun, used = time.monotonic(), processor_s()
            with profile or nullcontext():
                daemon.cycle(time.time())
            while site.board.version < site.store.newest_change():
                time.sleep(0.1)
            took, now = time.monotonic() - begun, processor_s()
            unread = sum(view.advice is None for view in site.board.views())
            yield PollCost(
                took,
                now[0] - used[0],
                now[1] - used[1],
                resident_mb(),
                slurm.count_ordered(),
                unread,
            )
            jobs = _later(jobs, changes)


def _waiting(number: int, script: Path) -> Job:
    return Job(
        id=str(number),
        name=f"train-{script.stem}",
        user=account_name(),
        state=JobState.PENDING,
        workdir=str(script.parent),
        command=(str(script),),
        script=str(script),
        request=Request(gpus=1, cpus=8, memory_mb=64_000, time_limit_s=86400.0, partition="gpu"),
        submit_time=float(int(time.time())),
        priority=100_000 + number % 5000,
        reason="Priority",
    )


def _later(jobs: list[Job], changes: int) -> list[Job]:
    now = float(int(time.time()))
    running = [job for job in jobs if job.state is JobState.RUNNING]
    ended = {job.id for job in running}
    waiting = [job for job in jobs if job.state is JobState.PENDING]
    begun = {job.id for job in waiting[:changes]}
    last = max(int(job.id) for job in jobs)
    return [
        *(
            replace(job, state=JobState.COMPLETED, end_time=now, exit_code=0)
            for job in running
            if job.id in ended
        ),
        *(
            replace(job, state=JobState.RUNNING, start_time=now, nodes=NODES[:1], reason="")
            for job in waiting[:changes]
        ),
        *(replace(job, priority=1 + (job.priority or 0)) for job in waiting if job.id not in begun),
        *(
            replace(waiting[-1 - number], id=str(last + 1 + number), submit_time=now)
            for number in range(changes)
        ),
    ]


if __name__ == "__main__":
    main()
