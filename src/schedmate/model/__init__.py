"""What everyone speaks of. Imports nothing else of ours."""

from schedmate.model.action import Action, ActionKind, ActionRecord, ActionState, Mode
from schedmate.model.activity import Activity
from schedmate.model.advice import Advice, Cost, Match, Outcome, Prediction, Remark, Spread
from schedmate.model.decision import DecisionReason, ReasonCode
from schedmate.model.diagnosis import SURE_ENOUGH, Blame, Decision, Diagnosis
from schedmate.model.errors import (
    BadAnswer,
    BadInput,
    BudgetSpent,
    ModelError,
    ModelTooSlow,
    ModelUnavailable,
    NotFound,
    NotThereYet,
    PartlyKnown,
    SchedMateError,
    SchedulerError,
    SchedulerUnreachable,
)
from schedmate.model.failures import REASONS, Category, Reason, Retry
from schedmate.model.history import Fingerprint, GpuUse, PastRun
from schedmate.model.job import Job, JobId, JobState, Request, Submission
from schedmate.model.learned import LearnedPattern, LearntFrom
from schedmate.model.ledger import CallOutcome, LlmCall
from schedmate.model.nodes import NodeCondition, NodeRun, NodeState
from schedmate.model.ports import (
    Answer,
    Asker,
    FailureMemory,
    FormatMemory,
    History,
    Ledger,
    ReadingCache,
)
from schedmate.model.profile import Mark, RunProfile
from schedmate.model.progress import (
    Checkpoint,
    EarlyWarning,
    EndsBy,
    KnownPause,
    Phase,
    Progress,
    Silence,
    Slowdown,
    Unit,
)
from schedmate.model.workload import Evidence, Finding, Source, Workload

__all__ = [
    "REASONS",
    "SURE_ENOUGH",
    "Action",
    "ActionKind",
    "ActionRecord",
    "ActionState",
    "Activity",
    "Advice",
    "Answer",
    "Asker",
    "BadAnswer",
    "BadInput",
    "Blame",
    "BudgetSpent",
    "CallOutcome",
    "Category",
    "Checkpoint",
    "Cost",
    "Decision",
    "DecisionReason",
    "Diagnosis",
    "EarlyWarning",
    "EndsBy",
    "Evidence",
    "FailureMemory",
    "Finding",
    "Fingerprint",
    "FormatMemory",
    "GpuUse",
    "History",
    "Job",
    "JobId",
    "JobState",
    "KnownPause",
    "LearnedPattern",
    "LearntFrom",
    "Ledger",
    "LlmCall",
    "Mark",
    "Match",
    "Mode",
    "ModelError",
    "ModelTooSlow",
    "ModelUnavailable",
    "NodeCondition",
    "NodeRun",
    "NodeState",
    "NotFound",
    "NotThereYet",
    "Outcome",
    "PartlyKnown",
    "PastRun",
    "Phase",
    "Prediction",
    "Progress",
    "ReadingCache",
    "Reason",
    "ReasonCode",
    "Remark",
    "Request",
    "Retry",
    "RunProfile",
    "SchedMateError",
    "SchedulerError",
    "SchedulerUnreachable",
    "Silence",
    "Slowdown",
    "Source",
    "Spread",
    "Submission",
    "Unit",
    "Workload",
]
