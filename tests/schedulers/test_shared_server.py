"""The socket of a shared queue, and clients that mean no good: one sentence back, and no harm."""

from __future__ import annotations

import json
import os
import shutil
import socket
import tempfile
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from files.people import OWNER, as_user, needs_root, uid_of
from schedmate.model import NotFound, SchedulerUnreachable
from schedmate.schedulers.shared.client import SharedScheduler
from schedmate.schedulers.shared.protocol import (
    MOST_ASKED,
    Answer,
    Message,
    Question,
    read_message,
    receive,
    write_message,
)
from schedmate.schedulers.shared.server import QueueServer

pytestmark = pytest.mark.processes
HIDDEN = "of no concern to clients"


@pytest.fixture
def path():
    made = Path(tempfile.mkdtemp(prefix="schedmate-shared-", dir="/tmp"))
    made.chmod(0o755)
    yield made / "queue.sock"
    shutil.rmtree(made)


@pytest.fixture
def asked(path):
    """Who asked what, by a server that knows one job."""
    seen = []

    def answer(uid, message):
        seen.append((uid, message))
        if message.question.verb == "hold":
            raise RuntimeError(HIDDEN)
        if message.question.verb == "cancel":
            raise NotFound("no such job")
        return Answer(text=str(uid))

    server = QueueServer(path, answer, question_s=0.3)
    server.open()
    yield seen
    server.close()


def connect(path):
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(30)
    connection.connect(str(path))
    return connection


def told(path, data, *, close=True):
    """What the server answers to these bytes."""
    with closing(connect(path)) as connection:
        try:
            connection.sendall(data)
            if close:
                connection.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # it has heard enough
        return json.loads(receive(connection, 1 << 20, time.monotonic() + 30))


def test_a_question_comes_as_it_was_sent():
    message = Message(Question(verb="submit"), {"HOME": "/a", "ODD": "\udcff"}, b"#!/bin/sh\n\xff")

    assert read_message(write_message(message)) == message


def test_the_kernel_tells_who_asks(path, asked):
    lie = json.loads(write_message(Message(Question(verb="script"))))
    lie["uid"] = lie["question"]["uid"] = 4242

    told(path, json.dumps(lie).encode())
    assert SharedScheduler(path).script("1") == str(os.geteuid())
    assert {uid for uid, _ in asked} == {os.geteuid()}


@needs_root
def test_another_account_is_known_by_its_own_number(path, asked):
    assert as_user(OWNER, lambda: SharedScheduler(path).script("1")) == str(uid_of(OWNER))
    assert [uid for uid, _ in asked] == [uid_of(OWNER)]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"\xff\x00",
        b"[]",
        b"7",
        b'{"question": {}, "env": {}, "script": null}',
        b'{"question": {"verb": 7}, "env": {}, "script": null}',
        b'{"question": {"verb": "jobs"}, "env": {"A": 1}, "script": null}',
        b'{"question": {"verb": "jobs"}, "env": [], "script": null}',
        b'{"question": {"verb": "jobs"}, "env": {}, "script": "\\ud800"}',
        b'{"question": {"verb": "jobs", "umask": "x"}, "env": {}, "script": null}',
        b"[" * 200_000,
        b'{"question": ' + b"9" * 10_000 + b"}",
    ],
    ids=lambda data: repr(data[:60]),
)
def test_nonsense_gets_one_sentence(path, asked, data):
    answer = told(path, data)

    assert answer["error"] == "BadInput"
    assert 0 < len(answer["text"]) < 300
    assert asked == []


def test_too_much_gets_one_sentence(path, asked):
    answer = told(path, b" " * (MOST_ASKED + 200_000))

    assert (answer["error"], asked) == ("BadInput", [])
    assert "4 MB" in answer["text"]


def test_who_never_ends_a_question_holds_up_no_one(path, asked):
    with closing(connect(path)) as idle:
        idle.sendall(b'{"question"')
        assert SharedScheduler(path).script("1") == str(os.geteuid())
        answer = json.loads(b"".join(iter(lambda: idle.recv(65536), b"")))
    assert "not whole" in answer["text"]


def test_an_account_has_so_many_connections_and_room_for_more_after_them(path, asked):
    idle = [connect(path) for _ in range(8)]
    try:
        assert told(path, b"", close=False)["error"] == "busy"
        assert SharedScheduler(path).script("1") == str(os.geteuid())  # once they are given up
    finally:
        for one in idle:
            one.close()


@needs_root
def test_one_account_with_many_connections_leaves_room_for_others(path, asked):
    idle = [connect(path) for _ in range(100)]
    try:
        begun = time.monotonic()
        assert as_user(OWNER, lambda: SharedScheduler(path, answer_s=20).script("1"))
        assert time.monotonic() - begun < 15
    finally:
        for one in idle:
            one.close()


def test_a_question_that_fails_says_nothing_of_the_inside(path, asked):
    answer = told(path, write_message(Message(Question(verb="hold"))))

    assert HIDDEN not in answer["text"]
    assert answer["error"] == "SchedulerError"
    assert SharedScheduler(path).script("1") == str(os.geteuid())


def test_an_error_is_raised_as_what_it_is(path, asked):
    with pytest.raises(NotFound, match=r"^no such job$"):
        SharedScheduler(path).cancel("1")


def test_many_at_once_are_all_answered(path, asked):
    found = []

    def ask():
        found.append(SharedScheduler(path).script("1"))

    threads = [threading.Thread(target=ask) for _ in range(40)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert found == [str(os.geteuid())] * 40


def test_no_server_is_said_in_a_sentence(path):
    with pytest.raises(SchedulerUnreachable, match="does not answer"):
        SharedScheduler(path, away_s=0.0).jobs()


@needs_root
def test_nothing_is_sent_to_another_accounts_socket(path, asked):
    """A directory of another account's could hold anything."""

    def refused():
        try:
            SharedScheduler(path)._check_server(uid_of("nobody"))
        except SchedulerUnreachable as error:
            return str(error)
        return ""

    assert "not by root" in as_user(OWNER, refused)


def test_a_server_takes_the_place_of_one_that_was_killed(path):
    dead = socket.socket(socket.AF_UNIX)
    dead.bind(str(path))
    dead.close()
    server = QueueServer(path, lambda *_: Answer(text="new"))
    server.open()
    try:
        assert SharedScheduler(path).script("1") == "new"
    finally:
        server.close()
    assert not path.exists()
