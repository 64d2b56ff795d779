"""Graphs that cannot be walked backwards."""

import re

from schedmate.handler.rules.base import Rule

RULES = (
    Rule(
        reason="autograd_error",
        pattern=re.compile(
            r"backward through the graph a second time|does not require grad and does not have a"
            r"|modified by an inplace operation|Expected to have finished reduction in the prior"
        ),
        errors_only=True,
        confidence=0.95,
        positives=(
            "RuntimeError: Trying to backward through the graph a second time",
            "RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn",
        ),
        negatives=("RuntimeError: no gradient",),
    ),
)
