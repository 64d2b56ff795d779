"""Tasks that a project gives names to: what `pixi run train` or `poe train` runs, as shell text."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from schedmate.advisor.interpret.shell import Word
from schedmate.advisor.launch.manifests.base import Read
from schedmate.advisor.sources.files import SourceFile, evidence

_ARGUMENTS = re.compile(r"\{args(?::([^}]{0,200}))?\}")
_COMMANDS = ("cmd", "shell", "script")
_BEFORE = ("depends-on", "depends_on", "composite", "sequence", "deps")
_MAX_DEPTH = 4
_MAX_TEXT = 20_000


@dataclass(frozen=True, slots=True)
class Runner:
    """A program that runs tasks, and where its files have them by name."""

    files: tuple[str, ...]
    tables: tuple[tuple[str, ...], ...]
    """Paths to tables of tasks; `*` is any name on the way."""


RUNNERS: dict[str, Runner] = {
    "pixi": Runner(
        ("pixi.toml", "pyproject.toml"),
        (
            *(("tasks",), ("feature", "*", "tasks"), ("tool", "pixi", "tasks")),
            ("tool", "pixi", "feature", "*", "tasks"),
        ),
    ),
    "pdm": Runner(("pyproject.toml",), (("tool", "pdm", "scripts"),)),
    "rye": Runner(("pyproject.toml",), (("tool", "rye", "scripts"),)),
    "poe": Runner(("pyproject.toml", "poe_tasks.toml"), (("tool", "poe", "tasks"),)),
    "task": Runner(("pyproject.toml",), (("tool", "taskipy", "tasks"),)),
    "hatch": Runner(
        ("hatch.toml", "pyproject.toml"),
        (("envs", "*", "scripts"), ("tool", "hatch", "envs", "*", "scripts")),
    ),
}


def task_text(runner: str, words: Sequence[Word], base: Path, read: Read) -> Word | None:
    """The text of the task that the first word names, with the other words in their place."""
    name = words[0].text.rpartition(":")[2] if words else ""
    for file in RUNNERS[runner].files:
        source = read(base / file)
        if source is None:
            continue
        tasks = _tasks(RUNNERS[runner], source)
        text = _text(name, tasks)
        if text:
            return _word(source, text, words[1:])
    return None


def _tasks(runner: Runner, source: SourceFile) -> dict[str, Any]:
    try:
        data = tomllib.loads(source.text)
    except (ValueError, RecursionError):
        return {}
    found: dict[str, Any] = {}
    for path in runner.tables:
        for table in _at(data, path):
            found |= table
    return found


def _at(data: Any, path: Sequence[str]) -> Iterator[dict[str, Any]]:
    if not isinstance(data, dict):
        return
    if not path:
        yield data
        return
    inner = data.values() if path[0] == "*" else [data.get(path[0])]
    for each in inner:
        yield from _at(each, path[1:])


def _text(name: str, tasks: Mapping[str, Any], depth: int = 0) -> str:
    """What the task needs first, then its own commands."""
    task = tasks.get(name)
    if task is None or depth > _MAX_DEPTH:
        return ""
    lines: list[str] = []
    if isinstance(task, dict):
        for key in _BEFORE:
            lines += [_step(each, tasks, depth) for each in _listed(task.get(key))]
        task = next((task[key] for key in _COMMANDS if key in task), "")
        task = " ".join(map(str, task)) if isinstance(task, list) else task
    lines += [_step(each, tasks, depth) for each in _listed(task)]
    return "\n".join(line for line in lines if line)[:_MAX_TEXT]


def _step(step: Any, tasks: Mapping[str, Any], depth: int) -> str:
    """A command, or another task by its name."""
    if isinstance(step, dict):
        step = next((step[key] for key in ("task", "ref", *_COMMANDS) if key in step), "")
    text = str(step)
    return _text(text, tasks, depth + 1) or ("" if text in tasks else text)


def _listed(value: Any) -> list[Any]:
    if value is None or value == "":
        return []
    return value[:50] if isinstance(value, list) else [value]


def _word(source: SourceFile, text: str, words: Sequence[Word]) -> Word:
    given = " ".join(word.text for word in words)
    if _ARGUMENTS.search(text):
        text = _ARGUMENTS.sub(lambda found: given or found[1] or "", text)
    elif given:
        text = f"{text} {given}"
    last = text.rpartition("\n")[2][:30].strip()
    lines = source.lines()
    number = next((at for at, line in enumerate(lines, 1) if last and last in line), 1)
    return Word(text, (evidence(source.name, number, lines[number - 1]),))
