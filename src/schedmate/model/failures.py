"""The failure taxonomy: one reason a diagnosis, its category and what usually helps.

The ids are part of the public JSON and stay stable; more can be added.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Category = Literal["infrastructure", "scheduler", "framework", "user", "none"]
Retry = Literal["no", "same", "elsewhere", "resume", "wait"]


@dataclass(frozen=True, slots=True)
class Reason:
    id: str
    category: Category
    retry: Retry
    """The default decision; evidence and history may change it."""


_TABLE: tuple[tuple[Category, Retry, str], ...] = (
    (
        "infrastructure",
        "elsewhere",
        (
            "gpu_ecc gpu_lost gpu_hardware nvlink driver_mismatch nccl_timeout nccl_remote "
            "network node_failure"
        ),
    ),
    ("infrastructure", "wait", "storage_io service_unreachable"),
    # a signal from outside, and nothing says who sent it or why
    ("infrastructure", "same", "killed"),
    ("scheduler", "resume", "preempted time_limit"),
    ("scheduler", "no", "cancelled host_oom"),
    (
        "framework",
        "no",
        (
            "gpu_oom cuda_assert cuda_unsupported shm_exhausted fd_limit disk_quota "
            "checkpoint_mismatch loss_nan abi_mismatch compile_error"
        ),
    ),
    (
        "framework",
        "same",
        (
            "cuda_illegal_access cuda_error dataloader_killed port_conflict rendezvous "
            "checkpoint_corrupt segfault"
        ),
    ),
    ("framework", "elsewhere", "hang"),
    ("framework", "wait", "disk_full"),
    (
        "user",
        "no",
        (
            "import_error syntax_error name_error attribute_error type_error value_error "
            "key_error index_error zero_division assertion_error shape_mismatch "
            "device_mismatch dtype_mismatch autograd_error file_not_found permission_denied "
            "argument_error data_error auth_error command_not_found python_exception"
        ),
    ),
    ("none", "no", "unknown not_failed"),
)

REASONS: dict[str, Reason] = {
    name: Reason(name, category, retry)
    for category, retry, names in _TABLE
    for name in names.split()
}
GPU_FAULTS = frozenset({"gpu_ecc", "gpu_lost", "gpu_hardware", "nvlink"})
CORRECTIONS = tuple(
    sorted(name for name, one in REASONS.items() if one.category != "none" or name == "not_failed")
)
"""What a diagnosis can be corrected to."""
