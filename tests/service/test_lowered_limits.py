"""A lowered limit is never left without a daemon that would give it back."""

from __future__ import annotations

from contextlib import closing

import pytest

from schedmate.advisor import Advisor
from schedmate.core import DecisionEngine, TimeLimits
from schedmate.handler import Handler
from schedmate.model import Request
from schedmate.policies import ordering
from schedmate.service.actions import Actions
from schedmate.service.daemon.daemon import Daemon
from schedmate.store import KeptAdvice
from schedmate.testing.builders import a_job, an_advice
from schedmate.testing.scheduler import FakeScheduler
from service.place import Place

DAY = 86400.0


class Site:
    def __init__(self, store, mode):
        self.scheduler = FakeScheduler()
        self.scheduler.put(a_job(request=Request(time_limit_s=DAY)))
        self.store, self.mode = store, mode
        store.keep_advice("1", KeptAdvice(an_advice(3600.0), None))

    def daemon(self):
        return Daemon(
            engine=DecisionEngine(ordering("fifo"), time_limits=TimeLimits(lower=True)),
            scheduler=self.scheduler,
            store=self.store,
            advisor=Advisor(self.store, self.store),
            handler=Handler(self.store),
            actions=Actions(self.scheduler, self.store, self.mode),
        )

    @property
    def limit(self):
        return self.scheduler.known["1"].request.time_limit_s

    def records(self):
        return [(one.action.value, one.state) for one in self.store.actions() if self.of(one)]

    def of(self, record):
        return record.action.kind == "set_time_limit"


def test_one_that_stops_gives_it_back(store):
    site = Site(store, "assist")
    with closing(site.daemon()) as daemon:
        daemon.cycle(2000.0)
        assert site.limit < DAY

        daemon.stop(2001.0)

    assert site.limit == DAY
    assert [state for _, state in site.records()] == ["done", "done"]
    with closing(site.daemon()) as daemon:
        daemon.cycle(2002.0)
    assert site.limit == DAY, "a limit is lowered once"


def test_in_mode_observe_nothing_is_lowered_and_nothing_given_back(store):
    site = Site(store, "observe")
    with closing(site.daemon()) as daemon:
        daemon.cycle(2000.0)

        daemon.stop(2001.0)

    assert site.limit == DAY
    assert {state for _, state in site.records()} == {"observed"}


@pytest.mark.processes
def test_a_submission_without_a_daemon_lowers_none(tmp_path, monkeypatch):
    place = Place(tmp_path, "assist", {"time_limits": {"lower": True}})
    seen = []
    monkeypatch.setattr(
        "schedmate.service.usecases.submit.engine_of",
        lambda settings, limits: seen.append(settings) or DecisionEngine(ordering("fifo"), limits),
    )

    place.submit("true", request=Request(gpus=1, time_limit_s=DAY))

    assert [settings.time_limits.lower for settings in seen] == [False]
