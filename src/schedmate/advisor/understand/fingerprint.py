"""What makes two runs alike before anyone looks at meaning.

The code's digest covers the Python files that run, by content alone: a copy in another
directory is the same code. Where there are none, it covers the scripts. A script around Python
counts as arguments, so that a number changed in it leaves the code the same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from schedmate.advisor.launch.run import Launch
from schedmate.advisor.sources.files import digest
from schedmate.advisor.understand.cache import asked
from schedmate.advisor.understand.understanding import Understanding
from schedmate.model import Fingerprint, Request

_IRRELEVANT = frozenset(
    {
        *("seed", "random_seed", "run_name", "exp_name", "experiment_name", "output_dir"),
        *("out_dir", "log_dir", "logdir", "save_dir", "wandb_run_name", "wandb_name"),
        *("master_port", "rdzv_endpoint", "port"),
    }
)
"""Options that tell runs apart without making them longer or shorter."""


def fingerprint(launch: Launch, understood: Understanding, request: Request) -> Fingerprint | None:
    """None where nothing of the job can be read."""
    code = understood.code or sorted(source.digest for source in launch.scripts)
    programs = _unread_programs(launch)
    if not code and not programs:
        return None
    commands = [" ".join(normalised(words)) for words in launch.commands]
    return Fingerprint(
        code=digest(*(code or programs)),
        signature=understood.signature,
        arguments=digest(*commands, *understood.configs, *asked(launch, request)),
        one_gpu=uses_one_gpu(launch, understood),
    )


def _unread_programs(launch: Launch) -> list[str]:
    """What stands for code that could not be read: Python files by their places, since `python`
    alone would make one code of all jobs whose files are hidden; else programs by their names."""
    entries = [run.entry for run in launch.runs if not run.entry.is_program]
    hidden = [str(each.import_root / each.name) for each in entries if each.source is None]
    return sorted(hidden or (words[0] for words in launch.commands if words))


def uses_one_gpu(launch: Launch, understood: Understanding) -> bool:
    """The code uses a GPU, and nothing in sight would use a second one. False where unknown."""
    main = launch.main
    if main is None or main.entry.source is None or len(launch.runs) != 1:
        return False
    shares = understood.traits.shares_gpus or understood.workload.parallelism is not None
    return understood.mentions_gpu and not shares


def normalised(words: Sequence[str]) -> list[str]:
    """`--a=1 --b` and `--b --a 1` are the same arguments; what never matters is left out."""
    groups: list[list[str]] = [[]]
    for word in words:
        if word.startswith("-") and not re.match(r"-\.?\d", word):
            name, equals, value = word.partition("=")
            groups.append([name, value] if equals else [name])
        else:
            groups[-1].append(word)
    options = [group for group in groups[1:] if _matters(group[0])]
    return [word for group in (groups[0], *sorted(options, key=_first)) for word in group]


def _first(group: list[str]) -> str:
    return group[0]


def _matters(option: str) -> bool:
    return option.lstrip("-").replace("-", "_").lower() not in _IRRELEVANT
