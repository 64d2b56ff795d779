"""What the local scheduler gives its jobs, refuses, and survives."""

from __future__ import annotations

import json
import os
import stat
import time
from dataclasses import replace

import pytest

from schedmate.model import BadInput, JobState, NotFound, SchedMateError
from schedmate.schedulers.local.attempt import RunFiles
from schedmate.schedulers.local.layout import Layout
from schedulers.local_site import SETTINGS, LocalSite

pytestmark = pytest.mark.processes


@pytest.fixture
def site(tmp_path):
    site = LocalSite(tmp_path, real=False)
    yield site
    site.leave()


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_the_environment_of_a_job_is_its_own_and_private(site):
    secret = {"TOKEN": "s3cret", "PATH": os.environ["PATH"], "ODD": "\udcff€"}
    job_id = site.shell('printf "%s %s" "$TOKEN" "$ODD"; env | grep -c ^HOME=', env=secret)
    site.ended(job_id)

    assert RunFiles(site.attempt(job_id).folder).end().code == 1, "nothing but what was given"
    assert (site.work / f"schedmate-{job_id}.out").read_bytes().startswith(b"s3cret \xff\xe2\x82")
    folder = site.layout.root / "jobs" / job_id
    assert mode(folder / "submission.json") == 0o600
    assert mode(folder / "attempt-0" / "spec") == 0o600


def test_without_gpus_their_variable_is_left_alone(site, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "5")
    job_id = site.shell("echo $CUDA_VISIBLE_DEVICES")
    site.ended(job_id)

    assert site.log(job_id) == "5\n"


def test_every_attempt_has_logs_of_its_own(site):
    job_id = site.shell("echo out $SCHEDMATE_RESTART_COUNT; echo err >&2", stderr="err-%j")
    for attempt in range(3):
        if attempt:
            site.scheduler.requeue(job_id, run=attempt - 1)
        site.ended(job_id, attempt)

    out, err = f"schedmate-{job_id}.out", f"err-{job_id}"
    assert site.lines(out) == ["out 0"]
    assert site.lines(f"{out}.attempt-2") == ["out 1"]
    assert site.lines(f"{out}.attempt-3") == ["out 2"]
    assert site.lines(f"{err}.attempt-2") == site.lines(err) == ["err"]
    job = site.job(job_id)
    places = [
        tuple(log.rpartition("/")[2] for log in logs) for logs in (job.logs, job.earlier_logs)
    ]
    assert places == [
        (f"{out}.attempt-3", f"{err}.attempt-3"),
        (f"{out}.attempt-2", f"{err}.attempt-2", out, err),
    ]


def test_a_log_of_an_earlier_job_is_not_written_on(site, tmp_path):
    first = site.shell("echo mine", stdout="shared.out")
    site.ended(first)
    second = site.shell("echo mine too", stdout="shared.out")
    site.ended(second)

    assert site.lines("shared.out") == ["mine too"]


def test_a_log_that_cannot_be_written_fails_the_job_with_a_reason(site):
    job_id = site.shell("echo ran >> ran", stdout="missing/dir/out")

    job = site.ended(job_id)

    assert (job.state, job.exit_code) == (JobState.FAILED, 1)
    assert job.reason.startswith("cannot write")
    assert site.lines() == []


def test_a_directory_that_goes_before_the_start_fails_the_job(site, tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    job_id = site.shell("true", workdir=str(gone), stdout=str(tmp_path / "out"))
    gone.rmdir()

    job = site.ended(job_id)

    assert (job.state, job.exit_code) == (JobState.FAILED, 126)
    assert str(gone) in job.reason


@pytest.mark.parametrize(
    ("command", "code", "words"),
    [
        ("no-such-program", 127, "command not found"),
        ("./script", 127, "the interpreter that its first line names is not there"),
        ("/etc", 126, "Permission denied"),
    ],
)
def test_a_command_that_cannot_be_run_says_why(site, command, code, words):
    (site.work / "script").write_text("#!/no/such/shell\n")
    (site.work / "script").chmod(0o755)
    job_id = site.submit(command)

    job = site.ended(job_id)

    assert (job.state, job.exit_code) == (JobState.FAILED, code)
    assert words in job.reason
    assert words in site.log(job_id)


def test_a_wide_job_at_the_head_is_not_overtaken(site):
    gate = "while [ ! -e go ]; do sleep 0.05; done"
    narrow = site.shell(gate)
    site.started(narrow)
    wide = site.shell("echo wide >> ran", gpus=2)
    late = site.shell("echo late >> ran")
    for _ in range(5):
        site.daemon.cycle(time.time())
    assert [site.job(one).state for one in (wide, late)] == [JobState.PENDING] * 2

    (site.work / "go").touch()

    site.ended(late)
    assert site.lines() == ["wide", "late"]


def test_a_job_wider_than_the_machine_has_become_does_not_block_the_rest(site):
    wide = site.shell("true", gpus=2)
    late = site.shell("echo late >> ran")
    site.settings = replace(SETTINGS, slots=1)

    assert site.ended(late).state is JobState.COMPLETED
    assert site.job(wide).state is JobState.PENDING


@pytest.mark.parametrize("content", [None, b"", b"{}", b"\xff\x00", b'{"command": 1, "env": []}'])
def test_a_submission_that_cannot_be_read_ends_that_job_alone(site, content):
    bad = site.shell("echo bad >> ran")
    saved = site.layout.root / "jobs" / bad / "submission.json"
    saved.unlink()
    if content is not None:
        saved.write_bytes(content)
    good = site.shell("echo good >> ran")

    assert site.ended(good).state is JobState.COMPLETED
    job = site.ended(bad)
    assert (job.state, job.exit_code) == (JobState.FAILED, 126)
    assert "cannot be read" in job.reason
    assert site.lines() == ["good"]


def test_a_run_whose_claim_is_damaged_troubles_nobody_else(site):
    bad = site.shell("true")
    site.queue.begin(int(bad), ["0"], time.time())
    folder = site.attempt(bad).folder
    folder.mkdir(parents=True)
    (folder / "claim").write_bytes(b"\x00\x00")
    good = [site.shell("echo good >> ran") for _ in range(2)]

    for job_id in good:
        site.ended(job_id)

    assert site.lines() == ["good"] * 2
    (folder / "exit.json").write_text('{"code": 0, "signal": 0, "reason": "", "end": 1.0}')


def test_a_disk_that_is_full_for_a_while_only_delays(site, monkeypatch):
    start = RunFiles.start
    full = {"1"}

    def start_if_there_is_space(attempt, spec):
        if attempt.folder.parent.name in full:
            raise OSError(28, "No space left on device")
        return start(attempt, spec)

    monkeypatch.setattr(RunFiles, "start", start_if_there_is_space)
    first, second = site.shell("echo first >> ran"), site.shell("echo second >> ran")
    site.ended(second)
    assert site.job(first).state is JobState.RUNNING
    full.clear()

    assert site.ended(first).state is JobState.COMPLETED
    assert site.lines() == ["second", "first"]


def test_a_queue_file_that_was_lost_leaves_its_runs_to_no_other_job(tmp_path):
    site = LocalSite(tmp_path, real=False)
    job_id = site.shell("echo old >> ran")
    site.ended(job_id)
    site.leave()
    for path in site.layout.root.glob("queue.sqlite3*"):
        path.unlink()

    again = LocalSite(tmp_path, real=False)
    assert again.shell("echo new >> ran") == job_id
    assert again.ended(job_id).state is JobState.COMPLETED

    assert again.lines() == ["old", "new"]
    again.leave()


def test_a_root_given_from_here_is_the_same_for_the_daemon(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    site = LocalSite(Layout(tmp_path).root.relative_to(tmp_path))
    job_id = site.shell("echo ran >> ran", workdir=str(tmp_path))
    site.ended(job_id)

    assert (tmp_path / "ran").exists()
    site.root = tmp_path
    site.leave()


@pytest.mark.parametrize(
    "odd", ["9" * 30, "-1", "1.0", "\N{ARABIC-INDIC DIGIT ONE}", "", "0x1", " 1"]
)
def test_odd_ids_are_not_found(site, odd):
    site.shell("true")

    assert site.scheduler.jobs([odd]) == []
    with pytest.raises(NotFound):
        site.scheduler.cancel(odd)


@pytest.mark.parametrize(
    ("parts", "kind", "words"),
    [
        ({"workdir": "/no/such/place"}, BadInput, "does not exist"),
        ({"script": "missing.sh"}, NotFound, "there is no script"),
        ({"script": "."}, BadInput, "cannot be read: Is a directory"),
        ({"passthrough": ("--qos=x",)}, BadInput, "does not know --qos=x"),
        ({"stdout": "."}, BadInput, "that is no file"),
        ({"stderr": "/dev/zero"}, BadInput, "that is no file"),
        ({"stdout": "pipe"}, BadInput, "that is no file"),
    ],
)
def test_a_refused_submission_leaves_no_job(site, parts, kind, words):
    os.mkfifo(site.work / "pipe")
    with pytest.raises(kind, match=words):
        site.submit("true", **parts)
    with pytest.raises(SchedMateError):
        site.submit()

    assert site.scheduler.jobs() == []
    assert site.submit("true") == "1"


def test_a_log_that_became_a_pipe_fails_the_job_and_holds_nobody_up(site):
    job_id = site.shell("echo ran >> ran; exit 1", stdout="out")
    site.ended(job_id)
    os.mkfifo(site.work / "out.attempt-2")
    site.scheduler.requeue(job_id, run=0)

    job = site.ended(job_id, restarts=1)

    assert (job.state, site.lines()) == (JobState.FAILED, ["ran"])
    assert job.reason.startswith("cannot write")


def test_a_log_may_be_thrown_away_every_time(site):
    job_id = site.shell("echo ran >> ran; exit 1", stdout=os.devnull)
    site.ended(job_id)
    site.scheduler.requeue(job_id, run=0)

    job = site.ended(job_id, restarts=1)

    assert (job.logs, site.lines()) == ((os.devnull,), ["ran", "ran"])


def test_a_script_is_run_as_it_was_when_it_was_submitted(site):
    script = site.work / "job.sh"
    script.write_text("echo $1 >> ran\n")
    job_id = site.submit(str(script), "argument", script=str(script))
    script.write_text("echo changed >> ran\n")
    site.ended(job_id)

    assert site.lines() == ["argument"]
    assert site.scheduler.script(job_id) == "echo $1 >> ran\n"
    saved = json.loads((site.layout.root / "jobs" / job_id / "submission.json").read_text())
    assert saved["command"][0] == "/bin/sh"
