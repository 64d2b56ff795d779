"""Answers about jobs as values: what the API and the verbs write, and the client reads."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Literal, TypeVar

from schedmate.model import Advice, Diagnosis, JobState, Outcome, PastRun, Progress, Spread
from schedmate.model.action import Reverted
from schedmate.model.advice import AdviceState, Basis
from schedmate.service.views.job_view import JobView
from schedmate.service.views.parts import Parts
from schedmate.store import PersonsAct

T = TypeVar("T")
JobAct = Literal["correct", "withdraw", "revert", "stop"]


def copied(kind: type[T], value: object, **more: Any) -> T:
    """A `kind` with the fields that `value` has too, and `more`: a value as an answer, or back."""
    known: Any = kind
    shared = {
        one.name: getattr(value, one.name)
        for one in fields(known)
        if one.init and hasattr(value, one.name) and one.name not in ("schema", *more)
    }
    return kind(**shared, **more)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobsPage:
    """One page of the queue; `next` is the query string of the one after it."""

    schema: Literal["schedmate.jobs/1"] = "schedmate.jobs/1"
    jobs: tuple[JobView, ...]
    total: int
    next: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobAnswer(JobView):
    schema: Literal["schedmate.job/1"] = "schedmate.job/1"
    parts: tuple[Parts, ...] = ()
    may: tuple[JobAct, ...] = ()
    """What the asker may do to it now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectedAnswer:
    """A diagnosis as a person has corrected it, or as it is after that was withdrawn."""

    schema: Literal["schedmate.corrected/1"] = "schedmate.corrected/1"
    job_id: str
    attempt: int
    diagnosis: Diagnosis


@dataclass(frozen=True, slots=True, kw_only=True)
class RevertedAnswer:
    """What was undone, what would be, and what cannot be."""

    schema: Literal["schedmate.reverted/1"] = "schedmate.reverted/1"
    dry_run: bool
    actions: tuple[Reverted, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoppedAnswer:
    """A run that went on for nothing and is ended now."""

    schema: Literal["schedmate.stopped/1"] = "schedmate.stopped/1"
    job_id: str
    attempt: int
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WhyAnswer:
    schema: Literal["schedmate.why/1"] = "schedmate.why/1"
    job_id: str
    state: JobState
    reason: str | None
    answer: str
    """One sentence; of an array a line for each state."""
    late_s: float | None = None
    """About so much later is a waiting job because of SchedMate so far."""
    parts: tuple[Parts, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EtaAnswer:
    schema: Literal["schedmate.eta/1"] = "schedmate.eta/1"
    job_id: str
    state: JobState
    eta_s: Spread | None
    predicted_s: Spread | None
    answer: str
    """One sentence; of an array a line for each state."""
    parts: tuple[Parts, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarRun:
    """A past job that the prediction goes by."""

    job_id: str
    similarity: float
    duration_s: float
    state: JobState | None
    reason: str | None
    name: str
    ended_at: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarRuns:
    schema: Literal["schedmate.similar/1"] = "schedmate.similar/1"
    job_id: str
    explanation: str
    runs: tuple[SimilarRun, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryPage:
    schema: Literal["schedmate.history/1"] = "schedmate.history/1"
    runs: tuple[PastRun, ...]
    next: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunAnswer(PastRun):
    schema: Literal["schedmate.run/1"] = "schedmate.run/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class JobProgress:
    """How far a run is, as its log shows it; `progress` is null where nothing is known."""

    schema: Literal["schedmate.job_progress/1"] = "schedmate.job_progress/1"
    job_id: str
    attempt: int
    state: JobState
    at: float | None
    """When its log was last read, in seconds since the epoch."""
    progress: Progress | None
    work_fraction: float | None = None
    """Of the steps, from 0 to 1."""
    time_fraction: float | None = None
    """Of its time, from 0 to 1, where a limit ends it or its steps have no known end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduledPrediction:
    """What to plan with. Times are seconds; a null is unknown."""

    schema: Literal["schedmate.prediction/1"] = "schedmate.prediction/1"
    job_id: str | None
    user: str
    state: JobState | None
    partition: str | None
    gpus: int
    nodes: int
    duration_s: Spread | None
    """Of the whole run, for whatever reason it ends."""
    elapsed_s: float | None
    remaining_s: Spread | None
    """From `at` to the end of a running job."""
    remaining_from: Literal["log", "prediction"] | None
    progress: float | None
    """Of the steps, from 0 to 1."""
    time_progress: float | None = None
    """Of its time, from 0 to 1, where a limit ends it or its steps have no known end."""
    rate_per_s: float | None
    unit: str | None
    gpu_memory_mb: float | None
    gpu_utilization: float | None
    outcome: Outcome | None
    start_s: float | None = None
    """From `at` to when a waiting job could start, by the predictions of those before it."""
    basis: Basis
    confidence: float
    """From 0 to 1: of the log where the remaining time is from it, else by the basis."""
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Predictions:
    schema: Literal["schedmate.predictions/1"] = "schedmate.predictions/1"
    predictions: tuple[ScheduledPrediction, ...]
    total: int
    next: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AdvisedAnswer:
    """The best answer so far: `reading` has none yet, `preliminary` knows the script's text and
    the history, `final` the job's files too. Until it is final, ask again under its id."""

    schema: Literal["schedmate.advised/1"] = "schedmate.advised/1"
    id: str
    state: AdviceState
    advice: Advice
    prediction: ScheduledPrediction


@dataclass(frozen=True, slots=True, kw_only=True)
class LogLineAnswer:
    number: int | None
    """Counted from one; null where the lines before it are not counted yet."""
    offset: int
    """Of its first byte."""
    text: str
    """As a terminal leaves it: overwritten parts and colours are gone."""
    cause: bool
    """A diagnosis quotes it."""
    error: bool
    """It has words by which readers look for what went wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogRangeAnswer:
    begin: int
    end: int
    """Offsets of its first byte, and of the first one behind it."""
    lines: tuple[LogLineAnswer, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LogAnswer:
    """Parts of one log of a job; what is between two ranges is left out."""

    schema: Literal["schedmate.log/1"] = "schedmate.log/1"
    job_id: str
    files: tuple[str, ...]
    """The names of all its logs, of earlier attempts last; `file` is the place of this one."""
    file: int
    size: int
    """Bytes of text."""
    identity: str
    """Another one: another file has taken the place of this one. Empty where there is none."""
    absent: str | None = None
    """Why it has no lines: the job has not started yet, or the file is gone. Null where it is
    there."""
    masked: bool
    """What looks like a secret is replaced, as the log is another user's."""
    ranges: tuple[LogRangeAnswer, ...]
    """Of a search one, with the lines that fit."""
    next: str | None
    """The query string of what follows, null at the end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileAnswer:
    """The lines of a file around one that evidence quotes."""

    schema: Literal["schedmate.file/1"] = "schedmate.file/1"
    job_id: str
    name: str
    masked: bool
    lines: tuple[LogLineAnswer, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    name: str
    timed: bool
    """Points are at seconds since the beginning of what was read, else at counts."""
    unit: str = ""
    """Of the counts."""
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CurvesAnswer:
    """Loss and speed of a run, by its log or by what was seen of it."""

    schema: Literal["schedmate.curves/1"] = "schedmate.curves/1"
    job_id: str
    curves: tuple[Curve, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ActsPage:
    """Who did what, the newest first."""

    schema: Literal["schedmate.acts/1"] = "schedmate.acts/1"
    acts: tuple[PersonsAct, ...]
    next: str | None
