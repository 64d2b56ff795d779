"""One's own jobs, and what both an account and a job's owner may read."""

import os
import struct

import pytest

from files.people import OTHER, OWNER, SECRET, as_user, give, needs_root, uid_of
from schedmate.files import INVOKER, entries, files_of
from schedmate.files.mounts import is_made_up
from schedmate.model.account import account_name

pytestmark = pytest.mark.processes


def texts(owner, paths):
    return [outcome(lambda path=path: text(files_of(owner), path)) for path in paths]


def text(reader, path):
    with os.fdopen(reader.open(path)) as file:
        return file.read()


def outcome(act):
    try:
        return act()
    except OSError as error:
        return type(error).__name__


def seen(owner, path, directory):
    reader = files_of(owner)
    return [
        outcome(lambda: reader.stat(path).st_size),
        outcome(lambda: len(entries(reader, directory, 10))),
    ]


@pytest.mark.parametrize(
    "name", ["/proc/self/environ", "/proc/self/fd/0", "/proc/self/maps", "/dev/zero", "/", ""]
)
def test_ones_own_job_reads_no_made_up_file(name):
    assert files_of(account_name()) is INVOKER
    with pytest.raises(OSError):
        os.close(INVOKER.open(name))


def test_ones_own_files_are_read_through_links(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "x.log").write_text("x")
    (tmp_path / "link").symlink_to("real")
    file = INVOKER.open(str(tmp_path / "link" / "x.log"))
    assert os.read(file, 10) == b"x"
    os.close(file)
    assert {each.kind for each in entries(INVOKER, str(tmp_path), 10)} == {"directory", "link"}


@pytest.mark.parametrize(
    ("kind", "options", "made_up"),
    [
        ("ext4", "/dev/vda rw", False),
        ("nfs4", "server:/home rw,vers=4.2", False),
        ("fuse.glusterfs", "gluster rw,user_id=0,group_id=0,allow_other", False),
        ("fuse.sshfs", "ada@there: rw,user_id=1000,group_id=1000", True),
        ("proc", "proc rw", True),
        ("cgroup2", "cgroup2 rw", True),
    ],
)
def test_a_users_own_file_system_may_keep_readers_waiting(kind, options, made_up):
    assert is_made_up(f"{kind} {options}".encode()) is made_up


def test_the_environment_does_not_say_who_we_are(monkeypatch):
    monkeypatch.setenv("LOGNAME", "root" if os.geteuid() else OTHER)
    assert account_name() != os.environ["LOGNAME"]


@needs_root
class TestAsAnOrdinaryAccount:
    """OTHER runs SchedMate, the job is OWNER's."""

    def read(self, *paths, groups=(), job_of=OWNER):
        return as_user(OTHER, texts, job_of, [str(path) for path in paths], groups=groups)

    def test_ones_own_jobs_are_read_directly(self, public):
        (public / "x.log").write_text("mine")
        give(public / "x.log", OTHER, 0o600)
        assert self.read(public / "x.log", job_of=OTHER) == ["mine"]

    def test_what_only_the_account_may_read_is_not_shown_to_the_owner(self, public):
        (public / "x.log").write_text(SECRET)
        give(public / "x.log", OTHER, 0o600)
        assert self.read(public / "x.log") == ["PermissionError"]

    def test_a_group_of_the_account_is_not_the_owners(self, home):
        group = 4  # adm
        (home / "x.log").write_text(SECRET)
        os.chown(home / "x.log", 0, group)
        (home / "x.log").chmod(0o640)
        os.link(home / "x.log", home / "hard.log")
        (home / "soft.log").symlink_to("x.log")
        paths = [home / name for name in ("x.log", "hard.log", "soft.log")]
        assert self.read(*paths, groups=[group]) == ["PermissionError"] * 3
        (home / "x.log").chmod(0o644)
        assert self.read(*paths, groups=[group]) == [SECRET] * 3

    def test_a_directory_that_the_owner_may_not_enter(self, public, home):
        closed = public / "closed"
        closed.mkdir()
        give(closed, OTHER, 0o700)
        (closed / "x.log").write_text(SECRET)
        (closed / "x.log").chmod(0o644)
        (home / "way").symlink_to(closed)
        assert self.read(closed / "x.log", home / "way" / "x.log") == ["PermissionError"] * 2

    def test_what_both_may_read_is_read(self, home):
        (home / "x.log").write_text("step 1")
        give(home / "x.log", OWNER, 0o644)
        assert self.read(home / "x.log") == ["step 1"]

    def test_a_list_that_names_the_owner_counts(self, public):
        path = public / "x.log"
        path.write_text(SECRET)
        path.chmod(0o644)
        give_acl(path, {uid_of(OWNER): 0})
        assert self.read(path) == ["PermissionError"]
        give_acl(path, {uid_of(OWNER): 4})
        assert self.read(path) == [SECRET]

    def test_nothing_of_an_unknown_owner_is_read(self, home):
        (home / "x.log").write_text("x")
        assert self.read(home / "x.log", job_of="nobody-we-know") == ["PermissionError"]

    def test_names_and_sizes_are_hidden_too(self, public):
        closed = public / "closed"
        closed.mkdir()
        give(closed, OTHER, 0o700)
        (closed / "x.log").write_text(SECRET)
        hidden = as_user(OTHER, seen, OWNER, str(closed / "x.log"), str(closed))
        assert hidden == ["PermissionError"] * 2
        closed.chmod(0o755)
        assert as_user(OTHER, seen, OWNER, str(closed / "x.log"), str(closed)) == [len(SECRET), 1]


def give_acl(path, users):
    """As setfacl writes it: the owner reads and writes, named users as said, others read."""
    everyone, undefined = [(0x01, 6, -1)], 0xFFFFFFFF
    named = [(0x02, right, uid) for uid, right in sorted(users.items())]
    rest = [(0x04, 4, -1), (0x10, 4, -1), (0x20, 4, -1)]
    data = struct.pack("<I", 2) + b"".join(
        struct.pack("<HHI", tag, right, undefined if whose < 0 else whose)
        for tag, right, whose in everyone + named + rest
    )
    try:
        os.setxattr(path, "system.posix_acl_access", data)
    except OSError as error:
        pytest.skip(f"no access control lists here: {error}")
