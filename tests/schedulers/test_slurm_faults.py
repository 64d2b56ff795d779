"""A controller that goes away and comes back, on the private cluster."""

import subprocess
import time

import pytest

from schedmate.config import Settings
from schedmate.model import Action, SchedulerUnreachable
from schedmate.schedulers.slurm import SlurmScheduler
from schedmate.service.actions import Actions
from schedmate.service.daemon.serving import assemble
from schedmate.service.wiring import open_store
from schedmate.testing.scheduler_bench import Bench

pytestmark = pytest.mark.slurm

LATER = "--begin=now+1week"


@pytest.fixture
def bench(slurm_cluster, tmp_path):
    bench = Bench(SlurmScheduler(), tmp_path, patience_s=60)
    yield bench
    subprocess.run(["scancel", "--user=root"], check=True)
    bench.clear()


@pytest.fixture
def settings(bench, tmp_path):
    return Settings(scheduler="slurm", mode="assist", state_dir=tmp_path / "state")


def test_a_controller_that_comes_back_finds_everything_as_it_was(bench, settings, slurm_cluster):
    single = bench.shell("sleep 600", passthrough=(LATER,))
    array = bench.shell("sleep 600", passthrough=(LATER, "--array=0-9"))
    bench.submitted.remove(array)
    with assemble(settings) as daemon:
        daemon.cycle(time.time())
        before, numbers = open_store(settings).actions(), nice_of(bench, single, array)
        assert 0 not in numbers
        slurm_cluster.stop_daemon("slurmctld")
        try:
            with pytest.raises(SchedulerUnreachable):
                daemon.cycle(time.time())
        finally:
            slurm_cluster.start_controller()
        daemon.cycle(time.time())
    assert open_store(settings).actions() == before
    assert nice_of(bench, single, array) == numbers


def test_a_number_that_met_no_controller_is_set_once_it_is_back(bench, settings, slurm_cluster):
    job_id = bench.shell("sleep 600", passthrough=(LATER,))
    store = open_store(settings)
    actions = Actions(bench.scheduler, store, "assist")
    actions.carry_out(Action(kind="set_nice", job_id=job_id, attempt=0, why="", value=5), 1.0)
    slurm_cluster.stop_daemon("slurmctld")
    try:
        actions.finish_interrupted(2.0)
    finally:
        slurm_cluster.start_controller()
    assert [one.state for one in store.actions(job_id=job_id)] == ["intended"]
    actions.finish_interrupted(3.0)
    assert [one.state for one in store.actions(job_id=job_id)] == ["done"]
    assert bench.job(job_id).nice == 5


def test_a_job_that_has_ended_before_its_number_came_is_no_priority_set_by_hand(bench, settings):
    job_id = bench.shell("sleep 600", passthrough=(LATER,))
    store = open_store(settings)
    actions = Actions(bench.scheduler, store, "assist")
    actions.carry_out(Action(kind="set_nice", job_id=job_id, attempt=0, why="", value=5), 1.0)
    bench.scheduler.cancel(job_id)
    actions.finish_interrupted(2.0)
    (record,) = store.actions(job_id=job_id)
    assert record.state == "failed"
    assert "by hand" not in record.note


def nice_of(bench, *ids):
    return [job.nice for job_id in ids for job in bench.scheduler.jobs([job_id])]
