"""The failure benchmark: its cases are in order, and the handler does well on them."""

from collections import Counter

import pytest

from bench.accuracy import failure_baselines as methods
from bench.accuracy import failure_score as marks
from bench.corpora import failure_cases as cases
from bench.datasets import ROOT
from schedmate.handler import Handler
from schedmate.model.failures import REASONS

PRIVATE = (str(ROOT), "/root", "schedmate")
EXAM = list(cases.read_cases(cases.OWN))
REPORTS = list(cases.read_cases(cases.OWN.parent / "reports"))


@pytest.fixture(scope="module")
def marked():
    ours = methods.schedmate(Handler(), ask=False)
    return [marks.mark(ours, exam) for exam in EXAM]


def _wrong(marked, fine):
    return [
        f"{one.exam.name}: said {one.answer.said} ({one.answer.retry}), expected "
        f"{one.exam.label.reason} ({one.exam.label.retry})"
        for one in marked
        if not fine(one)
    ]


def _share(marked, fine):
    return sum(map(fine, marked)) / len(marked)


def _odd(exam):
    """What is not in order about a case, or nothing."""
    text, label = exam.text(), exam.label
    exam.to_case()
    checks = {
        "no log": bool(exam.logs),
        "too long": len(text) <= 40_000 and text.count("\n") <= 300,
        "nobody says how it was made": bool(label.made_by),
        "its cause is in no log": not label.cause or any(piece in text for piece in label.cause),
        "healthy, but with a cause": not (label.healthy and label.cause),
        "tells of the machine": not any(word in text for word in PRIVATE),
    }
    return [what for what, fine in checks.items() if not fine]


def test_every_case_is_in_order():
    assert {exam.name: odd for exam in EXAM if (odd := _odd(exam))} == {}


def test_every_reason_is_asked_for():
    assert set(REASONS) == {exam.label.reason for exam in EXAM}


def test_most_cases_really_happened():
    failures = [exam for exam in EXAM if not exam.label.healthy]
    origins = Counter(exam.label.origin for exam in failures)
    assert len(failures) >= 170
    assert origins["produced"] >= 110
    assert len(EXAM) - len(failures) >= 40


def test_the_first_cause_is_named(marked):
    failed = [one for one in marked if not one.exam.label.healthy]
    wrong = _wrong(failed, lambda one: one.right)
    assert _share(failed, lambda one: one.right) >= 0.92, "\n".join(wrong)


def test_the_right_thing_is_done_about_it(marked):
    wrong = _wrong(marked, lambda one: one.decided)
    assert _share(marked, lambda one: one.decided) >= 0.97, "\n".join(wrong)


def test_the_line_of_the_cause_is_shown(marked):
    with_cause = [one for one in marked if one.exam.label.cause]
    wrong = _wrong(with_cause, lambda one: one.shown)
    assert _share(with_cause, lambda one: one.shown) >= 0.95, "\n".join(wrong)


def test_no_healthy_run_is_called_failed(marked):
    assert _wrong(marked, lambda one: not one.alarmed) == []


def test_no_users_error_is_tried_again_on_other_nodes(marked):
    assert _wrong(marked, lambda one: not one.harmful) == []


@pytest.mark.slow
def test_public_reports_are_still_answered():
    ours = methods.schedmate(Handler(), ask=False)
    marked = [marks.mark(ours, exam) for exam in REPORTS]
    failed = [one for one in marked if not one.exam.label.healthy]
    wrong = _wrong(failed, lambda one: one.right)
    assert _share(failed, lambda one: one.right) >= 0.97, "\n".join(wrong)
    assert _wrong(marked, lambda one: not one.alarmed and not one.harmful) == []
