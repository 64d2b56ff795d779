"""Programs that a checked-out package installs: their names lead to a module and a function."""

from __future__ import annotations

import configparser
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from schedmate.advisor.sources.files import SourceFile

_TARGET = re.compile(
    r"([A-Za-z_][\w.]{0,200})(?::([A-Za-z_]\w{0,200}))?(?:\s*\[.{0,200}\])?", re.ASCII
)
_IN_SETUP = re.compile(
    r"[\"']\s*([\w.-]{1,100})\s*=\s*([A-Za-z_][\w.]{0,200}:[A-Za-z_]\w{0,200})\s*[\"']", re.ASCII
)

Read = Callable[[Path], SourceFile | None]


@dataclass(frozen=True, slots=True)
class ConsoleScript:
    source: SourceFile
    root: Path
    function: str | None


def console_script(name: str, root: Path, read: Read) -> ConsoleScript | None:
    """What `name` starts if the package in `root` is installed; None where it has no such."""
    for source, scripts in _declared(root, read):
        target = _TARGET.fullmatch(scripts.get(name, "").strip())
        if target is None:
            continue
        del source
        for place in (root, root / "src"):
            relative = target[1].replace(".", "/")
            for candidate in (f"{relative}.py", f"{relative}/__init__.py"):
                found = read(place / candidate)
                if found is not None:
                    return ConsoleScript(found, place, target[2])
    return None


def _declared(root: Path, read: Read) -> Iterator[tuple[SourceFile, Mapping[str, str]]]:
    for file, scripts_of in (
        ("pyproject.toml", _of_pyproject),
        ("setup.cfg", _of_setup_cfg),
        ("setup.py", _of_setup),
    ):
        source = read(root / file)
        if source is not None:
            yield source, scripts_of(source.text)


def _of_pyproject(text: str) -> dict[str, str]:
    try:
        data = tomllib.loads(text)
    except (ValueError, RecursionError):
        return {}
    found: dict[str, str] = {}
    for path in (("tool", "poetry", "scripts"), ("project", "gui-scripts"), ("project", "scripts")):
        table: Any = data
        for part in path:
            table = table.get(part, {}) if isinstance(table, dict) else {}
        if isinstance(table, dict):
            found |= {name: target for name, target in table.items() if isinstance(target, str)}
    return found


def _of_setup_cfg(text: str) -> dict[str, str]:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(text)
        lines = parser.get("options.entry_points", "console_scripts", fallback="")
    except configparser.Error:
        return {}
    pairs = (line.partition("=") for line in lines.splitlines())
    return {name.strip(): target.strip() for name, equals, target in pairs if equals}


def _of_setup(text: str) -> dict[str, str]:
    return {found[1]: found[2] for found in _IN_SETUP.finditer(text)}
