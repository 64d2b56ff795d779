"""The rules by family, in the order in which they are asked.

A new family is a module with `RULES` and one line below; its examples are its tests.
"""

from __future__ import annotations

from schedmate.handler.rules import (
    access,
    arguments,
    autograd,
    checkpoint_mismatch,
    checkpoints,
    collectives,
    compilation,
    cuda,
    cuda_support,
    data,
    exceptions,
    files,
    gpu,
    gpu_memory,
    hang,
    installation,
    memory,
    missing,
    native,
    numerics,
    programs,
    open_files,
    scheduler,
    services,
    shapes,
    shell,
    signals,
    tensors,
    wrappers,
)
from schedmate.handler.rules.base import Rule, Weight
from schedmate.handler.rules.book import RuleBook

RULES: tuple[Rule, ...] = (
    *scheduler.RULES,
    *gpu_memory.RULES,
    *open_files.RULES,
    *memory.RULES,
    *collectives.RULES,
    *gpu.RULES,
    *cuda_support.RULES,
    *cuda.RULES,
    *files.RULES,
    *checkpoint_mismatch.RULES,
    *checkpoints.RULES,
    *numerics.RULES,
    *native.RULES,
    *compilation.RULES,
    *signals.RULES,
    *shell.RULES,
    *hang.RULES,
    *wrappers.RULES,
    *access.RULES,
    *missing.RULES,
    *services.RULES,
    *arguments.RULES,
    *installation.RULES,
    *tensors.RULES,
    *shapes.RULES,
    *autograd.RULES,
    *data.RULES,
    *programs.RULES,
    *exceptions.RULES,
)
BUILT_IN = RuleBook(RULES)

__all__ = ["BUILT_IN", "RULES", "Rule", "RuleBook", "Weight"]
