"""GPUs: what the driver reports and what the CUDA and ROCm runtimes say.

The runtimes' catch-all comes last, after everything that says it better.
"""

import re

from schedmate.handler.rules.base import Rule

_XID = r"\bXid\b(?: \([^)]{1,60}\))?:? "

RULES = (
    Rule(
        reason="gpu_ecc",
        pattern=re.compile(
            r"uncorrectable ECC error|" + _XID + r"(?:48|63|64|92|94|95)\b", re.IGNORECASE
        ),
        confidence=0.96,
        positives=(
            "RuntimeError: CUDA error: uncorrectable ECC error encountered",
            "NVRM: Xid (PCI:0000:3b:00): 48, pid=812, DBE (double bit error)",
        ),
        negatives=("ECC errors: 0", "NVRM: Xid (PCI:0000:3b:00): 13, Graphics Exception"),
    ),
    Rule(
        reason="gpu_lost",
        pattern=re.compile(
            r"has fallen off the bus|GPU is lost|no CUDA-capable device is detected|"
            + _XID
            + r"79\b"
        ),
        confidence=0.95,
        positives=(
            "NVRM: GPU at PCI:0000:3b:00 has fallen off the bus.",
            "Unable to determine the device handle for GPU 0000:3B:00.0: GPU is lost.",
            "RuntimeError: CUDA error: no CUDA-capable device is detected",
        ),
        negatives=("packets lost: 0",),
    ),
    Rule(
        reason="nvlink",
        pattern=re.compile(_XID + r"74\b|CUDA error: system not yet initialized"),
        confidence=0.93,
        positives=("NVRM: Xid (PCI:0000:3b:00): 74, pid=812, NVLink: fatal error detected",),
        negatives=("NVLink: 12 links active",),
    ),
    Rule(
        reason="gpu_hardware",
        pattern=re.compile(_XID + r"(?:62|119|120)\b"),
        confidence=0.93,
        positives=("NVRM: Xid (PCI:0000:3b:00): 119, pid=812, Timeout waiting for RPC from GSP!",),
        negatives=("NVRM: Xid (PCI:0000:3b:00): 31, MMU Fault",),
    ),
    Rule(
        reason="driver_mismatch",
        pattern=re.compile(
            r"Driver/library version mismatch|CUDA driver version is insufficient"
            r"|NVIDIA driver on your system is too old"
        ),
        confidence=0.93,
        positives=(
            "Failed to initialize NVML: Driver/library version mismatch",
            "RuntimeError: The NVIDIA driver on your system is too old (found version 11040).",
        ),
        negatives=("Driver Version: 550.54",),
    ),
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
