"""What predictions would have been worth on a site's own past.

The runs of the store are replayed in the order in which they were submitted. Each is predicted as
`predict` would have done it then, from a scratch store that holds what had ended before; beside it
stand controls that see the same past. Cohorts, the blend of code and cohorts and calibration learn
from every end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Literal

import numpy as np

from schedmate.advisor.launch.target import Target
from schedmate.advisor.predict.cohort_model import CohortModel
from schedmate.advisor.predict.durations import estimate_duration
from schedmate.advisor.predict.jobs import EndedJob, ended_job, replay
from schedmate.advisor.predict.prediction import predict
from schedmate.advisor.predict.site_model import SiteModel
from schedmate.model import BadInput, NotFound, PastRun, Spread, Workload
from schedmate.model.sketch import sketch_of_run
from schedmate.service.usecases.backtest_controls import controls
from schedmate.service.usecases.backtest_scores import (
    Difference,
    Floats,
    Judged,
    Scores,
    best,
    block_of,
    difference,
    judged,
    scores,
)
from schedmate.service.visibility import viewer_of
from schedmate.service.wiring import open_store

if TYPE_CHECKING:
    from schedmate.config import Settings
    from schedmate.store import Store

OURS, WITHOUT_CODE, CONSTANT, MEDIAN = "schedmate", "without_code", "constant", "site_median"
Grouping = Literal["user", "partition", "basis"]
GROUPINGS: tuple[Grouping, ...] = ("user", "partition", "basis")
_MOST = 1_000_000
OnProgress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Runs of one user, of one partition, or whose prediction rests on the same."""

    name: str
    schedmate: Scores
    best_control: str
    control: Scores
    """Of this group the best, in its own favour."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Backtest:
    schema: Literal["schedmate.backtest/1"] = "schedmate.backtest/1"
    runs: int
    """That were judged."""
    learnt_from: int
    """Runs of the store that ran at all."""
    with_code: int
    """Judged runs of whose code anything was read."""
    first: float
    last: float
    """When the first and the last judged run were submitted."""
    own_only: bool
    """Whether only the runs of the user who asks are judged."""
    predictors: dict[str, Scores]
    """SchedMate, and every control that knew something, on the same runs."""
    best_control: str
    """By the share of runs within a factor of two, as `gain` is."""
    gain: Difference
    """Of SchedMate over the best control."""
    groups: dict[Grouping, tuple[Group, ...]]
    """The most runs first."""


def backtest(
    settings: Settings,
    *,
    since: float | None = None,
    by: Sequence[Grouping] = GROUPINGS,
    on_progress: OnProgress = lambda *_: None,
) -> Backtest:
    """Runs submitted from `since` on are judged; earlier ones are only learnt from."""
    viewer = viewer_of(settings)
    with closing(open_store(settings)) as store:
        runs = [run for run in store.recent_runs(limit=_MOST) if run.duration_s > 0]
    if not runs:
        raise NotFound(
            "the store has no run that has ended; schedmate history import slurm (or local, or a "
            "table of jobs) fills it"
        )
    with (
        TemporaryDirectory(prefix="schedmate-backtest-") as place,
        closing(open_store(scratch_settings(settings, Path(place)))) as empty,
    ):
        found = RunReplay(empty, runs).predicted(on_progress)
    found = [
        each
        for each in found
        if viewer.may_read(each.run.job.user)
        and (since is None or each.run.job.submit_time >= since)
    ]
    if not found:
        raise NotFound(_why_none(runs, since, operator=viewer.operator))
    return _judged(found, len(runs), by, own_only=not viewer.operator)


def scratch_settings(settings: Settings, place: Path) -> Settings:
    """Those of a store in this directory; to the site's own one nothing is written."""
    return replace(settings, state_dir=place, store_url="")


def _why_none(runs: Sequence[PastRun], since: float | None, *, operator: bool) -> str:
    if not operator:
        return "no run of yours can be judged yet; only your own runs are shown to you"
    if since is not None and all(run.job.submit_time < since for run in runs):
        return "no run was submitted since then; leave --since out to judge all of them"
    return "no run was submitted after another one had ended, so there is nothing to judge yet"


@dataclass(frozen=True, slots=True)
class Predicted:
    """What every predictor would have said of a run."""

    run: PastRun
    basis: str
    spreads: dict[str, Spread | None]


class RunReplay:
    """The past, run by run; job ids are places in it, since two schedulers may share an id."""

    def __init__(self, store: Store, runs: Sequence[PastRun]) -> None:
        ordered = sorted(runs, key=lambda run: run.job.submit_time)
        self._runs = [
            replace(run, job=replace(run.job, id=str(place), restarts=0))
            for place, run in enumerate(ordered)
        ]
        self._store = store
        self._model = SiteModel(CohortModel())
        self._without_code = CohortModel()
        """Knows no command: its arguments are part of what is read of a job."""
        self._controls = controls()
        self._known = 0

    def predicted(self, on_progress: OnProgress) -> list[Predicted]:
        """In order of submission; runs before which none had ended are left out."""
        found: list[Predicted] = []
        events = [each for run in self._runs if (each := ended_job(run)) is not None]
        done = 0
        with self._store.together():
            for event in replay(events):
                match event.kind:
                    case "submit":
                        said = self._submitted(event.run)
                        found += [said] if self._known else []
                        done += 1
                        on_progress(done, len(events))
                    case "start":
                        for model in (self._model, self._without_code):
                            model.started(event.run.facts.job_id, event.at)
                    case "end":
                        self._ended(event.run)
        return found

    def _submitted(self, ended: EndedJob) -> Predicted:
        run = self._runs[int(ended.facts.job_id)]
        target = Target.from_job(run.job, None)
        prediction = predict(
            self._store, target, run.fingerprint, run.workload, site_model=self._model
        )
        sketch, submitted = sketch_of_run(run), run.job.submit_time
        estimate = estimate_duration(self._store, sketch, run.workload, submitted_at=submitted)
        self._model.submitted(ended.facts, sketch, estimate)
        spreads: dict[str, Spread | None] = {OURS: prediction.duration_s}
        spreads[WITHOUT_CODE] = self._without_code.submitted(_without_command(ended).facts)
        for name, control in self._controls.items():
            spreads[name] = control.submitted(ended.facts)
        return Predicted(run, prediction.basis, spreads)

    def _ended(self, ended: EndedJob) -> None:
        self._known += 1
        self._store.keep_run(self._runs[int(ended.facts.job_id)])
        self._model.ended(ended)
        self._without_code.ended(_without_command(ended))
        for control in self._controls.values():
            control.ended(ended)


def _without_command(ended: EndedJob) -> EndedJob:
    return replace(ended, facts=replace(ended.facts, command=""))


@dataclass(frozen=True, slots=True)
class _Table:
    """All that was predicted of the judged runs, by predictor."""

    real_s: Floats
    of: dict[str, Judged] = field(default_factory=dict)

    def scores(
        self, which: np.ndarray[tuple[int], np.dtype[np.bool_]] | None = None
    ) -> dict[str, Scores]:
        return {name: scores(each, self.real_s, which) for name, each in self.of.items()}


def _judged(
    found: Sequence[Predicted], learnt_from: int, by: Sequence[Grouping], *, own_only: bool
) -> Backtest:
    real_s = np.array([each.run.duration_s for each in found])
    fallback = [_known(each.spreads[MEDIAN]) for each in found]
    table = _Table(real_s)
    for name in found[0].spreads:
        of_all = judged([each.spreads[name] for each in found], fallback)
        if name == OURS or of_all.own.any():
            table.of[name] = of_all
    constant = float(np.median(real_s))
    table.of[CONSTANT] = judged([Spread(constant, constant, constant)] * len(found), fallback)
    whole = table.scores()
    rivals = [name for name in whole if name not in (OURS, WITHOUT_CODE)]
    strongest = best(whole, rivals)
    times = [each.run.job.submit_time for each in found]
    blocks = [block_of(each.run.job.user, each.run.job.submit_time) for each in found]
    return Backtest(
        runs=len(found),
        learnt_from=learnt_from,
        with_code=sum(each.run.workload != Workload() for each in found),
        first=min(times),
        last=max(times),
        own_only=own_only,
        predictors=whole,
        best_control=strongest,
        gain=difference(table.of[OURS], table.of[strongest], real_s, blocks),
        groups={one: _groups(found, one, table, rivals) for one in by},
    )


def _known(spread: Spread | None) -> Spread:
    if spread is None:
        raise BadInput("a run is judged before any had ended")
    return spread


def _groups(
    found: Sequence[Predicted], by: Grouping, table: _Table, rivals: Sequence[str]
) -> tuple[Group, ...]:
    names = np.array([_name(each, by) for each in found])
    return tuple(
        _group(name, table.scores(names == name), rivals)
        for name, _ in Counter(names.tolist()).most_common()
    )


def _name(each: Predicted, by: Grouping) -> str:
    if by == "basis":
        return each.basis
    return each.run.job.user if by == "user" else each.run.job.request.partition or "-"


def _group(name: str, of: dict[str, Scores], rivals: Sequence[str]) -> Group:
    strongest = best(of, rivals)
    return Group(name=name, schedmate=of[OURS], best_control=strongest, control=of[strongest])
