"""Real jobs with their real durations, as the duration benchmarks replay them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime

from bench.datasets import required, rows
from schedmate.advisor.predict.jobs import EndedJob, Facts
from schedmate.model import JobState

_STATES = {
    "Pass": JobState.COMPLETED,
    "Failed": JobState.FAILED,
    "Killed": JobState.CANCELLED,
}


def _rows(name: str) -> Iterator[dict[str, str]]:
    return rows(required("traces") / f"{name}.csv.gz")


def _cut(name: str) -> Iterator[EndedJob]:
    """Has no waits: a job is taken to start when it is submitted."""
    at = 0.0
    for row in _rows(name):
        at += float(row["interval"])
        facts = Facts(
            job_id=row["u_id"],
            user=row["user"],
            gpus=int(row["gpu_num"]),
            cpus=int(row["cpu_num"]),
            nodes=int(row["node_num"]),
            submitted_at=at,
        )
        yield EndedJob(facts, at, at + float(row["run_time"]), _STATES[row["new_status"]])


def _theta() -> Iterator[EndedJob]:
    for row in _rows("alcf_thetagpu"):
        submitted = float(row["submit_time"])
        started = submitted + float(row["wait_time"])
        facts = Facts(
            job_id=row["job"],
            user=row["user"],
            gpus=int(float(row["gpu_num"])),
            nodes=int(float(row["node_num"])),
            limit_s=float(row["wall_time"]),
            partition=row["project"],
            submitted_at=submitted,
        )
        ended = started + float(row["run_time"])
        yield EndedJob(facts, started, ended, _STATES[row["new_status"]])


def _lsf(*, with_gpus_only: bool = False) -> Iterator[EndedJob]:
    for row in _rows("lsf_dtu_jobs"):
        if with_gpus_only and row["gpus"] == "0":
            continue
        facts = Facts(
            job_id=row["job_id"],
            user=row["user"],
            name=row["job_name"],
            command=row["command"],
            gpus=int(row["gpus"]),
            cpus=int(float(row["cpus"] or 0)),
            limit_s=60 * float(row["walltime_req"]) if row["walltime_req"] else None,
            partition=row["queue"],
            submitted_at=_seconds(row["submit"]),
        )
        yield EndedJob(facts, _seconds(row["start"]), _seconds(row["end"]), _lsf_state(row))


def _lsf_state(row: Mapping[str, str]) -> JobState:
    if row["status"] == "COMPLETED":
        return JobState.COMPLETED
    by_owner = row["term_reason"] == "TERM_OWNER"
    return JobState.CANCELLED if by_owner else JobState.FAILED


def _philly_2017() -> Iterator[EndedJob]:
    """No users: a virtual cluster stands for one."""
    for number, row in enumerate(_rows("philly_2017_jobs")):
        at = _seconds(row["timestamp"])
        yield _of_cluster(row["cluster"], number, int(row["num_gpus"]), at, row["duration"])


def _itp() -> Iterator[EndedJob]:
    """No users: a cluster stands for one."""
    for number, row in enumerate(_rows("ms_itp_2021")):
        at = float(row["submission_time"])
        yield _of_cluster(row["cluster"], number, int(row["num_gpu"]), at, row["duration"])


def _of_cluster(cluster: str, number: int, gpus: int, at: float, duration: str) -> EndedJob:
    facts = Facts(job_id=str(number), user=cluster, gpus=gpus, submitted_at=at)
    return EndedJob(facts, at, at + float(duration), JobState.COMPLETED)


def _seconds(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


SETS: dict[str, Callable[[], Iterator[EndedJob]]] = {
    "helios": lambda: _cut("helios_15k_status"),
    "philly": lambda: _cut("philly_15k_status"),
    "theta": _theta,
    "lsf": _lsf,
    "lsf-gpu": lambda: _lsf(with_gpus_only=True),
    "philly-2017": _philly_2017,
    "itp": _itp,
}


def jobs(name: str) -> list[EndedJob]:
    """In the order in which they were submitted."""
    return sorted(SETS[name](), key=lambda run: run.facts.submitted_at)
