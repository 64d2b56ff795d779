"""By which command lines jobs were submitted, where their scheduler can tell."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from schedmate.model import SchedMateError
from schedmate.schedulers.base import KnowsSubmitLines

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from schedmate.model import JobId
    from schedmate.schedulers.base import Scheduler

_log = logging.getLogger("schedmate.daemon")


def submit_lines(scheduler: Scheduler, ids: Sequence[JobId]) -> Mapping[JobId, str]:
    """As far as the scheduler knows them."""
    if not isinstance(scheduler, KnowsSubmitLines):
        return {}
    try:
        return scheduler.submit_lines(ids)
    except SchedMateError as error:
        _log.warning("how jobs were submitted cannot be asked now: %s", error)
        return {}
