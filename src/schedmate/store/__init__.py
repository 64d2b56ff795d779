"""History, memory and ledger. `base.py` is the contract, `sqlite.py` the embedded default."""

from schedmate.store.base import (
    MEND,
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
from schedmate.store.corrections import KeptCorrection
from schedmate.store.facts import StoredFacts
from schedmate.store.overview import (
    CountSeen,
    DoneAction,
    EtaSeen,
    Overviews,
    PersonsAct,
    RunSummary,
)

__all__ = [
    "MEND",
    "Change",
    "CountSeen",
    "Decisions",
    "DoneAction",
    "EtaSeen",
    "EventLog",
    "JobFacts",
    "Keep",
    "KeptAdvice",
    "KeptCorrection",
    "KeptEvent",
    "KeptProgress",
    "Lease",
    "Listing",
    "Moved",
    "OnTable",
    "Overviews",
    "PersonsAct",
    "RunSummary",
    "Runs",
    "Spending",
    "Store",
    "StoredFacts",
]
