"""Helper processes, one for each job owner, each with that owner's rights and no others.

Root starts them itself; the daemon of another account asks a service for them, see `helper.py`.
An answer has a deadline, because a file system of the network can hang; a helper that misses it is
killed and not waited for, and the owner's files count as unreadable for a while.
"""

from __future__ import annotations

import array
import atexit
import errno
import logging
import os
import socket
import subprocess
import sys
import threading
import time
from collections import OrderedDict
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from schedmate.files import helper as program
from schedmate.files.base import Owner, no_file

DEADLINE_S = 5.0
REST_S = 60.0
MOST_HELPERS = 256
_FRESH_S = program.IDLE_S / 2
"""One that was idle for longer may be about to end by itself."""
_LONGEST_PATH = 4096
_LONGEST_ANSWER = 4096
_log = logging.getLogger("schedmate.files")


@dataclass(frozen=True, slots=True)
class Answer:
    """The numbers after the error's, a descriptor, and the mount through which it was opened."""

    numbers: tuple[int, ...]
    file: int | None
    mount: bytes


@dataclass(slots=True)
class _Helper:
    channel: socket.socket
    pid: int
    used_at: float
    busy: threading.Lock = field(default_factory=threading.Lock)


@dataclass(frozen=True, slots=True)
class _Rest:
    until: float
    pid: int | None
    """Of a helper that was killed and may still wait for a disk."""


class Helpers:
    """Starts helpers when they are needed and asks them; for any number of threads."""

    def __init__(
        self,
        *,
        service: Path | None = None,
        most: int = MOST_HELPERS,
        deadline_s: float = DEADLINE_S,
        rest_s: float = REST_S,
    ) -> None:
        """`service`: the socket of one that starts them; None: this process may, as root."""
        self._service = service
        self._most, self._deadline_s, self._rest_s = most, deadline_s, rest_s
        self._helpers: OrderedDict[Owner, _Helper] = OrderedDict()
        self._resting: dict[Owner, _Rest] = {}
        self._starter: tuple[subprocess.Popen[bytes] | None, socket.socket] | None = None
        self._lock = threading.RLock()

    def ask(self, owner: Owner, kind: bytes, path: str) -> Answer:
        """An OSError where it fails."""
        request = kind + os.fsencode(path)
        if len(request) > _LONGEST_PATH:
            raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG), path)
        helper = self._helper(owner, path)
        with helper.busy:
            try:
                helper.channel.send(request)
                answer, files = _received(helper.channel, file=kind != program.STAT)
            except OSError as error:
                self._give_up(owner, helper)
                raise _not_now(path) from error
        if len(answer) < program.ANSWER.size:
            self._give_up(owner, helper)
            raise _not_now(path)
        number, *rest = program.ANSWER.unpack_from(answer)
        if number:
            raise _error(number, path)
        mount = answer[program.ANSWER.size :]
        return Answer(tuple(rest), files[0] if files else None, mount)

    def stuck(self) -> int:
        """How many were given up and still wait for a disk."""
        with self._lock:
            try:
                return 0 if self._starter is None else int(self._order(program.STUCK))
            except (OSError, ValueError):
                return 0

    def pids(self) -> dict[str, int]:
        with self._lock:
            return {owner.user: helper.pid for owner, helper in self._helpers.items()}

    def close(self) -> None:
        with self._lock:
            for helper in self._helpers.values():
                helper.channel.close()
            self._helpers.clear()
            self._resting.clear()
            self._stop_starter()

    def abandon(self) -> None:
        """After a fork: the helpers are the parent's."""
        channels = [helper.channel for helper in self._helpers.values()]
        channels += [] if self._starter is None else [self._starter[1]]
        for channel in channels:
            channel.close()
        self._helpers, self._resting, self._starter = OrderedDict(), {}, None
        self._lock = threading.RLock()

    def _helper(self, owner: Owner, path: str) -> _Helper:
        now = time.monotonic()
        with self._lock:
            known = self._helpers.get(owner)
            if known is not None and now - known.used_at < _FRESH_S:
                self._helpers.move_to_end(owner)
                known.used_at = now
                return known
            if known is not None:
                self._end(owner)
            self._check_rested(owner, now, path)
            self._make_room()
            try:
                made = self._start(owner, now)
            except (OSError, ValueError) as error:
                self._stop_starter()
                self._resting[owner] = _Rest(now + self._rest_s, None)
                raise _not_now(path) from error
            self._helpers[owner] = made
            return made

    def _check_rested(self, owner: Owner, now: float, path: str) -> None:
        """So that neither a hanging disk nor an owner who kills helpers costs much."""
        rest = self._resting.get(owner)
        if rest is None:
            return
        if now < rest.until:
            raise _not_now(path)
        if rest.pid is not None and not self._is_gone(rest.pid):
            self._resting[owner] = _Rest(now + self._rest_s, rest.pid)
            raise _not_now(path)
        del self._resting[owner]

    def _make_room(self) -> None:
        for owner in list(self._helpers):
            if len(self._helpers) < self._most:
                return
            if not self._helpers[owner].busy.locked():
                self._end(owner)

    def _end(self, owner: Owner) -> None:
        """It ends by itself when its channel is closed."""
        self._helpers.pop(owner).channel.close()

    def _give_up(self, owner: Owner, helper: _Helper) -> None:
        with self._lock:
            helper.channel.close()
            if self._helpers.get(owner) is not helper:
                return  # another thread gave it up, or it made room
            del self._helpers[owner]
            self._is_gone(helper.pid)
            self._resting[owner] = _Rest(time.monotonic() + self._rest_s, helper.pid)
            words = "files of user %s do not answer; again in %g s; %d readers wait for a disk"
            _log.warning(words, owner.user, self._rest_s, self.stuck())

    def _is_gone(self, pid: int) -> bool:
        """Killed by the process that started it: only there its number cannot mean another."""
        if self._starter is None:
            return True
        try:
            return self._order(program.END + str(pid).encode()) == b"1"
        except OSError:
            self._stop_starter()
            return True

    def _start(self, owner: Owner, now: float) -> _Helper:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with closing(theirs):
            ids = (owner.uid, owner.gid, *sorted(owner.groups))
            try:
                pid = int(self._order(program.START + " ".join(map(str, ids)).encode(), theirs))
            except (OSError, ValueError):
                ours.close()
                raise
        program.limit(ours, self._deadline_s)
        return _Helper(ours, pid, now)

    def _order(self, order: bytes, *files: socket.socket) -> bytes:
        channel = self._started()
        socket.send_fds(channel, [order], [file.fileno() for file in files])
        return channel.recv(program.LONGEST)

    def _started(self) -> socket.socket:
        if self._starter is None:
            self._starter = self._connected() if self._service else self._started_here()
        return self._starter[1]

    def _connected(self) -> tuple[None, socket.socket]:
        channel = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            program.limit(channel, self._deadline_s)
            channel.connect(str(self._service))
        except OSError:
            channel.close()
            raise
        return None, channel

    def _started_here(self) -> tuple[subprocess.Popen[bytes], socket.socket]:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with closing(theirs):
            process = subprocess.Popen(
                [sys.executable, "-I", "-S", str(Path(program.__file__).resolve())],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={},
                cwd="/",
                start_new_session=True,
            )
        program.limit(ours, self._deadline_s)
        return process, ours

    def _stop_starter(self) -> None:
        if self._starter is None:
            return
        process, channel = self._starter
        self._starter = None
        channel.close()
        if process is None:
            return
        with suppress(subprocess.TimeoutExpired):
            process.wait(self._deadline_s)
            return
        process.kill()
        process.wait()


def _received(channel: socket.socket, *, file: bool) -> tuple[bytes, list[int]]:
    """`socket.recv_fds` takes flags and forgets them, and the descriptor would be inherited."""
    if not file:
        return channel.recv(_LONGEST_ANSWER), []
    files = array.array("i")
    answer, ancillary, _, _ = channel.recvmsg(
        _LONGEST_ANSWER, socket.CMSG_LEN(files.itemsize), socket.MSG_CMSG_CLOEXEC
    )
    for level, kind, data in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            files.frombytes(data[: len(data) - len(data) % files.itemsize])
    return answer, list(files)


def _error(number: int, path: str) -> OSError:
    if number == errno.EINVAL:
        return no_file(path, "no regular file")
    return OSError(number, os.strerror(number), path)


def _not_now(path: str) -> OSError:
    return OSError(errno.EAGAIN, "no answer in time", path)


def _kept(helpers: Helpers) -> Helpers:
    """To be used until this process ends."""
    atexit.register(helpers.close)
    os.register_at_fork(after_in_child=helpers.abandon)
    return helpers


HELPERS = _kept(Helpers())


@cache
def service_at(path: Path) -> Helpers:
    """The helpers that this service starts."""
    return _kept(Helpers(service=path))
