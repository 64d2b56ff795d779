"""Paths, which are kept as text, and the environment."""

from __future__ import annotations

import posixpath

from schedmate.advisor.interpret.python.engine import Arguments, Engine, Native, NativeMethod, Site
from schedmate.advisor.interpret.python.known_prefix import beginning
from schedmate.advisor.interpret.python.natives.base import MAX_TEXT, first
from schedmate.advisor.interpret.python.truth import derived
from schedmate.advisor.interpret.python.values import UNKNOWN, KnownPrefix, Sequence, Value


def _join(engine: Engine, arguments: Arguments, site: Site) -> Value | None:
    values = arguments.positional
    if not values or not all(isinstance(value.data, str) for value in values):
        return beginning(values, "/")
    text = posixpath.join(*(value.data for value in values))
    return derived(text[:MAX_TEXT], *reversed(values))


def _path(engine: Engine, arguments: Arguments, site: Site) -> Value | None:
    return Value(".", (site.line,)) if not arguments.positional else _join(engine, arguments, site)


def _text(compute: object) -> Native:
    def asked(engine: Engine, arguments: Arguments, site: Site) -> Value | None:
        value = first(arguments)
        if isinstance(value, KnownPrefix) and compute is not posixpath.basename:
            return value
        if value is None or not isinstance(value.data, str):
            return UNKNOWN
        return Value(compute(value.data), value.lines, value.source)  # type: ignore[operator]

    return asked


def _absolute(engine: Engine, arguments: Arguments, site: Site) -> Value | None:
    value = first(arguments)
    if value is None or not isinstance(value.data, str):
        return UNKNOWN
    path = posixpath.normpath(posixpath.join(str(engine.cwd.absolute()), value.data))
    return Value(path, value.lines, value.source)


def _cwd(engine: Engine, arguments: Arguments, site: Site) -> Value | None:
    return Value(str(engine.cwd.absolute()), (site.line,))


def _project(engine: Engine, arguments: Arguments, site: Site) -> Value | None:
    """`rootutils.setup_root(…)`: the top of the project, which then is among the import roots."""
    root = engine.files.roots[-1].absolute()
    engine.finder.add_root(root, first=True)
    return Value(str(root), (site.line,))


def _splitext(engine: Engine, arguments: Arguments, site: Site) -> Value | None:
    value = first(arguments)
    if value is None or not isinstance(value.data, str):
        return UNKNOWN
    parts = [Value(part, value.lines, value.source) for part in posixpath.splitext(value.data)]
    return Value(Sequence(parts, kind="tuple"), value.lines, value.source)


def _same_path(engine: Engine, receiver: Value, arguments: Arguments, site: Site) -> Value | None:
    return receiver if isinstance(receiver.data, str) or isinstance(receiver, KnownPrefix) else None


def _resolved(engine: Engine, receiver: Value, arguments: Arguments, site: Site) -> Value | None:
    if not isinstance(receiver.data, str):
        return None
    return _absolute(engine, Arguments([receiver]), site)


def _joinpath(engine: Engine, receiver: Value, arguments: Arguments, site: Site) -> Value | None:
    if not isinstance(receiver.data, str) and not isinstance(receiver, KnownPrefix):
        return None
    return _join(engine, Arguments([receiver, *arguments.positional]), site)


def _getenv(engine: Engine, arguments: Arguments, site: Site) -> Value | None:
    environ = engine.environ
    method = engine.attribute(environ, "get", site)
    return engine.call(method, arguments, site)


def _import_root(engine: Engine, arguments: Arguments, site: Site) -> Value | None:
    """`sys.path.append(…)` and `sys.path.insert(0, …)`."""
    value = arguments.positional[-1] if arguments.positional else None
    if value is not None and isinstance(value.data, str) and "\0" not in value.data:
        first_of_all = len(arguments.positional) > 1
        engine.finder.add_root(engine.cwd / value.data, first=first_of_all)
    return Value(None)


PATHS: dict[str, Native] = {
    **dict.fromkeys(
        ("pyrootutils.setup_root", "rootutils.setup_root", "pyrootutils.find_root"), _project
    ),
    **dict.fromkeys(("rootutils.find_root", "pyprojroot.here", "autoroot.root"), _project),
    "sys.path.append": _import_root,
    "sys.path.insert": _import_root,
    "os.path.join": _join,
    "pathlib.Path": _path,
    "pathlib.PurePath": _path,
    "pathlib.PosixPath": _path,
    "os.path.basename": _text(posixpath.basename),
    "os.path.dirname": _text(posixpath.dirname),
    "os.path.normpath": _text(posixpath.normpath),
    "os.path.abspath": _absolute,
    "os.path.realpath": _absolute,
    "os.path.expanduser": _text(str),
    "os.path.expandvars": _text(str),
    "os.path.splitext": _splitext,
    "os.getcwd": _cwd,
    "pathlib.Path.cwd": _cwd,
    "os.getenv": _getenv,
    "os.fspath": _text(str),
}

PATH_METHODS: dict[str, NativeMethod] = {
    "expanduser": _same_path,
    "as_posix": _same_path,
    "resolve": _resolved,
    "absolute": _resolved,
    "joinpath": _joinpath,
}
