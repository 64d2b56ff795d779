"""What a job really runs, once its script and its launchers are out of the way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from schedmate.advisor.interpret.shell import Asked, Word
from schedmate.advisor.launch.launchers import PARALLEL, Launched
from schedmate.advisor.launch.purpose import HELPER, purpose_of
from schedmate.advisor.sources.files import SourceFile

STDIN, INLINE = "<stdin>", "<string>"
"""Names of entries that stand in the script itself: a here-document, or behind `-c`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """The Python file or module that a command starts, or a program whose code is elsewhere.

    `import_root` is where its imports are looked for first. `function` is the one that a console
    script calls. The lines of a source that stands in a script are numbered as they are there.
    """

    name: str
    source: SourceFile | None
    import_root: Path
    missing: bool = False
    function: str | None = None
    is_program: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonRun:
    entry: Entry
    arguments: tuple[Word, ...]
    command: Word
    """The word that names the entry point; its evidence is the line that starts it."""
    launchers: tuple[str, ...] = ()
    launched: tuple[Launched, ...] = ()
    """The launchers before it, outermost first, with what each was told."""
    env: Mapping[str, Word] = field(default_factory=dict)
    conditional: bool = False
    log_files: tuple[Word, ...] = ()
    killed_after: Word | None = None
    """How long `timeout` lets it run."""
    cwd: Path | None = None
    """Where it starts; None where unknown."""
    asked: Asked = field(default_factory=lambda: Asked({}))
    """What its own submission or `srun` asks for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """All that a job starts; `main` is the run that the job is about.

    `written` are files that the script writes before, by their path from the job's directory.
    Their lines are numbered as in the script, whose name they carry, so that evidence points
    there; what is unknown in them is still a `$variable`.
    """

    runs: tuple[PythonRun, ...]
    scripts: tuple[SourceFile, ...]
    commands: tuple[tuple[str, ...], ...]
    asked: Asked
    missing_scripts: tuple[Word, ...] = ()
    written: Mapping[str, SourceFile] = field(default_factory=dict)

    @property
    def main(self) -> PythonRun | None:
        ranked = [(rank, index) for index, run in enumerate(self.runs) if (rank := _rank(run))]
        return self.runs[max(ranked)[1]] if ranked else None


def _rank(run: PythonRun) -> tuple[int, bool, bool, bool, bool] | None:
    """The more, the likelier it is what the job is about; None where it cannot be."""
    entry = run.entry
    purpose = purpose_of(entry.name, [word.text for word in run.arguments if word.known])
    if purpose == HELPER:
        return None
    if entry.name == INLINE:
        text = entry.source.text if entry.source else ""
        if not any(word in text for word in ("train", "fit", "main(")):
            return None
    return (
        purpose - entry.is_program,
        bool(PARALLEL.intersection(run.launchers)),
        not run.conditional,
        not entry.missing,
        entry.source is not None,
    )
