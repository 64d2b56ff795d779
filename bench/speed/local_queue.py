"""SchedMate's own queue beside task-spooler, nq, HyperQueue and Slurm on one node.

    python -m bench.speed.local_queue
    python -m bench.speed.local_queue --only SchedMate task-spooler --jobs 100
    python -m bench.speed.local_queue --hyperqueue /opt/hq/bin/python

All queue the same shell script in the same run; what is not installed is named and left out.
`apt-get install task-spooler nq`, `pip install hyperqueue` and `scripts/install-test-packages`
install them; Slurm needs root.

- submit: processor seconds of one submitting command, the best of several
- start: from before the command until the job's first line runs, on a free machine, in the median
- 500 jobs: processor and wall seconds until they are queued, with one call where the tool has one,
  and wall seconds until all have ended, eight at a time
- 40 mixed jobs of one to eight GPUs and up to four seconds, with a limit of ten where a tool takes
  one: how much longer than the lower bound (all slots always busy)
- at rest: with one long job, the tool's processes: percent of a core and proportional memory

Wall seconds depend on what else the machine does; compare within one run.
"""

from __future__ import annotations

import os
import random
import resource
import subprocess
import tempfile
import time
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from bench.command import command_line, console, machine, progress, table
from bench.speed.queue_tools import (
    SLOTS,
    HyperQueue,
    Nq,
    SchedMate,
    SharedSchedMate,
    Slurm,
    TaskSpooler,
    Tool,
    wait_for,
)

_MARK = "BENCH_LOCAL_QUEUE"
_SCRIPT = """#!/bin/bash
echo "$EPOCHREALTIME" > "$1/$$.begun"
[ "$2" = 0 ] || sleep "$2"
echo "$EPOCHREALTIME" > "$1/$$.ended"
"""
_LIMIT_S = 10
"""Of the mixed jobs, all of which are shorter: what a person knows of such a batch."""
_WIDTHS, _WEIGHTS = (1, 2, 4, 8), (20, 10, 7, 3)
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass
class Measured:
    rows: dict[str, str] = field(default_factory=dict)

    def note(self, row: str, value: str) -> None:
        self.rows[row] = value


@dataclass(frozen=True)
class Bench:
    tool: Tool
    script: Path
    folder: Path
    measured: Measured

    @contextmanager
    def stamps(self) -> Iterator[Path]:
        """A directory in which jobs write down when they ran."""
        made = Path(tempfile.mkdtemp(dir=self.folder))
        made.chmod(0o777)
        yield made

    def job(self, stamps: Path, seconds: float) -> list[str]:
        return [str(self.script), str(stamps), f"{seconds:g}"]

    def measure_single(self, calls: int) -> None:
        cpu, late = [], []
        for _ in range(calls):
            with self.stamps() as stamps:
                begun, used = time.time(), _children_s()
                _call(self.tool.submit(self.job(stamps, 0), 1))
                cpu.append(_children_s() - used)
                if wait_for(1, stamps, ".ended", 60):
                    late.append(_times(stamps, ".begun")[0] - begun)
        self.measured.note("submit, CPU ms", f"{1000 * min(cpu):.1f}")
        self.measured.note("start, ms", f"{1000 * median(late):.0f}" if late else "never")

    def measure_many(self, count: int, patience_s: float) -> None:
        with self.stamps() as stamps:
            begun, used = time.time(), _children_s()
            for words in self.tool.submit_many(self.job(stamps, 0), count):
                _call(words)
            self.measured.note(f"{count} jobs queued, CPU s", f"{_children_s() - used:.2f}")
            self.measured.note(f"{count} jobs queued, s", f"{time.time() - begun:.1f}")
            done = wait_for(count, stamps, ".ended", patience_s)
            last = f"{max(_times(stamps, '.ended')) - begun:.1f}" if done else f"> {patience_s:g}"
            self.measured.note(f"{count} jobs ended, s", last)

    def measure_mix(self, count: int, seed: int) -> None:
        if not self.tool.knows_slots:
            return
        drawn = random.Random(seed)
        jobs = [
            (drawn.choices(_WIDTHS, _WEIGHTS)[0], round(drawn.uniform(0.5, 4.0), 2))
            for _ in range(count)
        ]
        ideal = sum(width * seconds for width, seconds in jobs) / SLOTS
        with self.stamps() as stamps:
            for width, seconds in jobs:
                _call(self.tool.submit(self.job(stamps, seconds), width, _LIMIT_S))
            if wait_for(count, stamps, ".ended", 10 * ideal + 120):
                took = max(_times(stamps, ".ended")) - min(_times(stamps, ".begun"))
                self.measured.note(
                    f"{count} mixed jobs, % above {ideal:.0f} s", f"{100 * (took / ideal - 1):.0f}"
                )

    def measure_rest(self, seconds: float) -> None:
        with self.stamps() as stamps:
            _call(self.tool.submit(self.job(stamps, seconds + 10), 1))
            wait_for(1, stamps, ".begun", 60)
            time.sleep(5)  # what follows a start is over
            before = _processes()
            time.sleep(seconds)
            after = _processes()
            cpu_s = sum(cpu - before[pid][0] for pid, (cpu, _) in after.items() if pid in before)
            memory = sum(kilobytes for _, kilobytes in after.values())
            self.measured.note("at rest, % of a core", f"{100 * cpu_s / seconds:.2f}")
            self.measured.note("at rest, MB", f"{memory / 1024:.1f}")
            wait_for(1, stamps, ".ended", 60)


def _call(words: Sequence[str]) -> None:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(words)}: {done.stderr[-500:]}")


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _times(folder: Path, suffix: str) -> list[float]:
    return [float(path.read_text()) for path in folder.iterdir() if path.suffix == suffix]


def _processes() -> dict[int, tuple[float, int]]:
    """Processor seconds and kilobytes of all that inherited the mark, but for the job itself."""
    found = {}
    for entry in Path("/proc").iterdir():
        try:
            marked = entry.name.isdigit() and _MARK.encode() in (entry / "environ").read_bytes()
            if not marked or int(entry.name) == os.getpid():
                continue
            words = (entry / "cmdline").read_bytes()
            if words.startswith((b"sleep\0", b"/bin/bash\0")):
                continue
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
            rollup = (entry / "smaps_rollup").read_text()
        except OSError:
            continue
        pss = next(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:"))
        found[int(entry.name)] = sum(map(int, fields[11:15])) / _TICKS, pss
    return found


def main() -> None:
    parser = command_line(__doc__, __spec__)
    parser.add_argument("--only", nargs="+", help="of these tools")
    parser.add_argument("--jobs", type=int, default=500, help="to queue at once")
    parser.add_argument("--mixed", type=int, default=40, help="jobs of one to eight GPUs")
    parser.add_argument("--calls", type=int, default=7, help="submissions of a single job")
    parser.add_argument("--rest", type=float, default=30.0, help="seconds to look at it at rest")
    parser.add_argument("--patience", type=float, default=300.0, help="seconds for all to end")
    parser.add_argument("--seed", type=int, default=1, help="of the mixed jobs")
    parser.add_argument("--hyperqueue", help="a Python that has the package hyperqueue")
    options = parser.parse_args()
    tools: list[Tool] = [
        SchedMate(),
        SharedSchedMate(),
        TaskSpooler(),
        Nq(),
        HyperQueue(options.hyperqueue),
        Slurm(),
    ]
    wanted = [tool for tool in tools if not options.only or tool.name in options.only]
    out = console()
    columns: dict[str, Measured] = {}
    os.environ[_MARK] = "yes"
    for tool in progress(wanted, "tools"):
        reason = tool.why_not()
        if reason is not None:
            out.print(f"{tool.name} is left out: {reason}")
            continue
        columns[tool.name] = _measure(tool, options)
    rows = list(dict.fromkeys(row for one in columns.values() for row in one.rows))
    shown = table(f"{machine()}, load {os.getloadavg()[0]:.1f}", ["", *columns])
    for row in rows:
        shown.add_row(row, *(one.rows.get(row, "-") for one in columns.values()))
    out.print(shown)


def _measure(tool: Tool, options: Namespace) -> Measured:
    measured = Measured()
    with tempfile.TemporaryDirectory(prefix="lq-", ignore_cleanup_errors=True) as made:
        folder = Path(made)
        folder.chmod(0o755)
        script = folder / "job.sh"
        script.write_text(_SCRIPT)
        script.chmod(0o755)
        kept = folder / "kept"
        kept.mkdir()
        bench = Bench(tool, script, folder, measured)
        with tool.running(kept):
            bench.measure_single(options.calls)
            bench.measure_many(options.jobs, options.patience)
            bench.measure_mix(options.mixed, options.seed)
            bench.measure_rest(options.rest)
    return measured


if __name__ == "__main__":
    main()
