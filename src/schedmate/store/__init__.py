"""History, memory and ledger. `base.py` is the contract, `sqlite.py` the embedded default."""

from schedmate.store.base import KeptAdvice, KeptProgress, Spending, Store

__all__ = ["KeptAdvice", "KeptProgress", "Spending", "Store"]
