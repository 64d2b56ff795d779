"""The answers of the API as values: what the server writes and the client reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from schedmate.model import Advice, JobState, Outcome, PastRun, Progress, Spread
from schedmate.model.access import Subscription
from schedmate.model.advice import AdviceState, Basis
from schedmate.service.views.job_view import JobView
from schedmate.service.views.parts import Parts


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


@dataclass(frozen=True, slots=True, kw_only=True)
class WhyAnswer:
    schema: Literal["schedmate.why/1"] = "schedmate.why/1"
    job_id: str
    state: JobState
    reason: str | None
    answer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EtaAnswer:
    schema: Literal["schedmate.eta/1"] = "schedmate.eta/1"
    job_id: str
    state: JobState
    eta_s: Spread | None
    predicted_s: Spread | None
    answer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarRun:
    """A past job that the prediction goes by."""

    job_id: str
    similarity: float
    duration_s: float
    state: JobState | None
    reason: str | None
    name: str


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
class Load:
    """Of one user or partition, or of all."""

    running: int
    pending: int
    gpus_running: int
    gpus_pending: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    schema: Literal["schedmate.summary/1"] = "schedmate.summary/1"
    states: dict[str, int]
    load: Load
    users: dict[str, Load]
    partitions: dict[str, Load]
    failures: dict[str, int]
    """Diagnosed attempts of the listed jobs, by reason."""
    looked_at: float | None
    """When the scheduler was last seen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    schema: Literal["schedmate.identity/1"] = "schedmate.identity/1"
    user: str
    operator: bool


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
    """From 0 to 1."""
    rate_per_s: float | None
    unit: str | None
    gpu_memory_mb: float | None
    gpu_utilization: float | None
    outcome: Outcome | None
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
class SubscriptionAnswer:
    """The channels of the site, and what the asking user is to hear of; null: nothing."""

    schema: Literal["schedmate.subscription/1"] = "schedmate.subscription/1"
    available: tuple[str, ...]
    subscription: Subscription | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedAct:
    """Who did what, as the audit trail has it."""

    at: float
    user: str
    action: str
    about: str
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteStatus:
    """What an operator wants to know at a glance."""

    schema: Literal["schedmate.status/1"] = "schedmate.status/1"
    version: str
    scheduler: str
    mode: str
    daemon: bool
    """Whether one runs on this state directory."""
    seen_at: float | None
    """When the daemon last wrote down something of the scheduler."""
    jobs: dict[str, int]
    """Listed ones, by state."""
    unread: int
    """Failures whose logs could not be read."""
    decisions: dict[str, int]
    """Of the last day, by kind and what became of them: `requeue done`."""
    store_bytes: int
    store_rows: dict[str, int]
    retention_days: float
    retention_bytes: float
    llm_tokens_today: int
    llm_token_budget: int
    tokens_valid: int
    subscribers: int
    notices_waiting: int
    acts: tuple[RecordedAct, ...]
    """The newest ones first."""
