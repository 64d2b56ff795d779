"""One arm of the live experiment: a private Slurm on which the jobs of a plan really run.

    python -m bench.live.arm PLAN.json plain RESULT.json
    python -m bench.live.arm PLAN.json stack RESULT.json       # or another one of bench.live.arms

Owners are played here: they submit, cancel, and come back after a run that broke. With SchedMate a
daemon (`schedmate serve`) in mode `act` runs beside Slurm. Where it has levers beside the order
of the queue, owners let their jobs make way and be stopped; all else is the same.
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
from itertools import pairwise
from pathlib import Path
from statistics import median, quantiles

from bench.command import command_line
from bench.live.arms import ARMS, CLUSTER, CONSENT, DAEMONS, UNPLACED, ArmKind
from bench.live.replayed_jobs import COMES_BACK, GPUS_PER_NODE, NODES, ReplayedJob
from schedmate.core import JobAdvised, ResumeKnown
from schedmate.model import Prediction
from schedmate.service.records.event_log import opened
from schedmate.store.base import KeptEvent
from schedmate.store.sqlite import SqliteStore
from schedmate.testing.slurm_cluster import private_slurm

_LOOK_S = 1.0
_PATIENCE_S = 60.0
_SAME_S = 0.3
"""Events that are no farther apart are of one poll."""
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
    parser.add_argument("arm", choices=tuple(ARMS))
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
        kind, loads = ARMS[arm], list[float]()
        owners = Owners(jobs, root, comment=CONSENT if kind.levers else "", loads=loads)
        if kind.module:
            with daemon_of(kind, state, settings) as process:
                owners.wait_for_daemon(state / "schedmate.sqlite3")
                ask("sdiag", "--reset")
                submitted = owners.play()
                cost = _used(process.pid)
        else:
            submitted, cost = owners.play(), {}
        cost |= _asked() | {"load": sum(loads) / len(loads), "most_load": max(loads)}
        results = _results(submitted)
    return ArmResult(arm, list(results.values()), config, cost, {})


class Owners:
    """They submit when the plan has it, cancel, and come back after a run that broke."""

    def __init__(
        self,
        jobs: Sequence[ReplayedJob],
        root: Path,
        *,
        comment: str = "",
        loads: list[float] | None = None,
    ) -> None:
        """`loads` gets the load average of the machine, again and again."""
        self._root = root
        self._comment = comment
        self._loads = [] if loads is None else loads
        self._used: defaultdict[str, dict[int, int]] = defaultdict(dict)
        """By job and run: how long it has run."""
        self._due: list[tuple[float, int, bool, ReplayedJob]] = []
        self._submissions: dict[str, Submission] = {}
        self._jobs = jobs

    def wait_for_daemon(self, store: Path) -> None:
        """Until it has read a job that is held and cancelled: a daemon that starts reads slowly."""
        job_id, until = self.submit(self._jobs[0], held=True), time.time() + _PATIENCE_S
        with closing(SqliteStore(store, scheduler="slurm")) as kept:
            while kept.advice(job_id) is None and time.time() < until:
                time.sleep(0.5)
        ask("scancel", job_id)

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
                job_id = self.submit(job, again=again)
                self._submissions[job_id] = Submission(job, again)
                times[job_id] = time.time()
            if time.time() - looked >= _LOOK_S:
                looked = time.time()
                if self._look() and not self._due:
                    return {job: (each, times[job]) for job, each in self._submissions.items()}
            time.sleep(0.1)

    def submit(self, job: ReplayedJob, *, again: bool = False, held: bool = False) -> str:
        place = self._root / job.project
        return ask(
            *("sbatch", *(("--hold",) if held else ())),
            *("--parsable", "-D", str(place), "-o", f"{place}/logs/%j.log"),
            *("-N1", "-n1", f"--cpus-per-task={2 * job.gpus}", f"--gres=gpu:{job.gpus}"),
            *("--open-mode=append", f"--comment={self._comment}"),
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
        self._loads.append(os.getloadavg()[0])
        for job_id, state, used, restarts, end, nice in _queue():
            if nice not in UNPLACED:
                _placed.setdefault(job_id, time.time())
            if state in _ENDED and end is not None:
                _ends[job_id, restarts] = end
            each = self._submissions.get(job_id)
            if each is None or each.done:
                continue
            job, first = each.job, not each.again
            if state == "RUNNING":
                self._used[job_id][restarts] = used
                self._give_up(job_id, each, restarts)
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
            elif broke and first and job.fate == "completes":
                sys.stderr.write(f"job {job_id} ended {state} against the plan\n")
            each.done = True
        return left == 0

    def _give_up(self, job_id: str, each: Submission, restarts: int) -> None:
        """What is cancelled in the trace; one that hung and was run again is left alone."""
        job = each.job
        hangs = job.fate == "hangs" and not restarts
        enough = sum(self._used[job_id].values()) >= job.run_s
        stops = (job.fate == "cancelled" or hangs) and enough and not each.again
        if stops and not each.cancelled:
            each.cancelled = True
            ask("scancel", job_id)


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
def daemon_of(
    kind: ArmKind, state: Path, settings: Mapping[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    with state.with_suffix(".serve.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", kind.module, "serve"],
            env={**os.environ, **kind.settings, **settings, "SCHEDMATE_STATE_DIR": str(state)},
            stdout=log,
            stderr=log,
        )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(120)


def _used(pid: int) -> dict[str, float]:
    """By the daemon."""
    status = Path(f"/proc/{pid}/status").read_text()
    ticks = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:15]
    return {
        "cpu_s": sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK"),
        "peak_mb": int(re.findall(r"VmHWM:\s+(\d+)", status)[0]) / 1024,
        "seconds": time.time() - Path(f"/proc/{pid}").stat().st_ctime,
    }


def _asked() -> dict[str, float]:
    """Of slurmctld by the daemon and the owners, and how long its cycles took."""
    text = ask("sdiag")
    counts = {kind: re.search(rf"{kind}\s.*?count:(\d+)", text) for kind in _REQUESTS}
    cycles = re.findall(r"Mean cycle:\s+(\d+)", text) or ["0"]
    return {
        "slurmctld_cycle_ms": max(map(int, cycles)) / 1000,
        **{kind: float(match[1]) if match else 0.0 for kind, match in counts.items()},
    }


def read_store(path: Path, arm: ArmResult) -> None:
    """What was first predicted of each job's first submission, the actions of each kind, how often
    the daemon polled and what restarts were known to cost."""
    began = min(each.submitted for each in arm.jobs)
    with closing(SqliteStore(path, scheduler="slurm")) as store:
        done = [each for each in store.actions(state="done") if each.at >= began]
        arm.actions = dict(Counter(each.action.kind for each in done))
        events = [row for row in _all_events(store) if row.at >= began]
    predictions = first_predictions(events)
    arm.cost |= _polls(events) | _restarts(events)
    for result in arm.jobs:
        first = result.attempts[0].job_id if result.attempts else ""
        prediction = predictions.get(first)
        if prediction is not None and prediction.duration_s is not None:
            spread = prediction.duration_s
            result.predicted = (spread.p10, spread.p50, spread.p90)
            result.basis = prediction.basis


def _polls(events: Sequence[KeptEvent]) -> dict[str, float]:
    """Seconds between polls that saw something new: the median, and the 90th percentile."""
    times = sorted({row.at for row in events})
    apart = [after - before for before, after in pairwise(times) if after - before > _SAME_S]
    if not apart:
        return {}
    cuts = quantiles(apart, n=10)
    return {"poll_s": median(apart), "slow_poll_s": cuts[-1]}


def _restarts(events: Sequence[KeptEvent]) -> dict[str, float]:
    seen = [opened(row) for row in events if row.kind == "ResumeKnown"]
    proofs = [each.proof for each in seen if isinstance(each, ResumeKnown)]
    known = [each.restart_s for each in proofs if each.restart_s is not None]
    return {"restart_s": median(known)} if known else {}


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
