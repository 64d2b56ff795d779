"""Checkpoints that cannot be read, or that belong to another model."""

import re

from schedmate.handler.rules.base import Rule

RULES = (
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
