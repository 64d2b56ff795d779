"""Values for tests: each builder gives a valid one, and takes what the test is about.

job = a_job(state=JobState.FAILED, exit_code=1)
"""

from __future__ import annotations

from typing import Any

from schedmate.model import (
    REASONS,
    Advice,
    Decision,
    Diagnosis,
    Evidence,
    Fingerprint,
    Job,
    JobState,
    PastRun,
    Prediction,
    Progress,
    Silence,
    Spread,
    Submission,
    Workload,
)
from schedmate.model.account import account_name
from schedmate.model.lessons import LearnedRule, Origin, PastFailure, Teacher
from schedmate.simulator.traces import TraceJob


def a_job(**overrides: Any) -> Job:
    """A pending job of ours; one that runs or has ended gets the times it needs.

    The files of another user's job would be read with that user's rights.
    """
    state = overrides.get("state", JobState.PENDING)
    values: dict[str, Any] = {
        "id": "1",
        "name": "train",
        "user": account_name(),
        "state": state,
        "workdir": "/home/ada/project",
        "command": ("python", "train.py"),
        "submit_time": 1000.0,
    }
    if state is not JobState.PENDING:
        values["start_time"] = 1010.0
    if state.ended:
        values["end_time"] = 1070.0
    return Job(**(values | overrides))


def a_submission(*command: str, **overrides: Any) -> Submission:
    """A submission of `command`, of something that ends well at once where none is given."""
    values: dict[str, Any] = {"command": command or ("true",), "workdir": "/", "name": "train"}
    return Submission(**(values | overrides))


def a_spread(p50: float) -> Spread:
    """A spread around `p50`: half of it to twice of it."""
    return Spread(p50 / 2, p50, p50 * 2)


def a_prediction(p50: float | None = 60.0, **overrides: Any) -> Prediction:
    """A prediction of `p50` seconds; of nothing at all where that is None."""
    values: dict[str, Any] = {
        "basis": "none" if p50 is None else "same_code",
        "duration_s": None if p50 is None else a_spread(p50),
        "explanation": "nothing is known" if p50 is None else "like job 812",
    }
    return Prediction(**(values | overrides))


def an_advice(p50: float | None = 60.0, **overrides: Any) -> Advice:
    """Advice that predicts `p50` seconds."""
    values: dict[str, Any] = {"workload": Workload(), "prediction": a_prediction(p50)}
    return Advice(**(values | overrides))


def a_progress(**overrides: Any) -> Progress:
    """Half of 100 steps done at ten steps a second."""
    values: dict[str, Any] = {
        "log": "train.log",
        "phase": "training",
        "unit": "step",
        "current": 50.0,
        "total": 100.0,
        "fraction": 0.5,
        "ends_by": "total",
        "rate_per_s": 10.0,
        "elapsed_s": 5.0,
        "eta_s": a_spread(5.0),
        "confidence": 0.9,
        "format": "tqdm",
    }
    return Progress(**(values | overrides))


def a_silence(**overrides: Any) -> Silence:
    """Half an hour without a line after a steady hour."""
    values: dict[str, Any] = {
        "silent_s": 1800.0,
        "allowed_s": 180.0,
        "usual_gap_s": 10.0,
        "lines": 360,
        "looks": 120,
        "learnt_s": 3600.0,
    }
    return Silence(**(values | overrides))


def a_diagnosis(reason: str = "node_failure", **overrides: Any) -> Diagnosis:
    """A diagnosis of `reason` with the category and the decision that follow from it."""
    known = REASONS[reason]
    values: dict[str, Any] = {
        "reason": reason,
        "category": known.category,
        "summary": f"it was {reason}",
        "evidence": (Evidence("train.log", 42, f"line about {reason}"),),
        "confidence": 0.9,
        "source": "rule",
        "decision": Decision(retry=known.retry, why=f"{reason}: {known.retry}"),
    }
    return Diagnosis(**(values | overrides))


def a_past_run(**overrides: Any) -> PastRun:
    """A run of a minute that ended well."""
    values: dict[str, Any] = {
        "job": a_job(state=JobState.COMPLETED, exit_code=0),
        "fingerprint": Fingerprint(code="c0de", arguments="a4g5"),
    }
    return PastRun(**(values | overrides))


def a_trace_job(**overrides: Any) -> TraceJob:
    """A job of a trace: one minute on one GPU, submitted at zero."""
    values: dict[str, Any] = {
        "job_id": "1",
        "user": "ada",
        "submit_time": 0.0,
        "duration": 60.0,
        "gpus": 1,
    }
    return TraceJob(**(values | overrides))


def an_origin(teacher: Teacher = "llm", **parts: Any) -> Origin:
    values: dict[str, Any] = {"by": "somebody", "about": "a.log", "at": 5.0, **parts}
    return Origin(teacher=teacher, **values)


def a_past_failure(name: str, *signatures: str, **parts: Any) -> PastFailure:
    values: dict[str, Any] = {
        "reason": "data_error",
        "line": f"record 3 of {name} is cut short",
        "confidence": 0.7,
        "origin": an_origin(),
        **parts,
    }
    return PastFailure(id=name, signatures=signatures, **values)


def a_learned_rule(name: str = "r1", **parts: Any) -> LearnedRule:
    values: dict[str, Any] = {
        "reason": "data_error",
        "pattern": r"record \d{1,9} of shard \d{1,9} is cut short",
        "words": (" is cut short",),
        "positives": ("record 371 of shard 3 is cut short",),
        "origin": an_origin(),
        **parts,
    }
    return LearnedRule(id=name, **values)
