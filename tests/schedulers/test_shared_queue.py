"""One queue for three real accounts: own rights, no sight of others' business, fair turns."""

from __future__ import annotations

import json
import os
import random
import signal
import socket
from collections import Counter
from contextlib import closing
from dataclasses import replace
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from files.people import OTHER, OWNER, give, needs_root
from schedmate.cli import root
from schedmate.config import LlmSettings, LocalSettings, Settings
from schedmate.model import (
    Job,
    JobState,
    NotFound,
    Request,
    SchedulerError,
    SchedulerUnreachable,
    Submission,
)
from schedmate.model.job import ArrayTask
from schedmate.model.wire import from_json, to_json
from schedmate.schedulers.shared import requests
from schedmate.schedulers.shared.protocol import Message, Question
from schedmate.service.daemon.serving import look_once
from schedmate.service.wiring import open_store
from schedmate.testing.scheduler_contract import SchedulerContract
from schedulers.gpu_box import GpuBox
from schedulers.local_site import wait_for
from schedulers.shared_site import ACCOUNTS, THIRD, SharedSite

pytestmark = [needs_root, pytest.mark.processes]


@pytest.fixture(scope="module")
def site():
    made = SharedSite()
    yield made
    made.leave()


class TestShared(SchedulerContract):
    slots = 2

    @pytest.fixture(scope="class")
    @classmethod
    def scheduler(cls):
        site = SharedSite(slots=cls.slots)
        yield site.scheduler
        site.leave()


def test_a_job_runs_as_its_owner_with_what_the_owner_has(site):
    script = site.home(OWNER) / "run.sh"
    script.write_text("#!/bin/bash\nid -un; echo $GREETING $1; cat /etc/shadow\n")
    give(script, OWNER, 0o600)
    job = site.job(
        OWNER,
        str(script),
        "you",
        script=str(script),
        env={"GREETING": "hello", "PATH": "/bin:/usr/bin"},
    )

    job_id = site.act(OWNER, lambda scheduler: scheduler.submit(job))

    (job,) = site.ended(job_id)
    log = site.home(OWNER) / f"schedmate-{job_id}.out"
    who, greeting, refused = log.read_text().splitlines()
    assert (who, greeting, job.user, job.exit_code) == (OWNER, "hello you", OWNER, 1)
    assert "Permission denied" in refused
    assert log.owner() == OWNER


def test_roots_files_are_safe_from_logs_and_scripts(site):
    precious = site.root / "precious"
    precious.write_text("keep me\n")
    precious.chmod(0o600)
    job = site.job(OWNER, "echo", "lost", stdout=str(precious))

    job_id = site.act(OWNER, lambda scheduler: scheduler.submit(job))
    kind, text, _ = site.act(
        OWNER,
        lambda scheduler: scheduler.submit(replace(job, script=str(precious), stdout=None)),
    )

    (job,) = site.ended(job_id)
    assert (job.state, precious.read_text()) == (JobState.FAILED, "keep me\n")
    assert (kind, "cannot be read" in text) == ("BadInput", True)


def test_others_see_that_a_job_is_there_and_nothing_of_what_it_does(site):
    secret = "hush-hush"
    job_id = site.shell(OWNER, f"echo {secret}; sleep 300", env={"TOKEN": secret}, name="mine")

    def look(scheduler):
        (job,) = scheduler.jobs([job_id])
        others = [
            scheduler.script(job_id),
            scheduler.activity([job]),
            scheduler.written_files([job]),
        ]
        return [to_json(job), str(others)]

    job, others = site.act(OTHER, look)

    seen = from_json(Job, job)
    assert (seen.id, seen.name, seen.user, seen.request) == (job_id, "mine", OWNER, Request(gpus=1))
    assert not any((seen.command, seen.workdir, seen.logs, seen.script, seen.reason))
    assert secret not in str(job) + others
    assert site.act(OWNER, lambda scheduler: scheduler.jobs([job_id])[0].command[2])[:4] == "echo"
    site.scheduler.cancel(job_id)


@pytest.mark.parametrize(
    "change",
    [
        lambda scheduler, job: scheduler.cancel(job),
        lambda scheduler, job: scheduler.hold(job),
        lambda scheduler, job: scheduler.release(job),
        lambda scheduler, job: scheduler.requeue(job, run=0),
        lambda scheduler, job: scheduler.set_nice(job, 5),
        lambda scheduler, job: scheduler.set_time_limit(job, 1),
        lambda scheduler, job: scheduler.set_excluded(job, ["n1"]),
    ],
    ids=["cancel", "hold", "release", "requeue", "nice", "limit", "exclude"],
)
def test_others_change_nothing(site, change):
    job_id = site.shell(OWNER, "sleep 300")
    before = site.state(job_id)

    kind, text, _ = site.act(OTHER, lambda scheduler: change(scheduler, job_id))

    assert (kind, text) == (
        "NotAllowed",
        f"job {job_id} is {OWNER}'s: only {OWNER} and operators can change it",
    )
    after = site.state(job_id)
    assert (after.nice, after.held, after.request) == (before.nice, before.held, before.request)
    assert not after.state.ended
    assert site.act(OWNER, lambda scheduler: scheduler.cancel(job_id)) is None
    assert site.ended(job_id)[0].state is JobState.CANCELLED


@pytest.mark.parametrize(
    "wrong",
    [
        {"command": ()},
        {"command": ("a\0b",)},
        {"command": ("a\ud800b",)},
        {"name": "\udcff"},
        {"workdir": "here"},
        {"request": Request(gpus=-1)},
        {"request": Request(gpus=10**12)},
        {"request": Request(gpus=1, time_limit_s=-1.0)},
        {"request": Request(cpus=-4)},
        {"nice": 10**15},
        {"name": "x" * 5000},
        {"env": {"A=B": "c"}},
        {"env": {"A": "c\0d"}},
    ],
    ids=str,
)
def test_no_client_can_queue_what_ours_would_not(site, wrong):
    """Any program may write to the socket."""
    whole = Submission(**{"command": ("true",), "workdir": "/", "name": "x", "env": {}} | wrong)
    question = Question(verb="submit", submission=replace(whole, env=None))

    kind, text, _ = site.act(OTHER, lambda scheduler: scheduler._ask(question, whole.env))

    assert kind in ("BadInput", "SchedulerError"), text
    assert len(text) < 200


def test_one_account_with_many_jobs_does_not_lock_out_another(site):
    """All have come before any starts: submitting takes longer than running on a busy machine."""
    full = [site.shell(THIRD, "sleep 300") for _ in range(site.slots)]
    many = [site.shell(OWNER, "sleep 0.2") for _ in range(20)]
    one = site.shell(OTHER, "sleep 0.2")
    assert {job.state for job in site.scheduler.jobs([one, *many])} == {JobState.PENDING}
    for job_id in full:
        site.scheduler.cancel(job_id)

    jobs = {job.id: job for job in site.ended(one, *many)}

    later = sum(jobs[one].start_time < jobs[job].start_time for job in many)
    assert later >= 10


def test_verbs_go_to_the_shared_queue_where_it_is_served(site, monkeypatch, tmp_path):
    monkeypatch.setenv("SCHEDMATE_CONFIG", os.devnull)
    monkeypatch.setenv("SCHEDMATE_STATE_DIR", str(tmp_path))
    monkeypatch.setenv("SCHEDMATE_QUEUE_SOCKET", str(site.socket))
    theirs = site.shell(OWNER, "sleep 300")

    def call(*words):
        done = CliRunner().invoke(root, words, catch_exceptions=False)
        assert done.exit_code in (0, 1), done.output
        return done.stdout

    mine = call("submit", "--parsable", f"--chdir={tmp_path}", "--", "sleep", "300").strip()
    listed = json.loads(call("jobs", "--json"))["jobs"]
    assert {theirs, mine} <= {view["job"]["id"] for view in listed}
    call("cancel", mine, theirs)
    assert {job.state for job in site.ended(mine, theirs)} == {JobState.CANCELLED}
    assert f"the queue of all accounts that root serves at {site.socket}" in call("doctor")

    monkeypatch.setenv("SCHEDMATE_LOCAL__SHARED", "false")
    assert json.loads(call("jobs", "--json"))["jobs"] == []
    assert "this account's own queue" in call("doctor")


def test_the_daemon_reads_a_failed_job_as_its_owner(site, tmp_path):
    """A home that is closed to others is read, and root's files are not."""
    line = "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB"
    failed = site.shell(OWNER, f"echo '{line}'; exit 1")
    secret = site.root / "secret"
    secret.write_text("bus error: the word\n")
    secret.chmod(0o600)
    sly = site.shell(OTHER, "exit 1")
    site.ended(failed, sly)
    link = site.home(OTHER) / f"schedmate-{sly}.out"
    link.unlink()
    link.symlink_to(secret)
    settings = Settings(
        state_dir=tmp_path,
        queue_socket=site.socket,
        local=LocalSettings(shared=True),
        llm=LlmSettings(enabled=False),
    )

    look_once(settings)

    with closing(open_store(settings)) as store:
        diagnosis = store.diagnoses(failed)[0]
        other = store.diagnoses(sly)
    assert line in str(diagnosis)
    assert "the word" not in str(other)


def test_settings_are_read_again_while_jobs_run(site):
    running = site.shell(OWNER, "sleep 300")
    wide = site.job(OWNER, "true", gpus=3)
    assert site.act(OWNER, lambda scheduler: scheduler.submit(wide))[0] == "SchedulerError"

    site.settings.write_text("local.slots = 4\nlocal.kill_wait_s = 0.5\n")
    site.server.send_signal(signal.SIGHUP)

    taken = wait_for(
        lambda: (
            isinstance(found := site.act(OWNER, lambda scheduler: scheduler.submit(wide)), str)
            and found
        ),
        "the new slots",
    )
    assert site.ended(taken)[0].state is JobState.COMPLETED
    assert site.state(running).state is JobState.RUNNING
    site.scheduler.cancel(running)


def test_one_account_has_so_many_jobs(monkeypatch):
    monkeypatch.setattr(requests, "MOST_OF_ONE", 5)
    queue = SimpleNamespace(count_unfinished=lambda _: 4, accept=lambda *_: "9")
    asked = requests.SharedRequests(queue, ())

    def submit(*tasks):
        job = Submission(command=("true",), workdir="/", name="x", tasks=tasks)
        return asked.answer(os.getuid(), Message(Question(verb="submit", submission=job)))

    assert submit().text == "9"
    with pytest.raises(SchedulerError, match="submit more when some have ended"):
        submit(ArrayTask(1), ArrayTask(2))


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1])
def test_200_jobs_of_three_accounts_survive_the_servers_deaths(seed):
    """What was promised runs once, as its owner, and no slot is given twice."""
    site, chance = SharedSite(slots=8), random.Random(seed)
    text = (
        'echo "$SCHEDMATE_JOB_ID $(id -un) $SCHEDMATE_SLOTS $EPOCHREALTIME" >> ran; '
        'sleep {:.2f}; echo "$SCHEDMATE_JOB_ID $EPOCHREALTIME" >> over'
    )
    promised = {}
    for number in range(200):
        user = ACCOUNTS[number % 3]
        gpus = chance.choice((1, 1, 1, 2, 4, 8))
        job = site.job(user, "bash", "-c", text.format(chance.uniform(0, 0.2)), gpus=gpus)
        found = site.act(user, lambda scheduler, job=job: scheduler.submit(job))
        if isinstance(found, str):
            promised[found] = user
        else:
            assert found[0] == SchedulerUnreachable.__name__, found
        if number % 10 == 5:
            site.kill_in(chance.uniform(0, 0.3))
        if site.server.poll() is not None:
            site.serve()
    site.survive()
    wait_for(
        lambda: all(job.state.ended for job in site.scheduler.jobs()), "the end of all jobs", 240
    )

    jobs = {job.id: job for job in site.scheduler.jobs()}
    assert len(promised) >= 180
    assert {job_id: jobs[job_id].user for job_id in promised} == promised
    assert {job.state for job in jobs.values()} == {JobState.COMPLETED}
    begun, over = [], {}
    for user in ACCOUNTS:
        for line in (site.home(user) / "ran").read_text().splitlines():
            job_id, who, slots, at = line.split()
            assert (who, jobs[job_id].user) == (user, user)
            begun += [(float(at), job_id, slot) for slot in slots.split(",")]
        for line in (site.home(user) / "over").read_text().splitlines():
            job_id, at = line.split()
            over[job_id] = float(at)
    runs = Counter(job_id for job_id in {(at, job_id) for at, job_id, _ in begun})
    assert set(runs.values()) == {1}
    assert {job_id for _, job_id in runs} == set(jobs)
    held = {}
    for at, job_id, slot in sorted(begun):
        assert held.get(slot, 0.0) <= at, f"slot {slot} was given twice"
        held[slot] = over[job_id]
    site.leave()


def test_operators_drain_and_resume_gpus_through_the_socket(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", GpuBox(tmp_path / "box", count=2).path)
    site = SharedSite()
    gpu = f"{socket.gethostname()}:gpu0"
    try:
        denied = site.act(OWNER, lambda queue: queue.drain(gpu, "I want it"))
        assert denied[:2] == [
            "NotAllowed",
            "only operators and root can drain and resume GPUs of this queue",
        ]
        site.scheduler.drain(gpu, "its fan is loud")
        job = site.ended(site.shell(OWNER, "true"))[0]
        drained = site.scheduler.nodes([gpu])[0]
        site.scheduler.resume(gpu, "its fan is loud")

        assert job.nodes == (f"{socket.gethostname()}:gpu1",)
        assert (drained.condition, drained.reason) == ("drain", "its fan is loud")
        assert site.scheduler.nodes([gpu])[0].condition == "up"
        assert site.act(OWNER, lambda queue: queue.trouble()) == ""
        with pytest.raises(NotFound, match="there is no GPU"):
            site.scheduler.drain("elsewhere:gpu9", "x")
        both = [f"{socket.gethostname()}:{one}" for one in ("gpu0", "gpu1")]
        waits = site.shell(OWNER, "true", held=True)
        site.act(OWNER, lambda queue: queue.set_excluded(waits, both[:1]))
        assert site.state(waits).request.exclude_nodes == tuple(both[:1])
    finally:
        site.leave()


def test_waiting_tasks_of_an_array_are_listed_for_every_account(site):
    tasks = tuple(map(ArrayTask, range(3)))
    array = site.shell(OWNER, "true", tasks=tasks, held=True)

    assert site.act(OWNER, lambda queue: queue.waiting_tasks(array)) == [
        f"{array}_{number}" for number in range(3)
    ]
    site.act(OWNER, lambda queue: queue.cancel(array))
