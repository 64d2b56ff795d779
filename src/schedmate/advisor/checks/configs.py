"""A config that the command line names and that is not there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from schedmate.advisor.checks.base import Checked
from schedmate.advisor.interpret.shell import Word
from schedmate.advisor.sources.files import Files
from schedmate.model import Remark

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
