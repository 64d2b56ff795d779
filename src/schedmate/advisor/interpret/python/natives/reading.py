"""Files that the job reads: configs by their content, code that is exec'd by interpreting it."""

from __future__ import annotations

from schedmate.advisor.interpret.python.engine import Arguments, Engine, Native, NativeMethod, Site
from schedmate.advisor.interpret.python.natives.base import first
from schedmate.advisor.interpret.python.values import Dotted, LibraryObject, Table, Value

_OPENS = ("open", "io.open", "codecs.open", "gzip.open", "fsspec.open", "tensorflow.io.gfile.GFile")
_READS = ("read", "read_text", "readlines", "read_bytes")


def path_of(value: Value | None) -> Value | None:
    """The path of a file that was opened, or read as text."""
    for _ in range(4):
        if value is None or not isinstance(value.data, LibraryObject):
            return None
        call = value.data.call
        name = call.callee.rpartition(".")[2]
        if call.callee in _OPENS or name == "GFile":
            path = call.argument("file", 0)
            return path if path is not None and isinstance(path.data, str) else None
        if name in (*_READS, "open") and call.receiver is not None:
            if isinstance(call.receiver.data, str):
                return call.receiver
            value = call.receiver
        else:
            return None
    return None


def _loaded(engine: Engine, arguments: Arguments, site: Site) -> Value | None:
    path = path_of(first(arguments) or arguments.keywords.get("stream"))
    return None if path is None else engine.context.read_config(path.data)


def _loaded_by_name(engine: Engine, arguments: Arguments, site: Site) -> Value | None:
    value = first(arguments)
    if value is not None and isinstance(value.data, str):
        return engine.context.read_config(value.data)
    return _loaded(engine, arguments, site)


def _exec(engine: Engine, arguments: Arguments, site: Site) -> Value | None:
    source = first(arguments)
    if (
        source is not None
        and isinstance(source.data, LibraryObject)
        and source.data.kind == "compile"
    ):
        source = source.data.call.argument("source", 0)
    path = path_of(source)
    if path is not None and engine.run_file(path.data, site.scope):
        return Value(None)
    return None


def _runs_path(engine: Engine, arguments: Arguments, site: Site) -> Value | None:
    value = first(arguments)
    if value is None or not isinstance(value.data, str):
        return None
    name = arguments.keywords.get("run_name")
    if name is not None and name.data == "__main__" and engine.run_file(value.data, site.scope):
        return Value(None)
    return engine.context.read_python_config(value.data)


def _runs_module(engine: Engine, arguments: Arguments, site: Site) -> Value | None:
    """`runpy.run_module("package.train", run_name="__main__")`."""
    value = first(arguments)
    name = value.data if value is not None and isinstance(value.data, str) else ""
    module = engine.finder.find(name) if name else None
    if module is None or module.path is None:
        return None
    return _runs_path(
        engine, Arguments([Value(str(module.path))], arguments.keywords, arguments.complete), site
    )


def _spec(engine: Engine, arguments: Arguments, site: Site) -> Value | None:
    """`spec_from_file_location(name, path)`; `module_from_spec` makes a module of it."""
    path = arguments.keywords.get("location") or _second(arguments)
    if path is None or not isinstance(path.data, str):
        return None
    return Value(Table({"origin": path}, "importlib.spec", complete=False), (site.line,))


def _from_spec(engine: Engine, arguments: Arguments, site: Site) -> Value | None:
    spec = first(arguments)
    path = spec.data.parts.get("origin") if spec and isinstance(spec.data, Table) else None
    return None if path is None else _module(engine, path)


def _second(arguments: Arguments) -> Value | None:
    return arguments.positional[1] if len(arguments.positional) > 1 else None


def _module(engine: Engine, path: Value) -> Value | None:
    module = engine.module_at(path.data) if isinstance(path.data, str) else None
    return None if module is None else Value(module, path.lines, path.source)


def _load_source(engine: Engine, arguments: Arguments, site: Site) -> Value | None:
    """`imp.load_source(name, path)`."""
    path = _second(arguments)
    return None if path is None else _module(engine, path)


def _load_module(engine: Engine, receiver: Value, arguments: Arguments, site: Site) -> Value | None:
    """`SourceFileLoader(name, path).load_module()`."""
    call = receiver.data.call if isinstance(receiver.data, LibraryObject) else None
    if call is None or not call.callee.endswith("SourceFileLoader"):
        return None
    path = call.argument("path", 1)
    return None if path is None else _module(engine, path)


def _path_open(engine: Engine, receiver: Value, arguments: Arguments, site: Site) -> Value | None:
    if not isinstance(receiver.data, str):
        return None
    return engine.call(Value(Dotted("open")), Arguments([receiver, *arguments.positional]), site)


_BY_FILE = [
    "yaml.load",
    "yaml.safe_load",
    "yaml.full_load",
    "yaml.unsafe_load",
    "yaml.load_all",
    "json.load",
    "json.loads",
    "toml.load",
    "toml.loads",
    "tomllib.load",
    "tomllib.loads",
    "tomli.load",
    "tomli.loads",
    "json5.load",
    "json5.loads",
    "ruamel.yaml.safe_load",
    "ruamel_yaml.load",
    "ruamel_yaml.safe_load",
    "oyaml.safe_load",
    "ruamel.yaml.load",
    "pytoml.load",
    "commentjson.load",
    "ruamel.yaml.YAML.load",
    "orjson.loads",
    "ujson.load",
    "ujson.loads",
    "hjson.load",
]

READING: dict[str, Native] = {
    **dict.fromkeys(_BY_FILE, _loaded),
    "toml.load": _loaded_by_name,
    "exec": _exec,
    "runpy.run_path": _runs_path,
    "runpy.run_module": _runs_module,
    "importlib.util.spec_from_file_location": _spec,
    "importlib.util.module_from_spec": _from_spec,
    "imp.load_source": _load_source,
}
READING_METHODS: dict[str, NativeMethod] = {"open": _path_open, "load_module": _load_module}
