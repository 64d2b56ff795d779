"""The program that reads as other users; `helpers.py` starts it and asks it.

It imports nothing of ours, runs with an empty environment and opens no file itself. For each job
owner it forks a child, which becomes that owner for good before it takes a request.

Started by a daemon of root's, its standard input is that daemon. As a service of its own
(`helper.py USER LEAST_UID`) its standard input is a socket that listens: only USER is answered,
groups are looked up here instead of being taken from the request, and no account with a smaller
number than LEAST_UID is read for. It then needs root's number and two capabilities only, to set
user and group.
"""

from __future__ import annotations

import array
import errno
import os
import pwd
import signal
import socket
import stat
import struct
import sys
from contextlib import suppress

IDLE_S = 300.0
"""A child that is not asked for so long ends."""
LONGEST = 8192
CONTROL = 1 << 17
_CREDENTIALS = struct.Struct("@iII")
ANSWER = struct.Struct("=iIQIQq")
"""Error number, mode, inode, owner, size, when it was last written in nanoseconds."""
OPEN, DIRECTORY, STAT = b"o", b"d", b"s"
START, END, STUCK = b"s", b"e", b"n"

_PROBED = 4096
"""So much of a file's end is read here first: a file system may open a file and hang when it is
read, and only this process can be given up."""
_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


_NO_GROUP = 65534
_children: dict[int, int] = {}
"""By process number, whose each is."""
_given_up: set[int] = set()
"""Children that were killed and are still there: they wait for a disk."""


def main(words: list[str]) -> None:
    os.chdir("/")
    stdin = socket.socket(fileno=0)
    if not words:
        answer(stdin)
    else:
        listen(stdin, pwd.getpwnam(words[0]).pw_uid, int(words[1]))


def listen(listening: socket.socket, user: int, least_uid: int) -> None:
    """Answer that user and no one else, each connection in a process of its own."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        channel, _ = listening.accept()
        if _peer(channel) == user and os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            listening.close()
            with suppress(OSError):
                answer(channel, least_uid)
            os._exit(0)
        channel.close()


def _peer(channel: socket.socket) -> int:
    """Whose process has connected, by the kernel."""
    _, uid, _ = _CREDENTIALS.unpack(
        channel.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    )
    return int(uid)


def answer(control: socket.socket, least_uid: int | None = None) -> None:
    """`least_uid`: look up the groups of an owner; None: the request states them."""
    while True:
        request, files = _receive(control)
        if not request:
            return
        _reap()
        if request[:1] == START and len(files) == 1:
            pid = _start(files[0], request[1:].split(), control, least_uid)
            control.send(str(pid).encode())
        elif request[:1] == STUCK:
            control.send(str(len(_given_up)).encode())
        else:
            control.send(b"1" if _end(int(request[1:])) else b"0")
        for file in files:
            os.close(file)


def _receive(control: socket.socket) -> tuple[bytes, list[int]]:
    files = array.array("i")
    request, ancillary, _, _ = control.recvmsg(CONTROL, socket.CMSG_SPACE(files.itemsize))
    for level, kind, data in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            files.frombytes(data[: len(data) - len(data) % files.itemsize])
    return request, list(files)


def _start(file: int, ids: list[bytes], control: socket.socket, least_uid: int | None) -> int:
    uid, gid, *groups = map(int, ids)
    pid = os.fork()
    if pid:
        _children[pid] = uid
        return pid
    try:
        control.close()
        if least_uid is not None:
            gid, groups = _groups_of(uid, least_uid)
        become(uid, gid, groups)
        serve(socket.socket(fileno=file))
    finally:
        os._exit(0)


def _groups_of(uid: int, least_uid: int) -> tuple[int, list[int]]:
    """As this machine knows them; a user who is known by number only has none."""
    if uid < least_uid:
        raise PermissionError("nothing is read for accounts of the system")
    try:
        entry = pwd.getpwuid(uid)
    except KeyError:
        return _NO_GROUP, []
    return entry.pw_gid, os.getgrouplist(entry.pw_name, entry.pw_gid)


def _end(pid: int) -> bool:
    """Kill a child of ours; whether it is gone, which one that waits for a disk is not yet.

    It is never waited for.
    """
    if pid not in _children:
        return True
    if not _is_gone(pid):
        _kill(pid)
    if not _is_gone(pid):
        _given_up.add(pid)
        return False
    return True


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except PermissionError:  # a service without the right to kill: the owner may
        if os.fork() == 0:
            with suppress(OSError):
                os.setresuid(*[_children[pid]] * 3)
                os.kill(pid, signal.SIGKILL)
            os._exit(0)


def _is_gone(pid: int) -> bool:
    try:
        gone = os.waitpid(pid, os.WNOHANG)[0] != 0
    except ChildProcessError:
        gone = True
    if gone:
        _children.pop(pid, None)
        _given_up.discard(pid)
    return gone


def _reap() -> None:
    with suppress(ChildProcessError):
        while pid := os.waitpid(-1, os.WNOHANG)[0]:
            _children.pop(pid, None)
            _given_up.discard(pid)


def become(uid: int, gid: int, groups: list[int]) -> None:
    """Be that user from now on, and make sure that there is no way back."""
    if uid <= 0:
        raise PermissionError("nothing is read as root here")
    os.setgroups(groups)
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)
    if os.getresuid() != (uid,) * 3 or os.getresgid() != (gid,) * 3:
        raise PermissionError("another user than asked for")
    if set(os.getgroups()) - {gid} != set(groups) - {gid}:
        raise PermissionError("other groups than asked for")
    try:
        os.setresuid(0, 0, 0)
    except PermissionError:
        return
    raise PermissionError("root's rights are not gone")


def serve(channel: socket.socket) -> None:
    limit(channel, IDLE_S)
    while True:
        request = channel.recv(LONGEST)
        if not request:
            return
        try:
            found, file = look(request[:1], request[1:])
        except OSError as error:
            channel.send(_failed(error.errno or errno.EIO))
            continue
        except ValueError:  # a NUL in the name
            channel.send(_failed(errno.EINVAL))
            continue
        if file is None:
            channel.send(_described(found))
        else:
            socket.send_fds(channel, [_described(found), mount_of(file)], [file])
            os.close(file)


def mount_of(file: int) -> bytes:
    """Type and options of the mount through which it was opened; empty where that is unknown.

    It is looked up by whom has opened it: others may have other mounts.
    """
    try:
        about, lines = _lines(f"/proc/self/fdinfo/{file}"), _lines("/proc/self/mountinfo")
    except OSError:
        return b""
    mounted = next((line.split()[1] for line in about if line.startswith(b"mnt_id:")), b"")
    for line in lines:
        ours, _, theirs = line.partition(b" - ")
        if ours.split(b" ", 1)[0] == mounted:
            return theirs
    return b""


def _lines(path: str) -> list[bytes]:
    with open(path, "rb") as file:  # noqa: PTH123 - no more modules than needed
        return file.read().split(b"\n")


def limit(channel: socket.socket, seconds: float) -> None:
    """Wait no longer for a message; unlike `settimeout` it costs no system call each time."""
    whole = int(seconds)
    patience = struct.pack("@ll", whole, int((seconds - whole) * 1e6))
    channel.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, patience)
    channel.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, patience)


def _failed(number: int) -> bytes:
    return ANSWER.pack(number, 0, 0, 0, 0, 0)


def _described(found: os.stat_result) -> bytes:
    size = max(0, found.st_size)
    return ANSWER.pack(0, found.st_mode, found.st_ino, found.st_uid, size, found.st_mtime_ns)


def look(kind: bytes, path: bytes) -> tuple[os.stat_result, int | None]:
    """A device or a pipe is not even opened."""
    if kind == DIRECTORY:
        file = os.open(path, _FLAGS | os.O_DIRECTORY)
        return os.fstat(file), file
    found = os.stat(path)  # noqa: PTH116 - names are bytes here
    if kind != OPEN:
        return found, None
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "no regular file")
    file = os.open(path, _FLAGS)
    try:
        found = os.fstat(file)
        os.pread(file, _PROBED, max(0, found.st_size - _PROBED))
    except OSError:
        os.close(file)
        raise
    return found, file


if __name__ == "__main__":
    with suppress(OSError):
        main(sys.argv[1:])
    sys.exit(0)
