"""The newest past runs predicted as they would have been when they were submitted.

How far off those predictions were bends the next ones: checked on the site's own past, in the
order in which it happened, whether or not anybody predicted anything then. A prediction is bent by
what had ended when its job was submitted, and judged when that ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from schedmate.advisor.launch.target import Target
from schedmate.advisor.predict.calibration import Calibration
from schedmate.model import Fingerprint, History, PastRun, Prediction, Spread, Workload

_REHEARSED = 300
_AFTER_S = 1e-6
"""No job ends as it is submitted, whatever its clocks say."""

Predict = Callable[[Target, Fingerprint | None, Workload], Prediction]


def rehearsed(history: History, predict: Predict) -> Calibration:
    """`predict` has not been calibrated; it looks at nothing that ended after a submission."""
    calibration = Calibration()
    newest = [run for run in history.recent_runs(limit=_REHEARSED) if run.duration_s > 0]
    under_way: dict[int, tuple[Prediction, Spread]] = {}
    for number, ends in _as_it_happened(newest):
        run = newest[number]
        if not ends:
            raw = predict(_as_submitted(run), run.fingerprint, run.workload)
            if raw.duration_s is not None:
                under_way[number] = raw, calibration.calibrated(raw.basis, raw.duration_s)
        elif number in under_way:
            raw, said = under_way.pop(number)
            if raw.duration_s is not None:
                calibration.observed(raw.basis, raw.duration_s, run.duration_s, said=said)
    return calibration


def _as_it_happened(runs: Sequence[PastRun]) -> Iterator[tuple[int, bool]]:
    """Which run was submitted, or (True) ended; what ended as another was submitted goes first."""
    events: list[tuple[float, bool, int]] = []
    for number, run in enumerate(runs):
        came = run.job.submit_time
        ended = max(run.job.end_time or 0.0, came + _AFTER_S)
        events += [(came, True, number), (ended, False, number)]
    for _, submitted, number in sorted(events):
        yield number, not submitted


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
