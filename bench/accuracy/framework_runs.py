"""What the tracker answers about recorded runs of real frameworks that it first sees half-way.

    python -m bench.accuracy.framework_runs
    python -m bench.accuracy.framework_runs --only optuna

Each run is cut at 10, 30, 50 and 90 % of the time of its work and at its end, and read as
`schedmate track LOG` reads it: its bytes, how long its file was written, and whether a process
still has it open. Right is
  count    a known total, and a fraction within 10 points of the share of time; where the log does
           not state its total, none that is believed (a confidence above one half)
  time     the time left within a quarter of it, or three seconds, where the total is stated
  end      `finished` a minute after its end, by the log alone
The recordings are in bench/corpora/framework_runs; `record.py` there adds one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO

from bench.command import command_line, console, progress, table
from bench.corpora.framework_runs.recording import Recording, recordings
from schedmate.logs.file_times import WrittenSpan
from schedmate.model import Progress
from schedmate.tracker import track_with_curves

CUTS = (0.1, 0.3, 0.5, 0.9)
NEAR, FAR = 0.1, 0.15
CERTAIN = 0.5
CLOSE, CLOSE_S = 0.25, 3.0
LATER_S = 60.0


@dataclass(frozen=True, slots=True)
class Look:
    """What is answered about the part of a run that was written at some time."""

    run: Recording
    share: float
    progress: Progress

    @property
    def believed(self) -> bool:
        return self.progress.fraction is not None and self.progress.confidence > CERTAIN

    @property
    def off(self) -> float | None:
        fraction = self.progress.fraction
        return None if fraction is None else abs(fraction - self.share)

    @property
    def total_known(self) -> bool:
        unit, total = self.progress.unit, self.progress.total
        return unit is not None and total is not None and self.run.totals.get(unit) == total

    @property
    def count_right(self) -> bool:
        if not self.run.stated:
            return not self.believed or self.total_known
        by_percent = self.progress.unit == "percent"
        return (self.total_known or by_percent) and self.off is not None and self.off <= NEAR

    @property
    def confidently_wrong(self) -> bool:
        if not self.believed or self.off is None:
            return False
        other_total = self.progress.total is not None and self.progress.unit != "percent"
        return self.off > FAR or (other_total and not self.total_known)

    @property
    def time_right(self) -> bool:
        eta = self.progress.eta_s
        left = self.run.ended_s - self.run.at(self.share)
        return eta is not None and abs(eta.p50 - left) <= max(CLOSE_S, CLOSE * left)

    @property
    def covered(self) -> bool:
        eta = self.progress.eta_s
        left = self.run.ended_s - self.run.at(self.share)
        return eta is not None and eta.p10 <= left <= eta.p90

    @property
    def over_too_early(self) -> bool:
        return self.progress.phase in ("finished", "failed")

    def __str__(self) -> str:
        one = self.progress
        fraction = "-" if one.fraction is None else f"{one.fraction:.2f}"
        left = self.run.ended_s - self.run.at(self.share)
        eta = "-" if one.eta_s is None else f"{one.eta_s.p50:.0f}"
        return (
            f"{self.run.name} at {self.share:.2f}: {fraction} ({one.current}/{one.total} {one.unit}"
            f", {one.phase}, {one.format}, confidence {one.confidence:.2f}, left {eta} of "
            f"{left:.0f} s)"
        )


def look(run: Recording, share: float) -> Look:
    at = run.at(share)
    return Look(run, share, _tracked(run, run.head(at), run.last_write(at), at, running=True))


def look_at_end(run: Recording) -> Progress:
    return _tracked(run, run.text, run.ended_s, run.ended_s + LATER_S, running=False)


def _tracked(
    run: Recording, head: bytes, last_write: float, now: float, *, running: bool
) -> Progress:
    progress, _ = track_with_curves(
        [(run.name, BytesIO(head))],
        written=WrittenSpan(0.0, last_write),
        quiet_s=now - last_write,
        writing=lambda: running,
        curves=False,
    )
    return progress


def main() -> None:
    parser = command_line(__doc__, __spec__)
    parser.add_argument("--only", default="", help="runs whose name holds this")
    asked = parser.parse_args()
    runs = [run for run in recordings() if asked.only in run.name]
    looks = {run.name: [look(run, share) for share in CUTS] for run in progress(runs, "runs")}
    ends = {run.name: look_at_end(run).phase == "finished" for run in runs}
    shown = table("recorded runs of frameworks", ("run", "stated", "count", "time", "end"))
    for run in runs:
        seen = looks[run.name]
        shown.add_row(
            run.name,
            "yes" if run.stated else "no",
            _of(seen, [one.count_right for one in seen]),
            _of(seen, [one.time_right for one in seen]) if run.stated else "",
            "yes" if ends[run.name] else "no",
        )
    console().print(shown)
    _summary(runs, [one for run in runs for one in looks[run.name]], sum(ends.values()))


def _of(looks: Sequence[Look], right: Sequence[bool]) -> str:
    return f"{sum(right)}/{len(looks)}"


def _summary(runs: Sequence[Recording], looks: Sequence[Look], ends: int) -> None:
    stated = [one for one in looks if one.run.stated]
    answered = [one for one in looks if one.progress.eta_s is not None]
    print(
        f"{len(runs)} runs, {len(looks)} looks: count right {sum(o.count_right for o in looks)}, "
        f"confidently wrong {sum(o.confidently_wrong for o in looks)}, "
        f"over too early {sum(o.over_too_early for o in looks)}; total stated: time right "
        f"{sum(o.time_right for o in stated)} of {len(stated)}; p10-p90 covers "
        f"{sum(o.covered for o in answered)} of {len(answered)}; end seen by the log alone "
        f"{ends} of {len(runs)}"
    )
    for one in looks:
        if not one.count_right or one.confidently_wrong or one.over_too_early:
            print(f"    {one}")
        elif one.run.stated and not one.time_right:
            print(f"  t {one}")


if __name__ == "__main__":
    main()
