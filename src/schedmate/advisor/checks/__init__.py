"""Checks in the order they are reported. To add one: a file beside this one, and its line here."""

from __future__ import annotations

from schedmate.advisor.checks.base import Check, Checked
from schedmate.advisor.checks.entry_point import missing_files
from schedmate.advisor.checks.gpus import gpus_not_used
from schedmate.advisor.checks.secrets_in_script import secrets_in_script
from schedmate.advisor.checks.syntax import syntax_errors
from schedmate.advisor.checks.time_limit import time_limit_too_short
from schedmate.model import Remark

CHECKS: tuple[Check, ...] = (
    missing_files,
    syntax_errors,
    time_limit_too_short,
    gpus_not_used,
    secrets_in_script,
)


def remarks(checked: Checked) -> tuple[Remark, ...]:
    return tuple(remark for check in CHECKS for remark in check(checked))


__all__ = ["CHECKS", "Check", "Checked", "remarks"]
