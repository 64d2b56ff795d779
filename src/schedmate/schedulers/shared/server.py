"""The socket of a shared queue: bounded questions of bounded accounts, one thread each."""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING

from schedmate.model import BadInput, SchedMateError
from schedmate.schedulers.shared.protocol import (
    BUSY,
    MOST_ASKED,
    Answer,
    peer_of,
    read_message,
    receive,
    refusal,
    send,
    write_answer,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from schedmate.schedulers.shared.protocol import Message

_MOST_OF_ALL, _MOST_OF_ONE = 128, 8
"""Connections at once, so that one account leaves room for others."""
_QUESTION_S, _ANSWER_S = 10.0, 30.0
_log = logging.getLogger("schedmate.shared")


class QueueServer:
    """Answers until it is closed; `answer` gets the account that asks, and runs one at a time."""

    def __init__(
        self,
        path: Path,
        answer: Callable[[int, Message], Answer],
        *,
        question_s: float = _QUESTION_S,
    ) -> None:
        self._path = path
        self._answer = answer
        self._question_s = question_s
        self._turn = threading.Lock()
        self._counting = threading.Lock()
        self._connected: Counter[int] = Counter()
        self._listener = socket.socket(socket.AF_UNIX)
        self._closing = False

    def open(self) -> None:
        """Every account may connect; the directory is for its owner to change."""
        self._path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        draft = self._path.with_name(f".{self._path.name}.{os.getpid()}")
        draft.unlink(missing_ok=True)
        self._listener.bind(str(draft))
        draft.chmod(0o666)
        self._listener.listen(_MOST_OF_ALL)
        draft.replace(
            self._path
        )  # in the place of a server that was killed: there is one at a time
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._closing = True
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._path.unlink(missing_ok=True)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError as error:
                if self._closing:
                    return
                _log.warning("no connection could be taken: %s", error)
                time.sleep(0.1)  # no descriptor is free, for example
                continue
            uid = peer_of(connection)[1]
            if not self._enter(uid):
                _turn_away(connection)
                continue
            threading.Thread(target=self._serve, args=(connection, uid), daemon=True).start()

    def _enter(self, uid: int) -> bool:
        with self._counting:
            room = self._connected.total() < _MOST_OF_ALL and self._connected[uid] < _MOST_OF_ONE
            self._connected[uid] += room
            return room

    def _serve(self, connection: socket.socket, uid: int) -> None:
        try:
            with connection:
                data = self._answer_to(connection, uid)
                send(connection, data, time.monotonic() + _ANSWER_S)
        except OSError:
            pass  # it has gone
        finally:
            with self._counting:
                self._connected[uid] -= 1
                self._connected += Counter()

    def _answer_to(self, connection: socket.socket, uid: int) -> bytes:
        try:
            until = time.monotonic() + self._question_s
            message = read_message(receive(connection, MOST_ASKED, until))
            with self._turn:
                return write_answer(self._answer(uid, message))
        except TimeoutError:
            problem: SchedMateError = BadInput(
                f"the question was not whole after {self._question_s:g} s"
            )
        except SchedMateError as error:
            problem = error
        except Exception:  # noqa: BLE001 - whatever one question does, the next one is answered
            _log.exception("a question of account %s failed", uid)
            problem = SchedMateError("the shared queue failed at this; its log says why")
        return write_answer(refusal(problem))


def _turn_away(connection: socket.socket) -> None:
    with connection, suppress(OSError):
        connection.setblocking(False)
        connection.send(write_answer(Answer(error=BUSY, text="it answers others of your account")))
