"""The inputs of an answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from schedmate.logs.file_times import WrittenSpan
from schedmate.model import Prediction, RunProfile, Workload
from schedmate.tracker.counting.series import Series
from schedmate.tracker.forecasting.forecast_cache import ForecastCache
from schedmate.tracker.forecasting.rhythm import Rhythm
from schedmate.tracker.forecasting.step_schedule import StepSchedule, schedule_in
from schedmate.tracker.line_signs import signs_of
from schedmate.tracker.scan import LogScan
from schedmate.tracker.total_sources import TotalSources


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Without `now` the logs are at their end."""

    logs: tuple[str, ...]
    scans: Sequence[LogScan]
    workload: Workload | None = None
    prediction: Prediction | None = None
    similar: Sequence[RunProfile] = ()
    limit_s: float | None = None
    code_schedule: StepSchedule | None = None
    """By which steps get dearer, as the job's code states it."""
    now: float | None = None
    started_at: float | None = None
    ended: Literal["finished", "failed"] | None = None
    """How the run ended, by its process or its scheduler; None while it runs, or unknown."""
    writing: bool = False
    """A process is known to have a log open for writing: the run is not over."""
    gone: bool = False
    """The logs are known to have no writer any more: the run is over, how is unknown."""
    quiet_s: float | None = None
    """How long ago the logs were written last, where they are looked at only once."""
    written: WrittenSpan | None = None
    """How long the logs were written by their files, where nothing shows when the run began."""
    rhythm: Rhythm | None = None
    forecasts: ForecastCache = field(default_factory=ForecastCache)

    @property
    def elapsed_s(self) -> float | None:
        if self.now is None or self.started_at is None:
            return None
        return max(0.0, self.now - self.started_at)

    def run_time_s(self, series: Series) -> float | None:
        """By the clock, or by what the log itself says about its time."""
        if self.elapsed_s is not None:
            return self.elapsed_s
        stamped = series.clock == "stamped"
        seconds = series.timeline.elapsed_s if stamped else series.run_time_s
        return self.written_s if seconds is None else seconds

    @property
    def written_s(self) -> float | None:
        return None if self.written is None else self.written.seconds

    @property
    def cap_s(self) -> float | None:
        """After how long the code stops by itself, by a log or by the workload record."""
        stated = next((scan.cap_s for scan in self.scans if scan.cap_s is not None), None)
        if stated is not None or self.workload is None or self.workload.max_time_s is None:
            return stated
        return self.workload.max_time_s.value if self.workload.max_time_s.value > 0 else None

    def grows(self, scan: LogScan) -> bool:
        """Whether steps may take longer by a schedule: one is named, or the code is unknown."""
        named = scan.grows or any(signs_of(line).growing for line in self._evidence())
        return named or self.workload is None

    def schedule(self, scan: LogScan) -> StepSchedule | None:
        """What steps to come cost, by the log, the code or the evidence of the workload record."""
        found = (schedule_in(line) for line in self._evidence())
        stated = scan.schedule or self.code_schedule
        return stated or next((one for one in found if one is not None), None)

    def _evidence(self) -> Iterator[str]:
        """Lines of code that show the size or the number of the steps."""
        known = self.workload
        sizes = () if known is None else (known.batch_size, known.sequence_length, known.max_steps)
        return (line.text for size in sizes if size is not None for line in size.evidence)

    def total_sources(self, scan: LogScan) -> TotalSources:
        announced: dict[str, float] = {}
        for one in (*self.scans, scan):
            announced |= one.announced.by_unit
        return TotalSources(
            announced=announced,
            workload=self.workload,
            similar=self.similar,
            stated=scan.stated,
        )

    def is_stalled(self, *, patient: bool) -> bool:
        """Whether the job has been silent for minutes, and far longer than its rhythm allows."""
        if self.rhythm is None or self.now is None:
            return False
        return self.rhythm.is_stalled(self.now, patient=patient)

    def is_quiet(self) -> bool:
        """Whether nothing seems to follow what was written last."""
        if self.rhythm is None or self.now is None:
            return False
        return self.rhythm.is_quiet(self.now)
