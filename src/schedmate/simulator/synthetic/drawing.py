"""Draws which training each job of a trace might have been, with numbers that explain a stated
share of how long jobs take."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from schedmate.model import JobState
from schedmate.simulator.synthetic.endings import hung_s, reasons
from schedmate.simulator.synthetic.people import COMPLETED, Copy, Person, Shelf, name_of, style
from schedmate.simulator.synthetic.projects import bank
from schedmate.simulator.synthetic.workload import (
    Assumptions,
    SyntheticSubmission,
    SyntheticWorkload,
)
from schedmate.simulator.traces.columns import STATES, Coded, Floats, TraceColumns

_STREAM = 1
"""Chance of its own: time limits are drawn by the same seed, and must tell nothing of it."""
_FAILED = STATES.index(JobState.FAILED)
_LEAST_S = 1e-3
_SHORTEST_S = 1.0
"""Shorter run times count as this one where logarithms of them are compared."""
_STARTUP_SHARE = 0.5
"""Of its first run that a project's start-up takes at most: a job of ten seconds had little to
load."""
_STARTUP_SPREAD = 0.2
_STARTUP_MOST = 0.75
_BEYOND_SPREAD = 0.7
_RATE_CHANGES = 0.3
_ROUND = 10.0


def draw_workload(columns: TraceColumns, *, seed: int, **assumed: float) -> SyntheticWorkload:
    """Give every job a project, numbers and code; `assumed` are fields of `Assumptions`.

    The same trace, seed and assumptions give the same workload everywhere. Which project and which
    numbers a job gets depends on its user, its GPUs and its stated time (`stated_seconds`): on
    nothing else of how long it takes or how it ends.
    """
    assume = Assumptions(**assumed)
    rng = np.random.default_rng([seed, len(columns), _STREAM])
    stated = stated_seconds(columns.duration, assume.explained, rng)
    drawn = _Drawn.of(columns, stated, assume, rng)
    for job in range(len(columns)):
        drawn.draw(job)
    return _workload(columns, drawn, rng)


def stated_seconds(durations: Floats, explained: float, rng: np.random.Generator) -> Floats:
    """What the numbers in each job's code come to.

    Their logarithm explains the share `explained` of the variance of log durations, with slope one:
    twice the steps take twice the time, times chance. Beside that it is independent of everything.
    """
    logs = np.log(np.maximum(durations, _SHORTEST_S))
    if not len(logs):
        return logs
    middle, chance = logs.mean(), math.sqrt(explained * (1 - explained)) * logs.std()
    off = chance * rng.standard_normal(len(logs))
    return np.asarray(np.exp(middle + explained * (logs - middle) + off))


@dataclass(slots=True)
class _Drawn:
    """What was given to the jobs so far, and whose projects there are."""

    assume: Assumptions
    stated: list[float]
    seconds: list[float]
    gpus: list[int]
    status: list[int]
    users: list[int]
    chances: list[list[float]]
    normals: list[list[float]]
    people: dict[int, Person]
    shelf: Shelf = field(default_factory=Shelf)
    copies: int = 0
    rows: list[tuple[float, ...]] = field(default_factory=list)
    names: list[str] = field(default_factory=list)

    @classmethod
    def of(
        cls, columns: TraceColumns, stated: Floats, assume: Assumptions, rng: np.random.Generator
    ) -> _Drawn:
        jobs_of = Counter(columns.user.codes.tolist())
        return cls(
            assume=assume,
            stated=stated.tolist(),
            seconds=np.maximum(columns.duration, _LEAST_S).tolist(),
            gpus=columns.gpus.tolist(),
            status=columns.status.tolist(),
            users=columns.user.codes.tolist(),
            chances=rng.random((len(columns), 10)).tolist(),
            normals=rng.standard_normal((len(columns), 3)).tolist(),
            people={user: Person.with_jobs(jobs) for user, jobs in jobs_of.items()},
        )

    def draw(self, job: int) -> None:
        person, chance = self.people[self.users[job]], self.chances[job]
        copy = None
        if chance[0] < self.assume.resubmission:
            copy = person.choose(self.stated[job], self.gpus[job], chance=chance[1])
        if copy is None:
            copy = self._new_copy(job)
        else:
            self._edit(copy, job)
        self._number(copy, job)
        person.used(copy)

    def _new_copy(self, job: int) -> Copy:
        chance, stated = self.chances[job], self.stated[job]
        which = self.shelf.choose(stated, self.gpus[job], chance=chance[2])
        project = bank()[which]
        own = chance[3] < self.assume.own_copies
        self.copies += own
        return Copy(
            project=which,
            number=self.copies if own else 0,
            log_speed=self.assume.copy_spread * self.normals[job][1] if own else 0.0,
            name=style(project, chance[4]),
            readable=chance[5] >= self.assume.unread,
            batch=float(project.batch or 1),
            rate=project.rate,
            startup_s=min(project.startup_s, _STARTUP_SHARE * stated),
        )

    def _edit(self, copy: Copy, job: int) -> None:
        chance, assume = self.chances[job], self.assume
        failed = copy.ended == _FAILED
        if chance[2] < (assume.edits_after_failure if failed else assume.edits):
            copy.version += 1
            if chance[3] < assume.telling_edits:
                copy.log_speed += assume.edit_spread * self.normals[job][1]
        if chance[4] < assume.batch_changes and copy.kind.batch:
            factor = 2.0 if chance[4] < assume.batch_changes / 2 else 0.5
            within = copy.kind.batch / 4 <= copy.batch * factor <= copy.kind.batch * 4
            copy.batch = max(1.0, round(copy.batch * (factor if within else 1 / factor)))

    def _number(self, copy: Copy, job: int) -> None:
        """Its length such that it comes to the stated time, and the pace of this very run."""
        gpus, usual, last = self.gpus[job], copy.unit_s(self.gpus[job]), copy.length
        left = max(self.stated[job] - copy.startup_s, (1 - _STARTUP_MOST) * self.stated[job])
        copy.length = _rounded(left / usual)
        if copy.length == last and self.chances[job][6] < _RATE_CHANGES:
            copy.rate = _rate(copy, self.chances[job][7])
        startup = self._startup(copy, job)
        copy.ran(gpus, copy.startup_s + copy.length * usual, self.status[job])
        self.names.append(name_of(copy.name, copy.runs))
        self.rows.append(
            (
                copy.project,
                copy.number,
                copy.version,
                copy.length,
                copy.batch,
                copy.rate,
                self._read(copy, job),
                startup,
                self._pace(copy.length, usual, startup, job),
                copy.startup_s + copy.length * usual,
            )
        )

    def _pace(self, length: float, usual: float, startup: float, job: int) -> float:
        """Seconds a unit took: the trace's own time where it came to its end, else such that it
        had not come to it yet."""
        seconds = self.seconds[job]
        if self.status[job] == COMPLETED:
            return (seconds - startup) / length
        if startup + length * usual > seconds:
            return usual
        whole = seconds * (1 + math.exp(_BEYOND_SPREAD * self.normals[job][2]))
        return max(usual, (whole - startup) / length)

    def _startup(self, copy: Copy, job: int) -> float:
        usual = copy.startup_s * math.exp(_STARTUP_SPREAD * self.normals[job][0])
        if self.status[job] != COMPLETED:
            return usual  # it may have died before it had started
        return min(usual, _STARTUP_MOST * self.seconds[job])

    def _read(self, copy: Copy, job: int) -> float:
        if not copy.readable:
            return math.nan
        wrong = self.chances[job][9] < self.assume.wrong_records
        return float(copy.kind.length) if wrong else copy.length


def _rounded(length: float) -> float:
    """As people write numbers: whole, and two digits of them."""
    if length < _ROUND:
        return max(1.0, float(round(length)))
    unit = 10.0 ** (math.floor(math.log10(length)) - 1)
    return float(round(length / unit) * unit)


def _rate(copy: Copy, chance: float) -> float:
    return float(f"{copy.kind.rate * (0.1, 0.3, 1.0, 3.0)[int(chance * 4)]:.2g}")


def _workload(columns: TraceColumns, drawn: _Drawn, rng: np.random.Generator) -> SyntheticWorkload:
    *work, read, startup, unit, stated = np.array(drawn.rows).reshape(-1, 10).T
    project, copy, version = (each.astype(np.int64) for each in work[:3])
    planned = np.where(columns.status == COMPLETED, columns.duration, startup + work[3] * unit)
    reason = reasons(columns, rng)
    own = any(columns.name.words)
    return SyntheticWorkload(
        names=columns.name if own else Coded.of(drawn.names),
        submission=SyntheticSubmission(project, copy, version, work[3], work[4], work[5], read),
        startup_s=startup,
        unit_s=unit,
        stated_s=stated,
        planned_s=planned,
        fails_at_s=np.where(columns.status == COMPLETED, np.inf, columns.duration),
        hang_s=hung_s(columns, reason, rng),
        reason=reason,
        log_every_s=_of_project("log_s")[project],
        checkpoint_every_s=_of_project("checkpoint_s")[project],
        utilization=_varied(_of_project("utilization")[project], rng).clip(0.02, 1.0),
        memory_mb=_memory(project, work[4], rng),
        gpu_exponent=_of_project("gpu_exponent")[project],
        explained=drawn.assume.explained,
    )


def _of_project(name: str) -> Floats:
    return np.array([getattr(project, name) for project in bank()], np.float64)


def _memory(project: np.ndarray, batch: Floats, rng: np.random.Generator) -> Floats:
    """A third of it is the model's, the rest goes with the batch."""
    usual = np.array([float(each.batch or 1) for each in bank()])[project]
    return _varied(_of_project("memory_mb")[project] * (1 + 2 * batch / usual) / 3, rng)


def _varied(values: Floats, rng: np.random.Generator) -> Floats:
    return np.asarray(values * np.exp(0.05 * rng.standard_normal(len(values))))
