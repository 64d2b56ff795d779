"""A diagnosis that a person has corrected: kept, and left for the decision engine."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from schedmate.core import JobDiagnosed
from schedmate.service.attempts import reached_in
from schedmate.service.event_log import MOST_EVENTS, kept

if TYPE_CHECKING:
    from schedmate.model import Diagnosis, Job
    from schedmate.store import Store


def record_correction(store: Store, job: Job, diagnosis: Diagnosis) -> None:
    event = JobDiagnosed(
        time.time(),
        job.id,
        job.restarts,
        diagnosis,
        reached=reached_in(job, store),
        by="person",
    )
    with store.together():
        store.keep_diagnosis(job.id, job.restarts, diagnosis)
        store.keep_events([kept(event)], most=MOST_EVENTS, handled=False)
