"""What a person wrote begins no line of its own in a terminal, and shows no secret."""

from __future__ import annotations

import time
from contextlib import closing

import pytest
from click.testing import CliRunner
from rich.console import Console

from schedmate import config
from schedmate.cli import root
from schedmate.cli._console import cell
from schedmate.cli._queue import queue_table
from schedmate.model.access import Token
from schedmate.service.usecases.audit import record_act
from schedmate.service.views.job_view import JobView
from schedmate.service.wiring import open_store
from schedmate.store import PersonsAct
from schedmate.testing.builders import a_job

FORGED = "2026-01-01 00:00  root: revert (job 1)"
BREAKS = ("\n", "\r", "\x1b[2K\r", "\u2028", "\x85", "\x0b")


@pytest.fixture
def store(monkeypatch, tmp_path):
    monkeypatch.setenv("SCHEDMATE_STATE_DIR", str(tmp_path))
    monkeypatch.setenv("SCHEDMATE_CONFIG", "/dev/null")
    with closing(open_store(config.load())) as opened:
        yield opened


def printed(*words):
    found = CliRunner().invoke(root, list(words))
    assert found.exit_code == 0, found.output
    return found.stdout


@pytest.mark.parametrize("line_break", BREAKS)
@pytest.mark.parametrize("verb", [("audit",), ("status",)])
def test_a_note_begins_no_line(store, verb, line_break):
    detail = f"is network{line_break}{FORGED}"
    store.record_act(PersonsAct(at=1.0, user="eve", action="correct", about="job 2", detail=detail))
    shown = printed(*verb)
    assert FORGED in shown
    assert not [line for line in shown.splitlines() if line.strip().startswith(FORGED)]


@pytest.mark.parametrize("line_break", BREAKS)
def test_a_tokens_name_begins_no_line(store, line_break):
    name = f"laptop{line_break}deadbeef  root"
    token = Token(id="1a2b3c4d", user="eve", name=name, created_at=time.time())
    store.keep_token(token, "digest")
    lines = printed("token", "list").splitlines()
    assert len(lines) == 2
    assert "deadbeef" in lines[1]


def test_a_tab_in_a_name_moves_no_column():
    assert cell("a\tb [red]") == r"a\tb \[red]"
    views = [JobView(job=a_job(id="7", name="a\tb"), diagnoses={})]
    console = Console(width=200)
    with console.capture() as found:
        console.print(queue_table(views, 2000.0, 200))
    head, row = found.get().splitlines()[:2]
    assert "\t" not in row
    assert head.index("STATE") == row.index("PENDING")


@pytest.mark.parametrize("text", ["a\nb", "a\0b", "a\x1bb", "a\tb", "a\u2028b", "a\u202eb"])
def test_control_characters_are_refused(store, text):
    for words in (
        ["token", "create", "--name", text],
        ["rules", "add", "--reason", "network", "--text", "no route", "--note", text],
    ):
        found = CliRunner().invoke(root, words)
        assert isinstance(found.exception, Exception)
        assert "write it on one line" in f"{found.exception}{found.output}"
    assert not store.tokens()


@pytest.mark.parametrize("verb", [("audit",), ("status",), ("audit", "--json")])
def test_a_secret_in_a_note_is_masked(store, verb):
    record_act(store, "correct a diagnosis", "job 2", "is network, password=hunter22 for all")
    shown = printed(*verb)
    assert "hunter22" not in shown
    assert "password=[redacted] for all" in shown
