"""Answers of slurmrestd that are none, its versions and shapes, and the tokens it asks for."""

import base64
import json
import socket
import threading
import time
from collections import deque
from contextlib import contextmanager, suppress

import pytest

from schedmate.model import BadInput, NotAllowed, NotFound, SchedulerError, SchedulerUnreachable
from schedmate.schedulers.slurm.rest import shapes
from schedmate.schedulers.slurm.rest.api import RestApi, best_version
from schedmate.schedulers.slurm.rest.client import Place, RestClient
from schedmate.schedulers.slurm.rest.source import RestSource, records
from schedmate.schedulers.slurm.rest.tokens import OwnToken, Token, TokenFile
from schedmate.sections import Secret

PATHS = {"/slurm/v0.0.38/jobs": {}, "/slurm/v0.0.38/job/{job_id}": {}, "/slurm/v0.0.37/jobs": {}}


def http(status, body, length=None):
    text = body if isinstance(body, str) else json.dumps(body)
    raw = text.encode()
    head = f"HTTP/1.1 {status} X\r\nContent-Length: {length or len(raw)}\r\n\r\n"
    return head.encode() + raw


DOCUMENT = http(200, {"paths": PATHS})


@contextmanager
def answering(directory, *answers):
    """A server on a socket that gives these answers, one a connection, then the last again."""
    path = directory / "rest.sock"
    queue, asked = deque(answers), []
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        server.listen()
        server.settimeout(30)
        done = threading.Event()

        def serve():
            while not done.is_set():
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    asked.append(connection.recv(65536).decode())
                    answer = queue.popleft() if len(queue) > 1 else queue[0]
                    if callable(answer):
                        answer(connection)
                    elif answer:
                        with suppress(BrokenPipeError):  # who asked has gone
                            connection.sendall(answer)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"unix://{path}", asked
        done.set()
        server.shutdown(socket.SHUT_RDWR)
    thread.join()


class Given:
    def __init__(self, token=None):
        self.token = token or Token(Secret("aa.bb.cc"))

    def current(self):
        return self.token

    def advice(self):
        return "renew it"


def api(url, timeout_s=5.0, token=None):
    return RestApi(RestClient(url, Given(token), timeout_s))


def jobs(url, **parts):
    return list(RestSource(api(url, **parts), None).queued(None))


@pytest.fixture
def short_path(tmp_path_factory):
    return tmp_path_factory.mktemp("s")


NO_ANSWERS = {
    "nothing": b"",
    "a page": http(200, "<html>Sign in</html>"),
    "a page of an error": http(502, "<html>Bad gateway</html>"),
    "an empty text": http(200, ""),
    "half of it": http(200, '{"jobs": [', length=500),
    "cut JSON": http(200, '{"jobs": ['),
    "a list": http(200, []),
    "no jobs": http(200, {"errors": []}),
    "jobs that are null": http(200, {"jobs": None}),
    "no HTTP": b"SSH-2.0-OpenSSH_9.2\r\n",
    "a redirection": http(302, "moved"),
    "an error beside an empty list": http(
        200, {"jobs": [], "errors": [{"error_number": -1, "error": "Unspecified error"}]}
    ),
    "no controller": http(
        500, {"jobs": [], "errors": [{"error_number": 1800, "error": "Unable to contact"}]}
    ),
}


@pytest.mark.parametrize("answer", NO_ANSWERS.values(), ids=NO_ANSWERS)
def test_what_is_no_answer_is_no_empty_queue(short_path, answer):
    with (
        answering(short_path, DOCUMENT, answer) as (url, _),
        pytest.raises(SchedulerUnreachable) as raised,
    ):
        jobs(url)
    assert "\n" not in str(raised.value)
    assert "aa.bb.cc" not in str(raised.value)


def test_no_jobs_are_no_jobs(short_path):
    with answering(short_path, DOCUMENT, http(200, {"jobs": [], "errors": []})) as (url, asked):
        assert jobs(url) == []
    assert [one.split()[1] for one in asked] == ["/openapi/v3", "/slurm/v0.0.38/jobs"]


@pytest.mark.parametrize("status", [401, 403, 511])
def test_a_token_that_is_refused(short_path, status):
    answer = http(status, "Authentication failure")
    with (
        answering(short_path, answer) as (url, _),
        pytest.raises(SchedulerUnreachable, match="does not accept the token; renew it"),
    ):
        jobs(url)


def test_a_token_that_has_expired(short_path):
    ended = Token(Secret("aa.bb.cc"), "ada", time.time() - 60)
    refused = http(500, {"errors": [{"error_number": -1, "error": "Unspecified error"}]})
    with (
        answering(short_path, DOCUMENT, refused) as (url, _),
        pytest.raises(SchedulerUnreachable, match="the token has expired; renew it"),
    ):
        jobs(url, token=ended)


@pytest.mark.parametrize(
    ("number", "error"), [(2017, NotFound), (2002, NotAllowed), (2072, SchedulerError)]
)
def test_refusals_by_slurms_numbers(short_path, number, error):
    answer = http(500, {"errors": [{"error_number": number, "error": "in words"}]})
    with answering(short_path, DOCUMENT, answer) as (url, _):
        with pytest.raises(error, match="in words") as raised:
            api(url).ask("DELETE", "job/{job_id}", job_id="12")
        assert not isinstance(raised.value, SchedulerUnreachable)


def test_a_field_that_was_ignored_was_not_set(short_path):
    warning = {"description": 'Ignoring unknown field "nicee" of type 64 bit integer'}
    answer = http(200, {"errors": [], "warnings": [warning]})
    with answering(short_path, DOCUMENT, answer) as (url, _), pytest.raises(SchedulerError):
        api(url).ask("POST", "job/{job_id}", {"nicee": 3}, job_id="12")


def trickle(connection):
    """Each piece comes in time, the whole never does."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    try:
        for _ in range(4000):
            connection.sendall(b" ")
            time.sleep(0.05)
    except OSError:
        pass


def test_the_deadline_is_for_the_whole_answer(short_path):
    began = time.monotonic()
    with answering(short_path, DOCUMENT, trickle) as (url, _):
        with pytest.raises(SchedulerUnreachable, match=r"none in 0\.5 s"):
            jobs(url, timeout_s=0.5)
        assert time.monotonic() - began < 100


def test_after_an_upgrade_the_version_is_negotiated_again(short_path):
    newer = http(200, {"paths": {"/slurm/v0.0.45/jobs/": {}, "/slurm/v0.0.45/conf": {}}})
    gone = http(404, "Unable find requested URL.")
    some = http(200, {"jobs": [], "errors": []})
    with answering(short_path, DOCUMENT, some, gone, newer, some) as (url, asked):
        one = api(url)
        assert one.get("jobs", "jobs") == []
        assert (one.version, one.offers("conf")) == ("v0.0.38", False)
        assert one.get("jobs", "jobs") == []
        assert (one.version, one.offers("conf")) == ("v0.0.45", True)
    assert asked[-1].split()[1] == "/slurm/v0.0.45/jobs/"


def test_the_newest_version_that_both_know():
    assert best_version(PATHS) == 38
    later = [f"/slurm/v0.0.{number}/jobs/" for number in (42, 43, 44, 45, 46)]
    assert best_version(later) == 45
    with pytest.raises(SchedulerError, match=r"offers v0\.0\.99, and SchedMate knows"):
        best_version(["/slurm/v0.0.99/jobs/", "/slurmdb/v0.0.38/jobs"])
    with pytest.raises(SchedulerError, match="offers no version"):
        best_version(["/openapi/v3"])


OLD = {
    "job_id": 12, "array_job_id": 0, "array_task_id": None, "array_task_string": "",
    "het_job_id": 0, "job_state": "COMPLETING", "nice": 4294967291, "time_limit": None,
    "exit_code": 768, "submit_time": 1794903598, "features": "a100&ib", "restart_cnt": 1,
}  # fmt: skip


def struct(number, *, infinite=False):
    return {"set": not infinite, "infinite": infinite, "number": number}


NEW = OLD | {
    "array_job_id": struct(0), "array_task_id": {"set": False, "infinite": False, "number": 0},
    "het_job_id": struct(0), "job_state": ["FAILED", "COMPLETING"], "nice": -5,
    "time_limit": struct(0, infinite=True), "submit_time": struct(1794903598),
    "exit_code": {"return_code": struct(3), "signal": {"id": {"set": False, "number": 0}}},
}  # fmt: skip


@pytest.mark.parametrize("found", [OLD, NEW], ids=["numbers", "structures"])
def test_one_record_of_both_shapes(found):
    (row,) = records(found)
    assert (row["JobArrayID"], row["State"], row["Nice"]) == ("12", "COMPLETING", "-5")
    assert (row["TimeLimit"], row["SubmitTime"]) == ("UNLIMITED", "1794903598")
    assert (row["ArrayTaskID"], row["HetJobID"], row["RestartCnt"]) == ("N/A", "N/A", "1")
    assert row["exit_code"] in ("768", "3:0")


def test_parts_and_tasks_have_squeues_ids():
    (part,) = records(NEW | {"het_job_id": struct(11), "het_job_offset": struct(1)})
    assert (part["JobArrayID"], part["HetJobID"]) == ("11+1", "11")
    spread = OLD | {"job_id": 7, "array_job_id": 7, "array_task_string": "0-1,3,8-12:2%2"}
    rows = list(records(spread))
    assert [row["JobArrayID"] for row in rows] == [f"7_{task}" for task in (0, 1, 3, 8, 10, 12)]
    assert {row["JobID"] for row in rows} == {"7"}
    (task,) = records(OLD | {"job_id": 9, "array_job_id": 7, "array_task_id": 2})
    assert (task["JobArrayID"], task["JobID"], task["ArrayJobID"]) == ("7_2", "9", "7")
    assert shapes.tasks("1-3,5,...") is None


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://head.site:6820", "unencrypted"),
        ("ftp://head", "write https://HOST:PORT"),
        ("head:6820", "write https://HOST:PORT"),
        ("unix://run/rest.sock", "write https://HOST:PORT"),
        ("https://ada:secret@head:6820", "takes no password"),
        ("https://head:many", "its port is no number"),
        ("https://head/api", "write https://HOST:PORT"),
    ],
)
def test_addresses_that_cannot_be_used(url, words):
    with pytest.raises(BadInput, match=words) as raised:
        Place.read(url)
    assert "secret" not in str(raised.value)


def test_addresses():
    assert Place.read("unix:///run/rest.sock").path == "/run/rest.sock"
    assert Place.read("http://[::1]:6820").host == "::1"
    assert Place.read("https://head:6820/").port == 6820


def jwt(**claims):
    body = base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")
    return f"eyJh.{body}.c2ln"


def test_a_token_file_is_read_again_when_it_has_changed(tmp_path):
    path = tmp_path / "token"
    with pytest.raises(SchedulerUnreachable, match=f"cannot be read .*> {path}"):
        TokenFile(path).current()
    path.write_text(f"SLURM_JWT={jwt(sun='ada', exp=1794903598)}\n")
    tokens = TokenFile(path)
    assert (tokens.current().user, tokens.current().expires) == ("ada", 1794903598)
    path.write_text(jwt(sun="grace") + "\n")
    assert tokens.current().user == "grace"
    path.write_text("-----BEGIN KEY-----")
    with pytest.raises(SchedulerUnreachable, match="holds no token") as raised:
        tokens.current()
    assert "BEGIN" not in str(raised.value)
    assert "grace" not in repr(Token.read(jwt(sun="grace")).secret)


def test_an_own_token_is_renewed_before_it_expires():
    asked = []

    def ask(lifespan_s):
        asked.append(lifespan_s)
        return f"SLURM_JWT={jwt(sun='ada', exp=time.time() + 200 * len(asked))}"

    tokens = OwnToken(ask)
    assert tokens.current().expires != tokens.current().expires, "200 s are few"
    for _ in range(3):
        tokens.current()
    assert len(asked) == 2
