"""pydantic settings: fields from the command line, the environment, and their defaults."""

from __future__ import annotations

from collections.abc import Iterator

from schedmate.advisor.interpret.python.context import CallModel, Context
from schedmate.advisor.interpret.python.values import Call, LibraryObject, LocalClass, Table, Value
from schedmate.advisor.options.given import given, given_word
from schedmate.advisor.options.schema import fields_of, instance, outline, settings_from
from schedmate.advisor.options.tables import (
    copied,
    look_up,
    merge,
    state_all,
    table_of,
)
from schedmate.advisor.options.text import like

_SETTINGS = ("pydantic.BaseSettings", "pydantic_settings.BaseSettings", "pydantic.v1.BaseSettings")
_MODELS = ("pydantic.BaseModel", "pydantic.v1.BaseModel", *_SETTINGS)


def settings(call: Call, context: Context) -> Value | None:
    """An instance of a job's settings class: its defaults are there already."""
    table = table_of(call.receiver)
    if table is None or table.of is None:
        return None
    for name, value in _given(table.of, table, call, context):
        if name not in call.keywords:
            table.parts[name] = value
    state_all(context, table, depth=call.depth)
    return call.receiver


def _given(
    cls: LocalClass, table: Table, call: Call, context: Context
) -> Iterator[tuple[str, Value]]:
    """From the environment, then from the command line, which beats it."""
    options = _options(cls)
    prefix = options.get("env_prefix", Value("")).data
    for name in fields_of(cls):
        word = context.environment.get(f"{prefix}{name}".upper()) or context.environment.get(
            f"{prefix}{name}"
        )
        if word is not None:
            yield name, like(table.parts.get(name), given_word(word))
    between = options.get("env_nested_delimiter", Value("")).data
    if isinstance(prefix, str) and isinstance(between, str) and between:
        _set_nested(table, prefix, between, context)
    asked = {**options, **call.keywords}
    flag = asked.get("_cli_parse_args") or asked.get("cli_parse_args")
    if flag is not None and flag.data is True:
        found, _ = settings_from(given(context.arguments), table)
        yield from found.parts.items()


def _set_nested(table: Table, prefix: str, between: str, context: Context) -> None:
    """`TTS_OPTIM__LR=6e-4` is `optim.lr`, whatever the case of the letters."""
    for variable, word in context.environment.items():
        below = variable.lower().removeprefix(prefix.lower())
        if below == variable.lower() and prefix:
            continue
        *above, last = below.split(between.lower())
        owner = table_of(look_up(table, ".".join(above))) if above else None
        if owner is not None and last in owner.parts:
            owner.parts[last] = like(owner.parts[last], given_word(word))


def _options(cls: LocalClass) -> dict[str, Value]:
    """`model_config = SettingsConfigDict(…)`, or `class Config:` inside."""
    stated = cls.parts.get("model_config") or cls.parts.get("Config")
    data = None if stated is None else stated.data
    if isinstance(data, LibraryObject):
        return dict(data.call.keywords)
    if isinstance(data, (Table, LocalClass)):
        return dict(data.parts)
    return {}


def validated(call: Call, _: Context) -> Value | None:
    """`Model.model_validate(settings)`."""
    table = table_of(call.argument("obj", 0))
    return None if table is None else Value(copied(table, "pydantic.BaseModel"), (call.line,))


def dumped(call: Call, _: Context) -> Value | None:
    table = table_of(call.receiver)
    return None if table is None else Value(copied(table, "dict"), (call.line,))


def copy(call: Call, _: Context) -> Value | None:
    table, over = table_of(call.receiver), table_of(call.keywords.get("update"))
    if table is None:
        return None
    made = copied(table)
    merge(made, over if over is not None else Table())
    return Value(made, (call.line,))


def cli_app(call: Call, context: Context) -> Value | None:
    """`CliApp.run(Settings)`."""
    cls = call.argument("model_cls", 0)
    if cls is None or not isinstance(cls.data, LocalClass):
        return None
    found, _ = settings_from(given(context.arguments), outline([cls], context))
    table = instance(cls, found, context)
    state_all(context, table, depth=call.depth)
    return Value(table, (call.line,))


PYDANTIC: dict[str, CallModel] = {
    **dict.fromkeys(_SETTINGS, settings),
    **{f"{kind}.model_validate": validated for kind in _MODELS},
    **{f"{kind}.parse_obj": validated for kind in _MODELS},
    **{f"{kind}.model_dump": dumped for kind in _MODELS},
    **{f"{kind}.dict": dumped for kind in _MODELS},
    **{f"{kind}.model_copy": copy for kind in _MODELS},
    "pydantic_settings.CliApp.run": cli_app,
}
