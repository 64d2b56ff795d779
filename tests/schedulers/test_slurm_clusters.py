"""Two real clusters in one accounting: each by its name, and both as a federation."""

import os
import re
import subprocess
import time

import pytest

from schedmate.core.scope import Scope
from schedmate.model import JobState, NotAllowed, Request, SchedulerError
from schedmate.schedulers.slurm import SlurmScheduler
from schedmate.service.daemon.assembling import assemble
from schedmate.testing.scheduler_bench import Bench
from schedmate.testing.slurm_cluster import another_cluster
from schedmate.testing.slurm_config import CLUSTER
from schedulers.local_site import wait_for
from schedulers.slurm_site import LATER

pytestmark = pytest.mark.slurm

PATIENCE_S = 120.0
WHOLE_NODE = Request(gpus=0, cpus=16)


@pytest.fixture(scope="module")
def other(slurm_cluster):
    with another_cluster(slurm_cluster, "other") as cluster:
        yield cluster


@pytest.fixture(params=[CLUSTER, "other"])
def named(request, other, tmp_path):
    bench = Bench(SlurmScheduler(cluster=request.param), tmp_path, patience_s=PATIENCE_S)
    yield bench
    bench.clear()


def test_jobs_of_a_named_cluster_are_read_and_changed(named):
    job_id = named.shell("true", passthrough=(LATER,))
    assert job_id.isdecimal()
    scheduler = named.scheduler
    assert scheduler.script(job_id)
    assert scheduler.set_nices({job_id: 7}) == {job_id: ""}
    scheduler.hold(job_id)
    job = named.job(job_id)
    assert (job.nice, job.held, job.cluster) == (7, True, "")
    assert job_id in {job.id for job in scheduler.jobs()}
    assert scheduler.jobs(["7654321"]) == []
    scheduler.cancel(job_id)
    assert named.ended(job_id).state is JobState.CANCELLED
    ended = named.ended(named.shell("exit 3"))
    assert ended.exit_code == 3
    assert set(ended.nodes) <= {node.name for node in scheduler.nodes()}


def test_clusters_are_kept_apart(other):
    names = [{node.name for node in SlurmScheduler(cluster=one).nodes()} for one in ("", "other")]
    assert names == [{"node0", "node1"}, {"other0"}]
    assert SlurmScheduler(cluster="other").cluster() == "other"


def test_a_cluster_that_the_accounting_does_not_know(slurm_cluster):
    with pytest.raises(SchedulerError, match="nowhere"):
        SlurmScheduler(cluster="nowhere").jobs()


def sacctmgr(*words):
    subprocess.run(["sacctmgr", "-i", *words], check=True, capture_output=True)


def in_sync():
    shown = subprocess.check_output(["scontrol", "show", "federation"], text=True)
    return "Synced:Yes" in shown


@pytest.fixture
def federation(other):
    sacctmgr("add", "federation", "both", f"clusters={CLUSTER},other")
    wait_for(in_sync, "the federation", PATIENCE_S)
    yield
    for cluster in (CLUSTER, "other"):
        subprocess.run(["scancel", f"--cluster={cluster}", "--user=root"], check=True)
    sacctmgr("delete", "federation", "both")
    wait_for(lambda: not in_sync(), "the end of the federation", PATIENCE_S)


def submitted_at(cluster, *words):
    """As a user of that cluster would."""
    environment = {**os.environ, "SLURM_CONF": str(cluster.config)}
    command = ["sbatch", "--parsable", *words, "--wrap=sleep 600"]
    return subprocess.check_output(command, env=environment, text=True).partition(";")[0].strip()


def test_a_job_of_another_cluster_is_shown_and_left_alone(federation, other, bench, settings):
    """It waits here too until one of both clusters starts it."""
    foreign, own = submitted_at(other, LATER), bench.shell("true", passthrough=(LATER,))
    scheduler = bench.scheduler
    wait_for(lambda: scheduler.jobs([foreign]), "the copy of the job", PATIENCE_S)
    job, mine = scheduler.jobs([foreign])[0], bench.job(own)
    assert (job.state, job.cluster, mine.cluster) == (JobState.PENDING, "other", "")
    assert Scope().objection(job) == "cluster other has it"
    assert Scope().objection(mine) is None

    changes = (
        lambda: scheduler.set_nice(foreign, 5),
        lambda: scheduler.set_time_limit(foreign, 600),
        lambda: scheduler.hold(foreign),
        lambda: scheduler.cancel(foreign),
        lambda: scheduler.requeue(foreign, run=0),
        lambda: scheduler.set_excluded(foreign, ["node0"]),
    )
    for change in changes:
        with pytest.raises(NotAllowed, match="belongs to cluster other of the federation"):
            change()
    with assemble(settings) as daemon:
        daemon.cycle(time.time())
    scheduler.jobs()  # what a daemon does before it orders
    answers = scheduler.set_nices({foreign: 5, own: 6})
    assert (bool(answers[foreign]), answers[own]) == (True, "")
    (there,) = SlurmScheduler(cluster="other").jobs([foreign])
    assert (there.state, there.nice, there.held, there.cluster) == (JobState.PENDING, 0, False, "")


def test_an_own_job_that_runs_on_another_cluster(federation, bench):
    here = (f"--clusters={CLUSTER}",)
    for job_id in [bench.shell("sleep 600", request=WHOLE_NODE, passthrough=here) for _ in "ab"]:
        bench.running(job_id)
    sent = bench.shell("sleep 4; exit 3", request=WHOLE_NODE)
    running = bench.running(sent)
    assert (running.cluster, running.nodes) == ("other", ())
    with pytest.raises(NotAllowed):
        bench.scheduler.requeue(sent, run=0)
    ended = bench.ended(sent)
    assert (ended.state, ended.cluster, ended.exit_code) == (JobState.FAILED, "other", 3)
    # other tests have left arrays and heterogeneous jobs
    assert all(re.match(r"\d{1,9}(?!\d)", job.id) for job in bench.scheduler.jobs())
