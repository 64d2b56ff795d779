"""A smoke test on public logs that are not part of the project."""

import json
import os
import tarfile
from collections import Counter
from pathlib import Path

import pytest

from schedmate.handler import Case, Handler, NamedLog

pytestmark = pytest.mark.slow

LABELS = {
    "ram_oom": {"host_oom"},
    "oom_killer": {"host_oom"},
    "cuda_oom": {"gpu_oom"},
    "segfault": {"segfault"},
    "file_not_found": {"file_not_found"},
    "permission": {"permission_denied"},
    "missing_module": {"import_error"},
    "div_zero": {"zero_division"},
    "nan_loss": {"loss_nan"},
    "assertion": {"assertion_error"},
    "device_mismatch": {"device_mismatch"},
    "nccl": {"nccl_timeout"},
    "cuda_runtime": {"cuda_assert", "cuda_illegal_access"},
    # their labels for "some RuntimeError" and "some traceback": ours say which
    "runtime_error": {"cuda_unsupported", "checkpoint_mismatch", "python_exception"},
    "traceback": {"key_error", "index_error"},
}


def _archive(name):
    places = [os.environ.get("SCHEDMATE_DATA"), Path(__file__).parents[3] / "shared" / "data"]
    for place in places:
        if place and (Path(place) / name).exists():
            return Path(place) / name
    return pytest.skip(f"no {name}: set SCHEDMATE_DATA to a directory that has it")


def _files(name):
    with tarfile.open(_archive(name)) as archive:
        return {
            member.name: archive.extractfile(member).read()
            for member in archive.getmembers()
            if member.isfile()
        }


def _reason(name, data, **verdict):
    return Handler().diagnose(Case(logs=(NamedLog(name, data),), **verdict)).reason


@pytest.mark.parametrize("verdict", [True, False], ids=["exit code known", "log alone"])
def test_labelled_failures(verdict):
    files = {
        Path(name).name: data for name, data in _files("failures/gpualert_corpus.tar.gz").items()
    }
    labels = [json.loads(line) for line in files.pop("labels.jsonl").splitlines()]
    wrong = Counter()
    for label in labels:
        name = Path(label["log_path"]).name
        code = label["true_exit_code"] if verdict else None
        reason = _reason(name, files[name], exit_code=code)
        if reason not in LABELS[label["mode"]]:
            wrong[label["mode"], reason] += 1
    assert not wrong


@pytest.mark.parametrize("name", ["modded_nanogpt_sample_logs", "mlperf_sample_logs"])
def test_healthy_logs_raise_no_alarm(name):
    reasons = Counter(_reason(file, data) for file, data in _files(f"logs/{name}.tar.gz").items())
    assert set(reasons) == {"not_failed"}


def test_cancelled_and_timed_out_runs_are_recognised():
    wrong = {}
    for file, data in _files("logs/bigscience_megatron_logs.tar.gz").items():
        expected = "not_failed"
        if b" CANCELLED AT " in data:
            expected = "time_limit" if b"DUE TO TIME LIMIT" in data else "cancelled"
        if (reason := _reason(file, data)) != expected:
            wrong[file] = reason
    assert wrong == {}
