"""`schedmate diagnose`: stdout is data, stderr is talk, exit codes mean something."""

import io
import json
import time
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest

from files.people import needs_root
from handler.other_user import as_other_user, common_place
from schedmate.cli import _asking, main
from schedmate.model.lessons import Origin, PastFailure
from schedmate.store.sqlite import SqliteStore
from schedmate.testing.llm import hangs, refuses, serving

__all__ = ["common_place"]

CRASH = 'Traceback (most recent call last):\n  File "a.py", line 1, in f\nKeyError: [red]x[/red]\n'


@pytest.fixture
def schedmate(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SCHEDMATE_CONFIG", "/dev/null")
    monkeypatch.setenv("SCHEDMATE_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("SCHEDMATE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)

    def run(*args, text="", **env):
        for name, value in env.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        with pytest.raises(SystemExit) as done:
            main(["diagnose", *map(str, args)])
        out, err = capsys.readouterr()
        return SimpleNamespace(returncode=done.value.code, stdout=out, stderr=err)

    return run


@pytest.fixture
def crash(tmp_path):
    log = tmp_path / "job.out"
    log.write_text(CRASH)
    return log


def test_people_get_the_cause_and_the_line(schedmate, crash):
    done = schedmate(crash)
    assert done.returncode == 0
    assert done.stdout.startswith("key_error (user)")
    assert f"{crash}:3: KeyError: [red]x[/red]" in done.stdout
    assert done.stderr == ""


def test_what_is_too_long_for_a_line_goes_on_below_itself(schedmate, tmp_path):
    (tmp_path / "job.out").write_text(CRASH.replace("[red]x[/red]", "'a' " * 40))
    lines = schedmate("job.out", COLUMNS="80").stdout.splitlines()[1:]
    assert max(map(len, lines)) <= 80
    assert [line for line in lines if not line.startswith("  ")] == []
    assert [line.split()[0] for line in lines if line[2] != " "] == [
        *("cause", "evidence", "retry", "why", "suggest"),
    ]


def test_programs_get_the_documented_json(schedmate, crash):
    done = schedmate("job.out", "--json", "--state", "FAILED", "--exit-code", "1:0")
    data = json.loads(done.stdout)
    assert data["schema"] == "schedmate.diagnosis/1"
    assert (data["reason"], data["category"], data["source"]) == ("key_error", "user", "rule")
    assert data["evidence"][0] == {"file": "job.out", "line": 3, "text": "KeyError: [red]x[/red]"}
    assert set(data) == {
        "schema",
        "reason",
        "category",
        "summary",
        "evidence",
        "blame",
        "confidence",
        "source",
        "decision",
        "reported_by",
        "suggestion",
        "rule",
        "signature",
        "cost",
        "unread_logs",
        "last_lines",
        "opinion",
    }


def test_standard_input(schedmate):
    done = schedmate("-", "--json", text=CRASH)
    assert json.loads(done.stdout)["evidence"][-1]["file"] == "-"


def test_a_directory_is_all_logs_of_one_job(schedmate, tmp_path):
    for rank in (2, 10):
        (tmp_path / "logs" / str(rank)).mkdir(parents=True)
        (tmp_path / "logs" / str(rank) / "stderr.log").write_text(CRASH)
    (tmp_path / "logs" / "model.pt").write_text("CUDA out of memory")
    done = schedmate("logs", "--json")
    assert json.loads(done.stdout)["evidence"][-1]["file"] == "logs/2/stderr.log"


def test_the_node_is_excluded(schedmate, tmp_path):
    (tmp_path / "a.log").write_text("step 1\n")
    done = schedmate("a.log", "--state", "NODE_FAIL", "--node", "n7", "--json")
    assert json.loads(done.stdout)["decision"]["exclude_nodes"] == ["n7"]


@pytest.mark.parametrize(
    ("args", "code", "word"),
    [
        (("gone.log",), 3, "gone.log"),
        (("empty",), 3, "no log in"),
        ((), 2, "LOG"),
        (("job.out", "--state", "BROKEN"), 2, "BROKEN"),
        (("job.out", "--exit-code", "one"), 2, "'one'"),
        (("job.out", "--llm", "--no-llm"), 2, "contradict"),
    ],
)
@pytest.mark.usefixtures("crash")
def test_what_a_person_can_mend(schedmate, args, code, word):
    Path("empty").mkdir()
    done = schedmate(*args)
    assert done.returncode == code
    assert word in done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("data", [b"", b"\x00\xff\xfe" * 1000], ids=["empty", "binary"])
def test_odd_logs_get_an_answer(schedmate, tmp_path, data):
    (tmp_path / "a.log").write_bytes(data)
    done = schedmate("a.log", "--exit-code", "1", "--json", "--no-llm")
    assert done.returncode == 0
    assert json.loads(done.stdout)["reason"] == "unknown"
    assert done.stderr == ""


def test_without_a_model_it_answers_and_says_so(schedmate, tmp_path):
    (tmp_path / "a.log").write_text("step 1\n")
    done = schedmate("a.log", "--exit-code", "3", "--json")
    assert (done.returncode, json.loads(done.stdout)["source"]) == (0, "none")
    assert "without a language model" in done.stderr
    assert schedmate("a.log", "--exit-code", "3", "--llm").returncode == 5


@pytest.mark.processes
def test_a_model_that_does_not_answer_is_reported(schedmate, tmp_path):
    (tmp_path / "a.log").write_text("step 1\n")
    done = schedmate(
        "a.log",
        "--exit-code",
        "3",
        "--llm",
        "--json",
        SCHEDMATE_LLM__BASE_URL="http://127.0.0.1:9/v1",
    )
    assert done.returncode == 5
    assert json.loads(done.stdout)["reason"] == "unknown"
    assert "without a language model" in done.stderr


@pytest.mark.processes
def test_a_model_that_hangs_keeps_a_person_waiting_for_seconds_only(
    schedmate, tmp_path, monkeypatch
):
    monkeypatch.setitem(_asking.PATIENCE_S, "choose", 1.0)
    (tmp_path / "a.log").write_text("step 1\n")
    with serving(hangs()) as model:
        begun = time.monotonic()
        done = schedmate(
            "a.log", "--exit-code", "3", "--json", SCHEDMATE_LLM__BASE_URL=model.base_url
        )
    assert time.monotonic() - begun < 50, "it waited for llm.deadline_s"
    assert (done.returncode, json.loads(done.stdout)["source"]) == (0, "none")
    first, last = done.stderr.splitlines()
    assert first == "schedmate: asking a language model, 1 s at most (--no-llm answers without)"
    assert last.endswith("answered without a language model: it gave no answer within 1 s")
    assert _asking.PATIENCE_S["read"] <= 60


@pytest.mark.processes
def test_a_model_that_is_demanded_has_its_whole_time(schedmate, tmp_path, monkeypatch):
    monkeypatch.setitem(_asking.PATIENCE_S, "choose", 0.0)
    (tmp_path / "a.log").write_text("step 1\n")
    with serving(refuses(500)) as model:
        done = schedmate(
            "a.log", "--exit-code", "3", "--llm", SCHEDMATE_LLM__BASE_URL=model.base_url
        )
    assert done.returncode == 5
    assert "asking a language model, 60 s at most" in done.stderr
    assert "HTTP 500" in done.stderr


def test_a_store_that_cannot_be_opened_does_not_take_the_answer(schedmate, crash, tmp_path):
    (tmp_path / "state").write_text("not a directory")
    for more in ((), ("--no-llm",)):
        done = schedmate(crash, "--json", *more)
        assert (done.returncode, json.loads(done.stdout)["reason"]) == (0, "key_error")
        assert done.stderr.startswith("schedmate: corrections and learned rules are not used: ")
        assert done.stderr.count("\n") == 1


def test_a_store_that_is_torn_inside_does_not_take_the_answer(schedmate, crash, tmp_path):
    path = tmp_path / "state" / "schedmate.sqlite3"
    with closing(SqliteStore(path)) as store:
        store.remember_failure(_correction(()))
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    path.write_bytes(content)

    done = schedmate(crash, "--json", "--no-llm")

    assert (done.returncode, json.loads(done.stdout)["reason"]) == (0, "key_error")
    assert "corrections and learned rules are not used" in done.stderr


@needs_root  # what is a user's own is made writable
def test_a_store_that_may_only_be_read_is_read(schedmate, common_place):
    log = common_place / "job.out"
    log.write_text(CRASH)
    signature = json.loads(schedmate(log, "--json", "--no-llm").stdout)["signature"]
    state = common_place / "state"
    with closing(SqliteStore(state / "schedmate.sqlite3")) as store:
        store.remember_failure(_correction((signature,)))
    state.chmod(0o555)
    (state / "schedmate.sqlite3").chmod(0o444)

    with as_other_user():
        done = schedmate(log, "--json")

    assert json.loads(done.stdout)["reason"] == "storage_io"
    assert done.stderr == "schedmate: the store can only be read: what is learnt now is not kept\n"
    state.chmod(0o755)


def _correction(signatures):
    origin = Origin(teacher="operator", by="ada", about="job 1", at=1.0)
    return PastFailure(
        id="c1",
        signatures=signatures,
        reason="storage_io",
        line="KeyError: [red]x[/red]",
        confidence=0.95,
        origin=origin,
    )


def test_a_node_may_come_with_its_state(schedmate, tmp_path):
    log = tmp_path / "killed.out"
    log.write_text("step 12/90 loss 2.1\n")
    given = ["--node", "gpu041=down", "--node", "gpu042", "--exit-code", "137", "--json"]

    found = json.loads(schedmate(log, *given).stdout)

    assert (found["reason"], found["blame"]["nodes"]) == ("node_failure", ["gpu041"])
    assert found["decision"]["exclude_nodes"] == ["gpu041"]
    why = json.loads(schedmate(log, "--node", "gpu041=drain:Xid 79", *given[4:]).stdout)
    assert why["reason"] == "gpu_lost"
    plain = json.loads(schedmate(log, "--node", "gpu041", *given[4:]).stdout)
    assert plain["reason"] == "killed"
    wrong = schedmate(log, "--node", "gpu041=tired")
    assert wrong.returncode == 2
    assert "is no node" in wrong.stderr


def test_a_system_log_is_no_output_of_the_job(schedmate, tmp_path):
    (tmp_path / "job.out").write_text(CRASH.replace("KeyError: [red]x[/red]", "own.Trouble: x"))
    (tmp_path / "dmesg").write_text("NVRM: GPU at PCI:0000:3b:00 has fallen off the bus.\n")
    end = ("--state", "FAILED", "--exit-code", "1", "--node", "gpu041", "--no-llm", "--json")

    printed = json.loads(schedmate("job.out", "dmesg", *end).stdout)
    by_kernel = json.loads(schedmate("job.out", "--system-log", "dmesg", *end).stdout)

    assert (printed["reason"], printed["decision"]["exclude_nodes"]) == ("python_exception", [])
    assert (by_kernel["reason"], by_kernel["reported_by"]) == (
        "gpu_lost",
        "outside",
    )
    assert by_kernel["decision"]["exclude_nodes"] == ["gpu041"]
    assert schedmate("job.out", "--system-log", "missing").returncode == 3


def test_a_printed_node_failure_is_none_where_the_scheduler_says_failed(schedmate, tmp_path):
    (tmp_path / "job.out").write_text("step 1\nn2: slurmd not responding, node n2 is down\n")
    nodes = ("--node", "n1", "--node", "n2", "--no-llm", "--json")
    given = json.loads(schedmate("job.out", "--state", "FAILED", "--exit-code", 1, *nodes).stdout)

    assert given["reason"] != "node_failure"
    assert given["decision"]["exclude_nodes"] == []
