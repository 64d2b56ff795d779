"""The contract of every rule: its own examples, and a few things none of them may do."""

import time

import pytest

from schedmate.handler import RULES, Case, Handler, NamedLog, Rule
from schedmate.handler.reading.trigger import trigger_of
from schedmate.handler.rules import BUILT_IN
from schedmate.handler.suggestions import meaning, suggestion
from schedmate.model import REASONS

HEALTHY = [
    "errors: 0, failed: 0, warnings: 2",
    "PLAY RECAP: ok=12 changed=3 unreachable=0 failed=0",
    "step:1/1393 train_time:21ms step_avg:nan",
    "validation error: 0.31 test error: 0.29",
    "[W] Warning: Environment variable NCCL_ASYNC_ERROR_HANDLING is deprecated",
    "you may encounter an out-of-memory (OOM) error if your GPU does not have enough memory",
    "Epoch 3: 12%|#2  | 120/1000 [00:12<01:30, 9.7it/s, loss=2.31]",
    "FutureWarning: this will raise a RuntimeError: in the future",
    "Using fallback: flash_attn not found",
    "killed 0 zombie processes",
    "no error has occurred",
    "WARNING: CUDA out of memory in autotuning, trying the next configuration",
    "number of skipped iterations: 0 | number of nan iterations: 0 |",
    "reward: -inf clipped to 0",
    "ERROR No Aggregation Manager (sharp_am) detected in sharp_create_job",
    "max_grad_norm: inf",
]


def _name(rule: Rule) -> str:
    return f"{rule.reason}-{RULES.index(rule)}"


def _examples(kind: str) -> list:
    return [
        pytest.param(rule, example, id=f"{_name(rule)}-{number}")
        for rule in RULES
        for number, example in enumerate(getattr(rule, kind))
    ]


def _answer(rule: Rule, example: str | Case) -> Rule | None:
    if isinstance(example, Case):
        return next(iter(BUILT_IN.for_case(example)), None)
    return BUILT_IN.for_error(example) if rule.errors_only else BUILT_IN.for_line(example)


@pytest.mark.parametrize(("rule", "example"), _examples("positives"))
def test_a_positive_is_answered_by_its_rule(rule, example):
    assert _answer(rule, example) is rule


@pytest.mark.parametrize(("rule", "example"), _examples("positives"))
def test_a_positive_alone_in_a_log_is_diagnosed(rule, example):
    if isinstance(example, Case):
        diagnosis = Handler().diagnose(example)
    else:
        lead = 'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    f()\n'
        text = (lead if rule.errors_only else "") + example + "\n"
        log = NamedLog("a.log", text.encode())
        diagnosis = Handler().diagnose(Case(logs=(log,), exit_code=1))
        assert diagnosis.evidence[0].text == example.rstrip()
    assert diagnosis.reason == rule.reason


@pytest.mark.parametrize(("rule", "example"), _examples("negatives"))
def test_a_negative_does_not_match(rule, example):
    if isinstance(example, Case):
        assert not rule.matches_case(example)
    else:
        assert not rule.matches_text(example)


@pytest.mark.parametrize("rule", RULES, ids=_name)
def test_every_rule_has_examples_and_a_sane_confidence(rule):
    assert rule.positives
    assert rule.negatives
    assert 0 < rule.confidence < 1


@pytest.mark.parametrize(("rule", "example"), _examples("positives"))
def test_the_prefilter_lets_every_line_example_through(rule, example):
    if isinstance(example, str) and not rule.errors_only:
        assert trigger_of(BUILT_IN).search(example.encode())


@pytest.mark.parametrize("line", HEALTHY)
def test_harmless_lines_are_no_evidence(line):
    log = NamedLog("a.log", f"{line}\n".encode() * 3)
    assert Handler().diagnose(Case(logs=(log,))).reason == "not_failed"


@pytest.mark.parametrize("rule", [r for r in RULES if r.pattern], ids=_name)
@pytest.mark.parametrize(
    "filler", ["a", " ", "Error: ", "CUDA ", "a.", "0", "'", "/x", ": line 1: "]
)
def test_no_pattern_is_slow_on_a_hostile_line(rule, filler):
    hostile = (filler * 2000)[:2000] + "!"
    started = time.perf_counter()
    rule.matches_text(hostile)
    assert time.perf_counter() - started < 0.1


def test_every_reason_can_be_explained():
    assert {r for r in REASONS if not meaning(r)} == set()
    assert {r for r in REASONS if not suggestion(r)} == {"not_failed"}
