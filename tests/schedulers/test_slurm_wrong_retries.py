"""Runs of a real Slurm in mode `act` that must not be repeated, beside some that must be, once."""

import subprocess
import time
from dataclasses import replace

import pytest

from schedmate.config import HangSettings
from schedmate.model import JobState
from schedmate.service.daemon.assembling import assemble
from schedmate.service.views.job_view import job_view
from schedmate.service.views.sentences import why_sentence
from schedmate.service.visibility import viewer_of

pytestmark = [pytest.mark.slurm, pytest.mark.slow, pytest.mark.timeout(1800)]
AT_MOST_S = 600.0
HANG_S = 12.0
ECC = "sleep 1.5; echo 'RuntimeError: CUDA error: uncorrectable ECC error encountered'; exit 1"
FIRST_TIME = '[ "${SLURM_RESTART_COUNT:-0}" = 0 ] || exit 0'
NCCL = (
    "echo 'torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:1970, remote "
    "process exited or there was a network error'; exit 1"
)
EPOCHS = 'for epoch in $(seq 10); do echo "epoch $epoch/10 loss 0.5"; done; sleep 1.5'
STEADY = 'for step in $(seq 300); do echo "step $step/400 loss 0.5"; sleep 0.1; done'
RESUMES = """
import os
import pickle
import time

start = 0
if os.path.exists("last.pkl"):
    with open("last.pkl", "rb") as file:
        state = pickle.load(file)
    start = state["epoch"] + 1
for epoch in range(start, 40):
    time.sleep(0.2 if start else 5)
    print(f"epoch {epoch + 1}/40", flush=True)
    with open("last.pkl", "wb") as file:
        pickle.dump({"epoch": epoch}, file)
"""
STARTS_OVER = """
import time

for epoch in range(1000):
    time.sleep(1)
    print(f"epoch {epoch + 1}/1000", flush=True)
"""
RESUBMITS = """
import subprocess

subprocess.run(["sbatch", "--output=next.log", "--wrap=sleep 600"], check=True)
"""
CONSUMES = "import socket; pair = socket.socketpair(); pair[0].recv(1)"


class Site:
    """Jobs of one user, each in a directory of its own, and the daemon that looks at them."""

    def __init__(self, bench, settings, store):
        self.bench, self.settings, self.store = bench, settings, store
        self.ids = {}

    def submit(self, name, script, *flags, files=()):
        place = self.bench.directory / name
        place.mkdir(exist_ok=True)
        for file, text in files:
            (place / file).write_text(text)
        (place / "job.sh").write_text(f"#!/bin/bash\n{script}\n")
        words = ["sbatch", "--parsable", "--requeue", "--ntasks=1", "--mem=10", *flags, "job.sh"]
        said = subprocess.run(words, cwd=place, check=True, capture_output=True, text=True)
        self.ids[name] = said.stdout.strip()
        return self.ids[name]

    def look_until(self, met, daemon, what):
        until = time.monotonic() + AT_MOST_S
        while not met():
            assert time.monotonic() < until, f"{what}: {self.told()}"
            daemon.cycle(time.time())
            time.sleep(0.4)

    def decisions(self, name):
        """What was decided about failures of this job, in order."""
        records = self.store.actions(job_id=self.ids[name])
        about = [one for one in records if one.action.kind in ("requeue", "leave", "warn")]
        return tuple((one.action.kind, one.action.attempt) for one in about)

    def requeues(self):
        records = (one for each in self.ids.values() for one in self.store.actions(job_id=each))
        ours = [one for one in records if one.action.kind == "requeue"]
        names = {job_id: name for name, job_id in self.ids.items()}
        return sorted((names[one.action.job_id], one.action.attempt, one.state) for one in ours)

    def told(self):
        """Each job's state and what was decided about it, with the grounds."""
        return {
            name: (self.job(name).state, *(one.action for one in self.store.actions(job_id=job_id)))
            for name, job_id in self.ids.items()
        }

    def job(self, name):
        return self.bench.job(self.ids[name])

    def why(self, name):
        view = job_view(self.bench.scheduler, self.store, viewer_of(self.settings), self.ids[name])
        return why_sentence(view, self.bench.scheduler.jobs(), time.time(), str)


@pytest.fixture
def site(bench, settings, store):
    hang = HangSettings(minutes=HANG_S / 60)
    return Site(bench, replace(settings, hang=hang), store)


def test_of_fifteen_failures_those_are_repeated_that_a_retry_helps_once(site):
    for kind in ("afternotok", "afterany"):
        head = site.submit(f"head of {kind}", ECC)
        site.submit(kind, "sleep 600", f"--dependency={kind}:{head}")
    head = site.submit("head of afterok", f"echo a head of others; {FIRST_TIME}; {ECC}")
    site.submit("afterok", "true", f"--dependency=afterok:{head}")
    site.submit("resubmits", f"sbatch --wrap='sleep 600'; {ECC}")
    site.submit("resubmits in code", f"python3 on.py; {ECC}", files=[("on.py", RESUBMITS)])
    site.submit("requeues itself", f"{FIRST_TIME}; scontrol requeue $SLURM_JOB_ID; sleep 60")
    site.submit("finished", f"{EPOCHS}; echo Training completed; {NCCL}")
    site.submit("unread limit", "exec /bin/sleep 600", "--time=1")
    site.submit("limit", "exec python3 train.py", "--time=1", files=[("train.py", STARTS_OVER)])
    site.submit(
        "resumable limit", "exec python3 train.py", "--time=1", files=[("train.py", RESUMES)]
    )
    site.submit("consumer", f"{STEADY}; python3 -c '{CONSUMES}'")
    site.submit("parent", f"{STEADY}; sleep 600 & wait")
    site.submit("gpu", f"{FIRST_TIME}; {ECC}")
    site.submit("killed", f"{FIRST_TIME}; sleep 1.5; kill -9 $$")
    site.submit("mistake", "sleep 1.5; python3 -c 'import no_such_module'")
    left = ["head of afternotok", "head of afterany", "resubmits", "resubmits in code"]
    left += ["finished", "unread limit", "limit", "mistake"]
    waiting = ["consumer", "parent"]
    repeated = ["gpu", "head of afterok", "killed", "resumable limit"]
    well = [*repeated, "afterok", "requeues itself"]

    def over():
        return all(site.decisions(name) for name in left + waiting) and all(
            site.job(name).state is JobState.COMPLETED for name in well
        )

    with assemble(site.settings) as daemon:
        site.look_until(over, daemon, "the decisions")
        soon = time.monotonic() + 5
        site.look_until(lambda: time.monotonic() > soon, daemon, "some looks more")

    assert site.requeues() == [(name, 0, "done") for name in repeated]
    assert {name: site.decisions(name) for name in left} == dict.fromkeys(left, (("leave", 0),))
    assert {name: site.decisions(name) for name in waiting} == dict.fromkeys(
        waiting, (("warn", 0),)
    )
    assert {name: site.job(name).restarts for name in left + waiting} == dict.fromkeys(
        left + waiting, 0
    )
    assert site.job("requeues itself").restarts == 1
    assert f"job {site.ids['afterany']} was submitted to run after it" in site.why(
        "head of afterany"
    )
    assert "its work was done" in site.why("finished")
    assert "it may only wait" in site.why("consumer")
    assert "ECC" in site.store.diagnoses(site.ids["gpu"])[0].last_lines[-1].text

    [anew] = [
        one
        for one in site.store.actions(job_id=site.ids["afterok"])
        if one.action.kind == "set_dependency"
    ]
    head = site.ids["head of afterok"]
    assert (anew.state, anew.action.dependency) == ("done", f"afterok:{head}")


def test_where_it_may_not_be_repaired_why_has_the_command_that_does(site):
    head = site.submit("head", f"{FIRST_TIME}; {ECC}")
    after = site.submit("after", "true", f"--dependency=afterok:{head}", "--comment=schedmate=off")
    with assemble(site.settings) as daemon:
        site.look_until(
            lambda: site.job("head").state is JobState.COMPLETED, daemon, "the retry of the head"
        )
        daemon.cycle(time.time())
    told = site.why("after")
    assert f"job {head} was queued again and has succeeded since" in told
    change = f"scontrol update JobId={after} Dependency=afterok:{head}"
    assert change in told
    subprocess.run(change.split(), check=True)
    site.bench.wait(after, lambda job: job.state is JobState.COMPLETED, what="the dependant")


def test_a_dependant_that_slurm_has_cancelled_is_to_be_submitted_anew(site, slurm_cluster):
    config = slurm_cluster.config.read_text()
    slurm_cluster.config.write_text(f"{config}\nDependencyParameters=kill_invalid_depend\n")
    try:
        subprocess.run(["scontrol", "reconfigure"], check=True)
        head = site.submit("head", f"{FIRST_TIME}; {ECC}")
        after = site.submit("after", "true", f"--dependency=afterok:{head}")
        with assemble(site.settings) as daemon:
            site.look_until(
                lambda: (
                    (site.job("head").state, site.job("after").state)
                    == (JobState.COMPLETED, JobState.CANCELLED)
                ),
                daemon,
                "the retry and the end of its dependant",
            )
    finally:
        slurm_cluster.config.write_text(config)
        subprocess.run(["scontrol", "reconfigure"], check=True)
    assert site.requeues() == [("head", 0, "done")]
    told = site.why("after")
    assert f"job {after} never started and was cancelled" in told
    assert f"job {head} was queued again and has succeeded since" in told
    assert "submit it anew" in told


# no end may fall into the second in which the store was made
HIDDEN = """
import base64, os, subprocess, sys, time
time.sleep(1.5)
name = base64.b64decode("c2JhdGNo").decode()
subprocess.run([name, "--mem=10", "-o", "/dev/null", "--wrap", "sleep 600"], cwd="/", check=True)
print("RuntimeError: CUDA error: uncorrectable ECC error encountered")
sys.exit(1)
"""


def test_what_is_submitted_again_from_elsewhere_is_not_retried_beside_it(site, tmp_path):
    """By code that does not show it, or by hand: the decision waits for that."""
    site.settings = replace(site.settings, settle_s=12.0)
    words = ["sbatch", "--mem=10", "--output=/dev/null"]
    with assemble(site.settings) as daemon:
        site.submit("hidden", "exec python3 on.py", files=[("on.py", HIDDEN)])
        site.look_until(lambda: site.job("hidden").state.failed, daemon, "the run that submits")
        site.submit("copied", f": of a project of its own; {ECC}")
        site.submit("other", f": /data/x; {FIRST_TIME}; {ECC}")
        for name in ("copied", "other"):
            site.look_until(lambda name=name: site.job(name).state.failed, daemon, "the failure")
        copy = tmp_path / "mine.sh"
        copy.write_text((tmp_path / "copied" / "job.sh").read_text())
        subprocess.run([*words, "--job-name=mine", str(copy)], cwd="/tmp", check=True)
        subprocess.run([*words, "--wrap=echo something else"], cwd="/tmp", check=True)

        def over():
            left = all(site.decisions(name) for name in ("hidden", "copied"))
            return left and site.job("other").state is JobState.COMPLETED

        site.look_until(over, daemon, "the decisions")
    assert site.requeues() == [("other", 0, "done")], site.told()
    assert "submitted on a node of this run" in site.why("hidden")
    assert "runs the same" in site.why("copied")
