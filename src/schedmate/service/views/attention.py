"""Which jobs a person should look at first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedmate.model import JobState

if TYPE_CHECKING:
    from collections.abc import Container

    from schedmate.model import Job, JobId
    from schedmate.service.views.job_view import JobView
    from schedmate.service.visibility import Viewer


def is_noticed(view: JobView) -> bool:
    """Whether its run warns, or its code has an error that it will fail of."""
    progress = view.progress if view.job.state is JobState.RUNNING else None
    warns = progress is not None and (bool(progress.warnings) or progress.phase == "stalled")
    return warns or bool(view.errors)


def attention_rank(job: Job, viewer: Viewer, noticed: Container[JobId]) -> int:
    """What needs the viewer's attention, then all that is theirs, then what is others'."""
    mine = job.user == viewer.user
    needs_it = job.state.failed or job.held or job.id in noticed
    if needs_it and viewer.may_read(job.user):
        return 0 if mine else 1
    return 2 if mine else 3
