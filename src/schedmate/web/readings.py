"""What pages read beside the board: the runs of the last months, curves; all remembered."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Annotated, Literal

from fastapi import Depends, Request

from schedmate.model import BadInput, StoreError, StoreUnavailable
from schedmate.service.usecases.audit import CORRECTION, WITHDRAWAL
from schedmate.service.views.accuracy import (
    DiagnosisScore,
    Score,
    diagnoses,
    etas,
    prediction_error,
    predictions,
    weekly,
)
from schedmate.service.views.expected_start import expected_starts, most_at_once
from schedmate.service.views.model_use import ModelUse, model_use
from schedmate.service.views.run_curves import CurveReader
from schedmate.service.views.run_window import DAY_S, WINDOW_S, RunWindow
from schedmate.service.views.site_load import (
    FailureKind,
    FailuresOverTime,
    Load,
    UseOverTime,
    failure_kinds,
    failures_over_time,
    loads,
    use_over_time,
    uses,
    without_reasons_of_others,
)
from schedmate.service.views.status import site_status
from schedmate.service.wiring import open_store
from schedmate.web.measured import Measured, Shared
from schedmate.web.shown_once import ShownOnce

if TYPE_CHECKING:
    from schedmate.config import Settings
    from schedmate.model import JobId
    from schedmate.service.views.site_answers import SiteStatus
    from schedmate.service.visibility import Viewer
    from schedmate.store import PersonsAct, Store
    from schedmate.web.site import Site

_FRESH_S = 60.0
_LITTLE_PATIENCE_S = 0.1
_STARTS_FRESH_S = 2.0
_FRESH_HOURS = 24.0
"""A window of so many hours is a second old at most, and so on."""
_RUNS_FRESH_S = 15.0
"""So old may the runs be that it is counted from."""
_CORRECTIONS = 10_000
_BINS = 120
By = Literal["user", "partition"]
_ETAS = 5000
"""The newest, of which the error of shown ends is measured."""


@dataclass(frozen=True, slots=True)
class Accuracy:
    predictions: list[Score]
    etas: list[Score]
    by_week: list[tuple[float, float]]
    """The error of predictions at the end of each week."""


@dataclass(frozen=True, slots=True)
class SiteUse:
    over_time: UseOverTime
    users: tuple[Load, ...]
    partitions: tuple[Load, ...]


@dataclass(frozen=True, slots=True)
class Failures:
    over_time: FailuresOverTime
    kinds: tuple[FailureKind, ...]
    ended: int
    failed: int


@dataclass(slots=True)
class Readings:
    """Long reads have connections of their own: no other request waits for them."""

    site: Site
    window: RunWindow
    curves: CurveReader = field(default_factory=CurveReader)
    shown_once: ShownOnce = field(default_factory=ShownOnce)
    _secret: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    _accuracy: Measured[Accuracy] = field(init=False)
    _capacity: Measured[dict[str, int]] = field(init=False)
    _starts: Shared[None, dict[JobId, float]] = field(init=False)
    _use: Shared[tuple[int, By], SiteUse] = field(init=False)
    _failures: Shared[tuple[int, str | None], Failures] = field(init=False)
    _diagnoses: Shared[tuple[PersonsAct, ...], DiagnosisScore] = field(init=False)
    _model_use: Shared[tuple[int, int], ModelUse] = field(init=False)

    @classmethod
    def of(cls, site: Site) -> Readings:
        return cls(site=site, window=RunWindow(partial(_open, site.settings)))

    def __post_init__(self) -> None:
        nothing = Accuracy([Score(name="all", cases=0)], [], [])
        self._accuracy = Measured(self._measure_accuracy, nothing, fresh_s=_FRESH_S)
        self._capacity = Measured(self._measure_capacity, {}, fresh_s=_FRESH_S)
        self._starts = Shared(self._measure_starts, fresh_s=lambda _: _STARTS_FRESH_S)
        self._use = Shared(
            self._measure_use,
            fresh_s=lambda window: max(_STARTS_FRESH_S, window[0] / _FRESH_HOURS),
        )
        self._failures = Shared(self._measure_failures, fresh_s=lambda _: _RUNS_FRESH_S)
        self._diagnoses = Shared(
            lambda acts, now: diagnoses(self.window.runs(now), acts),
            fresh_s=lambda _: _RUNS_FRESH_S,
        )
        self._model_use = Shared(self._measure_model_use, fresh_s=lambda _: _RUNS_FRESH_S)

    def warm(self) -> None:
        """Begin with what the first page shows, where there is anything to show. Where the store
        does not answer, requests say so."""
        with suppress(StoreError):
            if self.site.store.newest_change():
                now = time.time()
                self._accuracy.value(now)
                self._capacity.value(now)

    def accuracy(self, now: float) -> Accuracy:
        return self._accuracy.value(now)

    def accuracy_by_now(self, now: float) -> Accuracy:
        """For a page that is about something else."""
        return self._accuracy.value(now, patience_s=_LITTLE_PATIENCE_S)

    def _measure_accuracy(self, now: float) -> Accuracy:
        runs = self.window.runs(now)
        with closing(_open(self.site.settings)) as store:
            seen = store.etas_seen(since=now - WINDOW_S, limit=_ETAS)
        by_week = weekly(runs, now, prediction_error)
        return Accuracy(predictions(runs), etas(runs, seen), by_week)

    def _measure_capacity(self, now: float) -> dict[str, int]:
        return most_at_once(uses(self.window.runs(now), self.site.board.views(), now))

    def starts(self, now: float) -> dict[JobId, float]:
        """When waiting jobs could start, in seconds from now."""
        return self._starts.value(None, now)

    def _measure_starts(self, _: None, now: float) -> dict[JobId, float]:
        capacity = self._capacity.value(now, patience_s=_LITTLE_PATIENCE_S)
        return expected_starts(self.site.board.views(), capacity, now)

    def use(self, now: float, *, hours: int, by: By) -> SiteUse:
        """How much was used in so many hours, over time by user or partition, and by each."""
        return self._use.value((hours, by), now)

    def failures(self, viewer: Viewer, now: float, *, days: int) -> Failures:
        """Operators get the reasons of all failures, others those of their own."""
        return self._failures.value((days, None if viewer.operator else viewer.user), now)

    def diagnoses(self, now: float) -> DiagnosisScore:
        """With every correction that people have made, or withdrawn, by now."""
        acts = (
            act
            for action in (CORRECTION, WITHDRAWAL)
            for act in self.site.store.acts(action=action, limit=_CORRECTIONS)
        )
        return self._diagnoses.value(tuple(acts), now)

    def status(self, now: float) -> SiteStatus:
        """It counts all rows of the store."""
        with closing(_open(self.site.settings)) as store:
            return site_status(self.site.settings, store, now)

    def model_use(self, now: float, *, days: int, questions: int) -> ModelUse:
        """`questions` are all that there were by now."""
        return self._model_use.value((days, questions), now)

    def _measure_failures(self, asked: tuple[int, str | None], now: float) -> Failures:
        days, owner = asked
        runs = self.window.runs(now, days=days)
        if owner is not None:
            runs = without_reasons_of_others(runs, owner)
        return Failures(
            failures_over_time(runs, now, days=days, bins=min(60, 4 * days)),
            tuple(failure_kinds(runs)),
            ended=len(runs),
            failed=sum(run.state.failed for run in runs),
        )

    def _measure_model_use(self, asked: tuple[int, int], now: float) -> ModelUse:
        days, _ = asked
        with closing(_open(self.site.settings)) as store:
            return model_use(store.model_calls(since=now - days * DAY_S), now, days=days)

    def _measure_use(self, window: tuple[int, By], now: float) -> SiteUse:
        hours, by = window
        views, since = self.site.board.views(), now - hours * 3600
        found = uses(self.window.runs(now, days=hours / 24), views, now)
        named = attrgetter(by)
        return SiteUse(
            use_over_time(
                found, now, hours=hours, bins=_BINS, by=lambda use: str(named(use)) or "-"
            ),
            tuple(loads(views, found, since=since, now=now, by=lambda user, _: user)),
            tuple(loads(views, found, since=since, now=now, by=lambda _, named: named or "-")),
        )

    def token(self, viewer: Viewer) -> str:
        """What a form of this viewer's has to bring back: another site's page cannot know it."""
        return hmac.new(self._secret, viewer.user.encode(), hashlib.sha256).hexdigest()


def _open(settings: Settings) -> Store:
    """One that cannot be opened now was there at the start."""
    try:
        return open_store(settings)
    except (BadInput, OSError) as error:
        raise StoreUnavailable(str(error)) from error


def readings_of(request: Request) -> Readings:
    found = request.app.state.readings
    assert isinstance(found, Readings)  # noqa: S101 - `create_app` puts it there
    return found


AReadings = Annotated[Readings, Depends(readings_of)]
