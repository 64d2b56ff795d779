"""A job that its scheduler failed without a run is no failure to retry."""

from __future__ import annotations

from schedmate.core.instructions import Diagnose, Remember
from schedmate.core.reactions import looks_at
from schedmate.model import JobState
from schedmate.testing.builders import a_job


def test_one_that_never_ran_is_remembered_and_not_diagnosed():
    refused = a_job(state=JobState.FAILED, start_time=None, reason="BadConstraints")
    assert looks_at(refused) == [Remember(refused)]
    ran = a_job(state=JobState.FAILED)
    assert looks_at(ran) == [Remember(ran), Diagnose(ran)]
