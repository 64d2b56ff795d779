"""How many true hangs are found, and how many healthy jobs with long silences are stopped.

    python -m bench.accuracy.hangs             # ten jobs of each kind
    python -m bench.accuracy.hangs --jobs 2    # two of each

Jobs of many kinds on a simulated clock, looked at every few seconds, through the real rhythm and
the real decision engine. The baseline is a simple rule: any silence of three usual gaps and ten
seconds is a hang. `touched` counts jobs that would be stopped or queued again.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from bench.command import command_line
from schedmate.core import (
    Act,
    ActivitySeen,
    DecisionEngine,
    DecisionLimits,
    Diagnose,
    HangLimits,
    Instruction,
    JobDiagnosed,
    JobSeen,
    Measure,
    ProgressSeen,
    Reached,
)
from schedmate.model import Activity, JobState, KnownPause
from schedmate.policies import ordering
from schedmate.testing.builders import a_diagnosis, a_job, a_progress
from schedmate.tracker.forecasting.rhythm import Rhythm

SIMPLE_FLOOR_S = 10.0
MINUTE, HOUR = 60.0, 3600.0
Seen = Callable[[float], Activity]
"""What a measurement shows so many seconds after the last line."""


def idle(_: float) -> Activity:
    return Activity(cpu_s=100.0)


def unmeasured(_: float) -> Activity:
    return Activity()


def computing(silent_s: float) -> Activity:
    return Activity(cpu_s=100.0 + silent_s)


def on_its_gpu(silent_s: float) -> Activity:
    return Activity(cpu_s=100.0 + 0.01 * silent_s, gpu=0.97)


def writing(silent_s: float) -> Activity:
    return Activity(files_at=silent_s)


def without_a_disk(_: float) -> Activity:
    return Activity(cpu_s=100.0, blocked=True)


def interactive(_: float) -> Activity:
    return Activity(cpu_s=100.0, interactive=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """Writes every `every_s` for `writes_s`, then is silent for `silent_s` (minutes to hours)."""

    name: str
    silent_s: float
    seen: Seen = idle
    hangs: bool = False
    every_s: float = 5.0
    writes_s: float = HOUR
    look_s: float = 5.0
    pause: KnownPause | None = None
    unwatched_s: float = 0.0
    """At the start of the silence the machine sleeps, or the daemon is away."""


KINDS = (
    Kind(name="logs for 30 s, silent for 40 s", silent_s=40, every_s=0.5, look_s=0.5, writes_s=30),
    Kind(
        name="a checkpoint of 170 s after a minute of steps",
        silent_s=170,
        every_s=0.5,
        look_s=0.5,
        writes_s=60,
        pause="checkpointing",
    ),
    Kind(name="a checkpoint of 90 minutes", silent_s=90 * MINUTE, pause="checkpointing"),
    Kind(name="an unannounced checkpoint of 25 minutes", silent_s=25 * MINUTE),
    Kind(name="an evaluation of 80 minutes", silent_s=80 * MINUTE, pause="evaluating"),
    Kind(name="an unannounced evaluation on the GPU", silent_s=3 * HOUR, seen=on_its_gpu),
    Kind(name="a compilation", silent_s=HOUR, seen=computing, pause="compiling"),
    Kind(name="an idle notebook", silent_s=12 * HOUR, seen=interactive),
    Kind(name="a silent solver", silent_s=8 * HOUR, seen=computing),
    Kind(name="files written in silence, no CPU measured", silent_s=4 * HOUR, seen=writing),
    Kind(name="chatter, then epochs of 50 minutes", silent_s=50 * MINUTE, every_s=1, writes_s=60),
    Kind(name="a line every quarter of an hour", silent_s=40 * MINUTE, every_s=900, writes_s=9e4),
    Kind(name="a file system that is away", silent_s=3 * HOUR, seen=without_a_disk),
    Kind(name="a machine that slept", silent_s=9 * HOUR, unwatched_s=8.9 * HOUR),
    Kind(name="a daemon that was away", silent_s=5 * HOUR, seen=unmeasured, unwatched_s=4.9 * HOUR),
    Kind(name="deadlock, no CPU", silent_s=6 * HOUR, hangs=True),
    Kind(name="deadlock after ten minutes", silent_s=6 * HOUR, hangs=True, writes_s=600),
    Kind(name="deadlock, nothing measured", silent_s=6 * HOUR, hangs=True, seen=unmeasured),
    Kind(name="deadlock in a checkpoint", silent_s=6 * HOUR, hangs=True, pause="checkpointing"),
    Kind(name="a slow log, then deadlock", silent_s=9 * HOUR, hangs=True, every_s=60, writes_s=3e4),
    Kind(name="spinning for ever (only shown)", silent_s=6 * HOUR, hangs=True, seen=computing),
)


@dataclass(slots=True)
class Outcome:
    simple: bool = False
    touched_after_s: list[float] = field(default_factory=list)
    """After how much silence it was."""


@dataclass(slots=True)
class Watched:
    """One job of a kind and all that looks at it."""

    kind: Kind
    offset_s: float
    engine: DecisionEngine = field(
        default_factory=lambda: DecisionEngine(
            ordering("fifo"), DecisionLimits(hang=HangLimits(requeue=True))
        )
    )
    rhythm: Rhythm = field(default_factory=lambda: Rhythm(floor_s=300.0, started_at=0.0))
    simple: Rhythm = field(default_factory=lambda: Rhythm(floor_s=SIMPLE_FLOOR_S, started_at=0.0))
    outcome: Outcome = field(default_factory=Outcome)

    def look(self, now: float, *, lines: int, silent_s: float = 0.0) -> None:
        for rhythm in (self.rhythm, self.simple):
            rhythm.observe(now, wrote=lines > 0, lines=lines)
        pause = self.kind.pause if silent_s else None
        self.outcome.simple |= self.simple.is_stalled(now, patient=pause is not None)
        at = now + self.offset_s
        progress = a_progress(silence=self.rhythm.silence(now, pause), elapsed_s=now)
        asked = self.engine.handle(ProgressSeen(at, "1", progress))
        while asked:
            asked += self._answer(asked.pop(), at, silent_s)

    def _answer(self, asked: Instruction, at: float, silent_s: float) -> list[Instruction]:
        match asked:
            case Measure():
                return self.engine.handle(ActivitySeen(at, "1", 0, self.kind.seen(silent_s)))
            case Diagnose():
                found = JobDiagnosed(at, "1", 0, a_diagnosis("hang"), Reached(saves=True))
                return self.engine.handle(found)
            case Act(action=action) if action.kind in ("requeue", "cancel"):
                self.outcome.touched_after_s.append(silent_s)
        return []


def run(kind: Kind, rng: random.Random) -> Outcome:
    """One job of this kind, with a rhythm that shakes."""
    job = Watched(kind, rng.uniform(0, 600))
    job.engine.handle(JobSeen(0.0, a_job(state=JobState.RUNNING)))
    now = due = 0.0
    while now < kind.writes_s:
        now += kind.look_s
        lines = 0
        while due <= now:
            due += kind.every_s * rng.uniform(0.7, 1.3)
            lines += 1
        job.look(now, lines=lines)
    last = now
    now += kind.unwatched_s
    while now - last < kind.silent_s and not job.outcome.touched_after_s:
        now += kind.look_s
        job.look(now, lines=0, silent_s=now - last)
    return job.outcome


def main() -> None:
    parser = command_line(__doc__, __spec__)
    parser.add_argument("--jobs", type=int, default=10, help="of each kind")
    jobs = parser.parse_args().jobs
    rng = random.Random(1)
    print(f"{'kind':44} {'jobs':>4} {'touched: simple':>15} {'ours':>4}  after")
    sums = {False: [0, 0, 0], True: [0, 0, 0]}
    for kind in KINDS:
        outcomes = [run(kind, rng) for _ in range(jobs)]
        before = sum(outcome.simple for outcome in outcomes)
        requeued = [
            outcome.touched_after_s[0] / MINUTE for outcome in outcomes if outcome.touched_after_s
        ]
        after = f"{min(requeued):.0f} to {max(requeued):.0f} min" if requeued else ""
        label = "hang    " if kind.hangs else "healthy "
        print(f"{label + kind.name:52.52} {jobs:4} {before:7} {len(requeued):4}  {after}")
        for at, value in enumerate((jobs, before, len(requeued))):
            sums[kind.hangs][at] += value
    for hangs, (count, before, touched) in sums.items():
        what = "true hangs found" if hangs else "healthy jobs touched"
        print(f"{what:52} {count:4} {before:7} {touched:4}")


if __name__ == "__main__":
    main()
