"""Whether a quoted line can carry the reason a model gives.

A reason that leads to a retry must be named by the line's own words, and so must one that cannot be
told without them. The others lead to nothing but a sentence for the user, and a job's own words for
its trouble are anybody's guess.
"""

from __future__ import annotations

import re
from typing import Final

from schedmate.model import REASONS

_WORDS: Final[dict[str, str]] = {
    "gpu_ecc": r"\becc\b|xid|row.?remap",
    "gpu_lost": r"\bgpu|xid|device",
    "gpu_hardware": r"\bgpu|xid|thermal|power",
    "nvlink": r"nvlink|nvswitch|fabric|xid",
    "driver_mismatch": r"driver",
    "nccl_timeout": r"nccl|collective|allreduce|all_reduce|watchdog|gloo|barrier",
    "nccl_remote": r"nccl|gloo|peer|remote",
    "network": r"ibv_|infiniband|network|link|route|connection|socket|mlx5|cable|switch|\bnode",
    "node_failure": r"node|slurmd|kernel panic|reboot",
    "storage_io": r"i/o|input/output|stale|lustre|nfs|ceph|s3|disk|read|write|file ?system|storage",
    "service_unreachable": (
        r"connect|resol|reach|refused|ssl|tls|http|dns|timed|answer|respon|server|mirror"
    ),
    "killed": r"kill|signal|sigterm|terminated",
    "preempted": r"preempt|spot|reclaim|evict",
    "time_limit": r"time.?limit|walltime|deadline|runlimit",
    "cuda_illegal_access": r"illegal|misaligned",
    "cuda_error": r"cuda|cudnn|cublas|hip|rocm|nvrtc",
    "dataloader_killed": r"worker|dataloader",
    "port_conflict": r"address|port|bind",
    "rendezvous": r"rendezvous|rdzv|init_process_group|store|clients|world.?size",
    "checkpoint_corrupt": (
        r"checkpoint|ckpt|archive|zip|header|pickle|truncat|corrupt|eof|snapshot|saved|tensor"
    ),
    "segfault": r"seg|sig|core|abort|bus error|illegal instruction|signal",
    "hang": r"hang|hung|stuck|no progress|stall",
    "disk_full": r"space|full|bytes|disk",
    "loss_nan": r"\bnan|\binf\b|infinit|finite|diverg|overflow|explod|blew up|loss scale",
    "gpu_oom": r"memory|\boom\b|alloc|vram|\bhbm\b|\bfit",
    "host_oom": r"memory|\boom\b|alloc|\bram\b|kill",
    "disk_quota": r"quota|limit|allowance",
    "shape_mismatch": r"shape|size|dim|length|channel|match|expect|column|wide",
    "import_error": r"import|module|librar|package|symbol|\.so\b|install|plugin",
}
_PATTERNS: Final = {reason: re.compile(words, re.IGNORECASE) for reason, words in _WORDS.items()}


def fits(reason: str, line: str) -> bool:
    if reason not in REASONS or REASONS[reason].category == "none":
        return False
    if REASONS[reason].retry != "no" and reason not in _PATTERNS:
        return False
    pattern = _PATTERNS.get(reason)
    return pattern is None or bool(pattern.search(line))
