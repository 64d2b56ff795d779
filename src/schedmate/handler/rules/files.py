"""Disks, file systems and the checkpoints on them."""

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
    Rule(
        reason="checkpoint_mismatch",
        pattern=re.compile(
            r"Error\(s\) in loading state_dict|size mismatch for [\w.]{1,200}: copying a param"
        ),
        confidence=0.95,
        positives=("RuntimeError: Error(s) in loading state_dict for ResNet:",),
        negatives=("loading state_dict for ResNet: all keys matched",),
    ),
    Rule(
        reason="checkpoint_corrupt",
        pattern=re.compile(
            r"failed finding central directory|invalid header or archive is corrupted"
            r"|unexpected EOF, expected \d{1,20} more bytes|HeaderTooLarge"
            r"|InvalidHeaderDeserialization|(?:Unpickling|EOF)Error: Ran out of input"
            r"|pickle data was truncated|UnpicklingError: invalid load key"
        ),
        errors_only=True,
        confidence=0.92,
        positives=(
            (
                "RuntimeError: PytorchStreamReader failed reading zip archive: failed finding "
                "central directory"
            ),
            "_pickle.UnpicklingError: pickle data was truncated",
            "EOFError: Ran out of input",
        ),
        negatives=("RuntimeError: header too large",),
    ),
)
