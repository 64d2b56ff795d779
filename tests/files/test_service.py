"""The service that reads as job owners for a daemon without root's rights."""

from __future__ import annotations

import os
import pwd
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from files.people import OTHER, OWNER, SECRET, as_user, give, needs_root, uid_of
from schedmate.files import choosing, files_of
from schedmate.files import helper as program
from schedmate.files.base import Owner
from schedmate.files.helpers import Helpers
from schedmate.files.owner import OwnersFiles

pytestmark = [needs_root, pytest.mark.processes]
DAEMON, STRANGER = "daemon", "www-data"
CAPABILITIES = ("--bounding-set=-all,+setuid,+setgid", "--inh-caps=-all", "--no-new-privs")
"""What the unit leaves to it."""
PATIENCE_S = 60.0


@contextmanager
def serving(path, *, least_uid=1, source=None):
    """As systemd would start it: the listening socket is its standard input."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
        listening.bind(str(path))
        path.chmod(0o666)  # so that strangers reach it and the service itself has to refuse them
        listening.listen()
        script = str(source or program.__file__)
        words = [sys.executable, "-I", "-S", script, DAEMON, str(least_uid)]
        process = subprocess.Popen(["setpriv", *CAPABILITIES, *words], stdin=listening, env={})
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def service(public):
    path = public / "files.sock"
    with serving(path):
        yield path


@pytest.fixture
def log(home):
    path = home / "job.log"
    path.write_text("step 1\n")
    return give(path, OWNER, 0o600)


def owner_named(user):
    entry = pwd.getpwnam(user)
    return Owner(user, entry.pw_uid, entry.pw_gid, frozenset({entry.pw_gid}))


def text_by(service, owner, path, **words):
    """What a process of the daemon's account gets to read, or the error's name."""
    helpers = Helpers(service=service, **words)
    try:
        with os.fdopen(OwnersFiles(owner, helpers).open(str(path))) as file:
            return file.read()
    except OSError as error:
        return error.strerror
    finally:
        helpers.close()


def test_a_daemon_without_rights_reads_a_private_log_as_its_owner(service, log):
    assert as_user(DAEMON, text_by, service, owner_named(OWNER), log) == "step 1\n"
    assert as_user(DAEMON, os.access, log, os.R_OK) is False


def test_what_the_owner_may_not_read_is_not_read(service, home, secret):
    (home / "link.log").symlink_to(secret)
    for path in (secret, home / "link.log", "/etc/shadow"):
        assert as_user(DAEMON, text_by, service, owner_named(OWNER), path) == "Permission denied"
    for path in ("/proc/self/mountinfo", "/proc/cpuinfo"):
        read = as_user(DAEMON, text_by, service, owner_named(OWNER), path)
        assert read == "no stored file"


@pytest.mark.parametrize("user", [STRANGER, OWNER, "root"])
def test_only_the_daemon_is_answered(service, log, user):
    assert as_user(user, text_by, service, owner_named(OWNER), log) == "no answer in time"


def test_groups_are_looked_up_and_not_taken_from_the_request(service, home):
    """A daemon in other hands could else ask for the group of /etc/shadow."""
    shadow = Owner(OWNER, uid_of(OWNER), 42, frozenset({0, 42}))
    (home / "group.log").write_text(SECRET)
    os.chown(home / "group.log", 0, 42)
    (home / "group.log").chmod(0o040)
    for path in (home / "group.log", "/etc/shadow"):
        assert as_user(DAEMON, text_by, service, shadow, path) == "Permission denied"


@pytest.mark.parametrize("least_uid", [1000, 65534 + 1])
def test_nothing_is_read_for_accounts_of_the_system(public, log, least_uid):
    with serving(public / "own.sock", least_uid=least_uid):
        read = as_user(DAEMON, text_by, public / "own.sock", owner_named(OWNER), log)
        assert read == "no answer in time"
        root = Owner("root", 0, 0, frozenset({0}))
        assert as_user(DAEMON, text_by, public / "own.sock", root, log) == "no answer in time"


def status_of_helper(service, path):
    helpers = Helpers(service=service)
    try:
        OwnersFiles(owner_named(OWNER), helpers).stat(str(path))
        return Path("/proc", str(helpers.pids()[OWNER]), "status").read_text()
    finally:
        helpers.close()


def test_it_has_two_capabilities_and_a_reader_has_none(service, log):
    text = as_user(DAEMON, status_of_helper, service, log)
    services = [one.name for one in Path("/proc").iterdir() if _is_service(one.name)]
    parent = Path("/proc", services[0], "status").read_text()
    fields = dict(line.split(":\t", 1) for line in parent.splitlines() if ":\t" in line)
    assert int(fields["CapBnd"], 16) == int(fields["CapEff"], 16) == 1 << 6 | 1 << 7
    reader = dict(line.split(":\t", 1) for line in text.splitlines() if ":\t" in line)
    assert set(reader["Uid"].split()) == {str(uid_of(OWNER))}
    assert {int(reader[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")} == {0}
    assert "0" not in reader["Gid"].split() + reader["Groups"].split()


def _is_service(pid):
    try:
        words = Path("/proc", pid, "cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    return program.__file__.encode() in words and DAEMON.encode() in words


def given_up(service, path):
    """A reader that neither answers nor dies: how long that took, what was read, how many wait."""
    helpers = Helpers(service=service, deadline_s=0.5, rest_s=0.3)
    stuck, other = (OwnersFiles(owner_named(user), helpers) for user in (OWNER, OTHER))
    begun = time.monotonic()
    errors = []
    for _ in range(2):
        try:
            stuck.open(path)
        except OSError as error:
            errors.append(error.strerror)
    read = other.stat("/etc/hostname").st_size > 0
    counted = helpers.stuck()
    time.sleep(0.5)
    try:
        stuck.stat(path)
        errors.append("answered")
    except OSError as error:
        errors.append(error.strerror)
    took = time.monotonic() - begun
    helpers.close()
    return errors, read, counted, took


def test_a_reader_that_waits_for_a_disk_is_given_up_and_counted(public, log, tmp_path):
    """As one in an uninterruptible wait: it does not even die when it is killed."""
    slow = public / "helper.py"
    source = Path(program.__file__).read_text()
    assert source.count("os.pread(") == 1
    assert source.count("os.kill(pid, signal.SIGKILL)") == 2
    source = source.replace("os.pread(", "signal.pause() or os.pread(")
    slow.write_text(source.replace("os.kill(pid, signal.SIGKILL)", "None"))
    with serving(public / "own.sock", source=slow):
        errors, read, counted, took = as_user(DAEMON, given_up, public / "own.sock", str(log))
    assert errors == ["no answer in time"] * 3, "no second reader while the first one waits"
    assert read, "other users' files are read meanwhile"
    assert counted == 1
    assert took < PATIENCE_S


def killed(service, path):
    helpers = Helpers(service=service, deadline_s=0.5, rest_s=0.1)
    reader = OwnersFiles(owner_named(OWNER), helpers)
    reader.stat(path)
    pid = helpers.pids()[OWNER]
    Path(path + ".pid").write_text(str(pid))
    while not Path(path + ".stopped").exists():
        time.sleep(0.05)
    with suppress(OSError):
        reader.stat(path)
    deadline = time.monotonic() + PATIENCE_S
    while Path("/proc", str(pid)).exists() and time.monotonic() < deadline:
        helpers.stuck()  # lets the service look after its children
        time.sleep(0.05)
    helpers.close()
    return not Path("/proc", str(pid)).exists()


def test_a_reader_that_hangs_is_killed_without_the_right_to_kill(service, home):
    """By a process that has become the same owner."""
    home.chmod(0o777)
    path = home / "x"
    path.write_text("x")
    child = os.fork()
    if child == 0:
        pid_file = Path(f"{path}.pid")
        while not pid_file.exists() or not pid_file.read_text():
            time.sleep(0.05)
        os.kill(int(pid_file.read_text()), signal.SIGSTOP)
        Path(f"{path}.stopped").touch()
        os._exit(0)
    assert as_user(DAEMON, killed, service, str(path))
    os.waitpid(child, 0)


def kinds(path):
    choosing.use_service(path)
    return [type(files_of(user)).__name__ for user in (OWNER, "root", DAEMON)]


def test_it_is_asked_where_it_may_be_asked(service, public):
    assert as_user(DAEMON, kinds, service) == ["OwnersFiles", "SharedFiles", "OwnFiles"]
    assert as_user(DAEMON, kinds, public / "none.sock") == [
        "SharedFiles",
        "SharedFiles",
        "OwnFiles",
    ]
    service.chmod(0o600)
    assert as_user(DAEMON, kinds, service)[0] == "SharedFiles"
