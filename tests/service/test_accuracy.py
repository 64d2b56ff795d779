"""How good ETAs and diagnoses have been, of made-up runs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from schedmate.model import JobState, Spread
from schedmate.service.views.accuracy import diagnoses, etas
from schedmate.store import EtaSeen, PersonsAct, RunSummary


def a_run(job_id, state=JobState.COMPLETED, *, attempt=0, ended_at=100.0):
    return RunSummary(
        job_id=job_id,
        attempt=attempt,
        user="ada",
        partition="gpu",
        gpus=1,
        state=state,
        submitted_at=0.0,
        started_at=ended_at - 100.0,
        ended_at=ended_at,
        reason="gpu_oom" if state.failed else "",
    )


def a_correction(job_id, at):
    return PersonsAct(at=at, user="ada", action="correct a diagnosis", about=f"job {job_id}")


@pytest.mark.parametrize(
    "state", [JobState.CANCELLED, JobState.FAILED, JobState.TIMEOUT, JobState.NODE_FAIL]
)
def test_etas_are_measured_on_completed_runs_alone(state):
    completed = [a_run(str(number)) for number in range(5)]
    others = [a_run(str(number), state) for number in range(5, 15)]
    right = [EtaSeen(run.job_id, 10.0, Spread(80, 90, 100)) for run in completed]
    wrong = [EtaSeen(run.job_id, 10.0, Spread(900, 900, 900)) for run in others]
    first = etas([*completed, *others], [*right, *wrong])[0]
    assert (first.cases, first.error, first.coverage) == (5, 0.0, 1.0)


def test_each_corrected_diagnosis_counts_once():
    runs = [
        a_run("1", JobState.FAILED),
        a_run("1", JobState.FAILED, attempt=1, ended_at=300.0),
        a_run("2", JobState.FAILED),
        a_run("3", JobState.FAILED),
    ]
    acts = [a_correction("1", 150.0), a_correction("1", 160.0), a_correction("1", 350.0)]
    acts += [a_correction("2", 150.0), a_correction("of-another-window", 150.0)]
    assert diagnoses(runs, acts).corrected == 3
    assert diagnoses(runs).corrected == 0


def test_a_correction_that_was_withdrawn_counts_no_more():
    runs = [a_run("1", JobState.FAILED), a_run("2", JobState.FAILED)]
    withdrawn = replace(a_correction("1", 160.0), action="withdraw a correction")
    acts = [withdrawn, a_correction("1", 150.0), a_correction("2", 150.0)]
    assert diagnoses(runs, acts).corrected == 1
    assert diagnoses(runs, [*acts, a_correction("1", 170.0)]).corrected == 2
