"""What clients of a shared queue and its server say to each other: one question, one answer.

A connection carries one JSON text each way, ended by closing that direction. Who asks is told by
the kernel, never by the text.
"""

from __future__ import annotations

import json
import socket
import struct
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from schedmate.model import (
    Activity,
    BadInput,
    Job,
    NodeState,
    NotFound,
    SchedMateError,
    SchedulerError,
    SchedulerUnreachable,
    Spread,
    Submission,
    errors,
)
from schedmate.model.codecs import UnfitError, codec

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_ASKED: Final = 4 << 20
"""Bytes of a question: an environment and a script go with a job."""
MOST_ANSWERED: Final = 256 << 20
BUSY: Final = "busy"
_CREDENTIALS: Final = struct.Struct("3i")
_PIECE: Final = 1 << 16
_UNREADABLE: Final = (
    *(ValueError, LookupError, TypeError, AttributeError, RecursionError, UnfitError),
)
_KINDS: Final = {
    kind.__name__: kind
    for kind in (BadInput, NotFound, SchedulerError, SchedulerUnreachable, errors.NotAllowed)
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """`verb` is a method of the scheduler; the rest are its arguments, as far as it has them."""

    verb: str
    job_id: str = ""
    ids: tuple[str, ...] | None = None
    """Of jobs or names of nodes."""
    submission: Submission | None = None
    """Without its environment and its script's text, which go beside it."""
    umask: int = 0o022
    limits: dict[str, tuple[int, int]] = field(default_factory=dict)
    run: int = 0
    delay_s: float = 0.0
    held: bool = False
    nodes: tuple[str, ...] = ()
    reason: str = ""
    number: int = 0
    seconds: float | None = None
    dependency: str = ""
    predictions: dict[str, Spread] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    error: str = ""
    """The class of what went wrong, empty where nothing did."""
    text: str | None = None
    remedy: str = ""
    jobs: tuple[Job, ...] = ()
    nodes: tuple[NodeState, ...] = ()
    ids: tuple[str, ...] = ()
    flag: bool = False
    activity: dict[str, Activity] = field(default_factory=dict)
    files: dict[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Message:
    """A question with what is no typed value: text of any bytes."""

    question: Question
    env: dict[str, str] = field(default_factory=dict)
    script: bytes | None = None


def write_message(message: Message) -> bytes:
    script = None if message.script is None else message.script.decode("latin-1")
    try:
        question = codec(Question).write(message.question)
    except (UnfitError, UnicodeError) as error:
        raise BadInput("a job's words are text in UTF-8 and plain numbers") from error
    return json.dumps({"question": question, "env": message.env, "script": script}).encode()


def read_message(data: bytes) -> Message:
    """BadInput where it is none."""
    try:
        whole = json.loads(data)
        env, script = whole["env"], whole["script"]
        question: Question = codec(Question).read(whole["question"])
        if not all(isinstance(one, str) for pair in env.items() for one in pair):
            raise BadInput("an environment has names and texts only")
        text = None if script is None else script.encode("latin-1")
    except _UNREADABLE as error:
        raise BadInput("that is no question to a queue") from error
    return Message(question, env, text)


def write_answer(answer: Answer) -> bytes:
    return json.dumps(codec(Answer).write(answer)).encode()


def read_answer(data: bytes) -> Answer:
    """Raises what the server has raised."""
    try:
        answer: Answer = codec(Answer).read(json.loads(data))
    except _UNREADABLE as error:
        raise SchedulerUnreachable("the shared queue gave no whole answer") from error
    if answer.error and answer.error != BUSY:
        raise _KINDS.get(answer.error, SchedulerError)(answer.text or answer.error)
    return answer


def refusal(error: SchedMateError) -> Answer:
    kinds = (kind.__name__ for kind in type(error).__mro__ if kind.__name__ in _KINDS)
    return Answer(error=next(kinds, SchedulerError.__name__), text=str(error))


def peer_of(connection: socket.socket) -> tuple[int, int]:
    """Process and account at the other end when it connected, by the kernel."""
    raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    pid, uid, _ = _CREDENTIALS.unpack(raw)
    return pid, uid


def receive(connection: socket.socket, most: int, until: float) -> bytes:
    """All until the other end closes; TimeoutError when it is late, BadInput for too much."""
    pieces: list[bytes] = []
    size = 0
    while piece := _in_time(connection, until, lambda: _piece(connection, begun=bool(pieces))):
        pieces.append(piece)
        size += len(piece)
        if size > most:
            raise BadInput(
                f"that is more than {most >> 20} MB: keep it in a file that the job reads"
            )
    return b"".join(pieces)


def _piece(connection: socket.socket, *, begun: bool) -> bytes:
    """A server that answers before it has read all ends with a reset."""
    try:
        return connection.recv(_PIECE)
    except ConnectionResetError:
        if begun:
            return b""
        raise


def send(connection: socket.socket, data: bytes, until: float) -> None:
    """All of it, and say that this is all."""
    _in_time(connection, until, lambda: connection.sendall(data))
    connection.shutdown(socket.SHUT_WR)


def _in_time(connection: socket.socket, until: float, act: Callable[[], Any]) -> Any:
    left = until - time.monotonic()
    if left <= 0:
        raise TimeoutError
    connection.settimeout(left)
    return act()
