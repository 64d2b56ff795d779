"""Public training runs with what is stated of them, replayed as a queue: no synthetic workload.

    python -m bench.proof.public_runs                     # MLPerf and modded-nanogpt
    python -m bench.proof.public_runs mlperf --seeds 5 --load 1.5

Run times, accelerators, owners and the numbers of each run (model, batch, steps, learning rate) are
real; MLPerf's come from its results, those of modded-nanogpt from the logs of its records, with a
digest of the code. When they were submitted is not: they come in their real order at times drawn
as a Poisson process, a seed each, at such a rate that the jobs keep the GPUs busy for `--load`
times what the cluster of 64 GPUs can do. Runs on more GPUs are left out. MLPerf's are grouped in
series of the same configuration, which favours a user's last runs as a predictor. Time limits are
drawn as users choose them.

Gains are of the average completion time over the policy alone, by predictor: geometric mean over
seeds. `off` is by how much (a factor) half of its predictions were off at most.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from bench.command import command_line, console, machine, progress, table
from bench.corpora.training_runs import mlperf_runs, nanogpt_runs
from bench.datasets import required
from bench.proof.measuring import geometric_mean
from bench.proof.tuning import average_s
from schedmate.model import PastRun
from schedmate.simulator import Setting, columns_of, plan
from schedmate.simulator.estimators.controls import CONTROLS
from schedmate.simulator.experiments.knowledge import Knowledge
from schedmate.simulator.experiments.run import run
from schedmate.simulator.experiments.setting import with_limits
from schedmate.simulator.traces.finished import from_job

GPUS = 64
SETS = ("mlperf", "nanogpt")
POLICIES = ("fifo", "easy", "easy-last-two", "sjf")


def runs_of(name: str) -> list[PastRun]:
    """In their real order, those that a cluster of so many GPUs holds."""
    logs = required("logs")
    if name == "mlperf":
        found = [run for _, run in mlperf_runs(logs / "mlperf_runs.csv.gz")]
    else:
        found = [run for _, run in nanogpt_runs(logs / "modded_nanogpt_runs.csv.gz")]
    fitting = [run for run in found if run.duration_s > 0 and 0 < run.job.request.gpus <= GPUS]
    return sorted(fitting, key=lambda run: run.job.submit_time)


def queued(name: str, runs: list[PastRun], *, load: float, seed: int, most: int) -> Setting:
    """A stretch of so many runs, and when each comes."""
    first = (len(runs) - min(most, len(runs))) * seed // 4
    stretch = runs[first : first + most]
    work = sum(run.duration_s * run.job.request.gpus for run in stretch)
    gaps = np.random.default_rng(seed).exponential(1.0, len(stretch))
    times = np.cumsum(gaps * work / (load * GPUS * gaps.sum()))
    jobs = [
        replace(
            from_job(run.job), job_id=str(number), submit_time=at, start_time=None, time_limit=None
        )
        for number, (run, at) in enumerate(zip(stretch, times.tolist(), strict=True))
    ]
    columns = with_limits(columns_of(jobs), seed=seed)
    return Setting(name=name, columns=columns, gpus=GPUS, seed=seed, recorded=tuple(stretch))


def main() -> None:
    parser = command_line(__doc__, __spec__)
    parser.add_argument("sets", nargs="*", metavar="SET", help=" or ".join(SETS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--load", type=float, default=1.25)
    parser.add_argument("--jobs", type=int, default=800, help="of each stretch")
    parser.add_argument("--policies", default=",".join(POLICIES))
    asked = parser.parse_args()
    began = time.monotonic()
    for name in asked.sets or SETS:
        runs = runs_of(name)
        gains: dict[tuple[str, str], list[float]] = {}
        off: dict[str, list[float]] = {}
        for seed in progress(range(asked.seeds), name):
            here = queued(name, runs, load=asked.load, seed=seed, most=asked.jobs)
            knowledge = Knowledge(here)
            for policy in asked.policies.split(","):
                alone = average_s(run(here, plan(policy), knowledge))
                for predictor in CONTROLS:
                    aided = run(here, plan(f"{policy}+advisor"), knowledge, predictor=predictor)
                    gains.setdefault((policy, predictor), []).append(alone / average_s(aided))
            for predictor in CONTROLS:
                off.setdefault(predictor, []).append(error(here, knowledge, predictor))
        show(f"{name}: {len(runs)} runs, load {asked.load:g}", gains, off)
    print(f"{time.monotonic() - began:.0f} s on {machine()}")


def error(here: Setting, knowledge: Knowledge, predictor: str) -> float:
    """The factor by which half of the predictions are off at most."""
    predicted = np.maximum(knowledge.of(predictor).p50, 1.0)
    logs = np.abs(np.log(predicted / np.maximum(here.columns.duration, 1.0)))
    return float(np.exp(np.nanmedian(logs)))


def show(
    title: str, gains: dict[tuple[str, str], list[float]], off: dict[str, list[float]]
) -> None:
    made = table(title, ("policy", *CONTROLS))
    made.add_row("off", *(f"{geometric_mean(off[name]):.2f}x" for name in CONTROLS))
    for policy in dict.fromkeys(policy for policy, _ in gains):
        cells = (f"{geometric_mean(gains[policy, name]):.2f}" for name in CONTROLS)
        made.add_row(f"{policy}+advisor", *cells)
    console().print(made)


if __name__ == "__main__":
    main()
