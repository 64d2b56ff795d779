"""On a real cluster: runs that resume go on beyond their limit, runs in vain are stopped, once."""

import sys
from contextlib import closing
from itertools import pairwise

import pytest

from schedmate.model import JobState, Request
from schedmate.service.views.effects import effects_of
from schedmate.service.views.job_view import job_view
from schedmate.service.views.sentences import why_sentence
from schedmate.service.visibility import viewer_of
from schedmate.service.wiring import open_store
from schedulers.local_site import wait_for
from schedulers.test_slurm_faults import Serve

pytestmark = pytest.mark.slurm

PATIENCE_S = 240.0
LIMIT_S, HOUR_S = 60.0, 3600.0
TRAIN = """\
import argparse
import os
import time

import numpy

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int)
parser.add_argument("--pause", type=float)
args = parser.parse_args()
step, weights = 0, 5.0
if os.path.exists("checkpoint.npy"):
    state = numpy.load("checkpoint.npy")
    step, weights = int(state[0]), float(state[1])
    print(f"resuming from checkpoint.npy at step {step}", flush=True)
while step < args.steps:
    step += 1
    weights *= 0.99
    time.sleep(args.pause)
    print(f"step {step}/{args.steps} loss {weights:.4f}", flush=True)
    if step % 10 == 0:
        numpy.save("checkpoint.npy", numpy.array([step, weights]))
        print(f"saved checkpoint checkpoint.npy at step {step}", flush=True)
"""
IN_VAIN = """\
import time

for step in range(2000):
    value = f"{5 - step / 50:.3f}" if step < 30 else "nan"
    print(f"step {step} loss {value} grad_norm {value}", flush=True)
    time.sleep(0.2)
"""


@pytest.fixture
def bench(slurm_cluster, bench):
    bench.patience_s = PATIENCE_S
    return bench


def begin(bench, name, source, *words, limit_s=LIMIT_S, comment=""):
    place = bench.directory / name
    place.mkdir()
    (place / "train.py").write_text(source)
    script = place / "job.sh"
    line = " ".join([sys.executable, "train.py", *words])
    script.write_text(f"#!/bin/bash\n{line}\n")
    return bench.submit(
        str(script),
        script=str(script),
        workdir=str(place),
        request=Request(gpus=1, time_limit_s=limit_s),
        stdout=str(place / "log"),
        stderr=str(place / "log"),
        passthrough=("--requeue", "--open-mode=append", f"--comment={comment}"),
    )


def actions(serve, job_id, code):
    with closing(open_store(serve.settings)) as store:
        records = store.actions(job_id=job_id)
    return [
        (one.action.kind, one.action.attempt, one.state)
        for one in records
        if one.action.reason is not None and one.action.reason.code == code
    ]


def why(serve, bench, job_id):
    with closing(open_store(serve.settings)) as store:
        view = job_view(bench.scheduler, store, viewer_of(serve.settings), job_id)
    return why_sentence(view, [], 0.0, str)


def steps_in(log):
    return [int(line.split()[1].split("/")[0]) for line in log if line.startswith("step ")]


def prove_that_it_resumes(serve, bench):
    """A first job of the same code is queued again by hand, and seen to go on."""
    job_id = begin(bench, "first", TRAIN, "--steps", "60", "--pause", "0.1", limit_s=600)
    log = bench.directory / "first" / "log"
    wait_for(lambda: log.exists() and "at step 20" in log.read_text(), "a checkpoint", PATIENCE_S)
    bench.requeue(job_id)
    assert bench.ended(job_id, restarts=1).state is JobState.COMPLETED
    wait_for(lambda: serve.remembers(job_id, 1), "the memory of it", PATIENCE_S)


def test_a_run_that_resumes_goes_on_beyond_its_limit(bench, tmp_path):
    serve = Serve(tmp_path / "state", SCHEDMATE_TIME_LIMITS__CARRY_ON="3")
    with serve.running():
        prove_that_it_resumes(serve, bench)
    daemon = serve.start()
    job_id = begin(bench, "second", TRAIN, "--steps", "160", "--pause", "0.5")
    try:
        wait_for(lambda: actions(serve, job_id, "carried_on"), "the decision", PATIENCE_S)
    finally:
        daemon.kill()  # wherever it is in doing so
        daemon.wait()
    with serve.running():
        bench.wait(job_id, lambda job: job.restarts == 1, what="the second attempt")
        job = bench.ended(job_id, restarts=1)
        assert job.state is JobState.COMPLETED
        wait_for(lambda: serve.remembers(job_id, 1), "the memory of it", PATIENCE_S)

    assert actions(serve, job_id, "carried_on") == [("requeue", 0, "done")]
    assert serve.requeues() == [(job_id, 0, "done")]
    log = (bench.directory / "second" / "log").read_text()
    assert log.count("resuming from") == 1, "one restart in one log"
    steps = steps_in(log.splitlines())
    lost = [before + 1 - now for before, now in pairwise(steps) if now != before + 1]
    assert len(lost) <= 1
    assert all(0 < each < 10 for each in lost), "what was done since the last checkpoint"
    assert steps[-1] == 160
    with closing(open_store(serve.settings)) as store:
        found = effects_of(store, job.end_time + 1)
    assert (found.carried_on, found.retries) == (1, 0)


def test_a_run_in_vain_is_stopped_once_where_its_owner_wants_it(bench, tmp_path):
    serve = Serve(tmp_path / "state", SCHEDMATE_DOOMED__MINUTES="0")
    with serve.running():
        kept = begin(bench, "kept", IN_VAIN, limit_s=HOUR_S)
        wait_for(lambda: actions(serve, kept, "doomed"), "the message", PATIENCE_S)
        assert actions(serve, kept, "doomed") == [("warn", 0, "noted")]
        assert bench.job(kept).state is JobState.RUNNING
        assert f"schedmate cancel {kept}" in why(serve, bench, kept)
        bench.scheduler.cancel(kept)
    daemon = serve.start()
    job_id = begin(bench, "ended", IN_VAIN, limit_s=HOUR_S, comment="schedmate=stop-doomed")
    try:
        wait_for(lambda: len(actions(serve, job_id, "doomed")) > 1, "the decision", PATIENCE_S)
    finally:
        daemon.kill()  # wherever it is in doing so
        daemon.wait()
    with serve.running():
        job = bench.ended(job_id)
        settled = [("warn", 0, "noted"), ("cancel", 0, "done")]
        wait_for(lambda: actions(serve, job_id, "doomed") == settled, "the record", PATIENCE_S)
        wait_for(lambda: serve.remembers(job_id), "the memory of it", PATIENCE_S)
    assert job.state is JobState.CANCELLED
    assert "it was stopped: its loss has been no number" in why(serve, bench, job_id)
    with closing(open_store(serve.settings)) as store:
        found = effects_of(store, job.end_time + 1)
    assert (found.doomed, found.doomed_stopped, found.doomed_ended) == (2, 1, 1)
    assert found.saved_gpu_hours > 0
