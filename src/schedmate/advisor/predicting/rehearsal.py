"""The newest past runs predicted as they would have been when they were submitted.

How far off those predictions were bends the next ones: checked on the site's own past, in the
order in which it happened, whether or not anybody predicted anything then.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from schedmate.advisor.predicting.calibration import Calibration
from schedmate.advisor.target import Target
from schedmate.model import Fingerprint, History, PastRun, Prediction, Workload

_REHEARSED = 300

Predict = Callable[[Target, Fingerprint | None, Workload], Prediction]


def rehearsed(history: History, predict: Predict) -> Calibration:
    """`predict` has not been calibrated; it looks at nothing that ended after a submission."""
    calibration = Calibration()
    newest = [run for run in history.recent_runs(limit=_REHEARSED) if run.duration_s > 0]
    for run in sorted(newest, key=lambda run: run.job.end_time or 0.0):
        said = predict(_as_submitted(run), run.fingerprint, run.workload)
        if said.duration_s is not None:
            calibration.observed(said.basis, said.duration_s, run.duration_s)
    return calibration


def _as_submitted(run: PastRun) -> Target:
    job = run.job
    return Target(
        workdir=Path(job.workdir),
        command=job.command,
        request=job.request,
        user=job.user,
        name=job.name,
        submitted_at=job.submit_time,
    )
