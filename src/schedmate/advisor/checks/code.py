"""Code that cannot run as it is: no valid Python, a config or a package that is not there."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from itertools import pairwise
from pathlib import Path

from schedmate.advisor.checks.base import Checked
from schedmate.advisor.interpret.shell import Word
from schedmate.advisor.sources.files import Files, evidence
from schedmate.files import entries
from schedmate.model import Remark


def syntax_errors(checked: Checked) -> Iterator[Remark]:
    for problem in checked.problems:
        lines = problem.source.lines()
        line = min(problem.line, len(lines))
        yield Remark(
            level="error" if problem.depth == 0 else "warning",
            text=f"{problem.source.name} line {line} is not valid Python: {problem.problem}",
            evidence=(evidence(problem.source.name, line, lines[line - 1]),),
        )


_OPTION = re.compile(r"--?[\w.-]{0,60}(?:config|cfg|conf|yaml|json)(?:[_-]?(?:file|path))?")
_FILE = re.compile(r"[^\s*?=]{1,500}\.(?:ya?ml|json|toml)")


def missing_configs(checked: Checked) -> Iterator[Remark]:
    """Only where the directory that should hold it is in sight."""
    main = checked.launch.main
    if main is None or main.entry.source is None:
        return
    places = dict.fromkeys((checked.target.workdir, main.entry.import_root))
    for word, text in _named(main.arguments):
        if any(_may_be_there(place / text, checked) for place in places):
            continue
        yield Remark(
            level="warning",
            text=f"{text} is not there, so the job will probably fail at once",
            evidence=word.evidence,
        )


def _named(words: tuple[Word, ...]) -> Iterator[tuple[Word, str]]:
    for option, following in pairwise((Word(""), *words)):
        name, equals, value = following.text.partition("=")
        if equals and _OPTION.fullmatch(name) and _FILE.fullmatch(value) and following.known:
            yield following, value
        elif _OPTION.fullmatch(option.text) and _FILE.fullmatch(following.text) and following.known:
            yield following, following.text


def _may_be_there(path: Path, checked: Checked) -> bool:
    files = Files(checked.target.workdir, checked.target.user, by=checked.target.by)
    return files.may_be_there(path) or not files.is_directory(path.parent)


_LONGEST = 1000
_ACTIVATED = re.compile(r"\s{0,80}(?:source|\.)\s{1,9}(\S{1,400})/bin/activate")
_PYTHON = re.compile(r"(\S{1,400})/bin/python[\d.]{0,5}")
_INSTALLS = re.compile(
    r"\b(?:pip|uv|conda|mamba|poetry|pixi)3?\s+(?:pip\s+)?(?:install|sync|add)\b"
)
_MOST_ENTRIES = 20_000
_FEWEST_PACKAGES = 3
"""Fewer than these, and it is no environment that anybody trains in."""


def packages_not_installed(checked: Checked) -> Iterator[Remark]:
    """Silent unless the script names the environment, installs nothing, and it can be read."""
    main = checked.launch.main
    if main is None or any(_INSTALLS.search(" ".join(words)) for words in checked.launch.commands):
        return
    prefix = _environment(checked)
    target = checked.target
    files = Files(target.workdir, target.user, by=target.by)
    installed = None if prefix is None else _installed(prefix, files)
    if prefix is None or installed is None:
        return
    for library in checked.understood.traits.libraries:
        if not library.optional and library.name.lower() not in installed:
            yield Remark(
                level="warning",
                text=f"{library.name} is imported, but {prefix} does not have it",
                evidence=(library.line,),
            )


def _environment(checked: Checked) -> Path | None:
    """The one and only environment that the job's commands name."""
    written = [line for script in checked.launch.scripts for line in script.lines()]
    found = {match[1] for line in written if (match := _ACTIVATED.match(line[:_LONGEST]))}
    started = (" ".join(words[:1]) for words in checked.launch.commands)
    found |= {match[1] for word in started if (match := _PYTHON.match(word))}
    if len(found) != 1 or any("$" in each for each in found):
        return None
    return Path(os.path.normpath(checked.target.workdir / found.pop()))


def _installed(prefix: Path, files: Files) -> set[str] | None:
    """Lower-case names of what can be imported; None where that is unknown."""
    names: set[str] = set()
    try:
        for python in _names(prefix / "lib", files):
            directory = prefix / "lib" / python / "site-packages"
            if not fnmatchcase(python, "python3*") or not files.is_directory(directory):
                continue
            found = _names(directory, files)
            if any(entry.endswith(".pth") and "editable" in entry for entry in found):
                return None
            names.update(entry.partition(".")[0].lower() for entry in found)
    except OSError:
        return None
    if _sees_the_system(prefix, files):
        return None
    return names if len(names) > _FEWEST_PACKAGES else None


def _names(directory: Path, files: Files) -> list[str]:
    return [entry.name for entry in entries(files.reader, str(directory), _MOST_ENTRIES)]


def _sees_the_system(prefix: Path, files: Files) -> bool:
    text = (files.read_bytes(prefix / "pyvenv.cfg") or b"")[:4000].decode("utf-8", "replace")
    return re.search(r"include-system-site-packages\s{0,9}=\s{0,9}true", text) is not None
