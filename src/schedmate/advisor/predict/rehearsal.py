"""The newest past runs predicted as they would have been when they were submitted.

How far off those predictions were bends the next ones: checked on the site's own past, in the
order in which it happened, whether or not anybody predicted anything then. A prediction is bent by
what had ended when its job was submitted, and judged when that ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from schedmate.advisor.predict.calibration import Calibration
from schedmate.advisor.predict.durations import estimate_duration
from schedmate.advisor.predict.neighbours import StoredRuns
from schedmate.advisor.predict.scaling import Scaling
from schedmate.model import History, PastRun, Spread
from schedmate.model.sketch import sketch_of_run

_REHEARSED = 300
_AFTER_S = 1e-6
"""No job ends as it is submitted, whatever its clocks say."""


def rehearsed(history: History, scaling: Scaling) -> Calibration:
    """Nothing that ended after a submission is looked at."""
    calibration, past = Calibration(), StoredRuns(history)
    newest = [run for run in history.recent_runs(limit=_REHEARSED) if run.duration_s > 0]
    in_flight: dict[int, tuple[str, Spread, Spread]] = {}
    for number, ends in _as_it_happened(newest):
        run = newest[number]
        if ends:
            if number in in_flight:
                kind, raw, calibrated = in_flight.pop(number)
                calibration.observed(kind, raw, run.duration_s, said=calibrated)
            continue
        estimate = estimate_duration(
            past, sketch_of_run(run), run.workload, scaling, submitted_at=run.job.submit_time
        )
        if estimate is not None:
            kind, raw = estimate.kind, estimate.duration_s
            in_flight[number] = kind, raw, calibration.calibrated(kind, raw)
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
