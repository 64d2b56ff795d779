"""Whose rights count, decided in this process: modes, lists, accounts, and what is no file."""

from __future__ import annotations

import errno
import os
import pwd
import socket
import struct
import threading
import time
from collections import OrderedDict
from pathlib import Path
from types import SimpleNamespace

import pytest

from files.people import SECRET
from schedmate.files import choosing, entries, is_file, listing, mounts
from schedmate.files import helper as program
from schedmate.files import helpers as starting
from schedmate.files.base import Owner, checked_name
from schedmate.files.helpers import Helpers
from schedmate.files.own import INVOKER, check, open_regular, place_of
from schedmate.files.owner import OwnersFiles
from schedmate.files.rights import ENTER, READ, _allowed_by, may
from schedmate.files.shared import NoFiles, SharedFiles
from schedulers.local_site import wait_for

ME, MY_GROUP = os.geteuid(), os.getegid()
STRANGER = Owner("eve", 54_321, 54_321, frozenset({54_321}))
COLLEAGUE = Owner("bob", 54_322, MY_GROUP, frozenset({MY_GROUP}))
MYSELF = Owner("me", ME or 54_323, MY_GROUP, frozenset({MY_GROUP}))


@pytest.fixture
def file(public):
    path = public / "x.log"
    path.write_text(SECRET)
    return path


def allowed(owner, path, *rights):
    opened = os.open(path, os.O_RDONLY)
    try:
        return may(owner, opened, *rights)
    finally:
        os.close(opened)


@pytest.mark.parametrize(
    ("mode", "stranger", "colleague"),
    [(0o604, True, False), (0o640, False, True), (0o644, True, True), (0o611, False, False)],
)
def test_mode_bits_of_the_group_go_before_those_of_all(file, mode, stranger, colleague):
    file.chmod(mode)
    assert allowed(STRANGER, file, READ) is stranger
    assert allowed(COLLEAGUE, file, READ) is colleague
    assert allowed(Owner("root", 0, 0, frozenset()), file, READ)


def test_the_owner_of_a_file_has_the_owners_bits(file):
    file.chmod(0o277)
    if ME:
        with pytest.raises(PermissionError):
            allowed(MYSELF, file, READ)
        return
    os.chown(file, MYSELF.uid, MY_GROUP)
    assert not allowed(MYSELF, file, READ)
    file.chmod(0o400)
    assert allowed(MYSELF, file, READ)


def test_all_directories_above_must_let_one_through(public, file):
    assert allowed(STRANGER, file, READ)
    inner = public / "a" / "b"
    inner.mkdir(parents=True)
    (inner / "y.log").write_text("y")
    assert allowed(STRANGER, inner / "y.log", READ)
    (public / "a").chmod(0o754)
    assert not allowed(STRANGER, inner / "y.log", READ)
    assert allowed(COLLEAGUE, inner / "y.log", READ)
    assert allowed(STRANGER, public, READ, ENTER)
    assert not allowed(STRANGER, public / "a", READ, ENTER)


MASK, USER, GROUP_OWNER, GROUP = 0x10, 0x02, 0x04, 0x08


@pytest.mark.parametrize(
    ("acl", "right"),
    [
        (((USER, 4, 54_322), (GROUP_OWNER, 0, 0)), True),
        (((USER, 0, 54_322), (GROUP_OWNER, 4, 0)), False),
        (((USER, 4, 54_322), (MASK, 1, 0)), False),
        (((USER, 4, 54_321), (GROUP_OWNER, 0, 0)), False),
        (((GROUP_OWNER, 4, 0), (MASK, 3, 0)), False),
        (((GROUP_OWNER, 0, 0), (GROUP, 4, MY_GROUP)), True),
        (((GROUP, 0, MY_GROUP),), False),
        (((GROUP, 4, 99),), True),  # none of the groups is named: as all others
        (((GROUP, 0, 99),), True),
    ],
)
def test_a_list_is_read_as_the_kernel_does(acl, right):
    group = MY_GROUP if any(tag == GROUP_OWNER for tag, _, _ in acl) else 98
    assert _allowed_by(acl, READ, COLLEAGUE, group=group, other=0o644) is right


def give_list(path, *entries):
    """Of all rights in one list: its owner's, these, and none for all others."""
    every = ((0x01, 6, -1), *entries, (MASK, 7, -1), (0x20, 0, -1))
    data = struct.pack("<I", 2) + b"".join(
        struct.pack("<HHI", tag, rights, whose % 2**32) for tag, rights, whose in every
    )
    try:
        os.setxattr(path, "system.posix_acl_access", data)
    except OSError as error:
        pytest.skip(f"no lists of rights here: {error.strerror}")


def test_a_list_of_rights_is_read_off_the_file(file):
    file.chmod(0o604)
    give_list(file, (USER, 4, STRANGER.uid), (GROUP_OWNER, 0, -1))
    assert allowed(STRANGER, file, READ)
    assert not allowed(STRANGER, file, ENTER)
    assert not allowed(COLLEAGUE, file, READ)
    give_list(file, (GROUP_OWNER, 4, -1))
    assert not allowed(STRANGER, file, READ)
    assert allowed(COLLEAGUE, file, READ)


def test_shared_files_are_those_that_both_may_read(public, file):
    stranger = SharedFiles(STRANGER)
    assert stranger.user == "eve"
    file.chmod(0o604)
    opened = stranger.open(str(file))
    assert os.read(opened, 99) == SECRET.encode()
    os.close(opened)
    os.close(stranger.open_directory(str(public)))
    assert stranger.stat(str(file)).st_size == len(SECRET)
    file.chmod(0o600)
    before = len(list(Path("/proc/self/fd").iterdir()))
    with pytest.raises(PermissionError) as refused:
        stranger.open(str(file))
    assert refused.value.filename == str(file)
    public.chmod(0o750)
    for act in (stranger.stat, stranger.open_directory):
        path = str(public if act == stranger.open_directory else file)
        with pytest.raises(PermissionError) as refused:
            act(path)
        assert refused.value.filename == path
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_a_status_is_looked_at_closely_when_the_file_becomes_another(public, file):
    stranger = SharedFiles(STRANGER)
    file.chmod(0o604)
    stranger.stat(str(file))
    public.chmod(0o750)  # not seen again: the file itself is the same
    stranger.stat(str(file))
    *rest, group = stranger._seen[str(file)]
    stranger._seen[str(file)] = (*rest, group + 1)
    with pytest.raises(PermissionError):
        stranger.stat(str(file))
    file.chmod(0o605)
    with pytest.raises(PermissionError):
        stranger.stat(str(file))


@pytest.mark.parametrize("act", ["open", "open_directory", "stat"])
def test_nothing_of_an_unknown_user(act, file):
    with pytest.raises(PermissionError, match="does not know that user") as refused:
        getattr(NoFiles("zoe"), act)(str(file))
    assert refused.value.filename == str(file)
    with pytest.raises(OSError, match="no name of a regular file") as refused:
        getattr(INVOKER, act)("a\0b")
    assert (refused.value.errno, refused.value.filename) == (errno.EINVAL, "a\0b")


def test_what_is_no_regular_or_stored_file_is_closed_again(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="no regular file") as refused:
        open_regular(str(tmp_path / "pipe"), known=False)
    assert refused.value.filename == str(tmp_path / "pipe")
    (tmp_path / "x").write_text("x")
    for mount, why in ((b"", "no stored file"), (b"proc proc rw", "no stored file")):
        opened = os.open(tmp_path / "x", os.O_RDONLY)
        with pytest.raises(OSError, match=why) as refused:
            check(opened, "x", known=True, mount=mount)
        assert refused.value.filename == "x"
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(opened)
    opened = os.open(tmp_path / "x", os.O_RDONLY)
    assert check(opened, "x", known=True, mount=b"ext4 /dev/vda rw") == opened
    assert place_of(opened) == str(tmp_path / "x")
    os.close(opened)
    assert place_of(opened) is None
    ours, theirs = socket.socketpair()
    assert place_of(ours.fileno()) is None
    ours.close()
    theirs.close()
    assert checked_name("x") == "x"


def test_a_device_is_known_for_a_while_and_an_unseen_mount_by_what_is_known(monkeypatch):
    seen = [b"", b"", b"proc proc rw", b"ext4 /dev/vda rw"]
    monkeypatch.setattr(mounts, "_stored", {})
    monkeypatch.setattr(program, "mount_of", lambda _: seen.pop(0))
    assert mounts.is_stored(3, 77, known=False)
    assert not mounts.is_stored(3, 77, known=True)
    assert not mounts.is_stored(3, 77, known=True)
    assert mounts.is_stored(3, 77, known=True)
    assert mounts.is_stored(3, 77, known=True)  # not asked again
    assert 50 < mounts._stored[77] - time.monotonic() <= 60


def test_entries_and_what_links_lead_to(tmp_path):
    (tmp_path / "d").mkdir()
    (tmp_path / "f").write_text("f")
    (tmp_path / "to_d").symlink_to("d")
    (tmp_path / "to_f").symlink_to("f")
    (tmp_path / "to_nothing").symlink_to("nothing")
    os.mkfifo(tmp_path / "pipe")
    found = {each.name: each for each in entries(INVOKER, str(tmp_path), 99)}
    kinds = {name: each.kind for name, each in found.items()}
    links = dict.fromkeys(("to_d", "to_f", "to_nothing"), "link")
    assert kinds == {"d": "directory", "f": "file", "pipe": "other"} | links
    assert found["f"].inode == (tmp_path / "f").stat().st_ino
    assert {n for n, e in found.items() if is_file(INVOKER, str(tmp_path), e)} == {"f", "to_f"}
    of = listing.is_directory
    assert {n for n, e in found.items() if of(INVOKER, str(tmp_path), e)} == {"d", "to_d"}
    assert len(entries(INVOKER, str(tmp_path), 2)) == 2
    assert listing.mode_of(INVOKER, str(tmp_path / "gone")) == 0


def test_what_the_file_system_does_not_tell_is_looked_up_as_its_owner():
    def is_symlink():
        raise OSError(errno.EIO, "no answer")

    assert listing._kind(SimpleNamespace(is_symlink=is_symlink)) == "link"


@pytest.mark.processes
def test_who_starts_helpers_hears_no_signal_of_a_terminal_and_imports_nothing_of_others():
    process, channel = Helpers()._started_here()
    assert os.getsid(process.pid) == process.pid
    shown = Path(f"/proc/{process.pid}/cmdline")
    command = wait_for(shown.read_bytes, "the kernel shows a new program").split(b"\0")
    assert command[1:3] == [b"-I", b"-S"]
    assert Path(f"/proc/{process.pid}/cwd").readlink() == Path("/")
    channel.close()
    assert process.wait(60) == 0


class Accounts:
    """The accounts of a made-up machine, and which of them this process is."""

    def __init__(self, monkeypatch):
        self.uid = 1000
        self.known = {"ada": 1000, "bob": 1001, "root": 0}
        self.service = False
        monkeypatch.setattr(os, "geteuid", lambda: self.uid)
        monkeypatch.setattr(pwd, "getpwnam", self.by_name)
        monkeypatch.setattr(pwd, "getpwuid", self.by_uid)
        monkeypatch.setattr(os, "getgrouplist", lambda name, gid: [gid, 7])
        monkeypatch.setattr(choosing, "_known", {})
        monkeypatch.setattr(choosing, "service_answers", lambda: self.service)
        monkeypatch.setattr(choosing, "account_name", lambda: "me")

    def by_name(self, name):
        uid = self.known[name]
        return SimpleNamespace(pw_name=name, pw_uid=uid, pw_gid=uid)

    def by_uid(self, uid):
        if uid not in self.known.values():
            raise KeyError(uid)


@pytest.fixture
def accounts(monkeypatch):
    return Accounts(monkeypatch)


BOB = Owner("bob", 1001, 1001, frozenset({1001, 7}))


def test_with_whose_rights_a_job_is_read(accounts):
    assert choosing.files_of("ada") is INVOKER
    assert choosing.files_of("bob") == SharedFiles(BOB)
    assert choosing.files_of("root") == SharedFiles(Owner("root", 0, 0, frozenset({0, 7})))
    assert choosing.files_of("zoe") == NoFiles("zoe")
    assert choosing.files_of("me") is INVOKER  # a container's own number without an entry


def test_root_reads_as_the_owner_and_lends_its_rights_to_no_name(accounts):
    accounts.uid = 0
    assert choosing.files_of("bob") == OwnersFiles(BOB)
    assert choosing.files_of("root") is INVOKER
    assert choosing.files_of("me") == NoFiles("me")


def test_a_service_reads_as_others_but_never_as_root(accounts, tmp_path):
    accounts.service = True
    choosing.use_service(tmp_path / "s.sock")
    try:
        reader = choosing.files_of("bob")
        assert reader == OwnersFiles(BOB)
        assert reader._helpers is starting.service_at(tmp_path / "s.sock")
        assert isinstance(choosing.files_of("root"), SharedFiles)
    finally:
        choosing.use_service(Path("/run/schedmate-files.sock"))


def test_where_the_service_is_asked_for_is_seen_at_once_and_an_account_for_a_minute(accounts):
    first = choosing.files_of("bob")
    accounts.service = True
    assert choosing.files_of("bob") is first
    choosing.use_service(Path("/run/schedmate-files.sock"))  # the same as before
    assert choosing.files_of("bob") is first
    until = choosing._known[("bob", 1000)][0]
    assert 50 < until - time.monotonic() <= 60
    choosing._known[("bob", 1000)] = (0.0, first)
    assert choosing.files_of("bob") is not first


@pytest.mark.parametrize("user", ["0", "4294967295", "1001", "-5", "٣", "x1", "5x"])
def test_a_number_that_is_no_account_of_its_own_is_unknown(accounts, user):
    assert choosing.files_of(user) == NoFiles(user)


def test_a_user_by_number_has_no_groups(accounts):
    assert choosing.files_of("5000") == SharedFiles(Owner("5000", 5000, 65534, frozenset()))


def test_a_service_answers_where_its_socket_may_be_written(tmp_path, monkeypatch):
    monkeypatch.setattr(choosing._service, "path", tmp_path / "s.sock")
    assert not choosing.service_answers()
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
        listening.bind(str(tmp_path / "s.sock"))
        assert choosing.service_answers()
    monkeypatch.setattr(choosing._service, "path", tmp_path)
    assert not choosing.service_answers()


class Service(threading.Thread):
    """Answers as the program that starts helpers does; each helper answers as it is told."""

    def __init__(self, path):
        super().__init__(daemon=True)
        self.listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.listening.bind(str(path))
        self.listening.listen()
        self.answer = program.ANSWER.pack(0, 1, 2, 3, 4, 5)
        self.stuck, self.gone = b"3", b"1"
        self.orders, self.started = [], 0

    def run(self):
        channel, _ = self.listening.accept()
        with channel:
            while True:
                order, files, _, _ = socket.recv_fds(channel, program.LONGEST, 1)
                if not order:
                    return
                self.orders.append(order)
                channel.send(self.reply(order, files))

    def reply(self, order, files):
        if order == program.STUCK:
            return self.stuck
        if order.startswith(program.END):
            return self.gone
        self.started += 1
        threading.Thread(target=self.help, args=files, daemon=True).start()
        return str(100 + self.started).encode()

    def help(self, file):
        with socket.socket(fileno=file) as channel:
            while channel.recv(5000):
                channel.send(self.answer)


@pytest.fixture
def service(tmp_path):
    made = Service(tmp_path / "s.sock")
    made.start()
    yield made
    made.listening.close()


@pytest.fixture
def helpers(tmp_path, service):
    made = Helpers(service=tmp_path / "s.sock", most=2, deadline_s=60.0, rest_s=0.2)
    yield made
    made.close()


def failure(helpers, owner=BOB, path="/x"):
    with pytest.raises(OSError) as caught:
        helpers.ask(owner, program.STAT, path)
    assert caught.value.filename == path
    return caught.value


def test_a_helper_is_started_once_with_all_numbers_of_its_owner(helpers, service):
    assert helpers.stuck() == 0  # nobody was asked yet
    for _ in range(2):
        answer = helpers.ask(BOB, program.STAT, "/x")
        assert (answer.numbers, answer.file, answer.mount) == ((1, 2, 3, 4, 5), None, b"")
    assert service.orders == [program.START + b"1001 1001 7 1001"]
    assert helpers.pids() == {"bob": 101}
    assert helpers.stuck() == 3
    service.stuck = b"?"
    assert helpers.stuck() == 0


def test_an_error_of_the_helper_is_the_caller_s(helpers, service):
    service.answer = program.ANSWER.pack(errno.EACCES, *[0] * 5)
    assert failure(helpers).errno == errno.EACCES
    service.answer = program.ANSWER.pack(errno.EINVAL, *[0] * 5)
    assert failure(helpers).strerror == "no regular file"
    assert failure(helpers, path="/" * 4096).errno == errno.ENAMETOOLONG
    assert failure(helpers, path="/" * 4095).strerror == "no regular file"
    assert helpers.pids() == {"bob": 101}


def test_half_an_answer_gives_a_helper_up_until_it_has_rested(helpers, service):
    service.answer = b"?"
    assert failure(helpers).errno == errno.EAGAIN
    assert helpers.pids() == {}
    assert service.orders[1:] == [program.END + b"101", program.STUCK]
    assert failure(helpers).errno == errno.EAGAIN
    assert len(service.orders) == 3  # nobody was asked
    service.gone = b"0"
    time.sleep(0.25)
    assert failure(helpers).errno == errno.EAGAIN  # still there: it rests again
    assert service.orders[3:] == [program.END + b"101"]
    service.gone, service.answer = b"1", program.ANSWER.pack(0, *[9] * 5)
    time.sleep(0.25)
    assert helpers.ask(BOB, program.STAT, "/x").numbers == (9,) * 5
    assert helpers.pids() == {"bob": 102}


def test_an_idle_helper_is_replaced_and_the_oldest_makes_room(helpers, service, monkeypatch):
    others = [Owner(name, uid, uid, frozenset()) for name, uid in (("x", 1), ("y", 2))]
    for owner in (BOB, others[0], BOB, others[1]):
        helpers.ask(owner, program.STAT, "/x")
    assert list(helpers.pids()) == ["bob", "y"]
    monkeypatch.setattr(starting, "_FRESH_S", 0.0)
    helpers.ask(BOB, program.STAT, "/x")
    assert helpers.pids() == {"y": 103, "bob": 104}


def test_a_service_that_is_away_is_asked_again_after_a_rest(tmp_path):
    helpers = Helpers(service=tmp_path / "none.sock", rest_s=0.2)
    assert failure(helpers).errno == errno.EAGAIN
    assert helpers._starter is None
    service = Service(tmp_path / "none.sock")
    service.start()
    assert failure(helpers).errno == errno.EAGAIN
    time.sleep(0.25)
    assert helpers.ask(BOB, program.STAT, "/x").numbers == (1, 2, 3, 4, 5)
    helpers.close()
    assert (helpers.pids(), helpers._starter) == ({}, None)
    service.listening.close()


def test_after_a_fork_the_helpers_are_the_parents(helpers):
    helpers.ask(BOB, program.STAT, "/x")
    channels = [helpers._helpers[BOB].channel, helpers._starter[1]]
    lock = helpers._lock
    helpers.abandon()
    assert [channel.fileno() for channel in channels] == [-1, -1]
    assert (helpers._helpers, helpers._resting, helpers._starter) == (OrderedDict(), {}, None)
    assert helpers._lock is not lock
    helpers.abandon()  # with nothing started
