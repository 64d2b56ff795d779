"""A file that the job starts and that is not there."""

from __future__ import annotations

from collections.abc import Iterator

from schedmate.advisor.checks.base import Checked
from schedmate.model import Remark
from schedmate.model.advice import Level


def unseen_program(checked: Checked) -> Iterator[Remark]:
    """Where it was not seen what the job starts: what was read instead, or that nothing was."""
    main = checked.launch.main
    if main is not None and main.guessed:
        text = (
            f"what this starts could not be followed; {main.entry.name} was read because it trains "
            "and fits the command, so check it, or write the command line: -- python …"
        )
        yield Remark(level="warning", text=text, evidence=main.command.evidence)
    elif main is None and checked.launch.lost and not checked.launch.missing_scripts:
        word = checked.launch.lost[0]
        name = "this line" if word.text.startswith("-") else word.text
        text = (
            f"what {name} starts is not known, so nothing is known of the work that this job "
            "does; to have a program read, write its command line: -- python …"
        )
        yield Remark(level="warning", text=text, evidence=word.evidence)


def several_runs(checked: Checked) -> Iterator[Remark]:
    main = checked.launch.main
    if main is not None and main.varies:
        text = (
            f"{main.entry.name} runs several times with other arguments; "
            "the record has what these runs have in common"
        )
        yield Remark(level="hint", text=text, evidence=main.command.evidence)


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
