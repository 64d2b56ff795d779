"""A real site for a real browser: jobs that really ran on a scheduler, and its daemon."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from contextlib import closing, contextmanager
from dataclasses import dataclass

import pytest

from schedmate.config import LocalSettings, Settings
from schedmate.model import Request, Submission
from schedmate.service.usecases.submit import submit
from schedmate.service.wiring import open_scheduler, open_store
from schedmate.testing.builders import a_learned_rule, an_origin
from schedulers.local_site import wait_for
from web.browser.driver import the_browser
from web.conftest import free_port

HOSTILE = "<img src=x onerror=\"document.title='owned'\">"
PATIENCE_S = 240.0

TRAIN = """
import argparse, time

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=8)
parser.add_argument("--batch-size", type=int, default=32)
args = parser.parse_args()
for epoch in range(1, args.epochs + 1):
    time.sleep(0.25)
    print(f"epoch {epoch}/{args.epochs} loss {2 / epoch:.4f}", flush=True)
"""
FAIL = f"""
print("loading", flush=True)
for step in range(1, 301):
    print(f"step {{step}}/1000 loss {{1 / step:.4f}}")
print(" 10%|#   |\\r 50%|##  |\\r100%|####|")
raise RuntimeError('''CUDA out of memory. Tried to allocate 2.00 GiB {HOSTILE}''')
"""
SLOW = """
import itertools, time

for step in itertools.count(1):
    print(f"step {step}/100000 loss {1 / step:.5f}", flush=True)
    time.sleep(0.1)
"""


@dataclass
class BrowserSite:
    settings: Settings
    work: object
    url: str

    def submit(self, name, *command, gpus=1):
        words = Submission(
            command=(sys.executable, *command),
            workdir=str(self.work),
            name=name,
            request=Request(gpus=gpus),
        )
        return submit(self.settings, words).job_id

    def token(self, user):
        """A token as an operator makes it."""
        words = [sys.executable, "-m", "schedmate", "token", "create", "--user", user]
        env = _environment(self.settings)
        made = subprocess.run(
            [*words, "--name", "browser"], env=env, capture_output=True, text=True, check=True
        )
        return made.stdout.strip()

    def view(self, job_id):
        """None until the daemon has seen it."""
        try:
            with urllib.request.urlopen(f"{self.url}/api/v1/jobs/{job_id}", timeout=60) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            error.close()
            return None

    def wait(self, met, job_id, what):
        def seen():
            view = self.view(job_id)
            return view is not None and met(view)

        wait_for(seen, f"{what} of job {job_id}", PATIENCE_S)

    def wait_state(self, job_id, state):
        self.wait(lambda view: view["job"]["state"] == state, job_id, state)


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    root = tmp_path_factory.mktemp("site")
    local = LocalSettings(slots=2, kill_wait_s=0.3)
    settings = Settings(state_dir=root / "state", mode="act", local=local)
    with playing(settings, root) as site:
        yield site
        open_scheduler(settings).stop()


@contextmanager
def playing(settings, root, *, nodes=1):
    """A site whose `nodes` have two GPUs each, with jobs that ran, run and wait."""
    work = root / "work"
    work.mkdir()
    for name, text in (("train.py", TRAIN), ("fail.py", FAIL), ("slow.py", SLOW)):
        (work / name).write_text(text)
    port = free_port()
    with _daemon(settings, port):
        site = BrowserSite(settings, work, f"http://127.0.0.1:{port}")
        scheduler = open_scheduler(settings)
        try:
            _play(site, nodes)
            yield site
        finally:
            for job in scheduler.jobs():
                scheduler.cancel(job.id)
            wait_for(
                lambda: all(job.state.ended for job in scheduler.jobs()), "the end of all jobs"
            )


def _play(site, nodes):
    """Two runs of one training, one that fails, some that go on, one that waits behind them."""
    wait_for(lambda: _answers(site.url), "the page", PATIENCE_S)
    site.trained = site.submit("training", "train.py")
    site.failed = site.submit(HOSTILE, "fail.py")
    site.wait_state(site.trained, "COMPLETED")
    site.wait(lambda view: view["diagnoses"], site.failed, "a diagnosis")
    with closing(open_store(site.settings)) as store:
        wait_for(
            lambda: (site.trained, 0) in store.attempts_with_code(), "the first run", PATIENCE_S
        )
    site.again = site.submit("training", "train.py", "--epochs", "12")
    site.wait(_has_begun, site.again, "the start")  # what takes all GPUs for good comes after it
    site.slow, *others = [site.submit("long training", "slow.py", gpus=2) for _ in range(nodes)]
    site.wait_state(site.again, "COMPLETED")
    for job_id in (site.slow, *others):
        site.wait_state(job_id, "RUNNING")
    site.waiting = site.submit("patient", "train.py", gpus=2)
    site.wait(_was_ordered, site.waiting, "an order")
    with closing(open_store(site.settings)) as store:
        store.keep_rule(a_learned_rule("r1", enabled=False, origin=an_origin("llm")))
        store.keep_rule(a_learned_rule("r2", enabled=False, origin=an_origin("llm")))


def _has_begun(view):
    return view["job"]["state"] != "PENDING"


def _was_ordered(view):
    done = [one for one in view["actions"] if one["state"] == "done"]
    return any(one["action"]["kind"] == "set_nice" for one in done)


def _answers(url):
    try:
        with urllib.request.urlopen(f"{url}/readyz", timeout=60) as answer:
            return answer.status == 200
    except OSError:
        return False


def _environment(settings):
    return {
        **os.environ,
        "SCHEDMATE_STATE_DIR": str(settings.state_dir),
        "SCHEDMATE_CONFIG": "/dev/null",
        "SCHEDMATE_SCHEDULER": settings.scheduler,
        "SCHEDMATE_SLURM__POLL_S": "0.5",
        "SCHEDMATE_MODE": settings.mode,
        "SCHEDMATE_LOCAL__SLOTS": "2",
        "SCHEDMATE_LOCAL__KILL_WAIT_S": "0.3",
        "SCHEDMATE_LLM__ENABLED": "false",
    }


@contextmanager
def _daemon(settings, port):
    words = [sys.executable, "-m", "schedmate", "serve", "--port", str(port)]
    log = settings.state_dir.parent / "serve.log"
    with (
        log.open("wb") as out,
        subprocess.Popen(words, env=_environment(settings), stderr=out) as daemon,
    ):
        try:
            yield
        finally:
            daemon.send_signal(signal.SIGTERM)
            daemon.wait(60)
    assert "Traceback" not in log.read_text()


@pytest.fixture(scope="session")
def chromium():
    return the_browser()


@pytest.fixture
def open_page(chromium, site):
    """Opens pages in contexts of their own; whatever a page complains about is an error."""
    contexts, complaints = [], []

    def opens(path="/", **options):
        context = chromium.new_context(base_url=site.url, **options)
        context.set_default_timeout(60_000)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda line: line.type == "error" and complaints.append(line.text))
        page.goto(path)
        return page

    yield opens
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture
def page(open_page):
    return open_page("/")
