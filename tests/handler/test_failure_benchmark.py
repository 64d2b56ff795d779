"""The failure benchmark: its cases are in order, and the handler does well on them."""

from collections import Counter

import pytest

from bench.accuracy.failure_baselines import schedmate
from bench.accuracy.failure_score import score
from bench.corpora import failure_cases
from bench.datasets import ROOT
from schedmate.handler import Handler
from schedmate.model.failures import REASONS

pytestmark = pytest.mark.slow

PRIVATE = (str(ROOT), "/root", "schedmate")
OWN = list(failure_cases.read_cases(failure_cases.OWN))
REPORTS = list(failure_cases.read_cases(failure_cases.REPORTS))


@pytest.fixture(scope="module")
def scored():
    ours = schedmate(Handler(), ask=False)
    return [score(ours, case) for case in OWN]


def _wrong(scored, fine):
    return [
        f"{one.case.name}: {one.answer.named} ({one.answer.retry}), expected "
        f"{one.case.label.reason} ({one.case.label.retry})"
        for one in scored
        if not fine(one)
    ]


def _share(scored, fine):
    return sum(map(fine, scored)) / len(scored)


def _odd(case):
    """What is not in order about a case, or nothing."""
    text, label = case.text(), case.label
    case.to_case()
    checks = {
        "no log": bool(case.logs),
        "too long": len(text) <= 40_000 and text.count("\n") <= 300,
        "does not state how it was made": bool(label.made_by),
        "its cause is in no log": not label.cause or any(piece in text for piece in label.cause),
        "healthy, but with a cause": not (label.healthy and label.cause),
        "names the machine it was made on": not any(word in text for word in PRIVATE),
    }
    return [what for what, fine in checks.items() if not fine]


def test_every_case_is_in_order():
    assert {case.name: odd for case in OWN if (odd := _odd(case))} == {}


def test_every_reason_is_asked_for():
    assert set(REASONS) == {case.label.reason for case in OWN}


def test_most_cases_really_happened():
    failures = [case for case in OWN if not case.label.healthy]
    origins = Counter(case.label.origin for case in failures)
    assert len(failures) >= 170
    assert origins["produced"] >= 110
    assert len(OWN) - len(failures) >= 40


def test_the_first_cause_is_named(scored):
    failed = [one for one in scored if not one.case.label.healthy]
    wrong = _wrong(failed, lambda one: one.right)
    assert _share(failed, lambda one: one.right) >= 0.92, "\n".join(wrong)


def test_the_right_thing_is_done_about_it(scored):
    wrong = _wrong(scored, lambda one: one.decided)
    assert _share(scored, lambda one: one.decided) >= 0.97, "\n".join(wrong)


def test_the_line_of_the_cause_is_shown(scored):
    with_cause = [one for one in scored if one.case.label.cause]
    wrong = _wrong(with_cause, lambda one: one.shown)
    assert _share(with_cause, lambda one: one.shown) >= 0.95, "\n".join(wrong)


def test_no_healthy_run_is_called_failed(scored):
    assert _wrong(scored, lambda one: not one.alarmed) == []


def test_no_users_error_is_tried_again_on_other_nodes(scored):
    assert _wrong(scored, lambda one: not one.harmful) == []


@pytest.mark.slow
def test_public_reports_are_still_answered():
    ours = schedmate(Handler(), ask=False)
    scored = [score(ours, case) for case in REPORTS]
    failed = [one for one in scored if not one.case.label.healthy]
    wrong = _wrong(failed, lambda one: one.right)
    assert _share(failed, lambda one: one.right) >= 0.97, "\n".join(wrong)
    assert _wrong(scored, lambda one: not one.alarmed and not one.harmful) == []
