"""Whether a user gains by a choice or a lie: each strategy beside an honest twin, in one queue.

    python -m bench.proof.strategies
    python -m bench.proof.strategies --only "opts out" --seeds 0    # a trial

Two users submit the same 200 jobs, a day apart at most, among 600 of others, to a simulated Slurm
beside which the decision engine orders by its own predictions. One of the two is honest, the other
follows the strategy. A wait is the time from submission to the end of the work less the time that
it runs; of a job that was split, until the last of its parts. `gain` is by how much the
strategist's mean wait is shorter than the twin's, `alone` the same beside a Slurm that nobody
orders: what the scheduler itself rewards. The mean over seeds, with the standard error. At most
2 % may be due to SchedMate.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final, Literal, TypeVar

import numpy as np

from bench.command import command_line
from schedmate.core import DecisionEngine, DecisionLimits
from schedmate.model import Finding, Fingerprint, Job, JobState, PastRun, Request, Workload
from schedmate.policies import DEFAULT_ORDERING, ordering
from schedmate.policies.slurm import Slurm
from schedmate.policies.slurm_parameters import SlurmParameters
from schedmate.simulator import columns_of
from schedmate.simulator.engine.cluster import GpuPool, Plain
from schedmate.simulator.engine.engine import SimulationEngine
from schedmate.simulator.engine.steering import Steered
from schedmate.simulator.estimators.advisor import CodePredictor
from schedmate.simulator.estimators.base import unknown
from schedmate.simulator.estimators.job_readings import RecordedReadings
from schedmate.simulator.estimators.online import LearntAdvisor
from schedmate.simulator.experiments.execute import job_columns
from schedmate.simulator.shell.shell import SimulatedDaemon
from schedmate.simulator.traces import TraceJob

T = TypeVar("T")
GPUS = 16
MOST_GAIN = 0.02
"""Of the twin's mean wait may a strategist's be shorter by."""
_TWINS = ("honest", "strategist")
_OTHERS, _JOBS, _EACH, _PAST = 8, 200, 75, 30
_LOAD = 1.05
_HOUR_S = 3600.0
_PRIORITY = SlurmParameters(
    weight_age=1000.0, weight_fairshare=0.0, weight_job_size=0.0, weight_partition=100_000.0
)
_AT_SUBMISSION: Final = 500
"""What the submit hook gives: the middle of a thousand numbers."""
_APART_S = 24 * _HOUR_S
_OWNER = -1
"""The purpose of a call in which the strategist acts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """A job as it is meant; its owner may submit it otherwise."""

    user: str
    code: int
    epochs: int
    gpus: int
    submitted: float
    duration: float
    limit: float
    name: str
    stated_epochs: int | None = None
    readable: bool = True
    other_code: bool = False
    """Its files are others each time."""
    comment: str = ""
    nice: int = 0
    hook: bool = True
    parts: int = 1
    parts_apart_s: float = 0.0
    held_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    name: str
    disguise: Callable[[Work, np.random.Generator], Work] = lambda work, _: work
    act: Literal["reset", "resubmit"] | None = None
    """What the owner of a waiting job does: set its nice number to 0, or cancel and submit it."""
    acts_every_s: float = math.inf
    stops_after: float = math.inf
    """Submits again after such a share of the work: what a tiny limit makes of a job."""


def _split(work: Work, _: np.random.Generator, *, parts: int = 4, apart_s: float = 0.0) -> Work:
    return replace(
        work,
        parts=parts,
        parts_apart_s=apart_s,
        epochs=max(1, work.epochs // parts),
        duration=work.duration / parts,
        limit=work.limit / parts,
    )


def _renamed(work: Work, rng: np.random.Generator) -> Work:
    return replace(work, name=f"run-{rng.bytes(6).hex()}")


def _hidden(work: Work, rng: np.random.Generator, *, longer_than_s: float = 0.0) -> Work:
    if work.duration <= longer_than_s:
        return work
    return replace(_renamed(work, rng), readable=False, other_code=True)


STRATEGIES: Final = (
    Strategy(name="honest, too"),
    Strategy(name="opts out", disguise=lambda work, _: replace(work, comment="schedmate=off")),
    Strategy(name="nice 1", disguise=lambda work, _: replace(work, nice=1)),
    Strategy(
        name="opts out, nice 1, another name each time",
        disguise=lambda work, rng: replace(_renamed(work, rng), nice=1, comment="schedmate=off"),
    ),
    Strategy(name="another job name each time", disguise=_renamed),
    Strategy(
        name="another script and directory each time",
        disguise=lambda work, rng: replace(_renamed(work, rng), other_code=True),
    ),
    Strategy(name="hides all code", disguise=_hidden),
    Strategy(
        name="hides the code of long jobs",
        disguise=partial(_hidden, longer_than_s=2 * _HOUR_S),
    ),
    Strategy(
        name="states 1 epoch, runs all", disguise=lambda work, _: replace(work, stated_epochs=1)
    ),
    Strategy(name="splits into 4 jobs at once", disguise=_split),
    Strategy(name="splits into 4 jobs, 15 minutes apart", disguise=partial(_split, apart_s=900.0)),
    Strategy(
        name="asks for a quarter of the time, again and again",
        disguise=lambda work, _: replace(work, limit=work.duration / 4),
        stops_after=0.25,
    ),
    Strategy(
        name="a fancy comment",
        disguise=lambda work, _: replace(work, comment="urgent schedmate=first nice=-1"),
    ),
    Strategy(name="cancels and submits again every hour", act="resubmit", acts_every_s=_HOUR_S),
    Strategy(
        name="submits held, releases later", disguise=lambda work, _: replace(work, held_s=300.0)
    ),
    Strategy(name="avoids the hook", disguise=lambda work, _: replace(work, hook=False)),
    Strategy(name="takes its number back every hour", act="reset", acts_every_s=_HOUR_S),
)


def works(rng: np.random.Generator) -> tuple[list[Work], list[Work]]:
    """The past, and what comes; of the twins the same."""
    users = [f"user{number}" for number in range(_OTHERS)]
    past = [work for user in (*users, "twin") for work in _of_user(user, _PAST, rng)]
    coming = [work for user in users for work in _of_user(user, _EACH, rng)]
    coming += _of_user("twin", _JOBS, rng)
    asked = sum(_copies(work) * work.duration * work.gpus for work in coming)
    span = asked / (GPUS * _LOAD)
    placed = [replace(work, submitted=float(rng.uniform(0.0, span))) for work in coming]
    before = [replace(work, submitted=-(len(past) - n) * _HOUR_S) for n, work in enumerate(past)]
    return before, sorted(placed, key=lambda work: work.submitted)


def _copies(work: Work) -> int:
    return len(_TWINS) if work.user == "twin" else 1


def _of_user(user: str, count: int, rng: np.random.Generator) -> list[Work]:
    """Three codes, each with an epoch of its own length; what differs is how many epochs."""
    own = np.random.default_rng([sum(user.encode()), 3])
    paces = own.lognormal(math.log(240.0), 1.0, 3)
    found = []
    for _ in range(count):
        code, epochs = int(rng.integers(3)), int(rng.choice((1, 2, 4, 8, 16, 32, 64)))
        duration = float(60.0 + paces[code] * epochs * rng.lognormal(0.0, 0.15))
        asked = duration * rng.uniform(1.5, 6.0)
        found.append(
            Work(
                user=user,
                code=code,
                epochs=epochs,
                gpus=int(rng.choice((1, 1, 1, 2, 4))),
                submitted=0.0,
                duration=duration,
                limit=math.ceil(asked / 1800.0) * 1800.0,
                name=f"train{code}",
            )
        )
    return found


@dataclass(slots=True)
class Queue:
    """All that is submitted, and which work of a twin each job is a part of."""

    jobs: list[TraceJob] = field(default_factory=list)
    runs: list[PastRun] = field(default_factory=list)
    nice: list[int] = field(default_factory=list)
    hook: list[bool] = field(default_factory=list)
    comments: dict[int, str] = field(default_factory=dict)
    part_of: list[tuple[str, int] | None] = field(default_factory=list)
    submitted: list[float] = field(default_factory=list)

    def submit(self, work: Work, number: int, part_of: tuple[str, int] | None) -> None:
        job, submitted = len(self.jobs), work.submitted + work.held_s
        self.jobs.append(
            TraceJob(
                job_id=str(job),
                user=work.user,
                submit_time=submitted,
                duration=work.duration,
                gpus=work.gpus,
                name=work.name,
                group="main",
                time_limit=work.limit,
            )
        )
        self.runs.append(_read(work, number, job))
        self.nice.append(work.nice)
        self.hook.append(work.hook)
        if work.comment:
            self.comments[job] = work.comment
        self.part_of.append(part_of)
        self.submitted.append(work.submitted)

    def coming(self, first: int) -> Queue:
        """All from this job on, which is then the first."""
        comments = {job - first: words for job, words in self.comments.items()}
        lists = (self.jobs, self.runs, self.nice, self.hook)
        jobs, runs, nice, hook = (each[first:] for each in lists)
        parts, submitted = self.part_of[first:], self.submitted[first:]
        return Queue(jobs, runs, nice, hook, comments, parts, submitted)  # type: ignore[arg-type]


def _read(work: Work, number: int, job: int) -> PastRun:
    """What is read of it at its submission; nothing where it must not be read."""
    stated = work.epochs if work.stated_epochs is None else work.stated_epochs
    code = f"{work.user}-{number if work.other_code else work.code}"
    read = work.readable and "schedmate=off" not in work.comment
    unreadable = None if "schedmate=off" in work.comment else Fingerprint(code=code, arguments="")
    return PastRun(
        job=Job(
            id=str(job),
            name=work.name,
            user=work.user,
            state=JobState.COMPLETED,
            workdir="/",
            request=Request(gpus=work.gpus, time_limit_s=work.limit, partition="main"),
            submit_time=work.submitted,
            start_time=work.submitted,
            end_time=work.submitted + work.duration,
        ),
        fingerprint=Fingerprint(code=code, arguments=f"--epochs {stated}") if read else unreadable,
        workload=_stated(stated, work) if read else Workload(),
    )


def _said(value: T) -> Finding[T]:
    return Finding(value=value, source="code")


def _stated(epochs: int, work: Work) -> Workload:
    return Workload(
        framework=_said("pytorch"),
        model=_said(f"net{work.code}"),
        epochs=_said(float(epochs)),
        batch_size=_said(32),
    )


def queue_of(strategy: Strategy, seed: int, *, swapped: bool) -> tuple[Queue, list[float]]:
    """With the past before it, and when the jobs of that had ended.

    The twins submit the same up to a day apart, now the one first and now the other: `swapped` each
    has the moments of the other.
    """
    past, coming = works(np.random.default_rng(seed))
    rng, disguises = np.random.default_rng([seed, 1]), np.random.default_rng([seed, 2])
    queue = Queue()
    for number, work in enumerate(past):
        for user in _TWINS if work.user == "twin" else (work.user,):
            queue.submit(replace(work, user=user), number, None)
    ends = [job.submit_time + job.duration for job in queue.jobs]
    shown: list[tuple[Work, int, tuple[str, int] | None]] = []
    for number, work in enumerate(coming):
        if work.user != "twin":
            shown.append((work, number, None))
            continue
        later = float(rng.uniform(0.0, _APART_S))
        for place, user in enumerate(_TWINS if (number % 2 == 1) is swapped else _TWINS[::-1]):
            own = replace(work, user=user, submitted=work.submitted + place * later)
            seen = strategy.disguise(own, disguises) if user == "strategist" else own
            shown += [
                (
                    replace(seen, held_s=seen.held_s + part * seen.parts_apart_s),
                    number,
                    (user, number),
                )
                for part in range(seen.parts)
            ]
    for submission in sorted(shown, key=lambda each: each[0].submitted + each[0].held_s):
        queue.submit(*submission)
    return queue, ends


class Owner:
    """Fulfils `Beside`: the daemon, if there is one, and a strategist who acts on own jobs."""

    def __init__(
        self, daemon: SimulatedDaemon | None, strategy: Strategy, queue: Queue, nice: Sequence[int]
    ) -> None:
        self._daemon = daemon
        self._strategy = strategy
        self._queue = queue
        self._nice = nice
        self._running: set[int] = set()
        self._known: set[int] = set()

    def begin(self, scheduler: Steered) -> None:
        assert isinstance(scheduler, SimulationEngine)
        self._scheduler = scheduler
        if self._daemon is not None:
            self._daemon.begin(scheduler)

    def submitted(self, job: int) -> None:
        if job in self._known:  # again: with the number of a new one
            self._scheduler.set_nice(job, self._nice[job])
        else:
            self._call_in(self._strategy.acts_every_s, job)
        self._known.add(job)
        if self._daemon is not None:
            self._daemon.submitted(job)

    def started(self, job: int) -> None:
        self._running.add(job)
        self._call_in(self._strategy.stops_after * self._queue.jobs[job].duration, job)
        if self._daemon is not None:
            self._daemon.started(job)

    def ended(self, job: int, *, killed: bool) -> None:
        self._running.discard(job)
        self._known.discard(job)
        if self._daemon is not None:
            self._daemon.ended(job, killed=killed)

    def preempted(self, job: int) -> None:
        raise AssertionError(f"nothing is preempted here: job {job}")

    def failed(self, job: int, nodes: Sequence[int]) -> None:
        raise AssertionError(f"no node fails here: job {job} on {nodes}")

    def called(self, job: int, purpose: int) -> None:
        if purpose == _OWNER:
            self._act(job)
        elif self._daemon is not None:
            self._daemon.called(job, purpose)

    def _act(self, job: int) -> None:
        if job in self._running and self._strategy.stops_after < 1.0:
            self._running.discard(job)
            self._scheduler.resubmit(job, 1.0)
        elif job in self._known and job not in self._running:
            self._call_in(self._strategy.acts_every_s, job)
            if self._strategy.act == "reset":
                self._scheduler.set_nice(job, 0)
                if self._daemon is not None:
                    self._daemon.changed(job)
            elif self._strategy.act == "resubmit":
                self._scheduler.jobs.submit[job] = self._scheduler.now
                self.submitted(job)

    def _call_in(self, seconds: float, job: int) -> None:
        part = self._queue.part_of[job]
        if part is not None and part[0] == "strategist" and seconds < math.inf:
            self._scheduler.call_at(self._scheduler.now + seconds, job, _OWNER)


def mean_waits(
    strategy: Strategy, seed: int, *, ordered: bool, hook: bool, swapped: bool
) -> list[float]:
    """Of the honest twin and of the strategist."""
    queue, ends = queue_of(strategy, seed, swapped=swapped)
    every = columns_of(queue.jobs)
    first = len(ends)
    columns = every.take(np.arange(len(every)) >= first)
    coming = queue.coming(first)
    nice = [
        own + (_AT_SUBMISSION if ordered and hook and through else 0)
        for own, through in zip(coming.nice, coming.hook, strict=True)
    ]
    seen = replace(job_columns(columns, unknown(columns)), nice=list(nice))
    daemon = None
    if ordered:
        predictor = CodePredictor(RecordedReadings(queue.runs))
        learnt = LearntAdvisor(predictor, every, np.array(ends), None)
        limits = DecisionLimits(nice_at_submission=_AT_SUBMISSION if hook else 0)
        daemon = SimulatedDaemon(
            DecisionEngine(ordering(DEFAULT_ORDERING), limits),
            columns,
            predictor=learnt.begin(columns),
            comments=coming.comments,
        )
    outcome = SimulationEngine(
        columns,
        seen,
        Slurm(_PRIORITY),
        GpuPool(GPUS),
        physics=Plain(columns.gpus.tolist()),
        restart_s=0.0,
        beside=Owner(daemon, strategy, coming, nice),
    ).run()
    waits: dict[tuple[str, int], float] = {}
    for job, part in enumerate(coming.part_of):
        if part is not None:
            wait = float(outcome.end[job]) - coming.jobs[job].duration - coming.submitted[job]
            waits[part] = max(waits.get(part, 0.0), wait)
    return [
        float(np.mean([wait for (whose, _), wait in waits.items() if whose == user]))
        for user in _TWINS
    ]


@dataclass(frozen=True, slots=True)
class Gain:
    """Over seeds: of the mean wait, and what of it the scheduler alone gives."""

    hours: float
    """That the honest twin waits."""
    mean: float
    error: float
    alone: float

    @property
    def by_schedmate(self) -> float:
        return self.mean - max(0.0, self.alone)


def _both_ways(strategy: Strategy, seed: int, *, ordered: bool, hook: bool) -> list[float]:
    """With the moments of submission of either."""
    runs = [
        mean_waits(strategy, seed, ordered=ordered, hook=hook, swapped=swapped)
        for swapped in (False, True)
    ]
    return [sum(each) / len(runs) for each in zip(*runs, strict=True)]


def gain_of(strategy: Strategy, seeds: Sequence[int], *, hook: bool = True) -> Gain:
    with_us, without = (
        [_both_ways(strategy, seed, ordered=ordered, hook=hook) for seed in seeds]
        for ordered in (True, False)
    )
    gains = [1 - theirs / honest for honest, theirs in with_us]
    return Gain(
        hours=float(np.mean([honest for honest, _ in with_us])) / _HOUR_S,
        mean=float(np.mean(gains)),
        error=float(np.std(gains, ddof=1) / math.sqrt(len(gains))) if len(gains) > 1 else math.nan,
        alone=float(np.mean([1 - theirs / honest for honest, theirs in without])),
    )


def main() -> None:
    parser = command_line(__doc__, __spec__)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2], metavar="N")
    parser.add_argument(
        "--only", default="", metavar="WORD", help="strategies with this in the name"
    )
    parser.add_argument("--without-hook", action="store_true", help="new jobs come with their own")
    asked = parser.parse_args()
    print(f"{_JOBS} jobs each beside an honest twin: gain in mean wait, in percent")
    print(f"{'strategy':48}{'twin waits':>11}{'gain':>8}{'±':>6}{'alone':>8}{'SchedMate':>11}")
    for strategy in STRATEGIES:
        if asked.only in strategy.name:
            gain = gain_of(strategy, asked.seeds, hook=not asked.without_hook)
            percent = [100 * one for one in (gain.mean, gain.error, gain.alone, gain.by_schedmate)]
            row = "{:8.1f}{:6.1f}{:8.1f}{:11.1f}".format(*percent)
            print(f"{strategy.name:48}{gain.hours:9.1f} h{row}", flush=True)


if __name__ == "__main__":
    main()
