"""A file that the job starts and that is not there."""

from __future__ import annotations

from collections.abc import Iterator

from schedmate.advisor.checks.base import Checked
from schedmate.model import Remark
from schedmate.model.advice import Level


def missing_files(checked: Checked) -> Iterator[Remark]:
    for run in checked.launch.runs:
        if run.entry.missing:
            text = f"{run.entry.name} is not there, so the job will fail at once"
            level: Level = "warning" if run.conditional else "error"
            yield Remark(level=level, text=text, evidence=run.command.evidence)
    for word in checked.launch.missing_scripts:
        yield Remark(
            level="error",
            text=f"{word.text} is not there, so the job will fail at once",
            evidence=word.evidence,
        )
