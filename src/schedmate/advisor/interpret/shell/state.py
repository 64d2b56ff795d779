"""What a shell knows at one point of a script."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from schedmate.advisor.interpret.shell.spans import Array, Value, either, same
from schedmate.advisor.interpret.shell.syntax import Node
from schedmate.advisor.interpret.shell.words import Place, SourceMap, Spans, Word
from schedmate.advisor.sources.words import words

_MAX_EXPORTED = 2000
_ALWAYS_SET = words("HOME USER LOGNAME PATH SHELL HOSTNAME PWD LANG UID EUID RANDOM")
_PERHAPS_SET = words(
    "CUDA_VISIBLE_DEVICES CONDA_PREFIX CONDA_DEFAULT_ENV VIRTUAL_ENV RANK WORLD_SIZE "
    "LOCAL_RANK NODE_RANK MASTER_ADDR MASTER_PORT LD_LIBRARY_PATH PYTHONPATH LIBRARY_PATH "
    "CPATH TMPDIR TERM SCRATCH WORK HF_HOME HF_TOKEN WANDB_API_KEY MODULEPATH HOST EDITOR "
    "DISPLAY"
)
_OF_SCHEDULERS = ("SLURM", "PBS", "LSB_", "OMPI_", "PMI", "FLUX_", "JOB_ID", "SGE_", "XDG_")


@dataclass(frozen=True, slots=True)
class Defined:
    """A function, and the text that it stands in, which may be a script that was sourced."""

    body: Node
    book: SourceMap
    offset: int


@dataclass(slots=True)
class State:
    """`exported` is replaced, never changed, so that commands can share it."""

    values: dict[str, Value] = field(default_factory=dict)
    arguments: tuple[Spans, ...] | None = ()
    cwd: str | None = "."
    directories: tuple[str | None, ...] = ()
    exported: Mapping[str, Word] = field(default_factory=dict)
    to_export: frozenset[str] = frozenset()
    """Names that were exported before they had a value."""
    functions: dict[str, Defined] = field(default_factory=dict)
    exports_all: bool = False
    logs: tuple[Word, ...] = ()
    """Where `exec > FILE` sends what comes later."""

    def copy(self) -> State:
        return replace(self, values=dict(self.values), functions=dict(self.functions))

    def export(self, name: str, word: Word) -> None:
        if len(self.exported) < _MAX_EXPORTED or name in self.exported:
            self.exported = {**self.exported, name: word}

    def merge(self, other: State, at: Place) -> None:
        """What holds whichever of the two ways was taken."""
        for name, value in other.values.items():
            own = self.values.get(name)
            if own is not value and not same(own, value):
                self.values[name] = either(name, own, value, at)
        for name in self.values.keys() - other.values.keys():
            self.values[name] = either(name, self.values[name], None, at)
        for name, word in other.exported.items():
            if self.exported.get(name) != word:
                self.export(name, Word(f"${name}", word.evidence, known=False))
        self.functions = {**other.functions, **self.functions}
        if self.arguments != other.arguments:
            self.arguments = _agreeing(self.arguments, other.arguments)
        if self.cwd != other.cwd:
            self.cwd = None


def _agreeing(
    one: tuple[Spans, ...] | None, other: tuple[Spans, ...] | None
) -> tuple[Spans, ...] | None:
    if one is None or other is None or len(one) != len(other):
        return None
    return one if all(same(*pair) for pair in zip(one, other, strict=True)) else None


def set_outside(name: str) -> bool | None:
    """Whether a variable that a script never sets holds anything; None: it may."""
    if name in _ALWAYS_SET:
        return True
    if name in _PERHAPS_SET or name.startswith(_OF_SCHEDULERS):
        return None
    return False


def element_keys(value: Value | None) -> dict[str, Spans]:
    """A value as an array's items, to add to."""
    if isinstance(value, Array):
        return dict(value.items)
    return {} if value is None else {"0": value}
