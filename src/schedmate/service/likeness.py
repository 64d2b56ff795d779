"""How similar runs went: what a job's tracker learns from history."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from schedmate.model import JobState

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schedmate.model import PastRun, RunProfile
    from schedmate.store import KeptAdvice, Store

_MOST = 8


def profiles_like(kept: KeptAdvice | None, store: Store) -> tuple[RunProfile, ...]:
    """Of the runs most like this job that came to their own end, the best ones first."""
    if kept is None:
        return ()
    profiles = {
        (run.job.id, run.job.restarts, run.job.submit_time): run.profile
        for run in _runs(kept, store)
        if run.job.state is JobState.COMPLETED and run.profile is not None
    }
    return tuple(islice(profiles.values(), _MOST))


def _runs(kept: KeptAdvice, store: Store) -> Iterator[PastRun]:
    """The same code with the same arguments, with others, then whatever it was matched with."""
    if kept.fingerprint is not None:
        yield from store.runs_with_fingerprint(kept.fingerprint)
        yield from store.runs_of_code(kept.fingerprint.code)
    for match in kept.advice.prediction.matches:
        run = store.run(match.job_id)
        if run is not None:
            yield run
