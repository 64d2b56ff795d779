"""How well durations are predicted on real traces with a synthetic workload, and what that needs.

    python -m bench.accuracy.synthetic_workloads                      # five sets, every job
    python -m bench.accuracy.synthetic_workloads theta --jobs 2000    # the first jobs of one
    python -m bench.accuracy.synthetic_workloads --sweep helios --jobs 800  # each assumption

Submissions, durations, users, GPUs and ends are the traces' own; projects, numbers and code are
made up so that they explain a stated share of those durations
(docs/explanation/synthetic-workloads.md). In the order of submission; a prediction rests on the
jobs that had ended by then, as if none had waited (ThetaGPU: with its real waits). The first tenth
of the jobs is not counted. Sigma is the standard deviation of
ln(predicted / real), times below a second counted as one; `stated` is what each job's numbers come
to at the usual pace of its code. Data: bench/README.md.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Iterator

import numpy as np

from bench.command import command_line, machine
from bench.corpora import traces as data
from schedmate.advisor.predict.jobs import EndedJob
from schedmate.model import JobState, SchedMateError
from schedmate.simulator.estimators import advisor, controls
from schedmate.simulator.estimators.base import Estimates
from schedmate.simulator.synthetic import SyntheticWorkload, draw_workload
from schedmate.simulator.traces.base import TraceJob
from schedmate.simulator.traces.columns import STATES, Floats, TraceColumns, columns_of

COMPLETED = STATES.index(JobState.COMPLETED)
SETS = ("helios", "philly", "theta", "philly-2017", "itp")
SWEEPS = {
    "explained": (0.0, 0.25, 0.5, 0.75, 0.9),
    "resubmission": (0.3, 0.6, 0.9, 1.0),
    "edits": (0.0, 0.2, 0.5, 1.0),
    "wrong_records": (0.0, 0.02, 0.1, 0.3),
    "unread": (0.0, 0.15, 0.5),
}
HEAD = (
    f"{'':26}{'jobs':>7}{'sigma':>7}{'  to their end':>15}{'early':>7}{'within 2x':>11}{'p90':>7}"
    f"{'ms a job':>10}"
)


def traces(name: str, most: int) -> Iterator[tuple[str, TraceColumns, Floats]]:
    """With when each job's end is known; ITP by cluster, since each knows only its own jobs."""
    runs = data.jobs(name)
    parts = {name: runs}
    if name == "itp":
        users = sorted({run.facts.user for run in runs})
        parts = {f"itp {user}": [r for r in runs if r.facts.user == user] for user in users}
    for part, of_part in parts.items():
        some = of_part[:most]
        columns = columns_of([_job(run) for run in some])
        ends = {run.facts.job_id: run.ended_at for run in some}
        yield part, columns, np.array([ends[job] for job in columns.ids])


def _job(run: EndedJob) -> TraceJob:
    facts = run.facts
    return TraceJob(
        job_id=facts.job_id,
        user=facts.user,
        submit_time=facts.submitted_at,
        duration=run.duration_s,
        gpus=max(1, facts.gpus),
        nodes=max(1, facts.nodes),
        status=run.state,
        time_limit=facts.limit_s,
        group=facts.partition or None,
    )


def methods(
    columns: TraceColumns, known_at: Floats, workload: SyntheticWorkload
) -> dict[str, Callable[[], Estimates]]:
    seen = workload.visible_columns(columns)
    found: dict[str, Callable[[], Estimates]] = {
        "user's last two": lambda: controls.last_two(columns, known_at),
        "SiteModel, bare trace": lambda: advisor.estimate(columns, known_at),
        "SiteModel, with names": lambda: advisor.estimate(seen, known_at),
        "advisor, with workload": lambda: advisor.estimate(columns, known_at, workload),
        "the stated time itself": lambda: Estimates.exactly(workload.stated_s, "stated"),
    }
    known = getattr(importlib.import_module("schedmate.simulator.estimators"), "ESTIMATORS", {})
    if "qssf" in known:
        found["QSSF, with names"] = lambda: known["qssf"](seen, known_at)
    return found


def row(name: str, columns: TraceColumns, predicted: Estimates, seconds: float) -> str:
    since = slice(len(columns) // 10, None)
    real = np.maximum(columns.duration, 1.0)[since]
    off = np.log(np.maximum(predicted.p50[since], 1.0) / real)
    ended, known = (columns.status == COMPLETED)[since], ~np.isnan(off)
    spreads = [
        f"{off[which & known].std():.2f}" if (which & known).any() else "-"
        for which in (known, ended, ~ended)
    ]
    near = (np.abs(off[known]) <= np.log(2)).mean()
    covered = (columns.duration[since] <= predicted.p90[since])[known].mean()
    return (
        f"{name:26}{known.sum():7,}{spreads[0]:>7}{spreads[1]:>15}{spreads[2]:>7}{near:11.1%}"
        f"{covered:7.1%}{1e3 * seconds / len(columns):10.2f}"
    )


def report(name: str, most: int, seed: int) -> None:
    for part, columns, known_at in traces(name, most):
        workload = draw_workload(columns, seed=seed)
        early = (columns.status != COMPLETED).mean()
        print(f"\n{part}: {len(columns):,} jobs, {early:.0%} ended early\n{HEAD}")
        for method, ask in methods(columns, known_at, workload).items():
            began = time.process_time()
            try:
                predicted = ask()
            except SchedMateError as error:
                print(f"{method:26} {error}")
                continue
            print(row(method, columns, predicted, time.process_time() - began), flush=True)


def sweep(name: str, most: int, seed: int) -> None:
    for part, columns, known_at in traces(name, most):
        print(f"\n{part}: {len(columns):,} jobs, what each assumption is worth\n{HEAD}")
        for assumption, values in SWEEPS.items():
            for value in values:
                workload = draw_workload(columns, seed=seed, **{assumption: value})
                began = time.process_time()
                predicted = advisor.estimate(columns, known_at, workload)
                took = time.process_time() - began
                print(row(f"{assumption} {value:g}", columns, predicted, took), flush=True)
        return


def main() -> None:
    parser = command_line(__doc__, __spec__)
    parser.add_argument("sets", nargs="*", default=list(SETS), metavar="SET", help=", ".join(SETS))
    parser.add_argument("--jobs", type=int, default=1_000_000, help="the first so many of each")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sweep", action="store_true", help="the assumptions one by one")
    arguments = parser.parse_args()
    began = time.monotonic()
    for name in arguments.sets:
        (sweep if arguments.sweep else report)(name, arguments.jobs, arguments.seed)
    print(f"\n{time.monotonic() - began:.0f} s on {machine()}")


if __name__ == "__main__":
    main()
