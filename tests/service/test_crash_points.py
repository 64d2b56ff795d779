"""The daemon dies before or after every single thing it asks of the scheduler or the store."""

from __future__ import annotations

from contextlib import closing
from itertools import count

import pytest

from schedmate.advisor import Advisor
from schedmate.core import Limits, Mind
from schedmate.handler import Handler
from schedmate.model import JobState
from schedmate.policies import ordering
from schedmate.service.actions import Actions
from schedmate.service.mate import Mate
from schedmate.store.sqlite import SqliteStore
from schedmate.testing.builders import a_job
from schedmate.testing.scheduler import FakeScheduler

NOW = 2000.0
ENOUGH = 100


class Crash(BaseException):
    """As if by kill -9."""


class Steps:
    """Counts calls to everything it wraps, and dies at one of them."""

    def __init__(self, last, *, done):
        self.left, self.done = last, done

    def wrap(self, inner):
        steps = self

        class Wrapped:
            def __getattr__(self, name):
                method = getattr(inner, name)
                return lambda *args, **words: steps.call(method, *args, **words)

        return Wrapped()

    def call(self, method, *args, **words):
        self.left -= 1
        if self.left == 0 and not self.done:
            raise Crash
        result = method(*args, **words)
        if self.left == 0:
            raise Crash
        return result


def look(scheduler, store, now):
    mate = Mate(
        mind=Mind(ordering("fifo"), Limits()),
        scheduler=scheduler,
        store=store,
        advisor=Advisor(store, store),
        handler=Handler(store),
        actions=Actions(scheduler, store, "act"),
    )
    try:
        mate.cycle(now)
    finally:
        mate.close()


def die_at(step, folder, *, done):
    """A look that dies at this step, then two whole ones; False when it has no such step."""
    scheduler = FakeScheduler()
    log = folder / "log"
    log.write_text("")
    scheduler.put(a_job(state=JobState.FAILED, signal=9, workdir=str(folder), logs=(str(log),)))
    steps = Steps(step, done=done)
    with closing(SqliteStore(folder / f"store-{step}")) as store:
        try:
            look(steps.wrap(scheduler), steps.wrap(store), NOW)
        except Crash:
            crashed = True
        else:
            crashed = False
        look(scheduler, store, NOW + 1)
        look(scheduler, store, NOW + 2)

        assert scheduler.calls == [("requeue", "1")], step
        assert scheduler.known["1"].restarts == 1
        assert [record.state for record in store.actions(job_id="1")][:1] == ["done"]
        assert len([one for one in store.actions() if one.action.kind == "requeue"]) == 1
        assert store.actions(state="intended") == []
        assert store.run("1", 0).job.state is JobState.FAILED
        assert set(store.diagnoses("1")) == {0}
    return crashed


@pytest.mark.parametrize("done", [False, True], ids=["before", "after"])
def test_a_job_is_requeued_once_wherever_the_daemon_dies(tmp_path, done):
    for step in count(1):
        if not die_at(step, tmp_path, done=done):
            break
        assert step < ENOUGH

    assert step > 8, "there were steps to die at"
