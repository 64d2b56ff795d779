"""What makes two runs alike before anyone looks at meaning, and the key of the cache.

The code's digest covers the Python files that run, by content alone: a copy in another
directory is the same code. Where there are none, it covers the scripts. A script around Python
counts as arguments, so that a number changed in it leaves the code the same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from schedmate.advisor.launch import Launch
from schedmate.advisor.project import Project
from schedmate.advisor.sources import digest
from schedmate.advisor.target import Target
from schedmate.model import Fingerprint, Request

READER_VERSION = "2"
"""Raised whenever the same files are read into another record."""

_IRRELEVANT = frozenset(
    {
        *("seed", "random_seed", "run_name", "exp_name", "experiment_name", "output_dir"),
        *("out_dir", "log_dir", "logdir", "save_dir", "wandb_run_name", "wandb_name"),
        *("master_port", "rdzv_endpoint", "port"),
    }
)
"""Options that tell runs apart without making them longer or shorter."""


def fingerprint(launch: Launch, project: Project, request: Request) -> Fingerprint | None:
    """None where nothing of the job can be read."""
    code = sorted(source.digest for source in (project.code or launch.scripts))
    programs = sorted(words[0] for words in launch.commands)
    if not code and not programs:
        return None
    commands = [" ".join(normalised(words)) for words in launch.commands]
    configs = [source.digest for source in project.configs]
    return Fingerprint(
        code=digest(*(code or programs)),
        arguments=digest(*commands, *configs, *_asked(launch, request)),
    )


def cache_key(target: Target, launch: Launch, project: Project) -> str:
    """By content of exactly the files and arguments that the record is read from."""
    files = [
        part
        for source in (*launch.scripts, *project.code, *project.configs)
        for part in (source.name, source.text)
    ]
    commands = ["\0".join(words) for words in (target.command, *launch.commands)]
    return digest(READER_VERSION, *files, "", *commands, *_asked(launch, target.request))


def _asked(launch: Launch, request: Request) -> tuple[str, str]:
    gpus = launch.asked.gpus
    return (
        f"gpus={request.gpus or (gpus[0] if gpus else 0)}",
        f"nodes={max(request.nodes, launch.asked.nodes or 1)}",
    )


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
