"""The contract of the store: one small Protocol for each user of it, and all of them together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from schedmate.model import FormatMemory, JobId, Ledger, ReadingCache
from schedmate.model.ports import Experience
from schedmate.store.identities import JobIdentities
from schedmate.store.notices import Notices
from schedmate.store.overview import Overviews
from schedmate.store.tokens import Tokens

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from contextlib import AbstractContextManager

    from schedmate.model import (
        Action,
        ActionRecord,
        ActionState,
        Advice,
        Diagnosis,
        Fingerprint,
        GpuUse,
        Job,
        NodeRun,
        PastRun,
        Progress,
        Resume,
        RunProfile,
    )
    from schedmate.store.corrections import KeptCorrection
    from schedmate.store.facts import StoredFacts


MEND = (
    "stop the daemon and go back to a copy with `schedmate store restore FILE`, or move it away to"
    " start afresh"
)
"""What to do about a file that is damaged."""


@dataclass(frozen=True, slots=True)
class KeptAdvice:
    advice: Advice
    fingerprint: Fingerprint | None


@dataclass(frozen=True, slots=True)
class KeptProgress:
    """`at` is when it was seen: its remaining time grows stale."""

    progress: Progress
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """What the language model has cost in all."""

    questions: int
    calls: int
    tokens: int
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptEvent:
    """One event of the decision engine, as the log keeps it; `id` grows with time."""

    id: int = 0
    at: float
    kind: str
    job_id: JobId
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Keep:
    """For how many days, and how much in all."""

    days: float
    bytes: float
    step: int = 500
    """Rows that go at once."""


@dataclass(frozen=True, slots=True)
class Change:
    """Something of a job has changed; numbers grow with time."""

    number: int
    job_id: JobId


@dataclass(frozen=True, slots=True)
class Moved:
    """How many rows of each table were copied to another database."""

    rows: dict[str, int]


class OnTable(Protocol):
    """Hears how many of a table's rows are copied, and how many there are."""

    def __call__(self, table: str, done: int, total: int, /) -> None: ...


class Lease(Protocol):
    """Says which of several daemons of one store decides."""

    holder: str
    held: bool

    def take(self) -> bool:
        """Where it is free, has run out or is ours already; it is renewed from then on."""

    def other_holder(self) -> str: ...

    def release(self) -> None: ...


class Runs(Protocol):
    """Ended runs: what the history consists of."""

    def created_at(self) -> float:
        """When this store was first opened: what ended before is not ours to act upon."""

    def keep_run(self, run: PastRun) -> None:
        """Remember an ended run; the same attempt again replaces it.

        The state of following it is forgotten.
        """

    def keep_runs(self, runs: Sequence[PastRun]) -> None:
        """Many at once, all or none."""

    def page_of_runs(
        self, *, user: str | None, reason: str | None = None, limit: int, offset: int
    ) -> Sequence[PastRun]:
        """The newest runs, of one user or of everybody, behind the first `offset` of them.

        With `reason` those that were diagnosed with it.
        """

    def run(self, job_id: JobId, attempt: int | None = None) -> PastRun | None:
        """One attempt of a job, by default the last one; see `JobIdentities.called`."""

    def completed_profiles(
        self, fingerprint: Fingerprint, *, limit: int
    ) -> dict[tuple[JobId, int, float], RunProfile]:
        """How runs of the same code went that completed, by job, attempt and submission.

        Those with the same arguments come first, the newest before the older ones.
        """

    def run_before(self, job: Job, fingerprint: Fingerprint) -> PastRun | None:
        """The last one that another job of its owner ended with the same code, arguments and
        directory."""

    def resumes(self, code: str, user: str) -> dict[tuple[JobId, int], Resume]:
        """Of this user's newest runs of this code that followed another one: how they began, by job
        and attempt; those whose logs show it."""

    def gpu_uses(self, code: str, *, least_s: float) -> Sequence[GpuUse]:
        """What the newest runs of this code that ran for so long needed of a GPU, those of which
        both memory and utilization were measured."""

    def profiles_alone(
        self, code: str, arguments: str, *, least_shards: int
    ) -> Sequence[RunProfile]:
        """How the newest runs of the same went that had whole GPUs, or so many parts of one."""

    def attempts_with_code(self) -> set[tuple[JobId, int]]:
        """Attempts of this scheduler's jobs whose code is known."""

    def sources_of(self, job_id: JobId) -> Sequence[str]:
        """The schedulers and tables with a run of a job of this id, the newest run first."""

    def node_runs(self, *, since: float, limit: int = 20_000) -> Sequence[NodeRun]:
        """The newest ended runs of this scheduler on nodes, with what they died of."""


class JobFacts(Protocol):
    """What the components found out about jobs that wait, run or have just ended."""

    def keep_advice(self, job_id: JobId, kept: KeptAdvice) -> None: ...

    def advice(self, job_id: JobId) -> KeptAdvice | None: ...

    def keep_progress(
        self, job_id: JobId, attempt: int, progress: Progress, *, at: float
    ) -> None: ...

    def progress(self, job_id: JobId, attempt: int) -> KeptProgress | None:
        """How far this attempt was at the last look; only of the newest it is kept."""

    def keep_tracking(self, job_id: JobId, attempt: int, state: str) -> None:
        """Where following this attempt's logs would go on after a restart."""

    def tracking(self, job_id: JobId, attempt: int) -> str | None:
        """Only of the newest attempt it is kept."""

    def keep_diagnosis(
        self,
        job_id: JobId,
        attempt: int,
        diagnosis: Diagnosis,
        *,
        correction: KeptCorrection | None = None,
    ) -> None:
        """`correction`: a person stated it."""

    def correction(self, job_id: JobId, attempt: int) -> KeptCorrection | None:
        """None where the diagnosis of this attempt is not a person's."""

    def diagnoses(self, job_id: JobId) -> dict[int, Diagnosis]:
        """By attempt."""

    def job_facts(self, job_ids: Sequence[JobId]) -> dict[JobId, StoredFacts]:
        """All of this, of many jobs at once."""

    def noticed(self, job_ids: Sequence[JobId]) -> set[JobId]:
        """Those of them whose progress has a warning, or whose advice an error."""


class Decisions(Protocol):
    """The decisions of the engine and what became of them."""

    def intend(self, action: Action, *, at: float, state: ActionState = "intended") -> bool:
        """Write down an action before it is done; False when it is written down already."""

    def settle(self, action: Action, state: ActionState, *, at: float, note: str = "") -> None:
        """Say how an intended action went."""

    def actions(
        self,
        *,
        job_id: JobId | None = None,
        state: ActionState | None = None,
        since: float | None = None,
    ) -> Sequence[ActionRecord]:
        """Oldest first; `since` is about when their state last changed."""


class EventLog(Protocol):
    """The events that were sent to the decision engine, in order, as far back as the log goes."""

    def keep_events(
        self, events: Sequence[KeptEvent], *, most: int, head: str = "", handled: bool = True
    ) -> None:
        """Append; the oldest go where there are more than `most`.

        Of the kind `head` the newest one that would go stays: what follows depends on it. Those
        that are not `handled` are left for the daemon.
        """

    def events(self, *, after: int = 0, limit: int = 10_000) -> Sequence[KeptEvent]:
        """Oldest first, those behind the one with this id."""

    def unhandled_events(self) -> Sequence[KeptEvent]:
        """What verbs have left for the daemon; each is handed out until it is marked."""

    def mark_handled(self, event_id: int) -> None: ...


class Listing(Protocol):
    """The scheduler's jobs as the daemon saw them last, for those that only look on."""

    def keep_listed(self, jobs: Sequence[Job], gone: Sequence[JobId] = ()) -> Sequence[Job]:
        """These are new or have changed; those are no longer listed.

        Returns the former as the store calls them.
        """

    def listed(self, job_id: JobId) -> Job | None: ...

    def listed_jobs(self, job_ids: Sequence[JobId] | None = None) -> Sequence[Job]:
        """All, or those of these ids that are listed."""

    def newest_progress(self) -> float | None:
        """When the log of a listed job was last looked at."""

    def newest_change(self) -> int: ...

    def changes(self, *, after: int, limit: int = 1000) -> Sequence[Change]:
        """Jobs of which anything has changed since, oldest first; each once, at its newest."""


class Store(
    JobIdentities,
    Experience,
    ReadingCache,
    FormatMemory,
    Ledger,
    Runs,
    JobFacts,
    Decisions,
    EventLog,
    Listing,
    Tokens,
    Notices,
    Overviews,
    Protocol,
):
    """Jobs are those of one scheduler; what was learnt from them is shared by all.

    Every method is one transaction: a crash leaves it done or not begun.
    """

    def close(self) -> None: ...

    def together(self) -> AbstractContextManager[None]:
        """What is done within is one transaction, and costs one."""

    def sizes(self) -> dict[str, int]:
        """How many rows there are of each kind."""

    def used_bytes(self) -> int:
        """Without space that is free for new rows."""

    def drop_old(self, keep: Keep, *, head: str, listed: Collection[JobId], now: float) -> bool:
        """One small step of retention; whether there may be more to do.

        `head` is the kind of event of which the newest stays, `listed` are the jobs that the
        scheduler still knows: these are left alone.
        """

    def compact(self) -> None:
        """Give free space back to the disk."""

    def check_integrity(self) -> None:
        """UnusableStore where it is damaged; reads all of it."""

    def check_writable(self) -> None:
        """Write a little; StoreUnavailable where the disk is full or gone."""

    def spending(self) -> Spending: ...
