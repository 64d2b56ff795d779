"""Why a job failed, whose fault it was, and the right next step."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

from schedmate.model.advice import Cost
from schedmate.model.failures import Category, Retry
from schedmate.model.workload import Evidence

SURE_ENOUGH: Final = 0.5
"""Below that a diagnosis is a guess: somebody may know better, and no node is blamed."""
DiagnosisSource = Literal["rule", "memory", "llm", "none"]
Reporter = Literal["job", "scheduler", "outside"]
"""Where a piece of evidence comes from: the job's own output, end or exit code, the scheduler's
records of the job and its nodes, or a system log that the job cannot write."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Blame:
    nodes: tuple[str, ...] = ()
    nodes_by: Reporter = "job"
    """Whose evidence names the nodes."""
    ranks: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    retry: Retry
    exclude_nodes: tuple[str, ...] = ()
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinion:
    """What a model that read the failure for itself makes of it: advice, labelled as such."""

    model: str
    reason: str
    agrees: bool
    """Whether it names the reason that the rules gave."""
    sure: Literal["sure", "likely", "guess"]
    rules_reason: str
    evidence: tuple[Evidence, ...] = ()
    """Lines of the logs that it quoted, as they are there."""
    chain: tuple[str, ...] = ()
    """What followed from what, in order."""
    change: str = ""
    """What the user should change."""
    code: Evidence | None = None
    """The line of the job's files to change, as it is there."""
    refuted_by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    schema: Literal["schedmate.diagnosis/1"] = "schedmate.diagnosis/1"
    reason: str
    category: Category
    summary: str
    evidence: tuple[Evidence, ...] = ()
    blame: Blame = field(default_factory=Blame)
    confidence: float
    source: DiagnosisSource
    decision: Decision
    reported_by: Reporter = "job"
    """Whose evidence shows the cause."""
    suggestion: str = ""
    rule: str = ""
    """Which rule answered: a built-in one by its reason and place, a learned one or a correction of
    the same failure by its id."""
    unread_logs: tuple[str, ...] = ()
    """Logs that are there and could not be read: the diagnosis may change once they can be."""
    last_lines: tuple[Evidence, ...] = ()
    """The ends of its logs without secrets, where another run may overwrite them."""
    signature: str = ""
    """What stays the same when the same failure comes again at the same place."""
    opinion: Opinion | None = None
    cost: Cost = field(default_factory=Cost)
