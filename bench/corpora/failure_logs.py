"""Public logs that are no part of the project: finished runs, and labelled failures.

Where they are is in bench/datasets.py.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from bench.corpora.failure_cases import HEALTHY
from bench.datasets import data_dir, members
from schedmate.handler import Case, NamedLog

LABELS = {
    "ram_oom": "host_oom",
    "oom_killer": "host_oom",
    "cuda_oom": "gpu_oom",
    "segfault": "segfault",
    "file_not_found": "file_not_found",
    "permission": "permission_denied",
    "missing_module": "import_error",
    "div_zero": "zero_division",
    "nan_loss": "loss_nan",
    "assertion": "assertion_error",
    "device_mismatch": "device_mismatch",
    "nccl": "nccl_timeout",
    "cuda_runtime": "cuda_assert cuda_illegal_access",
    "runtime_error": "cuda_unsupported checkpoint_mismatch python_exception",
    "traceback": "key_error index_error",
}
_RUNS = ("modded_nanogpt_sample_logs", "mlperf_sample_logs", "bigscience_megatron_logs")


def finished_runs() -> Iterator[tuple[str, bytes, str]]:
    """Name, log and the right reason: some were cancelled or ran into their limit."""
    for name in _RUNS:
        for file, data in _files(f"logs/{name}.tar.gz"):
            expected = HEALTHY
            if b" CANCELLED AT " in data:
                expected = "time_limit" if b"DUE TO TIME LIMIT" in data else "cancelled"
            yield file, data, expected


def labelled_failures() -> Iterator[tuple[Case, str, frozenset[str]]]:
    """GPUAlert's corpus: case, text and the reasons that its label may mean."""
    files = {Path(name).name: data for name, data in _files("failures/gpualert_corpus.tar.gz")}
    for line in files.pop("labels.jsonl", b"").splitlines():
        label = json.loads(line)
        name = Path(label["log_path"]).name
        case = Case(logs=(NamedLog(name, files[name]),), exit_code=label["true_exit_code"])
        text = files[name].decode(errors="replace")
        yield case, text, frozenset(LABELS[label["mode"]].split())


def _files(name: str) -> Iterator[tuple[str, bytes]]:
    path = data_dir() / name
    if path.exists():
        yield from members(path)
