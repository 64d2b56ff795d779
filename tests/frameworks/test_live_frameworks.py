"""Real frameworks, really run, followed while they write."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest

from frameworks.cases import CASES, Case
from frameworks.following import Followed, Look

pytestmark = [
    pytest.mark.frameworks,
    pytest.mark.timeout(300),  # a test waits for its turn among the runs
    pytest.mark.parametrize("case", CASES, ids=lambda case: case.name),
]
See = Callable[[Case], Followed]
RIGHT_WITHIN = 0.35
RIGHT_WITHIN_S = 2.5
"""Runs of a few seconds on a machine that may be busy; how right it is on long ones is measured."""
AT_WORK = {"starting", "training", "evaluating", "checkpointing", "unknown"}


def test_format_total_and_metrics_are_right(case: Case, followed: See):
    run = followed(case)
    assert run.exit_code == 0, run.output[-2000:]
    assert run.last.format == case.format
    assert run.last.unit in case.totals
    assert run.last.total == case.totals[run.last.unit]
    assert case.metrics <= run.last.metrics.keys()
    if case.ends != "unsaid":
        assert run.last.current == run.last.total


def test_is_training_while_it_runs_and_finished_at_its_end(case: Case, followed: See):
    run = followed(case)
    seen = {look.progress.phase for look in run.looks if look.at < run.ended_at}
    # a bar without a name does not show that it is a training
    at_work = "unknown" if case.name == "tqdm-slow" else "training"
    assert at_work in seen
    assert seen <= (AT_WORK | {"finished"})
    assert run.halfway.progress.phase in AT_WORK
    assert run.last.phase in ({"finished"} if case.ends == "said" else {"finished", at_work})


def test_no_total_but_the_right_one_is_ever_told(case: Case, followed: See):
    told = {
        (look.progress.unit, look.progress.total)
        for look in followed(case).looks
        if look.progress.total is not None and look.progress.confidence > 0.5
    }
    assert told <= set(case.totals.items())


def test_progress_never_goes_back(case: Case, followed: See):
    fractions = [look.progress.fraction or 0.0 for look in followed(case).counted]
    assert len(fractions) > 5
    assert all(after >= before for before, after in pairwise(fractions)), fractions


def test_halfway_it_knows_where_it_is_and_when_it_ends(case: Case, followed: See):
    run = followed(case)
    look = run.halfway
    assert look.progress.fraction == pytest.approx(0.5, abs=0.2)
    assert look.progress.eta_s is not None
    told = look.progress.eta_s.p50
    right = (run.ended_at - look.at, run.left_at_the_pace_until(look))
    assert any(abs(told - left) <= max(RIGHT_WITHIN * left, RIGHT_WITHIN_S) for left in right), (
        _story(run.looks)
    )


def _story(looks: tuple[Look, ...]) -> str:
    began = looks[0].at
    return "\n".join(
        f"{look.at - began:6.2f} s {look.progress.phase} {look.progress.unit}"
        f" {look.progress.current}/{look.progress.total} {look.progress.eta_s}"
        for look in looks
    )
