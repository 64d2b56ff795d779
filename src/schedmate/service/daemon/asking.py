"""The daemon's socket for people who are about to submit: a question in, lines of advice out.

A Unix socket that speaks a little HTTP, so that curl can ask. The kernel states who asks, and only
what this user could read is read. Sizes, times and the number of askers are bounded, and nothing
that an asker does holds up the daemon.
"""

from __future__ import annotations

import logging
import os
import re
import socket
import struct
import threading
import time
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from schedmate.advisor import Advisor, Target
from schedmate.advisor.interpret.shell.directives import read_options
from schedmate.model.account import account_name
from schedmate.model.legible import legible
from schedmate.service.daemon.background import THREAD
from schedmate.service.usecases.submission import request_of
from schedmate.service.visibility import Viewer, owners_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from schedmate.model import Advice
    from schedmate.store import Store

    Described = Callable[[Advice], Iterable[str]]

_MOST_ASKERS = 8
_MOST_BYTES = 65_536
_READ_S = 0.5
_TURN_S = 0.15
"""How long one question waits for another: the asker does not wait much longer."""
_MOST_ANSWERED = 2000
_WRAPPED = "#!/bin/sh\n# This script was created by sbatch --wrap.\n\n{}\n"
_CREDENTIALS = struct.Struct("3i")
_STOP_S = 5.0
_UNSTATED_DAYS = re.compile(r"\d{7,}-")
_OPTIONS = (
    *("array", "gpus", "gpus-per-node", "gpus-per-task", "gres", "job-name", "nodes", "ntasks"),
    *("ntasks-per-node", "partition", "time"),
)
_log = logging.getLogger("schedmate.asking")


class AdviceSocket:
    """Answers in threads of its own until it is closed."""

    def __init__(self, path: Path, open_store: Callable[[], Store], describe: Described) -> None:
        self._path = path
        self._open_store = open_store
        self._describe = describe
        self._askers = threading.BoundedSemaphore(_MOST_ASKERS)
        self._turn = threading.Lock()
        self._listener: socket.socket | None = None

    def open(self) -> None:
        """A socket that cannot be opened costs its askers the advice, not the daemon its work."""
        listener = socket.socket(socket.AF_UNIX)
        try:
            self._path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
            if self._path.is_socket():
                self._path.unlink()  # of a daemon that was killed: there is one at a time
            listener.bind(str(self._path))
            self._path.chmod(0o666)
            listener.listen(_MOST_ASKERS)
        except OSError as error:
            listener.close()
            _log.warning("no one can ask for advice at %s: %s", self._path, error)
            return
        self._listener = listener
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()

    def close(self) -> None:
        """Wait a little for the answer that is under way."""
        if self._listener is None:
            return
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        with suppress(OSError):
            self._path.unlink()
        self._turn.acquire(timeout=_STOP_S)

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                asker, _ = listener.accept()
            except OSError:
                return  # closed
            if not self._askers.acquire(blocking=False):
                asker.close()
                continue
            threading.Thread(target=self._serve, args=(asker,), name=THREAD, daemon=True).start()

    def _serve(self, asker: socket.socket) -> None:
        try:
            with asker:
                _send(asker, self._answer(asker))
        except OSError:
            pass  # it has gone
        except Exception:  # noqa: BLE001 - whatever a question makes the advisor stumble over
            _log.warning("no answer to a question", exc_info=True)
        finally:
            self._askers.release()

    def _answer(self, asker: socket.socket) -> str | None:
        form = _form(asker)
        if form is None or not self._turn.acquire(timeout=_TURN_S):
            return None
        try:
            return self._advice(_user_of(asker), form)
        finally:
            self._turn.release()

    def _advice(self, user: str, form: dict[str, list[str]]) -> str | None:
        target = target_of(user, form)
        if target is None:
            return None
        with closing(self._open_store()) as store:
            advised = Advisor(store, store).advise(target)
            viewer = Viewer(user=user, operator=False)
            advice = viewer.advice(_without_cancelled(advised.advice), user, owners_in(store))
        lines = [legible(line) for line in self._describe(advice)]
        return "".join(f"{line}\n" for line in lines)[:_MOST_ANSWERED]


def _without_cancelled(advice: Advice) -> Advice:
    """How long a run took that was cancelled is a person's choice and says little of the next."""
    outcome = advice.prediction.outcome
    if outcome is None or outcome.cancelled <= outcome.completed + outcome.failed:
        return advice
    return replace(advice, prediction=replace(advice.prediction, duration_s=None))


def target_of(user: str, form: dict[str, list[str]]) -> Target | None:
    """What the user is about to submit; a script on standard input is known to sbatch only."""
    stated = {name: values[-1] for name, values in form.items()}
    cwd = stated.get("chdir") or stated.get("cwd", "")
    argv, wrapped = form.get("argv", []), stated.get("wrap")
    if not cwd.startswith("/") or not (argv or wrapped):
        return None
    asked = read_options(
        [f"--{name}={stated[name]}" for name in _OPTIONS if _is_stated(stated.get(name, ""))]
    )
    script = os.path.join(stated.get("cwd", cwd), argv[0]) if argv else None  # noqa: PTH118
    target = Target(
        workdir=Path(cwd),
        command=(script, *argv[1:]) if script else (),
        script_text=None if wrapped is None or script else _WRAPPED.format(wrapped),
        script_name=script,
        args=tuple(argv[1:]),
        request=request_of(asked),
        user=user,
        name=stated.get("job-name", ""),
        submitted_at=time.time(),
    )
    if script is None:
        return target
    source = target.files.read(Path(script))
    return None if source is None else replace(target, script_text=source.text)


def _is_stated(value: str) -> bool:
    """sbatch shows a number that was not stated as a negative or an enormous one."""
    return bool(value) and value[0] != "-" and not _UNSTATED_DAYS.match(value)


def _user_of(asker: socket.socket) -> str:
    raw = asker.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    _, uid, _ = _CREDENTIALS.unpack(raw)
    return account_name(uid)


def _form(asker: socket.socket) -> dict[str, list[str]] | None:
    """The body of a POST that came whole, in time and is not too long."""
    until, data, needed = time.monotonic() + _READ_S, b"", _MOST_BYTES
    while len(data) < needed:
        left = until - time.monotonic()
        if left <= 0 or len(data) > _MOST_BYTES:
            return None
        asker.settimeout(left)
        some = asker.recv(_MOST_BYTES)
        if not some:
            break
        data += some
        head, end, _ = data.partition(b"\r\n\r\n")
        if end:
            needed = len(head) + len(end) + _length(head)
    head, end, body = data.partition(b"\r\n\r\n")
    if not end or not head.startswith(b"POST ") or len(data) != needed or needed > _MOST_BYTES:
        return None
    try:
        return parse_qs(body.decode("ascii"), max_num_fields=2000, errors="surrogateescape")
    except ValueError:
        return None


def _length(head: bytes) -> int:
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length" and value.strip().isdigit():
            return min(int(value.strip()[:9]), _MOST_BYTES)
    return 0


def _send(asker: socket.socket, text: str | None) -> None:
    asker.settimeout(_READ_S)
    body = (text or "").encode(errors="replace")
    status = b"204 No Content" if text is None else b"200 OK"
    kind = b"Content-Type: text/plain; charset=utf-8\r\n"
    length = b"" if text is None else b"Content-Length: %d\r\n" % len(body)
    asker.sendall(b"HTTP/1.0 " + status + b"\r\n" + kind + length + b"\r\n" + body)
