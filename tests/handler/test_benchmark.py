"""The benchmark of bench/failures: its cases are in order, and the handler solves them."""

from collections import Counter

import pytest

from bench_module import BENCH, bench_module
from schedmate.handler import Handler
from schedmate.model.failures import REASONS

cases = bench_module("failure_cases")
methods = bench_module("failure_methods")
scores = bench_module("failure_scores")
PRIVATE = (str(BENCH.parent), "/root", "schedmate")
CASES = list(cases.read_cases(cases.CASES))
REPORTS = list(cases.read_cases(cases.CASES.parent / "reports"))


@pytest.fixture(scope="module")
def scored():
    ours = methods.schedmate(Handler(), ask=False)
    return [scores.score(ours, labelled) for labelled in CASES]


def _wrong(scored, fine):
    return [
        f"{one.case.name}: answered {one.answer.reason} ({one.answer.retry}), expected "
        f"{one.case.label.reason} ({one.case.label.retry})"
        for one in scored
        if not fine(one)
    ]


def _share(scored, fine):
    return sum(map(fine, scored)) / len(scored)


def _odd(labelled):
    """What is not in order about a case, or nothing."""
    text, label = labelled.text(), labelled.label
    labelled.to_case()
    checks = {
        "no log": bool(labelled.logs),
        "too long": len(text) <= 40_000 and text.count("\n") <= 300,
        "no origin": bool(label.made_by),
        "its cause is in no log": not label.cause or any(piece in text for piece in label.cause),
        "healthy, but with a cause": not (label.healthy and label.cause),
        "tells of the machine": not any(word in text for word in PRIVATE),
    }
    return [what for what, fine in checks.items() if not fine]


def test_every_case_is_in_order():
    assert {labelled.name: odd for labelled in CASES if (odd := _odd(labelled))} == {}


def test_every_reason_is_asked_for():
    assert set(REASONS) == {labelled.label.reason for labelled in CASES}


def test_most_cases_really_happened():
    failures = [labelled for labelled in CASES if not labelled.label.healthy]
    origins = Counter(labelled.label.origin for labelled in failures)
    assert len(failures) >= 170
    assert origins["produced"] >= 110
    assert len(CASES) - len(failures) >= 40


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
    ours = methods.schedmate(Handler(), ask=False)
    scored = [scores.score(ours, labelled) for labelled in REPORTS]
    failed = [one for one in scored if not one.case.label.healthy]
    wrong = _wrong(failed, lambda one: one.right)
    assert _share(failed, lambda one: one.right) >= 0.97, "\n".join(wrong)
    assert _wrong(scored, lambda one: not one.alarmed and not one.harmful) == []
