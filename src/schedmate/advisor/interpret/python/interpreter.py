"""The evaluator put together from its parts."""

from __future__ import annotations

import ast
from collections.abc import Sequence as Many
from dataclasses import replace
from pathlib import Path

from schedmate.advisor.interpret.python import attributes, calls, classes, functions, loading
from schedmate.advisor.interpret.python.budget import JobRaises
from schedmate.advisor.interpret.python.context import Context, ReadConfig
from schedmate.advisor.interpret.python.engine import Arguments, Engine, Flow, Site
from schedmate.advisor.interpret.python.environment import argv, environ, started_by
from schedmate.advisor.interpret.python.expressions import EXPRESSIONS
from schedmate.advisor.interpret.python.job_context import JobContext
from schedmate.advisor.interpret.python.references import LocalModule, Super
from schedmate.advisor.interpret.python.scope import Scope
from schedmate.advisor.interpret.python.statements import STATEMENTS
from schedmate.advisor.interpret.python.values import (
    UNKNOWN,
    Dotted,
    LocalClass,
    LocalFunction,
    Sequence,
    Value,
)
from schedmate.advisor.interpret.shell import Word


class Interpreter(Engine):
    def begin(self, scope: Scope, read_config: ReadConfig) -> None:
        self._context = JobContext(self, scope, read_config)
        self.processes = started_by(self.run, self._context.read_config)
        self._environ = environ(self.run, self.processes)
        self._argv = argv(self.run)

    @property
    def context(self) -> Context:
        return self._context

    @property
    def environ(self) -> Value:
        return self._environ

    def evaluate(self, node: ast.expr, scope: Scope) -> Value:
        self.budget.tick()
        handler = EXPRESSIONS.get(type(node))
        return UNKNOWN if handler is None else handler(self, node, scope)

    def execute(self, body: Many[ast.stmt], scope: Scope) -> Flow:
        for node in body:
            self.budget.tick()
            flow = self._statement(node, scope)
            if flow is not Flow.NEXT:
                return flow
        return Flow.NEXT

    def _statement(self, node: ast.stmt, scope: Scope) -> Flow:
        """What is nested too deeply, or raises where nothing catches it, is passed over."""
        handler = STATEMENTS.get(type(node))
        try:
            return Flow.NEXT if handler is None else handler(self, node, scope)
        except JobRaises:
            if scope.trying:
                raise
        except RecursionError:
            self.trace.exhausted = True
        return Flow.NEXT

    def call(self, callee: Value, arguments: Arguments, site: Site) -> Value:
        return calls.call(self, callee, arguments, site)

    def invoke(self, function: LocalFunction, arguments: Arguments, site: Site) -> Value:
        return functions.invoke(self, function, arguments, site)

    def instantiate(self, cls: Value, arguments: Arguments, site: Site) -> Value:
        return classes.instantiate(self, cls, arguments, site)

    def call_super(self, above: Super, name: str, arguments: Arguments, site: Site) -> Value:
        return classes.call_super(self, above, name, arguments, site)

    def attribute(self, value: Value, name: str, site: Site) -> Value:
        if isinstance(value.data, Dotted):
            if value.data.name == "sys" and name == "argv":
                return self._argv
            if value.data.name == "os" and name == "environ":
                return self._environ
        return attributes.attribute(self, value, name, site)

    def item(self, value: Value, key: Value, site: Site) -> Value:
        return attributes.item(self, value, key, site)

    def set_attribute(self, value: Value, name: str, new: Value, site: Site) -> None:
        if isinstance(value.data, Dotted) and (value.data.name, name) == ("sys", "argv"):
            self._set_arguments(new)
        attributes.set_attribute(self, value, name, new, site)

    def _set_arguments(self, argv: Value) -> None:
        """`sys.argv = ["train", "--epochs", "9"]`: what a parser gets from here on."""
        if not isinstance(argv.data, Sequence) or not argv.data.complete or not self.state.certain:
            return
        self._argv = argv
        given = [Word(str(each.data), each.lines, each.known) for each in argv.data.items[1:]]
        self.run = replace(self.run, arguments=tuple(given))

    def set_item(self, value: Value, key: Value, new: Value, site: Site) -> None:
        attributes.set_item(self, value, key, new, site)

    def member(self, module: LocalModule, name: str) -> Value | None:
        return loading.member(self, module, name)

    def resolve(self, value: Value) -> Value:
        resolved = loading.resolve(self, value)
        if isinstance(resolved.data, Dotted):
            if resolved.data.name == "sys.argv":
                return self._argv
            if resolved.data.name == "os.environ":
                return self._environ
        return resolved

    def lookup_class(self, cls: LocalClass, name: str) -> Value | None:
        return classes.lookup_class(self, cls, name)

    def module_at(self, path: str) -> LocalModule | None:
        """The module that a file of the job is."""
        for place in self._context.places(path):
            if self.files.read(place, inside=self.finder.allowed) is not None:
                return self.finder.adopt(LocalModule(place.stem, place, None, depth=1))
        return None

    def run_file(self, path: str, scope: Scope) -> bool:
        return any(self._run_place(place, scope) for place in self._context.places(path))

    def _run_place(self, place: Path, scope: Scope) -> bool:
        entry = self.run.entry.source
        if entry is not None and entry.path == place:
            return False
        named = any(word.text and place.name in word.text for word in self.run.arguments)
        try:
            return loading.run_file(self, place, scope, "config" if named else scope.file.origin)
        except JobRaises:
            return True
