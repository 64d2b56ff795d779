"""The proof that a site has before the live experiment: of each code that resumes, a run that its
owner has queued again after a checkpoint, on a private Slurm, and that a daemon saw go on.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from bench.live import programs
from bench.live.arm import Owners, ask, daemon_of
from bench.live.arms import ARMS, CLUSTER, CONSENT
from bench.live.replayed_jobs import GPUS_PER_NODE, NODES, ReplayedJob
from schedmate.schedulers.slurm import SlurmScheduler
from schedmate.store.sqlite import SqliteStore
from schedmate.testing.slurm_cluster import private_slurm

_FIRST_ID = 900_000
"""Beyond the ids of the clusters that follow."""
_SECONDS = 14.0
_PATIENCE_S = 180.0


def prove(jobs: Sequence[ReplayedJob], root: Path, state: Path) -> int:
    """Of how many codes a resume is in the store of this state directory."""
    runs = proving_runs(jobs)
    programs.write(runs, root)
    settings = {**CLUSTER, "FirstJobId": str(_FIRST_ID)}
    with private_slurm(nodes=NODES, gpus_per_node=GPUS_PER_NODE, settings=settings) as cluster:
        cluster.directory.chmod(0o711)
        ask("sacctmgr", "-i", "add", "account", "lab")
        users = ",".join(sorted({job.user for job in runs}))
        ask("sacctmgr", "-i", "add", "user", users, "account=lab")
        owners = Owners(runs, root, comment=CONSENT)
        with daemon_of(ARMS["stack"], state, {}):
            left = {owners.submit(job): job for job in runs}
            _until(lambda: _queue_again(left, root))
            _until(lambda: not ask("squeue", "-h", "-tPD,R,CG").strip())
            _until(lambda: proven(state) >= len(runs))
    return proven(state)


def proving_runs(jobs: Sequence[ReplayedJob]) -> list[ReplayedJob]:
    """A short run on one GPU for each project that resumes; its code is the same."""
    projects = {job.project: job for job in jobs if job.resumes}
    return [
        replace(
            job,
            number=number,
            run_s=_SECONDS,
            meant_s=_SECONDS,
            fate="completes",
            pace=1.0,
            limit_minutes=10,
        )
        for number, job in enumerate(projects.values())
    ]


def proven(state: Path) -> int:
    """Codes of which a run was seen to resume."""
    with closing(SqliteStore(state / "schedmate.sqlite3", scheduler="slurm")) as store:
        runs = [run for run in store.recent_runs(limit=500) if run.resume is not None]
    went_on = [run for run in runs if run.resume and run.resume.outcome == "resumed"]
    return len({run.fingerprint.code for run in went_on if run.fingerprint is not None})


def _queue_again(left: dict[str, ReplayedJob], root: Path) -> bool:
    """Those that have saved; whether that is done with all."""
    scheduler = SlurmScheduler()
    for job in scheduler.jobs([job_id for job_id, one in left.items() if _has_saved(one, root)]):
        if job.restarts or scheduler.requeue(job.id, run=0):
            del left[job.id]
    return not left


def _has_saved(job: ReplayedJob, root: Path) -> bool:
    return (root / job.project / f"checkpoints/{job.number}/last.pkl").exists()


def _until(met: Callable[[], object]) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while not met():
        if time.monotonic() > deadline:
            raise TimeoutError("the runs that prove that their code resumes did not end")
        time.sleep(0.5)
