"""The Scheduling Advisor: what a job is, how long it will take, what is wrong with it."""

from __future__ import annotations

import time
from dataclasses import dataclass

from schedmate.advisor.checks import Checked, remarks
from schedmate.advisor.fingerprint import cache_key, fingerprint
from schedmate.advisor.launch import Launch
from schedmate.advisor.modules import Unparsable
from schedmate.advisor.prediction import predict
from schedmate.advisor.project import Project, gather, parse_project
from schedmate.advisor.record import read_workload
from schedmate.advisor.resolve import resolve
from schedmate.advisor.target import Target
from schedmate.model import Advice, Asker, Cost, Fingerprint, History, Workload, WorkloadCache


@dataclass(frozen=True, slots=True)
class Advised:
    """The fingerprint is what the run is remembered under when it has ended."""

    advice: Advice
    fingerprint: Fingerprint | None


class Advisor:
    """Reads, never runs. Without an `asker` everything still works."""

    def __init__(self, history: History, cache: WorkloadCache, asker: Asker | None = None) -> None:
        self._history = history
        self._cache = cache
        self._asker = asker

    def advise(self, target: Target) -> Advised:
        started = time.perf_counter()
        launch = resolve(target)
        project = gather(target, launch)
        workload, problems = self._workload(target, launch, project)
        prints = fingerprint(launch, project, target.request)
        prediction = predict(self._history, target, prints, workload)
        checked = Checked(
            target=target,
            launch=launch,
            project=project,
            problems=problems,
            workload=workload,
            prediction=prediction,
        )
        advice = Advice(
            workload=workload,
            prediction=prediction,
            advice=remarks(checked),
            cost=Cost(seconds=round(time.perf_counter() - started, 4)),
        )
        return Advised(advice, prints)

    def _workload(
        self, target: Target, launch: Launch, project: Project
    ) -> tuple[Workload, tuple[Unparsable, ...]]:
        """Only a record of files that all parse is cached: a hit means that nothing is wrong."""
        key = cache_key(target, launch, project)
        known = self._cache.cached_workload(key)
        if known is not None:
            return known, ()
        parsed = parse_project(project, launch)
        workload = read_workload(launch, parsed.reading, target.request)
        if not parsed.problems:
            self._cache.cache_workload(key, workload)
        return workload, parsed.problems
