"""The daemon as its unit runs it: another account, no capabilities, files by the service."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from files.people import OWNER, give
from files.test_service import DAEMON, serving
from schedulers.local_site import wait_for

pytestmark = pytest.mark.slurm
SOURCE = os.pathsep.join(path for path in sys.path if path)
WITHOUT_RIGHTS = ("--clear-groups", "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs")
ERROR = "KeyError: 'a-setting-that-is-not-there'"
PATIENCE_S = 120.0


@pytest.fixture
def work(slurm_cluster):
    slurm_cluster.directory.chmod(0o755)
    made = Path(tempfile.mkdtemp(prefix="schedmate-service-", dir="/tmp"))
    made.chmod(0o755)
    (made / "home").mkdir()
    give(made / "home", OWNER, 0o700)
    (made / "state").mkdir()
    give(made / "state", DAEMON, 0o700)
    subprocess.run(["sacctmgr", "-i", "add", "account", "ops"], check=False)
    added = ("sacctmgr", "-i", "add", "user", DAEMON, "account=ops", "adminlevel=operator")
    subprocess.run(added, check=True)
    yield made
    subprocess.run(["sacctmgr", "-i", "delete", "user", DAEMON], check=True)
    shutil.rmtree(made)


def as_daemon(work, *words):
    env = {
        **os.environ,
        "PYTHONPATH": SOURCE,
        "HOME": str(work / "state"),
        "SCHEDMATE_SCHEDULER": "slurm",
        "SCHEDMATE_CONFIG": "/dev/null",
        "SCHEDMATE_STATE_DIR": str(work / "state"),
        "SCHEDMATE_FILES_SOCKET": str(work / "files.sock"),
        "SCHEDMATE_LLM__ENABLED": "false",
    }
    as_user = ("setpriv", f"--reuid={DAEMON}", f"--regid={DAEMON}", *WITHOUT_RIGHTS)
    done = subprocess.run(
        [*as_user, sys.executable, "-m", "schedmate", *words],
        env=env,
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


def submitted(work):
    """A job whose directory and log only its owner may open."""
    text = f'echo "Traceback (most recent call last):"; echo "{ERROR}"; exit 1'
    home = str(work / "home")
    words = ["sbatch", "--parsable", f"--uid={OWNER}", "-D", home, f"--wrap=umask 077; {text}"]
    made = subprocess.run(words, capture_output=True, text=True, check=True, cwd="/")
    job_id = made.stdout.strip()
    log = work / "home" / f"slurm-{job_id}.out"
    wait_for(lambda: log.exists() and ERROR in log.read_text(), "the log", PATIENCE_S)
    log.chmod(0o600)
    return job_id


@pytest.mark.parametrize("with_service", [True, False])
def test_a_private_log_is_diagnosed_by_a_daemon_without_rights(work, with_service):
    job_id = submitted(work)

    def diagnosed():
        as_daemon(work, "serve", "--once")
        found = json.loads(as_daemon(work, "job", job_id, "--json"))["diagnoses"]
        return found.get("0")

    if not with_service:
        found = wait_for(diagnosed, "a diagnosis", PATIENCE_S)
        assert ERROR not in json.dumps(found)
        return
    with serving(work / "files.sock"):
        found = wait_for(diagnosed, "a diagnosis", PATIENCE_S)
        told = json.loads(as_daemon(work, "doctor", "--json"))["findings"]
    assert ERROR in json.dumps(found)
    files = next(one for one in told if one["part"] == "files")
    assert (files["state"], str(work / "files.sock") in files["text"]) == ("ok", True)
