"""The live experiment: real jobs on private Slurms, alone, with SchedMate and with controls.

    python -m bench.live.experiment --jobs 60 --history 120        # a smoke run
    python -m bench.live.experiment --pairs 5 --keep DIR           # five times, submissions shaken
    python -m bench.live.experiment --resumable 0.065              # the share that was measured
    python -m bench.live.experiment --real-gpus                    # on this machine's own GPUs

Needs root, `scripts/install-test-packages` and the traces. Private clusters of 4 nodes with 8 GPUs
each run the same jobs at the same time, one for each arm of `bench.live.arms`: Slurm alone; with
`schedmate serve` in mode `act` that orders the queue; with all its levers but sharing (runs make
way after a checkpoint, doomed ones are stopped, limits); and a control of either: `history` orders
by predictions without code, `las` has the levers and no predictions. A pair is one run of all.
The jobs are a slice of Philly in compressed time, by the rule in `bench.live.replayed_jobs`; their
GPUs do not exist and their steps sleep. What was predicted beforehand comes from the runs before
the slice, imported with their code, and one resume of each code that does was seen. At the end the
simulator's policy `slurm` replays the same jobs with the same levers and the parameters of these
clusters, and its error is stated; `oracle` is its stack with the true run times.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from bench.command import command_line, machine
from bench.live import programs, proving, real_gpus, replayed_jobs
from bench.live.arm import ArmResult, Attempt, JobResult, read_store
from bench.live.arms import ARMS, DAEMON, DAEMONS, PLAIN
from bench.live.comparing import Compared, compare, report_all
from bench.live.compressed_time import compress
from bench.live.measures import Pair
from bench.live.replayed_jobs import ReplayedJob
from schedmate.testing.slurm_cluster import why_not


def main() -> None:
    parser = command_line(__doc__, __spec__)
    parser.add_argument("--jobs", type=int, default=250)
    parser.add_argument("--history", type=int, default=800)
    parser.add_argument("--pairs", type=int, default=1)
    parser.add_argument("--first", type=int, default=1, help="number of the first pair: its seed")
    parser.add_argument("--load", type=float, default=1.0)
    parser.add_argument("--resumable", type=float, default=0.6, help="share of the jobs")
    parser.add_argument("--doomed", type=float, default=0.05, help="share of the jobs")
    parser.add_argument("--arms", default=",".join(ARMS), help=f"{PLAIN} and some of the others")
    parser.add_argument("--set", action="append", default=[], help="NAME=VALUE of the daemon")
    parser.add_argument("--keep", type=Path, help="a directory for plans, results and logs")
    parser.add_argument(
        "--replicas", type=int, default=8, help="simulated runs of each arm; 0: none"
    )
    parser.add_argument("--only-report", action="store_true", help="of what --keep holds")
    parser.add_argument("--real-gpus", action="store_true", help="real trainings on real GPUs")
    parser.add_argument("--minutes", type=float, default=60.0, help="in all, with --real-gpus")
    parser.add_argument("--controls", action="store_true", help="an arm more, with --real-gpus")
    parser.add_argument("--python", type=Path, help="one that has torch, with --real-gpus")
    parser.add_argument("--report", type=Path, default=Path("schedmate-on-gpus"))
    options = parser.parse_args()
    if options.real_gpus:
        real_gpus.run_and_report(
            options.minutes, options.python, options.report.resolve(), controls=options.controls
        )
        return
    reason = None if options.only_report else why_not()
    if reason is not None:
        parser.error(reason)
    arms = options.arms.split(",")
    if arms[0] != PLAIN or not set(arms) <= ARMS.keys():
        parser.error(f"--arms is {PLAIN} and some of {','.join(DAEMONS)}")
    print(machine())
    compress()  # for the simulations
    with tempfile.TemporaryDirectory(dir="/tmp") as made:
        directory = (options.keep or Path(made)).resolve()
        directory.mkdir(parents=True, exist_ok=True)
        directory.chmod(0o755)
        shares = {"resumable": options.resumable, "doomed": options.doomed}
        history, jobs = replayed_jobs.sliced(
            options.jobs, options.history, load=options.load, **shares
        )
        settings = dict(each.split("=", 1) for each in options.set)
        found: list[Compared] = []
        for pair in range(options.first, options.first + options.pairs):
            shaken = replayed_jobs.shaken(jobs, pair)
            if not options.only_report:
                state = _imported(history, jobs, directory)
                _run_pair(pair, shaken, directory, state, settings, arms=arms)
            if options.replicas:
                results = [_read_arm(pair, arm, directory) for arm in arms]
                found.append(compare(Pair.of(shaken, results), settings, options.replicas))
        if len(found) > 1:
            report_all(found)


def _imported(history: list[ReplayedJob], jobs: list[ReplayedJob], directory: Path) -> Path:
    """The state directory of a site that has seen the runs before the slice."""
    state, root = directory / "state", directory / "history"
    if state.exists():
        return state
    shutil.rmtree(root, ignore_errors=True)
    programs.write(history, root)
    path = directory / "history.csv"
    span = max(job.at_s for job in history) + 1.0
    programs.write_history(history, root, path, before=time.time() - 60.0 - span)
    began = time.monotonic()
    subprocess.run(
        [sys.executable, "-P", "-m", "schedmate", "history", "import", str(path)],
        env={**os.environ, **DAEMON, "SCHEDMATE_STATE_DIR": str(state)},
        check=True,
    )
    print(f"the history was imported in {time.monotonic() - began:.0f} s")
    if any(job.resumes for job in jobs):
        shutil.rmtree(directory / "proof", ignore_errors=True)
        found = proving.prove(jobs, directory / "proof", state)
        print(f"{found} codes were seen to resume, {time.monotonic() - began:.0f} s")
    return state


def _run_pair(
    pair: int,
    jobs: list[ReplayedJob],
    directory: Path,
    state: Path,
    settings: dict[str, str],
    *,
    arms: Sequence[str],
) -> None:
    """All arms at the same time, so that whatever else the machine does hits all."""
    running = []
    for arm in arms:
        root = directory / f"{pair}-{arm}"
        shutil.rmtree(root, ignore_errors=True)
        programs.write(jobs, root)
        plan = directory / f"{pair}-{arm}.plan.json"
        plan.write_text(
            json.dumps(
                {
                    "jobs": [asdict(job) for job in jobs],
                    "root": str(root),
                    "state": str(state),
                    "settings": settings,
                }
            )
        )
        result = directory / f"{pair}-{arm}.json"
        words = ["-P", "-m", "bench.live.arm", str(plan), arm, str(result)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        running.append(subprocess.Popen([sys.executable, *words], env=environment))
    codes = [each.wait() for each in running]
    if any(codes):
        sys.exit(f"an arm of pair {pair} ended with {codes}")


def _read_arm(pair: int, arm: str, directory: Path) -> ArmResult:
    result = _read(directory / f"{pair}-{arm}.json")
    if arm in DAEMONS:
        read_store(directory / f"{pair}-{arm}.state" / "schedmate.sqlite3", result)
    return result


def _read(path: Path) -> ArmResult:
    raw = json.loads(path.read_text())
    jobs = [
        JobResult(**each | {"attempts": [Attempt(**one) for one in each["attempts"]]})
        for each in raw.pop("jobs")
    ]
    known = ArmResult.__dataclass_fields__
    return ArmResult(**{name: raw[name] for name in raw if name in known}, jobs=jobs)


if __name__ == "__main__":
    main()
