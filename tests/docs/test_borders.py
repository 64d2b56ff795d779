"""Where two reasons meet, the reference says which one it is; these are its rows."""

from __future__ import annotations

import re

import pytest

from docs.generate import REFERENCE
from schedmate.handler import Case, Handler, NamedLog, parse_verdict

RAISED = 'Traceback (most recent call last):\n  File "train.py", line 88, in step\n    go()\n'
ROWS = {
    line: reason
    for reason, lines in {
        "cuda_unsupported": [f"{RAISED}AssertionError: Torch not compiled with CUDA enabled"],
        "gpu_lost": [
            "RuntimeError: Found no NVIDIA driver on your system. Please check that you have one.",
            "RuntimeError: CUDA error: no CUDA-capable device is detected",
        ],
        "driver_mismatch": ["RuntimeError: The NVIDIA driver on your system is too old."],
        "cuda_error": ["RuntimeError: CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling it"],
        "gpu_oom": ["RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling it"],
        "compile_error": [
            f"{RAISED}triton.runtime.errors.OutOfResources: out of resource: shared memory"
        ],
        "python_exception": [f"{RAISED}_pickle.UnpicklingError: Weights only load failed."],
        "disk_full": [f"{RAISED}RuntimeError: PytorchStreamWriter failed writing file data/3"],
        "host_oom": ["slurmstepd: error: Detected 1 oom_kill event in StepId=17.0."],
        "cuda_illegal_access": ["RuntimeError: CUDA error: an illegal memory access was met"],
        "file_not_found": ['Failed to pull image "a/b:1": manifest unknown: not found'],
        "auth_error": ["docker: Error response from daemon: pull access denied for a/b"],
        "command_not_found": [
            'OCI runtime create failed: exec: "trainn": executable file not found in $PATH: unknown'
        ],
    }.items()
    for line in lines
}


def test_the_page_has_no_other_reason_than_those_tried():
    table = (REFERENCE / "failures.md").read_text("utf-8").partition("## Where two reasons meet")[2]
    told = set(re.findall(r"^\|[^|]*\| `(\w+)`(?:, `(\w+)`)? \|", table, re.MULTILINE))
    states = {"killed", "nccl_timeout", "nccl_remote", "cancelled", "time_limit"}
    states |= {"service_unreachable", "loss_nan", "not_failed"}

    assert told
    assert {reason for pair in told for reason in pair if reason} <= {*ROWS.values(), *states}


@pytest.mark.parametrize(("line", "reason"), ROWS.items(), ids=ROWS.values())
def test_it_is_the_reason_that_the_page_gives(line, reason):
    assert _said(line, exit_code=1) == reason


def test_with_an_error_of_the_hardware_it_is_that():
    xid = "NVRM: Xid (PCI:0000:3b:00): 79, pid=1, GPU has fallen off the bus.\n"

    assert _said(f"{xid}RuntimeError: CUDA error: an illegal memory access", exit_code=1) == (
        "gpu_lost"
    )


@pytest.mark.parametrize("word", ["TIMEOUT", "DEADLINE", "TERM_RUNLIMIT", "DeadlineExceeded"])
def test_a_limit_of_time_by_the_state(word):
    assert _said("step 7", state=parse_verdict(word)[0]) == "time_limit"


def test_a_bare_state_of_a_pod_and_a_bare_signal():
    state, verdict = parse_verdict("ImagePullBackOff")

    assert _said("", state=state, verdict=verdict) == "service_unreachable"
    assert _said("step 7", exit_code=137) == "killed"


def test_how_a_run_with_exit_code_0_is_taken():
    assert _said(f"{RAISED}KeyError: 'label'", exit_code=0) == "key_error"
    assert _said("step 1 loss nan\n" * 300, exit_code=0) == "loss_nan"
    assert _said("saved\ndone", exit_code=0) == "not_failed"
    assert _said("step 7\nKeyboardInterrupt", exit_code=130) == "cancelled"


def _said(text: str, **verdict: object) -> str:
    log = NamedLog("job.out", f"step 1\n{text}\n".encode())
    return Handler().diagnose(Case(logs=(log,), **verdict)).reason
