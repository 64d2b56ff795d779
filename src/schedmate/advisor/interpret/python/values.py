"""What an expression of a job's code is known to be, and the lines that say so.

Code is never run. A value is interpreted from where it is stated (a constant, a config, a word of
the command line) to where it is used; what only running would tell is `UNKNOWN_DATA`.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from schedmate.advisor.interpret.python.reached import Reached
from schedmate.model import Evidence, Source

_STRENGTH: dict[Source, int] = {
    "code": 0,
    "derived": 0,
    "llm": 0,
    "config": 1,
    "script": 2,
    "cli": 2,
}


class _Unknown:
    def __repr__(self) -> str:
        return "UNKNOWN_DATA"

    def __bool__(self) -> bool:
        raise TypeError("unknown whether it is true")


UNKNOWN_DATA: Final = _Unknown()


@dataclass(frozen=True, slots=True)
class Value:
    """`data` is a str, number, bool or None, a `Sequence`, a `Table`, a `LibraryObject`,
    something that can be called, or `UNKNOWN_DATA`. `lines` are what states it, the most telling
    first; `source` is where it was set last.
    """

    data: Any
    lines: tuple[Evidence, ...] = ()
    source: Source = "code"

    @property
    def known(self) -> bool:
        return self.data is not UNKNOWN_DATA

    @property
    def plain(self) -> bool:
        """Whether it is a single str, number, bool or None."""
        return self.data is None or isinstance(self.data, (str, int, float))


UNKNOWN = Value(UNKNOWN_DATA)


@dataclass(frozen=True, slots=True)
class KnownPrefix(Value):
    """A text that is unknown as a whole; whatever it is, it begins so."""

    begins: str = ""

    @property
    def directory(self) -> str:
        """As far down as it is known: `out` of `out/{name}/epoch_{epoch}.pt`; "" if not at all."""
        place = self.begins.rpartition("/")[0]
        return place if place.strip("./") else ""


@dataclass(frozen=True, slots=True)
class IfPresent(Value):
    """What is found on disk, or nothing where it is not there."""

    there: Value = UNKNOWN


@dataclass(slots=True, eq=False)
class Sequence:
    """A list, tuple or set; `complete` unless there may be more items than are known."""

    items: list[Value]
    complete: bool = True
    kind: str = "list"


@dataclass(slots=True, eq=False)
class Table:
    """Anything with named parts: a dict, a namespace, an instance of a local class, a config.

    `kind` is the class it belongs to as a dotted name, "dict" for a plain one. One that is not
    `complete` may have unknown parts.
    """

    parts: dict[str, Value] = field(default_factory=dict)
    kind: str = "dict"
    complete: bool = True
    of: LocalClass | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Dotted:
    """A name of a library, as it was imported: `torch.optim.AdamW`."""

    name: str


def key_of(value: Value) -> str | None:
    """The name of a dict's part; of a class as a key (`{int: …}`) one that no text can be."""
    if isinstance(value.data, Dotted):
        return f"<{value.data.name}>"
    return str(value.data) if value.plain else None


@dataclass(frozen=True, slots=True, eq=False)
class LibraryObject:
    """What a library returned: an instance, or what only the library knows."""

    call: Call

    @property
    def kind(self) -> str:
        return self.call.callee


@dataclass(slots=True, eq=False)
class LocalFunction:
    """A function or lambda of the job; `home` is the scope it was defined in."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    home: Any
    name: str
    line: Evidence
    decorators: tuple[Value, ...] = ()
    bound_to: Value | None = None
    owner: LocalClass | None = None
    """The class whose body it stands in."""


@dataclass(slots=True, eq=False)
class LocalClass:
    """A class of the job. `bases` are local classes or dotted names; `parts` its own attributes
    (methods are `LocalFunction`s), `fields` the annotated names in order, as dataclasses see them.
    """

    name: str
    bases: tuple[Value, ...]
    parts: dict[str, Value]
    fields: tuple[str, ...]
    home: Any
    line: Evidence
    decorators: tuple[Value, ...] = ()
    annotations: Mapping[str, ast.expr] = field(default_factory=dict)
    """Of its fields, as they stand."""

    def inherits(self, *dotted: str) -> bool:
        """Whether a library class whose dotted name ends in one of these is among its bases."""
        return any(
            base.data.inherits(*dotted)
            if isinstance(base.data, LocalClass)
            else isinstance(base.data, Dotted)
            and any(f".{base.data.name}".endswith(f".{name}") for name in dotted)
            for base in self.bases
        )


@dataclass(frozen=True, slots=True, eq=False)
class Partial:
    """`functools.partial(f, …)`."""

    function: Value
    positional: tuple[Value, ...]
    keywords: Mapping[str, Value]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Call:
    """A call of something that is not the job's own, with what is known of its arguments.

    `callee` is a dotted name: as imported (`torch.utils.data.DataLoader`), or for a method of a
    `LibraryObject` its kind and the method (`lightning.Trainer.fit`), or for a method that an
    instance of a local class inherits from a library the library's class and the method. What is
    unknown is `?`: a method of it is `?.backward`.
    """

    callee: str
    positional: tuple[Value, ...] = ()
    keywords: Mapping[str, Value] = field(default_factory=dict)
    line: Evidence
    reached: Reached = Reached.EXECUTED
    depth: int = 0
    """How far the file is from the entry point."""
    target: str = ""
    """The name that the result is first given: `train_loader`."""
    receiver: Value | None = None
    within: str = ""
    """The function it stands in: `LitModel.configure_optimizers`."""
    loops: tuple[int, ...] = ()
    """The loops around it when it runs, outermost first: where they are in `Trace.loops`."""
    if_there: bool = True
    """Like `certain`, but true also where nothing but a file's being there decides."""
    every: Value | None = None
    """N, where it runs only `if step % N == 0`; the innermost such N."""

    @property
    def certain(self) -> bool:
        return self.reached is Reached.EXECUTED

    def argument(self, name: str, position: int | None = None) -> Value | None:
        """By keyword, else by place; None where it is not given."""
        if name in self.keywords:
            return self.keywords[name]
        if position is not None and position < len(self.positional):
            return self.positional[position]
        return None


def outranks(one: Source, other: Source) -> bool:
    """Whether a value of source `one` holds against an earlier one of `other`."""
    return _STRENGTH[one] > _STRENGTH[other]


def stronger(one: Source, other: Source) -> Source:
    """Who had the last word on a value made of two."""
    return one if _STRENGTH[one] >= _STRENGTH[other] else other
