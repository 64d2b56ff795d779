"""What the components need from outside, as Protocols that the outside fulfils."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pydantic import BaseModel

    from schedmate.model.advice import Cost
    from schedmate.model.exam import ExamResult, Tier
    from schedmate.model.history import Fingerprint, PastRun
    from schedmate.model.job import Job
    from schedmate.model.learned import LearnedPattern
    from schedmate.model.ledger import Exchange, LlmCall
    from schedmate.model.lessons import LearnedRule, PastFailure, Teacher

T = TypeVar("T", bound="BaseModel")


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """A validated value, what it cost, and who gave it."""

    value: T
    cost: Cost
    model: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """The job that a question is about: whose words leave the machine, and who may see them."""

    user: str = ""
    job_id: str = ""
    workdir: str = ""
    comment: str = ""
    """What the job was submitted with; a word of it may forbid models."""


class Asker(Protocol):
    """The one way to ask a language model."""

    @property
    def tier(self) -> Tier:
        """How much the model that would answer now is asked; no question is sent to find out."""

    def ask(
        self,
        schema: type[T],
        prompt: str,
        *,
        purpose: str,
        system: str = "",
        max_tokens: int = 256,
        about: Subject | None = None,
    ) -> Answer[T]:
        """Return a validated `schema`, or raise a `ModelError`."""


class History(Protocol):
    """Past runs, newest first."""

    def runs_with_fingerprint(self, fingerprint: Fingerprint) -> Sequence[PastRun]:
        """Runs of the same code with the same arguments."""

    def runs_of_code(self, code: str) -> Sequence[PastRun]:
        """Runs of the same code with any arguments."""

    def recent_runs(self, *, user: str | None = None, limit: int = 1000) -> Sequence[PastRun]:
        """The newest runs, of one user or of everybody."""

    def recent_jobs(self, *, limit: int) -> Iterable[Job]:
        """The jobs of the newest runs, without what was read of them."""

    def sketches(self, keys: Sequence[int], *, limit: int = 300) -> bytes:
        """Rows of `model.sketch`: of each of these `blocks` the newest configurations' last run."""

    def repeats(self, numbers: Sequence[int], *, limit: int) -> bytes:
        """Rows of the newest runs of the configurations that these runs are of."""

    def newest_sketches(self, limit: int) -> bytes:
        """Rows of the newest runs of all."""

    def runs_numbered(self, numbers: Sequence[int]) -> Sequence[PastRun]:
        """Those of these numbers, as rows of sketches give them, in this order."""

    def learnt(self, name: str) -> str | None:
        """What was learnt from all of it, as it was kept."""

    def keep_learnt(self, name: str, body: str, *, at: float) -> None: ...

    def failure_reason(self, run: PastRun) -> str | None:
        """What a failed run died of, where it was diagnosed."""


class ReadingCache(Protocol):
    """What was read, as text, by the content of exactly the files and arguments it came from."""

    def cached_reading(self, key: str) -> str | None: ...

    def cache_reading(self, key: str, reading: str) -> None: ...


class FailureMemory(Protocol):
    """Earlier answers about failures; a person's goes before a model's."""

    def recall_failures(self, signatures: Sequence[str]) -> dict[str, PastFailure]:
        """By those of the signatures that are known."""

    def remember_failure(self, failure: PastFailure) -> None:
        """The same teacher's earlier answer about the same signatures is replaced."""

    def past_failures(
        self, *, teacher: Teacher | None = None, limit: int = 1000
    ) -> Sequence[PastFailure]:
        """Newest first."""

    def forget_failure(self, failure_id: str) -> bool:
        """False when there is none."""


class RuleShelf(Protocol):
    """Rules that were learnt, the refused and the disabled ones among them."""

    def learned_rules(self) -> Sequence[LearnedRule]:
        """Oldest first."""

    def keep_rule(self, rule: LearnedRule) -> None:
        """The same id again replaces it."""

    def remove_rule(self, rule_id: str) -> bool:
        """False when there is none."""

    def count_rule_hit(self, rule_id: str, *, at: float) -> None: ...

    def forget_lessons(self, *, teacher: Teacher) -> Sequence[str]:
        """Remove every answer and every rule of that teacher; return their ids."""


class Experience(FailureMemory, RuleShelf, History, Protocol):
    """What failures have taught, and the runs that ended well against which it is checked."""


class FormatMemory(Protocol):
    """Log formats that were learnt, by the workload that writes them."""

    def learned_pattern(self, workload: str) -> LearnedPattern | None: ...

    def learn_pattern(self, workload: str, pattern: LearnedPattern) -> None: ...

    def unlearn_pattern(self, workload: str) -> None:
        """It read a later line wrongly: forget it."""


class Ledger(Protocol):
    """What was asked, what it cost, and the answers by content, so that nothing is asked twice."""

    def record_call(self, call: LlmCall) -> None: ...

    def tokens_spent(self, *, since: float) -> int: ...

    def cached_answer(self, key: str) -> str | None: ...

    def cache_answer(self, key: str, answer: str) -> None: ...

    def keep_exchange(self, exchange: Exchange) -> None:
        """Every request is kept as it was sent."""

    def exchanges(
        self,
        *,
        user: str | None = None,
        job_id: str | None = None,
        purpose: str | None = None,
        limit: int = 20,
    ) -> Sequence[Exchange]:
        """Newest first; of all users and jobs where none is named."""

    def exam_of(self, identity: str) -> ExamResult | None:
        """Of this endpoint and model, by today's questions."""

    def keep_exam(self, result: ExamResult) -> None: ...
