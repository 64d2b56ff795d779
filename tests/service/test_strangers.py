"""What a user's job prints, runs and is called is shown to no other user by any verb.

The store is root's, opened to everybody on purpose; the stranger is a real other uid whose
environment claims to be root.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import pytest

from schedmate import config
from schedmate.model import BadInput, Checkpoint, EarlyWarning
from schedmate.service.usecases import submit as submitting
from schedmate.service.visibility import viewer_of
from schedmate.testing.builders import a_progress
from schedulers.local_site import wait_for
from service.place import Place

MARKER = "zebrafish"
STRANGER = 65534  # nobody
SOURCE = os.pathsep.join(path for path in sys.path if path)
TRAIN = """\
import sys
for epoch in range(3):
    print("epoch", epoch)
print("zebrafish pump lost its prime and flooded the cellar")
sys.exit(7)
"""
FAILURE = "zebrafish pump lost its prime and flooded the cellar"


def as_stranger(*command, cwd="/", env=None):
    return subprocess.run(
        ["setpriv", f"--reuid={STRANGER}", f"--regid={STRANGER}", "--clear-groups", *command],
        cwd=cwd,
        env=env,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def why_not():
    if os.geteuid() != 0:
        return "only root can run a verb as another user"
    if shutil.which("setpriv") is None:
        return "setpriv is not installed"
    if as_stranger(sys.executable, "-c", "import click").returncode:
        return "another user cannot run this Python"
    return None


pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(why_not() is not None, reason=why_not() or ""),
]


class Shared(Place):
    """Root's jobs, and a directory of the stranger's own."""

    def __post_init__(self):
        super().__post_init__()
        self.secret = self.work / f"{MARKER}-project"
        self.secret.mkdir()
        (self.secret / "train.py").write_text(TRAIN)
        self.theirs = self.root / "theirs"
        self.theirs.mkdir()
        (self.theirs / "train.py").write_text(TRAIN)
        (self.theirs / "own.out").write_text("the giraffe pump lost its prime and flooded it\n")
        os.chown(self.theirs, STRANGER, STRANGER)

    def run(self, *words, uid=None, json_too=False, cwd=None):
        command = [sys.executable, "-m", "schedmate", *words, *(["--json"] if json_too else [])]
        env = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": SOURCE,
            "HOME": str(self.theirs),
            "LOGNAME": "root",
            "USER": "root",
            "SCHEDMATE_STATE_DIR": str(self.root / "state"),
            "SCHEDMATE_CACHE_DIR": str(self.theirs / "cache"),
            "SCHEDMATE_LLM__ENABLED": "false",
        }
        where = str(cwd or self.theirs)
        if uid is None:
            return as_stranger(*command, cwd=where, env=env)
        return subprocess.run(
            command, cwd=where, env=env, capture_output=True, text=True, check=False, timeout=120
        )

    def share(self):
        for path in (self.root / "state", *(self.root / "state").rglob("*")):
            path.chmod(0o777 if path.is_dir() else 0o666)


@pytest.fixture(scope="module")
def shared():
    root = Path(tempfile.mkdtemp(prefix="schedmate-shared-", dir="/tmp"))
    root.chmod(0o755)
    before = os.environ.get("SCHEDMATE_CONFIG")
    os.environ["SCHEDMATE_CONFIG"] = "/dev/null"
    place = Shared(root, mode="observe")
    try:
        fill(place)
        yield place
    finally:
        place.leave()
        os.environ.pop("SCHEDMATE_CONFIG")
        if before is not None:
            os.environ["SCHEDMATE_CONFIG"] = before
        shutil.rmtree(root)


def fill(place):
    """A failed, a completed and a running job, a correction with its rule, progress."""
    python = "exec python3 train.py"
    parts = {"workdir": str(place.secret), "name": f"{MARKER}-job"}
    place.failed = submit(place, python, **parts)
    place.well = submit(place, f"echo {MARKER} says all is well", **parts)
    place.looks_until(lambda: place.ended(place.failed) and place.ended(place.well), "the end")
    place.running = submit(place, f"echo {MARKER}; sleep 600", **parts)
    wait_for(lambda: place.job(place.running).state == "RUNNING", "the start")
    place.one_look()
    corrected = place.run(
        "rules", "correct", place.failed, "--reason", "storage_io", uid=0, json_too=True
    )
    lesson = json.loads(corrected.stdout)
    place.correction, place.rule = lesson["failure"]["id"], lesson["rule"]["id"]
    healthy = submit(place, f"echo '{FAILURE}'", **parts)
    wait_for(lambda: place.ended(healthy), "the end")
    place.one_look()
    refused = place.run("rules", "add", "--reason", "network", "--text", FAILURE, uid=0)
    assert "is refused: it matches a run that ended well" in refused.stdout
    with place.store() as store:
        progress = a_progress(
            log=f"/{MARKER}.out",
            metrics={MARKER: 1.0},
            checkpoint=Checkpoint(path=f"/{MARKER}.pt", step=3),
            warnings=(EarlyWarning(reason="disk_full", text=f"{MARKER} is full"),),
            links=(f"https://{MARKER}.example",),
        )
        later = time.time() + 3600  # fresh for as long as the tests take
        store.keep_progress(place.running, 0, progress, at=later)
    place.share()


def submit(place, text, *, workdir, name):
    asked = replace(place.submission(text, name=name), workdir=workdir)
    return submitting.submit(place.settings, asked).job_id


VERBS = {
    "jobs": ("jobs",),
    "job that failed": ("job", "{failed}"),
    "job that runs": ("job", "{running}"),
    "eta": ("eta", "{running}"),
    "why it failed": ("why", "{failed}"),
    "why it runs": ("why", "{running}"),
    "nodes": ("nodes",),
    "history list": ("history", "list"),
    "history show": ("history", "show", "{failed}"),
    "history import": ("history", "import", "local"),
    "rules list": ("rules", "list"),
    "rules show a rule": ("rules", "show", "{rule}"),
    "rules show a correction": ("rules", "show", "{correction}"),
    "rules export": ("rules", "export"),
    "rules test": ("rules", "test", "--all"),
    "rules disable": ("rules", "disable", "{rule}"),
    "rules enable": ("rules", "enable", "{rule}"),
    "rules correct": ("rules", "correct", "{failed}", "--reason", "storage_io"),
    "rules withdraw": ("rules", "withdraw", "{failed}"),
    "advise": ("advise", "--no-llm", "train.py"),
    "diagnose": ("diagnose", "own.out", "--exit-code", "1"),
    "track": ("track", "own.out"),
    "doctor": ("doctor",),
}
NOT_SHOWN_TO_ANYBODY = {
    "eta",
    "nodes",
    "history import",
    "rules disable",
    "advise",
    "diagnose",
    "track",
    "doctor",
}
REFUSED = {
    "rules correct": 2,
    "rules withdraw": 2,
    "rules show a rule": 3,
    "rules show a correction": 3,
}
WITHOUT_OUTPUT = {"history import", "rules list", *REFUSED}


@pytest.mark.parametrize("json_too", [False, True], ids=["words", "json"])
@pytest.mark.parametrize("verb", VERBS)
def test_a_stranger_sees_nothing_of_it(shared, verb, json_too):
    words = [word.format(**vars(shared)) for word in VERBS[verb]]

    told = shared.run(*words, json_too=json_too)

    assert MARKER not in told.stdout + told.stderr
    assert "Traceback" not in told.stderr
    assert told.returncode == REFUSED.get(verb, 0), told.stderr
    assert told.stdout.strip() or verb in WITHOUT_OUTPUT


@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb not in NOT_SHOWN_TO_ANYBODY])
def test_an_operator_sees_it(shared, verb):
    """Else the test above could not fail."""
    words = [word.format(**vars(shared)) for word in VERBS[verb]]

    told = shared.run(*words, uid=0, json_too=True)

    shared.share()  # its owner has tightened it
    assert MARKER in told.stdout


def test_others_jobs_are_listed_as_squeue_would(shared):
    told = json.loads(shared.run("jobs", json_too=True).stdout)["jobs"]

    running = next(one for one in told if one["job"]["id"] == shared.running)
    assert (running["job"]["user"], running["job"]["state"]) == ("root", "RUNNING")
    assert running["job"]["start_time"] > 0
    assert running["progress"]["fraction"] is not None


def test_what_is_shared_is_private_again_when_its_owner_opens_it(shared):
    with shared.store() as store:
        store.created_at()

    state = shared.root / "state"
    assert stat.S_IMODE(state.stat().st_mode) == 0o700
    told = shared.run("history", "list")
    assert told.returncode == 2
    assert "SCHEDMATE_STATE_DIR" in told.stderr
    shared.share()


def test_a_user_with_a_store_of_their_own_sees_nothing_of_roots(shared):
    env = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": SOURCE,
        "HOME": str(shared.theirs),
        "SCHEDMATE_LLM__ENABLED": "false",
    }
    told = as_stranger(sys.executable, "-m", "schedmate", "history", "list", "--json", env=env)

    assert json.loads(told.stdout)["runs"] == []


def test_only_the_sites_file_names_operators(tmp_path, monkeypatch):
    monkeypatch.setattr(config, "SITE_FILE", tmp_path / "site.toml")
    monkeypatch.setenv("SCHEDMATE_OPERATORS", '["nobody"]')
    with pytest.raises(BadInput, match="operators can be set in"):
        config.load()

    monkeypatch.delenv("SCHEDMATE_OPERATORS")
    (tmp_path / "site.toml").write_text('operators = ["nobody"]\n')
    assert config.load().operators == ("nobody",)
    assert viewer_of(config.load()).operator  # root is one in any case


def test_the_spool_is_private_and_a_jobs_own_files_keep_the_umask(place):
    before = os.umask(0o022)
    try:
        script = place.work / "job.sh"
        script.write_text("#!/bin/sh\necho hello; touch made-by-the-job\n")
        asked = replace(
            place.submission("", name="job"), command=(str(script),), script=str(script)
        )
        job_id = place.scheduler.submit(asked)
        wait_for(lambda: place.ended(job_id), "the end")
        place.one_look()
    finally:
        os.umask(before)

    state = place.root / "state"
    loose = {
        str(path.relative_to(state)): oct(path.stat().st_mode)
        for path in (state, *state.rglob("*"))
        if stat.S_IMODE(path.stat().st_mode) & 0o077
    }
    assert loose == {}
    for name in ("made-by-the-job", f"schedmate-{job_id}.out"):
        assert stat.S_IMODE((place.work / name).stat().st_mode) == 0o644
