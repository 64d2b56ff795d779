"""One arm of the live experiment: a private Slurm on which the jobs of a plan really run.

    python -m bench.live.arm PLAN.json plain RESULT.json
    python -m bench.live.arm PLAN.json schedmate RESULT.json
    python -m bench.live.arm PLAN.json history RESULT.json

Owners are played here: they submit, cancel, and come back after a run that broke. With SchedMate a
daemon (`schedmate serve`) in mode `act` runs beside Slurm; all else is the same. `history` is the
same daemon with predictions that a site could have without code (`bench.live.history_control`).
"""

from __future__ import annotations

import heapq
import json
import os
import pwd
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from bench.command import command_line
from bench.live.replayed_jobs import COMES_BACK, GPUS_PER_NODE, NODES, SPEED, ReplayedJob
from schedmate.core import JobAdvised
from schedmate.core.fairness import FairnessLimits
from schedmate.model import Prediction
from schedmate.service.records.event_log import opened
from schedmate.store.base import KeptEvent
from schedmate.store.sqlite import SqliteStore
from schedmate.testing.slurm_cluster import private_slurm

_LOOK_S = 1.0
_WEEK_MINUTES = round(7 * 24 * 60 / SPEED)
CLUSTER = {
    "SchedulerParameters": "bf_interval=1,bf_continue,bf_resolution=1,sched_interval=1,"
    "batch_sched_delay=1",
    "PriorityWeightAge": "1000",
    "PriorityWeightFairshare": "10000",
    "PriorityWeightJobSize": "1000",
    "PriorityWeightPartition": "50000",
    "PriorityMaxAge": f"0-00:{_WEEK_MINUTES}:00",
    "PriorityDecayHalfLife": f"0-00:{_WEEK_MINUTES}:00",
    "PriorityCalcPeriod": "1",
    "PartitionName": "main Nodes=ALL Default=YES MaxTime=120 DefaultTime=60 DefMemPerCPU=100 "
    "TRESBillingWeights=CPU=0.0,GRES/gpu=1.0 State=UP",
}
"""Weights of the example in Slurm's manual, a week being as much shorter as all else; the
partition's weight is the room that nice numbers need above Slurm's floor."""
DAEMON = {
    "SCHEDMATE_SCHEDULER": "slurm",
    "SCHEDMATE_MODE": "act",
    "SCHEDMATE_SETTLE_S": "0",
    "SCHEDMATE_SLURM__POLL_S": "1",
    "SCHEDMATE_HANG__MINUTES": "0.15",
    "SCHEDMATE_LONGEST_WAIT_S": "15",
    "SCHEDMATE_LLM__ENABLED": "false",
    "SCHEDMATE_NICE_RANGE": "40000",
    "SCHEDMATE_FAIRNESS__LATE_HOURS": f"{FairnessLimits().late_hours / SPEED:.4f}",
}
"""The nice range is as wide as fair share weighs, over the costs that occur here. The bound
on being overtaken is as much shorter as all else."""
_PROVISIONAL = int(DAEMON["SCHEDMATE_NICE_RANGE"]) // 2
"""The number of a job that has not been read."""
PLAIN = "plain"
DAEMONS = {"schedmate": "bench.live.compressed_time", "history": "bench.live.history_control"}
"""By arm: the module that is called as `schedmate`."""
_REQUESTS = ("REQUEST_JOB_INFO", "REQUEST_BATCH_SCRIPT", "REQUEST_UPDATE_JOB")


@dataclass(slots=True)
class Submission:
    job: ReplayedJob
    again: bool = False
    cancelled: bool = False
    done: bool = False


@dataclass(slots=True)
class Attempt:
    """One run by accounting; times are seconds since the epoch."""

    job_id: str
    submit: float
    start: float | None
    end: float | None
    state: str
    nodes: str = ""


@dataclass(slots=True)
class JobResult:
    number: int
    submitted: float
    attempts: list[Attempt] = field(default_factory=list)
    predicted: tuple[float, float, float] | None = None
    basis: str = "none"
    placed_s: float | None = None
    """From its submission until Slurm showed the nice number by its prediction."""


@dataclass(slots=True)
class ArmResult:
    arm: str
    jobs: list[JobResult]
    config: str
    cost: dict[str, float]
    actions: dict[str, int]


def main() -> None:
    parser = command_line(__doc__, __spec__)
    parser.add_argument("plan", type=Path)
    parser.add_argument("arm", choices=(PLAIN, *DAEMONS))
    parser.add_argument("result", type=Path)
    options = parser.parse_args()
    os.environ["SLURM_TIME_FORMAT"] = "%s"
    plan = json.loads(options.plan.read_text())
    jobs = [ReplayedJob(**each) for each in plan["jobs"]]
    state = options.result.with_suffix(".state")
    if options.arm in DAEMONS:
        shutil.copytree(plan["state"], state, dirs_exist_ok=True)
    result = run(options.arm, jobs, Path(plan["root"]), state, plan.get("settings", {}))
    options.result.write_text(json.dumps(asdict(result)))


def run(
    arm: str, jobs: Sequence[ReplayedJob], root: Path, state: Path, settings: Mapping[str, str]
) -> ArmResult:
    with private_slurm(nodes=NODES, gpus_per_node=GPUS_PER_NODE, settings=CLUSTER) as cluster:
        cluster.directory.chmod(0o711)  # the script of a job is there, for its owner
        users = sorted({job.user for job in jobs})
        ask("sacctmgr", "-i", "add", "account", "lab")
        ask("sacctmgr", "-i", "add", "user", ",".join(users), "account=lab")
        config = ask("scontrol", "show", "config")
        if arm == PLAIN:
            submitted = Owners(jobs, root).play()
            cost: dict[str, float] = {}
        else:
            with _daemon(DAEMONS[arm], state, settings) as process:
                ask("sdiag", "--reset")
                submitted = Owners(jobs, root).play()
                cost = _cost(process.pid)
        results = _results(submitted)
    return ArmResult(arm, list(results.values()), config, cost, {})


class Owners:
    """They submit when the plan has it, cancel, and come back after a run that broke."""

    def __init__(self, jobs: Sequence[ReplayedJob], root: Path) -> None:
        self._root = root
        self._due: list[tuple[float, int, bool, ReplayedJob]] = []
        self._submissions: dict[str, Submission] = {}
        self._jobs = jobs

    def play(self) -> dict[str, tuple[Submission, float]]:
        """Until all have ended for good: every submission by its id, with its time."""
        began = time.time()
        times: dict[str, float] = {}
        for job in self._jobs:
            heapq.heappush(self._due, (began + job.at_s, job.number, False, job))
        looked = 0.0
        while True:
            while self._due and self._due[0][0] <= time.time():
                _, _, again, job = heapq.heappop(self._due)
                job_id = self._submit(job, again=again)
                self._submissions[job_id] = Submission(job, again)
                times[job_id] = time.time()
            if time.time() - looked >= _LOOK_S:
                looked = time.time()
                if self._look() and not self._due:
                    return {job: (each, times[job]) for job, each in self._submissions.items()}
            time.sleep(0.1)

    def _submit(self, job: ReplayedJob, *, again: bool) -> str:
        place = self._root / job.project
        return ask(
            *("sbatch", "--parsable", "-D", str(place), "-o", f"{place}/logs/%j.log"),
            *("-N1", "-n1", f"--cpus-per-task={2 * job.gpus}", f"--gres=gpu:{job.gpus}"),
            *(
                f"--uid={job.user}",
                f"--gid={pwd.getpwnam(job.user).pw_gid}",
                f"--time={job.limit_minutes}",
            ),
            f"--export=ALL,REPLAY={job.environment(again=again)}",
            str(place / job.script),
        ).strip()

    def _look(self) -> bool:
        """Act as owners do; whether nothing is left."""
        left = 0
        for job_id, state, used, restarts, end, nice in _queue():
            if nice not in (0, _PROVISIONAL):
                _placed.setdefault(job_id, time.time())
            if state in _ENDED and end is not None:
                _ends[job_id, restarts] = end
            each = self._submissions.get(job_id)
            if each is None or each.done:
                continue
            job = each.job
            first = not each.again and restarts == 0
            stops = job.fate in ("cancelled", "hangs") and first
            if state == "RUNNING" and stops and used >= job.run_s and not each.cancelled:
                each.cancelled = True
                ask("scancel", job_id)
            if state not in _ENDED:
                left += 1
                continue
            broke = state in ("FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL")
            if broke and first and job.fate in COMES_BACK:
                # SchedMate may queue it again before its owner has noticed
                noticed = _ended_at(job_id) + job.back_after_s
                if time.time() < noticed:
                    left += 1
                    continue
                heapq.heappush(self._due, (time.time(), job.number, True, job))
            elif broke and not each.again and restarts == 0 and job.fate == "completes":
                sys.stderr.write(f"job {job_id} ended {state} against the plan\n")
            each.done = True
        return left == 0


_ENDED = {"COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY"}
_end_times: dict[str, float] = {}


def _ended_at(job_id: str) -> float:
    """When it was first seen to have ended."""
    return _end_times.setdefault(job_id, time.time())


_ends: dict[tuple[str, int], float] = {}
"""When runs ended: accounting has the time of the requeue for one that is queued again later."""


_placed: dict[str, float] = {}
"""When jobs were first seen with a nice number of their own."""


def _queue() -> list[tuple[str, str, int, int, float | None, int]]:
    columns = "JobID:20,State:20,TimeUsed:20,RestartCnt:20,EndTime:20,Nice:20"
    rows = (line.split() for line in ask("squeue", "-h", "-tall", "-O", columns).splitlines())
    return [
        (job, state, _seconds(used), int(count), _time(end), int(nice))
        for job, state, used, count, end, nice in rows
    ]


def _seconds(used: str) -> int:
    total = 0
    for part in re.split(r"[-:]", used):
        total = total * 60 + int(part)
    return total


def _results(submitted: Mapping[str, tuple[Submission, float]]) -> dict[int, JobResult]:
    """By the number of the job: a resubmission belongs to the job that it is of."""
    found: dict[int, JobResult] = {}
    for job_id in sorted(submitted, key=lambda each: submitted[each][1]):
        each, at = submitted[job_id]
        placed = _placed.get(job_id)
        first = JobResult(each.job.number, at, placed_s=None if placed is None else placed - at)
        result = found.setdefault(each.job.number, first)
        for restarts, attempt in enumerate(_attempts().get(job_id, [])):
            ended = _ends.get((job_id, restarts), attempt.end)
            result.attempts.append(replace(attempt, end=ended if attempt.end else None))
    return found


_accounted: dict[str, list[Attempt]] = {}


def _attempts() -> dict[str, list[Attempt]]:
    if not _accounted:
        time.sleep(3.0)  # slurmdbd hears of an end a little later
        columns = "JobIDRaw,Submit,Start,End,State,NodeList"
        text = ask("sacct", "-n", "-a", "-X", "-D", "-P", "-S", "now-1days", "-o", columns)
        runs = defaultdict(list)
        for line in text.splitlines():
            job_id, submit, start, end, state, nodes = line.split("|")
            times = float(submit), _time(start), _time(end)
            runs[job_id].append(Attempt(job_id, *times, state.split()[0], nodes))
        _accounted.update(runs)
    return _accounted


def _time(text: str) -> float | None:
    return float(text) if text.isdecimal() else None


@contextmanager
def _daemon(
    module: str, state: Path, settings: Mapping[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    with state.with_suffix(".serve.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", module, "serve"],
            env={**os.environ, **DAEMON, **settings, "SCHEDMATE_STATE_DIR": str(state)},
            stdout=log,
            stderr=log,
        )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(120)


def _cost(pid: int) -> dict[str, float]:
    """What the daemon used, and what it and the owners asked of slurmctld."""
    status = Path(f"/proc/{pid}/status").read_text()
    ticks = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:15]
    text = ask("sdiag")
    counts = {kind: re.search(rf"{kind}\s.*?count:(\d+)", text) for kind in _REQUESTS}
    return {
        "cpu_s": sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK"),
        "peak_mb": int(re.findall(r"VmHWM:\s+(\d+)", status)[0]) / 1024,
        "seconds": time.time() - Path(f"/proc/{pid}").stat().st_ctime,
        **{kind: float(match[1]) if match else 0.0 for kind, match in counts.items()},
    }


def read_store(path: Path, arm: ArmResult) -> None:
    """What was first predicted of each job's first submission, and the actions of each kind."""
    with closing(SqliteStore(path, scheduler="slurm")) as store:
        arm.actions = dict(Counter(each.action.kind for each in store.actions(state="done")))
        predictions = first_predictions(_all_events(store))
    for result in arm.jobs:
        first = result.attempts[0].job_id if result.attempts else ""
        prediction = predictions.get(first)
        if prediction is not None and prediction.duration_s is not None:
            spread = prediction.duration_s
            result.predicted = (spread.p10, spread.p50, spread.p90)
            result.basis = prediction.basis


def _all_events(store: SqliteStore) -> list[KeptEvent]:
    found: list[KeptEvent] = []
    while page := store.events(after=found[-1].id if found else 0):
        found += page
    return found


def first_predictions(events: Sequence[KeptEvent]) -> dict[str, Prediction | None]:
    """By job: those that its place in the queue came from. A job that has waited long is read once
    more when it starts."""
    found: dict[str, Prediction | None] = {}
    for row in events:
        if row.kind == "JobAdvised" and row.job_id not in found:
            event = opened(row)
            advice = event.advice if isinstance(event, JobAdvised) else None
            found[row.job_id] = None if advice is None else advice.prediction
    return found


def ask(*command: str) -> str:
    answer = subprocess.run(command, check=False, capture_output=True, text=True)
    if answer.returncode:
        raise RuntimeError(f"{' '.join(command)}: {answer.stderr.strip()}")
    return answer.stdout


if __name__ == "__main__":
    main()
