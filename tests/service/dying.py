"""A daemon that dies before or after any single thing it asks of the scheduler or the store."""

from __future__ import annotations

from contextlib import contextmanager

from schedmate.advisor import Advisor
from schedmate.core import DecisionEngine, DecisionLimits
from schedmate.handler import Handler
from schedmate.policies import ordering
from schedmate.service.actions import Actions
from schedmate.service.daemon.daemon import Daemon


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


class AtOnce:
    """Asks the model in the same thread, so that an answer can come at a chosen moment."""

    def __init__(self):
        self.tasks = []

    def submit(self, _about, work, then):
        self.tasks.append((work, then))

    def deliver(self, now):
        while self.tasks:
            work, then = self.tasks.pop()
            then(work(), now)

    def close(self):
        pass


@contextmanager
def daemon_of(scheduler, store, *, limits=None, handler=None):
    """One that knows nothing but what is written down."""
    daemon = Daemon(
        engine=DecisionEngine(ordering("fifo"), limits or DecisionLimits()),
        scheduler=scheduler,
        store=store,
        advisor=Advisor(store, store),
        handler=handler or Handler(store),
        actions=Actions(scheduler, store, "act"),
    )
    daemon._background.close()
    daemon._background = daemon._failures._background = AtOnce()
    try:
        yield daemon
    finally:
        daemon.close()


def look(scheduler, store, now, *, looks=1, **parts):
    with daemon_of(scheduler, store, **parts) as daemon:
        for number in range(looks):
            daemon.cycle(now + number)


def dies(scheduler, store, now, *, step, done, **words):
    """Whether a daemon that dies at this step had such a step at all."""
    steps = Steps(step, done=done)
    try:
        look(steps.wrap(scheduler), steps.wrap(store), now, **words)
    except Crash:
        return True
    return False
