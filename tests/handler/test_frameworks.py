"""Frameworks and runtimes in whole logs: what they say on the way is no failure, and of several
things they say at the end the one that explains the others is named.
"""

import pytest

from schedmate.handler import Case, Handler, NamedLog

_TRACEBACK = 'Traceback (most recent call last):\n  File "train.py", line 4, in main\n    step()\n'
_ASYNC = (
    "CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace "
    "below might be incorrect.\nFor debugging consider passing CUDA_LAUNCH_BLOCKING=1.\nCompile "
    "with `TORCH_USE_CUDA_DSA` to enable device-side assertions.\n"
)
_DURING = "\nDuring handling of the above exception, another exception occurred:\n\n"
_FROM = "\nThe above exception was the direct cause of the following exception:\n\n"

HARMLESS = [
    "E cuda_driver.cc:328] failed call to cuInit: CUDA_ERROR_UNKNOWN: unknown error",
    "E cuda_dnn.cc:9342] Unable to register cuDNN factory: Attempting to register factory for",
    (
        "W dso_loader.cc:64] Could not load dynamic library 'libnvinfer.so.7'; dlerror: "
        "libnvinfer.so.7: cannot open shared object file: No such file or directory"
    ),
    (
        "Allocator (GPU_0_bfc) ran out of memory trying to allocate 2.20GiB. The caller indicates "
        "that this is not a failure, but may mean that there could be performance gains"
    ),
    "If reserved memory is >> allocated memory try setting max_split_size_mb to avoid fragments.",
    "Batch size 64: CUDA out of memory, trying with 32",
    "AUTOTUNE mm(4096x4096): OutOfResources: out of resource: shared memory, skipping this choice",
    "torch.compile failed on graph 7, falling back to eager",
    "Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to 32768.0",
    "[deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 65536, reducing to 32768",
    "{'loss': 0.1474, 'grad_norm': nan, 'learning_rate': 0.0001, 'epoch': 0.04}",
    "NaN or Inf found in input tensor.",
    "step:0/1750 val_loss:10.8258 train_time:0ms step_avg:nan",
    "best_loss: inf, patience: 5",
    "x = torch.nan_to_num(x, nan=0.0, posinf=1e4)",
    "<All keys matched successfully>",
    "missing keys: [], unexpected keys: []",
    "Some weights of the model checkpoint at bert were not used when initializing Net: ['cls']",
    "Some weights of Net were not initialized because the shapes did not match: found [2, 768]",
    "checkpoint step_400 is corrupt, falling back to step_300",
    "ninja: no work to do.",
    "Loading extension module fused_adam...",
    "nvcc: NVIDIA (R) Cuda compiler driver",
    "csrc/flash_bwd.cu(77): warning #177-D: variable was declared but never referenced",
    "flash_attn: undefined symbol: _ZN3c104cuda9SetDeviceEi, falling back to sdpa",
    "ulimit -n is 1024; raise it to avoid Too many open files",
    "disk is 81 % full: 2.1 TB left on device",
    "CUDA errors: 0",
]


def _reason(log: str, exit_code: int | None = 1) -> str:
    return (
        Handler()
        .diagnose(Case(logs=(NamedLog("a.log", log.encode()),), exit_code=exit_code))
        .reason
    )


@pytest.mark.parametrize("line", HARMLESS)
def test_warnings_of_frameworks_is_no_failure(line):
    assert _reason(f"{line}\n" * 3, exit_code=None) == "not_failed"


def test_an_assertion_in_a_kernel_explains_the_library_that_fails_after_it():
    log = (
        "Indexing.cu:1292: indexSelectLargeIndex: block: [223,0,0], thread: [96,0,0] Assertion "
        "`srcIndex < srcSelectDimSize` failed.\n"
        + _TRACEBACK
        + "RuntimeError: CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate(x)`\n"
        + _ASYNC
    )
    assert _reason(log) == "cuda_assert"


def test_what_was_thrown_yields_to_why():
    log = (
        "terminate called after throwing an instance of 'c10::CUDAError'\n"
        "  what():  CUDA error: an illegal memory access was encountered\n" + _ASYNC
    )
    assert _reason(log) == "cuda_illegal_access"


def test_a_warning_about_the_device_yields_to_what_the_run_died_of():
    log = (
        "NVIDIA GeForce RTX 5090 with CUDA capability sm_120 is not compatible with the current "
        "PyTorch installation.\n" + _TRACEBACK + "KeyError: 'warmup'\n"
    )
    assert _reason(log) == "key_error"


def test_the_compiler_explains_the_build_that_stopped():
    log = (
        "FAILED: multi_tensor_adam.cuda.o\n"
        "nvcc fatal   : Unsupported gpu architecture 'compute_89'\n"
        "ninja: build stopped: subcommand failed.\n"
    )
    assert _reason(log) == "cuda_unsupported"


def test_an_import_that_leads_to_a_build_is_only_the_way_to_it():
    log = (
        _TRACEBACK
        + "ImportError: cannot import name 'csrc' from 'gsplat'\n"
        + _DURING
        + _TRACEBACK
        + "subprocess.CalledProcessError: Command '['ninja', '-v']' returned non-zero\n"
    )
    assert _reason(log) == "compile_error"


def test_what_a_compiler_raises_from_an_error_in_a_kernel_is_no_error_of_the_program():
    log = (
        _TRACEBACK
        + "TypeError: dot() got an unexpected keyword argument 'trans_b'\n"
        + _FROM
        + _TRACEBACK
        + "triton.compiler.CompilationError: at 114:24:\n"
    )
    assert _reason(log) == "compile_error"


def test_a_warning_that_ends_the_training_is_meant():
    assert _reason("WARNING: non-finite loss, ending training tensor([nan, 0.2])\n") == "loss_nan"


def test_memory_that_ended_inside_a_compiler_is_memory():
    log = (
        _TRACEBACK + "torch._dynamo.exc.BackendCompilerFailed: backend='inductor' raised:\n"
        "OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB\n"
    )
    assert _reason(log) == "gpu_oom"


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ("Weights only load failed. In PyTorch 2.6, we changed the default", "python_exception"),
        ("Weights only load failed. invalid load key, 'v'.", "checkpoint_corrupt"),
    ],
)
def test_a_loader_that_refuses_code_does_not_make_the_file_corrupt(message, reason):
    assert _reason(f"{_TRACEBACK}_pickle.UnpicklingError: {message}\n") == reason


def test_an_error_without_words_is_understood_by_the_call_that_raised_it():
    call = '  File "train.py", line 9, in resume\n    state = torch.load("last.pt")\n'
    head = "Traceback (most recent call last):\n"
    assert _reason(head + call + "EOFError\n") == "checkpoint_corrupt"
    assert _reason(_TRACEBACK + "EOFError\n") != "checkpoint_corrupt"


def test_a_loader_says_below_its_message_that_the_bytes_make_no_sense():
    log = (
        _TRACEBACK
        + "_pickle.UnpicklingError: Weights only load failed. In PyTorch 2.6, we changed\n"
        "Please file an issue with the following: WeightsUnpickler: \n\nUnsupported operand 180\n"
    )
    assert _reason(log) == "checkpoint_corrupt"


def test_no_space_in_shared_memory_is_no_full_disk():
    message = "OSError: [Errno 28] No space left on device: '/dev/shm/torch_17'"
    assert _reason(f"{_TRACEBACK}{message}\n") != "disk_full"


def test_a_watcher_without_space_has_reached_a_limit_of_files():
    assert _reason(f"{_TRACEBACK}OSError: [Errno 28] inotify watch limit reached\n") == "fd_limit"


def _steps(first: int, last: int, loss: str) -> str:
    return "".join(f"step {step} | loss {loss} | lr 3e-4\n" for step in range(first, last))


@pytest.mark.parametrize("exit_code", [None, 0])
def test_a_loss_that_was_nan_once_has_recovered(exit_code):
    log = _steps(0, 100, "2.31") + _steps(100, 101, "nan") + _steps(101, 200, "2.30")
    assert _reason(log, exit_code) == "not_failed"


@pytest.mark.parametrize("exit_code", [None, 0, 1])
def test_a_loss_that_stays_nan_is_lost(exit_code):
    assert _reason(_steps(0, 100, "2.31") + _steps(100, 160, "nan"), exit_code) == "loss_nan"
