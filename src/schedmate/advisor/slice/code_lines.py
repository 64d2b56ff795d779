"""The lines of a job's files that its record depends on: what trains, on what, how long."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from schedmate.advisor.agent.grounding import without_comment
from schedmate.advisor.sources.files import SourceFile

_WIDTH: Final = 150
_GAP: Final = "…"
_MOST_CONTINUED: Final = 6
_SMALL: Final = 60
_LITERAL_SHARE: Final = 0.6
_WHOLE_SHARE: Final = 0.5
"""Of the room that a file has: one that takes less is shown as a whole."""
_SETTING: Final = re.compile(
    r"^\s{0,16}[\"']?[A-Za-z_][\w.-]{0,60}[\"']?(?: ?: ?[\w\[\]. |]{1,40})? {0,20}[=:]\s{0,20}"
    r"(?:[\w\"'\[({.+-].{0,120})?$"
)
_QUIET: Final = re.compile(
    r"^\s{0,40}(?:#(?!SBATCH|PBS|BSUB|\$ )|//|\"\"\"|'''|import |from \S+ import |print\(|echo )"
    r"|^\s{0,200}$"
)
Notes = Mapping[int, Sequence[str]]
"""By line, as `name=value`."""
_CONFIGS: Final = (".yaml", ".yml", ".toml", ".json", ".cfg", ".ini", ".gin", ".conf", ".txt")


def shown_lines(source: SourceFile, marked: Collection[int], notes: Notes, room: int) -> str:
    """Lines with their numbers, the telling ones where not all fit into `room` characters.

    `marked` are lines that state a value of the record; `notes` says what a line's values are.
    """
    lines = source.lines()
    if len(lines) == 1 and not lines[0]:
        return ""
    numbers = [n for n, line in enumerate(lines, 1) if not _QUIET.match(line)]
    size = sum(len(lines[number - 1].strip()) + 5 for number in numbers)
    if not is_settings(source) and size > _WHOLE_SHARE * room:
        numbers = sorted({*_telling(lines), *(n for n in marked if 0 < n <= len(lines))})
    return _within(list(_numbered(lines, numbers, notes)), room)


def is_settings(source: SourceFile) -> bool:
    """A config, or a script or Python file that states little else than settings."""
    if source.name.endswith((*_CONFIGS, ".sh", ".slurm", ".sbatch", ".bash", ".pbs", ".lsf")):
        return True
    lines = [line for line in source.lines() if not _QUIET.match(line)]
    if not source.name.endswith(".py"):
        return len(lines) <= 2 * _SMALL
    settings = sum(_SETTING.match(line) is not None for line in lines)
    return 0 < len(lines) <= 2 * _SMALL and settings >= _LITERAL_SHARE * len(lines)


def _telling(lines: list[str]) -> Iterator[int]:
    for number, line in enumerate(lines, 1):
        code = without_comment(line[:400])
        if _QUIET.match(code) or not any(pattern.search(code) for pattern in _patterns()):
            continue
        yield number
        yield from _continued(lines, number)


@cache
def _patterns() -> tuple[re.Pattern[str], ...]:
    text = Path(__file__).with_name("telling_lines.txt").read_text(encoding="utf-8")
    return tuple(re.compile(line) for line in text.splitlines() if line[:1] not in ("", "#"))


def _continued(lines: list[str], number: int) -> Iterator[int]:
    """The lines up to the bracket that closes a call, where it is near."""
    depth = _depth(lines[number - 1])
    for after in range(number + 1, min(number + _MOST_CONTINUED, len(lines)) + 1):
        if depth <= 0:
            return
        yield after
        depth += _depth(lines[after - 1])


def _depth(line: str) -> int:
    code = without_comment(line[:400])
    return sum(code.count(each) for each in "([{") - sum(code.count(each) for each in ")]}")


def _numbered(lines: list[str], numbers: Iterable[int], notes: Notes) -> Iterator[tuple[int, str]]:
    for number in numbers:
        text = lines[number - 1].rstrip()
        indent = len(text) - len(text.lstrip())
        shown = " " * min(indent // 2, 8) + without_comment(text.strip())[:_WIDTH].rstrip()
        near = "".join(lines[number - 1 : number + _MOST_CONTINUED])
        new = [each for each in notes.get(number, ()) if _value(each) not in near]
        note = f"  # = {', '.join(new)}" if new else ""
        if shown.strip():
            yield number, f"{number}:{shown}{note}"


def _within(shown: list[tuple[int, str]], room: int) -> str:
    """The first lines that fit; a mark says where some were left out."""
    text, left, before = [], room, 0
    for number, line in shown:
        left -= len(line) + 1
        if left < 0:
            text.append(_GAP)
            break
        if before and number > before + 8:
            text.append(_GAP)
        text.append(line)
        before = number
    return "\n".join(text)


def _value(note: str) -> str:
    return re.split(r"[=<]", note, maxsplit=1)[-1].strip("'\"")
