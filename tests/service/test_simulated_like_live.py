"""The jobs of a live run on the local scheduler, in simulated time: the same instructions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from schedmate.core import Act, JobAdvised, JobDiagnosed, JobSeen
from schedmate.model import JobState
from schedmate.policies import FirstFit
from schedmate.service.records.event_log import opened
from schedmate.service.usecases.replay import differences, recorded_in
from schedmate.service.wiring import engine_of, limits_of
from schedmate.simulator import columns_of
from schedmate.simulator.engine.cluster import Nodes, Plain
from schedmate.simulator.engine.engine import SimulationEngine
from schedmate.simulator.engine.faults import Fault
from schedmate.simulator.engine.steering import AtOnce
from schedmate.simulator.estimators.base import Estimates, oracle
from schedmate.simulator.estimators.predictor import Fixed
from schedmate.simulator.experiments.execute import job_columns
from schedmate.simulator.shell.shell import SimulatedDaemon
from schedmate.testing.builders import a_trace_job
from service.place import ERROR, KILLED_ONCE

SHORT = "echo 'step 1'; sleep 1"
BLOCKS = "until [ -e go ]; do sleep 0.05; done"
LOCAL_RANGE = 10_000
"""Of the local scheduler's nice numbers."""


class Lived:
    """What the event log of a live run holds: jobs, predictions, diagnoses, decisions."""

    def __init__(self, place):
        with place.store() as store:
            recording = recorded_in(store)
        self.decided = recording.decided
        self.act_since = recording.act_since
        self.settings = place.settings
        events = [opened(row) for row in recording.events]
        seen = {e.job.id: e.job for e in events if isinstance(e, JobSeen)}
        self.jobs = {job: place.job(job) for job in seen}
        self.advised = {e.job_id: e.advice for e in reversed(events) if isinstance(e, JobAdvised)}
        self.diagnosed = {(e.job_id, e.attempt): e for e in events if isinstance(e, JobDiagnosed)}

    def columns(self):
        rows = sorted(self.jobs.values(), key=lambda job: job.submit_time)
        return columns_of(
            [
                a_trace_job(
                    job_id=job.id,
                    user=job.user,
                    name=job.name,
                    submit_time=job.submit_time,
                    duration=job.run_time_s or 1.0,
                    gpus=job.request.gpus,
                    status=job.state,
                )
                for job in rows
            ]
        )

    def estimates(self, columns):
        found = [self.advised.get(job) for job in columns.ids]
        spreads = [None if one is None else one.prediction.duration_s for one in found]
        columns_of_quantiles = (
            np.array([np.nan if each is None else getattr(each, name) for each in spreads])
            for name in ("p10", "p50", "p90")
        )
        return Estimates(
            *columns_of_quantiles,
            cost_s=np.zeros(len(columns)),
            source="live",
            basis=["none" if one is None else one.prediction.basis for one in found],
        )

    def of(self, job, seen, now, scheduler, *, hung):
        """The diagnosis of the live handler: fulfils what the shell asks of `Diagnoses`."""
        return replace(self.diagnosed[seen.id, seen.restarts], at=now)


class Away(AtOnce):
    """No owner brings a job back before the daemon has looked."""

    def by_hand_s(self, job):
        return 3600.0


def simulated(lived, cluster, faults=()):
    """All that a simulated daemon decides about the same jobs."""
    columns = lived.columns()
    decided = {}

    def note(event, instructions):
        for one in instructions:
            if isinstance(one, Act):
                decided.setdefault(one.action.key, one.action)

    settings = lived.settings
    shell = SimulatedDaemon(
        engine_of(settings, limits_of(settings, act_since=lived.act_since)),
        columns,
        predictor=Fixed(lived.estimates(columns)),
        diagnoses=lived,
        look_s=0.01,
        on_event=note,
    )
    SimulationEngine(
        columns,
        job_columns(columns, oracle(columns)),
        FirstFit(),
        cluster,
        physics=Plain(columns.gpus.tolist()),
        faults=faults,
        recovery=Away(columns.duration.tolist()),
        beside=shell,
        nice_range=LOCAL_RANGE,
    ).run()
    return list(decided.values())


def test_waiting_jobs_get_the_same_nice_numbers(place):
    before = place.submit(SHORT, name="short")
    place.looks_until(lambda: place.ended(before), "a run to learn from")
    two = replace(place.submission("").request, gpus=2)
    blocker = place.submit(BLOCKS, request=two)
    place.looks_until(lambda: place.job(blocker).state is JobState.RUNNING, "the blocker")
    unread = [
        place.submission(SHORT, name="short"),
        place.submission("echo never seen; sleep 0.1", name="other"),
        place.submission(SHORT, name="short", request=two),
    ]
    # not by `schedmate submit`, which reads a job beforehand
    waiting = [place.scheduler.submit(one) for one in unread]
    place.one_look()
    place.one_look()
    (place.work / "go").touch()
    place.looks_until(lambda: all(place.ended(job) for job in waiting), "the end of all")

    lived = Lived(place)
    again = simulated(lived, Nodes([2]))

    live = [action for action in lived.decided if action.job_id in waiting]
    numbers = [action for action in live if action.kind == "set_nice"]
    assert {action.job_id for action in numbers if action.provisional} == set(waiting)
    assert {action.job_id for action in numbers if not action.provisional} == set(waiting)
    firm = {action.value for action in numbers if not action.provisional}
    assert firm.isdisjoint(action.value for action in numbers if action.provisional)
    assert list(differences(live, [one for one in again if one.job_id in waiting])) == []


@pytest.mark.parametrize(("command", "kind"), [(KILLED_ONCE, "requeue"), (ERROR, "leave")])
def test_a_failed_job_gets_the_same_decision(place, command, kind):
    job = place.submit(command)
    place.looks_until(lambda: place.ended(job, int(kind == "requeue")), "the end")
    place.one_look()

    lived = Lived(place)
    start = lived.columns().submit[0]
    again = simulated(lived, Nodes([1, 1]), [Fault(0, start + 1e-3, start + 1.0)])

    live = [action for action in lived.decided if action.kind == kind]
    assert live
    assert list(differences(live, [one for one in again if one.kind == kind])) == []
