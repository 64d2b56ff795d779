"""How much of the GPU time of failed runs lies after the first sure sign."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.corpora.shares import read_rows
from bench.datasets import data_dir, rows
from bench.proof.proportions import Proportion

if TYPE_CHECKING:
    from numpy.typing import NDArray

TRACES = {
    "Philly": "philly_15k_status",
    "Helios": "helios_15k_status",
    "ThetaGPU": "alcf_thetagpu",
}
_MINUTES_S = 600.0
_SAME_S, _SAME_SHARE = 30.0, 0.1
_THIRD = 3
_NOBODY = "0"
"""The user of most jobs of ThetaGPU: their failures belong to nobody's series."""
BEFORE_THE_START = ("SyntaxError", "ImportError", "ModuleNotFoundError", "FileNotFoundError")
"""What a look at script, code, environment and files could have found."""


@dataclass(frozen=True, slots=True)
class Runs:
    user: list[str]
    gpus: NDArray[np.float64]
    run_s: NDArray[np.float64]
    limit_s: NDArray[np.float64]
    status: NDArray[np.str_]

    @property
    def gpu_s(self) -> NDArray[np.float64]:
        return self.gpus * self.run_s

    def share_of_time(self, chosen: NDArray[np.bool_]) -> float:
        return float(self.gpu_s[chosen].sum() / self.gpu_s.sum())


def read_runs(name: str) -> Runs | None:
    path = data_dir() / "traces" / f"{TRACES[name]}.csv.gz"
    if not path.is_file():
        return None
    table = [row for row in rows(path) if float(row["gpu_num"]) > 0]

    def column(field: str) -> NDArray[np.float64]:
        return np.array([float(row[field]) for row in table])

    return Runs(
        user=[row["user"] for row in table],
        gpus=column("gpu_num"),
        run_s=column("run_time"),
        limit_s=column("wall_time"),
        status=np.array([row["new_status"] for row in table]),
    )


def repeats(runs: Runs, *, alike: bool) -> NDArray[np.bool_]:
    """Third and later failures in a row of one user with as many GPUs; `alike`: that took as long
    as the one before, too."""
    chosen = np.zeros(len(runs.user), dtype=bool)
    series: dict[tuple[str, float], tuple[int, float]] = {}
    for place, (user, gpus, ran) in enumerate(zip(runs.user, runs.gpus, runs.run_s, strict=True)):
        if user == _NOBODY:
            continue
        length, before = series.get((user, gpus), (0, 0.0))
        if runs.status[place] != "Failed":
            length = 0
        elif alike and length and abs(ran - before) > max(_SAME_S, _SAME_SHARE * before):
            length = 1
        else:
            length += 1
        series[user, gpus] = (length, ran)
        chosen[place] = length >= _THIRD
    return chosen


def print_traces() -> dict[str, Any]:
    found = {}
    print(
        "\ntrace | GPU jobs | failed: jobs, GPU time | killed: jobs, GPU time | median failed run"
        " | failed within 10 min: jobs, of failed GPU time | GPU time after the first 10 min of"
        " failed runs | third failure in a row and later, alike to loose: jobs, GPU time"
        " | failed at the limit"
    )
    for name in TRACES:
        runs = read_runs(name)
        if runs is None:
            print(f"{name} | not there")
            continue
        found[name] = measure(runs)
        print(f"{name} | {describe(found[name])}")
    return found


def measure(runs: Runs) -> dict[str, float]:
    failed, killed = runs.status == "Failed", runs.status == "Killed"
    short = failed & (runs.run_s < _MINUTES_S)
    later = np.maximum(runs.run_s - _MINUTES_S, 0.0) * runs.gpus
    alike, loose = repeats(runs, alike=True), repeats(runs, alike=False)
    at_limit = failed & (runs.limit_s > 0) & (runs.run_s >= 0.99 * runs.limit_s)
    return {
        "jobs": len(runs.user),
        "failed_jobs": float(failed.mean()),
        "failed_time": runs.share_of_time(failed),
        "killed_jobs": float(killed.mean()),
        "killed_time": runs.share_of_time(killed),
        "failed_median_s": float(np.median(runs.run_s[failed])),
        "short_of_failed_jobs": float(short.sum() / failed.sum()),
        "short_of_failed_time": float(runs.gpu_s[short].sum() / runs.gpu_s[failed].sum()),
        "after_minutes_time": float(later[failed].sum() / runs.gpu_s.sum()),
        "alike_repeats_jobs": float(alike.mean()),
        "alike_repeats_time": runs.share_of_time(alike),
        "loose_repeats_jobs": float(loose.mean()),
        "loose_repeats_time": runs.share_of_time(loose),
        "at_limit_time": runs.share_of_time(at_limit),
    }


def describe(of: dict[str, float]) -> str:
    return (
        f"{of['jobs']:.0f} | {of['failed_jobs']:.1%}, {of['failed_time']:.1%} | "
        f"{of['killed_jobs']:.1%}, {of['killed_time']:.1%} | {of['failed_median_s']:.0f} s | "
        f"{of['short_of_failed_jobs']:.1%}, {of['short_of_failed_time']:.2%} | "
        f"{of['after_minutes_time']:.1%} | {of['alike_repeats_jobs']:.1%} to "
        f"{of['loose_repeats_jobs']:.1%}, {of['alike_repeats_time']:.2%} to "
        f"{of['loose_repeats_time']:.1%} | {of['at_limit_time']:.1%}"
    )


def print_failed_logs() -> dict[str, float]:
    """Failed GPU runs of public LSF reports: by their last error line and how long they ran."""
    path = data_dir() / "traces" / "lsf_dtu_jobs.csv.gz"
    if not path.is_file():
        print("\nno LSF reports there")
        return {}
    runs = [row for row in rows(path) if float(row["gpus"] or 0) > 0]
    failed = [row for row in runs if row["status"] != "COMPLETED"]
    time: dict[str, float] = defaultdict(float)
    number: Counter[str] = Counter()
    for row in failed:
        word = sign_of(row["last_error"], float(row["duration_s"]))
        number[word] += 1
        time[word] += float(row["duration_s"])
    whole = sum(time.values())
    owners = Counter(row["repo"] for row in failed)
    print(
        f"\n{len(failed)} failed GPU runs with logs (LSF), of {len(owners)} repositories, "
        f"{max(owners.values())} of one: intervals are too narrow"
    )
    for word, count in number.most_common():
        of_time = time[word] / whole
        print(f"  {word} | {Proportion(count, len(failed))} | {of_time:.2%} of their time")
    everything = sum(float(row["duration_s"]) for row in runs)
    print(f"  failed runs hold {whole / everything:.1%} of the GPU time of {len(runs)} runs")
    return {word: time[word] / whole for word in number}


def sign_of(last_error: str, ran_s: float) -> str:
    if ran_s >= _MINUTES_S:
        return "later, or ended from outside"
    known = last_error.partition(":")[0] in BEFORE_THE_START
    return "before the start" if known else "first 10 minutes"


def print_published() -> dict[str, dict[str, float]]:
    """Tables of failures in papers on two production clusters, by what could have been known."""
    found: dict[str, dict[str, float]] = {}
    for row in read_rows("published_failures.jsonl"):
        of = found.setdefault(row["cluster"], defaultdict(float))
        of[row["sign"]] += row["percent_of_failed_time"] / 100
        of[f"{row['sign']} failures"] += row["failures"]
    print("\npublished | known before the start | + perhaps (inputs, files) | at the start | NaN |"
          " checkpoint not written | no sign before")  # fmt: skip
    for cluster, of in found.items():
        print(
            f"{cluster}, share of failed time | {of['submission']:.2%} | "
            f"{of['submission'] + of['perhaps']:.1%} | {of['start']:.2%} | {of['nan']:.2%} | "
            f"{of['checkpoint']:.1%} | {of['none'] + of['hang']:.1%}"
        )
    return {cluster: dict(of) for cluster, of in found.items()}


def print_nan() -> dict[str, float]:
    """Threads that were searched for: what happens after a NaN, not how often there is one."""
    threads = list(read_rows("nan_threads.jsonl"))
    shown = [row for row in threads if row["then"] != "not shown"]
    on = Proportion(sum(not row["then"].startswith("stops") for row in shown), len(shown))
    planned = [
        row["first_nan"] / row["planned"]
        for row in threads
        if row["planned"] and row["first_nan"] is not None
    ]
    assumed = sum(row["planned_is"] == "assumed" for row in threads)
    median = float(np.median(planned))
    print(
        f"\n{len(threads)} public threads on a loss that is NaN: the run goes on in {on} of those "
        f"that show it; the first NaN stands at {median:.1%} of the planned run (median of "
        f"{len(planned)}, {min(planned):.1%} to {max(planned):.1%}; the length of {assumed} is the "
        "default of the code)"
    )
    return {"goes_on": on.share, "first_nan_of_planned": median}
