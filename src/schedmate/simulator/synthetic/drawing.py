"""Draws which training each job of a trace might have been, so that it takes the trace's own
time."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from schedmate.model import JobState
from schedmate.simulator.synthetic.endings import hung_s, reasons
from schedmate.simulator.synthetic.people import (
    COMPLETED,
    THE_SAME,
    Copy,
    Person,
    Shelf,
    name_of,
    style,
)
from schedmate.simulator.synthetic.projects import bank
from schedmate.simulator.synthetic.workload import (
    Assumptions,
    SyntheticSubmission,
    SyntheticWorkload,
)
from schedmate.simulator.traces.columns import STATES, Coded, Floats, TraceColumns

_FAILED = STATES.index(JobState.FAILED)
_LEAST_S = 1e-3
_STARTUP_SHARE = 0.5
"""Of its first run that a project's start-up takes at most: a job of ten seconds had little to
load."""
_STARTUP_SPREAD = 0.2
_STARTUP_MOST = 0.75
_FACTORS = (1 / 3, 1 / 2, 2.0, 3.0)
"""By which plans change that the trace does not tell of."""
_NEW_PLAN = 0.3
_PLAN_SPREAD = 0.7
_RATE_CHANGES = 0.3
_ROUND = 10.0


def draw_workload(columns: TraceColumns, *, seed: int, **assumed: float) -> SyntheticWorkload:
    """Give every job a project, numbers and code; `assumed` are fields of `Assumptions`.

    The same trace, seed and assumptions give the same workload everywhere.
    """
    assume = Assumptions(**assumed)
    rng = np.random.default_rng([seed, len(columns)])
    laid = _Laid.on(columns, assume, rng)
    for job in range(len(columns)):
        laid.lay(job)
    return _workload(columns, laid, rng)


@dataclass(slots=True)
class _Laid:
    """What was given to the jobs so far, and whose projects there are."""

    assume: Assumptions
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
    def on(cls, columns: TraceColumns, assume: Assumptions, rng: np.random.Generator) -> _Laid:
        jobs_of = Counter(columns.user.codes.tolist())
        return cls(
            assume=assume,
            seconds=np.maximum(columns.duration, _LEAST_S).tolist(),
            gpus=columns.gpus.tolist(),
            status=columns.status.tolist(),
            users=columns.user.codes.tolist(),
            chances=rng.random((len(columns), 10)).tolist(),
            normals=rng.standard_normal((len(columns), 4)).tolist(),
            people={
                user: Person.with_jobs(jobs, assume.early_ends) for user, jobs in jobs_of.items()
            },
        )

    def lay(self, job: int) -> None:
        person, chance = self.people[self.users[job]], self.chances[job]
        copy = None
        if chance[0] < self.assume.resubmission:
            copy = person.choose(
                self.seconds[job], self.gpus[job], self.status[job], chance=chance[1]
            )
        if copy is None:
            copy = self._new_copy(job)
        else:
            self._edit(copy, job)
        self._plan(copy, job)
        person.used(copy)

    def _new_copy(self, job: int) -> Copy:
        chance, normal = self.chances[job], self.normals[job]
        to_its_end = self.status[job] == COMPLETED
        likely = self.seconds[job] * (1.0 if to_its_end else math.exp(abs(normal[3])))
        which = self.shelf.choose(likely, self.gpus[job], chance=chance[2])
        project = bank()[which]
        own = chance[3] < self.assume.own_copies
        self.copies += own
        copy = Copy(
            project=which,
            number=self.copies if own else 0,
            log_speed=self.assume.copy_spread * normal[1] if own else 0.0,
            name=style(project, chance[4]),
            readable=chance[5] >= self.assume.unread,
            batch=float(project.batch or 1),
            rate=project.rate,
            startup_s=min(project.startup_s, _STARTUP_SHARE * likely),
            gpus=self.gpus[job],
        )
        usual = (likely - copy.startup_s) / copy.unit_s(copy.gpus)
        copy.length = copy.usual = _rounded(usual)
        return copy

    def _edit(self, copy: Copy, job: int) -> None:
        chance, assume = self.chances[job], self.assume
        again = copy.again(self.status[job], self.seconds[job], self.gpus[job])
        mended = copy.ended == _FAILED and not again
        if chance[2] < (assume.edits_after_failure if mended else assume.edits):
            copy.version += 1
            if chance[3] < assume.telling_edits:
                copy.log_speed += assume.edit_spread * self.normals[job][1]
        if chance[4] < assume.batch_changes and copy.kind.batch and not again:
            factor = 2.0 if chance[4] < assume.batch_changes / 2 else 0.5
            within = copy.kind.batch / 4 <= copy.batch * factor <= copy.kind.batch * 4
            copy.batch = max(1.0, round(copy.batch * (factor if within else 1 / factor)))

    def _plan(self, copy: Copy, job: int) -> None:
        """Its numbers, and what a unit of its length took in this very run."""
        seconds, gpus, ended = self.seconds[job], self.gpus[job], self.status[job]
        startup = self._startup(copy, job)
        unit = copy.unit_s(gpus) * self._noise(job)
        if ended == COMPLETED:
            self._to_its_end(copy, (seconds - startup) / unit, job)
            unit = (seconds - startup) / copy.length
            copy.usual = copy.length
        else:
            self._longer_than(copy, max(0.0, seconds - startup) / unit, job)
        copy.planned(gpus, startup + copy.length * unit)
        copy.ran(ended, seconds)
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
                unit,
            )
        )

    def _to_its_end(self, copy: Copy, wanted: float, job: int) -> None:
        """The same numbers as last time where those explain it, else those that do."""
        if copy.runs == 0 or abs(math.log(wanted / copy.length)) > THE_SAME:
            copy.length = _rounded(wanted)
        elif self.chances[job][6] < _RATE_CHANGES:
            copy.rate = _rate(copy, self.chances[job][7])

    def _longer_than(self, copy: Copy, done: float, job: int) -> None:
        """As usual or changed by a factor, but longer than what was done; the same once more where
        the same went wrong."""
        chance = self.chances[job]
        if not copy.again(self.status[job], self.seconds[job], self.gpus[job]):
            factor = _FACTORS[int(chance[7] * len(_FACTORS))] if chance[6] < _NEW_PLAN else 1.0
            copy.length = _rounded(copy.usual * factor)
        if copy.length <= done:
            copy.length = _rounded(done * (1 + math.exp(_PLAN_SPREAD * self.normals[job][2])))
        if copy.length <= done:
            copy.length = math.ceil(done + 1)

    def _startup(self, copy: Copy, job: int) -> float:
        usual = copy.startup_s * math.exp(_STARTUP_SPREAD * self.normals[job][0])
        if self.status[job] != COMPLETED:
            return usual  # it may have died before it had started
        return min(usual, _STARTUP_MOST * self.seconds[job])

    def _noise(self, job: int) -> float:
        chance, slow = self.chances[job][8], self.assume.slow_runs
        beside = 1 + chance / slow if chance < slow else 1.0
        return beside * math.exp(self.assume.noise * self.normals[job][3])

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


def _workload(columns: TraceColumns, laid: _Laid, rng: np.random.Generator) -> SyntheticWorkload:
    *work, read, startup, unit = np.array(laid.rows).reshape(-1, 9).T
    project, copy, version = (each.astype(np.int64) for each in work[:3])
    planned = np.where(columns.status == COMPLETED, columns.duration, startup + work[3] * unit)
    reason = reasons(columns, rng)
    own = any(columns.name.words)
    return SyntheticWorkload(
        names=columns.name if own else Coded.of(laid.names),
        submission=SyntheticSubmission(project, copy, version, work[3], work[4], work[5], read),
        startup_s=startup,
        unit_s=unit,
        planned_s=planned,
        fails_at_s=np.where(columns.status == COMPLETED, np.inf, columns.duration),
        hang_s=hung_s(columns, reason, rng),
        reason=reason,
        log_every_s=_of_project("log_s")[project],
        checkpoint_every_s=_of_project("checkpoint_s")[project],
        utilization=_varied(_of_project("utilization")[project], rng).clip(0.02, 1.0),
        memory_mb=_memory(project, work[4], rng),
        gpu_exponent=_of_project("gpu_exponent")[project],
    )


def _of_project(name: str) -> Floats:
    return np.array([getattr(project, name) for project in bank()], np.float64)


def _memory(project: np.ndarray, batch: Floats, rng: np.random.Generator) -> Floats:
    """A third of it is the model's, the rest goes with the batch."""
    usual = np.array([float(each.batch or 1) for each in bank()])[project]
    return _varied(_of_project("memory_mb")[project] * (1 + 2 * batch / usual) / 3, rng)


def _varied(values: Floats, rng: np.random.Generator) -> Floats:
    return np.asarray(values * np.exp(0.05 * rng.standard_normal(len(values))))
