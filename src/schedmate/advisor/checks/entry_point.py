"""A file that the job starts and that is not there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from schedmate.advisor.checks.base import Checked
from schedmate.model import Remark
from schedmate.model.advice import Level

_SETTING_UP = re.compile(
    r"(?:export\s+)?\w+=\S*|(?:export|unset|module|ml|set|ulimit|umask|cd|echo|date|hostname|pwd"
    r"|nvidia-smi|conda\s+activate|(?:source|\.)\s+\S*/activate)(?:\s[^>]*)?"
)
"""Lines of a script that create no file."""
_CONTROL = re.compile(r"`|\$\(|<|;|\||(?<!>)&(?!>)")
"""What makes a line more than one command that ends the job by its failure."""


def unseen_program(checked: Checked) -> Iterator[Remark]:
    """Where it was not seen what the job starts: what was read instead, or that nothing was."""
    main = checked.launch.main
    if main is not None and main.guessed:
        text = (
            f"what this starts could not be followed; {main.entry.name} was read because it trains "
            "and fits the command, so check it, or write the command line: -- python …"
        )
        yield Remark(level="warning", text=text, evidence=main.command.evidence)
    elif main is not None and main.not_taken:
        text = (
            "as it is called, this starts nothing that can be read; "
            f"{main.entry.name} was read from a branch that is not taken, so check the arguments"
        )
        yield Remark(level="warning", text=text, evidence=main.command.evidence)
    elif main is None and checked.launch.lost and not checked.launch.missing_scripts:
        word = checked.launch.lost[0][0]
        name = "this line" if word.text.startswith("-") else word.text
        text = (
            f"what {name} starts is not known, so nothing is known of the work that this job "
            "does; to have a program read, write its command line: -- python …"
        )
        yield Remark(level="warning", text=text, evidence=word.evidence)
    elif checked.launch.starts_nothing_known and not checked.launch.missing_scripts:
        yield Remark(level="warning", text="there is no command in it, so nothing is known of it")


def several_runs(checked: Checked) -> Iterator[Remark]:
    main = checked.launch.main
    if main is not None and main.varies:
        text = (
            f"{main.entry.name} runs several times with other arguments; "
            "the record has what these runs have in common"
        )
        yield Remark(level="hint", text=text, evidence=main.command.evidence)


def missing_files(checked: Checked) -> Iterator[Remark]:
    launch = checked.launch
    for run in launch.runs:
        if run.entry.missing:
            text = f"{run.entry.name} is not there, so the job will fail at once"
            level: Level = "warning" if run.conditional else "error"
            seen = [each for each in launch.runs if not each.guessed]
            alone = seen == [run] and not launch.missing_scripts
            certain = alone and not run.conditional and _starts_only(checked, run.entry.name)
            yield Remark(level=level, text=text, evidence=run.command.evidence, certain=certain)
    for word in launch.missing_scripts:
        alone = not launch.runs and launch.missing_scripts == (word,)
        yield Remark(
            level="error",
            text=f"{word.text} is not there, so the job will fail at once",
            evidence=word.evidence,
            certain=alone and _starts_only(checked, word.text),
        )


def _starts_only(checked: Checked, name: str) -> bool:
    """Whether nothing before could create the file, and nothing after could save the job."""
    file, target = PurePosixPath(name).name, checked.target
    texts = [script.text for script in checked.launch.scripts]
    if target.script_text is None:
        texts.append(" ".join(target.command))
    lines = [line.strip() for text in texts for line in text.replace("\\\n", " ").splitlines()]
    telling = [line for line in lines if line and not line.startswith("#")]
    others = [line for line in telling if not _SETTING_UP.fullmatch(line)]
    plain = not any(_CONTROL.search(line.replace("2>&1", "")) for line in telling)
    return plain and len(others) == 1 and file in others[0]
