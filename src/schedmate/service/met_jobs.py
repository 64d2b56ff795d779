"""Jobs of a scheduler as the store calls them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedmate.model import PartlyKnown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedmate.model import Job, JobId
    from schedmate.schedulers.base import Scheduler
    from schedmate.store import Store


def met_jobs(
    scheduler: Scheduler, store: Store, ids: Sequence[JobId] | None = None
) -> Sequence[Job]:
    """See `Scheduler.jobs`. From here on their numbers stand for them in the store, and for no
    job that had one of them before."""
    try:
        return store.meet(scheduler.jobs(ids))
    except PartlyKnown as error:
        raise PartlyKnown(str(error), store.meet(error.found)) from error
