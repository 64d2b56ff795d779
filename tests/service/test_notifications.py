"""Notifications, sent to a real HTTP server and a real mail server."""

from __future__ import annotations

import json
import socket
import ssl
import subprocess
import threading
import time
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from aiosmtpd.controller import Controller

from schedmate.config import Settings
from schedmate.model import BadInput, EarlyWarning, JobState, PastRun
from schedmate.model.access import CORRECTION, Notice, Subscription
from schedmate.sections import Secret
from schedmate.service.notifications import addresses
from schedmate.service.notifications.addresses import (
    PermanentError,
    Target,
    TemporaryError,
    allowed_address,
    is_public,
)
from schedmate.service.notifications.channels import channels_of, check_subscription, escaped
from schedmate.service.notifications.messages import message_of
from schedmate.service.notifications.notifier import Notifier
from schedmate.service.notifications.trial import send_test
from schedmate.service.wiring import open_store
from schedmate.site_settings import MailSettings, NotifySettings, WebhookSettings
from schedmate.store import PersonsAct
from schedmate.testing.builders import a_diagnosis, a_job, a_progress

NOW = 1_000_000.0
KEY = "sk-abcdefghijklmnopqrstuvwxyz"
HTTP = pytest.mark.processes


@contextmanager
def http_server(*statuses, location=""):
    """Answers with these statuses one after the other, then with 200; keeps what was sent."""
    got, left = [], list(statuses)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["content-length"]))
            got.append((self.path, json.loads(body)))
            self.send_response(left.pop(0) if left else 200)
            if location:
                self.send_header("Location", location)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", got
        server.shutdown()


@contextmanager
def mail_server(refuse=""):
    got = []

    class Handler:
        async def handle_RCPT(self, server, session, envelope, address, options):  # noqa: N802
            if refuse:
                return refuse
            envelope.rcpt_tos.append(address)
            return "250 OK"

        async def handle_DATA(self, server, session, envelope):  # noqa: N802
            got.append((envelope.rcpt_tos, envelope.content.decode()))
            return "250 OK"

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    controller = Controller(Handler(), hostname="127.0.0.1", port=port)
    controller.start()
    try:
        yield port, got
    finally:
        controller.stop()


def slack_at(url, **more):
    hook = WebhookSettings(url=Secret(f"{url}/services/T1/secret"), kind="slack", private=True)
    return {"webhooks": {"team": hook}, **more}


@pytest.fixture
def store(tmp_path):
    with closing(open_store(Settings(state_dir=tmp_path / "state"))) as store:
        yield store


def notifier(store, settings, **notify):
    values = {"wait_s": 60.0, **notify}
    return Notifier(store, channels_of(settings), NotifySettings(**values), lambda s: f"{s:.0f} s")


def fail(store, job_id="1", reason="gpu_oom", user="ada", **parts):
    store.keep_diagnosis(job_id, 0, a_diagnosis(reason))
    times = {"start_time": NOW - 50, "end_time": NOW - 5}
    values = {"id": job_id, "user": user, "state": JobState.FAILED, **times, **parts}
    store.keep_listed([a_job(**values)])


@HTTP
def test_a_failure_reaches_slack_with_its_reason_in_the_first_line(store):
    with http_server() as (url, got):
        watch = notifier(store, Settings(**slack_at(url)), link="https://head/")
        store.subscribe(Subscription(user="ada", channels=("team",)))
        fail(store, name="resnet")
        watch.look(NOW)
        assert got == []
        watch.look(NOW + 61)
        watch.look(NOW + 200)
    [(path, body)] = got
    assert path == "/services/T1/secret"
    first, *rest = body["text"].splitlines()
    assert first == "ada: job 1 (resnet) failed: gpu_oom: it was gpu_oom"
    assert any("train.log:42: line about gpu_oom" in line for line in rest)
    assert "  https://head/jobs/1" in rest


@HTTP
def test_only_who_subscribed_hears_of_it_and_only_of_their_own_jobs(store):
    with http_server() as (url, got):
        watch = notifier(store, Settings(**slack_at(url)), wait_s=0.0)
        fail(store, "1", user="ada")
        fail(store, "2", user="bob")
        watch.look(NOW)
        watch.look(NOW + 1)
        assert got == []
        store.subscribe(Subscription(user="bob", channels=("team",), kinds=("hung",)))
        fail(store, "3", user="bob")
        fail(store, "4", user="ada")
        watch.look(NOW + 2)
        watch.look(NOW + 3)
        assert got == []


@HTTP
def test_an_array_that_fails_is_one_message(store):
    with http_server() as (url, got):
        watch = notifier(store, Settings(**slack_at(url)))
        store.subscribe(Subscription(user="ada", channels=("team",)))
        for task in range(50):
            fail(store, f"8_{task}", name="sweep")
        fail(store, "9", "import_error")
        watch.look(NOW)
        watch.look(NOW + 61)
    [(_, body)] = got
    first, *rest = body["text"].splitlines()
    assert first == "ada: of your jobs, 51 failed: gpu_oom (50), import_error (1)"
    assert any("and 49 more tasks of its array" in line for line in rest)
    assert len(rest) < 20


@HTTP
def test_messages_are_limited_and_nothing_is_lost(store):
    with http_server() as (url, got):
        watch = notifier(store, Settings(**slack_at(url)), wait_s=0.0, messages_an_hour=2)
        store.subscribe(Subscription(user="ada", channels=("team",)))
        for number in range(5):
            fail(store, str(number))
            watch.look(NOW + number)
            watch.look(NOW + number + 0.5)
        assert len(got) == 2
        watch.look(NOW + 3700)
    assert len(got) == 3
    assert "of your jobs, 3 failed" in got[2][1]["text"]


@HTTP
def test_what_fails_for_now_is_sent_again_and_what_fails_for_good_is_not(store):
    with http_server(503, 200, 404) as (url, got):
        watch = notifier(store, Settings(**slack_at(url)), wait_s=0.0)
        store.subscribe(Subscription(user="ada", channels=("team",)))
        fail(store)
        watch.look(NOW)
        watch.look(NOW + 1)
        assert len(got) == 1
        watch.look(NOW + 62)
        assert len(got) == 2
        fail(store, "2")
        for later in (70, 200, 2000, 9000):
            watch.look(NOW + later)
    assert len(got) == 3
    assert watch.counts == {("team", "retried"): 1, ("team", "sent"): 1, ("team", "failed"): 1}
    assert store.waiting_notices() == 0


@HTTP
def test_a_second_notifier_sends_nothing_twice(store):
    with http_server() as (url, got):
        settings = Settings(**slack_at(url))
        store.subscribe(Subscription(user="ada", channels=("team",)))
        fail(store)
        for watch in (notifier(store, settings, wait_s=0.0), notifier(store, settings, wait_s=0.0)):
            watch.look(NOW)
            watch.look(NOW + 1)
    assert len(got) == 1


@HTTP
def test_a_plain_webhook_gets_data(store):
    with http_server() as (url, got):
        hook = WebhookSettings(url=Secret(url), private=True)
        watch = notifier(store, Settings(webhooks={"ops": hook}), wait_s=0.0)
        store.subscribe(Subscription(user="ada", channels=("ops",)))
        fail(store)
        watch.look(NOW)
        watch.look(NOW + 1)
    [(_, body)] = got
    assert body["schema"] == "schedmate.notification/1"
    assert [(one["job_id"], one["kind"]) for one in body["notices"]] == [("1", "failed")]


@HTTP
def test_mail_has_the_reason_in_its_subject(store):
    with mail_server() as (port, got):
        mail = MailSettings(host="127.0.0.1", port=port, domain="example.org")
        watch = notifier(store, Settings(mail=mail), wait_s=0.0)
        store.subscribe(Subscription(user="ada", channels=("mail",)))
        fail(store, name="resnet\nBcc: eve@example.org")
        watch.look(NOW)
        watch.look(NOW + 1)
    [(to, letter)] = got
    assert to == ["ada@example.org"]
    head, _, body = letter.replace("\r\n", "\n").partition("\n\n")
    assert "failed: gpu_oom" in head.replace("\n ", " ")
    assert "\nBcc:" not in head
    assert "Auto-Submitted: auto-generated" in head
    assert body.startswith("job 1 (resnet Bcc: eve@example.org) failed: gpu_oom")


@HTTP
@pytest.mark.parametrize(("answer", "outcome"), [("550 no", "failed"), ("451 later", "retried")])
def test_a_mail_server_refuses_for_good_or_for_now(store, answer, outcome):
    with mail_server(refuse=answer) as (port, _):
        mail = MailSettings(host="127.0.0.1", port=port, domain="example.org")
        watch = notifier(store, Settings(mail=mail), wait_s=0.0)
        store.subscribe(Subscription(user="ada", channels=("mail",)))
        fail(store)
        watch.look(NOW)
        watch.look(NOW + 1)
    assert watch.counts == {("mail", outcome): 1}


@pytest.mark.parametrize(
    ("warning", "kind", "words"),
    [
        ("hang", "hung", "seems to hang"),
        ("time_limit", "limit", "will not make its time limit"),
        ("loss_nan", None, ""),
    ],
)
def test_a_run_that_hangs_or_will_miss_its_limit(store, warning, kind, words):
    store.subscribe(Subscription(user="ada", channels=("team",)))
    shown = a_progress(warnings=(EarlyWarning(reason=warning, text="as its log shows"),))
    store.keep_progress("1", 0, shown, at=NOW)
    store.keep_listed([a_job(user="ada", state=JobState.RUNNING)])
    notifier(store, Settings()).look(NOW)
    found = store.claim_notices(now=NOW + 100, until=NOW + 200, limit=9)
    assert [one.kind for one in found] == ([kind] if kind else [])
    assert all(words in one.text for one in found)


def test_a_failure_waits_for_its_diagnosis_but_not_for_ever(store):
    store.subscribe(Subscription(user="ada", channels=("team",)))
    ended = a_job(user="ada", state=JobState.NODE_FAIL, end_time=NOW)
    store.keep_listed([ended])
    watch = notifier(store, Settings())
    watch.look(NOW + 1)
    assert store.waiting_notices() == 0
    watch.look(NOW + 301)
    [found] = store.claim_notices(now=NOW + 999, until=NOW + 1000, limit=9)
    assert found.text == "job 1 (train) failed: NODE_FAIL"


def test_what_ended_long_ago_and_what_was_cancelled_is_no_news(store):
    store.subscribe(Subscription(user="ada", channels=("team",)))
    fail(store, "1", end_time=NOW - 7200)
    fail(store, "2", "cancelled")
    store.keep_listed([a_job(id="3", user="ada", state=JobState.CANCELLED, end_time=NOW)])
    notifier(store, Settings()).look(NOW)
    assert store.waiting_notices() == 0


def test_a_restart_sends_nothing_about_failures_of_before(store):
    """Nor about one that gets its reason later, or whose job changes; what failed while nobody
    looked for a moment is news."""
    store.subscribe(Subscription(user="ada", channels=("team",)))
    fail(store, "1", end_time=NOW - 1800)
    store.keep_listed([a_job(id="2", user="ada", state=JobState.FAILED, end_time=NOW - 1200)])
    fail(store, "3", end_time=NOW - 60)
    watch = notifier(store, Settings())
    watch.look(NOW)
    store.keep_diagnosis("2", 0, a_diagnosis("storage_io"))
    watch.look(NOW + 5)
    found = store.claim_notices(now=NOW + 999, until=NOW + 1000, limit=9)
    assert [one.job_id for one in found] == ["3"]


def test_an_attempt_that_is_tried_again_is_reported(store):
    store.subscribe(Subscription(user="ada", channels=("team",)))
    store.keep_diagnosis("1", 0, a_diagnosis("gpu_ecc"))
    store.keep_listed([a_job(user="ada", restarts=1)])
    notifier(store, Settings()).look(NOW)
    [found] = store.claim_notices(now=NOW + 999, until=NOW + 1000, limit=9)
    assert (found.attempt, "gpu_ecc" in found.text) == (0, True)


def test_an_attempt_that_failed_long_ago_is_no_news(store):
    """To a notifier that has just been started, and after any change to the job."""
    store.subscribe(Subscription(user="ada", channels=("team",)))
    first = a_job(user="ada", state=JobState.FAILED, end_time=NOW - 7200)
    store.keep_run(PastRun(job=first))
    store.keep_diagnosis("1", 0, a_diagnosis("gpu_ecc"))
    store.keep_listed([a_job(user="ada", restarts=1)])
    store.keep_diagnosis("2", 0, a_diagnosis("gpu_ecc"))
    running = JobState.RUNNING
    store.keep_listed([a_job(id="2", user="ada", restarts=1, state=running, start_time=NOW - 7200)])
    watch = notifier(store, Settings())
    watch.look(NOW)
    store.keep_diagnosis("1", 0, a_diagnosis("storage_io"))
    watch.look(NOW + 5)
    assert store.waiting_notices() == 0


def test_a_corrected_diagnosis_is_no_news(store):
    store.subscribe(Subscription(user="ada", channels=("team",)))
    fail(store, "1", "not_failed")
    watch = notifier(store, Settings())
    watch.look(NOW)
    corrected = PersonsAct(at=NOW + 4, user="ada", action=CORRECTION, about="job 1")
    store.record_act(corrected)
    store.keep_diagnosis("1", 0, a_diagnosis("gpu_oom"))
    watch.look(NOW + 5)
    assert store.waiting_notices() == 0
    again = a_job(user="ada", state=JobState.FAILED, restarts=1, end_time=NOW + 30)
    store.keep_run(PastRun(job=a_job(user="ada", state=JobState.FAILED, end_time=NOW - 5)))
    store.keep_listed([again])
    store.keep_diagnosis("1", 1, a_diagnosis("gpu_ecc"))
    watch.look(NOW + 31)
    [found] = store.claim_notices(now=NOW + 999, until=NOW + 1000, limit=9)
    assert (found.attempt, "gpu_ecc" in found.text) == (1, True), "the next failure is"


def test_no_secret_and_no_escape_sequence_is_sent():
    hostile = Notice(
        job_id="1",
        attempt=0,
        kind="failed",
        user="ada",
        at=NOW,
        text=f"job 1 failed: auth_error: OPENAI_API_KEY={KEY}\nsecond line \x1b[31m",
        details=(f"train.log:1: Authorization: Bearer {KEY}",),
    )
    message = message_of("ada", [hostile], "")
    sent = message.text + json.dumps(message.as_json())
    assert KEY not in sent
    assert "\x1b" not in sent
    assert "\n" not in message.title


@HTTP
def test_nothing_becomes_a_call_for_the_whole_channel(store):
    with http_server() as (url, got):
        watch = notifier(store, Settings(**slack_at(url)), wait_s=0.0)
        store.subscribe(Subscription(user="ada", channels=("team",)))
        fail(store, name="<!channel> <https://evil.example.org|click>")
        watch.look(NOW)
        watch.look(NOW + 1)
    assert "<" not in got[0][1]["text"]


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("<!channel> & more", "&lt;!channel&gt; &amp; more"),
        ("ping @Channel and @all", "ping @\u200bChannel and @\u200ball"),
        ("![x](https://evil/x.png)", "![x]\u200b(https://evil/x.png)"),
        ("ada@example.org a[0] (b)", "ada@example.org a[0] (b)"),
    ],
)
def test_chat_gets_text_and_no_markup(text, sent):
    assert escaped(text) == sent


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "10.1.2.3", "192.168.0.1", "172.16.9.9", "169.254.169.254", "0.0.0.0"),
        *("::1", "fe80::1%eth0", "fd00::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "224.0.0.1"),
        *("100.64.0.1", "2002:7f00:1::", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::7f00:1"),
        *("fec0::1", "::ffff:0:127.0.0.1", "ff02::1", "192.0.0.8", "2001:0:7f00:1::", "::"),
    ],
)
def test_private_addresses_are_known(address):
    assert not is_public(address)
    assert is_public("93.184.216.34")
    assert is_public("2606:4700::1111")
    assert is_public("64:ff9b::5db8:d822")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "0x7f000001", "2130706433"])
def test_a_webhook_does_not_reach_into_the_sites_own_network(host):
    with pytest.raises((PermanentError, TemporaryError)):
        allowed_address(host, 80, private=False)


@HTTP
def test_a_webhook_on_loopback_has_to_be_allowed():
    with http_server() as (url, got):
        with pytest.raises(PermanentError, match="private network"):
            Target(url).post(b"{}", "application/json")
        Target(url, private=True).post(b"{}", "application/json")
    assert len(got) == 1


@HTTP
def test_redirects_are_not_followed():
    with (
        http_server() as (inside, got),
        http_server(302, location=f"{inside}/secret") as (url, _),
        pytest.raises(PermanentError, match="302"),
    ):
        Target(url, private=True).post(b"{}", "application/json")
    assert got == []


@HTTP
@pytest.mark.parametrize("said", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n"])
def test_a_server_that_drips_holds_up_no_one(said, monkeypatch):
    """A byte now and then, within every timeout of a single read."""
    monkeypatch.setattr(addresses, "DEADLINE_S", 1.0)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        stop = threading.Event()

        def drip():
            end, _ = listener.accept()
            with end, suppress(OSError):
                end.sendall(said)
                while not stop.wait(0.05):
                    end.sendall(b"x")

        thread = threading.Thread(target=drip, daemon=True)
        thread.start()
        began = time.monotonic()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        with suppress(TemporaryError, PermanentError):
            Target(url, private=True).post(b"{}", "application/json")
        took = time.monotonic() - began
        stop.set()
        thread.join(30)
    assert took < 30


@pytest.mark.processes
def test_mail_over_tls_is_sent_to_the_named_server_alone(store, tmp_path):
    """A certificate that no authority has signed is no proof of that."""
    certificate, key = tmp_path / "c.pem", tmp_path / "k.pem"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=x"),
            *("-days", "2", "-keyout", str(key), "-out", str(certificate)),
        ],
        check=True,
        capture_output=True,
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        got = []

        def answer():
            end, _ = listener.accept()
            with suppress(OSError), context.wrap_socket(end, server_side=True) as secured:
                secured.sendall(b"220 hello\r\n")
                got.append(secured.recv(4096))

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        port = listener.getsockname()[1]
        mail = MailSettings(host="127.0.0.1", port=port, security="tls", domain="example.org")
        found = send_test(Settings(mail=mail), "ada", None, channel="mail")
        thread.join(30)
    assert [(one.sent, "certificate" in one.reason) for one in found.results] == [(False, True)]
    assert got in ([], [b""])


@HTTP
def test_a_test_message_goes_by_every_channel_of_ones_own():
    with http_server() as (url, got), mail_server() as (port, letters):
        mail = MailSettings(host="127.0.0.1", port=port, domain="example.org")
        hook = WebhookSettings(url=Secret(url), private=True)
        slack = slack_at(url)["webhooks"]
        settings = Settings(mail=mail, webhooks={"ops": hook, **slack})
        mine = Subscription(user="ada", channels=("ops", "team", "mail"))
        found = send_test(settings, "ada", mine)
        assert [(one.channel, one.sent) for one in found.results] == [
            ("ops", True),
            ("team", True),
            ("mail", True),
        ]
        one = send_test(settings, "ada", mine, channel="team")
        assert len(one.results) == 1
    (_, data), (_, chat), _ = got
    assert data["title"].startswith("this is a test: messages of SchedMate to ada")
    assert data["notices"] == []
    assert chat["text"].startswith("ada: this is a test")
    assert "Subject: this is a test" in letters[0][1]


@HTTP
def test_why_a_test_message_does_not_arrive():
    with http_server(404) as (url, _):
        hook = WebhookSettings(url=Secret(f"{url}/secret"), private=True)
        inside = WebhookSettings(url=Secret(f"{url}/secret"))
        settings = Settings(webhooks={"gone": hook, "inside": inside})
        both = Subscription(user="ada", channels=("gone", "inside"))
        found = send_test(settings, "ada", both)
    assert [one.sent for one in found.results] == [False, False]
    assert "404" in found.results[0].reason
    assert "private network" in found.results[1].reason
    assert "secret" not in str(found)
    with pytest.raises(BadInput, match="no messages are sent to you yet"):
        send_test(settings, "ada", None)
    with pytest.raises(BadInput, match="there is no channel"):
        send_test(settings, "ada", None, channel="https://evil")


@pytest.mark.parametrize("url", ["file:///etc/passwd", "gopher://x", "http://", "http://a:99999/"])
def test_what_is_no_webhook(url):
    with pytest.raises(PermanentError) as error:
        Target(url, private=True).post(b"{}", "application/json")
    assert url not in str(error.value)


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"channels": ("pager",)}, "there are mail, team"),
        ({"channels": ()}, "at least one"),
        ({"channels": ("mail",), "mail": "ada@elsewhere.org"}, "example.org only"),
        ({"channels": ("mail",), "mail": "ada@x\nBcc: y"}, "no mail address"),
    ],
)
def test_a_subscription_names_what_there_is(parts, words):
    mail = MailSettings(host="127.0.0.1", domain="example.org")
    settings = Settings(**slack_at("http://127.0.0.1", mail=mail))
    with pytest.raises(BadInput, match=words):
        check_subscription(Subscription(user="ada", **parts), settings)
    check_subscription(Subscription(user="ada", channels=("mail", "team")), settings)
    with pytest.raises(BadInput, match="sends no notifications"):
        check_subscription(Subscription(user="ada", channels=("mail",)), Settings())


def test_settings_do_not_show_the_webhooks_url():
    settings = Settings(**slack_at("https://hooks.example.org"))
    assert "T1" not in repr(replace(settings))
