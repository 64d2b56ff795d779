"""Plain last lines of failed runs: better than nothing, never sure, and no evidence elsewhere."""

import pytest

from schedmate.handler import SURE_ENOUGH, Case, Handler, NamedLog
from schedmate.handler.last_words import ANNOUNCED_ERROR, LAST_WORDS, last_words

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
