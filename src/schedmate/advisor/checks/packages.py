"""A package that the code imports and the environment it is started in does not have."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from schedmate.advisor.checks.base import Checked
from schedmate.advisor.permissions import may_read
from schedmate.model import Remark

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
    if prefix is not None and not _may_look(prefix, checked):
        return
    installed = None if prefix is None else _installed(prefix)
    if prefix is None or installed is None:
        return
    for library in checked.understood.traits.libraries:
        if not library.optional and library.name.lower() not in installed:
            yield Remark(
                level="warning",
                text=f"{library.name} is imported, but {prefix} does not have it",
                evidence=(library.line,),
            )


def _may_look(prefix: Path, checked: Checked) -> bool:
    """As the job's user might."""
    try:
        return may_read(checked.target.user, prefix.resolve(), workdir=checked.target.workdir)
    except (OSError, RuntimeError):
        return False


def _environment(checked: Checked) -> Path | None:
    """The one and only environment that the job's commands name."""
    written = [line for script in checked.launch.scripts for line in script.lines()]
    found = {match[1] for line in written if (match := _ACTIVATED.match(line[:_LONGEST]))}
    started = (" ".join(words[:1]) for words in checked.launch.commands)
    found |= {match[1] for word in started if (match := _PYTHON.match(word))}
    if len(found) != 1 or any("$" in each for each in found):
        return None
    return Path(os.path.normpath(checked.target.workdir / found.pop()))


def _installed(prefix: Path) -> set[str] | None:
    """Lower-case names of what can be imported; None where that can not be told."""
    names: set[str] = set()
    try:
        for directory in prefix.glob("lib/python3*/site-packages"):
            entries = [path.name for path in islice(directory.iterdir(), _MOST_ENTRIES)]
            if any(entry.endswith(".pth") and "editable" in entry for entry in entries):
                return None
            names.update(entry.partition(".")[0].lower() for entry in entries)
        if (prefix / "pyvenv.cfg").is_file() and _sees_the_system(prefix):
            return None
    except (OSError, ValueError):
        return None
    return names if len(names) > _FEWEST_PACKAGES else None


def _sees_the_system(prefix: Path) -> bool:
    text = (prefix / "pyvenv.cfg").read_text(encoding="utf-8", errors="replace")[:4000]
    return re.search(r"include-system-site-packages\s{0,9}=\s{0,9}true", text) is not None
