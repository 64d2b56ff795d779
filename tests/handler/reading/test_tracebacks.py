"""Every shape a traceback is printed in leads to the exception that was raised first."""

from __future__ import annotations

import pytest

from schedmate.handler import Case, Handler, NamedLog
from schedmate.handler.reading import gather

TORCH = "/opt/lib/python3.11/site-packages/torch/nn/modules/module.py"
PLAIN = f"""\
Traceback (most recent call last):
  File "/home/u/train.py", line 12, in <module>
    main(cfg)
    ~~~~^^^^^
  File "{TORCH}", line 1511, in _call_impl
    return forward_call(*args)
ValueError: bad batch
"""


def clues(text: str, name: str = "a.log"):
    return gather(Case(logs=(NamedLog(name, text.encode()),), exit_code=1)).clues


def causes(text: str) -> list[tuple[str, str]]:
    found = sorted(clues(text), key=lambda clue: clue.line.place)
    return [(clue.rule.reason, clue.line.text) for clue in found if clue.uncaught]


def test_the_error_is_shown_first_and_then_the_innermost_call_of_the_users_own_code():
    (clue,) = clues(PLAIN)
    assert [line.text for line in clue.shown] == [
        "ValueError: bad batch",
        '  File "/home/u/train.py", line 12, in <module>',
        "    main(cfg)",
    ]


def test_a_crash_in_a_library_alone_shows_the_library():
    text = PLAIN.replace("/home/u/train.py", "/usr/lib/python3.11/runpy.py")
    (clue,) = clues(text)
    assert clue.shown[1].text.startswith(f'  File "{TORCH}"')


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"[rank3]: {line}\n" for line in PLAIN.splitlines()),
        "".join(f"node7: [rank3]: {line}\n" for line in PLAIN.splitlines()),
        "".join(f"2026-01-01 12:00:00,001 ERROR x - {line}\n" for line in PLAIN.splitlines()),
        "2026-01-01 12:00:00,001 ERROR x - " + PLAIN,
        "\x1b[31m" + PLAIN.replace("ValueError", "\x1b[1;35mValueError\x1b[0m"),
        PLAIN.replace("    main(cfg)\n", "    main(cfg)\n    └ <function main at 0x7f>\n\n> "),
        PLAIN.removeprefix("Traceback (most recent call last):\n"),
    ],
    ids=["rank", "node and rank", "logger", "logger once", "colours", "loguru", "no head"],
)
def test_prefixes_colours_and_a_missing_head(text):
    ((reason, line),) = causes(text)
    assert reason == "value_error"
    assert line.endswith("ValueError: bad batch")


def test_rich_draws_a_box():
    text = (
        "╭──────────── Traceback (most recent call last) ────────────╮\n"
        "│ /home/u/train.py:12 in main                               │\n"
        "│                                                           │\n"
        "│    11 def main():                                         │\n"
        "│ ❱  12     step(batch)                                     │\n"
        "╰───────────────────────────────────────────────────────────╯\n"
        "ValueError: bad batch\n"
    )
    (clue,) = clues(text)
    assert clue.uncaught
    assert [line.number for line in clue.shown] == [7, 2, 5]


def test_the_exceptions_of_a_group_are_the_causes():
    text = """\
  + Exception Group Traceback (most recent call last):
  |   File "train.py", line 3, in <module>
  |     raise ExceptionGroup("two", [a, b])
  | ExceptionGroup: two (2 sub-exceptions)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    |   File "train.py", line 1, in f
    |     f()
    | KeyError: 'a'
    +---------------- 2 ----------------
    | ZeroDivisionError: division by zero
    +------------------------------------
"""
    found = sorted(clues(text), key=lambda clue: (clue.rule.weight, clue.line.place))
    assert (found[0].rule.reason, found[0].line.number) == ("key_error", 9)
    assert "zero_division" in {clue.rule.reason for clue in found}


def test_the_original_of_a_worker_is_the_cause():
    text = PLAIN.replace(
        "ValueError: bad batch",
        "KeyError: Caught KeyError in DataLoader worker process 0.\n"
        "Original Traceback (most recent call last):\n"
        '  File "/home/u/data.py", line 4, in __getitem__\n'
        "    return self.rows[i]\n"
        "KeyError: 'label'",
    )
    (cause,) = causes(text)
    assert cause == ("key_error", "KeyError: 'label'")


def test_a_child_process_of_spawn_says_it_below_its_parent():
    text = (
        PLAIN.replace(
            "ValueError: bad batch", "torch.multiprocessing.spawn.ProcessRaisedException: "
        )
        + "\n-- Process 1 terminated with the following error:\n"
        + PLAIN
    )
    assert causes(text) == [("value_error", "ValueError: bad batch")]


def test_ray_prints_the_remote_calls_below_its_own_error():
    text = PLAIN.replace(
        "ValueError: bad batch",
        "ray.exceptions.RayTaskError(ValueError): ray::f() (pid=7, ip=10.0.0.7)\n"
        '  File "/home/u/task.py", line 4, in f\n'
        "    raise ValueError\n"
        "ValueError: bad batch",
    )
    (cause,) = causes(text)
    assert cause == ("value_error", "ValueError: bad batch")


def test_two_ranks_that_write_one_stream_line_by_line():
    other = PLAIN.replace("ValueError: bad batch", "KeyError: 'a'")
    pairs = zip(PLAIN.splitlines(True), other.splitlines(True), strict=True)
    assert causes("".join(a + b for a, b in pairs)) == [
        ("value_error", "ValueError: bad batch"),
        ("key_error", "KeyError: 'a'"),
    ]


def test_a_syntax_error_has_no_head():
    text = (
        "  File \"train.py\", line 3\n    def f(\n         ^\nSyntaxError: '(' was never closed\n"
    )
    (cause,) = causes(text)
    assert cause[0] == "syntax_error"


def test_what_an_error_only_announces_decides():
    text = PLAIN.replace(
        "ValueError: bad batch",
        "RuntimeError: Error(s) in loading state_dict for Net:\n"
        '\tMissing key(s) in state_dict: "fc.weight". ',
    )
    (cause,) = causes(text)
    assert cause[0] == "checkpoint_mismatch"


def test_a_log_that_is_cut_off_amid_a_traceback_is_a_weak_sign():
    (clue,) = clues(PLAIN.removesuffix("ValueError: bad batch\n"))
    assert clue.confidence < 0.5
    assert clue.shown[0].text == '  File "/home/u/train.py", line 12, in <module>'


@pytest.mark.parametrize(
    "text",
    [
        "Exception ignored in: <function A.__del__ at 0x7f>\n" + PLAIN,
        PLAIN.replace("Traceback", "2026-01-01 12:00:00 WARNING x: Traceback", 1),
    ],
)
def test_what_is_announced_as_harmless_is_no_clue(text):
    assert causes(text) == []


def test_torchrun_names_who_failed_first():
    text = PLAIN.replace(
        "ValueError: bad batch",
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n"
        "============================================================\n"
        "train.py FAILED\n"
        "------------------------------------------------------------\n"
        "Failures:\n  <NO_OTHER_FAILURES>\n"
        "------------------------------------------------------------\n"
        "Root Cause (first observed failure):\n[0]:\n"
        "  time      : 2026-01-01_12:00:00\n"
        "  host      : n7\n"
        "  rank      : 3 (local_rank: 3)\n"
        "  exitcode  : 1 (pid: 812)\n",
    )
    (clue,) = [clue for clue in clues(text) if clue.uncaught]
    assert (clue.rank, clue.node, clue.calm_after) == (3, "n7", 0)


def test_the_stack_of_a_crash_is_one_clue_and_no_sign_of_life():
    frames = "".join(f"frame #{n}: c10::Error::Error() + 0x3e (0x7f)\n" for n in range(80))
    text = (
        "terminate called after throwing an instance of 'c10::Error'\n"
        "  what():  CUDA error: an illegal memory access was encountered\n"
        "Exception raised from f at ../c10/a.cpp:3 (most recent call first):\n"
    )
    found = clues(text + frames)
    assert "cuda_illegal_access" in {clue.rule.reason for clue in found}
    assert len(found) <= 2
    assert all(clue.calm_after == 0 for clue in found)


CALLS = 'Traceback (most recent call last):\n  File "a.py", line 3, in load\n    x = d["k"]\n'


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (CALLS, 'at File "a.py", line 3, in load x = d["k"]'),
        (CALLS.rpartition("    ")[0], 'at File "a.py", line 3, in load'),
        (CALLS.partition("  File")[0], "the log ends inside its traceback"),
    ],
)
@pytest.mark.parametrize("exit_code", [None, 1])
def test_of_a_traceback_that_is_cut_off_what_is_known_is_shown(text, shown, exit_code):
    log = NamedLog("a.log", f"step 1\nstep 2\n{text}".encode())
    found = Handler().diagnose(Case(logs=(log,), exit_code=exit_code))
    assert found.reason == "python_exception"
    assert "the log ends inside its traceback" in found.summary
    assert shown in found.summary
