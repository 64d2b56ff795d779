"""A run of another account: with that account's rights and no others, from its log to its end."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import stat
import subprocess
import tempfile
from pathlib import Path

import pytest

from files.people import OTHER, OWNER, give, needs_root, uid_of
from schedmate.schedulers.local.attempt import RunFiles, RunOwner, RunSpec
from schedmate.schedulers.local.processes import signal_run
from schedulers.local_site import wait_for

pytestmark = [needs_root, pytest.mark.processes]


def owner_of(user, **parts):
    entry = pwd.getpwnam(user)
    groups = tuple(os.getgrouplist(user, entry.pw_gid))
    owner = {"uid": entry.pw_uid, "gid": entry.pw_gid, "groups": groups, "umask": 0o027}
    return RunOwner(**{**owner, "limits": {}, **parts})


@pytest.fixture
def place():
    """Root's own folder for runs beside a directory of the owner's."""
    made = Path(tempfile.mkdtemp(prefix="schedmate-runs-", dir="/tmp"))
    made.chmod(0o755)
    (made / "runs").mkdir(mode=0o700)
    (made / "home").mkdir()
    give(made / "home", OWNER, 0o700)
    yield made
    shutil.rmtree(made)


def run(place, text, *, log=None, workdir=None, owner=None, wait=True):
    files = RunFiles(place / "runs" / "attempt-0")
    log = str(log or place / "home" / "log")
    spec = RunSpec(
        command=("bash", "-c", text),
        workdir=str(workdir or place / "home"),
        env={"PATH": os.environ["PATH"], "GREETING": "hello"},
        stdout=log,
        stderr=log,
        owner=owner or owner_of(OWNER),
    )
    runner = files.start(spec)
    if not wait:
        return files, runner
    runner.wait(60)
    return files.end()


def test_it_has_the_owners_rights_and_none_of_roots(place):
    end = run(
        place,
        "id -u; id -G; umask; echo $GREETING; ulimit -n; touch made; cat /etc/shadow",
        owner=owner_of(OWNER, limits={"RLIMIT_NOFILE": (100, 200)}),
    )

    entry = pwd.getpwnam(OWNER)
    uid, groups, umask, greeting, files, refused = (place / "home" / "log").read_text().splitlines()
    assert (uid, umask, greeting, files) == (str(entry.pw_uid), "0027", "hello", "100")
    assert set(groups.split()) == {str(one) for one in os.getgrouplist(OWNER, entry.pw_gid)}
    assert "Permission denied" in refused
    assert end.code == 1
    for name in ("made", "log"):
        found = (place / "home" / name).stat()
        assert (found.st_uid, stat.S_IMODE(found.st_mode)) == (entry.pw_uid, 0o640)


def test_no_file_is_overwritten_that_the_owner_may_not_write(place):
    precious = place / "precious"
    precious.write_text("keep me\n")
    (place / "home" / "link").symlink_to(precious)

    end = run(place, "echo lost", log=place / "home" / "link")

    assert precious.read_text() == "keep me\n"
    assert end.code == 1
    assert end.reason == f"cannot write {place / 'home' / 'link'}: Permission denied"


def test_no_directory_is_entered_that_the_owner_may_not_enter(place):
    closed = place / "closed"
    closed.mkdir()
    give(closed, OTHER, 0o700)

    end = run(place, "ls", workdir=closed)

    assert (end.code, end.reason) == (126, f"{closed}: Permission denied")


def test_nothing_runs_as_root_for_another_account(place):
    end = run(place, "id -u", owner=owner_of(OWNER, uid=0))

    assert (end.code, end.reason) == (1, "a job of another account does not run as root")
    assert not (place / "home" / "log").exists()


def test_it_is_ended_by_what_the_owner_could_signal(place):
    """A process of somebody else that carries the mark of the run is left alone."""
    files, runner = run(place, "sleep 300 & wait", wait=False)
    name, _, value = files.mark.partition("=")
    stranger = subprocess.Popen(["sleep", "300"], env={name: value}, user=OTHER)
    try:
        wait_for(lambda: signal_run(files.mark, -1, 0, uid_of(OWNER)) >= 2, "the start")

        files.signal(signal.SIGTERM)

        runner.wait(60)
        assert files.end().signal == signal.SIGTERM
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()
