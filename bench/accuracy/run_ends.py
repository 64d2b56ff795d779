"""Whether the end of a run is seen, and never before it, by what is known besides the log.

    python -m bench.accuracy.run_ends

All labelled runs: home-made ones, those with times, recorded frameworks. Each is shown at three
places while it runs and at its end, and once more cut off at 60 % as a failed job would be.
  log        nothing is known but the log
  no writer  `track LOG`: no process has the log open any more; how it ended is unknown
  process    `track --follow LOG` saw its process end; how is unknown
  scheduler  RUNNING while it runs, COMPLETED or FAILED at the end
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from bench.accuracy.first_sight import SETS
from bench.accuracy.recorded_logs import recorded_cuts
from bench.accuracy.replay import SETTLED_S, Part, tracked, written_log
from bench.command import command_line, progress
from bench.corpora.home_made_runs.run import Run
from schedmate.cli._follow import Follower
from schedmate.logs.writers import WriterWatch
from schedmate.model import JobState, Phase
from schedmate.tracker import JobTracker

SHARES = (0.3, 0.6, 0.9)
CUT_OFF = 0.6
LINE_S = 20.0


@dataclass(frozen=True, slots=True)
class LabelledRun:
    corpus: str
    running: tuple[Part, ...]
    end: Part

    @property
    def cut_off(self) -> Part:
        """The same run, killed at some share of its lines without a word."""
        lines = self.end.written.splitlines(keepends=True)
        kept = b"".join(lines[: round(CUT_OFF * len(lines))])
        return replace(self.end, written=kept, state=JobState.FAILED)


def labelled_runs() -> Iterator[LabelledRun]:
    for runs in SETS.values():
        yield from (_home_made(run) for run in runs)
    for cuts in recorded_cuts():
        parts = [cut.part for cut in cuts]
        corpus = "frameworks" if cuts[0].kind == "framework" else "home-made, with times"
        ends = [part for part in parts if part.state.ended]
        running = tuple(part for part in parts if not part.state.ended)
        yield from (LabelledRun(corpus, running, end) for end in ends)


def _home_made(run: Run) -> LabelledRun:
    """Its lines come at an even pace."""
    lines = run.written()
    written = [round(share * len(lines)) for share in SHARES]
    running = tuple(_part(run.name, lines[:count], JobState.RUNNING) for count in written)
    return LabelledRun("home-made", running, _part(run.name, lines, JobState.COMPLETED))


def _part(name: str, lines: Sequence[str], state: JobState) -> Part:
    last = LINE_S * len(lines)
    return Part(
        name=name,
        written="\n".join([*lines, ""]).encode(),
        last_write_s=last,
        at_s=last + (SETTLED_S if state.ended else LINE_S / 2),
        state=state,
    )


@dataclass(slots=True)
class ReplayedWriters(WriterWatch):
    over: bool = False

    def look(self, now: float) -> Literal["unknown", "writing", "gone"]:  # noqa: ARG002 - its state does not depend on the time
        return "gone" if self.over else "writing"


def followed(part: Part) -> Phase:
    """As `track --follow` answers that sees the process, or that it is gone."""
    with written_log(part) as log:
        writers = ReplayedWriters(log, over=part.state.ended)
        follower = Follower([log], JobTracker([log]), watches=[writers])
        return follower.look(part.at_s).progress.phase


WAYS: dict[str, Callable[[Part], Phase]] = {
    "log": lambda part: tracked(part, "log").phase,
    "no writer": lambda part: tracked(part, "process").phase,
    "process": followed,
    "scheduler": lambda part: tracked(part, "scheduler").phase,
}


def main() -> None:
    command_line(__doc__, __spec__).parse_args()
    runs = list(labelled_runs())
    print(
        f"{'corpus':<22} {'known by':<10} {'finished at the end':>20} {'finished too early':>19}"
        f" {'failed too early':>17} {'cut off: failed':>16} {'finished':>9}"
    )
    for corpus in dict.fromkeys(run.corpus for run in runs):
        chosen = [run for run in runs if run.corpus == corpus]
        for known_by, phase_of in progress(list(WAYS.items()), corpus):
            _print_row(corpus, known_by, phase_of, chosen)


def _print_row(
    corpus: str, known_by: str, phase_of: Callable[[Part], Phase], runs: Sequence[LabelledRun]
) -> None:
    early = [(part.name, phase_of(part)) for run in runs for part in run.running]
    ends = [(run.end.name, phase_of(run.end)) for run in runs]
    cut = [phase_of(run.cut_off) for run in runs]
    print(
        f"{corpus:<22} {known_by:<10} {_count(ends, 'finished'):>14} of {len(ends):<3}"
        f" {_count(early, 'finished'):>12} of {len(early):<4} {_count(early, 'failed'):>17}"
        f" {cut.count('failed'):>9} of {len(cut):<3} {cut.count('finished'):>9}"
    )
    for name, phase in early:
        if phase in ("finished", "failed"):
            print(f"    {name}: {phase} while it runs")


def _count(found: Sequence[tuple[str, Phase]], phase: Phase) -> int:
    return sum(one == phase for _, one in found)


if __name__ == "__main__":
    main()
