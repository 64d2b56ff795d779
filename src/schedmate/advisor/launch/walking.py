"""A script as it is read for a job: by the shell it is for, and for several jobs of an array."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from schedmate.advisor.interpret.shell import ShellScript, Word, in_common, walk
from schedmate.advisor.interpret.shell.csh import as_sh, is_csh
from schedmate.advisor.launch.entries import Finder, Surroundings
from schedmate.advisor.launch.started import Started
from schedmate.advisor.sources.files import SourceFile

_DIRECTORIES = dict.fromkeys(
    ("SLURM_SUBMIT_DIR", "PBS_O_WORKDIR", "LS_SUBCWD", "SGE_O_WORKDIR"), Word(".")
)
"""Where the job was submitted."""

_ARRAY_TASKS = (
    "SLURM_ARRAY_TASK_ID",
    "PBS_ARRAY_INDEX",
    "PBS_ARRAYID",
    "LSB_JOBINDEX",
    "SGE_TASK_ID",
)
_ARRAY_TASK = re.compile("|".join(_ARRAY_TASKS))


def walked(
    source: SourceFile,
    arguments: Sequence[Word],
    started: Started,
    finder: Finder,
    *,
    all_ways: bool = False,
) -> ShellScript:
    """Of the jobs of an array what they have in common."""
    if is_csh(source.text):
        source = replace(source, text=as_sh(source.text))
    known = {**_DIRECTORIES, **started.asked.variables(), **started.values}
    tasks = started.asked.array_tasks() if _ARRAY_TASK.search(source.text) else ()
    known_to_each = [{**known, **dict.fromkeys(_ARRAY_TASKS, task)} for task in tasks] or [known]
    return in_common(
        [
            walk(
                source,
                arguments,
                set_before=each,
                exported=started.env,
                surroundings=Surroundings(finder),
                cwd=started.cwd,
                doubtful=started.doubtful,
                all_ways=all_ways,
            )
            for each in known_to_each
        ]
    )
