"""What everyone speaks of. Imports nothing else of ours.

A verb loads what it uses: each name comes with its own module alone.
"""

from typing import TYPE_CHECKING

from schedmate.lazily import lazily

if TYPE_CHECKING:
    from schedmate.model.action import Action, ActionKind, ActionRecord, ActionState
    from schedmate.model.activity import Activity
    from schedmate.model.advice import Advice, Cost, Match, Outcome, Prediction, Remark, Spread
    from schedmate.model.decision import DecisionReason, ReasonCode
    from schedmate.model.diagnosis import SURE_ENOUGH, Blame, Decision, Diagnosis, Opinion
    from schedmate.model.errors import (
        BadAnswer,
        BadInput,
        BudgetSpent,
        LeaseLost,
        ModelError,
        ModelTooSlow,
        ModelUnavailable,
        NoConsent,
        NotAllowed,
        NotFound,
        NotSignedIn,
        NotThereYet,
        PartlyKnown,
        SchedMateError,
        SchedulerError,
        SchedulerUnreachable,
        ServerUnreachable,
        StoreError,
        StoreUnavailable,
        UnusableStore,
    )
    from schedmate.model.exam import ExamResult, Tier
    from schedmate.model.failures import REASONS, Category, Reason, Retry
    from schedmate.model.history import Fingerprint, GpuUse, PastRun
    from schedmate.model.job import Job, JobId, JobState, Request, Submission, array_of
    from schedmate.model.learned import LearnedPattern, LearntFrom
    from schedmate.model.ledger import CallOutcome, LlmCall
    from schedmate.model.mode import Mode
    from schedmate.model.nodes import NodeCondition, NodeRun, NodeState
    from schedmate.model.ports import (
        Answer,
        Asker,
        FailureMemory,
        FormatMemory,
        History,
        Ledger,
        ReadingCache,
        Subject,
    )
    from schedmate.model.profile import Mark, RunProfile
    from schedmate.model.progress import (
        Checkpoint,
        EarlierRun,
        EarlyWarning,
        EndsBy,
        KnownPause,
        Phase,
        Progress,
        Resume,
        ResumeOutcome,
        RunCourse,
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
    "EarlierRun",
    "EarlyWarning",
    "EndsBy",
    "Evidence",
    "ExamResult",
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
    "LeaseLost",
    "Ledger",
    "LlmCall",
    "Mark",
    "Match",
    "Mode",
    "ModelError",
    "ModelTooSlow",
    "ModelUnavailable",
    "NoConsent",
    "NodeCondition",
    "NodeRun",
    "NodeState",
    "NotAllowed",
    "NotFound",
    "NotSignedIn",
    "NotThereYet",
    "Opinion",
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
    "Resume",
    "ResumeOutcome",
    "Retry",
    "RunCourse",
    "RunProfile",
    "SchedMateError",
    "SchedulerError",
    "SchedulerUnreachable",
    "ServerUnreachable",
    "Silence",
    "Slowdown",
    "Source",
    "Spread",
    "StoreError",
    "StoreUnavailable",
    "Subject",
    "Submission",
    "Tier",
    "Unit",
    "UnusableStore",
    "Workload",
    "array_of",
]

__getattr__ = lazily(
    __name__,
    {
        name: module
        for module, names in {
            "schedmate.model.action": "Action ActionKind ActionRecord ActionState",
            "schedmate.model.activity": "Activity",
            "schedmate.model.advice": "Advice Cost Match Outcome Prediction Remark Spread",
            "schedmate.model.decision": "DecisionReason ReasonCode",
            "schedmate.model.diagnosis": "SURE_ENOUGH Blame Decision Diagnosis Opinion",
            "schedmate.model.errors": (
                "BadAnswer BadInput BudgetSpent LeaseLost ModelError ModelTooSlow "
                "ModelUnavailable NoConsent NotAllowed NotFound NotSignedIn NotThereYet "
                "PartlyKnown SchedMateError SchedulerError SchedulerUnreachable "
                "ServerUnreachable StoreError StoreUnavailable UnusableStore"
            ),
            "schedmate.model.exam": "ExamResult Tier",
            "schedmate.model.failures": "REASONS Category Reason Retry",
            "schedmate.model.history": "Fingerprint GpuUse PastRun",
            "schedmate.model.job": "Job JobId JobState Request Submission array_of",
            "schedmate.model.learned": "LearnedPattern LearntFrom",
            "schedmate.model.ledger": "CallOutcome LlmCall",
            "schedmate.model.mode": "Mode",
            "schedmate.model.nodes": "NodeCondition NodeRun NodeState",
            "schedmate.model.ports": (
                "Answer Asker FailureMemory FormatMemory History Ledger ReadingCache Subject"
            ),
            "schedmate.model.profile": "Mark RunProfile",
            "schedmate.model.progress": (
                "Checkpoint EarlierRun EarlyWarning EndsBy KnownPause Phase Progress Resume "
                "ResumeOutcome RunCourse Silence Slowdown Unit"
            ),
            "schedmate.model.workload": "Evidence Finding Source Workload",
        }.items()
        for name in names.split()
    },
)
