"""Where many tasks are run: this process, all cores of this machine, or a Ray cluster.

Results come back in the order of the tasks and are the same wherever they come from.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence

from schedmate.simulator.sweeps.execution import OnProgress, SimulationResult, run_task
from schedmate.simulator.sweeps.pace import Pace
from schedmate.simulator.sweeps.tasks import SimulationTask, named

OnDone = Callable[[int, int], None]


def run_tasks(
    tasks: Sequence[SimulationTask],
    *,
    reported: frozenset[int] = frozenset(),
    workers: int | None = None,
    ray_address: str | None = None,
    on_done: OnDone | None = None,
    on_progress: OnProgress | None = None,
    on_hours: Callable[[float], bool] | None = None,
) -> list[SimulationResult]:
    """All of them; those numbered in `reported` with what a report needs.

    `on_done` gets how many of how many are done; `on_progress` how far one is, where they run
    in this process; `on_hours`, which must be a function of a module, how long all would take by
    the pace of the first, until it answers that it has warned (nothing of a Ray cluster).
    """
    hands = min(workers or os.cpu_count() or 1, len(tasks))
    pace = Pace(on_hours, settings=math.ceil(len(tasks) / hands)) if on_hours else None
    if ray_address is not None:
        from schedmate.simulator.sweeps.ray_cluster import on_ray  # noqa: PLC0415 - seldom wanted

        given = on_ray(tasks, reported, ray_address)
    elif hands > 1:
        from schedmate.simulator.sweeps.processes import in_processes  # noqa: PLC0415 - slow to load

        given = in_processes(tasks, reported, hands, pace=pace)
    else:
        given = _here(tasks, reported, _both(on_progress, pace))
    found: dict[int, SimulationResult] = {}
    for number, each in given:
        found[number] = each
        if on_done is not None:
            on_done(len(found), len(tasks))
    return [found[number] for number in range(len(tasks))]


def _both(one: OnProgress | None, other: OnProgress | None) -> OnProgress | None:
    if one is None or other is None:
        return one or other

    def report(name: str, done: int, total: int) -> None:
        one(name, done, total)
        other(name, done, total)

    return report


def _here(
    tasks: Sequence[SimulationTask], reported: frozenset[int], on_progress: OnProgress | None
) -> Iterator[tuple[int, SimulationResult]]:
    for number, task in enumerate(tasks):
        with named(task):
            yield number, run_task(task, reported=number in reported, on_progress=on_progress)
