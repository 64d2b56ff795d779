"""What the parts of the evaluator share, and what each may ask of the others."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Sequence as Many
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum, auto
from pathlib import Path

from schedmate.advisor.interpret.python.budget import Budget
from schedmate.advisor.interpret.python.context import CallModel, Context, Wrapper
from schedmate.advisor.interpret.python.finder import Finder
from schedmate.advisor.interpret.python.memory import Memory
from schedmate.advisor.interpret.python.parsed import ParsedFile, Unparsable
from schedmate.advisor.interpret.python.reached import Reached
from schedmate.advisor.interpret.python.references import LocalModule, Super
from schedmate.advisor.interpret.python.scope import Scope, State
from schedmate.advisor.interpret.python.trace import Trace
from schedmate.advisor.interpret.python.values import LocalClass, LocalFunction, Value
from schedmate.advisor.launch.processes import Processes
from schedmate.advisor.launch.run import PythonRun
from schedmate.advisor.sources.files import Files, SourceFile
from schedmate.model import Evidence


class Flow(Enum):
    """How a block of statements ends."""

    NEXT = auto()
    BREAK = auto()
    CONTINUE = auto()
    RETURN = auto()
    RAISE = auto()


@dataclass(slots=True)
class Arguments:
    """Of a call; `complete` unless `*args` or `**kwargs` may bring more than is known."""

    positional: list[Value] = field(default_factory=list)
    keywords: dict[str, Value] = field(default_factory=dict)
    complete: bool = True


@dataclass(frozen=True, slots=True)
class Site:
    """Where a call stands."""

    scope: Scope
    node: ast.AST

    @property
    def line(self) -> Evidence:
        return self.scope.file.line(self.node)


Native = Callable[["Engine", Arguments, Site], Value | None]
"""What a function returns, as far as reading tells; None: the call is noted like any other."""
NativeMethod = Callable[["Engine", Value, Arguments, Site], Value | None]


def _no_member(engine: Engine, value: Value, name: str) -> Value | None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Libraries:
    """What is known of the libraries that a job calls, besides how they declare options.

    `member` is what an attribute of an object of theirs is. `names` are theirs wherever their
    files are: a job inside their repository uses them as any other. `switches` are attributes that
    decide nothing where they are unknown.
    """

    functions: Mapping[str, Native] = field(default_factory=dict)
    methods: Mapping[str, NativeMethod] = field(default_factory=dict)
    member: Callable[[Engine, Value, str], Value | None] = _no_member
    names: frozenset[str] = frozenset()
    switches: frozenset[str] = frozenset()


class Engine(ABC):
    """State of one reading; the parts are functions that take it first."""

    def __init__(
        self,
        run: PythonRun,
        files: Files,
        budget: Budget,
        models: Mapping[str, CallModel],
        wrappers: Mapping[str, Wrapper],
        *,
        libraries: Libraries,
    ) -> None:
        self.run = run
        self.files = files
        self.budget = budget
        self.models = models
        self.wrappers = wrappers
        self.libraries = libraries
        self.trace = Trace()
        self.memory = Memory()
        self.finder = Finder(run, files, libraries.names)
        self.cwd = run.cwd or files.workdir
        self.state = State()
        self.parsed: list[ParsedFile] = []
        self.problems: list[Unparsable] = []
        self.functions: list[LocalFunction] = self.trace.functions
        self.instances: dict[int, Value] = {}
        self.generators: dict[ast.AST, bool] = {}
        self.targets: dict[ast.AST, tuple[ast.expr, ...]] = {}
        """What the bodies of loops assign."""
        self.unwrapping: set[ast.AST] = set()
        self.options_stated: frozenset[str] = frozenset()
        """By the code that runs; what other parsers would make of them is not believed."""
        self.configured: dict[str, dict[str, Value]] = {}
        """What a config binds to the parameters of functions and classes, by their names."""
        self.imported: dict[LocalModule, None] = {}
        """Modules of the job that are surely imported, whether or not anything uses them."""
        self.bytes_read = 0
        self.texts: dict[Path, str] = {}
        self.configs: list[SourceFile] = []
        self.processes = Processes()
        self.asking: Site | None = None
        """Where the call stands that a model is being asked about."""

    @property
    @abstractmethod
    def context(self) -> Context: ...

    @property
    @abstractmethod
    def environ(self) -> Value: ...

    @abstractmethod
    def evaluate(self, node: ast.expr, scope: Scope) -> Value: ...

    @abstractmethod
    def execute(self, body: Many[ast.stmt], scope: Scope) -> Flow: ...

    @abstractmethod
    def call(self, callee: Value, arguments: Arguments, site: Site) -> Value: ...

    @abstractmethod
    def invoke(self, function: LocalFunction, arguments: Arguments, site: Site) -> Value: ...

    @abstractmethod
    def instantiate(self, cls: Value, arguments: Arguments, site: Site) -> Value: ...

    @abstractmethod
    def call_super(self, above: Super, name: str, arguments: Arguments, site: Site) -> Value: ...

    @abstractmethod
    def attribute(self, value: Value, name: str, site: Site) -> Value: ...

    @abstractmethod
    def item(self, value: Value, key: Value, site: Site) -> Value: ...

    @abstractmethod
    def set_attribute(self, value: Value, name: str, new: Value, site: Site) -> None: ...

    @abstractmethod
    def set_item(self, value: Value, key: Value, new: Value, site: Site) -> None: ...

    @abstractmethod
    def member(self, module: LocalModule, name: str) -> Value | None: ...

    @abstractmethod
    def resolve(self, value: Value) -> Value: ...

    @abstractmethod
    def lookup_class(self, cls: LocalClass, name: str) -> Value | None: ...

    @abstractmethod
    def module_at(self, path: str) -> LocalModule | None: ...

    @abstractmethod
    def run_file(self, path: str, scope: Scope) -> bool: ...

    @contextmanager
    def uncertain(self, reached: Reached = Reached.UNDECIDED) -> Iterator[None]:
        state = self.state
        kept = state.reached, state.if_there
        state.reached, state.if_there = min(state.reached, reached), False
        try:
            yield
        finally:
            state.reached, state.if_there = kept
