"""Public training runs with real durations, as the store would remember them.

A job's record holds what is in the table: batch, optimiser, learning rate, GPUs.
A cell is one system running one benchmark: the same configuration several times, with other seeds.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.datasets import rows
from schedmate.model import Finding, Fingerprint, Job, JobState, PastRun, Request, Workload

Row = dict[str, str]
_TASKS = {
    "bert": ("language_modeling", "wikipedia"),
    "dlrm": ("recommendation", "criteo-1tb"),
    "dlrm_dcnv2": ("recommendation", "criteo-1tb-multihot"),
    "gnn": ("graph", "igbh-full"),
    "gpt3": ("language_modeling", "c4"),
    "llama2_70b_lora": ("language_modeling", "scrolls-govreport"),
    "maskrcnn": ("object_detection", "coco"),
    "minigo": ("reinforcement_learning", "self-play"),
    "resnet": ("image_classification", "imagenet"),
    "rnnt": ("speech", "librispeech"),
    "stable_diffusion": ("diffusion", "laion-400m-filtered"),
    "unet3d": ("segmentation", "kits19"),
    "llama31_8b": ("language_modeling", "c4"),
    "llama31_405b": ("language_modeling", "c4"),
    "flux1": ("diffusion", "cc12m"),
}
_LIBRARIES = ("mxnet", "pytorch", "tensorflow", "jax", "hugectr", "nemo", "poplar", "dgl")
_RETINANET_SINCE = (2, 0)


def mlperf_runs(path: Path) -> list[tuple[tuple[str, ...], PastRun]]:
    """Each with its cell. The duration is that of training; what came before is left out."""
    return [
        ((row["round"], row["org"], row["system"], row["benchmark"]), mlperf_run(row))
        for row in rows(path)
        if _number(row["train_seconds"])
    ]


def mlperf_run(row: Row) -> PastRun:
    start = float(row["run_start_ms"]) / 1e3
    gpus, seconds = int(row["accelerators"]), float(row["train_seconds"])
    job = Job(
        id=row["run_id"],
        name=row["benchmark"],
        user=row["org"],
        state=JobState.COMPLETED if row["status"] == "success" else JobState.FAILED,
        workdir="/",
        request=Request(gpus=gpus, gpu_type=row["accelerator"] or None, nodes=int(row["nodes"])),
        submit_time=start,
        start_time=start,
        end_time=start + seconds,
    )
    return PastRun(job=job, workload=_mlperf_record(row, gpus))


def _mlperf_record(row: Row, gpus: int) -> Workload:
    """All of them train until a quality is reached, whatever `max_steps` says."""
    model, task, dataset = _mlperf_model(row)
    batch = _number(row["global_batch_size"])
    steps = _number(row["max_steps"])
    return _record(
        model=model,
        task=task,
        dataset=dataset,
        framework=_library(row["framework"]),
        batch_size=max(1, round(batch / gpus)) if batch else None,
        optimizer=row["opt_name"] or None,
        learning_rate=_number(row["base_lr"]),
        max_steps=int(steps) if steps else None,
        gpus=gpus,
        nodes=int(row["nodes"]),
        early_stopping=True,
    )


def _mlperf_model(row: Row) -> tuple[str, str | None, str | None]:
    """The benchmark called ssd trains another model on other data since round 2.0."""
    name = row["benchmark"]
    if name == "ssd":
        later = tuple(map(int, re.findall(r"\d+", row["round"]))) >= _RETINANET_SINCE
        return (
            ("retinanet", "object_detection", "openimages")
            if later
            else (
                "ssd-resnet34",
                "object_detection",
                "coco",
            )
        )
    return (name, *_TASKS.get(name, (None, None)))


def _library(text: str) -> str | None:
    """None where a submission names several for all its benchmarks."""
    named = [each for each in _LIBRARIES if each in text.lower()]
    return named[0] if len(named) == 1 else None


def nanogpt_runs(path: Path) -> list[tuple[str, PastRun]]:
    """Each with its record's date; in order. Steps are known before the run, its code as a hash.

    A log that two records share counts for the first.
    """
    found = [row for row in rows(path) if _number(row["train_ms"]) and row["steps_total"]]
    found.sort(key=lambda row: (row["record"][:10], row["path"]))
    found = list({row["blob"]: row for row in reversed(found)}.values())[::-1]
    return [(row["record"][:10], _nanogpt_run(place, row)) for place, row in enumerate(found)]


def _nanogpt_run(place: int, row: Row) -> PastRun:
    seconds = float(row["train_ms"]) / 1e3
    day = datetime.fromisoformat(row["record"][:10]).replace(tzinfo=UTC)
    start = day.timestamp() + place
    gpus = int(float(row["gpus"] or 8))
    job = Job(
        id=row["blob"][:12],
        name=row["track"],
        user="modded-nanogpt",
        state=JobState.COMPLETED,
        workdir="/",
        request=Request(gpus=gpus, gpu_type=row["gpu"] or None),
        submit_time=start,
        start_time=start,
        end_time=start + seconds,
    )
    record = _record(
        model="gpt2-medium" if "medium" in row["track"] else "gpt2",
        dataset="fineweb",
        task="language_modeling",
        framework="pytorch",
        entry_point="train_gpt.py",
        max_steps=int(float(row["steps_total"])),
        gpus=gpus,
    )
    fingerprint = (
        Fingerprint(code=row["code_sha"], arguments="") if row["has_code"] == "True" else None
    )
    return PastRun(job=job, workload=record, fingerprint=fingerprint)


def _record(**values: Any) -> Workload:
    return Workload(
        **{
            name: Finding(value=value, source="code")
            for name, value in values.items()
            if value is not None
        }
    )


def _number(text: str) -> float | None:
    try:
        return float(text) or None
    except ValueError:
        return None
