"""Config files that the job's code opens by itself, and dicts whose keys are attributes."""

from __future__ import annotations

from pathlib import PurePosixPath

from schedmate.advisor.interpret.python.context import CallModel, Context
from schedmate.advisor.interpret.python.natives.reading import path_of
from schedmate.advisor.interpret.python.values import Call, Table, Value
from schedmate.advisor.options.configs.reading import parse_text
from schedmate.advisor.options.tables import copied, state_all, table_of

_LOADERS = (
    "yaml.load",
    "yaml.safe_load",
    "yaml.full_load",
    "yaml.unsafe_load",
    "ruamel.yaml.load",
    "ruamel_yaml.load",
    "ruamel_yaml.safe_load",
    "oyaml.safe_load",
    "ruamel.yaml.safe_load",
    "ruamel.yaml.YAML.load",
    "json.load",
    "toml.load",
    "tomllib.load",
    "tomli.load",
    "json5.load",
    "hjson.load",
    "commentjson.load",
    "json.loads",
    "toml.loads",
    "tomllib.loads",
    "tomli.loads",
    "json5.loads",
    "orjson.loads",
    "ujson.loads",
)
_DICTS = (
    "easydict.EasyDict",
    "addict.Dict",
    "addict.addict.Dict",
    "munch.Munch",
    "munch.munchify",
    "munch.Munch.fromDict",
    "munch.DefaultMunch.fromDict",
    "box.Box",
    "attrdict.AttrDict",
    "attridict",
    "dotmap.DotMap",
    "prodict.Prodict.from_dict",
)
_SETTINGS = {".yaml", ".yml", ".toml"}
"""JSON is as often data; it is taken for settings where the command line names it."""


def loaded(call: Call, context: Context) -> Value | None:
    """`yaml.safe_load(open(path))`."""
    named_so = (call.argument(name, 0) for name in ("stream", "fp", "f", "s", "doc"))
    source = next((each for each in named_so if each is not None), None)
    by_name = source is not None and isinstance(source.data, str) and call.callee == "toml.load"
    if source is not None and isinstance(source.data, str) and not by_name:
        return parse_text(source, toml="toml" in call.callee.partition(".")[0])
    path = source if by_name else path_of(source)
    if path is None or not isinstance(path.data, str):
        return None
    read = context.read_config(path.data)
    table = table_of(read)
    named = path.source != "code"
    if table is not None and (named or PurePosixPath(path.data).suffix.lower() in _SETTINGS):
        state_all(context, table)
    return read


def attributes(call: Call, _: Context) -> Value | None:
    """`EasyDict(settings)`: also for a class of the job that inherits from it."""
    given = table_of(call.positional[0]) if call.positional else Table()
    if given is None:
        return None
    own = table_of(call.receiver)
    if own is not None:
        own.parts |= {**given.parts, **call.keywords}
        return call.receiver
    made = copied(given, call.callee)
    made.parts |= call.keywords
    return Value(made, (call.line,))


CONFIG_FILES: dict[str, CallModel] = {
    **dict.fromkeys(_LOADERS, loaded),
    **dict.fromkeys(_DICTS, attributes),
}
