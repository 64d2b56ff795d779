"""What was seen while the job's code was interpreted from its entry point."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from schedmate.advisor.interpret.python.reached import Reached
from schedmate.advisor.interpret.python.values import Call, LocalClass, LocalFunction, Value
from schedmate.model import Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """A name that got a value: of a module, a class, `self`, or inside a function that runs.

    `where` is `module`, `class`, `attribute`, `local`, `item` (of a dict) or `keyword` (of a call
    to one of the job's own functions); `of` names the class, function or dict it belongs to.
    """

    name: str
    value: Value
    where: Literal["module", "class", "attribute", "local", "item", "keyword"]
    line: Evidence
    of: str = ""
    reached: Reached = Reached.EXECUTED
    depth: int = 0

    @property
    def certain(self) -> bool:
        return self.reached is Reached.EXECUTED


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """An instance of a class of the job that is made; `arguments` are by the names its constructor
    has for them, those that are left at a plain default among them. `named` are the lines that
    say which class: where a config names it, and where it is.
    """

    of: LocalClass
    value: Value
    arguments: Mapping[str, Value]
    line: Evidence
    named: tuple[Evidence, ...] = ()
    reached: Reached = Reached.EXECUTED
    depth: int = 0
    target: str = ""
    within: str = ""

    @property
    def certain(self) -> bool:
        return self.reached is Reached.EXECUTED


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """A setting of the job that its command line or its configs could change, as it will be.

    `name` is dotted where it is nested: `optimizer.lr`. `value.source` says who had the last word.
    """

    name: str
    value: Value
    depth: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """`for x in range(N)` has `bound` N; `while step < N` and `if step >= N: break` too.

    `over` is what a `for` runs through; `inside` how many loops it stands in.
    """

    kind: Literal["for", "while", "break"]
    variable: str
    bound: Value | None
    over: Value | None = None
    line: Evidence
    inside: int = 0
    reached: Reached = Reached.EXECUTED
    depth: int = 0
    within: str = ""

    @property
    def certain(self) -> bool:
        return self.reached is Reached.EXECUTED


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A branch that will not be taken: what was asked, what it was, and what it would have done."""

    test: ast.expr
    value: Value
    body: Sequence[ast.stmt]
    line: Evidence
    reached: Reached = Reached.EXECUTED
    depth: int = 0

    @property
    def certain(self) -> bool:
        return self.reached is Reached.EXECUTED


@dataclass(frozen=True, slots=True)
class Presumed:
    """Lines that are taken because a variable of the environment is set nowhere."""

    file: str
    first: int
    last: int

    def holds(self, line: Evidence) -> bool:
        return line.file == self.file and self.first <= line.line <= self.last


@dataclass(frozen=True, slots=True)
class Imported:
    """A module or a name of one: `torch.nn`, `transformers.Trainer`."""

    name: str
    line: Evidence
    depth: int
    optional: bool = False
    """The code goes on without it."""


@dataclass(slots=True)
class Trace:
    """In the order of the run, as far as that is known."""

    calls: list[Call] = field(default_factory=list)
    bindings: list[Binding] = field(default_factory=list)
    options: list[Option] = field(default_factory=list)
    loops: list[Loop] = field(default_factory=list)
    imports: list[Imported] = field(default_factory=list)
    own_imports: list[Imported] = field(default_factory=list)
    """Of the job's own modules."""
    classes: list[LocalClass] = field(default_factory=list)
    functions: list[LocalFunction] = field(default_factory=list)
    instances: list[Instance] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    presumed: list[Presumed] = field(default_factory=list)
    unused: set[Evidence] = field(default_factory=set)
    """Lines of configs whose keys the code never looks up."""
    exhausted: bool = False
    """The budget ran out before the code did."""
