"""The audit trail: who did what, by a page, the API or a verb, and who failed to sign in.

Secrets in what a person wrote are masked before it is kept: operators read it, and it is exported.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from schedmate.model.access import CORRECTION, WITHDRAWAL
from schedmate.model.account import account_name
from schedmate.model.masking import masked
from schedmate.store import PersonsAct

if TYPE_CHECKING:
    from schedmate.store import Store

__all__ = [
    "CORRECTION",
    "FAILED_SIGN_IN",
    "WITHDRAWAL",
    "record_act",
    "record_failed_sign_in",
]
FAILED_SIGN_IN = "failed sign-in"
MOST_FAILED = 1000
"""Failed sign-ins that are kept, the newest ones: strangers must not fill the store."""


def record_act(
    store: Store, action: str, about: str, detail: str = "", *, user: str | None = None
) -> None:
    """`user` is who did it; None: the account of this process."""
    done_by = account_name() if user is None else user
    act = PersonsAct(at=time.time(), user=done_by, action=action, about=about, detail=detail)
    store.record_act(masked(act))


def record_failed_sign_in(store: Store, address: str, detail: str, *, user: str = "") -> None:
    """`user` is the account of this machine that the attempt came from, where one is known."""
    act = PersonsAct(
        at=time.time(), user=user, action=FAILED_SIGN_IN, about=f"address {address}", detail=detail
    )
    store.record_act(masked(act), newest=MOST_FAILED)
