"""Programs that start other programs, one file a family."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from schedmate.advisor.interpret.shell import Word
from schedmate.advisor.launch.launchers.base import Launched, Launcher, Peeled, option_name, peel
from schedmate.advisor.launch.launchers.environments import ENVIRONMENTS
from schedmate.advisor.launch.launchers.python_starters import (
    PYTHON_MODULES,
    PYTHON_STARTERS,
    SPAWNERS,
)
from schedmate.advisor.launch.launchers.schedulers import MPI, SCHEDULERS
from schedmate.advisor.launch.launchers.wrappers import WRAPPERS

__all__ = [
    "LAUNCHERS",
    "MPI",
    "PARALLEL",
    "PYTHON",
    "SPAWNERS",
    "Launched",
    "Peeled",
    "environment",
    "log_words",
    "option_name",
    "program",
    "submits",
    "take_off",
]

PYTHON = re.compile(r"(?:python(?:\d(?:\.\d+)?)?|pypy3?|pythonw|py)(?:\.exe)?")
LAUNCHERS: dict[str, Launcher] = {**SCHEDULERS, **PYTHON_STARTERS, **ENVIRONMENTS, **WRAPPERS}
PARALLEL = frozenset(SCHEDULERS.keys() | PYTHON_STARTERS.keys() | PYTHON_MODULES.keys()) - {
    *("sbatch", "qsub", "bsub", "salloc", "coverage", "ipython", "ipython3", "cProfile", "pdb"),
    *("debugpy", "profile", "trace", "IPython"),
}
"""Those under which a program runs as several processes."""

_OUTPUTS = {
    "srun": ("o", "output", "e", "error"),
    "torchrun": ("log_dir",),
    "torch.distributed.run": ("log_dir",),
    "accelerate": ("log_dir",),
    "mpirun": ("output_filename",),
    "horovodrun": ("output_filename",),
    "flux": ("output", "error"),
}
_PLACEHOLDER = re.compile(r"\{[#%0-9./]*\}")
_MAX_PYTHON_OPTIONS = 6


def program(word: Word) -> str:
    """`/usr/bin/srun` is `srun`."""
    return PurePosixPath(word.text).name


def submits(name: str) -> bool:
    return name in LAUNCHERS and LAUNCHERS[name].submits


def take_off(words: Sequence[Word]) -> Peeled | None:
    """One launcher taken off, or None when there is none."""
    name = program(words[0])
    known: Launcher | None = LAUNCHERS.get(name)
    rest = words[1:]
    if known is None and PYTHON.fullmatch(name):
        for index in range(1, min(len(words) - 1, _MAX_PYTHON_OPTIONS)):
            if words[index].text == "-m":
                name = words[index + 1].text
                known, rest = PYTHON_MODULES.get(name), words[index + 2 :]
                break
            if not words[index].text.startswith("-"):
                break
    if known is None:
        return None
    if name in ("parallel", "xargs"):
        rest = _one_round(rest)
    elif name == "tmux":
        rest = _without_keys(rest)
    peeled = peel(name, known, rest)
    if peeled is None and known.verbs:
        return None
    return peeled or Peeled((), Launched(name))


def _one_round(words: Sequence[Word]) -> list[Word]:
    """What `parallel` runs each time: its inputs are not the command's."""
    texts = [word.text for word in words]
    ends = [texts.index(mark) for mark in (":::", "::::", ":::+") if mark in texts]
    command = words[: min(ends)] if ends else words
    return [
        replace(word, known=word.known and not _PLACEHOLDER.search(word.text)) for word in command
    ]


def _without_keys(words: Sequence[Word]) -> Sequence[Word]:
    """`tmux send-keys "python train.py" C-m`: the key that ends the line is not of the command."""
    while words and words[-1].text in ("C-m", "Enter", "ENTER", "KPEnter"):
        words = words[:-1]
    return words


def log_words(launched: Launched) -> tuple[Word, ...]:
    """The files or directories to which a launcher sends what its ranks print."""
    names = _OUTPUTS.get(launched.name, ())
    return tuple(launched.options[name] for name in names if name in launched.options)


def environment(words: Sequence[Word]) -> dict[str, Word]:
    """`env A=b …`, `uv run --env`, and assignments before a command."""
    found: dict[str, Word] = {}
    for word in words:
        name, equals, value = word.text.partition("=")
        if word.text.startswith("-"):
            continue
        if not equals or not name.isidentifier():
            break
        found[name] = replace(word, text=value)
    return found
