"""Answers about the whole site and its users as values, for the API, the verbs and the client."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from schedmate.handler.suspects import Against
from schedmate.model import ExamResult, NodeState, Tier
from schedmate.model.access import Subscription, Token
from schedmate.model.lessons import LearnedRule, PastFailure
from schedmate.service.records.pause import Pause
from schedmate.service.views.accuracy import DiagnosisScore, Score
from schedmate.service.views.effects import Effects
from schedmate.service.views.model_use import PurposeUse
from schedmate.service.views.site_load import FailureKind, Load
from schedmate.store import PersonsAct, Spending


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """One value for each interval."""

    name: str
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OverTime:
    """Intervals of `step_s` seconds from `begin` on, one series a name, the largest first."""

    begin: float
    step_s: float
    series: tuple[Series, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingJob:
    job_id: str
    name: str
    user: str
    partition: str
    gpus: int
    nodes: int
    tasks: int
    waits_s: float
    start_s: float | None
    """From now to when it could start; null where that is unknown."""
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterAnswer:
    """GPUs in use over time, who holds and waits for how much, and until when."""

    schema: Literal["schedmate.cluster/1"] = "schedmate.cluster/1"
    use: OverTime
    counts_jobs: bool
    """No job asked for GPUs: running jobs are counted."""
    users: tuple[Load, ...]
    partitions: tuple[Load, ...]
    waiting: tuple[WaitingJob, ...]
    """In the order of their turns."""
    total: int
    """How many wait, on all pages."""
    next: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeAnswer(NodeState):
    suspect: bool
    probability: float
    failures: int
    successes: int
    users: int
    evidence: tuple[Against, ...]
    """Failures held against it; for who is no operator those of the asker's own jobs."""
    running: int | None
    """Jobs on it now; null where they were not counted."""
    command: str | None
    """What an operator would run to take a suspect node out; null for all others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodesPage:
    schema: Literal["schedmate.nodes/1"] = "schedmate.nodes/1"
    nodes: tuple[NodeAnswer, ...]
    """The most suspect first."""
    total: int
    next: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FailuresAnswer:
    schema: Literal["schedmate.failures/1"] = "schedmate.failures/1"
    over_time: OverTime
    """Failures by reason; for who is no operator those of others without it."""
    ended_over_time: tuple[int, ...]
    """All runs that ended in each interval."""
    kinds: tuple[FailureKind, ...]
    ended: int
    failed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WeekError:
    at: float
    """The end of the week."""
    error: float


@dataclass(frozen=True, slots=True, kw_only=True)
class AccuracyAnswer:
    """How good predictions, shown ends and diagnoses have been here in the last 90 days."""

    schema: Literal["schedmate.accuracy/1"] = "schedmate.accuracy/1"
    predictions: tuple[Score, ...]
    etas: tuple[Score, ...]
    diagnoses: DiagnosisScore
    by_week: tuple[WeekError, ...]
    """The error of predictions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAnswer:
    """What the language model was asked for and what it cost."""

    schema: Literal["schedmate.model_use/1"] = "schedmate.model_use/1"
    enabled: bool
    questions: int
    tokens: int
    over_time: OverTime
    """Tokens by purpose."""
    purposes: tuple[PurposeUse, ...]
    models: dict[str, int]
    """Questions to each."""
    spent: Spending
    """Since the store was made."""
    tier: Tier = "none"
    """How much it is asked."""
    exam: ExamResult | None = None
    """By which that is so; null: it was not examined."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RulesPage:
    schema: Literal["schedmate.learned_rules/1"] = "schedmate.learned_rules/1"
    rules: tuple[LearnedRule, ...]
    """Of the asker's own logs; for operators all."""
    total: int
    next: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleAnswer(LearnedRule):
    schema: Literal["schedmate.learned_rule/1"] = "schedmate.learned_rule/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectionsPage:
    schema: Literal["schedmate.corrections/1"] = "schedmate.corrections/1"
    corrections: tuple[PastFailure, ...]
    next: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    schema: Literal["schedmate.summary/1"] = "schedmate.summary/1"
    states: dict[str, int]
    load: Load
    users: dict[str, Load]
    partitions: dict[str, Load]
    failures: dict[str, int]
    """Diagnosed attempts of the listed jobs whose text the asker may read, by reason."""
    looked_at: float | None
    """When the scheduler was last seen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    schema: Literal["schedmate.identity/1"] = "schedmate.identity/1"
    user: str
    operator: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenAnswer(Token):
    schema: Literal["schedmate.token/1"] = "schedmate.token/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewToken(TokenAnswer):
    secret: str
    """Shown this once."""
    warning: str = ""
    """That neither accounts nor jobs of such a user are known, where a proxy may know them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokensPage:
    schema: Literal["schedmate.tokens/1"] = "schedmate.tokens/1"
    tokens: tuple[Token, ...]
    total: int
    next: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscriptionAnswer:
    """The channels of the site, and what the asking user is to hear of; null: nothing."""

    schema: Literal["schedmate.subscription/1"] = "schedmate.subscription/1"
    available: tuple[str, ...]
    subscription: Subscription | None
    told_at: str | None = None
    """Where the local queue tells of every job that ends, without its secret; null: nowhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelTest:
    channel: str
    sent: bool
    reason: str = ""
    """Why it could not be sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotificationTest:
    """A message that only says that messages arrive."""

    schema: Literal["schedmate.notification_test/1"] = "schedmate.notification_test/1"
    results: tuple[ChannelTest, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PauseAnswer:
    schema: Literal["schedmate.pause/1"] = "schedmate.pause/1"
    paused: Pause | None
    """Null: actions are carried out as the mode allows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuCounts:
    """What the GPUs of a local queue do; one is counted once, in the order of these fields."""

    drained: int = 0
    running: int = 0
    """Held by jobs of the queue."""
    withheld: int = 0
    """Used or locked by others."""
    free: int = 0
    busy: float | None = None
    """From 0 to 1, in the mean of those of which it is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteStatus:
    """What an operator wants to know at a glance."""

    schema: Literal["schedmate.status/1"] = "schedmate.status/1"
    version: str
    scheduler: str
    mode: str
    daemon: bool
    """Whether one runs on this state directory."""
    paused: Pause | None = None
    """Since when an operator lets nothing be done; null: nobody does."""
    seen_at: float | None
    """When the daemon last wrote down something of the scheduler."""
    jobs: dict[str, int]
    """Listed ones, by state."""
    gpus: GpuCounts | None = None
    """Of the local queue; null: there are none, or they could not be asked."""
    unread: int
    """Failures whose logs could not be read."""
    decisions: dict[str, int]
    """Of the last day, by kind and what became of them: `requeue done`."""
    effects: Effects = field(default_factory=Effects)
    """What came of what was done."""
    unordered_starts: int
    """Jobs of the last day that started before they were ordered, ahead of some that were."""
    store_bytes: int
    store_rows: dict[str, int]
    retention_days: float
    retention_bytes: float
    llm_tokens_today: int
    llm_token_budget: int
    tokens_valid: int
    subscribers: int
    notices_waiting: int
    acts: tuple[PersonsAct, ...]
    """The newest ones first."""
