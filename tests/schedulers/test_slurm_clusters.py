"""A cluster by its name, as on a machine that belongs to another one."""

import pytest

from schedmate.model import JobState, SchedulerError
from schedmate.schedulers.slurm import SlurmScheduler
from schedmate.testing.scheduler_bench import Bench
from schedmate.testing.slurm_config import CLUSTER

pytestmark = pytest.mark.slurm


@pytest.fixture
def bench(slurm_cluster, tmp_path):
    bench = Bench(SlurmScheduler(cluster=CLUSTER), tmp_path, patience_s=60)
    yield bench
    bench.clear()


def test_jobs_of_a_named_cluster_are_read_and_changed(bench):
    later = ("--begin=now+1week",)
    job_id = bench.shell("true", passthrough=later)
    assert job_id.isdecimal()
    scheduler = bench.scheduler
    assert scheduler.script(job_id)
    assert scheduler.set_nices({job_id: 7}) == {job_id: ""}
    scheduler.hold(job_id)
    assert (bench.job(job_id).nice, bench.job(job_id).held) == (7, True)
    assert job_id in {job.id for job in scheduler.jobs()}
    assert len(scheduler.nodes()) == 2
    assert scheduler.jobs(["7654321"]) == []
    scheduler.cancel(job_id)
    assert bench.ended(job_id).state is JobState.CANCELLED
    assert bench.ended(bench.shell("exit 3")).exit_code == 3


def test_a_cluster_that_the_accounting_does_not_know(slurm_cluster):
    with pytest.raises(SchedulerError, match="nowhere"):
        SlurmScheduler(cluster="nowhere").jobs()
