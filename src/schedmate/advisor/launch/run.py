"""What a job really runs, once its script and its launchers are out of the way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from schedmate.advisor.interpret.shell import Asked, Word
from schedmate.advisor.launch.launchers import PARALLEL, Launched
from schedmate.advisor.launch.purpose import HELPER, purpose_of, trains
from schedmate.advisor.sources.files import SourceFile

_GUESSED, _UNDECIDED = 0.5, 0.7
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
    varies: bool = False
    """Whether it runs several times, with other words each time: those are unknown."""
    guessed: bool = False
    """Whether no command was seen to start it: it only fits the words of one."""
    not_taken: bool = False
    """Whether it stands in the script on a way that is not taken as the job is called."""
    first_of_several: bool = False
    """Whether its words are those of the first of several files that a loop writes."""


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
    lost: tuple[tuple[Word, ...], ...] = ()
    """Commands of which it is not known what they start."""
    presumed: frozenset[tuple[str, int]] = frozenset()
    """Lines of scripts that run because a variable is set nowhere, by file and number."""

    @property
    def main(self) -> PythonRun | None:
        """Of several that rank alike the last program, as earlier ones prepare for it; of the runs
        of one program the first, as later ones vary it."""
        ranked = [(rank, run) for run in self.runs if (rank := _rank(run))]
        best = max((rank for rank, _ in ranked), default=None)
        alike = [run for rank, run in ranked if rank == best]
        return next((run for run in alike if run.entry.name == alike[-1].entry.name), None)

    @property
    def starts_nothing_known(self) -> bool:
        """A command led nowhere, or there is none."""
        return self.main is None and (bool(self.lost) or not (self.commands or self._has_lines))

    @property
    def _has_lines(self) -> bool:
        lines = (line.strip() for source in self.scripts for line in source.lines())
        return any(line and not line.startswith("#") for line in lines)

    @property
    def certainty(self) -> float:
        """How sure it is that `main` runs as it was read: less where it is a guess, or one side
        of a branch of which the other runs something else for the same purpose."""
        main = self.main
        if main is None:
            return 1.0
        if main.guessed or main.not_taken:
            return _GUESSED
        if main.first_of_several:
            return _UNDECIDED
        if not main.conditional:
            return 1.0
        others = [run for run in self.runs if run.conditional and _differs(run, main)]
        return _UNDECIDED if others else 1.0


def _differs(run: PythonRun, main: PythonRun) -> bool:
    if _purpose(run) != _purpose(main):
        return False
    return (run.entry.name, run.arguments) != (main.entry.name, main.arguments)


def _purpose(run: PythonRun) -> int:
    return purpose_of(run.entry.name, [word.text for word in run.arguments if word.known])


def _rank(run: PythonRun) -> tuple[int, bool, bool, bool, bool, bool, bool] | None:
    """The more, the likelier it is what the job is about; None where it cannot be."""
    entry = run.entry
    purpose = _purpose(run)
    if purpose == HELPER:
        return None
    if entry.name == INLINE:
        text = entry.source.text if entry.source else ""
        if not any(word in text for word in ("train", "fit", "main(")):
            return None
    return (
        purpose - entry.is_program,
        not run.guessed and not entry.missing,
        entry.source is not None and trains(entry.source.text),
        not run.conditional,
        bool(PARALLEL.intersection(run.launchers)),
        not entry.missing,
        entry.source is not None,
    )
