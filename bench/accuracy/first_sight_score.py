"""What the tracker answers when it first sees a part of a run.

The lines of a run come at an even pace, so the share of its lines is the share of its work.
"""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO

from bench.corpora.home_made_runs.run import Run, share_done
from schedmate.model import Progress
from schedmate.tracker import track_stream

CUTS = (0.3, 0.6, 0.9)
NEAR = 0.08
NEAR_LABEL = 0.04
FAR = 0.15
CERTAIN = 0.5


@dataclass(frozen=True, slots=True)
class Look:
    """What is answered about one part of a run."""

    run: Run
    share: float
    progress: Progress
    near: float = NEAR

    @property
    def right(self) -> bool:
        fraction = self.progress.fraction
        if self.run.open_ended:
            return fraction is None or self.progress.confidence <= CERTAIN
        return fraction is not None and abs(fraction - self.share) <= self.near

    @property
    def confidently_wrong(self) -> bool:
        fraction = self.progress.fraction
        if fraction is None or self.progress.confidence <= CERTAIN:
            return False
        return self.run.open_ended or abs(fraction - self.share) > FAR

    @property
    def over_too_early(self) -> bool:
        return self.progress.phase in ("finished", "failed")

    @property
    def phase_wrong(self) -> bool:
        return self.progress.phase == "training" and not self.run.training

    @property
    def estimated(self) -> bool:
        return self.progress.eta_s is not None

    def __str__(self) -> str:
        one = self.progress
        fraction = "-" if one.fraction is None else f"{one.fraction:.2f}"
        return (
            f"{self.run.name} at {self.share:.2f}: {fraction} ({one.current}/{one.total} {one.unit}"
            f", {one.phase}, {one.format}, confidence {one.confidence:.2f})"
        )


def look(run: Run, share: float) -> Look:
    lines = run.written()
    written = round(share * len(lines))
    label = share_done(lines, written)
    progress = _tracked(run.name, lines[:written])
    if label is None:
        return Look(run, share, progress)
    return Look(run, label, progress, NEAR_LABEL)


def look_at_end(run: Run) -> Progress:
    return _tracked(run.name, run.written())


def _tracked(name: str, lines: list[str]) -> Progress:
    data = "\n".join([*lines, ""]).encode()
    return track_stream(BytesIO(data), name=name)
