"""Where names live while code is interpreted."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from schedmate.advisor.interpret.python.parsed import ParsedFile
from schedmate.advisor.interpret.python.reached import Reached
from schedmate.advisor.interpret.python.references import LocalModule
from schedmate.advisor.interpret.python.values import LocalFunction, Value


@dataclass(slots=True, eq=False)
class Scope:
    """The names of a module, a class body or a call of a function.

    `stars` are the modules whose every name is here too; `library_star` is the last library's.
    """

    file: ParsedFile
    module: LocalModule
    names: dict[str, Value] = field(default_factory=dict)
    kind: str = "module"
    parent: Scope | None = None
    top: Scope | None = None
    function: LocalFunction | None = None
    arguments: dict[str, Value] = field(default_factory=dict)
    returned: list[Value] = field(default_factory=list)
    absent: bool = False
    """Whether nothing is returned where a file is not there."""
    yielded: list[Value] | None = None
    outer: dict[str, Scope] = field(default_factory=dict)
    stars: list[LocalModule] = field(default_factory=list)
    library_star: str = ""
    loops: int = 0
    trying: int = 0
    """How many `try` bodies of this scope the code stands in."""

    @property
    def globals(self) -> Scope:
        return self.top or self

    def home_of(self, name: str) -> Scope:
        """The scope in which an assignment to the name is made."""
        return self.outer.get(name, self)

    def inner(self, kind: str) -> Scope:
        """A scope inside this one; class bodies are not seen from within functions."""
        parent = self.parent if self.kind == "class" and kind == "function" else self
        return Scope(self.file, self.module, {}, kind, parent, self.globals)


@dataclass(slots=True)
class State:
    """How sure it is that the code being interpreted will run, and where it stands."""

    reached: Reached = Reached.EXECUTED
    if_there: bool = True
    """Whether nothing but files that may be there, or not, makes it uncertain."""
    every: Value | None = None
    loops: tuple[int, ...] = ()
    rounds: int = 1
    """How often the code is interpreted because of loops that are unrolled around it."""
    within: str = ""
    target: str = ""
    calls: int = 0
    interpreted: dict[ast.AST, int] = field(default_factory=dict)
    active: list[ast.AST] = field(default_factory=list)
    loading: bool = False
    """Whether it is what a module does when it is imported."""
    spent: dict[ast.AST, int] = field(default_factory=dict)
    """Steps that each function has taken so far."""

    def inner(self) -> State:
        """Of a module that is interpreted on the way."""
        return State(
            interpreted=self.interpreted,
            active=self.active,
            spent=self.spent,
            calls=self.calls + 1,
            loading=True,
        )

    @property
    def certain(self) -> bool:
        return self.reached is Reached.EXECUTED
