"""The examples of the public JSON, field by field, against our types."""

from __future__ import annotations

import jsonschema
import pytest

from schedmate.model import Advice, Diagnosis, Progress, wire

ADVICE = {
    "schema": "schedmate.advice/1",
    "workload": {
        "batch_size": {
            "value": 32,
            "source": "cli",
            "evidence": [{"file": "train.py", "line": 12, "text": "…"}],
            "confidence": 0.99,
        },
        "max_steps": None,
    },
    "prediction": {
        "basis": "same_code",
        "duration_s": {"p10": 3100, "p50": 3600, "p90": 4700},
        "outcome": {"completed": 0.8, "failed": 0.15, "cancelled": 0.05},
        "gpu_memory_mb": 18000,
        "gpu_utilization": 0.9,
        "explanation": "like job 812: same code, 30 instead of 90 epochs",
        "matches": [{"job_id": "812", "similarity": 0.97, "duration_s": 10800}],
    },
    "advice": [{"level": "warning", "text": "asks for 8 GPUs, the code uses one", "evidence": []}],
    "cost": {"seconds": 0.08, "llm_calls": 0, "llm_tokens": 0},
}
PROGRESS = {
    "schema": "schedmate.progress/1",
    "log": "train.log",
    "phase": "training",
    "unit": "step",
    "current": 1200,
    "total": 5000,
    "fraction": 0.24,
    "epoch": 1.2,
    "ends_by": "total",
    "rate_per_s": 3.4,
    "elapsed_s": 353,
    "eta_s": {"p10": 1080, "p50": 1118, "p90": 1190},
    "metrics": {"loss": 2.31, "lr": 0.0003},
    "checkpoint": {"path": "out/ckpt-1000", "step": 1000},
    "confidence": 0.98,
    "format": "tqdm",
    "cost": {"seconds": 0.01, "llm_calls": 0},
}
DIAGNOSIS = {
    "schema": "schedmate.diagnosis/1",
    "reason": "gpu_oom",
    "category": "framework",
    "summary": "rank 3 ran out of GPU memory in backward at step 812",
    "evidence": [{"file": "slurm-17.out", "line": 4711, "text": "…"}],
    "blame": {"nodes": [], "ranks": [3]},
    "confidence": 0.97,
    "source": "rule",
    "decision": {"retry": "no", "exclude_nodes": [], "why": "…"},
    "suggestion": "halve the batch size or turn on gradient checkpointing",
    "cost": {"seconds": 0.05, "llm_calls": 0},
}
WORKLOAD_FIELDS = [
    "entry_point",
    "framework",
    "task",
    "model",
    "model_parameters",
    "d_model",
    "n_layer",
    "n_head",
    "vocab_size",
    "sequence_length",
    "dataset",
    "batch_size",
    "gradient_accumulation",
    "epochs",
    "max_steps",
    "optimizer",
    "learning_rate",
    "precision",
    "parallelism",
    "nodes",
    "gpus",
    "checkpoint_dir",
    "checkpoint_every",
    "resumes",
    "log_files",
]
PHASES = [
    "starting",
    "training",
    "evaluating",
    "checkpointing",
    "stalled",
    "finished",
    "failed",
    "unknown",
]
EXAMPLES = [(Advice, ADVICE), (Progress, PROGRESS), (Diagnosis, DIAGNOSIS)]


@pytest.mark.parametrize(("kind", "example"), EXAMPLES)
def test_an_example_of_the_spec_is_read_and_written_as_it_stands(kind, example):
    written = wire.to_json(wire.from_json(kind, example))

    assert _in_order(example, written)
    assert _is_part_of(example, written)
    jsonschema.validate(written, wire.json_schema(kind))


def test_the_record_has_the_fields_of_the_spec():
    assert _in_order(WORKLOAD_FIELDS, wire.to_json(wire.from_json(Advice, ADVICE))["workload"])


@pytest.mark.parametrize("phase", PHASES)
def test_every_phase_of_the_spec_is_known(phase):
    assert wire.from_json(Progress, PROGRESS | {"phase": phase}).phase == phase


@pytest.mark.parametrize("retry", ["no", "same", "elsewhere", "resume", "wait"])
def test_every_decision_of_the_spec_is_known(retry):
    decision = {"retry": retry, "why": "…"}

    assert wire.from_json(Diagnosis, DIAGNOSIS | {"decision": decision}).decision.retry == retry


def _in_order(fields, written) -> bool:
    """The fields of the spec are all there, in its order; others may stand between them."""
    return [name for name in written if name in fields] == list(fields)


def _is_part_of(example, written) -> bool:
    """Everything the example says is there; more may be."""
    if isinstance(example, dict):
        return all(_is_part_of(value, written[key]) for key, value in example.items())
    if isinstance(example, list):
        return len(example) == len(written) and all(map(_is_part_of, example, written))
    return example == written
