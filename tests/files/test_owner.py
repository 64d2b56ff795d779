"""Root reads for another user: what that user could read, whatever the name leads to."""

import errno
import os
import signal
import socket
import stat
import threading
import time
from pathlib import Path

import pytest

from files.people import OTHER, OWNER, SECRET, give, needs_root, uid_of
from schedmate.files import entries, files_of, is_file, place_of
from schedmate.files import helper as program
from schedmate.files.base import Owner
from schedmate.files.helpers import HELPERS, Helpers
from schedmate.files.own import OwnFiles
from schedmate.files.owner import OwnersFiles

pytestmark = [needs_root, pytest.mark.processes]
PATIENCE_S = 60.0


@pytest.fixture
def owner():
    return files_of(OWNER)


@pytest.fixture
def helpers():
    made = Helpers(deadline_s=0.5, rest_s=0.3)
    yield made
    made.close()


def text_of(reader, path):
    with os.fdopen(reader.open(str(path))) as file:
        return file.read()


def refused(reader, path):
    with pytest.raises(OSError) as caught:
        os.close(reader.open(str(path)))
    assert SECRET not in str(caught.value)
    return caught.value


def lives(pid):
    return Path("/proc", str(pid)).exists()


def wait_until(met):
    for _ in range(600):
        if met():
            return
        time.sleep(0.05)
    raise AssertionError(met)


def test_what_the_owner_may_read_is_read(owner, home):
    log = home / "job.log"
    log.write_text("step 1\n")
    give(log, OWNER, 0o600)
    assert text_of(owner, log) == "step 1\n"
    found, real = owner.stat(str(log)), log.stat()
    for name in ("st_mode", "st_ino", "st_uid", "st_size", "st_mtime_ns"):
        assert getattr(found, name) == getattr(real, name)
    assert [(each.name, each.kind) for each in entries(owner, str(home), 10)] == [
        ("job.log", "file")
    ]


def test_a_file_of_root_is_not_read(owner, secret):
    assert isinstance(refused(owner, secret), PermissionError)


def test_links_lead_nowhere_the_owner_could_not_go(owner, home, secret, public):
    closed = public / "closed"
    closed.mkdir(mode=0o700)
    (closed / "open.log").write_text(SECRET)
    (closed / "open.log").chmod(0o644)
    (home / "x.log").symlink_to(secret)
    (home / "y.log").symlink_to(closed / "open.log")
    (home / "way").symlink_to(closed)
    for name in ("x.log", "y.log", "way/open.log", "../secret", "../closed/open.log"):
        refused(owner, home / name)
    with pytest.raises(PermissionError):
        owner.stat(str(home / "way/open.log"))
    with pytest.raises(PermissionError):
        entries(owner, str(closed), 10)


def test_a_hard_link_does_not_help(owner, home, secret):
    os.link(secret, home / "x.log")
    refused(owner, home / "x.log")


def test_a_private_log_of_another_user_is_not_read(owner, public):
    theirs = public / "theirs"
    theirs.mkdir()
    give(theirs, OTHER, 0o700)
    (theirs / "x.log").write_text(SECRET)
    give(theirs / "x.log", OTHER, 0o600)
    refused(owner, theirs / "x.log")
    assert text_of(files_of(OTHER), theirs / "x.log") == SECRET


@pytest.mark.parametrize(
    "name",
    [
        *("/proc/self/environ", "/proc/self/cmdline", "/proc/self/fd/0", "/proc/1/environ"),
        *("/proc/self/root/etc/hostname/..", "/proc/cpuinfo", "/proc/self/mem", "/proc/kmsg"),
        *("/sys/kernel/uevent_seqnum", "/dev/zero", "/dev/null", "/dev/stdin", "/dev/fd/0"),
        *("/dev/full", "/etc", "/", "", "relative.log", "a\0b", "x" * 5000),
    ],
)
def test_what_is_no_stored_file_is_not_read(owner, name):
    refused(owner, name)


def test_descriptors_of_the_daemon_are_out_of_reach(owner, secret):
    with secret.open() as file:
        refused(owner, f"/proc/{os.getpid()}/fd/{file.fileno()}")
        refused(owner, f"/proc/self/fd/{file.fileno()}")
    refused(owner, f"/proc/{os.getpid()}/environ")


def test_pipes_and_sockets_hold_up_nobody(owner, home):
    os.mkfifo(home / "pipe.log")
    give(home / "pipe.log", OWNER)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(home / "socket.log"))
        give(home / "socket.log", OWNER, 0o777)
        for name in ("pipe.log", "socket.log"):
            assert "no regular file" in str(refused(owner, home / name))


def test_a_log_that_changes_into_a_link_again_and_again(owner, home, secret):
    log, plain, link = home / "x.log", home / "plain", home / "link"
    stop = threading.Event()

    def change():
        while not stop.is_set():
            plain.write_text("harmless")
            plain.replace(log)
            link.symlink_to(secret)
            link.replace(log)

    thread = threading.Thread(target=change)
    thread.start()
    read = set()
    try:
        for _ in range(2000):
            try:
                read.add(text_of(owner, log))
            except OSError:
                read.add(None)
    finally:
        stop.set()
        thread.join()
    assert not any(SECRET in (text or "") for text in read)
    assert None in read


def test_a_rotated_copy_that_is_a_link_is_no_file(owner, home, secret, public):
    hidden = public / "hidden"
    hidden.mkdir(mode=0o700)
    (hidden / "x").write_text(SECRET)
    (home / "x.log.1").symlink_to(hidden / "x")
    (home / "x.log.2").symlink_to(secret)
    found = {each.name: each for each in entries(owner, str(home), 10)}
    assert found["x.log.1"].kind == "link"
    assert not is_file(owner, str(home), found["x.log.1"])
    refused(owner, home / "x.log.2")


def test_the_helper_is_the_owner_and_nothing_else(owner, home):
    os.environ["SCHEDMATE_TEST_SECRET"] = SECRET
    try:
        owner.stat(str(home))
    finally:
        del os.environ["SCHEDMATE_TEST_SECRET"]
    pid = HELPERS.pids()[OWNER]
    process = Path("/proc", str(pid))
    assert (process / "environ").read_bytes() == b""
    lines = (process / "status").read_text("utf-8").splitlines()
    status = dict(line.split(":", 1) for line in lines)
    assert set(status["Uid"].split()) == {str(uid_of(OWNER))}
    assert "0" not in status["Gid"].split() + status["Groups"].split()
    for name in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
        assert int(status[name], 16) == 0
    held = [str(each.readlink()) for each in (process / "fd").iterdir()]
    assert sorted(name.partition(":")[0] for name in held) == ["/dev/null", "/dev/null", "socket"]


def test_root_is_not_served_by_a_helper(helpers):
    root = OwnersFiles(Owner("root", 0, 0, frozenset({0})), helpers)
    with pytest.raises(OSError, match="no answer"):
        root.stat("/etc/passwd")


def test_a_descriptor_is_not_inherited_by_programs(owner, home):
    (home / "x.log").write_text("x")
    file = owner.open(str(home / "x.log"))
    try:
        assert not os.get_inheritable(file)
        assert stat.S_ISREG(os.fstat(file).st_mode)
        assert place_of(file) == str(home / "x.log")
    finally:
        os.close(file)


def test_a_helper_that_hangs_is_given_up_and_replaced_later(helpers, home):
    (home / "x.log").write_text("x")
    reader = OwnersFiles(files_of(OWNER).owner, helpers)
    reader.stat(str(home))
    stuck = helpers.pids()[OWNER]
    os.kill(stuck, signal.SIGSTOP)  # as one that waits for a disk
    began = time.monotonic()
    with pytest.raises(OSError, match="no answer in time"):
        reader.open(str(home / "x.log"))
    with pytest.raises(OSError, match="no answer in time"):  # at once, without another wait
        reader.open(str(home / "x.log"))
    assert time.monotonic() - began < 30
    assert OWNER not in helpers.pids()
    other = OwnersFiles(files_of(OTHER).owner, helpers)
    assert other.stat(str(home)).st_uid == uid_of(OWNER)
    wait_until(lambda: answers(reader, home))
    assert helpers.pids()[OWNER] != stuck
    wait_until(lambda: not lives(stuck))


def test_a_helper_that_was_killed_is_replaced(helpers, home):
    reader = OwnersFiles(files_of(OWNER).owner, helpers)
    reader.stat(str(home))
    os.kill(helpers.pids()[OWNER], signal.SIGKILL)
    with pytest.raises(OSError, match="no answer"):
        reader.stat(str(home))
    wait_until(lambda: answers(reader, home))


def answers(reader, path):
    try:
        reader.stat(str(path))
    except OSError:
        return False
    return True


def test_there_are_never_more_helpers_than_allowed(home):
    helpers = Helpers(most=2)
    try:
        for user in (OWNER, OTHER, "daemon", OWNER, "bin"):
            OwnersFiles(files_of(user).owner, helpers).stat(str(home))
        assert list(helpers.pids()) == [OWNER, "bin"]
    finally:
        helpers.close()


def test_helpers_end_with_the_process_that_needs_them(home):
    helpers = Helpers()
    OwnersFiles(files_of(OWNER).owner, helpers).stat(str(home))
    pid, starter = helpers.pids()[OWNER], helpers._starter[0].pid
    helpers.close()
    wait_until(lambda: not lives(pid) and not lives(starter))


def test_many_threads_ask_at_once(owner, home):
    for number in range(8):
        (home / f"{number}.log").write_text(f"{number}" * 1000)
    wrong = []

    def read(number):
        read = {text_of(owner, home / f"{number}.log") for _ in range(100)}
        wrong.extend(read - {f"{number}" * 1000})

    threads = [threading.Thread(target=read, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_user_whom_the_machine_does_not_know_reads_nothing(home):
    (home / "x.log").write_text("x")
    for name in ("nobody-we-know", "", "65534", "root/../games", "a\0b"):
        unknown = files_of(name)
        for look in (unknown.open, unknown.stat, unknown.open_directory):
            with pytest.raises(PermissionError, match="does not know"):
                look(str(home / "x.log"))


def test_only_jobs_of_root_are_read_as_root(secret):
    assert isinstance(files_of("root"), OwnFiles)
    assert text_of(files_of("root"), secret) == f"{SECRET}\n"


def test_a_user_without_an_entry_reads_by_number_and_has_no_groups(home):
    """Slurm may know users whom this machine does not."""
    own, groups = home / "own.log", home / "groups.log"
    for path, uid, gid, mode in ((own, 54321, 0, 0o400), (groups, 0, 54321, 0o040)):
        path.write_text("x")
        os.chown(path, uid, gid)
        path.chmod(mode)
    home.chmod(0o755)

    reader = files_of("54321")

    assert text_of(reader, own) == "x"
    with pytest.raises(PermissionError):
        text_of(reader, groups)


def test_a_file_that_opens_and_then_hangs_is_given_up(helpers, home, tmp_path, monkeypatch):
    """As on a file system whose directories answer while its data do not."""
    log = home / "job.log"
    log.write_text("x" * 10_000)
    give(log, OWNER)
    slow = tmp_path / "helper.py"
    source = Path(program.__file__).read_text()
    assert source.count("os.pread(") == 1
    slow.write_text(source.replace("os.pread(", "signal.pause() or os.pread("))
    monkeypatch.setattr(program, "__file__", str(slow))
    begun = time.monotonic()

    error = refused(OwnersFiles(files_of(OWNER).owner, helpers), log)

    assert error.errno == errno.EAGAIN
    assert time.monotonic() - begun < PATIENCE_S
