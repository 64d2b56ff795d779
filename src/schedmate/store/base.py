"""The contract of the store: what the house remembers, behind one small interface."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from schedmate.model import FormatMemory, Ledger, ReadingCache
from schedmate.model.ports import Experience

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from schedmate.model import (
        Action,
        ActionRecord,
        ActionState,
        Advice,
        Diagnosis,
        Fingerprint,
        JobId,
        NodeRun,
        PastRun,
        Progress,
    )


@dataclass(frozen=True, slots=True)
class KeptAdvice:
    advice: Advice
    fingerprint: Fingerprint | None


@dataclass(frozen=True, slots=True)
class KeptProgress:
    """`at` is when it was seen: what it says of the time left grows old."""

    progress: Progress
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """What the language model has cost in all."""

    questions: int
    calls: int
    tokens: int
    seconds: float


class Store(Experience, ReadingCache, FormatMemory, Ledger, Protocol):
    """Jobs are those of one scheduler; what was learnt from them is shared by all.

    Every method is one transaction: a crash leaves it done or not begun.
    """

    def close(self) -> None: ...

    def together(self) -> AbstractContextManager[None]:
        """What is done within is one transaction, and costs one."""

    def created_at(self) -> float:
        """When this store was first opened: what ended before is not ours to act upon."""

    def keep_run(self, run: PastRun) -> None:
        """Remember an ended run; the same attempt again replaces it.

        Nobody follows it any more: the state of following it is forgotten.
        """

    def keep_runs(self, runs: Sequence[PastRun]) -> None:
        """Many at once, all or none."""

    def run(self, job_id: JobId, attempt: int | None = None) -> PastRun | None:
        """One attempt of a job, the last one unless told which."""

    def node_runs(self, *, since: float, limit: int = 20_000) -> Sequence[NodeRun]:
        """The newest ended runs of this scheduler on nodes, with what they died of."""

    def keep_advice(self, job_id: JobId, kept: KeptAdvice) -> None: ...

    def advice(self, job_id: JobId) -> KeptAdvice | None: ...

    def keep_progress(
        self, job_id: JobId, attempt: int, progress: Progress, *, at: float
    ) -> None: ...

    def progress(self, job_id: JobId, attempt: int) -> KeptProgress | None:
        """How far this attempt was when somebody last looked; only of the newest it is kept."""

    def keep_tracking(self, job_id: JobId, attempt: int, state: str) -> None:
        """Where following this attempt's logs would go on after a restart."""

    def tracking(self, job_id: JobId, attempt: int) -> str | None:
        """Only of the newest attempt it is kept."""

    def keep_diagnosis(self, job_id: JobId, attempt: int, diagnosis: Diagnosis) -> None: ...

    def diagnoses(self, job_id: JobId) -> dict[int, Diagnosis]:
        """By attempt."""

    def intend(self, action: Action, *, at: float, state: ActionState = "intended") -> bool:
        """Write down an action before it is done; False when it is written down already."""

    def settle(self, action: Action, state: ActionState, *, at: float, note: str = "") -> None:
        """Say how an intended action went."""

    def actions(
        self, *, job_id: JobId | None = None, state: ActionState | None = None
    ) -> Sequence[ActionRecord]:
        """Oldest first."""

    def spending(self) -> Spending: ...
