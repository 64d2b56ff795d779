"""Stages that a project's YAML names: what `dvc repro`, `task train` and `mlflow run .` run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from schedmate.advisor.interpret.shell import Word
from schedmate.advisor.launch.manifests.base import Read
from schedmate.advisor.launch.manifests.documents import Part, documents

_MAX_STAGES = 100
_PLACE = re.compile(r"\$\{([\w.]{1,100})\}|\{\{\s{0,3}\.?([\w.]{1,100})\s{0,3}\}\}|\{(\w{1,100})\}")


@dataclass(frozen=True, slots=True)
class Stages:
    """Where a tool's file has its stages, and what of a stage is its commands. `settings` is the
    file whose values stages may use, or the place of a stage's own parameters."""

    files: tuple[str, ...]
    at: str
    commands: tuple[str, ...]
    verbs: tuple[str, ...] = ()
    settings: str = ""


STAGES: dict[str, Stages] = {
    "dvc": Stages(("dvc.yaml",), "stages", ("cmd",), ("repro", "exp", "run"), "params.yaml"),
    "task": Stages(
        ("Taskfile.yml", "Taskfile.yaml", "taskfile.yml"), "tasks", ("cmds", "cmd"), (), "vars"
    ),
    "mlflow": Stages(("MLproject",), "entry_points", ("command",), ("run",), "parameters"),
}


def stage_texts(tool: str, words: Sequence[Word], base: Path, read: Read) -> list[Word]:
    """The commands of the stages that are named; of all of them where none is."""
    kind = STAGES[tool]
    plain = [word.text for word in words if not word.text.startswith("-")]
    if kind.verbs and not set(kind.verbs).intersection(plain[:2]):
        return []
    source = next((found for name in kind.files if (found := read(base / name)) is not None), None)
    parts = [] if source is None else documents(source)
    stages = parts[0].get(kind.at) if parts else None
    if stages is None or source is None:
        return []
    every = list(stages.items())[:_MAX_STAGES]
    meant = [each for each in every if each[0] in plain] or every
    around = _settings(parts[0], kind, base, read)
    given = _given(words)
    return [
        text
        for _, stage in meant
        for text in _commands(stage, kind, {**around, **_own(stage, kind), **given})
    ]


def _settings(document: Part, kind: Stages, base: Path, read: Read) -> dict[str, str]:
    if not kind.settings.endswith(".yaml"):
        whole = document.get(kind.settings)
        return {} if whole is None else dict(_leaves(whole))
    source = read(base / kind.settings)
    return (
        {name: text for part in documents(source) for name, text in _leaves(part)} if source else {}
    )


def _own(stage: Part, kind: Stages) -> dict[str, str]:
    """`{lr: {type: float, default: 0.1}}` or `{lr: 0.1}`."""
    own = stage.get(kind.settings)
    if own is None:
        return {}
    found = {name: value.get("default") or value for name, value in own.items()}
    return {name: value.text for name, value in found.items() if value.text is not None}


def _leaves(part: Part, prefix: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    for name, value in part.items():
        if value.text is not None:
            yield f"{prefix}{name}", value.text
        elif depth < 6:  # noqa: PLR2004 - no settings are nested deeper
            yield from _leaves(value, f"{prefix}{name}.", depth + 1)


def _given(words: Sequence[Word]) -> dict[str, str]:
    """`-P lr=0.1` and `-S train.lr=0.1`."""
    pairs = (after.text for before, after in pairwise(words) if before.text in ("-P", "-S"))
    return dict(pair.split("=", 1) for pair in pairs if "=" in pair)


def _commands(stage: Part, kind: Stages, values: Mapping[str, str]) -> Iterator[Word]:
    for name in kind.commands:
        listed = stage.get(name)
        for part in (stage if listed is None else listed).parts():
            text = _PLACE.sub(lambda found: _filled(found, values), part.text or "")
            yield Word(text, (part.evidence,))
        if listed is not None:
            return


def _filled(found: re.Match[str], values: Mapping[str, str]) -> str:
    name = found[1] or found[2] or found[3]
    return values.get(name, found[0])
