"""An operator pauses all actions, or lets them go on."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from schedmate.model.account import account_name
from schedmate.service.records.pause import Pause, keep_pause
from schedmate.service.usecases.audit import record_act

if TYPE_CHECKING:
    from schedmate.store import Store

_ABOUT = "daemon"


def pause(store: Store, for_s: float | None = None, *, user: str | None = None) -> Pause:
    """From now on, for so long or until `resume`; who pauses again sets both anew."""
    now = time.time()
    until = None if for_s is None else now + for_s
    made = Pause(by=account_name() if user is None else user, since=now, until=until)
    keep_pause(store, made, at=now)
    record_act(store, "pause", _ABOUT, "" if for_s is None else f"for {for_s:.0f} s", user=user)
    return made


def resume(store: Store, *, user: str | None = None) -> None:
    keep_pause(store, None, at=time.time())
    record_act(store, "resume", _ABOUT, user=user)
