"""The contract of every rule: its own examples, and a few things none of them may do."""

import re
import time
from collections import Counter
from dataclasses import replace

import pytest

from schedmate.handler import RULES, Case, Handler, NamedLog, Rule
from schedmate.handler.last_words import ANNOUNCED_ERROR, LAST_WORDS
from schedmate.handler.reading.prefilter import prefilter_of
from schedmate.handler.rules import BUILT_IN, RuleSet
from schedmate.handler.suggestions import meaning, suggestion
from schedmate.model import REASONS

SLOWEST_S = 0.1
KEBAB_CASE = re.compile(r"[a-z]+(_[a-z]+)*/[a-z][a-z0-9]*(-[a-z0-9]+)*")
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


each_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)


def _answer(rule: Rule, example: str | Case, rule_set: RuleSet = BUILT_IN) -> Rule | None:
    if isinstance(example, Case):
        return next(iter(rule_set.for_case(example)), None)
    return rule_set.for_error(example) if rule.errors_only else rule_set.for_line(example)


def _diagnosed(rule: Rule, example: str | Case) -> bool:
    """Whether the example alone in a log gives the rule's reason, and is shown for it."""
    if isinstance(example, Case):
        return Handler().diagnose(example).reason == rule.reason
    lead = 'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    f()\n'
    text = (lead if rule.errors_only else "") + example + "\n"
    log = NamedLog("a.log", text.encode())
    diagnosis = Handler().diagnose(Case(logs=(log,), exit_code=1))
    return diagnosis.reason == rule.reason and diagnosis.evidence[0].text == example.rstrip()


def _matches(rule: Rule, example: str | Case) -> bool:
    if isinstance(example, Case):
        return rule.matches_case(example)
    return rule.matches_text(example)


@each_rule
def test_its_positives_are_answered_by_it(rule):
    answered_otherwise = [each for each in rule.positives if _answer(rule, each) is not rule]

    assert rule.positives
    assert answered_otherwise == []


@each_rule
def test_a_positive_alone_in_a_log_is_diagnosed(rule):
    assert [each for each in rule.positives if not _diagnosed(rule, each)] == []


@each_rule
def test_it_matches_none_of_its_negatives(rule):
    assert rule.negatives
    assert [each for each in rule.negatives if _matches(rule, each)] == []


def test_every_rule_has_an_id_of_its_own():
    ids = [rule.id for rule in (*RULES, *LAST_WORDS, ANNOUNCED_ERROR)]

    assert [each for each in ids if not KEBAB_CASE.fullmatch(each)] == []
    assert [each for each, times in Counter(ids).items() if times > 1] == []


def test_rules_inserted_before_the_others_change_no_id():
    inserted = [
        replace(rule, name="inserted", pattern=re.compile("^$"), predicate=None) for rule in RULES
    ]
    rule_set = RuleSet([*inserted, *RULES])
    answered = [(rule.id, _answer(rule, rule.positives[0], rule_set).id) for rule in RULES]

    assert [pair for pair in answered if pair[0] != pair[1]] == []


def test_every_rule_has_a_sane_confidence():
    assert [rule.id for rule in RULES if not 0 < rule.confidence < 1] == []


def test_the_prefilter_lets_every_line_example_through():
    trigger = prefilter_of(BUILT_IN)
    examples = [
        (rule.id, example)
        for rule in RULES
        if not rule.errors_only
        for example in rule.positives
        if isinstance(example, str)
    ]

    held_back = [each for each in examples if not trigger.search(each[1].encode())]

    assert examples
    assert held_back == []


@pytest.mark.parametrize("line", HEALTHY)
def test_harmless_lines_are_no_evidence(line):
    log = NamedLog("a.log", f"{line}\n".encode() * 3)
    assert Handler().diagnose(Case(logs=(log,))).reason == "not_failed"


def _cpu_s(rule: Rule, line: str) -> float:
    """Of the processor's time, which a busy machine does not change."""
    started = time.process_time()
    rule.matches_text(line)
    return time.process_time() - started


@pytest.mark.parametrize(
    "filler", ["a", " ", "Error: ", "CUDA ", "a.", "0", "'", "/x", ": line 1: "]
)
def test_no_pattern_is_slow_on_a_hostile_line(filler):
    hostile = (filler * 2000)[:2000] + "!"

    slow = [rule.id for rule in RULES if rule.pattern and _cpu_s(rule, hostile) >= SLOWEST_S]

    assert slow == []


def test_every_reason_can_be_explained():
    assert {r for r in REASONS if not meaning(r)} == set()
    assert {r for r in REASONS if not suggestion(r)} == {"not_failed"}
