"""On a real cluster that lends GPUs in parts: two jobs share one, and are parted where it is slow.

No GPU is here: what runs need of one is written into the history, and pace is lost on one core.
"""

import subprocess
import sys
import time
from contextlib import closing, suppress
from dataclasses import replace

import pytest

from schedmate.model import GpuUse, JobState, PastRun, Request, Resume
from schedmate.schedulers.slurm import SlurmScheduler
from schedmate.service.daemon import shared_pace
from schedmate.service.daemon.assembling import assemble
from schedmate.service.usecases.revert import revert
from schedmate.service.views.job_view import job_view
from schedmate.service.views.sentences import why_sentence
from schedmate.service.visibility import viewer_of
from schedmate.service.wiring import open_store
from schedmate.site_settings import SharingSettings
from schedmate.testing.builders import a_job
from schedulers.slurm_site import scontrol

pytestmark = pytest.mark.slurm
PATIENCE_S = 180.0
TRAIN = """\
import os
import time

import numpy

os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
os.nice(-15)
step, weights = 0, 5.0
if os.path.exists("checkpoint.npy"):
    state = numpy.load("checkpoint.npy")
    step, weights = int(state[0]), float(state[1])
    print(f"resuming from checkpoint.npy at step {step}", flush=True)
while step < 100000:
    step += 1
    weights *= 0.9999
    used = time.process_time()
    while time.process_time() < used + 0.05:
        pass
    print(f"step {step}/100000 loss {weights:.4f}", flush=True)
    if step % 20 == 0:
        numpy.save("checkpoint.npy", numpy.array([step, weights]))
        print(f"saved checkpoint checkpoint.npy at step {step}", flush=True)
"""


class Killed(BaseException):
    """The daemon, as if by kill -9."""


class Site:
    def __init__(self, settings, root):
        self.settings, self.root, self.scheduler = settings, root, SlurmScheduler()

    def submit(self, name, *words, script=f"exec {sys.executable} train.py"):
        place = self.root / name
        place.mkdir()
        (place / "train.py").write_text(TRAIN)
        (place / "job.sh").write_text(f"#!/bin/bash\n{script}\n")
        command = ["sbatch", "--parsable", "--requeue", "--open-mode=append", "-o", "log", *words]
        return subprocess.check_output([*command, "job.sh"], cwd=place, text=True).strip()

    def job(self, job_id):
        (job,) = self.scheduler.jobs([job_id])
        return job

    def until(self, daemon, met, what):
        deadline = time.monotonic() + PATIENCE_S
        while not met():
            assert time.monotonic() < deadline, f"{what} did not happen"
            daemon.cycle(time.time())
            time.sleep(0.3)

    def about(self, job_id):
        with closing(open_store(self.settings)) as store:
            records = [one for one in store.actions(job_id=job_id) if one.action.kind != "set_nice"]
        return [(one.action.kind, one.action.value, one.state) for one in records]

    def why(self, job_id):
        with closing(open_store(self.settings)) as store:
            view = job_view(self.scheduler, store, viewer_of(self.settings), job_id)
        return why_sentence(view, [], time.time(), str)

    def measure(self, job_id):
        """What Slurm would have measured of a run of the same code, which has gone on once."""
        with closing(open_store(self.settings)) as store:
            kept = store.advice(job_id)
            run = a_job(id="9999", state=JobState.COMPLETED, start_time=0.0, end_time=1200.0)
            used = GpuUse(12_000.0, 0.2)
            store.keep_run(
                PastRun(
                    job=replace(run, request=Request(gpus=1)),
                    fingerprint=kept.fingerprint,
                    workload=kept.advice.workload,
                    resume=Resume(outcome="resumed", began=20.0),
                    gpu_memory_mb=used.memory_mb,
                    gpu_utilization=used.utilization,
                )
            )


@pytest.fixture
def site(slurm_cluster, settings, tmp_path, monkeypatch):
    monkeypatch.setattr(shared_pace, "WINDOW_S", 3.0)
    scontrol("update", "NodeName=node1", "State=DRAIN", "Reason=one node is enough here")
    yield Site(replace(settings, sharing=SharingSettings(least_pace=0.85)), tmp_path)
    subprocess.run(["scancel", "--user=root"], check=True)
    scontrol("update", "NodeName=node1", "State=RESUME")


def test_two_jobs_share_a_gpu_by_consent_and_are_parted_where_they_are_slow(site, monkeypatch):
    shareable = ("--gres=shard:4", "--comment=schedmate=shareable")
    blockers = [site.submit(f"blocker{n}", "--gres=gpu:1", script="sleep 600") for n in range(2)]
    watched = site.submit("watched", *shareable)
    with assemble(site.settings) as daemon:
        site.until(daemon, lambda: site.job(blockers[1]).started, "the blockers' start")
        assert site.about(watched) == [], "nothing was measured"
    site.measure(watched)

    with assemble(replace(site.settings, mode="observe")) as daemon:
        site.until(daemon, lambda: site.about(watched), "the decision")
    assert site.about(watched) == [("share", 2.0, "observed")]
    assert "in mode act it would share a GPU: two such jobs fit on one GPU" in site.why(watched)
    assert site.job(watched).request.shards == 4
    site.scheduler.cancel(watched)

    host = site.submit("host", *shareable)
    die_as_it_asks(site, monkeypatch, host)
    with assemble(site.settings) as daemon:
        site.until(daemon, lambda: ("share", 2.0, "done") in site.about(host), "the end of it")
        assert site.about(host) == [("share", 2.0, "done")], "once"
        assert site.job(host).request.shards == 2
        is_taken_back(site, daemon, *shareable)

        site.scheduler.cancel(blockers[0])
        site.until(daemon, lambda: steps(site, "host") > 100, "a while alone")
        whole = site.submit("whole", "--gres=gpu:1")
        site.until(daemon, lambda: site.about(whole), "the advice")
        how = "with --gres=shard:2 and --comment=schedmate=shareable it would start now"
        assert f"{how}: it fits beside job {host}" in site.why(whole)
        assert site.job(whole).state is JobState.PENDING
        site.scheduler.cancel(whole)

        guest = site.submit("guest", *shareable)
        site.until(daemon, lambda: site.job(guest).state is JobState.RUNNING, "the guest's start")
        assert f"it fits beside job {host} and can start now" in site.why(guest)
        on = site.scheduler.shared_gpus([site.job(host), site.job(guest)])
        assert on[host] == on[guest] != frozenset()

        parted = ("share", 4.0, "done")
        site.until(daemon, lambda: parted in site.about(guest), "the parting")
    job = site.job(guest)
    assert (job.state, job.restarts, job.request.shards) == (JobState.PENDING, 1, 4)
    assert site.about(guest) == [("share", 2.0, "done"), ("requeue", None, "done"), parted]
    assert "has a GPU to itself from now on" in site.why(guest)
    assert site.job(host).restarts == 0
    assert steps(site, "guest", "saved checkpoint") > 0


def die_as_it_asks(site, monkeypatch, job_id):
    """Before and after it has asked Slurm; the next one goes on."""
    ask, deaths = SlurmScheduler.set_shards, []

    def die(scheduler, asked, shards):
        if deaths:
            ask(scheduler, asked, shards)
        deaths.append(asked)
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(SlurmScheduler, "set_shards", die)
        for _ in range(2):
            with suppress(Killed), assemble(site.settings) as daemon:
                site.until(daemon, lambda: False, "its death")
    assert deaths == [job_id, job_id]


def is_taken_back(site, daemon, *words):
    job_id = site.submit("reverted", *words)
    site.until(daemon, lambda: ("share", 2.0, "done") in site.about(job_id), "its share")
    with closing(open_store(site.settings)) as store:
        undone = revert(site.scheduler, store, now=time.time(), job_id=job_id)
    assert "it asks for 4 parts of a GPU again" in [one.text for one in undone]
    daemon.cycle(time.time())
    daemon.cycle(time.time())
    assert site.job(job_id).request.shards == 4
    site.scheduler.cancel(job_id)


def steps(site, name, begins="step "):
    log = site.root / name / "log"
    lines = log.read_text().splitlines() if log.exists() else []
    return sum(line.startswith(begins) for line in lines)
