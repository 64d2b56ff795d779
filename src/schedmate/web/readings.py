"""What pages read beside the board: the runs of the last months, curves; all remembered."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
import time
from dataclasses import dataclass, field
from operator import attrgetter
from typing import TYPE_CHECKING, Annotated, Literal

from fastapi import Depends, Request

from schedmate.service.views.accuracy import (
    Score,
    etas,
    prediction_error,
    predictions,
    weekly,
)
from schedmate.service.views.expected_start import expected_starts, most_at_once
from schedmate.service.views.run_curves import CurveReader
from schedmate.service.views.run_window import WINDOW_S, RunWindow
from schedmate.service.views.site_load import Load, UseOverTime, loads, use_over_time, uses
from schedmate.web.measured import Measured
from schedmate.web.shown_once import ShownOnce

if TYPE_CHECKING:
    from schedmate.model import JobId
    from schedmate.service.visibility import Viewer
    from schedmate.web.site import Site

_FRESH_S = 60.0
_STARTS_FRESH_S = 2.0
_FRESH_HOURS = 24.0
"""A window of so many hours is a second old at most, and so on."""
_MOST_WINDOWS = 32
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


@dataclass(slots=True)
class Readings:
    site: Site
    window: RunWindow
    curves: CurveReader = field(default_factory=CurveReader)
    shown_once: ShownOnce = field(default_factory=ShownOnce)
    _secret: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    _accuracy: Measured[Accuracy] = field(init=False)
    _capacity: Measured[dict[str, int]] = field(init=False)
    _starts: tuple[float, dict[JobId, float]] | None = None
    _use: dict[tuple[int, By], tuple[float, SiteUse]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _use_lock: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def of(cls, site: Site) -> Readings:
        return cls(site=site, window=RunWindow(site.store))

    def __post_init__(self) -> None:
        nothing = Accuracy([Score(name="all", cases=0)], [], [])
        self._accuracy = Measured(self._measure_accuracy, nothing, fresh_s=_FRESH_S)
        self._capacity = Measured(self._measure_capacity, {}, fresh_s=_FRESH_S)

    def warm(self) -> None:
        """Begin with what the first page shows, where there is anything to show."""
        if self.site.store.newest_change():
            now = time.time()
            self._accuracy.value(now)
            self._capacity.value(now)

    def accuracy(self, now: float) -> Accuracy:
        return self._accuracy.value(now)

    def _measure_accuracy(self, now: float) -> Accuracy:
        runs = self.window.runs(now)
        seen = self.site.store.etas_seen(since=now - WINDOW_S, limit=_ETAS)
        by_week = weekly(runs, now, prediction_error)
        return Accuracy(predictions(runs), etas(runs, seen), by_week)

    def _measure_capacity(self, now: float) -> dict[str, int]:
        return most_at_once(uses(self.window.runs(now), self.site.board.views(), now))

    def starts(self, now: float) -> dict[JobId, float]:
        """When waiting jobs could start, in seconds from now."""
        capacity = self._capacity.value(now)
        with self._lock:
            if self._starts is None or now - self._starts[0] >= _STARTS_FRESH_S:
                self._starts = now, expected_starts(self.site.board.views(), capacity, now)
            return self._starts[1]

    def use(self, now: float, *, hours: int, by: By) -> SiteUse:
        """How much was used in so many hours, over time by user or partition, and by each."""
        with self._use_lock:
            at, kept = self._use.get((hours, by), (float("-inf"), None))
            if kept is None or now - at >= max(_STARTS_FRESH_S, hours / _FRESH_HOURS):
                if len(self._use) >= _MOST_WINDOWS:
                    self._use.clear()
                kept = self._measure_use(now, hours, by)
                self._use[hours, by] = now, kept
            return kept

    def _measure_use(self, now: float, hours: int, by: By) -> SiteUse:
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


def readings_of(request: Request) -> Readings:
    found = request.app.state.readings
    assert isinstance(found, Readings)  # noqa: S101 - `create_app` puts it there
    return found


AReadings = Annotated[Readings, Depends(readings_of)]
