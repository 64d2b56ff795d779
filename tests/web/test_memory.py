"""A daemon that serves for months keeps nothing of the jobs that have come and gone."""

from __future__ import annotations

import functools
import gc
import logging
import re
import time
from contextlib import closing
from dataclasses import replace
from types import FrameType

import pytest

from schedmate.advisor import Advisor
from schedmate.core import DecisionEngine, DecisionLimits
from schedmate.handler import Case, Handler
from schedmate.model import JobState
from schedmate.policies import ordering
from schedmate.service.actions import Actions
from schedmate.service.daemon.daemon import Daemon
from schedmate.service.records.nodes import NodeKnowledge
from schedmate.service.usecases.history_import import learn_from
from schedmate.service.views.explanations import Explanations
from schedmate.service.views.job_view import JobView
from schedmate.service.wiring import open_store
from schedmate.store import RunSummary
from schedmate.testing.builders import a_job
from schedmate.testing.history import past_run
from schedmate.testing.scheduler import FakeScheduler

pytestmark = pytest.mark.processes
_FIRST = 770_000_001
_OF_THEM = re.compile(r"(?:train-)?7700000\d\d")
_PAGES = ("/", "/?q=77", "/failures", "/accuracy", "/api/v1/jobs", "/api/v1/history", "/metrics")
_OF_A_JOB = ("/jobs/{}", "/jobs/{}/log", "/api/v1/jobs/{}", "/api/v1/jobs/{}/why")
_ENDS = (
    *(JobState.COMPLETED, JobState.FAILED, JobState.CANCELLED, JobState.TIMEOUT),
    None,  # the scheduler lists it no more before its end was seen
)
_NOT_LOOKED_INTO = (RunSummary, logging.LogRecord, FrameType)
"""`RunWindow` has a bound of its own; the others are of the test."""


class PassingJobs:
    """Jobs that wait, run and end in all ways, seen by a real daemon, and by readers of pages."""

    def __init__(self, served, scheduler, daemon, handler, root):
        self._served, self._scheduler, self._daemon, self._root = served, scheduler, daemon, root
        self.handler = handler
        self._now = time.time()

    def pass_by(self, numbers):
        for number in numbers:
            self._write(number, "step 1/10 loss 0.5\n")
            self._scheduler.put(
                a_job(
                    id=str(number),
                    user="nobody" if number % 2 else "root",
                    name=f"train-{number}",
                    workdir=str(self._root),
                    command=("python", "train.py", str(number)),
                    logs=(str(self._root / f"{number}.out"),),
                    submit_time=self._now,
                )
            )
        self._look(numbers)
        for number in numbers:
            if number % 3:  # the others are cancelled, or vanish, while they wait
                self._change(number, JobState.RUNNING, start_time=self._now, nodes=("n1",))
                self._write(number, "step 2/10 loss 0.4\nKeyError: 'x'\n")
        self._look(numbers)
        for number in numbers:
            if state := _ENDS[number % len(_ENDS)]:
                self._change(number, state, end_time=self._now)
        self._look(numbers)
        self._scheduler.known.clear()
        self._scheduler.calls.clear()
        self._look(numbers)

    def _write(self, number, text):
        with (self._root / f"{number}.out").open("a") as log:
            log.write(text)

    def _change(self, number, state, **parts):
        self._scheduler.put(replace(self._scheduler.known[str(number)], state=state, **parts))

    def _look(self, numbers):
        for _ in range(2):
            self._now += 10.0
            self._daemon.cycle(self._now)
        self._daemon.finish_diagnoses(self._now)
        self._served.site.refresh()
        assert {self._served.get(page).status for page in _PAGES} == {200}
        for number in numbers[:10]:
            for page in _OF_A_JOB:
                self._served.get(page.format(number))


@pytest.fixture
def passing(served, tmp_path):
    scheduler = FakeScheduler()
    with closing(open_store(served.site.settings)) as store:
        store.keep_runs([past_run(f"old{number}", 600.0) for number in range(60)])
        learn_from(store, at=time.time())
        served.taken_for("root", operator=True)
        served.site.explanations = Explanations(scheduler, NodeKnowledge(scheduler, store))
        handler = Handler(store)
        daemon = Daemon(
            engine=DecisionEngine(ordering("sjf"), DecisionLimits()),
            scheduler=scheduler,
            store=store,
            advisor=Advisor(store, store),
            handler=handler,
            actions=Actions(scheduler, store, "act"),
        )
        yield PassingJobs(served, scheduler, daemon, handler, tmp_path)
        daemon.close()


def test_nothing_stays_of_jobs_that_are_gone(passing, served):
    passing.pass_by(range(_FIRST, _FIRST + 30))
    later = time.time() + 60.0
    served.site.explanations.of(JobView(job=a_job(id="other"), diagnoses={}), later)
    passing.handler.diagnose(Case(logs=()))  # the newest failure is kept until the next
    clear_bounded_caches()

    assert holders_of(_OF_THEM) == []


def clear_bounded_caches():
    """Each keeps so many names or texts, however long the daemon serves."""
    gc.unfreeze()  # what the suite has frozen is not among the objects
    for one in gc.get_objects():
        is_cache = isinstance(one, functools._lru_cache_wrapper)
        if is_cache and one.cache_parameters()["maxsize"] is not None:
            one.cache_clear()


def holders_of(pattern):
    """All that refers to a text of this pattern, wherever it is in this process."""
    gc.collect()
    found, seen = [], set()
    to_look_into = gc.get_objects()
    seen |= {id(found), id(seen), id(to_look_into)}
    while to_look_into:
        holder = to_look_into.pop()
        if id(holder) in seen or isinstance(holder, _NOT_LOOKED_INTO):
            continue
        seen.add(id(holder))
        for one in gc.get_referents(holder):
            if isinstance(one, str):
                if pattern.fullmatch(one):
                    found.append(f"{type(holder).__qualname__} {holder!r}"[:200])
            else:
                to_look_into.append(one)
    return sorted(found)
