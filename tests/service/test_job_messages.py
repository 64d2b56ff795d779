"""`--notify`: a real queue tells a real HTTP server, and a stand-in sendmail, how jobs ended."""

from __future__ import annotations

import json
import os
import stat
import sys
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from click.testing import CliRunner

from files.people import OWNER, needs_root
from schedmate.cli import _job_messages, root
from schedmate.config import LocalSettings, Settings
from schedmate.model import BadInput, Job, JobState
from schedmate.schedulers.local import LocalScheduler
from schedmate.schedulers.local.daemon import LocalDaemon
from schedmate.schedulers.local.end_messages import EndMessages
from schedmate.schedulers.local.layout import Layout
from schedmate.service.notifications.job_messages import message_about, send_message
from schedmate.service.notifications.messages import Message
from schedmate.service.notify_target import check_target, hide_secret, read_usual_target
from schedmate.testing.builders import a_job
from schedulers.local_site import wait_for
from schedulers.shared_site import SharedSite

pytestmark = pytest.mark.processes


def is_readable_by_all(path):
    """As what `serve` of a shared queue is installed from has to be."""
    real = path.resolve()
    return all(one.stat().st_mode & stat.S_IXOTH for one in (real, *real.parents))


class Listener:
    """Keeps what is posted to it; `statuses` are its first answers."""

    def __init__(self):
        self.got, self.statuses, listener = [], [], self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"])).decode()
                status = listener.statuses.pop(0) if listener.statuses else 200
                if status == 200:
                    listener.got.append((self.path, self.headers["content-type"], body))
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def texts(self, count=1):
        wait_for(lambda: len(self.got) >= count, f"{count} messages of {self.got}", 20)
        return [json.loads(body)["text"] for _, _, body in self.got]

    def close(self):
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def listener():
    made = Listener()
    yield made
    made.close()


@pytest.fixture
def queue(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, value in {
        "SCHEDMATE_CONFIG": os.devnull,
        "SCHEDMATE_STATE_DIR": str(tmp_path / "state"),
        "SCHEDMATE_LOCAL__SHARED": "false",
        "SCHEDMATE_LLM__ENABLED": "false",
        "SCHEDMATE_SUBMIT__ADVICE": "never",
        "PATH": f"{tmp_path}/bin:/usr/bin:/bin",
    }.items():
        monkeypatch.setenv(name, value)
    local = LocalScheduler(tmp_path / "state" / "local", LocalSettings(gpus=("none",)))
    yield local
    for job in local.jobs():
        with suppress(Exception):
            local.cancel(job.id)
    wait_for(lambda: all(job.state.ended for job in local.jobs()), "the end of all")
    local.stop()


def call(*words, code=0):
    done = CliRunner().invoke(root, words)
    assert done.exit_code == code, (done.output, done.exception)
    return done.stdout.strip()


def submit(*words):
    return call("submit", "--parsable", *words)


def test_one_line_tells_how_a_job_ended_and_why(queue, listener, tmp_path):
    line = "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB"
    good = submit("--notify", listener.url, "--job-name=good", "--", "true")
    [told] = listener.texts()
    bad = submit(f"--notify={listener.url}", "--", "sh", "-c", f"echo '{line}'; exit 1")
    told_bad = listener.texts(2)[1]

    assert told.startswith(f"job {good} (good) on ")
    assert " ended after " in told
    assert "COMPLETED" in told
    assert f"job {bad} (sh)" in told_bad
    assert "failed after" in told_bad
    assert "gpu_oom" in told_bad
    assert "Tried to allocate" in told_bad
    assert f"schedmate why {bad}" in told_bad
    kept = (tmp_path / "state" / "local" / "queue.sqlite3").stat().st_mode
    assert not kept & (stat.S_IRGRP | stat.S_IROTH), "the URL is a password"


def test_an_array_is_told_of_once_and_names_what_failed(queue, listener):
    words = ("--", "sh", "-c", 'test "$SLURM_ARRAY_TASK_ID" != 2')
    array = submit("--array=0-4%2", "--notify", listener.url, *words)

    [told] = listener.texts()
    assert f"job {array} (sh)" in told
    assert "4 COMPLETED, 1 FAILED" in told
    assert f"failed: {array}_2" in told


def test_mail_type_chooses_what_is_told(queue, listener):
    both = submit("--mail-type=BEGIN,FAIL", "--notify", listener.url, "--", "true")
    [begun] = listener.texts()
    wait_for(lambda: queue.jobs([both])[0].state is JobState.COMPLETED, "its end")
    failing = submit("--mail-type=FAIL", "--notify", listener.url, "--", "false")

    assert f"job {both} (true) has begun" in begun
    assert f"job {failing} (false)" in listener.texts(2)[1], "no word of the good end"


def test_notify_on_is_for_every_job_from_now_on(queue, listener, tmp_path):
    secret = f"{listener.url}/T0/secret"
    assert f"goes to {hide_secret(secret)}" in call("notify", "on", secret)
    assert "secret" not in call("notify", "show")
    assert stat.S_IMODE((tmp_path / "state" / "notify-to").stat().st_mode) == 0o600
    assert call("notify", "test").endswith(": sent")
    job_id = submit("--", "true")
    assert f"job {job_id} " in listener.texts(2)[1]
    submit("--notify=none", "--", "true")
    call("notify", "off")
    last = submit("--", "true")
    wait_for(lambda: queue.jobs([last])[0].state.ended, "its end")

    assert len(listener.got) == 2
    assert json.loads(call("notify", "show", "--json"))["told_at"] is None
    assert read_usual_target(Settings(state_dir=tmp_path / "state")) is None


def test_a_message_is_sent_again_while_the_network_is_away(queue, listener, monkeypatch):
    monkeypatch.setattr(_job_messages, "_PAUSES_S", (0.01, 0.01))
    listener.statuses[:] = [503, 503]
    message = Message("ada", "job 7 ended", (), ())
    assert _job_messages._send(Settings(), listener.url, message) == ""
    assert listener.texts() == ["job 7 ended"]
    listener.statuses[:] = [404]
    assert _job_messages._send(Settings(), listener.url, message) == "the webhook answers 404"


def test_a_daemon_that_was_killed_before_it_told_leaves_it_to_the_next(queue, listener, tmp_path):
    """The run has ended and is written down; the process died before anything was sent."""
    job_id = submit("--notify", listener.url, "--", "true")
    listener.texts()
    layout = Layout(tmp_path / "state" / "local")
    entry = queue._queue.named(job_id)[0]
    assert layout.told(entry, "END").exists()
    LocalScheduler(layout.root, LocalSettings()).stop()
    layout.told(entry, "END").unlink()

    daemon = LocalDaemon(layout, LocalSettings(gpus=("none",)))
    assert len(listener.texts(2)) == 2
    messages: EndMessages = daemon._messages
    messages.note(entry.id, "END")
    wait_for(lambda: (messages.reap(), not messages._senders)[1], "the end of the sender")
    assert len(listener.got) == 2, "once"
    daemon.close()


def test_mail_goes_by_the_machines_own_program(queue, tmp_path):
    program = tmp_path / "bin" / "sendmail"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/to\ncat >> {tmp_path}/letter\n')
    program.chmod(0o755)
    job_id = submit("--mail-type=END", "--mail-user=ada@example.org", "--", "true")
    wait_for((tmp_path / "to").exists, "the letter")
    wait_for(lambda: "COMPLETED" in (tmp_path / "letter").read_text(), "all of the letter")

    assert (tmp_path / "to").read_text() == "-i -- ada@example.org\n"
    assert f"Subject: job {job_id} (true)" in (tmp_path / "letter").read_text()


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("mail", "there is no sendmail, and the setting mail.host names no server"),
        ("slack", "--notify wants a URL"),
        ("https://", "wants a whole URL"),
        ("http://[::1", "wants a whole URL"),
        ("-oQ/tmp@x", "--notify wants a URL"),
    ],
)
def test_what_cannot_be_told_is_refused_before_the_job_waits(queue, target, said):
    with pytest.raises(BadInput, match=said.replace("[", r"\[")):
        check_target(target, Settings())
    assert said in str(CliRunner().invoke(root, ["submit", f"--notify={target}", "--", "true"]))
    assert queue.jobs() == []


@pytest.mark.parametrize(
    ("place", "kind", "key"),
    [
        ("hooks/abc", "application/json", "text"),
        ("plain", "application/json", "schema"),
    ],
)
def test_each_service_gets_its_own_form(listener, place, kind, key):
    send_message(f"{listener.url}/{place}", Message("ada", "it ended", (), ()), Settings())

    [(_, sent_as, body)] = listener.got
    assert sent_as == kind
    assert key in json.loads(body)


def test_logs_put_no_secret_and_no_control_into_a_message(tmp_path):
    log = tmp_path / "log"
    log.write_text("RuntimeError: bad key sk-abcdefghijklmnopqrstuvwxyz \x1b[2J\n")
    job: Job = a_job(state=JobState.FAILED, exit_code=1, logs=(str(log),), user="")

    text = message_about([job], job.id, "END", str).text

    assert "sk-abcdef" not in text
    assert "\x1b" not in text


@needs_root
@pytest.mark.skipif(
    not is_readable_by_all(Path(sys.executable)), reason="this Python is closed to other accounts"
)
def test_a_shared_queue_tells_as_the_owner(listener, monkeypatch):
    """Whom the sender belongs to is seen by where it can write why nothing came."""
    monkeypatch.setenv("SCHEDMATE_CONFIG", os.devnull)
    site = SharedSite()
    state = site.home(OWNER) / "state"
    env = {
        "PATH": os.environ["PATH"],
        "SCHEDMATE_CONFIG": os.devnull,
        "SCHEDMATE_STATE_DIR": str(state),
        "SCHEDMATE_QUEUE_SOCKET": str(site.socket),
    }
    try:
        job_id = site.shell(OWNER, "true", options={"notify": listener.url}, env=env)
        assert f"job {job_id} " in listener.texts()[0]
        listener.statuses[:] = [404]
        site.shell(OWNER, "mkdir -p state", options={"notify": listener.url}, env=env)
        wait_for((state / "notify.log").exists, "the note")
        assert (state / "notify.log").owner() == OWNER
        assert "the webhook answers 404" in (state / "notify.log").read_text()
    finally:
        site.leave()
