"""Facts about public jobs and failures, with labels: where each can be had, and what was read.

`jobs.jsonl`: jobs of public repositories, drawn without regard to checkpoints by one reader who had
not asked the advisor about them. Of the public repositories that hold a file called `train.sbatch`,
`train.slurm`, `run.sbatch`, `run.slurm`, `job.slurm`, `train_slurm.sh`, `slurm_train.sh`,
`slurm/train.sh`, `scripts/train.slurm` or `scripts/train.sbatch` (the first hundred of each list by
name of the owner), those whose listed commit begins with 0 or 1, and with 2 in four of the lists to
have more of them. The lists were gone through by eye: rows may have been missed, and four that by
their names use no GPU were left out. Lists of more general names (`slurm.sh`, `sbatch.sh` and the
like) were not used, as most of their scripts ask for none. `sample.json` counts what fell away: no
copy to be had, the file in no commit of it, no GPU requested. `resumes` says what happens when the
job is requeued as it stands:

    yes      it goes on from its newest checkpoint, with optimiser and counters
    weights  it loads the weights that it wrote, and begins its epochs again
    parts    finished parts (trials, stages) are left out, the one that ran begins again
    flag     the code can, but an argument, a setting or a variable must be changed for it
    no       nothing loads what it wrote
    unclear  the program that is started is not in the repository
    none     it trains nothing

`where` is the line that shows it. `second_pass.jsonl`: a third of them, read again by the same
reader. `others.jsonl`: jobs of corpora/advice that other people had labelled, read by this reader
before their labels were looked at. `resume_blind.jsonl`: trainings on GPUs that are in no other
file here, to judge the advisor's `resumes`; read and labelled by the one who then wrote its reader
of resuming, before it had read them. Most are of repositories that hold `slurm/train.sbatch`,
`slurm/train.slurm`, `scripts/slurm/train.sbatch`, `scripts/slurm_train.sh` or `slurm/pretrain.*`;
`chosen_for` is `resume` where the code was seen to speak of resuming (to have some that do: they
are no sample of anything), else `plain`. `saves_at` and `loads_at` are the lines.
`nan_threads.jsonl`: threads found by searching for them, no sample. `published_failures.jsonl`:
tables of two papers, from a digest of them; `sign` is ours.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from schedmate.model.wire import from_json

HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledJob:
    repository: str
    commit: str
    script: str
    kind: str
    saves: str
    """none, end, best or regular"""
    state: str
    """full: with optimiser and counters; weights"""
    every: str
    resumes: str
    where: str
    note: str
    gpus: int | None
    hours: float | None
    requeue: bool
    no_requeue: bool
    signal: bool
    array: bool
    depends: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class BlindJob:
    repository: str
    commit: str
    script: str
    args: tuple[str, ...]
    directory: str
    chosen_for: str
    """resume or plain"""
    resumes: str
    saves_at: str
    loads_at: str
    note: str
    round: int
    """1 was read before the reader of resuming was written and mended once after; 2 after that"""
    command: tuple[str, ...]
    """instead of a script"""


def read_rows(name: str) -> Iterator[dict[str, Any]]:
    """Of a file of JSON lines in this directory."""
    for line in (HERE / name).read_text(encoding="utf-8").splitlines():
        yield json.loads(line)


def sampled_jobs() -> list[SampledJob]:
    return [from_json(SampledJob, row) for row in read_rows("jobs.jsonl")]


def blind_jobs() -> list[BlindJob]:
    return [from_json(BlindJob, row) for row in read_rows("resume_blind.jsonl")]


def sample_counts() -> dict[str, int]:
    counts: dict[str, int] = json.loads((HERE / "sample.json").read_text(encoding="utf-8"))
    return counts
