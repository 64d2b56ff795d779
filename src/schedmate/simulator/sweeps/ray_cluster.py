"""Tasks run on a Ray cluster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from socket import create_connection
from typing import Any

from schedmate.model import BadInput
from schedmate.simulator.sweeps.execution import SimulationResult, run_task
from schedmate.simulator.sweeps.tasks import SimulationTask, named

_KNOCK_S = 10.0
_OUR_CODE = str(Path(__file__).parents[2])
"""Sent along, so that every machine runs the same version."""


def on_ray(
    tasks: Sequence[SimulationTask], reported: frozenset[int], address: str
) -> Iterator[tuple[int, SimulationResult]]:
    """Each with its number, as they come; work under way ends when the caller stops listening."""
    ray = _connected(address)
    remote = ray.remote(run_task)
    asked = {
        remote.remote(task, reported=number in reported): number
        for number, task in enumerate(tasks)
    }
    try:
        while asked:
            [done], _ = ray.wait(list(asked), num_returns=1)
            number = asked.pop(done)
            with named(tasks[number]):
                yield number, _result(ray, done)
    finally:
        for left in asked:
            ray.cancel(left, force=True)
        ray.shutdown()


def _result(ray: Any, done: Any) -> SimulationResult:
    """An error on another machine is raised as it would be on this one."""
    try:
        found: SimulationResult = ray.get(done)
    except ray.exceptions.RayTaskError as error:
        raise error.cause from error
    return found


def _connected(address: str) -> Any:
    try:
        ray = import_module("ray")
    except ImportError as error:
        raise BadInput(
            "--ray needs the package ray: pip install ray, or leave --ray out to use the cores of "
            "this machine"
        ) from error
    try:
        _knock(address)
        ray.init(
            address=address,
            log_to_driver=False,
            logging_level="ERROR",
            runtime_env={"py_modules": [_OUR_CODE], "excludes": ["__pycache__"]},
        )
    except (OSError, RuntimeError, ValueError) as error:
        raise BadInput(
            f"there is no Ray cluster at {address}: {error}; `ray status` says what there is"
        ) from error
    return ray


def _knock(address: str) -> None:
    """Ray itself would wait for minutes for a host that is not there."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host:
        create_connection((host, int(port)), timeout=_KNOCK_S).close()
