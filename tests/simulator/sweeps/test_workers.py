"""Sweeps in processes: stopped at once, and what fails is named."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from schedmate.simulator.sweeps import SimulationTask, run_task, run_tasks, settings_of
from schedmate.simulator.sweeps.execution import _needs_workload
from schedmate.simulator.sweeps.tasks import FailedSetting, named

SOURCE = Path(__file__).parents[3] / "src"


def children_of(process: int) -> list[int]:
    return [
        int(word)
        for listed in Path(f"/proc/{process}/task").glob("*/children")
        for word in listed.read_text().split()
    ]


def is_alive(process: int) -> bool:
    """Whether it runs; who ended but was not yet asked for its exit code does not."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def until(condition, *, seconds: float = 250, every_s: float = 0.05) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(every_s)


@pytest.mark.processes
@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="needs Linux's /proc")
@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("started", [2, 3], ids=["while they start", "when all are there"])
def test_an_interrupt_ends_a_sweep_and_its_workers(started):
    running = subprocess.Popen(
        [
            *(sys.executable, "-m", "schedmate", "simulate", "synthetic", "--jobs", "500000"),
            *("--sweep", "seed=0..9", "--workers", "2"),
        ],
        env=os.environ | {"PYTHONPATH": str(SOURCE)},
        stderr=subprocess.PIPE,
    )
    # two workers, and who keeps their books
    until(lambda: len(children_of(running.pid)) >= started, every_s=0.001)
    workers = children_of(running.pid)

    running.send_signal(signal.SIGINT)
    _, talk = running.communicate(timeout=250)

    assert running.returncode == 130
    assert b"Traceback" not in talk
    until(lambda: not any(map(is_alive, workers)))


def test_what_nobody_foresaw_is_named_too():
    task = SimulationTask(source="t.csv", policies=("fifo",), swept={"load": 0.7})

    with (
        pytest.raises(FailedSetting, match=r"t.csv \(load=0.7\) failed: ZeroDivisionError"),
        named(task),
    ):
        1 / 0  # noqa: B018
    with (
        pytest.raises(ZeroDivisionError),
        named(SimulationTask(source="t.csv", policies=("fifo",))),
    ):
        1 / 0  # noqa: B018


def test_answers_come_in_order_and_only_those_asked_for_carry_a_digest():
    asked = SimulationTask(source="synthetic", policies=("fifo",), jobs=20)
    tasks = [asked.with_values(values) for values in settings_of(["seed=3,1,2"])]
    heard = []

    found = run_tasks(
        tasks,
        reported=frozenset({1}),
        workers=1,
        on_done=lambda done, total: heard.append((done, total)),
    )

    assert [each.task.seed for each in found] == [3, 1, 2]
    assert [each.digest is not None for each in found] == [False, True, False]
    assert heard == [(1, 3), (2, 3), (3, 3)]


@pytest.mark.parametrize(
    ("policies", "workload", "semi_synthetic"),
    [
        (("fifo", "sjf"), None, False),
        (("fifo", "fifo+handler"), None, True),
        (("fifo", "fifo+handler"), False, False),
        (("lucid",), None, True),
        (("fifo",), True, True),
    ],
)
def test_jobs_get_a_synthetic_workload_where_one_is_needed(policies, workload, semi_synthetic):
    task = SimulationTask(source="synthetic", policies=policies, workload=workload, jobs=10)

    assert _needs_workload(task) is semi_synthetic
    assert _needs_workload(replace(task, source="t.csv")) is bool(workload)


def test_a_synthetic_workload_is_called_semi_synthetic():
    asked = SimulationTask(source="synthetic", policies=("fifo",), workload=True, jobs=20)

    found = run_task(asked)

    assert any(line.startswith("semi-synthetic") for line in found.compared.assumptions)


def test_ray_gives_the_same_answers():
    pytest.importorskip("ray", reason="needs Ray")
    asked = SimulationTask(source="synthetic", policies=("fifo", "sjf"), jobs=50)
    tasks = [asked.with_values(values) for values in settings_of(["seed=0..2"])]

    far = run_tasks(tasks, ray_address="local")

    here = run_tasks(tasks, workers=1)
    assert [each.compared for each in far] == [each.compared for each in here]


def test_every_combination_is_tried_the_last_name_fastest():
    assert settings_of(["load=0.7,1", "seed=0..1"]) == [
        {"load": 0.7, "seed": 0},
        {"load": 0.7, "seed": 1},
        {"load": 1, "seed": 0},
        {"load": 1, "seed": 1},
    ]
    assert settings_of([]) == [{}]
    assert settings_of(["seed=1", "seed=1..2"]) == [{"seed": 1}, {"seed": 2}]


def test_a_sweep_sets_what_it_names():
    asked = SimulationTask(source="synthetic", policies=("fifo",))

    found = asked.with_values({"seed": 3.0, "restart_cost": 5.0, "edits": 0.5, "error": 1.0})

    assert (found.seed, found.restart_s, found.error) == (3, 5.0, 1.0)
    assert found.assumed == {"edits": 0.5}
    assert found.title == "synthetic (seed=3, restart_cost=5, edits=0.5, error=1)"
