"""The daemon in compressed time that predicts as a site could without SchedMate: a control.

    python -m bench.live.history_control serve

All else is SchedMate's: it reads and tracks jobs, orders the queue, sets nice numbers and requeues
what broke. But a run time is the rolling mean of the user's runs of a similar name, else of the
user's with as many GPUs, else of all with as many (Helios, SC'21), as the simulator's and the
backtest's control `history` has it.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from bench.live.compressed_time import compress
from schedmate.advisor.predict import prediction
from schedmate.advisor.predict.jobs import EndedJob, ended_job, facts_at_submission
from schedmate.cli import main
from schedmate.model import Prediction
from schedmate.service.usecases.backtest_controls import Ranged, RollingMean

if TYPE_CHECKING:
    from schedmate.advisor import Target
    from schedmate.model import Fingerprint, History, Workload

_ALL, _NEWEST = 100_000, 200


class HistoryPredictor:
    """Takes the place of `advisor.predict.prediction.predict`."""

    def __init__(self) -> None:
        self._control = Ranged(RollingMean())
        self._learnt: set[tuple[str, int]] = set()

    def __call__(
        self,
        history: History,
        target: Target,
        fingerprint: Fingerprint | None,  # noqa: ARG002 - no code takes part
        workload: Workload,  # noqa: ARG002
        *_: object,
        now: float | None = None,
        **__: object,
    ) -> Prediction:
        self._learn(history)
        at = target.submitted_at or now or time.time()
        spread = self._control.submitted(replace(facts_at_submission(target, at), command=""))
        if spread is None:
            return Prediction(basis="none", explanation="no run with as many GPUs has ended")
        return Prediction(
            basis="history",
            duration_s=spread,
            explanation="the rolling mean of the user's similar runs",
        )

    def _learn(self, history: History) -> None:
        """From what has ended since; the command of a run, a path, tells runs of a name apart."""
        newest = history.recent_runs(limit=_NEWEST if self._learnt else _ALL)
        for run in reversed(newest):
            known = (run.job.id, run.job.restarts)
            ended = None if known in self._learnt else ended_job(run)
            if ended is not None:
                self._learnt.add(known)
                self._ended(replace(ended, facts=replace(ended.facts, command="")))

    def _ended(self, ended: EndedJob) -> None:
        self._control.submitted(ended.facts)
        self._control.ended(ended)


if __name__ == "__main__":
    compress()
    prediction.predict = HistoryPredictor()
    main()
