"""What `doctor` and `serve` make of the account they run as, on a real Slurm."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from schedulers.local_site import wait_for

pytestmark = pytest.mark.slurm
SOURCE = os.pathsep.join(path for path in sys.path if path)
ORDINARY = "nobody"

LATER = "--begin=now+1hour"
ADMINISTRATOR = ("set", "adminlevel=administrator")
RIGHTS = (
    "requeue {0}, hold {0}, nice {0}, time limit {0}, scripts {0}, drain {1}, "
    "queue yes, accounting yes"
)


@pytest.fixture
def cluster(slurm_cluster):
    """One that other users may ask."""
    slurm_cluster.directory.chmod(0o755)
    if _as(ORDINARY, "squeue", "-h").returncode:
        pytest.skip("another user cannot ask this cluster")
    yield slurm_cluster
    subprocess.run(["scancel", "--state=PENDING"], check=False)
    wait_for(lambda: not _as("root", "squeue", "-h").stdout, "an empty queue")


def _as(user, *command, **env):
    as_user = ("setpriv", f"--reuid={user}", "--regid=65534", "--clear-groups")
    return subprocess.run(
        [*(as_user if user != "root" else ()), *command],
        env={**os.environ, "PYTHONPATH": SOURCE, **env},
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.fixture
def schedmate(cluster, tmp_path_factory):
    def run(user, *words, mode="observe"):
        state = f"/tmp/schedmate-rights-{os.getpid()}-{user}"
        env = {
            "SCHEDMATE_SCHEDULER": "slurm",
            "SCHEDMATE_MODE": mode,
            "SCHEDMATE_STATE_DIR": f"{state}/state",
            "SCHEDMATE_CONFIG": "/dev/null",
            "SCHEDMATE_LLM__ENABLED": "false",
            "HOME": state,
        }
        return _as(user, sys.executable, "-m", "schedmate", *words, **env)

    yield run
    subprocess.run(f"rm -rf /tmp/schedmate-rights-{os.getpid()}-*", shell=True, check=True)


def account(told):
    return part(told, "account")


def part(told, name):
    findings = json.loads(told.stdout)["findings"]
    return next(one for one in findings if one["part"] == name)


def submitted(user, *flags):
    wrap = ("sbatch", "--parsable", "-o", "/dev/null", *flags, "--wrap", "sleep 60")
    return _as(user, *wrap).stdout.strip()


def nice(job):
    told = _as("root", "scontrol", "show", "job", job).stdout
    return next(word for word in told.split() if word.startswith("Nice="))


def test_root_an_ordinary_user_and_an_operator(cluster, schedmate):
    found = account(schedmate("root", "doctor", "--json", mode="act"))
    assert "may change every user's jobs (root)" in found["text"]
    assert "mode act as root" in found["fix"]
    served = schedmate("root", "serve", "--once", mode="act")
    assert served.stderr.count("mode act as root: SchedMate stops and requeues every user's") == 1

    found = account(schedmate(ORDINARY, "doctor", "--json", mode="assist"))
    assert "reads own files only; may change own jobs only" in found["text"]
    assert "ordering is switched off" in found["fix"]

    subprocess.run(["sacctmgr", "-i", "add", "account", "ops"], check=False)
    added = ("sacctmgr", "-i", "add", "user", ORDINARY, "account=ops", "adminlevel=operator")
    subprocess.run(added, check=True)
    try:
        found = account(schedmate(ORDINARY, "doctor", "--json", mode="assist"))
        assert "may change every user's jobs (operator)" in found["text"]
        assert found["fix"] == ""
    finally:
        subprocess.run(["sacctmgr", "-i", "delete", "user", ORDINARY], check=True)


def test_an_ordinary_user_in_assist_pushes_no_job_back(cluster, schedmate):
    own, others = submitted(ORDINARY, LATER), submitted("root", LATER)
    wait_for(lambda: own and others, "two jobs")

    served = schedmate(ORDINARY, "serve", "--once", mode="assist")

    assert "ordering is switched off" in served.stderr
    assert (nice(own), nice(others)) == ("Nice=0", "Nice=0")
    told = json.loads(schedmate(ORDINARY, "job", own, "--json").stdout)
    decided = {(one["action"]["kind"], one["state"]) for one in told["actions"]}
    # a provisional place is replaced before it is carried out, if reading is fast enough
    assert decided - {("set_nice", "noted")} == {("set_nice", "observed")}


def test_the_doctor_tries_each_right_and_changes_nothing(cluster, schedmate):
    others, held = submitted("root", LATER, "--nice=7"), submitted("root", "--hold", "--time=10")
    form = ("squeue", "-h", "-j", f"{others},{held}", "-S", "i", "-o", "%i %y %Q %l %T %r %S %x")
    wait_for(lambda: "BeginTime" in _as("root", *form).stdout, "a first look of Slurm's at both")
    before = _as("root", *form).stdout
    told = schedmate(ORDINARY, "doctor", "--json")
    rights, modes = part(told, "rights"), part(told, "modes")
    assert rights["text"] == RIGHTS.format("no", "no")
    for name in ("requeue", "hold", "nice", "time limit", "drain"):
        assert f"{name}: by its role (ordinary user): own jobs only" in rights["fix"]
    assert (rights["state"], modes["text"]) == ("note", "observe; act for own jobs only")
    assert f"sacctmgr modify user {ORDINARY} set adminlevel=operator" in modes["fix"]
    assert part(told, "files")["fix"].startswith("schedmate service install")

    subprocess.run(["sacctmgr", "-i", "add", "account", "ops"], check=False)
    added = ("sacctmgr", "-i", "add", "user", ORDINARY, "account=ops", "adminlevel=operator")
    subprocess.run(added, check=True)
    try:
        told = schedmate(ORDINARY, "doctor", "--json")
        assert part(told, "rights")["text"] == RIGHTS.format("yes", "no")
        assert part(told, "rights")["state"] == "ok", "drains are not asked for"
        assert part(told, "modes")["text"] == "observe, assist, act"
        subprocess.run(["sacctmgr", "-i", "modify", "user", ORDINARY, *ADMINISTRATOR], check=True)
        told = schedmate(ORDINARY, "doctor", "--json")
        assert part(told, "rights")["text"] == RIGHTS.format("yes", "yes")
    finally:
        subprocess.run(["sacctmgr", "-i", "delete", "user", ORDINARY], check=True)
    first, second = before.splitlines()
    assert first.startswith(f"{others} 7 ")
    assert second.startswith(f"{held} 0 0 10:00 PENDING JobHeldUser ")
    # Slurm gives a waiting job's reason anew at its next look
    wait_for(lambda: _as("root", *form).stdout == before, "the same as before")


def test_without_a_job_to_try_it_on_the_role_counts(cluster, schedmate):
    subprocess.run(["scancel", "--user=root"], check=True)
    found = part(schedmate(ORDINARY, "doctor", "--json"), "rights")
    assert found["text"] == RIGHTS.format("no", "no")
    assert "requeue: by its role (ordinary user): own jobs only" in found["fix"]


def test_other_users_jobs_do_not_keep_an_ordinary_user_from_looking(cluster, schedmate):
    submitted("root", LATER)
    mine = submitted(ORDINARY, LATER)
    looked = schedmate(ORDINARY, "serve", "--once")
    assert looked.returncode == 0, looked.stderr
    assert "Traceback" not in looked.stderr
    assert '"advice":{' in schedmate(ORDINARY, "job", mine, "--json").stdout.replace(" ", "")
