"""GPUs: what the driver reports of their health."""

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
)
