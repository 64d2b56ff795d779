"""History, memory and ledger. `base.py` is the contract, `sqlite.py` the embedded default."""

from schedmate.store.base import (
    Decisions,
    EventLog,
    JobFacts,
    Keep,
    KeptAdvice,
    KeptEvent,
    KeptProgress,
    Runs,
    Spending,
    Store,
)

__all__ = [
    "Decisions",
    "EventLog",
    "JobFacts",
    "Keep",
    "KeptAdvice",
    "KeptEvent",
    "KeptProgress",
    "Runs",
    "Spending",
    "Store",
]
