"""On 80 columns a row keeps what it is called by; without a width nothing is cut."""

from __future__ import annotations

import io
import time
from contextlib import closing
from dataclasses import replace

import pytest
from click.testing import CliRunner
from rich.console import Console

from schedmate import config
from schedmate.cli import root
from schedmate.cli._queue import queue_table
from schedmate.cli._table import Column, fitted_table
from schedmate.model import JobState
from schedmate.model.access import Token
from schedmate.service.views.job_view import JobView
from schedmate.service.wiring import open_store
from schedmate.testing.builders import a_job, a_learned_rule, a_past_run

ID, NAME, USER = "48151623_1042", "pretrain-llama-70b-multilingual-stage2", "christina.hohenstein"
NODE = "gpu-a100-rack17-node003"
TOKEN = "the wall screen beside the coffee machine"
READABLE = 10


@pytest.fixture
def place(monkeypatch, tmp_path):
    monkeypatch.setenv("SCHEDMATE_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("SCHEDMATE_CONFIG", "/dev/null")
    monkeypatch.setenv("SCHEDMATE_SCHEDULER", "local")
    monkeypatch.delenv("COLUMNS", raising=False)
    run, now = a_past_run(), time.time()
    with closing(open_store(config.load())) as store:
        for number in range(24):
            begun = now - 86_400.0 * (25 - number)
            job = replace(
                run.job,
                id=f"{ID}{number}" if number else ID,
                name=NAME,
                user=USER,
                nodes=(NODE,),
                state=JobState.OUT_OF_MEMORY,
                submit_time=begun,
                start_time=begun,
                end_time=begun + 9000.0,
            )
            store.keep_runs([replace(run, job=job)])
        store.keep_token(Token(id="1a2b3c4d", user=USER, name=TOKEN, created_at=now), "digest")
        store.keep_rule(a_learned_rule())
    (tmp_path / "train.py").write_text("for epoch in range(3):\n    print(epoch)\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def printed(*words):
    found = CliRunner().invoke(root, list(words))
    assert found.exit_code == 0, found.output
    return found.stdout.splitlines()


TABLES = {
    ("history", "list"): (ID, "OUT_OF_MEMORY", "02:30:00", NAME[:READABLE], USER[:READABLE]),
    ("nodes",): (NODE,),
    ("token", "list"): ("1a2b3c4d", "valid", USER[:READABLE], TOKEN[:READABLE]),
    ("rules", "list"): (a_learned_rule().id, a_learned_rule().reason),
    ("rules", "list", "--built-in"): ("time_limit/slurm-cancelled-line",),
    ("backtest",): ("same name, rolling mean", "MEDIAN ERROR", "WITHIN 2X", USER[:READABLE]),
    ("simulate", "synthetic", "--jobs", "20", "--policy", "easy,multifactor+schedmate+limits"): (
        *("multifactor+schedmate+limits", "synthetic", "avg JCT", "vs easy"),
    ),
    ("advise", "--no-llm", "--", "python", "train.py"): ("epochs", "train.py:1"),
}
OURS = ("- ", "within 2x:", "Difference", "Takes", "How long", "24 runs", "23 runs", "proposed by")
"""Begin sentences, which a terminal breaks."""


@pytest.mark.parametrize("words", TABLES, ids=" ".join)
def test_a_table_fits_80_columns_and_its_names_are_readable(place, monkeypatch, words):
    monkeypatch.setenv("COLUMNS", "80")

    lines = [line for line in printed(*words) if not line.startswith(OURS)]

    assert [line for line in lines if len(line) > 80] == []
    for text in TABLES[words]:
        assert any(text in line for line in lines), text


def test_a_pipe_cuts_nothing(place):
    whole = "\n".join(printed("history", "list", "--limit", "2") + printed("token", "list"))

    for text in (NAME, USER, TOKEN):
        assert text in whole


def test_the_queue_on_80_columns(place):
    jobs = [
        a_job(id=ID, name=NAME, user=user, state=JobState.OUT_OF_MEMORY) for user in (USER, "bob")
    ]
    out = io.StringIO()
    screen = Console(file=out, width=80)
    screen.print(queue_table([JobView(job=job, diagnoses={}) for job in jobs], 2000.0, 80))

    head, *rows = out.getvalue().splitlines()
    assert max(map(len, (head, *rows))) <= 80
    for row in rows:
        assert ID in row
        assert "OUT_OF_MEMORY" in row
        assert NAME[: READABLE - 2] in row


COLUMNS = (
    *(Column("ID"), Column("NAME", cut=8), Column("GPUS", number=True, spared=2)),
    *(Column("WHEN", spared=1), Column("WHY", folds=True)),
)
ROW = ("4711", "a name of twenty chars", "16", "2026-01-01", "because it is long " * 3)


@pytest.mark.parametrize(
    ("width", "titles"),
    [
        (200, "ID NAME GPUS WHEN WHY"),
        (60, "ID NAME GPUS WHEN WHY"),
        (48, "ID NAME WHEN WHY"),
        (36, "ID NAME WHY"),
    ],
)
def test_what_says_less_gives_way(width, titles):
    out = io.StringIO()
    screen = Console(file=out, width=width)
    screen.print(fitted_table(COLUMNS, [ROW], width))

    head, *lines = out.getvalue().splitlines()
    assert head.split() == titles.split()
    assert max(len(line) for line in (head, *lines)) <= width
    assert lines[0].startswith("4711  a name")
    assert out.getvalue().count("because") == 3
