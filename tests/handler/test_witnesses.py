"""The evidence: the line that names the cause, and what else says it."""

from schedmate.handler import Case, Handler, NamedLog

HEAD = 'Traceback (most recent call last):\n  File "train.py", line 7, in main\n    step(b)\n'


def shown(text):
    log = NamedLog("a.log", text.encode())
    found = Handler().diagnose(Case(logs=(log,), exit_code=1))
    return [(line.line, line.text.strip()) for line in found.evidence]


def test_what_a_message_only_announces_is_shown_too():
    text = HEAD + "RuntimeError: Error(s) in loading state_dict for Net:\n"
    text += "\tsize mismatch for head.weight: copying a param with shape torch.Size([10, 8])\n"
    lines = shown(text)
    assert lines[0] == (4, "RuntimeError: Error(s) in loading state_dict for Net:")
    assert any(number == 5 and line.startswith("size mismatch for head") for number, line in lines)


def test_the_last_error_of_a_chain_is_shown_beside_its_cause():
    link = "\nThe above exception was the direct cause of the following exception:\n\n"
    text = HEAD + "KeyError: 'labels'\n" + link + HEAD + "TrainingFailed: epoch 3 was given up\n"
    lines = [line for _, line in shown(text)]
    assert lines[0] == "KeyError: 'labels'"
    assert "TrainingFailed: epoch 3 was given up" in lines


def test_the_next_line_may_name_the_cause_better():
    text = (
        "[E socket.cpp:462] [c10d] The server socket has failed to listen on any local address.\n"
        "[E socket.cpp:462] [c10d] failed to bind to [::]:29500 (errno: 98 - Address already in "
        "use).\n"
    )
    assert any("Address already in use" in line for _, line in shown(text))


def test_lines_that_differ_in_numbers_only_are_shown_once():
    text = "".join(
        f"[rank{n}]: {line}\n"
        for n in range(4)
        for line in (HEAD + "torch.OutOfMemoryError: CUDA out of memory. GPU 0").splitlines()
    )
    errors = [line for _, line in shown(text) if "OutOfMemoryError" in line]
    assert len(errors) == 1


def test_line_numbers_count_what_a_bar_overwrote_as_one_line():
    text = "10%|#\r20%|##\r30%|###\n" + HEAD + "ValueError: bad batch\n"
    assert shown(text)[0] == (5, "ValueError: bad batch")
