"""By what a framework is recognised, before its module is loaded."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import PurePosixPath

from schedmate.advisor.frameworks.contract import Framework
from schedmate.advisor.launch.run import PythonRun

_LONGEST_STARTER = 60
"""Lines of a file that does no more than start a framework, its licence included."""
_DEEPEST = 6
"""How many directories deep a module of a framework lies at most."""


@dataclass(frozen=True, kw_only=True)
class Signs:
    """`packages` are what its code is imported as; `drives` is a pattern of calls by which it runs
    the training, "" where it never does so itself.

    `programs` are console scripts, `modules` a pattern for what stands behind `-m`, and for the
    file of that module in a checked-out copy. `files` is one for other entry points, which count
    only where the text has one of the `marks`; some of those have `own_code` that matters besides.
    """

    name: str
    packages: str = ""
    drives: str = ""
    module: str = ""
    """Where its settings are, if it has any."""
    beside: str = ""
    """Packages whose calls it reads too."""
    programs: str = ""
    modules: str = ""
    files: str = ""
    marks: tuple[str, ...] = ()
    own_code: bool = False
    launchers: str = ""
    """Beginnings of the names of launchers that hand settings over."""
    always: bool = False
    """Whether its options alone tell it, in forks whose packages have any name."""
    saves: bool = False
    """Whether it writes checkpoints by itself."""
    shares: bool = False
    """Whether it uses several GPUs by itself."""
    own_tree: bool = False
    """Whether its jobs are often started from a checkout of its own."""
    helps: bool = False
    """Whether it is imported for one helper as often as for its loop."""
    task: str = ""
    """What its jobs are for."""

    @cached_property
    def imported_as(self) -> tuple[str, ...]:
        return tuple(self.packages.split())

    @cached_property
    def read_for(self) -> tuple[str, ...]:
        return (*self.imported_as, *self.beside.split())

    @cached_property
    def driving(self) -> re.Pattern[str]:
        return re.compile(self.drives or r"(?!)")

    def load(self) -> Framework:
        module = import_module(f"schedmate.advisor.frameworks.{self.module}")
        found: Framework = module.FRAMEWORK
        return found

    def starts(self, run: PythonRun) -> bool:
        """Whether the run is the framework's own program, or code that does little more."""
        return self.is_itself(run) or self._is_marked(run)

    def is_alone(self, run: PythonRun) -> bool:
        """The program under its own name, or a few lines that start it: its code would mislead."""
        starts = not self.own_code and _text(run).count("\n") < _LONGEST_STARTER
        return self.is_itself(run) or (starts and self._is_marked(run))

    def is_itself(self, run: PythonRun) -> bool:
        words = (run.entry.name, run.command.text)
        if self.programs and any(
            PurePosixPath(word).name in self.programs.split() for word in words
        ):
            return True
        names = _module_names(run) if self.modules else []
        return any(re.fullmatch(self.modules, name) for name in names)

    def _is_marked(self, run: PythonRun) -> bool:
        named = bool(self.files) and re.search(self.files, run.entry.name) is not None
        return named and any(mark in _text(run) for mark in self.marks)


def _text(run: PythonRun) -> str:
    return run.entry.source.text if run.entry.source is not None else ""


def _module_names(run: PythonRun) -> list[str]:
    """`src/axolotl/cli/train.py` may be the module axolotl.cli.train, or cli.train, …"""
    name = run.entry.name
    if name.startswith("-m "):
        return [name[3:].strip()]
    if not name.endswith(".py"):
        return []
    parts = PurePosixPath(name.removesuffix(".py").removesuffix("/__main__")).parts[-_DEEPEST:]
    return [".".join(parts[start:]) for start in range(len(parts) - 1)]
