"""A slice of a real trace as real jobs: small programs whose numbers decide how long they run.

The rule of the slice, fixed before any of these jobs had run. Speed, loads and the longest run were
chosen after simulations that showed gains too; they let a pair of 250 jobs end within 12 minutes:

- The trace is the cut of Philly with users and endings (15,000 jobs). The jobs from its middle on
  are replayed; the 1,500 before them are the site's history.
- An hour becomes 5 seconds; a run is at least 3 and at most 107 seconds long. A job of more than
  8 GPUs asks for a whole node of 8.
- All else is as much faster, as far as it goes: a week of PriorityMaxAge and of the half-life of
  usage, the day of the bound on being overtaken, owners' reactions, and the costs by which jobs are
  ordered. What has a smallest value has that: Slurm's main and backfill schedulers run every second
  (12 minutes of the trace, 1 and 0.5 in production), priorities are calculated every minute, limits
  are whole minutes, SchedMate looks a second after its last look. A hang is a silence of 9 seconds
  (108 minutes; 30 in production), as a rhythm must be seen before its end.
- Times of submission keep their proportions; one factor makes the jobs ask for `load` times what
  32 GPUs give while they come.
- The code of a job depends on its user and its number of GPUs alone: each pair is one project with
  its own program and its own time of a step. Its numbers (epochs, steps or samples) are those that
  make it run as long as it was meant to.
- A job that passed runs to its end. Of those that failed, seven in ten have a mistake of their own;
  three in ten meet a fault of the machine and come back. A job that was killed is cancelled by its
  owner, but a third of those of at least 40 seconds hangs from the middle of its run on, until its
  owner cancels it and submits it again. A job that ended early was meant to take longer: between
  1.1 and 3.3 times what it ran.
- Owners come back as in the trace: see `_BACK_AFTER_S`.
- Projects that have `resumable` of the jobs and of their GPU time go on from their own checkpoints,
  which they write every 4 seconds of work. Likewise `doomed` of the jobs, among those that would
  pass: from the middle of their run on their loss is no number, and they run to their end.
- Limits are habits: each project has one of a few common values, drawn among those that are long
  enough for all its jobs; one job in five asks for the next longer one. So they tell a little of
  the project and nothing of the job.
"""

from __future__ import annotations

import pwd
import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from bench.datasets import required, rows
from bench.live.programs import Project

NODES, GPUS_PER_NODE = 4, 8
GPUS = NODES * GPUS_PER_NODE
SPEED = 720.0
"""Seconds of the trace in a second here."""
SHORTEST_S, LONGEST_S, LONGEST_MEANT_S = 3.0, 107.0, 213.0
PACE_SIGMA = 0.1
"""How runs of the same numbers differ: the machine's part."""
_HANGS_FROM_S = 40.0
_COMMON_MINUTES = (1, 2, 3, 5, 10, 15, 20, 30, 45, 60)
_ABOVE_HABIT = 0.2
_BACK_SHARES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
_BACK_AFTER_S = (6.0, 6.0, 34.0, 2139.0, 48_768.0, 109_018.0, 109_018.0)
"""Quantiles of the trace: from the end of a failed run, had it started at once, to the next
submission of the same user with as many GPUs (3,806 runs)."""
_LEAST_BACK_S = 1.0
"""Owners look at their jobs once a second."""
_ORDERS = 100
_SIGN = 0.5
"""Of a doomed run, what lies before the first sign of it."""

Fate = Literal["completes", "mistake", "fault", "cancelled", "hangs", "doomed"]
COMES_BACK: tuple[Fate, ...] = ("fault", "hangs")
WASTED: tuple[Fate, ...] = ("mistake", "fault", "hangs", "doomed")


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
    resumes: bool = False
    """Goes on from its own checkpoints."""

    @property
    def project(self) -> str:
        return f"{self.user}-{self.gpus}"

    @property
    def script(self) -> str:
        return f"run-{self.number}.sh"

    @property
    def breaks_at_s(self) -> float:
        """When the run meets its fate; a job that hangs is cancelled later, and one that is doomed
        runs on."""
        return {"hangs": 0.5, "doomed": _SIGN}.get(self.fate, 1.0) * self.run_s

    @property
    def step_s(self) -> float:
        """One of its steps, and a line of its log."""
        return Project.of(self.project).step_s * self.pace

    @property
    def saves_every_s(self) -> float:
        """Seconds of a run between two checkpoints; 0 where it writes none."""
        return Project.of(self.project).save_every * self.step_s if self.resumes else 0.0

    @property
    def sound_s(self) -> float:
        """A run that meets none, by the numbers in its code."""
        project = Project.of(self.project, resumes=self.resumes)
        epochs, steps = project.epochs_and_steps(self.meant_s)
        return epochs * steps * project.step_s * self.pace

    @property
    def first_s(self) -> float:
        """Its first run, unless somebody steps in."""
        passes = self.fate in ("completes", "doomed")
        return self.sound_s if passes else min(self.run_s, self.sound_s)

    def environment(self, *, again: bool) -> str:
        """What `machine.py` reads: the fate, its time, the pace, and what is left of a fate."""
        broken = self.fate in WASTED and not again
        fate = self.fate if broken else "sound"
        return f"{fate}:{self.breaks_at_s:.2f}:{self.pace:.4f}:broken-{self.number}"


def sliced(
    jobs: int, history: int, *, load: float, resumable: float = 0.0, doomed: float = 0.0
) -> tuple[list[ReplayedJob], list[ReplayedJob]]:
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
    made = _with_levers(made, history, resumable, doomed)
    timed = [_moved(job, float(job.at_s - at[history]) * factor) for job in made]
    return timed[:history], timed[history:]


def shaken(jobs: Sequence[ReplayedJob], seed: int) -> list[ReplayedJob]:
    """The same jobs, each submitted up to 5 seconds later."""
    rng = random.Random(seed)
    moved = [_moved(job, job.at_s + rng.uniform(0.0, 5.0)) for job in jobs]
    return sorted(moved, key=lambda job: job.at_s)


def _moved(job: ReplayedJob, at_s: float) -> ReplayedJob:
    return replace(job, at_s=at_s)


def _with_levers(
    jobs: Sequence[ReplayedJob], first: int, resumable: float, doomed: float
) -> list[ReplayedJob]:
    """Which resume and which are doomed, drawn so that they have their share of the jobs from the
    first replayed one on, and of their GPU time."""
    projects = {job.project for job in jobs}
    resumes = _drawn(jobs[first:], resumable, projects, "resumes")
    passing = {str(job.number) for job in jobs if job.fate == "completes"}
    in_vain = _drawn(jobs[first:], doomed, passing, "doomed")
    made = [replace(job, resumes=job.project in resumes) for job in jobs]
    return [replace(job, fate="doomed") if str(job.number) in in_vain else job for job in made]


def _drawn(jobs: Sequence[ReplayedJob], share: float, names: Iterable[str], what: str) -> set[str]:
    """Names of projects, or numbers of jobs: the most representative of a hundred random orders,
    each taken from until it has such a share of the jobs."""
    found: list[tuple[float, set[str]]] = []
    sizes = {name: [0.0, 0.0] for name in names}
    for job in jobs:
        for name in {job.project, str(job.number)} & sizes.keys():
            sizes[name][0] += 1 / len(jobs)
            sizes[name][1] += job.run_s * job.gpus
    gpu_s = sum(job.run_s * job.gpus for job in jobs)
    for seed in range(_ORDERS):
        chosen, reached, held = set[str](), 0.0, 0.0
        for name in random.Random(f"{what} {seed}").sample(sorted(sizes), len(sizes)):
            count, time = sizes[name]
            if reached + count / 2 < share:
                chosen.add(name)
                reached, held = reached + count, held + time / gpu_s
        found.append((abs(reached - share) + abs(held - share), chosen))
    return min(found, key=lambda each: each[0])[1]


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
