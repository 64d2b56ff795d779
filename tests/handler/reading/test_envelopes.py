"""What stands round a line: times, ranks and escapes, in any order."""

import pytest

from schedmate.handler import Case, Handler, NamedLog
from schedmate.handler.reading.lines import clean

TRACEBACK = 'Traceback (most recent call last):\n  File "a.py", line 3, in f\n    x()\nKeyError: 3'
STEPS = "step 1 loss 3\nstep 2 loss 2\n"
RANKED = {
    "mpirun": "[1,3]<stderr>:",
    "time before mpirun": "2026-01-01 10:00:00 [1,3]<stderr>:",
    "date before mpirun": "Fri Mar  7 10:00:00 2025[1,3]<stderr>:",
    "time in brackets before mpirun": "[2026-01-01T10:00:00.123456][1,3]<stderr>: ",
    "prterun": "[prterun-n3-12@1,3]<stderr>: ",
    "logger before torchrun": "2026-01-01 10:00:00,123 - ERROR - [rank3]: ",
    "torchrun before a time": "[rank3]: 2026-01-01 10:00:00 ",
    "mpirun before torchrun": "[1,3]<stdout>:[rank3]: ",
    "task before torchrun": "4-task-1-0/0 [default3]:[rank3]: ",
    "time and task before torchrun": "2026-04-03T12:16:00.52Z 4-task-1-0/0 [default3]:[rank3]: ",
    "host before torchrun": "[gpu-041] [rank3]: ",
}
ESCAPES = {
    "CSI": b"\x1b[31m",
    "CSI with colons": b"\x1b[38:5:1m",
    "CSI with an intermediate": b"\x1b[1 q",
    "private CSI": b"\x1b[>4;1m",
    "OSC and BEL": b"\x1b]0;title\x07",
    "OSC and ST": b"\x1b]8;;http://x\x1b\\",
    "DCS": b"\x1bPq#0;2;0\x1b\\",
    "APC": b"\x1b_x\x1b\\",
    "character set": b"\x1b(B",
    "keypad": b"\x1b=",
    "C1 CSI": b"\xc2\x9b31m",
    "C1 CSI of one byte": b"\x9b31m",
    "C1 OSC": b"\xc2\x9d0;t\xc2\x9c",
}


def diagnose(text):
    return Handler().diagnose(Case(logs=(NamedLog("a.log", text),), exit_code=1))


@pytest.mark.parametrize("prefix", RANKED.values(), ids=RANKED)
def test_the_rank_is_known_behind_any_envelope(prefix):
    lines = "".join(f"{prefix}{line}\n" for line in TRACEBACK.split("\n"))
    found = diagnose((STEPS + lines).encode())
    assert (found.reason, found.blame.ranks) == ("key_error", (3,))


@pytest.mark.parametrize("escape", ESCAPES.values(), ids=ESCAPES)
def test_escapes_are_no_text(escape):
    assert clean(escape + b"KeyError" + escape + b": 3" + escape) == "KeyError: 3"
    lines = b"".join(escape + line + escape + b"\n" for line in TRACEBACK.encode().split(b"\n"))
    found = diagnose(STEPS.encode() + lines)
    assert (found.reason, found.evidence[0].text) == ("key_error", "KeyError: 3")


@pytest.mark.parametrize("text", ["größer als ⛛ 日本語 ⟛", "a]0;b", "x[31m", "λ = 3"])
def test_text_is_no_escape(text):
    assert clean(text.encode()) == text


def test_an_exception_right_behind_unfinished_output_is_read():
    found = diagnose((STEPS + "epoch 3 doneValueError: bad value\n").encode())
    assert found.reason == "value_error"
    bar = " 12%|#2  | 120/1000 [00:12<01:30, 9.7it/s, loss=2.31]"
    assert diagnose((STEPS + bar + TRACEBACK + "\n").encode()).reason == "key_error"
