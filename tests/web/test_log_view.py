"""A job's log and the files its page quotes, over a real server."""

from __future__ import annotations

import os

import pytest

from schedmate.model import Evidence, Finding, JobState, Workload
from schedmate.service.views import log_search
from schedmate.store import KeptAdvice
from schedmate.testing.builders import a_diagnosis, a_job, an_advice

pytestmark = pytest.mark.processes


@pytest.fixture
def failed(served, tmp_path):
    """A job that failed at line 500 of its log, in a directory with its code."""
    work = tmp_path / "work"
    work.mkdir()
    log = work / "train.log"
    lines = [f"step {number} loss 0.5" for number in range(1, 1001)]
    lines[499] = "RuntimeError: <img src=x onerror=alert(1)>"
    lines[9] = " 10%|#   |\r100%|####|"
    lines[19] = "wandb login: api_key=0123456789abcdef0123456789abcdef"
    log.write_text("\n".join(lines) + "\n")
    (work / "train.py").write_text("import torch\nepochs = 90\n")
    (work / "private.txt").write_text("not quoted anywhere\n")
    epochs = Finding(value=90.0, source="code", evidence=(Evidence("train.py", 2, "epochs = 90"),))
    served.store.keep_advice(
        "1", KeptAdvice(an_advice(60.0, workload=Workload(epochs=epochs)), None)
    )
    served.store.keep_diagnosis(
        "1", 0, a_diagnosis("gpu_oom", evidence=(Evidence(str(log), 500, "RuntimeError"),))
    )
    served.show(a_job(id="1", state=JobState.FAILED, workdir=str(work), logs=(str(log),)))
    served.log = log
    return served


def test_a_failed_jobs_log_opens_at_its_cause(failed):
    text = failed.get("/jobs/1/log").text
    assert 'id="L500"' in text
    assert 'id="L1000"' in text
    assert 'id="L300"' not in text
    assert "lines folded" in text


def test_a_log_line_is_no_html(failed):
    text = failed.get("/jobs/1/log").text
    assert "<img" not in text.replace('<img src="/static/icon.svg"', "")
    assert "&lt;img src=x" in text


@pytest.mark.parametrize(
    ("query", "there", "not_there"),
    [
        ("line=700", "L700", "L600"),
        ("show=start", "L1", "L500"),
        ("show=end", "L1000", "L500"),
    ],
)
def test_any_part_has_its_address(failed, query, there, not_there):
    text = failed.get(f"/jobs/1/log?{query}").text
    assert f'id="{there}"' in text
    assert f'id="{not_there}"' not in text


def test_bars_are_collapsed(failed):
    text = failed.get("/jobs/1/log?show=start").text
    assert "100%|####|" in text
    assert "10%|#   |" not in text
    assert "↺ 1" in text


def test_the_whole_log_is_searched(failed):
    text = failed.get("/jobs/1/log?q=step+999").text
    assert "1 line with" in text
    assert "#L999" in text
    assert "No line has" in failed.get("/jobs/1/log?q=nowhere").text


def test_the_next_error_is_a_redirect(failed):
    page = failed.get("/jobs/1/log/next-error?at=0")
    assert page.status == 200
    assert 'id="L500"' in page.text
    end = failed.get("/jobs/1/log/next-error?at=20000")
    assert 'id="L1000"' in end.text
    assert "No later line names an error" in end.text


def test_a_growing_log_is_read_from_where_it_was(failed):
    begun = failed.get(f"/jobs/1/log/lines?at={failed.log.stat().st_size}")
    with failed.log.open("a") as more:
        more.write("another line\nand one that is being wri")
    known = begun.headers["x-log-identity"]
    more = failed.get(f"/jobs/1/log/lines?at={begun.headers['x-log-end']}&known={known}")
    assert 'id="L1001"' in more.text
    assert "being wri" in more.text
    assert more.headers["x-log-anew"] == "no"
    with failed.log.open("a") as rest:
        rest.write("tten\n")
    again = failed.get(f"/jobs/1/log/lines?at={more.headers['x-log-end']}&known={known}")
    assert "and one that is being written" in again.text
    assert "another line" not in again.text


def test_a_log_that_was_rotated_is_shown_anew(failed):
    known = failed.get("/jobs/1/log/lines?at=0").headers["x-log-identity"]
    failed.log.rename(failed.log.with_suffix(".1"))
    failed.log.write_text("a new beginning\n")
    answer = failed.get(f"/jobs/1/log/lines?at=20000&known={known}")
    assert answer.headers["x-log-anew"] == "yes"
    assert "a new beginning" in answer.text


def test_the_log_can_be_downloaded(failed):
    answer = failed.get("/jobs/1/log/raw")
    assert answer.headers["content-type"].startswith("text/plain")
    assert answer.headers["content-disposition"].startswith("attachment")
    assert answer.text == failed.log.read_bytes().decode()


def test_the_line_behind_a_value(failed):
    job = failed.get("/jobs/1").text
    assert "/jobs/1/file?name=train.py&amp;line=2#L2" in job
    text = failed.get("/jobs/1/file?name=train.py&line=2").text
    assert "epochs = 90" in text
    assert 'row cause" id="L2"' in text


@pytest.mark.parametrize(
    "name", ["private.txt", "../state/schedmate.sqlite3", "/etc/passwd", "train.py/../private.txt"]
)
def test_only_files_that_are_quoted_are_opened(failed, name):
    assert failed.get(f"/jobs/1/file?name={name}&line=1").status == 404


def test_the_previous_error_is_a_redirect_too(failed):
    page = failed.get("/jobs/1/log/next-error?at=20000&back=1")
    assert 'id="L500"' in page.text
    first = failed.get("/jobs/1/log/next-error?at=100&back=1")
    assert 'id="L1"' in first.text
    assert "No earlier line names an error" in first.text


def test_a_log_is_searched_for_errors_to_its_end(failed, monkeypatch):
    monkeypatch.setattr(log_search, "_READ_AT_ONCE", 4096)
    monkeypatch.setattr(log_search, "BLOCK", 1024)
    assert 'id="L500"' in failed.get("/jobs/1/log/next-error?at=0").text
    assert 'id="L500"' in failed.get("/jobs/1/log/next-error?at=19000&back=1").text


WAITING = {"state": JobState.PENDING, "start_time": None}


@pytest.mark.parametrize("query", ["", "?show=end", "?file=0", "?show=start", "?line=7", "?q=x"])
def test_a_job_that_waits_has_no_log_yet(failed, tmp_path, query):
    failed.show(a_job(id="2", logs=(str(tmp_path / "later.out"),), **WAITING))
    answer = failed.get(f"/jobs/2/log{query}")
    assert answer.status == 200
    assert "has not started yet" in answer.text or "No line has" in answer.text
    assert "/log/raw" not in answer.text


@pytest.mark.parametrize("logs", [(), ("later.out",)])
def test_a_job_that_waits_offers_no_log(failed, tmp_path, logs):
    paths = tuple(str(tmp_path / name) for name in logs)
    failed.show(a_job(id="2", logs=paths, **WAITING))
    text = failed.get("/jobs/2").text
    assert "Open its log" not in text
    assert "Follow it" not in text
    assert "/jobs/2/log" not in text
    assert all(f"{path} " in text for path in paths)
    assert "This job has not started yet" in failed.get("/jobs/2/log").text


def test_lines_of_a_log_that_is_not_there_yet_come_once_it_is(failed, tmp_path):
    log = tmp_path / "later.out"
    failed.show(a_job(id="2", logs=(str(log),), **WAITING))
    before = failed.get("/jobs/2/log/lines?at=0")
    assert (before.status, before.headers["x-log-end"]) == (200, "0")
    log.write_text("the first line\n")
    known = before.headers["x-log-identity"]
    assert "the first line" in failed.get(f"/jobs/2/log/lines?at=0&known={known}").text


def test_the_logs_of_all_attempts_can_be_opened(failed, tmp_path):
    first, second = tmp_path / "a.out", tmp_path / "a.out.attempt-2"
    first.write_text("what the first attempt wrote\n")
    third = str(tmp_path / "a.out.attempt-3")
    failed.show(
        a_job(
            id="2",
            restarts=2,
            workdir=str(tmp_path),
            logs=(third,),
            earlier_logs=(str(second), str(first)),
            **WAITING,
        )
    )
    job = failed.get("/jobs/2").text
    assert '/jobs/2/log?file=2">Open its log' in job
    assert "/jobs/2/log?file=1" not in job
    assert "Follow it" not in job
    newest = failed.get("/jobs/2/log").text
    assert "Attempt 3 has not started yet" in newest
    assert 'href="?file=2"' in newest
    assert "what the first attempt wrote" in failed.get("/jobs/2/log?file=2").text
    assert "gone" in failed.get("/jobs/2/log?file=1").text
    failed.taken_for("eve")
    for place in range(3):
        assert failed.get(f"/jobs/2/log?file={place}").status == 404
    assert "a.out" not in failed.get("/jobs/2").text
    assert "a.out" not in failed.get("/api/v1/jobs/2").text


def test_a_deleted_log_is_gone(failed):
    failed.log.unlink()
    for query in ("", "?line=500", "?show=end", "?at=7"):
        answer = failed.get(f"/jobs/1/log{query}", Accept="text/html")
        assert answer.status == 200
        assert "This log is gone: it was deleted or moved." in answer.text
    assert "Open its log" not in failed.get("/jobs/1").text
    raw = failed.get("/jobs/1/log/raw")
    assert (raw.status, raw.json["detail"]) == (404, "This log is gone: it was deleted or moved.")


def test_a_long_bar_that_ends_in_an_error_is_one_line(failed):
    bar = "".join(f"{step}/90000 [1.23it/s]\r" for step in range(90_000))
    failed.log.write_text(f"{bar}RuntimeError: no more")
    evidence = (Evidence(str(failed.log), 1, "RuntimeError"),)
    failed.store.keep_diagnosis("1", 0, a_diagnosis("gpu_oom", evidence=evidence))
    failed.site.refresh()
    text = failed.get("/jobs/1/log").text
    assert text.count('id="L1"') == 1
    assert "RuntimeError: no more" in text
    assert "folded" not in text
    [found] = failed.get("/api/v1/jobs/1/log").json["ranges"]
    [line] = found["lines"]
    assert (line["number"], line["cause"], line["text"]) == (1, True, "RuntimeError: no more")


def test_a_stray_byte_order_mark_hides_nothing(failed):
    failed.log.write_bytes(b"\xff\xfe" + failed.log.read_bytes())
    text = failed.get("/jobs/1/log").text
    assert "RuntimeError: " in text
    assert "of text" not in text
    assert "1 line with" in failed.get("/jobs/1/log?q=step+999").text


def test_a_log_that_is_not_the_jobs_is_not_there(failed):
    assert failed.get("/jobs/1/log?file=1").status == 404
    assert failed.get("/jobs/1/log?file=-1").status == 422


def test_an_operator_sees_anothers_log_without_its_secrets(failed):
    assert "0123456789abcdef" in failed.get("/jobs/1/log?show=start").text
    failed.taken_for("another", operator=True)
    for path in ("/jobs/1/log?show=start", "/jobs/1/log/raw", "/jobs/1/log/lines?at=0"):
        text = failed.get(path).text
        assert "0123456789abcdef" not in text
        assert "[redacted]" in text
    assert "No line has" in failed.get("/jobs/1/log?q=0123456789abcdef").text


@pytest.mark.parametrize(("user", "status"), [("", 401), ("eve", 404)])
@pytest.mark.parametrize(
    "path",
    [
        "/jobs/1/log",
        "/jobs/1/log/lines?at=0",
        "/jobs/1/log/next-error",
        "/jobs/1/log/raw",
        "/jobs/1/file?name=train.py&line=2",
    ],
)
def test_no_one_else_reads_a_line(failed, path, user, status):
    assert failed.get(path).status == 200
    failed.taken_for(user)
    answer = failed.get(path)
    assert answer.status == status
    assert "step" not in answer.text
    unknown = failed.get(path.replace("/jobs/1", "/jobs/777"))
    assert answer.text.replace("job 1", "") == unknown.text.replace("job 777", "")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
def test_a_log_is_read_with_its_owners_rights_only(failed, tmp_path):
    secret = tmp_path / "root-only.log"
    secret.write_text("what only root may read\n")
    secret.chmod(0o600)
    failed.show(
        a_job(id="2", user="nobody", state=JobState.FAILED, workdir="/tmp", logs=(str(secret),))
    )
    answer = failed.get("/jobs/2/log")
    assert answer.status == 404
    assert "what only root" not in answer.text
