"""What a model of a library call may ask of the evaluator. See `declarations` for examples."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from schedmate.advisor.interpret.python.trace import Option
from schedmate.advisor.interpret.python.values import Call, LocalClass, LocalFunction, Value
from schedmate.advisor.interpret.shell import Word
from schedmate.advisor.launch.processes import Processes
from schedmate.advisor.sources.files import SourceFile


class Context(Protocol):
    """The job around a call: its command line, its environment, its files."""

    @property
    def arguments(self) -> tuple[Word, ...]:
        """The words behind the entry point."""

    @property
    def environment(self) -> Mapping[str, Word]:
        """Variables that the script sets; others are unknown."""

    def state(self, option: Option) -> None:
        """Put an option of the job into the trace."""

    def read_config(self, path: str) -> Value | None:
        """A YAML, JSON or TOML file as a value; looked up from where the job runs, then from
        beside the entry point. None where it is not there, is no text, or lies outside."""

    def read_python_config(self, path: str) -> Value | None:
        """A Python file of settings as a `Table` of its names; it is interpreted, not run."""

    def list_files(self, directory: str) -> Sequence[str]:
        """Names of files below a directory of the job, at most a few hundred."""

    def invoke(
        self,
        function: Value,
        positional: Sequence[Value] = (),
        keywords: Mapping[str, Value] | None = None,
    ) -> Value:
        """Follow a call of one of the job's own functions or classes."""

    def own(self, function: Value) -> Value:
        """What a dotted name stands for, where it is one of the job's own modules that has it."""

    processes: Processes
    """How many processes run the code, and what each sees."""

    def option(self, name: str) -> Value:
        """An option as it was stated last; unknown where it was not."""

    def export(self, name: str, value: Value) -> None:
        """Set a variable of the environment, unless the script has set it."""

    def configure(self, name: str, parameter: str, value: Value) -> None:
        """From now on calls of what has that name get the parameter so, unless they give it."""

    def signature(
        self, function: LocalFunction
    ) -> Sequence[tuple[str, Value | None, Value | None]]:
        """Its parameters: name, default (None: none), annotation (None: none)."""

    def field_class(self, cls: LocalClass, name: str) -> LocalClass | None:
        """The job's own class that a field is annotated with, where it is one."""

    def members(self, cls: LocalClass) -> Mapping[str, Value]:
        """Its attributes with those of its local bases; the nearest wins."""


ReadConfig = Callable[[SourceFile], Value | None]
"""The content of a config file, each leaf with its line."""

CallModel = Callable[[Call, Context], Value | None]
"""What a library call returns, as far as reading tells; None: a plain `LibraryObject`."""

Wrapper = Callable[[LocalFunction, Value, Context], Value | None]
"""What a call of a decorated function of the job does: the function, the decorator as it stands
(`hydra.main(…)` is a `LibraryObject`), the context. None: as if it were not decorated."""
