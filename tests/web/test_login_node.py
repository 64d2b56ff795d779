"""Verbs that ask the site's daemon, each in a process of its own with an empty state directory."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from schedmate.config import Settings
from schedmate.model import JobState
from schedmate.model.account import account_name
from schedmate.service.usecases.tokens import create_token
from schedmate.service.wiring import open_store
from schedmate.site_settings import WebSettings
from schedmate.store import KeptAdvice
from schedmate.testing.builders import a_diagnosis, a_job, a_past_run, a_progress, an_advice
from schedmate.web.server import serving
from web.conftest import Served, free_port

pytestmark = pytest.mark.processes
SOURCE = Path(__file__).parents[2] / "src"


@pytest.fixture
def site(tmp_path):
    """A daemon's pages with a unix socket and a port."""
    web = WebSettings(socket=tmp_path / "api.sock")
    settings, port = Settings(state_dir=tmp_path / "site", web=web), free_port()
    with (
        closing(open_store(settings)) as store,
        serving(settings, host="127.0.0.1", port=port) as site,
    ):
        served = Served(site, store, port)
        store.keep_advice("1", KeptAdvice(an_advice(60.0), None))
        store.keep_progress("1", 0, a_progress(), at=1.0)
        store.keep_diagnosis("3", 0, a_diagnosis("gpu_oom"))
        store.keep_run(a_past_run(job=a_job(id="9", name="before", state=JobState.COMPLETED)))
        served.show(
            a_job(id="1", name="resnet", state=JobState.RUNNING),
            a_job(id="2", name="bert", user="bob"),
            a_job(id="3", name="gpt", user="bob", state=JobState.FAILED),
            a_job(id="8", name="sweep", tasks=5),
            a_job(id="8_0", name="sweep", state=JobState.RUNNING),
        )
        yield served


@pytest.fixture
def run(tmp_path, site):
    def run(*words, server=f"unix:{tmp_path / 'api.sock'}", **more):
        env = {
            **{name: value for name, value in os.environ.items() if "SCHEDMATE" not in name},
            "PYTHONPATH": str(SOURCE),
            "HOME": str(tmp_path),
            "SCHEDMATE_STATE_DIR": str(tmp_path / "mine"),
            "SCHEDMATE_SERVER": server,
            "NO_COLOR": "1",
            **more,
        }
        return subprocess.run(
            [sys.executable, "-m", "schedmate", *words],
            env=env,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    return run


def test_verbs_know_what_the_site_knows(run):
    listed = run("jobs", "--json")
    assert listed.stderr == ""
    assert next(one["job"]["id"] for one in json.loads(listed.stdout)["jobs"]) == "1"
    assert "resnet" in run("jobs").stdout
    assert [
        one["job"]["id"] for one in json.loads(run("jobs", "-j", "8", "--json").stdout)["jobs"]
    ] == ["8_0", "8"]
    part = run("jobs", "-n", "1")
    assert (len(part.stdout.splitlines()), " jobs, what needs" in part.stderr) == (2, True)
    assert "gpu_oom" in part.stdout, "the one that failed"
    few = run("jobs", "-s", "Running, failing")
    assert (len(few.stdout.splitlines()), few.stderr) == (4, "")
    one = json.loads(run("job", "1", "--json").stdout)
    assert (one["schema"], one["progress"]["fraction"]) == ("schedmate.job/1", 0.5)
    assert "gpu_oom" in run("why", "3").stdout
    assert json.loads(run("why", "3", "--json").stdout)["reason"] == "gpu_oom"
    assert run("eta", "1").stdout.startswith("job 1 ")
    parts = run("eta", "8").stdout.splitlines()
    assert [line.partition(":")[0] for line in parts] == ["5 PENDING", "1 RUNNING"]
    assert "before" in run("history", "list").stdout
    assert "before" in run("history", "show", "9").stdout


def test_a_user_sees_their_own_jobs_whole_and_no_text_of_others(run, site, tmp_path):
    secret = create_token(site.store, "bob", days=1)[1]
    (tmp_path / "token").write_text(secret + "\n")
    with_token = {
        "server": site.url(""),
        "SCHEDMATE_TOKEN_FILE": str(tmp_path / "token"),
    }
    found = json.loads(run("jobs", "--json", **with_token).stdout)["jobs"]
    names = {one["job"]["id"]: one["job"]["name"] for one in found}
    assert (names["1"], names["2"], names["3"]) == ("", "bert", "gpt")
    assert "gpu_oom" in run("why", "3", **with_token).stdout
    assert "resnet" not in run("job", "1", **with_token).stdout


def test_without_an_answer_it_reads_alone_and_says_so(run):
    alone = run("jobs", server=f"http://127.0.0.1:{free_port()}")
    assert alone.returncode == 0
    assert "does not answer" in alone.stderr
    assert "what this machine knows by itself" in alone.stderr
    refused = run("jobs", SCHEDMATE_TOKEN="smt_wrong")
    assert "the daemon refuses" in refused.stderr


def test_a_daemon_that_hangs_is_not_waited_for(run):
    """It takes the connection and never answers."""
    waited = []

    def hang(listener):
        connection, _ = listener.accept()
        begin = time.monotonic()
        with connection:
            while connection.recv(65_536):
                pass
        waited.append(time.monotonic() - begin)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=hang, args=(listener,), daemon=True)
        thread.start()
        alone = run("jobs", server=f"http://127.0.0.1:{listener.getsockname()[1]}")
        thread.join(100)
    assert alone.returncode == 0
    assert "what this machine knows by itself" in alone.stderr
    assert waited[0] < 60.0  # it would wait for ever


def test_errors_are_one_sentence(run):
    missing = run("job", "77")
    assert (missing.returncode, missing.stderr.count("\n")) == (3, 1)
    assert "knows a job 77" in missing.stderr
    wrong = run("jobs", server="head:8080")
    assert (wrong.returncode, wrong.stderr.count("\n")) == (2, 1)
    clear = run("jobs", server="http://head.example.org", SCHEDMATE_TOKEN="smt_x")
    assert (clear.returncode, "in the clear" in clear.stderr) == (2, True)
    lost = run("jobs", SCHEDMATE_TOKEN_FILE="/nowhere/token")
    assert (lost.returncode, "token_file" in lost.stderr) == (2, True)


def test_a_token_file_that_all_can_read_is_a_warning(run, site, tmp_path):
    file = tmp_path / "token"
    file.write_text(create_token(site.store, "bob", days=1)[1])
    file.chmod(0o644)
    shown = run("jobs", server=site.url(""), SCHEDMATE_TOKEN_FILE=str(file))
    warning = f"schedmate: token_file {file} can be read by every account: chmod 600 {file}\n"
    assert (shown.returncode, shown.stderr) == (0, warning)
    file.chmod(0o600)
    assert run("jobs", server=site.url(""), SCHEDMATE_TOKEN_FILE=str(file)).stderr == ""


def test_a_user_makes_a_token_through_the_daemon(run, site):
    site.taken_for("bob")
    with_url = {"server": site.url("")}
    made = run("token", "create", "--name", "laptop", **with_url)
    assert (made.returncode, made.stderr.startswith("schedmate: token ")) == (0, True)
    secret = made.stdout.strip()
    listed = json.loads(run("token", "list", "--json", SCHEDMATE_TOKEN=secret).stdout)["tokens"]
    assert [(one["user"], one["name"]) for one in listed] == [("bob", "laptop")]
    refused = run("token", "create", "--scope", "operator", SCHEDMATE_TOKEN=secret)
    assert (refused.returncode, "only operators" in refused.stderr) == (1, True)
    ended = run("token", "revoke", listed[0]["id"], SCHEDMATE_TOKEN=secret)
    assert ended.returncode == 0
    assert "the daemon refuses" in run("token", "list", SCHEDMATE_TOKEN=secret).stderr
    unknown = run("token", "revoke", "nothing")
    assert (unknown.returncode, unknown.stderr.count("\n")) == (3, 1)


def test_who_did_what_for_operators(run, site):
    create_token(site.store, "bob", name="laptop", days=1)
    shown = run("audit").stdout
    assert f"{account_name()}: create a token (token " in shown
    assert run("audit", "--user", "eve").stdout == ""
    found = json.loads(run("audit", "--json").stdout)
    assert found["acts"][0]["detail"] == "user token of bob laptop"


@pytest.fixture
def spoken(site, tmp_path):
    """Job 4 has failed of what no rule knows."""
    log = tmp_path / "spoken.log"
    log.write_text("starting\nbeegfs: target 7 lost, retry limit reached\n")
    site.store.keep_diagnosis("4", 0, a_diagnosis("unknown", confidence=0.2))
    site.show(
        a_job(id="4", state=JobState.FAILED, exit_code=1, logs=(str(log),)),
    )
    return site


@pytest.mark.parametrize("more", [(), ("--no-rule",)], ids=["for all", "this attempt"])
def test_corrections_of_an_operator_are_the_daemons(run, spoken, tmp_path, more):
    done = run("rules", "correct", "4", "--reason", "storage_io", "--note", "OST 12", *more)
    assert (done.returncode, done.stdout[:20]) == (0, "job 4 is storage_io:"), done.stderr
    assert ("of all jobs are answered so" in done.stderr) == (not more)
    assert spoken.store.diagnoses("4")[0].reason == "storage_io"
    assert bool(spoken.store.past_failures(teacher="operator")) == (not more)

    taken_back = run("rules", "withdraw", "4", "--json")
    assert json.loads(taken_back.stdout)["diagnosis"]["reason"] == "unknown"
    assert spoken.store.diagnoses("4")[0].reason == "unknown"
    assert not (tmp_path / "mine").exists(), "nothing was done to a store of one's own"
    again = run("rules", "withdraw", "4")
    assert (again.returncode, again.stderr.count("\n")) == (2, 1)
    assert "is no correction" in again.stderr


def test_an_owner_corrects_this_attempt_alone_through_the_daemon(run, spoken):
    owner = a_job().user
    secret = create_token(spoken.store, owner, days=1)[1]
    with_token = {"server": spoken.url(""), "SCHEDMATE_TOKEN": secret}
    done = run("rules", "correct", "4", "--reason", "network", "--json", **with_token)
    assert json.loads(done.stdout)["diagnosis"]["reason"] == "network", done.stderr
    assert not spoken.store.past_failures(teacher="operator")
    assert spoken.store.acts(about="job 4")[0].user == owner


def test_what_the_daemon_cannot_correct_is_refused_in_one_sentence(run, spoken, tmp_path):
    of_log = run("rules", "correct", str(tmp_path / "spoken.log"), "--reason", "network")
    assert (of_log.returncode, of_log.stderr.count("\n")) == (2, 1)
    assert "give the id of a job" in of_log.stderr
    line = run("rules", "correct", "4", "--reason", "network", "--line", "2", "--node", "n1")
    assert (line.returncode, line.stderr.count("\n")) == (2, 1)
    assert "leave --line, --node out" in line.stderr
    gone = run("rules", "withdraw", "4", server=f"http://127.0.0.1:{free_port()}")
    assert gone.returncode != 0
    assert "does not answer" in gone.stderr
    assert spoken.store.diagnoses("4")[0].reason == "unknown"


def test_verbs_and_pages_show_the_same(run, site):
    """`why` of a verb is the page's and the API's sentence."""
    for job in ("1", "2", "3"):
        answer = site.get(f"/api/v1/jobs/{job}/why").json["answer"]
        assert run("why", job).stdout.strip() == answer
    listed = json.loads(run("history", "list", "--json").stdout)["runs"]
    assert listed == site.get("/api/v1/history").json["runs"]
    one = json.loads(run("job", "3", "--json").stdout)
    of_api = site.get("/api/v1/jobs/3").json
    assert {name: of_api[name] for name in one} == one


def test_operators_see_the_state_of_the_site_and_others_do_not(run, site):
    found = json.loads(run("status", "--json").stdout)
    assert found["jobs"] == {"RUNNING": 2, "PENDING": 6, "FAILED": 1}
    assert found["store_rows"]["runs"] == 1
    secret = create_token(site.store, "bob", name="laptop", days=1)[1]
    shown = run("status").stdout
    assert "1 valid tokens" in shown
    assert "create a token" in shown
    assert "laptop" in shown
    refused = site.get("/api/v1/status", Authorization=f"Bearer {secret}")
    assert refused.status == 404
    for verb in ("status", "audit"):
        done = run(verb, SCHEDMATE_TOKEN=secret, server=site.url(""))
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr == "schedmate: the daemon refuses: this is for operators only\n"
        unknown = run(verb, SCHEDMATE_TOKEN="smt_wrong", server=site.url(""))
        assert (unknown.returncode, unknown.stdout) == (1, "")
        assert unknown.stderr.count("\n") == 1
