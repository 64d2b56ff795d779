"""Plain last lines of failed runs: better than nothing, never sure, and no evidence elsewhere."""

import pytest

from schedmate.handler import SURE_ENOUGH, Case, Handler, NamedLog
from schedmate.handler.last_words import ANNOUNCED_END, ANNOUNCED_ERROR, LAST_WORDS, last_words

STEPS = "".join(f"step {n} loss 2.31\n" for n in range(40))
EXAMPLES = [(rule, text) for rule in (*LAST_WORDS, ANNOUNCED_ERROR) for text in rule.positives]


def diagnose(text, **verdict):
    return Handler().diagnose(Case(logs=(NamedLog("a.log", text.encode()),), **verdict))


@pytest.mark.parametrize(("rule", "text"), EXAMPLES)
def test_a_positive_is_read_by_its_rule(rule, text):
    assert last_words([text]) == (0, rule)


@pytest.mark.parametrize("rule", [*LAST_WORDS, ANNOUNCED_ERROR], ids=lambda rule: rule.reason)
def test_a_negative_is_not(rule):
    assert not any(rule.matches_text(text) for text in rule.negatives)


@pytest.mark.parametrize(("rule", "text"), EXAMPLES)
def test_they_explain_a_failed_run_but_leave_room_for_a_model(rule, text):
    diagnosis = diagnose(f"{STEPS}{text}\n", exit_code=1)
    assert diagnosis.reason == rule.reason
    assert diagnosis.confidence < SURE_ENOUGH
    assert diagnosis.evidence[-1].text == text


@pytest.mark.parametrize(("rule", "text"), EXAMPLES)
def test_they_are_no_evidence_where_nothing_failed(rule, text):
    assert diagnose(f"{text}\n{STEPS}", exit_code=0).reason == "not_failed"


def test_a_message_given_to_sys_exit_is_read_without_the_word_error():
    diagnosis = diagnose(f"{STEPS}dataset directory /data/x does not exist\n", exit_code=1)
    assert diagnosis.reason == "file_not_found"


def test_what_explains_itself_goes_before_last_words():
    text = "Traceback (most recent call last):\n  File 'a.py', line 1\nKeyError: 'x'\n"
    assert diagnose(f"{text}ERROR: file not found\n", exit_code=1).reason == "key_error"


def test_the_first_telling_line_counts_not_the_last_complaint():
    text = "ERROR: data/train.bin not found\nERROR: the run ended badly\n"
    diagnosis = diagnose(STEPS + text, exit_code=1)
    assert diagnosis.reason == "file_not_found"


@pytest.mark.parametrize(
    "line",
    [
        "validation error: 0.31",
        "0 errors, 3 warnings",
        "ERROR: apex not found, falling back to torch",
        "test_not_found_error passed",
        "mean absolute error: 0.2",
    ],
)
def test_harmless_last_lines_explain_nothing(line):
    assert diagnose(f"{STEPS}{line}\n", exit_code=1).reason == "unknown"


def test_of_several_ranks_the_one_with_the_clearest_end_counts():
    vague = NamedLog("0.log", b"ERROR: something is not as it was\n")
    clear = NamedLog("1.log", b"ERROR: data/train.bin not found\n")
    diagnosis = Handler().diagnose(Case(logs=(vague, clear), exit_code=1))
    assert (diagnosis.reason, diagnosis.evidence[-1].file) == ("file_not_found", "1.log")


TOOLS = [
    "fatal: not a git repository (or any of the parent directories): .git",
    "fatal: detected dubious ownership in repository at '/code'",
    "srun: error: spank: x11.so: Plugin file not found",
    "slurmstepd: error: spank: unable to load plugin auto_tmpdir.so",
    "slurmstepd: error: task_p_post_launch: no such cgroup",
    "error: XDG_RUNTIME_DIR not set in the environment.",
]


@pytest.mark.parametrize("line", TOOLS)
@pytest.mark.parametrize("place", ["first", "last"])
def test_a_complaint_of_a_tool_is_no_error_of_the_user(line, place):
    text = f"{line}\n{STEPS}" if place == "first" else f"{STEPS}{line}\n"
    assert diagnose(text, exit_code=1).reason == "unknown"


def test_an_error_in_unknown_words_counts_at_the_very_end_only():
    odd = "ERROR: the universe is not what it was\n"
    calm = "".join(f"writing summary part {name}\n" for name in "abcde")
    assert diagnose(STEPS + odd, exit_code=1).reason == "python_exception"
    assert diagnose(STEPS + odd + calm, exit_code=1).reason == "unknown"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("list index out of range", "index_error"),
        ("Something went wrong: division by zero", "zero_division"),
        ("'NoneType' object has no attribute 'shape'", "attribute_error"),
        ("[ERROR] train: name 'foo' is not defined", "name_error"),
        ("unsupported operand type(s) for +: 'int' and 'str'", "type_error"),
        ("mat1 and mat2 shapes cannot be multiplied (3x4 and 5x6)", "shape_mismatch"),
        ("ERROR - KeyError('label')", "key_error"),
        ("object of type 'NoneType' has no len()", "type_error"),
        ("operands could not be broadcast together with shapes (3,) (4,)", "shape_mismatch"),
        (
            "error: pyxis:     mkdir: cannot create directory '/run': Permission denied",
            "permission_denied",
        ),
        ("failed: ValueError('bad batch')", "value_error"),
        ("run stopped by FileNotFoundError(2, 'No such file or directory')", "file_not_found"),
    ],
)
def test_a_message_without_its_exception_is_read(line, reason):
    found = diagnose(f"{STEPS}{line}\n", exit_code=1)
    assert (found.reason, found.confidence < SURE_ENOUGH) == (reason, True)


@pytest.mark.parametrize("line", ANNOUNCED_END.positives)
def test_a_last_line_that_states_a_failure_is_none_that_ended_well(line):
    found = diagnose(f"{STEPS}{line}\n")
    assert (found.reason, found.evidence[0].text) == ("unknown", line)
    assert diagnose(f"{STEPS}{line}\n", exit_code=0).reason == "not_failed"
    assert diagnose(f"{line}\n{STEPS}").reason == "not_failed"


@pytest.mark.parametrize("line", [*ANNOUNCED_END.negatives, "agent crashed into wall", "0 failed"])
def test_a_healthy_last_line_states_no_failure(line):
    assert diagnose(f"{STEPS}{line}\n").reason == "not_failed"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("FATAL:   Unable to pull docker://team/train: image not found", "file_not_found"),
        ("2026-01-01 10:00:00 | CRITICAL | trainer | no quorum, not going on", "unknown"),
        ("[SEVERE] the solver has not been able to go on", "unknown"),
        ("app: fatal: cannot reach the parameter server", "service_unreachable"),
    ],
)
def test_a_last_line_of_the_highest_level_is_an_end_in_any_words(line, reason):
    found = diagnose(f"{STEPS}{line}\n")
    assert (found.reason, found.confidence <= ANNOUNCED_END.confidence) == (reason, True)
    assert diagnose(f"{STEPS}{line}\n", exit_code=0).reason == "not_failed"
    assert diagnose(f"{line}\n{STEPS}").reason == "not_failed"


@pytest.mark.parametrize(
    "line",
    [
        "fatal: not a git repository (or any of the parent directories): .git",
        "levels: INFO, WARN, ERROR, FATAL",
        "CRITICAL: 0 errors",
        "critical batch size: 512",
    ],
)
def test_the_word_alone_is_no_end(line):
    assert diagnose(f"{STEPS}{line}\n").reason == "not_failed"
