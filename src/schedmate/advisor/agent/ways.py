"""Gaps on the way from a job's command to its code: a lost program, a branch, a config."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Final

from schedmate.advisor.agent.gaps import Choice, Gap, WayGap
from schedmate.advisor.interpret.shell import Word
from schedmate.advisor.launch.command_words import from_first_option
from schedmate.advisor.launch.entries import Finder
from schedmate.advisor.launch.guessing import training_programs
from schedmate.advisor.launch.purpose import words_of
from schedmate.advisor.launch.run import Entry, Launch, PythonRun
from schedmate.advisor.sources.files import Files, SourceFile, evidence
from schedmate.advisor.understand.read_job import CONFIG_SUFFIXES
from schedmate.model import Evidence

PROGRAM, BRANCH, CONFIG = "program", "branch", "config"
_MOST_CHOICES: Final = 8
_MOST_FILES: Final = 3000
_CONFIGS: Final = (*CONFIG_SUFFIXES, ".gin")
_NAMES_A_CONFIG: Final = re.compile(
    r"-{1,2}[\w-]{0,40}(?:config|cfg|conf|params|opts?|settings)\w{0,20}"
)
_DECLARED: Final = re.compile(
    r"add_argument\(\s*[\"'](--?[\w-]{1,60})|^def (main|train)\b", re.MULTILINE
)
_RUNS: Final = re.compile(r"^if __name__\b")


def gaps_on_the_way(launch: Launch, files: Files) -> Iterator[WayGap]:
    """Those that are there now: what is found behind one may have others."""
    made = (_program(launch, files), _branch(launch), _config(launch, files))
    yield from (gap for gap in made if gap is not None)


def _program(launch: Launch, files: Files) -> WayGap | None:
    """A command leads nowhere, or only a guess says where."""
    main = launch.main
    if not launch.lost or not (main is None or main.guessed or main.entry.missing):
        return None
    finder = Finder(files, files.workdir, files.workdir, dict(launch.written))
    sources = list(islice(training_programs(finder), _MOST_CHOICES))
    if not sources:
        return None
    words = launch.lost[0]
    command = " ".join(word.text for word in words)[:80]
    by_name = {source.name: source for source in sources}

    def follow(choice: Choice) -> Launch | None:
        if main is not None and main.entry.name == choice.value:
            return None
        source = by_name[choice.value]
        root = files.workdir if source.path is None else source.path.parent
        run = _started(source, root, words, main)
        return replace(launch, runs=(run,), lost=())

    asks = f"the program that trains; it is not seen what `{command}` starts"
    shown = tuple(Choice(source.name, _options(source), _beginning(source)) for source in sources)
    return WayGap(Gap(PROGRAM, asks, shown), follow, was_guessed=True)


def _started(
    source: SourceFile, root: Path, words: Sequence[Word], before: PythonRun | None
) -> PythonRun:
    entry = Entry(name=source.name, source=source, import_root=root)
    arguments = tuple(from_first_option(words))
    if before is not None:
        return replace(before, entry=entry, arguments=arguments, guessed=True)
    return PythonRun(entry=entry, arguments=arguments, command=words[0], guessed=True)


def _options(source: SourceFile) -> str:
    found = _DECLARED.findall(source.text)
    return " ".join(dict.fromkeys(option or f"{name}()" for option, name in found))[:100]


def _beginning(source: SourceFile) -> Evidence:
    """Where it begins to run, with the options that it has: what fits the command's."""
    lines = source.lines()
    number = next((n for n, line in enumerate(lines, 1) if _RUNS.match(line)), 1)
    return evidence(source.name, number, _options(source) or lines[number - 1])


def _branch(launch: Launch) -> WayGap | None:
    """Several programs or sets of options, of which a condition that is unknown chooses."""
    main = launch.main
    if main is None or main.guessed or launch.certainty >= 1:
        return None
    runs = {_command(run): run for run in launch.runs if run.conditional and run.command.evidence}
    if not 1 < len(runs) <= _MOST_CHOICES:
        return None

    def follow(choice: Choice) -> Launch | None:
        chosen = runs[choice.value]
        return None if chosen == main else replace(launch, runs=(replace(chosen, guessed=True),))

    shown = tuple(
        Choice(text, run.entry.name, run.command.evidence[0]) for text, run in runs.items()
    )
    asks = "the command that runs; a condition is not known"
    return WayGap(Gap(BRANCH, asks, shown), follow, was_guessed=True)


def _command(run: PythonRun) -> str:
    return " ".join([run.entry.name, *(word.text for word in run.arguments)])[:100]


def _config(launch: Launch, files: Files) -> WayGap | None:
    """An argument names a config that is not there, or a variable does."""
    main = launch.main
    at = None if main is None else _lost_config(main.arguments, files)
    if main is None or at is None:
        return None
    word = main.arguments[at]
    option, equals, path = word.text.rpartition("=")
    configs = _configs_like(path, launch, files)
    if not configs:
        return None

    def follow(choice: Choice) -> Launch | None:
        pointed = replace(word, text=f"{option}{equals}{choice.value}", known=True, spans=())
        arguments = (*main.arguments[:at], pointed, *main.arguments[at + 1 :])
        run = replace(main, arguments=arguments, guessed=True)
        return replace(launch, runs=tuple(run if each == main else each for each in launch.runs))

    asks = f"the config that is read; `{word.text[:80]}` is not a file here"
    shown = tuple(Choice(name, name, evidence(name, 1, name)) for name in configs)
    return WayGap(Gap(CONFIG, asks, shown), follow)


def _lost_config(arguments: Sequence[Word], files: Files) -> int | None:
    for index, word in enumerate(arguments):
        option, _, path = word.text.rpartition("=")
        before = option or (arguments[index - 1].text if index else "")
        if word.text.startswith("-") and not option:
            continue
        is_config = path.endswith(_CONFIGS)
        if not (is_config or (not word.known and _NAMES_A_CONFIG.fullmatch(before))):
            continue
        if not word.known or files.read(files.workdir / path, inside=files.roots) is None:
            return index
    return None


def _configs_like(path: str, launch: Launch, files: Files) -> list[str]:
    """Those of the same kind, the ones with most words of the command first."""
    suffix = PurePosixPath(path).suffix
    wanted = {part for words in launch.commands for word in words for part in words_of(word)}
    below = islice(files.directories.files_below(str(files.workdir)), _MOST_FILES)
    fitting = (suffix,) if suffix in _CONFIGS else _CONFIGS
    names = [name for name in below if name.endswith(fitting) and not name.startswith(".")]
    names.sort(key=lambda name: (-len(wanted & set(words_of(name))), name.count("/"), name))
    return names[:_MOST_CHOICES]
