"""The rules by family, in the order in which they are asked.

A new family is a module with `RULES` and one line below; its examples are its tests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedmate.handler.rules import (
    checkpoints,
    collectives,
    cuda,
    files,
    gpu,
    gpu_memory,
    hang,
    memory,
    native,
    numerics,
    python_errors,
    scheduler,
    services,
    shell,
    signals,
)
from schedmate.handler.rules.base import Rule, Weight

if TYPE_CHECKING:
    from schedmate.handler.case import Case

RULES: tuple[Rule, ...] = (
    *scheduler.RULES,
    *gpu_memory.RULES,
    *memory.RULES,
    *collectives.RULES,
    *gpu.RULES,
    *cuda.RULES,
    *files.RULES,
    *checkpoints.RULES,
    *numerics.RULES,
    *signals.RULES,
    *shell.RULES,
    *hang.RULES,
    *services.RULES,
    *native.RULES,
    *python_errors.RULES,
)
_LINE_RULES = tuple(rule for rule in RULES if rule.pattern is not None and not rule.errors_only)
_ERROR_RULES = tuple(rule for rule in RULES if rule.pattern is not None)
_CASE_RULES = tuple(rule for rule in RULES if rule.predicate is not None)


def rule_for_line(text: str) -> Rule | None:
    """The first rule that explains any line of a log."""
    return next((rule for rule in _LINE_RULES if rule.matches_text(text)), None)


def rule_for_error(text: str) -> Rule | None:
    """The first rule that explains an exception, given as `Type: message`."""
    return next((rule for rule in _ERROR_RULES if rule.matches_text(text)), None)


def rules_for_case(case: Case) -> tuple[Rule, ...]:
    """What the scheduler's verdict and the exit code say by themselves."""
    return tuple(rule for rule in _CASE_RULES if rule.matches_case(case))


__all__ = ["RULES", "Rule", "Weight", "rule_for_error", "rule_for_line", "rules_for_case"]
