"""History, memory and ledger. `base.py` is the contract, `sqlite.py` the embedded default."""

from schedmate.store.base import (
    Change,
    Decisions,
    EventLog,
    JobFacts,
    Keep,
    KeptAdvice,
    KeptEvent,
    KeptProgress,
    Lease,
    Listing,
    Moved,
    OnTable,
    Runs,
    Spending,
    Store,
)

__all__ = [
    "Change",
    "Decisions",
    "EventLog",
    "JobFacts",
    "Keep",
    "KeptAdvice",
    "KeptEvent",
    "KeptProgress",
    "Lease",
    "Listing",
    "Moved",
    "OnTable",
    "Runs",
    "Spending",
    "Store",
]
