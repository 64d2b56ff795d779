"""The daemon's socket for people who are about to submit."""

from __future__ import annotations

import os
import socket
import time
from contextlib import suppress
from urllib.parse import urlencode

import pytest

from files.people import OWNER, as_user, give, let_all_reach, needs_root
from schedmate.model import JobState, PastRun
from schedmate.model.account import account_name
from schedmate.service.daemon import asking
from schedmate.service.daemon.asking import AdviceSocket, target_of
from schedmate.service.wiring import open_store
from schedmate.testing.builders import a_job

pytestmark = pytest.mark.processes

JOB = "#!/bin/bash\npython3 gone.py\n"
PATIENCE_S = 60


@pytest.fixture
def asked(place):
    (place.work / "job.sh").write_text(JOB)
    made = AdviceSocket(
        place.work / "ask.sock",
        lambda: open_store(place.settings),
        lambda advice: [f"{remark.level}: {remark.text}" for remark in advice.advice],
    )
    made.open()
    yield place.work
    made.close()
    assert not (place.work / "ask.sock").exists()


def send(directory, data, *, end=True):
    with socket.socket(socket.AF_UNIX) as asker:
        asker.settimeout(PATIENCE_S)
        asker.connect(str(directory / "ask.sock"))
        asker.sendall(data)
        if end:
            asker.shutdown(socket.SHUT_WR)
        answer = b""
        try:
            while some := asker.recv(65536):
                answer += some
        except ConnectionResetError:
            pass
        return answer


def question(**form):
    body = urlencode(form, doseq=True).encode()
    return b"POST /v1/advice HTTP/1.1\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)


def test_a_question_is_answered(asked):
    answer = send(asked, question(cwd=str(asked), argv=["job.sh"]), end=False)

    assert answer.startswith(b"HTTP/1.0 200 OK\r\n")
    assert b"error: gone.py is not there" in answer


def test_a_wrapped_command_and_what_is_on_standard_input(asked):
    wrapped = send(asked, question(cwd=str(asked), wrap="python3 missing.py"))
    unknown = send(asked, question(cwd=str(asked)))

    assert b"missing.py is not there" in wrapped
    assert unknown.startswith(b"HTTP/1.0 204 ")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\r\n\r\n",
        b"GET / HTTP/1.0\r\n\r\n",
        b"POST / HTTP/1.0\r\nContent-Length: 99\r\n\r\nshort",
        b"POST / HTTP/1.0\r\nContent-Length: -1\r\n\r\n",
        b"POST / HTTP/1.0\r\nContent-Length: 3\r\n\r\n\xff\xfe\xfd",
        question(cwd="relative", argv=["job.sh"]),
        question(cwd="/", argv=["\0"]),
        question(cwd="/proc/self/mem", argv=["x"]),
        question(cwd="/", argv=["dev/zero"]),
        question(cwd="/", argv=["x"] * 3000),
        b"POST / HTTP/1.0\r\nContent-Length: 9999999\r\n\r\n" + b"a" * 200_000,
        os.urandom(70_000),
    ],
    ids=range(13),
)
def test_odd_questions_leave_it_at_work(asked, data):
    try:
        answer = send(asked, data)
    except OSError:  # it has hung up
        answer = b""
    assert b"200 OK" not in answer
    assert b"gone.py" in send(asked, question(cwd=str(asked), argv=["job.sh"]))


def test_slow_askers_hold_up_no_one_for_long(asked):
    slow = [socket.socket(socket.AF_UNIX) for _ in range(asking._MOST_ASKERS)]
    for one in slow:
        one.connect(str(asked / "ask.sock"))
        with suppress(BrokenPipeError):  # the first may have been hung up on by now
            one.sendall(b"POST ")
    deadline = time.monotonic() + PATIENCE_S
    while b"gone.py" not in try_to_ask(asked):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    for one in slow:
        one.close()


def try_to_ask(directory):
    try:
        return send(directory, question(cwd=str(directory), argv=["job.sh"]))
    except OSError:
        return b""


def test_what_sbatch_shows_of_unstated_options_is_no_request():
    form = {"cwd": ["/w"], "wrap": ["true"], "gpus": ["2"], "nodes": ["1-0"]}
    unstated = {"time": ["2982616-04:14:00"], "ntasks-per-node": ["-2"]}
    request = target_of(account_name(), {**form, **unstated}).request
    assert (request.gpus, request.nodes, request.time_limit_s) == (2, 1, None)
    assert target_of("me", {**form, "time": ["1-02:00:00"]}).request.time_limit_s == 93600


@needs_root
def test_files_that_the_asker_may_not_read_are_not_read(asked, tmp_path):
    """Root's daemon, another user's question about root's files and about an own one."""
    let_all_reach(asked)
    secret = asked / "secret.sh"
    secret.write_text("#!/bin/bash\npython3 SECRET_NAME.py\n")
    secret.chmod(0o600)
    own = asked / "own"
    own.mkdir()
    (own / "job.sh").write_text(JOB)
    give(own, OWNER)

    def as_owner(**form):
        return as_user(OWNER, lambda: send(asked, question(**form)).decode())

    assert b"SECRET_NAME" in send(asked, question(cwd=str(asked), argv=["secret.sh"]))
    hidden = as_owner(cwd=str(asked), argv=["secret.sh"])
    assert hidden.startswith("HTTP/1.0 204 ")
    assert "gone.py is not there" in as_owner(cwd=str(own), argv=["job.sh"])


def test_a_place_that_cannot_be_used_is_reported_and_no_more(place, caplog):
    (place.work / "ask.sock").write_text("a file")
    made = AdviceSocket(place.work / "ask.sock", lambda: open_store(place.settings), lambda _: [])
    made.open()
    made.close()
    assert "no one can ask for advice" in caplog.text
    assert (place.work / "ask.sock").read_text() == "a file"


def test_runs_that_were_cancelled_are_no_expectation(place):
    """By how most of the runs ended that the prediction rests on."""
    (place.work / "job.sh").write_text("#!/bin/bash\npython3 train.py\n")
    (place.work / "train.py").write_text("print(1)\n")
    described = []
    made = AdviceSocket(
        place.work / "ask.sock",
        lambda: open_store(place.settings),
        lambda advice: described.append(advice.prediction) or [],
    )
    for state, expected in ((JobState.CANCELLED, None), (JobState.COMPLETED, 600.0)):
        with place.store() as store:
            for number in range(3):
                job = a_job(
                    id=f"{state}-{number}",
                    state=state,
                    name="job",
                    workdir=str(place.work),
                    start_time=1000.0,
                    end_time=1600.0,
                )
                store.keep_run(PastRun(job=job))
        form = {"cwd": [str(place.work)], "argv": ["job.sh"], "job-name": ["job"]}
        made._advice(account_name(), form)
        found = described.pop()
        assert found.outcome is not None, "it rests on past runs"
        assert (found.duration_s and found.duration_s.p50) == expected
