"""What the demo showed, in figures."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from schedmate.demo.show import Record, went_as_planned
from schedmate.model import JobState
from schedmate.policies import Sjf
from schedmate.simulator import TraceJob, average_completion_s

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedmate.model import Prediction


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The diagnosis of one job, and whether it is the right one."""

    job: str
    reason: str
    source: str
    right: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoSummary:
    """Errors are medians, as fractions: of the real duration, of the time that was left.

    The two simulated figures replay the measured durations through the simulator: once in order
    of submission, once by the predictions made at submission. What did not end is `unfinished`, by
    job, and counts in no other figure.
    """

    schema: str = "schedmate.demo/1"
    jobs: int
    as_planned: int
    predicted_jobs: int
    prediction_error: float | None
    prediction_in_range: int
    eta_jobs: int
    eta_error_at_half_time: float | None
    verdicts: tuple[Verdict, ...]
    avg_completion_s: float | None
    simulated_fifo_s: float | None
    simulated_schedmate_s: float | None
    unfinished: dict[str, str]
    daemon_starts: int
    seconds: float

    @property
    def diagnoses_right(self) -> int:
        return sum(verdict.right for verdict in self.verdicts)


def summarise(
    records: Sequence[Record], *, slots: int, daemon_starts: int, seconds: float
) -> DemoSummary:
    today = [record for record in records if record.today]
    errors = [error for record in today if (error := _prediction_error(record)) is not None]
    etas = [error for record in records if (error := _eta_error(record)) is not None]
    ended = [record for record in today if record.runs and _unfinished(record) is None]
    trace = [_as_trace(record) for record in ended]
    expected = {record.job_id: _expected_s(record) for record in ended}
    return DemoSummary(
        jobs=len(records),
        as_planned=sum(map(went_as_planned, records)),
        predicted_jobs=len(errors),
        prediction_error=median(errors) if errors else None,
        prediction_in_range=sum(map(_in_range, today)),
        eta_jobs=len(etas),
        eta_error_at_half_time=median(etas) if etas else None,
        verdicts=tuple(_verdict(record) for record in records if record.part.fails),
        avg_completion_s=sum(map(_completion_s, ended)) / len(ended) if ended else None,
        simulated_fifo_s=average_completion_s(trace, gpus=slots) if ended else None,
        simulated_schedmate_s=average_completion_s(
            trace, gpus=slots, policy=Sjf(), expected=expected
        )
        if ended
        else None,
        unfinished={
            record.part.name: why for record in records if (why := _unfinished(record)) is not None
        },
        daemon_starts=daemon_starts,
        seconds=seconds,
    )


def real_s(record: Record) -> float | None:
    """How long the job really ran, where it ran to its own end in one go."""
    if record.view is None or record.part.fails:
        return None
    job = record.view.job
    return job.run_time_s if job.state is JobState.COMPLETED and job.restarts == 0 else None


def predicted_s(record: Record) -> float | None:
    spread = None if record.view is None else record.view.predicted
    return None if spread is None else spread.p50


def _unfinished(record: Record) -> str | None:
    """What a job did not come to; None: all that was to happen to it has."""
    view = record.view
    if view is None:
        return "was not started" if record.job_id else "could not be submitted"
    state = view.job.state
    if not state.ended:
        done = None if view.progress is None else view.progress.fraction
        return f"still {state}" + ("" if done is None else f", {done:.0%} done")
    return None if record.settled else f"{state}, and not decided about yet"


def _prediction_error(record: Record) -> float | None:
    real, predicted = real_s(record), predicted_s(record)
    return None if not real or predicted is None else abs(predicted - real) / real


def _in_range(record: Record) -> bool:
    real = real_s(record)
    spread = None if record.view is None else record.view.predicted
    return real is not None and spread is not None and spread.p10 <= real <= spread.p90


def _eta_error(record: Record) -> float | None:
    """How wrong the expected end was when half of the run was over, against what was left."""
    view, real = record.view, real_s(record)
    if view is None or not real or view.job.start_time is None:
        return None
    half = view.job.start_time + real / 2
    earlier = [sample for sample in record.samples if sample.at <= half]
    if not earlier:
        return None
    end = view.job.start_time + real
    return abs(earlier[-1].ends_at - end) / (end - earlier[-1].at)


def _verdict(record: Record) -> Verdict:
    view = record.view
    found = None if view is None or not view.diagnoses else view.diagnoses[0]
    reason = "none" if found is None else found.reason
    return Verdict(
        job=record.part.name,
        reason=reason,
        source="none" if found is None else found.source,
        right=reason in record.part.reasons,
    )


def _completion_s(record: Record) -> float:
    job = record.runs[max(record.runs)]
    return (job.end_time or job.submit_time) - job.submit_time


def _as_trace(record: Record) -> TraceJob:
    """All attempts of a job together: that is what it cost the machine."""
    last = record.runs[max(record.runs)]
    return TraceJob(
        job_id=record.job_id,
        user=last.user,
        submit_time=last.submit_time,
        duration=sum(run.run_time_s or 0.0 for run in record.runs.values()),
        gpus=max(1, last.request.gpus),
        name=last.name,
    )


def _expected_s(record: Record) -> float | None:
    prediction = _prediction(record)
    return (
        None if prediction is None or prediction.duration_s is None else prediction.duration_s.p50
    )


def _prediction(record: Record) -> Prediction | None:
    view = record.view
    return None if view is None or view.advice is None else view.advice.prediction
