"""What the tracker answers about logs whose times are known when it first sees a part of them.

    python -m bench.accuracy.recorded_logs
    python -m bench.accuracy.recorded_logs --only optuna

Home-made logs (bench/corpora/timed_logs) are cut at 10, 35 and 70 % of their time, recorded runs of
frameworks (bench/corpora/framework_runs) at 10, 30, 50 and 90 % of the time of their work. Each
part is read as `schedmate track LOG` reads it: its bytes, how long its file was written, and
whether a process still has it open. Right is
  count     a fraction near the label (3 points; 10 for frameworks, whose label is the share of
            time); where the log does not state its total, none with a confidence above one half
  time      the time left within a quarter of it, or three seconds, where the total is stated
  p10-p90   whether the interval holds what was left, where the total is stated
  end       `finished` a minute after the end, when no process writes any more
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from bench.accuracy.replay import SETTLED_S, Part, tracked
from bench.command import command_line, progress
from bench.corpora.framework_runs.recording import Recording, recordings
from bench.corpora.timed_logs import TimedLog, timed_logs
from schedmate.model import JobState, Progress, Unit

SHARES = (0.1, 0.3, 0.5, 0.9)
_BELIEVED = 0.5
_CLOSE, _CLOSE_S = 0.25, 3.0
_EVEN = 0.03
EARLY = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """A part of a log, and what is true of it."""

    kind: str
    """The class of log that it is one of."""
    part: Part
    share: float
    """Of the time."""
    fractions: tuple[float, ...]
    stated: bool
    """Whether the log states how much there is to do."""
    near: float
    far: float
    left_s: float
    totals: dict[Unit, float] | None = None
    """All right totals, where they are known in every unit."""


@dataclass(frozen=True, slots=True)
class Look:
    cut: Cut
    answer: Progress = field(repr=False)

    @property
    def over(self) -> bool:
        return self.answer.phase in ("finished", "failed")

    @property
    def right(self) -> bool:
        if not self.cut.stated:
            return not self._believed or self._total_known
        by_percent = self.cut.totals is None or self.answer.unit == "percent"
        return (by_percent or self._total_known) and self._within(self.cut.near)

    @property
    def confidently_wrong(self) -> bool:
        counted = self.answer.total is not None and self.answer.unit != "percent"
        other_total = counted and self.cut.totals is not None and not self._total_known
        return self._believed and (other_total or not self._within(self.cut.far))

    @property
    def time_right(self) -> bool | None:
        eta, left = self.answer.eta_s, self.cut.left_s
        if not self.cut.stated:
            return None
        return eta is not None and abs(eta.p50 - left) <= max(_CLOSE_S, _CLOSE * left)

    @property
    def covered(self) -> bool | None:
        """Whether p10 to p90 holds what remained; None where nothing is stated or estimated."""
        eta = self.answer.eta_s
        if not self.cut.stated or eta is None:
            return None
        return bool(eta.p10 <= self.cut.left_s <= eta.p90)

    @property
    def _believed(self) -> bool:
        return self.answer.fraction is not None and self.answer.confidence > _BELIEVED

    @property
    def _total_known(self) -> bool:
        unit, total, known = self.answer.unit, self.answer.total, self.cut.totals
        return bool(known and unit and total is not None and known.get(unit) == total)

    def _within(self, distance: float) -> bool:
        shown = self.answer.fraction
        return shown is not None and any(abs(shown - one) <= distance for one in self.cut.fractions)

    def __str__(self) -> str:
        answer, cut = self.answer, self.cut
        eta = "-" if answer.eta_s is None else f"{answer.eta_s.p50:.0f}"
        return (
            f"{cut.part.name} at {cut.share:.2f}: {answer.current}/{answer.total} {answer.unit},"
            f" {answer.phase}, {answer.format}, confidence {answer.confidence:.2f},"
            f" left {eta} of {cut.left_s:.0f} s"
        )


def looks(cuts: Sequence[Cut]) -> list[Look]:
    return [Look(cut, tracked(cut.part)) for cut in cuts]


def home_made_cuts(log: TimedLog) -> list[Cut]:
    """The labelled ones, the last of them at its end."""
    cuts = [cut for cut in log.truth["cuts"] if cut["lines"]]
    kind = _home_made_kind(log, cuts)
    return [_home_made_cut(log, kind, cut) for cut in cuts]


def _home_made_cut(log: TimedLog, kind: str, cut: dict[str, Any]) -> Cut:
    lines, share = log.lines[: cut["lines"]], cut["at_fraction_of_time"]
    over, written_s = bool(cut["finished"]), lines[-1][0]
    labels = _labels(log, cut)
    return Cut(
        kind=kind,
        part=Part(
            name=log.name,
            written="".join(f"{line}\n" for _, line in lines).encode(),
            last_write_s=written_s,
            at_s=written_s + SETTLED_S if over else share * log.duration_s,
            state=JobState.COMPLETED if over else JobState.RUNNING,
        ),
        share=share,
        fractions=labels or (share,),
        stated=bool(labels),
        near=0.03,
        far=0.1,
        left_s=cut["remaining_s"],
    )


def _labels(log: TimedLog, cut: dict[str, Any]) -> tuple[float, ...]:
    pairs = [(cut.get("current"), cut.get("total"))]
    pairs += cut.get("accept_counts") or log.truth.get("accept_counts") or []
    found = [done / total for done, total in pairs if done is not None and total]
    label = cut.get("fraction")
    return tuple(found if label is None else [label, *found])


def _home_made_kind(log: TimedLog, cuts: Sequence[dict[str, Any]]) -> str:
    if not log.training:
        return "home-made, no training"
    off = [
        abs(label - cut["at_fraction_of_time"]) for cut in cuts if (label := cut.get("fraction"))
    ]
    even = max(off, default=0.0) <= _EVEN
    return "home-made, even pace" if even else "home-made, changing pace"


def framework_cuts(run: Recording) -> list[Cut]:
    """At some shares of the work's time, and at its end."""
    running = [_framework_cut(run, run.at(share), share, JobState.RUNNING) for share in SHARES]
    return [*running, _framework_cut(run, run.ended_s + SETTLED_S, 1.0, JobState.COMPLETED)]


def _framework_cut(run: Recording, at_s: float, share: float, state: JobState) -> Cut:
    over = state.ended
    return Cut(
        kind="framework",
        part=Part(
            name=run.name,
            written=run.text if over else run.head(at_s),
            last_write_s=run.ended_s if over else run.last_write(at_s),
            at_s=at_s,
            state=state,
        ),
        share=share,
        fractions=(share,),
        stated=run.stated,
        near=0.1,
        far=0.15,
        left_s=max(0.0, run.ended_s - at_s),
        totals=run.totals,
    )


def recorded_cuts() -> Iterator[list[Cut]]:
    """Those of each log together."""
    yield from (home_made_cuts(log) for log in timed_logs())
    yield from (framework_cuts(run) for run in recordings())


def main() -> None:
    parser = command_line(__doc__, __spec__)
    parser.add_argument("--only", default="", help="logs whose name holds this")
    asked = parser.parse_args()
    logs = [cuts for cuts in recorded_cuts() if asked.only in cuts[0].part.name]
    seen = [look for cuts in progress(logs, "logs") for look in looks(cuts)]
    running = [look for look in seen if not look.cut.part.state.ended]
    ends = [look for look in seen if look.cut.part.state.ended]
    for look in running:
        if not look.right or look.confidently_wrong or look.over:
            print(f"    {look}")
    print(
        f"{'class of log':<26} {'looks':>5} {'right':>6} {'confidently wrong':>18}"
        f" {'over too early':>15} {'time':>9} {'p10-p90 covers':>15} {'at 10 %':>9} {'end':>7}"
    )
    for kind in dict.fromkeys(look.cut.kind for look in seen):
        print(_row(kind, _of_kind(running, kind), _of_kind(ends, kind)))


def _of_kind(looks: Sequence[Look], kind: str) -> list[Look]:
    return [look for look in looks if look.cut.kind == kind]


def _row(kind: str, running: Sequence[Look], ends: Sequence[Look]) -> str:
    early = [look for look in running if look.cut.share < EARLY]
    return (
        f"{kind:<26} {len(running):5} {sum(one.right for one in running):6}"
        f" {sum(one.confidently_wrong for one in running):18}"
        f" {sum(one.over for one in running):15}"
        f" {_share([one.time_right for one in running]):>9}"
        f" {_share([one.covered for one in running]):>15}"
        f" {_share([one.covered for one in early]):>9}"
        f" {sum(one.over for one in ends):3}/{len(ends):<3}"
    )


def _share(found: Sequence[bool | None]) -> str:
    known = [one for one in found if one is not None]
    return f"{sum(known)}/{len(known)}"


if __name__ == "__main__":
    main()
