"""Causes that stand behind another error: in numbers, in calls, above or far before it."""

import pytest

from schedmate.handler import Case, Handler, NamedLog, parse_state

STEPS = "".join(f"iter {n} lr 0.1 loss {3 - n / 100:.3f}\n" for n in range(30))


def diagnosed(*lines: str, **verdict):
    log = NamedLog("job.out", (STEPS + "\n".join(lines) + "\n").encode())
    return Handler().diagnose(
        Case(logs=(log,), state=parse_state("FAILED"), exit_code=1, nodes=("n1",), **verdict)
    )


def traceback(error: str, *, function: str = "main", code: str = "main()") -> tuple[str, ...]:
    return (
        "Traceback (most recent call last):",
        f'  File "train.py", line 81, in {function}',
        f"    {code}",
        error,
    )


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("107020", "nccl_timeout"),
        ("207018", "gpu_oom"),
        ("507054", "gpu_ecc"),
        ("507056", "network"),
        ("507010", "gpu_lost"),
        ("507015", "cuda_error"),
    ],
)
def test_a_number_of_the_ascend_runtime_names_its_class(code, reason):
    error = f"RuntimeError: synchronize:Stream.cpp:9 NPU function error: x, error code is {code}"
    assert diagnosed(*traceback(error)).reason == reason


def test_the_line_below_a_number_names_the_error():
    assert (
        diagnosed(
            *traceback("RuntimeError: NPU function error: aclrtSync, error code is 507018"),
            "EI0002: The wait execution of the Notify register times out.",
        ).reason
        == "nccl_timeout"
    )


CUT_SHORT = "OSError: Unable to open file (truncated file: eof = 40960, stored_eof = 81920)"


@pytest.mark.parametrize(
    ("error", "function", "code", "reason"),
    [
        (CUT_SHORT, "__getitem__", "self.h5 = h5py.File(path)", "data_error"),
        (CUT_SHORT, "main", "net.load_weights(args.init)", "checkpoint_corrupt"),
        (
            "_pickle.UnpicklingError: pickle data was truncated",
            "__getitem__",
            "return pickle.load(stream)",
            "data_error",
        ),
        (
            "_pickle.UnpicklingError: pickle data was truncated",
            "resume_from",
            "state = torch.load(last)",
            "checkpoint_corrupt",
        ),
        (
            "lmdb.InvalidError: db.mdb: MDB_INVALID: File is not an LMDB file",
            "main",
            "env = lmdb.open(path)",
            "data_error",
        ),
    ],
)
def test_the_calls_show_what_a_broken_file_was(error, function, code, reason):
    assert diagnosed(*traceback(error, function=function, code=code)).reason == reason


def test_an_assertion_on_the_device_explains_the_error_of_a_library_after_it():
    spoilt = [
        f"../cuda/Loss.cu:1{n}: nll: block: [0,0,0], thread: [{n},0,0] Assertion `t < n` failed."
        for n in range(4)
    ]
    diagnosis = diagnosed(
        *spoilt, *traceback("RuntimeError: cuDNN error: CUDNN_STATUS_EXECUTION_FAILED")
    )
    assert (diagnosis.reason, diagnosis.decision.retry) == ("cuda_assert", "no")
    assert diagnosis.evidence[0].line == 31


def test_a_driver_mismatch_explains_that_no_gpu_is_found_later():
    diagnosis = diagnosed(
        "Failed to initialize NVML: Driver/library version mismatch",
        *(f"reading shard {n}" for n in range(12)),
        *traceback("AssertionError: no GPU visible"),
    )
    assert (diagnosis.reason, diagnosis.decision.retry) == ("driver_mismatch", "elsewhere")
    assert diagnosis.evidence[0].line == 31


def test_a_printed_driver_mismatch_does_not_explain_another_assertion():
    diagnosis = diagnosed(
        "Failed to initialize NVML: Driver/library version mismatch",
        *traceback("AssertionError: 4 columns wanted"),
    )
    assert diagnosis.reason == "assertion_error"


def test_the_line_that_states_the_message_before_it_is_raised_is_evidence():
    words = "Check failed: (left_count) > (0) at learner.cpp, line 653"
    diagnosis = diagnosed(f"[Tree] [Fatal] {words}", "", *traceback(f"tree.TreeError: {words}"))
    assert 31 in [shown.line for shown in diagnosis.evidence]


def test_a_driver_that_was_only_warned_of_explains_a_missing_gpu():
    diagnosis = diagnosed(
        "cuda.py:9: UserWarning: The NVIDIA driver on your system is too old (found version 11040)",
        *(f"indexing part {n}" for n in range(12)),
        *traceback("ValueError: no CUDA device available"),
    )
    assert diagnosis.reason == "driver_mismatch"


def test_a_driver_that_was_only_warned_of_explains_nothing_else():
    diagnosis = diagnosed(
        "cuda.py:9: UserWarning: The NVIDIA driver on your system is too old (found version 11040)",
        *traceback("KeyError: 'label'"),
    )
    assert diagnosis.reason == "key_error"


def test_a_collective_that_an_accelerator_waits_for_is_communication():
    error = "RuntimeError: synStatus=26 [Generic failure] HCL all_gather timed out after 600 s"
    assert diagnosed(*traceback(error)).reason == "nccl_timeout"
