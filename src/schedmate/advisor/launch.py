"""What a job really runs, once its script and its launchers are out of the way."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from schedmate.advisor.shell import Asked, Word
from schedmate.advisor.sources import SourceFile

_HELPERS = re.compile(r"(?:^|/)setup\.py$|^-m (?:pip|venv|ensurepip|compileall|virtualenv)\b")
_TRAINS = re.compile(r"train|finetune|fine_tune|main|fit|run", re.IGNORECASE)
_PREPARES = re.compile(
    r"prep|download|convert|eval|test|check|process|plot|report|summar|token", re.IGNORECASE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """The Python file or module that a command starts.

    `import_root` is where its imports are looked for first.
    """

    name: str
    source: SourceFile | None
    import_root: Path
    missing: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonRun:
    entry: Entry
    arguments: tuple[Word, ...]
    command: Word
    """The word that names the entry point; its evidence is the line that starts it."""
    launchers: tuple[str, ...] = ()
    env: Mapping[str, Word] = field(default_factory=dict)
    conditional: bool = False
    log_files: tuple[Word, ...] = ()
    killed_after: Word | None = None
    """How long `timeout` lets it run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """All that a job starts; `main` is the run that the job is about."""

    runs: tuple[PythonRun, ...]
    scripts: tuple[SourceFile, ...]
    commands: tuple[tuple[str, ...], ...]
    asked: Asked
    missing_scripts: tuple[Word, ...] = ()

    @property
    def main(self) -> PythonRun | None:
        ranked = [(_rank(run), index) for index, run in enumerate(self.runs)]
        return self.runs[max(ranked)[1]] if ranked else None


def _rank(run: PythonRun) -> tuple[bool, bool, bool, bool, bool]:
    name = Path(run.entry.name).name
    return (
        not _HELPERS.search(run.entry.name),
        not _PREPARES.search(name),
        bool(run.launchers),
        bool(_TRAINS.search(name)),
        not run.conditional,
    )
