"""What the CUDA, ROCm and kindred runtimes say of a kernel, a library or a device.

The runtimes' catch-all comes last, after everything that says it better.
"""

import re

from schedmate.handler.rules.base import Rule

RULES = (
    Rule(
        reason="cuda_assert",
        pattern=re.compile(
            r"device-side assert triggered|\.cuh?:\d{1,6}: .{0,300}Assertion .{1,300} failed"
        ),
        confidence=0.95,
        positives=(
            "RuntimeError: CUDA error: device-side assert triggered",
            (
                "../aten/src/ATen/native/cuda/Loss.cu:250: nll_loss: block: [0,0,0], thread: "
                "[1,0,0] Assertion `t >= 0 && t < n_classes` failed."
            ),
        ),
        negatives=("Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.",),
    ),
    Rule(
        reason="cuda_illegal_access",
        pattern=re.compile(
            r"an illegal memory access was encountered|CUDA_ERROR_ILLEGAL_ADDRESS"
            r"|CUDA error: misaligned address"
        ),
        confidence=0.94,
        positives=("RuntimeError: CUDA error: an illegal memory access was encountered",),
        negatives=("illegal memory accesses: 0",),
    ),
    Rule(
        reason="cuda_unsupported",
        pattern=re.compile(
            r"no kernel image is available for execution"
            r"|CUDA capability sm_\d{1,4} is not compatible"
            r"|nvcc fatal +: Unsupported gpu architecture"
            r"|FlashAttention only supports Ampere GPUs"
        ),
        confidence=0.94,
        positives=(
            "RuntimeError: CUDA error: no kernel image is available for execution on the device",
            "RuntimeError: CUDA capability sm_90 is not compatible with this build",
        ),
        negatives=("CUDA capability sm_90 found",),
    ),
    Rule(
        reason="cuda_error",
        pattern=re.compile(
            r"(?:CUDA|HIP) (?:runtime )?error|cuDNN error|(?:CUBLAS|CUDNN)_STATUS_(?!SUCCESS)"
            r"|CUDA_ERROR_[A-Z]|cudaError\w|hipError\w"
        ),
        errors_only=True,
        confidence=0.85,
        positives=(
            "RuntimeError: cuDNN error: CUDNN_STATUS_EXECUTION_FAILED",
            "RuntimeError: CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate`",
        ),
        negatives=("RuntimeError: CUBLAS_STATUS_SUCCESS",),
    ),
)
