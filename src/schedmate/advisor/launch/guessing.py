"""Where a command leads nowhere: the program of the tree that trains and fits the command's words.

What is found so is a guess, and everything read from it is held with little confidence.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import PurePosixPath

from schedmate.advisor.interpret.shell import Word
from schedmate.advisor.launch.command_words import from_first_option
from schedmate.advisor.launch.entries import Finder
from schedmate.advisor.launch.purpose import TRAINING, TRAINS, can_run, purpose_of, trains, words_of
from schedmate.advisor.launch.resolution import MOST_LOST, Resolution
from schedmate.advisor.launch.run import Entry, PythonRun
from schedmate.advisor.launch.started import Started
from schedmate.advisor.sources.files import SourceFile

Unwrap = Callable[[Sequence[Word], Started], list[PythonRun]]
_MOST_FILES = 3000
_MOST_READ = 30
_OPTION = re.compile(r"--?([A-Za-z][\w.-]{1,60})")
_NOT_PROGRAMS = re.compile(
    r"(?:^|/)(?:tests?|docs?|build|dist|node_modules|site-packages|third_party|\.[^/]+|[^/]*venv)/"
    r"|(?:^|/)(?:setup|conftest|__init__|test_[^/]*|[^/]*_test)\.py$"
)


def guessed_runs(resolution: Resolution, unwrap: Unwrap) -> list[PythonRun]:
    """What the commands that lead nowhere may start, if they fit anything of the tree."""
    finder = resolution.finder
    for words, started in resolution.lost[:MOST_LOST]:
        index = _started_among(words, finder, started.cwd)
        runs = [] if index is None else unwrap(words[index:], started)
        source = _fitting(words, finder) if not runs else None
        if source is not None and source.path is not None:
            entry = Entry(name=source.name, source=source, import_root=source.path.parent)
            runs = [resolution.run_of(entry, words[0], from_first_option(words), started)]
        if runs:
            return [replace(run, guessed=True) for run in runs]
    return []


def not_taken(runs: Sequence[PythonRun]) -> list[PythonRun]:
    """Programs of branches that are not taken; arguments that differ between them are unknown."""
    read = [run for run in runs if run.entry.source is not None]
    return [replace(run, not_taken=True, arguments=_shared(run, read)) for run in read]


def _shared(run: PythonRun, runs: Sequence[PythonRun]) -> tuple[Word, ...]:
    of_others = [
        {word.text for word in other.arguments}
        for other in runs
        if other.entry.name == run.entry.name
    ]
    return tuple(
        replace(word, known=word.known and all(word.text in texts for texts in of_others))
        for word in run.arguments
    )


def of_same_name(resolution: Resolution, run: PythonRun) -> list[PythonRun]:
    """Where a file is not where the command has it: the one of that name anywhere in the tree."""
    name = PurePosixPath(run.entry.name).name
    root = resolution.finder.files.workdir
    if run.entry.source is not None or not run.entry.missing or not name.endswith(".py"):
        return []
    below = islice(resolution.finder.files.directories.files_below(str(root)), _MOST_FILES)
    found = [each for each in below if PurePosixPath(each).name == name]
    source = resolution.finder.read(root / found[0]) if len(found) == 1 else None
    if source is None or source.path is None:
        return []
    entry = Entry(name=source.name, source=source, import_root=source.path.parent)
    return [replace(run, entry=entry, guessed=True)]


def _started_among(words: Sequence[Word], finder: Finder, cwd: str | None) -> int | None:
    """Which word of a command, behind its first, is a program of the tree that it may start."""
    for index, word in enumerate(words[1:], 1):
        if word.text.endswith((".py", ".sh", ".ipynb")):
            source = finder.find(word, cwd)
            if source is not None and (not word.text.endswith(".py") or can_run(source.text)):
                return index
    return None


def _fitting(words: Sequence[Word], finder: Finder) -> SourceFile | None:
    """The program that declares most of the command's options, or whose name has its words where
    those are about training. A command that has neither may start anything."""
    options = {found[1] for word in words if (found := _OPTION.match(word.text)) is not None}
    plain = [PurePosixPath(word.text).name for word in words if not word.text.startswith("-")]
    named = frozenset(part for text in plain for part in words_of(text))
    if not options and not named & TRAINS:
        return None
    sources = list(training_programs(finder))
    programs = [
        (_declared(source.text, options), len(_path_words(source) & named), -len(source.name), at)
        for at, source in enumerate(sources)
    ]
    best = max(programs, default=None)
    if best is None or not (2 * best[0] >= len(options) > 0 or (best[1] and named & TRAINS)):
        return None
    return sources[best[3]]


def _path_words(source: SourceFile) -> frozenset[str]:
    parts = PurePosixPath(source.name).with_suffix("").parts
    return frozenset(word for part in parts for word in words_of(part))


def _declared(text: str, options: set[str]) -> int:
    """How many of them a program has: `"--lr"`, or a field `lr: float`."""
    names = (re.escape(option).replace("_", "[-_]").replace(r"\-", "[-_]") for option in options)
    return sum(
        re.search(rf"--{name}\b|^\s*{name}\s*:", text, re.MULTILINE) is not None for name in names
    )


def training_programs(finder: Finder) -> Iterator[SourceFile]:
    """Those that are named after training are read first."""
    root = finder.files.workdir
    below = finder.files.directories.files_below(str(root))
    names = [
        name
        for name in islice(below, _MOST_FILES)
        if name.endswith(".py") and not _NOT_PROGRAMS.search(name)
    ]
    names.sort(key=lambda name: (-purpose_of(name, ()), name.count("/"), name))
    for name in names[:_MOST_READ]:
        source = finder.read(root / name)
        if source is None or not can_run(source.text):
            continue
        if trains(source.text) or purpose_of(name, ()) >= TRAINING:
            yield source
