"""Disks, file systems and open files."""

import re

from schedmate.handler.rules.base import Rule

RULES = (
    Rule(
        reason="disk_full",
        pattern=re.compile(r"No space left on device|\bENOSPC\b"),
        confidence=0.96,
        positives=(
            "OSError: [Errno 28] No space left on device",
            "cp: error writing 'out/ckpt.pt': No space left on device",
        ),
        negatives=("space left on device: 12 GB",),
    ),
    Rule(
        reason="disk_quota",
        pattern=re.compile(r"Disk quota exceeded|\bEDQUOT\b"),
        confidence=0.96,
        positives=("OSError: [Errno 122] Disk quota exceeded: 'out/ckpt.pt'",),
        negatives=("Disk quota: 80 % used",),
    ),
    Rule(
        reason="storage_io",
        pattern=re.compile(
            r"\[Errno (?:5|116|107|108|121)\]|: Input/output error$|Stale file handle"
        ),
        confidence=0.9,
        positives=(
            "OSError: [Errno 5] Input/output error",
            "OSError: [Errno 116] Stale file handle: '/nfs/data/x.bin'",
        ),
        negatives=("input/output errors: 0",),
    ),
    Rule(
        reason="fd_limit",
        pattern=re.compile(r"Too many open files|received 0 items of ancdata"),
        confidence=0.95,
        positives=(
            "OSError: [Errno 24] Too many open files: 'x.jpg'",
            "RuntimeError: received 0 items of ancdata",
        ),
        negatives=("open files: 12",),
    ),
)
