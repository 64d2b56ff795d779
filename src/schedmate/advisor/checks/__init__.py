"""Checks in the order they are reported. To add one: a file beside this one, and its line here."""

from __future__ import annotations

from schedmate.advisor.checks.base import Before, Check, Checked
from schedmate.advisor.checks.code import missing_configs, packages_not_installed, syntax_errors
from schedmate.advisor.checks.entry_point import missing_files, several_runs, unseen_program
from schedmate.advisor.checks.failed_before import batch_did_not_fit, same_code_failed
from schedmate.advisor.checks.lengths import no_length
from schedmate.advisor.checks.resources import (
    gpu_needed,
    gpus_not_used,
    no_checkpoints,
    one_gpu_used,
    time_limit_too_short,
)
from schedmate.advisor.checks.secrets_in_script import secrets_in_script
from schedmate.model import Remark

CHECKS: tuple[Check, ...] = (
    missing_files,
    unseen_program,
    syntax_errors,
    missing_configs,
    packages_not_installed,
    no_length,
    same_code_failed,
    batch_did_not_fit,
    time_limit_too_short,
    one_gpu_used,
    gpus_not_used,
    gpu_needed,
    no_checkpoints,
    secrets_in_script,
    several_runs,
)


def remarks(checked: Checked) -> tuple[Remark, ...]:
    return tuple(remark for check in CHECKS for remark in check(checked))


__all__ = ["CHECKS", "Before", "Check", "Checked", "remarks"]
