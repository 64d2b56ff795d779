"""What SchedMate reads of simulated jobs: of a synthetic workload, or as a store kept it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from schedmate.advisor.predict.jobs import Facts
from schedmate.model import Fingerprint, PastRun, Request, Workload
from schedmate.simulator.estimators.reading import Records
from schedmate.simulator.synthetic.workload import SyntheticWorkload
from schedmate.simulator.traces.columns import TraceColumns


@dataclass(frozen=True, slots=True)
class Observed:
    """What is known of a run only when it is over."""

    startup_s: float | None
    gpu_memory_mb: float | None
    gpu_utilization: float | None


class Readings(Protocol):
    """What is read of each job at its submission, and seen of it at its end."""

    def read(self, job: int, facts: Facts) -> tuple[Fingerprint | None, Workload, Request]: ...

    def observed(self, job: int) -> Observed: ...


@dataclass(frozen=True, slots=True)
class RecordedReadings:
    """Of jobs that really ran: as the store kept them."""

    runs: Sequence[PastRun]

    def read(
        self,
        job: int,
        facts: Facts,  # noqa: ARG002 - the store has all of it
    ) -> tuple[Fingerprint | None, Workload, Request]:
        run = self.runs[job]
        return run.fingerprint, run.workload, run.job.request

    def observed(self, job: int) -> Observed:
        run = self.runs[job]
        return Observed(run.startup_s, run.gpu_memory_mb, run.gpu_utilization)


class _SyntheticReadings:
    """Of jobs that were given a project."""

    def __init__(self, columns: TraceColumns, workload: SyntheticWorkload) -> None:
        self._workload = workload
        self._gpu_types = [columns.gpu_type[job] or None for job in range(len(columns))]
        self._records = Records(workload.submission)

    def read(self, job: int, facts: Facts) -> tuple[Fingerprint | None, Workload, Request]:
        request = Request(
            gpus=facts.gpus,
            gpu_type=self._gpu_types[job],
            nodes=facts.nodes,
            time_limit_s=facts.limit_s,
            partition=facts.partition or None,
        )
        prints = self._records.fingerprint(job, facts.gpus)
        return prints, self._records.workload(job, facts.gpus), request

    def observed(self, job: int) -> Observed:
        workload = self._workload
        return Observed(
            float(workload.startup_s[job]),
            float(workload.memory_mb[job]),
            float(workload.utilization[job]),
        )


def readings_of(
    columns: TraceColumns,
    workload: SyntheticWorkload | None,
    recorded: Sequence[PastRun] | None,
) -> Readings | None:
    if recorded is not None:
        return RecordedReadings(recorded)
    return None if workload is None else _SyntheticReadings(columns, workload)
