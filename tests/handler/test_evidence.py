"""Reading: lines, ranks, tracebacks, episodes, and bounds."""

import time
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedmate.handler import Case, Handler, NamedLog
from schedmate.handler.reading.gathering import gather
from schedmate.handler.reading.lines import BLOCK_BYTES, pieces, read_line
from schedmate.model import JobState

TRACEBACK = """\
Traceback (most recent call last):
  File "train.py", line 12, in <module>
    main()
  File "train.py", line 7, in main
    step(batch)
ValueError: bad batch
"""
HEALTHY = "step 17 loss 2.31 lr 0.001\n"


def _diagnose(*texts, **verdict):
    logs = tuple(
        NamedLog(f"{n}.log", text if isinstance(text, bytes) else text.encode())
        for n, text in enumerate(texts)
    )
    return Handler().diagnose(Case(logs=logs, **verdict))


def _prefixed(prefix, text):
    return "".join(f"{prefix}{line}\n" for line in text.splitlines())


@pytest.mark.parametrize(
    ("raw", "rank", "text"),
    [
        (b"[rank3]: ValueError: x", 3, "ValueError: x"),
        (b'[rank3]:   File "a.py"', 3, '  File "a.py"'),
        (b"3: ValueError: x", 3, "ValueError: x"),
        (b" 12: step 1", 12, "step 1"),
        (b"[default1]:Traceback", 1, "Traceback"),
        (b"[1,7]<stderr>:ValueError", 7, "ValueError"),
        (b"(RayTrainWorker pid=4711, ip=10.0.0.7) ValueError: x", None, "ValueError: x"),
        (b"(RayTrainWorker rank=2, pid=4711) ValueError: x", 2, "ValueError: x"),
        (b"12:30:01 INFO x", None, "12:30:01 INFO x"),
        (b"\x1b[31mred\x1b[0m \x00alert", None, "red alert"),
        (b"\xff\xfe broken", None, "\ufffd\ufffd broken"),
    ],
)
def test_rank_prefixes_colours_and_bad_bytes(raw, rank, text):
    line = read_line(raw, file="a", order=0, number=1)
    assert (line.rank, line.text) == (rank, text)


def test_lines_are_numbered_as_an_editor_does():
    block = b"a\nb\rc\rd\r\ne"
    assert list(pieces(block, 1)) == [
        (1, b"a"),
        (2, b"b"),
        (2, b"c"),
        (2, b"d"),
        (2, b""),
        (3, b"e"),
    ]


def test_the_error_and_its_innermost_call_are_shown_with_their_lines():
    diagnosis = _diagnose(HEALTHY * 3 + TRACEBACK, exit_code=1)
    assert diagnosis.reason == "value_error"
    assert [(e.file, e.line, e.text) for e in diagnosis.evidence] == [
        ("0.log", 9, "ValueError: bad batch"),
        ("0.log", 7, '  File "train.py", line 7, in main'),
        ("0.log", 8, "    step(batch)"),
    ]


def test_the_same_answer_behind_a_long_healthy_log():
    diagnosis = _diagnose(HEALTHY * 200_000 + TRACEBACK, exit_code=1)
    assert (diagnosis.reason, diagnosis.evidence[0].line) == ("value_error", 200_006)


def test_a_traceback_across_two_blocks():
    for shift in range(0, len(TRACEBACK) + 4, 7):
        lead = b"x" * 99 + b"\n"
        start = lead * ((BLOCK_BYTES - shift) // len(lead))
        start += b"y" * (BLOCK_BYTES - shift - len(start) - 1) + b"\n"
        assert _diagnose(start + TRACEBACK.encode(), exit_code=1).reason == "value_error"


def test_an_exception_that_was_survived_is_no_failure():
    survived = TRACEBACK + HEALTHY * 1000
    assert _diagnose(survived).reason == "not_failed"
    assert _diagnose(survived, exit_code=0).reason == "not_failed"


def test_an_exception_that_was_survived_is_a_weak_answer_when_the_run_failed_later():
    diagnosis = _diagnose(TRACEBACK + HEALTHY * 1000, exit_code=1)
    assert diagnosis.reason == "value_error"
    assert diagnosis.confidence < 0.5


def test_the_crash_counts_and_not_the_exception_survived_before_it():
    text = TRACEBACK + HEALTHY * 100 + TRACEBACK.replace("ValueError: bad", "KeyError: 'bad")
    assert _diagnose(text, exit_code=1).reason == "key_error"


def test_a_time_limit_is_not_explained_by_an_exception_long_before():
    text = TRACEBACK + HEALTHY * 40
    assert _diagnose(text, state=JobState.TIMEOUT).reason == "time_limit"
    assert _diagnose(HEALTHY * 40 + TRACEBACK, state=JobState.TIMEOUT).reason == "value_error"


def test_ignored_exceptions_are_no_failure():
    text = HEALTHY + "Exception ignored in: <function A.__del__ at 0x7f>\n" + TRACEBACK
    assert _diagnose(text, exit_code=0).reason == "not_failed"


def test_the_direct_cause_of_a_chain_is_the_reason():
    second = TRACEBACK.replace("ValueError: bad batch", "RuntimeError: training failed")
    link = "\nThe above exception was the direct cause of the following exception:\n\n"
    diagnosis = _diagnose(TRACEBACK + link + second, exit_code=1)
    assert (diagnosis.reason, diagnosis.evidence[0].line) == ("value_error", 6)


def test_an_exception_that_only_probed_yields_to_the_real_one():
    first = TRACEBACK.replace("ValueError: bad batch", "KeyError: 'cache'")
    second = TRACEBACK.replace("ValueError: bad batch", "FileNotFoundError: [Errno 2] 'x'")
    link = "\nDuring handling of the above exception, another exception occurred:\n\n"
    assert _diagnose(first + link + second, exit_code=1).reason == "file_not_found"


def test_interleaved_ranks_are_kept_apart():
    zero = _prefixed("[rank0]: ", TRACEBACK.replace("ValueError: bad batch", "KeyError: 'a'"))
    one = _prefixed("[rank1]: ", TRACEBACK)
    mixed = "".join(a + b for a, b in zip(one.splitlines(True), zero.splitlines(True), strict=True))
    diagnosis = _diagnose(mixed, exit_code=1)
    assert (diagnosis.reason, diagnosis.blame.ranks) == ("value_error", (1,))


def test_a_logger_may_stand_before_every_line_of_a_traceback():
    lines = TRACEBACK.splitlines()
    text = "".join(f"2026-01-01 12:00:0{n} ERROR | {line}\n" for n, line in enumerate(lines))
    assert _diagnose(text, exit_code=1).reason == "value_error"


def test_ranks_that_only_lost_their_peers_are_victims():
    victim = (
        "[rank0]: torch.distributed.DistBackendError: NCCL error in: x.cpp:1, remote process "
        "exited or there was a network error\n"
    )
    cause = _prefixed(
        "[rank3]: ",
        TRACEBACK.replace(
            "ValueError: bad batch",
            "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2",
        ),
    )
    summary = "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n"
    for text in (victim + cause + summary, cause + victim + summary):
        diagnosis = _diagnose(HEALTHY * 9 + text, exit_code=1)
        assert (diagnosis.reason, diagnosis.blame.ranks) == ("gpu_oom", (3,))
    assert _diagnose(victim + summary, exit_code=1).reason == "nccl_remote"


def test_the_cause_may_be_in_another_file_than_the_victims():
    victim = "RuntimeError: [x/gloo/transport/tcp/pair.cc:534] Connection closed by peer\n"
    diagnosis = _diagnose(victim, HEALTHY, TRACEBACK, exit_code=1)
    assert (diagnosis.reason, diagnosis.evidence[0].file) == ("value_error", "2.log")


def test_launchers_that_clear_up_are_no_sign_of_life():
    limit = "slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2026-01-01T00:00:00 DUE TO TIME LIMIT"
    after = "Killing subprocess 51220\nMain process received SIGTERM, exiting\n" * 300
    assert _diagnose(f"{HEALTHY * 10}{limit} ***\n{after}").reason == "time_limit"


def test_a_missing_log_is_reported_and_the_verdict_still_counts(tmp_path):
    case = Case(logs=(tmp_path / "gone.log", tmp_path), state=JobState.FAILED, exit_code=1)
    diagnosis = Handler().diagnose(case)
    assert diagnosis.reason == "unknown"
    assert "gone.log" in diagnosis.summary
    case = Case(logs=(tmp_path / "gone.log",), state=JobState.NODE_FAIL)
    assert Handler().diagnose(case).reason == "node_failure"


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=3000), st.sampled_from([None, 0, 1, 137, -11]))
def test_no_bytes_break_it(data, code):
    assert _diagnose(data, exit_code=code).summary


_SNIPPETS = st.sampled_from(
    [
        *TRACEBACK.splitlines(True),
        HEALTHY,
        "\r",
        "\n",
        "[rank1]: ",
        "7: ",
        "  | ",
        "The above exception was the direct cause of the following exception:\n",
        "Exception ignored in: x\n",
        "Killed\n",
        "loss: nan\n",
        "RuntimeError:\n",
        "\x1b[31m",
        "slurmstepd: error: *** JOB 7 ON n CANCELLED AT x DUE TO PREEMPTION ***\n",
    ]
)


@settings(max_examples=150, deadline=None)
@given(st.lists(_SNIPPETS, max_size=60))
def test_no_mixture_of_what_logs_are_made_of_breaks_it(parts):
    text = "".join(parts)
    diagnosis = _diagnose(text, exit_code=1)
    total = text.count("\n") + 1
    assert all(1 <= e.line <= total for e in diagnosis.evidence)


@pytest.mark.slow
@pytest.mark.parametrize(
    "line",
    [
        HEALTHY.encode(),
        b"step %d errors: 0 failed: 0\n",
        b"step loss: nan\n",
        b"\rEpoch 1: 12%|#1 | 120/1000 [00:12<01:30, 9.7it/s]",
        b"x" * 5000,
    ],
    ids=["healthy", "harmless errors", "evidence", "tqdm", "no line end"],
)
def test_a_large_log_takes_little_memory_and_time(line):
    data = line * (8_000_000 // len(line))
    case = Case(logs=(NamedLog("big.log", data),))
    started = time.process_time()
    gather(case)
    assert time.process_time() - started < 5
    tracemalloc.start()
    gather(Case(logs=(NamedLog("big.log", data[:4_000_000]),)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40_000_000
