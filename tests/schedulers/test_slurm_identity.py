"""Numbers of jobs are no identities: a real Slurm whose counter wraps around, a store of another
cluster, and runs that ended with a node before Slurm queued their jobs again."""

import os
import re
import shutil
import subprocess
import tempfile
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from files.people import OTHER, OWNER, give
from schedmate.cli import main
from schedmate.config import LlmSettings, Settings
from schedmate.model import JobState, UnusableStore
from schedmate.service.daemon.assembling import assemble
from schedmate.service.daemon.serving import look_once
from schedmate.service.records.nodes import NodeKnowledge
from schedmate.service.usecases.history_import import CodeOptions, import_scheduler
from schedmate.service.views.job_view import job_view
from schedmate.service.visibility import Viewer
from schedmate.service.wiring import open_scheduler, open_store
from schedmate.testing.slurm_cluster import private_slurm, why_not
from schedulers.slurm_site import scontrol

pytestmark = pytest.mark.slurm

PATIENCE_S = 240.0
NUMBERS = 7
KEPT, NOT_KEPT = "3600", "2"
"""For how many seconds slurmctld keeps what has ended: on a busy machine, no look would see it."""
MARKER = "a-word-of-the-first-user"
MISTAKE = f"echo \"ModuleNotFoundError: No module named '{MARKER}'\"; exit 1"
ECC = (
    '[ -n "$SLURM_RESTART_COUNT" ] && exit 0; '
    "echo 'RuntimeError: CUDA error: uncorrectable ECC error encountered'; exit 1"
)


@pytest.fixture(scope="module")
def cluster():
    reason = why_not()
    if reason:
        pytest.skip(reason)
    wraps = {"FirstJobId": "1", "MaxJobId": str(NUMBERS + 1), "MinJobAge": KEPT}
    with private_slurm(nodes=3, settings=wraps) as cluster:
        cluster.directory.chmod(0o755)  # else no other user's script can be started
        yield cluster


@pytest.fixture
def work(cluster):
    made = Path(tempfile.mkdtemp(prefix="schedmate-identity-", dir="/tmp"))
    made.chmod(0o755)
    for user in (OWNER, OTHER, "root"):
        (made / user).mkdir()
        give(made / user, user, 0o755)
    yield made
    for user in (OWNER, OTHER, "root"):
        subprocess.run(["scancel", "--user", user], check=True)
    forget_ended()
    shutil.rmtree(made)


@pytest.fixture
def settings(cluster, tmp_path, monkeypatch):
    monkeypatch.setenv("SCHEDMATE_CONFIG", "/dev/null")
    monkeypatch.setenv("SCHEDMATE_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("SCHEDMATE_SCHEDULER", "slurm")
    return Settings(
        scheduler="slurm",
        mode="act",
        settle_s=0.0,
        state_dir=tmp_path / "state",
        llm=LlmSettings(enabled=False),
    )


@pytest.fixture
def store(settings):
    with closing(open_store(settings)) as store:
        yield store


@pytest.fixture
def look(settings, store):
    """Of a daemon that goes on."""
    with assemble(settings) as daemon:
        yield lambda: daemon.cycle(time.time())


def until(reached, look=lambda: None):
    deadline = time.monotonic() + PATIENCE_S
    while True:
        look()
        found = reached(None)
        if found:
            return found
        assert time.monotonic() < deadline
        time.sleep(0.5)


def forget_ended():
    """Wait until no job is known any more, so that their numbers are used again."""
    config = Path(os.environ["SLURM_CONF"])
    text = config.read_text()
    for kept, reached in ((NOT_KEPT, lambda _: not listed()), (KEPT, lambda _: True)):
        config.write_text(re.sub(r"MinJobAge=\d+", f"MinJobAge={kept}", text))
        scontrol("reconfigure")
        until(reached)


def listed():
    return subprocess.check_output(["squeue", "-h", "-a", "-tall", "-o", "%i"], text=True).split()


def submit(work, user, command, *flags):
    """In a directory of its own: what is submitted beside a job may be its owner's own retry."""
    place = Path(tempfile.mkdtemp(dir=work / user))
    give(place, user)
    words = ["runuser", "-u", user, "--", "sbatch", "--parsable", "--requeue", "--mem=1", *flags]
    answer = subprocess.check_output([*words, f"--wrap={command}"], cwd=place, text=True)
    return answer.strip()


def of_its_own(number):
    """What tells its script from others: a copy may be its owner's own retry."""
    return f": {' '.join(f'{word}{number}' for word in 'abcdefghijkl')}"


def said(capsys, *words):
    """The exit code of a verb, and what it printed."""
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        main(words)
    answer = capsys.readouterr()
    return ended.value.code, answer.out + answer.err


def decisions(store, job_id):
    return {one.action.kind: one.state for one in store.actions(job_id=job_id)}


def test_every_job_of_a_used_number_is_a_job_of_its_own(settings, store, work, look, capsys):
    first = [submit(work, OWNER, MISTAKE) for _ in range(NUMBERS)]
    until(lambda _: all("leave" in decisions(store, one) for one in first), look)
    reasons = {one: store.diagnoses(one)[0].reason for one in first}
    old = {one: store.run(one).job for one in first}
    forget_ended()

    second = [submit(work, OTHER, f"{of_its_own(number)}; {ECC}") for number in range(NUMBERS)]
    assert sorted(second) == sorted(first)

    # before any daemon has seen them, and without one
    stranger = Viewer(user=OTHER, operator=False)
    view = job_view(open_scheduler(settings), store, stranger, second[0])
    assert view.job.user == OTHER
    assert MARKER not in repr(view)

    until(lambda _: all(decisions(store, one).get("requeue") == "done" for one in second), look)
    until(lambda _: all(store.run(one, 1) is not None for one in second), look)
    for one in second:
        assert store.diagnoses(one)[0].reason == "gpu_ecc"
        assert [store.run(one, attempt).job.user for attempt in (0, 1)] == [OTHER, OTHER]
        assert store.run(one, 1).job.state is JobState.COMPLETED
        # the older one is whole, and its owner's alone
        name = f"{one}@{old[one].submit_time:.0f}"
        assert store.diagnoses(name)[0].reason == reasons[one]
        assert "leave" in decisions(store, name)
        assert store.run(name).job.user == OWNER
        seen = job_view(open_scheduler(settings), store, stranger, name)
        assert seen.job.id == name
        assert MARKER not in repr(seen)
        assert not seen.diagnoses
    assert MARKER in said(capsys, "job", f"{second[0]}@{old[second[0]].submit_time:.0f}")[1]

    # what accounting remembers of both says nothing else, with and without a daemon before
    import_scheduler(settings, "slurm", CodeOptions(read=False))
    for one in second:
        assert store.run(one).job.user == OTHER
        assert store.run(one).job.restarts == 1
        assert len(store.diagnoses(one)) == 1
    other = replace(settings, state_dir=settings.state_dir.with_name("other"))
    import_scheduler(other, "slurm", CodeOptions(read=False))
    with closing(open_store(other)) as imported:
        for one in second:
            name = f"{one}@{old[one].submit_time:.0f}"
            assert [imported.run(each).job.user for each in (one, name)] == [OTHER, OWNER]
            assert imported.run(one).job.restarts == 1


def test_a_store_of_another_cluster_is_refused(settings, store, work, capsys):
    job_id = submit(work, OWNER, MISTAKE)
    until(lambda _: "leave" in decisions(store, job_id), lambda: look_once(settings))
    assert store.cluster() == "private"
    store.pin("elsewhere")

    sentence = "holds the jobs of cluster elsewhere, and this is cluster private"
    for refused in (open_store, look_once):
        with pytest.raises(UnusableStore, match=sentence):
            refused(settings)
    for verb in (["history", "list"], ["job", job_id], ["serve"], ["status"]):
        code, words = said(capsys, *verb)
        assert (code, sentence in words) == (UnusableStore.exit_code, True)
    assert "of cluster elsewhere" in said(capsys, "store", "show")[1]

    # taken over: another user's job of the same number is not taken for it
    assert "was of elsewhere" in said(capsys, "store", "pin", "private")[1]
    forget_ended()
    while submit(work, OTHER, "true") != job_id:
        pass
    view = job_view(open_scheduler(settings), store, Viewer(user=OTHER, operator=False), job_id)
    assert view.job.user == OTHER
    assert not view.diagnoses
    assert MARKER not in repr(view)


def test_what_dies_with_a_node_counts_against_it(settings, store, work, look):
    """Slurm queues the jobs again at once: only accounting knows that they ran there."""
    users = (OWNER, OTHER, "root")
    ours = [submit(work, users[n % 3], "sleep 600", "--nodelist=node1") for n in range(6)]
    elsewhere = submit(work, OWNER, "sleep 600", "--nodelist=node0")

    def running(_):
        jobs = {job.id: job for job in open_scheduler(settings).jobs()}
        return all(jobs[one].state is JobState.RUNNING for one in [*ours, elsewhere])

    until(running, look)
    scontrol("update", "NodeName=node1", "State=DOWN", "Reason=test")
    try:
        until(lambda _: all(store.run(one, 0) is not None for one in ours), look)
    finally:
        subprocess.run(["scontrol", "update", "NodeName=node1", "State=RESUME"], check=False)
    for one in ours:
        run = store.run(one, 0)
        assert (run.job.state, run.job.nodes) == (JobState.NODE_FAIL, ("node1",))
        assert store.listed(one).restarts == 1
        assert store.listed(one).submitted_at == run.job.submit_time
    views = {
        view.name: view.suspicion
        for view in NodeKnowledge(open_scheduler(settings), store).views(time.time())
    }
    assert views["node1"].suspect
    assert (views["node1"].failures, views["node1"].users) == (6, 3)
    assert {one.reported_by for one in views["node1"].evidence} == {"scheduler"}
    assert all(views[name].probability < 0.05 for name in views if name != "node1")
