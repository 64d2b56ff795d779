"""The program that reads as other users; `helpers.py` starts it and asks it.

It runs as root with an empty environment, imports nothing of ours and opens no file itself. For
each job owner it forks a child, which becomes that owner for good before it takes a request.
"""

from __future__ import annotations

import array
import errno
import os
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
ANSWER = struct.Struct("=iIQIQq")
"""Error number, mode, inode, owner, size, when it was last written in nanoseconds."""
OPEN, DIRECTORY, STAT = b"o", b"d", b"s"
START, END = b"s", b"e"

_PROBED = 4096
"""So much of a file's end is read here first: a file system may open a file and hang when it is
read, and only this process can be given up."""
_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


def main() -> None:
    os.chdir("/")
    control = socket.socket(fileno=0)
    while True:
        request, files = _receive(control)
        if not request:
            return
        _reap()
        if request[:1] == START and len(files) == 1:
            pid = _start(files[0], request[1:].split(), control)
            control.send(str(pid).encode())
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


def _start(file: int, ids: list[bytes], control: socket.socket) -> int:
    pid = os.fork()
    if pid:
        return pid
    try:
        control.close()
        uid, gid, *groups = map(int, ids)
        become(uid, gid, groups)
        serve(socket.socket(fileno=file))
    finally:
        os._exit(0)


def _end(pid: int) -> bool:
    """Kill a child of ours; whether it is gone, which one that waits for a disk is not yet."""
    try:
        if os.waitpid(pid, os.WNOHANG)[0] == 0:
            os.kill(pid, signal.SIGKILL)
            return os.waitpid(pid, os.WNOHANG)[0] != 0
    except ChildProcessError:
        return True
    return True


def _reap() -> None:
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


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
        answer = _described(found)
        if file is None:
            channel.send(answer)
        else:
            socket.send_fds(channel, [answer], [file])
            os.close(file)


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
        main()
    sys.exit(0)
