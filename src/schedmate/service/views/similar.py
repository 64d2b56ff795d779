"""The past runs that a prediction goes by, as far as a viewer may see them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedmate.model.legible import short_name
from schedmate.service.views.answers import SimilarRun, SimilarRuns

if TYPE_CHECKING:
    from schedmate.service.views.job_view import JobView
    from schedmate.service.visibility import Viewer
    from schedmate.store import Store


def similar_runs(view: JobView, store: Store, viewer: Viewer) -> SimilarRuns:
    """`view` is as the viewer sees it: matches of other users are not in it."""
    made = None if view.advice is None else view.advice.prediction
    runs = []
    for match in () if made is None else made.matches:
        run = store.run(match.job)
        shown = None if run is None else viewer.run(run)
        readable = run is not None and viewer.may_read(run.job.user)
        runs.append(
            SimilarRun(
                job_id=match.job_id if run is None else run.job.id,
                similarity=match.similarity,
                duration_s=match.duration_s,
                state=None if shown is None else shown.job.state,
                reason=store.failure_reason(run) if run is not None and readable else None,
                name="" if shown is None else short_name(shown.job.name),
                ended_at=None if shown is None else shown.job.end_time,
            )
        )
    explanation = "" if made is None else made.explanation
    return SimilarRuns(job_id=view.job.id, explanation=explanation, runs=tuple(runs))
