"""`logs`: the text of a job's files."""

from __future__ import annotations

import json
import threading
import time
from contextlib import closing
from dataclasses import replace
from types import SimpleNamespace

import pytest

from schedmate.cli import _log_text, main
from schedmate.cli._log_text import LogText, Output
from schedmate.model import JobState
from schedmate.model.account import account_name
from schedmate.store.sqlite import SqliteStore
from schedmate.testing.builders import a_job
from schedmate.testing.scheduler import FakeScheduler


@pytest.fixture
def site(tmp_path, monkeypatch, capfd):
    monkeypatch.setenv("SCHEDMATE_CONFIG", "/dev/null")
    monkeypatch.setenv("SCHEDMATE_STATE_DIR", str(tmp_path / "state"))
    scheduler = FakeScheduler()
    monkeypatch.setattr("schedmate.service.wiring.open_scheduler", lambda settings: scheduler)

    def put(job_id, *logs, **parts):
        paths = tuple(str(tmp_path / log) for log in logs)
        job = {"id": job_id, "user": account_name(), "state": JobState.RUNNING, "logs": paths}
        scheduler.put(a_job(**{**job, **parts}))

    def run(*words):
        with pytest.raises(SystemExit) as done:
            main(["logs", *words])
        out, err = capfd.readouterr()
        return SimpleNamespace(code=done.value.code, out=out, err=err)

    with closing(SqliteStore(tmp_path / "state" / "schedmate.sqlite3")) as store:
        yield SimpleNamespace(path=tmp_path, put=put, run=run, scheduler=scheduler, store=store)


def test_all_of_a_log_or_its_last_lines(site):
    (site.path / "1.out").write_text("a\nb\nc\nstep 1\rstep 2")
    site.put("1", "1.out")

    assert site.run("1").out == "a\nb\nc\nstep 1\rstep 2"
    assert site.run("-n", "2", "1").out == "c\nstep 1\rstep 2"
    assert site.run("-n", "0", "1").out == ""
    listed = json.loads(site.run("-n", "1", "1", "--json").out)
    assert (listed["schema"], listed["logs"][0]["text"]) == (
        "schedmate.logs/1",
        "step 1\rstep 2",
    )


@pytest.mark.parametrize("block", [1, 3, 1 << 16])
def test_the_last_lines_are_found_block_by_block(site, monkeypatch, block):
    monkeypatch.setattr(_log_text, "_BLOCK", block)
    (site.path / "1.out").write_bytes(b"one\n\nthree\nfour\n")
    for lines, text in [(1, b"four\n"), (2, b"three\nfour\n"), (3, b"\nthree\nfour\n")]:
        log = LogText(site.path / "1.out")
        log.skip_to_last(lines)
        assert b"".join(log.added()) == text
    whole = LogText(site.path / "1.out")
    whole.skip_to_last(9)
    assert whole.at == 0


def test_several_files_have_heads_and_earlier_runs_their_own(site):
    for name in ("o", "e", "o.1", "e.1"):
        (site.path / name).write_text(f"{name}\n")
    old = tuple(str(site.path / name) for name in ("o.1", "e.1"))
    site.put("1", "o", "e", restarts=1, earlier_logs=old)

    out, err, old_out, old_err = (site.path / name for name in ("o", "e", "o.1", "e.1"))
    assert site.run("1").out == f"==> {out} <==\no\n\n==> {err} <==\ne\n"
    assert site.run("--stderr", "1").out == "e\n"
    assert site.run("--attempt", "1", "1").out == (
        f"==> {old_out} <==\no.1\n\n==> {old_err} <==\ne.1\n"
    )
    assert site.run("--attempt", "2", "--stderr", "1").out == "e\n"
    late = site.run("--attempt", "3", "1")
    assert (late.code, "has had 2 runs" in late.err) == (3, True)


def test_what_cannot_be_shown_is_answered_in_a_sentence(site):
    site.put("1", state=JobState.PENDING)
    site.put("2", "never-written.out")
    site.put("3", "3.out", user="somebody-else")

    waiting, unwritten, unknown = (site.run(one) for one in ("1", "2", "9"))

    assert (waiting.code, "waits and has printed nothing" in waiting.err) == (3, True)
    assert (unwritten.code, "is not there (yet)" in unwritten.err) == (0, True)
    assert (unknown.code, "knows a job 9" in unknown.err) == (3, True)
    assert site.run("-f", "--json", "1").code == 2


def test_a_job_is_followed_from_the_queue_through_a_second_run_to_its_end(site, monkeypatch):
    monkeypatch.setattr("schedmate.cli.logs._LOOK_EVERY_S", 0.01)
    monkeypatch.setattr("schedmate.cli.logs._ASK_EVERY_S", 0.0)
    site.put("1", "1.out", state=JobState.PENDING)

    def live():
        job = site.scheduler.known["1"]
        site.scheduler.put(replace(job, state=JobState.RUNNING))
        with (site.path / "1.out").open("w") as log:
            for line in ("one\n", "two\n"):
                log.write(line)
                log.flush()
                time.sleep(0.03)
        again = str(site.path / "1.out.attempt-2")
        (site.path / "1.out.attempt-2").write_text("again\n")
        site.scheduler.put(replace(job, state=JobState.COMPLETED, restarts=1, logs=(again,)))

    thread = threading.Thread(target=live)
    thread.start()
    done = site.run("-f", "1")
    thread.join()

    assert done.code == 0
    lines = [line for line in done.out.splitlines() if line and not line.startswith("==>")]
    assert lines == ["one", "two", "again"]


def test_a_terminal_obeys_no_log(monkeypatch):
    """Colours and erased lines are shown; titles, replies and moves over the screen are not."""
    written = []
    stream = SimpleNamespace(write=written.append, flush=lambda: None)
    monkeypatch.setattr("sys.stdout", SimpleNamespace(buffer=stream, isatty=lambda: True))
    output = Output()
    for part in (
        b"\x1b[3",
        b"1mred\x1b[0m \x1b]0;evil\x07x\x1b[2",
        b"Jy\x1b[K\x1bcz\xc2\x9b2J\x00\r\n",
    ):
        output.write(part)

    assert b"".join(written) == b"\x1b[31mred\x1b[0m xy\x1b[Kz2J\r\n"
