"""A job as its files were read, and who may complete it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final, Protocol

from schedmate.advisor.interpret.python.parsed import Unparsable
from schedmate.advisor.interpret.python.trace import Trace
from schedmate.advisor.launch.processes import Processes
from schedmate.advisor.launch.run import Launch, PythonRun
from schedmate.advisor.sources.files import Files, SourceFile
from schedmate.model import Cost, ModelError, Remark, Workload

CONFIG_SUFFIXES: Final = (".yaml", ".yml", ".toml", ".json", ".cfg", ".ini")
_LONGEST_CONFIG: Final = 50_000


@dataclass(frozen=True, slots=True)
class ReadJob:
    """A job as it was read; nothing was interpreted where `run` is None."""

    launch: Launch
    workload: Workload
    files: Files
    run: PythonRun | None = None
    trace: Trace = field(default_factory=Trace)
    problems: tuple[Unparsable, ...] = ()
    """Files that are no Python."""
    processes: Processes = field(default_factory=Processes)
    summary: str = ""
    """What the job does, in a model's words."""
    remarks: tuple[Remark, ...] = ()
    """What a model says is wrong with it."""

    @property
    def words(self) -> str:
        if self.run is None:
            return " ".join(self.launch.commands[0]) if self.launch.commands else ""
        known = [word.text for word in self.run.arguments if word.known]
        return " ".join([self.run.entry.name, *known])

    def settings(self) -> Iterator[SourceFile]:
        """Without code that may be there for other jobs."""
        for source in self.sources():
            own = self.run is not None and source.name == self.run.entry.name
            if own or not source.name.endswith(".py"):
                yield source

    def sources(self) -> Iterator[SourceFile]:
        """Scripts, what they write, configs, code: only files that the job is seen to use."""
        yield from self.launch.scripts
        yield from self.files.written.values()
        read = [path for path, digest in self.files.seen.items() if digest is not None]
        wanted = [path for path in read if path.suffix in (*CONFIG_SUFFIXES, ".py")]
        for path in sorted(wanted, key=lambda path: path.suffix == ".py"):
            source = self.files.read(path, inside=self.files.roots)
            if source is not None and (path.suffix == ".py" or len(source.text) < _LONGEST_CONFIG):
                yield source


Read = Callable[[Launch], ReadJob]


class Completer(Protocol):
    """`problem` is what kept it from completing anything; `also_read` are the files that its answer
    goes by."""

    problem: ModelError | None
    also_read: set[str]

    @property
    def cost(self) -> Cost: ...

    @property
    def kind(self) -> str:
        """Says what was asked: another kind's answer hides nothing that this one could tell."""

    def complete(self, job: ReadJob, read: Read) -> ReadJob:
        """With what it finds; `read` reads the job as if it started something else."""
