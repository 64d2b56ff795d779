"""The context that models of libraries see: the job's command line, environment and files."""

from __future__ import annotations

import ast
import os
from collections.abc import Mapping
from collections.abc import Sequence as Many
from itertools import islice
from pathlib import Path

from schedmate.advisor.interpret.python.context import ReadConfig
from schedmate.advisor.interpret.python.engine import Arguments, Engine, Site
from schedmate.advisor.interpret.python.fields import lineage
from schedmate.advisor.interpret.python.functions import default_scope, parameter_defaults
from schedmate.advisor.interpret.python.loading import settings_of
from schedmate.advisor.interpret.python.reached import Reached
from schedmate.advisor.interpret.python.scope import Scope
from schedmate.advisor.interpret.python.trace import Option
from schedmate.advisor.interpret.python.values import (
    UNKNOWN,
    Dotted,
    LocalClass,
    LocalFunction,
    Value,
)
from schedmate.advisor.interpret.shell import Word
from schedmate.advisor.launch.processes import Processes
from schedmate.advisor.sources.elsewhere import ends_of_file, is_elsewhere

_MAX_LISTED = 400
_MAX_READ, _MAX_TEXT = 1000, 2_000_000
"""Of configs, which are read anew each time: how often, and characters."""
_CONFIGS = ("*.yaml", "*.yml")


class JobContext:
    def __init__(self, engine: Engine, scope: Scope, read_config: ReadConfig) -> None:
        self._engine = engine
        self._scope = scope
        self._read = read_config
        self._reads_left, self._text_left = _MAX_READ, _MAX_TEXT

    @property
    def arguments(self) -> tuple[Word, ...]:
        return self._engine.run.arguments

    @property
    def environment(self) -> Mapping[str, Word]:
        return self._engine.run.env

    def state(self, option: Option) -> None:
        reached = self._engine.state.reached
        if option.name in self._engine.options_stated or reached is Reached.ANOTHER_PROGRAM:
            return
        if len(self._engine.trace.options) < self._engine.budget.limits.records:
            self._engine.trace.options.append(option)

    def read_config(self, path: str) -> Value | None:
        for place in self.places(path):
            if self._reads_left <= 0 or self._text_left <= 0:
                return None
            self._reads_left -= 1
            source = self._engine.files.read(place, inside=self._engine.finder.allowed)
            if source is not None:
                self._text_left -= len(source.text)
                self._engine.budget.parse(source.text, config=True)
                self._engine.configs.append(source)
                return self._read(source)
        return None

    def read_python_config(self, path: str) -> Value | None:
        for place in self.places(path):
            found = settings_of(self._engine, place)
            if found is not None:
                return found
        return None

    def places(self, path: str) -> list[Path]:
        """Where a path of the job may lead: from where it runs, then from beside its code."""
        if not path or "\0" in path or len(path) > 1000:  # noqa: PLR2004 - no real path is longer
            return []
        bases = (self._engine.cwd, self._engine.files.workdir, self._engine.run.entry.import_root)
        here = [base / path for base in bases]
        if is_elsewhere(path):
            roots = (*bases, *self._engine.files.beside)
            here += [base / end for end in ends_of_file(path) for base in roots]
        return list(dict.fromkeys(Path(os.path.normpath(place)) for place in here))

    def list_files(self, directory: str) -> Many[str]:
        directories = self._engine.files.directories
        for place in map(str, self.places(directory)):
            for ending in _CONFIGS:  # should one appear, the cache has to notice
                directories.kind(place, ending)
            found = list(islice(directories.files_below(place), _MAX_LISTED))
            if found:
                return found
        return []

    def invoke(
        self,
        function: Value,
        positional: Many[Value] = (),
        keywords: Mapping[str, Value] | None = None,
    ) -> Value:
        arguments = Arguments(list(positional), dict(keywords or {}))
        site = self._engine.asking or Site(self._scope, self._scope.file.tree)
        return self._engine.call(self.own(function), arguments, site)

    def own(self, function: Value) -> Value:
        """A dotted name (`_target_: src.models.Net`) of one of the job's modules is its own."""
        if not isinstance(function.data, Dotted):
            return function
        home, _, name = function.data.name.rpartition(".")
        module = self._engine.finder.find(home) if home else None
        found = None if module is None else self._engine.member(module, name)
        if found is None:
            return function
        return Value(found.data, (*function.lines, *found.lines), function.source)

    @property
    def processes(self) -> Processes:
        return self._engine.processes

    @processes.setter
    def processes(self, processes: Processes) -> None:
        self._engine.processes = processes

    def option(self, name: str) -> Value:
        options = reversed(self._engine.trace.options)
        return next((each.value for each in options if each.name == name), UNKNOWN)

    def export(self, name: str, value: Value) -> None:
        parts = self._engine.environ.data.parts
        if name not in parts:
            self._engine.memory.write(parts, name, value)

    def configure(self, name: str, parameter: str, value: Value) -> None:
        self._engine.configured.setdefault(name, {})[parameter] = value

    def signature(self, function: LocalFunction) -> Many[tuple[str, Value | None, Value | None]]:
        scope = default_scope(function)
        spec = function.node.args
        annotations = {
            part.arg: part.annotation for part in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)
        }
        return [
            (name, self._optional(default, scope), self._optional(annotations[name], scope))
            for name, default in parameter_defaults(function)
        ]

    def _optional(self, node: ast.expr | None, scope: Scope) -> Value | None:
        return None if node is None else self._engine.evaluate(node, scope)

    def field_class(self, cls: LocalClass, name: str) -> LocalClass | None:
        for each in lineage(cls):
            annotation = each.annotations.get(name)
            if isinstance(annotation, ast.Name | ast.Attribute):
                found = self._engine.evaluate(annotation, each.home).data
                return found if isinstance(found, LocalClass) else None
        return None

    def members(self, cls: LocalClass) -> Mapping[str, Value]:
        found: dict[str, Value] = {}
        for each in reversed(lineage(cls)):
            found.update({name: self._engine.resolve(part) for name, part in each.parts.items()})
        return found
