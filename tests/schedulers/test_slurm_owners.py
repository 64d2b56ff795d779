"""A daemon run by root over jobs of other users on a real Slurm: nobody sees more through it.

The jobs name as their logs what their owners may not read. A marker in those files must be found
nowhere: not in what verbs print, not in the store, not in what a model is asked.
"""

import os
import shutil
import subprocess
import tempfile
import time
from contextlib import closing
from pathlib import Path

import pytest

from files.people import OTHER, OWNER, give
from schedmate.cli import main
from schedmate.config import LlmSettings, Settings
from schedmate.model import JobState
from schedmate.service.daemon.assembling import assemble
from schedmate.service.wiring import open_scheduler, open_store
from schedmate.testing.llm import says, serving

pytestmark = pytest.mark.slurm

MARKER = "the-word-that-must-not-leak"
LEAK = f"""Traceback (most recent call last):
  File "train.py", line 3, in <module>
RuntimeError: {MARKER}
step 7 of 100 loss 0.5 https://{MARKER}.example/run
"""
PUZZLE = "[pump] valve 7 does not close, pressure 3.25 stays"
OWN_ERROR = f'for n in $(seq 9); do echo "step $n"; done; echo "{PUZZLE}"; echo bye; exit 1'
TASK = "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID.log"
PATIENCE_S = 120


@pytest.fixture
def work(slurm_cluster):
    """A directory that all may enter, with a home for each user and a file for root alone."""
    slurm_cluster.directory.chmod(0o755)  # else no other user's script can be started
    made = Path(tempfile.mkdtemp(prefix="schedmate-owners-", dir="/tmp"))
    made.chmod(0o755)
    for user in (OWNER, OTHER):
        (made / user).mkdir()
        give(made / user, user, 0o755)
    (made / "secret.log").write_text(LEAK)
    (made / "secret.log").chmod(0o600)
    private = made / OTHER / "private"
    private.mkdir()
    (private / "x.log").write_text(LEAK)
    give(private / "x.log", OTHER)
    give(private, OTHER, 0o700)
    yield made
    shutil.rmtree(made)


@pytest.fixture
def submit(work):
    submitted = []

    def sbatch(user, *options, wrap="exit 1"):
        home = work / user
        done = subprocess.run(
            ["sbatch", "--parsable", f"--uid={user}", "-D", home, *options, f"--wrap={wrap}"],
            capture_output=True,
            text=True,
            check=True,
            cwd=home,
        )
        submitted.append(done.stdout.strip().partition(";")[0])
        return submitted[-1]

    yield sbatch
    subprocess.run(["scancel", *submitted], check=False)


@pytest.fixture
def endpoint():
    with serving(says("no")) as server:
        yield server


@pytest.fixture
def settings(tmp_path, endpoint):
    return Settings(
        state_dir=tmp_path / "state",
        cache_dir=tmp_path / "cache",
        scheduler="slurm",
        llm=LlmSettings(base_url=endpoint.base_url, deadline_s=5, repair_turns=0),
    )


@pytest.fixture
def verb(settings, monkeypatch, capsys, endpoint):
    monkeypatch.setenv("SCHEDMATE_CONFIG", "/dev/null")
    monkeypatch.setenv("SCHEDMATE_STATE_DIR", str(settings.state_dir))
    monkeypatch.setenv("SCHEDMATE_CACHE_DIR", str(settings.cache_dir))
    monkeypatch.setenv("SCHEDMATE_SCHEDULER", "slurm")
    monkeypatch.setenv("SCHEDMATE_LLM__BASE_URL", endpoint.base_url)

    def run(*words):
        with pytest.raises(SystemExit):
            main([*words])
        out, err = capsys.readouterr()
        return out + err

    return run


def wait_until(met):
    deadline = time.monotonic() + PATIENCE_S
    while not met():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.3)


def jobs_of(settings, submitted):
    """With all tasks of an array and all parts of a heterogeneous job."""
    return open_scheduler(settings).jobs(submitted)


def served(settings, submitted, endpoint):
    """The daemon, until it has diagnosed all that failed and has asked about what is open."""
    with assemble(settings) as daemon, closing(open_store(settings)) as store:

        def looked():
            daemon.cycle(time.time())
            failed = [job for job in jobs_of(settings, submitted) if job.state.failed]
            diagnosed = all(store.diagnoses(job.id) for job in failed)
            return diagnosed and any("valve 7" in str(asked) for asked in endpoint.requests)

        wait_until(looked)
        for _ in range(5):
            daemon.cycle(time.time())
            time.sleep(0.2)


def replacing(log, target):
    """What a job does to have its own log show another file."""
    return f"echo step 1 of 9; ln -sfn {target} {log};"


def test_what_its_owner_may_not_read_is_found_nowhere(work, submit, settings, verb, endpoint):
    secret, mine, theirs = work / "secret.log", work / OWNER, work / OTHER
    (mine / "link.log").symlink_to(secret)
    (mine / "rotated.log.1").symlink_to(secret)
    os.link(secret, mine / "hard.log")
    (mine / "way").symlink_to(theirs / "private")
    submitted = [
        submit(OWNER, f"--output={secret}"),
        submit(OWNER, f"--output={mine}/own.log", f"--error={secret}"),
        submit(OWNER, f"--output={mine}/link.log"),
        submit(OWNER, f"--output={mine}/hard.log"),
        submit(OWNER, f"--output=../{OTHER}/private/x.log"),
        submit(OWNER, "--output=way/x.log"),
        submit(OWNER, "--job-name=../secret", "--output=%x.log"),
        submit(OWNER, f"--output={work}/%u/../secret.log"),
        submit(OWNER, "--output=/proc/self/environ"),
        submit(OWNER, "--output=/proc/self/fd/3"),
        submit(OTHER, f"--output={secret}"),
        submit(OTHER, "--output=new.log", wrap=f"{replacing('new.log', secret)} exit 1"),
        submit(OWNER, "-a0-1", "--output=%A_%a.log", wrap=f"{replacing(TASK, secret)} exit 1"),
        submit(OWNER, f"--output={secret}", ":", f"--output={secret}"),
        submit(OWNER, "--output=rotated.log", wrap="echo step 1; exit 1"),
    ]
    control = submit(OTHER, "--output=control.log", wrap=OWN_ERROR)
    healthy = submit(OWNER, "--output=ok.log", wrap=f"{replacing('ok.log', secret)} exit 0")
    running = submit(OWNER, "--output=live.log", wrap=f"{replacing('live.log', secret)} sleep 600")
    everything = [*submitted, control, healthy, running]

    def settled():
        jobs = jobs_of(settings, everything)
        waiting = [job for job in jobs if not job.state.ended and job.id != running]
        (live,) = (job for job in jobs if job.id == running)
        linked = (mine / "live.log").is_symlink()
        return not waiting and live.state is JobState.RUNNING and linked

    wait_until(settled)
    served(settings, everything, endpoint)

    told = [verb("jobs"), verb("history")]
    ids = [job.id for job in jobs_of(settings, everything)]
    assert len(ids) == len(everything) + 1, "an array is two, a heterogeneous job one"
    for job_id in ids:
        told += [verb("job", job_id), verb("why", job_id), verb("eta", job_id)]
    pointed = ("--reason", "storage_io", "--text", "RuntimeError")
    told += [verb("rules", "correct", job_id, *pointed) for job_id in submitted[:3]]
    told.append(verb("rules", "correct", control, "--reason", "storage_io", "--json"))
    kept = b"".join(file.read_bytes() for file in settings.state_dir.rglob("*") if file.is_file())

    assert MARKER not in "".join(told)
    assert MARKER.encode() not in kept
    assert MARKER not in str(endpoint.requests)
    assert PUZZLE in verb("why", control)
    assert f"cannot be read as user {OWNER}" in verb("why", submitted[0])
    assert f"cannot be read as user {OWNER}" in verb("job", running)
