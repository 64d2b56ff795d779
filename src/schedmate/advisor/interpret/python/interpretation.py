"""Follow a job's code from its entry point, without running any of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from schedmate.advisor.interpret.python.budget import Budget, Exhausted, JobRaises, Limits
from schedmate.advisor.interpret.python.context import CallModel, Context, ReadConfig, Wrapper
from schedmate.advisor.interpret.python.engine import Arguments, Libraries, Site
from schedmate.advisor.interpret.python.interpreter import Interpreter
from schedmate.advisor.interpret.python.loading import module_scope
from schedmate.advisor.interpret.python.lookup import lookup
from schedmate.advisor.interpret.python.parsed import ParsedFile, Unparsable, parse_file
from schedmate.advisor.interpret.python.references import LocalModule
from schedmate.advisor.interpret.python.scope import Scope
from schedmate.advisor.interpret.python.trace import Trace
from schedmate.advisor.interpret.python.uncalled import interpret_uncalled
from schedmate.advisor.interpret.python.values import Value
from schedmate.advisor.launch.processes import Processes
from schedmate.advisor.launch.run import PythonRun
from schedmate.advisor.sources.files import Files, SourceFile


def _no_config(source: SourceFile) -> Value | None:
    return None


_MAX_UNUSED = 100_000
"""Characters of modules that nothing uses: they are parsed to see whether they can be."""
_NO_MODELS: Mapping[str, CallModel] = {}
_NO_WRAPPERS: Mapping[str, Wrapper] = {}
_NO_LIBRARIES = Libraries()


@dataclass(frozen=True, slots=True, kw_only=True)
class Interpretation:
    """What was seen, the files that were parsed for it, and those that could not be.

    `context` is the one in which the code was interpreted; where there is none, it has the command
    line and the configs all the same.
    """

    trace: Trace
    context: Context
    modules: tuple[ParsedFile, ...] = ()
    problems: tuple[Unparsable, ...] = ()
    processes: Processes = field(default_factory=Processes)
    configs: Sequence[SourceFile] = ()
    """Config files that were read for it; those that `context` reads later are added."""


def interpret(
    run: PythonRun,
    files: Files,
    *,
    models: Mapping[str, CallModel] = _NO_MODELS,
    wrappers: Mapping[str, Wrapper] = _NO_WRAPPERS,
    libraries: Libraries = _NO_LIBRARIES,
    limits: Limits | None = None,
    read_config: ReadConfig = _no_config,
) -> Interpretation:
    """Never raises, whatever the files hold; stops when the budget is used up."""
    engine = Interpreter(
        run, files, Budget(limits or Limits()), models, wrappers, libraries=libraries
    )
    parsed = _entry(engine)
    engine.parsed.append(parsed)
    _interpret_entry(engine, parsed, read_config)
    engine.problems += _unused_problems(engine)
    return Interpretation(
        trace=engine.trace,
        context=engine.context,
        modules=tuple(engine.parsed),
        problems=tuple(engine.problems),
        processes=engine.processes,
        configs=engine.configs,
    )


def _unused_problems(engine: Interpreter) -> Iterator[Unparsable]:
    """Modules that are imported and never used run all the same, if they are Python."""
    left = _MAX_UNUSED
    for module in engine.imported:
        if module.interpreted or module.path is None:
            continue
        source = engine.files.read(module.path, inside=engine.finder.allowed)
        left -= len(source.text) if source is not None else 0
        if source is None or left < 0:
            continue
        parsed = parse_file(source, module.depth or 1)
        problem = parsed if isinstance(parsed, Unparsable) else parsed.problem
        if problem is not None:
            yield problem


def _entry(engine: Interpreter) -> ParsedFile:
    """Nothing is interpreted where the entry point is elsewhere or no Python."""
    nothing = SourceFile(engine.run.entry.name, "")
    parsed = parse_file(engine.run.entry.source or nothing, 0)
    if isinstance(parsed, Unparsable):
        engine.problems.append(parsed)
        parsed = parse_file(nothing, 0)
    assert isinstance(parsed, ParsedFile)  # noqa: S101 - nothing is always Python
    if parsed.problem is not None:
        engine.problems.append(parsed.problem)
    return parsed


def _interpret_entry(engine: Interpreter, parsed: ParsedFile, read_config: ReadConfig) -> None:
    path = parsed.source.path
    module = LocalModule(_module_name(engine, path), path, None, interpreted=True)
    function = engine.run.entry.function
    scope = module.scope = module_scope(parsed, module, None if function else "__main__")
    if path is not None:
        engine.finder.adopt(module)
    engine.begin(scope, read_config)
    _within_budget(engine, lambda: engine.execute(parsed.tree.body, scope))
    if function:
        site = Site(scope, parsed.tree)
        _within_budget(
            engine, lambda: engine.call(_named(engine, scope, function), Arguments(), site)
        )
    if not engine.budget.late:
        engine.budget.allow(engine.budget.limits.afterwards)
        _within_budget(engine, lambda: interpret_uncalled(engine))


def _named(engine: Interpreter, scope: Scope, dotted: str) -> Value:
    """The function that a console script calls: `main`, or `App.run`."""
    head, *rest = dotted.split(".")
    value = lookup(engine, head, scope)
    for name in rest:
        value = engine.attribute(value, name, Site(scope, scope.file.tree))
    return value


def _within_budget(engine: Interpreter, do: Callable[[], object]) -> None:
    try:
        do()
    except (Exhausted, RecursionError, MemoryError):
        engine.trace.exhausted = True
    except JobRaises:
        return


def _module_name(engine: Interpreter, path: Path | None) -> str:
    """Relative imports of an entry point started with `-m` start from its package."""
    root = engine.run.entry.import_root
    if path is None or not path.is_relative_to(root):
        return "__main__"
    return ".".join(path.relative_to(root).with_suffix("").parts)
