"""Which evidence may blame a node: what a job prints, beside what ended it."""

from __future__ import annotations

from typing import Any

import pytest

from schedmate.handler import Case, Handler
from schedmate.handler.case import NamedLog
from schedmate.handler.credibility import (
    credible,
    denies_node_failure,
    further_hardware_faults,
    misses_gpu,
    with_best_reporter,
)
from schedmate.handler.reading import Clue, Gathered
from schedmate.handler.reading.lines import LogLine
from schedmate.handler.rules import Rule, Weight
from schedmate.model import JobState, NodeState

UP, DOWN = (NodeState(name="n1", condition=one, state=one) for one in ("up", "down"))
FAILED = Case(state=JobState.FAILED, exit_code=1)


def a_clue(reason: str, number: int | None = 5, *, of_a_step: bool = False, **parts: Any) -> Clue:
    file = parts.pop("file", 0)
    text = parts.pop("text", "a line")
    weight = parts.pop("weight", Weight.CAUSE)
    line = None if number is None else LogLine(f"{file}.log", file, number, text)
    rule = Rule(
        name="r",
        reason=reason,
        predicate=lambda _: True,
        confidence=0.9,
        weight=weight,
        of_a_step=of_a_step,
        positives=(),
    )
    return Clue(**({"rule": rule, "confidence": 0.9, "line": line} | parts))


def kept(*clues: Clue, case: Case = FAILED) -> list[bool]:
    shown = credible(case, Gathered(clues=clues)).clues
    return [any(one is clue for one in shown) for clue in clues]


ECC = a_clue("gpu_ecc", 3)
USERS_ERROR = a_clue("key_error", 9, uncaught=True)


def test_a_printed_fault_explains_nothing_beside_an_exception_of_the_code():
    assert kept(ECC, USERS_ERROR) == [False, True]
    assert kept(ECC) == [True]
    assert kept(a_clue("gpu_ecc", 3, reported_by="outside"), USERS_ERROR) == [True, True]
    assert kept(a_clue("gpu_ecc", None), USERS_ERROR) == [False, True]


@pytest.mark.parametrize(
    "error",
    [
        a_clue("key_error", 9, uncaught=True, went_on=True),
        a_clue("key_error", 9, uncaught=True, final=False),
        a_clue("key_error", 9, uncaught=True, weight=Weight.SYMPTOM),
        a_clue("cuda_error", 9, uncaught=True),
        a_clue("python_exception", 9, uncaught=True, message="No CUDA GPUs are available"),
        a_clue("key_error", 9),
        a_clue("key_error", 9, last_words=True, confidence=0.79),
        a_clue("port_conflict", 9, last_words=True),
    ],
)
def test_an_error_that_does_not_explain_the_end_leaves_the_fault_standing(error):
    assert kept(ECC, error) == [True, True]


def test_the_last_words_of_a_process_explain_it_where_no_retry_would_help():
    assert kept(ECC, a_clue("key_error", 9, last_words=True, confidence=0.8)) == [False, True]


def test_of_two_exceptions_of_one_process_the_later_one_ended_it():
    fault = a_clue("gpu_ecc", 5, uncaught=True)
    later, earlier = (a_clue("key_error", number, uncaught=True) for number in (9, 2))
    assert kept(fault, later) == [False, True]
    assert kept(fault, earlier) == [True, True]
    assert kept(fault, a_clue("key_error", 9, uncaught=True, file=1)) == [True, True]
    assert kept(fault, a_clue("key_error", 9, uncaught=True, stream="[rank1]")) == [True, True]
    assert kept(fault, a_clue("key_error", None, uncaught=True)) == [True, True]
    assert kept(fault, a_clue("key_error", 9, last_words=True)) == [True, True]


def test_what_a_job_prints_of_a_lost_node_does_not_stand_against_the_scheduler():
    printed = a_clue("node_failure")
    assert kept(printed) == [False]
    assert kept(printed, case=Case(exit_code=1)) == [True]
    assert kept(a_clue("node_failure", of_a_step=True)) == [True]
    assert kept(a_clue("node_failure", reported_by="scheduler")) == [True]
    assert kept(a_clue("node_failure", uncaught=True)) == [True]
    assert kept(ECC) == [True]


@pytest.mark.parametrize(
    ("case", "denied"),
    [
        (FAILED, True),
        (Case(), False),
        (Case(state=JobState.NODE_FAIL), False),
        (Case(state=JobState.FAILED, verdict="node_failure"), False),
        (Case(state=JobState.FAILED, nodes=("n1",), node_states=(DOWN,)), False),
        (Case(state=JobState.FAILED, nodes=("n1",), node_states=(UP,)), True),
    ],
)
def test_when_the_scheduler_denies_that_a_node_was_lost(case, denied):
    assert denies_node_failure(case) is denied


def faults(first: str, *clues: Clue) -> set[str]:
    return set(further_hardware_faults(a_clue(first), Gathered(clues=clues)))


def test_hardware_that_may_have_brought_the_cause_about():
    assert faults("cuda_error", ECC) == {"gpu_ecc"}
    assert faults("key_error", ECC) == set()
    assert faults("key_error", a_clue("gpu_ecc", reported_by="outside")) == {"gpu_ecc"}
    assert faults("cuda_error", a_clue("gpu_ecc", went_on=True)) == set()
    assert faults("cuda_error", a_clue("gpu_ecc", final=False)) == set()
    assert faults("cuda_error", a_clue("disk_full"), a_clue("key_error")) == set()


def test_the_best_reporter_of_the_same_reason_counts():
    printed = a_clue("gpu_ecc")
    scheduler, outside = (a_clue("gpu_ecc", reported_by=one) for one in ("scheduler", "outside"))
    assert with_best_reporter(printed, [outside, scheduler]).reported_by == "scheduler"
    assert with_best_reporter(printed, [printed, outside]).reported_by == "outside"
    assert with_best_reporter(printed, [a_clue("gpu_lost", reported_by="outside")]) is printed


def test_a_program_that_finds_no_gpu_is_not_sure_to_be_at_fault():
    assert misses_gpu(a_clue("python_exception", uncaught=True, message="found 0 GPUs"))
    assert not misses_gpu(a_clue("python_exception", uncaught=True, message="found 10 GPUs"))
    assert not misses_gpu(a_clue("python_exception", message="found 0 GPUs"))


@pytest.mark.parametrize("reason", ["import_error", "command_not_found", "argument_error"])
def test_what_a_run_outlived_until_its_limit_is_no_cause(reason):
    assert kept(a_clue(reason), case=Case(state=JobState.TIMEOUT)) == [False]
    assert kept(a_clue(reason)) == [True]
    assert kept(a_clue("gpu_oom"), case=Case(state=JobState.TIMEOUT)) == [True]


@pytest.mark.parametrize(
    ("state", "reason"), [(JobState.TIMEOUT, "time_limit"), (JobState.FAILED, "import_error")]
)
def test_a_program_that_did_not_start_is_not_what_a_limit_ended(state, reason):
    """`python -m launcher train.py || exec sleep 600`"""
    text = "/usr/bin/python: No module named launcher\n"
    text += "ModuleNotFoundError: No module named 'launcher'\n"
    case = Case(logs=(NamedLog("log", text.encode()),), state=state, exit_code=1)
    assert Handler().diagnose(case).reason == reason
